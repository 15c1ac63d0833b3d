/* Ids of the program's choice: those that can be restored, and those that cannot. */
#include "stress/combinations/lives.h"
#include "stress/combinations/steps.h"
#include "stress/combinations/threads.h"
#include "stress/combinations/under_way.h"

/* Its own slot's next life, or a later one; or of another slot, none, an earlier one, a tag. */
static haft_id restored_id(const struct step *step)
{
    const struct plan_options *options = &play.plan->options;
    const uint32_t index = HAFT_FIRST_INDEX + step->at % options->restore_range;
    const haft_id last = {word_in(&play.issued[index])};
    const uint64_t generation = haft_id_generation(play.layout, last) + step->count;
    const uint64_t least = options->first_generation;
    const uint64_t most = haft_field_max(play.layout.generation_bits);
    const uint64_t tag = options->tag_bits != 0;

    switch (step->at % 32) {
    case 29:
        return haft_id_pack(play.layout, HAFT_FIRST_INDEX + options->restore_range, most, tag);
    case 30:
        return haft_id_pack(play.layout, index, 0, tag);
    case 31:
        return haft_id_pack(play.layout, index, most, tag + (options->tag_bits != 0));
    case 28:
        return haft_id_pack(play.layout, index, 1, tag);
    default:
        return haft_id_pack(play.layout, index, (generation < least ? least : generation) & most,
                            tag);
    }
}

/* In turns: what must be the answer, unless the slot waits or the table is full. */
static haft_status expected_answer(haft_id id)
{
    const uint32_t index = haft_id_index(play.layout, id);
    const uint64_t generation = haft_id_generation(play.layout, id);
    const uint64_t next = next_generation(index);

    if (haft_id_tag(play.layout, id) != (play.plan->options.tag_bits != 0)) {
        return HAFT_FOREIGN;
    }
    return generation == 0                     ? HAFT_MALFORMED
           : !is_aside(id)                     ? HAFT_OUT_OF_RANGE
           : count_in(&play.owned[index]) != 0 ? HAFT_OCCUPIED
           : next == 0                         ? HAFT_EXHAUSTED
           : generation < next                 ? HAFT_STALE
                                               : HAFT_OK;
}

/* Whether a life of the slot may not be over yet; its last one may not have been recycled then. */
static bool may_wait(haft_id id)
{
    return word_in(&play.issued[haft_id_index(play.layout, id)]) != 0;
}

static bool may_answer(haft_status status, haft_status expected, haft_id id)
{
    const bool was_recycled = count_in(&play.recycled[haft_id_index(play.layout, id)]) != 0;

    if (status == expected || (status == HAFT_EXHAUSTED && was_recycled)) {
        return true;
    }
    return expected == HAFT_OK && status == HAFT_BUSY && may_wait(id);
}

void step_restore(struct thread *thread, haft_worker *worker, const struct step *step)
{
    const haft_id id = play.plan->options.restore_range != 0 ? restored_id(step) : HAFT_NIL;
    struct reg *reg = id.bits != 0 ? claim_register(step->at) : NULL;
    uint64_t bytes[4096 / sizeof(uint64_t)];

    if (reg == NULL) {
        return;
    }
    const uint64_t callbacks = word_in(&play.callbacks);
    const haft_status expected = expected_answer(id);

    model_stamp(reg, bytes);
    const struct call_under_way outer = begin_call(CALL_RESTORE, id);
    const haft_status status = haft_restore(worker, id, bytes);

    end_call(outer);
    if (!play.at_once && !in_callback(thread) && callbacks == word_in(&play.callbacks) &&
        !may_answer(status, expected, id)) {
        expect(status, expected, "haft_restore");
    }
    if (status == HAFT_OK) {
        model_issued(reg, id, REGISTER_LIVE);
    } else {
        unclaim_register(reg);
    }
}
