/* Slots handed over are reclaimed soon: at quiescent points, or by haft_table_reclaim(). */
#include "tests/support.h"
#include <haft/pin.h>

TestSuite(handed, .timeout = SUITE_SECONDS);

static uint64_t reclaimed;

static const haft_table_options counting = {
    .capacity = 10000, .object_size = 8, .on_reclaim = count_reclaimed, .reclaim_arg = &reclaimed};

static void insert_and_free(haft_worker *worker, int count)
{
    for (int i = 0; i < count; i++) {
        must(haft_free(worker, insert(worker)) == HAFT_OK);
    }
}

/* Quiescent points of the worker alone, until that many were reclaimed, or for some seconds. */
static void expect_reclaimed_by(const struct shared *shared, uint64_t count)
{
    for (int i = 0; i < 20000 && reclaimed < count; i++) {
        if (haft_domain_stats_get(shared->domain).backlog != 0) {
            sleep_ms(1);
        }
        must(haft_worker_quiescent(shared->worker) == HAFT_OK);
    }
    cr_expect(eq(u64, reclaimed, count));
}

/* The caller clock is driven by calls that wait. */
static void drive(const struct shared *shared, struct setting setting)
{
    if (setting.clock == HAFT_CLOCK_CALLER) {
        must(haft_domain_wait(shared->domain) == HAFT_OK);
    }
}

TEST_ON_EACH_CLOCK(handed, what_a_worker_has_flushed_at_another_ones_quiescent_points)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &counting);
    AT_END(worker_end) haft_worker *flushed = open_worker(shared.table);

    insert_and_free(flushed, 5);
    expect_status(haft_worker_flush(flushed), HAFT_OK);
    drive(&shared, *setting);
    expect_reclaimed_by(&shared, 5);
}

TEST_ON_EACH_CLOCK(handed, what_a_closed_worker_had_freed)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &counting);
    haft_worker *closed = open_worker(shared.table);

    insert_and_free(closed, 300);
    expect_status(haft_worker_close(closed), HAFT_OK);
    drive(&shared, *setting);
    expect_reclaimed_by(&shared, 300);
}

TEST_ON_EACH_CLOCK(handed, a_quiescent_point_with_32_frees_or_none_hands_over)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &counting);
    AT_END(worker_end) haft_worker *once = open_worker(shared.table);

    insert_and_free(once, 32);
    expect_status(haft_worker_quiescent(once), HAFT_OK);
    drive(&shared, *setting);
    expect_reclaimed_by(&shared, 32);
    insert_and_free(once, 31);
    expect_status(haft_worker_quiescent(once), HAFT_OK);
    expect_status(haft_worker_quiescent(once), HAFT_OK);
    drive(&shared, *setting);
    expect_reclaimed_by(&shared, 63);
}

TEST_ON_EACH_CLOCK(handed, what_was_freed_without_a_worker)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &counting);

    for (int i = 0; i < 40; i++) {
        expect_status(haft_table_free(shared.table, insert(shared.worker)), HAFT_OK);
    }
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK); /* puts them under a ticket */
    drive(&shared, *setting);
    expect_reclaimed_by(&shared, 40);
}

/* All that one quiescent point reclaims is 512 slots and less than a batch. */
TEST_ON_EACH_CLOCK(handed, at_most_512_slots_and_a_batch_at_a_quiescent_point)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &counting);
    haft_worker *closed = open_worker(shared.table);
    struct reader reader;

    reader_enter(&reader, &shared); /* or a clock with a thread ends grace periods meanwhile */
    insert_and_free(closed, 2000);
    expect_status(haft_worker_close(closed), HAFT_OK);
    cr_expect(zero(u64, reclaimed));
    reader_leave(&reader);
    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(le(u64, 512, reclaimed));
    cr_expect(lt(u64, reclaimed, 512 + 128));
    expect_reclaimed_by(&shared, 2000);
}

/* --- haft_table_reclaim --- */

struct caller {
    haft_table *table;
    haft_status status;
    sem_t has_returned;
};

static void *call_reclaim(void *arg)
{
    struct caller *caller = arg;

    caller->status = haft_table_reclaim(caller->table);
    must(sem_post(&caller->has_returned) == 0);
    return NULL;
}

/* By a thread that is not registered and has no worker; the calling thread blocks meanwhile. */
static haft_status reclaim_elsewhere(const struct shared *shared)
{
    struct caller caller = {.table = shared->table};
    const haft_job_state state = haft_thread_park(shared->domain);

    must(sem_init(&caller.has_returned, 0, 0) == 0);
    in_another_thread(call_reclaim, &caller);
    haft_thread_unpark(shared->domain, state);
    return caller.status;
}

TEST_ON_EACH_CLOCK(handed, all_of_it_by_a_call_from_a_thread_without_a_worker)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &counting);
    haft_worker *closed = open_worker(shared.table);

    insert_and_free(closed, 1000);
    expect_status(haft_worker_close(closed), HAFT_OK);
    for (int i = 0; i < 20; i++) {
        expect_status(haft_table_free(shared.table, insert(shared.worker)), HAFT_OK);
    }
    insert_and_free(shared.worker, 10);
    expect_status(haft_worker_flush(shared.worker), HAFT_OK);
    expect_status(reclaim_elsewhere(&shared), HAFT_OK);
    cr_expect(eq(u64, reclaimed, 1030));
}

TEST_ON_EACH_CLOCK(handed, by_the_call_what_its_threads_worker_has_just_freed)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &counting);

    insert_and_free(shared.worker, 3);
    expect_status(haft_table_reclaim(shared.table), HAFT_OK);
    cr_expect(eq(u64, reclaimed, 3));
    expect_status(haft_table_reclaim(shared.table), HAFT_OK); /* of nothing */
}

Test(handed, of_a_table_without_on_reclaim_slots_are_free_again)
{
    const haft_table_options plain = {.capacity = 1000};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &plain);

    insert_and_free(shared.worker, 500);
    expect_status(haft_table_reclaim(shared.table), HAFT_OK);
    cr_expect(eq(u64, stats_of(shared.table).retired, 0));
}

struct link {
    haft_id next;
};

/* How objects of a chain free the next one. */
enum way { BY_WORKER, BY_TABLE, BY_PIN };

static enum way way;
static haft_table *chained;

static void free_next(void *object, haft_id id, haft_worker *worker, void *arg)
{
    const haft_id next = ((struct link *)object)->next;

    reclaimed++;
    must(worker != NULL);
    if (haft_id_is_nil(next)) {
        return;
    }
    must((way == BY_WORKER  ? haft_free(worker, next)
          : way == BY_TABLE ? haft_table_free(chained, next)
                            : haft_unpin(chained, next)) == HAFT_OK);
}

/* A call ends an object of the chain, or more, and says that there may be another. */
static void expect_chain_is_told(struct setting setting, enum way by)
{
    const haft_table_options options = {.capacity = 1000,
                                        .object_size = sizeof(struct link),
                                        .pins = by == BY_PIN,
                                        .on_reclaim = free_next};
    AT_END(close_shared) struct shared shared = open_shared(setting, &options);
    struct link link = {HAFT_NIL};

    way = by;
    chained = shared.table;
    reclaimed = 0;
    for (int i = 0; i < 4; i++) {
        haft_id id = HAFT_NIL;

        must(haft_insert(shared.worker, &link, &id) == HAFT_OK);
        if (by == BY_PIN && i < 3) {
            must(haft_pin(shared.table, id) != NULL);
            must(haft_free(shared.worker, id) == HAFT_OK);
        }
        link.next = id;
    }
    must(haft_free(shared.worker, link.next) == HAFT_OK);
    for (uint64_t i = 1; reclaimed < 4; i++) {
        const haft_status status = haft_table_reclaim(shared.table);

        must(i <= reclaimed && (status == HAFT_BUSY || (status == HAFT_OK && reclaimed == 4)));
    }
    haft_table_reclaim(shared.table);
    expect_status(haft_table_reclaim(shared.table), HAFT_OK);
}

TEST_ON_EACH_CLOCK(handed, a_call_says_whether_on_reclaim_has_freed_more)
{
    expect_chain_is_told(*setting, BY_WORKER);
    expect_chain_is_told(*setting, BY_TABLE);
    expect_chain_is_told(*setting, BY_PIN);
}

TEST_ON_EACH_CLOCK(handed, a_pinned_object_after_its_last_unpin)
{
    haft_table_options options = counting;

    options.pins = true;
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    const haft_id ids[2] = {insert(shared.worker), insert(shared.worker)};

    for (int i = 0; i < 2; i++) {
        must(haft_pin(shared.table, ids[i]) != NULL);
        expect_status(haft_free(shared.worker, ids[i]), HAFT_OK);
    }
    expect_status(haft_table_reclaim(shared.table), HAFT_OK);
    cr_expect(eq(u64, reclaimed, 0));
    expect_status(haft_unpin(shared.table, ids[0]), HAFT_OK);
    expect_status(haft_table_reclaim(shared.table), HAFT_OK);
    cr_expect(eq(u64, reclaimed, 1));
    expect_status(haft_unpin(shared.table, ids[1]), HAFT_OK);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u64, reclaimed, 2));
}

/* --- what another thread runs on_reclaim for --- */

static sem_t is_inside;
static sem_t may_return;

static void stay_inside(void *object, haft_id id, haft_worker *worker, void *arg)
{
    must(sem_post(&is_inside) == 0);
    must(sem_wait(&may_return) == 0);
    reclaimed++;
}

TEST_ON_EACH_CLOCK(handed, a_call_returns_after_on_reclaim_in_other_threads)
{
    const haft_table_options options = {
        .capacity = 1000, .object_size = 8, .on_reclaim = stay_inside};
    struct caller callers[2];
    pthread_t threads[2];

    must(sem_init(&is_inside, 0, 0) == 0 && sem_init(&may_return, 0, 0) == 0);
    struct shared shared = open_shared(*setting, &options);

    insert_and_free(shared.worker, 1);
    expect_status(haft_worker_flush(shared.worker), HAFT_OK);
    const haft_job_state state = haft_thread_park(shared.domain);

    for (int i = 0; i < 2; i++) {
        callers[i].table = shared.table;
        must(sem_init(&callers[i].has_returned, 0, 0) == 0);
        must(pthread_create(&threads[i], NULL, call_reclaim, &callers[i]) == 0);
        must(i == 1 || sem_wait(&is_inside) == 0);
    }
    sleep_ms(50); /* time to return too early */
    cr_expect(ne(int, sem_trywait(&callers[1].has_returned), 0));
    must(sem_post(&may_return) == 0);
    for (int i = 0; i < 2; i++) {
        must(pthread_join(threads[i], NULL) == 0);
        expect_status(callers[i].status, HAFT_OK);
    }
    cr_expect(eq(u64, reclaimed, 1));
    haft_thread_unpark(shared.domain, state);
    close_shared(&shared);
}

/* --- where it is not done --- */

static haft_status in_callback;

static void reclaim_inside(void *object, haft_id id, haft_worker *worker, void *arg)
{
    in_callback = haft_table_reclaim(haft_worker_table(worker));
}

Test(handed, no_call_inside_callbacks_and_sections)
{
    const haft_table_options options = {
        .capacity = 1000, .object_size = 8, .on_reclaim = reclaim_inside};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    haft_section_begin(shared.domain);
    expect_status(haft_table_reclaim(shared.table), HAFT_IN_SECTION);
    haft_section_end(shared.domain);
    insert_and_free(shared.worker, 1);
    expect_status(haft_table_reclaim(shared.table), HAFT_OK);
    expect_status(in_callback, HAFT_IN_CALLBACK);
}

Test(handed, with_the_frame_clock_after_the_tick)
{
    const haft_domain_options frames = {.clock = HAFT_CLOCK_FRAME};
    AT_END(close_shared) struct shared shared = open_shared_on(&frames, &counting);
    AT_END(worker_end) haft_worker *flushed = open_worker(shared.table);

    insert_and_free(flushed, 3);
    expect_status(haft_worker_flush(flushed), HAFT_OK);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    expect_status(haft_table_reclaim(shared.table), HAFT_BUSY);
    cr_expect(eq(u64, reclaimed, 0));
    expect_status(haft_domain_tick(shared.domain), HAFT_OK);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u64, reclaimed, 3));
    expect_status(haft_table_reclaim(shared.table), HAFT_OK);
}

Test(handed, what_is_due_while_later_slots_wait)
{
    const haft_domain_options frames = {.clock = HAFT_CLOCK_FRAME};
    AT_END(close_shared) struct shared shared = open_shared_on(&frames, &counting);
    AT_END(worker_end) haft_worker *flushed = open_worker(shared.table);

    insert_and_free(flushed, 3);
    expect_status(haft_worker_flush(flushed), HAFT_OK);
    expect_status(haft_domain_tick(shared.domain), HAFT_OK);
    insert_and_free(shared.worker, 32);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK); /* hands over, then looks */
    cr_expect(eq(u64, reclaimed, 3));
    expect_status(haft_domain_tick(shared.domain), HAFT_OK);
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(u64, reclaimed, 35));
}

TEST_ON_EACH_CLOCK(handed, with_never_wait_no_worker_takes_anothers)
{
    haft_table_options options = counting;

    options.never_wait = true;
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    AT_END(worker_end) haft_worker *flushed = open_worker(shared.table);

    insert_and_free(flushed, 5);
    expect_status(haft_worker_flush(flushed), HAFT_OK);
    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    for (int i = 0; i < 5; i++) {
        expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    }
    cr_expect(eq(u64, reclaimed, 0));
    expect_status(haft_worker_quiescent(flushed), HAFT_OK);
    cr_expect(eq(u64, reclaimed, 5));
    insert_and_free(flushed, 5);
    expect_status(haft_worker_flush(flushed), HAFT_OK);
    expect_status(haft_table_reclaim(shared.table), HAFT_OK);
    cr_expect(eq(u64, reclaimed, 10));
}
