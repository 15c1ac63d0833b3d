/*
 * stress/explorer/choice.h - the decisions: which thread runs next, and which store a load reads.
 *
 *   random       threads have random priorities, the highest runs; at a few random points the one
 *                that runs falls to the lowest (PCT: S. Burckhardt, P. Kothari, M. Musuvathi and
 *                S. Nagarakatte, "A randomized scheduler with probabilistic guarantees of finding
 *                bugs", ASPLOS 2010).  A load reads an older store by chance.
 *   exhaustive   depth-first through the tree of decisions, with limited numbers of preemptions and
 *                older stores read in one schedule (M. Musuvathi and S. Qadeer, "Iterative context
 *                bounding for systematic testing of multithreaded programs", PLDI 2007).  Where a
 *                thread must wait or yields, the next in turn goes on, and any other choice counts
 *                as a preemption: so every schedule is fair, and ends.
 *   replay       the decisions of a schedule that was printed.
 *
 * A decision's usual answer is 0: the thread that runs goes on, the load reads the newest store.
 * The others make up the schedule's text: "17:1,42:2" answers decision 17 with 1 and 42 with 2.
 */
#ifndef HAFT_STRESS_CHOICE_H
#define HAFT_STRESS_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

enum choice_mode { CHOICE_RANDOM, CHOICE_EXHAUSTIVE, CHOICE_REPLAY };

struct choice_options {
    enum choice_mode mode;
    uint64_t seed;
    uint32_t depth;       /* random: change points and one */
    uint32_t preemptions; /* exhaustive: at most in a schedule */
    uint32_t stale_reads; /* exhaustive: at most; random: 0 for none */
    const char *replay;   /* a schedule's text */
};

void choice_open(const struct choice_options *options);

/* Before each schedule, numbered from 0; after each.  False: there is no further one. */
void choice_begin(uint64_t schedule);
bool choice_end(void);

/* Why a thread may be switched. */
enum choice_reason {
    CHOICE_PREEMPT, /* the first of them runs and could go on */
    CHOICE_YIELD,   /* the one that runs asks others to go first */
    CHOICE_BLOCKED, /* the one that runs must wait */
    CHOICE_ENDED    /* the one that runs has ended, or waits for all to end */
};

/* Which of `count` threads runs next: its place. */
uint32_t choice_of_thread(const uint32_t *threads, uint32_t count, enum choice_reason reason);

/* Which of `count` stores is read, 0 the newest. */
uint32_t choice_of_store(uint32_t count);

/* Decisions in this schedule until now. */
uint64_t choice_decisions(void);

/* A number for this schedule's decisions: equal for equal ones. */
uint64_t choice_fingerprint(void);

/* This schedule's text into `text`, which ends in "..." where it does not fit. */
void choice_text(char *text, uint32_t size);

#endif /* HAFT_STRESS_CHOICE_H */
