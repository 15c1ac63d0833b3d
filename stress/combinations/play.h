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

/* --- for calls that are made while all others stand still --- */

/* `call` by each of the plan's threads, one after the other; or by one of them. */
void by_each_thread(void (*call)(struct thread *thread));
void by_thread(uint32_t number, void (*call)(struct thread *thread));

void begin_table(void);

/* The option waiting_bytes, for the plan's number of slots. */
uint64_t waiting_bytes_of_plan(void);

/* haft_table_close() and haft_unshare() of the play's table: refused beside sides, which are closed
 * then.  A table that could not be closed has the plan's side again. */
haft_status play_close_table(void);
haft_status play_unshare_table(haft_local **local);

/* Each slot is in one place, and the counters agree; what registers name lives or does not: while
 * no call is under way. */
void check_census(void);
void check_registers(void);

/* on_reclaim must have run for each freed object; then the model begins anew. */
void table_has_closed(void);

/* Makes a call of the kind ALONE. */
void call_alone(struct thread *thread, const struct step *step);

/* --- memory --- */

/* The play begins; it has ended: all is given back. */
void begin_memory(void);
void end_memory(void);

/* The allocator of plans that have one, else NULL; and the blocks taken from it so far. */
const haft_allocator *heap_of_plan(void);
uint64_t heap_taken(void);

/* That many bytes for the domain or the table, until the next. */
enum given_to { GIVEN_DOMAIN, GIVEN_TABLE, GIVEN_COUNT };

void *give(enum given_to to, uint64_t bytes);

/* The system and the allocator refuse memory from now on, or give as much as ever. */
void set_memory_refused(bool refused);

#endif /* HAFT_COMBINATIONS_PLAY_H */
