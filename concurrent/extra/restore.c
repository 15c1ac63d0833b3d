/*
 * Slots that are set aside for ids chosen elsewhere.
 *
 * Such a slot is in a batch only after a free: it waits with all others for its grace period, and
 * the thread that takes it back puts it nowhere.  From then on only its word leads to it, and one
 * compare-and-swap of the word takes it.
 *
 * Edges in this file.
 *   REVIVE   sift (release) -> take_word (acquire)   the last use of the slot's former object
 *            before its bytes are written
 *   COUNT    slots in use: read with the insertions that were counted after it
 *   RETRY    a first look; the compare-and-swap decides
 */
#include "concurrent/clock/callback.h"
#include "concurrent/table/gather.h"
#include "concurrent/table/life.h"
#include "concurrent/table/roster.h"
#include "concurrent/table/supply.h"
#include "lib/slots/object.h"
#include <haft/share.h>

/* The generation that a slot goes on with from `word`, in place; 0: none is left. */
static uint64_t next_generation(const struct slots *slots, uint64_t word)
{
    const struct word_format *format = &slots->format;
    const uint64_t begin = slots_begin(slots, word);

    return word_generation(format, slots->wrapped ? word_wrapped(format, begin) : begin);
}

/* What `word` says of restoring `id` in its slot. */
static haft_status check_word(const struct slots *slots, haft_id id, uint64_t word)
{
    const struct word_format *format = &slots->format;
    const uint64_t next = next_generation(slots, word);
    const uint64_t mark = word_index(format, word);

    if (mark == MARK_EXHAUSTED) {
        return HAFT_EXHAUSTED;
    }
    if (mark == MARK_RESERVED || mark == word_index(format, id.bits)) {
        return HAFT_OCCUPIED;
    }
    if (next == 0) {
        return HAFT_EXHAUSTED; /* as soon as it is taken back */
    }
    if (word_generation(format, id.bits) < next) {
        return HAFT_STALE;
    }
    return mark == MARK_END ? HAFT_OK : HAFT_BUSY;
}

/* The slot was freed and not taken back: hurry the clock, and take back all that is due. */
static void hurry_back(haft_worker *worker)
{
    supply_shortage(worker, HAFT_FULL);
    if (!callback_is_running()) {
        gather_all_due(worker);
    }
}

/* A look at the slot: HAFT_OK, or why its id cannot be restored now. */
static haft_status look(haft_worker *worker, haft_id id, const atomic_u64 *at)
{
    const struct slots *slots = &worker->table->slots;
    haft_status status = check_word(slots, id, load_relaxed(RETRY, at));

    if (status == HAFT_BUSY) {
        hurry_back(worker);
        status = check_word(slots, id, load_relaxed(RETRY, at));
    }
    return status;
}

/* The slot of `id` is reserved for it: HAFT_OK and the word before, or why not. */
static haft_status take_word(const struct slots *slots, haft_id id, atomic_u64 *at,
                             uint64_t *before)
{
    const uint64_t reserved = word_with_index(&slots->format, id.bits, MARK_RESERVED);
    haft_status status;

    do {
        *before = load_relaxed(RETRY, at);
        status = check_word(slots, id, *before);
        /* Weakened, the object could be written before the last use of the one before. */
    } while (status == HAFT_OK && !cas_acquire(REVIVE, at, *before, reserved));
    return status;
}

/* `id` is reserved in its slot, whose word was `before`. */
static void note_sites(const struct slots *slots, haft_id id, uint64_t before, const void *caller)
{
    const uint64_t index = word_index(&slots->format, id.bits);

    if (word_generation(&slots->format, id.bits) != next_generation(slots, before)) {
        sites_forget(&slots->sites, index, index + 1);
    }
    sites_note_birth(&slots->sites, index, caller);
}

static haft_status restore(haft_worker *worker, haft_id id, const void *object, const void *caller)
{
    haft_table *table = worker->table;
    const struct slots *slots = &table->slots;
    atomic_u64 *at = slots_word(slots, word_index(&slots->format, id.bits) & slots->view.mask);
    haft_status status = slots_check_chosen(slots, id, table->restore_end);
    uint64_t before;

    status = status == HAFT_OK ? look(worker, id, at) : status;
    status = status == HAFT_OK ? take_word(slots, id, at, &before) : status;
    if (status == HAFT_OK) {
        count_up(&worker->counters.restore_first_used, before == 0);
        fetch_add_relaxed(COUNT, &table->restored, 1);
        tally(&worker->counters.reserved, 1); /* `inserted` counts slots of the filling batch */
        count_up(&worker->counters.published, 1);
        note_sites(slots, id, before, caller);
        slots_fill(slots, slots_object(at), object);
        life_publish(at, id);
    }
    return status;
}

haft_status haft_restore(haft_worker *worker, haft_id id, const void *object)
{
    debug_check(worker);
    const haft_status status = restore(worker, id, object, CALLER);

    return status;
}
