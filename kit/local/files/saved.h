/*
 * kit/local/files/saved.h - the file of a saved table: a head and a body in blocks, with checksums.
 *
 *   head    8 bytes that no text has, then numbers of 8 bytes; checksum
 *   body    blocks of 4,096 bytes, the last with the rest: bytes, checksum
 *
 * The first bytes are made as PNG's are: a transfer as text changes them.  A checksum is the CRC-32
 * of IEEE 802.3, as in zlib, of the bytes since the one before; it tells each error of up to 32
 * bits in a row.  All numbers are little-endian.
 */
#ifndef HAFT_LIB_SAVED_H
#define HAFT_LIB_SAVED_H

#include <haft/kit/snapshot.h>

#define SAVED_BLOCK 4096
#define SAVED_HEAD_NUMBERS 31 /* of each kind of table */

struct saved_head {
    uint64_t numbers[SAVED_HEAD_NUMBERS];
};

/* A body, on its way. */
struct saved {
    haft_file *file; /* its offset: that of the block in hand */
    uint64_t left;   /* bytes of the body that are not in a block yet */
    uint64_t filled; /* of the block in hand */
    uint64_t at;
    unsigned char block[SAVED_BLOCK + 4];
};

/* Where in the file a number of the head stands, and a byte of the body. */
uint64_t saved_offset_of_number(uint64_t number);
uint64_t saved_offset_of_byte(uint64_t byte);

/* The file is wrong, or could not be written: `what` is, or comes, at `offset`. */
haft_status saved_fault(haft_file *file, haft_status status, uint64_t offset, const char *what);

/* Write the head, and make ready for a body of that many bytes.  HAFT_OK or HAFT_NO_FILE. */
haft_status saved_begin_write(struct saved *saved, haft_file *file, const struct saved_head *head,
                              uint64_t bytes);

/* Write a piece of the body.  HAFT_OK or HAFT_NO_FILE. */
haft_status saved_write(struct saved *saved, const void *bytes, uint64_t size);
haft_status saved_write_number(struct saved *saved, uint64_t number);

/* Read a head.  HAFT_OK or HAFT_DAMAGED. */
haft_status saved_read_head(haft_file *file, struct saved_head *head);

/* Make ready to read a body of that many bytes behind the head. */
void saved_begin_read(struct saved *saved, haft_file *file, uint64_t bytes);

/* Read a piece of the body: `what` it is.  HAFT_OK or HAFT_DAMAGED. */
haft_status saved_read(struct saved *saved, void *bytes, uint64_t size, const char *what);
haft_status saved_read_number(struct saved *saved, uint64_t *number, const char *what);

#endif /* HAFT_LIB_SAVED_H */
