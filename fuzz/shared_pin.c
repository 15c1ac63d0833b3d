/* Pins beside the model: a pinned object stays, free or not, and its table stays open. */
#include "fuzz/play.h"
#include <haft/pin.h>
#include <stddef.h>

/* Freed objects whose slots only pins keep, of those that count towards the capacity. */
uint64_t shared_pinned(const struct model *model)
{
    uint64_t found = 0;

    for (uint64_t i = HAFT_FIRST_INDEX; model->pins != 0 && i < model->limit; i++) {
        const struct slot *slot = &model->slots[i];

        found += slot->state == RETIRED && slot->pins != 0 && slot->generation != 0;
    }
    return found;
}

/* Not from on_reclaim: a wait for a slot there would wait for an unpin that never comes. */
void shared_pin(struct play *play)
{
    const haft_id id = play_id(play);

    if (play->depth != 0 || shared_worker(play) == NULL) {
        return;
    }
    const bool entered = shared_enter(play);
    const void *object = haft_pin(play->table, id);

    tell(play, "pin %llx: %s", (unsigned long long)id.bits, object != NULL ? "ok" : "NULL");
    play_check_object(play, id, object);
    shared_leave(play, entered);
    if (object != NULL) {
        struct slot *slot = model_slot(&play->model, id);

        slot->pins++;
        play->model.pins++;
        must_equal(haft_pins(play->table, id), slot->pins, "pins");
    }
}

/* A pinned object's id at or after the slot `from`, or nil. */
static haft_id pinned_id(const struct model *model, uint64_t from)
{
    const uint64_t slots = model->limit - HAFT_FIRST_INDEX;

    for (uint64_t i = 0; model->pins != 0 && i < slots; i++) {
        const uint64_t index = HAFT_FIRST_INDEX + (from + i) % slots;
        const struct slot *slot = &model->slots[index];

        if (slot->pins != 0) {
            return model_id(model, index,
                            slot->state == LIVE ? slot->generation
                                                : model_last(model, slot->generation));
        }
    }
    return HAFT_NIL;
}

/* on_reclaim may run within, so the model goes first. */
static void unpin(struct play *play, haft_id id)
{
    struct slot *slot = model_pinnable(&play->model, id);
    const bool is_pinned = slot != NULL && slot->pins != 0;

    if (is_pinned) {
        slot->pins--;
        play->model.pins--;
    }
    tell(play, "unpin %llx: %s", (unsigned long long)id.bits, is_pinned ? "ok" : "not pinned");
    must_answer(haft_unpin(play->table, id), is_pinned ? HAFT_OK : HAFT_NOT_PINNED, "unpin");
}

void shared_unpin(struct play *play)
{
    if (!play->closing) {
        unpin(play, play->now.x >> 6 == 3 ? play_id(play) : pinned_id(&play->model, play->now.y));
    }
}

/* The table is to be closed: refused while there are pins, and then they are given back. */
void shared_let_go(struct play *play)
{
    struct model *model = &play->model;

    if (model->pins != 0 && play->setup.nested == 0) { /* else on_reclaim may unpin the last */
        tell(play, "close, with %llu pins", (unsigned long long)model->pins);
        play->closing = true;
        must_answer(!play->clears     ? haft_unshare(play->table, &play->local)
                    : play->now.x & 1 ? haft_table_clear(play->table)
                                      : haft_table_close(play->table),
                    HAFT_IN_USE, "closing with pins");
        play->closing = false;
        play->quiet_at = model->moment;
        for (uint64_t i = HAFT_FIRST_INDEX; play->setup.destroys && i < model->limit; i++) {
            const struct slot *slot = &model->slots[i];

            must_be(slot->state != RETIRED || slot->given_up || slot->pins != 0,
                    "on_reclaim for all that was freed and is not pinned");
        }
    }
    while (model->pins != 0) {
        unpin(play, pinned_id(model, play->now.y));
    }
}
