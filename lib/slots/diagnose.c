/*
 * The status of an id.
 *
 * Edges in this file.
 *   PUBLISH  haft_publish (release) -> slots_diagnose, slots_id_at (acquire)   the word, as resolve
 *            sees it
 */
#include "lib/slots/diagnose.h"

/*
 * Whether generation `asked`, in place, was issued for slot `index` before the one in its `word`.
 * Once ids repeat this cannot be told: then yes, for a slot that is not fresh.
 */
static bool issued_before(const struct slots *slots, uint64_t index, uint64_t asked, uint64_t word)
{
    const struct word_format *format = &slots->format;
    const uint64_t last = slots_word_or_floor(slots, index, word);
    const uint64_t now = word_generation(format, slots_begin(slots, last));

    if (slots->wrapped && last != 0) {
        return asked != 0;
    }
    /* After the last life the next generation is 0: every life was issued. */
    return asked >= word_generation(format, format->first) && (now == 0 || asked < now);
}

haft_status slots_diagnose(const struct slots *slots, haft_id id)
{
    const struct word_format *format = &slots->format;
    const uint64_t index = word_index(format, id.bits);
    const uint64_t asked = word_generation(format, id.bits);
    const haft_status status = word_check_fields(format, id, slots->limit);

    if (status != HAFT_OK) {
        return status == HAFT_OUT_OF_RANGE ? HAFT_NEVER_ISSUED : status;
    }
    const uint64_t word = load_acquire(PUBLISH, slots_word(slots, index));

    if (word == id.bits) {
        return HAFT_OK;
    }
    if (word == word_with_index(format, id.bits, MARK_RESERVED)) {
        return HAFT_RESERVED;
    }
    if (!issued_before(slots, index, asked, word)) {
        return HAFT_NEVER_ISSUED;
    }
    return word_index(format, word) == MARK_EXHAUSTED ? HAFT_EXHAUSTED : HAFT_STALE;
}

/* The slot's next life begins from `word`, which is in none: nil after the last. */
static haft_status next_at(const struct slots *slots, uint64_t index, uint64_t word, haft_id *id)
{
    const struct word_format *format = &slots->format;
    const bool is_exhausted = word_index(format, word) == MARK_EXHAUSTED;
    uint64_t begin = slots_begin_at(slots, index, word);

    if (!is_exhausted && slots->wrapped) { /* a shared table's word while its slot is retired */
        begin = word_wrapped(format, begin);
    }
    if (word_generation(format, begin) == 0) {
        id->bits = 0;
        return HAFT_EXHAUSTED;
    }
    id->bits = word_with_index(format, begin, index);
    return word == 0 ? HAFT_NEVER_ISSUED : HAFT_STALE;
}

haft_status slots_id_at(const struct slots *slots, uint64_t index, haft_id *id)
{
    const struct word_format *format = &slots->format;

    if (index < HAFT_FIRST_INDEX || index >= slots->limit) {
        return HAFT_OUT_OF_RANGE;
    }
    const uint64_t word = load_acquire(PUBLISH, slots_word(slots, index));
    const uint64_t field = word_index(format, word);

    if (field != index && field != MARK_RESERVED) {
        return next_at(slots, index, word, id);
    }
    id->bits = word_with_index(format, word, index);
    return field == index ? HAFT_OK : HAFT_RESERVED;
}

haft_info slots_info(const struct slots *slots, const char *name, uint64_t capacity)
{
    return (haft_info){
        .name = name,
        .capacity = capacity,
        .object_size = slots->object_size,
        .layout = slots->format.layout,
        .tag = slots->common.tag,
        .pins = slots->has_pins,
    };
}
