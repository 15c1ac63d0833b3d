/*
 * A table that is cleared beside other threads: each object ends once, after its readers, and no
 * object lives in a table that has been cleared.
 */
#include "stress/explorer/cases/case.h"

#define OBJECTS 3 /* the first is freed, the second read, the last inserted meanwhile */

static haft_id ids[OBJECTS];
static shared_u64 ends[OBJECTS]; /* calls of on_reclaim for each */
static shared_u64 has_last;      /* the last was inserted */
static bool is_cleared;

static void end_object(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct object *ended = object;

    (void)arg;
    require(worker != NULL, "on_reclaim without a worker");
    require(is_stamped(ended, id), "an object ends that is another id's");
    for (int i = 0; i < OBJECTS; i++) {
        if (haft_id_equal(ids[i], id)) {
            require(add(&ends[i], 1) == 0, "an object ends twice");
        }
    }
    *ended = (struct object){0, 0};
}

static void set_up_clear(void)
{
    open_table(&(struct table_wish){.capacity = OBJECTS, .on_reclaim = end_object});
    haft_worker *worker = open_worker();

    for (int i = 0; i < OBJECTS; i++) {
        ids[i] = HAFT_NIL;
        poke(&ends[i], 0);
    }
    ids[0] = insert_stamped(worker);
    ids[1] = insert_stamped(worker);
    poke(&has_last, 0);
    is_cleared = false;
    close_worker(worker);
}

static void clear(void)
{
    const haft_status status = haft_table_clear(fixture.table);

    require(status == HAFT_OK || status == HAFT_IN_USE, "an odd answer");
    is_cleared = status == HAFT_OK;
    for (int i = 0; i < OBJECTS && is_cleared; i++) {
        require(peek(&ends[i]) == (i < 2 || peek(&has_last)), "cleared, and not all have ended");
    }
}

static void tear_down_clear(void)
{
    require_status(haft_table_clear(fixture.table), HAFT_OK, "clearing");
    for (int i = 0; i < OBJECTS; i++) {
        require(peek(&ends[i]) == (i < 2 || peek(&has_last)), "an object has not ended, or twice");
        require(!haft_is_live(fixture.view, ids[i]), "an object lives on");
    }
    close_table();
}

/* --- clear: beside a free and a reader --- */

static void clear_body(uint32_t thread)
{
    if (thread == 1) {
        look_at(ids[0]);
        return;
    }
    race_begin();
    if (thread == 0) {
        const haft_status status = haft_table_free(fixture.table, ids[0]);

        require(status == HAFT_OK || status == HAFT_STALE, "an odd answer");
    } else {
        clear();
    }
    race_end();
}

EXPLORE(clear, 3, set_up_clear, clear_body, tear_down_clear,
        "a clear ends each object once, beside frees and after readers");

/* --- clear_opening: beside a worker that is opened, inserts and is closed --- */

static void visit(void)
{
    haft_worker *worker;
    haft_id id;
    void *object;

    if (haft_worker_open(fixture.table, &worker) != HAFT_OK) {
        require_status(haft_worker_open(fixture.table, &worker), HAFT_CLOSED, "opening");
        return;
    }
    if (haft_reserve(worker, &id, &object) == HAFT_OK) {
        stamp(object, id);
        ids[2] = id;
        poke(&has_last, 1);
        haft_publish(worker, id);
    }
    close_worker(worker);
}

static void clear_opening_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        visit();
    } else {
        clear();
    }
    race_end();
}

EXPLORE(clear_opening, 2, set_up_clear, clear_opening_body, tear_down_clear,
        "no worker is open in a table that has been cleared, and none is opened");
