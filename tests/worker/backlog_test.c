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

static void start_guard(struct guard *guard, struct reader *reader, haft_table *table)
{
    *guard = (struct guard){.reader = reader, .table = table};
    must(pthread_create(&guard->thread, NULL, let_go_when_idle, guard) == 0);
}

static void expect_bounded(int each)
{
    const int rest = MOST - 8000 - 2 * each;
    const haft_table_options options = {.capacity = 4000000, .object_size = 8};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    struct guard guard;
    struct reader readers[3];
    struct driver driver;

    churn(shared.worker, each, each);
    reader_enter(&readers[0], &shared);
    start(&driver, shared.domain);
    churn(shared.worker, 8000, each);
    go_on(&driver, &readers[0], &readers[1], &shared);
    churn(shared.worker, rest, each);
    go_on(&driver, &readers[1], &readers[2], &shared);
    start_guard(&guard, &readers[2], shared.table);
    churn(shared.worker, MOST, each);
    cr_expect(lt(u64, stats_of(shared.table).high_water, MOST + (uint64_t)each + AT_HAND));
    pthread_join(guard.thread, NULL);
    pthread_join(driver.thread, NULL);
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

/* --- beside a reader that stays until the worker waits for it --- */

#define EACH 1000
#define BYTES (768 << 10)

/* The most slots ever used while a worker inserts and `freeing` frees, EACH at a time. */
static uint64_t slots_used(struct shared *shared, haft_worker *freeing)
{
    static haft_id ids[EACH];
    struct reader reader;
    struct guard guard;

    reader_enter(&reader, shared);
    start_guard(&guard, &reader, shared->table);
    for (int n = 0; n < 160; n++) {
        for (int i = 0; i < EACH; i++) {
            ids[i] = insert(shared->worker);
        }
        for (int i = 0; i < EACH; i++) {
            must(haft_free(freeing, ids[i]) == HAFT_OK);
        }
        must(haft_worker_quiescent(shared->worker) == HAFT_OK);
        must(freeing == shared->worker || haft_worker_quiescent(freeing) == HAFT_OK);
    }
    pthread_join(guard.thread, NULL);
    return stats_of(shared->table).high_water;
}

/* Of which EACH are live at once. */
static uint64_t slots_used_by_one(const struct setting *setting, size_t object_size)
{
    const haft_table_options options = {.capacity = 100000, .object_size = object_size};
    struct shared shared = open_shared(*setting, &options);
    const uint64_t used = slots_used(&shared, shared.worker);

    close_shared(&shared);
    return used;
}

TEST_ON_EACH_CLOCK(backlog, beside_a_reader_that_stays_is_bounded)
{
    cr_expect(lt(u64, slots_used_by_one(setting, 24), MOST + 2 * EACH + AT_HAND));
}

TEST_ON_EACH_CLOCK(backlog, of_large_objects_is_bounded_in_bytes)
{
    const size_t object_size = 1016; /* and the word */

    cr_expect(lt(u64, slots_used_by_one(setting, object_size),
                 BYTES / (object_size + 8) + 2 * EACH + AT_HAND));
}

TEST_ON_EACH_CLOCK(backlog, of_a_worker_that_only_frees_is_bounded)
{
    const haft_table_options options = {.capacity = 100000, .object_size = 24};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    AT_END(worker_end) haft_worker *freeing = open_worker(shared.table);

    cr_expect(lt(u64, slots_used(&shared, freeing), 2 * 16384 + 2 * EACH));
}
