/*
 * measure.h - the bytes and lines of one file.
 */
#ifndef LEVEL_LOAD_MEASURE_H
#define LEVEL_LOAD_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

struct measure {
    uint64_t bytes;
    uint64_t lines; /* line ends, as wc -l counts them */
    bool readable;  /* if not, the others are 0 */
};

struct measure measure_file(const char *path);

#endif /* LEVEL_LOAD_MEASURE_H */
