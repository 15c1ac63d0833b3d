/*
 * tests/commands/commands_support.h - what the tests of command sets share: a table on the frame
 * clock and its command set.
 */
#ifndef HAFT_TESTS_COMMANDS_SUPPORT_H
#define HAFT_TESTS_COMMANDS_SUPPORT_H

#include "tests/base/counted.h"
#include "tests/support.h"
#include <haft/kit/commands.h>

struct stage {
    struct shared shared;
    haft_commands *commands;
    struct counted memory;
};

/* shared.worker is closed: the set's is the only one. */
void stage_open(struct stage *stage, const haft_table_options *options);

/* The set is closed if it is not NULL; nothing may be left of its memory. */
void stage_close(struct stage *stage);

haft_recorder *open_recorder(struct stage *stage, uint64_t key, uint64_t max_creates);
haft_id record_create(haft_recorder *recorder);
void record_destroy(haft_recorder *recorder, haft_id id);

haft_applied apply(struct stage *stage);

/* Apply and tick. */
haft_applied end_frame(struct stage *stage);

/* Live from now on, by the set's worker. */
haft_id insert_at_once(struct stage *stage);

#endif /* HAFT_TESTS_COMMANDS_SUPPORT_H */
