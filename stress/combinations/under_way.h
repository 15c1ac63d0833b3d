/* stress/combinations/under_way.h - calls of the library that are under way, and what they meet. */
#ifndef HAFT_COMBINATIONS_UNDER_WAY_H
#define HAFT_COMBINATIONS_UNDER_WAY_H

#include "stress/combinations/model.h"

/* A call of the library begins, on the slot of `id` or (HAFT_NIL) on none; and ends. */
struct call_under_way {
    uint64_t word;
};

struct call_under_way begin_call(enum call call, haft_id id);
void end_call(struct call_under_way outer);

/* The call under way is on the slot of `id` from now on. */
void move_call(enum call call, haft_id id);

/* The calling thread is in the middle of a call on a slot: others that are there too. */
void note_overlaps(uint32_t call, uint32_t slot);

#endif /* HAFT_COMBINATIONS_UNDER_WAY_H */
