/* The options that all tables have in common. */
#include "lib/slots/options.h"
#include "lib/base/os.h"
#include <stddef.h>
#include <string.h>

#define MAX_OBJECT_SIZE (UINT64_C(1) << 30)

static bool layout_is_zero(haft_layout layout)
{
    return layout.index_bits == 0 && layout.generation_bits == 0 && layout.tag_bits == 0 &&
           layout.reserved == 0;
}

/* A type's size is a multiple of its alignment. */
size_t options_usual_alignment(size_t object_size)
{
    const size_t word = sizeof(uint64_t);
    const size_t most = _Alignof(max_align_t) > word ? _Alignof(max_align_t) : word;
    size_t alignment = word;

    while (object_size != 0 && alignment < most && object_size % (2 * alignment) == 0) {
        alignment *= 2;
    }
    return alignment;
}

static void fill_in_defaults(struct common_options *options, enum options_shape shape)
{
    if (layout_is_zero(options->layout)) {
        options->layout = HAFT_LAYOUT_32_32;
    }
    if (options->object_alignment == 0) {
        options->object_alignment =
            shape == PACKED ? 1 : options_usual_alignment(options->object_size);
    }
}

static haft_status check_object(const struct common_options *options, enum options_shape shape)
{
    const size_t size = options->object_size;
    const size_t alignment = options->object_alignment;

    if (size > MAX_OBJECT_SIZE || (shape == PACKED && size == 0)) {
        return HAFT_BAD_OBJECT_SIZE;
    }
    if ((alignment & (alignment - 1)) != 0 || alignment > MAX_ALIGNMENT ||
        (shape == PACKED && size % alignment != 0)) {
        return HAFT_BAD_OBJECT_ALIGNMENT;
    }
    return HAFT_OK;
}

static haft_status check_ids(const struct common_options *options)
{
    if (options->tag > haft_field_max(options->layout.tag_bits)) {
        return HAFT_BAD_TAG;
    }
    if (options->first_generation != HAFT_RANDOM_GENERATION &&
        options->first_generation > haft_field_max(options->layout.generation_bits)) {
        return HAFT_BAD_FIRST_GENERATION;
    }
    return HAFT_OK;
}

/* Options of a later version, in the place that is reserved for them. */
static haft_status check_reserved(const struct common_options *options)
{
    for (size_t i = 0; i < sizeof options->reserved / sizeof options->reserved[0]; i++) {
        if (options->reserved[i] != 0) {
            return HAFT_UNKNOWN_OPTION;
        }
    }
    return HAFT_OK;
}

static haft_status check_common(const struct common_options *options, enum options_shape shape,
                                uint64_t most)
{
    haft_status status = check_reserved(options);

    if (status == HAFT_OK && (options->capacity < 1 || options->capacity > most)) {
        status = HAFT_BAD_CAPACITY;
    }
    status = status == HAFT_OK ? check_object(options, shape) : status;
    status = status == HAFT_OK ? check_ids(options) : status;
    return status;
}

haft_status options_check(const void *table_options, enum options_shape shape,
                          struct common_options *common, uint64_t *most)
{
    memcpy(common, table_options, sizeof *common);
    fill_in_defaults(common, shape);
    if (!haft_layout_is_valid(common->layout)) {
        return HAFT_BAD_LAYOUT;
    }
    *most = haft_field_max(common->layout.index_bits) + 1 - HAFT_FIRST_INDEX;
    return check_common(common, shape, *most);
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

uint64_t options_first_generation(const struct common_options *options)
{
    if (options->first_generation == HAFT_RANDOM_GENERATION) {
        return random_generation(options->layout);
    }
    return options->first_generation != 0 ? options->first_generation : 1;
}
