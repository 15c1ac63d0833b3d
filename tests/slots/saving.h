/*
 * tests/slots/saving.h - what the tests of saved tables share: files in memory, and changes to them
 * with checksums that are right.
 */
#ifndef HAFT_TESTS_SAVING_H
#define HAFT_TESTS_SAVING_H

#include "tests/support.h"
#include <haft/kit/snapshot.h>

struct bytes {
    unsigned char *at;
    size_t size;
    size_t read;
    size_t most;    /* that can be written */
    bool has_ended; /* a call was refused: there is no other */
};

/* A file of `bytes`, read from the start; written behind them. */
haft_file file_of(struct bytes *bytes);

haft_status save(struct subject *subject, haft_file *file);
haft_status load(struct subject *subject, haft_file *file);

/* The file of a table. */
struct bytes saved_of(struct subject *subject);
void bytes_end(struct bytes *bytes);

/* Objects, holes and dead ids: where `ids` live, their objects hold 7 times their place. */
void fill_with_holes(struct subject *subject, haft_id *ids, int count);
void expect_filled(const struct subject *subject, const haft_id *ids, int count);

/* --- files that are made up --- */

/* Where in the file a number of the head stands that is the table's, and a byte of the body. */
size_t number_offset(int number);
size_t body_offset(size_t byte);

/* Of the word of the slot with that index, in a file without page runs. */
size_t word_offset(uint64_t index);

/* Blocks of the body, each with its checksum. */
size_t blocks_in(const struct bytes *bytes);

/* Where a block of the body ends, with its checksum. */
size_t block_end(const struct bytes *bytes, size_t block);

uint64_t number_at(const struct bytes *bytes, size_t offset);

/* A number at that offset, and the checksums again. */
void set_number(struct bytes *bytes, size_t offset, uint64_t number);

/* Loading is refused, as damage of what `what` says, and changes nothing. */
void expect_refused_for(struct subject *subject, struct bytes *bytes, const char *what);

/* The same with another number at that offset, which then is what it was before. */
void expect_refused(struct subject *subject, struct bytes *bytes, size_t offset, uint64_t number,
                    const char *what);

#endif /* HAFT_TESTS_SAVING_H */
