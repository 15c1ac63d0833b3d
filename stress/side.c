/*
 * stress/side.c - threads set and read values beside objects, while others free these and reuse
 * their slots.
 *
 * Invariant  a value that is found under an id that its reader holds is that id's, and stays so
 *            until the section ends (SIDE, GRACE); one thread sets it; on_reclaim sees it.
 * Pressure   few slots; readers announce the ids that they hold, writers free exactly those, and
 *            values are set at once for the next objects; several threads set one value.
 * Usage      side [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller|workers] [mode]
 *            proper      as it should be used
 *            unresolved  broken on purpose: a value is read by an id that was not resolved
 */
#include "stress/support.h"
#include <haft/kit/side.h>

#define SLOTS 256
#define INDEX_OF(stage, id) haft_id_index((stage)->layout, id)

static const char *const modes[] = {"proper", "unresolved", NULL};

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    haft_layout layout;
    haft_side *side;
    haft_entries entries;
    unsigned readers;
    bool unresolved;
    uint64_t slots;
    shared_u64 board[SLOTS];            /* ids by index */
    shared_u64 announced[MOST_THREADS]; /* ids that are held */
    shared_u64 writers_left;
    shared_u64 set;
    shared_u64 contested; /* values that another thread had set, or was setting */
    shared_u64 outlasted; /* values read when their object had been freed */
};

static void look(const struct stage *stage, const struct object *value, haft_id id)
{
    if (!object_is(value, id)) {
        violation(&stage->run, "id %llx: its value is that of %llx", (unsigned long long)id.bits,
                  (unsigned long long)value->id);
    }
}

/* Of an id that the thread holds. */
static void set_value(struct stage *stage, haft_id id)
{
    struct object value;
    void *place = NULL;

    object_write(&value, id);
    const haft_status status = haft_side_set(stage->side, id, &value, &place);

    if (status == HAFT_OK || status == HAFT_OCCUPIED) {
        look(stage, place, id);
    } else if (status != HAFT_BUSY) {
        must(&stage->run, status, "setting a value");
    }
    add(status == HAFT_OK ? &stage->set : &stage->contested, 1);
}

static const struct object *find(const struct stage *stage, haft_id id)
{
    return stage->unresolved ? haft_side_get(stage->entries, id)
                             : haft_side_find(stage->entries, stage->view, id, NULL);
}

static void read_value(struct stage *stage, unsigned number, haft_id id, struct chance *chance)
{
    haft_section_begin(stage->domain);
    if (!stage->unresolved && one_in(chance, 2) && haft_resolve(stage->view, id) != NULL) {
        set_value(stage, id);
    }
    const struct object *value = find(stage, id);

    if (value != NULL) {
        poke(&stage->announced[number], id.bits);
        look(stage, value, id);
        pause_by_chance(chance);
        add(&stage->outlasted, !haft_is_live(stage->view, id));
        look(stage, value, id);
        poke(&stage->announced[number], 0);
    }
    haft_section_end(stage->domain);
}

static void on_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    const struct stage *stage = arg;
    const struct object *value = haft_side_get(stage->entries, id);

    (void)object;
    (void)worker;
    if (value != NULL) {
        look(stage, value, id);
    }
}

/* Now and then with its value from the beginning. */
static void insert_one(struct stage *stage, haft_worker *worker, bool has_value)
{
    void *object;
    const haft_id id = reserve_waiting(&stage->run, worker, &object);

    object_write(object, id);
    if (has_value) {
        set_value(stage, id);
    }
    haft_publish(worker, id);
    poke(&stage->board[INDEX_OF(stage, id)], id.bits);
}

static haft_id victim(struct stage *stage, struct chance *chance)
{
    haft_id id = {peek(&stage->announced[draw_below(chance, stage->readers)])};

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
            if (!stage->unresolved) { /* else readers go on with the old id */
                replace(&stage->board[INDEX_OF(stage, id)], id.bits, 0);
            }
            insert_one(stage, worker, one_in(chance, 2));
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

    if (number >= stage->readers) {
        haft_thread_register(stage->domain);
        write_until_done(stage, &chance);
        add(&stage->writers_left, UINT64_MAX);
        haft_thread_unregister(stage->domain);
        return;
    }
    worker = enter_as_reader(&stage->run, stage->table);
    while (peek(&stage->writers_left) != 0) {
        const unsigned other = (unsigned)draw_below(&chance, stage->readers);
        haft_id id = {peek(&stage->announced[other])}; /* two at one value */

        if (id.bits == 0 || one_in(&chance, 2)) {
            id.bits = peek(&stage->board[draw_below(&chance, stage->slots)]);
        }
        read_value(stage, number, id, &chance);
        pass_quiescent_point(stage->table, worker, &chance);
    }
    leave_as_reader(stage->table, worker);
}

static void open_stage(struct stage *stage)
{
    const uint64_t capacity = UINT64_C(8) << stage->run.seed % 4;
    const haft_table_options options = {.capacity = capacity,
                                        .object_size = sizeof(struct object),
                                        .on_reclaim = on_reclaim,
                                        .reclaim_arg = stage};
    const haft_side_options values = {.value_size = sizeof(struct object)};
    haft_worker *worker;

    stage->unresolved = run_is(&stage->run, "unresolved");
    stage->readers = stage->run.threads / 2;
    poke(&stage->writers_left, stage->run.threads - stage->readers);
    stage->domain = open_domain(&stage->run);
    must(&stage->run, haft_table_open(stage->domain, &options, &stage->table), "opening the table");
    must(&stage->run, haft_side_open(stage->table, &values, &stage->side), "opening the side");
    stage->view = haft_table_view(stage->table);
    stage->entries = haft_side_entries(stage->side);
    stage->layout = haft_table_layout(stage->table);
    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (uint64_t i = 0; i < capacity; i++) {
        insert_one(stage, worker, false);
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

    if (haft_table_close(stage.table) != HAFT_IN_USE) {
        violation(&stage.run, "a table closes beside a side");
    }
    haft_side_close(stage.side);
    close_with_domain(&stage.run, stage.table);
    finish(&stage.run, stage.outlasted, "set %llu, contested %llu, read when freed %llu",
           (unsigned long long)stage.set, (unsigned long long)stage.contested,
           (unsigned long long)stage.outlasted);
}
