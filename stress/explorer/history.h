/*
 * stress/explorer/history.h - what C11 lets a load read: not only the newest store.
 *
 * Each word has the stores made to it, in order; each thread has a view, which says for each word
 * how far the thread has seen, and so what it cannot overlook any more.  A store that releases
 * carries its thread's view; an operation that acquires it takes it over.  A load may read any
 * store from the one last seen on.  Read-modify-writes read the newest, and hand a release on that
 * was in what they replace (C11's release sequences as C++20 has them: without the plain stores
 * that may follow).
 *
 * Not modelled: a load that reads a store which comes later in time, and stores that take their
 * place before one made earlier.  So what is found here is allowed by C11; not all that C11 allows
 * is found.
 */
#ifndef HAFT_STRESS_HISTORY_H
#define HAFT_STRESS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#define MOST_WORDS 1024

/* How much of each word's stores a thread has seen. */
struct view {
    uint32_t words; /* with an entry; the others have 0 */
    uint16_t seen[MOST_WORDS];
};

void view_clear(struct view *view);
void view_join(struct view *view, const struct view *other);

/* The view of a thread in the schedule, for what orders threads beside the library's atomics. */
struct view *history_view(uint32_t thread);

/* Forget everything; all threads have seen all. */
void history_clear(void);

/*
 * What an operation of the calling thread on `word` reads or has done, `newest` being what memory
 * holds.  `*token` is what ThreadSanitizer is to acquire from or release to; NULL: nothing.
 */
uint64_t history_load(const void *word, uint64_t newest, bool acquires, void **token);
void history_store(const void *word, uint64_t newest, uint64_t value, bool releases, void **token);
void history_modify(const void *word, uint64_t newest, uint64_t value, bool acquires, bool releases,
                    void **read_token, void **token);

/* A compare-and-swap failed: it has read the newest store, relaxed. */
void history_fail(const void *word, uint64_t newest);

#endif /* HAFT_STRESS_HISTORY_H */
