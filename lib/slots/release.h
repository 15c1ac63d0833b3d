/* lib/slots/release.h - releasing the memory of slots to the system. */
#ifndef HAFT_LIB_RELEASE_H
#define HAFT_LIB_RELEASE_H

#include "lib/slots/slots.h"

/*
 * Release the whole pages of run `run` and those after it, below run `end`, and make all their
 * slots fresh, to begin at the floors that the records say.  No thread may use any of them.
 * Returns the bytes released: 0 if the system refused.
 */
uint64_t slots_release(struct slots *slots, uint64_t run, uint64_t end);

#endif /* HAFT_LIB_RELEASE_H */
