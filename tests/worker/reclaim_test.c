/* on_reclaim: once for each freed object, after its grace period. */
#include "tests/support.h"
#include <haft/share.h>

TestSuite(on_reclaim, .timeout = SUITE_SECONDS);

#define MOST 200000

/* An object that knows its own number. */
struct object {
    uint64_t number;
    uint64_t check;
};

/* What the callback is told; it runs on one thread at a time here. */
struct record {
    haft_id ids[MOST]; /* by number */
    int calls[MOST];
    uint64_t total;
    uint64_t wrong; /* another id or contents than expected */
    haft_worker *worker;
};

static struct record record;

static void note(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct record *to = arg;
    const struct object *bytes = object;

    to->total++;
    if (bytes->number >= MOST || bytes->check != ~bytes->number ||
        !haft_id_equal(to->ids[bytes->number], id)) {
        to->wrong++;
        return;
    }
    to->calls[bytes->number]++;
    to->worker = worker;
}

static haft_table_options noting(uint64_t capacity)
{
    const haft_table_options options = {
        .capacity = capacity,
        .object_size = sizeof(struct object),
        .on_reclaim = note,
        .reclaim_arg = &record,
    };
    return options;
}

static haft_id insert_number(haft_worker *worker, uint64_t number)
{
    const struct object object = {number, ~number};
    haft_id id = HAFT_NIL;

    must(haft_insert_wait(worker, &object, &id) == HAFT_OK);
    record.ids[number] = id;
    return id;
}

static void expect_once_each(uint64_t freed)
{
    cr_expect(eq(u64, record.total, freed));
    cr_expect(eq(u64, record.wrong, 0));
    for (uint64_t n = 0; n < freed; n++) {
        must(record.calls[n] == 1);
    }
}

TEST_ON_EACH_CLOCK(on_reclaim, not_while_a_reader_is_inside_and_once_afterwards)
{
    const haft_table_options options = noting(1000);
    struct shared shared = open_shared(*setting, &options);
    const haft_id id = insert_number(shared.worker, 0);
    struct reader reader;

    reader_enter(&reader, &shared);
    assert_status(haft_free(shared.worker, id), HAFT_OK);
    haft_worker_flush(shared.worker);
    for (int n = 0; n < 20; n++) {
        expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
        sleep_ms(2);
    }
    cr_expect(eq(u64, record.total, 0));
    reader_leave(&reader);
    assert_status(haft_domain_wait(shared.domain), HAFT_OK);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    expect_once_each(1);
    cr_expect(eq(ptr, record.worker, shared.worker));
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    close_shared(&shared);
    expect_once_each(1);
}

Test(on_reclaim, not_while_the_freeing_thread_itself_is_inside)
{
    const haft_table_options options = noting(10);
    struct shared shared = open_shared(MEMB_CALLER, &options);
    uint64_t n;

    haft_section_begin(shared.domain);
    for (n = 0; n < 8; n++) {
        assert_status(haft_free(shared.worker, insert_number(shared.worker, n)), HAFT_OK);
    }
    while (haft_insert(shared.worker, &(struct object){n, ~n}, &record.ids[n]) == HAFT_OK) {
        n++; /* use up what there is */
    }
    cr_expect(eq(u64, record.total, 0));
    haft_section_end(shared.domain);
    close_shared(&shared);
    expect_once_each(n);
}

Test(on_reclaim, runs_where_a_slot_is_taken_back_by_insert)
{
    const haft_table_options options = noting(10);
    struct shared shared = open_shared(MEMB_CALLER, &options);

    for (uint64_t n = 0; n < 100; n++) {
        assert_status(haft_free(shared.worker, insert_number(shared.worker, n)), HAFT_OK);
        settle(shared.worker);
    }
    cr_expect(lt(u64, 50, record.total)); /* no quiescent point in this test */
    close_shared(&shared);
    expect_once_each(100);
}

TEST_ON_EACH_CLOCK(on_reclaim, at_the_close_by_a_worker_for_what_was_freed_and_what_lives)
{
    const haft_table_options options = noting(1000);
    struct shared shared = open_shared(*setting, &options);
    haft_id id;

    for (uint64_t n = 0; n < 300; n++) {
        assert_status(haft_free(shared.worker, insert_number(shared.worker, n)), HAFT_OK);
    }
    for (uint64_t n = 300; n < 400; n++) {
        insert_number(shared.worker, n); /* still live at the close */
    }
    assert_status(haft_reserve(shared.worker, &id, NULL), HAFT_OK); /* not for this */
    close_shared(&shared);
    expect_once_each(400);
    cr_expect(ne(ptr, record.worker, NULL));
}

/* More than its ring has room for, freed at once. */
TEST_ON_EACH_CLOCK(on_reclaim, at_quiescent_points_for_all_that_their_worker_has_freed)
{
    const haft_table_options options = noting(MOST);
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    const uint64_t freed = MOST / 4;

    for (uint64_t n = 0; n < freed; n++) {
        insert_number(shared.worker, n);
    }
    for (uint64_t n = 0; n < freed; n++) {
        must(haft_free(shared.worker, record.ids[n]) == HAFT_OK);
    }
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    must(haft_domain_wait(shared.domain) == HAFT_OK);
    for (uint64_t n = 0; n <= freed / 512; n++) {
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    }
    expect_once_each(freed);
}

TEST_ON_EACH_CLOCK(on_reclaim, not_for_a_reservation_given_up)
{
    const haft_table_options options = noting(1000);
    struct shared shared = open_shared(*setting, &options);
    haft_id id;

    for (int n = 0; n < 500; n++) {
        assert_status(haft_reserve(shared.worker, &id, NULL), HAFT_OK);
        haft_abort(shared.worker, id);
        if (n % 100 == 0) {
            settle(shared.worker);
            expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
        }
    }
    close_shared(&shared);
    cr_expect(eq(u64, record.total, 0));
}

TEST_ON_EACH_CLOCK(on_reclaim, at_the_last_generation_as_at_any_other)
{
    haft_table_options options = noting(50);

    options.layout = HAFT_LAYOUT_32_24_8;
    options.tag = 0xab;
    options.first_generation = 0xffffff;
    struct shared shared = open_shared(*setting, &options);

    for (uint64_t n = 0; n < 50; n++) {
        assert_status(haft_free(shared.worker, insert_number(shared.worker, n)), HAFT_OK);
        if (n % 10 == 0) {
            settle(shared.worker);
            expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
        }
    }
    cr_expect(ne(ptr, record.worker, NULL));
    close_shared(&shared);
    expect_once_each(50);
}

/* --- what the callback may do --- */

struct tree {
    haft_id left;
    haft_id right;
};

static uint64_t reclaimed_nodes;

static void free_children(void *object, haft_id id, haft_worker *worker, void *arg)
{
    const struct tree *node = object;

    reclaimed_nodes++;
    if (!haft_id_is_nil(node->left)) {
        must(haft_free(worker, node->left) == HAFT_OK);
        must(haft_free(worker, node->right) == HAFT_OK);
    }
}

static haft_id plant(haft_worker *worker, int depth)
{
    struct tree node = {HAFT_NIL, HAFT_NIL};
    haft_id id = HAFT_NIL;

    if (depth > 1) {
        node.left = plant(worker, depth - 1);
        node.right = plant(worker, depth - 1);
    }
    must(haft_insert(worker, &node, &id) == HAFT_OK);
    return id;
}

TEST_ON_EACH_CLOCK(on_reclaim, may_free_a_whole_tree_by_and_by)
{
    const haft_table_options options = {
        .capacity = 10000, .object_size = sizeof(struct tree), .on_reclaim = free_children};
    struct shared shared = open_shared(*setting, &options);

    assert_status(haft_free(shared.worker, plant(shared.worker, 12)), HAFT_OK);
    for (int n = 0; n < 2000 && reclaimed_nodes < 4095; n++) {
        settle(shared.worker);
        expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    }
    cr_expect(eq(u64, reclaimed_nodes, 4095));
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
    close_shared(&shared);
    cr_expect(eq(u64, reclaimed_nodes, 4095));
}

/* With the worker that it is given, which is no open one. */
TEST_ON_EACH_CLOCK(on_reclaim, may_free_a_whole_tree_while_the_table_is_unshared)
{
    const haft_table_options options = {
        .capacity = 10000, .object_size = sizeof(struct tree), .on_reclaim = free_children};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);

    AT_END(local_end) haft_local *local;

    assert_status(haft_free(shared.worker, plant(shared.worker, 8)), HAFT_OK);
    must(haft_worker_close(shared.worker) == HAFT_OK);
    shared.worker = NULL;
    assert_status(haft_unshare(shared.table, &local), HAFT_OK);
    shared.table = NULL;
    cr_expect(eq(u64, reclaimed_nodes, 255));
    cr_expect(eq(u64, haft_local_count(local), 0));
}

struct again {
    uint64_t calls;
    uint64_t inserted;
    uint64_t freed;
    uint64_t refused;
    bool stop;
};

/* Replace each object that goes by another, and free every second one of those at once. */
static void insert_again(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct again *again = arg;
    haft_id next;

    again->calls++;
    if (again->stop) {
        return;
    }
    if (haft_insert(worker, object, &next) != HAFT_OK) {
        again->refused++;
        return;
    }
    again->inserted++;
    if (again->calls % 2 == 0) {
        must(haft_free(worker, next) == HAFT_OK);
        again->freed++;
    }
}

/* The callback inserts and frees, in a table with room and in one without. */
static void expect_reentrant(struct setting setting, uint64_t capacity, uint64_t live)
{
    struct again again = {.calls = 0};
    const haft_table_options options = {
        .capacity = capacity, .object_size = 8, .on_reclaim = insert_again, .reclaim_arg = &again};
    struct shared shared = open_shared(setting, &options);
    uint64_t inserted = 0;
    uint64_t freed = 0;
    haft_id id;

    for (int n = 0; n < 300; n++) {
        for (uint64_t i = 0; i < live; i++) {
            if (haft_insert(shared.worker, NULL, &id) == HAFT_OK) {
                inserted++;
                must(haft_free(shared.worker, id) == HAFT_OK);
                freed++;
            }
        }
        settle(shared.worker);
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
        const haft_table_stats stats = stats_of(shared.table);

        must(stats.live == inserted + again.inserted - freed - again.freed);
        must(stats.live + stats.reserved + stats.retired + stats.free + stats.exhausted ==
             stats.high_water);
    }
    cr_expect(lt(u64, 0, again.inserted));
    again.stop = true;
    close_shared(&shared);
    cr_expect(eq(u64, again.calls, inserted + again.inserted));
}

TEST_ON_EACH_CLOCK(on_reclaim, may_insert_and_free)
{
    expect_reentrant(*setting, 1000000, 100);
    expect_reentrant(*setting, 100, 90);
    expect_reentrant(*setting, 8, 8);
}

struct attempt {
    int calls;
    haft_status status;
};

static void try_to_insert(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct attempt *attempt = arg;
    haft_id next = id;

    if (attempt->calls++ == 0) { /* the others when the table closes */
        attempt->status = haft_insert(worker, object, &next);
        cr_expect(eq(u64, next.bits, id.bits), "untouched");
    }
}

/* Every slot live; one is freed, and while it is reclaimed there is no other. */
static haft_status status_in_callback(struct setting setting, uint64_t capacity)
{
    struct attempt attempt = {.calls = 0};
    const haft_table_options options = {.capacity = capacity,
                                        .layout = HAFT_LAYOUT_OF(4, 20, 0),
                                        .object_size = 8,
                                        .on_reclaim = try_to_insert,
                                        .reclaim_arg = &attempt};
    struct shared shared = open_shared(setting, &options);
    haft_id id = HAFT_NIL;

    while (haft_insert(shared.worker, NULL, &id) == HAFT_OK) {
        must(stats_of(shared.table).live <= 12);
    }
    must(haft_free(shared.worker, id) == HAFT_OK);
    settle(shared.worker);
    must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    must(attempt.calls == 1);
    close_shared(&shared);
    return attempt.status;
}

TEST_ON_EACH_CLOCK(on_reclaim, is_told_full_of_a_table_with_more_than_its_capacity_live)
{
    expect_status(status_in_callback(*setting, 6), HAFT_FULL);  /* 11 of 12 slots live */
    expect_status(status_in_callback(*setting, 12), HAFT_BUSY); /* 11 of 12, and so below it */
}
