/*
 * list.h - an array that grows, and an index of numbers.
 */
#ifndef REPLAY_LIST_H
#define REPLAY_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- an array --- */

/* Zeroed: an empty one.  free(items) ends it. */
struct list {
    void *items;
    uint32_t count;
    uint32_t room;
};

/* A new last item of `size` bytes, the same for all items of a list; not initialised. */
void *list_add(struct list *list, size_t size);

/* --- numbers of a file -> small numbers --- */

struct known_number;

/* Zeroed: an empty one. */
struct number_index {
    void *root; /* of tsearch() */
};

/* False if `number` is not in the index. */
bool index_find(const struct number_index *index, uint64_t number, uint32_t *position);

/* The same, but a new number enters the index with the position `next`. */
bool index_find_or_add(struct number_index *index, uint64_t number, uint32_t next,
                       uint32_t *position);
void index_clear(struct number_index *index);

#endif /* REPLAY_LIST_H */
