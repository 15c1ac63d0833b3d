/*
 * The status of an id, and where its object was allocated and freed.
 *
 * Edges in this file.
 *   PUBLISH  haft_publish, and revive of recycle.c (release) -> slots_diagnose, slots_id_at
 *            (acquire)   the word, as resolve sees it, and whether ids repeat
 *   HINT     ids repeat: then more of them are said to be stale.  A site that is read too early or
 *            too late makes a line of text say less
 */
#include "lib/slots/diagnose.h"
#include "lib/base/os.h"
#include <inttypes.h>
#include <string.h>

/*
 * Whether generation `asked`, in place, was issued for slot `index` before the one in its `word`.
 * Once ids repeat this cannot be told: then yes, for a slot that is not fresh.
 */
static bool issued_before(const struct slots *slots, uint64_t index, uint64_t asked, uint64_t word)
{
    const struct word_format *format = &slots->format;
    const uint64_t last = slots_word_or_floor(slots, index, word);
    const uint64_t now = word_generation(format, slots_begin(slots, last));

    if ((slots->wrapped || load_relaxed(HINT, &slots->recycled) != 0) && last != 0) {
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
    const haft_status status = slots_check_fields(slots, id, slots->limit);

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

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

void site_tell(struct text *text, const void *site)
{
    const uintptr_t address = (uintptr_t)site - 1; /* within the call that returns to `site` */
    struct os_symbol symbol;

    if (site == NULL) {
        text_add(text, "somewhere");
    } else if (!os_symbol_of(address, &symbol)) {
        text_add(text, "%#" PRIx64, (uint64_t)address);
    } else if (symbol.function == NULL) {
        text_add(text, "%s+%#" PRIx64, file_name(symbol.file), (uint64_t)symbol.file_offset);
    } else {
        text_add(text, "%s+%#" PRIx64 " (%s+%#" PRIx64 ")", symbol.function,
                 (uint64_t)symbol.function_offset, file_name(symbol.file),
                 (uint64_t)symbol.file_offset);
    }
}

int haft_site_format(const void *site, char *text, size_t size)
{
    struct text line = text_in(text, size);

    site_tell(&line, site);
    return text_length(&line);
}

static const void *site_of(const atomic_u64 *word)
{
    return (const void *)(uintptr_t)load_relaxed(HINT, word);
}

/* Whether the slot's last life that has ended is that of `id`; `word` is the slot's. */
static bool ended_last(const struct slots *slots, haft_id id, uint64_t word)
{
    const struct word_format *format = &slots->format;
    const uint64_t next = word_generation(format, word_next_life(format, id.bits, 0));
    const uint64_t now = word_generation(format, word);

    return word != 0 &&
           (now == next || (next == 0 && slots->wrapped && now == format->generation_one));
}

static void tell_dead(struct text *text, const struct slots *slots, haft_id id, uint64_t word)
{
    const uint64_t index = word_index(&slots->format, id.bits);
    const uint64_t field = word_index(&slots->format, word);
    const struct site *site = &slots->sites.records[index];
    const void *died = site_of(&site->died);
    const void *born = site_of(&site->born);

    if (!ended_last(slots, id, word)) {
        text_add(text, "; its slot has been used since");
        return;
    }
    if (died != NULL) {
        text_add(text, ", at ");
        site_tell(text, died);
    }
    if (born != NULL && field != index && field != MARK_RESERVED) {
        text_add(text, "; allocated at ");
        site_tell(text, born);
    }
}

static void tell_here(struct text *text, const struct site *site, haft_status status)
{
    if (status == HAFT_DEAD) {
        text_add(text, ", at ");
        site_tell(text, site_of(&site->died));
    }
    text_add(text, "; %s at ", status == HAFT_RESERVED ? "reserved" : "allocated");
    site_tell(text, site_of(&site->born));
}

void sites_tell(struct text *text, const struct slots *slots, haft_id id, haft_status status)
{
    const uint64_t index = word_index(&slots->format, id.bits);

    if (slots->sites.records == NULL) {
        return;
    }
    if (status == HAFT_STALE || status == HAFT_EXHAUSTED) {
        tell_dead(text, slots, id, load_relaxed(HINT, slots_word(slots, index)));
    } else if (status == HAFT_OK || status == HAFT_RESERVED || status == HAFT_DEAD) {
        tell_here(text, &slots->sites.records[index], status);
    }
}

int sites_describe(const struct slots *slots, const char *table, haft_id id, haft_status status,
                   char *line, size_t size)
{
    struct text text = text_in(line, size);
    char id_text[HAFT_ID_TEXT_SIZE];

    haft_id_format(slots->format.layout, id, id_text, sizeof id_text);
    text_add(&text, "%s: %s: %s (%s)", table, id_text,
             status == HAFT_OK ? "live" : haft_status_text(status), haft_status_name(status));
    sites_tell(&text, slots, id, status);
    return text_length(&text);
}
