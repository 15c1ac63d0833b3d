/* Slots handed over, and haft_table_reclaim() beside the threads that reclaim them. */
#include "concurrent/worker/handed.h"
#include "concurrent/worker/exchange.h"
#include "concurrent/worker/sweep.h"
#include "stress/explorer/cases/case.h"
#include <stddef.h>

static haft_worker *workers[2];
static shared_u64 reclaims;
static uint64_t effect; /* plain: only what haft_table_reclaim() has waited for orders it */

static void count_one(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)arg;
    require(worker != NULL, "on_reclaim has a worker");
    require(((struct object *)object)->id == id.bits, "on_reclaim gets another id's object");
    poke(&reclaims, peek(&reclaims) + 1);
    effect = 1;
}

static haft_id open_with_one(void)
{
    const struct table_wish wish = {.capacity = 2, .on_reclaim = count_one};

    poke(&reclaims, 0);
    effect = 0;
    open_table(&wish);
    for (int i = 0; i < 2; i++) {
        workers[i] = open_worker();
    }
    return insert_stamped(workers[0]);
}

static void tear_down(void)
{
    for (int i = 0; i < 2; i++) {
        close_worker(workers[i]);
    }
    close_table();
    require(peek(&reclaims) == 1, "on_reclaim runs once");
}

/* --- handed: white-box; the word is as high as the ticket of a batch that comes late --- */

static struct batch *batch;
static uint64_t ticket;

static void set_up_handed(void)
{
    const haft_id id = open_with_one();

    require_status(haft_free(workers[0], id), HAFT_OK, "freeing");
    batch = ring_take(&workers[0]->waiting, &fixture.table->pool, UINT64_MAX);
    require(batch != NULL, "a table so small retires each slot");
    ticket = load_relaxed(OWN, &batch->ticket);
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    handed_raise(fixture.table, ticket);
}

static void handed_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        exchange_put_waiting(workers[0], batch);
        handed_raise(fixture.table, ticket);
    } else {
        sweep_handed(workers[1]);
    }
    race_end();
}

static void tear_down_handed(void)
{
    require(peek(&reclaims) == 1 || handed_ticket(fixture.table) != 0,
            "a batch that was handed over waits, and no word tells of it");
    sweep_handed(workers[1]);
    require(peek(&reclaims) == 1, "a quiescent point reclaims the batch");
    tear_down();
}

EXPLORE(handed, 2, set_up_handed, handed_body, tear_down_handed,
        "while a batch that was handed over waits, the table's word is set");

/* --- transit: a quiescent point reclaims the slot that haft_table_reclaim() looks for --- */

static void set_up_transit(void)
{
    require_status(haft_free(workers[0], open_with_one()), HAFT_OK, "freeing");
    require_status(haft_worker_flush(workers[0]), HAFT_OK, "flushing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
}

static void transit_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        require_status(haft_worker_quiescent(workers[0]), HAFT_OK, "a quiescent point");
    } else {
        require_status(haft_table_reclaim(fixture.table), HAFT_OK, "reclaiming");
        require(peek(&reclaims) == 1, "haft_table_reclaim returns before on_reclaim has");
        require(effect == 1, "what on_reclaim has done is not visible");
    }
    race_end();
}

EXPLORE(transit, 2, set_up_transit, transit_body, tear_down,
        "haft_table_reclaim returns after on_reclaim, whichever thread calls it");

/* --- cleared: white-box; haft_table_reclaim() finds no ticket to wait for --- */

static void cleared_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        require_status(haft_worker_quiescent(workers[0]), HAFT_OK, "a quiescent point");
    } else if (handed_ticket(fixture.table) == 0) {
        transit_wait(fixture.table);
        require(effect == 1, "what on_reclaim has done is not visible");
    }
    race_end();
}

EXPLORE(cleared, 2, set_up_transit, cleared_body, tear_down,
        "a thread that finds the table's word cleared waits for the worker that cleared it");

/* --- transit_list: as transit, with a slot in a list, which a quiescent point collects --- */

static void set_up_transit_list(void)
{
    require_status(haft_table_free(fixture.table, open_with_one()), HAFT_OK, "freeing");
}

EXPLORE(transit_list, 2, set_up_transit_list, transit_body, tear_down,
        "haft_table_reclaim finds what another thread takes out of a list");
