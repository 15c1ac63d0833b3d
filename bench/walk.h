/*
 * bench/walk.h - a table full of objects, and the way through all of them by their ids, in random
 * order.  One item is one id.
 */
#ifndef HAFT_BENCH_WALK_H
#define HAFT_BENCH_WALK_H

#include "bench/main.h"
#include "bench/random.h"
#include "bench/subjects.h"

#include <vector>

namespace bench
{

/* The n-th object's first word is n. */
template <class Worker> std::vector<haft_id> insert_all(Worker &worker, uint64_t count)
{
    std::vector<haft_id> ids;

    ids.reserve(count);
    for (uint64_t i = 1; i <= count; i++) {
        Object object{};

        object.first = i;
        ids.push_back(worker.insert(object));
    }
    return ids;
}

/* What insert_all()'s objects sum up to. */
inline uint64_t sum_of(uint64_t count)
{
    return count * (count + 1) / 2;
}

/* A table of state.range(0) objects, its only worker, and their ids in random order. */
template <class Table> struct Filled {
    explicit Filled(const benchmark::State &state)
        : size(static_cast<uint64_t>(state.range(0))), table(4 * size), worker(table),
          ids(insert_all(worker, size))
    {
        shuffle(ids, Random(1));
    }

    uint64_t size;
    Table table;
    typename Table::Worker worker;
    std::vector<haft_id> ids;
};

/* By value: no other code can have changed the reader, so its fields stay in registers. */
template <class Reader> uint64_t walk(Reader reader, const std::vector<haft_id> &ids)
{
    uint64_t sum = 0;

    for (const haft_id id : ids) {
        sum += reader.first_word(id);
    }
    return sum;
}

/* After the loop, whose last walk gave `sum`. */
inline void finish_walk(benchmark::State &state, uint64_t size, uint64_t sum, uint64_t expected)
{
    state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(size));
    if (sum != expected) {
        state.SkipWithError("the objects do not sum up");
    }
}

/* All live ids, in one read section. */
template <class Table> void walk_open(benchmark::State &state)
{
    const Filled<Table> filled(state);
    const auto reader = filled.worker.reader();
    uint64_t sum = 0;

    reader.begin();
    for (auto _ : state) {
        sum = walk(reader, filled.ids);
        keep(sum);
    }
    reader.end();
    finish_walk(state, filled.size, sum, sum_of(filled.size));
}

} // namespace bench

#endif // HAFT_BENCH_WALK_H
