/* lib/base/text.h - a line of text put together, cut where the room ends, as snprintf cuts. */
#ifndef HAFT_LIB_TEXT_H
#define HAFT_LIB_TEXT_H

#include <haft/detail/compiler.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *begin;
    size_t size;
    size_t length; /* of the whole line, without the final zero, cut or not */
};

/* An empty line in the `size` bytes at `begin`. */
struct text text_in(char *begin, size_t size);

void text_add(struct text *text, const char *format, ...) HAFT_PRINTF(2, 3);

void text_add_list(struct text *text, const char *format, va_list arguments) HAFT_PRINTF(2, 0);

/* A number with a comma between thousands. */
void text_add_count(struct text *text, uint64_t count);

/* A count and its noun: "1 object", "4,096 objects". */
void text_add_counted(struct text *text, uint64_t count, const char *one);

/* A time, to two or three digits: "350 ms", "1.2 s". */
void text_add_time(struct text *text, uint64_t ns);

/* The number that snprintf would return for the line. */
int text_length(const struct text *text);

#endif /* HAFT_LIB_TEXT_H */
