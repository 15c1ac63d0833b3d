/* A side of the table, in plans that have one: a value knows the id that it was set for. */
#include "stress/combinations/calls.h"
#include <string.h>

void begin_side(void)
{
    const haft_side_options options = {.value_size = sizeof(struct stamp)};

    memset(play.valued, 0, sizeof *play.valued << play.plan->options.index_bits);
    if (play.plan->options.side) {
        require_that(haft_side_open(play.table, &options, &play.side) == HAFT_OK, "haft_side_open");
    }
}

void end_side(void)
{
    if (play.side != NULL) {
        haft_side_close(play.side);
        play.side = NULL;
    }
}

static struct stamp *value_of(haft_id id)
{
    return haft_side_get(haft_side_entries(play.side), id);
}

void check_inherits_nothing(haft_id id)
{
    /* Where ids repeat, another thread may have met the new object already. */
    if (play.side != NULL && !(play.at_once && count_in(&play.ids_repeat) != 0)) {
        require_that(value_of(id) == NULL, "a new object has a value");
    }
}

void check_value_at_end(haft_id id)
{
    const struct stamp *value = play.side != NULL ? value_of(id) : NULL;

    require_that(value == NULL || is_value_stamp(value, id), "a value in on_reclaim");
}

static void check_value(struct thread *thread, const struct stamp *value, haft_id id)
{
    require_that(is_value_stamp(value, id), "a value is another id's");
    if (!in_callback(thread)) {
        hold_value(thread, value);
    }
}

static bool has_value(haft_id id)
{
    return play.valued[haft_id_index(play.layout, id)] == id.bits;
}

static bool count_value(haft_id id, void *object, void *value, void *arg)
{
    require_that(object != NULL && is_value_stamp(value, id), "a value is another id's");
    ++*(uint32_t *)arg;
    return true;
}

/* In turns each live object that was given a value has it. */
static void check_all_values(const struct thread *thread)
{
    uint32_t visited = 0;
    uint32_t known = 0;

    const uint64_t calls = haft_side_for_each(play.side, count_value, &visited);

    require_that(calls == visited, "haft_side_for_each counts its calls");
    for (uint32_t i = 0; i < play.register_count; i++) {
        const struct reg *reg = &play.registers[i];

        known += count_in(&reg->state) == REGISTER_LIVE && has_value(id_in(reg));
    }
    require_that(play.at_once || in_callback(thread) || visited == known, "a walk over values");
}

static void set_value(struct thread *thread, const struct reg *reg)
{
    const haft_id id = id_in(reg);
    struct stamp stamp;
    void *place = NULL;

    if (haft_resolve(play.view, id) == NULL) {
        return;
    }
    value_stamp(&stamp, id);
    const bool had_value = value_of(id) != NULL;
    const struct call_under_way outer = begin_call(CALL_SIDE_SET, id);
    const haft_status status = haft_side_set(play.side, id, &stamp, &place);

    end_call(outer);
    if (play.at_once && status == HAFT_BUSY) {
        return;
    }
    require_that(status == HAFT_OK || status == HAFT_OCCUPIED, "haft_side_set");
    require_that(play.at_once || had_value == (status == HAFT_OCCUPIED), "haft_side_set again");
    require_that(place == value_of(id), "the place of a value");
    if (!play.at_once) {
        play.valued[haft_id_index(play.layout, id)] = id.bits;
    }
    check_value(thread, place, id);
}

#define MOST_SET 16 /* by a step: the next ones too */

void step_side_set(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    const uint32_t most = play.at_once || step->count == 0 ? 1 : step->count;

    if (play.side == NULL || !may_resolve(thread)) {
        return;
    }
    for (uint32_t i = 0; i < most && i < MOST_SET; i++) {
        const struct reg *reg = find_register(step->at + i, REGISTER_LIVE);

        if (reg != NULL) {
            set_value(thread, reg);
        }
    }
    if (step->at % 4 == 0) {
        check_all_values(thread);
    }
}

void step_side_find(struct thread *thread, haft_worker *worker, const struct step *step)
{
    (void)worker;
    const haft_id id = id_in(&play.registers[step->at % play.register_count]);
    void *object;

    if (play.side == NULL || !may_resolve(thread)) {
        return;
    }
    const struct call_under_way outer = begin_call(CALL_SIDE_FIND, id);
    const struct stamp *value =
        haft_side_find(haft_side_entries(play.side), play.view, id, &object);

    end_call(outer);
    require_that(value == NULL || object != NULL, "a value without its object");
    require_that(play.at_once || object != NULL || haft_resolve(play.view, id) == NULL,
                 "a side finds no object");
    require_that(play.at_once || object == NULL || (value != NULL) == has_value(id),
                 "an object has its value");
    if (value != NULL) {
        check_value(thread, value, id);
    }
    if (step->at % 4 == 0) {
        check_all_values(thread);
    }
}
