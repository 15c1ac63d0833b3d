#include "failure.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool fail(struct failure *failure, enum replay_exit code, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    *failure = (struct failure){code, replay_text_of(format, arguments)};
    va_end(arguments);
    return false;
}

void failure_clear(struct failure *failure)
{
    free(failure->message);
    *failure = (struct failure){.message = NULL};
}

/* Allocates nothing, since memory may be lacking; writes once, since other threads may print. */
void replay_give_up(const char *format, ...)
{
    char message[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    fprintf(stderr, "replay: %s\n", message);
    _Exit(EXIT_SYSTEM);
}

static void *or_give_up(void *memory)
{
    if (memory == NULL) {
        replay_give_up("no memory");
    }
    return memory;
}

/* Never of 0 bytes, for which NULL would be no failure. */
void *replay_allocate(size_t count, size_t size)
{
    return or_give_up(calloc(count != 0 ? count : 1, size));
}

void *replay_reallocate(void *memory, size_t count, size_t size)
{
    return or_give_up(count <= SIZE_MAX / size ? realloc(memory, count * size) : NULL);
}

char *replay_copy_text(const char *text)
{
    return or_give_up(strdup(text));
}

char *replay_text_of(const char *format, va_list arguments)
{
    char *text;

    if (vasprintf(&text, format, arguments) < 0) {
        replay_give_up("no memory");
    }
    return text;
}
