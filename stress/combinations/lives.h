/* stress/combinations/lives.h - objects that begin and end. */
#ifndef HAFT_COMBINATIONS_LIVES_H
#define HAFT_COMBINATIONS_LIVES_H

#include "stress/combinations/model.h"

/* An object through `worker`, or without one.  False: there was no slot, or no register. */
bool insert_one(haft_worker *worker, uint32_t at);

/* Free what the register names. */
void free_one(haft_worker *worker, struct reg *reg);

/* What an insertion may answer, where nothing else happened meanwhile. */
void check_insertion(haft_status status, bool waits, uint32_t before, uint64_t callbacks);

#endif /* HAFT_COMBINATIONS_LIVES_H */
