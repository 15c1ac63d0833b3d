/*
 * Threads on one table: a short stress.
 *
 * Invariant: an object that a thread has resolved holds its own id until the section ends, even if
 * it is freed meanwhile.  Pressure: two threads replace the objects in a few shared places, so
 * slots are in demand; on_reclaim and the next insertion overwrite the bytes.  Planted: a reader
 * keeps what it has found until the id is dead, or for a while.  A meeting is an object that died
 * in a reader's hands.  Usage: rounds of threads; between two, with the frame clock, a tick.
 */
#include "portable.h"
#include <stdlib.h>

#define PLACES 4
#define WRITERS 2
#define READERS 2
#define STEPS 2000
#define ROUNDS_LEAST 3
#define ROUNDS_MOST 200
#define MEETINGS_WANTED 100
#define PATIENCE 200

struct object {
    _Atomic uint64_t id;
    _Atomic uint64_t again;
};

struct arena_of_threads {
    struct shared shared;
    _Atomic uint64_t places[PLACES];
    _Atomic uint64_t meetings;
    _Atomic uint64_t broken;
    _Atomic uint64_t freed;
    _Atomic uint64_t refused;
    _Atomic uint64_t busy;
};

struct job {
    struct arena_of_threads *arena;
    uint32_t seed;
};

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static void spoil(void *memory, haft_id id, haft_worker *worker, void *arg)
{
    struct object *object = memory;

    (void)id;
    (void)worker;
    (void)arg;
    atomic_store(&object->id, 1);
    atomic_store(&object->again, 1);
}

static void replace(struct arena_of_threads *arena, haft_worker *worker, uint32_t *seed)
{
    _Atomic uint64_t *place = &arena->places[next_random(seed) % PLACES];
    struct object *object = NULL;
    void *memory = NULL;
    haft_id id;
    const haft_status status = haft_reserve(worker, &id, &memory);

    if (status != HAFT_OK) {
        atomic_fetch_add(&arena->busy, 1);
        CHECK(status == HAFT_BUSY);
        haft_worker_quiescent(worker);
        return;
    }
    object = memory;
    atomic_store(&object->id, id.bits);
    atomic_store(&object->again, id.bits);
    haft_publish(worker, id);
    const haft_id old = {atomic_exchange(place, id.bits)};

    if (haft_free(worker, old) == HAFT_OK) {
        atomic_fetch_add(&arena->freed, 1);
    } else {
        atomic_fetch_add(&arena->refused, 1);
    }
}

static void write_objects(void *arg)
{
    struct job *job = arg;
    struct arena_of_threads *arena = job->arena;
    haft_worker *worker = NULL;

    haft_thread_register(arena->shared.domain);
    CHECK_OK(haft_worker_open(arena->shared.table, &worker));
    for (int i = 0; i < STEPS; i++) {
        replace(arena, worker, &job->seed);
        if (i % 64 == 63) {
            CHECK_OK(haft_worker_quiescent(worker));
        }
        if (i % 16 == 15) {
            thread_yield();
        }
    }
    CHECK_OK(haft_worker_close(worker));
    haft_thread_unregister(arena->shared.domain);
}

static void read_one(struct arena_of_threads *arena, haft_view view, uint32_t *seed)
{
    const haft_id id = {atomic_load(&arena->places[next_random(seed) % PLACES])};
    struct object *object = haft_resolve(view, id);
    bool holds = true;

    if (object == NULL) {
        return;
    }
    for (int i = 0; i < PATIENCE && haft_is_live(view, id); i++) {
        holds = holds && atomic_load(&object->id) == id.bits;
        if (i % 32 == 31) {
            thread_yield();
        }
    }
    holds = holds && atomic_load(&object->id) == id.bits && atomic_load(&object->again) == id.bits;
    atomic_fetch_add(&arena->broken, holds ? 0 : 1);
    atomic_fetch_add(&arena->meetings, haft_is_live(view, id) ? 0 : 1);
}

static void read_objects(void *arg)
{
    struct job *job = arg;
    struct arena_of_threads *arena = job->arena;
    const haft_view view = haft_table_view(arena->shared.table);
    haft_worker *worker = NULL;

    haft_thread_register(arena->shared.domain);
    CHECK_OK(haft_worker_open(arena->shared.table, &worker));
    for (int i = 0; i < STEPS; i++) {
        haft_section_begin(arena->shared.domain);
        read_one(arena, view, &job->seed);
        haft_section_end(arena->shared.domain);
        CHECK_OK(haft_worker_quiescent(worker));
    }
    CHECK_OK(haft_worker_close(worker));
    haft_thread_unregister(arena->shared.domain);
}

/* False: there are no threads here. */
static bool play_round(struct arena_of_threads *arena, uint32_t round)
{
    struct thread *threads[WRITERS + READERS];
    struct job jobs[WRITERS + READERS];
    int started = 0;

    for (; started < WRITERS + READERS; started++) {
        jobs[started] = (struct job){arena, round * 16 + (uint32_t)started};
        threads[started] =
            thread_start(started < WRITERS ? write_objects : read_objects, &jobs[started]);
        if (threads[started] == NULL) {
            break;
        }
    }
    for (int i = 0; i < started; i++) {
        thread_join(threads[i]);
    }
    return started == WRITERS + READERS;
}

static void test_stress(enum circumstance circumstance)
{
    const haft_table_options options = {
        .capacity = 2000, .object_size = sizeof(struct object), .on_reclaim = spoil};
    struct arena_of_threads *arena = calloc(1, sizeof *arena);
    uint32_t round = 0;

    if (arena == NULL || !shared_open(&arena->shared, circumstance, &options)) {
        free(arena);
        return;
    }
    haft_thread_offline(arena->shared.domain);
    for (; round < ROUNDS_MOST; round++) {
        if (round >= ROUNDS_LEAST && atomic_load(&arena->meetings) >= MEETINGS_WANTED) {
            break;
        }
        if (!play_round(arena, round)) {
            skip("no threads");
            break;
        }
        if (circumstance_clock(circumstance) == HAFT_CLOCK_FRAME) {
            CHECK_OK(haft_domain_tick(arena->shared.domain));
        }
    }
    haft_thread_online(arena->shared.domain);
    const haft_table_stats stats = haft_table_stats_get(arena->shared.table);

    CHECK(atomic_load(&arena->broken) == 0);
    CHECK(round == 0 || atomic_load(&arena->meetings) >= MEETINGS_WANTED);
    CHECK(stats.freed == atomic_load(&arena->freed));
    CHECK(stats.created - stats.freed == stats.live && stats.live <= PLACES);
    met(atomic_load(&arena->meetings));
    shared_close(&arena->shared);
    free(arena);
}

/* Threads race to free the same ids: each object has one winner. */
struct race {
    struct shared shared;
    haft_id ids[500];
    _Atomic uint64_t winners;
};

static void free_all(void *arg)
{
    struct race *race = arg;

    for (int i = 0; i < 500; i++) {
        if (haft_table_free(race->shared.table, race->ids[i]) == HAFT_OK) {
            atomic_fetch_add(&race->winners, 1);
        }
    }
}

static void test_race(enum circumstance circumstance)
{
    struct thread *threads[3];
    struct race *race = calloc(1, sizeof *race);

    if (race == NULL || !shared_open(&race->shared, circumstance, NULL)) {
        free(race);
        return;
    }
    CHECK(haft_insert_many(race->shared.worker, NULL, race->ids, 500, NULL) == 500);
    for (int i = 0; i < 3; i++) {
        threads[i] = thread_start(free_all, race);
    }
    if (threads[0] == NULL) {
        skip("no threads");
        free_all(race);
    }
    for (int i = 0; i < 3; i++) {
        thread_join(threads[i]);
    }
    CHECK(atomic_load(&race->winners) == 500);
    CHECK(haft_table_stats_get(race->shared.table).live == 0);
    shared_close(&race->shared);
    free(race);
}

const struct test stress_tests[] = {
    {"threads", "three free the same objects", IN_SHARED, test_race},
    {"threads", "objects die in readers' hands", IN_SHARED, test_stress},
    {NULL, NULL, 0, NULL},
};
