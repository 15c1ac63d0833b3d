#include "verify.h"
#include "failure.h"

static bool is_same(const struct object *a, const struct object *b)
{
    return a->kind == b->kind && a->unreadable == b->unreadable && g_str_equal(a->name, b->name) &&
           haft_id_equal(a->parent, b->parent) && haft_id_equal(a->next, b->next) &&
           haft_id_equal(a->child, b->child) && a->bytes == b->bytes && a->lines == b->lines &&
           a->files == b->files;
}

static bool look_up(haft_id id, void *object, void *arg)
{
    const struct object *loaded = level_get(arg, id);

    check(loaded != NULL && is_same(object, loaded), "'%s' is not the same after loading",
          ((const struct object *)object)->name);
    return true;
}

void verify_same(struct level *level, struct level *again)
{
    const uint64_t before = haft_local_for_each(level->local, look_up, again);
    const uint64_t after = haft_local_count(again->local);

    check(before == after, "%" G_GUINT64_FORMAT " objects were saved, %" G_GUINT64_FORMAT " loaded",
          before, after);
    check(haft_id_equal(level->root, again->root), "the root has another id after loading");
}

static void check_stale(const struct level *level, const struct level *again)
{
    for (guint i = 0; i < level->freed->len; i++) {
        const haft_id id = g_array_index(level->freed, haft_id, i);
        const haft_status status = haft_local_diagnose(again->local, id);

        check(level_get(again, id) == NULL && (status == HAFT_STALE || status == HAFT_EXHAUSTED),
              "an id that was freed before saving is not stale: %s", haft_status_text(status));
    }
}

void verify_stale(const struct level *level, struct level *again)
{
    const guint count = level->freed->len;
    haft_id *ids = g_new(haft_id, count);
    guint inserted = 0;

    check_stale(level, again);
    while (inserted < count && haft_local_insert(again->local, NULL, &ids[inserted]) == HAFT_OK) {
        inserted++;
    }
    check(inserted == count, "no room for new objects after loading");
    check_stale(level, again);
    while (inserted-- > 0) {
        haft_local_free(again->local, ids[inserted]);
    }
    g_free(ids);
}
