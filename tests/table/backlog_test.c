/*
 * How many slots wait for grace periods, however these fall: always the worst way.  White-box: is
 * some thread waiting for one now?
 */
#include "concurrent/clock/stall.h"
#include "tests/support.h"

TestSuite(backlog, .timeout = SUITE_SECONDS);

#define MOST 12288  /* for which a quiescent point waits in any case */
#define AT_HAND 384 /* what the worker fills, empties, or has just closed */

static void churn(haft_worker *worker, int count, int each)
{
    for (int n = 1; n <= count; n++) {
        must(haft_free(worker, insert(worker)) == HAFT_OK);
        must(n % each != 0 || haft_worker_quiescent(worker) == HAFT_OK);
    }
}

/* --- a thread that waits for a grace period, for all to see --- */

struct driver {
    pthread_t thread;
    haft_domain *domain;
};

static void *wait_for_grace(void *arg)
{
    const struct driver *driver = arg;

    must(haft_domain_wait(driver->domain) == HAFT_OK);
    return NULL;
}

static void start(struct driver *driver, haft_domain *domain)
{
    driver->domain = domain;
    must(pthread_create(&driver->thread, NULL, wait_for_grace, driver) == 0);
    while (!domain_is_driven(domain)) {
        sleep_ms(1);
    }
}

/* The next grace period, which `later` holds up, begins when that ends which `earlier` holds up. */
static void go_on(struct driver *driver, struct reader *earlier, struct reader *later,
                  const struct shared *shared)
{
    reader_enter(later, shared);
    reader_leave(earlier);
    pthread_join(driver->thread, NULL);
    start(driver, shared->domain);
}

/* --- a thread that lets a reader go when the worker waits for it --- */

struct guard {
    pthread_t thread;
    struct reader *reader;
    haft_table *table;
};

static void *let_go_when_idle(void *arg)
{
    const struct guard *guard = arg;
    uint64_t before;

    do {
        before = stats_of(guard->table).freed;
        sleep_ms(200);
    } while (stats_of(guard->table).freed != before);
    reader_leave(guard->reader);
    return NULL;
}

static void expect_bounded(int each)
{
    const haft_table_options options = {.capacity = 4000000, .object_size = 8};
    struct shared shared = open_shared(MEMB_CALLER, &options);
    struct guard guard = {.table = shared.table};
    struct reader readers[3];
    struct driver driver;

    churn(shared.worker, each, each);
    reader_enter(&readers[0], &shared);
    start(&driver, shared.domain);
    churn(shared.worker, 8000, each);
    go_on(&driver, &readers[0], &readers[1], &shared);
    churn(shared.worker, MOST - 8000 - 2 * each, each);
    go_on(&driver, &readers[1], &readers[2], &shared);
    guard.reader = &readers[2];
    must(pthread_create(&guard.thread, NULL, let_go_when_idle, &guard) == 0);
    churn(shared.worker, MOST, each);
    cr_expect(lt(u64, stats_of(shared.table).high_water, MOST + (uint64_t)each + AT_HAND));
    pthread_join(guard.thread, NULL);
    pthread_join(driver.thread, NULL);
    close_shared(&shared);
}

Test(backlog, of_full_batches_is_bounded)
{
    expect_bounded(1024);
}

Test(backlog, of_partial_batches_is_bounded)
{
    expect_bounded(64);
}

Test(backlog, of_batches_that_are_just_worth_it_is_bounded)
{
    expect_bounded(32);
}
