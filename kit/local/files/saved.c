/* The file of a saved table. */
#include "kit/local/files/saved.h"
#include "kit/local/status/kit_status.h"
#include <string.h>

static const unsigned char first_bytes[8] = {0x89, 'h', 'a', 'f', 't', '\r', '\n', 0x1a};

#define CHECKSUM 4 /* bytes */

/* The CRC-32 of IEEE 802.3, four bits at a time. */
static uint32_t checksum_of(const unsigned char *bytes, uint64_t size)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
        0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
        0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };
    uint32_t sum = UINT32_MAX;

    for (uint64_t i = 0; i < size; i++) {
        sum ^= bytes[i];
        sum = sum >> 4 ^ table[sum & 15];
        sum = sum >> 4 ^ table[sum & 15];
    }
    return ~sum;
}

static void put_number(unsigned char *to, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        to[i] = (unsigned char)(number >> 8 * i);
    }
}

static uint64_t get_number(const unsigned char *from, int bytes)
{
    uint64_t number = 0;

    for (int i = bytes; i-- > 0;) {
        number = number << 8 | from[i];
    }
    return number;
}

#define HEAD_SIZE (sizeof first_bytes + SAVED_HEAD_NUMBERS * sizeof(uint64_t))

uint64_t saved_offset_of_number(uint64_t number)
{
    return sizeof first_bytes + number * sizeof(uint64_t);
}

uint64_t saved_offset_of_byte(uint64_t byte)
{
    return HEAD_SIZE + CHECKSUM + byte / SAVED_BLOCK * (SAVED_BLOCK + CHECKSUM) +
           byte % SAVED_BLOCK;
}

haft_status saved_fault(haft_file *file, haft_status status, uint64_t offset, const char *what)
{
    file->offset = offset;
    file->what = what;
    return kit_status(status);
}

/* --- writing --- */

/* Write `size` bytes with their checksum, for which there is room behind them. */
static haft_status write_checked(haft_file *file, unsigned char *bytes, uint64_t size)
{
    put_number(bytes + size, checksum_of(bytes, size), CHECKSUM);
    if (!file->write(bytes, (size_t)size + CHECKSUM, file->arg)) {
        return saved_fault(file, HAFT_NO_FILE, file->offset, "bytes that were not written");
    }
    file->offset += size + CHECKSUM;
    return HAFT_OK;
}

/* Member by member: a copy of the whole would lie on the stack. */
static void begin(struct saved *saved, haft_file *file, uint64_t bytes)
{
    saved->file = file;
    saved->left = bytes;
    saved->filled = saved->at = 0;
}

haft_status saved_begin_write(struct saved *saved, haft_file *file, const struct saved_head *head,
                              uint64_t bytes)
{
    begin(saved, file, bytes);
    file->offset = 0;
    file->what = NULL;
    memcpy(saved->block, first_bytes, sizeof first_bytes);
    for (uint64_t i = 0; i < SAVED_HEAD_NUMBERS; i++) {
        put_number(saved->block + saved_offset_of_number(i), head->numbers[i], sizeof(uint64_t));
    }
    return write_checked(file, saved->block, HEAD_SIZE);
}

haft_status saved_write(struct saved *saved, const void *bytes, uint64_t size)
{
    const unsigned char *from = bytes;

    while (size != 0) {
        const uint64_t room = SAVED_BLOCK - saved->filled;
        const uint64_t part = size < room ? size : room;

        memcpy(saved->block + saved->filled, from, (size_t)part);
        saved->filled += part;
        saved->left -= part;
        from += part;
        size -= part;
        if (saved->filled == SAVED_BLOCK || saved->left == 0) {
            const haft_status status = write_checked(saved->file, saved->block, saved->filled);

            saved->filled = 0;
            if (status != HAFT_OK) {
                return status;
            }
        }
    }
    return HAFT_OK;
}

haft_status saved_write_number(struct saved *saved, uint64_t number)
{
    unsigned char bytes[sizeof number];

    put_number(bytes, number, sizeof number);
    return saved_write(saved, bytes, sizeof bytes);
}

/* --- reading --- */

/* Read `size` bytes with their checksum, for which there is room behind them. */
static haft_status read_checked(haft_file *file, unsigned char *bytes, uint64_t size)
{
    if (!file->read(bytes, (size_t)size + CHECKSUM, file->arg)) {
        return saved_fault(file, HAFT_DAMAGED, file->offset, "the file is cut off in here");
    }
    if (get_number(bytes + size, CHECKSUM) != checksum_of(bytes, size)) {
        return saved_fault(file, HAFT_DAMAGED, file->offset,
                           "the checksum of the bytes from here on is wrong");
    }
    file->offset += size + CHECKSUM;
    return HAFT_OK;
}

haft_status saved_read_head(haft_file *file, struct saved_head *head)
{
    unsigned char bytes[HEAD_SIZE + CHECKSUM] = {0};

    file->offset = 0;
    file->what = NULL;
    const haft_status status = read_checked(file, bytes, HEAD_SIZE);

    if (status == HAFT_DAMAGED && memcmp(bytes, first_bytes, sizeof first_bytes) != 0) {
        file->what = "no saved table begins like this";
    }
    for (uint64_t i = 0; i < SAVED_HEAD_NUMBERS && status == HAFT_OK; i++) {
        head->numbers[i] = get_number(bytes + saved_offset_of_number(i), sizeof(uint64_t));
    }
    return status;
}

void saved_begin_read(struct saved *saved, haft_file *file, uint64_t bytes)
{
    begin(saved, file, bytes);
}

static haft_status read_block(struct saved *saved, const char *what)
{
    const uint64_t size = saved->left < SAVED_BLOCK ? saved->left : SAVED_BLOCK;

    if (size == 0) {
        return saved_fault(saved->file, HAFT_DAMAGED, saved->file->offset, what);
    }
    saved->left -= size;
    saved->filled = size;
    saved->at = 0;
    return read_checked(saved->file, saved->block, size);
}

haft_status saved_read(struct saved *saved, void *bytes, uint64_t size, const char *what)
{
    unsigned char *to = bytes;

    while (size != 0) {
        const haft_status status = saved->at == saved->filled ? read_block(saved, what) : HAFT_OK;

        if (status != HAFT_OK) {
            return status;
        }
        const uint64_t there = saved->filled - saved->at;
        const uint64_t part = size < there ? size : there;

        memcpy(to, saved->block + saved->at, (size_t)part);
        saved->at += part;
        to += part;
        size -= part;
    }
    return HAFT_OK;
}

haft_status saved_read_number(struct saved *saved, uint64_t *number, const char *what)
{
    unsigned char bytes[sizeof *number];
    const haft_status status = saved_read(saved, bytes, sizeof bytes, what);

    if (status == HAFT_OK) {
        *number = get_number(bytes, sizeof *number);
    }
    return status;
}
