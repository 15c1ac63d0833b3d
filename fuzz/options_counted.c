/* Options of any value for counted tables: in memory of the system, an allocator, the program. */
#include "fuzz/options.h"
#include <haft/counted.h>
#include <haft/memory.h>
#include <stdlib.h>

#define MOST_BLOCK (UINT64_C(1) << 30)

/* Whether the status of a counted table names an option that is out of range. */
static bool is_counted_bad(const haft_counted_options *options, haft_status status)
{
    const bool is_default = options->layout.index_bits == 0 &&
                            options->layout.generation_bits == 0 && options->layout.tag_bits == 0 &&
                            options->layout.reserved == 0;
    const haft_layout layout = is_default ? HAFT_LAYOUT_32_32 : options->layout;
    const bool is_layout = haft_layout_is_valid(layout); /* others are looked at only then */
    const unsigned bits = layout.index_bits < 30 ? layout.index_bits : 30;
    const uint64_t most = haft_field_max(bits) + 1 - HAFT_FIRST_INDEX;
    const size_t alignment = options->object_alignment;

    switch (status) {
    case HAFT_BAD_LAYOUT:
        return !is_layout || layout.generation_bits > 32;
    case HAFT_BAD_CAPACITY:
        return is_layout && (options->capacity < 1 || options->capacity > most);
    case HAFT_BAD_OBJECT_SIZE:
        return options->object_size > MOST_BLOCK;
    case HAFT_BAD_OBJECT_ALIGNMENT:
        return (alignment & (alignment - 1)) != 0 || alignment > 4096;
    case HAFT_BAD_TAG:
        return is_layout && options->tag > haft_field_max(layout.tag_bits);
    case HAFT_BAD_FIRST_GENERATION:
        return is_layout && options->first_generation != HAFT_RANDOM_GENERATION &&
               options->first_generation > haft_field_max(layout.generation_bits);
    case HAFT_BAD_MIN_FREE:
        return is_layout && options->capacity <= most &&
               options->min_free > most - options->capacity;
    case HAFT_BAD_COPIES:
        return options->copies && options->object_size > 64;
    default:
        return false;
    }
}

static haft_counted_options counted_options(const struct values *values)
{
    return (haft_counted_options){
        COMMON_OPTIONS_OF(values),    .min_free = values->min_free, .wrap = values->wrap,
        .copies = values->keep_order, .wipe = values->wipe,         .spread = values->spread,
    };
}

static void check_answer(const haft_counted_options *options, haft_status said)
{
    bool is_any_bad = false;

    for (int status = 0; status < HAFT_STATUS_COUNT; status++) {
        is_any_bad |= is_counted_bad(options, (haft_status)status);
    }
    must(is_any_bad ? is_counted_bad(options, said) : said == HAFT_OK || said == HAFT_NO_MEMORY,
         "counted_open");
}

/* The same answer as opening's, or more than there can be; the capacity is the one asked for. */
static haft_status check_footprint(const haft_counted_options *options, haft_status opened,
                                   haft_footprint *footprint)
{
    *footprint = (haft_footprint){.bytes = UNTOUCHED};
    const haft_status said = haft_counted_footprint(options, footprint);

    tell_answer("counted_footprint", said);
    must(said == opened || said == HAFT_NO_MEMORY || opened == HAFT_NO_MEMORY,
         "a footprint's status");
    must(said == HAFT_OK
             ? footprint->committed <= footprint->bytes && footprint->capacity == options->capacity
             : footprint->bytes == UNTOUCHED,
         "a footprint");
    return said;
}

/* --- an allocator --- */

struct heap {
    uint64_t refused_after; /* blocks */
    uint64_t blocks;        /* that are not freed */
};

static void *heap_alloc(void *context, size_t size, size_t alignment)
{
    const haft_allocator from = haft_allocator_malloc();
    struct heap *heap = context;

    if (heap->refused_after == 0) {
        return NULL;
    }
    heap->refused_after--;
    heap->blocks++;
    return from.alloc(from.context, size, alignment);
}

static void heap_free(void *context, void *memory, size_t size)
{
    const haft_allocator from = haft_allocator_malloc();
    struct heap *heap = context;

    heap->blocks -= memory != NULL;
    from.free(from.context, memory, size);
}

/* All that it takes comes back; and if it is refused, nothing has changed. */
static void try_allocator(haft_counted_options options, haft_status opened)
{
    for (uint64_t blocks = 0; blocks < 4; blocks++) {
        struct heap heap = {.refused_after = blocks};
        const haft_allocator allocator = {heap_alloc, NULL, heap_free, &heap};
        haft_counted *table = NULL;

        options.allocator = &allocator;
        const haft_status said = haft_counted_open(&options, &table);

        must(said == opened || said == HAFT_NO_MEMORY || opened == HAFT_NO_MEMORY,
             "counted_open with an allocator");
        must((said == HAFT_OK) == (table != NULL), "counted_open leaves its argument alone");
        must(blocks != 0 || said != HAFT_OK, "a table without memory");
        must(blocks < 3 || said == opened || opened == HAFT_NO_MEMORY ||
                 options.capacity > UINT32_MAX,
             "three blocks suffice");
        if (table != NULL) {
            must(haft_counted_close(table) == HAFT_OK, "counted_close");
        }
        must(heap.blocks == 0, "what an allocator gave is given back");
    }
}

/* --- memory of the program's --- */

/* As many objects as the capacity, each aligned. */
static void fill_counted(haft_counted *table, const haft_counted_options *options)
{
    haft_id id;

    for (uint64_t i = 0; i < options->capacity; i++) {
        must(haft_counted_insert(table, NULL, &id) == HAFT_OK, "insert");
        const void *object = haft_counted_acquire(table, id);

        must(object != NULL, "acquire");
        must(options->object_alignment == 0 || (uintptr_t)object % options->object_alignment == 0,
             "an object's alignment");
        must(haft_counted_release(table, id) == HAFT_OK, "release");
    }
    must(haft_counted_insert(table, NULL, &id) == HAFT_FULL, "one object more");
    must(haft_counted_close(table) == HAFT_OK, "counted_close");
}

static void try_memory(haft_counted_options options, const haft_footprint *footprint)
{
    haft_counted *table = NULL;
    struct memory memory = take_memory(footprint->bytes);

    MUST_NEED_ALL(haft_counted_open(&options, &table), options, memory, table);
    fill_counted(table, &options);
    free(memory.block);
}

/* --- all of them --- */

uint64_t try_counted(const struct values *values)
{
    const haft_counted_options options = counted_options(values);
    haft_counted *table = NULL;
    haft_footprint footprint;
    const haft_status said = haft_counted_open(&options, &table);

    tell_answer("counted_open", said);
    check_answer(&options, said);
    must((said == HAFT_OK) == (table != NULL), "counted_open leaves its argument alone");
    if (table != NULL) {
        must(haft_counted_close(table) == HAFT_OK, "counted_close");
    }
    if (values->allocates) {
        try_allocator(options, said);
    }
    if (check_footprint(&options, said, &footprint) == HAFT_OK && footprint.bytes <= MOST_GIVEN) {
        try_memory(options, &footprint);
    }
    return 3;
}
