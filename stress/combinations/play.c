/* A plan from opening to closing, by one thread or by several: see play.h. */
#include "stress/combinations/play.h"
#include "stress/combinations/alone.h"
#include "stress/combinations/calls.h"
#include "stress/combinations/census.h"
#include "stress/combinations/counted_table.h"
#include "stress/combinations/crowd.h"
#include "stress/combinations/ending.h"
#include "stress/combinations/exports.h"
#include "stress/combinations/gathering.h"
#include "stress/combinations/lives.h"
#include "stress/combinations/memory.h"
#include "stress/combinations/opening.h"
#include "stress/combinations/other_table.h"
#include "stress/combinations/progress.h"
#include "stress/combinations/sets.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/watch.h"
#include "stress/combinations/workers.h"
#include <string.h>
#include <unistd.h>

#define MOST_CENSUS_BITS 6 /* of indices, for a census after each turn */

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
    begin_worker(current);
    for (uint32_t i = 0; i < play.plan->options.filled && insert_one(current->worker, i); i++) {
    }
    end_worker(current);
    current = NULL;
}

void play_begin(const struct plan *plan, bool at_once)
{
    play.plan = plan;
    play.at_once = at_once;
    play.is_ending = play.is_closing = play.is_shared_again = play.has_forked = false;
    play.callbacks = play.stamps = play.grace_periods = 0;
    memset(play.made, 0, sizeof play.made);
    play.reclaim_step = 0;
    begin_gathering();
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
    begin_counted_table();
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
            gather(thread, ++round, step, call_alone);
        } else if (step->thread % play.plan->threads == number) {
            call_step(thread, thread->worker, step);
        }
    }
    end_sections(thread);
    end_set(thread);
    end_counted_holds(thread);
    end_other_worker(thread->seat); /* its callbacks open workers of the table */
    end_worker(thread);
    unregister_seat(thread->seat);
    current = NULL;
}

static void end_objects(void)
{
    unpin_all();
    give_up_reservations(current);
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
    end_objects();
    check_capacity();
    end_export();
    end_counted_table(); /* its steps look at the table */
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

static void end_turns(void)
{
    set_memory_refused(false);
    end_sections(current);
    end_set(current);
    close_crowd(current);
    for (uint32_t i = 0; i < play.plan->threads; i++) {
        end_counted_holds(&play.threads[i]);
    }
    end_other_worker(current->seat); /* its callbacks open workers of the table */
    for (uint32_t i = 0; i < play.plan->threads; i++) {
        current = &play.threads[i];
        end_worker(current);
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
}
