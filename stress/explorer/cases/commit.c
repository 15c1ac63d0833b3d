/*
 * White-box: memory that is made writable in steps.
 *
 * Making memory writable is an effect of the kernel that no checker of memory orders knows; so
 * os_commit() leaves a note, as plain as a write to the memory would be.
 */
#include "lib/base/reservation.h"
#include "stress/explorer/cases/case.h"
#include "stress/explorer/scheduler.h"
#include <stddef.h>
#include <sys/mman.h>

#define BYTES (UINT64_C(4) << 20) /* two steps */

static struct reservation reservation;
static bool has_protected[MOST_SCHEDULED]; /* plain: by that thread */
static bool is_refused[MOST_SCHEDULED];    /* each thread's own */

bool __real_os_commit(char *base, size_t size);
bool __wrap_os_commit(char *base, size_t size);
void *__real_os_alloc_aligned(size_t alignment, size_t size);
void *__wrap_os_alloc_aligned(size_t alignment, size_t size);

static bool is_refused_now(void)
{
    return schedule_self() != NO_THREAD && is_refused[schedule_self()];
}

void *__wrap_os_alloc_aligned(size_t alignment, size_t size)
{
    return is_refused_now() ? NULL : __real_os_alloc_aligned(alignment, size);
}

bool __wrap_os_commit(char *base, size_t size)
{
    if (is_refused_now()) {
        return false;
    }
    const bool done = __real_os_commit(base, size);

    if (schedule_self() != NO_THREAD) {
        has_protected[schedule_self()] = true;
    }
    return done;
}

void refuse_memory(bool refuse)
{
    is_refused[schedule_self()] = refuse;
}

static void set_up(void)
{
    for (int i = 0; i < MOST_SCHEDULED; i++) {
        has_protected[i] = false;
    }
    require_status(reservation_open(&reservation, BYTES), HAFT_OK, "address space");
    reservation.kind = IN_STEPS; /* and nothing is ready yet */
    store_relaxed(OWN, &reservation.ready, 0);
    require(mprotect(reservation.base, BYTES, PROT_READ) == 0, "readable memory");
}

static void body(uint32_t thread)
{
    const uint32_t self = schedule_self();
    const uint32_t other = thread == 0 ? self + 1 : self - 1;

    race_begin();
    require_status(reservation_commit(&reservation, 1), HAFT_OK, "memory");
    race_end();
    require(has_protected[self] || has_protected[other], "memory is used that is not writable");
    reservation.base[thread] = 1;
}

static void tear_down(void)
{
    reservation_close(&reservation);
}

EXPLORE(commit, 2, set_up, body, tear_down,
        "memory that one thread has made writable is so for the other that relies on it");
