/* haft_reserve_capacity: memory of a shared table, had beforehand. */
#include "tests/support.h"
#include <haft/memory.h>
#include <haft/share.h>
#include <sys/resource.h>

TestSuite(shared_capacity, .timeout = SUITE_SECONDS);

#define OBJECTS 20000

static haft_id ids[OBJECTS];

static void use(haft_worker *const *workers, int count)
{
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_insert(workers[i % count], NULL, &ids[i]) == HAFT_OK);
    }
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_free(workers[i / 3 % count], ids[i]) == HAFT_OK);
    }
    for (int i = 0; i < count; i++) {
        must(haft_worker_quiescent(workers[i]) == HAFT_OK);
    }
}

static long page_faults(void)
{
    struct rusage usage;

    must(getrusage(RUSAGE_SELF, &usage) == 0);
    return usage.ru_minflt;
}

static long faults_of_use(haft_worker *const *workers, int count)
{
    const long before = page_faults();

    use(workers, count);
    return page_faults() - before;
}

/* In a table of the same kind: all code has been used, and the C library has its memory. */
static void warm_up(const haft_table_options *options)
{
    struct shared shared = open_shared((struct setting){ANNOUNCED, HAFT_CLOCK_WORKERS}, options);

    use(&shared.worker, 1);
    close_shared(&shared);
}

/* Faults of AddressSanitizer's own memory count as well. */
static bool has_own_faults_alone(void)
{
    return !under_asan() && !is_emulated();
}

static void expect_no_fault(const haft_table_options *options)
{
    struct shared shared = open_shared((struct setting){ANNOUNCED, HAFT_CLOCK_WORKERS}, options);
    haft_worker *const workers[] = {shared.worker, open_worker(shared.table)};

    expect_status(haft_reserve_capacity(shared.table, OBJECTS + 1000), HAFT_OK);
    const long faults = faults_of_use(workers, 2);

    if (has_own_faults_alone()) {
        cr_expect(lt(long, faults, 4));
    }
    must(haft_worker_close(workers[1]) == HAFT_OK);
    close_shared(&shared);
}

Test(shared_capacity, reserved_needs_no_page_of_slots_sites_descriptors_or_workers_later)
{
    need_wide_addresses();
    const haft_table_options plain = {.capacity = 1 << 20, .object_size = 248};
    const haft_table_options with_sites = {
        .capacity = 1 << 20, .object_size = 8, .sites = true, .pins = true};
    /* A descriptor for each slot. */
    const haft_table_options single = {
        .capacity = 65532, .object_size = 8, .layout = HAFT_LAYOUT_OF(16, 32, 0)};

    warm_up(&plain);
    expect_no_fault(&plain);
    expect_no_fault(&with_sites);
    expect_no_fault(&single);
}

Test(shared_capacity, not_reserved_costs_page_faults)
{
    need_wide_addresses();
    const haft_table_options options = {.capacity = 1 << 20, .object_size = 248};
    struct shared shared = open_shared((struct setting){ANNOUNCED, HAFT_CLOCK_WORKERS}, &options);

    cr_expect(lt(long, 500, faults_of_use(&shared.worker, 1)));
    close_shared(&shared);
}

Test(shared_capacity, reserved_brings_trimmed_slots_back)
{
    need_wide_addresses();
    const haft_table_options options = {.capacity = 1 << 20, .object_size = 4088};
    struct shared shared = open_shared((struct setting){ANNOUNCED, HAFT_CLOCK_WORKERS}, &options);
    uint64_t released;

    use(&shared.worker, 1);
    settle(shared.worker);
    must(haft_trim(shared.table, &released) == HAFT_OK);
    must(released > UINT64_C(4000) * 10000);
    const uint64_t before = pages_in_memory(shared.view);

    expect_status(haft_reserve_capacity(shared.table, 0), HAFT_OK);
    cr_expect(lt(u64, before + 10000, pages_in_memory(shared.view)));
    for (int i = 0; i < OBJECTS; i++) {
        must(!haft_is_live(shared.view, ids[i]));
    }
    use(&shared.worker, 1);
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(shared_capacity, of_more_slots_than_the_table_has_is_full_and_of_all_is_ok)
{
    const haft_table_options options = {.capacity = 1000, .object_size = 8};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    const uint64_t limit = stats_of(shared.table).limit;

    expect_status(haft_reserve_capacity(shared.table, 0), HAFT_OK);
    expect_status(haft_reserve_capacity(shared.table, limit), HAFT_OK);
    expect_status(haft_reserve_capacity(shared.table, limit + 1), HAFT_FULL);
    expect_status(haft_reserve_capacity(shared.table, UINT64_MAX), HAFT_FULL);
    cr_expect(eq(u64, stats_of(shared.table).high_water, 0));
    for (uint64_t i = 0; i < 1000; i++) {
        must(haft_insert(shared.worker, NULL, &ids[i]) == HAFT_OK);
    }
    expect_status(haft_reserve_capacity(shared.table, limit), HAFT_OK);
}

/* A callback does not wait here, so it may. */
static void reserve_inside(void *object, haft_id id, haft_worker *worker, void *arg)
{
    *(haft_status *)arg = haft_reserve_capacity(haft_worker_table(worker), 100);
}

TEST_ON_EACH_CLOCK(shared_capacity, may_be_reserved_in_a_callback)
{
    haft_status said = HAFT_BUSY;
    const haft_table_options options = {
        .capacity = 1000, .object_size = 8, .on_reclaim = reserve_inside, .reclaim_arg = &said};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);

    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    settle(shared.worker);
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    expect_status(said, HAFT_OK);
}
