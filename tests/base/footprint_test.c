/* Slots in use under churn, and resident memory: small, whatever the capacity. */
#include "tests/support.h"

TestSuite(footprint, .timeout = SUITE_SECONDS);
TestSuite(resident, .timeout = SUITE_SECONDS);

#define HELD_PER_WORKER 16384
#define OPERATIONS 500000

struct churn {
    pthread_t thread;
    haft_table *table;
    uint64_t live; /* kept by this worker */
    int each;      /* operations between quiescent points */
    uint64_t seed;
    bool failed;
};

/* Insert and free at random around `live` objects. */
static void churn(struct churn *churn, haft_worker *worker)
{
    static _Thread_local haft_id ids[4096];
    uint64_t count = 0;

    for (int n = 1; n <= OPERATIONS && !churn->failed; n++) {
        if (count == 0 || (count < churn->live && random_next(&churn->seed) >> 40 & 1)) {
            churn->failed = haft_insert(worker, NULL, &ids[count++]) != HAFT_OK;
        } else {
            const uint64_t at = random_next(&churn->seed) % count;

            churn->failed = haft_free(worker, ids[at]) != HAFT_OK;
            ids[at] = ids[--count];
        }
        if (n % churn->each == 0) {
            haft_worker_quiescent(worker);
        }
    }
}

static void *churn_on_thread(void *arg)
{
    struct churn *on = arg;
    haft_domain *domain = haft_table_info(on->table).domain;
    haft_worker *worker;

    haft_thread_register(domain);
    if (haft_worker_open(on->table, &worker) == HAFT_OK) {
        churn(on, worker);
        haft_worker_close(worker);
    }
    haft_thread_unregister(domain);
    return NULL;
}

static void expect_small(struct setting setting, uint64_t live, int each, haft_reclaim *on_reclaim)
{
    const haft_table_options options = {
        .capacity = 4000000, .object_size = 8, .on_reclaim = on_reclaim};
    AT_END(close_shared) struct shared shared = open_shared(setting, &options);
    struct churn one = {.table = shared.table, .live = live, .each = each, .seed = 41};

    churn(&one, shared.worker);
    cr_expect(not(one.failed));
    cr_expect(lt(u64, stats_of(shared.table).high_water, live + HELD_PER_WORKER));
}

TEST_ON_EACH_CLOCK(footprint, slots_in_use_stay_under_live_and_16384)
{
    expect_small(*setting, 1, 4096, NULL);
    expect_small(*setting, 1000, 4096, NULL);
    expect_small(*setting, 4000, 4096, NULL);
    expect_small(*setting, 1, 512, NULL);
    expect_small(*setting, 1, 128, NULL);
}

TEST_ON_EACH_CLOCK(footprint, slots_in_use_stay_under_live_and_16384_with_on_reclaim)
{
    expect_small(*setting, 1, 4096, ignore);
    expect_small(*setting, 4000, 4096, ignore);
    expect_small(*setting, 1, 512, ignore);
    expect_small(*setting, 1, 128, ignore);
}

TEST_ON_EACH_CLOCK(footprint, of_two_threads_is_twice_that_and_no_more)
{
    const haft_table_options options = {.capacity = 4000000, .object_size = 8};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    struct churn threads[2];

    haft_thread_offline(shared.domain);
    for (int i = 0; i < 2; i++) {
        threads[i] = (struct churn){.table = shared.table, .live = 1000, .each = 4096, .seed = 43};
        must(pthread_create(&threads[i].thread, NULL, churn_on_thread, &threads[i]) == 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i].thread, NULL);
        cr_expect(not(threads[i].failed));
    }
    haft_thread_online(shared.domain);
    cr_expect(lt(u64, stats_of(shared.table).high_water, 2 * (1000 + HELD_PER_WORKER)));
}

/* --- resident memory --- */

/* Pages that a table of the largest capacity and `used` objects makes resident. */
static long pages_for(int kind, uint64_t used)
{
    const haft_table_options options = {.capacity = (UINT64_C(1) << 32) - 4, .object_size = 56};
    struct subject warm = subject_open(kind, &options);
    haft_id id;

    subject_close(&warm);
    const long before = resident_pages();
    struct subject subject = subject_open(kind, &options);

    for (uint64_t i = 0; i < used; i++) {
        must(subject_insert(&subject, NULL, &id) == HAFT_OK);
    }
    const long pages = resident_pages() - before;

    subject_close(&subject);
    return pages;
}

TEST_ON_EACH_TABLE(resident, an_empty_table_of_the_largest_capacity_costs_a_few_pages)
{
    need_wide_addresses();
    cr_expect(lt(long, pages_for(*kind, 0), 64));
}

TEST_ON_EACH_TABLE(resident, memory_is_touched_as_slots_are_first_used)
{
    need_wide_addresses();
    const long pages = pages_for(*kind, 256000); /* 64 bytes each: 4000 pages */

    cr_expect(ge(long, pages, 3900));
    /* AddressSanitizer keeps a byte for 8. */
    cr_expect(lt(long, pages, under_asan() ? 5500 : 5000));
}

TEST_ON_EACH_TABLE(resident, looking_up_forged_ids_gives_no_answer_and_writes_no_memory)
{
    need_wide_addresses();
    const haft_table_options options = {.capacity = 1 << 20, .object_size = 4088};
    AT_END(subject_close) struct subject subject = subject_open(*kind, &options);
    const long before = resident_pages();
    uint64_t seed = 47;

    for (int n = 0; n < 20000; n++) {
        const haft_id id = {random_next(&seed)};

        must(subject_free(&subject, id) != HAFT_OK);
        must(haft_resolve(subject.view, id) == NULL);
    }
    cr_expect(lt(long, pages_written_since(before), 2000));
}

/* --- many tables on one domain --- */

#define TABLES 300

static haft_table *tables[TABLES];
static haft_worker *workers[TABLES];

/* Bytes that each of many tables makes resident when `use` is done with it. */
static long bytes_each(haft_domain *domain, void (*use)(haft_domain *domain, int table))
{
    const long before = resident_pages();

    for (int i = 0; i < TABLES; i++) {
        use(domain, i);
    }
    return (resident_pages() - before) * 4096 / TABLES;
}

static void open_one(haft_domain *domain, int table)
{
    const haft_table_options options = {.capacity = 1 << 20, .object_size = 56};

    must(haft_table_open(domain, &options, &tables[table]) == HAFT_OK);
}

static void open_worker_on(haft_domain *domain, int table)
{
    must(haft_worker_open(tables[table], &workers[table]) == HAFT_OK);
}

TEST_ON_EACH_CLOCK(resident, hundreds_of_tables_on_one_domain_cost_little_and_all_work)
{
    need_wide_addresses();
    struct shared shared = open_shared(*setting, &(haft_table_options){.capacity = 1});
    const long empty = bytes_each(shared.domain, open_one);
    const long with_worker = bytes_each(shared.domain, open_worker_on);
    static haft_id ids[TABLES];

    /* Resident.  AddressSanitizer fills what malloc gives. */
    cr_expect(le(long, empty, under_asan() ? 32768 : 16384));
    cr_expect(le(long, with_worker, under_asan() ? 65536 : 16384));
    for (int i = 0; i < TABLES; i++) {
        ids[i] = insert(workers[i]);
    }
    for (int i = 0; i < TABLES; i++) {
        must(haft_is_live(haft_table_view(tables[i]), ids[i]));
        must(haft_free(workers[i], ids[i]) == HAFT_OK);
        must(haft_worker_close(workers[i]) == HAFT_OK);
    }
    for (int i = 0; i < TABLES; i++) {
        must(haft_table_close(tables[i]) == HAFT_OK);
    }
    close_shared(&shared);
}
