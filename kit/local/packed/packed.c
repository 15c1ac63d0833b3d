/*
 * haft_packed: opening, lookups, and objects that come.
 *
 * Edges in this file.
 *   OWN   no thread changes the table while others read it
 */
#include "kit/local/packed/packed.h"
#include "kit/local/packed/packed_remove.h"
#include "kit/local/packed/state.h"
#include "lib/slots/diagnose.h"
#include "lib/slots/leaks.h"
#include <assert.h>
#include <string.h>

OPTIONS_BEGIN_WITH_COMMON(haft_packed_options);

/* The bytes of a slot beyond its word, which struct slots takes for the object. */
#define SLOT_OBJECT_SIZE (sizeof(haft_packed_slot) - sizeof(haft_atomic_u64))

/* --- opening --- */

static void close_array(struct haft_packed *packed, int array)
{
    reservation_close_array(&packed->memory[array], &packed->slots.heap);
}

/* A type's size is a multiple of its alignment. */
static size_t array_alignment(uint64_t object_size)
{
    const uint64_t power = object_size & (~object_size + 1);

    return power > MAX_ALIGNMENT ? MAX_ALIGNMENT : power > CACHE_LINE ? (size_t)power : CACHE_LINE;
}

/* Memory for the arrays: an element more than the capacity, for sorting. */
static haft_status open_arrays(struct haft_packed *packed)
{
    const size_t alignment = array_alignment(packed->view.object_size);

    for (int array = 0; array < PACKED_ARRAYS; array++) {
        const uint64_t bytes = packed_bytes(packed, (enum packed_array)array);
        const haft_status status = reservation_open_array(
            &packed->memory[array], (packed->capacity + 1) * bytes, alignment, &packed->slots.heap);

        if (status != HAFT_OK) {
            while (array-- > 0) {
                close_array(packed, array);
            }
            return status;
        }
    }
    packed->view.objects = packed->memory[OBJECTS].base;
    packed->ids = (haft_id *)(void *)packed->memory[IDS].base;
    packed->dead = (uint32_t *)(void *)packed->memory[DEAD].base;
    packed->order = (uint32_t *)(void *)packed->memory[ORDER].base;
    return HAFT_OK;
}

static void close_memory(struct haft_packed *packed)
{
    for (int array = 0; array < PACKED_ARRAYS; array++) {
        close_array(packed, array);
    }
    slots_close(&packed->slots);
}

/* Use each page of an array's elements from `begin` on, which no thread has written to. */
static void touch(char *base, uint64_t begin, uint64_t end, uint64_t bytes)
{
    memset(base + begin * bytes, 0, (size_t)((end - begin) * bytes));
}

haft_status packed_make_ready(struct haft_packed *packed)
{
    const uint64_t begin = packed->ready;
    const uint64_t left = packed->capacity - begin;
    const uint64_t end = begin + (packed->step < left ? packed->step : left);
    haft_status status = slots_commit(&packed->slots, HAFT_FIRST_INDEX + end);

    for (int array = OBJECTS; array <= DEAD && status == HAFT_OK; array++) {
        status = packed_commit(packed, (enum packed_array)array, end);
    }
    if (status != HAFT_OK) {
        return status;
    }
    if (packed->is_touched) {
        for (int array = OBJECTS; array <= DEAD; array++) {
            touch(packed->memory[array].base, begin, end,
                  packed_bytes(packed, (enum packed_array)array));
        }
        touch(packed->slots.view.base, HAFT_FIRST_INDEX + begin, HAFT_FIRST_INDEX + end,
              sizeof(haft_packed_slot));
        sites_forget(&packed->slots.sites, HAFT_FIRST_INDEX + begin, HAFT_FIRST_INDEX + end);
    }
    packed->ready = end;
    return HAFT_OK;
}

static haft_status open_memory(struct haft_packed *packed, const haft_packed_options *options)
{
    struct slots_options wanted = {0};
    uint64_t most;
    haft_status status = options_check(options, PACKED, &wanted.common, &most);

    if (status == HAFT_OK) {
        wanted.common.object_size = SLOT_OBJECT_SIZE;
        wanted.common.object_alignment = sizeof(uint64_t);
        status = slots_open(&packed->slots, &wanted);
    }
    if (status != HAFT_OK) {
        return status;
    }
    assert(packed->slots.view.stride == sizeof(haft_packed_slot));
    packed->slot = (haft_packed_slot *)(void *)packed->slots.view.base;
    packed->view.slot = packed->slot;
    packed->view.mask = packed->slots.view.mask;
    status = open_arrays(packed);
    if (status != HAFT_OK) {
        slots_close(&packed->slots);
        return status;
    }
    status = packed->is_touched ? packed_make_ready(packed) : HAFT_OK;
    if (status != HAFT_OK) {
        close_memory(packed);
    }
    return status;
}

static struct haft_packed *packed_new(const char *name, const haft_allocator *heap)
{
    const size_t size = size_with_name(sizeof(struct haft_packed), name);
    struct haft_packed *packed = heap_take_zero(heap, size, _Alignof(struct haft_packed));

    if (packed != NULL) {
        packed->slots.heap = *heap;
        packed->name = memcpy(packed + 1, name, size - sizeof *packed);
    }
    return packed;
}

static void packed_free(struct haft_packed *packed)
{
    heap_give(&packed->slots.heap, packed,
              size_with_name(sizeof(struct haft_packed), packed->name));
}

static haft_status open_packed(const haft_packed_options *options, haft_packed **packed)
{
    const haft_allocator heap = heap_of(options->allocator);
    struct haft_packed *opened =
        packed_new(options->name != NULL ? options->name : "packed table", &heap);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    opened->view.object_size = options->object_size;
    opened->capacity = options->capacity;
    opened->step = options->growth_step != 0 ? options->growth_step : 1;
    opened->is_touched = options->growth_step != 0;
    const haft_status status = open_memory(opened, options);

    if (status != HAFT_OK) {
        packed_free(opened);
        return status;
    }
    opened->free_head = MARK_END;
    opened->keep_order = options->keep_order;
    opened->on_destroy = options->on_destroy;
    opened->destroy_arg = options->destroy_arg;
    *packed = opened;
    return HAFT_OK;
}

haft_status packed_open_like(const haft_packed *packed, haft_packed **clone)
{
    const struct common_options *common = &packed->slots.common;
    haft_packed_options options = {
        .growth_step = packed->is_touched ? packed->step : 0,
        .keep_order = packed->keep_order,
        .on_destroy = packed->on_destroy,
        .destroy_arg = packed->destroy_arg,
    };

    memcpy(&options, common, sizeof *common);
    options.name = packed->name;
    options.object_size = (size_t)packed->view.object_size;
    options.object_alignment = 0;
    options.allocator = &packed->slots.heap;
    return open_packed(&options, clone);
}

haft_status haft_packed_open_sized(const haft_packed_options *options, size_t size,
                                   haft_packed **packed)
{
    haft_packed_options known;
    const haft_status status = sized_take(&known, sizeof known, options, size);

    return status == HAFT_OK ? open_packed(&known, packed) : status;
}

void haft_packed_close(haft_packed *packed)
{
    assert(!packed->in_callback && "a callback may not close its table");
    leaks_report(&packed->slots, packed->name, HAFT_FIRST_INDEX + packed->used);
    if (packed->on_destroy != NULL) {
        packed_destroy_all(packed, CALLER);
    }
    asan_unpoison(packed->view.objects, (size_t)((packed->ready + 1) * packed->view.object_size));
    close_memory(packed);
    packed_free(packed);
}

haft_dense_view haft_packed_view(const haft_packed *packed)
{
    return packed->view;
}

haft_info haft_packed_info(const haft_packed *packed)
{
    haft_info info = slots_info(&packed->slots, packed->name, packed->capacity);

    info.object_size = (size_t)packed->view.object_size;
    return info;
}

/* --- by id --- */

haft_status haft_packed_diagnose(const haft_packed *packed, haft_id id)
{
    return slots_diagnose(&packed->slots, id);
}

haft_packed_life haft_packed_state(const haft_packed *packed, haft_id id)
{
    if (!haft_packed_is_live(packed->view, id)) {
        return HAFT_PACKED_UNUSED;
    }
    return packed_slot(packed, id)->death != 0 ? HAFT_PACKED_DEAD : HAFT_PACKED_ALIVE;
}

haft_status haft_packed_position(const haft_packed *packed, haft_id id, uint64_t *position)
{
    if (!haft_packed_is_live(packed->view, id)) {
        return haft_packed_diagnose(packed, id);
    }
    *position = packed_slot(packed, id)->position;
    return HAFT_OK;
}

haft_status haft_packed_id_at(const haft_packed *packed, uint64_t index, haft_id *id)
{
    return slots_id_at(&packed->slots, index, id);
}

/* --- by position --- */

void *haft_packed_objects(const haft_packed *packed)
{
    return packed->view.objects;
}

const haft_id *haft_packed_ids(const haft_packed *packed)
{
    return packed->ids;
}

haft_id haft_packed_id_in(const haft_packed *packed, uint64_t position)
{
    const haft_id nil = HAFT_NIL;

    return position < packed->count ? packed->ids[position] : nil;
}

haft_packed_life haft_packed_state_in(const haft_packed *packed, uint64_t position)
{
    return haft_packed_state(packed, haft_packed_id_in(packed, position));
}

uint64_t haft_packed_count(const haft_packed *packed)
{
    return packed->count;
}

uint64_t haft_packed_dead_count(const haft_packed *packed)
{
    return packed->dead_count;
}

uint64_t haft_packed_available(const haft_packed *packed)
{
    return packed->capacity - packed->count - packed->exhausted;
}

bool haft_packed_is_empty(const haft_packed *packed)
{
    return packed->count == 0;
}

/* --- insert --- */

/* The next slot to use, taken off the free list or fresh. */
static haft_status take_packed_slot(struct haft_packed *packed, uint64_t *index)
{
    if (packed->free_head != MARK_END) {
        *index = packed->free_head;
        packed->free_head =
            word_index(&packed->slots.format, load_relaxed(OWN, &packed->slot[*index].word));
        return HAFT_OK;
    }
    if (packed->used == packed->capacity) {
        return HAFT_FULL;
    }
    const haft_status status = packed->used < packed->ready ? HAFT_OK : packed_make_ready(packed);

    if (status == HAFT_OK) {
        *index = HAFT_FIRST_INDEX + packed->used++;
    }
    return status;
}

haft_status haft_packed_insert(haft_packed *packed, const void *object, haft_id *id)
{
    uint64_t index;
    const haft_status status = take_packed_slot(packed, &index);

    if (status != HAFT_OK) {
        return status;
    }
    haft_packed_slot *slot = &packed->slot[index];
    const uint64_t position = packed->count++;
    char *bytes = packed_object(packed, position);
    const uint64_t word = slots_begin(&packed->slots, load_relaxed(OWN, &slot->word));

    packed_unpoison(packed, position);
    if (object == NULL) {
        memset(bytes, 0, (size_t)packed->view.object_size);
    } else {
        memcpy(bytes, object, (size_t)packed->view.object_size);
    }
    const haft_id inserted = {word_with_index(&packed->slots.format, word, index)};

    packed->ids[position] = inserted;
    slot->position = (uint32_t)position;
    slot->death = 0;
    sites_note_birth(&packed->slots.sites, index, CALLER);
    store_relaxed(OWN, &slot->word, inserted.bits);
    *id = inserted;
    return HAFT_OK;
}
