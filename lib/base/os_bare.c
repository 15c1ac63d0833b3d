/*
 * No operating system: one thread, memory from the C library's heap, and no time but the order of
 * calls.  Chosen by -DHAFT_OS_BARE, for the whole library.
 *
 * Locks only notice misuse: with one thread, no lock is waited for.
 */
#include "lib/base/os.h"

#ifdef HAFT_OS_BARE
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BARE_PAGE ((size_t)4096)

/* --- memory --- */

size_t os_page_size(void)
{
    return BARE_PAGE;
}

char *os_reserve(size_t size, bool readable, bool *in_steps)
{
    (void)readable;
    const bool is_possible = size <= SIZE_MAX - BARE_PAGE;
    const size_t whole = (size + BARE_PAGE - 1) / BARE_PAGE * BARE_PAGE;
    char *base = is_possible ? os_alloc_aligned(BARE_PAGE, whole) : NULL;

    *in_steps = false;
    return base != NULL ? memset(base, 0, size) : NULL;
}

bool os_commit(char *base, size_t size)
{
    (void)base;
    (void)size;
    return true;
}

void os_release(char *base, size_t size)
{
    (void)size;
    os_free_aligned(base);
}

bool os_discard(char *base, size_t size)
{
    (void)base;
    (void)size;
    return false;
}

/* --- chance, time, numbers, words --- */

bool os_random(uint64_t *bits)
{
    (void)bits;
    return false;
}

uint64_t os_now_ns(void)
{
    static uint64_t now;

    return ++now;
}

uint64_t os_thread_number(void)
{
    return 1;
}

uint64_t os_process_number(void)
{
    return 1;
}

bool os_symbol_of(uintptr_t address, struct os_symbol *symbol)
{
    (void)address;
    (void)symbol;
    return false;
}

/* --- threads --- */

void os_yield(void)
{
}

void os_sleep(uint64_t ns)
{
    (void)ns;
}

bool os_thread_start(struct os_thread *thread, void (*run)(void *arg), void *arg)
{
    (void)thread;
    (void)run;
    (void)arg;
    return false;
}

/* No thread was started. */
void os_thread_join(struct os_thread *thread)
{
    (void)thread;
    assert(thread == NULL);
}

void os_mutex_open(struct os_mutex *mutex)
{
    mutex->room[0] = 0;
}

void os_mutex_close(struct os_mutex *mutex)
{
    (void)mutex;
    assert(mutex->room[0] == 0);
}

void os_mutex_lock(struct os_mutex *mutex)
{
    assert(mutex->room[0] == 0); /* else it waits for ever */
    mutex->room[0] = 1;
}

bool os_mutex_try_lock(struct os_mutex *mutex)
{
    const bool is_free = mutex->room[0] == 0;

    mutex->room[0] = 1;
    return is_free;
}

void os_mutex_unlock(struct os_mutex *mutex)
{
    assert(mutex->room[0] == 1);
    mutex->room[0] = 0;
}

void os_condition_open(struct os_condition *condition)
{
    (void)condition;
}

void os_condition_close(struct os_condition *condition)
{
    (void)condition;
}

/* No other thread can wake this one: the time passes. */
bool os_condition_wait(struct os_condition *condition, struct os_mutex *mutex, uint64_t until_ns)
{
    (void)condition;
    (void)mutex;
    (void)until_ns;
    return false;
}

void os_condition_wake_all(struct os_condition *condition)
{
    (void)condition;
}

/* Semaphores are for threads that were started. */
bool os_semaphore_open(struct os_semaphore *semaphore)
{
    (void)semaphore;
    return false;
}

void os_semaphore_close(struct os_semaphore *semaphore)
{
    (void)semaphore;
}

void os_semaphore_post(struct os_semaphore *semaphore)
{
    (void)semaphore;
}

void os_semaphore_wait(struct os_semaphore *semaphore)
{
    (void)semaphore;
    assert(semaphore == NULL);
}

#endif /* HAFT_OS_BARE */
