/*
 * stress/turns.h - two threads that take turns with one table, so that counts of what they do are
 * the same in every run, on any machine.
 *
 * White-box: it knows what a table has to spare for batches of a size (concurrent/worker/worker.c).
 */
#ifndef HAFT_STRESS_TURNS_H
#define HAFT_STRESS_TURNS_H

#include "stress/support.h"
#include "stress/traffic.h"
#include <haft/table.h>

#define TURN_THREADS 2

struct turns {
    const struct run *run;
    uint64_t count; /* of each thread */
    uint32_t share; /* slots in a batch, at most */
    bool pins;
    /* The thread's next turn; `turn` counts from 0. */
    void (*play)(struct turns *turns, unsigned number, haft_worker *worker, uint64_t turn);
    void *arg;
    haft_table *table; /* open while play() is called; each slot has its own line */
};

/* Opens a domain and a table, plays, and closes both. */
void turns_play(struct turns *turns);

/* An object from the worker, after waiting if that is necessary. */
haft_id turns_insert(const struct turns *turns, haft_worker *worker);

/* Of all edges.  Exact within a turn. */
struct traffic turns_traffic(void);

#endif /* HAFT_STRESS_TURNS_H */
