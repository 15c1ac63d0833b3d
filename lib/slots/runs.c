/*
 * Runs of slots: giving their memory back, and the list of fresh ones.
 *
 * Edges in this file.
 *   OWN   whoever gives a run back owns all its slots; resolve reads their words as atomics
 */
#include "lib/slots/runs.h"
#include "lib/slots/slots.h"
#include <assert.h>
#include <sys/mman.h>
#include <unistd.h>

#define COARSE_PAGES 16 /* in a run that cannot end with a page: one page or two are lost */

static uint64_t page_size(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The smallest runs that begin and end with a page, if they are not too large. */
void runs_setup(struct slots *slots)
{
    const uint64_t stride = slots->view.stride;
    const uint64_t page = page_size();
    const bool is_biased = slots->view.base != slots->memory.base;
    unsigned shift = 0;

    while ((is_biased || (stride << shift) % page != 0) && stride << shift < COARSE_PAGES * page) {
        shift++;
    }
    slots->runs.shift = shift;
    slots->runs.first = RUN_LAST;
    slots->runs.records = NULL;
}

void runs_close(struct runs *runs)
{
    if (runs->records != NULL) {
        reservation_close(&runs->memory);
    }
}

haft_status runs_reserve(struct slots *slots)
{
    struct runs *runs = &slots->runs;
    const uint64_t most = runs_of(runs, slots->view.mask) + 1;

    if (runs->records == NULL) {
        const haft_status status = reservation_open(&runs->memory, most * sizeof *runs->records);

        if (status != HAFT_OK) {
            return status;
        }
        runs->records = (struct run *)(void *)runs->memory.base;
    }
    return HAFT_OK;
}

haft_status runs_prepare(struct slots *slots, uint64_t end)
{
    struct runs *runs = &slots->runs;
    const haft_status status = runs_reserve(slots);

    if (status != HAFT_OK) {
        return status;
    }
    return reservation_commit(&runs->memory, (runs_of(runs, end) + 1) * sizeof *runs->records);
}

uint64_t runs_first(const struct runs *runs, uint64_t run)
{
    return run << runs->shift;
}

uint64_t runs_end(const struct runs *runs, uint64_t run)
{
    return runs_first(runs, run + 1);
}

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

uint64_t runs_give_back(struct slots *slots, uint64_t run, uint64_t beyond)
{
    const uint64_t first = runs_first(&slots->runs, run);
    const uint64_t end = runs_first(&slots->runs, beyond);
    const uintptr_t page = (uintptr_t)page_size();
    const uintptr_t begin = (word_address(slots, first) + page - 1) / page * page;
    uintptr_t stop = word_address(slots, end) / page * page;

    /* Memory that is locked stays; then all words are cleared below. */
    if (stop <= begin || madvise((void *)begin, stop - begin, MADV_DONTNEED) != 0) {
        stop = begin;
    }
    uint64_t index = clear_until(slots, first, end, begin);

    /* The words in between are gone: go on with the first one behind them. */
    if (stop > begin && index < end) {
        index += (stop - word_address(slots, index) + slots->view.stride - 1) / slots->view.stride;
    }
    clear_until(slots, index, end, UINTPTR_MAX);
    return stop - begin;
}

void runs_push(struct runs *runs, uint64_t run)
{
    runs_set_link(runs, run, runs->first);
    runs->first = run;
}

uint64_t runs_pop(struct runs *runs)
{
    const uint64_t run = runs->first;

    assert(run != RUN_LAST);
    runs->first = runs_link(runs, run);
    runs_set_link(runs, run, RUN_IN_USE);
    return run;
}

void runs_remove(struct runs *runs, uint64_t run)
{
    uint64_t before = RUN_LAST;

    for (uint64_t at = runs->first; at != run; at = runs_link(runs, at)) {
        assert(at != RUN_LAST);
        before = at;
    }
    if (before == RUN_LAST) {
        runs->first = runs_link(runs, run);
    } else {
        runs_set_link(runs, before, runs_link(runs, run));
    }
    runs_set_link(runs, run, RUN_IN_USE);
}
