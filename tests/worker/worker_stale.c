/*
 * worker_stale.c - uses a worker after its close, or a shared table that has become a local one, in
 * the way that is named; AddressSanitizer must report it, also in release builds, whose calls
 * assert nothing.
 *
 * Usage: worker_stale [<way>]; without one it lists them
 */
#include <haft/share.h>
#include <haft/table.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static haft_table *table;
static haft_worker *worker;
static haft_id live;
static haft_id reserved;

static void must(haft_status status)
{
    if (status != HAFT_OK) {
        fprintf(stderr, "%s\n", haft_status_text(status));
        exit(2);
    }
}

static void insert(void)
{
    haft_id id;

    haft_insert(worker, NULL, &id);
}

static void insert_many(void)
{
    haft_id id;

    haft_insert_many(worker, NULL, &id, 1, NULL);
}

static void reserve(void)
{
    haft_id id;

    haft_reserve(worker, &id, NULL);
}

static void free_one(void)
{
    haft_free(worker, live);
}

static void free_many(void)
{
    haft_free_many(worker, &live, 1, NULL);
}

static void give_up(void)
{
    haft_abort(worker, reserved);
}

static void quiescent(void)
{
    haft_worker_quiescent(worker);
}

static void flush(void)
{
    haft_worker_flush(worker);
}

static void end(void)
{
    haft_worker_close(worker);
}

static void open_unshared(void)
{
    haft_local *local;

    must(haft_unshare(table, &local));
    haft_worker_open(table, &worker);
}

static void open_and_close_worker(void)
{
    haft_domain *domain;

    must(haft_domain_open(&(haft_domain_options){.clock = HAFT_CLOCK_FRAME}, &domain));
    must(haft_table_open(domain, &(haft_table_options){.capacity = 100}, &table));
    must(haft_worker_open(table, &worker));
    must(haft_insert(worker, NULL, &live));
    must(haft_reserve(worker, &reserved, NULL));
    must(haft_worker_close(worker));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*use)(void);
    } ways[] = {
        {"insert", insert},       {"insert_many", insert_many},
        {"reserve", reserve},     {"free", free_one},
        {"free_many", free_many}, {"abort", give_up},
        {"quiescent", quiescent}, {"flush", flush},
        {"close", end},           {"open_unshared", open_unshared},
    };

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (argc == 1) {
            puts(ways[i].name);
        } else if (strcmp(argv[1], ways[i].name) == 0) {
            open_and_close_worker();
            ways[i].use();
            return 0;
        }
    }
    return argc == 1 ? 0 : 2;
}
