/*
 * Slots that are set aside for ids chosen elsewhere.
 *
 * They are in no batch but when they were freed: then they wait with all others for their grace
 * period, and whoever takes them back leaves them where they are.  From there only the word leads
 * to them, and one compare-and-swap of it takes them.
 *
 * Edges in this file.
 *   PUBLISH  haft_restore (release) -> haft_resolve, haft_free (acquire)   object before word
 *   REVIVE   reclaim_slot (release) -> haft_restore (acquire)   the last use of the slot's former
 *            object before its bytes are written
 *   TALLY    restore_give_back (release) -> taken_slots (acquire)   the count of the free before it
 *   COUNT    slots in use: read with the insertions that were counted after it
 *   HINT     hunger: other workers hand on what they have freed
 *   RETRY    a first look; the compare-and-swap decides
 */
#include "concurrent/table/debug.h"
#include "concurrent/table/table.h"
#include <haft/share.h>

/* What `word` says of restoring `id` in its slot. */
static haft_status check_word(const struct slots *slots, haft_id id, uint64_t word)
{
    const struct word_format *format = &slots->format;
    const uint64_t begin = slots_begin(slots, word);
    const uint64_t next =
        word_generation(format, slots->wrapped ? word_wrapped(format, begin) : begin);
    const uint64_t mark = word_index(format, word);

    if (mark != MARK_END && mark != MARK_FREE) {
        return mark == MARK_EXHAUSTED ? HAFT_EXHAUSTED : HAFT_OCCUPIED;
    }
    if (next == 0) {
        return HAFT_EXHAUSTED; /* as soon as it is taken back */
    }
    if (word_generation(format, id.bits) < next) {
        return HAFT_STALE;
    }
    return mark == MARK_END ? HAFT_OK : HAFT_BUSY;
}

/* Take back whatever is due, in all rings and in the depot. */
static void take_back_due(haft_worker *worker)
{
    haft_table *table = worker->table;
    const uint64_t most = table->slots.limit / table->batch_max; /* in the depot, at any time */
    const uint64_t done = domain_done(table->domain);
    struct batch *batch;

    for (haft_worker *other = first_worker(table); other != NULL; other = other->next) {
        while ((batch = ring_take(&other->waiting, &table->pool, done)) != NULL) {
            worker_take_back(worker, batch);
        }
    }
    for (uint64_t i = 0; i <= most; i++) {
        batch = depot_take(&table->depot, &table->pool, done);
        if (batch == NULL) {
            return;
        }
        worker_take_back(worker, batch);
    }
}

/* The slot was freed and not taken back: do what can be done about it now. */
static void hurry_back(haft_worker *worker)
{
    haft_table *table = worker->table;

    if (!worker->reclaiming) {
        worker_close_batch(worker);
        fetch_add_relaxed(HINT, &table->hunger, 1);
        domain_hurry(table->domain);
        domain_notice_stall(table->domain);
        take_back_due(worker);
    }
}

/* The slot of `id` is reserved for it: HAFT_OK and what its word was, or why not. */
static haft_status take_word(haft_worker *worker, haft_id id, atomic_u64 *at, uint64_t *before)
{
    const struct slots *slots = &worker->table->slots;
    const uint64_t reserved = word_with_index(&slots->format, id.bits, MARK_RESERVED);
    bool has_hurried = false;

    for (;;) {
        *before = load_relaxed(RETRY, at);
        const haft_status status = check_word(slots, id, *before);

        if (status == HAFT_BUSY && !has_hurried) {
            hurry_back(worker);
            has_hurried = true;
        } else if (status != HAFT_OK) {
            return status;
        } else if (cas_acquire(REVIVE, at, *before, reserved)) {
            /* Weakened, the object could be written before the last use of the one before. */
            return HAFT_OK;
        }
    }
}

void restore_give_back(haft_table *table)
{
    /* Weakened, the free could be missed by who sees this, and the slot counted as another's. */
    fetch_add_release(TALLY, &table->restored, UINT64_MAX);
}

static haft_status restore(haft_worker *worker, haft_id id, const void *object, const void *caller)
{
    haft_table *table = worker->table;
    const struct slots *slots = &table->slots;
    haft_status status = slots_check_chosen(slots, id, table->restore_end);

    if (status != HAFT_OK) {
        return status;
    }
    atomic_u64 *at = slots_word(slots, word_index(&slots->format, id.bits));
    uint64_t before;

    status = take_word(worker, id, at, &before);
    if (status == HAFT_OK && table->is_exact && exact_take(table, 1) == 0) {
        store_release(REVIVE, at, before); /* as in reclaim_slot() */
        return HAFT_FULL;
    }
    if (status == HAFT_OK) {
        count_up(&worker->counters.unveiled, before == 0);
        fetch_add_relaxed(COUNT, &table->restored, 1);
        tally(&worker->counters.inserted, 1);
        places_note_birth(&slots->places, word_index(&slots->format, id.bits), caller);
        slots_fill(slots, slots_object(at), object);
        store_release(PUBLISH, at, id.bits); /* as in haft_publish() */
    }
    return status;
}

haft_status haft_restore(haft_worker *worker, haft_id id, const void *object)
{
    const uint64_t outer = debug_enter(worker);
    const haft_status status = restore(worker, id, object, CALLER);

    debug_leave(worker, outer);
    return status;
}
