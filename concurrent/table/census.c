/*
 * The census.
 *
 * First all containers are walked, and each slot in them gets its place; then all slots, and each
 * word must fit its place.  A free slot without a place is lost.
 *
 * Edges in this file.
 *   OWN     no call is under way
 */
#include "concurrent/table/census.h"
#include "concurrent/batches/pool.h"
#include "concurrent/batches/tagged.h"
#include "concurrent/table/stats.h"
#include "concurrent/worker/fresh.h"
#include "concurrent/worker/released.h"
#include "concurrent/worker/worker_batches.h"
#include "concurrent/worker/worker_list.h"
#include "lib/base/asan.h"
#include "lib/base/os.h"
#include "lib/base/text.h"
#include <haft/detail/compiler.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

/* The places of slots that are in a container. */
enum whereabouts {
    NOWHERE,
    AT_HAND, /* in a filling batch, or ready */
    WAITING, /* in an open batch, or one that waits */
    FRESH,   /* in an extent, a released run, or the list of a local table */
    LISTED,  /* in the table's lists */
    PLACE_COUNT
};

struct census {
    const haft_table *table;
    uint8_t *places; /* of each slot */
    uint64_t live;
    uint64_t reserved;
    uint64_t exhausted;
    uint64_t retired;
    uint64_t batches; /* descriptors met */
    bool is_right;
};

static HAFT_PRINTF(2, 3) void object(struct census *census, const char *format, ...)
{
    char line[400]; /* a longer name cuts the text */
    struct text text = text_in(line, sizeof line);
    va_list arguments;

    census->is_right = false;
    text_add(&text, "%s: census: ", census->table->name);
    va_start(arguments, format);
    text_add_list(&text, format, arguments);
    va_end(arguments);
    os_print(line);
}

/* --- containers --- */

static void place_slot(struct census *census, uint64_t index, enum whereabouts place)
{
    if (index < HAFT_FIRST_INDEX || index >= census->table->slots.limit) {
        object(census, "index %" PRIu64 " is none of a slot", index);
    } else if (census->places[index] != NOWHERE) {
        object(census, "slot %" PRIu64 " is in two places", index);
    } else {
        census->places[index] = (uint8_t)place;
        census->retired += place == WAITING || place == LISTED;
    }
}

/* The slots of a batch, which are its indices from `from` on. */
static void place_slots(struct census *census, const struct batch *batch, const uint32_t *from,
                        uint32_t count, enum whereabouts place)
{
    const uint64_t first = ((uintptr_t)from - (uintptr_t)batch->indices) / sizeof *from;

    census->batches++;
    if (first + count > BATCH_SLOTS) {
        object(census, "batch %" PRIu64 " has %" PRIu32 " slots from its slot %" PRIu64 " on",
               batch->number, count, first);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        place_slot(census, from[i], place);
    }
}

static void place_batch(struct census *census, const struct batch *batch, enum whereabouts place)
{
    place_slots(census, batch, batch->indices, batch->count, place);
}

static void put_ring(struct census *census, const struct ring *ring, enum whereabouts place)
{
    const uint64_t tail = load_relaxed(OWN, &ring->tail);

    for (uint64_t i = load_relaxed(OWN, &ring->head); i != tail; i++) {
        const uint64_t number = load_relaxed(OWN, &ring->cells[i % RING_BATCHES]);

        place_batch(census, pool_batch(&census->table->pool, number), place);
    }
}

static void put_depot(struct census *census, const struct depot *depot, enum whereabouts place)
{
    const struct pool *pool = &census->table->pool;
    const struct batch *node = pool_batch(pool, tagged_number(load_relaxed(OWN, &depot->head)));
    uint64_t next;

    census->batches++; /* the node before the first */
    while ((next = tagged_number(load_relaxed(OWN, &node->node_next))) != NUMBER_NONE) {
        node = pool_batch(pool, next);
        place_batch(census, pool_batch(pool, load_relaxed(OWN, &node->node_batch)), place);
    }
}

static void put_range(struct census *census, haft_range range)
{
    for (uint64_t index = range.from; index < range.to; index++) {
        place_slot(census, index, FRESH);
    }
}

static void put_worker(struct census *census, const haft_worker *worker)
{
    asan_unpoison(worker, sizeof *worker);
    place_slots(census, worker->filling, filling_next(worker), filling_count(worker), AT_HAND);
    place_slots(census, worker->open, worker->open->indices, open_batch_count(worker), WAITING);
    put_ring(census, &worker->ready, AT_HAND);
    put_ring(census, &worker->waiting, WAITING);
    put_range(census, fresh_range(worker));
    census->batches += worker->spare_count;
}

static void put_released(struct census *census)
{
    const struct runs *runs = &census->table->slots.runs;
    uint64_t run = tagged_number(load_relaxed(OWN, &census->table->released.head));

    while (run != NUMBER_NONE) {
        put_range(census, HAFT_RANGE(runs_first(runs, run), runs_end(runs, run)));
        run = tagged_number(runs_link(runs, run)); /* RUN_LAST ends as NUMBER_NONE */
    }
}

/* A list through the words, from slot `index` to one whose index field is a mark. */
static void put_list(struct census *census, uint64_t index, enum whereabouts place)
{
    const struct slots *slots = &census->table->slots;

    while (index >= HAFT_FIRST_INDEX && index < slots->limit) {
        place_slot(census, index, place);
        index = word_index(&slots->format, load_relaxed(OWN, slots_word(slots, index)));
    }
}

static void put_lists(struct census *census)
{
    const haft_table *table = census->table;

    put_list(census, load_relaxed(OWN, &table->inherited.listed), FRESH);
    for (int kind = 0; kind < LIST_COUNT; kind++) {
        put_list(census, tagged_number(load_relaxed(OWN, &table->lists[kind].head)), LISTED);
    }
}

/* --- slots --- */

/* A slot that is neither live, reserved nor exhausted. */
static void check_free(struct census *census, uint64_t index, uint64_t word, enum whereabouts place)
{
    const haft_table *table = census->table;
    const struct slots *slots = &table->slots;
    const uint64_t mark = word_index(&slots->format, word);
    const bool is_retired = word != 0 && mark == MARK_FREE;

    if (place != NOWHERE) {
        return;
    }
    if (is_retired && slots->has_pins &&
        load_relaxed(OWN, slots_pins(slots, slots_word(slots, index))) > PIN_ELAPSED) {
        census->retired++; /* its last unpin will reclaim it */
        return;
    }
    object(census, "slot %" PRIu64 " is lost (word %#" PRIx64 ")", index, word);
}

static void check_whereabouts(struct census *census, uint64_t index)
{
    const haft_table *table = census->table;
    const struct slots *slots = &table->slots;
    const uint64_t word = load_relaxed(OWN, slots_word(slots, index));
    const uint64_t mark = word_index(&slots->format, word);
    const enum whereabouts place = (enum whereabouts)census->places[index];
    const bool is_used =
        word != 0 && (mark == index || mark == MARK_RESERVED || mark == MARK_EXHAUSTED);

    census->live += mark == index;
    census->reserved += mark == MARK_RESERVED;
    census->exhausted += mark == MARK_EXHAUSTED;
    if (!is_used) {
        check_free(census, index, word, place);
    } else if (place != NOWHERE) {
        object(census, "slot %" PRIu64 " is in use and in a container (word %#" PRIx64 ")", index,
               word);
    }
}

/* --- counters --- */

static void check_count(struct census *census, const char *what, uint64_t counted, uint64_t found)
{
    if (counted != found) {
        object(census, "%" PRId64 " %s are counted, %" PRIu64 " found", (int64_t)counted, what,
               found);
    }
}

static void check_counters(struct census *census)
{
    const haft_table *table = census->table;
    const struct stock stock = stats_stock(table);

    check_count(census, "live slots", stock.live, census->live);
    check_count(census, "reserved slots", stock.reserved, census->reserved);
    check_count(census, "retired slots", stock.retired, census->retired);
    check_count(census, "exhausted slots", stock.exhausted, census->exhausted);
}

static void check_descriptors(struct census *census)
{
    const struct pool *pool = &census->table->pool;

    check_count(census, "batch descriptors", pool_used(pool), census->batches + pool_unused(pool));
}

bool census_is_right(const haft_table *table)
{
    struct census census = {.table = table, .is_right = true};
    const uint64_t end = load_relaxed(OWN, &table->fresh);

    census.places = calloc((size_t)table->slots.limit, 1);
    if (census.places == NULL) {
        return true;
    }
    for (const haft_worker *worker = worker_list_first(table); worker != NULL;
         worker = worker->next) {
        put_worker(&census, worker);
    }
    put_depot(&census, &table->ready, AT_HAND);
    put_depot(&census, &table->waiting, WAITING);
    put_released(&census);
    put_lists(&census);
    for (uint64_t index = HAFT_FIRST_INDEX; index < end; index++) {
        check_whereabouts(&census, index);
    }
    check_counters(&census);
    check_descriptors(&census);
    free(census.places);
    return census.is_right;
}
