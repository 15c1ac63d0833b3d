/*
 * Where features meet: an implicit worker and the clock, trim and the order of batches.  Each of
 * these was a fault of 0.1.
 */
#include "tests/support.h"
#include <haft/memory.h>
#include <haft/pin.h>
#include <haft/share.h>
#include <haft/threads.h>
#include <limits.h>

TestSuite(seams, .timeout = SUITE_SECONDS);

#define MOST 200000

static haft_domain_options frame_clock = {.clock = HAFT_CLOCK_FRAME};
static struct shared shared;
static haft_id ids[MOST];
static int depth;
static int deepest;

static void enter(void)
{
    depth++;
    deepest = depth > deepest ? depth : deepest;
}

/* Insert by the test's worker until that is refused: how many, from ids[from] on. */
static int insert_all(int from)
{
    int count = 0;

    while (haft_insert(shared.worker, NULL, &ids[from + count]) == HAFT_OK) {
        count++;
    }
    return count;
}

static void free_some(haft_worker *worker, int from, int to, int step)
{
    for (int i = from; i < to; i += step) {
        must(haft_free(worker, ids[i]) == HAFT_OK);
    }
}

/* --- batches that wait, and batches that are ready --- */

Test(seams, call_without_a_worker_leaves_slots_that_are_due_within_reach)
{
    shared =
        open_shared_on(&frame_clock, &(haft_table_options){.capacity = 4096, .object_size = 8});
    const int count = insert_all(0);
    haft_id id;

    free_some(shared.worker, 0, 128, 1); /* a full batch */
    must(haft_domain_tick(shared.domain) == HAFT_OK);
    must(haft_table_free(shared.table, ids[128]) == HAFT_OK);
    free_some(shared.worker, 129, count - 1, 1); /* all these wait */

    expect_status(haft_insert_unregistered(shared.table, NULL, &id), HAFT_OK);
    cr_expect(eq(int, insert_all(0), 127));
    close_shared(&shared);
}

Test(seams, trim_leaves_slots_that_are_due_within_reach)
{
    const int due = 128 * 128; /* as many batches as a ring has room for */

    shared =
        open_shared_on(&frame_clock, &(haft_table_options){.capacity = 100000, .object_size = 8});
    const int count = insert_all(0);

    free_some(shared.worker, 0, 2 * due, 2); /* every other one: no page can go */
    must(haft_domain_tick(shared.domain) == HAFT_OK);
    free_some(shared.worker, 2 * due, count, 1); /* these wait */

    expect_status(haft_trim(shared.table, NULL), HAFT_OK);
    cr_expect(eq(int, insert_all(0), due));
    close_shared(&shared);
}

/* --- callbacks within callbacks --- */

static haft_id pinned;

static void unpin_other(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)object;
    (void)worker;
    (void)arg;
    enter();
    if (id.bits != pinned.bits) {
        must(haft_unpin(shared.table, pinned) == HAFT_OK);
    }
    depth--;
}

static void free_and_settle(haft_id id)
{
    must(haft_free(shared.worker, id) == HAFT_OK);
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    must(haft_domain_tick(shared.domain) == HAFT_OK);
    must(haft_worker_quiescent(shared.worker) == HAFT_OK);
}

Test(seams, last_unpin_inside_on_reclaim_does_not_run_it_within_itself)
{
    shared = open_shared_on(&frame_clock, &(haft_table_options){.capacity = 1000,
                                                                .object_size = 8,
                                                                .pins = true,
                                                                .on_reclaim = unpin_other});
    pinned = insert(shared.worker);
    must(haft_pin(shared.table, pinned) != NULL);
    free_and_settle(pinned);
    free_and_settle(insert(shared.worker));

    cr_expect(eq(int, deepest, 1));
    close_shared(&shared);
}

/* --- an implicit worker that outlasts its thread --- */

static struct {
    haft_table *table;
    haft_worker *worker;
    pthread_key_t key;
    int rounds;
} left;

/* In the last round of destructors, after the library's own. */
static void ask_late(void *arg)
{
    if (++left.rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
        must(pthread_setspecific(left.key, arg) == 0);
        return;
    }
    must(haft_worker_current(left.table, &left.worker) == HAFT_OK);
}

static void *use_and_leave(void *arg)
{
    haft_worker *worker;

    (void)arg;
    must(haft_worker_current(left.table, &worker) == HAFT_OK);
    must(pthread_setspecific(left.key, &left) == 0);
    return NULL;
}

/* A thread ends, and its worker on the table is closed by hand. */
static void close_left_worker(haft_domain *domain, haft_table *table)
{
    haft_worker *own;
    pthread_t thread;

    left.table = table;
    must(haft_worker_current(table, &own) == HAFT_OK); /* the library's key comes first */
    must(pthread_key_create(&left.key, ask_late) == 0);
    haft_thread_offline(domain);
    must(pthread_create(&thread, NULL, use_and_leave, NULL) == 0);
    must(pthread_join(thread, NULL) == 0);
    haft_thread_online(domain);
    must(left.worker != NULL);
    must(haft_worker_close(left.worker) == HAFT_OK);
}

Test(seams, implicit_worker_closed_by_hand_is_not_counted_as_implicit_when_it_is_opened_again)
{
    haft_worker *worker;

    shared = open_shared_on(&frame_clock, &(haft_table_options){.capacity = 100});
    must(haft_worker_close(shared.worker) == HAFT_OK);
    close_left_worker(shared.domain, shared.table);
    worker = open_worker(shared.table);

    assert_status(haft_table_close(shared.table), HAFT_IN_USE);
    must(haft_worker_close(worker) == HAFT_OK);
    expect_status(haft_table_close(shared.table), HAFT_OK);
    must(haft_domain_close(shared.domain) == HAFT_OK);
}

static struct {
    haft_table *table;
    haft_id id;
    sem_t has_resolved;
    sem_t may_leave;
    uint64_t first;
    uint64_t last;
} reading;

static void *read_twice(void *arg)
{
    haft_worker *worker = open_worker(reading.table); /* online until its close */
    const uint64_t *object = haft_resolve(haft_table_view(reading.table), reading.id);

    (void)arg;
    reading.first = *object;
    sem_post(&reading.has_resolved);
    while (sem_wait(&reading.may_leave) != 0) {
        /* interrupted */
    }
    reading.last = *object;
    must(haft_worker_close(worker) == HAFT_OK);
    return NULL;
}

Test(seams, implicit_worker_closed_by_hand_leaves_the_clock_as_it_was)
{
    /* With on_reclaim quiescent points look for the end of each grace period. */
    const haft_table_options options = {
        .capacity = 4, .object_size = 8, .layout = {3, 20, 0, 0}, .on_reclaim = ignore};
    const uint64_t one = 1;
    const uint64_t two = 2;
    pthread_t reader;
    haft_table *first;
    haft_id id;

    shared = open_shared_on(&(haft_domain_options){.clock = HAFT_CLOCK_WORKERS}, &options);
    must(haft_table_open(shared.domain, &options, &first) == HAFT_OK);
    close_left_worker(shared.domain, first);
    must(haft_table_close(first) == HAFT_OK);

    reading.table = shared.table;
    must(haft_insert(shared.worker, &one, &reading.id) == HAFT_OK);
    sem_init(&reading.has_resolved, 0, 0);
    sem_init(&reading.may_leave, 0, 0);
    must(pthread_create(&reader, NULL, read_twice, NULL) == 0);
    while (sem_wait(&reading.has_resolved) != 0) {
        /* interrupted */
    }
    must(haft_free(shared.worker, reading.id) == HAFT_OK);
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    for (int i = 0; i < 4; i++) {
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    }
    for (int i = 0; i < 3; i++) {
        must(haft_insert(shared.worker, &two, &id) == HAFT_OK);
    }
    expect_status(haft_insert(shared.worker, &two, &id), HAFT_BUSY);
    sem_post(&reading.may_leave);
    haft_thread_offline(shared.domain);
    pthread_join(reader, NULL);
    haft_thread_online(shared.domain);

    cr_expect(eq(u64, reading.first, 1));
    cr_expect(eq(u64, reading.last, 1), "the object was reused under its reader");
    close_shared(&shared);
}
