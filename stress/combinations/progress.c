/* Slots that are free can be had, and what waits does so for a while only. */
#include "stress/combinations/progress.h"
#include "stress/combinations/backend.h"
#include "stress/combinations/census.h"
#include "stress/combinations/gathering.h"
#include "stress/combinations/lives.h"
#include "stress/combinations/other_table.h"
#include "stress/combinations/sets.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"
#include "stress/combinations/workers.h"
#include <unistd.h>

#define ROUNDS 6 /* of quiescent points and grace periods after which nothing waits any more */

/* --- slots that are free can be had --- */

/* The worker that the thread has open, the command set's, and its own in the other table. */
static void by_each_worker(struct thread *thread, haft_status (*call)(haft_worker *worker),
                           const char *name)
{
    haft_worker *workers[] = {thread->worker, worker_of_set(thread), thread->seat->other_worker};

    for (uint32_t i = 0; i < sizeof workers / sizeof *workers; i++) {
        require_that(workers[i] == NULL || call(workers[i]) == HAFT_OK, name);
    }
}

static void flush_own(struct thread *thread)
{
    by_each_worker(thread, haft_worker_flush, "haft_worker_flush");
}

/* How many more a table of this state must take before it may say that it has none. */
static uint64_t slots_to_be_had(void)
{
    return haft_table_stats_get(play.table).free;
}

static struct {
    uint32_t wanted;
    uint32_t got;
    uint32_t registers[MOST_REGISTERS];
} drained;

static void insert_all(struct thread *thread)
{
    const bool is_guest = thread->worker == NULL;

    begin_worker(thread);
    while (drained.got < drained.wanted) {
        struct reg *reg = find_register(drained.got, REGISTER_EMPTY);

        reg = reg != NULL ? reg : find_register(drained.got, REGISTER_ENDED);
        if (reg == NULL || !insert_one(thread->worker, register_number(reg))) {
            break;
        }
        drained.got++;
    }
    if (is_guest) {
        end_worker(thread);
    }
}

void drain(const struct step *step)
{
    by_each_thread(flush_own);
    const uint64_t callbacks = word_in(&play.callbacks);
    const uint64_t wanted = slots_to_be_had();

    drained.wanted = (uint32_t)wanted;
    drained.got = 0;
    by_thread(step->at % play.plan->threads, insert_all);
    if (drained.got < wanted && callbacks == word_in(&play.callbacks) &&
        find_register(0, REGISTER_EMPTY) != NULL) {
        fail("free slots cannot be had", "%u of %llu", drained.got, (unsigned long long)wanted);
    }
}

/* --- what waits does so for a while only --- */

void pass_grace_period(struct thread *thread)
{
    end_sections(thread);
    const haft_domain_stats before = haft_domain_stats_get(play.domain);

    if (is_clock(PLAN_FRAME)) {
        const struct call_under_way outer = begin_call(CALL_TICK, HAFT_NIL);

        require_that(haft_domain_tick(play.domain) == HAFT_OK, "haft_domain_tick");
        end_call(outer);
    } else {
        require_that(haft_domain_wait(play.domain) == HAFT_OK, "haft_domain_wait");
    }
    check_grace(&before);
}

static void quiescent_own(struct thread *thread)
{
    end_sections(thread);
    by_each_worker(thread, haft_worker_quiescent, "haft_worker_quiescent");
}

/* What drives the clock, besides the quiescent points of all workers. */
enum drive { BY_WAITING, BY_QUIESCENT_POINTS, BY_ITS_THREAD };

static void pass_round(struct thread *thread, enum drive drive)
{
    by_each_thread(quiescent_own);
    if (drive == BY_WAITING) {
        pass_grace_period(thread);
    } else if (drive == BY_ITS_THREAD) {
        go_offline(thread);
        usleep(1000);
        go_online(thread);
    }
}

static uint32_t rounds_by(enum drive drive)
{
    return drive == BY_ITS_THREAD ? 5000 : ROUNDS;
}

static uint32_t pinned_and_freed(void)
{
    uint32_t found = 0;

    for (uint32_t i = 0; play.plan->options.pins && i < play.register_count; i++) {
        const struct reg *reg = &play.registers[i];

        found += count_in(&reg->pins) != 0 && count_in(&reg->state) == REGISTER_ENDED;
    }
    return found;
}

/* The quiescent points of a worker that was told HAFT_BUSY wait, or have the clock's thread wait,
 * which comes when it comes.  Objects that are pinned excuse HAFT_BUSY, however long it lasts. */
static enum drive choose_drive(const struct step *step)
{
    if (step->count % 2 == 0 || is_clock(PLAN_FRAME) || pinned_and_freed() != 0 ||
        play.threads[step->at % play.plan->threads].worker == NULL) {
        return BY_WAITING;
    }
    if (plan_has_clock_thread(&play.plan->options)) {
        return backend_has_system() ? BY_ITS_THREAD : BY_WAITING;
    }
    return play.plan->options.never_wait ? BY_WAITING : BY_QUIESCENT_POINTS;
}

/* What try_insert() was told; HAFT_OK as well where callbacks have taken all registers, or the
 * thread has no worker. */
static haft_status tried;

static void try_insert(struct thread *thread)
{
    haft_id id;
    void *object;
    struct reg *reg = thread->worker != NULL ? claim_register(0) : NULL;

    tried = HAFT_OK;
    if (reg == NULL) {
        return;
    }
    tried = haft_reserve(thread->worker, &id, &object);
    if (tried != HAFT_OK) {
        unclaim_register(reg);
        return;
    }
    model_stamp(reg, object);
    model_issued(reg, id, REGISTER_RESERVED);
}

/* The answer is BUSY, round after round: that needs a reason. */
static void check_busy(void)
{
    const uint32_t used = capacity_in_use();
    const uint32_t capacity = play.plan->options.capacity;

    if (tried != HAFT_BUSY || pinned_and_freed() != 0) {
        return;
    }
    if (used < capacity) {
        fail("BUSY for ever, with room", "%u of %u in use", used, capacity);
    }
    fail("BUSY for ever, in a full table", "%u of %u in use", used, capacity);
}

static void try_other(struct thread *thread)
{
    tried = insert_in_other(thread, 0);
}

/* The other table stops being busy after some rounds.  If its threads have no workers, the clock
 * must be driven: no quiescent point answers its allocation failure. */
static void check_other(struct thread *thread, uint32_t number, enum drive drive)
{
    for (uint32_t i = 0; i < rounds_by(drive); i++) {
        by_thread(number, try_other);
        if (tried != HAFT_BUSY) {
            return;
        }
        pass_round(thread, drive);
    }
    fail("BUSY for ever, in another table", "%u in use", count_in(&play.other.live));
}

void check_progress(struct thread *thread, const struct step *step)
{
    if (find_register(0, REGISTER_EMPTY) == NULL) {
        return;
    }
    const uint32_t number = step->at % play.plan->threads;
    const enum drive drive = choose_drive(step);

    check_other(thread, number, drive);
    for (uint32_t i = 0; drive == BY_WAITING && i < ROUNDS; i++) {
        pass_round(thread, drive);
    }
    uint64_t callbacks;

    for (uint32_t i = 0; i < rounds_by(drive); i++) {
        callbacks = word_in(&play.callbacks);
        const uint32_t before = capacity_in_use();

        by_thread(number, try_insert);
        if (tried != HAFT_BUSY) {
            require_that(tried != HAFT_FULL || may_be_full(before) ||
                             callbacks != word_in(&play.callbacks),
                         "FULL below the capacity");
            return;
        }
        pass_round(thread, drive);
    }
    if (callbacks == word_in(&play.callbacks)) {
        check_busy();
    }
}

void check_capacity(void)
{
    begin_worker(current);
    for (uint32_t i = 0; i < play.plan->options.capacity; i++) {
        uint32_t rounds = 0;

        for (try_insert(current); tried == HAFT_BUSY && rounds < ROUNDS; try_insert(current)) {
            quiescent_own(current);
            pass_grace_period(current);
            rounds++;
        }
        if (tried == HAFT_FULL && may_be_full(i)) {
            break;
        }
        if (tried != HAFT_OK) {
            fail("slots were lost", "%u of %u can be had: %s", i, play.plan->options.capacity,
                 haft_status_name(tried));
        }
    }
    check_census();
    check_registers();
    end_worker(current);
}
