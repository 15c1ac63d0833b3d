/* White-box: the census notices each kind of slot, count and descriptor that is wrong. */
#include "concurrent/batches/tagged.h"
#include "concurrent/table/census.h"
#include "concurrent/worker/exchange.h"
#include "tests/support.h"
#include <criterion/redirect.h>
#include <haft/pin.h>
#include <haft/share.h>
#include <stdio.h>

TestSuite(census, .timeout = SUITE_SECONDS);

#define OBJECTS 20

static const haft_table_options options = {.capacity = 1000, .object_size = 8};

/* A table with live objects and a batch that is ready. */
static struct shared open_used(haft_id *live)
{
    struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_id ids[OBJECTS];

    for (int i = 0; i < OBJECTS; i++) {
        ids[i] = insert(shared.worker);
    }
    *live = insert(shared.worker);
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    settle(shared.worker);
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    cr_assert(census_is_right(shared.table));
    return shared;
}

static struct batch *take_ready(struct shared *shared)
{
    struct batch *batch = exchange_take_ready(shared->worker);

    must(batch != NULL && batch->count > 0 && batch->count < BATCH_SLOTS);
    return batch;
}

/* The batch that was put there before: others may stand in front of it. */
static struct batch *take_again(struct shared *shared, uint64_t number)
{
    struct batch *batch = take_ready(shared);

    while (batch->number != number) {
        exchange_put_ready(shared->worker, batch);
        batch = take_ready(shared);
    }
    return batch;
}

/* With one slot more or less in a ready batch, and as it was. */
static void expect_wrong_with(struct shared *shared, int more, uint32_t index)
{
    struct batch *batch = take_ready(shared);
    const uint32_t before = batch->indices[batch->count - 1];
    const uint64_t number = batch->number;

    batch->count += (uint32_t)more;
    batch->indices[batch->count - 1] = more > 0 ? index : batch->indices[batch->count - 1];
    exchange_put_ready(shared->worker, batch);
    cr_expect(not(census_is_right(shared->table)));
    batch = take_again(shared, number);
    batch->count -= (uint32_t)more;
    batch->indices[batch->count - 1] = before;
    exchange_put_ready(shared->worker, batch);
    cr_expect(census_is_right(shared->table));
}

Test(census, notices_a_slot_that_is_lost)
{
    haft_id live;
    AT_END(close_shared) struct shared shared = open_used(&live);

    expect_wrong_with(&shared, -1, 0);
}

/* With the list of freed slots gone, and as it was. */
static void expect_wrong_without_list(struct shared *shared, haft_id freed)
{
    atomic_u64 *head = &shared->table->lists[LIST_FREED].head;

    assert_status(haft_table_free(shared->table, freed), HAFT_OK);
    cr_expect(census_is_right(shared->table));
    const uint64_t before = load_relaxed(OWN, head);

    store_relaxed(OWN, head, tagged_next(before, NUMBER_NONE));
    cr_expect(not(census_is_right(shared->table)));
    store_relaxed(OWN, head, before);
    cr_expect(census_is_right(shared->table));
}

Test(census, notices_a_freed_slot_that_is_lost)
{
    haft_id live;
    AT_END(close_shared) struct shared shared = open_used(&live);

    expect_wrong_without_list(&shared, live);
}

Test(census, notices_a_freed_slot_that_is_lost_where_others_are_pinned)
{
    const haft_table_options pinning = {.capacity = 100, .object_size = 8, .pins = true};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &pinning);
    const haft_id pinned = insert(shared.worker);

    haft_section_begin(shared.domain);
    must(haft_pin(shared.table, pinned) != NULL);
    haft_section_end(shared.domain);
    must(haft_free(shared.worker, pinned) == HAFT_OK);
    settle(shared.worker);
    must(haft_worker_quiescent(shared.worker) == HAFT_OK); /* it finds the pin */
    expect_wrong_without_list(&shared, insert(shared.worker));
    must(haft_unpin(shared.table, pinned) == HAFT_OK);
}

Test(census, notices_a_slot_that_is_in_two_places)
{
    haft_id live;
    AT_END(close_shared) struct shared shared = open_used(&live);
    struct batch *batch = take_ready(&shared);
    const uint32_t index = batch->indices[0];

    exchange_put_ready(shared.worker, batch);
    expect_wrong_with(&shared, 1, index);
}

Test(census, notices_a_slot_in_use_that_is_in_a_batch)
{
    haft_id live;
    AT_END(close_shared) struct shared shared = open_used(&live);

    expect_wrong_with(&shared, 1, haft_id_index(haft_table_info(shared.table).layout, live));
}

Test(census, notices_a_reserved_slot_that_is_in_a_batch)
{
    haft_id live;
    haft_id reserved;
    AT_END(close_shared) struct shared shared = open_used(&live);

    must(haft_reserve(shared.worker, &reserved, NULL) == HAFT_OK);
    cr_expect(census_is_right(shared.table));
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    expect_wrong_with(&shared, 1, haft_id_index(haft_table_info(shared.table).layout, reserved));
    haft_abort(shared.worker, reserved);
}

Test(census, notices_an_index_that_is_no_slots)
{
    haft_id live;
    AT_END(close_shared) struct shared shared = open_used(&live);

    expect_wrong_with(&shared, 1, (uint32_t)shared.table->slots.limit);
#ifndef HAFT_WALKS /* an assert sees it first */
    expect_wrong_with(&shared, 1, 0);
#endif
}

Test(census, notices_each_counter_that_is_wrong)
{
    haft_id live;
    AT_END(close_shared) struct shared shared = open_used(&live);
    struct counters *counters = &shared.worker->counters;
    atomic_u64 *const wrong[] = {&counters->reserved, &counters->published, &counters->inserted,
                                 &counters->aborted,  &counters->freed,     &counters->reclaimed,
                                 &counters->exhausted};

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        count_up(wrong[i], 1);
        cr_expect(not(census_is_right(shared.table)), "counter %zu", i);
        count_up(wrong[i], UINT64_MAX);
        cr_expect(census_is_right(shared.table), "counter %zu", i);
    }
}

Test(census, says_how_many_are_counted_and_how_many_were_found)
{
    haft_id live;
    AT_END(close_shared) struct shared shared = open_used(&live);
    struct counters *counters = &shared.worker->counters;
    atomic_u64 *const wrong[] = {&counters->reserved, &counters->published, &counters->exhausted};

    cr_redirect_stderr();
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        count_up(wrong[i], 2);
        must(!census_is_right(shared.table));
        count_up(wrong[i], UINT64_MAX - 1);
    }
    fflush(stderr);
    cr_expect_stderr_eq_str("haft: table: census: 2 reserved slots are counted, 0 found\n"
                            "haft: table: census: 3 live slots are counted, 1 found\n"
                            "haft: table: census: -2 reserved slots are counted, 0 found\n"
                            "haft: table: census: 2 exhausted slots are counted, 0 found\n");
}

Test(census, notices_a_batch_descriptor_that_is_lost)
{
    haft_id live;
    AT_END(close_shared) struct shared shared = open_used(&live);
    struct batch *batch = exchange_take_empty(shared.worker);

    cr_expect(not(census_is_right(shared.table)));
    exchange_give_empty(shared.worker, batch);
    cr_expect(census_is_right(shared.table));
}
