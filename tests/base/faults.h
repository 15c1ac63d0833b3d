/*
 * tests/base/faults.h - calls to the system that fail when a test wants it.
 *
 * Programs with this are linked so that what the library calls of lib/base/os.h, of malloc and of
 * files comes here first.
 */
#ifndef HAFT_TESTS_FAULTS_H
#define HAFT_TESTS_FAULTS_H

#include "tests/support.h"

/* Calls are numbered from 1 at fail_calls(); those from `first` to `last` fail. */
struct faults {
    int calls;
    int first;
    int last;
    bool strict;               /* memory becomes writable in steps alone */
    bool no_memory;            /* no address space at all */
    bool no_protect;           /* nothing becomes writable */
    bool no_advice;            /* no memory goes back, as when it is locked; none comes early */
    bool no_random;            /* no bits by chance */
    size_t page;               /* bytes in a page, if not 0 */
    long balance;              /* acquired and not given back */
    int open_error;            /* once, if not 0: why open() refuses */
    int openat_error;          /* the same for openat() */
    int short_writes;          /* number that write one byte, each behind one that is interrupted */
    void (*before_lock)(void); /* once: what another process does before a file is locked */
    void (*before_commit)(void);        /* once: what other threads do meanwhile */
    void (*before_alloc_aligned)(void); /* once: what the program does meanwhile */
};

extern struct faults faults;

void fail_calls(int first, int last);

/* Fail each call of opening in turn, to the last, alone (false) or with all after it. */
void fail_each(haft_status (*open)(void **), void (*close)(void *), bool for_ever);
void fail_each_both_ways(haft_status (*open)(void **), void (*close)(void *));

/* Such an opening: `call` of the library with `&made`, a `type *` that is as it was if it fails. */
#define FAULTS_OPEN(name, type, call)                                                              \
    static haft_status name(void **opened)                                                         \
    {                                                                                              \
        type *made = *opened;                                                                      \
        const haft_status status = call;                                                           \
                                                                                                   \
        *opened = made;                                                                            \
        return status;                                                                             \
    }

#endif /* HAFT_TESTS_FAULTS_H */
