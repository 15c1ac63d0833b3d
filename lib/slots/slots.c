/*
 * Slots: options, and layout in memory.
 *
 * Edges in this file.
 *   OWN   before the table is handed to other threads
 */
#include "lib/slots/slots.h"
#include "lib/base/os.h"

#define SPARE_MOST (UINT64_C(1) << 16)   /* hold-back of 258 workers with full batches */
#define SPARE_COMMON (UINT64_C(1) << 12) /* of 16 */

/*
 * A first generation from the lower half: so ids of another table, or of the program's last run,
 * seldom match, and each slot has half of its lives left at least.
 */
static uint64_t random_generation(haft_layout layout)
{
    const uint64_t half = (haft_field_max(layout.generation_bits) + 1) / 2;
    uint64_t bits = 0;

    /* Where the system refuses (a filter of system calls), addresses and the time have to do. */
    if (!os_random(&bits)) {
        bits = ((uint64_t)(uintptr_t)&bits ^ os_now_ns()) * UINT64_C(0x9E3779B97F4A7C15);
        bits ^= bits >> 32;
    }
    return 1 + bits % half;
}

static uint64_t first_generation(const struct common_options *options)
{
    if (options->random_first_generation) {
        return random_generation(options->layout);
    }
    return options->first_generation != 0 ? options->first_generation : 1;
}

/* Slots in address space: a power of two with room for capacity and extra, if the bits allow. */
static uint64_t slot_count(const struct slots_options *options)
{
    const uint64_t wanted = HAFT_FIRST_INDEX + options->aside + options->common.capacity +
                            options->extra + options->spare;
    const uint64_t most = haft_field_max(options->common.layout.index_bits) + 1;
    uint64_t count = 8;

    while (count < wanted && count < most) {
        count *= 2;
    }
    return count;
}

uint64_t slots_spare(uint64_t capacity)
{
    const uint64_t part = capacity / 8;

    if (capacity < SPARE_COMMON) {
        return capacity;
    }
    return part < SPARE_COMMON ? SPARE_COMMON : part < SPARE_MOST ? part : SPARE_MOST;
}

static uint64_t round_up(uint64_t size, uint64_t alignment)
{
    return (size + alignment - 1) / alignment * alignment;
}

/* Keep the options that are needed as they are. */
static void keep(struct slots *slots, const struct common_options *options)
{
    slots->format = word_format_of(options->layout, options->tag, first_generation(options));
    slots->object_size = options->object_size;
    slots->on_bad_access = options->on_bad_access;
    slots->bad_access_arg = options->bad_access_arg;
    slots->fill.warn_at = options->warn_at;
    slots->fill.on_fill = options->on_fill;
    slots->fill.arg = options->fill_arg;
    store_relaxed(OWN, &slots->fill.warned, 0);
    slots->fill.is_warning = false;
    slots->sites.records = NULL;
    slots->sites.on_leak = options->on_leak;
    slots->sites.leak_arg = options->leak_arg;
    store_relaxed(OWN, &slots->recycled, 0);
}

haft_status slots_open(struct slots *slots, const struct slots_options *options)
{
    const struct common_options *common = &options->common;
    const uint64_t alignment =
        common->object_alignment > sizeof(uint64_t) ? common->object_alignment : sizeof(uint64_t);
    const uint64_t bias = alignment - sizeof(uint64_t); /* so that each object is aligned */
    const uint64_t pins = options->pins ? sizeof(uint64_t) : 0;
    const uint64_t stride = round_up(
        sizeof(uint64_t) + round_up(common->object_size, pins != 0 ? 8 : 1) + pins, alignment);
    const uint64_t count = slot_count(options);
    const uint64_t end = HAFT_FIRST_INDEX + options->aside + common->capacity;
    const uint64_t room = count - end;

    haft_status status =
        reservation_open_array(&slots->memory, bias + count * stride, (size_t)alignment);
    if (status != HAFT_OK) {
        return status;
    }
    if (options->huge_pages && !slots->memory.is_in_heap) {
        reservation_ask_for_huge_pages(&slots->memory);
    }
    slots->view.base = slots->memory.base + bias;
    slots->view.mask = count - 1;
    slots->view.stride = stride;
    keep(slots, common);
    slots->has_pins = options->pins;
    slots->wrapped = options->wrapped;
    slots->limit = end + (options->extra < room ? options->extra : room);
    runs_setup(&slots->runs, count, stride, bias != 0);
    slots->runs.stay = slots->memory.is_in_heap;
    status = common->sites ? sites_open(&slots->sites, count) : HAFT_OK;
    if (status == HAFT_OK) {
        status = slots_commit(slots, 1);
    }
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
    sites_close(&slots->sites);
    reservation_close(&slots->memory);
}

haft_status slots_commit(struct slots *slots, uint64_t end)
{
    const uint64_t bias = (uint64_t)(slots->view.base - slots->memory.base);

    const haft_status status = reservation_commit(&slots->memory, bias + end * slots->view.stride);

    return status == HAFT_OK ? sites_commit(&slots->sites, end) : status;
}

haft_status slots_populate(const struct slots *slots, uint64_t first, uint64_t end)
{
    const uint64_t bias = (uint64_t)(slots->view.base - slots->memory.base);

    if (first >= end || slots->memory.is_in_heap) {
        return HAFT_OK;
    }
    return reservation_populate(&slots->memory, bias + first * slots->view.stride,
                                bias + end * slots->view.stride);
}

haft_status slots_check_fields(const struct slots *slots, haft_id id, uint64_t end)
{
    const struct word_format *format = &slots->format;
    const uint64_t index = word_index(format, id.bits);

    if (haft_id_is_nil(id)) {
        return HAFT_NO_ID;
    }
    if ((id.bits & ~(format->index_mask | format->generation_mask | format->tag_mask)) != 0 ||
        index < HAFT_FIRST_INDEX) {
        return HAFT_MALFORMED;
    }
    if ((id.bits & format->tag_mask) != format->tag) {
        return HAFT_FOREIGN;
    }
    return index < end ? HAFT_OK : HAFT_OUT_OF_RANGE;
}

haft_status slots_check_chosen(const struct slots *slots, haft_id id, uint64_t end)
{
    const haft_status status = slots_check_fields(slots, id, end);
    const bool is_ours = status == HAFT_OK || status == HAFT_OUT_OF_RANGE;

    return is_ours && word_generation(&slots->format, id.bits) == 0 ? HAFT_MALFORMED : status;
}
