/*
 * bench/side.cc - what a value beside an object costs, one thread.
 *
 *   side_get    the values of live ids, in random order; their first words are summed up
 *   side_find   an object and a value of each id: resolved and got
 *   side_set    values are set for all ids, then removed; one item is one set and one remove
 *
 * Objects and values are 24 bytes.  haft_side is haft/kit/side.h, haft_side_typed haft::side.
 * haft_resolve resolves where these get: in side_get in the ids' own table, in side_find in a
 * second table of which there are as many ids.  The code is that of shared tables, too.
 */
#include "bench/main.h"
#include "bench/random.h"
#include "bench/walk.h"

#include <haft/kit/kit.hpp>
#include <vector>

namespace
{

using bench::finish_walk;
using bench::Object;
using bench::sum_of;

using Table = haft::local<Object>;
using Side = haft::side<Object, Object>;
using Id = haft::id<Object>;

/* The n-th object's and the n-th value's first word is n; of the second table's as well. */
struct Beside {
    explicit Beside(const benchmark::State &state)
        : size(static_cast<uint64_t>(state.range(0))), table(std::move(*Table::open(size))),
          second(std::move(*Table::open(size))), side(std::move(*Side::open(table)))
    {
        for (uint64_t i = 1; i <= size; i++) {
            const Object object = {i, {0, 0}};
            const Id id = *table.emplace(object);

            (void)side.emplace(id, object);
            ids.push_back(Pair{id, *second.emplace(object)});
        }
        bench::shuffle(ids, bench::Random(1));
    }

    struct Pair {
        Id id;
        Id of_second;
    };

    uint64_t size;
    Table table;
    Table second;
    Side side; /* it ends before the tables */
    std::vector<Pair> ids;
};

inline uint64_t first_of(const void *object)
{
    return object != nullptr ? static_cast<const Object *>(object)->first : 0;
}

/* By value: what a look needs stays in registers. */
template <class Look> uint64_t walk(const std::vector<Beside::Pair> &ids, Look look)
{
    uint64_t sum = 0;

    for (const Beside::Pair &pair : ids) {
        sum += look(pair);
    }
    return sum;
}

template <class Look>
void measure(benchmark::State &state, const Beside &beside, uint64_t times, Look look)
{
    uint64_t sum = 0;

    for (auto _ : state) {
        sum = walk(beside.ids, look);
        bench::keep(sum);
    }
    finish_walk(state, beside.size, sum, times * sum_of(beside.size));
}

void get(benchmark::State &state)
{
    const Beside beside(state);
    const haft_entries entries = haft_side_entries(beside.side.untyped());

    measure(state, beside, 1, [=](const Beside::Pair &pair) {
        return first_of(haft_side_get(entries, pair.id.untyped()));
    });
}

void get_typed(benchmark::State &state)
{
    const Beside beside(state);
    const Side &side = beside.side;

    measure(state, beside, 1,
            [&](const Beside::Pair &pair) { return first_of(side.get(pair.id)); });
}

void get_resolved(benchmark::State &state)
{
    const Beside beside(state);
    const haft_view view = haft_local_view(beside.table.untyped());

    measure(state, beside, 1, [=](const Beside::Pair &pair) {
        return first_of(haft_resolve(view, pair.id.untyped()));
    });
}

void find(benchmark::State &state)
{
    const Beside beside(state);
    const haft_entries entries = haft_side_entries(beside.side.untyped());
    const haft_view view = haft_local_view(beside.table.untyped());

    measure(state, beside, 2, [=](const Beside::Pair &pair) {
        void *object;
        const void *value = haft_side_find(entries, view, pair.id.untyped(), &object);

        return first_of(object) + first_of(value);
    });
}

void find_resolved(benchmark::State &state)
{
    const Beside beside(state);
    const haft_view view = haft_local_view(beside.table.untyped());
    const haft_view second = haft_local_view(beside.second.untyped());

    measure(state, beside, 2, [=](const Beside::Pair &pair) {
        return first_of(haft_resolve(view, pair.id.untyped())) +
               first_of(haft_resolve(second, pair.of_second.untyped()));
    });
}

void set(benchmark::State &state)
{
    Beside beside(state);
    haft_side *side = beside.side.untyped();
    Object object = {1, {2, 3}};
    uint64_t failed = 0;

    benchmark::DoNotOptimize(object);
    for (const Beside::Pair &pair : beside.ids) {
        failed += !haft_side_remove(side, pair.id.untyped());
    }
    for (auto _ : state) {
        for (const Beside::Pair &pair : beside.ids) {
            failed += haft_side_set(side, pair.id.untyped(), &object, nullptr) != HAFT_OK;
        }
        for (const Beside::Pair &pair : beside.ids) {
            failed += !haft_side_remove(side, pair.id.untyped());
        }
    }
    if (failed != 0) {
        state.SkipWithError("a value could not be set or removed");
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

void add_each(const char *workload, const char *subject, void (*run)(benchmark::State &))
{
    for (const uint64_t size : {1024u, 16384u, 262144u}) {
        bench::Case one;
        one.workload = workload;
        one.subject = subject;
        one.size = size;
        one.run = run;
        bench::add(one);
    }
}

} // namespace

void bench::add_cases()
{
    add_each("side_get", "haft_side", get);
    add_each("side_get", "haft_side_typed", get_typed);
    add_each("side_get", "haft_resolve", get_resolved);
    add_each("side_find", "haft_side", find);
    add_each("side_find", "haft_resolve", find_resolved);
    add_each("side_set", "haft_side", set);
}
