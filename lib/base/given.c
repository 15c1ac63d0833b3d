/* Memory that the program has given. */
#include "lib/base/given.h"
#include "lib/base/asan.h"
#include <assert.h>
#include <string.h>

struct given given_of(void *memory, uint64_t size)
{
    return (struct given){memory, size, 0};
}

bool given_suffices(const struct given *given, uint64_t needed)
{
    return given->at != NULL ? given->left >= needed : given->left == 0;
}

bool given_is_possible(uint64_t bytes)
{
    return bytes <= PTRDIFF_MAX;
}

struct given given_to_measure(void)
{
    return (struct given){NULL, UINT64_MAX, 0};
}

static void *measure(struct given *given, uint64_t size, uint64_t alignment)
{
    static char somewhere; /* read by no call */
    const uint64_t most = size + alignment - 1;

    if (size > UINT64_MAX - alignment || most > given->left) {
        return NULL;
    }
    given->left -= most;
    given->measured += most;
    return &somewhere;
}

void *given_take(struct given *given, uint64_t size, uint64_t alignment)
{
    assert(alignment != 0 && (alignment & (alignment - 1)) == 0);
    if (given->at == NULL) {
        return measure(given, size, alignment);
    }
    const uint64_t before = (alignment - (uintptr_t)given->at % alignment) % alignment;

    if (before > given->left || size > given->left - before) {
        return NULL;
    }
    char *taken = given->at + before;

    given->at = taken + size;
    given->left -= before + size;
    assert((uintptr_t)taken % alignment == 0);
    asan_unpoison(taken, (size_t)size);
    return memset(taken, 0, (size_t)size);
}
