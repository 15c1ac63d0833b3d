/* Sides when the system refuses: a clean status, nothing changed, and the side usable. */
#include "tests/base/faults.h"
#include <haft/kit/restore.h>
#include <haft/kit/side.h>
#include <haft/urcu.h>

TestSuite(side_failing, .timeout = SUITE_SECONDS);

static const haft_side_options wide = {.value_size = 1000};
static const haft_local_options many = {.capacity = 100000, .object_size = 8};

static haft_local *local;
static haft_domain *domain;
static haft_table *table;

FAULTS_OPEN(open_beside_local, haft_side, haft_side_open_local(local, &wide, &made))
FAULTS_OPEN(open_beside_table, haft_side, haft_side_open(table, &wide, &made))

static void close_side(void *opened)
{
    haft_side_close(opened);
}

static void open_table(void)
{
    const haft_domain_options callers = {.foreign_clock = haft_urcu_memb(),
                                         .clock = HAFT_CLOCK_CALLER};
    const haft_table_options options = {.capacity = 100000, .object_size = 8};

    must(haft_domain_open(&callers, &domain) == HAFT_OK);
    must(haft_table_open(domain, &options, &table) == HAFT_OK);
}

static void close_table(void)
{
    assert_status(haft_table_close(table), HAFT_OK);
    assert_status(haft_domain_close(domain), HAFT_OK);
}

static void fail_in_each_way(bool strict)
{
    faults.strict = strict;
    must(haft_local_open(&many, &local) == HAFT_OK);
    open_table();
    fail_each_both_ways(open_beside_local, close_side);
    fail_each_both_ways(open_beside_table, close_side);
    close_table();
    haft_local_close(local);
    expect_no_leaks();
}

Test(side_failing, opening)
{
    fail_in_each_way(false);
}

Test(side_failing, opening_under_strict_overcommit)
{
    fail_in_each_way(true);
}

/* An id whose entry is not in memory that is writable already. */
static haft_id far_id(void)
{
    return haft_id_pack(HAFT_LAYOUT_32_32, 50000, 1, 0);
}

static void expect_refused_then_set(haft_side *side, haft_id id)
{
    void *place = &faults;

    faults.no_protect = true;
    expect_status(haft_side_set(side, id, NULL, &place), HAFT_NO_MEMORY);
    cr_expect(eq(ptr, place, &faults));
    cr_expect(eq(ptr, haft_side_get(haft_side_entries(side), id), NULL));
    faults.no_protect = false;
    expect_status(haft_side_set(side, id, NULL, &place), HAFT_OK);
    cr_expect(eq(ptr, haft_side_get(haft_side_entries(side), id), place));
    faults.no_protect = true;
    expect_status(haft_side_set(side, id, NULL, NULL), HAFT_OCCUPIED);
    faults.no_protect = false;
}

Test(side_failing, a_value_whose_memory_is_refused_is_not_there_and_can_be_set_later)
{
    haft_side *side;

    faults.strict = true;
    must(haft_local_open(&many, &local) == HAFT_OK);
    must(haft_local_restore(local, far_id(), NULL) == HAFT_OK);
    assert_status(haft_side_open_local(local, &wide, &side), HAFT_OK);
    expect_refused_then_set(side, far_id());
    haft_side_close(side);
    haft_local_close(local);
    expect_no_leaks();
}

Test(side_failing, so_it_is_beside_a_shared_table)
{
    haft_side *side;
    haft_worker *worker;
    haft_id id;

    faults.strict = true;
    open_table();
    worker = open_worker(table);
    for (int i = 0; i < 50000; i++) {
        id = insert(worker);
    }
    assert_status(haft_side_open(table, &wide, &side), HAFT_OK);
    expect_refused_then_set(side, id);
    haft_side_close(side);
    must(haft_worker_close(worker) == HAFT_OK);
    close_table();
    expect_no_leaks();
}
