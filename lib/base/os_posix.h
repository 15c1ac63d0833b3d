/*
 * POSIX's functions that system headers may hide: what a header declares is settled where a source
 * reads it first, by the options of that source, and haft's may be a part of another one (unity
 * builds, precompiled headers, strict C).  So on Linux they have names here of haft's own, for the
 * symbols of the C library, and types and numbers of their own where those are hidden as well.
 * Elsewhere headers show all by default, and the names are macros.
 */
#ifndef HAFT_BASE_OS_POSIX_H
#define HAFT_BASE_OS_POSIX_H

#if (defined(__unix__) || defined(__APPLE__)) && !defined(HAFT_OS_BARE)
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <pthread.h>
#else
#include <dlfcn.h>
#endif

#ifdef __linux__

/* The symbols that have the caller's struct timespec: 32-bit systems have two of each. */
#if defined(_REDIR_TIME64) /* musl */
#define CLOCK_GETTIME "__clock_gettime64"
#define NANOSLEEP "__nanosleep_time64"
#elif defined(__USE_TIME_BITS64) && __TIMESIZE == 32 /* glibc */
#define CLOCK_GETTIME "__clock_gettime64"
#define NANOSLEEP "__nanosleep64"
#else
#define CLOCK_GETTIME "clock_gettime"
#define NANOSLEEP "nanosleep"
#endif

/* --- types --- */

typedef struct sys_signals {
    uint64_t bits[16]; /* as many as either C library has, or more */
} sys_signals;

#ifdef SIG_SETMASK
_Static_assert(sizeof(sigset_t) <= sizeof(sys_signals), "a set of signals fits");
#endif

typedef struct sys_symbol { /* Dl_info */
    const char *dli_fname;
    void *dli_fbase;
    const char *dli_sname;
    void *dli_saddr;
} sys_symbol;

/* --- numbers --- */

#define OS_MONOTONIC 1
#define OS_BOOTTIME 7

#if defined(SIG_SETMASK)
#define OS_SIG_SETMASK SIG_SETMASK
#elif defined(__mips__) || defined(__alpha__)
#define OS_SIG_SETMASK 3
#elif defined(__sparc__)
#define OS_SIG_SETMASK 4
#else
#define OS_SIG_SETMASK 2
#endif

#if defined(MAP_ANONYMOUS) && defined(MAP_NORESERVE)
#define OS_MAP_FLAGS (MAP_ANONYMOUS | MAP_NORESERVE)
#elif defined(__mips__) || defined(__xtensa__)
#define OS_MAP_FLAGS (0x800 | 0x400)
#elif defined(__alpha__)
#define OS_MAP_FLAGS (0x10 | 0x10000)
#elif defined(__hppa__)
#define OS_MAP_FLAGS (0x10 | 0x4000)
#elif defined(__powerpc__) || defined(__sparc__)
#define OS_MAP_FLAGS (0x20 | 0x40)
#else
#define OS_MAP_FLAGS (0x20 | 0x4000)
#endif

#ifdef __alpha__
#define OS_MADV_DONTNEED 6
#else
#define OS_MADV_DONTNEED 4
#endif
#define OS_MADV_HUGEPAGE 14
#define OS_MADV_NOHUGEPAGE 15
#define OS_MADV_DONTDUMP 16
#define OS_MADV_DODUMP 17
#define OS_MADV_POPULATE_WRITE 23

/* --- functions --- */

int sys_clock_gettime(int clock, struct timespec *now) __asm__(CLOCK_GETTIME);
int sys_nanosleep(const struct timespec *time, struct timespec *rest) __asm__(NANOSLEEP);
int sys_condattr_setclock(pthread_condattr_t *attributes,
                          int clock) __asm__("pthread_condattr_setclock");
int sys_sigfillset(sys_signals *set) __asm__("sigfillset");
int sys_sigmask(int how, const sys_signals *set, sys_signals *before) __asm__("pthread_sigmask");
int sys_madvise(void *base, size_t size, int advice) __asm__("madvise");
int sys_getentropy(void *bytes, size_t size) __asm__("getentropy");
long sys_call(long number, ...) __asm__("syscall");
int sys_dladdr(const void *address, sys_symbol *symbol) __asm__("dladdr");

/* --- systems that hide nothing --- */

#else
#ifndef MAP_ANONYMOUS
#define OS_MAP_ANONYMOUS MAP_ANON
#else
#define OS_MAP_ANONYMOUS MAP_ANONYMOUS
#endif
#ifdef MAP_NORESERVE
#define OS_MAP_FLAGS (OS_MAP_ANONYMOUS | MAP_NORESERVE)
#else
#define OS_MAP_FLAGS OS_MAP_ANONYMOUS
#endif
#ifdef CLOCK_BOOTTIME
#define OS_BOOTTIME CLOCK_BOOTTIME
#else
#define OS_BOOTTIME CLOCK_MONOTONIC /* macOS, FreeBSD 13 */
#endif
#define OS_MONOTONIC CLOCK_MONOTONIC
#define OS_SIG_SETMASK SIG_SETMASK

typedef sigset_t sys_signals;
typedef Dl_info sys_symbol;

#define sys_clock_gettime clock_gettime
#define sys_nanosleep nanosleep
#define sys_condattr_setclock pthread_condattr_setclock
#define sys_sigfillset sigfillset
#define sys_sigmask pthread_sigmask
#define sys_getentropy getentropy
#define sys_dladdr dladdr
#endif
#endif

#endif /* HAFT_BASE_OS_POSIX_H */
