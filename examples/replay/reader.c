#include "reader.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Two numbers of 20 digits, two commas and an op leave room for leading zeros. */
enum { MAX_LENGTH = 80 };

struct reader {
    gzFile file;
    char *path;
    uint64_t line;
    unsigned at; /* how much of the line has been parsed */
    unsigned length;
    char text[MAX_LENGTH];
};

struct reader *reader_open(const char *path, struct failure *failure)
{
    errno = 0;
    gzFile file = gzopen(path, "rb");

    if (file == NULL) {
        fail(failure, EXIT_REFUSED, "%s: %s", path, strerror(errno != 0 ? errno : ENOMEM));
        return NULL;
    }
    gzbuffer(file, 1 << 16);
    struct reader *reader = replay_allocate(1, sizeof *reader);

    reader->file = file;
    reader->path = replay_copy_text(path);
    return reader;
}

void reader_close(struct reader *reader)
{
    gzclose(reader->file);
    free(reader->path);
    free(reader);
}

uint64_t reader_line(const struct reader *reader)
{
    return reader->line;
}

bool reader_refuse(const struct reader *reader, unsigned column, struct failure *failure,
                   const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *message = replay_text_of(format, arguments);
    va_end(arguments);
    fail(failure, EXIT_REFUSED, "%s:%" PRIu64 ":%u: %s", reader->path, reader->line, column,
         message);
    free(message);
    return false;
}

/* --- lines --- */

/* After the last byte: true at a real end, false with `failure` set where the data break off. */
static bool ended_well(const struct reader *reader, struct failure *failure)
{
    int code = Z_OK;
    const char *reason = gzerror(reader->file, &code);

    if (code == Z_OK || code == Z_STREAM_END) {
        return true;
    }
    if (code == Z_ERRNO) {
        return fail(failure, EXIT_REFUSED, "%s: %s", reader->path, strerror(errno));
    }
    if (code == Z_BUF_ERROR) {
        return reader_refuse(reader, reader->length + 1, failure,
                             "the gzip data break off here: the file is cut short");
    }
    /* zlib's reason begins with the path. */
    const char *colon =
        strncmp(reason, reader->path, strlen(reader->path)) == 0 ? strstr(reason, ": ") : NULL;

    return reader_refuse(reader, reader->length + 1, failure, "the gzip data are damaged: %s",
                         colon != NULL ? colon + 2 : reason);
}

/* Reads a line into `text`.  Of a comment only the beginning is kept. */
static enum reading read_line(struct reader *reader, struct failure *failure)
{
    int byte;

    reader->line++;
    reader->at = 0;
    reader->length = 0;
    errno = 0;
    while ((byte = gzgetc(reader->file)) != -1 && byte != '\n') {
        if (reader->length < MAX_LENGTH) {
            reader->text[reader->length++] = (char)byte;
        } else if (reader->text[0] != '#') {
            reader_refuse(reader, MAX_LENGTH + 1, failure, "the line is longer than %d characters",
                          MAX_LENGTH);
            return READ_FAILED;
        }
    }
    if (byte == -1 && !ended_well(reader, failure)) {
        return READ_FAILED;
    }
    const bool anything = byte == '\n' || reader->length != 0;

    if (reader->length != 0 && reader->text[reader->length - 1] == '\r') {
        reader->length--;
    }
    return anything ? READ_ROW : READ_END;
}

/* --- fields --- */

static const char row_form[] = "a row is thread,op,object";

/* "not 'x'" or "not byte 0x07", for the byte at the cursor. */
static const char *not_this(const struct reader *reader, char text[16])
{
    const char byte = reader->text[reader->at];

    snprintf(text, 16, isprint((unsigned char)byte) ? "not '%c'" : "not byte 0x%02x",
             (unsigned char)byte);
    return text;
}

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static bool parse_number(struct reader *reader, const char *what, uint64_t *number,
                         struct failure *failure)
{
    const unsigned begin = reader->at;
    char found[16];

    if (reader->at == reader->length) {
        return reader_refuse(reader, begin + 1, failure, "the %s is missing: %s", what, row_form);
    }
    if (!is_digit(reader->text[begin])) {
        return reader_refuse(reader, begin + 1, failure, "the %s must be a number, %s", what,
                             not_this(reader, found));
    }
    for (*number = 0; reader->at < reader->length && is_digit(reader->text[reader->at]);
         reader->at++) {
        const uint64_t digit = (uint64_t)(reader->text[reader->at] - '0');

        if (*number > (UINT64_MAX - digit) / 10) {
            return reader_refuse(reader, begin + 1, failure, "the %s is larger than %" PRIu64, what,
                                 UINT64_MAX);
        }
        *number = 10 * *number + digit;
    }
    return true;
}

static bool parse_comma(struct reader *reader, const char *after, struct failure *failure)
{
    char found[16];

    if (reader->at == reader->length) {
        return reader_refuse(reader, reader->at + 1, failure, "the line ends after the %s: %s",
                             after, row_form);
    }
    if (reader->text[reader->at] != ',') {
        return reader_refuse(reader, reader->at + 1, failure, "',' must follow the %s, %s", after,
                             not_this(reader, found));
    }
    reader->at++;
    return true;
}

static bool parse_op(struct reader *reader, enum op *op, struct failure *failure)
{
    char found[16];

    if (reader->at == reader->length) {
        return reader_refuse(reader, reader->at + 1, failure, "the op is missing: %s", row_form);
    }
    const char letter = reader->text[reader->at];

    if (letter != OP_ALLOCATE && letter != OP_USE && letter != OP_FREE) {
        return reader_refuse(reader, reader->at + 1, failure, "op must be a, u or f, %s",
                             not_this(reader, found));
    }
    *op = (enum op)letter;
    reader->at++;
    return true;
}

static bool parse_end(struct reader *reader, struct failure *failure)
{
    char found[16];

    return reader->at == reader->length ||
           reader_refuse(reader, reader->at + 1, failure,
                         "only the line's end may follow the object, %s", not_this(reader, found));
}

static bool parse_row(struct reader *reader, struct fields *fields, struct failure *failure)
{
    fields->thread_column = 1;
    if (!parse_number(reader, "thread", &fields->thread, failure) ||
        !parse_comma(reader, "thread", failure) || !parse_op(reader, &fields->op, failure) ||
        !parse_comma(reader, "op", failure)) {
        return false;
    }
    fields->object_column = reader->at + 1;
    return parse_number(reader, "object", &fields->object, failure) && parse_end(reader, failure);
}

enum reading reader_next(struct reader *reader, struct fields *fields, struct failure *failure)
{
    enum reading reading;

    do {
        reading = read_line(reader, failure);
    } while (reading == READ_ROW && (reader->length == 0 || reader->text[0] == '#'));
    if (reading == READ_ROW && !parse_row(reader, fields, failure)) {
        return READ_FAILED;
    }
    return reading;
}
