/*
 * timers.h - deadlines of ids, the earliest first: a binary heap under a lock.
 *
 * A timer is never cancelled.  When its time comes, the id says whether there is anything to do.
 */
#ifndef EXAMPLES_SERVER_TIMERS_H
#define EXAMPLES_SERVER_TIMERS_H

#include <haft/id.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct timer {
    uint64_t due; /* ms */
    haft_id id;
};

struct timers {
    pthread_mutex_t lock;
    struct timer *heap; /* heap[i] is due no later than heap[2i + 1] and heap[2i + 2] */
    size_t count;
    size_t room;
};

static bool timers_have_room(struct timers *timers)
{
    if (timers->count == timers->room) {
        const size_t room = timers->room == 0 ? 64 : timers->room * 2;
        struct timer *heap = realloc(timers->heap, room * sizeof *heap);

        if (heap == NULL) {
            return false;
        }
        timers->heap = heap;
        timers->room = room;
    }
    return true;
}

/* False: no memory. */
static bool timers_add(struct timers *timers, struct timer timer)
{
    pthread_mutex_lock(&timers->lock);
    const bool fits = timers_have_room(timers);

    if (fits) {
        size_t at = timers->count++;

        for (; at > 0 && timers->heap[(at - 1) / 2].due > timer.due; at = (at - 1) / 2) {
            timers->heap[at] = timers->heap[(at - 1) / 2];
        }
        timers->heap[at] = timer;
    }
    pthread_mutex_unlock(&timers->lock);
    return fits;
}

static void timers_remove_first(struct timers *timers)
{
    const struct timer last = timers->heap[--timers->count];
    size_t at = 0;
    size_t child;

    while ((child = 2 * at + 1) < timers->count) {
        if (child + 1 < timers->count && timers->heap[child + 1].due < timers->heap[child].due) {
            child++;
        }
        if (timers->heap[child].due >= last.due) {
            break;
        }
        timers->heap[at] = timers->heap[child];
        at = child;
    }
    timers->heap[at] = last;
}

/* Removes the first timer if it is due. */
static bool timers_take_due(struct timers *timers, uint64_t now, struct timer *timer)
{
    pthread_mutex_lock(&timers->lock);
    const bool is_due = timers->count > 0 && timers->heap[0].due <= now;

    if (is_due) {
        *timer = timers->heap[0];
        timers_remove_first(timers);
    }
    pthread_mutex_unlock(&timers->lock);
    return is_due;
}

#endif /* EXAMPLES_SERVER_TIMERS_H */
