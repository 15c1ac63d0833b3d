/* Drawing plans, and printing them: see plan.h. */
#include "stress/combinations/plan.h"
#include <string.h>

#define CALL_TEXT(name) #name,
const char *const call_names[CALL_COUNT] = {ALL_CALLS(CALL_TEXT, CALL_TEXT)};
#undef CALL_TEXT

const char *const plan_clock_names[PLAN_CLOCK_COUNT] = {
    "PLAN_CALLER_MEMB", "PLAN_CALLER_QSBR", "PLAN_THREAD_MEMB", "PLAN_THREAD_QSBR",
    "PLAN_WORKERS",     "PLAN_FRAME",       "PLAN_CALLER_CK",   "PLAN_THREAD_CK"};

bool call_is_alone(uint32_t call)
{
    return call >= CALL_GUEST;
}

/* --- chance --- */

struct chance {
    uint64_t state;
};

/* splitmix64: G. Steele, D. Lea and C. Flood, "Fast splittable pseudorandom number generators",
 * OOPSLA 2014. */
static uint64_t draw(struct chance *chance)
{
    uint64_t z = chance->state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static uint32_t below(struct chance *chance, uint32_t end)
{
    return (uint32_t)(draw(chance) >> 32) % end;
}

static uint32_t between(struct chance *chance, uint32_t least, uint32_t most)
{
    return least + below(chance, most - least + 1);
}

static bool one_in(struct chance *chance, uint32_t many)
{
    return below(chance, many) == 0;
}

static uint32_t one_of(struct chance *chance, const uint32_t *values, uint32_t count)
{
    return values[below(chance, count)];
}

/* --- options --- */

/* Batches of several slots take a capacity of 32 and as many slots beyond it. */
static uint32_t draw_index_bits(struct chance *chance, bool at_once)
{
    if (one_in(chance, 2)) {
        return between(chance, 3, 5);
    }
    return at_once ? between(chance, 6, 8) : between(chance, 5, 13);
}

static void draw_layout(struct chance *chance, struct plan_options *options, bool at_once)
{
    options->index_bits = draw_index_bits(chance, at_once);
    options->generation_bits = one_in(chance, 3) ? between(chance, 1, 4) : between(chance, 5, 24);
    options->tag_bits = one_in(chance, 4) ? between(chance, 1, 8) : 0;
    if (one_in(chance, 4)) {
        options->first_generation =
            between(chance, 1, (UINT32_C(1) << options->generation_bits) - 1);
    }
}

static void draw_capacity(struct chance *chance, struct plan_options *options, bool at_once)
{
    const uint32_t range = (UINT32_C(1) << options->index_bits) - 4;
    const uint32_t wanted = !at_once ? 2000 : 40;
    const uint32_t most = range < wanted ? range : wanted;

    options->capacity = one_in(chance, 2) ? most : between(chance, 1, most);
}

/* Where ids repeat soon, threads at once could take one object for another. */
static bool has_many_lives(const struct plan_options *options)
{
    return options->generation_bits >= 5 && options->first_generation == 0;
}

static void draw_counted(struct chance *chance, struct plan_options *options, bool at_once)
{
    options->counted = one_in(chance, 2) ? between(chance, 1, at_once ? 3 : 12) : 0;
    options->counted_min_free = one_in(chance, 2) ? between(chance, 1, 8) : 0;
    options->counted_wrap = one_in(chance, 3);
    options->counted_copies = one_in(chance, 3);
    options->counted_spread = one_in(chance, 3);
    options->counted_wipe = one_in(chance, 3);
    options->counted_plain = !at_once && one_in(chance, 4); /* at once, none knows of an end */
}

/* Bytes of an object in a block, where each table that is opened again may take new memory. */
#define MOST_IN_BLOCK 200

static void draw_options(struct chance *chance, struct plan_options *options, bool at_once)
{
    static const uint32_t sizes[] = {16, 16, 24, 64, 200, 4096};

    options->clock = below(chance, PLAN_CLOCK_COUNT);
    draw_layout(chance, options, at_once);
    draw_capacity(chance, options, at_once);
    options->object_size = one_in(chance, 12) ? 0 : one_of(chance, sizes, at_once ? 3 : 6);
    options->wrap = one_in(chance, 4) && (!at_once || has_many_lives(options));
    options->pins = one_in(chance, 3);
    options->sites = one_in(chance, 6);
    options->on_reclaim = one_in(chance, 2);
    if (!one_in(chance, 3)) { /* few places are left */
        const uint32_t left = below(chance, 4);

        options->filled = options->capacity > left ? options->capacity - left : 0;
    }
    options->side = one_in(chance, 3) && !options->wrap;
    options->other_table = one_in(chance, 3) ? between(chance, 1, 2) : 0;
    draw_counted(chance, options, at_once);
    options->waiting_slots = one_in(chance, 4) ? between(chance, 1, 24) : 0;
    options->never_wait = one_in(chance, 4);
    options->heap = one_in(chance, 2) ? between(chance, 1, 2) : 0;
    if (options->heap == 2 && options->object_size > MOST_IN_BLOCK) {
        options->object_size = MOST_IN_BLOCK;
    }
    options->stall = one_in(chance, 3);
}

/* --- steps --- */

static const uint8_t allowed_in_reclaim[] = {
    CALL_INSERT,
    CALL_RESERVE,
    CALL_PUBLISH,
    CALL_ABORT,
    CALL_FREE,
    CALL_FREE_STALE,
    CALL_INSERT_MANY,
    CALL_FREE_MANY,
    CALL_TABLE_FREE,
    CALL_RESERVE,
    CALL_ABORT,
    CALL_UNPIN,
    CALL_UNPIN,
    CALL_DIAGNOSE,
    CALL_PUBLISH,
    CALL_RESERVE_CAPACITY,
    CALL_JOB_BEGIN,
    CALL_PIN,
    CALL_SCAN,
    CALL_SIDE_SET,
    CALL_SIDE_FIND,
    CALL_OTHER_INSERT,
    CALL_OTHER_FREE,
    CALL_COUNTED_INSERT,
    CALL_COUNTED_ACQUIRE,
    CALL_COUNTED_RELEASE,
    CALL_COUNTED_AGAIN,
    CALL_COUNTED_COPY,
    CALL_COUNTED_FREE,
    CALL_COUNTED_TAKE,
    CALL_COUNTED_STALE,
    CALL_COUNTED_WALK,
    CALL_COUNTED_FREE,
    CALL_WORKER_OPEN,
    CALL_SIDE_OPEN,
    CALL_SIDE_CLOSE,
    CALL_RESOLVE_MANY,
    CALL_RESOLVE,
    CALL_EXPLAIN,
    CALL_EXPORT,
};

/* What waits, or takes something apart. */
static const uint8_t refused_in_callbacks[] = {
    CALL_QUIESCENT,   CALL_FLUSH,         CALL_WORKER_CLOSE, CALL_WAIT,  CALL_TRIM,    CALL_TICK,
    CALL_TABLE_CLOSE, CALL_UNSHARE_SHARE, CALL_INSERT_WAIT,  CALL_APPLY, CALL_RECLAIM,
};

/* Once, mostly; some calls many times, so that batches, rings and depots fill. */
static uint16_t draw_count(struct chance *chance, const struct plan *plan, bool at_once)
{
    static const uint32_t some[] = {1, 1, 2, 3, 2, 5};
    static const uint32_t many[] = {1, 1, 1, 2, 3, 5, 17, 40, 128, 200, 300, 700};

    if (at_once) {
        return (uint16_t)one_of(chance, some, plan->options.capacity < 32 ? 4 : 6);
    }
    return (uint16_t)(plan->options.capacity < 64 ? one_of(chance, many, 7)
                                                  : one_of(chance, many, 12));
}

/* Few, often, so that threads meet on one object. */
static uint16_t draw_register(struct chance *chance, const struct plan *plan)
{
    const bool is_one_of_few = plan->options.capacity == 1 || one_in(chance, 2);

    return (uint16_t)below(chance, is_one_of_few ? 3 : 2 * plan->options.capacity + 8);
}

static struct step draw_step(struct chance *chance, const struct plan *plan, uint32_t call,
                             bool at_once)
{
    const struct step step = {
        .thread = (uint8_t)below(chance, plan->threads),
        .call = (uint8_t)call,
        .at = draw_register(chance, plan),
        .count = draw_count(chance, plan, at_once),
    };

    return step;
}

/*
 * Each plan does without some calls, so that those left meet one another more often, and a fault
 * that comes with one call does not hide what comes without it: swarm testing (A. Groce, C. Zhang,
 * E. Eide, Y. Chen and J. Regehr, "Swarm testing", ISSTA 2012).
 */
struct swarm {
    bool omitted[CALL_COUNT];
    bool records; /* from the beginning, by threads at once */
};

static struct swarm draw_swarm(struct chance *chance)
{
    struct swarm swarm = {.records = false};
    const uint32_t eighths = one_in(chance, 2) ? 2 : 5;

    for (uint32_t call = 0; call < CALL_COUNT; call++) {
        swarm.omitted[call] = below(chance, 8) < eighths;
    }
    return swarm;
}

/* What threads at once do with the few slots of a table, and what brings them back. */
static const uint8_t on_few_slots[] = {
    CALL_INSERT,        CALL_RESERVE,      CALL_PUBLISH,     CALL_ABORT,     CALL_FREE,
    CALL_FREE_MANY,     CALL_TABLE_FREE,   CALL_PIN,         CALL_UNPIN,     CALL_WAIT,
    CALL_SECTION_BEGIN, CALL_SECTION_END,  CALL_WORKER_OPEN, CALL_QUIESCENT, CALL_WORKER_CLOSE,
    CALL_FREE_STALE,    CALL_RESOLVE_MANY, CALL_RECLAIM,
};

/* Calls on the few slots of a table whose objects have values. */
static const uint8_t on_few_values[] = {
    CALL_SIDE_SET,     CALL_SIDE_FIND,   CALL_DIAGNOSE,    CALL_INSERT,     CALL_RESERVE,
    CALL_ABORT,        CALL_FREE,        CALL_FREE_MANY,   CALL_FREE_STALE, CALL_PIN,
    CALL_UNPIN,        CALL_WAIT,        CALL_QUIESCENT,   CALL_PUBLISH,    CALL_SECTION_BEGIN,
    CALL_TABLE_FREE,   CALL_SECTION_END, CALL_WORKER_OPEN, CALL_SIDE_OPEN,  CALL_SIDE_CLOSE,
    CALL_RESOLVE_MANY,
};

/* Recording by all threads, and what else becomes of the same objects meanwhile. */
static const uint8_t on_a_command_set[] = {
    CALL_COMMANDS_OPEN, CALL_COMMANDS_CLOSE, CALL_RECORDER_OPEN, CALL_WORKER_OPEN,
    CALL_RECORD_CREATE, CALL_RECORD_DESTROY, CALL_RECORD_CALL,   CALL_APPLY,
    CALL_INSERT,        CALL_FREE,           CALL_TABLE_FREE,    CALL_FREE_MANY,
    CALL_RESOLVE,       CALL_SECTION_BEGIN,  CALL_SECTION_END,   CALL_PIN,
    CALL_UNPIN,         CALL_QUIESCENT,      CALL_SIDE_SET,      CALL_PUBLISH,
    CALL_RESERVE,       CALL_DIAGNOSE,       CALL_FREE_STALE,    CALL_JOB_BEGIN,
    CALL_JOB_END,       CALL_TRIM,           CALL_SCAN,          CALL_OFFLINE_ONLINE,
    CALL_RESOLVE_MANY,  CALL_EXPORT,         CALL_SIDE_OPEN,
};

/* Jobs inside jobs, what they hold, and what must not end meanwhile. */
static const uint8_t in_jobs[] = {
    CALL_JOB_BEGIN,    CALL_JOB_END,       CALL_PARK,      CALL_UNPARK,    CALL_RESOLVE,
    CALL_INSERT,       CALL_FREE,          CALL_WAIT,      CALL_FLUSH,     CALL_QUIESCENT,
    CALL_WORKER_CLOSE, CALL_INSERT_WAIT,   CALL_SIDE_FIND, CALL_PIN,       CALL_UNPIN,
    CALL_SECTION_END,  CALL_SECTION_BEGIN, CALL_EXPLAIN,   CALL_SIDE_OPEN, CALL_RESOLVE_MANY,
    CALL_RECLAIM,
};

/* Counted objects, and the table whose callbacks meet theirs. */
static const uint8_t on_counted[] = {
    CALL_COUNTED_INSERT, CALL_COUNTED_ACQUIRE, CALL_COUNTED_RELEASE, CALL_COUNTED_AGAIN,
    CALL_COUNTED_COPY,   CALL_COUNTED_FREE,    CALL_COUNTED_TAKE,    CALL_COUNTED_STALE,
    CALL_COUNTED_WALK,   CALL_COUNTED_CLOSE,   CALL_INSERT,          CALL_FREE,
    CALL_WAIT,           CALL_QUIESCENT,       CALL_TABLE_FREE,
};

static void keep_calls(struct swarm *swarm, const uint8_t *calls, uint32_t count)
{
    for (uint32_t call = 0; call < CALL_COUNT; call++) {
        swarm->omitted[call] = true;
    }
    for (uint32_t i = 0; i < count; i++) {
        swarm->omitted[calls[i]] = false;
    }
}

static void narrow_to_few_slots(struct chance *chance, struct plan_options *options,
                                struct swarm *swarm)
{
    options->index_bits = 3;
    options->capacity = 1;
    options->filled = 0;
    options->pins = 1;
    options->side = !options->wrap && one_in(chance, 2);
    if (options->side) {
        keep_calls(swarm, on_few_values, sizeof on_few_values);
    } else {
        keep_calls(swarm, on_few_slots, sizeof on_few_slots);
    }
}

static bool is_omitted(const struct swarm *swarm, uint32_t call)
{
    return swarm->omitted[call] && call != CALL_WORKER_OPEN;
}

/* What comes often does so because the rest needs it: objects, and slots that come back. */
static uint32_t draw_any_call(struct chance *chance, bool at_once)
{
    static const uint8_t common[] = {CALL_INSERT,         CALL_INSERT,
                                     CALL_INSERT,         CALL_FREE,
                                     CALL_FREE,           CALL_FREE,
                                     CALL_FLUSH,          CALL_QUIESCENT,
                                     CALL_RESOLVE,        CALL_PIN,
                                     CALL_UNPIN,          CALL_SIDE_SET,
                                     CALL_SIDE_FIND,      CALL_JOB_BEGIN,
                                     CALL_JOB_END,        CALL_RECORDER_OPEN,
                                     CALL_RECORD_CREATE,  CALL_RECORD_DESTROY,
                                     CALL_RECORD_CALL,    CALL_APPLY,
                                     CALL_COMMANDS_OPEN,  CALL_OTHER_INSERT,
                                     CALL_OTHER_FREE,     CALL_COUNTED_INSERT,
                                     CALL_COUNTED_ACQUIRE};

    if (one_in(chance, 2)) {
        return common[below(chance, sizeof common)];
    }
    if (at_once) {
        return below(chance, CALL_GUEST);
    }
    return one_in(chance, 4) ? between(chance, CALL_GUEST, CALL_COUNT - 1)
                             : below(chance, CALL_GUEST);
}

static uint32_t draw_call(struct chance *chance, const struct swarm *swarm, bool at_once)
{
    uint32_t call = draw_any_call(chance, at_once);

    while (is_omitted(swarm, call)) {
        call = one_in(chance, 32) ? CALL_INSERT + below(chance, 2) * (CALL_FREE - CALL_INSERT)
                                  : draw_any_call(chance, at_once);
        if (call == CALL_INSERT || call == CALL_FREE) {
            break; /* without these nothing happens */
        }
    }
    return call;
}

static uint32_t draw_callback(struct chance *chance, const struct plan *plan, struct step *steps,
                              const uint8_t *allowed, uint32_t allowed_count,
                              const struct swarm *swarm, bool at_once)
{
    const uint32_t wanted = between(chance, 1, MOST_CALLBACK_STEPS);
    uint32_t count = 0;

    for (uint32_t i = 0; i < wanted; i++) {
        const uint32_t call = one_in(chance, 5)
                                  ? refused_in_callbacks[below(chance, sizeof refused_in_callbacks)]
                                  : allowed[below(chance, allowed_count)];

        if (!is_omitted(swarm, call)) {
            steps[count++] = draw_step(chance, plan, call, at_once);
        }
    }
    return count;
}

/* The first thread's, unless it hands the set on. */
static bool is_movable(uint32_t call)
{
    return call == CALL_COMMANDS_OPEN || call == CALL_RECORDER_OPEN || call == CALL_APPLY ||
           call == CALL_COMMANDS_CLOSE;
}

static void add_step(struct plan *plan, const struct swarm *swarm, struct step step)
{
    if (swarm->records && plan->options.clock != PLAN_FRAME && is_movable(step.call)) {
        step.thread = 0;
    }
    plan->steps[plan->step_count++] = step;
}

static void draw_steps(struct chance *chance, struct plan *plan, const struct swarm *swarm,
                       bool at_once)
{
    const uint32_t wanted = at_once ? between(chance, 6, 40) : between(chance, 10, PLAN_STEPS);

    for (uint32_t i = 0; i < plan->threads; i++) { /* most threads have a worker at first */
        if (!one_in(chance, 6)) {
            add_step(plan, swarm, (struct step){(uint8_t)i, CALL_WORKER_OPEN, 0, 1});
        }
    }
    if (swarm->records) {
        add_step(plan, swarm, (struct step){0, CALL_COMMANDS_OPEN, 0, 1});
        add_step(plan, swarm, draw_step(chance, plan, CALL_RECORDER_OPEN, at_once));
        add_step(plan, swarm, draw_step(chance, plan, CALL_RECORDER_OPEN, at_once));
    }
    while (plan->step_count < wanted) {
        uint32_t call = draw_call(chance, swarm, at_once);

        if (at_once && one_in(chance, 12)) {
            call = plan->options.counted != 0 && one_in(chance, 3) ? CALL_COUNTED_CLOSE
                   : one_in(chance, 2)                             ? CALL_TICK
                                                                   : CALL_PROGRESS;
        }
        add_step(plan, swarm, draw_step(chance, plan, call, at_once));
    }
}

void plan_draw(struct plan *plan, uint64_t seed, bool at_once)
{
    struct chance chance = {seed};

    memset(plan, 0, sizeof *plan);
    plan->seed = seed;
    plan->threads = at_once ? between(&chance, 2, 3) : between(&chance, 1, MOST_THREADS);
    draw_options(&chance, &plan->options, at_once);
    struct swarm swarm = draw_swarm(&chance);

    if (at_once && one_in(&chance, 3)) {
        narrow_to_few_slots(&chance, &plan->options, &swarm);
    } else if (at_once && one_in(&chance, 4)) {
        keep_calls(&swarm, on_a_command_set, sizeof on_a_command_set);
        swarm.records = true;
    } else if (at_once && one_in(&chance, 4)) {
        keep_calls(&swarm, in_jobs, sizeof in_jobs);
    } else if (plan->options.counted != 0 && one_in(&chance, 4)) {
        keep_calls(&swarm, on_counted, sizeof on_counted);
    }
    if (plan->options.on_reclaim || plan->options.other_table != 0) {
        plan->reclaim_count = draw_callback(&chance, plan, plan->on_reclaim, allowed_in_reclaim,
                                            sizeof allowed_in_reclaim, &swarm, at_once);
    }
    draw_steps(&chance, plan, &swarm, at_once);
}

bool plan_has_clock_thread(const struct plan_options *options)
{
    return options->clock == PLAN_THREAD_MEMB || options->clock == PLAN_THREAD_QSBR ||
           options->clock == PLAN_THREAD_CK;
}

uint32_t plan_tries(const struct plan_options *options)
{
    return plan_has_clock_thread(options) ? 4 : 1;
}

bool plan_has_one_life(const struct plan_options *options)
{
    const uint32_t most = (UINT32_C(1) << options->generation_bits) - 1;

    return most == 1 || options->first_generation == most;
}

/* --- text --- */

static void print_steps(FILE *file, const char *name, const struct step *steps, uint32_t count)
{
    if (count == 0) {
        return;
    }
    fprintf(file, "    .%s =\n        {\n", name);
    for (uint32_t i = 0; i < count; i++) {
        fprintf(file, "            {%u, CALL_%s, %u, %u},\n", steps[i].thread,
                call_names[steps[i].call], steps[i].at, steps[i].count);
    }
    fprintf(file, "        },\n");
}

void plan_print(FILE *file, const struct plan *plan)
{
    const struct plan_options *options = &plan->options;

    fprintf(file, "#include \"stress/combinations/plan.h\"\n\n");
    fprintf(file, "const struct plan plan = {\n    .seed = %llu,\n    .threads = %u,\n",
            (unsigned long long)plan->seed, plan->threads);
    fprintf(file, "    .options =\n        {\n");
    fprintf(file, "            .clock = %s,\n", plan_clock_names[options->clock]);
#define OPTION_TEXT(name)                                                                          \
    if (options->name != 0 && strcmp(#name, "clock") != 0) {                                       \
        fprintf(file, "            .%s = %u,\n", #name, options->name);                            \
    }
    ALL_OPTIONS(OPTION_TEXT)
#undef OPTION_TEXT
    fprintf(file, "        },\n    .step_count = %u,\n", plan->step_count);
    if (plan->reclaim_count != 0) {
        fprintf(file, "    .reclaim_count = %u,\n", plan->reclaim_count);
    }
    print_steps(file, "steps", plan->steps, plan->step_count);
    print_steps(file, "on_reclaim", plan->on_reclaim, plan->reclaim_count);
    fprintf(file, "};\n");
}
