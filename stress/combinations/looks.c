/* Calls that look at objects and hold them, and those on the table as a whole. */
#include "stress/combinations/calls.h"
#include <haft/diagnose.h>
#include <string.h>

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

void step_unpin(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    (void)worker;
    struct reg *reg = find_pinned(step->at);

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

/* The line begins with the table's name, also where its end is cut off. */
void step_explain(struct thread *thread, haft_worker *worker, const struct step *step)
{
    static const haft_status statuses[] = {HAFT_FULL, HAFT_BUSY, HAFT_IN_USE, HAFT_NO_MEMORY,
                                           HAFT_FORKED};
    const haft_status status = statuses[step->at % (sizeof statuses / sizeof *statuses)];
    static const char beginning[] = TABLE_NAME ": ";
    char line[512];
    char cut[sizeof beginning + 2];

    (void)thread;
    (void)worker;
    const struct call_under_way outer = begin_call(CALL_EXPLAIN, HAFT_NIL);
    const int length = haft_table_explain(play.table, status, line, sizeof line);
    const int cut_length = haft_table_explain(play.table, status, cut, sizeof cut);

    end_call(outer);
    require_that(length > 0 && strlen(line) == (size_t)length &&
                     strncmp(line, beginning, strlen(beginning)) == 0,
                 "haft_table_explain");
    require_that(cut_length > 0 && strncmp(cut, line, strlen(beginning)) == 0 &&
                     strlen(cut) == sizeof cut - 1,
                 "haft_table_explain, cut off");
}

void step_trim(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    (void)worker;
    (void)step;
    const struct call_under_way outer = begin_call(CALL_TRIM, HAFT_NIL);

    count(&play.trimming, 1);
    uint64_t released = 0;
    const haft_status status = haft_trim(play.table, &released);

    count(&play.trimming, -1);
    end_call(outer);
    if (!play.at_once && released != 0) {
        play.has_trimmed = true;
    }
    require_that(status == HAFT_OK || (status == HAFT_BUSY && play.at_once) || lacks_memory(status),
                 "haft_trim");
}

/* Of any number of slots: some are more than the table has. */
void step_reserve_capacity(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    (void)worker;
    const uint64_t limit = haft_table_stats_get(play.table).limit;
    const uint64_t wanted = limit / 8 * step->at;
    const struct call_under_way outer = begin_call(CALL_RESERVE_CAPACITY, HAFT_NIL);
    const haft_status status = haft_reserve_capacity(play.table, wanted);

    end_call(outer);
    require_that(wanted > limit ? status == HAFT_FULL : status == HAFT_OK || lacks_memory(status),
                 "haft_reserve_capacity");
}

/* A slot that begins anew has none of the values of its former ids. */
static void check_lost_values(void)
{
    for (uint32_t index = HAFT_FIRST_INDEX; index >> play.plan->options.index_bits == 0; index++) {
        haft_id id;

        if (count_in(&play.recycled[index]) != 0 &&
            haft_id_at(play.table, index, &id) != HAFT_EXHAUSTED) {
            check_has_no_value((haft_id){word_in(&play.issued[index])},
                               "a recycled slot has a value");
        }
    }
}

/* All that were exhausted, and no others: a callback may exhaust some at the same time. */
static void check_recycled(haft_status status, uint64_t recycled, uint32_t most, uint64_t callbacks)
{
    if (play.at_once || callbacks != word_in(&play.callbacks)) {
        return;
    }
    require_that(recycled <= most, "slots were recycled that had lives left");
    require_that(status != HAFT_OK || haft_table_stats_get(play.table).exhausted == 0,
                 "slots stay exhausted");
    if (status == HAFT_OK && has_sides()) {
        check_lost_values();
    }
}

void step_recycle(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)thread;
    (void)worker;
    (void)step;
    const uint32_t most = count_in(&play.exhausted);
    const uint64_t callbacks = word_in(&play.callbacks);
    uint64_t recycled = 0;

    model_recycling();
    const struct call_under_way outer = begin_call(CALL_RECYCLE, HAFT_NIL);

    count(&play.trimming, 1);
    const haft_status status = haft_recycle_exhausted(play.table, &recycled);

    count(&play.trimming, -1);
    end_call(outer);
    model_recycled(recycled);
    check_recycled(status, recycled, most, callbacks);
    require_that(status == HAFT_OK || (status == HAFT_BUSY && play.at_once) || lacks_memory(status),
                 "haft_recycle_exhausted");
}
