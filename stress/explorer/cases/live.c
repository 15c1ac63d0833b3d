/*
 * Liveness, on each clock: when no call is under way, each object that the capacity allows for is
 * inserted after two grace periods at most.
 *
 *   live_*   one thread closes its worker, one keeps it open and goes away, one has one for a call
 *   alone_*  each thread has one for a call
 */
#include "stress/explorer/cases/case.h"
#include <stddef.h>

#define CAPACITY 2
#define GRACE_PERIODS 2

static haft_worker *idle;

static void let_grace_pass(void)
{
    if (haft_domain_tick(fixture.domain) == HAFT_WRONG_CLOCK) {
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    }
}

static void open_with(struct table_wish wish)
{
    wish.capacity = CAPACITY;
    wish.generation_bits = 5;
    idle = NULL;
    open_table(&wish);
}

static void insert_and_free(haft_worker *worker)
{
    haft_id id;
    const haft_status status = haft_insert(worker, NULL, &id);

    require(status == HAFT_OK || status == HAFT_BUSY || status == HAFT_FULL, "an odd answer");
    if (status == HAFT_OK) {
        require_status(haft_free(worker, id), HAFT_OK, "freeing");
    }
}

/* It frees after its worker has closed. */
static void insert_as_guest(void)
{
    haft_worker *own = open_worker();
    haft_id id;
    const haft_status status = haft_insert(own, NULL, &id);

    close_worker(own);
    require(status == HAFT_OK || status == HAFT_BUSY || status == HAFT_FULL, "an odd answer");
    if (status == HAFT_OK) {
        require_status(haft_table_free(fixture.table, id), HAFT_OK, "freeing");
    }
}

static void come_twice(void)
{
    race_begin();
    for (int i = 0; i < 2; i++) {
        insert_as_guest();
    }
    race_end();
}

static void live_body(uint32_t thread)
{
    haft_worker *own;

    if (thread == 2) {
        come_twice();
        return;
    }
    own = open_worker();
    race_begin();
    insert_and_free(own);
    insert_and_free(own);
    race_end();
    if (thread == 0) {
        close_worker(own);
    } else {
        idle = own;
        haft_thread_offline(fixture.domain); /* its job has ended; it passes no quiescent point */
    }
}

static void alone_body(uint32_t thread)
{
    (void)thread;
    come_twice();
}

static void insert_soon(void)
{
    haft_status status = HAFT_BUSY;
    haft_worker *own;
    haft_id id;

    for (int i = 0; i <= GRACE_PERIODS && status == HAFT_BUSY; i++) {
        if (i != 0) {
            let_grace_pass();
        }
        own = open_worker();
        status = haft_insert(own, NULL, &id);
        close_worker(own);
    }
    require_status(status, HAFT_OK, "inserting when no call is under way");
}

static void tear_down(void)
{
    require_census(fixture.table);
    for (int i = 0; i < CAPACITY; i++) {
        insert_soon();
    }
    if (idle != NULL) {
        close_worker(idle);
    }
    close_table();
}

/* --- the clocks --- */

static const char live_invariant[] =
    "whether workers have closed or idle, each object of the capacity finds a slot";
static const char alone_invariant[] =
    "each object of the capacity finds a slot where no thread has a worker";

static void set_up_caller(void)
{
    open_with((struct table_wish){0});
}

static void set_up_qsbr(void)
{
    open_with((struct table_wish){.is_qsbr = true});
}

static void set_up_late(void)
{
    open_with((struct table_wish){.is_late = true});
}

static void set_up_thread(void)
{
    open_with((struct table_wish){.has_thread = true});
}

static void set_up_workers(void)
{
    open_with((struct table_wish){.is_workers = true});
}

static void set_up_frame(void)
{
    open_with((struct table_wish){.is_frame = true});
}

EXPLORE(live_caller, 3, set_up_caller, live_body, tear_down, live_invariant);
EXPLORE(alone_caller, 2, set_up_caller, alone_body, tear_down, alone_invariant);
EXPLORE(live_qsbr, 3, set_up_qsbr, live_body, tear_down, live_invariant);
EXPLORE(live_late, 3, set_up_late, live_body, tear_down, live_invariant);
EXPLORE(live_thread, 3, set_up_thread, live_body, tear_down, live_invariant);
EXPLORE(alone_thread, 2, set_up_thread, alone_body, tear_down, alone_invariant);
EXPLORE(live_workers, 3, set_up_workers, live_body, tear_down, live_invariant);
EXPLORE(alone_workers, 2, set_up_workers, alone_body, tear_down, alone_invariant);
EXPLORE(live_frame, 3, set_up_frame, live_body, tear_down, live_invariant);
EXPLORE(alone_frame, 2, set_up_frame, alone_body, tear_down, alone_invariant);
