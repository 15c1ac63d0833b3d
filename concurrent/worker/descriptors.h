/*
 * concurrent/worker/descriptors.h - how many batches a worker may have, by the descriptors that it
 * has brought.
 *
 * Full batches beyond that go to the depots, whose descriptors are the table's, and partial ones
 * are put together: so a free never needs one more.  A worker brings some when it is made, and more
 * where memory may be asked for: when it is opened, searches for slots or passes a quiescent point,
 * while its rings are full.  If there is no memory, its rings stay short.
 */
#ifndef HAFT_CONCURRENT_DESCRIPTORS_H
#define HAFT_CONCURRENT_DESCRIPTORS_H

#include "concurrent/worker/state.h"

/* The most batches in the worker's ring of waiting ones, in that of ready ones, and its spares. */
uint64_t descriptors_waiting(const haft_worker *worker);
uint64_t descriptors_ready(const haft_worker *worker);
uint64_t descriptors_spare(const haft_worker *worker);

/* A segment more for the worker; NULL: no memory.  Any thread. */
struct segment *descriptors_bring(haft_worker *worker);

/* As many as it can use; false: no memory.  Any thread. */
bool descriptors_bring_all(haft_worker *worker);

/* Bring more if the rings are full.  The worker's thread, not in a free. */
void descriptors_keep_up(haft_worker *worker);

#endif /* HAFT_CONCURRENT_DESCRIPTORS_H */
