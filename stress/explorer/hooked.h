/* stress/explorer/hooked.h - which memory the library's atomic operations see. */
#ifndef HAFT_STRESS_HOOKED_H
#define HAFT_STRESS_HOOKED_H

#include <stdbool.h>

/* True: loads read what C11 allows.  False: the newest store, as in sequential consistency. */
void hooked_use_history(bool use);

/* An order beside the library's operations, for ThreadSanitizer; a token is any address. */
void hooked_acquire(void *token);
void hooked_release(void *token);

/* Gives the calling thread, outside schedules, what the library gives a thread once: a number; the
 * same before each schedule. */
void hooked_number_thread(void);

/* What can be broken on purpose, for some case to find out. */
enum broken {
    BROKEN_NOTHING,
    BROKEN_TAG,    /* depot, pool and lists exchange numbers without tags */
    BROKEN_GRACE,  /* grace periods end at once */
    BROKEN_TICKET, /* a batch's ticket is taken before its last free */
    BROKEN_CLAIM,  /* free looks and stores, in two steps */
    BROKEN_RETRY,  /* the slot that a first look saw is taken, even if another took it meanwhile */
    BROKEN_FLOOR,  /* runs are given back without a floor */
    BROKEN_LOOK,   /* no fault: free looks at the slot's word once more than it has to */
    BROKEN_COUNT
};

extern const char *const broken_names[BROKEN_COUNT];
extern enum broken broken;

#endif /* HAFT_STRESS_HOOKED_H */
