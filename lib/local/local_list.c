/*
 * haft_local: free slots, a stack or a queue through their words.
 *
 * Edges in this file.
 *   OWN   one thread uses the table; resolve reads the word as an atomic, so it is one here too
 */
#include "lib/local/local_list.h"
#include "lib/base/walk.h"
#include "lib/local/state.h"
#include "lib/slots/fresh_runs.h"
#include <assert.h>

static uint64_t word_at(const haft_local *local, uint64_t index)
{
    return load_relaxed(OWN, slots_word(&local->slots, index));
}

/* The free slot after `index` in the list. */
static uint64_t next_of(const haft_local *local, uint64_t index)
{
    return word_index(&local->slots.format, word_at(local, index));
}

static void set_next(haft_local *local, uint64_t index, uint64_t next)
{
    const uint64_t word = word_with_index(&local->slots.format, word_at(local, index), next);

    store_relaxed(OWN, slots_word(&local->slots, index), word);
}

/* The list, as far as a walk goes: free slots that were used, and as many as are counted. */
static HAFT_UNUSED bool list_is_whole(haft_local *local)
{
    uint64_t at = *local_head(local);
    uint64_t count = 0;

    for (; at != MARK_END && count < WALK_MOST; count++) {
        if (at < HAFT_FIRST_INDEX || at >= local->used ||
            !local_is_free(local, at, word_at(local, at))) {
            return false;
        }
        at = next_of(local, at);
    }
    return local->is_in_place ||
           (at == MARK_END ? count == local->queue_count : count < local->queue_count);
}

void local_begin_list(haft_local *local)
{
    local->is_in_place = local->mode == LOCAL_OPEN && !local->is_fifo && !local->is_crowded;
    local->front = (struct haft_local_front){
        .head = MARK_END,
        .count = local->front.count,
        .index_mask = local->slots.format.index_mask,
        .generation_one = local->slots.format.generation_one,
        .generation_mask = local_mask_in_place(local),
    };
    local->listed_head = MARK_END;
    local->queue_count = 0;
}

/* The next slot of a list that is not in place. */
static uint64_t pop_listed(haft_local *local)
{
    const uint64_t index = local->listed_head;

    assert(local->queue_count != 0 && index >= HAFT_FIRST_INDEX && index < local->used);
    local->listed_head = (uint32_t)next_of(local, index);
    local->queue_count--;
    assert_walk(list_is_whole(local));
    return index;
}

static void push_queue(haft_local *local, uint64_t index)
{
    assert(!local->is_in_place && local->queue_count < local->used);
    if (local->queue_count == 0) {
        local->listed_head = (uint32_t)index;
    } else {
        set_next(local, local->queue_tail, index);
    }
    local->queue_tail = index;
    local->queue_count++;
    assert_walk(list_is_whole(local));
}

/* Slot `index` is free, and used before all others in the list. */
static void push_first(haft_local *local, uint64_t index, uint64_t word)
{
    uint32_t *head = local_head(local);

    assert(local->mode == LOCAL_OPEN && index < local->used && *head != index);
    store_relaxed(OWN, slots_word(&local->slots, index),
                  word_with_index(&local->slots.format, word, *head));
    *head = (uint32_t)index;
    if (!local->is_in_place) {
        local->queue_tail = local->queue_count == 0 ? index : local->queue_tail;
        local->queue_count++;
    }
    assert_walk(list_is_whole(local));
}

void local_push(haft_local *local, uint64_t index, uint64_t word)
{
    assert(index >= HAFT_FIRST_INDEX && index < local->used);
    assert(word_generation(&local->slots.format, word) != 0 && "an exhausted slot is in no list");
    if (local->mode == LOCAL_OPEN && !local->is_fifo) {
        push_first(local, index, word);
        return;
    }
    store_relaxed(OWN, slots_word(&local->slots, index),
                  word_with_index(&local->slots.format, word, MARK_END));
    if (local->mode == LOCAL_OPEN) {
        push_queue(local, index);
    }
}

/* List the slots from `first` on, below `end`, in order, at the front: none was freed just now. */
static void list_fresh(haft_local *local, uint64_t first, uint64_t end)
{
    for (uint64_t index = end; index-- > first;) {
        push_first(local, index, slots_begin_at(&local->slots, index, 0));
    }
}

static uint64_t take_fresh_slot(haft_local *local)
{
    if (local->fresh_at == local->fresh_end) {
        const uint64_t run = fresh_runs_pop(&local->slots.runs);

        local->fresh_at = runs_first(&local->slots.runs, run);
        local->fresh_end = runs_end(&local->slots.runs, run);
    }
    assert(local->fresh_slots != 0 && local->fresh_at < local->fresh_end);
    local->fresh_slots--;
    return local->fresh_at++;
}

haft_status local_take(haft_local *local, uint64_t *index)
{
    if (local->mode == LOCAL_LOADING) {
        return HAFT_LOADING;
    }
    if (local->mode == LOCAL_CLOSING || local_available(local) == 0) {
        return HAFT_FULL;
    }
    if (local->queue_count > local->min_free) {
        *index = pop_listed(local);
        return HAFT_OK;
    }
    if (local->fresh_slots != 0) {
        *index = take_fresh_slot(local);
        return HAFT_OK;
    }
    assert(local->used < local->slots.limit);
    const haft_status status = slots_commit(&local->slots, local->used + 1);

    if (status == HAFT_OK) {
        *index = local->used++;
    }
    return status;
}

/* Put all slots of the fresh run that `index` is in into the list. */
static void list_fresh_run(haft_local *local, uint64_t index)
{
    struct runs *runs = &local->slots.runs;
    const uint64_t run = runs_of(runs, index);
    uint64_t first = local->fresh_at;
    uint64_t end = local->fresh_end;

    if (index >= first && index < end) {
        local->fresh_at = end;
    } else {
        fresh_runs_remove(runs, run);
        first = runs_first(runs, run);
        end = runs_end(&local->slots.runs, run);
    }
    assert(index >= first && index < end && local->fresh_slots >= end - first);
    local->fresh_slots -= end - first;
    list_fresh(local, first, end);
}

/* Take slot `index` out of the list, which `before` precedes in it: MARK_END for none. */
static void unlink_slot(haft_local *local, uint64_t index, uint64_t before)
{
    const uint64_t next = next_of(local, index);

    assert(next != index && (local->is_in_place || local->queue_count != 0));
    if (before == MARK_END) {
        *local_head(local) = (uint32_t)next;
    } else {
        set_next(local, before, next);
    }
    if (!local->is_in_place) {
        local->queue_count--;
        local->queue_tail = next == MARK_END ? before : local->queue_tail;
    }
    assert_walk(list_is_whole(local));
}

void local_claim(haft_local *local, uint64_t index)
{
    const uint64_t used = local->used;

    assert(index >= HAFT_FIRST_INDEX && index < local->slots.limit);
    if (index >= used) {
        local->used = index + 1;
    }
    if (local->mode != LOCAL_OPEN) {
        return;
    }
    if (index >= used) {
        list_fresh(local, used, index);
        return;
    }
    if (word_at(local, index) == 0) {
        list_fresh_run(local, index);
    }
    uint64_t before = MARK_END;

    for (uint64_t at = *local_head(local); at != index; at = next_of(local, at)) {
        assert(at != MARK_END);
        before = at;
    }
    unlink_slot(local, index, before);
}

bool local_is_ending(const haft_local *local, uint64_t index)
{
    uint64_t at = local->ending;

    while (at != MARK_END && at != MARK_FREE && at != index) {
        at = next_of(local, at);
    }
    return at == index;
}

void local_drop_chosen(haft_local *local)
{
    const struct runs *runs = &local->slots.runs;
    uint64_t before = MARK_END;

    for (uint64_t at = *local_head(local), next; at != MARK_END; at = next) {
        next = next_of(local, at);
        if (runs_link(runs, runs_of(runs, at)) == RUN_CHOSEN) {
            unlink_slot(local, at, before);
        } else {
            before = at;
        }
    }
}

/* Whether a run is wholly fresh.  If `used` ends in it, it is not: slots would be found twice. */
static bool is_fresh_run(const haft_local *local, uint64_t run)
{
    const uint64_t end = runs_end(&local->slots.runs, run);
    uint64_t index = runs_first(&local->slots.runs, run);

    if (end > local->used) {
        return false;
    }
    while (index < end && word_at(local, index) == 0) {
        index++;
    }
    return index == end;
}

/* All runs that are wholly fresh, lowest first, become the list of fresh runs. */
static void gather_fresh_runs(haft_local *local)
{
    struct runs *runs = &local->slots.runs;

    runs->first = RUN_LAST;
    if (runs->stay) {
        return;
    }
    for (uint64_t run = runs_of(runs, local->used - 1); run >= runs_least(runs); run--) {
        if (is_fresh_run(local, run) && runs_prepare(&local->slots.runs, local->used) == HAFT_OK) {
            fresh_runs_push(runs, run);
            local->fresh_slots += runs_end(&local->slots.runs, run) - runs_first(runs, run);
        } else if (runs->records != NULL && runs_link(runs, run) != RUN_IN_USE) {
            runs_set_link(runs, run, RUN_IN_USE);
        }
    }
}

void local_rebuild(haft_local *local)
{
    const struct runs *runs = &local->slots.runs;

    assert(local->ending == MARK_END && "no callback runs");
    local_begin_list(local);
    local->fresh_at = local->fresh_end;
    local->fresh_slots = 0;
    gather_fresh_runs(local);
    for (uint64_t i = HAFT_FIRST_INDEX; i < local->used; i++) {
        const uint64_t index = local->is_fifo ? i : HAFT_FIRST_INDEX + (local->used - 1 - i);
        const uint64_t word = word_at(local, index);

        if (local_is_free(local, index, word) &&
            (runs->records == NULL || runs_link(runs, runs_of(runs, index)) == RUN_IN_USE)) {
            local_push(local, index, slots_begin_at(&local->slots, index, word));
        }
    }
}
