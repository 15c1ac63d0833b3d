/*
 * Pins: a counter behind each object.
 *
 * After its grace period a retired slot gets no further pins: its id matches no more, and every
 * section that had resolved it has ended.  The thread that reclaims the slot sets PIN_ELAPSED in
 * the counter; if it had pins, the thread that gives the last one back puts the slot into the
 * table's list of unpinned ones, from which it is reclaimed.  The flag decides, not the word: both
 * threads would read "retired" there.  No callback runs in an unpin, so a chain of objects of which
 * each holds a pin on the next is reclaimed one by one.
 *
 * Edges in this file.
 *   PIN      haft_unpin (release) -> is_pinned, haft_unpin (acquire): the use of the object before
 *            the reuse of its memory; is_pinned (release) -> haft_unpin (acquire): the grace period
 *            before it
 *   RETRY    a first look; the compare-and-swap decides
 *   COUNT    an addition within a section that the grace period waits for; a snapshot
 */
#include "concurrent/clock/callback.h"
#include "concurrent/worker/lists.h"
#include "concurrent/worker/worker_list.h"
#include <haft/pin.h>

/* NULL in a table without the option `pins`. */
static atomic_u64 *pins_of(const haft_table *table, uint64_t index)
{
    if (!table->slots.has_pins) {
        return NULL;
    }
    return slots_pins(&table->slots, slots_word(&table->slots, index));
}

void *haft_pin(haft_table *table, haft_id id)
{
    void *object = haft_resolve(table->slots.view, id);

    debug_check_reader(table);
    if (object == NULL) {
        return NULL;
    }
    atomic_u64 *pins = pins_of(table, word_index(&table->slots.format, id.bits));

    if (pins == NULL) {
        return NULL;
    }
    if ((fetch_add_relaxed(COUNT, pins, 1) & PIN_COUNT) >= HAFT_PINS_MOST) {
        fetch_add_relaxed(COUNT, pins, UINT64_MAX);
        return NULL;
    }
    return object;
}

/* Whether the word is that of the object that `id` names, or named until it was freed. */
static bool is_of(const haft_table *table, haft_id id)
{
    const struct word_format *format = &table->slots.format;
    const uint64_t index = id.bits & table->slots.view.mask;
    const uint64_t word = load_relaxed(COUNT, slots_word(&table->slots, index));
    const uint64_t mark = word_index(format, word);

    /* From the word to the id: the other way, bits above the layout would get lost.  A freed slot
     * is marked FREE, or has the next one in a list there. */
    return word == id.bits || (mark >= MARK_FREE && mark != index &&
                               word_last_life(format, word, index).bits == id.bits);
}

haft_status haft_unpin(haft_table *table, haft_id id)
{
    const uint64_t index = id.bits & table->slots.view.mask;
    atomic_u64 *pins = pins_of(table, index);
    uint64_t before;

    if (pins == NULL) {
        return HAFT_NOT_PINNED;
    }
    do {
        before = load_relaxed(RETRY, pins);
        if ((before & PIN_COUNT) == 0 || !is_of(table, id)) {
            return HAFT_NOT_PINNED;
        }
        /* Weakened, the slot could be written again before the last use under a pin. */
    } while (!cas_acq_rel(PIN, pins, before, before - 1));
    if (before == (PIN_ELAPSED | 1)) {
        callback_note_free();
        list_push(table, LIST_UNPINNED, index);
    }
    return HAFT_OK;
}

uint32_t haft_pins(const haft_table *table, haft_id id)
{
    atomic_u64 *pins = pins_of(table, id.bits & table->slots.view.mask);

    return pins != NULL && is_of(table, id) ? (uint32_t)(load_relaxed(COUNT, pins) & PIN_COUNT) : 0;
}
