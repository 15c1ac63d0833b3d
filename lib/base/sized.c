/* Options structs of callers that were compiled with another version. */
#include "lib/base/sized.h"
#include <string.h>

haft_status sized_take(void *known, size_t known_size, const void *given, size_t given_size)
{
    const unsigned char *bytes = given;
    const size_t size = given == NULL ? 0 : given_size;
    const size_t common = size < known_size ? size : known_size;

    for (size_t at = common; at < size; at++) {
        if (bytes[at] != 0) {
            return HAFT_UNKNOWN_OPTION;
        }
    }
    memset(known, 0, known_size);
    if (common != 0) {
        memcpy(known, given, common);
    }
    return HAFT_OK;
}
