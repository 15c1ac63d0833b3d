/*
 * haft_packed: objects that go.
 *
 * In two steps.  First lives end, one on_destroy after the other, while every object stays where
 * it is; callbacks may insert and kill.  Then, without callbacks, gaps close and slots go back.
 *
 * Edges in this file.
 *   OWN   no thread changes the table while others read it
 */
#include "kit/local/packed/packed_remove.h"
#include "kit/local/packed/state.h"
#include "kit/local/status/kit_status.h"
#include "lib/base/os.h"
#include "lib/slots/diagnose.h"

/* --- lives end --- */

/* End the life in slot `index`.  Its position and the slot stay taken. */
static void end_object(struct haft_packed *packed, uint64_t index)
{
    const struct word_format *format = &packed->slots.format;
    haft_packed_slot *slot = &packed->slot[index];
    const haft_id nil = HAFT_NIL;
    const haft_id id = packed->ids[slot->position];
    const uint64_t next = word_next_life(format, id.bits, MARK_FREE);
    const bool was_last = word_generation(format, next) == 0;

    store_relaxed(OWN, &slot->word,
                  was_last ? word_with_index(format, next, MARK_EXHAUSTED) : next);
    packed->ids[slot->position] = nil;
    if (packed->on_destroy != NULL) {
        const int cancel = os_cancel_off();

        packed->in_callback = true;
        packed->on_destroy(packed_object(packed, slot->position), id, packed->destroy_arg);
        packed->in_callback = false;
        os_cancel_restore(cancel);
    }
}

/* The slot of an ended life: onto the free list, or out of use after its last. */
static void free_slot(struct haft_packed *packed, uint64_t index)
{
    const struct word_format *format = &packed->slots.format;
    atomic_u64 *at = &packed->slot[index].word;
    const uint64_t word = load_relaxed(OWN, at);

    if (word_index(format, word) == MARK_EXHAUSTED) {
        packed->exhausted++;
        return;
    }
    store_relaxed(OWN, at, word_with_index(format, word, packed->free_head));
    packed->free_head = index;
}

/* End the dead objects' lives, from place `done` among them on, and of those killed meanwhile. */
static void destroy_dead(struct haft_packed *packed, uint64_t done)
{
    for (; done < packed->dead_count; done++) {
        end_object(packed, packed->dead[done]);
    }
}

static void free_dead_slots(struct haft_packed *packed)
{
    for (uint64_t i = 0; i < packed->dead_count; i++) {
        free_slot(packed, packed->dead[i]);
    }
    packed->dead_count = 0;
}

/* --- gaps close --- */

static void fill_gap_with_last(struct haft_packed *packed, uint64_t position)
{
    packed->count--;
    if (position != packed->count) {
        packed_move(packed, position, packed->count);
    }
    packed_poison(packed, packed->count, 1);
}

/* Move `count` objects up, from `from` to `to`. */
static void move_run(struct haft_packed *packed, uint64_t to, uint64_t from, uint64_t count)
{
    memmove(packed_object(packed, to), packed_object(packed, from),
            (size_t)(count * packed->view.object_size));
    memmove(&packed->ids[to], &packed->ids[from], (size_t)count * sizeof packed->ids[0]);
    for (uint64_t position = to; position < to + count; position++) {
        packed_slot(packed, packed->ids[position])->position = (uint32_t)position;
    }
}

/* Close all gaps from the first one on, which is at `to`: run by run, in order. */
static void close_gaps(struct haft_packed *packed, uint64_t to)
{
    uint64_t from = to;

    while (from < packed->count) {
        uint64_t end = from;

        while (end < packed->count && !haft_id_is_nil(packed->ids[end])) {
            end++;
        }
        if (end != from) {
            move_run(packed, to, from, end - from);
            to += end - from;
        }
        from = end + 1;
    }
    packed_poison(packed, to, packed->count - to);
    packed->count = to;
}

/* The first position of a dead object; there is one. */
static uint64_t first_gap(const struct haft_packed *packed)
{
    uint64_t first = UINT64_MAX;

    for (uint64_t i = 0; i < packed->dead_count; i++) {
        const uint64_t position = packed->slot[packed->dead[i]].position;

        first = position < first ? position : first;
    }
    return first;
}

/* Fill the gaps of dead objects that are not at the end anyway, each with the last live object. */
static void fill_gaps(struct haft_packed *packed)
{
    const uint64_t before = packed->count;
    const uint64_t kept = before - packed->dead_count;

    for (uint64_t i = 0; i < packed->dead_count; i++) {
        const uint64_t gap = packed->slot[packed->dead[i]].position;

        if (gap >= kept) {
            continue;
        }
        while (haft_id_is_nil(packed->ids[packed->count - 1])) {
            packed->count--;
        }
        fill_gap_with_last(packed, gap);
    }
    packed->count = kept;
    packed_poison(packed, kept, before - kept);
}

/* --- free --- */

/* Take an object off the list of the dead; the one killed last takes its turn. */
static void unlist(struct haft_packed *packed, const haft_packed_slot *slot)
{
    const uint32_t place = slot->death - 1;
    const uint32_t last = packed->dead[--packed->dead_count];

    packed->dead[place] = last;
    packed->slot[last].death = place + 1;
}

haft_status haft_packed_free(haft_packed *packed, haft_id id)
{
    if (!haft_packed_is_live(packed->view, id)) {
        return slots_diagnose(&packed->slots, id);
    }
    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    const uint64_t index = word_index(&packed->slots.format, id.bits);
    haft_packed_slot *slot = &packed->slot[index];

    if (slot->death != 0) {
        unlist(packed, slot);
    }
    sites_note_death(&packed->slots.sites, index, CALLER);
    end_object(packed, index);
    if (packed->keep_order) {
        close_gaps(packed, slot->position);
    } else {
        fill_gap_with_last(packed, slot->position);
    }
    free_slot(packed, index);
    return HAFT_OK;
}

/* --- kill and refresh --- */

/* Put a live object on the list of the dead, if it is not there. */
static bool list_dead(struct haft_packed *packed, haft_id id, const void *caller)
{
    const uint64_t index = word_index(&packed->slots.format, id.bits);
    haft_packed_slot *slot = &packed->slot[index];

    if (slot->death != 0) {
        return false;
    }
    sites_note_death(&packed->slots.sites, index, caller);
    packed->dead[packed->dead_count++] = (uint32_t)index;
    slot->death = (uint32_t)packed->dead_count;
    return true;
}

haft_status haft_packed_kill(haft_packed *packed, haft_id id)
{
    if (!haft_packed_is_live(packed->view, id)) {
        return slots_diagnose(&packed->slots, id);
    }
    return list_dead(packed, id, CALLER) ? HAFT_OK : kit_status(HAFT_DEAD);
}

haft_status haft_packed_refresh(haft_packed *packed)
{
    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    if (packed->dead_count == 0) {
        return HAFT_OK;
    }
    destroy_dead(packed, 0);
    if (packed->keep_order) {
        close_gaps(packed, first_gap(packed));
    } else {
        fill_gaps(packed);
    }
    free_dead_slots(packed);
    return HAFT_OK;
}

/* --- clear --- */

void packed_destroy_all(struct haft_packed *packed, const void *caller)
{
    uint64_t done = 0;

    for (uint64_t position = 0; position < packed->count;) {
        for (; position < packed->count; position++) {
            if (!haft_id_is_nil(packed->ids[position])) { /* nil: inserted, killed, destroyed */
                list_dead(packed, packed->ids[position], caller);
            }
        }
        destroy_dead(packed, done);
        done = packed->dead_count;
    }
}

haft_status haft_packed_clear(haft_packed *packed)
{
    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    packed_destroy_all(packed, CALLER);
    packed_poison(packed, 0, packed->count);
    packed->count = 0;
    free_dead_slots(packed);
    return HAFT_OK;
}
