/*
 * Sides of the table: one from its opening on, in plans that have it, and one of each thread, which
 * comes and goes.  A value knows the id that it was set for.
 */
#include "stress/combinations/sides.h"
#include "stress/combinations/memory.h"
#include "stress/combinations/steps.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"
#include <haft/diagnose.h>
#include <string.h>

#define LARGEST_VALUE 1000

/* --- sides come and go --- */

static bool is_open(const struct side *side)
{
    return side->opened != NULL;
}

static haft_status open_side(struct side *side, const haft_side_options *options)
{
    const haft_status status = haft_side_open(play.table, options, &side->opened);

    side->value_size = (uint32_t)options->value_size;
    memset(side->valued, 0, sizeof *side->valued << play.plan->options.index_bits);
    return status;
}

static void close_side(struct side *side)
{
    haft_side_close(side->opened);
    side->opened = NULL;
}

void begin_side(void)
{
    const haft_side_options options = {.value_size = sizeof(struct stamp)};

    if (play.plan->options.side) {
        require_that(open_side(&play.sides[0], &options) == HAFT_OK, "haft_side_open");
    }
}

void end_sides(void)
{
    for (uint32_t i = 0; i < MOST_SIDES; i++) {
        if (is_open(&play.sides[i])) {
            close_side(&play.sides[i]);
        }
    }
}

bool has_sides(void)
{
    bool is_any_open = false;

    for (uint32_t i = 0; i < MOST_SIDES; i++) {
        is_any_open = is_any_open || is_open(&play.sides[i]);
    }
    return is_any_open;
}

static struct side *own_side(const struct thread *thread)
{
    return &play.sides[1 + thread->number];
}

/* One that is opened while the table closes is closed at once: it would keep the table open. */
void step_side_open(struct thread *thread, haft_worker *worker, const struct step *step)
{
    static const uint16_t sizes[] = {0, sizeof(struct stamp), 40, LARGEST_VALUE};
    static const uint16_t alignments[] = {0, 8, 64, 256};
    const haft_side_options options = {.value_size = sizes[step->at % 4],
                                       .value_alignment = alignments[step->count % 4]};
    struct side *side = own_side(thread);

    (void)worker;
    if (is_open(side)) {
        return;
    }
    const struct call_under_way outer = begin_call(CALL_SIDE_OPEN, HAFT_NIL);
    const haft_status status = open_side(side, &options);

    end_call(outer);
    require_that(status == (play.plan->options.wrap ? HAFT_BAD_WRAP : HAFT_OK) ||
                     lacks_memory(status),
                 "haft_side_open");
    if (is_open(side) && play.is_closing) {
        close_side(side);
    }
}

void step_side_close(struct thread *thread, haft_worker *worker, const struct step *step)
{
    struct side *side = own_side(thread);

    (void)worker;
    (void)step;
    if (is_open(side)) {
        const struct call_under_way outer = begin_call(CALL_SIDE_CLOSE, HAFT_NIL);

        close_side(side);
        end_call(outer);
    }
}

/* --- values --- */

static char *value_in(const struct side *side, haft_id id)
{
    return haft_side_get(haft_side_entries(side->opened), id);
}

/* A stamp at either end of a value, which may be one and the same. */
static void make_value(const struct side *side, char *value, haft_id id)
{
    struct stamp stamp;

    if (side->value_size != 0) {
        value_stamp(&stamp, id);
        memcpy(value, &stamp, sizeof stamp);
        memcpy(value + side->value_size - sizeof stamp, &stamp, sizeof stamp);
    }
}

static bool is_value(const struct side *side, const char *value, haft_id id)
{
    struct stamp first, last;

    if (side->value_size == 0) {
        return true;
    }
    memcpy(&first, value, sizeof first);
    memcpy(&last, value + side->value_size - sizeof last, sizeof last);
    return is_value_stamp(&first, id) && is_value_stamp(&last, id);
}

/* Of threads at once, each has its own beside the plan's. */
static bool may_use(const struct thread *thread, const struct side *side)
{
    return (!play.at_once || side == &play.sides[0] || side == own_side(thread)) && is_open(side);
}

void check_has_no_value(haft_id id, const char *kind)
{
    /* Where ids repeat, another thread may have met the new object already. */
    const bool may_be_met = play.at_once && count_in(&play.ids_repeat) != 0;

    for (uint32_t i = 0; !may_be_met && i < MOST_SIDES; i++) {
        if (may_use(current, &play.sides[i])) {
            require_that(value_in(&play.sides[i], id) == NULL, kind);
        }
    }
}

void check_values_at_end(haft_id id)
{
    for (uint32_t i = 0; i < MOST_SIDES; i++) {
        const struct side *side = &play.sides[i];
        const char *value = may_use(current, side) ? value_in(side, id) : NULL;

        require_that(value == NULL || is_value(side, value, id), "a value in on_reclaim");
    }
}

void forget_values(uint32_t index)
{
    for (uint32_t i = 0; i < MOST_SIDES; i++) {
        play.sides[i].valued[index] = 0;
    }
}

/* A thread's own side may close before the thread has let go of what it holds. */
static void check_value(struct thread *thread, const struct side *side, const char *value,
                        haft_id id)
{
    require_that(is_value(side, value, id), "a value is another id's");
    if (!in_callback(thread) && side == &play.sides[0]) {
        hold_value(thread, (const struct stamp *)(const void *)value);
    }
}

static bool has_value(const struct side *side, haft_id id)
{
    return side->valued[haft_id_index(play.layout, id)] == id.bits;
}

struct count {
    const struct side *side;
    uint32_t visited;
};

static bool count_value(haft_id id, void *object, void *value, void *arg)
{
    struct count *counted = arg;

    require_that(object != NULL && is_value(counted->side, value, id), "a value is another id's");
    counted->visited++;
    return true;
}

/* In turns each live object that was given a value has it. */
static void check_all_values(const struct thread *thread, const struct side *side)
{
    struct count counted = {.side = side};
    uint32_t known = 0;

    const uint64_t calls = haft_side_for_each(side->opened, count_value, &counted);

    require_that(calls == counted.visited, "haft_side_for_each returned a wrong count");
    for (uint32_t i = 0; i < play.register_count; i++) {
        const struct reg *reg = &play.registers[i];

        known += count_in(&reg->state) == REGISTER_LIVE && has_value(side, id_in(reg));
    }
    require_that(play.at_once || in_callback(thread) || counted.visited == known,
                 "a walk over values");
}

static void set_value(struct thread *thread, struct side *side, const struct reg *reg)
{
    const haft_id id = id_in(reg);
    char value[LARGEST_VALUE];
    void *place = NULL;

    if (haft_resolve(play.view, id) == NULL) {
        return;
    }
    make_value(side, value, id);
    const bool had_value = value_in(side, id) != NULL;
    const struct call_under_way outer = begin_call(CALL_SIDE_SET, id);
    const haft_status status = haft_side_set(side->opened, id, value, &place);

    end_call(outer);
    if ((play.at_once && status == HAFT_BUSY) || lacks_memory(status)) {
        return;
    }
    require_that(status == HAFT_OK || status == HAFT_OCCUPIED, "haft_side_set");
    require_that(play.at_once || had_value == (status == HAFT_OCCUPIED), "haft_side_set again");
    require_that(place == value_in(side, id), "the place of a value");
    if (!play.at_once) {
        side->valued[haft_id_index(play.layout, id)] = id.bits;
    }
    check_value(thread, side, place, id);
}

/* The thread's side or the plan's, whichever is open; NULL: neither, or the thread may not
 * resolve. */
static struct side *side_for(const struct thread *thread, const struct step *step)
{
    struct side *own = own_side(thread);
    struct side *side = &play.sides[0];

    if (is_open(own) && (step->count % 2 == 0 || !is_open(side))) {
        side = own;
    }
    return is_open(side) && may_resolve(thread) ? side : NULL;
}

#define MOST_SET 16 /* by a step: the next ones too */

/* Ids that are none of the table's. */
static void refuse_values(const struct side *side)
{
    static const haft_id ids[] = {{0}, {UINT64_MAX}};

    for (uint32_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        expect(haft_side_set(side->opened, ids[i], NULL, NULL), haft_diagnose(play.table, ids[i]),
               "a value for an id of no table");
    }
}

void step_side_set(struct thread *thread, haft_worker *worker, const struct step *step)
{
    struct side *side = side_for(thread, step);
    const uint32_t most = play.at_once || step->count == 0 ? 1 : step->count;

    (void)worker;
    if (side == NULL) {
        return;
    }
    refuse_values(side);
    for (uint32_t i = 0; i < most && i < MOST_SET; i++) {
        const struct reg *reg = find_register(step->at + i, REGISTER_LIVE);

        if (reg != NULL) {
            set_value(thread, side, reg);
        }
    }
    if (step->at % 4 == 0) {
        check_all_values(thread, side);
    }
}

void step_side_find(struct thread *thread, haft_worker *worker, const struct step *step)
{
    const struct side *side = side_for(thread, step);
    const haft_id id = id_in(&play.registers[step->at % play.register_count]);
    void *object;

    (void)worker;
    if (side == NULL) {
        return;
    }
    const struct call_under_way outer = begin_call(CALL_SIDE_FIND, id);
    const char *value = haft_side_find(haft_side_entries(side->opened), play.view, id, &object);

    end_call(outer);
    require_that(value == NULL || object != NULL, "a value without its object");
    require_that(play.at_once || object != NULL || haft_resolve(play.view, id) == NULL,
                 "a side did not find a live object");
    require_that(play.at_once || object == NULL || (value != NULL) == has_value(side, id),
                 "an object has not the value that it should have");
    if (value != NULL) {
        check_value(thread, side, value, id);
    }
    if (step->at % 4 == 0) {
        check_all_values(thread, side);
    }
}
