/*
 * stress/torture/play.h - one play: a domain with tables that a profile's threads torture for a
 * while, and what must be true of them at the end.
 */
#ifndef HAFT_STRESS_TORTURE_PLAY_H
#define HAFT_STRESS_TORTURE_PLAY_H

#include "stress/torture/counts.h"
#include "stress/torture/desks.h"
#include "stress/torture/ledger.h"
#include "stress/torture/options.h"
#include "stress/torture/tally.h"
#include <pthread.h>

#define LARGE 504 /* bytes of an object: with its word, eight of them fill a page */

/* What all threads of a play share. */
struct play {
    const struct options *options;
    const struct profile *profile;
    struct run run; /* the play's own seed */
    haft_domain *domain;
    struct subject subjects[MOST_TABLES];
    uint64_t ages_allowed;  /* grace periods that may end within one section */
    bool has_frames;        /* the coordinator ticks between frames */
    pthread_rwlock_t frame; /* a frame's readers have it; the tick takes it for itself */
    shared_u64 announced[MOST_THREADS]; /* ids that readers hold, for writers to free */
    shared_u64 took_over[MOST_THREADS]; /* 1: took free slots of the local table that was shared */
    uint64_t debts[MOST_THREADS]; /* objects that a thread's lives have freed and not replaced */
    shared_u64 paused;            /* 1: all threads stutter */
    shared_u64 over;              /* 1: time to end */
    shared_u64 ended;             /* threads that have */
    shared_u64 begun;             /* threads that are ready, with SHARES */
    shared_u64 stalls;
    _Atomic(uint64_t) handed; /* a pinned id, for the next thread to unpin; 0: none.  See pins.c */
    struct counts counts;     /* with COUNTS */
    struct desk desks[DESKS];
    haft_commands *commands;  /* the applier's */
    uint64_t calls_made;      /* by it */
    pthread_mutex_t lock;     /* of sum */
    struct tally sum;         /* of lives that have ended */
    struct tally coordinated; /* the coordinator's own */
};

/* Torture for up to `ns` nanoseconds; its counts are added to `sum`. */
void play_run(const struct options *options, const struct profile *profile, uint64_t number,
              uint64_t ns, struct tally *sum, uint64_t *stalls);

/* An invariant is broken: print it, with profile and seed, and end the process at once. */
_Noreturn void broken(const struct play *play, const char *text, ...)
    __attribute__((format(printf, 2, 3)));

/* How many grace periods have ended. */
static inline uint64_t grace_periods(const struct play *play)
{
    return haft_domain_stats_get(play->domain).grace_periods;
}

static inline bool has_habit(const struct play *play, enum habit habit)
{
    return (play->profile->habits & (unsigned)habit) != 0;
}

/* The table that an id belongs to, by its tag. */
struct subject *subject_of(struct play *play, haft_id id);

/* A table was opened: what can be asked of it, and its ledger. */
void subject_describe(struct play *play, struct subject *subject);

/* For the drain at the end, when no other thread runs; ends with all tables empty and closed. */
void play_end(struct play *play);

void sleep_ns(uint64_t ns);
uint64_t time_ns(void);

#endif /* HAFT_STRESS_TORTURE_PLAY_H */
