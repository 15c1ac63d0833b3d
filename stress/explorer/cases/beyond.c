/* Objects held by quiescent points of the workers clock, and by pins. */
#include "stress/explorer/cases/case.h"
#include <haft/pin.h>
#include <stddef.h>

static haft_id id;
static haft_worker *worker;

static void open_with(const struct table_wish *wish)
{
    open_table(wish);
    worker = open_worker();
    id = insert_stamped(worker);
}

/* There are two slots: the second insertion is into the first again. */
static void free_and_reuse(haft_worker *own)
{
    haft_id next = id;

    for (int i = 0; i < 2; i++) {
        require_status(haft_free(own, next), HAFT_OK, "freeing");
        next = insert_stamped(own);
    }
}

/* --- workers_clock: sections last from one quiescent point to the next --- */

static void set_up_workers_clock(void)
{
    const struct table_wish wish = {.capacity = 1, .is_workers = true};

    open_with(&wish);
    close_worker(worker);
}

static void workers_clock_body(uint32_t thread)
{
    haft_worker *own = open_worker();

    race_begin();
    if (thread == 0) {
        free_and_reuse(own);
    } else {
        look_at(id);
        require_status(haft_worker_quiescent(own), HAFT_OK, "a quiescent point");
        look_at(id);
    }
    race_end();
    close_worker(own);
}

const struct explored_case workers_clock_case = {
    .name = "workers_clock",
    .invariant = "an object stays the id's own until its reader's next quiescent point",
    .threads = 2,
    .set_up = set_up_workers_clock,
    .body = workers_clock_body,
    .tear_down = close_table,
};

/* --- arrive: a reader comes online, and shares nothing with the writer but the clock --- */

static haft_table *beside; /* where the reader has its worker */

static void set_up_arrive(void)
{
    const haft_table_options options = {.capacity = 1, .layout = {3, 2, 0}};

    set_up_workers_clock();
    require_status(haft_table_open(fixture.domain, &options, &beside), HAFT_OK,
                   "opening another table");
}

static void arrive_body(uint32_t thread)
{
    haft_worker *own;

    race_begin();
    if (thread == 0) {
        require_status(haft_worker_open(beside, &own), HAFT_OK, "opening a worker");
        look_at(id);
    } else {
        own = open_worker();
        free_and_reuse(own);
    }
    race_end();
    close_worker(own);
}

static void tear_down_arrive(void)
{
    require_status(haft_table_close(beside), HAFT_OK, "closing the other table");
    close_table();
}

const struct explored_case arrive_case = {
    .name = "arrive",
    .invariant = "who comes online and resolves is waited for, whatever else others know of it",
    .threads = 2,
    .set_up = set_up_arrive,
    .body = arrive_body,
    .tear_down = tear_down_arrive,
};

/* --- pin: one thread holds the object beyond its section --- */

static void set_up_pin(void)
{
    const struct table_wish wish = {.capacity = 1, .has_pins = true};

    open_with(&wish);
}

static void hold(void)
{
    haft_section_begin(fixture.domain);
    const struct object *object = haft_pin(fixture.table, id);

    haft_section_end(fixture.domain);
    if (object == NULL) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        require(object->id == id.bits && object->canary == ~id.bits,
                "a pinned object is written again");
        require(haft_pins(fixture.table, id) == 1, "one pin is counted as one");
    }
    if (!haft_is_live(fixture.view, id)) {
        met();
    }
    haft_unpin(fixture.table, id);
}

static void pin_body(uint32_t thread)
{
    if (thread == 0) {
        free_and_reuse(worker);
    } else {
        hold();
    }
}

static void tear_down_pin(void)
{
    close_worker(worker);
    close_table();
}

const struct explored_case pin_case = {
    .name = "pin",
    .invariant = "a pinned object keeps its memory beyond its free and its section, and no longer",
    .threads = 2,
    .set_up = set_up_pin,
    .body = pin_body,
    .tear_down = tear_down_pin,
};
