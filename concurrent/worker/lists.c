/*
 * Slots in lists.
 *
 * The stack of R. K. Treiber ("Systems programming: coping with parallelism", IBM RJ 5118, 1986),
 * with indices and a tag instead of pointers.
 *
 * Edges in this file.
 *   LIST    list_push (release) -> list_take (acquire)   the free of a slot before its ticket, or
 *           its last unpin before its next life; the words of the slots behind it; list_take
 *           (release) -> list_is_empty (acquire)   the taker's mark of transit (handed.h)
 *   OWN     the slot is this thread's: not in the list yet, or not any more
 *   RETRY   a first look; the compare-and-swap decides.  Words of a former local table's list were
 *           written before haft_share()
 */
#include "concurrent/worker/lists.h"
#include "concurrent/batches/tagged.h"
#include <assert.h>

void lists_open(haft_table *table)
{
    for (int kind = 0; kind < LIST_COUNT; kind++) {
        store_relaxed(OWN, &table->lists[kind].head, NUMBER_NONE);
    }
}

void list_push(haft_table *table, enum list_kind kind, uint64_t index)
{
    const struct word_format *format = &table->slots.format;
    atomic_u64 *at = slots_word(&table->slots, index);
    const uint64_t word = load_relaxed(OWN, at);
    atomic_u64 *head = &table->lists[kind].head;
    uint64_t before;

    assert(index >= HAFT_FIRST_INDEX && index < table->slots.limit);
    assert(word_index(format, word) != index && "a live slot is in no list");
    do {
        before = load_relaxed(RETRY, head);
        const uint64_t next = tagged_number(before);

        store_relaxed(OWN, at,
                      word_with_index(format, word, next == NUMBER_NONE ? MARK_FREE : next));
        /* Weakened, the slot's ticket could be taken before the free that it stands for. */
    } while (!cas_release(LIST, head, before, tagged_next(before, index)));
}

bool list_is_empty(const haft_table *table, enum list_kind kind)
{
    /* Weakened, a thread that finds a list empty could miss that its taker is in transit. */
    return tagged_number(load_acquire(LIST, &table->lists[kind].head)) == NUMBER_NONE;
}

bool lists_have_slots(const haft_table *table)
{
    bool found = false;

    for (int kind = 0; kind < LIST_COUNT; kind++) {
        found = found || !list_is_empty(table, (enum list_kind)kind);
    }
    return found;
}

/* The index of a slot that is this thread's now, or NUMBER_NONE. */
static uint64_t pop_slot(haft_table *table, enum list_kind kind)
{
    const struct slots *slots = &table->slots;
    atomic_u64 *head = &table->lists[kind].head;

    for (;;) {
        /* Weakened, a slot could be written again before its list's pushers are done with it. */
        const uint64_t before = load_acquire(LIST, head);
        const uint64_t index = tagged_number(before);

        if (index == NUMBER_NONE) {
            return NUMBER_NONE;
        }
        /* If another thread has the slot, the tag has changed. */
        const uint64_t link =
            word_index(&slots->format, load_relaxed(RETRY, slots_word(slots, index)));
        const uint64_t next = link < HAFT_FIRST_INDEX ? NUMBER_NONE : link;

        if (cas_release(LIST, head, before, tagged_next(before, next))) {
            return index;
        }
    }
}

uint32_t list_take(haft_table *table, enum list_kind kind, struct batch *batch, uint32_t most)
{
    const struct slots *slots = &table->slots;
    uint64_t index;

    assert(most <= BATCH_SLOTS && batch->count <= most);
    while (batch->count < most && (index = pop_slot(table, kind)) != NUMBER_NONE) {
        atomic_u64 *at = slots_word(slots, index);
        const uint64_t word = load_relaxed(OWN, at);

        assert(index >= HAFT_FIRST_INDEX && index < slots->limit);
        assert(word_index(&slots->format, word) != index && "a live slot is in no list");
        store_relaxed(OWN, at, word_with_index(&slots->format, word, MARK_FREE));
        if (kind == LIST_UNPINNED) {
            store_relaxed(OWN, slots_pins(slots, at), 0);
        }
        batch->has_last_lives = batch->has_last_lives || word_generation(&slots->format, word) == 0;
        batch->indices[batch->count++] = (uint32_t)index;
    }
    return batch->count;
}

/*
 * --- the free slots of a former local table ---
 *
 * No thread adds to the list.  So an unchanged head means an unchanged list, and a compare-and-swap
 * of the head may cut off all slots that were walked over.
 */

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

uint64_t inherited_take(haft_worker *worker, uint64_t most, uint32_t *indices)
{
    assert(most <= BATCH_SLOTS);
    haft_table *table = worker->table;
    uint64_t first = load_relaxed(RETRY, &table->inherited.listed);

    while (first != MARK_END) {
        uint64_t rest;
        const uint64_t count = walk(table, first, most, indices, &rest);

        if (cas_relaxed(RETRY, &table->inherited.listed, first, rest)) {
            assert(count != 0 && (rest == MARK_END || rest >= HAFT_FIRST_INDEX));
            return count;
        }
        first = load_relaxed(RETRY, &table->inherited.listed);
    }
    return 0;
}
