/*
 * bench/replace.cc - a steady population whose members end in random order.
 *
 *   replace   each thread keeps `size` objects live; again and again it frees a random one of
 *             them and inserts another in its place.  1,024 replacements, then a quiescent point.
 *             One item is one free and one insert.
 */
#include "bench/allocated.h"
#include "bench/hashed.h"
#include "bench/held.h"
#include "bench/pool.h"
#include "bench/random.h"

#include <vector>

namespace
{

using bench::Object;
using bench::Shared;

constexpr uint64_t replace_size = 65536;
constexpr uint64_t replacements_a_round = 1024;

template <class Worker>
uint64_t replace_some(Worker &worker, const Object &object, std::vector<haft_id> &ids,
                      bench::Random &random)
{
    uint64_t failed = 0;

    for (uint64_t i = 0; i < replacements_a_round; i++) {
        haft_id &id = ids[random.below(ids.size())];

        failed += !worker.free(id);
        id = worker.insert(object);
    }
    return failed;
}

template <class Table> void replace(benchmark::State &state)
{
    Table &table = *Shared<Table>::table;
    typename Table::Worker worker(table);
    std::vector<haft_id> ids(static_cast<size_t>(state.range(0)));
    bench::Random random(static_cast<uint64_t>(state.thread_index()) + 1);
    Object object = {1, {2, 3}};
    uint64_t failed = 0;

    benchmark::DoNotOptimize(object);
    for (haft_id &id : ids) {
        id = worker.insert(object);
    }
    bench::run_rounds(state, worker, [&] { failed += replace_some(worker, object, ids, random); });
    worker.online();
    for (const haft_id id : ids) {
        failed += !worker.free(id);
    }
    worker.offline();
    if (failed != 0) {
        state.SkipWithError("an object could not be freed by its owner");
    }
    bench::report(state, table, replacements_a_round);
}

template <class Table> void add_table(const char *subject)
{
    bench::Case one;
    one.workload = "replace";
    one.subject = subject;
    one.size = replace_size;
    one.run = replace<Table>;
    one.before = Shared<Table>::before;
    one.after = Shared<Table>::after;
    bench::add_threads(one, 1, bench::most_threads());
}

} // namespace

void bench::add_cases()
{
    add_table<Workers>("haft_workers");
    add_table<QsbrCaller>("haft_qsbr_caller");
    add_table<QsbrThread>("haft_qsbr_thread");
    add_table<MembCaller>("haft_memb_caller");
    add_table<MembThread>("haft_memb_thread");
    add_table<Counted>("haft_counted");
    add_table<SharedPointers>("shared_ptr");
    add_table<Mutex>("mutex");
    add_table<SpinLock>("spin_lock");
    add_table<EntryMutex>("entry_mutex");
    add_table<Lfht<Memb>>("lfht_memb");
    add_table<Lfht<Qsbr>>("lfht_qsbr");
    add_table<Tbb>("tbb");
    add_table<SharedHashMap>("shared_unordered_map");
    add_table<Allocated<Glibc>>("malloc");
    add_table<Allocated<Mi>>("mimalloc");
}
