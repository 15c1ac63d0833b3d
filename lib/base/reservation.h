/*
 * lib/base/reservation.h - address space reserved at once, memory touched as it is first used.
 *
 * Where the system would charge for all of it (strict overcommit, a limit on data), it is
 * reserved readable and made writable in steps; never unreadable, or a read through a forged id
 * would fault.
 */
#ifndef HAFT_LIB_RESERVATION_H
#define HAFT_LIB_RESERVATION_H

#include "lib/base/atomics.h"
#include <haft/status.h>
#include <stddef.h>

struct reservation {
    char *base; /* a page's start */
    size_t size;
    bool in_steps;       /* made writable in steps */
    atomic_u64 writable; /* in steps: bytes from the base that are writable */
};

/* HAFT_OK, all bytes zero; or HAFT_NO_MEMORY. */
haft_status reservation_open(struct reservation *reservation, uint64_t size);
void reservation_close(struct reservation *reservation);

/* Ask for huge pages, which are declined otherwise.  The system may have none. */
void reservation_ask_for_huge_pages(const struct reservation *reservation);

/* Make the first `end` bytes writable.  HAFT_OK or HAFT_NO_MEMORY.  Any threads, lock-free. */
haft_status reservation_commit(struct reservation *reservation, uint64_t end);

/*
 * Have the system find memory now for the bytes from `begin` to `end`, which are writable.
 * HAFT_OK, also on systems that cannot be asked; or HAFT_NO_MEMORY.
 */
haft_status reservation_populate(const struct reservation *reservation, uint64_t begin,
                                 uint64_t end);

#endif /* HAFT_LIB_RESERVATION_H */
