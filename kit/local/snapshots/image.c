/* Images of tables: memory that is mostly equal already. */
#include "kit/local/snapshots/image.h"
#include <string.h>

void image_put(char *to, const char *from, uint64_t bytes)
{
    uint64_t at = 0;

    for (; at + IMAGE_BLOCK <= bytes; at += IMAGE_BLOCK) {
        if (image_differs(to + at, from + at)) {
            memcpy(to + at, from + at, IMAGE_BLOCK);
        }
    }
    if (at < bytes) {
        memcpy(to + at, from + at, (size_t)(bytes - at));
    }
}

void image_clear(char *at, uint64_t bytes)
{
    static const uint64_t zeros[IMAGE_BLOCK / sizeof(uint64_t)];

    for (; bytes >= IMAGE_BLOCK; bytes -= IMAGE_BLOCK, at += IMAGE_BLOCK) {
        image_put(at, (const char *)zeros, IMAGE_BLOCK);
    }
    if (bytes != 0) {
        memset(at, 0, (size_t)bytes);
    }
}
