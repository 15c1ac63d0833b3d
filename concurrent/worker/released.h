/*
 * concurrent/worker/released.h - runs of slots whose memory was released.
 *
 * All functions: any thread, lock-free.
 */
#ifndef HAFT_CONCURRENT_RELEASED_H
#define HAFT_CONCURRENT_RELEASED_H

#include "concurrent/worker/state.h"

/* A list of runs, from `first` through their links to `last`; their slots, `slots` of them. */
struct run_list {
    uint64_t first;
    uint64_t last;
    uint64_t slots;
};

/* Put runs into the list, to be drawn. */
void released_push(haft_table *table, struct run_list runs);

/* Take a run, its words ready: how many slots, from `*first` on; 0 if there is none. */
uint64_t released_take(haft_table *table, uint64_t *first);

/* Write into the words of fresh slots of released runs where their next lives begin. */
void released_apply_floor(const haft_table *table, uint64_t first, uint64_t count);

/* Whether a run is in the list: then no object is in it that the caller knows to be inserted. */
bool released_has(const haft_table *table, uint64_t run);

#endif /* HAFT_CONCURRENT_RELEASED_H */
