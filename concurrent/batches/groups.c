/*
 * Groups of batch descriptors, whose memory can be given back to the system.
 *
 * A descriptor is unused if it lies in the pool and the depot's node that it was born with is with
 * one that lies there: batches leave the depot with other nodes than they came with.  Among
 * unused descriptors nodes may be exchanged, so that each has its own as far as possible.
 *
 * A group given back hands its descriptors out one by one, as a worker's segment does.
 *
 * Edges in this file.
 *   POOL    groups_give_back (release) -> groups_take (acquire)   a descriptor's last use;
 *           first_group (release) -> is_listed (acquire)   a group's link is read before it is new
 *   OWN     this thread alone has the descriptors, or the pool
 *   RETRY   a first look; the compare-and-swap decides
 */
#include "concurrent/batches/batch.h"
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Descriptors that this thread has taken out of the pool. */
struct hand {
    struct pool *pool;
    uint64_t first;     /* through pool_next, to NUMBER_NONE */
    uint64_t count;     /* descriptors that there were: workers may bring more meanwhile */
    uint64_t *held;     /* a bit for each of them */
    uint32_t *complete; /* for each group: descriptors in hand with their own nodes */
};

void groups_setup(struct pool *pool)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t size = sizeof(struct batch);
    const uint64_t common = size & (UINT64_MAX - size + 1); /* its lowest bit */

    pool->group_size = common < page ? page / common : 1;
    store_relaxed(OWN, &pool->groups, NUMBER_NONE);
    store_relaxed(OWN, &pool->node_tags, 0);
}

static struct group *group_at(const struct pool *pool, uint64_t group)
{
    return (struct group *)(void *)pool->directory.base + group;
}

/*
 * The first group in the list with descriptors left, and how many are `*used`, or NUMBER_NONE.
 * Used up ones before it leave the list.
 */
static uint64_t first_group(struct pool *pool, uint64_t *used)
{
    for (;;) {
        const uint64_t head = load_acquire(POOL, &pool->groups);
        const uint64_t number = tagged_number(head);

        if (number == NUMBER_NONE) {
            return NUMBER_NONE;
        }
        struct group *group = group_at(pool, number);

        *used = load_relaxed(RETRY, &group->used);
        if (*used < pool->group_size) {
            return number;
        }
        const uint64_t next = load_relaxed(RETRY, &group->next);

        if (cas_relaxed(RETRY, &pool->groups, head, tagged_next(head, next))) {
            /* Weakened, the link that was read here could be that of the group's next time. */
            store_release(POOL, &group->used, pool->group_size + 1);
        }
    }
}

uint64_t groups_take(struct pool *pool)
{
    uint64_t number;
    uint64_t used;

    while ((number = first_group(pool, &used)) != NUMBER_NONE) {
        /* Weakened, its last holder's use could come after ours. */
        if (cas_acquire(POOL, &group_at(pool, number)->used, used, used + 1)) {
            return number * pool->group_size + used;
        }
    }
    return NUMBER_NONE;
}

/* Whether a group of which nothing is left is in the list still: then it may not come into it. */
static bool is_listed(const struct pool *pool, uint64_t group)
{
    return load_acquire(POOL, &group_at(pool, group)->used) == pool->group_size;
}

static void push_group(struct pool *pool, uint64_t number)
{
    struct group *group = group_at(pool, number);
    uint64_t head;

    store_release(POOL, &group->used, 0);
    do {
        head = load_relaxed(RETRY, &pool->groups);
        store_relaxed(OWN, &group->next, tagged_number(head));
    } while (!cas_release(POOL, &pool->groups, head, tagged_next(head, number)));
}

static struct batch *next_in_hand(const struct hand *hand, uint64_t number)
{
    return number == NUMBER_NONE ? NULL : pool_batch(hand->pool, number);
}

static bool is_held(const struct hand *hand, uint64_t number)
{
    return number < hand->count && (hand->held[number / 64] >> number % 64 & 1) != 0;
}

static bool hand_open(struct hand *hand, struct pool *pool)
{
    const uint64_t segments = load_relaxed(RETRY, &pool->segments);
    const uint64_t count = pool->table_count + segments * WORKER_BATCHES;
    const uint64_t groups = pool->table_count / pool->group_size;

    hand->pool = pool;
    hand->count = count;
    hand->first = NUMBER_NONE;
    hand->held = calloc((size_t)(count / 64 + 1), sizeof *hand->held);
    hand->complete = calloc((size_t)(groups + 1), sizeof *hand->complete);
    return hand->held != NULL && hand->complete != NULL;
}

static void hand_close(struct hand *hand)
{
    free(hand->complete);
    free(hand->held);
}

static void take(struct hand *hand, uint64_t most)
{
    struct batch *batch;

    for (uint64_t i = 0; i < most && (batch = pool_take_given(hand->pool)) != NULL; i++) {
        store_relaxed(OWN, &batch->pool_next, hand->first);
        hand->first = batch->number;
        if (batch->number < hand->count) {
            hand->held[batch->number / 64] |= UINT64_C(1) << batch->number % 64;
        }
    }
}

/* Exchange nodes until the batch has its own, or one whose descriptor is not in hand. */
static void match_node(const struct hand *hand, struct batch *batch)
{
    while (batch->node != batch->number && is_held(hand, batch->node)) {
        struct batch *other = pool_batch(hand->pool, batch->node);
        const uint64_t node = other->node;

        other->node = batch->node;
        batch->node = node;
    }
}

/* Whether the descriptor is of the table, and this counts for its group. */
static bool is_complete(const struct hand *hand, const struct batch *batch)
{
    return batch->number < hand->pool->table_count && batch->node == batch->number &&
           !is_listed(hand->pool, batch->number / hand->pool->group_size);
}

static void count_complete(const struct hand *hand)
{
    struct batch *batch;

    for (batch = next_in_hand(hand, hand->first); batch != NULL;
         batch = next_in_hand(hand, load_relaxed(OWN, &batch->pool_next))) {
        match_node(hand, batch);
    }
    for (batch = next_in_hand(hand, hand->first); batch != NULL;
         batch = next_in_hand(hand, load_relaxed(OWN, &batch->pool_next))) {
        if (is_complete(hand, batch)) {
            hand->complete[batch->number / hand->pool->group_size]++;
        }
    }
}

/* Back into the pool with those whose group stays. */
static void return_rest(const struct hand *hand)
{
    struct pool *pool = hand->pool;
    uint64_t tags = load_relaxed(OWN, &pool->node_tags);
    uint64_t next;

    for (uint64_t number = hand->first; number != NUMBER_NONE; number = next) {
        struct batch *batch = pool_batch(pool, number);

        next = load_relaxed(OWN, &batch->pool_next);
        if (is_complete(hand, batch) &&
            hand->complete[number / pool->group_size] == pool->group_size) {
            const uint64_t tag = load_relaxed(OWN, &batch->node_next) >> NUMBER_BITS;

            tags = tag < tags ? tags : tag + 1;
        } else {
            pool_give(pool, batch);
        }
    }
    store_relaxed(OWN, &pool->node_tags, tags);
}

uint64_t groups_give_back(struct pool *pool, uint64_t most)
{
    struct hand hand;
    const size_t size = (size_t)pool->group_size * sizeof(struct batch);
    uint64_t bytes = 0;
    uint64_t used;

    if (hand_open(&hand, pool)) {
        take(&hand, most);
        first_group(pool, &used); /* so that none stays listed for want of a taker */
        count_complete(&hand);
        return_rest(&hand);
        for (uint64_t group = 0; group < pool->table_count / pool->group_size; group++) {
            if (hand.complete[group] == pool->group_size) {
                bytes +=
                    madvise(pool->table.base + group * size, size, MADV_DONTNEED) == 0 ? size : 0;
                push_group(pool, group);
            }
        }
    }
    hand_close(&hand);
    return bytes;
}
