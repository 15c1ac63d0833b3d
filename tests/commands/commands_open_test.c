/* Command sets: opening, closing, recorders, memory, other clocks. */
#include "tests/commands/commands_support.h"

TestSuite(commands_open, .timeout = SUITE_SECONDS);
TestSuite(commands_close, .timeout = SUITE_SECONDS);
TestSuite(commands_memory, .timeout = SUITE_SECONDS);
TestSuite(commands_clock, .timeout = SUITE_SECONDS);
TestSuite(recorder_open, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 64, .object_size = 8};

static void count_call(haft_recorder *recorder, void *payload)
{
    ++**(int *const *)payload;
}

/* --- the set --- */

Test(commands_open, a_block_size_out_of_range_is_refused)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    const haft_commands_options large = {.block_size = ((size_t)1 << 30) + 1};
    haft_commands *commands = NULL;

    expect_status(haft_commands_open(shared.table, &large, &commands), HAFT_BAD_BLOCK_SIZE);
    cr_expect(eq(ptr, commands, NULL));
}

Test(commands_open, without_options_has_the_defaults)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_commands *commands = NULL;
    haft_recorder *recorder = NULL;
    haft_applied applied;
    haft_id id;

    assert_status(haft_commands_open(shared.table, NULL, &commands), HAFT_OK);
    assert_status(haft_recorder_open(commands, 1, 1, &recorder), HAFT_OK);
    expect_status(haft_recorder_create(recorder, &id, NULL), HAFT_OK);
    expect_status(haft_commands_apply(commands, &applied), HAFT_OK);
    cr_expect(eq(u64, applied.created, 1));
    cr_expect(haft_is_live(shared.view, id));
    haft_commands_close(commands);
}

Test(commands_open, the_set_has_a_worker_of_its_own)
{
    AT_END(stage_close) struct stage stage;

    stage_open(&stage, &options);
    haft_worker *worker = haft_commands_worker(stage.commands);

    cr_expect(eq(ptr, haft_worker_table(worker), stage.shared.table));
    cr_expect(eq(ptr, haft_commands_table(stage.commands), stage.shared.table));
    cr_expect(eq(u64, stats_of(stage.shared.table).workers, 1));
    expect_status(haft_table_close(stage.shared.table), HAFT_IN_USE);
}

Test(commands_close, forgets_what_was_not_applied_and_gives_reservations_up)
{
    AT_END(stage_close) struct stage stage;
    int called = 0;
    int *counter = &called;

    stage_open(&stage, &options);
    const haft_id live = insert_at_once(&stage);
    haft_recorder *recorder = open_recorder(&stage, 1, 10);
    const haft_id created = record_create(recorder);

    record_destroy(recorder, live);
    must(haft_recorder_call(recorder, count_call, &counter, sizeof counter) == HAFT_OK);
    haft_commands_close(stage.commands);
    stage.commands = NULL;

    cr_expect(zero(int, called));
    cr_expect(haft_is_live(stage.shared.view, live));
    expect_status(haft_diagnose(stage.shared.table, created), HAFT_STALE);
    cr_expect(zero(u64, stats_of(stage.shared.table).reserved));
    cr_expect(zero(u64, stats_of(stage.shared.table).workers));
}

static void *run_one_frame(void *arg)
{
    struct stage *stage = arg;
    haft_recorder *recorder = open_recorder(stage, 1, 1);

    record_destroy(recorder, record_create(recorder));
    cr_expect(eq(u64, end_frame(stage).destroyed, 1));
    return NULL;
}

Test(commands_open, with_the_frame_clock_the_set_may_be_handed_to_another_thread)
{
    AT_END(stage_close) struct stage stage;

    stage_open(&stage, &options);
    for (int frame = 0; frame < 5; frame++) {
        in_another_thread(run_one_frame, &stage);
        run_one_frame(&stage);
    }
    cr_expect(zero(u64, stats_of(stage.shared.table).live));
}

static void *open_refused(void *arg)
{
    struct stage *stage = arg;
    haft_recorder *recorder;
    haft_id id;

    expect_status(haft_recorder_open(stage->commands, 1, 1, &recorder), HAFT_SAME_KEY);
    expect_status(haft_insert(haft_commands_worker(stage->commands), NULL, &id), HAFT_OK);
    return NULL;
}

Test(commands_open, also_a_recorder_that_is_refused_hands_the_worker_over)
{
    AT_END(stage_close) struct stage stage;

    stage_open(&stage, &options);
    open_recorder(&stage, 1, 1);
    in_another_thread(open_refused, &stage);
    end_frame(&stage);
    cr_expect(eq(u64, stats_of(stage.shared.table).live, 1));
}

static void *close_set(void *arg)
{
    struct stage *stage = arg;

    haft_commands_close(stage->commands);
    stage->commands = NULL;
    return NULL;
}

Test(commands_close, with_the_frame_clock_by_another_thread_gives_reservations_up)
{
    AT_END(stage_close) struct stage stage;

    stage_open(&stage, &options);
    open_recorder(&stage, 1, 10);
    in_another_thread(close_set, &stage);
    cr_expect(zero(u64, stats_of(stage.shared.table).reserved));
    cr_expect(zero(u64, stats_of(stage.shared.table).workers));
}

struct again {
    struct stage stage;
    int calls;
};

static void apply_again(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct again *again = arg;

    again->calls++;
    expect_status(haft_commands_apply(again->stage.commands, NULL), HAFT_IN_CALLBACK);
}

Test(commands_apply, by_on_reclaim_within_an_apply_is_refused)
{
    static struct again again;
    haft_table_options with_callback = options;

    with_callback.on_reclaim = apply_again;
    with_callback.reclaim_arg = &again;
    stage_open(&again.stage, &with_callback);
    for (int frame = 0; frame < 3; frame++) {
        run_one_frame(&again.stage);
    }
    cr_expect(lt(int, 0, again.calls));
    stage_close(&again.stage);
}

/* --- recorders --- */

Test(recorder_open, a_key_is_taken_until_apply)
{
    AT_END(stage_close) struct stage stage;
    haft_recorder *second = NULL;

    stage_open(&stage, &options);
    for (int frame = 0; frame < 2; frame++) {
        haft_recorder *first = open_recorder(&stage, 7, 1);

        open_recorder(&stage, 5, 0);
        expect_status(haft_recorder_open(stage.commands, 7, 1, &second), HAFT_SAME_KEY);
        expect_status(haft_recorder_open(stage.commands, 5, 1, &second), HAFT_SAME_KEY);
        cr_expect(eq(ptr, second, NULL));
        cr_expect(eq(u64, stats_of(stage.shared.table).reserved, 1));
        record_create(first);
        cr_expect(eq(u64, end_frame(&stage).created, 1));
    }
}

Test(recorder_open, keys_may_be_any_numbers_in_any_order)
{
    static const uint64_t keys[] = {40, UINT64_MAX, 0, 3, 41, UINT64_C(1) << 40, 2, 1};
    AT_END(stage_close) struct stage stage;
    haft_recorder *second = NULL;

    stage_open(&stage, &options);
    for (int i = 0; i < 8; i++) {
        haft_recorder *recorder = open_recorder(&stage, keys[i], 1);

        cr_expect(eq(u64, haft_recorder_key(recorder), keys[i]));
        record_create(recorder);
    }
    for (int i = 0; i < 8; i++) {
        expect_status(haft_recorder_open(stage.commands, keys[i], 0, &second), HAFT_SAME_KEY);
    }
    cr_expect(eq(u64, apply(&stage).created, 8));
}

Test(recorder_open, in_a_full_table_is_full_and_what_was_reserved_serves_the_next)
{
    AT_END(stage_close) struct stage stage;
    haft_recorder *recorder = NULL;

    stage_open(&stage, &options);
    const uint64_t limit = stats_of(stage.shared.table).limit;

    expect_status(haft_recorder_open(stage.commands, 1, UINT64_MAX, &recorder), HAFT_FULL);
    cr_expect(zero(u64, stats_of(stage.shared.table).reserved), "more than there can ever be");
    open_recorder(&stage, 1, 10);
    expect_status(haft_recorder_open(stage.commands, 2, limit - 9, &recorder), HAFT_FULL);
    cr_expect(eq(ptr, recorder, NULL));
    cr_expect(eq(u64, stats_of(stage.shared.table).reserved, limit));
    recorder = open_recorder(&stage, 2, limit - 10);
    for (uint64_t i = 10; i < limit; i++) {
        record_create(recorder);
    }
    const haft_applied applied = end_frame(&stage);

    cr_expect(eq(u64, applied.created, limit - 10));
    cr_expect(eq(u64, applied.unused, 10));
}

Test(recorder_open, what_could_be_reserved_for_a_refused_one_serves_several_each_its_own)
{
    AT_END(stage_close) struct stage stage;
    haft_recorder *recorder = NULL;
    haft_id first = HAFT_NIL;

    stage_open(&stage, &options);
    expect_status(haft_recorder_open(stage.commands, 9, 1000000, &recorder), HAFT_FULL);
    expect_status(haft_recorder_open(stage.commands, 9, 129, &recorder), HAFT_FULL);
    must(stats_of(stage.shared.table).reserved == 128);
    for (uint64_t key = 0; key < 16; key++) {
        recorder = open_recorder(&stage, key, 8);
        for (uint64_t i = 0; i < 8; i++) {
            const haft_id id = record_create(recorder);

            first = key + i == 0 ? id : first;
            must(id.bits == first.bits + key * 8 + i);
        }
    }
    const haft_applied applied = end_frame(&stage);

    cr_expect(eq(u64, applied.created, 128));
    cr_expect(zero(u64, applied.unused));
}

Test(recorder_open, what_a_refused_one_left_serves_in_order_beside_others_that_are_refused)
{
    AT_END(stage_close) struct stage stage;
    haft_recorder *refused = NULL;

    stage_open(&stage, &options);
    expect_status(haft_recorder_open(stage.commands, 9, 129, &refused), HAFT_FULL);
    haft_recorder *recorder = open_recorder(&stage, 1, 100);
    const haft_id first = record_create(recorder);

    expect_status(haft_recorder_open(stage.commands, 9, 29, &refused), HAFT_FULL);
    recorder = open_recorder(&stage, 2, 20);
    cr_expect(eq(u64, record_create(recorder).bits, first.bits + 100));
    recorder = open_recorder(&stage, 3, 8);
    cr_expect(eq(u64, record_create(recorder).bits, first.bits + 120));
    cr_expect(eq(u64, end_frame(&stage).unused, 125));
}

Test(recorder_open, what_could_be_reserved_for_a_refused_one_is_given_up_at_apply)
{
    AT_END(stage_close) struct stage stage;
    haft_recorder *recorder = NULL;

    stage_open(&stage, &options);
    const uint64_t limit = stats_of(stage.shared.table).limit;

    expect_status(haft_recorder_open(stage.commands, 2, limit + 1, &recorder), HAFT_FULL);
    cr_expect(eq(u64, end_frame(&stage).unused, limit));
    cr_expect(zero(u64, stats_of(stage.shared.table).reserved));
    for (uint64_t i = 0; i < limit; i++) {
        insert_at_once(&stage);
    }
}

Test(recorder_open, is_busy_while_slots_wait_for_the_tick)
{
    AT_END(stage_close) struct stage stage;
    haft_recorder *recorder = NULL;

    stage_open(&stage, &options);
    const uint64_t limit = stats_of(stage.shared.table).limit;

    open_recorder(&stage, 1, limit);
    apply(&stage);
    expect_status(haft_recorder_open(stage.commands, 1, 1, &recorder), HAFT_BUSY);
    must(haft_domain_tick(stage.shared.domain) == HAFT_OK);
    expect_status(haft_recorder_open(stage.commands, 1, limit, &recorder), HAFT_OK);
}

/* --- memory --- */

/* One frame of 4 recorders; how many of each were recorded. */
static haft_applied record_frame(struct stage *stage, int *counter)
{
    haft_applied recorded = {0};

    for (uint64_t key = 0; key < 4; key++) {
        haft_recorder *recorder;

        if (haft_recorder_open(stage->commands, key, 20, &recorder) != HAFT_OK) {
            continue;
        }
        recorded.unused += 20;
        for (int i = 0; i < 20; i++) {
            const haft_id id = record_create(recorder);

            recorded.created++;
            recorded.unused--;
            for (int times = 0; times < 10; times++) {
                recorded.destroyed += haft_recorder_destroy(recorder, id) == HAFT_OK;
            }
            recorded.calls +=
                haft_recorder_call(recorder, count_call, &counter, sizeof counter) == HAFT_OK;
        }
    }
    return recorded;
}

static const haft_table_options ample = {.capacity = 400, .object_size = 8};

Test(commands_memory, after_the_first_frames_nothing_is_allocated)
{
    AT_END(stage_close) struct stage stage;
    int called = 0;

    stage_open(&stage, &ample);
    record_frame(&stage, &called);
    end_frame(&stage);
    const int calls = stage.memory.calls;

    cr_expect(lt(int, 10, calls));
    for (int frame = 0; frame < 100; frame++) {
        record_frame(&stage, &called);
        must(end_frame(&stage).destroyed == 80);
    }
    cr_expect(eq(int, stage.memory.calls, calls));
    cr_expect(eq(int, called, 101 * 80));
}

Test(commands_memory, whichever_allocation_fails_what_was_recorded_is_carried_out)
{
    bool complete = false;

    for (int left = 0; !complete; left++) {
        AT_END(stage_close) struct stage stage;
        int called = 0;

        stage_open(&stage, &ample);
        stage.memory.left = left;
        const haft_applied recorded = record_frame(&stage, &called);
        const haft_applied applied = end_frame(&stage);

        must(applied.created == recorded.created);
        must(applied.destroyed + applied.duplicates == recorded.destroyed);
        must(applied.calls == recorded.calls && (uint64_t)called == recorded.calls);
        must(stats_of(stage.shared.table).reserved == 0);
        must(stats_of(stage.shared.table).live == recorded.created - applied.destroyed);
        must(left > 0 || recorded.created == 0);
        complete = stage.memory.left > 0;
        must(!complete || (recorded.calls == 80 && recorded.destroyed == 800 && left > 10));
        stage.memory.left = -1;
    }
}

Test(commands_memory, recording_without_memory_is_a_status)
{
    AT_END(stage_close) struct stage stage;
    static const char large[8192];
    haft_status status = HAFT_OK;

    stage_open(&stage, &options);
    haft_recorder *recorder = open_recorder(&stage, 1, 0);
    haft_recorder *second = NULL;

    stage.memory.left = 0;
    expect_status(haft_recorder_open(stage.commands, 2, 0, &second), HAFT_NO_MEMORY);
    cr_expect(eq(ptr, second, NULL));
    expect_status(haft_recorder_call(recorder, count_call, large, sizeof large), HAFT_NO_MEMORY);
    expect_status(haft_recorder_call(recorder, count_call, large, SIZE_MAX), HAFT_NO_MEMORY);
    uint64_t recorded = 0;

    while ((status = haft_recorder_destroy(recorder, HAFT_NIL)) == HAFT_OK) {
        must(++recorded < 4096);
    }
    expect_status(status, HAFT_NO_MEMORY);
    const haft_applied applied = end_frame(&stage);

    cr_expect(eq(u64, applied.refused, recorded));
    cr_expect(zero(u64, applied.calls));
    stage.memory.left = -1;
}

Test(commands_memory, a_set_without_memory_is_not_opened)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    for (int left = 0; left < 2; left++) {
        struct counted memory = {.left = left};
        const haft_allocator allocator = counted_allocator(&memory);
        const haft_commands_options with = {.allocator = &allocator};
        haft_commands *commands = NULL;

        expect_status(haft_commands_open(shared.table, &with, &commands), HAFT_NO_MEMORY);
        cr_expect(eq(ptr, commands, NULL));
        cr_expect(zero(sz, memory.held));
    }
    cr_expect(eq(u64, stats_of(shared.table).workers, 1));
}

/* --- other clocks --- */

TEST_ON_EACH_CLOCK(commands_clock, works_as_well)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    const haft_commands_options defaults = {0};
    haft_commands *commands;
    haft_id last = HAFT_NIL;

    assert_status(haft_worker_close(shared.worker), HAFT_OK);
    shared.worker = NULL;
    assert_status(haft_commands_open(shared.table, &defaults, &commands), HAFT_OK);
    for (int frame = 0; frame < 300; frame++) {
        haft_recorder *recorder;
        haft_applied applied;
        haft_id id;
        haft_status status = haft_recorder_open(commands, 1, 20, &recorder);

        for (int tries = 0; status == HAFT_BUSY; tries++) {
            must(tries < 1000);
            must(haft_domain_wait(shared.domain) == HAFT_OK);
            status = haft_recorder_open(commands, 1, 20, &recorder);
        }
        assert_status(status, HAFT_OK);
        must(haft_recorder_create(recorder, &id, NULL) == HAFT_OK);
        must(haft_recorder_destroy(recorder, last) == HAFT_OK);
        must(haft_commands_apply(commands, &applied) == HAFT_OK);
        must(applied.created == 1 && applied.unused == 19);
        must(applied.destroyed == (frame != 0) && applied.refused == (frame == 0));
        haft_section_begin(shared.domain);
        must(haft_resolve(shared.view, last) == NULL && haft_resolve(shared.view, id) != NULL);
        haft_section_end(shared.domain);
        last = id;
    }
    haft_commands_close(commands);
}

Test(commands_clock, apply_inside_a_section_is_refused_and_does_nothing)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    const haft_commands_options defaults = {0};
    haft_applied applied = {.created = 99};
    haft_commands *commands;
    haft_recorder *recorder;
    haft_id id;

    assert_status(haft_commands_open(shared.table, &defaults, &commands), HAFT_OK);
    assert_status(haft_recorder_open(commands, 1, 1, &recorder), HAFT_OK);
    assert_status(haft_recorder_create(recorder, &id, NULL), HAFT_OK);
    haft_section_begin(shared.domain);
    expect_status(haft_commands_apply(commands, &applied), HAFT_IN_SECTION);
    cr_expect(eq(u64, applied.created, 99));
    cr_expect(not(haft_is_live(shared.view, id)));
    haft_section_end(shared.domain);
    memset(&applied, 0xff, sizeof applied);
    expect_status(haft_commands_apply(commands, &applied), HAFT_OK);
    cr_expect(eq(u64, applied.created, 1));
    for (size_t i = 0; i < sizeof applied.reserved / sizeof applied.reserved[0]; i++) {
        cr_expect(zero(u64, applied.reserved[i]));
    }
    haft_commands_close(commands);
}
