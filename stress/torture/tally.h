/*
 * stress/torture/tally.h - what a play has done and met.  One for each thread, added up at the end
 * of its life.
 */
#ifndef HAFT_STRESS_TORTURE_TALLY_H
#define HAFT_STRESS_TORTURE_TALLY_H

#include <stdint.h>

enum count {
    /* calls that were made */
    COUNT_INSERTED,
    COUNT_ABORTED,
    COUNT_FREED,
    COUNT_HELD,    /* resolved, and looked at until the section's end */
    COUNT_VISITED, /* by scans */
    COUNT_PINNED,
    COUNT_STALE,   /* ids of freed objects that were tried again */
    COUNT_LIVES,   /* threads that came, and went */
    COUNT_TICKS,   /* of the frame clock */
    COUNT_APPLIED, /* frames of commands */
    /* situations that were met */
    COUNT_TOO_LATE,     /* resolves of an id that was freed, or not published yet */
    COUNT_OUTLIVED,     /* objects that were freed while they were held */
    COUNT_REUSED,       /* slots of such objects that were handed out again */
    COUNT_LOST_FREE,    /* frees that another thread won */
    COUNT_PIN_OUTLIVED, /* objects that were freed while they were pinned */
    COUNT_FULL,         /* times that the table was full */
    COUNT_BUSY,         /* times that slots waited for a grace period */
    COUNT_EXHAUSTED,    /* tables with no life left in any slot */
    COUNT_SCANNED,      /* whole scans */
    COUNT_FLOODS,
    COUNT_DELAYS,
    COUNT_STUTTERS,
    COUNT_TRIMMED,   /* times that memory was given back while others worked */
    COUNT_REPEATED,  /* ids of freed objects that were live again, a lap later */
    COUNT_OVERTAKEN, /* recorded destructions of what others freed before they were applied */
    COUNT_COUNTED_OUTLIVED, /* counted objects that were freed while they were held */
    COUNT_SHARED_OUT,       /* local tables whose free slots went to several threads */
    COUNT_KINDS
};

extern const char *const count_names[COUNT_KINDS]; /* for programs */
extern const char *const count_texts[COUNT_KINDS]; /* for people, in the plural */

#define AGES 16
#define FREE_AGES 32

struct tally {
    uint64_t counts[COUNT_KINDS];

    /*
     * Objects that were freed while they were held, by what had happened since when their holder
     * looked for the last time.
     */
    uint64_t ages[AGES];           /* grace periods that ended; the last place: or more */
    uint64_t free_ages[FREE_AGES]; /* frees in the same table: 2^(place - 1) to 2^place - 1 */
};

void tally_add(struct tally *sum, const struct tally *more);
void tally_age(struct tally *tally, uint64_t grace_periods, uint64_t frees);

#endif /* HAFT_STRESS_TORTURE_TALLY_H */
