/*
 * stress/edges.h - an edge of haft/detail/atomics.h that is weakened: relaxed at all its
 * operations.
 */
#ifndef HAFT_STRESS_EDGES_H
#define HAFT_STRESS_EDGES_H

#include <haft/detail/atomics.h>
#include <stdbool.h>

/* Weaken the edge of that name ("PUBLISH"), before other threads begin.  False: no such edge. */
bool edge_weaken(const char *name);

/* `order`, or relaxed for an operation of the weakened edge. */
haft_order edge_order(haft_edge edge, haft_order order);

#endif /* HAFT_STRESS_EDGES_H */
