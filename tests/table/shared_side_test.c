/* Sides of a shared table. */
#include "tests/clock/forking.h"
#include <haft/kit/side.h>
#include <haft/memory.h>
#include <haft/pin.h>
#include <haft/share.h>
#include <signal.h>
#include <stdlib.h>

TestSuite(shared_side, .timeout = SUITE_SECONDS);
TestSuite(shared_side_fork, .timeout = SUITE_SECONDS);

static const haft_table_options some = {.capacity = 100, .object_size = 8};
static const haft_side_options numbers = {.value_size = sizeof(uint64_t)};

static haft_side *open_side(haft_table *table)
{
    haft_side *side;

    assert_status(haft_side_open(table, &numbers, &side), HAFT_OK);
    return side;
}

static uint64_t *number_of(const haft_side *side, haft_id id)
{
    return haft_side_get(haft_side_entries(side), id);
}

static haft_status set_number(haft_side *side, haft_id id, uint64_t number)
{
    return haft_side_set(side, id, &number, NULL);
}

TEST_ON_EACH_CLOCK(shared_side, a_value_is_for_one_life_of_a_slot)
{
    struct shared shared = open_shared(*setting, &some);
    haft_side *side = open_side(shared.table);
    haft_id last = HAFT_NIL;
    void *place;

    for (uint64_t i = 0; i < 1000; i++) {
        haft_section_begin(shared.domain);
        const haft_id id = insert(shared.worker);

        must(number_of(side, id) == NULL);
        must(set_number(side, id, i) == HAFT_OK);
        must(set_number(side, id, 9) == HAFT_OCCUPIED);
        must(haft_side_set(side, id, NULL, &place) == HAFT_OCCUPIED);
        must(place == number_of(side, id) && *number_of(side, id) == i);
        must(haft_side_find(haft_side_entries(side), shared.view, last, NULL) == NULL);
        haft_section_end(shared.domain);
        must(haft_free(shared.worker, id) == HAFT_OK);
        last = id;
        settle(shared.worker);
    }
    cr_expect(lt(u64, stats_of(shared.table).high_water, 1000)); /* slots were used again */
    haft_side_close(side);
    close_shared(&shared);
    expect_no_leaks();
}

Test(shared_side, ids_of_no_slot_get_no_value)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &some);
    AT_END(side_end) haft_side *side = open_side(shared.table);

    expect_status(set_number(side, HAFT_NIL, 1), HAFT_NO_ID);
    expect_status(set_number(side, (haft_id){3}, 1), HAFT_MALFORMED);
    expect_status(set_number(side, (haft_id){4}, 1), HAFT_MALFORMED);
    expect_status(set_number(side, haft_id_pack(HAFT_LAYOUT_32_32, 1 << 20, 1, 0), 1),
                  HAFT_OUT_OF_RANGE);
    for (uint64_t bits = 0; bits < 300; bits++) {
        must(number_of(side, (haft_id){bits}) == NULL);
    }
}

Test(shared_side, a_value_may_be_set_for_an_object_that_is_freed_meanwhile)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &some);
    AT_END(side_end) haft_side *side = open_side(shared.table);
    const haft_id id = insert(shared.worker);

    haft_section_begin(shared.domain);
    must(haft_resolve(shared.view, id) != NULL);
    must(haft_free(shared.worker, id) == HAFT_OK);
    expect_status(set_number(side, id, 7), HAFT_OK);
    cr_expect(eq(u64, *number_of(side, id), 7));
    cr_expect(eq(ptr, haft_side_find(haft_side_entries(side), shared.view, id, NULL), NULL));
    haft_section_end(shared.domain);
}

Test(shared_side, a_reserved_id_may_have_a_value_also_one_that_is_given_up)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &some);
    AT_END(side_end) haft_side *side = open_side(shared.table);
    haft_id id;
    haft_id next;

    must(haft_reserve(shared.worker, &id, NULL) == HAFT_OK);
    expect_status(set_number(side, id, 7), HAFT_OK);
    haft_abort(shared.worker, id);
    for (int i = 0; i < 300; i++) { /* until the slot is met */
        settle(shared.worker);
        must(haft_reserve_wait(shared.worker, &next, NULL) == HAFT_OK);
        if (haft_id_index(HAFT_LAYOUT_32_32, next) == haft_id_index(HAFT_LAYOUT_32_32, id)) {
            break;
        }
        haft_abort(shared.worker, next);
    }
    cr_assert(eq(u64, next.bits, id.bits + (UINT64_C(1) << 32)));
    cr_expect(eq(ptr, number_of(side, next), NULL));
    expect_status(set_number(side, next, 8), HAFT_OK);
    cr_expect(eq(ptr, number_of(side, id), NULL));
    haft_publish(shared.worker, next);
}

struct looker {
    const haft_side *side;
    uint64_t sum;
};

static void look_beside(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct looker *looker = arg;

    looker->sum += *number_of(looker->side, id);
}

TEST_ON_EACH_CLOCK(shared_side, on_reclaim_reads_the_value_of_the_object_that_ends)
{
    struct looker looker = {0};
    const haft_table_options options = {
        .capacity = 100, .object_size = 8, .on_reclaim = look_beside, .reclaim_arg = &looker};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    haft_side *side = open_side(shared.table);

    looker.side = side;
    for (uint64_t i = 1; i <= 1000; i++) {
        const haft_id id = insert(shared.worker);

        must(set_number(side, id, i) == HAFT_OK);
        must(haft_free(shared.worker, id) == HAFT_OK);
        if (i % 20 == 0) {
            settle(shared.worker);
        }
    }
    must(haft_worker_close(shared.worker) == HAFT_OK);
    expect_status(haft_table_close(shared.table), HAFT_IN_USE);
    cr_expect(eq(u64, looker.sum, 500500)); /* of those that closing reclaimed, too */
    haft_side_close(side);
    shared.worker = NULL;
}

Test(shared_side, a_pin_holds_the_value_as_it_holds_the_object)
{
    const haft_table_options pinned = {.capacity = 1, .object_size = 8, .pins = true};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &pinned);
    AT_END(side_end) haft_side *side = open_side(shared.table);
    const haft_id id = insert(shared.worker);

    haft_section_begin(shared.domain);
    must(haft_pin(shared.table, id) != NULL);
    haft_section_end(shared.domain);
    must(haft_free(shared.worker, id) == HAFT_OK);
    settle(shared.worker);
    expect_status(set_number(side, id, 7), HAFT_OK);
    cr_expect(eq(u64, *number_of(side, id), 7));
    expect_status(haft_unpin(shared.table, id), HAFT_OK);
}

static bool add_number(haft_id id, void *object, void *value, void *arg)
{
    uint64_t *sum = arg;

    *sum += *(uint64_t *)value;
    return *sum < 50;
}

Test(shared_side, live_objects_with_a_value_are_visited)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &some);
    AT_END(side_end) haft_side *side = open_side(shared.table);
    uint64_t sum = 0;
    haft_id ids[4];

    for (int i = 0; i < 4; i++) {
        ids[i] = insert(shared.worker);
    }
    must(set_number(side, ids[0], 1) == HAFT_OK);
    must(set_number(side, ids[1], 10) == HAFT_OK);
    must(set_number(side, ids[3], 40) == HAFT_OK);
    must(haft_free(shared.worker, ids[1]) == HAFT_OK);
    haft_section_begin(shared.domain);
    cr_expect(eq(u64, haft_side_for_each(side, add_number, &sum), 2));
    cr_expect(eq(u64, sum, 41));
    must(set_number(side, ids[2], 9) == HAFT_OK);
    sum = 0;
    cr_expect(
        eq(u64, haft_side_for_each(side, add_number, &sum), ids[2].bits < ids[3].bits ? 3 : 2));
    haft_section_end(shared.domain);
}

static void ignore_end(void *value, haft_id id, void *arg)
{
}

static bool remove_from(haft_side *side, haft_id id)
{
    return haft_side_remove(side, id);
}

static bool sweep_from(haft_side *side, haft_id id)
{
    return haft_side_sweep(side) != 0;
}

/* Of a live object and of one that was freed: readers may still look at the values. */
static void expect_values_to_stay(bool (*end)(haft_side *side, haft_id id))
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &some);
    AT_END(side_end) haft_side *side = open_side(shared.table);
    const haft_id ids[2] = {insert(shared.worker), insert(shared.worker)};

    for (int i = 0; i < 2; i++) {
        assert_status(set_number(side, ids[i], 7), HAFT_OK);
    }
    assert_status(haft_free(shared.worker, ids[1]), HAFT_OK);
    for (int i = 0; i < 2; i++) {
        must(!end(side, ids[i]));
        must(*number_of(side, ids[i]) == 7);
    }
}

static void expect_no_end_of_values(bool (*end)(haft_side *side, haft_id id))
{
    expect_values_to_stay(end);
#ifdef NDEBUG
    abort();
#endif
}

Test(shared_side, ending_a_value_is_an_assertion_in_debug_builds_and_else_changes_nothing,
     .signal = SIGABRT)
{
    expect_no_end_of_values(remove_from);
}

Test(shared_side, sweeping_is_an_assertion_in_debug_builds_and_else_changes_nothing,
     .signal = SIGABRT)
{
    expect_no_end_of_values(sweep_from);
}

Test(shared_side, options_out_of_range_are_named)
{
    const haft_table_options wrapping = {.capacity = 100, .object_size = 8, .wrap = true};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &some);
    haft_side *side = NULL;
    haft_table *wraps;

    must(haft_table_open(shared.domain, &wrapping, &wraps) == HAFT_OK);
    expect_status(haft_side_open(wraps, &numbers, &side), HAFT_BAD_WRAP);
    must(haft_table_close(wraps) == HAFT_OK);
    expect_status(haft_side_open(shared.table,
                                 &(haft_side_options){.value_size = (UINT64_C(1) << 30) + 1},
                                 &side),
                  HAFT_BAD_VALUE_SIZE);
    expect_status(haft_side_open(shared.table, &(haft_side_options){.on_end = ignore_end}, &side),
                  HAFT_BAD_ON_END);
    cr_expect(eq(ptr, side, NULL));
}

Test(shared_side, a_table_that_was_local_is_not_handed_back_while_a_side_is_open)
{
    struct shared shared = open_shared(MEMB_CALLER, &some);
    haft_local *local;
    haft_table *table;

    must(haft_local_open(&(haft_local_options){.capacity = 10, .object_size = 8}, &local) ==
         HAFT_OK);
    must(haft_share(local, shared.domain, NULL, &table) == HAFT_OK);
    haft_side *side = open_side(table);

    expect_status(haft_unshare(table, &local), HAFT_IN_USE);
    expect_status(haft_table_close(table), HAFT_IN_USE);
    haft_side_close(side);
    expect_status(haft_unshare(table, &local), HAFT_OK);
    haft_local_close(local);
    close_shared(&shared);
    expect_no_leaks();
}

/* --- forks --- */

static haft_side *parents_side;

/* As a thread leaves it that is gone in the middle of haft_side_set(). */
static void leave_marked(haft_id id, uint64_t but_index)
{
    const haft_entries entries = haft_side_entries(parents_side);
    const uint64_t index = id.bits & entries.mask;

    haft_store_relaxed(HAFT_EDGE_OWN,
                       (haft_atomic_u64 *)(void *)(entries.base + index * entries.stride),
                       (id.bits & but_index) | 1);
}

static void leave_unfinished(haft_id id)
{
    must(set_number(parents_side, id, 1) == HAFT_OK);
    leave_marked(id, ~UINT64_C(0xffffffff));
}

static void set_in_child(struct shared *shared, haft_id live)
{
    require(number_of(parents_side, live) == NULL);
    require(set_number(parents_side, live, 7) == HAFT_BUSY);
    require(haft_worker_close(shared->worker) == HAFT_OK);
    require(haft_table_close(shared->table) == HAFT_IN_USE);
    haft_side_close(parents_side);
    require(haft_side_open(shared->table, &numbers, &parents_side) == HAFT_OK);
    haft_side_close(parents_side);
    require(haft_table_close(shared->table) == HAFT_OK);
}

TEST_ON_EACH_ROW(shared_side_fork, in_the_child_an_unfinished_value_stays_so_and_the_side_closes)
{
    need_forks_beside_threads();
    AT_END(close_shared) struct shared shared = open_shared_row(*row, &some);

    parents_side = open_side(shared.table);
    const haft_id live = insert(shared.worker);
    const haft_id other = insert(shared.worker);

    must(set_number(parents_side, other, 5) == HAFT_OK);
    leave_unfinished(live);
    expect_status(set_number(parents_side, live, 7), HAFT_BUSY);
    fork_and_run(set_in_child, &shared, live);
    expect_status(set_number(parents_side, live, 7), HAFT_BUSY);
    cr_expect(eq(u64, *number_of(parents_side, other), 5));
    haft_side_close(parents_side);
}

Test(shared_side_fork, the_slots_next_object_can_have_a_value)
{
    struct shared shared = open_shared(MEMB_CALLER, &(haft_table_options){.capacity = 1});
    haft_id id = insert(shared.worker);

    parents_side = open_side(shared.table);
    leave_unfinished(id);
    for (int i = 0; i < 10; i++) {
        must(haft_free(shared.worker, id) == HAFT_OK);
        settle(shared.worker);
        id = insert(shared.worker);
        must(set_number(parents_side, id, 7) == HAFT_OK);
    }
    haft_side_close(parents_side);
    close_shared(&shared);
}
