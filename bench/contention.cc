/*
 * bench/contention.cc - how throughput changes with the number of threads on one table.
 *
 *   churn   insert and free, no id shared (bench/churn.h)
 *   mixed   90 % resolve, 5 % insert, 5 % free of ids that all threads share: an array of `size`
 *           ids, all live.  A thread picks entries at random.  It resolves what it finds there,
 *           each in a separate read section; after 18 of those it inserts a new object, puts
 *           its id in an entry and frees the one that was there.  One item is one operation.
 *
 * bench/table.py makes a table of it.  More threads than cores tell about waiting, not scaling:
 * the number of cores is in each report's head.
 */
#include "bench/churn.h"
#include "bench/hashed.h"
#include "bench/held.h"
#include "bench/random.h"

#include <atomic>
#include <vector>

namespace
{

using bench::Object;
using bench::Shared;

constexpr uint64_t mixed_size = 65536;
constexpr unsigned resolves_a_group = 18;
constexpr unsigned group_operations = resolves_a_group + 2;
constexpr unsigned groups_a_round = 100;

std::vector<std::atomic<uint64_t>> entries;

template <class Table> void before_mixed(const benchmark::State &state)
{
    Shared<Table>::before(state);
    entries = std::vector<std::atomic<uint64_t>>(static_cast<size_t>(state.range(0)));

    typename Table::Worker worker(*Shared<Table>::table);
    for (std::atomic<uint64_t> &entry : entries) {
        entry.store(worker.insert(Object{1, {2, 3}}).bits, std::memory_order_relaxed);
    }
}

/* By value: a thread's loop keeps it in registers. */
struct Picker {
    std::atomic<uint64_t> *first;
    uint64_t size;
    bench::Random random;

    std::atomic<uint64_t> &pick() { return first[random.below(size)]; }
};

template <class Reader> uint64_t resolve_some(Reader reader, Picker &picker)
{
    uint64_t found = 0;

    for (unsigned i = 0; i < resolves_a_group; i++) {
        const std::atomic<uint64_t> &entry = picker.pick();

        reader.begin();
        found += reader.first_word(haft_id{entry.load(std::memory_order_relaxed)});
        reader.end();
    }
    return found;
}

/* The thread that takes an id out of its entry frees it. */
template <class Worker> bool replace_one(Worker &worker, const Object &object, Picker &picker)
{
    std::atomic<uint64_t> &entry = picker.pick();
    const haft_id born = worker.insert(object);

    return worker.free(haft_id{entry.exchange(born.bits, std::memory_order_relaxed)});
}

template <class Table> void mixed(benchmark::State &state)
{
    Table &table = *Shared<Table>::table;
    typename Table::Worker worker(table);
    const auto reader = worker.reader();
    Picker picker{entries.data(), entries.size(),
                  bench::Random(static_cast<uint64_t>(state.thread_index()) + 1)};
    Object object = {1, {2, 3}};
    uint64_t found = 0;
    uint64_t failed = 0;

    benchmark::DoNotOptimize(object);
    bench::run_rounds(state, worker, [&] {
        for (unsigned group = 0; group < groups_a_round; group++) {
            found += resolve_some(reader, picker);
            failed += !replace_one(worker, object, picker);
        }
        bench::keep(found);
    });
    if (failed != 0) {
        state.SkipWithError("an object could not be freed by the thread that took its id out");
    }
    bench::report(state, table, groups_a_round * group_operations);
}

template <class Table> void add_mixed(const char *subject)
{
    bench::Case one;
    one.workload = "mixed";
    one.subject = subject;
    one.size = mixed_size;
    one.run = mixed<Table>;
    one.before = before_mixed<Table>;
    one.after = Shared<Table>::after;
    bench::add_threads(one, 1, bench::most_threads());
}

template <class Table> void add_both(const char *subject)
{
    bench::add_churn<Table>(subject);
    add_mixed<Table>(subject);
}

} // namespace

void bench::add_cases()
{
    add_both<Mutex>("mutex");
    add_both<SpinLock>("spin_lock");
    add_both<Workers>("haft_workers");
    add_both<QsbrCaller>("haft_qsbr_caller");
    add_both<QsbrThread>("haft_qsbr_thread");
    add_both<MembCaller>("haft_memb_caller");
    add_both<MembThread>("haft_memb_thread");
    add_mixed<ReadWrite>("read_write_lock");
    add_mixed<Counted>("haft_counted");
    add_mixed<SharedPointers>("shared_ptr");
    add_mixed<EntryMutex>("entry_mutex");
    add_mixed<SharedTreeMap>("shared_map");
    add_mixed<SharedHashMap>("shared_unordered_map");
    add_mixed<Lfht<Memb>>("lfht_memb");
    add_mixed<Lfht<Qsbr>>("lfht_qsbr");
    add_mixed<Tbb>("tbb");
}
