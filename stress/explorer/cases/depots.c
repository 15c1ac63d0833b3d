/*
 * White-box: what a thread that stalls in the depot finds when it goes on.
 *
 * A node that it has in hand has left the depot meanwhile and come into it again, or into another
 * one; or a batch waits there whose descriptor is of a segment that it has not seen.
 */
#include "concurrent/batches/depot.h"
#include "stress/explorer/cases/case.h"
#include <stddef.h>
#include <string.h>

#define BATCHES 5

static struct pool pool;
static haft_allocator heap;
static struct segment *segment;
static struct depot depot;
static struct depot other_depot;
static struct batch *waiting;         /* in the depot from the start */
static struct batch *late;            /* of the thread that stalls */
static shared_u64 taken[2 * BATCHES]; /* by number; those of the segment come last */

static void set_up_of(uint32_t batches)
{
    for (uint32_t i = 0; i < 2 * BATCHES; i++) {
        poke(&taken[i], 0);
    }
    heap = heap_of(NULL);
    require_status(pool_open(&pool, BATCHES, &heap), HAFT_OK, "opening the pool");
    require_status(pool_commit(&pool, BATCHES), HAFT_OK, "memory for the pool");
    memset(&depot, 0, sizeof depot);
    memset(&other_depot, 0, sizeof other_depot);
    depot_open(&depot, &pool);
    depot_open(&other_depot, &pool);
    waiting = pool_take(&pool, NULL);
    late = pool_take(&pool, NULL);
    if (batches != 0) {
        depot_push(&depot, &pool, waiting);
    }
}

static struct batch *take(struct depot *from)
{
    struct batch *batch = depot_take(from, &pool, 0);

    if (batch != NULL) {
        require(add(&taken[batch->number], 1) == 0, "a batch has two owners");
    }
    return batch;
}

static void push(struct depot *to, struct batch *batch)
{
    poke(&taken[batch->number], 0);
    depot_push(to, &pool, batch);
}

static void expect(struct depot *from, uint32_t count, const char *text)
{
    uint32_t found = 0;

    while (take(from) != NULL) {
        found++;
    }
    require(found == count, text);
}

/* --- round: the node at the head goes round, and comes to the head again --- */

static shared_u64 kept; /* batches that were taken for good */

static void set_up_round(void)
{
    set_up_of(1);
    poke(&kept, 0);
}

static void round_body(uint32_t thread)
{
    struct batch *batch;

    race_begin();
    if (thread == 0) {
        batch = take(&depot);
        add(&kept, batch != NULL);
    } else if ((batch = take(&depot)) != NULL) {
        push(&depot, batch);
        batch = take(&depot);
        add(&kept, batch != NULL);
    }
    race_end();
}

static void tear_down_round(void)
{
    expect(&depot, 1 - (uint32_t)peek(&kept), "a batch is lost in the depot");
    pool_close(&pool);
}

EXPLORE(round, 2, set_up_round, round_body, tear_down_round,
        "a taker follows the link that the node at the head has now");

/* --- two_depots: the node at one's tail is on its way into the other --- */

static void set_up_two_depots(void)
{
    set_up_of(0);
}

static void two_depots_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        push(&depot, late);
    } else {
        push(&depot, waiting);
        push(&other_depot, take(&depot));
    }
    race_end();
}

static void tear_down_two_depots(void)
{
    expect(&other_depot, 1, "a batch comes into another depot than it was pushed into");
    expect(&depot, 1, "a batch is lost in the depot");
    pool_close(&pool);
}

EXPLORE(two_depots, 2, set_up_two_depots, two_depots_body, tear_down_two_depots,
        "a batch comes into the depot that it is pushed into");

/* --- segment: batches whose descriptors others have not seen --- */

static void set_up_segment(void)
{
    set_up_of(1);
}

/* Push one of a new segment, twice: the second time in the node of another that was there. */
static void go_round(void)
{
    segment = pool_grow(&pool);
    require(segment != NULL, "adding a segment");
    struct batch *batch = take(&depot);

    push(&depot, pool_take(&pool, segment));
    push(&depot, batch != NULL ? batch : pool_take(&pool, segment));
    batch = take(&depot);
    if (batch != NULL) {
        push(&depot, batch);
    }
}

static void segment_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        go_round();
    } else if (thread == 1) {
        push(&depot, late);
    } else {
        struct batch *batch = take(&depot);

        if (batch != NULL) {
            push(&depot, batch);
        }
    }
    race_end();
}

static void tear_down_segment(void)
{
    expect(&depot, (uint32_t)(2 + load_relaxed(OWN, &segment->used)),
           "a batch is lost in the depot");
    pool_close(&pool);
}

EXPLORE(segment, 3, set_up_segment, segment_body, tear_down_segment,
        "a thread that finds a batch in the depot has seen the segment that its descriptor is in");
