/*
 * concurrent/counted/destroy.h - the end of an object: on_destroy, then its slot is free.
 *
 * An object that ends inside an on_destroy of its table is put into a chain, and destroyed by the
 * outermost call when that on_destroy has returned: a loop instead of a recursion, whose stack a
 * list of objects would overflow.
 */
#ifndef HAFT_CONCURRENT_COUNTED_DESTROY_H
#define HAFT_CONCURRENT_COUNTED_DESTROY_H

#include "concurrent/counted/state.h"
#include <assert.h>

/* What an ended slot's word becomes: of the next life, the caller's alone. */
static inline uint64_t destroy_word(const haft_counted *table, uint64_t word)
{
    assert(counted_is_last(word) ||
           (counted_low(word) == 0 && (counted_state_of(word) == COUNTED_LIVE ||
                                       counted_state_of(word) == COUNTED_RESERVED)));
    return counted_word(counted_next(table, counted_life(word)), COUNTED_RESERVED, COUNTED_ENDING);
}

/* Destroy the object of slot `index`, whose word destroy_word() made; the slot is free then. */
void destroy_object(haft_counted *table, uint64_t index);

/* The same without on_destroy: the object was given up or taken out. */
void destroy_silently(haft_counted *table, uint64_t index);

/* Whether the calling thread runs an on_destroy of the table. */
bool destroy_is_under_way(const haft_counted *table);

#endif /* HAFT_CONCURRENT_COUNTED_DESTROY_H */
