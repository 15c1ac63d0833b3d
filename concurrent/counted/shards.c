/*
 * Free slots in stacks: the search, and the end.
 *
 * Edges in this file.
 *   SHARD   shards_give, shards_try, end_plainly (release) -> shards_look, shards_close (acquire)
 *           the slot's last life; and the slots that a thread gave before it took one
 *   OWN     the slots that closing has taken are its own
 *   COUNT   each thread's number is assigned once, in no order with anything else
 */
#include "concurrent/counted/shards.h"
#include "lib/base/compiler.h"
#include <assert.h>
#include <string.h>

THREAD_LOCAL uint32_t shards_thread;

uint64_t shards_count(uint64_t capacity)
{
    uint64_t count = 1;

    while (count < COUNTED_MOST_SHARDS && count * 2 <= capacity) {
        count *= 2;
    }
    assert(count <= COUNTED_MOST_SHARDS && (count & (count - 1)) == 0);
    return count;
}

uint32_t shards_number_thread(void)
{
    static atomic_u64 threads;

    shards_thread = (uint32_t)fetch_add_relaxed(COUNT, &threads, 1) + 1;
    return shards_thread;
}

/* Take the first slot of the shard: HAFT_OK, HAFT_FULL, HAFT_CLOSED. */
static haft_status take_from(haft_counted *table, atomic_u64 *shard, uint64_t *index)
{
    uint64_t word;

    while (!shards_try(table, shard, index, &word)) {
        if (*index <= COUNTED_CLOSED) {
            return *index == COUNTED_NONE ? HAFT_FULL : HAFT_CLOSED;
        }
        shards_move_thread();
    }
    return HAFT_OK;
}

haft_status shards_take(haft_counted *table, uint64_t *index)
{
    const uint32_t begin = shards_own_number(table);
    const uint32_t mask = table->shard_mask;
    struct counted_head *heads = table->block->heads;
    haft_status status = HAFT_FULL;

    for (uint32_t i = 0; status == HAFT_FULL && i <= mask; i++) {
        status = take_from(table, &heads[(begin + i) & mask].word, index);
    }
    return status;
}

/* All heads; whether one has a slot or is closed. */
static bool shards_look(const haft_counted *table, uint64_t heads[COUNTED_MOST_SHARDS])
{
    uint64_t found = 0;

    assert(table->shard_mask < COUNTED_MOST_SHARDS);
    for (uint32_t i = 0; i <= table->shard_mask; i++) {
        /* Weakened, the second look could be older than a slot given before the first. */
        heads[i] = load_acquire(SHARD, &table->block->heads[i].word);
        found |= counted_low(heads[i]);
    }
    return found != 0;
}

haft_status shards_take_surely(haft_counted *table, uint64_t *index)
{
    uint64_t first[COUNTED_MOST_SHARDS];
    uint64_t second[COUNTED_MOST_SHARDS];
    const size_t size = ((size_t)table->shard_mask + 1) * sizeof first[0];

    for (;;) {
        const haft_status status = shards_take(table, index);

        if (status != HAFT_FULL) {
            return status;
        }
        if (!shards_look(table, first) && !shards_look(table, second) &&
            memcmp(first, second, size) == 0) {
            return HAFT_FULL;
        }
    }
}

void shards_close(haft_counted *table)
{
    for (uint32_t i = 0; i <= table->shard_mask; i++) {
        atomic_u64 *shard = &table->block->heads[i].word;
        /* Weakened, the slots' links could be from before they were given. */
        uint64_t index = counted_low(exchange_acquire(SHARD, shard, COUNTED_CLOSED));

        while (index > COUNTED_CLOSED) {
            table->owned++;
            assert(table->owned <= table->slot_count);
            index = counted_low(load_relaxed(OWN, counted_at(table, index)));
        }
    }
}
