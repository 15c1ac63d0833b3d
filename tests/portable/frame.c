/* Recorded births and deaths, and the frame's end. */
#include "portable.h"

#define FRAMES 20
#define JOBS 4

struct payload {
    uint64_t *calls;
};

static void call(haft_recorder *recorder, void *payload)
{
    CHECK(haft_recorder_key(recorder) < JOBS);
    ++*((struct payload *)payload)->calls;
}

static void record(haft_commands *commands, uint64_t key, haft_id *ids, uint64_t *calls)
{
    haft_recorder *recorder = NULL;
    struct payload payload = {calls};
    void *object = NULL;

    CHECK_OK(haft_recorder_open(commands, key, 2, &recorder));
    CHECK(haft_recorder_commands(recorder) == commands && haft_recorder_key(recorder) == key);
    if (!haft_id_is_nil(ids[0])) {
        CHECK_OK(haft_recorder_destroy(recorder, ids[0]));
        CHECK_OK(haft_recorder_destroy(recorder, ids[0]));
    }
    CHECK_OK(haft_recorder_create(recorder, &ids[0], &object));
    *(uint64_t *)object = key;
    CHECK_OK(haft_recorder_create(recorder, &ids[1], NULL));
    CHECK(haft_recorder_create(recorder, &ids[2], NULL) == HAFT_USED_UP);
    CHECK_OK(haft_recorder_destroy(recorder, ids[1]));
    CHECK_OK(haft_recorder_call(recorder, call, &payload, sizeof payload));
}

static void test_commands(enum circumstance circumstance)
{
    struct shared shared;
    haft_commands *commands = NULL;
    const haft_commands_options options = {.block_size = 1024};
    haft_id ids[JOBS][3] = {{HAFT_NIL, HAFT_NIL, HAFT_NIL}};
    haft_applied applied;
    uint64_t calls = 0;

    if (!shared_open(&shared, circumstance, NULL)) {
        return;
    }
    CHECK_OK(haft_commands_open(shared.table, &options, &commands));
    CHECK(haft_commands_table(commands) == shared.table);
    CHECK(haft_worker_table(haft_commands_worker(commands)) == shared.table);
    for (int frame = 0; frame < FRAMES; frame++) {
        for (uint64_t key = JOBS; key-- > 0;) {
            record(commands, key, ids[key], &calls);
        }
        CHECK_OK(haft_commands_apply(commands, &applied));
        CHECK(applied.created == 2 * JOBS && applied.calls == JOBS);
        CHECK(applied.destroyed == (frame == 0 ? JOBS : 2 * JOBS));
        CHECK(applied.duplicates == (frame == 0 ? 0 : JOBS));
        CHECK(haft_is_live(haft_table_view(shared.table), ids[0][0]));
        shared_grace(&shared);
    }
    CHECK(calls == JOBS * FRAMES && haft_table_stats_get(shared.table).live == JOBS);
    haft_commands_close(commands);
    CHECK_OK(haft_commands_open_sized(shared.table, &options, sizeof options, &commands));
    haft_commands_close(commands);
    shared_close(&shared);
}

static void test_tick(enum circumstance circumstance)
{
    struct shared shared;
    haft_id id;

    if (!shared_open(&shared, circumstance, NULL)) {
        return;
    }
    CHECK_OK(haft_insert(shared.worker, NULL, &id));
    CHECK_OK(haft_free(shared.worker, id));
    CHECK_OK(haft_worker_flush(shared.worker));
    CHECK(haft_domain_wait(shared.domain) == HAFT_BUSY);
    CHECK_OK(haft_domain_tick(shared.domain));
    CHECK_OK(haft_domain_wait(shared.domain));
    shared_close(&shared);
}

const struct test frame_tests[] = {
    {"commands", "record and apply 20 frames", IN_SHARED, test_commands},
    {"domain", "ticks", BIT(FRAME) | BIT(FRAME_IN_BLOCK), test_tick},
    {NULL, NULL, 0, NULL},
};
