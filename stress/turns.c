#include "stress/turns.h"
#include <haft/detail/atomics.h>
#include <semaphore.h>

#define INDEX_BITS 17
#define LINE 64 /* bytes */

struct players {
    struct turns *turns;
    sem_t turn[TURN_THREADS];
};

static void body(unsigned number, void *shared)
{
    struct players *players = shared;
    struct turns *turns = players->turns;
    haft_domain *domain = haft_table_info(turns->table).domain;
    haft_worker *worker;

    sem_wait(&players->turn[number]);
    haft_thread_register(domain);
    must(turns->run, haft_worker_open(turns->table, &worker), "opening a worker");
    for (uint64_t turn = 0; turn < turns->count; turn++) {
        turns->play(turns, number, worker, turn);
        haft_thread_offline(domain);
        sem_post(&players->turn[1 - number]);
        sem_wait(&players->turn[number]);
        haft_thread_online(domain);
    }
    sem_post(&players->turn[1 - number]);
    must(turns->run, haft_worker_close(worker), "closing a worker");
    haft_thread_unregister(domain);
}

/* A table that has no more to spare than batches of `share` slots ask for. */
static haft_table *open_table(const struct turns *turns, haft_domain *domain)
{
    const uint64_t most = (UINT64_C(1) << INDEX_BITS) - HAFT_FIRST_INDEX;
    const size_t beside = turns->pins ? 2 * sizeof(uint64_t) : sizeof(uint64_t);
    const haft_table_options options = {
        .capacity = most - 32 * (uint64_t)(turns->share - 1),
        .object_size = LINE - beside,
        .object_alignment = sizeof(uint64_t), /* a slot is a line */
        .pins = turns->pins,
        .layout = HAFT_LAYOUT_OF(INDEX_BITS, 32, 0),
    };
    haft_table *table;

    must(turns->run, haft_table_open(domain, &options, &table), "opening a table");
    return table;
}

void turns_play(struct turns *turns)
{
    struct players players = {.turns = turns};
    haft_domain *domain = open_domain(turns->run);

    turns->table = open_table(turns, domain);
    sem_init(&players.turn[0], 0, 1);
    sem_init(&players.turn[1], 0, 0);
    run_threads(TURN_THREADS, body, &players);
    must(turns->run, haft_table_close(turns->table), "closing the table");
    must(turns->run, haft_domain_close(domain), "closing the domain");
}

haft_id turns_insert(const struct turns *turns, haft_worker *worker)
{
    haft_id id;
    haft_status status = haft_insert(worker, NULL, &id);

    if (status == HAFT_BUSY) {
        status = haft_insert_wait(worker, NULL, &id);
    }
    must(turns->run, status, "inserting");
    return id;
}

struct traffic turns_traffic(void)
{
    struct traffic sum = {{0}, {0}};

    for (unsigned edge = 0; edge <= HAFT_EDGE_RETRY; edge++) {
        const struct traffic one = traffic_of(edge);

        for (unsigned kind = 0; kind < OPERATION_KINDS; kind++) {
            sum.all[kind] += one.all[kind];
            sum.foreign[kind] += one.foreign[kind];
        }
    }
    return sum;
}
