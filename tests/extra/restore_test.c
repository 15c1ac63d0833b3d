/* Ids chosen elsewhere, restored into the shared table. */
#include "tests/support.h"
#include <haft/pin.h>
#include <haft/scan.h>
#include <haft/share.h>

TestSuite(restore, .timeout = SUITE_SECONDS);

#define RANGE 6
#define CAPACITY 20

static const haft_layout layout = {12, 3, 2, 0};
static uint64_t reclaims;

static struct shared open_with(struct setting setting, haft_reclaim *on_reclaim)
{
    const haft_table_options options = {
        .capacity = CAPACITY,
        .restore_range = RANGE,
        .object_size = 8,
        .layout = layout,
        .tag = 2,
        .on_reclaim = on_reclaim,
        .reclaim_arg = &reclaims,
    };
    return open_shared(setting, &options);
}

static struct shared open_plain(void)
{
    return open_with(MEMB_CALLER, NULL);
}

static haft_id id_of(uint64_t index, uint64_t generation)
{
    return haft_id_pack(layout, index, generation, 2);
}

/* Free, and let a grace period pass. */
static void end_life(struct shared *shared, haft_id id)
{
    assert_status(haft_free(shared->worker, id), HAFT_OK);
    settle(shared->worker);
}

TEST_ON_EACH_CLOCK(restore, a_chosen_id_lives_with_its_object)
{
    struct shared shared = open_with(*setting, NULL);
    const uint64_t value = 77;

    expect_status(haft_restore(shared.worker, id_of(9, 5), &value), HAFT_OK);
    haft_section_begin(shared.domain);
    const uint64_t *object = haft_resolve(shared.view, id_of(9, 5));

    cr_assert(ne(ptr, (void *)object, NULL));
    cr_expect(eq(u64, *object, 77));
    haft_section_end(shared.domain);
    cr_expect(eq(u64, stats_of(shared.table).live, 1));
    cr_expect(eq(u64, stats_of(shared.table).high_water, 1));
    close_shared(&shared);
}

Test(restore, without_an_object_its_bytes_are_zero)
{
    struct shared shared = open_plain();
    const uint64_t value = 77;

    assert_status(haft_restore(shared.worker, id_of(4, 1), &value), HAFT_OK);
    end_life(&shared, id_of(4, 1));
    assert_status(haft_restore(shared.worker, id_of(4, 2), NULL), HAFT_OK);
    cr_expect(zero(u64, *(uint64_t *)haft_resolve(shared.view, id_of(4, 2))));
    close_shared(&shared);
}

Test(restore, generations_below_it_are_stale_and_above_it_never_issued)
{
    struct shared shared = open_plain();

    assert_status(haft_restore(shared.worker, id_of(9, 3), NULL), HAFT_OK);
    expect_status(haft_diagnose(shared.table, id_of(9, 2)), HAFT_STALE);
    expect_status(haft_diagnose(shared.table, id_of(9, 4)), HAFT_NEVER_ISSUED);
    expect_status(haft_diagnose(shared.table, id_of(8, 1)), HAFT_NEVER_ISSUED);
    close_shared(&shared);
}

Test(restore, an_id_that_is_none_is_refused_as_such)
{
    struct shared shared = open_plain();

    expect_status(haft_restore(shared.worker, HAFT_NIL, NULL), HAFT_NO_ID);
    expect_status(haft_restore(shared.worker, id_of(3, 1), NULL), HAFT_MALFORMED);
    expect_status(haft_restore(shared.worker, id_of(4, 0), NULL), HAFT_MALFORMED);
    expect_status(haft_restore(shared.worker, id_of(4000, 0), NULL), HAFT_MALFORMED);
    expect_status(
        haft_restore(shared.worker, (haft_id){UINT64_C(1) << 17 | id_of(4, 1).bits}, NULL),
        HAFT_MALFORMED);
    expect_status(haft_restore(shared.worker, haft_id_pack(layout, 4, 1, 1), NULL), HAFT_FOREIGN);
    expect_status(haft_restore(shared.worker, haft_id_pack(layout, 4, 0, 1), NULL), HAFT_FOREIGN);
    cr_expect(zero(u64, stats_of(shared.table).high_water));
    close_shared(&shared);
}

Test(restore, an_index_beyond_the_range_is_refused)
{
    struct shared shared = open_plain();

    expect_status(haft_restore(shared.worker, id_of(4 + RANGE - 1, 1), NULL), HAFT_OK);
    expect_status(haft_restore(shared.worker, id_of(4 + RANGE, 1), NULL), HAFT_OUT_OF_RANGE);
    expect_status(haft_restore(shared.worker, id_of(4095, 1), NULL), HAFT_OUT_OF_RANGE);
    close_shared(&shared);
}

Test(restore, in_a_table_without_a_range_every_index_is_out_of_it)
{
    const haft_table_options options = {.capacity = 10};
    struct shared shared = open_shared(MEMB_CALLER, &options);

    expect_status(haft_restore(shared.worker, haft_id_pack(HAFT_LAYOUT_32_32, 4, 1, 0), NULL),
                  HAFT_OUT_OF_RANGE);
    close_shared(&shared);
}

Test(restore, a_slot_with_an_object_is_occupied)
{
    struct shared shared = open_plain();

    assert_status(haft_restore(shared.worker, id_of(4, 2), NULL), HAFT_OK);
    expect_status(haft_restore(shared.worker, id_of(4, 1), NULL), HAFT_OCCUPIED);
    expect_status(haft_restore(shared.worker, id_of(4, 2), NULL), HAFT_OCCUPIED);
    expect_status(haft_restore(shared.worker, id_of(4, 3), NULL), HAFT_OCCUPIED);
    cr_expect(eq(u64, stats_of(shared.table).live, 1));
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(restore, a_freed_slot_is_busy_until_its_grace_period_and_then_goes_on)
{
    struct shared shared = open_with(*setting, count_reclaimed);
    struct reader reader;

    assert_status(haft_restore(shared.worker, id_of(4, 2), NULL), HAFT_OK);
    reader_enter(&reader, &shared);
    assert_status(haft_free(shared.worker, id_of(4, 2)), HAFT_OK);
    expect_status(haft_restore(shared.worker, id_of(4, 3), NULL), HAFT_BUSY);
    expect_status(haft_restore(shared.worker, id_of(4, 2), NULL), HAFT_STALE);
    cr_expect(zero(u64, reclaims));
    reader_leave(&reader);
    settle(shared.worker);
    expect_status(haft_restore(shared.worker, id_of(4, 2), NULL), HAFT_STALE);
    expect_status(haft_restore(shared.worker, id_of(4, 5), NULL), HAFT_OK);
    cr_expect(eq(u64, reclaims, 1));
    end_life(&shared, id_of(4, 5));
    expect_status(haft_restore(shared.worker, id_of(4, 6), NULL), HAFT_OK);
    cr_expect(eq(u64, reclaims, 2));
    close_shared(&shared);
    cr_expect(eq(u64, reclaims, 2));
}

/* A thread that restores needs one other call: the one that lets grace periods pass. */
TEST_ON_EACH_CLOCK(restore, after_some_quiescent_points_a_freed_slot_is_not_busy)
{
    struct shared shared = open_with(*setting, NULL);
    haft_status status = HAFT_BUSY;

    assert_status(haft_restore(shared.worker, id_of(4, 1), NULL), HAFT_OK);
    assert_status(haft_free(shared.worker, id_of(4, 1)), HAFT_OK);
    for (int i = 0; i < 10000 && status == HAFT_BUSY; i++) {
        status = haft_restore(shared.worker, id_of(4, 2), NULL);
        haft_worker_quiescent(shared.worker);
    }
    expect_status(status, HAFT_OK);
    close_shared(&shared);
}

Test(restore, what_another_worker_freed_and_handed_on_can_be_restored)
{
    struct shared shared = open_plain();
    haft_worker *other = open_worker(shared.table);

    assert_status(haft_restore(shared.worker, id_of(4, 1), NULL), HAFT_OK);
    assert_status(haft_free(other, id_of(4, 1)), HAFT_OK);
    settle(other);
    expect_status(haft_restore(shared.worker, id_of(4, 2), NULL), HAFT_OK);
    haft_worker_close(other);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(restore, after_its_last_generation_a_slot_is_exhausted)
{
    struct shared shared = open_with(*setting, count_reclaimed);

    assert_status(haft_restore(shared.worker, id_of(4, 7), NULL), HAFT_OK);
    assert_status(haft_free(shared.worker, id_of(4, 7)), HAFT_OK);
    expect_status(haft_restore(shared.worker, id_of(4, 7), NULL), HAFT_EXHAUSTED);
    settle(shared.worker);
    assert_status(haft_restore(shared.worker, id_of(5, 1), NULL), HAFT_OK);
    end_life(&shared, id_of(5, 1)); /* and to be restored: all is taken back */
    assert_status(haft_restore(shared.worker, id_of(5, 2), NULL), HAFT_OK);
    expect_status(haft_restore(shared.worker, id_of(4, 7), NULL), HAFT_EXHAUSTED);
    expect_status(haft_diagnose(shared.table, id_of(4, 7)), HAFT_EXHAUSTED);
    cr_expect(eq(u64, stats_of(shared.table).exhausted, 1));
    cr_expect(eq(u64, reclaims, 2));
    close_shared(&shared);
}

/* Insert until it is refused.  How many; every id is one that the table may choose. */
static uint64_t fill(struct shared *shared, haft_status expected)
{
    uint64_t count = 0;
    haft_status status;
    haft_id id;

    while ((status = haft_insert_wait(shared->worker, NULL, &id)) == HAFT_OK) {
        must(haft_id_index(layout, id) >= 4 + RANGE);
        count++;
    }
    cr_expect(eq(int, status, expected));
    return count;
}

/* In the table's whole life, whatever is restored and freed in between. */
TEST_ON_EACH_CLOCK(restore, no_id_that_the_table_chooses_is_of_the_range)
{
    struct shared shared = open_with(*setting, NULL);

    for (uint64_t index = 4; index < 4 + RANGE; index++) {
        assert_status(haft_restore(shared.worker, id_of(index, 6), NULL), HAFT_OK);
    }
    for (uint64_t index = 4; index < 4 + RANGE; index++) {
        end_life(&shared, id_of(index, 6));
    }
    cr_expect(ge(u64, fill(&shared, HAFT_FULL), CAPACITY));
    close_shared(&shared);
}

Test(restore, restored_objects_take_nothing_from_the_capacity)
{
    struct shared shared = open_plain();

    const uint64_t alone = fill(&shared, HAFT_FULL);

    close_shared(&shared);
    shared = open_plain();
    for (uint64_t index = 4; index < 4 + RANGE; index++) {
        assert_status(haft_restore(shared.worker, id_of(index, index % 2 == 0 ? 7 : 1), NULL),
                      HAFT_OK);
    }
    end_life(&shared, id_of(4, 7)); /* exhausted */
    end_life(&shared, id_of(5, 1));
    cr_expect(eq(u64, fill(&shared, HAFT_FULL), alone));
    for (uint64_t index = 6; index < 4 + RANGE; index++) {
        cr_expect(haft_is_live(shared.view, id_of(index, index % 2 == 0 ? 7 : 1)));
    }
    expect_status(haft_restore(shared.worker, id_of(5, 2), NULL), HAFT_OK);
    close_shared(&shared);
}

Test(restore, stats_add_up_in_every_state)
{
    struct shared shared = open_plain();

    cr_expect(zero(u64, stats_of(shared.table).high_water));
    assert_status(haft_restore(shared.worker, id_of(4, 7), NULL), HAFT_OK);
    assert_status(haft_restore(shared.worker, id_of(6, 2), NULL), HAFT_OK);
    assert_status(haft_free(shared.worker, id_of(6, 2)), HAFT_OK);
    haft_table_stats stats = stats_of(shared.table);

    cr_expect(eq(u64, stats.high_water, 2));
    cr_expect(eq(u64, stats.live, 1));
    cr_expect(eq(u64, stats.retired, 1));
    cr_expect(zero(u64, stats.free));
    settle(shared.worker);
    assert_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    stats = stats_of(shared.table);
    cr_expect(eq(u64, stats.high_water, 2));
    cr_expect(zero(u64, stats.retired));
    cr_expect(eq(u64, stats.free, 1));
    cr_expect(ge(u64, stats.limit, CAPACITY + RANGE));
    close_shared(&shared);
}

Test(restore, a_slot_that_is_pinned_is_busy_until_the_last_pin_is_gone)
{
    const haft_table_options options = {
        .capacity = CAPACITY, .restore_range = RANGE, .layout = layout, .tag = 2, .pins = true};
    struct shared shared = open_shared(MEMB_CALLER, &options);

    assert_status(haft_restore(shared.worker, id_of(4, 1), NULL), HAFT_OK);
    cr_assert(ne(ptr, haft_pin(shared.table, id_of(4, 1)), NULL));
    end_life(&shared, id_of(4, 1));
    expect_status(haft_restore(shared.worker, id_of(4, 2), NULL), HAFT_BUSY);
    expect_status(haft_unpin(shared.table, id_of(4, 1)), HAFT_OK);
    expect_status(haft_restore(shared.worker, id_of(4, 2), NULL), HAFT_OK);
    close_shared(&shared);
}

static bool count_visit(haft_id id, void *object, void *arg)
{
    (void)id;
    (void)object;
    ++*(int *)arg;
    return true;
}

Test(restore, a_scan_visits_what_was_restored)
{
    struct shared shared = open_plain();
    int visits = 0;

    assert_status(haft_restore(shared.worker, id_of(9, 1), NULL), HAFT_OK);
    insert(shared.worker);
    cr_expect(eq(u64, haft_scan(shared.table, HAFT_EVERYTHING, count_visit, &visits), 2));
    cr_expect(eq(int, visits, 2));
    close_shared(&shared);
}

Test(restore, closing_the_table_runs_on_reclaim_for_what_was_freed)
{
    struct shared shared = open_with(MEMB_CALLER, count_reclaimed);

    assert_status(haft_restore(shared.worker, id_of(4, 1), NULL), HAFT_OK);
    assert_status(haft_restore(shared.worker, id_of(5, 1), NULL), HAFT_OK);
    assert_status(haft_free(shared.worker, id_of(4, 1)), HAFT_OK);
    close_shared(&shared);
    cr_expect(eq(u64, reclaims, 1));
}

Test(restore, an_unshared_table_keeps_what_was_restored)
{
    struct shared shared = open_plain();
    haft_local *local;
    haft_id id;

    assert_status(haft_restore(shared.worker, id_of(4, 2), NULL), HAFT_OK);
    assert_status(haft_restore(shared.worker, id_of(6, 2), NULL), HAFT_OK);
    end_life(&shared, id_of(6, 2));
    assert_status(haft_worker_close(shared.worker), HAFT_OK);
    assert_status(haft_unshare(shared.table, &local), HAFT_OK);
    cr_expect(haft_is_live(haft_local_view(local), id_of(4, 2)));
    expect_status(haft_local_restore(local, id_of(6, 2), NULL), HAFT_STALE);
    for (int i = 0; i < CAPACITY - 1; i++) {
        assert_status(haft_local_insert(local, NULL, &id), HAFT_OK);
    }
    haft_local_close(local);
    shared.worker = NULL;
    shared.table = NULL;
    close_shared(&shared);
}

Test(restore, a_range_that_does_not_fit_beside_the_capacity_is_refused)
{
    const haft_domain_options frame = {.clock = HAFT_CLOCK_FRAME};
    haft_table_options options = {.capacity = 2, .layout = {3, 4, 0, 0}, .restore_range = 3};
    haft_domain *domain;
    haft_table *table = NULL;

    assert_status(haft_domain_open(&frame, &domain), HAFT_OK);
    expect_status(haft_table_open(domain, &options, &table), HAFT_BAD_RESTORE_RANGE);
    options.restore_range = UINT64_MAX;
    expect_status(haft_table_open(domain, &options, &table), HAFT_BAD_RESTORE_RANGE);
    cr_expect(eq(ptr, table, NULL));
    options.restore_range = 2;
    assert_status(haft_table_open(domain, &options, &table), HAFT_OK);
    haft_worker *worker = open_worker(table);

    expect_status(haft_restore(worker, (haft_id){1 << 3 | 5}, NULL), HAFT_OK);
    insert(worker);
    insert(worker);
    haft_worker_close(worker);
    haft_table_close(table);
    haft_domain_close(domain);
}

/* As large as the layout allows: no slot but those of capacity and range. */
static struct shared open_full(struct setting setting)
{
    const haft_table_options options = {
        .capacity = 4092 - RANGE,
        .restore_range = RANGE,
        .layout = layout,
        .tag = 2,
    };
    return open_shared(setting, &options);
}

/* Objects of the range are no reason to say HAFT_FULL: neither live ones nor exhausted slots. */
static void expect_busy_beside(struct shared *shared)
{
    struct reader reader;
    haft_id id = HAFT_NIL;
    haft_id last = HAFT_NIL;

    while (haft_insert_wait(shared->worker, NULL, &id) == HAFT_OK) {
        last = id;
    }
    reader_enter(&reader, shared);
    assert_status(haft_free(shared->worker, last), HAFT_OK);
    expect_status(haft_insert(shared->worker, NULL, &id), HAFT_BUSY);
    reader_leave(&reader);
    close_shared(shared);
}

TEST_ON_EACH_CLOCK(restore, beside_live_restored_objects_a_slot_that_waits_is_busy)
{
    struct shared shared = open_full(*setting);

    assert_status(haft_restore(shared.worker, id_of(4, 1), NULL), HAFT_OK);
    expect_busy_beside(&shared);
}

TEST_ON_EACH_CLOCK(restore, beside_exhausted_restored_slots_a_slot_that_waits_is_busy)
{
    struct shared shared = open_full(*setting);

    assert_status(haft_restore(shared.worker, id_of(4, 7), NULL), HAFT_OK);
    assert_status(haft_free(shared.worker, id_of(4, 7)), HAFT_OK);
    settle(shared.worker);
    assert_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_assert(eq(u64, stats_of(shared.table).exhausted, 1));
    expect_busy_beside(&shared);
}

/* --- in on_reclaim --- */

static haft_status others[RANGE];

/* Of slots freed together, the first is taken back while the others still wait. */
static void restore_the_others(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)object;
    (void)id;
    (void)arg;
    for (uint64_t i = 0; worker != NULL && reclaims == 0 && i < RANGE; i++) {
        others[i] = haft_restore(worker, id_of(HAFT_FIRST_INDEX + i, 4), NULL);
    }
    reclaims++;
}

Test(restore, in_on_reclaim_of_a_slot_that_still_waits_is_busy)
{
    struct shared shared = open_with(MEMB_CALLER, restore_the_others);
    int busy = 0;

    for (uint64_t i = 0; i < RANGE; i++) {
        must(haft_restore(shared.worker, id_of(HAFT_FIRST_INDEX + i, 3), NULL) == HAFT_OK);
    }
    for (uint64_t i = 0; i < RANGE; i++) {
        must(haft_free(shared.worker, id_of(HAFT_FIRST_INDEX + i, 3)) == HAFT_OK);
    }
    settle(shared.worker);
    for (int i = 0; i < CAPACITY && reclaims == 0; i++) {
        insert(shared.worker);
    }
    cr_expect(eq(u64, reclaims, RANGE));
    for (uint64_t i = 0; i < RANGE; i++) {
        must(others[i] == HAFT_OK || others[i] == HAFT_BUSY);
        busy += others[i] == HAFT_BUSY;
    }
    cr_expect(ge(int, busy, RANGE - 1));
    close_shared(&shared);
}

/* Of four slots the first was restored; a reader keeps what is freed from being taken back. */
Test(restore, a_freed_object_is_counted_as_restored_no_longer)
{
    const haft_table_options small = {.capacity = 3, .restore_range = 1, .layout = {3, 3, 0, 0}};
    struct shared shared = open_shared(MEMB_CALLER, &small);
    const haft_id restored = haft_id_pack(small.layout, HAFT_FIRST_INDEX, 1, 0);
    struct reader reader;
    haft_id id;

    assert_status(haft_restore(shared.worker, restored, NULL), HAFT_OK);
    for (int n = 0; n < 3; n++) {
        insert(shared.worker);
    }
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_FULL);
    reader_enter(&reader, &shared);
    assert_status(haft_free(shared.worker, restored), HAFT_OK);
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_FULL);
    reader_leave(&reader);
    close_shared(&shared);
}

#define MANY 1000000

static void *restore_many(void *arg)
{
    const haft_layout wide = HAFT_LAYOUT_32_32;
    struct shared *shared = arg;

    haft_thread_register(shared->domain);
    haft_worker *worker = open_worker(shared->table);

    for (uint64_t i = 0; i < MANY; i++) {
        must(haft_restore(worker, haft_id_pack(wide, HAFT_FIRST_INDEX + i, 1, 0), NULL) == HAFT_OK);
    }
    must(haft_worker_close(worker) == HAFT_OK);
    haft_thread_unregister(shared->domain);
    return NULL;
}

Test(restore, meanwhile_no_more_objects_are_live_than_slots_were_ever_used)
{
    const haft_table_options wide = {.capacity = CAPACITY, .restore_range = MANY, .object_size = 8};
    struct shared shared = open_shared(MEMB_CALLER, &wide);
    haft_table_stats stats;
    pthread_t thread;

    must(pthread_create(&thread, NULL, restore_many, &shared) == 0);
    do {
        stats = stats_of(shared.table);
        must(stats.live <= stats.high_water);
    } while (stats.live != MANY);
    must(pthread_join(thread, NULL) == 0);
    close_shared(&shared);
}
