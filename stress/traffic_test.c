/*
 * stress/traffic_test.c - the counts of stress/traffic.h, on a table whose use is known.
 *
 * Invariant  one thread alone touches no other's line; of two that free each other's objects, each
 *            compare-and-swap is on a line that the other wrote.
 * White-box: it names the edges by number.
 */
#include "stress/support.h"
#include "stress/traffic.h"
#include <haft/detail/atomics.h>
#include <stdio.h>

#define OBJECTS 100

struct pair {
    struct run *run;
    haft_table *table;
    haft_id ids[OBJECTS];
};

static void body(unsigned number, void *shared)
{
    struct pair *pair = shared;
    haft_worker *worker;

    must(pair->run, haft_worker_open(pair->table, &worker), "opening a worker");
    for (int i = 0; i < OBJECTS; i++) {
        if (number == 0) {
            must(pair->run, haft_insert(worker, NULL, &pair->ids[i]), "inserting");
        } else {
            must(pair->run, haft_free(worker, pair->ids[i]), "freeing");
        }
    }
    must(pair->run, haft_worker_close(worker), "closing a worker");
}

static void body_of_second(unsigned number, void *shared)
{
    (void)number;
    body(1, shared);
}

static void expect(const struct run *run, uint64_t counted, uint64_t expected, const char *what)
{
    if (counted != expected) {
        violation(run, "%s: %llu, not %llu", what, (unsigned long long)counted,
                  (unsigned long long)expected);
    }
}

int main(int argc, char **argv)
{
    static struct pair pair;
    struct run run = run_from(argc, argv, 1, 2, NULL);
    /* Slots of a line each, so that what is counted is the slots' own. */
    const haft_table_options options = {.capacity = 4096, .object_size = 56, .object_alignment = 8};
    haft_domain *domain = open_domain(&run);

    pair.run = &run;
    must(&run, haft_table_open(domain, &options, &pair.table), "opening a table");
    traffic_reset();
    run_threads(1, body, &pair);
    const struct traffic published = traffic_of(HAFT_EDGE_PUBLISH);

    expect(&run, published.all[OPERATION_STORE], OBJECTS, "publications");
    expect(&run, published.foreign[OPERATION_STORE], 0, "publications on another's line");
    run_threads(1, body_of_second, &pair);
    const struct traffic freed = traffic_of(HAFT_EDGE_PUBLISH);

    expect(&run, freed.all[OPERATION_MODIFY], OBJECTS, "frees");
    expect(&run, freed.foreign[OPERATION_MODIFY], OBJECTS, "frees of another's objects");
    close_table(&run, pair.table);
    must(&run, haft_domain_close(domain), "closing the domain");
    finish(&run, OBJECTS, "counted %d objects", OBJECTS);
}
