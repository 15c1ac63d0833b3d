/* The image of a packed table, and how the table becomes another. */
#include "kit/local/packed/packed_image.h"
#include "kit/local/packed/packed.h"

_Static_assert(PACKED_NUMBERS_END <= IMAGE_NUMBERS, "an image has room for the numbers");

const char *const packed_shape_names[SHAPE_NUMBERS] = {
    "kind of table", "layout", "tag", "object_size", "capacity", "keep_order",
};

struct shape packed_shape(const haft_packed *packed)
{
    const haft_layout layout = packed->slots.format.layout;

    return (struct shape){{
        2,
        (uint64_t)layout.index_bits | (uint64_t)layout.generation_bits << 8 |
            (uint64_t)layout.tag_bits << 16,
        haft_id_tag(layout, (haft_id){packed->slots.format.tag}),
        packed->view.object_size,
        packed->capacity,
        packed->keep_order,
    }};
}

haft_status packed_check_moment(const haft_packed *packed)
{
    return packed->in_callback ? HAFT_IN_USE : HAFT_OK;
}

static uint64_t slot_bytes(uint64_t used)
{
    return (HAFT_FIRST_INDEX + used) * sizeof(haft_packed_slot);
}

struct image packed_image(const haft_packed *packed)
{
    struct image image = {
        .numbers =
            {
                [PACKED_FIRST] = packed->slots.format.first,
                [PACKED_USED] = packed->used,
                [PACKED_COUNT] = packed->count,
                [PACKED_DEAD] = packed->dead_count,
                [PACKED_EXHAUSTED] = packed->exhausted,
                [PACKED_HEAD] = packed->free_head,
            },
        .parts[PACKED_SLOTS] = {(char *)packed->slot, slot_bytes(packed->used),
                                slot_bytes(packed->capacity)},
    };

    for (int array = OBJECTS; array <= DEAD; array++) {
        const uint64_t bytes = packed_bytes(packed, (enum packed_array)array);
        const uint64_t count = array == DEAD ? packed->dead_count : packed->count;

        image.parts[array] = (struct image_part){packed->memory[array].base, count * bytes,
                                                 packed->capacity * bytes};
    }
    return image;
}

haft_status packed_prepare(haft_packed *packed, const uint64_t *numbers)
{
    haft_status status = HAFT_OK;

    while (packed->ready < numbers[PACKED_USED] && status == HAFT_OK) {
        status = packed_make_ready(packed);
    }
    return status;
}

void packed_become(haft_packed *packed, const struct image *image)
{
    const uint64_t *numbers = image->numbers;
    const struct image own = packed_image(packed);
    const uint64_t count = numbers[PACKED_COUNT];

    asan_unpoison(packed->view.objects, (size_t)image->parts[PACKED_OBJECTS].bytes);
    for (int part = 0; part < IMAGE_PARTS; part++) {
        image_put(own.parts[part].at, image->parts[part].at, image->parts[part].bytes);
    }
    if (own.parts[PACKED_SLOTS].bytes > image->parts[PACKED_SLOTS].bytes) {
        image_clear(own.parts[PACKED_SLOTS].at + image->parts[PACKED_SLOTS].bytes,
                    own.parts[PACKED_SLOTS].bytes - image->parts[PACKED_SLOTS].bytes);
    }
    if (packed->count > count) {
        packed_poison(packed, count, packed->count - count);
    }
    sites_forget(&packed->slots.sites, HAFT_FIRST_INDEX, HAFT_FIRST_INDEX + packed->used);
    packed->slots.format.first = numbers[PACKED_FIRST];
    packed->used = numbers[PACKED_USED];
    packed->count = count;
    packed->dead_count = numbers[PACKED_DEAD];
    packed->exhausted = numbers[PACKED_EXHAUSTED];
    packed->free_head = numbers[PACKED_HEAD];
}
