#include "list.h"
#include "failure.h"
#include <search.h>
#include <stdlib.h>

void *list_add(struct list *list, size_t size)
{
    if (list->count == list->room) {
        list->room = list->room == 0 ? 16 : 2 * list->room;
        list->items = replay_reallocate(list->items, list->room, size);
    }
    return (char *)list->items + size * list->count++;
}

struct known_number {
    uint64_t number;
    uint32_t position;
};

static int compare(const void *left, const void *right)
{
    const uint64_t one = ((const struct known_number *)left)->number;
    const uint64_t other = ((const struct known_number *)right)->number;

    return (one > other) - (one < other);
}

bool index_find(const struct number_index *index, uint64_t number, uint32_t *position)
{
    const struct known_number wanted = {.number = number};
    struct known_number *const *found = tfind(&wanted, &index->root, compare);

    if (found != NULL) {
        *position = (*found)->position;
    }
    return found != NULL;
}

bool index_find_or_add(struct number_index *index, uint64_t number, uint32_t next,
                       uint32_t *position)
{
    if (index_find(index, number, position)) {
        return true;
    }
    struct known_number *known = replay_allocate(1, sizeof *known);

    *known = (struct known_number){number, next};
    if (tsearch(known, &index->root, compare) == NULL) {
        replay_give_up("no memory");
    }
    *position = next;
    return false;
}

void index_clear(struct number_index *index)
{
    tdestroy(index->root, free);
    index->root = NULL;
}
