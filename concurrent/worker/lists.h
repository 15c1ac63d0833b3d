/*
 * concurrent/worker/lists.h - slots in lists, for calls that have no batch to put them into.
 *
 * The link stands in the index field of a slot's word; the list's last slot has MARK_FREE there, so
 * a list of one leaves the word as the free wrote it.  Any thread may push and pop;
 * both are lock-free, and neither allocates.
 */
#ifndef HAFT_CONCURRENT_LISTS_H
#define HAFT_CONCURRENT_LISTS_H

#include "concurrent/worker/state.h"

void lists_open(haft_table *table);

/* Slot `index`, whose word is in the state FREE and this thread's alone. */
void list_push(haft_table *table, enum list_kind kind, uint64_t index);

/* A look, which may be a moment old. */
bool list_is_empty(const haft_table *table, enum list_kind kind);

/* Whether any list has a slot. */
bool lists_have_slots(const haft_table *table);

/* Move up to `most` slots into the empty `batch`; their words are FREE again.  How many. */
uint32_t list_take(haft_table *table, enum list_kind kind, struct batch *batch, uint32_t most);

/* Up to `most` of them into `indices`: how many.  Lock-free. */
uint64_t inherited_take(haft_worker *worker, uint64_t most, uint32_t *indices);

#endif /* HAFT_CONCURRENT_LISTS_H */
