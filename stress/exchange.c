/*
 * stress/exchange.c - slots that wander: reserved by one thread, freed by another, taken from
 * rings and from the depot.
 *
 * Invariant  no slot has two owners (RING, DEPOT, POOL; ABA in any of them); each life of a slot
 *            has the generation after the one before; at the end nothing is lost.
 * Pressure   each thread stamps the slots it gets and clears the stamp as it frees them; ids go
 *            to other threads through mailboxes that order nothing; flushes make batches small
 *            and rings full; capacities from a few slots in a batch to full batches.
 * Usage      exchange [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller|workers] [mode]
 *            mixed, mixed_large      every thread inserts and frees
 *            wrap                    the same with three generations, over and over
 *            handoff, handoff_large  half of them only insert, the others only free
 *            A round is one operation of a thread that inserts; the others go on meanwhile.
 */
#include "stress/support.h"
#include <sched.h>
#include <stdlib.h>

#define SMALL_CAPACITY 256  /* batches of up to 9 */
#define LARGE_CAPACITY 8192 /* batches of up to 128 */

static const char *const modes[] = {"mixed",         "handoff", "mixed_large",
                                    "handoff_large", "wrap",    NULL};
static const haft_layout wrapping = HAFT_LAYOUT_OF(32, 2, 0);

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    haft_layout layout;
    bool handoff;
    shared_u64 inserters_left;
    uint64_t room;       /* ids in a mailbox, and in a thread's hands */
    shared_u64 *mail;    /* `room` cells for each thread: an id, or 0 */
    shared_u64 *stamps;  /* by index: the thread that has the slot, from 1 */
    shared_u64 *freers;  /* by index: the thread that freed it last */
    shared_u64 *issued;  /* by index: the generation of its last life */
    shared_u64 cycles;   /* slots that were freed and reserved again */
    shared_u64 wandered; /* of them, those freed by another thread */
};

/* One thread's part. */
struct player {
    struct stage *stage;
    haft_worker *worker;
    struct chance chance;
    unsigned number;
    bool inserts;
    bool frees;
    haft_id *held;
    uint64_t count;
};

static void check_generation(struct stage *stage, haft_id id)
{
    const uint64_t generation = haft_id_generation(stage->layout, id);
    const uint64_t before = swap(&stage->issued[haft_id_index(stage->layout, id)], generation);

    if (generation != before % haft_field_max(stage->layout.generation_bits) + 1) {
        violation(&stage->run, "id %llx: generation %llu after %llu", (unsigned long long)id.bits,
                  (unsigned long long)generation, (unsigned long long)before);
    }
}

static void insert_one(struct player *player)
{
    struct stage *stage = player->stage;
    void *object;
    const haft_id id = reserve_waiting(&stage->run, player->worker, &object);
    const uint32_t index = haft_id_index(stage->layout, id);

    if (swap(&stage->stamps[index], player->number + 1) != 0) {
        violation(&stage->run, "slot %u has two owners", (unsigned)index);
    }
    const uint64_t freer = peek(&stage->freers[index]);

    check_generation(stage, id);
    add(&stage->cycles, freer != 0);
    add(&stage->wandered, freer != 0 && freer != player->number + 1);
    object_write(object, id);
    haft_publish(player->worker, id);
    player->held[player->count++] = id;
}

static haft_id take_held(struct player *player)
{
    const uint64_t place = draw_below(&player->chance, player->count);
    const haft_id id = player->held[place];

    player->held[place] = player->held[--player->count];
    return id;
}

static void look(const struct stage *stage, haft_id id)
{
    haft_section_begin(stage->domain);
    const struct object *object = haft_resolve(stage->view, id);

    if (object == NULL || !object_is(object, id)) {
        violation(&stage->run, "id %llx: not its object", (unsigned long long)id.bits);
    }
    haft_section_end(stage->domain);
}

static void free_one(struct player *player, haft_id id)
{
    struct stage *stage = player->stage;
    const uint32_t index = haft_id_index(stage->layout, id);

    if (one_in(&player->chance, 8)) {
        look(stage, id);
    }
    poke(&stage->freers[index], player->number + 1);
    if (swap(&stage->stamps[index], 0) == 0) {
        violation(&stage->run, "slot %u had no owner", (unsigned)index);
    }
    must(&stage->run, haft_free(player->worker, id), "freeing");
}

/* Into another thread's mailbox, if the cell is free. */
static bool send_one(struct player *player)
{
    struct stage *stage = player->stage;
    const uint64_t cells = stage->room * stage->run.threads;
    shared_u64 *cell = &stage->mail[draw_below(&player->chance, cells)];
    const haft_id id = take_held(player);

    const bool sent = replace(cell, 0, id.bits);

    if (!sent) {
        player->held[player->count++] = id;
    }
    return sent;
}

static bool receive_one(struct player *player)
{
    struct stage *stage = player->stage;
    shared_u64 *cells = &stage->mail[player->number * stage->room];
    shared_u64 *cell = &cells[draw_below(&player->chance, stage->room)];
    const haft_id id = {peek(cell) != 0 ? swap(cell, 0) : 0};

    if (id.bits != 0) {
        player->held[player->count++] = id;
    }
    return id.bits != 0;
}

/* One operation by chance; false if it was not possible. */
static bool play_once(struct player *player)
{
    const uint64_t what = draw_below(&player->chance, 4);
    bool possible = true;

    if (what == 0 && player->inserts && player->count < player->stage->room) {
        insert_one(player);
    } else if (what == 1 && player->frees && player->count != 0) {
        free_one(player, take_held(player));
    } else if (what == 2 && player->count != 0) {
        possible = send_one(player);
    } else if (what == 3 && player->count < player->stage->room) {
        possible = receive_one(player);
    } else {
        possible = false;
    }
    if (one_in(&player->chance, 64)) {
        haft_worker_quiescent(player->worker);
    }
    if (one_in(&player->chance, 16)) {
        haft_worker_flush(player->worker);
    }
    return possible;
}

static void play(struct player *player)
{
    struct stage *stage = player->stage;
    unsigned idle = 0;

    for (uint64_t i = 0; player->inserts ? run_goes_on(&stage->run, i, peek(&stage->wandered))
                                         : peek(&stage->inserters_left) != 0;) {
        const bool possible = play_once(player);

        i += possible;
        idle = possible ? 0 : idle + 1;
        if (idle > 16) { /* it is the others' turn */
            haft_worker_quiescent(player->worker);
            sched_yield();
        }
    }
    add(&stage->inserters_left, player->inserts ? UINT64_MAX : 0);
}

static void body(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct player player = {.stage = stage,
                            .chance = chance_of(&stage->run, number),
                            .number = number,
                            .inserts = !stage->handoff || number % 2 == 0,
                            .frees = !stage->handoff || number % 2 == 1,
                            .held = calloc((size_t)stage->room, sizeof *player.held)};

    haft_thread_register(stage->domain);
    must(&stage->run, haft_worker_open(stage->table, &player.worker), "opening a worker");
    play(&player);
    while (player.count != 0) {
        free_one(&player, take_held(&player));
    }
    must(&stage->run, haft_worker_close(player.worker), "closing a worker");
    haft_thread_unregister(stage->domain);
    free(player.held);
}

static void empty_mailboxes(struct stage *stage)
{
    struct player player = {.stage = stage, .chance = chance_of(&stage->run, MOST_THREADS)};

    haft_thread_register(stage->domain);
    must(&stage->run, haft_worker_open(stage->table, &player.worker), "opening a worker");
    for (uint64_t i = 0; i < stage->room * stage->run.threads; i++) {
        const haft_id id = {peek(&stage->mail[i])};

        if (id.bits != 0) {
            free_one(&player, id);
        }
    }
    must(&stage->run, haft_worker_close(player.worker), "closing a worker");
    haft_thread_unregister(stage->domain);
}

static void open_stage(struct stage *stage)
{
    const bool large = run_is(&stage->run, "mixed_large") || run_is(&stage->run, "handoff_large");
    const bool wraps = run_is(&stage->run, "wrap");
    const haft_table_options options = {.capacity = large ? LARGE_CAPACITY : SMALL_CAPACITY,
                                        .object_size = sizeof(struct object),
                                        .layout = wraps ? wrapping : HAFT_LAYOUT_32_32,
                                        .wrap = wraps};

    stage->handoff = run_is(&stage->run, "handoff") || run_is(&stage->run, "handoff_large");
    poke(&stage->inserters_left,
         stage->handoff ? (stage->run.threads + 1) / 2 : stage->run.threads);
    stage->domain = open_domain(&stage->run);
    must(&stage->run, haft_table_open(stage->domain, &options, &stage->table), "opening the table");
    stage->view = haft_table_view(stage->table);
    stage->layout = haft_table_info(stage->table).layout;
    stage->room = options.capacity / (2 * stage->run.threads);

    const uint64_t slots = haft_table_stats_get(stage->table).limit + HAFT_FIRST_INDEX;

    stage->mail = calloc((size_t)stage->room * stage->run.threads, sizeof *stage->mail);
    stage->stamps = calloc((size_t)slots, sizeof *stage->stamps);
    stage->freers = calloc((size_t)slots, sizeof *stage->freers);
    stage->issued = calloc((size_t)slots, sizeof *stage->issued);
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 400000, 4, modes);
    run_until(&stage.run, 30000);
    open_stage(&stage);
    run_threads(stage.run.threads, body, &stage);
    empty_mailboxes(&stage);
    check_nothing_lost(&stage.run, stage.table);

    const uint64_t moved = haft_table_stats_get(stage.table).batches_moved;

    close_with_domain(&stage.run, stage.table);
    free(stage.issued);
    free(stage.freers);
    free(stage.stamps);
    free(stage.mail);
    finish(&stage.run, moved != 0 ? stage.wandered : 0,
           "cycles %llu, of these to another thread %llu, batches moved %llu",
           (unsigned long long)stage.cycles, (unsigned long long)stage.wandered,
           (unsigned long long)moved);
}
