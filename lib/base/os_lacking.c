/* The operating system: functions of os.h that several systems lack, or need no system for. */
#include "lib/base/os.h"
#include <stdio.h>
#include <stdlib.h>

#if defined(_WIN32) && !defined(HAFT_OS_BARE)
#define IS_WINDOWS 1
#endif

/* --- all but Windows --- */

#ifndef IS_WINDOWS
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
#endif

/* --- all but Linux --- */

#if !defined(__linux__) || defined(HAFT_OS_POSIX) || defined(HAFT_OS_BARE)
/* On Windows these need a privilege, and never leave memory. */
void os_ask_for_huge_pages(char *base, size_t size)
{
    (void)base;
    (void)size;
}

/* Windows has promised memory when it was committed. */
bool os_populate(char *base, size_t size)
{
    (void)base;
    (void)size;
    return true;
}

bool os_thread_has_ended(uint64_t number)
{
    (void)number;
    return false;
}

void os_wait_address(const void *word, uint64_t value, uint64_t ns)
{
    (void)word;
    (void)value;
    os_sleep(ns < 1000000 ? ns : 1000000);
}

void os_wake_address(const void *word)
{
    (void)word;
}
#endif

/* --- no POSIX --- */

#if defined(IS_WINDOWS) || defined(HAFT_OS_BARE)
/* A minidump has what its maker asks for. */
void os_dump(char *base, size_t size, bool wanted)
{
    (void)base;
    (void)size;
    (void)wanted;
}

void os_print(const char *line)
{
    fprintf(stderr, "haft: %s\n", line);
}

bool os_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)before;
    (void)in_parent;
    (void)in_child;
    return false;
}
#endif

/* No cancellation: bionic too. */
#if defined(IS_WINDOWS) || defined(HAFT_OS_BARE) || defined(__ANDROID__)
int os_cancel_off(void)
{
    return 0;
}

void os_cancel_restore(int before)
{
    (void)before;
}
#endif
