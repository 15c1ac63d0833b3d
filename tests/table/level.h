/*
 * tests/table/level.h - what the tests of handing over share: a local table, what is to live in it,
 * and where it may be shared.
 */
#ifndef HAFT_TESTS_LEVEL_H
#define HAFT_TESTS_LEVEL_H

#include "tests/support.h"
#include <haft/share.h>

#define COUNT 1000
#define ROOM (4 * COUNT)

struct object {
    uint64_t id;
    uint64_t value;
};

/* A capacity of COUNT. */
extern const haft_local_options level_options;

struct level {
    haft_domain *domain;
    haft_local *local;
    haft_table *table;
    haft_view view;
    haft_id ids[ROOM];
    uint64_t count;
};

haft_id local_insert(haft_local *local, uint64_t value);
struct level open_level(struct setting setting, const haft_local_options *local);
void fill(struct level *level, uint64_t count);
void share_level(struct level *level);

/* Insert into the shared table until `count` objects are there. */
void fill_shared_level(struct level *level, uint64_t count);

void unshare_level(struct level *level);
void close_level(struct level *level);

/* All ids resolve in `view` to the objects inserted under them. */
void expect_all(const struct level *level, haft_view view);

#endif /* HAFT_TESTS_LEVEL_H */
