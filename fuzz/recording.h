/*
 * fuzz/recording.h - a small world as a physics engine has it: bodies and joints in two tables of
 * one thread, which know each other by id.  Commands change it, and come to a digest of all that
 * the tables answered.
 */
#ifndef HAFT_FUZZ_RECORDING_H
#define HAFT_FUZZ_RECORDING_H

#include <haft/kit/snapshot.h>

enum kind { BODIES, JOINTS, KINDS };

#define KNOWN 24

/* What the program knows beside the tables: plain bytes, which go back with them. */
struct mind {
    haft_id known[KINDS][KNOWN]; /* live, or stale by now */
    uint32_t next[KINDS];
    uint64_t breaks; /* joints that have broken */
};

/* One of `local` and `packed` is NULL. */
struct table {
    haft_local *local;
    haft_packed *packed;
    haft_history *past;
};

struct world {
    uint64_t options; /* that they are drawn from */
    struct table tables[KINDS];
    struct mind mind;
    uint64_t digest; /* of the answers to a command */
};

struct command {
    uint8_t code;
    uint8_t x;
    uint8_t y;
    uint8_t way; /* what else the player does before it */
};

struct memory_file {
    unsigned char *bytes;
    size_t size;
    size_t at;
};

void recording_must(bool holds, const char *what);

/* An empty world, with options drawn from `options`; its snapshots. */
struct world world_open(uint64_t options);
void world_close(struct world *world);

/* What a command came to. */
uint64_t world_play(struct world *world, const struct command *command);

/* Both tables; the number of the snapshot. */
uint64_t world_keep(struct world *world);
void world_go_back(struct world *world, uint64_t number);
void world_save(struct world *world, struct memory_file *file);
void world_load(struct world *world, struct memory_file *file);

/* The same world in other tables; its snapshots go along. */
void world_move_to_clone(struct world *world);
void world_move_to_new(struct world *world);

#endif /* HAFT_FUZZ_RECORDING_H */
