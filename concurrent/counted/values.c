/*
 * The bytes of counted objects.
 *
 * Edges in this file.
 *   VALUE   write_words (release) -> values_read (acquire)   the end of a slot's last life
 *           before the words of the next object: a reader of one of these sees that end as well
 */
#include "concurrent/counted/values.h"
#include <assert.h>
#include <string.h>

/* Write `size` bytes, which are zero beyond those of the object up to a whole word. */
static void write_words(void *object, const void *from, size_t size)
{
    assert(size <= VALUES_MOST_BYTES);
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        const size_t part = size - at < sizeof(uint64_t) ? size - at : sizeof(uint64_t);
        uint64_t word = 0;

        if (from != NULL) {
            memcpy(&word, (const char *)from + at, part);
        }
        /* Weakened, a copy could have words of this object, and find the last one's life after. */
        bytes_store_release(VALUE, (char *)object + at, word);
    }
}

void values_write_any(const haft_counted *table, void *object, const void *from)
{
    values_unpoison(table, object);
    if (table->copies) {
        write_words(object, from, table->object_size);
    } else if (from == NULL) {
        memset(object, 0, table->object_size);
    } else {
        memcpy(object, from, table->object_size);
    }
}

void values_wipe(const haft_counted *table, void *object)
{
    if (table->copies) {
        write_words(object, NULL, table->object_size);
    } else {
        memset(object, 0, table->object_size); /* kept: the slot is given to other threads next */
    }
}
