/*
 * haft_local: memory populated beforehand, and memory released.
 *
 * Edges in this file.
 *   OWN   one thread uses the table; resolve reads the word as an atomic, so it is one here too
 */
#include "lib/local/local_list.h"
#include "lib/local/state.h"
#include "lib/slots/fresh_runs.h"
#include "lib/slots/release.h"

/* --- beforehand --- */

/*
 * Touch the next `most` slots of the list, which are at least as many: of one that was loaded or
 * lies below a restored one, the word alone was written at most.  Slots that follow each other, up
 * or down, are touched at once.
 */
static haft_status populate_listed(haft_local *local, uint64_t most)
{
    const struct slots *slots = &local->slots;
    uint64_t next = *local_head(local);
    haft_status status = HAFT_OK;

    while (most != 0 && status == HAFT_OK) {
        uint64_t first = next;
        uint64_t end = next;

        do {
            first = next < first ? next : first;
            end = next < end ? end : next + 1;
            next = word_index(&slots->format, load_relaxed(OWN, slots_word(slots, next)));
        } while (--most != 0 && (next == end || next + 1 == first));
        status = slots_populate(slots, first, end);
    }
    return status;
}

/* Touch the next `most` slots of the fresh runs, which are at least as many. */
static haft_status populate_fresh(const haft_local *local, uint64_t most)
{
    const struct slots *slots = &local->slots;
    const uint64_t left = local->fresh_end - local->fresh_at;
    uint64_t touched = left < most ? left : most;
    haft_status status = slots_populate(slots, local->fresh_at, local->fresh_at + touched);

    for (uint64_t run = slots->runs.first; touched < most && status == HAFT_OK;
         run = runs_link(&slots->runs, run)) {
        const uint64_t first = runs_first(&slots->runs, run);
        const uint64_t size = runs_end(&slots->runs, run) - first;
        const uint64_t part = size < most - touched ? size : most - touched;

        status = slots_populate(slots, first, first + part);
        touched += part;
    }
    return status;
}

haft_status haft_local_reserve_capacity(haft_local *local, uint64_t count)
{
    const uint64_t listed = local_listed(local);
    const uint64_t ready = listed > local->min_free ? listed - local->min_free : 0;

    if (local->mode == LOCAL_LOADING) {
        return HAFT_LOADING;
    }
    if (local->mode == LOCAL_CLOSING || count > local_available(local)) {
        return HAFT_FULL;
    }
    const uint64_t more = count > ready ? count - ready : 0;
    const uint64_t in_runs = local->fresh_slots < more ? local->fresh_slots : more;
    const uint64_t end = local->used + more - in_runs;
    haft_status status = slots_commit(&local->slots, end);

    if (status == HAFT_OK) {
        status = populate_listed(local, count < ready ? count : ready);
    }
    status = status == HAFT_OK ? populate_fresh(local, in_runs) : status;
    status = status == HAFT_OK ? slots_populate(&local->slots, local->used, end) : status;
    return status;
}

/* --- released --- */

/* The slots freed last have to stay in the queue: their runs are kept. */
static void keep_youngest(haft_local *local)
{
    struct runs *runs = &local->slots.runs;
    uint64_t older =
        local->queue_count > local->min_free ? local->queue_count - local->min_free : 0;

    for (uint64_t at = local->listed_head; local->min_free != 0 && at != MARK_END;) {
        if (older != 0) {
            older--;
        } else {
            runs_set_link(runs, runs_of(runs, at), RUN_KEPT);
        }
        at = word_index(&local->slots.format, load_relaxed(OWN, slots_word(&local->slots, at)));
    }
}

/* The highest word that a slot of the run begins from; 0 if the run is in use. */
static uint64_t floor_of_run(const haft_local *local, uint64_t run)
{
    const uint64_t end = runs_end(&local->slots.runs, run);
    uint64_t floor = 0;

    if (run < runs_least(&local->slots.runs) || end > local->used) {
        return 0;
    }
    for (uint64_t index = runs_first(&local->slots.runs, run); index < end; index++) {
        const uint64_t word = load_relaxed(OWN, slots_word(&local->slots, index));

        if (!local_is_free(local, index, word)) {
            return 0;
        }
        const uint64_t begin =
            word_with_index(&local->slots.format, slots_begin_at(&local->slots, index, word), 0);

        floor = begin > floor ? begin : floor;
    }
    return floor;
}

/* Choose the runs to release, with their floors; how many. */
static uint64_t choose_runs(haft_local *local)
{
    struct runs *runs = &local->slots.runs;
    uint64_t chosen = 0;

    for (uint64_t run = 0; run <= runs_of(runs, local->used - 1); run++) {
        const uint64_t link = runs_link(runs, run);
        const uint64_t floor = link == RUN_IN_USE ? floor_of_run(local, run) : 0;

        if (floor != 0) {
            runs_set_link(runs, run, RUN_CHOSEN);
            runs_set_floor(runs, run, floor);
            sites_forget(&local->slots.sites, runs_first(runs, run), runs_end(runs, run));
            chosen++;
        } else if (link == RUN_KEPT) {
            runs_set_link(runs, run, RUN_IN_USE);
        }
    }
    return chosen;
}

static void make_fresh(haft_local *local, uint64_t run)
{
    fresh_runs_push(&local->slots.runs, run);
    local->fresh_slots += runs_end(&local->slots.runs, run) - runs_first(&local->slots.runs, run);
}

/* Make the chosen runs fresh ones, those that lie together at once; the bytes released. */
static uint64_t release_chosen_runs(haft_local *local)
{
    struct runs *runs = &local->slots.runs;
    uint64_t bytes = 0;

    local_drop_chosen(local);
    if (local->fresh_at != local->fresh_end &&
        runs_link(runs, runs_of(runs, local->fresh_at)) == RUN_CHOSEN) {
        local->fresh_slots -= local->fresh_end - local->fresh_at;
        local->fresh_at = local->fresh_end;
    }
    uint64_t run = runs_of(runs, local->used - 1) + 1;

    while (run > runs_least(runs)) {
        const uint64_t end = run;

        while (run > runs_least(runs) && runs_link(runs, run - 1) == RUN_CHOSEN) {
            make_fresh(local, --run);
        }
        if (run != end) {
            bytes += slots_release(&local->slots, run, end);
        } else {
            run--;
        }
    }
    return bytes;
}

haft_status haft_local_trim(haft_local *local, uint64_t *released)
{
    uint64_t bytes = 0;

    if (local->mode == LOCAL_LOADING) {
        return HAFT_LOADING;
    }
    /* Where generations begin again, the highest is not the last. */
    if (local->mode == LOCAL_OPEN && local->slots.wrapped) {
        return HAFT_BAD_WRAP;
    }
    if (local->mode == LOCAL_OPEN && !local->slots.runs.stay && local->ending == MARK_END) {
        const haft_status status = runs_prepare(&local->slots.runs, local->used);

        if (status != HAFT_OK) {
            return status;
        }
        keep_youngest(local);
        if (choose_runs(local) != 0) {
            bytes = release_chosen_runs(local);
        }
    }
    if (released != NULL) {
        *released = bytes;
    }
    return HAFT_OK;
}
