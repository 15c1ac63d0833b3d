/* Ids restored into the shared table beside the model: they lie in the range, and nowhere else. */
#include "fuzz/play.h"
#include <haft/share.h>
#include <stdlib.h>
#include <string.h>

/* Of the range, near the slot's next generation; or any. */
static haft_id id_to_restore(struct play *play)
{
    static const uint64_t steps[8] = {0, 0, 0, 0, 1, 2, 7, UINT64_MAX};
    const struct model *model = &play->model;
    const uint64_t index = HAFT_FIRST_INDEX + play->now.y % (model->aside_end - HAFT_FIRST_INDEX);
    const uint64_t generation = model->slots[index].generation + steps[play->now.x % 8];

    if (play->now.x >> 5 == 7) {
        return play_id(play);
    }
    return model_id(model, index, generation & haft_field_max(model->layout.generation_bits));
}

/* Whether the slot may have been taken back within the call. */
static bool is_due(const struct play *play, const struct slot *slot)
{
    return slot->state == RETIRED && !play->setup.destroys && slot->pins == 0 &&
           slot->ended <= shared_horizon(play);
}

/*
 * What restoring should have said, by the slots as they are after the call: on_reclaim has run
 * before the table decided.  `*may` is said instead of HAFT_BUSY where the slot is due.
 */
static haft_status expected_of(struct play *play, haft_id id, haft_status *may)
{
    struct model *model = &play->model;
    const haft_status fields = model_chosen_fields(model, id, model->aside_end);
    const uint64_t asked = haft_id_generation(model->layout, id);

    *may = fields;
    if (fields != HAFT_OK) {
        return fields;
    }
    const struct slot *slot = model_slot(model, id);

    if (slot->state == LIVE) {
        return *may = HAFT_OCCUPIED;
    }
    if (slot->state == WORN || slot->generation == 0) {
        return *may = HAFT_EXHAUSTED;
    }
    if (asked < slot->generation) {
        return *may = HAFT_STALE;
    }
    *may = HAFT_OK;
    if (slot->state == RETIRED || slot->state == ENDING) {
        *may = is_due(play, slot) ? *may : HAFT_BUSY;
        return HAFT_BUSY;
    }
    return *may;
}

static haft_status restore(struct play *play, haft_worker *worker, haft_id id)
{
    struct model *model = &play->model;
    const uint64_t value = play->now.x & 16 ? 0 : ++model->next_value;
    void *bytes = value != 0 ? malloc(play->setup.object_size + 1) : NULL; /* callbacks fill some */
    haft_status may;

    if (bytes != NULL) {
        memcpy(bytes, object_bytes(play, value), play->setup.object_size);
    }
    const haft_status said = haft_restore(worker, id, bytes);
    const haft_status expected = expected_of(play, id, &may);

    free(bytes);
    tell(play, "restore %llx: %s", (unsigned long long)id.bits, haft_status_name(said));
    must_answer(said, said == may ? may : expected, "restore");
    if (said == HAFT_OK) {
        const uint64_t index = haft_id_index(model->layout, id);

        model_set(model, index, TAKEN);
        model->slots[index].generation = haft_id_generation(model->layout, id);
        model_issue(model, id);
        model_set(model, index, LIVE);
        model->slots[index].value = value;
    }
    play_check_object(play, id, haft_resolve(play->view, id));
    return said;
}

void shared_restore(struct play *play)
{
    haft_worker *worker = shared_worker(play);

    if (worker != NULL) {
        (void)restore(play, worker, id_to_restore(play));
    }
}

/* Grace periods have passed: no slot of the range is busy, except pinned ones. */
void shared_restore_freed(struct play *play)
{
    const struct model *model = &play->model;
    haft_worker *worker = shared_worker(play);

    for (uint64_t i = HAFT_FIRST_INDEX; i < model->aside_end; i++) {
        const struct slot *slot = &model->slots[i];

        if (slot->state == RETIRED && slot->pins == 0 && slot->generation != 0) {
            must_be(restore(play, worker, model_id(model, i, slot->generation)) != HAFT_BUSY,
                    "a slot can be restored again after its grace period");
        }
    }
}
