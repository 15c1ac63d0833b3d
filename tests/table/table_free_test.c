/* Freeing through the table itself, on threads that have no worker. */
#include "tests/support.h"
#include <haft/counted.h>
#include <haft/memory.h>
#include <stdlib.h>

TestSuite(table_free, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 100, .object_size = 8};

TEST_ON_EACH_CLOCK(table_free, does_what_a_workers_free_does)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    const haft_id id = insert(shared.worker);

    expect_status(haft_table_free(shared.table, id), HAFT_OK);
    expect_status(haft_table_free(shared.table, id), HAFT_STALE);
    expect_status(haft_free(shared.worker, id), HAFT_STALE);
    expect_status(haft_table_free(shared.table, HAFT_NIL), HAFT_NO_ID);
    cr_expect(eq(ptr, haft_resolve(shared.view, id), NULL));
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
    cr_expect(eq(u64, stats_of(shared.table).freed, 1));
    cr_expect(eq(u64, stats_of(shared.table).refused_frees, 3));
}

TEST_ON_EACH_CLOCK(table_free, leaves_all_slots_to_workers)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    const uint64_t limit = stats_of(shared.table).limit;
    haft_id *ids = calloc(limit + 1, sizeof *ids);
    uint64_t count = 0;

    while (haft_insert(shared.worker, NULL, &ids[count]) == HAFT_OK) {
        must(++count <= limit);
    }
    for (uint64_t i = 0; i < count; i++) {
        must(haft_table_free(shared.table, ids[i]) == HAFT_OK);
    }
    for (uint64_t i = 0; i < 100; i++) { /* the worker finds them */
        must(haft_insert_wait(shared.worker, NULL, &ids[i]) == HAFT_OK);
    }
    free(ids);
}

#define FRAMES 50
#define A_FRAME 1000 /* freed and inserted in each */

/* As many slots in use as with haft_free(), whatever the pace. */
TEST_ON_EACH_CLOCK(table_free, does_not_pile_up_beside_a_worker_that_inserts)
{
    const haft_table_options large = {.capacity = 20000};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &large);
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
}

TEST_ON_EACH_CLOCK(table_free, is_handed_on_by_a_flush_in_whole)
{
    const haft_table_options large = {.capacity = 20000};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &large);
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
}

/* Insert until it is refused: whether slot `index` came up. */
static bool takes_slot(struct shared *shared, uint32_t index)
{
    bool found = false;
    haft_id id;

    while (haft_insert(shared->worker, NULL, &id) == HAFT_OK) {
        found = found || haft_id_index(haft_table_info(shared->table).layout, id) == index;
    }
    return found;
}

TEST_ON_EACH_CLOCK(table_free, waits_for_the_reader_inside)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    const haft_layout layout = haft_table_info(shared.table).layout;
    const haft_id freed = insert(shared.worker);
    struct reader reader;

    reader_enter(&reader, &shared);
    assert_status(haft_table_free(shared.table, freed), HAFT_OK);
    cr_expect(not(takes_slot(&shared, haft_id_index(layout, freed))));
    reader_leave(&reader);
    settle(shared.worker);
    cr_expect(takes_slot(&shared, haft_id_index(layout, freed)));
}

Test(table_free, after_its_last_generation_exhausts_a_slot)
{
    const haft_table_options short_lived = {.capacity = 4, .layout = HAFT_LAYOUT_OF(3, 1, 0)};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &short_lived);
    const haft_id id = insert(shared.worker);

    assert_status(haft_table_free(shared.table, id), HAFT_OK);
    settle(shared.worker);
    cr_expect(not(takes_slot(&shared, haft_id_index(short_lived.layout, id))));
    cr_expect(eq(u64, stats_of(shared.table).live, 3));
    cr_expect(eq(u64, stats_of(shared.table).exhausted, 1));
}

static uint64_t ended;

static void free_another(void *object, haft_id id, haft_worker *worker, void *arg)
{
    haft_table *table = *(haft_table **)arg;
    const haft_id next = *(haft_id *)object;

    ended++;
    if (!haft_id_is_nil(next)) {
        const haft_status status = haft_table_free(table, next);

        must(status == HAFT_OK || status == HAFT_STALE); /* a table that closes ends all at once */
    }
}

/* A chain, whose first object is freed; each is the end of the next. */
static haft_table *open_chain(const struct shared *shared, haft_table **table, haft_id *first)
{
    const haft_table_options calling = {
        .capacity = 100, .object_size = 8, .on_reclaim = free_another, .reclaim_arg = table};

    must(haft_table_open(shared->domain, &calling, table) == HAFT_OK);
    haft_worker *worker = open_worker(*table);

    *first = HAFT_NIL;
    for (int n = 0; n < 5; n++) {
        const haft_id before = *first;

        must(haft_insert(worker, &before, first) == HAFT_OK);
    }
    must(haft_worker_close(worker) == HAFT_OK);
    return *table;
}

TEST_ON_EACH_CLOCK(table_free, in_on_reclaim_ends_a_chain_while_workers_work)
{
    static haft_table *table;
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    haft_id first;

    open_chain(&shared, &table, &first);
    haft_worker *worker = open_worker(table);

    must(haft_table_free(table, first) == HAFT_OK);
    for (int n = 0; n < 2000 && stats_of(table).live + stats_of(table).retired != 0; n++) {
        must(haft_worker_quiescent(worker) == HAFT_OK);
        must(haft_domain_wait(shared.domain) == HAFT_OK);
    }
    cr_expect(eq(u64, stats_of(table).freed, 5));
    cr_expect(eq(u64, stats_of(table).live + stats_of(table).retired, 0));
    must(haft_worker_close(worker) == HAFT_OK);
    must(haft_table_close(table) == HAFT_OK);
}

TEST_ON_EACH_CLOCK(table_free, in_on_reclaim_ends_a_chain_while_the_table_closes)
{
    static haft_table *table;
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    haft_id first;

    ended = 0;
    open_chain(&shared, &table, &first);
    must(haft_table_free(table, first) == HAFT_OK);
    assert_status(haft_table_close(table), HAFT_OK);
    cr_expect(eq(u64, ended, 5));
}

/* --- by a counted table --- */

/* A session owns an object of the shared table. */
struct session {
    haft_id owned;
};

static void free_owned(void *object, haft_id id, void *arg)
{
    const struct session *session = object;

    must(haft_table_free(arg, session->owned) == HAFT_OK);
}

struct holding {
    haft_counted *sessions;
    haft_id id;
};

static void *release_last(void *arg)
{
    const struct holding *holding = arg;

    must(haft_counted_release(holding->sessions, holding->id) == HAFT_OK);
    return NULL;
}

/* The last release is a thread's that haft has never seen, and that has no memory to ask for. */
TEST_ON_EACH_CLOCK(table_free, in_on_destroy_of_a_counted_table_ends_what_its_object_owned)
{
    uint64_t reclaimed = 0;
    struct shared shared = open_shared(
        *setting, &(haft_table_options){
                      .capacity = 100, .on_reclaim = count_reclaimed, .reclaim_arg = &reclaimed});
    const struct session session = {insert(shared.worker)};
    struct holding holding;

    must(haft_counted_open(&(haft_counted_options){.capacity = 10,
                                                   .object_size = sizeof session,
                                                   .on_destroy = free_owned,
                                                   .destroy_arg = shared.table},
                           &holding.sessions) == HAFT_OK);
    must(haft_counted_insert(holding.sessions, &session, &holding.id) == HAFT_OK);
    must(haft_counted_acquire(holding.sessions, holding.id) != NULL);
    must(haft_counted_free(holding.sessions, holding.id) == HAFT_OK);
    cr_expect(haft_is_live(shared.view, session.owned));
    in_another_thread(release_last, &holding);
    cr_expect(not(haft_is_live(shared.view, session.owned)));
    cr_expect(zero(u64, reclaimed), "after a grace period, by a worker");
    must(haft_counted_close(holding.sessions) == HAFT_OK);
    close_shared(&shared);
    cr_expect(eq(u64, reclaimed, 1));
}

/* The other way round: an object of the shared table ends, and frees one of the counted table. */
static void free_session(void *object, haft_id id, haft_worker *worker, void *arg)
{
    must(haft_counted_free(arg, *(haft_id *)object) == HAFT_OK);
}

Test(table_free, of_an_object_whose_on_reclaim_frees_in_a_counted_table_ends_both)
{
    AT_END(counted_end) haft_counted *sessions;
    haft_id in_counted;
    haft_id id;

    must(haft_counted_open(&(haft_counted_options){.capacity = 10, .object_size = 8}, &sessions) ==
         HAFT_OK);
    must(haft_counted_insert(sessions, NULL, &in_counted) == HAFT_OK);
    struct shared shared = open_shared(
        MEMB_CALLER,
        &(haft_table_options){
            .capacity = 10, .object_size = 8, .on_reclaim = free_session, .reclaim_arg = sessions});

    must(haft_insert(shared.worker, &in_counted, &id) == HAFT_OK);
    must(haft_table_free(shared.table, id) == HAFT_OK);
    close_shared(&shared);
    cr_expect(not(haft_counted_is_live(sessions, in_counted)));
}
