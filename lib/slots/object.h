/*
 * lib/slots/object.h - the bytes of the object behind a slot's word: when they may be touched, and
 * how they are written.
 */
#ifndef HAFT_LIB_OBJECT_H
#define HAFT_LIB_OBJECT_H

#include "lib/base/asan.h"
#include "lib/slots/slots.h"
#include <assert.h>
#include <string.h>

/* A free object's bytes may not be touched; a reserved one's may.  AddressSanitizer reports it. */
static inline void slots_poison(const struct slots *slots, const atomic_u64 *word)
{
    asan_poison_object(word + 1, slots->object_size);
}

static inline void slots_unpoison(const struct slots *slots, const atomic_u64 *word)
{
    asan_unpoison(word + 1, slots->object_size);
}

/* All objects below index `end`, of a table that closes, may be touched: the memory is reused. */
static inline void slots_unpoison_all(const struct slots *slots, uint64_t end)
{
    asan_unpoison(slots->view.base, (size_t)(end * slots->view.stride));
}

/* Copy an object into its slot; NULL stands for zeros. */
static inline void slots_fill(const struct slots *slots, void *object, const void *from)
{
    asan_unpoison(object, slots->object_size);
    if (from == NULL) {
        memset(object, 0, slots->object_size);
    } else {
        memcpy(object, from, slots->object_size);
    }
}

/* Whether objects are a few whole words: then calling memcpy costs more than the copy. */
static inline bool object_is_words(size_t size)
{
    return size <= 64 && size % 8 == 0;
}

/* slots_fill() for such objects, without a call. */
static inline void object_copy_words(void *object, const void *from, size_t size)
{
    assert(object_is_words(size));
    asan_unpoison(object, size);
    size_t at = size & 8;

    if (at != 0) {
        memcpy(object, from, 8);
    }
    for (; at < size; at += 16) {
        memcpy((char *)object + at, (const char *)from + at, 16);
    }
}

#endif /* HAFT_LIB_OBJECT_H */
