/*
 * Included before everything else, it breaks the library: slots are reused after half of the
 * creations that were promised.
 */
#ifndef HAFT_STRESS_TORTURE_HALF_THE_DISTANCE_H
#define HAFT_STRESS_TORTURE_HALF_THE_DISTANCE_H

#include <haft/table.h>

#define reuse_distance reuse_distance / 2

#endif /* HAFT_STRESS_TORTURE_HALF_THE_DISTANCE_H */
