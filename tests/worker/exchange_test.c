/* White-box: batches on their way between a worker, its ring and the depot. */
#include "concurrent/clock/grace_periods.h"
#include "concurrent/worker/budget.h"
#include "concurrent/worker/descriptors.h"
#include "concurrent/worker/exchange.h"
#include "tests/support.h"

TestSuite(exchange, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 200000};

#define SLOTS 60010

static bool met[SLOTS];

/* A batch of `count` slots, numbered on from `*next`. */
static struct batch *batch_of(haft_worker *worker, uint32_t count, uint32_t *next)
{
    struct batch *batch = exchange_take_empty(worker);

    for (uint32_t i = 0; i < count; i++) {
        batch->indices[batch->count++] = HAFT_FIRST_INDEX + (*next)++;
    }
    store_relaxed(OWN, &batch->ticket, 0);
    return batch;
}

/* Take all batches that there are; how many slots, each of them met once. */
static uint32_t drain(haft_worker *worker)
{
    uint32_t count = 0;

    for (struct batch *batch; (batch = exchange_take_ready(worker)) != NULL;) {
        for (uint32_t i = 0; i < batch->count; i++) {
            must(batch->indices[i] < SLOTS && !met[batch->indices[i]]);
            met[batch->indices[i]] = true;
        }
        count += batch->count;
        batch->count = 0;
        exchange_give_empty(worker, batch);
    }
    return count;
}

TEST_ON_EACH_CLOCK(exchange, partial_batches_merged_into_a_full_ring_keep_every_slot_once)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    uint64_t seed = 73;
    uint32_t next = 0;

    for (int n = 0; n < 800; n++) {
        const uint32_t size = 1 + (uint32_t)(random_next(&seed) >> 33) % 70;

        exchange_put_ready(shared.worker, batch_of(shared.worker, size, &next));
    }
    cr_assert(lt(u32, next, SLOTS));
    cr_expect(lt(u64, 0, stats_of(shared.table).batches_moved)); /* some went to the depot */
    cr_expect(eq(u32, drain(shared.worker), next));
}

TEST_ON_EACH_CLOCK(exchange, only_full_batches_go_to_the_depot)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    uint64_t seed = 79;
    uint32_t next = 0;
    struct batch *batch;

    for (int n = 0; n < 800; n++) {
        const uint32_t size = 1 + (uint32_t)(random_next(&seed) >> 33) % 70;

        exchange_put_ready(shared.worker, batch_of(shared.worker, size, &next));
    }
    while ((batch = depot_take(&shared.table->ready, &shared.table->pool, 0)) != NULL) {
        cr_expect(eq(u32, batch->count, shared.table->batch_max));
        batch->count = 0;
        exchange_give_empty(shared.worker, batch);
    }
    drain(shared.worker);
}

TEST_ON_EACH_CLOCK(exchange, a_worker_keeps_few_ready_batches_and_the_depot_has_the_others)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);
    uint32_t next = 0;

    must(descriptors_bring_all(shared.worker));
    for (int n = 0; n < READY_BATCHES + 3; n++) {
        exchange_put_ready(shared.worker, batch_of(shared.worker, BATCH_SLOTS, &next));
    }
    cr_expect(eq(u64, stats_of(shared.table).batches_moved, 3));
    cr_expect(eq(u32, drain(other), 3 * BATCH_SLOTS)); /* another worker finds them */
    cr_expect(eq(u32, drain(shared.worker), READY_BATCHES * BATCH_SLOTS));
}

static struct batch *waiting_batch(haft_worker *worker, uint32_t *next)
{
    struct batch *batch = batch_of(worker, BATCH_SLOTS, next);

    store_relaxed(OWN, &batch->ticket, 1);
    return batch;
}

TEST_ON_EACH_CLOCK(exchange, batches_moved_counts_batches_and_no_look_in_vain)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);
    uint32_t next = 0;

    must(descriptors_bring_all(shared.worker));
    cr_expect(eq(ptr, exchange_find_ready(other), NULL));
    cr_expect(eq(ptr, exchange_find_elapsed(other, UINT64_MAX), NULL));
    cr_expect(eq(u64, stats_of(shared.table).batches_moved, 0));
    for (int n = 0; n < READY_BATCHES + 1; n++) {
        exchange_put_ready(shared.worker, batch_of(shared.worker, BATCH_SLOTS, &next));
    }
    for (int n = 0; n < RING_BATCHES + 1; n++) {
        exchange_put_waiting(shared.worker, waiting_batch(shared.worker, &next));
    }
    cr_expect(eq(u64, stats_of(shared.table).batches_moved, 2)); /* the last ones, to the depots */
    for (uint64_t moved = 3; moved <= 6; moved++) { /* from there, then from the rings */
        struct batch *batch =
            moved <= 4 ? exchange_find_ready(other) : exchange_find_elapsed(other, UINT64_MAX);

        cr_assert(ne(ptr, batch, NULL));
        batch->count = 0;
        exchange_give_empty(other, batch);
        cr_expect(eq(u64, stats_of(shared.table).batches_moved, moved));
    }
    drain(shared.worker);
    for (struct batch *batch; (batch = exchange_take_elapsed(shared.worker, UINT64_MAX)) != NULL;) {
        batch->count = 0;
        exchange_give_empty(shared.worker, batch);
    }
}

TEST_ON_EACH_CLOCK(exchange, a_ready_batch_in_another_workers_ring_is_found_open_or_closed)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    haft_worker *other = open_worker(shared.table);
    uint32_t next = 0;

    for (int closed = 0; closed < 2; closed++) {
        exchange_put_ready(other, batch_of(other, 5, &next));
        if (closed == 1) {
            haft_worker_close(other);
        }
        cr_expect(eq(ptr, exchange_take_ready(shared.worker), NULL));
        struct batch *batch = exchange_steal_ready(shared.worker);

        cr_assert(ne(ptr, batch, NULL));
        cr_expect(eq(u32, batch->count, 5));
        batch->count = 0;
        exchange_give_empty(shared.worker, batch);
        cr_expect(eq(ptr, exchange_steal_ready(shared.worker), NULL));
    }
}

TEST_ON_EACH_CLOCK(exchange, a_batch_that_waits_is_found_when_its_ticket_is_done)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);
    uint32_t next = 0;
    struct batch *batch = batch_of(shared.worker, 5, &next);

    store_relaxed(OWN, &batch->ticket, domain_ticket(shared.domain));
    exchange_put_waiting(shared.worker, batch);
    cr_expect(eq(ptr, exchange_take_ready(shared.worker), NULL));
    cr_expect(eq(ptr, exchange_take_elapsed(shared.worker, domain_done(shared.domain)), NULL));
    cr_expect(eq(ptr, exchange_steal_elapsed(other, domain_done(shared.domain)), NULL));
    assert_status(haft_domain_wait(shared.domain), HAFT_OK);
    cr_expect(eq(ptr, exchange_steal_ready(other), NULL));
    cr_expect(eq(ptr, exchange_steal_elapsed(other, domain_done(shared.domain)), batch));
    batch->count = 0;
    exchange_give_empty(other, batch);
}

/* A ring full of partial batches, `elapsed` of them elapsed: one more waits.  How many slots have
 * elapsed. */
static uint32_t elapsed_slots(struct shared *shared, uint32_t elapsed)
{
    uint32_t next = 0;
    uint32_t count = 0;
    struct batch *batch;

    must(descriptors_bring_all(shared->worker));
    for (uint32_t n = 0; n <= RING_BATCHES; n++) {
        if (n == elapsed) {
            assert_status(haft_domain_wait(shared->domain), HAFT_OK);
        }
        batch = batch_of(shared->worker, 3, &next);
        store_relaxed(OWN, &batch->ticket, domain_ticket(shared->domain));
        exchange_put_waiting(shared->worker, batch);
    }
    while ((batch = exchange_take_waiting(shared->worker)) != NULL) {
        count +=
            load_relaxed(OWN, &batch->ticket) <= domain_done(shared->domain) ? batch->count : 0;
        batch->count = 0;
        exchange_give_empty(shared->worker, batch);
    }
    return count;
}

TEST_ON_EACH_CLOCK(exchange, slots_that_have_elapsed_are_not_put_under_a_ticket_that_has_not)
{
    for (uint32_t elapsed = 1; elapsed <= RING_BATCHES; elapsed += 1 + elapsed / 2) {
        AT_END(close_shared) struct shared shared = open_shared(*setting, &options);

        /* More, if a thread of the clock has ended a later grace period meanwhile. */
        cr_expect(ge(u32, elapsed_slots(&shared, elapsed), 3 * elapsed));
    }
}

/* A full batch with `ticket`, of which others learn through a depot. */
static struct batch *full_batch(struct shared *shared, uint64_t ticket, uint32_t *next)
{
    struct batch *batch = batch_of(shared->worker, shared->table->batch_max, next);

    store_relaxed(OWN, &batch->ticket, ticket);
    return batch;
}

TEST_ON_EACH_CLOCK(exchange, what_is_ready_is_found_behind_what_waits)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    AT_END(worker_end) haft_worker *other = open_worker(shared.table);
    struct reader reader;
    struct batch *batch;
    uint32_t next = 0;

    must(descriptors_bring_all(shared.worker));
    reader_enter(&reader, &shared);
    for (int n = 0; n < RING_BATCHES + 2; n++) {
        exchange_put_waiting(shared.worker,
                             full_batch(&shared, domain_ticket(shared.domain), &next));
    }
    exchange_offer_ready(shared.worker, full_batch(&shared, 0, &next));
    batch = exchange_take_ready(other);
    cr_assert(ne(ptr, batch, NULL));
    /* The last one. */
    cr_expect(eq(u32, batch->indices[0], HAFT_FIRST_INDEX + next - batch->count));
    batch->count = 0;
    exchange_give_empty(other, batch);
    cr_expect(eq(ptr, exchange_take_ready(other), NULL));
    reader_leave(&reader);
    while ((batch = exchange_take_waiting(other)) != NULL) {
        batch->count = 0;
        exchange_give_empty(other, batch);
    }
}

/* The share of a worker: what it may hold back comes from the table's budget. */
TEST_ON_EACH_CLOCK(exchange, the_budget_is_drawn_by_the_first_use_and_returned_at_closing)
{
    const haft_table_options small = {.capacity = 64};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &small);
    const uint64_t before = load_relaxed(OWN, &shared.table->budget);
    haft_worker *workers[40];

    for (int i = 0; i < 40; i++) {
        workers[i] = open_worker(shared.table);
    }
    cr_expect(eq(u64, load_relaxed(OWN, &shared.table->budget), before), "none has been used");
    for (int i = 0; i < 40; i++) {
        haft_free(workers[i], insert(workers[i]));
    }
    cr_expect(lt(u64, load_relaxed(OWN, &shared.table->budget), 2));
    cr_expect(eq(u32, workers[39]->batch_limit, 1));
    for (int i = 0; i < 40; i++) {
        haft_worker_close(workers[i]);
    }
    cr_expect(eq(u64, load_relaxed(OWN, &shared.table->budget), before));
}

/* Tests of slots in hand set a limit that the table's share would not allow. */
TEST_ON_EACH_CLOCK(exchange, a_batch_limit_that_is_set_outlasts_the_first_use)
{
    const haft_table_options small = {.capacity = 4};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &small);
    const uint64_t before = load_relaxed(OWN, &shared.table->budget);

    worker_set_batch_limit(shared.worker, 3);
    haft_free(shared.worker, insert(shared.worker));
    cr_expect(eq(u32, shared.worker->batch_limit, 3));
    cr_expect(eq(u64, load_relaxed(OWN, &shared.table->budget), before), "none has been drawn");
    worker_set_batch_limit(shared.worker, 1);
}
