/*
 * haft_packed: its image in a file.
 *
 * The body: the words of all slots ever used, the ids of all positions, the indices of dead slots
 * in order of the kills, and the objects in order of position.
 */
#include "kit/local/files/image_file.h"
#include "kit/local/packed/packed_image.h"
#include "lib/base/os.h"

static const char *const number_texts[] = {
#define TEXT_OF(name, text) text,
    PACKED_NUMBERS(TEXT_OF)
#undef TEXT_OF
};

static struct image_slots slots_in(const haft_packed *packed, const struct image *image)
{
    return (struct image_slots){
        .format = &packed->slots.format,
        .base = image->parts[PACKED_SLOTS].at,
        .stride = sizeof(haft_packed_slot),
        .end = HAFT_FIRST_INDEX + image->numbers[PACKED_USED],
        .tail = MARK_END,
    };
}

static uint64_t body_size(const struct image_file *image_file, const uint64_t *numbers)
{
    return (numbers[PACKED_USED] + numbers[PACKED_COUNT] + numbers[PACKED_DEAD]) *
               sizeof(uint64_t) +
           numbers[PACKED_COUNT] * image_file->object_bytes;
}

/* --- saving --- */

static haft_status write_positions(struct image_file *image_file, const haft_packed *packed)
{
    haft_status status = HAFT_OK;

    for (uint64_t i = 0; i < packed->count && status == HAFT_OK; i++) {
        status = saved_write_number(image_file->saved, packed->ids[i].bits);
    }
    for (uint64_t i = 0; i < packed->dead_count && status == HAFT_OK; i++) {
        status = saved_write_number(image_file->saved, packed->dead[i]);
    }
    for (uint64_t i = 0; i < packed->count && status == HAFT_OK; i++) {
        status = image_file_write_object(image_file, packed_object(packed, i));
    }
    return status;
}

static haft_status write_packed(struct image_file *image_file, const haft_packed *packed)
{
    const struct shape shape = packed_shape(packed);
    const struct image image = packed_image(packed);
    const struct image_slots slots = slots_in(packed, &image);
    haft_status status = image_file_begin_write(image_file, &shape, image.numbers,
                                                body_size(image_file, image.numbers));

    if (status == HAFT_OK) {
        status = image_file_write_words(image_file, &slots);
    }
    return status == HAFT_OK ? write_positions(image_file, packed) : status;
}

static haft_status save_packed(const haft_packed *packed, haft_file *file)
{
    struct image_file image_file;
    haft_status status = packed_check_moment(packed);

    if (status == HAFT_OK) {
        status = image_file_open(&image_file, file, packed->view.object_size, &packed->slots.heap);
    }
    if (status == HAFT_OK) {
        status = write_packed(&image_file, packed);
        image_file_close(&image_file);
    }
    return status;
}

haft_status haft_packed_save(const haft_packed *packed, haft_file *file)
{
    const int cancel = os_cancel_off();
    const haft_status status = save_packed(packed, file);

    os_cancel_restore(cancel);
    return status;
}

/* --- loading --- */

struct packed_loading {
    const haft_packed *packed;
    struct image_file file;
    struct image image; /* its parts are this call's */
    struct image_slots slots;
};

static haft_status is_wrong(const struct packed_loading *loading, enum packed_number number)
{
    return image_file_wrong_number(&loading->file, number, number_texts[number]);
}

/* The first number that no table like this can have; PACKED_NUMBERS_END: there is none. */
static enum packed_number wrong_number_of(const haft_packed *packed, const uint64_t *numbers)
{
    if (!image_is_beginning(&packed->slots.format, numbers[PACKED_FIRST])) {
        return PACKED_FIRST;
    }
    if (numbers[PACKED_USED] > packed->capacity) {
        return PACKED_USED;
    }
    if (numbers[PACKED_COUNT] > numbers[PACKED_USED]) {
        return PACKED_COUNT;
    }
    return numbers[PACKED_DEAD] > numbers[PACKED_COUNT] ? PACKED_DEAD : PACKED_NUMBERS_END;
}

static haft_status read_packed_head(struct packed_loading *loading)
{
    const struct shape shape = packed_shape(loading->packed);
    uint64_t *numbers = loading->image.numbers;
    uint64_t body;
    const haft_status status =
        image_file_read_head(&loading->file, &shape, packed_shape_names, numbers, &body);

    if (status != HAFT_OK) {
        return status;
    }
    enum packed_number number = wrong_number_of(loading->packed, numbers);

    if (number == PACKED_NUMBERS_END && body != body_size(&loading->file, numbers)) {
        number = PACKED_COUNT;
    }
    saved_begin_read(loading->file.saved, loading->file.file, body);
    return number == PACKED_NUMBERS_END ? HAFT_OK : is_wrong(loading, number);
}

static haft_status get_packed_memory(struct packed_loading *loading)
{
    const uint64_t *numbers = loading->image.numbers;
    struct image_part *parts = loading->image.parts;

    for (int array = OBJECTS; array <= DEAD; array++) {
        parts[array].bytes = numbers[array == DEAD ? PACKED_DEAD : PACKED_COUNT] *
                             packed_bytes(loading->packed, (enum packed_array)array);
    }
    parts[PACKED_SLOTS].bytes =
        (HAFT_FIRST_INDEX + numbers[PACKED_USED]) * sizeof(haft_packed_slot);
    for (int part = 0; part < IMAGE_PARTS; part++) {
        parts[part].at = heap_take_zero(&loading->packed->slots.heap, (size_t)parts[part].bytes + 1,
                                        _Alignof(max_align_t));
        if (parts[part].at == NULL) {
            return HAFT_NO_MEMORY;
        }
    }
    loading->slots = slots_in(loading->packed, &loading->image);
    *image_word(&loading->slots, 0) = MARK_RESERVED;
    return HAFT_OK;
}

static haft_status read_packed_words(struct packed_loading *loading)
{
    const uint64_t *numbers = loading->image.numbers;
    const haft_status status = image_file_read_words(&loading->file, &loading->slots);

    if (status != HAFT_OK) {
        return status;
    }
    if (loading->slots.live != numbers[PACKED_COUNT]) {
        return is_wrong(loading, PACKED_COUNT);
    }
    if (loading->slots.exhausted != numbers[PACKED_EXHAUSTED]) {
        return is_wrong(loading, PACKED_EXHAUSTED);
    }
    return image_file_check_list(&loading->file, &loading->slots, numbers[PACKED_HEAD], PACKED_HEAD,
                                 number_texts[PACKED_HEAD]);
}

/* The slot whose object has the id; NULL: there is none. */
static haft_packed_slot *live_slot(const struct packed_loading *loading, uint64_t id)
{
    const uint64_t index = word_index(loading->slots.format, id);

    return index >= HAFT_FIRST_INDEX && index < loading->slots.end &&
                   *image_word(&loading->slots, index) == id
               ? (haft_packed_slot *)(void *)image_word(&loading->slots, index)
               : NULL;
}

/* A number of the body that names a slot is wrong; `before` numbers stand before it. */
static haft_status wrong_name(const struct packed_loading *loading, uint64_t before,
                              const char *what)
{
    return saved_fault(loading->file.file, HAFT_DAMAGED,
                       saved_offset_of_byte(before * sizeof(uint64_t)), what);
}

/* Each live slot has one position; `position` and `death` of its struct begin as 0. */
static haft_status read_ids(struct packed_loading *loading)
{
    haft_id *ids = (haft_id *)(void *)loading->image.parts[PACKED_IDS].at;

    for (uint64_t i = 0; i < loading->image.numbers[PACKED_COUNT]; i++) {
        const haft_status status =
            saved_read_number(loading->file.saved, &ids[i].bits, "an object's id");
        haft_packed_slot *slot = status == HAFT_OK ? live_slot(loading, ids[i].bits) : NULL;

        if (status != HAFT_OK) {
            return status;
        }
        if (slot == NULL || slot->position != 0 || (i != 0 && ids[0].bits == ids[i].bits)) {
            return wrong_name(loading, loading->image.numbers[PACKED_USED] + i, "an object's id");
        }
        slot->position = (uint32_t)i;
    }
    return HAFT_OK;
}

static haft_status read_dead(struct packed_loading *loading)
{
    const uint64_t *numbers = loading->image.numbers;
    uint32_t *dead = (uint32_t *)(void *)loading->image.parts[PACKED_PART_DEAD].at;

    for (uint64_t i = 0; i < numbers[PACKED_DEAD]; i++) {
        uint64_t index = 0;
        const haft_status status =
            saved_read_number(loading->file.saved, &index, "a dead object's slot");

        if (status != HAFT_OK) {
            return status;
        }
        /* No free slot's word is a live id: the next slot in its list is free. */
        haft_packed_slot *slot = index < loading->slots.end
                                     ? live_slot(loading, *image_word(&loading->slots, index))
                                     : NULL;

        if (slot == NULL || slot->death != 0) {
            return wrong_name(loading, numbers[PACKED_USED] + numbers[PACKED_COUNT] + i,
                              "a dead object's slot");
        }
        dead[i] = (uint32_t)index;
        slot->death = (uint32_t)i + 1;
    }
    return HAFT_OK;
}

static haft_status read_packed_objects(struct packed_loading *loading)
{
    haft_status status = HAFT_OK;
    char *at = loading->image.parts[PACKED_OBJECTS].at;

    for (uint64_t i = 0; i < loading->image.numbers[PACKED_COUNT] && status == HAFT_OK; i++) {
        status = image_file_read_object(&loading->file, at);
        at += loading->file.object_size;
    }
    return status;
}

static haft_status read_packed(struct packed_loading *loading)
{
    haft_status (*const steps[])(struct packed_loading *) = {
        read_packed_head, get_packed_memory, read_packed_words,
        read_ids,         read_dead,         read_packed_objects,
    };
    haft_status status = HAFT_OK;

    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == HAFT_OK; i++) {
        status = steps[i](loading);
    }
    return status;
}

static haft_status load_packed(haft_packed *packed, haft_file *file)
{
    struct packed_loading loading = {.packed = packed};
    haft_status status = packed_check_moment(packed);

    if (status == HAFT_OK) {
        status =
            image_file_open(&loading.file, file, packed->view.object_size, &packed->slots.heap);
    }
    if (status != HAFT_OK) {
        return status;
    }
    status = read_packed(&loading);
    if (status == HAFT_OK) {
        status = packed_prepare(packed, loading.image.numbers);
    }
    if (status == HAFT_OK) {
        packed_become(packed, &loading.image);
    }
    for (int part = 0; part < IMAGE_PARTS; part++) {
        heap_give(&packed->slots.heap, loading.image.parts[part].at,
                  (size_t)loading.image.parts[part].bytes + 1);
    }
    image_file_close(&loading.file);
    return status;
}

haft_status haft_packed_load(haft_packed *packed, haft_file *file)
{
    const int cancel = os_cancel_off();
    const haft_status status = load_packed(packed, file);

    os_cancel_restore(cancel);
    return status;
}
