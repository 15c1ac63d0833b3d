/*
 * Memory released while other threads work.
 *
 * Free slots lie in batches, and those of one run of pages in many batches.  So the call reclaims
 * elapsed batches first, and then takes all ready batches, from every ring and from the
 * depot.  If all slots of a run are held then, it notes the run's floor and releases its pages.
 * The other slots go into new batches, in order of index.  Meanwhile no other thread finds the
 * slots that it holds: it gets HAFT_BUSY.
 *
 * Slots that workers hold privately stay, and so do fresh slots in their extents.
 *
 * Edges in this file.
 *   RETRY  whether a thread trims: decided by the compare-and-swap; the slots travel in batches
 *   OWN    this thread alone has the slots, or the batch
 *   COUNT  how far the table's slots were ever used; all that are held lie below
 */
#include "lib/base/compiler.h"
#include "lib/slots/release.h"
#include <haft/memory.h>

#include "concurrent/clock/callback.h"
#include "concurrent/clock/domain.h"
#include "concurrent/worker/exchange.h"
#include "concurrent/worker/lists.h"
#include "concurrent/worker/released.h"
#include "concurrent/worker/sweep.h"
#include "concurrent/worker/worker.h"
#include "concurrent/worker/worker_list.h"
#include <string.h>

struct trim {
    haft_table *table;
    haft_worker *worker;       /* reclaims slots */
    struct reservation memory; /* of the bits */
    uint64_t *bits;            /* one for each slot: held */
    uint64_t end;              /* slots that it holds lie below */
    struct run_list runs;      /* released; linked, the lowest first */
    uint64_t bytes;            /* released */
};

/* --- one thread at a time --- */

/*
 * Begin, with a worker for the time of the call, and reclaim elapsed slots: HAFT_OK, or why not;
 * HAFT_BUSY if another thread has begun.
 */
static haft_status trim_begin(haft_table *table, haft_worker **worker)
{
    if (callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    if (domain_check_process(table->domain) != HAFT_OK) {
        return HAFT_FORKED; /* a thread that is gone may go through them for ever */
    }
    if (!cas_relaxed(RETRY, &table->trimming, 0, 1)) {
        return HAFT_BUSY;
    }
    *worker = worker_borrow(table);
    if (*worker == NULL) {
        store_relaxed(RETRY, &table->trimming, 0);
        return worker_list_why_none(table);
    }
    sweep_elapsed(*worker);
    return HAFT_OK;
}

static void trim_end(haft_worker *worker)
{
    haft_table *table = worker->table;

    store_relaxed(RETRY, &table->trimming, 0);
    worker_return(worker);
}

/* --- taking slots out of batches --- */

static void hold(const struct trim *trim, const uint32_t *indices, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        trim->bits[indices[i] / 64] |= UINT64_C(1) << indices[i] % 64;
    }
}

/* Take the slots of all ready batches, and those that no worker has had since haft_share(). */
static void take_ready_slots(struct trim *trim)
{
    haft_table *table = trim->table;
    const uint64_t most = table->slots.limit - HAFT_FIRST_INDEX;
    uint32_t indices[BATCH_SLOTS];
    struct batch *batch;
    uint64_t count;

    while ((count = inherited_take(trim->worker, BATCH_SLOTS, indices)) != 0) {
        hold(trim, indices, count);
    }
    for (uint64_t i = 0; i < most && (batch = exchange_find_ready(trim->worker)) != NULL; i++) {
        hold(trim, batch->indices, batch->count);
        batch->count = 0;
        exchange_give_empty(trim->worker, batch);
    }
    trim->end = load_relaxed(COUNT, &table->fresh);
}

/* --- releasing runs --- */

/* The bits of a run that has less slots than a word has bits. */
static uint64_t bits_of(uint64_t first, uint64_t count)
{
    return ((UINT64_C(1) << count) - 1) << first % 64;
}

static bool is_whole(const struct trim *trim, uint64_t first, uint64_t count)
{
    if (count < 64) {
        const uint64_t bits = bits_of(first, count);

        return (trim->bits[first / 64] & bits) == bits;
    }
    for (uint64_t word = first / 64; word < (first + count) / 64; word++) {
        if (trim->bits[word] != UINT64_MAX) {
            return false;
        }
    }
    return true;
}

static void drop_slots(const struct trim *trim, uint64_t first, uint64_t count)
{
    if (count < 64) {
        trim->bits[first / 64] &= ~bits_of(first, count);
    } else {
        memset(&trim->bits[first / 64], 0, (size_t)count / 8);
    }
}

/* The highest word that a slot of the run begins from. */
static uint64_t floor_of_slots(const struct slots *slots, uint64_t first, uint64_t count)
{
    uint64_t floor = 0;

    for (uint64_t index = first; index < first + count; index++) {
        const uint64_t word =
            slots_begin_at(slots, index, load_relaxed(OWN, slots_word(slots, index)));
        const uint64_t begin = word_with_index(&slots->format, word, 0);

        floor = begin > floor ? begin : floor;
    }
    return floor;
}

/* If the run is held, it becomes the first of those to be released. */
static bool choose_run(struct trim *trim, uint64_t run)
{
    const struct slots *slots = &trim->table->slots;
    const struct runs *runs = &slots->runs;
    const uint64_t first = runs_first(runs, run);
    const uint64_t count = runs_end(runs, run) - first;

    if (!is_whole(trim, first, count)) {
        return false;
    }
    /* Before the words are gone: a thread that finds them gone finds the floor. */
    runs_set_floor(runs, run, floor_of_slots(slots, first, count));
    sites_forget(&slots->sites, first, first + count);
    runs_set_link(runs, run, trim->runs.first);
    trim->runs.first = run;
    trim->runs.last = trim->runs.slots == 0 ? run : trim->runs.last;
    trim->runs.slots += count;
    drop_slots(trim, first, count);
    return true;
}

/* Release all runs that are held, those that lie together at once. */
static void release_chosen(struct trim *trim)
{
    struct slots *slots = &trim->table->slots;
    uint64_t run = runs_of(&slots->runs, trim->end);

    while (run > runs_least(&slots->runs)) {
        const uint64_t end = run;

        while (run > runs_least(&slots->runs) && choose_run(trim, run - 1)) {
            run--;
        }
        if (run != end) {
            trim->bytes += slots_release(slots, run, end);
        } else {
            run--;
        }
    }
}

/* --- the other slots --- */

/* In order of index, which is that of use. */
static void put_rest(const struct trim *trim)
{
    struct batch *batch = exchange_take_empty(trim->worker);

    for (uint64_t word = 0; word <= trim->end / 64; word++) {
        for (uint64_t bits = trim->bits[word]; bits != 0; bits &= bits - 1) {
            batch->indices[batch->count++] = (uint32_t)(word * 64 + lowest_bit(bits));
            if (batch->count == trim->table->batch_max) {
                exchange_offer_ready(trim->worker, batch);
                batch = exchange_take_empty(trim->worker);
            }
        }
    }
    exchange_offer_ready(trim->worker, batch);
}

/* --- in all --- */

static haft_status prepare_trim(struct trim *trim)
{
    haft_table *table = trim->table;
    haft_status status = reservation_open(&trim->memory, table->slots.limit / 8 + sizeof(uint64_t));

    if (status != HAFT_OK) {
        return status;
    }
    status = reservation_commit(&trim->memory, trim->memory.size);
    status = status == HAFT_OK ? runs_prepare(&table->slots.runs, table->slots.limit) : status;
    if (status != HAFT_OK) {
        reservation_close(&trim->memory);
        return status;
    }
    trim->bits = (uint64_t *)(void *)trim->memory.base;
    return HAFT_OK;
}

static void run_trim(struct trim *trim)
{
    haft_table *table = trim->table;

    take_ready_slots(trim);
    release_chosen(trim);
    put_rest(trim);
    if (trim->runs.slots != 0) {
        released_push(table, trim->runs);
    }
    reservation_close(&trim->memory);
}

haft_status haft_trim(haft_table *table, uint64_t *released)
{
    struct trim trim = {.table = table, .runs = {.first = RUN_LAST}};
    haft_status status = trim_begin(table, &trim.worker);

    if (status != HAFT_OK) {
        return status;
    }
    if (table->slots.wrapped) {
        status = HAFT_BAD_WRAP; /* where generations begin again, the highest is not the last */
    } else if (!table->slots.runs.stay) {
        status = prepare_trim(&trim);
        if (status == HAFT_OK) {
            run_trim(&trim);
        }
    }
    trim_end(trim.worker);
    if (status == HAFT_OK && released != NULL) {
        *released = trim.bytes;
    }
    return status;
}
