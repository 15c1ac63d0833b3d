/*
 * A fork, at every step of the other threads: the child goes on with what they leave.
 *
 * The last thread of each case forks; the others stop for good where they are.  The child's clock
 * is the frame clock, or the workers clock.
 */
#include "concurrent/table/roster.h"
#include "stress/explorer/cases/case.h"
#include <haft/memory.h>
#include <haft/pin.h>
#include <haft/share.h>
#include <haft/table.h>
#include <haft/threads.h>
#include <stddef.h>

#define MOST_IDS 256 /* ids are below: 3 bits of index, 5 of generation */
#define FORKER 2

static haft_worker *workers[2];
static haft_id ids[3];
static shared_u64 reclaims[MOST_IDS]; /* of each id */
static shared_u64 freed[MOST_IDS];    /* 1: some thread was told so */
static bool begun[MOST_IDS];          /* on a thread that is gone, perhaps before it counted */
static uint64_t pinned;               /* objects that threads have left with a pin */

static void count_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)worker;
    (void)arg;
    require(((struct object *)object)->id == id.bits, "on_reclaim gets another id's object");
    require(add(&reclaims[id.bits], 1) == 0, "on_reclaim runs twice for an id");
}

static void clear(void)
{
    for (int i = 0; i < MOST_IDS; i++) {
        poke(&reclaims[i], 0);
        poke(&freed[i], 0);
        begun[i] = false;
    }
    pinned = 0;
}

static void open_with(struct table_wish wish, uint32_t objects)
{
    wish.generation_bits = 5;
    clear();
    open_table(&wish);
    for (int i = 0; i < 2; i++) {
        workers[i] = open_worker();
    }
    for (uint32_t i = 0; i < objects; i++) {
        ids[i] = insert_stamped(workers[i % 2]);
    }
}

/* A thread that does not fork comes to its end. */
static void end_actor(void)
{
    race_end();
    end_before_fork();
}

/* --- the child --- */

static void let_grace_pass(haft_worker *worker)
{
    require_status(haft_worker_flush(worker), HAFT_OK, "flushing");
    if (haft_domain_tick(fixture.domain) == HAFT_WRONG_CLOCK) {
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    }
    require_status(haft_worker_quiescent(worker), HAFT_OK, "a quiescent point");
}

/* An object, whatever grace periods that takes.  False: the table is full. */
static bool insert_one(haft_worker *worker)
{
    haft_status status = HAFT_BUSY;
    haft_id id;
    void *object;

    for (int i = 0; i < 8 && status == HAFT_BUSY; i++) {
        status = haft_reserve(worker, &id, &object);
        if (status == HAFT_BUSY) {
            let_grace_pass(worker);
        }
    }
    require(status == HAFT_OK || status == HAFT_FULL, "the child finds no slot");
    if (status == HAFT_OK) {
        stamp(object, id);
        haft_publish(worker, id);
    }
    return status == HAFT_OK;
}

/* Each slot that the others have left can be used. */
static void use_all(haft_worker *worker)
{
    const haft_table_stats stats = haft_table_stats_get(fixture.table);
    uint64_t taken = stats.live + stats.reserved + pinned;

    while (insert_one(worker)) {
        taken++;
    }
    require(taken >= stats.capacity, "a slot is lost to the child");
}

/* White-box: callbacks that had begun do not begin again. */
static void look_at_callbacks(void)
{
    for (haft_worker *worker = roster_first(fixture.table); worker != NULL; worker = worker->next) {
        begun[load_relaxed(OWN, &worker->in_hand)] = true;
    }
    pinned = fixture.table->slots.has_pins && haft_pins(fixture.table, ids[0]) != 0 &&
             !haft_is_live(fixture.view, ids[0]);
}

static haft_worker *fork_now(void)
{
    haft_worker *own = open_worker();

    race_begin();
    fork_here(look_at_callbacks);
    race_end();
    require_census(fixture.table);
    let_grace_pass(own);
    use_all(own);
    require_census(fixture.table);
    return own;
}

static void run_forker(void)
{
    close_worker(fork_now());
}

/* Free; from now on on_reclaim is to run for the id, if that had not begun. */
static void free_one(haft_worker *worker, haft_id id)
{
    const haft_status status =
        worker != NULL ? haft_free(worker, id) : haft_table_free(fixture.table, id);

    if (status == HAFT_OK) {
        poke(&freed[id.bits], 1);
    }
}

/* The main thread: the workers that it has opened are closed in the child. */
static void tear_down(void)
{
    const bool calls_back = fixture.table->on_reclaim != NULL;

    close_table();
    for (uint32_t i = 0; calls_back && i < MOST_IDS; i++) {
        require(peek(&freed[i]) == 0 || begun[i] || peek(&reclaims[i]) == 1,
                "on_reclaim does not run for a freed id");
    }
}

/* --- fork: one frees and takes back, one searches --- */

static void set_up_fork(void)
{
    open_with((struct table_wish){.capacity = 2, .on_reclaim = count_reclaim}, 2);
}

static void go_on(uint32_t thread)
{
    haft_worker *own = workers[thread];

    race_begin();
    free_one(own, ids[thread]);
    haft_worker_flush(own);
    haft_domain_wait(fixture.domain);
    haft_worker_quiescent(own);
    insert_stamped(own);
    end_actor();
}

static void fork_body(uint32_t thread)
{
    if (thread == FORKER) {
        run_forker();
    } else {
        go_on(thread);
    }
}

const struct explored_case fork_case = {
    .name = "fork",
    .invariant = "a child finds all slots that threads had in hand, and no callback runs twice",
    .threads = 3,
    .set_up = set_up_fork,
    .body = fork_body,
    .tear_down = tear_down,
};

/* --- fork_workers: the same with the workers clock --- */

static void set_up_fork_workers(void)
{
    const struct table_wish wish = {.capacity = 2, .is_workers = true, .on_reclaim = count_reclaim};

    open_with(wish, 1);
    close_worker(workers[0]);
    close_worker(workers[1]);
}

static void fork_workers_body(uint32_t thread)
{
    haft_worker *own;
    haft_id id;
    void *object;

    if (thread == FORKER) {
        run_forker();
        return;
    }
    own = open_worker();
    race_begin();
    if (thread == 0) {
        free_one(own, ids[0]);
        haft_worker_quiescent(own);
    }
    if (haft_reserve(own, &id, &object) == HAFT_OK) {
        stamp(object, id);
        haft_publish(own, id);
        free_one(own, id);
    }
    close_worker(own);
    end_actor();
}

const struct explored_case fork_workers_case = {
    .name = "fork_workers",
    .invariant = "a child counts the objects, whatever calls were under way",
    .threads = 3,
    .set_up = set_up_fork_workers,
    .body = fork_workers_body,
    .tear_down = tear_down,
};

/* --- fork_lists: slots on their way into the lists, and out of them --- */

static void set_up_fork_lists(void)
{
    open_with((struct table_wish){.capacity = 3, .on_reclaim = count_reclaim}, 3);
}

static void fork_lists_body(uint32_t thread)
{
    if (thread == FORKER) {
        run_forker();
        return;
    }
    race_begin();
    free_one(NULL, ids[thread]);
    if (thread == 0) {
        free_one(NULL, ids[2]);
    } else {
        haft_worker_quiescent(workers[1]);
    }
    end_actor();
}

const struct explored_case fork_lists_case = {
    .name = "fork_lists",
    .invariant = "a child finds slots that were half in a list, and takes them back",
    .threads = 3,
    .set_up = set_up_fork_lists,
    .body = fork_lists_body,
    .tear_down = tear_down,
};

/*
 * --- fork_given_up: reservations on their way into their list, beside a list of freed slots; no
 * callback is for the former ---
 */

static haft_id reserved[2];

static void set_up_fork_given_up(void)
{
    open_with((struct table_wish){.capacity = 2, .on_reclaim = count_reclaim}, 2);
    for (int i = 0; i < 2; i++) {
        require_status(haft_reserve(workers[i], &reserved[i], NULL), HAFT_OK, "reserving");
    }
    for (int i = 0; i < 2; i++) {
        free_one(NULL, ids[i]); /* after the last search, which would collect it */
    }
}

static void fork_given_up_body(uint32_t thread)
{
    if (thread == FORKER) {
        run_forker();
        return;
    }
    race_begin();
    haft_abort_unregistered(fixture.table, reserved[thread]);
    end_actor();
}

const struct explored_case fork_given_up_case = {
    .name = "fork_given_up",
    .invariant = "a child runs no callback for a reservation that was being given up",
    .threads = 3,
    .set_up = set_up_fork_given_up,
    .body = fork_given_up_body,
    .tear_down = tear_down,
};

/* --- fork_pins: the last pin goes, while the slot is taken back --- */

static void set_up_fork_pins(void)
{
    const struct table_wish wish = {.capacity = 1, .has_pins = true, .on_reclaim = count_reclaim};

    open_with(wish, 1);
    haft_section_begin(fixture.domain);
    require(haft_pin(fixture.table, ids[0]) != NULL, "no pin");
    haft_section_end(fixture.domain);
}

static void fork_pins_body(uint32_t thread)
{
    haft_worker *own = workers[0];

    if (thread == FORKER) {
        haft_worker *worker = fork_now();

        haft_unpin(fixture.table, ids[0]); /* as the thread that is gone would */
        close_worker(worker);
        return;
    }
    race_begin();
    if (thread == 0) {
        free_one(own, ids[0]);
        haft_worker_flush(own);
        haft_domain_wait(fixture.domain);
        haft_worker_quiescent(own);
    } else {
        haft_unpin(fixture.table, ids[0]);
        haft_worker_quiescent(workers[1]);
    }
    end_actor();
}

const struct explored_case fork_pins_case = {
    .name = "fork_pins",
    .invariant = "a child takes a slot back once its last pin is gone, wherever that was met",
    .threads = 3,
    .set_up = set_up_fork_pins,
    .body = fork_pins_body,
    .tear_down = tear_down,
};

/* --- fork_trim: memory is given back --- */

/* Memory in pages, of which each slot has eight. */
static void set_up_fork_trim(void)
{
    open_with((struct table_wish){.capacity = 2, .object_size = 32760}, 2);
    for (int i = 0; i < 2; i++) {
        require_status(haft_free(workers[0], ids[i]), HAFT_OK, "freeing");
    }
    require_status(haft_worker_flush(workers[0]), HAFT_OK, "flushing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
}

static void fork_trim_body(uint32_t thread)
{
    if (thread == FORKER) {
        run_forker();
        require_status(haft_trim(fixture.table, NULL), HAFT_OK, "trimming in the child");
        return;
    }
    race_begin();
    if (thread == 0) {
        haft_trim(fixture.table, NULL);
    } else {
        insert_stamped(workers[1]);
    }
    end_actor();
}

const struct explored_case fork_trim_case = {
    .name = "fork_trim",
    .invariant = "a child finds the slots that were being trimmed",
    .threads = 3,
    .set_up = set_up_fork_trim,
    .body = fork_trim_body,
    .tear_down = tear_down,
};

/* --- fork_shared: slots of a local table, on their way to workers --- */

static void on_destroy(void *object, haft_id id, void *arg)
{
    (void)arg;
    require(is_stamped(object, id), "an object ends that is another id's");
    require(add(&reclaims[id.bits], 1) == 0, "an object ends twice");
}

static void set_up_fork_shared(void)
{
    const haft_local_options options = {
        .capacity = 4,
        .object_size = sizeof(struct object),
        .layout = {3, 5, 0, 0},
        .on_destroy = on_destroy,
    };
    haft_local *local;
    haft_id listed[4];

    clear();
    require_status(haft_local_open(&options, &local), HAFT_OK, "opening a local table");
    for (int i = 0; i < 4; i++) {
        listed[i] = insert_local(local);
    }
    for (int i = 0; i < 3; i++) {
        require_status(haft_local_free(local, listed[i]), HAFT_OK, "freeing");
    }
    open_shared(local);
    workers[0] = open_worker();
    workers[1] = open_worker();
    ids[0] = listed[3];
}

static void fork_shared_body(uint32_t thread)
{
    haft_id own;
    void *object;

    if (thread == FORKER) {
        run_forker();
        return;
    }
    race_begin();
    if (haft_reserve(workers[thread], &own, &object) == HAFT_OK) {
        stamp(object, own);
        haft_publish(workers[thread], own);
        haft_table_free(fixture.table, thread == 0 ? ids[0] : own);
    }
    end_actor();
}

static void tear_down_plain(void)
{
    close_table();
}

const struct explored_case fork_shared_case = {
    .name = "fork_shared",
    .invariant = "a child finds the slots of a local table that workers had taken",
    .threads = 3,
    .set_up = set_up_fork_shared,
    .body = fork_shared_body,
    .tear_down = tear_down_plain,
};
