/* What waits, announces, closes or takes a table apart is refused inside callbacks. */
#include "tests/support.h"
#include <haft/memory.h>
#include <haft/share.h>
#include <haft/threads.h>

TestSuite(callback, .timeout = SUITE_SECONDS);

static struct {
    struct shared shared;
    haft_table *other;   /* a table on the same domain, with a worker */
    haft_worker *worker; /* of the other one */
    haft_local *local;
    haft_domain *empty; /* without tables */
    int calls;
} inside;

static void call_all(void)
{
    haft_local *unshared;
    haft_table *shared;

    inside.calls++;
    expect_status(haft_domain_wait(inside.shared.domain), HAFT_IN_CALLBACK);
    expect_status(haft_domain_close(inside.empty), HAFT_IN_CALLBACK);
    for (int other = 0; other < 2; other++) {
        haft_table *table = other ? inside.other : inside.shared.table;
        haft_worker *worker = other ? inside.worker : inside.shared.worker;

        expect_status(haft_worker_quiescent(worker), HAFT_IN_CALLBACK);
        expect_status(haft_worker_flush(worker), HAFT_IN_CALLBACK);
        expect_status(haft_worker_close(worker), HAFT_IN_CALLBACK);
        expect_status(haft_table_close(table), HAFT_IN_CALLBACK);
        expect_status(haft_unshare(table, &unshared), HAFT_IN_CALLBACK);
        expect_status(haft_trim(table, NULL), HAFT_IN_CALLBACK);
        expect_status(haft_recycle_exhausted(table, NULL), HAFT_IN_CALLBACK);
    }
    expect_status(haft_share(inside.local, inside.shared.domain, NULL, &shared), HAFT_IN_CALLBACK);
}

static void in_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)object;
    (void)id;
    (void)arg;
    if (worker != NULL) {
        call_all();
    }
}

static void in_fill(const haft_fill *fill, void *arg)
{
    (void)fill;
    (void)arg;
    call_all();
}

static void open_all(struct setting setting, const haft_table_options *options)
{
    const haft_table_options plain = {.capacity = 10};
    const haft_local_options local = {.capacity = 10};
    const haft_domain_options domain = domain_options(setting);

    inside.shared = open_shared(setting, options);
    must(haft_table_open(inside.shared.domain, &plain, &inside.other) == HAFT_OK);
    inside.worker = open_worker(inside.other);
    must(haft_local_open(&local, &inside.local) == HAFT_OK);
    must(haft_domain_open(&domain, &inside.empty) == HAFT_OK);
}

static void close_all(void)
{
    must(haft_domain_close(inside.empty) == HAFT_OK);
    haft_local_close(inside.local);
    must(haft_worker_close(inside.worker) == HAFT_OK);
    must(haft_table_close(inside.other) == HAFT_OK);
    close_shared(&inside.shared);
}

TEST_ON_EACH_CLOCK(callback, on_reclaim_may_neither_wait_nor_announce_nor_close)
{
    const haft_table_options options = {.capacity = 10, .on_reclaim = in_reclaim};

    open_all(*setting, &options);
    must(haft_free(inside.shared.worker, insert(inside.shared.worker)) == HAFT_OK);
    settle(inside.shared.worker);
    must(haft_worker_quiescent(inside.shared.worker) == HAFT_OK);
    cr_expect(eq(int, inside.calls, 1));
    close_all();
}

TEST_ON_EACH_CLOCK(callback, on_fill_may_neither_wait_nor_announce_nor_close)
{
    const haft_table_options options = {.capacity = 10, .warn_at = 1, .on_fill = in_fill};

    open_all(*setting, &options);
    insert(inside.shared.worker);
    cr_expect(eq(int, inside.calls, 1));
    close_all();
}

/* Tries once. */
static void wait_in_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    haft_status *waited = arg;

    (void)object;
    if (*waited == HAFT_OK) {
        *waited = haft_insert_wait(worker, NULL, &id);
    }
}

/* Of four slots one is due, and the others wait for a reader. */
Test(callback, an_insertion_that_would_wait_in_on_reclaim_is_refused)
{
    haft_status waited = HAFT_OK;
    const haft_table_options options = {.capacity = 4,
                                        .layout = HAFT_LAYOUT_OF(3, 8, 0),
                                        .on_reclaim = wait_in_reclaim,
                                        .reclaim_arg = &waited};
    struct shared shared = open_shared(MEMB_CALLER, &options);
    struct reader reader;
    haft_id ids[4];

    for (int i = 0; i < 4; i++) {
        ids[i] = insert(shared.worker);
    }
    must(haft_free(shared.worker, ids[0]) == HAFT_OK);
    settle(shared.worker);
    reader_enter(&reader, &shared);
    for (int i = 1; i < 4; i++) {
        must(haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    expect_status(haft_insert(shared.worker, NULL, &ids[0]), HAFT_OK);
    expect_status(waited, HAFT_IN_CALLBACK);
    reader_leave(&reader);
    close_shared(&shared);
}

struct respawn {
    haft_table *table; /* of one slot; NULL: the table itself */
    haft_worker *worker;
    haft_id id;
    int failures;
};

/* Replaces the object of the one slot. */
static void respawn(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct respawn *respawn = arg;

    (void)object;
    (void)id;
    if (worker != NULL && respawn->worker != NULL) {
        respawn->failures += haft_insert(respawn->worker, NULL, &respawn->id) != HAFT_OK ||
                             haft_free(respawn->worker, respawn->id) != HAFT_OK;
    }
}

static void nothing(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)object;
    (void)id;
    (void)worker;
    (void)arg;
}

/* No other thread, and no other call, ever takes its slot back. */
Test(callback, a_table_used_in_on_reclaim_alone_gets_its_slots_back)
{
    struct respawn state = {.failures = 0};
    const haft_table_options options = {
        .capacity = 100, .on_reclaim = respawn, .reclaim_arg = &state};
    const haft_table_options one = {
        .capacity = 1, .layout = HAFT_LAYOUT_OF(3, 32, 0), .on_reclaim = nothing};
    struct shared shared = open_shared(MEMB_CALLER, &options);

    must(haft_table_open(shared.domain, &one, &state.table) == HAFT_OK);
    state.worker = open_worker(state.table);
    for (int n = 0; n < 100; n++) {
        must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
        settle(shared.worker);
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    }
    cr_expect(lt(int, state.failures, 60)); /* at worst each other one, and it goes on */
    cr_expect(gt(u64, stats_of(state.table).created, 40));
    must(haft_worker_close(state.worker) == HAFT_OK);
    state.worker = NULL;
    must(haft_table_close(state.table) == HAFT_OK);
    close_shared(&shared);
}

struct chain {
    haft_status status;
    int calls;
};

static void insert_again(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct chain *chain = arg;

    (void)object;
    if (worker != NULL && chain->calls++ == 1) {
        chain->status = haft_insert(worker, NULL, &id);
    }
}

/* All slots are taken, and two of them are freed in one batch. */
Test(callback, finds_the_slots_that_were_taken_back_before_its_own)
{
    struct chain chain = {HAFT_BUSY, 0};
    const haft_table_options options = {
        .capacity = 1000, .on_reclaim = insert_again, .reclaim_arg = &chain};
    struct shared shared = open_shared(MEMB_CALLER, &options);
    const haft_id first = insert(shared.worker);
    const haft_id second = insert(shared.worker);
    haft_id id;

    while (haft_insert(shared.worker, NULL, &id) == HAFT_OK) {
        /* until no slot is left */
    }
    assert_status(haft_free(shared.worker, first), HAFT_OK);
    assert_status(haft_free(shared.worker, second), HAFT_OK);
    settle(shared.worker);
    must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    cr_expect(eq(int, chain.calls, 2));
    expect_status(chain.status, HAFT_OK);
    close_shared(&shared);
}
