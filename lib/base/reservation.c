/*
 * Reservations of address space.
 *
 * Edges in this file.
 *   COMMIT   reservation_commit (release) -> reservation_commit (acquire)  writable, then used
 *   OWN      before the reservation is handed to other threads
 *   RETRY    how far others have come; the compare-and-swap decides
 */
#include "lib/base/reservation.h"
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEP_BYTES (UINT64_C(2) << 20) /* made writable at a time */
#define POPULATE_WRITE 23              /* MADV_POPULATE_WRITE, which older headers lack */

haft_status reservation_open(struct reservation *reservation, uint64_t size)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

    if (size > SIZE_MAX / 2) {
        return HAFT_NO_MEMORY;
    }
    bool in_steps = false;
    void *base = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, flags, -1, 0);

    if (base == MAP_FAILED) {
        in_steps = true;
        base = mmap(NULL, (size_t)size, PROT_READ, flags, -1, 0);
    }
    if (base == MAP_FAILED) {
        return HAFT_NO_MEMORY;
    }
    /* One touched word would cost a huge page; a kernel that has none may refuse. */
    madvise(base, (size_t)size, MADV_NOHUGEPAGE);
    reservation->base = base;
    reservation->size = (size_t)size;
    reservation->in_steps = in_steps;
    store_relaxed(OWN, &reservation->writable, 0);
    return HAFT_OK;
}

void reservation_ask_for_huge_pages(const struct reservation *reservation)
{
    madvise(reservation->base, reservation->size, MADV_HUGEPAGE);
}

void reservation_close(struct reservation *reservation)
{
    munmap(reservation->base, reservation->size);
}

static uint64_t step_after(const struct reservation *reservation, uint64_t end)
{
    const uint64_t after = (end + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;

    return after < reservation->size ? after : reservation->size;
}

haft_status reservation_commit(struct reservation *reservation, uint64_t end)
{
    if (!reservation->in_steps) {
        return HAFT_OK;
    }
    /* Weakened, a thread could write to memory that is not writable yet where it runs. */
    uint64_t before = load_acquire(COMMIT, &reservation->writable);
    const uint64_t after = step_after(reservation, end);

    if (end <= before) {
        return HAFT_OK;
    }
    /* Two threads may do this at once: the same bytes become writable twice, which is harmless. */
    if (mprotect(reservation->base, (size_t)after, PROT_READ | PROT_WRITE) != 0) {
        return HAFT_NO_MEMORY;
    }
    while (before < after && !cas_release(COMMIT, &reservation->writable, before, after)) {
        before = load_relaxed(RETRY, &reservation->writable);
    }
    return HAFT_OK;
}

haft_status reservation_populate(const struct reservation *reservation, uint64_t begin,
                                 uint64_t end)
{
    const uint64_t page = reservation_page();
    const uint64_t from = begin / page * page;
    const int result = madvise(reservation->base + from, (size_t)(end - from), POPULATE_WRITE);

    /* Before Linux 5.14, and elsewhere, the pages come when they are written to. */
    return result != 0 && errno == ENOMEM ? HAFT_NO_MEMORY : HAFT_OK;
}

uint64_t reservation_page(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

bool reservation_release(void *begin, size_t size)
{
    return madvise(begin, size, MADV_DONTNEED) == 0;
}
