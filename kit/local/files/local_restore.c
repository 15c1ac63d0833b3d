/*
 * haft_local: ids chosen elsewhere, such as those of a saved game.
 *
 * Edges in this file.
 *   OWN   one thread uses the table; resolve reads the word as an atomic, so it is one here too
 */
#include "kit/local/sides/side.h"
#include "kit/local/status/kit_status.h"
#include "lib/local/local.h"
#include "lib/local/local_list.h"
#include "lib/local/state.h"
#include "lib/slots/object.h"
#include <assert.h>
#include <haft/kit/restore.h>

/* Whether the slot of `id` is free, and has lived no life of that generation (0: none left). */
static haft_status check_slot(const haft_local *local, haft_id id)
{
    const struct word_format *format = &local->slots.format;
    const uint64_t index = word_index(format, id.bits);
    const uint64_t word = load_relaxed(OWN, slots_word(&local->slots, index));
    const uint64_t asked = word_generation(format, id.bits);

    if (word_index(format, word) == MARK_EXHAUSTED) {
        return HAFT_EXHAUSTED;
    }
    if (!local_is_free(local, index, word) || local_is_ending(local, index)) {
        return kit_status(HAFT_OCCUPIED);
    }
    if (local->wraps && slots_word_or_floor(&local->slots, index, word) == 0) {
        return HAFT_OK; /* even below the first generation: the slot may have begun again */
    }
    if (asked != 0 && asked < word_generation(format, slots_begin_at(&local->slots, index, word))) {
        return HAFT_STALE;
    }
    return HAFT_OK;
}

/* If `id` is not of the slot's next life, its allocation sites are of none before that id. */
static void forget_sites(const haft_local *local, haft_id id)
{
    const struct slots *slots = &local->slots;
    const uint64_t index = word_index(&slots->format, id.bits);
    const uint64_t begin =
        slots_begin_at(slots, index, load_relaxed(OWN, slots_word(slots, index)));

    if (word_generation(&slots->format, begin) != word_generation(&slots->format, id.bits)) {
        sites_forget(&slots->sites, index, index + 1);
    }
}

/*
 * Take the slot of `id`, whose fields are in order, from where free slots are; `fills` if it will
 * not be free afterwards.
 */
static haft_status claim_slot(haft_local *local, haft_id id, bool fills)
{
    const uint64_t index = word_index(&local->slots.format, id.bits);
    haft_status status = check_slot(local, id);

    if (status == HAFT_OK &&
        (local->mode == LOCAL_CLOSING || (fills && local_available(local) == 0))) {
        status = HAFT_FULL;
    }
    if (status == HAFT_OK) {
        status = slots_commit(&local->slots, index + 1);
    }
    if (status == HAFT_OK) {
        local->slots.wrapped |= local->wraps; /* wherever the id comes from */
        forget_sites(local, id);
        local_claim(local, index);
    }
    return status;
}

/* The slot of `id`, which is free, is reserved: HAFT_OK and the object's bytes, or why not. */
static haft_status reserve_chosen(haft_local *local, haft_id id, void **object, const void *caller)
{
    struct slots *slots = &local->slots;
    const uint64_t index = word_index(&slots->format, id.bits);
    haft_status status = slots_check_chosen(slots, id, slots->limit);

    if (status == HAFT_OK) {
        status = claim_slot(local, id, true);
    }
    if (status == HAFT_OK) {
        atomic_u64 *at = slots_word(slots, index);

        slots_unpoison(slots, at);
        sites_note_birth(&slots->sites, index, caller);
        store_relaxed(OWN, at, word_with_index(&slots->format, id.bits, MARK_RESERVED));
        local->held++;
        *object = slots_object(at);
    }
    return status;
}

haft_status haft_local_reserve_at(haft_local *local, haft_id id, void **object)
{
    void *bytes;
    const haft_status status = reserve_chosen(local, id, &bytes, CALLER);

    if (status == HAFT_OK && object != NULL) {
        *object = bytes;
    }
    return status;
}

haft_status haft_local_restore(haft_local *local, haft_id id, const void *object)
{
    void *bytes;
    const haft_status status = reserve_chosen(local, id, &bytes, CALLER);

    if (status == HAFT_OK) {
        slots_fill(&local->slots, bytes, object);
        haft_local_publish(local, id);
    }
    return status;
}

haft_status haft_local_restore_free(haft_local *local, haft_id next)
{
    const struct word_format *format = &local->slots.format;
    const uint64_t index = word_index(format, next.bits);
    const bool is_exhausted = word_generation(format, next.bits) == 0;
    haft_status status = word_check_fields(&local->slots.format, next, local->slots.limit);

    if (status == HAFT_OK) {
        status = claim_slot(local, next, is_exhausted);
    }
    if (status == HAFT_OK && is_exhausted) {
        store_relaxed(OWN, slots_word(&local->slots, index),
                      word_with_index(format, next.bits, MARK_EXHAUSTED));
        local->exhausted++;
    } else if (status == HAFT_OK) {
        local_push(local, index, next.bits);
    }
    return status;
}

void haft_local_load_begin(haft_local *local)
{
    assert(local->mode == LOCAL_OPEN && !local->in_callback && "loading begins once");
    local->mode = LOCAL_LOADING;
    /* Any of these may be chosen: local_rebuild() finds those that are left. */
    local->fresh_at = local->fresh_end;
    local->fresh_slots = 0;
    local_begin_list(local);
}

void haft_local_load_end(haft_local *local)
{
    assert(local->mode == LOCAL_LOADING && !local->in_callback && "loading has begun");
    local->mode = LOCAL_OPEN;
    local_rebuild(local);
}

/* The id of slot `index`, if it is live; else that of its next life. */
static haft_id id_or_next(const haft_local *local, uint64_t index, uint64_t word)
{
    const struct word_format *format = &local->slots.format;
    uint64_t begin = slots_begin_at(&local->slots, index, word);

    if (word_index(format, word) == MARK_RESERVED) {
        begin = local_next_life(local, word);
    }
    return (haft_id){word_with_index(format, begin, index)};
}

uint64_t haft_local_for_each_slot(haft_local *local,
                                  bool (*visit)(haft_id id, void *object, void *arg), void *arg)
{
    const struct word_format *format = &local->slots.format;
    uint64_t calls = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        atomic_u64 *at = slots_word(&local->slots, index);
        const uint64_t word = load_relaxed(OWN, at);
        void *object = word_index(format, word) == index ? slots_object(at) : NULL;

        calls++;
        if (!visit(id_or_next(local, index, word), object, arg)) {
            break;
        }
    }
    return calls;
}
