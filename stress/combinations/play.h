/* stress/combinations/play.h - a plan played from opening to closing. */
#ifndef HAFT_COMBINATIONS_PLAY_H
#define HAFT_COMBINATIONS_PLAY_H

#include "stress/combinations/backend.h"
#include "stress/combinations/model.h"

/* Threads take turns with whole calls: all of it by the calling thread. */
void play_in_turn(const struct plan *plan);

/* Threads at once: the beginning, each thread's part, and the end. */
void play_begin(const struct plan *plan, bool at_once);
void play_thread(uint32_t number);
void play_end(void);

#endif /* HAFT_COMBINATIONS_PLAY_H */
