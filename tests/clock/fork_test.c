/*
 * White-box: the lock of opening and closing.  Fork: what the child does with the tables and
 * domains of its parent, for each flavour and clock, whatever the parent's other threads are at.
 */
#include "concurrent/clock/registry.h"
#include "tests/clock/forking.h"
#include <errno.h>
#include <haft/diagnose.h>
#include <haft/kit/commands.h>
#include <haft/memory.h>
#include <haft/pin.h>
#include <haft/share.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

TestSuite(fork_, .timeout = SUITE_SECONDS);

/* --- memory that is counted --- */

static atomic_long bytes_held;

static void *hold_bytes(void *context, size_t size, size_t alignment)
{
    const haft_allocator from = haft_allocator_malloc();
    void *memory = from.alloc(from.context, size, alignment);

    atomic_fetch_add(&bytes_held, memory != NULL ? (long)size : 0);
    return memory;
}

static void give_bytes(void *context, void *memory, size_t size)
{
    const haft_allocator from = haft_allocator_malloc();

    atomic_fetch_sub(&bytes_held, memory != NULL ? (long)size : 0);
    from.free(from.context, memory, size);
}

static const haft_allocator counted = {.alloc = hold_bytes, .free = give_bytes};

/* --- a parent with other threads about --- */

/* In the child, from the beginning of a close to its end. */
static bool is_closing;

static void call_unless_closing(void *object, haft_id id, haft_worker *worker, void *arg)
{
    require(!is_closing);
}

#define CAPACITY 5000

static haft_table_options options_with_pins(bool pins)
{
    return (haft_table_options){.capacity = CAPACITY,
                                .object_size = 8,
                                .pins = pins,
                                .on_reclaim = call_unless_closing,
                                .allocator = &counted};
}

#define WAITERS 2

struct parent {
    struct shared shared;
    struct reader reader;
    pthread_t holder;
    pthread_t waiters[WAITERS];
    int waiter_count;
    sem_t holds;
    sem_t leave;
    haft_id live;
};

/* A thread whose worker holds slots back, has freed some, and has one reserved. */
static void *hold(void *arg)
{
    struct parent *parent = arg;
    haft_worker *worker = open_worker(parent->shared.table);
    haft_id id;

    for (int n = 0; n < 10; n++) {
        must(haft_free(worker, insert(worker)) == HAFT_OK);
    }
    must(haft_reserve(worker, &id, NULL) == HAFT_OK);
    sem_post(&parent->holds);
    while (sem_wait(&parent->leave) != 0) {
        /* interrupted */
    }
    haft_abort(worker, id);
    must(haft_worker_close(worker) == HAFT_OK);
    return NULL;
}

/* With a foreign clock one of them waits in it, and the other one for the first. */
static void *wait_for_the_reader(void *arg)
{
    const struct parent *parent = arg;

    haft_domain_wait(parent->shared.domain);
    return NULL;
}

/* Not with bp: they would have the lock that liburcu's calls take for a fork. */
static void start_waiters(struct parent *parent)
{
    haft_worker *worker = parent->shared.worker;

    must(haft_free(worker, insert(worker)) == HAFT_OK);
    must(haft_worker_flush(worker) == HAFT_OK);
    while (parent->waiter_count < WAITERS) {
        must(pthread_create(&parent->waiters[parent->waiter_count++], NULL, wait_for_the_reader,
                            parent) == 0);
    }
    sleep_ms(20); /* they are seldom further than this, and the test does not need them there */
}

static void open_parent(struct parent *parent, int row, const haft_table_options *with)
{
    haft_domain_options domain = options_of(row);

    need_forks_beside_threads();
    domain.allocator = &counted;
    parent->waiter_count = 0;
    parent->shared = open_shared_on(&domain, with);
    parent->live = insert(parent->shared.worker);
    sem_init(&parent->holds, 0, 0);
    sem_init(&parent->leave, 0, 0);
    must(pthread_create(&parent->holder, NULL, hold, parent) == 0);
    sem_wait(&parent->holds);
    reader_enter(&parent->reader, &parent->shared);
    if (row != BP_CALLS && row != BP_THREAD) {
        start_waiters(parent);
    }
}

static void close_parent(struct parent *parent)
{
    haft_thread_offline(parent->shared.domain);
    reader_leave(&parent->reader);
    sem_post(&parent->leave);
    pthread_join(parent->holder, NULL);
    for (int i = 0; i < parent->waiter_count; i++) {
        pthread_join(parent->waiters[i], NULL);
    }
    haft_thread_online(parent->shared.domain);
    close_shared(&parent->shared);
    cr_expect(zero(long, atomic_load(&bytes_held)));
}

static void run_in_child(int row, child_body *body)
{
    const haft_table_options options = options_with_pins(false);
    AT_END(close_parent) struct parent parent;

    open_parent(&parent, row, &options);
    fork_and_run(body, &parent.shared, parent.live);
    cr_expect(haft_is_live(parent.shared.view, parent.live));
}

/* --- what a child does with a table of its parent's --- */

static void close_parents(struct shared *shared)
{
    is_closing = true;
    require(haft_table_close(shared->table) == HAFT_OK);
    require(shared->anchor == NULL || haft_table_close(shared->anchor) == HAFT_OK);
    require(haft_domain_close(shared->domain) == HAFT_OK);
    is_closing = false;
}

static void close_all(struct shared *shared)
{
    require(haft_worker_close(shared->worker) == HAFT_OK);
    close_parents(shared);
    require(atomic_load(&bytes_held) == 0); /* also those of workers and threads that are gone */
}

static void insert_resolve_and_free(struct shared *shared, haft_worker *worker)
{
    haft_id id;

    haft_section_begin(shared->domain);
    require(haft_insert(worker, NULL, &id) == HAFT_OK);
    require(haft_resolve(shared->view, id) != NULL);
    require(haft_free(worker, id) == HAFT_OK);
    require(haft_resolve(shared->view, id) == NULL);
    haft_section_end(shared->domain);
    require(haft_diagnose(shared->table, id) == HAFT_STALE);
}

static void use_and_close(struct shared *shared, haft_id live)
{
    insert_resolve_and_free(shared, shared->worker);
    require(haft_is_live(shared->view, live));
    require(haft_table_free(shared->table, live) == HAFT_OK);
    require(!haft_is_live(shared->view, live));
    require(haft_table_close(shared->table) == HAFT_IN_USE); /* its own worker */
    close_all(shared);
}

TEST_ON_EACH_ROW(fork_, the_child_resolves_inserts_frees_and_closes)
{
    run_in_child(*row, use_and_close);
}

static void refuse_to_wait(struct shared *shared, haft_id live)
{
    haft_local *local;
    haft_id id;

    for (int n = 0; n < 4 * CAPACITY; n++) { /* as many as a quiescent point would wait for */
        if (haft_insert(shared->worker, NULL, &id) == HAFT_OK) {
            require(haft_free(shared->worker, id) == HAFT_OK);
        }
        require(n % 1000 != 0 || haft_worker_quiescent(shared->worker) == HAFT_OK);
    }
    require(haft_worker_quiescent(shared->worker) == HAFT_OK);
    require(haft_worker_flush(shared->worker) == HAFT_OK);
    require(haft_insert(shared->worker, NULL, &id) == HAFT_BUSY);
    require(haft_insert_wait(shared->worker, NULL, &id) == HAFT_FORKED);
    require(haft_reserve_wait(shared->worker, &id, NULL) == HAFT_FORKED);
    require(haft_domain_wait(shared->domain) == HAFT_FORKED);
    require(haft_trim(shared->table, NULL) == HAFT_FORKED);
    require(haft_worker_close(shared->worker) == HAFT_OK);
    require(haft_unshare(shared->table, &local) == HAFT_FORKED);
    require(haft_is_live(shared->view, live));
    close_parents(shared);
}

TEST_ON_EACH_ROW(fork_, the_child_is_told_what_would_wait)
{
    run_in_child(*row, refuse_to_wait);
}

static haft_id pinned;

static void close_with_pins(struct shared *shared, haft_id live)
{
    haft_id id;

    require(haft_pins(shared->table, pinned) == 2);
    require(haft_unpin(shared->table, pinned) == HAFT_OK);
    require(haft_pins(shared->table, pinned) == 1);
    require(haft_insert(shared->worker, NULL, &id) == HAFT_OK);
    require(haft_reserve(shared->worker, &id, NULL) == HAFT_OK);
    require(haft_is_live(shared->view, live));
    close_all(shared);
}

/* Whichever thread has pinned them. */
TEST_ON_EACH_ROW(fork_, the_child_closes_a_table_with_pinned_live_and_reserved_objects)
{
    const haft_table_options options = options_with_pins(true);
    AT_END(close_parent) struct parent parent;

    open_parent(&parent, *row, &options);
    pinned = insert(parent.shared.worker);
    haft_section_begin(parent.shared.domain);
    must(haft_pin(parent.shared.table, pinned) != NULL);
    must(haft_pin(parent.shared.table, pinned) != NULL);
    haft_section_end(parent.shared.domain);
    must(haft_free(parent.shared.worker, pinned) == HAFT_OK);
    fork_and_run(close_with_pins, &parent.shared, parent.live);
    must(haft_unpin(parent.shared.table, pinned) == HAFT_OK);
    must(haft_unpin(parent.shared.table, pinned) == HAFT_OK);
}

/* --- memory in pages of the system's --- */

static bool is_mapped(haft_view view)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char in[1];

    return mincore((void *)((uintptr_t)view.base & ~(page - 1)), 1, in) == 0 || errno != ENOMEM;
}

static void close_large(struct shared *shared, haft_id live)
{
    require(is_mapped(shared->view));
    require(haft_worker_close(shared->worker) == HAFT_OK);
    close_parents(shared);
    require(!is_mapped(shared->view));
}

Test(fork_, the_child_gives_the_pages_of_a_table_back)
{
    struct shared shared =
        open_shared_row(FRAME, &(haft_table_options){.capacity = 1 << 20, .object_size = 56});

    fork_and_run(close_large, &shared, insert(shared.worker));
    cr_expect(is_mapped(shared.view));
    close_shared(&shared);
}

/* --- a table that was a local one --- */

static void never(void *object, haft_id id, void *arg)
{
    require(!is_closing);
}

Test(fork_, the_child_closes_a_table_that_was_a_local_one_and_ends_no_object)
{
    const haft_local_options options = {
        .capacity = 1000, .object_size = 8, .on_destroy = never, .allocator = &counted};
    haft_domain_options domain = options_of(FRAME);
    haft_local *local;
    haft_id id;
    struct shared shared = {NULL};

    domain.allocator = &counted;
    must(haft_local_open(&options, &local) == HAFT_OK);
    must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    must(haft_domain_open(&domain, &shared.domain) == HAFT_OK);
    must(haft_share(local, shared.domain, NULL, &shared.table) == HAFT_OK);
    shared.worker = open_worker(shared.table);
    shared.view = haft_table_view(shared.table);
    fork_and_run(use_and_close, &shared, id);
    close_shared(&shared);
    cr_expect(zero(long, atomic_load(&bytes_held)));
}

/* --- threads of the child's own --- */

static void *use_parents_table(void *arg)
{
    struct shared *shared = arg;
    haft_worker *worker;

    haft_thread_register(shared->domain);
    require(haft_worker_open(shared->table, &worker) == HAFT_OK);
    insert_resolve_and_free(shared, worker);
    haft_thread_offline(shared->domain);
    require(haft_table_close(shared->table) == HAFT_IN_USE);
    haft_thread_online(shared->domain);
    require(haft_worker_close(worker) == HAFT_OK);
    haft_thread_unregister(shared->domain);
    return NULL;
}

static void start_a_thread(struct shared *shared, haft_id live)
{
    pthread_t thread;

    haft_thread_offline(shared->domain);
    require(haft_worker_close(shared->worker) == HAFT_OK);
    require(pthread_create(&thread, NULL, use_parents_table, shared) == 0);
    pthread_join(thread, NULL);
    close_parents(shared);
}

/* On the clocks that need no thread to be registered: liburcu's lock may have been held. */
Test(fork_, a_thread_of_the_child_opens_a_worker_on_a_table_of_the_parents)
{
    run_in_child(WORKERS, start_a_thread);
    run_in_child(FRAME, start_a_thread);
}

/* --- tables and domains of the child's own --- */

static int parents_row;

/* Beside the parent's, which stay open. */
static void use_new_domains(struct shared *shared, haft_id live)
{
    const int fit[] = {WORKERS, FRAME, parents_row};

    haft_thread_offline(shared->domain);
    for (int i = 0; i < 3; i++) {
        const haft_domain_options with = options_of(fit[i]);
        const haft_table_options options = options_with_pins(false);
        struct shared own = {.worker = NULL};

        if (fit[i] < BP_CALLS) {
            continue; /* its threads that are gone count */
        }
        require(haft_domain_open(&with, &own.domain) == HAFT_OK);
        require(haft_table_open(own.domain, &options, &own.table) == HAFT_OK);
        require(haft_worker_open(own.table, &own.worker) == HAFT_OK);
        for (int n = 0; n < 2; n++) {
            require(haft_free(own.worker, insert(own.worker)) == HAFT_OK);
            require(haft_worker_flush(own.worker) == HAFT_OK);
            haft_domain_tick(own.domain);
            require(haft_domain_wait(own.domain) == HAFT_OK);
            require(haft_domain_stats_get(own.domain).backlog == 0);
        }
        require(haft_worker_close(own.worker) == HAFT_OK);
        require(haft_table_close(own.table) == HAFT_OK);
        require(haft_domain_close(own.domain) == HAFT_OK);
    }
    haft_thread_online(shared->domain);
    close_all(shared);
}

TEST_ON_EACH_ROW(fork_, the_child_has_tables_and_domains_of_its_own)
{
    parents_row = *row;
    run_in_child(*row, use_new_domains);
}

/* The grandchild has tables of three generations: its parent's are the child's. */
static void fork_again(struct shared *shared, haft_id live)
{
    const haft_table_options options = options_with_pins(false);
    struct shared own = {.anchor = NULL};

    require(haft_domain_open(NULL, &own.domain) == HAFT_OK);
    require(haft_table_open(own.domain, &options, &own.table) == HAFT_OK);
    require(haft_worker_open(own.table, &own.worker) == HAFT_OK);
    own.view = haft_table_view(own.table);
    haft_id of_child;

    require(haft_insert(own.worker, NULL, &of_child) == HAFT_OK);
    const pid_t grandchild = fork();
    int status = -1;

    if (grandchild == 0) {
        insert_resolve_and_free(&own, own.worker);
        require(haft_is_live(own.view, of_child));
        require(haft_worker_flush(own.worker) == HAFT_OK);
        require(haft_domain_wait(own.domain) == HAFT_FORKED);
        require(haft_worker_close(own.worker) == HAFT_OK);
        close_parents(&own);
    } else {
        require(waitpid(grandchild, &status, 0) == grandchild && status == 0);
        require(haft_worker_flush(own.worker) == HAFT_OK);
        require(haft_domain_wait(own.domain) == HAFT_OK);
        require(haft_worker_close(own.worker) == HAFT_OK);
        require(haft_table_close(own.table) == HAFT_OK);
        require(haft_domain_close(own.domain) == HAFT_OK);
    }
    use_and_close(shared, live);
}

TEST_ON_EACH_ROW(fork_, the_child_may_fork_again)
{
    run_in_child(*row, fork_again);
}

/* --- forks in a job, and in a callback --- */

static haft_job_state outer_job;
static haft_job_state inner_job;

static void end_jobs(struct shared *shared, haft_id live)
{
    const bool is_frame = haft_domain_tick(shared->domain) == HAFT_OK;

    require(haft_is_live(shared->view, live));
    require(haft_worker_quiescent(shared->worker) == HAFT_OK);
    require(is_frame || haft_domain_wait(shared->domain) == HAFT_IN_SECTION);
    haft_job_end(shared->domain, inner_job);
    haft_job_end(shared->domain, outer_job);
    insert_resolve_and_free(shared, shared->worker);
    close_all(shared);
}

TEST_ON_EACH_ROW(fork_, jobs_that_began_before_end_in_the_child_and_in_the_parent)
{
    const haft_table_options options = options_with_pins(false);
    AT_END(close_parent) struct parent parent;

    open_parent(&parent, *row, &options);
    haft_thread_offline(parent.shared.domain);
    outer_job = haft_job_begin(parent.shared.domain);
    inner_job = haft_job_begin(parent.shared.domain);
    fork_and_run(end_jobs, &parent.shared, parent.live);
    haft_job_end(parent.shared.domain, inner_job);
    haft_job_end(parent.shared.domain, outer_job);
    haft_thread_online(parent.shared.domain);
}

/* The first call forks; in the child it goes on, and so do the others. */
struct forks_inside {
    struct shared shared;
    pid_t child;
    int calls;
};

/* Afterwards no slot is free or live, however many had come back before: all wait. */
static void use_up(haft_worker *worker)
{
    haft_id ids[32];
    int count = 0;

    while (haft_insert(worker, NULL, &ids[count]) == HAFT_OK) {
        count++;
    }
    while (count != 0) {
        require(haft_free(worker, ids[--count]) == HAFT_OK);
    }
}

static void refuse_inside(const struct forks_inside *forks, haft_worker *worker)
{
    haft_id id;

    require(haft_worker_quiescent(worker) == HAFT_IN_CALLBACK);
    require(haft_domain_wait(forks->shared.domain) == HAFT_IN_CALLBACK);
    require(haft_table_close(forks->shared.table) == HAFT_IN_CALLBACK);
    require(haft_domain_close(forks->shared.domain) == HAFT_IN_CALLBACK);
    use_up(worker);
    require(haft_insert(worker, NULL, &id) == HAFT_BUSY);
    require(haft_insert_wait(worker, NULL, &id) == HAFT_IN_CALLBACK);
    require(haft_reserve_wait(worker, &id, NULL) == HAFT_IN_CALLBACK);
}

static void fork_inside(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct forks_inside *forks = arg;

    if (forks->calls++ != 0) {
        return;
    }
    forks->child = fork();
    if (forks->child == 0) {
        alarm(SUITE_SECONDS);
        refuse_inside(forks, worker);
    }
}

/* In the process that the test is, or in its child. */
static void holds(const struct forks_inside *forks, bool condition)
{
    if (forks->child == 0) {
        require(condition);
    }
    must(condition);
}

/* What a wait in between said.  With the thread clock the callback may run, and fork, in the flush
 * already: then its child cannot wait for the others. */
static haft_status reclaim_and_fork(const struct forks_inside *forks)
{
    const struct shared *shared = &forks->shared;

    holds(forks, haft_worker_flush(shared->worker) == HAFT_OK);
    haft_domain_tick(shared->domain);
    const haft_status waited = haft_domain_wait(shared->domain);

    holds(forks, waited == HAFT_OK || (waited == HAFT_FORKED && forks->child == 0));
    holds(forks, haft_worker_quiescent(shared->worker) == HAFT_OK);
    return waited;
}

#define FREED 20 /* of 31 slots or fewer: while they wait, the others are too few */

TEST_ON_EACH_ROW(fork_, a_callback_that_forks_ends_in_the_child_and_in_the_parent)
{
    static struct forks_inside forks;
    const haft_table_options options = {
        .layout = {.index_bits = 5, .generation_bits = 32},
        .capacity = FREED,
        .object_size = 8,
        .on_reclaim = fork_inside,
        .reclaim_arg = &forks,
    };
    haft_id ids[FREED];
    int status = -1;

    forks.calls = 0;
    forks.child = -1;
    forks.shared = open_shared_row(*row, &options);
    for (int i = 0; i < FREED; i++) {
        ids[i] = insert(forks.shared.worker);
    }
    for (int i = 0; i < FREED; i++) {
        must(haft_free(forks.shared.worker, ids[i]) == HAFT_OK);
    }
    const haft_status waited = reclaim_and_fork(&forks);

    if (forks.child == 0) {
        require(waited == HAFT_FORKED ? forks.calls <= FREED : forks.calls == FREED);
        require(haft_worker_close(forks.shared.worker) == HAFT_OK);
        close_parents(&forks.shared);
        _exit(0);
    }
    cr_expect(eq(int, forks.calls, FREED));
    must(waitpid(forks.child, &status, 0) == forks.child);
    cr_expect(zero(int, status));
    close_shared(&forks.shared);
}

/* Another thread's callback is cut off: it has begun, and the object's slot is lost. */
static sem_t inside;
static sem_t may_end;

static void stay_inside(void *object, haft_id id, haft_worker *worker, void *arg)
{
    require(*(pid_t *)arg == getpid()); /* in the child it does not begin again */
    sem_post(&inside);
    while (sem_wait(&may_end) != 0) {
        /* interrupted */
    }
}

static void *free_and_reclaim(void *arg)
{
    haft_worker *worker = open_worker(arg);

    must(haft_free(worker, insert(worker)) == HAFT_OK);
    must(haft_worker_flush(worker) == HAFT_OK);
    must(haft_domain_tick(haft_table_info(arg).domain) == HAFT_OK);
    must(haft_worker_quiescent(worker) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    return NULL;
}

Test(fork_, a_callback_of_another_thread_does_not_begin_again_in_the_child)
{
    pid_t process = getpid();
    pthread_t thread;
    struct shared shared = open_shared_row(FRAME, &(haft_table_options){.capacity = 100,
                                                                        .object_size = 8,
                                                                        .on_reclaim = stay_inside,
                                                                        .reclaim_arg = &process});
    const haft_id live = insert(shared.worker);

    need_forks_beside_threads();
    sem_init(&inside, 0, 0);
    sem_init(&may_end, 0, 0);
    must(pthread_create(&thread, NULL, free_and_reclaim, shared.table) == 0);
    sem_wait(&inside);
    fork_and_run(use_and_close, &shared, live);
    sem_post(&may_end);
    pthread_join(thread, NULL);
    sem_post(&may_end); /* for the object that the close ends */
    close_shared(&shared);
}

/* --- stalls --- */

static bool is_child;
static atomic_int stalls;

static void note_stall(const haft_stall *stall, void *arg)
{
    require(!is_child);
    atomic_fetch_add(&stalls, 1);
}

static void free_for_long(struct shared *shared, haft_id live)
{
    is_child = true;
    require(haft_free(shared->worker, live) == HAFT_OK);
    require(haft_worker_flush(shared->worker) == HAFT_OK);
    for (int n = 0; n < 10; n++) {
        usleep(1000);
        require(haft_worker_quiescent(shared->worker) == HAFT_OK);
    }
}

/* The thread that is gone holds the grace period up for ever. */
Test(fork_, the_child_reports_no_stall_of_its_parents_domain)
{
    const haft_domain_options domain = {.on_stall = note_stall, .stall_ns = 1000};
    AT_END(close_shared) struct shared shared;
    struct reader reader;

    need_forks_beside_threads();
    shared = open_shared_on(
        &domain, &(haft_table_options){.capacity = 100, .object_size = 8, .on_reclaim = ignore});
    reader_enter(&reader, &shared);
    fork_and_run(free_for_long, &shared, insert(shared.worker));
    reader_leave(&reader);
}

/* On a domain of the child's own. */
static void expect_blame(struct shared *shared, haft_id live)
{
    const haft_table_options options = options_with_pins(false);
    struct shared own;
    char line[300];
    haft_id id;

    require(haft_worker_close(shared->worker) == HAFT_OK);
    require(haft_domain_open(NULL, &own.domain) == HAFT_OK);
    require(haft_table_open(own.domain, &options, &own.table) == HAFT_OK);
    require(haft_worker_open(own.table, &own.worker) == HAFT_OK);
    require(haft_insert(own.worker, NULL, &id) == HAFT_OK);
    require(haft_free(own.worker, id) == HAFT_OK);
    require(haft_worker_flush(own.worker) == HAFT_OK);
    haft_table_explain(own.table, HAFT_BUSY, line, sizeof line);
    require(strstr(line, "; this thread holds it up until its next quiescent point") != NULL);
}

Test(fork_, the_childs_thread_is_blamed_by_its_own_number)
{
    const haft_table_options options = options_with_pins(false);
    AT_END(close_shared) struct shared shared = open_shared_row(WORKERS, &options);

    fork_and_run(expect_blame, &shared, insert(shared.worker));
}

/* --- the frame clock --- */

static void tick_and_reuse(struct shared *shared, haft_id live)
{
    haft_id id;

    require(haft_is_live(shared->view, live));
    for (int n = 0; n < 3 * CAPACITY; n++) {
        require(haft_insert(shared->worker, NULL, &id) == HAFT_OK);
        require(haft_free(shared->worker, id) == HAFT_OK);
        if (n % 100 == 0) {
            require(haft_worker_flush(shared->worker) == HAFT_OK);
            require(haft_domain_tick(shared->domain) == HAFT_OK);
        }
    }
    close_all(shared);
}

/* Whatever sections other threads had open. */
Test(fork_, the_child_ticks_a_frame_clock_and_uses_slots_again)
{
    run_in_child(FRAME, tick_and_reuse);
}

/* --- a command set --- */

static haft_commands *commands;

static void create_one(void)
{
    haft_recorder *recorder;
    haft_applied applied;
    haft_id id;

    require(haft_recorder_open(commands, 1, 4, &recorder) == HAFT_OK);
    require(haft_recorder_create(recorder, &id, NULL) == HAFT_OK);
    require(haft_commands_apply(commands, &applied) == HAFT_OK);
    require(applied.created == 1 && applied.unused == 3);
}

static void use_set(struct shared *shared, haft_id live)
{
    require(haft_is_live(shared->view, live));
    create_one();
    require(haft_worker_close(shared->worker) == HAFT_OK);
    require(haft_table_close(shared->table) == HAFT_IN_USE);
    haft_commands_close(commands);
    close_parents(shared);
}

static void *open_set(void *arg)
{
    const struct shared *shared = arg;

    require(haft_commands_open(shared->table, NULL, &commands) == HAFT_OK);
    create_one();
    return NULL;
}

/* With the frame clock a set goes from thread to thread. */
Test(fork_, the_child_uses_and_closes_a_command_set_whichever_thread_used_it_last)
{
    struct shared shared = open_shared_row(FRAME, &(haft_table_options){.capacity = 100});

    in_another_thread(open_set, &shared);
    fork_and_run(use_set, &shared, insert(shared.worker));
    haft_commands_close(commands);
    close_shared(&shared);
}

/* --- the lock of opening and closing --- */

static sem_t begins;
static atomic_bool is_given_back;

static void note_that_a_fork_begins(void)
{
    sem_post(&begins);
}

/* As a thread that opens or closes something when another one forks. */
static void *hold_the_lock_a_little_longer(void *holds)
{
    registry_lock();
    sem_post(holds);
    while (sem_wait(&begins) != 0) {
        /* interrupted */
    }
    sleep_ms(300); /* a fork that does not wait is over long before */
    atomic_store(&is_given_back, true);
    registry_unlock();
    return NULL;
}

Test(fork_, waits_for_the_lock_of_opening_and_closing)
{
    pthread_t thread;
    sem_t holds;
    int status = -1;

    need_forks_beside_threads();
    must(sem_init(&begins, 0, 0) == 0 && sem_init(&holds, 0, 0) == 0);
    must(pthread_create(&thread, NULL, hold_the_lock_a_little_longer, &holds) == 0);
    while (sem_wait(&holds) != 0) {
        /* interrupted */
    }
    /* Given last, it is called first. */
    must(pthread_atfork(note_that_a_fork_begins, NULL, NULL) == 0);
    const pid_t child = fork();

    if (child == 0) {
        _exit(!atomic_load(&is_given_back));
    }
    cr_assert(eq(int, waitpid(child, &status, 0), child));
    cr_expect(zero(int, status));
    pthread_join(thread, NULL);
}

/* --- locks of the program's own --- */

static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;

static void take_own_lock(void)
{
    pthread_mutex_lock(&own_lock);
}

static void give_own_lock(void)
{
    pthread_mutex_unlock(&own_lock);
}

struct opener {
    struct shared shared;
    atomic_bool stop;
};

static void *open_with_own_lock(void *arg)
{
    const struct opener *opener = arg;

    while (!atomic_load(&opener->stop)) {
        haft_table *table;

        take_own_lock();
        must(haft_table_open(opener->shared.domain, &(haft_table_options){.capacity = 100},
                             &table) == HAFT_OK);
        must(haft_table_close(table) == HAFT_OK);
        give_own_lock();
    }
    return NULL;
}

Test(fork_, the_program_may_hand_to_pthread_atfork_a_lock_that_it_opens_tables_under)
{
    static struct opener opener;
    pthread_t thread;

    need_forks_beside_threads();
    must(pthread_atfork(take_own_lock, give_own_lock, give_own_lock) == 0);
    opener.shared = open_shared_row(FRAME, &(haft_table_options){.capacity = 100});
    must(pthread_create(&thread, NULL, open_with_own_lock, &opener) == 0);
    for (int n = 0; n < 100; n++) {
        const pid_t child = fork();
        int status = -1;

        if (child == 0) {
            _exit(0);
        }
        must(waitpid(child, &status, 0) == child && status == 0);
    }
    atomic_store(&opener.stop, true);
    pthread_join(thread, NULL);
    close_shared(&opener.shared);
}
