/*
 * White-box: descriptors whose memory is given back while another thread takes one, and such as
 * come with a segment, in the pool and in a ring.
 */
#include "concurrent/batches/ring.h"
#include "stress/explorer/cases/case.h"
#include <stddef.h>
#include <string.h>

#define GROUP 2 /* descriptors: the pool's are as large as fits whole pages, which nobody needs */
#define GROUPS 2

static struct pool pool;
static struct batch *held; /* by thread 1: the other one of its group is unused */

static void open_pool(void)
{
    require_status(pool_open(&pool, GROUPS * GROUP), HAFT_OK, "opening the pool");
    pool.group_size = GROUP;
    require_status(pool_commit(&pool, GROUPS * GROUP), HAFT_OK, "memory for the pool");
}

static void close_pool(void)
{
    pool_close(&pool);
}

/* --- groups --- */

/* The first group was given back, and one of it was taken again. */
static void set_up_groups(void)
{
    struct batch *batches[GROUP];

    open_pool();
    for (int i = 0; i < GROUP; i++) {
        batches[i] = pool_take(&pool, NULL);
    }
    for (int i = 0; i < GROUP; i++) {
        pool_give(&pool, batches[i]);
    }
    groups_give_back(&pool, GROUP);
    held = pool_take(&pool, NULL);
    require(held->number < GROUP, "a descriptor of the group that was given back");
}

static void use(struct batch *batch)
{
    require(batch->count == 0, "an unused descriptor is not empty");
    batch->count = 1;
    batch->indices[0] = 1;
    batch->count = 0;
}

static void groups_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        use(pool_take(&pool, NULL));
    } else {
        struct batch *another = pool_take(&pool, NULL);

        use(another);
        pool_give(&pool, held);
        pool_give(&pool, another);
        groups_give_back(&pool, GROUP);
        use(pool_take(&pool, NULL));
    }
    race_end();
}

/* Two are in use. */
static void tear_down_groups(void)
{
    uint64_t unused = GROUPS * GROUP - load_relaxed(OWN, &pool.table_used);

    while (pool_take_given(&pool) != NULL || groups_take(&pool) != NUMBER_NONE) {
        unused++;
    }
    require(unused == GROUPS * GROUP - 2, "a descriptor is lost");
    close_pool();
}

const struct explored_case groups_case = {
    .name = "groups",
    .invariant = "descriptors of a group that is given back are handed out once, and none is lost",
    .threads = 2,
    .set_up = set_up_groups,
    .body = groups_body,
    .tear_down = tear_down_groups,
};

/* --- new_segment: who finds none unused looks into all segments --- */

static struct segment segment;

static void set_up_new_segment(void)
{
    open_pool();
    memset(&segment, 0, sizeof segment);
}

static void new_segment_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        require_status(pool_add(&pool, &segment), HAFT_OK, "adding a segment");
    } else {
        use(pool_take(&pool, NULL));
    }
    race_end();
}

const struct explored_case new_segment_case = {
    .name = "new_segment",
    .invariant = "a segment is set up before others take its descriptors",
    .threads = 2,
    .set_up = set_up_new_segment,
    .body = new_segment_body,
    .tear_down = close_pool,
};

/* --- ring_cell: who reads a cell late finds a batch there that came later --- */

static struct ring ring;

static void set_up_ring_cell(void)
{
    open_pool();
    memset(&segment, 0, sizeof segment);
    memset(&ring, 0, sizeof ring);
    struct batch *filling = pool_take(&pool, NULL); /* stands in all cells */

    for (int i = 0; i < RING_BATCHES; i++) {
        ring_push(&ring, filling);
    }
}

static void ring_cell_body(uint32_t thread)
{
    race_begin();
    require(ring_take(&ring, &pool, 0) != NULL, "the ring is full");
    if (thread == 0) {
        require_status(pool_add(&pool, &segment), HAFT_OK, "adding a segment");
        require(ring_push(&ring, pool_take(&pool, &segment)), "the ring has room");
    }
    race_end();
}

const struct explored_case ring_cell_case = {
    .name = "ring_cell",
    .invariant = "who looks into a ring's cell has seen the segment that the batch there is in",
    .threads = 2,
    .set_up = set_up_ring_cell,
    .body = ring_cell_body,
    .tear_down = close_pool,
};
