/*
 * stress/cool.c - all threads insert and free in a table with a reuse distance.
 *
 * Invariant  between a slot's end and its reuse at least as many other objects are reserved as the
 *            distance says; each slot has one owner; who has room is given a slot in the end, and
 *            is never told HAFT_FULL; nothing is lost.
 * Pressure   few objects live, so that nearly all slots wait for creations, and each that is due is
 *            wanted by all; ids go from thread to thread, and batches of one slot with them; now
 *            and then a reservation is given up.
 * Met        a slot that another thread freed was held back until it was due, and then taken at
 *            once: every one of those others wanted a slot, and was not given this one.
 * Usage      cool [rounds] [threads] [seed] [memb|qsbr] [thread|caller|workers]
 *
 * What is counted outside the table orders nothing, so each thread may be seen to be one creation
 * ahead of its count: the distance is checked but for that.  The explorer's cases cool and
 * cool_full check it to one.
 */
#include "stress/support.h"
#include <time.h>

#define BOARD 8
#define SLOTS 4096 /* more than the table has */

/* A slot's last life; plain: of whoever has the slot. */
struct life {
    uint64_t ended; /* objects for certain created before it ended; 0: it is the first */
    unsigned freer;
};

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    haft_layout layout;
    uint64_t distance;
    shared_u64 board[BOARD];
    shared_u64 owner[SLOTS]; /* 1 + the thread that reserved the object; 0: nobody */
    struct life lives[SLOTS];
    shared_u64 begun;    /* reserved, or about to be */
    shared_u64 returned; /* reserved */
    shared_u64 busy;
    shared_u64 reused;
    shared_u64 at_once; /* as soon as they were due, from another thread */
};

struct hand {
    struct stage *stage;
    unsigned number;
    haft_worker *worker;
    struct chance chance;
};

static void wait_a_moment(const struct hand *hand)
{
    const struct timespec moment = {0, 20000};

    add(&hand->stage->busy, 1);
    if (hand->stage->run.clock == HAFT_CLOCK_THREAD) { /* its own thread drives */
        haft_worker_quiescent(hand->worker);
        nanosleep(&moment, NULL);
    } else {
        must(&hand->stage->run, haft_domain_wait(hand->stage->domain), "waiting");
    }
}

/* Each try is counted by itself: one that is refused creates nothing. */
static haft_id reserve(const struct hand *hand, void **object)
{
    struct stage *stage = hand->stage;

    for (;;) {
        haft_id id;

        add(&stage->begun, 1);
        const haft_status status = haft_reserve(hand->worker, &id, object);

        if (status == HAFT_OK) {
            return id;
        }
        add(&stage->begun, UINT64_MAX);
        if (status != HAFT_BUSY) {
            must(&stage->run, status, "reserving what has room");
        }
        wait_a_moment(hand);
    }
}

static void check_distance(const struct hand *hand, haft_id id)
{
    struct stage *stage = hand->stage;
    const uint64_t index = haft_id_index(stage->layout, id);
    const struct life *last = &stage->lives[index];
    const uint64_t others = peek(&stage->begun) - 1 - last->ended;

    if (swap(&stage->owner[index], hand->number + 1) != 0) {
        violation(&stage->run, "id %llx: its slot has two owners", (unsigned long long)id.bits);
    }
    if (last->ended == 0) {
        return;
    }
    if (others + stage->run.threads < stage->distance) {
        violation(&stage->run, "id %llx: %llu others since its slot's end, not %llu",
                  (unsigned long long)id.bits, (unsigned long long)others,
                  (unsigned long long)stage->distance);
    }
    add(&stage->reused, 1);
    add(&stage->at_once,
        others <= stage->distance + stage->run.threads && last->freer != hand->number);
}

/* The caller alone will end it: note when, for whoever has the slot next. */
static void note_end(const struct hand *hand, haft_id id)
{
    struct stage *stage = hand->stage;
    const uint64_t index = haft_id_index(stage->layout, id);

    stage->lives[index] = (struct life){peek(&stage->returned), hand->number};
    poke(&stage->owner[index], 0);
}

static void end_life(const struct hand *hand, haft_id id)
{
    struct stage *stage = hand->stage;

    haft_section_begin(stage->domain);
    const struct object *object = haft_resolve(stage->view, id);

    if (object == NULL || !object_is(object, id)) {
        violation(&stage->run, "id %llx: lost", (unsigned long long)id.bits);
    }
    haft_section_end(stage->domain);
    note_end(hand, id);
    must(&stage->run, haft_free(hand->worker, id), "freeing");
}

/* A new object in exchange for one of any thread's, which ends. */
static void exchange(struct hand *hand)
{
    struct stage *stage = hand->stage;
    void *object;
    const haft_id id = reserve(hand, &object);

    check_distance(hand, id);
    add(&stage->returned, 1);
    if (one_in(&hand->chance, 16)) {
        note_end(hand, id);
        haft_abort(hand->worker, id);
        return;
    }
    object_write(object, id);
    haft_publish(hand->worker, id);
    const haft_id old = {swap(&stage->board[draw_below(&hand->chance, BOARD)], id.bits)};

    if (!haft_id_is_nil(old)) {
        end_life(hand, old);
    }
}

static void body(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct hand hand = {stage, number, NULL, chance_of(&stage->run, number)};

    haft_thread_register(stage->domain);
    must(&stage->run, haft_worker_open(stage->table, &hand.worker), "opening a worker");
    for (uint64_t i = 0; i < stage->run.rounds; i++) {
        exchange(&hand);
        if (one_in(&hand.chance, 2)) {
            haft_worker_quiescent(hand.worker);
        }
        if (one_in(&hand.chance, 64)) {
            pause_by_chance(&hand.chance);
        }
    }
    must(&stage->run, haft_worker_close(hand.worker), "closing a worker");
    haft_thread_unregister(stage->domain);
}

static void free_board(struct stage *stage)
{
    struct hand hand = {.stage = stage};

    must(&stage->run, haft_worker_open(stage->table, &hand.worker), "opening a worker");
    for (int i = 0; i < BOARD; i++) {
        const haft_id id = {peek(&stage->board[i])};

        if (!haft_id_is_nil(id)) {
            end_life(&hand, id);
        }
    }
    must(&stage->run, haft_worker_close(hand.worker), "closing a worker");
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 20000, 4, NULL);
    stage.domain = open_domain(&stage.run);
    stage.distance = 16 + stage.run.seed % 64;

    /* With room for all; generations of 2 bits, so that they wrap all the time. */
    const haft_table_options options = {.capacity = BOARD + stage.run.threads,
                                        .object_size = sizeof(struct object),
                                        .layout = HAFT_LAYOUT_OF(12, 2, 0),
                                        .wrap = true,
                                        .reuse_distance = stage.distance};

    must(&stage.run, haft_table_open(stage.domain, &options, &stage.table), "opening the table");
    stage.view = haft_table_view(stage.table);
    stage.layout = haft_table_layout(stage.table);
    run_threads(stage.run.threads, body, &stage);
    haft_thread_register(stage.domain);
    free_board(&stage);
    check_nothing_lost(&stage.run, stage.table);
    haft_thread_unregister(stage.domain);

    must(&stage.run, haft_table_close(stage.table), "closing the table");
    must(&stage.run, haft_domain_close(stage.domain), "closing the domain");
    finish(&stage.run, stage.at_once,
           "distance %llu: created %llu, reused %llu, of another thread as soon as due %llu; busy "
           "%llu",
           (unsigned long long)stage.distance, (unsigned long long)stage.returned,
           (unsigned long long)stage.reused, (unsigned long long)stage.at_once,
           (unsigned long long)stage.busy);
}
