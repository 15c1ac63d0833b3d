/* A reader that stays inside: the stall callback, and that work goes on afterwards.  White-box: the
 * measure of a wait, when another thread has it. */
#include "concurrent/clock/domain.h"
#include "concurrent/clock/stall.h"
#include "concurrent/clock/thread.h"
#include "tests/support.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(stall, .timeout = SUITE_SECONDS);

#define STALL_NS (200u * 1000 * 1000) /* more than a busy machine keeps a thread waiting */
#define SLOTS 128

/* Filled in by the callback, which worker threads call one at a time here. */
struct calls {
    int count;
    haft_stall last;
};

static void note(const haft_stall *stall, void *arg)
{
    struct calls *calls = arg;

    calls->count++;
    calls->last = *stall;
}

static void *wait_once(void *domain)
{
    haft_domain_wait(domain);
    return NULL;
}

/* Until a thread is in a wait for a grace period, which has begun. */
static void await_driver(haft_domain *domain)
{
    while (!domain_is_driven(domain)) {
        sleep_ms(1);
    }
}

static struct shared open_noting_after(uint64_t stall_ns, struct setting setting,
                                       struct calls *calls)
{
    static const haft_table_options table = {.capacity = 64, .object_size = 8};
    haft_domain_options options = domain_options(setting);

    options.stall_ns = stall_ns;
    options.stall_arg = calls;
    options.on_stall = calls != NULL ? note : NULL;
    return open_shared_on(&options, &table);
}

static struct shared open_noting(struct setting setting, struct calls *calls)
{
    return open_noting_after(STALL_NS, setting, calls);
}

/* Fill the table to its last slot; how many there are in `ids`. */
static int fill(struct shared *shared, haft_id *ids)
{
    int count = 0;

    settle(shared->worker);
    while (count <= SLOTS && haft_insert_wait(shared->worker, NULL, &ids[count]) == HAFT_OK) {
        count++;
    }
    must(count <= SLOTS);
    return count;
}

static void free_all(struct shared *shared, const haft_id *ids, int count)
{
    for (int i = 0; i < count; i++) {
        must(haft_free(shared->worker, ids[i]) == HAFT_OK);
    }
}

static uint64_t stalls(const struct shared *shared)
{
    return haft_domain_stats_get(shared->domain).stalls;
}

/* A stall while a thread drives the clock, noticed by a worker that finds no slot. */
static void stall_once(struct shared *shared, uint64_t expected)
{
    struct reader reader;
    pthread_t waiter;
    haft_id ids[SLOTS + 1];
    const int count = fill(shared, ids);
    haft_id id;

    reader_enter(&reader, shared);
    free_all(shared, ids, count);
    must(haft_insert(shared->worker, NULL, &id) == HAFT_BUSY);
    must(pthread_create(&waiter, NULL, wait_once, shared->domain) == 0);
    for (int n = 0; n < 2000 && stalls(shared) < expected; n++) {
        must(haft_insert(shared->worker, NULL, &id) == HAFT_BUSY);
        sleep_ms(5);
    }
    for (int n = 0; n < 20; n++) { /* the same stall: not again */
        must(haft_insert(shared->worker, NULL, &id) == HAFT_BUSY);
        sleep_ms(5);
    }
    cr_expect(eq(u64, stalls(shared), expected));
    reader_leave(&reader);
    haft_thread_offline(shared->domain);
    pthread_join(waiter, NULL);
    haft_thread_online(shared->domain);
    must(haft_insert_wait(shared->worker, NULL, &id) == HAFT_OK);
    must(haft_free(shared->worker, id) == HAFT_OK);
}

/* What is written to stderr meanwhile goes into a file. */
struct captured {
    FILE *file;
    int before;
};

static struct captured capture(void)
{
    const struct captured captured = {tmpfile(), dup(STDERR_FILENO)};

    must(captured.file != NULL && captured.before >= 0);
    must(dup2(fileno(captured.file), STDERR_FILENO) >= 0);
    return captured;
}

/* The text, and stderr as it was. */
static void release(struct captured *captured, char *text, size_t size)
{
    must(dup2(captured->before, STDERR_FILENO) >= 0);
    close(captured->before);
    rewind(captured->file);
    text[fread(text, 1, size - 1, captured->file)] = '\0';
    fclose(captured->file);
}

TEST_ON_EACH_CLOCK(stall, callback_once_per_stall_with_how_long_and_what_waits_and_no_line)
{
    struct calls calls = {.count = 0};
    AT_END(close_shared) struct shared shared = open_noting(*setting, &calls);
    struct captured captured = capture();
    char text[4096];

    for (int n = 1; n <= 3; n++) {
        stall_once(&shared, (uint64_t)n);
        cr_expect(eq(int, calls.count, n));
        cr_expect(eq(ptr, calls.last.domain, shared.domain));
        cr_expect(ge(u64, calls.last.waited_ns, STALL_NS));
        cr_expect(lt(u64, calls.last.waited_ns, UINT64_C(40) * 1000 * 1000 * 1000));
        cr_expect(ge(u64, calls.last.backlog, 1));
    }
    release(&captured, text, sizeof text);
    cr_expect(eq(str, text, ""));
}

Test(stall, with_the_longest_limit_there_is_none)
{
    struct calls calls = {.count = 0};
    AT_END(close_shared) struct shared shared = open_noting_after(UINT64_MAX, MEMB_CALLER, &calls);

    stall_once(&shared, 0);
    cr_expect(zero(int, calls.count));
}

/* A reader that is inside for 100 ms, where no option says how long is long: a second. */
TEST_ON_EACH_CLOCK(stall, short_grace_periods_are_none)
{
    struct calls calls = {.count = 0};
    AT_END(close_shared) struct shared shared = open_noting_after(0, *setting, &calls);

    stall_once(&shared, 0);
    cr_expect(zero(int, calls.count));
}

/* However short the limit is: nothing was freed, so no grace period is under way. */
TEST_ON_EACH_CLOCK(stall, full_table_where_nothing_waits_has_none)
{
    struct calls calls = {.count = 0};
    AT_END(close_shared) struct shared shared = open_noting_after(1, *setting, &calls);
    haft_id ids[SLOTS + 1];

    fill(&shared, ids);
    for (int n = 0; n < 10; n++) {
        must(haft_insert(shared.worker, NULL, &ids[0]) == HAFT_FULL);
        sleep_ms(1);
    }
    cr_expect(zero(int, calls.count));
    cr_expect(zero(u64, stalls(&shared)));
}

/* --- not within another callback --- */

/* Of the stalls told so far: none while it runs for the first time. */
static void fill_up(void *object, haft_id id, haft_worker *worker, void *arg)
{
    static bool has_run;
    const struct calls *calls = arg;

    while (haft_insert(worker, NULL, &id) == HAFT_OK) {
        /* the table has slots */
    }
    must(has_run || calls->count == 0);
    has_run = true;
}

Test(stall, is_noticed_after_a_callback_and_not_within_it)
{
    struct calls calls = {.count = 0};
    haft_domain_options options = domain_options(MEMB_CALLER);
    haft_id id;
    haft_table *other;
    struct reader reader;
    pthread_t waiter;

    options.on_stall = note;
    options.stall_arg = &calls;
    options.stall_ns = STALL_NS;
    AT_END(close_shared)
    struct shared shared = open_shared_on(
        &options,
        &(haft_table_options){.capacity = 64, .on_reclaim = fill_up, .reclaim_arg = &calls});
    haft_worker *worker = shared.worker;

    must(haft_free(worker, insert(worker)) == HAFT_OK);
    must(haft_worker_flush(worker) == HAFT_OK);
    must(haft_domain_wait(shared.domain) == HAFT_OK);
    must(haft_table_open(shared.domain, &(haft_table_options){.capacity = 64}, &other) == HAFT_OK);
    haft_worker *others = open_worker(other);

    reader_enter(&reader, &shared);
    must(haft_free(others, insert(others)) == HAFT_OK);
    must(haft_worker_flush(others) == HAFT_OK);
    must(pthread_create(&waiter, NULL, wait_once, shared.domain) == 0);
    await_driver(shared.domain);
    sleep_ms(2 * STALL_NS / 1000000);
    must(haft_worker_flush(worker) == HAFT_OK); /* the first one is due */
    while (haft_insert(worker, NULL, &id) == HAFT_OK) {
        /* the table has slots */
    }
    cr_expect(eq(int, calls.count, 1));
    reader_leave(&reader);
    pthread_join(waiter, NULL);
    must(haft_worker_close(others) == HAFT_OK);
    must(haft_table_close(other) == HAFT_OK);
}

/* --- noticed at a quiescent point with a backlog --- */

struct backlogged {
    struct shared shared;
    sem_t go;
    sem_t ready;
};

static void *quiesce_with_backlog(void *arg)
{
    struct backlogged *b = arg;
    haft_worker *worker = open_worker(b->shared.table);

    for (int i = 0; i < 9000; i++) {
        haft_id id;

        if (haft_insert(worker, NULL, &id) == HAFT_OK) {
            haft_free(worker, id);
        }
    }
    sem_post(&b->ready);
    sem_wait(&b->go);
    haft_worker_quiescent(worker);
    haft_worker_close(worker);
    return NULL;
}

/* The thread is online by another worker, and the latest one is closed. */
Test(stall, names_no_worker_that_is_closed)
{
    struct calls calls = {.count = 0};
    AT_END(close_shared) struct shared shared = open_noting(settings[SETTINGS - 1], &calls);
    haft_worker *closed = open_worker(shared.table);
    haft_id ids[SLOTS + 1];
    haft_id id;
    const int count = fill(&shared, ids);

    must(haft_worker_close(closed) == HAFT_OK);
    free_all(&shared, ids, count);
    for (int n = 0; n < 2000 && calls.count == 0; n++) {
        must(haft_insert(shared.worker, NULL, &id) == HAFT_BUSY);
        sleep_ms(5);
    }
    cr_assert(eq(int, calls.count, 1));
    cr_expect(ne(u64, calls.last.thread, 0));
    cr_expect(eq(ptr, calls.last.worker, NULL));
}

Test(stall, is_noticed_at_a_quiescent_point_with_a_backlog)
{
    struct calls calls = {.count = 0};
    const haft_table_options table = {.capacity = 100000};
    haft_domain_options options = domain_options(MEMB_CALLER);
    struct backlogged b;
    struct reader reader;
    pthread_t threads[2];

    options.on_stall = note;
    options.stall_arg = &calls;
    options.stall_ns = STALL_NS;
    b.shared = open_shared_on(&options, &table);
    sem_init(&b.go, 0, 0);
    sem_init(&b.ready, 0, 0);
    reader_enter(&reader, &b.shared);
    must(pthread_create(&threads[0], NULL, quiesce_with_backlog, &b) == 0);
    sem_wait(&b.ready);
    must(pthread_create(&threads[1], NULL, wait_once, b.shared.domain) == 0);
    await_driver(b.shared.domain);
    sleep_ms(2 * STALL_NS / 1000000);
    sem_post(&b.go);
    for (int n = 0; n < 2000 && stalls(&b.shared) == 0; n++) {
        sleep_ms(5);
    }
    reader_leave(&reader);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    cr_expect(eq(int, calls.count, 1));
    cr_expect(eq(u64, stalls(&b.shared), 1));
    close_shared(&b.shared);
}

Test(stall, is_noticed_at_a_quiescent_point_while_any_slot_waits_for_on_reclaim)
{
    const haft_table_options table = {.capacity = 100, .on_reclaim = ignore};
    haft_domain_options options = domain_options(MEMB_CALLER);
    AT_END(close_shared) struct shared shared;
    struct reader reader;
    pthread_t waiter;

    options.stall_ns = STALL_NS;
    options.on_stall = note;
    options.stall_arg = &(struct calls){.count = 0};
    shared = open_shared_on(&options, &table);
    reader_enter(&reader, &shared);
    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    must(pthread_create(&waiter, NULL, wait_once, shared.domain) == 0);
    for (int n = 0; n < 2000 && stalls(&shared) == 0; n++) {
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
        sleep_ms(5);
    }
    cr_expect(eq(u64, stalls(&shared), 1));
    reader_leave(&reader);
    pthread_join(waiter, NULL);
}

/* Two that wait: one drives, and the other notices, without a third thread. */
TEST_ON_EACH_CLOCK(stall, is_noticed_when_all_threads_wait)
{
    struct calls calls = {0};
    AT_END(close_shared) struct shared shared = open_noting(*setting, &calls);
    struct reader reader;
    pthread_t waiters[2];

    haft_thread_offline(shared.domain);
    reader_enter(&reader, &shared);
    assert_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
    haft_worker_flush(shared.worker);
    for (int i = 0; i < 2; i++) {
        must(pthread_create(&waiters[i], NULL, wait_once, shared.domain) == 0);
    }
    for (int n = 0; n < 2000 && stalls(&shared) == 0; n++) {
        sleep_ms(5);
    }
    reader_leave(&reader);
    for (int i = 0; i < 2; i++) {
        pthread_join(waiters[i], NULL);
    }
    haft_thread_online(shared.domain);
    cr_expect(eq(int, calls.count, 1));
    cr_expect(ge(u64, calls.last.waited_ns, STALL_NS));
}

/* All that can be inserted is freed at once; how many that were, until there is no slot. */
static uint64_t churn(struct shared *shared)
{
    uint64_t count = 0;
    haft_status status;
    haft_id id;

    while ((status = haft_insert(shared->worker, NULL, &id)) == HAFT_OK) {
        must(haft_free(shared->worker, id) == HAFT_OK);
        must(++count <= SLOTS);
    }
    must(status == HAFT_BUSY); /* not full: none is live */
    return count;
}

TEST_ON_EACH_CLOCK(stall, behind_a_reader_that_does_not_leave_the_backlog_is_bounded)
{
    struct calls calls = {.count = 0};
    AT_END(close_shared) struct shared shared = open_noting(*setting, &calls);
    const uint64_t limit = stats_of(shared.table).limit;
    struct reader reader;
    pthread_t waiter;
    haft_id id;

    reader_enter(&reader, &shared);
    cr_expect(ge(u64, churn(&shared), 64));
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    must(pthread_create(&waiter, NULL, wait_once, shared.domain) == 0);
    for (int n = 0; n < 2000 && stalls(&shared) == 0; n++) {
        must(churn(&shared) == 0);
        must(stats_of(shared.table).retired <= limit);
        must(haft_domain_stats_get(shared.domain).backlog <= limit);
        sleep_ms(5);
    }
    cr_expect(eq(int, calls.count, 1));
    cr_expect(ge(u64, calls.last.waited_ns, STALL_NS));
    reader_leave(&reader);
    haft_thread_offline(shared.domain);
    pthread_join(waiter, NULL);
    haft_thread_online(shared.domain);
    for (uint64_t n = 0; n < 20 * limit; n++) {
        must(haft_insert_wait(shared.worker, NULL, &id) == HAFT_OK);
        must(haft_free(shared.worker, id) == HAFT_OK);
    }
    cr_expect(le(u64, stats_of(shared.table).high_water, limit));
}

Test(stall, the_frame_clock_has_none_however_long_the_frame)
{
    struct calls calls = {.count = 0};
    const haft_table_options table = {.capacity = 64};
    const haft_domain_options frames = {
        .clock = HAFT_CLOCK_FRAME, .on_stall = note, .stall_arg = &calls, .stall_ns = 1};
    AT_END(close_shared) struct shared shared = open_shared_on(&frames, &table);
    haft_id id;

    cr_expect(ge(u64, churn(&shared), 64));
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    for (int n = 0; n < 50; n++) {
        must(haft_domain_wait(shared.domain) == HAFT_BUSY);
        must(churn(&shared) == 0);
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
        sleep_ms(1);
    }
    must(haft_domain_tick(shared.domain) == HAFT_OK);
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_OK);
    cr_expect(eq(int, calls.count, 0));
    cr_expect(eq(u64, stalls(&shared), 0));
}

/* --- in a line on stderr --- */

static unsigned lines_of(const char *text)
{
    unsigned count = 0;

    while ((text = strchr(text, '\n')) != NULL) {
        count++;
        text++;
    }
    return count;
}

TEST_ON_EACH_CLOCK(stall, without_a_callback_is_one_line_that_says_what_to_do)
{
    AT_END(close_shared) struct shared shared = open_noting(*setting, NULL);
    struct captured captured = capture();
    char text[4096];

    stall_once(&shared, 1);
    release(&captured, text, sizeof text);
    cr_expect(eq(u64, lines_of(text), 1), "%s", text);
    cr_expect(ne(ptr, strstr(text, "haft: no grace period has ended for "), NULL), "%s", text);
    cr_expect(ne(ptr, strstr(text, "haft_thread_park"), NULL), "%s", text);
}

/* One batch waits, and the worker that was opened last is closed. */
Test(stall, line_of_a_single_batch_names_no_worker_that_is_closed)
{
    struct shared shared = open_noting((struct setting){ANNOUNCED, HAFT_CLOCK_WORKERS}, NULL);
    haft_worker *closed = open_worker(shared.table);
    struct captured captured = capture();
    char text[4096];

    must(haft_worker_close(closed) == HAFT_OK);
    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    sleep_ms(2 * STALL_NS / 1000000);
    domain_notice_stall(shared.domain);
    release(&captured, text, sizeof text);
    cr_expect(ne(ptr, strstr(text, " and 1 batch of freed slots waits: thread "), NULL), "%s",
              text);
    cr_expect(ne(ptr, strstr(text, " is online, and passes no quiescent point"), NULL), "%s", text);
    close_shared(&shared);
}

static void *end_with_a_worker(void *arg)
{
    struct shared *shared = arg;
    uint64_t *number = calloc(1, sizeof *number);

    must(number != NULL);
    *number = thread_system_number();
    shared->worker = open_worker(shared->table);
    return number;
}

Test(stall, of_a_thread_that_ended_with_a_worker_is_a_line_that_says_so)
{
    struct shared shared = open_noting((struct setting){ANNOUNCED, HAFT_CLOCK_WORKERS}, NULL);
    haft_worker *own = shared.worker;
    struct captured captured;
    char text[4096];
    char expected[80];
    pthread_t thread;
    void *number;

    must(pthread_create(&thread, NULL, end_with_a_worker, &shared) == 0);
    must(pthread_join(thread, &number) == 0);
    while (!os_thread_has_ended(*(uint64_t *)number)) {
        sleep_ms(1); /* it has been joined, and the system forgets it soon */
    }
    captured = capture();
    must(haft_free(own, insert(own)) == HAFT_OK);
    must(haft_worker_flush(own) == HAFT_OK);
    must(haft_worker_quiescent(own) == HAFT_OK);
    sleep_ms(2 * STALL_NS / 1000000);
    domain_notice_stall(shared.domain);
    release(&captured, text, sizeof text);
    snprintf(expected, sizeof expected, "thread %" PRIu64 " has ended with worker %p open",
             *(uint64_t *)number, (void *)shared.worker);
    cr_expect(ne(ptr, strstr(text, expected), NULL), "%s", text);
    free(number);
    must(haft_worker_close(shared.worker) == HAFT_OK);
    shared.worker = own;
    close_shared(&shared);
}

/* As in the barrier at the end of an OpenMP loop: one thread is there, and another needs slots. */
struct barrier {
    struct shared *shared;
    sem_t online;
    sem_t open;
    uint64_t number; /* the system's, of the thread that waits in it */
};

static void *wait_in_barrier(void *arg)
{
    struct barrier *barrier = arg;
    haft_worker *worker = open_worker(barrier->shared->table);

    barrier->number = (uint64_t)syscall(SYS_gettid);
    sem_post(&barrier->online);
    while (sem_wait(&barrier->open) != 0) {
        /* interrupted */
    }
    haft_worker_close(worker);
    return NULL;
}

static void *insert_in_vain(void *arg)
{
    struct shared *shared = arg;
    haft_worker *worker = open_worker(shared->table);
    haft_id id;

    for (int i = 0; i < 2 * SLOTS; i++) {
        must(haft_insert_wait(worker, NULL, &id) == HAFT_OK);
        must(haft_free(worker, id) == HAFT_OK);
    }
    haft_worker_close(worker);
    return NULL;
}

Test(stall, in_a_barrier_is_a_line_that_names_the_thread)
{
    struct shared shared = open_noting((struct setting){ANNOUNCED, HAFT_CLOCK_WORKERS}, NULL);
    struct captured captured = capture();
    struct barrier barrier = {.shared = &shared};
    pthread_t threads[2];
    char text[4096];
    char name[64];

    haft_thread_offline(shared.domain);
    sem_init(&barrier.online, 0, 0);
    sem_init(&barrier.open, 0, 0);
    must(pthread_create(&threads[0], NULL, wait_in_barrier, &barrier) == 0);
    sem_wait(&barrier.online);
    must(pthread_create(&threads[1], NULL, insert_in_vain, &shared) == 0);
    for (int n = 0; n < 2000 && stalls(&shared) == 0; n++) {
        sleep_ms(5);
    }
    sleep_ms(20); /* the line follows the count */
    sem_post(&barrier.open);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    release(&captured, text, sizeof text);
    snprintf(name, sizeof name, "thread %" PRIu64 " is online", barrier.number);
    cr_expect(ne(ptr, strstr(text, name), NULL), "%s", text);
    cr_expect(ne(ptr, strstr(text, "barrier"), NULL), "%s", text);
    haft_thread_online(shared.domain);
    close_shared(&shared);
}

/* --- a thread that has the measure as another one reads it --- */

/* Of this grace period or of the next: neither keeps what the measure says from its readers. */
Test(stall, measure_is_read_while_another_thread_begins_one)
{
    struct calls calls = {0};
    struct shared shared = open_noting((struct setting){ANNOUNCED, HAFT_CLOCK_WORKERS}, &calls);

    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    must(haft_worker_flush(shared.worker) == HAFT_OK); /* the wait begins */
    sleep_ms(2 * STALL_NS / 1000000);
    os_mutex_lock(&shared.domain->measure.lock);
    domain_notice_stall(shared.domain);
    must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    must(haft_worker_flush(shared.worker) == HAFT_OK); /* ... and ends */
    os_mutex_unlock(&shared.domain->measure.lock);
    cr_expect(eq(int, calls.count, 1));
    const haft_domain_stats stats = haft_domain_stats_get(shared.domain);

    cr_expect(eq(u64, stats.backlog, 0));
    cr_expect(ge(u64, stats.longest_grace_period_ns, STALL_NS));
    close_shared(&shared);
}

/* --- a thread that has it as a grace period begins --- */

/* The driver of a foreign clock begins a grace period once, and then it waits. */
Test(stall, of_a_wait_that_began_while_another_thread_had_the_measure_is_reported)
{
    struct calls calls = {0};
    AT_END(close_shared) struct shared shared = open_noting(MEMB_CALLER, &calls);
    struct reader reader;
    pthread_t waiting;

    reader_enter(&reader, &shared);
    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    os_mutex_lock(&shared.domain->measure.lock);
    must(pthread_create(&waiting, NULL, wait_once, shared.domain) == 0);
    sleep_ms(50);
    os_mutex_unlock(&shared.domain->measure.lock);
    for (int n = 0; n < 10000 && calls.count == 0; n++) {
        sleep_ms(1);
        domain_notice_stall(shared.domain);
    }
    cr_expect(eq(int, calls.count, 1));
    reader_leave(&reader);
    pthread_join(waiting, NULL);
}

/* --- which thread is blamed, in the child of a fork --- */

static bool number_is_right(void)
{
    return thread_system_number() == (uint64_t)syscall(SYS_gettid);
}

Test(stall, names_the_thread_of_a_forks_child_by_its_own_number)
{
    int status;

    cr_expect(number_is_right());
    const pid_t child = fork();

    if (child == 0) {
        _exit(number_is_right() ? 0 : 1);
    }
    must(child > 0 && waitpid(child, &status, 0) == child);
    cr_expect(zero(int, status));
}
