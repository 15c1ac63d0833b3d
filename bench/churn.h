/*
 * bench/churn.h - churn: each thread inserts `size` objects and frees them, again and again, with
 * a quiescent point after each round.  One item is one insert and one free.
 */
#ifndef HAFT_BENCH_CHURN_H
#define HAFT_BENCH_CHURN_H

#include "bench/pool.h"
#include "bench/subjects.h"

#include <vector>

namespace bench
{

constexpr uint64_t churn_size = 1024;

/* Inserts into every one of `ids`, then frees them; the number of frees that failed. */
template <class Worker>
uint64_t churn_round(Worker &worker, const Object &object, std::vector<haft_id> &ids)
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

/* The same by two calls. */
inline uint64_t churn_round(Many::Worker &worker, const Object &object, std::vector<haft_id> &ids)
{
    worker.insert_all(object, ids);
    return worker.free_all(ids);
}

template <class Table> void churn(benchmark::State &state)
{
    Table &table = *Shared<Table>::table;
    typename Table::Worker worker(table);
    std::vector<haft_id> ids(static_cast<size_t>(state.range(0)));
    Object object = {1, {2, 3}};
    uint64_t failed = 0;

    benchmark::DoNotOptimize(object); /* copied from memory by all, not made up on the spot */
    run_rounds(state, worker, [&] { failed += churn_round(worker, object, ids); });
    if (failed != 0) {
        state.SkipWithError("an object could not be freed by its owner");
    }
    report(state, table, ids.size());
}

template <class Table> void add_churn(const char *subject, int most = most_threads())
{
    Case one;
    one.workload = "churn";
    one.subject = subject;
    one.size = churn_size;
    one.run = churn<Table>;
    one.before = Shared<Table>::before;
    one.after = Shared<Table>::after;
    add_threads(one, 1, most);
}

} // namespace bench

#endif // HAFT_BENCH_CHURN_H
