/* White-box: the door of an exact capacity, and the threads that get HAFT_FULL. */
#include "concurrent/table/door.h"
#include "stress/explorer/cases/case.h"
#include <stddef.h>

static haft_worker *workers[3];
static shared_u64 inserted;
static shared_u64 refused; /* calls that were told HAFT_FULL */

static void open_with(const struct table_wish *wish)
{
    open_table(wish);
    for (int i = 0; i < 3; i++) {
        workers[i] = open_worker();
    }
    poke(&inserted, 0);
    poke(&refused, 0);
}

static void note(haft_status status)
{
    require(status == HAFT_OK || status == HAFT_FULL || status == HAFT_BUSY, "an odd answer");
    add(&inserted, status == HAFT_OK);
    add(&refused, status == HAFT_FULL);
}

static void tear_down(void)
{
    require(peek(&inserted) <= 1, "more objects than the capacity");
    require(peek(&refused) == 0 || peek(&inserted) == 1,
            "a table is said to be full for the sake of a call that finds no slot");
    require(door_committed(fixture.table) == peek(&inserted), "a unit is left at the door");
    for (int i = 0; i < 3; i++) {
        close_worker(workers[i]);
    }
    close_table();
}

/* --- door: both slots wait for a grace period; two insert, and one lets it pass --- */

static void set_up_door(void)
{
    const struct table_wish wish = {.capacity = 1, .is_exact = true};

    open_with(&wish);
    for (int i = 0; i < 2; i++) {
        require_status(haft_free(workers[2], insert_stamped(workers[2])), HAFT_OK, "freeing");
    }
}

static void insert_one(haft_worker *worker)
{
    haft_id id;

    race_begin();
    note(haft_insert(worker, NULL, &id));
    race_end();
}

static void door_body(uint32_t thread)
{
    if (thread == 2) {
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    } else {
        insert_one(workers[thread]);
    }
}

const struct explored_case door_case = {
    .name = "door",
    .invariant = "a search in vain makes the table full for no other thread",
    .threads = 3,
    .set_up = set_up_door,
    .body = door_body,
    .tear_down = tear_down,
};

/* --- door_freed: the capacity is filled, and a free makes room beside two that insert --- */

static haft_id first;

static void set_up_door_freed(void)
{
    const struct table_wish wish = {.capacity = 1, .is_exact = true};

    open_with(&wish);
    require_status(haft_free(workers[2], insert_stamped(workers[2])), HAFT_OK, "freeing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    first = insert_stamped(workers[2]);
}

static void door_freed_body(uint32_t thread)
{
    haft_id id;

    if (thread == 2) {
        race_begin();
        require_status(haft_free(workers[2], first), HAFT_OK, "freeing");
        note(haft_insert(workers[2], NULL, &id));
        race_end();
    } else {
        insert_one(workers[thread]);
    }
}

/* Here the first object may be the reason. */
static void tear_down_door_freed(void)
{
    require(peek(&inserted) <= 1, "more objects than the capacity");
    poke(&refused, 0);
    tear_down();
}

const struct explored_case door_freed_case = {
    .name = "door_freed",
    .invariant = "a unit that a free gives back is one other's",
    .threads = 3,
    .set_up = set_up_door_freed,
    .body = door_freed_body,
    .tear_down = tear_down_door_freed,
};

/*
 * --- door_restored: two restore into one slot, of which one is refused; the third place is the
 * insertion's ---
 */

static void set_up_door_restored(void)
{
    const struct table_wish wish = {.capacity = 2, .restore_range = 1, .is_exact = true};

    open_with(&wish);
}

static void restore_one(uint32_t thread)
{
    const haft_id id = haft_id_pack(fixture.layout, HAFT_FIRST_INDEX, 1 + thread, 0);
    const haft_status status = haft_restore(workers[thread], id, NULL);

    require(status == HAFT_OK || status == HAFT_OCCUPIED || status == HAFT_FULL ||
                status == HAFT_BUSY,
            "an odd answer");
    add(&inserted, status == HAFT_OK);
}

static void door_restored_body(uint32_t thread)
{
    haft_id id;

    race_begin();
    if (thread < 2) {
        restore_one(thread);
    } else {
        const haft_status status = haft_insert(workers[2], NULL, &id);

        require(status != HAFT_FULL, "a restore that is refused makes the table full");
        poke(&refused, status == HAFT_OK); /* here: whether it inserted */
    }
    race_end();
}

static void tear_down_door_restored(void)
{
    require(peek(&inserted) <= 1, "two objects in one slot");
    require(door_committed(fixture.table) == peek(&inserted) + peek(&refused),
            "a unit is left at the door");
    for (int i = 0; i < 3; i++) {
        close_worker(workers[i]);
    }
    close_table();
}

const struct explored_case door_restored_case = {
    .name = "door_restored",
    .invariant = "a restore that is refused takes no place from an insertion",
    .threads = 3,
    .set_up = set_up_door_restored,
    .body = door_restored_body,
    .tear_down = tear_down_door_restored,
};
