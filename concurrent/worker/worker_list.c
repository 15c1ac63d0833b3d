/*
 * The worker list: a table's workers.
 *
 * Edges in this file.
 *   WORKER_LIST  worker_list_add (release)   -> worker_list_first (acquire)   a worker's set-up
 *   ADOPT   worker_list_put_back (release) -> take_worker, worker_list_end, worker_state (acquire)
 *           its last state, to the thread that has it next, or that clears or closes the table
 *   OWN     before others can find the worker; a thread's own state
 *   RETRY   a first look; the compare-and-swap decides
 *   HINT    whether workers can be opened: worker_list_end decides, worker by worker
 */
#include "concurrent/worker/worker_list.h"
#include "concurrent/batches/pool.h"
#include "concurrent/batches/tagged.h"
#include "concurrent/clock/thread.h"
#include "concurrent/worker/descriptors.h"
#include "concurrent/worker/worker_batches.h"
#include "lib/base/asan.h"
#include "lib/base/compiler.h"
#include <stddef.h>
#include <string.h>

#define STATE_MASK ((UINT64_C(1) << STATE_BITS) - 1)

#define ENDED UINT64_C(1) /* beside the address of the first worker */

/* What programs work with, in place. */
#define IN_FRONT(member, of)                                                                       \
    (offsetof(struct haft_worker_front, member) == offsetof(struct haft_worker, of))

_Static_assert(IN_FRONT(version, version) && IN_FRONT(object_size, object_size) &&
                   IN_FRONT(above_index, above_index) && IN_FRONT(used_from, used_from) &&
                   IN_FRONT(called_from, called_from) && IN_FRONT(last_life, last_life) &&
                   IN_FRONT(view, view) && IN_FRONT(use_at, use_at) && IN_FRONT(use_to, use_to) &&
                   IN_FRONT(free_at, free_at) && IN_FRONT(look_at, look_at) &&
                   IN_FRONT(inserted, counters.inserted) && IN_FRONT(freed, counters.freed) &&
                   sizeof(struct haft_worker_front) <= 2 * CACHE_LINE,
               "a worker begins with its front");
_Static_assert(HAFT_FRONT_FREE == MARK_FREE, "the mark of a slot that was freed");

static haft_worker *worker_at(uint64_t head)
{
    return (haft_worker *)(uintptr_t)(head & ~ENDED);
}

haft_worker *worker_list_first(const haft_table *table)
{
    return worker_at(load_acquire(WORKER_LIST, &table->workers));
}

bool worker_list_has_ended(const haft_table *table)
{
    return (load_relaxed(HINT, &table->workers) & ENDED) != 0;
}

static bool is_of_thread(enum worker_state state)
{
    return state == WORKER_OPEN || state == WORKER_BORROWED;
}

static uint64_t own(enum worker_state state)
{
    return is_of_thread(state) ? (uint64_t)state | thread_number() << STATE_BITS : (uint64_t)state;
}

enum worker_state worker_state(const haft_worker *worker)
{
    /* Weakened, a table could be closed before its workers' last use of it. */
    return (enum worker_state)(load_acquire(ADOPT, &worker->state) & STATE_MASK);
}

uint64_t worker_list_open(const haft_table *table)
{
    uint64_t open = 0;

    for (const haft_worker *worker = worker_list_first(table); worker != NULL;
         worker = worker->next) {
        open += is_of_thread(worker_state(worker)) &&
                !thread_is_gone(load_relaxed(OWN, &worker->state) >> STATE_BITS);
    }
    return open;
}

bool worker_is_open_by(const haft_worker *worker, uint64_t thread)
{
    return load_relaxed(OWN, &worker->state) == (WORKER_OPEN | thread << STATE_BITS);
}

bool worker_is_own(const haft_worker *worker)
{
    const uint64_t state = load_relaxed(OWN, &worker->state);

    return state == own(WORKER_OPEN) || state == own(WORKER_BORROWED);
}

/* What it takes to insert and free in place, without a call that checks. */
static void set_front(haft_worker *worker)
{
    const haft_table *table = worker->table;

    worker->version = HAFT_TABLE_FRONT;
    worker->used_from = debug_is_on() ? UINT64_MAX : table->used_from;
    worker->called_from = table->is_quick ? table->used_from : UINT64_MAX;
    worker->last_life = debug_is_on() ? 0 : table->last_life;
    worker->above_index = ~table->slots.format.index_mask;
    worker->view = table->slots.view;
    worker->object_size = (uint32_t)table->slots.object_size;
}

/* No byte stays poisoned: the allocator may give the memory out again. */
static void free_worker(const haft_table *table, haft_worker *worker)
{
    asan_unpoison(worker, sizeof *worker);
    heap_give(&table->slots.heap, worker, sizeof *worker);
}

void worker_list_free(haft_table *table)
{
    for (haft_worker *worker = worker_list_first(table), *next; worker != NULL; worker = next) {
        next = worker->next;
        free_worker(table, worker);
    }
}

/* In the worker list; false: it is one of those that no thread opens. */
static bool link_worker(haft_table *table, haft_worker *worker, enum worker_state state)
{
    uint64_t head;

    do {
        head = load_acquire(WORKER_LIST, &table->workers);
        worker->next = worker_at(head);
        store_relaxed(OWN, &worker->state, own((head & ENDED) != 0 ? WORKER_ENDED : state));
    } while (!cas_release(WORKER_LIST, &table->workers, head,
                          (uint64_t)(uintptr_t)worker | (head & ENDED)));
    return (head & ENDED) == 0;
}

haft_worker *worker_list_add(haft_table *table, enum worker_state state)
{
    haft_worker *worker = heap_take(&table->slots.heap, sizeof(haft_worker), CACHE_LINE);

    if (worker == NULL) {
        return NULL;
    }
    memset(worker, 0, sizeof *worker);
    worker->table = table;
    worker->segment = descriptors_bring(worker);
    if (worker->segment == NULL) {
        free_worker(table, worker);
        return NULL;
    }
    worker->batch_limit = 1;
    filling_set(worker, pool_take(&table->pool, worker->segment));
    open_batch_set(worker, pool_take(&table->pool, worker->segment));
    set_front(worker);
    return link_worker(table, worker, state) ? worker : NULL;
}

/* AddressSanitizer reports the use of a worker that is closed.  Others look at the rest of it. */
static const struct {
    size_t begin, end;
} private_parts[] = {
    {0, offsetof(struct haft_worker, counters)},
    {offsetof(struct haft_worker, member), offsetof(struct haft_worker, backlog)},
};

static void mark_private(haft_worker *worker, void (*mark)(const void *memory, size_t size))
{
    for (size_t i = 0; i < 2; i++) {
        mark((char *)worker + private_parts[i].begin,
             private_parts[i].end - private_parts[i].begin);
    }
}

/* The calling thread's latest worker, and the number of its table. */
static THREAD_LOCAL struct {
    uint64_t table;
    haft_worker *worker;
} latest_worker;

/* Take a worker, from one state to the other. */
static bool take_worker(haft_worker *worker, enum worker_state from, enum worker_state to)
{
    const bool taken = load_relaxed(RETRY, &worker->state) == (uint64_t)from &&
                       cas_acquire(ADOPT, &worker->state, from, own(to));

    if (taken) {
        mark_private(worker, asan_unpoison);
    }
    return taken;
}

static haft_worker *find_worker(const haft_table *table, enum worker_state from,
                                enum worker_state to)
{
    if (latest_worker.table == table->number && take_worker(latest_worker.worker, from, to)) {
        return latest_worker.worker;
    }
    for (haft_worker *worker = worker_list_first(table); worker != NULL; worker = worker->next) {
        if (take_worker(worker, from, to)) {
            return worker;
        }
    }
    return NULL;
}

haft_worker *worker_list_take(haft_table *table, enum worker_state state)
{
    const bool has_ended = worker_list_has_ended(table);

    if (has_ended && state == WORKER_OPEN) {
        return NULL;
    }
    haft_worker *worker = find_worker(table, has_ended ? WORKER_ENDED : WORKER_CLOSED, state);

    worker = worker != NULL || has_ended ? worker : worker_list_add(table, state);
    if (worker != NULL) {
        latest_worker.table = table->number;
        latest_worker.worker = worker;
    }
    return worker;
}

haft_status worker_list_why_none(const haft_table *table)
{
    return worker_list_has_ended(table) ? HAFT_CLOSED : HAFT_NO_MEMORY;
}

void worker_change_thread(haft_worker *worker)
{
    assert(worker_state(worker) == WORKER_OPEN && "its thread or set has not closed it");
    store_relaxed(OWN, &worker->state, own(WORKER_OPEN));
}

void worker_list_put_back(haft_worker *worker)
{
    worker->is_to_draw = false;
    worker->is_movable = false; /* the next to have it may be a thread */
    mark_private(worker, asan_poison);
    /* Weakened, the next thread could find the batches as they were before. */
    store_release(ADOPT, &worker->state,
                  worker_list_has_ended(worker->table) ? WORKER_ENDED : WORKER_CLOSED);
}

/* --- the end --- */

static void refuse_openings(haft_table *table)
{
    uint64_t head;

    do {
        head = load_relaxed(RETRY, &table->workers);
    } while (!cas_relaxed(RETRY, &table->workers, head, head | ENDED));
}

bool worker_list_end(haft_table *table)
{
    bool all = true;

    refuse_openings(table);
    for (haft_worker *worker = worker_list_first(table); worker != NULL; worker = worker->next) {
        /* Weakened, its batches could be as they were before. */
        const bool is_ended = cas_acquire(ADOPT, &worker->state, WORKER_CLOSED, WORKER_ENDED) ||
                              worker_state(worker) == WORKER_ENDED;

        all = all && is_ended;
    }
    return all;
}
