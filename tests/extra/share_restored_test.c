/* Ids restored into a local table that is then shared. */
#include "tests/extra/level.h"

TestSuite(share_restored, .timeout = SUITE_SECONDS);

#define RESTORED 100
#define GENERATION 70000

static haft_layout layout_of(const struct level *level)
{
    return haft_table_layout(level->table);
}

/* The highest generation that a slot has had, by index; more slots than the table has. */
static uint64_t latest[16 * COUNT];

static void free_noting(const struct level *level, haft_worker *worker, haft_id id)
{
    const uint64_t index = haft_id_index(layout_of(level), id);
    const uint64_t generation = haft_id_generation(layout_of(level), id);

    must(index < sizeof latest / sizeof latest[0]);
    must(generation == (latest[index] == 0 ? 1 : latest[index] + 1));
    latest[index] = generation;
    must(haft_free(worker, id) == HAFT_OK);
}

/* Workers use every slot again: the generation after the one that was restored comes next. */
TEST_ON_EACH_CLOCK(share_restored, workers_go_on_from_what_was_restored_before_sharing)
{
    struct level level = open_level(*setting, &level_options);
    haft_id restored[RESTORED];
    haft_id id;

    for (uint64_t i = 0; i < RESTORED; i++) {
        restored[i] = haft_id_pack(haft_local_layout(level.local), HAFT_FIRST_INDEX + 3 * i,
                                   GENERATION + i, 0);
        must(haft_local_restore(level.local, restored[i], NULL) == HAFT_OK);
    }
    share_level(&level);
    haft_worker *worker = open_worker(level.table);

    for (uint64_t i = 0; i < RESTORED; i++) {
        must(haft_is_live(haft_table_view(level.table), restored[i]));
        latest[HAFT_FIRST_INDEX + 3 * i] = GENERATION + i;
        must(haft_free(worker, restored[i]) == HAFT_OK);
        must(haft_free(worker, restored[i]) == HAFT_STALE);
    }
    for (int n = 0; n < 20 * COUNT; n++) {
        must(haft_insert_wait(worker, NULL, &id) == HAFT_OK);
        free_noting(&level, worker, id);
    }
    for (uint64_t i = 0; i < RESTORED; i++) {
        must(latest[HAFT_FIRST_INDEX + 3 * i] > GENERATION + i); /* each was used */
        must(haft_diagnose(level.table, restored[i]) == HAFT_STALE);
    }
    must(haft_worker_close(worker) == HAFT_OK);
    unshare_level(&level);
    close_level(&level);
}
