/*
 * The budget: slots that workers may hold back, and their batch limits.
 *
 * Edges in this file.
 *   RETRY   the budget: it carries numbers only; the slots held back travel through ring and depot
 */
#include "concurrent/worker/budget.h"
#include "concurrent/batches/tuning.h"
#include "concurrent/worker/worker_batches.h"

void worker_set_batch_limit(haft_worker *worker, uint32_t limit)
{
    worker->is_to_draw = false;
    worker->batch_limit = limit;
    open_batch_set_look(worker);
}

/* Take the slots that the worker may hold back from the budget, and set its batch limit by them. */
static void draw_share(haft_worker *worker)
{
    haft_table *table = worker->table;
    const uint64_t wanted = 2 * (uint64_t)(table->batch_max - 1);
    uint64_t left;
    uint64_t drawn;

    do {
        left = load_relaxed(RETRY, &table->budget);
        drawn = (left < wanted ? left : wanted) & ~UINT64_C(1);
    } while (!cas_relaxed(RETRY, &table->budget, left, left - drawn));
    worker_set_batch_limit(worker, (uint32_t)(drawn / 2 + 1));
}

void budget_draw(haft_worker *worker)
{
    if (worker->is_to_draw) {
        draw_share(worker);
    }
}

void budget_return(haft_worker *worker)
{
    if (worker->batch_limit != 1) {
        fetch_add_relaxed(RETRY, &worker->table->budget, 2 * (uint64_t)(worker->batch_limit - 1));
        worker_set_batch_limit(worker, 1);
    }
}
