/* White-box: a thread that guesses an id before it is published: nothing else orders it after the
 * writes. */
#include "concurrent/worker/budget.h"
#include "concurrent/worker/worker_batches.h"
#include "concurrent/worker/worker_list.h"
#include "stress/explorer/cases/case.h"
#include <haft/detail/table_front.h>
#include <haft/table.h>
#include <haft/view.h>
#include <stddef.h>

static haft_worker *worker;
static haft_id id;    /* of the next life of a slot that has lived once */
static haft_ref ref;  /* to it, from before as well */
static uint64_t note; /* plain: only the publication orders it */

static void set_up(void)
{
    open_table(&(struct table_wish){.capacity = 1});
    worker = open_worker();
    const haft_id before = insert_stamped(worker);

    ref = haft_ref_of(fixture.view, before);
    require_status(haft_free(worker, before), HAFT_OK, "freeing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    id = haft_id_pack(fixture.layout, haft_id_index(fixture.layout, before),
                      haft_id_generation(fixture.layout, before) + 1, 0);
    ref.id = id;
    note = 0;
}

static void body(uint32_t thread)
{
    if (thread == 0) {
        require(haft_id_equal(insert_stamped(worker), id), "the slot's next life");
    } else if (look_at(id)) {
        met();
    }
}

static void tear_down(void)
{
    close_worker(worker);
    close_table();
}

EXPLORE(publish, 3, set_up, body, tear_down,
        "a thread that resolves an id sees all that was written before it was published");

/* --- insert_many: the same by the call for many --- */

static void read_it(void)
{
    if (look_at(id)) {
        met();
    }
}

static void insert_many_body(uint32_t thread)
{
    struct object object;
    haft_id own = HAFT_NIL;

    if (thread == 0) {
        stamp(&object, id);
        require(haft_insert_many(worker, &object, &own, 1, NULL) == 1, "the slot's next life");
    } else {
        read_it();
    }
}

EXPLORE(insert_many, 2, set_up, insert_many_body, tear_down,
        "a thread that resolves an id of many sees the object that it was inserted with");

/* --- is_live: a thread that asks sees all that was done before --- */

/* By each call that tells. */
static bool is_said_live(uint32_t thread)
{
    haft_id found;

    switch (thread) {
    case 1:
        return haft_is_live(fixture.view, id);
    case 2:
        return haft_ref_is_live(ref);
    case 3:
        return haft_diagnose(fixture.table, id) == HAFT_OK;
    default:
        return haft_id_at(fixture.table, haft_id_index(fixture.layout, id), &found) == HAFT_OK;
    }
}

static void is_live_body(uint32_t thread)
{
    if (thread == 0) {
        note = 1;
        insert_stamped(worker);
        return;
    }
    if (is_said_live(thread)) {
        require(note == 1, "an id is live, and what came before is not visible");
        met();
    }
}

EXPLORE(is_live, 5, set_up, is_live_body, tear_down,
        "a thread that is told that an id is live sees all that was done before it was published");

/* --- freed_unread: a thread frees an object that it never looked at, and has its slot next --- */

static void freed_unread_body(uint32_t thread)
{
    if (thread == 0) {
        insert_stamped(worker);
        return;
    }
    haft_worker *own = open_worker();

    if (haft_free(own, id) == HAFT_OK) {
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
        insert_stamped(own);
        met();
    }
    close_worker(own);
}

EXPLORE(freed_unread, 2, set_up, freed_unread_body, tear_down,
        "the next object of a slot is written after the last one, whichever thread freed that");

/* --- freed_unread_front: the same by a free in place --- */

static void freed_unread_front_body(uint32_t thread)
{
    if (thread == 0) {
        insert_stamped(worker);
        return;
    }
    haft_worker *own = open_worker();

    worker_set_batch_limit(own, 2); /* else each free is a call */
    if (haft_free_front(own, fixture.view, id) == HAFT_OK) {
        require_status(haft_worker_flush(own), HAFT_OK, "flushing");
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
        insert_stamped(own);
        met();
    }
    worker_set_batch_limit(own, 1);
    close_worker(own);
}

EXPLORE(freed_unread_front, 2, set_up, freed_unread_front_body, tear_down,
        "the same, by a free in place");

/* --- publish_front: an id is guessed that is inserted in place, as typed tables do --- */

/* Two slots that have lived once; the second one stays in the worker's hands. */
static void set_up_front(void)
{
    const struct table_wish wish = {.capacity = 2};
    haft_id ids[2];

    open_table(&wish);
    worker = open_worker();
    ids[0] = insert_stamped(worker);
    ids[1] = insert_stamped(worker);
    worker_set_batch_limit(worker, 3);
    for (int i = 0; i < 2; i++) {
        require_status(haft_free(worker, ids[i]), HAFT_OK, "freeing");
    }
    require_status(haft_worker_flush(worker), HAFT_OK, "flushing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    insert_stamped(worker);
    id = haft_id_pack(fixture.layout, *filling_next(worker), 2, 0);
}

static void front_body(uint32_t thread)
{
    struct object object;
    haft_id own = HAFT_NIL;

    if (thread == 0) {
        stamp(&object, id);
        require_status(haft_insert_front(worker, fixture.view, &object, sizeof object, &own),
                       HAFT_OK, "inserting");
        require(haft_id_equal(own, id), "the slot's next life");
    } else {
        read_it();
    }
}

static void tear_down_front(void)
{
    worker_set_batch_limit(worker, 1);
    tear_down();
}

EXPLORE(publish_front, 3, set_up_front, front_body, tear_down_front,
        "a thread that resolves an id sees all that was written before its insertion in place");
