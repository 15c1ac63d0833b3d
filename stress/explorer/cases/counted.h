/*
 * stress/explorer/cases/counted.h - a counted table for each schedule, and what is known of its
 * objects.
 *
 * What the cases note of an id is noted between steps: it costs no step and orders nothing.
 * White-box: a thread chooses its shard.
 */
#ifndef HAFT_STRESS_COUNTED_CASE_H
#define HAFT_STRESS_COUNTED_CASE_H

#include "stress/explorer/cases/case.h"
#include <haft/counted.h>

extern haft_counted *counted;

/*
 * With an index of 3 bits, at most 4 slots, 31 lives of each unless the layout says otherwise, and
 * objects of 2 words, which on_destroy overwrites unless they are copied.  It checks that the
 * object is the id's, that none holds it, and that it ends once; then it calls `also`, if any.
 */
void open_counted(haft_counted_options options, void (*also)(haft_id id));

/* The same without on_destroy. */
void open_plain(haft_counted_options options);

/* Closing succeeds, and each object has ended: destroyed or taken, once, where on_destroy tells. */
void close_counted(void);
void require_all_ended(void);

/* From now on the calling thread's shard is `number`, modulo the table's number of shards. */
void choose_shard(uint32_t number);

/* A new object.  HAFT_NIL in `*id` where the answer is another one than HAFT_OK. */
haft_status insert_counted(haft_id *id);
haft_id insert_surely(void);

/* Reserve a slot, with an object in it, for haft_counted_publish() or this abort. */
haft_id reserve_counted(void);
void abort_counted(haft_id id);

/* Whether the calling thread has ended the id's life: only one thread does. */
bool free_counted(haft_id id);
haft_status take_counted(haft_id id); /* HAFT_OK, HAFT_STALE or HAFT_IN_USE */

/* Acquire; what is held must be the id's object. */
bool hold(haft_id id);
void hold_again(haft_id id);

/* A hold of the calling thread ends, or one that it was left. */
void let_go(haft_id id);

/* Whether a thread has held it that has not begun to let go. */
bool is_held(haft_id id);

/* Its holders were threads that are gone. */
void forget_holders(haft_id id);

/* Whether the id is copied: then it is its object. */
bool copy_counted(haft_id id);

/* How often on_destroy has run for the id, or take has succeeded. */
uint64_t ends_of(haft_id id);

/* Ids that threads tell each other: no step, no order. */
void tell(shared_u64 *place, haft_id id);
haft_id told(shared_u64 *place);

#endif /* HAFT_STRESS_COUNTED_CASE_H */
