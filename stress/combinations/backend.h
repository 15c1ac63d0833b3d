/*
 * stress/combinations/backend.h - what differs between plain threads and the explorer's scheduler.
 */
#ifndef HAFT_COMBINATIONS_BACKEND_H
#define HAFT_COMBINATIONS_BACKEND_H

#include "stress/combinations/plan.h"
#include <haft/clock.h>
#include <sys/types.h>

/* How threads are played: names of the modes, the default first; NULL ends them. */
extern const char *const backend_modes[];

/* Whether plans are for threads at once. */
bool backend_is_at_once(const char *mode);

/* Plays a plan to its end: once in turns, else that many times, or under that many schedules. */
void backend_play(const struct plan *plan, const char *mode, uint32_t times);

/* Foreign clocks: sections with a begin and an end; threads that are online or offline; and such
 * sections again, of another library. */
const haft_foreign_clock *backend_memb(void);
const haft_foreign_clock *backend_qsbr(void);
const haft_foreign_clock *backend_ck(void);

/* Wait until `ready(what)`. */
void backend_await(bool (*ready)(const void *what), const void *what);

/* Whether a play may fork, and the system may be told to refuse memory. */
bool backend_has_system(void);

/* Whether a play may write files, by a thread of the library's own. */
bool backend_has_files(void);

/* fork(), without handlers where those could not run. */
pid_t backend_fork(void);

/* A rule is broken: ends the process. */
_Noreturn void backend_fail(const char *kind, const char *detail);

#endif /* HAFT_COMBINATIONS_BACKEND_H */
