/*
 * Releasing page runs.
 *
 * Edges in this file.
 *   OWN   the thread that releases a run owns all its slots; resolve reads their words as atomics
 */
#include "lib/slots/release.h"
#include "lib/base/os.h"
#include <assert.h>

static uintptr_t word_address(const struct slots *slots, uint64_t index)
{
    return (uintptr_t)(slots->view.base + index * slots->view.stride);
}

/* Clear the words from slot `first` on, as far as they lie below the address `stop`. */
static uint64_t clear_until(const struct slots *slots, uint64_t first, uint64_t end, uintptr_t stop)
{
    while (first < end && word_address(slots, first) < stop) {
        store_relaxed(OWN, slots_word(slots, first++), 0);
    }
    return first;
}

uint64_t slots_release(struct slots *slots, uint64_t run, uint64_t beyond)
{
    const uint64_t first = runs_first(&slots->runs, run);
    const uint64_t end = runs_first(&slots->runs, beyond);
    const uintptr_t page = os_page_size();

    assert(!slots->runs.stay && run >= runs_least(&slots->runs) && run < beyond);
    assert(end <= slots->view.mask + 1);
    const uintptr_t begin = (word_address(slots, first) + page - 1) / page * page;
    uintptr_t stop = word_address(slots, end) / page * page;

    /* Memory that is locked stays; then all words are cleared below. */
    if (stop <= begin || !os_discard((char *)begin, stop - begin)) {
        stop = begin;
    }
    uint64_t index = clear_until(slots, first, end, begin);

    /* The words in between are gone: go on with the first one behind them. */
    if (stop > begin) {
        index += (stop - word_address(slots, index) + slots->view.stride - 1) / slots->view.stride;
    }
    assert(index >= first && index <= end);
    clear_until(slots, index, end, UINTPTR_MAX);
    return stop - begin;
}
