/*
 * Any thread with a worker restores ids of the range, which others restore and free as well: of
 * each id one is the winner, and finds its object at once.
 */
#include "stress/torture/actor.h"
#include <haft/share.h>

/* The next life of a slot, now and then one further on, or the one that it had last. */
static haft_id next_of(struct actor *actor, const struct subject *subject, uint64_t index)
{
    const uint64_t issued = peek(&subject->places[index].issued);
    uint64_t generation = issued + 1;

    if (one_in(&actor->chance, 16)) {
        generation += draw_below(&actor->chance, 4);
    } else if (issued != 0 && one_in(&actor->chance, 16)) {
        generation = issued;
    }
    return haft_id_pack(subject->layout, index, generation, 0);
}

/* It is live; no thread can have its id from here before it is on the board. */
static void settle(struct actor *actor, struct subject *subject, haft_id id)
{
    struct play *play = actor->play;
    struct place *place = ledger_take(play, subject, id);
    const struct object *object = haft_resolve(subject->view, id);

    if (object == NULL || !object_is(object, id) || haft_diagnose(subject->table, id) != HAFT_OK) {
        broken(play, "id %llx was restored and is not found", (unsigned long long)id.bits);
    }
    count(actor, COUNT_RESTORED, 1);
    count(actor, COUNT_REUSED, swap(&place->met, 0));
    add(&subject->inserted, 1);
    add(&subject->live, 1);
    poke(&place->board, id.bits);
}

/* In a section: until its end the slot has no other life. */
static haft_status restore(struct actor *actor, struct subject *subject, haft_id id)
{
    struct object object;

    object_write(&object, id);
    const haft_status status = haft_restore(worker_of(actor, subject), id, &object);

    if (status == HAFT_OK) {
        settle(actor, subject, id);
    } else if (status == HAFT_OCCUPIED) {
        count(actor, COUNT_RESTORE_LOST, haft_is_live(subject->view, id));
    } else if (status != HAFT_BUSY && status != HAFT_STALE) {
        broken(actor->play, "id %llx: restoring: %s", (unsigned long long)id.bits,
               haft_status_text(status));
    }
    return status;
}

void restore_step(struct actor *actor)
{
    struct subject *subject = any_subject(actor);
    const uint64_t index = HAFT_FIRST_INDEX + draw_below(&actor->chance, RANGE);
    const haft_id tenant = {peek(&subject->places[index].board)};
    const haft_id id = next_of(actor, subject, index);
    haft_status status = HAFT_OK;

    if (one_in(&actor->chance, 2)) {
        pause_by_chance(&actor->chance); /* others come to the same id */
    }
    actor_begin_section(actor);
    if (haft_id_is_nil(tenant)) {
        status = restore(actor, subject, id);
    } else if (one_in(&actor->chance, 2)) {
        free_one(actor, tenant, true);
    }
    actor_end_section(actor);
    if (status == HAFT_BUSY || one_in(&actor->chance, 4)) {
        actor_quiescent(actor);
    }
}
