/*
 * stress/small.c - small tables, wanted by more threads than they have slots.
 *
 * Invariant  capacity is a floor: while less is live, haft_reserve_wait() does not say full; more
 *            than the limit is never live; every object is accounted for, in a slot's last life
 *            too, and no id is issued twice.
 * Pressure   capacities from 1 to 64, where batches are single slots and each free is a ticket.
 * Usage      small [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller|workers] [mode]
 *            fair     together the threads want no more than the capacity
 *            crowd    they want more, and are told that the table is full
 *            exhaust  few generations, until no slot is left
 *            A round is one insertion of one thread into one table; exhaust ends with the slots.
 */
#include "stress/support.h"
#include <sched.h>

#define MOST_HELD 32
#define INDEX_BITS 7
#define GENERATION_BITS 3
#define LIVES 7 /* generations 1 to 7 */
#define MOST_IDS (1 << (INDEX_BITS + GENERATION_BITS))

static const char *const modes[] = {"fair", "crowd", "exhaust", NULL};
static const uint64_t capacities[] = {1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 60, 64};

#define TABLES (sizeof capacities / sizeof capacities[0])

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    unsigned players;
    struct barrier barrier;
    uint64_t wanted; /* objects that one thread holds at most */
    bool fair;
    shared_u64 live; /* at least; counted up before, down after */
    shared_u64 issued[MOST_IDS];
    shared_u64 reclaimed_here;
    shared_u64 inserted;
    shared_u64 reclaimed;
    shared_u64 full;
    shared_u64 short_of_slots; /* busy, so that a thread had to wait */
};

struct player {
    struct stage *stage;
    haft_worker *worker;
    struct chance chance;
    haft_id held[MOST_HELD];
    uint64_t count;
};

static void on_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct stage *stage = arg;

    (void)worker;
    if (!object_is(object, id)) {
        violation(&stage->run, "id %llx reclaimed as another", (unsigned long long)id.bits);
    }
    add(&stage->reclaimed_here, 1);
}

static void account(struct stage *stage, haft_id id)
{
    if (run_is(&stage->run, "exhaust") && swap(&stage->issued[id.bits % MOST_IDS], 1) != 0) {
        violation(&stage->run, "id %llx issued twice", (unsigned long long)id.bits);
    }
    add(&stage->inserted, 1);
}

/* As haft_insert_wait(), for an object that knows its id. */
static haft_status insert_wait(struct player *player, haft_id *id)
{
    struct stage *stage = player->stage;
    void *object;
    haft_status status = haft_reserve(player->worker, id, &object);

    if (status == HAFT_BUSY) {
        add(&stage->short_of_slots, 1);
        status = haft_reserve_wait(player->worker, id, &object);
    }
    if (status == HAFT_OK) {
        object_write(object, *id);
        haft_publish(player->worker, *id);
    }
    return status;
}

static haft_status insert_one(struct player *player)
{
    struct stage *stage = player->stage;
    haft_id id;
    const uint64_t limit = haft_table_stats_get(stage->table).limit;
    const haft_status status = insert_wait(player, &id);

    if (status == HAFT_OK) {
        account(stage, id);
        player->held[player->count++] = id;
        if (add(&stage->live, 1) >= limit) {
            violation(&stage->run, "more is live than there are slots");
        }
        return status;
    }
    add(&stage->full, 1);
    if (status != HAFT_FULL || stage->fair) {
        violation(&stage->run, "inserting: %s, at most %llu of %llu live", haft_status_text(status),
                  (unsigned long long)(stage->wanted * stage->players),
                  (unsigned long long)haft_table_stats_get(stage->table).capacity);
    }
    return status;
}

static void free_one(struct player *player)
{
    struct stage *stage = player->stage;
    const uint64_t place = draw_below(&player->chance, player->count);
    const haft_id id = player->held[place];

    player->held[place] = player->held[--player->count];
    add(&stage->live, UINT64_MAX);
    must(&stage->run, haft_free(player->worker, id), "freeing");
}

/* True when the table gave nothing to a thread that holds nothing. */
static bool play_once(struct player *player)
{
    struct stage *stage = player->stage;
    bool refused = false;

    if (player->count < stage->wanted && (player->count == 0 || one_in(&player->chance, 2))) {
        refused = insert_one(player) != HAFT_OK && player->count == 0;
    } else if (player->count != 0) {
        free_one(player);
    }
    if (one_in(&player->chance, 8)) {
        haft_worker_quiescent(player->worker);
    }
    return refused;
}

static void body(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct player player = {.stage = stage, .chance = chance_of(&stage->run, number)};
    const bool exhausts = run_is(&stage->run, "exhaust");
    uint64_t refused = 0, times = 0;

    haft_thread_register(stage->domain);
    must(&stage->run, haft_worker_open(stage->table, &player.worker), "opening a worker");
    meet_offline(stage->domain, &stage->barrier, &times);
    for (uint64_t i = 0; exhausts ? refused < 100 : i < stage->run.rounds; i++) {
        if (play_once(&player)) {
            refused++;
            haft_worker_quiescent(player.worker);
            sched_yield();
        }
    }
    while (player.count != 0) {
        free_one(&player);
    }
    must(&stage->run, haft_worker_close(player.worker), "closing a worker");
    haft_thread_unregister(stage->domain);
}

/* --- one table --- */

/* The remaining lives of the slots, by one worker alone; then all ids have been issued. */
static void exhaust_rest(struct stage *stage)
{
    struct player player = {.stage = stage, .chance = chance_of(&stage->run, MOST_THREADS)};

    haft_thread_register(stage->domain);
    must(&stage->run, haft_worker_open(stage->table, &player.worker), "opening a worker");
    while (insert_one(&player) == HAFT_OK) {
        free_one(&player);
    }
    must(&stage->run, haft_worker_close(player.worker), "closing a worker");
    haft_thread_unregister(stage->domain);

    const haft_table_stats stats = haft_table_stats_get(stage->table);
    uint64_t ids = 0;

    for (int i = 0; i < MOST_IDS; i++) {
        ids += swap(&stage->issued[i], 0);
    }
    if (ids != stats.limit * LIVES || stats.exhausted != stats.limit) {
        violation(&stage->run, "capacity %llu: %llu ids issued, %llu of %llu slots exhausted",
                  (unsigned long long)stats.capacity, (unsigned long long)ids,
                  (unsigned long long)stats.exhausted, (unsigned long long)stats.limit);
    }
}

static void play_on_table(struct stage *stage, uint64_t capacity)
{
    const bool exhausts = run_is(&stage->run, "exhaust");
    const haft_layout tiny = HAFT_LAYOUT_OF(INDEX_BITS, GENERATION_BITS, 0);
    const haft_table_options options = {.capacity = capacity,
                                        .object_size = sizeof(struct object),
                                        .layout = exhausts ? tiny : HAFT_LAYOUT_32_32,
                                        .on_reclaim = on_reclaim,
                                        .reclaim_arg = stage};
    const uint64_t before = stage->inserted;

    stage->fair = run_is(&stage->run, "fair");
    stage->players = stage->run.threads;
    if (stage->fair && capacity < stage->players) {
        stage->players = (unsigned)capacity;
    }
    stage->wanted = stage->fair ? capacity / stage->players : 1 + capacity / 2;
    stage->wanted = stage->wanted < MOST_HELD ? stage->wanted : MOST_HELD;
    poke(&stage->reclaimed_here, 0);
    poke(&stage->barrier.arrived, 0);
    stage->barrier.threads = stage->players;
    must(&stage->run, haft_table_open(stage->domain, &options, &stage->table), "opening a table");
    run_threads(stage->players, body, stage);
    if (exhausts) {
        exhaust_rest(stage);
    }
    const haft_table_stats stats = haft_table_stats_get(stage->table);

    close_table(&stage->run, stage->table);
    if (stats.live != 0 || stage->reclaimed_here != stage->inserted - before) {
        violation(&stage->run, "capacity %llu: %llu inserted, %llu live at the end, %llu reclaimed",
                  (unsigned long long)capacity, (unsigned long long)(stage->inserted - before),
                  (unsigned long long)stats.live, (unsigned long long)stage->reclaimed_here);
    }
    stage->reclaimed += stage->reclaimed_here;
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 2000, 6, modes);
    stage.domain = open_domain(&stage.run);
    for (unsigned i = 0; i < TABLES; i++) {
        play_on_table(&stage, capacities[i]);
    }
    must(&stage.run, haft_domain_close(stage.domain), "closing the domain");
    finish(&stage.run, stage.fair ? stage.short_of_slots : stage.full,
           "inserted %llu, reclaimed %llu, had to wait %llu, full %llu",
           (unsigned long long)stage.inserted, (unsigned long long)stage.reclaimed,
           (unsigned long long)stage.short_of_slots, (unsigned long long)stage.full);
}
