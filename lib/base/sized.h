/*
 * lib/base/sized.h - options structs of callers that were compiled with another version.
 *
 * A struct only grows, at its end, and a member that is zero is a default.  So a shorter struct
 * leaves the members beyond it at zero, and a longer one is understood if its additional members
 * are zero.
 */
#ifndef HAFT_LIB_SIZED_H
#define HAFT_LIB_SIZED_H

#include <haft/status.h>
#include <stddef.h>

/*
 * Copy the caller's options, `given_size` bytes, into the `known_size` bytes at `known`; NULL
 * stands for zeros.  HAFT_OK, or HAFT_UNKNOWN_OPTION if a byte beyond `known_size` is not zero.
 */
haft_status sized_take(void *known, size_t known_size, const void *given, size_t given_size);

#endif /* HAFT_LIB_SIZED_H */
