/* Threads with a small stack: callbacks in a chain, and reports. */
#include "tests/support.h"
#include <criterion/redirect.h>
#include <limits.h>
#include <unistd.h>

TestSuite(small_stack, .timeout = SUITE_SECONDS);

#define CHAIN 150000

#if defined(__SANITIZE_ADDRESS__)
#define STACK ((size_t)1 << 20) /* its frames are larger */
#else
#define STACK ((size_t)24 << 10)
#endif

static void *run_in_thread(void *arg)
{
    void (*const *run)(void) = arg;

    (*run)();
    return NULL;
}

static void on_small_stack(void (*run)(void))
{
    pthread_attr_t attributes;
    pthread_t thread;

    must(pthread_attr_init(&attributes) == 0);
    must(pthread_attr_setstacksize(&attributes, STACK) == 0);
    must(pthread_create(&thread, &attributes, run_in_thread, &run) == 0);
    must(pthread_join(thread, NULL) == 0);
    pthread_attr_destroy(&attributes);
}

/* --- chains: the end of each object ends the next one --- */

static struct {
    haft_local *local;
    haft_packed *packed;
    haft_table *table;
    int ended;
} chain;

static void end_local(void *object, haft_id id, void *arg)
{
    chain.ended++;
    haft_local_free(chain.local, *(haft_id *)object);
}

static void free_local_chain(void)
{
    const haft_local_options options = {
        .capacity = CHAIN, .object_size = sizeof(haft_id), .on_destroy = end_local};
    haft_id next = HAFT_NIL;

    must(haft_local_open(&options, &chain.local) == HAFT_OK);
    for (int i = 0; i < CHAIN; i++) {
        haft_id id;

        must(haft_local_insert(chain.local, &next, &id) == HAFT_OK);
        next = id;
    }
    must(haft_local_free(chain.local, next) == HAFT_OK);
    must(chain.ended == CHAIN && haft_local_count(chain.local) == 0);
    haft_local_close(chain.local);
}

Test(small_stack, a_chain_in_a_local_table_goes_with_its_first_object)
{
    on_small_stack(free_local_chain);
    cr_expect(eq(int, chain.ended, CHAIN));
}

static void end_packed(void *object, haft_id id, void *arg)
{
    chain.ended++;
    haft_packed_kill(chain.packed, *(haft_id *)object);
}

static void free_packed_chain(void)
{
    const haft_packed_options options = {
        .capacity = CHAIN, .object_size = sizeof(haft_id), .on_destroy = end_packed};
    haft_id next = HAFT_NIL;

    must(haft_packed_open(&options, &chain.packed) == HAFT_OK);
    for (int i = 0; i < CHAIN; i++) {
        haft_id id;

        must(haft_packed_insert(chain.packed, &next, &id) == HAFT_OK);
        next = id;
    }
    must(haft_packed_kill(chain.packed, next) == HAFT_OK);
    must(haft_packed_refresh(chain.packed) == HAFT_OK);
    must(chain.ended == CHAIN && haft_packed_is_empty(chain.packed));
    haft_packed_close(chain.packed);
}

Test(small_stack, a_chain_in_a_packed_table_goes_with_its_first_object)
{
    on_small_stack(free_packed_chain);
    cr_expect(eq(int, chain.ended, CHAIN));
}

static void end_shared(void *object, haft_id id, haft_worker *worker, void *arg)
{
    const haft_id next = *(haft_id *)object;

    chain.ended++;
    if (worker != NULL) {
        haft_free(worker, next);
    } else {
        haft_table_free(chain.table, next);
    }
}

static haft_domain *open_chain(const haft_table_options *options, haft_worker **worker)
{
    haft_domain *domain;

    must(haft_domain_open(NULL, &domain) == HAFT_OK);
    must(haft_table_open(domain, options, &chain.table) == HAFT_OK);
    must(haft_worker_open(chain.table, worker) == HAFT_OK);
    return domain;
}

static void free_shared_chain(void)
{
    const haft_table_options options = {
        .capacity = CHAIN, .object_size = sizeof(haft_id), .on_reclaim = end_shared};
    haft_worker *worker;
    AT_END(domain_end) haft_domain *domain = open_chain(&options, &worker);
    haft_id next = HAFT_NIL;

    for (int i = 0; i < CHAIN; i++) {
        haft_id id;

        must(haft_insert(worker, &next, &id) == HAFT_OK);
        next = id;
    }
    must(haft_free(worker, next) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    must(haft_table_close(chain.table) == HAFT_OK);
}

Test(small_stack, a_chain_in_a_shared_table_goes_with_its_close)
{
    on_small_stack(free_shared_chain);
    cr_expect(eq(int, chain.ended, CHAIN));
}

/* --- reports --- */

#define LEAKS 3000

static void report_and_explain(void)
{
    const haft_table_options options = {.capacity = LEAKS, .object_size = 16, .sites = true};
    haft_worker *worker;
    AT_END(domain_end) haft_domain *domain = open_chain(&options, &worker);
    char line[200];
    haft_id id = HAFT_NIL;

    for (int i = 0; i < LEAKS; i++) {
        must(haft_insert(worker, NULL, &id) == HAFT_OK);
    }
    must(haft_table_explain(chain.table, HAFT_FULL, line, sizeof line) != 0);
    must(haft_diagnose_format(chain.table, id, line, sizeof line) != 0);
    must(haft_worker_close(worker) == HAFT_OK);
    must(haft_table_close(chain.table) == HAFT_OK);
}

Test(small_stack, leaks_are_reported, .init = cr_redirect_stderr)
{
    on_small_stack(report_and_explain);
}
