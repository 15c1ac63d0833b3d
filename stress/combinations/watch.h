/*
 * stress/combinations/watch.h - plays in processes of their own, watched from outside.
 *
 * A play that breaks a rule, dies or does not end takes its process with it; what it had to say is
 * in memory that it shares with the one that watches.
 */
#ifndef HAFT_COMBINATIONS_WATCH_H
#define HAFT_COMBINATIONS_WATCH_H

#include "stress/combinations/plan.h"

#define KIND_SIZE 96

/* Shared by both processes. */
struct watch {
    _Atomic(uint64_t) plays; /* begun */
    _Atomic(uint64_t) calls; /* of the library, by plays that have ended */
    _Atomic(uint32_t) call;  /* the one under way */
    uint64_t seed;           /* of the play under way */
    char kind[KIND_SIZE];    /* the rule that was broken; empty: none */
    char detail[256];
    struct plan plan; /* the one to be played, where it is not drawn */
};

extern struct watch *watch;

/* What the watched process does: plays plan after plan, or one of them. */
typedef void watched(uint64_t from, uint64_t count);

/*
 * Runs it in a process of its own.  True if it ended in peace; else what was wrong is in
 * watch->kind and watch->detail.  A play may take `patience` seconds; `errors` takes what the
 * process prints.
 */
bool watch_run(watched *run, uint64_t from, uint64_t count, double patience, int errors);

void watch_open(void);
double watch_seconds(void);

/* What watched processes have used until now, of a processor. */
double watch_processor_seconds(void);

/* In the watched process: the rule is broken. */
void watch_note(const char *kind, const char *detail);

#endif /* HAFT_COMBINATIONS_WATCH_H */
