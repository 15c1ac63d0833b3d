/*
 * table_stale.c - looks at an object beyond its life in the way that is named; AddressSanitizer,
 * or memcheck, must report it, except in the ways that begin with "kept", where the object is
 * there still.
 * Without the sanitizer each of these reads memory that is the table's.
 *
 * Usage: table_stale [<way>]; without one it lists them
 */
#include <haft/kit/packed.h>
#include <haft/kit/restore.h>
#include <haft/local.h>
#include <haft/pin.h>
#include <haft/share.h>
#include <haft/table.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SIZE 20 /* no multiple of a granule */
#define PAGE 4096u

static void must(haft_status status)
{
    if (status != HAFT_OK) {
        fprintf(stderr, "%s\n", haft_status_text(status));
        exit(2);
    }
}

static void look(const char *byte)
{
    printf("read %d\n", *byte);
}

/* --- tables of one thread --- */

static haft_local *open_local(haft_local_reuse reuse)
{
    const haft_local_options options = {.capacity = 10, .object_size = SIZE, .reuse = reuse};
    haft_local *local;

    must(haft_local_open(&options, &local));
    return local;
}

static void local_freed(haft_local_reuse reuse)
{
    haft_local *local = open_local(reuse);
    haft_id id;

    must(haft_local_insert(local, NULL, &id));
    const char *object = haft_resolve(haft_local_view(local), id);

    must(haft_local_free(local, id));
    look(object + SIZE - 1);
    haft_local_close(local);
}

static void local_lifo(void)
{
    local_freed(HAFT_REUSE_LIFO);
}

static void local_fifo(void)
{
    local_freed(HAFT_REUSE_FIFO);
}

static void local_aborted(void)
{
    haft_local *local = open_local(HAFT_REUSE_LIFO);
    void *object;
    haft_id id;

    must(haft_local_reserve(local, &id, &object));
    haft_local_abort(local, id);
    look(object);
    haft_local_close(local);
}

static void local_cleared(void)
{
    haft_local *local = open_local(HAFT_REUSE_LIFO);
    haft_id id;

    must(haft_local_insert(local, NULL, &id));
    const char *object = haft_resolve(haft_local_view(local), id);

    haft_local_clear(local);
    look(object);
    haft_local_close(local);
}

/* Behind the last object, when of three one has gone. */
static void packed_gone(haft_status (*end)(haft_packed *packed, haft_id id), int which, bool order)
{
    const haft_packed_options options = {.capacity = 10, .object_size = SIZE, .keep_order = order};
    haft_packed *packed;
    haft_id ids[3];

    must(haft_packed_open(&options, &packed));
    for (int i = 0; i < 3; i++) {
        must(haft_packed_insert(packed, NULL, &ids[i]));
    }
    const char *last = haft_packed_resolve(haft_packed_view(packed), ids[2]);

    must(end(packed, ids[which]));
    look(last + SIZE / 2);
    haft_packed_close(packed);
}

static haft_status kill_and_refresh(haft_packed *packed, haft_id id)
{
    must(haft_packed_kill(packed, id));
    return haft_packed_refresh(packed);
}

static haft_status clear_all(haft_packed *packed, haft_id id)
{
    (void)id;
    return haft_packed_clear(packed);
}

static void packed_freed(void)
{
    packed_gone(haft_packed_free, 0, false);
}

static void packed_freed_in_order(void)
{
    packed_gone(haft_packed_free, 0, true);
}

static void packed_refreshed(void)
{
    packed_gone(kill_and_refresh, 0, false);
}

static void packed_last_refreshed(void)
{
    packed_gone(kill_and_refresh, 2, false);
}

static void packed_cleared(void)
{
    packed_gone(clear_all, 0, false);
}

/* --- the shared table --- */

struct shared {
    haft_domain *domain;
    haft_table *table;
    haft_worker *worker;
    const char *object;
    haft_id id;
};

static struct shared open_shared(bool pins)
{
    const haft_domain_options on = {.clock = HAFT_CLOCK_FRAME};
    const haft_table_options options = {.capacity = 1, .object_size = SIZE, .pins = pins};
    struct shared shared;

    must(haft_domain_open(&on, &shared.domain));
    must(haft_table_open(shared.domain, &options, &shared.table));
    must(haft_worker_open(shared.table, &shared.worker));
    must(haft_insert(shared.worker, NULL, &shared.id));
    shared.object = haft_resolve(haft_table_view(shared.table), shared.id);
    return shared;
}

static void close_shared(struct shared *shared)
{
    must(haft_worker_close(shared->worker));
    must(haft_table_close(shared->table));
    must(haft_domain_close(shared->domain));
}

/* Its slot has been reclaimed. */
static void shared_free(void)
{
    struct shared shared = open_shared(false);

    must(haft_free(shared.worker, shared.id));
    must(haft_worker_flush(shared.worker));
    must(haft_domain_tick(shared.domain));
    must(haft_worker_quiescent(shared.worker));
    look(shared.object);
    close_shared(&shared);
}

static void shared_aborted(void)
{
    struct shared shared = open_shared(false);
    void *object;
    haft_id id;

    must(haft_reserve(shared.worker, &id, &object));
    haft_abort(shared.worker, id);
    look(object);
    close_shared(&shared);
}

static void unshared(void)
{
    struct shared shared = open_shared(false);
    haft_local *local;

    must(haft_free(shared.worker, shared.id));
    must(haft_worker_close(shared.worker));
    must(haft_unshare(shared.table, &local));
    look(shared.object);
    haft_local_close(local);
    must(haft_domain_close(shared.domain));
}

/* Freed, and the frame goes on. */
static void kept_retired(void)
{
    struct shared shared = open_shared(false);

    must(haft_free(shared.worker, shared.id));
    must(haft_worker_flush(shared.worker));
    must(haft_worker_quiescent(shared.worker));
    look(shared.object);
    close_shared(&shared);
}

/* Freed, and pinned across the tick. */
static void kept_pinned(void)
{
    struct shared shared = open_shared(true);

    if (haft_pin(shared.table, shared.id) == NULL) {
        exit(2);
    }
    must(haft_free(shared.worker, shared.id));
    must(haft_worker_flush(shared.worker));
    must(haft_domain_tick(shared.domain));
    must(haft_worker_quiescent(shared.worker));
    look(shared.object);
    must(haft_unpin(shared.table, shared.id));
    close_shared(&shared);
}

/* Of the slot's next tenant, whole. */
static void kept_reused(void)
{
    haft_local *local = open_local(HAFT_REUSE_LIFO);
    haft_id id;

    must(haft_local_insert(local, NULL, &id));
    must(haft_local_free(local, id));
    must(haft_local_insert(local, NULL, &id));
    const char *object = haft_resolve(haft_local_view(local), id);

    look(object);
    look(object + SIZE - 1);
    haft_local_close(local);
}

/* In the slot of an object that was freed, and before the new one is published. */
static void kept_reserved(void)
{
    haft_local *local = open_local(HAFT_REUSE_LIFO);
    struct shared shared = open_shared(false);
    void *object;
    haft_id id;

    must(haft_local_insert(local, NULL, &id));
    must(haft_local_free(local, id));
    must(haft_local_reserve(local, &id, &object));
    memset(object, 1, SIZE);
    haft_local_close(local);

    must(haft_free(shared.worker, shared.id));
    must(haft_worker_flush(shared.worker));
    must(haft_domain_tick(shared.domain));
    must(haft_worker_quiescent(shared.worker));
    do {
        must(haft_reserve(shared.worker, &id, &object));
        memset(object, 1, SIZE);
    } while (object != shared.object);
    close_shared(&shared);
}

static void kept_restored(void)
{
    haft_local *local = open_local(HAFT_REUSE_LIFO);
    haft_id id;

    must(haft_local_insert(local, NULL, &id));
    const char *object = haft_resolve(haft_local_view(local), id);

    must(haft_local_free(local, id));
    id = haft_id_pack(HAFT_LAYOUT_32_32, HAFT_FIRST_INDEX, 7, 0);
    must(haft_local_restore(local, id, NULL));
    look(object + SIZE - 1);
    haft_local_close(local);
}

/* Memory of the program's that lies where a table had free objects. */
static void kept_when_closed(void)
{
    const haft_local_options options = {.capacity = 100000, .object_size = SIZE}; /* in pages */
    haft_local *local;
    haft_id id;

    must(haft_local_open(&options, &local));
    must(haft_local_insert(local, NULL, &id));
    char *object = haft_resolve(haft_local_view(local), id);
    char *page = object - (uintptr_t)object % PAGE;

    must(haft_local_free(local, id));
    haft_local_close(local);
    if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
        page) {
        exit(2);
    }
    look(object);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*look)(void);
    } ways[] = {
        {"local_lifo", local_lifo},
        {"local_fifo", local_fifo},
        {"local_aborted", local_aborted},
        {"local_cleared", local_cleared},
        {"packed_freed", packed_freed},
        {"packed_freed_in_order", packed_freed_in_order},
        {"packed_refreshed", packed_refreshed},
        {"packed_last_refreshed", packed_last_refreshed},
        {"packed_cleared", packed_cleared},
        {"shared", shared_free},
        {"shared_aborted", shared_aborted},
        {"unshared", unshared},
        {"kept_retired", kept_retired},
        {"kept_pinned", kept_pinned},
        {"kept_reused", kept_reused},
        {"kept_reserved", kept_reserved},
        {"kept_restored", kept_restored},
        {"kept_when_closed", kept_when_closed},
    };

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (argc == 1) {
            puts(ways[i].name);
        } else if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].look();
            return 0;
        }
    }
    return argc == 1 ? 0 : 2;
}
