/*
 * concurrent/extra/orphans.h - a table whose other threads have gone, in the middle of any call.
 */
#ifndef HAFT_CONCURRENT_ORPHANS_H
#define HAFT_CONCURRENT_ORPHANS_H

#include "concurrent/table/state.h"

/*
 * A command set that goes from thread to thread names in its worker the thread that used it last.
 * Of all threads that may use it next one is left.  Before the domain's clock changes: with others
 * than the frame clock a thread and its worker stay together.
 */
void orphans_take_over_sets(const haft_table *table);

/*
 * Close the workers of all other threads, and put every free slot where it can be found again.  The
 * process has one thread, outside callbacks; O(slots ever used).
 */
void orphans_collect(haft_table *table);

#endif /* HAFT_CONCURRENT_ORPHANS_H */
