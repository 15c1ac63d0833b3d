/*
 * The shared table beside the model: looking at it, its beginning and end, its change to and from a
 * local one.
 */
#include "fuzz/play.h"
#include <haft/domain.h>
#include <haft/kit/restore.h>
#include <haft/memory.h>
#include <haft/pin.h>
#include <haft/urcu.h>
#include <stdlib.h>
#include <string.h>

/* --- looking --- */

void shared_look(struct play *play)
{
    const haft_id id = play_id(play);
    const haft_status said = haft_diagnose(play->table, id);
    void *object;

    tell(play, "resolve %llx: %s", (unsigned long long)id.bits, haft_status_name(said));
    play_must_diagnose(play, id, said, "diagnose");
    must_be(haft_is_live(play->view, id) == (said == HAFT_OK), "is_live");
    play_check_object(play, id, haft_resolve(play->view, id));
    must_equal(haft_resolve_many(play->view, &id, &object, 1), said == HAFT_OK, "resolve_many");
    play_check_object(play, id, object);
    if (haft_table_info(play->table).pins) {
        const struct slot *slot = model_pinnable(&play->model, id);

        must_equal(haft_pins(play->table, id), slot != NULL ? slot->pins : 0, "pins");
    }
}

void shared_check_stats(struct play *play)
{
    const struct model *model = &play->model;
    const haft_table_stats stats = haft_table_stats_get(play->table);

    must_equal(stats.live, model->counts[LIVE], "live");
    must_equal(stats.reserved, model->counts[TAKEN], "reserved");
    must_equal(stats.capacity, model->capacity, "capacity");
    must_equal(stats.limit, model->limit - HAFT_FIRST_INDEX, "limit");
    must_equal(stats.workers, (play->workers[0] != NULL) + (uint64_t)(play->workers[1] != NULL),
               "workers");
    must_equal(stats.live + stats.reserved + stats.retired + stats.free + stats.exhausted +
                   stats.released,
               stats.high_water, "the sum of all slots used");
    must_be(stats.exhausted >= model->counts[WORN] &&
                stats.exhausted <= shared_worn(model, HAFT_FIRST_INDEX),
            "slots exhausted");
}

/* --- memory given back --- */

/* Whether the slot is in no use, so that trimming may have had it in hand. */
static bool is_idle(const struct play *play, const struct slot *slot)
{
    switch (slot->state) {
    case RETIRED:
        return slot->generation != 0 && slot->pins == 0 && slot->ended <= shared_horizon(play);
    case UNUSED:
    case FRESH:
    case FREE:
        return true;
    default:
        return false;
    }
}

/* The highest next generation of the slots from `first` on, below `end`; 0 if one is in use. */
static uint64_t floor_of(const struct play *play, uint64_t first, uint64_t end)
{
    uint64_t floor = 0;

    for (uint64_t i = first; i < end; i++) {
        const struct slot *slot = &play->model.slots[i];

        if (!is_idle(play, slot)) {
            return 0;
        }
        floor = slot->generation > floor ? slot->generation : floor;
    }
    return floor;
}

/* Whether the slot's next life is that of the floor. */
static bool begins_at(const struct play *play, uint64_t index, uint64_t floor)
{
    haft_id next;

    must_be(haft_id_at(play->table, index, &next) != HAFT_OUT_OF_RANGE, "id_at");
    return next.bits == model_id(&play->model, index, floor).bits;
}

/*
 * Which runs the table had in hand, the model does not know, but those that begin at their floor
 * now say so: all slots of the run or none.
 */
static void raise_floor(struct play *play, uint64_t first, uint64_t end)
{
    struct model *model = &play->model;
    const uint64_t floor = floor_of(play, first, end);
    uint64_t below = 0;
    uint64_t raised = 0;

    for (uint64_t i = first; i < end && floor > 1; i++) {
        if (model->slots[i].generation < floor) {
            below++;
            raised += begins_at(play, i, floor);
        }
    }
    must_be(raised == 0 || raised == below, "all slots of a run begin at its floor, or none");
    for (uint64_t i = first; i < end && raised != 0; i++) {
        model->slots[i].generation = floor;
    }
}

void shared_trim(struct play *play)
{
    struct model *model = &play->model;
    uint64_t bytes = 0;

    if (play->depth != 0) {
        return;
    }
    const haft_status said = haft_trim(play->table, &bytes);

    tell(play, "trim: %s, %llu bytes", haft_status_name(said), (unsigned long long)bytes);
    must_answer(said, model->wraps ? HAFT_BAD_WRAP : HAFT_OK, "trim");
    play->has_trimmed = true;
    const uint64_t slots = UINT64_C(1) << model->run_shift;

    for (uint64_t first = slots; bytes != 0 && first + slots <= model->limit; first += slots) {
        if (first >= HAFT_FIRST_INDEX) {
            raise_floor(play, first, first + slots);
        }
    }
}

/* A freed object is readable until its grace period has passed, and until on_reclaim. */
static void check_retired(const struct play *play)
{
    const struct model *model = &play->model;

    for (uint64_t i = HAFT_FIRST_INDEX; model->counts[RETIRED] != 0 && i < model->limit; i++) {
        const struct slot *slot = &model->slots[i];
        const bool must_stay =
            play->setup.destroys || slot->pins != 0 || slot->ended > shared_horizon(play);

        if (slot->state == RETIRED && !slot->given_up && must_stay) {
            must_be(object_is(play, play->view.base + i * play->view.stride + sizeof(uint64_t),
                              slot->value),
                    "a freed object is intact until its grace period has passed");
        }
    }
}

void shared_check(struct play *play)
{
    shared_check_stats(play);
    check_retired(play);
    shared_scan(play);
    play_check_ids(play);
}

/* --- opening, closing, and the change to and from a local table --- */

static void open_domain(struct play *play)
{
    static bool is_registered;
    const bool is_rcu = play->setup.clock == HAFT_CLOCK_CALLER;
    const haft_domain_options options = {
        .foreign_clock = is_rcu ? haft_urcu_memb() : NULL,
        .clock = play->setup.clock,
    };

    if (play->domain == NULL) {
        must_answer(haft_domain_open(&options, &play->domain), HAFT_OK, "domain_open");
        if (is_rcu && !is_registered) {
            haft_thread_register(play->domain); /* for good: this thread is all there is */
            is_registered = true;
        }
    }
}

static void begin_sharing(struct play *play)
{
    play->kind = SHARED;
    play->view = haft_table_view(play->table);
    model_slots(&play->model, play->view.mask + 1);
    play->model.wrapped |= play->model.wraps; /* it may at any time from now on */
    must_be(haft_table_stats_get(play->table).limit < MOST_SLOTS - HAFT_FIRST_INDEX,
            "the model has room");
    play->model.limit = HAFT_FIRST_INDEX + haft_table_stats_get(play->table).limit;
}

void shared_open(struct play *play)
{
    const struct setup *setup = &play->setup;
    const haft_table_options options = {
        .capacity = setup->capacity,
        .object_size = setup->object_size,
        .object_alignment = setup->object_alignment,
        .layout = setup->layout,
        .tag = setup->tag,
        .first_generation = setup->first_generation,
        .wrap = setup->wrap,
        .pins = setup->pins,
        .on_reclaim = setup->destroys ? on_reclaim : NULL,
        .reclaim_arg = play,
    };

    open_domain(play);
    must_answer(haft_table_open(play->domain, &options, &play->table), HAFT_OK, "table_open");
    begin_sharing(play);
}

void local_share(struct play *play)
{
    const struct model *model = &play->model;
    const haft_share_options options = {.on_reclaim = on_reclaim, .reclaim_arg = play};
    const bool overrides = play->setup.destroys && (play->now.x & 1) != 0;
    const haft_status expected =
        model->is_loading && !play->closing ? HAFT_LOADING
        : play->closing || model->counts[TAKEN] + model->counts[ENDING] != 0 || sides_are_open(play)
            ? HAFT_IN_USE
            : HAFT_OK;

    if (expected == HAFT_OK && play->now.y % 2 == 0) {
        return;
    }
    open_domain(play);
    tell(play, "share: %s", haft_status_name(expected));
    must_answer(haft_share(play->local, play->domain, overrides ? &options : NULL, &play->table),
                expected, "share");
    if (expected == HAFT_OK) {
        const haft_view before = play->view;

        play->local = NULL;
        play->was_local = true;
        begin_sharing(play);
        must_be(memcmp(&before, &play->view, sizeof before) == 0, "the view stays as it was");
    }
}

static void close_workers(struct play *play)
{
    for (unsigned i = 0; i < MOST_WORKERS; i++) {
        shared_close_worker(play, &play->workers[i]);
    }
}

static bool count_slot(haft_id id, void *object, void *arg)
{
    struct model *model = arg;
    const uint64_t index = haft_id_index(model->layout, id);

    (void)object;
    model->used = index + 1;
    if (model->slots[index].state == UNUSED) {
        model_set(model, index, FRESH);
    } else if (model->slots[index].state == RETIRED) {
        model_set(model, index, model->slots[index].generation == 0 ? WORN : FREE);
    }
    return true;
}

static void take_back(struct play *play)
{
    struct model *model = &play->model;
    const bool was_local = play->was_local;

    play->kind = LOCAL;
    play->table = NULL;
    play->view = haft_local_view(play->local);
    play->setup.destroys = play->setup.destroys && was_local;
    model->is_fifo = was_local && play->setup.reuse == HAFT_REUSE_FIFO;
    model->min_free = was_local ? model->min_free : 0;
    model->used = HAFT_FIRST_INDEX;
    haft_local_for_each_slot(play->local, count_slot, model);
    for (uint64_t i = model->used; i < model->limit; i++) {
        must_be(model->slots[i].state == UNUSED, "every slot used comes back");
    }
    const uint64_t held = model->counts[LIVE] + model->counts[TAKEN] + model->counts[WORN];
    const uint64_t slots = model->limit - HAFT_FIRST_INDEX;

    model->capacity = model->capacity > held ? model->capacity : held;
    model->min_free =
        model->min_free < slots - model->capacity ? model->min_free : slots - model->capacity;
    play->setup.reuse = model->is_fifo ? HAFT_REUSE_FIFO : HAFT_REUSE_LIFO;
    model_rebuild(model);
    play->is_over = play->has_trimmed;
}

void shared_unshare(struct play *play)
{
    if (play->depth != 0 || play->now.y % 2 == 0) {
        return;
    }
    if (play->now.x % 2 == 0 && (play->workers[0] != NULL || play->workers[1] != NULL)) {
        must_answer(haft_unshare(play->table, &play->local), HAFT_IN_USE, "unshare");
        must_answer(haft_table_close(play->table), HAFT_IN_USE, "table_close");
        return;
    }
    close_workers(play);
    if (play->in_section) {
        must_answer(haft_unshare(play->table, &play->local), HAFT_IN_SECTION, "unshare");
        shared_section(play);
    }
    shared_let_go(play);
    tell(play, "unshare");
    play->closing = true;
    must_answer(haft_unshare(play->table, &play->local), HAFT_OK, "unshare");
    play->closing = false;
    for (uint64_t i = HAFT_FIRST_INDEX; play->setup.destroys && i < play->model.limit; i++) {
        must_be(play->model.slots[i].state != RETIRED || play->model.slots[i].given_up,
                "on_reclaim for all that was freed");
    }
    take_back(play);
}

void shared_close(struct play *play)
{
    if (play->in_section) {
        shared_section(play);
    }
    close_workers(play);
    play->clears = true;
    shared_let_go(play);
    tell(play, "close");
    play->closing = true;
    must_answer(play->now.x & 2 ? haft_table_clear(play->table) : HAFT_OK, HAFT_OK, "table_clear");
    must_answer(haft_table_close(play->table), HAFT_OK, "table_close");
    for (uint64_t i = HAFT_FIRST_INDEX; play->setup.destroys && i < play->model.limit; i++) {
        const struct slot *slot = &play->model.slots[i];

        must_be(slot->state != RETIRED || slot->given_up, "on_reclaim for all that was freed");
        must_be(slot->state != LIVE, "on_reclaim for all that was live");
    }
    must_answer(haft_domain_close(play->domain), HAFT_OK, "domain_close");
}
