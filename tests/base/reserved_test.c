/* What tables take before they hold objects: address space, resident memory, and room in dumps. */
#include "tests/support.h"
#include <haft/kit/packed.h>
#include <sys/resource.h>

TestSuite(reserved, .timeout = SUITE_SECONDS);

#define TABLES 2000
#define MOST_EACH ((size_t)64 << 10)

static size_t address_space(void)
{
    need_a_machine();
    return number_in_proc("/proc/self/status", "VmSize: %llu kB") * 1024;
}

static haft_table *tables[TABLES];

static void open_small(haft_domain *domain, int count)
{
    const haft_table_options options = {.capacity = 100, .object_size = 24};

    for (int i = 0; i < count; i++) {
        assert_status(haft_table_open(domain, &options, &tables[i]), HAFT_OK);
    }
}

static void close_small(int count)
{
    for (int i = 0; i < count; i++) {
        assert_status(haft_table_close(tables[i]), HAFT_OK);
    }
}

Test(reserved, a_shared_table_of_100_objects_takes_less_than_64_KiB)
{
    AT_END(domain_end) haft_domain *domain;

    assert_status(haft_domain_open(NULL, &domain), HAFT_OK);
    open_small(domain, 1);
    close_small(1);
    const size_t before = address_space();

    open_small(domain, 200);
    cr_expect(lt(sz, address_space() - before, 200 * MOST_EACH));
    close_small(200);
}

Test(reserved, many_shared_tables_open_and_work_under_a_limit_on_address_space)
{
    struct rlimit limit;
    AT_END(domain_end) haft_domain *domain;
    haft_worker *worker;

    if (under_asan()) {
        cr_skip("AddressSanitizer reserves address space as it goes");
    }
    assert_status(haft_domain_open(NULL, &domain), HAFT_OK);
    must(getrlimit(RLIMIT_AS, &limit) == 0);
    limit.rlim_cur = address_space() + TABLES * MOST_EACH;
    must(setrlimit(RLIMIT_AS, &limit) == 0);
    open_small(domain, TABLES);
    for (int i = 0; i < TABLES; i += 100) {
        assert_status(haft_worker_open(tables[i], &worker), HAFT_OK);
        for (int n = 0; n < 20; n++) {
            must(haft_free(worker, insert(worker)) == HAFT_OK);
        }
        assert_status(haft_worker_close(worker), HAFT_OK);
    }
    close_small(TABLES);
}

/* --- resident memory --- */

#define OPEN 64
#define MOST_PAGES 8

static struct {
    haft_local *local;
    haft_packed *packed;
    haft_table *table;
    haft_counted *counted;
} opened[OPEN];

static void open_one(int type, int i, haft_domain *domain, uint64_t capacity)
{
    if (type == LOCAL) {
        const haft_local_options options = {.capacity = capacity, .object_size = 24};

        must(haft_local_open(&options, &opened[i].local) == HAFT_OK);
    } else if (type == DENSE) {
        const haft_packed_options options = {.capacity = capacity, .object_size = 24};

        must(haft_packed_open(&options, &opened[i].packed) == HAFT_OK);
    } else if (type == COUNTED) {
        const haft_counted_options options = {.capacity = capacity, .object_size = 24};

        must(haft_counted_open(&options, &opened[i].counted) == HAFT_OK);
    } else {
        const haft_table_options options = {.capacity = capacity, .object_size = 24};

        must(haft_table_open(domain, &options, &opened[i].table) == HAFT_OK);
    }
}

static void close_one(int type, int i)
{
    if (type == LOCAL) {
        haft_local_close(opened[i].local);
    } else if (type == DENSE) {
        haft_packed_close(opened[i].packed);
    } else if (type == COUNTED) {
        must(haft_counted_close(opened[i].counted) == HAFT_OK);
    } else {
        must(haft_table_close(opened[i].table) == HAFT_OK);
    }
}

/* One type in each process: what the heap keeps of closed tables is resident already. */
static void expect_few_pages(int type)
{
    AT_END(domain_end) haft_domain *domain;

    if (under_asan()) {
        cr_skip("AddressSanitizer writes shadow memory");
    }
    assert_status(haft_domain_open(NULL, &domain), HAFT_OK);
    for (uint64_t capacity = 4; capacity <= 1000000; capacity = capacity * 5 / 3) {
        const long before = resident_pages();

        for (int i = 0; i < OPEN; i++) {
            open_one(type, i, domain, capacity);
        }
        cr_expect(lt(long, resident_pages() - before, OPEN * MOST_PAGES), "%d: capacity %llu", type,
                  (unsigned long long)capacity);
        for (int i = 0; i < OPEN; i++) {
            close_one(type, i);
        }
    }
}

Test(reserved, opening_a_local_table_touches_a_few_pages_whatever_the_capacity)
{
    expect_few_pages(LOCAL);
}

Test(reserved, opening_a_packed_table_touches_a_few_pages_whatever_the_capacity)
{
    expect_few_pages(DENSE);
}

Test(reserved, opening_a_shared_table_touches_a_few_pages_whatever_the_capacity)
{
    expect_few_pages(SHARED);
}

Test(reserved, opening_a_counted_table_touches_a_few_pages_whatever_the_capacity)
{
    expect_few_pages(COUNTED);
}

/* --- dumps --- */

#define OBJECTS 10000

/* Of the whole memory the part in use is in dumps, and none of the rest but a step. */
static void expect_use_dumped(int kind)
{
    const haft_table_options options = {.capacity = 1 << 20, .object_size = 1016};
    AT_END(subject_close) struct subject subject = subject_open(kind, &options);
    const char *last = subject.view.base + (size_t)subject.view.mask * subject.view.stride;
    haft_id id;

    cr_expect(mapping_has_flag(last, "dd"));
    cr_expect(not(mapping_has_flag(subject.view.base, "dd")));
    for (int i = 0; i < OBJECTS; i++) {
        assert_status(subject_insert(&subject, NULL, &id), HAFT_OK);
        must(i % 1000 != 0 || !mapping_has_flag(haft_resolve(subject.view, id), "dd"));
    }
    cr_expect(not(mapping_has_flag(haft_resolve(subject.view, id), "dd")));
    cr_expect(mapping_has_flag(last, "dd"));
    cr_expect(mapping_has_flag((char *)haft_resolve(subject.view, id) + 8 * MIB, "dd"));
}

TEST_ON_EACH_TABLE(reserved, what_no_slot_has_used_is_left_out_of_dumps)
{
    need_wide_addresses();
    expect_use_dumped(*kind);
}

TEST_ON_EACH_TABLE(reserved, what_no_slot_has_used_is_left_out_of_dumps_under_a_limit_too)
{
    need_wide_addresses();
    limit_data(64 * MIB);
    expect_use_dumped(*kind);
}
