/* Readers: they hold several objects at once, and tell the writers which. */
#include "stress/torture/actor.h"

#define MOST_HELD 8
#define MOST_DELAYED 64
#define SLEEP_NS 2000000
#define DELAY_NS 30000000

struct hold {
    const struct object *object;
    haft_id id;
};

/* Resolve an id found just now, or one from an earlier section; false if it was too late. */
static bool take(struct actor *actor, struct hold *hold)
{
    const haft_id id = one_in(&actor->chance, 4) ? any_remembered(actor)
                                                 : ledger_pick(any_subject(actor), &actor->chance);

    if (haft_id_is_nil(id)) {
        return false;
    }
    remember(actor, id);
    hold->id = id;
    hold->object = haft_resolve(subject_of(actor->play, id)->view, id);
    count(actor, COUNT_TOO_LATE, hold->object == NULL);
    if (hold->object != NULL && has_habit(actor->play, COMMANDS) &&
        peek(&place_of(subject_of(actor->play, id), id)->recorded) == id.bits) {
        broken(actor->play, "id %llx resolves before its creation is applied",
               (unsigned long long)id.bits);
    }
    return hold->object != NULL;
}

static void dwell(struct actor *actor, bool delays)
{
    if (delays) {
        sleep_ns(draw_below(&actor->chance, DELAY_NS));
        count(actor, COUNT_DELAYS, 1);
    } else if (has_habit(actor->play, SLEEPS) && one_in(&actor->chance, 8)) {
        sleep_ns(draw_below(&actor->chance, SLEEP_NS));
    } else {
        pause_by_chance(&actor->chance);
    }
}

static void hold_for_a_while(struct actor *actor, const struct hold *holds, unsigned held,
                             bool delays)
{
    shared_u64 *announced = &actor->play->announced[actor->number];

    for (unsigned i = 0; i < held; i++) {
        poke(announced, holds[i].id.bits);
        actor_look(actor, holds[i].object, holds[i].id);
        dwell(actor, delays && i == 0);
    }
    poke(announced, 0);
    for (unsigned i = 0; i < held; i++) {
        actor_look_last(actor, holds[i].object, holds[i].id);
    }
}

void reader_step(struct actor *actor)
{
    const bool delays =
        has_habit(actor->play, DELAYS) && actor->number == 0 && one_in(&actor->chance, 4);
    const uint64_t wanted = delays ? MOST_DELAYED : 1 + draw_below(&actor->chance, MOST_HELD);
    struct hold holds[MOST_DELAYED];
    unsigned held = 0;

    actor_begin_section(actor);
    for (uint64_t i = 0; i < wanted; i++) {
        held += take(actor, &holds[held]);
    }
    hold_for_a_while(actor, holds, held, delays);
    actor_end_section(actor);
    if (held != 0 || one_in(&actor->chance, 4)) {
        actor_quiescent(actor);
    }
}
