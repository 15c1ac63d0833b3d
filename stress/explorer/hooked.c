/*
 * The library's atomic operations, as the explorer carries them out: a point at which another
 * thread may run, then the operation.
 *
 * In the "sc" memory the operation is the machine's own, with its order, and ThreadSanitizer judges
 * by it.  In the "c11" memory loads read what history.h lets them; there the machine's own
 * operation is relaxed, and ThreadSanitizer is told of each order that the history makes.
 *
 * White-box: what can be broken on purpose is broken here, where the library cannot tell.
 */
#include "stress/explorer/hooked.h"
#include "concurrent/batches/batch.h"
#include "concurrent/batches/tagged.h"
#include "concurrent/clock/thread.h"
#include "concurrent/counted/shards.h"
#include "stress/edges.h"
#include "stress/explorer/calls.h"
#include "stress/explorer/history.h"
#include "stress/explorer/report.h"
#include "stress/explorer/scheduler.h"
#include "stress/explorer/watch.h"
#include "stress/ordered.h"
#include <haft/detail/tsan.h>
#include <stddef.h>

const char *const broken_names[BROKEN_COUNT] = {"nothing", "tag",   "grace", "ticket",
                                                "claim",   "retry", "floor", "look"};
enum broken broken;

static bool with_history;

void hooked_use_history(bool use)
{
    with_history = use;
}

static bool has_history(void)
{
    return with_history && schedule_self() != NO_THREAD;
}

static bool acquires(memory_order order)
{
    return order == memory_order_acquire || order == memory_order_acq_rel;
}

static bool releases(memory_order order)
{
    return order == memory_order_release || order == memory_order_acq_rel;
}

#ifdef HAFT_UNDER_TSAN
static void note_acquire(void *token)
{
    if (token != NULL) {
        __tsan_acquire(token);
    }
}

static void note_release(void *token)
{
    if (token != NULL) {
        __tsan_release(token);
    }
}
#else
static void note_acquire(void *token)
{
    (void)token;
}

static void note_release(void *token)
{
    (void)token;
}
#endif

void hooked_acquire(void *token)
{
    note_acquire(token);
}

void hooked_release(void *token)
{
    note_release(token);
}

void hooked_number_thread(void)
{
    static THREAD_LOCAL uint32_t shard;

    thread_number();
    if (shard == 0) {
        shard = shards_number_thread();
    }
    shards_thread = shard; /* it may have moved in the schedule before */
}

/* A step of the calling thread on that word; before it a signal may come. */
static void step(const atomic_u64 *word)
{
    schedule_point();
    void (*handle)(void) = signal_take();

    if (handle != NULL) {
        handle();
    }
    if (watch_is_released(word)) {
        violation("the library uses memory that it has released");
    }
}

static uint64_t newest(const atomic_u64 *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

uint64_t haft_load(haft_edge edge, const atomic_u64 *word, memory_order wanted)
{
    const memory_order order = edge_order(edge, wanted);

    calls_note(false);
    /* Only this thread and its signals write it: else a switch here changes nothing. */
    if (edge != HAFT_EDGE_OWN || signal_is_awaited()) {
        step(word);
    }
    if (has_history()) {
        void *token;
        const uint64_t value = history_load(word, newest(word), acquires(order), &token);

        note_acquire(token);
        return value;
    }
    return ordered_load(word, order);
}

void haft_store(haft_edge edge, atomic_u64 *word, uint64_t value, memory_order wanted)
{
    const memory_order order = edge_order(edge, wanted);

    calls_note(false);
    step(word);
    if (broken == BROKEN_FLOOR && edge == HAFT_EDGE_ONWARD) {
        return;
    }
    if (has_history()) {
        void *token;

        history_store(word, newest(word), value, releases(order), &token);
        atomic_store_explicit(word, value, memory_order_relaxed);
        note_release(token);
    } else {
        ordered_store(word, value, order);
    }
}

/* A read-modify-write in the history. */
static void modify(atomic_u64 *word, uint64_t before, uint64_t value, memory_order order)
{
    void *read_token;
    void *token;

    history_modify(word, before, value, acquires(order), releases(order), &read_token, &token);
    note_acquire(read_token);
    /* Before the release: a thread that acquires it may free the word's memory. */
    atomic_store_explicit(word, value, memory_order_relaxed);
    note_release(token);
}

static bool has_tag(haft_edge edge)
{
    return edge == HAFT_EDGE_DEPOT || edge == HAFT_EDGE_POOL || edge == HAFT_EDGE_LIST;
}

bool haft_cas(haft_edge edge, atomic_u64 *word, uint64_t expected, uint64_t desired,
              memory_order wanted)
{
    const memory_order order = edge_order(edge, wanted);

    if (broken == BROKEN_LOOK && edge == HAFT_EDGE_PUBLISH) {
        haft_load(edge, word, memory_order_relaxed);
    }
    calls_note(true);
    step(word);
    if (broken == BROKEN_CLAIM && edge == HAFT_EDGE_PUBLISH && newest(word) == expected) {
        schedule_point();
        expected = newest(word);
    }
    if (broken == BROKEN_TAG && has_tag(edge) &&
        tagged_number(newest(word)) == tagged_number(expected)) {
        expected = newest(word);
    }
    if (broken == BROKEN_RETRY && edge == HAFT_EDGE_RETRY) {
        expected = newest(word);
    }
    if (!has_history()) {
        return ordered_cas(word, expected, desired, order);
    }
    if (newest(word) != expected) {
        history_fail(word, newest(word));
        return false;
    }
    modify(word, expected, desired, order);
    return true;
}

uint64_t u64_exchange(haft_edge edge, atomic_u64 *word, uint64_t value, memory_order wanted)
{
    const memory_order order = edge_order(edge, wanted);

    calls_note(true);
    step(word);
    if (has_history()) {
        const uint64_t before = newest(word);

        modify(word, before, value, order);
        return before;
    }
    return ordered_exchange(word, value, order);
}

uint64_t u64_fetch_or(haft_edge edge, atomic_u64 *word, uint64_t value, memory_order wanted)
{
    const memory_order order = edge_order(edge, wanted);

    calls_note(true);
    step(word);
    if (has_history()) {
        const uint64_t before = newest(word);

        modify(word, before, before | value, order);
        return before;
    }
    return ordered_fetch_or(word, value, order);
}

static uint64_t fetch_add(atomic_u64 *word, uint64_t value, memory_order order)
{
    if (has_history()) {
        const uint64_t before = newest(word);

        modify(word, before, before + value, order);
        return before;
    }
    return ordered_fetch_add(word, value, order);
}

uint64_t u64_fetch_add(haft_edge edge, atomic_u64 *word, uint64_t value, memory_order wanted)
{
    calls_note(true);
    step(word);
    const uint64_t before = fetch_add(word, value, edge_order(edge, wanted));

    return broken == BROKEN_TICKET && edge == HAFT_EDGE_TICKET ? before - 1 : before;
}
