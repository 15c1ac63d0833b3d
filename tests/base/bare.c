/*
 * bare.c - a program of one thread over the library without an operating system (HAFT_OS_BARE): all
 * tables are used to their last slot, trimmed, and used again.
 *
 * Exits with 0, or after a line on stderr with 1.
 */
#include <haft/kit/kit.h>
#include <stdio.h>
#include <stdlib.h>

#define OBJECTS 1000
#define ROUNDS 5

#define must(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static haft_id ids[OBJECTS];

static void use_local(void)
{
    const haft_local_options options = {
        .capacity = OBJECTS, .object_size = 100, .first_generation = HAFT_RANDOM_GENERATION};
    uint64_t bytes = 1;
    haft_local *local;

    must(haft_local_open(&options, &local) == HAFT_OK);
    must(haft_local_reserve_capacity(local, OBJECTS) == HAFT_OK);
    for (int round = 0; round < ROUNDS; round++) {
        const haft_id old = ids[0];

        for (int i = 0; i < OBJECTS; i++) {
            must(haft_local_insert(local, NULL, &ids[i]) == HAFT_OK);
        }
        must(round == 0 || !haft_is_live(haft_local_view(local), old));
        for (int i = 0; i < OBJECTS; i++) {
            must(haft_local_free(local, ids[i]) == HAFT_OK);
        }
        must(haft_local_trim(local, &bytes) == HAFT_OK && bytes == 0);
    }
    haft_local_close(local);
}

static void use_packed(void)
{
    const haft_packed_options options = {.capacity = OBJECTS, .object_size = sizeof(int)};
    haft_packed *packed;

    must(haft_packed_open(&options, &packed) == HAFT_OK);
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_packed_insert(packed, &i, &ids[i]) == HAFT_OK);
    }
    for (int i = 0; i < OBJECTS; i += 2) {
        must(haft_packed_free(packed, ids[i]) == HAFT_OK);
    }
    must(haft_packed_count(packed) == OBJECTS / 2);
    haft_packed_close(packed);
}

/* Each round needs the slots of the one before: insert_wait drives a grace period where it may. */
static void use_shared(haft_clock clock)
{
    const haft_domain_options on = {.clock = clock};
    const haft_table_options options = {.capacity = OBJECTS, .object_size = 100, .pins = true};
    haft_domain *domain;
    haft_table *table;
    haft_worker *worker;

    must(haft_domain_open(&on, &domain) == HAFT_OK);
    must(haft_table_open(domain, &options, &table) == HAFT_OK);
    for (int round = 0; round < ROUNDS; round++) {
        must(haft_worker_open(table, &worker) == HAFT_OK);
        for (int i = 0; i < OBJECTS; i++) {
            must(haft_insert_wait(worker, NULL, &ids[i]) == HAFT_OK);
        }
        must(haft_resolve(haft_table_view(table), ids[0]) != NULL);
        for (int i = 0; i < OBJECTS; i++) {
            must((i % 2 == 0 ? haft_free(worker, ids[i]) : haft_table_free(table, ids[i])) ==
                 HAFT_OK);
        }
        must(haft_worker_close(worker) == HAFT_OK);
        if (clock == HAFT_CLOCK_FRAME) {
            haft_domain_tick(domain);
        }
        must(haft_trim(table, NULL) == HAFT_OK);
    }
    must(haft_table_close(table) == HAFT_OK);
    must(haft_domain_close(domain) == HAFT_OK);
}

static void wait_for_no_thread(void *ctx)
{
    (void)ctx;
}

static void section(void *ctx)
{
    (void)ctx;
}

static bool is_inside(void *ctx)
{
    (void)ctx;
    return false;
}

static void expect_no_threads(void)
{
    static int ctx;
    const haft_foreign_clock foreign = {.ctx = &ctx,
                                        .wait = wait_for_no_thread,
                                        .begin = section,
                                        .end = section,
                                        .inside = is_inside};
    const haft_domain_options options = {.clock = HAFT_CLOCK_THREAD, .foreign_clock = &foreign};
    haft_domain *domain;

    must(haft_domain_open(&options, &domain) == HAFT_NO_THREAD);
}

int main(void)
{
    use_local();
    use_packed();
    use_shared(HAFT_CLOCK_WORKERS);
    use_shared(HAFT_CLOCK_FRAME);
    expect_no_threads();
    return 0;
}
