/* lib/slots/slots.h - the slots of a table: their layout in memory, and their words. */
#ifndef HAFT_LIB_SLOTS_H
#define HAFT_LIB_SLOTS_H

#include "lib/base/heap.h"
#include "lib/base/reservation.h"
#include "lib/slots/geometry.h"
#include "lib/slots/runs.h"
#include "lib/slots/sites.h"
#include "lib/slots/word.h"
#include <assert.h>
#include <haft/diagnose.h>
#include <haft/view.h>

struct slots {
    haft_view view;
    struct word_format format;
    size_t object_size;
    bool has_pins;
    bool huge_pages; /* were asked for */
    uint64_t limit;  /* one more than the highest index that is ever issued */
    struct reservation memory;
    haft_allocator heap; /* for the table, its workers, and slots that are not in pages */
    struct runs runs;
    struct sites sites;
    bool wrapped; /* some slot has begun its generations again, or any of a shared table may */
    struct common_options common; /* of the table, without its name and allocator */
};

/* `slots->heap` is set.  On HAFT_OK `slots` is ready, with slot 0 marked.  Blocking (mmap). */
haft_status slots_open(struct slots *slots, const struct slots_options *options);
void slots_close(struct slots *slots);

/* Make the slots below `end` writable.  HAFT_OK or HAFT_NO_MEMORY.  Any threads. */
haft_status slots_commit(struct slots *slots, uint64_t end);

/* Bytes of memory that `used` slots take, of which `released` have none any more. */
uint64_t slots_bytes(const struct slots *slots, uint64_t used, uint64_t released);

/* Have the system find memory for the slots from `first` on, below `end`; these are writable. */
haft_status slots_populate(const struct slots *slots, uint64_t first, uint64_t end);

/* word_check_fields() for an id that the caller chose: without a generation it is malformed. */
haft_status slots_check_chosen(const struct slots *slots, haft_id id, uint64_t end);

/* The word of slot `index`; the object lies behind it. */
static inline atomic_u64 *slots_word(const struct slots *slots, uint64_t index)
{
    assert(index <= slots->view.mask);
    return (atomic_u64 *)(void *)(slots->view.base + index * slots->view.stride);
}

static inline void *slots_object(atomic_u64 *word)
{
    return word + 1;
}

/* The alignment of objects: slot 0's word lies that many bytes less 8 behind the memory's start. */
static inline size_t slots_alignment(const struct slots *slots)
{
    return (size_t)(slots->view.base - slots->memory.base) + sizeof(uint64_t);
}

/* The pins of the object behind `word`, in a table that has them. */
static inline atomic_u64 *slots_pins(const struct slots *slots, atomic_u64 *word)
{
    assert(slots->has_pins);
    return word + 1 + (slots->object_size + 7) / 8;
}

/* The word that a slot's next life begins from; a fresh slot's first.  Only where runs stay. */
static inline uint64_t slots_begin(const struct slots *slots, uint64_t word)
{
    return word == 0 ? slots->format.first : word;
}

/* `word` of slot `index`, or its run's floor if that was released; 0: fresh. */
static inline uint64_t slots_word_or_floor(const struct slots *slots, uint64_t index, uint64_t word)
{
    const struct runs *runs = &slots->runs;

    return word == 0 && runs->records != NULL ? runs_floor(runs, runs_of(runs, index)) : word;
}

/* slots_begin() for slot `index` of a table whose runs may have been released. */
static inline uint64_t slots_begin_at(const struct slots *slots, uint64_t index, uint64_t word)
{
    return slots_begin(slots, slots_word_or_floor(slots, index, word));
}

#endif /* HAFT_LIB_SLOTS_H */
