/*
 * The pool of batch descriptors: a tagged stack of used ones, and fresh ones behind it.
 *
 * Edges in this file.
 *   POOL    pool_give (release) -> pool_take (acquire)           a descriptor's last use
 *   WORKER_LIST  add_segment (release) -> pool_batch, pool_take (acquire)   a segment's set-up;
 *           make_part (release) -> directory_entry (acquire)   a part begins empty;
 *           add_segment (release) -> take_unused, pool_populate (acquire)   a place's part is there
 *   OWN     this thread alone has the descriptor, or the pool
 *   RETRY   a first look; the compare-and-swap decides
 */
#include "concurrent/batches/pool.h"
#include "concurrent/batches/tagged.h"
#include "lib/base/compiler.h"
#include <assert.h>
#include <stddef.h>

/* --- the directory --- */

static unsigned part_of(uint64_t place)
{
    return highest_bit(place / DIRECTORY_LEAST + 1);
}

static uint64_t part_size(unsigned part)
{
    return (uint64_t)DIRECTORY_LEAST << part;
}

/* Places of the parts before. */
static uint64_t part_first(unsigned part)
{
    return part_size(part) - DIRECTORY_LEAST;
}

static atomic_u64 *entry_in(uint64_t part_address, uint64_t place)
{
    return (atomic_u64 *)(uintptr_t)part_address + (place - part_first(part_of(place)));
}

static haft_status make_part(struct pool *pool, unsigned part)
{
    const size_t bytes = (size_t)part_size(part) * sizeof(atomic_u64);

    if (load_relaxed(RETRY, &pool->directory[part]) != 0) {
        return HAFT_OK;
    }
    void *made = heap_take_zero(pool->heap, bytes, sizeof(atomic_u64));

    if (made == NULL) {
        return HAFT_NO_MEMORY;
    }
    /* Weakened, a place in it could be read before it is empty. */
    if (!cas_release(WORKER_LIST, &pool->directory[part], 0, (uintptr_t)made)) {
        heap_give(pool->heap, made, bytes); /* another thread was faster */
    }
    return HAFT_OK;
}

static atomic_u64 *directory_entry(const struct pool *pool, uint64_t place)
{
    assert(place < MOST_SEGMENTS);
    /* Weakened, an address could be read that was in the part's memory before. */
    return entry_in(load_acquire(WORKER_LIST, &pool->directory[part_of(place)]), place);
}

static struct segment *segment_at(const struct pool *pool, uint64_t segment)
{
    /* Weakened, a descriptor's first use could come before its segment's set-up. */
    return (struct segment *)(uintptr_t)load_acquire(WORKER_LIST, directory_entry(pool, segment));
}

static void give_segments(const struct pool *pool)
{
    const uint64_t segments = load_relaxed(OWN, &pool->segments);

    for (uint64_t i = 0; i < segments; i++) {
        heap_give(pool->heap, segment_at(pool, i), sizeof(struct segment));
    }
}

static void give_directory(const struct pool *pool)
{
    for (unsigned part = 0; part < DIRECTORY_PARTS; part++) {
        heap_give(pool->heap, (void *)(uintptr_t)load_relaxed(OWN, &pool->directory[part]),
                  (size_t)part_size(part) * sizeof(atomic_u64));
    }
}

/* --- the pool comes and goes --- */

static void pool_start(struct pool *pool, uint64_t batches)
{
    assert(batches != 0 && batches < NUMBER_NONE);
    pool->table_count = batches;
    for (unsigned part = 0; part < DIRECTORY_PARTS; part++) {
        store_relaxed(OWN, &pool->directory[part], 0);
    }
    store_relaxed(OWN, &pool->table_used, 0);
    store_relaxed(OWN, &pool->segments, 0);
    store_relaxed(OWN, &pool->top, NUMBER_NONE);
}

haft_status pool_open(struct pool *pool, uint64_t batches, const haft_allocator *heap)
{
    const haft_status status = reservation_open_unread(&pool->table, batches * sizeof(struct batch),
                                                       _Alignof(struct batch), heap);

    if (status == HAFT_OK) {
        pool_start(pool, batches);
        pool->heap = heap;
    }
    return status;
}

void pool_close(struct pool *pool)
{
    give_segments(pool);
    give_directory(pool);
    reservation_close_array(&pool->table, pool->heap);
}

static uint64_t bytes_of(const struct pool *pool, uint64_t batches)
{
    return (batches < pool->table_count ? batches : pool->table_count) * sizeof(struct batch);
}

haft_status pool_commit(struct pool *pool, uint64_t batches)
{
    return reservation_commit(&pool->table, bytes_of(pool, batches));
}

haft_status pool_populate(const struct pool *pool, uint64_t batches)
{
    haft_status status = reservation_populate(&pool->table, 0, bytes_of(pool, batches));
    /* Weakened, the parts of the directory that they are in could be unseen. */
    const uint64_t segments = load_acquire(WORKER_LIST, &pool->segments);

    for (uint64_t i = 0; i < segments && status == HAFT_OK; i++) {
        struct segment *segment = segment_at(pool, i);

        status = segment != NULL ? memory_populate((char *)segment, sizeof *segment) : HAFT_OK;
    }
    return status;
}

static haft_status add_segment(struct pool *pool, struct segment *segment)
{
    for (;;) {
        const uint64_t place = load_relaxed(RETRY, &pool->segments);

        if (place == MOST_SEGMENTS || make_part(pool, part_of(place)) != HAFT_OK) {
            return HAFT_NO_MEMORY;
        }
        /* Weakened, a thread that finds the place could find no part there. */
        if (cas_release(WORKER_LIST, &pool->segments, place, place + 1)) {
            segment->place = place;
            store_release(WORKER_LIST, directory_entry(pool, place), (uint64_t)(uintptr_t)segment);
            return HAFT_OK;
        }
    }
}

struct batch *pool_batch(const struct pool *pool, uint64_t number)
{
    if (number < pool->table_count) {
        return (struct batch *)(void *)pool->table.base + number;
    }
    const uint64_t beyond = number - pool->table_count;

    return &segment_at(pool, beyond / SEGMENT_BATCHES)->batches[beyond % SEGMENT_BATCHES];
}

struct segment *pool_grow(struct pool *pool)
{
    struct segment *segment = heap_take(pool->heap, sizeof *segment, CACHE_LINE);

    if (segment == NULL) {
        return NULL;
    }
    store_relaxed(OWN, &segment->used, 0);
    if (add_segment(pool, segment) != HAFT_OK) {
        heap_give(pool->heap, segment, sizeof *segment);
        return NULL;
    }
    return segment;
}

/* The number of a descriptor of `segment` that was never used so far, or NUMBER_NONE. */
static uint64_t take_of_segment(const struct pool *pool, struct segment *segment)
{
    const uint64_t place = take_number(&segment->used, SEGMENT_BATCHES);

    return place == NUMBER_NONE ? NUMBER_NONE
                                : pool->table_count + segment->place * SEGMENT_BATCHES + place;
}

/*
 * The number of any descriptor never used so far, or NUMBER_NONE.  The table's come last: it has
 * as many as the depot can hold, and memory for as many as the slots used so far can fill.
 */
static uint64_t take_unused(struct pool *pool)
{
    /* Weakened, the parts of the directory that they are in could be unseen. */
    const uint64_t segments = load_acquire(WORKER_LIST, &pool->segments);
    uint64_t number = NUMBER_NONE;

    for (uint64_t i = 0; number == NUMBER_NONE && i < segments; i++) {
        struct segment *segment = segment_at(pool, i);

        if (segment != NULL) {
            number = take_of_segment(pool, segment);
        }
    }
    if (number == NUMBER_NONE) {
        number = take_number(&pool->table_used, pool->table_count);
    }
    if (number < pool->table_count) {
        pool_commit(pool, number + 1); /* the worker that drew them committed it: acquire that */
    }
    return number;
}

static struct batch *set_up(struct pool *pool, uint64_t number)
{
    assert(number < NUMBER_NONE);
    struct batch *batch = pool_batch(pool, number);

    batch->number = number;
    batch->node = number;
    batch->count = 0;
    batch->has_last_lives = false;
    store_relaxed(OWN, &batch->ticket, 0);
    store_relaxed(OWN, &batch->node_next, NUMBER_NONE);
    return batch;
}

/* A descriptor that was given back; NULL if there is none. */
static struct batch *take_returned(struct pool *pool)
{
    for (;;) {
        /* Weakened, the indices that the last holder read could be overwritten before. */
        const uint64_t top = load_acquire(POOL, &pool->top);

        if (tagged_number(top) == NUMBER_NONE) {
            return NULL;
        }
        struct batch *batch = pool_batch(pool, tagged_number(top));
        /* If another thread has taken the descriptor and uses it, the tag has changed. */
        const uint64_t next = load_relaxed(RETRY, &batch->pool_next);

        if (cas_acquire(POOL, &pool->top, top, tagged_next(top, next))) {
            return batch;
        }
    }
}

struct batch *pool_take(struct pool *pool, struct segment *own)
{
    uint64_t number = own != NULL ? take_of_segment(pool, own) : NUMBER_NONE;

    while (number == NUMBER_NONE) {
        struct batch *batch = take_returned(pool);

        if (batch != NULL) {
            assert(batch->count == 0 && !batch->has_last_lives && "a batch in the pool is empty");
            return batch;
        }
        number = take_unused(pool); /* if all are used, one has been given back meanwhile */
    }
    return set_up(pool, number);
}

void pool_give(struct pool *pool, struct batch *batch)
{
    uint64_t top;

    assert(batch->count == 0 && batch->number != NUMBER_NONE);
    batch->has_last_lives = false;
    do {
        top = load_relaxed(RETRY, &pool->top);
        store_relaxed(OWN, &batch->pool_next, tagged_number(top));
    } while (!cas_release(POOL, &pool->top, top, tagged_next(top, batch->number)));
}

uint64_t pool_used(const struct pool *pool)
{
    const uint64_t segments = load_relaxed(OWN, &pool->segments);
    uint64_t count = load_relaxed(OWN, &pool->table_used);

    for (uint64_t i = 0; i < segments; i++) {
        const struct segment *segment = segment_at(pool, i);

        count += segment != NULL ? load_relaxed(OWN, &segment->used) : 0;
    }
    return count;
}

uint64_t pool_unused(const struct pool *pool)
{
    uint64_t number = tagged_number(load_relaxed(OWN, &pool->top));
    uint64_t count = 0;

    for (; number != NUMBER_NONE; count++) {
        number = load_relaxed(OWN, &pool_batch(pool, number)->pool_next);
    }
    return count;
}
