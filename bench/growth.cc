/*
 * bench/growth.cc - what a call costs while the process grows, one thread.
 *
 * With `size` live objects of 8 bytes; up to 2^20 of them, evenly spread, are used in random order:
 *   objects_resolve      live ids, all in one read section; `raw` indexes without any check
 *   objects_replace      an object is freed and another one inserted; `raw` writes to its slot
 *
 * With `size` tables open, one of them used; those of haft_table share a domain, and the thread has
 * a worker in each:
 *   tables_resolve       100 live ids, all in one read section
 *   tables_insert_free   an object is inserted and freed; 64 of them, a quiescent point
 *   tables_open_close    one more is opened and closed
 *
 * With `size` workers open in a table: `haft_open`, by the thread itself; `haft_parked`, all but
 * one by other threads, one each, which have parked:
 *   workers_quiescent    a quiescent point, when nothing has been freed
 *   workers_insert_free  an object is inserted and freed; 64 of them, a quiescent point
 *   workers_open_close   one more is opened and closed
 */
#define HAFT_BENCH_VALUES /* bench::Object has 8 bytes */
#include "bench/held.h"
#include "bench/walk.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace
{

using bench::Object;
using bench::require;

constexpr uint64_t most_used = uint64_t{1} << 20;
constexpr uint64_t live = 100;
constexpr uint64_t used_capacity = 4096; /* what waits for a grace period included */
constexpr uint64_t other_capacity = live;
constexpr uint64_t pairs_a_point = 64; /* insertions and frees for each quiescent point */
constexpr unsigned calls_a_round = 8192;

// --- objects ---

/* A table of state.range(0) objects, and some of their ids in random order; each value is 1. */
template <class Table> struct Crowd {
    explicit Crowd(const benchmark::State &state)
        : size(static_cast<uint64_t>(state.range(0))), table(size + size / 4 + 16384), worker(table)
    {
        const uint64_t step = (size + most_used - 1) / most_used;

        for (uint64_t i = 0; i < size; i++) {
            const haft_id id = worker.insert(Object{1});

            if (i % step == 0) {
                used.push_back(id);
            }
        }
        bench::shuffle(used, bench::Random(1));
    }

    uint64_t size;
    Table table;
    typename Table::Worker worker;
    std::vector<haft_id> used;
};

template <class Table> void objects_resolve(benchmark::State &state)
{
    const Crowd<Table> crowd(state);
    const auto reader = crowd.worker.reader();
    uint64_t sum = 0;

    for (auto _ : state) {
        sum = bench::walk(reader, crowd.used);
        bench::keep(sum);
    }
    bench::finish_walk(state, crowd.used.size(), sum, crowd.used.size());
}

template <class Table> void objects_replace(benchmark::State &state)
{
    Crowd<Table> crowd(state);
    auto &worker = crowd.worker;
    Object object{1};
    uint64_t failed = 0;

    benchmark::DoNotOptimize(object);
    for (auto _ : state) {
        uint64_t left = pairs_a_point;

        for (haft_id &id : crowd.used) {
            failed += !worker.free(id);
            id = worker.insert(object);
            if (--left == 0) {
                worker.quiescent();
                left = pairs_a_point;
            }
        }
    }
    if (failed != 0) {
        state.SkipWithError("an object could not be freed");
    }
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(crowd.used.size()));
}

/* Slots of the same bytes, written to without a look at them. */
class RawSlots
{
  public:
    explicit RawSlots(uint64_t most) { slots.reserve(most); }

    using Worker = bench::AnyWorker<RawSlots>;

    haft_id insert(const Object &object)
    {
        if (last != 0) {
            slots[last - 1] = {last, object};
            return haft_id{std::exchange(last, 0) - 1};
        }
        slots.push_back({slots.size(), object});
        return haft_id{slots.size() - 1};
    }

    /* The slot that the next insertion takes. */
    bool free(haft_id id)
    {
        last = id.bits + 1;
        return true;
    }

    uint64_t first_word(haft_id id) const { return slots[id.bits].object.first; }

  private:
    struct Slot {
        uint64_t word;
        Object object;
    };
    std::vector<Slot> slots;
    uint64_t last = 0;
};

// --- tables ---

struct SharedOne {
    SharedOne(haft_domain *its, uint64_t capacity) : domain(its)
    {
        haft_table_options options = {};

        options.capacity = capacity;
        options.object_size = sizeof(Object);
        require(haft_table_open(domain, &options, &table));
    }

    ~SharedOne()
    {
        if (worker != nullptr) {
            require(haft_worker_close(worker));
        }
        require(haft_table_close(table));
    }

    SharedOne(const SharedOne &) = delete;
    SharedOne &operator=(const SharedOne &) = delete;

    void join() { require(haft_worker_open(table, &worker)); }
    haft_id insert(const Object &object)
    {
        haft_id id = HAFT_NIL;

        require(haft_insert_wait(worker, &object, &id));
        return id;
    }
    bool free(haft_id id) { return haft_free(worker, id) == HAFT_OK; }
    void quiescent() { require(haft_worker_quiescent(worker)); }
    bench::HaftReader<bench::Announced> reader() const { return {haft_table_view(table), domain}; }

    haft_domain *domain;
    haft_table *table = nullptr;
    haft_worker *worker = nullptr;
};

struct CountedOne : bench::CountedCopies {
    CountedOne(haft_domain *, uint64_t capacity) : bench::CountedCopies(capacity) {}
    void join() {}
    void quiescent() {}
    bench::LockingReader<CountedOne> reader() { return bench::LockingReader<CountedOne>(this); }
};

/* A domain, and `count` tables. */
template <class One> struct Many {
    explicit Many(const benchmark::State &state)
    {
        require(haft_domain_open(nullptr, &domain));
        for (int64_t left = state.range(0); left > 0; left--) {
            tables.push_back(
                std::make_unique<One>(domain, left > 1 ? other_capacity : used_capacity));
            tables.back()->join();
        }
    }

    ~Many()
    {
        tables.clear();
        require(haft_domain_close(domain));
    }

    Many(const Many &) = delete;
    Many &operator=(const Many &) = delete;

    haft_domain *domain = nullptr;
    std::vector<std::unique_ptr<One>> tables;
};

template <class One> void tables_resolve(benchmark::State &state)
{
    Many<One> many(state);
    One &one = *many.tables.back();
    std::vector<haft_id> ids;
    uint64_t sum = 0;

    while (ids.size() < calls_a_round) {
        ids.push_back(ids.size() < live ? one.insert(Object{1}) : ids[ids.size() - live]);
    }
    bench::shuffle(ids, bench::Random(1));
    const auto reader = one.reader();
    for (auto _ : state) {
        sum = bench::walk(reader, ids);
        bench::keep(sum);
    }
    bench::finish_walk(state, calls_a_round, sum, calls_a_round);
}

/* Of one of the tables, or of one with many workers. */
template <class One> void insert_and_free(benchmark::State &state, One &one)
{
    Object object{1};
    uint64_t failed = 0;

    benchmark::DoNotOptimize(object);
    for (auto _ : state) {
        for (unsigned i = 1; i <= calls_a_round; i++) {
            failed += !one.free(one.insert(object));
            if (i % pairs_a_point == 0) {
                one.quiescent();
            }
        }
    }
    if (failed != 0) {
        state.SkipWithError("an object could not be freed");
    }
    state.SetItemsProcessed(state.iterations() * calls_a_round);
}

template <class One> void tables_insert_free(benchmark::State &state)
{
    Many<One> many(state);

    insert_and_free(state, *many.tables.back());
}

template <class One> void tables_open_close(benchmark::State &state)
{
    const Many<One> many(state);

    for (auto _ : state) {
        One one(many.domain, other_capacity);

        benchmark::DoNotOptimize(&one);
    }
    state.SetItemsProcessed(state.iterations());
}

// --- workers ---

/* Threads that open a worker each and park until they are let go. */
class Parked
{
  public:
    Parked(haft_domain *domain, haft_table *table, int64_t count)
    {
        for (int64_t i = 0; i < count; i++) {
            threads.emplace_back([this, domain, table] { stay(domain, table); });
        }
        std::unique_lock<std::mutex> held(mutex);
        changed.wait(held, [this, count] { return parked == count; });
    }

    ~Parked()
    {
        {
            const std::lock_guard<std::mutex> held(mutex);

            ends = true;
        }
        changed.notify_all();
        for (std::thread &thread : threads) {
            thread.join();
        }
    }

    Parked(const Parked &) = delete;
    Parked &operator=(const Parked &) = delete;

  private:
    void stay(haft_domain *domain, haft_table *table)
    {
        haft_worker *worker = nullptr;

        require(haft_worker_open(table, &worker));
        const haft_job_state state = haft_thread_park(domain);
        {
            std::unique_lock<std::mutex> held(mutex);

            parked++;
            changed.notify_all();
            changed.wait(held, [this] { return ends; });
        }
        haft_thread_unpark(domain, state);
        require(haft_worker_close(worker));
    }

    std::mutex mutex;
    std::condition_variable changed;
    int64_t parked = 0;
    bool ends = false;
    std::vector<std::thread> threads;
};

/* A table with state.range(0) workers, the last of which is `one.worker`. */
template <bool parks> struct Crew {
    explicit Crew(const benchmark::State &state)
    {
        const int64_t others = state.range(0) - 1;

        require(haft_domain_open(nullptr, &domain));
        one = std::make_unique<SharedOne>(domain, used_capacity);
        if (parks) {
            parked = std::make_unique<Parked>(domain, one->table, others);
        } else {
            open.resize(static_cast<size_t>(others));
            for (haft_worker *&worker : open) {
                require(haft_worker_open(one->table, &worker));
            }
        }
        one->join();
    }

    ~Crew()
    {
        haft_thread_offline(domain);
        parked.reset();
        haft_thread_online(domain);
        for (haft_worker *worker : open) {
            require(haft_worker_close(worker));
        }
        one.reset();
        require(haft_domain_close(domain));
    }

    Crew(const Crew &) = delete;
    Crew &operator=(const Crew &) = delete;

    haft_domain *domain = nullptr;
    std::unique_ptr<SharedOne> one;
    std::unique_ptr<Parked> parked;
    std::vector<haft_worker *> open;
};

template <bool parks> void workers_quiescent(benchmark::State &state)
{
    const Crew<parks> crew(state);

    for (auto _ : state) {
        for (unsigned i = 0; i < calls_a_round; i++) {
            crew.one->quiescent();
        }
    }
    state.SetItemsProcessed(state.iterations() * calls_a_round);
}

template <bool parks> void workers_insert_free(benchmark::State &state)
{
    const Crew<parks> crew(state);

    insert_and_free(state, *crew.one);
}

template <bool parks> void workers_open_close(benchmark::State &state)
{
    const Crew<parks> crew(state);
    uint64_t failed = 0;

    for (auto _ : state) {
        for (unsigned i = 0; i < calls_a_round; i++) {
            haft_worker *worker = nullptr;

            failed += haft_worker_open(crew.one->table, &worker) != HAFT_OK ||
                      haft_worker_close(worker) != HAFT_OK;
        }
    }
    if (failed != 0) {
        state.SkipWithError("a worker could not be opened");
    }
    state.SetItemsProcessed(state.iterations() * calls_a_round);
}

// --- cases ---

void add(const char *workload, const char *subject, const std::vector<uint64_t> &sizes,
         void (*run)(benchmark::State &))
{
    for (const uint64_t size : sizes) {
        bench::Case one;
        one.workload = workload;
        one.subject = subject;
        one.size = size;
        one.run = run;
        bench::add(one);
    }
}

template <class Table> void add_objects(const char *subject)
{
    const std::vector<uint64_t> sizes = {1000, 10000, 100000, 1000000, 10000000, 100000000};

    add("objects_resolve", subject, sizes, objects_resolve<Table>);
    add("objects_replace", subject, sizes, objects_replace<Table>);
}

template <class One> void add_tables(const char *subject)
{
    const std::vector<uint64_t> sizes = {1, 10, 100, 1000, 10000};

    add("tables_resolve", subject, sizes, tables_resolve<One>);
    add("tables_insert_free", subject, sizes, tables_insert_free<One>);
    add("tables_open_close", subject, sizes, tables_open_close<One>);
}

template <bool parks> void add_workers(const char *subject)
{
    const std::vector<uint64_t> sizes = {1, 4, 16, 64, 256, 1024};

    add("workers_quiescent", subject, sizes, workers_quiescent<parks>);
    add("workers_insert_free", subject, sizes, workers_insert_free<parks>);
    add("workers_open_close", subject, sizes, workers_open_close<parks>);
}

} // namespace

void bench::add_cases()
{
    add_objects<RawSlots>("raw");
    add_objects<Local>("haft_local");
    add_objects<Workers>("haft_table");
    add_objects<CountedCopies>("haft_counted");
    add_tables<SharedOne>("haft_table");
    add_tables<CountedOne>("haft_counted");
    add_workers<false>("haft_open");
    add_workers<true>("haft_parked");
}
