/*
 * concurrent/table/legacy.h - the free slots of the local table that a shared one was.
 */
#ifndef HAFT_CONCURRENT_LEGACY_H
#define HAFT_CONCURRENT_LEGACY_H

#include "concurrent/table/state.h"

/* Up to `most` of them into `indices`: how many.  Lock-free. */
uint64_t legacy_take(haft_worker *worker, uint64_t most, uint32_t *indices);

#endif /* HAFT_CONCURRENT_LEGACY_H */
