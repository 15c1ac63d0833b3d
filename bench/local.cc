/*
 * bench/local.cc - what tables of one thread cost, beside the maps that one would write instead.
 *
 *   get           live ids in random order, objects' first words are summed up (bench/walk.h)
 *   insert_free   `size` objects are inserted, then freed in the same order, again and again; one
 *                 item is one insert and one free
 *   iterate       all objects' first words are summed up, in the table's own order; one item is
 *                 one object
 *   open_close    a table for `size` objects is opened and closed: shared and counted ones too;
 *                 malloc_free and calloc_free are one block of the same bytes
 *
 * Objects are 24 bytes.  The maps own objects that are allocated one by one, with ids for keys.
 * haft_local iterates by an inline run, haft_local_called by a call for each object.  Bounds: `raw`
 * is get over the same slots as haft_local's without any check, `two_calls` calls two functions
 * that do nothing, `bare_list` takes slots off a list through them and puts them back, with
 * generations, but without any check or count; `array` is a std::vector of objects, without ids.
 * haft_typed is haft_local with a type that the compiler knows (haft/typed.h).
 *
 * bench/boxes.cc compares objects in place with objects in boxes.
 */
#include "bench/local.h"
#include "bench/alone.h"
#include "bench/walk.h"

#include <cstdlib>
#include <haft/counted.h>
#include <haft/table.h>
#include <map>
#include <unordered_map>

namespace
{

using bench::Object;

using Map = bench::HeapMap<std::map<uint64_t, std::unique_ptr<Object>>>;
using UnorderedMap = bench::HeapMap<std::unordered_map<uint64_t, std::unique_ptr<Object>>>;

/* Inlined, so that the worker's fields stay in registers where nothing can have changed them. */
template <class Worker>
[[gnu::always_inline]] inline uint64_t insert_and_free(Worker &worker, const Object &object,
                                                       std::vector<haft_id> &ids)
{
    uint64_t failed = 0;

    for (haft_id &id : ids) {
        id = worker.insert(object);
    }
    for (const haft_id id : ids) {
        failed += !worker.free(id);
    }
    return failed;
}

template <class Table> void insert_free(benchmark::State &state)
{
    const uint64_t size = static_cast<uint64_t>(state.range(0));
    Table table(4 * size);
    typename Table::Worker worker(table);
    std::vector<haft_id> ids(size);
    Object object = {1, {2, 3}};
    uint64_t failed = 0;

    benchmark::DoNotOptimize(object); /* copied from memory by all, not made up on the spot */
    failed += insert_and_free(worker, object, ids); /* touches the memory */
    for (auto _ : state) {
        failed += insert_and_free(worker, object, ids);
    }
    if (failed != 0) {
        state.SkipWithError("an object could not be freed");
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

// --- what calls cost ---

/* insert and free that do nothing, but are called. */
struct TwoCalls {
    explicit TwoCalls(uint64_t) {}

    struct Worker {
        explicit Worker(TwoCalls &) {}

        __attribute__((noinline)) haft_id insert(const Object &object)
        {
            benchmark::DoNotOptimize(object.first);
            return haft_id{1};
        }

        __attribute__((noinline)) bool free(haft_id id)
        {
            bench::keep(id.bits);
            return true;
        }
    };
};

// --- what a list of free slots through the slots costs ---

class BareList
{
    static constexpr uint64_t index_mask = UINT32_MAX;
    static constexpr uint64_t generation_one = index_mask + 1;

    struct Slot {
        uint64_t word;
        Object object;
    };

  public:
    explicit BareList(uint64_t capacity) : slots(capacity + HAFT_FIRST_INDEX)
    {
        for (uint64_t index = slots.size(); index-- > HAFT_FIRST_INDEX;) {
            slots[index].word = generation_one | head;
            head = static_cast<uint32_t>(index);
        }
    }

    class Worker
    {
      public:
        explicit Worker(BareList &owner) : list(&owner), slots(owner.slots.data()) {}

        haft_id insert(const Object &object)
        {
            const uint32_t index = list->head;
            Slot &slot = slots[index];
            const uint64_t word = slot.word;

            list->head = static_cast<uint32_t>(word);
            slot.object = object;
            slot.word = (word & ~index_mask) | index;
            return haft_id{slot.word};
        }

        bool free(haft_id id)
        {
            const uint32_t index = static_cast<uint32_t>(id.bits);

            slots[index].word = ((id.bits + generation_one) & ~index_mask) | list->head;
            list->head = index;
            return true;
        }

      private:
        BareList *list;
        Slot *slots;
    };

  private:
    std::vector<Slot> slots;
    uint32_t head = 0;
};

template <class Table> void iterate(benchmark::State &state)
{
    const uint64_t size = static_cast<uint64_t>(state.range(0));
    Table table(4 * size);
    typename Table::Worker worker(table);
    uint64_t sum = 0;

    for (uint64_t i = 1; i <= size; i++) {
        worker.insert(Object{i, {0, 0}});
    }
    for (auto _ : state) {
        sum = worker.sum();
        bench::keep(sum);
        benchmark::ClobberMemory(); /* the next sum is not this one */
    }
    bench::finish_walk(state, size, sum, bench::sum_of(size));
}

void add_sizes(const char *workload, const char *subject, void (*run)(benchmark::State &))
{
    for (const uint64_t size : {1024u, 16384u, 65536u, 262144u, 1048576u}) {
        bench::Case one;
        one.workload = workload;
        one.subject = subject;
        one.size = size;
        one.run = run;
        bench::add(one);
    }
}

// --- tables that come and go ---

struct LocalOpening {
    using Options = haft_local_options;

    haft_status open(const Options &options) { return haft_local_open(&options, &table); }
    void close() const { haft_local_close(table); }

    haft_local *table = nullptr;
};

struct SharedOpening {
    using Options = haft_table_options;

    SharedOpening() { bench::require(haft_domain_open(nullptr, &domain)); }
    ~SharedOpening() { haft_domain_close(domain); }
    SharedOpening(const SharedOpening &) = delete;
    SharedOpening &operator=(const SharedOpening &) = delete;

    haft_status open(const Options &options) { return haft_table_open(domain, &options, &table); }
    void close() const { haft_table_close(table); }

    haft_domain *domain = nullptr;
    haft_table *table = nullptr;
};

struct CountedOpening {
    using Options = haft_counted_options;

    haft_status open(const Options &options) { return haft_counted_open(&options, &table); }
    void close() const { haft_counted_close(table); }

    haft_counted *table = nullptr;
};

template <class Opening> void open_close(benchmark::State &state)
{
    Opening opening;
    typename Opening::Options options = {};

    options.capacity = static_cast<uint64_t>(state.range(0));
    options.object_size = sizeof(Object);
    for (auto _ : state) {
        if (opening.open(options) != HAFT_OK) {
            state.SkipWithError("no memory");
            break;
        }
        benchmark::DoNotOptimize(opening.table);
        opening.close();
    }
    state.SetItemsProcessed(state.iterations());
}

size_t slot_bytes(const benchmark::State &state)
{
    const uint64_t slots = static_cast<uint64_t>(state.range(0)) + HAFT_FIRST_INDEX;

    return static_cast<size_t>(slots * (sizeof(uint64_t) + sizeof(Object)));
}

/* A block of the same bytes, cleared or not. */
template <bool cleared> void take_and_free(benchmark::State &state)
{
    const size_t bytes = slot_bytes(state);

    for (auto _ : state) {
        void *block = cleared ? std::calloc(bytes, 1) : std::malloc(bytes);

        benchmark::DoNotOptimize(block);
        benchmark::ClobberMemory();
        std::free(block);
    }
    state.SetItemsProcessed(state.iterations());
}

void add_opening(const char *subject, void (*run)(benchmark::State &))
{
    for (const uint64_t size : {4u, 100u, 500u, 1000u, 3900u, 100000u, 1000000u}) {
        bench::Case one;
        one.workload = "open_close";
        one.subject = subject;
        one.size = size;
        one.run = run;
        bench::add(one);
    }
}

template <class Table, class Iterated = Table> void add_all(const char *subject)
{
    add_sizes("get", subject, bench::walk_open<Table>);
    add_sizes("insert_free", subject, insert_free<Table>);
    add_sizes("iterate", subject, iterate<Iterated>);
}

} // namespace

void bench::add_cases()
{
    add_sizes("get", "raw", walk_open<LocalRaw>);
    add_sizes("insert_free", "two_calls", insert_free<TwoCalls>);
    add_sizes("insert_free", "bare_list", insert_free<BareList>);
    add_sizes("iterate", "array", iterate<Array>);
    add_all<Local, LocalRun>("haft_local");
    add_sizes("iterate", "haft_local_called", iterate<LocalCalled>);
    add_sizes("get", "haft_typed", walk_open<TypedLocal>);
    add_sizes("insert_free", "haft_typed", insert_free<TypedLocal>);
    add_all<Packed>("haft_packed");
    add_all<Map>("map");
    add_all<UnorderedMap>("unordered_map");
    add_opening("haft_local", open_close<LocalOpening>);
    add_opening("haft_table", open_close<SharedOpening>);
    add_opening("haft_counted", open_close<CountedOpening>);
    add_opening("malloc_free", take_and_free<false>);
    add_opening("calloc_free", take_and_free<true>);
    add_box_cases();
    add_state_cases();
}
