/*
 * The lives of counted objects: insert, reserve, publish, abort; free, take.
 *
 * Edges in this file.
 *   PUBLISH  publish_word (release) -> haft_counted_acquire, haft_counted_copy (acquire), and
 *            haft_counted_free, haft_counted_take (acquire)   object before word
 *   HOLD     haft_counted_release, haft_counted_free (release) -> haft_counted_free,
 *            haft_counted_take (acquire)   all uses by holders before the object's end; and what
 *            the thread that frees did before
 *   OWN      only this call writes the word
 *   RETRY    a first look; the compare-and-swap decides
 */
#include "concurrent/counted/destroy.h"
#include "concurrent/counted/free_slots.h"
#include "concurrent/counted/shards.h"
#include "concurrent/counted/values.h"
#include <string.h>

/* --- the way in --- */

/* A slot of the caller's, and the id of its next life. */
static inline haft_status take_free(haft_counted *table, atomic_u64 **at, haft_id *id)
{
    uint64_t index;
    haft_status status = HAFT_FULL;

    if (__builtin_expect(table->min_free == 0, 1)) {
        status = shards_take_from(table, shards_own(table), &index);
    }
    if (__builtin_expect(status != HAFT_OK, 0)) {
        status = free_slots_take(table, &index);
        if (status != HAFT_OK) {
            return status;
        }
    }
    *at = counted_at(table, index);
    const uint64_t word = load_relaxed(OWN, *at);
    const uint32_t life = counted_begin(table, word);

    assert(counted_state_of(word) == COUNTED_FREE && !counted_is_worn(table, life));
    *id = counted_id(table, index, life);
    return HAFT_OK;
}

static inline void publish_word(const haft_counted *table, atomic_u64 *at)
{
    const uint32_t life = counted_begin(table, load_relaxed(OWN, at));

    /* Weakened, a thread could acquire the id and read the object's bytes from before. */
    store_release(PUBLISH, at, counted_word(life, COUNTED_LIVE, 0));
}

haft_status haft_counted_insert(haft_counted *table, const void *object, haft_id *id)
{
    atomic_u64 *at;
    haft_id inserted;
    const haft_status status = take_free(table, &at, &inserted);

    if (status == HAFT_OK) {
        values_write(table, counted_object(at), object);
        publish_word(table, at);
        *id = inserted;
    }
    return status;
}

haft_status haft_counted_reserve(haft_counted *table, haft_id *id, void **object)
{
    atomic_u64 *at;

    if (table->copies) {
        return HAFT_BAD_COPIES;
    }
    const haft_status status = take_free(table, &at, id);

    if (status == HAFT_OK) {
        const uint32_t life = counted_begin(table, load_relaxed(OWN, at));

        store_relaxed(OWN, at, counted_word(life, COUNTED_RESERVED, COUNTED_FOR_CALLER));
        values_unpoison(table, counted_object(at));
        if (object != NULL) {
            *object = counted_object(at);
        }
    }
    return status;
}

/* The word of the slot that `id` was reserved in. */
static atomic_u64 *reserved_slot(const haft_counted *table, haft_id id)
{
    atomic_u64 *at = counted_find(table, id);

    assert(at != NULL && counted_fits(table, load_relaxed(OWN, at), id, COUNTED_RESERVED) &&
           counted_low(load_relaxed(OWN, at)) == COUNTED_FOR_CALLER &&
           "an id is reserved, and published or given up once");
    return at;
}

void haft_counted_publish(haft_counted *table, haft_id id)
{
    publish_word(table, reserved_slot(table, id));
}

void haft_counted_abort(haft_counted *table, haft_id id)
{
    atomic_u64 *at = reserved_slot(table, id);

    store_relaxed(OWN, at, destroy_word(table, load_relaxed(OWN, at)));
    destroy_silently(table, counted_index(table, id));
}

/* --- the way out --- */

/* The caller has ended the object of slot `index`, which has no holder: `word` is its word now. */
static inline void end_unheld(haft_counted *table, uint64_t index, uint64_t word)
{
    const uint32_t life = counted_life(word);

    if (!table->is_plain || counted_is_worn(table, life) || !shards_give(table, index, life)) {
        destroy_object(table, index);
    }
}

haft_status haft_counted_free(haft_counted *table, haft_id id)
{
    atomic_u64 *at = counted_find(table, id);

    if (at == NULL) {
        return haft_counted_diagnose(table, id);
    }
    for (;;) {
        const uint64_t word = load_relaxed(RETRY, at);

        if (!counted_fits(table, word, id, COUNTED_LIVE)) {
            return haft_counted_diagnose(table, id);
        }
        if (counted_low(word) == 0) {
            const uint64_t next = destroy_word(table, word);

            /* Weakened, on_destroy could run before a holder's last use. */
            if (cas_acquire(HOLD, at, word, next)) {
                end_unheld(table, counted_index(table, id), next);
                return HAFT_OK;
            }
            /* Weakened, on_destroy could run before what this thread did. */
        } else if (cas_release(HOLD, at, word, word | UINT64_C(1) << COUNTED_LOW_BITS)) {
            return HAFT_OK; /* LIVE has become ENDED */
        }
    }
}

haft_status haft_counted_take(haft_counted *table, haft_id id, void *object)
{
    atomic_u64 *at = counted_find(table, id);
    uint64_t word;

    if (at == NULL) {
        return haft_counted_diagnose(table, id);
    }
    do {
        word = load_relaxed(RETRY, at);
        if (!counted_fits(table, word, id, COUNTED_LIVE)) {
            return haft_counted_diagnose(table, id);
        }
        if (counted_low(word) != 0) {
            return HAFT_IN_USE;
        }
        /* Weakened, the bytes could be those of before a holder's last use. */
    } while (!cas_acquire(HOLD, at, word, destroy_word(table, word)));
    memcpy(object, counted_object(at), table->object_size);
    destroy_silently(table, counted_index(table, id));
    return HAFT_OK;
}
