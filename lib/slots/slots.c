/*
 * Slots: options, and layout in memory.
 *
 * Edges in this file.
 *   OWN   before the table is handed to other threads
 */
#include "lib/slots/slots.h"
#include "lib/base/os.h"

#define MAX_OBJECT_SIZE (UINT64_C(1) << 30)
#define MAX_ALIGNMENT 4096u

#define SPARE_MOST (UINT64_C(1) << 16)   /* hold-back of 258 workers with full batches */
#define SPARE_COMMON (UINT64_C(1) << 12) /* of 16 */

static const haft_layout no_layout = {0, 0, 0};

static bool layout_equal(haft_layout a, haft_layout b)
{
    return a.index_bits == b.index_bits && a.generation_bits == b.generation_bits &&
           a.tag_bits == b.tag_bits;
}

/* `options` with the defaults filled in. */
static struct slots_options completed(const struct slots_options *options)
{
    struct slots_options full = *options;

    if (layout_equal(full.layout, no_layout)) {
        full.layout = HAFT_LAYOUT_32_32;
    }
    if (full.object_alignment == 0) {
        full.object_alignment = sizeof(uint64_t);
    }
    return full;
}

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

static uint64_t first_generation(const struct slots_options *options)
{
    if (options->random_first_generation) {
        return random_generation(options->layout);
    }
    return options->first_generation != 0 ? options->first_generation : 1;
}

static haft_status check_slots(const struct slots_options *options)
{
    if (!haft_layout_is_valid(options->layout)) {
        return HAFT_BAD_LAYOUT;
    }
    const uint64_t most = haft_field_max(options->layout.index_bits) + 1 - HAFT_FIRST_INDEX;

    if (options->capacity < 1 || options->capacity > most) {
        return HAFT_BAD_CAPACITY;
    }
    if (options->object_size > MAX_OBJECT_SIZE) {
        return HAFT_BAD_OBJECT_SIZE;
    }
    if ((options->object_alignment & (options->object_alignment - 1)) != 0 ||
        options->object_alignment > MAX_ALIGNMENT) {
        return HAFT_BAD_OBJECT_ALIGNMENT;
    }
    if (options->tag > haft_field_max(options->layout.tag_bits)) {
        return HAFT_BAD_TAG;
    }
    if (options->first_generation > haft_field_max(options->layout.generation_bits) ||
        (options->first_generation != 0 && options->random_first_generation)) {
        return HAFT_BAD_FIRST_GENERATION;
    }
    if (options->aside > most - options->capacity) {
        return HAFT_BAD_RESTORE_RANGE;
    }
    if (options->warn_at > options->capacity ||
        (options->warn_at != 0) != (options->on_fill != NULL)) {
        return HAFT_BAD_WARN_AT;
    }
    return HAFT_OK;
}

haft_status slots_check(const struct slots_options *options, uint64_t *most)
{
    const struct slots_options full = completed(options);
    const haft_status status = check_slots(&full);

    if (status == HAFT_OK) {
        *most = haft_field_max(full.layout.index_bits) + 1 - HAFT_FIRST_INDEX;
    }
    return status;
}

/* Slots in address space: a power of two with room for capacity and extra, if the bits allow. */
static uint64_t slot_count(const struct slots_options *options)
{
    const uint64_t wanted =
        HAFT_FIRST_INDEX + options->aside + options->capacity + options->extra + options->spare;
    const uint64_t most = haft_field_max(options->layout.index_bits) + 1;
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

/* What is kept of the options as it is. */
static void keep(struct slots *slots, const struct slots_options *full)
{
    slots->format = word_format_of(full->layout, full->tag, first_generation(full));
    slots->object_size = full->object_size;
    slots->has_pins = full->pins;
    slots->on_bad_access = full->on_bad_access;
    slots->bad_access_arg = full->bad_access_arg;
    slots->fill.warn_at = full->warn_at;
    slots->fill.on_fill = full->on_fill;
    slots->fill.arg = full->fill_arg;
    store_relaxed(OWN, &slots->fill.warned, 0);
    slots->fill.is_warning = false;
    slots->places.records = NULL;
    slots->places.on_leak = full->on_leak;
    slots->places.leak_arg = full->leak_arg;
    slots->wrapped = full->wrapped;
    store_relaxed(OWN, &slots->recycled, 0);
}

haft_status slots_open(struct slots *slots, const struct slots_options *options)
{
    const struct slots_options full = completed(options);
    haft_status status = check_slots(&full);

    if (status != HAFT_OK) {
        return status;
    }
    const uint64_t alignment =
        full.object_alignment > sizeof(uint64_t) ? full.object_alignment : sizeof(uint64_t);
    const uint64_t bias = alignment - sizeof(uint64_t); /* so that each object is aligned */
    const uint64_t pins = full.pins ? sizeof(uint64_t) : 0;
    const uint64_t stride = round_up(
        sizeof(uint64_t) + round_up(full.object_size, pins != 0 ? 8 : 1) + pins, alignment);
    const uint64_t count = slot_count(&full);
    const uint64_t end = HAFT_FIRST_INDEX + full.aside + full.capacity;
    const uint64_t room = count - end;

    status = reservation_open(&slots->memory, bias + count * stride);
    if (status != HAFT_OK) {
        return status;
    }
    if (full.huge_pages) {
        reservation_ask_for_huge_pages(&slots->memory);
    }
    slots->view.base = slots->memory.base + bias;
    slots->view.mask = count - 1;
    slots->view.stride = stride;
    keep(slots, &full);
    slots->limit = end + (full.extra < room ? full.extra : room);
    runs_setup(&slots->runs, count, stride, bias != 0);
    status = full.places ? places_open(&slots->places, count) : HAFT_OK;
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
    places_close(&slots->places);
    reservation_close(&slots->memory);
}

haft_status slots_commit(struct slots *slots, uint64_t end)
{
    const uint64_t bias = (uint64_t)(slots->view.base - slots->memory.base);

    const haft_status status = reservation_commit(&slots->memory, bias + end * slots->view.stride);

    return status == HAFT_OK ? places_commit(&slots->places, end) : status;
}

haft_status slots_populate(const struct slots *slots, uint64_t first, uint64_t end)
{
    const uint64_t bias = (uint64_t)(slots->view.base - slots->memory.base);

    if (first >= end) {
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
