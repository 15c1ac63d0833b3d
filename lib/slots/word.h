/*
 * lib/slots/word.h - the slot word: one 64-bit value decides everything about a slot.
 *
 * slot.word, the whole life of a slot.   (g: generation, [x]: index field; the tag is in all but
 * fresh words and slot 0's)
 *
 *   0              fresh: never used, or its memory released (lib/slots/runs.h)
 *   g[RESERVED]    handed to one worker, invisible
 *   id             live; nothing else has the slot's own index in its index field
 *   g[FREE]        retired; g is the next life's generation, 0 after the last life
 *   g[END]         free: nothing left to do before the next life (shared tables)
 *   g[other]       tables of one thread: free; `other` is the next free slot, END at the end (in
 *                  haft_local, the word is g[FREE] while a destructor runs; and while one is due,
 *                  `other` is the next slot where one is, FREE at the end)
 *                  shared tables: in one of the table's lists, retired or given up; `other` is the
 *                  next slot of the list, FREE at its end (concurrent/worker/lists.h); or free, in
 *                  the list that a local table left (concurrent/table/share.c)
 *   0[EXHAUSTED]   lived all its generations
 *   0[RESERVED]    slot 0, without tag, for ever
 *
 * Legal    fresh, g[FREE], g[END], free g[other] -> g[RESERVED]
 *                                                 by the owner of the batch it is in
 *          fresh, free -> g'[RESERVED]            g' >= g: restored, in a table of one thread
 *          g[RESERVED] -> id                      by the thread that reserved it       (PUBLISH)
 *          g[RESERVED] -> g+1[END]                by the thread that reserved it: given up
 *          g[RESERVED] -> 0[EXHAUSTED]            the same, in its last life
 *          id -> g+1[FREE]                        by one freeing thread, with CAS      (CLAIM)
 *          g[FREE], g[END] -> g[other] or g[FREE] by the thread that freed it, gave it up or
 *                                                 unpinned it last: put into a list    (LIST)
 *          g[other], g[FREE] -> g[FREE], g[END]   by the thread that took it out of the list: FREE
 *                                                 if it was freed, END if it was given up
 *          g[FREE] -> g[END], 0[EXHAUSTED]        by the owner of the batch it is in: reclaimed
 *          0[FREE] -> 1[END]                      the same, in a table that wraps
 *          free -> fresh                          by the owner of all slots of its run
 * Illegal  id -> other id: between them lie CLAIM and a grace period, or a reader that matched
 *          the old id would see the new object.
 *
 * Invariant: unless slot s is live, (index field & mask) of its word is not s.  The marks are
 * indices that are never issued, and no slot is its own successor.
 */
#ifndef HAFT_LIB_WORD_H
#define HAFT_LIB_WORD_H

#include <assert.h>
#include <haft/id.h>
#include <haft/status.h>

enum word_mark { MARK_END = 0, MARK_RESERVED = 1, MARK_EXHAUSTED = 2, MARK_FREE = 3 };

/* A layout, ready to work on words with. */
struct word_format {
    uint64_t index_mask;
    uint64_t generation_mask; /* in place */
    uint64_t generation_one;  /* generation 1, in place */
    uint64_t tag;             /* the table's, in place */
    uint64_t tag_mask;        /* in place */
    uint64_t first;           /* first generation and tag, in place: those of a fresh slot */
    haft_layout layout;
};

static inline struct word_format word_format_of(haft_layout layout, uint64_t tag,
                                                uint64_t first_generation)
{
    struct word_format format = {
        .index_mask = haft_field_max(layout.index_bits),
        .generation_mask = haft_field_max(layout.generation_bits) << layout.index_bits,
        .generation_one = UINT64_C(1) << layout.index_bits,
        .tag = haft_id_pack(layout, 0, 0, tag).bits,
        .tag_mask = haft_id_pack(layout, 0, 0, haft_field_max(layout.tag_bits)).bits,
        .first = haft_id_pack(layout, 0, first_generation, tag).bits,
        .layout = layout,
    };
    assert((format.first & format.index_mask) == 0 && (format.tag & ~format.tag_mask) == 0);
    assert((format.first & format.generation_mask) != 0 && "no life has generation 0");
    return format;
}

/* Index field: a mark, or an index. */
static inline uint64_t word_index(const struct word_format *format, uint64_t word)
{
    return word & format->index_mask;
}

/* The generation, in place: comparable with others in place, 0 only if it is 0. */
static inline uint64_t word_generation(const struct word_format *format, uint64_t word)
{
    return word & format->generation_mask;
}

/* `word` with `index` (or a mark) in its index field. */
static inline uint64_t word_with_index(const struct word_format *format, uint64_t word,
                                       uint64_t index)
{
    assert(index <= format->index_mask);
    return (word & ~format->index_mask) | index;
}

/* `word` with the next generation and `index`: 0 after the last, never carried into the tag. */
static inline uint64_t word_next_life(const struct word_format *format, uint64_t word,
                                      uint64_t index)
{
    assert(index <= format->index_mask);
    return ((word + format->generation_one) & format->generation_mask) | (word & format->tag_mask) |
           index;
}

/* `word`, which ends a life, where generations begin again after the last: at 1. */
static inline uint64_t word_wrapped(const struct word_format *format, uint64_t word)
{
    return word_generation(format, word) == 0 ? word | format->generation_one : word;
}

/* The id of the life before the one that `word` holds the generation of, in slot `index`. */
static inline haft_id word_last_life(const struct word_format *format, uint64_t word,
                                     uint64_t index)
{
    assert(index <= format->index_mask);
    haft_id id = {((word - format->generation_one) & format->generation_mask) |
                  (word & format->tag_mask) | index};
    return id;
}

/* HAFT_OK, or why no slot below index `end` can ever match `id`, whatever its generation. */
static inline haft_status word_check_fields(const struct word_format *format, haft_id id,
                                            uint64_t end)
{
    const uint64_t index = word_index(format, id.bits);

    if (haft_id_is_nil(id)) {
        return HAFT_NO_ID;
    }
    if ((id.bits & ~(format->index_mask | format->generation_mask | format->tag_mask)) != 0 ||
        index < HAFT_FIRST_INDEX) {
        return HAFT_MALFORMED;
    }
    if ((id.bits & format->tag_mask) != format->tag) {
        return HAFT_FOREIGN;
    }
    return index < end ? HAFT_OK : HAFT_OUT_OF_RANGE;
}

#endif /* HAFT_LIB_WORD_H */
