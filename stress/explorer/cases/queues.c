/*
 * White-box: batches that wait and batches that have elapsed, where their queues are full or their
 * tickets come in another order.
 */
#include "concurrent/clock/grace_periods.h"
#include "concurrent/worker/exchange.h"
#include "stress/explorer/cases/case.h"
#include <haft/memory.h>
#include <stddef.h>

static haft_worker *workers[3];
static struct batch *never; /* stands in the cells of full rings; its ticket is never done */
static uint64_t former_most;

static void open_with(const struct table_wish *wish)
{
    open_table(wish);
    for (int i = 0; i < 3; i++) {
        workers[i] = open_worker();
    }
    never = NULL;
}

static void close_all(void)
{
    if (never != NULL) {
        pool_give(&fixture.table->pool, never);
    }
    for (int i = 0; i < 3; i++) {
        close_worker(workers[i]);
    }
    close_table();
}

/* The ring has no room. */
static void fill_ring(struct ring *ring)
{
    if (never == NULL) {
        never = pool_take(&fixture.table->pool, NULL);
        store_relaxed(OWN, &never->ticket, UINT64_MAX);
    }
    while (ring_push(ring, never)) {
    }
}

/* What the fill has put there goes, when no other thread uses the table. */
static void drain_ring(struct ring *ring)
{
    store_relaxed(OWN, &ring->head, load_relaxed(OWN, &ring->tail));
}

/* --- elapsed_head: the ring is full, its oldest batch has elapsed, and another comes that waits
 * --- */

#define DONE 1
#define SLOTS 3 /* no slots in truth: marks, in batches of two at most */

static struct batch *batch_of(uint64_t ticket, uint32_t mark)
{
    struct batch *batch = pool_take(&fixture.table->pool, NULL);

    store_relaxed(OWN, &batch->ticket, ticket);
    batch->indices[batch->count++] = HAFT_FIRST_INDEX + mark;
    return batch;
}

static struct batch *late;
static uint32_t found[SLOTS];

static void set_up_elapsed_head(void)
{
    open_with(&(struct table_wish){.capacity = 1});
    former_most = fixture.table->batch_max;
    fixture.table->batch_max = 2;
    ring_push(&workers[0]->waiting, batch_of(DONE, 0));
    ring_push(&workers[0]->waiting, batch_of(DONE + 1, 1));
    fill_ring(&workers[0]->waiting);
    late = batch_of(DONE + 2, 2);
    store_relaxed(OWN, &fixture.domain->requested, DONE + 2);
    store_relaxed(OWN, &fixture.domain->done, DONE);
    for (int i = 0; i < SLOTS; i++) {
        found[i] = 0;
    }
}

/* The batch's marks are found; `has_elapsed`: it was taken as one whose ticket is done. */
static void find(struct batch *batch, bool has_elapsed)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        const uint32_t mark = batch->indices[i] - HAFT_FIRST_INDEX;

        require(has_elapsed == (mark == 0), has_elapsed ? "a slot has elapsed before its time"
                                                        : "a slot that had elapsed waits again");
        require(found[mark]++ == 0, "a slot is in two batches");
    }
    batch->count = 0;
    pool_give(&fixture.table->pool, batch);
}

static void elapsed_head_body(uint32_t thread)
{
    struct batch *batch;

    race_begin();
    if (thread == 0) {
        exchange_put_waiting(workers[0], late);
    } else if ((batch = exchange_steal_elapsed(workers[thread], domain_done(fixture.domain))) !=
               NULL) {
        find(batch, true);
    }
    race_end();
}

/* All that waits, what has elapsed and the rest. */
static void tear_down_elapsed_head(void)
{
    haft_table *table = fixture.table;
    struct ring *ring = &workers[0]->waiting;
    struct batch *batch;

    while ((batch = ring_take(ring, &table->pool, UINT64_MAX)) != NULL ||
           (batch = depot_take(&table->waiting, &table->pool, UINT64_MAX)) != NULL) {
        if (batch != never) {
            find(batch, load_relaxed(OWN, &batch->ticket) <= DONE);
        }
    }
    for (int i = 0; i < SLOTS; i++) {
        require(found[i] == 1, "a slot is lost");
    }
    table->batch_max = (uint32_t)former_most;
    close_all();
}

EXPLORE(elapsed_head, 3, set_up_elapsed_head, elapsed_head_body, tear_down_elapsed_head,
        "in a full ring, what has elapsed stays so, and what waits waits");

/*
 * --- inverted: two workers take tickets and push to the depot, perhaps the other way round ---
 */

static haft_id ids[2];

static void set_up_inverted(void)
{
    open_with(&(struct table_wish){.capacity = 1, .generation_bits = 4});
    for (int i = 0; i < 2; i++) {
        ids[i] = insert_stamped(workers[i]);
        fill_ring(&workers[i]->waiting);
    }
}

static void inverted_body(uint32_t thread)
{
    race_begin();
    if (thread < 2) {
        require_status(haft_free(workers[thread], ids[thread]), HAFT_OK, "freeing");
    } else {
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    }
    race_end();
}

static void tear_down_inverted(void)
{
    haft_id id;

    drain_ring(&workers[0]->waiting);
    drain_ring(&workers[1]->waiting);
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    require_status(haft_insert(workers[2], NULL, &id), HAFT_OK, "inserting after a wait");
    close_all();
}

EXPLORE(inverted, 3, set_up_inverted, inverted_body, tear_down_inverted,
        "a batch behind one with a later ticket is found when both are done");

/* --- trimmed: memory is given back beside a free, a refill and a reclaim --- */

static void set_up_trimmed(void)
{
    open_with(&(struct table_wish){.capacity = 2, .object_size = 4088, .generation_bits = 5});
    for (int i = 0; i < 2; i++) {
        ids[i] = insert_stamped(workers[i]);
    }
    require_status(haft_free(workers[0], ids[0]), HAFT_OK, "freeing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
}

static void trimmed_body(uint32_t thread)
{
    haft_id id;

    race_begin();
    if (thread == 0) {
        require_status(haft_trim(fixture.table, NULL), HAFT_OK, "trimming");
    } else if (thread == 1) {
        require_status(haft_free(workers[1], ids[1]), HAFT_OK, "freeing");
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
        require_status(haft_worker_quiescent(workers[1]), HAFT_OK, "a quiescent point");
    } else if (haft_insert(workers[2], NULL, &id) == HAFT_OK) {
        require_status(haft_free(workers[2], id), HAFT_OK, "freeing");
    }
    race_end();
}

/* No call is under way: slots that are ready are found at once, those that wait after a wait. */
static void tear_down_trimmed(void)
{
    haft_id id;

    require_census(fixture.table);
    require_status(haft_worker_flush(workers[2]), HAFT_OK, "flushing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    for (int i = 0; i < 2; i++) {
        require_status(haft_insert(workers[2], NULL, &id), HAFT_OK, "inserting after a trim");
    }
    close_all();
}

EXPLORE(trimmed, 3, set_up_trimmed, trimmed_body, tear_down_trimmed,
        "no slot stays hidden when a trim has ended");
