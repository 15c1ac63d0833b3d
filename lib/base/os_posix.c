/*
 * The operating system: POSIX.  Functions that POSIX leaves open come first: those of Linux, those
 * of other systems, and what macOS lacks.  -DHAFT_OS_POSIX takes the second on Linux as well, to
 * test them.
 *
 * Edges in this file.
 *   RETRY   whether a mutex is still all zero; the compare-and-swap decides
 */
#include "lib/base/os_posix.h"
#include "lib/base/atomics.h"
#include "lib/base/compiler.h"
#include "lib/base/os.h"

#if (defined(__unix__) || defined(__APPLE__)) && !defined(HAFT_OS_BARE)
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define MOST_OF_LINE 1024 /* of what is printed; more is cut off */

static struct timespec time_of(uint64_t ns)
{
    const struct timespec time = {(time_t)(ns / SECOND), (long)(ns % SECOND)};

    return time;
}

/* --- cancellation, which bionic lacks --- */

#ifndef __ANDROID__
int os_cancel_off(void)
{
    int before = PTHREAD_CANCEL_ENABLE;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

/* With a second argument: older musl and BSDs write to it unasked. */
void os_cancel_restore(int before)
{
    int off;

    pthread_setcancelstate(before, &off);
}
#endif

/* --- what systems have of their own: Linux --- */

#if defined(__linux__) && !defined(HAFT_OS_POSIX)
#include <semaphore.h>
#include <sys/random.h>
#include <sys/syscall.h>

#define MAP_FLAGS (MAP_PRIVATE | OS_MAP_FLAGS)

/* The half of a word that counts up: the system waits for 32 bits. */
static uintptr_t low_half(const void *word)
{
    return (uintptr_t)word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(uint32_t) : 0);
}

#ifdef SYS_futex
typedef long futex_time; /* whatever time_t is */
#define FUTEX SYS_futex
#else
typedef int64_t futex_time;
#define FUTEX SYS_futex_time64
#endif
#define WAIT_PRIVATE 128 /* FUTEX_WAIT_PRIVATE and FUTEX_WAKE_PRIVATE, of <linux/futex.h> */
#define WAKE_PRIVATE 129

void os_wait_address(const void *word, uint64_t value, uint64_t ns)
{
    const futex_time time[2] = {(futex_time)(ns / SECOND), (futex_time)(ns % SECOND)};

    sys_call(FUTEX, low_half(word), WAIT_PRIVATE, (uint32_t)value, time, NULL, 0);
}

void os_wake_address(const void *word)
{
    sys_call(FUTEX, low_half(word), WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* A kernel that has no huge pages may refuse. */
static void ask_for_small_pages(char *base, size_t size)
{
    sys_madvise(base, size, OS_MADV_NOHUGEPAGE);
}

void os_ask_for_huge_pages(char *base, size_t size)
{
    sys_madvise(base, size, OS_MADV_HUGEPAGE);
}

void os_dump(char *base, size_t size, bool wanted)
{
    sys_madvise(base, size, wanted ? OS_MADV_DODUMP : OS_MADV_DONTDUMP);
}

/* Memory that is locked stays. */
bool os_discard(char *base, size_t size)
{
    return sys_madvise(base, size, OS_MADV_DONTNEED) == 0;
}

/* Linux before 5.14 knows no such advice. */
bool os_populate(char *base, size_t size)
{
    return sys_madvise(base, size, OS_MADV_POPULATE_WRITE) == 0 || errno != ENOMEM;
}

/* A filter of system calls may refuse. */
bool os_random(uint64_t *bits)
{
    const int cancel = os_cancel_off();
    const ssize_t got = getrandom(bits, sizeof *bits, GRND_NONBLOCK);

    os_cancel_restore(cancel);
    return got == (ssize_t)sizeof *bits;
}

uint64_t os_thread_number(void)
{
    return (uint64_t)sys_call(SYS_gettid);
}

bool os_thread_has_ended(uint64_t number)
{
    const int before = errno;
    const bool has_ended =
        sys_call(SYS_tgkill, (long)getpid(), (long)number, 0L) != 0 && errno == ESRCH;

    errno = before;
    return has_ended;
}

static pthread_mutex_t *mutex_of(struct os_mutex *mutex)
{
    return (pthread_mutex_t *)mutex->room;
}

FITS(sem_t, struct os_semaphore);

static sem_t *semaphore_of(struct os_semaphore *semaphore)
{
    return (sem_t *)semaphore->room;
}

bool os_semaphore_open(struct os_semaphore *semaphore)
{
    return sem_init(semaphore_of(semaphore), 0, 0) == 0;
}

void os_semaphore_close(struct os_semaphore *semaphore)
{
    sem_destroy(semaphore_of(semaphore));
}

void os_semaphore_post(struct os_semaphore *semaphore)
{
    sem_post(semaphore_of(semaphore));
}

void os_semaphore_wait(struct os_semaphore *semaphore)
{
    const int cancel = os_cancel_off();

    while (sem_wait(semaphore_of(semaphore)) != 0) {
        /* interrupted by a debugger */
    }
    os_cancel_restore(cancel);
}

/* --- what systems have of their own: others --- */

#else
#if defined(__APPLE__)
#include <sys/random.h> /* getentropy */
#elif defined(__FreeBSD__)
#include <pthread_np.h>
#endif

#define MAP_FLAGS (MAP_PRIVATE | OS_MAP_FLAGS)

static void ask_for_small_pages(char *base, size_t size)
{
    (void)base;
    (void)size;
}

void os_dump(char *base, size_t size, bool wanted)
{
#ifdef MADV_NOCORE
    madvise(base, size, wanted ? MADV_CORE : MADV_NOCORE);
#else
    (void)base;
    (void)size;
    (void)wanted;
#endif
}

/* New pages in their place, at once: advice elsewhere leaves open what the old ones then hold. */
bool os_discard(char *base, size_t size)
{
    return mmap(base, size, PROT_READ | PROT_WRITE, MAP_FLAGS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

bool os_random(uint64_t *bits)
{
    const int cancel = os_cancel_off();
    const int error = sys_getentropy(bits, sizeof *bits);

    os_cancel_restore(cancel);
    return error == 0;
}

uint64_t os_thread_number(void)
{
#if defined(__APPLE__)
    uint64_t number = 0;

    pthread_threadid_np(NULL, &number);
    return number;
#elif defined(__FreeBSD__)
    return (uint64_t)pthread_getthreadid_np();
#else
    static THREAD_LOCAL char own_byte;

    return (uintptr_t)&own_byte;
#endif
}

/*
 * A mutex that is all zero becomes a statically initialized one, whichever thread comes first: the
 * two differ in no word but the first, if at all.  The lock itself orders what follows.
 */
static pthread_mutex_t *mutex_of(struct os_mutex *mutex)
{
    static const union {
        pthread_mutex_t mutex;
        uint64_t first_word;
    } unlocked = {PTHREAD_MUTEX_INITIALIZER};
    atomic_u64 *first_word = (atomic_u64 *)(void *)mutex->room;

    if (unlocked.first_word != 0 && load_relaxed(RETRY, first_word) == 0) {
        cas_relaxed(RETRY, first_word, 0, unlocked.first_word);
    }
    return (pthread_mutex_t *)mutex->room;
}

/* A semaphore by a mutex and a condition: macOS has no unnamed semaphores. */
struct own_semaphore {
    pthread_mutex_t lock;
    pthread_cond_t posted;
    uint64_t posts;
};

FITS(struct own_semaphore, struct os_semaphore);

static struct own_semaphore *semaphore_of(struct os_semaphore *semaphore)
{
    return (struct own_semaphore *)semaphore->room;
}

bool os_semaphore_open(struct os_semaphore *semaphore)
{
    struct own_semaphore *opened = semaphore_of(semaphore);

    opened->posts = 0;
    if (pthread_mutex_init(&opened->lock, NULL) != 0) {
        return false;
    }
    if (pthread_cond_init(&opened->posted, NULL) != 0) {
        pthread_mutex_destroy(&opened->lock);
        return false;
    }
    return true;
}

void os_semaphore_close(struct os_semaphore *semaphore)
{
    pthread_cond_destroy(&semaphore_of(semaphore)->posted);
    pthread_mutex_destroy(&semaphore_of(semaphore)->lock);
}

void os_semaphore_post(struct os_semaphore *semaphore)
{
    struct own_semaphore *posted = semaphore_of(semaphore);

    pthread_mutex_lock(&posted->lock);
    posted->posts++;
    pthread_cond_signal(&posted->posted);
    pthread_mutex_unlock(&posted->lock);
}

void os_semaphore_wait(struct os_semaphore *semaphore)
{
    struct own_semaphore *awaited = semaphore_of(semaphore);
    const int cancel = os_cancel_off();

    pthread_mutex_lock(&awaited->lock);
    while (awaited->posts == 0) {
        pthread_cond_wait(&awaited->posted, &awaited->lock);
    }
    awaited->posts--;
    pthread_mutex_unlock(&awaited->lock);
    os_cancel_restore(cancel);
}
#endif

/* --- what systems have of their own: macOS's conditions and files --- */

static pthread_cond_t *condition_of(struct os_condition *condition)
{
    return (pthread_cond_t *)condition->room;
}

#ifdef __APPLE__
void os_condition_open(struct os_condition *condition)
{
    pthread_cond_init(condition_of(condition), NULL);
}

/* macOS waits for a duration, where 0 is for ever, and may wake a little before until_ns. */
bool os_condition_wait(struct os_condition *condition, struct os_mutex *mutex, uint64_t until_ns)
{
    const uint64_t now = os_now_ns();
    const struct timespec rest = time_of(now < until_ns ? until_ns - now : 1);
    const int cancel = os_cancel_off();
    const int error =
        pthread_cond_timedwait_relative_np(condition_of(condition), mutex_of(mutex), &rest);

    os_cancel_restore(cancel);
    return error != ETIMEDOUT || os_now_ns() < until_ns;
}

#else
void os_condition_open(struct os_condition *condition)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    sys_condattr_setclock(&monotonic, OS_MONOTONIC);
    pthread_cond_init(condition_of(condition), &monotonic);
    pthread_condattr_destroy(&monotonic);
}

bool os_condition_wait(struct os_condition *condition, struct os_mutex *mutex, uint64_t until_ns)
{
    const struct timespec until = time_of(until_ns);
    const int cancel = os_cancel_off();
    const int error = pthread_cond_timedwait(condition_of(condition), mutex_of(mutex), &until);

    os_cancel_restore(cancel);
    return error != ETIMEDOUT;
}

#endif

/* Whether a file was linked to lie where it lies; most may lie anywhere. */
static bool is_for_one_address(const void *file)
{
#ifdef __ELF__
    uint16_t type; /* e_type; ET_EXEC is 2 */

    memcpy(&type, (const char *)file + 16, sizeof type);
    return type == 2;
#else
    (void)file;
    return false;
#endif
}

/* --- memory --- */

size_t os_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static char *map(size_t size, int protection)
{
    void *base = mmap(NULL, size, protection, MAP_FLAGS, -1, 0);

    return base != MAP_FAILED ? base : NULL;
}

/* Where the system charges for all that is writable (strict overcommit, a limit), in steps. */
char *os_reserve(size_t size, bool readable, bool *in_steps)
{
    const bool is_open = readable || !OS_READS_IN_STEPS;
    char *base = map(size, is_open ? PROT_READ | PROT_WRITE : PROT_NONE);

    *in_steps = base == NULL || !is_open;
    if (base == NULL) {
        base = map(size, PROT_READ);
    }
    if (base != NULL) {
        ask_for_small_pages(base, size);
    }
    return base;
}

bool os_commit(char *base, size_t size)
{
    return mprotect(base, size, PROT_READ | PROT_WRITE) == 0;
}

void os_release(char *base, size_t size)
{
    munmap(base, size);
}

/* --- chance, time, numbers, words --- */

uint64_t os_now_ns(void)
{
    struct timespec now;

    sys_clock_gettime(OS_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

uint64_t os_process_number(void)
{
    return (uint64_t)getpid();
}

/* At once, and not by fprintf(), which would put a buffer of 8 KiB on the stack. */
void os_print(const char *line)
{
    char whole[MOST_OF_LINE];
    const int cancel = os_cancel_off();
    const int length = snprintf(whole, sizeof whole - 1, "haft: %s", line);
    const size_t end = length < MOST_OF_LINE - 1 ? (size_t)length : MOST_OF_LINE - 2;

    memcpy(whole + end, "\n", 2);
    fputs(whole, stderr);
    os_cancel_restore(cancel);
}

/* Tools count from where a library or program was linked to lie. */
static uintptr_t offset_in(const sys_symbol *found, uintptr_t address)
{
    return is_for_one_address(found->dli_fbase) ? address : address - (uintptr_t)found->dli_fbase;
}

bool os_symbol_of(uintptr_t address, struct os_symbol *symbol)
{
    sys_symbol found;

    if (sys_dladdr((void *)address, &found) == 0 || found.dli_fname == NULL) {
        return false;
    }
    symbol->file = found.dli_fname;
    symbol->function = found.dli_sname;
    symbol->file_offset = offset_in(&found, address);
    symbol->function_offset = address - (uintptr_t)found.dli_saddr;
    return true;
}

/* --- threads --- */

void os_yield(void)
{
    sched_yield();
}

void os_sleep(uint64_t ns)
{
    const struct timespec time = time_of(ns);
    const int cancel = os_cancel_off();

    sys_nanosleep(&time, NULL);
    os_cancel_restore(cancel);
}

FITS(pthread_t, ((struct os_thread *)NULL)->room);
FITS(pthread_mutex_t, struct os_mutex);
FITS(pthread_cond_t, struct os_condition);

static void *run_thread(void *arg)
{
    const struct os_thread *thread = arg;

    thread->run(thread->arg);
    return NULL;
}

bool os_thread_start(struct os_thread *thread, void (*run)(void *arg), void *arg)
{
    pthread_t started;
    sys_signals all;
    sys_signals before;

    thread->run = run;
    thread->arg = arg;
    sys_sigfillset(&all);
    sys_sigmask(OS_SIG_SETMASK, &all, &before);
    const int error = pthread_create(&started, NULL, run_thread, thread);

    sys_sigmask(OS_SIG_SETMASK, &before, NULL);
    if (error == 0) {
        memcpy(thread->room, &started, sizeof started);
    }
    return error == 0;
}

void os_thread_join(struct os_thread *thread)
{
    pthread_t started;

    const int cancel = os_cancel_off();

    memcpy(&started, thread->room, sizeof started);
    pthread_join(started, NULL);
    os_cancel_restore(cancel);
}

void os_mutex_open(struct os_mutex *mutex)
{
    pthread_mutex_init(mutex_of(mutex), NULL);
}

void os_mutex_close(struct os_mutex *mutex)
{
    pthread_mutex_destroy(mutex_of(mutex));
}

void os_mutex_lock(struct os_mutex *mutex)
{
    pthread_mutex_lock(mutex_of(mutex));
}

bool os_mutex_try_lock(struct os_mutex *mutex)
{
    return pthread_mutex_trylock(mutex_of(mutex)) == 0;
}

void os_mutex_unlock(struct os_mutex *mutex)
{
    pthread_mutex_unlock(mutex_of(mutex));
}

void os_condition_close(struct os_condition *condition)
{
    pthread_cond_destroy(condition_of(condition));
}

void os_condition_wake_all(struct os_condition *condition)
{
    pthread_cond_broadcast(condition_of(condition));
}

bool os_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    return pthread_atfork(before, in_parent, in_child) == 0;
}
#endif /* __unix__ */
