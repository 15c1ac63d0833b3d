/*
 * White-box: a node of the depot leaves it, its memory is given back, and it is born again, while
 * another thread holds it for the depot's tail.
 */
#include "concurrent/batches/depot.h"
#include "stress/explorer/cases/case.h"
#include <string.h>

#define GROUP                                                                                      \
    2 /* descriptors: the pool's are as large as fits whole pages, which nobody needs here */
#define PUSHED 3 /* batches, in all */

static struct pool pool;
static struct segment segment;
static struct depot depot;
static struct batch *late;  /* pushed by the one that holds the old tail */
static struct batch *later; /* by the other one: then the old tail can leave */
static uint64_t taken;

static struct batch *new_batch(void)
{
    struct batch *batch = pool_take(&pool, NULL);

    batch->count = 1;
    return batch;
}

/* The node at the tail is one of the table's; all others are the segment's. */
static void set_up(void)
{
    require_status(pool_open(&pool, GROUP), HAFT_OK, "opening the pool");
    pool.group_size = GROUP;
    require_status(pool_commit(&pool, GROUP), HAFT_OK, "memory for the pool");
    memset(&segment, 0, sizeof segment);
    require_status(pool_add(&pool, &segment), HAFT_OK, "adding a segment");
    memset(&depot, 0, sizeof depot);
    depot_open(&depot, &pool);
    late = new_batch();
    later = new_batch();
    store_relaxed(OWN, &segment.used, WORKER_BATCHES);
    depot_push(&depot, &pool, new_batch());
    pool_give(&pool, pool_take(&pool, NULL));
    taken = 0;
}

static void take_and_give(void)
{
    struct batch *batch = depot_take(&depot, &pool, 0);

    if (batch != NULL) {
        batch->count = 0;
        pool_give(&pool, batch);
        taken++;
    }
}

static void body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        depot_push(&depot, &pool, late);
    } else {
        depot_push(&depot, &pool, later);
        take_and_give();
        take_and_give();
        groups_give_back(&pool, GROUP + 1);
        pool_take(&pool, NULL);
        pool_take(&pool, NULL);
    }
    race_end();
}

static void tear_down(void)
{
    while (depot_take(&depot, &pool, 0) != NULL) {
        taken++;
    }
    require(taken == PUSHED, "a batch is lost behind a node that has left the depot");
    pool_close(&pool);
}

const struct explored_case reborn_case = {
    .name = "reborn",
    .invariant = "a node that is born again is not taken for the tail that it was before",
    .threads = 2,
    .set_up = set_up,
    .body = body,
    .tear_down = tear_down,
};
