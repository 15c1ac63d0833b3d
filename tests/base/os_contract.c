/*
 * White-box: what lib/base/os.h promises, on each system: plain C, so that it can be compiled and
 * run where the unit tests cannot.  A call that a system refuses is tested in os_test.c.
 *
 * Prints the sums as one line of JSON, as tests/portable does.  Exits with 1 if a check failed, and
 * with 3 if a value of the first thread is ended with the process.
 */
#include "lib/base/os.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES 16
#define A_MS UINT64_C(1000000) /* ns */

#ifdef HAFT_OS_BARE
#define HAS_THREADS 0
#else
#define HAS_THREADS 1
#endif
#ifdef _WIN32
#define HAS_SYMBOLS 1
#else
#define HAS_SYMBOLS 0 /* in programs that are linked statically */
#endif

static atomic_uint checks;
static atomic_uint failures;

static bool check(bool holds, const char *what, int line)
{
    atomic_fetch_add(&checks, 1);
    if (!holds) {
        atomic_fetch_add(&failures, 1);
        fprintf(stderr, "os_contract.c:%d: %s\n", line, what);
    }
    return holds;
}

#define CHECK(what) check(what, #what, __LINE__)

/* --- memory --- */

static size_t size_of_pages(void)
{
    return PAGES * os_page_size();
}

static bool is_all(const char *bytes, size_t size, char value)
{
    return bytes[0] == value && memcmp(bytes, bytes + 1, size - 1) == 0;
}

static char *reserve_and_fill(void)
{
    bool in_steps = false;
    char *base = os_reserve(size_of_pages(), true, &in_steps);

    if (!CHECK(base != NULL)) {
        exit(1);
    }
    CHECK((uintptr_t)base % os_page_size() == 0);
    CHECK(is_all(base, size_of_pages(), 0));
    CHECK(os_commit(base, os_page_size()));
    memset(base, 1, os_page_size());
    CHECK(os_commit(base, size_of_pages())); /* some are already */
    CHECK(is_all(base, os_page_size(), 1));
    memset(base, 1, size_of_pages());
    return base;
}

static void test_reserve(void)
{
    char *base = reserve_and_fill();

    os_ask_for_huge_pages(base, size_of_pages());
    CHECK(os_populate(base + os_page_size(), os_page_size()));
    CHECK(is_all(base, size_of_pages(), 1));
    os_release(base, size_of_pages());
    CHECK((os_page_size() & (os_page_size() - 1)) == 0);
}

static void test_reserve_too_much(void)
{
    bool in_steps = false;

    CHECK(os_reserve(SIZE_MAX - UINT16_MAX, true, &in_steps) == NULL);
}

/* Refused, it changes nothing. */
static void test_discard(void)
{
    char *base = reserve_and_fill();
    const size_t page = os_page_size();
    const char then = os_discard(base + page, 2 * page) ? 0 : 1;

    CHECK(is_all(base, page, 1));
    CHECK(is_all(base + page, 2 * page, then));
    CHECK(is_all(base + 3 * page, size_of_pages() - 3 * page, 1));
    memset(base + page, 2, page);
    CHECK(is_all(base + page, page, 2));
    os_release(base, size_of_pages());
}

static void test_aligned(void)
{
    for (size_t alignment = sizeof(void *); alignment <= 65536; alignment *= 2) {
        char *block = os_alloc_aligned(alignment, 3 * alignment);

        CHECK(block != NULL && (uintptr_t)block % alignment == 0);
        memset(block, 1, 3 * alignment);
        if (os_free_takes_aligned()) {
            free(block);
        } else {
            os_free_aligned(block);
        }
    }
    os_free_aligned(os_alloc_aligned(64, 64));
    os_free_aligned(NULL);
}

/* --- chance, time, numbers, words --- */

static void test_random(void)
{
    uint64_t first = 0;
    uint64_t second = 0;

    if (os_random(&first)) {
        CHECK(os_random(&second) && first != second);
        CHECK(first >> 32 != 0 || second >> 32 != 0);
    } else {
        CHECK(!HAS_THREADS);
    }
}

static void test_time(void)
{
    static const uint64_t spans[] = {1, A_MS / 20, 3 * A_MS, 20 * A_MS, 1000 * A_MS + 1};
    uint64_t before = os_now_ns();

    for (int i = 0; i < 1000; i++) {
        const uint64_t now = os_now_ns();

        CHECK(now >= before);
        before = now;
    }
    for (size_t i = 0; HAS_THREADS && i < sizeof spans / sizeof *spans; i++) {
        before = os_now_ns();
        os_sleep(spans[i]);
        CHECK(os_now_ns() >= before + spans[i]);
        CHECK(os_now_ns() < before + spans[i] + 2000 * A_MS); /* else the unit is another */
    }
}

static void test_symbol(void)
{
    struct os_symbol here = {.file = NULL};
    struct os_symbol there = {.file = NULL};
    char elsewhere;

    if (os_symbol_of((uintptr_t)test_symbol, &here)) {
        CHECK(os_symbol_of((uintptr_t)test_symbol + 1, &there));
        CHECK(strstr(here.file, "os_contract") != NULL);
        CHECK(strcmp(here.file, there.file) == 0);
        CHECK(there.file_offset == here.file_offset + 1);
        CHECK(!os_symbol_of((uintptr_t)&elsewhere, &there));
    } else {
        CHECK(!HAS_SYMBOLS);
    }
}

static void test_numbers(void)
{
    CHECK(os_thread_number() == os_thread_number() && os_thread_number() != 0);
    CHECK(os_process_number() == os_process_number() && os_process_number() != 0);
}

/* --- threads --- */

static void run(void (*call)(void *arg), void *arg)
{
    struct os_thread thread;

    if (CHECK(os_thread_start(&thread, call, arg))) {
        os_thread_join(&thread);
    }
}

static void note_number(void *arg)
{
    *(uint64_t *)arg = os_thread_number();
}

static void test_thread(void)
{
    uint64_t number = os_thread_number();

    run(note_number, &number);
    CHECK(number != os_thread_number() && number != 0);
    CHECK(!os_thread_has_ended(os_thread_number()));
    os_yield();
}

static struct os_mutex mutex; /* all zero */
static struct os_condition condition;
static struct os_semaphore semaphore;
static bool is_ready;

static void try_lock(void *arg)
{
    bool *had = arg;

    *had = os_mutex_try_lock(&mutex);
    if (*had) {
        os_mutex_unlock(&mutex);
    }
}

static bool another_thread_has_it(void)
{
    bool had = false;

    run(try_lock, &had);
    return had;
}

static void check_exclusive(void)
{
    os_mutex_lock(&mutex);
    CHECK(!another_thread_has_it());
    os_mutex_unlock(&mutex);
    CHECK(another_thread_has_it());
    CHECK(os_mutex_try_lock(&mutex));
    CHECK(!another_thread_has_it());
    os_mutex_unlock(&mutex);
}

static void test_mutex(void)
{
    check_exclusive();
    memset(&mutex, 0x5a, sizeof mutex);
    os_mutex_open(&mutex);
    check_exclusive();
    os_mutex_close(&mutex);
    memset(&mutex, 0, sizeof mutex);
}

static void test_condition_time(void)
{
    os_condition_open(&condition);
    os_mutex_lock(&mutex);
    const uint64_t before = os_now_ns();
    const uint64_t until = before + 30 * A_MS;

    while (os_condition_wait(&condition, &mutex, until)) {
        /* for no reason */
    }
    CHECK(os_now_ns() >= until);
    CHECK(!os_condition_wait(&condition, &mutex, before)); /* that is over */
    CHECK(!another_thread_has_it());
    os_mutex_unlock(&mutex);
    os_condition_close(&condition);
}

static void wait_until_ready(void *arg)
{
    os_mutex_lock(&mutex);
    os_semaphore_post(&semaphore);
    while (!is_ready) {
        *(bool *)arg &= os_condition_wait(&condition, &mutex, os_now_ns() + 3600000 * A_MS);
    }
    os_mutex_unlock(&mutex);
}

static void test_condition_wakes_all(void)
{
    struct os_thread threads[2];
    bool woken[2] = {true, true};

    os_condition_open(&condition);
    CHECK(os_semaphore_open(&semaphore));
    for (int i = 0; i < 2; i++) {
        CHECK(os_thread_start(&threads[i], wait_until_ready, &woken[i]));
        os_semaphore_wait(&semaphore);
    }
    os_mutex_lock(&mutex); /* a thread has given it up by waiting */
    is_ready = true;
    os_condition_wake_all(&condition);
    os_mutex_unlock(&mutex);
    for (int i = 0; i < 2; i++) {
        os_thread_join(&threads[i]);
        CHECK(woken[i]);
    }
    os_condition_close(&condition);
    os_semaphore_close(&semaphore);
}

static void take_three(void *arg)
{
    for (int i = 0; i < 3; i++) {
        os_semaphore_wait(&semaphore);
    }
    *(uint64_t *)arg = os_now_ns();
}

static void test_semaphore(void)
{
    struct os_thread thread;
    uint64_t taken = 0;

    CHECK(os_semaphore_open(&semaphore));
    os_semaphore_post(&semaphore);
    os_semaphore_post(&semaphore);
    CHECK(os_thread_start(&thread, take_three, &taken));
    os_sleep(30 * A_MS);
    const uint64_t before = os_now_ns();

    os_semaphore_post(&semaphore);
    os_thread_join(&thread);
    CHECK(taken >= before);
    os_semaphore_close(&semaphore);
}

/* --- all --- */

static const struct {
    void (*run)(void);
    bool has_threads;
} tests[] = {
    {test_reserve, false},  {test_reserve_too_much, false}, {test_discard, false},
    {test_aligned, false},  {test_random, false},           {test_time, false},
    {test_symbol, false},   {test_numbers, false},          {test_thread, true},
    {test_mutex, true},     {test_condition_time, true},    {test_condition_wakes_all, true},
    {test_semaphore, true},
};

int main(void)
{
    unsigned passed = 0;
    unsigned failed = 0;
    unsigned skipped = 0;

    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        const unsigned before = atomic_load(&failures);

        if (tests[i].has_threads && !HAS_THREADS) {
            skipped++;
            continue;
        }
        tests[i].run();
        passed += atomic_load(&failures) == before;
        failed += atomic_load(&failures) != before;
    }
    printf("{\"passed\": %u, \"failed\": %u, \"skipped\": %u, \"checks\": %u, \"why\": \"%s\"}\n",
           passed, failed, skipped, atomic_load(&checks), skipped != 0 ? "no threads" : "");
    return failed != 0 || fflush(stdout) != 0;
}
