/* stress/linear/broken.h - modes of linearize in which the library is broken on purpose. */
#ifndef HAFT_STRESS_LINEAR_BROKEN_H
#define HAFT_STRESS_LINEAR_BROKEN_H

#include <haft/id.h>

/* The first is the sound one; a NULL ends them. */
extern const char *const linear_modes[];

/* From now on, for tables of that layout. */
void linear_break(const char *mode, haft_layout layout);

#endif /* HAFT_STRESS_LINEAR_BROKEN_H */
