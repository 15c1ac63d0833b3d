/*
 * lib/base/reservation.h - address space reserved at once, memory touched as it is first used.
 *
 * Where the system would charge for all of it (strict overcommit, a limit on data, Windows), it is
 * reserved readable and made writable in steps; never unreadable if a forged id may lead anywhere
 * in it, so that Windows charges for all of that.  Where the system lets a program say so, it
 * leaves a dump of the process's memory, step by step too: what is beyond the steps in use is not
 * in it.
 *
 * A small array is one block of a heap instead: system calls would cost more than its bytes.  No
 * page of it is ever discarded, and no advice is given on it.
 */
#ifndef HAFT_LIB_RESERVATION_H
#define HAFT_LIB_RESERVATION_H

#include "lib/base/atomics.h"
#include "lib/base/given.h"
#include "lib/base/heap.h"
#include <haft/status.h>
#include <stddef.h>

enum reservation_kind {
    IN_PAGES,
    IN_STEPS, /* pages, made writable in steps; some systems cannot read them before */
    IN_HEAP,  /* one block */
    GIVEN,    /* the program's memory */
};

struct reservation {
    char *base; /* a page's start, or aligned as wished */
    size_t size;
    enum reservation_kind kind;
    uint16_t lead;    /* in a heap: bytes of the block before the base */
    uint16_t more;    /* in a heap: bytes of the block beyond those of the array */
    atomic_u64 ready; /* bytes from the base that are writable, and in dumps */
};

/* HAFT_OK, all bytes zero; or HAFT_NO_MEMORY. */
haft_status reservation_open(struct reservation *reservation, uint64_t size);

/*
 * The same for an array that is in `heap` if it has at most RESERVATION_SMALL bytes, or if the heap
 * is a block of the program's.  Its base is a multiple of `alignment`, a power of two up to a page.
 */
haft_status reservation_open_array(struct reservation *reservation, uint64_t size, size_t alignment,
                                   const haft_allocator *heap);

/* The same for an array of which only what reservation_commit() has made writable is read. */
haft_status reservation_open_unread(struct reservation *reservation, uint64_t size,
                                    size_t alignment, const haft_allocator *heap);
void reservation_close_array(struct reservation *reservation, const haft_allocator *heap);

/* An array in memory that the program has given.  HAFT_NO_MEMORY: there is too little. */
haft_status reservation_open_given(struct reservation *reservation, uint64_t size,
                                   uint64_t alignment, struct given *given);

/* Two pages: cleared as a whole, they cost no more than pages of their own. */
#define RESERVATION_SMALL ((uint64_t)8 << 10)

/* Whether it is in pages of the system: only these may be advised and released. */
bool reservation_is_paged(const struct reservation *reservation);

void reservation_close(struct reservation *reservation);

/* Ask for huge pages, which are declined otherwise.  The system may have none. */
void reservation_ask_for_huge_pages(const struct reservation *reservation);

/* The first bytes of one of `size` bytes that the system charges for, if it does so in steps. */
uint64_t reservation_first_step(uint64_t size, uint64_t end);

/* Make the first `end` bytes writable.  HAFT_OK or HAFT_NO_MEMORY.  Any threads, lock-free. */
haft_status reservation_commit(struct reservation *reservation, uint64_t end);

/* The first bytes that are writable, at least. */
uint64_t reservation_ready(const struct reservation *reservation);

/*
 * Have the system find memory now for writable bytes: memory_populate() for any bytes, such as a
 * block of malloc; reservation_populate() for bytes `begin` to `end` of a reservation, of which
 * given memory is not touched.  HAFT_OK, also on systems that cannot be asked; or HAFT_NO_MEMORY.
 */
haft_status memory_populate(char *base, size_t size);
haft_status reservation_populate(const struct reservation *reservation, uint64_t begin,
                                 uint64_t end);

#endif /* HAFT_LIB_RESERVATION_H */
