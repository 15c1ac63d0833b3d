/*
 * Free slots in a queue.
 *
 * M. M. Michael's and M. L. Scott's queue (PODC 1996) without its dummy node: since min_free slots
 * stay, the first slot itself goes out.  Head and tail count 34 bits of slots that went out and
 * came in; the difference is the queue's length.  A slot's link is written into its word by a
 * compare-and-swap, and the life in that word, which a slot has once in the queue, tells a tail
 * that came back from one that stayed.
 *
 * Closing.  The tail is exchanged for CLOSED, then the last slot's link: after that no slot is
 * linked.  But a call that has linked its slot before still looks at the tail; so each call counts
 * in `returned` when it is done, and closing waits for as many as slots were linked.
 *
 * Edges in this file.
 *   QUEUE    queue_give, advance_tail, queue_take, close_links (release) -> queue_take, queue_give,
 *            read_last, queue_close, close_links (acquire)   the slot's last life, its link before
 *            the tail that leads on, and the end that was read before one that follows from it
 *   OWN      only this call writes the slot's word
 *   COUNT    how many slots were linked; each link orders the next slot's word
 *   RETRY    a first look; the compare-and-swap decides
 *   SAME     a second look at an end, after the last slot's word was acquired
 */
#include "concurrent/counted/queue.h"
#include "concurrent/counted/returned.h"
#include <assert.h>

#define COUNT_ONE (UINT64_C(1) << COUNTED_LOW_BITS)
#define COUNT_MASK (UINT64_MAX >> COUNTED_LOW_BITS)

static atomic_u64 *queue_head(haft_counted *table)
{
    return &table->block->heads[0].word;
}

static atomic_u64 *queue_tail(haft_counted *table)
{
    return &table->block->heads[1].word;
}

static uint64_t count_of(uint64_t end)
{
    return end >> COUNTED_LOW_BITS;
}

/* `end` with one more slot passed, and another slot. */
static uint64_t end_at(uint64_t end, uint64_t index)
{
    assert(index <= COUNTED_LOW_MASK);
    return ((end & ~COUNTED_LOW_MASK) + COUNT_ONE) | index;
}

void queue_setup(haft_counted *table, uint64_t index)
{
    assert(table->min_free != 0 && "the last slot never goes out");
    store_relaxed(OWN, counted_at(table, index),
                  counted_word(table->first_life, COUNTED_FREE, COUNTED_NONE));
    store_relaxed(OWN, queue_head(table), index);
    store_relaxed(OWN, queue_tail(table), COUNT_ONE | index);
    store_relaxed(OWN, &table->block->returned.word, 1); /* that slot was linked, and no more */
}

/*
 * The tail's slot, its word, and whether `tail` still was the tail when the word was read: then it
 * is that of the queue's last slot, or of the last but one.
 *
 * A word that is not FREE was written by a call that has the slot, and may be seen without the tail
 * that this call saw: such a slot is out of the queue, whatever the tail below says.
 */
static bool read_last(haft_counted *table, uint64_t tail, atomic_u64 **at, uint64_t *word)
{
    *at = counted_at(table, counted_low(tail));
    /* Weakened, the word could be one that the slot got when it was given to the queue again, while
     * the tail below is from before. */
    *word = load_acquire(QUEUE, *at);
    if (counted_state_of(*word) != COUNTED_FREE || load_relaxed(SAME, queue_tail(table)) != tail) {
        return false;
    }
    assert(counted_low(*word) != COUNTED_CLOSED);
    return true;
}

/* The tail leads on to slot `index`, unless another call has done so. */
static void advance_tail(haft_counted *table, uint64_t tail, uint64_t index)
{
    /* Weakened, a slot could be taken out whose link is not visible. */
    cas_release(QUEUE, queue_tail(table), tail, end_at(tail, index));
}

haft_status queue_take(haft_counted *table, uint64_t *index, uint64_t *length)
{
    for (;;) {
        /* Weakened, the tail read below could be older than this head. */
        const uint64_t head = load_acquire(QUEUE, queue_head(table));
        /* Weakened, the link of the first slot could be one from before it was linked. */
        const uint64_t tail = load_acquire(QUEUE, queue_tail(table));
        atomic_u64 *at;
        uint64_t word;

        if (counted_low(head) == COUNTED_CLOSED || counted_low(tail) == COUNTED_CLOSED) {
            return HAFT_CLOSED;
        }
        *length = (count_of(tail) - count_of(head)) & COUNT_MASK;
        if (*length > table->min_free) {
            const uint64_t first = counted_low(head);
            const uint64_t next = counted_low(load_relaxed(RETRY, counted_at(table, first)));

            /* Release: weakened, a call could find this head, and a tail from before the one that
             * let the slot go.  Acquire: the slot's last life is over, as the loads above see. */
            if (cas_acq_rel(QUEUE, queue_head(table), head, end_at(head, next))) {
                assert(next > COUNTED_CLOSED && next != first && "min_free slots stay behind it");
                *index = first;
                return HAFT_OK;
            }
        } else if (read_last(table, tail, &at, &word)) {
            if (counted_low(word) != COUNTED_NONE) {
                advance_tail(table, tail, counted_low(word));
            } else if (load_relaxed(SAME, queue_head(table)) == head) {
                return HAFT_FULL; /* when the word was read, these were head and tail */
            }
        }
    }
}

bool queue_give(haft_counted *table, uint64_t index, uint32_t life)
{
    atomic_u64 *own = counted_at(table, index);

    assert(counted_state_of(load_relaxed(OWN, own)) == COUNTED_RESERVED);
    /* Weakened, a call could take it for the word of a slot that is the queue's last. */
    store_release(QUEUE, own, counted_word(life, COUNTED_FREE, COUNTED_NONE));
    for (;;) {
        /* Weakened, the word of the last slot could be one from before it was linked. */
        const uint64_t tail = load_acquire(QUEUE, queue_tail(table));
        atomic_u64 *at;
        uint64_t word;

        if (counted_low(tail) == COUNTED_CLOSED) {
            return false;
        }
        if (!read_last(table, tail, &at, &word)) {
            continue;
        }
        if (counted_low(word) != COUNTED_NONE) {
            advance_tail(table, tail, counted_low(word));
            /* Weakened, the slot could be taken with a life from before. */
        } else if (cas_release(QUEUE, at, word, word | index)) {
            advance_tail(table, tail, index);
            returned_add(table);
            return true;
        }
    }
}

/* Count the slots from the first on, and let none be linked behind the last. */
static void close_links(haft_counted *table, uint64_t first, uint64_t tail)
{
    uint64_t index = first;

    for (;;) {
        atomic_u64 *at = counted_at(table, index);
        /* Weakened, the next slot's word could be from before it was linked. */
        const uint64_t word = load_acquire(QUEUE, at);
        const uint64_t next = counted_low(word);

        if (next == COUNTED_NONE) {
            /* Release: weakened, a call could find this mark, and the tail from before closing.
             * Acquire: as the load above. */
            if (cas_acq_rel(QUEUE, at, word, word | COUNTED_CLOSED)) {
                table->owned++;
                return;
            }
            continue;
        }
        table->owned++;
        assert(table->owned <= table->slot_count && next != index);
        table->linked += index == counted_low(tail); /* linked by a call that finds no tail now */
        index = next;
    }
}

void queue_close(haft_counted *table)
{
    /* Weakened, the first slot's word could be from before it was given. */
    const uint64_t head = exchange_acquire(QUEUE, queue_head(table), COUNTED_CLOSED);
    const uint64_t tail = exchange_relaxed(COUNT, queue_tail(table), COUNTED_CLOSED);

    if (counted_low(head) != COUNTED_CLOSED) {
        table->linked = count_of(tail);
        close_links(table, counted_low(head), tail);
        assert(table->owned <= table->slot_count);
    }
}
