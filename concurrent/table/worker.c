/*
 * Workers: opening, closing, and the quiescent point between jobs.
 *
 * Edges in this file.
 *   ROSTER  haft_worker_open (release)  -> first_worker (acquire)       a worker's set-up
 *   ADOPT   haft_worker_close (release) -> haft_worker_open (acquire)   its last state, to the
 *           worker that takes its part over
 *   OWN     before others can find the worker
 *   HINT    hunger: answered now or at the next quiescent point
 *   RETRY   a first look; the compare-and-swap decides.  The budget carries numbers only: the
 *           slots held back travel through ring and depot
 */
#include "concurrent/table/debug.h"
#include "concurrent/table/table.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_CLOSING 32    /* retired slots that a quiescent point hands on */
#define PARTIAL_BATCHES 64  /* that may wait: while as many do, it hands on full ones */
#define BACKLOG_SLOTS 8192u /* retired slots that may wait at a quiescent point */
#define BACKLOG_MOST 12288u /* the same while another thread drives the clock */
#define RECLAIMED_BATCHES 4 /* that a quiescent point takes back */

haft_worker *first_worker(const haft_table *table)
{
    return (haft_worker *)(uintptr_t)load_acquire(ROSTER, &table->roster);
}

void worker_set_share(haft_worker *worker, uint32_t share)
{
    const haft_table *table = worker->table;
    const bool has_more_to_do = table->is_exact || table->slots.places.records != NULL;

    worker->share = share;
    worker->look_at = has_more_to_do ? 0 : share;
}

/* Take what the worker may hold back from the budget, and set its share by it. */
static void draw_budget(haft_worker *worker)
{
    haft_table *table = worker->table;
    const uint64_t wanted = 2 * (uint64_t)(table->batch_max - 1);
    uint64_t left;
    uint64_t drawn;

    do {
        left = load_relaxed(RETRY, &table->budget);
        drawn = (left < wanted ? left : wanted) & ~UINT64_C(1);
    } while (!cas_relaxed(RETRY, &table->budget, left, left - drawn));
    worker_set_share(worker, (uint32_t)(drawn / 2 + 1));
}

static void return_budget(haft_worker *worker)
{
    fetch_add_relaxed(RETRY, &worker->table->budget, 2 * (uint64_t)(worker->share - 1));
    worker_set_share(worker, 1);
}

/* Take over the part of a worker that was closed; NULL if there is none. */
static haft_worker *adopt(const haft_table *table)
{
    for (haft_worker *worker = first_worker(table); worker != NULL; worker = worker->next) {
        if (load_relaxed(RETRY, &worker->state) == WORKER_CLOSED &&
            cas_acquire(ADOPT, &worker->state, WORKER_CLOSED, WORKER_OPEN)) {
            return worker;
        }
    }
    return NULL;
}

haft_worker *worker_new(haft_table *table)
{
    haft_worker *worker = aligned_alloc(CACHE_LINE, sizeof *worker);

    if (worker == NULL) {
        return NULL;
    }
    memset(worker, 0, offsetof(struct haft_worker, segment.batches));
    worker->table = table;
    if (pool_add(&table->pool, &worker->segment) != HAFT_OK) {
        free(worker);
        return NULL;
    }
    worker->filling = pool_take(&table->pool, &worker->segment);
    worker->open = pool_take(&table->pool, &worker->segment);
    do {
        worker->next = first_worker(table);
    } while (!cas_release(ROSTER, &table->roster, (uint64_t)(uintptr_t)worker->next,
                          (uint64_t)(uintptr_t)worker));
    return worker;
}

haft_status haft_worker_open(haft_table *table, haft_worker **worker)
{
    haft_domain *domain = table->domain;
    haft_worker *opened = adopt(table);

    if (opened == NULL) {
        opened = worker_new(table);
    }
    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    if (domain->clock->join(domain, opened, &opened->member) != HAFT_OK) {
        store_release(ADOPT, &opened->state, WORKER_CLOSED);
        return HAFT_NO_MEMORY;
    }
    opened->owner = thread_number();
    draw_budget(opened);
    *worker = opened;
    return HAFT_OK;
}

static void hand_on(haft_worker *worker)
{
    struct batch *filling = worker->filling;

    assert(!worker->reclaiming);
    worker_close_batch(worker);
    if (filling->count != 0) {
        store_relaxed(OWN, &filling->ticket, 0);
        worker->filling = worker_empty_batch(worker);
        worker_shelve(worker, filling);
    }
    domain_hurry(worker->table->domain);
}

haft_worker *worker_hire(haft_table *table)
{
    haft_worker *worker = adopt(table);

    if (worker == NULL) {
        worker = worker_new(table);
    }
    if (worker != NULL) {
        worker_set_share(worker, 1);
    }
    return worker;
}

void worker_dismiss(haft_worker *worker)
{
    hand_on(worker);
    store_release(ADOPT, &worker->state, WORKER_CLOSED); /* as in haft_worker_close() */
}

haft_status haft_worker_flush(haft_worker *worker)
{
    const uint64_t outer = debug_enter(worker);

    hand_on(worker);
    debug_leave(worker, outer);
    return HAFT_OK;
}

haft_status haft_worker_close(haft_worker *worker)
{
    haft_domain *domain = worker->table->domain;
    const uint64_t outer = debug_enter(worker);

    hand_on(worker);
    debug_leave(worker, outer);
    return_budget(worker);
    domain->clock->leave(domain, worker, worker->member);
    worker->owner = 0; /* until its next one has it wholly: see fork.c */
    /* Weakened, the next owner could find the batches as they were before. */
    store_release(ADOPT, &worker->state, WORKER_CLOSED);
    return HAFT_OK;
}

haft_table *haft_worker_table(const haft_worker *worker)
{
    return worker->table;
}

/*
 * Were partial batches to fill the ring, they would be put together, and their slots wait for the
 * latest ticket among them: longer than the backlog says.
 */
static bool is_worth_closing(const haft_worker *worker)
{
    return worker->open->count >= WORTH_CLOSING && ring_length(&worker->waiting) < PARTIAL_BATCHES;
}

/* Close the open batch if that is worth a ticket.  True if somebody found no slot meanwhile. */
static bool close_if_worth(haft_worker *worker)
{
    const uint64_t hunger = load_relaxed(HINT, &worker->table->hunger);
    const uint64_t retired = worker->backlog.retired + worker->open->count;
    const bool idle = retired == worker->retired_seen;
    const bool waits = idle && worker->open->count != 0;
    const bool hungry = hunger != worker->hunger;

    if (idle || hungry || is_worth_closing(worker)) {
        worker_close_batch(worker);
    }
    if (waits && worker->table->inspects) {
        domain_hurry(worker->table->domain); /* nobody else may ask for these soon */
    }
    worker->hunger = hunger;
    worker->retired_seen = retired;
    return hungry;
}

/* Take back own batches that are due, and shelve them again. */
static void reclaim_due(haft_worker *worker)
{
    haft_table *table = worker->table;
    const uint64_t done = domain_done(table->domain);

    for (int i = 0; i < RECLAIMED_BATCHES; i++) {
        struct batch *batch = ring_take(&worker->waiting, &table->pool, done);

        if (batch == NULL) {
            return;
        }
        worker_take_back(worker, batch);
    }
}

/* Forget the closings that are done; the slots that wait still. */
static uint64_t waiting(struct backlog *backlog, uint64_t done)
{
    while (backlog->first != backlog->next) {
        const struct closing *oldest = &backlog->closings[backlog->first % CLOSINGS];

        if (oldest->ticket > done) {
            break;
        }
        backlog->done = oldest->retired;
        backlog->first++;
    }
    return backlog->retired - backlog->done;
}

static void pass_quiescent_point(haft_worker *worker)
{
    haft_domain *domain = worker->table->domain;
    const bool hungry = close_if_worth(worker);
    uint64_t backlog = waiting(&worker->backlog, domain_done(domain));

    /* What waits for on_reclaim is waited for, however little it is. */
    const bool eager = hungry || (worker->table->on_reclaim != NULL && backlog != 0);

    domain->clock->quiescent(domain, worker->member, eager ? UINT64_MAX : backlog);
    backlog = waiting(&worker->backlog, domain_done(domain));
    const bool wanted = backlog > BACKLOG_SLOTS || hungry;

    if (wanted) {
        domain_notice_stall(domain);
    }
    if (backlog > BACKLOG_MOST || (wanted && !domain_is_driven(domain))) {
        domain_wait(domain);
    }
    if (worker->table->inspects) {
        reclaim_due(worker);
    }
}

haft_status haft_worker_quiescent(haft_worker *worker)
{
    const uint64_t outer = debug_enter(worker);
    haft_status status = HAFT_IN_SECTION;

    assert(!worker->reclaiming);
    assert(debug_is_own(worker));
    if (!domain_in_section(worker->table->domain)) {
        pass_quiescent_point(worker);
        status = HAFT_OK;
    }
    debug_leave(worker, outer);
    return status;
}
