/* How slots lie. */
#include "lib/slots/geometry.h"
#include "lib/base/atomics.h"
#include "lib/base/heap.h"
#include "lib/slots/runs.h"
#include "lib/slots/sites.h"
#include <assert.h>

#define SPARE_MOST (UINT64_C(1) << 16)   /* hold-back of 258 workers with full batches */
#define SPARE_COMMON (UINT64_C(1) << 12) /* of 16 */

/* Slots in address space: a power of two with room for capacity and extra, if the bits allow. */
static uint64_t slot_count(const struct slots_options *options)
{
    const uint64_t most = haft_field_max(options->common.layout.index_bits) + 1;
    const uint64_t wanted =
        HAFT_FIRST_INDEX + options->common.capacity + options->extra + options->spare;
    uint64_t count = 8;

    assert(options->extra <= most &&
           "a min_free is checked, and a spare is no more than the capacity");
    while (count < wanted && count < most) {
        count *= 2;
    }
    assert((count & (count - 1)) == 0 && count >= HAFT_FIRST_INDEX + options->common.capacity);
    return count;
}

uint64_t geometry_spare(uint64_t capacity)
{
    const uint64_t part = capacity / 8;

    if (capacity < SPARE_COMMON) {
        return capacity;
    }
    return part < SPARE_COMMON ? SPARE_COMMON : part < SPARE_MOST ? part : SPARE_MOST;
}

struct geometry geometry_of(const struct slots_options *options)
{
    const struct common_options *common = &options->common;
    const uint64_t alignment =
        common->object_alignment > sizeof(uint64_t) ? common->object_alignment : sizeof(uint64_t);
    const uint64_t pins = options->pins ? sizeof(uint64_t) : 0;
    const uint64_t count = slot_count(options);
    const uint64_t end = HAFT_FIRST_INDEX + common->capacity;

    return (struct geometry){
        .alignment = alignment > CACHE_LINE ? alignment : CACHE_LINE,
        .bias = alignment - sizeof(uint64_t),
        .stride = size_round_up(sizeof(uint64_t) +
                                    size_round_up(common->object_size, pins != 0 ? 8 : 1) + pins,
                                alignment),
        .count = count,
        .end = end,
        .limit = end + (options->extra < count - end ? options->extra : count - end),
    };
}

void geometry_measure(const struct slots_options *options)
{
    const struct geometry geometry = geometry_of(options);

    given_take(options->given, geometry.bias + geometry.count * geometry.stride,
               geometry.alignment);
    if (options->common.sites) {
        given_take(options->given, geometry.count * sizeof(struct site), sizeof(uint64_t));
    }
}

uint64_t geometry_address_space(struct slots_options options)
{
    const struct geometry geometry = geometry_of(&options);
    struct given given = given_to_measure();
    struct runs runs;

    options.given = &given;
    geometry_measure(&options);
    runs_setup(&runs, geometry.count, geometry.stride, geometry.bias != 0);
    return given.measured + runs.count * sizeof(struct run);
}
