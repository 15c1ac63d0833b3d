/*
 * stress/explorer/scheduler.h - real threads, of which one runs at a time.
 *
 * A thread runs until it comes to a point; there choice.h says which goes on.  The turn is handed
 * over in files that are compiled without ThreadSanitizer, so the sanitizer sees only the orders
 * that the program makes itself.  The main thread is thread 0 of every schedule.
 */
#ifndef HAFT_STRESS_SCHEDULER_H
#define HAFT_STRESS_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#define MOST_SCHEDULED 8   /* threads in one schedule, with the main thread */
#define MOST_STEPS 100000u /* points in one schedule; more are a live-lock */
#define NO_THREAD UINT32_MAX

/* The calling thread, alone, begins or ends a schedule. */
void schedule_begin(void);
void schedule_end(void);

/* The calling thread's number; NO_THREAD outside schedules. */
uint32_t schedule_self(void);

/* Points that this schedule has come to. */
uint64_t schedule_steps(void);

/* Another thread may run before the calling one goes on. */
void schedule_point(void);

/* The calling thread waits for others: one of them goes first, if any can. */
void schedule_yield(void);

/* The calling thread goes on when `ready(what)`, and not before. */
void schedule_block(bool (*ready)(const void *what), const void *what);

/* The calling thread goes on when no other one can. */
void schedule_settle(void);

/* A number for a thread that will be created; it may run from now on. */
uint32_t schedule_add(void);

/* The created thread waits for its first turn; it passes the turn on for the last time. */
void schedule_enter(uint32_t thread);
void schedule_leave(void);

bool schedule_has_left(uint32_t thread);
bool schedule_was_abandoned(uint32_t thread);

/* All other threads but the main one end where they are; `last` is what each of them calls. */
void schedule_abandon(void (*last)(void));

#endif /* HAFT_STRESS_SCHEDULER_H */
