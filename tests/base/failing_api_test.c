/* The n-th call to the system fails, for every n: each option, and what else asks for memory. */
#include "tests/base/faults.h"
#include <haft/kit/arena.h>
#include <haft/kit/commands.h>
#include <haft/kit/restore.h>
#include <haft/urcu.h>
#include <semaphore.h>
#include <string.h>

TestSuite(nth_call_of, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 1000, .object_size = 8};
static haft_domain *domain;
static haft_table *table;

/* --- domains and tables with every option --- */

static haft_clock clock_to_open;

static haft_domain_options domain_to_open(void)
{
    const bool has_flavour =
        clock_to_open == HAFT_CLOCK_THREAD || clock_to_open == HAFT_CLOCK_CALLER;

    return (haft_domain_options){.foreign_clock = has_flavour ? haft_urcu_memb() : NULL,
                                 .clock = clock_to_open};
}

FAULTS_OPEN(open_any_domain, haft_domain,
            haft_domain_open((const haft_domain_options[]){domain_to_open()}, &made))

static void close_any_domain(void *opened)
{
    must(haft_domain_close(opened) == HAFT_OK);
}

static void open_domain(haft_clock clock)
{
    clock_to_open = clock;
    must(open_any_domain((void **)&domain) == HAFT_OK);
}

static void close_domain(void)
{
    close_any_domain(domain);
    expect_no_leaks();
}

Test(nth_call_of, opening_a_domain_of_each_clock)
{
    for (int clock = 0; clock < HAFT_CLOCK_COUNT; clock++) {
        clock_to_open = (haft_clock)clock;
        fail_each_both_ways(open_any_domain, close_any_domain);
    }
    expect_no_leaks();
}

static haft_table_options options_to_open;

FAULTS_OPEN(open_any_table, haft_table, haft_table_open(domain, &options_to_open, &made))

/* It can be used, too. */
static void close_any_table(void *opened)
{
    haft_worker *worker = open_worker(opened);

    must(haft_free(worker, insert(worker)) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    must(haft_table_close(opened) == HAFT_OK);
}

Test(nth_call_of, opening_a_table_with_each_option)
{
    const haft_table_options each[] = {
        {.capacity = 1000, .object_size = 8, .name = "named"},
        {.capacity = 1000, .object_size = 100, .object_alignment = 64, .pins = true},
        {.capacity = 1000, .object_size = 8, .huge_pages = true},
        {.capacity = 1000, .object_size = 8, .sites = true},
    };

    for (int clock = 0; clock < HAFT_CLOCK_COUNT; clock++) {
        open_domain((haft_clock)clock);
        for (size_t i = 0; i < 2 * (sizeof each / sizeof each[0]); i++) {
            options_to_open = each[i / 2];
            faults.strict = i % 2 == 1;
            fail_each_both_ways(open_any_table, close_any_table);
        }
        close_domain();
    }
}

/* --- workers --- */

static haft_status open_table_and_worker(void **opened)
{
    haft_worker *worker;
    haft_table *made;
    haft_status status = haft_table_open(domain, &options, &made);

    if (status == HAFT_OK) {
        status = haft_worker_open(made, &worker);
        if (status != HAFT_OK) {
            must(haft_table_close(made) == HAFT_OK);
        } else {
            must(haft_worker_close(worker) == HAFT_OK);
            *opened = made;
        }
    }
    return status;
}

Test(nth_call_of, opening_a_table_and_a_worker_on_each_clock)
{
    for (int clock = 0; clock < HAFT_CLOCK_COUNT; clock++) {
        for (int for_ever = 0; for_ever < 2; for_ever++) {
            open_domain((haft_clock)clock);
            fail_each(open_table_and_worker, close_any_table, for_ever != 0);
            close_domain();
        }
    }
}

/* --- command sets and arenas, on malloc --- */

static void do_nothing(haft_recorder *recorder, void *payload)
{
}

static haft_status record(haft_commands *commands)
{
    haft_recorder *recorder;
    haft_status status = HAFT_OK;
    char payload[3000] = {0};
    haft_id id;

    for (uint64_t key = 0; key < 3 && status == HAFT_OK; key++) {
        status = haft_recorder_open(commands, key, 50, &recorder);
        for (int n = 0; n < 50 && status == HAFT_OK; n++) {
            status = haft_recorder_create(recorder, &id, NULL);
            status = status != HAFT_OK ? status : haft_recorder_destroy(recorder, id);
            status = status != HAFT_OK
                         ? status
                         : haft_recorder_call(recorder, do_nothing, payload, sizeof payload);
        }
    }
    return status;
}

Test(nth_call_of, opening_and_recording_in_a_command_set)
{
    haft_status status = HAFT_NO_MEMORY;
    const haft_commands_options with = {.block_size = 0};
    haft_applied applied;

    open_domain(HAFT_CLOCK_CALLER);
    must(haft_table_open(domain, &options, &table) == HAFT_OK);
    for (int n = 1; status != HAFT_OK; n++) {
        const uint64_t live = stats_of(table).live;
        haft_commands *commands = NULL;

        must(n < 1000);
        fail_calls(n, n % 2 == 0 ? n : 1000000);
        status = haft_commands_open(table, &with, &commands);
        status = status == HAFT_OK ? record(commands) : status;
        fail_calls(0, -1);
        must(status == HAFT_OK || status == HAFT_NO_MEMORY);
        if (commands != NULL) {
            must(haft_commands_apply(commands, &applied) == HAFT_OK);
            must(record(commands) == HAFT_OK);
            must(haft_commands_apply(commands, &applied) == HAFT_OK && applied.created == 150);
            haft_commands_close(commands);
        }
        must(stats_of(table).live == live && stats_of(table).reserved == 0);
        must(haft_domain_wait(domain) == HAFT_OK);
    }
    must(haft_table_close(table) == HAFT_OK);
    close_domain();
}

static haft_status use_arena(haft_arena *arena)
{
    const haft_allocator allocator = haft_arena_allocator(arena);
    char *grown = NULL;

    for (size_t size = 1000; size <= 100000; size *= 10) {
        char *wide = haft_arena_alloc_aligned(arena, size, 4096);
        char *next =
            allocator.resize(allocator.context, grown, grown != NULL ? size / 10 : 0, size, 8);

        if (wide == NULL || next == NULL) {
            return HAFT_NO_MEMORY;
        }
        memset(wide, 1, size);
        memset(next, 2, size);
        grown = next;
    }
    return HAFT_OK;
}

Test(nth_call_of, opening_and_using_an_arena)
{
    const long before = faults.balance;
    const haft_arena_options with = {.block_size = 0};
    haft_status status = HAFT_NO_MEMORY;

    for (int n = 1; status != HAFT_OK; n++) {
        haft_arena *arena = NULL;

        must(n < 100);
        fail_calls(n, n % 2 == 0 ? n : 1000000);
        status = haft_arena_open(&with, &arena);
        status = status == HAFT_OK ? use_arena(arena) : status;
        fail_calls(0, -1);
        must(status == HAFT_OK || status == HAFT_NO_MEMORY);
        if (arena != NULL) {
            haft_arena_reset(arena);
            must(use_arena(arena) == HAFT_OK);
            haft_arena_close(arena);
        }
        must(faults.balance == before);
    }
}

/* What haft_allocator_malloc() gives says no, and leaves what is there as it was. */
Test(nth_call_of, the_allocator_that_is_malloc)
{
    const haft_allocator allocator = haft_allocator_malloc();
    const long before = faults.balance;

    for (size_t alignment = 8; alignment <= 4096; alignment *= 8) {
        unsigned char *memory = allocator.alloc(allocator.context, 100, alignment);

        must(memory != NULL);
        memset(memory, 7, 100);
        fail_calls(1, 1000000);
        cr_expect(eq(ptr, allocator.alloc(allocator.context, 100, alignment), NULL));
        cr_expect(
            eq(ptr, allocator.resize(allocator.context, memory, 100, 50000, alignment), NULL));
        cr_expect(eq(ptr, allocator.resize(allocator.context, NULL, 0, 50, alignment), NULL));
        fail_calls(0, -1);
        for (int i = 0; i < 100; i++) {
            must(memory[i] == 7);
        }
        allocator.free(allocator.context, memory, 100);
    }
    cr_expect(eq(long, faults.balance, before));
    expect_no_leaks();
}

/* --- local tables --- */

#define OBJECTS 2000

static haft_local *open_local(void)
{
    const haft_local_options large = {.capacity = 100000, .object_size = 1016};
    haft_local *local;

    must(haft_local_open(&large, &local) == HAFT_OK);
    return local;
}

static void fill_local(haft_local *local)
{
    haft_id id;

    for (int i = 0; i < OBJECTS; i++) {
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    }
}

/* Each refusal alone (of trim's many, some): OK or no memory, and the table goes on. */
static void fail_each_step(haft_status (*step)(haft_local *local))
{
    bool reached = true;

    for (int n = 1; reached; n += n < 10 ? 1 : 50) {
        AT_END(local_end) haft_local *local = open_local();

        must(n < 10000);
        fill_local(local);
        fail_calls(n, n);
        const haft_status status = step(local);

        reached = faults.calls >= n;
        fail_calls(0, -1);
        must(status == HAFT_OK || (reached && status == HAFT_NO_MEMORY));
        must(step(local) == HAFT_OK);
        fill_local(local);
    }
}

static haft_status reserve_more(haft_local *local)
{
    return haft_local_reserve_capacity(local, 3 * OBJECTS);
}

static haft_status clear_and_trim(haft_local *local)
{
    uint64_t bytes;

    haft_local_clear(local);
    return haft_local_trim(local, &bytes);
}

static haft_status restore_far(haft_local *local)
{
    const haft_id far = {UINT64_C(7) << 32 | 90000};

    return haft_is_live(haft_local_view(local), far) ? HAFT_OK
                                                     : haft_local_restore(local, far, NULL);
}

Test(nth_call_of, reserving_trimming_and_restoring_in_a_local_table)
{
    const long before = faults.balance;

    for (int strict = 0; strict < 2; strict++) {
        faults.strict = strict != 0;
        fail_each_step(reserve_more);
        fail_each_step(clear_and_trim);
        fail_each_step(restore_far);
    }
    cr_expect(eq(long, faults.balance, before));
    expect_no_leaks();
}
