/* The operating system: POSIX, and the calls of Linux that POSIX lacks. */
#if (defined(__unix__) || defined(__APPLE__)) && !defined(HAFT_OS_BARE) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* dladdr, mmap's flags, syscall */
#endif
#include "lib/base/os.h"

#if (defined(__unix__) || defined(__APPLE__)) && !defined(HAFT_OS_BARE)
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND UINT64_C(1000000000)
#define POPULATE_WRITE 23 /* MADV_POPULATE_WRITE, which older headers lack */

/* --- memory --- */

size_t os_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static char *map(size_t size, int protection)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *base = mmap(NULL, size, protection, flags, -1, 0);

    return base != MAP_FAILED ? base : NULL;
}

/* Where the system charges for all that is writable (strict overcommit, a limit), in steps. */
char *os_reserve(size_t size, bool *in_steps)
{
    char *base = map(size, PROT_READ | PROT_WRITE);

    *in_steps = base == NULL;
    if (base == NULL) {
        base = map(size, PROT_READ);
    }
    if (base != NULL) {
        madvise(base, size, MADV_NOHUGEPAGE); /* a kernel that has none may refuse */
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

/* Memory that is locked stays. */
bool os_discard(char *base, size_t size)
{
    return madvise(base, size, MADV_DONTNEED) == 0;
}

/* Linux before 5.14 knows no such advice. */
bool os_populate(char *base, size_t size)
{
    return madvise(base, size, POPULATE_WRITE) == 0 || errno != ENOMEM;
}

void os_ask_for_huge_pages(char *base, size_t size)
{
    madvise(base, size, MADV_HUGEPAGE);
}

void *os_alloc_aligned(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

void os_free_aligned(void *memory)
{
    free(memory);
}

bool os_free_takes_aligned(void)
{
    return true;
}

/* --- chance, time, numbers, words --- */

/* A filter of system calls may refuse. */
bool os_random(uint64_t *bits)
{
    return getrandom(bits, sizeof *bits, GRND_NONBLOCK) == (ssize_t)sizeof *bits;
}

static struct timespec time_of(uint64_t ns)
{
    const struct timespec time = {(time_t)(ns / SECOND), (long)(ns % SECOND)};

    return time;
}

uint64_t os_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

uint64_t os_thread_number(void)
{
    return (uint64_t)syscall(SYS_gettid);
}

uint64_t os_process_number(void)
{
    return (uint64_t)getpid();
}

void os_print(const char *line)
{
    fprintf(stderr, "haft: %s\n", line);
}

/* Tools count from where a library or program was linked to lie; most may lie anywhere. */
static uintptr_t offset_in(const Dl_info *found, uintptr_t address)
{
    const ElfW(Ehdr) *header = found->dli_fbase;

    return header->e_type == ET_EXEC ? address : address - (uintptr_t)found->dli_fbase;
}

bool os_symbol_of(uintptr_t address, struct os_symbol *symbol)
{
    Dl_info found;

    if (dladdr((void *)address, &found) == 0 || found.dli_fname == NULL) {
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

    nanosleep(&time, NULL);
}

FITS(pthread_t, ((struct os_thread *)NULL)->room);
FITS(pthread_mutex_t, struct os_mutex);
FITS(pthread_cond_t, struct os_condition);
FITS(sem_t, struct os_semaphore);

static void *run_thread(void *arg)
{
    const struct os_thread *thread = arg;

    thread->run(thread->arg);
    return NULL;
}

bool os_thread_start(struct os_thread *thread, void (*run)(void *arg), void *arg)
{
    pthread_t started;
    sigset_t all;
    sigset_t before;

    thread->run = run;
    thread->arg = arg;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&started, NULL, run_thread, thread);

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        memcpy(thread->room, &started, sizeof started);
    }
    return error == 0;
}

void os_thread_join(struct os_thread *thread)
{
    pthread_t started;

    memcpy(&started, thread->room, sizeof started);
    pthread_join(started, NULL);
}

static pthread_mutex_t *mutex_of(struct os_mutex *mutex)
{
    return (pthread_mutex_t *)mutex->room;
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

static pthread_cond_t *condition_of(struct os_condition *condition)
{
    return (pthread_cond_t *)condition->room;
}

void os_condition_open(struct os_condition *condition)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition_of(condition), &monotonic);
    pthread_condattr_destroy(&monotonic);
}

void os_condition_close(struct os_condition *condition)
{
    pthread_cond_destroy(condition_of(condition));
}

bool os_condition_wait(struct os_condition *condition, struct os_mutex *mutex, uint64_t until_ns)
{
    const struct timespec until = time_of(until_ns);

    return pthread_cond_timedwait(condition_of(condition), mutex_of(mutex), &until) != ETIMEDOUT;
}

void os_condition_wake_all(struct os_condition *condition)
{
    pthread_cond_broadcast(condition_of(condition));
}

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
    while (sem_wait(semaphore_of(semaphore)) != 0) {
        /* interrupted by a debugger */
    }
}

static pthread_key_t key_of(const struct os_key *key)
{
    return (pthread_key_t)key->number;
}

bool os_key_open(struct os_key *key, void (*at_end)(void *value))
{
    pthread_key_t opened;

    if (pthread_key_create(&opened, at_end) != 0) {
        return false;
    }
    *key = (struct os_key){(uint64_t)opened, at_end};
    return true;
}

void os_key_close(const struct os_key *key)
{
    pthread_key_delete(key_of(key));
}

bool os_key_set(const struct os_key *key, void *value)
{
    return pthread_setspecific(key_of(key), value) == 0;
}

bool os_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    return pthread_atfork(before, in_parent, in_child) == 0;
}
#endif /* __unix__ */
