/* White-box: the door of an exact capacity: units that search, and units that have a slot. */
#include "concurrent/table/door.h"
#include "tests/support.h"

TestSuite(door, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 3, .object_size = 8, .exact_capacity = true};

Test(door, for_the_sake_of_units_that_search_it_is_busy_and_not_full)
{
    struct shared shared = open_shared(MEMB_CALLER, &options);
    uint64_t searching;
    uint64_t units;

    assert_status(door_enter(shared.table, 5, &searching), HAFT_OK);
    cr_expect(eq(u64, searching, 3));
    expect_status(door_enter(shared.table, 1, &units), HAFT_BUSY);
    expect_status(door_pass(shared.table, 1, &units), HAFT_BUSY);
    door_settle(shared.table, searching, 2);
    cr_expect(eq(u64, door_committed(shared.table), 2));
    assert_status(door_pass(shared.table, 5, &units), HAFT_OK);
    cr_expect(eq(u64, units, 1));
    expect_status(door_enter(shared.table, 1, &units), HAFT_FULL);
    expect_status(door_pass(shared.table, 1, &units), HAFT_FULL);
    door_set(shared.table, 0);
    close_shared(&shared);
}

struct inserting {
    haft_status status;
    int calls;
};

static void insert_once(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct inserting *inserting = arg;

    (void)object;
    if (inserting->calls++ == 0) {
        inserting->status = haft_insert(worker, NULL, &id);
    }
}

/* The search that leads to the callback has left the door. */
TEST_ON_EACH_CLOCK(door, while_on_reclaim_runs_no_unit_of_its_thread_searches)
{
    struct inserting inserting = {HAFT_OK, 0};
    haft_table_options calling = options;
    haft_id ids[3];
    haft_id id;

    calling.layout = HAFT_LAYOUT_OF(3, 8, 0); /* four slots */
    calling.on_reclaim = insert_once;
    calling.reclaim_arg = &inserting;
    struct shared shared = open_shared(*setting, &calling);

    for (int n = 0; n < 3; n++) {
        ids[n] = insert(shared.worker);
    }
    must(haft_free(shared.worker, ids[0]) == HAFT_OK);
    settle(shared.worker);
    /* One slot is due, one is fresh: the callback gets the fresh one, and this thread is late. */
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_FULL);
    cr_expect(eq(int, inserting.calls, 1));
    expect_status(inserting.status, HAFT_OK);
    cr_expect(eq(u64, stats_of(shared.table).live, 3));
    close_shared(&shared);
}
