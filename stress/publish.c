/*
 * stress/publish.c - readers that find the next tenant of a slot the moment it is there.
 *
 * Invariant  a thread that resolves an id sees all that was written to the object before it was
 *            published, in the slot's first life and in every later one (PUBLISH); before, it is
 *            not found.
 * Pressure   a few slots are used again and again; each id is told to the readers before it is
 *            published, and they resolve it until they find it.  Modes: reserve and publish;
 *            insert, where the only writer tells of the next life of some slot, until it is there.
 * Usage      publish [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller|workers] [mode]
 */
#include "stress/support.h"
#include <sched.h>

static const char *const modes[] = {"reserve", "insert", NULL};

#define CAPACITY 16        /* so that most slots are used again and again */
#define INSERT_CAPACITY 60 /* so that the writer has slots at hand: the quick way of haft_insert */
#define TRIES 2000         /* of a reader, to find one id */

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    haft_layout layout;
    unsigned readers;
    shared_u64 told[MOST_THREADS]; /* by writer: the id that it will publish, soon or some time */
    shared_u64 writers_left;
    shared_u64 found; /* objects in their slot's first life */
    shared_u64 found_in_reused_slots;
    shared_u64 waited_for; /* found only after it was looked for in vain */
};

static bool find(struct stage *stage, haft_id id)
{
    haft_section_begin(stage->domain);
    const struct object *object = haft_resolve(stage->view, id);

    if (object != NULL && !object_is(object, id)) {
        violation(&stage->run, "id %llx found with other bytes", (unsigned long long)id.bits);
    }
    haft_section_end(stage->domain);
    return object != NULL;
}

/* Resolve what a writer has told of until it is there, or another is told of.  True if there. */
static bool read_once(struct stage *stage, shared_u64 *told, haft_id id)
{
    bool found = false;

    for (int i = 0; i < TRIES && !found && peek(told) == id.bits; i++) {
        found = find(stage, id);
        if (found) {
            const bool reused = haft_id_generation(stage->layout, id) > 1;

            add(reused ? &stage->found_in_reused_slots : &stage->found, 1);
            add(&stage->waited_for, i != 0);
        }
    }
    haft_thread_offline(stage->domain);
    haft_thread_online(stage->domain);
    return found;
}

/* What one writer tells of: each id once, except one that is to be inserted some time. */
static void read_until_done(struct stage *stage, unsigned number)
{
    const bool is_patient = run_is(&stage->run, "insert");
    shared_u64 *told = &stage->told[number % (stage->run.threads - stage->readers)];
    haft_id last = HAFT_NIL;

    while (peek(&stage->writers_left) != 0) {
        const haft_id id = {peek(told)};

        if (haft_id_equal(id, last)) {
            haft_thread_offline(stage->domain);
            sched_yield();
            haft_thread_online(stage->domain);
        } else {
            last = read_once(stage, told, id) || !is_patient ? id : last;
        }
    }
}

static haft_id publish_told(struct stage *stage, unsigned writer, haft_worker *worker)
{
    void *object;
    const haft_id id = reserve_waiting(&stage->run, worker, &object);

    poke(&stage->told[writer], id.bits);
    object_write(object, id);
    haft_publish(worker, id);
    return id;
}

/* An object for the id that is told, whether or not it gets it: else no thread looks. */
static haft_id insert_for_told(struct stage *stage, unsigned writer, haft_worker *worker)
{
    struct object object;
    haft_id id;

    object_write(&object, (haft_id){peek(&stage->told[writer])});
    must(&stage->run, haft_insert_wait(worker, &object, &id), "inserting");
    return id;
}

/* Tell of the next life of the slot that was freed, if the one told of has come. */
static void tell_next(struct stage *stage, unsigned writer, haft_id freed)
{
    const haft_layout layout = stage->layout;
    const uint64_t told = peek(&stage->told[writer]);

    if (told == 0 || told == freed.bits) {
        const haft_id next = haft_id_pack(layout, haft_id_index(layout, freed),
                                          haft_id_generation(layout, freed) + 1, 0);

        poke(&stage->told[writer], next.bits);
    }
}

static void write_until_done(struct stage *stage, unsigned writer, struct chance *chance)
{
    const bool inserts = run_is(&stage->run, "insert");
    haft_worker *worker;

    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (uint64_t i = 0; run_goes_on(&stage->run, i, peek(&stage->found_in_reused_slots)); i++) {
        const haft_id id =
            inserts ? insert_for_told(stage, writer, worker) : publish_told(stage, writer, worker);

        if (inserts ? peek(&stage->told[writer]) == id.bits : one_in(chance, 4)) {
            pause_by_chance(chance);
        }
        must(&stage->run, haft_free(worker, id), "freeing");
        if (inserts) {
            tell_next(stage, writer, id);
        }
        haft_worker_quiescent(worker);
    }
    haft_worker_close(worker);
}

static void body(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct chance chance = chance_of(&stage->run, number);

    if (number < stage->readers) {
        haft_worker *worker = enter_as_reader(&stage->run, stage->table);

        read_until_done(stage, number);
        leave_as_reader(stage->table, worker);
        return;
    }
    haft_thread_register(stage->domain);
    write_until_done(stage, number - stage->readers, &chance);
    add(&stage->writers_left, UINT64_MAX);
    haft_thread_unregister(stage->domain);
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 50000, 4, modes);
    const bool inserts = run_is(&stage.run, "insert");
    run_until(&stage.run, inserts ? 200 : 3000);

    stage.readers = inserts ? stage.run.threads - 1 : stage.run.threads / 2;
    poke(&stage.writers_left, stage.run.threads - stage.readers);
    stage.domain = open_domain(&stage.run);

    const haft_table_options options = {.capacity = inserts ? INSERT_CAPACITY : CAPACITY,
                                        .object_size = sizeof(struct object)};

    must(&stage.run, haft_table_open(stage.domain, &options, &stage.table), "opening the table");
    stage.view = haft_table_view(stage.table);
    stage.layout = haft_table_info(stage.table).layout;
    run_threads(stage.run.threads, body, &stage);

    close_with_domain(&stage.run, stage.table);
    finish(&stage.run, stage.found_in_reused_slots,
           "found in first life %llu, in later lives %llu, after looking in vain %llu",
           (unsigned long long)stage.found, (unsigned long long)stage.found_in_reused_slots,
           (unsigned long long)stage.waited_for);
}
