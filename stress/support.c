/* What the stress programs share; see support.h.  White-box: the census. */
#include "stress/support.h"
#include "examples/ck/clock.h"
#include <haft/urcu.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of concurrent/table/census.h, which brings another `struct run` along. */
bool census_is_right(const haft_table *table);

#define PAUSE_NS 50000
#define LONGEST 10 /* times the usual rounds, for a run that ends when it has met its race */
#define END (UINT64_C(1) << 63) /* in a barrier */

static uint64_t seed_of_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return ((uint64_t)now.tv_sec * 1000003 + (uint64_t)now.tv_nsec + (uint64_t)getpid()) %
           1000000007;
}

static _Noreturn void usage(const char *program, const char *argument)
{
    fprintf(
        stderr,
        "%s: not understood: %s\n"
        "usage: %s [rounds] [threads] [seed] [memb|qsbr|mb|bp|ck] [thread|caller|workers|frame] "
        "[mode]\n",
        program, argument, program);
    exit(VERDICT_USAGE);
}

static bool take_number(struct run *run, const char *argument, int place)
{
    char *end;
    const unsigned long long number = strtoull(argument, &end, 10);

    if (*end != '\0' || end == argument || place > 2) {
        return false;
    }
    if (place == 0) {
        run->rounds = number;
        run->has_rounds = true;
    } else if (place == 1) {
        run->threads = (unsigned)number;
    } else {
        run->seed = number;
    }
    return true;
}

#define CLOCK_NAME(UPPER, lower) [HAFT_CLOCK_##UPPER] = #lower,

static bool take_clock(struct run *run, const char *name)
{
    static const char *const names[HAFT_CLOCK_COUNT] = {HAFT_CLOCKS(CLOCK_NAME)};

    for (int clock = 0; clock < HAFT_CLOCK_COUNT; clock++) {
        if (strcmp(name, names[clock]) == 0) {
            run->clock_name = names[clock];
            run->clock = (haft_clock)clock;
            return true;
        }
    }
    return false;
}

static bool take_flavour(struct run *run, const char *argument)
{
    const struct {
        const char *name;
        const haft_foreign_clock *foreign_clock;
    } flavours[] = {
        {"memb", haft_urcu_memb()}, {"qsbr", haft_urcu_qsbr()}, {"mb", haft_urcu_mb()},
        {"bp", haft_urcu_bp()},     {"ck", &ck_clock},
    };

    for (size_t i = 0; i < sizeof flavours / sizeof flavours[0]; i++) {
        if (strcmp(argument, flavours[i].name) == 0) {
            run->flavour_name = argument;
            run->foreign_clock = flavours[i].foreign_clock;
            return true;
        }
    }
    return false;
}

static bool take_word(struct run *run, const char *argument, const char *const *modes)
{
    if (take_flavour(run, argument) || take_clock(run, argument)) {
        return true;
    }
    for (; modes != NULL && *modes != NULL; modes++) {
        if (strcmp(argument, *modes) == 0) {
            run->mode = argument;
            return true;
        }
    }
    return false;
}

struct run run_from(int argc, char **argv, uint64_t rounds, unsigned threads,
                    const char *const *modes)
{
    const char *slash = strrchr(argv[0], '/');
    struct run run = {
        .program = slash != NULL ? slash + 1 : argv[0],
        .rounds = rounds,
        .threads = threads,
        .seed = seed_of_now(),
        .mode = modes != NULL ? modes[0] : "",
    };
    int numbers = 0;

    take_word(&run, "memb", NULL);
    take_word(&run, "caller", NULL);
    for (int i = 1; i < argc; i++) {
        if (take_number(&run, argv[i], numbers)) {
            numbers++;
        } else if (!take_word(&run, argv[i], modes)) {
            usage(run.program, argv[i]);
        }
    }
    if (run.threads < 2 || run.threads > MOST_THREADS) {
        usage(run.program, "threads, 2 to 64");
    }
    if (run.clock == HAFT_CLOCK_WORKERS || run.clock == HAFT_CLOCK_FRAME) {
        run.flavour_name = "none";
        run.foreign_clock = NULL;
    }
    printf("%s: rounds %llu threads %u seed %llu %s %s %s\n", run.program,
           (unsigned long long)run.rounds, run.threads, (unsigned long long)run.seed,
           run.flavour_name, run.clock_name, run.mode);
    fflush(stdout);
    return run;
}

static uint64_t longer(const struct run *run)
{
    const char *text = getenv("HAFT_LONGER");
    char *end;

    if (text == NULL) {
        return 1;
    }
    const unsigned long long times = strtoull(text, &end, 10);

    if (end == text || *end != '\0' || times == 0 || times > 1000000) {
        usage(run->program, "HAFT_LONGER, 1 to 1000000");
    }
    return times;
}

void run_until(struct run *run, uint64_t enough)
{
    if (!run->has_rounds) {
        run->rounds *= LONGEST * longer(run);
        run->enough = enough * longer(run);
        printf("%s: until %llu meetings, %llu rounds at most\n", run->program,
               (unsigned long long)enough, (unsigned long long)run->rounds);
        fflush(stdout);
    }
}

bool run_is(const struct run *run, const char *mode)
{
    return strcmp(run->mode, mode) == 0;
}

void finish(const struct run *run, uint64_t met, const char *counts, ...)
{
    const bool is_met = met != 0 && met >= run->enough;
    va_list values;

    va_start(values, counts);
    printf("%s: ", run->program);
    vprintf(counts, values);
    printf(is_met ? "\n" : met == 0 ? "; NEVER MET\n" : "; MET TOO SELDOM\n");
    va_end(values);
    exit(is_met ? VERDICT_HELD : VERDICT_NOT_MET);
}

void violation(const struct run *run, const char *text, ...)
{
    va_list values;

    va_start(values, text);
    flockfile(stderr);
    fprintf(stderr, "%s: VIOLATION: ", run->program);
    vfprintf(stderr, text, values);
    fprintf(stderr, " (seed %llu)\n", (unsigned long long)run->seed);
    funlockfile(stderr);
    va_end(values);
    _exit(VERDICT_VIOLATION);
}

void must(const struct run *run, haft_status status, const char *what)
{
    if (status != HAFT_OK) {
        violation(run, "%s: %s", what, haft_status_text(status));
    }
}

static void no_wait(void *ctx)
{
    (void)ctx;
}

const haft_foreign_clock *clock_without_grace(void)
{
    static haft_foreign_clock planted;

    planted = *haft_urcu_memb();
    planted.wait = no_wait;
    return &planted;
}

haft_domain *open_domain(const struct run *run)
{
    const haft_domain_options options = {.foreign_clock = run->foreign_clock, .clock = run->clock};
    haft_domain *domain;

    must(run, haft_domain_open(&options, &domain), "opening the domain");
    return domain;
}

haft_worker *enter_as_reader(const struct run *run, haft_table *table)
{
    haft_worker *worker = NULL;

    haft_thread_register(haft_table_info(table).domain);
    if (run->clock == HAFT_CLOCK_WORKERS) {
        must(run, haft_worker_open(table, &worker), "opening a reader's worker");
    }
    return worker;
}

void leave_as_reader(haft_table *table, haft_worker *worker)
{
    if (worker != NULL) {
        haft_worker_close(worker);
    }
    haft_thread_unregister(haft_table_info(table).domain);
}

void pass_quiescent_point(haft_table *table, haft_worker *worker, struct chance *chance)
{
    haft_domain *domain = haft_table_info(table).domain;

    if (worker != NULL && one_in(chance, 2)) {
        haft_worker_quiescent(worker);
    } else {
        haft_thread_offline(domain);
        haft_thread_online(domain);
    }
}

haft_id reserve_waiting(const struct run *run, haft_worker *worker, void **object)
{
    haft_id id;
    const bool waits = run->clock != HAFT_CLOCK_THREAD;
    haft_status status =
        waits ? haft_reserve_wait(worker, &id, object) : haft_reserve(worker, &id, object);

    while (status == HAFT_BUSY) { /* the clock's own thread drives: its edges are those in use */
        const struct timespec moment = {0, 20000};

        haft_worker_quiescent(worker);
        nanosleep(&moment, NULL);
        status = haft_reserve(worker, &id, object);
    }
    must(run, status, "reserving");
    return id;
}

static void check_empty(const struct run *run, const haft_table *table)
{
    const haft_table_stats stats = haft_table_stats_get(table);

    if (stats.live != 0 || stats.reserved != 0 || stats.workers != 0 ||
        stats.high_water > stats.limit ||
        stats.retired + stats.free + stats.released != stats.high_water) {
        violation(run, "at the end live %llu reserved %llu retired %llu free %llu of %llu used",
                  (unsigned long long)stats.live, (unsigned long long)stats.reserved,
                  (unsigned long long)stats.retired, (unsigned long long)stats.free,
                  (unsigned long long)stats.high_water);
    }
}

void check_nothing_lost(const struct run *run, haft_table *table)
{
    const haft_view view = haft_table_view(table);
    const uint64_t capacity = haft_table_stats_get(table).capacity;
    haft_id *ids = calloc((size_t)capacity, sizeof *ids);
    haft_worker *worker;
    void *object;

    check_empty(run, table);
    must(run, haft_worker_open(table, &worker), "opening a worker at the end");
    for (uint64_t i = 0; i < capacity; i++) {
        ids[i] = reserve_waiting(run, worker, &object);
        haft_publish(worker, ids[i]);
    }
    for (uint64_t i = 0; i < capacity; i++) {
        if (!haft_is_live(view, ids[i]) || haft_free(worker, ids[i]) != HAFT_OK) {
            violation(run, "at the end two objects in one slot");
        }
    }
    must(run, haft_worker_close(worker), "closing a worker at the end");
    check_empty(run, table);
    free(ids);
}

void check_census(const struct run *run, const haft_table *table)
{
    if (!census_is_right(table)) {
        violation(run, "the census is wrong");
    }
}

void close_table(const struct run *run, haft_table *table)
{
    check_census(run, table);
    must(run, haft_table_close(table), "closing the table");
}

void close_with_domain(const struct run *run, haft_table *table)
{
    haft_domain *domain = haft_table_info(table).domain;

    close_table(run, table);
    must(run, haft_domain_close(domain), "closing the domain");
}

/* --- threads --- */

struct thread {
    pthread_t thread;
    unsigned number;
    void (*body)(unsigned number, void *shared);
    void *shared;
    struct barrier *start;
};

/* On a busy machine the first could be done before the last begins, and none meet. */
static void *run_body(void *arg)
{
    const struct thread *self = arg;
    uint64_t times = 0;

    meet(self->start, &times);
    self->body(self->number, self->shared);
    return NULL;
}

void run_threads(unsigned count, void (*body)(unsigned number, void *shared), void *shared)
{
    struct thread threads[MOST_THREADS];
    struct barrier start = {.threads = count};

    for (unsigned i = 0; i < count; i++) {
        threads[i].number = i;
        threads[i].start = &start;
        threads[i].body = body;
        threads[i].shared = shared;
        if (pthread_create(&threads[i].thread, NULL, run_body, &threads[i]) != 0) {
            fprintf(stderr, "no thread to be had\n");
            exit(VERDICT_NOT_MET);
        }
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i].thread, NULL);
    }
}

bool meet(struct barrier *barrier, uint64_t *times)
{
    const uint64_t all = ++*times * barrier->threads;
    uint64_t arrived = add(&barrier->arrived, 1) + 1;

    for (unsigned spins = 0; (arrived & ~END) < all; spins++) {
        if (spins > 100) {
            sched_yield();
        }
        arrived = peek(&barrier->arrived);
    }
    return (arrived & END) == 0;
}

void say_end(struct barrier *barrier)
{
    add(&barrier->arrived, END);
}

bool meet_offline(haft_domain *domain, struct barrier *barrier, uint64_t *times)
{
    haft_thread_offline(domain);
    const bool goes_on = meet(barrier, times);

    haft_thread_online(domain);
    return goes_on;
}

/* --- chance --- */

struct chance chance_of(const struct run *run, unsigned number)
{
    /* splitmix64: neighbouring seeds give unrelated sequences. */
    uint64_t z = (run->seed * MOST_THREADS + number + 1) * UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (struct chance){(z ^ z >> 31) | 1};
}

void pause_by_chance(struct chance *chance)
{
    const uint64_t how = draw_below(chance, 4);

    if (how == 0) {
        const struct timespec time = {0, (long)draw_below(chance, PAUSE_NS)};

        nanosleep(&time, NULL);
    } else if (how == 1) {
        sched_yield();
    } else {
        for (uint64_t spins = draw_below(chance, 500); spins != 0; spins--) {
            __asm__ __volatile__("" ::: "memory");
        }
    }
}

/* --- objects that readers hold --- */

static uint32_t place_of(const struct held *held, haft_id id)
{
    return haft_id_index(held->layout, id);
}

void held_open(struct held *held, haft_table_options options)
{
    options.capacity = UINT64_C(8) << held->run.seed % 4;
    options.object_size = sizeof(struct object);
    held->readers = held->run.threads / 2;
    held->domain = open_domain(&held->run);
    must(&held->run, haft_table_open(held->domain, &options, &held->table), "opening the table");
    held->view = haft_table_view(held->table);
    held->layout = haft_table_info(held->table).layout;
    held->slots = HAFT_FIRST_INDEX + haft_table_stats_get(held->table).limit;
}

void held_look(const struct held *held, const struct object *object, haft_id id)
{
    if (!object_is(object, id)) {
        violation(&held->run, "id %llx: the object became %llx while it was held",
                  (unsigned long long)id.bits, (unsigned long long)object->id);
    }
}

static void insert_held(struct held *held, haft_worker *worker, struct chance *chance)
{
    void *object;
    const haft_id id = held->reserve != NULL ? held->reserve(held, worker, &object)
                                             : reserve_waiting(&held->run, worker, &object);

    object_write(object, id);
    if (held->furnish != NULL) {
        held->furnish(held, id, chance);
    }
    haft_publish(worker, id);
    poke(&held->board[place_of(held, id)], id.bits);
}

/* One that a reader holds, or any. */
static haft_id any_id(struct held *held, struct chance *chance, uint64_t any_in)
{
    haft_id id = {peek(&held->announced[draw_below(chance, held->readers)])};

    if (id.bits == 0 || one_in(chance, any_in)) {
        id.bits = peek(&held->board[draw_below(chance, held->slots)]);
    }
    return id;
}

static void write_held(struct held *held, struct chance *chance)
{
    haft_worker *worker;

    must(&held->run, haft_worker_open(held->table, &worker), "opening a worker");
    for (uint64_t i = 0; run_goes_on(&held->run, i, peek(&held->met));) {
        const haft_id id = any_id(held, chance, 8);
        const bool is_freed =
            id.bits != 0 && (held->free != NULL ? held->free(held, worker, id, chance)
                                                : haft_free(worker, id) == HAFT_OK);

        if (is_freed) {
            if (!held->keeps_freed) {
                replace(&held->board[place_of(held, id)], id.bits, 0);
            }
            insert_held(held, worker, chance);
            i++;
        }
        haft_worker_quiescent(worker);
    }
    haft_worker_close(worker);
}

static void play_held(unsigned number, void *shared)
{
    struct held *held = shared;
    struct chance chance = chance_of(&held->run, number);

    if (number >= held->readers) {
        haft_thread_register(held->domain);
        write_held(held, &chance);
        add(&held->writers_left, UINT64_MAX);
        haft_thread_unregister(held->domain);
        return;
    }
    haft_worker *worker = held->is_unannounced ? NULL : enter_as_reader(&held->run, held->table);

    while (peek(&held->writers_left) != 0) {
        held->read(held, number, worker, any_id(held, &chance, 2), &chance);
    }
    leave_as_reader(held->table, worker);
}

void held_play(struct held *held)
{
    struct chance chance = chance_of(&held->run, MOST_THREADS);
    haft_worker *worker;

    must(&held->run, haft_worker_open(held->table, &worker), "opening a worker");
    for (uint64_t i = haft_table_stats_get(held->table).capacity; i != 0; i--) {
        insert_held(held, worker, &chance);
    }
    haft_worker_close(worker);
    poke(&held->writers_left, held->run.threads - held->readers);
    run_threads(held->run.threads, play_held, held);
}
