/*
 * text.h - numbers as people read them.  Each text is good until the eighth call after it; one
 * thread.
 */
#ifndef EXAMPLES_SCREEN_TEXT_H
#define EXAMPLES_SCREEN_TEXT_H

#include <stdint.h>

/* With commas between groups of three digits. */
const char *grouped(uint64_t number);

/* "s", but "" for 1. */
const char *plural(uint64_t number);

/* A time, and a number of bytes: three digits in the unit that reads best. */
const char *duration(uint64_t ns);
const char *byte_count(uint64_t bytes);

#endif /* EXAMPLES_SCREEN_TEXT_H */
