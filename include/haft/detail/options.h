/*
 * haft/detail/options.h - the options that haft_local_options, haft_packed_options and
 * haft_table_options have in common.
 *
 * They are the first members of all three, in this order, and a program writes them as any other:
 * {.capacity = 1000, .object_size = sizeof(struct ship)}.  An option of every table stands here
 * alone, in place of a part of `reserved`, so that the members behind it stay where they are.
 */
#ifndef HAFT_DETAIL_OPTIONS_H
#define HAFT_DETAIL_OPTIONS_H

#include <haft/diagnose.h>

/* What a table needs, of given memory or else of address space, and how many objects fit in that.
 * Windows counts as in use what is committed, though pages take memory when they are first written:
 * all that a forged id may lead to in a view; of a haft_counted, and of what a haft_table has
 * beside its slots, steps of 1/32, from 64 KiB to 2 MiB, as they come into use. */
typedef struct haft_footprint {
    uint64_t bytes;       /* wherever they begin */
    uint64_t capacity;    /* the highest that needs no more, with as many slots to hold back */
    uint64_t committed;   /* of the bytes, on Windows, when the table has been opened */
    uint64_t reserved[1]; /* 0; for what a later version says */
} haft_footprint;

/* See haft/domain.h. */
typedef struct haft_domain haft_domain;

/* What a table was opened with, as haft_local_info() and its kin say. */
typedef struct haft_info {
    const char *name; /* the table's: as long as it is open */
    uint64_t capacity;
    size_t object_size;
    haft_layout layout;
    uint64_t tag;
    haft_domain *domain; /* of a haft_table; NULL for others */
    bool pins;
    uint64_t reserved[2]; /* 0; for what a later version says */
} haft_info;

/* As first_generation: a random one, from the lower half of the layout's.  Ids of other tables, and
 * of the last run, then fail except for one in 2^(generation_bits - 1); tags make that certain.
 * Half of a slot's lives remain, opening takes a system call, and most ids of another table cannot
 * be restored: HAFT_STALE. */
#define HAFT_RANDOM_GENERATION 0xFFFFFFFFFFFFFFFFu

#define HAFT_COMMON_OPTIONS                                                                        \
    const char *name;   /* for messages; copied; NULL: the kind of the table */                    \
    uint64_t capacity;  /* objects that fit; 1 to 2^index_bits - 4 */                              \
    size_t object_size; /* bytes, up to 2^30; 0 (not packed): an allocator of ids */               \
                                                                                                   \
    /* 0: as malloc() would align: to the largest power of two that divides the size, from 8 */    \
    /* up to what max_align_t has (16 on most systems); packed objects lie as their size has */    \
    /* it.  A slot is the object and 8 bytes, rounded up to the alignment: 8 makes it 8 bytes */   \
    /* smaller where the size is a multiple of 16 and no member needs 16. */                       \
    size_t object_alignment; /* power of two up to 4096; packed: divides the size */               \
                                                                                                   \
    haft_layout layout; /* all zero: HAFT_LAYOUT_32_32 */                                          \
    uint64_t tag;       /* fits tag_bits */                                                        \
                                                                                                   \
    /* Of each slot's first life; 0: 1.  So tables that are opened and used alike issue the */     \
    /* same ids, in each run and process: an id of one may resolve in another, unless their */     \
    /* types (typed.h, haft::id<T>) or their tags differ. */                                       \
    uint64_t first_generation; /* or HAFT_RANDOM_GENERATION */                                     \
                                                                                                   \
    haft_on_bad_access *on_bad_access; /* of haft_require() and its kin; NULL: abort */            \
    bool sites;                        /* keep allocation sites: see haft/diagnose.h */            \
    haft_on_leak *on_leak;             /* with sites: of objects live at closing; NULL: stderr */  \
    void *report_arg;                  /* passed to both handlers */                               \
                                                                                                   \
    const struct haft_allocator *allocator; /* copied; NULL: malloc.  See haft/memory.h */         \
                                                                                                   \
    uint64_t reserved[2] /* 0; for options that a later version gives to every table */

#endif /* HAFT_DETAIL_OPTIONS_H */
