/* Where features meet: trim and the order of batches.  Each of these was a fault of 0.1. */
#include "tests/support.h"
#include <haft/memory.h>
#include <haft/pin.h>
#include <haft/share.h>
#include <limits.h>

TestSuite(seams, .timeout = SUITE_SECONDS);

#define MOST 200000

static haft_domain_options frame_clock = {.clock = HAFT_CLOCK_FRAME};
static struct shared shared;
static haft_id ids[MOST];
static int depth;
static int deepest;

static void enter(void)
{
    depth++;
    deepest = depth > deepest ? depth : deepest;
}

/* Insert by the test's worker until that is refused: how many, from ids[from] on. */
static int insert_all(int from)
{
    int count = 0;

    while (haft_insert(shared.worker, NULL, &ids[from + count]) == HAFT_OK) {
        count++;
    }
    return count;
}

static void free_some(haft_worker *worker, int from, int to, int step)
{
    for (int i = from; i < to; i += step) {
        must(haft_free(worker, ids[i]) == HAFT_OK);
    }
}

/* --- batches that wait, and batches that are ready --- */

Test(seams, trim_leaves_slots_that_are_due_within_reach)
{
    const int due = 128 * 128; /* as many batches as a ring has room for */

    shared =
        open_shared_on(&frame_clock, &(haft_table_options){.capacity = 100000, .object_size = 8});
    const int count = insert_all(0);

    free_some(shared.worker, 0, 2 * due, 2); /* every other one: no page can go */
    must(haft_domain_tick(shared.domain) == HAFT_OK);
    free_some(shared.worker, 2 * due, count, 1); /* these wait */

    expect_status(haft_trim(shared.table, NULL), HAFT_OK);
    cr_expect(eq(int, insert_all(0), due));
    close_shared(&shared);
}

/* --- callbacks within callbacks --- */

static haft_id pinned;

static void unpin_other(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)object;
    (void)worker;
    (void)arg;
    enter();
    if (id.bits != pinned.bits) {
        must(haft_unpin(shared.table, pinned) == HAFT_OK);
    }
    depth--;
}

static void free_and_settle(haft_id id)
{
    must(haft_free(shared.worker, id) == HAFT_OK);
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    must(haft_domain_tick(shared.domain) == HAFT_OK);
    must(haft_worker_quiescent(shared.worker) == HAFT_OK);
}

Test(seams, last_unpin_inside_on_reclaim_does_not_run_it_within_itself)
{
    shared = open_shared_on(&frame_clock, &(haft_table_options){.capacity = 1000,
                                                                .object_size = 8,
                                                                .pins = true,
                                                                .on_reclaim = unpin_other});
    pinned = insert(shared.worker);
    must(haft_pin(shared.table, pinned) != NULL);
    free_and_settle(pinned);
    free_and_settle(insert(shared.worker));

    cr_expect(eq(int, deepest, 1));
    close_shared(&shared);
}
