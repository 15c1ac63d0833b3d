/* lib/slots/options.h - the options that all tables have in common: defaults and checks. */
#ifndef HAFT_LIB_OPTIONS_H
#define HAFT_LIB_OPTIONS_H

#include "lib/base/sized.h"
#include <haft/detail/options.h>

#define MAX_ALIGNMENT 4096u /* of objects */

/* How objects lie: each in its slot, or in an array of their own without gaps. */
enum options_shape { IN_SLOTS, PACKED };

struct common_options {
    HAFT_COMMON_OPTIONS;
};

/* Options of each kind of table begin with the common ones: a copy of these bytes is them. */
#define OPTIONS_BEGIN_WITH_COMMON(type)                                                            \
    _Static_assert(offsetof(type, name) == 0 &&                                                    \
                       offsetof(type, reserved) == offsetof(struct common_options, reserved) &&    \
                       sizeof(type) >= sizeof(struct common_options),                              \
                   "the common options come first, all of them")

/*
 * The alignment of objects in slots where the option is 0: as malloc() would align them, and at
 * least a word's.  Objects of a packed table lie without gaps, and so as their size wants it.
 */
size_t options_usual_alignment(size_t object_size);

/*
 * Check the common options that `table_options` (a haft_local_options and so on) begins with.
 * HAFT_OK, the options with their defaults filled in, and the highest capacity that the layout
 * allows; or the status of the option that is out of range.
 */
haft_status options_check(const void *table_options, enum options_shape shape,
                          struct common_options *common, uint64_t *most);

/* The first generation of a table with these options, which were checked: theirs, random, or 1. */
uint64_t options_first_generation(const struct common_options *options);

#endif /* HAFT_LIB_OPTIONS_H */
