/*
 * concurrent/clock/foreign.h - the callbacks of a foreign clock, with the notes that
 * ThreadSanitizer needs; nothing happens where a callback is NULL, as all are in a domain without a
 * foreign clock.
 *
 *   GRACE   last read section that could have matched an id -> reuse of its slot
 *
 * is the foreign clock's own ordering (haft/clock.h).  All functions: the calling thread's
 * sections.
 */
#ifndef HAFT_CONCURRENT_FOREIGN_H
#define HAFT_CONCURRENT_FOREIGN_H

#include <haft/clock.h>
#include <haft/detail/tsan.h>
#include <stddef.h>

/* Whether threads are online or offline; else sections have a begin and an end. */
static inline bool foreign_has_online(const haft_foreign_clock *clock)
{
    return clock->online != NULL;
}

/* Whether callbacks that belong together are there together. */
static inline bool foreign_is_whole(const haft_foreign_clock *clock)
{
    const bool has_online = foreign_has_online(clock);
    const bool has_sections = clock->begin != NULL;

    return clock->ctx != NULL && clock->wait != NULL && (has_online || has_sections) &&
           (clock->end != NULL) == has_sections && (clock->offline != NULL) == has_online &&
           (clock->quiescent != NULL) == has_online && (clock->inside != NULL || !has_online) &&
           clock->reserved[0] == NULL && clock->reserved[1] == NULL && clock->reserved[2] == NULL &&
           clock->reserved[3] == NULL;
}

/* Wait for a full grace period, outside sections and offline. */
static inline void foreign_wait(const haft_foreign_clock *clock)
{
    clock->wait(clock->ctx);
    haft_note_grace_elapsed();
}

static inline void foreign_register(const haft_foreign_clock *clock)
{
    if (clock->register_thread != NULL) {
        clock->register_thread(clock->ctx);
    }
}

static inline void foreign_unregister(const haft_foreign_clock *clock)
{
    if (clock->unregister_thread != NULL) {
        haft_note_reader_left();
        clock->unregister_thread(clock->ctx);
    }
}

/* False if the thread is known not to be registered. */
static inline bool foreign_thread_is_registered(const haft_foreign_clock *clock)
{
    return clock->is_registered == NULL || clock->is_registered(clock->ctx);
}

static inline void foreign_begin(const haft_foreign_clock *clock)
{
    if (clock->begin != NULL) {
        clock->begin(clock->ctx);
    }
}

static inline void foreign_end(const haft_foreign_clock *clock)
{
    if (clock->end != NULL) {
        haft_note_reader_left();
        clock->end(clock->ctx);
    }
}

/* Whether the thread is inside a section, or online; false if the clock cannot tell. */
static inline bool foreign_is_inside(const haft_foreign_clock *clock)
{
    return clock->inside != NULL && clock->inside(clock->ctx);
}

static inline void foreign_go_online(const haft_foreign_clock *clock)
{
    if (foreign_has_online(clock) && !clock->inside(clock->ctx)) {
        clock->online(clock->ctx);
    }
}

static inline void foreign_go_offline(const haft_foreign_clock *clock)
{
    if (foreign_has_online(clock) && clock->inside(clock->ctx)) {
        haft_note_reader_left();
        clock->offline(clock->ctx);
    }
}

static inline void foreign_quiescent(const haft_foreign_clock *clock)
{
    if (foreign_has_online(clock) && clock->inside(clock->ctx)) {
        haft_note_reader_left();
        clock->quiescent(clock->ctx);
    }
}

#endif /* HAFT_CONCURRENT_FOREIGN_H */
