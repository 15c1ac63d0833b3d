/*
 * stress/combinations/watch.h - plays in child processes, which the parent watches.
 *
 * A play that breaks a rule, dies or does not end takes its process with it.  The child says which
 * rule in memory that both processes share.
 */
#ifndef HAFT_COMBINATIONS_WATCH_H
#define HAFT_COMBINATIONS_WATCH_H

#include "stress/combinations/cover.h"
#include <stdatomic.h>

#define KIND_SIZE 96

/* Shared by both processes. */
struct watch {
    _Atomic(uint64_t) plays; /* that have ended, or broken a rule */
    _Atomic(uint64_t) calls; /* of the library, by plays that have ended */
    _Atomic(uint32_t) call;  /* the one under way */
    uint64_t seed;           /* of the play under way */
    char kind[KIND_SIZE];    /* the rule that was broken; empty: none */
    char detail[256];
    char directory[256]; /* for files of plays; the search removes it, with what they have left */
    struct cover cover;  /* of all plays */
    struct plan plan;    /* the one to be played, where it is not drawn */
};

#define ENDLESS "a call does not return" /* the rule that a play breaks which takes too long */

extern struct watch *watch;

/* What the watched process does: plays plan after plan, or one of them. */
typedef void watched(uint64_t from, uint64_t count);

/*
 * Runs it in a child.  True if all rules held; else watch->kind and watch->detail have the rule
 * that was broken, or how the child died.  A play may take `patience` seconds; `errors` takes the
 * child's output on stderr.
 */
bool watch_run(watched *run, uint64_t from, uint64_t count, double patience, int errors);

/* What the child printed, with the calls in which it died: a static text, cut off if it is long. */
const char *watch_printed(int errors);

void watch_open(void);
double watch_seconds(void);

/* The signal that interrupts the search, or 0: then watch_run() ends the child at once, and no rule
 * counts as broken. */
int watch_interrupted(void);

/* What watched processes have used until now, of a processor. */
double watch_processor_seconds(void);

/* Notes the rule that is broken, or how the child has ended. */
void watch_note(const char *kind, const char *detail);

#endif /* HAFT_COMBINATIONS_WATCH_H */
