/*
 * lib/slots/runs.h - runs of slots, whose memory can be given back to the system.
 *
 * A run is 2^shift slots.  When none of them is in use, its pages are given back; all that is
 * remembered is the run's floor, the highest next generation of its slots.  They are fresh
 * again, their words 0, and begin at the floor instead of the first generation: no id from
 * before is ever issued again, and a word of 0 matches none.
 *
 * A run's record exists from when some run was first given back, or the table was shared.  Runs
 * with the slots below the first index are never given back: slot 0's word is a mark for ever.
 *
 * Shared tables keep their fresh runs in a list of their own (concurrent/table/given.c), through
 * the same links; so whoever looks at a record sees it as atomic words.
 *
 * Edges in this file.
 *   ONWARD  a floor only rises: who knows that the run was given back sees that one or a later
 *   OWN     one thread has the run
 */
#ifndef HAFT_LIB_RUNS_H
#define HAFT_LIB_RUNS_H

#include "lib/base/reservation.h"
#include <haft/id.h>

struct slots;

/* What a run's `link` says; any other number is the fresh run after this one. */
#define RUN_IN_USE UINT64_C(0)      /* not a fresh run */
#define RUN_LAST UINT64_MAX         /* the last of the fresh runs */
#define RUN_KEPT (UINT64_MAX - 1)   /* while trimming: may not be given back */
#define RUN_CHOSEN (UINT64_MAX - 2) /* while trimming: to be given back */

struct run {
    atomic_u64
        floor; /* generation and tag, in place, of its fresh slots; 0: the first generation */
    atomic_u64 link;
};

struct runs {
    struct reservation memory; /* of the records, once there are any */
    struct run *records;       /* one a run; NULL until one is needed */
    uint64_t first;            /* the fresh run to be used next, or RUN_LAST */
    unsigned shift;            /* slots in a run: 2^shift */
};

/* For slots whose view, limit and memory are set.  No system call, no records. */
void runs_setup(struct slots *slots);
void runs_close(struct runs *runs);

/* Address space for the records, if there is none: they can be read.  HAFT_OK or HAFT_NO_MEMORY. */
haft_status runs_reserve(struct slots *slots);

/* Make sure of the records of all runs with slots below `end`.  HAFT_OK or HAFT_NO_MEMORY. */
haft_status runs_prepare(struct slots *slots, uint64_t end);

/*
 * The slots of a run: from runs_first() on, below runs_end(), which may lie beyond the table's
 * limit.  Only runs whose slots have all been used become fresh ones: a shared table may use more
 * than the local one that it was.
 */
uint64_t runs_first(const struct runs *runs, uint64_t run);
uint64_t runs_end(const struct runs *runs, uint64_t run);

/*
 * Give back the whole pages of `run` and those after it, below `end`, and make all their slots
 * fresh, to begin at the floors that the records say.  Nobody may use any of them.  The bytes
 * given back: 0 if the system refused.
 */
uint64_t runs_give_back(struct slots *slots, uint64_t run, uint64_t end);

/* The word that fresh slots of the run begin from; 0: the first generation. */
static inline uint64_t runs_floor(const struct runs *runs, uint64_t run)
{
    return load_relaxed(ONWARD, &runs->records[run].floor);
}

static inline void runs_set_floor(const struct runs *runs, uint64_t run, uint64_t floor)
{
    store_relaxed(ONWARD, &runs->records[run].floor, floor);
}

static inline uint64_t runs_link(const struct runs *runs, uint64_t run)
{
    return load_relaxed(OWN, &runs->records[run].link);
}

static inline void runs_set_link(const struct runs *runs, uint64_t run, uint64_t link)
{
    store_relaxed(OWN, &runs->records[run].link, link);
}

/* The run becomes the first of the fresh ones; the first one is taken; one of them is. */
void runs_push(struct runs *runs, uint64_t run);
uint64_t runs_pop(struct runs *runs);
void runs_remove(struct runs *runs, uint64_t run);

/* The run that slot `index` is in. */
static inline uint64_t runs_of(const struct runs *runs, uint64_t index)
{
    return index >> runs->shift;
}

/* The lowest run that may be given back. */
static inline uint64_t runs_least(const struct runs *runs)
{
    return runs_of(runs, HAFT_FIRST_INDEX - 1) + 1;
}

#endif /* HAFT_LIB_RUNS_H */
