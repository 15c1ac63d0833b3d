/*
 * The n-th call to the system fails, for every n: a clean status, nothing left behind, and the
 * table usable.
 */
#include "tests/base/faults.h"
#include <haft/kit/restore.h>
#include <haft/memory.h>
#include <haft/share.h>
#include <haft/urcu.h>
#include <limits.h>
#include <string.h>

TestSuite(nth_call_fails, .timeout = SUITE_SECONDS);
TestSuite(strict_overcommit, .timeout = SUITE_SECONDS);

/* --- opening --- */

static const haft_table_options options = {.capacity = 1000, .object_size = 8};
static haft_domain *domain;
static haft_table *table;

FAULTS_OPEN(open_domain, haft_domain,
            haft_domain_open(&(haft_domain_options){.foreign_clock = haft_urcu_memb(),
                                                    .clock = HAFT_CLOCK_THREAD},
                             &made))

static void close_domain(void *opened)
{
    must(haft_domain_close(opened) == HAFT_OK);
}

FAULTS_OPEN(open_table, haft_table, haft_table_open(domain, &options, &made))

static void close_table(void *opened)
{
    must(haft_table_close(opened) == HAFT_OK);
}

FAULTS_OPEN(open_local, haft_local,
            haft_local_open(&(haft_local_options){.capacity = 1000, .object_size = 8}, &made))

static void close_local(void *opened)
{
    haft_local_close(opened);
}

Test(nth_call_fails, a_thread_that_cannot_start_is_told_apart_from_memory)
{
    void *opened = &faults;

    fail_calls(3, 3); /* behind the memory and the semaphore */
    expect_status(open_domain(&opened), HAFT_NO_THREAD);
    fail_calls(1, 1);
    expect_status(open_domain(&opened), HAFT_NO_MEMORY);
    fail_calls(0, -1);
}

/* Objects so large that the first slot's memory comes before that of the next ones. */
FAULTS_OPEN(open_large_table, haft_table,
            haft_table_open(domain, &(haft_table_options){.capacity = 8, .object_size = 1 << 20},
                            &made))

Test(nth_call_fails, opening_a_shared_table_of_large_objects_under_strict_overcommit)
{
    faults.strict = true;
    open_domain((void **)&domain);
    fail_each_both_ways(open_large_table, close_table);
    close_domain(domain);
    expect_no_leaks();
}

/* --- of one thread, counted --- */

static struct {
    int kind;
    haft_table_options options;
    uint64_t growth_step; /* of a packed one */
} to_open;

static haft_status open_subject(void **opened)
{
    static struct subject subject;
    haft_packed_options packed = {.capacity = to_open.options.capacity,
                                  .object_size = to_open.options.object_size,
                                  .sites = to_open.options.sites,
                                  .growth_step = to_open.growth_step};
    haft_status status;

    if (to_open.growth_step != 0) {
        subject = (struct subject){.kind = to_open.kind};
        status = haft_packed_open(&packed, &subject.packed);
    } else {
        status = subject_try_open(to_open.kind, &to_open.options, &subject);
    }
    *opened = status == HAFT_OK ? &subject : *opened;
    return status;
}

static void close_subject(void *opened)
{
    subject_close(opened);
}

static void fail_opening(int kind, haft_table_options with, uint64_t growth_step)
{
    const long before = faults.balance;

    to_open.kind = kind;
    to_open.options = with;
    to_open.growth_step = growth_step;
    for (int strict = 0; strict < 2; strict++) {
        faults.strict = strict != 0;
        fail_each_both_ways(open_subject, close_subject);
        cr_expect(eq(long, faults.balance, before)); /* closing gives everything back */
    }
}

Test(nth_call_fails, opening_a_table_of_each_other_kind)
{
    static const int kinds[] = {LOCAL, FIFO, DENSE, COUNTED};
    const haft_table_options large = {.capacity = 10000000, .object_size = 8};
    haft_table_options with_sites = options;

    with_sites.sites = true;
    for (int i = 0; i < 4; i++) {
        fail_opening(kinds[i], options, 0);
        fail_opening(kinds[i], with_sites, 0);
        fail_opening(kinds[i], large, 0); /* not a block of malloc() */
    }
    fail_opening(DENSE, options, HAFT_PACKED_FIXED);
    expect_no_leaks();
}

/* --- handing over --- */

static haft_local *shareable;
static haft_id sharing_id;

static haft_status share_it(void **opened)
{
    haft_table *made = *opened;
    const haft_status status = haft_share(shareable, domain, NULL, &made);

    must(haft_is_live(status == HAFT_OK ? haft_table_view(made) : haft_local_view(shareable),
                      sharing_id));
    *opened = made;
    return status;
}

static void unshare_it(void *opened)
{
    must(haft_unshare(opened, &shareable) == HAFT_OK);
}

Test(nth_call_fails, sharing_a_local_table)
{
    open_domain((void **)&domain);
    open_local((void **)&shareable);
    must(haft_local_insert(shareable, NULL, &sharing_id) == HAFT_OK);
    fail_each_both_ways(share_it, unshare_it);
    must(haft_local_insert(shareable, NULL, &sharing_id) == HAFT_OK);
    close_local(shareable);
    close_domain(domain);
    expect_no_leaks();
}

/* So large that descriptors of all its batches need memory beyond the first step. */
Test(nth_call_fails, sharing_a_large_local_table_under_strict_overcommit)
{
    const haft_local_options large = {.capacity = 1000000};

    faults.strict = true;
    open_domain((void **)&domain);
    must(haft_local_open(&large, &shareable) == HAFT_OK);
    for (int i = 0; i < 1000000; i++) {
        must(haft_local_insert(shareable, NULL, &sharing_id) == HAFT_OK);
    }
    fail_each_both_ways(share_it, unshare_it);
    close_local(shareable);
    close_domain(domain);
}

Test(nth_call_fails, unsharing_a_table_that_was_never_local_needs_no_memory)
{
    const long before = faults.balance;
    haft_local *local;

    open_domain((void **)&domain);
    open_table((void **)&table);
    fail_calls(1, INT_MAX);
    expect_status(haft_unshare(table, &local), HAFT_OK);
    fail_calls(0, -1);
    close_local(local);
    close_domain(domain);
    cr_expect(eq(long, faults.balance, before));
    expect_no_leaks();
}

/* Two blocks, however aligned, and not a call of the system's in its life. */
Test(nth_call_fails, the_slots_of_a_small_local_table_are_one_block_of_the_heap)
{
    const haft_local_options small = {.capacity = 60, .object_size = 120};
    const haft_local_options aligned = {.capacity = 4, .object_size = 100, .object_alignment = 512};
    const haft_local_options larger = {.capacity = 61, .object_size = 120};
    const long before = faults.balance;
    haft_local *local;

    faults.no_memory = true;
    must(haft_local_open(&larger, &local) == HAFT_NO_MEMORY);
    cr_expect(eq(long, faults.balance, before));
    must(haft_local_open(&small, &local) == HAFT_OK);
    cr_expect(eq(long, faults.balance, before + 2));
    must(haft_local_reserve_capacity(local, 60) == HAFT_OK);
    close_local(local);
    must(haft_local_open(&aligned, &local) == HAFT_OK);
    cr_expect(eq(long, faults.balance, before + 2));
    must((uintptr_t)haft_local_view(local).base % 512 == 504);
    close_local(local);
    cr_expect(eq(long, faults.balance, before));
    expect_no_leaks();
}

Test(nth_call_fails, a_local_table_in_given_memory_asks_for_nothing)
{
    static char memory[1 << 16];
    const haft_local_options given = {
        .capacity = 1000, .object_size = 24, .memory = memory, .memory_size = sizeof memory};
    haft_local *local;
    haft_id id;

    fail_calls(1, INT_MAX);
    must(haft_local_open(&given, &local) == HAFT_OK);
    for (int i = 0; i < 1000; i++) {
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    }
    must(haft_local_free(local, id) == HAFT_OK);
    must(haft_local_trim(local, NULL) == HAFT_OK);
    haft_local_load_begin(local);
    haft_local_load_end(local);
    haft_local_close(local);
    cr_expect(eq(int, faults.calls, 0));
    fail_calls(0, -1);
}

/* Closing asks in debug builds alone, for the census. */
Test(nth_call_fails, a_table_and_a_domain_in_a_block_ask_for_nothing)
{
    static char memory[1 << 20];
    const haft_allocator block = haft_allocator_block(memory, sizeof memory);
    const haft_domain_options clock = {.allocator = &block};
    const haft_table_options in_block = {.capacity = 1000, .object_size = 24, .allocator = &block};
    haft_domain *opened;
    haft_table *own;
    haft_worker *worker;
    haft_id id;

    fail_calls(1, INT_MAX);
    must(haft_domain_open(&clock, &opened) == HAFT_OK);
    must(haft_table_open(opened, &in_block, &own) == HAFT_OK);
    must(haft_worker_open(own, &worker) == HAFT_OK);
    for (int i = 0; i < 5000; i++) {
        must(haft_insert_wait(worker, NULL, &id) == HAFT_OK);
        must(haft_free(worker, id) == HAFT_OK);
    }
    must(haft_insert(worker, NULL, &id) == HAFT_OK);
    must(haft_table_free(own, id) == HAFT_OK);
    must(haft_worker_quiescent(worker) == HAFT_OK);
    must(haft_trim(own, NULL) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    cr_expect(eq(int, faults.calls, 0));
    must(haft_table_close(own) == HAFT_OK);
    must(haft_domain_close(opened) == HAFT_OK);
    fail_calls(0, -1);
}

Test(nth_call_fails, closing_everything_gives_everything_back)
{
    const long before = faults.balance;

    open_domain((void **)&domain);
    open_table((void **)&table);
    must(haft_worker_close(open_worker(table)) == HAFT_OK);
    cr_expect(lt(long, before, faults.balance));
    close_table(table);
    close_domain(domain);
    cr_expect(eq(long, faults.balance, before));
    expect_no_leaks();
}

/* --- strict overcommit --- */

#define OBJECTS 20000

/* Every so often an insert meets a refusal, answers so, and the next one goes on. */
static void refuse_often(int kind, bool sites)
{
    const haft_table_options large = {.capacity = 100000, .object_size = 1016, .sites = sites};
    static haft_id ids[OBJECTS];
    int refusals = 0;

    faults.strict = true;
    struct subject subject = subject_open(kind, &large);

    for (int i = 0; i < OBJECTS; i++) {
        haft_id id = {0x5a5a};

        fail_calls(1, 1000000);
        haft_status status = subject_insert(&subject, NULL, &id);

        fail_calls(0, -1);
        if (status != HAFT_OK) {
            must(status == HAFT_NO_MEMORY && id.bits == 0x5a5a);
            must(subject_live(&subject) == (uint64_t)i);
            refusals++;
            status = subject_insert(&subject, NULL, &id);
        }
        must(status == HAFT_OK);
        memset(haft_resolve(subject.view, id), 0xff, large.object_size);
        ids[i] = id;
    }
    cr_expect(ge(int, refusals, 8)); /* 20 MiB in steps of 2 */
    subject_free_each(&subject, ids, OBJECTS);
    subject_close(&subject);
    expect_no_leaks();
}

TEST_ON_EACH_TABLE(strict_overcommit, any_refusal_is_answered_and_the_next_insert_goes_on)
{
    refuse_often(*kind, false);
}

TEST_ON_EACH_TABLE(strict_overcommit, so_it_is_with_places)
{
    refuse_often(*kind, true);
}

TEST_ON_EACH_TABLE(strict_overcommit, the_last_slot_is_writable_to_its_last_byte)
{
    static const size_t sizes[] = {0, 8, 24, 4088, 5000};

    faults.strict = true;
    for (int i = 0; i < 5; i++) {
        for (size_t alignment = 8; alignment <= 4096; alignment *= 8) {
            const haft_table_options full = {
                .capacity = 1020,
                .layout = HAFT_LAYOUT_OF(10, 10, 0),
                .object_size = sizes[i],
                .object_alignment = alignment,
            };
            AT_END(subject_close) struct subject subject = subject_open(*kind, &full);
            haft_id id;

            for (int n = 0; n < 1020; n++) {
                must(subject_insert(&subject, NULL, &id) == HAFT_OK);
                memset(haft_resolve(subject.view, id), 0xff, sizes[i]);
            }
            must(subject_live(&subject) == 1020);
        }
    }
}

#define IDLE 5 /* workers that draw slots and use one */

/* Whatever is refused afterwards, as many slots are there. */
static void reserve_and_use(const haft_table_options *with)
{
    static haft_id ids[OBJECTS];
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, with);
    haft_worker *idle[IDLE];

    for (int i = 0; i < IDLE; i++) {
        idle[i] = open_worker(shared.table);
    }

    faults.no_protect = true;
    expect_status(haft_reserve_capacity(shared.table, OBJECTS), HAFT_NO_MEMORY);
    faults.no_protect = false;
    faults.no_advice = true;
    expect_status(haft_reserve_capacity(shared.table, OBJECTS), HAFT_NO_MEMORY);
    faults.no_advice = false;
    cr_expect(eq(u64, stats_of(shared.table).high_water, 0));
    expect_status(haft_reserve_capacity(shared.table, OBJECTS), HAFT_OK);
    fail_calls(1, 1000000);
    for (int i = 0; i < IDLE; i++) {
        insert(idle[i]);
    }
    for (int i = 0; stats_of(shared.table).high_water < OBJECTS - 128; i++) { /* a batch each */
        must(haft_insert(shared.worker, NULL, &ids[i % OBJECTS]) == HAFT_OK);
        must(i % 3 != 0 || haft_free(shared.worker, ids[i % OBJECTS]) == HAFT_OK);
    }
    cr_expect(eq(int, faults.calls, 0));
    fail_calls(0, -1);
    for (int i = 0; i < IDLE; i++) {
        must(haft_worker_close(idle[i]) == HAFT_OK);
    }
}

Test(strict_overcommit, reserve_capacity_says_what_is_refused_and_holds_its_promise)
{
    const haft_table_options large = {.capacity = 100000, .object_size = 1016, .sites = true};
    const haft_table_options single = {.capacity = 65532, .layout = HAFT_LAYOUT_OF(16, 32, 0)};

    faults.strict = true;
    reserve_and_use(&large);
    reserve_and_use(&single); /* a descriptor for each slot */
    expect_no_leaks();
}

#define WORKERS 80

/* Descriptors of batches: few of their memory is needed for the slots in use, many for these. */
Test(strict_overcommit, many_workers_with_full_rings_in_a_large_table)
{
    const haft_table_options large = {.capacity = 2000000, .object_size = 8};
    haft_worker *workers[WORKERS];

    faults.strict = true;
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &large);

    for (int i = 0; i < WORKERS; i++) {
        workers[i] = open_worker(shared.table);
        for (int n = 0; n < 100; n++) {
            must(haft_free(workers[i], insert(workers[i])) == HAFT_OK);
            must(haft_worker_flush(workers[i]) == HAFT_OK);
        }
    }
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
    for (int i = 0; i < WORKERS; i++) {
        haft_worker_close(workers[i]);
    }
}

/* The next step of memory is refused: what is free or due is used first, and then the answer. */
TEST_ON_EACH_CLOCK(strict_overcommit, at_a_limit_of_memory_insert_is_busy_while_slots_are_due)
{
    const haft_table_options large = {.capacity = 100000, .object_size = 1016};
    static haft_id ids[OBJECTS];
    int count = 0;
    haft_id id;

    faults.strict = true;
    AT_END(close_shared) struct shared shared = open_shared(*setting, &large);

    must(haft_insert(shared.worker, NULL, &ids[count++]) == HAFT_OK);
    fail_calls(1, 1000000);
    while (haft_insert(shared.worker, NULL, &ids[count]) == HAFT_OK) {
        must(++count < OBJECTS);
    }
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_NO_MEMORY);
    must(haft_free(shared.worker, ids[--count]) == HAFT_OK);
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_BUSY);
    settle(shared.worker);
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_OK);
    expect_status(haft_insert(shared.worker, NULL, &ids[count]), HAFT_NO_MEMORY);
    fail_calls(0, -1);
    expect_status(haft_insert(shared.worker, NULL, &ids[count]), HAFT_OK);
}
