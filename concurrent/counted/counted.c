/*
 * The counted table: opening and closing.
 *
 * A slot is accounted for when no call will use it again: closing has taken it from a list or from
 * the fresh ones (`owned`), or the call that had it counted it in `returned`.  When all are, the
 * memory can be released.  With min_free, each slot that was ever linked into the queue counts in
 * `returned` as well, when the call that linked it is done; `linked` is their number.
 *
 * Edges in this file.
 *   COUNT    which slots may be live: frees decide; and a waiter's mark, in the word that has the
 *            count which is looked at next
 */
#include "concurrent/counted/destroy.h"
#include "concurrent/counted/free_slots.h"
#include "concurrent/counted/open_list.h"
#include "concurrent/counted/returned.h"
#include "concurrent/counted/values.h"
#include "lib/base/asan.h"
#include "lib/base/given.h"
#include "lib/base/os.h"
#include "lib/slots/options.h"
#include <assert.h>
#include <string.h>

#define LOOK_AGAIN_NS UINT64_C(10000000)
#define LOOK_LATER_NS UINT64_C(1000000000) /* where only held objects are missing */

/* --- opening --- */

/* How the table lies in its memory. */
struct plan {
    struct common_options common;
    uint64_t slots;
    uint64_t heads;
    uint64_t alignment; /* of the memory */
    uint64_t first;     /* from the memory's start to the first slot's word */
    uint64_t stride;
    uint64_t bytes;
};

static struct common_options common_of(const haft_counted_options *options)
{
    return (struct common_options){
        .name = options->name != NULL ? options->name : "counted table",
        .capacity = options->capacity,
        .object_size = options->object_size,
        .object_alignment = options->object_alignment,
        .layout = options->layout,
        .tag = options->tag,
        .first_generation = options->first_generation,
    };
}

static haft_status check_counted(const haft_counted_options *options, struct plan *plan)
{
    uint64_t most;

    if (options->reserved[0] != 0 || options->reserved[1] != 0) {
        return HAFT_UNKNOWN_OPTION;
    }
    const struct common_options common = common_of(options);
    const haft_status status = options_check(&common, IN_SLOTS, &plan->common, &most);

    if (status == HAFT_OK && plan->common.layout.generation_bits > 32) {
        return HAFT_BAD_LAYOUT;
    }
    if (status != HAFT_OK) {
        return status;
    }
    if (most > COUNTED_LOW_MASK + 1 - HAFT_FIRST_INDEX) {
        most = COUNTED_LOW_MASK + 1 - HAFT_FIRST_INDEX;
    }
    if (options->capacity > most) {
        return HAFT_BAD_CAPACITY;
    }
    if (options->min_free > most - options->capacity) {
        return HAFT_BAD_MIN_FREE;
    }
    return options->copies && options->object_size > VALUES_MOST_BYTES ? HAFT_BAD_COPIES : HAFT_OK;
}

static haft_status make_plan(const haft_counted_options *options, struct plan *plan)
{
    const haft_status status = check_counted(options, plan);

    if (status != HAFT_OK) {
        return status;
    }
    const size_t size = options->copies || options->wipe
                            ? (size_t)size_round_up(options->object_size, 8)
                            : options->object_size;
    const uint64_t alignment = plan->common.object_alignment > sizeof(uint64_t)
                                   ? plan->common.object_alignment
                                   : sizeof(uint64_t);
    const uint64_t line = alignment > CACHE_LINE ? alignment : CACHE_LINE;

    plan->slots = options->capacity + options->min_free;
    plan->heads = free_slots_heads(options->capacity, options->min_free);
    plan->alignment = line;
    plan->first =
        size_round_up(sizeof(struct counted_block) + plan->heads * sizeof(struct counted_head),
                      line) +
        alignment - sizeof(uint64_t);
    plan->stride = options->spread ? size_round_up(alignment + size, line)
                                   : size_round_up(sizeof(uint64_t) + size, alignment);
    plan->bytes = plan->first + plan->slots * plan->stride;
    return HAFT_OK;
}

static void fill_in_ids(haft_counted *table, const struct plan *plan)
{
    const haft_layout layout = plan->common.layout;
    const uint64_t first = options_first_generation(&plan->common);

    table->format = word_format_of(layout, plan->common.tag, first);
    table->index_bits = layout.index_bits;
    table->index_mask = table->format.index_mask;
    table->generation_mask = (uint32_t)haft_field_max(layout.generation_bits);
    table->match_mask = (uint64_t)table->generation_mask << 2 | 3;
    table->less_tag = 0 - (plan->common.tag << layout.generation_bits << 2);
    table->first_life = (uint32_t)first;
}

static void fill_in_counted(haft_counted *table, const struct plan *plan,
                            const haft_counted_options *options)
{
    fill_in_ids(table, plan);
    assert(plan->slots + HAFT_FIRST_INDEX - 1 <= table->index_mask && "check_counted() looked");
    table->stride = plan->stride;
    table->slot_count = plan->slots;
    table->one_word_count =
        options->copies && options->object_size == sizeof(uint64_t) ? plan->slots : 0;
    table->base =
        (uintptr_t)table->memory.base + (uintptr_t)(plan->first - HAFT_FIRST_INDEX * plan->stride);
    table->wraps = options->wrap;
    table->copies = options->copies;
    table->wipes = options->wipe;
    const bool has_shards = options->min_free == 0 && !asan_is_on();

    table->is_plain = has_shards && options->on_destroy == NULL && !options->wipe;
    table->has_words = has_shards && !options->copies && object_is_words(options->object_size);
    table->shard_mask = (uint32_t)plan->heads - 1;
    table->object_size = options->object_size;
    table->min_free = options->min_free;
    table->on_destroy = options->on_destroy;
    table->destroy_arg = options->destroy_arg;
    table->capacity = options->capacity;
    table->on_bad_access = options->on_bad_access;
    table->report_arg = options->report_arg;
}

/* The struct, with the name behind it. */
static haft_counted *new_table(const char *name, struct given *given, const haft_allocator *heap)
{
    const size_t size = size_with_name(sizeof(haft_counted), name);
    haft_counted *table = given != NULL ? given_take(given, size, _Alignof(haft_counted))
                                        : heap_take(heap, size, _Alignof(haft_counted));

    if (table == NULL) {
        return NULL;
    }
    memset(table, 0, sizeof *table);
    memcpy(table + 1, name, size - sizeof *table);
    table->name = (const char *)(table + 1);
    table->is_given = given != NULL;
    table->heap = *heap;
    return table;
}

static void delete_table(haft_counted *table)
{
    if (table != NULL && !table->is_given) {
        heap_give(&table->heap, table, size_with_name(sizeof *table, table->name));
    }
}

static haft_status open_block(haft_counted *table, const struct plan *plan, struct given *given)
{
    haft_status status =
        given != NULL ? reservation_open_given(&table->memory, plan->bytes, plan->alignment, given)
                      : reservation_open_unread(&table->memory, plan->bytes,
                                                (size_t)plan->alignment, &table->heap);

    if (status == HAFT_OK) {
        const uint64_t begun = plan->first + plan->stride;

        status = reservation_commit(&table->memory, begun < plan->bytes ? begun : plan->bytes);
        if (status != HAFT_OK) {
            reservation_close_array(&table->memory, &table->heap);
        }
    }
    return status;
}

static uint64_t bytes_to_give(const struct plan *plan)
{
    struct given given = given_to_measure();

    given_take(&given, size_with_name(sizeof(haft_counted), plan->common.name),
               _Alignof(haft_counted));
    given_take(&given, plan->bytes, plan->alignment);
    return given.measured;
}

haft_status haft_counted_open_sized(const haft_counted_options *options, size_t size,
                                    haft_counted **table)
{
    haft_counted_options known;
    struct plan plan;
    haft_status status = sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? make_plan(&known, &plan) : status;
    if (status != HAFT_OK) {
        return status;
    }
    struct given given = given_of(known.memory, known.memory_size);
    const haft_allocator heap = heap_of(known.allocator);

    if (!given_suffices(&given, bytes_to_give(&plan))) {
        return HAFT_NO_MEMORY;
    }
    struct given *from = known.memory != NULL ? &given : NULL;
    haft_counted *opened = new_table(plan.common.name, from, &heap);

    status = opened != NULL ? open_block(opened, &plan, from) : HAFT_NO_MEMORY;
    if (status != HAFT_OK) {
        delete_table(opened);
        return status;
    }
    fill_in_counted(opened, &plan, &known);
    opened->block = (struct counted_block *)(void *)opened->memory.base;
    opened->block->kind = COUNTED_KIND;
    opened->block->version = COUNTED_VERSION;
    free_slots_setup(opened);
    open_list_add(opened);
    *table = opened;
    return HAFT_OK;
}

haft_status haft_counted_footprint_sized(const haft_counted_options *options, size_t size,
                                         haft_footprint *footprint)
{
    haft_counted_options known;
    struct plan plan;
    haft_status status = sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? make_plan(&known, &plan) : status;
    if (status != HAFT_OK) {
        return status;
    }
    const uint64_t bytes = bytes_to_give(&plan);

    if (!given_is_possible(bytes)) {
        return HAFT_NO_MEMORY;
    }
    *footprint = (haft_footprint){
        .bytes = bytes,
        .capacity = known.capacity,
        .committed =
            bytes - plan.bytes + reservation_first_step(plan.bytes, plan.first + plan.stride),
    };
    return HAFT_OK;
}

/* --- closing --- */

static void free_memory(haft_counted *table)
{
    assert(table->block->kind == COUNTED_KIND && table->block->version == COUNTED_VERSION &&
           "nothing was written beyond an object");
    open_list_remove(table);
    values_unpoison_all(table, free_slots_end(table));
    reservation_close_array(&table->memory, &table->heap);
    delete_table(table);
}

/* Free all objects that are live; how many freed ones are still held. */
static uint64_t free_live(haft_counted *table)
{
    const int cancel = os_cancel_off(); /* once: each destruction finds it off */
    const uint64_t end = free_slots_end(table);
    uint64_t held = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index < end; index++) {
        uint64_t word = load_relaxed(COUNT, counted_at(table, index));

        if (counted_state_of(word) == COUNTED_LIVE) {
            haft_counted_free(table, counted_id(table, index, counted_life(word)));
            word = load_relaxed(COUNT, counted_at(table, index));
        }
        held += counted_state_of(word) == COUNTED_ENDED;
    }
    os_cancel_restore(cancel);
    return held;
}

/* Slots that are not accounted for. */
static uint64_t missing(const haft_counted *table)
{
    const uint64_t accounted = table->owned + returned_count(table) - table->linked;

    return (table->slot_count - accounted) & (UINT64_MAX >> COUNTED_LOW_BITS);
}

/*
 * Close the table if nothing of it is in use; else whether all that is missing was held in the
 * walk, so that a release returns each.  What is missing is counted before: a slot that a release
 * returns in between does not stand for one that an insertion still has.
 */
static bool close_once(haft_counted *table, bool *all_held)
{
    free_slots_close(table);
    const uint64_t left = missing(table);

    *all_held = free_live(table) == left;
    if (missing(table) != 0) {
        return false;
    }
    free_memory(table);
    return true;
}

haft_status haft_counted_close(haft_counted *table)
{
    bool all_held;

    return !destroy_is_under_way(table) && close_once(table, &all_held) ? HAFT_OK : HAFT_IN_USE;
}

/* Until a slot is returned, or for that long. */
static void await_return(haft_counted *table, uint64_t ns)
{
    atomic_u64 *returned = &table->block->returned.word;
    const uint64_t before = fetch_or_relaxed(COUNT, returned, RETURNED_IS_AWAITED);

    if (missing(table) != 0) {
        os_wait_address(returned, before, ns);
    }
}

haft_status haft_counted_close_wait(haft_counted *table)
{
    bool all_held;

    if (destroy_is_under_way(table)) {
        return HAFT_IN_USE;
    }
    while (!close_once(table, &all_held)) {
        await_return(table, all_held ? LOOK_LATER_NS : LOOK_AGAIN_NS);
    }
    return HAFT_OK;
}

void haft_counted_abandon(haft_counted *table)
{
    assert(!destroy_is_under_way(table) && "on_destroy does not abandon its table");
    free_memory(table);
}
