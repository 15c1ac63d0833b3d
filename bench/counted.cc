/*
 * bench/counted.cc - what it costs to hold an object while it is used.
 *
 *   hold         1,024 objects; each thread goes through all, in another order: hold the
 *                object, read a word, let it go.  One item is one object.
 *   hold_own     the same, each thread always the same object, another one for each thread
 *   hold_one     the same, all threads one object
 *   insert_free_any  an object is inserted and freed, again and again.  One item is both
 *
 * A second thread is alive in each, since glibc's mutexes and shared_ptr of libstdc++ leave their
 * atomic operations out in a program of one thread.  Tables that lend no objects look each up in a
 * read section, or under their lock.
 */
#include "bench/hashed.h"
#include "bench/held.h"
#include "bench/pool.h"
#include "bench/random.h"

#include <vector>

namespace
{

using bench::Companion;
using bench::Object;

constexpr uint64_t most_objects = 1024;
constexpr uint64_t uses_a_round = 1024;
constexpr uint64_t capacity = 4096;

/* A table that threads use without workers: bench::run_rounds() asks for these. */
struct NoWorker {
    void quiescent() {}
    void offline() {}
};

template <class Table> struct Running {
    static std::unique_ptr<Table> table;
    static std::unique_ptr<Companion> companion;
    static std::vector<haft_id> ids;

    static void before(const benchmark::State &)
    {
        companion = std::make_unique<Companion>();
        table = std::make_unique<Table>(capacity);
        ids.clear();
        for (uint64_t i = 0; i < most_objects; i++) {
            ids.push_back(table->insert(Object{1, {2, 3}}));
        }
        bench::span.clear();
    }

    static void after(const benchmark::State &)
    {
        table.reset();
        companion.reset();
    }
};

template <class Table> std::unique_ptr<Table> Running<Table>::table;
template <class Table> std::unique_ptr<Companion> Running<Table>::companion;
template <class Table> std::vector<haft_id> Running<Table>::ids;

void report(benchmark::State &state, uint64_t items_a_round)
{
    if (state.thread_index() == 0) {
        const double rounds = static_cast<double>(state.iterations()) * state.threads();

        state.counters["items_per_second"] =
            rounds * static_cast<double>(items_a_round) / bench::span.seconds();
    }
}

/* The ids that this thread goes through, `count` different ones from `first` on. */
std::vector<haft_id> order_of(const std::vector<haft_id> &ids, int thread, uint64_t first,
                              uint64_t count)
{
    std::vector<haft_id> order;

    for (uint64_t i = 0; i < uses_a_round; i++) {
        order.push_back(ids[first + i % count]);
    }
    bench::shuffle(order, bench::Random(static_cast<uint64_t>(thread) + 1));
    return order;
}

template <class Table> void use_all(benchmark::State &state, uint64_t first, uint64_t count)
{
    Table &table = *Running<Table>::table;
    const auto order = order_of(Running<Table>::ids, state.thread_index(), first, count);
    NoWorker worker;
    bool is_wrong = false;

    bench::run_rounds(state, worker, [&] {
        uint64_t sum = 0;

        for (const haft_id id : order) {
            sum += table.use(id);
        }
        bench::keep(sum);
        is_wrong |= sum != uses_a_round;
    });
    if (is_wrong) {
        state.SkipWithError("an object was not found");
    }
    report(state, uses_a_round);
}

template <class Table> void hold(benchmark::State &state)
{
    use_all<Table>(state, 0, most_objects);
}

template <class Table> void hold_own(benchmark::State &state)
{
    use_all<Table>(state, static_cast<uint64_t>(state.thread_index()), 1);
}

template <class Table> void hold_one(benchmark::State &state)
{
    use_all<Table>(state, 0, 1);
}

template <class Table> void insert_free(benchmark::State &state)
{
    Table &table = *Running<Table>::table;
    NoWorker worker;
    Object object = {1, {2, 3}};
    uint64_t failed = 0;

    benchmark::DoNotOptimize(object);
    bench::run_rounds(state, worker, [&] {
        for (uint64_t i = 0; i < uses_a_round; i++) {
            failed += !table.free(table.insert(object));
        }
    });
    if (failed != 0) {
        state.SkipWithError("an object could not be freed");
    }
    report(state, uses_a_round);
}

/* Tables of workers: each thread has one, and reads in sections. */
template <class Table> struct Sections {
    static void before(const benchmark::State &state)
    {
        bench::Shared<Table>::before(state);
        typename Table::Worker worker(*bench::Shared<Table>::table);

        ids.clear();
        for (uint64_t i = 0; i < most_objects; i++) {
            ids.push_back(worker.insert(Object{1, {2, 3}}));
        }
        companion = std::make_unique<Companion>();
    }

    static void after(const benchmark::State &state)
    {
        bench::Shared<Table>::after(state);
        companion.reset();
    }

    static std::unique_ptr<Companion> companion;
    static std::vector<haft_id> ids;
};

template <class Table> std::unique_ptr<Companion> Sections<Table>::companion;
template <class Table> std::vector<haft_id> Sections<Table>::ids;

template <class Table>
void resolve_in_section(benchmark::State &state, uint64_t first, uint64_t count)
{
    typename Table::Worker worker(*bench::Shared<Table>::table);
    const auto reader = worker.reader();
    const auto order = order_of(Sections<Table>::ids, state.thread_index(), first, count);
    bool is_wrong = false;

    bench::run_rounds(state, worker, [&] {
        uint64_t sum = 0;

        for (const haft_id id : order) {
            reader.begin();
            sum += reader.first_word(id);
            reader.end();
        }
        bench::keep(sum);
        is_wrong |= sum != uses_a_round;
    });
    if (is_wrong) {
        state.SkipWithError("an object was not found");
    }
    report(state, uses_a_round);
}

template <class Table> void hold_in_section(benchmark::State &state)
{
    resolve_in_section<Table>(state, 0, most_objects);
}

template <class Table> void hold_one_in_section(benchmark::State &state)
{
    resolve_in_section<Table>(state, 0, 1);
}

template <class Place>
void add_place(const char *workload, const char *subject, uint64_t size,
               void (*run)(benchmark::State &))
{
    bench::Case one;

    one.workload = workload;
    one.subject = subject;
    one.size = size;
    one.run = run;
    one.before = Place::before;
    one.after = Place::after;
    bench::add_threads(one, 1, bench::most_threads());
}

template <class Table>
void add_one(const char *workload, const char *subject, uint64_t size,
             void (*run)(benchmark::State &))
{
    add_place<Running<Table>>(workload, subject, size, run);
}

template <class Table> void add_hold_one(const char *subject)
{
    add_place<Sections<Table>>("hold_one", subject, 1, hold_one_in_section<Table>);
}

template <class Table> void add_holding(const char *subject)
{
    add_one<Table>("hold", subject, most_objects, hold<Table>);
    add_one<Table>("hold_own", subject, 1, hold_own<Table>);
    add_one<Table>("hold_one", subject, 1, hold_one<Table>);
    add_one<Table>("insert_free_any", subject, 1, insert_free<Table>);
}

} // namespace

void bench::add_cases()
{
    add_holding<Counted>("haft_counted");
    add_holding<CountedSpread>("haft_counted_spread");
    add_holding<MutexCount>("mutex_count");
    add_holding<ReadWriteCount>("read_write_count");
    add_holding<UndoCount>("undo_count");
    add_holding<WeakPointers>("weak_ptr");
    add_holding<BareSteps>("bare");
    add_place<Sections<Workers>>("hold", "haft_table", most_objects, hold_in_section<Workers>);
    add_hold_one<Workers>("haft_table");
    add_hold_one<Mutex>("mutex");
    add_hold_one<ReadWrite>("read_write_lock");
    add_hold_one<SharedHashMap>("shared_unordered_map");
    add_hold_one<SharedPointers>("shared_ptr");
    add_hold_one<Lfht<Memb>>("lfht_memb");
    add_hold_one<Tbb>("tbb");
}
