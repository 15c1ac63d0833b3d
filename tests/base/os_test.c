/*
 * White-box: lib/base/os.h on POSIX: what it answers when the system refuses, and what signals,
 * forks and pages do there.  os_contract.c tests what holds on every system.
 *
 * This program is linked so that os_posix.c's calls of the system come here first.
 */
#include "lib/base/os.h"
#include "tests/support.h"
#include <criterion/redirect.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(os, .timeout = SUITE_SECONDS);

#define MS UINT64_C(1000000) /* ns */

/* What is refused. */
static struct {
    bool writable_memory;
    bool memory;
    bool protection;
    int advice; /* why, as errno; 0: it is taken */
    bool chance;
    bool thread;
    bool semaphore;
    bool handlers;
} no;

void *__real_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
int __real_mprotect(void *address, size_t size, int protection);
int __real_madvise(void *address, size_t size, int advice);
ssize_t __real_getrandom(void *bytes, size_t size, unsigned flags);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *arg);
int __real_sem_init(sem_t *semaphore, int shared, unsigned value);
int __real_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));
void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
int __wrap_mprotect(void *address, size_t size, int protection);
int __wrap_madvise(void *address, size_t size, int advice);
ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned flags);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *arg);
int __wrap_sem_init(sem_t *semaphore, int shared, unsigned value);
int __wrap_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void));

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
    if (no.memory || (no.writable_memory && (protection & PROT_WRITE) != 0)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return __real_mmap(address, size, protection, flags, file, offset);
}

static int refused(int error)
{
    errno = error;
    return -1;
}

int __wrap_mprotect(void *address, size_t size, int protection)
{
    return no.protection ? refused(ENOMEM) : __real_mprotect(address, size, protection);
}

int __wrap_madvise(void *address, size_t size, int advice)
{
    return no.advice != 0 ? refused(no.advice) : __real_madvise(address, size, advice);
}

ssize_t __wrap_getrandom(void *bytes, size_t size, unsigned flags)
{
    return no.chance ? refused(EAGAIN) : __real_getrandom(bytes, size, flags);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *arg)
{
    return no.thread ? EAGAIN : __real_pthread_create(thread, attributes, start, arg);
}

int __wrap_sem_init(sem_t *semaphore, int shared, unsigned value)
{
    return no.semaphore ? refused(EINVAL) : __real_sem_init(semaphore, shared, value);
}

int __wrap_pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void))
{
    return no.handlers ? ENOMEM : __real_pthread_atfork(before, parent, child);
}

/* --- memory --- */

#define PAGES 16

static size_t size_of_pages(void)
{
    return PAGES * os_page_size();
}

static bool is_all(const char *bytes, size_t size, char value)
{
    return bytes[0] == value && memcmp(bytes, bytes + 1, size - 1) == 0;
}

static char *reserve(bool in_steps)
{
    bool steps = !in_steps;
    char *base = os_reserve(size_of_pages(), true, &steps);

    cr_assert(ne(ptr, base, NULL));
    cr_assert(zero(ulong, (unsigned long)((uintptr_t)base % os_page_size())));
    cr_assert(eq(int, steps, in_steps));
    cr_assert(is_all(base, size_of_pages(), 0));
    return base;
}

Test(os, memory_that_may_not_be_writable_at_once_can_be_read_and_committed)
{
    no.writable_memory = true;
    char *base = reserve(true);

    no.protection = true;
    cr_expect(not(os_commit(base, os_page_size())));
    no.protection = false;
    cr_assert(os_commit(base, os_page_size()));
    memset(base, 1, os_page_size());
    cr_assert(os_commit(base, size_of_pages()));
    memset(base + os_page_size(), 2, size_of_pages() - os_page_size());
    cr_expect(is_all(base, os_page_size(), 1));
    os_release(base, size_of_pages());
}

Test(os, reserve_without_address_space_is_refused)
{
    bool steps;

    no.memory = true;
    cr_expect(eq(ptr, os_reserve(size_of_pages(), true, &steps), NULL));
}

Test(os, reserve_does_without_advice_on_huge_pages)
{
    no.advice = EINVAL;
    os_release(reserve(false), size_of_pages());
}

Test(os, discard_that_is_refused_changes_nothing)
{
    char *base = reserve(false);

    memset(base, 1, size_of_pages());
    no.advice = EINVAL; /* as for memory that is locked */
    cr_expect(not(os_discard(base, size_of_pages())));
    cr_expect(is_all(base, size_of_pages(), 1));
    os_release(base, size_of_pages());
}

/* Whether all pages have memory, as the system sees it. */
static bool are_resident(char *base)
{
    unsigned char resident[PAGES] = {0};
    bool all = true;

    cr_assert(zero(int, mincore(base, size_of_pages(), resident)));
    for (int i = 0; i < PAGES; i++) {
        all = all && (resident[i] & 1) != 0;
    }
    return all;
}

Test(os, populated_pages_have_memory_where_the_system_can_be_asked)
{
    bool steps;
    char *base = os_reserve(size_of_pages(), true, &steps);

    need_a_machine();
    cr_assert(ne(ptr, base, NULL));
    cr_expect(not(are_resident(base)));
    cr_expect(os_populate(base, size_of_pages()));
    cr_expect(are_resident(base));
    cr_expect(is_all(base, size_of_pages(), 0));
    os_release(base, size_of_pages());
}

Test(os, populate_is_refused_for_want_of_memory_alone)
{
    char *base = reserve(false);

    no.advice = ENOMEM;
    cr_expect(not(os_populate(base, size_of_pages())));
    no.advice = EINVAL; /* a system that knows no such thing */
    cr_expect(os_populate(base, size_of_pages()));
    os_release(base, size_of_pages());
}

/* --- chance, time, numbers, words --- */

Test(os, random_bits_may_be_refused)
{
    uint64_t bits = 0;

    cr_expect(os_random(&bits));
    no.chance = true;
    cr_expect(not(os_random(&bits)));
}

Test(os, a_line_goes_to_stderr_behind_the_name, .init = cr_redirect_stderr)
{
    os_print("no %s here");
    cr_assert_stderr_eq_str("haft: no %s here\n");
}

Test(os, a_line_that_is_too_long_is_cut_off, .init = cr_redirect_stderr)
{
    char line[2000];
    char printed[1024] = "haft: "; /* with what follows: "\n", and the end */

    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\0';
    memset(printed + 6, 'x', 1016);
    memcpy(printed + 1022, "\n", 2);
    os_print(line);
    cr_assert_stderr_eq_str(printed);
}

Test(os, symbol_of_a_function_names_it_and_its_file)
{
    struct os_symbol symbol;

    cr_assert(os_symbol_of((uintptr_t)lrand48 + 1, &symbol));
    cr_expect(ne(ptr, strstr(symbol.file, "libc"), NULL));
    cr_expect(lt(ulong, 0, (unsigned long)symbol.file_offset));
    cr_expect(lt(ulong, (unsigned long)symbol.file_offset, 1UL << 30)); /* no address */
    cr_expect(eq(ulong, (unsigned long)symbol.function_offset, 1));
    cr_expect(not(os_symbol_of((uintptr_t)&symbol, &symbol)));
}

/* --- threads --- */

/* The system refuses the question: 0 is no thread's number. */
Test(os, a_thread_that_the_system_cannot_be_asked_about_has_not_ended)
{
    errno = 0;
    cr_expect(not(os_thread_has_ended(0)));
    cr_expect(zero(int, errno));
}

static struct {
    uint64_t number;
    bool takes_signals;
} seen;

static void look(void *arg)
{
    sigset_t blocked;

    cr_assert(eq(ptr, arg, &seen));
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    seen.number = os_thread_number();
    seen.takes_signals = sigismember(&blocked, SIGALRM) == 0 || sigismember(&blocked, SIGINT) == 0;
}

static bool takes_signals(void)
{
    sigset_t blocked;

    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    return sigismember(&blocked, SIGALRM) == 0;
}

Test(os, thread_runs_apart_and_leaves_signals_to_others)
{
    struct os_thread thread;

    seen.takes_signals = true;
    cr_assert(os_thread_start(&thread, look, &seen));
    os_thread_join(&thread);
    cr_expect(ne(u64, seen.number, os_thread_number()));
    cr_expect(eq(u64, os_thread_number(), os_process_number())); /* it is the first thread */
    cr_expect(not(seen.takes_signals));
    cr_expect(takes_signals());
    no.thread = true;
    cr_expect(not(os_thread_start(&thread, look, &seen)));
    cr_expect(takes_signals());
}

static struct os_semaphore semaphore;

static void post_later(int signal)
{
    static int signals;

    if (++signals == 3) { /* the wait has been interrupted twice */
        os_semaphore_post(&semaphore);
    }
}

Test(os, semaphore_wait_goes_on_when_it_is_interrupted)
{
    const struct sigaction action = {.sa_handler = post_later};
    const struct itimerval often = {{0, 10000}, {0, 10000}};

    cr_assert(os_semaphore_open(&semaphore));
    os_semaphore_post(&semaphore);
    os_semaphore_post(&semaphore);
    os_semaphore_wait(&semaphore);
    os_semaphore_wait(&semaphore);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    const uint64_t before = os_now_ns();

    os_semaphore_wait(&semaphore);
    cr_expect(ge(u64, os_now_ns(), before + 15 * MS));
    os_semaphore_close(&semaphore);
    no.semaphore = true;
    cr_expect(not(os_semaphore_open(&semaphore)));
}

static char order[8];

static void note(const char *what)
{
    strcat(order, what);
}

static void before(void)
{
    note("b");
}

static void before_that(void)
{
    note("B");
}

static void in_parent(void)
{
    note("p");
}

static void in_child(void)
{
    _exit(strcmp(order, "Bb") == 0 ? 42 : 1);
}

Test(os, fork_calls_what_it_was_handed)
{
    int status = 0;

    cr_assert(os_on_fork(before, in_parent, in_child));
    cr_assert(os_on_fork(before_that, NULL, NULL));
    const pid_t child = fork();

    if (child == 0) {
        _exit(2); /* in_child() has been passed over */
    }
    cr_assert(lt(int, 0, child));
    cr_assert(eq(int, waitpid(child, &status, 0), child));
    cr_expect(eq(int, WEXITSTATUS(status), 42));
    cr_expect(eq(str, order, "Bbp"));
    no.handlers = true;
    cr_expect(not(os_on_fork(before, NULL, NULL)));
}

/* --- cancellation --- */

/*
 * A thread that has been asked to end makes a call, and would end in it: a request that waits is
 * heeded at the first cancellation point.
 */
struct cancelled {
    void (*call)(void);
    atomic_bool came_back;
};

static void *call_when_cancelled(void *arg)
{
    struct cancelled *call = arg;

    pthread_cancel(pthread_self());
    call->call();
    atomic_store(&call->came_back, true);
    pthread_testcancel();
    return NULL;
}

static void expect_to_come_back(void (*function)(void))
{
    struct cancelled call = {function, false};
    pthread_t thread;
    void *end = NULL;

    cr_assert(zero(int, pthread_create(&thread, NULL, call_when_cancelled, &call)));
    cr_assert(zero(int, pthread_join(thread, &end)));
    cr_expect(atomic_load(&call.came_back));
    cr_expect(eq(ptr, end, PTHREAD_CANCELED));
}

static void switch_it_off(void)
{
    const int outer = os_cancel_off();

    pthread_testcancel();
    os_cancel_restore(os_cancel_off());
    pthread_testcancel();
    os_cancel_restore(outer);
}

static void switch_it_off_where_it_is(void)
{
    int before;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    os_cancel_restore(os_cancel_off());
    pthread_testcancel();
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &before);
    cr_expect(eq(int, before, PTHREAD_CANCEL_DISABLE));
}

Test(os, no_thread_is_cancelled_while_that_is_off)
{
    expect_to_come_back(switch_it_off);
    expect_to_come_back(switch_it_off_where_it_is);
}

static void sleep_a_ms(void)
{
    os_sleep(MS);
}

static void wait_for_condition(void)
{
    AT_END(os_mutex_close) struct os_mutex mutex;
    struct os_condition condition;

    os_mutex_open(&mutex);
    os_condition_open(&condition);
    os_mutex_lock(&mutex);
    os_condition_wait(&condition, &mutex, os_now_ns() + MS);
    os_mutex_unlock(&mutex);
    os_condition_close(&condition);
}

static void wait_for_semaphore(void)
{
    cr_assert(os_semaphore_open(&semaphore));
    os_semaphore_post(&semaphore);
    os_semaphore_wait(&semaphore);
    os_semaphore_close(&semaphore);
}

static void sleep_in_thread(void *arg)
{
    os_sleep(20 * MS);
}

static void wait_for_thread(void)
{
    struct os_thread thread;

    cr_assert(os_thread_start(&thread, sleep_in_thread, NULL));
    os_thread_join(&thread);
}

static void ask_for_bits(void)
{
    uint64_t bits;

    os_random(&bits);
}

static void print(void)
{
    os_print("a line");
}

Test(os, no_thread_is_cancelled_where_it_waits_or_prints, .init = cr_redirect_stderr)
{
    expect_to_come_back(sleep_a_ms);
    expect_to_come_back(wait_for_condition);
    expect_to_come_back(wait_for_semaphore);
    expect_to_come_back(wait_for_thread);
    expect_to_come_back(ask_for_bits);
    expect_to_come_back(print);
}
