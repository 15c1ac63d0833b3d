/*
 * stress/publish.c - readers that find the next tenant of a slot the moment it is there.
 *
 * Invariant  who resolves an id sees all that was written to the object before it was published,
 *            in the slot's first life and in every later one (PUBLISH); before, it is not found.
 * Pressure   a few slots are used again and again; each id is told to the readers before it is
 *            published, and they resolve it until they find it.
 * Usage      publish [rounds] [threads] [seed] [memb|qsbr] [thread|caller|workers]
 */
#include "stress/support.h"
#include <sched.h>

#define CAPACITY 16 /* so that most slots are used again and again */
#define TRIES 2000  /* of a reader, to find one id */

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    haft_layout layout;
    unsigned readers;
    shared_u64 told[MOST_THREADS]; /* by writer: the id that is about to be published */
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

/* Resolve what a writer has told of until it is there, or another is told of. */
static void read_once(struct stage *stage, shared_u64 *told, haft_id id)
{
    for (int i = 0; i < TRIES && peek(told) == id.bits; i++) {
        if (find(stage, id)) {
            const bool reused = haft_id_generation(stage->layout, id) > 1;

            add(reused ? &stage->found_in_reused_slots : &stage->found, 1);
            add(&stage->waited_for, i != 0);
            break;
        }
    }
    haft_thread_offline(stage->domain);
    haft_thread_online(stage->domain);
}

/* What one writer tells of: each reader reads one, and each id of it once. */
static void read_until_done(struct stage *stage, unsigned number)
{
    shared_u64 *told = &stage->told[number % (stage->run.threads - stage->readers)];
    haft_id last = HAFT_NIL;

    while (peek(&stage->writers_left) != 0) {
        const haft_id id = {peek(told)};

        if (haft_id_equal(id, last)) {
            haft_thread_offline(stage->domain);
            sched_yield();
            haft_thread_online(stage->domain);
        } else {
            read_once(stage, told, id);
        }
        last = id;
    }
}

static void write_until_done(struct stage *stage, unsigned writer, struct chance *chance)
{
    haft_worker *worker;
    void *object;

    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (uint64_t i = 0; i < stage->run.rounds; i++) {
        const haft_id id = reserve_waiting(&stage->run, worker, &object);

        poke(&stage->told[writer], id.bits);
        object_write(object, id);
        haft_publish(worker, id);
        if (one_in(chance, 4)) {
            pause_by_chance(chance);
        }
        must(&stage->run, haft_free(worker, id), "freeing");
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

    stage.run = run_from(argc, argv, 50000, 4, NULL);
    stage.readers = stage.run.threads / 2;
    poke(&stage.writers_left, stage.run.threads - stage.readers);
    stage.domain = open_domain(&stage.run);

    const haft_table_options options = {.capacity = CAPACITY, .object_size = sizeof(struct object)};

    must(&stage.run, haft_table_open(stage.domain, &options, &stage.table), "opening the table");
    stage.view = haft_table_view(stage.table);
    stage.layout = haft_table_layout(stage.table);
    run_threads(stage.run.threads, body, &stage);

    must(&stage.run, haft_table_close(stage.table), "closing the table");
    must(&stage.run, haft_domain_close(stage.domain), "closing the domain");
    finish(&stage.run, stage.found_in_reused_slots,
           "found in first life %llu, in later lives %llu, after looking in vain %llu",
           (unsigned long long)stage.found, (unsigned long long)stage.found_in_reused_slots,
           (unsigned long long)stage.waited_for);
}
