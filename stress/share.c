/*
 * stress/share.c - a local table with free slots is shared, and all threads take them at once.
 *
 * Invariant  each slot that the local table had free goes to one worker alone, whole runs that it
 *            had given back too; what lived lives on; nothing is lost on the way back.
 * Pressure   tables of a few hundred slots, shared anew in each round; all threads begin at once;
 *            each slot is stamped by its owner.
 * Usage      share [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller|workers]
 */
#include "stress/support.h"
#include <haft/share.h>
#include <pthread.h>

#define SLOTS 8192 /* more than any table here has */
#define MOST_CAPACITY 2000

struct stage {
    struct run run;
    haft_domain *domain;
    haft_local *local;
    haft_table *table;
    haft_view view;
    haft_layout layout;
    uint64_t capacity;
    haft_id kept[MOST_CAPACITY]; /* live before and after */
    uint64_t kept_count;
    pthread_barrier_t shared; /* hands the table over to all threads */
    struct barrier left;      /* orders nothing: haft_unshare() does */
    shared_u64 owner[SLOTS];  /* 1 + the thread that has the slot; 0: none */
    shared_u64 taken_by[MOST_THREADS];
    bool is_over;                 /* by the barrier */
    shared_u64 rounds_shared_out; /* in which several threads took slots of the local table */
};

static void check_kept(const struct stage *stage)
{
    for (uint64_t i = 0; i < stage->kept_count; i++) {
        const struct object *object = haft_resolve(stage->view, stage->kept[i]);

        if (object == NULL || !object_is(object, stage->kept[i])) {
            violation(&stage->run, "id %llx: lost", (unsigned long long)stage->kept[i].bits);
        }
    }
}

static void insert_local(struct stage *stage, haft_id *id)
{
    void *object;

    must(&stage->run, haft_local_reserve(stage->local, id, &object), "reserving");
    object_write(object, *id);
    haft_local_publish(stage->local, *id);
}

/* The local table full, then most of it freed by chance; now and then its memory given back. */
static void prepare(struct stage *stage, struct chance *chance)
{
    haft_id ids[MOST_CAPACITY];
    const uint64_t room = haft_local_available(stage->local);
    const uint64_t keep = draw_below(chance, 4);

    for (uint64_t i = 0; i < room; i++) {
        insert_local(stage, &ids[i]);
    }
    for (uint64_t i = 0; i < room; i++) {
        if (draw_below(chance, 16) < keep) {
            stage->kept[stage->kept_count++] = ids[i];
        } else {
            must(&stage->run, haft_local_free(stage->local, ids[i]), "freeing");
        }
    }
    if (one_in(chance, 2)) {
        must(&stage->run, haft_local_trim(stage->local, NULL), "trimming");
    }
}

/* Free the kept objects: the next round begins with an empty table. */
static void tidy(struct stage *stage)
{
    check_kept(stage);
    if (haft_local_count(stage->local) != stage->kept_count) {
        violation(&stage->run, "%llu live, %llu kept",
                  (unsigned long long)haft_local_count(stage->local),
                  (unsigned long long)stage->kept_count);
    }
    while (stage->kept_count != 0) {
        must(&stage->run, haft_local_free(stage->local, stage->kept[--stage->kept_count]),
             "freeing a kept object");
    }
    if (haft_local_available(stage->local) != stage->capacity) {
        violation(&stage->run, "slots are lost");
    }
}

static void claim(struct stage *stage, unsigned number, haft_id id)
{
    if (swap(&stage->owner[haft_id_index(stage->layout, id)], number + 1) != 0) {
        violation(&stage->run, "id %llx: its slot has two owners", (unsigned long long)id.bits);
    }
}

/* Take slots until this thread has its part; then give all back. */
static void take_part(struct stage *stage, unsigned number, struct chance *chance)
{
    const uint64_t part = (stage->capacity - stage->kept_count) / stage->run.threads;
    haft_id ids[MOST_CAPACITY];
    haft_worker *worker;
    uint64_t old = 0;

    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (uint64_t i = 0; i < part; i++) {
        void *object;

        ids[i] = reserve_waiting(&stage->run, worker, &object);
        claim(stage, number, ids[i]);
        old += haft_id_generation(stage->layout, ids[i]) > 1;
        object_write(object, ids[i]);
        haft_publish(worker, ids[i]);
    }
    poke(&stage->taken_by[number], old);
    if (one_in(chance, 2)) {
        pause_by_chance(chance);
    }
    for (uint64_t i = 0; i < part; i++) {
        poke(&stage->owner[haft_id_index(stage->layout, ids[i])], 0);
        must(&stage->run, haft_free(worker, ids[i]), "freeing");
    }
    must(&stage->run, haft_worker_close(worker), "closing a worker");
}

static void count_meeting(struct stage *stage)
{
    unsigned takers = 0;

    for (unsigned i = 0; i < stage->run.threads; i++) {
        takers += peek(&stage->taken_by[i]) != 0;
    }
    add(&stage->rounds_shared_out, takers > 1);
}

static void hand_over(struct stage *stage)
{
    haft_thread_offline(stage->domain);
    pthread_barrier_wait(&stage->shared);
    haft_thread_online(stage->domain);
}

static void begin_round(struct stage *stage, uint64_t round, struct chance *chance)
{
    stage->is_over = !run_goes_on(&stage->run, round, peek(&stage->rounds_shared_out));
    if (!stage->is_over) {
        prepare(stage, chance);
        must(&stage->run, haft_share(stage->local, stage->domain, NULL, &stage->table), "sharing");
    }
}

static void body(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct chance chance = chance_of(&stage->run, number);
    uint64_t times = 0;

    haft_thread_register(stage->domain);
    for (uint64_t round = 0;; round++) {
        if (number == 0) {
            begin_round(stage, round, &chance);
        }
        hand_over(stage);
        if (stage->is_over) {
            break;
        }
        take_part(stage, number, &chance);
        meet_offline(stage->domain, &stage->left, &times);
        if (number == 0) {
            check_kept(stage);
            must(&stage->run, haft_unshare(stage->table, &stage->local), "unsharing");
            count_meeting(stage);
            tidy(stage);
        }
    }
    haft_thread_unregister(stage->domain);
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 500, 4, NULL);
    run_until(&stage.run, 200);
    stage.left.threads = stage.run.threads;
    pthread_barrier_init(&stage.shared, NULL, stage.run.threads);
    stage.capacity = 200 + stage.run.seed * 7919 % (MOST_CAPACITY - 200);
    stage.domain = open_domain(&stage.run);

    const haft_local_options options = {
        .capacity = stage.capacity,
        .object_size = sizeof(struct object),
        .will_share = true,
        .reuse = stage.run.seed % 2 != 0 ? HAFT_REUSE_FIFO : HAFT_REUSE_LIFO,
    };

    must(&stage.run, haft_local_open(&options, &stage.local), "opening the local table");
    stage.view = haft_local_view(stage.local);
    stage.layout = haft_local_info(stage.local).layout;
    run_threads(stage.run.threads, body, &stage);

    pthread_barrier_destroy(&stage.shared);
    haft_local_close(stage.local);
    must(&stage.run, haft_domain_close(stage.domain), "closing the domain");
    finish(&stage.run, stage.rounds_shared_out, "rounds in which several threads took slots %llu",
           (unsigned long long)stage.rounds_shared_out);
}
