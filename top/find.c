#include "top/find.h"
#include "top/failure.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define MOST_LOOKS 5 /* at a file that changes */

static void free_snapshot(gpointer snapshot)
{
    snapshot_free(snapshot);
}

void finding_init(struct finding *finding)
{
    finding->running = g_ptr_array_new_with_free_func(free_snapshot);
    finding->notes = g_ptr_array_new_with_free_func(g_free);
    finding->malformed = g_ptr_array_new_with_free_func(g_free);
}

void finding_clear(struct finding *finding)
{
    g_ptr_array_unref(finding->running);
    g_ptr_array_unref(finding->notes);
    g_ptr_array_unref(finding->malformed);
}

/* haft-NUMBER.json, or haft-NUMBER-TURN.json of a further process of it; 0: another name. */
static uint64_t process_of_name(const char *name, uint64_t *turn)
{
    char *end;

    *turn = 1;
    if (!g_str_has_prefix(name, "haft-") || !g_ascii_isdigit(name[5])) {
        return 0;
    }
    const uint64_t process = g_ascii_strtoull(name + 5, &end, 10);

    if (end[0] == '-' && g_ascii_isdigit(end[1])) {
        *turn = g_ascii_strtoull(end + 1, &end, 10);
    }
    return strcmp(end, ".json") == 0 ? process : 0;
}

/* Takes the earlier snapshot of the same process out of `before`; NULL: there is none. */
static struct snapshot *take_earlier(GPtrArray *before, const struct snapshot *snapshot)
{
    for (guint i = 0; i < before->len; i++) {
        const struct snapshot *earlier = g_ptr_array_index(before, i);

        if (earlier->process == snapshot->process && earlier->started == snapshot->started &&
            earlier->turn == snapshot->turn) {
            return g_ptr_array_steal_index(before, i);
        }
    }
    return NULL;
}

/* Of one process: an export that is opened again counts from 1 again. */
static bool is_same_writing(const struct snapshot *one, const struct snapshot *other)
{
    return one->written_ns == other->written_ns && one->sequence == other->sequence;
}

/* The one of both that is to be shown: nothing new means that rates stay as they were. */
static struct snapshot *follow(struct snapshot *snapshot, struct snapshot *earlier)
{
    if (earlier != NULL && is_same_writing(earlier, snapshot)) {
        earlier->read_ns = snapshot->read_ns;
        snapshot_free(snapshot);
        return earlier;
    }
    if (earlier != NULL) {
        snapshot_free(earlier->before);
        earlier->before = NULL;
        snapshot->before = earlier;
    }
    return snapshot;
}

/*
 * Whether the process that writes the file still runs: then it holds a lock beside it.  Numbers of
 * processes do not tell, it may be in a container, which numbers processes anew.
 */
static bool is_of_the_living(const char *directory, const char *name)
{
    const int stem = (int)(strlen(name) - strlen(".json"));
    char *path = g_strdup_printf("%s/.%.*s.lock", directory, stem, name);
    const int lock = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const bool held = lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;

    if (lock >= 0) {
        close(lock);
    }
    g_free(path);
    return held;
}

/*
 * Whether the file is still as it was read.  Then its process, had it not ended, would have held
 * the lock all the while; else it may have closed its export, and opened another, between.
 */
static bool is_unchanged(const struct snapshot *snapshot, const char *path)
{
    struct snapshot *again = snapshot_read(path, NULL);
    const bool is_same = again != NULL && again->process == snapshot->process &&
                         again->started == snapshot->started && is_same_writing(again, snapshot);

    snapshot_free(again);
    return is_same;
}

/* True: what there is to say of the file is said.  False: it changed meanwhile. */
static bool sort_in(struct finding *finding, struct snapshot *snapshot, const char *path,
                    bool is_living, GPtrArray *before)
{
    if (is_living) {
        g_ptr_array_add(finding->running, follow(snapshot, take_earlier(before, snapshot)));
        return true;
    }
    const bool has_ended = is_unchanged(snapshot, path);

    if (has_ended) {
        g_ptr_array_add(finding->notes,
                        g_strdup_printf("%s: process %" PRIu64
                                        " has ended without closing its export; remove the file",
                                        path, snapshot->process));
    }
    snapshot_free(snapshot);
    return has_ended;
}

/* The same. */
static bool look_at(struct finding *finding, const char *directory, const char *name, uint64_t turn,
                    GPtrArray *before)
{
    GError *error = NULL;
    char *path = g_build_filename(directory, name, NULL);
    struct snapshot *snapshot = snapshot_read(path, &error);
    bool is_said = true;

    if (snapshot != NULL) {
        snapshot->turn = turn;
        is_said = sort_in(finding, snapshot, path, is_of_the_living(directory, name), before);
    } else if (error != NULL) { /* else it was closed meanwhile */
        g_ptr_array_add(finding->malformed, g_strdup(error->message));
        g_error_free(error);
    }
    g_free(path);
    return is_said;
}

static gint by_process(gconstpointer a, gconstpointer b)
{
    const struct snapshot *const *one = a;
    const struct snapshot *const *other = b;

    return (*one)->process < (*other)->process ? -1 : (*one)->process > (*other)->process;
}

bool find_exports(struct finding *finding, const char *directory, uint64_t process, GError **error)
{
    GError *reason = NULL;
    GDir *listing = g_dir_open(directory, 0, &reason);
    const char *name;

    if (listing == NULL) {
        g_set_error(error, TOP_FAILURE, EXIT_REFUSED, "%s", reason->message);
        g_error_free(reason);
        return false;
    }
    GPtrArray *before = g_steal_pointer(&finding->running);

    g_ptr_array_unref(finding->notes);
    g_ptr_array_unref(finding->malformed);
    finding_init(finding);
    while ((name = g_dir_read_name(listing)) != NULL) {
        uint64_t turn;
        const uint64_t of = process_of_name(name, &turn);

        if (of != 0 && (process == 0 || process == of)) {
            for (int i = 0; i < MOST_LOOKS && !look_at(finding, directory, name, turn, before);
                 i++) {
            }
        }
    }
    g_dir_close(listing);
    g_ptr_array_unref(before);
    g_ptr_array_sort(finding->running, by_process);
    return true;
}
