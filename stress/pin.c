/*
 * stress/pin.c - threads pin objects, use them outside every section, and unpin them, while others
 * free and reuse.
 *
 * Invariant  a pinned object stays itself until its last unpin; on_reclaim runs once for each
 *            freed object, after that (PIN, GRACE); no slot is lost.
 * Pressure   few slots; holders announce what they have pinned, and writers free exactly that;
 *            several pins on one object go at the same moment; pauses between pin and unpin.
 * Usage      pin [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller|workers] [mode]
 *            proper      as it should be used
 *            unpinned    broken on purpose: resolved, used after the section
 */
#include "stress/support.h"
#include <haft/pin.h>

#define SLOTS 256
#define INDEX_OF(stage, id) haft_id_index((stage)->layout, id)

static const char *const modes[] = {"proper", "unpinned", NULL};

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    haft_layout layout;
    unsigned holders;
    bool unpinned;
    uint64_t slots;
    shared_u64 board[SLOTS];            /* ids by index */
    shared_u64 announced[MOST_THREADS]; /* ids that are pinned */
    shared_u64 writers_left;
    shared_u64 pinned;
    shared_u64 outlasted; /* objects freed while they were pinned */
    shared_u64 freed;
    shared_u64 reclaimed;
};

static void look(const struct stage *stage, const struct object *object, haft_id id)
{
    if (!object_is(object, id)) {
        violation(&stage->run, "id %llx: the object became %llx while it was pinned",
                  (unsigned long long)id.bits, (unsigned long long)object->id);
    }
}

static const struct object *take(struct stage *stage, haft_id id)
{
    haft_section_begin(stage->domain);
    const struct object *object =
        stage->unpinned ? haft_resolve(stage->view, id) : haft_pin(stage->table, id);

    haft_section_end(stage->domain);
    return object;
}

/* Beyond the section: the thread passes quiescent points while it uses the object. */
static void hold(struct stage *stage, unsigned number, haft_worker *worker, haft_id id,
                 struct chance *chance)
{
    const struct object *object = take(stage, id);

    if (object == NULL) {
        pass_quiescent_point(stage->table, worker, chance);
        return;
    }
    poke(&stage->announced[number], id.bits);
    pass_quiescent_point(stage->table, worker, chance);
    pause_by_chance(chance);
    look(stage, object, id);
    if (one_in(chance, 2)) {
        pause_by_chance(chance);
    }
    add(&stage->pinned, 1);
    add(&stage->outlasted, !haft_is_live(stage->view, id));
    look(stage, object, id);
    poke(&stage->announced[number], 0);
    if (!stage->unpinned) {
        must(&stage->run, haft_unpin(stage->table, id), "unpinning");
    }
}

static void on_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct stage *stage = arg;
    struct object *dead = object;

    (void)worker;
    look(stage, dead, id);
    dead->canary = 0; /* a second call, or a holder, would notice */
    add(&stage->reclaimed, 1);
}

static void insert_one(struct stage *stage, haft_worker *worker)
{
    void *object;
    const haft_id id = reserve_waiting(&stage->run, worker, &object);

    object_write(object, id);
    haft_publish(worker, id);
    poke(&stage->board[INDEX_OF(stage, id)], id.bits);
}

static haft_id victim(struct stage *stage, struct chance *chance)
{
    haft_id id = {peek(&stage->announced[draw_below(chance, stage->holders)])};

    if (id.bits == 0 || one_in(chance, 4)) {
        id.bits = peek(&stage->board[draw_below(chance, stage->slots)]);
    }
    return id;
}

static void write_until_done(struct stage *stage, struct chance *chance)
{
    haft_worker *worker;

    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (uint64_t i = 0; run_goes_on(&stage->run, i, peek(&stage->outlasted));) {
        const haft_id id = victim(stage, chance);

        if (id.bits != 0 && haft_free(worker, id) == HAFT_OK) {
            add(&stage->freed, 1);
            replace(&stage->board[INDEX_OF(stage, id)], id.bits, 0);
            insert_one(stage, worker);
            i++;
        }
        haft_worker_quiescent(worker);
    }
    haft_worker_close(worker);
}

static void body(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct chance chance = chance_of(&stage->run, number);
    haft_worker *worker;

    if (number >= stage->holders) {
        haft_thread_register(stage->domain);
        write_until_done(stage, &chance);
        add(&stage->writers_left, UINT64_MAX);
        haft_thread_unregister(stage->domain);
        return;
    }
    worker = enter_as_reader(&stage->run, stage->table);
    while (peek(&stage->writers_left) != 0) {
        const unsigned other = (unsigned)draw_below(&chance, stage->holders);
        haft_id id = {peek(&stage->announced[other])}; /* two pins on one object */

        if (id.bits == 0 || one_in(&chance, 2)) {
            id.bits = peek(&stage->board[draw_below(&chance, stage->slots)]);
        }
        hold(stage, number, worker, id, &chance);
    }
    leave_as_reader(stage->table, worker);
}

static void open_stage(struct stage *stage)
{
    const uint64_t capacity = UINT64_C(8) << stage->run.seed % 4;
    const haft_table_options options = {.capacity = capacity,
                                        .object_size = sizeof(struct object),
                                        .pins = true,
                                        .on_reclaim = on_reclaim,
                                        .reclaim_arg = stage};
    haft_worker *worker;

    stage->unpinned = run_is(&stage->run, "unpinned");
    stage->holders = stage->run.threads / 2;
    poke(&stage->writers_left, stage->run.threads - stage->holders);
    stage->domain = open_domain(&stage->run);
    must(&stage->run, haft_table_open(stage->domain, &options, &stage->table), "opening the table");
    stage->view = haft_table_view(stage->table);
    stage->layout = haft_table_layout(stage->table);
    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (uint64_t i = 0; i < capacity; i++) {
        insert_one(stage, worker);
    }
    haft_worker_close(worker);
    stage->slots = HAFT_FIRST_INDEX + haft_table_stats_get(stage->table).limit;
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 20000, 4, modes);
    run_until(&stage.run, 1500);
    open_stage(&stage);
    run_threads(stage.run.threads, body, &stage);

    const uint64_t live = haft_table_stats_get(stage.table).live; /* its close ends these */

    close_with_domain(&stage.run, stage.table);
    if (stage.reclaimed != stage.freed + live) {
        violation(&stage.run, "%llu freed, %llu live, %llu reclaimed",
                  (unsigned long long)stage.freed, (unsigned long long)live,
                  (unsigned long long)stage.reclaimed);
    }
    finish(&stage.run, stage.outlasted, "pinned %llu, freed while pinned %llu, reclaimed %llu",
           (unsigned long long)stage.pinned, (unsigned long long)stage.outlasted,
           (unsigned long long)stage.reclaimed);
}
