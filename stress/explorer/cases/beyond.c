/* Objects held by quiescent points of the workers clock, and by pins. */
#include "stress/explorer/cases/case.h"
#include "stress/explorer/scheduler.h"
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
    open_with(&(struct table_wish){.capacity = 1, .is_workers = true});
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

EXPLORE(workers_clock, 2, set_up_workers_clock, workers_clock_body, close_table,
        "an object stays the id's own until its reader's next quiescent point");

/* --- waiter: a thread without a worker adds up what members announce, as one comes online --- */

/* A ticket is to be waited for, and the only member is away. */
static void set_up_waiter(void)
{
    open_with(&(struct table_wish){.capacity = 2, .is_workers = true});
    require_status(haft_free(worker, insert_stamped(worker)), HAFT_OK, "freeing");
    close_worker(worker);
}

static void waiter_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    } else {
        haft_worker *own = open_worker();
        const struct object *object = haft_resolve(fixture.view, id);
        haft_id next;

        require_status(haft_free(own, id), HAFT_OK, "freeing");
        while (haft_insert(own, NULL, &next) == HAFT_OK) {
            require(is_stamped(object, id),
                    "an object is written again while its reader is online");
        }
        close_worker(own);
    }
    race_end();
}

static void tear_down_waiter(void)
{
    haft_table_clear(fixture.table);
    close_table();
}

EXPLORE(waiter, 2, set_up_waiter, waiter_body, tear_down_waiter,
        "a look at the members ends no section that began after it");

/*
 * --- offline: a reader lets go, and is online again at once, while another waits for it ---
 */

static uint64_t used; /* plain: by the reader, then by the thread that has waited */

/* 1: the reader is online, 2: there is a ticket that it has not announced. */
static shared_u64 turns;

static void set_up_offline(void)
{
    set_up_workers_clock();
    used = 0;
    poke(&turns, 0);
}

static void await_turn(uint64_t turn)
{
    while (peek(&turns) < turn) {
        schedule_yield();
    }
}

static void offline_body(uint32_t thread)
{
    haft_worker *own = open_worker();

    if (thread == 0) {
        await_turn(1);
        require_status(haft_free(own, id), HAFT_OK, "freeing");
        haft_worker_flush(own);
        haft_thread_offline(fixture.domain); /* coming online again would order as well */
        poke(&turns, 2);
        race_begin();
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
        used = 1;
    } else {
        poke(&turns, 1);
        await_turn(2);
        race_begin();
        require(used == 0, "a wait has ended while a section was open that it is for");
        haft_thread_offline(fixture.domain);
        haft_thread_online(fixture.domain);
    }
    race_end();
    close_worker(own);
}

EXPLORE(offline, 2, set_up_offline, offline_body, close_table,
        "what a reader did before it went offline comes before the end of the wait for it");

/* --- arrive: a reader comes online, and shares nothing with the writer but the clock --- */

static haft_table *beside; /* where the reader has its worker */

static void open_beside(void)
{
    const haft_table_options options = {.capacity = 1, .layout = {3, 2, 0, 0}};

    require_status(haft_table_open(fixture.domain, &options, &beside), HAFT_OK,
                   "opening another table");
}

static void set_up_arrive(void)
{
    set_up_workers_clock();
    open_beside();
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

EXPLORE(arrive, 2, set_up_arrive, arrive_body, tear_down_arrive,
        "a thread that comes online and resolves is waited for, whatever else others know of it");

/*
 * --- given_up: one closes a worker, one takes it over and has no memory, one comes after that ---
 */

static void set_up_given_up(void)
{
    open_table(&(struct table_wish){.capacity = 1, .is_workers = true});
    open_beside();
}

static void given_up_body(uint32_t thread)
{
    haft_worker *own;
    haft_worker *another; /* keeps the thread on the domain: what it leaves cannot be taken over */

    if (thread == 0) {
        require_status(haft_worker_open(beside, &another), HAFT_OK, "opening a worker");
        own = open_worker();
        race_begin();
        close_worker(own);
        race_end();
        close_worker(another);
        return;
    }
    race_begin();
    refuse_memory(thread == 1);
    const haft_status status = haft_worker_open(fixture.table, &own);

    refuse_memory(false);
    race_end();
    require(thread == 1 || status == HAFT_OK, "an odd answer");
    if (status == HAFT_OK) {
        close_worker(own);
    }
}

EXPLORE(given_up, 3, set_up_given_up, given_up_body, tear_down_arrive,
        "a worker that is given up for want of memory is its next owner's in its last state");

/* --- pin: one thread holds the object beyond its section --- */

static void set_up_pin(void)
{
    open_with(&(struct table_wish){.capacity = 1, .has_pins = true});
}

static void hold_beside(uint32_t others)
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
        require(haft_pins(fixture.table, id) - 1 <= others, "one pin is counted as one");
    }
    if (!haft_is_live(fixture.view, id)) {
        met();
    }
    haft_unpin(fixture.table, id);
}

static void hold(void)
{
    hold_beside(0);
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

EXPLORE(pin, 2, set_up_pin, pin_body, tear_down_pin,
        "a pinned object keeps its memory beyond its free and its section, and no longer");

/*
 * --- unpinned: one frees and finds a pin, one gives it back and has the slot, one only reads ---
 */

static void set_up_unpinned(void)
{
    open_with(&(struct table_wish){.capacity = 1, .has_pins = true});
}

static void free_pinned(void)
{
    require_status(haft_free(worker, id), HAFT_OK, "freeing");
    require_status(haft_worker_flush(worker), HAFT_OK, "flushing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    require_status(haft_worker_quiescent(worker), HAFT_OK, "a quiescent point");
}

/* Whatever slots are to be had. */
static void hold_and_reuse(uint32_t others)
{
    hold_beside(others);
    haft_worker *own = open_worker();
    void *object;
    haft_id next;

    for (int i = 0; i < 2 && haft_reserve(own, &next, &object) == HAFT_OK; i++) {
        stamp(object, next);
        haft_publish(own, next);
    }
    close_worker(own);
}

static void unpinned_body(uint32_t thread)
{
    if (thread == 0) {
        free_pinned();
    } else if (thread == 1) {
        hold_and_reuse(0);
    } else {
        look_at(id);
    }
}

EXPLORE(unpinned, 3, set_up_unpinned, unpinned_body, tear_down_pin,
        "the thread that gives the last pin back knows that all sections have ended that "
        "had the object");

/* --- last_pin: two hold it, and the last one has the slot --- */

static void last_pin_body(uint32_t thread)
{
    if (thread == 0) {
        free_pinned();
    } else if (thread == 1) {
        hold_and_reuse(1);
    } else {
        hold_beside(1);
    }
}

EXPLORE(last_pin, 3, set_up_unpinned, last_pin_body, tear_down_pin,
        "the thread that gives the last pin back reuses the slot after the use under the others");
