/*
 * stress/trim.c - one thread gives memory back while others insert, resolve, pin, scan and free.
 *
 * Invariant  each life of a slot has a higher generation than the one before, so no id from before
 *            its memory was given back is ever issued again (FLOOR); a thread that resolves or pins
 *            an id sees its own object; a scan visits each object that stays live exactly once, and
 *            no slot twice; no slot is lost.
 * Pressure   runs of 8 slots; workers insert in bursts and free all of them, so that runs empty and
 *            fill; they resolve, free and pin each other's ids, most of which are stale, and some
 *            lie in memory that is gone.
 * Usage      trim [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller|workers]
 *            A round is one burst.
 */
#include "stress/support.h"
#include <haft/memory.h>
#include <haft/pin.h>
#include <haft/scan.h>

#define BURST 48
#define STABLE 16 /* objects that stay */
#define CAPACITY(threads) (STABLE + BURST * (uint64_t)(threads))
#define SLOTS 16384     /* more than the table has */
#define OBJECT_SIZE 496 /* with word and pins 512: eight slots a page */

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    haft_layout layout;
    haft_id stable[STABLE];
    shared_u64 lives[SLOTS]; /* by index: the generation issued last */
    shared_u64 board[SLOTS]; /* by index: the id issued last */
    shared_u64 workers_left;
    shared_u64 trimmed; /* times that memory was given back, while others worked */
    shared_u64 bytes;
    shared_u64 busy;   /* told so by the other trim */
    shared_u64 stale;  /* ids that did not resolve */
    shared_u64 pinned; /* objects */
    shared_u64 visited;
};

static void look(const struct stage *stage, const struct object *object, haft_id id)
{
    if (!object_is(object, id)) {
        violation(&stage->run, "id %llx has the object of %llx", (unsigned long long)id.bits,
                  (unsigned long long)object->id);
    }
}

static haft_id insert_one(struct stage *stage, haft_worker *worker)
{
    void *object;
    const haft_id id = reserve_waiting(&stage->run, worker, &object);
    const uint64_t index = haft_id_index(stage->layout, id);
    const uint64_t generation = haft_id_generation(stage->layout, id);
    const uint64_t before = swap(&stage->lives[index], generation);

    if (generation <= before) {
        violation(&stage->run, "slot %llu lives generation %llu after %llu",
                  (unsigned long long)index, (unsigned long long)generation,
                  (unsigned long long)before);
    }
    object_write(object, id);
    haft_publish(worker, id);
    poke(&stage->board[index], id.bits);
    return id;
}

/* Ids of anybody, from now or before. */
static haft_id some_id(struct stage *stage, struct chance *chance)
{
    const uint64_t slots = HAFT_FIRST_INDEX + CAPACITY(stage->run.threads);
    const haft_id id = {peek(&stage->board[draw_below(chance, slots)])};

    return id;
}

static void resolve_some(struct stage *stage, struct chance *chance)
{
    for (int i = 0; i < BURST; i++) {
        const haft_id id = some_id(stage, chance);

        haft_section_begin(stage->domain);
        const void *object = haft_resolve(stage->view, id);

        if (object != NULL) {
            look(stage, object, id);
        } else {
            add(&stage->stale, 1);
        }
        haft_section_end(stage->domain);
    }
}

static void pin_one(struct stage *stage, haft_worker *worker, struct chance *chance)
{
    const haft_id id = some_id(stage, chance);

    haft_section_begin(stage->domain);
    const void *object = haft_pin(stage->table, id);

    haft_section_end(stage->domain);
    if (object != NULL) {
        haft_worker_quiescent(worker);
        pause_by_chance(chance);
        look(stage, object, id);
        add(&stage->pinned, 1);
        must(&stage->run, haft_unpin(stage->table, id), "unpinning");
    }
}

static void scan(struct stage *stage)
{
    haft_cursor cursor = haft_cursor_over(stage->table, HAFT_EVERYTHING);
    uint64_t last = 0;
    uint64_t stable = 0;
    haft_id id;
    void *object;

    haft_section_begin(stage->domain);
    while (haft_cursor_next(&cursor, &id, &object)) {
        look(stage, object, id);
        if (haft_id_index(stage->layout, id) <= last) {
            violation(&stage->run, "a scan visits slot %llu again",
                      (unsigned long long)haft_id_index(stage->layout, id));
        }
        last = haft_id_index(stage->layout, id);
        for (int i = 0; i < STABLE; i++) {
            stable += haft_id_equal(stage->stable[i], id);
        }
        add(&stage->visited, 1);
    }
    haft_section_end(stage->domain);
    if (stable != STABLE) {
        violation(&stage->run, "a scan visits %llu of %d objects that stay",
                  (unsigned long long)stable, STABLE);
    }
}

static bool is_stable(const struct stage *stage, haft_id id)
{
    for (int i = 0; i < STABLE; i++) {
        if (haft_id_equal(stage->stable[i], id)) {
            return true;
        }
    }
    return false;
}

/* Free the burst; some of it others have freed, and so does this thread with theirs. */
static void free_all(struct stage *stage, haft_worker *worker, const haft_id *ids,
                     struct chance *chance)
{
    const haft_id other = some_id(stage, chance);

    if (!is_stable(stage, other)) {
        haft_free(worker, other);
    }
    for (int i = 0; i < BURST; i++) {
        haft_free(worker, ids[i]);
    }
    must(&stage->run, haft_worker_flush(worker), "flushing");
}

static void work(struct stage *stage, struct chance *chance)
{
    haft_worker *worker;
    haft_id ids[BURST];

    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (uint64_t round = 0; run_goes_on(&stage->run, round, peek(&stage->trimmed)); round++) {
        for (int i = 0; i < BURST; i++) {
            ids[i] = insert_one(stage, worker);
        }
        resolve_some(stage, chance);
        pin_one(stage, worker, chance);
        free_all(stage, worker, ids, chance);
        haft_worker_quiescent(worker);
        if (one_in(chance, 8)) {
            scan(stage);
        }
        if (one_in(chance, 16)) {
            add(&stage->busy, haft_trim(stage->table, NULL) == HAFT_BUSY);
        }
        haft_worker_quiescent(worker);
    }
    must(&stage->run, haft_worker_close(worker), "closing a worker");
}

/* This thread has no part in the domain. */
static void trim(struct stage *stage, struct chance *chance)
{
    while (peek(&stage->workers_left) != 0) {
        uint64_t bytes = 0;
        const haft_status status = haft_trim(stage->table, &bytes);

        if (status == HAFT_BUSY) {
            add(&stage->busy, 1);
        } else {
            must(&stage->run, status, "trimming");
        }
        add(&stage->trimmed, bytes != 0 && peek(&stage->workers_left) != 0);
        add(&stage->bytes, bytes);
        pause_by_chance(chance);
    }
}

static void body(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct chance chance = chance_of(&stage->run, number);

    if (number == 0) {
        trim(stage, &chance);
        return;
    }
    haft_thread_register(stage->domain);
    work(stage, &chance);
    add(&stage->workers_left, UINT64_MAX);
    haft_thread_unregister(stage->domain);
}

static void open_stage(struct stage *stage)
{
    const haft_table_options options = {
        .capacity = CAPACITY(stage->run.threads),
        .object_size = OBJECT_SIZE,
        .object_alignment = 8, /* eight slots fill a page; at 16 runs would have 16 pages */
        .pins = true,
    };
    haft_worker *worker;

    poke(&stage->workers_left, stage->run.threads - 1);
    stage->domain = open_domain(&stage->run);
    must(&stage->run, haft_table_open(stage->domain, &options, &stage->table), "opening the table");
    stage->view = haft_table_view(stage->table);
    stage->layout = haft_table_info(stage->table).layout;
    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (int i = 0; i < STABLE; i++) {
        stage->stable[i] = insert_one(stage, worker);
        poke(&stage->board[haft_id_index(stage->layout, stage->stable[i])], 0);
    }
    must(&stage->run, haft_worker_close(worker), "closing a worker");
}

static void close_stage(struct stage *stage)
{
    haft_worker *worker;

    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (int i = 0; i < STABLE; i++) {
        must(&stage->run, haft_free(worker, stage->stable[i]), "freeing what stayed");
    }
    must(&stage->run, haft_worker_close(worker), "closing a worker");
    check_nothing_lost(&stage->run, stage->table);
    close_with_domain(&stage->run, stage->table);
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 1000, 4, NULL);
    run_until(&stage.run, 100);
    open_stage(&stage);
    run_threads(stage.run.threads, body, &stage);
    const haft_table_stats stats = haft_table_stats_get(stage.table);

    if (stats.live != STABLE ||
        stats.live + stats.free + stats.retired + stats.released != stats.high_water) {
        violation(&stage.run, "live %llu, free %llu, retired %llu, given back %llu of %llu",
                  (unsigned long long)stats.live, (unsigned long long)stats.free,
                  (unsigned long long)stats.retired, (unsigned long long)stats.released,
                  (unsigned long long)stats.high_water);
    }
    close_stage(&stage);
    finish(&stage.run, stage.trimmed,
           "gave back %llu times, %llu bytes, busy %llu, stale %llu, pinned %llu, visited %llu",
           (unsigned long long)stage.trimmed, (unsigned long long)stage.bytes,
           (unsigned long long)stage.busy, (unsigned long long)stage.stale,
           (unsigned long long)stage.pinned, (unsigned long long)stage.visited);
}
