/*
 * How many slots of the shared table are in use, by the model, and when it may say that there are
 * none.
 */
#include "fuzz/play.h"

/* Slots from `from` on that have lived all their lives, reclaimed or not. */
uint64_t shared_worn(const struct model *model, uint64_t from)
{
    const bool is_any = model->counts[RETIRED] != 0 || model->counts[WORN] != 0;
    uint64_t found = 0;

    for (uint64_t i = from; is_any && i < model->limit; i++) {
        const enum slot_state state = model->slots[i].state;

        found += state == WORN || (state == RETIRED && model->slots[i].generation == 0);
    }
    return found;
}

/* Live and reserved. */
uint64_t shared_taken(const struct model *model)
{
    return model->counts[LIVE] + model->counts[TAKEN];
}

bool shared_is_full(const struct model *model, uint64_t more)
{
    const uint64_t taken = shared_taken(model);

    return taken >= model->capacity ||
           taken + more + shared_worn(model, HAFT_FIRST_INDEX) >= model->capacity;
}

void shared_check_refusal(struct play *play, haft_status said, bool waited)
{
    const struct model *model = &play->model;
    const bool may_be_elsewhere = model->counts[RETIRED] != 0 || play->depth != 0 ||
                                  (play->workers[0] != NULL && play->workers[1] != NULL);

    if (said == HAFT_FULL) {
        must_be(shared_is_full(model, 0), "the capacity is a floor");
    } else if (said == HAFT_IN_SECTION) {
        must_be(waited && play->in_section, "refused because of a section");
    } else {
        must_answer(said, HAFT_BUSY, "a refusal");
        must_be(shared_taken(model) < model->capacity && may_be_elsewhere, "busy for a reason");
        must_be(!waited || play->setup.clock == HAFT_CLOCK_FRAME, "a wait does not end busy");
    }
}
