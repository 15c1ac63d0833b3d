/* What the tests of command sets share. */
#include "tests/commands/commands_support.h"

void stage_open(struct stage *stage, const haft_table_options *options)
{
    const haft_domain_options frames = {.clock = HAFT_CLOCK_FRAME};
    const haft_allocator allocator = counted_allocator(&stage->memory);
    const haft_commands_options with = {.allocator = &allocator};

    stage->memory = (struct counted){.left = -1};
    stage->shared = open_shared_on(&frames, options);
    assert_status(haft_worker_close(stage->shared.worker), HAFT_OK);
    stage->shared.worker = NULL;
    assert_status(haft_commands_open(stage->shared.table, &with, &stage->commands), HAFT_OK);
}

void stage_close(struct stage *stage)
{
    if (stage->commands != NULL) {
        haft_commands_close(stage->commands);
    }
    cr_expect(zero(sz, stage->memory.held));
    close_shared(&stage->shared);
}

haft_recorder *open_recorder(struct stage *stage, uint64_t key, uint64_t max_creates)
{
    haft_recorder *recorder = NULL;

    assert_status(haft_recorder_open(stage->commands, key, max_creates, &recorder), HAFT_OK);
    return recorder;
}

haft_id record_create(haft_recorder *recorder)
{
    haft_id id = HAFT_NIL;

    assert_status(haft_recorder_create(recorder, &id, NULL), HAFT_OK);
    return id;
}

void record_destroy(haft_recorder *recorder, haft_id id)
{
    assert_status(haft_recorder_destroy(recorder, id), HAFT_OK);
}

haft_applied apply(struct stage *stage)
{
    haft_applied applied;

    assert_status(haft_commands_apply(stage->commands, &applied), HAFT_OK);
    return applied;
}

haft_applied end_frame(struct stage *stage)
{
    const haft_applied applied = apply(stage);

    assert_status(haft_domain_tick(stage->shared.domain), HAFT_OK);
    return applied;
}

haft_id insert_at_once(struct stage *stage)
{
    return insert(haft_commands_worker(stage->commands));
}
