/* Clearing a shared table. */
#include "tests/base/counted.h"
#include "tests/support.h"
#include <haft/diagnose.h>
#include <haft/memory.h>
#include <haft/pin.h>
#include <haft/share.h>
#include <string.h>

TestSuite(clear, .timeout = SUITE_SECONDS);
TestSuite(clear_beside, .timeout = SUITE_SECONDS);

#define OBJECTS 3000

/* What on_reclaim has seen: each object holds its own number. */
struct seen {
    haft_table *table;
    uint64_t calls[OBJECTS]; /* of each object */
    uint64_t count;
    uint64_t last; /* the highest index so far */
    bool in_order;
};

static void note(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct seen *seen = arg;
    const uint64_t index = haft_id_index(haft_table_info(seen->table).layout, id);

    must(worker != NULL);
    seen->calls[*(uint64_t *)object]++;
    seen->count++;
    seen->in_order = seen->in_order && seen->last < index;
    seen->last = index;
}

static struct shared open_noting(struct setting setting, struct seen *seen, bool pins)
{
    const haft_table_options options = {
        .capacity = 2 * OBJECTS,
        .object_size = sizeof(uint64_t),
        .pins = pins,
        .on_reclaim = note,
        .reclaim_arg = seen,
    };
    struct shared shared = open_shared(setting, &options);

    *seen = (struct seen){.table = shared.table, .in_order = true};
    return shared;
}

static void close_worker(struct shared *shared)
{
    must(haft_worker_close(shared->worker) == HAFT_OK);
    shared->worker = NULL;
}

/* All objects, each with its number, and their ids. */
static void insert_all(struct shared *shared, haft_id *ids)
{
    for (uint64_t i = 0; i < OBJECTS; i++) {
        must(haft_insert(shared->worker, &i, &ids[i]) == HAFT_OK);
    }
}

static bool each_once(const struct seen *seen)
{
    bool once = true;

    for (uint64_t i = 0; i < OBJECTS; i++) {
        once = once && seen->calls[i] == 1;
    }
    return once;
}

TEST_ON_EACH_CLOCK(clear, ends_all_objects_once_in_order_of_index)
{
    static struct seen seen;
    static haft_id ids[OBJECTS];
    struct shared shared = open_noting(*setting, &seen, false);

    insert_all(&shared, ids);
    close_worker(&shared);
    expect_status(haft_table_clear(shared.table), HAFT_OK);
    cr_expect(each_once(&seen));
    cr_expect(seen.in_order);
    for (int i = 0; i < OBJECTS; i++) {
        must(!haft_is_live(shared.view, ids[i]));
        must(haft_table_free(shared.table, ids[i]) == HAFT_STALE);
    }
    cr_expect(zero(u64, stats_of(shared.table).live));
    cr_expect(zero(u64, stats_of(shared.table).retired));
    expect_status(haft_table_clear(shared.table), HAFT_OK);
    cr_expect(eq(u64, seen.count, OBJECTS));
    close_shared(&shared);
    cr_expect(eq(u64, seen.count, OBJECTS));
}

TEST_ON_EACH_CLOCK(clear, reclaims_what_was_freed_before_once)
{
    static struct seen seen;
    static haft_id ids[OBJECTS];
    AT_END(close_shared) struct shared shared = open_noting(*setting, &seen, false);

    insert_all(&shared, ids);
    for (int i = 0; i < OBJECTS; i += 3) {
        must(haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    close_worker(&shared);
    for (int i = 1; i < OBJECTS; i += 3) {
        must(haft_table_free(shared.table, ids[i]) == HAFT_OK);
    }
    expect_status(haft_table_clear(shared.table), HAFT_OK);
    cr_expect(each_once(&seen));
}

Test(clear, of_an_empty_table_closes_it_to_workers)
{
    static struct seen seen;
    AT_END(close_shared) struct shared shared = open_noting(MEMB_CALLER, &seen, false);
    haft_table *unused;
    haft_worker *worker;

    close_worker(&shared);
    must(haft_table_open(shared.domain, &(haft_table_options){.capacity = 10}, &unused) == HAFT_OK);
    expect_status(haft_table_clear(unused), HAFT_OK); /* it never had a worker */
    expect_status(haft_worker_open(unused, &worker), HAFT_CLOSED);
    expect_status(haft_table_close(unused), HAFT_OK);
    expect_status(haft_table_clear(shared.table), HAFT_OK);
    expect_status(haft_worker_open(shared.table, &worker), HAFT_CLOSED);
}

/* Until the worker has no slot left. */
static haft_status insert_until_refused(haft_worker *worker)
{
    haft_status status = HAFT_OK;
    haft_id id;

    for (int i = 0; i < OBJECTS && status == HAFT_OK; i++) {
        status = haft_insert(worker, &(uint64_t){0}, &id);
    }
    return status;
}

Test(clear, with_an_open_worker_is_in_use_and_ends_no_object)
{
    static struct seen seen;
    static haft_id ids[OBJECTS];
    AT_END(close_shared) struct shared shared = open_noting(MEMB_CALLER, &seen, false);
    haft_status why;
    haft_worker *second;
    haft_id id;

    insert_all(&shared, ids);
    must(haft_free(shared.worker, ids[0]) == HAFT_OK);
    expect_status(haft_table_clear(shared.table), HAFT_IN_USE);
    cr_expect(zero(u64, seen.count));
    cr_expect(haft_is_live(shared.view, ids[1]));
    expect_status(haft_worker_open(shared.table, &second), HAFT_CLOSED);
    expect_status(insert_until_refused(shared.worker), HAFT_CLOSED);
    expect_status(haft_insert_wait(shared.worker, NULL, &id), HAFT_CLOSED);
    expect_status(haft_reserve(shared.worker, &id, NULL), HAFT_CLOSED);
    cr_expect(zero(u64, haft_insert_many(shared.worker, NULL, &id, 1, &why)));
    expect_status(why, HAFT_CLOSED);
    expect_status(haft_free(shared.worker, ids[1]), HAFT_OK);
    close_worker(&shared);
    expect_status(haft_worker_open(shared.table, &second), HAFT_CLOSED);
    expect_status(haft_table_clear(shared.table), HAFT_OK);
    cr_expect(zero(u64, stats_of(shared.table).retired));
}

TEST_ON_EACH_CLOCK(clear, leaves_what_pins_keep_until_it_is_called_again)
{
    static struct seen seen;
    static haft_id ids[OBJECTS];
    AT_END(close_shared) struct shared shared = open_noting(*setting, &seen, true);
    uint64_t *pinned;

    insert_all(&shared, ids);
    haft_section_begin(shared.domain);
    pinned = haft_pin(shared.table, ids[7]);
    haft_section_end(shared.domain);
    close_worker(&shared);
    expect_status(haft_table_clear(shared.table), HAFT_IN_USE);
    cr_expect(eq(u64, seen.count, OBJECTS - 1));
    cr_expect(eq(u64, *pinned, 7));
    cr_expect(not(haft_is_live(shared.view, ids[7])));
    expect_status(haft_table_close(shared.table), HAFT_IN_USE);
    expect_status(haft_unpin(shared.table, ids[7]), HAFT_OK);
    expect_status(haft_table_clear(shared.table), HAFT_OK);
    cr_expect(each_once(&seen));
}

Test(clear, takes_no_notice_of_reservations_that_closed_workers_left)
{
    static struct seen seen;
    AT_END(close_shared) struct shared shared = open_noting(MEMB_CALLER, &seen, false);
    haft_id id;

    must(haft_reserve(shared.worker, &id, NULL) == HAFT_OK);
    close_worker(&shared);
    expect_status(haft_table_clear(shared.table), HAFT_OK);
    cr_expect(zero(u64, seen.count));
}

Test(clear, inside_a_section_is_refused_and_changes_nothing)
{
    static struct seen seen;
    AT_END(close_shared) struct shared shared = open_noting(MEMB_CALLER, &seen, false);
    const haft_id id = insert(shared.worker);

    close_worker(&shared);
    haft_section_begin(shared.domain);
    expect_status(haft_table_clear(shared.table), HAFT_IN_SECTION);
    cr_expect(ne(ptr, haft_resolve(shared.view, id), NULL));
    haft_section_end(shared.domain);
    shared.worker = open_worker(shared.table);
}

/* --- what callbacks may do --- */

struct family {
    haft_table *table;
    haft_id ids[2];
    uint64_t calls;
};

static void free_the_other(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct family *family = arg;
    const haft_id other = family->ids[family->ids[0].bits == id.bits];
    haft_worker *second;
    haft_id new;

    family->calls++;
    expect_status(haft_free(worker, other), HAFT_STALE);
    expect_status(haft_table_free(family->table, other), HAFT_STALE);
    expect_status(haft_insert(worker, NULL, &new), HAFT_CLOSED);
    expect_status(haft_worker_open(family->table, &second), HAFT_CLOSED);
    expect_status(haft_table_clear(family->table), HAFT_IN_CALLBACK);
    expect_status(haft_table_close(family->table), HAFT_IN_CALLBACK);
}

Test(clear, callbacks_find_all_objects_ended_and_the_table_closed)
{
    struct family family = {.calls = 0};
    const haft_table_options options = {
        .capacity = 10, .on_reclaim = free_the_other, .reclaim_arg = &family};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    family.table = shared.table;
    family.ids[0] = insert(shared.worker);
    family.ids[1] = insert(shared.worker);
    close_worker(&shared);
    expect_status(haft_table_clear(shared.table), HAFT_OK);
    cr_expect(eq(u64, family.calls, 2));
}

struct late {
    haft_id reserved;
    uint64_t calls;
};

static void publish_late(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct late *late = arg;

    if (late->calls++ == 0) {
        haft_publish(worker, late->reserved);
    }
}

/* By a clear, or by a close. */
static void expect_published_to_end(haft_status (*end)(haft_table *table))
{
    struct late late = {.calls = 0};
    const haft_table_options options = {
        .capacity = 10, .on_reclaim = publish_late, .reclaim_arg = &late};
    struct shared shared = open_shared(MEMB_CALLER, &options);

    must(haft_reserve(shared.worker, &late.reserved, NULL) == HAFT_OK);
    insert(shared.worker);
    close_worker(&shared);
    expect_status(end(shared.table), HAFT_OK);
    cr_expect(eq(u64, late.calls, 2));
    if (end == haft_table_clear) {
        expect_status(haft_diagnose(shared.table, late.reserved), HAFT_STALE);
        must(haft_table_close(shared.table) == HAFT_OK);
    }
    haft_thread_unregister(shared.domain);
    must(haft_domain_close(shared.domain) == HAFT_OK);
}

Test(clear, a_reservation_that_a_callback_publishes_is_an_object_that_ends)
{
    expect_published_to_end(haft_table_clear);
    expect_published_to_end(haft_table_close);
}

/* on_reclaim, while another thread calls haft_table_reclaim(). */
struct beside {
    haft_table *table;
    haft_status said;
    uint64_t calls;
};

static void *reclaim_beside(void *arg)
{
    struct beside *beside = arg;

    beside->said = haft_table_reclaim(beside->table);
    return NULL;
}

static void let_another_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct beside *beside = arg;

    beside->calls++;
    in_another_thread(reclaim_beside, beside);
}

static haft_status reclaim_beside_clear(unsigned workers)
{
    struct beside beside = {.calls = 0};
    const haft_table_options options = {
        .capacity = 10, .on_reclaim = let_another_reclaim, .reclaim_arg = &beside};
    struct shared shared = open_shared(MEMB_CALLER, &options);

    beside.table = shared.table;
    for (unsigned i = 1; i < workers; i++) {
        must(haft_worker_close(open_worker(shared.table)) == HAFT_OK);
    }
    insert(shared.worker);
    close_worker(&shared);
    expect_status(haft_table_clear(shared.table), HAFT_OK);
    cr_expect(eq(u64, beside.calls, 1));
    close_shared(&shared);
    return beside.said;
}

Test(clear_beside, a_reclaim_needs_a_worker_that_the_clear_does_not_use)
{
    expect_status(reclaim_beside_clear(2), HAFT_OK);
    expect_status(reclaim_beside_clear(1), HAFT_CLOSED);
}

struct chain {
    haft_table *table;
    uint64_t calls;
};

/* Each object holds the id of another one, and a pin on it. */
static void unpin_next(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct chain *chain = arg;
    haft_id next;

    chain->calls++;
    memcpy(&next, object, sizeof next);
    must(next.bits == 0 || haft_unpin(chain->table, next) == HAFT_OK);
}

Test(clear, goes_on_until_callbacks_unpin_no_more)
{
    struct chain chain = {.calls = 0};
    const haft_table_options options = {.capacity = OBJECTS,
                                        .object_size = sizeof(haft_id),
                                        .pins = true,
                                        .on_reclaim = unpin_next,
                                        .reclaim_arg = &chain};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    haft_id next = HAFT_NIL;

    chain.table = shared.table;
    for (int i = 0; i < OBJECTS; i++) {
        haft_id id;

        must(haft_insert(shared.worker, &next, &id) == HAFT_OK);
        must(i == OBJECTS - 1 || haft_pin(shared.table, id) != NULL);
        next = id;
    }
    close_worker(&shared);
    expect_status(haft_table_clear(shared.table), HAFT_OK);
    cr_expect(eq(u64, chain.calls, OBJECTS));
}

/* Two tables: an object of the one has the id of an object of the other. */
struct pair {
    haft_table *other;
    uint64_t calls;
};

static void free_in_other(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct pair *pair = arg;
    haft_id theirs;

    pair->calls++;
    memcpy(&theirs, object, sizeof theirs);
    haft_table_free(pair->other, theirs);
}

static haft_table *open_of_pair(haft_domain *domain, struct pair *pair)
{
    const haft_table_options options = {.capacity = OBJECTS,
                                        .object_size = sizeof(haft_id),
                                        .on_reclaim = free_in_other,
                                        .reclaim_arg = pair};
    haft_table *table;

    assert_status(haft_table_open(domain, &options, &table), HAFT_OK);
    return table;
}

/* A chain through both tables; `first`: which is cleared first, and `freed`: its head is freed. */
static void expect_pair_to_end(struct setting setting, int first, bool freed)
{
    struct shared shared = open_shared(setting, &(haft_table_options){.capacity = 1});
    struct pair pairs[2] = {{NULL, 0}, {NULL, 0}};
    haft_table *tables[2];
    haft_worker *workers[2];
    haft_id id = HAFT_NIL;

    for (int i = 0; i < 2; i++) {
        tables[i] = open_of_pair(shared.domain, &pairs[i]);
        workers[i] = open_worker(tables[i]);
    }
    pairs[0].other = tables[1];
    pairs[1].other = tables[0];
    for (int i = 0; i < 2000; i++) {
        const haft_id next = id;

        must(haft_insert(workers[i % 2], &next, &id) == HAFT_OK);
    }
    must(!freed || haft_free(workers[1], id) == HAFT_OK);
    for (int i = 0; i < 2; i++) {
        must(haft_worker_close(workers[i]) == HAFT_OK);
    }
    expect_status(haft_table_clear(tables[first]), HAFT_OK);
    expect_status(haft_table_clear(tables[!first]), HAFT_OK);
    expect_status(haft_table_close(tables[first]), HAFT_OK);
    expect_status(haft_table_close(tables[!first]), HAFT_OK);
    cr_expect(eq(u64, pairs[0].calls, 1000));
    cr_expect(eq(u64, pairs[1].calls, 1000));
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(clear, of_tables_that_free_each_others_objects_ends_each_once_in_any_order)
{
    for (int i = 0; i < 4; i++) {
        expect_pair_to_end(*setting, i & 1, (i & 2) != 0);
    }
    expect_no_leaks();
}

/* --- leaks, memory, tables that were local --- */

static uint64_t leaked;
static uint64_t reclaimed_before_the_leak;

static void note_leak(const haft_leak *leak, void *arg)
{
    const struct chain *chain = arg;

    leaked += leak->count;
    reclaimed_before_the_leak += chain->calls;
}

Test(clear, tells_of_leaks_before_objects_end)
{
    static struct chain chain;
    const haft_table_options options = {.capacity = OBJECTS,
                                        .object_size = sizeof(haft_id),
                                        .sites = true,
                                        .on_leak = note_leak,
                                        .report_arg = &chain,
                                        .pins = true,
                                        .on_reclaim = unpin_next,
                                        .reclaim_arg = &chain};
    struct shared shared = open_shared(MEMB_CALLER, &options);

    for (int i = 0; i < 10; i++) {
        insert(shared.worker);
    }
    close_worker(&shared);
    expect_status(haft_table_clear(shared.table), HAFT_OK);
    cr_expect(eq(u64, leaked, 10));
    cr_expect(zero(u64, reclaimed_before_the_leak));
    cr_expect(eq(u64, chain.calls, 10));
    close_shared(&shared);
    cr_expect(eq(u64, leaked, 10));
}

Test(clear, and_closing_need_no_memory)
{
    static struct seen seen;
    static haft_id ids[OBJECTS];
    struct counted counted = {.left = -1};
    const haft_allocator allocator = counted_allocator(&counted);
    const haft_table_options options = {.capacity = OBJECTS,
                                        .object_size = sizeof(uint64_t),
                                        .allocator = &allocator,
                                        .on_reclaim = note,
                                        .reclaim_arg = &seen};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    seen = (struct seen){.table = shared.table, .in_order = true};
    insert_all(&shared, ids);
    close_worker(&shared);
    counted.left = 0;
    expect_status(haft_table_clear(shared.table), HAFT_OK);
    cr_expect(each_once(&seen));
}

static void must_not_run(void *object, haft_id id, void *arg)
{
    cr_fatal("the table's on_reclaim ends what lives");
}

Test(clear, of_a_table_that_was_local_ends_objects_by_the_shared_ones_callback)
{
    for (int clears = 0; clears < 2; clears++) {
        struct shared shared = open_shared(MEMB_CALLER, &(haft_table_options){.capacity = 1});
        const haft_local_options local_options = {.capacity = 10, .on_destroy = must_not_run};
        uint64_t reclaimed = 0;
        haft_local *local;
        haft_table *table;
        haft_id id;

        must(haft_local_open(&local_options, &local) == HAFT_OK);
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
        must(haft_share(
                 local, shared.domain,
                 &(haft_share_options){.on_reclaim = count_reclaimed, .reclaim_arg = &reclaimed},
                 &table) == HAFT_OK);
        expect_status(clears ? haft_table_clear(table) : HAFT_OK, HAFT_OK);
        expect_status(haft_table_close(table), HAFT_OK);
        cr_expect(eq(u64, reclaimed, 2));
        close_shared(&shared);
        expect_no_leaks();
    }
}

Test(clear, before_unsharing_leaves_an_empty_local_table_that_can_be_used)
{
    static struct seen seen;
    static haft_id ids[OBJECTS];
    AT_END(close_shared) struct shared shared = open_noting(MEMB_CALLER, &seen, false);
    AT_END(local_end) haft_local *local;
    haft_id id;

    insert_all(&shared, ids);
    close_worker(&shared);
    must(haft_table_clear(shared.table) == HAFT_OK);
    expect_status(haft_unshare(shared.table, &local), HAFT_OK);
    shared.table = NULL;
    cr_expect(eq(u64, haft_local_count(local), 0));
    for (int i = 0; i < OBJECTS; i++) {
        must(haft_local_insert(local, &(uint64_t){0}, &id) == HAFT_OK);
        must(haft_local_diagnose(local, ids[i]) == HAFT_STALE);
    }
    cr_expect(eq(u64, seen.count, OBJECTS));
}

/* --- beside other threads --- */

struct clearing {
    haft_table *table;
    haft_status status;
    sem_t done;
};

static void *clear_table(void *arg)
{
    struct clearing *clearing = arg;

    clearing->status = haft_table_clear(clearing->table);
    sem_post(&clearing->done);
    return NULL;
}

TEST_ON_EACH_CLOCK(clear_beside, a_reader_waits_for_it)
{
    static struct seen seen;
    AT_END(close_shared) struct shared shared = open_noting(*setting, &seen, false);
    struct clearing clearing = {.table = shared.table};
    struct reader reader;
    pthread_t thread;

    sem_init(&clearing.done, 0, 0);
    insert(shared.worker);
    reader_enter(&reader, &shared);
    close_worker(&shared);
    haft_thread_offline(shared.domain);
    cr_assert(zero(int, pthread_create(&thread, NULL, clear_table, &clearing)));
    sleep_ms(50);
    cr_expect(ne(int, sem_trywait(&clearing.done), 0), "cleared with a reader inside");
    reader_leave(&reader);
    pthread_join(thread, NULL);
    expect_status(clearing.status, HAFT_OK);
    cr_expect(eq(u64, seen.count, 1));
    haft_thread_online(shared.domain);
}

struct freer {
    haft_table *table;
    const haft_id *ids;
    pthread_barrier_t *start;
    uint64_t freed;
};

static void *free_backwards(void *arg)
{
    struct freer *freer = arg;

    pthread_barrier_wait(freer->start);
    for (int i = OBJECTS; i-- > 0;) {
        freer->freed += haft_table_free(freer->table, freer->ids[i]) == HAFT_OK;
    }
    return NULL;
}

static haft_status clear_until_unused(haft_table *table)
{
    haft_status status;

    do {
        status = haft_table_clear(table);
    } while (status == HAFT_IN_USE);
    return status;
}

Test(clear_beside, frees_of_other_threads_each_object_ends_once)
{
    for (int round = 0; round < 20; round++) {
        static struct seen seen;
        static haft_id ids[OBJECTS];
        AT_END(close_shared) struct shared shared = open_noting(MEMB_CALLER, &seen, false);
        pthread_barrier_t start;
        struct freer freer = {shared.table, ids, &start, 0};
        pthread_t thread;

        pthread_barrier_init(&start, NULL, 2);
        insert_all(&shared, ids);
        close_worker(&shared);
        must(pthread_create(&thread, NULL, free_backwards, &freer) == 0);
        pthread_barrier_wait(&start);
        expect_status(clear_until_unused(shared.table), HAFT_OK);
        cr_expect(each_once(&seen));
        pthread_join(thread, NULL);
    }
}

struct visitor {
    haft_domain *domain;
    haft_table *table;
    sem_t *has_inserted;
    uint64_t inserted;
};

/* A worker for each job, until the table refuses. */
static void *visit(void *arg)
{
    struct visitor *visitor = arg;
    haft_worker *worker;
    haft_id id;

    haft_thread_register(visitor->domain);
    while (haft_worker_open(visitor->table, &worker) == HAFT_OK) {
        const haft_status status = haft_insert(worker, &(uint64_t){0}, &id);

        must(status == HAFT_OK || status == HAFT_CLOSED || status == HAFT_BUSY ||
             status == HAFT_FULL);
        visitor->inserted += status == HAFT_OK;
        must(status != HAFT_OK || haft_free(worker, id) == HAFT_OK);
        must(haft_worker_close(worker) == HAFT_OK);
        sem_post(visitor->has_inserted);
    }
    haft_thread_unregister(visitor->domain);
    return NULL;
}

TEST_ON_EACH_CLOCK(clear_beside, threads_that_open_workers_refuses_them_in_the_end)
{
    const haft_table_options options = {
        .capacity = OBJECTS, .object_size = sizeof(uint64_t), .on_reclaim = ignore};
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    sem_t has_inserted;
    struct visitor visitors[2];
    pthread_t threads[2];

    close_worker(&shared);
    sem_init(&has_inserted, 0, 0);
    haft_thread_offline(shared.domain);
    for (int i = 0; i < 2; i++) {
        visitors[i] = (struct visitor){shared.domain, shared.table, &has_inserted, 0};
        must(pthread_create(&threads[i], NULL, visit, &visitors[i]) == 0);
    }
    for (int i = 0; i < 100; i++) {
        sem_wait(&has_inserted);
    }
    haft_table_clear(shared.table);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    haft_thread_online(shared.domain);
    expect_status(haft_table_clear(shared.table), HAFT_OK);
    cr_expect(eq(u64, stats_of(shared.table).live, 0));
    cr_expect(eq(u64, stats_of(shared.table).retired, 0));
}
