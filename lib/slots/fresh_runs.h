/*
 * lib/slots/fresh_runs.h - the released runs of a table of one thread, in a list through their
 * records' links.  O(1), except fresh_runs_remove.
 */
#ifndef HAFT_LIB_FRESH_RUNS_H
#define HAFT_LIB_FRESH_RUNS_H

#include "lib/slots/runs.h"

/* The run becomes the first one. */
void fresh_runs_push(struct runs *runs, uint64_t run);

/* Take the first one; there is one. */
uint64_t fresh_runs_pop(struct runs *runs);

/* Take `run`, which is in the list.  O(runs before it). */
void fresh_runs_remove(struct runs *runs, uint64_t run);

#endif /* HAFT_LIB_FRESH_RUNS_H */
