/* The frame clock: grace periods end at haft_domain_tick(). */
#include "tests/support.h"
#include <haft/urcu.h>
#include <signal.h>

TestSuite(frame_clock, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 64, .object_size = 8};
static const haft_domain_options frames = {.clock = HAFT_CLOCK_FRAME};

static struct shared open_frames(void)
{
    return open_shared_on(&frames, &options);
}

static void end_frame(struct shared *shared)
{
    assert_status(haft_worker_flush(shared->worker), HAFT_OK);
    assert_status(haft_domain_tick(shared->domain), HAFT_OK);
}

Test(frame_clock, tick_of_another_clock_is_refused)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    expect_status(haft_domain_tick(shared.domain), HAFT_WRONG_CLOCK);
}

Test(frame_clock, a_freed_slot_is_kept_until_the_tick_and_reused_after_it)
{
    AT_END(close_shared) struct shared shared = open_frames();
    haft_id ids[400];
    int count = 0;

    while (haft_insert(shared.worker, NULL, &ids[count]) == HAFT_OK) {
        must(++count < 400);
    }
    must(count >= 64);
    const uint64_t *object = haft_resolve(shared.view, ids[0]);
    haft_id id;

    for (int i = 0; i < count; i++) {
        must(haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    haft_worker_flush(shared.worker);
    for (int n = 0; n < 10; n++) {
        expect_status(haft_insert(shared.worker, NULL, &id), HAFT_BUSY);
        expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    }
    cr_expect(eq(u64, *object, 0), "readable until the tick");
    end_frame(&shared);
    for (int i = 0; i < count; i++) {
        expect_status(haft_insert(shared.worker, NULL, &id), HAFT_OK);
    }
}

Test(frame_clock, a_free_after_the_tick_lands_in_the_next_frame)
{
    AT_END(close_shared) struct shared shared = open_frames();
    const haft_id before = insert(shared.worker);
    const haft_id after = insert(shared.worker);

    must(haft_free(shared.worker, before) == HAFT_OK);
    end_frame(&shared);
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).backlog, 0));
    must(haft_free(shared.worker, after) == HAFT_OK);
    haft_worker_flush(shared.worker);
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).backlog, 1));
    end_frame(&shared);
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).backlog, 0));
}

Test(frame_clock, a_free_that_was_not_handed_on_lands_in_the_next_frame)
{
    AT_END(close_shared) struct shared shared = open_frames();

    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    assert_status(haft_domain_tick(shared.domain), HAFT_OK);
    cr_expect(eq(u64, stats_of(shared.table).retired, 1));
    haft_worker_flush(shared.worker);
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).backlog, 1));
    end_frame(&shared);
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).backlog, 0));
}

Test(frame_clock, waiting_is_busy_at_once_while_something_waits)
{
    AT_END(close_shared) struct shared shared = open_frames();
    haft_id ids[400];
    int count = 0;

    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    while (haft_insert(shared.worker, NULL, &ids[count]) == HAFT_OK) {
        must(++count < 400);
    }
    for (int i = 0; i < count; i++) {
        must(haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    haft_worker_flush(shared.worker);
    haft_id id = HAFT_NIL;

    expect_status(haft_domain_wait(shared.domain), HAFT_BUSY);
    expect_status(haft_insert_wait(shared.worker, NULL, &id), HAFT_BUSY);
    expect_status(haft_reserve_wait(shared.worker, &id, NULL), HAFT_BUSY);
    cr_expect(haft_id_is_nil(id));
    end_frame(&shared);
    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    expect_status(haft_insert_wait(shared.worker, NULL, &id), HAFT_OK);
}

Test(frame_clock, on_reclaim_runs_after_the_tick_and_at_close_for_the_rest)
{
    uint64_t reclaimed = 0;
    const haft_table_options calling = {
        .capacity = 64, .object_size = 8, .on_reclaim = count_reclaimed, .reclaim_arg = &reclaimed};
    struct shared shared = open_shared_on(&frames, &calling);

    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    haft_worker_flush(shared.worker);
    haft_worker_quiescent(shared.worker);
    cr_expect(eq(u64, reclaimed, 0));
    haft_domain_tick(shared.domain);
    haft_worker_quiescent(shared.worker);
    cr_expect(eq(u64, reclaimed, 1));
    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    close_shared(&shared);
    cr_expect(eq(u64, reclaimed, 2));
}

Test(frame_clock, ticks_are_counted_when_they_let_something_go_and_no_thread_is_started)
{
    AT_END(close_shared) struct shared shared = open_frames();
    const uint64_t before = haft_domain_stats_get(shared.domain).grace_periods;

    for (int frame = 0; frame < 100; frame++) {
        must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
        end_frame(&shared);
        end_frame(&shared); /* nothing to let go */
    }
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).grace_periods, before + 100));
    cr_expect(zero(u64, haft_domain_stats_get(shared.domain).longest_grace_period_ns));
    cr_expect(lt(u64, stats_of(shared.table).high_water, 64));
}

Test(frame_clock, a_tick_inside_a_section_is_an_assertion_in_debug_builds, .signal = SIGABRT)
{
    struct shared shared = open_frames();

    haft_section_begin(shared.domain);
    haft_section_begin(shared.domain);
    haft_section_end(shared.domain);
    haft_domain_tick(shared.domain);
#ifdef NDEBUG
    raise(SIGABRT);
#endif
}

Test(frame_clock, sections_that_have_ended_let_the_tick_pass)
{
    AT_END(close_shared) struct shared shared = open_frames();

    haft_section_begin(shared.domain);
    haft_section_begin(shared.domain);
    haft_section_end(shared.domain);
    haft_section_end(shared.domain);
    expect_status(haft_domain_tick(shared.domain), HAFT_OK);
}

static void close_domain_inside(haft_clock clock)
{
    const haft_domain_options on = {.clock = clock};
    haft_domain *domain;

    assert_status(haft_domain_open(&on, &domain), HAFT_OK);
    haft_section_begin(domain);
    haft_domain_close(domain);
#ifdef NDEBUG
    raise(SIGABRT);
#endif
}

Test(frame_clock, closing_the_domain_inside_a_section_is_an_assertion_in_debug_builds,
     .signal = SIGABRT)
{
    close_domain_inside(HAFT_CLOCK_FRAME);
}

Test(frame_clock, so_it_is_with_the_workers_clock, .signal = SIGABRT)
{
    close_domain_inside(HAFT_CLOCK_WORKERS);
}
