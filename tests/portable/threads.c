/* Threads, as thin as they can be: POSIX's, those of Windows; none with -DHAFT_OS_BARE. */
#include "portable.h"
#include <stdlib.h>

#if defined(HAFT_OS_BARE) || (defined(__EMSCRIPTEN__) && !defined(__EMSCRIPTEN_PTHREADS__))
struct lock {
    int taken;
};

struct thread *thread_start(void (*run)(void *arg), void *arg)
{
    (void)run;
    (void)arg;
    return NULL;
}

void thread_join(struct thread *thread)
{
    (void)thread;
}

void thread_yield(void)
{
}

struct lock *lock_open(void)
{
    return calloc(1, sizeof(struct lock));
}

void lock_close(struct lock *lock)
{
    free(lock);
}

void lock_take(struct lock *lock)
{
    CHECK(!lock->taken);
    lock->taken = 1;
}

void lock_give(struct lock *lock)
{
    lock->taken = 0;
}

void lock_wait(struct lock *lock)
{
    (void)lock;
    check(false, "one thread waits for another", __FILE__, __LINE__);
    abort();
}

void lock_wake_all(struct lock *lock)
{
    (void)lock;
}
#elif defined(_WIN32)
#include <process.h>
#include <windows.h>

struct lock {
    SRWLOCK lock;
    CONDITION_VARIABLE condition;
};

struct thread {
    HANDLE thread;
    void (*run)(void *arg);
    void *arg;
};

static unsigned __stdcall start(void *arg)
{
    struct thread *thread = arg;

    thread->run(thread->arg);
    return 0;
}

struct thread *thread_start(void (*run)(void *arg), void *arg)
{
    struct thread *thread = malloc(sizeof *thread);

    if (thread == NULL) {
        return NULL;
    }
    thread->run = run;
    thread->arg = arg;
    thread->thread = (HANDLE)_beginthreadex(NULL, 0, start, thread, 0, NULL);
    if (thread->thread == NULL) {
        free(thread);
        return NULL;
    }
    return thread;
}

void thread_join(struct thread *thread)
{
    if (thread != NULL) {
        CHECK(WaitForSingleObject(thread->thread, INFINITE) == WAIT_OBJECT_0);
        CloseHandle(thread->thread);
        free(thread);
    }
}

void thread_yield(void)
{
    SwitchToThread();
}

struct lock *lock_open(void)
{
    return calloc(1, sizeof(struct lock)); /* zero is SRWLOCK_INIT and CONDITION_VARIABLE_INIT */
}

void lock_close(struct lock *lock)
{
    free(lock);
}

void lock_take(struct lock *lock)
{
    AcquireSRWLockExclusive(&lock->lock);
}

void lock_give(struct lock *lock)
{
    ReleaseSRWLockExclusive(&lock->lock);
}

void lock_wait(struct lock *lock)
{
    SleepConditionVariableSRW(&lock->condition, &lock->lock, INFINITE, 0);
}

void lock_wake_all(struct lock *lock)
{
    WakeAllConditionVariable(&lock->condition);
}
#else
#include <pthread.h>
#include <sched.h>

struct lock {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
};

struct thread {
    pthread_t thread;
    void (*run)(void *arg);
    void *arg;
};

static void *start(void *arg)
{
    struct thread *thread = arg;

    thread->run(thread->arg);
    return NULL;
}

struct thread *thread_start(void (*run)(void *arg), void *arg)
{
    struct thread *thread = malloc(sizeof *thread);

    if (thread == NULL) {
        return NULL;
    }
    thread->run = run;
    thread->arg = arg;
    if (pthread_create(&thread->thread, NULL, start, thread) != 0) {
        free(thread);
        return NULL;
    }
    return thread;
}

void thread_join(struct thread *thread)
{
    if (thread != NULL) {
        CHECK(pthread_join(thread->thread, NULL) == 0);
        free(thread);
    }
}

void thread_yield(void)
{
    sched_yield();
}

struct lock *lock_open(void)
{
    struct lock *lock = malloc(sizeof *lock);

    if (lock != NULL) {
        pthread_mutex_init(&lock->mutex, NULL);
        pthread_cond_init(&lock->condition, NULL);
    }
    return lock;
}

void lock_close(struct lock *lock)
{
    pthread_cond_destroy(&lock->condition);
    pthread_mutex_destroy(&lock->mutex);
    free(lock);
}

void lock_take(struct lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
}

void lock_give(struct lock *lock)
{
    pthread_mutex_unlock(&lock->mutex);
}

void lock_wait(struct lock *lock)
{
    pthread_cond_wait(&lock->condition, &lock->mutex);
}

void lock_wake_all(struct lock *lock)
{
    pthread_cond_broadcast(&lock->condition);
}
#endif
