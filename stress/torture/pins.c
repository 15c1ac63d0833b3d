/*
 * Readers that pin: they use the object beyond its section, for long, and give the pin back
 * themselves or leave that to the next reader.
 */
#include "stress/torture/actor.h"
#include <haft/pin.h>

#define HOLD_NS 3000000

/* Unpin, or hand the pin on and unpin the one that was handed on before. */
static void let_go(struct actor *actor, haft_id id)
{
    struct play *play = actor->play;

    if (one_in(&actor->chance, 4)) {
        /* The next one's unpin must come after this thread's use of the object. */
        id.bits = atomic_exchange_explicit(&play->handed, id.bits, memory_order_acq_rel);
    }
    if (!haft_id_is_nil(id)) {
        must(&play->run, haft_unpin(subject_of(play, id)->table, id), "unpinning");
    }
}

static void use(struct actor *actor, const struct object *object, haft_id id)
{
    if (one_in(&actor->chance, 8)) {
        actor_sleep(actor, HOLD_NS);
    } else {
        pause_by_chance(&actor->chance);
    }
    if (!object_is(object, id)) {
        broken(actor->play, "id %llx: the object became %llx while it was pinned",
               (unsigned long long)id.bits, (unsigned long long)object->id);
    }
}

void pin_step(struct actor *actor)
{
    struct play *play = actor->play;
    struct subject *subject = any_subject(actor);
    const haft_id id = ledger_pick(subject, &actor->chance);

    actor_begin_section(actor);
    const struct object *object = haft_pin(subject->table, id);

    actor_end_section(actor);
    actor_quiescent(actor);
    if (object == NULL) {
        return;
    }
    poke(&play->announced[actor->number], id.bits);
    use(actor, object, id);
    actor_quiescent(actor);
    use(actor, object, id);
    poke(&play->announced[actor->number], 0);
    count(actor, COUNT_PINNED, 1);
    if (!haft_is_live(subject->view, id)) {
        count(actor, COUNT_PIN_OUTLIVED, 1);
        poke(&place_of(subject, id)->met, 1);
    }
    let_go(actor, id);
}
