/*
 * stress/nested/nested.c - jobs that wait for their own jobs, and are given these or others to run
 * meanwhile, while all of them insert, free and reuse.
 *
 * Invariant  an object that a job has resolved stays itself until the job ends, whatever jobs run
 *            inside it and wherever they pass quiescent points (QUIET, GRACE); a parked job keeps
 *            no other waiting; no slot is lost.
 * Pressure   few slots; jobs free what others have resolved; a thread's first worker opens inside
 *            a job; on_reclaim makes reused memory visible at once.
 * Usage      pool [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller|workers|frame] [mode]
 *            (also tbb, openmp)
 *            holding     a job keeps its pointer while it waits for its jobs
 *            parking     a job parks while it waits for its jobs, which wait for grace periods
 *            voiding     broken on purpose: a job parks and keeps its pointer
 */
#include "stress/nested/nested.h"
#include "stress/support.h"
#include <pthread.h>
#include <stdlib.h>

#define SLOTS 256
#define DEPTH 3
#define CHILDREN 3

static const char *const modes[] = {"holding", "parking", "voiding", NULL};

static struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    bool parks;
    bool voids;
    pthread_key_t key; /* of a thread's struct hand */
    shared_u64 board[SLOTS];
    shared_u64 jobs;
    shared_u64 outlasted; /* objects that were freed while a job held them */
    shared_u64 numbers;   /* of threads */
} stage;

struct hand {
    haft_worker *worker;
    struct chance chance;
};

/* What a job and the jobs that it waits for have in common. */
struct family {
    unsigned depth; /* of jobs below */
};

static void on_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)id;
    (void)worker;
    (void)arg;
    ((struct object *)object)->canary = 0; /* a job that still holds it would notice */
}

static void leave(void *data)
{
    struct hand *hand = data;

    must(&stage.run, haft_worker_close(hand->worker), "closing a worker");
    haft_thread_unregister(stage.domain);
    free(hand);
}

void nested_leave(void)
{
    struct hand *hand = pthread_getspecific(stage.key);

    if (hand != NULL) {
        pthread_setspecific(stage.key, NULL);
        leave(hand);
    }
}

/* Before the thread's first job: registered, and offline. */
static struct hand *own_hand(void)
{
    struct hand *hand = pthread_getspecific(stage.key);

    if (hand == NULL) {
        hand = calloc(1, sizeof *hand);
        if (hand == NULL) {
            abort();
        }
        hand->chance = chance_of(&stage.run, (unsigned)add(&stage.numbers, 1));
        pthread_setspecific(stage.key, hand);
        haft_thread_register(stage.domain);
        haft_thread_offline(stage.domain);
    }
    return hand;
}

/* Where no pointer is held on the thread: let grace periods end. */
static void await_grace(struct hand *hand)
{
    const haft_job_state parked = haft_thread_park(stage.domain);
    const haft_status status = haft_domain_wait(stage.domain);

    haft_thread_unpark(stage.domain, parked);
    if (status != HAFT_OK && status != HAFT_BUSY) {
        violation(&stage.run, "waiting in a parked job: %s", haft_status_name(status));
    }
    must(&stage.run, haft_worker_flush(hand->worker), "flushing");
}

static void insert(struct hand *hand)
{
    void *object;
    haft_id id;
    const haft_status status = haft_reserve(hand->worker, &id, &object);

    if (status != HAFT_OK) {
        if (stage.parks) {
            await_grace(hand);
        }
        return;
    }
    object_write(object, id);
    haft_publish(hand->worker, id);
    const haft_id before = {swap(&stage.board[draw_below(&hand->chance, SLOTS)], id.bits)};

    if (before.bits != 0) {
        must(&stage.run, haft_free(hand->worker, before), "freeing");
    }
    if (one_in(&hand->chance, 4)) {
        must(&stage.run, haft_worker_flush(hand->worker), "flushing");
    }
}

static void look(const struct object *object, haft_id id)
{
    if (object != NULL && !object_is(object, id)) {
        violation(&stage.run, "id %llx: the object became %llx while a job held it",
                  (unsigned long long)id.bits, (unsigned long long)object->id);
    }
}

/* As a function does that cannot know whether a job goes on around it. */
static void pass_inside(struct hand *hand)
{
    if (stage.voids) {
        haft_thread_unpark(stage.domain, haft_thread_park(stage.domain));
        pause_by_chance(&hand->chance);
        return;
    }
    const haft_job_state inner = haft_job_begin(stage.domain);

    must(&stage.run, haft_worker_quiescent(hand->worker), "a quiescent point of an inner job");
    haft_job_end(stage.domain, inner);
}

static void run_job(void *arg, unsigned number);

static void hold_and_wait(struct hand *hand, struct family *below)
{
    const haft_id id = {peek(&stage.board[draw_below(&hand->chance, SLOTS)])};
    const struct object *object = haft_resolve(stage.view, id);

    look(object, id);
    system_run_jobs(CHILDREN, run_job, below);
    look(object, id);
    pass_inside(hand);
    look(object, id);
    if (object != NULL && !haft_is_live(stage.view, id)) {
        add(&stage.outlasted, 1);
    }
}

static void park_and_wait(struct family *below)
{
    const haft_job_state parked = haft_thread_park(stage.domain);

    system_run_jobs(CHILDREN, run_job, below);
    haft_thread_unpark(stage.domain, parked);
    add(&stage.outlasted, 1);
}

static void run_job(void *arg, unsigned number)
{
    const struct family *family = arg;
    struct hand *hand = own_hand();
    const haft_job_state job = haft_job_begin(stage.domain);
    struct family below = {family->depth - 1};

    (void)number;
    if (hand->worker == NULL) {
        must(&stage.run, haft_worker_open(stage.table, &hand->worker), "opening a worker");
    }
    add(&stage.jobs, 1);
    insert(hand);
    if (family->depth != 0 && stage.parks) {
        park_and_wait(&below);
    } else if (family->depth != 0) {
        hold_and_wait(hand, &below);
    }
    insert(hand);
    haft_job_end(stage.domain, job);
}

/* Between two rounds no job runs. */
static void end_round(void)
{
    if (stage.run.clock == HAFT_CLOCK_FRAME) {
        must(&stage.run, haft_domain_tick(stage.domain), "a tick");
    } else {
        must(&stage.run, haft_domain_wait(stage.domain), "waiting between rounds");
    }
}

static void run_rounds(void *arg)
{
    struct family family = {DEPTH};

    (void)arg;
    for (uint64_t round = 0; run_goes_on(&stage.run, round, peek(&stage.outlasted)); round++) {
        system_run_jobs(CHILDREN, run_job, &family);
        end_round();
    }
}

static void clear_board(void)
{
    struct hand *hand = own_hand();
    const haft_job_state job = haft_job_begin(stage.domain);

    must(&stage.run, haft_worker_open(stage.table, &hand->worker), "opening a worker");
    for (unsigned i = 0; i < SLOTS; i++) {
        const haft_id id = {peek(&stage.board[i])};

        if (id.bits != 0) {
            must(&stage.run, haft_free(hand->worker, id), "freeing at the end");
        }
    }
    haft_job_end(stage.domain, job);
    nested_leave();
    end_round();
}

int main(int argc, char **argv)
{
    stage.run = run_from(argc, argv, 1000, 4, modes);
    stage.parks = run_is(&stage.run, "parking");
    stage.voids = run_is(&stage.run, "voiding");
    run_until(&stage.run, stage.parks ? 10000 : 1000);
    const haft_table_options options = {
        .capacity = SLOTS + SLOTS / 4,
        .object_size = sizeof(struct object),
        .on_reclaim = on_reclaim,
    };

    if (pthread_key_create(&stage.key, leave) != 0) {
        abort();
    }
    stage.domain = open_domain(&stage.run);
    must(&stage.run, haft_table_open(stage.domain, &options, &stage.table), "opening the table");
    stage.view = haft_table_view(stage.table);
    system_run(stage.run.threads, run_rounds, NULL);
    clear_board();
    check_nothing_lost(&stage.run, stage.table);
    close_with_domain(&stage.run, stage.table);
    finish(&stage.run, peek(&stage.outlasted), "%llu jobs, %llu %s",
           (unsigned long long)peek(&stage.jobs), (unsigned long long)peek(&stage.outlasted),
           stage.parks ? "parked" : "held an object that was freed meanwhile");
}
