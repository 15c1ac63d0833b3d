/*
 * reader.h - a trace file, gzip or plain, as rows of three fields.
 *
 * Only the form of each line is looked at here; whether the rows make sense together is
 * trace.h's business.
 */
#ifndef REPLAY_READER_H
#define REPLAY_READER_H

#include "failure.h"
#include <stdint.h>

enum op { OP_ALLOCATE = 'a', OP_USE = 'u', OP_FREE = 'f' };

struct reader;

struct fields {
    uint64_t thread;
    uint64_t object;
    unsigned thread_column; /* where the fields begin, from 1 */
    unsigned object_column;
    enum op op;
};

enum reading { READ_ROW, READ_END, READ_FAILED };

/* NULL, with `failure` set, if the file cannot be opened. */
struct reader *reader_open(const char *path, struct failure *failure);
void reader_close(struct reader *reader);

/* The next row that is not empty or a comment; `failure` is set for READ_FAILED. */
enum reading reader_next(struct reader *reader, struct fields *fields, struct failure *failure);

/* The number of the line read last. */
uint64_t reader_line(const struct reader *reader);

/* Sets `failure` to "file:line:column: message" for the line read last.  Always returns false. */
bool reader_refuse(const struct reader *reader, unsigned column, struct failure *failure,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif /* REPLAY_READER_H */
