/* lib/slots/geometry.h - how the slots of a table lie in memory, and how much they take. */
#ifndef HAFT_LIB_GEOMETRY_H
#define HAFT_LIB_GEOMETRY_H

#include "lib/base/given.h"
#include "lib/slots/options.h"

/* The options of a table that concern its slots. */
struct slots_options {
    struct common_options common; /* as options_check() has filled them in */
    uint64_t extra; /* slots wished for beyond the capacity; fewer where the index bits end */
    uint64_t spare; /* address space wished for beyond those, for slots */
    bool pins;      /* a counter behind each object */
    bool huge_pages;
    bool wrapped;        /* ids repeat from the first on, as far as haft_diagnose() can know */
    struct given *given; /* memory of the program's; NULL: none */
};

struct geometry {
    uint64_t alignment; /* of the memory: an object's, and a cache line's, so that small slots lie
                         * in one, and parts of a scan meet between two */
    uint64_t bias;      /* so that each object is aligned */
    uint64_t stride;
    uint64_t count; /* slots in address space, a power of two */
    uint64_t end;   /* of those for the capacity */
    uint64_t limit; /* of those ever used */
};

struct geometry geometry_of(const struct slots_options *options);

/* Take from given memory what slots_open() takes there. */
void geometry_measure(const struct slots_options *options);

/* The most bytes that slots take where no memory is given, with the records of runs. */
uint64_t geometry_address_space(struct slots_options options);

/* Slots that a shared table of that capacity wishes for beyond it, for workers to hold back. */
uint64_t geometry_spare(uint64_t capacity);

#endif /* HAFT_LIB_GEOMETRY_H */
