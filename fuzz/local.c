/* haft_local beside the model: every answer and every order is known. */
#include "fuzz/play.h"
#include <haft/domain.h>
#include <haft/kit/restore.h>
#include <string.h>

static void check_counts(const struct play *play)
{
    const struct model *model = &play->model;

    must_equal(haft_local_count(play->local), model->counts[LIVE], "count");

    must_equal(haft_local_available(play->local), model_available(model), "available");
}

/* --- the way in --- */

/* The table has taken a slot for `id`: the one that it had to take? */
static void took(struct play *play, haft_id id)
{
    struct model *model = &play->model;
    const uint64_t index = haft_id_index(model->layout, id);

    must_be(index >= HAFT_FIRST_INDEX && index < model->limit, "the index is in range");
    if (!model_may_take(model, index)) {
        differ("slot %llu (%s) is taken out of turn; %llu are listed, %llu fresh",
               (unsigned long long)index, model_state_name(model->slots[index].state),
               (unsigned long long)model->listed, (unsigned long long)model->counts[FRESH]);
    }
    must_equal(id.bits, model_id(model, index, model->slots[index].generation).bits, "the new id");
    model_take(model, index);
    model_issue(model, id);
}

static void came_to_life(struct play *play, haft_id id, uint64_t value)
{
    const uint64_t index = haft_id_index(play->model.layout, id);

    model_set(&play->model, index, LIVE);
    play->model.slots[index].value = value;
    play_check_object(play, id, haft_resolve(play->view, id));
}

static void insert(struct play *play)
{
    const haft_status expected = model_take_status(&play->model, play->closing);
    const bool is_zero = play->now.x % 8 == 0;
    const uint64_t value = is_zero ? 0 : ++play->model.next_value;
    haft_id id = {UINT64_C(0x5a5a)};
    const haft_status said =
        haft_local_insert(play->local, is_zero ? NULL : object_bytes(play, value), &id);

    tell(play, "insert: %s, id %llx", haft_status_name(said), (unsigned long long)id.bits);
    must_answer(said, expected, "insert");
    if (said == HAFT_OK) {
        took(play, id);
        came_to_life(play, id, value);
    } else {
        must_equal(id.bits, UINT64_C(0x5a5a), "the id of a refused insert");
    }
}

static void insert_some(struct play *play)
{
    for (unsigned i = 0; i < play->now.y % 16u; i++) {
        insert(play);
    }
}

static void reserve(struct play *play)
{
    const haft_status expected = model_take_status(&play->model, play->closing);
    void *object = NULL;
    haft_id id = HAFT_NIL;
    const haft_status said = haft_local_reserve(play->local, &id, &object);

    tell(play, "reserve: %s, id %llx", haft_status_name(said), (unsigned long long)id.bits);
    must_answer(said, expected, "reserve");
    if (said == HAFT_OK) {
        took(play, id);
        must_answer(haft_local_diagnose(play->local, id), HAFT_RESERVED, "diagnose");
        must_be(haft_resolve(play->view, id) == NULL, "a reserved id does not resolve");
    }
}

static void settle_reservation(struct play *play, bool publishes)
{
    struct model *model = &play->model;
    const uint64_t index = model_find(model, TAKEN, play->now.y);

    if (index == 0) {
        return;
    }
    const haft_id id = model_id(model, index, model->slots[index].generation);

    tell(play, "%s %llx", publishes ? "publish" : "abort", (unsigned long long)id.bits);
    if (publishes) {
        const uint64_t value = ++model->next_value;
        char *slot = play->view.base + index * play->view.stride;

        memcpy(slot + sizeof(uint64_t), object_bytes(play, value), play->setup.object_size);
        haft_local_publish(play->local, id);
        came_to_life(play, id, value);
    } else {
        haft_local_abort(play->local, id);
        model_end(model, index);
        model_settle(model, index);
    }
}

static void publish(struct play *play)
{
    settle_reservation(play, true);
}

static void abort_one(struct play *play)
{
    settle_reservation(play, false);
}

/* --- the way out --- */

/* While it closes, the table ends what on_destroy has published once all others have ended. */
static void begin_again(struct play *play)
{
    for (uint64_t i = play->cleared_to; i < play->model.used; i++) {
        must_be(play->model.slots[i].state != LIVE, "no object is passed over");
    }
    play->cleared_to = HAFT_FIRST_INDEX;
}

/* As table and model go on after a life, with the destructor in between if there is one. */
void on_destroy(void *object, haft_id id, void *arg)
{
    struct play *play = arg;
    struct model *model = &play->model;
    struct slot *slot = model_slot(model, id);

    tell(play, "  on_destroy %llx", (unsigned long long)id.bits);
    if (play->kind == SHARED) {
        on_reclaim(object, id, NULL, play);
        return;
    }
    must_be(play->destroying == 0, "on_destroy does not run within itself");
    if (play->clearing && (slot == NULL || slot->state != ENDING)) {
        const uint64_t index = haft_id_index(model->layout, id);

        if (play->closing && index < play->cleared_to) {
            begin_again(play);
        }
        must_be(index >= play->cleared_to, "objects are cleared in order of index");
        for (uint64_t i = play->cleared_to; i < index; i++) {
            must_be(model->slots[i].state != LIVE, "no object is passed over");
        }
        play->cleared_to = index + 1;
        must_be(model_is_live(model, id), "what is cleared is live");
        model_end(model, index);
    }
    must_be(slot != NULL && slot->state == ENDING, "on_destroy is for what has just ended");
    must_equal(model_next(model, haft_id_generation(model->layout, id)), slot->generation,
               "generation in on_destroy");
    must_be(object_is(play, object, slot->value), "the object is intact in on_destroy");
    must_be(haft_resolve(play->view, id) == NULL, "the id is stale in on_destroy");
    check_counts(play);
    play->destroying++;
    play_nested(play);
    play->destroying--;
    must_be(slot->state == ENDING && object_is(play, object, slot->value),
            "the object is intact until on_destroy returns");
    model_settle(model, haft_id_index(model->layout, id));
}

/* The life of `id` ends: here if nothing is called, in on_destroy else. */
static void free_one(struct play *play)
{
    struct model *model = &play->model;
    const haft_id id = play_id(play);
    const uint64_t index = haft_id_index(model->layout, id);
    const haft_status expected = model_diagnose(model, id);
    const bool was_clearing = play->clearing;

    if (expected == HAFT_OK) {
        model_end(model, index);
    }
    tell(play, "free %llx: %s", (unsigned long long)id.bits, haft_status_name(expected));
    play->clearing = false;
    const haft_status said = haft_local_free(play->local, id);

    play->clearing = was_clearing;
    if (expected != HAFT_OK) {
        play_must_diagnose(play, id, said, "free");
    } else {
        must_answer(said, HAFT_OK, "free");
    }
    if (expected == HAFT_OK && !play->setup.destroys) {
        model_settle(model, index);
    }
    if (expected == HAFT_OK) {
        must_be(model->slots[index].ended != 0, "the object is gone");
    }
    /* Unless ids repeat, and an on_destroy that came later has inserted another. */
    must_be(play->setup.destroys || !model_is_live(model, id), "nothing has its id");
    must_be(model_is_live(model, id) == haft_is_live(play->view, id),
            "a freed object does not resolve");
}

static void free_some(struct play *play)
{
    for (unsigned i = 0; i < play->now.y % 8u; i++) {
        free_one(play);
    }
}

/* The objects to clear when no destructor is called for them. */
static void clear_rest(struct play *play)
{
    struct model *model = &play->model;

    for (; play->cleared_to < model->used; play->cleared_to++) {
        const enum slot_state state = model->slots[play->cleared_to].state;

        must_be(state != LIVE || !play->setup.destroys, "on_destroy for all that was cleared");
        if (state == LIVE) {
            model_end(model, play->cleared_to);
            model_settle(model, play->cleared_to);
        }
    }
}

/* Within on_destroy: that of each object is still to come. */
static void clear_nested(struct play *play)
{
    struct model *model = &play->model;

    must_answer(haft_local_clear(play->local), HAFT_OK, "clear");
    for (uint64_t index = HAFT_FIRST_INDEX; index < model->used; index++) {
        if (model->slots[index].state == LIVE) {
            model_end(model, index);
        }
    }
}

static void clear(struct play *play)
{
    const uint64_t outer = play->cleared_to;
    const bool was_clearing = play->clearing;

    if (play->now.y % 4 != 0) {
        free_one(play);
        return;
    }
    tell(play, "clear");
    if (play->model.counts[TAKEN] != 0) {
        must_answer(haft_local_clear(play->local), HAFT_IN_USE, "clear");
        return;
    }
    if (play->destroying != 0) {
        clear_nested(play);
        return;
    }
    play->clearing = true;
    play->cleared_to = HAFT_FIRST_INDEX;
    must_answer(haft_local_clear(play->local), HAFT_OK, "clear");
    clear_rest(play);
    play->clearing = was_clearing;
    play->cleared_to = was_clearing ? outer : 0;
}

/* --- looking --- */

static void look(struct play *play)
{
    const haft_id id = play_id(play);
    const haft_status expected = model_diagnose(&play->model, id);

    tell(play, "resolve %llx: %s", (unsigned long long)id.bits, haft_status_name(expected));
    play_must_diagnose(play, id, haft_local_diagnose(play->local, id), "diagnose");
    must_be(haft_is_live(play->view, id) == (expected == HAFT_OK), "is_live");
    play_check_object(play, id, haft_resolve(play->view, id));
}

struct walk {
    struct play *play;
    uint64_t next; /* index */
    bool ends;     /* after the first */
};

static bool visit_live(haft_id id, void *object, void *arg)
{
    struct walk *walk = arg;
    struct model *model = &walk->play->model;
    const uint64_t index = haft_id_index(model->layout, id);

    must_be(model_is_live(model, id), "what is visited is live");
    for (; walk->next < index; walk->next++) {
        must_be(model->slots[walk->next].state != LIVE, "a walk leaves nothing out");
    }
    must_equal(index, walk->next++, "the order of a walk");
    play_check_object(walk->play, id, object);
    return !walk->ends;
}

static void for_each(struct play *play)
{
    struct walk walk = {play, HAFT_FIRST_INDEX, play->now.x % 4 == 0};
    const uint64_t live = play->model.counts[LIVE];
    const uint64_t visited = haft_local_for_each(play->local, visit_live, &walk);

    tell(play, "for_each: %llu", (unsigned long long)visited);
    must_equal(visited, walk.ends && live != 0 ? 1 : live, "objects visited");
}

static bool visit_slot(haft_id id, void *object, void *arg)
{
    struct walk *walk = arg;
    const struct model *model = &walk->play->model;
    const struct slot *slot = &model->slots[walk->next];
    const uint64_t generation =
        slot->state == TAKEN ? model_next(model, slot->generation) : slot->generation;

    must_equal(id.bits, model_id(model, walk->next, generation).bits, "the id that is saved");
    must_be((object != NULL) == (slot->state == LIVE), "only live slots have objects");
    walk->next++;
    return true;
}

static void for_each_slot(struct play *play)
{
    struct walk walk = {play, HAFT_FIRST_INDEX, false};
    const uint64_t visited = haft_local_for_each_slot(play->local, visit_slot, &walk);

    tell(play, "for_each_slot: %llu", (unsigned long long)visited);
    must_equal(visited, play->model.used - HAFT_FIRST_INDEX, "slots visited");
}

/* --- memory --- */

static void trim(struct play *play)
{
    const bool is_loading = play->model.is_loading && !play->closing;
    uint64_t bytes = 0;
    const haft_status said = haft_local_trim(play->local, &bytes);

    tell(play, "trim: %s, %llu bytes", haft_status_name(said), (unsigned long long)bytes);
    must_answer(said,
                is_loading                              ? HAFT_LOADING
                : play->model.wrapped && !play->closing ? HAFT_BAD_WRAP
                                                        : HAFT_OK,
                "trim");
    const bool is_due = play->model.counts[ENDING] > play->destroying;
    const uint64_t expected = is_loading || play->closing || is_due ? 0 : model_trim(&play->model);

    play->has_trimmed |= play->model.counts[FRESH] != 0;
    must_equal(bytes, expected, "bytes given back");
}

static void reserve_capacity(struct play *play)
{
    const struct model *model = &play->model;
    const uint64_t available = model_available(model);
    const uint64_t count = play->now.x % 2 == 0 ? available + play->now.y % 3 : play->now.y % 64u;
    const haft_status expected = play->closing       ? HAFT_FULL
                                 : model->is_loading ? HAFT_LOADING
                                 : count > available ? HAFT_FULL
                                                     : HAFT_OK;

    tell(play, "reserve_capacity %llu", (unsigned long long)count);
    must_answer(haft_local_reserve_capacity(play->local, count), expected, "reserve_capacity");
}

/* --- ids chosen elsewhere --- */

static void restore(struct play *play)
{
    struct model *model = &play->model;
    const haft_id id = play_id(play);
    const uint64_t index = haft_id_index(model->layout, id);
    const uint64_t value = ++model->next_value;
    haft_status expected = model_chosen_fields(model, id, model->limit);

    if (expected == HAFT_OK) {
        expected = model_restore_status(model, id, true, play->closing);
    }
    const bool reserves = play->now.y % 4 == 1; /* to be published or given up later */

    tell(play, "%s %llx: %s", reserves ? "reserve_at" : "restore", (unsigned long long)id.bits,
         haft_status_name(expected));
    must_answer(reserves ? haft_local_reserve_at(play->local, id, NULL)
                         : haft_local_restore(play->local, id, object_bytes(play, value)),
                expected, "restore");
    if (expected == HAFT_OK) {
        model_claim(model, index);
        model->slots[index].generation = haft_id_generation(model->layout, id);
        model_issue(model, id);
    }
    if (expected == HAFT_OK && reserves) {
        model_set(model, index, TAKEN);
        must_answer(haft_local_diagnose(play->local, id), HAFT_RESERVED, "diagnose");
    } else if (expected == HAFT_OK) {
        came_to_life(play, id, value);
    }
}

static void restore_free(struct play *play)
{
    struct model *model = &play->model;
    const haft_id id = play_id(play);
    const uint64_t index = haft_id_index(model->layout, id);
    const uint64_t generation = haft_id_generation(model->layout, id);
    haft_status expected = model_restore_fields(model, id, model->limit);

    if (expected == HAFT_OK) {
        expected = model_restore_status(model, id, generation == 0, play->closing);
    }
    tell(play, "restore_free %llx: %s", (unsigned long long)id.bits, haft_status_name(expected));
    must_answer(haft_local_restore_free(play->local, id), expected, "restore_free");
    if (expected == HAFT_OK) {
        model_claim(model, index);
        model->slots[index].generation = generation;
        model_settle(model, index);
    }
}

static void load(struct play *play)
{
    struct model *model = &play->model;

    if (play->depth != 0) {
        return;
    }
    tell(play, model->is_loading ? "load_end" : "load_begin");
    if (model->is_loading) {
        haft_local_load_end(play->local);
        model->is_loading = false;
        model_rebuild(model);
    } else {
        haft_local_load_begin(play->local);
        model->is_loading = true;
        model->listed = 0;
    }
}

/* --- the whole --- */

void local_open(struct play *play)
{
    const struct setup *setup = &play->setup;
    const haft_local_options options = {
        .capacity = setup->capacity,
        .object_size = setup->object_size,
        .object_alignment = setup->object_alignment,
        .layout = setup->layout,
        .tag = setup->tag,
        .first_generation = setup->first_generation,
        .reuse = setup->reuse,
        .min_free = setup->min_free,
        .wrap = setup->wrap,
        .pins = setup->pins,
        .will_share = true,
        .on_destroy = setup->destroys ? on_destroy : NULL,
        .destroy_arg = play,
    };

    must_answer(haft_local_open(&options, &play->local), HAFT_OK, "local_open");
    play->view = haft_local_view(play->local);
    model_slots(&play->model, play->view.mask + 1);
}

void local_check(struct play *play)
{
    check_counts(play);
    for_each(play);
    for_each_slot(play);
    play_check_ids(play);
    sides_check(play);
}

#define FIRST_BESIDE 208 /* codes from here on are those of sides.c */

void local_step(struct play *play)
{
    static void (*const steps[32])(struct play * play) = {
        insert,       insert,        insert,
        insert_some,  insert,        free_one,
        free_one,     free_one,      free_one,
        free_some,    reserve,       reserve,
        publish,      abort_one,     look,
        look,         look,          trim,
        trim,         restore,       restore,
        restore_free, load,          clear,
        for_each,     for_each_slot, reserve_capacity,
        local_share,  free_one,      insert,
        insert_some,  look,
    };

    if (play->model.is_loading && play->now.code % 8 == 0) {
        load(play); /* not for long: much is refused meanwhile */
    }
    if (play->now.code >= FIRST_BESIDE) {
        sides_step(play);
    } else {
        steps[play->now.code % 32](play);
    }
    if (play->kind == LOCAL) {
        check_counts(play);
    }
}

void local_close(struct play *play)
{
    sides_close(play);
    tell(play, "close");
    play->closing = true;
    play->clearing = true;
    play->cleared_to = HAFT_FIRST_INDEX;
    play->model.is_loading = false;
    haft_local_close(play->local);
    must_be(!play->setup.destroys || play->model.counts[LIVE] == 0,
            "close calls on_destroy for all objects");
    if (play->domain != NULL) {
        must_answer(haft_domain_close(play->domain), HAFT_OK, "domain_close");
    }
}
