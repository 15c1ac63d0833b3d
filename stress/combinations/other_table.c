/*
 * The domain's other table, in plans that have one.  Its on_reclaim makes the plan's calls on the
 * table that is played; the callbacks of that one insert and free in the other.
 */
#include "stress/combinations/other_table.h"
#include "stress/combinations/calls.h"
#include "stress/combinations/memory.h"
#include "stress/combinations/steps.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"
#include "stress/combinations/workers.h"
#include <string.h>

#define CAPACITY (MOST_IN_OTHER - 4) /* so that it may be full */
#define CLAIMED 1                    /* in place of an id: an insertion under way has the cell */

static bool is_of_other(const struct stamp *object)
{
    return object->canary == object->value * CANARY && object->value != 0 &&
           object->value < word_in(&play.other.stamps);
}

static void reclaim_of_other(void *object, haft_id id, haft_worker *worker, void *arg)
{
    require_that(arg == &play.other, "on_reclaim's argument");
    require_that(worker != NULL, "on_reclaim's worker");
    require_that(is_of_other(object), "an object of the other table");
    require_that(!haft_is_live(play.other.view, id),
                 "on_reclaim for a live object of the other table");
    memset(object, 0xdd, sizeof(struct stamp));
    atomic_fetch_add_explicit(&play.other.reclaims, 1, memory_order_relaxed);
    call_in_reclaim(NULL);
}

void begin_other_table(void)
{
    const haft_table_options options = {
        .name = "other",
        .capacity = CAPACITY,
        .object_size = sizeof(struct stamp),
        .on_reclaim = reclaim_of_other,
        .reclaim_arg = &play.other,
        .allocator = heap_of_plan(),
    };

    memset(&play.other, 0, sizeof play.other);
    if (play.plan->options.other_table != 0) {
        require_that(haft_table_open(play.domain, &options, &play.other.table) == HAFT_OK,
                     "haft_table_open of the other table");
        play.other.stamps = 1;
        play.other.view = haft_table_view(play.other.table);
    }
}

void end_other_table(void)
{
    struct other_table *other = &play.other;

    if (other->table == NULL) {
        return;
    }
    require_that(haft_domain_close(play.domain) == HAFT_IN_USE, "a domain closed beside a table");
    require_that(haft_table_stats_get(other->table).freed == word_in(&other->frees) &&
                     haft_table_stats_get(other->table).live == count_in(&other->live),
                 "the statistics of the other table");
    require_that(haft_table_close(other->table) == HAFT_OK, "haft_table_close of the other table");
    require_that(word_in(&other->reclaims) == word_in(&other->frees) + count_in(&other->live),
                 "on_reclaim did not run once for each object of the other table");
    other->table = NULL;
}

/* --- workers --- */

static haft_worker *worker_for(const struct thread *thread)
{
    struct seat *seat = thread->seat;

    if (seat->other_worker == NULL && !in_callback(thread) &&
        is_done(haft_worker_open(play.other.table, &seat->other_worker), "haft_worker_open")) {
        seat->other_lift = note_worker_opened(seat);
    }
    return seat->other_worker;
}

void end_other_worker(struct seat *seat)
{
    if (seat->other_worker != NULL) {
        note_worker_closing(seat, seat->other_lift);
        expect(haft_worker_close(seat->other_worker), HAFT_OK, "haft_worker_close");
        seat->other_worker = NULL;
        note_worker_closed(seat, seat->other_lift);
    }
}

/* --- calls --- */

static _Atomic(uint64_t) *claim_cell(uint32_t at)
{
    for (uint32_t i = 0; i < MOST_IN_OTHER; i++) {
        _Atomic(uint64_t) *cell = &play.other.ids[(at + i) % MOST_IN_OTHER];
        uint64_t empty = 0;

        if (atomic_compare_exchange_strong_explicit(cell, &empty, CLAIMED, memory_order_relaxed,
                                                    memory_order_relaxed)) {
            return cell;
        }
    }
    return NULL;
}

/* An id of its objects, for the caller alone; HAFT_NIL if there is none. */
static haft_id take_id(uint32_t at)
{
    for (uint32_t i = 0; i < MOST_IN_OTHER; i++) {
        _Atomic(uint64_t) *cell = &play.other.ids[(at + i) % MOST_IN_OTHER];
        uint64_t id = word_in(cell);

        if (id > CLAIMED && atomic_compare_exchange_strong_explicit(
                                cell, &id, 0, memory_order_relaxed, memory_order_relaxed)) {
            return (haft_id){id};
        }
    }
    return HAFT_NIL;
}

static haft_status insert(haft_worker *worker, haft_id *id)
{
    const uint64_t serial = atomic_fetch_add_explicit(&play.other.stamps, 1, memory_order_relaxed);
    const struct stamp stamp = {serial, serial * CANARY};

    return haft_insert(worker, &stamp, id);
}

/* HAFT_FULL is wrong for certain only if no other thread and no callback could have changed the
 * count during the call; inside a callback, the call around it may hold a slot. */
static bool may_refuse(haft_status status, uint32_t before, uint64_t callbacks)
{
    const bool count_is_exact =
        !play.at_once && !in_callback(current) && callbacks == word_in(&play.callbacks);

    return status == HAFT_BUSY || lacks_memory(status) ||
           (status == HAFT_FULL && (before >= CAPACITY || !count_is_exact));
}

static void check_refusal(haft_status status, uint32_t before, uint64_t callbacks)
{
    if (!may_refuse(status, before, callbacks)) {
        fail("an insertion into the other table", "%s with %u", haft_status_name(status), before);
    }
}

haft_status insert_in_other(struct thread *thread, uint32_t at)
{
    struct other_table *other = &play.other;

    if (other->table == NULL) {
        return HAFT_OK;
    }
    haft_worker *own = worker_for(thread);
    _Atomic(uint64_t) *cell = own != NULL ? claim_cell(at) : NULL;

    if (cell == NULL) {
        return HAFT_OK;
    }
    const uint64_t callbacks = word_in(&play.callbacks);
    const uint32_t before = count_in(&other->live);
    const struct call_under_way outer = begin_call(CALL_OTHER_INSERT, HAFT_NIL);
    haft_id id = HAFT_NIL;
    const haft_status status = insert(own, &id);

    end_call(outer);
    if (status == HAFT_OK) {
        count(&other->live, 1);
    } else {
        check_refusal(status, before, callbacks);
    }
    atomic_store_explicit(cell, id.bits, memory_order_relaxed);
    return status;
}

void step_other_insert(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    for (uint32_t i = 0; i < step->count && i < MOST_IN_OTHER; i++) {
        insert_in_other(thread, step->at);
    }
}

static void free_in_other(struct thread *thread, haft_id id)
{
    struct other_table *other = &play.other;
    haft_worker *own = play.plan->options.other_table == 1 ? worker_for(thread) : NULL;
    const struct stamp *object = may_resolve(thread) ? haft_resolve(other->view, id) : NULL;

    require_that(!may_resolve(thread) || (object != NULL && is_of_other(object)),
                 "a live object of the other table");
    count(&other->live, -1);
    atomic_fetch_add_explicit(&other->frees, 1, memory_order_relaxed);
    const struct call_under_way outer = begin_call(CALL_OTHER_FREE, HAFT_NIL);

    require_that((own != NULL ? haft_free(own, id) : haft_table_free(other->table, id)) == HAFT_OK,
                 "a free in the other table");
    end_call(outer);
}

void step_other_free(struct thread *thread, haft_worker *worker, const struct step *step)
{
    haft_id id;

    (void)worker;
    for (uint32_t i = 0; play.other.table != NULL && i < step->count; i++) {
        id = take_id(step->at);
        if (id.bits == 0) {
            return;
        }
        free_in_other(thread, id);
    }
}
