/*
 * behave.h - what one agent does in one frame.
 */
#ifndef BOIDS_BEHAVE_H
#define BOIDS_BEHAVE_H

#include "world.h"

#define FIRST_ENERGY 160

/*
 * Moves the agent, one of the job's.  Reads the others' places of this frame; records births and
 * deaths with the job's recorder.
 */
void behave(struct job *job, struct agent *agent);

#endif /* BOIDS_BEHAVE_H */
