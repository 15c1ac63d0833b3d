/* Little memory: a limit on data, as under strict overcommit; and closing leaves nothing behind. */
#include "tests/support.h"
#include <haft/table.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(limit, .timeout = SUITE_SECONDS);
TestSuite(leak, .timeout = SUITE_SECONDS);

static unsigned long long address_space_kib(void)
{
    need_a_machine();
    return number_in_proc("/proc/self/status", "VmSize: %llu kB");
}

#define SLOTS (1u << 20)

static const haft_table_options large = {.capacity = SLOTS, .object_size = 1016};

static haft_id ids[SLOTS];

/* Insert until the system refuses memory; how many objects that were. */
static uint64_t fill_memory(struct subject *subject)
{
    const uint64_t count = subject_fill(subject, ids, SLOTS);
    haft_id id = {0x5a5a};
    void *object = ids;

    expect_status(subject_insert(subject, NULL, &id), HAFT_NO_MEMORY);
    expect_status(subject_reserve(subject, &id, &object), HAFT_NO_MEMORY);
    cr_expect(eq(u64, id.bits, 0x5a5a));
    cr_expect(eq(ptr, object, ids));
    cr_expect(eq(u64, subject_live(subject), count));
    return count;
}

TEST_ON_EACH_TABLE(limit, a_table_beyond_it_opens_grows_as_far_as_it_goes_and_works_on)
{
    need_wide_addresses();
    limit_data(64 * MIB);
    AT_END(subject_close) struct subject subject = subject_open(*kind, &large);
    const uint64_t count = fill_memory(&subject);

    cr_expect(lt(u64, 10000, count));
    cr_expect(lt(u64, count, 70000));
    for (uint64_t i = 0; i < count; i++) {
        memset(haft_resolve(subject.view, ids[i]), 0xff, large.object_size);
    }
    for (int round = 0; round < 3; round++) {
        subject_free_each(&subject, ids, (int)count);
        subject_settle(&subject);
        cr_expect(ge(u64, fill_memory(&subject), count));
    }
}

TEST_ON_EACH_CLOCK(limit, reached_by_many_at_once_they_are_as_many_as_there_was_memory_for)
{
    need_wide_addresses();
    limit_data(64 * MIB);
    AT_END(close_shared) struct shared shared = open_shared(*setting, &large);
    haft_status why = HAFT_OK;
    const size_t count = haft_insert_many(shared.worker, NULL, ids, SLOTS, &why);
    haft_id id = {0x5a5a};

    expect_status(why, HAFT_NO_MEMORY);
    cr_expect(lt(sz, 10000, count));
    cr_expect(lt(sz, count, 70000));
    cr_expect(eq(u64, ids[count].bits, 0));
    cr_expect(eq(u64, stats_of(shared.table).live, count));
    cr_expect(eq(sz, haft_insert_many(shared.worker, NULL, &id, 1, &why), 0));
    expect_status(why, HAFT_NO_MEMORY);
    cr_expect(eq(u64, id.bits, 0x5a5a));
    cr_expect(eq(sz, haft_free_many(shared.worker, ids, count, NULL), count));
    settle(shared.worker);
    cr_expect(ge(sz, haft_insert_many(shared.worker, NULL, ids, SLOTS, &why), count));
}

TEST_ON_EACH_TABLE(limit, when_it_is_raised_the_table_grows_on)
{
    need_wide_addresses();
    limit_data(32 * MIB);
    AT_END(subject_close) struct subject subject = subject_open(*kind, &large);
    const uint64_t count = fill_memory(&subject);

    limit_data(64 * MIB);
    for (uint64_t i = 0; i < 20000; i++) {
        must(subject_insert(&subject, NULL, &ids[count + i]) == HAFT_OK);
    }
    cr_expect(eq(u64, subject_live(&subject), count + 20000));
}

TEST_ON_EACH_TABLE(limit, a_forged_id_into_memory_not_writable_yet_does_not_fault)
{
    need_wide_addresses();
    uint64_t seed = 61;

    limit_data(32 * MIB);
    AT_END(subject_close) struct subject subject = subject_open(*kind, &large);

    for (int n = 0; n < 10000; n++) {
        const haft_id id = {random_next(&seed)};

        must(haft_resolve(subject.view, id) == NULL);
        must(!haft_is_live(subject.view, id));
        must(subject_free(&subject, id) != HAFT_OK);
        must(subject_diagnose(&subject, id) != HAFT_OK);
    }
}

/* --- nothing is left behind --- */

static void ignore_leak(const haft_leak *leak, void *arg)
{
}

/* Open, use in all ways, close. */
static void live_once(struct setting setting)
{
    const haft_table_options options = {.capacity = 20000,
                                        .object_size = 24,
                                        .on_reclaim = ignore,
                                        .sites = true,
                                        .on_leak = ignore_leak,
                                        .name = "short-lived"};
    AT_END(close_shared) struct shared shared = open_shared(setting, &options);
    haft_worker *workers[8];

    for (int i = 0; i < 8; i++) {
        workers[i] = open_worker(shared.table);
        for (int n = 0; n < 1000; n++) {
            must(haft_free(workers[i], insert(workers[i])) == HAFT_OK);
            must(n % 100 != 0 || haft_worker_flush(workers[i]) == HAFT_OK);
            insert(workers[i]);
        }
    }
    settle(shared.worker);
    for (int i = 0; i < 8; i++) {
        must(haft_worker_close(workers[i]) == HAFT_OK);
    }
}

TEST_ON_EACH_CLOCK(leak, opening_and_closing_leaves_no_memory_and_no_mapping_behind)
{
    /* Its quarantine holds freed memory, and it finds leaks itself. */
    const unsigned long kept_kib = (under_asan() ? 512 : 10) * 1024;

    live_once(*setting);
    const unsigned long long mapped = address_space_kib();
    const size_t allocated = mallinfo2().uordblks;

    for (int n = 0; n < 50; n++) {
        live_once(*setting);
    }
    cr_expect(lt(sz, mallinfo2().uordblks, allocated + 50 * 1000));
    cr_expect(lt(u64, address_space_kib(), mapped + kept_kib));
}
