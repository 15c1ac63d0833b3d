#include "level.h"
#include "failure.h"

#define CAPACITY (UINT64_C(1) << 24) /* address space alone, until slots are used */

bool level_open(struct level *level, GError **error)
{
    const haft_local_options objects = {
        .name = "level",
        .capacity = CAPACITY,
        .will_share = true,
        .object_size = sizeof(struct object),
    };
    haft_status status = haft_arena_open(&(haft_arena_options){.block_size = 0}, &level->names);

    if (status == HAFT_OK) {
        status = haft_local_open(&objects, &level->local);
        if (status == HAFT_OK) {
            level->root = HAFT_NIL;
            level->freed = g_array_new(FALSE, FALSE, sizeof(haft_id));
            return true;
        }
        haft_arena_close(level->names);
    }
    return fail(error, EXIT_SYSTEM, "cannot open a level: %s", haft_status_text(status));
}

void level_close(struct level *level)
{
    haft_local_close(level->local);
    haft_arena_close(level->names);
    g_array_unref(level->freed);
}

struct object *level_get(const struct level *level, haft_id id)
{
    return haft_resolve(haft_local_view(level->local), id);
}

void level_path(haft_view view, haft_id id, GString *path)
{
    const struct object *object;

    g_string_truncate(path, 0);
    for (; (object = haft_resolve(view, id)) != NULL; id = object->parent) {
        if (path->len != 0 && !g_str_has_suffix(object->name, "/")) {
            g_string_prepend_c(path, '/');
        }
        g_string_prepend(path, object->name);
    }
}

static bool add_to_folders(haft_id id, void *bytes, void *arg)
{
    const struct level *level = arg;
    const struct object *file = bytes;
    struct object *folder;

    (void)id;
    if (file->kind != A_FILE) {
        return true;
    }
    for (haft_id at = file->parent; (folder = level_get(level, at)) != NULL; at = folder->parent) {
        folder->bytes += file->bytes;
        folder->lines += file->lines;
        folder->files++;
    }
    return true;
}

void level_add_totals(struct level *level)
{
    haft_local_for_each(level->local, add_to_folders, level);
}

static bool count(haft_id id, void *bytes, void *arg)
{
    const struct object *object = bytes;
    struct census *census = arg;

    (void)id;
    if (object->kind == A_FILE) {
        census->files++;
        census->unreadable_files += object->unreadable;
    } else {
        census->folders++;
        census->unreadable_folders += object->unreadable;
    }
    return true;
}

struct census level_census(struct level *level)
{
    struct census census = {0};

    haft_local_for_each(level->local, count, &census);
    return census;
}
