/*
 * kit/shared/commands/state.h - the structs of a command set.
 *
 * No atomics: a recorder is one job's until the program says that the job has ended, and the
 * set's thread has all else.  All changes of the table go through the set's worker.
 */
#ifndef HAFT_CONCURRENT_COMMANDS_STATE_H
#define HAFT_CONCURRENT_COMMANDS_STATE_H

#include "concurrent/table/open.h"
#include <haft/kit/arena.h>
#include <haft/kit/commands.h>

#define DESTROYS 62 /* ids in a piece, which has 512 bytes */

/* A piece of the list of ids to destroy; in the recorder's arena. */
struct destroys {
    struct destroys *next;
    uint64_t count;
    haft_id ids[DESTROYS];
};

/* One call; in the recorder's arena, the payload behind it, which is aligned as well. */
struct call {
    _Alignas(HAFT_ARENA_ALIGNMENT) struct call *next;
    haft_call *function;
};

struct haft_recorder {
    _Alignas(CACHE_LINE) haft_commands *commands;
    haft_view view;
    uint64_t key;
    bool is_open;
    haft_arena *arena;
    haft_id *ids;       /* that it may create; in the set's arena */
    uint64_t ids_count; /* how many */
    uint64_t created;   /* of them, from the start */
    uint64_t published; /* of those, from the start */
    struct call *calls; /* oldest first */
    struct call **calls_end;
    struct destroys *destroys; /* oldest first */
    struct destroys *destroys_last;
};

struct haft_commands {
    haft_table *table;
    haft_worker *worker;
    haft_allocator allocator;
    size_t block_size;
    haft_arena *arena; /* of one frame: the ids of its recorders */

    haft_recorder **recorders; /* those open, by key; then those kept for later */
    size_t open;
    size_t made;
    size_t room; /* for pointers */

    haft_id *reserved; /* for the next recorder; oldest first, from `reserved_from` on */
    size_t reserved_from;
    size_t reserved_count;
    size_t reserved_room;

    bool applying;
    haft_recorder *calling; /* whose call is being made; NULL: none */
};

/* Between its opening and apply; within apply, while one of its calls is made. */
static inline bool recorder_may_record(const haft_recorder *recorder)
{
    const haft_commands *commands = recorder->commands;

    return recorder->is_open && (!commands->applying || commands->calling == recorder);
}

#endif /* HAFT_CONCURRENT_COMMANDS_STATE_H */
