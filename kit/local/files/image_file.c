/* Images of tables in files. */
#include "kit/local/files/image_file.h"
#include <string.h>

/* Places of numbers in the head. */
enum { VERSION, SHAPE, OBJECT_BYTES = SHAPE + SHAPE_NUMBERS, BODY, NUMBERS };

#define THIS_VERSION 1

_Static_assert(NUMBERS + IMAGE_NUMBERS == SAVED_HEAD_NUMBERS, "a head has room for the numbers");

/* Whole multiples of any object's alignment; at least one, so that no memory is NULL. */
static size_t round_up_size(uint64_t size)
{
    return (size_t)(size / MAX_ALIGNMENT + 1) * MAX_ALIGNMENT;
}

static size_t block_size(const struct image_file *image_file)
{
    return round_up_size(image_file->object_bytes) + round_up_size(image_file->object_size);
}

/* Room for an object as it is in the file, and for one behind it as it will be in memory. */
static haft_status make_objects(struct image_file *image_file)
{
    char *block = NULL;

    if (image_file->object_bytes <= SIZE_MAX / 2) {
        block = heap_take(image_file->heap, block_size(image_file), MAX_ALIGNMENT);
        image_file->object = block != NULL ? block + round_up_size(image_file->object_bytes) : NULL;
    }
    image_file->converted = block;
    return block != NULL ? HAFT_OK : HAFT_NO_MEMORY;
}

haft_status image_file_open(struct image_file *image_file, haft_file *file, uint64_t object_size,
                            const haft_allocator *heap)
{
    *image_file = (struct image_file){
        .file = file,
        .heap = heap,
        .object_size = object_size,
        .object_bytes = file->convert != NULL ? file->converted_size : object_size,
    };
    if (file->reserved[0] != 0 || file->reserved[1] != 0) {
        return HAFT_UNKNOWN_OPTION;
    }
    image_file->saved = heap_take(heap, sizeof *image_file->saved, _Alignof(struct saved));
    haft_status status = image_file->saved != NULL ? HAFT_OK : HAFT_NO_MEMORY;

    if (status == HAFT_OK && file->convert != NULL) {
        status = make_objects(image_file);
    }
    if (status != HAFT_OK) {
        heap_give(heap, image_file->saved, sizeof *image_file->saved);
    }
    return status;
}

void image_file_close(struct image_file *image_file)
{
    heap_give(image_file->heap, image_file->converted, block_size(image_file));
    heap_give(image_file->heap, image_file->saved, sizeof *image_file->saved);
}

/* --- head --- */

haft_status image_file_begin_write(struct image_file *image_file, const struct shape *shape,
                                   const uint64_t *numbers, uint64_t body)
{
    struct saved_head head = {
        .numbers =
            {
                [VERSION] = THIS_VERSION,
                [OBJECT_BYTES] = image_file->object_bytes,
                [BODY] = body,
            },
    };

    memcpy(&head.numbers[SHAPE], shape->numbers, sizeof shape->numbers);
    memcpy(&head.numbers[NUMBERS], numbers, IMAGE_NUMBERS * sizeof numbers[0]);
    return saved_begin_write(image_file->saved, image_file->file, &head, body);
}

static haft_status other_table(const struct image_file *image_file, uint64_t number,
                               const char *name)
{
    return saved_fault(image_file->file, HAFT_OTHER_TABLE, saved_offset_of_number(number), name);
}

haft_status image_file_read_head(struct image_file *image_file, const struct shape *shape,
                                 const char *const *names, uint64_t *numbers, uint64_t *body)
{
    struct saved_head head;
    const haft_status status = saved_read_head(image_file->file, &head);

    if (status != HAFT_OK) {
        return status;
    }
    if (head.numbers[VERSION] != THIS_VERSION) {
        return other_table(image_file, VERSION, "version of the file");
    }
    for (uint64_t i = 0; i < SHAPE_NUMBERS; i++) {
        if (head.numbers[SHAPE + i] != shape->numbers[i]) {
            return other_table(image_file, SHAPE + i,
                               names[i] != NULL ? names[i] : "number that must be 0");
        }
    }
    if (head.numbers[OBJECT_BYTES] != image_file->object_bytes) {
        return other_table(image_file, OBJECT_BYTES, "bytes of an object in the file");
    }
    memcpy(numbers, &head.numbers[NUMBERS], IMAGE_NUMBERS * sizeof numbers[0]);
    *body = head.numbers[BODY];
    return HAFT_OK;
}

haft_status image_file_wrong_number(const struct image_file *image_file, uint64_t number,
                                    const char *name)
{
    return saved_fault(image_file->file, HAFT_DAMAGED, saved_offset_of_number(NUMBERS + number),
                       name);
}

/* --- objects --- */

haft_status image_file_write_object(struct image_file *image_file, const void *object)
{
    const haft_file *file = image_file->file;

    if (image_file->converted == NULL) {
        return saved_write(image_file->saved, object, image_file->object_bytes);
    }
    file->convert(image_file->converted, object, file->convert_arg);
    return saved_write(image_file->saved, image_file->converted, image_file->object_bytes);
}

haft_status image_file_read_object(struct image_file *image_file, void *object)
{
    const haft_file *file = image_file->file;
    void *to = image_file->converted != NULL ? image_file->converted : object;
    const haft_status status =
        saved_read(image_file->saved, to, image_file->object_bytes, "an object");

    if (status == HAFT_OK && image_file->converted != NULL) {
        memset(image_file->object, 0, (size_t)image_file->object_size);
        file->convert(image_file->object, image_file->converted, file->convert_arg);
        memcpy(object, image_file->object, (size_t)image_file->object_size);
    }
    return status;
}

/* --- words --- */

haft_status image_file_write_words(struct image_file *image_file, const struct image_slots *slots)
{
    haft_status status = HAFT_OK;

    for (uint64_t index = HAFT_FIRST_INDEX; index < slots->end && status == HAFT_OK; index++) {
        status = saved_write_number(image_file->saved, *image_word(slots, index));
    }
    return status;
}

/* The slot's word is wrong: HAFT_DAMAGED. */
static haft_status wrong_word(const struct image_file *image_file, const struct image_slots *slots,
                              uint64_t index)
{
    const uint64_t byte = slots->at + (index - HAFT_FIRST_INDEX) * sizeof(uint64_t);

    return saved_fault(image_file->file, HAFT_DAMAGED, saved_offset_of_byte(byte), "a slot's word");
}

bool image_is_beginning(const struct word_format *format, uint64_t word)
{
    return (word & ~format->generation_mask) == format->tag && word_generation(format, word) != 0;
}

/* Whether the word may stand in slot `index`, where it is counted. */
static bool count_word(struct image_slots *slots, uint64_t index, uint64_t word)
{
    const struct word_format *format = slots->format;
    const uint64_t field = word_index(format, word);
    const bool has_generation = image_is_beginning(format, word_with_index(format, word, 0));

    if (word == 0) {
        slots->fresh++;
        return slots->may_be_fresh;
    }
    if (field == index) {
        slots->live++;
        return has_generation;
    }
    if (field == MARK_EXHAUSTED) {
        slots->exhausted++;
        return word == (format->tag | MARK_EXHAUSTED);
    }
    slots->free++;
    return has_generation &&
           (field == MARK_END || (field >= HAFT_FIRST_INDEX && field < slots->end));
}

haft_status image_file_read_words(struct image_file *image_file, struct image_slots *slots)
{
    for (uint64_t index = HAFT_FIRST_INDEX; index < slots->end; index++) {
        uint64_t word;
        const haft_status status = saved_read_number(image_file->saved, &word, "a slot's word");

        if (status != HAFT_OK) {
            return status;
        }
        if (!count_word(slots, index, word)) {
            return wrong_word(image_file, slots, index);
        }
        *image_word(slots, index) = word;
    }
    return HAFT_OK;
}

/* Whether the slot may be in the list. */
static bool is_listed(const struct image_slots *slots, uint64_t index)
{
    if (index < HAFT_FIRST_INDEX || index >= slots->end) {
        return false;
    }
    const uint64_t word = *image_word(slots, index);
    const uint64_t field = word_index(slots->format, word);

    return word != 0 && field != index && field != MARK_EXHAUSTED;
}

haft_status image_file_check_list(const struct image_file *image_file, struct image_slots *slots,
                                  uint64_t head, uint64_t number, const char *name)
{
    uint64_t met = 0;

    slots->tail = MARK_END;
    for (uint64_t at = head; at != MARK_END || met != slots->free;) {
        /* A circle meets more slots than there are. */
        if (met == slots->free || !is_listed(slots, at)) {
            return slots->tail == MARK_END ? image_file_wrong_number(image_file, number, name)
                                           : wrong_word(image_file, slots, slots->tail);
        }
        met++;
        slots->tail = at;
        at = word_index(slots->format, *image_word(slots, at));
    }
    return HAFT_OK;
}
