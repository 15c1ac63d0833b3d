/*
 * bench/reads.cc - what readers notice of threads that insert and free.
 *
 *   read_alone         one thread resolves `size` live ids in random order, a read section around
 *                      each, again and again
 *   read_under_churn   the same beside a second thread that inserts and frees other objects at
 *                      full speed (bench/churn.h); only the reader is measured
 *
 * One item is one id.
 */
#include "bench/churn.h"
#include "bench/hashed.h"
#include "bench/random.h"

#include <atomic>
#include <vector>

namespace
{

using bench::Object;
using bench::Shared;

constexpr uint64_t read_size = 16384;

std::vector<haft_id> ids;
std::atomic<bool> is_over;

template <class Table> void before(const benchmark::State &state)
{
    Shared<Table>::before(state);
    is_over.store(false, std::memory_order_relaxed);
    ids.clear();

    typename Table::Worker worker(*Shared<Table>::table);
    for (int64_t i = 1; i <= state.range(0); i++) {
        ids.push_back(worker.insert(Object{static_cast<uint64_t>(i), {0, 0}}));
    }
    bench::shuffle(ids, bench::Random(1));
}

/* A worker that says when it has done its last round. */
template <class Worker> struct Announcing {
    Worker &worker;

    void quiescent() { worker.quiescent(); }
    void offline()
    {
        worker.offline();
        is_over.store(true, std::memory_order_release);
    }
};

template <class Reader> uint64_t read_all(Reader reader)
{
    uint64_t sum = 0;

    for (const haft_id id : ids) {
        reader.begin();
        sum += reader.first_word(id);
        reader.end();
    }
    return sum;
}

template <class Worker> void read(benchmark::State &state, Worker &worker)
{
    const auto reader = worker.reader();
    const uint64_t expected = ids.size() * (ids.size() + 1) / 2;
    Announcing<Worker> announcing{worker};
    uint64_t wrong = 0;

    bench::run_rounds(state, announcing, [&] { wrong += read_all(reader) != expected; });
    if (wrong != 0) {
        state.SkipWithError("the objects do not sum up");
    }
}

/* Until the reader is done; the other iterations are nothing. */
template <class Worker> void churn_beside(benchmark::State &state, Worker &worker)
{
    std::vector<haft_id> churned(bench::churn_size);
    Object object = {1, {2, 3}};
    uint64_t failed = 0;
    bool is_offline = false;

    benchmark::DoNotOptimize(object);
    for (auto _ : state) {
        while (!is_over.load(std::memory_order_acquire)) {
            failed += bench::churn_round(worker, object, churned);
            worker.quiescent();
        }
        if (!is_offline) {
            worker.offline();
            is_offline = true;
        }
    }
    if (failed != 0) {
        state.SkipWithError("an object could not be freed by its owner");
    }
}

template <class Table> void read_case(benchmark::State &state)
{
    typename Table::Worker worker(*Shared<Table>::table);

    if (state.thread_index() == 0) {
        read(state, worker);
        state.counters["items_per_second"] = static_cast<double>(state.iterations()) *
                                             static_cast<double>(state.range(0)) /
                                             bench::span.seconds();
    } else {
        churn_beside(state, worker);
    }
}

template <class Table> void add_table(const char *subject)
{
    bench::Case one;
    one.subject = subject;
    one.size = read_size;
    one.clock = bench::Clock::real;
    one.run = read_case<Table>;
    one.before = before<Table>;
    one.after = Shared<Table>::after;
    one.workload = "read_alone";
    bench::add(one);
    one.workload = "read_under_churn";
    one.threads = 2;
    bench::add(one);
}

} // namespace

void bench::add_cases()
{
    add_table<Workers>("haft_workers");
    add_table<QsbrCaller>("haft_qsbr_caller");
    add_table<QsbrThread>("haft_qsbr_thread");
    add_table<MembCaller>("haft_memb_caller");
    add_table<MembThread>("haft_memb_thread");
    add_table<Mutex>("mutex");
    add_table<ReadWrite>("read_write_lock");
    add_table<EntryMutex>("entry_mutex");
    add_table<SharedTreeMap>("shared_map");
    add_table<SharedHashMap>("shared_unordered_map");
    add_table<Lfht<Memb>>("lfht_memb");
    add_table<Lfht<Qsbr>>("lfht_qsbr");
    add_table<Tbb>("tbb");
}
