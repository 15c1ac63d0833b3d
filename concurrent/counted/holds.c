/*
 * Holding counted objects: acquire, again, release, and copies.
 *
 * Edges in this file.
 *   PUBLISH  publish_word (release) -> haft_counted_acquire, copy_from (acquire)   object before
 *            word
 *   HOLD     haft_counted_release, free_any, and publish_word, for an end without a hold (release)
 *            -> haft_counted_release, the last one, free_any, end_plainly, haft_counted_take
 *            (acquire)   all uses by holders before the object's end; between them lie only
 *            read-modify-writes
 *   RETRY    a first look; the compare-and-swap decides
 *   SAME     a copy's second look, after the object's words were acquired
 *   ONWARD   the caller's hold already orders the object
 */
#include "concurrent/counted/destroy.h"
#include "concurrent/counted/values.h"
#include "lib/base/compiler.h"
#include "lib/slots/bad_access.h"
#include <string.h>

void *haft_counted_acquire(haft_counted *table, haft_id id)
{
    atomic_u64 *at = counted_find(table, id);
    uint64_t word;

    if (at == NULL) {
        return NULL;
    }
    do {
        word = load_relaxed(RETRY, at);
        if (!counted_fits(table, word, id, COUNTED_LIVE) ||
            counted_low(word) == COUNTED_MOST_HOLDERS) {
            return NULL;
        }
        /* Weakened, the object's bytes could be read from before its publication. */
    } while (!cas_acquire(PUBLISH, at, word, word + 1));
    return counted_object(at);
}

/* The object after all, if it was published since; else the id is reported. */
NOINLINE static void *require_again(haft_counted *table, haft_id id)
{
    haft_status status = haft_counted_diagnose(table, id);

    if (status == HAFT_OK) {
        void *object = haft_counted_acquire(table, id);

        if (object != NULL) {
            return object;
        }
        status = haft_counted_diagnose(table, id);
        if (status == HAFT_OK) {
            status = HAFT_IN_USE; /* by as many holders as can be */
        }
    }
    const haft_bad_access access = {
        .table = table->name,
        .layout = table->format.layout,
        .id = id,
        .status = status,
    };

    bad_access_report(&access, table->on_bad_access, table->report_arg);
    return NULL;
}

void *haft_counted_require(haft_counted *table, haft_id id)
{
    void *object = haft_counted_acquire(table, id);

    return HAFT_IF_LIKELY(object != NULL) ? object : require_again(table, id);
}

/* Whether the word is that of an object with this id that is held. */
static inline bool has_holder(const haft_counted *table, uint64_t word, haft_id id)
{
    return counted_low(word) != 0 && counted_is_of(table, word, id);
}

bool haft_counted_again(haft_counted *table, haft_id id)
{
    atomic_u64 *at = counted_find(table, id);
    uint64_t word;

    if (at == NULL) {
        return false;
    }
    do {
        word = load_relaxed(RETRY, at);
        if (!has_holder(table, word, id) || counted_low(word) == COUNTED_MOST_HOLDERS) {
            return false;
        }
    } while (!cas_relaxed(ONWARD, at, word, word + 1));
    return true;
}

haft_status haft_counted_release(haft_counted *table, haft_id id)
{
    atomic_u64 *at = counted_find(table, id);
    uint64_t word;
    uint64_t next;

    if (at == NULL) {
        return HAFT_NOT_HELD;
    }
    do {
        word = load_relaxed(RETRY, at);
        if (!has_holder(table, word, id)) {
            return HAFT_NOT_HELD;
        }
        next = counted_is_last(word) ? destroy_word(table, word) : word - 1;
        /* Weakened, on_destroy could run before another holder's last use. */
    } while (!cas_acq_rel(HOLD, at, word, next));
    if (counted_is_last(word)) {
        destroy_object(table, counted_index(table, id));
    }
    return HAFT_OK;
}

/* As long as no other object came into the slot between the two looks at its word. */
static inline bool is_unchanged(uint64_t before, uint64_t after)
{
    return (before ^ after) >> COUNTED_LOW_BITS == 0;
}

/* The object of `size` bytes behind `at`, unless the id is stale or ends meanwhile. */
static inline bool copy_from(const haft_counted *table, const atomic_u64 *at, haft_id id,
                             void *object, size_t size)
{
    uint64_t words[VALUES_MOST_BYTES / sizeof(uint64_t)];
    /* Weakened, the object's words could be read from before its publication. */
    const uint64_t before = load_acquire(PUBLISH, at);

    if (!counted_fits(table, before, id, COUNTED_LIVE)) {
        return false;
    }
    values_read(at + 1, words, size);
    if (!is_unchanged(before, load_relaxed(SAME, at))) {
        return false;
    }
    if (size != 0) { /* else `object` may be NULL */
        memcpy(object, words, size);
    }
    return true;
}

/* Any number of words: apart, so that one word's way stays short. */
NOINLINE static bool copy_words(const haft_counted *table, haft_id id, void *object)
{
    const atomic_u64 *at = table->copies ? counted_find(table, id) : NULL;

    return at != NULL && copy_from(table, at, id, object, table->object_size);
}

/* Slots that a word is copied from here. */
static inline uint64_t one_word_count(const haft_counted *table)
{
    return OS_READS_IN_STEPS ? 0 : table->one_word_count;
}

bool haft_counted_copy(const haft_counted *table, haft_id id, void *object)
{
    const uint64_t index = counted_index(table, id);

    assert(table->copies && "a table that copies are made of is opened with `copies`");
    if (index - HAFT_FIRST_INDEX >= one_word_count(table)) {
        return copy_words(table, id, object);
    }
    return copy_from(table, counted_at(table, index), id, object, sizeof(uint64_t));
}
