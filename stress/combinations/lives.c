/*
 * Lives of objects: calls that begin and end them.  Each compares the answer with what the model
 * says, and notes what has changed.
 */
#include "stress/combinations/lives.h"
#include "stress/combinations/memory.h"
#include "stress/combinations/steps.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"

/* What an insertion answers that is not HAFT_OK or HAFT_FULL: `waits`, where it need not wait. */
static haft_status refusal(bool waits)
{
    return !waits                       ? HAFT_BUSY
           : in_callback(current)       ? HAFT_IN_CALLBACK
           : waits_are_refused(current) ? HAFT_IN_SECTION
                                        : HAFT_FULL;
}

void check_insertion(haft_status status, bool waits, uint32_t before, uint64_t callbacks)
{
    const struct plan_options *options = &play.plan->options;

    if (lacks_memory(status)) {
        return;
    }
    require_that(status == HAFT_OK || status == HAFT_FULL || status == refusal(waits),
                 "an insertion's answer");
    if (play.at_once || in_callback(current) || callbacks != word_in(&play.callbacks)) {
        return; /* in a callback, the call around it may have a slot in hand */
    }
    if (status == HAFT_FULL && !may_be_full(before)) {
        fail("FULL below the capacity", "%u of %u", before, options->capacity);
    }
}

static haft_status reserve(haft_worker *worker, haft_id *id, void **object, bool waits)
{
    const uint32_t before = capacity_in_use();
    const uint64_t callbacks = word_in(&play.callbacks);
    const struct call_under_way outer =
        begin_call(waits ? CALL_INSERT_WAIT : CALL_RESERVE, HAFT_NIL);
    const haft_status status =
        waits ? haft_reserve_wait(worker, id, object) : haft_reserve(worker, id, object);

    end_call(outer);
    check_insertion(status, waits, before, callbacks);
    require_that(status == HAFT_OK || (id->bits == 0 && *object == NULL), "an id of no object");
    return status;
}

static void publish(haft_worker *worker, haft_id id)
{
    const struct call_under_way outer = begin_call(CALL_PUBLISH, id);

    haft_publish(worker, id);
    end_call(outer);
}

/* Reserves, and publishes unless `state` is REGISTER_RESERVED.  False: no slot. */
static bool reserve_one(haft_worker *worker, struct reg *reg, enum register_state state, bool waits)
{
    haft_id id = HAFT_NIL;
    void *object = NULL;

    if (reserve(worker, &id, &object, waits) != HAFT_OK) {
        unclaim_register(reg);
        return false;
    }
    model_stamp(reg, object);
    if (state == REGISTER_LIVE) {
        publish(worker, id);
    }
    model_issued(reg, id, state);
    return true;
}

static haft_status insert_bytes(haft_worker *worker, const void *bytes, haft_id *id, bool waits)
{
    return waits ? haft_insert_wait(worker, bytes, id) : haft_insert(worker, bytes, id);
}

/* By haft_insert(), which copies the object, so that it is stamped before it has an id. */
static haft_status insert_copy(haft_worker *worker, struct reg *reg, haft_id *id, bool waits)
{
    const uint32_t before = capacity_in_use();
    const uint64_t callbacks = word_in(&play.callbacks);
    uint64_t bytes[4096 / sizeof(uint64_t)];

    model_stamp(reg, bytes);
    const struct call_under_way outer =
        begin_call(waits ? CALL_INSERT_WAIT : CALL_INSERT, HAFT_NIL);
    const haft_status status = insert_bytes(worker, bytes, id, waits);

    end_call(outer);
    check_insertion(status, waits, before, callbacks);
    require_that(status == HAFT_OK || id->bits == 0, "an id of no object");
    return status;
}

/* Of zeros, which become an object's bytes where no other thread can have met it yet. */
static haft_status insert_zeros(haft_worker *worker, struct reg *reg, haft_id *id)
{
    const uint32_t before = capacity_in_use();
    const uint64_t callbacks = word_in(&play.callbacks);
    const struct call_under_way outer = begin_call(CALL_INSERT, HAFT_NIL);
    const haft_status status = insert_bytes(worker, NULL, id, false);

    end_call(outer);
    check_insertion(status, false, before, callbacks);
    if (status == HAFT_OK) {
        stamp_zeros(reg, *id);
    }
    return status;
}

static bool insert_claimed(haft_worker *worker, struct reg *reg, uint32_t at, bool waits)
{
    haft_id id = HAFT_NIL;

    if (at % 2 == 0) {
        return reserve_one(worker, reg, REGISTER_LIVE, waits);
    }
    const haft_status status = at % 8 == 1 && !waits && may_stamp_zeros(current)
                                   ? insert_zeros(worker, reg, &id)
                                   : insert_copy(worker, reg, &id, waits);

    if (status != HAFT_OK) {
        unclaim_register(reg);
        return false;
    }
    model_issued(reg, id, REGISTER_LIVE);
    return true;
}

bool insert_one(haft_worker *worker, uint32_t at)
{
    struct reg *reg = claim_register(at);

    return reg != NULL && insert_claimed(worker, reg, at, false);
}

void step_insert(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    for (uint32_t i = 0; i < step->count && insert_one(worker, step->at + i); i++) {
    }
}

/* Whether the wait must end: the table has room, and no callback takes it away again. */
static bool may_wait_for_room(const struct thread *thread)
{
    const struct plan_options *options = &play.plan->options;
    const bool has_room = capacity_in_use() < options->capacity && count_in(&play.exhausted) == 0 &&
                          find_pinned(0) == NULL;

    return play.plan->reclaim_count == 0 && !must_not_wait(thread) && !is_clock(PLAN_FRAME) &&
           !options->pins && !play.memory_is_refused && (play.at_once || has_room);
}

/* In a callback, a section or an inner job no call waits. */
void step_insert_wait(struct thread *thread, haft_worker *worker, const struct step *step)
{
    struct reg *reg = NULL;
    const bool is_refused = in_callback(thread) || waits_are_refused(thread);

    if (is_refused || may_wait_for_room(thread)) {
        reg = claim_register(step->at);
    }
    if (reg != NULL && is_refused) {
        insert_claimed(worker, reg, step->at, true);
    } else if (reg != NULL) {
        expire_pointers(thread);
        const uint64_t callbacks = word_in(&play.callbacks);
        const bool inserted = insert_claimed(worker, reg, step->at, true);

        require_that(inserted || play.at_once || callbacks != word_in(&play.callbacks),
                     "a call that waits found no room");
    }
}

void step_reserve(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    struct reg *reg = claim_register(step->at);

    if (reg != NULL) {
        reserve_one(worker, reg, REGISTER_RESERVED, false);
    }
}

void step_publish(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    struct reg *reg = claim_reserved(step->at);

    if (reg != NULL) {
        publish(worker, id_in(reg));
        model_published(reg);
    }
}

void step_abort(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    struct reg *reg = claim_reserved(step->at);

    if (reg == NULL) {
        return;
    }
    const haft_id id = id_in(reg);

    model_aborted(reg); /* from here on another thread may take the register */
    const struct call_under_way outer = begin_call(CALL_ABORT, id);

    haft_abort(worker, id);
    end_call(outer);
}

/* --- ends --- */

static haft_status free_id(haft_worker *worker, haft_id id, enum call call)
{
    const struct call_under_way outer = begin_call(worker == NULL ? CALL_TABLE_FREE : call, id);
    const haft_status status =
        worker == NULL ? haft_table_free(play.table, id) : haft_free(worker, id);

    end_call(outer);
    model_refused(status != HAFT_OK);
    return status;
}

void free_one(haft_worker *worker, struct reg *reg)
{
    const haft_id id = id_in(reg);
    const haft_status status = free_id(worker, id, CALL_FREE);

    if (status == HAFT_OK) {
        model_freed(reg, id);
    } else {
        require_that(play.at_once, "a live object could not be freed");
    }
}

void step_free(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    for (uint32_t i = 0; i < step->count; i++) {
        struct reg *reg = find_register(step->at + i, REGISTER_LIVE);

        reg = reg != NULL ? reg : find_register(step->at + i, REGISTER_DOOMED);
        if (reg == NULL) {
            return;
        }
        free_one(worker, reg);
    }
}

/* Where ids repeat, one that is stale may be another object's. */
void step_free_stale(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    struct reg *reg = find_register(step->at, REGISTER_ENDED);

    if (reg != NULL && !may_live_again(id_in(reg))) {
        const haft_id id = id_in(reg);

        if (count_in(&reg->state) != REGISTER_ENDED) {
            return; /* another thread has taken it: the id may be its new object's */
        }
        const haft_status status = free_id(worker, id, CALL_FREE_STALE);

        require_that(status == HAFT_STALE || status == HAFT_EXHAUSTED ||
                         (play.at_once && status != HAFT_OK),
                     "a stale id was freed");
    }
}
