/*
 * stress/contention.c - how often an operation touches a cache line that another thread wrote last,
 * by size of batch.
 *
 * Two threads take turns of 1,024 objects, so the counts are the same in every run, on any machine:
 * what they say of a machine with more cores is which lines travel, not how long that takes.
 * Counted are stores and read-modify-writes; loads that find a line changed follow from them.
 * Slots are lines of their own.
 *
 *   own       each inserts objects and frees them, as in a job that is done with what it made
 *   handoff   one inserts, the other frees
 *   resolve   each resolves what the other has inserted
 *
 * Invariant  the larger the batches, the fewer read-modify-writes; with full ones little more than
 *            the one that frees.  Resolving stores nothing.  With the workers clock, own objects touch
 *            less than a hundredth of a line; handed over, that of the slot and little more.
 * White-box: it knows what a table has to spare for batches of a size (concurrent/worker.c).
 */
#include "stress/support.h"
#include "stress/traffic.h"
#include <haft/atomics.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECTS 1024
#define INDEX_BITS 17
#define LINE 64 /* bytes */

enum workload { OWN, HANDOFF, RESOLVE, WORKLOADS };

static const char *const names[WORKLOADS] = {"own", "handoff", "resolve"};
static const uint32_t shares[] = {1, 8, 32, 128};
#define SHARES (sizeof shares / sizeof *shares)

struct game {
    const struct run *run;
    haft_table *table;
    enum workload workload;
    uint64_t turns; /* of each thread */
    sem_t turn[2];
    struct traffic traffic; /* of the second half of the turns */
    haft_id ids[2][OBJECTS];
};

static struct traffic traffic_of_all(void)
{
    struct traffic sum = {{0}, {0}};

    for (unsigned edge = 0; edge <= HAFT_EDGE_RETRY; edge++) {
        const struct traffic one = traffic_of(edge);

        for (unsigned kind = 0; kind < TRAFFIC_KINDS; kind++) {
            sum.all[kind] += one.all[kind];
            sum.foreign[kind] += one.foreign[kind];
        }
    }
    return sum;
}

static haft_id insert_one(const struct game *game, haft_worker *worker)
{
    haft_id id;
    haft_status status = haft_insert(worker, NULL, &id);

    if (status == HAFT_BUSY) {
        status = haft_insert_wait(worker, NULL, &id);
    }
    must(game->run, status, "inserting");
    return id;
}

static void play(struct game *game, unsigned number, haft_worker *worker)
{
    const unsigned source = game->workload == OWN ? number : 0;

    for (int i = 0; i < OBJECTS; i++) {
        if (game->workload != RESOLVE && number == source) {
            game->ids[number][i] = insert_one(game, worker);
        }
    }
    for (int i = 0; i < OBJECTS; i++) {
        if (game->workload == RESOLVE) {
            const haft_id id = game->ids[1 - number][i];

            if (haft_resolve(haft_table_view(game->table), id) == NULL) {
                violation(game->run, "an object is gone");
            }
        } else if (game->workload == OWN || number == 1) {
            must(game->run, haft_free(worker, game->ids[source][i]), "freeing");
        }
    }
    must(game->run, haft_worker_quiescent(worker), "a quiescent point");
}

static void body(unsigned number, void *shared)
{
    struct game *game = shared;
    haft_worker *worker;

    sem_wait(&game->turn[number]);
    haft_thread_register(haft_table_domain(game->table));
    must(game->run, haft_worker_open(game->table, &worker), "opening a worker");
    for (uint64_t turn = 0; turn < 2 * game->turns; turn++) {
        if (turn == 0 && game->workload == RESOLVE) {
            for (int i = 0; i < OBJECTS; i++) {
                game->ids[number][i] = insert_one(game, worker);
            }
        } else if (turn != 0) {
            play(game, number, worker);
        }
        if (turn == game->turns && number == 0) { /* what comes first is not what goes on */
            traffic_reset();
        }
        haft_thread_offline(haft_table_domain(game->table));
        sem_post(&game->turn[1 - number]);
        sem_wait(&game->turn[number]);
        haft_thread_online(haft_table_domain(game->table));
    }
    if (number == 0) {
        game->traffic = traffic_of_all();
    }
    sem_post(&game->turn[1 - number]);
    must(game->run, haft_worker_close(worker), "closing a worker");
    haft_thread_unregister(haft_table_domain(game->table));
}

/* A table that has no more to spare than batches of `share` slots ask for. */
static haft_table *open_table(const struct run *run, haft_domain *domain, uint32_t share)
{
    const uint64_t most = (UINT64_C(1) << INDEX_BITS) - HAFT_FIRST_INDEX;
    const haft_table_options options = {
        .capacity = most - 32 * (uint64_t)(share - 1),
        .object_size = LINE - sizeof(uint64_t),
        .layout = HAFT_LAYOUT_OF(INDEX_BITS, 32, 0),
    };
    haft_table *table;

    must(run, haft_table_open(domain, &options, &table), "opening a table");
    return table;
}

static struct traffic measure(const struct run *run, enum workload workload, uint32_t share)
{
    struct game *game = calloc(1, sizeof *game);
    haft_domain *domain = open_domain(run);

    if (game == NULL) {
        violation(run, "no memory");
    }
    *game = (struct game){.run = run, .workload = workload, .turns = run->rounds};
    game->table = open_table(run, domain, share);
    sem_init(&game->turn[0], 0, 1);
    sem_init(&game->turn[1], 0, 0);
    run_threads(2, body, game);
    const struct traffic traffic = game->traffic;

    must(run, haft_table_close(game->table), "closing the table");
    must(run, haft_domain_close(domain), "closing the domain");
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
        .stores = (double)traffic.foreign[TRAFFIC_STORE] / lives,
        .swaps = (double)traffic.foreign[TRAFFIC_MODIFY] / lives,
        .all_swaps = (double)traffic.all[TRAFFIC_MODIFY] / lives,
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
