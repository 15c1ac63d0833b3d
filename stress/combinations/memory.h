/* stress/combinations/memory.h - memory of a play, and where it is refused. */
#ifndef HAFT_COMBINATIONS_MEMORY_H
#define HAFT_COMBINATIONS_MEMORY_H

#include "stress/combinations/model.h"

/* The play begins; it has ended: all is given back. */
void begin_memory(void);
void end_memory(void);

/* The allocator of plans that have one, else NULL. */
const haft_allocator *heap_of_plan(void);

/* The system and the allocator refuse memory from now on, or give as much as ever. */
void set_memory_refused(bool refused);

/* HAFT_NO_MEMORY, while memory is refused. */
bool lacks_memory(haft_status status);

#endif /* HAFT_COMBINATIONS_MEMORY_H */
