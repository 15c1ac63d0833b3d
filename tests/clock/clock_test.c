/* The background thread of the thread clock: drives when asked, sleeps when not. */
#include "tests/support.h"
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

TestSuite(thread_clock, .timeout = SUITE_SECONDS);
TestSuite(caller_clock, .timeout = SUITE_SECONDS);

static const struct setting memb_thread = {MEMB, HAFT_CLOCK_THREAD};
static const struct setting qsbr_thread = {QSBR, HAFT_CLOCK_THREAD};

#define MOST_TASKS 64

/* The thread ids of this process; how many. */
static int tasks(int *ids)
{
    DIR *directory = opendir("/proc/self/task");
    int count = 0;

    cr_assert(ne(ptr, directory, NULL));
    for (struct dirent *entry; (entry = readdir(directory)) != NULL && count < MOST_TASKS;) {
        if (atoi(entry->d_name) != 0) {
            ids[count++] = atoi(entry->d_name);
        }
    }
    closedir(directory);
    return count;
}

/* The system lists a thread for a while after it was joined. */
static bool tasks_become(int count)
{
    int ids[MOST_TASKS];

    for (int n = 0; n < 10000 && tasks(ids) != count; n++) {
        sleep_ms(1);
    }
    return tasks(ids) == count;
}

/* The thread that is there now and was not among `before`. */
static int new_task(const int *before, int count)
{
    int now[MOST_TASKS];
    const int all = tasks(now);

    for (int i = 0; i < all; i++) {
        bool old = false;

        for (int k = 0; k < count; k++) {
            old = old || now[i] == before[k];
        }
        if (!old) {
            return now[i];
        }
    }
    return 0;
}

/* A number from a thread's status. */
static unsigned long long status_of(int task, const char *format)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/task/%d/status", task);
    return number_in_proc(path, format);
}

static uint64_t cpu_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static const haft_table_options options = {.capacity = 100000, .object_size = 8};

/* Insert and free `count` objects, and pass a quiescent point after each 128. */
static void churn(struct shared *shared, int count)
{
    for (int i = 0; i < count; i++) {
        must(haft_free(shared->worker, insert(shared->worker)) == HAFT_OK);
        must(i % 128 != 0 || haft_worker_quiescent(shared->worker) == HAFT_OK);
    }
}

/* Whether the thread neither woke nor the process worked for a while. */
static bool is_silent(int task)
{
    const unsigned long long switches = status_of(task, "voluntary_ctxt_switches: %llu");
    const uint64_t cpu = cpu_ns();

    sleep_ms(300);
    return cpu_ns() - cpu < 10u * 1000 * 1000 &&
           status_of(task, "voluntary_ctxt_switches: %llu") == switches;
}

/* A busy machine may delay earlier requests; a clock that polls is never silent. */
static void expect_asleep(struct setting setting)
{
    int before[MOST_TASKS];
    const int count = tasks(before);
    AT_END(close_shared) struct shared shared = open_shared(setting, &options);
    const int clock = new_task(before, count);
    bool silent = false;

    cr_assert(ne(int, clock, 0));
    churn(&shared, 20000);
    settle(shared.worker);
    haft_thread_offline(shared.domain);
    for (int n = 0; n < 20 && !silent; n++) {
        silent = is_silent(clock);
    }
    cr_expect(silent);
    haft_thread_online(shared.domain);
}

Test(thread_clock, an_idle_domain_costs_no_wake_up_and_no_cpu_time)
{
    expect_asleep(memb_thread);
    expect_asleep(qsbr_thread);
}

static void expect_driven(struct setting setting)
{
    AT_END(close_shared) struct shared shared = open_shared(setting, &options);

    for (int i = 0; i < 128 * 100; i++) { /* no quiescent point, no wait: 100 batches */
        must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    }
    haft_thread_offline(shared.domain);
    for (int n = 0; n < 3000 && haft_domain_stats_get(shared.domain).backlog >= 64; n++) {
        sleep_ms(5);
    }
    haft_thread_online(shared.domain);
    cr_expect(lt(u64, haft_domain_stats_get(shared.domain).backlog, 64));
    cr_expect(ge(u64, haft_domain_stats_get(shared.domain).grace_periods, 1));
}

Test(thread_clock, many_tickets_are_driven_without_anybody_waiting)
{
    expect_driven(memb_thread);
    expect_driven(qsbr_thread);
}

static void expect_flush_driven(struct setting setting)
{
    AT_END(close_shared) struct shared shared = open_shared(setting, &options);

    expect_status(haft_free(shared.worker, insert(shared.worker)), HAFT_OK);
    expect_status(haft_worker_flush(shared.worker), HAFT_OK);
    haft_thread_offline(shared.domain);
    for (int n = 0; n < 3000 && haft_domain_stats_get(shared.domain).backlog != 0; n++) {
        sleep_ms(5);
    }
    haft_thread_online(shared.domain);
    cr_expect(eq(u64, haft_domain_stats_get(shared.domain).backlog, 0));
}

Test(thread_clock, a_flush_wakes_it)
{
    expect_flush_driven(memb_thread);
    expect_flush_driven(qsbr_thread);
}

static void expect_failure_ends(struct setting setting)
{
    const haft_table_options small = {.capacity = 64};
    AT_END(close_shared) struct shared shared = open_shared(setting, &small);
    haft_id ids[256];
    int count = 0;

    while (count < 256 && haft_insert(shared.worker, NULL, &ids[count]) == HAFT_OK) {
        count++;
    }
    for (int i = 0; i < count; i++) {
        must(haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    haft_status status = HAFT_BUSY;

    for (int n = 0; n < 3000 && status == HAFT_BUSY; n++) {
        status = haft_insert(shared.worker, NULL, &ids[0]);
        haft_worker_quiescent(shared.worker);
        sleep_ms(1);
    }
    expect_status(status, HAFT_OK);
}

Test(thread_clock, a_worker_short_of_slots_wakes_it_and_finds_some_soon)
{
    expect_failure_ends(memb_thread);
    expect_failure_ends(qsbr_thread);
}

Test(thread_clock, its_thread_blocks_all_signals_and_the_callers_mask_stays)
{
    int before[MOST_TASKS];
    const int count = tasks(before);
    sigset_t mask;
    sigset_t after;

    sigemptyset(&mask);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    AT_END(close_shared) struct shared shared = open_shared(memb_thread, &options);

    sleep_ms(50); /* a thread that starts blocks all signals for a moment */
    const unsigned long long blocked = status_of(new_task(before, count), "SigBlk: %llx");

    pthread_sigmask(SIG_SETMASK, NULL, &after);
    cr_expect(ne(ullong, blocked & 1ull << (SIGINT - 1), 0));
    cr_expect(ne(ullong, blocked & 1ull << (SIGTERM - 1), 0));
    cr_expect(ne(ullong, blocked & 1ull << (SIGUSR1 - 1), 0));
    for (int signal = 1; signal < 32; signal++) {
        cr_expect(eq(int, sigismember(&after, signal), sigismember(&mask, signal)));
    }
}

Test(thread_clock, closing_the_domain_ends_its_thread)
{
    int ids[MOST_TASKS];
    const int before = tasks(ids);

    for (int i = 0; i < 20; i++) {
        AT_END(close_shared) struct shared shared = open_shared(memb_thread, &options);

        churn(&shared, 3000);
        cr_assert(tasks_become(before + 1));
    }
    cr_expect(tasks_become(before));
}

static void *wait_once(void *domain)
{
    haft_domain_wait(domain);
    return NULL;
}

/* One waiter drives the clock and waits for the reader; the others wait for that driver. */
static bool waiters_sleep(struct shared *shared)
{
    pthread_t waiters[4];
    struct reader reader;
    bool asleep = false;

    reader_enter(&reader, shared);
    assert_status(haft_free(shared->worker, insert(shared->worker)), HAFT_OK);
    assert_status(haft_worker_flush(shared->worker), HAFT_OK);
    haft_thread_offline(shared->domain);
    for (int i = 0; i < 4; i++) {
        must(pthread_create(&waiters[i], NULL, wait_once, shared->domain) == 0);
    }
    for (int n = 0; n < 20 && !asleep; n++) {
        const uint64_t cpu = cpu_ns();

        sleep_ms(300);
        asleep = cpu_ns() - cpu < 10u * 1000 * 1000;
    }
    reader_leave(&reader);
    for (int i = 0; i < 4; i++) {
        pthread_join(waiters[i], NULL);
    }
    haft_thread_online(shared->domain);
    return asleep;
}

Test(caller_clock, waiters_cost_no_cpu_time_while_one_of_them_drives)
{
    static const struct setting callers[] = {{MEMB, HAFT_CLOCK_CALLER}, {QSBR, HAFT_CLOCK_CALLER}};

    for (int i = 0; i < 2; i++) {
        AT_END(close_shared) struct shared shared = open_shared(callers[i], &options);

        cr_expect(waiters_sleep(&shared));
    }
}

Test(caller_clock, starts_no_thread)
{
    int ids[MOST_TASKS];
    const int before = tasks(ids);
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    churn(&shared, 20000);
    cr_expect(eq(int, tasks(ids), before));
}
