/*
 * stress/ticket.c - one thread frees and flushes, another waits for that and looks.
 *
 * Invariant  what a thread did before it retired its freed slots is visible to a thread that
 *            has waited for them with haft_domain_wait() (TICKET).
 * Pressure   ids without objects, and notes beside them that only the ticket orders: no section,
 *            no batch and no id passes from the one thread to the other.
 * Usage      ticket [rounds] [threads] [seed] [memb|qsbr|ck]
 *            Threads work in pairs; the clock is always the caller's, or there would be nothing
 *            left to wait for.
 */
#include "stress/support.h"
#include <sched.h>

struct pair {
    struct run *run;
    haft_domain *domain;
    haft_table *table;
    uint64_t note;                 /* plain: the giver's, then the waiter's to read */
    _Atomic(uint64_t) rounds_seen; /* back to the giver: ordered, and only in that direction */
    shared_u64 waits;              /* that had something to wait for */
};

static void give(struct pair *pair)
{
    haft_worker *worker;
    haft_id id;

    must(pair->run, haft_worker_open(pair->table, &worker), "opening a worker");
    for (uint64_t round = 1; round <= pair->run->rounds; round++) {
        id = reserve_waiting(pair->run, worker, NULL);
        haft_publish(worker, id);
        pair->note = round;
        must(pair->run, haft_free(worker, id), "freeing");
        haft_worker_flush(worker);
        while (atomic_load_explicit(&pair->rounds_seen, memory_order_acquire) != round) {
            sched_yield();
        }
    }
    must(pair->run, haft_worker_close(worker), "closing a worker");
}

static void wait_and_look(struct pair *pair)
{
    for (uint64_t round = 1; round <= pair->run->rounds; round++) {
        while (haft_domain_stats_get(pair->domain).backlog == 0) {
            sched_yield();
        }
        must(pair->run, haft_domain_wait(pair->domain), "waiting");
        if (pair->note != round) {
            violation(pair->run, "in round %llu the note says %llu", (unsigned long long)round,
                      (unsigned long long)pair->note);
        }
        add(&pair->waits, 1);
        atomic_store_explicit(&pair->rounds_seen, round, memory_order_release);
    }
}

static void body(unsigned number, void *shared)
{
    struct pair *pair = (struct pair *)shared + number / 2;

    if (number % 2 == 0) {
        give(pair);
    } else {
        wait_and_look(pair);
    }
}

int main(int argc, char **argv)
{
    static struct pair pairs[MOST_THREADS / 2];
    struct run run = run_from(argc, argv, 20000, 2, NULL);
    const haft_table_options options = {.capacity = 1000};
    const unsigned count = run.threads / 2;
    uint64_t waits = 0;

    run.clock = HAFT_CLOCK_CALLER;
    for (unsigned i = 0; i < count; i++) {
        pairs[i].run = &run;
        pairs[i].domain = open_domain(&run);
        must(&run, haft_table_open(pairs[i].domain, &options, &pairs[i].table), "opening a table");
    }
    run_threads(2 * count, body, pairs);
    for (unsigned i = 0; i < count; i++) {
        close_table(&run, pairs[i].table);
        must(&run, haft_domain_close(pairs[i].domain), "closing a domain");
        waits += pairs[i].waits;
    }
    finish(&run, waits, "notes seen after a wait %llu", (unsigned long long)waits);
}
