/* White-box.  Fork: what the child may do, for each flavour and clock, with others in the way. */
#include "concurrent/clock/state.h"
#include "tests/extra/forking.h"
#include <haft/diagnose.h>
#include <haft/kit/commands.h>
#include <haft/memory.h>
#include <haft/pin.h>
#include <haft/share.h>
#include <haft/threads.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>

TestSuite(fork_, .timeout = SUITE_SECONDS);
TestSuite(fork_pins, .timeout = SUITE_SECONDS);

/* --- a parent with other threads about --- */

static const haft_table_options options = {.capacity = 5000, .object_size = 8};

struct parent {
    struct shared shared;
    struct reader reader;
    pthread_t holder;
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

static void open_parent(struct parent *parent, int row, const haft_table_options *with)
{
    parent->shared = open_shared_row(row, with);
    parent->live = insert(parent->shared.worker);
    sem_init(&parent->holds, 0, 0);
    sem_init(&parent->leave, 0, 0);
    must(pthread_create(&parent->holder, NULL, hold, parent) == 0);
    sem_wait(&parent->holds);
    reader_enter(&parent->reader, &parent->shared);
}

static void close_parent(struct parent *parent)
{
    reader_leave(&parent->reader);
    sem_post(&parent->leave);
    haft_thread_offline(parent->shared.domain);
    pthread_join(parent->holder, NULL);
    haft_thread_online(parent->shared.domain);
    close_shared(&parent->shared);
}

/* --- without the calls --- */

static void resolve_both(struct shared *shared, haft_id live)
{
    haft_id id;

    haft_section_begin(shared->domain);
    require(haft_resolve(shared->view, live) != NULL);
    require(haft_insert(shared->worker, NULL, &id) == HAFT_OK);
    require(haft_resolve(shared->view, id) != NULL);
    require(haft_free(shared->worker, id) == HAFT_OK);
    require(haft_resolve(shared->view, id) == NULL);
    haft_section_end(shared->domain);
    require(haft_diagnose(shared->table, id) == HAFT_STALE);
    require(haft_table_stats_get(shared->table).live == 1);
}

static void refuse_to_wait(struct shared *shared, haft_id live)
{
    haft_local *local;
    haft_id id;

    resolve_both(shared, live);
    for (int n = 0; n < 20000; n++) { /* as many as a quiescent point would wait for */
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
    require(haft_worker_close(shared->worker) == HAFT_OK);
    require(haft_table_close(shared->table) == HAFT_FORKED);
    require(haft_unshare(shared->table, &local) == HAFT_FORKED);
    require(haft_domain_close(shared->domain) == HAFT_FORKED);
    require(haft_is_live(shared->view, live));
}

TEST_ON_EACH_ROW(fork_, without_the_calls_the_child_does_what_is_lock_free_and_waits_for_nothing)
{
    struct parent parent;

    open_parent(&parent, *row, &options);
    fork_plainly(refuse_to_wait, &parent.shared, parent.live);
    cr_expect(haft_is_live(parent.shared.view, parent.live));
    close_parent(&parent);
}

static sem_t begins;
static atomic_bool is_given_back;

static void note_that_a_fork_begins(void)
{
    sem_post(&begins);
}

/* As a thread that opens or closes something when another one forks. */
static void *hold_the_lock_a_little_longer(void *holds)
{
    haft_before_fork();
    sem_post(holds);
    while (sem_wait(&begins) != 0) {
        /* interrupted */
    }
    sleep_ms(20);
    atomic_store(&is_given_back, true);
    haft_after_fork_parent();
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

/* --- with them --- */

static bool ticks;

/* Fill the table, and empty it. */
static void use_all(struct shared *shared)
{
    static haft_id ids[10000];
    uint64_t count = 0;

    end_grace(shared, ticks);
    while (haft_insert(shared->worker, NULL, &ids[count]) == HAFT_OK) {
        require(++count < 10000);
    }
    require(count + 2 >= options.capacity); /* with the live object and the reserved slot */
    for (uint64_t i = 0; i < count; i++) {
        require(haft_free(shared->worker, ids[i]) == HAFT_OK);
        require(!haft_is_live(shared->view, ids[i]));
    }
}

static void close_all(struct shared *shared)
{
    require(haft_worker_close(shared->worker) == HAFT_OK);
    require(haft_table_close(shared->table) == HAFT_OK);
    require(shared->anchor == NULL || haft_table_close(shared->anchor) == HAFT_OK);
    require(haft_domain_close(shared->domain) == HAFT_OK);
}

static void go_on(struct shared *shared, haft_id live)
{
    resolve_both(shared, live);
    require(haft_table_stats_get(shared->table).workers == 1);
    require(haft_table_stats_get(shared->table).reserved == 1);
    require(haft_worker_flush(shared->worker) == HAFT_OK);
    require(haft_domain_wait(shared->domain) == (ticks ? HAFT_BUSY : HAFT_OK));
    for (int n = 0; n < 3; n++) {
        use_all(shared);
        require(haft_worker_quiescent(shared->worker) == HAFT_OK);
    }
    require(haft_resolve(shared->view, live) != NULL);
    close_all(shared);
}

TEST_ON_EACH_ROW(fork_, with_the_calls_the_child_uses_every_slot_and_closes_everything)
{
    struct parent parent;

    ticks = child_ticks(*row);
    open_parent(&parent, *row, &options);
    fork_with_the_calls(go_on, &parent.shared, parent.live);
    cr_expect(haft_is_live(parent.shared.view, parent.live));
    cr_expect(eq(u64, stats_of(parent.shared.table).workers, 2));
    close_parent(&parent);
}

/* Opened after shared->worker, it has drawn fresh slots before it. */
static haft_worker *early;

/* In which workers draw more slots at a time than one batch. */
static const haft_table_options wide = {.capacity = 1 << 17, .object_size = 8};

static void use_early(struct shared *shared, haft_id live)
{
    uint64_t count = 3; /* live ones */
    haft_id id;

    require(haft_resolve(shared->view, live) != NULL);
    require(haft_insert(early, NULL, &id) == HAFT_OK);
    require(haft_worker_close(early) == HAFT_OK);
    while (haft_insert(shared->worker, NULL, &id) == HAFT_OK) {
        count++;
    }
    require(count >= wide.capacity);
    close_all(shared);
}

TEST_ON_EACH_ROW(fork_, the_child_leaves_its_workers_the_fresh_slots_that_they_have_drawn)
{
    struct shared shared = open_shared_row(*row, &wide);

    early = open_worker(shared.table);
    const haft_id live = insert(early);

    insert(shared.worker);
    fork_with_the_calls(use_early, &shared, live);
    must(haft_worker_close(early) == HAFT_OK);
    close_shared(&shared);
}

/* Its runs have no records: they stay. */
static void use_small(struct shared *shared, haft_id live)
{
    haft_id id;
    uint64_t count = 1;

    require(haft_resolve(shared->view, live) != NULL);
    end_grace(shared, ticks);
    while (haft_insert(shared->worker, NULL, &id) == HAFT_OK) {
        count++;
    }
    require(count + 1 >= 1000); /* with the reserved slot */
    require(haft_trim(shared->table, NULL) == HAFT_OK);
    close_all(shared);
}

TEST_ON_EACH_ROW(fork_, the_child_uses_every_slot_of_a_small_table_that_was_full)
{
    static haft_id ids[1000];
    struct parent parent;
    const haft_table_options small = {.capacity = 1000, .object_size = 24};

    ticks = child_ticks(*row);
    open_parent(&parent, *row, &small);
    must(haft_table_stats_get(parent.shared.table).limit * 32 <= 128 << 10);
    for (int i = 0; i < 900; i++) {
        ids[i] = insert(parent.shared.worker);
    }
    for (int i = 0; i < 900; i++) {
        must(haft_free(parent.shared.worker, ids[i]) == HAFT_OK);
    }
    fork_with_the_calls(use_small, &parent.shared, parent.live);
    close_parent(&parent);
}

/* --- in a job --- */

static haft_job_state outer_job;
static haft_job_state inner_job;

static void end_jobs(struct shared *shared, haft_id live)
{
    require(haft_resolve(shared->view, live) != NULL);
    require(haft_worker_quiescent(shared->worker) == HAFT_OK);
    haft_job_end(shared->domain, inner_job);
    haft_job_end(shared->domain, outer_job);
    end_grace(shared, ticks);
    use_all(shared);
}

TEST_ON_EACH_ROW(fork_, jobs_that_began_before_end_in_the_child_and_in_the_parent)
{
    struct parent parent;

    ticks = child_ticks(*row);
    open_parent(&parent, *row, &options);
    haft_thread_offline(parent.shared.domain);
    outer_job = haft_job_begin(parent.shared.domain);
    inner_job = haft_job_begin(parent.shared.domain);
    fork_with_the_calls(end_jobs, &parent.shared, parent.live);
    haft_job_end(parent.shared.domain, inner_job);
    haft_job_end(parent.shared.domain, outer_job);
    haft_thread_online(parent.shared.domain);
    close_parent(&parent);
}

static void do_what_locks(struct shared *shared, haft_id live)
{
    haft_worker *worker;
    haft_domain *domain;
    haft_table *table;
    haft_id id;

    (void)live;
    require(haft_insert_unregistered(shared->table, NULL, &id) == HAFT_OK);
    require(haft_table_free(shared->table, id) == HAFT_OK);
    require(haft_worker_current(shared->table, &worker) == HAFT_OK);
    require(haft_insert(worker, NULL, &id) == HAFT_OK);
    require(haft_table_open(shared->domain, &options, &table) == HAFT_OK);
    require(haft_table_close(table) == HAFT_OK);
    require(haft_domain_open(&(haft_domain_options){.clock = HAFT_CLOCK_FRAME}, &domain) ==
            HAFT_OK);
    require(haft_domain_close(domain) == HAFT_OK);
    haft_thread_unregister(shared->domain);
    haft_thread_register(shared->domain);
    close_all(shared);
}

TEST_ON_EACH_ROW(fork_, with_the_calls_the_child_opens_closes_and_locks_as_ever)
{
    struct parent parent;

    open_parent(&parent, *row, &options);
    fork_with_the_calls(do_what_locks, &parent.shared, parent.live);
    close_parent(&parent);
}

static int parents_row;

/* The parent's foreign clock may know threads that are gone, unless its after_fork() is true. */
static void use_new_domains(struct shared *shared, haft_id live)
{
    const int fit[] = {WORKERS, FRAME, parents_row};

    (void)live;
    for (int i = 0; i < 3; i++) {
        const haft_domain_options with = options_of(fit[i]);
        const bool stays_frame = with.clock == HAFT_CLOCK_FRAME;
        struct shared own = {.worker = NULL};

        if (fit[i] < BP_CALLS) {
            continue;
        }
        haft_thread_offline(shared->domain);
        require(haft_domain_open(&with, &own.domain) == HAFT_OK);
        require(haft_table_open(own.domain, &options, &own.table) == HAFT_OK);
        require(haft_worker_open(own.table, &own.worker) == HAFT_OK);
        require(haft_free(own.worker, insert(own.worker)) == HAFT_OK);
        end_grace(&own, stays_frame);
        require(haft_domain_stats_get(own.domain).backlog == 0);
        require(haft_free(own.worker, insert(own.worker)) == HAFT_OK);
        require(haft_worker_close(own.worker) == HAFT_OK);
        require(haft_table_close(own.table) == HAFT_OK);
        require(haft_domain_close(own.domain) == HAFT_OK);
        haft_thread_online(shared->domain);
    }
    close_all(shared);
}

TEST_ON_EACH_ROW(fork_, with_the_calls_the_child_has_domains_of_its_own)
{
    struct parent parent;

    parents_row = *row;
    open_parent(&parent, *row, &options);
    fork_with_the_calls(use_new_domains, &parent.shared, parent.live);
    close_parent(&parent);
}

static void *insert_and_free(void *arg)
{
    struct shared *shared = arg;
    haft_worker *worker;
    haft_id id;

    haft_thread_register(shared->domain);
    require(haft_worker_open(shared->table, &worker) == HAFT_OK);
    for (int n = 0; n < 1000; n++) {
        require(haft_insert(worker, NULL, &id) == HAFT_OK);
        haft_section_begin(shared->domain);
        require(haft_resolve(shared->view, id) != NULL);
        haft_section_end(shared->domain);
        require(haft_free(worker, id) == HAFT_OK);
    }
    require(haft_worker_close(worker) == HAFT_OK);
    haft_thread_unregister(shared->domain);
    return NULL;
}

static void start_threads(struct shared *shared, haft_id live)
{
    pthread_t threads[3];

    (void)live;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 3; i++) {
            require(pthread_create(&threads[i], NULL, insert_and_free, shared) == 0);
        }
        haft_thread_offline(shared->domain);
        for (int i = 0; i < 3; i++) {
            pthread_join(threads[i], NULL);
        }
        haft_thread_online(shared->domain);
        end_grace(shared, ticks);
    }
    require(haft_table_stats_get(shared->table).live == 1);
    require(haft_table_stats_get(shared->table).workers == 1);
    close_all(shared);
}

TEST_ON_EACH_ROW(fork_, with_the_calls_the_child_starts_threads_of_its_own)
{
    struct parent parent;
    const haft_table_options large = {.capacity = 20000, .object_size = 8};

    need_a_machine();
    ticks = child_ticks(*row);
    open_parent(&parent, *row, &large);
    fork_with_the_calls(start_threads, &parent.shared, parent.live);
    close_parent(&parent);
}

/* --- pins --- */

static void unpin_and_close(struct shared *shared, haft_id live)
{
    require(haft_worker_close(shared->worker) == HAFT_OK);
    shared->worker = NULL;
    require(haft_pins(shared->table, live) == 1);
    require(haft_table_close(shared->table) == HAFT_IN_USE);
    require(haft_unpin(shared->table, live) == HAFT_OK);
    require(haft_table_close(shared->table) == HAFT_OK);
}

TEST_ON_EACH_ROW(fork_, what_was_pinned_is_pinned_in_the_child_which_may_unpin_it)
{
    struct parent parent;
    const haft_table_options pinned = {.capacity = 5000, .object_size = 8, .pins = true};

    open_parent(&parent, *row, &pinned);
    haft_section_begin(parent.shared.domain);
    must(haft_pin(parent.shared.table, parent.live) != NULL);
    haft_section_end(parent.shared.domain);
    fork_with_the_calls(unpin_and_close, &parent.shared, parent.live);
    expect_status(haft_unpin(parent.shared.table, parent.live), HAFT_OK);
    close_parent(&parent);
}

static void measure_a_wait(struct shared *shared, haft_id live)
{
    (void)live;
    require(os_mutex_try_lock(&shared->domain->measure.lock));
    os_mutex_unlock(&shared->domain->measure.lock);
}

/* Else no stall is ever noticed there. */
TEST_ON_EACH_ROW(fork_, the_child_measures_waits_though_a_thread_was_about_to)
{
    struct parent parent;

    open_parent(&parent, *row, &options);
    must(os_mutex_try_lock(&parent.shared.domain->measure.lock));
    fork_with_the_calls(measure_a_wait, &parent.shared, parent.live);
    os_mutex_unlock(&parent.shared.domain->measure.lock);
    close_parent(&parent);
}

/* --- on_reclaim and handlers --- */

struct slow {
    sem_t inside;
    sem_t go_on;
    haft_table *table;
    haft_id id;
    haft_table *opened;
    pid_t process;
    bool done;
};

/* Stays inside, and opens a table. */
static void stay_in_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct slow *slow = arg;
    haft_table *table;

    require(getpid() == slow->process); /* in a child it does not begin again */
    (void)object;
    (void)id;
    (void)worker;
    sem_post(&slow->inside);
    sem_wait(&slow->go_on);
    must(haft_table_open(haft_table_domain(slow->table), &options, &table) == HAFT_OK);
    must(haft_table_close(table) == HAFT_IN_CALLBACK);
    slow->opened = table;
    slow->done = true;
}

static void *unpin(void *arg)
{
    struct slow *slow = arg;

    haft_id id;

    must(haft_unpin(slow->table, slow->id) == HAFT_OK);
    must(haft_insert_unregistered(slow->table, NULL, &id) == HAFT_OK); /* its duty */
    return NULL;
}

static void *let_go_on(void *arg)
{
    struct slow *slow = arg;

    sleep_ms(100);
    sem_post(&slow->go_on);
    return NULL;
}

static struct slow slow;

static void insert_without_a_worker(struct shared *shared, haft_id live)
{
    haft_id id;

    (void)live;
    require(!slow.done);
    require(haft_insert_unregistered(shared->table, NULL, &id) == HAFT_OK);
}

typedef void forks_of(child_body *body, struct shared *shared, haft_id live);

/* A fork finds a thread that runs `body` inside on_reclaim. */
static void fork_amid(void *(*body)(void *), forks_of *forks, child_body *child,
                      struct shared *shared)
{
    pthread_t threads[2];

    must(pthread_create(&threads[0], NULL, body, &slow) == 0);
    sem_wait(&slow.inside);
    must(pthread_create(&threads[1], NULL, let_go_on, &slow) == 0);
    forks(child, shared, HAFT_NIL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    must(haft_table_close(slow.opened) == HAFT_OK);
}

/* slow is ready for a thread that stays in this table's on_reclaim. */
static void set_up_slow(haft_table *table)
{
    sem_init(&slow.inside, 0, 0);
    sem_init(&slow.go_on, 0, 0);
    slow.process = getpid();
    slow.table = table;
}

static void fork_while_a_table_is_opened_in_on_reclaim(forks_of *forks)
{
    const haft_table_options slowly = {.capacity = 100,
                                       .object_size = 8,
                                       .pins = true,
                                       .on_reclaim = stay_in_reclaim,
                                       .reclaim_arg = &slow};
    struct shared shared = open_shared_row(MEMB_CALLS, &slowly);

    set_up_slow(shared.table);
    slow.id = insert(shared.worker);
    haft_section_begin(shared.domain);
    must(haft_pin(shared.table, slow.id) != NULL);
    haft_section_end(shared.domain);
    must(haft_free(shared.worker, slow.id) == HAFT_OK);
    settle(shared.worker);
    for (int n = 0; n < 3; n++) {
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    }
    fork_amid(unpin, forks, insert_without_a_worker, &shared);
    close_shared(&shared);
}

Test(fork_, does_not_wait_for_an_on_reclaim_that_opens_a_table)
{
    fork_while_a_table_is_opened_in_on_reclaim(fork_with_the_calls);
}

static void hand_the_calls_over(void)
{
    must(pthread_atfork(haft_before_fork, haft_after_fork_parent, haft_after_fork_child) == 0);
}

/* Whether the program's handlers run around or inside of the library's own. */
Test(fork_, handed_to_pthread_atfork_before_all_else_the_calls_wait_for_no_on_reclaim)
{
    hand_the_calls_over();
    fork_while_a_table_is_opened_in_on_reclaim(fork_plainly);
}

Test(fork_, handed_to_pthread_atfork_after_tables_the_calls_wait_for_no_on_reclaim)
{
    struct shared shared = open_shared_row(FRAME, &options);

    hand_the_calls_over();
    fork_while_a_table_is_opened_in_on_reclaim(fork_plainly);
    close_shared(&shared);
}

static void *trim_table(void *arg)
{
    const struct slow *its = arg;

    must(haft_trim(its->table, NULL) == HAFT_OK);
    return NULL;
}

static void trim_fill_and_close(struct shared *shared, haft_id live)
{
    haft_id id;

    (void)live;
    require(!slow.done);
    require(haft_trim(shared->table, NULL) == HAFT_OK);
    for (uint64_t n = 0; n < haft_table_stats_get(shared->table).capacity; n++) {
        require(haft_insert(shared->worker, NULL, &id) == HAFT_OK);
    }
    require(haft_worker_close(shared->worker) == HAFT_OK);
    require(haft_table_close(shared->table) == HAFT_OK);
}

Test(fork_, in_the_middle_of_a_trim_leaves_the_child_every_slot)
{
    const haft_table_options slowly = {
        .capacity = 5000, .object_size = 8, .on_reclaim = stay_in_reclaim, .reclaim_arg = &slow};
    struct shared shared = open_shared_row(MEMB_CALLS, &slowly);

    set_up_slow(shared.table);
    must(haft_worker_close(open_worker(shared.table)) == HAFT_OK); /* for the trim to take over */
    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    must(haft_domain_wait(shared.domain) == HAFT_OK);
    fork_amid(trim_table, fork_with_the_calls, trim_fill_and_close, &shared);
    assert_status(haft_trim(shared.table, NULL), HAFT_OK);
    close_shared(&shared);
}

TEST_ON_EACH_ROW(fork_, with_the_calls_handed_to_pthread_atfork_twice_every_fork_is_safe)
{
    struct parent parent;

    ticks = child_ticks(*row);
    hand_the_calls_over(); /* by a library ... */
    open_parent(&parent, *row, &options);
    hand_the_calls_over(); /* ... and by the program, which has opened tables already */
    must(pthread_atfork(urcu_bp_before_fork, urcu_bp_after_fork_parent, urcu_bp_after_fork_child) ==
         0);
    fork_plainly(go_on, &parent.shared, parent.live);
    fork_plainly(do_what_locks, &parent.shared, parent.live);
    close_parent(&parent);
}

static void *open_and_close(void *arg)
{
    const haft_domain_options frame = {.clock = HAFT_CLOCK_FRAME};
    haft_domain *domain;

    require(haft_domain_open(&frame, &domain) == HAFT_OK);
    __atomic_store_n((bool *)arg, true, __ATOMIC_RELAXED);
    require(haft_domain_close(domain) == HAFT_OK);
    return NULL;
}

/* Between the calls no other thread opens anything. */
static void expect_locked(void)
{
    bool has_opened = false;
    pthread_t thread;

    haft_before_fork();
    require(pthread_create(&thread, NULL, open_and_close, &has_opened) == 0);
    usleep(50000);
    require(!__atomic_load_n(&has_opened, __ATOMIC_RELAXED));
    haft_after_fork_parent();
    require(pthread_join(thread, NULL) == 0 && has_opened);
}

Test(fork_, within_the_calls_the_calls_change_nothing)
{
    int status = -1;

    need_a_machine();
    haft_before_fork();
    haft_before_fork();
    const pid_t child = fork();

    if (child == 0) {
        haft_after_fork_child();
        haft_after_fork_child();
        expect_locked();
        _exit(0);
    }
    haft_after_fork_parent();
    haft_after_fork_parent();
    must(waitpid(child, &status, 0) == child && status == 0);
    expect_locked();
}

static void fork_again(struct shared *shared, haft_id live)
{
    int status = -1;

    haft_before_fork();
    const pid_t child = fork();

    if (child == 0) {
        haft_after_fork_child();
        go_on(shared, live);
        _exit(0);
    }
    haft_after_fork_parent();
    require(waitpid(child, &status, 0) == child && status == 0);
    go_on(shared, live);
}

TEST_ON_EACH_ROW(fork_, with_the_calls_the_child_may_fork_again)
{
    struct parent parent;

    ticks = child_ticks(*row);
    open_parent(&parent, *row, &options);
    fork_with_the_calls(fork_again, &parent.shared, parent.live);
    close_parent(&parent);
}

/* --- what only waiting could mend --- */

static void wait_for_a_pinned_slot(struct shared *shared, haft_id live)
{
    haft_id id;

    (void)live;
    require(haft_insert_wait(shared->worker, NULL, &id) == HAFT_FORKED);
    require(haft_insert_wait_unregistered(shared->table, NULL, &id) == HAFT_FORKED);
}

Test(fork_, in_its_child_an_insertion_does_not_wait_for_a_pin)
{
    struct shared shared = open_shared_row(
        MEMB_CALLS, &(haft_table_options){
                        .capacity = 4, .object_size = 8, .pins = true, .layout = {3, 20, 0, 0}});
    const haft_id pinned = insert(shared.worker);

    for (int i = 1; i < 4; i++) {
        insert(shared.worker);
    }
    haft_section_begin(shared.domain);
    must(haft_pin(shared.table, pinned) != NULL);
    haft_section_end(shared.domain);
    must(haft_free(shared.worker, pinned) == HAFT_OK);
    settle(shared.worker);

    fork_plainly(wait_for_a_pinned_slot, &shared, HAFT_NIL);
    must(haft_unpin(shared.table, pinned) == HAFT_OK);
    close_shared(&shared);
}

/* --- beside threads that never rest --- */

#define BUSY_TABLES 4
#define BUSY_ROUNDS 40000 /* of 128 calls each, at most: some seconds */
#define FORKS 20

static atomic_bool may_rest;
static atomic_int given_up; /* threads that have done all their rounds */

/* Insertions and frees without a worker, which 0.1 made under the table's lock. */
static void *use_without_rest(void *arg)
{
    haft_id ids[64];

    for (int round = 0; round < BUSY_ROUNDS && !atomic_load(&may_rest); round++) {
        for (int i = 0; i < 64; i++) {
            if (haft_insert_unregistered(arg, NULL, &ids[i]) != HAFT_OK) {
                ids[i] = HAFT_NIL;
            }
        }
        for (int i = 0; i < 64; i++) {
            haft_table_free(arg, ids[i]);
        }
    }
    atomic_fetch_add(&given_up, !atomic_load(&may_rest));
    return NULL;
}

/* The other threads' rounds are the measure, not time. */
Test(fork_, the_calls_come_back_while_threads_use_other_tables)
{
    struct shared shared = open_shared_row(FRAME, &options);
    haft_table *tables[BUSY_TABLES];
    pthread_t threads[BUSY_TABLES];

    for (int i = 0; i < BUSY_TABLES; i++) {
        must(haft_table_open(shared.domain, &(haft_table_options){.capacity = 100000},
                             &tables[i]) == HAFT_OK);
        must(pthread_create(&threads[i], NULL, use_without_rest, tables[i]) == 0);
    }
    for (int i = 0; i < FORKS; i++) {
        sleep_ms(5);
        must(haft_domain_tick(shared.domain) == HAFT_OK);
        haft_before_fork();
        haft_after_fork_parent();
    }
    cr_expect(zero(int, atomic_load(&given_up)), "haft_before_fork() waits for threads to rest");
    atomic_store(&may_rest, true);
    for (int i = 0; i < BUSY_TABLES; i++) {
        pthread_join(threads[i], NULL);
        must(haft_table_close(tables[i]) == HAFT_OK);
    }
    close_shared(&shared);
}

/* --- objects that were freed while they were pinned --- */

#define MOST 4096

static const haft_table_options pinning = {.capacity = 8, .object_size = 8, .pins = true};

static uint32_t index_of(const struct shared *shared, haft_id id)
{
    return haft_id_index(haft_table_layout(shared->table), id);
}

/* Insert until it is refused: no slot twice; whether that of `id` is among them. */
static bool takes_slot(struct shared *shared, haft_id id)
{
    static bool met[MOST];
    haft_id inserted;

    while (haft_insert(shared->worker, NULL, &inserted) == HAFT_OK) {
        require(!met[index_of(shared, inserted)]);
        met[index_of(shared, inserted)] = true;
        end_grace(shared, ticks);
    }
    return met[index_of(shared, id)];
}

static void reuse_after_unpin(struct shared *shared, haft_id freed)
{
    require(haft_pins(shared->table, freed) == 1);
    require(!takes_slot(shared, freed));
    require(haft_unpin(shared->table, freed) == HAFT_OK);
    require(takes_slot(shared, freed));
    close_all(shared);
}

static void unpin_at_once(struct shared *shared, haft_id freed)
{
    require(haft_unpin(shared->table, freed) == HAFT_OK);
    require(haft_unpin(shared->table, freed) == HAFT_NOT_PINNED);
    require(takes_slot(shared, freed));
    close_all(shared);
}

static void fork_with_one_pinned(int row, child_body *body)
{
    struct shared shared = open_shared_row(row, &pinning);
    const haft_id freed = insert(shared.worker);

    ticks = child_ticks(row);
    haft_section_begin(shared.domain);
    must(haft_pin(shared.table, freed) != NULL);
    haft_section_end(shared.domain);
    must(haft_free(shared.worker, freed) == HAFT_OK);
    end_grace(&shared, row == FRAME);
    must(haft_worker_quiescent(shared.worker) == HAFT_OK); /* it finds the pin */
    fork_with_the_calls(body, &shared, freed);
    expect_status(haft_unpin(shared.table, freed), HAFT_OK);
    close_shared(&shared);
}

TEST_ON_EACH_ROW(fork_pins, a_freed_object_is_kept_in_the_child_until_its_last_unpin)
{
    fork_with_one_pinned(*row, reuse_after_unpin);
}

TEST_ON_EACH_ROW(fork_pins, a_freed_objects_slot_comes_back_once_if_the_child_unpins_it_at_once)
{
    fork_with_one_pinned(*row, unpin_at_once);
}

/* --- the workers clock: which thread holds a grace period up --- */

static void expect_blame(struct shared *shared, haft_id live)
{
    char line[300];

    require(haft_free(shared->worker, live) == HAFT_OK);
    require(haft_worker_flush(shared->worker) == HAFT_OK);
    haft_table_explain(shared->table, HAFT_BUSY, line, sizeof line);
    require(strstr(line, "; this thread holds it up until its next quiescent point") != NULL);
}

Test(fork_, the_child_s_thread_is_blamed_by_its_own_number)
{
    struct shared shared = open_shared_row(WORKERS, &options);

    fork_with_the_calls(expect_blame, &shared, insert(shared.worker));
    close_shared(&shared);
}

/* --- a command set, from one thread to the next --- */

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

static void *open_set(void *arg)
{
    const struct shared *shared = arg;

    require(haft_commands_open(shared->table, NULL, &commands) == HAFT_OK);
    create_one();
    return NULL;
}

static void use_set(struct shared *shared, haft_id live)
{
    const uint64_t live_before = haft_table_stats_get(shared->table).live;
    haft_worker *worker = open_worker(shared->table);

    (void)live;
    require(worker != haft_commands_worker(commands));
    require(haft_table_stats_get(shared->table).workers == 3);
    create_one();
    require(haft_domain_tick(shared->domain) == HAFT_OK);
    create_one();
    require(haft_worker_close(worker) == HAFT_OK);
    require(haft_worker_close(shared->worker) == HAFT_OK);
    require(haft_table_close(shared->table) == HAFT_IN_USE);
    haft_commands_close(commands);
    require(haft_table_stats_get(shared->table).live == live_before + 2);
    require(haft_table_close(shared->table) == HAFT_OK);
    require(haft_domain_close(shared->domain) == HAFT_OK);
}

Test(fork_, a_command_set_goes_on_whichever_thread_used_it_last)
{
    struct shared shared = open_shared_row(FRAME, &options);
    pthread_t thread;

    must(pthread_create(&thread, NULL, open_set, &shared) == 0);
    pthread_join(thread, NULL);
    fork_with_the_calls(use_set, &shared, insert(shared.worker));
    haft_commands_close(commands);
    close_shared(&shared);
}

static void close_without_the_set(struct shared *shared, haft_id live)
{
    (void)live;
    require(haft_table_stats_get(shared->table).workers == 1);
    require(haft_worker_close(shared->worker) == HAFT_OK);
    require(haft_table_close(shared->table) == HAFT_OK);
    require(haft_domain_close(shared->domain) == HAFT_OK);
}

Test(fork_, a_set_of_another_thread_ends_with_it_unless_the_clock_is_the_frame_clock)
{
    struct shared shared = open_shared_row(MEMB_CALLS, &options);
    pthread_t thread;

    must(pthread_create(&thread, NULL, open_set, &shared) == 0);
    pthread_join(thread, NULL);
    fork_with_the_calls(close_without_the_set, &shared, insert(shared.worker));
    haft_commands_close(commands);
    close_shared(&shared);
}

static void *open_plain_worker(void *arg)
{
    const struct shared *shared = arg;

    open_worker(shared->table);
    return NULL;
}

/* The thread's worker is the one that the set had; it ends with its thread too. */
static void leave_a_plain_worker_and_fork(struct shared *shared, haft_id live)
{
    pthread_t thread;

    require(haft_domain_tick(shared->domain) == HAFT_OK);
    require(pthread_create(&thread, NULL, open_plain_worker, shared) == 0);
    pthread_join(thread, NULL);
    require(haft_table_stats_get(shared->table).workers == 2);
    fork_with_the_calls(close_without_the_set, shared, live);
}

Test(fork_, a_worker_that_a_set_had_before_a_fork_is_an_ordinary_one)
{
    struct shared shared = open_shared_row(MEMB_CALLS, &options);
    pthread_t thread;

    must(pthread_create(&thread, NULL, open_set, &shared) == 0);
    pthread_join(thread, NULL);
    fork_with_the_calls(leave_a_plain_worker_and_fork, &shared, insert(shared.worker));
    haft_commands_close(commands);
    close_shared(&shared);
}

static void *use_set_once(void *unused)
{
    (void)unused;
    create_one();
    return NULL;
}

/* The domain has the frame clock from the first fork on. */
static void hand_set_on_and_fork(struct shared *shared, haft_id live)
{
    pthread_t thread;

    require(haft_domain_tick(shared->domain) == HAFT_OK);
    require(pthread_create(&thread, NULL, use_set_once, NULL) == 0);
    pthread_join(thread, NULL);
    fork_with_the_calls(use_set, shared, live);
}

Test(fork_, a_command_set_that_the_child_handed_on_goes_on_in_its_child)
{
    struct shared shared = open_shared_row(MEMB_CALLS, &options);

    must(haft_commands_open(shared.table, NULL, &commands) == HAFT_OK);
    create_one();
    fork_with_the_calls(hand_set_on_and_fork, &shared, insert(shared.worker));
    haft_commands_close(commands);
    close_shared(&shared);
}

/* --- the frame clock: ticks beside sections of threads that are gone --- */

static void tick_without_the_calls(struct shared *shared, haft_id live)
{
    (void)live;
    require(haft_domain_tick(shared->domain) == HAFT_OK);
}

Test(fork_, a_child_without_the_calls_ticks_whatever_sections_other_threads_had_open)
{
    struct parent parent;

    open_parent(&parent, FRAME, &options);
    fork_plainly(tick_without_the_calls, &parent.shared, parent.live);
    close_parent(&parent);
}
