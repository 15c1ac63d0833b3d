/* One play: see play.h. */
#include "stress/torture/play.h"
#include "stress/torture/actor.h"
#include "stress/torture/interrupt.h"
#include "stress/torture/progress.h"
#include "stress/torture/shares.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NS_PER_MS UINT64_C(1000000)
#define STALL_NS (20 * NS_PER_MS)
#define STUTTER_EVERY_NS (60 * NS_PER_MS)
#define STUTTER_NS (15 * NS_PER_MS)
#define TICK_NS NS_PER_MS /* the longest frame, unless readers hold it up */
#define PATIENCE_NS (UINT64_C(120000) * NS_PER_MS)
#define SHARED_NS (20 * NS_PER_MS)
#define MOST_STEPS 400 /* in a life that is short */

uint64_t time_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 * NS_PER_MS + (uint64_t)now.tv_nsec;
}

void sleep_ns(uint64_t ns)
{
    const struct timespec time = {(time_t)(ns / (1000 * NS_PER_MS)),
                                  (long)(ns % (1000 * NS_PER_MS))};

    nanosleep(&time, NULL);
}

void broken(const struct play *play, const char *text, ...)
{
    char line[512];
    va_list values;

    va_start(values, text);
    vsnprintf(line, sizeof line, text, values);
    va_end(values);
    progress_end();
    violation(&play->options->run, "profile %s: %s", play->profile->name, line);
}

struct subject *subject_of(struct play *play, haft_id id)
{
    if (play->profile->tables == 1) {
        return &play->subjects[0];
    }
    const uint64_t tag = haft_id_tag(play->profile->layout, id);

    if (tag == 0 || tag > play->profile->tables) {
        broken(play, "id %llx is of no table", (unsigned long long)id.bits);
    }
    return &play->subjects[tag - 1];
}

/* --- opening --- */

static void on_stall(const haft_stall *stall, void *arg)
{
    struct play *play = arg;

    (void)stall;
    add(&play->stalls, 1);
}

/* Spoils the object: a second call, or a holder, would notice. */
static void on_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct subject *subject = arg;
    struct object *dead = object;

    (void)worker;
    if (!object_is(dead, id)) {
        broken(subject->play, "id %llx was reclaimed as %llx", (unsigned long long)id.bits,
               (unsigned long long)dead->id);
    }
    dead->canary = 0;
    add(&subject->reclaimed, 1);
}

void subject_describe(struct play *play, struct subject *subject)
{
    subject->view = haft_table_view(subject->table);
    subject->layout = haft_table_layout(subject->table);
    subject->slots = HAFT_FIRST_INDEX + haft_table_stats_get(subject->table).limit;
    subject->places = calloc(subject->slots, sizeof *subject->places);
    if (subject->places == NULL) {
        broken(play, "no memory for the ledger");
    }
}

static void open_subject(struct play *play, unsigned number)
{
    const struct profile *profile = play->profile;
    struct subject *subject = &play->subjects[number];
    const haft_table_options options = {
        .capacity = profile->capacity,
        .object_size = has_habit(play, TRIMS) ? LARGE : sizeof(struct object),
        .layout = profile->layout,
        .tag = profile->layout.tag_bits != 0 ? number + 1 : 0,
        .pins = has_habit(play, PINS),
        .wrap = has_habit(play, WRAPS),
        .on_reclaim = has_habit(play, RECLAIMS) ? on_reclaim : NULL,
        .reclaim_arg = subject,
    };

    subject->play = play;
    subject->capacity = profile->capacity;
    if (has_habit(play, SHARES)) {
        const haft_share_options shared = {.on_reclaim = options.on_reclaim,
                                           .reclaim_arg = subject};

        share_subject(play, subject, &shared);
        return;
    }
    must(&play->run, haft_table_open(play->domain, &options, &subject->table), "opening a table");
    subject_describe(play, subject);
}

/* What lives when the threads begin.  A profile that scans keeps a quarter of it to the end. */
static void fill(struct play *play, struct subject *subject)
{
    const uint64_t wanted = subject->capacity * play->profile->fill / 100;
    haft_worker *worker;
    void *object;
    haft_id id;

    must(&play->run, haft_worker_open(subject->table, &worker), "opening a worker");
    for (uint64_t i = 0; i < wanted; i++) {
        must(&play->run, haft_reserve(worker, &id, &object), "filling the table");
        struct place *place = ledger_take(play, subject, id);

        place->is_kept = has_habit(play, SCANS) && i % 4 == 0;
        subject->kept += place->is_kept;
        object_write(object, id);
        haft_publish(worker, id);
        poke(&place->board, id.bits);
    }
    add(&subject->inserted, wanted);
    add(&subject->live, wanted);
    must(&play->run, haft_worker_close(worker), "closing a worker");
}

/* See stress/torture/options.c: what the help says of ages. */
static uint64_t ages_allowed(const struct run *run)
{
    if (run->clock == HAFT_CLOCK_WORKERS) {
        /*
         * A section's own announcement is the last ticket that can be done in it, and what others
         * announce afresh is no less.  Of each other thread there may be below that: the
         * announcement that stands, one on its way, and one look at all of them that is under way.
         */
        return UINT64_C(3) * (run->threads - 1) + 1;
    }
    return run->clock == HAFT_CLOCK_FRAME ? 0 : 1;
}

static void open_play(struct play *play)
{
    const struct options *options = play->options;
    haft_domain_options domain = {.foreign_clock = options->run.foreign_clock,
                                  .clock = options->run.clock,
                                  .on_stall = on_stall,
                                  .stall_arg = play,
                                  .stall_ns = STALL_NS};
    pthread_rwlockattr_t attributes;

    if (options->without_grace && domain.foreign_clock != NULL) {
        domain.foreign_clock = clock_without_grace();
    }
    play->has_frames = options->run.clock == HAFT_CLOCK_FRAME;
    play->ages_allowed = ages_allowed(&options->run);
    pthread_rwlockattr_init(&attributes);
    /* Or readers would keep the tick from ever coming. */
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&play->frame, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    pthread_mutex_init(&play->lock, NULL);
    must(&play->run, haft_domain_open(&domain, &play->domain), "opening the domain");
    for (unsigned i = 0; i < play->profile->tables; i++) {
        open_subject(play, i);
        fill(play, &play->subjects[i]);
    }
    if (has_habit(play, COUNTS)) {
        counts_open(play);
    }
}

static void close_play(struct play *play)
{
    must(&play->run, haft_domain_close(play->domain), "closing the domain");
    for (unsigned i = 0; i < play->profile->tables; i++) {
        free(play->subjects[i].places);
    }
    pthread_rwlock_destroy(&play->frame);
    pthread_mutex_destroy(&play->lock);
}

/* --- threads --- */

struct thread {
    pthread_t thread;
    struct play *play;
    unsigned number;
    uint64_t life;
    uint64_t steps;
};

static void start(struct thread *thread, void *(*body)(void *))
{
    if (pthread_create(&thread->thread, NULL, body, thread) != 0) {
        broken(thread->play, "the system gave no thread");
    }
}

static void *one_life(void *arg)
{
    struct thread *thread = arg;

    actor_live(thread->play, thread->number, thread->life, thread->steps);
    return NULL;
}

/* One thread to the end; or one after the other, each for a short life. */
static void *all_lives(void *arg)
{
    struct thread *thread = arg;
    struct play *play = thread->play;
    struct chance chance = chance_of(&play->run, thread->number + 2 * MOST_THREADS);

    if (has_habit(play, COMES)) {
        while (peek(&play->over) == 0) {
            thread->life++;
            thread->steps = 1 + draw_below(&chance, MOST_STEPS);
            struct thread life = *thread;

            start(&life, one_life);
            pthread_join(life.thread, NULL);
        }
    } else {
        one_life(thread);
    }
    add(&play->ended, 1);
    return NULL;
}

/* --- the coordinator --- */

static void tick(struct play *play)
{
    const bool waits = !play->options->without_grace;

    if (waits) {
        pthread_rwlock_wrlock(&play->frame);
    }
    must(&play->run, haft_domain_tick(play->domain), "a tick");
    if (waits) {
        pthread_rwlock_unlock(&play->frame);
    }
    play->coordinated.counts[COUNT_TICKS]++;
}

static void let_stutter(struct play *play, uint64_t elapsed)
{
    const bool pauses = has_habit(play, STUTTERS) && elapsed % STUTTER_EVERY_NS < STUTTER_NS;

    if (pauses && peek(&play->paused) == 0) {
        play->coordinated.counts[COUNT_STUTTERS]++;
    }
    poke(&play->paused, pauses);
}

static void coordinate(struct play *play, uint64_t ns)
{
    struct chance chance = chance_of(&play->run, 3 * MOST_THREADS);
    const uint64_t began = time_ns();

    while (peek(&play->ended) < play->run.threads) {
        const uint64_t elapsed = time_ns() - began;

        if (elapsed >= ns || is_interrupted()) {
            poke(&play->over, 1);
        }
        if (elapsed >= ns + PATIENCE_NS) {
            broken(play, "%llu of %u threads hang",
                   (unsigned long long)(play->run.threads - peek(&play->ended)), play->run.threads);
        }
        let_stutter(play, elapsed);
        if (play->has_frames) {
            tick(play);
        }
        progress_show(play->profile->name);
        sleep_ns(draw_below(&chance, TICK_NS));
    }
}

void play_run(const struct options *options, const struct profile *profile, uint64_t number,
              uint64_t ns, struct tally *sum, uint64_t *stalls)
{
    struct play *play = calloc(1, sizeof *play);
    struct thread threads[MOST_THREADS];

    if (play == NULL) {
        violation(&options->run, "no memory");
    }
    play->options = options;
    play->profile = profile;
    play->run = options->run;
    play->run.seed += number;
    open_play(play);
    for (unsigned i = 0; i < play->run.threads; i++) {
        threads[i] = (struct thread){.play = play, .number = i, .steps = UINT64_MAX};
        start(&threads[i], all_lives);
    }
    coordinate(play, has_habit(play, SHARES) && ns > SHARED_NS ? SHARED_NS : ns);
    for (unsigned i = 0; i < play->run.threads; i++) {
        pthread_join(threads[i].thread, NULL);
    }
    play_end(play);
    close_play(play);
    tally_add(sum, &play->sum);
    tally_add(sum, &play->coordinated);
    *stalls += play->stalls;
    free(play);
}
