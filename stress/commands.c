/*
 * stress/commands.c - jobs record creations, destructions and calls while others resolve.
 *
 * Invariant  a created object resolves nowhere until it is applied, and then with all that was
 *            written to it; each object is destroyed and reclaimed once, even if others destroy it;
 *            every command is counted as something.
 * Pressure   in each frame all recorders but one look for what the others create, destroy each
 *            other's objects of the frame before, and some of this frame's; all of a frame's
 *            objects are destroyed by the next, so slots are reused all the time.  Except with
 *            the frame clock, one thread goes on resolving while commands are applied.
 * Usage      commands [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller|workers|frame]
 */
#include "stress/support.h"
#include <haft/kit/commands.h>
#include <pthread.h>
#include <semaphore.h>

#define CREATES 12 /* of a job in a frame, at most */
#define LOOKS 64   /* of a job in a frame */

struct counts {
    uint64_t created, destroys, calls, unpublished, live, gone;
};

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    haft_commands *commands;
    unsigned jobs;             /* threads that record; the first applies */
    unsigned readers;          /* threads that only resolve, at any time */
    sem_t start[MOST_THREADS]; /* of a job: its recorder is open, others may not be yet */
    pthread_barrier_t barrier; /* the end of all jobs */
    haft_recorder *recorders[MOST_THREADS];
    struct counts counts[MOST_THREADS];
    /* Ids created in frames of even and odd numbers, by job; 0: none yet. */
    shared_u64 told[2][MOST_THREADS][CREATES];
    shared_u64 frame;
    shared_u64 over;
    shared_u64 found_by_readers;
    uint64_t calls_made;
    shared_u64 reclaimed;
    haft_applied sum;
};

static void reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct stage *stage = arg;
    struct object *bytes = object;

    (void)worker;
    if (!object_is(bytes, id)) {
        violation(&stage->run, "id %llx reclaimed with other bytes", (unsigned long long)id.bits);
    }
    bytes->id = 0;
    add(&stage->reclaimed, 1);
}

static void count_call(haft_recorder *recorder, void *payload)
{
    struct stage *stage = *(struct stage **)payload;

    (void)recorder;
    stage->calls_made++;
}

/* NULL, or the object that the id says it is. */
static const struct object *look(struct stage *stage, haft_id id)
{
    const struct object *object = haft_resolve(stage->view, id);

    if (object != NULL && !object_is(object, id)) {
        violation(&stage->run, "id %llx found with other bytes", (unsigned long long)id.bits);
    }
    return object;
}

/* --- the jobs of a frame --- */

static void create(struct stage *stage, unsigned job, uint64_t frame, unsigned n)
{
    void *object;
    haft_id id;

    must(&stage->run, haft_recorder_create(stage->recorders[job], &id, &object), "creating");
    object_write(object, id);
    stage->counts[job].created++;
    poke(&stage->told[frame % 2][job][n], id.bits);
}

static void destroy(struct stage *stage, unsigned job, haft_id id)
{
    must(&stage->run, haft_recorder_destroy(stage->recorders[job], id), "recording a destruction");
    stage->counts[job].destroys++;
}

/* At an object of any job, of this frame or the last. */
static void look_around(struct stage *stage, unsigned job, uint64_t frame, struct chance *chance)
{
    const uint64_t of = frame - draw_below(chance, 2);
    const uint64_t whose = draw_below(chance, stage->jobs);
    const haft_id id = {peek(&stage->told[of % 2][whose][draw_below(chance, CREATES)])};

    if (haft_id_is_nil(id)) {
        return;
    }
    const bool is_live = look(stage, id) != NULL;

    if (of == frame && is_live) {
        violation(&stage->run, "id %llx resolves before it is applied",
                  (unsigned long long)id.bits);
    }
    stage->counts[job].unpublished += of == frame;
    stage->counts[job].live += is_live;
    stage->counts[job].gone += of != frame && !is_live;
    if (one_in(chance, of == frame ? 16 : 4)) {
        destroy(stage, job, id);
    }
}

static void run_job(struct stage *stage, unsigned job, uint64_t frame, struct chance *chance)
{
    const unsigned creates = (unsigned)draw_below(chance, CREATES + 1);
    unsigned created = 0;

    haft_thread_online(stage->domain);
    haft_section_begin(stage->domain);
    for (unsigned i = 0; i < LOOKS; i++) {
        if (created < creates && one_in(chance, 3)) {
            create(stage, job, frame, created++);
        }
        look_around(stage, job, frame, chance);
        if (one_in(chance, 8)) {
            must(&stage->run,
                 haft_recorder_call(stage->recorders[job], count_call, &stage, sizeof stage),
                 "recording a call");
            stage->counts[job].calls++;
        }
        if (one_in(chance, LOOKS)) {
            pause_by_chance(chance);
        }
    }
    for (unsigned i = 0; i < CREATES; i++) {
        destroy(stage, job, (haft_id){peek(&stage->told[(frame - 1) % 2][job][i])});
    }
    haft_section_end(stage->domain);
    haft_thread_offline(stage->domain);
}

/* --- the frame boundary --- */

/* Jobs begin while the recorders of others are opened. */
static void start_jobs(struct stage *stage, uint64_t frame)
{
    for (unsigned job = 0; job < stage->jobs; job++) {
        for (unsigned i = 0; i < CREATES; i++) {
            poke(&stage->told[frame % 2][job][i], 0);
        }
    }
    for (unsigned job = 0; job < stage->jobs; job++) {
        haft_status status;

        while ((status = haft_recorder_open(stage->commands, job * 3, CREATES,
                                            &stage->recorders[job])) == HAFT_BUSY) {
            must(&stage->run, haft_domain_wait(stage->domain), "waiting for slots");
        }
        must(&stage->run, status, "opening a recorder");
        sem_post(&stage->start[job]);
    }
}

static void apply(struct stage *stage)
{
    haft_applied applied;

    must(&stage->run, haft_commands_apply(stage->commands, &applied), "applying");
    stage->sum.created += applied.created;
    stage->sum.destroyed += applied.destroyed;
    stage->sum.duplicates += applied.duplicates;
    stage->sum.stale += applied.stale;
    stage->sum.refused += applied.refused;
    stage->sum.calls += applied.calls;
    if (stage->run.clock == HAFT_CLOCK_FRAME) {
        must(&stage->run, haft_domain_tick(stage->domain), "ticking");
    }
}

/* --- threads --- */

/* Stale commands, once readers beside the frames have found something. */
static uint64_t meetings(struct stage *stage)
{
    return stage->readers == 0 || peek(&stage->found_by_readers) != 0 ? stage->sum.stale : 0;
}

static void begin_frame(struct stage *stage, uint64_t frame)
{
    haft_thread_online(stage->domain);
    if (run_goes_on(&stage->run, frame - 1, meetings(stage))) {
        poke(&stage->frame, frame);
        start_jobs(stage, frame);
    } else {
        poke(&stage->over, 1);
        for (unsigned job = 0; job < stage->jobs; job++) {
            sem_post(&stage->start[job]);
        }
    }
    haft_thread_offline(stage->domain);
}

static void record(struct stage *stage, unsigned job, struct chance *chance)
{
    for (uint64_t frame = 1;; frame++) {
        if (job == 0) {
            begin_frame(stage, frame);
        }
        while (sem_wait(&stage->start[job]) != 0) {
            /* interrupted */
        }
        if (peek(&stage->over) != 0) {
            return;
        }
        run_job(stage, job, frame, chance);
        pthread_barrier_wait(&stage->barrier);
        if (job == 0) {
            haft_thread_online(stage->domain);
            apply(stage);
            haft_thread_offline(stage->domain);
        }
    }
}

static void read_on(struct stage *stage, haft_worker *worker, struct chance *chance)
{
    while (peek(&stage->over) == 0) {
        const uint64_t frame = peek(&stage->frame);
        shared_u64 *told = stage->told[frame % 2][draw_below(chance, stage->jobs)];

        haft_section_begin(stage->domain);
        for (unsigned i = 0; i < CREATES; i++) {
            add(&stage->found_by_readers, look(stage, (haft_id){peek(&told[i])}) != NULL);
        }
        haft_section_end(stage->domain);
        pass_quiescent_point(stage->table, worker, chance);
    }
}

static void open_commands(struct stage *stage)
{
    const haft_commands_options options = {.block_size = 256};

    must(&stage->run, haft_commands_open(stage->table, &options, &stage->commands),
         "opening the command set");
}

static void body(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct chance chance = chance_of(&stage->run, number);
    haft_worker *worker = enter_as_reader(&stage->run, stage->table);

    if (number >= stage->jobs) {
        read_on(stage, worker, &chance);
    } else {
        if (number == 0) {
            open_commands(stage);
        }
        haft_thread_offline(stage->domain);
        record(stage, number, &chance);
        haft_thread_online(stage->domain);
        if (number == 0) {
            haft_commands_close(stage->commands);
        }
    }
    leave_as_reader(stage->table, worker);
}

static struct counts check(struct stage *stage)
{
    const haft_applied *sum = &stage->sum;
    struct counts all = {0};

    for (unsigned job = 0; job < stage->jobs; job++) {
        all.created += stage->counts[job].created;
        all.destroys += stage->counts[job].destroys;
        all.calls += stage->counts[job].calls;
        all.unpublished += stage->counts[job].unpublished;
        all.live += stage->counts[job].live;
        all.gone += stage->counts[job].gone;
    }
    if (sum->created != all.created || sum->calls != all.calls || stage->calls_made != all.calls ||
        sum->destroyed + sum->duplicates + sum->stale + sum->refused != all.destroys) {
        violation(&stage->run, "commands recorded and not counted");
    }
    if (haft_table_stats_get(stage->table).live != sum->created - sum->destroyed) {
        violation(&stage->run, "%llu live", (unsigned long long)sum->created - sum->destroyed);
    }
    return all;
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 5000, 4, NULL);
    run_until(&stage.run, 3000);
    stage.readers = stage.run.clock != HAFT_CLOCK_FRAME && stage.run.threads > 2 ? 1 : 0;
    stage.jobs = stage.run.threads - stage.readers;
    stage.domain = open_domain(&stage.run);
    pthread_barrier_init(&stage.barrier, NULL, stage.jobs);
    for (unsigned job = 0; job < stage.jobs; job++) {
        sem_init(&stage.start[job], 0, 0);
    }

    const haft_table_options options = {
        .capacity = 64 * CREATES,
        .object_size = sizeof(struct object),
        .on_reclaim = reclaim,
        .reclaim_arg = &stage,
    };

    must(&stage.run, haft_table_open(stage.domain, &options, &stage.table), "opening the table");
    stage.view = haft_table_view(stage.table);
    run_threads(stage.run.threads, body, &stage);

    const struct counts all = check(&stage);

    const uint64_t live = haft_table_stats_get(stage.table).live; /* its close ends these */

    close_with_domain(&stage.run, stage.table);
    if (stage.reclaimed != stage.sum.destroyed + live) {
        violation(&stage.run, "%llu reclaimed", (unsigned long long)stage.reclaimed);
    }
    pthread_barrier_destroy(&stage.barrier);
    const bool met = all.unpublished != 0 && all.live != 0 && stage.sum.duplicates != 0;

    finish(&stage.run, met ? meetings(&stage) : 0,
           "created %llu, destroyed %llu, duplicates %llu, stale %llu; looked at %llu not yet "
           "published, %llu live, %llu gone; found beside the frames %llu",
           (unsigned long long)stage.sum.created, (unsigned long long)stage.sum.destroyed,
           (unsigned long long)stage.sum.duplicates, (unsigned long long)stage.sum.stale,
           (unsigned long long)all.unpublished, (unsigned long long)all.live,
           (unsigned long long)all.gone, (unsigned long long)stage.found_by_readers);
}
