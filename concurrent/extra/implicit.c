/*
 * Implicit workers: for each thread a list of the workers it was given, by table.
 *
 * One key of thread-specific data serves the whole process.  A table may end before a thread that
 * has a worker on it; so the list is believed only about tables that are listed as open, under the
 * number that they alone ever have.  The lock of that list is held while a thread that ends closes
 * its workers, so no table ends meanwhile.
 *
 * Edges in this file.
 *   COUNT   numbers of tables: each is given once, in no order with anything else
 */
#include "concurrent/table/table.h"
#include <assert.h>
#include <haft/threads.h>
#include <stdlib.h>

struct entry {
    const haft_table *table;
    uint64_t number; /* the table's */
    haft_worker *worker;
};

/* Of one thread. */
struct holdings {
    size_t count;
    size_t room;
    struct entry *entries;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static bool has_key;       /* under the lock */
static haft_table *tables; /* open, with implicit workers; under the lock */
static _Thread_local bool knows_key;
static _Thread_local struct entry latest;

uint64_t table_number(void)
{
    static atomic_u64 given;

    return fetch_add_relaxed(COUNT, &given, 1) + 1;
}

/* Under the lock. */
static bool is_listed(const struct entry *entry)
{
    for (const haft_table *table = tables; table != NULL; table = table->next_implicit) {
        if (table == entry->table && table->number == entry->number) {
            return true;
        }
    }
    return false;
}

/* The thread ends. */
static void close_all(void *arg)
{
    struct holdings *holdings = arg;

    latest = (struct entry){NULL, 0, NULL};
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < holdings->count; i++) {
        const struct entry *entry = &holdings->entries[i];

        if (is_listed(entry)) {
            entry->worker->is_implicit = false;
            haft_worker_close(entry->worker);
        }
    }
    pthread_mutex_unlock(&lock);
    free(holdings->entries);
    free(holdings);
}

/* There is a key.  False: not this time. */
static bool make_key(void)
{
    if (!knows_key) {
        pthread_mutex_lock(&lock);
        has_key = has_key || pthread_key_create(&key, close_all) == 0;
        knows_key = has_key;
        pthread_mutex_unlock(&lock);
    }
    return knows_key;
}

static struct holdings *own_holdings(void)
{
    if (!make_key()) {
        return NULL;
    }
    struct holdings *holdings = pthread_getspecific(key);

    if (holdings == NULL) {
        holdings = calloc(1, sizeof *holdings);
        if (holdings != NULL && pthread_setspecific(key, holdings) != 0) {
            free(holdings);
            holdings = NULL;
        }
    }
    return holdings;
}

/* Forget workers of tables that have ended. */
static void tidy(struct holdings *holdings)
{
    size_t kept = 0;

    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < holdings->count; i++) {
        if (is_listed(&holdings->entries[i])) {
            holdings->entries[kept++] = holdings->entries[i];
        }
    }
    pthread_mutex_unlock(&lock);
    holdings->count = kept;
}

/* Room for one more entry.  False: no memory. */
static bool make_room(struct holdings *holdings)
{
    if (holdings->count == holdings->room) {
        tidy(holdings);
    }
    if (holdings->count < holdings->room) {
        return true;
    }
    const size_t room = holdings->room == 0 ? 4 : 2 * holdings->room;
    struct entry *entries = realloc(holdings->entries, room * sizeof *entries);

    if (entries == NULL) {
        return false;
    }
    holdings->entries = entries;
    holdings->room = room;
    return true;
}

static void list(haft_table *table, haft_worker *worker)
{
    pthread_mutex_lock(&lock);
    worker->is_implicit = true;
    if (!table->has_implicit) {
        table->has_implicit = true;
        table->next_implicit = tables;
        tables = table;
    }
    pthread_mutex_unlock(&lock);
}

static haft_status open_one(haft_table *table, struct holdings *holdings)
{
    haft_worker *worker;

    if (!make_room(holdings)) {
        return HAFT_NO_MEMORY;
    }
    const haft_status status = haft_worker_open(table, &worker);

    if (status == HAFT_OK) {
        list(table, worker);
        latest = (struct entry){table, table->number, worker};
        holdings->entries[holdings->count++] = latest;
    }
    return status;
}

static haft_status find(haft_table *table)
{
    struct holdings *holdings = own_holdings();

    if (holdings == NULL) {
        return HAFT_NO_MEMORY;
    }
    for (size_t i = 0; i < holdings->count; i++) {
        if (holdings->entries[i].number == table->number) {
            latest = holdings->entries[i];
            return HAFT_OK;
        }
    }
    return open_one(table, holdings);
}

haft_status haft_worker_current(haft_table *table, haft_worker **worker)
{
    if (latest.number != table->number) {
        const haft_status status = find(table);

        if (status != HAFT_OK) {
            return status;
        }
    }
    *worker = latest.worker;
    return HAFT_OK;
}

void implicit_lock(void)
{
    pthread_mutex_lock(&lock);
}

void implicit_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void table_close_implicit(haft_table *table)
{
    pthread_mutex_lock(&lock);
    if (table->has_implicit) {
        haft_table **link = &tables;

        while (*link != table) {
            link = &(*link)->next_implicit;
        }
        *link = table->next_implicit;
        table->has_implicit = false;
    }
    pthread_mutex_unlock(&lock);
    for (haft_worker *worker = first_worker(table); worker != NULL; worker = worker->next) {
        if (worker->is_implicit) {
            worker->is_implicit = false;
            haft_worker_close(worker);
        }
    }
}
