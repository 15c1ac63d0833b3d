/*
 * Runs of slots: giving their memory back, and the list of fresh ones.
 *
 * Edges in this file.
 *   OWN   whoever gives a run back owns all its slots; resolve reads their words as atomics
 */
#include "lib/runs.h"
#include "lib/slots.h"
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

haft_status runs_prepare(struct slots *slots, uint64_t end)
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

uint64_t runs_give_back(struct slots *slots, uint64_t run)
{
    const uint64_t first = runs_first(&slots->runs, run);
    const uint64_t end = runs_end(&slots->runs, run);
    const uintptr_t page = (uintptr_t)page_size();
    const uintptr_t begin = (word_address(slots, first) + page - 1) / page * page;
    uintptr_t stop = word_address(slots, end) / page * page;

    /* Memory that is locked stays; then all words are cleared below. */
    if (stop <= begin || madvise((void *)begin, stop - begin, MADV_DONTNEED) != 0) {
        stop = begin;
    }
    for (uint64_t index = first; index < end; index++) {
        const uintptr_t at = word_address(slots, index);

        if (at < begin || at >= stop) {
            store_relaxed(OWN, slots_word(slots, index), 0);
        }
    }
    return stop - begin;
}

void runs_push(struct runs *runs, uint64_t run)
{
    runs->records[run].link = runs->first;
    runs->first = run;
}

uint64_t runs_pop(struct runs *runs)
{
    const uint64_t run = runs->first;

    assert(run != RUN_LAST);
    runs->first = runs->records[run].link;
    runs->records[run].link = RUN_IN_USE;
    return run;
}

void runs_remove(struct runs *runs, uint64_t run)
{
    uint64_t *link = &runs->first;

    while (*link != run) {
        assert(*link != RUN_LAST);
        link = &runs->records[*link].link;
    }
    *link = runs->records[run].link;
    runs->records[run].link = RUN_IN_USE;
}
