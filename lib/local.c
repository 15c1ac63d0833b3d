/*
 * haft_local: the table of one thread.
 *
 * Free slots form a list through their words: the index field of a free slot's word is the next
 * free slot, END at the end.  The slot freed last is reused first, while it is in the cache.
 *
 * Edges in this file.
 *   OWN   one thread uses the table; resolve reads the word as an atomic, so it is one here too
 */
#include "lib/slots.h"
#include <assert.h>
#include <haft/local.h>
#include <stdlib.h>
#include <string.h>

struct haft_local {
    struct slots slots;
    uint64_t free_head; /* first free slot, or MARK_END */
    uint64_t used;      /* one more than the highest index used so far */
    uint64_t count;     /* live objects */
    char *name;
};

haft_status haft_local_open(const haft_local_options *options, haft_local **local)
{
    const struct slots_options slots_options = {
        .capacity = options->capacity,
        .object_size = options->object_size,
        .object_alignment = options->object_alignment,
        .layout = options->layout,
        .tag = options->tag,
        .first_generation = options->first_generation,
    };
    struct haft_local *opened = calloc(1, sizeof *opened);
    char *name = strdup(options->name != NULL ? options->name : "local table");
    haft_status status = HAFT_NO_MEMORY;

    if (opened != NULL && name != NULL) {
        status = slots_open(&opened->slots, &slots_options);
    }
    if (status != HAFT_OK) {
        free(name);
        free(opened);
        return status;
    }
    opened->free_head = MARK_END;
    opened->used = HAFT_FIRST_INDEX;
    opened->name = name;
    *local = opened;
    return HAFT_OK;
}

void haft_local_close(haft_local *local)
{
    slots_close(&local->slots);
    free(local->name);
    free(local);
}

haft_view haft_local_view(const haft_local *local)
{
    return local->slots.view;
}

haft_layout haft_local_layout(const haft_local *local)
{
    return local->slots.format.layout;
}

const char *haft_local_name(const haft_local *local)
{
    return local->name;
}

uint64_t haft_local_count(const haft_local *local)
{
    return local->count;
}

/* The next slot to use, taken off the free list or fresh. */
static haft_status take_slot(haft_local *local, uint64_t *index)
{
    struct slots *slots = &local->slots;

    if (local->free_head != MARK_END) {
        *index = local->free_head;
        local->free_head = word_index(&slots->format, load_relaxed(OWN, slots_word(slots, *index)));
        return HAFT_OK;
    }
    if (local->used == slots->limit) {
        return HAFT_FULL;
    }
    const haft_status status = slots_commit(slots, local->used + 1);

    if (status == HAFT_OK) {
        *index = local->used++;
    }
    return status;
}

haft_status haft_local_reserve(haft_local *local, haft_id *id, void **object)
{
    struct slots *slots = &local->slots;
    uint64_t index;
    const haft_status status = take_slot(local, &index);

    if (status != HAFT_OK) {
        return status;
    }
    atomic_u64 *at = slots_word(slots, index);
    const uint64_t word = slots_begin(slots, load_relaxed(OWN, at));

    store_relaxed(OWN, at, word_with_index(&slots->format, word, MARK_RESERVED));
    id->bits = word_with_index(&slots->format, word, index);
    if (object != NULL) {
        *object = slots_object(at);
    }
    return HAFT_OK;
}

/* The word of the slot that `id` was reserved in. */
static atomic_u64 *reserved_word(haft_local *local, haft_id id)
{
    atomic_u64 *at = slots_word(&local->slots, word_index(&local->slots.format, id.bits));

    assert(load_relaxed(OWN, at) == word_with_index(&local->slots.format, id.bits, MARK_RESERVED));
    return at;
}

void haft_local_publish(haft_local *local, haft_id id)
{
    store_relaxed(OWN, reserved_word(local, id), id.bits);
    local->count++;
}

haft_status haft_local_insert(haft_local *local, const void *object, haft_id *id)
{
    void *bytes;
    const haft_status status = haft_local_reserve(local, id, &bytes);

    if (status == HAFT_OK) {
        slots_fill(&local->slots, bytes, object);
        haft_local_publish(local, *id);
    }
    return status;
}

/* End the life that slot `index` is in: onto the free list, or out of use after its last. */
static void retire(haft_local *local, uint64_t index, uint64_t word)
{
    const struct word_format *format = &local->slots.format;
    atomic_u64 *at = slots_word(&local->slots, index);
    const uint64_t next = word_next_life(format, word, local->free_head);

    if (word_generation(format, next) == 0) {
        store_relaxed(OWN, at, word_with_index(format, next, MARK_EXHAUSTED));
        return;
    }
    store_relaxed(OWN, at, next);
    local->free_head = index;
}

void haft_local_abort(haft_local *local, haft_id id)
{
    const uint64_t word = load_relaxed(OWN, reserved_word(local, id));

    retire(local, word_index(&local->slots.format, id.bits), word);
}

haft_status haft_local_free(haft_local *local, haft_id id)
{
    if (!haft_is_live(local->slots.view, id)) {
        return haft_local_diagnose(local, id);
    }
    retire(local, word_index(&local->slots.format, id.bits), id.bits);
    local->count--;
    return HAFT_OK;
}

haft_status haft_local_diagnose(const haft_local *local, haft_id id)
{
    return slots_diagnose(&local->slots, id);
}

uint64_t haft_local_for_each(haft_local *local, bool (*visit)(haft_id id, void *object, void *arg),
                             void *arg)
{
    struct slots *slots = &local->slots;
    uint64_t calls = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        atomic_u64 *at = slots_word(slots, index);
        const haft_id id = {load_relaxed(OWN, at)};

        if (word_index(&slots->format, id.bits) != index) {
            continue;
        }
        calls++;
        if (!visit(id, slots_object(at), arg)) {
            break;
        }
    }
    return calls;
}

void haft_local_clear(haft_local *local)
{
    const struct word_format *format = &local->slots.format;

    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        const uint64_t word = load_relaxed(OWN, slots_word(&local->slots, index));
        const uint64_t field = word_index(format, word);

        if (field == index || field == MARK_RESERVED) {
            retire(local, index, word);
        }
    }
    local->count = 0;
}
