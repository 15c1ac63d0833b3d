/*
 * Reservations of address space.
 *
 * Edges in this file.
 *   COMMIT   reservation_commit (release) -> reservation_commit (acquire)  ready, then used
 *   OWN      before the reservation is handed to other threads
 *   RETRY    how far others have come; the compare-and-swap decides
 */
#include "lib/base/reservation.h"
#include "lib/base/block.h"
#include "lib/base/os.h"
#include <assert.h>

#define STEP_BYTES (UINT64_C(2) << 20) /* made ready at a time: a huge page lies in one step */

/* Where the system charges step by step, of small reservations: a page of any system at least, and
 * so few steps. */
#define LEAST_STEP_BYTES (UINT64_C(64) << 10)
#define MOST_STEPS 32

static void set_reservation(struct reservation *reservation, enum reservation_kind kind, char *base,
                            uint64_t size)
{
    assert(base != NULL && size <= SIZE_MAX);
    reservation->base = base;
    reservation->size = (size_t)size;
    reservation->kind = kind;
    reservation->lead = reservation->more = 0;
    store_relaxed(OWN, &reservation->ready, size);
}

static uint64_t charged_step(uint64_t size)
{
    uint64_t step = LEAST_STEP_BYTES;

    while (step < STEP_BYTES && step * MOST_STEPS < size) {
        step *= 2;
    }
    return step;
}

uint64_t reservation_first_step(uint64_t size, uint64_t end)
{
    const uint64_t step = charged_step(size);
    const uint64_t after = (end + step - 1) / step * step;

    return after < size ? after : size;
}

/* The end of the step that ends at byte `end`, or behind it. */
static uint64_t step_after(const struct reservation *reservation, uint64_t end)
{
    const uint64_t step =
        reservation->kind == IN_STEPS ? charged_step(reservation->size) : STEP_BYTES;
    const uint64_t base = (uintptr_t)reservation->base;
    const uint64_t after = (base + end + step - 1) / step * step - base;

    assert(after >= end && after % 8 == 0);
    return after < reservation->size ? after : reservation->size;
}

/* Where all can be written, the first step is ready; the others are left out of dumps. */
static void begin_steps(struct reservation *reservation)
{
    const uint64_t size = reservation->size;
    const uint64_t first = size <= STEP_BYTES ? size : step_after(reservation, 1);

    store_relaxed(OWN, &reservation->ready, reservation->kind == IN_STEPS ? 0 : first);
    if (first < size) {
        os_dump(reservation->base + first, (size_t)(size - first), false);
    }
}

static haft_status open_pages(struct reservation *reservation, uint64_t size, bool readable)
{
    bool in_steps = false;
    char *base = size <= SIZE_MAX / 2 ? os_reserve((size_t)size, readable, &in_steps) : NULL;

    if (base == NULL) {
        return HAFT_NO_MEMORY;
    }
    set_reservation(reservation, in_steps ? IN_STEPS : IN_PAGES, base, size);
    begin_steps(reservation);
    return HAFT_OK;
}

haft_status reservation_open(struct reservation *reservation, uint64_t size)
{
    return open_pages(reservation, size, true);
}

/* The base is aligned here: heaps are slower where they align to more than max_align_t. */
static haft_status open_in_heap(struct reservation *reservation, uint64_t size, size_t alignment,
                                const haft_allocator *heap)
{
    assert((alignment & (alignment - 1)) == 0 && alignment <= UINT16_MAX);
    char *block = heap_take_zero(heap, (size_t)size + alignment, _Alignof(max_align_t));

    if (block == NULL) {
        return HAFT_NO_MEMORY;
    }
    const size_t lead = (alignment - (uintptr_t)block % alignment) % alignment;

    assert((uintptr_t)(block + lead) % alignment == 0);
    set_reservation(reservation, IN_HEAP, block + lead, size);
    reservation->lead = (uint16_t)lead;
    reservation->more = (uint16_t)alignment;
    return HAFT_OK;
}

static haft_status open_array(struct reservation *reservation, uint64_t size, size_t alignment,
                              const haft_allocator *heap, bool readable)
{
    const bool is_possible = size <= SIZE_MAX / 2;

    return size <= RESERVATION_SMALL || (block_is_of(heap) && is_possible)
               ? open_in_heap(reservation, size, alignment, heap)
               : open_pages(reservation, size, readable);
}

haft_status reservation_open_array(struct reservation *reservation, uint64_t size, size_t alignment,
                                   const haft_allocator *heap)
{
    return open_array(reservation, size, alignment, heap, true);
}

haft_status reservation_open_unread(struct reservation *reservation, uint64_t size,
                                    size_t alignment, const haft_allocator *heap)
{
    return open_array(reservation, size, alignment, heap, false);
}

haft_status reservation_open_given(struct reservation *reservation, uint64_t size,
                                   uint64_t alignment, struct given *given)
{
    char *base = given_take(given, size, alignment);

    if (base == NULL) {
        return HAFT_NO_MEMORY;
    }
    set_reservation(reservation, GIVEN, base, size);
    return HAFT_OK;
}

bool reservation_is_paged(const struct reservation *reservation)
{
    return reservation->kind == IN_PAGES || reservation->kind == IN_STEPS;
}

void reservation_ask_for_huge_pages(const struct reservation *reservation)
{
    assert(reservation_is_paged(reservation) && "only pages of the system are advised");
    os_ask_for_huge_pages(reservation->base, reservation->size);
}

void reservation_close(struct reservation *reservation)
{
    if (reservation_is_paged(reservation)) {
        os_release(reservation->base, reservation->size);
    }
}

void reservation_close_array(struct reservation *reservation, const haft_allocator *heap)
{
    if (reservation->kind == IN_HEAP) {
        heap_give(heap, reservation->base - reservation->lead,
                  reservation->size + reservation->more);
    } else {
        reservation_close(reservation);
    }
}

/* Bytes `begin` to `end`, where steps end. */
static bool make_ready(const struct reservation *reservation, uint64_t begin, uint64_t end)
{
    assert(begin < end && end <= reservation->size);
    if (reservation->kind == IN_STEPS &&
        !os_commit(reservation->base + begin, (size_t)(end - begin))) {
        return false;
    }
    os_dump(reservation->base + begin, (size_t)(end - begin), true);
    return true;
}

haft_status reservation_commit(struct reservation *reservation, uint64_t end)
{
    /* Weakened, a thread could write to memory that is not writable yet where it runs. */
    uint64_t before = load_acquire(COMMIT, &reservation->ready);

    if (end <= before) {
        return HAFT_OK;
    }
    assert(end <= reservation->size && "memory is used within its reservation");
    const uint64_t after = step_after(reservation, end);

    /* Two threads may do this at once: the same bytes become ready twice, which is harmless. */
    if (!make_ready(reservation, before, after)) {
        return HAFT_NO_MEMORY;
    }
    while (before < after && !cas_release(COMMIT, &reservation->ready, before, after)) {
        before = load_relaxed(RETRY, &reservation->ready);
    }
    return HAFT_OK;
}

uint64_t reservation_ready(const struct reservation *reservation)
{
    return load_relaxed(RETRY, &reservation->ready);
}

haft_status memory_populate(char *base, size_t size)
{
    const size_t before = (uintptr_t)base % os_page_size();

    return os_populate(base - before, size + before) ? HAFT_OK : HAFT_NO_MEMORY;
}

haft_status reservation_populate(const struct reservation *reservation, uint64_t begin,
                                 uint64_t end)
{
    assert(begin >= end || end <= reservation->size);
    return begin >= end || reservation->kind == GIVEN
               ? HAFT_OK
               : memory_populate(reservation->base + begin, (size_t)(end - begin));
}
