/* The n-th call to the system fails, for every n: a shared table that has been used gives back. */
#include "tests/base/faults.h"
#include <haft/kit/commands.h>
#include <haft/memory.h>
#include <haft/table.h>
#include <haft/urcu.h>

TestSuite(nth_call_in_use_of, .timeout = SUITE_SECONDS);

static haft_domain *domain;
static haft_table *table;

static haft_status open_callers(void)
{
    const haft_domain_options callers = {.foreign_clock = haft_urcu_memb(),
                                         .clock = HAFT_CLOCK_CALLER};

    return haft_domain_open(&callers, &domain);
}

#define SLOTS 60000 /* enough batches that their descriptors fill pages */

static haft_id ids[SLOTS];

/* All slots free, and their batches flushed; the worker stays, so that a further one is new. */
static haft_worker *open_used(const haft_table_options *with, bool worn)
{
    haft_id id;

    must(haft_table_open(domain, with, &table) == HAFT_OK);
    haft_worker *worker = open_worker(table);

    must(haft_insert_many(worker, NULL, ids, SLOTS, NULL) == SLOTS);
    must(haft_free_many(worker, ids, SLOTS, NULL) == SLOTS);
    settle(worker);
    while (worn && haft_insert_wait(worker, NULL, &id) == HAFT_OK) { /* the last few, too */
        must(haft_free(worker, id) == HAFT_OK);
    }
    return worker;
}

/* As many can be inserted as before, under new ids unless they were worn out and repeat. */
static void close_used(haft_worker *worker, bool worn)
{
    static haft_id later[SLOTS];

    must(haft_insert_many(worker, NULL, later, SLOTS, NULL) == SLOTS);
    for (int i = 0; i < SLOTS; i++) {
        must(haft_is_live(haft_table_view(table), later[i]));
        must(worn || !haft_is_live(haft_table_view(table), ids[i]));
    }
    must(stats_of(table).live == SLOTS);
    must(haft_worker_close(worker) == HAFT_OK);
    must(haft_table_close(table) == HAFT_OK);
}

/* The n-th call fails, alone or with all after it; then once more, and right.  False: no n-th. */
static bool fail_call_of(haft_status (*step)(haft_table *, uint64_t *), int n, bool for_ever)
{
    uint64_t count = 0x5a5a;

    fail_calls(n, for_ever ? 1000000 : n);
    const haft_status status = step(table, &count);
    const bool reached = faults.calls >= n;

    fail_calls(0, -1);
    must(status == HAFT_OK || (reached && status == HAFT_NO_MEMORY));
    must(status == HAFT_OK || count == 0x5a5a);
    must(step(table, &count) == HAFT_OK);
    must(status == HAFT_OK || count != 0);
    return reached;
}

static void fail_each_call_of(haft_status (*step)(haft_table *, uint64_t *),
                              const haft_table_options *with, bool worn)
{
    for (int round = 0; round < 4; round++) {
        bool reached = true;

        faults.strict = round >= 2;
        must(open_callers() == HAFT_OK);
        for (int n = 1; reached; n++) {
            haft_worker *worker = open_used(with, worn);

            must(n < 1000);
            reached = fail_call_of(step, n, round % 2 == 1);
            must(n > 1 || reached);
            close_used(worker, worn);
        }
        must(haft_domain_close(domain) == HAFT_OK);
        expect_no_leaks();
    }
}

Test(nth_call_in_use_of, trimming_a_shared_table)
{
    const long before = faults.balance;
    const haft_table_options large = {.capacity = SLOTS, .object_size = 24};

    fail_each_call_of(haft_trim, &large, false);
    cr_expect(eq(long, faults.balance, before));
}

static haft_status reserve_all(haft_table *of, uint64_t *count)
{
    const haft_status status = haft_reserve_capacity(of, stats_of(of).limit);

    *count = status == HAFT_OK ? 1 : *count;
    return status;
}

Test(nth_call_in_use_of, reserving_capacity)
{
    const long before = faults.balance;
    const haft_table_options large = {.capacity = 2 * SLOTS, .object_size = 24};

    fail_each_call_of(reserve_all, &large, false);
    cr_expect(eq(long, faults.balance, before));
}

/* --- without a worker --- */

Test(nth_call_in_use_of, a_free_without_a_worker)
{
    const haft_table_options small = {.capacity = 10, .object_size = 8};
    haft_worker *worker;
    haft_id id;

    must(open_callers() == HAFT_OK);
    must(haft_table_open(domain, &small, &table) == HAFT_OK);
    must(haft_worker_open(table, &worker) == HAFT_OK);
    must(haft_insert(worker, NULL, &id) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    fail_calls(1, 1000000);
    expect_status(haft_table_free(table, id), HAFT_OK);
    expect_status(haft_table_close(table), HAFT_OK);
    fail_calls(0, -1);
    must(haft_domain_close(domain) == HAFT_OK);
}

/* --- jobs --- */

/* What cannot be remembered of a job must not make its thread think that it is in none. */
Test(nth_call_in_use_of, beginning_a_job_keeps_its_threads_first_worker_back)
{
    const haft_domain_options workers = {.clock = HAFT_CLOCK_WORKERS};
    const haft_table_options small = {.capacity = 100};
    haft_worker *worker;

    must(haft_domain_open(&workers, &domain) == HAFT_OK);
    must(haft_table_open(domain, &small, &table) == HAFT_OK);
    fail_calls(1, 1000000);
    const haft_job_state outer = haft_job_begin(domain);

    fail_calls(0, -1);
    expect_status(haft_worker_open(table, &worker), HAFT_NO_MEMORY);
    const haft_job_state inner = haft_job_begin(domain);

    expect_status(haft_worker_open(table, &worker), HAFT_NO_MEMORY);
    haft_job_end(domain, inner);
    haft_job_end(domain, outer);
    const haft_job_state job = haft_job_begin(domain);

    expect_status(haft_worker_open(table, &worker), HAFT_OK);
    haft_job_end(domain, job);
    must(haft_worker_close(worker) == HAFT_OK);
    must(haft_table_close(table) == HAFT_OK && haft_domain_close(domain) == HAFT_OK);
    expect_no_leaks();
}

/* --- command sets --- */

#define CREATES 50000 /* more ids than a recorder's arena has room for */

Test(nth_call_in_use_of, opening_a_recorder_of_many_creates)
{
    const haft_table_options large = {.capacity = 2 * CREATES, .object_size = 8};
    const haft_commands_options with = {.block_size = 0};
    haft_recorder *recorder = NULL;
    haft_commands *commands;
    haft_status status = HAFT_NO_MEMORY;
    int failures = 0;

    must(open_callers() == HAFT_OK);
    must(haft_table_open(domain, &large, &table) == HAFT_OK);
    must(haft_commands_open(table, &with, &commands) == HAFT_OK);
    for (int n = 1; status != HAFT_OK; n++) { /* the memory got so far stays for the next time */
        must(n < 1000);
        fail_calls(1 + n % 3, 1000000);
        status = haft_recorder_open(commands, 7, CREATES, &recorder);
        fail_calls(0, -1);
        must(status == HAFT_OK || (status == HAFT_NO_MEMORY && recorder == NULL));
        failures += status != HAFT_OK;
    }
    cr_expect(ge(int, failures, 2));
    must(haft_commands_apply(commands, &(haft_applied){0}) == HAFT_OK);
    haft_commands_close(commands);
    must(haft_table_close(table) == HAFT_OK && haft_domain_close(domain) == HAFT_OK);
    expect_no_leaks();
}
