/* Copies and formatted strings in an arena. */
#include "kit/local/arena/state.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

void *haft_arena_copy(haft_arena *arena, const void *bytes, size_t size)
{
    void *copy = haft_arena_alloc(arena, size);

    if (copy != NULL && size != 0) {
        memcpy(copy, bytes, size);
    }
    return copy;
}

static char *copy_text(haft_arena *arena, const char *text, size_t length)
{
    char *copy = haft_arena_alloc_aligned(arena, length + 1, 1);

    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

char *haft_arena_strdup(haft_arena *arena, const char *text)
{
    return copy_text(arena, text, strlen(text));
}

char *haft_arena_strndup(haft_arena *arena, const char *text, size_t most)
{
    const char *end = memchr(text, '\0', most);

    return copy_text(arena, text, end != NULL ? (size_t)(end - text) : most);
}

/* --- formatted --- */

/* Formats into the free bytes of the block in use; the text is not allocated yet. */
static int format_ahead(struct arena *arena, const char *format, va_list arguments)
{
    char *next = arena->head.next;
    const size_t left = (size_t)(arena->block->end - next);
    const size_t room = left < INT_MAX ? left : INT_MAX; /* POSIX lets vsnprintf() refuse more */

    asan_unpoison(next, room);
    const int length = vsnprintf(next, room, format, arguments);

    asan_poison(next, room);
    return length;
}

char *haft_arena_vprintf(haft_arena *head, const char *format, va_list arguments)
{
    struct arena *arena = arena_of(head);
    const char *ahead = arena->head.next;
    va_list again;

    va_copy(again, arguments);
    const int length = format_ahead(arena, format, arguments);
    char *text = length < 0 ? NULL : haft_arena_alloc_aligned(head, (size_t)length + 1, 1);

    if (text != NULL && text != ahead) { /* it had no room there */
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    return text;
}

char *haft_arena_printf(haft_arena *arena, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *text = haft_arena_vprintf(arena, format, arguments);

    va_end(arguments);
    return text;
}
