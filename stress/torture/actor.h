/*
 * stress/torture/actor.h - a thread of a play, in one of its lives.
 */
#ifndef HAFT_STRESS_TORTURE_ACTOR_H
#define HAFT_STRESS_TORTURE_ACTOR_H

#include "stress/torture/play.h"
#include <haft/scan.h>

#define REMEMBERED 64

struct actor {
    struct play *play;
    unsigned number;
    struct chance chance;
    haft_worker *workers[MOST_TABLES]; /* NULL: a reader that needs none */
    uint64_t section_began;            /* grace periods that had ended then */
    haft_id ids[REMEMBERED]; /* a writer's: of objects it freed; a reader's: of objects it held */
    uint64_t lives[REMEMBERED]; /* of the slot, when the id was remembered */
    unsigned remembered;
    uint64_t debt;    /* objects that it has freed and not replaced */
    unsigned refused; /* times in turn that there was no slot left */
    haft_cursor cursor;
    bool scans;              /* the cursor is on its way */
    uint64_t last_index;     /* that it visited */
    uint64_t kept_seen;      /* kept objects among its visits */
    struct subject *scanned; /* where it scans */
    haft_id counted;         /* of the object that it holds in the counted table, or NULL: */
    const struct object *counted_object;
    struct tally tally;
};

/* One life of the thread with that number: until the play is over, or for that many steps. */
void actor_live(struct play *play, unsigned number, uint64_t life, uint64_t steps);

/* A section of all tables, in a frame where the clock has frames. */
void actor_begin_section(struct actor *actor);
void actor_end_section(struct actor *actor);

/* Outside sections: the domain is told, sometimes by going offline. */
void actor_quiescent(struct actor *actor);

/* Outside sections: for a while, offline. */
void actor_sleep(struct actor *actor, uint64_t most_ns);

/* The object must still be what it was, and not older than it may be. */
void actor_look(const struct actor *actor, const struct object *object, haft_id id);
/* The same for the last time; its age is counted. */
void actor_look_last(struct actor *actor, const struct object *object, haft_id id);

static inline void count(struct actor *actor, enum count what, uint64_t times)
{
    actor->tally.counts[what] += times;
}

static inline struct subject *any_subject(struct actor *actor)
{
    return &actor->play->subjects[draw_below(&actor->chance, actor->play->profile->tables)];
}

static inline haft_worker *worker_of(const struct actor *actor, const struct subject *subject)
{
    return actor->workers[subject - actor->play->subjects];
}

static inline void remember(struct actor *actor, haft_id id)
{
    const unsigned place = actor->remembered++ % REMEMBERED;

    actor->ids[place] = id;
    actor->lives[place] = peek(&place_of(subject_of(actor->play, id), id)->lives);
}

/* Or HAFT_NIL. */
static inline haft_id any_remembered(struct actor *actor)
{
    return actor->ids[draw_below(&actor->chance, REMEMBERED)];
}

static inline bool is_over(struct actor *actor)
{
    return peek(&actor->play->over) != 0;
}

/* One step of a reader's life, outside sections: reader.c; of them, in scans.c and pins.c. */
void reader_step(struct actor *actor);
void scan_step(struct actor *actor);
void pin_step(struct actor *actor);

/* One step of any thread's, outside sections: trims.c, desks.c. */
void trim_step(struct actor *actor);
void record_step(struct actor *actor);

/* Whether the actor is the one thread that applies recorded commands: desks.c. */
bool is_applier(const struct actor *actor);
void apply_step(struct actor *actor);

/* One step of a writer's life, outside sections: writer.c. */
void writer_step(struct actor *actor);

/* An id of an object to free: one that a reader holds, or any; or HAFT_NIL. */
haft_id victim(struct actor *actor);

/*
 * Free the object: true if it was this call that did, and there is room for another.  In a section,
 * or with `inside` false.
 */
bool free_one(struct actor *actor, haft_id id, bool inside);

/* The slot is the caller's: an object, and the id for others to find. */
void furnish(struct actor *actor, struct subject *subject, haft_id id, void *object);

/* Insert an object into the table if there is a slot for it; waits for one for a while. */
bool insert_one(struct actor *actor, struct subject *subject);

/* Try an id of an object that was freed. */
void try_stale(struct actor *actor);

#endif /* HAFT_STRESS_TORTURE_ACTOR_H */
