/*
 * Walks over the slots of a counted table: cursors, statistics, and statuses in words.
 *
 * Edges in this file.
 *   COUNT    a statistic, or how far a walk goes: what the caller knows to be inserted is there
 */
#include "concurrent/counted/free_slots.h"
#include "concurrent/counted/queue.h"
#include "lib/base/text.h"

bool haft_counted_cursor_next(haft_counted *table, haft_counted_cursor *cursor, haft_id *id,
                              void **object)
{
    const uint64_t end = free_slots_end(table);

    for (uint64_t index = HAFT_FIRST_INDEX + cursor->passed; index < end; index++) {
        haft_id found;

        cursor->passed = index + 1 - HAFT_FIRST_INDEX;
        if (haft_counted_id_at(table, index, &found) == HAFT_OK) {
            void *held = haft_counted_acquire(table, found);

            if (held != NULL) {
                *id = found;
                *object = held;
                return true;
            }
        }
    }
    return false;
}

static void count_slot(haft_counted_stats *stats, uint64_t word)
{
    switch (counted_state_of(word)) {
    case COUNTED_LIVE:
        stats->live++;
        stats->held += counted_low(word) != 0;
        break;
    case COUNTED_ENDED:
        stats->ended++;
        break;
    case COUNTED_RESERVED:
        if (counted_low(word) == COUNTED_FOR_CALLER) {
            stats->reserved++;
        } else if (counted_low(word) == COUNTED_EXHAUSTED) {
            stats->exhausted++;
        } else {
            stats->ended++;
        }
        break;
    default:
        stats->free++;
    }
}

haft_counted_stats haft_counted_stats_get(const haft_counted *table)
{
    const uint64_t end = free_slots_end(table);
    haft_counted_stats stats = {
        .high_water = end - HAFT_FIRST_INDEX,
        .capacity = table->capacity,
        .limit = table->slot_count,
    };

    for (uint64_t index = HAFT_FIRST_INDEX; index < end; index++) {
        const uint64_t word = load_relaxed(COUNT, counted_at(table, index));

        if (queue_slot_is_unused(table, index, word)) {
            stats.high_water--;
        } else {
            count_slot(&stats, word);
        }
    }
    stats.bytes = counted_bytes(table, end);
    return stats;
}

/* --- in words --- */

static void add_part(struct text *text, const char **before, uint64_t count, const char *one,
                     const char *more)
{
    if (count != 0) {
        text_add(text, "%s", *before);
        text_add_counted(text, count, one);
        text_add(text, "%s", more);
        *before = ", ";
    }
}

/* What is in use beside live objects. */
static void add_use(struct text *text, const char *before, const haft_counted_stats *stats)
{
    add_part(text, &before, stats->reserved, "slot", " reserved");
    add_part(text, &before, stats->ended, "object", " freed and still held or being destroyed");
}

int haft_counted_explain(const haft_counted *table, haft_status status, char *line, size_t size)
{
    struct text text = text_in(line, size);
    const bool counts = status == HAFT_FULL || status == HAFT_IN_USE;
    const haft_counted_stats stats =
        counts ? haft_counted_stats_get(table) : (haft_counted_stats){0};

    text_add(&text, "%s: ", table->name);
    if (status == HAFT_FULL) {
        text_add(&text, "full: capacity ");
        text_add_count(&text, table->capacity);
        text_add(&text, "; ");
        text_add_count(&text, stats.live);
        text_add(&text, " live");
        const char *before = ", ";

        add_use(&text, before, &stats);
        add_part(&text, &before, stats.exhausted, "slot", " exhausted");
    } else if (status == HAFT_IN_USE) {
        const char *before = "in use: ";

        add_part(&text, &before, stats.live, "object", " live");
        add_part(&text, &before, stats.held, "object", " of them held");
        add_use(&text, before, &stats);
        if (stats.live + stats.reserved + stats.ended == 0) {
            text_add(&text, "in use: a call under way");
        }
    } else {
        text_add(&text, "%s", haft_status_text(status));
    }
    return text_length(&text);
}
