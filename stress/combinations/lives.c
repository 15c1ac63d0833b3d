/*
 * Lives of objects: calls that begin and end them.  Each compares the answer with what the model
 * says, and notes what has changed.
 */
#include "stress/combinations/calls.h"

/* What an insertion answers that is not HAFT_OK or HAFT_FULL: `waits`, where it need not wait. */
static haft_status refusal(bool waits)
{
    return !waits                 ? HAFT_BUSY
           : in_callback(current) ? HAFT_IN_CALLBACK
           : in_section(current)  ? HAFT_IN_SECTION
                                  : HAFT_FULL;
}

void check_insertion(haft_status status, bool waits, uint32_t before, uint64_t callbacks)
{
    const struct plan_options *options = &play.plan->options;

    if (status == HAFT_NO_MEMORY && play.is_refused) {
        return;
    }
    require_that(status == HAFT_OK || status == HAFT_FULL || status == refusal(waits),
                 "an insertion's answer");
    if (play.at_once || in_callback(current) || callbacks != word_in(&play.callbacks)) {
        return; /* in a callback, the call around it may have a slot in hand */
    }
    if (status == HAFT_FULL && before < options->capacity && count_in(&play.exhausted) == 0) {
        fail("FULL below the capacity", "%u of %u", before, options->capacity);
    }
    if (options->exact_capacity && before >= options->capacity && status != HAFT_FULL) {
        fail("an exact capacity was exceeded", "%u of %u: %s", before, options->capacity,
             haft_status_name(status));
    }
}

static enum call bare_or(const haft_worker *worker, enum call call)
{
    static const enum call bare[CALL_COUNT] = {
        [CALL_INSERT] = CALL_BARE_INSERT,   [CALL_RESERVE] = CALL_BARE_RESERVE,
        [CALL_PUBLISH] = CALL_BARE_PUBLISH, [CALL_ABORT] = CALL_BARE_ABORT,
        [CALL_FREE] = CALL_BARE_FREE,       [CALL_INSERT_WAIT] = CALL_BARE_INSERT_WAIT,
    };

    return worker == NULL && bare[call] != 0 ? bare[call] : call;
}

static haft_status reserve_bare(haft_id *id, void **object, bool waits)
{
    return waits ? bare_reserve_wait(play.table, id, object) : bare_reserve(play.table, id, object);
}

static haft_status reserve(haft_worker *worker, haft_id *id, void **object, bool waits)
{
    const uint32_t before = capacity_in_use();
    const uint64_t callbacks = word_in(&play.callbacks);
    const struct call_under_way outer =
        begin_call(bare_or(worker, waits ? CALL_INSERT_WAIT : CALL_RESERVE), HAFT_NIL);
    const haft_status status = worker == NULL ? reserve_bare(id, object, waits)
                               : waits        ? haft_reserve_wait(worker, id, object)
                                              : haft_reserve(worker, id, object);

    end_call(outer);
    check_insertion(status, waits, before, callbacks);
    return status;
}

static void publish(haft_worker *worker, haft_id id)
{
    const struct call_under_way outer = begin_call(bare_or(worker, CALL_PUBLISH), id);

    if (worker == NULL) {
        bare_publish(play.table, id);
    } else {
        haft_publish(worker, id);
    }
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

/* By haft_insert(), which copies the object, so that it is stamped before it has an id. */
static haft_status insert_copy(haft_worker *worker, struct reg *reg, haft_id *id)
{
    const uint32_t before = capacity_in_use();
    const uint64_t callbacks = word_in(&play.callbacks);
    struct stamp bytes[4096 / sizeof(struct stamp)];

    model_stamp(reg, bytes);
    const struct call_under_way outer = begin_call(bare_or(worker, CALL_INSERT), HAFT_NIL);
    const haft_status status =
        worker == NULL ? bare_insert(play.table, bytes, id) : haft_insert(worker, bytes, id);

    end_call(outer);
    check_insertion(status, false, before, callbacks);
    return status;
}

bool insert_one(haft_worker *worker, uint32_t at)
{
    struct reg *reg = claim_register(at);
    haft_id id = HAFT_NIL;

    if (reg == NULL) {
        return false;
    }
    if (at % 2 == 0) {
        return reserve_one(worker, reg, REGISTER_LIVE, false);
    }
    if (insert_copy(worker, reg, &id) != HAFT_OK) {
        unclaim_register(reg);
        return false;
    }
    model_issued(reg, id, REGISTER_LIVE);
    return true;
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

    return play.plan->reclaim_count == 0 && play.plan->fill_count == 0 && !may_not_wait(thread) &&
           !is_clock(PLAN_FRAME) && !options->pins && !play.is_refused &&
           (play.at_once || has_room);
}

/* In a callback, a section or an inner job no call waits. */
void step_insert_wait(struct thread *thread, haft_worker *worker, const struct step *step)
{
    struct reg *reg = NULL;
    const bool is_refused = in_callback(thread) || in_section(thread);

    if (is_refused || may_wait_for_room(thread)) {
        reg = claim_register(step->at);
    }
    if (reg != NULL && is_refused) {
        reserve_one(worker, reg, REGISTER_LIVE, true);
    } else if (reg != NULL) {
        pass_quiescent_point(thread);
        const uint64_t callbacks = word_in(&play.callbacks);
        const bool inserted = reserve_one(worker, reg, REGISTER_LIVE, true);

        require_that(inserted || play.at_once || callbacks != word_in(&play.callbacks),
                     "haft_reserve_wait found no room");
    }
}

void step_insert_many(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    struct reg *regs[16];
    haft_id ids[16];
    void *objects[16];
    uint32_t wanted = 0;
    haft_status why = HAFT_OK;

    while (wanted < 16 && wanted < step->count &&
           (regs[wanted] = claim_register(step->at + wanted)) != NULL) {
        wanted++;
    }
    const struct call_under_way outer = begin_call(CALL_INSERT_MANY, HAFT_NIL);
    const size_t got = haft_reserve_many(worker, ids, objects, wanted, &why);

    require_that(got <= wanted && (got == wanted) == (why == HAFT_OK), "haft_reserve_many");
    for (uint32_t i = 0; i < wanted; i++) {
        if (i < got) {
            model_stamp(regs[i], objects[i]);
        }
    }
    haft_publish_many(worker, ids, got);
    end_call(outer);
    for (uint32_t i = 0; i < wanted; i++) {
        if (i < got) {
            model_issued(regs[i], ids[i], REGISTER_LIVE);
        } else {
            unclaim_register(regs[i]);
        }
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
    const struct call_under_way outer = begin_call(bare_or(worker, CALL_ABORT), id);

    if (worker == NULL) {
        bare_abort(play.table, id);
    } else {
        haft_abort(worker, id);
    }
    end_call(outer);
}

/* --- ends --- */

static haft_status free_id(haft_worker *worker, haft_id id, enum call call)
{
    const struct call_under_way outer = begin_call(bare_or(worker, call), id);
    const haft_status status = worker == NULL ? bare_free(play.table, id) : haft_free(worker, id);

    end_call(outer);
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

    if (reg != NULL && count_in(&play.ids_repeat) == 0) {
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

void step_free_many(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    struct reg *regs[16];
    haft_id ids[16];
    haft_status statuses[16];
    uint32_t wanted = 0;

    while (wanted < 16 && wanted < step->count &&
           (regs[wanted] = find_register(step->at + wanted, REGISTER_LIVE)) != NULL) {
        ids[wanted] = id_in(regs[wanted]);
        wanted++;
    }
    const struct call_under_way outer = begin_call(CALL_FREE_MANY, wanted != 0 ? ids[0] : HAFT_NIL);

    haft_free_many(worker, ids, wanted, statuses);
    end_call(outer);
    for (uint32_t i = 0; i < wanted; i++) {
        if (statuses[i] == HAFT_OK) {
            model_freed(regs[i], ids[i]);
        }
    }
}

/* --- the rest --- */

/* Its own slot's next life, or a later one. */
static haft_id restored_id(const struct step *step)
{
    const uint32_t index = HAFT_FIRST_INDEX + step->at % play.plan->options.restore_range;
    const haft_id last = {word_in(&play.issued[index])};
    const uint64_t generation = haft_id_generation(play.layout, last) + step->count;
    const uint64_t least = play.plan->options.first_generation;

    return haft_id_pack(play.layout, index, generation < least ? least : generation,
                        play.plan->options.tag_bits != 0);
}

void step_restore(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    const haft_id id = play.plan->options.restore_range != 0 ? restored_id(step) : HAFT_NIL;
    struct reg *reg = id.bits != 0 ? claim_register(step->at) : NULL;
    struct stamp bytes[4096 / sizeof(struct stamp)];

    if (reg == NULL) {
        return;
    }
    const uint32_t before = capacity_in_use();
    const uint64_t callbacks = word_in(&play.callbacks);

    model_stamp(reg, bytes);
    const struct call_under_way outer = begin_call(CALL_RESTORE, id);
    const haft_status status = haft_restore(worker, id, bytes);

    end_call(outer);
    if (status == HAFT_OK) {
        if (play.plan->options.exact_capacity) {
            check_insertion(status, false, before, callbacks);
        }
        model_issued(reg, id, REGISTER_LIVE);
    } else {
        unclaim_register(reg);
    }
}
