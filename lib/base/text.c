/* Lines of text put together. */
#include "lib/base/text.h"
#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#define NS_PER_MS UINT64_C(1000000)

struct text text_in(char *begin, size_t size)
{
    const struct text text = {begin, size, 0};

    if (size != 0) {
        *begin = '\0';
    }
    return text;
}

void text_add_list(struct text *text, const char *format, va_list arguments)
{
    assert(text->begin != NULL || text->size == 0);
    const size_t used = text->length < text->size ? text->length : text->size;
    const int added = vsnprintf(used < text->size ? text->begin + used : NULL, text->size - used,
                                format, arguments);

    text->length += added > 0 ? (size_t)added : 0;
}

void text_add(struct text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    text_add_list(text, format, arguments);
    va_end(arguments);
}

void text_add_count(struct text *text, uint64_t count)
{
    uint64_t unit = 1;

    while (count / unit >= 1000) {
        unit *= 1000;
    }
    assert(count / unit < 1000);
    text_add(text, "%" PRIu64, count / unit);
    while (unit > 1) {
        unit /= 1000;
        text_add(text, ",%03" PRIu64, count / unit % 1000);
    }
}

void text_add_counted(struct text *text, uint64_t count, const char *one)
{
    text_add_count(text, count);
    text_add(text, " %s%s", one, count == 1 ? "" : "s");
}

void text_add_time(struct text *text, uint64_t ns)
{
    const uint64_t ms = ns / NS_PER_MS;

    if (ms < 1000) {
        text_add(text, "%" PRIu64 " ms", ms);
    } else {
        text_add(text, "%" PRIu64 ".%" PRIu64 " s", ms / 1000, ms / 100 % 10);
    }
}

int text_length(const struct text *text)
{
    return text->length < INT_MAX ? (int)text->length : INT_MAX;
}
