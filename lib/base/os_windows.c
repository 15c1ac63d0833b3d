/*
 * The operating system: Windows, from version 10 on, 64-bit.  Nothing is linked but what mingw-w64
 * links unasked (kernel32, and advapi32 for random bits).
 *
 * Memory that is reserved only cannot be read.  Where a forged id may read any word, as in a view,
 * all is committed at once: the system counts it from the start, though a page takes memory only
 * when it is first written.  Other memory is committed in steps, as it comes into use.
 *
 * There is no fork.
 *
 * Edges in this file.
 *   OWN   the caller of os_discard() owns what the bytes are for; others may read words there
 */
#include "lib/base/atomics.h"
#include "lib/base/compiler.h"
#include "lib/base/os.h"

#if defined(_WIN32) && !defined(HAFT_OS_BARE)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <limits.h>
#include <malloc.h>
#include <process.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <ntsecapi.h> /* behind windows.h */

#define A_SECOND UINT64_C(1000000000)
#define A_MS UINT64_C(1000000)
#define LONGEST_WAIT ((DWORD)3600000) /* ms */

/* --- memory --- */

size_t os_page_size(void)
{
    SYSTEM_INFO info;

    GetSystemInfo(&info);
    return info.dwPageSize;
}

char *os_reserve(size_t size, bool readable, bool *in_steps)
{
    *in_steps = !readable;
    return VirtualAlloc(NULL, size, readable ? MEM_RESERVE | MEM_COMMIT : MEM_RESERVE,
                        PAGE_READWRITE);
}

bool os_commit(char *base, size_t size)
{
    return VirtualAlloc(base, size, MEM_COMMIT, PAGE_READWRITE) != NULL;
}

void os_release(char *base, size_t size)
{
    (void)size;
    VirtualFree(base, 0, MEM_RELEASE);
}

/*
 * Decommitted pages could not be read until they are committed again, and a thread with a stale id
 * may read there at any time.  So the bytes become zero first; then the system need not keep them:
 * a page that it takes comes back as zero, too.  VirtualUnlock() has the pages leave the process at
 * once, also where none was locked.
 */
bool os_discard(char *base, size_t size)
{
    for (size_t at = 0; at < size; at += sizeof(atomic_u64)) {
        store_relaxed(OWN, (atomic_u64 *)(void *)(base + at), 0);
    }
    if (VirtualAlloc(base, size, MEM_RESET, PAGE_READWRITE) != NULL) {
        VirtualUnlock(base, size);
    }
    return true;
}

void *os_alloc_aligned(size_t alignment, size_t size)
{
    return _aligned_malloc(size, alignment);
}

void os_free_aligned(void *memory)
{
    _aligned_free(memory);
}

bool os_free_takes_aligned(void)
{
    return false;
}

/* --- chance, time, numbers, words --- */

bool os_random(uint64_t *bits)
{
    return RtlGenRandom(bits, sizeof *bits);
}

uint64_t os_now_ns(void)
{
    LARGE_INTEGER now;
    LARGE_INTEGER second;

    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&second);
    const uint64_t ticks = (uint64_t)now.QuadPart;
    const uint64_t in_second = (uint64_t)second.QuadPart;

    return ticks / in_second * A_SECOND + ticks % in_second * A_SECOND / in_second;
}

uint64_t os_thread_number(void)
{
    return GetCurrentThreadId();
}

uint64_t os_process_number(void)
{
    return GetCurrentProcessId();
}

/* Tools that know the file's names want an offset in the image, as in "program.exe+0x1234". */
bool os_symbol_of(uintptr_t address, struct os_symbol *symbol)
{
    const DWORD flags =
        GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    HMODULE image;

    if (!GetModuleHandleExA(flags, (const char *)address, &image) ||
        GetModuleFileNameA(image, symbol->room, sizeof symbol->room) == 0) {
        return false;
    }
    symbol->file = symbol->room;
    symbol->function = NULL;
    symbol->file_offset = address - (uintptr_t)image;
    symbol->function_offset = 0;
    return true;
}

/* --- threads --- */

void os_yield(void)
{
    SwitchToThread();
}

/* Until then, or LONGEST_WAIT if that is sooner; whole ms, at least one before the time. */
static DWORD ms_until(uint64_t until_ns)
{
    const uint64_t now = os_now_ns();
    const uint64_t ms = now < until_ns ? (until_ns - now + A_MS - 1) / A_MS : 0;

    return ms < LONGEST_WAIT ? (DWORD)ms : LONGEST_WAIT;
}

#ifndef CREATE_WAITABLE_TIMER_HIGH_RESOLUTION
#define CREATE_WAITABLE_TIMER_HIGH_RESOLUTION 2 /* which older headers lack */
#endif

/* By a timer of units of 100 ns: Sleep() may take 16 ms for one.  False: there is none. */
static bool sleep_by_timer(uint64_t ns)
{
    const LARGE_INTEGER from_now = {.QuadPart = -(LONGLONG)((ns + 99) / 100)};
    HANDLE timer = CreateWaitableTimerExA(NULL, NULL, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION,
                                          TIMER_MODIFY_STATE | SYNCHRONIZE);
    bool done;

    if (timer == NULL) {
        return false;
    }
    done = SetWaitableTimer(timer, &from_now, 0, NULL, NULL, FALSE) &&
           WaitForSingleObject(timer, INFINITE) == WAIT_OBJECT_0;
    CloseHandle(timer);
    return done;
}

/* Both may wake a thread a little before its time. */
void os_sleep(uint64_t ns)
{
    const uint64_t until = os_now_ns() + ns;

    for (uint64_t now = until - ns; now < until; now = os_now_ns()) {
        if (!sleep_by_timer(until - now)) {
            Sleep(ms_until(until));
        }
    }
}

FITS(HANDLE, ((struct os_thread *)NULL)->room);
FITS(SRWLOCK, struct os_mutex);
FITS(CONDITION_VARIABLE, struct os_condition);
FITS(HANDLE, struct os_semaphore);

static HANDLE handle_in(const uint64_t *room)
{
    return (HANDLE)(uintptr_t)*room;
}

static bool keep_handle(uint64_t *room, uintptr_t handle)
{
    *room = handle;
    return handle != 0;
}

static unsigned __stdcall run_thread(void *arg)
{
    const struct os_thread *thread = arg;

    thread->run(thread->arg);
    return 0;
}

bool os_thread_start(struct os_thread *thread, void (*run)(void *arg), void *arg)
{
    thread->run = run;
    thread->arg = arg;
    return keep_handle(thread->room, _beginthreadex(NULL, 0, run_thread, thread, 0, NULL));
}

void os_thread_join(struct os_thread *thread)
{
    WaitForSingleObject(handle_in(thread->room), INFINITE);
    CloseHandle(handle_in(thread->room));
}

static SRWLOCK *lock_of(struct os_mutex *mutex)
{
    return (SRWLOCK *)mutex->room;
}

void os_mutex_open(struct os_mutex *mutex)
{
    InitializeSRWLock(lock_of(mutex));
}

void os_mutex_close(struct os_mutex *mutex)
{
    (void)mutex;
}

void os_mutex_lock(struct os_mutex *mutex)
{
    AcquireSRWLockExclusive(lock_of(mutex));
}

bool os_mutex_try_lock(struct os_mutex *mutex)
{
    return TryAcquireSRWLockExclusive(lock_of(mutex));
}

void os_mutex_unlock(struct os_mutex *mutex)
{
    ReleaseSRWLockExclusive(lock_of(mutex));
}

static CONDITION_VARIABLE *condition_of(struct os_condition *condition)
{
    return (CONDITION_VARIABLE *)condition->room;
}

void os_condition_open(struct os_condition *condition)
{
    InitializeConditionVariable(condition_of(condition));
}

void os_condition_close(struct os_condition *condition)
{
    (void)condition;
}

bool os_condition_wait(struct os_condition *condition, struct os_mutex *mutex, uint64_t until_ns)
{
    return SleepConditionVariableSRW(condition_of(condition), lock_of(mutex), ms_until(until_ns),
                                     0) ||
           os_now_ns() < until_ns;
}

void os_condition_wake_all(struct os_condition *condition)
{
    WakeAllConditionVariable(condition_of(condition));
}

bool os_semaphore_open(struct os_semaphore *semaphore)
{
    HANDLE opened = CreateSemaphoreA(NULL, 0, LONG_MAX, NULL);

    return keep_handle(semaphore->room, (uintptr_t)opened);
}

void os_semaphore_close(struct os_semaphore *semaphore)
{
    CloseHandle(handle_in(semaphore->room));
}

void os_semaphore_post(struct os_semaphore *semaphore)
{
    ReleaseSemaphore(handle_in(semaphore->room), 1, NULL);
}

void os_semaphore_wait(struct os_semaphore *semaphore)
{
    WaitForSingleObject(handle_in(semaphore->room), INFINITE);
}

/* Words that windows.h takes from sources behind it, where one source includes all. */
#undef far
#undef near
#endif /* _WIN32 */
