/*
 * stress/table_free.c - threads without a worker free, while workers insert into the slots that
 * these leave in the table's list.
 *
 * Invariant  a slot has one holder, which writes after the last write of the one before (LIST);
 *            on_reclaim runs once for each freed object; no slot is lost.
 * Pressure   few slots, so that the list is short and each slot comes back soon.
 * Usage      table_free [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller|workers]
 *            A round is one reservation of one thread, or one look at the board.
 */
#include "stress/support.h"
#include <sched.h>

#define BOARD 4
#define SLOTS 4096

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    haft_layout layout;
    unsigned strangers;
    shared_u64 board[BOARD];   /* ids that are live, for any thread to free */
    shared_u64 holders[SLOTS]; /* of each slot: 1 while it is reserved or live */
    shared_u64 listed;         /* slots that went into the list */
    shared_u64 freed;
    shared_u64 reclaimed;
};

static shared_u64 *holders_of(struct stage *stage, haft_id id)
{
    return &stage->holders[haft_id_index(stage->layout, id)];
}

static void on_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct stage *stage = arg;
    struct object *dead = object;

    (void)worker;
    if (!object_is(dead, id)) {
        violation(&stage->run, "id %llx reclaimed as another", (unsigned long long)id.bits);
    }
    dead->canary = 0; /* a second call would notice */
    add(&stage->reclaimed, 1);
}

static haft_id reserve(struct stage *stage, haft_worker *worker)
{
    void *object;
    const haft_id id = reserve_waiting(&stage->run, worker, &object);

    if (add(holders_of(stage, id), 1) != 0) {
        violation(&stage->run, "the slot of id %llx has two holders", (unsigned long long)id.bits);
    }
    object_write(object, id);
    return id;
}

static void free_one(struct stage *stage, haft_worker *worker, haft_id id)
{
    poke(holders_of(stage, id), 0);
    add(&stage->freed, 1);
    if (worker != NULL) {
        must(&stage->run, haft_free(worker, id), "freeing");
    } else {
        must(&stage->run, haft_table_free(stage->table, id), "freeing without a worker");
        add(&stage->listed, 1);
    }
}

/* The object comes to the board; the one that was in its place is freed. */
static void exchange(struct stage *stage, haft_worker *worker, haft_id id, struct chance *chance)
{
    haft_publish(worker, id);
    const haft_id before = {swap(&stage->board[draw_below(chance, BOARD)], id.bits)};

    if (before.bits != 0) {
        free_one(stage, one_in(chance, 2) ? worker : NULL, before);
    }
}

static void free_from_board(struct stage *stage, struct chance *chance)
{
    const haft_id id = {swap(&stage->board[draw_below(chance, BOARD)], 0)};

    if (id.bits != 0) {
        free_one(stage, NULL, id);
    } else {
        sched_yield();
    }
}

static void insert_one(struct stage *stage, haft_worker *worker, struct chance *chance)
{
    const haft_id id = reserve(stage, worker);

    if (one_in(chance, 4)) {
        poke(holders_of(stage, id), 0);
        haft_abort(worker, id);
    } else {
        exchange(stage, worker, id, chance);
    }
    must(&stage->run, haft_worker_quiescent(worker), "a quiescent point");
}

static void body(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct chance chance = chance_of(&stage->run, number);
    haft_worker *worker = NULL;

    if (number < stage->strangers) {
        for (uint64_t i = 0; run_goes_on(&stage->run, i, peek(&stage->listed)); i++) {
            free_from_board(stage, &chance);
        }
        return;
    }
    haft_thread_register(stage->domain);
    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (uint64_t i = 0; run_goes_on(&stage->run, i, peek(&stage->listed)); i++) {
        insert_one(stage, worker, &chance);
    }
    haft_worker_close(worker);
    haft_thread_unregister(stage->domain);
}

static void open_stage(struct stage *stage)
{
    const haft_table_options options = {.capacity = BOARD + stage->run.threads,
                                        .object_size = sizeof(struct object),
                                        .on_reclaim = stage->run.seed % 2 == 0 ? on_reclaim : NULL,
                                        .reclaim_arg = stage};

    stage->strangers = stage->run.threads / 2;
    stage->domain = open_domain(&stage->run);
    must(&stage->run, haft_table_open(stage->domain, &options, &stage->table), "opening the table");
    stage->layout = haft_table_info(stage->table).layout;
    if (haft_table_stats_get(stage->table).limit + HAFT_FIRST_INDEX > SLOTS) {
        violation(&stage->run, "the table has more slots than this program knows");
    }
}

static void clear_board(struct stage *stage)
{
    for (int i = 0; i < BOARD; i++) {
        const haft_id id = {peek(&stage->board[i])};

        if (id.bits != 0) {
            free_one(stage, NULL, id);
        }
    }
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 20000, 4, NULL);
    run_until(&stage.run, 40000);
    open_stage(&stage);
    run_threads(stage.run.threads, body, &stage);

    clear_board(&stage);
    close_with_domain(&stage.run, stage.table);
    if (stage.run.seed % 2 == 0 && stage.reclaimed != stage.freed) {
        violation(&stage.run, "%llu freed, %llu reclaimed", (unsigned long long)stage.freed,
                  (unsigned long long)stage.reclaimed);
    }
    finish(&stage.run, stage.listed, "slots in the list %llu, freed %llu, reclaimed %llu",
           (unsigned long long)stage.listed, (unsigned long long)stage.freed,
           (unsigned long long)stage.reclaimed);
}
