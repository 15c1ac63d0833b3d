/*
 * Readers that scan: some visits in each section, so that the cursor is put down and taken up.
 * Indices rise, and every object that is kept to the end is visited.
 */
#include "stress/torture/actor.h"

#define IN_SECTION 16

static void begin_scan(struct actor *actor)
{
    actor->scanned = any_subject(actor);
    actor->cursor = haft_cursor_over(actor->scanned->table, HAFT_EVERYTHING);
    actor->scans = true;
    actor->last_index = 0;
    actor->kept_seen = 0;
}

static void end_scan(struct actor *actor)
{
    actor->scans = false;
    count(actor, COUNT_SCANNED, 1);
    if (actor->kept_seen != actor->scanned->kept) {
        broken(actor->play, "a scan visited %llu of %llu objects that live all the time",
               (unsigned long long)actor->kept_seen, (unsigned long long)actor->scanned->kept);
    }
}

static void visit(struct actor *actor, haft_id id, const struct object *object)
{
    struct subject *subject = actor->scanned;
    const uint64_t index = haft_id_index(subject->layout, id);

    actor_look(actor, object, id);
    if (index <= actor->last_index) {
        broken(actor->play, "a scan came from index %llu to %llu",
               (unsigned long long)actor->last_index, (unsigned long long)index);
    }
    actor->last_index = index;
    actor->kept_seen += subject->places[index].is_kept;
    count(actor, COUNT_VISITED, 1);
    if (one_in(&actor->chance, 16)) {
        poke(&actor->play->announced[actor->number], id.bits);
        pause_by_chance(&actor->chance);
        actor->debt += one_in(&actor->chance, 2) && free_one(actor, id, true);
    }
    actor_look_last(actor, object, id);
}

void scan_step(struct actor *actor)
{
    haft_id id;
    void *object;

    if (!actor->scans) {
        begin_scan(actor);
    }
    actor_begin_section(actor);
    for (int i = 0; i < IN_SECTION && actor->scans; i++) {
        if (haft_cursor_next(&actor->cursor, &id, &object)) {
            visit(actor, id, object);
        } else {
            end_scan(actor);
        }
    }
    poke(&actor->play->announced[actor->number], 0);
    actor_end_section(actor);
    actor_quiescent(actor);
    while (actor->debt != 0 && insert_one(actor, any_subject(actor))) {
        actor->debt--;
    }
}
