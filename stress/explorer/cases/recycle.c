/* Slots that have lived their last life are used again while another thread uses them up. */
#include "stress/explorer/cases/case.h"
#include <haft/memory.h>
#include <stddef.h>

static haft_worker *workers[2];

/* One life for each slot. */
static void set_up(void)
{
    const struct table_wish wish = {.capacity = 1, .generation_bits = 1};

    open_table(&wish);
    workers[0] = open_worker();
    workers[1] = open_worker();
}

/* One is given up, one is freed; both were written before. */
static void use_up(void)
{
    haft_id id;
    void *object;

    require_status(haft_reserve(workers[0], &id, &object), HAFT_OK, "reserving");
    stamp(object, id);
    haft_abort(workers[0], id);
    require_status(haft_free(workers[0], insert_stamped(workers[0])), HAFT_OK, "freeing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    haft_reserve(workers[0], &id, NULL); /* in vain, if the other was not there yet */
}

static void use_again(void)
{
    haft_id id;
    void *object;
    uint64_t recycled = 0;

    require_status(haft_recycle_exhausted(fixture.table, &recycled), HAFT_OK, "recycling");
    for (uint64_t i = 0; i < recycled; i++) {
        if (haft_reserve(workers[1], &id, &object) == HAFT_OK) {
            stamp(object, id);
            haft_publish(workers[1], id);
            met();
        }
    }
}

static void body(uint32_t thread)
{
    if (thread == 0) {
        use_up();
    } else {
        use_again();
    }
}

static void tear_down(void)
{
    close_worker(workers[0]);
    close_worker(workers[1]);
    close_table();
}

const struct explored_case recycle_case = {
    .name = "recycle",
    .invariant = "a slot that is used again is written after its last life",
    .threads = 2,
    .set_up = set_up,
    .body = body,
    .tear_down = tear_down,
};

/* --- diagnose: an id from before, while its slot is used again --- */

static haft_id old;

static void set_up_diagnose(void)
{
    set_up();
    old = insert_stamped(workers[0]);
    require_status(haft_free(workers[0], old), HAFT_OK, "freeing");
    require_status(haft_worker_flush(workers[0]), HAFT_OK, "flushing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");

    haft_id id;

    while (haft_reserve(workers[0], &id, NULL) == HAFT_OK) {
        haft_abort(workers[0], id);
    }
}

static void diagnose_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        use_again();
    } else {
        require(haft_diagnose(fixture.table, old) != HAFT_NEVER_ISSUED,
                "an id is said never to have been issued that was");
    }
    race_end();
}

const struct explored_case diagnose_case = {
    .name = "diagnose",
    .invariant = "an id that was issued is not said never to have been",
    .threads = 2,
    .set_up = set_up_diagnose,
    .body = diagnose_body,
    .tear_down = tear_down,
};
