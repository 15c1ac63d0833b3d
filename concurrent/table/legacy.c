/*
 * Free slots that a local table has left, in a list through their words.
 *
 * No thread adds to the list.  So an unchanged head means an unchanged list, and a compare-and-swap
 * of the head may cut off all slots that were walked over.
 *
 * Edges in this file.
 *   RETRY   the list's head, and words of slots that were still in the list when they were
 *           read if the compare-and-swap succeeds.  They were written before haft_share()
 */
#include "concurrent/table/legacy.h"
#include <assert.h>

/* The slots from `first` on in the list: up to `most` of them; the one after them in `*rest`. */
static uint64_t walk(const haft_table *table, uint64_t first, uint64_t most, uint32_t *indices,
                     uint64_t *rest)
{
    const struct slots *slots = &table->slots;
    uint64_t count = 0;

    for (*rest = first; count < most && *rest != MARK_END; count++) {
        indices[count] = (uint32_t)*rest;
        *rest = word_index(&slots->format, load_relaxed(RETRY, slots_word(slots, *rest)));
    }
    return count;
}

uint64_t legacy_take(haft_worker *worker, uint64_t most, uint32_t *indices)
{
    assert(most <= BATCH_SLOTS);
    haft_table *table = worker->table;
    uint64_t first = load_relaxed(RETRY, &table->legacy.listed);

    while (first != MARK_END) {
        uint64_t rest;
        const uint64_t count = walk(table, first, most, indices, &rest);

        if (cas_relaxed(RETRY, &table->legacy.listed, first, rest)) {
            assert(count != 0 && (rest == MARK_END || rest >= HAFT_FIRST_INDEX));
            return count;
        }
        first = load_relaxed(RETRY, &table->legacy.listed);
    }
    return 0;
}
