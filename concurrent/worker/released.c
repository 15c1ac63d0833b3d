/*
 * Runs whose memory was released: a stack through the links of their records (lib/slots/runs.h).
 *
 * haft_trim() adds runs all of whose slots it has taken out of batches; a local table that was
 * trimmed brings some.  A worker that draws fresh slots takes a run before it raises the table's
 * bump.  The head has a tag, since a run may leave the list and come back.
 *
 * Edges in this file.
 *   FLOOR   released_push (release) -> released_take (acquire)   the floor, and the last use of
 *           the run's slots, before the next one
 *   ONWARD  a run leaves the list before its slots are used, and comes into it when no object is
 *           left there
 *   OWN     the run is this thread's alone
 *   COUNT   slots in the list
 *   RETRY   a first look; the compare-and-swap decides
 */
#include "concurrent/worker/released.h"
#include "concurrent/batches/tagged.h"
#include <assert.h>

void released_push(haft_table *table, struct run_list runs)
{
    struct released *list = &table->released;
    uint64_t head;

    assert(runs.slots != 0 && runs.first < NUMBER_NONE && runs.last < NUMBER_NONE);
    fetch_add_relaxed(COUNT, &list->slots, runs.slots);
    do {
        head = load_relaxed(RETRY, &list->head);
        const uint64_t next = tagged_number(head);

        runs_set_link(&table->slots.runs, runs.last, next == NUMBER_NONE ? RUN_LAST : next);
        /* Weakened, slots could begin below their floor: ids from before would live again. */
    } while (!cas_release(FLOOR, &list->head, head, tagged_next(head, runs.first)));
}

/* The number of a run that is this thread's now, or NUMBER_NONE. */
static uint64_t pop_run(haft_table *table)
{
    for (;;) {
        const uint64_t head = load_acquire(FLOOR, &table->released.head);
        const uint64_t run = tagged_number(head);

        if (run == NUMBER_NONE) {
            return NUMBER_NONE;
        }
        /* RUN_LAST ends as NUMBER_NONE.  If another thread has the run, the tag has changed. */
        const uint64_t next = load_relaxed(RETRY, &table->slots.runs.records[run].link);

        if (cas_relaxed(RETRY, &table->released.head, head,
                        tagged_next(head, tagged_number(next)))) {
            return run;
        }
    }
}

void released_apply_floor(const haft_table *table, uint64_t first, uint64_t count)
{
    const struct slots *slots = &table->slots;

    for (uint64_t index = first; index < first + count; index++) {
        store_relaxed(OWN, slots_word(slots, index), slots_begin_at(slots, index, 0));
    }
}

uint64_t released_take(haft_table *table, uint64_t *first)
{
    const struct runs *runs = &table->slots.runs;
    const uint64_t run = pop_run(table);

    if (run == NUMBER_NONE) {
        return 0;
    }
    const uint64_t count = runs_end(runs, run) - runs_first(runs, run);

    assert(run >= runs_least(runs) && runs_end(runs, run) <= table->slots.limit);
    runs_set_link(runs, run, RUN_IN_USE);
    fetch_add_relaxed(COUNT, &table->released.slots, UINT64_MAX - count + 1);
    *first = runs_first(runs, run);
    /* Now, so that reserving need not look the floor up. */
    released_apply_floor(table, *first, count);
    return count;
}

bool released_has(const haft_table *table, uint64_t run)
{
    const struct runs *runs = &table->slots.runs;

    assert(!runs->stay && "a table that has released a run has records");
    return load_relaxed(ONWARD, &runs->records[run].link) != RUN_IN_USE;
}
