/* Command sets: calls at the frame boundary. */
#include "tests/commands/commands_support.h"
#include <signal.h>

TestSuite(call, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 64, .object_size = 8};

/* What the calls of one test have noted, in order. */
static struct stage stage;
static int notes[64];
static int noted;

static void note(int what)
{
    must(noted < 64);
    notes[noted++] = what;
}

static void note_payload(haft_recorder *recorder, void *payload)
{
    note(*(const int *)payload);
}

static void record_note(haft_recorder *recorder, int what)
{
    must(haft_recorder_call(recorder, note_payload, &what, sizeof what) == HAFT_OK);
}

static void expect_notes(const int *expected, int count)
{
    cr_assert(eq(int, noted, count));
    for (int i = 0; i < count; i++) {
        cr_expect(eq(int, notes[i], expected[i]), "note %d", i);
    }
}

Test(call, gets_its_recorder_and_a_copy_of_the_payload)
{
    stage_open(&stage, &options);
    haft_recorder *recorder = open_recorder(&stage, 1, 0);
    int what = 3;

    must(haft_recorder_call(recorder, note_payload, &what, sizeof what) == HAFT_OK);
    what = 4;
    cr_expect(zero(int, noted));
    cr_expect(eq(u64, apply(&stage).calls, 1));
    expect_notes((int[]){3}, 1);
    cr_expect(zero(u64, apply(&stage).calls));
    stage_close(&stage);
}

/* An object that keeps its call's payload, for its on_reclaim in the same apply. */
static void look_at_payload(void *object, haft_id id, haft_worker *worker, void *arg)
{
    note(**(int **)object);
}

static void free_with_payload(haft_recorder *recorder, void *payload)
{
    haft_worker *worker = haft_commands_worker(stage.commands);
    haft_id id;

    must(haft_insert(worker, &payload, &id) == HAFT_OK);
    must(haft_free(worker, id) == HAFT_OK);
    must(haft_worker_flush(worker) == HAFT_OK);
    must(haft_domain_tick(stage.shared.domain) == HAFT_OK);
}

Test(call, payloads_last_until_apply_returns)
{
    const haft_table_options looking = {
        .capacity = 64, .object_size = sizeof(void *), .on_reclaim = look_at_payload};
    const int what = 5;

    stage_open(&stage, &looking);
    must(haft_recorder_call(open_recorder(&stage, 1, 0), free_with_payload, &what, sizeof what) ==
         HAFT_OK);
    apply(&stage);
    expect_notes((int[]){5}, 1);
    stage_close(&stage);
}

static void note_identity(haft_recorder *recorder, void *payload)
{
    cr_expect(eq(u64, haft_recorder_key(recorder), 0xABCDEF0123));
    cr_expect(eq(ptr, haft_recorder_commands(recorder), stage.commands));
    cr_expect(eq(ptr, haft_commands_table(haft_recorder_commands(recorder)), stage.shared.table));
    cr_expect(zero(sz, (uintptr_t)payload % 16));
    note(1);
}

Test(call, knows_its_set_and_key_and_has_an_aligned_payload_of_any_size)
{
    const char bytes[100] = {0};

    stage_open(&stage, &options);
    haft_recorder *recorder = open_recorder(&stage, 0xABCDEF0123, 0);

    for (size_t size = 1; size < 50; size++) {
        must(haft_recorder_call(recorder, note_identity, bytes, size) == HAFT_OK);
    }
    must(haft_recorder_call(recorder, note_identity, NULL, 0) == HAFT_OK);
    cr_expect(eq(u64, apply(&stage).calls, 50));
    cr_expect(eq(int, noted, 50));
    stage_close(&stage);
}

Test(call, calls_are_made_by_key_and_then_in_order_of_recording)
{
    stage_open(&stage, &options);
    haft_recorder *nine = open_recorder(&stage, 9, 0);
    haft_recorder *two = open_recorder(&stage, 2, 0);
    haft_recorder *five = open_recorder(&stage, 5, 0);

    record_note(nine, 90);
    record_note(five, 50);
    record_note(two, 20);
    record_note(nine, 91);
    record_note(two, 21);
    apply(&stage);
    expect_notes((int[]){20, 21, 50, 90, 91}, 5);
    stage_close(&stage);
}

static void note_what_is_live(haft_recorder *recorder, void *payload)
{
    const haft_id *ids = payload;

    for (int i = 0; i < 2; i++) {
        note(haft_is_live(stage.shared.view, ids[i]));
    }
}

Test(call, calls_come_after_all_creations_and_before_all_destructions)
{
    stage_open(&stage, &options);
    const haft_id old = insert_at_once(&stage);
    haft_recorder *first = open_recorder(&stage, 1, 1);
    haft_recorder *last = open_recorder(&stage, 2, 1);
    const haft_id ids[] = {record_create(last), old};

    record_destroy(first, old);
    record_destroy(first, ids[0]);
    must(haft_recorder_call(first, note_what_is_live, ids, sizeof ids) == HAFT_OK);
    must(haft_recorder_call(last, note_what_is_live, ids, sizeof ids) == HAFT_OK);
    cr_expect(eq(u64, apply(&stage).destroyed, 2));
    expect_notes((int[]){1, 1, 1, 1}, 4);
    stage_close(&stage);
}

static haft_id created_by_call;

static void record_more(haft_recorder *recorder, void *payload)
{
    created_by_call = record_create(recorder);
    cr_expect(not(haft_is_live(stage.shared.view, created_by_call)));
    record_destroy(recorder, *(const haft_id *)payload);
    record_note(recorder, 30);
    note(10);
}

static void note_whether_created(haft_recorder *recorder, void *payload)
{
    note(haft_is_live(stage.shared.view, created_by_call) ? 20 : 0);
}

Test(call, what_a_call_records_is_carried_out_in_the_same_apply)
{
    stage_open(&stage, &options);
    const haft_id victim = insert_at_once(&stage);
    haft_recorder *recorder = open_recorder(&stage, 1, 1);
    haft_recorder *next = open_recorder(&stage, 2, 0);

    record_note(next, 40);
    must(haft_recorder_call(recorder, record_more, &victim, sizeof victim) == HAFT_OK);
    must(haft_recorder_call(recorder, note_whether_created, NULL, 0) == HAFT_OK);
    const haft_applied applied = apply(&stage);

    expect_notes((int[]){10, 20, 30, 40}, 4);
    cr_expect(eq(u64, applied.created, 1));
    cr_expect(eq(u64, applied.destroyed, 1));
    cr_expect(eq(u64, applied.calls, 4));
    cr_expect(zero(u64, applied.unused));
    stage_close(&stage);
}

static void free_at_once(haft_recorder *recorder, void *payload)
{
    haft_worker *worker = haft_commands_worker(haft_recorder_commands(recorder));

    expect_status(haft_free(worker, *(const haft_id *)payload), HAFT_OK);
    created_by_call = insert(worker);
}

Test(call, what_a_call_frees_by_the_sets_worker_is_stale_for_destructions)
{
    stage_open(&stage, &options);
    const haft_id id = insert_at_once(&stage);
    haft_recorder *recorder = open_recorder(&stage, 1, 0);

    record_destroy(recorder, id);
    must(haft_recorder_call(recorder, free_at_once, &id, sizeof id) == HAFT_OK);
    const haft_applied applied = apply(&stage);

    cr_expect(eq(u64, applied.stale, 1));
    cr_expect(zero(u64, applied.destroyed + applied.duplicates + applied.created));
    cr_expect(haft_is_live(stage.shared.view, created_by_call));
    stage_close(&stage);
}

/* --- misuse --- */

static haft_recorder *other_recorder;

static void record_with_another(haft_recorder *recorder, void *payload)
{
    record_destroy(other_recorder, HAFT_NIL);
}

static void open_another(haft_recorder *recorder, void *payload)
{
    haft_recorder_open(haft_recorder_commands(recorder), 77, 0, &recorder);
}

static void apply_again(haft_recorder *recorder, void *payload)
{
    haft_commands_apply(haft_recorder_commands(recorder), NULL);
}

/* With NDEBUG there are no assertions to see. */
static void apply_with(haft_call *misuse)
{
    stage_open(&stage, &options);
    haft_recorder *recorder = open_recorder(&stage, 1, 0);

    other_recorder = open_recorder(&stage, 2, 0);
    must(haft_recorder_call(recorder, misuse, NULL, 0) == HAFT_OK);
#ifdef NDEBUG
    raise(SIGABRT);
#endif
    apply(&stage);
}

Test(call, that_records_with_another_recorder_is_an_assertion, .signal = SIGABRT)
{
    apply_with(record_with_another);
}

Test(call, that_opens_a_recorder_is_an_assertion, .signal = SIGABRT)
{
    apply_with(open_another);
}

Test(call, that_applies_is_an_assertion, .signal = SIGABRT)
{
    apply_with(apply_again);
}

Test(call, recording_after_apply_is_an_assertion, .signal = SIGABRT)
{
    stage_open(&stage, &options);
    haft_recorder *recorder = open_recorder(&stage, 1, 1);

    apply(&stage);
#ifdef NDEBUG
    raise(SIGABRT);
#endif
    record_create(recorder);
}
