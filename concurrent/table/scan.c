/*
 * Scans: the ranges of slots to look at.
 *
 * A slot is fresh from the table's bump on, while it is in some worker's extent, and while its run
 * is in the list of released ones.  It leaves its extent, or its run the list, before its first
 * object is inserted, and comes back into none while that lives.  So a thread that knows of the
 * object sees the bump above it, and no extent or run in the list around it, however late they are
 * read.
 *
 * Edges in this file.
 *   ONWARD  the bump only rises: objects that the caller knows to be inserted lie below it.  (Of
 *           slots from another worker's extent it knows by EXTENT; see fresh.c)
 *   HINT    whether there are released runs: if they are missed, their slots are looked at
 */
#include "concurrent/worker/fresh.h"
#include "concurrent/worker/released.h"
#include "concurrent/worker/worker_list.h"
#include <assert.h>
#include <haft/scan.h>

#define PAGE_BYTES 4096u
#define PAGES_WORTH 8 /* parts as large as this meet at ends of pages */

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t length(haft_range range)
{
    assert(range.from <= range.to);
    return range.to - range.from;
}

/* `range` without slots that can hold no object now: its end is that of a scan. */
static haft_range clipped(const haft_table *table, haft_range range)
{
    const uint64_t to = lesser(range.to, load_relaxed(ONWARD, &table->fresh));
    const uint64_t from = range.from < HAFT_FIRST_INDEX ? HAFT_FIRST_INDEX : range.from;

    return HAFT_RANGE(lesser(from, to), to);
}

/*
 * Move the start of `range` behind an extent that it lies in, or its end before the next extent.
 * True if the start was moved: then the end may be wrong.
 */
static bool cut(haft_range *range, haft_range extent)
{
    if (extent.from <= range->from && range->from < extent.to) {
        range->from = lesser(extent.to, range->to);
        return true;
    }
    if (extent.from != extent.to && range->from < extent.from && extent.from < range->to) {
        range->to = extent.from;
    }
    return false;
}

/* The first released run with slots in `range`, and those in a row behind it. */
static haft_range given_range(const haft_table *table, haft_range range)
{
    const struct runs *runs = &table->slots.runs;
    const uint64_t runs_to = runs_of(runs, range.to - 1) + 1;
    uint64_t run = runs_of(runs, range.from);

    while (run < runs_to && !released_has(table, run)) {
        run++;
    }
    const uint64_t from = run;

    while (run < runs_to && released_has(table, run)) {
        run++;
    }
    assert(from <= run);
    return HAFT_RANGE(runs_first(runs, from), runs_first(runs, run));
}

static haft_range used_range(const haft_table *table, haft_range range)
{
    const haft_range whole = clipped(table, range);
    haft_range used = whole;
    bool moved = true;

    while (moved && used.from != whole.to) {
        moved = false;
        used.to = whole.to;
        for (const haft_worker *worker = worker_list_first(table); worker != NULL && !moved;
             worker = worker->next) {
            moved = cut(&used, fresh_range(worker));
        }
        /* Only to save time: a run in the list has nothing to be found. */
        if (!moved && load_relaxed(HINT, &table->released.slots) != 0) {
            moved = cut(&used, given_range(table, used));
        }
    }
    return used;
}

haft_range haft_used_range(const haft_table *table, haft_range range)
{
    debug_check_reader(table);
    return used_range(table, range);
}

haft_cursor haft_cursor_over(const haft_table *table, haft_range range)
{
    const haft_range whole = clipped(table, range);
    const haft_view view = table->slots.view;
    const haft_cursor cursor = {
        .table = table,
        .run = haft_run_over(view, HAFT_RANGE(whole.from, whole.from)),
        .end = whole.to,
    };
    return cursor;
}

uint64_t haft_scan(const haft_table *table, haft_range range, haft_visit *visit, void *arg)
{
    haft_cursor cursor = haft_cursor_over(table, range);
    uint64_t calls = 0;
    bool go_on = true;
    haft_id id;
    void *object;

    while (go_on && haft_cursor_next(&cursor, &id, &object)) {
        calls++;
        go_on = visit(id, object, arg);
    }
    return calls;
}

/* --- dividing --- */

/* Slots after which a multiple of `bytes`, a power of two, is reached again. */
static uint64_t slots_in_step(uint64_t stride, uint64_t bytes)
{
    const uint64_t common = stride & (UINT64_MAX - stride + 1); /* its lowest bit */

    assert(common != 0 && (bytes & (bytes - 1)) == 0);
    return common < bytes ? bytes / common : 1;
}

/* Where two parts of `used` slots each may meet: at multiples of this. */
static uint64_t granule(uint64_t stride, uint64_t used)
{
    const uint64_t page = slots_in_step(stride, PAGE_BYTES);

    return used / PAGES_WORTH >= page ? page : slots_in_step(stride, CACHE_LINE);
}

static haft_range next_used(const haft_table *table, haft_range before, uint64_t end)
{
    return used_range(table, HAFT_RANGE(before.to, end));
}

static uint64_t count_used(const haft_table *table, haft_range whole)
{
    uint64_t used = 0;

    for (haft_range run = used_range(table, whole); length(run) != 0;
         run = next_used(table, run, whole.to)) {
        used += length(run);
    }
    return used;
}

void haft_scan_ranges(const haft_table *table, haft_range *ranges, size_t parts)
{
    const haft_range whole = clipped(table, HAFT_EVERYTHING);
    const uint64_t used = count_used(table, whole);
    const uint64_t step = granule(table->slots.view.stride, parts != 0 ? used / parts : 0);
    haft_range run = used_range(table, whole);
    uint64_t passed = 0; /* used slots before the run */
    uint64_t wanted = 0; /* used slots before the end of part i */
    uint64_t from = whole.from;

    for (size_t i = 0; i < parts; i++) {
        wanted += used / parts + (i < used % parts);
        while (passed + length(run) < wanted && length(run) != 0) {
            passed += length(run);
            run = next_used(table, run, whole.to);
        }
        const uint64_t near = (run.from + wanted - passed + step / 2) / step * step;
        const uint64_t to = i + 1 == parts || near > whole.to ? whole.to : near;

        assert(from <= to && to <= whole.to && "`near` never falls back: nor does `to`");
        ranges[i] = HAFT_RANGE(from, to);
        from = to;
    }
}
