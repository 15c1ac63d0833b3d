/*
 * stress/workers.c - workers that come and go while others run.
 *
 * Invariant  what a closed worker held is allocatable again and nothing is lost (ADOPT); a worker
 *            is complete when others find it (WORKER_LIST); slots in use stay bounded.
 * Pressure   workers are opened and closed every few operations, with objects of theirs still
 *            live; one thread sums up the statistics, and so walks over all workers, all the while.
 * Usage      workers [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller|workers] [mode]
 *            churn        threads that stay, workers that do not
 *            short_lived  a thread for each worker
 *            worker_list       a new table in each round, so that all its workers are new
 *            A round is one worker.
 */
#include "stress/support.h"
#include <pthread.h>
#include <sched.h>

#define CAPACITY 4096
#define BOARD 256               /* objects that stay live */
#define MOST_OPERATIONS 64      /* of one worker */
#define SLOTS_IN_TRANSIT 16384u /* of one worker, as haft/table.h says */
#define WORKER_LIST_ROUNDS 16   /* of the others, one of "worker_list" */

static const char *const modes[] = {"churn", "short_lived", "worker_list", NULL};

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    shared_u64 board[BOARD];
    shared_u64 players_left;
    shared_u64 sums;    /* statistics taken while workers came and went */
    shared_u64 changes; /* of them, those that saw other workers open than the one before did */
    _Atomic(haft_table *) next_table; /* worker_list: handed over with release and acquire */
    struct barrier barrier;
};

static haft_worker *open_worker(const struct stage *stage, haft_table *table)
{
    haft_worker *worker;

    must(&stage->run, haft_worker_open(table, &worker), "opening a worker");
    return worker;
}

/* Put an object on the board, and free the one that was there; it is another worker's. */
static void exchange_one(struct stage *stage, haft_worker *worker, struct chance *chance)
{
    void *bytes;
    const haft_id id = reserve_waiting(&stage->run, worker, &bytes);

    object_write(bytes, id);
    haft_publish(worker, id);

    const haft_id old = {swap(&stage->board[draw_below(chance, BOARD)], id.bits)};

    if (old.bits == 0) {
        return;
    }
    haft_section_begin(stage->domain);
    const struct object *object = haft_resolve(haft_table_view(stage->table), old);

    if (object == NULL || !object_is(object, old)) {
        violation(&stage->run, "id %llx: not its object", (unsigned long long)old.bits);
    }
    must(&stage->run, haft_free(worker, old), "freeing");
    haft_section_end(stage->domain);
}

static void live_one_life(struct stage *stage, struct chance *chance)
{
    haft_worker *worker = open_worker(stage, stage->table);

    for (uint64_t i = draw_below(chance, MOST_OPERATIONS); i != 0; i--) {
        exchange_one(stage, worker, chance);
    }
    if (one_in(chance, 2)) {
        haft_worker_quiescent(worker);
    }
    must(&stage->run, haft_worker_close(worker), "closing a worker");
}

/* --- short_lived: a thread for each --- */

struct life {
    struct stage *stage;
    struct chance chance;
};

static void *thread_of_one_life(void *arg)
{
    struct life *life = arg;

    haft_thread_register(life->stage->domain);
    live_one_life(life->stage, &life->chance);
    haft_thread_unregister(life->stage->domain);
    return NULL;
}

static void spawn_one(struct stage *stage, struct chance *chance)
{
    struct life life = {stage, {draw(chance) | 1}};
    pthread_t thread;

    if (pthread_create(&thread, NULL, thread_of_one_life, &life) != 0) {
        violation(&stage->run, "no thread to be had");
    }
    pthread_join(thread, NULL);
}

/* --- one of the threads --- */

static void check_bounds(const struct stage *stage, const haft_table_stats *stats)
{
    const uint64_t most = BOARD + stage->run.threads * (SLOTS_IN_TRANSIT + 1);

    if (stats->workers > stage->run.threads || stats->high_water > stats->limit ||
        stats->high_water > most) {
        violation(&stage->run, "%llu workers, %llu slots in use",
                  (unsigned long long)stats->workers, (unsigned long long)stats->high_water);
    }
}

static void watch(struct stage *stage)
{
    uint64_t workers = 0;

    while (peek(&stage->players_left) != 0) {
        const haft_table_stats stats = haft_table_stats_get(stage->table);

        check_bounds(stage, &stats);
        add(&stage->sums, 1);
        add(&stage->changes, stats.workers != workers);
        workers = stats.workers;
        sched_yield();
    }
}

static void play(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct chance chance = chance_of(&stage->run, number);
    const bool spawns = run_is(&stage->run, "short_lived");

    if (number == 0) {
        watch(stage);
        return;
    }
    if (!spawns) {
        haft_thread_register(stage->domain);
    }
    for (uint64_t i = 0; run_goes_on(&stage->run, i, peek(&stage->changes)); i++) {
        if (spawns) {
            spawn_one(stage, &chance);
        } else {
            live_one_life(stage, &chance);
            if (one_in(&chance, 8)) {
                sched_yield(); /* without a worker, which busy cores would hardly ever show */
            }
        }
    }
    if (!spawns) {
        haft_thread_unregister(stage->domain);
    }
    add(&stage->players_left, UINT64_MAX);
}

static void free_board(struct stage *stage)
{
    haft_worker *worker = open_worker(stage, stage->table);

    for (int i = 0; i < BOARD; i++) {
        const haft_id id = {peek(&stage->board[i])};

        if (id.bits != 0) {
            must(&stage->run, haft_free(worker, id), "freeing");
        }
    }
    must(&stage->run, haft_worker_close(worker), "closing a worker");
}

static haft_table *open_table(const struct stage *stage)
{
    const haft_table_options options = {.capacity = CAPACITY, .object_size = sizeof(struct object)};
    haft_table *table;

    must(&stage->run, haft_table_open(stage->domain, &options, &table), "opening a table");
    return table;
}

static void play_on_one_table(struct stage *stage)
{
    stage->table = open_table(stage);
    poke(&stage->players_left, stage->run.threads - 1);
    run_threads(stage->run.threads, play, stage);
    free_board(stage);
    check_nothing_lost(&stage->run, stage->table);
    close_table(&stage->run, stage->table);
}

/* --- worker_list --- */

static void begin_round(struct stage *stage, uint64_t round)
{
    if (run_goes_on(&stage->run, round * WORKER_LIST_ROUNDS, peek(&stage->changes))) {
        atomic_store_explicit(&stage->next_table, open_table(stage), memory_order_release);
    } else {
        say_end(&stage->barrier);
    }
}

static void play_worker_list(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct chance chance = chance_of(&stage->run, number);
    uint64_t times = 0;

    for (uint64_t i = 0;; i++) {
        if (number == 0) {
            begin_round(stage, i);
        }
        if (!meet(&stage->barrier, &times)) {
            break;
        }
        haft_table *table = atomic_load_explicit(&stage->next_table, memory_order_acquire);

        haft_worker *worker = NULL;

        for (uint64_t turn = draw_below(&chance, 3); worker == NULL; turn--) {
            if (turn == 0) {
                worker = open_worker(stage, table);
            }
            const uint64_t open = haft_table_stats_get(table).workers;

            add(&stage->sums, 1);
            add(&stage->changes, open != 0 && open != stage->run.threads);
        }
        meet(&stage->barrier, &times);
        must(&stage->run, haft_worker_close(worker), "closing a worker");
        meet(&stage->barrier, &times);
        if (number == 0) {
            close_table(&stage->run, table);
        }
    }
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 20000, 4, modes);
    run_until(&stage.run, run_is(&stage.run, "churn") ? 100 : 3000);
    stage.domain = open_domain(&stage.run);
    stage.barrier.threads = stage.run.threads;
    if (run_is(&stage.run, "worker_list")) {
        run_threads(stage.run.threads, play_worker_list, &stage);
    } else {
        play_on_one_table(&stage);
    }
    must(&stage.run, haft_domain_close(stage.domain), "closing the domain");
    finish(&stage.run, stage.changes, "sums taken meanwhile %llu, of them amid changes %llu",
           (unsigned long long)stage.sums, (unsigned long long)stage.changes);
}
