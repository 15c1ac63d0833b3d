/*
 * concurrent/extra/orphans.h - a table whose other threads have gone, in the middle of any call.
 */
#ifndef HAFT_CONCURRENT_ORPHANS_H
#define HAFT_CONCURRENT_ORPHANS_H

#include "concurrent/table/state.h"

/*
 * Close the workers of all other threads, and put every free slot where it can be found again.  The
 * process has one thread, outside callbacks; O(slots ever used).
 */
void orphans_collect(haft_table *table);

#endif /* HAFT_CONCURRENT_ORPHANS_H */
