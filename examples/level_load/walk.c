#include "walk.h"
#include "examples/screen/progress.h"
#include "failure.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* A folder's entry, between readdir() and the level. */
struct entry {
    char *name;
    enum kind kind;
};

struct walk {
    struct level *level;
    GArray *folders; /* ids of those found so far; each is opened in turn */
    GArray *entries; /* of the folder that is open */
    GString *path;
    uint64_t skipped;
    gint64 begin;
};

static void clear_entry(gpointer entry)
{
    g_free(((struct entry *)entry)->name);
}

static gint compare_entries(gconstpointer a, gconstpointer b)
{
    return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

/* --- reading a folder --- */

/* Whether it is a file or a folder, and which.  What vanished meanwhile is neither. */
static bool find_kind(DIR *directory, const struct dirent *found, enum kind *kind)
{
    struct stat status;
    unsigned char type = found->d_type;

    if (type == DT_UNKNOWN &&
        fstatat(dirfd(directory), found->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        type = S_ISDIR(status.st_mode) ? DT_DIR : S_ISREG(status.st_mode) ? DT_REG : DT_UNKNOWN;
    }
    *kind = type == DT_DIR ? A_FOLDER : A_FILE;
    return type == DT_DIR || type == DT_REG;
}

/* The entries of the folder at walk->path, sorted by name.  False if it cannot be read. */
static bool read_folder(struct walk *walk)
{
    DIR *directory = opendir(walk->path->str);
    const struct dirent *found;

    g_array_set_size(walk->entries, 0);
    if (directory == NULL) {
        return false;
    }
    while ((errno = 0, found = readdir(directory)) != NULL) {
        struct entry entry;

        if (g_str_equal(found->d_name, ".") || g_str_equal(found->d_name, "..")) {
            continue;
        }
        if (find_kind(directory, found, &entry.kind)) {
            entry.name = g_strdup(found->d_name);
            g_array_append_val(walk->entries, entry);
        } else {
            walk->skipped++;
        }
    }
    const bool complete = errno == 0;

    closedir(directory);
    g_array_sort(walk->entries, compare_entries);
    return complete;
}

/* --- into the level --- */

static bool insert(struct walk *walk, const struct entry *entry, haft_id parent, haft_id next,
                   haft_id *id, GError **error)
{
    struct level *level = walk->level;
    const struct object object = {
        .kind = entry->kind,
        .name = haft_arena_strdup(level->names, entry->name),
        .parent = parent,
        .next = next,
    };
    const haft_status status =
        object.name == NULL ? HAFT_NO_MEMORY : haft_local_insert(level->local, &object, id);

    if (status != HAFT_OK) {
        return fail(error, EXIT_SYSTEM, "%s: %s", entry->name, haft_status_text(status));
    }
    if (entry->kind == A_FOLDER) {
        g_array_append_val(walk->folders, *id);
    }
    return true;
}

/* The children are chained from the last to the first. */
static bool add_folder(struct walk *walk, haft_id id, GError **error)
{
    haft_id child = HAFT_NIL;

    level_path(haft_local_view(walk->level->local), id, walk->path);
    const bool complete = read_folder(walk);

    for (guint i = walk->entries->len; i-- > 0;) {
        if (!insert(walk, &g_array_index(walk->entries, struct entry, i), id, child, &child,
                    error)) {
            return false;
        }
    }
    struct object *folder = level_get(walk->level, id);

    folder->child = child;
    folder->unreadable = !complete;
    return true;
}

static bool walk_folders(struct walk *walk, const struct entry *root, GError **error)
{
    if (!insert(walk, root, HAFT_NIL, HAFT_NIL, &walk->level->root, error)) {
        return false;
    }
    for (guint i = 0; i < walk->folders->len; i++) {
        if (!add_folder(walk, g_array_index(walk->folders, haft_id, i), error)) {
            return false;
        }
        progress_show("entries found", haft_local_count(walk->level->local), 0,
                      (uint64_t)(g_get_monotonic_time() - walk->begin) * 1000);
    }
    return true;
}

bool walk_tree(const char *path, struct level *level, uint64_t *skipped, GError **error)
{
    struct stat status;
    struct walk walk = {.level = level, .begin = g_get_monotonic_time()};

    if (stat(path, &status) != 0) {
        return fail(error, EXIT_REFUSED, "%s: %s", path, g_strerror(errno));
    }
    if (!S_ISDIR(status.st_mode)) {
        return fail(error, EXIT_REFUSED, "%s: Not a folder", path);
    }
    walk.folders = g_array_new(FALSE, FALSE, sizeof(haft_id));
    walk.entries = g_array_new(FALSE, FALSE, sizeof(struct entry));
    g_array_set_clear_func(walk.entries, clear_entry);
    walk.path = g_string_new(NULL);
    const struct entry root = {.name = (char *)path, .kind = A_FOLDER};
    const bool walked = walk_folders(&walk, &root, error);

    progress_end();
    *skipped = walk.skipped;
    g_string_free(walk.path, TRUE);
    g_array_unref(walk.entries);
    g_array_unref(walk.folders);
    return walked;
}
