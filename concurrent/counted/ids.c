/*
 * What a counted table says of one id.
 *
 * Edges in this file.
 *   PUBLISH  publish_word (release) -> the looks here (acquire)   what came before an id was live,
 *            for a thread that is told so
 */
#include "concurrent/counted/queue.h"
#include <haft/detail/typed_counted.h>

haft_info haft_counted_info(const haft_counted *table)
{
    const haft_layout layout = table->format.layout;

    return (haft_info){
        .name = table->name,
        .capacity = table->capacity,
        .object_size = table->object_size,
        .layout = layout,
        .tag = haft_id_tag(layout, (haft_id){table->format.tag}),
    };
}

haft_status haft_counted_fits(const haft_counted *table, haft_type type)
{
    const uintptr_t object = (uintptr_t)counted_object(counted_at(table, HAFT_FIRST_INDEX));

    return table->object_size == type.size && object % type.alignment == 0 &&
                   table->stride % type.alignment == 0
               ? HAFT_OK
               : HAFT_WRONG_TYPE;
}

bool haft_counted_is_live(const haft_counted *table, haft_id id)
{
    const atomic_u64 *at = counted_find(table, id);

    /* Weakened, what the thread that published the id had done could be unseen. */
    return at != NULL && counted_fits(table, load_acquire(PUBLISH, at), id, COUNTED_LIVE);
}

/* Whether the generation of `id` was issued before the life in `word`; true if none can tell. */
static bool was_issued(const haft_counted *table, uint64_t word, haft_id id)
{
    const uint32_t asked = (uint32_t)(id.bits >> table->index_bits) & table->generation_mask;
    const uint32_t life = counted_begin(table, word);
    const bool may_repeat = table->wraps && word != 0 &&
                            (life > table->generation_mask || table->generation_mask == UINT32_MAX);

    if (may_repeat) {
        return asked != 0;
    }
    return asked >= table->first_life && (counted_is_exhausted(table, life) || asked < life);
}

haft_status haft_counted_diagnose(const haft_counted *table, haft_id id)
{
    const haft_status status =
        word_check_fields(&table->format, id, HAFT_FIRST_INDEX + table->slot_count);

    if (status != HAFT_OK) {
        return status == HAFT_OUT_OF_RANGE ? HAFT_NEVER_ISSUED : status;
    }
    const atomic_u64 *at = counted_find(table, id); /* NULL: its slot was never used */
    /* Weakened, what the thread that published the id had done could be unseen. */
    const uint64_t word = at != NULL ? load_acquire(PUBLISH, at) : 0;

    if (counted_fits(table, word, id, COUNTED_LIVE)) {
        return HAFT_OK;
    }
    if (counted_fits(table, word, id, COUNTED_RESERVED) &&
        counted_low(word) == COUNTED_FOR_CALLER) {
        return HAFT_RESERVED;
    }
    if (counted_fits(table, word, id, COUNTED_ENDED)) {
        return HAFT_STALE;
    }
    if (!was_issued(table, word, id)) {
        return HAFT_NEVER_ISSUED;
    }
    return counted_is_exhausted(table, counted_begin(table, word)) ? HAFT_EXHAUSTED : HAFT_STALE;
}

int haft_counted_diagnose_format(const haft_counted *table, haft_id id, char *text, size_t size)
{
    const haft_bad_access access = {
        .table = table->name,
        .layout = table->format.layout,
        .id = id,
        .status = haft_counted_diagnose(table, id),
    };

    return haft_bad_access_format(&access, text, size);
}

haft_status haft_counted_id_at(const haft_counted *table, uint64_t index, haft_id *id)
{
    if (index < HAFT_FIRST_INDEX || index - HAFT_FIRST_INDEX >= table->slot_count) {
        return HAFT_OUT_OF_RANGE;
    }
    const atomic_u64 *at = counted_find(table, (haft_id){index}); /* NULL: it was never used */
    /* Weakened, what the thread that published the id had done could be unseen. */
    const uint64_t word = at != NULL ? load_acquire(PUBLISH, at) : 0;
    const uint32_t life = counted_begin(table, word);
    const enum counted_state state = counted_state_of(word);
    const bool is_ended = state == COUNTED_ENDED;
    const uint32_t next = is_ended ? counted_next(table, life) : life;

    *id = counted_is_exhausted(table, next) ? HAFT_NIL : counted_id(table, index, next);
    if (state == COUNTED_LIVE) {
        return HAFT_OK;
    }
    if (counted_is_exhausted(table, next)) {
        return HAFT_EXHAUSTED;
    }
    if (state == COUNTED_RESERVED && counted_low(word) == COUNTED_FOR_CALLER) {
        return HAFT_RESERVED;
    }
    return word == 0 || queue_slot_is_unused(table, index, word) ? HAFT_NEVER_ISSUED : HAFT_STALE;
}
