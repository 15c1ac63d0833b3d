/*
 * White-box: descriptors that come with a segment, in the pool and in a ring.
 */
#include "concurrent/batches/ring.h"
#include "stress/explorer/cases/case.h"
#include <stddef.h>
#include <string.h>

#define DESCRIPTORS 4 /* of the table */

static struct pool pool;
static haft_allocator heap;

static void open_pool(void)
{
    heap = heap_of(NULL);
    require_status(pool_open(&pool, DESCRIPTORS, &heap), HAFT_OK, "opening the pool");
    require_status(pool_commit(&pool, DESCRIPTORS), HAFT_OK, "memory for the pool");
}

static void close_pool(void)
{
    pool_close(&pool);
}

static void use(struct batch *batch)
{
    require(batch->count == 0, "an unused descriptor is not empty");
    batch->count = 1;
    batch->indices[0] = 1;
    batch->count = 0;
}

/* --- new_segment: a thread that finds none unused looks into all segments --- */

static void new_segment_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        require(pool_grow(&pool) != NULL, "adding a segment");
    } else {
        use(pool_take(&pool, NULL));
    }
    race_end();
}

EXPLORE(new_segment, 2, open_pool, new_segment_body, close_pool,
        "a segment is set up before others take its descriptors");

/* --- populate: a thread has all descriptors' memory in advance, while a segment comes --- */

static void populate_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        require(pool_grow(&pool) != NULL, "adding a segment");
    } else {
        require_status(pool_populate(&pool, DESCRIPTORS), HAFT_OK, "memory for descriptors");
    }
    race_end();
}

EXPLORE(populate, 2, open_pool, populate_body, close_pool,
        "a thread that counts a segment finds its place in the directory");

/* --- ring_cell: a thread that reads a cell late finds a batch there that came later --- */

static struct ring ring;

static void set_up_ring_cell(void)
{
    open_pool();
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
        struct segment *segment = pool_grow(&pool);

        require(segment != NULL, "adding a segment");
        require(ring_push(&ring, pool_take(&pool, segment)), "the ring has room");
    }
    race_end();
}

EXPLORE(ring_cell, 2, set_up_ring_cell, ring_cell_body, close_pool,
        "a thread that looks into a ring's cell has seen the segment that the batch there is in");
