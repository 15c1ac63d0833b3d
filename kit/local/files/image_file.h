/*
 * kit/local/files/image_file.h - the file of a table's image: its head, the words of its slots, and
 * its objects.
 *
 *   head   1, the shape's numbers, bytes of an object, bytes of the body, the image's numbers
 *   body   what the kind of table says
 */
#ifndef HAFT_LIB_IMAGE_FILE_H
#define HAFT_LIB_IMAGE_FILE_H

#include "kit/local/files/saved.h"
#include "kit/local/snapshots/image.h"
#include "lib/slots/slots.h"

/* A table that is loaded or saved. */
struct image_file {
    haft_file *file;
    const haft_allocator *heap;
    uint64_t object_size;  /* in memory */
    uint64_t object_bytes; /* in the file */
    void *converted;       /* an object as it is in the file; NULL: nothing is converted */
    void *object;          /* while it is read: as it will be in memory, aligned as any may be */
    struct saved *saved;   /* too large for the stack */
};

/*
 * Look at the file's options, and have room for a block of the file and for objects to be converted
 * in: HAFT_OK, HAFT_UNKNOWN_OPTION or HAFT_NO_MEMORY.  image_file_close() ends what is HAFT_OK.
 */
haft_status image_file_open(struct image_file *image_file, haft_file *file, uint64_t object_size,
                            const haft_allocator *heap);
void image_file_close(struct image_file *image_file);

/* Write the head.  HAFT_OK or HAFT_NO_FILE. */
haft_status image_file_begin_write(struct image_file *image_file, const struct shape *shape,
                                   const uint64_t *numbers, uint64_t body);

/*
 * Read the head of a file for a table of that shape, whose numbers have these names.  HAFT_OK, the
 * image's numbers and the bytes of the body; HAFT_DAMAGED, HAFT_OTHER_TABLE.
 */
haft_status image_file_read_head(struct image_file *image_file, const struct shape *shape,
                                 const char *const *names, uint64_t *numbers, uint64_t *body);

/* The image's number is wrong: HAFT_DAMAGED. */
haft_status image_file_wrong_number(const struct image_file *image_file, uint64_t number,
                                    const char *name);

/* Write and read an object, as haft_file says. */
haft_status image_file_write_object(struct image_file *image_file, const void *object);
haft_status image_file_read_object(struct image_file *image_file, void *object);

/* --- slots: their words, from the first index on --- */

/* What words are there, and where. */
struct image_slots {
    const struct word_format *format;
    char *base; /* of slot 0's word */
    uint64_t stride;
    uint64_t end;      /* one more than the highest index */
    uint64_t at;       /* the byte of the body where the first word stands */
    bool may_be_fresh; /* words may be 0 */
    uint64_t live, exhausted, fresh, free;
    uint64_t tail; /* the last free slot */
};

static inline uint64_t *image_word(const struct image_slots *slots, uint64_t index)
{
    return (uint64_t *)(void *)(slots->base + index * slots->stride);
}

haft_status image_file_write_words(struct image_file *image_file, const struct image_slots *slots);

/* Read the words, each of which is right as far as it tells, and count them. */
haft_status image_file_read_words(struct image_file *image_file, struct image_slots *slots);

/* The list from `head` on has each free slot once; `number` of the image is the head. */
haft_status image_file_check_list(const struct image_file *image_file, struct image_slots *slots,
                                  uint64_t head, uint64_t number, const char *name);

/* Whether `word` is the first generation, or a floor: a generation and the tag alone. */
bool image_is_beginning(const struct word_format *format, uint64_t word);

#endif /* HAFT_LIB_IMAGE_FILE_H */
