/* The distance that a shared table keeps between two lives of a slot. */
#include "tests/support.h"
#include <haft/many.h>
#include <haft/restore.h>
#include <haft/trim.h>
#include <haft/unregistered.h>
#include <stdatomic.h>

TestSuite(distance, .timeout = SUITE_SECONDS);

#define LAYOUT HAFT_LAYOUT_OF(12, 2, 0) /* three lives in a round */

static uint64_t index_of(haft_id id)
{
    return haft_id_index(LAYOUT, id);
}

static uint64_t generation_of(haft_id id)
{
    return haft_id_generation(LAYOUT, id);
}

static haft_table_options wrapping(uint64_t capacity, uint64_t distance)
{
    const haft_table_options options = {.capacity = capacity,
                                        .object_size = 8,
                                        .layout = LAYOUT,
                                        .wrap = true,
                                        .reuse_distance = distance};
    return options;
}

/* What is freed may be reused, as far as the clock goes. */
static haft_id insert_after(haft_worker *worker)
{
    settle(worker);
    return insert(worker);
}

static void free_object(const struct shared *shared, haft_id id)
{
    must(haft_free(shared->worker, id) == HAFT_OK);
}

static uint64_t reclaimed_generation;

static void note_generation(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)object;
    (void)worker;
    (void)arg;
    reclaimed_generation = generation_of(id);
}

/* For each slot, the number of the last object in it. */
struct history {
    uint64_t number[1 << 12];
    uint64_t created;
};

/* The next object: it comes more than the distance after the last one in its slot. */
static void note(struct history *history, haft_id id, uint64_t distance)
{
    uint64_t *last = &history->number[index_of(id)];

    history->created++;
    must(*last == 0 || history->created - *last > distance);
    *last = history->created;
}

TEST_ON_EACH_CLOCK(distance, with_a_capacity_of_1_ids_repeat_exactly_when_the_header_says)
{
    for (uint64_t distance = 1; distance < 40; distance += 6) {
        const haft_table_options options = wrapping(1, distance);
        struct shared shared = open_shared(*setting, &options);
        haft_id first = HAFT_NIL;
        const uint64_t repeat = 1 + 3 * (distance + 1);

        for (uint64_t number = 1; number <= repeat; number++) {
            const haft_id id = insert_after(shared.worker);

            first = number == 1 ? id : first;
            must((id.bits == first.bits) == (number == 1 || number == repeat));
            free_object(&shared, id);
        }
        close_shared(&shared);
    }
}

Test(distance, holds_for_objects_freed_in_any_order)
{
    enum { CAPACITY = 50, DISTANCE = 30 };
    const haft_table_options options = wrapping(CAPACITY, DISTANCE);
    struct shared shared = open_shared(MEMB_CALLER, &options);
    static struct history history;
    haft_id ids[CAPACITY];
    uint64_t live = 0;
    uint64_t state = 7;

    for (int i = 0; i < 20000; i++) {
        if (live == 0 || (live < CAPACITY && random_next(&state) % 2 == 0)) {
            ids[live] = insert_after(shared.worker);
            note(&history, ids[live++], DISTANCE);
        } else {
            const uint64_t chosen = random_next(&state) % live;

            free_object(&shared, ids[chosen]);
            ids[chosen] = ids[--live];
        }
    }
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(distance, the_capacity_can_be_used_right_after_all_was_freed)
{
    enum { CAPACITY = 300 };
    const uint64_t distances[] = {1, 7, CAPACITY, 1000};

    for (int d = 0; d < 4; d++) {
        const haft_table_options options = wrapping(CAPACITY, distances[d]);
        struct shared shared = open_shared(*setting, &options);
        static struct history history;
        haft_id ids[CAPACITY];
        haft_id id;

        history = (struct history){0};
        for (int round = 0; round < 6; round++) {
            settle(shared.worker);
            for (int i = 0; i < CAPACITY; i++) {
                ids[i] = insert(shared.worker);
                note(&history, ids[i], distances[d]);
            }
            expect_status(haft_insert(shared.worker, NULL, &id), HAFT_FULL);
            for (int i = CAPACITY - 1; i >= 0; i--) {
                free_object(&shared, ids[i]);
            }
        }
        close_shared(&shared);
    }
}

Test(distance, many_at_once_keep_it_too)
{
    enum { CAPACITY = 40, DISTANCE = 25 };
    const haft_table_options options = wrapping(CAPACITY, DISTANCE);
    struct shared shared = open_shared(MEMB_CALLER, &options);
    static struct history history;
    haft_id ids[CAPACITY + 1];
    haft_status why;

    for (int i = 0; i < 500; i++) {
        settle(shared.worker);
        must(haft_insert_many(shared.worker, NULL, ids, 1, NULL) == 1);
        note(&history, ids[0], DISTANCE);
        must(haft_free_many(shared.worker, ids, 1, NULL) == 1);
    }
    for (int round = 0; round < 50; round++) {
        settle(shared.worker);
        must(haft_insert_many(shared.worker, NULL, ids, CAPACITY + 1, &why) == CAPACITY);
        must(why == HAFT_FULL);
        for (int i = 0; i < CAPACITY; i++) {
            note(&history, ids[i], DISTANCE);
        }
        must(haft_free_many(shared.worker, ids, CAPACITY, NULL) == CAPACITY);
    }
    close_shared(&shared);
}

Test(distance, on_reclaim_runs_at_the_quiescent_point_and_once_for_each)
{
    haft_table_options options = wrapping(1, 100);

    options.on_reclaim = note_generation;
    struct shared shared = open_shared(MEMB_CALLER, &options);
    const haft_id id = insert(shared.worker);

    free_object(&shared, id);
    settle(shared.worker);
    haft_worker_quiescent(shared.worker);
    cr_expect(eq(u64, reclaimed_generation, generation_of(id)));
    reclaimed_generation = 0;
    for (int i = 0; i < 100; i++) { /* until its slot is the next */
        settle(shared.worker);
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
        const haft_id other = insert(shared.worker);

        must(index_of(other) != index_of(id));
        reclaimed_generation = 0;
        free_object(&shared, other);
    }
    settle(shared.worker);
    must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    reclaimed_generation = 0;
    cr_expect(eq(u64, index_of(insert(shared.worker)), index_of(id)));
    cr_expect(eq(u64, reclaimed_generation, 0));
    close_shared(&shared);
}

Test(distance, a_reader_inside_keeps_its_slot_however_many_are_created)
{
    const haft_table_options options = wrapping(1, 3);
    struct shared shared = open_shared(MEMB_CALLER, &options);
    struct reader reader;
    const haft_id id = insert(shared.worker);
    haft_id other;

    reader_enter(&reader, &shared);
    free_object(&shared, id);
    for (int i = 0; i < 3; i++) {
        other = insert(shared.worker);
        must(index_of(other) != index_of(id));
        free_object(&shared, other);
    }
    expect_status(haft_insert(shared.worker, NULL, &other), HAFT_BUSY);
    reader_leave(&reader);
    cr_expect(eq(u64, index_of(insert_after(shared.worker)), index_of(id)));
    close_shared(&shared);
}

Test(distance, threads_without_a_worker_keep_it_too)
{
    const haft_table_options options = wrapping(3, 5);
    struct shared shared = open_shared(MEMB_CALLER, &options);
    static struct history history;

    for (int i = 0; i < 1000; i++) {
        haft_id id;

        settle(shared.worker);
        must(haft_table_insert(shared.table, NULL, &id) == HAFT_OK);
        note(&history, id, 5);
        must(haft_table_free(shared.table, id) == HAFT_OK);
    }
    close_shared(&shared);
}

Test(distance, is_kept_by_trim_and_by_restoring)
{
    haft_table_options options = wrapping(10, 30);

    options.restore_range = 1;
    struct shared shared = open_shared(MEMB_CALLER, &options);
    static struct history history;

    for (uint64_t i = 0; i < 1000; i++) {
        const haft_id restored = haft_id_pack(LAYOUT, HAFT_FIRST_INDEX, i % 3 + 1, 0);
        const haft_id id = insert_after(shared.worker);

        note(&history, id, 30);
        assert_status(haft_restore(shared.worker, restored, NULL), HAFT_OK);
        history.created++;
        free_object(&shared, id);
        free_object(&shared, restored);
        must(haft_domain_wait(shared.domain) == HAFT_OK);
        must(haft_trim(shared.table, NULL) == HAFT_OK);
    }
    close_shared(&shared);
}

Test(distance, what_one_worker_frees_is_there_for_another)
{
    const haft_table_options options = wrapping(10, 1000);
    struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_worker *other = open_worker(shared.table);
    haft_id ids[10];

    for (int round = 0; round < 500; round++) {
        for (int i = 0; i < 10; i++) {
            ids[i] = insert(shared.worker);
        }
        for (int i = 0; i < 10; i++) {
            must(haft_free(other, ids[i]) == HAFT_OK);
        }
        must(haft_domain_wait(shared.domain) == HAFT_OK); /* and nobody flushes */
    }
    must(haft_worker_close(other) == HAFT_OK);
    close_shared(&shared);
}

Test(distance, a_slot_that_is_due_is_found_behind_others_that_are_not)
{
    const haft_table_options options = wrapping(2, 4);
    struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_worker *other = open_worker(shared.table);
    const haft_id first = insert(shared.worker);

    must(haft_free(other, first) == HAFT_OK); /* in the other's ring, due from the 5th on */
    haft_id older = insert(shared.worker);
    haft_id newer = insert(shared.worker);

    for (int i = 0; i < 3; i++) {
        free_object(&shared, older);
        must(haft_domain_wait(shared.domain) == HAFT_OK);
        older = newer;
        newer = insert(shared.worker);
    }
    free_object(&shared, older);
    cr_expect(eq(u64, index_of(insert(shared.worker)), index_of(first)));
    must(haft_worker_close(other) == HAFT_OK);
    close_shared(&shared);
}

static bool inserts_more;

static void insert_one_more(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)object;
    (void)id;
    (void)arg;
    if (inserts_more) {
        inserts_more = false;
        insert(worker);
    }
}

Test(distance, a_slot_found_when_the_table_has_become_full_is_left_to_others)
{
    haft_table_options options = wrapping(2, 1);

    options.on_reclaim = insert_one_more;
    struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_worker *other = open_worker(shared.table);
    const haft_id first = insert(shared.worker);

    free_object(&shared, first);
    const haft_id second = insert(shared.worker);
    haft_id id;

    must(haft_domain_wait(shared.domain) == HAFT_OK);
    inserts_more = true;
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_FULL);
    free_object(&shared, second);
    assert_status(haft_insert(other, NULL, &id), HAFT_OK);
    cr_expect(eq(u64, index_of(id), index_of(first)));
    must(haft_worker_close(other) == HAFT_OK);
    close_shared(&shared);
}

/* --- with several workers --- */

#define THREADS 4
#define CREATED 5000 /* by each thread */
#define ALL_DISTANCE 64
#define ALL_CAPACITY 32

/* Numbers taken before the object is reserved, and after: its own lies between. */
struct life {
    haft_id id;
    uint64_t after;
    uint64_t before_end;
};

struct crowd {
    struct shared *shared;
    _Atomic uint64_t returned;          /* reservations that have returned */
    _Atomic uint64_t begun;             /* or are about to */
    _Atomic uint64_t ended_at[1 << 12]; /* begun, when the slot's last object was freed */
    _Atomic uint64_t reused[1 << 12];   /* times */
    _Atomic int broken;
};

static void *churn(void *arg)
{
    struct crowd *crowd = arg;

    haft_thread_register(crowd->shared->domain);
    haft_worker *worker = open_worker(crowd->shared->table);

    for (int i = 0; i < CREATED; i++) {
        haft_id id;

        atomic_fetch_add(&crowd->begun, 1);
        must(haft_insert_wait(worker, NULL, &id) == HAFT_OK);
        /* Begun by now, this one but others under way included; returned at the end of the last. */
        const uint64_t begun = atomic_load(&crowd->begun);
        const uint64_t ended = atomic_load(&crowd->ended_at[index_of(id)]);

        if (atomic_fetch_add(&crowd->reused[index_of(id)], 1) != 0 &&
            begun - ended <= ALL_DISTANCE) {
            atomic_fetch_add(&crowd->broken, 1);
        }
        atomic_fetch_add(&crowd->returned, 1);
        atomic_store(&crowd->ended_at[index_of(id)], atomic_load(&crowd->returned));
        must(haft_free(worker, id) == HAFT_OK);
        must(haft_worker_quiescent(worker) == HAFT_OK);
    }
    must(haft_worker_close(worker) == HAFT_OK);
    haft_thread_unregister(crowd->shared->domain);
    return NULL;
}

TEST_ON_EACH_CLOCK(distance, holds_across_workers_and_leaves_the_capacity_to_be_used)
{
    const haft_table_options options = wrapping(ALL_CAPACITY, ALL_DISTANCE);
    struct shared shared = open_shared(*setting, &options);
    static struct crowd crowd;
    pthread_t threads[THREADS];

    crowd.shared = &shared;
    must(haft_worker_close(shared.worker) == HAFT_OK);
    for (int i = 0; i < THREADS; i++) {
        must(pthread_create(&threads[i], NULL, churn, &crowd) == 0);
    }
    haft_thread_offline(shared.domain);
    for (int i = 0; i < THREADS; i++) {
        must(pthread_join(threads[i], NULL) == 0);
    }
    haft_thread_online(shared.domain);
    cr_expect(eq(int, crowd.broken, 0));
    shared.worker = open_worker(shared.table);
    settle(shared.worker);
    for (int i = 0; i < ALL_CAPACITY; i++) {
        insert(shared.worker);
    }
    cr_expect(eq(u64, stats_of(shared.table).limit, ALL_CAPACITY + ALL_DISTANCE));
    close_shared(&shared);
}

/* --- options --- */

static void expect_refused(haft_table_options options)
{
    const haft_domain_options plain = domain_options(MEMB_CALLER);
    haft_domain *domain;
    haft_table *table = NULL;

    assert_status(haft_domain_open(&plain, &domain), HAFT_OK);
    expect_status(haft_table_open(domain, &options, &table), HAFT_BAD_REUSE_DISTANCE);
    cr_expect(eq(ptr, table, NULL));
    must(haft_domain_close(domain) == HAFT_OK);
}

Test(distance, without_wrap_or_with_pins_is_refused)
{
    haft_table_options options = wrapping(10, 10);

    options.wrap = false;
    expect_refused(options);
    options = wrapping(10, 10);
    options.pins = true;
    expect_refused(options);
}

Test(distance, that_does_not_fit_beside_capacity_and_range_is_refused)
{
    const uint64_t most = (1 << 12) - HAFT_FIRST_INDEX;
    haft_table_options options = wrapping(10, most - 10 + 1);

    expect_refused(options);
    options.reuse_distance = UINT64_MAX;
    expect_refused(options);
    options.restore_range = 5;
    options.reuse_distance = most - 14;
    expect_refused(options);
    options.reuse_distance = most - 15;
    struct shared shared = open_shared(MEMB_CALLER, &options);

    cr_expect(eq(u64, stats_of(shared.table).limit, most));
    close_shared(&shared);
}
