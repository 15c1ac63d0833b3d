/* Inside callbacks: what waits, announces, closes or takes a table apart is refused. */
#include "tests/support.h"
#include <haft/kit/commands.h>
#include <haft/memory.h>
#include <haft/share.h>

TestSuite(callback, .timeout = SUITE_SECONDS);

/* What a callback may reach; no other test runs in the process. */
static struct {
    struct shared shared;
    haft_table *other;       /* one on the same domain, with a worker */
    haft_worker *others;     /* of it */
    haft_table *full;        /* its slots wait for a grace period */
    haft_worker *inserter;   /* of it */
    haft_domain *empty;      /* a domain without tables */
    haft_domain *frames;     /* one with the frame clock */
    haft_commands *commands; /* of the table `shared` */
    haft_local *local;
    uint64_t calls;
    bool has_waits; /* what inserts into `full` would wait, as nothing ends the grace period */
} reach;

static void expect_refused(haft_status status)
{
    expect_status(status, HAFT_IN_CALLBACK);
}

static void refuse_domains(void)
{
    expect_refused(haft_domain_wait(reach.shared.domain));
    expect_refused(haft_domain_close(reach.empty));
    expect_refused(haft_domain_close(reach.shared.domain)); /* not HAFT_IN_USE: it has tables */
    expect_refused(haft_domain_tick(reach.frames));
    expect_refused(haft_commands_apply(reach.commands, NULL));
}

static void refuse_table(haft_table *table, haft_worker *worker)
{
    haft_table *shared = table;
    haft_local *local = reach.local;
    uint64_t count = 7;

    expect_refused(haft_worker_quiescent(worker));
    expect_refused(haft_worker_flush(worker));
    expect_refused(haft_worker_close(worker));
    expect_refused(haft_table_close(table));
    expect_refused(haft_unshare(table, &local));
    expect_refused(haft_share(reach.local, reach.shared.domain, NULL, &shared));
    expect_refused(haft_trim(table, &count));
    cr_expect(eq(u64, count, 7));
    cr_expect(eq(ptr, local, reach.local));
    cr_expect(eq(ptr, shared, table));
}

static void refuse_waits(void)
{
    haft_worker *worker = reach.inserter;
    haft_id id = HAFT_NIL;

    expect_refused(haft_insert_wait(worker, NULL, &id));
    expect_refused(haft_reserve_wait(worker, &id, NULL));
    cr_expect(haft_id_is_nil(id));
}

static void call_all(void)
{
    reach.calls++;
    refuse_domains();
    refuse_table(reach.shared.table, reach.shared.worker);
    refuse_table(reach.other, reach.others);
    if (reach.has_waits) {
        refuse_waits();
    }
}

static void on_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    if (worker != NULL) {
        call_all();
    }
}

static haft_domain *open_domain(haft_domain_options options)
{
    haft_domain *domain;

    assert_status(haft_domain_open(&options, &domain), HAFT_OK);
    return domain;
}

static void set_up(struct setting setting, const haft_table_options *options)
{
    const haft_table_options one = {.capacity = 4, .layout = HAFT_LAYOUT_OF(3, 32, 0)};
    const haft_local_options local = {.capacity = 10};

    reach.has_waits = setting.clock == HAFT_CLOCK_CALLER;
    reach.shared = open_shared(setting, options);
    assert_status(haft_table_open(reach.shared.domain, &one, &reach.other), HAFT_OK);
    reach.others = open_worker(reach.other);
    assert_status(haft_table_open(reach.shared.domain, &one, &reach.full), HAFT_OK);
    reach.inserter = open_worker(reach.full);
    reach.empty = open_domain((haft_domain_options){.clock = HAFT_CLOCK_WORKERS});
    reach.frames = open_domain((haft_domain_options){.clock = HAFT_CLOCK_FRAME});
    assert_status(haft_commands_open(reach.shared.table, NULL, &reach.commands), HAFT_OK);
    assert_status(haft_local_open(&local, &reach.local), HAFT_OK);
}

/* All slots wait for a grace period. */
static void use_up(void)
{
    for (int i = 0; i < 4; i++) {
        must(haft_free(reach.inserter, insert(reach.inserter)) == HAFT_OK);
    }
}

static void tear_down(void)
{
    cr_expect(ne(u64, reach.calls, 0));
    haft_commands_close(reach.commands);
    haft_local_close(reach.local);
    expect_status(haft_domain_close(reach.empty), HAFT_OK);
    expect_status(haft_domain_close(reach.frames), HAFT_OK);
    expect_status(haft_worker_close(reach.others), HAFT_OK);
    expect_status(haft_table_close(reach.other), HAFT_OK);
    expect_status(haft_worker_close(reach.inserter), HAFT_OK);
    expect_status(haft_table_close(reach.full), HAFT_OK);
    close_shared(&reach.shared);
}

TEST_ON_EACH_CLOCK(callback, on_reclaim_may_neither_wait_nor_announce_nor_close)
{
    const haft_table_options options = {.capacity = 100, .on_reclaim = on_reclaim};

    set_up(*setting, &options);
    must(haft_free(reach.shared.worker, insert(reach.shared.worker)) == HAFT_OK);
    settle(reach.shared.worker);
    use_up();
    expect_status(haft_worker_quiescent(reach.shared.worker), HAFT_OK);
    tear_down();
}

/* Tries once. */
static void wait_in_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    haft_status *waited = arg;

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
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
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

    if (worker != NULL && respawn->worker != NULL) {
        respawn->failures += haft_insert(respawn->worker, NULL, &respawn->id) != HAFT_OK ||
                             haft_free(respawn->worker, respawn->id) != HAFT_OK;
    }
}

/* It is refused in the callback until its worker's next quiescent point. */
Test(callback, a_table_used_in_on_reclaim_gets_its_slots_back_at_quiescent_points)
{
    struct respawn state = {.failures = 0};
    const haft_table_options options = {
        .capacity = 100, .on_reclaim = respawn, .reclaim_arg = &state};
    const haft_table_options one = {
        .capacity = 1, .layout = HAFT_LAYOUT_OF(3, 32, 0), .on_reclaim = ignore};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    must(haft_table_open(shared.domain, &one, &state.table) == HAFT_OK);
    state.worker = open_worker(state.table);
    for (int n = 0; n < 100; n++) {
        must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
        settle(shared.worker);
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
        settle(state.worker);
        must(haft_worker_quiescent(state.worker) == HAFT_OK);
    }
    cr_expect(lt(int, state.failures, 60));
    cr_expect(lt(u64, 40, stats_of(state.table).created));
    must(haft_worker_close(state.worker) == HAFT_OK);
    state.worker = NULL;
    must(haft_table_close(state.table) == HAFT_OK);
}

struct chain {
    haft_status status;
    int calls;
};

static void insert_again(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct chain *chain = arg;

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
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
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
}

/* --- a worker that the callback opens --- */

static void use_workers_of_its_own(void *object, haft_id id, haft_worker *worker, void *arg)
{
    if (reach.calls == 2) {
        return; /* for what the calls before have freed */
    }
    haft_worker *own = open_worker(haft_worker_table(worker));
    haft_worker *others = open_worker(reach.other);
    const haft_id inserted = insert(others);

    expect_status(haft_free(own, insert(own)), HAFT_OK);
    expect_status(haft_free(others, inserted), HAFT_OK);
    expect_refused(haft_worker_flush(own));
    expect_refused(haft_worker_close(worker));
    expect_status(haft_worker_close(own), HAFT_OK);
    expect_status(haft_worker_close(others), HAFT_OK);
    reach.calls++;
    if (reach.others == NULL) {
        reach.others = open_worker(reach.other); /* another callback may not close it */
    } else {
        expect_refused(haft_worker_close(reach.others));
    }
}

TEST_ON_EACH_CLOCK(callback, may_close_the_workers_that_it_has_opened)
{
    const haft_table_options options = {
        .capacity = 64, .object_size = 8, .on_reclaim = use_workers_of_its_own};
    const haft_table_options plain = {.capacity = 64, .object_size = 8};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);

    assert_status(haft_table_open(shared.domain, &plain, &reach.other), HAFT_OK);
    for (uint64_t i = 0; i < 2; i++) {
        assert_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
        while (reach.calls <= i) {
            assert_status(haft_worker_flush(shared.worker), HAFT_OK);
            assert_status(haft_domain_wait(shared.domain), HAFT_OK);
            assert_status(haft_worker_quiescent(shared.worker), HAFT_OK);
        }
    }
    expect_status(haft_worker_close(reach.others), HAFT_OK);
    expect_status(haft_table_close(reach.other), HAFT_OK);
}
