/* A shared table and its domain in memory of the program's. */
#include "tests/support.h"
#include <haft/diagnose.h>
#include <haft/memory.h>
#include <haft/share.h>
#include <haft/threads.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

TestSuite(table_given, .timeout = SUITE_SECONDS);

#define FORGED 10000000
#define WORKERS 3

static const haft_table_options options = {
    .name = "given", .capacity = 1000, .object_size = 24, .workers = WORKERS, .hold_back = 300};

/* A domain and a table, from the first byte on and up to the last: guard pages lie around both. */
struct given_shared {
    char *pages;
    size_t size;
    char *memory; /* the domain's, and then the table's */
    uint64_t domain_bytes;
    uint64_t table_bytes;
    haft_domain *domain;
    haft_table *table;
};

static struct given_shared guarded(const haft_domain_options *domain,
                                   const haft_table_options *table)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    haft_footprint of_domain;
    haft_footprint of_table;
    struct given_shared made = {0};

    assert_status(haft_domain_footprint(domain, &of_domain), HAFT_OK);
    assert_status(haft_table_footprint(table, &of_table), HAFT_OK);
    made.domain_bytes = of_domain.bytes;
    made.table_bytes = of_table.bytes;
    const size_t bytes = (size_t)(of_domain.bytes + of_table.bytes);
    const size_t inner = (bytes + page - 1) / page * page;

    made.size = inner + 2 * page;
    made.pages = mmap(NULL, made.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(made.pages != MAP_FAILED);
    must(mprotect(made.pages + page, inner, PROT_READ | PROT_WRITE) == 0);
    made.memory = made.pages + page + (inner - bytes);
    memset(made.memory, 0xff, bytes);
    return made;
}

static void open_in(struct given_shared *in, const haft_domain_options *domain,
                    const haft_table_options *table)
{
    haft_domain_options domain_in = *domain;
    haft_table_options table_in = *table;

    domain_in.memory = in->memory;
    domain_in.memory_size = in->domain_bytes;
    table_in.memory = in->memory + in->domain_bytes;
    table_in.memory_size = in->table_bytes;
    assert_status(haft_domain_open(&domain_in, &in->domain), HAFT_OK);
    assert_status(haft_table_open(in->domain, &table_in, &in->table), HAFT_OK);
}

static void close_domain_and_unmap(struct given_shared *in)
{
    expect_status(haft_domain_close(in->domain), HAFT_OK);
    memset(in->memory, 0xa5, (size_t)(in->domain_bytes + in->table_bytes)); /* poisoned no more */
    munmap(in->pages, in->size);
    expect_no_leaks();
}

static void close_all(struct given_shared *in)
{
    expect_status(haft_table_close(in->table), HAFT_OK);
    close_domain_and_unmap(in);
}

static void tick_if_frames(haft_domain *domain)
{
    const haft_status status = haft_domain_tick(domain);

    must(status == HAFT_OK || status == HAFT_WRONG_CLOCK);
}

/* Churn until every slot was used by two workers, some of them by way of the depots. */
static void churn(struct given_shared *in)
{
    haft_worker *first = open_worker(in->table);
    haft_worker *second = open_worker(in->table);
    static haft_id ids[1000];

    for (int round = 0; round < 20; round++) {
        uint64_t count = 0;

        for (int i = 0; i < 4000 && count < 1000; i++) {
            const haft_status status =
                haft_insert(count % 2 == 0 ? first : second, NULL, &ids[count]);

            must(status == HAFT_OK || status == HAFT_BUSY);
            count += status == HAFT_OK;
            if (status == HAFT_BUSY) {
                must(haft_worker_quiescent(first) == HAFT_OK);
                must(haft_worker_quiescent(second) == HAFT_OK);
                tick_if_frames(in->domain);
            }
        }
        must(count == 1000);
        for (int i = 0; i < 1000; i++) {
            must(haft_free(i % 3 == 0 ? first : second, ids[i]) == HAFT_OK);
        }
        must(haft_worker_flush(first) == HAFT_OK && haft_worker_flush(second) == HAFT_OK);
        tick_if_frames(in->domain);
    }
    must(haft_worker_close(first) == HAFT_OK && haft_worker_close(second) == HAFT_OK);
}

Test(table_given, memory_is_all_that_is_touched_whatever_id_comes_in)
{
    for (int clock = HAFT_CLOCK_WORKERS; clock < HAFT_CLOCK_COUNT; clock++) {
        const haft_domain_options domain = {.clock = (haft_clock)clock};

        if (clock == HAFT_CLOCK_THREAD || clock == HAFT_CLOCK_CALLER) {
            continue;
        }
        struct given_shared in = guarded(&domain, &options);
        uint64_t seed = 11;

        open_in(&in, &domain, &options);
        const haft_view view = haft_table_view(in.table);
        haft_worker *worker = open_worker(in.table);

        for (uint64_t i = 0; i < FORGED; i++) {
            const haft_id id = {i % 2 == 0 ? random_next(&seed) : ~(i >> 1)};

            must(haft_resolve(view, id) == NULL && !haft_is_live(view, id));
            must(i % 100 != 0 || haft_free(worker, id) != HAFT_OK);
        }
        must(haft_worker_close(worker) == HAFT_OK);
        churn(&in);
        uint64_t released = 1;

        must(haft_trim(in.table, &released) == HAFT_OK && released == 0);
        close_all(&in);
    }
}

Test(table_given, has_as_many_workers_and_threads_as_were_declared)
{
    const haft_domain_options domain = {.threads = 1};
    struct given_shared in = guarded(&domain, &options);
    haft_worker *workers[WORKERS];
    haft_worker *more;
    haft_id id;
    char line[100];

    open_in(&in, &domain, &options);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = open_worker(in.table);
        must(haft_insert(workers[i], NULL, &id) == HAFT_OK);
    }
    expect_status(haft_worker_open(in.table, &more), HAFT_NO_MEMORY);
    haft_table_explain(in.table, HAFT_NO_MEMORY, line, sizeof line);
    cr_expect(eq(str, line, "given: no memory: all declared workers are in use, 3"));
    must(haft_worker_close(workers[0]) == HAFT_OK);
    expect_status(haft_worker_open(in.table, &workers[0]), HAFT_OK);
    for (int i = 0; i < WORKERS; i++) {
        must(haft_worker_close(workers[i]) == HAFT_OK);
    }
    close_all(&in);
}

Test(table_given, becomes_a_local_table_in_the_same_memory)
{
    const haft_domain_options domain = {.threads = 1};
    struct given_shared in = guarded(&domain, &options);
    haft_local *local = NULL;
    haft_id id;

    open_in(&in, &domain, &options);
    churn(&in);
    must(haft_insert_unregistered(in.table, NULL, &id) == HAFT_OK);
    assert_status(haft_unshare(in.table, &local), HAFT_OK);
    cr_expect(eq(ptr, local, in.table));
    cr_expect(eq(str, (char *)haft_local_name(local), "given"));
    cr_expect(haft_is_live(haft_local_view(local), id));
    expect_status(haft_local_free(local, id), HAFT_OK);
    expect_status(haft_local_insert(local, NULL, &id), HAFT_OK);
    haft_local_close(local);
    close_domain_and_unmap(&in);
}

Test(table_given, is_closed_by_the_thread_whose_implicit_worker_is_the_only_one)
{
    const haft_domain_options domain = {.threads = 1};
    haft_table_options one_worker = options;

    one_worker.workers = 1;
    struct given_shared in = guarded(&domain, &one_worker);
    haft_worker *worker = NULL;
    haft_id id;

    open_in(&in, &domain, &one_worker);
    must(haft_worker_current(in.table, &worker) == HAFT_OK);
    must(haft_insert(worker, NULL, &id) == HAFT_OK && haft_free(worker, id) == HAFT_OK);
    must(haft_insert(worker, NULL, &id) == HAFT_OK);
    close_all(&in);
}

static void *open_and_close(void *table)
{
    expect_status(haft_worker_close(open_worker(table)), HAFT_OK);
    return NULL;
}

static void *open_in_vain(void *table)
{
    haft_worker *worker;
    char line[100];

    expect_status(haft_worker_open(table, &worker), HAFT_NO_MEMORY);
    haft_table_explain(table, HAFT_NO_MEMORY, line, sizeof line);
    cr_expect(eq(str, line, "given: no memory: all declared threads of the domain are in use, 1"));
    return NULL;
}

Test(table_given, a_thread_more_than_were_declared_opens_no_worker_until_one_has_left)
{
    const haft_domain_options domain = {.threads = 1};
    struct given_shared in = guarded(&domain, &options);
    pthread_t thread;

    open_in(&in, &domain, &options);
    haft_worker *worker = open_worker(in.table);

    must(pthread_create(&thread, NULL, open_in_vain, in.table) == 0);
    pthread_join(thread, NULL);
    must(haft_worker_close(worker) == HAFT_OK);
    must(pthread_create(&thread, NULL, open_and_close, in.table) == 0);
    pthread_join(thread, NULL);
    close_all(&in);
}

struct beside {
    haft_table *table;
    pthread_barrier_t step;
};

static void *open_in_a_forgotten_job(void *arg)
{
    struct beside *beside = arg;
    haft_domain *domain = haft_table_domain(beside->table);
    const haft_job_state job = haft_job_begin(domain); /* the other thread is the only one */

    pthread_barrier_wait(&beside->step);
    pthread_barrier_wait(&beside->step); /* it has left */
    open_in_vain(beside->table);
    haft_job_end(domain, job);
    return NULL;
}

Test(table_given, a_thread_that_is_refused_a_worker_inside_a_job_counts_no_longer)
{
    const haft_domain_options domain = {.threads = 1};
    struct given_shared in = guarded(&domain, &options);
    struct beside beside;
    pthread_t thread;

    open_in(&in, &domain, &options);
    beside.table = in.table;
    haft_worker *worker = open_worker(in.table);

    must(pthread_barrier_init(&beside.step, NULL, 2) == 0);
    must(pthread_create(&thread, NULL, open_in_a_forgotten_job, &beside) == 0);
    pthread_barrier_wait(&beside.step);
    must(haft_worker_close(worker) == HAFT_OK);
    pthread_barrier_wait(&beside.step);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&beside.step);
    assert_status(haft_worker_open(in.table, &worker), HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    close_all(&in);
}

Test(table_given, footprint_says_what_fills_it_and_less_is_no_memory)
{
    haft_table_options filled = options;
    haft_footprint footprint;
    haft_footprint more;
    haft_domain *domain;
    haft_table *table = NULL;

    must(haft_domain_open(NULL, &domain) == HAFT_OK);
    assert_status(haft_table_footprint(&options, &footprint), HAFT_OK);
    filled.capacity = footprint.capacity;
    cr_expect(eq(u64, footprint.capacity, 2048 - 4 - 300));
    must(haft_table_footprint(&filled, &more) == HAFT_OK);
    cr_expect(eq(u64, more.bytes, footprint.bytes));
    filled.capacity++;
    must(haft_table_footprint(&filled, &more) == HAFT_OK);
    cr_expect(lt(u64, footprint.bytes, more.bytes));
    filled.capacity--;
    char *memory = malloc((size_t)footprint.bytes + 64);

    memset(memory, 0xff, (size_t)footprint.bytes + 64);
    for (size_t from = 0; from < 64; from++) {
        filled.memory = memory + from;
        filled.memory_size = footprint.bytes - 1;
        must(haft_table_open(domain, &filled, &table) == HAFT_NO_MEMORY && table == NULL);
    }
    for (size_t at = 0; at < (size_t)footprint.bytes + 64; at++) {
        must(memory[at] == (char)0xff); /* what is too little is not touched */
    }
    filled.memory_size = footprint.bytes;
    for (size_t from = 0; from < 64; from++) {
        filled.memory = memory + from;
        assert_status(haft_table_open(domain, &filled, &table), HAFT_OK);
        expect_status(haft_table_close(table), HAFT_OK);
    }
    expect_status(haft_domain_close(domain), HAFT_OK);
    free(memory);
}

Test(table_given, of_a_domain_too_little_is_no_memory_and_not_touched)
{
    static char memory[4096];
    haft_domain_options in = {.threads = 20};
    haft_footprint footprint;
    haft_domain *domain = NULL;

    assert_status(haft_domain_footprint(&in, &footprint), HAFT_OK);
    memset(memory, 0xff, sizeof memory);
    for (size_t from = 0; from < 64; from++) {
        in.memory = memory + from;
        in.memory_size = footprint.bytes - 1;
        must(haft_domain_open(&in, &domain) == HAFT_NO_MEMORY && domain == NULL);
    }
    for (size_t at = 0; at < sizeof memory; at++) {
        must(memory[at] == (char)0xff);
    }
    in.memory_size = footprint.bytes;
    for (size_t from = 0; from < 64; from++) {
        in.memory = memory + from;
        assert_status(haft_domain_open(&in, &domain), HAFT_OK);
        expect_status(haft_domain_close(domain), HAFT_OK);
        must(memory[from + footprint.bytes] == (char)0xff);
    }
}

/* Whatever the numbers, a footprint is no smaller than that of smaller ones. */
Test(table_given, footprints_of_huge_numbers_are_huge_or_no_memory)
{
    static const uint64_t huge[] = {
        UINT64_C(1) << 32, UINT64_C(1) << 54, UINT64_C(1) << 61, UINT64_MAX / sizeof(uint64_t) + 2,
        UINT64_MAX - 1003, UINT64_MAX - 999,  UINT64_MAX - 3,    UINT64_MAX};
    static char memory[1 << 20];
    haft_domain *domain;
    haft_table *table;

    must(haft_domain_open(NULL, &domain) == HAFT_OK);
    for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
        haft_table_options of_workers = options;
        haft_table_options of_slots = options;
        haft_domain_options of_threads = {.memory = memory, .memory_size = sizeof memory};
        haft_footprint footprint;
        haft_domain *opened;

        of_workers.workers = of_slots.hold_back = of_threads.threads = huge[i];
        of_workers.memory = of_slots.memory = memory;
        of_workers.memory_size = of_slots.memory_size = sizeof memory;
        expect_status(haft_table_footprint(&of_workers, &footprint), HAFT_NO_MEMORY);
        assert_status(haft_table_footprint(&of_slots, &footprint), HAFT_OK);
        cr_expect(lt(u64, UINT64_C(32) << 32, footprint.bytes));
        cr_expect(eq(u64, footprint.capacity, options.capacity));
        cr_expect(haft_domain_footprint(&of_threads, &footprint) == HAFT_NO_MEMORY ||
                  footprint.bytes / 64 >= huge[i]);
        expect_status(haft_table_open(domain, &of_workers, &table), HAFT_NO_MEMORY);
        expect_status(haft_table_open(domain, &of_slots, &table), HAFT_NO_MEMORY);
        expect_status(haft_domain_open(&of_threads, &opened), HAFT_NO_MEMORY);
    }
    must(haft_domain_close(domain) == HAFT_OK);
}

Test(table_given, foreign_clocks_have_no_given_memory)
{
    static char memory[10000];
    haft_domain_options domain = domain_options(MEMB_CALLER);
    haft_footprint footprint;
    haft_domain *opened;

    expect_status(haft_domain_footprint(&domain, &footprint), HAFT_BAD_CLOCK);
    domain.memory = memory;
    domain.memory_size = sizeof memory;
    expect_status(haft_domain_open(&domain, &opened), HAFT_BAD_CLOCK);
    domain = (haft_domain_options){.memory = memory, .memory_size = 100};
    expect_status(haft_domain_open(&domain, &opened), HAFT_NO_MEMORY);
}

/* As under `ulimit -v`: no address space beyond what the process has. */
Test(table_given, works_where_the_process_may_map_nothing_more)
{
    const haft_domain_options domain = {.clock = HAFT_CLOCK_WORKERS};
    const struct rlimit none = {1, 1};

    need_a_machine();
    if (under_asan()) {
        cr_skip("the sanitizer maps memory for itself");
    }
    struct given_shared in = guarded(&domain, &options);

    must(setrlimit(RLIMIT_AS, &none) == 0);
    open_in(&in, &domain, &options);
    churn(&in);
    expect_status(haft_table_close(in.table), HAFT_OK);
    expect_status(haft_domain_close(in.domain), HAFT_OK);
}
