/*
 * The lives of counted objects: insert, reserve, publish, abort; free, take.  The last release is
 * in holds.c, the end of an object in destroy.c.
 *
 * Edges in this file.
 *   PUBLISH  publish_word (release) -> haft_counted_acquire, copy_from, the
 *            looks in ids.c (acquire)   object before word
 *   HOLD     haft_counted_release, free_any, and publish_word, for an end without a hold (release)
 *            -> free_any, end_plainly, haft_counted_take, haft_counted_release, the last one
 *            (acquire)   all uses by holders before the object's end; and what the thread that
 *            frees did before
 *   SHARD    end_plainly (release) -> shards_try, shards_look, shards_close (acquire)   the slot's
 *            last life
 *   OWN      only this call writes the word
 *   RETRY    a first look; the compare-and-swap decides
 */
#include "concurrent/counted/destroy.h"
#include "concurrent/counted/free_slots.h"
#include "concurrent/counted/shards.h"
#include "concurrent/counted/values.h"
#include "lib/base/compiler.h"
#include <assert.h>
#include <string.h>

/* --- the way in --- */

/* A slot of the caller's, and the id of its next life. */
static haft_status take_free(haft_counted *table, atomic_u64 **at, haft_id *id)
{
    uint64_t index;
    const haft_status status = free_slots_take(table, &index);

    if (status != HAFT_OK) {
        return status;
    }
    *at = counted_at(table, index);
    const uint64_t word = load_relaxed(OWN, *at);
    const uint32_t life = counted_begin(table, word);

    assert(counted_state_of(word) == COUNTED_FREE && !counted_is_exhausted(table, life));
    store_relaxed(OWN, *at, counted_word(life, COUNTED_RESERVED, COUNTED_FOR_CALLER));
    *id = counted_id(table, index, life);
    return HAFT_OK;
}

/* The slot, whose word is `word`, is live. */
static inline void publish_word(atomic_u64 *at, uint64_t word)
{
    assert(counted_state_of(word) == COUNTED_FREE || counted_state_of(word) == COUNTED_RESERVED);
    /* Weakened, a thread could acquire the id and read the object's bytes from before. */
    store_release(PUBLISH, at, counted_word(counted_life(word), COUNTED_LIVE, 0));
}

/* Any object, into any slot: apart, so that the common way stays short. */
NOINLINE static haft_status insert_anywhere(haft_counted *table, const void *object, haft_id *id)
{
    atomic_u64 *at;
    haft_id inserted;
    const haft_status status = take_free(table, &at, &inserted);

    if (status == HAFT_OK) {
        values_write(table, counted_object(at), object);
        *id = inserted;
        publish_word(at, load_relaxed(OWN, at)); /* last, as below */
    }
    return status;
}

haft_status haft_counted_insert(haft_counted *table, const void *object, haft_id *id)
{
    uint64_t index;
    uint64_t word;

    if (!table->has_words || object == NULL || shards_thread == 0 ||
        !shards_try(table, shards_own(table), &index, &word)) {
        return insert_anywhere(table, object, id);
    }
    atomic_u64 *at = counted_at(table, index);

    assert(load_relaxed(OWN, at) == word && counted_state_of(word) == COUNTED_FREE);
    object_copy_words(counted_object(at), object, table->object_size);
    *id = counted_id(table, index, counted_life(word));
    publish_word(at, word); /* last: a thread that sees the object may close the table */
    return HAFT_OK;
}

haft_status haft_counted_reserve(haft_counted *table, haft_id *id, void **object)
{
    atomic_u64 *at;

    if (table->copies) {
        return HAFT_BAD_COPIES;
    }
    const haft_status status = take_free(table, &at, id);

    if (status == HAFT_OK) {
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
    atomic_u64 *at = reserved_slot(table, id);

    publish_word(at, load_relaxed(OWN, at));
}

void haft_counted_abort(haft_counted *table, haft_id id)
{
    atomic_u64 *at = reserved_slot(table, id);

    store_relaxed(OWN, at, destroy_word(table, load_relaxed(OWN, at)));
    destroy_silently(table, counted_index(table, id));
}

/* --- the way out --- */

/* The answer to a call that found that `id` was not live. */
static haft_status refuse_counted(const haft_counted *table, haft_id id)
{
    const haft_status status = haft_counted_diagnose(table, id);

    return status == HAFT_OK ? HAFT_RESERVED : status; /* published since */
}

/* End an object: apart, so that the common way stays short. */
NOINLINE static haft_status free_any(haft_counted *table, haft_id id)
{
    atomic_u64 *at = counted_find(table, id);

    if (at == NULL) {
        return refuse_counted(table, id);
    }
    for (;;) {
        const uint64_t word = load_relaxed(RETRY, at);

        if (!counted_fits(table, word, id, COUNTED_LIVE)) {
            return refuse_counted(table, id);
        }
        if (counted_low(word) == 0) {
            /* Weakened, on_destroy could run before a holder's last use. */
            if (cas_acquire(HOLD, at, word, destroy_word(table, word))) {
                destroy_object(table, counted_index(table, id));
                return HAFT_OK;
            }
            /* Weakened, on_destroy could run before what this thread did. */
        } else if (cas_release(HOLD, at, word, word | UINT64_C(1) << COUNTED_LOW_BITS)) {
            return HAFT_OK; /* LIVE has become ENDED */
        }
    }
}

/* Give slot `index` to a list after all: another call was faster at the shard, or closed it. */
NOINLINE static void give_after_all(haft_counted *table, uint64_t index, uint32_t life)
{
    shards_move_thread();
    free_slots_give(table, index, life);
}

/*
 * End an object without holders, where nothing is to be destroyed, and put its slot into the shard.
 * False: another call was faster at its word, or the shard is closed; nothing has changed.
 */
static inline bool end_plainly(haft_counted *table, atomic_u64 *at, uint64_t word, uint64_t index)
{
    atomic_u64 *shard = shards_own(table);
    const uint64_t head = load_relaxed(RETRY, shard);
    const uint32_t life = counted_life(word) + 1;

    assert(counted_state_of(word) == COUNTED_LIVE && counted_low(word) == 0);
    if (counted_low(head) == COUNTED_CLOSED) {
        return false;
    }
    /* Weakened, the slot's next object could be written before a holder's last use. */
    if (!cas_acquire(HOLD, at, word, counted_word(life, COUNTED_FREE, counted_low(head)))) {
        return false;
    }
    /* Weakened, the slot could be taken with a link or a life from before. */
    if (!cas_release(SHARD, shard, head, (head & ~COUNTED_LOW_MASK) | index)) {
        give_after_all(table, index, life);
    }
    return true;
}

haft_status haft_counted_free(haft_counted *table, haft_id id)
{
    atomic_u64 *at = counted_find(table, id);
    const uint64_t word = at != NULL ? load_relaxed(RETRY, at) : 0;
    const uint32_t next = counted_life(word) + 1;

    if (!table->is_plain || shards_thread == 0 || counted_low(word) != 0 ||
        !counted_fits(table, word, id, COUNTED_LIVE) || counted_is_exhausted(table, next)) {
        return free_any(table, id);
    }
    return end_plainly(table, at, word, counted_index(table, id)) ? HAFT_OK : free_any(table, id);
}

haft_status haft_counted_take(haft_counted *table, haft_id id, void *object)
{
    atomic_u64 *at = counted_find(table, id);
    uint64_t word;

    if (at == NULL) {
        return refuse_counted(table, id);
    }
    do {
        word = load_relaxed(RETRY, at);
        if (!counted_fits(table, word, id, COUNTED_LIVE)) {
            return refuse_counted(table, id);
        }
        if (counted_low(word) != 0) {
            return HAFT_IN_USE;
        }
        /* Weakened, the bytes could be those of before a holder's last use. */
    } while (!cas_acquire(HOLD, at, word, destroy_word(table, word)));
    if (table->object_size != 0) { /* else `object` may be NULL */
        memcpy(object, counted_object(at), table->object_size);
    }
    destroy_silently(table, counted_index(table, id));
    return HAFT_OK;
}
