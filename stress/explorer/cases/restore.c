/* Threads restore into one slot that has lived before. */
#include "stress/explorer/cases/case.h"
#include <haft/share.h>

static haft_worker *workers[3];
static shared_u64 restored;

static haft_id id_of(uint64_t generation)
{
    return haft_id_pack(fixture.layout, HAFT_FIRST_INDEX, generation, 0);
}

/* The former object's last use. */
static void on_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    const struct object *former = object;

    (void)worker;
    (void)arg;
    require(former->id == id.bits && former->canary == ~id.bits, "an object is written too early");
}

static void set_up(void)
{
    const struct table_wish wish = {.capacity = 1, .restore_range = 1, .on_reclaim = on_reclaim};

    open_table(&wish);
    workers[0] = open_worker();
    workers[1] = open_worker();
    const struct object first = {id_of(1).bits, ~id_of(1).bits};

    require_status(haft_restore(workers[0], id_of(1), &first), HAFT_OK, "restoring first");
    require_status(haft_free(workers[0], id_of(1)), HAFT_OK, "freeing");
    require_status(haft_worker_flush(workers[0]), HAFT_OK, "flushing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    poke(&restored, 0);
}

/* The first finds the slot to be taken back, and so may the second. */
static void body(uint32_t thread)
{
    const haft_id id = id_of(2 + thread);
    const struct object object = {id.bits, ~id.bits};

    race_begin();
    const haft_status status = haft_restore(workers[thread], id, &object);

    race_end();
    if (status == HAFT_OK) {
        require(look_at(id), "the restored object is not there");
        add(&restored, 1);
    } else {
        /* BUSY: the other has the batch that the slot is in. */
        require(status == HAFT_OCCUPIED || status == HAFT_BUSY, "an odd answer");
    }
}

static void tear_down(void)
{
    require(peek(&restored) == 1, "of two threads that restore into a slot, one succeeds");
    require(haft_is_live(fixture.view, id_of(2)) != haft_is_live(fixture.view, id_of(3)),
            "a slot has one object");
    close_worker(workers[0]);
    close_worker(workers[1]);
    close_table();
}

const struct explored_case restore_case = {
    .name = "restore",
    .invariant = "of two threads that restore into a slot, one succeeds, after its last use",
    .threads = 2,
    .set_up = set_up,
    .body = body,
    .tear_down = tear_down,
};

/*
 * --- restore_full: one takes the slot back, one restores into it and finds the table full, one
 * makes room and restores after that.  What is refused may not be seen by the other ---
 */

static haft_id other; /* all that there is room for */
static haft_status statuses[3];

static haft_status restore_as(uint32_t thread)
{
    const haft_id id = id_of(1 + thread);
    const struct object object = {id.bits, ~id.bits};

    return haft_restore(workers[thread], id, &object);
}

static void set_up_restore_full(void)
{
    const struct table_wish wish = {.capacity = 1, .restore_range = 1, .on_reclaim = on_reclaim};

    open_table(&wish);
    for (int i = 0; i < 3; i++) {
        workers[i] = open_worker();
    }
    const struct object first = {id_of(1).bits, ~id_of(1).bits};

    require_status(haft_restore(workers[0], id_of(1), &first), HAFT_OK, "restoring first");
    require_status(haft_free(workers[0], id_of(1)), HAFT_OK, "freeing");
    other = insert_stamped(workers[2]);
    require_status(haft_worker_flush(workers[0]), HAFT_OK, "flushing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
}

static void restore_full_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        require_status(haft_worker_quiescent(workers[0]), HAFT_OK, "a quiescent point");
    } else if (thread == 1) {
        statuses[1] = restore_as(1);
    } else {
        require_status(haft_free(workers[2], other), HAFT_OK, "freeing");
        statuses[2] = restore_as(2);
    }
    race_end();
}

static void tear_down_restore_full(void)
{
    if (statuses[1] != HAFT_OK) {
        require(statuses[2] != HAFT_OCCUPIED, "a slot is said to be occupied by a refused id");
        require(statuses[2] != HAFT_FULL, "a table is said to be full of refused ids");
    }
    require(statuses[1] != HAFT_OCCUPIED || statuses[2] == HAFT_OK,
            "a slot is said to be occupied by a refused id");
    for (int i = 0; i < 3; i++) {
        close_worker(workers[i]);
    }
    close_table();
}

const struct explored_case restore_full_case = {
    .name = "restore_full",
    .invariant = "an object that is refused for want of room takes neither its slot nor a place",
    .threads = 3,
    .set_up = set_up_restore_full,
    .body = restore_full_body,
    .tear_down = tear_down_restore_full,
};
