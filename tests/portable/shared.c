/*
 * A domain and a table under each of the circumstances.
 *
 * The program's own clock: a section counts itself in the phase in which it began, under a lock;
 * wait() begins the next phase and waits until the one before has no sections.  Waits come one
 * after another, so sections of the next phase have ended before it is used again.
 */
#include "portable.h"
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)16 << 20)

/* --- the clock --- */

static struct {
    struct lock *phases;
    struct lock *waits;
    uint64_t sections[2];
    unsigned phase;
} own;

static _Thread_local unsigned depth;
static _Thread_local unsigned phase;

static void own_begin(void *ctx)
{
    (void)ctx;
    if (depth++ == 0) {
        lock_take(own.phases);
        phase = own.phase;
        own.sections[phase]++;
        lock_give(own.phases);
    }
}

static void own_end(void *ctx)
{
    (void)ctx;
    if (--depth == 0) {
        lock_take(own.phases);
        if (--own.sections[phase] == 0) {
            lock_wake_all(own.phases);
        }
        lock_give(own.phases);
    }
}

static void own_wait(void *ctx)
{
    (void)ctx;
    lock_take(own.waits);
    lock_take(own.phases);
    const unsigned before = own.phase;

    own.phase = 1 - before;
    while (own.sections[before] != 0) {
        lock_wait(own.phases);
    }
    lock_give(own.phases);
    lock_give(own.waits);
}

static bool own_inside(void *ctx)
{
    (void)ctx;
    return depth != 0;
}

const haft_foreign_clock *own_clock(void)
{
    static const haft_foreign_clock clock = {
        .ctx = &own, .wait = own_wait, .begin = own_begin, .end = own_end, .inside = own_inside};

    if (own.phases == NULL) {
        own.phases = lock_open();
        own.waits = lock_open();
    }
    return own.phases != NULL && own.waits != NULL ? &clock : NULL;
}

/* --- circumstances --- */

haft_clock circumstance_clock(enum circumstance circumstance)
{
    switch (circumstance) {
    case FRAME:
    case FRAME_IN_BLOCK:
        return HAFT_CLOCK_FRAME;
    case THREAD:
        return HAFT_CLOCK_THREAD;
    case CALLER:
        return HAFT_CLOCK_CALLER;
    default:
        return HAFT_CLOCK_WORKERS;
    }
}

bool circumstance_has_memory(enum circumstance circumstance)
{
    return (BIT(circumstance) & (IN_BLOCK | BIT(ALONE_IN_MEMORY))) != 0;
}

static bool open_domain(struct shared *shared, const haft_allocator *block)
{
    const haft_clock clock = circumstance_clock(shared->circumstance);
    haft_domain_options options = {.clock = clock, .allocator = block};

    if (clock == HAFT_CLOCK_THREAD || clock == HAFT_CLOCK_CALLER) {
        options.foreign_clock = own_clock();
    }
    const haft_status status = haft_domain_open(&options, &shared->domain);

    if (status == HAFT_NO_THREAD) {
        skip("no threads");
    } else {
        CHECK(status == HAFT_OK);
    }
    return status == HAFT_OK;
}

static bool open_table(struct shared *shared, const haft_allocator *block,
                       haft_table_options options)
{
    options.allocator = block;
    return CHECK_OK(haft_table_open(shared->domain, &options, &shared->table));
}

bool shared_open(struct shared *shared, enum circumstance circumstance,
                 const haft_table_options *options)
{
    const haft_table_options plain = {.capacity = 1000, .object_size = sizeof(uint64_t)};

    haft_allocator block;
    const haft_allocator *from = NULL; /* malloc */

    *shared = (struct shared){.circumstance = circumstance};
    if (circumstance_has_memory(circumstance)) {
        shared->memory = malloc(BLOCK_BYTES);
        block = haft_allocator_block(shared->memory, shared->memory != NULL ? BLOCK_BYTES : 0);
        from = &block;
    }
    if (!open_domain(shared, from)) {
        free(shared->memory);
        return false;
    }
    haft_thread_register(shared->domain);
    return open_table(shared, from, options != NULL ? *options : plain) &&
           CHECK_OK(haft_worker_open(shared->table, &shared->worker));
}

void shared_grace(struct shared *shared)
{
    if (shared->worker != NULL) {
        CHECK_OK(haft_worker_flush(shared->worker));
    }
    if (circumstance_clock(shared->circumstance) == HAFT_CLOCK_FRAME) {
        CHECK_OK(haft_domain_tick(shared->domain));
    } else {
        CHECK_OK(haft_domain_wait(shared->domain));
    }
}

bool shared_is_right(const struct shared *shared)
{
    const haft_table_stats stats = haft_table_stats_get(shared->table);

    return stats.high_water == stats.live + stats.reserved + stats.retired + stats.free +
                                   stats.exhausted + stats.released &&
           stats.created - stats.freed == stats.live;
}

void shared_close(struct shared *shared)
{
    if (shared->worker != NULL) {
        CHECK_OK(haft_worker_close(shared->worker));
    }
    if (shared->table != NULL) {
        CHECK(shared_is_right(shared));
        CHECK_OK(haft_table_close(shared->table));
    }
    haft_thread_unregister(shared->domain);
    CHECK_OK(haft_domain_close(shared->domain));
    free(shared->memory);
}
