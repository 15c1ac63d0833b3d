/*
 * stress/exact.c - all threads insert into the last place of a table with an exact capacity.
 *
 * Invariant  in each round exactly one insertion succeeds, the others are told HAFT_FULL or, while
 *            the place waits for its grace period, HAFT_BUSY; at no time are more objects live than
 *            the capacity; a thread that gets HAFT_BUSY and waits gets HAFT_FULL or succeeds.
 * Pressure   all threads start at one barrier that orders nothing; the winner frees in each round,
 *            so that the place wanders from worker to worker.
 * Usage      exact [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller|workers]
 */
#include "stress/support.h"

#define CAPACITY 4

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    struct barrier barrier;
    shared_u64 live;
    shared_u64 won; /* in all rounds */
    shared_u64 lost;
};

static void try_once(struct stage *stage, haft_worker *worker, haft_id *id)
{
    haft_status status;

    while ((status = haft_insert(worker, NULL, id)) == HAFT_BUSY) {
        haft_worker_quiescent(worker);
    }
    if (status == HAFT_OK) {
        add(&stage->won, 1);
        if (add(&stage->live, 1) >= CAPACITY) {
            violation(&stage->run, "more than %d objects are live", CAPACITY);
        }
    } else if (status == HAFT_FULL) {
        add(&stage->lost, 1);
    } else {
        violation(&stage->run, "inserting: %s", haft_status_text(status));
    }
}

static void body(unsigned number, void *shared)
{
    struct stage *stage = shared;
    haft_worker *worker;
    uint64_t times = 0;

    haft_thread_register(stage->domain);
    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (uint64_t round = 0;; round++) {
        haft_id id = HAFT_NIL;

        if (number == 0 && !run_goes_on(&stage->run, round, peek(&stage->lost))) {
            say_end(&stage->barrier);
        }
        if (!meet_offline(stage->domain, &stage->barrier, &times)) {
            break;
        }
        try_once(stage, worker, &id);
        meet_offline(stage->domain, &stage->barrier, &times);
        if (peek(&stage->won) != round + 1) {
            violation(&stage->run, "%llu winners after %llu rounds",
                      (unsigned long long)peek(&stage->won), (unsigned long long)round + 1);
        }
        meet_offline(stage->domain, &stage->barrier, &times);
        if (!haft_id_is_nil(id)) {
            add(&stage->live, UINT64_MAX);
            must(&stage->run, haft_free(worker, id), "freeing");
        }
        haft_worker_quiescent(worker);
    }
    must(&stage->run, haft_worker_close(worker), "closing a worker");
    haft_thread_unregister(stage->domain);
}

static void insert_all_but_one(struct stage *stage)
{
    haft_worker *worker;
    haft_id id;

    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (int i = 0; i < CAPACITY - 1; i++) {
        must(&stage->run, haft_insert(worker, NULL, &id), "inserting");
    }
    stage->live = CAPACITY - 1;
    must(&stage->run, haft_worker_close(worker), "closing a worker");
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 2000, 4, NULL);
    run_until(&stage.run, 6000);
    stage.barrier.threads = stage.run.threads;
    stage.domain = open_domain(&stage.run);

    /* With an index beyond the capacity, or without one. */
    const haft_layout tight = HAFT_LAYOUT_OF(3, 32, 0);
    const haft_table_options options = {.capacity = CAPACITY,
                                        .exact_capacity = true,
                                        .object_size = 8,
                                        .layout =
                                            stage.run.seed % 2 == 0 ? tight : HAFT_LAYOUT_32_32};

    must(&stage.run, haft_table_open(stage.domain, &options, &stage.table), "opening the table");
    haft_thread_register(stage.domain);
    insert_all_but_one(&stage);
    haft_thread_unregister(stage.domain);
    run_threads(stage.run.threads, body, &stage);

    close_with_domain(&stage.run, stage.table);
    finish(&stage.run, stage.lost, "won %llu, lost %llu", (unsigned long long)stage.won,
           (unsigned long long)stage.lost);
}
