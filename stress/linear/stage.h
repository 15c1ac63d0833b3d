/*
 * stress/linear/stage.h - threads that make short histories of a tiny table, one table a round.
 *
 * All threads begin at one barrier, and act on ids that any of them has told of, and on ids that
 * will be issued next.  Each history is checked; counted are those in which operations of two
 * threads on one slot overlapped.
 */
#ifndef HAFT_STRESS_LINEAR_STAGE_H
#define HAFT_STRESS_LINEAR_STAGE_H

#include "stress/linear/history.h"
#include "stress/support.h"
#include <pthread.h>

#define STAGE_LAYOUT ((haft_layout){3, 5, 0, 0}) /* 4 slots, 31 lives */
#define STAGE_PART 7                             /* operations of a thread in a history */
#define STAGE_TOLD 8                             /* ids that threads tell each other of */

struct actor;

struct stage {
    struct run run;
    linear_model *model;
    void (*const *acts)(struct actor *actor, struct linear_operation *operation); /* by kind */
    void (*open)(struct stage *stage, struct chance *chance);                     /* a table */
    void (*take_part)(struct actor *actor);
    void (*close)(struct stage *stage, const struct linear_history *history);
    haft_domain *domain; /* with the table; NULL: it is a counted one */
    haft_table *table;
    uint64_t capacity;
    uint64_t round;
    bool is_over;
    pthread_barrier_t opened; /* the table, for all */
    struct barrier begun;
    pthread_barrier_t ended;
    _Atomic(uint64_t) time; /* what a call reads is above what any return before it has read */
    shared_u64 told[STAGE_TOLD];
    struct linear_history parts[4];
    uint64_t overlapping; /* histories */
    uint64_t operations;
};

struct actor {
    struct stage *stage;
    struct linear_history *part;
    unsigned number;
    haft_worker *worker;
    haft_id held; /* or pinned; nil: none */
    uint32_t holds;
    struct chance chance;
};

/* Takes the arguments; as many threads as a history may have. */
void stage_take(struct stage *stage, int argc, char **argv);

/* Plays all rounds, and says how many histories there were. */
_Noreturn void stage_play(struct stage *stage);

uint64_t stage_now(struct stage *stage);

/* The time of a call.  It may take its time to begin: that makes it meet others. */
uint64_t stage_call(struct actor *actor);

/* The actor's next operation. */
void stage_act(struct actor *actor, enum linear_kind kind);

/* An object's note that no other insertion has; and the id, if it was inserted, is told of. */
uint64_t stage_note(const struct actor *actor);
void stage_tell(struct actor *actor, const struct linear_operation *insertion);

#endif /* HAFT_STRESS_LINEAR_STAGE_H */
