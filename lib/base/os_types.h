/*
 * lib/base/os_types.h - room for the system's own types, which os.h works on.
 *
 * os_posix.c and os_windows.c check that their types fit; so no header of a system is included
 * here.
 */
#ifndef HAFT_LIB_OS_TYPES_H
#define HAFT_LIB_OS_TYPES_H

#include <stdint.h>

/* Asserts that a type of the system fits the room for it. */
#define FITS(type, room) _Static_assert(sizeof(type) <= sizeof(room), "os_types.h: too small")

/* macOS's mutexes are the largest; where os_posix.c makes semaphores of mutexes, they take more. */
#if defined(__APPLE__) || defined(HAFT_OS_POSIX) ||                                                \
    (defined(__unix__) && !defined(__linux__) && !defined(HAFT_OS_BARE))
enum { MUTEX_WORDS = 8, SEMAPHORE_WORDS = 15 };
#else
enum { MUTEX_WORDS = 6, SEMAPHORE_WORDS = 4 };
#endif

/* Whether memory reserved without `readable` is unreadable until committed, as on Windows. */
#if (defined(_WIN32) && !defined(HAFT_OS_BARE)) || defined(HAFT_OS_IN_STEPS)
enum { OS_READS_IN_STEPS = 1 };
#else
enum { OS_READS_IN_STEPS = 0 };
#endif

/* One that is all zero is free: static ones need nothing else. */
struct os_mutex {
    uint64_t room[MUTEX_WORDS];
};

struct os_condition {
    uint64_t room[6];
};

struct os_semaphore {
    uint64_t room[SEMAPHORE_WORDS];
};

/* It stays where it is until it is joined. */
struct os_thread {
    uint64_t room[1];
    void (*run)(void *arg);
    void *arg;
};

#endif /* HAFT_LIB_OS_TYPES_H */
