/* Calls to the system that fail when a test wants it. */
#include "tests/faults.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

struct faults faults;

void fail_calls(int first, int last)
{
    faults.calls = 0;
    faults.first = first;
    faults.last = last;
}

static bool fails(void)
{
    faults.calls++;
    return faults.calls >= faults.first && faults.calls <= faults.last;
}

void *__real_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
int __real_munmap(void *address, size_t size);
int __real_mprotect(void *address, size_t size, int protection);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__real_calloc(size_t count, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *memory);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *arg);
int __real_sem_init(sem_t *semaphore, int shared, unsigned value);

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset);
int __wrap_munmap(void *address, size_t size);
int __wrap_mprotect(void *address, size_t size, int protection);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void *__wrap_calloc(size_t count, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *arg);
int __wrap_sem_init(sem_t *semaphore, int shared, unsigned value);

void *__wrap_mmap(void *address, size_t size, int protection, int flags, int file, off_t offset)
{
    if ((faults.strict && (protection & PROT_WRITE) != 0) || fails()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    faults.balance++;
    return __real_mmap(address, size, protection, flags, file, offset);
}

int __wrap_munmap(void *address, size_t size)
{
    faults.balance--;
    return __real_munmap(address, size);
}

int __wrap_mprotect(void *address, size_t size, int protection)
{
    if (fails()) {
        errno = ENOMEM;
        return -1;
    }
    return __real_mprotect(address, size, protection);
}

static void *acquired(void *memory)
{
    faults.balance += memory != NULL;
    return memory;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : acquired(__real_aligned_alloc(alignment, size));
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : acquired(__real_calloc(count, size));
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : acquired(__real_strdup(text));
}

void __wrap_free(void *memory)
{
    faults.balance -= memory != NULL;
    __real_free(memory);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *arg)
{
    return fails() ? EAGAIN : __real_pthread_create(thread, attributes, start, arg);
}

int __wrap_sem_init(sem_t *semaphore, int shared, unsigned value)
{
    return fails() ? -1 : __real_sem_init(semaphore, shared, value);
}

void fail_each(haft_status (*open)(void **), void (*close)(void *), bool for_ever)
{
    haft_status status = HAFT_NO_MEMORY;
    int failures = 0;

    for (int n = 1; status != HAFT_OK; n++) {
        void *opened = &faults;
        const long before = faults.balance;

        must(n < 50);
        fail_calls(n, for_ever ? 1000000 : n);
        status = open(&opened);
        fail_calls(0, -1);
        if (status == HAFT_OK) {
            close(opened);
            break;
        }
        failures++;
        must(status == HAFT_NO_MEMORY || status == HAFT_NO_THREAD);
        must(opened == &faults);
        must(faults.balance == before);
    }
    cr_expect(gt(int, failures, 0));
}

void fail_each_both_ways(haft_status (*open)(void **), void (*close)(void *))
{
    fail_each(open, close, true);
    fail_each(open, close, false);
}
