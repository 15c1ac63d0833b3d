/*
 * report.h - what became of the world.
 */
#ifndef BOIDS_REPORT_H
#define BOIDS_REPORT_H

#include "world.h"

void report_print(const struct options *options, const struct world *world, int64_t elapsed_us);
void report_print_json(const struct options *options, const struct world *world);

#endif /* BOIDS_REPORT_H */
