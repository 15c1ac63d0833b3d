/*
 * concurrent/counted/values.h - the bytes of counted objects: written, wiped and copied out.
 *
 * In a table with `copies` a thread may read an object's words while another writes the next
 * object's: each word is atomic there, and rounded up to 8 bytes.  Objects are of the program's
 * types, so the words are read and written by builtins on a type that may alias them.
 *
 * Edges in this file.
 *   VALUE   write_words (release) -> values_read (acquire)   the end of a slot's last life
 *           before the words of the next object: a reader of one of these sees that end as well
 */
#ifndef HAFT_CONCURRENT_COUNTED_VALUES_H
#define HAFT_CONCURRENT_COUNTED_VALUES_H

#include "concurrent/counted/state.h"
#include "lib/slots/object.h"

#define VALUES_MOST_BYTES 64u /* of an object that is copied */

/* Copy an object into its slot; NULL stands for zeros.  values_write_any: of whatever size. */
void values_write_any(const haft_counted *table, void *object, const void *from);

/* The object's bytes become zeros, in the eyes of every reader. */
void values_wipe(const haft_counted *table, void *object);

/* The words of an object that is copied, beside other threads. */
static inline void values_read(const void *object, uint64_t *words, size_t size)
{
    assert(size <= VALUES_MOST_BYTES);
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        /* Weakened, the slot's word, which is read next, could be older than this one. */
        words[at / sizeof(uint64_t)] = bytes_load_acquire(VALUE, (const char *)object + at);
    }
}

/* Bytes of a free object may not be touched, unless copies are looked for there. */
static inline void values_poison(const haft_counted *table, const void *object)
{
    if (!table->copies) {
        asan_poison_object(object, table->object_size);
    }
}

static inline void values_unpoison(const haft_counted *table, const void *object)
{
    asan_unpoison(object, table->object_size);
}

/* All objects below index `end`, of a table that closes, may be touched: the memory is reused. */
static inline void values_unpoison_all(const haft_counted *table, uint64_t end)
{
    const uintptr_t first = table->base + (uintptr_t)(HAFT_FIRST_INDEX * table->stride);

    asan_unpoison((const void *)first, (size_t)((end - HAFT_FIRST_INDEX) * table->stride));
}

static inline void values_write(const haft_counted *table, void *object, const void *from)
{
    const size_t size = table->object_size;

    if (!object_is_words(size) || from == NULL || table->copies) {
        values_write_any(table, object, from);
    } else {
        object_copy_words(object, from, size);
    }
}

#endif /* HAFT_CONCURRENT_COUNTED_VALUES_H */
