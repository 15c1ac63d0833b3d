/*
 * fuzz/exact.h - a table of one thread and the part of a program that lives beside it: both go back
 * together, and what follows is compared.
 */
#ifndef HAFT_FUZZ_EXACT_H
#define HAFT_FUZZ_EXACT_H

#include <haft/kit/snapshot.h>

#define MIND_IDS 40

/* What the program knows beside the table: plain bytes, which go back with it. */
struct mind {
    uint64_t chance;
    uint64_t ids_known;
    haft_id ids[MIND_IDS]; /* live, or stale by now */
};

/* Objects: bodies, joined to others by their ids. */
struct body {
    uint64_t value;
    haft_id joints[2];
};

/* A table and its options; one of `local` and `packed` is NULL. */
struct subject {
    haft_local *local;
    haft_packed *packed;
    haft_layout layout;
    bool destroys;
    struct mind mind;
    uint64_t digest; /* of the answers since subject_play() or subject_look() began */
    int depth;       /* of callbacks */
};

uint64_t exact_draw(uint64_t *state);
void exact_must(bool holds, const char *what);

/* Open a table with options drawn from `chance`. */
void subject_open(struct subject *subject, uint64_t chance);
void subject_close(struct subject *subject);

/* Play `steps` random calls; the digest of all that they answered and of what the table is then. */
uint64_t subject_play(struct subject *subject, uint64_t steps);

/* The digest of what the table is. */
uint64_t subject_look(struct subject *subject);

/* A second subject, which goes on as the first. */
struct subject subject_clone(struct subject *subject);

haft_status subject_snapshot(struct subject *subject, haft_history *history, uint64_t *number);
haft_status subject_rewind(struct subject *subject, haft_history *history, uint64_t number);
haft_status subject_save(struct subject *subject, haft_file *file);
haft_status subject_load(struct subject *subject, haft_file *file);

#endif /* HAFT_FUZZ_EXACT_H */
