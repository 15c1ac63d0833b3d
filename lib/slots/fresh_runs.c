/* The list of released runs. */
#include "lib/slots/fresh_runs.h"
#include "lib/base/walk.h"
#include <assert.h>

/* The list, as far as a walk goes: each run is there, and none but the last is in use. */
static HAFT_UNUSED bool runs_are_listed(const struct runs *runs)
{
    uint64_t run = runs->first;

    for (int i = 0; run != RUN_LAST && i < WALK_MOST; i++) {
        if (run < runs_least(runs) || run >= runs->count) {
            return false;
        }
        run = runs_link(runs, run);
    }
    return true;
}

void fresh_runs_push(struct runs *runs, uint64_t run)
{
    assert(run >= runs_least(runs) && "slot 0's word is a mark for ever");
    assert(runs->first == RUN_LAST || runs->first < runs->count);
    runs_set_link(runs, run, runs->first);
    runs->first = run;
    assert_walk(runs_are_listed(runs));
}

uint64_t fresh_runs_pop(struct runs *runs)
{
    const uint64_t run = runs->first;

    assert(run != RUN_LAST);
    runs->first = runs_link(runs, run);
    assert(runs->first != RUN_IN_USE && "a run in the list leads to another, or is the last");
    runs_set_link(runs, run, RUN_IN_USE);
    return run;
}

void fresh_runs_remove(struct runs *runs, uint64_t run)
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
    assert_walk(runs_are_listed(runs));
}
