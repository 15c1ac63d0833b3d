/*
 * White-box: the depot, a ring and the pool, with batches that show whose they are.
 *
 * Each thread that has a batch writes into it and looks again: a batch that two threads have is
 * seen by its stamp, or by ThreadSanitizer.
 */
#include "concurrent/batches/depot.h"
#include "concurrent/batches/ring.h"
#include "stress/explorer/cases/case.h"
#include <stddef.h>
#include <string.h>

#define BATCHES 8

static struct pool pool;
static haft_allocator heap;
static struct depot depot;
static struct ring ring;
static shared_u64 owners[BATCHES + 1]; /* of the batch with that number: a thread and 1, or 0 */
static shared_u64 taken;
static struct batch *first;  /* that thread 0 has from the start */
static struct batch *second; /* thread 1 */

static void own(const struct batch *batch, uint32_t thread)
{
    require(peek(&owners[batch->number]) == 0, "a batch has two owners");
    poke(&owners[batch->number], thread + 1);
}

static void disown(const struct batch *batch, uint32_t thread)
{
    require(peek(&owners[batch->number]) == thread + 1, "a batch has two owners");
    poke(&owners[batch->number], 0);
}

static void open_pool(void)
{
    for (uint32_t i = 0; i <= BATCHES; i++) {
        poke(&owners[i], 0);
    }
    poke(&taken, 0);
    heap = heap_of(NULL);
    require_status(pool_open(&pool, BATCHES, &heap), HAFT_OK, "opening the pool");
    require_status(pool_commit(&pool, BATCHES), HAFT_OK, "memory for the pool");
}

static void close_pool(void)
{
    pool_close(&pool);
}

/* One without an owner, with an index that tells it from others. */
static struct batch *new_batch(uint64_t ticket)
{
    struct batch *batch = pool_take(&pool, NULL);

    store_relaxed(OWN, &batch->ticket, ticket);
    batch->count = 1;
    batch->indices[0] = (uint32_t)batch->number;
    return batch;
}

/* Look at what another thread may have put in, and change it. */
static void use(struct batch *batch, uint32_t thread)
{
    own(batch, thread);
    require(batch->count == 1 && batch->indices[0] == batch->number, "another batch's contents");
    batch->indices[1] = thread;
    add(&taken, 1);
    disown(batch, thread);
}

/* --- the depot: all push and take --- */

static void set_up_depot(void)
{
    open_pool();
    memset(&depot, 0, sizeof depot);
    depot_open(&depot, &pool);
    first = new_batch(0);
    second = new_batch(0);
    depot_push(&depot, &pool, new_batch(0));
    depot_push(&depot, &pool, new_batch(0));
}

static struct batch *take_and_use(uint32_t thread)
{
    struct batch *batch = depot_take(&depot, &pool, 0);

    if (batch != NULL) {
        use(batch, thread);
    }
    return batch;
}

/* Take, push, take and push: a node goes round while another thread holds it from before. */
static void go_round(uint32_t thread, struct batch *own_batch)
{
    struct batch *batch = take_and_use(thread);

    depot_push(&depot, &pool, own_batch);
    if (batch != NULL) {
        depot_push(&depot, &pool, batch);
    }
    batch = take_and_use(thread);
    if (batch != NULL) {
        depot_push(&depot, &pool, batch);
    }
}

static void depot_body(uint32_t thread)
{
    race_begin();
    if (thread == 2) {
        struct batch *batch = take_and_use(thread);

        if (batch != NULL) {
            depot_push(&depot, &pool, batch);
        }
    } else {
        go_round(thread, thread == 0 ? first : second);
    }
    race_end();
}

static void tear_down_depot(void)
{
    uint32_t found = 0;
    struct batch *batch;

    while ((batch = depot_take(&depot, &pool, 0)) != NULL) {
        require(++found <= 4, "more batches come out of the depot than went in");
        own(batch, 0); /* and keep it: none comes twice */
    }
    require(found == 4, "a batch is lost in the depot");
    close_pool();
}

EXPLORE(depot, 3, set_up_depot, depot_body, tear_down_depot,
        "each batch has one owner, none is lost, and its contents come with it");

/* --- the ring: one pushes and takes, two take --- */

static void set_up_ring_of(uint32_t batches, uint64_t before)
{
    open_pool();
    memset(&ring, 0, sizeof ring);
    store_relaxed(OWN, &ring.head, before);
    store_relaxed(OWN, &ring.tail, before);
    for (uint32_t i = 0; i < batches; i++) {
        ring_push(&ring, new_batch(0));
    }
    first = new_batch(0);
    second = new_batch(1);
}

static void set_up_ring(void)
{
    set_up_ring_of(1, RING_BATCHES - 1);
}

static void steal(uint32_t thread)
{
    struct batch *batch = ring_take(&ring, &pool, 0);

    if (batch != NULL) {
        require(load_relaxed(OWN, &batch->ticket) == 0, "a batch before its time");
        use(batch, thread);
        own(batch, thread); /* and keep it: none comes twice */
    }
}

static void ring_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        require(ring_push(&ring, first), "the ring has room");
        require(ring_push(&ring, second), "the ring has room");
    }
    steal(thread);
    if (thread == 1) {
        steal(thread);
    }
    race_end();
}

static void tear_down_ring(void)
{
    uint32_t found = (uint32_t)peek(&taken);

    for (struct batch *batch; (batch = ring_take(&ring, &pool, 1)) != NULL; found++) {
        own(batch, 0);
    }
    require(found == 3, "a batch is lost in the ring, or comes twice");
    close_pool();
}

EXPLORE(ring, 3, set_up_ring, ring_body, tear_down_ring,
        "a taker from a ring has the batch alone, as its owner closed it, and in time");

/* --- a full ring: its owner waits for room --- */

static struct batch filling[1]; /* stands in all cells but one of the full ring */

static void set_up_full_ring(void)
{
    set_up_ring_of(1, RING_BATCHES);
    filling[0].number = second->number;
    store_relaxed(OWN, &second->ticket, 0);
    for (int i = 1; i < RING_BATCHES; i++) {
        ring_push(&ring, &filling[0]);
    }
}

static void full_ring_body(uint32_t thread)
{
    if (thread == 0) {
        if (ring_push(&ring, first)) {
            met();
        }
        return;
    }
    struct batch *batch = ring_take(&ring, &pool, 0);

    require(batch != first, "a batch comes before those that were pushed earlier");
    if (batch != NULL && batch != second) {
        use(batch, thread);
        own(batch, thread);
    }
}

EXPLORE(full_ring, 3, set_up_full_ring, full_ring_body, close_pool,
        "a cell is written again only when the thread that took from it has read it");

/* --- the pool: three threads take and give back --- */

static void set_up_pool(void)
{
    struct batch *batches[3];

    open_pool();
    for (int i = 0; i < 3; i++) {
        batches[i] = pool_take(&pool, NULL);
    }
    for (int i = 0; i < 3; i++) {
        pool_give(&pool, batches[i]);
    }
}

static struct batch *take_descriptor(uint32_t thread)
{
    struct batch *batch = pool_take(&pool, NULL);

    own(batch, thread);
    require(batch->count == 0, "an unused descriptor is not empty");
    batch->count = 1;
    batch->indices[0] = thread;
    add(&taken, 1);
    return batch;
}

static void give_descriptor(struct batch *batch, uint32_t thread)
{
    require(batch->count == 1 && batch->indices[0] == thread, "a descriptor has two owners");
    batch->count = 0;
    disown(batch, thread);
    pool_give(&pool, batch);
}

static void take_twice(uint32_t thread)
{
    struct batch *batch = take_descriptor(thread);
    struct batch *another = take_descriptor(thread);

    give_descriptor(batch, thread);
    batch = take_descriptor(thread);
    give_descriptor(batch, thread);
    give_descriptor(another, thread);
}

static void pool_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        take_twice(thread);
    } else {
        give_descriptor(take_descriptor(thread), thread);
    }
    race_end();
}

static void tear_down_pool(void)
{
    for (uint32_t i = 0; i < BATCHES; i++) {
        own(pool_take(&pool, NULL), 0);
    }
    close_pool();
}

EXPLORE(pool, 3, set_up_pool, pool_body, tear_down_pool,
        "a descriptor has one owner, and none is lost");
