/*
 * What a line of text says about an id, and about where its object was allocated and freed.
 *
 * Edges in this file.
 *   HINT   a site that is read too early or too late makes the line say less
 */
#include "lib/slots/sites_text.h"
#include "lib/base/os.h"
#include <inttypes.h>
#include <string.h>

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

    /* After the last life the slot has no generation, or begins anew. */
    return now == next || (next == 0 && now == format->generation_one);
}

static void tell_dead(struct text *text, const struct slots *slots, haft_id id, uint64_t word)
{
    const uint64_t index = word_index(&slots->format, id.bits);
    const uint64_t field = word_index(&slots->format, word);
    const struct site *site = &slots->sites.records[index];
    const void *died = site_of(&site->died);
    const void *born = site_of(&site->born);

    if (word == 0) {
        text_add(text, "; its memory has been released since");
        return;
    }
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

static void tell_born(struct text *text, const struct site *site, const char *how)
{
    const void *born = site_of(&site->born);

    if (born != NULL) {
        text_add(text, "; %s at ", how);
        site_tell(text, born);
    }
}

static const struct site *site_record(const struct slots *slots, haft_id id)
{
    return &slots->sites.records[word_index(&slots->format, id.bits)];
}

/* What is known of an id with that status: "; freed at ..., allocated at ...". */
static void sites_tell(struct text *text, const struct slots *slots, haft_id id, haft_status status)
{
    const uint64_t index = word_index(&slots->format, id.bits);

    if (slots->sites.records == NULL) {
        return;
    }
    if (status == HAFT_STALE || status == HAFT_EXHAUSTED) {
        tell_dead(text, slots, id, load_relaxed(HINT, slots_word(slots, index)));
    } else if (status == HAFT_OK || status == HAFT_RESERVED) {
        tell_born(text, site_record(slots, id), status == HAFT_OK ? "allocated" : "reserved");
    }
}

static void tell_status(struct text *text, const struct slots *slots, const char *table, haft_id id,
                        haft_status status)
{
    char id_text[HAFT_ID_TEXT_SIZE];

    haft_id_format(slots->format.layout, id, id_text, sizeof id_text);
    text_add(text, "%s: %s: %s (%s)", table, id_text,
             status == HAFT_OK ? "live" : haft_status_text(status), haft_status_name(status));
}

int sites_describe(const struct slots *slots, const char *table, haft_id id, haft_status status,
                   char *line, size_t size)
{
    struct text text = text_in(line, size);

    tell_status(&text, slots, table, id, status);
    sites_tell(&text, slots, id, status);
    return text_length(&text);
}

int sites_describe_ended(const struct slots *slots, const char *table, haft_id id,
                         haft_status status, char *line, size_t size)
{
    struct text text = text_in(line, size);

    tell_status(&text, slots, table, id, status);
    if (slots->sites.records != NULL) {
        text_add(&text, ", at ");
        site_tell(&text, site_of(&site_record(slots, id)->died));
        tell_born(&text, site_record(slots, id), "allocated");
    }
    return text_length(&text);
}
