/* Inserting and freeing through the table itself, without a worker. */
#include "tests/support.h"
#include <haft/memory.h>
#include <haft/threads.h>
#include <stdlib.h>

TestSuite(unregistered, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 100, .object_size = 8};

TEST_ON_EACH_CLOCK(unregistered, insert_and_free_do_what_a_workers_do)
{
    struct shared shared = open_shared(*setting, &options);
    const uint64_t value = 42;
    haft_id id = HAFT_NIL;

    assert_status(haft_insert_unregistered(shared.table, &value, &id), HAFT_OK);
    cr_expect(eq(u64, *(uint64_t *)haft_resolve(shared.view, id), 42));
    cr_expect(eq(u64, stats_of(shared.table).live, 1));
    expect_status(haft_table_free(shared.table, id), HAFT_OK);
    expect_status(haft_table_free(shared.table, id), HAFT_STALE);
    expect_status(haft_table_free(shared.table, HAFT_NIL), HAFT_NO_ID);
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
    close_shared(&shared);
}

Test(unregistered, reserve_publish_and_abort)
{
    struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_id kept;
    haft_id given_up;
    void *object;

    assert_status(haft_reserve_unregistered(shared.table, &kept, &object), HAFT_OK);
    assert_status(haft_reserve_unregistered(shared.table, &given_up, NULL), HAFT_OK);
    *(uint64_t *)object = 7;
    cr_expect(eq(ptr, haft_resolve(shared.view, kept), NULL));
    haft_publish_unregistered(shared.table, kept);
    haft_abort_unregistered(shared.table, given_up);
    cr_expect(eq(u64, *(uint64_t *)haft_resolve(shared.view, kept), 7));
    cr_expect(eq(ptr, haft_resolve(shared.view, given_up), NULL));
    cr_expect(eq(u64, stats_of(shared.table).live, 1));
    cr_expect(eq(u64, stats_of(shared.table).reserved, 0));
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(unregistered, holds_nothing_back_from_workers)
{
    struct shared shared = open_shared(*setting, &options);
    const uint64_t limit = stats_of(shared.table).limit;
    haft_id *ids = calloc(limit, sizeof *ids);
    uint64_t count = 0;

    while (haft_insert_unregistered(shared.table, NULL, &ids[count]) == HAFT_OK) {
        must(++count <= limit);
    }
    cr_expect(eq(u64, count, limit));
    for (uint64_t i = 0; i < count; i++) {
        must(haft_table_free(shared.table, ids[i]) == HAFT_OK);
    }
    for (uint64_t i = 0; i < 100; i++) { /* the worker finds them */
        must(haft_insert_wait(shared.worker, NULL, &ids[i]) == HAFT_OK);
    }
    free(ids);
    close_shared(&shared);
}

#define FRAMES 50
#define A_FRAME 1000 /* freed and inserted in each */

/* As many slots in use as with haft_free(), whatever the pace. */
TEST_ON_EACH_CLOCK(unregistered, frees_do_not_pile_up_beside_a_worker_that_inserts)
{
    const haft_table_options large = {.capacity = 20000};
    struct shared shared = open_shared(*setting, &large);
    haft_id *ids = calloc(FRAMES * A_FRAME, sizeof *ids);

    for (int frame = 0; frame < FRAMES; frame++) {
        for (int i = frame * A_FRAME; i < (frame + 1) * A_FRAME; i++) {
            must(haft_insert(shared.worker, NULL, &ids[i]) == HAFT_OK);
            must(i < A_FRAME || haft_table_free(shared.table, ids[i - A_FRAME]) == HAFT_OK);
        }
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
        must(haft_domain_wait(shared.domain) == HAFT_OK);
    }
    cr_expect(lt(u64, stats_of(shared.table).high_water, 5 * A_FRAME));
    free(ids);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(unregistered, flush_hands_all_on_that_was_freed_without_a_worker)
{
    const haft_table_options large = {.capacity = 20000};
    struct shared shared = open_shared(*setting, &large);
    haft_id *ids = calloc(FRAMES * A_FRAME, sizeof *ids);
    uint64_t released;

    for (int i = 0; i < 10 * A_FRAME; i++) {
        ids[i] = insert(shared.worker);
    }
    for (int i = 0; i < 10 * A_FRAME; i++) {
        must(haft_table_free(shared.table, ids[i]) == HAFT_OK);
    }
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    must(haft_domain_wait(shared.domain) == HAFT_OK);
    assert_status(haft_trim(shared.table, &released), HAFT_OK);
    cr_expect(eq(u64, stats_of(shared.table).retired, 0));
    free(ids);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(unregistered, leaves_a_worker_every_slot_but_its_own)
{
    struct shared shared = open_shared(*setting, &options);
    const uint64_t limit = stats_of(shared.table).limit;
    uint64_t count = 0;
    haft_id id;

    assert_status(haft_insert_unregistered(shared.table, NULL, &id), HAFT_OK);
    assert_status(haft_reserve_unregistered(shared.table, &id, NULL), HAFT_OK);
    while (haft_insert(shared.worker, NULL, &id) == HAFT_OK) {
        must(++count <= limit);
    }
    cr_expect(eq(u64, count, limit - 2));
    close_shared(&shared);
}

/* Insert until it is refused: whether slot `index` came up. */
static bool takes_slot(struct shared *shared, uint32_t index)
{
    bool found = false;
    haft_id id;

    while (haft_insert(shared->worker, NULL, &id) == HAFT_OK) {
        found = found || haft_id_index(haft_table_layout(shared->table), id) == index;
    }
    return found;
}

TEST_ON_EACH_CLOCK(unregistered,
                   a_freed_slot_waits_for_the_reader_inside_and_a_given_up_one_does_not)
{
    struct shared shared = open_shared(*setting, &options);
    const haft_layout layout = haft_table_layout(shared.table);
    const haft_id freed = insert(shared.worker);
    struct reader reader;
    haft_id given_up;

    assert_status(haft_reserve_unregistered(shared.table, &given_up, NULL), HAFT_OK);
    reader_enter(&reader, &shared);
    assert_status(haft_table_free(shared.table, freed), HAFT_OK);
    cr_expect(not(takes_slot(&shared, haft_id_index(layout, freed))));
    haft_abort_unregistered(shared.table, given_up);
    cr_expect(takes_slot(&shared, haft_id_index(layout, given_up)));
    reader_leave(&reader);
    settle(shared.worker);
    cr_expect(takes_slot(&shared, haft_id_index(layout, freed)));
    close_shared(&shared);
}

/* With waiting_bytes for one slot, a second insertion is HAFT_BUSY until a grace period. */
TEST_ON_EACH_CLOCK(unregistered, insert_wait_and_reserve_wait_return_once_a_slot_is_free)
{
    const haft_table_options narrow = {.capacity = 100, .object_size = 8, .waiting_bytes = 16};
    struct shared shared = open_shared(*setting, &narrow);
    const uint64_t value = 42;
    haft_status status = HAFT_OK;
    haft_id id;

    for (int n = 0; n < 10; n++) {
        while ((status = haft_insert_unregistered(shared.table, NULL, &id)) == HAFT_OK) {
            must(haft_table_free(shared.table, id) == HAFT_OK);
        }
        must(status == HAFT_BUSY);
        if (n % 2 == 0) {
            assert_status(haft_insert_wait_unregistered(shared.table, &value, &id), HAFT_OK);
            cr_expect(eq(u64, *(uint64_t *)haft_resolve(shared.view, id), 42));
            must(haft_table_free(shared.table, id) == HAFT_OK);
        } else {
            assert_status(haft_reserve_wait_unregistered(shared.table, &id, NULL), HAFT_OK);
            haft_abort_unregistered(shared.table, id);
        }
    }
    close_shared(&shared);
}

Test(unregistered, after_its_last_generation_a_slot_is_exhausted)
{
    const haft_table_options short_lived = {.capacity = 4, .layout = HAFT_LAYOUT_OF(3, 1, 0)};
    struct shared shared = open_shared(MEMB_CALLER, &short_lived);
    const haft_id id = insert(shared.worker);

    assert_status(haft_table_free(shared.table, id), HAFT_OK);
    settle(shared.worker);
    cr_expect(not(takes_slot(&shared, haft_id_index(short_lived.layout, id))));
    cr_expect(eq(u64, stats_of(shared.table).live, 3));
    cr_expect(eq(u64, stats_of(shared.table).exhausted, 1));
    close_shared(&shared);
}

Test(unregistered, does_not_keep_the_table_from_closing)
{
    struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_id id;

    must(haft_insert_unregistered(shared.table, NULL, &id) == HAFT_OK);
    cr_expect(eq(u64, stats_of(shared.table).workers, 1), "the shared one is not counted");
    close_shared(&shared);
}

struct crowd {
    haft_table *table;
    int failures;
};

static void *insert_and_free(void *arg)
{
    struct crowd *crowd = arg;
    int failures = 0;

    for (uint64_t n = 0; n < 20000; n++) {
        haft_id id;
        haft_status status = haft_insert_unregistered(crowd->table, &n, &id);

        while (status == HAFT_BUSY) {
            haft_domain_wait(haft_table_domain(crowd->table));
            status = haft_insert_unregistered(crowd->table, &n, &id);
        }
        failures += status != HAFT_OK || haft_table_free(crowd->table, id) != HAFT_OK;
    }
    __atomic_fetch_add(&crowd->failures, failures, __ATOMIC_RELAXED);
    return NULL;
}

TEST_ON_EACH_CLOCK(unregistered, several_threads_at_once_and_all_is_accounted_for)
{
    struct shared shared = open_shared(*setting, &options);
    struct crowd crowd = {.table = shared.table};
    pthread_t threads[4];

    haft_thread_offline(shared.domain);
    for (int i = 0; i < 4; i++) {
        must(pthread_create(&threads[i], NULL, insert_and_free, &crowd) == 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    haft_thread_online(shared.domain);
    cr_expect(eq(int, crowd.failures, 0));
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
    close_shared(&shared);
}

static void free_another(void *object, haft_id id, haft_worker *worker, void *arg)
{
    haft_table *table = *(haft_table **)arg;
    const haft_id next = *(haft_id *)object;

    (void)id;
    (void)worker;
    if (!haft_id_is_nil(next)) {
        must(haft_table_free(table, next) == HAFT_OK);
    }
}

Test(unregistered, may_be_called_from_on_reclaim)
{
    static haft_table *table;
    const haft_table_options calling = {
        .capacity = 100, .object_size = 8, .on_reclaim = free_another, .reclaim_arg = &table};
    struct shared shared = open_shared(MEMB_CALLER, &calling);
    haft_id id = HAFT_NIL;

    table = shared.table;
    for (int n = 0; n < 5; n++) {
        const haft_id before = id;

        must(haft_insert_unregistered(shared.table, &before, &id) == HAFT_OK);
    }
    must(haft_table_free(shared.table, id) == HAFT_OK);
    for (int n = 0; n < 2000 && stats_of(shared.table).live != 0; n++) {
        must(haft_domain_wait(shared.domain) == HAFT_OK);
        must(haft_insert_unregistered(shared.table, NULL, &id) == HAFT_OK);
        must(haft_table_free(shared.table, id) == HAFT_OK);
    }
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
    close_shared(&shared);
}
