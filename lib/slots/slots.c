/*
 * Slots: options, and layout in memory.
 *
 * Edges in this file.
 *   OWN   before the table is handed to other threads
 */
#include "lib/slots/slots.h"
#include "lib/base/os.h"
#include <assert.h>

/* No page run of so few bytes of slots is released: it would be worth less than the records. */
#define STAY_BYTES ((uint64_t)128 << 10)

/* Keep the options that a clone of the table is opened with. */
static void keep(struct slots *slots, const struct common_options *options)
{
    slots->common = *options;
    slots->common.name = NULL;
    slots->common.first_generation = options_first_generation(options);
    slots->common.allocator = NULL; /* slots->heap is a copy */
    slots->format = word_format_of(options->layout, options->tag, slots->common.first_generation);
    slots->object_size = options->object_size;
    slots->sites.records = NULL;
}

static haft_status reserve_slots(struct slots *slots, const struct slots_options *options,
                                 const struct geometry *geometry)
{
    const uint64_t size = geometry->bias + geometry->count * geometry->stride;
    const haft_status status =
        options->given != NULL
            ? reservation_open_given(&slots->memory, size, geometry->alignment, options->given)
            : reservation_open_array(&slots->memory, size, (size_t)geometry->alignment,
                                     &slots->heap);

    if (status == HAFT_OK && options->huge_pages && reservation_is_paged(&slots->memory)) {
        reservation_ask_for_huge_pages(&slots->memory);
    }
    return status;
}

haft_status slots_open(struct slots *slots, const struct slots_options *options)
{
    const struct geometry geometry = geometry_of(options);
    haft_status status = reserve_slots(slots, options, &geometry);

    if (status != HAFT_OK) {
        return status;
    }
    slots->view.base = slots->memory.base + geometry.bias;
    slots->view.mask = geometry.count - 1;
    slots->view.stride = geometry.stride;
    keep(slots, &options->common);
    slots->has_pins = options->pins;
    slots->huge_pages = options->huge_pages;
    slots->wrapped = options->wrapped;
    slots->limit = geometry.limit;
    assert(geometry.end <= slots->limit && slots->limit <= geometry.count);
    assert(((uintptr_t)slots->view.base + sizeof(uint64_t)) % slots_alignment(slots) == 0);
    runs_setup(&slots->runs, geometry.count, geometry.stride, geometry.bias != 0);
    slots->runs.stay = !reservation_is_paged(&slots->memory) || slots->memory.size <= STAY_BYTES;
    if (options->common.sites) {
        status = sites_open(&slots->sites, geometry.count, options->given, &slots->heap);
    }
    status = status == HAFT_OK ? slots_commit(slots, 1) : status;
    if (status != HAFT_OK) {
        slots_close(slots);
        return status;
    }
    store_relaxed(OWN, slots_word(slots, 0), MARK_RESERVED);
    return HAFT_OK;
}

void slots_close(struct slots *slots)
{
    runs_close(&slots->runs);
    sites_close(&slots->sites, &slots->heap);
    reservation_close_array(&slots->memory, &slots->heap);
}

/* From the start of the memory to slot `index`. */
static uint64_t bytes_to(const struct slots *slots, uint64_t index)
{
    assert(index <= slots->view.mask + 1);
    return (uint64_t)(slots->view.base - slots->memory.base) + index * slots->view.stride;
}

haft_status slots_commit(struct slots *slots, uint64_t end)
{
    const haft_status status = reservation_commit(&slots->memory, bytes_to(slots, end));

    return status == HAFT_OK ? sites_commit(&slots->sites, end) : status;
}

uint64_t slots_bytes(const struct slots *slots, uint64_t used, uint64_t released)
{
    assert(used != 0 && released <= used);
    const bool is_paged = reservation_is_paged(&slots->memory);
    const uint64_t records = slots->runs.records != NULL ? runs_of(&slots->runs, used - 1) + 1 : 0;
    const uint64_t sites = slots->sites.records == NULL ? 0
                           : is_paged                   ? used
                                                        : slots->view.mask + 1;
    const uint64_t taken =
        is_paged ? bytes_to(slots, used - released) : slots->memory.size + slots->memory.more;

    return taken + records * sizeof(struct run) + sites * sizeof(struct site);
}

haft_status slots_populate(const struct slots *slots, uint64_t first, uint64_t end)
{
    const haft_status status =
        reservation_populate(&slots->memory, bytes_to(slots, first), bytes_to(slots, end));

    return status == HAFT_OK ? sites_populate(&slots->sites, first, end) : status;
}

haft_status slots_check_chosen(const struct slots *slots, haft_id id, uint64_t end)
{
    const haft_status status = word_check_fields(&slots->format, id, end);
    const bool is_ours = status == HAFT_OK || status == HAFT_OUT_OF_RANGE;

    return is_ours && word_generation(&slots->format, id.bits) == 0 ? HAFT_MALFORMED : status;
}
