/* Page runs: their records. */
#include "lib/slots/runs.h"
#include <assert.h>
#include <stddef.h>

#define RUN_PAGE UINT64_C(4096) /* the smallest of any system, so that runs are alike on all */
#define COARSE_PAGES 16         /* in a run that cannot end with a page: one page or two are lost */

/*
 * The smallest runs that begin and end with a page, if they are not too large.  Where the system's
 * pages are larger, only stretches of runs hold whole ones.
 */
void runs_setup(struct runs *runs, uint64_t slots, uint64_t stride, bool is_biased)
{
    unsigned shift = 0;

    assert(slots != 0 && stride >= sizeof(uint64_t));
    while ((is_biased || (stride << shift) % RUN_PAGE != 0) &&
           stride << shift < COARSE_PAGES * RUN_PAGE) {
        shift++;
    }
    runs->shift = shift;
    runs->count = ((slots - 1) >> shift) + 1;
    runs->first = RUN_LAST;
    runs->records = NULL;
    runs->stay = false;
}

void runs_close(struct runs *runs)
{
    if (runs->records != NULL) {
        reservation_close(&runs->memory);
    }
}

haft_status runs_reserve(struct runs *runs)
{
    if (runs->records == NULL && !runs->stay) {
        const haft_status status =
            reservation_open(&runs->memory, runs->count * sizeof *runs->records);

        if (status != HAFT_OK) {
            return status;
        }
        runs->records = (struct run *)(void *)runs->memory.base;
    }
    return HAFT_OK;
}

haft_status runs_prepare(struct runs *runs, uint64_t end)
{
    const haft_status status = runs_reserve(runs);

    assert(!runs->stay && end != 0 && runs_of(runs, end - 1) < runs->count);
    if (status != HAFT_OK) {
        return status;
    }
    return reservation_commit(&runs->memory, (runs_of(runs, end - 1) + 1) * sizeof *runs->records);
}

uint64_t runs_first(const struct runs *runs, uint64_t run)
{
    return run << runs->shift;
}

uint64_t runs_end(const struct runs *runs, uint64_t run)
{
    return runs_first(runs, run + 1);
}
