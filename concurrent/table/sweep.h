/*
 * concurrent/table/sweep.h - reclaiming slots that were handed over, wherever they wait.
 */
#ifndef HAFT_CONCURRENT_SWEEP_H
#define HAFT_CONCURRENT_SWEEP_H

#include "concurrent/table/state.h"

/*
 * If slots were handed over, reclaim some of those that are due; with never_wait, only the worker's
 * own and those for which no ring had room.  The worker's thread, outside callbacks; lock-free,
 * except on_reclaim.
 */
void sweep_handed(haft_worker *worker);

#endif /* HAFT_CONCURRENT_SWEEP_H */
