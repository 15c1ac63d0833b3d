/*
 * Implicit workers: a layer over opening and closing, with a key of thread-specific data.
 *
 * Each entry is in two lists: its thread's, and that of all, under the registry's lock.  An entry
 * stands for its worker only while that is open and was not opened again since; so a worker that
 * was closed by hand is not closed again.  A thread that ends closes its workers under the lock,
 * and calls nothing back: another thread that closes the table sees each of them either open, with
 * its entry, or closed, with all that it held handed on.
 */
#include "concurrent/extra/implicit.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/registry.h"
#include "concurrent/clock/thread.h"
#include "concurrent/table/roster.h"
#include "concurrent/table/worker.h"
#include "lib/base/compiler.h"
#include "lib/base/os.h"
#include <haft/threads.h>
#include <stdlib.h>

/* A worker, and the table and the thread that it was opened for. */
struct opened {
    uint64_t number; /* the table's */
    haft_worker *worker;
    uint64_t openings; /* the worker's */
    uint64_t thread;   /* thread_number() of the one that opened it */
};

struct entry {
    struct opened opened;
    struct entry *next;     /* of the thread; newest first */
    struct entry *next_all; /* in the list of all */
    struct entry **link;    /* the pointer to this one in it; NULL: it has left the list */
};

static struct os_key entries_key;
static bool has_key;              /* under the lock */
static struct entry *all_entries; /* under the lock */
static THREAD_LOCAL struct entry *own_entries;
static THREAD_LOCAL struct opened latest;

/* Under the lock. */
static void unlink_entry(struct entry *entry)
{
    if (entry->link != NULL) {
        *entry->link = entry->next_all;
        if (entry->next_all != NULL) {
            entry->next_all->link = entry->link;
        }
        entry->link = NULL;
    }
}

/* Under the lock. */
static void link_entry(struct entry *entry)
{
    entry->next_all = all_entries;
    entry->link = &all_entries;
    if (all_entries != NULL) {
        all_entries->link = &entry->next_all;
    }
    all_entries = entry;
}

/* Whether the worker, of a table that is open, is still the one that was opened. */
static bool is_current(const struct opened *opened)
{
    return worker_is_open_by(opened->worker, opened->thread) &&
           opened->worker->openings == opened->openings;
}

/* The worker closes and hands on all that it holds; nothing is called back.  Under the lock. */
static void close_worker(const struct entry *entry)
{
    if (entry->link != NULL && is_current(&entry->opened)) {
        worker_flush(entry->opened.worker);
        worker_end(entry->opened.worker);
    }
}

/* Outside the lock: a hook in free() may use a table. */
static void free_entries(struct entry *entry)
{
    while (entry != NULL) {
        struct entry *next = entry->next;

        free(entry);
        entry = next;
    }
}

/* The thread ends. */
static void close_own(void *arg)
{
    struct entry *ended = own_entries;

    (void)arg;
    own_entries = NULL;
    latest = (struct opened){0};
    registry_lock();
    for (struct entry *entry = ended; entry != NULL; entry = entry->next) {
        close_worker(entry);
        unlink_entry(entry);
    }
    registry_unlock();
    free_entries(ended);
}

/* The library is unloaded before its threads end, or the process ends: their workers stay open. */
static __attribute__((destructor)) void forget_key(void)
{
    registry_lock();
    if (has_key) {
        os_key_close(&entries_key);
        has_key = false;
    }
    registry_unlock();
}

/* The calling thread's workers close with it.  False: not this time. */
static bool watch_thread(void)
{
    bool done;

    registry_lock();
    has_key = has_key || os_key_open(&entries_key, close_own);
    done = has_key && os_key_set(&entries_key, &own_entries);
    registry_unlock();
    return done;
}

/* Entries of tables that have ended, and of workers closed by hand, go. */
static void tidy(void)
{
    struct entry **link = &own_entries;
    struct entry *gone = NULL;

    registry_lock();
    while (*link != NULL) {
        struct entry *entry = *link;

        if (entry->link == NULL || !is_current(&entry->opened)) {
            unlink_entry(entry);
            *link = entry->next;
            entry->next = gone;
            gone = entry;
        } else {
            link = &entry->next;
        }
    }
    registry_unlock();
    free_entries(gone);
}

static haft_status open_one(haft_table *table)
{
    struct entry *entry = watch_thread() ? malloc(sizeof *entry) : NULL;
    haft_worker *worker;

    if (entry == NULL) {
        return HAFT_NO_MEMORY;
    }
    tidy();
    const haft_status status = haft_worker_open(table, &worker);

    if (status != HAFT_OK) {
        free(entry);
        return status;
    }
    latest = (struct opened){table->number, worker, worker->openings, thread_number()};
    *entry = (struct entry){latest, own_entries, NULL, NULL};
    own_entries = entry;
    registry_lock();
    link_entry(entry);
    registry_unlock();
    return HAFT_OK;
}

/* Whether it is the table's, and its worker still the thread's. */
static bool belongs_to(const struct opened *opened, const haft_table *table)
{
    return opened->number == table->number && is_current(opened);
}

/* Makes the table's entry, if the thread has one, the latest. */
static bool find_own(const haft_table *table)
{
    for (const struct entry *entry = own_entries; entry != NULL; entry = entry->next) {
        if (belongs_to(&entry->opened, table)) {
            latest = entry->opened;
            return true;
        }
    }
    return false;
}

haft_worker *implicit_own(const haft_table *table)
{
    return belongs_to(&latest, table) || find_own(table) ? latest.worker : NULL;
}

haft_status haft_worker_current(haft_table *table, haft_worker **worker)
{
    haft_worker *own = implicit_own(table);

    if (own == NULL) {
        const haft_status status = open_one(table);

        if (status != HAFT_OK) {
            return status;
        }
        own = latest.worker;
    }
    *worker = own;
    return HAFT_OK;
}

/* --- closing --- */

/* Whether it closes with the table, on the calling thread.  Under the lock. */
static bool closes_with(const struct entry *entry, const haft_table *table)
{
    return entry->opened.number == table->number && is_current(&entry->opened) &&
           !thread_is_gone(entry->opened.thread) &&
           domain_may_leave(table->domain, entry->opened.worker->member);
}

/* Under the lock. */
static uint64_t count_closing(const haft_table *table)
{
    uint64_t count = 0;

    for (const struct entry *entry = all_entries; entry != NULL; entry = entry->next_all) {
        count += closes_with(entry, table);
    }
    return count;
}

/* Of the open workers, those that do not close with the table.  Under the lock. */
static uint64_t count_others(const haft_table *table)
{
    const uint64_t closing = count_closing(table);
    const uint64_t open = roster_open(table);

    return open > closing ? open - closing : 0; /* one may have been closed in between */
}

uint64_t implicit_others(const haft_table *table)
{
    registry_lock();
    const uint64_t others = count_others(table);

    registry_unlock();
    return others;
}

void implicit_flush(const haft_table *table)
{
    registry_lock();
    for (const struct entry *entry = all_entries; entry != NULL; entry = entry->next_all) {
        if (closes_with(entry, table)) {
            worker_flush(entry->opened.worker);
        }
    }
    registry_unlock();
}

/* Under the lock. */
static void close_with(const haft_table *table)
{
    struct entry *next;

    for (struct entry *entry = all_entries; entry != NULL; entry = next) {
        next = entry->next_all;
        if (entry->opened.number == table->number) {
            if (closes_with(entry, table)) {
                worker_end(entry->opened.worker);
            }
            unlink_entry(entry);
        }
    }
}

haft_status implicit_close(const haft_table *table)
{
    registry_lock();
    const haft_status status = count_others(table) == 0 ? HAFT_OK : HAFT_IN_USE;

    if (status == HAFT_OK) {
        close_with(table);
    }
    registry_unlock();
    return status;
}
