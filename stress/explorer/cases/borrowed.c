/* Calls without a worker, which borrow one: against each other, and against those that open. */
#include "stress/explorer/cases/case.h"
#include <haft/threads.h>
#include <stddef.h>

static haft_worker *worker;
static haft_id id;

/* One worker is closed, for all to borrow. */
static void set_up_of(const struct table_wish *wish)
{
    open_table(wish);
    worker = open_worker();
    id = insert_stamped(worker);
    close_worker(worker);
}

static haft_id insert_own(void)
{
    haft_status status;
    haft_id own;
    void *object;

    do {
        status = haft_reserve_wait_unregistered(fixture.table, &own, &object);
    } while (status == HAFT_BUSY);
    require_status(status, HAFT_OK, "reserving without a worker");
    stamp(object, own);
    haft_publish_unregistered(fixture.table, own);
    return own;
}

static void live_once(void)
{
    const haft_id own = insert_own();

    require(look_at(own), "the inserted object is not there");
    require_status(haft_table_free(fixture.table, own), HAFT_OK, "freeing");
    require(!look_at(own), "a freed id resolves for its freer");
}

static void tear_down(void)
{
    require(haft_table_stats_get(fixture.table).workers == 0, "a borrowed worker is left open");
    require_room_for((uint32_t)haft_table_stats_get(fixture.table).capacity - 1);
    close_table();
}

/* --- borrow: two insert and free, and there is one worker to borrow --- */

static void set_up(void)
{
    const struct table_wish wish = {.capacity = 2, .generation_bits = 4};

    set_up_of(&wish);
}

static void borrow_body(uint32_t thread)
{
    (void)thread;
    race_begin();
    live_once();
    race_end();
}

const struct explored_case borrow_case = {
    .name = "borrow",
    .invariant = "a worker is lent to one call at a time, and no slot is lost with it",
    .threads = 2,
    .set_up = set_up,
    .body = borrow_body,
    .tear_down = tear_down,
};

/* --- borrow_opened: one borrows, one opens and closes --- */

static void borrow_opened_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        live_once();
    } else {
        haft_worker *own = open_worker();
        const haft_id first = insert_stamped(own);

        require_status(haft_free(own, first), HAFT_OK, "freeing");
        close_worker(own);
    }
    race_end();
}

const struct explored_case borrow_opened_case = {
    .name = "borrow_opened",
    .invariant = "a worker that is lent is opened by no other, and an open one is not lent",
    .threads = 2,
    .set_up = set_up,
    .body = borrow_opened_body,
    .tear_down = tear_down,
};

/* --- borrow_inside: on_reclaim inserts without a worker, on two threads --- */

static shared_u64 reclaims;
static shared_u64 refusals;

static void insert_inside(void *object, haft_id former, haft_worker *with, void *arg)
{
    haft_id own;

    (void)with;
    (void)arg;
    require(((struct object *)object)->id == former.bits, "on_reclaim gets another id's object");
    if (add(&reclaims, 1) != 0) {
        return;
    }
    const haft_status status = haft_reserve_unregistered(fixture.table, &own, NULL);

    require(status == HAFT_OK || status == HAFT_BUSY || status == HAFT_FULL,
            "an odd answer inside on_reclaim");
    if (status == HAFT_OK) {
        haft_abort_unregistered(fixture.table, own);
    } else {
        add(&refusals, 1);
    }
}

static void set_up_borrow_inside(void)
{
    const struct table_wish wish = {
        .capacity = 2, .generation_bits = 4, .on_reclaim = insert_inside};

    set_up_of(&wish);
    poke(&reclaims, 0);
    poke(&refusals, 0);
    require_status(haft_table_free(fixture.table, id), HAFT_OK, "freeing");
}

static void tear_down_borrow_inside(void)
{
    require(peek(&reclaims) != 0, "no callback has run");
    tear_down();
}

static void borrow_inside_body(uint32_t thread)
{
    if (thread == 0) {
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    }
    race_begin();
    live_once();
    live_once();
    race_end();
}

const struct explored_case borrow_inside_case = {
    .name = "borrow_inside",
    .invariant = "a callback borrows another worker than the one that takes its slot back",
    .threads = 2,
    .set_up = set_up_borrow_inside,
    .body = borrow_inside_body,
    .tear_down = tear_down_borrow_inside,
};

/*
 * --- listed: two free and give up, and one searches; it passes no duty point, so the search must
 * collect from the lists ---
 */

static haft_id ids[2];

static void set_up_listed(void)
{
    const struct table_wish wish = {.capacity = 1, .generation_bits = 4};

    open_table(&wish);
    worker = open_worker();
    for (int i = 0; i < 2; i++) {
        require_status(haft_reserve(worker, &ids[i], NULL), HAFT_OK, "reserving");
    }
    haft_publish(worker, ids[0]);
}

static void listed_body(uint32_t thread)
{
    haft_id own;

    race_begin();
    if (thread == 0) {
        require_status(haft_table_free(fixture.table, ids[0]), HAFT_OK, "freeing");
    } else if (thread == 1) {
        haft_abort_unregistered(fixture.table, ids[1]);
    } else if (haft_insert(worker, NULL, &own) == HAFT_OK) {
        require_status(haft_table_free(fixture.table, own), HAFT_OK, "freeing");
    }
    race_end();
}

static void tear_down_listed(void)
{
    haft_status status = HAFT_BUSY;
    uint32_t found = 0;

    require_census(fixture.table);
    for (int i = 0; i < 6 && found != 2; i++) {
        status = haft_insert(worker, NULL, &ids[found]);
        found += status == HAFT_OK;
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    }
    require(found == 2, "a slot in a list is not found by a search");
    close_worker(worker);
    close_table();
}

const struct explored_case listed_case = {
    .name = "listed",
    .invariant = "slots that were freed or given up without a worker are found by a search",
    .threads = 3,
    .set_up = set_up_listed,
    .body = listed_body,
    .tear_down = tear_down_listed,
};
