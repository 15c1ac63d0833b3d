/*
 * lib/base/os_types.h - room for the system's own types, which os.h works on.
 *
 * os_posix.c checks that its types fit; so no header of the system is included here.
 */
#ifndef HAFT_LIB_OS_TYPES_H
#define HAFT_LIB_OS_TYPES_H

#include <stdint.h>

/* One that is all zero is free: static ones need nothing else. */
struct os_mutex {
    uint64_t room[6];
};

struct os_condition {
    uint64_t room[6];
};

struct os_semaphore {
    uint64_t room[4];
};

/* It stays where it is until it is joined. */
struct os_thread {
    uint64_t room[1];
    void (*run)(void *arg);
    void *arg;
};

struct os_key {
    uint64_t number;
};

#endif /* HAFT_LIB_OS_TYPES_H */
