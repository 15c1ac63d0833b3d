/* The model of haft_local's ways with memory: ids restored, memory given back. */
#include "fuzz/model.h"
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define COARSE_PAGES 16
#define RUN_PAGE 4096u /* of a run, on every system */
#define MOST_IN_HEAP (128u << 10)

/* --- runs --- */

size_t model_usual_alignment(uint64_t object_size)
{
    const size_t most = _Alignof(max_align_t) > 8 ? _Alignof(max_align_t) : 8;
    const uint64_t power = object_size & (~object_size + 1);

    return power < 8 ? 8 : power < most ? (size_t)power : most;
}

void model_run_setup(struct model *model, size_t object_size, size_t alignment, bool pins)
{
    const uint64_t page = RUN_PAGE;
    const size_t asked = alignment != 0 ? alignment : model_usual_alignment(object_size);
    const uint64_t step = asked > sizeof(uint64_t) ? asked : sizeof(uint64_t);
    const uint64_t size = pins ? (object_size + 7) / 8 * 8 + sizeof(uint64_t) : object_size;
    const uint64_t stride = (sizeof(uint64_t) + size + step - 1) / step * step;

    model->bytes_before = step - sizeof(uint64_t);
    model->stride = stride;
    while ((model->bytes_before != 0 || (stride << model->run_shift) % page != 0) &&
           stride << model->run_shift < COARSE_PAGES * page) {
        model->run_shift++;
    }
}

void model_slots(struct model *model, uint64_t slots)
{
    model->stays = model->bytes_before + slots * model->stride <= MOST_IN_HEAP;
}

static uint64_t first_of(const struct model *model, uint64_t run)
{
    return run << model->run_shift;
}

static uint64_t end_of(const struct model *model, uint64_t run)
{
    const uint64_t end = first_of(model, run + 1);

    return end < model->limit ? end : model->limit;
}

static uint64_t run_of(const struct model *model, uint64_t index)
{
    return index >> model->run_shift;
}

/* The whole pages of the runs from `run` to `last`. */
static uint64_t bytes_of(const struct model *model, uint64_t run, uint64_t last)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t first = model->bytes_before + first_of(model, run) * model->stride;
    const uint64_t begin = (first + page - 1) / page * page;
    const uint64_t end = (model->bytes_before + end_of(model, last) * model->stride) / page * page;

    return end > begin ? end - begin : 0;
}

/* How many slots of a run are in one of two states. */
static uint64_t count(const struct model *model, uint64_t run, enum slot_state a, enum slot_state b)
{
    uint64_t found = 0;

    for (uint64_t i = first_of(model, run); i < end_of(model, run); i++) {
        found += model->slots[i].state == a || model->slots[i].state == b;
    }
    return found;
}

/* Runs in question: beyond the marks, and below what is used. */
static bool is_whole(const struct model *model, uint64_t run)
{
    return run > run_of(model, HAFT_FIRST_INDEX - 1) && first_of(model, run + 1) <= model->used;
}

/* --- trim --- */

/* Whether one of the min_free slots freed last is in the run. */
static bool is_kept(const struct model *model, uint64_t run)
{
    const uint64_t from = model->listed > model->min_free ? model->listed - model->min_free : 0;

    for (uint64_t i = from; model->min_free != 0 && i < model->listed; i++) {
        if (run_of(model, model->list[i]) == run) {
            return true;
        }
    }
    return false;
}

/* All slots go on at the highest next generation among them. */
static void give_back(struct model *model, uint64_t run)
{
    uint64_t floor = 0;

    for (uint64_t i = first_of(model, run); i < end_of(model, run); i++) {
        floor = model->slots[i].generation > floor ? model->slots[i].generation : floor;
    }
    for (uint64_t i = first_of(model, run); i < end_of(model, run); i++) {
        model_set(model, i, FRESH);
        model->slots[i].generation = floor;
    }
}

uint64_t model_trim(struct model *model)
{
    static uint32_t runs[MOST_SLOTS];
    uint64_t chosen = 0;
    uint64_t bytes = 0;
    uint64_t kept = 0;

    for (uint64_t run = 0;
         !model->wrapped && !model->stays && run <= run_of(model, model->used - 1); run++) {
        const uint64_t slots = end_of(model, run) - first_of(model, run);

        if (is_whole(model, run) && count(model, run, FREE, FRESH) == slots &&
            count(model, run, FREE, FREE) != 0 && !is_kept(model, run)) {
            runs[chosen++] = (uint32_t)run;
        }
    }
    for (uint64_t i = 0, first = 0; i < chosen; i++) {
        give_back(model, runs[i]);
        if (i + 1 == chosen || runs[i + 1] != runs[i] + 1) { /* neighbours go together */
            bytes += bytes_of(model, runs[first], runs[i]);
            first = i + 1;
        }
    }
    for (uint64_t i = 0; i < model->listed; i++) {
        if (model->slots[model->list[i]].state == FREE) {
            model->list[kept++] = model->list[i];
        }
    }
    model->listed = kept;
    return bytes;
}

/* --- restore --- */

haft_status model_restore_fields(const struct model *model, haft_id id, uint64_t end)
{
    const unsigned width =
        (unsigned)model->layout.index_bits + model->layout.generation_bits + model->layout.tag_bits;

    if (haft_id_is_nil(id)) {
        return HAFT_NO_ID;
    }
    if (id.bits > haft_field_max(width) || haft_id_index(model->layout, id) < HAFT_FIRST_INDEX) {
        return HAFT_MALFORMED;
    }
    if (haft_id_tag(model->layout, id) != model->tag) {
        return HAFT_FOREIGN;
    }
    return haft_id_index(model->layout, id) < end ? HAFT_OK : HAFT_OUT_OF_RANGE;
}

haft_status model_chosen_fields(const struct model *model, haft_id id, uint64_t end)
{
    const haft_status fields = model_restore_fields(model, id, end);

    if (haft_id_generation(model->layout, id) != 0) {
        return fields;
    }
    return fields == HAFT_NO_ID || fields == HAFT_FOREIGN ? fields : HAFT_MALFORMED;
}

static haft_status restore_slot(struct model *model, haft_id id)
{
    const struct slot *slot = model_slot(model, id);
    const uint64_t asked = haft_id_generation(model->layout, id);
    const bool is_untouched = slot->state == UNUSED || slot->state == FRESH;

    if (slot->state == WORN) {
        return HAFT_EXHAUSTED;
    }
    if (slot->state != FREE && !is_untouched) {
        return HAFT_OCCUPIED;
    }
    if (is_untouched && model->wraps && slot->generation == model->first) {
        return HAFT_OK;
    }
    return asked != 0 && asked < slot->generation ? HAFT_STALE : HAFT_OK;
}

haft_status model_restore_status(struct model *model, haft_id id, bool fills, bool closing)
{
    haft_status status = restore_slot(model, id);

    if (status == HAFT_OK && (closing || (fills && model_available(model) == 0))) {
        status = HAFT_FULL;
    }
    return status;
}

/* Slots that were never used since become free, to be used before all others, the lowest first. */
static void push_range(struct model *model, uint64_t first, uint64_t end)
{
    const uint64_t moved = model->is_fifo ? end - first : 0;

    for (uint64_t i = first; i < end; i++) {
        model_push(model, model->is_fifo ? i : first + (end - 1 - i));
    }
    for (uint64_t i = 0; i < moved; i++) { /* from the end to the front */
        const uint32_t last = model->list[model->listed - 1];

        memmove(model->list + 1, model->list, (size_t)(model->listed - 1) * sizeof model->list[0]);
        model->list[0] = last;
    }
}

/* A fresh run of which a slot is restored is no fresh run any more. */
static void push_fresh_of(struct model *model, uint64_t run)
{
    uint64_t first = first_of(model, run);
    uint64_t end = end_of(model, run);

    while (first < end && model->slots[first].state != FRESH) {
        first++;
    }
    while (first < end && model->slots[end - 1].state != FRESH) {
        end--;
    }
    push_range(model, first, end);
}

void model_claim(struct model *model, uint64_t index)
{
    const uint64_t used = model->used;

    model->wrapped |= model->wraps;
    if (index >= used) {
        model->used = index + 1;
        for (uint64_t i = used; i < index; i++) {
            model_set(model, i, FRESH);
        }
        if (!model->is_loading) {
            push_range(model, used, index);
        }
    } else if (model->slots[index].state == FRESH && !model->is_loading) {
        push_fresh_of(model, run_of(model, index));
    }
    model_take(model, index);
}

/* --- the list made anew --- */

void model_rebuild(struct model *model)
{
    model->listed = 0;
    for (uint64_t at = HAFT_FIRST_INDEX; at < model->used; at++) {
        const uint64_t i = model->is_fifo ? at : HAFT_FIRST_INDEX + (model->used - 1 - at);
        const uint64_t run = run_of(model, i);
        const bool is_fresh_run =
            !model->stays && is_whole(model, run) &&
            count(model, run, FRESH, FRESH) == end_of(model, run) - first_of(model, run);

        if (model->slots[i].state == FREE || (model->slots[i].state == FRESH && !is_fresh_run)) {
            model_push(model, i);
        }
    }
}
