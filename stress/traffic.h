/*
 * stress/traffic.h - which operations touch words that another thread wrote last.
 *
 * For programs over a library built with -DHAFT_HOOKED: link stress/traffic.c and
 * stress/operations.c.  Counts are of 64-byte lines, as
 * far as atomic operations go: plain writes beside them are not seen.
 */
#ifndef HAFT_STRESS_TRAFFIC_H
#define HAFT_STRESS_TRAFFIC_H

#include "stress/operations.h"

/* Operations with one edge or reason. */
struct traffic {
    uint64_t all[OPERATION_KINDS];
    uint64_t foreign[OPERATION_KINDS]; /* of them on a line that another thread wrote last */
};

/*
 * The sum over all threads, for haft/detail/atomics.h's edge with that number.  Exact when no other
 * thread uses the library meanwhile.
 */
struct traffic traffic_of(unsigned edge);

/* From 0 again, and no line was written by anybody.  While no other thread uses the library. */
void traffic_reset(void);

#endif /* HAFT_STRESS_TRAFFIC_H */
