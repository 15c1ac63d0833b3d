/* Inside callbacks: what waits, announces, closes or goes through a table is refused. */
#include "tests/support.h"
#include <haft/commands.h>
#include <haft/local.h>
#include <haft/memory.h>
#include <haft/share.h>
#include <haft/threads.h>

TestSuite(inside_callbacks, .timeout = SUITE_SECONDS);

/* What a callback may reach; no other test runs in the process. */
static struct {
    struct shared shared;
    haft_table *full;        /* its slots wait for a grace period, so what inserts would wait */
    haft_worker *inserter;   /* of it */
    haft_domain *empty;      /* a domain without tables */
    haft_domain *frames;     /* one with the frame clock */
    haft_commands *commands; /* of the table `shared` */
    haft_local *local;
    uint64_t calls;
} reach;

static void expect_refused(haft_status status)
{
    expect_status(status, HAFT_IN_CALLBACK);
}

static void refuse_workers_and_domains(void)
{
    haft_worker *worker = reach.shared.worker;

    expect_refused(haft_worker_quiescent(worker));
    expect_refused(haft_worker_flush(worker));
    expect_refused(haft_worker_close(worker));
    expect_refused(haft_domain_wait(reach.shared.domain));
    expect_refused(haft_domain_close(reach.empty));
    expect_refused(haft_domain_tick(reach.frames));
    expect_refused(haft_commands_apply(reach.commands, NULL));
}

static void refuse_tables(void)
{
    haft_table *table = reach.shared.table;
    haft_table *shared = table;
    haft_local *local = reach.local;
    uint64_t count = 7;

    expect_refused(haft_table_close(table));
    expect_refused(haft_unshare(table, &local));
    expect_refused(haft_share(reach.local, reach.shared.domain, NULL, &shared));
    expect_refused(haft_trim(table, &count));
    expect_refused(haft_recycle_exhausted(table, &count));
    cr_expect(eq(u64, count, 7));
    cr_expect(eq(ptr, local, reach.local));
    cr_expect(eq(ptr, shared, table));
}

static void refuse_waits(void)
{
    haft_worker *worker = reach.inserter;
    haft_table *table = reach.full;
    haft_id id = HAFT_NIL;

    expect_refused(haft_insert_wait(worker, NULL, &id));
    expect_refused(haft_reserve_wait(worker, &id, NULL));
    expect_refused(haft_insert_wait_unregistered(table, NULL, &id));
    expect_refused(haft_reserve_wait_unregistered(table, &id, NULL));
    cr_expect(haft_id_is_nil(id));
}

static void call_all(void)
{
    reach.calls++;
    refuse_workers_and_domains();
    refuse_tables();
    refuse_waits();
}

static void on_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)object;
    (void)id;
    (void)arg;
    if (worker != NULL) {
        call_all();
    }
}

static void on_fill(const haft_fill *fill, void *arg)
{
    (void)fill;
    (void)arg;
    call_all();
}

static haft_domain *open_domain(haft_domain_options options)
{
    haft_domain *domain;

    assert_status(haft_domain_open(&options, &domain), HAFT_OK);
    return domain;
}

static void set_up(const haft_table_options *options)
{
    const haft_table_options one = {.capacity = 1, .exact_capacity = true};
    const haft_local_options local = {.capacity = 10};

    reach.shared = open_shared(MEMB_CALLER, options);
    assert_status(haft_table_open(reach.shared.domain, &one, &reach.full), HAFT_OK);
    reach.inserter = open_worker(reach.full);
    reach.empty = open_domain((haft_domain_options){.clock = HAFT_CLOCK_WORKERS});
    reach.frames = open_domain((haft_domain_options){.clock = HAFT_CLOCK_FRAME});
    assert_status(haft_commands_open(reach.shared.table, NULL, &reach.commands), HAFT_OK);
    assert_status(haft_local_open(&local, &reach.local), HAFT_OK);
}

/* Both slots wait for a grace period. */
static void use_up(void)
{
    must(haft_free(reach.inserter, insert(reach.inserter)) == HAFT_OK);
    must(haft_free(reach.inserter, insert(reach.inserter)) == HAFT_OK);
}

static void tear_down(void)
{
    cr_expect(ne(u64, reach.calls, 0));
    haft_commands_close(reach.commands);
    haft_local_close(reach.local);
    expect_status(haft_domain_close(reach.empty), HAFT_OK);
    expect_status(haft_domain_close(reach.frames), HAFT_OK);
    expect_status(haft_worker_close(reach.inserter), HAFT_OK);
    expect_status(haft_table_close(reach.full), HAFT_OK);
    close_shared(&reach.shared);
}

Test(inside_callbacks, on_reclaim_is_refused_what_waits_closes_or_goes_through_a_table)
{
    const haft_table_options options = {.capacity = 100, .on_reclaim = on_reclaim};

    set_up(&options);
    must(haft_free(reach.shared.worker, insert(reach.shared.worker)) == HAFT_OK);
    settle(reach.shared.worker);
    use_up();
    expect_status(haft_worker_quiescent(reach.shared.worker), HAFT_OK);
    tear_down();
}

Test(inside_callbacks, on_fill_is_refused_the_same)
{
    const haft_table_options options = {.capacity = 100, .warn_at = 1, .on_fill = on_fill};

    set_up(&options);
    use_up();
    for (int i = 0; i < 100; i++) {
        insert(reach.shared.worker);
    }
    tear_down();
}
