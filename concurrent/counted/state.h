/*
 * concurrent/counted/state.h - the structs of the counted table.
 *
 * The block has all that threads share: slots refer to each other by index.  What belongs to the
 * process (callbacks, names) is in haft_counted.
 *
 * Edges in this file.
 *   COUNT   slots that can be read: an id that was issued came to a thread after its slot did
 */
#ifndef HAFT_CONCURRENT_COUNTED_STATE_H
#define HAFT_CONCURRENT_COUNTED_STATE_H

#include "concurrent/counted/word.h"
#include "lib/base/os_types.h"
#include "lib/base/reservation.h"
#include "lib/slots/word.h"
#include <assert.h>
#include <haft/counted.h>

#define COUNTED_MOST_SHARDS 16

/* A head: how often it was taken from 34 | the first slot 30. */
struct counted_head {
    _Alignas(CACHE_LINE) atomic_u64 word;
};

#define COUNTED_KIND 0x746E756Fu /* what the block of a counted table begins with */
#define COUNTED_VERSION 1u

struct counted_block {
    uint32_t kind;
    uint32_t version;
    struct counted_head fresh;    /* the first index never used, and FRESH_IS_CLOSED */
    struct counted_head returned; /* see returned.h */
    struct counted_head heads[];  /* of the shards; or of the queue, then its tail */
};

struct haft_counted {
    /* Of each call. */
    uintptr_t base; /* where slot 0's word would be */
    uint64_t stride;
    uint64_t index_mask;
    uint64_t slot_count;
    uint64_t one_word_count; /* as slot_count if copies are of one word, else 0 */
    uint64_t less_tag;       /* to be added to an id above a state: it takes the tag away */
    uint64_t match_mask; /* generation and state, in a word that was shifted down to the state */
    uint8_t index_bits;
    bool wraps;
    bool copies;
    bool wipes;
    bool is_plain;  /* an end is no more than a free slot: no on_destroy, wipe, queue, poison */
    bool has_words; /* an insertion is no more than a few words into a slot of a shard */
    uint32_t generation_mask;
    uint32_t first_life;
    uint32_t shard_mask;
    struct counted_block *block;
    size_t object_size;
    uint64_t min_free; /* 0: shards; else the queue keeps that many */
    haft_counted_destroy *on_destroy;
    void *destroy_arg;

    uint64_t capacity;
    struct word_format format;
    struct reservation memory; /* the block and the slots */
    haft_allocator heap;       /* for this struct and a small block */
    bool is_given;             /* in the program's memory */
    const char *name;          /* behind this struct */
    haft_on_bad_access *on_bad_access;
    void *report_arg;

    /* Of the thread that closes: see counted.c. */
    uint64_t owned;  /* slots that closing has taken */
    uint64_t linked; /* of those in the queue's history: completed pushes count them once more */

    atomic_u64 ready_count; /* of the slots, those whose memory is ready: see free_slots.c */

    uint64_t number;         /* of the counted tables opened in this process: 1 and so on */
    haft_counted *next_open; /* see open_list.c */
    haft_counted **open_link;
};

/* The word of slot `index`; its object lies behind it. */
static inline atomic_u64 *counted_at(const haft_counted *table, uint64_t index)
{
    assert(index >= HAFT_FIRST_INDEX && index - HAFT_FIRST_INDEX < table->slot_count);
    return (atomic_u64 *)(table->base + (uintptr_t)(index * table->stride));
}

static inline void *counted_object(atomic_u64 *at)
{
    return at + 1;
}

static inline uint64_t counted_index(const haft_counted *table, haft_id id)
{
    return id.bits & table->index_mask;
}

/* The word of the slot that `id` names; NULL if the table has no such slot, or its memory is not
 * ready: then no id of it was ever issued. */
static inline atomic_u64 *counted_find(const haft_counted *table, haft_id id)
{
    const uint64_t index = counted_index(table, id);
    const uint64_t readable =
        OS_READS_IN_STEPS ? load_relaxed(COUNT, &table->ready_count) : table->slot_count;

    return index - HAFT_FIRST_INDEX < readable ? counted_at(table, index) : NULL;
}

/* Whether `word` has that state, and the generation of `id`, which has the table's tag. */
static inline bool counted_fits(const haft_counted *table, uint64_t word, haft_id id,
                                enum counted_state state)
{
    const uint64_t wanted = (id.bits >> table->index_bits << 2) + table->less_tag + state;

    return (word >> COUNTED_LOW_BITS & table->match_mask) == wanted;
}

/* Whether `word` is LIVE or ENDED, with the generation of `id`: their state has the high bit. */
static inline bool counted_is_of(const haft_counted *table, uint64_t word, haft_id id)
{
    const uint64_t wanted = (id.bits >> table->index_bits << 2) + table->less_tag + COUNTED_LIVE;
    const uint64_t either = COUNTED_LIVE ^ COUNTED_ENDED;

    return (word >> COUNTED_LOW_BITS & table->match_mask & ~either) == wanted;
}

/* Whether a slot in that life has lived all its generations. */
static inline bool counted_is_exhausted(const haft_counted *table, uint32_t life)
{
    return (life & table->generation_mask) == 0;
}

/* The id of slot `index` in that life. */
static inline haft_id counted_id(const haft_counted *table, uint64_t index, uint32_t life)
{
    assert(!counted_is_exhausted(table, life) && "generation 0 is no life");
    const haft_id id = {table->format.tag |
                        (uint64_t)(life & table->generation_mask) << table->index_bits | index};

    return id;
}

/* The life after `life`; after the last of 32 bits, one that tells that the slot has wrapped. */
static inline uint32_t counted_next(const haft_counted *table, uint32_t life)
{
    const uint32_t next = life + 1;

    if (!counted_is_exhausted(table, next) || !table->wraps) {
        return next;
    }
    return (next != 0 ? next : table->generation_mask + 1) | 1;
}

/* A life before `life`, which is not a slot's first, with the generation of the last one. */
static inline uint32_t counted_before(const haft_counted *table, uint32_t life)
{
    const uint32_t before = life - 1;

    assert((life != table->first_life || table->wraps) && "there is one before");
    return counted_is_exhausted(table, before) ? before - 1 : before;
}

/* The life that a slot goes on with: a fresh one with the first. */
static inline uint32_t counted_begin(const haft_counted *table, uint64_t word)
{
    return word == 0 ? table->first_life : counted_life(word);
}

/* Bytes of memory that the table takes, with the slots below index `end`. */
static inline uint64_t counted_bytes(const haft_counted *table, uint64_t end)
{
    const uint64_t begun =
        (uint64_t)(table->base - (uintptr_t)table->memory.base) + end * table->stride;
    const bool is_paged = reservation_is_paged(&table->memory);

    return size_with_name(sizeof *table, table->name) +
           (is_paged ? begun : table->memory.size + table->memory.more);
}

#endif /* HAFT_CONCURRENT_COUNTED_STATE_H */
