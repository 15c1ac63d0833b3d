/* Saved tables as bytes in memory. */
#include "tests/slots/saving.h"
#include <stdlib.h>
#include <string.h>

static bool put(const void *bytes, size_t size, void *arg)
{
    struct bytes *to = arg;

    must(!to->has_ended);
    if (to->most - to->size < size) {
        to->has_ended = true;
        return false;
    }
    to->at = realloc(to->at, to->size + size);
    memcpy(to->at + to->size, bytes, size);
    to->size += size;
    return true;
}

static bool get(void *bytes, size_t size, void *arg)
{
    struct bytes *from = arg;

    must(!from->has_ended);
    if (from->size - from->read < size) {
        from->has_ended = true;
        return false;
    }
    memcpy(bytes, from->at + from->read, size);
    from->read += size;
    return true;
}

haft_status save(struct subject *subject, haft_file *file)
{
    return subject->packed != NULL ? haft_packed_save(subject->packed, file)
                                   : haft_local_save(subject->local, file);
}

haft_status load(struct subject *subject, haft_file *file)
{
    return subject->packed != NULL ? haft_packed_load(subject->packed, file)
                                   : haft_local_load(subject->local, file);
}

haft_file file_of(struct bytes *bytes)
{
    bytes->read = 0;
    bytes->most = SIZE_MAX;
    bytes->has_ended = false;
    return (haft_file){.write = put, .read = get, .arg = bytes};
}

void bytes_end(struct bytes *bytes)
{
    free(bytes->at);
}

struct bytes saved_of(struct subject *subject)
{
    struct bytes bytes = {.at = NULL};
    haft_file file = file_of(&bytes);

    assert_status(save(subject, &file), HAFT_OK);
    cr_assert(eq(u64, file.offset, bytes.size));
    return bytes;
}

void fill_with_holes(struct subject *subject, haft_id *ids, int count)
{
    for (int i = 0; i < count; i++) {
        const uint64_t object[3] = {(uint64_t)i * 7, 1, 2};

        assert_status(subject_insert(subject, object, &ids[i]), HAFT_OK);
    }
    for (int i = 0; i < count; i += 3) {
        assert_status(subject_free(subject, ids[i]), HAFT_OK);
    }
}

void expect_filled(const struct subject *subject, const haft_id *ids, int count)
{
    for (int i = 0; i < count; i++) {
        const uint64_t *object = subject_find(subject, ids[i]);

        cr_expect(eq(int, object != NULL, i % 3 != 0));
        cr_expect(object == NULL || object[0] == (uint64_t)i * 7);
    }
}

/* --- files that are made up --- */

#define BODY 260          /* bytes before it */
#define BEFORE_NUMBERS 13 /* numbers of the head that all tables have */
#define BLOCK 4096
#define CHECKSUM 4

static uint32_t checksum(const unsigned char *from, size_t size)
{
    uint32_t sum = UINT32_MAX;

    for (size_t i = 0; i < size; i++) {
        sum ^= from[i];
        for (int bit = 0; bit < 8; bit++) {
            sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320 : 0);
        }
    }
    return ~sum;
}

size_t number_offset(int number)
{
    return 8 + 8 * (BEFORE_NUMBERS + (size_t)number);
}

size_t body_offset(size_t byte)
{
    return BODY + byte / BLOCK * (BLOCK + CHECKSUM) + byte % BLOCK;
}

size_t word_offset(uint64_t index)
{
    return body_offset((size_t)(index - HAFT_FIRST_INDEX) * 8);
}

size_t blocks_in(const struct bytes *bytes)
{
    return (bytes->size - BODY + BLOCK + CHECKSUM - 1) / (BLOCK + CHECKSUM);
}

size_t block_end(const struct bytes *bytes, size_t block)
{
    const size_t end = BODY + (block + 1) * (BLOCK + CHECKSUM);

    return end < bytes->size ? end : bytes->size;
}

uint64_t number_at(const struct bytes *bytes, size_t offset)
{
    uint64_t number;

    memcpy(&number, bytes->at + offset, sizeof number);
    return number;
}

/* The checksum of the bytes before `end` is right. */
static void seal(struct bytes *bytes, size_t begin, size_t end)
{
    const uint32_t sum = checksum(bytes->at + begin, end - CHECKSUM - begin);

    memcpy(bytes->at + end - CHECKSUM, &sum, sizeof sum);
}

void set_number(struct bytes *bytes, size_t offset, uint64_t number)
{
    memcpy(bytes->at + offset, &number, sizeof number);
    if (offset < BODY) {
        seal(bytes, 0, BODY);
    } else {
        const size_t block = (offset - BODY) / (BLOCK + CHECKSUM);

        seal(bytes, body_offset(block * BLOCK), block_end(bytes, block));
    }
}

void expect_refused_for(struct subject *subject, struct bytes *bytes, const char *what)
{
    const uint64_t live = subject_live(subject);
    haft_file file = file_of(bytes);

    expect_status(load(subject, &file), HAFT_DAMAGED);
    cr_expect(file.what != NULL && strcmp(file.what, what) == 0, "%s, not %s", file.what, what);
    cr_expect(eq(u64, subject_live(subject), live));
}

void expect_refused(struct subject *subject, struct bytes *bytes, size_t offset, uint64_t number,
                    const char *what)
{
    const uint64_t before = number_at(bytes, offset);

    set_number(bytes, offset, number);
    expect_refused_for(subject, bytes, what);
    set_number(bytes, offset, before);
    haft_file file = file_of(bytes);

    expect_status(load(subject, &file), HAFT_OK);
}
