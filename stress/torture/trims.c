/* Any thread gives memory back, inside a section or outside, while others go on. */
#include "stress/torture/actor.h"
#include <haft/memory.h>

/* Some reader holds an object, or something was inserted meanwhile. */
static bool others_work(struct actor *actor, struct subject *subject, uint64_t inserted)
{
    struct play *play = actor->play;

    for (unsigned i = 0; i < play->run.threads; i++) {
        if (peek(&play->announced[i]) != 0) {
            return true;
        }
    }
    return peek(&subject->inserted) != inserted;
}

void trim_step(struct actor *actor)
{
    struct subject *subject = any_subject(actor);
    const uint64_t inserted = peek(&subject->inserted);
    const bool inside = one_in(&actor->chance, 4);
    uint64_t bytes = 0;

    if (inside) {
        actor_begin_section(actor);
    }
    const haft_status status = haft_trim(subject->table, &bytes);

    count(actor, COUNT_TRIMMED, bytes != 0 && others_work(actor, subject, inserted));
    if (inside) {
        actor_end_section(actor);
    }
    if (status != HAFT_BUSY) {
        must(&actor->play->run, status, "trimming");
    }
    actor_quiescent(actor);
}
