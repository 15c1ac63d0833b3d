/* A plan from opening to closing, by one thread or by several: see play.h. */
#include "stress/combinations/play.h"
#include "stress/combinations/calls.h"
#include "stress/combinations/ending.h"
#include "stress/combinations/guests.h"
#include "stress/combinations/progress.h"
#include "stress/combinations/watch.h"
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#define MOST_CENSUS_BITS 6 /* of indices, for a census after each turn */

void fail(const char *kind, const char *detail, ...)
{
    char text[256];
    va_list values;

    va_start(values, detail);
    vsnprintf(text, sizeof text, detail, values);
    va_end(values);
    backend_fail(kind, text);
}

#define MOST_WORKERS_GIVEN (16 * MOST_THREADS)

/* --- opening and closing --- */

static haft_clock clock_of_plan(void)
{
    static const haft_clock clocks[PLAN_CLOCK_COUNT] = {
        HAFT_CLOCK_CALLER,  HAFT_CLOCK_CALLER, HAFT_CLOCK_THREAD, HAFT_CLOCK_THREAD,
        HAFT_CLOCK_WORKERS, HAFT_CLOCK_FRAME,  HAFT_CLOCK_CALLER, HAFT_CLOCK_THREAD};

    return clocks[play.plan->options.clock];
}

/* It may come while the domain opens, of a thread that is none of the plan's. */
static void check_stall(const haft_stall *stall, void *arg)
{
    require_that(arg == &play && stall->waited_ns != 0, "on_stall's arguments");
    require_that(current == NULL || !in_callback(current), "on_stall runs within a callback");
    require_that(haft_domain_wait(stall->domain) == HAFT_IN_CALLBACK, "a call in on_stall");
}

static void ignore_leak(const haft_leak *leak, void *arg)
{
    (void)leak;
    (void)arg;
}

static void give_domain_memory(haft_domain_options *options)
{
    haft_footprint footprint;

    if (!play.plan->options.given || options->foreign_clock != NULL) {
        return;
    }
    options->threads = 2 * MOST_THREADS; /* and those that came before them */
    expect(haft_domain_footprint(options, &footprint), HAFT_OK, "haft_domain_footprint");
    options->memory = give(GIVEN_DOMAIN, footprint.bytes);
    options->memory_size = footprint.bytes;
}

static void open_domain(void)
{
    haft_domain_options options = {
        .foreign_clock = is_ck()          ? backend_ck()
                         : has_sections() ? backend_memb()
                         : is_qsbr()      ? backend_qsbr()
                                          : NULL,
        .clock = clock_of_plan(),
        .on_stall = check_stall,
        .stall_arg = &play,
        .stall_ns = play.plan->options.stall ? 1 : 0,
        .allocator = heap_of_plan(),
    };

    give_domain_memory(&options);
    expect(haft_domain_open(&options, &play.domain), HAFT_OK, "haft_domain_open");
}

/* More workers than the threads have, their own and borrowed ones; room for all to hold back, or
 * for none. */
static void give_memory(const struct plan_options *from, haft_table_options *options)
{
    haft_footprint footprint;

    if (!from->given) {
        return;
    }
    options->workers = MOST_WORKERS_GIVEN;
    options->hold_back = from->given == 1 ? from->capacity : 0;
    expect(haft_table_footprint(options, &footprint), HAFT_OK, "haft_table_footprint");
    options->memory = give(GIVEN_TABLE, footprint.bytes);
    options->memory_size = footprint.bytes;
}

/* A slot's, where objects have the default alignment. */
static uint64_t slot_bytes(const struct plan_options *from)
{
    const uint64_t words = (from->object_size + 7) / 8 + 1 + from->pins;

    return words * sizeof(uint64_t);
}

uint64_t waiting_bytes_of_plan(void)
{
    return play.plan->options.waiting_slots * slot_bytes(&play.plan->options);
}

void begin_table(void)
{
    const struct plan_options *from = &play.plan->options;
    const haft_layout layout = {(uint8_t)from->index_bits, (uint8_t)from->generation_bits,
                                (uint8_t)from->tag_bits, 0};
    haft_table_options options = {
        .name = TABLE_NAME,
        .capacity = from->capacity,
        .object_size = from->object_size,
        .layout = layout,
        .tag = from->tag_bits != 0,
        .first_generation = from->first_generation,
        .wrap = from->wrap,
        .pins = from->pins,
        .exact_capacity = from->exact_capacity,
        .restore_range = from->restore_range,
        .on_reclaim = from->on_reclaim ? reclaim_callback : NULL,
        .reclaim_arg = &play,
        .warn_at = from->warn_at,
        .on_fill = from->warn_at != 0 ? fill_callback : NULL,
        .fill_arg = &play,
        .sites = from->sites,
        .on_leak = ignore_leak,
        .waiting_bytes = waiting_bytes_of_plan(),
        .never_wait = from->never_wait,
        .allocator = heap_of_plan(),
    };
    give_memory(from, &options);
    const uint64_t taken = heap_taken();

    expect(haft_table_open(play.domain, &options, &play.table), HAFT_OK, "haft_table_open");
    require_that(!from->given || heap_taken() == taken, "a table in given memory takes other");
    play.view = haft_table_view(play.table);
    play.layout = layout;
    play.register_count = 2 * from->capacity + 8;
    atomic_store_explicit(&play.ids_repeat, from->wrap, memory_order_relaxed);
    begin_side();
}

static void forget_table(void)
{
    memset(play.registers, 0, play.register_count * sizeof *play.registers);
    memset(play.issued, 0, sizeof *play.issued << play.plan->options.index_bits);
    memset(play.recycled, 0, sizeof *play.recycled << play.plan->options.index_bits);
    memset(play.owned, 0, sizeof *play.owned << play.plan->options.index_bits);
    memset(play.reclaimed, 0, sizeof *play.reclaimed << play.plan->options.index_bits);
    play.crowd_count = 0;
    play.has_trimmed = play.has_recycled = false;
    play.most_used = 0;
    play.has_warned = false;
    play.exhausted = play.live = play.live_restored = play.reserved = 0;
    play.frees = play.reclaims = play.frees_before = 0;
    play.refused_frees = play.refused_before = 0;
    play.left_worker = NULL;
    for (uint32_t i = 0; i < MOST_THREADS; i++) {
        play.threads[i].worker = NULL;
        forget_workers(&play.seats[i]);
    }
}

void table_has_closed(void)
{
    require_that(!play.plan->options.on_reclaim || play.reclaims == play.frees,
                 "on_reclaim did not run once for each freed object");
    forget_table();
}

static haft_status close_or_unshare(haft_local **local)
{
    return local != NULL ? haft_unshare(play.table, local) : haft_table_close(play.table);
}

/* Callbacks are told that the table closes. */
static haft_status end_with_sides(haft_local **local)
{
    play.is_closing = true;
    play.closing_steps = 0;
    haft_status status = close_or_unshare(local);

    if (has_sides()) {
        require_that(status != HAFT_OK, "a table ended beside a side");
        end_sides();
        status = close_or_unshare(local);
    }
    play.is_closing = false;
    return status;
}

haft_status play_unshare_table(haft_local **local)
{
    return end_with_sides(local);
}

haft_status play_close_table(void)
{
    const haft_status status = end_with_sides(NULL);

    if (status != HAFT_OK) {
        begin_side();
    }
    return status;
}

static void end_table(void)
{
    expect(play_close_table(), HAFT_OK, "a table could not be closed");
    table_has_closed();
}

/* --- threads that stand still --- */

struct gathering {
    _Atomic(uint32_t) arrived;  /* in all rounds */
    _Atomic(uint32_t) released; /* rounds */
    _Atomic(uintptr_t) requests[MOST_THREADS];
};

static struct gathering gathering;

struct awaited {
    uint32_t arrived;
    uint32_t round;
    uint32_t thread;
};

static bool have_arrived(const void *what)
{
    return atomic_load(&gathering.arrived) == ((const struct awaited *)what)->arrived;
}

static bool is_called(const void *what)
{
    const struct awaited *awaited = what;

    return atomic_load(&gathering.released) == awaited->round ||
           atomic_load(&gathering.requests[awaited->thread]) != 0;
}

static bool is_answered(const void *what)
{
    return atomic_load(&gathering.requests[((const struct awaited *)what)->thread]) == 0;
}

/* Until the first thread lets all go on, the thread answers its requests. */
static void stand_still(struct thread *thread, uint32_t round)
{
    const struct awaited awaited = {.round = round, .thread = thread->number};

    end_sections(thread);
    go_offline(thread);
    atomic_fetch_add(&gathering.arrived, 1);
    for (;;) {
        backend_await(is_called, &awaited);
        const uintptr_t request = atomic_load(&gathering.requests[thread->number]);

        if (request == 0) {
            break;
        }
        go_online(thread);
        ((void (*)(struct thread *))request)(thread);
        go_offline(thread);
        atomic_store(&gathering.requests[thread->number], 0);
    }
    go_online(thread);
}

static void gather(struct thread *thread, uint32_t round, const struct step *step)
{
    const struct awaited awaited = {.arrived = round * (play.plan->threads - 1)};

    if (thread->number != 0) {
        stand_still(thread, round);
        return;
    }
    end_sections(thread);
    go_offline(thread);
    backend_await(have_arrived, &awaited);
    go_online(thread);
    call_alone(thread, step);
    atomic_store(&gathering.released, round);
}

void by_thread(uint32_t number, void (*call)(struct thread *thread))
{
    struct thread *before = current;

    if (!play.at_once || number == 0) {
        current = &play.threads[number];
        call(current);
        current = before;
        return;
    }
    const struct awaited awaited = {.thread = number};

    go_offline(before);
    atomic_store(&gathering.requests[number], (uintptr_t)call);
    backend_await(is_answered, &awaited);
    go_online(before);
}

void by_each_thread(void (*call)(struct thread *thread))
{
    for (uint32_t i = 0; i < play.plan->threads; i++) {
        by_thread(i, call);
    }
}

/* --- the play --- */

static void register_seat(struct seat *seat)
{
    seat->has_begun = true;
    if (!is_clock(PLAN_WORKERS) && !is_clock(PLAN_FRAME)) {
        haft_thread_register(play.domain);
        seat->is_registered = true;
        seat->level = is_qsbr();
    }
}

static void unregister_seat(struct seat *seat)
{
    if (seat->is_registered) {
        haft_thread_unregister(play.domain);
        seat->is_registered = false;
        seat->level = 0;
    }
}

static void fill_table(void)
{
    current = &play.threads[0];
    for (uint32_t i = 0; i < play.plan->options.filled && insert_one(NULL, i); i++) {
    }
    current = NULL;
}

void play_begin(const struct plan *plan, bool at_once)
{
    play.plan = plan;
    play.at_once = at_once;
    play.left_worker = NULL;
    play.is_ending = play.is_closing = play.is_shared_again = play.is_forked = play.has_forked =
        false;
    play.callbacks = play.stamps = play.grace_periods = 0;
    memset(play.made, 0, sizeof play.made);
    play.reclaim_step = play.fill_step = 0;
    memset(&gathering, 0, sizeof gathering);
    memset(&play.set, 0, sizeof play.set);
    memset(play.seats, 0, sizeof play.seats);
    for (uint32_t i = 0; i < MOST_THREADS; i++) {
        play.threads[i] = (struct thread){.number = i, .seat = &play.seats[at_once ? i : 0]};
    }
    for (uint32_t i = 0; i < MOST_SIDES; i++) {
        play.sides[i].opened = NULL;
    }
    begin_memory();
    open_domain();
    begin_other_table();
    begin_table();
    forget_table();
    fill_table();
}

void play_thread(uint32_t number)
{
    struct thread *thread = &play.threads[number];
    uint32_t round = 0;

    current = thread;
    register_seat(thread->seat);
    for (uint32_t i = 0; i < play.plan->step_count; i++) {
        const struct step *step = &play.plan->steps[i];

        if (call_is_alone(step->call)) {
            gather(thread, ++round, step);
        } else if (step->thread % play.plan->threads == number) {
            call_step(thread, thread->worker, step);
        }
    }
    end_sections(thread);
    end_set(thread);
    end_other_worker(thread->seat); /* its callbacks open workers of the table */
    end_worker(thread);
    unregister_seat(thread->seat);
    current = NULL;
}

static void end_objects(void)
{
    unpin_all();
    give_up_reservations();
    for (uint32_t i = 0; i < play.register_count; i++) {
        if (count_in(&play.registers[i].state) == REGISTER_LIVE) {
            free_one(NULL, &play.registers[i]);
        }
    }
}

/* Adds the calls of this play to the counts of all plays. */
static void note_made(void)
{
    uint64_t made[CALL_COUNT];

    for (uint32_t i = 0; i < CALL_COUNT; i++) {
        made[i] = play.made[i];
        atomic_fetch_add(&watch->calls, made[i]);
    }
    cover_play(&watch->cover, play.plan, made);
}

/* Callbacks do nothing from here on, so that all can end. */
void play_end(void)
{
    play.is_ending = true;
    if (play.at_once) { /* what is known in turns only */
        play.has_trimmed = true;
        play.most_used = UINT32_MAX;
    }
    play.at_once = false;
    for (uint32_t i = 0; i < MOST_THREADS; i++) {
        play.threads[i].seat = &play.seats[0];
    }
    current = &play.threads[0];
    register_seat(current->seat);
    check_census();
    end_set(current); /* a thread's last callbacks may have taken it */
    if (play.left_worker != NULL) {
        haft_worker_close(play.left_worker);
        play.left_worker = NULL;
    }
    end_objects();
    check_capacity();
    end_export();
    end_table();
    end_other_table();
    unregister_seat(current->seat);
    expect(haft_domain_close(play.domain), HAFT_OK, "a domain could not be closed");
    end_memory();
    note_made();
    current = NULL;
}

/* A turn, and the census after it where there are few slots. */
static void take_turn(const struct step *step)
{
    current = &play.threads[step->thread % play.plan->threads];
    if (call_is_alone(step->call)) {
        call_alone(current, step);
    } else {
        call_step(current, current->worker, step);
    }
    if (play.plan->options.index_bits <= MOST_CENSUS_BITS) {
        check_census();
    }
}

/* Implicit workers close with the table. */
static void end_turns(void)
{
    set_memory_refused(false);
    end_sections(current);
    end_set(current);
    close_crowd(current);
    end_other_worker(current->seat); /* its callbacks open workers of the table */
    for (uint32_t i = 0; i < play.plan->threads; i++) {
        current = &play.threads[i];
        if (!current->is_implicit) {
            end_worker(current);
        }
    }
}

void play_in_turn(const struct plan *plan)
{
    play_begin(plan, false);
    current = &play.threads[0];
    register_seat(current->seat);
    for (uint32_t i = 0; i < plan->step_count; i++) {
        take_turn(&plan->steps[i]);
    }
    end_turns();
    unregister_seat(&play.seats[0]);
    play_end();
    if (play.is_forked) {
        _exit(0);
    }
}
