/*
 * level.h - a level: files and folders as objects of one haft_local, linked by ids.
 */
#ifndef LEVEL_LOAD_LEVEL_H
#define LEVEL_LOAD_LEVEL_H

#include <glib.h>
#include <haft/kit/arena.h>
#include <haft/local.h>
#include <haft/view.h>
#include <stdbool.h>
#include <stdint.h>

enum kind { A_FILE, A_FOLDER, A_JOB };

/*
 * What a slot holds.
 *
 * haft protects the lifetime of an object, not its contents.  While the level is shared no job
 * changes kind, name or links; and the results of a file are written by one job alone, the one
 * whose range its slot is in, and not read before haft_unshare().  Folders, whose totals many
 * jobs would have to write at once, are left for afterwards: level_add_totals().
 */
struct object {
    enum kind kind;
    bool unreadable;
    union {
        struct {              /* a file or folder */
            const char *name; /* in the level's arena; the root's is its whole path */
            haft_id parent;   /* nil: the root */
            haft_id next;     /* sibling; nil: the last */
            haft_id child;    /* a folder's first; nil: none */
            uint64_t bytes;   /* a folder's: of all files below */
            uint64_t lines;
            uint64_t files; /* below a folder */
        };
        haft_range range; /* a job: the slots whose files it measures */
    };
};

struct level {
    haft_local *local; /* NULL while it is shared */
    haft_arena *names;
    haft_id root;
    GArray *freed; /* ids of objects that ended: they must never be live again */
};

/* What is in a level; bytes and lines are the root's. */
struct census {
    uint64_t files;
    uint64_t folders;
    uint64_t unreadable_files;
    uint64_t unreadable_folders;
};

/* An empty level; false, with `error` set, if the system gives no memory. */
bool level_open(struct level *level, GError **error);
void level_close(struct level *level);

/* The object of an id that must be live. */
struct object *level_get(const struct level *level, haft_id id);

/* A path, from the names up the parent links; for any thread inside a read section. */
void level_path(haft_view view, haft_id id, GString *path);

/* Adds what each file has to all folders above it.  One thread. */
void level_add_totals(struct level *level);

struct census level_census(struct level *level);

#endif /* LEVEL_LOAD_LEVEL_H */
