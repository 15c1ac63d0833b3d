/*
 * lib/slots/runs.h - page runs: runs of slots, whose memory can be released to the system.
 *
 * A run is 2^shift slots.  When none of them is in use, its pages are released; the table
 * keeps only the run's floor, the highest next generation of its slots.  They are fresh
 * again, their words 0, and begin at the floor instead of the first generation: no id from
 * before is ever issued again, and a word of 0 matches none.
 *
 * A run's record exists from when some run was first released, or the table was shared.  Runs
 * with the slots below the first index are never released: slot 0's word is a mark for ever.  Nor
 * are those of a table whose memory is not pages of the system (`stay`): it has no records.
 *
 * Shared tables keep their fresh runs in a list of their own (concurrent/worker/released.c),
 * through the same links; so every access to a record is an access to atomic words.
 *
 * Edges in this file.
 *   ONWARD  a floor only rises: a thread that knows of the release sees that floor or a later one
 *   OWN     one thread has the run
 */
#ifndef HAFT_LIB_RUNS_H
#define HAFT_LIB_RUNS_H

#include "lib/base/reservation.h"
#include <assert.h>
#include <haft/id.h>

/* Values of a run's `link`; any other number is the fresh run after this one. */
#define RUN_IN_USE UINT64_C(0)      /* not a fresh run */
#define RUN_LAST UINT64_MAX         /* the last of the fresh runs */
#define RUN_KEPT (UINT64_MAX - 1)   /* while trimming: may not be released */
#define RUN_CHOSEN (UINT64_MAX - 2) /* while trimming: to be released */

struct run {
    atomic_u64
        floor; /* generation and tag, in place, of its fresh slots; 0: the first generation */
    atomic_u64 link;
};

struct runs {
    struct reservation memory; /* of the records, once there are any */
    struct run *records;       /* one a run; NULL until one is needed */
    uint64_t count;            /* runs that there can be */
    uint64_t first;            /* the fresh run to be used next, or RUN_LAST: fresh_runs.h */
    unsigned shift;            /* slots in a run: 2^shift */
    bool stay;                 /* no run is ever released */
};

/* For `slots` slots, `stride` bytes apart; is_biased: they begin within a page.  No records yet. */
void runs_setup(struct runs *runs, uint64_t slots, uint64_t stride, bool is_biased);
void runs_close(struct runs *runs);

/* Reserve readable address space for the records, unless runs stay.  HAFT_OK or HAFT_NO_MEMORY. */
haft_status runs_reserve(struct runs *runs);

/* Make sure of the records of all runs with slots below `end`.  HAFT_OK or HAFT_NO_MEMORY. */
haft_status runs_prepare(struct runs *runs, uint64_t end);

/*
 * The slots of a run: from runs_first() on, below runs_end(), which may lie beyond the table's
 * limit.  Only runs whose slots have all been used become fresh ones: a shared table may use more
 * than the local one that it was.
 */
uint64_t runs_first(const struct runs *runs, uint64_t run);
uint64_t runs_end(const struct runs *runs, uint64_t run);

/* The word that fresh slots of the run begin from; 0: the first generation. */
static inline uint64_t runs_floor(const struct runs *runs, uint64_t run)
{
    assert(runs->records != NULL && run < runs->count);
    return load_relaxed(ONWARD, &runs->records[run].floor);
}

static inline void runs_set_floor(const struct runs *runs, uint64_t run, uint64_t floor)
{
    assert(runs->records != NULL && run < runs->count && !runs->stay);
    store_relaxed(ONWARD, &runs->records[run].floor, floor);
}

static inline uint64_t runs_link(const struct runs *runs, uint64_t run)
{
    assert(runs->records != NULL && run < runs->count);
    return load_relaxed(OWN, &runs->records[run].link);
}

static inline void runs_set_link(const struct runs *runs, uint64_t run, uint64_t link)
{
    assert(runs->records != NULL && run < runs->count);
    assert(link != run || link == RUN_IN_USE);
    store_relaxed(OWN, &runs->records[run].link, link);
}

/* The run that slot `index` is in. */
static inline uint64_t runs_of(const struct runs *runs, uint64_t index)
{
    return index >> runs->shift;
}

/* The lowest run that may be released. */
static inline uint64_t runs_least(const struct runs *runs)
{
    return runs_of(runs, HAFT_FIRST_INDEX - 1) + 1;
}

#endif /* HAFT_LIB_RUNS_H */
