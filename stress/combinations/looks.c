/* Calls that look at objects, and hold them. */
#include "stress/combinations/steps.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"
#include <haft/diagnose.h>

/* What a live register's id leads to is its object, as long as the register is not another's. */
static void check_found(const struct reg *reg, haft_id id, const void *object)
{
    if (!play.at_once && !in_callback(current) && count_in(&reg->state) == REGISTER_LIVE) {
        require_that(object != NULL, "a live object was not found");
    }
    if (!play.at_once && count_in(&reg->state) == REGISTER_ENDED && !may_live_again(id)) {
        require_that(object == NULL, "a stale id was found");
    }
    if (!play.at_once && count_in(&reg->state) == REGISTER_RECORDED) {
        require_that(object == NULL, "a recorded object was found before it was published");
    }
    const bool is_own =
        play.at_once ? count_in(&play.ids_repeat) == 0 : count_in(&reg->state) == REGISTER_LIVE;

    if (object != NULL && is_own && id.bits == id_in(reg).bits) {
        require_that(is_stamp_of(object, reg), "an id led to another object");
    }
}

/* The thread has resolved the id that was the register's. */
static void look_at(struct thread *thread, const struct reg *reg, haft_id id,
                    const struct stamp *object)
{
    check_found(reg, id, object);
    if (object != NULL && !in_callback(thread)) {
        hold(thread, object);
    }
}

void step_resolve(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    struct reg *reg = &play.registers[step->at % play.register_count];
    const haft_id id = id_in(reg);

    if (id.bits == 0 || !may_resolve(thread)) {
        return;
    }
    const struct call_under_way outer = begin_call(CALL_RESOLVE, id);
    const struct stamp *object = haft_resolve(play.view, id);

    end_call(outer);
    look_at(thread, reg, id, object);
}

#define MOST_RESOLVED 24 /* by a step: more than are fetched ahead */

void step_resolve_many(struct thread *thread, haft_worker *worker, const struct step *step)
{
    const uint32_t wanted = step->count < MOST_RESOLVED ? step->count : MOST_RESOLVED;
    haft_id ids[MOST_RESOLVED];
    void *objects[MOST_RESOLVED];
    size_t found = 0;

    (void)worker;
    if (wanted == 0 || !may_resolve(thread)) {
        return;
    }
    for (uint32_t i = 0; i < wanted; i++) {
        ids[i] = id_in(&play.registers[(step->at + i) % play.register_count]);
    }
    const struct call_under_way outer = begin_call(CALL_RESOLVE_MANY, ids[0]);
    const size_t live = haft_resolve_many(play.view, ids, objects, wanted);

    end_call(outer);
    for (uint32_t i = 0; i < wanted; i++) {
        found += objects[i] != NULL;
        look_at(thread, &play.registers[(step->at + i) % play.register_count], ids[i], objects[i]);
    }
    require_that(live == found, "haft_resolve_many returned a wrong count");
}

void step_pin(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    struct reg *reg = find_register(step->at, REGISTER_LIVE);

    if (reg == NULL || !play.plan->options.pins || !may_resolve(thread)) {
        return;
    }
    atomic_fetch_add(&reg->intents, 1);
    if (atomic_load(&reg->state) == REGISTER_LIVE) {
        const haft_id id = id_in(reg);
        const struct call_under_way outer = begin_call(CALL_PIN, id);
        const void *object = haft_pin(play.table, id);

        end_call(outer);
        check_found(reg, id, object);
        if (object != NULL) {
            atomic_fetch_add(&reg->pins, 1);
        }
    }
    atomic_fetch_sub(&reg->intents, 1);
}

/* One of the pins that are there becomes the caller's to give back. */
static bool take_pin(struct reg *reg)
{
    uint32_t pins = count_in(&reg->pins);

    while (pins != 0) {
        if (atomic_compare_exchange_weak(&reg->pins, &pins, pins - 1)) {
            return true;
        }
    }
    return false;
}

/* One of them is about to be given back. */
static void check_pins(const struct reg *reg)
{
    const uint32_t pins = haft_pins(play.table, id_in(reg));

    require_that(play.at_once ? pins != 0 : pins == count_in(&reg->pins) + 1, "haft_pins");
}

/* In turns: an id that has ended has only the pins that are known, whatever its slot has now; where
 * ids repeat, another register's, too. */
static void refuse_unpin(uint32_t at)
{
    const struct reg *reg = find_register(at, REGISTER_ENDED);

    if (reg != NULL && count_in(&reg->pins) == 0 && count_in(&play.ids_repeat) == 0) {
        expect(haft_unpin(play.table, id_in(reg)), HAFT_NOT_PINNED, "haft_unpin of a stale id");
    }
}

void step_unpin(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    (void)worker;
    struct reg *reg = find_pinned(step->at);

    if (play.plan->options.pins && !play.at_once) {
        refuse_unpin(step->at);
    }
    if (reg == NULL) {
        return;
    }
    atomic_fetch_add(&reg->intents, 1); /* so that the register keeps its id */
    if (take_pin(reg)) {
        const struct call_under_way outer = begin_call(CALL_UNPIN, id_in(reg));
        const uint64_t callbacks = current->callbacks;

        check_pins(reg);
        expect(haft_unpin(play.table, id_in(reg)), HAFT_OK, "haft_unpin");
        end_call(outer);
        require_that(current->callbacks == callbacks, "haft_unpin ran a callback");
    }
    atomic_fetch_sub(&reg->intents, 1);
}

/* At once, another thread may have ended the object since. */
static bool count_visit(haft_id id, void *object, void *arg)
{
    require_that(play.at_once || haft_resolve(play.view, id) == object,
                 "a scan's object is not its id's");
    ++*(uint32_t *)arg;
    return true;
}

void step_scan(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    (void)step;
    uint32_t visited = 0;

    if (may_resolve(thread)) {
        const struct call_under_way outer = begin_call(CALL_SCAN, HAFT_NIL);

        haft_scan(play.table, HAFT_EVERYTHING, count_visit, &visited);
        end_call(outer);
        require_that(play.at_once || in_callback(thread) || visited == count_in(&play.live),
                     "a scan's visits");
    }
}

static haft_status expected_diagnosis(const struct reg *reg)
{
    switch (count_in(&reg->state)) {
    case REGISTER_EMPTY:
        return HAFT_NO_ID;
    case REGISTER_LIVE:
        return HAFT_OK;
    case REGISTER_RESERVED:
    case REGISTER_RECORDED:
        return HAFT_RESERVED;
    default:
        return HAFT_STALE;
    }
}

/* No life comes after the one that the slot had last. */
static bool may_be_exhausted(haft_id id)
{
    const haft_id last = {word_in(&play.issued[haft_id_index(play.layout, id)])};

    return is_last_life(last);
}

/* In turns: the id that the slot has, or will have. */
static void check_id_at(uint32_t index)
{
    const haft_id issued = {word_in(&play.issued[index])};
    const uint64_t next = next_generation(index);
    haft_id id = {UINT64_MAX};
    const haft_status status = haft_id_at(play.table, index, &id);

    if (count_in(&play.owned[index]) != 0) {
        require_that((status == HAFT_OK || status == HAFT_RESERVED) && id.bits == issued.bits,
                     "haft_id_at of a slot in use");
    } else if (status == HAFT_EXHAUSTED) {
        require_that(id.bits == 0 && may_be_exhausted(issued), "haft_id_at: exhausted");
    } else {
        const uint64_t generation = haft_id_generation(play.layout, id);

        require_that((status == HAFT_STALE || status == HAFT_NEVER_ISSUED) && next != 0 &&
                         (generation == next || (generation > next && play.has_trimmed)),
                     "haft_id_at of a free slot");
    }
}

void step_diagnose(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    const struct reg *reg = &play.registers[step->at % play.register_count];
    const haft_status expected = expected_diagnosis(reg);
    const struct call_under_way outer = begin_call(CALL_DIAGNOSE, id_in(reg));
    const haft_status status = haft_diagnose(play.table, id_in(reg));

    end_call(outer);
    if (play.at_once || count_in(&reg->state) == REGISTER_CLAIMED ||
        (expected == HAFT_STALE && may_live_again(id_in(reg)))) {
        return;
    }
    if (!(expected == HAFT_STALE && status == HAFT_EXHAUSTED && may_be_exhausted(id_in(reg)))) {
        expect(status, expected, "haft_diagnose");
    }
    if (id_in(reg).bits != 0 && !in_callback(thread) && play.set.commands == NULL) {
        check_id_at((uint32_t)haft_id_index(play.layout, id_in(reg)));
    }
}
