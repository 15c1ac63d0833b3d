/* A table that closes, or is a local one in between. */
#include "stress/combinations/ending.h"
#include "stress/combinations/calls.h"
#include "stress/combinations/crowd.h"
#include "stress/combinations/guests.h"
#include "stress/combinations/opening.h"
#include "stress/combinations/refused.h"
#include "stress/combinations/sets.h"
#include "stress/combinations/sides.h"
#include "stress/combinations/states.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"
#include "stress/combinations/workers.h"

uint32_t count_keeping_open(void)
{
    uint32_t open = play.crowd_count + (play.set.commands != NULL);

    for (uint32_t i = 0; i < play.plan->threads; i++) {
        open += play.threads[i].worker != NULL;
    }
    return open;
}

/* Whether the table has ended, as it may. */
static bool check_ending(haft_status status)
{
    const bool is_open = count_keeping_open() != 0;

    if (status == HAFT_OK) {
        require_that(!is_open, "a table was closed with a worker open");
        require_that(find_pinned(0) == NULL, "a table was closed with an object pinned");
        return true;
    }
    require_that(status == HAFT_IN_USE && (is_open || find_pinned(0) != NULL),
                 "a table could not be closed");
    return false;
}

static haft_status close_in_section(void)
{
    return haft_table_close(play.table);
}

static haft_status unshare_in_section(void)
{
    haft_local *local;

    return haft_unshare(play.table, &local);
}

/* Both are refused in a section or an inner job, which then ends. */
static void leave_section(struct thread *thread, haft_status (*call)(void))
{
    if (waits_are_refused(thread)) {
        refuse_in_section(call, count_keeping_open() != 0 ? HAFT_IN_USE : HAFT_IN_SECTION);
    }
    end_sections(thread);
}

void leave_to_close(struct thread *thread)
{
    leave_section(thread, close_in_section);
}

void go_on_after_close(haft_status status)
{
    if (check_ending(status)) {
        table_has_closed();
        begin_table();
    }
}

void give_up_reservations(struct thread *thread)
{
    struct reg *reg;

    if (count_in(&play.reserved) == 0) {
        return;
    }
    begin_worker(thread); /* it may have no memory for one */
    while (thread->worker != NULL && (reg = claim_reserved(0)) != NULL) {
        model_aborted(reg);
        haft_abort(thread->worker, id_in(reg));
    }
}

void unpin_all(void)
{
    struct reg *reg;

    while ((reg = find_pinned(0)) != NULL) {
        reg->pins--;
        expect(haft_unpin(play.table, id_in(reg)), HAFT_OK, "haft_unpin");
    }
}

uint32_t clear_for_closing(struct thread *thread)
{
    uint32_t closed = 0;

    end_sections(thread);
    end_set(thread);
    close_crowd(thread);
    give_up_reservations(thread);
    for (uint32_t i = 0; i < play.plan->threads; i++) {
        if (play.threads[i].worker != NULL) {
            end_worker(&play.threads[i]);
            closed |= UINT32_C(1) << i;
        }
    }
    unpin_all();
    return closed;
}

void open_workers_again(uint32_t closed)
{
    for (uint32_t i = 0; i < play.plan->threads; i++) {
        if ((closed >> i & 1) != 0) {
            begin_worker(&play.threads[i]);
        }
    }
}

void try_close(struct thread *thread, const struct step *step)
{
    const uint32_t closed = step->at % 2 == 0 ? clear_for_closing(thread) : 0;
    const struct call_under_way outer = begin_call(CALL_TABLE_CLOSE, HAFT_NIL);

    leave_to_close(thread);
    const haft_status status = play_close_table();

    end_call(outer);
    go_on_after_close(status);
    open_workers_again(closed);
}

static void share_again(haft_local *local)
{
    const haft_share_options options = {
        .on_reclaim = play.plan->options.on_reclaim ? reclaim_callback : NULL,
        .reclaim_arg = &play,
        .waiting_bytes = waiting_bytes_of_plan(),
        .never_wait = play.plan->options.never_wait,
    };

    expect(haft_share(local, play.domain, &options, &play.table), HAFT_OK, "haft_share");
}

/* What the table goes through while no thread has it. */
static haft_local *change(haft_local *local, uint32_t call)
{
    switch (call) {
    case CALL_REWIND:
        states_rewind(local);
        return local;
    case CALL_SAVE_LOAD:
        states_load(local);
        return local;
    case CALL_CLONE:
        return states_clone(local);
    default:
        return local;
    }
}

void try_unshare(struct thread *thread, const struct step *step)
{
    haft_local *local;

    const uint32_t closed = step->at % 2 == 0 ? clear_for_closing(thread) : 0;

    if (count_in(&play.reserved) != 0) {
        open_workers_again(closed);
        return;
    }
    const struct call_under_way outer = begin_call(step->call, HAFT_NIL);

    leave_section(thread, unshare_in_section);
    const haft_status status = play_unshare_table(&local);

    end_call(outer);
    if (check_ending(status)) {
        play.is_shared_again = true;
        play.frees_before = word_in(&play.frees);
        play.refused_before = word_in(&play.refused_frees);
        share_again(change(local, step->call));
        play.view = haft_table_view(play.table);
    }
    begin_side();
    open_workers_again(closed);
}
