/*
 * stress/contention.c - how often an operation touches a cache line that another thread wrote last,
 * by size of batch.
 *
 * Two threads take turns of 1,024 objects, so the counts are the same in every run, on any machine:
 * what they say of a machine with more cores is which lines travel, not how long that takes.
 * Counted are stores and read-modify-writes; loads that find a line changed follow from them.
 * Slots are lines of their own.  stress/calls.c counts call by call.
 *
 *   own       each inserts objects and frees them, as in a job that is done with what it made
 *   handoff   one inserts, the other frees
 *   resolve   each resolves what the other has inserted
 *
 * Invariant  the larger the batches, the fewer read-modify-writes; with full ones little more than
 *            the one that frees.  Resolving stores nothing.  With the workers clock, own objects
 *            touch less than a hundredth of a line; handed over, that of the slot and little more.
 */
#include "stress/turns.h"
#include <haft/domain.h>
#include <stdio.h>
#include <stdlib.h>

#define OBJECTS 1024

enum workload { OWN, HANDOFF, RESOLVE, WORKLOADS };

static const char *const names[WORKLOADS] = {"own", "handoff", "resolve"};
static const uint32_t shares[] = {1, 8, 32, 128};
#define SHARES (sizeof shares / sizeof *shares)

struct game {
    struct turns turns;
    enum workload workload;
    struct traffic traffic; /* of the second half of the turns */
    haft_id ids[TURN_THREADS][OBJECTS];
};

static void work(struct game *game, unsigned number, haft_worker *worker)
{
    const struct run *run = game->turns.run;
    const unsigned source = game->workload == OWN ? number : 0;

    for (int i = 0; i < OBJECTS; i++) {
        if (game->workload != RESOLVE && number == source) {
            game->ids[number][i] = turns_insert(&game->turns, worker);
        }
    }
    for (int i = 0; i < OBJECTS; i++) {
        if (game->workload == RESOLVE) {
            const haft_id id = game->ids[1 - number][i];

            if (haft_resolve(haft_table_view(game->turns.table), id) == NULL) {
                violation(run, "an object is gone");
            }
        } else if (game->workload == OWN || number == 1) {
            must(run, haft_free(worker, game->ids[source][i]), "freeing");
        }
    }
    must(run, haft_worker_quiescent(worker), "a quiescent point");
}

static void play(struct turns *turns, unsigned number, haft_worker *worker, uint64_t turn)
{
    struct game *game = turns->arg;

    if (turn == 0 && game->workload == RESOLVE) {
        for (int i = 0; i < OBJECTS; i++) {
            game->ids[number][i] = turns_insert(turns, worker);
        }
    } else if (turn != 0) {
        work(game, number, worker);
    }
    if (turn == turns->count / 2 && number == 0) { /* what comes first is not what goes on */
        traffic_reset();
    }
    if (turn == turns->count - 1) {
        game->traffic = turns_traffic();
    }
}

static struct traffic measure(const struct run *run, enum workload workload, uint32_t share)
{
    struct game *game = calloc(1, sizeof *game);

    if (game == NULL) {
        violation(run, "no memory");
    }
    *game = (struct game){.workload = workload};
    game->turns = (struct turns){
        .run = run, .count = 2 * run->rounds, .share = share, .play = play, .arg = game};
    turns_play(&game->turns);
    const struct traffic traffic = game->traffic;

    free(game);
    return traffic;
}

/* Of one object's life, or one resolve. */
struct line {
    double stores; /* on another's line */
    double swaps;  /* the same for read-modify-writes */
    double all_swaps;
};

static struct line measure_line(const struct run *run, enum workload workload, uint32_t share)
{
    const struct traffic traffic = measure(run, workload, share);
    const double threads = workload == HANDOFF ? 1 : 2;
    const double lives = threads * (double)run->rounds * OBJECTS;
    const struct line line = {
        .stores = (double)traffic.foreign[OPERATION_STORE] / lives,
        .swaps = (double)traffic.foreign[OPERATION_MODIFY] / lives,
        .all_swaps = (double)traffic.all[OPERATION_MODIFY] / lives,
    };

    printf("%-8s  %5u  %12.4f  %12.4f  %8.3f\n", names[workload], share, line.stores, line.swaps,
           line.all_swaps);
    return line;
}

static bool is_as_promised(const struct run *run, enum workload workload, struct line line)
{
    const double touched = line.stores + line.swaps;

    switch (workload) {
    case OWN: /* with other clocks batches wait in the depot, and go on to either worker */
        return line.all_swaps < 1.4 && (run->clock != HAFT_CLOCK_WORKERS || touched < 0.01);
    case HANDOFF:
        return line.all_swaps < 1.5 && touched > 1 && touched < 2.5;
    default:
        return line.stores == 0 && line.all_swaps < 0.01;
    }
}

static void measure_workload(const struct run *run, enum workload workload)
{
    struct line last = {0};

    for (size_t i = 0; i < SHARES; i++) {
        const struct line line = measure_line(run, workload, shares[i]);

        if (workload != RESOLVE && i != 0 && line.all_swaps >= last.all_swaps) {
            violation(run, "batches of %u do not do with fewer swaps", shares[i]);
        }
        last = line;
    }
    fflush(stdout);
    if (!is_as_promised(run, workload, last)) {
        violation(run, "%s touches %.4f lines", names[workload], last.stores + last.swaps);
    }
}

int main(int argc, char **argv)
{
    const struct run run = run_from(argc, argv, 64, 2, NULL);

    printf("lines another thread wrote last, for each object\n"
           "workload  batch        stores  swaps, adds  all swaps\n");
    for (enum workload workload = OWN; workload < WORKLOADS; workload++) {
        measure_workload(&run, workload);
    }
    finish(&run, run.rounds, "%u turns of %d objects each", (unsigned)run.rounds, OBJECTS);
}
