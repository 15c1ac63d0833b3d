/*
 * concurrent/worker/life.h - the steps of a slot's life whose order matters, each in one place:
 * single calls, and calls of many, are made of them.
 *
 * Edges in this file.
 *   PUBLISH  life_publish (release) -> life_end (acquire)   object before word, also for the
 *            thread that frees the object
 *   CLAIM    one winner per id: the atomicity of the compare-and-swap in life_end
 *   OWN      only this worker writes the word
 *   RETRY    a first look; the compare-and-swap decides
 */
#ifndef HAFT_CONCURRENT_LIFE_H
#define HAFT_CONCURRENT_LIFE_H

#include "concurrent/worker/state.h"
#include "lib/slots/object.h"
#include <assert.h>

/* The id of the next life of slot `index`, whose word is `at` and the caller's. */
static inline haft_id life_next_id(const struct slots *slots, const atomic_u64 *at, uint64_t index)
{
    const uint64_t word = slots_begin(slots, load_relaxed(OWN, at));
    const haft_id id = {word_with_index(&slots->format, word, index)};

    return id;
}

/* Reserve slot `index`, which is the caller's, for its next life, `*id`.  Returns its word. */
static inline atomic_u64 *life_reserve(const struct slots *slots, uint64_t index, haft_id *id)
{
    atomic_u64 *word = slots_word(slots, index);

    *id = life_next_id(slots, word, index);
    slots_unpoison(slots, word);
    store_relaxed(OWN, word, word_with_index(&slots->format, id->bits, MARK_RESERVED));
    return word;
}

/* The id is live from now on. */
static inline void life_publish(atomic_u64 *word, haft_id id)
{
    /* Weakened, a reader could match the id and read the object's bytes from before. */
    store_release(PUBLISH, word, id.bits);
}

/* Whether `id` is reserved. */
static inline bool life_is_reserved(const struct slots *slots, haft_id id)
{
    const uint64_t index = word_index(&slots->format, id.bits);

    return load_relaxed(OWN, slots_word(slots, index)) ==
           word_with_index(&slots->format, id.bits, MARK_RESERVED);
}

/* End the life of `id`: true to one of all threads that try.  `*next`: the slot's word now. */
static inline bool life_end(const struct slots *slots, haft_id id, uint64_t *next)
{
    atomic_u64 *word = slots_word(slots, id.bits & slots->view.mask);

    /* A compare-and-swap that must fail would still dirty the line. */
    if (load_relaxed(RETRY, word) != id.bits) {
        return false;
    }
    *next = word_next_life(&slots->format, id.bits, MARK_FREE);
    /* Weakened, the slot's next tenant could be written before the object's first bytes are. */
    return cas_acquire(PUBLISH, word, id.bits, *next);
}

/* The word of a reclaimed slot: free for the life of `word`'s generation, or exhausted. */
static inline uint64_t life_after(const struct slots *slots, uint64_t word)
{
    const struct word_format *format = &slots->format;
    const uint64_t next = slots->wrapped ? word_wrapped(format, word) : word;

    return word_with_index(format, next,
                           word_generation(format, next) == 0 ? MARK_EXHAUSTED : MARK_END);
}

/* A reservation is given up.  False: it was the slot's last life, and the slot is exhausted. */
static inline bool life_give_up(const struct slots *slots, haft_id id)
{
    const struct word_format *format = &slots->format;
    atomic_u64 *word = slots_word(slots, word_index(format, id.bits));
    const uint64_t next = life_after(slots, word_next_life(format, id.bits, MARK_END));

    assert(life_is_reserved(slots, id) && "an id is reserved, and given up once");
    slots_poison(slots, word);
    store_relaxed(OWN, word, next);
    return word_index(format, next) != MARK_EXHAUSTED; /* else there is nothing to reclaim */
}

#endif /* HAFT_CONCURRENT_LIFE_H */
