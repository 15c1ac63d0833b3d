/* Command sets: what is recorded, and what apply makes of it. */
#include "concurrent/worker/worker_list.h"
#include "tests/commands/commands_support.h"
#include <haft/share.h>

TestSuite(create, .timeout = SUITE_SECONDS);
TestSuite(destroy, .timeout = SUITE_SECONDS);
TestSuite(apply_, .timeout = SUITE_SECONDS);

static const haft_table_options options = {.capacity = 64, .object_size = 8};

static bool resolves(const struct stage *stage, haft_id id)
{
    return haft_resolve(stage->shared.view, id) != NULL;
}

static haft_status diagnose(const struct stage *stage, haft_id id)
{
    return haft_diagnose(stage->shared.table, id);
}

/* --- create --- */

Test(create, what_was_created_is_reserved_until_applied_and_then_live)
{
    AT_END(stage_close) struct stage stage;

    stage_open(&stage, &options);
    const haft_id id = record_create(open_recorder(&stage, 1, 1));

    cr_expect(not(resolves(&stage, id)));
    expect_status(diagnose(&stage, id), HAFT_RESERVED);
    cr_expect(eq(u64, apply(&stage).created, 1));
    cr_expect(resolves(&stage, id));
}

Test(create, what_was_written_before_apply_is_what_the_id_names)
{
    AT_END(stage_close) struct stage stage;
    void *objects[8];
    haft_id ids[8];

    stage_open(&stage, &options);
    haft_recorder *recorder = open_recorder(&stage, 1, 8);

    for (uint64_t i = 0; i < 8; i++) {
        must(haft_recorder_create(recorder, &ids[i], &objects[i]) == HAFT_OK);
        *(uint64_t *)objects[i] = i * i;
    }
    apply(&stage);
    for (uint64_t i = 0; i < 8; i++) {
        cr_assert(eq(ptr, haft_resolve(stage.shared.view, ids[i]), objects[i]));
        cr_expect(eq(u64, *(uint64_t *)objects[i], i * i));
    }
}

Test(create, more_than_the_recorder_was_opened_for_is_used_up)
{
    AT_END(stage_close) struct stage stage;
    haft_id id = {77};
    void *object = &id;

    stage_open(&stage, &options);
    haft_recorder *recorder = open_recorder(&stage, 1, 2);

    record_create(recorder);
    record_create(recorder);
    expect_status(haft_recorder_create(recorder, &id, &object), HAFT_USED_UP);
    cr_expect(eq(u64, id.bits, 77));
    cr_expect(eq(ptr, object, &id));
    cr_expect(eq(u64, apply(&stage).created, 2));
}

Test(create, ids_go_out_in_the_order_in_which_recorders_were_opened)
{
    AT_END(stage_close) struct stage stage;

    stage_open(&stage, &options);
    haft_recorder *nine = open_recorder(&stage, 9, 2);
    haft_recorder *three = open_recorder(&stage, 3, 1);
    const haft_id third = record_create(three);
    const haft_id first = record_create(nine);
    const haft_id second = record_create(nine);

    cr_expect(eq(u64, second.bits, first.bits + 1));
    cr_expect(eq(u64, third.bits, first.bits + 2));
}

/* --- destroy --- */

Test(destroy, what_is_destroyed_resolves_until_applied_and_is_stale_then)
{
    AT_END(stage_close) struct stage stage;

    stage_open(&stage, &options);
    const haft_id id = insert_at_once(&stage);

    record_destroy(open_recorder(&stage, 1, 0), id);
    cr_expect(resolves(&stage, id));
    cr_expect(eq(u64, apply(&stage).destroyed, 1));
    expect_status(diagnose(&stage, id), HAFT_STALE);
}

Test(destroy, of_what_was_created_in_the_frame_by_any_recorder_creates_and_destroys)
{
    uint64_t reclaimed = 0;
    AT_END(stage_close) struct stage stage;
    const haft_table_options counting = {
        .capacity = 64, .object_size = 8, .on_reclaim = count_reclaimed, .reclaim_arg = &reclaimed};

    stage_open(&stage, &counting);
    haft_recorder *first = open_recorder(&stage, 1, 1);
    haft_recorder *second = open_recorder(&stage, 2, 1);
    const haft_id own = record_create(second);
    const haft_id later = record_create(first);

    record_destroy(first, own);
    record_destroy(first, later);
    const haft_applied applied = end_frame(&stage);

    cr_expect(eq(u64, applied.created, 2));
    cr_expect(eq(u64, applied.destroyed, 2));
    cr_expect(eq(u64, applied.stale + applied.refused + applied.duplicates, 0));
    expect_status(diagnose(&stage, own), HAFT_STALE);
    expect_status(diagnose(&stage, later), HAFT_STALE);
    end_frame(&stage);
    cr_expect(eq(u64, reclaimed, 2));
}

Test(destroy, of_one_object_by_several_recorders_is_one_and_the_others_are_duplicates)
{
    uint64_t reclaimed = 0;
    AT_END(stage_close) struct stage stage;
    const haft_table_options counting = {
        .capacity = 64, .object_size = 8, .on_reclaim = count_reclaimed, .reclaim_arg = &reclaimed};

    stage_open(&stage, &counting);
    const haft_id id = insert_at_once(&stage);
    haft_recorder *first = open_recorder(&stage, 1, 0);

    record_destroy(first, id);
    record_destroy(first, id);
    record_destroy(open_recorder(&stage, 2, 0), id);
    record_destroy(open_recorder(&stage, 3, 0), id);
    const haft_applied applied = end_frame(&stage);

    cr_expect(eq(u64, applied.destroyed, 1));
    cr_expect(eq(u64, applied.duplicates, 3));
    cr_expect(eq(u64, applied.stale, 0));
    end_frame(&stage);
    cr_expect(eq(u64, reclaimed, 1));
}

Test(destroy, of_what_was_freed_before_is_stale_each_time_and_leaves_the_new_tenant_alone)
{
    AT_END(stage_close) struct stage stage;

    stage_open(&stage, &options);
    const haft_id id = insert_at_once(&stage);

    record_destroy(open_recorder(&stage, 1, 0), id);
    end_frame(&stage);
    haft_id tenant = insert_at_once(&stage);

    while ((uint32_t)tenant.bits != (uint32_t)id.bits) {
        tenant = insert_at_once(&stage);
    }
    for (uint64_t key = 1; key <= 2; key++) {
        record_destroy(open_recorder(&stage, key, 0), id);
    }
    const haft_applied applied = end_frame(&stage);

    cr_expect(eq(u64, applied.stale, 2));
    cr_expect(eq(u64, applied.destroyed + applied.duplicates + applied.refused, 0));
    cr_expect(resolves(&stage, tenant));
}

Test(destroy, of_what_is_not_live_counts_as_a_refused_free_each_time)
{
    AT_END(stage_close) struct stage stage;

    stage_open(&stage, &options);
    const haft_id live = insert_at_once(&stage);
    const haft_id gone = insert_at_once(&stage);

    must(haft_free(haft_commands_worker(stage.commands), gone) == HAFT_OK);
    haft_recorder *recorder = open_recorder(&stage, 1, 0);

    for (int i = 0; i < 5; i++) {
        record_destroy(recorder, live);
        record_destroy(recorder, gone);
    }
    record_destroy(recorder, HAFT_NIL);
    const haft_applied applied = end_frame(&stage);

    cr_expect(eq(u64, applied.destroyed, 1));
    cr_expect(eq(u64, applied.duplicates, 4));
    cr_expect(eq(u64, applied.stale, 5));
    cr_expect(eq(u64, applied.refused, 1));
    cr_expect(eq(u64, haft_table_stats_get(stage.shared.table).refused_frees, 10));
}

Test(destroy, of_what_names_nothing_is_refused)
{
    AT_END(stage_close) struct stage stage;
    const haft_table_options tagged = {
        .capacity = 64, .object_size = 8, .layout = {20, 12, 8, 0}, .tag = 5};

    stage_open(&stage, &tagged);
    haft_worker *worker = haft_commands_worker(stage.commands);
    haft_id reserved;

    must(haft_reserve(worker, &reserved, NULL) == HAFT_OK);
    const haft_id foreign = {reserved.bits ^ UINT64_C(1) << 32};
    const haft_id never_issued = {reserved.bits + 60};
    const haft_id malformed = {reserved.bits | UINT64_C(1) << 63};
    const haft_id all[] = {HAFT_NIL, reserved, foreign, never_issued, malformed};
    haft_recorder *recorder = open_recorder(&stage, 1, 0);

    expect_status(diagnose(&stage, foreign), HAFT_FOREIGN);
    expect_status(diagnose(&stage, never_issued), HAFT_NEVER_ISSUED);
    for (int i = 0; i < 5; i++) {
        record_destroy(recorder, all[i]);
    }
    const haft_applied applied = apply(&stage);

    cr_expect(eq(u64, applied.refused, 5));
    cr_expect(eq(u64, applied.stale + applied.destroyed + applied.duplicates, 0));
    haft_publish(worker, reserved);
    cr_expect(resolves(&stage, reserved));
}

Test(destroy, of_a_reservation_given_up_or_an_exhausted_slot_is_stale)
{
    AT_END(stage_close) struct stage stage;
    const haft_table_options short_lived = {.capacity = 64, .layout = {20, 1, 0, 0}};

    stage_open(&stage, &short_lived);
    const haft_id id = insert_at_once(&stage);

    open_recorder(&stage, 1, 1);
    record_destroy(open_recorder(&stage, 2, 0), id);
    cr_expect(eq(u64, end_frame(&stage).unused, 1));
    end_frame(&stage);
    haft_recorder *recorder = open_recorder(&stage, 1, 0);

    record_destroy(recorder, id);
    record_destroy(recorder, (haft_id){id.bits + 1});
    cr_expect(eq(u64, end_frame(&stage).stale, 2));
}

Test(destroy, thousands_by_one_recorder_are_all_carried_out)
{
    AT_END(stage_close) struct stage stage;
    const haft_table_options large = {.capacity = 5000};

    stage_open(&stage, &large);
    haft_recorder *recorder = open_recorder(&stage, 1, 5000);

    for (int i = 0; i < 5000; i++) {
        record_destroy(recorder, record_create(recorder));
    }
    cr_expect(eq(u64, end_frame(&stage).destroyed, 5000));
    cr_expect(zero(u64, stats_of(stage.shared.table).live));
}

/* --- apply --- */

/* White-box: the set, with its worker, may go on on another thread meanwhile. */
Test(apply_, reclaiming_the_table_on_its_thread_takes_another_worker)
{
    AT_END(stage_close) struct stage stage;

    stage_open(&stage, &options);
    const haft_worker *only = worker_list_first(stage.shared.table);

    cr_assert(eq(ptr, (void *)only, haft_commands_worker(stage.commands)));
    expect_status(haft_table_reclaim(stage.shared.table), HAFT_OK);
    cr_expect(ne(ptr, (void *)worker_list_first(stage.shared.table), (void *)only));
}

Test(apply_, with_nothing_recorded_does_nothing)
{
    AT_END(stage_close) struct stage stage;

    stage_open(&stage, &options);
    const haft_id id = insert_at_once(&stage);

    for (int frame = 0; frame < 3; frame++) {
        const haft_applied applied = end_frame(&stage);

        cr_expect(eq(u64, applied.created + applied.destroyed + applied.calls + applied.unused, 0));
        cr_expect(eq(u64, applied.stale + applied.refused + applied.duplicates, 0));
        if (frame == 1) {
            open_recorder(&stage, 7, 0);
        }
    }
    expect_status(haft_commands_apply(stage.commands, NULL), HAFT_OK);
    cr_expect(resolves(&stage, id));
}

Test(apply_, what_was_reserved_and_not_used_is_given_up_and_comes_back_after_the_tick)
{
    AT_END(stage_close) struct stage stage;

    stage_open(&stage, &options);
    for (int frame = 0; frame < 1000; frame++) {
        haft_recorder *recorder = open_recorder(&stage, 1, 40);
        const haft_id used = record_create(recorder);

        record_destroy(recorder, used);
        const haft_applied applied = end_frame(&stage);

        must(applied.unused == 39 && applied.created == 1 && applied.destroyed == 1);
        must(stats_of(stage.shared.table).reserved == 0);
        must(diagnose(&stage, (haft_id){used.bits + 1}) != HAFT_RESERVED);
    }
    cr_expect(le(u64, stats_of(stage.shared.table).high_water, 128));
    for (int i = 0; i < 64; i++) {
        insert_at_once(&stage);
    }
}

/* Destroys two objects; the ids that their slots have next, in the order in which they go out. */
static void destroy_in_order(uint64_t first_key, uint64_t second_key, bool second_opened_first,
                             haft_id ids[2])
{
    AT_END(stage_close) struct stage stage;

    stage_open(&stage, &options);
    const haft_id first = insert_at_once(&stage);
    const haft_id second = insert_at_once(&stage);
    haft_recorder *other = second_opened_first ? open_recorder(&stage, second_key, 0) : NULL;
    haft_recorder *recorder = open_recorder(&stage, first_key, 0);

    if (other == NULL) {
        other = open_recorder(&stage, second_key, 0);
    }
    record_destroy(other, second);
    record_destroy(recorder, first);
    end_frame(&stage);
    haft_recorder *last = open_recorder(&stage, 1, 64);

    for (int reused = 0, i = 0; i < 64; i++) {
        const haft_id id = record_create(last);

        if (haft_id_generation(haft_table_info(stage.shared.table).layout, id) == 2) {
            must(reused < 2);
            ids[reused++] = id;
        }
    }
}

Test(apply_, goes_by_keys_and_not_by_the_order_of_opening)
{
    haft_id ascending[2] = {HAFT_NIL, HAFT_NIL};
    haft_id opened_late[2] = {HAFT_NIL, HAFT_NIL};
    haft_id descending[2] = {HAFT_NIL, HAFT_NIL};

    destroy_in_order(5, 1000000, false, ascending);
    destroy_in_order(5, 1000000, true, opened_late);
    destroy_in_order(1000000, 5, false, descending);
    for (int i = 0; i < 2; i++) {
        cr_assert(not(haft_id_is_nil(ascending[i])));
        cr_expect(eq(u64, ascending[i].bits, opened_late[i].bits));
        cr_expect(eq(u64, ascending[i].bits, descending[1 - i].bits));
    }
}
