#include "largest.h"

struct search {
    const struct level *level;
    enum kind kind;
    bool unreadable_only;
    GArray *ids;
};

static bool collect(haft_id id, void *bytes, void *arg)
{
    const struct object *object = bytes;
    struct search *search = arg;

    if (object->kind == search->kind && (object->unreadable || !search->unreadable_only)) {
        g_array_append_val(search->ids, id);
    }
    return true;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static gint largest_first(gconstpointer a, gconstpointer b, gpointer level)
{
    const haft_id *first = a;
    const haft_id *second = b;
    const struct object *left = level_get(level, *first);
    const struct object *right = level_get(level, *second);
    const int by_bytes = compare_numbers(right->bytes, left->bytes);
    const int by_lines = compare_numbers(right->lines, left->lines);

    return by_bytes != 0   ? by_bytes
           : by_lines != 0 ? by_lines
                           : compare_numbers(first->bits, second->bits);
}

GArray *largest_of(struct level *level, enum kind kind, unsigned most)
{
    struct search search = {level, kind, false, g_array_new(FALSE, FALSE, sizeof(haft_id))};

    haft_local_for_each(level->local, collect, &search);
    g_array_sort_with_data(search.ids, largest_first, level);
    g_array_set_size(search.ids, MIN(search.ids->len, most));
    return search.ids;
}

GArray *unreadable_of(struct level *level, enum kind kind, unsigned most)
{
    struct search search = {level, kind, true, g_array_new(FALSE, FALSE, sizeof(haft_id))};

    haft_local_for_each(level->local, collect, &search);
    g_array_set_size(search.ids, MIN(search.ids->len, most));
    return search.ids;
}
