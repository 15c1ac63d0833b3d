/*
 * Pins: a counter behind each object.
 *
 * After its grace period a retired slot's pins can only become fewer: its id matches no more, and
 * every section that had resolved it has ended.  Who takes the slot back sets TAKEN in the
 * counter; if there are pins left, the one that takes the last away takes the slot back instead.
 * The flag decides, not the word: looked at by both, the word would say "retired" to both.
 *
 * A slot whose last pin went inside on_reclaim waits in a list, through the upper halves of the
 * counters: on_reclaim is not called within on_reclaim, however long a chain of objects is of
 * which each one holds a pin on the next.
 *
 * Edges in this file.
 *   PIN      haft_unpin (release) -> pin_take, haft_unpin (acquire): the use of the object before
 *            the reuse of its memory; pin_take (release) -> haft_unpin (acquire): the grace period
 *            before it
 *   OWN      the slot is this thread's alone
 *   RETRY    a first look; the compare-and-swap decides
 *   COUNT    an addition within a section that the grace period waits for; a snapshot
 */
#include "concurrent/extra/common.h"
#include <assert.h>
#include <haft/pin.h>

#define TAKEN (UINT64_C(1) << 63)
#define PINS UINT64_C(0xffffffff) /* how many: the lower half */

static atomic_u64 *pins_of(const haft_table *table, uint64_t index)
{
    assert(table->slots.has_pins);
    return slots_pins(&table->slots, slots_word(&table->slots, index));
}

void *haft_pin(haft_table *table, haft_id id)
{
    void *object = haft_resolve(table->slots.view, id);

    if (object == NULL) {
        return NULL;
    }
    atomic_u64 *pins = pins_of(table, word_index(&table->slots.format, id.bits));

    if ((fetch_add_relaxed(COUNT, pins, 1) & PINS) >= HAFT_PINS_MOST) {
        fetch_add_relaxed(COUNT, pins, UINT64_MAX);
        return NULL;
    }
    return object;
}

bool pin_take(const haft_table *table, uint64_t index)
{
    atomic_u64 *pins = pins_of(table, index);

    /* Weakened, the slot could be written again before the last use under a pin. */
    if (fetch_or_acq_rel(PIN, pins, TAKEN) != 0) {
        return false;
    }
    store_relaxed(OWN, pins, 0);
    return true;
}

/* The slot of an object that was freed, and whose last pin is gone. */
static void add_unpinned(haft_table *table, uint64_t index)
{
    common_lock(table);
    store_relaxed(OWN, pins_of(table, index), table->unpinned << 32);
    table->unpinned = index;
    common_unlock(table);
}

static uint64_t next_unpinned(haft_table *table)
{
    const uint64_t index = table->unpinned;
    atomic_u64 *pins = pins_of(table, index);

    table->unpinned = load_relaxed(OWN, pins) >> 32;
    store_relaxed(OWN, pins, 0);
    return index;
}

static void take_back(haft_worker *worker, uint64_t index)
{
    struct batch *batch = worker_empty_batch(worker);

    batch->indices[0] = (uint32_t)index;
    batch->count = 1;
    batch->retired = 1;
    batch->has_last_lives = true; /* perhaps */
    worker_take_back(worker, batch);
}

void pin_take_back(haft_table *table)
{
    while (table->unpinned != MARK_END) {
        take_back(table->common, next_unpinned(table));
    }
}

/* Whether the word is that of the object that `id` names, or named until it was freed. */
static bool is_of(const haft_table *table, haft_id id)
{
    const struct word_format *format = &table->slots.format;
    const uint64_t index = id.bits & table->slots.view.mask;
    const uint64_t word = load_relaxed(COUNT, slots_word(&table->slots, index));

    /* From the word to the id: the other way, bits above the layout would get lost. */
    return word == id.bits || (word_index(format, word) == MARK_FREE &&
                               word_last_life(format, word, index).bits == id.bits);
}

haft_status haft_unpin(haft_table *table, haft_id id)
{
    const uint64_t index = id.bits & table->slots.view.mask;
    atomic_u64 *pins = pins_of(table, index);
    uint64_t before;

    do {
        before = load_relaxed(RETRY, pins);
        if ((before & PINS) == 0 || !is_of(table, id)) {
            return HAFT_NOT_PINNED;
        }
        /* Weakened, the slot could be written again before the last use under a pin. */
    } while (!cas_acq_rel(PIN, pins, before, before - 1));
    if (before == (TAKEN | 1)) {
        add_unpinned(table, index);
    }
    return HAFT_OK;
}

uint32_t haft_pins(const haft_table *table, haft_id id)
{
    const uint64_t index = id.bits & table->slots.view.mask;

    return is_of(table, id) ? (uint32_t)(load_relaxed(COUNT, pins_of(table, index)) & PINS) : 0;
}

/* What implicit workers have freed becomes anyone's to take back; they stay their threads' own. */
static void flush_implicit(haft_table *table)
{
    implicit_lock();
    for (haft_worker *worker = first_worker(table); worker != NULL; worker = worker->next) {
        if (worker->is_implicit) {
            haft_worker_flush(worker);
        }
    }
    implicit_unlock();
}

/* The batches that wait in rings.  True if there was one. */
static bool empty_rings(haft_worker *common)
{
    const haft_table *table = common->table;
    bool found = false;

    for (haft_worker *worker = first_worker(table); worker != NULL; worker = worker->next) {
        struct batch *batch;

        while ((batch = ring_take(&worker->waiting, &table->pool, UINT64_MAX)) != NULL) {
            worker_take_back(common, batch);
            found = true;
        }
    }
    return found;
}

/* Those in the depot.  What is ready goes round it, until that has been seen twice in a row. */
static bool empty_depot(haft_worker *common)
{
    haft_table *table = common->table;
    const struct batch *first_ready = NULL;
    bool found = false;
    struct batch *batch;

    while ((batch = depot_take(&table->depot, &table->pool, UINT64_MAX)) != NULL) {
        if (load_relaxed(OWN, &batch->ticket) != 0) {
            worker_take_back(common, batch);
            first_ready = NULL; /* on_reclaim may have taken it out */
            found = true;
            continue;
        }
        depot_push(&table->depot, &table->pool, batch);
        if (batch == first_ready) {
            break;
        }
        first_ready = first_ready == NULL ? batch : first_ready;
    }
    return found;
}

/*
 * Batches are taken whether their tickets are done or not (UINT64_MAX above).  That is right as
 * nobody else uses the table: who was reading when this was called has left before the wait is
 * over, nobody has come since, and all that is freed from then on is freed here, by on_reclaim.
 */
void table_take_all_back(haft_table *table)
{
    bool found = true;

    while (found) {
        flush_implicit(table);
        domain_wait_for(table->domain, domain_ticket(table->domain));
        haft_worker *common = common_lock(table);

        found = empty_rings(common);
        found = empty_depot(common) || found;
        common_unlock(table);
    }
}

bool table_has_pins(const haft_table *table)
{
    const uint64_t end = load_relaxed(OWN, &table->fresh);

    for (uint64_t index = HAFT_FIRST_INDEX; table->slots.has_pins && index < end; index++) {
        if ((load_relaxed(OWN, pins_of(table, index)) & PINS) != 0) {
            return true;
        }
    }
    return false;
}
