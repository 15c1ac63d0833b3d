/* What a thread is: its workers, its sections, and where it waits. */
#include "stress/combinations/calls.h"
#include "stress/combinations/watch.h"
#include <string.h>

/* --- calls under way --- */

static uint32_t bit(enum phase phase, bool is_now)
{
    return (uint32_t)is_now << phase;
}

static uint32_t phases_of_jobs(const struct seat *seat)
{
    const bool is_open = seat->job_count != 0;
    const bool is_parked = is_open && seat->jobs[seat->job_count - 1].is_park;

    return bit(PHASE_in_job, is_open && !is_parked && (seat->level == 1 || is_clock(PLAN_FRAME))) |
           bit(PHASE_in_inner_job, is_open && seat->level > 1) | bit(PHASE_parked, is_parked);
}

static uint32_t phases_of(haft_id id)
{
    const struct seat *seat = current->seat;
    const uint32_t capacity = play.plan->options.capacity;
    const uint32_t used = capacity_in_use();

    return bit(PHASE_first_use, used == 0 && word_in(&play.frees) == 0) |
           bit(PHASE_last_slot, used + 1 == capacity) | bit(PHASE_full, used >= capacity) |
           bit(PHASE_last_life, id.bits != 0 && is_last_life(id)) |
           bit(PHASE_exhausted, count_in(&play.exhausted) != 0) |
           bit(PHASE_ids_repeat, count_in(&play.ids_repeat) != 0) |
           bit(PHASE_trimming, count_in(&play.trimming) != 0) |
           bit(PHASE_closing, play.is_closing) | bit(PHASE_shared_again, play.is_shared_again) |
           bit(PHASE_left_worker, play.left_worker != NULL) |
           bit(PHASE_budget_spent, shim_budget_is_spent(play.table)) |
           bit(PHASE_no_memory, play.memory_is_refused) | bit(PHASE_forked, play.is_forked) |
           bit(PHASE_in_section, seat->depth != 0) | phases_of_jobs(seat) |
           bit(PHASE_recorded, count_in(&play.set.recorders) != 0) |
           bit(PHASE_applying, count_in(&play.set.applying) != 0) |
           bit(PHASE_in_on_reclaim, seat->reclaims != 0) | bit(PHASE_in_on_fill, seat->fills != 0);
}

void note_overlaps(uint32_t call, uint32_t slot)
{
    for (uint32_t i = 0; play.at_once && slot != 0 && i < play.plan->threads; i++) {
        const struct thread *other = &play.threads[i];

        const uint64_t under_way = word_in(&other->under_way);

        if (other != current && (uint32_t)under_way == slot) {
            cover_overlap(&watch->cover, play.plan->seed, call, (uint32_t)(under_way >> 32));
        }
    }
}

void move_call(enum call call, haft_id id)
{
    const uint32_t slot = haft_id_index(play.layout, id);

    note_overlaps(call, slot);
    atomic_store_explicit(&current->under_way, (uint64_t)call << 32 | slot, memory_order_relaxed);
}

struct call_under_way begin_call(enum call call, haft_id id)
{
    const struct call_under_way outer = {word_in(&current->under_way)};

    atomic_fetch_add_explicit(&play.made[call], 1, memory_order_relaxed);
    cover_call(&watch->cover, play.plan->seed, call, phases_of(id));
    move_call(call, id);
    return outer;
}

void end_call(struct call_under_way outer)
{
    atomic_store_explicit(&current->under_way, outer.word, memory_order_relaxed);
}

void expect(haft_status answer, haft_status expected, const char *kind)
{
    if (answer != expected) {
        fail(kind, "%s, not %s", haft_status_name(answer), haft_status_name(expected));
    }
}

/* --- state --- */

bool in_callback(const struct thread *thread)
{
    return thread->seat->reclaims != 0 || thread->seat->fills != 0;
}

bool is_clock(enum plan_clock clock)
{
    return play.plan->options.clock == (uint32_t)clock;
}

bool is_qsbr(void)
{
    return is_clock(PLAN_CALLER_QSBR) || is_clock(PLAN_THREAD_QSBR);
}

bool has_sections(void)
{
    return is_clock(PLAN_CALLER_MEMB) || is_clock(PLAN_THREAD_MEMB) || is_ck();
}

bool is_ck(void)
{
    return is_clock(PLAN_CALLER_CK) || is_clock(PLAN_THREAD_CK);
}

uint32_t capacity_in_use(void)
{
    const uint32_t all = count_in(&play.live) + count_in(&play.reserved);

    return play.plan->options.exact_capacity ? all : all - count_in(&play.live_restored);
}

bool waits_are_refused(const struct thread *thread)
{
    return !is_clock(PLAN_FRAME) && (thread->seat->depth != 0 || thread->seat->level > 1);
}

bool must_not_wait(const struct thread *thread)
{
    return in_callback(thread) || waits_are_refused(thread) ||
           (play.left_worker != NULL && is_clock(PLAN_WORKERS));
}

bool may_resolve(const struct thread *thread)
{
    const struct seat *seat = thread->seat;

    return is_clock(PLAN_FRAME) || seat->depth != 0 ||
           (seat->level != 0 && (!is_clock(PLAN_WORKERS) || seat->workers != 0));
}

/* Its last look at what it holds comes before the end. */
static void leave_one_section(struct seat *seat)
{
    if (seat->depth == 1 && seat->level == 0) {
        release_held(seat);
    }
    haft_section_end(play.domain);
    seat->depth--;
}

void end_sections(struct thread *thread)
{
    struct seat *seat = thread->seat;

    check_held(seat);
    end_jobs(thread);
    while (seat->depth != 0) {
        leave_one_section(seat);
        end_jobs(thread);
    }
    release_held(seat);
}

void expire_pointers(struct thread *thread)
{
    if (!waits_are_refused(thread) && thread->seat->level <= 1) {
        release_held(thread->seat);
    }
}

static bool goes_offline(const struct seat *seat)
{
    return is_qsbr() || (is_clock(PLAN_WORKERS) && seat->workers != 0);
}

void go_offline(struct thread *thread)
{
    if (goes_offline(thread->seat)) {
        release_held(thread->seat);
        haft_thread_offline(play.domain);
        thread->seat->level = 0;
    }
}

void go_online(struct thread *thread)
{
    if (goes_offline(thread->seat)) {
        haft_thread_online(play.domain);
        thread->seat->level = seat_is_parked(thread->seat) ? 0 : 1;
    }
}

void refuse_in_section(haft_status (*call)(void), haft_status expected)
{
    const haft_table_stats before = table_state();

    expect(call(), expected, "a call in a section");
    const haft_table_stats after = table_state();

    require_that(play.at_once || memcmp(&before, &after, sizeof before) == 0,
                 "a call in a section changed something");
    check_held(current->seat);
}

/* --- workers --- */

bool lacks_memory(haft_status status)
{
    return status == HAFT_NO_MEMORY && play.memory_is_refused;
}

/* With the workers clock a thread's first worker may be refused until the end of a job whose state
 * the library had no memory to keep. */
bool is_done(haft_status status, const char *call)
{
    const struct seat *seat = current->seat;
    const bool may_lack = play.memory_is_refused || known_jobs(seat) != seat->job_count;

    require_that(status == HAFT_OK || (status == HAFT_NO_MEMORY && may_lack), call);
    return status == HAFT_OK;
}

void note_worker_opened(struct seat *seat)
{
    if (seat->workers++ == 0 && is_clock(PLAN_WORKERS) && !seat_is_parked(seat) &&
        seat->level == 0) {
        seat->level = 1;
    }
}

void note_worker_closing(struct seat *seat)
{
    if (seat->workers == 1 && is_clock(PLAN_WORKERS) && known_jobs(seat) == 0) {
        release_held(seat);
    }
}

void note_worker_closed(struct seat *seat)
{
    seat->workers--;
    settle_level(seat);
}

void forget_workers(struct seat *seat)
{
    seat->workers = seat->other_worker != NULL;
    settle_level(seat);
}

void begin_worker(struct thread *thread)
{
    if (thread->worker == NULL) {
        const struct call_under_way outer = begin_call(CALL_WORKER_OPEN, HAFT_NIL);

        const haft_status status = haft_worker_open(play.table, &thread->worker);

        end_call(outer);
        thread->is_implicit = false;
        if (is_done(status, "haft_worker_open")) {
            note_worker_opened(thread->seat);
        } else {
            thread->worker = NULL;
        }
    }
}

/*
 * Some of the plan's threads, which are one of the system in turns, may have the same implicit
 * worker.  At once, another thread may have opened the worker by now.
 */
static void forget_worker(struct thread *thread)
{
    const haft_worker *worker = thread->worker;

    thread->worker = NULL;
    for (uint32_t i = 0; !play.at_once && i < play.plan->threads; i++) {
        if (play.threads[i].worker == worker) {
            play.threads[i].worker = NULL;
        }
    }
}

void end_worker(struct thread *thread)
{
    if (thread->worker == NULL) {
        return;
    }
    const struct call_under_way outer = begin_call(CALL_WORKER_CLOSE, HAFT_NIL);

    note_worker_closing(thread->seat);
    expect(haft_worker_close(thread->worker), HAFT_OK, "haft_worker_close");
    note_worker_closed(thread->seat);
    end_call(outer);
    forget_worker(thread);
}

/* One thread of the system has one implicit worker. */
void step_worker_current(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (thread->seat->has_begun && thread->worker == NULL && !play.is_closing && !play.at_once) {
        const struct call_under_way outer = begin_call(CALL_WORKER_CURRENT, HAFT_NIL);
        const haft_status status = haft_worker_current(play.table, &thread->worker);
        bool is_first = true;

        end_call(outer);
        if (!is_done(status, "haft_worker_current")) {
            thread->worker = NULL;
            return;
        }
        for (uint32_t i = 0; i < play.plan->threads; i++) {
            const struct thread *other = &play.threads[i];

            is_first = is_first && (other == thread || other->worker != thread->worker);
        }
        thread->is_implicit = true;
        if (is_first) {
            note_worker_opened(thread->seat);
        }
    }
}

void step_quiescent(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)step;
    const bool is_inner = thread->seat->level > 1;
    const bool inside = waits_are_refused(thread);

    if (must_not_wait(thread) && !inside) {
        return;
    }
    expire_pointers(thread);
    const struct call_under_way outer = begin_call(CALL_QUIESCENT, HAFT_NIL);

    expect(haft_worker_quiescent(worker), inside && !is_inner ? HAFT_IN_SECTION : HAFT_OK,
           "haft_worker_quiescent");
    end_call(outer);
}

void step_flush(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    (void)step;
    const struct call_under_way outer = begin_call(CALL_FLUSH, HAFT_NIL);

    expect(haft_worker_flush(worker), HAFT_OK, "haft_worker_flush");
    end_call(outer);
}

void step_offline_online(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    const struct seat *seat = thread->seat;

    if (goes_offline(seat) && !in_callback(thread) && seat->level <= 1) {
        const struct call_under_way outer = begin_call(CALL_OFFLINE_ONLINE, HAFT_NIL);

        go_offline(thread);
        go_online(thread);
        end_call(outer);
    }
}

static haft_status wait_for_domain(void)
{
    return haft_domain_wait(play.domain);
}

void step_wait(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (waits_are_refused(thread)) {
        const struct call_under_way outer = begin_call(CALL_WAIT, HAFT_NIL);

        refuse_in_section(wait_for_domain, HAFT_IN_SECTION);
        end_call(outer);
    } else if (!must_not_wait(thread)) {
        expire_pointers(thread);
        const struct call_under_way outer = begin_call(CALL_WAIT, HAFT_NIL);
        const haft_domain_stats before = haft_domain_stats_get(play.domain);
        const haft_status status = haft_domain_wait(play.domain);

        end_call(outer);
        require_that(status == HAFT_OK || (status == HAFT_BUSY && is_clock(PLAN_FRAME)),
                     "haft_domain_wait");
        if (status == HAFT_OK) {
            check_grace(&before);
        }
    }
}

/* --- sections --- */

void step_section_begin(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    if (thread->seat->is_registered && !in_callback(thread)) {
        const struct call_under_way outer = begin_call(CALL_SECTION_BEGIN, HAFT_NIL);

        haft_section_begin(play.domain);
        thread->seat->depth += has_sections();
        if (!has_sections()) {
            haft_section_end(play.domain);
        }
        end_call(outer);
    }
}

void step_section_end(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    struct seat *seat = thread->seat;
    const uint32_t outside = seat->job_count != 0 ? seat->jobs[seat->job_count - 1].depth : 0;

    if (seat->depth > outside && !in_callback(thread)) {
        const struct call_under_way outer = begin_call(CALL_SECTION_END, HAFT_NIL);

        leave_one_section(seat);
        end_call(outer);
    }
}
