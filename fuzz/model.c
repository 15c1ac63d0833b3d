/* The model: ids, states, and the life of a slot. */
#include "fuzz/model.h"
#include <string.h>

/* --- ids --- */

haft_id model_id(const struct model *model, uint64_t index, uint64_t generation)
{
    return haft_id_pack(model->layout, index, generation, model->tag);
}

struct slot *model_slot(struct model *model, haft_id id)
{
    const uint64_t index = haft_id_index(model->layout, id);

    return index >= HAFT_FIRST_INDEX && index < MOST_SLOTS ? &model->slots[index] : NULL;
}

static bool has_generation(const struct model *model, const struct slot *slot, haft_id id)
{
    return slot->generation == haft_id_generation(model->layout, id);
}

/* The fields are the whole id: no bits above them, and the table's tag. */
static bool is_own(const struct model *model, haft_id id)
{
    const haft_id same =
        model_id(model, haft_id_index(model->layout, id), haft_id_generation(model->layout, id));

    return haft_id_equal(same, id);
}

bool model_is_live(struct model *model, haft_id id)
{
    const struct slot *slot = model_slot(model, id);

    return slot != NULL && slot->state == LIVE && has_generation(model, slot, id) &&
           is_own(model, id);
}

/* Whether the slot has had the life `asked`, which is not the one it has now. */
static bool was_issued(const struct model *model, const struct slot *slot, uint64_t asked)
{
    if (model->wrapped && slot->state != UNUSED && slot->state != FRESH) {
        return asked != 0;
    }
    return asked >= model->first && (slot->generation == 0 || asked < slot->generation);
}

haft_status model_diagnose(struct model *model, haft_id id)
{
    const unsigned width =
        (unsigned)model->layout.index_bits + model->layout.generation_bits + model->layout.tag_bits;
    const struct slot *slot = model_slot(model, id);

    if (haft_id_is_nil(id)) {
        return HAFT_NO_ID;
    }
    if (id.bits > haft_field_max(width) || haft_id_index(model->layout, id) < HAFT_FIRST_INDEX) {
        return HAFT_MALFORMED;
    }
    if (haft_id_tag(model->layout, id) != model->tag) {
        return HAFT_FOREIGN;
    }
    if (slot == NULL || haft_id_index(model->layout, id) >= model->limit) {
        return HAFT_NEVER_ISSUED;
    }
    if (has_generation(model, slot, id) && (slot->state == LIVE || slot->state == TAKEN)) {
        return slot->state == LIVE ? HAFT_OK : HAFT_RESERVED;
    }
    if (!was_issued(model, slot, haft_id_generation(model->layout, id))) {
        return HAFT_NEVER_ISSUED;
    }
    const bool is_worn = slot->state == WORN || (model->wears_early && slot->generation == 0);

    return is_worn ? HAFT_EXHAUSTED : HAFT_STALE;
}

void model_issue(struct model *model, haft_id id)
{
    model->issued[model->issues++ % MOST_ISSUED] = id;
}

uint64_t model_next(const struct model *model, uint64_t generation)
{
    const uint64_t most = haft_field_max(model->layout.generation_bits);

    return generation != most ? generation + 1 : model->wraps ? 1 : 0;
}

uint64_t model_last(const struct model *model, uint64_t generation)
{
    const uint64_t most = haft_field_max(model->layout.generation_bits);

    return generation == 0 || (generation == 1 && model->wraps) ? most : generation - 1;
}

struct slot *model_pinnable(struct model *model, haft_id id)
{
    struct slot *slot = model_slot(model, id);

    if (slot == NULL || !is_own(model, id)) {
        return NULL;
    }
    if (slot->state == RETIRED && !slot->given_up) {
        const uint64_t last = model_last(model, slot->generation);

        return last == haft_id_generation(model->layout, id) ? slot : NULL;
    }
    return slot->state == LIVE && has_generation(model, slot, id) ? slot : NULL;
}

/* --- states --- */

void model_set(struct model *model, uint64_t index, enum slot_state state)
{
    model->counts[model->slots[index].state]--;
    model->counts[state]++;
    model->slots[index].state = state;
}

const char *model_state_name(enum slot_state state)
{
    static const char *const names[] = {"never used", "fresh",  "free",    "reserved",
                                        "live",       "ending", "retired", "exhausted"};
    return names[state];
}

uint64_t model_find(const struct model *model, enum slot_state state, uint64_t from)
{
    const uint64_t slots = model->limit - HAFT_FIRST_INDEX;

    for (uint64_t i = 0; model->counts[state] != 0 && i < slots; i++) {
        const uint64_t index = HAFT_FIRST_INDEX + (from + i) % slots;

        if (model->slots[index].state == state) {
            return index;
        }
    }
    return 0;
}

uint64_t model_available(const struct model *model)
{
    return model->capacity - model->counts[LIVE] - model->counts[TAKEN] - model->counts[ENDING] -
           model->counts[WORN];
}

/* --- the way in --- */

haft_status model_take_status(const struct model *model, bool closing)
{
    if (model->is_loading) {
        return HAFT_LOADING;
    }
    return closing || model_available(model) == 0 ? HAFT_FULL : HAFT_OK;
}

static bool takes_listed(const struct model *model)
{
    return model->listed > (model->is_fifo ? model->min_free : 0);
}

bool model_may_take(const struct model *model, uint64_t index)
{
    if (takes_listed(model)) {
        return index == model->list[model->is_fifo ? 0 : model->listed - 1];
    }
    if (model->counts[FRESH] != 0) {
        return model->slots[index].state == FRESH;
    }
    return index == model->used;
}

static void unlist(struct model *model, uint64_t index)
{
    for (uint64_t i = 0; i < model->listed; i++) {
        if (model->list[i] == index) {
            model->listed--;
            memmove(&model->list[i], &model->list[i + 1],
                    (size_t)(model->listed - i) * sizeof model->list[0]);
            return;
        }
    }
}

void model_take(struct model *model, uint64_t index)
{
    if (model->slots[index].state == FREE) {
        unlist(model, index);
    }
    if (index >= model->used) {
        model->used = index + 1;
    }
    model_set(model, index, TAKEN);
}

/* --- the way out --- */

void model_end(struct model *model, uint64_t index)
{
    struct slot *slot = &model->slots[index];

    slot->generation = model_next(model, slot->generation);
    slot->ended = ++model->moment;
    slot->dead = false;
    model->wrapped |= slot->generation == 1;
    model_set(model, index, ENDING);
}

void model_push(struct model *model, uint64_t index)
{
    model_set(model, index, FREE);
    if (!model->is_loading) {
        model->list[model->listed++] = (uint32_t)index;
    }
}

void model_settle(struct model *model, uint64_t index)
{
    if (model->slots[index].generation == 0) {
        model_set(model, index, WORN);
    } else {
        model_push(model, index);
    }
}
