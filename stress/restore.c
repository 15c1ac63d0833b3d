/*
 * stress/restore.c - all threads restore the same ids at once, and then free them.
 *
 * Invariant  exactly one HAFT_OK for each id, of the threads that restore it and of those that free
 *            it; a thread that resolves it sees the object that it was restored with (PUBLISH);
 *            on_reclaim runs once for it, and before its slot is restored again (REVIVE); no id
 *            that the table chooses is in the range.
 * Pressure   all threads start at one barrier that orders nothing, each at another of the ids;
 *            the next generation is restored while the one before waits for its grace period.
 * Usage      restore [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller|workers]
 */
#include "stress/support.h"
#include <haft/share.h>

#define IDS 4 /* the range */

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    struct barrier barrier;
    uint64_t rounds;          /* that were played */
    shared_u64 restored[IDS]; /* by the winner, in all rounds */
    shared_u64 freed[IDS];
    shared_u64 reclaimed[IDS];
    shared_u64 lost; /* to another thread that restored the same id */
};

static haft_id id_of(uint64_t place, uint64_t round)
{
    return haft_id_pack(HAFT_LAYOUT_32_32, HAFT_FIRST_INDEX + place, round + 1, 0);
}

static void on_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct stage *stage = arg;
    const uint64_t place = haft_id_index(HAFT_LAYOUT_32_32, id) - HAFT_FIRST_INDEX;

    (void)worker;
    if (place >= IDS) {
        return;
    }
    if (!object_is(object, id)) {
        violation(&stage->run, "id %llx reclaimed as another", (unsigned long long)id.bits);
    }
    add(&stage->reclaimed[place], 1);
}

/* Until this thread or another has restored it. */
static void restore(struct stage *stage, haft_worker *worker, uint64_t place, uint64_t round)
{
    const haft_id id = id_of(place, round);
    struct object object;
    haft_status status;

    object_write(&object, id);
    while ((status = haft_restore(worker, id, &object)) == HAFT_BUSY) {
        haft_worker_quiescent(worker);
    }
    if (status == HAFT_OK) {
        if (add(&stage->restored[place], 1) != round || peek(&stage->reclaimed[place]) != round) {
            violation(&stage->run, "id %llx is restored twice, or too early",
                      (unsigned long long)id.bits);
        }
    } else if (status == HAFT_OCCUPIED) {
        add(&stage->lost, 1);
    } else {
        violation(&stage->run, "restoring: %s", haft_status_text(status));
    }
}

static void look(struct stage *stage, haft_id id)
{
    haft_section_begin(stage->domain);
    const void *object = haft_resolve(stage->view, id);

    if (object != NULL && !object_is(object, id)) {
        violation(&stage->run, "id %llx has another's object", (unsigned long long)id.bits);
    }
    haft_section_end(stage->domain);
}

static void end_life(struct stage *stage, haft_worker *worker, uint64_t place, uint64_t round)
{
    const haft_id id = id_of(place, round);

    look(stage, id);
    if (haft_free(worker, id) == HAFT_OK) {
        add(&stage->freed[place], 1);
    }
}

/* Ordinary life beside it. */
static void churn(struct stage *stage, haft_worker *worker)
{
    void *object;
    const haft_id id = reserve_waiting(&stage->run, worker, &object);

    if (haft_id_index(HAFT_LAYOUT_32_32, id) < HAFT_FIRST_INDEX + IDS) {
        violation(&stage->run, "the table chose id %llx", (unsigned long long)id.bits);
    }
    object_write(object, id);
    haft_publish(worker, id);
    must(&stage->run, haft_free(worker, id), "freeing");
}

static void begin_round(struct stage *stage, uint64_t round)
{
    if (run_goes_on(&stage->run, round, peek(&stage->lost))) {
        stage->rounds = round + 1;
    } else {
        say_end(&stage->barrier);
    }
}

static void body(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct chance chance = chance_of(&stage->run, number);
    haft_worker *worker;
    uint64_t times = 0;

    haft_thread_register(stage->domain);
    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (uint64_t round = 0;; round++) {
        const uint64_t first = draw(&chance);

        if (number == 0) {
            begin_round(stage, round);
        }
        if (!meet_offline(stage->domain, &stage->barrier, &times)) {
            break;
        }

        for (uint64_t i = 0; i < IDS; i++) {
            restore(stage, worker, (first + i) % IDS, round);
        }
        churn(stage, worker);
        meet_offline(stage->domain, &stage->barrier, &times);
        for (uint64_t i = 0; i < IDS; i++) {
            end_life(stage, worker, (first + i) % IDS, round);
        }
        haft_worker_quiescent(worker);
    }
    must(&stage->run, haft_worker_close(worker), "closing a worker");
    haft_thread_unregister(stage->domain);
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 2000, 4, NULL);
    run_until(&stage.run, 3000);
    stage.barrier.threads = stage.run.threads;
    stage.domain = open_domain(&stage.run);

    const haft_table_options options = {.capacity = UINT64_C(8) << stage.run.seed % 5,
                                        .restore_range = IDS,
                                        .object_size = sizeof(struct object),
                                        .on_reclaim = on_reclaim,
                                        .reclaim_arg = &stage};

    must(&stage.run, haft_table_open(stage.domain, &options, &stage.table), "opening the table");
    stage.view = haft_table_view(stage.table);
    run_threads(stage.run.threads, body, &stage);

    close_with_domain(&stage.run, stage.table);
    for (int i = 0; i < IDS; i++) {
        if (stage.restored[i] != stage.rounds || stage.freed[i] != stage.rounds ||
            stage.reclaimed[i] != stage.rounds) {
            violation(&stage.run, "restored %llu, freed %llu, reclaimed %llu times",
                      (unsigned long long)stage.restored[i], (unsigned long long)stage.freed[i],
                      (unsigned long long)stage.reclaimed[i]);
        }
    }
    finish(&stage.run, stage.lost, "restored %llu, lost to others %llu",
           (unsigned long long)stage.rounds * IDS, (unsigned long long)stage.lost);
}
