/*
 * bench/local.cc - what tables of one thread cost, beside the maps that one would write instead.
 *
 *   get           live ids in random order, objects' first words are summed up (bench/walk.h)
 *   insert_free   `size` objects are inserted, then freed in the same order, again and again; one
 *                 item is one insert and one free
 *   iterate       all objects' first words are summed up, in the table's own order; one item is
 *                 one object
 *
 * Objects are 24 bytes.  The maps own objects that are allocated one by one, with ids for keys.
 * haft_local iterates by an inline run, haft_local_called by a call for each object.  Bounds: `raw`
 * is get over the same slots as haft_local's without any check, `two_calls` calls two functions
 * that do nothing, `array` is a std::vector of objects, without ids.
 *
 * bench/boxes.cc compares objects in place with objects in boxes.
 */
#include "bench/local.h"
#include "bench/alone.h"
#include "bench/walk.h"

#include <map>
#include <unordered_map>

namespace
{

using bench::Object;

using Map = bench::HeapMap<std::map<uint64_t, std::unique_ptr<Object>>>;
using UnorderedMap = bench::HeapMap<std::unordered_map<uint64_t, std::unique_ptr<Object>>>;

template <class Worker>
uint64_t insert_and_free(Worker &worker, const Object &object, std::vector<haft_id> &ids)
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
    add_sizes("iterate", "array", iterate<Array>);
    add_all<Local, LocalRun>("haft_local");
    add_sizes("iterate", "haft_local_called", iterate<LocalCalled>);
    add_all<Packed>("haft_packed");
    add_all<Map>("map");
    add_all<UnorderedMap>("unordered_map");
    add_box_cases();
}
