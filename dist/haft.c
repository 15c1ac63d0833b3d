/*
 * haft.c - haft 0.2.0: the whole library in one file, with haft.h
 *
 * Copyright (c) 2026 The haft authors.  SPDX-License-Identifier: MIT
 * Made of haft's sources by ./dev amalgamate; changes belong there.
 *
 *   cc -c haft.c
 *
 * It needs the C library with its threads and nothing else, and no options.  There are these:
 *
 *   -DNDEBUG                no asserts, which notice misuse
 *   -DHAFT_WITHOUT_EXPORT   without haft_export_open() and its kin, which write files; on Windows
 *                           they are left out anyway
 *   -DHAFT_OS_BARE          for one thread without an operating system; no export either
 */
#include "haft.h"

#if (defined(HAFT_OS_BARE) || defined(_WIN32)) && !defined(HAFT_WITHOUT_EXPORT)
#define HAFT_WITHOUT_EXPORT
#endif

/* The one place that says how other files see what is haft's own: not at all. */
#define HAFT_INTERNAL static

#if defined(__GNUC__)
#pragma GCC diagnostic push
#if defined(NDEBUG) || defined(HAFT_WITHOUT_EXPORT)
#pragma GCC diagnostic ignored "-Wunused-function" /* those that asserts or the export alone call */
#endif
#endif

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * lib/base/os_types.h - room for the system's own types, which os.h works on.
 *
 * os_posix.c and os_windows.c check that their types fit; so no header of a system is included
 * here.
 */

/* Asserts that a type of the system fits the room for it. */
#define FITS(type, room) _Static_assert(sizeof(type) <= sizeof(room), "os_types.h: too small")

/* macOS's mutexes are the largest; where os_posix.c makes semaphores of mutexes, they take more. */
#if defined(__APPLE__) || defined(HAFT_OS_POSIX) ||                                                \
    (defined(__unix__) && !defined(__linux__) && !defined(HAFT_OS_BARE))
enum { MUTEX_WORDS = 8, SEMAPHORE_WORDS = 15 };
#else
enum { MUTEX_WORDS = 6, SEMAPHORE_WORDS = 4 };
#endif

/* One that is all zero is free: static ones need nothing else. */
struct os_mutex {
    uint64_t room[MUTEX_WORDS];
};

struct os_condition {
    uint64_t room[6];
};

struct os_semaphore {
    uint64_t room[SEMAPHORE_WORDS];
};

/* It stays where it is until it is joined. */
struct os_thread {
    uint64_t room[1];
    void (*run)(void *arg);
    void *arg;
};

struct os_key {
    uint64_t number;
    void (*at_end)(void *value);
};

/*
 * lib/base/os.h - the functions that haft needs of an operating system.
 *
 * os_posix.c implements them; os_windows.c on Windows; os_bare.c for programs without a system
 * (-DHAFT_OS_BARE).  All are compiled, and an #if in each leaves all but one empty: a port is
 * another os_*.c with such an #if.  No other file of lib/ and concurrent/ calls the system or
 * includes its headers, except the files of an export.
 *
 * False: the system refuses, or has no such thing; nothing has changed.  Any threads.
 */

/* --- memory --- */

/* Bytes in a page: a power of two. */
HAFT_INTERNAL size_t os_page_size(void);

/*
 * Address space of `size` bytes that can be read and are zero, from a page's start; NULL if there
 * is none.  They can be written at once, or, where `*in_steps` is true, after os_commit().  A page
 * takes memory when it is first written, not a huge one unless os_ask_for_huge_pages() was called.
 */
HAFT_INTERNAL char *os_reserve(size_t size, bool *in_steps);

/* Make the bytes from the start of a reservation on writable; some of them may be already. */
HAFT_INTERNAL bool os_commit(char *base, size_t size);

/*
 * Whether the bytes, whole pages, are part of what is written when the process crashes; those of a
 * reservation are at first.  Systems that leave nothing out do nothing.
 */
HAFT_INTERNAL void os_dump(char *base, size_t size, bool wanted);

/* Give a whole reservation back. */
HAFT_INTERNAL void os_release(char *base, size_t size);

/* The bytes, whole pages, become zero, and their memory goes back to the system. */
HAFT_INTERNAL bool os_discard(char *base, size_t size);

/*
 * Have the system find memory now for the bytes, which are writable, from a page's start.  True
 * also where the system cannot be asked: then memory comes when they are written.
 */
HAFT_INTERNAL bool os_populate(char *base, size_t size);

/* The system may take huge pages for a reservation, if it has them. */
HAFT_INTERNAL void os_ask_for_huge_pages(char *base, size_t size);

/*
 * A block of the C library's heap, of a size that is a whole multiple of `alignment`, a power of
 * two; NULL if there is none.  os_free_takes_aligned: whether free() frees such a block as well.
 */
HAFT_INTERNAL void *os_alloc_aligned(size_t alignment, size_t size);
HAFT_INTERNAL void os_free_aligned(void *memory);
HAFT_INTERNAL bool os_free_takes_aligned(void);

/* --- chance, time, numbers, words --- */

/* Random bits, without waiting for them. */
HAFT_INTERNAL bool os_random(uint64_t *bits);

/* Monotonic time, ns. */
HAFT_INTERNAL uint64_t os_now_ns(void);

/* The system's number for the calling thread, as debuggers show it; and for the process. */
HAFT_INTERNAL uint64_t os_thread_number(void);
HAFT_INTERNAL uint64_t os_process_number(void);

/* A line for the user of the program: to stderr, behind "haft: ". */
HAFT_INTERNAL void os_print(const char *line);

/* Where an address lies: in `file`, `file_offset` bytes from where tools count; names of functions
 * that the file does not tell are NULL. */
struct os_symbol {
    const char *file;
    const char *function;
    uintptr_t file_offset;
    uintptr_t function_offset;
    char room[260]; /* for the texts, where the system lends none */
};

HAFT_INTERNAL bool os_symbol_of(uintptr_t address, struct os_symbol *symbol);

/* --- threads --- */

/* Let other threads run: now, or for that long at least. */
HAFT_INTERNAL void os_yield(void);
HAFT_INTERNAL void os_sleep(uint64_t ns);

/*
 * Between the two, pthread_cancel() leaves the calling thread alone; a request then waits for a
 * cancellation point of the program's.  The first returns what held before, for the second: pairs
 * nest.  They stand around each call of a callback and around file work; what blocks or prints
 * here has its own.  Neither does anything where no thread can be cancelled.
 */
HAFT_INTERNAL int os_cancel_off(void);
HAFT_INTERNAL void os_cancel_restore(int before);

/*
 * Wait until os_wake_address() is called for the word, or for that long, if it has the value; where
 * the system has no such thing, sleep for a part of that.  May return for no reason.  The wake
 * looks at the address alone: what lies there may be gone.
 */
HAFT_INTERNAL void os_wait_address(const void *word, uint64_t value, uint64_t ns);
HAFT_INTERNAL void os_wake_address(const void *word);

/* A thread that runs run(arg), with all signals blocked: they go to the program's own threads. */
HAFT_INTERNAL bool os_thread_start(struct os_thread *thread, void (*run)(void *arg), void *arg);
HAFT_INTERNAL void os_thread_join(struct os_thread *thread);

/* os_mutex_try_lock: false if another thread has it.  Not recursive. */
HAFT_INTERNAL void os_mutex_open(struct os_mutex *mutex);
HAFT_INTERNAL void os_mutex_close(struct os_mutex *mutex);
HAFT_INTERNAL void os_mutex_lock(struct os_mutex *mutex);
HAFT_INTERNAL bool os_mutex_try_lock(struct os_mutex *mutex);
HAFT_INTERNAL void os_mutex_unlock(struct os_mutex *mutex);

/*
 * os_condition_wait: with the mutex, until woken, or for no reason; false: until os_now_ns() passes
 * `until_ns`.
 */
HAFT_INTERNAL void os_condition_open(struct os_condition *condition);
HAFT_INTERNAL void os_condition_close(struct os_condition *condition);
HAFT_INTERNAL
bool os_condition_wait(struct os_condition *condition, struct os_mutex *mutex, uint64_t until_ns);
HAFT_INTERNAL void os_condition_wake_all(struct os_condition *condition);

/* os_semaphore_post never blocks; each wait takes one post. */
HAFT_INTERNAL bool os_semaphore_open(struct os_semaphore *semaphore);
HAFT_INTERNAL void os_semaphore_close(struct os_semaphore *semaphore);
HAFT_INTERNAL void os_semaphore_post(struct os_semaphore *semaphore);
HAFT_INTERNAL void os_semaphore_wait(struct os_semaphore *semaphore);

/*
 * A value of each thread, NULL at first; at_end(value) is called when a thread ends that has set
 * another one.
 */
HAFT_INTERNAL bool os_key_open(struct os_key *key, void (*at_end)(void *value));
HAFT_INTERNAL void os_key_close(const struct os_key *key);
HAFT_INTERNAL bool os_key_set(const struct os_key *key, void *value);

/*
 * From now on each fork calls these, in the parent before and after it, and in the child; NULL for
 * none.  The `before` handed over last runs first.
 */
HAFT_INTERNAL
bool os_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));

/* lib/base/allocator.c */

/* haft_allocator over malloc. */

/* The alignment that malloc gives unasked. */
#define USUAL_ALIGNMENT _Alignof(max_align_t)

static size_t at_least(size_t size, size_t least)
{
    return size < least ? least : size;
}

static bool is_power_of_two(size_t alignment)
{
    return alignment != 0 && (alignment & (alignment - 1)) == 0;
}

/* Whether malloc() serves this alignment: never where free() cannot free aligned blocks. */
static bool malloc_does(size_t alignment)
{
    return alignment <= USUAL_ALIGNMENT && os_free_takes_aligned();
}

static void *malloc_alloc(void *context, size_t size, size_t alignment)
{
    (void)context;
    if (!is_power_of_two(alignment) || size > SIZE_MAX - alignment) {
        return NULL;
    }
    if (malloc_does(alignment)) {
        return malloc(at_least(size, 1));
    }
    const size_t whole = (at_least(size, 1) + alignment - 1) / alignment * alignment;

    return os_alloc_aligned(alignment, whole);
}

static void *malloc_resize(void *context, void *memory, size_t old_size, size_t new_size,
                           size_t alignment)
{
    assert(memory != NULL || old_size == 0);
    if (memory != NULL && is_power_of_two(alignment) && malloc_does(alignment)) {
        return realloc(memory, at_least(new_size, 1));
    }
    void *moved = malloc_alloc(context, new_size, alignment);

    if (moved != NULL && memory != NULL) {
        memcpy(moved, memory, old_size < new_size ? old_size : new_size);
        os_free_aligned(memory);
    }
    return moved;
}

static void malloc_free(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    os_free_aligned(memory);
}

haft_allocator haft_allocator_malloc(void)
{
    return (haft_allocator){malloc_alloc, malloc_resize, malloc_free, NULL};
}

/*
 * lib/base/given.h - memory that the program has given, cut from its start on.
 *
 * The same calls cut it and measure how much is needed, wherever it may begin.
 */

struct given {
    char *at; /* not cut yet; NULL: none is given, or it is measured */
    uint64_t left;
    uint64_t measured; /* bytes that suffice */
};

/* Of a program's options; NULL: none is given. */
HAFT_INTERNAL struct given given_of(void *memory, uint64_t size);

/*
 * Whether at least `needed` bytes are given, which suffice wherever they begin; or no memory, of
 * size 0.  Asked before any is taken: of too little memory not a byte is written.
 */
HAFT_INTERNAL bool given_suffices(const struct given *given, uint64_t needed);

/* Whether a block of memory can have as many bytes: there are addresses for it. */
HAFT_INTERNAL bool given_is_possible(uint64_t bytes);

/* For measuring: nothing is written. */
HAFT_INTERNAL struct given given_to_measure(void);

/*
 * `size` bytes, zero, at a multiple of `alignment`, a power of two.  NULL: there are not as many.
 * Where memory is measured, any address but NULL.
 */
HAFT_INTERNAL void *given_take(struct given *given, uint64_t size, uint64_t alignment);

/*
 * lib/base/asan.h - the only file that knows AddressSanitizer's poisoning.
 *
 * Poisoned bytes may not be touched: the sanitizer reports an access.  It keeps a record for each
 * granule of 8 bytes, and a granule can only be poisoned from some byte on to its end.  Without
 * the sanitizer these functions do nothing.
 */

#define ASAN_GRANULE ((size_t)8)

/* Poisoned bytes behind an allocation, at least. */
#define ASAN_REDZONE (2 * ASAN_GRANULE)

#if defined(__SANITIZE_ADDRESS__)
#define HAFT_UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAFT_UNDER_ASAN 1
#endif
#endif

#ifdef HAFT_UNDER_ASAN
#include <sanitizer/asan_interface.h>

static inline bool asan_is_on(void)
{
    return true;
}

static inline void asan_poison(const void *memory, size_t size)
{
    __asan_poison_memory_region(memory, size);
}

static inline void asan_unpoison(const void *memory, size_t size)
{
    /* Memory that was never poisoned may have no records. */
    if (__asan_region_is_poisoned((void *)(uintptr_t)memory, size) != NULL) {
        __asan_unpoison_memory_region(memory, size);
    }
}
#else
static inline bool asan_is_on(void)
{
    return false;
}

static inline void asan_poison(const void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

static inline void asan_unpoison(const void *memory, size_t size)
{
    (void)memory;
    (void)size;
}
#endif

/* lib/base/given.c */

/* Memory that the program has given. */

HAFT_INTERNAL struct given given_of(void *memory, uint64_t size)
{
    return (struct given){memory, size, 0};
}

HAFT_INTERNAL bool given_suffices(const struct given *given, uint64_t needed)
{
    return given->at != NULL ? given->left >= needed : given->left == 0;
}

HAFT_INTERNAL bool given_is_possible(uint64_t bytes)
{
    return bytes <= PTRDIFF_MAX;
}

HAFT_INTERNAL struct given given_to_measure(void)
{
    return (struct given){NULL, UINT64_MAX, 0};
}

static void *measure(struct given *given, uint64_t size, uint64_t alignment)
{
    static char somewhere; /* read by no call */
    const uint64_t most = size + alignment - 1;

    if (size > UINT64_MAX - alignment || most > given->left) {
        return NULL;
    }
    given->left -= most;
    given->measured += most;
    return &somewhere;
}

HAFT_INTERNAL void *given_take(struct given *given, uint64_t size, uint64_t alignment)
{
    if (given->at == NULL) {
        return measure(given, size, alignment);
    }
    const uint64_t before = (alignment - (uintptr_t)given->at % alignment) % alignment;

    if (before > given->left || size > given->left - before) {
        return NULL;
    }
    char *taken = given->at + before;

    given->at = taken + size;
    given->left -= before + size;
    asan_unpoison(taken, (size_t)size);
    return memset(taken, 0, (size_t)size);
}

/*
 * lib/base/heap.h - memory of a table or domain that is not in pages: from the program's allocator,
 * or from malloc.
 */

/* The heap for an option `allocator`, of which NULL means malloc. */
HAFT_INTERNAL haft_allocator heap_of(const haft_allocator *allocator);

/*
 * `size` bytes at a multiple of `alignment`, a power of two; heap_take_zero: all zero.  NULL: the
 * heap has no more.
 */
HAFT_INTERNAL void *heap_take(const haft_allocator *heap, size_t size, size_t alignment);
HAFT_INTERNAL void *heap_take_zero(const haft_allocator *heap, size_t size, size_t alignment);

/* Bytes of a struct of `size` bytes with `name` behind it. */
HAFT_INTERNAL size_t size_with_name(size_t size, const char *name);

/* Free a block of `size` bytes; NULL is nothing. */
HAFT_INTERNAL void heap_give(const haft_allocator *heap, void *block, size_t size);

/* lib/base/heap.c */

/* Memory from the program's allocator, or from malloc. */

HAFT_INTERNAL haft_allocator heap_of(const haft_allocator *allocator)
{
    return allocator != NULL ? *allocator : haft_allocator_malloc();
}

HAFT_INTERNAL void *heap_take(const haft_allocator *heap, size_t size, size_t alignment)
{
    return heap->alloc(heap->context, size, alignment);
}

HAFT_INTERNAL void *heap_take_zero(const haft_allocator *heap, size_t size, size_t alignment)
{
    void *block = heap_take(heap, size, alignment);

    return block != NULL ? memset(block, 0, size) : NULL;
}

HAFT_INTERNAL void heap_give(const haft_allocator *heap, void *block, size_t size)
{
    if (block != NULL) {
        heap->free(heap->context, block, size);
    }
}

HAFT_INTERNAL size_t size_with_name(size_t size, const char *name)
{
    return size + strlen(name) + 1;
}

/* lib/base/os_bare.c */

/*
 * No operating system: one thread, memory from the C library's heap, and no time but the order of
 * calls.  Chosen by -DHAFT_OS_BARE, for the whole library.
 *
 * Locks only notice misuse: with one thread, no lock is waited for.
 */

#ifdef HAFT_OS_BARE
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BARE_PAGE ((size_t)4096)

/* --- memory --- */

HAFT_INTERNAL size_t os_page_size(void)
{
    return BARE_PAGE;
}

HAFT_INTERNAL char *os_reserve(size_t size, bool *in_steps)
{
    const bool is_possible = size <= SIZE_MAX - BARE_PAGE;
    const size_t whole = (size + BARE_PAGE - 1) / BARE_PAGE * BARE_PAGE;
    char *base = is_possible ? os_alloc_aligned(BARE_PAGE, whole) : NULL;

    *in_steps = false;
    return base != NULL ? memset(base, 0, size) : NULL;
}

HAFT_INTERNAL bool os_commit(char *base, size_t size)
{
    (void)base;
    (void)size;
    return true;
}

HAFT_INTERNAL void os_dump(char *base, size_t size, bool wanted)
{
    (void)base;
    (void)size;
    (void)wanted;
}

HAFT_INTERNAL void os_release(char *base, size_t size)
{
    (void)size;
    os_free_aligned(base);
}

HAFT_INTERNAL bool os_discard(char *base, size_t size)
{
    (void)base;
    (void)size;
    return false;
}

HAFT_INTERNAL bool os_populate(char *base, size_t size)
{
    (void)base;
    (void)size;
    return true;
}

HAFT_INTERNAL void os_ask_for_huge_pages(char *base, size_t size)
{
    (void)base;
    (void)size;
}

HAFT_INTERNAL void *os_alloc_aligned(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

HAFT_INTERNAL void os_free_aligned(void *memory)
{
    free(memory);
}

HAFT_INTERNAL bool os_free_takes_aligned(void)
{
    return true;
}

/* --- chance, time, numbers, words --- */

HAFT_INTERNAL bool os_random(uint64_t *bits)
{
    (void)bits;
    return false;
}

HAFT_INTERNAL uint64_t os_now_ns(void)
{
    static uint64_t now;

    return ++now;
}

HAFT_INTERNAL uint64_t os_thread_number(void)
{
    return 1;
}

HAFT_INTERNAL uint64_t os_process_number(void)
{
    return 1;
}

HAFT_INTERNAL void os_print(const char *line)
{
    fprintf(stderr, "haft: %s\n", line);
}

HAFT_INTERNAL bool os_symbol_of(uintptr_t address, struct os_symbol *symbol)
{
    (void)address;
    (void)symbol;
    return false;
}

/* --- threads --- */

HAFT_INTERNAL int os_cancel_off(void)
{
    return 0;
}

HAFT_INTERNAL void os_cancel_restore(int before)
{
    (void)before;
}

HAFT_INTERNAL void os_yield(void)
{
}

HAFT_INTERNAL void os_sleep(uint64_t ns)
{
    (void)ns;
}

HAFT_INTERNAL void os_wait_address(const void *word, uint64_t value, uint64_t ns)
{
    (void)word;
    (void)value;
    (void)ns;
}

HAFT_INTERNAL void os_wake_address(const void *word)
{
    (void)word;
}

HAFT_INTERNAL bool os_thread_start(struct os_thread *thread, void (*run)(void *arg), void *arg)
{
    (void)thread;
    (void)run;
    (void)arg;
    return false;
}

/* No thread was started. */
HAFT_INTERNAL void os_thread_join(struct os_thread *thread)
{
    (void)thread;
    assert(thread == NULL);
}

HAFT_INTERNAL void os_mutex_open(struct os_mutex *mutex)
{
    mutex->room[0] = 0;
}

HAFT_INTERNAL void os_mutex_close(struct os_mutex *mutex)
{
    (void)mutex;
    assert(mutex->room[0] == 0);
}

HAFT_INTERNAL void os_mutex_lock(struct os_mutex *mutex)
{
    assert(mutex->room[0] == 0); /* else it waits for ever */
    mutex->room[0] = 1;
}

HAFT_INTERNAL bool os_mutex_try_lock(struct os_mutex *mutex)
{
    const bool is_free = mutex->room[0] == 0;

    mutex->room[0] = 1;
    return is_free;
}

HAFT_INTERNAL void os_mutex_unlock(struct os_mutex *mutex)
{
    assert(mutex->room[0] == 1);
    mutex->room[0] = 0;
}

HAFT_INTERNAL void os_condition_open(struct os_condition *condition)
{
    (void)condition;
}

HAFT_INTERNAL void os_condition_close(struct os_condition *condition)
{
    (void)condition;
}

/* No other thread can wake this one: the time passes. */
HAFT_INTERNAL
bool os_condition_wait(struct os_condition *condition, struct os_mutex *mutex, uint64_t until_ns)
{
    (void)condition;
    (void)mutex;
    (void)until_ns;
    return false;
}

HAFT_INTERNAL void os_condition_wake_all(struct os_condition *condition)
{
    (void)condition;
}

/* Semaphores are for threads that were started. */
HAFT_INTERNAL bool os_semaphore_open(struct os_semaphore *semaphore)
{
    (void)semaphore;
    return false;
}

HAFT_INTERNAL void os_semaphore_close(struct os_semaphore *semaphore)
{
    (void)semaphore;
}

HAFT_INTERNAL void os_semaphore_post(struct os_semaphore *semaphore)
{
    (void)semaphore;
}

HAFT_INTERNAL void os_semaphore_wait(struct os_semaphore *semaphore)
{
    (void)semaphore;
    assert(semaphore == NULL);
}

/* The thread never ends. */
HAFT_INTERNAL bool os_key_open(struct os_key *key, void (*at_end)(void *value))
{
    (void)key;
    (void)at_end;
    return true;
}

HAFT_INTERNAL void os_key_close(const struct os_key *key)
{
    (void)key;
}

HAFT_INTERNAL bool os_key_set(const struct os_key *key, void *value)
{
    (void)key;
    (void)value;
    return true;
}

HAFT_INTERNAL bool os_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)before;
    (void)in_parent;
    (void)in_child;
    return false;
}
#endif /* HAFT_OS_BARE */

/* lib/base/os_posix.h */

/*
 * POSIX's functions that system headers may hide: what a header declares is settled where a source
 * reads it first, by the options of that source, and haft's may be a part of another one (unity
 * builds, precompiled headers, strict C).  So on Linux they have names here of haft's own, for the
 * symbols of the C library, and types and numbers of their own where those are hidden as well.
 * Elsewhere headers show all by default, and the names are macros.
 */

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

/*
 * lib/base/atomics_direct.h - the operations behind lib/base/atomics.h, as the compiler makes them.
 */

static inline uint64_t u64_exchange(haft_edge edge, haft_atomic_u64 *word, uint64_t value,
                                    memory_order order)
{
    (void)edge;
    return atomic_exchange_explicit(word, value, order);
}

static inline uint64_t u64_fetch_or(haft_edge edge, haft_atomic_u64 *word, uint64_t value,
                                    memory_order order)
{
    (void)edge;
    return atomic_fetch_or_explicit(word, value, order);
}

static inline uint64_t u64_fetch_add(haft_edge edge, haft_atomic_u64 *word, uint64_t value,
                                     memory_order order)
{
    (void)edge;
    return atomic_fetch_add_explicit(word, value, order);
}

typedef uint64_t __attribute__((may_alias)) bytes_u64;

static inline uint64_t bytes_load(haft_edge edge, const void *bytes, memory_order order)
{
    (void)edge;
    return __atomic_load_n((const bytes_u64 *)bytes, (int)order);
}

static inline void bytes_store(haft_edge edge, void *bytes, uint64_t value, memory_order order)
{
    (void)edge;
    __atomic_store_n((bytes_u64 *)bytes, value, (int)order);
}

/*
 * lib/base/atomics.h - all atomic operations of lib/ and concurrent/.
 *
 * The order is in the name, the edge is the first argument: store_release(PUBLISH, &word, id).
 * haft/detail/atomics.h lists the edges.  No fences: the order stands on the operation, where
 * ThreadSanitizer sees it.
 *
 * The operations themselves stand in lib/base/atomics_direct.h; for a hooked build they are
 * declared in lib/base/atomics_hooked.h.  An operation that is added is added to both.
 */

typedef haft_atomic_u64 atomic_u64;

#define CACHE_LINE 64 /* bytes that two threads should not both write in */

#define load_relaxed(reason, word) haft_load_relaxed(HAFT_EDGE_##reason, word)
#define load_acquire(edge, word) haft_load_acquire(HAFT_EDGE_##edge, word)
#define store_relaxed(reason, word, value) haft_store_relaxed(HAFT_EDGE_##reason, word, value)
#define store_release(edge, word, value) haft_store_release(HAFT_EDGE_##edge, word, value)

/* Compare and swap: true if `*word` was `expected` and is now `desired`.  A failure is relaxed. */
#define cas_relaxed(reason, word, expected, desired)                                               \
    haft_cas(HAFT_EDGE_##reason, word, expected, desired, memory_order_relaxed)
#define cas_acquire(edge, word, expected, desired)                                                 \
    haft_cas(HAFT_EDGE_##edge, word, expected, desired, memory_order_acquire)
#define cas_acq_rel(edge, word, expected, desired)                                                 \
    haft_cas(HAFT_EDGE_##edge, word, expected, desired, memory_order_acq_rel)
#define cas_release(edge, word, expected, desired)                                                 \
    haft_cas(HAFT_EDGE_##edge, word, expected, desired, memory_order_release)

/* Exchange: the value before. */
#define exchange_acq_rel(edge, word, value)                                                        \
    u64_exchange(HAFT_EDGE_##edge, word, value, memory_order_acq_rel)

/* Fetch and add: the value before. */
#define fetch_add_relaxed(reason, word, value)                                                     \
    u64_fetch_add(HAFT_EDGE_##reason, word, value, memory_order_relaxed)
#define fetch_add_acquire(edge, word, value)                                                       \
    u64_fetch_add(HAFT_EDGE_##edge, word, value, memory_order_acquire)
#define fetch_add_release(edge, word, value)                                                       \
    u64_fetch_add(HAFT_EDGE_##edge, word, value, memory_order_release)
#define fetch_or_acq_rel(edge, word, value)                                                        \
    u64_fetch_or(HAFT_EDGE_##edge, word, value, memory_order_acq_rel)
#define fetch_add_acq_rel(edge, word, value)                                                       \
    u64_fetch_add(HAFT_EDGE_##edge, word, value, memory_order_acq_rel)

/* A word of an object, of whatever type the program has there; aligned to 8 bytes. */
#define bytes_load_acquire(edge, bytes) bytes_load(HAFT_EDGE_##edge, bytes, memory_order_acquire)
#define bytes_store_release(edge, bytes, value)                                                    \
    bytes_store(HAFT_EDGE_##edge, bytes, value, memory_order_release)

/* lib/base/os_posix.c */

/*
 * The operating system: POSIX.  Functions that POSIX leaves open come first: those of Linux, those
 * of other systems, and what macOS lacks.  -DHAFT_OS_POSIX takes the second on Linux as well, to
 * test them.
 *
 * Edges in this file.
 *   RETRY   whether a mutex is still all zero; the compare-and-swap decides
 */

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

#ifdef __ANDROID__
HAFT_INTERNAL int os_cancel_off(void)
{
    return 0;
}

HAFT_INTERNAL void os_cancel_restore(int before)
{
    (void)before;
}
#else
HAFT_INTERNAL int os_cancel_off(void)
{
    int before = PTHREAD_CANCEL_ENABLE;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

/* With a second argument: older musl and BSDs write to it unasked. */
HAFT_INTERNAL void os_cancel_restore(int before)
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

HAFT_INTERNAL void os_wait_address(const void *word, uint64_t value, uint64_t ns)
{
    const futex_time time[2] = {(futex_time)(ns / SECOND), (futex_time)(ns % SECOND)};

    sys_call(FUTEX, low_half(word), WAIT_PRIVATE, (uint32_t)value, time, NULL, 0);
}

HAFT_INTERNAL void os_wake_address(const void *word)
{
    sys_call(FUTEX, low_half(word), WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* A kernel that has no huge pages may refuse. */
static void ask_for_small_pages(char *base, size_t size)
{
    sys_madvise(base, size, OS_MADV_NOHUGEPAGE);
}

HAFT_INTERNAL void os_ask_for_huge_pages(char *base, size_t size)
{
    sys_madvise(base, size, OS_MADV_HUGEPAGE);
}

HAFT_INTERNAL void os_dump(char *base, size_t size, bool wanted)
{
    sys_madvise(base, size, wanted ? OS_MADV_DODUMP : OS_MADV_DONTDUMP);
}

/* Memory that is locked stays. */
HAFT_INTERNAL bool os_discard(char *base, size_t size)
{
    return sys_madvise(base, size, OS_MADV_DONTNEED) == 0;
}

/* Linux before 5.14 knows no such advice. */
HAFT_INTERNAL bool os_populate(char *base, size_t size)
{
    return sys_madvise(base, size, OS_MADV_POPULATE_WRITE) == 0 || errno != ENOMEM;
}

/* A filter of system calls may refuse. */
HAFT_INTERNAL bool os_random(uint64_t *bits)
{
    const int cancel = os_cancel_off();
    const ssize_t got = getrandom(bits, sizeof *bits, GRND_NONBLOCK);

    os_cancel_restore(cancel);
    return got == (ssize_t)sizeof *bits;
}

HAFT_INTERNAL uint64_t os_thread_number(void)
{
    return (uint64_t)sys_call(SYS_gettid);
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

HAFT_INTERNAL bool os_semaphore_open(struct os_semaphore *semaphore)
{
    return sem_init(semaphore_of(semaphore), 0, 0) == 0;
}

HAFT_INTERNAL void os_semaphore_close(struct os_semaphore *semaphore)
{
    sem_destroy(semaphore_of(semaphore));
}

HAFT_INTERNAL void os_semaphore_post(struct os_semaphore *semaphore)
{
    sem_post(semaphore_of(semaphore));
}

HAFT_INTERNAL void os_semaphore_wait(struct os_semaphore *semaphore)
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

HAFT_INTERNAL void os_ask_for_huge_pages(char *base, size_t size)
{
    (void)base;
    (void)size;
}

HAFT_INTERNAL void os_dump(char *base, size_t size, bool wanted)
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
HAFT_INTERNAL bool os_discard(char *base, size_t size)
{
    return mmap(base, size, PROT_READ | PROT_WRITE, MAP_FLAGS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

HAFT_INTERNAL bool os_populate(char *base, size_t size)
{
    (void)base;
    (void)size;
    return true;
}

HAFT_INTERNAL void os_wait_address(const void *word, uint64_t value, uint64_t ns)
{
    (void)word;
    (void)value;
    os_sleep(ns < 1000000 ? ns : 1000000);
}

HAFT_INTERNAL void os_wake_address(const void *word)
{
    (void)word;
}

HAFT_INTERNAL bool os_random(uint64_t *bits)
{
    const int cancel = os_cancel_off();
    const int error = sys_getentropy(bits, sizeof *bits);

    os_cancel_restore(cancel);
    return error == 0;
}

HAFT_INTERNAL uint64_t os_thread_number(void)
{
#if defined(__APPLE__)
    uint64_t number = 0;

    pthread_threadid_np(NULL, &number);
    return number;
#elif defined(__FreeBSD__)
    return (uint64_t)pthread_getthreadid_np();
#else
    static _Thread_local char own_byte;

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

HAFT_INTERNAL bool os_semaphore_open(struct os_semaphore *semaphore)
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

HAFT_INTERNAL void os_semaphore_close(struct os_semaphore *semaphore)
{
    pthread_cond_destroy(&semaphore_of(semaphore)->posted);
    pthread_mutex_destroy(&semaphore_of(semaphore)->lock);
}

HAFT_INTERNAL void os_semaphore_post(struct os_semaphore *semaphore)
{
    struct own_semaphore *posted = semaphore_of(semaphore);

    pthread_mutex_lock(&posted->lock);
    posted->posts++;
    pthread_cond_signal(&posted->posted);
    pthread_mutex_unlock(&posted->lock);
}

HAFT_INTERNAL void os_semaphore_wait(struct os_semaphore *semaphore)
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

/* --- what systems have of their own: macOS's conditions, keys and files --- */

static pthread_cond_t *condition_of(struct os_condition *condition)
{
    return (pthread_cond_t *)condition->room;
}

static pthread_key_t key_of(const struct os_key *key)
{
    return (pthread_key_t)key->number;
}

static bool open_key(struct os_key *key, void (*in_pthread)(void *value),
                     void (*at_end)(void *value))
{
    pthread_key_t opened;

    if (pthread_key_create(&opened, in_pthread) != 0) {
        return false;
    }
    *key = (struct os_key){(uint64_t)opened, at_end};
    return true;
}

#ifdef __APPLE__
HAFT_INTERNAL void os_condition_open(struct os_condition *condition)
{
    pthread_cond_init(condition_of(condition), NULL);
}

/* macOS waits for a duration, where 0 is for ever, and may wake a little before until_ns. */
HAFT_INTERNAL
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

/* Not when the process ends, where exit() has this called for its thread. */
static void end_value_of_key(void *arg)
{
    const struct os_key *key = arg;
    void *value = pthread_getspecific(key_of(key));

    if (value != NULL && pthread_main_np() == 0) { /* NULL: ended already, or the key is closed */
        pthread_setspecific(key_of(key), NULL);
        key->at_end(value);
    }
}

HAFT_INTERNAL bool os_key_open(struct os_key *key, void (*at_end)(void *value))
{
    return open_key(key, NULL, at_end);
}

/*
 * Thread-local variables go before values of keys are ended there: they are in memory of a key that
 * is older.  So a value ends as thread-local objects of C++ do, before all keys: compilers have
 * them ended by _tlv_atexit() of the C library.
 */
HAFT_INTERNAL bool os_key_set(const struct os_key *key, void *value)
{
    void _tlv_atexit(void (*end)(void *arg), void *arg);
    const bool is_first = value != NULL && pthread_getspecific(key_of(key)) == NULL;

    if (pthread_setspecific(key_of(key), value) != 0) {
        return false;
    }
    if (is_first) {
        _tlv_atexit(end_value_of_key, (void *)(uintptr_t)key);
    }
    return true;
}
#else
HAFT_INTERNAL void os_condition_open(struct os_condition *condition)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    sys_condattr_setclock(&monotonic, OS_MONOTONIC);
    pthread_cond_init(condition_of(condition), &monotonic);
    pthread_condattr_destroy(&monotonic);
}

HAFT_INTERNAL
bool os_condition_wait(struct os_condition *condition, struct os_mutex *mutex, uint64_t until_ns)
{
    const struct timespec until = time_of(until_ns);
    const int cancel = os_cancel_off();
    const int error = pthread_cond_timedwait(condition_of(condition), mutex_of(mutex), &until);

    os_cancel_restore(cancel);
    return error != ETIMEDOUT;
}

HAFT_INTERNAL bool os_key_open(struct os_key *key, void (*at_end)(void *value))
{
    return open_key(key, at_end, at_end);
}

HAFT_INTERNAL bool os_key_set(const struct os_key *key, void *value)
{
    return pthread_setspecific(key_of(key), value) == 0;
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

HAFT_INTERNAL size_t os_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static char *map(size_t size, int protection)
{
    void *base = mmap(NULL, size, protection, MAP_FLAGS, -1, 0);

    return base != MAP_FAILED ? base : NULL;
}

/* Where the system charges for all that is writable (strict overcommit, a limit), in steps. */
HAFT_INTERNAL char *os_reserve(size_t size, bool *in_steps)
{
    char *base = map(size, PROT_READ | PROT_WRITE);

    *in_steps = base == NULL;
    if (base == NULL) {
        base = map(size, PROT_READ);
    }
    if (base != NULL) {
        ask_for_small_pages(base, size);
    }
    return base;
}

HAFT_INTERNAL bool os_commit(char *base, size_t size)
{
    return mprotect(base, size, PROT_READ | PROT_WRITE) == 0;
}

HAFT_INTERNAL void os_release(char *base, size_t size)
{
    munmap(base, size);
}

HAFT_INTERNAL void *os_alloc_aligned(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

HAFT_INTERNAL void os_free_aligned(void *memory)
{
    free(memory);
}

HAFT_INTERNAL bool os_free_takes_aligned(void)
{
    return true;
}

/* --- chance, time, numbers, words --- */

HAFT_INTERNAL uint64_t os_now_ns(void)
{
    struct timespec now;

    sys_clock_gettime(OS_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

HAFT_INTERNAL uint64_t os_process_number(void)
{
    return (uint64_t)getpid();
}

/* At once, and not by fprintf(), which would put a buffer of 8 KiB on the stack. */
HAFT_INTERNAL void os_print(const char *line)
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

HAFT_INTERNAL bool os_symbol_of(uintptr_t address, struct os_symbol *symbol)
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

HAFT_INTERNAL void os_yield(void)
{
    sched_yield();
}

HAFT_INTERNAL void os_sleep(uint64_t ns)
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

HAFT_INTERNAL bool os_thread_start(struct os_thread *thread, void (*run)(void *arg), void *arg)
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

HAFT_INTERNAL void os_thread_join(struct os_thread *thread)
{
    pthread_t started;

    const int cancel = os_cancel_off();

    memcpy(&started, thread->room, sizeof started);
    pthread_join(started, NULL);
    os_cancel_restore(cancel);
}

HAFT_INTERNAL void os_mutex_open(struct os_mutex *mutex)
{
    pthread_mutex_init(mutex_of(mutex), NULL);
}

HAFT_INTERNAL void os_mutex_close(struct os_mutex *mutex)
{
    pthread_mutex_destroy(mutex_of(mutex));
}

HAFT_INTERNAL void os_mutex_lock(struct os_mutex *mutex)
{
    pthread_mutex_lock(mutex_of(mutex));
}

HAFT_INTERNAL bool os_mutex_try_lock(struct os_mutex *mutex)
{
    return pthread_mutex_trylock(mutex_of(mutex)) == 0;
}

HAFT_INTERNAL void os_mutex_unlock(struct os_mutex *mutex)
{
    pthread_mutex_unlock(mutex_of(mutex));
}

HAFT_INTERNAL void os_condition_close(struct os_condition *condition)
{
    pthread_cond_destroy(condition_of(condition));
}

HAFT_INTERNAL void os_condition_wake_all(struct os_condition *condition)
{
    pthread_cond_broadcast(condition_of(condition));
}

HAFT_INTERNAL void os_key_close(const struct os_key *key)
{
    pthread_key_delete(key_of(key));
}

HAFT_INTERNAL bool os_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    return pthread_atfork(before, in_parent, in_child) == 0;
}
#endif /* __unix__ */

/* lib/base/os_windows.c */

/*
 * The operating system: Windows, from version 10 on, 64-bit.  Nothing is linked but what mingw-w64
 * links unasked (kernel32, and advapi32 for random bits).
 *
 * Memory is committed when it is reserved: what is reserved only cannot be read, and a forged id
 * may read any word of a table.  So the system counts all of it from the start, though a page takes
 * memory only when it is first written.
 *
 * There is no fork.
 *
 * Edges in this file.
 *   OWN   the caller of os_discard() owns what the bytes are for; others may read words there
 */

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

HAFT_INTERNAL size_t os_page_size(void)
{
    SYSTEM_INFO info;

    GetSystemInfo(&info);
    return info.dwPageSize;
}

HAFT_INTERNAL char *os_reserve(size_t size, bool *in_steps)
{
    *in_steps = false;
    return VirtualAlloc(NULL, size, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

HAFT_INTERNAL bool os_commit(char *base, size_t size)
{
    return VirtualAlloc(base, size, MEM_COMMIT, PAGE_READWRITE) != NULL;
}

/* A minidump has what its maker asks for. */
HAFT_INTERNAL void os_dump(char *base, size_t size, bool wanted)
{
    (void)base;
    (void)size;
    (void)wanted;
}

HAFT_INTERNAL void os_release(char *base, size_t size)
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
HAFT_INTERNAL bool os_discard(char *base, size_t size)
{
    for (size_t at = 0; at < size; at += sizeof(atomic_u64)) {
        store_relaxed(OWN, (atomic_u64 *)(void *)(base + at), 0);
    }
    if (VirtualAlloc(base, size, MEM_RESET, PAGE_READWRITE) != NULL) {
        VirtualUnlock(base, size);
    }
    return true;
}

/* The system has promised memory when it was committed. */
HAFT_INTERNAL bool os_populate(char *base, size_t size)
{
    (void)base;
    (void)size;
    return true;
}

/* These need a privilege, and never leave memory. */
HAFT_INTERNAL void os_ask_for_huge_pages(char *base, size_t size)
{
    (void)base;
    (void)size;
}

HAFT_INTERNAL void *os_alloc_aligned(size_t alignment, size_t size)
{
    return _aligned_malloc(size, alignment);
}

HAFT_INTERNAL void os_free_aligned(void *memory)
{
    _aligned_free(memory);
}

HAFT_INTERNAL bool os_free_takes_aligned(void)
{
    return false;
}

/* --- chance, time, numbers, words --- */

HAFT_INTERNAL bool os_random(uint64_t *bits)
{
    return RtlGenRandom(bits, sizeof *bits);
}

HAFT_INTERNAL uint64_t os_now_ns(void)
{
    LARGE_INTEGER now;
    LARGE_INTEGER second;

    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&second);
    const uint64_t ticks = (uint64_t)now.QuadPart;
    const uint64_t in_second = (uint64_t)second.QuadPart;

    return ticks / in_second * A_SECOND + ticks % in_second * A_SECOND / in_second;
}

HAFT_INTERNAL uint64_t os_thread_number(void)
{
    return GetCurrentThreadId();
}

HAFT_INTERNAL uint64_t os_process_number(void)
{
    return GetCurrentProcessId();
}

HAFT_INTERNAL void os_print(const char *line)
{
    fprintf(stderr, "haft: %s\n", line);
}

/* Tools that know the file's names want an offset in the image, as in "program.exe+0x1234". */
HAFT_INTERNAL bool os_symbol_of(uintptr_t address, struct os_symbol *symbol)
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

HAFT_INTERNAL int os_cancel_off(void)
{
    return 0;
}

HAFT_INTERNAL void os_cancel_restore(int before)
{
    (void)before;
}

HAFT_INTERNAL void os_yield(void)
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
HAFT_INTERNAL void os_sleep(uint64_t ns)
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

HAFT_INTERNAL void os_wait_address(const void *word, uint64_t value, uint64_t ns)
{
    (void)word;
    (void)value;
    os_sleep(ns < 1000000 ? ns : 1000000);
}

HAFT_INTERNAL void os_wake_address(const void *word)
{
    (void)word;
}

HAFT_INTERNAL bool os_thread_start(struct os_thread *thread, void (*run)(void *arg), void *arg)
{
    thread->run = run;
    thread->arg = arg;
    return keep_handle(thread->room, _beginthreadex(NULL, 0, run_thread, thread, 0, NULL));
}

HAFT_INTERNAL void os_thread_join(struct os_thread *thread)
{
    WaitForSingleObject(handle_in(thread->room), INFINITE);
    CloseHandle(handle_in(thread->room));
}

static SRWLOCK *lock_of(struct os_mutex *mutex)
{
    return (SRWLOCK *)mutex->room;
}

HAFT_INTERNAL void os_mutex_open(struct os_mutex *mutex)
{
    InitializeSRWLock(lock_of(mutex));
}

HAFT_INTERNAL void os_mutex_close(struct os_mutex *mutex)
{
    (void)mutex;
}

HAFT_INTERNAL void os_mutex_lock(struct os_mutex *mutex)
{
    AcquireSRWLockExclusive(lock_of(mutex));
}

HAFT_INTERNAL bool os_mutex_try_lock(struct os_mutex *mutex)
{
    return TryAcquireSRWLockExclusive(lock_of(mutex));
}

HAFT_INTERNAL void os_mutex_unlock(struct os_mutex *mutex)
{
    ReleaseSRWLockExclusive(lock_of(mutex));
}

static CONDITION_VARIABLE *condition_of(struct os_condition *condition)
{
    return (CONDITION_VARIABLE *)condition->room;
}

HAFT_INTERNAL void os_condition_open(struct os_condition *condition)
{
    InitializeConditionVariable(condition_of(condition));
}

HAFT_INTERNAL void os_condition_close(struct os_condition *condition)
{
    (void)condition;
}

HAFT_INTERNAL
bool os_condition_wait(struct os_condition *condition, struct os_mutex *mutex, uint64_t until_ns)
{
    return SleepConditionVariableSRW(condition_of(condition), lock_of(mutex), ms_until(until_ns),
                                     0) ||
           os_now_ns() < until_ns;
}

HAFT_INTERNAL void os_condition_wake_all(struct os_condition *condition)
{
    WakeAllConditionVariable(condition_of(condition));
}

HAFT_INTERNAL bool os_semaphore_open(struct os_semaphore *semaphore)
{
    HANDLE opened = CreateSemaphoreA(NULL, 0, LONG_MAX, NULL);

    return keep_handle(semaphore->room, (uintptr_t)opened);
}

HAFT_INTERNAL void os_semaphore_close(struct os_semaphore *semaphore)
{
    CloseHandle(handle_in(semaphore->room));
}

HAFT_INTERNAL void os_semaphore_post(struct os_semaphore *semaphore)
{
    ReleaseSemaphore(handle_in(semaphore->room), 1, NULL);
}

HAFT_INTERNAL void os_semaphore_wait(struct os_semaphore *semaphore)
{
    WaitForSingleObject(handle_in(semaphore->room), INFINITE);
}

/* --- keys --- */

/*
 * A key is fiber-local storage: its callback runs when a thread ends, before the thread-local
 * variables go and outside the loader's lock; so it may use both.  The callback also runs
 *
 *   when a fiber ends      on the thread that deletes it: only its own thread's value counts
 *   when the key is freed  for the values of all threads: then for none
 *   when the process ends  after all other threads, whose locks stay taken: then for none
 */
struct thread_value {
    void (*at_end)(void *value);
    void *value;
    DWORD thread;
};

static _Thread_local bool is_closing_key;

static bool process_ends(void)
{
    typedef BOOLEAN(NTAPI * question)(void);
    HMODULE system = GetModuleHandleA("ntdll.dll");
    const question asked =
        (question)(void (*)(void))GetProcAddress(system, "RtlDllShutdownInProgress");

    return asked != NULL && asked();
}

static void NTAPI key_ended(void *arg)
{
    if (process_ends()) {
        return; /* the heap's lock may be taken, too */
    }
    const struct thread_value ended = *(struct thread_value *)arg;

    free(arg);
    if (!is_closing_key && ended.thread == GetCurrentThreadId()) {
        ended.at_end(ended.value);
    }
}

HAFT_INTERNAL bool os_key_open(struct os_key *key, void (*at_end)(void *value))
{
    const DWORD number = FlsAlloc(key_ended);

    if (number == FLS_OUT_OF_INDEXES) {
        return false;
    }
    *key = (struct os_key){number, at_end};
    return true;
}

HAFT_INTERNAL void os_key_close(const struct os_key *key)
{
    is_closing_key = true;
    FlsFree((DWORD)key->number);
    is_closing_key = false;
}

HAFT_INTERNAL bool os_key_set(const struct os_key *key, void *value)
{
    const DWORD number = (DWORD)key->number;
    struct thread_value *before = FlsGetValue(number);
    struct thread_value *kept = value != NULL ? malloc(sizeof *kept) : NULL;

    if ((value != NULL && kept == NULL) || !FlsSetValue(number, kept)) {
        free(kept);
        return false;
    }
    if (kept != NULL) {
        *kept = (struct thread_value){key->at_end, value, GetCurrentThreadId()};
    }
    free(before);
    return true;
}

HAFT_INTERNAL bool os_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)before;
    (void)in_parent;
    (void)in_child;
    return false;
}

/* Words that windows.h takes from sources behind it, in dist/haft.c. */
#undef far
#undef near
#endif /* _WIN32 */

/*
 * lib/base/pause.h - waiting for another thread where no event tells.
 *
 * Yielding alone would wait for ever: to a system with fixed priorities the waiting thread may be
 * the more urgent one, and the other never runs.  So after some turns it sleeps.
 */

#define PAUSE_YIELDS 64 /* turns before the first sleep */

/* Pause in turn `turn` of a wait, from 0 on: yield, from PAUSE_YIELDS on sleep 50 us to 1 ms. */
HAFT_INTERNAL void pause_in_turn(uint64_t turn);

/* lib/base/pause.c */

/* Pauses, longer from turn to turn. */

#define SHORT_SLEEP UINT64_C(50000) /* ns */
#define LONG_SLEEP UINT64_C(1000000)

HAFT_INTERNAL void pause_in_turn(uint64_t turn)
{
    if (turn < PAUSE_YIELDS) {
        os_yield();
    } else {
        os_sleep(turn < 2 * PAUSE_YIELDS ? SHORT_SLEEP : LONG_SLEEP);
    }
}

/*
 * lib/base/reservation.h - address space reserved at once, memory touched as it is first used.
 *
 * Where the system would charge for all of it (strict overcommit, a limit on data), it is
 * reserved readable and made writable in steps; never unreadable, or a read through a forged id
 * would fault.  Where the system lets a program say so, it leaves a dump of the process's memory,
 * step by step too: what is beyond the steps in use is not in it.
 *
 * A small array is one block of a heap instead: system calls would cost more than its bytes.  No
 * page of it is ever discarded, and no advice is given on it.
 */

enum reservation_kind {
    IN_PAGES,
    IN_STEPS, /* pages, made writable in steps */
    IN_HEAP,  /* one block */
    GIVEN,    /* the program's memory */
};

struct reservation {
    char *base; /* a page's start, or aligned as wished */
    size_t size;
    enum reservation_kind kind;
    uint16_t lead;    /* in a heap: bytes of the block before the base */
    uint16_t more;    /* in a heap: bytes of the block beyond those of the array */
    atomic_u64 ready; /* bytes from the base that are writable, and in dumps */
};

/* HAFT_OK, all bytes zero; or HAFT_NO_MEMORY. */
HAFT_INTERNAL haft_status reservation_open(struct reservation *reservation, uint64_t size);

/*
 * The same for an array that is in `heap` if it has at most RESERVATION_SMALL bytes.  Its base is a
 * multiple of `alignment`, a power of two up to a page.
 */
HAFT_INTERNAL
haft_status reservation_open_array(struct reservation *reservation, uint64_t size, size_t alignment,
                                   const haft_allocator *heap);
HAFT_INTERNAL
void reservation_close_array(struct reservation *reservation, const haft_allocator *heap);

/* An array in memory that the program has given.  HAFT_NO_MEMORY: there is too little. */
HAFT_INTERNAL haft_status reservation_open_given(struct reservation *reservation, uint64_t size,
                                                 uint64_t alignment, struct given *given);

/* Two pages: cleared as a whole, they cost no more than pages of their own. */
#define RESERVATION_SMALL ((uint64_t)8 << 10)

/* Whether it is in pages of the system: only these may be advised and released. */
HAFT_INTERNAL bool reservation_is_paged(const struct reservation *reservation);

HAFT_INTERNAL void reservation_close(struct reservation *reservation);

/* Ask for huge pages, which are declined otherwise.  The system may have none. */
HAFT_INTERNAL void reservation_ask_for_huge_pages(const struct reservation *reservation);

/*
 * Make the first `end` bytes writable, before they are written.  HAFT_OK or HAFT_NO_MEMORY.  Any
 * threads, lock-free.
 */
HAFT_INTERNAL haft_status reservation_commit(struct reservation *reservation, uint64_t end);

/*
 * Have the system find memory now for writable bytes: memory_populate() for any bytes, such as a
 * block of malloc; reservation_populate() for bytes `begin` to `end` of a reservation, of which
 * given memory is not touched.  HAFT_OK, also on systems that cannot be asked; or HAFT_NO_MEMORY.
 */
HAFT_INTERNAL haft_status memory_populate(char *base, size_t size);
HAFT_INTERNAL
haft_status reservation_populate(const struct reservation *reservation, uint64_t begin,
                                 uint64_t end);

/* lib/base/reservation.c */

/*
 * Reservations of address space.
 *
 * Edges in this file.
 *   COMMIT   reservation_commit (release) -> reservation_commit (acquire)  ready, then used
 *   OWN      before the reservation is handed to other threads
 *   RETRY    how far others have come; the compare-and-swap decides
 */

#define STEP_BYTES (UINT64_C(2) << 20) /* made ready at a time: a huge page lies in one step */

static void set_reservation(struct reservation *reservation, enum reservation_kind kind, char *base,
                            uint64_t size)
{
    reservation->base = base;
    reservation->size = (size_t)size;
    reservation->kind = kind;
    reservation->lead = reservation->more = 0;
    store_relaxed(OWN, &reservation->ready, size);
}

/* The end of the step that ends at byte `end`, or behind it. */
static uint64_t step_after(const struct reservation *reservation, uint64_t end)
{
    const uint64_t base = (uintptr_t)reservation->base;
    const uint64_t after = (base + end + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES - base;

    return after < reservation->size ? after : reservation->size;
}

/* Where all can be written, the first step is ready; the others are left out of dumps. */
static void begin_steps(struct reservation *reservation)
{
    const uint64_t size = reservation->size;
    const uint64_t first = size <= STEP_BYTES ? size : step_after(reservation, 1);

    store_relaxed(OWN, &reservation->ready, reservation->kind == IN_STEPS ? 0 : first);
    if (first < size) {
        os_dump(reservation->base + first, (size_t)(size - first), false);
    }
}

HAFT_INTERNAL haft_status reservation_open(struct reservation *reservation, uint64_t size)
{
    bool in_steps = false;
    char *base = size <= SIZE_MAX / 2 ? os_reserve((size_t)size, &in_steps) : NULL;

    if (base == NULL) {
        return HAFT_NO_MEMORY;
    }
    set_reservation(reservation, in_steps ? IN_STEPS : IN_PAGES, base, size);
    begin_steps(reservation);
    return HAFT_OK;
}

/* The base is aligned here: heaps are slower where they align to more than max_align_t. */
static haft_status open_in_heap(struct reservation *reservation, uint64_t size, size_t alignment,
                                const haft_allocator *heap)
{
    char *block = heap_take_zero(heap, (size_t)size + alignment, _Alignof(max_align_t));

    if (block == NULL) {
        return HAFT_NO_MEMORY;
    }
    const size_t lead = (alignment - (uintptr_t)block % alignment) % alignment;

    set_reservation(reservation, IN_HEAP, block + lead, size);
    reservation->lead = (uint16_t)lead;
    reservation->more = (uint16_t)alignment;
    return HAFT_OK;
}

HAFT_INTERNAL
haft_status reservation_open_array(struct reservation *reservation, uint64_t size, size_t alignment,
                                   const haft_allocator *heap)
{
    return size <= RESERVATION_SMALL ? open_in_heap(reservation, size, alignment, heap)
                                     : reservation_open(reservation, size);
}

HAFT_INTERNAL haft_status reservation_open_given(struct reservation *reservation, uint64_t size,
                                                 uint64_t alignment, struct given *given)
{
    char *base = given_take(given, size, alignment);

    if (base == NULL) {
        return HAFT_NO_MEMORY;
    }
    set_reservation(reservation, GIVEN, base, size);
    return HAFT_OK;
}

HAFT_INTERNAL bool reservation_is_paged(const struct reservation *reservation)
{
    return reservation->kind == IN_PAGES || reservation->kind == IN_STEPS;
}

HAFT_INTERNAL void reservation_ask_for_huge_pages(const struct reservation *reservation)
{
    os_ask_for_huge_pages(reservation->base, reservation->size);
}

HAFT_INTERNAL void reservation_close(struct reservation *reservation)
{
    if (reservation_is_paged(reservation)) {
        os_release(reservation->base, reservation->size);
    }
}

HAFT_INTERNAL
void reservation_close_array(struct reservation *reservation, const haft_allocator *heap)
{
    if (reservation->kind == IN_HEAP) {
        heap_give(heap, reservation->base - reservation->lead,
                  reservation->size + reservation->more);
    } else {
        reservation_close(reservation);
    }
}

/* Bytes `begin` to `end`, where steps end. */
static bool make_ready(const struct reservation *reservation, uint64_t begin, uint64_t end)
{
    if (reservation->kind == IN_STEPS && !os_commit(reservation->base, (size_t)end)) {
        return false;
    }
    os_dump(reservation->base + begin, (size_t)(end - begin), true);
    return true;
}

HAFT_INTERNAL haft_status reservation_commit(struct reservation *reservation, uint64_t end)
{
    /* Weakened, a thread could write to memory that is not writable yet where it runs. */
    uint64_t before = load_acquire(COMMIT, &reservation->ready);

    if (end <= before) {
        return HAFT_OK;
    }
    const uint64_t after = step_after(reservation, end);

    /* Two threads may do this at once: the same bytes become ready twice, which is harmless. */
    if (!make_ready(reservation, before, after)) {
        return HAFT_NO_MEMORY;
    }
    while (before < after && !cas_release(COMMIT, &reservation->ready, before, after)) {
        before = load_relaxed(RETRY, &reservation->ready);
    }
    return HAFT_OK;
}

HAFT_INTERNAL haft_status memory_populate(char *base, size_t size)
{
    const size_t before = (uintptr_t)base % os_page_size();

    return os_populate(base - before, size + before) ? HAFT_OK : HAFT_NO_MEMORY;
}

HAFT_INTERNAL
haft_status reservation_populate(const struct reservation *reservation, uint64_t begin,
                                 uint64_t end)
{
    return begin >= end || reservation->kind == GIVEN
               ? HAFT_OK
               : memory_populate(reservation->base + begin, (size_t)(end - begin));
}

/*
 * lib/base/saved.h - the file of a saved table: a head and a body in blocks, with checksums.
 *
 *   head    8 bytes that no text has, then numbers of 8 bytes; checksum
 *   body    blocks of 4,096 bytes, the last with the rest: bytes, checksum
 *
 * The first bytes are made as PNG's are: a transfer as text changes them.  A checksum is the CRC-32
 * of IEEE 802.3, as in zlib, of the bytes since the one before; it tells each error of up to 32
 * bits in a row.  All numbers are little-endian.
 */

#define SAVED_BLOCK 4096
#define SAVED_HEAD_NUMBERS 31 /* of each kind of table */

struct saved_head {
    uint64_t numbers[SAVED_HEAD_NUMBERS];
};

/* A body, on its way. */
struct saved {
    haft_file *file; /* its offset: that of the block in hand */
    uint64_t left;   /* bytes of the body that are not in a block yet */
    uint64_t filled; /* of the block in hand */
    uint64_t at;
    unsigned char block[SAVED_BLOCK + 4];
};

/* Where in the file a number of the head stands, and a byte of the body. */
HAFT_INTERNAL uint64_t saved_offset_of_number(uint64_t number);
HAFT_INTERNAL uint64_t saved_offset_of_byte(uint64_t byte);

/* The file is wrong, or could not be written: `what` is, or comes, at `offset`. */
HAFT_INTERNAL
haft_status saved_fault(haft_file *file, haft_status status, uint64_t offset, const char *what);

/* Write the head, and make ready for a body of that many bytes.  HAFT_OK or HAFT_NO_FILE. */
HAFT_INTERNAL
haft_status saved_begin_write(struct saved *saved, haft_file *file, const struct saved_head *head,
                              uint64_t bytes);

/* Write a piece of the body.  HAFT_OK or HAFT_NO_FILE. */
HAFT_INTERNAL haft_status saved_write(struct saved *saved, const void *bytes, uint64_t size);
HAFT_INTERNAL haft_status saved_write_number(struct saved *saved, uint64_t number);

/* Read a head.  HAFT_OK or HAFT_DAMAGED. */
HAFT_INTERNAL haft_status saved_read_head(haft_file *file, struct saved_head *head);

/* Make ready to read a body of that many bytes behind the head. */
HAFT_INTERNAL void saved_begin_read(struct saved *saved, haft_file *file, uint64_t bytes);

/* Read a piece of the body: `what` it is.  HAFT_OK or HAFT_DAMAGED. */
HAFT_INTERNAL
haft_status saved_read(struct saved *saved, void *bytes, uint64_t size, const char *what);
HAFT_INTERNAL
haft_status saved_read_number(struct saved *saved, uint64_t *number, const char *what);

/* lib/base/saved.c */

/* The file of a saved table. */

static const unsigned char first_bytes[8] = {0x89, 'h', 'a', 'f', 't', '\r', '\n', 0x1a};

#define CHECKSUM 4 /* bytes */

/* The CRC-32 of IEEE 802.3, four bits at a time. */
static uint32_t checksum_of(const unsigned char *bytes, uint64_t size)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
        0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
        0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
    };
    uint32_t sum = UINT32_MAX;

    for (uint64_t i = 0; i < size; i++) {
        sum ^= bytes[i];
        sum = sum >> 4 ^ table[sum & 15];
        sum = sum >> 4 ^ table[sum & 15];
    }
    return ~sum;
}

static void put_number(unsigned char *to, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        to[i] = (unsigned char)(number >> 8 * i);
    }
}

static uint64_t get_number(const unsigned char *from, int bytes)
{
    uint64_t number = 0;

    for (int i = bytes; i-- > 0;) {
        number = number << 8 | from[i];
    }
    return number;
}

#define HEAD_SIZE (sizeof first_bytes + SAVED_HEAD_NUMBERS * sizeof(uint64_t))

HAFT_INTERNAL uint64_t saved_offset_of_number(uint64_t number)
{
    return sizeof first_bytes + number * sizeof(uint64_t);
}

HAFT_INTERNAL uint64_t saved_offset_of_byte(uint64_t byte)
{
    return HEAD_SIZE + CHECKSUM + byte / SAVED_BLOCK * (SAVED_BLOCK + CHECKSUM) +
           byte % SAVED_BLOCK;
}

HAFT_INTERNAL
haft_status saved_fault(haft_file *file, haft_status status, uint64_t offset, const char *what)
{
    file->offset = offset;
    file->what = what;
    return status;
}

/* --- writing --- */

/* Write `size` bytes with their checksum, for which there is room behind them. */
static haft_status write_checked(haft_file *file, unsigned char *bytes, uint64_t size)
{
    put_number(bytes + size, checksum_of(bytes, size), CHECKSUM);
    if (!file->write(bytes, (size_t)size + CHECKSUM, file->arg)) {
        return saved_fault(file, HAFT_NO_FILE, file->offset, "bytes that were not written");
    }
    file->offset += size + CHECKSUM;
    return HAFT_OK;
}

/* Member by member: a copy of the whole would lie on the stack. */
static void begin(struct saved *saved, haft_file *file, uint64_t bytes)
{
    saved->file = file;
    saved->left = bytes;
    saved->filled = saved->at = 0;
}

HAFT_INTERNAL
haft_status saved_begin_write(struct saved *saved, haft_file *file, const struct saved_head *head,
                              uint64_t bytes)
{
    begin(saved, file, bytes);
    file->offset = 0;
    file->what = NULL;
    memcpy(saved->block, first_bytes, sizeof first_bytes);
    for (uint64_t i = 0; i < SAVED_HEAD_NUMBERS; i++) {
        put_number(saved->block + saved_offset_of_number(i), head->numbers[i], sizeof(uint64_t));
    }
    return write_checked(file, saved->block, HEAD_SIZE);
}

HAFT_INTERNAL haft_status saved_write(struct saved *saved, const void *bytes, uint64_t size)
{
    const unsigned char *from = bytes;

    while (size != 0) {
        const uint64_t room = SAVED_BLOCK - saved->filled;
        const uint64_t part = size < room ? size : room;

        memcpy(saved->block + saved->filled, from, (size_t)part);
        saved->filled += part;
        saved->left -= part;
        from += part;
        size -= part;
        if (saved->filled == SAVED_BLOCK || saved->left == 0) {
            const haft_status status = write_checked(saved->file, saved->block, saved->filled);

            saved->filled = 0;
            if (status != HAFT_OK) {
                return status;
            }
        }
    }
    return HAFT_OK;
}

HAFT_INTERNAL haft_status saved_write_number(struct saved *saved, uint64_t number)
{
    unsigned char bytes[sizeof number];

    put_number(bytes, number, sizeof number);
    return saved_write(saved, bytes, sizeof bytes);
}

/* --- reading --- */

/* Read `size` bytes with their checksum, for which there is room behind them. */
static haft_status read_checked(haft_file *file, unsigned char *bytes, uint64_t size)
{
    if (!file->read(bytes, (size_t)size + CHECKSUM, file->arg)) {
        return saved_fault(file, HAFT_DAMAGED, file->offset, "the file is cut off in here");
    }
    if (get_number(bytes + size, CHECKSUM) != checksum_of(bytes, size)) {
        return saved_fault(file, HAFT_DAMAGED, file->offset,
                           "the checksum of the bytes from here on is wrong");
    }
    file->offset += size + CHECKSUM;
    return HAFT_OK;
}

HAFT_INTERNAL haft_status saved_read_head(haft_file *file, struct saved_head *head)
{
    unsigned char bytes[HEAD_SIZE + CHECKSUM] = {0};

    file->offset = 0;
    file->what = NULL;
    const haft_status status = read_checked(file, bytes, HEAD_SIZE);

    if (status == HAFT_DAMAGED && memcmp(bytes, first_bytes, sizeof first_bytes) != 0) {
        file->what = "no saved table begins like this";
    }
    for (uint64_t i = 0; i < SAVED_HEAD_NUMBERS && status == HAFT_OK; i++) {
        head->numbers[i] = get_number(bytes + saved_offset_of_number(i), sizeof(uint64_t));
    }
    return status;
}

HAFT_INTERNAL void saved_begin_read(struct saved *saved, haft_file *file, uint64_t bytes)
{
    begin(saved, file, bytes);
}

static haft_status read_block(struct saved *saved, const char *what)
{
    const uint64_t size = saved->left < SAVED_BLOCK ? saved->left : SAVED_BLOCK;

    if (size == 0) {
        return saved_fault(saved->file, HAFT_DAMAGED, saved->file->offset, what);
    }
    saved->left -= size;
    saved->filled = size;
    saved->at = 0;
    return read_checked(saved->file, saved->block, size);
}

HAFT_INTERNAL
haft_status saved_read(struct saved *saved, void *bytes, uint64_t size, const char *what)
{
    unsigned char *to = bytes;

    while (size != 0) {
        const haft_status status = saved->at == saved->filled ? read_block(saved, what) : HAFT_OK;

        if (status != HAFT_OK) {
            return status;
        }
        const uint64_t there = saved->filled - saved->at;
        const uint64_t part = size < there ? size : there;

        memcpy(to, saved->block + saved->at, (size_t)part);
        saved->at += part;
        to += part;
        size -= part;
    }
    return HAFT_OK;
}

HAFT_INTERNAL haft_status saved_read_number(struct saved *saved, uint64_t *number, const char *what)
{
    unsigned char bytes[sizeof *number];
    const haft_status status = saved_read(saved, bytes, sizeof bytes, what);

    if (status == HAFT_OK) {
        *number = get_number(bytes, sizeof *number);
    }
    return status;
}

/*
 * lib/base/sized.h - options structs of callers that were compiled with another version.
 *
 * A struct only grows, at its end, and a member that is zero is a default.  So a shorter struct
 * leaves the members beyond it at zero, and a longer one is understood if its additional members
 * are zero.
 */

/*
 * Copy the caller's options, `given_size` bytes, into the `known_size` bytes at `known`; NULL
 * stands for zeros.  HAFT_OK, or HAFT_UNKNOWN_OPTION if a byte beyond `known_size` is not zero.
 */
HAFT_INTERNAL
haft_status sized_take(void *known, size_t known_size, const void *given, size_t given_size);

/* lib/base/sized.c */

/* Options structs of callers that were compiled with another version. */

HAFT_INTERNAL
haft_status sized_take(void *known, size_t known_size, const void *given, size_t given_size)
{
    const unsigned char *bytes = given;
    const size_t size = given == NULL ? 0 : given_size;
    const size_t common = size < known_size ? size : known_size;

    for (size_t at = common; at < size; at++) {
        if (bytes[at] != 0) {
            return HAFT_UNKNOWN_OPTION;
        }
    }
    memset(known, 0, known_size);
    if (common != 0) {
        memcpy(known, given, common);
    }
    return HAFT_OK;
}

/* lib/base/status.c */

/* Statuses in words. */

static const struct {
    const char *name;
    const char *text;
} known_statuses[HAFT_STATUS_COUNT] = {
    [HAFT_OK] = {"HAFT_OK", "ok"},
    [HAFT_NO_ID] = {"HAFT_NO_ID", "the id is nil"},
    [HAFT_MALFORMED] = {"HAFT_MALFORMED", "no table of this layout issues such an id"},
    [HAFT_FOREIGN] = {"HAFT_FOREIGN", "the id belongs to another table"},
    [HAFT_NEVER_ISSUED] = {"HAFT_NEVER_ISSUED", "the table has not issued this id"},
    [HAFT_RESERVED] = {"HAFT_RESERVED", "the id is reserved and not published yet"},
    [HAFT_STALE] = {"HAFT_STALE", "the object has been freed"},
    [HAFT_EXHAUSTED] = {"HAFT_EXHAUSTED",
                        "the object has been freed and its slot has lived all its generations"},
    [HAFT_DEAD] = {"HAFT_DEAD", "the object has been killed and waits for the refresh"},
    [HAFT_FULL] = {"HAFT_FULL", "the table's capacity is in use"},
    [HAFT_BUSY] =
        {"HAFT_BUSY",
         "slots wait for a grace period or are with other workers, or a value is being set"},
    [HAFT_NO_MEMORY] = {"HAFT_NO_MEMORY",
                        "the system gave no memory or address space, or given memory is used up"},
    [HAFT_NO_THREAD] = {"HAFT_NO_THREAD", "the system gave no thread"},
    [HAFT_NO_FILE] = {"HAFT_NO_FILE", "the system did not take the file"},
    [HAFT_USED_UP] = {"HAFT_USED_UP",
                      "the recorder has created as many objects as it was opened for"},
    [HAFT_IN_USE] =
        {"HAFT_IN_USE",
         "still in use: a table, worker or side is open, an object is pinned or reserved, or "
         "a callback runs"},
    [HAFT_IN_SECTION] =
        {"HAFT_IN_SECTION",
         "the call may wait, and a read section or outer job of its thread may hold pointers"},
    [HAFT_WRONG_CLOCK] = {"HAFT_WRONG_CLOCK", "the call is for domains with another clock"},
    [HAFT_NOT_PINNED] = {"HAFT_NOT_PINNED", "the object has no pin"},
    [HAFT_NOT_HELD] = {"HAFT_NOT_HELD", "no object with that id is held"},
    [HAFT_CLOSED] = {"HAFT_CLOSED", "the table is being closed"},
    [HAFT_SAME_KEY] = {"HAFT_SAME_KEY", "another recorder of the frame has the key"},
    [HAFT_LOADING] = {"HAFT_LOADING", "the table is being loaded"},
    [HAFT_OUT_OF_RANGE] = {"HAFT_OUT_OF_RANGE",
                           "beyond the table's slots, or the history's snapshots"},
    [HAFT_OCCUPIED] = {"HAFT_OCCUPIED", "the id's slot holds an object, a reservation or a value"},
    [HAFT_DAMAGED] = {"HAFT_DAMAGED", "the file is no saved table, is cut off or has been changed"},
    [HAFT_OTHER_TABLE] = {"HAFT_OTHER_TABLE",
                          "the state is that of a table that was opened with other options"},
    [HAFT_WRONG_TYPE] = {"HAFT_WRONG_TYPE",
                         "object size, alignment or pins of the table do not match the type"},
    [HAFT_IN_CALLBACK] = {"HAFT_IN_CALLBACK",
                          "the call may not be made from a callback: it waits, announces a "
                          "quiescent point, closes, flushes, trims, recycles, shares or moves "
                          "objects"},
    [HAFT_FORKED] = {"HAFT_FORKED",
                     "the process was forked and haft_after_fork_child() has not been called"},
    [HAFT_UNKNOWN_OPTION] = {"HAFT_UNKNOWN_OPTION",
                             "an option is set that this library does not have: the program was "
                             "compiled for a later version, or a reserved member is not 0"},
    [HAFT_BAD_LAYOUT] = {"HAFT_BAD_LAYOUT",
                         "layout: index_bits 3 to 32, generation_bits 1 to 60, at most 64 bits "
                         "together; reserved 0"},
    [HAFT_BAD_CAPACITY] = {"HAFT_BAD_CAPACITY", "capacity: 1 to 2^index_bits - 4"},
    [HAFT_BAD_OBJECT_SIZE] = {"HAFT_BAD_OBJECT_SIZE",
                              "object_size: at most 2^30 bytes, not 0 in a packed table"},
    [HAFT_BAD_OBJECT_ALIGNMENT] =
        {"HAFT_BAD_OBJECT_ALIGNMENT",
         "object_alignment: a power of two, at most 4096, that divides the "
         "object_size of a packed table"},
    [HAFT_BAD_TAG] = {"HAFT_BAD_TAG", "tag: does not fit the layout's tag_bits"},
    [HAFT_BAD_FIRST_GENERATION] =
        {"HAFT_BAD_FIRST_GENERATION",
         "first_generation: does not fit the layout's generation_bits, or is to be random as well"},
    [HAFT_BAD_REUSE] = {"HAFT_BAD_REUSE", "reuse: HAFT_REUSE_LIFO or HAFT_REUSE_FIFO"},
    [HAFT_BAD_MIN_FREE] = {"HAFT_BAD_MIN_FREE", "min_free: only with HAFT_REUSE_FIFO, and with "
                                                "the capacity at most 2^index_bits - 4"},
    [HAFT_BAD_PINS] = {"HAFT_BAD_PINS", "pins: only for types declared with HAFT_TYPED_PINNED"},
    [HAFT_BAD_RESTORE_RANGE] = {"HAFT_BAD_RESTORE_RANGE",
                                "restore_range: with the capacity at most 2^index_bits - 4"},
    [HAFT_BAD_WAITING_BYTES] = {"HAFT_BAD_WAITING_BYTES",
                                "waiting_bytes: at least one slot, object and overhead, or 0"},
    [HAFT_BAD_FOREIGN_CLOCK] =
        {"HAFT_BAD_FOREIGN_CLOCK",
         "foreign_clock: for the thread and the caller clock, with ctx and the callbacks "
         "that haft/clock.h requires; NULL for the workers and the frame clock"},
    [HAFT_BAD_CLOCK] = {"HAFT_BAD_CLOCK",
                        "clock: one of the HAFT_CLOCK_ names; with memory, workers or frame"},
    [HAFT_BAD_BLOCK_SIZE] = {"HAFT_BAD_BLOCK_SIZE", "block_size: at most 2^30 bytes"},
    [HAFT_BAD_MAX_BLOCK_SIZE] = {"HAFT_BAD_MAX_BLOCK_SIZE",
                                 "max_block_size: from block_size to 2^30 bytes"},
    [HAFT_BAD_BUFFER_SIZE] = {"HAFT_BAD_BUFFER_SIZE",
                              "buffer_size: with a buffer at least HAFT_ARENA_OVERHEAD bytes, "
                              "without one 0"},
    [HAFT_BAD_DIRECTORY] = {"HAFT_BAD_DIRECTORY",
                            "directory: one that exists and that this process may write to"},
    [HAFT_BAD_INTERVAL_MS] = {"HAFT_BAD_INTERVAL_MS", "interval_ms: 10 to 3600000, or 0 for 1000"},
    [HAFT_BAD_VALUE_SIZE] = {"HAFT_BAD_VALUE_SIZE", "value_size: at most 2^30 bytes"},
    [HAFT_BAD_VALUE_ALIGNMENT] = {"HAFT_BAD_VALUE_ALIGNMENT",
                                  "value_alignment: a power of two, at most 4096"},
    [HAFT_BAD_WRAP] = {"HAFT_BAD_WRAP",
                       "wrap: ids of the table repeat, and a side cannot tell their values apart"},
    [HAFT_BAD_ON_END] = {"HAFT_BAD_ON_END", "on_end: only sides of local tables have one"},
    [HAFT_BAD_COPIES] = {"HAFT_BAD_COPIES",
                         "copies: objects of at most 64 bytes, which only an insertion writes"},
    [HAFT_BAD_KEEP] = {"HAFT_BAD_KEEP", "keep: 1 or more snapshots"},
};

const char *haft_status_text(haft_status status)
{
    return (unsigned)status < HAFT_STATUS_COUNT ? known_statuses[status].text : "unknown status";
}

const char *haft_status_name(haft_status status)
{
    return (unsigned)status < HAFT_STATUS_COUNT ? known_statuses[status].name : "HAFT_?";
}

/* lib/base/text.h */

/* lib/base/text.h - a line of text put together, cut where the room ends, as snprintf cuts. */

struct text {
    char *begin;
    size_t size;
    size_t length; /* of the whole line, without the final zero, cut or not */
};

/* An empty line in the `size` bytes at `begin`. */
HAFT_INTERNAL struct text text_in(char *begin, size_t size);

HAFT_INTERNAL
__attribute__((format(printf, 2, 3))) void text_add(struct text *text, const char *format, ...);

HAFT_INTERNAL
__attribute__((format(printf, 2, 0))) void text_add_list(struct text *text, const char *format,
                                                         va_list arguments);

/* A number with a comma between thousands. */
HAFT_INTERNAL void text_add_count(struct text *text, uint64_t count);

/* A count and its noun: "1 object", "4,096 objects". */
HAFT_INTERNAL void text_add_counted(struct text *text, uint64_t count, const char *one);

/* A time, to two or three digits: "350 ms", "1.2 s". */
HAFT_INTERNAL void text_add_time(struct text *text, uint64_t ns);

/* The number that snprintf would return for the line. */
HAFT_INTERNAL int text_length(const struct text *text);

/* lib/base/text.c */

/* Lines of text put together. */

#define NS_PER_MS UINT64_C(1000000)

HAFT_INTERNAL struct text text_in(char *begin, size_t size)
{
    const struct text text = {begin, size, 0};

    if (size != 0) {
        *begin = '\0';
    }
    return text;
}

HAFT_INTERNAL void text_add_list(struct text *text, const char *format, va_list arguments)
{
    const size_t used = text->length < text->size ? text->length : text->size;
    const int added = vsnprintf(used < text->size ? text->begin + used : NULL, text->size - used,
                                format, arguments);

    text->length += added > 0 ? (size_t)added : 0;
}

HAFT_INTERNAL void text_add(struct text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    text_add_list(text, format, arguments);
    va_end(arguments);
}

HAFT_INTERNAL void text_add_count(struct text *text, uint64_t count)
{
    uint64_t unit = 1;

    while (count / unit >= 1000) {
        unit *= 1000;
    }
    text_add(text, "%" PRIu64, count / unit);
    while (unit > 1) {
        unit /= 1000;
        text_add(text, ",%03" PRIu64, count / unit % 1000);
    }
}

HAFT_INTERNAL void text_add_counted(struct text *text, uint64_t count, const char *one)
{
    text_add_count(text, count);
    text_add(text, " %s%s", one, count == 1 ? "" : "s");
}

HAFT_INTERNAL void text_add_time(struct text *text, uint64_t ns)
{
    const uint64_t ms = ns / NS_PER_MS;

    if (ms < 1000) {
        text_add(text, "%" PRIu64 " ms", ms);
    } else {
        text_add(text, "%" PRIu64 ".%" PRIu64 " s", ms / 1000, ms / 100 % 10);
    }
}

HAFT_INTERNAL int text_length(const struct text *text)
{
    return text->length < INT_MAX ? (int)text->length : INT_MAX;
}

/* lib/base/version.c */

/*
 * The version that the library was built as.
 */

uint32_t haft_version(void)
{
    return HAFT_VERSION;
}

const char *haft_version_text(void)
{
    return HAFT_VERSION_TEXT;
}

/*
 * lib/slots/options.h - the options that all tables have in common: defaults and checks.
 */

#define MAX_ALIGNMENT 4096u /* of objects */

/* How objects lie: each in its slot, or in an array of their own without gaps. */
enum options_shape { IN_SLOTS, PACKED };

struct common_options {
    HAFT_COMMON_OPTIONS;
};

/* Options of each kind of table begin with the common ones: a copy of these bytes is them. */
#define OPTIONS_BEGIN_WITH_COMMON(type)                                                            \
    _Static_assert(offsetof(type, name) == 0 &&                                                    \
                       offsetof(type, reserved) == offsetof(struct common_options, reserved) &&    \
                       sizeof(type) >= sizeof(struct common_options),                              \
                   "the common options come first, all of them")

/*
 * The alignment of objects in slots where the option is 0: as malloc() would align them, and at
 * least a word's.  Objects of a packed table lie without gaps, and so as their size wants it.
 */
HAFT_INTERNAL size_t options_usual_alignment(size_t object_size);

/*
 * Check the common options that `table_options` (a haft_local_options and so on) begins with.
 * HAFT_OK, the options with their defaults filled in, and the highest capacity that the layout
 * allows; or the status of the option that is out of range.
 */
HAFT_INTERNAL haft_status options_check(const void *table_options, enum options_shape shape,
                                        struct common_options *common, uint64_t *most);

/* The first generation of a table with these options, which were checked: theirs, random, or 1. */
HAFT_INTERNAL uint64_t options_first_generation(const struct common_options *options);

/*
 * lib/slots/geometry.h - how the slots of a table lie in memory, and how much they take.
 */

/* The options of a table that concern its slots. */
struct slots_options {
    struct common_options common; /* as options_check() has filled them in */
    uint64_t extra; /* slots wished for beyond the capacity; fewer where the index bits end */
    uint64_t aside; /* slots below all others, that are not for the capacity */
    uint64_t spare; /* address space wished for beyond those, for slots */
    bool pins;      /* a counter behind each object */
    bool huge_pages;
    bool wrapped;        /* ids repeat from the first on, as far as haft_diagnose() can know */
    struct given *given; /* memory of the program's; NULL: none */
};

struct geometry {
    uint64_t alignment; /* of the memory: an object's, and a cache line's, so that small slots lie
                         * in one, and parts of a scan meet between two */
    uint64_t bias;      /* so that each object is aligned */
    uint64_t stride;
    uint64_t count; /* slots in address space, a power of two */
    uint64_t end;   /* of those for the capacity */
};

HAFT_INTERNAL struct geometry geometry_of(const struct slots_options *options);

/* Take from given memory what slots_open() takes there. */
HAFT_INTERNAL void geometry_measure(const struct slots_options *options);

/* Slots that a shared table of that capacity wishes for beyond it, for workers to hold back. */
HAFT_INTERNAL uint64_t geometry_spare(uint64_t capacity);

/*
 * lib/slots/runs.h - page runs: runs of slots, whose memory can be released to the system.
 *
 * A run is 2^shift slots.  When none of them is in use, its pages are released; the table
 * keeps only the run's floor, the highest next generation of its slots.  They are fresh
 * again, their words 0, and begin at the floor instead of the first generation: no id from
 * before is ever issued again, and a word of 0 matches none.
 *
 * A run's record exists from when some run was first released, or the table was shared.  Runs
 * with the slots below the first index are never released: slot 0's word is a mark for ever.  Nor
 * are those of a table whose memory is not pages of the system (`stay`): it has no records.
 *
 * Shared tables keep their fresh runs in a list of their own (concurrent/table/released.c), through
 * the same links; so every access to a record is an access to atomic words.
 *
 * Edges in this file.
 *   ONWARD  a floor only rises: a thread that knows of the release sees that floor or a later one
 *   OWN     one thread has the run
 */

/* Values of a run's `link`; any other number is the fresh run after this one. */
#define RUN_IN_USE UINT64_C(0)      /* not a fresh run */
#define RUN_LAST UINT64_MAX         /* the last of the fresh runs */
#define RUN_KEPT (UINT64_MAX - 1)   /* while trimming: may not be released */
#define RUN_CHOSEN (UINT64_MAX - 2) /* while trimming: to be released */

struct run {
    atomic_u64
        floor; /* generation and tag, in place, of its fresh slots; 0: the first generation */
    atomic_u64 link;
};

struct runs {
    struct reservation memory; /* of the records, once there are any */
    struct run *records;       /* one a run; NULL until one is needed */
    uint64_t count;            /* runs that there can be */
    uint64_t first;            /* the fresh run to be used next, or RUN_LAST: fresh_runs.h */
    unsigned shift;            /* slots in a run: 2^shift */
    bool stay;                 /* no run is ever released */
};

/*
 * For an array of `slots` slots, `stride` bytes apart; is_biased: it does not begin with a page.
 * No records yet.
 */
HAFT_INTERNAL void runs_setup(struct runs *runs, uint64_t slots, uint64_t stride, bool is_biased);
HAFT_INTERNAL void runs_close(struct runs *runs);

/*
 * Address space for the records, if there is none and runs do not stay: they can be read.  HAFT_OK
 * or HAFT_NO_MEMORY.
 */
HAFT_INTERNAL haft_status runs_reserve(struct runs *runs);

/*
 * Make sure of the records of all runs with slots below `end`, which do not stay.  HAFT_OK or
 * HAFT_NO_MEMORY.
 */
HAFT_INTERNAL haft_status runs_prepare(struct runs *runs, uint64_t end);

/*
 * The slots of a run: from runs_first() on, below runs_end(), which may lie beyond the table's
 * limit.  Only runs whose slots have all been used become fresh ones: a shared table may use more
 * than the local one that it was.
 */
HAFT_INTERNAL uint64_t runs_first(const struct runs *runs, uint64_t run);
HAFT_INTERNAL uint64_t runs_end(const struct runs *runs, uint64_t run);

/* The word that fresh slots of the run begin from; 0: the first generation. */
static inline uint64_t runs_floor(const struct runs *runs, uint64_t run)
{
    return load_relaxed(ONWARD, &runs->records[run].floor);
}

static inline void runs_set_floor(const struct runs *runs, uint64_t run, uint64_t floor)
{
    store_relaxed(ONWARD, &runs->records[run].floor, floor);
}

static inline uint64_t runs_link(const struct runs *runs, uint64_t run)
{
    return load_relaxed(OWN, &runs->records[run].link);
}

static inline void runs_set_link(const struct runs *runs, uint64_t run, uint64_t link)
{
    store_relaxed(OWN, &runs->records[run].link, link);
}

/* The run that slot `index` is in. */
static inline uint64_t runs_of(const struct runs *runs, uint64_t index)
{
    return index >> runs->shift;
}

/* The lowest run that may be released. */
static inline uint64_t runs_least(const struct runs *runs)
{
    return runs_of(runs, HAFT_FIRST_INDEX - 1) + 1;
}

/*
 * lib/slots/sites.h - allocation sites: where each slot was last allocated and freed: see
 * haft/diagnose.h.
 *
 * A record is written by the thread that holds the slot: on its way in before its id is visible, on
 * its way out after its life has ended and before the slot is handed on; and cleared where the
 * slot's next generation is not the one after that life: so the record of a slot that is in no life
 * is of the generation before the one in its word.  A record is for people to read.
 *
 * Edges in this file.
 *   HINT   a site that is read too early or too late makes a line of text say less
 */

/* Where the public function that says this was called; NULL: not known, as in WebAssembly. */
#ifdef __EMSCRIPTEN__
#define CALLER NULL
#else
#define CALLER __builtin_return_address(0)
#endif

struct site {
    atomic_u64 born; /* an address; 0: not known */
    atomic_u64 died;
};

struct sites {
    struct reservation memory;
    struct site *records; /* one a slot; NULL: the table keeps none */
};

/* Records for `slots` slots, in given memory if it is not NULL.  HAFT_OK or HAFT_NO_MEMORY. */
HAFT_INTERNAL haft_status sites_open(struct sites *sites, uint64_t slots, struct given *given);
HAFT_INTERNAL void sites_close(struct sites *sites);

/* Make the records of the slots below `end` writable, if there are any.  Any threads. */
HAFT_INTERNAL haft_status sites_commit(struct sites *sites, uint64_t end);

/* Have the system find memory for those from `first` on; they are writable. */
HAFT_INTERNAL haft_status sites_populate(const struct sites *sites, uint64_t first, uint64_t end);

/*
 * Nothing is known of the slots from `first` on, below `end`, any more: they go on at another
 * generation than the one after the life recorded.  They are the calling thread's.
 */
HAFT_INTERNAL void sites_forget(const struct sites *sites, uint64_t first, uint64_t end);

static inline void sites_note_birth(const struct sites *sites, uint64_t index, const void *caller)
{
    if (sites->records != NULL) {
        store_relaxed(HINT, &sites->records[index].born, (uint64_t)(uintptr_t)caller);
    }
}

static inline void sites_note_death(const struct sites *sites, uint64_t index, const void *caller)
{
    if (sites->records != NULL) {
        store_relaxed(HINT, &sites->records[index].died, (uint64_t)(uintptr_t)caller);
    }
}

/*
 * lib/slots/word.h - the slot word: one 64-bit value decides everything about a slot.
 *
 * slot.word, the whole life of a slot.   (g: generation, [x]: index field; the tag is in all but
 * fresh words and slot 0's)
 *
 *   0              fresh: never used, or its memory released (lib/slots/runs.h)
 *   g[RESERVED]    handed to one worker, invisible
 *   id             live; nothing else has the slot's own index in its index field
 *   g[FREE]        retired; g is the next life's generation, 0 after the last life
 *   g[END]         free: nothing left to do before the next life (shared tables)
 *   g[other]       tables of one thread: free; `other` is the next free slot, END at the end (in
<<<<<<< HEAD
 *                  haft_local, the word is g[FREE] while a destructor runs)
=======
 *                  haft_local, the word is g[FREE] while a destructor runs, and while on_fill runs
 *                  for the reservation of g; and while a destructor is due, `other` is the next
 *                  slot where one is, FREE at the end)
>>>>>>> 860bca60 (local: run destructors that end objects in a loop)
 *                  shared tables: in one of the table's lists, retired or given up; `other` is the
 *                  next slot of the list, FREE at its end (concurrent/table/lists.h); or free, in
 *                  the list that a local table left (concurrent/extra/share.c)
 *   0[EXHAUSTED]   lived all its generations
 *   0[RESERVED]    slot 0, without tag, for ever
 *
 * Legal    fresh, g[FREE], g[END], free g[other] -> g[RESERVED]
 *                                                 by the owner of the batch it is in
 *          fresh, g[END] -> g'[RESERVED]          g' >= g: restored, by one thread, with CAS
 *          g[RESERVED] -> id                      by the thread that reserved it       (PUBLISH)
 *          g[RESERVED] -> g+1[END]                by the thread that reserved it: given up
 *          g[RESERVED] -> 0[EXHAUSTED]            the same, in its last life
 *          id -> g+1[FREE]                        by one freeing thread, with CAS      (CLAIM)
 *          g[FREE], g[END] -> g[other] or g[FREE] by the thread that freed it, gave it up or
 *                                                 unpinned it last: put into a list    (LIST)
 *          g[other], g[FREE] -> g[FREE], g[END]   by the thread that took it out of the list: FREE
 *                                                 if it was freed, END if it was given up
 *          g[FREE] -> g[END], 0[EXHAUSTED]        by the owner of the batch it is in: taken back
 *          0[FREE] -> 1[END]                      the same, in a table that wraps
 *          free -> fresh                          by the owner of all slots of its run
 *          0[EXHAUSTED] -> first[END]             by the thread that recycles it, with CAS
 * Illegal  id -> other id: between them lie CLAIM and a grace period, or a reader that matched
 *          the old id would see the new object.
 *
 * Invariant: unless slot s is live, (index field & mask) of its word is not s.  The marks are
 * indices that are never issued, and no slot is its own successor.
 */

enum word_mark { MARK_END = 0, MARK_RESERVED = 1, MARK_EXHAUSTED = 2, MARK_FREE = 3 };

/* A layout, ready to work on words with. */
struct word_format {
    uint64_t index_mask;
    uint64_t generation_mask; /* in place */
    uint64_t generation_one;  /* generation 1, in place */
    uint64_t tag;             /* the table's, in place */
    uint64_t tag_mask;        /* in place */
    uint64_t first;           /* first generation and tag, in place: those of a fresh slot */
    haft_layout layout;
};

static inline struct word_format word_format_of(haft_layout layout, uint64_t tag,
                                                uint64_t first_generation)
{
    struct word_format format = {
        .index_mask = haft_field_max(layout.index_bits),
        .generation_mask = haft_field_max(layout.generation_bits) << layout.index_bits,
        .generation_one = UINT64_C(1) << layout.index_bits,
        .tag = haft_id_pack(layout, 0, 0, tag).bits,
        .tag_mask = haft_id_pack(layout, 0, 0, haft_field_max(layout.tag_bits)).bits,
        .first = haft_id_pack(layout, 0, first_generation, tag).bits,
        .layout = layout,
    };
    return format;
}

/* Index field: a mark, or an index. */
static inline uint64_t word_index(const struct word_format *format, uint64_t word)
{
    return word & format->index_mask;
}

/* The generation, in place: comparable with others in place, 0 only if it is 0. */
static inline uint64_t word_generation(const struct word_format *format, uint64_t word)
{
    return word & format->generation_mask;
}

/* `word` with `index` (or a mark) in its index field. */
static inline uint64_t word_with_index(const struct word_format *format, uint64_t word,
                                       uint64_t index)
{
    return (word & ~format->index_mask) | index;
}

/* `word` with the next generation and `index`: 0 after the last, never carried into the tag. */
static inline uint64_t word_next_life(const struct word_format *format, uint64_t word,
                                      uint64_t index)
{
    return ((word + format->generation_one) & format->generation_mask) | (word & format->tag_mask) |
           index;
}

/* `word`, which ends a life, where generations begin again after the last: at 1. */
static inline uint64_t word_wrapped(const struct word_format *format, uint64_t word)
{
    return word_generation(format, word) == 0 ? word | format->generation_one : word;
}

/* The id of the life before the one that `word` holds the generation of, in slot `index`. */
static inline haft_id word_last_life(const struct word_format *format, uint64_t word,
                                     uint64_t index)
{
    haft_id id = {((word - format->generation_one) & format->generation_mask) |
                  (word & format->tag_mask) | index};
    return id;
}

/*
 * HAFT_OK, or why no slot below index `end` can ever match `id`, whatever its generation.
 */
static inline haft_status word_check_fields(const struct word_format *format, haft_id id,
                                            uint64_t end)
{
    const uint64_t index = word_index(format, id.bits);

    if (haft_id_is_nil(id)) {
        return HAFT_NO_ID;
    }
    if ((id.bits & ~(format->index_mask | format->generation_mask | format->tag_mask)) != 0 ||
        index < HAFT_FIRST_INDEX) {
        return HAFT_MALFORMED;
    }
    if ((id.bits & format->tag_mask) != format->tag) {
        return HAFT_FOREIGN;
    }
    return index < end ? HAFT_OK : HAFT_OUT_OF_RANGE;
}

/*
 * lib/slots/slots.h - the slots of a table: their layout in memory, and their words.
 */

struct slots {
    haft_view view;
    struct word_format format;
    size_t object_size;
    bool has_pins;
    bool huge_pages; /* were asked for */
    uint64_t limit;  /* one more than the highest index that is ever issued */
    struct reservation memory;
    haft_allocator heap; /* for the table, its workers, and slots that are not in pages */
    struct runs runs;
    struct sites sites;
    atomic_u64 recycled; /* not 0: exhausted slots have begun again */
    bool wrapped; /* some slot has begun its generations again, or any of a shared table may */
    struct common_options common; /* of the table, without its name, memory and allocator */
};

/* `slots->heap` is set.  On HAFT_OK `slots` is ready, with slot 0 marked.  Blocking (mmap). */
HAFT_INTERNAL haft_status slots_open(struct slots *slots, const struct slots_options *options);
HAFT_INTERNAL void slots_close(struct slots *slots);

/* Make the slots below `end` writable.  HAFT_OK or HAFT_NO_MEMORY.  Any threads. */
HAFT_INTERNAL haft_status slots_commit(struct slots *slots, uint64_t end);

/* Bytes of memory that `used` slots take, of which `released` have none any more. */
HAFT_INTERNAL uint64_t slots_bytes(const struct slots *slots, uint64_t used, uint64_t released);

/* Have the system find memory for the slots from `first` on, below `end`; these are writable. */
HAFT_INTERNAL haft_status slots_populate(const struct slots *slots, uint64_t first, uint64_t end);

/*
 * HAFT_OK, or why no slot below index `end` can ever match `id`, whatever its generation.  Any
 * threads.
 */
HAFT_INTERNAL haft_status slots_check_fields(const struct slots *slots, haft_id id, uint64_t end);

/* As above, for an id that the caller chose: without a generation it is malformed. */
HAFT_INTERNAL haft_status slots_check_chosen(const struct slots *slots, haft_id id, uint64_t end);

/* The word of slot `index`; the object lies behind it. */
static inline atomic_u64 *slots_word(const struct slots *slots, uint64_t index)
{
    return (atomic_u64 *)(void *)(slots->view.base + index * slots->view.stride);
}

static inline void *slots_object(atomic_u64 *word)
{
    return word + 1;
}

/* The alignment of objects: slot 0's word lies that many bytes less 8 behind the memory's start. */
static inline size_t slots_alignment(const struct slots *slots)
{
    return (size_t)(slots->view.base - slots->memory.base) + sizeof(uint64_t);
}

/* The pins of the object behind `word`, in a table that has them. */
static inline atomic_u64 *slots_pins(const struct slots *slots, atomic_u64 *word)
{
    return word + 1 + (slots->object_size + 7) / 8;
}

/*
 * The word that a slot's next life begins from: a fresh slot stands for its first life.  For
 * tables whose runs are never released.
 */
static inline uint64_t slots_begin(const struct slots *slots, uint64_t word)
{
    return word == 0 ? slots->format.first : word;
}

/* `word` of slot `index`, or its run's floor if that was released; 0: fresh. */
static inline uint64_t slots_word_or_floor(const struct slots *slots, uint64_t index, uint64_t word)
{
    const struct runs *runs = &slots->runs;

    return word == 0 && runs->records != NULL ? runs_floor(runs, runs_of(runs, index)) : word;
}

/* slots_begin() for slot `index` of a table whose runs may have been released. */
static inline uint64_t slots_begin_at(const struct slots *slots, uint64_t index, uint64_t word)
{
    return slots_begin(slots, slots_word_or_floor(slots, index, word));
}

/* lib/slots/bad_access.h */

/* lib/slots/bad_access.h - a table's answer to haft_require() of an id that names no object. */

/* Apply the table's policy: on_bad_access, or abort.  `status` is not HAFT_OK. */
HAFT_INTERNAL
void bad_access(const struct slots *slots, const char *table, haft_id id, haft_status status);

/* The same for a table without sites. */
HAFT_INTERNAL
void bad_access_report(const haft_bad_access *access, haft_on_bad_access *policy, void *arg);

/*
 * lib/slots/sites_text.h - texts about ids and sites: see haft/diagnose.h.
 */

/* The line for haft_diagnose_format(); returns the number that snprintf would. */
HAFT_INTERNAL
int sites_describe(const struct slots *slots, const char *table, haft_id id, haft_status status,
                   char *line, size_t size);

/* Add where a site is: its function, and the arguments for addr2line. */
HAFT_INTERNAL void site_tell(struct text *text, const void *site);

/* lib/slots/bad_access.c */

/* The report of a required id that names no object. */

int haft_bad_access_format(const haft_bad_access *access, char *text, size_t size)
{
    char id[HAFT_ID_TEXT_SIZE];

    haft_id_format(access->layout, access->id, id, sizeof id);
    return snprintf(text, size, "%s: %s: %s (%s)", access->table, id,
                    haft_status_text(access->status), haft_status_name(access->status));
}

/* End the program, unless the table has a policy; then the line is not needed. */
static void apply_policy(const haft_bad_access *access, const char *line,
                         haft_on_bad_access *policy, void *arg)
{
    if (policy == NULL) {
        os_print(line);
        abort();
    }
    policy(access, arg);
}

HAFT_INTERNAL
void bad_access_report(const haft_bad_access *access, haft_on_bad_access *policy, void *arg)
{
    char line[512]; /* a longer name cuts the text */

    haft_bad_access_format(access, line, sizeof line);
    apply_policy(access, line, policy, arg);
}

HAFT_INTERNAL
void bad_access(const struct slots *slots, const char *table, haft_id id, haft_status status)
{
    const haft_bad_access access = {
        .table = table,
        .layout = slots->format.layout,
        .id = id,
        .status = status,
    };
    char line[512];

    sites_describe(slots, table, id, status, line, sizeof line);
    apply_policy(&access, line, slots->common.on_bad_access, slots->common.bad_access_arg);
}

/*
 * lib/slots/diagnose.h - the status of an id: see haft/diagnose.h.
 */

/* The status of an id: see haft_diagnose().  Any threads. */
HAFT_INTERNAL haft_status slots_diagnose(const struct slots *slots, haft_id id);

/* The id of slot `index`, live or of its next life: see haft_id_at().  Any threads. */
HAFT_INTERNAL haft_status slots_id_at(const struct slots *slots, uint64_t index, haft_id *id);

/* lib/slots/diagnose.c */

/*
 * The status of an id.
 *
 * Edges in this file.
 *   PUBLISH  haft_publish, and revive of recycle.c (release) -> slots_diagnose, slots_id_at
 *            (acquire)   the word, as resolve sees it, and whether ids repeat
 *   HINT     ids repeat: then more of them are said to be stale
 */

/*
 * Whether generation `asked`, in place, was issued for slot `index` before the one in its `word`.
 * Once ids repeat this cannot be told: then yes, for a slot that is not fresh.
 */
static bool issued_before(const struct slots *slots, uint64_t index, uint64_t asked, uint64_t word)
{
    const struct word_format *format = &slots->format;
    const uint64_t last = slots_word_or_floor(slots, index, word);
    const uint64_t now = word_generation(format, slots_begin(slots, last));

    if ((slots->wrapped || load_relaxed(HINT, &slots->recycled) != 0) && last != 0) {
        return asked != 0;
    }
    /* After the last life the next generation is 0: every life was issued. */
    return asked >= word_generation(format, format->first) && (now == 0 || asked < now);
}

HAFT_INTERNAL haft_status slots_diagnose(const struct slots *slots, haft_id id)
{
    const struct word_format *format = &slots->format;
    const uint64_t index = word_index(format, id.bits);
    const uint64_t asked = word_generation(format, id.bits);
    const haft_status status = slots_check_fields(slots, id, slots->limit);

    if (status != HAFT_OK) {
        return status == HAFT_OUT_OF_RANGE ? HAFT_NEVER_ISSUED : status;
    }
    const uint64_t word = load_acquire(PUBLISH, slots_word(slots, index));

    if (word == id.bits) {
        return HAFT_OK;
    }
    if (word == word_with_index(format, id.bits, MARK_RESERVED)) {
        return HAFT_RESERVED;
    }
    if (!issued_before(slots, index, asked, word)) {
        return HAFT_NEVER_ISSUED;
    }
    return word_index(format, word) == MARK_EXHAUSTED ? HAFT_EXHAUSTED : HAFT_STALE;
}

/* The slot's next life begins from `word`, which is in none: nil after the last. */
static haft_status next_at(const struct slots *slots, uint64_t index, uint64_t word, haft_id *id)
{
    const struct word_format *format = &slots->format;
    const bool is_exhausted = word_index(format, word) == MARK_EXHAUSTED;
    uint64_t begin = slots_begin_at(slots, index, word);

    if (!is_exhausted && slots->wrapped) { /* a shared table's word while its slot is retired */
        begin = word_wrapped(format, begin);
    }
    if (word_generation(format, begin) == 0) {
        id->bits = 0;
        return HAFT_EXHAUSTED;
    }
    id->bits = word_with_index(format, begin, index);
    return word == 0 ? HAFT_NEVER_ISSUED : HAFT_STALE;
}

HAFT_INTERNAL haft_status slots_id_at(const struct slots *slots, uint64_t index, haft_id *id)
{
    const struct word_format *format = &slots->format;

    if (index < HAFT_FIRST_INDEX || index >= slots->limit) {
        return HAFT_OUT_OF_RANGE;
    }
    const uint64_t word = load_acquire(PUBLISH, slots_word(slots, index));
    const uint64_t field = word_index(format, word);

    if (field != index && field != MARK_RESERVED) {
        return next_at(slots, index, word, id);
    }
    id->bits = word_with_index(format, word, index);
    return field == index ? HAFT_OK : HAFT_RESERVED;
}

/* lib/slots/explain.h */

/* lib/slots/explain.h - statuses in words, for all tables: see haft/diagnose.h. */

/* The use of a table's capacity. */
struct use {
    uint64_t live;
    uint64_t reserved;
    uint64_t exhausted; /* slots */
};

HAFT_INTERNAL void explain_full(struct text *text, uint64_t capacity, const struct use *use);
HAFT_INTERNAL void explain_no_memory(struct text *text, const struct slots *slots, uint64_t used);

/* lib/slots/explain.c */

/* Statuses of tables, in words. */

HAFT_INTERNAL void explain_no_memory(struct text *text, const struct slots *slots, uint64_t used)
{
    text_add(text, "no memory: the system refused more than ");
    text_add_counted(text, used, "slot");
    text_add(text, " of ");
    text_add_counted(text, slots->view.stride, "byte");
}

HAFT_INTERNAL void explain_full(struct text *text, uint64_t capacity, const struct use *use)
{
    text_add(text, "full: capacity ");
    text_add_count(text, capacity);
    text_add(text, "; ");
    text_add_count(text, use->live);
    text_add(text, " live");
    if (use->reserved != 0) {
        text_add(text, ", ");
        text_add_count(text, use->reserved);
        text_add(text, " reserved");
    }
    if (use->exhausted != 0) {
        text_add(text, ", ");
        text_add_counted(text, use->exhausted, "slot");
        text_add(text, " exhausted");
    }
}

/*
 * lib/slots/fresh_runs.h - the released runs of a table of one thread, in a list through their
 * records' links.  O(1), except fresh_runs_remove.
 */

/* The run becomes the first one. */
HAFT_INTERNAL void fresh_runs_push(struct runs *runs, uint64_t run);

/* Take the first one; there is one. */
HAFT_INTERNAL uint64_t fresh_runs_pop(struct runs *runs);

/* Take `run`, which is in the list.  O(runs before it). */
HAFT_INTERNAL void fresh_runs_remove(struct runs *runs, uint64_t run);

/* lib/slots/fresh_runs.c */

/* The list of released runs. */

HAFT_INTERNAL void fresh_runs_push(struct runs *runs, uint64_t run)
{
    runs_set_link(runs, run, runs->first);
    runs->first = run;
}

HAFT_INTERNAL uint64_t fresh_runs_pop(struct runs *runs)
{
    const uint64_t run = runs->first;

    assert(run != RUN_LAST);
    runs->first = runs_link(runs, run);
    runs_set_link(runs, run, RUN_IN_USE);
    return run;
}

HAFT_INTERNAL void fresh_runs_remove(struct runs *runs, uint64_t run)
{
    uint64_t before = RUN_LAST;

    for (uint64_t at = runs->first; at != run; at = runs_link(runs, at)) {
        assert(at != RUN_LAST);
        before = at;
    }
    if (before == RUN_LAST) {
        runs->first = runs_link(runs, run);
    } else {
        runs_set_link(runs, before, runs_link(runs, run));
    }
    runs_set_link(runs, run, RUN_IN_USE);
}

/* lib/slots/geometry.c */

/* How slots lie. */

#define SPARE_MOST (UINT64_C(1) << 16)   /* hold-back of 258 workers with full batches */
#define SPARE_COMMON (UINT64_C(1) << 12) /* of 16 */

/* Slots in address space: a power of two with room for capacity and extra, if the bits allow. */
static uint64_t slot_count(const struct slots_options *options)
{
    const uint64_t most = haft_field_max(options->common.layout.index_bits) + 1;
    const uint64_t extra = options->extra < most ? options->extra : most; /* of any number */
    const uint64_t wanted =
        HAFT_FIRST_INDEX + options->aside + options->common.capacity + extra + options->spare;
    uint64_t count = 8;

    while (count < wanted && count < most) {
        count *= 2;
    }
    return count;
}

HAFT_INTERNAL uint64_t geometry_spare(uint64_t capacity)
{
    const uint64_t part = capacity / 8;

    if (capacity < SPARE_COMMON) {
        return capacity;
    }
    return part < SPARE_COMMON ? SPARE_COMMON : part < SPARE_MOST ? part : SPARE_MOST;
}

static uint64_t round_up(uint64_t size, uint64_t alignment)
{
    return (size + alignment - 1) / alignment * alignment;
}

HAFT_INTERNAL struct geometry geometry_of(const struct slots_options *options)
{
    const struct common_options *common = &options->common;
    const uint64_t alignment =
        common->object_alignment > sizeof(uint64_t) ? common->object_alignment : sizeof(uint64_t);
    const uint64_t pins = options->pins ? sizeof(uint64_t) : 0;

    return (struct geometry){
        .alignment = alignment > CACHE_LINE ? alignment : CACHE_LINE,
        .bias = alignment - sizeof(uint64_t),
        .stride = round_up(
            sizeof(uint64_t) + round_up(common->object_size, pins != 0 ? 8 : 1) + pins, alignment),
        .count = slot_count(options),
        .end = HAFT_FIRST_INDEX + options->aside + common->capacity,
    };
}

HAFT_INTERNAL void geometry_measure(const struct slots_options *options)
{
    const struct geometry geometry = geometry_of(options);

    given_take(options->given, geometry.bias + geometry.count * geometry.stride,
               geometry.alignment);
    if (options->common.sites) {
        given_take(options->given, geometry.count * sizeof(struct site), sizeof(uint64_t));
    }
}

/*
 * lib/slots/image.h - the image of a table: all that decides what its next call answers.
 *
 * Numbers, and parts of its memory.  The parts of a table's own image are its memory itself; those
 * of another lie elsewhere.  A table becomes any image of its shape.
 */

#define IMAGE_NUMBERS 18
#define IMAGE_PARTS 4
#define SHAPE_NUMBERS 10

struct image_part {
    char *at;
    uint64_t bytes;
    uint64_t most; /* bytes that the part can ever have */
};

struct image {
    uint64_t numbers[IMAGE_NUMBERS];
    struct image_part parts[IMAGE_PARTS];
};

/* The options of the table that an image must agree with. */
struct shape {
    uint64_t numbers[SHAPE_NUMBERS];
};

/* Copied and compared in blocks, from the start of a part on. */
#define IMAGE_BLOCK 64

/* Whether two whole blocks differ. */
static inline bool image_differs(const char *a, const char *b)
{
    typedef uint64_t pair __attribute__((vector_size(16), aligned(8), may_alias));
    const pair *x = (const pair *)(const void *)a;
    const pair *y = (const pair *)(const void *)b;
    const pair all = (x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]);

    return (all[0] | all[1]) != 0;
}

/* Make `bytes` bytes at `to` what they are at `from`: writes to blocks that differ, alone. */
HAFT_INTERNAL void image_put(char *to, const char *from, uint64_t bytes);

/* Make the bytes zero; the same. */
HAFT_INTERNAL void image_clear(char *at, uint64_t bytes);

/*
 * lib/slots/history.h - snapshots of a table: see haft/snapshot.h.
 *
 * One of them, the current, is there as a whole: the shadow, a copy of the table's memory.  Between
 * two neighbours stand the blocks that differ, with the bytes of the one that the shadow is not.
 * Going from one to the other exchanges these bytes with the shadow's, so the way back is there
 * too.
 *
 *   oldest --changes-- current = shadow --changes-- newest
 *
 * Bytes of the shadow that no snapshot had before need no way back: nothing asks for them.
 */

struct change;

/* Snapshot number n is in place n % keep. */
struct snapshot {
    uint64_t serial; /* no other one of the history ever has it; numbers come again */
    uint64_t numbers[IMAGE_NUMBERS];
    uint64_t bytes[IMAGE_PARTS];
    struct change *changes;     /* against the snapshot before; NULL: none */
    uint64_t ends[IMAGE_PARTS]; /* of each part's changes */
};

struct shadow_part {
    struct reservation memory; /* if `is_open` */
    bool is_open;
    uint64_t bytes; /* that snapshots have had */
};

struct haft_history {
    haft_allocator heap;
    struct snapshot *snapshots;
    uint64_t keep;
    uint64_t oldest;
    uint64_t next; /* one more than the newest; equal: there is none */
    uint64_t current;
    uint64_t taken;     /* snapshots ever */
    struct shape shape; /* of the tables whose snapshots it has */
    struct shadow_part shadow[IMAGE_PARTS];
};

/* Whether snapshots of tables of that shape are or may be in it. */
HAFT_INTERNAL bool history_fits(const struct haft_history *history, const struct shape *shape);

/*
 * Keep a copy of `image`, which is of that shape, behind the current snapshot; those behind that
 * are dropped.  HAFT_OK and its number, or HAFT_NO_MEMORY with nothing changed.
 */
HAFT_INTERNAL haft_status history_take(struct haft_history *history, const struct shape *shape,
                                       const struct image *image, uint64_t *number);

/* The snapshot of that number; NULL: there is none. */
HAFT_INTERNAL
const struct snapshot *history_find(const struct haft_history *history, uint64_t number);

/* Make a snapshot that is there the current one: its image, which is valid until the next call. */
HAFT_INTERNAL struct image history_go(struct haft_history *history, uint64_t number);

/* lib/slots/history.c */

/* Snapshots: a shadow, and what differs between neighbours. */

struct change {
    uint64_t block;
    char bytes[IMAGE_BLOCK];
};

static size_t bytes_of_snapshots(uint64_t keep)
{
    return (size_t)keep * sizeof(struct snapshot);
}

static haft_status open_history(const haft_history_options *options, haft_history **history)
{
    const haft_allocator heap = heap_of(options->allocator);
    haft_history *opened = heap_take_zero(&heap, sizeof *opened, _Alignof(haft_history));
    struct snapshot *snapshots =
        options->keep <= SIZE_MAX / 2 / sizeof *snapshots
            ? heap_take_zero(&heap, bytes_of_snapshots(options->keep), _Alignof(struct snapshot))
            : NULL;

    if (opened == NULL || snapshots == NULL) {
        heap_give(&heap, snapshots, bytes_of_snapshots(options->keep));
        heap_give(&heap, opened, sizeof *opened);
        return HAFT_NO_MEMORY;
    }
    opened->heap = heap;
    opened->snapshots = snapshots;
    opened->keep = options->keep;
    *history = opened;
    return HAFT_OK;
}

haft_status haft_history_open_sized(const haft_history_options *options, size_t size,
                                    haft_history **history)
{
    haft_history_options known;
    const haft_status status = sized_take(&known, sizeof known, options, size);

    if (status != HAFT_OK) {
        return status;
    }
    return known.keep != 0 ? open_history(&known, history) : HAFT_BAD_KEEP;
}

/* Bytes of a snapshot's changes, with room for one more: never 0. */
static size_t bytes_of_changes(const struct snapshot *snapshot)
{
    return (size_t)(snapshot->ends[IMAGE_PARTS - 1] + 1) * sizeof(struct change);
}

static struct snapshot *snapshot_of(const haft_history *history, uint64_t number)
{
    return &history->snapshots[number % history->keep];
}

static void forget_changes(const haft_history *history, uint64_t number)
{
    struct snapshot *snapshot = snapshot_of(history, number);

    heap_give(&history->heap, snapshot->changes, bytes_of_changes(snapshot));
    snapshot->changes = NULL;
}

static void close_shadow(haft_history *history)
{
    for (int part = 0; part < IMAGE_PARTS; part++) {
        if (history->shadow[part].is_open) {
            reservation_close_array(&history->shadow[part].memory, &history->heap);
            history->shadow[part].is_open = false;
        }
    }
}

void haft_history_close(haft_history *history)
{
    for (uint64_t number = history->oldest; number < history->next; number++) {
        forget_changes(history, number);
    }
    close_shadow(history);
    const haft_allocator heap = history->heap;

    heap_give(&heap, history->snapshots, bytes_of_snapshots(history->keep));
    heap_give(&heap, history, sizeof *history);
}

haft_range haft_history_kept(const haft_history *history)
{
    return HAFT_RANGE(history->oldest, history->next);
}

uint64_t haft_history_bytes(const haft_history *history)
{
    uint64_t bytes = sizeof *history + history->keep * sizeof *history->snapshots;

    for (int part = 0; part < IMAGE_PARTS; part++) {
        bytes += history->shadow[part].bytes;
    }
    for (uint64_t number = history->oldest; number < history->next; number++) {
        const struct snapshot *snapshot = snapshot_of(history, number);

        if (snapshot->changes != NULL) {
            bytes += snapshot->ends[IMAGE_PARTS - 1] * sizeof *snapshot->changes;
        }
    }
    return bytes;
}

HAFT_INTERNAL bool history_fits(const haft_history *history, const struct shape *shape)
{
    return history->next == 0 || memcmp(&history->shape, shape, sizeof *shape) == 0;
}

HAFT_INTERNAL const struct snapshot *history_find(const haft_history *history, uint64_t number)
{
    return number >= history->oldest && number < history->next ? snapshot_of(history, number)
                                                               : NULL;
}

/* --- taking --- */

static uint64_t blocks_of(uint64_t bytes)
{
    return (bytes + IMAGE_BLOCK - 1) / IMAGE_BLOCK;
}

/* Room in the shadow for the whole image, in whole blocks. */
static haft_status make_room(haft_history *history, const struct image *image)
{
    haft_status status = HAFT_OK;

    for (int i = 0; i < IMAGE_PARTS && status == HAFT_OK; i++) {
        const struct image_part *part = &image->parts[i];
        struct shadow_part *shadow = &history->shadow[i];

        if (part->bytes != 0 && !shadow->is_open) {
            status = reservation_open_array(&shadow->memory, blocks_of(part->most) * IMAGE_BLOCK,
                                            IMAGE_BLOCK, &history->heap);
            shadow->is_open = status == HAFT_OK;
        }
        if (part->bytes != 0 && status == HAFT_OK) {
            status = reservation_commit(&shadow->memory, blocks_of(part->bytes) * IMAGE_BLOCK);
        }
    }
    return status;
}

/* Bytes of a part that the shadow has from a snapshot, whatever that was: the rest is new to it. */
static uint64_t known_bytes(const struct shadow_part *shadow, const struct image_part *part)
{
    return part->bytes < shadow->bytes ? part->bytes : shadow->bytes;
}

/*
 * Set the bit of each block of a part that differs from the shadow's: how many.  The last block may
 * be a part of one.
 */
static uint64_t compare_part(const struct shadow_part *shadow, const struct image_part *part,
                             uint64_t *differ)
{
    const uint64_t bytes = known_bytes(shadow, part);
    const uint64_t whole = bytes / IMAGE_BLOCK;
    uint64_t found = 0;

    for (uint64_t first = 0; first < blocks_of(bytes); first += 64) {
        const uint64_t end = first + 64 < whole ? first + 64 : whole;
        uint64_t bits = 0;

        for (uint64_t block = first; block < end; block++) {
            const uint64_t at = block * IMAGE_BLOCK;

            bits |= (uint64_t)image_differs(part->at + at, shadow->memory.base + at)
                    << (block - first);
        }
        differ[first / 64] = bits;
        found += (uint64_t)__builtin_popcountll(bits);
    }
    if (bytes % IMAGE_BLOCK != 0 &&
        memcmp(part->at + whole * IMAGE_BLOCK, shadow->memory.base + whole * IMAGE_BLOCK,
               (size_t)(bytes % IMAGE_BLOCK)) != 0) {
        differ[whole / 64] |= UINT64_C(1) << whole % 64;
        found++;
    }
    return found;
}

/* Where the bits of a part begin, in words. */
static uint64_t bitmap_of(const haft_history *history, int part)
{
    uint64_t words = 0;

    for (int i = 0; i < part; i++) {
        words += blocks_of(history->shadow[i].bytes) / 64 + 1;
    }
    return words;
}

/* The shadow's bytes go to the change, and the image's to the shadow. */
static void keep_block(char *shadow, const struct image_part *part, uint64_t known, uint64_t block,
                       struct change *change)
{
    const uint64_t at = block * IMAGE_BLOCK;
    const uint64_t left = known - at;

    change->block = block;
    memcpy(change->bytes, shadow + at, IMAGE_BLOCK);
    if (left >= IMAGE_BLOCK) {
        memcpy(shadow + at, part->at + at, IMAGE_BLOCK);
    } else {
        memcpy(shadow + at, part->at + at, (size_t)left);
    }
}

static struct change *keep_blocks(const struct shadow_part *shadow, const struct image_part *part,
                                  const uint64_t *differ, struct change *change)
{
    const uint64_t known = known_bytes(shadow, part);

    for (uint64_t first = 0; first < blocks_of(known); first += 64) {
        for (uint64_t bits = differ[first / 64]; bits != 0; bits &= bits - 1) {
            keep_block(shadow->memory.base, part, known, first + (uint64_t)__builtin_ctzll(bits),
                       change++);
        }
    }
    return change;
}

/*
 * Turn the shadow from the current snapshot into the image; the changes are those of the new one,
 * `taken`.  HAFT_OK, or HAFT_NO_MEMORY with nothing changed.
 */
static haft_status exchange_with(haft_history *history, const struct image *image,
                                 struct snapshot *taken)
{
    const size_t bitmap_bytes = (size_t)bitmap_of(history, IMAGE_PARTS) * sizeof(uint64_t);
    uint64_t *differ = heap_take(&history->heap, bitmap_bytes, _Alignof(uint64_t));
    uint64_t found = 0;

    if (differ == NULL) {
        return HAFT_NO_MEMORY;
    }
    for (int i = 0; i < IMAGE_PARTS; i++) {
        found +=
            compare_part(&history->shadow[i], &image->parts[i], &differ[bitmap_of(history, i)]);
        taken->ends[i] = found;
    }
    taken->changes = heap_take(&history->heap, bytes_of_changes(taken), _Alignof(struct change));
    if (taken->changes == NULL) {
        heap_give(&history->heap, differ, bitmap_bytes);
        return HAFT_NO_MEMORY;
    }
    struct change *change = taken->changes;

    for (int i = 0; i < IMAGE_PARTS; i++) {
        change = keep_blocks(&history->shadow[i], &image->parts[i], &differ[bitmap_of(history, i)],
                             change);
    }
    heap_give(&history->heap, differ, bitmap_bytes);
    return HAFT_OK;
}

/* Copy what the shadow does not know, from byte `known` of each part on. */
static void copy_rest(haft_history *history, const struct image *image, bool whole)
{
    for (int i = 0; i < IMAGE_PARTS; i++) {
        const struct image_part *part = &image->parts[i];
        struct shadow_part *shadow = &history->shadow[i];
        const uint64_t known = whole ? 0 : known_bytes(shadow, part);

        if (part->bytes != known) {
            memcpy(shadow->memory.base + known, part->at + known, (size_t)(part->bytes - known));
        }
        shadow->bytes = part->bytes > shadow->bytes ? part->bytes : shadow->bytes;
    }
}

/* The snapshots behind the current one go; and the oldest, if there is no room for one more. */
static void drop(haft_history *history)
{
    while (history->next > history->current + 1) {
        forget_changes(history, --history->next);
    }
    if (history->next - history->oldest == history->keep) {
        forget_changes(history, history->oldest++);
        if (history->oldest < history->next) {
            forget_changes(history, history->oldest);
        }
    }
}

HAFT_INTERNAL haft_status history_take(haft_history *history, const struct shape *shape,
                                       const struct image *image, uint64_t *number)
{
    const bool is_alone = history->next == 0 || history->keep == 1;
    struct snapshot taken = {.changes = NULL};
    haft_status status = make_room(history, image);

    if (status == HAFT_OK && !is_alone) {
        status = exchange_with(history, image, &taken);
    }
    if (status != HAFT_OK) {
        if (history->next == 0) {
            close_shadow(history); /* the next table to come may be of another shape */
        }
        return status;
    }
    copy_rest(history, image, is_alone);
    if (history->next != 0) {
        drop(history);
    }
    memcpy(taken.numbers, image->numbers, sizeof taken.numbers);
    for (int i = 0; i < IMAGE_PARTS; i++) {
        taken.bytes[i] = image->parts[i].bytes;
    }
    history->shape = *shape;
    history->current = history->next++;
    taken.serial = ++history->taken;
    *snapshot_of(history, history->current) = taken;
    if (number != NULL) {
        *number = history->current;
    }
    return HAFT_OK;
}

/* --- going --- */

/* The changes of a snapshot and the shadow exchange their bytes. */
static void exchange(const haft_history *history, const struct snapshot *snapshot)
{
    uint64_t at = 0;

    for (int i = 0; i < IMAGE_PARTS; i++) {
        for (; at < snapshot->ends[i]; at++) {
            struct change *change = &snapshot->changes[at];
            char *block = history->shadow[i].memory.base + change->block * IMAGE_BLOCK;
            char bytes[IMAGE_BLOCK];

            memcpy(bytes, block, IMAGE_BLOCK);
            memcpy(block, change->bytes, IMAGE_BLOCK);
            memcpy(change->bytes, bytes, IMAGE_BLOCK);
        }
    }
}

HAFT_INTERNAL struct image history_go(haft_history *history, uint64_t number)
{
    struct image image;

    while (history->current > number) {
        exchange(history, snapshot_of(history, history->current--));
    }
    while (history->current < number) {
        exchange(history, snapshot_of(history, ++history->current));
    }
    const struct snapshot *snapshot = snapshot_of(history, number);

    memcpy(image.numbers, snapshot->numbers, sizeof image.numbers);
    for (int i = 0; i < IMAGE_PARTS; i++) {
        image.parts[i] =
            (struct image_part){.at = history->shadow[i].memory.base, .bytes = snapshot->bytes[i]};
    }
    return image;
}

/* lib/slots/id.c */

/* Text forms of ids. */

int haft_id_format(haft_layout layout, haft_id id, char *text, size_t size)
{
    const unsigned width = (unsigned)layout.index_bits + layout.generation_bits + layout.tag_bits;
    const uint64_t above = id.bits & ~haft_field_max(width);
    char tag[24] = "";
    char rest[24] = "";

    if (haft_id_is_nil(id)) {
        return snprintf(text, size, "nil");
    }
    if (layout.tag_bits != 0) {
        snprintf(tag, sizeof tag, "t%" PRIu64, haft_id_tag(layout, id));
    }
    if (above != 0) {
        snprintf(rest, sizeof rest, "+0x%" PRIx64, above);
    }
    return snprintf(text, size, "%" PRIu32 "v%" PRIu64 "%s%s", haft_id_index(layout, id),
                    haft_id_generation(layout, id), tag, rest);
}

/* The decimal number at `*text`, which then points behind it; false if none or beyond `max`. */
static bool parse_field(const char **text, uint64_t max, uint64_t *value)
{
    const char *at = *text;

    for (*value = 0; *at >= '0' && *at <= '9'; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');

        if (digit > max || *value > (max - digit) / 10) {
            return false;
        }
        *value = *value * 10 + digit;
    }
    if (at == *text) {
        return false;
    }
    *text = at;
    return true;
}

/* The lower-case hexadecimal number behind "+0x" that is all of the text, or 0 if there is none. */
static bool parse_above(const char *at, uint64_t *value)
{
    *value = 0;
    if (*at == '\0') {
        return true;
    }
    if (at[0] != '+' || at[1] != '0' || at[2] != 'x' || at[3] == '\0') {
        return false;
    }
    for (at += 3; *at != '\0'; at++) {
        const bool decimal = *at >= '0' && *at <= '9';

        if ((!decimal && (*at < 'a' || *at > 'f')) || *value >> 60 != 0) {
            return false;
        }
        *value = *value << 4 | (uint64_t)(decimal ? *at - '0' : *at - 'a' + 10);
    }
    return true;
}

/* The fields as `text` has them; how they are written is looked at later. */
static bool parse_fields(haft_layout layout, const char *text, haft_id *id)
{
    uint64_t index = 0;
    uint64_t generation = 0;
    uint64_t tag = 0;
    uint64_t above = 0;

    if (!parse_field(&text, haft_field_max(layout.index_bits), &index) || *text++ != 'v' ||
        !parse_field(&text, haft_field_max(layout.generation_bits), &generation)) {
        return false;
    }
    if (layout.tag_bits != 0 &&
        (*text++ != 't' || !parse_field(&text, haft_field_max(layout.tag_bits), &tag))) {
        return false;
    }
    if (!parse_above(text, &above)) {
        return false;
    }
    id->bits = haft_id_pack(layout, index, generation, tag).bits | above;
    return true;
}

bool haft_id_parse(haft_layout layout, const char *text, haft_id *id)
{
    haft_id parsed = HAFT_NIL;
    char again[HAFT_ID_TEXT_SIZE];

    if (strcmp(text, "nil") != 0 && !parse_fields(layout, text, &parsed)) {
        return false;
    }
    /* One way to write each id: no leading zeros, no bits of a field above the layout. */
    haft_id_format(layout, parsed, again, sizeof again);
    if (strcmp(text, again) != 0) {
        return false;
    }
    *id = parsed;
    return true;
}

/* lib/slots/image.c */

/* Images of tables: memory that is mostly equal already. */

HAFT_INTERNAL void image_put(char *to, const char *from, uint64_t bytes)
{
    uint64_t at = 0;

    for (; at + IMAGE_BLOCK <= bytes; at += IMAGE_BLOCK) {
        if (image_differs(to + at, from + at)) {
            memcpy(to + at, from + at, IMAGE_BLOCK);
        }
    }
    if (at < bytes) {
        memcpy(to + at, from + at, (size_t)(bytes - at));
    }
}

HAFT_INTERNAL void image_clear(char *at, uint64_t bytes)
{
    static const uint64_t zeros[IMAGE_BLOCK / sizeof(uint64_t)];

    for (; bytes >= IMAGE_BLOCK; bytes -= IMAGE_BLOCK, at += IMAGE_BLOCK) {
        image_put(at, (const char *)zeros, IMAGE_BLOCK);
    }
    if (bytes != 0) {
        memset(at, 0, (size_t)bytes);
    }
}

/*
 * lib/slots/image_file.h - the file of a table's image: its head, the words of its slots, and its
 * objects.
 *
 *   head   1, the shape's numbers, bytes of an object, bytes of the body, the image's numbers
 *   body   what the kind of table says
 */

/* A table that is loaded or saved. */
struct image_file {
    haft_file *file;
    const haft_allocator *heap;
    uint64_t object_size;  /* in memory */
    uint64_t object_bytes; /* in the file */
    void *converted;       /* an object as it is in the file; NULL: nothing is converted */
    void *object;          /* while it is read: as it will be in memory, aligned as any may be */
    struct saved *saved;   /* too large for the stack */
};

/*
 * Look at the file's options, and have room for a block of the file and for objects to be converted
 * in: HAFT_OK, HAFT_UNKNOWN_OPTION or HAFT_NO_MEMORY.  image_file_close() ends what is HAFT_OK.
 */
HAFT_INTERNAL
haft_status image_file_open(struct image_file *image_file, haft_file *file, uint64_t object_size,
                            const haft_allocator *heap);
HAFT_INTERNAL void image_file_close(struct image_file *image_file);

/* Write the head.  HAFT_OK or HAFT_NO_FILE. */
HAFT_INTERNAL
haft_status image_file_begin_write(struct image_file *image_file, const struct shape *shape,
                                   const uint64_t *numbers, uint64_t body);

/*
 * Read the head of a file for a table of that shape, whose numbers have these names.  HAFT_OK, the
 * image's numbers and the bytes of the body; HAFT_DAMAGED, HAFT_OTHER_TABLE.
 */
HAFT_INTERNAL
haft_status image_file_read_head(struct image_file *image_file, const struct shape *shape,
                                 const char *const *names, uint64_t *numbers, uint64_t *body);

/* The image's number is wrong: HAFT_DAMAGED. */
HAFT_INTERNAL
haft_status image_file_wrong_number(const struct image_file *image_file, uint64_t number,
                                    const char *name);

/* Write and read an object, as haft_file says. */
HAFT_INTERNAL
haft_status image_file_write_object(struct image_file *image_file, const void *object);
HAFT_INTERNAL haft_status image_file_read_object(struct image_file *image_file, void *object);

/* --- slots: their words, from the first index on --- */

/* What words are there, and where. */
struct image_slots {
    const struct word_format *format;
    char *base; /* of slot 0's word */
    uint64_t stride;
    uint64_t end;      /* one more than the highest index */
    uint64_t at;       /* the byte of the body where the first word stands */
    bool may_be_fresh; /* words may be 0 */
    uint64_t live, exhausted, fresh, free;
    uint64_t tail; /* the last free slot */
};

static inline uint64_t *image_word(const struct image_slots *slots, uint64_t index)
{
    return (uint64_t *)(void *)(slots->base + index * slots->stride);
}

HAFT_INTERNAL
haft_status image_file_write_words(struct image_file *image_file, const struct image_slots *slots);

/* Read the words, each of which is right as far as it tells, and count them. */
HAFT_INTERNAL
haft_status image_file_read_words(struct image_file *image_file, struct image_slots *slots);

/* The list from `head` on has each free slot once; `number` of the image is the head. */
HAFT_INTERNAL
haft_status image_file_check_list(const struct image_file *image_file, struct image_slots *slots,
                                  uint64_t head, uint64_t number, const char *name);

/* A word is wrong: HAFT_DAMAGED. */
HAFT_INTERNAL haft_status image_file_wrong_word(const struct image_file *image_file,
                                                const struct image_slots *slots, uint64_t index);

/* Whether `word` is the first generation, or a floor: a generation and the tag alone. */
HAFT_INTERNAL bool image_is_beginning(const struct word_format *format, uint64_t word);

/* lib/slots/image_file.c */

/* Images of tables in files. */

/* Places of numbers in the head. */
enum { VERSION, SHAPE, OBJECT_BYTES = SHAPE + SHAPE_NUMBERS, BODY, NUMBERS };

#define THIS_VERSION 1

_Static_assert(NUMBERS + IMAGE_NUMBERS == SAVED_HEAD_NUMBERS, "a head has room for the numbers");

/* Whole multiples of any object's alignment; at least one, so that no memory is NULL. */
static size_t round_up_size(uint64_t size)
{
    return (size_t)(size / MAX_ALIGNMENT + 1) * MAX_ALIGNMENT;
}

static size_t block_size(const struct image_file *image_file)
{
    return round_up_size(image_file->object_bytes) + round_up_size(image_file->object_size);
}

/* Room for an object as it is in the file, and for one behind it as it will be in memory. */
static haft_status make_objects(struct image_file *image_file)
{
    char *block = NULL;

    if (image_file->object_bytes <= SIZE_MAX / 2) {
        block = heap_take(image_file->heap, block_size(image_file), MAX_ALIGNMENT);
        image_file->object = block != NULL ? block + round_up_size(image_file->object_bytes) : NULL;
    }
    image_file->converted = block;
    return block != NULL ? HAFT_OK : HAFT_NO_MEMORY;
}

HAFT_INTERNAL
haft_status image_file_open(struct image_file *image_file, haft_file *file, uint64_t object_size,
                            const haft_allocator *heap)
{
    *image_file = (struct image_file){
        .file = file,
        .heap = heap,
        .object_size = object_size,
        .object_bytes = file->convert != NULL ? file->converted_size : object_size,
    };
    if (file->reserved[0] != 0 || file->reserved[1] != 0) {
        return HAFT_UNKNOWN_OPTION;
    }
    image_file->saved = heap_take(heap, sizeof *image_file->saved, _Alignof(struct saved));
    haft_status status = image_file->saved != NULL ? HAFT_OK : HAFT_NO_MEMORY;

    if (status == HAFT_OK && file->convert != NULL) {
        status = make_objects(image_file);
    }
    if (status != HAFT_OK) {
        heap_give(heap, image_file->saved, sizeof *image_file->saved);
    }
    return status;
}

HAFT_INTERNAL void image_file_close(struct image_file *image_file)
{
    heap_give(image_file->heap, image_file->converted, block_size(image_file));
    heap_give(image_file->heap, image_file->saved, sizeof *image_file->saved);
}

/* --- head --- */

HAFT_INTERNAL
haft_status image_file_begin_write(struct image_file *image_file, const struct shape *shape,
                                   const uint64_t *numbers, uint64_t body)
{
    struct saved_head head = {
        .numbers =
            {
                [VERSION] = THIS_VERSION,
                [OBJECT_BYTES] = image_file->object_bytes,
                [BODY] = body,
            },
    };

    memcpy(&head.numbers[SHAPE], shape->numbers, sizeof shape->numbers);
    memcpy(&head.numbers[NUMBERS], numbers, IMAGE_NUMBERS * sizeof numbers[0]);
    return saved_begin_write(image_file->saved, image_file->file, &head, body);
}

static haft_status other_table(const struct image_file *image_file, uint64_t number,
                               const char *name)
{
    return saved_fault(image_file->file, HAFT_OTHER_TABLE, saved_offset_of_number(number), name);
}

HAFT_INTERNAL
haft_status image_file_read_head(struct image_file *image_file, const struct shape *shape,
                                 const char *const *names, uint64_t *numbers, uint64_t *body)
{
    struct saved_head head;
    const haft_status status = saved_read_head(image_file->file, &head);

    if (status != HAFT_OK) {
        return status;
    }
    if (head.numbers[VERSION] != THIS_VERSION) {
        return other_table(image_file, VERSION, "version of the file");
    }
    for (uint64_t i = 0; i < SHAPE_NUMBERS; i++) {
        if (head.numbers[SHAPE + i] != shape->numbers[i]) {
            return other_table(image_file, SHAPE + i,
                               names[i] != NULL ? names[i] : "number that must be 0");
        }
    }
    if (head.numbers[OBJECT_BYTES] != image_file->object_bytes) {
        return other_table(image_file, OBJECT_BYTES, "bytes of an object in the file");
    }
    memcpy(numbers, &head.numbers[NUMBERS], IMAGE_NUMBERS * sizeof numbers[0]);
    *body = head.numbers[BODY];
    return HAFT_OK;
}

HAFT_INTERNAL
haft_status image_file_wrong_number(const struct image_file *image_file, uint64_t number,
                                    const char *name)
{
    return saved_fault(image_file->file, HAFT_DAMAGED, saved_offset_of_number(NUMBERS + number),
                       name);
}

/* --- objects --- */

HAFT_INTERNAL haft_status image_file_write_object(struct image_file *image_file, const void *object)
{
    const haft_file *file = image_file->file;

    if (image_file->converted == NULL) {
        return saved_write(image_file->saved, object, image_file->object_bytes);
    }
    file->convert(image_file->converted, object, file->convert_arg);
    return saved_write(image_file->saved, image_file->converted, image_file->object_bytes);
}

HAFT_INTERNAL haft_status image_file_read_object(struct image_file *image_file, void *object)
{
    const haft_file *file = image_file->file;
    void *to = image_file->converted != NULL ? image_file->converted : object;
    const haft_status status =
        saved_read(image_file->saved, to, image_file->object_bytes, "an object");

    if (status == HAFT_OK && image_file->converted != NULL) {
        memset(image_file->object, 0, (size_t)image_file->object_size);
        file->convert(image_file->object, image_file->converted, file->convert_arg);
        memcpy(object, image_file->object, (size_t)image_file->object_size);
    }
    return status;
}

/* --- words --- */

HAFT_INTERNAL
haft_status image_file_write_words(struct image_file *image_file, const struct image_slots *slots)
{
    haft_status status = HAFT_OK;

    for (uint64_t index = HAFT_FIRST_INDEX; index < slots->end && status == HAFT_OK; index++) {
        status = saved_write_number(image_file->saved, *image_word(slots, index));
    }
    return status;
}

HAFT_INTERNAL haft_status image_file_wrong_word(const struct image_file *image_file,
                                                const struct image_slots *slots, uint64_t index)
{
    const uint64_t byte = slots->at + (index - HAFT_FIRST_INDEX) * sizeof(uint64_t);

    return saved_fault(image_file->file, HAFT_DAMAGED, saved_offset_of_byte(byte), "a slot's word");
}

HAFT_INTERNAL bool image_is_beginning(const struct word_format *format, uint64_t word)
{
    return (word & ~format->generation_mask) == format->tag && word_generation(format, word) != 0;
}

/* Whether the word may stand in slot `index`, where it is counted. */
static bool count_word(struct image_slots *slots, uint64_t index, uint64_t word)
{
    const struct word_format *format = slots->format;
    const uint64_t field = word_index(format, word);
    const bool has_generation = image_is_beginning(format, word_with_index(format, word, 0));

    if (word == 0) {
        slots->fresh++;
        return slots->may_be_fresh;
    }
    if (field == index) {
        slots->live++;
        return has_generation;
    }
    if (field == MARK_EXHAUSTED) {
        slots->exhausted++;
        return word == (format->tag | MARK_EXHAUSTED);
    }
    slots->free++;
    return has_generation &&
           (field == MARK_END || (field >= HAFT_FIRST_INDEX && field < slots->end));
}

HAFT_INTERNAL
haft_status image_file_read_words(struct image_file *image_file, struct image_slots *slots)
{
    for (uint64_t index = HAFT_FIRST_INDEX; index < slots->end; index++) {
        uint64_t word;
        const haft_status status = saved_read_number(image_file->saved, &word, "a slot's word");

        if (status != HAFT_OK) {
            return status;
        }
        if (!count_word(slots, index, word)) {
            return image_file_wrong_word(image_file, slots, index);
        }
        *image_word(slots, index) = word;
    }
    return HAFT_OK;
}

/* Whether the slot may be in the list. */
static bool is_listed(const struct image_slots *slots, uint64_t index)
{
    if (index < HAFT_FIRST_INDEX || index >= slots->end) {
        return false;
    }
    const uint64_t word = *image_word(slots, index);
    const uint64_t field = word_index(slots->format, word);

    return word != 0 && field != index && field != MARK_EXHAUSTED;
}

HAFT_INTERNAL
haft_status image_file_check_list(const struct image_file *image_file, struct image_slots *slots,
                                  uint64_t head, uint64_t number, const char *name)
{
    uint64_t met = 0;

    slots->tail = MARK_END;
    for (uint64_t at = head; at != MARK_END || met != slots->free;) {
        /* A circle meets more slots than there are. */
        if (met == slots->free || !is_listed(slots, at)) {
            return slots->tail == MARK_END ? image_file_wrong_number(image_file, number, name)
                                           : image_file_wrong_word(image_file, slots, slots->tail);
        }
        met++;
        slots->tail = at;
        at = word_index(slots->format, *image_word(slots, at));
    }
    return HAFT_OK;
}

/*
 * lib/slots/leaks.h - objects that are live when their table closes.
 */

/* Tell of the objects that are live below `end`, if sites are kept, in a table that is closed. */
HAFT_INTERNAL void leaks_report(const struct slots *slots, const char *table, uint64_t end);

/* lib/slots/leaks.c */

/*
 * Leaks, by the site where their objects were allocated.
 *
 * Edges in this file.
 *   HINT   a site that is read too early or too late makes a line of text say less
 *   OWN    the table is being closed: no other thread uses it
 */

#define GROUPS 256    /* sites of leaks that are told apart, */
#define FEW_GROUPS 16 /* and where memory for them is refused */

int haft_leak_format(const haft_leak *leak, char *text, size_t size)
{
    struct text line = text_in(text, size);
    char id[HAFT_ID_TEXT_SIZE];

    haft_id_format(leak->layout, leak->first, id, sizeof id);
    text_add(&line, "%s: ", leak->table);
    text_add_counted(&line, leak->count, "object");
    text_add(&line, " %s live at closing, allocated ", leak->count == 1 ? "is" : "are");
    text_add(&line, leak->site == NULL ? "" : "at ");
    site_tell(&line, leak->site);
    text_add(&line, leak->count == 1 ? ": %s" : ", such as %s", id);
    return text_length(&line);
}

static void print_leak(const haft_leak *leak, void *arg)
{
    char text[512]; /* a longer name cuts the text */

    (void)arg;
    haft_leak_format(leak, text, sizeof text);
    os_print(text);
}

struct groups {
    haft_leak *leaks; /* the last one is for all sites beyond */
    size_t most;
    size_t count;
};

static haft_leak *group_of(struct groups *groups, const void *site)
{
    for (size_t i = 0; i < groups->count; i++) {
        if (groups->leaks[i].site == site) {
            return &groups->leaks[i];
        }
    }
    if (groups->count == groups->most - 1) {
        return &groups->leaks[groups->most - 1];
    }
    groups->leaks[groups->count].site = site;
    return &groups->leaks[groups->count++];
}

static const void *born_at(const struct slots *slots, uint64_t index)
{
    return (const void *)(uintptr_t)load_relaxed(HINT, &slots->sites.records[index].born);
}

static void gather(struct groups *groups, const struct slots *slots, uint64_t end)
{
    for (uint64_t index = HAFT_FIRST_INDEX; index < end; index++) {
        const haft_id id = {load_relaxed(OWN, slots_word(slots, index))};

        if (word_index(&slots->format, id.bits) == index) {
            haft_leak *leak = group_of(groups, born_at(slots, index));

            leak->first = leak->count++ == 0 ? id : leak->first;
        }
    }
}

static int more_first(const void *a, const void *b)
{
    const haft_leak *left = a;
    const haft_leak *right = b;

    return (left->count < right->count) - (left->count > right->count);
}

static void report_groups(struct groups *groups, const struct slots *slots, const char *table,
                          uint64_t end)
{
    haft_on_leak *on_leak = slots->common.on_leak != NULL ? slots->common.on_leak : print_leak;
    const int cancel = os_cancel_off();

    gather(groups, slots, end);
    qsort(groups->leaks, groups->most, sizeof groups->leaks[0], more_first);
    for (size_t i = 0; i < groups->most && groups->leaks[i].count != 0; i++) {
        groups->leaks[i].table = table;
        groups->leaks[i].layout = slots->format.layout;
        on_leak(&groups->leaks[i], slots->common.leak_arg);
    }
    os_cancel_restore(cancel);
}

/* More groups than a thread's stack should bear. */
HAFT_INTERNAL void leaks_report(const struct slots *slots, const char *table, uint64_t end)
{
    const size_t size = GROUPS * sizeof(haft_leak);
    haft_leak few[FEW_GROUPS] = {{.count = 0}};

    if (slots->sites.records == NULL) {
        return;
    }
    haft_leak *many = heap_take_zero(&slots->heap, size, _Alignof(haft_leak));
    struct groups groups = {many, GROUPS, 0};

    if (many == NULL) {
        groups = (struct groups){few, FEW_GROUPS, 0};
    }
    report_groups(&groups, slots, table, end);
    heap_give(&slots->heap, many, size);
}

/* lib/slots/options.c */

/* The options that all tables have in common. */

#define MAX_OBJECT_SIZE (UINT64_C(1) << 30)

static bool layout_is_zero(haft_layout layout)
{
    return layout.index_bits == 0 && layout.generation_bits == 0 && layout.tag_bits == 0 &&
           layout.reserved == 0;
}

/* A type's size is a multiple of its alignment. */
HAFT_INTERNAL size_t options_usual_alignment(size_t object_size)
{
    const size_t word = sizeof(uint64_t);
    const size_t most = _Alignof(max_align_t) > word ? _Alignof(max_align_t) : word;
    size_t alignment = word;

    while (object_size != 0 && alignment < most && object_size % (2 * alignment) == 0) {
        alignment *= 2;
    }
    return alignment;
}

static void fill_in_defaults(struct common_options *options, enum options_shape shape)
{
    if (layout_is_zero(options->layout)) {
        options->layout = HAFT_LAYOUT_32_32;
    }
    if (options->object_alignment == 0) {
        options->object_alignment =
            shape == PACKED ? 1 : options_usual_alignment(options->object_size);
    }
}

static haft_status check_object(const struct common_options *options, enum options_shape shape)
{
    const size_t size = options->object_size;
    const size_t alignment = options->object_alignment;

    if (size > MAX_OBJECT_SIZE || (shape == PACKED && size == 0)) {
        return HAFT_BAD_OBJECT_SIZE;
    }
    if ((alignment & (alignment - 1)) != 0 || alignment > MAX_ALIGNMENT ||
        (shape == PACKED && size % alignment != 0)) {
        return HAFT_BAD_OBJECT_ALIGNMENT;
    }
    return HAFT_OK;
}

static haft_status check_ids(const struct common_options *options)
{
    if (options->tag > haft_field_max(options->layout.tag_bits)) {
        return HAFT_BAD_TAG;
    }
    if (options->first_generation > haft_field_max(options->layout.generation_bits) ||
        (options->first_generation != 0 && options->random_first_generation)) {
        return HAFT_BAD_FIRST_GENERATION;
    }
    return HAFT_OK;
}

/* Options of a later version, in the place that is reserved for them. */
static haft_status check_reserved(const struct common_options *options)
{
    for (size_t i = 0; i < sizeof options->reserved / sizeof options->reserved[0]; i++) {
        if (options->reserved[i] != 0) {
            return HAFT_UNKNOWN_OPTION;
        }
    }
    return HAFT_OK;
}

static haft_status check_common(const struct common_options *options, enum options_shape shape,
                                uint64_t most)
{
    haft_status status = check_reserved(options);

    if (shape == PACKED && (options->memory != NULL || options->memory_size != 0)) {
        status = HAFT_UNKNOWN_OPTION;
    }

    if (status == HAFT_OK && (options->capacity < 1 || options->capacity > most)) {
        status = HAFT_BAD_CAPACITY;
    }
    if (status == HAFT_OK) {
        status = check_object(options, shape);
    }
    if (status == HAFT_OK) {
        status = check_ids(options);
    }
    return status;
}

HAFT_INTERNAL haft_status options_check(const void *table_options, enum options_shape shape,
                                        struct common_options *common, uint64_t *most)
{
    memcpy(common, table_options, sizeof *common);
    fill_in_defaults(common, shape);
    if (!haft_layout_is_valid(common->layout)) {
        return HAFT_BAD_LAYOUT;
    }
    *most = haft_field_max(common->layout.index_bits) + 1 - HAFT_FIRST_INDEX;
    return check_common(common, shape, *most);
}

/*
 * A first generation from the lower half: so ids of another table, or of the program's last run,
 * seldom match, and each slot has half of its lives left at least.
 */
static uint64_t random_generation(haft_layout layout)
{
    const uint64_t half = (haft_field_max(layout.generation_bits) + 1) / 2;
    uint64_t bits = 0;

    /* Where the system refuses (a filter of system calls), addresses and the time have to do. */
    if (!os_random(&bits)) {
        bits = ((uint64_t)(uintptr_t)&bits ^ os_now_ns()) * UINT64_C(0x9E3779B97F4A7C15);
        bits ^= bits >> 32;
    }
    return 1 + bits % half;
}

HAFT_INTERNAL uint64_t options_first_generation(const struct common_options *options)
{
    if (options->random_first_generation) {
        return random_generation(options->layout);
    }
    return options->first_generation != 0 ? options->first_generation : 1;
}

/*
 * lib/slots/release.h - releasing the memory of slots to the system.
 */

/*
 * Release the whole pages of run `run` and those after it, below run `end`, and make all their
 * slots fresh, to begin at the floors that the records say.  No thread may use any of them.
 * Returns the bytes released: 0 if the system refused.
 */
HAFT_INTERNAL uint64_t slots_release(struct slots *slots, uint64_t run, uint64_t end);

/* lib/slots/release.c */

/*
 * Releasing page runs.
 *
 * Edges in this file.
 *   OWN   the thread that releases a run owns all its slots; resolve reads their words as atomics
 */

static uintptr_t word_address(const struct slots *slots, uint64_t index)
{
    return (uintptr_t)(slots->view.base + index * slots->view.stride);
}

/* Clear the words from slot `first` on, as far as they lie below the address `stop`. */
static uint64_t clear_until(const struct slots *slots, uint64_t first, uint64_t end, uintptr_t stop)
{
    while (first < end && word_address(slots, first) < stop) {
        store_relaxed(OWN, slots_word(slots, first++), 0);
    }
    return first;
}

HAFT_INTERNAL uint64_t slots_release(struct slots *slots, uint64_t run, uint64_t beyond)
{
    const uint64_t first = runs_first(&slots->runs, run);
    const uint64_t end = runs_first(&slots->runs, beyond);
    const uintptr_t page = os_page_size();
    const uintptr_t begin = (word_address(slots, first) + page - 1) / page * page;
    uintptr_t stop = word_address(slots, end) / page * page;

    /* Memory that is locked stays; then all words are cleared below. */
    if (stop <= begin || !os_discard((char *)begin, stop - begin)) {
        stop = begin;
    }
    uint64_t index = clear_until(slots, first, end, begin);

    /* The words in between are gone: go on with the first one behind them. */
    if (stop > begin) {
        index += (stop - word_address(slots, index) + slots->view.stride - 1) / slots->view.stride;
    }
    clear_until(slots, index, end, UINTPTR_MAX);
    return stop - begin;
}

/* lib/slots/runs.c */

/* Page runs: their records. */

#define RUN_PAGE UINT64_C(4096) /* the smallest of any system, so that runs are alike on all */
#define COARSE_PAGES 16         /* in a run that cannot end with a page: one page or two are lost */

/*
 * The smallest runs that begin and end with a page, if they are not too large.  Where the system's
 * pages are larger, only stretches of runs hold whole ones.
 */
HAFT_INTERNAL void runs_setup(struct runs *runs, uint64_t slots, uint64_t stride, bool is_biased)
{
    unsigned shift = 0;

    while ((is_biased || (stride << shift) % RUN_PAGE != 0) &&
           stride << shift < COARSE_PAGES * RUN_PAGE) {
        shift++;
    }
    runs->shift = shift;
    runs->count = ((slots - 1) >> shift) + 1;
    runs->first = RUN_LAST;
    runs->records = NULL;
    runs->stay = false;
}

HAFT_INTERNAL void runs_close(struct runs *runs)
{
    if (runs->records != NULL) {
        reservation_close(&runs->memory);
    }
}

HAFT_INTERNAL haft_status runs_reserve(struct runs *runs)
{
    if (runs->records == NULL && !runs->stay) {
        const haft_status status =
            reservation_open(&runs->memory, runs->count * sizeof *runs->records);

        if (status != HAFT_OK) {
            return status;
        }
        runs->records = (struct run *)(void *)runs->memory.base;
    }
    return HAFT_OK;
}

HAFT_INTERNAL haft_status runs_prepare(struct runs *runs, uint64_t end)
{
    const haft_status status = runs_reserve(runs);

    assert(!runs->stay);
    if (status != HAFT_OK) {
        return status;
    }
    return reservation_commit(&runs->memory, (runs_of(runs, end - 1) + 1) * sizeof *runs->records);
}

HAFT_INTERNAL uint64_t runs_first(const struct runs *runs, uint64_t run)
{
    return run << runs->shift;
}

HAFT_INTERNAL uint64_t runs_end(const struct runs *runs, uint64_t run)
{
    return runs_first(runs, run + 1);
}

/*
 * lib/slots/side.h - the sides of a table: a list that its struct begins, and their entries.
 *
 * entry.word, beside slot.word of lib/slots/word.h:
 *
 *   0              no value
 *   g[RESERVED]    the value of that life is being set; in a local table, on_end runs for one
 *   id             there is a value for it
 *   0[RESERVED]    entry 0, for ever
 *
 * Local tables go from each of the first three to each.  Shared ones:
 *
 *          0, id of a former life, g[RESERVED] of a former life -> g[RESERVED]
 *                                             with CAS, by one thread in this life
 *          g[RESERVED] -> id                  by that thread                          (SIDE)
 *          id -> 0                            by the thread that recycles the slot
 *          g[RESERVED] -> 0                   in the child of a fork
 *
 * g[RESERVED] of a former life was left by a thread that ended in the middle.
 */

struct haft_side {
    haft_entries entries;
    const struct slots *slots; /* the table's */
    bool is_shared;            /* the table is */
    atomic_u64 used;           /* entries that are not below were never set */
    struct reservation memory;
    size_t value_size;
    haft_side_end *on_end;
    void *end_arg;
    void (*leave)(haft_side *side); /* out of the list */
    atomic_u64 *list;               /* where the address of the first one is */
    haft_side *next;
};

/* A side in no list, for haft_side_open() and its kin: `ids_repeat` if the table has wrap. */
HAFT_INTERNAL
haft_status side_open(const struct slots *slots, const haft_side_options *options, size_t size,
                      bool is_shared, bool ids_repeat, haft_side **side);

/* The list of a table's sides.  Of a shared table, under its lock. */
HAFT_INTERNAL void sides_add(atomic_u64 *list, haft_side *side);
HAFT_INTERNAL void sides_remove(haft_side *side);

/*
 * Slot `index` goes on with ids that it had before: its values end.  No thread holds such an id.
 * Of a local table at most one value ends in a call, since on_end may change the table and its
 * sides; returns whether one did.
 */
HAFT_INTERNAL bool sides_forget(const atomic_u64 *list, uint64_t index);

/* All ids are issued again: each value of a local table's sides ends. */
HAFT_INTERNAL void sides_forget_all(const atomic_u64 *list);

/* The process has one thread: values that others were setting are not there. */
HAFT_INTERNAL void sides_after_fork(const atomic_u64 *list);

/* lib/slots/side.c */

/*
 * Sides: values beside a table's objects.
 *
 * A former life of the slot is over when an id of this one is held: the grace period between the
 * two orders all uses of the entry, as it orders those of the object.  So the
 * compare-and-swap that takes the entry orders nothing: in each life one thread wins it.
 *
 * Edges in this file.
 *   SIDE     write_value (release) -> claim_shared, haft_side_for_each (acquire)   value before id
 *   OWN      one thread uses a local table; a list is under a lock; a slot is no other thread's
 *   RETRY    whether a thread takes the entry in this life: the compare-and-swap decides
 *   ONWARD   how far entries were set
 */

/* --- a side comes and goes --- */

static haft_status check_options(const haft_side_options *options, bool is_shared, bool ids_repeat)
{
    const struct common_options wanted = {
        .capacity = 1,
        .object_size = options->value_size,
        .object_alignment = options->value_alignment,
    };
    struct common_options common;
    uint64_t most;
    const haft_status status = options_check(&wanted, IN_SLOTS, &common, &most);

    if (status != HAFT_OK) {
        return status == HAFT_BAD_OBJECT_SIZE ? HAFT_BAD_VALUE_SIZE : HAFT_BAD_VALUE_ALIGNMENT;
    }
    if (is_shared && options->on_end != NULL) {
        return HAFT_BAD_ON_END;
    }
    return ids_repeat ? HAFT_BAD_WRAP : HAFT_OK;
}

/* Entries lie as slots do. */
static struct geometry geometry_for(const haft_side_options *options)
{
    const size_t alignment = options->value_alignment != 0
                                 ? options->value_alignment
                                 : options_usual_alignment(options->value_size);
    const struct slots_options wanted = {
        .common =
            {
                .capacity = 1,
                .object_size = options->value_size,
                .object_alignment = alignment,
            },
    };
    return geometry_of(&wanted);
}

static haft_status reserve_entries(haft_side *side, const haft_side_options *options)
{
    const struct geometry geometry = geometry_for(options);
    const uint64_t count = side->slots->view.mask + 1;
    haft_status status =
        reservation_open_array(&side->memory, geometry.bias + count * geometry.stride,
                               (size_t)geometry.alignment, &side->slots->heap);

    if (status != HAFT_OK) {
        return status;
    }
    side->entries.base = side->memory.base + geometry.bias;
    side->entries.mask = count - 1;
    side->entries.stride = geometry.stride;
    status = reservation_commit(&side->memory, geometry.bias + geometry.stride);
    if (status != HAFT_OK) {
        reservation_close_array(&side->memory, &side->slots->heap);
    }
    return status;
}

static atomic_u64 *entry_of(const haft_side *side, uint64_t index)
{
    return (atomic_u64 *)(void *)(side->entries.base + index * side->entries.stride);
}

static haft_status open_side(const struct slots *slots, const haft_side_options *options,
                             bool is_shared, haft_side **side)
{
    haft_side *opened = heap_take_zero(&slots->heap, sizeof *opened, _Alignof(haft_side));

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    opened->slots = slots;
    opened->is_shared = is_shared;
    opened->value_size = options->value_size;
    opened->on_end = options->on_end;
    opened->end_arg = options->end_arg;
    const haft_status status = reserve_entries(opened, options);

    if (status != HAFT_OK) {
        heap_give(&slots->heap, opened, sizeof *opened);
        return status;
    }
    store_relaxed(OWN, &opened->used, HAFT_FIRST_INDEX);
    store_relaxed(OWN, entry_of(opened, 0), MARK_RESERVED);
    *side = opened;
    return HAFT_OK;
}

HAFT_INTERNAL
haft_status side_open(const struct slots *slots, const haft_side_options *options, size_t size,
                      bool is_shared, bool ids_repeat, haft_side **side)
{
    haft_side_options known;
    haft_status status = sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? check_options(&known, is_shared, ids_repeat) : status;
    return status == HAFT_OK ? open_side(slots, &known, is_shared, side) : status;
}

/* NULL: there is none. */
static haft_side *sides_first(const atomic_u64 *list)
{
    return (haft_side *)(uintptr_t)load_relaxed(OWN, list);
}

HAFT_INTERNAL void sides_add(atomic_u64 *list, haft_side *side)
{
    side->list = list;
    side->next = sides_first(list);
    store_relaxed(OWN, list, (uintptr_t)side);
}

HAFT_INTERNAL void sides_remove(haft_side *side)
{
    haft_side *before = sides_first(side->list);

    if (before == side) {
        store_relaxed(OWN, side->list, (uintptr_t)side->next);
        return;
    }
    while (before->next != side) {
        before = before->next;
    }
    before->next = side->next;
}

haft_entries haft_side_entries(const haft_side *side)
{
    return side->entries;
}

/* --- values end --- */

/* The value of the entry, whose word is `word`, ends.  Meanwhile it cannot be set. */
static void end_value(const haft_side *side, atomic_u64 *entry, uint64_t word)
{
    if (side->on_end != NULL) {
        store_relaxed(OWN, entry, word_with_index(&side->slots->format, word, MARK_RESERVED));
        side->on_end(entry + 1, (haft_id){word}, side->end_arg);
    }
    store_relaxed(OWN, entry, 0);
}

/* The value of slot `index`, if it has one. */
static bool forget(const haft_side *side, uint64_t index)
{
    atomic_u64 *entry = entry_of(side, index);
    const uint64_t word = load_relaxed(OWN, entry);
    const bool has_value = (word & side->entries.mask) == index;

    if (has_value) {
        end_value(side, entry, word);
    }
    return has_value;
}

/* How many values there were; on_end may set others meanwhile. */
static uint64_t forget_all(const haft_side *side)
{
    uint64_t count = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index < load_relaxed(OWN, &side->used); index++) {
        count += forget(side, index);
    }
    return count;
}

HAFT_INTERNAL bool sides_forget(const atomic_u64 *list, uint64_t index)
{
    for (const haft_side *side = sides_first(list); side != NULL; side = side->next) {
        if (index >= load_relaxed(ONWARD, &side->used)) {
            continue;
        }
        if (side->is_shared) {
            store_relaxed(OWN, entry_of(side, index), 0); /* also of a thread that has ended */
        } else if (forget(side, index)) {
            return true;
        }
    }
    return false;
}

/* Again and again: in one side, on_end may have set values in another. */
HAFT_INTERNAL void sides_forget_all(const atomic_u64 *list)
{
    uint64_t ended;

    do {
        ended = 0;
        for (const haft_side *side = sides_first(list); side != NULL; side = side->next) {
            ended += forget_all(side);
        }
    } while (ended != 0);
}

void haft_side_close(haft_side *side)
{
    uint64_t ended = side->on_end != NULL ? forget_all(side) : 0;

    while (ended != 0) {
        ended = forget_all(side); /* what on_end has set */
    }
    side->leave(side);
    reservation_close_array(&side->memory, &side->slots->heap);
    heap_give(&side->slots->heap, side, sizeof *side);
}

/* Whether `id` is live or reserved. */
static bool is_held(const haft_side *side, haft_id id)
{
    const haft_status status = slots_diagnose(side->slots, id);

    return status == HAFT_OK || status == HAFT_RESERVED;
}

uint64_t haft_side_sweep(haft_side *side)
{
    uint64_t count = 0;

    assert(!side->is_shared && "values of a shared table are not removed");
    for (uint64_t index = HAFT_FIRST_INDEX;
         !side->is_shared && index < load_relaxed(OWN, &side->used); index++) {
        const haft_id id = {load_relaxed(OWN, entry_of(side, index))};

        if ((id.bits & side->entries.mask) == index && !is_held(side, id)) {
            end_value(side, entry_of(side, index), id.bits);
            count++;
        }
    }
    return count;
}

bool haft_side_remove(haft_side *side, haft_id id)
{
    atomic_u64 *entry = entry_of(side, id.bits & side->entries.mask);

    assert(!side->is_shared && "values of a shared table are not removed");
    if (side->is_shared || load_relaxed(OWN, entry) != id.bits) {
        return false;
    }
    end_value(side, entry, id.bits);
    return true;
}

static void forget_unfinished(const haft_side *side)
{
    const uint64_t end = load_relaxed(OWN, &side->used);

    for (uint64_t index = HAFT_FIRST_INDEX; index < end; index++) {
        atomic_u64 *entry = entry_of(side, index);
        const uint64_t word = load_relaxed(OWN, entry);

        if (word_index(&side->slots->format, word) == MARK_RESERVED) {
            store_relaxed(OWN, entry, 0);
        }
    }
}

HAFT_INTERNAL void sides_after_fork(const atomic_u64 *list)
{
    for (const haft_side *side = sides_first(list); side != NULL; side = side->next) {
        forget_unfinished(side);
    }
}

/* --- values are set --- */

static void raise_used(haft_side *side, uint64_t end)
{
    uint64_t before = load_relaxed(ONWARD, &side->used);

    while (before < end && !cas_relaxed(ONWARD, &side->used, before, end)) {
        before = load_relaxed(ONWARD, &side->used);
    }
}

/* The entry is this thread's, to be filled: HAFT_OK, or why not. */
static haft_status claim_shared(atomic_u64 *entry, haft_id id, uint64_t reserved)
{
    uint64_t word;

    do {
        /* Weakened, the place of a value would be returned before its bytes are there. */
        word = load_acquire(SIDE, entry);
        if (word == id.bits) {
            return HAFT_OCCUPIED;
        }
        if (word == reserved) {
            return HAFT_BUSY;
        }
    } while (!cas_relaxed(RETRY, entry, word, reserved));
    return HAFT_OK;
}

/* Whether a value may be set for `id`, as far as the table tells: one that threads share may have
 * freed it meanwhile. */
static haft_status check_id(const haft_side *side, haft_id id)
{
    if (side->is_shared) {
        return slots_check_chosen(side->slots, id, side->slots->limit);
    }
    return haft_is_live(side->slots->view, id) || is_held(side, id)
               ? HAFT_OK
               : slots_diagnose(side->slots, id);
}

static haft_status claim_local(const haft_side *side, atomic_u64 *entry, haft_id id)
{
    const uint64_t word = load_relaxed(OWN, entry);

    if (word == id.bits) {
        return HAFT_OCCUPIED;
    }
    if (word_index(&side->slots->format, word) == MARK_RESERVED) {
        return HAFT_BUSY;
    }
    if (word == 0) {
        return HAFT_OK;
    }
    end_value(side, entry, word);
    return check_id(side, id); /* on_end may have freed the object, or rewound the table */
}

/* Have memory for the entries below `end`. */
static haft_status make_entries(haft_side *side, uint64_t end)
{
    const uint64_t bias = (uint64_t)(side->entries.base - side->memory.base);
    haft_status status = HAFT_OK;

    /* Of a shared table each thread asks: it must see itself that the memory is writable. */
    if (side->is_shared || end > load_relaxed(ONWARD, &side->used)) {
        status = reservation_commit(&side->memory, bias + end * side->entries.stride);
    }
    if (status == HAFT_OK) {
        raise_used(side, end);
    }
    return status;
}

static haft_status claim(haft_side *side, atomic_u64 *entry, haft_id id)
{
    const struct word_format *format = &side->slots->format;
    const haft_status status = make_entries(side, word_index(format, id.bits) + 1);

    if (status != HAFT_OK) {
        return status;
    }
    return side->is_shared
               ? claim_shared(entry, id, word_with_index(format, id.bits, MARK_RESERVED))
               : claim_local(side, entry, id);
}

static void write_value(const haft_side *side, atomic_u64 *entry, haft_id id, const void *value)
{
    if (value == NULL) {
        memset(entry + 1, 0, side->value_size);
    } else {
        memcpy(entry + 1, value, side->value_size);
    }
    /* Weakened, a reader could match the id and read the value's bytes from before. */
    store_release(SIDE, entry, id.bits);
}

haft_status haft_side_set(haft_side *side, haft_id id, const void *value, void **place)
{
    atomic_u64 *entry = entry_of(side, id.bits & side->entries.mask);
    haft_status status = check_id(side, id);

    status = status == HAFT_OK ? claim(side, entry, id) : status;
    if (status == HAFT_OK) {
        write_value(side, entry, id, value);
    }
    if (place != NULL && (status == HAFT_OK || status == HAFT_OCCUPIED)) {
        *place = entry + 1;
    }
    return status;
}

/* --- looking --- */

uint64_t haft_side_for_each(haft_side *side,
                            bool (*visit)(haft_id id, void *object, void *value, void *arg),
                            void *arg)
{
    uint64_t calls = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index < load_relaxed(ONWARD, &side->used); index++) {
        atomic_u64 *entry = entry_of(side, index);
        /* Weakened, the visitor could read the value's bytes from before. */
        const haft_id id = {load_acquire(SIDE, entry)};
        void *object =
            (id.bits & side->entries.mask) == index ? haft_resolve(side->slots->view, id) : NULL;

        if (object == NULL) {
            continue;
        }
        calls++;
        if (!visit(id, object, entry + 1, arg)) {
            break;
        }
    }
    return calls;
}

/* lib/slots/sites.c */

/* Records of allocation sites. */

HAFT_INTERNAL haft_status sites_open(struct sites *sites, uint64_t slots, struct given *given)
{
    const uint64_t size = slots * sizeof sites->records[0];
    const haft_status status =
        given != NULL ? reservation_open_given(&sites->memory, size, sizeof(uint64_t), given)
                      : reservation_open(&sites->memory, size);

    if (status == HAFT_OK) {
        sites->records = (struct site *)(void *)sites->memory.base;
    }
    return status;
}

HAFT_INTERNAL void sites_close(struct sites *sites)
{
    if (sites->records != NULL) {
        reservation_close(&sites->memory);
    }
}

HAFT_INTERNAL haft_status sites_commit(struct sites *sites, uint64_t end)
{
    return sites->records == NULL
               ? HAFT_OK
               : reservation_commit(&sites->memory, end * sizeof sites->records[0]);
}

HAFT_INTERNAL haft_status sites_populate(const struct sites *sites, uint64_t first, uint64_t end)
{
    const uint64_t size = sizeof sites->records[0];

    return sites->records == NULL ? HAFT_OK
                                  : reservation_populate(&sites->memory, first * size, end * size);
}

HAFT_INTERNAL void sites_forget(const struct sites *sites, uint64_t first, uint64_t end)
{
    for (uint64_t index = first; sites->records != NULL && index < end; index++) {
        sites_note_birth(sites, index, NULL);
        sites_note_death(sites, index, NULL);
    }
}

/* lib/slots/sites_text.c */

/*
 * What a line of text says about an id, and about where its object was allocated and freed.
 *
 * Edges in this file.
 *   HINT   a site that is read too early or too late makes the line say less
 */

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

HAFT_INTERNAL void site_tell(struct text *text, const void *site)
{
    const uintptr_t address = (uintptr_t)site - 1; /* within the call that returns to `site` */
    struct os_symbol symbol;

    if (site == NULL) {
        text_add(text, "somewhere");
    } else if (!os_symbol_of(address, &symbol)) {
        text_add(text, "%#" PRIx64, (uint64_t)address);
    } else if (symbol.function == NULL) {
        text_add(text, "%s+%#" PRIx64, file_name(symbol.file), (uint64_t)symbol.file_offset);
    } else {
        text_add(text, "%s+%#" PRIx64 " (%s+%#" PRIx64 ")", symbol.function,
                 (uint64_t)symbol.function_offset, file_name(symbol.file),
                 (uint64_t)symbol.file_offset);
    }
}

int haft_site_format(const void *site, char *text, size_t size)
{
    struct text line = text_in(text, size);

    site_tell(&line, site);
    return text_length(&line);
}

static const void *site_of(const atomic_u64 *word)
{
    return (const void *)(uintptr_t)load_relaxed(HINT, word);
}

/* Whether the slot's last life that has ended is that of `id`; `word` is the slot's. */
static bool ended_last(const struct slots *slots, haft_id id, uint64_t word)
{
    const struct word_format *format = &slots->format;
    const uint64_t next = word_generation(format, word_next_life(format, id.bits, 0));
    const uint64_t now = word_generation(format, word);

    return now == next || (next == 0 && slots->wrapped && now == format->generation_one);
}

static void tell_dead(struct text *text, const struct slots *slots, haft_id id, uint64_t word)
{
    const uint64_t index = word_index(&slots->format, id.bits);
    const uint64_t field = word_index(&slots->format, word);
    const struct site *site = &slots->sites.records[index];
    const void *died = site_of(&site->died);
    const void *born = site_of(&site->born);

    if (word == 0) {
        text_add(text, "; its memory has been released since");
        return;
    }
    if (!ended_last(slots, id, word)) {
        text_add(text, "; its slot has been used since");
        return;
    }
    if (died != NULL) {
        text_add(text, ", at ");
        site_tell(text, died);
    }
    if (born != NULL && field != index && field != MARK_RESERVED) {
        text_add(text, "; allocated at ");
        site_tell(text, born);
    }
}

static void tell_here(struct text *text, const struct site *site, haft_status status)
{
    const void *born = site_of(&site->born);

    if (status == HAFT_DEAD) {
        text_add(text, ", at ");
        site_tell(text, site_of(&site->died));
    }
    if (born != NULL) {
        text_add(text, "; %s at ", status == HAFT_RESERVED ? "reserved" : "allocated");
        site_tell(text, born);
    }
}

/* What is known of an id with that status: "; freed at ..., allocated at ...". */
static void sites_tell(struct text *text, const struct slots *slots, haft_id id, haft_status status)
{
    const uint64_t index = word_index(&slots->format, id.bits);

    if (slots->sites.records == NULL) {
        return;
    }
    if (status == HAFT_STALE || status == HAFT_EXHAUSTED) {
        tell_dead(text, slots, id, load_relaxed(HINT, slots_word(slots, index)));
    } else if (status == HAFT_OK || status == HAFT_RESERVED || status == HAFT_DEAD) {
        tell_here(text, &slots->sites.records[index], status);
    }
}

HAFT_INTERNAL
int sites_describe(const struct slots *slots, const char *table, haft_id id, haft_status status,
                   char *line, size_t size)
{
    struct text text = text_in(line, size);
    char id_text[HAFT_ID_TEXT_SIZE];

    haft_id_format(slots->format.layout, id, id_text, sizeof id_text);
    text_add(&text, "%s: %s: %s (%s)", table, id_text,
             status == HAFT_OK ? "live" : haft_status_text(status), haft_status_name(status));
    sites_tell(&text, slots, id, status);
    return text_length(&text);
}

/* lib/slots/slots.c */

/*
 * Slots: options, and layout in memory.
 *
 * Edges in this file.
 *   OWN   before the table is handed to other threads
 */

/* No page run of so few bytes of slots is released: it would be worth less than the records. */
#define STAY_BYTES ((uint64_t)128 << 10)

/* Keep the options that a clone of the table is opened with. */
static void keep(struct slots *slots, const struct common_options *options)
{
    slots->common = *options;
    slots->common.name = NULL;
    slots->common.first_generation = options_first_generation(options);
    slots->common.random_first_generation = false;
    slots->common.memory = NULL;
    slots->common.memory_size = 0;
    slots->common.allocator = NULL; /* slots->heap is a copy */
    slots->format = word_format_of(options->layout, options->tag, slots->common.first_generation);
    slots->object_size = options->object_size;
    slots->sites.records = NULL;
    store_relaxed(OWN, &slots->recycled, 0);
}

static haft_status reserve_slots(struct slots *slots, const struct slots_options *options,
                                 const struct geometry *geometry)
{
    const uint64_t size = geometry->bias + geometry->count * geometry->stride;
    const haft_status status =
        options->given != NULL
            ? reservation_open_given(&slots->memory, size, geometry->alignment, options->given)
            : reservation_open_array(&slots->memory, size, (size_t)geometry->alignment,
                                     &slots->heap);

    if (status == HAFT_OK && options->huge_pages && reservation_is_paged(&slots->memory)) {
        reservation_ask_for_huge_pages(&slots->memory);
    }
    return status;
}

HAFT_INTERNAL haft_status slots_open(struct slots *slots, const struct slots_options *options)
{
    const struct geometry geometry = geometry_of(options);
    const uint64_t room = geometry.count - geometry.end;
    haft_status status = reserve_slots(slots, options, &geometry);

    if (status != HAFT_OK) {
        return status;
    }
    slots->view.base = slots->memory.base + geometry.bias;
    slots->view.mask = geometry.count - 1;
    slots->view.stride = geometry.stride;
    keep(slots, &options->common);
    slots->has_pins = options->pins;
    slots->huge_pages = options->huge_pages;
    slots->wrapped = options->wrapped;
    slots->limit = geometry.end + (options->extra < room ? options->extra : room);
    runs_setup(&slots->runs, geometry.count, geometry.stride, geometry.bias != 0);
    slots->runs.stay = !reservation_is_paged(&slots->memory) || slots->memory.size <= STAY_BYTES;
    status =
        options->common.sites ? sites_open(&slots->sites, geometry.count, options->given) : HAFT_OK;
    if (status == HAFT_OK) {
        status = slots_commit(slots, 1);
    }
    if (status != HAFT_OK) {
        slots_close(slots);
        return status;
    }
    store_relaxed(OWN, slots_word(slots, 0), MARK_RESERVED);
    return HAFT_OK;
}

HAFT_INTERNAL void slots_close(struct slots *slots)
{
    runs_close(&slots->runs);
    sites_close(&slots->sites);
    reservation_close_array(&slots->memory, &slots->heap);
}

/* From the start of the memory to slot `index`. */
static uint64_t bytes_to(const struct slots *slots, uint64_t index)
{
    return (uint64_t)(slots->view.base - slots->memory.base) + index * slots->view.stride;
}

HAFT_INTERNAL haft_status slots_commit(struct slots *slots, uint64_t end)
{
    const haft_status status = reservation_commit(&slots->memory, bytes_to(slots, end));

    return status == HAFT_OK ? sites_commit(&slots->sites, end) : status;
}

HAFT_INTERNAL uint64_t slots_bytes(const struct slots *slots, uint64_t used, uint64_t released)
{
    const bool is_paged = reservation_is_paged(&slots->memory);
    const uint64_t records = slots->runs.records != NULL ? runs_of(&slots->runs, used - 1) + 1 : 0;
    const uint64_t sites = slots->sites.records == NULL ? 0
                           : is_paged                   ? used
                                                        : slots->view.mask + 1;
    const uint64_t taken =
        is_paged ? bytes_to(slots, used - released) : slots->memory.size + slots->memory.more;

    return taken + records * sizeof(struct run) + sites * sizeof(struct site);
}

HAFT_INTERNAL haft_status slots_populate(const struct slots *slots, uint64_t first, uint64_t end)
{
    const haft_status status =
        reservation_populate(&slots->memory, bytes_to(slots, first), bytes_to(slots, end));

    return status == HAFT_OK ? sites_populate(&slots->sites, first, end) : status;
}

HAFT_INTERNAL haft_status slots_check_fields(const struct slots *slots, haft_id id, uint64_t end)
{
    return word_check_fields(&slots->format, id, end);
}

HAFT_INTERNAL haft_status slots_check_chosen(const struct slots *slots, haft_id id, uint64_t end)
{
    const haft_status status = slots_check_fields(slots, id, end);
    const bool is_ours = status == HAFT_OK || status == HAFT_OUT_OF_RANGE;

    return is_ours && word_generation(&slots->format, id.bits) == 0 ? HAFT_MALFORMED : status;
}

/* lib/slots/typed.c */

/* Whether tables and types fit each other. */

haft_status haft_type_complete(haft_type type, size_t *object_size, size_t *object_alignment,
                               bool *pins)
{
    if (*object_size != 0 && *object_size != type.size) {
        return HAFT_BAD_OBJECT_SIZE;
    }
    if (*object_alignment != 0 && *object_alignment != type.alignment) {
        return HAFT_BAD_OBJECT_ALIGNMENT;
    }
    if (*pins && !type.has_pins) {
        return HAFT_BAD_PINS;
    }
    *object_size = type.size;
    *object_alignment = type.alignment;
    *pins = type.has_pins;
    return HAFT_OK;
}

/* Whether objects that lie `stride` apart, one of them at `object`, are aligned for the type. */
static bool is_aligned(haft_type type, const void *object, uint64_t stride)
{
    return (uintptr_t)object % type.alignment == 0 && stride % type.alignment == 0;
}

haft_status haft_type_fits(haft_type type, haft_view view, size_t object_size, bool has_pins)
{
    return object_size == type.size && has_pins == type.has_pins && view.stride == type.slot_size &&
                   is_aligned(type, view.base + sizeof(uint64_t), view.stride)
               ? HAFT_OK
               : HAFT_WRONG_TYPE;
}

haft_status haft_type_fits_packed(haft_type type, haft_dense_view view)
{
    return view.object_size == type.size && is_aligned(type, view.objects, view.object_size)
               ? HAFT_OK
               : HAFT_WRONG_TYPE;
}

/* lib/slots/view.c */

/* Resolving many ids at once: haft_resolve() with the memory of later ids on its way. */

const uint64_t haft_no_slots[2] = {1, 0};

#define IDS_AHEAD 16 /* ids fetched ahead: about a memory latency's worth of resolves */

size_t haft_resolve_many(haft_view view, const haft_id *ids, void **objects, size_t count)
{
    const size_t fetched = count < IDS_AHEAD ? count : IDS_AHEAD;
    size_t live = 0;

    for (size_t i = 0; i < fetched; i++) {
        __builtin_prefetch((const void *)haft_slot_of(view, ids[i]));
    }
    for (size_t i = 0; i < count; i++) {
        if (i + IDS_AHEAD < count) {
            __builtin_prefetch((const void *)haft_slot_of(view, ids[i + IDS_AHEAD]));
        }
        objects[i] = haft_resolve(view, ids[i]);
        live += objects[i] != NULL;
    }
    return live;
}

/*
 * lib/local/state.h - the structs of the table of one thread.
 *
 * Where a slot is that may be taken: in the list of free slots, which runs through their words
 * (the index field of a free slot's word is the next free slot, END at the end); in a fresh run;
 * or at `used` and above, never used.
 *
 * A slot in between, whose destructor runs or whose table is being loaded, is in none of them.  One
 * whose destructor is due is in a list of those, also through the words.
 */

/* While it is loaded or closed, a table has no list of free slots: they only say END. */
enum local_mode { LOCAL_OPEN, LOCAL_LOADING, LOCAL_CLOSING };

struct haft_local {
    struct haft_local_front front; /* first: the list's head if it is in place, and the live */
    struct slots slots;

    bool is_fifo;
    bool wraps;
    enum local_mode mode;
    bool is_in_place;     /* the list begins in front.head: open, LIFO, nothing to be watched */
    uint32_t listed_head; /* the same for any other list; MARK_END: there is none */
    uint64_t queue_tail;
    uint64_t queue_count; /* slots in a list that is not in place */
    uint64_t min_free;    /* that many slots stay in the queue */

    uint64_t used;        /* one more than the highest index used so far */
    uint64_t fresh_at;    /* the fresh run in use: its next slot, */
    uint64_t fresh_end;   /* and the end */
    uint64_t fresh_slots; /* in all fresh runs, and left of the one in use */

    uint64_t capacity;
    bool is_crowded;    /* it is watched; or there may be more free slots than fit: so after it
                           was shared */
    bool in_callback;   /* on_destroy runs */
    bool is_given;      /* in the program's memory */
    uint64_t held;      /* slots reserved, or whose destructor runs or is due: */
    uint64_t retired;   /* these alone */
    uint64_t ending;    /* the first slot whose destructor is due; MARK_END: there is none */
    uint64_t exhausted; /* slots */
    haft_local_destroy *on_destroy;
    void *destroy_arg;
    const char *name; /* at the end of the block that begins with this struct */
    atomic_u64 sides; /* see lib/slots/side.h */
};

/* Whether `word` is that of a free slot `index`, in the list or fresh; or its destructor is due. */
static inline bool local_is_free(const haft_local *local, uint64_t index, uint64_t word)
{
    const uint64_t field = word_index(&local->slots.format, word);

    return field == MARK_END || (field >= HAFT_FIRST_INDEX && field != index);
}

/* The front's generation_mask, as it must be. */
static inline uint64_t local_mask_in_place(const haft_local *local)
{
    return local->is_in_place && local->on_destroy == NULL ? local->slots.format.generation_mask
                                                           : 0;
}

/* Whether each slot that comes or goes is to be looked at. */
static inline bool local_is_watched(const haft_local *local)
{
    return asan_is_on() || local->slots.sites.records != NULL;
}

/* See is_crowded; of the limit, the capacity and min_free. */
static inline bool local_crowds(const haft_local *local)
{
    return local_is_watched(local) ||
           local->slots.limit - HAFT_FIRST_INDEX - local->min_free > local->capacity;
}

/* Where the list begins. */
static inline uint32_t *local_head(haft_local *local)
{
    return local->is_in_place ? &local->front.head : &local->listed_head;
}

/* Objects that still fit. */
static inline uint64_t local_available(const haft_local *local)
{
    return local->capacity - local->front.count - local->held - local->exhausted;
}

/* Slots in the list: all used ones that are nowhere else. */
static inline uint64_t local_listed(const haft_local *local)
{
    return local->used - HAFT_FIRST_INDEX - local->front.count - local->held - local->exhausted -
           local->fresh_slots;
}

/*
 * lib/local/local.h - a table of one thread comes and goes; steps in an object's life that
 * insertion and restoring share.
 */

/*
 * A table of that name, all else zero, in given memory if that is not NULL, else in the heap; NULL:
 * no memory.  local_free() ends it.
 */
HAFT_INTERNAL
haft_local *local_new(const char *name, struct given *given, const haft_allocator *heap);

/*
 * Make an empty table at the start of `block`, which ends with `name`.  The bytes between are
 * poisoned.  The caller sets slots.heap, which the block is from unless is_given.
 */
HAFT_INTERNAL haft_local *local_make_in(void *block, bool is_given, const char *name);

/* Bytes from the struct to the end of its name. */
HAFT_INTERNAL size_t local_block_size(const haft_local *local);

/* NULL is allowed. */
HAFT_INTERNAL void local_free(haft_local *local);

/* The word after the life in `word`: its generation 0 if that was the last.  Index field END. */
HAFT_INTERNAL uint64_t local_next_life(const haft_local *local, uint64_t word);

/*
 * lib/local/local_list.h - the free slots of a table of one thread.
 */

/* Begin an empty list, of the kind that the mode and the options ask for. */
HAFT_INTERNAL void local_begin_list(haft_local *local);

/* A slot that is free and not on top of the stack: HAFT_OK, or why there is none. */
HAFT_INTERNAL haft_status local_take(haft_local *local, uint64_t *index);

/* Slot `index` is free, and begins its next life from `word`. */
HAFT_INTERNAL void local_push(haft_local *local, uint64_t index, uint64_t word);

/* Slot `index`, free wherever it is, is taken; its word says where its next life begins. */
HAFT_INTERNAL void local_claim(haft_local *local, uint64_t index);

/* Whether the destructor of slot `index` is due.  O(slots where one is). */
HAFT_INTERNAL bool local_is_ending(const haft_local *local, uint64_t index);

/* Take the slots out of the list that lie in runs that are RUN_CHOSEN. */
HAFT_INTERNAL void local_drop_chosen(haft_local *local);

/* Make the list anew, in order of index; runs that have no slot in use become fresh runs. */
HAFT_INTERNAL void local_rebuild(haft_local *local);

/*
 * lib/slots/object.h - the bytes of the object behind a slot's word: when they may be touched, and
 * how they are written.
 */

/* A free object's bytes may not be touched; a reserved one's may.  AddressSanitizer reports it. */
static inline void slots_poison(const struct slots *slots, const atomic_u64 *word)
{
    asan_poison(word + 1, (slots->object_size + ASAN_GRANULE - 1) / ASAN_GRANULE * ASAN_GRANULE);
}

static inline void slots_unpoison(const struct slots *slots, const atomic_u64 *word)
{
    asan_unpoison(word + 1, slots->object_size);
}

/* All objects below index `end`, of a table that closes, may be touched: the memory is reused. */
static inline void slots_unpoison_all(const struct slots *slots, uint64_t end)
{
    asan_unpoison(slots->view.base, (size_t)(end * slots->view.stride));
}

/* Copy an object into its slot; NULL stands for zeros. */
static inline void slots_fill(const struct slots *slots, void *object, const void *from)
{
    asan_unpoison(object, slots->object_size);
    if (from == NULL) {
        memset(object, 0, slots->object_size);
    } else {
        memcpy(object, from, slots->object_size);
    }
}

/* Whether objects are a few whole words: then calling memcpy costs more than the copy. */
static inline bool slots_has_words(const struct slots *slots)
{
    return slots->object_size <= 64 && slots->object_size % 8 == 0;
}

/* slots_fill() for such objects, without a call. */
static inline void object_copy_words(void *object, const void *from, size_t size)
{
    asan_unpoison(object, size);
    size_t at = size & 8;

    if (at != 0) {
        memcpy(object, from, 8);
    }
    for (; at < size; at += 16) {
        memcpy((char *)object + at, (const char *)from + at, 16);
    }
}

/* lib/local/local.c */

/*
 * haft_local: the table of one thread, its objects' lives.  Free slots are local_list.c's.
 *
 * Edges in this file.
 *   OWN   one thread uses the table; resolve reads the word as an atomic, so it is one here too
 */

OPTIONS_BEGIN_WITH_COMMON(haft_local_options);

/* The options of this kind of table alone; the capacity is at most `most`. */
static haft_status check(const haft_local_options *options, uint64_t most)
{
    if (options->reuse != HAFT_REUSE_LIFO && options->reuse != HAFT_REUSE_FIFO) {
        return HAFT_BAD_REUSE;
    }
    if (options->min_free != 0 &&
        (options->reuse != HAFT_REUSE_FIFO || options->min_free > most - options->capacity)) {
        return HAFT_BAD_MIN_FREE;
    }
    return HAFT_OK;
}

/* What slots are asked for, and the highest capacity; HAFT_OK, or why the options are wrong. */
static haft_status local_slots_wanted(const haft_local_options *options,
                                      struct slots_options *wanted, uint64_t *most)
{
    *wanted = (struct slots_options){
        .extra = options->min_free,
        .spare = options->will_share ? geometry_spare(options->capacity) : 0,
        .pins = options->pins,
        .huge_pages = options->huge_pages,
    };
    const haft_status status = options_check(options, IN_SLOTS, &wanted->common, most);

    return status == HAFT_OK ? check(options, *most) : status;
}

static void fill_in(haft_local *local, const haft_local_options *options)
{
    local->is_fifo = options->reuse == HAFT_REUSE_FIFO;
    local->wraps = options->wrap;
    local->min_free = options->min_free;
    local->used = HAFT_FIRST_INDEX;
    local->capacity = options->capacity;
    local->on_destroy = options->on_destroy;
    local->destroy_arg = options->destroy_arg;
    local->is_crowded = local_crowds(local);
    local_begin_list(local);
}

HAFT_INTERNAL
haft_local *local_new(const char *name, struct given *given, const haft_allocator *heap)
{
    const size_t size = size_with_name(sizeof(haft_local), name);
    char *block = given != NULL ? given_take(given, size, _Alignof(haft_local))
                                : heap_take(heap, size, _Alignof(haft_local));

    if (block == NULL) {
        return NULL;
    }
    memcpy(block + sizeof(haft_local), name, size - sizeof(haft_local));
    haft_local *local = local_make_in(block, given != NULL, block + sizeof(haft_local));

    local->slots.heap = *heap;
    return local;
}

HAFT_INTERNAL haft_local *local_make_in(void *block, bool is_given, const char *name)
{
    haft_local *local = memset(block, 0, sizeof(haft_local));

    local->is_given = is_given;
    local->name = name;
    asan_poison(local + 1, (size_t)(name - (char *)(local + 1)));
    return local;
}

HAFT_INTERNAL size_t local_block_size(const haft_local *local)
{
    return size_with_name((size_t)(local->name - (const char *)local), local->name);
}

HAFT_INTERNAL void local_free(haft_local *local)
{
    if (local == NULL) {
        return;
    }
    const size_t size = local_block_size(local);

    asan_unpoison(local, size);
    if (!local->is_given) {
        heap_give(&local->slots.heap, local, size);
    }
}

static const char *local_name_of(const haft_local_options *options)
{
    return options->name != NULL ? options->name : "local table";
}

/* The bytes that local_new() and slots_open() take, wherever they begin. */
static uint64_t measure_local(const haft_local_options *options, struct slots_options wanted)
{
    struct given given = given_to_measure();

    wanted.given = &given;
    given_take(&given, size_with_name(sizeof(haft_local), local_name_of(options)),
               _Alignof(haft_local));
    geometry_measure(&wanted);
    return given.measured;
}

static haft_status open_local(const haft_local_options *options, haft_local **local)
{
    struct given given = given_of(options->memory, options->memory_size);
    struct slots_options wanted;
    uint64_t most;
    haft_status status = local_slots_wanted(options, &wanted, &most);

    if (status != HAFT_OK) {
        return status;
    }
    if (!given_suffices(&given, measure_local(options, wanted))) {
        return HAFT_NO_MEMORY;
    }
    wanted.given = options->memory != NULL ? &given : NULL;
    const haft_allocator heap = heap_of(options->allocator);
    haft_local *opened = local_new(local_name_of(options), wanted.given, &heap);

    status = opened != NULL ? slots_open(&opened->slots, &wanted) : HAFT_NO_MEMORY;
    if (status != HAFT_OK) {
        local_free(opened);
        return status;
    }
    fill_in(opened, options);
    *local = opened;
    return HAFT_OK;
}

/* The highest capacity for which slots take no more address space. */
static uint64_t capacity_that_fills(haft_local_options options, uint64_t most)
{
    struct slots_options wanted;
    uint64_t above = most - options.min_free + 1;

    local_slots_wanted(&options, &wanted, &most);
    const uint64_t count = geometry_of(&wanted).count;
    uint64_t fits = options.capacity;

    while (above - fits > 1) {
        options.capacity = fits + (above - fits) / 2;
        local_slots_wanted(&options, &wanted, &most);
        if (geometry_of(&wanted).count == count) {
            fits = options.capacity;
        } else {
            above = options.capacity;
        }
    }
    return fits;
}

haft_status haft_local_footprint_sized(const haft_local_options *options, size_t size,
                                       haft_footprint *footprint)
{
    haft_local_options known;
    struct slots_options wanted;
    uint64_t most;
    haft_status status = sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? local_slots_wanted(&known, &wanted, &most) : status;
    if (status != HAFT_OK) {
        return status;
    }
    const uint64_t bytes = measure_local(&known, wanted);

    if (!given_is_possible(bytes)) {
        return HAFT_NO_MEMORY;
    }
    *footprint = (haft_footprint){
        .bytes = bytes,
        .capacity = capacity_that_fills(known, most),
    };
    return HAFT_OK;
}

haft_status haft_local_open_sized(const haft_local_options *options, size_t size,
                                  haft_local **local)
{
    haft_local_options known;
    const haft_status status = sized_take(&known, sizeof known, options, size);

    return status == HAFT_OK ? open_local(&known, local) : status;
}

haft_view haft_local_view(const haft_local *local)
{
    return local->slots.view;
}

haft_layout haft_local_layout(const haft_local *local)
{
    return local->slots.format.layout;
}

const char *haft_local_name(const haft_local *local)
{
    return local->name;
}

size_t haft_local_object_size(const haft_local *local)
{
    return local->slots.object_size;
}

bool haft_local_has_pins(const haft_local *local)
{
    return local->slots.has_pins;
}

uint64_t haft_local_count(const haft_local *local)
{
    return local->front.count;
}

bool haft_local_is_empty(const haft_local *local)
{
    return local->front.count == 0;
}

uint64_t haft_local_available(const haft_local *local)
{
    return local_available(local);
}

/* --- the way in --- */

/* The next slot to use: its own word still says that it is free. */
static haft_status take_slot(haft_local *local, uint64_t *index)
{
    const struct slots *slots = &local->slots;

    if (local->front.head == MARK_END) {
        return local_take(local, index);
    }
    *index = local->front.head;
    local->front.head =
        (uint32_t)word_index(&slots->format, load_relaxed(OWN, slots_word(slots, *index)));
    return HAFT_OK;
}

static haft_status reserve(haft_local *local, haft_id *id, void **object, const void *caller)
{
    const struct word_format *format = &local->slots.format;
    uint64_t index;
    const haft_status status = take_slot(local, &index);

    if (status != HAFT_OK) {
        return status;
    }
    atomic_u64 *at = slots_word(&local->slots, index);
    const uint64_t word = slots_begin_at(&local->slots, index, load_relaxed(OWN, at));

    slots_unpoison(&local->slots, at);
    sites_note_birth(&local->slots.sites, index, caller);
    store_relaxed(OWN, at, word_with_index(format, word, MARK_RESERVED));
    local->held++;
    id->bits = word_with_index(format, word, index);
    *object = slots_object(at);
    return HAFT_OK;
}

haft_status haft_local_reserve(haft_local *local, haft_id *id, void **object)
{
    void *bytes;
    const haft_status status = reserve(local, id, &bytes, CALLER);

    if (status == HAFT_OK && object != NULL) {
        *object = bytes;
    }
    return status;
}

/* The word of the slot that `id` was reserved in. */
static atomic_u64 *reserved_word(haft_local *local, haft_id id)
{
    atomic_u64 *at = slots_word(&local->slots, word_index(&local->slots.format, id.bits));

    assert(load_relaxed(OWN, at) == word_with_index(&local->slots.format, id.bits, MARK_RESERVED));
    return at;
}

void haft_local_publish(haft_local *local, haft_id id)
{
    store_relaxed(OWN, reserved_word(local, id), id.bits);
    local->held--;
    local->front.count++;
}

/* haft_local_insert() of any object, into any slot: apart, so that the common way stays short. */
static __attribute__((noinline)) haft_status insert_any(haft_local *local, const void *object,
                                                        haft_id *id, const void *caller)
{
    haft_id inserted; /* `id` may lie in `object` */
    void *bytes;
    const haft_status status = reserve(local, &inserted, &bytes, caller);

    if (status == HAFT_OK) {
        slots_fill(&local->slots, bytes, object);
        haft_local_publish(local, inserted);
        *id = inserted;
    }
    return status;
}

haft_status haft_local_insert(haft_local *local, const void *object, haft_id *id)
{
    const struct slots *slots = &local->slots;
    const bool is_common = object != NULL && slots_has_words(slots);
    atomic_u64 *at = is_common ? haft_local_front_take(local, slots->view, id) : NULL;

    if (at == NULL) {
        return insert_any(local, object, id, CALLER);
    }
    object_copy_words(slots_object(at), object, slots->object_size);
    store_relaxed(OWN, at, id->bits);
    return HAFT_OK;
}

/* --- the way out --- */

HAFT_INTERNAL uint64_t local_next_life(const haft_local *local, uint64_t word)
{
    const struct word_format *format = &local->slots.format;
    const uint64_t next = word_next_life(format, word, MARK_END);

    return word_generation(format, next) == 0 && local->wraps ? next | format->generation_one
                                                              : next;
}

/* A life has ended, `next` comes after it: generation 1 only if generations begin again. */
static void note_wrap(haft_local *local, uint64_t next)
{
    const struct word_format *format = &local->slots.format;

    local->slots.wrapped |= word_generation(format, next) == format->generation_one;
}

/* Slot `index` has ended a life: onto the free list, or out of use after its last. */
static void settle(haft_local *local, uint64_t index, uint64_t next)
{
    const struct word_format *format = &local->slots.format;

    slots_poison(&local->slots, slots_word(&local->slots, index));
    if (word_generation(format, next) == 0) {
        store_relaxed(OWN, slots_word(&local->slots, index),
                      word_with_index(format, next, MARK_EXHAUSTED));
        local->exhausted++;
        return;
    }
    local_push(local, index, next);
}

/* Slot `index` waits for its destructor: on a stack through the slots' words, FREE at its end. */
static void push_ending(haft_local *local, uint64_t index, uint64_t next)
{
    const uint64_t link = local->ending != MARK_END ? local->ending : MARK_FREE;

    store_relaxed(OWN, slots_word(&local->slots, index),
                  word_with_index(&local->slots.format, next, link));
    local->ending = index;
    local->held++;
    local->retired++;
}

static uint64_t pop_ending(haft_local *local)
{
    const struct word_format *format = &local->slots.format;
    const uint64_t index = local->ending;
    atomic_u64 *at = slots_word(&local->slots, index);
    const uint64_t word = load_relaxed(OWN, at);
    const uint64_t link = word_index(format, word);

    local->ending = link != MARK_FREE ? link : MARK_END;
    store_relaxed(OWN, at, word_with_index(format, word, MARK_FREE));
    return index;
}

/* The id whose life came before `next` in slot `index`: generation 0, which is none, is skipped. */
static haft_id ended_life(const struct word_format *format, uint64_t next, uint64_t index)
{
    haft_id id = word_last_life(format, next, index);

    if (word_generation(format, id.bits) == 0) {
        id.bits |= format->generation_mask;
    }
    return id;
}

/* While its destructor runs, a slot is in no list. */
static void run_destructor(haft_local *local)
{
    const struct word_format *format = &local->slots.format;
    const uint64_t index = pop_ending(local);
    atomic_u64 *at = slots_word(&local->slots, index);
    const uint64_t next = load_relaxed(OWN, at);

    local->on_destroy(slots_object(at), ended_life(format, next, index), local->destroy_arg);
    assert(load_relaxed(OWN, at) == next && "a slot whose destructor runs is no other's");
    local->retired--;
    local->held--;
    settle(local, index, next);
}

/*
 * Run the destructors that are due, and those that become due meanwhile: in a loop, since a chain
 * of objects that end each other may be longer than the stack is deep.
 */
static void run_destructors(haft_local *local)
{
    const int cancel = os_cancel_off();
    const bool outer = local->in_callback;

    local->in_callback = true;
    while (local->ending != MARK_END) {
        run_destructor(local);
    }
    local->in_callback = outer;
    os_cancel_restore(cancel);
}

/* End the live object `id`. */
static void destroy(haft_local *local, haft_id id, const void *caller)
{
    const uint64_t index = word_index(&local->slots.format, id.bits);
    const uint64_t next = local_next_life(local, id.bits);
    const bool is_nested = local->retired != 0;

    local->front.count--;
    note_wrap(local, next);
    sites_note_death(&local->slots.sites, index, caller);
    if (local->on_destroy == NULL) {
        settle(local, index, next);
        return;
    }
    push_ending(local, index, next);
    if (!is_nested) {
        run_destructors(local);
    }
}

void haft_local_abort(haft_local *local, haft_id id)
{
    const uint64_t index = word_index(&local->slots.format, id.bits);
    const uint64_t next = local_next_life(local, load_relaxed(OWN, reserved_word(local, id)));

    local->held--;
    note_wrap(local, next);
    sites_note_death(&local->slots.sites, index, CALLER);
    settle(local, index, next);
}

haft_status haft_local_free(haft_local *local, haft_id id)
{
    if (haft_local_front_put(local, local->slots.view, id)) {
        return HAFT_OK;
    }
    if (!haft_is_live(local->slots.view, id)) {
        return haft_local_diagnose(local, id);
    }
    destroy(local, id, CALLER);
    return HAFT_OK;
}

static void clear(haft_local *local, const void *caller)
{
    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        const uint64_t word = load_relaxed(OWN, slots_word(&local->slots, index));

        if (word_index(&local->slots.format, word) == index) {
            destroy(local, (haft_id){word}, caller);
        }
    }
}

void haft_local_set_destroy(haft_local *local, haft_local_destroy *on_destroy, void *destroy_arg)
{
    assert(local->retired == 0 && "not from on_destroy");
    local->on_destroy = on_destroy;
    local->destroy_arg = destroy_arg;
    local->front.generation_mask = local_mask_in_place(local);
}

haft_status haft_local_clear(haft_local *local)
{
    assert(local->held >= local->retired);
    if (local->held != local->retired) {
        return HAFT_IN_USE; /* a constructor may be writing to a reserved slot */
    }
    clear(local, CALLER);
    return HAFT_OK;
}

void haft_local_close(haft_local *local)
{
    assert(!local->in_callback && "a callback may not close its table");
    assert(load_relaxed(OWN, &local->sides) == 0 && "sides are closed before their table");
    local->mode = LOCAL_CLOSING;
    local_begin_list(local);
    leaks_report(&local->slots, local->name, local->used);
    if (local->on_destroy != NULL) {
        clear(local, CALLER);
    }
    slots_unpoison_all(&local->slots, local->used);
    slots_close(&local->slots);
    local_free(local);
}

/* --- looking --- */

haft_status haft_local_diagnose(const haft_local *local, haft_id id)
{
    return slots_diagnose(&local->slots, id);
}

haft_status haft_local_id_at(const haft_local *local, uint64_t index, haft_id *id)
{
    return slots_id_at(&local->slots, index, id);
}

haft_range haft_local_used_range(const haft_local *local)
{
    return HAFT_RANGE(HAFT_FIRST_INDEX, local->used);
}

uint64_t haft_local_for_each(haft_local *local, bool (*visit)(haft_id id, void *object, void *arg),
                             void *arg)
{
    struct slots *slots = &local->slots;
    uint64_t calls = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        atomic_u64 *at = slots_word(slots, index);
        const haft_id id = {load_relaxed(OWN, at)};

        if (word_index(&slots->format, id.bits) != index) {
            continue;
        }
        calls++;
        if (!visit(id, slots_object(at), arg)) {
            break;
        }
    }
    return calls;
}

/* lib/local/local_explain.c */

/* A local table's statuses and ids, in words. */

int haft_local_explain(const haft_local *local, haft_status status, char *line, size_t size)
{
    struct text text = text_in(line, size);
    const struct use use = {local->front.count, local->held, local->exhausted};

    text_add(&text, "%s: ", local->name);
    if (status == HAFT_FULL && local->mode == LOCAL_CLOSING) {
        text_add(&text, "full: it is being closed");
    } else if (status == HAFT_FULL) {
        explain_full(&text, local->capacity, &use);
    } else if (status == HAFT_NO_MEMORY) {
        explain_no_memory(&text, &local->slots, local->used - HAFT_FIRST_INDEX);
    } else {
        text_add(&text, "%s", haft_status_text(status));
    }
    return text_length(&text);
}

int haft_local_diagnose_format(const haft_local *local, haft_id id, char *text, size_t size)
{
    return sites_describe(&local->slots, local->name, id, haft_local_diagnose(local, id), text,
                          size);
}

void *haft_local_require_failed(const haft_local *local, haft_id id, const void *slots)
{
    assert(slots == local->slots.view.base && "the view is the table's");
    (void)slots;
    bad_access(&local->slots, local->name, id, haft_local_diagnose(local, id));
    return NULL;
}

/*
 * lib/local/local_image.h - the image of a table of one thread: see lib/slots/image.h.
 */

/* Numbers of the image, with what a file that has a wrong one is said to have. */
#define LOCAL_NUMBERS(X)                                                                           \
    X(CAPACITY, "capacity")                                                                        \
    X(MIN_FREE, "min_free")                                                                        \
    X(LIMIT, "number of slots that there can be")                                                  \
    X(FIRST, "first generation")                                                                   \
    X(USED, "number of slots")                                                                     \
    X(COUNT, "number of objects")                                                                  \
    X(EXHAUSTED, "number of exhausted slots")                                                      \
    X(HEAD, "first free slot")                                                                     \
    X(TAIL, "last free slot")                                                                      \
    X(QUEUED, "number of free slots")                                                              \
    X(FRESH_AT, "start of the fresh run in use")                                                   \
    X(FRESH_END, "end of the fresh run in use")                                                    \
    X(FRESH_SLOTS, "number of fresh slots")                                                        \
    X(FIRST_RUN, "first fresh run")                                                                \
    X(RUNS, "number of page runs")                                                                 \
    X(WRAPPED, "mark of generations that began again")                                             \
    X(RECYCLED, "mark of exhausted slots that began again")

#define LOCAL_NUMBER(name, text) LOCAL_##name,
enum local_number { LOCAL_NUMBERS(LOCAL_NUMBER) LOCAL_NUMBERS_END };

/* The slots from slot 0 on; the records of page runs. */
enum local_part { LOCAL_SLOTS, LOCAL_RUN_RECORDS };

/* What the table was opened with; names for each number of it. */
HAFT_INTERNAL struct shape local_shape(const haft_local *local);
HAFT_INTERNAL const char *const local_shape_names[SHAPE_NUMBERS];

/* HAFT_OK, or why this is no moment for an image, to be taken or become. */
HAFT_INTERNAL haft_status local_check_moment(const haft_local *local);

/* The table's own image.  Between the two functions the bytes of all slots may be touched. */
HAFT_INTERNAL struct image local_begin_image(const haft_local *local);
HAFT_INTERNAL void local_end_image(const haft_local *local);

/* Memory to become an image with these numbers: HAFT_OK or HAFT_NO_MEMORY. */
HAFT_INTERNAL haft_status local_prepare(haft_local *local, const uint64_t *numbers);

/*
 * The values of the table's sides end, as its ids will be issued again.  HAFT_OK, or HAFT_IN_USE:
 * on_end has reserved a slot.
 */
HAFT_INTERNAL haft_status local_end_values(haft_local *local);

/* Become the image, which the table is prepared for. */
HAFT_INTERNAL void local_become(haft_local *local, const struct image *image);

/* lib/local/local_image.c */

/*
 * The image of a table of one thread, and how the table becomes another.
 *
 * Edges in this file.
 *   OWN    one thread uses the table
 *   HINT   ids repeat: then more of them are said to be stale.  Sites are for people to read
 */

_Static_assert(LOCAL_NUMBERS_END <= IMAGE_NUMBERS, "an image has room for the numbers");

HAFT_INTERNAL const char *const local_shape_names[SHAPE_NUMBERS] = {
    "kind of table", "layout", "tag",  "object_size", "object_alignment",
    "slots",         "reuse",  "wrap", "pins",        "memory that can be released"};

HAFT_INTERNAL struct shape local_shape(const haft_local *local)
{
    const struct slots *slots = &local->slots;
    const haft_layout layout = slots->format.layout;

    return (struct shape){{
        1,
        (uint64_t)layout.index_bits | (uint64_t)layout.generation_bits << 8 |
            (uint64_t)layout.tag_bits << 16,
        haft_id_tag(layout, (haft_id){slots->format.tag}),
        slots->object_size,
        slots_alignment(slots),
        slots->view.mask + 1,
        local->is_fifo,
        local->wraps,
        slots->has_pins,
        !slots->runs.stay,
    }};
}

HAFT_INTERNAL haft_status local_check_moment(const haft_local *local)
{
    if (local->mode == LOCAL_LOADING) {
        return HAFT_LOADING;
    }
    return local->held == 0 && !local->in_callback ? HAFT_OK : HAFT_IN_USE;
}

HAFT_INTERNAL haft_status local_end_values(haft_local *local)
{
    local->in_callback = true;
    sides_forget_all(&local->sides);
    local->in_callback = false;
    return local_check_moment(local); /* on_end may have reserved a slot */
}

/* Records of the page runs that have been used. */
static uint64_t run_count(const haft_local *local)
{
    return local->slots.runs.records != NULL ? runs_of(&local->slots.runs, local->used - 1) + 1 : 0;
}

HAFT_INTERNAL struct image local_begin_image(const haft_local *local)
{
    const struct slots *slots = &local->slots;
    const uint64_t runs = run_count(local);

    slots_unpoison_all(slots, local->used);
    return (struct image){
        .numbers =
            {
                [LOCAL_CAPACITY] = local->capacity,
                [LOCAL_MIN_FREE] = local->min_free,
                [LOCAL_LIMIT] = slots->limit,
                [LOCAL_FIRST] = slots->format.first,
                [LOCAL_USED] = local->used,
                [LOCAL_COUNT] = local->front.count,
                [LOCAL_EXHAUSTED] = local->exhausted,
                [LOCAL_HEAD] = local->is_in_place ? local->front.head : local->listed_head,
                [LOCAL_TAIL] = local->queue_tail,
                [LOCAL_QUEUED] = local_listed(local), /* one in place too: not so in each table */
                [LOCAL_FRESH_AT] = local->fresh_at,
                [LOCAL_FRESH_END] = local->fresh_end,
                [LOCAL_FRESH_SLOTS] = local->fresh_slots,
                [LOCAL_FIRST_RUN] = slots->runs.first,
                [LOCAL_RUNS] = runs,
                [LOCAL_WRAPPED] = slots->wrapped,
                [LOCAL_RECYCLED] = load_relaxed(HINT, &slots->recycled),
            },
        .parts =
            {
                [LOCAL_SLOTS] = {slots->view.base, local->used * slots->view.stride,
                                 (slots->view.mask + 1) * slots->view.stride},
                [LOCAL_RUN_RECORDS] = {(char *)slots->runs.records, runs * sizeof(struct run),
                                       slots->runs.count * sizeof(struct run)},
            },
    };
}

/* AddressSanitizer is to report accesses to slots in which no object is. */
static void poison_free_slots(const haft_local *local)
{
    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        const atomic_u64 *at = slots_word(&local->slots, index);
        const uint64_t word = load_relaxed(OWN, at);

        if (word != 0 && word_index(&local->slots.format, word) != index) {
            slots_poison(&local->slots, at);
        }
    }
}

HAFT_INTERNAL void local_end_image(const haft_local *local)
{
    if (asan_is_on()) {
        poison_free_slots(local);
    }
}

HAFT_INTERNAL haft_status local_prepare(haft_local *local, const uint64_t *numbers)
{
    const uint64_t used = numbers[LOCAL_USED] > local->used ? numbers[LOCAL_USED] : local->used;
    struct runs *runs = &local->slots.runs;
    const haft_status status = slots_commit(&local->slots, used);

    /* Records that were only reserved, for a shared table, are cleared as others are. */
    return status == HAFT_OK && (numbers[LOCAL_RUNS] != 0 || runs->records != NULL)
               ? runs_prepare(runs, used)
               : status;
}

/* Slots and records as in the image, and as new behind it. */
static void become_parts(const haft_local *local, const struct image *image)
{
    const struct image_part own[] = {
        [LOCAL_SLOTS] = {local->slots.view.base, local->used * local->slots.view.stride, 0},
        [LOCAL_RUN_RECORDS] = {(char *)local->slots.runs.records,
                               run_count(local) * sizeof(struct run), 0},
    };

    for (int i = LOCAL_SLOTS; i <= LOCAL_RUN_RECORDS; i++) {
        const struct image_part *part = &image->parts[i];

        image_put(own[i].at, part->at, part->bytes);
        if (own[i].bytes > part->bytes) {
            image_clear(own[i].at + part->bytes, own[i].bytes - part->bytes);
        }
    }
}

static void become_slots(struct slots *slots, const uint64_t *numbers)
{
    slots->limit = numbers[LOCAL_LIMIT];
    slots->format.first = numbers[LOCAL_FIRST];
    slots->runs.first = numbers[LOCAL_FIRST_RUN];
    slots->wrapped = numbers[LOCAL_WRAPPED] != 0;
    store_relaxed(HINT, &slots->recycled, numbers[LOCAL_RECYCLED]);
}

HAFT_INTERNAL void local_become(haft_local *local, const struct image *image)
{
    const uint64_t *numbers = image->numbers;
    const uint64_t used = numbers[LOCAL_USED];

    slots_unpoison_all(&local->slots, used > local->used ? used : local->used);
    sites_forget(&local->slots.sites, HAFT_FIRST_INDEX, local->used);
    become_parts(local, image);
    become_slots(&local->slots, numbers);
    local->capacity = numbers[LOCAL_CAPACITY];
    local->min_free = numbers[LOCAL_MIN_FREE];
    local->used = used;
    local->exhausted = numbers[LOCAL_EXHAUSTED];
    local->fresh_at = numbers[LOCAL_FRESH_AT];
    local->fresh_end = numbers[LOCAL_FRESH_END];
    local->fresh_slots = numbers[LOCAL_FRESH_SLOTS];
    local->front.count = (uint32_t)numbers[LOCAL_COUNT];
    local->is_crowded = local_crowds(local);
    local_begin_list(local);
    *local_head(local) = (uint32_t)numbers[LOCAL_HEAD];
    local->queue_tail = numbers[LOCAL_TAIL];
    local->queue_count = local->is_in_place ? 0 : numbers[LOCAL_QUEUED];
    local_end_image(local);
}

/* lib/local/local_list.c */

/*
 * haft_local: free slots, a stack or a queue through their words.
 *
 * Edges in this file.
 *   OWN   one thread uses the table; resolve reads the word as an atomic, so it is one here too
 */

static uint64_t word_at(const haft_local *local, uint64_t index)
{
    return load_relaxed(OWN, slots_word(&local->slots, index));
}

/* The free slot after `index` in the list. */
static uint64_t next_of(const haft_local *local, uint64_t index)
{
    return word_index(&local->slots.format, word_at(local, index));
}

static void set_next(haft_local *local, uint64_t index, uint64_t next)
{
    const uint64_t word = word_with_index(&local->slots.format, word_at(local, index), next);

    store_relaxed(OWN, slots_word(&local->slots, index), word);
}

HAFT_INTERNAL void local_begin_list(haft_local *local)
{
    local->is_in_place = local->mode == LOCAL_OPEN && !local->is_fifo && !local->is_crowded;
    local->front = (struct haft_local_front){
        .head = MARK_END,
        .count = local->front.count,
        .index_mask = local->slots.format.index_mask,
        .generation_one = local->slots.format.generation_one,
        .generation_mask = local_mask_in_place(local),
    };
    local->listed_head = MARK_END;
    local->queue_count = 0;
}

/* The next slot of a list that is not in place. */
static uint64_t pop_listed(haft_local *local)
{
    const uint64_t index = local->listed_head;

    local->listed_head = (uint32_t)next_of(local, index);
    local->queue_count--;
    return index;
}

static void push_queue(haft_local *local, uint64_t index)
{
    if (local->queue_count == 0) {
        local->listed_head = (uint32_t)index;
    } else {
        set_next(local, local->queue_tail, index);
    }
    local->queue_tail = index;
    local->queue_count++;
}

/* Slot `index` is free, and used before all others in the list. */
static void push_first(haft_local *local, uint64_t index, uint64_t word)
{
    uint32_t *head = local_head(local);

    store_relaxed(OWN, slots_word(&local->slots, index),
                  word_with_index(&local->slots.format, word, *head));
    *head = (uint32_t)index;
    if (!local->is_in_place) {
        local->queue_tail = local->queue_count == 0 ? index : local->queue_tail;
        local->queue_count++;
    }
}

HAFT_INTERNAL void local_push(haft_local *local, uint64_t index, uint64_t word)
{
    if (local->mode == LOCAL_OPEN && !local->is_fifo) {
        push_first(local, index, word);
        return;
    }
    store_relaxed(OWN, slots_word(&local->slots, index),
                  word_with_index(&local->slots.format, word, MARK_END));
    if (local->mode == LOCAL_OPEN) {
        push_queue(local, index);
    }
}

/*
 * List all slots from `first` on, below `end`, the lowest first.  They go to the front: at the
 * end of the queue they would pass for slots freed just now.
 */
static void list_fresh(haft_local *local, uint64_t first, uint64_t end)
{
    for (uint64_t index = end; index-- > first;) {
        push_first(local, index, slots_begin_at(&local->slots, index, 0));
    }
}

static uint64_t take_fresh_slot(haft_local *local)
{
    if (local->fresh_at == local->fresh_end) {
        const uint64_t run = fresh_runs_pop(&local->slots.runs);

        local->fresh_at = runs_first(&local->slots.runs, run);
        local->fresh_end = runs_end(&local->slots.runs, run);
    }
    local->fresh_slots--;
    return local->fresh_at++;
}

HAFT_INTERNAL haft_status local_take(haft_local *local, uint64_t *index)
{
    if (local->mode == LOCAL_LOADING) {
        return HAFT_LOADING;
    }
    if (local->mode == LOCAL_CLOSING || local_available(local) == 0) {
        return HAFT_FULL;
    }
    if (local->queue_count > local->min_free) {
        *index = pop_listed(local);
        return HAFT_OK;
    }
    if (local->fresh_slots != 0) {
        *index = take_fresh_slot(local);
        return HAFT_OK;
    }
    assert(local->used < local->slots.limit);
    const haft_status status = slots_commit(&local->slots, local->used + 1);

    if (status == HAFT_OK) {
        *index = local->used++;
    }
    return status;
}

/* Put all slots of the fresh run that `index` is in into the list. */
static void list_fresh_run(haft_local *local, uint64_t index)
{
    struct runs *runs = &local->slots.runs;
    const uint64_t run = runs_of(runs, index);
    uint64_t first = local->fresh_at;
    uint64_t end = local->fresh_end;

    if (index >= first && index < end) {
        local->fresh_at = end;
    } else {
        fresh_runs_remove(runs, run);
        first = runs_first(runs, run);
        end = runs_end(&local->slots.runs, run);
    }
    local->fresh_slots -= end - first;
    list_fresh(local, first, end);
}

/* Take slot `index` out of the list, which `before` precedes in it: MARK_END for none. */
static void unlink_slot(haft_local *local, uint64_t index, uint64_t before)
{
    const uint64_t next = next_of(local, index);

    if (before == MARK_END) {
        *local_head(local) = (uint32_t)next;
    } else {
        set_next(local, before, next);
    }
    if (!local->is_in_place) {
        local->queue_count--;
        local->queue_tail = next == MARK_END ? before : local->queue_tail;
    }
}

HAFT_INTERNAL void local_claim(haft_local *local, uint64_t index)
{
    const uint64_t used = local->used;

    if (index >= used) {
        local->used = index + 1;
    }
    if (local->mode != LOCAL_OPEN) {
        return;
    }
    if (index >= used) {
        list_fresh(local, used, index);
        return;
    }
    if (word_at(local, index) == 0) {
        list_fresh_run(local, index);
    }
    uint64_t before = MARK_END;

    for (uint64_t at = *local_head(local); at != index; at = next_of(local, at)) {
        assert(at != MARK_END);
        before = at;
    }
    unlink_slot(local, index, before);
}

HAFT_INTERNAL bool local_is_ending(const haft_local *local, uint64_t index)
{
    uint64_t at = local->ending;

    while (at != MARK_END && at != MARK_FREE && at != index) {
        at = next_of(local, at);
    }
    return at == index;
}

HAFT_INTERNAL void local_drop_chosen(haft_local *local)
{
    const struct runs *runs = &local->slots.runs;
    uint64_t before = MARK_END;

    for (uint64_t at = *local_head(local), next; at != MARK_END; at = next) {
        next = next_of(local, at);
        if (runs_link(runs, runs_of(runs, at)) == RUN_CHOSEN) {
            unlink_slot(local, at, before);
        } else {
            before = at;
        }
    }
}

/* Whether a run is wholly fresh.  If `used` ends in it, it is not: slots would be found twice. */
static bool is_fresh_run(const haft_local *local, uint64_t run)
{
    const uint64_t end = runs_end(&local->slots.runs, run);
    uint64_t index = runs_first(&local->slots.runs, run);

    if (end > local->used) {
        return false;
    }
    while (index < end && word_at(local, index) == 0) {
        index++;
    }
    return index == end;
}

/* All runs that are wholly fresh, lowest first, become the list of fresh runs. */
static void gather_fresh_runs(haft_local *local)
{
    struct runs *runs = &local->slots.runs;

    runs->first = RUN_LAST;
    if (runs->stay) {
        return;
    }
    for (uint64_t run = runs_of(runs, local->used - 1); run >= runs_least(runs); run--) {
        if (is_fresh_run(local, run) && runs_prepare(&local->slots.runs, local->used) == HAFT_OK) {
            fresh_runs_push(runs, run);
            local->fresh_slots += runs_end(&local->slots.runs, run) - runs_first(runs, run);
        } else if (runs->records != NULL && runs_link(runs, run) != RUN_IN_USE) {
            runs_set_link(runs, run, RUN_IN_USE);
        }
    }
}

HAFT_INTERNAL void local_rebuild(haft_local *local)
{
    const struct runs *runs = &local->slots.runs;

    assert(local->ending == MARK_END && "no callback runs");
    local_begin_list(local);
    local->fresh_at = local->fresh_end;
    local->fresh_slots = 0;
    gather_fresh_runs(local);
    for (uint64_t i = HAFT_FIRST_INDEX; i < local->used; i++) {
        const uint64_t index = local->is_fifo ? i : HAFT_FIRST_INDEX + (local->used - 1 - i);
        const uint64_t word = word_at(local, index);

        if (local_is_free(local, index, word) &&
            (runs->records == NULL || runs_link(runs, runs_of(runs, index)) == RUN_IN_USE)) {
            local_push(local, index, slots_begin_at(&local->slots, index, word));
        }
    }
}

/* lib/local/local_memory.c */

/*
 * haft_local: memory populated beforehand, and memory released.
 *
 * Edges in this file.
 *   OWN   one thread uses the table; resolve reads the word as an atomic, so it is one here too
 */

/* --- beforehand --- */

/*
 * Touch the next `most` slots of the list, which are at least as many: of one that was loaded or
 * lies below a restored one, the word alone was written at most.  Slots that follow each other, up
 * or down, are touched at once.
 */
static haft_status populate_listed(haft_local *local, uint64_t most)
{
    const struct slots *slots = &local->slots;
    uint64_t next = *local_head(local);
    haft_status status = HAFT_OK;

    while (most != 0 && status == HAFT_OK) {
        uint64_t first = next;
        uint64_t end = next;

        do {
            first = next < first ? next : first;
            end = next < end ? end : next + 1;
            next = word_index(&slots->format, load_relaxed(OWN, slots_word(slots, next)));
        } while (--most != 0 && (next == end || next + 1 == first));
        status = slots_populate(slots, first, end);
    }
    return status;
}

/* Touch the next `most` slots of the fresh runs, which are at least as many. */
static haft_status populate_fresh(const haft_local *local, uint64_t most)
{
    const struct slots *slots = &local->slots;
    const uint64_t left = local->fresh_end - local->fresh_at;
    uint64_t touched = left < most ? left : most;
    haft_status status = slots_populate(slots, local->fresh_at, local->fresh_at + touched);

    for (uint64_t run = slots->runs.first; touched < most && status == HAFT_OK;
         run = runs_link(&slots->runs, run)) {
        const uint64_t first = runs_first(&slots->runs, run);
        const uint64_t size = runs_end(&slots->runs, run) - first;
        const uint64_t part = size < most - touched ? size : most - touched;

        status = slots_populate(slots, first, first + part);
        touched += part;
    }
    return status;
}

haft_status haft_local_reserve_capacity(haft_local *local, uint64_t count)
{
    const uint64_t listed = local_listed(local);
    const uint64_t ready = listed > local->min_free ? listed - local->min_free : 0;

    if (local->mode == LOCAL_LOADING) {
        return HAFT_LOADING;
    }
    if (local->mode == LOCAL_CLOSING || count > local_available(local)) {
        return HAFT_FULL;
    }
    const uint64_t more = count > ready ? count - ready : 0;
    const uint64_t in_runs = local->fresh_slots < more ? local->fresh_slots : more;
    const uint64_t end = local->used + more - in_runs;
    haft_status status = slots_commit(&local->slots, end);

    if (status == HAFT_OK) {
        status = populate_listed(local, count < ready ? count : ready);
    }
    if (status == HAFT_OK) {
        status = populate_fresh(local, in_runs);
    }
    if (status == HAFT_OK) {
        status = slots_populate(&local->slots, local->used, end);
    }
    return status;
}

/* --- released --- */

/* The slots freed last have to stay in the queue: their runs are kept. */
static void keep_youngest(haft_local *local)
{
    struct runs *runs = &local->slots.runs;
    uint64_t older =
        local->queue_count > local->min_free ? local->queue_count - local->min_free : 0;

    for (uint64_t at = local->listed_head; local->min_free != 0 && at != MARK_END;) {
        if (older != 0) {
            older--;
        } else {
            runs_set_link(runs, runs_of(runs, at), RUN_KEPT);
        }
        at = word_index(&local->slots.format, load_relaxed(OWN, slots_word(&local->slots, at)));
    }
}

/* The highest word that a slot of the run begins from; 0 if the run is in use. */
static uint64_t floor_of_run(const haft_local *local, uint64_t run)
{
    const uint64_t end = runs_end(&local->slots.runs, run);
    uint64_t floor = 0;

    if (run < runs_least(&local->slots.runs) || end > local->used) {
        return 0;
    }
    for (uint64_t index = runs_first(&local->slots.runs, run); index < end; index++) {
        const uint64_t word = load_relaxed(OWN, slots_word(&local->slots, index));

        if (!local_is_free(local, index, word)) {
            return 0;
        }
        const uint64_t begin =
            word_with_index(&local->slots.format, slots_begin_at(&local->slots, index, word), 0);

        floor = begin > floor ? begin : floor;
    }
    return floor;
}

/* Choose the runs to release, with their floors; how many. */
static uint64_t choose_runs(haft_local *local)
{
    struct runs *runs = &local->slots.runs;
    uint64_t chosen = 0;

    for (uint64_t run = 0; run <= runs_of(runs, local->used - 1); run++) {
        const uint64_t link = runs_link(runs, run);
        const uint64_t floor = link == RUN_IN_USE ? floor_of_run(local, run) : 0;

        if (floor != 0) {
            runs_set_link(runs, run, RUN_CHOSEN);
            runs_set_floor(runs, run, floor);
            sites_forget(&local->slots.sites, runs_first(runs, run), runs_end(runs, run));
            chosen++;
        } else if (link == RUN_KEPT) {
            runs_set_link(runs, run, RUN_IN_USE);
        }
    }
    return chosen;
}

static void make_fresh(haft_local *local, uint64_t run)
{
    fresh_runs_push(&local->slots.runs, run);
    local->fresh_slots += runs_end(&local->slots.runs, run) - runs_first(&local->slots.runs, run);
}

/* Make the chosen runs fresh ones, those that lie together at once; the bytes released. */
static uint64_t release_chosen_runs(haft_local *local)
{
    struct runs *runs = &local->slots.runs;
    uint64_t bytes = 0;

    local_drop_chosen(local);
    if (local->fresh_at != local->fresh_end &&
        runs_link(runs, runs_of(runs, local->fresh_at)) == RUN_CHOSEN) {
        local->fresh_slots -= local->fresh_end - local->fresh_at;
        local->fresh_at = local->fresh_end;
    }
    uint64_t run = runs_of(runs, local->used - 1) + 1;

    while (run > runs_least(runs)) {
        const uint64_t end = run;

        while (run > runs_least(runs) && runs_link(runs, run - 1) == RUN_CHOSEN) {
            make_fresh(local, --run);
        }
        if (run != end) {
            bytes += slots_release(&local->slots, run, end);
        } else {
            run--;
        }
    }
    return bytes;
}

haft_status haft_local_trim(haft_local *local, uint64_t *released)
{
    uint64_t bytes = 0;

    if (local->mode == LOCAL_LOADING) {
        return HAFT_LOADING;
    }
    /* Where generations begin again, the highest is not the last. */
    if (local->mode == LOCAL_OPEN && !local->slots.wrapped && !local->slots.runs.stay &&
        local->ending == MARK_END) {
        const haft_status status = runs_prepare(&local->slots.runs, local->used);

        if (status != HAFT_OK) {
            return status;
        }
        keep_youngest(local);
        if (choose_runs(local) != 0) {
            bytes = release_chosen_runs(local);
        }
    }
    if (released != NULL) {
        *released = bytes;
    }
    return HAFT_OK;
}

/* lib/local/local_restore.c */

/*
 * haft_local: ids chosen elsewhere, such as those of a saved game.
 *
 * Edges in this file.
 *   HINT  ids repeat: then more of them are said to be stale
 *   OWN   one thread uses the table; resolve reads the word as an atomic, so it is one here too
 */

/* Whether the slot of `id` is free, and has lived no life of that generation (0: none left). */
static haft_status check_slot(const haft_local *local, haft_id id)
{
    const struct word_format *format = &local->slots.format;
    const uint64_t index = word_index(format, id.bits);
    const uint64_t word = load_relaxed(OWN, slots_word(&local->slots, index));
    const uint64_t asked = word_generation(format, id.bits);

    if (word_index(format, word) == MARK_EXHAUSTED) {
        return HAFT_EXHAUSTED;
    }
    if (!local_is_free(local, index, word) || local_is_ending(local, index)) {
        return HAFT_OCCUPIED;
    }
    if (local->wraps && slots_word_or_floor(&local->slots, index, word) == 0) {
        return HAFT_OK; /* even below the first generation: the slot may have begun again */
    }
    if (asked != 0 && asked < word_generation(format, slots_begin_at(&local->slots, index, word))) {
        return HAFT_STALE;
    }
    return HAFT_OK;
}

/* If `id` is not of the slot's next life, its allocation sites are of none before that id. */
static void forget_sites(const haft_local *local, haft_id id)
{
    const struct slots *slots = &local->slots;
    const uint64_t index = word_index(&slots->format, id.bits);
    const uint64_t begin =
        slots_begin_at(slots, index, load_relaxed(OWN, slots_word(slots, index)));

    if (word_generation(&slots->format, begin) != word_generation(&slots->format, id.bits)) {
        sites_forget(&slots->sites, index, index + 1);
    }
}

/*
 * Take the slot of `id`, whose fields are in order, from where free slots are; `fills` if it will
 * not be free afterwards.
 */
static haft_status claim_slot(haft_local *local, haft_id id, bool fills)
{
    const uint64_t index = word_index(&local->slots.format, id.bits);
    haft_status status = check_slot(local, id);

    if (status == HAFT_OK &&
        (local->mode == LOCAL_CLOSING || (fills && local_available(local) == 0))) {
        status = HAFT_FULL;
    }
    if (status == HAFT_OK) {
        status = slots_commit(&local->slots, index + 1);
    }
    if (status == HAFT_OK) {
        local->slots.wrapped |= local->wraps; /* wherever the id comes from */
        forget_sites(local, id);
        local_claim(local, index);
    }
    return status;
}

/* The slot of `id`, which is free, is reserved: HAFT_OK and the object's bytes, or why not. */
static haft_status reserve_chosen(haft_local *local, haft_id id, void **object, const void *caller)
{
    struct slots *slots = &local->slots;
    const uint64_t index = word_index(&slots->format, id.bits);
    haft_status status = slots_check_chosen(slots, id, slots->limit);

    if (status == HAFT_OK) {
        status = claim_slot(local, id, true);
    }
    if (status == HAFT_OK) {
        atomic_u64 *at = slots_word(slots, index);

        slots_unpoison(slots, at);
        sites_note_birth(&slots->sites, index, caller);
        store_relaxed(OWN, at, word_with_index(&slots->format, id.bits, MARK_RESERVED));
        local->held++;
        *object = slots_object(at);
    }
    return status;
}

haft_status haft_local_reserve_at(haft_local *local, haft_id id, void **object)
{
    void *bytes;
    const haft_status status = reserve_chosen(local, id, &bytes, CALLER);

    if (status == HAFT_OK && object != NULL) {
        *object = bytes;
    }
    return status;
}

haft_status haft_local_restore(haft_local *local, haft_id id, const void *object)
{
    void *bytes;
    const haft_status status = reserve_chosen(local, id, &bytes, CALLER);

    if (status == HAFT_OK) {
        slots_fill(&local->slots, bytes, object);
        haft_local_publish(local, id);
    }
    return status;
}

haft_status haft_local_restore_free(haft_local *local, haft_id next)
{
    const struct word_format *format = &local->slots.format;
    const uint64_t index = word_index(format, next.bits);
    const bool is_exhausted = word_generation(format, next.bits) == 0;
    haft_status status = slots_check_fields(&local->slots, next, local->slots.limit);

    if (status == HAFT_OK) {
        status = claim_slot(local, next, is_exhausted);
    }
    if (status == HAFT_OK && is_exhausted) {
        store_relaxed(OWN, slots_word(&local->slots, index),
                      word_with_index(format, next.bits, MARK_EXHAUSTED));
        local->exhausted++;
    } else if (status == HAFT_OK) {
        local_push(local, index, next.bits);
    }
    return status;
}

static bool is_used_up(const haft_local *local, uint64_t index)
{
    const uint64_t word = load_relaxed(OWN, slots_word(&local->slots, index));

    return word_index(&local->slots.format, word) == MARK_EXHAUSTED;
}

/*
 * End the values of slot `index` while it is exhausted: after each, on_end may have set others, or
 * recycled the slot and set values for its new object.  Whether it is exhausted still.
 */
static bool end_values_of(const haft_local *local, uint64_t index)
{
    while (is_used_up(local, index)) {
        if (!sides_forget(&local->sides, index)) {
            return true;
        }
    }
    return false;
}

uint64_t haft_local_recycle_exhausted(haft_local *local)
{
    uint64_t count = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        if (end_values_of(local, index)) {
            store_relaxed(HINT, &local->slots.recycled, 1);
            sites_forget(&local->slots.sites, index, index + 1);
            local_push(local, index, local->slots.format.first);
            local->exhausted--;
            count++;
        }
    }
    return count;
}

void haft_local_load_begin(haft_local *local)
{
    assert(local->mode == LOCAL_OPEN && !local->in_callback && "loading begins once");
    local->mode = LOCAL_LOADING;
    /* Any of these may be chosen: local_rebuild() finds those that are left. */
    local->fresh_at = local->fresh_end;
    local->fresh_slots = 0;
    local_begin_list(local);
}

void haft_local_load_end(haft_local *local)
{
    assert(local->mode == LOCAL_LOADING && !local->in_callback && "loading has begun");
    local->mode = LOCAL_OPEN;
    local_rebuild(local);
}

/* The id of slot `index`, if it is live; else that of its next life. */
static haft_id id_or_next(const haft_local *local, uint64_t index, uint64_t word)
{
    const struct word_format *format = &local->slots.format;
    uint64_t begin = slots_begin_at(&local->slots, index, word);

    if (word_index(format, word) == MARK_RESERVED) {
        begin = local_next_life(local, word);
    }
    return (haft_id){word_with_index(format, begin, index)};
}

uint64_t haft_local_for_each_slot(haft_local *local,
                                  bool (*visit)(haft_id id, void *object, void *arg), void *arg)
{
    const struct word_format *format = &local->slots.format;
    uint64_t calls = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        atomic_u64 *at = slots_word(&local->slots, index);
        const uint64_t word = load_relaxed(OWN, at);
        void *object = word_index(format, word) == index ? slots_object(at) : NULL;

        calls++;
        if (!visit(id_or_next(local, index, word), object, arg)) {
            break;
        }
    }
    return calls;
}

/* lib/local/local_save.c */

/*
 * haft_local: its image in a file.
 *
 * The body: floor and link of each page run, the words of all slots ever used, and the live objects
 * in order of index.  The end and the length of the list of free slots, which the image of some
 * builds has, are 0: loading finds them.
 */

static const char *const number_names[] = {
#define NAME(name, text) text,
    LOCAL_NUMBERS(NAME)
#undef NAME
};

static uint64_t runs_bytes(const uint64_t *numbers)
{
    return numbers[LOCAL_RUNS] * 2 * sizeof(uint64_t);
}

static struct image_slots slots_of(const haft_local *local, const struct image *image)
{
    return (struct image_slots){
        .format = &local->slots.format,
        .base = image->parts[LOCAL_SLOTS].at,
        .stride = local->slots.view.stride,
        .end = image->numbers[LOCAL_USED],
        .at = runs_bytes(image->numbers),
        .may_be_fresh = true,
    };
}

/* All numbers of the body, and objects that are one behind the other. */
static uint64_t body_bytes(const struct image_file *image_file, const uint64_t *numbers)
{
    return runs_bytes(numbers) + (numbers[LOCAL_USED] - HAFT_FIRST_INDEX) * sizeof(uint64_t) +
           numbers[LOCAL_COUNT] * image_file->object_bytes;
}

static bool is_live_in(const struct image_slots *slots, uint64_t index)
{
    return word_index(slots->format, *image_word(slots, index)) == index;
}

/* --- saving --- */

static haft_status write_runs(struct image_file *image_file, const haft_local *local,
                              uint64_t count)
{
    haft_status status = HAFT_OK;

    for (uint64_t i = 0; i < 2 * count && status == HAFT_OK; i++) {
        const struct runs *runs = &local->slots.runs;
        const uint64_t number = i % 2 == 0 ? runs_floor(runs, i / 2) : runs_link(runs, i / 2);

        status = saved_write_number(image_file->saved, number);
    }
    return status;
}

static haft_status write_objects(struct image_file *image_file, const struct image_slots *slots)
{
    haft_status status = HAFT_OK;

    for (uint64_t index = HAFT_FIRST_INDEX; index < slots->end && status == HAFT_OK; index++) {
        if (is_live_in(slots, index)) {
            status = image_file_write_object(image_file, image_word(slots, index) + 1);
        }
    }
    return status;
}

/* How many records of page runs say anything: all, or none.  The fresh slots' says that its run is
 * in use. */
static uint64_t runs_to_save(const haft_local *local, uint64_t count)
{
    if (local->fresh_at != local->fresh_end) {
        return count;
    }
    for (uint64_t run = 0; run < count; run++) {
        if (runs_floor(&local->slots.runs, run) != 0 ||
            runs_link(&local->slots.runs, run) != RUN_IN_USE) {
            return count;
        }
    }
    return 0;
}

/* Tables that behave alike have the same file. */
static void make_canonical(const haft_local *local, uint64_t *numbers)
{
    numbers[LOCAL_RUNS] = runs_to_save(local, numbers[LOCAL_RUNS]);
    numbers[LOCAL_TAIL] = numbers[LOCAL_QUEUED] = 0;
    if (numbers[LOCAL_FRESH_AT] == numbers[LOCAL_FRESH_END]) {
        numbers[LOCAL_FRESH_AT] = numbers[LOCAL_FRESH_END] = 0;
    }
}

static haft_status write_image(struct image_file *image_file, const haft_local *local)
{
    const struct shape shape = local_shape(local);
    struct image image = local_begin_image(local);

    local_end_image(local);
    make_canonical(local, image.numbers);
    const struct image_slots slots = slots_of(local, &image);
    haft_status status = image_file_begin_write(image_file, &shape, image.numbers,
                                                body_bytes(image_file, image.numbers));

    if (status == HAFT_OK) {
        status = write_runs(image_file, local, image.numbers[LOCAL_RUNS]);
    }
    if (status == HAFT_OK) {
        status = image_file_write_words(image_file, &slots);
    }
    return status == HAFT_OK ? write_objects(image_file, &slots) : status;
}

haft_status haft_local_save(const haft_local *local, haft_file *file)
{
    struct image_file image_file;
    haft_status status = local_check_moment(local);

    if (status == HAFT_OK) {
        status = image_file_open(&image_file, file, local->slots.object_size, &local->slots.heap);
    }
    if (status == HAFT_OK) {
        status = write_image(&image_file, local);
        image_file_close(&image_file);
    }
    return status;
}

/* --- loading --- */

struct loading {
    const haft_local *local;
    struct image_file file;
    struct image image; /* its parts are this call's */
    struct image_slots slots;
};

static haft_status wrong(const struct loading *loading, enum local_number number)
{
    return image_file_wrong_number(&loading->file, number, number_names[number]);
}

/* The first number that no table like this can have; LOCAL_NUMBERS_END: there is none. */
static enum local_number find_wrong_number(const haft_local *local, const uint64_t *numbers)
{
    const struct slots *slots = &local->slots;
    const uint64_t limit = numbers[LOCAL_LIMIT];
    const uint64_t used = numbers[LOCAL_USED];
    const uint64_t capacity = numbers[LOCAL_CAPACITY];

    if (limit > slots->view.mask + 1 || limit <= HAFT_FIRST_INDEX) {
        return LOCAL_LIMIT;
    }
    if (capacity == 0 || capacity > limit - HAFT_FIRST_INDEX) {
        return LOCAL_CAPACITY;
    }
    if (numbers[LOCAL_MIN_FREE] > limit - HAFT_FIRST_INDEX - capacity ||
        (numbers[LOCAL_MIN_FREE] != 0 && !local->is_fifo)) {
        return LOCAL_MIN_FREE;
    }
    if (!image_is_beginning(&slots->format, numbers[LOCAL_FIRST])) {
        return LOCAL_FIRST;
    }
    if (used < HAFT_FIRST_INDEX || used > limit) {
        return LOCAL_USED;
    }
    if (numbers[LOCAL_COUNT] > capacity) {
        return LOCAL_COUNT;
    }
    if (numbers[LOCAL_EXHAUSTED] > capacity - numbers[LOCAL_COUNT]) {
        return LOCAL_EXHAUSTED;
    }
    if (numbers[LOCAL_RUNS] != 0 &&
        (slots->runs.stay || numbers[LOCAL_RUNS] != runs_of(&slots->runs, used - 1) + 1)) {
        return LOCAL_RUNS;
    }
    return LOCAL_NUMBERS_END;
}

/* The first mark that no table like this can have. */
static enum local_number find_wrong_mark(const haft_local *local, const uint64_t *numbers)
{
    if (numbers[LOCAL_WRAPPED] > (local->wraps ? 1 : 0)) {
        return LOCAL_WRAPPED;
    }
    if (numbers[LOCAL_RECYCLED] > 1) {
        return LOCAL_RECYCLED;
    }
    if (numbers[LOCAL_TAIL] != 0) {
        return LOCAL_TAIL;
    }
    return numbers[LOCAL_QUEUED] != 0 ? LOCAL_QUEUED : LOCAL_NUMBERS_END;
}

static haft_status read_head(struct loading *loading)
{
    const struct shape shape = local_shape(loading->local);
    uint64_t *numbers = loading->image.numbers;
    uint64_t body;
    const haft_status status =
        image_file_read_head(&loading->file, &shape, local_shape_names, numbers, &body);

    if (status != HAFT_OK) {
        return status;
    }
    enum local_number number = find_wrong_number(loading->local, numbers);

    if (number == LOCAL_NUMBERS_END) {
        number = find_wrong_mark(loading->local, numbers);
    }
    if (number == LOCAL_NUMBERS_END && body != body_bytes(&loading->file, numbers)) {
        number = LOCAL_COUNT;
    }
    saved_begin_read(loading->file.saved, loading->file.file, body);
    return number == LOCAL_NUMBERS_END ? HAFT_OK : wrong(loading, number);
}

/* Memory for the image, which haft_local_load() frees. */
static haft_status get_memory(struct loading *loading)
{
    struct image *image = &loading->image;
    const uint64_t bytes[] = {
        [LOCAL_SLOTS] = image->numbers[LOCAL_USED] * loading->local->slots.view.stride,
        [LOCAL_RUN_RECORDS] = image->numbers[LOCAL_RUNS] * sizeof(struct run),
    };

    for (int part = LOCAL_SLOTS; part <= LOCAL_RUN_RECORDS; part++) {
        image->parts[part].bytes = bytes[part];
        image->parts[part].at = heap_take_zero(&loading->local->slots.heap, (size_t)bytes[part] + 1,
                                               _Alignof(max_align_t));
        if (image->parts[part].at == NULL) {
            return HAFT_NO_MEMORY;
        }
    }
    loading->slots = slots_of(loading->local, image);
    *image_word(&loading->slots, 0) = MARK_RESERVED;
    return HAFT_OK;
}

static haft_status read_runs(struct loading *loading)
{
    uint64_t *numbers = (uint64_t *)(void *)loading->image.parts[LOCAL_RUN_RECORDS].at;
    const uint64_t count = loading->image.numbers[LOCAL_RUNS];

    for (uint64_t i = 0; i < 2 * count; i++) {
        const haft_status status =
            saved_read_number(loading->file.saved, &numbers[i], "a page run");

        if (status != HAFT_OK) {
            return status;
        }
        if (i % 2 == 0 && numbers[i] != 0 &&
            !image_is_beginning(&loading->local->slots.format, numbers[i])) {
            return saved_fault(loading->file.file, HAFT_DAMAGED,
                               saved_offset_of_byte(i * sizeof(uint64_t)), "a page run's floor");
        }
    }
    return HAFT_OK;
}

static uint64_t link_of(const struct loading *loading, uint64_t run)
{
    return (
        (const uint64_t *)(const void *)loading->image.parts[LOCAL_RUN_RECORDS].at)[2 * run + 1];
}

/* Whether all slots from `first` on, below `end`, are there and fresh. */
static bool are_fresh(const struct loading *loading, uint64_t first, uint64_t end)
{
    if (first < HAFT_FIRST_INDEX || end > loading->slots.end) {
        return false;
    }
    while (first < end && *image_word(&loading->slots, first) == 0) {
        first++;
    }
    return first >= end;
}

/* The slots of all runs in the list of fresh ones; UINT64_MAX: that is no list of such runs. */
static uint64_t count_in_fresh_runs(const struct loading *loading)
{
    const struct runs *runs = &loading->local->slots.runs;
    const uint64_t count = loading->image.numbers[LOCAL_RUNS];
    uint64_t linked = 0;
    uint64_t slots = 0;

    for (uint64_t run = 0; run < count; run++) {
        linked += link_of(loading, run) != RUN_IN_USE;
    }
    for (uint64_t run = loading->image.numbers[LOCAL_FIRST_RUN]; run != RUN_LAST;
         run = link_of(loading, run)) {
        if (linked-- == 0 || run >= count ||
            !are_fresh(loading, runs_first(runs, run), runs_end(runs, run))) {
            return UINT64_MAX;
        }
        slots += runs_end(runs, run) - runs_first(runs, run);
    }
    return linked == 0 ? slots : UINT64_MAX;
}

/* Whether the rest of the run in use is there: of a run that is in no list. */
static bool is_run_in_use(const struct loading *loading, uint64_t first, uint64_t end)
{
    const struct runs *runs = &loading->local->slots.runs;

    return first < end && are_fresh(loading, first, end) &&
           loading->image.numbers[LOCAL_RUNS] != 0 && end == runs_end(runs, runs_of(runs, first)) &&
           link_of(loading, runs_of(runs, first)) == RUN_IN_USE;
}

/* Each fresh slot is in one run, in the list or in use. */
static haft_status check_runs(struct loading *loading)
{
    const uint64_t *numbers = loading->image.numbers;
    const uint64_t listed = count_in_fresh_runs(loading);
    const uint64_t first = numbers[LOCAL_FRESH_AT];
    const uint64_t end = numbers[LOCAL_FRESH_END];

    if (listed == UINT64_MAX) {
        return wrong(loading, LOCAL_FIRST_RUN);
    }
    if (first != end && !is_run_in_use(loading, first, end)) {
        return wrong(loading, LOCAL_FRESH_AT);
    }
    if (numbers[LOCAL_FRESH_SLOTS] != loading->slots.fresh ||
        numbers[LOCAL_FRESH_SLOTS] != listed + (end - first)) {
        return wrong(loading, LOCAL_FRESH_SLOTS);
    }
    return HAFT_OK;
}

/* The words that were read agree with the numbers. */
static haft_status check_slots(struct loading *loading)
{
    uint64_t *numbers = loading->image.numbers;
    haft_status status = HAFT_OK;

    if (loading->slots.live != numbers[LOCAL_COUNT]) {
        return wrong(loading, LOCAL_COUNT);
    }
    if (loading->slots.exhausted != numbers[LOCAL_EXHAUSTED]) {
        return wrong(loading, LOCAL_EXHAUSTED);
    }
    status = image_file_check_list(&loading->file, &loading->slots, numbers[LOCAL_HEAD], LOCAL_HEAD,
                                   number_names[LOCAL_HEAD]);
    numbers[LOCAL_TAIL] = loading->slots.tail;
    numbers[LOCAL_QUEUED] = loading->slots.free;
    return status == HAFT_OK ? check_runs(loading) : status;
}

static haft_status read_objects(struct loading *loading)
{
    haft_status status = HAFT_OK;

    for (uint64_t index = HAFT_FIRST_INDEX; index < loading->slots.end && status == HAFT_OK;
         index++) {
        if (is_live_in(&loading->slots, index)) {
            status = image_file_read_object(&loading->file, image_word(&loading->slots, index) + 1);
        }
    }
    return status;
}

static haft_status read_image(struct loading *loading)
{
    haft_status (*const steps[])(struct loading *) = {read_head, get_memory, read_runs};
    haft_status status = HAFT_OK;

    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == HAFT_OK; i++) {
        status = steps[i](loading);
    }
    if (status == HAFT_OK) {
        status = image_file_read_words(&loading->file, &loading->slots);
    }
    if (status == HAFT_OK) {
        status = check_slots(loading);
    }
    return status == HAFT_OK ? read_objects(loading) : status;
}

haft_status haft_local_load(haft_local *local, haft_file *file)
{
    struct loading loading = {.local = local};
    haft_status status = local_check_moment(local);

    if (status == HAFT_OK) {
        status = image_file_open(&loading.file, file, local->slots.object_size, &local->slots.heap);
    }
    if (status != HAFT_OK) {
        return status;
    }
    status = read_image(&loading);
    if (status == HAFT_OK) {
        status = local_prepare(local, loading.image.numbers);
    }
    status = status == HAFT_OK ? local_end_values(local) : status;
    /* on_end may have inserted. */
    status = status == HAFT_OK ? local_prepare(local, loading.image.numbers) : status;
    if (status == HAFT_OK) {
        local_become(local, &loading.image);
    }
    for (int part = LOCAL_SLOTS; part <= LOCAL_RUN_RECORDS; part++) {
        heap_give(&local->slots.heap, loading.image.parts[part].at,
                  (size_t)loading.image.parts[part].bytes + 1);
    }
    image_file_close(&loading.file);
    return status;
}

/* lib/local/local_side.c */

/* The sides of a table of one thread. */

haft_status haft_side_open_local_sized(haft_local *local, const haft_side_options *options,
                                       size_t size, haft_side **side)
{
    if (local->mode == LOCAL_CLOSING) {
        return HAFT_IN_CALLBACK;
    }
    const haft_status status = side_open(&local->slots, options, size, false, local->wraps, side);

    if (status == HAFT_OK) {
        (*side)->leave = sides_remove;
        sides_add(&local->sides, *side);
    }
    return status;
}

/* lib/local/local_snapshot.c */

/* haft_local: snapshots, and a second table. */

/* Whether the table may go to the history now, or come from it. */
static haft_status check_history(const haft_local *local, const haft_history *history)
{
    const struct shape shape = local_shape(local);
    const haft_status status = local_check_moment(local);

    if (status == HAFT_OK && !history_fits(history, &shape)) {
        return HAFT_OTHER_TABLE;
    }
    return status;
}

haft_status haft_local_snapshot(const haft_local *local, haft_history *history, uint64_t *number)
{
    const struct shape shape = local_shape(local);
    haft_status status = check_history(local, history);

    if (status == HAFT_OK) {
        const struct image image = local_begin_image(local);

        status = history_take(history, &shape, &image, number);
        local_end_image(local);
    }
    return status;
}

/*
 * Whether the table can become that snapshot now; it is prepared.  `*serial` is the snapshot's from
 * now on; if it was not 0, it must have been.
 */
static haft_status prepare_rewind(haft_local *local, const haft_history *history, uint64_t number,
                                  uint64_t *serial)
{
    const struct snapshot *snapshot = history_find(history, number);
    const haft_status status = check_history(local, history);

    if (status == HAFT_OK && (snapshot == NULL || (*serial != 0 && *serial != snapshot->serial))) {
        return HAFT_OUT_OF_RANGE;
    }
    *serial = snapshot != NULL ? snapshot->serial : 0;
    return status == HAFT_OK ? local_prepare(local, snapshot->numbers) : status;
}

haft_status haft_local_rewind(haft_local *local, haft_history *history, uint64_t number)
{
    uint64_t serial = 0;
    haft_status status = prepare_rewind(local, history, number, &serial);

    status = status == HAFT_OK ? local_end_values(local) : status;
    /* on_end may have inserted, and taken snapshots of other tables. */
    status = status == HAFT_OK ? prepare_rewind(local, history, number, &serial) : status;
    if (status == HAFT_OK) {
        const struct image image = history_go(history, number);

        local_become(local, &image);
    }
    return status;
}

/* Options for slots in as much address space. */
static struct slots_options like_slots(const struct slots *slots)
{
    struct slots_options wanted = {
        .common = slots->common,
        .pins = slots->has_pins,
        .huge_pages = slots->huge_pages,
    };

    wanted.common.capacity = slots->view.mask + 1 - HAFT_FIRST_INDEX;
    return wanted;
}

/* A new table like that one, without objects. */
static haft_status open_like(const haft_local *local, haft_local **clone)
{
    const struct slots_options wanted = like_slots(&local->slots);
    haft_local *opened = local_new(local->name, NULL, &local->slots.heap);
    const haft_status status =
        opened != NULL ? slots_open(&opened->slots, &wanted) : HAFT_NO_MEMORY;

    if (status != HAFT_OK) {
        local_free(opened);
        return status;
    }
    opened->is_fifo = local->is_fifo;
    opened->wraps = local->wraps;
    opened->on_destroy = local->on_destroy;
    opened->destroy_arg = local->destroy_arg;
    opened->used = HAFT_FIRST_INDEX;
    opened->slots.runs.stay = local->slots.runs.stay;
    *clone = opened;
    return HAFT_OK;
}

static void close_unused(haft_local *clone)
{
    slots_close(&clone->slots);
    local_free(clone);
}

haft_status haft_local_clone(const haft_local *local, haft_local **clone)
{
    haft_local *opened = NULL;
    haft_status status = local_check_moment(local);

    if (status == HAFT_OK) {
        status = open_like(local, &opened);
    }
    if (status != HAFT_OK) {
        return status;
    }
    const struct image image = local_begin_image(local);

    status = local_prepare(opened, image.numbers);
    if (status == HAFT_OK) {
        local_become(opened, &image);
        *clone = opened;
    } else {
        close_unused(opened);
    }
    local_end_image(local);
    return status;
}

/* lib/local/local_stats.c */

/* The statistics of a table of one thread. */

haft_local_stats haft_local_stats_get(const haft_local *local)
{
    return (haft_local_stats){
        .live = local->front.count,
        .reserved = local->held - local->retired,
        .retired = local->retired,
        .free = local_listed(local),
        .exhausted = local->exhausted,
        .released = local->fresh_slots,
        .high_water = local->used - HAFT_FIRST_INDEX,
        .capacity = local->capacity,
        .limit = local->slots.limit - HAFT_FIRST_INDEX,
        .bytes =
            local_block_size(local) + slots_bytes(&local->slots, local->used, local->fresh_slots),
    };
}

/*
 * lib/packed/state.h - the structs of the packed table.
 *
 * A slot is in one of three places: fresh (never used), in the free list, or behind an object in
 * a position; so positions in use never outnumber slots in use.  Exhausted slots are in none.
 *
 * While callbacks run, an object whose life has ended keeps its position (its id is nil there)
 * and its slot (marked FREE, or EXHAUSTED after the last life).  Both are given back together,
 * when no callback can see it.
 */

/* Arrays with one element for each position; ORDER is memory for sorting alone. */
enum packed_array { OBJECTS, IDS, DEAD, ORDER, PACKED_ARRAYS };

struct haft_packed {
    struct slots slots;
    struct reservation memory[PACKED_ARRAYS];
    haft_dense_view view;
    haft_packed_slot *slot; /* view.slot, to be written */
    haft_id *ids;
    uint32_t *dead;  /* slots of dead objects, in order of the kills */
    uint32_t *order; /* two numbers for each position */
    uint64_t capacity;
    uint64_t step;      /* slots and positions made ready at a time */
    bool is_touched;    /* ready also means touched */
    uint64_t ready;     /* slots and positions that have memory */
    uint64_t used;      /* slots ever used */
    uint64_t free_head; /* first free slot, or MARK_END */
    uint64_t exhausted;
    uint64_t count;
    uint64_t dead_count;
    bool keep_order;
    bool in_callback;
    haft_packed_destroy *on_destroy;
    void *destroy_arg;
    const char *name; /* behind the struct */
};

/* Bytes of an array's element. */
static inline uint64_t packed_bytes(const struct haft_packed *packed, enum packed_array array)
{
    switch (array) {
    case OBJECTS:
        return packed->view.object_size;
    case DEAD:
        return sizeof(uint32_t);
    default: /* an id; two numbers */
        return sizeof(uint64_t);
    }
}

/* Make the first `count` elements of an array writable.  HAFT_OK or HAFT_NO_MEMORY. */
static inline haft_status packed_commit(struct haft_packed *packed, enum packed_array array,
                                        uint64_t count)
{
    return reservation_commit(&packed->memory[array], count * packed_bytes(packed, array));
}

static inline char *packed_object(const struct haft_packed *packed, uint64_t position)
{
    return packed->view.objects + position * packed->view.object_size;
}

/*
 * An object may be in a position; `count` positions have none: AddressSanitizer reports accesses.
 */
static inline void packed_unpoison(const struct haft_packed *packed, uint64_t position)
{
    asan_unpoison(packed_object(packed, position), (size_t)packed->view.object_size);
}

static inline void packed_poison(const struct haft_packed *packed, uint64_t position,
                                 uint64_t count)
{
    asan_poison(packed_object(packed, position), (size_t)(count * packed->view.object_size));
}

/* The slot that an id of this table leads to. */
static inline haft_packed_slot *packed_slot(const struct haft_packed *packed, haft_id id)
{
    return &packed->slot[word_index(&packed->slots.format, id.bits)];
}

/* The object in `from` stands in `to` as well; its id leads there from now on. */
static inline void packed_move(struct haft_packed *packed, uint64_t to, uint64_t from)
{
    memcpy(packed_object(packed, to), packed_object(packed, from),
           (size_t)packed->view.object_size);
    packed->ids[to] = packed->ids[from];
    packed_slot(packed, packed->ids[to])->position = (uint32_t)to;
}

/*
 * lib/packed/packed.h - a packed table comes, and its memory.
 */

/* Memory for the next step of slots and positions: HAFT_OK or HAFT_NO_MEMORY. */
HAFT_INTERNAL haft_status packed_make_ready(struct haft_packed *packed);

/* A table like that one, without objects: HAFT_OK or HAFT_NO_MEMORY. */
HAFT_INTERNAL haft_status packed_open_like(const haft_packed *packed, haft_packed **clone);

/*
 * lib/packed/packed_remove.h - objects that go all at once.
 */

/* End the lives of all objects, and call on_destroy for each.  They keep their positions. */
HAFT_INTERNAL void packed_destroy_all(struct haft_packed *packed, const void *caller);

/* lib/packed/packed.c */

/*
 * haft_packed: opening, lookups, and objects that come.
 *
 * Edges in this file.
 *   OWN   no thread changes the table while others read it
 */

OPTIONS_BEGIN_WITH_COMMON(haft_packed_options);

/* The bytes of a slot beyond its word, which struct slots takes for the object. */
#define SLOT_OBJECT_SIZE (sizeof(haft_packed_slot) - sizeof(haft_atomic_u64))

/* --- opening --- */

static void close_array(struct haft_packed *packed, int array)
{
    reservation_close_array(&packed->memory[array], &packed->slots.heap);
}

/* A type's size is a multiple of its alignment. */
static size_t array_alignment(uint64_t object_size)
{
    const uint64_t power = object_size & (~object_size + 1);

    return power > MAX_ALIGNMENT ? MAX_ALIGNMENT : power > CACHE_LINE ? (size_t)power : CACHE_LINE;
}

/* Memory for the arrays: an element more than the capacity, for sorting. */
static haft_status open_arrays(struct haft_packed *packed)
{
    const size_t alignment = array_alignment(packed->view.object_size);

    for (int array = 0; array < PACKED_ARRAYS; array++) {
        const uint64_t bytes = packed_bytes(packed, (enum packed_array)array);
        const haft_status status = reservation_open_array(
            &packed->memory[array], (packed->capacity + 1) * bytes, alignment, &packed->slots.heap);

        if (status != HAFT_OK) {
            while (array-- > 0) {
                close_array(packed, array);
            }
            return status;
        }
    }
    packed->view.objects = packed->memory[OBJECTS].base;
    packed->ids = (haft_id *)(void *)packed->memory[IDS].base;
    packed->dead = (uint32_t *)(void *)packed->memory[DEAD].base;
    packed->order = (uint32_t *)(void *)packed->memory[ORDER].base;
    return HAFT_OK;
}

static void close_memory(struct haft_packed *packed)
{
    for (int array = 0; array < PACKED_ARRAYS; array++) {
        close_array(packed, array);
    }
    slots_close(&packed->slots);
}

/* Use each page of an array's elements from `begin` on, which no thread has written to. */
static void touch(char *base, uint64_t begin, uint64_t end, uint64_t bytes)
{
    memset(base + begin * bytes, 0, (size_t)((end - begin) * bytes));
}

HAFT_INTERNAL haft_status packed_make_ready(struct haft_packed *packed)
{
    const uint64_t begin = packed->ready;
    const uint64_t left = packed->capacity - begin;
    const uint64_t end = begin + (packed->step < left ? packed->step : left);
    haft_status status = slots_commit(&packed->slots, HAFT_FIRST_INDEX + end);

    for (int array = OBJECTS; array <= DEAD && status == HAFT_OK; array++) {
        status = packed_commit(packed, (enum packed_array)array, end);
    }
    if (status != HAFT_OK) {
        return status;
    }
    if (packed->is_touched) {
        for (int array = OBJECTS; array <= DEAD; array++) {
            touch(packed->memory[array].base, begin, end,
                  packed_bytes(packed, (enum packed_array)array));
        }
        touch(packed->slots.view.base, HAFT_FIRST_INDEX + begin, HAFT_FIRST_INDEX + end,
              sizeof(haft_packed_slot));
        sites_forget(&packed->slots.sites, HAFT_FIRST_INDEX + begin, HAFT_FIRST_INDEX + end);
    }
    packed->ready = end;
    return HAFT_OK;
}

static haft_status open_memory(struct haft_packed *packed, const haft_packed_options *options)
{
    struct slots_options wanted = {0};
    uint64_t most;
    haft_status status = options_check(options, PACKED, &wanted.common, &most);

    if (status == HAFT_OK) {
        wanted.common.object_size = SLOT_OBJECT_SIZE;
        wanted.common.object_alignment = sizeof(uint64_t);
        status = slots_open(&packed->slots, &wanted);
    }
    if (status != HAFT_OK) {
        return status;
    }
    assert(packed->slots.view.stride == sizeof(haft_packed_slot));
    packed->slot = (haft_packed_slot *)(void *)packed->slots.view.base;
    packed->view.slot = packed->slot;
    packed->view.mask = packed->slots.view.mask;
    status = open_arrays(packed);
    if (status != HAFT_OK) {
        slots_close(&packed->slots);
        return status;
    }
    status = packed->is_touched ? packed_make_ready(packed) : HAFT_OK;
    if (status != HAFT_OK) {
        close_memory(packed);
    }
    return status;
}

static struct haft_packed *packed_new(const char *name, const haft_allocator *heap)
{
    const size_t size = size_with_name(sizeof(struct haft_packed), name);
    struct haft_packed *packed = heap_take_zero(heap, size, _Alignof(struct haft_packed));

    if (packed != NULL) {
        packed->slots.heap = *heap;
        packed->name = memcpy(packed + 1, name, size - sizeof *packed);
    }
    return packed;
}

static void packed_free(struct haft_packed *packed)
{
    heap_give(&packed->slots.heap, packed,
              size_with_name(sizeof(struct haft_packed), packed->name));
}

static haft_status open_packed(const haft_packed_options *options, haft_packed **packed)
{
    const haft_allocator heap = heap_of(options->allocator);
    struct haft_packed *opened =
        packed_new(options->name != NULL ? options->name : "packed table", &heap);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    opened->view.object_size = options->object_size;
    opened->capacity = options->capacity;
    opened->step = options->growth_step != 0 ? options->growth_step : 1;
    opened->is_touched = options->growth_step != 0;
    const haft_status status = open_memory(opened, options);

    if (status != HAFT_OK) {
        packed_free(opened);
        return status;
    }
    opened->free_head = MARK_END;
    opened->keep_order = options->keep_order;
    opened->on_destroy = options->on_destroy;
    opened->destroy_arg = options->destroy_arg;
    *packed = opened;
    return HAFT_OK;
}

HAFT_INTERNAL haft_status packed_open_like(const haft_packed *packed, haft_packed **clone)
{
    const struct common_options *common = &packed->slots.common;
    haft_packed_options options = {
        .growth_step = packed->is_touched ? packed->step : 0,
        .keep_order = packed->keep_order,
        .on_destroy = packed->on_destroy,
        .destroy_arg = packed->destroy_arg,
    };

    memcpy(&options, common, sizeof *common);
    options.name = packed->name;
    options.object_size = (size_t)packed->view.object_size;
    options.object_alignment = 0;
    options.allocator = &packed->slots.heap;
    return open_packed(&options, clone);
}

haft_status haft_packed_open_sized(const haft_packed_options *options, size_t size,
                                   haft_packed **packed)
{
    haft_packed_options known;
    const haft_status status = sized_take(&known, sizeof known, options, size);

    return status == HAFT_OK ? open_packed(&known, packed) : status;
}

void haft_packed_close(haft_packed *packed)
{
    assert(!packed->in_callback && "a callback may not close its table");
    leaks_report(&packed->slots, packed->name, HAFT_FIRST_INDEX + packed->used);
    if (packed->on_destroy != NULL) {
        packed_destroy_all(packed, CALLER);
    }
    asan_unpoison(packed->view.objects, (size_t)((packed->ready + 1) * packed->view.object_size));
    close_memory(packed);
    packed_free(packed);
}

haft_dense_view haft_packed_view(const haft_packed *packed)
{
    return packed->view;
}

haft_layout haft_packed_layout(const haft_packed *packed)
{
    return packed->slots.format.layout;
}

const char *haft_packed_name(const haft_packed *packed)
{
    return packed->name;
}

uint64_t haft_packed_capacity(const haft_packed *packed)
{
    return packed->capacity;
}

/* --- by id --- */

haft_status haft_packed_diagnose(const haft_packed *packed, haft_id id)
{
    return slots_diagnose(&packed->slots, id);
}

haft_packed_life haft_packed_state(const haft_packed *packed, haft_id id)
{
    if (!haft_packed_is_live(packed->view, id)) {
        return HAFT_PACKED_UNUSED;
    }
    return packed_slot(packed, id)->death != 0 ? HAFT_PACKED_DEAD : HAFT_PACKED_ALIVE;
}

haft_status haft_packed_position(const haft_packed *packed, haft_id id, uint64_t *position)
{
    if (!haft_packed_is_live(packed->view, id)) {
        return haft_packed_diagnose(packed, id);
    }
    *position = packed_slot(packed, id)->position;
    return HAFT_OK;
}

haft_status haft_packed_id_at(const haft_packed *packed, uint64_t index, haft_id *id)
{
    return slots_id_at(&packed->slots, index, id);
}

/* --- by position --- */

void *haft_packed_objects(const haft_packed *packed)
{
    return packed->view.objects;
}

const haft_id *haft_packed_ids(const haft_packed *packed)
{
    return packed->ids;
}

haft_id haft_packed_id_in(const haft_packed *packed, uint64_t position)
{
    const haft_id nil = HAFT_NIL;

    return position < packed->count ? packed->ids[position] : nil;
}

haft_packed_life haft_packed_state_in(const haft_packed *packed, uint64_t position)
{
    return haft_packed_state(packed, haft_packed_id_in(packed, position));
}

uint64_t haft_packed_count(const haft_packed *packed)
{
    return packed->count;
}

uint64_t haft_packed_dead_count(const haft_packed *packed)
{
    return packed->dead_count;
}

uint64_t haft_packed_available(const haft_packed *packed)
{
    return packed->capacity - packed->count - packed->exhausted;
}

bool haft_packed_is_empty(const haft_packed *packed)
{
    return packed->count == 0;
}

/* --- insert --- */

/* The next slot to use, taken off the free list or fresh. */
static haft_status take_packed_slot(struct haft_packed *packed, uint64_t *index)
{
    if (packed->free_head != MARK_END) {
        *index = packed->free_head;
        packed->free_head =
            word_index(&packed->slots.format, load_relaxed(OWN, &packed->slot[*index].word));
        return HAFT_OK;
    }
    if (packed->used == packed->capacity) {
        return HAFT_FULL;
    }
    const haft_status status = packed->used < packed->ready ? HAFT_OK : packed_make_ready(packed);

    if (status == HAFT_OK) {
        *index = HAFT_FIRST_INDEX + packed->used++;
    }
    return status;
}

haft_status haft_packed_insert(haft_packed *packed, const void *object, haft_id *id)
{
    uint64_t index;
    const haft_status status = take_packed_slot(packed, &index);

    if (status != HAFT_OK) {
        return status;
    }
    haft_packed_slot *slot = &packed->slot[index];
    const uint64_t position = packed->count++;
    char *bytes = packed_object(packed, position);
    const uint64_t word = slots_begin(&packed->slots, load_relaxed(OWN, &slot->word));

    packed_unpoison(packed, position);
    if (object == NULL) {
        memset(bytes, 0, (size_t)packed->view.object_size);
    } else {
        memcpy(bytes, object, (size_t)packed->view.object_size);
    }
    const haft_id inserted = {word_with_index(&packed->slots.format, word, index)};

    packed->ids[position] = inserted;
    slot->position = (uint32_t)position;
    slot->death = 0;
    sites_note_birth(&packed->slots.sites, index, CALLER);
    store_relaxed(OWN, &slot->word, inserted.bits);
    *id = inserted;
    return HAFT_OK;
}

/* lib/packed/packed_explain.c */

/* A packed table's statuses and ids, in words. */

int haft_packed_explain(const haft_packed *packed, haft_status status, char *line, size_t size)
{
    struct text text = text_in(line, size);
    const struct use use = {packed->count, 0, packed->exhausted};

    text_add(&text, "%s: ", packed->name);
    if (status == HAFT_FULL) {
        explain_full(&text, packed->capacity, &use);
        if (packed->dead_count != 0) {
            text_add(&text, "; ");
            text_add_count(&text, packed->dead_count);
            text_add(&text, " dead until the refresh");
        }
    } else if (status == HAFT_NO_MEMORY) {
        text_add(&text, "no memory: the system refused more than ");
        text_add_counted(&text, packed->used, "object");
        text_add(&text, " of ");
        text_add_counted(&text, packed->view.object_size, "byte");
    } else {
        text_add(&text, "%s", haft_status_text(status));
    }
    return text_length(&text);
}

int haft_packed_diagnose_format(const haft_packed *packed, haft_id id, char *text, size_t size)
{
    const bool is_dead = haft_packed_state(packed, id) == HAFT_PACKED_DEAD;
    const haft_status status = is_dead ? HAFT_DEAD : haft_packed_diagnose(packed, id);

    return sites_describe(&packed->slots, packed->name, id, status, text, size);
}

void *haft_packed_require_failed(const haft_packed *packed, haft_id id, const void *slots)
{
    assert(slots == packed->view.slot && "the view is the table's");
    (void)slots;
    bad_access(&packed->slots, packed->name, id, haft_packed_diagnose(packed, id));
    return NULL;
}

/*
 * lib/packed/packed_image.h - the image of a packed table: see lib/slots/image.h.
 */

/* Numbers of the image, with what a file that has a wrong one is said to have. */
#define PACKED_NUMBERS(X)                                                                          \
    X(FIRST, "first generation")                                                                   \
    X(USED, "number of slots")                                                                     \
    X(COUNT, "number of objects")                                                                  \
    X(DEAD, "number of dead objects")                                                              \
    X(EXHAUSTED, "number of exhausted slots")                                                      \
    X(HEAD, "first free slot")

#define PACKED_NUMBER(name, text) PACKED_##name,
enum packed_number { PACKED_NUMBERS(PACKED_NUMBER) PACKED_NUMBERS_END };

/* The slots from slot 0 on, and the arrays up to the last object. */
enum packed_part {
    PACKED_OBJECTS = OBJECTS,
    PACKED_IDS = IDS,
    PACKED_PART_DEAD = DEAD,
    PACKED_SLOTS
};

/* What the table was opened with; names for each number of it. */
HAFT_INTERNAL struct shape packed_shape(const haft_packed *packed);
HAFT_INTERNAL const char *const packed_shape_names[SHAPE_NUMBERS];

/* HAFT_OK, or why this is no moment for an image, to be taken or become. */
HAFT_INTERNAL haft_status packed_check_moment(const haft_packed *packed);

/* The table's own image. */
HAFT_INTERNAL struct image packed_image(const haft_packed *packed);

/* Memory to become an image with these numbers: HAFT_OK or HAFT_NO_MEMORY. */
HAFT_INTERNAL haft_status packed_prepare(haft_packed *packed, const uint64_t *numbers);

/* Become the image, which the table is prepared for. */
HAFT_INTERNAL void packed_become(haft_packed *packed, const struct image *image);

/* lib/packed/packed_image.c */

/* The image of a packed table, and how the table becomes another. */

_Static_assert(PACKED_NUMBERS_END <= IMAGE_NUMBERS, "an image has room for the numbers");

HAFT_INTERNAL const char *const packed_shape_names[SHAPE_NUMBERS] = {
    "kind of table", "layout", "tag", "object_size", "capacity", "keep_order",
};

HAFT_INTERNAL struct shape packed_shape(const haft_packed *packed)
{
    const haft_layout layout = packed->slots.format.layout;

    return (struct shape){{
        2,
        (uint64_t)layout.index_bits | (uint64_t)layout.generation_bits << 8 |
            (uint64_t)layout.tag_bits << 16,
        haft_id_tag(layout, (haft_id){packed->slots.format.tag}),
        packed->view.object_size,
        packed->capacity,
        packed->keep_order,
    }};
}

HAFT_INTERNAL haft_status packed_check_moment(const haft_packed *packed)
{
    return packed->in_callback ? HAFT_IN_USE : HAFT_OK;
}

static uint64_t slot_bytes(uint64_t used)
{
    return (HAFT_FIRST_INDEX + used) * sizeof(haft_packed_slot);
}

HAFT_INTERNAL struct image packed_image(const haft_packed *packed)
{
    struct image image = {
        .numbers =
            {
                [PACKED_FIRST] = packed->slots.format.first,
                [PACKED_USED] = packed->used,
                [PACKED_COUNT] = packed->count,
                [PACKED_DEAD] = packed->dead_count,
                [PACKED_EXHAUSTED] = packed->exhausted,
                [PACKED_HEAD] = packed->free_head,
            },
        .parts[PACKED_SLOTS] = {(char *)packed->slot, slot_bytes(packed->used),
                                slot_bytes(packed->capacity)},
    };

    for (int array = OBJECTS; array <= DEAD; array++) {
        const uint64_t bytes = packed_bytes(packed, (enum packed_array)array);
        const uint64_t count = array == DEAD ? packed->dead_count : packed->count;

        image.parts[array] = (struct image_part){packed->memory[array].base, count * bytes,
                                                 packed->capacity * bytes};
    }
    return image;
}

HAFT_INTERNAL haft_status packed_prepare(haft_packed *packed, const uint64_t *numbers)
{
    haft_status status = HAFT_OK;

    while (packed->ready < numbers[PACKED_USED] && status == HAFT_OK) {
        status = packed_make_ready(packed);
    }
    return status;
}

HAFT_INTERNAL void packed_become(haft_packed *packed, const struct image *image)
{
    const uint64_t *numbers = image->numbers;
    const struct image own = packed_image(packed);
    const uint64_t count = numbers[PACKED_COUNT];

    asan_unpoison(packed->view.objects, (size_t)image->parts[PACKED_OBJECTS].bytes);
    for (int part = 0; part < IMAGE_PARTS; part++) {
        image_put(own.parts[part].at, image->parts[part].at, image->parts[part].bytes);
    }
    if (own.parts[PACKED_SLOTS].bytes > image->parts[PACKED_SLOTS].bytes) {
        image_clear(own.parts[PACKED_SLOTS].at + image->parts[PACKED_SLOTS].bytes,
                    own.parts[PACKED_SLOTS].bytes - image->parts[PACKED_SLOTS].bytes);
    }
    if (packed->count > count) {
        packed_poison(packed, count, packed->count - count);
    }
    sites_forget(&packed->slots.sites, HAFT_FIRST_INDEX, HAFT_FIRST_INDEX + packed->used);
    packed->slots.format.first = numbers[PACKED_FIRST];
    packed->used = numbers[PACKED_USED];
    packed->count = count;
    packed->dead_count = numbers[PACKED_DEAD];
    packed->exhausted = numbers[PACKED_EXHAUSTED];
    packed->free_head = numbers[PACKED_HEAD];
}

/* lib/packed/packed_remove.c */

/*
 * haft_packed: objects that go.
 *
 * In two steps.  First lives end, one on_destroy after the other, while every object stays where
 * it is; callbacks may insert and kill.  Then, without callbacks, gaps close and slots go back.
 *
 * Edges in this file.
 *   OWN   no thread changes the table while others read it
 */

/* --- lives end --- */

/* End the life in slot `index`.  Its position and the slot stay taken. */
static void end_object(struct haft_packed *packed, uint64_t index)
{
    const struct word_format *format = &packed->slots.format;
    haft_packed_slot *slot = &packed->slot[index];
    const haft_id nil = HAFT_NIL;
    const haft_id id = packed->ids[slot->position];
    const uint64_t next = word_next_life(format, id.bits, MARK_FREE);
    const bool was_last = word_generation(format, next) == 0;

    store_relaxed(OWN, &slot->word,
                  was_last ? word_with_index(format, next, MARK_EXHAUSTED) : next);
    packed->ids[slot->position] = nil;
    if (packed->on_destroy != NULL) {
        packed->in_callback = true;
        packed->on_destroy(packed_object(packed, slot->position), id, packed->destroy_arg);
        packed->in_callback = false;
    }
}

/* The slot of an ended life: onto the free list, or out of use after its last. */
static void free_slot(struct haft_packed *packed, uint64_t index)
{
    const struct word_format *format = &packed->slots.format;
    atomic_u64 *at = &packed->slot[index].word;
    const uint64_t word = load_relaxed(OWN, at);

    if (word_index(format, word) == MARK_EXHAUSTED) {
        packed->exhausted++;
        return;
    }
    store_relaxed(OWN, at, word_with_index(format, word, packed->free_head));
    packed->free_head = index;
}

/* End the dead objects' lives, from place `done` among them on, and of those killed meanwhile. */
static void destroy_dead(struct haft_packed *packed, uint64_t done)
{
    for (; done < packed->dead_count; done++) {
        end_object(packed, packed->dead[done]);
    }
}

static void free_dead_slots(struct haft_packed *packed)
{
    for (uint64_t i = 0; i < packed->dead_count; i++) {
        free_slot(packed, packed->dead[i]);
    }
    packed->dead_count = 0;
}

/* --- gaps close --- */

static void fill_gap_with_last(struct haft_packed *packed, uint64_t position)
{
    packed->count--;
    if (position != packed->count) {
        packed_move(packed, position, packed->count);
    }
    packed_poison(packed, packed->count, 1);
}

/* Move `count` objects up, from `from` to `to`. */
static void move_run(struct haft_packed *packed, uint64_t to, uint64_t from, uint64_t count)
{
    memmove(packed_object(packed, to), packed_object(packed, from),
            (size_t)(count * packed->view.object_size));
    memmove(&packed->ids[to], &packed->ids[from], (size_t)count * sizeof packed->ids[0]);
    for (uint64_t position = to; position < to + count; position++) {
        packed_slot(packed, packed->ids[position])->position = (uint32_t)position;
    }
}

/* Close all gaps from the first one on, which is at `to`: run by run, in order. */
static void close_gaps(struct haft_packed *packed, uint64_t to)
{
    uint64_t from = to;

    while (from < packed->count) {
        uint64_t end = from;

        while (end < packed->count && !haft_id_is_nil(packed->ids[end])) {
            end++;
        }
        if (end != from) {
            move_run(packed, to, from, end - from);
            to += end - from;
        }
        from = end + 1;
    }
    packed_poison(packed, to, packed->count - to);
    packed->count = to;
}

/* The first position of a dead object; there is one. */
static uint64_t first_gap(const struct haft_packed *packed)
{
    uint64_t first = UINT64_MAX;

    for (uint64_t i = 0; i < packed->dead_count; i++) {
        const uint64_t position = packed->slot[packed->dead[i]].position;

        first = position < first ? position : first;
    }
    return first;
}

/* Fill the gaps of dead objects that are not at the end anyway, each with the last live object. */
static void fill_gaps(struct haft_packed *packed)
{
    const uint64_t before = packed->count;
    const uint64_t kept = before - packed->dead_count;

    for (uint64_t i = 0; i < packed->dead_count; i++) {
        const uint64_t gap = packed->slot[packed->dead[i]].position;

        if (gap >= kept) {
            continue;
        }
        while (haft_id_is_nil(packed->ids[packed->count - 1])) {
            packed->count--;
        }
        fill_gap_with_last(packed, gap);
    }
    packed->count = kept;
    packed_poison(packed, kept, before - kept);
}

/* --- free --- */

/* Take an object off the list of the dead; the one killed last takes its turn. */
static void unlist(struct haft_packed *packed, const haft_packed_slot *slot)
{
    const uint32_t place = slot->death - 1;
    const uint32_t last = packed->dead[--packed->dead_count];

    packed->dead[place] = last;
    packed->slot[last].death = place + 1;
}

haft_status haft_packed_free(haft_packed *packed, haft_id id)
{
    if (!haft_packed_is_live(packed->view, id)) {
        return slots_diagnose(&packed->slots, id);
    }
    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    const uint64_t index = word_index(&packed->slots.format, id.bits);
    haft_packed_slot *slot = &packed->slot[index];

    if (slot->death != 0) {
        unlist(packed, slot);
    }
    sites_note_death(&packed->slots.sites, index, CALLER);
    end_object(packed, index);
    if (packed->keep_order) {
        close_gaps(packed, slot->position);
    } else {
        fill_gap_with_last(packed, slot->position);
    }
    free_slot(packed, index);
    return HAFT_OK;
}

/* --- kill and refresh --- */

/* Put a live object on the list of the dead, if it is not there. */
static bool list_dead(struct haft_packed *packed, haft_id id, const void *caller)
{
    const uint64_t index = word_index(&packed->slots.format, id.bits);
    haft_packed_slot *slot = &packed->slot[index];

    if (slot->death != 0) {
        return false;
    }
    sites_note_death(&packed->slots.sites, index, caller);
    packed->dead[packed->dead_count++] = (uint32_t)index;
    slot->death = (uint32_t)packed->dead_count;
    return true;
}

haft_status haft_packed_kill(haft_packed *packed, haft_id id)
{
    if (!haft_packed_is_live(packed->view, id)) {
        return slots_diagnose(&packed->slots, id);
    }
    return list_dead(packed, id, CALLER) ? HAFT_OK : HAFT_DEAD;
}

haft_status haft_packed_refresh(haft_packed *packed)
{
    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    if (packed->dead_count == 0) {
        return HAFT_OK;
    }
    destroy_dead(packed, 0);
    if (packed->keep_order) {
        close_gaps(packed, first_gap(packed));
    } else {
        fill_gaps(packed);
    }
    free_dead_slots(packed);
    return HAFT_OK;
}

/* --- clear --- */

HAFT_INTERNAL void packed_destroy_all(struct haft_packed *packed, const void *caller)
{
    uint64_t done = 0;

    for (uint64_t position = 0; position < packed->count;) {
        for (; position < packed->count; position++) {
            if (!haft_id_is_nil(packed->ids[position])) { /* nil: inserted, killed, destroyed */
                list_dead(packed, packed->ids[position], caller);
            }
        }
        destroy_dead(packed, done);
        done = packed->dead_count;
    }
}

haft_status haft_packed_clear(haft_packed *packed)
{
    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    packed_destroy_all(packed, CALLER);
    packed_poison(packed, 0, packed->count);
    packed->count = 0;
    free_dead_slots(packed);
    return HAFT_OK;
}

/* lib/packed/packed_save.c */

/*
 * haft_packed: its image in a file.
 *
 * The body: the words of all slots ever used, the ids of all positions, the indices of dead slots
 * in order of the kills, and the objects in order of position.
 */

static const char *const number_texts[] = {
#define TEXT_OF(name, text) text,
    PACKED_NUMBERS(TEXT_OF)
#undef TEXT_OF
};

static struct image_slots slots_in(const haft_packed *packed, const struct image *image)
{
    return (struct image_slots){
        .format = &packed->slots.format,
        .base = image->parts[PACKED_SLOTS].at,
        .stride = sizeof(haft_packed_slot),
        .end = HAFT_FIRST_INDEX + image->numbers[PACKED_USED],
        .tail = MARK_END,
    };
}

static uint64_t body_size(const struct image_file *image_file, const uint64_t *numbers)
{
    return (numbers[PACKED_USED] + numbers[PACKED_COUNT] + numbers[PACKED_DEAD]) *
               sizeof(uint64_t) +
           numbers[PACKED_COUNT] * image_file->object_bytes;
}

/* --- saving --- */

static haft_status write_positions(struct image_file *image_file, const haft_packed *packed)
{
    haft_status status = HAFT_OK;

    for (uint64_t i = 0; i < packed->count && status == HAFT_OK; i++) {
        status = saved_write_number(image_file->saved, packed->ids[i].bits);
    }
    for (uint64_t i = 0; i < packed->dead_count && status == HAFT_OK; i++) {
        status = saved_write_number(image_file->saved, packed->dead[i]);
    }
    for (uint64_t i = 0; i < packed->count && status == HAFT_OK; i++) {
        status = image_file_write_object(image_file, packed_object(packed, i));
    }
    return status;
}

static haft_status write_packed(struct image_file *image_file, const haft_packed *packed)
{
    const struct shape shape = packed_shape(packed);
    const struct image image = packed_image(packed);
    const struct image_slots slots = slots_in(packed, &image);
    haft_status status = image_file_begin_write(image_file, &shape, image.numbers,
                                                body_size(image_file, image.numbers));

    if (status == HAFT_OK) {
        status = image_file_write_words(image_file, &slots);
    }
    return status == HAFT_OK ? write_positions(image_file, packed) : status;
}

haft_status haft_packed_save(const haft_packed *packed, haft_file *file)
{
    struct image_file image_file;
    haft_status status = packed_check_moment(packed);

    if (status == HAFT_OK) {
        status = image_file_open(&image_file, file, packed->view.object_size, &packed->slots.heap);
    }
    if (status == HAFT_OK) {
        status = write_packed(&image_file, packed);
        image_file_close(&image_file);
    }
    return status;
}

/* --- loading --- */

struct packed_loading {
    const haft_packed *packed;
    struct image_file file;
    struct image image; /* its parts are this call's */
    struct image_slots slots;
};

static haft_status is_wrong(const struct packed_loading *loading, enum packed_number number)
{
    return image_file_wrong_number(&loading->file, number, number_texts[number]);
}

/* The first number that no table like this can have; PACKED_NUMBERS_END: there is none. */
static enum packed_number wrong_number_of(const haft_packed *packed, const uint64_t *numbers)
{
    if (!image_is_beginning(&packed->slots.format, numbers[PACKED_FIRST])) {
        return PACKED_FIRST;
    }
    if (numbers[PACKED_USED] > packed->capacity) {
        return PACKED_USED;
    }
    if (numbers[PACKED_COUNT] > numbers[PACKED_USED]) {
        return PACKED_COUNT;
    }
    return numbers[PACKED_DEAD] > numbers[PACKED_COUNT] ? PACKED_DEAD : PACKED_NUMBERS_END;
}

static haft_status read_packed_head(struct packed_loading *loading)
{
    const struct shape shape = packed_shape(loading->packed);
    uint64_t *numbers = loading->image.numbers;
    uint64_t body;
    const haft_status status =
        image_file_read_head(&loading->file, &shape, packed_shape_names, numbers, &body);

    if (status != HAFT_OK) {
        return status;
    }
    enum packed_number number = wrong_number_of(loading->packed, numbers);

    if (number == PACKED_NUMBERS_END && body != body_size(&loading->file, numbers)) {
        number = PACKED_COUNT;
    }
    saved_begin_read(loading->file.saved, loading->file.file, body);
    return number == PACKED_NUMBERS_END ? HAFT_OK : is_wrong(loading, number);
}

static haft_status get_packed_memory(struct packed_loading *loading)
{
    const uint64_t *numbers = loading->image.numbers;
    struct image_part *parts = loading->image.parts;

    for (int array = OBJECTS; array <= DEAD; array++) {
        parts[array].bytes = numbers[array == DEAD ? PACKED_DEAD : PACKED_COUNT] *
                             packed_bytes(loading->packed, (enum packed_array)array);
    }
    parts[PACKED_SLOTS].bytes =
        (HAFT_FIRST_INDEX + numbers[PACKED_USED]) * sizeof(haft_packed_slot);
    for (int part = 0; part < IMAGE_PARTS; part++) {
        parts[part].at = heap_take_zero(&loading->packed->slots.heap, (size_t)parts[part].bytes + 1,
                                        _Alignof(max_align_t));
        if (parts[part].at == NULL) {
            return HAFT_NO_MEMORY;
        }
    }
    loading->slots = slots_in(loading->packed, &loading->image);
    *image_word(&loading->slots, 0) = MARK_RESERVED;
    return HAFT_OK;
}

static haft_status read_packed_words(struct packed_loading *loading)
{
    const uint64_t *numbers = loading->image.numbers;
    const haft_status status = image_file_read_words(&loading->file, &loading->slots);

    if (status != HAFT_OK) {
        return status;
    }
    if (loading->slots.live != numbers[PACKED_COUNT]) {
        return is_wrong(loading, PACKED_COUNT);
    }
    if (loading->slots.exhausted != numbers[PACKED_EXHAUSTED]) {
        return is_wrong(loading, PACKED_EXHAUSTED);
    }
    return image_file_check_list(&loading->file, &loading->slots, numbers[PACKED_HEAD], PACKED_HEAD,
                                 number_texts[PACKED_HEAD]);
}

/* The slot whose object has the id; NULL: there is none. */
static haft_packed_slot *live_slot(const struct packed_loading *loading, uint64_t id)
{
    const uint64_t index = word_index(loading->slots.format, id);

    return index >= HAFT_FIRST_INDEX && index < loading->slots.end &&
                   *image_word(&loading->slots, index) == id
               ? (haft_packed_slot *)(void *)image_word(&loading->slots, index)
               : NULL;
}

/* A number of the body that names a slot is wrong; `before` numbers stand before it. */
static haft_status wrong_name(const struct packed_loading *loading, uint64_t before,
                              const char *what)
{
    return saved_fault(loading->file.file, HAFT_DAMAGED,
                       saved_offset_of_byte(before * sizeof(uint64_t)), what);
}

/* Each live slot has one position; `position` and `death` of its struct begin as 0. */
static haft_status read_ids(struct packed_loading *loading)
{
    haft_id *ids = (haft_id *)(void *)loading->image.parts[PACKED_IDS].at;

    for (uint64_t i = 0; i < loading->image.numbers[PACKED_COUNT]; i++) {
        const haft_status status =
            saved_read_number(loading->file.saved, &ids[i].bits, "an object's id");
        haft_packed_slot *slot = status == HAFT_OK ? live_slot(loading, ids[i].bits) : NULL;

        if (status != HAFT_OK) {
            return status;
        }
        if (slot == NULL || slot->position != 0 || (i != 0 && ids[0].bits == ids[i].bits)) {
            return wrong_name(loading, loading->image.numbers[PACKED_USED] + i, "an object's id");
        }
        slot->position = (uint32_t)i;
    }
    return HAFT_OK;
}

static haft_status read_dead(struct packed_loading *loading)
{
    const uint64_t *numbers = loading->image.numbers;
    uint32_t *dead = (uint32_t *)(void *)loading->image.parts[PACKED_PART_DEAD].at;

    for (uint64_t i = 0; i < numbers[PACKED_DEAD]; i++) {
        uint64_t index = 0;
        const haft_status status =
            saved_read_number(loading->file.saved, &index, "a dead object's slot");

        if (status != HAFT_OK) {
            return status;
        }
        /* No free slot's word is a live id: the next slot in its list is free. */
        haft_packed_slot *slot = index < loading->slots.end
                                     ? live_slot(loading, *image_word(&loading->slots, index))
                                     : NULL;

        if (slot == NULL || slot->death != 0) {
            return wrong_name(loading, numbers[PACKED_USED] + numbers[PACKED_COUNT] + i,
                              "a dead object's slot");
        }
        dead[i] = (uint32_t)index;
        slot->death = (uint32_t)i + 1;
    }
    return HAFT_OK;
}

static haft_status read_packed_objects(struct packed_loading *loading)
{
    haft_status status = HAFT_OK;
    char *at = loading->image.parts[PACKED_OBJECTS].at;

    for (uint64_t i = 0; i < loading->image.numbers[PACKED_COUNT] && status == HAFT_OK; i++) {
        status = image_file_read_object(&loading->file, at);
        at += loading->file.object_size;
    }
    return status;
}

static haft_status read_packed(struct packed_loading *loading)
{
    haft_status (*const steps[])(struct packed_loading *) = {
        read_packed_head, get_packed_memory, read_packed_words,
        read_ids,         read_dead,         read_packed_objects,
    };
    haft_status status = HAFT_OK;

    for (size_t i = 0; i < sizeof steps / sizeof steps[0] && status == HAFT_OK; i++) {
        status = steps[i](loading);
    }
    return status;
}

haft_status haft_packed_load(haft_packed *packed, haft_file *file)
{
    struct packed_loading loading = {.packed = packed};
    haft_status status = packed_check_moment(packed);

    if (status == HAFT_OK) {
        status =
            image_file_open(&loading.file, file, packed->view.object_size, &packed->slots.heap);
    }
    if (status != HAFT_OK) {
        return status;
    }
    status = read_packed(&loading);
    if (status == HAFT_OK) {
        status = packed_prepare(packed, loading.image.numbers);
    }
    if (status == HAFT_OK) {
        packed_become(packed, &loading.image);
    }
    for (int part = 0; part < IMAGE_PARTS; part++) {
        heap_give(&packed->slots.heap, loading.image.parts[part].at,
                  (size_t)loading.image.parts[part].bytes + 1);
    }
    image_file_close(&loading.file);
    return status;
}

/* lib/packed/packed_snapshot.c */

/* haft_packed: snapshots, and a second table. */

/* Whether the table may go to the history now, or come from it. */
static haft_status check_history_of(const haft_packed *packed, const haft_history *history)
{
    const struct shape shape = packed_shape(packed);
    const haft_status status = packed_check_moment(packed);

    if (status == HAFT_OK && !history_fits(history, &shape)) {
        return HAFT_OTHER_TABLE;
    }
    return status;
}

haft_status haft_packed_snapshot(const haft_packed *packed, haft_history *history, uint64_t *number)
{
    const struct shape shape = packed_shape(packed);
    const struct image image = packed_image(packed);
    const haft_status status = check_history_of(packed, history);

    return status == HAFT_OK ? history_take(history, &shape, &image, number) : status;
}

haft_status haft_packed_rewind(haft_packed *packed, haft_history *history, uint64_t number)
{
    const struct snapshot *snapshot = history_find(history, number);
    haft_status status = check_history_of(packed, history);

    if (status == HAFT_OK && snapshot == NULL) {
        status = HAFT_OUT_OF_RANGE;
    }
    if (status == HAFT_OK) {
        status = packed_prepare(packed, snapshot->numbers);
    }
    if (status == HAFT_OK) {
        const struct image image = history_go(history, number);

        packed_become(packed, &image);
    }
    return status;
}

haft_status haft_packed_clone(const haft_packed *packed, haft_packed **clone)
{
    const struct image image = packed_image(packed);
    haft_packed *opened = NULL;
    haft_status status = packed_check_moment(packed);

    if (status == HAFT_OK) {
        status = packed_open_like(packed, &opened);
    }
    if (status != HAFT_OK) {
        return status;
    }
    status = packed_prepare(opened, image.numbers);
    if (status != HAFT_OK) {
        haft_packed_close(opened);
        return status;
    }
    packed_become(opened, &image);
    *clone = opened;
    return HAFT_OK;
}

/* lib/packed/packed_sort.c */

/*
 * haft_packed: the order of objects.  A merge sort, or a list of ids, puts positions in order; then
 * each object moves to its place once.
 *
 * order[i] is the position from which the object for position i comes.  Merging needs a second
 * array of positions, moving in cycles the memory of one object: both are there before the first
 * object moves, so nothing can fail half-way.
 */

struct sorting {
    const struct haft_packed *packed;
    int (*compare)(const void *a, const void *b, void *arg);
    void *arg;
    uint32_t *order;
    uint32_t *left; /* as long as order */
};

/* Whether the objects from positions `a` and `b` may stand in this order. */
static bool in_order(const struct sorting *sorting, uint32_t a, uint32_t b)
{
    return sorting->compare(packed_object(sorting->packed, a), packed_object(sorting->packed, b),
                            sorting->arg) <= 0;
}

/* Merge order[begin..middle) and order[middle..end), each in order. */
static void merge(const struct sorting *sorting, uint64_t begin, uint64_t middle, uint64_t end)
{
    uint32_t *order = sorting->order;
    uint32_t *left = sorting->left;
    const uint64_t left_count = middle - begin;
    uint64_t taken = 0;

    if (in_order(sorting, order[middle - 1], order[middle])) {
        return;
    }
    memcpy(left, &order[begin], (size_t)left_count * sizeof left[0]);
    for (uint64_t at = begin; taken < left_count; at++) {
        if (middle == end || in_order(sorting, left[taken], order[middle])) {
            order[at] = left[taken++];
        } else {
            order[at] = order[middle++];
        }
    }
}

static void sort(const struct sorting *sorting, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        sorting->order[i] = (uint32_t)i;
    }
    for (uint64_t width = 1; width < count; width *= 2) {
        for (uint64_t begin = 0; begin + width < count; begin += 2 * width) {
            const uint64_t end = begin + 2 * width < count ? begin + 2 * width : count;

            merge(sorting, begin, begin + width, end);
        }
    }
}

/* Move the objects of the cycle that begins at `start`; `spare` is a position beyond them all. */
static void move_cycle(struct haft_packed *packed, uint64_t start, uint64_t spare)
{
    const size_t size = (size_t)packed->view.object_size;
    uint32_t *order = packed->order;
    const haft_id first = packed->ids[start];
    uint64_t to = start;

    memcpy(packed_object(packed, spare), packed_object(packed, start), size);
    while (order[to] != start) {
        const uint64_t from = order[to];

        packed_move(packed, to, from);
        order[to] = (uint32_t)to;
        to = from;
    }
    memcpy(packed_object(packed, to), packed_object(packed, spare), size);
    packed->ids[to] = first;
    packed_slot(packed, first)->position = (uint32_t)to;
    order[to] = (uint32_t)to;
}

/* Move each of the first `count` objects to where `order` has it. */
static haft_status move_all(struct haft_packed *packed, uint64_t count)
{
    /* `compare` may have inserted: the spare is behind that, too. */
    if (packed_commit(packed, OBJECTS, packed->count + 1) != HAFT_OK) {
        return HAFT_NO_MEMORY;
    }
    packed_unpoison(packed, packed->count);
    for (uint64_t position = 0; position < count; position++) {
        if (packed->order[position] != position) {
            move_cycle(packed, position, packed->count);
        }
    }
    if (packed->count < packed->ready) {
        packed_poison(packed, packed->count, 1);
    }
    return HAFT_OK;
}

haft_status haft_packed_sort_n(haft_packed *packed, uint64_t n,
                               int (*compare)(const void *a, const void *b, void *arg), void *arg)
{
    const uint64_t count = n < packed->count ? n : packed->count;

    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    if (packed_commit(packed, ORDER, count) != HAFT_OK) {
        return HAFT_NO_MEMORY;
    }
    const struct sorting sorting = {
        .packed = packed,
        .compare = compare,
        .arg = arg,
        .order = packed->order,
        .left = packed->order + count,
    };

    packed->in_callback = true;
    sort(&sorting, count);
    packed->in_callback = false;
    return move_all(packed, count);
}

haft_status haft_packed_sort(haft_packed *packed,
                             int (*compare)(const void *a, const void *b, void *arg), void *arg)
{
    return haft_packed_sort_n(packed, packed->count, compare, arg);
}

/* --- as ids are listed --- */

struct placing {
    uint32_t *order;
    uint64_t count;
    uint32_t *is_placed; /* by position */
};

/* The object in `position` comes next, unless it has been placed. */
static void place(struct placing *placing, uint64_t position)
{
    if (placing->is_placed[position] == 0) {
        placing->is_placed[position] = 1;
        placing->order[placing->count++] = (uint32_t)position;
    }
}

haft_status haft_packed_sort_as(haft_packed *packed, const haft_id *ids, uint64_t count)
{
    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    if (packed_commit(packed, ORDER, packed->count) != HAFT_OK) {
        return HAFT_NO_MEMORY;
    }
    struct placing placing = {packed->order, 0, packed->order + packed->count};

    memset(placing.is_placed, 0, (size_t)packed->count * sizeof placing.is_placed[0]);
    for (uint64_t i = 0; i < count; i++) {
        if (haft_packed_is_live(packed->view, ids[i])) {
            place(&placing, packed_slot(packed, ids[i])->position);
        }
    }
    for (uint64_t position = 0; position < packed->count; position++) {
        place(&placing, position);
    }
    return move_all(packed, packed->count);
}

/* --- two objects --- */

static void swap_bytes(char *a, char *b, uint64_t size)
{
    char kept[64];

    for (uint64_t at = 0; at < size; at += sizeof kept) {
        const size_t part = (size_t)(size - at < sizeof kept ? size - at : sizeof kept);

        memcpy(kept, a + at, part);
        memcpy(a + at, b + at, part);
        memcpy(b + at, kept, part);
    }
}

/* The object of `id` has come to stand in `position`. */
static void settle_in(struct haft_packed *packed, haft_id id, uint32_t position)
{
    packed->ids[position] = id;
    packed_slot(packed, id)->position = position;
}

haft_status haft_packed_swap(haft_packed *packed, haft_id a, haft_id b)
{
    if (!haft_packed_is_live(packed->view, a)) {
        return slots_diagnose(&packed->slots, a);
    }
    if (!haft_packed_is_live(packed->view, b)) {
        return slots_diagnose(&packed->slots, b);
    }
    if (packed->in_callback) {
        return HAFT_IN_CALLBACK;
    }
    const uint32_t position = packed_slot(packed, a)->position;
    const uint32_t other = packed_slot(packed, b)->position;

    if (position != other) {
        swap_bytes(packed_object(packed, position), packed_object(packed, other),
                   packed->view.object_size);
        settle_in(packed, a, other);
        settle_in(packed, b, position);
    }
    return HAFT_OK;
}

/*
 * lib/arena/state.h - the structs of an arena.
 *
 * Blocks come in two kinds.  The chain: the first block, then each twice as large as the one
 * before, within bounds; those up to `block` are in use, `block` is where allocation goes on, those
 * behind it are kept for later.  Blocks of their own, for allocations too large for the chain's
 * next block, lie on one of two stacks: in use, or kept for later.
 *
 * From base to next a block is allocated, from next to end it is free, and poisoned under
 * AddressSanitizer.  With that, limit is next: the inline allocation never finds room, so each
 * allocation comes to the library, which poisons.
 */

struct block {
    struct block *next; /* in its chain or on its stack */
    char *base;         /* a multiple of HAFT_ARENA_ALIGNMENT */
    char *end;
    size_t size; /* as it came from the allocator; 0: it did not */
};

/* A function that runs on reset; lies in the arena. */
struct clean_up {
    struct clean_up *before; /* registered before this one */
    void (*function)(void *arg);
    void *arg;
};

struct arena {
    haft_arena head; /* first: a haft_arena is the start of one of these */
    struct block *block;
    char *pinned;      /* no shrinking below: the last mark in this block, or its base */
    size_t elsewhere;  /* bytes used in other blocks than this one */
    size_t high_water; /* as of the last time that bytes were given back */
    size_t capacity;
    struct block *own;        /* blocks of their own in use, newest first */
    struct block *own_oldest; /* the last of those, if there is one */
    struct block *own_spare;
    struct clean_up *clean_up; /* newest first */
    uint64_t round;            /* resets so far */
    size_t block_size;
    size_t max_block_size;
    bool fixed;
    bool marked;   /* since the last reset */
    bool cleaning; /* clean-up functions are running */
    haft_allocator allocator;
    struct block first;
};

static inline struct arena *arena_of(haft_arena *head)
{
    return (struct arena *)(void *)head;
}

/* Bytes from `at` to the next multiple of `alignment`. */
static inline size_t arena_padding(const char *at, size_t alignment)
{
    return -(uintptr_t)at & (alignment - 1);
}

/* Allocation goes on at `next`, in the block in use. */
static inline void arena_set_next(struct arena *arena, char *next)
{
    arena->head.next = next;
    arena->head.limit = asan_is_on() ? next : arena->block->end;
}

static inline size_t arena_used(const struct arena *arena)
{
    return arena->elsewhere + (size_t)(arena->head.next - arena->block->base);
}

/* To be called before bytes are given back. */
static inline void arena_note_high_water(struct arena *arena)
{
    const size_t used = arena_used(arena);

    if (arena->high_water < used) {
        arena->high_water = used;
    }
}

/*
 * lib/arena/arena_blocks.h - where an arena's memory comes from, and where it is kept.
 */

/* `extent` bytes from another block than the one in use; or NULL, and nothing has changed. */
HAFT_INTERNAL char *arena_take_elsewhere(struct arena *arena, size_t extent, size_t alignment);

/* Blocks of their own, down to `until`, are kept for later. */
HAFT_INTERNAL void arena_keep_own(struct arena *arena, const struct block *until);
HAFT_INTERNAL void arena_keep_all_own(struct arena *arena);

/*
 * All chain blocks behind `block` are poisoned, and `block` from `next` on; before it, the redzone
 * that the last allocation there may have grown over.
 */
HAFT_INTERNAL void arena_poison_from(struct block *block, char *next);

/* Blocks that hold nothing go back to the allocator. */
HAFT_INTERNAL void arena_free_spare(struct arena *arena);

/* lib/arena/arena.c */

/* haft_arena: allocation, marks, clean-up.  The struct and its blocks: lib/arena/state.h. */

#define DEFAULT_BLOCK_SIZE ((size_t)1 << 16)
#define DEFAULT_MAX_BLOCK_SIZE ((size_t)1 << 20)
#define LARGEST_BLOCK_SIZE ((size_t)1 << 30)

/* The arena's own bytes, in front of its first block's. */
#define RECORD                                                                                     \
    ((sizeof(struct arena) + HAFT_ARENA_ALIGNMENT - 1) / HAFT_ARENA_ALIGNMENT *                    \
     HAFT_ARENA_ALIGNMENT)

_Static_assert(RECORD + HAFT_ARENA_ALIGNMENT - 1 <= HAFT_ARENA_OVERHEAD, "it fits any buffer");
_Static_assert(_Alignof(max_align_t) <= HAFT_ARENA_ALIGNMENT, "enough for every basic type");

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* --- opening and closing --- */

/* Checks the options and puts them, with their defaults, into `arena`. */
static haft_status take_options(struct arena *arena, const haft_arena_options *options)
{
    const size_t size = options->block_size != 0 ? options->block_size : DEFAULT_BLOCK_SIZE;
    const size_t most = options->max_block_size != 0 ? options->max_block_size
                                                     : larger(size, DEFAULT_MAX_BLOCK_SIZE);

    if (size > LARGEST_BLOCK_SIZE) {
        return HAFT_BAD_BLOCK_SIZE;
    }
    if (most < size || most > LARGEST_BLOCK_SIZE) {
        return HAFT_BAD_MAX_BLOCK_SIZE;
    }
    if (options->buffer != NULL ? options->buffer_size < HAFT_ARENA_OVERHEAD
                                : options->buffer_size != 0) {
        return HAFT_BAD_BUFFER_SIZE;
    }
    *arena = (struct arena){
        .block_size = size,
        .max_block_size = most,
        .fixed = options->fixed,
        .allocator = options->allocator != NULL ? *options->allocator : haft_allocator_malloc(),
    };
    return HAFT_OK;
}

/* The memory of the arena itself and of its first block, which `first` then describes. */
static char *first_memory(const struct arena *arena, const haft_arena_options *options,
                          struct block *first)
{
    char *memory = options->buffer;
    size_t bytes = options->buffer_size;

    if (memory != NULL) {
        const size_t padding = arena_padding(memory, HAFT_ARENA_ALIGNMENT);

        memory += padding;
        bytes -= padding;
    } else {
        bytes = RECORD + arena->block_size;
        first->size = bytes;
        memory = arena->allocator.alloc(arena->allocator.context, bytes, HAFT_ARENA_ALIGNMENT);
    }
    if (memory != NULL) {
        first->base = memory + RECORD;
        first->end = memory + bytes;
    }
    return memory;
}

static haft_status new_arena(const haft_arena_options *options, haft_arena **arena)
{
    struct arena made;
    const haft_status status = take_options(&made, options);

    if (status != HAFT_OK) {
        return status;
    }
    struct arena *opened = (struct arena *)(void *)first_memory(&made, options, &made.first);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    *opened = made;
    opened->block = &opened->first;
    opened->pinned = opened->first.base;
    opened->capacity = (size_t)(opened->first.end - opened->first.base);
    asan_poison(opened->first.base, opened->capacity);
    arena_set_next(opened, opened->first.base);
    *arena = &opened->head;
    return HAFT_OK;
}

haft_status haft_arena_open_sized(const haft_arena_options *options, size_t size,
                                  haft_arena **arena)
{
    haft_arena_options known;
    const haft_status status = sized_take(&known, sizeof known, options, size);

    return status == HAFT_OK ? new_arena(&known, arena) : status;
}

void haft_arena_close(haft_arena *head)
{
    struct arena *arena = arena_of(head);
    const haft_allocator from = arena->allocator;
    const size_t size = arena->first.size;

    haft_arena_reset(head);
    haft_arena_trim(head);
    asan_unpoison(arena->first.base, (size_t)(arena->first.end - arena->first.base));
    if (size != 0) {
        from.free(from.context, arena, size);
    }
}

/* --- allocation --- */

static bool arena_extent(size_t size, size_t *extent)
{
    if (size > PTRDIFF_MAX / 2) {
        return false;
    }
    if (asan_is_on()) {
        *extent = (size + ASAN_GRANULE - 1) / ASAN_GRANULE * ASAN_GRANULE + ASAN_REDZONE;
    } else {
        *extent = larger(size, 1);
    }
    return true;
}

/* Alignment that is possible, and that suits the sanitizer; 0 if there is none. */
static size_t usable_alignment(size_t alignment)
{
    if ((alignment & (alignment - 1)) != 0 || alignment > HAFT_ARENA_MAX_ALIGNMENT) {
        return 0;
    }
    return asan_is_on() && alignment != 0 ? larger(alignment, ASAN_GRANULE) : alignment;
}

/* From the block in use; NULL if it has no room. */
static char *take_here(struct arena *arena, size_t extent, size_t alignment)
{
    const size_t padding = arena_padding(arena->head.next, alignment);
    const size_t room = (size_t)(arena->block->end - arena->head.next);

    if (padding > room || extent > room - padding) {
        return NULL;
    }
    char *at = arena->head.next + padding;

    arena_set_next(arena, at + extent);
    return at;
}

void *haft_arena_alloc_further(haft_arena *head, size_t size, size_t alignment)
{
    struct arena *arena = arena_of(head);
    const size_t usable = usable_alignment(alignment);
    size_t extent;

    if (usable == 0 || !arena_extent(size, &extent)) {
        return NULL;
    }
    char *at = take_here(arena, extent, usable);

    if (at == NULL) {
        at = arena_take_elsewhere(arena, extent, usable);
    }
    if (at != NULL) {
        asan_unpoison(at, size);
    }
    return at;
}

void *haft_arena_alloc_array(haft_arena *arena, size_t count, size_t size)
{
    size_t bytes;

    return __builtin_mul_overflow(count, size, &bytes) ? NULL : haft_arena_alloc(arena, bytes);
}

void *haft_arena_alloc_zeroed(haft_arena *arena, size_t count, size_t size)
{
    void *memory = haft_arena_alloc_array(arena, count, size);

    if (memory != NULL) {
        memset(memory, 0, count * size);
    }
    return memory;
}

/* --- another size --- */

static bool is_last(const struct arena *arena, const char *memory, size_t extent)
{
    return (uintptr_t)memory + extent == (uintptr_t)arena->head.next;
}

/* Allocation goes on at `next`, further down, or where a mark keeps it. */
static void fall_back(struct arena *arena, char *next)
{
    arena_note_high_water(arena);
    arena_set_next(arena, next > arena->pinned ? next : arena->pinned);
}

/* False if the allocation, which ends where the free bytes begin, cannot get so large there. */
static bool resize_last(struct arena *arena, char *memory, size_t extent)
{
    char *next = arena->head.next;

    if (extent > (size_t)(arena->block->end - memory)) {
        return false;
    }
    if (memory + extent < next) {
        fall_back(arena, memory + extent);
    } else {
        arena_set_next(arena, memory + extent);
    }
    return true;
}

/* Whether it is certain that no mark was set since the allocation, so that no rewind revives it. */
static bool is_behind_marks(const struct arena *arena, const char *memory)
{
    const uintptr_t pinned = (uintptr_t)arena->pinned;

    return !arena->marked || (uintptr_t)memory - pinned < (uintptr_t)arena->head.next - pinned;
}

static void *move(struct arena *arena, void *memory, size_t old_size, size_t new_size,
                  size_t alignment)
{
    const bool has_ended = is_behind_marks(arena, memory);
    void *moved = haft_arena_alloc_aligned(&arena->head, new_size, alignment);

    if (moved != NULL) {
        memcpy(moved, memory, old_size);
    }
    if (moved != NULL && has_ended) {
        asan_poison(memory, old_size);
    }
    return moved;
}

void *haft_arena_resize(haft_arena *head, void *memory, size_t old_size, size_t new_size,
                        size_t alignment)
{
    struct arena *arena = arena_of(head);
    size_t old_extent;
    size_t extent;

    if (memory == NULL) {
        assert(old_size == 0 && "NULL has no bytes");
        return haft_arena_alloc_aligned(head, new_size, alignment);
    }
    if (!arena_extent(old_size, &old_extent) || !arena_extent(new_size, &extent)) {
        return NULL;
    }
    const bool in_place = is_last(arena, memory, old_extent) ? resize_last(arena, memory, extent)
                                                             : new_size <= old_size;
    if (!in_place) {
        return move(arena, memory, old_size, new_size, alignment);
    }
    if (new_size > old_size) {
        asan_unpoison(memory, new_size);
    } else if (is_behind_marks(arena, memory)) {
        asan_poison((char *)memory + new_size, old_size - new_size);
    }
    return memory;
}

void *haft_arena_resize_array(haft_arena *arena, void *memory, size_t old_count, size_t new_count,
                              size_t size, size_t alignment)
{
    size_t bytes;

    if (__builtin_mul_overflow(new_count, size, &bytes)) {
        return NULL;
    }
    return haft_arena_resize(arena, memory, old_count * size, bytes, alignment);
}

/* --- marks, resets --- */

/* Runs the functions registered since `until`, and those that they register; newest first. */
static void clean_up_until(struct arena *arena, const struct clean_up *until)
{
    assert(!arena->cleaning && "a clean-up function may not reset, rewind or close");
    arena->cleaning = true;
    while (arena->clean_up != until) {
        const struct clean_up *now = arena->clean_up;

        arena->clean_up = now->before;
        now->function(now->arg);
    }
    arena->cleaning = false;
}

haft_status haft_arena_on_reset(haft_arena *head, void (*clean_up)(void *arg), void *arg)
{
    struct arena *arena = arena_of(head);

    if (clean_up == NULL) {
        return HAFT_OK;
    }
    struct clean_up *note = haft_arena_new(head, struct clean_up);

    if (note == NULL) {
        return HAFT_NO_MEMORY;
    }
    *note = (struct clean_up){arena->clean_up, clean_up, arg};
    arena->clean_up = note;
    return HAFT_OK;
}

haft_mark haft_arena_mark(haft_arena *head)
{
    struct arena *arena = arena_of(head);

    arena->pinned = arena->head.next;
    arena->marked = true;
    return (haft_mark){
        .block = arena->block,
        .next = arena->head.next,
        .own_blocks = arena->own,
        .clean_up = arena->clean_up,
        .elsewhere = arena->elsewhere,
        .round = arena->round,
    };
}

void haft_arena_rewind(haft_arena *head, haft_mark mark)
{
    struct arena *arena = arena_of(head);

    assert(mark.round == arena->round && "a mark holds until the next reset");
    clean_up_until(arena, mark.clean_up);
    arena_note_high_water(arena);
    arena_keep_own(arena, mark.own_blocks);
    arena->block = mark.block;
    arena->elsewhere = mark.elsewhere;
    arena->pinned = mark.next;
    arena_set_next(arena, mark.next);
    arena_poison_from(arena->block, mark.next);
}

void haft_arena_reset(haft_arena *head)
{
    struct arena *arena = arena_of(head);

    clean_up_until(arena, NULL);
    arena_note_high_water(arena);
    arena_keep_all_own(arena);
    arena->block = &arena->first;
    arena->elsewhere = 0;
    arena->pinned = arena->first.base;
    arena->marked = false;
    arena->round++;
    arena_set_next(arena, arena->first.base);
    arena_poison_from(arena->block, arena->first.base);
}

void haft_arena_trim(haft_arena *head)
{
    arena_free_spare(arena_of(head));
}

haft_arena_stats haft_arena_stats_get(const haft_arena *head)
{
    const struct arena *arena = (const struct arena *)(const void *)head;
    const size_t used = arena_used(arena);

    return (haft_arena_stats){used, larger(used, arena->high_water), arena->capacity};
}

/* --- as an allocator --- */

static void *allocator_alloc(void *context, size_t size, size_t alignment)
{
    return haft_arena_alloc_aligned(context, size, alignment);
}

static void *allocator_resize(void *context, void *memory, size_t old_size, size_t new_size,
                              size_t alignment)
{
    return haft_arena_resize(context, memory, old_size, new_size, alignment);
}

static void allocator_free(void *context, void *memory, size_t size)
{
    struct arena *arena = arena_of(context);
    size_t extent;

    if (memory == NULL || !arena_extent(size, &extent)) {
        return;
    }
    asan_poison(memory, size);
    if (is_last(arena, memory, extent)) {
        fall_back(arena, memory);
    }
}

haft_allocator haft_arena_allocator(haft_arena *arena)
{
    return (haft_allocator){allocator_alloc, allocator_resize, allocator_free, arena};
}

/* lib/arena/arena_blocks.c */

/* Where an arena's memory comes from, and where it is kept. */

/* In front of a block's bytes. */
#define HEADER                                                                                     \
    ((sizeof(struct block) + HAFT_ARENA_ALIGNMENT - 1) / HAFT_ARENA_ALIGNMENT *                    \
     HAFT_ARENA_ALIGNMENT)

static struct block *block_open(struct arena *arena, size_t bytes)
{
    const haft_allocator *from = &arena->allocator;
    struct block *block = from->alloc(from->context, HEADER + bytes, HAFT_ARENA_ALIGNMENT);

    if (block == NULL) {
        return NULL;
    }
    block->next = NULL;
    block->base = (char *)block + HEADER;
    block->end = block->base + bytes;
    block->size = HEADER + bytes;
    asan_poison(block->base, bytes);
    arena->capacity += bytes;
    return block;
}

static void block_close(struct arena *arena, struct block *block)
{
    const size_t bytes = (size_t)(block->end - block->base);

    asan_unpoison(block->base, bytes);
    arena->capacity -= bytes;
    arena->allocator.free(arena->allocator.context, block, block->size);
}

/* Where the bytes would lie in an empty block; NULL if it is too small. */
static char *place_in(const struct block *block, size_t extent, size_t alignment)
{
    const size_t padding = arena_padding(block->base, alignment);
    const size_t room = (size_t)(block->end - block->base);

    return padding <= room && extent <= room - padding ? block->base + padding : NULL;
}

/* Bytes of an empty block that surely takes them: base is aligned to HAFT_ARENA_ALIGNMENT. */
static size_t room_for(size_t extent, size_t alignment)
{
    return alignment <= HAFT_ARENA_ALIGNMENT ? extent : extent + alignment - HAFT_ARENA_ALIGNMENT;
}

/* --- the chain --- */

/* Bytes of the next block that the chain gets: twice the last one's, within bounds. */
static size_t next_size(const struct arena *arena)
{
    const size_t now = (size_t)(arena->block->end - arena->block->base);

    if (arena->block->size == 0) { /* the caller's buffer */
        return arena->block_size;
    }
    return now >= arena->max_block_size / 2 ? arena->max_block_size : 2 * now;
}

/* The block behind the one in use, new if there is none; NULL if the bytes do not fit there. */
static struct block *next_block(struct arena *arena, size_t extent, size_t alignment)
{
    struct block *next = arena->block->next;

    if (next != NULL) {
        return place_in(next, extent, alignment) != NULL ? next : NULL;
    }
    if (room_for(extent, alignment) > next_size(arena)) {
        return NULL;
    }
    next = block_open(arena, next_size(arena));
    arena->block->next = next;
    return next;
}

static char *move_on(struct arena *arena, struct block *next, size_t extent, size_t alignment)
{
    char *at = place_in(next, extent, alignment);

    arena->elsewhere = arena_used(arena);
    arena->block = next;
    arena->pinned = next->base;
    arena_set_next(arena, at + extent);
    return at;
}

/* --- blocks of their own --- */

/* The smallest kept one that will do, off its stack; or NULL. */
static struct block *take_spare(struct arena *arena, size_t extent, size_t alignment)
{
    struct block **best = NULL;

    for (struct block **at = &arena->own_spare; *at != NULL; at = &(*at)->next) {
        if (place_in(*at, extent, alignment) != NULL &&
            (best == NULL || (*at)->end - (*at)->base < (*best)->end - (*best)->base)) {
            best = at;
        }
    }
    if (best == NULL) {
        return NULL;
    }
    struct block *block = *best;

    *best = block->next;
    return block;
}

/* The largest kept one, which is too small, goes as a larger one comes: sizes may grow for ever. */
static void drop_spare(struct arena *arena)
{
    struct block **largest = &arena->own_spare;

    for (struct block **at = largest; *at != NULL; at = &(*at)->next) {
        if ((*at)->end - (*at)->base > (*largest)->end - (*largest)->base) {
            largest = at;
        }
    }
    struct block *block = *largest;

    if (block != NULL) {
        *largest = block->next;
        block_close(arena, block);
    }
}

static char *take_own(struct arena *arena, size_t extent, size_t alignment)
{
    struct block *block = take_spare(arena, extent, alignment);

    if (block == NULL) {
        block = block_open(arena, room_for(extent, alignment));
        if (block == NULL) {
            return NULL;
        }
        drop_spare(arena);
    }
    if (arena->own == NULL) {
        arena->own_oldest = block;
    }
    block->next = arena->own;
    arena->own = block;
    char *at = place_in(block, extent, alignment);

    arena->elsewhere += (size_t)(at - block->base) + extent;
    return at;
}

HAFT_INTERNAL char *arena_take_elsewhere(struct arena *arena, size_t extent, size_t alignment)
{
    if (arena->fixed) {
        return NULL;
    }
    struct block *next = next_block(arena, extent, alignment);

    return next != NULL ? move_on(arena, next, extent, alignment)
                        : take_own(arena, extent, alignment);
}

HAFT_INTERNAL void arena_keep_own(struct arena *arena, const struct block *until)
{
    while (arena->own != until) {
        struct block *block = arena->own;

        assert(block != NULL && "the mark is this arena's");
        arena->own = block->next;
        block->next = arena->own_spare;
        arena->own_spare = block;
        asan_poison(block->base, (size_t)(block->end - block->base));
    }
}

HAFT_INTERNAL void arena_keep_all_own(struct arena *arena)
{
    if (arena->own == NULL) {
        return;
    }
    for (struct block *block = arena->own; asan_is_on() && block != NULL; block = block->next) {
        asan_poison(block->base, (size_t)(block->end - block->base));
    }
    arena->own_oldest->next = arena->own_spare;
    arena->own_spare = arena->own;
    arena->own = NULL;
}

/* --- all blocks --- */

HAFT_INTERNAL void arena_poison_from(struct block *block, char *next)
{
    char *from = next != block->base ? next - ASAN_REDZONE : next;

    asan_poison(from, (size_t)(block->end - from));
    for (block = block->next; asan_is_on() && block != NULL; block = block->next) {
        asan_poison(block->base, (size_t)(block->end - block->base));
    }
}

static void free_list(struct arena *arena, struct block **list)
{
    while (*list != NULL) {
        struct block *block = *list;

        *list = block->next;
        block_close(arena, block);
    }
}

HAFT_INTERNAL void arena_free_spare(struct arena *arena)
{
    free_list(arena, &arena->block->next);
    free_list(arena, &arena->own_spare);
}

/* lib/arena/arena_text.c */

/* Copies and formatted strings in an arena. */

void *haft_arena_copy(haft_arena *arena, const void *bytes, size_t size)
{
    void *copy = haft_arena_alloc(arena, size);

    if (copy != NULL && size != 0) {
        memcpy(copy, bytes, size);
    }
    return copy;
}

static char *copy_text(haft_arena *arena, const char *text, size_t length)
{
    char *copy = haft_arena_alloc_aligned(arena, length + 1, 1);

    if (copy != NULL) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

char *haft_arena_strdup(haft_arena *arena, const char *text)
{
    return copy_text(arena, text, strlen(text));
}

char *haft_arena_strndup(haft_arena *arena, const char *text, size_t most)
{
    const char *end = memchr(text, '\0', most);

    return copy_text(arena, text, end != NULL ? (size_t)(end - text) : most);
}

/* --- formatted --- */

/* Formats into the free bytes of the block in use; the text is not allocated yet. */
static int format_ahead(struct arena *arena, const char *format, va_list arguments)
{
    char *next = arena->head.next;
    const size_t left = (size_t)(arena->block->end - next);
    const size_t room = left < INT_MAX ? left : INT_MAX; /* POSIX lets vsnprintf() refuse more */

    asan_unpoison(next, room);
    const int length = vsnprintf(next, room, format, arguments);

    asan_poison(next, room);
    return length;
}

char *haft_arena_vprintf(haft_arena *head, const char *format, va_list arguments)
{
    struct arena *arena = arena_of(head);
    const char *ahead = arena->head.next;
    va_list again;

    va_copy(again, arguments);
    const int length = format_ahead(arena, format, arguments);
    char *text = length < 0 ? NULL : haft_arena_alloc_aligned(head, (size_t)length + 1, 1);

    if (text != NULL && text != ahead) { /* it had no room there */
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    return text;
}

char *haft_arena_printf(haft_arena *arena, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *text = haft_arena_vprintf(arena, format, arguments);

    va_end(arguments);
    return text;
}

/*
 * concurrent/counted/word.h - a slot's word in a counted table: one 64-bit value decides everything
 * about the slot.
 *
 * slot.word:   63         32 31   30 29            0
 *              +------------+-------+---------------+
 *              |    life    | state |      low      |
 *              +------------+-------+---------------+
 *
 *   state      low
 *   FREE       in a list: the next slot's index, 0 at its end (the queue's end is 1 when the table
 *              is closed).  A word of all zeros: fresh, never used
 *   RESERVED   0: reserved by a caller.  1: being destroyed, or worn out.  4 and above: being
 *              destroyed in a chain, before that slot
 *   LIVE       the number of holders
 *   ENDED      freed while it was held: the number of holders, never 0
 *
 * The id's generation is the low bits of the life, as many as the layout has.  A life whose low
 * bits are 0 is never LIVE: with `wrap` it is skipped, else the slot is worn out then.
 *
 * Legal    FREE -> RESERVED 0                    by the call that took the slot out of its list
 *          RESERVED 0, FREE -> LIVE 0            by the thread that publishes         (PUBLISH)
 *          RESERVED 0 -> RESERVED 1, next life   by the thread that gives it up
 *          LIVE n -> LIVE n + 1, n - 1           by any thread, with CAS              (HOLD)
 *          LIVE 0 -> RESERVED 1, next life       by one thread that frees, with CAS; where there is
 *                                                nothing to destroy, LIVE 0 -> FREE, next life
 *          LIVE n -> ENDED n                     the same, n > 0
 *          ENDED n -> ENDED n + 1, n - 1         by threads that hold, with CAS
 *          ENDED 1 -> RESERVED 1, next life      by the last one, with CAS
 *          RESERVED 1 -> RESERVED index          by the call that destroys: put into a chain
 *          RESERVED -> FREE                      by the call that destroys: put into a list
 *
 * Invariant: from LIVE on to the end only compare-and-swaps change a word; else it is written by
 * the slot's one owner.  A FREE slot is in one list, or in the hand of one call.
 */

enum counted_state { COUNTED_FREE = 0, COUNTED_RESERVED = 1, COUNTED_LIVE = 2, COUNTED_ENDED = 3 };

#define COUNTED_LOW_BITS 30
#define COUNTED_LOW_MASK ((UINT64_C(1) << COUNTED_LOW_BITS) - 1)
#define COUNTED_MOST_HOLDERS COUNTED_LOW_MASK

/* In a head: no slot; no slot ever again.  In a word that is RESERVED: of a caller; to be freed. */
enum counted_mark { COUNTED_NONE = 0, COUNTED_CLOSED = 1 };
enum counted_purpose { COUNTED_FOR_CALLER = 0, COUNTED_ENDING = 1 };

static inline uint64_t counted_word(uint32_t life, enum counted_state state, uint64_t low)
{
    assert(low <= COUNTED_LOW_MASK);
    return (uint64_t)life << 32 | (uint64_t)state << COUNTED_LOW_BITS | low;
}

static inline uint32_t counted_life(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

static inline enum counted_state counted_state_of(uint64_t word)
{
    return (enum counted_state)(word >> COUNTED_LOW_BITS & 3);
}

static inline uint64_t counted_low(uint64_t word)
{
    return word & COUNTED_LOW_MASK;
}

/* ENDED, with one holder: its release is the last. */
static inline bool counted_is_last(uint64_t word)
{
    return (uint32_t)word == (uint32_t)counted_word(0, COUNTED_ENDED, 1);
}

/*
 * concurrent/counted/state.h - the structs of the counted table.
 *
 * The block has all that threads share: slots refer to each other by index.  What belongs to the
 * process (callbacks, names) is in haft_counted.
 */

#define COUNTED_MOST_SHARDS 16

/* A head: how often it was taken from 34 | the first slot 30. */
struct counted_head {
    _Alignas(CACHE_LINE) atomic_u64 word;
};

#define COUNTED_KIND 0x746E756Fu /* what the block of a counted table begins with */
#define COUNTED_VERSION 1u

struct counted_block {
    uint32_t kind;
    uint32_t version;
    struct counted_head fresh;    /* the first index never used */
    struct counted_head returned; /* see returned.h */
    struct counted_head heads[];  /* of the shards; or of the queue, then its tail */
};

struct haft_counted {
    /* Of each call. */
    uintptr_t base; /* where slot 0's word would be */
    uint64_t stride;
    uint64_t index_mask;
    uint64_t slot_count;
    uint64_t copied_count; /* as slot_count in a table with copies, else 0 */
    uint64_t tag_above;    /* the tag, above generation and state */
    uint64_t match_mask;   /* generation and state, in a word that was shifted down to the state */
    uint8_t index_bits;
    bool wraps;
    bool copies;
    bool wipes;
    bool is_plain;  /* an end is no more than a free slot: no on_destroy, wipe, queue, poison */
    bool has_words; /* an insertion is no more than a few words into a slot of a shard */
    uint32_t generation_mask;
    uint32_t first_life;
    uint32_t shard_mask;
    struct counted_block *block;
    size_t object_size;
    uint64_t min_free; /* 0: shards; else the queue keeps that many */
    haft_counted_destroy *on_destroy;
    void *destroy_arg;

    uint64_t capacity;
    struct word_format format;
    struct reservation memory; /* the block and the slots */
    size_t object_alignment;
    haft_allocator heap; /* for this struct and a small block */
    bool is_given;       /* in the program's memory */
    const char *name;    /* behind this struct */
    haft_on_bad_access *on_bad_access;
    void *bad_access_arg;

    /* Of the thread that closes: see counted.c. */
    uint64_t owned;  /* slots that closing has taken */
    uint64_t linked; /* of those in the queue's history: completed pushes count them once more */
    uint64_t used;   /* 0: not closing; else one more than the highest index ever used */

    haft_counted *next_open; /* see open_list.c */
    haft_counted **open_link;
};

/* The word of slot `index`; its object lies behind it. */
static inline atomic_u64 *counted_at(const haft_counted *table, uint64_t index)
{
    assert(index >= HAFT_FIRST_INDEX && index - HAFT_FIRST_INDEX < table->slot_count);
    return (atomic_u64 *)(table->base + (uintptr_t)(index * table->stride));
}

static inline void *counted_object(atomic_u64 *at)
{
    return at + 1;
}

static inline uint64_t counted_index(const haft_counted *table, haft_id id)
{
    return id.bits & table->index_mask;
}

/* The word of the slot that `id` names; NULL if the table has no such slot. */
static inline atomic_u64 *counted_find(const haft_counted *table, haft_id id)
{
    const uint64_t index = counted_index(table, id);

    return index - HAFT_FIRST_INDEX < table->slot_count ? counted_at(table, index) : NULL;
}

/* Whether `word` is LIVE or ENDED, with the generation of `id`: their state has the high bit. */
static inline bool counted_is_of(const haft_counted *table, uint64_t word, haft_id id)
{
    const uint64_t wanted = (id.bits >> table->index_bits << 2) ^ (table->tag_above | COUNTED_LIVE);
    const uint64_t either = COUNTED_LIVE ^ COUNTED_ENDED;

    return (word >> COUNTED_LOW_BITS & table->match_mask & ~either) == wanted;
}

/* Whether `word` has that state, and the generation of `id`, which has the table's tag. */
static inline bool counted_fits(const haft_counted *table, uint64_t word, haft_id id,
                                enum counted_state state)
{
    const uint64_t wanted = (id.bits >> table->index_bits << 2) ^ (table->tag_above | state);

    return (word >> COUNTED_LOW_BITS & table->match_mask) == wanted;
}

/* The id of slot `index` in that life. */
static inline haft_id counted_id(const haft_counted *table, uint64_t index, uint32_t life)
{
    const haft_id id = {table->format.tag |
                        (uint64_t)(life & table->generation_mask) << table->index_bits | index};

    return id;
}

/* Whether a slot in that life has lived all its generations. */
static inline bool counted_is_worn(const haft_counted *table, uint32_t life)
{
    return (life & table->generation_mask) == 0;
}

/* The life after `life`. */
static inline uint32_t counted_next(const haft_counted *table, uint32_t life)
{
    const uint32_t next = life + 1;

    return counted_is_worn(table, next) && table->wraps ? next + 1 : next;
}

/* The life before `life`, which is not a slot's first. */
static inline uint32_t counted_before(const haft_counted *table, uint32_t life)
{
    const uint32_t before = life - 1;

    return counted_is_worn(table, before) ? before - 1 : before;
}

/* The life that a slot goes on with: a fresh one with the first. */
static inline uint32_t counted_begin(const haft_counted *table, uint64_t word)
{
    return word == 0 ? table->first_life : counted_life(word);
}

/* Bytes of memory that the table takes, with the slots below index `end`. */
static inline uint64_t counted_bytes(const haft_counted *table, uint64_t end)
{
    const uint64_t begun =
        (uint64_t)(table->base - (uintptr_t)table->memory.base) + end * table->stride;
    const bool is_paged = reservation_is_paged(&table->memory);

    return size_with_name(sizeof *table, table->name) +
           (is_paged ? begun : table->memory.size + table->memory.more);
}

/*
 * concurrent/counted/destroy.h - the end of an object: on_destroy, then its slot is free.
 *
 * An object that ends inside an on_destroy of its table is put into a chain, and destroyed by the
 * outermost call when that on_destroy has returned: a loop instead of a recursion, whose stack a
 * list of objects would overflow.
 */

/* What an ended slot's word becomes: of the life after `life`, the caller's alone. */
static inline uint64_t destroy_word(const haft_counted *table, uint64_t word)
{
    return counted_word(counted_next(table, counted_life(word)), COUNTED_RESERVED, COUNTED_ENDING);
}

/* Destroy the object of slot `index`, whose word destroy_word() made; the slot is free then. */
HAFT_INTERNAL void destroy_object(haft_counted *table, uint64_t index);

/* The same without on_destroy: the object was given up or taken out. */
HAFT_INTERNAL void destroy_silently(haft_counted *table, uint64_t index);

/* Whether the calling thread runs an on_destroy of the table. */
HAFT_INTERNAL bool destroy_is_under_way(const haft_counted *table);

/*
 * concurrent/counted/free_slots.h - where free slots are: in a shard or in the queue, or fresh.
 *
 * A slot goes from a list to a call and from the call to a list, never several at once and never
 * from list to list: slots in flight would make FULL a lie.
 */

/* Heads that a table with these options has. */
HAFT_INTERNAL uint64_t free_slots_heads(uint64_t capacity, uint64_t min_free);

/* Of a table whose block is all zero: nothing was used yet. */
HAFT_INTERNAL void free_slots_setup(haft_counted *table);

/* A free slot, the caller's from now on: HAFT_OK, HAFT_FULL, HAFT_NO_MEMORY or HAFT_CLOSED. */
HAFT_INTERNAL haft_status free_slots_take(haft_counted *table, uint64_t *index);

/*
 * Slot `index`, the caller's, is free for `life`.  Where the table is being closed this may be the
 * caller's last access to it.
 */
HAFT_INTERNAL void free_slots_give(haft_counted *table, uint64_t index, uint32_t life);

/* Take all free slots; from now on the calls above find the table closed.  By one thread. */
HAFT_INTERNAL void free_slots_close(haft_counted *table);

/*
 * concurrent/counted/open_list.h - the counted tables that are open in this process, newest first.
 */

/* The list's lock.  Forks wait for it, so that the child finds the list whole. */
HAFT_INTERNAL void open_list_lock(void);
HAFT_INTERNAL void open_list_unlock(void);

/* A table is in the list while its statistics can be taken. */
HAFT_INTERNAL void open_list_add(haft_counted *table);
HAFT_INTERNAL void open_list_remove(haft_counted *table);

/* Under the lock: for (t = open_list_first(); t; t = t->next_open). */
HAFT_INTERNAL haft_counted *open_list_first(void);

/*
 * concurrent/counted/returned.h - slots that no call will use again: how closing knows that no call
 * is under way.
 *
 * A call that finds the table closed, or wears a slot out, counts it here instead of giving it to a
 * list.  With min_free each slot given to the queue counts as well: see queue.c.
 *
 * Edges in this file.
 *   RETURN   returned_add (release) -> returned_count (acquire)   all uses of a slot before the
 *            table's memory is released
 */

/* A thread waits for the next one. */
#define RETURNED_IS_AWAITED (UINT64_C(1) << 63)

/* The caller's last access to the table, if that is closed. */
static inline void returned_add(haft_counted *table)
{
    atomic_u64 *returned = &table->block->returned.word;

    /* Weakened, the table's memory could be released under the call's last write to the slot. */
    if ((fetch_add_release(RETURN, returned, 1) & RETURNED_IS_AWAITED) != 0) {
        os_wake_address(returned); /* the address alone: the memory may be gone */
    }
}

static inline uint64_t returned_count(const haft_counted *table)
{
    /* Weakened, the memory could be released under a call that was counted. */
    return load_acquire(RETURN, &table->block->returned.word) & ~RETURNED_IS_AWAITED;
}

/*
 * concurrent/counted/values.h - the bytes of counted objects: written, wiped and copied out.
 *
 * In a table with `copies` a thread may read an object's words while another writes the next
 * object's: each word is atomic there, and rounded up to 8 bytes.  Objects are of the program's
 * types, so the words are read and written by builtins on a type that may alias them.
 *
 * Edges in this file.
 *   VALUE   write_words (release) -> values_read_one (acquire)   the end of a slot's last life
 *           before the words of the next object: a reader of one of these sees that end as well
 */

#define VALUES_MOST_BYTES 64u /* of an object that is copied */

/* Copy an object into its slot; NULL stands for zeros.  values_write_any: of whatever size. */
HAFT_INTERNAL void values_write_any(const haft_counted *table, void *object, const void *from);

/* The object's bytes become zeros, in the eyes of every reader. */
HAFT_INTERNAL void values_wipe(const haft_counted *table, void *object);

/* A word of an object that is copied, beside other threads. */
static inline uint64_t values_read_one(const void *word)
{
    /* Weakened, the slot's word, which is read next, could be older than this one. */
    return bytes_load_acquire(VALUE, word);
}

/* The words of an object that is copied, beside other threads; `words` has VALUES_MOST_BYTES. */
HAFT_INTERNAL void values_read(const haft_counted *table, const void *object, uint64_t *words);

/* Bytes of a free object may not be touched, unless copies are looked for there. */
static inline void values_poison(const haft_counted *table, const void *object)
{
    if (!table->copies) {
        asan_poison(object, (table->object_size + ASAN_GRANULE - 1) / ASAN_GRANULE * ASAN_GRANULE);
    }
}

static inline void values_unpoison(const haft_counted *table, const void *object)
{
    asan_unpoison(object, table->object_size);
}

static inline void values_write(const haft_counted *table, void *object, const void *from)
{
    const size_t size = table->object_size;

    if (size % 8 != 0 || size > 64 || from == NULL || table->copies) {
        values_write_any(table, object, from);
    } else {
        object_copy_words(object, from, size);
    }
}

/* concurrent/counted/counted.c */

/*
 * The counted table: opening and closing.
 *
 * A slot is accounted for when no call will use it again: closing has taken it from a list or from
 * the fresh ones (`owned`), or the call that had it counted it in `returned`.  When all are, the
 * memory can be released.  With min_free, each slot that was ever linked into the queue counts in
 * `returned` as well, when the call that linked it is done; `linked` is their number.
 *
 * Edges in this file.
 *   RETURN   returned_add (release) -> await_return (acquire)   the waiter's mark before the count
 *            that it wakes for
 *   COUNT    which slots may be live: frees decide
 */

#define LOOK_AGAIN_NS UINT64_C(10000000)
#define LOOK_LATER_NS UINT64_C(1000000000) /* where only held objects are missing */

/* --- opening --- */

/* How the table lies in its memory. */
struct plan {
    struct common_options common;
    uint64_t slots;
    uint64_t heads;
    uint64_t alignment; /* of the memory */
    uint64_t first;     /* from the memory's start to the first slot's word */
    uint64_t stride;
    uint64_t bytes;
};

static uint64_t up_to(uint64_t size, uint64_t alignment)
{
    return (size + alignment - 1) / alignment * alignment;
}

static struct common_options common_of(const haft_counted_options *options)
{
    return (struct common_options){
        .name = options->name != NULL ? options->name : "counted table",
        .capacity = options->capacity,
        .object_size = options->object_size,
        .object_alignment = options->object_alignment,
        .layout = options->layout,
        .tag = options->tag,
        .first_generation = options->first_generation,
        .random_first_generation = options->random_first_generation,
    };
}

static haft_status check_counted(const haft_counted_options *options, struct plan *plan)
{
    uint64_t most;

    if (options->reserved[0] != 0 || options->reserved[1] != 0) {
        return HAFT_UNKNOWN_OPTION;
    }
    const struct common_options common = common_of(options);
    const haft_status status = options_check(&common, IN_SLOTS, &plan->common, &most);

    if (status == HAFT_OK && plan->common.layout.generation_bits > 32) {
        return HAFT_BAD_LAYOUT;
    }
    if (status != HAFT_OK) {
        return status;
    }
    if (most > COUNTED_LOW_MASK + 1 - HAFT_FIRST_INDEX) {
        most = COUNTED_LOW_MASK + 1 - HAFT_FIRST_INDEX;
    }
    if (options->capacity > most) {
        return HAFT_BAD_CAPACITY;
    }
    if (options->min_free > most - options->capacity) {
        return HAFT_BAD_MIN_FREE;
    }
    return options->copies && options->object_size > VALUES_MOST_BYTES ? HAFT_BAD_COPIES : HAFT_OK;
}

static haft_status make_plan(const haft_counted_options *options, struct plan *plan)
{
    const haft_status status = check_counted(options, plan);

    if (status != HAFT_OK) {
        return status;
    }
    const size_t size = options->copies || options->wipe ? (size_t)up_to(options->object_size, 8)
                                                         : options->object_size;
    const uint64_t alignment = plan->common.object_alignment > sizeof(uint64_t)
                                   ? plan->common.object_alignment
                                   : sizeof(uint64_t);
    const uint64_t line = alignment > CACHE_LINE ? alignment : CACHE_LINE;

    plan->slots = options->capacity + options->min_free;
    plan->heads = free_slots_heads(options->capacity, options->min_free);
    plan->alignment = line;
    plan->first =
        up_to(sizeof(struct counted_block) + plan->heads * sizeof(struct counted_head), line) +
        alignment - sizeof(uint64_t);
    plan->stride =
        options->spread ? up_to(alignment + size, line) : up_to(sizeof(uint64_t) + size, alignment);
    plan->bytes = plan->first - (alignment - sizeof(uint64_t)) + plan->slots * plan->stride +
                  alignment - sizeof(uint64_t);
    return HAFT_OK;
}

static void fill_in_ids(haft_counted *table, const struct plan *plan)
{
    const haft_layout layout = plan->common.layout;
    const uint64_t first = options_first_generation(&plan->common);

    table->format = word_format_of(layout, plan->common.tag, first);
    table->index_bits = layout.index_bits;
    table->index_mask = table->format.index_mask;
    table->generation_mask = (uint32_t)haft_field_max(layout.generation_bits);
    table->match_mask = (uint64_t)table->generation_mask << 2 | 3;
    table->tag_above = plan->common.tag << layout.generation_bits << 2;
    table->first_life = (uint32_t)first;
}

static void fill_in_counted(haft_counted *table, const struct plan *plan,
                            const haft_counted_options *options)
{
    fill_in_ids(table, plan);
    table->stride = plan->stride;
    table->slot_count = plan->slots;
    table->copied_count = options->copies ? plan->slots : 0;
    table->base =
        (uintptr_t)table->memory.base + (uintptr_t)(plan->first - HAFT_FIRST_INDEX * plan->stride);
    table->wraps = options->wrap;
    table->copies = options->copies;
    table->wipes = options->wipe;
    const bool has_shards = options->min_free == 0 && !asan_is_on();

    table->is_plain = has_shards && options->on_destroy == NULL && !options->wipe;
    table->has_words = has_shards && !options->copies && options->object_size % 8 == 0 &&
                       options->object_size <= 64;
    table->shard_mask = (uint32_t)plan->heads - 1;
    table->object_size = options->object_size;
    table->min_free = options->min_free;
    table->on_destroy = options->on_destroy;
    table->destroy_arg = options->destroy_arg;
    table->capacity = options->capacity;
    table->on_bad_access = options->on_bad_access;
    table->bad_access_arg = options->bad_access_arg;
}

/* The struct, with the name behind it. */
static haft_counted *new_table(const char *name, struct given *given, const haft_allocator *heap)
{
    const size_t size = size_with_name(sizeof(haft_counted), name);
    haft_counted *table = given != NULL ? given_take(given, size, _Alignof(haft_counted))
                                        : heap_take(heap, size, _Alignof(haft_counted));

    if (table == NULL) {
        return NULL;
    }
    memset(table, 0, sizeof *table);
    memcpy(table + 1, name, size - sizeof *table);
    table->name = (const char *)(table + 1);
    table->is_given = given != NULL;
    table->heap = *heap;
    return table;
}

static void delete_table(haft_counted *table)
{
    if (table != NULL && !table->is_given) {
        heap_give(&table->heap, table, size_with_name(sizeof *table, table->name));
    }
}

static haft_status open_block(haft_counted *table, const struct plan *plan, struct given *given)
{
    haft_status status =
        given != NULL ? reservation_open_given(&table->memory, plan->bytes, plan->alignment, given)
                      : reservation_open_array(&table->memory, plan->bytes, (size_t)plan->alignment,
                                               &table->heap);

    if (status == HAFT_OK) {
        const uint64_t begun = plan->first + plan->stride;

        status = reservation_commit(&table->memory, begun < plan->bytes ? begun : plan->bytes);
        if (status != HAFT_OK) {
            reservation_close_array(&table->memory, &table->heap);
        }
    }
    return status;
}

static uint64_t bytes_to_give(const struct plan *plan)
{
    struct given given = given_to_measure();

    given_take(&given, size_with_name(sizeof(haft_counted), plan->common.name),
               _Alignof(haft_counted));
    given_take(&given, plan->bytes, plan->alignment);
    return given.measured;
}

static haft_status open_counted_table(const haft_counted_options *options, haft_counted **table)
{
    struct given given = given_of(options->memory, options->memory_size);
    const haft_allocator heap = heap_of(options->allocator);
    struct plan plan;
    haft_status status = make_plan(options, &plan);

    if (status != HAFT_OK) {
        return status;
    }
    if (!given_suffices(&given, bytes_to_give(&plan))) {
        return HAFT_NO_MEMORY;
    }
    struct given *from = options->memory != NULL ? &given : NULL;
    haft_counted *opened = new_table(plan.common.name, from, &heap);

    status = opened != NULL ? open_block(opened, &plan, from) : HAFT_NO_MEMORY;
    if (status != HAFT_OK) {
        delete_table(opened);
        return status;
    }
    fill_in_counted(opened, &plan, options);
    opened->block = (struct counted_block *)(void *)opened->memory.base;
    opened->block->kind = COUNTED_KIND;
    opened->block->version = COUNTED_VERSION;
    free_slots_setup(opened);
    open_list_add(opened);
    *table = opened;
    return HAFT_OK;
}

haft_status haft_counted_open_sized(const haft_counted_options *options, size_t size,
                                    haft_counted **table)
{
    haft_counted_options known;
    const haft_status status = sized_take(&known, sizeof known, options, size);

    return status == HAFT_OK ? open_counted_table(&known, table) : status;
}

haft_status haft_counted_footprint_sized(const haft_counted_options *options, size_t size,
                                         haft_footprint *footprint)
{
    haft_counted_options known;
    struct plan plan;
    haft_status status = sized_take(&known, sizeof known, options, size);

    if (status == HAFT_OK) {
        status = make_plan(&known, &plan);
    }
    if (status != HAFT_OK) {
        return status;
    }
    const uint64_t bytes = bytes_to_give(&plan);

    if (!given_is_possible(bytes)) {
        return HAFT_NO_MEMORY;
    }
    *footprint = (haft_footprint){.bytes = bytes, .capacity = known.capacity};
    return HAFT_OK;
}

/* --- closing --- */

static void release_table(haft_counted *table)
{
    assert(table->block->kind == COUNTED_KIND && table->block->version == COUNTED_VERSION &&
           "nothing was written beyond an object");
    open_list_remove(table);
    asan_unpoison(table->memory.base, table->memory.size);
    reservation_close_array(&table->memory, &table->heap);
    delete_table(table);
}

/* Free all objects that are live; how many freed ones are still held. */
static uint64_t free_live(haft_counted *table)
{
    uint64_t held = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index < table->used; index++) {
        uint64_t word = load_relaxed(COUNT, counted_at(table, index));

        if (counted_state_of(word) == COUNTED_LIVE) {
            haft_counted_free(table, counted_id(table, index, counted_life(word)));
            word = load_relaxed(COUNT, counted_at(table, index));
        }
        held += counted_state_of(word) == COUNTED_ENDED;
    }
    return held;
}

/* Slots that are not accounted for. */
static uint64_t missing(const haft_counted *table)
{
    const uint64_t accounted = table->owned + returned_count(table) - table->linked;

    return (table->slot_count - accounted) & (UINT64_MAX >> COUNTED_LOW_BITS);
}

/* Close the table if nothing of it is in use; else how many freed objects are still held. */
static bool close_once(haft_counted *table, uint64_t *held)
{
    free_slots_close(table);
    *held = free_live(table);
    if (missing(table) != 0) {
        return false;
    }
    release_table(table);
    return true;
}

haft_status haft_counted_close(haft_counted *table)
{
    uint64_t held;

    return !destroy_is_under_way(table) && close_once(table, &held) ? HAFT_OK : HAFT_IN_USE;
}

/* Until a slot is returned, or for a while: a short one if more than `held` slots are missing. */
static void await_return(haft_counted *table, uint64_t held)
{
    atomic_u64 *returned = &table->block->returned.word;
    /* Acquire: what is missing is looked at below.  Weakened, a slot returned before the mark could
     * be missed, and none wakes for it. */
    const uint64_t before = fetch_or_acq_rel(RETURN, returned, RETURNED_IS_AWAITED);
    const uint64_t left = missing(table);

    if (left != 0) {
        os_wait_address(returned, before, left == held ? LOOK_LATER_NS : LOOK_AGAIN_NS);
    }
}

haft_status haft_counted_close_wait(haft_counted *table)
{
    uint64_t held;

    if (destroy_is_under_way(table)) {
        return HAFT_IN_USE;
    }
    while (!close_once(table, &held)) {
        await_return(table, held);
    }
    return HAFT_OK;
}

void haft_counted_abandon(haft_counted *table)
{
    assert(!destroy_is_under_way(table) && "on_destroy does not abandon its table");
    release_table(table);
}

/* concurrent/counted/destroy.c */

/*
 * The end of counted objects.
 *
 * The outermost call that destroys has a frame on its stack, which a pointer of the thread leads
 * to.  Signal handlers of the thread may destroy between any two steps: they find the frame and
 * push to its chain, or have a frame of their own.  So the chain is taken by exchange, and looked
 * at once more after the frame is left.
 *
 * Edges in this file.
 *   FRAME    enter_frame, leave_frame (release) -> frame_of (acquire)   a frame's members before
 *            the pointer to it, for signal handlers of this thread
 *   OWN      the slot's word, by its one owner; the chain, by one thread and its signal handlers
 */

struct frame {
    const haft_counted *table;
    struct frame *outer;
    atomic_u64 chain; /* the first slot, whose word leads on; COUNTED_ENDING: none */
};

static _Thread_local atomic_u64 innermost; /* a struct frame *; of this thread alone */

/* The thread's frame for the table; NULL: there is none. */
static struct frame *frame_of(const haft_counted *table)
{
    struct frame *frame = (struct frame *)(uintptr_t)load_acquire(FRAME, &innermost);

    while (frame != NULL && frame->table != table) {
        frame = frame->outer;
    }
    return frame;
}

HAFT_INTERNAL bool destroy_is_under_way(const haft_counted *table)
{
    return frame_of(table) != NULL;
}

static void enter_frame(struct frame *frame)
{
    /* Weakened, a signal handler could find a frame that is not filled in. */
    store_release(FRAME, &innermost, (uintptr_t)frame);
}

static void leave_frame(const struct frame *frame)
{
    store_release(FRAME, &innermost, (uintptr_t)frame->outer);
}

static uint64_t take_chain(struct frame *frame)
{
    return exchange_acq_rel(FRAME, &frame->chain, COUNTED_ENDING);
}

/* Put slot `index` into the frame's chain. */
static void defer(haft_counted *table, struct frame *frame, uint64_t index)
{
    atomic_u64 *at = counted_at(table, index);
    const uint32_t life = counted_life(load_relaxed(OWN, at));
    uint64_t first;

    do {
        first = load_relaxed(OWN, &frame->chain);
        store_relaxed(OWN, at, counted_word(life, COUNTED_RESERVED, first));
    } while (!cas_relaxed(OWN, &frame->chain, first, index));
}

HAFT_INTERNAL void destroy_silently(haft_counted *table, uint64_t index)
{
    atomic_u64 *at = counted_at(table, index);
    const uint32_t life = counted_life(load_relaxed(OWN, at));

    assert(counted_state_of(load_relaxed(OWN, at)) == COUNTED_RESERVED);
    if (table->wipes) {
        values_wipe(table, counted_object(at));
    }
    values_poison(table, counted_object(at));
    if (counted_is_worn(table, life)) {
        returned_add(table);
    } else {
        free_slots_give(table, index, life);
    }
}

static void destroy_one(haft_counted *table, uint64_t index)
{
    atomic_u64 *at = counted_at(table, index);
    const uint32_t life = counted_before(table, counted_life(load_relaxed(OWN, at)));

    const int before = os_cancel_off();

    table->on_destroy(counted_object(at), counted_id(table, index, life), table->destroy_arg);
    os_cancel_restore(before);
    destroy_silently(table, index);
}

/* Destroy the slots of the chain, and what its destructions add to it. */
static void run(haft_counted *table, struct frame *frame, uint64_t chain)
{
    while (chain != COUNTED_ENDING) {
        const uint64_t index = chain;

        chain = counted_low(load_relaxed(OWN, counted_at(table, index)));
        destroy_one(table, index);
        if (chain == COUNTED_ENDING) {
            chain = take_chain(frame);
        }
    }
}

HAFT_INTERNAL void destroy_object(haft_counted *table, uint64_t index)
{
    if (table->on_destroy == NULL) {
        destroy_silently(table, index);
        return;
    }
    struct frame *outer = frame_of(table);

    if (outer != NULL) {
        defer(table, outer, index);
        return;
    }
    struct frame frame = {.table = table};

    frame.outer = (struct frame *)(uintptr_t)load_acquire(FRAME, &innermost);
    store_relaxed(OWN, &frame.chain, COUNTED_ENDING);
    for (uint64_t chain = index; chain != COUNTED_ENDING; chain = take_chain(&frame)) {
        enter_frame(&frame);
        run(table, &frame, chain);
        leave_frame(&frame);
    }
}

/*
 * concurrent/counted/queue.h - the free slots of a table with min_free: first in, first out, and
 * out only with min_free slots behind.
 */

#define QUEUE_HEADS 2u /* the head and the tail */

/* The queue begins with slot `index`: it is never empty. */
HAFT_INTERNAL void queue_setup(haft_counted *table, uint64_t index);

/*
 * The oldest slot: HAFT_OK, HAFT_CLOSED; or HAFT_FULL: at one moment the queue had `*length` slots,
 * not more than min_free.
 */
HAFT_INTERNAL haft_status queue_take(haft_counted *table, uint64_t *index, uint64_t *length);

/* Slot `index` is free for `life`.  False: the table is closed, and the slot still the caller's. */
HAFT_INTERNAL bool queue_give(haft_counted *table, uint64_t index, uint32_t life);

/* Take all slots, and mark the queue closed. */
HAFT_INTERNAL void queue_close(haft_counted *table);

/*
 * concurrent/counted/shards.h - the free slots of a table without min_free: stacks, each with its
 * head on a separate cache line, of which threads use different ones.
 *
 * A stack is R. K. Treiber's (IBM RJ 5118, 1986): the head's number of takings, 34 bits, tells a
 * head that came back from one that stayed.  Each thread begins its search at another shard.
 *
 * Edges in this file.
 *   SHARD   shards_give (release) -> shards_try, shards_look (acquire)   the slot's last
 *           life; and what a thread had taken before it gave a slot, to a look that finds that slot
 *           taken again
 *   OWN     only this call writes the slot's word
 *   RETRY   a first look; the compare-and-swap decides
 */

/* Shards for that capacity: a power of two. */
HAFT_INTERNAL uint64_t shards_count(uint64_t capacity);

HAFT_INTERNAL _Thread_local uint32_t shards_thread; /* the calling thread's number; 0: it has none yet */
HAFT_INTERNAL uint32_t shards_number_thread(void);

/* The calling thread's shard. */
static inline atomic_u64 *shards_own(haft_counted *table)
{
    const uint32_t thread = shards_thread != 0 ? shards_thread : shards_number_thread();

    return &table->block->heads[thread & table->shard_mask].word;
}

/* The head after its first slot was taken, whose word is `word`. */
static inline uint64_t shards_head_after(uint64_t head, uint64_t word)
{
    const uint64_t takings = (head >> COUNTED_LOW_BITS) + 1;

    return takings << COUNTED_LOW_BITS | counted_low(word);
}

/*
 * Take the shard's first slot, if it has one and no other call is faster; `*word` is the slot's.
 */
static inline bool shards_try(haft_counted *table, atomic_u64 *shard, uint64_t *index,
                              uint64_t *word)
{
    /* Weakened, the slot's word could be from before it was given. */
    const uint64_t head = load_acquire(SHARD, shard);

    *index = counted_low(head);
    if (*index <= COUNTED_CLOSED) {
        return false;
    }
    *word = load_relaxed(RETRY, counted_at(table, *index));
    /* Acquire: the slot's last life is over.  Release: weakened, a look that finds this shard empty
     * could miss a slot that this thread has given to another shard before. */
    return cas_acq_rel(SHARD, shard, head, shards_head_after(head, *word));
}

/*
 * A slot of some shard: HAFT_OK, HAFT_FULL, HAFT_CLOSED.  shards_take_surely: HAFT_FULL only if at
 * one moment of the call all shards were empty.
 */
HAFT_INTERNAL haft_status shards_take(haft_counted *table, uint64_t *index);
HAFT_INTERNAL haft_status shards_take_surely(haft_counted *table, uint64_t *index);

/* Slot `index` is free for `life`.  False: the table is closed, and the slot still the caller's. */
static inline bool shards_give(haft_counted *table, uint64_t index, uint32_t life)
{
    atomic_u64 *shard = shards_own(table);
    atomic_u64 *at = counted_at(table, index);
    uint64_t head;

    assert(counted_state_of(load_relaxed(OWN, at)) <= COUNTED_RESERVED);
    do {
        head = load_relaxed(RETRY, shard);
        if (counted_low(head) == COUNTED_CLOSED) {
            return false;
        }
        store_relaxed(OWN, at, counted_word(life, COUNTED_FREE, counted_low(head)));
        /* Weakened, the slot could be taken with a link or a life from before. */
    } while (!cas_release(SHARD, shard, head, (head & ~COUNTED_LOW_MASK) | index));
    return true;
}

/* Take all slots, and mark the shards closed. */
HAFT_INTERNAL void shards_close(haft_counted *table);

/* concurrent/counted/free_slots.c */

/*
 * Free slots of a counted table: shards, or a queue; then fresh ones.
 *
 * FULL is said only if at one moment of the call no slot was free: fresh slots are used up, for
 * good, when two looks find the same heads, all without a slot.  A head's number of takings tells
 * a list that was empty all the time from one that was filled and emptied in between.
 *
 * Edges in this file.
 *   COUNT    fresh slots are drawn one by one, and each is zero; nothing else follows from it
 *   RETRY    a first look; the compare-and-swap decides
 */

HAFT_INTERNAL uint64_t free_slots_heads(uint64_t capacity, uint64_t min_free)
{
    return min_free != 0 ? QUEUE_HEADS : shards_count(capacity);
}

HAFT_INTERNAL void free_slots_setup(haft_counted *table)
{
    uint64_t used = HAFT_FIRST_INDEX;

    if (table->min_free != 0) {
        queue_setup(table, used++);
    }
    store_relaxed(COUNT, &table->block->fresh.word, used);
}

/* Draw fresh slot `at`: HAFT_BUSY if another call has drawn it. */
static haft_status draw_fresh(haft_counted *table, uint64_t at)
{
    const char *end = (const char *)counted_at(table, at) + table->stride;
    const uint64_t bytes = (uint64_t)(end - table->memory.base);
    const haft_status status =
        reservation_commit(&table->memory, bytes < table->memory.size ? bytes : table->memory.size);

    if (status != HAFT_OK) {
        return status;
    }
    return cas_relaxed(COUNT, &table->block->fresh.word, at, at + 1) ? HAFT_OK : HAFT_BUSY;
}

/* The next fresh slot; or, when they are used up, a slot of a shard after all. */
static haft_status take_fresh(haft_counted *table, uint64_t *index)
{
    haft_status status = HAFT_BUSY;

    while (status == HAFT_BUSY) {
        *index = load_relaxed(RETRY, &table->block->fresh.word);
        if (*index - HAFT_FIRST_INDEX >= table->slot_count) {
            return shards_take_surely(table, index);
        }
        status = draw_fresh(table, *index);
    }
    return status;
}

/*
 * With a queue, min_free slots stay free, in the queue or fresh.  The queue's length falls only
 * while it is above min_free: so between a look that finds it shorter and the drawing of the slot
 * that was the first fresh one before that look, it has not become less.
 */
static haft_status take_queued(haft_counted *table, uint64_t *index)
{
    const atomic_u64 *fresh = &table->block->fresh.word;

    for (;;) {
        const uint64_t at = load_relaxed(RETRY, fresh);
        uint64_t length;
        haft_status status = queue_take(table, index, &length);

        if (status != HAFT_FULL) {
            return status;
        }
        if (at - HAFT_FIRST_INDEX - length < table->capacity) {
            *index = at;
            status = draw_fresh(table, at);
            if (status != HAFT_BUSY) {
                return status;
            }
        } else if (load_relaxed(RETRY, fresh) == at) {
            return HAFT_FULL;
        }
    }
}

HAFT_INTERNAL haft_status free_slots_take(haft_counted *table, uint64_t *index)
{
    if (table->min_free != 0) {
        return take_queued(table, index);
    }
    const haft_status status = shards_take(table, index);

    return status == HAFT_FULL ? take_fresh(table, index) : status;
}

HAFT_INTERNAL void free_slots_give(haft_counted *table, uint64_t index, uint32_t life)
{
    const bool is_in_list =
        table->min_free != 0 ? queue_give(table, index, life) : shards_give(table, index, life);

    if (!is_in_list) {
        returned_add(table);
    }
}

HAFT_INTERNAL void free_slots_close(haft_counted *table)
{
    atomic_u64 *fresh = &table->block->fresh.word;
    const uint64_t end = HAFT_FIRST_INDEX + table->slot_count;

    /* The lists first: a call that finds no fresh slot looks there, and finds them closed. */
    if (table->min_free != 0) {
        queue_close(table);
    } else {
        shards_close(table);
    }
    uint64_t used = load_relaxed(RETRY, fresh);

    while (!cas_relaxed(COUNT, fresh, used, end)) {
        used = load_relaxed(RETRY, fresh);
    }
    table->owned += end - used;
    if (table->used == 0) {
        table->used = used;
    }
}

/* concurrent/counted/holds.c */

/*
 * Holding counted objects: acquire, again, release, and copies.
 *
 * Edges in this file.
 *   PUBLISH  haft_counted_publish (release) -> haft_counted_acquire, haft_counted_copy (acquire)
 *            object before word
 *   HOLD     haft_counted_release (release) -> haft_counted_release, haft_counted_free (acquire)
 *            all uses by holders before the object's end; between them lie only read-modify-writes
 *   RETRY    a first look; the compare-and-swap decides
 *   ONWARD   the caller's hold already orders the object
 */

void *haft_counted_acquire(haft_counted *table, haft_id id)
{
    atomic_u64 *at = counted_find(table, id);
    uint64_t word;

    if (at == NULL) {
        return NULL;
    }
    do {
        word = load_relaxed(RETRY, at);
        if (!counted_fits(table, word, id, COUNTED_LIVE) ||
            counted_low(word) == COUNTED_MOST_HOLDERS) {
            return NULL;
        }
        /* Weakened, the object's bytes could be read from before its publication. */
    } while (!cas_acquire(PUBLISH, at, word, word + 1));
    return counted_object(at);
}

void *haft_counted_require(haft_counted *table, haft_id id)
{
    void *object = haft_counted_acquire(table, id);

    if (__builtin_expect(object == NULL, 0)) {
        const haft_bad_access access = {
            .table = table->name,
            .layout = table->format.layout,
            .id = id,
            .status = haft_counted_diagnose(table, id),
        };

        bad_access_report(&access, table->on_bad_access, table->bad_access_arg);
    }
    return object;
}

/* Whether the word is that of an object with this id that is held. */
static inline bool has_holder(const haft_counted *table, uint64_t word, haft_id id)
{
    return counted_low(word) != 0 && counted_is_of(table, word, id);
}

bool haft_counted_again(haft_counted *table, haft_id id)
{
    atomic_u64 *at = counted_find(table, id);
    uint64_t word;

    if (at == NULL) {
        return false;
    }
    do {
        word = load_relaxed(RETRY, at);
        if (!has_holder(table, word, id) || counted_low(word) == COUNTED_MOST_HOLDERS) {
            return false;
        }
    } while (!cas_relaxed(ONWARD, at, word, word + 1));
    return true;
}

haft_status haft_counted_release(haft_counted *table, haft_id id)
{
    atomic_u64 *at = counted_find(table, id);
    uint64_t word;
    uint64_t next;

    if (at == NULL) {
        return HAFT_NOT_HELD;
    }
    do {
        word = load_relaxed(RETRY, at);
        if (!has_holder(table, word, id)) {
            return HAFT_NOT_HELD;
        }
        next = counted_is_last(word) ? destroy_word(table, word) : word - 1;
        /* Weakened, on_destroy could run before another holder's last use. */
    } while (!cas_acq_rel(HOLD, at, word, next));
    if (counted_is_last(word)) {
        destroy_object(table, counted_index(table, id));
    }
    return HAFT_OK;
}

/* As long as no other object came into the slot between the two looks at its word. */
static inline bool is_unchanged(uint64_t before, uint64_t after)
{
    return (before ^ after) >> COUNTED_LOW_BITS == 0;
}

/* The object behind the word, which was `before`: any number of words. */
static __attribute__((noinline)) bool copy_words(const haft_counted *table, const atomic_u64 *at,
                                                 uint64_t before, void *object)
{
    uint64_t words[VALUES_MOST_BYTES / sizeof(uint64_t)];

    values_read(table, at + 1, words);
    if (!is_unchanged(before, load_relaxed(RETRY, at))) {
        return false;
    }
    memcpy(object, words, table->object_size);
    return true;
}

bool haft_counted_copy(const haft_counted *table, haft_id id, void *object)
{
    const uint64_t index = counted_index(table, id);

    assert(table->copies && "a table that copies are made of is opened with `copies`");
    if (index - HAFT_FIRST_INDEX >= table->copied_count) {
        return false;
    }
    const atomic_u64 *at = counted_at(table, index);
    /* Weakened, the object's words could be read from before its publication. */
    const uint64_t before = load_acquire(PUBLISH, at);

    if (!counted_fits(table, before, id, COUNTED_LIVE)) {
        return false;
    }
    if (table->object_size != sizeof(uint64_t)) {
        return copy_words(table, at, before, object);
    }
    const uint64_t value = values_read_one(at + 1);

    if (!is_unchanged(before, load_relaxed(RETRY, at))) {
        return false;
    }
    memcpy(object, &value, sizeof value);
    return true;
}

/* concurrent/counted/ids.c */

/*
 * What a counted table says of one id.
 *
 * Edges in this file.
 *   PUBLISH  publish_word (release) -> the looks here (acquire)   what came before an id was live,
 *            for a thread that is told so
 */

haft_layout haft_counted_layout(const haft_counted *table)
{
    return table->format.layout;
}

const char *haft_counted_name(const haft_counted *table)
{
    return table->name;
}

size_t haft_counted_object_size(const haft_counted *table)
{
    return table->object_size;
}

bool haft_counted_is_live(const haft_counted *table, haft_id id)
{
    const atomic_u64 *at = counted_find(table, id);

    /* Weakened, what the thread that published the id had done could be unseen. */
    return at != NULL && counted_fits(table, load_acquire(PUBLISH, at), id, COUNTED_LIVE);
}

/* Whether the generation of `id` was issued before the life in `word`; true if none can tell. */
static bool was_issued(const haft_counted *table, uint64_t word, haft_id id)
{
    const uint32_t asked = (uint32_t)(id.bits >> table->index_bits) & table->generation_mask;
    const uint32_t life = counted_begin(table, word);
    const bool may_repeat = table->wraps && word != 0 &&
                            (life > table->generation_mask || table->generation_mask == UINT32_MAX);

    if (may_repeat) {
        return asked != 0;
    }
    return asked >= table->first_life && (counted_is_worn(table, life) || asked < life);
}

haft_status haft_counted_diagnose(const haft_counted *table, haft_id id)
{
    const haft_status status =
        word_check_fields(&table->format, id, HAFT_FIRST_INDEX + table->slot_count);

    if (status != HAFT_OK) {
        return status == HAFT_OUT_OF_RANGE ? HAFT_NEVER_ISSUED : status;
    }
    /* Weakened, what the thread that published the id had done could be unseen. */
    const uint64_t word = load_acquire(PUBLISH, counted_find(table, id));

    if (counted_fits(table, word, id, COUNTED_LIVE)) {
        return HAFT_OK;
    }
    if (counted_fits(table, word, id, COUNTED_RESERVED) &&
        counted_low(word) == COUNTED_FOR_CALLER) {
        return HAFT_RESERVED;
    }
    if (counted_fits(table, word, id, COUNTED_ENDED)) {
        return HAFT_STALE;
    }
    if (!was_issued(table, word, id)) {
        return HAFT_NEVER_ISSUED;
    }
    return counted_is_worn(table, counted_begin(table, word)) ? HAFT_EXHAUSTED : HAFT_STALE;
}

int haft_counted_diagnose_format(const haft_counted *table, haft_id id, char *text, size_t size)
{
    const haft_bad_access access = {
        .table = table->name,
        .layout = table->format.layout,
        .id = id,
        .status = haft_counted_diagnose(table, id),
    };

    return haft_bad_access_format(&access, text, size);
}

haft_status haft_counted_id_at(const haft_counted *table, uint64_t index, haft_id *id)
{
    if (index < HAFT_FIRST_INDEX || index - HAFT_FIRST_INDEX >= table->slot_count) {
        return HAFT_OUT_OF_RANGE;
    }
    /* Weakened, what the thread that published the id had done could be unseen. */
    const uint64_t word = load_acquire(PUBLISH, counted_at(table, index));
    const uint32_t life = counted_begin(table, word);
    const enum counted_state state = counted_state_of(word);
    const bool is_ended = state == COUNTED_ENDED;
    const uint32_t next = is_ended ? counted_next(table, life) : life;

    *id = counted_is_worn(table, next) ? HAFT_NIL : counted_id(table, index, next);
    if (state == COUNTED_LIVE) {
        return HAFT_OK;
    }
    if (counted_is_worn(table, next)) {
        return HAFT_EXHAUSTED;
    }
    if (state == COUNTED_RESERVED && counted_low(word) == COUNTED_FOR_CALLER) {
        return HAFT_RESERVED;
    }
    return word == 0 ? HAFT_NEVER_ISSUED : HAFT_STALE;
}

/* concurrent/counted/lives.c */

/*
 * The lives of counted objects: insert, reserve, publish, abort; free, take.
 *
 * Edges in this file.
 *   PUBLISH  publish_word (release) -> haft_counted_acquire, haft_counted_copy (acquire), and
 *            haft_counted_free, haft_counted_take (acquire)   object before word
 *   HOLD     haft_counted_release, haft_counted_free (release) -> haft_counted_free,
 *            haft_counted_take (acquire)   all uses by holders before the object's end; and what
 *            the thread that frees did before
 *   SHARD    end_plainly (release) -> shards_try (acquire)   the slot's last life
 *   OWN      only this call writes the word
 *   RETRY    a first look; the compare-and-swap decides
 */

/* --- the way in --- */

/* A slot of the caller's, and the id of its next life. */
static haft_status take_free(haft_counted *table, atomic_u64 **at, haft_id *id)
{
    uint64_t index;
    const haft_status status = free_slots_take(table, &index);

    if (status != HAFT_OK) {
        return status;
    }
    *at = counted_at(table, index);
    const uint64_t word = load_relaxed(OWN, *at);
    const uint32_t life = counted_begin(table, word);

    assert(counted_state_of(word) == COUNTED_FREE && !counted_is_worn(table, life));
    store_relaxed(OWN, *at, counted_word(life, COUNTED_RESERVED, COUNTED_FOR_CALLER));
    *id = counted_id(table, index, life);
    return HAFT_OK;
}

/* The slot, whose word is `word`, is live. */
static inline void publish_word(atomic_u64 *at, uint64_t word)
{
    /* Weakened, a thread could acquire the id and read the object's bytes from before. */
    store_release(PUBLISH, at, counted_word(counted_life(word), COUNTED_LIVE, 0));
}

/* Any object, into any slot: apart, so that the common way stays short. */
static __attribute__((noinline)) haft_status insert_anywhere(haft_counted *table,
                                                             const void *object, haft_id *id)
{
    atomic_u64 *at;
    haft_id inserted;
    const haft_status status = take_free(table, &at, &inserted);

    if (status == HAFT_OK) {
        values_write(table, counted_object(at), object);
        publish_word(at, load_relaxed(OWN, at));
        *id = inserted;
    }
    return status;
}

haft_status haft_counted_insert(haft_counted *table, const void *object, haft_id *id)
{
    uint64_t index;
    uint64_t word;

    if (!table->has_words || object == NULL || shards_thread == 0 ||
        !shards_try(table, shards_own(table), &index, &word)) {
        return insert_anywhere(table, object, id);
    }
    atomic_u64 *at = counted_at(table, index);

    assert(load_relaxed(OWN, at) == word && counted_state_of(word) == COUNTED_FREE);
    object_copy_words(counted_object(at), object, table->object_size);
    publish_word(at, word);
    *id = counted_id(table, index, counted_life(word));
    return HAFT_OK;
}

haft_status haft_counted_reserve(haft_counted *table, haft_id *id, void **object)
{
    atomic_u64 *at;

    if (table->copies) {
        return HAFT_BAD_COPIES;
    }
    const haft_status status = take_free(table, &at, id);

    if (status == HAFT_OK) {
        values_unpoison(table, counted_object(at));
        if (object != NULL) {
            *object = counted_object(at);
        }
    }
    return status;
}

/* The word of the slot that `id` was reserved in. */
static atomic_u64 *reserved_slot(const haft_counted *table, haft_id id)
{
    atomic_u64 *at = counted_find(table, id);

    assert(at != NULL && counted_fits(table, load_relaxed(OWN, at), id, COUNTED_RESERVED) &&
           counted_low(load_relaxed(OWN, at)) == COUNTED_FOR_CALLER &&
           "an id is reserved, and published or given up once");
    return at;
}

void haft_counted_publish(haft_counted *table, haft_id id)
{
    atomic_u64 *at = reserved_slot(table, id);

    publish_word(at, load_relaxed(OWN, at));
}

void haft_counted_abort(haft_counted *table, haft_id id)
{
    atomic_u64 *at = reserved_slot(table, id);

    store_relaxed(OWN, at, destroy_word(table, load_relaxed(OWN, at)));
    destroy_silently(table, counted_index(table, id));
}

/* --- the way out --- */

/* End an object: apart, so that the common way stays short. */
static __attribute__((noinline)) haft_status free_any(haft_counted *table, haft_id id)
{
    atomic_u64 *at = counted_find(table, id);

    if (at == NULL) {
        return haft_counted_diagnose(table, id);
    }
    for (;;) {
        const uint64_t word = load_relaxed(RETRY, at);

        if (!counted_fits(table, word, id, COUNTED_LIVE)) {
            return haft_counted_diagnose(table, id);
        }
        if (counted_low(word) == 0) {
            /* Weakened, on_destroy could run before a holder's last use. */
            if (cas_acquire(HOLD, at, word, destroy_word(table, word))) {
                destroy_object(table, counted_index(table, id));
                return HAFT_OK;
            }
            /* Weakened, on_destroy could run before what this thread did. */
        } else if (cas_release(HOLD, at, word, word | UINT64_C(1) << COUNTED_LOW_BITS)) {
            return HAFT_OK; /* LIVE has become ENDED */
        }
    }
}

/* Give slot `index` to a list after all: another call was faster at the shard, or closed it. */
static __attribute__((noinline)) void give_after_all(haft_counted *table, uint64_t index,
                                                     uint32_t life)
{
    free_slots_give(table, index, life);
}

/*
 * End an object without holders, where nothing is to be destroyed, and put its slot into the shard.
 * False: another call was faster at its word, or the shard is closed; nothing has changed.
 */
static inline bool end_plainly(haft_counted *table, atomic_u64 *at, uint64_t word, uint64_t index)
{
    atomic_u64 *shard = shards_own(table);
    const uint64_t head = load_relaxed(RETRY, shard);
    const uint32_t life = counted_life(word) + 1;

    if (counted_low(head) == COUNTED_CLOSED) {
        return false;
    }
    /* Weakened, the slot's next object could be written before a holder's last use. */
    if (!cas_acquire(HOLD, at, word, counted_word(life, COUNTED_FREE, counted_low(head)))) {
        return false;
    }
    /* Weakened, the slot could be taken with a link or a life from before. */
    if (!cas_release(SHARD, shard, head, (head & ~COUNTED_LOW_MASK) | index)) {
        give_after_all(table, index, life);
    }
    return true;
}

haft_status haft_counted_free(haft_counted *table, haft_id id)
{
    atomic_u64 *at = counted_find(table, id);
    const uint64_t word = at != NULL ? load_relaxed(RETRY, at) : 0;
    const uint32_t next = counted_life(word) + 1;

    if (!table->is_plain || shards_thread == 0 || counted_low(word) != 0 ||
        !counted_fits(table, word, id, COUNTED_LIVE) || counted_is_worn(table, next)) {
        return free_any(table, id);
    }
    return end_plainly(table, at, word, counted_index(table, id)) ? HAFT_OK : free_any(table, id);
}

haft_status haft_counted_take(haft_counted *table, haft_id id, void *object)
{
    atomic_u64 *at = counted_find(table, id);
    uint64_t word;

    if (at == NULL) {
        return haft_counted_diagnose(table, id);
    }
    do {
        word = load_relaxed(RETRY, at);
        if (!counted_fits(table, word, id, COUNTED_LIVE)) {
            return haft_counted_diagnose(table, id);
        }
        if (counted_low(word) != 0) {
            return HAFT_IN_USE;
        }
        /* Weakened, the bytes could be those of before a holder's last use. */
    } while (!cas_acquire(HOLD, at, word, destroy_word(table, word)));
    memcpy(object, counted_object(at), table->object_size);
    destroy_silently(table, counted_index(table, id));
    return HAFT_OK;
}

/* concurrent/counted/open_list.c */

/* The list of open counted tables. */

static struct os_mutex open_list_mutex;
static haft_counted *open_counted; /* under the lock; debuggers look for it by this name */

HAFT_INTERNAL void open_list_lock(void)
{
    os_mutex_lock(&open_list_mutex);
}

HAFT_INTERNAL void open_list_unlock(void)
{
    os_mutex_unlock(&open_list_mutex);
}

/* Before main: see concurrent/clock/registry.c for the order of locks in a fork. */
__attribute__((constructor(101))) static void guard_open_list(void)
{
    os_on_fork(open_list_lock, open_list_unlock, open_list_unlock);
}

HAFT_INTERNAL void open_list_add(haft_counted *table)
{
    open_list_lock();
    table->next_open = open_counted;
    table->open_link = &open_counted;
    if (open_counted != NULL) {
        open_counted->open_link = &table->next_open;
    }
    open_counted = table;
    open_list_unlock();
}

HAFT_INTERNAL void open_list_remove(haft_counted *table)
{
    open_list_lock();
    *table->open_link = table->next_open;
    if (table->next_open != NULL) {
        table->next_open->open_link = table->open_link;
    }
    open_list_unlock();
}

HAFT_INTERNAL haft_counted *open_list_first(void)
{
    return open_counted;
}

/* concurrent/counted/queue.c */

/*
 * Free slots in a queue.
 *
 * M. M. Michael's and M. L. Scott's queue (PODC 1996) without its dummy node: since min_free slots
 * stay, the first slot itself goes out.  Head and tail count 34 bits of slots that went out and
 * came in; the difference is the queue's length.  A slot's link is written into its word by a
 * compare-and-swap, and the life in that word, which a slot has once in the queue, tells a tail
 * that came back from one that stayed.
 *
 * Closing.  The tail is exchanged for CLOSED, then the last slot's link: after that no slot is
 * linked.  But a call that has linked its slot before still looks at the tail; so each call counts
 * in `returned` when it is done, and closing waits for as many as slots were linked.
 *
 * Edges in this file.
 *   QUEUE    queue_give, advance_tail (release) -> queue_take, queue_give, queue_close (acquire)
 *            the slot's last life, and its link before the tail that leads on
 *   OWN      only this call writes the slot's word
 *   RETRY    a first look; the compare-and-swap decides
 */

#define COUNT_ONE (UINT64_C(1) << COUNTED_LOW_BITS)
#define COUNT_MASK (UINT64_MAX >> COUNTED_LOW_BITS)

static atomic_u64 *queue_head(haft_counted *table)
{
    return &table->block->heads[0].word;
}

static atomic_u64 *queue_tail(haft_counted *table)
{
    return &table->block->heads[1].word;
}

static uint64_t count_of(uint64_t end)
{
    return end >> COUNTED_LOW_BITS;
}

/* `end` with one more slot passed, and another slot. */
static uint64_t end_at(uint64_t end, uint64_t index)
{
    return ((end & ~COUNTED_LOW_MASK) + COUNT_ONE) | index;
}

HAFT_INTERNAL void queue_setup(haft_counted *table, uint64_t index)
{
    store_relaxed(OWN, counted_at(table, index),
                  counted_word(table->first_life, COUNTED_FREE, COUNTED_NONE));
    store_relaxed(OWN, queue_head(table), index);
    store_relaxed(OWN, queue_tail(table), COUNT_ONE | index);
    store_relaxed(OWN, &table->block->returned.word, 1); /* that slot was linked, and no more */
}

/*
 * The tail's slot, its word, and whether `tail` still was the tail when the word was read: then it
 * is that of the queue's last slot, or of the last but one.
 */
static bool read_last(haft_counted *table, uint64_t tail, atomic_u64 **at, uint64_t *word)
{
    *at = counted_at(table, counted_low(tail));
    /* Weakened, the word could be one that the slot got outside of the queue, while the tail below
     * is from before. */
    *word = load_acquire(QUEUE, *at);
    if (load_relaxed(RETRY, queue_tail(table)) != tail) {
        return false;
    }
    assert(counted_state_of(*word) == COUNTED_FREE && counted_low(*word) != COUNTED_CLOSED);
    return true;
}

/* The tail leads on to slot `index`, unless another call has done so. */
static void advance_tail(haft_counted *table, uint64_t tail, uint64_t index)
{
    /* Weakened, a slot could be taken out whose link is not visible. */
    cas_release(QUEUE, queue_tail(table), tail, end_at(tail, index));
}

HAFT_INTERNAL haft_status queue_take(haft_counted *table, uint64_t *index, uint64_t *length)
{
    for (;;) {
        /* Weakened, the tail read below could be older than this head. */
        const uint64_t head = load_acquire(QUEUE, queue_head(table));
        /* Weakened, the link of the first slot could be one from before it was linked. */
        const uint64_t tail = load_acquire(QUEUE, queue_tail(table));
        atomic_u64 *at;
        uint64_t word;

        if (counted_low(head) == COUNTED_CLOSED || counted_low(tail) == COUNTED_CLOSED) {
            return HAFT_CLOSED;
        }
        *length = (count_of(tail) - count_of(head)) & COUNT_MASK;
        if (*length > table->min_free) {
            const uint64_t first = counted_low(head);
            const uint64_t next = counted_low(load_relaxed(RETRY, counted_at(table, first)));

            /* Weakened, the slot's next object could be written before its last life is over. */
            if (cas_acq_rel(QUEUE, queue_head(table), head, end_at(head, next))) {
                *index = first;
                return HAFT_OK;
            }
        } else if (read_last(table, tail, &at, &word)) {
            if (counted_low(word) != COUNTED_NONE) {
                advance_tail(table, tail, counted_low(word));
            } else if (load_relaxed(RETRY, queue_head(table)) == head) {
                return HAFT_FULL; /* when the word was read, these were head and tail */
            }
        }
    }
}

HAFT_INTERNAL bool queue_give(haft_counted *table, uint64_t index, uint32_t life)
{
    atomic_u64 *own = counted_at(table, index);

    assert(counted_state_of(load_relaxed(OWN, own)) == COUNTED_RESERVED);
    /* Weakened, a call could take it for the word of a slot that is the queue's last. */
    store_release(QUEUE, own, counted_word(life, COUNTED_FREE, COUNTED_NONE));
    for (;;) {
        /* Weakened, the word of the last slot could be one from before it was linked. */
        const uint64_t tail = load_acquire(QUEUE, queue_tail(table));
        atomic_u64 *at;
        uint64_t word;

        if (counted_low(tail) == COUNTED_CLOSED) {
            return false;
        }
        if (!read_last(table, tail, &at, &word)) {
            continue;
        }
        if (counted_low(word) != COUNTED_NONE) {
            advance_tail(table, tail, counted_low(word));
            /* Weakened, the slot could be taken with a life from before. */
        } else if (cas_release(QUEUE, at, word, word | index)) {
            advance_tail(table, tail, index);
            returned_add(table);
            return true;
        }
    }
}

/* Count the slots from the first on, and let none be linked behind the last. */
static void close_links(haft_counted *table, uint64_t first, uint64_t tail)
{
    uint64_t index = first;

    for (;;) {
        atomic_u64 *at = counted_at(table, index);
        const uint64_t word = load_acquire(QUEUE, at);
        const uint64_t next = counted_low(word);

        if (next == COUNTED_NONE) {
            if (cas_acq_rel(QUEUE, at, word, word | COUNTED_CLOSED)) {
                table->owned++;
                return;
            }
            continue;
        }
        table->owned++;
        table->linked += index == counted_low(tail); /* linked by a call that finds no tail now */
        index = next;
    }
}

HAFT_INTERNAL void queue_close(haft_counted *table)
{
    const uint64_t head = exchange_acq_rel(QUEUE, queue_head(table), COUNTED_CLOSED);
    const uint64_t tail = exchange_acq_rel(QUEUE, queue_tail(table), COUNTED_CLOSED);

    if (counted_low(head) != COUNTED_CLOSED) {
        table->linked = count_of(tail);
        close_links(table, counted_low(head), tail);
        assert(table->owned <= table->slot_count);
    }
}

/* concurrent/counted/shards.c */

/*
 * Free slots in stacks: the search, and the end.
 *
 * Edges in this file.
 *   SHARD   shards_give (release) -> shards_look, shards_close (acquire)   the slot's last life
 *   OWN     the slots that closing has taken are its own
 *   COUNT   each thread's number is given once, in no order with anything else
 */

HAFT_INTERNAL _Thread_local uint32_t shards_thread;

HAFT_INTERNAL uint64_t shards_count(uint64_t capacity)
{
    uint64_t count = 1;

    while (count < COUNTED_MOST_SHARDS && count * 2 <= capacity) {
        count *= 2;
    }
    return count;
}

HAFT_INTERNAL uint32_t shards_number_thread(void)
{
    static atomic_u64 threads;

    shards_thread = (uint32_t)fetch_add_relaxed(COUNT, &threads, 1) + 1;
    return shards_thread;
}

/* Take the first slot of the shard: HAFT_OK, HAFT_FULL, HAFT_CLOSED. */
static haft_status take_from(haft_counted *table, atomic_u64 *shard, uint64_t *index)
{
    uint64_t word;

    while (!shards_try(table, shard, index, &word)) {
        if (*index <= COUNTED_CLOSED) {
            return *index == COUNTED_NONE ? HAFT_FULL : HAFT_CLOSED;
        }
    }
    return HAFT_OK;
}

HAFT_INTERNAL haft_status shards_take(haft_counted *table, uint64_t *index)
{
    const atomic_u64 *own = shards_own(table);
    const uint32_t mask = table->shard_mask;
    struct counted_head *heads = table->block->heads;
    const uint32_t begin = (uint32_t)((const struct counted_head *)(const void *)own - heads);
    haft_status status = HAFT_FULL;

    for (uint32_t i = 0; status == HAFT_FULL && i <= mask; i++) {
        status = take_from(table, &heads[(begin + i) & mask].word, index);
    }
    return status;
}

/* All heads; whether one has a slot or is closed. */
static bool shards_look(const haft_counted *table, uint64_t heads[COUNTED_MOST_SHARDS])
{
    uint64_t found = 0;

    for (uint32_t i = 0; i <= table->shard_mask; i++) {
        /* Weakened, the second look could be older than a slot given before the first. */
        heads[i] = load_acquire(SHARD, &table->block->heads[i].word);
        found |= counted_low(heads[i]);
    }
    return found != 0;
}

HAFT_INTERNAL haft_status shards_take_surely(haft_counted *table, uint64_t *index)
{
    uint64_t first[COUNTED_MOST_SHARDS];
    uint64_t second[COUNTED_MOST_SHARDS];
    const size_t size = ((size_t)table->shard_mask + 1) * sizeof first[0];

    for (;;) {
        const haft_status status = shards_take(table, index);

        if (status != HAFT_FULL) {
            return status;
        }
        if (!shards_look(table, first) && !shards_look(table, second) &&
            memcmp(first, second, size) == 0) {
            return HAFT_FULL;
        }
    }
}

HAFT_INTERNAL void shards_close(haft_counted *table)
{
    for (uint32_t i = 0; i <= table->shard_mask; i++) {
        atomic_u64 *shard = &table->block->heads[i].word;
        uint64_t index = counted_low(exchange_acq_rel(SHARD, shard, COUNTED_CLOSED));

        while (index > COUNTED_CLOSED) {
            table->owned++;
            assert(table->owned <= table->slot_count);
            index = counted_low(load_relaxed(OWN, counted_at(table, index)));
        }
    }
}

/* concurrent/counted/values.c */

/*
 * The bytes of counted objects.
 *
 * Edges in this file.
 *   VALUE   write_words (release) -> values_read_one (acquire)   the end of a slot's last life
 *           before the words of the next object: a reader of one of these sees that end as well
 */

/* Write `size` bytes, which are zero beyond those of the object up to a whole word. */
static void write_words(void *object, const void *from, size_t size)
{
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        const size_t part = size - at < sizeof(uint64_t) ? size - at : sizeof(uint64_t);
        uint64_t word = 0;

        if (from != NULL) {
            memcpy(&word, (const char *)from + at, part);
        }
        /* Weakened, a copy could have words of this object, and find the last one's life after. */
        bytes_store_release(VALUE, (char *)object + at, word);
    }
}

HAFT_INTERNAL void values_write_any(const haft_counted *table, void *object, const void *from)
{
    values_unpoison(table, object);
    if (table->copies) {
        write_words(object, from, table->object_size);
    } else if (from == NULL) {
        memset(object, 0, table->object_size);
    } else {
        memcpy(object, from, table->object_size);
    }
}

HAFT_INTERNAL void values_wipe(const haft_counted *table, void *object)
{
    if (table->copies) {
        write_words(object, NULL, table->object_size);
    } else {
        memset(object, 0, table->object_size); /* kept: the slot is given to other threads next */
    }
}

HAFT_INTERNAL void values_read(const haft_counted *table, const void *object, uint64_t *words)
{
    for (size_t at = 0; at < table->object_size; at += sizeof(uint64_t)) {
        words[at / sizeof(uint64_t)] = values_read_one((const char *)object + at);
    }
}

/* concurrent/counted/walk.c */

/*
 * Walks over the slots of a counted table: cursors, statistics, and statuses in words.
 *
 * Edges in this file.
 *   COUNT    a statistic, or how far a walk goes: what the caller knows to be inserted is there
 */

/* One more than the highest index ever used. */
static uint64_t used_end(const haft_counted *table)
{
    return table->used != 0 ? table->used : load_relaxed(COUNT, &table->block->fresh.word);
}

bool haft_counted_cursor_next(haft_counted *table, haft_counted_cursor *cursor, haft_id *id,
                              void **object)
{
    const uint64_t end = used_end(table);

    for (uint64_t index = HAFT_FIRST_INDEX + cursor->passed; index < end; index++) {
        haft_id found;

        cursor->passed = index + 1 - HAFT_FIRST_INDEX;
        if (haft_counted_id_at(table, index, &found) == HAFT_OK) {
            void *held = haft_counted_acquire(table, found);

            if (held != NULL) {
                *id = found;
                *object = held;
                return true;
            }
        }
    }
    return false;
}

static void count_slot(const haft_counted *table, haft_counted_stats *stats, uint64_t word)
{
    const bool is_worn = counted_is_worn(table, counted_begin(table, word));

    switch (counted_state_of(word)) {
    case COUNTED_LIVE:
        stats->live++;
        stats->held += counted_low(word) != 0;
        break;
    case COUNTED_ENDED:
        stats->ended++;
        break;
    case COUNTED_RESERVED:
        if (counted_low(word) == COUNTED_FOR_CALLER) {
            stats->reserved++;
        } else if (is_worn) {
            stats->exhausted++;
        } else {
            stats->ended++;
        }
        break;
    default:
        stats->free++;
    }
}

haft_counted_stats haft_counted_stats_get(const haft_counted *table)
{
    const uint64_t end = used_end(table);
    haft_counted_stats stats = {
        .high_water = end - HAFT_FIRST_INDEX,
        .capacity = table->capacity,
        .limit = table->slot_count,
    };

    for (uint64_t index = HAFT_FIRST_INDEX; index < end; index++) {
        count_slot(table, &stats, load_relaxed(COUNT, counted_at(table, index)));
    }
    stats.bytes = counted_bytes(table, end);
    return stats;
}

/* --- in words --- */

static void add_part(struct text *text, const char **before, uint64_t count, const char *one,
                     const char *more)
{
    if (count != 0) {
        text_add(text, "%s", *before);
        text_add_counted(text, count, one);
        text_add(text, "%s", more);
        *before = ", ";
    }
}

/* What is in use beside live objects. */
static void add_use(struct text *text, const char *before, const haft_counted_stats *stats)
{
    add_part(text, &before, stats->reserved, "slot", " reserved");
    add_part(text, &before, stats->ended, "object", " freed and still held or being destroyed");
    add_part(text, &before, stats->exhausted, "slot", " exhausted");
}

int haft_counted_explain(const haft_counted *table, haft_status status, char *line, size_t size)
{
    struct text text = text_in(line, size);
    const bool counts = status == HAFT_FULL || status == HAFT_IN_USE;
    const haft_counted_stats stats =
        counts ? haft_counted_stats_get(table) : (haft_counted_stats){0};

    text_add(&text, "%s: ", table->name);
    if (status == HAFT_FULL) {
        text_add(&text, "full: capacity ");
        text_add_count(&text, table->capacity);
        text_add(&text, "; ");
        text_add_count(&text, stats.live);
        text_add(&text, " live");
        add_use(&text, ", ", &stats);
    } else if (status == HAFT_IN_USE) {
        const char *before = "in use: ";

        add_part(&text, &before, stats.live, "object", " live");
        add_part(&text, &before, stats.held, "object", " of them held");
        add_use(&text, before, &stats);
    } else {
        text_add(&text, "%s", haft_status_text(status));
    }
    return text_length(&text);
}

/*
 * concurrent/batches/tuning.h - every number that was chosen for speed or for memory, and why.
 *
 * docs/performance-notes.md has the measurements.  A number that follows from another is written as
 * a multiple of it.
 */

/* --- batches --- */

/* Slots in a batch, at most: the shared operations of a batch are spread over them. */
#define BATCH_SLOTS 128

/* Batches in each of a worker's rings: more than its backlog at rest. */
#define RING_BATCHES 128

/* Empty descriptors that a worker keeps, in its own cache. */
#define SPARE_BATCHES 16

/* Workers that the smallest tables' budgets are spread over. */
#define WORKERS_EXPECTED 16

/* --- fresh slots --- */

/* Drawn by a worker at once: 64 KiB with 24-byte objects, beyond a prefetcher's reach. */
#define EXTENT_SLOTS (16 * BATCH_SLOTS)

/* Extents that a table is divided into, if it is large enough, so that no worker draws it all. */
#define EXTENTS_LEAST 64

/* --- quiescent points --- */

/* Retired slots that are worth a ticket. */
#define WORTH_CLOSING 32

/* Partial batches that may wait: while this many do, only full ones are handed on. */
#define PARTIAL_BATCHES (RING_BATCHES / 2)

/* Retired slots that may wait, at most, before a quiescent point waits for them. */
#define BACKLOG_SLOTS (64 * BATCH_SLOTS)

/* Parts of the backlog: in between, if another thread drives the clock; and the retired slots for
 * which a thread looks at the announcements of all others (workers clock). */
#define BACKLOG_MOST(slots) ((slots) + (slots) / 2)
#define BACKLOG_WORTH(slots) ((slots) / 8)

/* Memory of a table that may wait for a grace period, if no option says: half of it is what 16
 * workers let wait of slots of 256 bytes.  Of larger slots fewer wait, and batches hold fewer. */
#define WAITING_BYTES (64 << 20)

/* Tickets for which the thread clock wakes: half of what one worker lets wait. */
#define TICKETS_PER_WAKE (BACKLOG_SLOTS / BATCH_SLOTS / 2)

/* Due slots taken back at one quiescent point, and up to a batch more: a bound on its pause. */
#define RECLAIMED_SLOTS (4 * BATCH_SLOTS)

/* Ready batches that a worker keeps, as it keeps an extent: the depot has the others, where each
 * search looks before it draws fresh slots. */
#define READY_BATCHES (EXTENT_SLOTS / BATCH_SLOTS)

/* Batches of unpinned slots taken back at once. */
#define UNPINNED_MOST 512

/* Tickets remembered with the slots that they stand for: more of them wait within one job only. */
#define CLOSINGS RING_BATCHES

/*
 * concurrent/batches/batch.h - batches of slots (Bonwick's magazines).
 *
 * A batch is an array of slot indices that travels as one.  Its holder owns everything in it except
 * the atomics: a worker, or for a moment the thread that takes it from a ring or a depot.
 */

struct batch {
    uint32_t count;        /* indices; 0 while a worker has the batch in hand: see hand.h */
    bool has_last_lives;   /* some slot has lived its last generation */
    atomic_u64 ticket;     /* may be reused when the domain has done it; 0: at once */
    atomic_u64 pool_next;  /* in the pool: the next one's number */
    atomic_u64 node_next;  /* as a node of the depot: the next node, tagged */
    atomic_u64 node_batch; /* as a node of the depot: the batch that waits there */
    uint64_t number;       /* this descriptor */
    uint64_t node;         /* the depot node that it brings along */
    _Alignas(CACHE_LINE) uint32_t indices[BATCH_SLOTS];
};

/* Move slots from the end of `from` to `to`, until `to` has `most` or `from` is empty. */
HAFT_INTERNAL void batch_move(struct batch *to, struct batch *from, uint32_t most);

/* concurrent/batches/batch.c */

/*
 * Batches.
 *
 * Edges in this file.
 *   OWN   this thread alone has both batches
 */

HAFT_INTERNAL void batch_move(struct batch *to, struct batch *from, uint32_t most)
{
    const uint32_t room = most - to->count;
    const uint32_t moved = from->count < room ? from->count : room;
    const uint64_t ticket = load_relaxed(OWN, &from->ticket);

    from->count -= moved;
    memcpy(&to->indices[to->count], &from->indices[from->count], moved * sizeof to->indices[0]);
    to->count += moved;
    to->has_last_lives = to->has_last_lives || from->has_last_lives;
    if (ticket > load_relaxed(OWN, &to->ticket)) {
        store_relaxed(OWN, &to->ticket, ticket);
    }
}

/*
 * concurrent/batches/pool.h - the pool that descriptors of batches come from.
 *
 * The pool has a descriptor for each batch that can exist, so retiring never allocates and never
 * fails.  Batches in the depots are full: there are at most slots / batch_max of them.  All others
 * are with workers, and each worker brings descriptors for the batches that it can hold.
 */

/* Batches of one worker: two rings, spares, the filling and the open one, eight in its hands. */
#define WORKER_BATCHES (2 * RING_BATCHES + SPARE_BATCHES + 10)

#define MOST_WORKERS (UINT64_C(1) << 20) /* at one time, in one table */

/* The directory of segments: part p has DIRECTORY_LEAST << p places, behind those of part p - 1. */
#define DIRECTORY_LEAST 16
#define DIRECTORY_PARTS 17 /* with places for MOST_WORKERS */

/* The descriptors that one worker brings. */
struct segment {
    uint64_t place;  /* in the pool's directory; set by pool_add() */
    atomic_u64 used; /* handed out once, from the start */
    struct batch batches[WORKER_BATCHES];
};

struct pool {
    struct reservation table; /* the descriptors for the depot */
    uint64_t table_count;     /* how many */
    uint64_t most_segments;
    const haft_allocator *heap; /* for parts of the directory; NULL: all are there */
    atomic_u64
        directory[DIRECTORY_PARTS]; /* addresses of parts, which hold addresses of segments */

    _Alignas(CACHE_LINE) atomic_u64 top; /* of the stack of unused descriptors, tagged */
    atomic_u64 table_used;               /* descriptors handed out once, from the start */
    atomic_u64 segments;                 /* how many */
};

/*
 * `batches`: the most that can wait in the depot at once.  `heap` stays where it is.  HAFT_OK or
 * HAFT_NO_MEMORY.
 */
HAFT_INTERNAL
haft_status pool_open(struct pool *pool, uint64_t batches, const haft_allocator *heap);

/* The same in given memory, for that many workers, MOST_WORKERS at most. */
HAFT_INTERNAL haft_status pool_open_given(struct pool *pool, uint64_t batches, uint64_t workers,
                                          struct given *given);

/* Bytes of the directory in given memory. */
HAFT_INTERNAL uint64_t pool_directory_bytes(uint64_t workers);
HAFT_INTERNAL void pool_close(struct pool *pool);

/* Make sure of memory for `batches` in the depot.  HAFT_OK or HAFT_NO_MEMORY. */
HAFT_INTERNAL haft_status pool_commit(struct pool *pool, uint64_t batches);

/* Have the system find it now; it was made sure of. */
HAFT_INTERNAL haft_status pool_populate(const struct pool *pool, uint64_t batches);

/*
 * Add a worker's descriptors, none of them used: `used` is 0, the rest of any contents.  HAFT_OK
 * or HAFT_NO_MEMORY.  Lock-free.
 */
HAFT_INTERNAL haft_status pool_add(struct pool *pool, struct segment *segment);

/*
 * An empty batch; there always is one.  Lock-free.  Unused ones of `own` come first, if it is not
 * NULL: descriptors that lie together are fetched together, so they should be one thread's.
 */
HAFT_INTERNAL struct batch *pool_take(struct pool *pool, struct segment *own);

/* Give an empty batch back.  Lock-free. */
HAFT_INTERNAL void pool_give(struct pool *pool, struct batch *batch);

/* Descriptors ever handed out; those of them that lie in the pool.  When no call is under way. */
HAFT_INTERNAL uint64_t pool_handed_out(const struct pool *pool);
HAFT_INTERNAL uint64_t pool_unused(const struct pool *pool);

/* All descriptors are as never used, when the caller alone has the pool. */
HAFT_INTERNAL void pool_reset(struct pool *pool);

/* The descriptor with this number, which some batch was seen to have. */
HAFT_INTERNAL struct batch *pool_batch(const struct pool *pool, uint64_t number);

/*
 * concurrent/batches/depot.h - where full batches wait for which no worker's ring has room.
 *
 * A first-in first-out queue, so that the batches that have waited longest come first: the queue
 * of M. Michael and M. Scott ("Simple, fast, and practical non-blocking and blocking concurrent
 * queue algorithms", PODC 1996), with numbers of descriptors and tags instead of pointers.  Each
 * batch brings the node it waits in and leaves with the node that the queue's head gives up.
 */

#define DEPOT_NODES 3 /* descriptors beside the batches: a node for each depot, and one to spare */

struct depot {
    _Alignas(CACHE_LINE) atomic_u64 head; /* tagged number of the node before the first */
    _Alignas(CACHE_LINE) atomic_u64 tail; /* tagged number of the last node, or of the one before */
};

HAFT_INTERNAL void depot_open(struct depot *depot, struct pool *pool);

/* Lock-free. */
HAFT_INTERNAL void depot_push(struct depot *depot, const struct pool *pool, struct batch *batch);

/* The oldest batch if its ticket is at most `done`, else NULL.  Lock-free. */
HAFT_INTERNAL struct batch *depot_take(struct depot *depot, const struct pool *pool, uint64_t done);

/*
 * concurrent/batches/tagged.h - numbers: handed out once each; and with a tag, as the heads of
 * lock-free stacks.
 *
 * Edges in this file.
 *   RETRY   a first look; the compare-and-swap decides
 */

/*
 * A number with a tag, in one word, which stacks exchange.  A thread that stalls between its load
 * and its compare-and-swap is mistaken only if the other threads make an exact multiple of 2^30
 * exchanges meanwhile.
 */
#define NUMBER_BITS 34
#define NUMBER_NONE ((UINT64_C(1) << NUMBER_BITS) - 1)

static inline uint64_t tagged_number(uint64_t tagged)
{
    return tagged & NUMBER_NONE;
}

/* `number` under the tag that follows `tagged`'s. */
static inline uint64_t tagged_next(uint64_t tagged, uint64_t number)
{
    return ((tagged >> NUMBER_BITS) + 1) << NUMBER_BITS | number;
}

/* A number below `count` that was never handed out, or NUMBER_NONE.  Any threads, lock-free. */
static inline uint64_t take_number(atomic_u64 *used, uint64_t count)
{
    for (;;) {
        const uint64_t before = load_relaxed(RETRY, used);

        if (before >= count) {
            return NUMBER_NONE;
        }
        if (cas_relaxed(RETRY, used, before, before + 1)) {
            return before;
        }
    }
}

/* concurrent/batches/depot.c */

/*
 * The depot: a queue of batches.
 *
 * Edges in this file.
 *   DEPOT  depot_push (release) -> depot_take, depot_push (acquire)   a batch's contents, and the
 *          fresh link of its node; depot_take (release) -> depot_take, depot_push (acquire)   the
 *          reads of a node before it is used again
 *   OWN    this thread alone has the node
 *   RETRY  a first look; the compare-and-swap of the head decides
 */

HAFT_INTERNAL void depot_open(struct depot *depot, struct pool *pool)
{
    const struct batch *first = pool_take(pool, NULL);

    store_relaxed(OWN, &depot->head, first->node);
    store_relaxed(OWN, &depot->tail, first->node);
}

HAFT_INTERNAL void depot_push(struct depot *depot, const struct pool *pool, struct batch *batch)
{
    struct batch *node = pool_batch(pool, batch->node);
    const uint64_t link = load_relaxed(OWN, &node->node_next);

    store_release(DEPOT, &node->node_batch, batch->number);
    /* Released, for threads that still hold this node from an earlier look: when they look at head
     * or tail again, they see that it has left. */
    store_release(DEPOT, &node->node_next, tagged_next(link, NUMBER_NONE));
    for (;;) {
        const uint64_t tail = load_acquire(DEPOT, &depot->tail);
        struct batch *last = pool_batch(pool, tagged_number(tail));
        const uint64_t next = load_acquire(DEPOT, &last->node_next);

        if (tail != load_acquire(DEPOT, &depot->tail)) {
            continue;
        }
        if (tagged_number(next) != NUMBER_NONE) { /* the tail lags: help it on */
            cas_release(DEPOT, &depot->tail, tail, tagged_next(tail, tagged_number(next)));
            continue;
        }
        /* Weakened, a taker could read indices that were in the batch before. */
        if (cas_release(DEPOT, &last->node_next, next, tagged_next(next, node->number))) {
            cas_release(DEPOT, &depot->tail, tail, tagged_next(tail, node->number));
            return;
        }
    }
}

HAFT_INTERNAL struct batch *depot_take(struct depot *depot, const struct pool *pool, uint64_t done)
{
    for (;;) {
        const uint64_t head = load_acquire(DEPOT, &depot->head);
        const uint64_t tail = load_acquire(DEPOT, &depot->tail);
        struct batch *before = pool_batch(pool, tagged_number(head));
        const uint64_t next = load_acquire(DEPOT, &before->node_next);

        if (head != load_acquire(DEPOT, &depot->head)) {
            continue;
        }
        if (tagged_number(next) == NUMBER_NONE) {
            return NULL;
        }
        if (tagged_number(head) == tagged_number(tail)) { /* the tail lags: help it on */
            cas_release(DEPOT, &depot->tail, tail, tagged_next(tail, tagged_number(next)));
            continue;
        }
        const struct batch *node = pool_batch(pool, tagged_number(next));
        struct batch *batch = pool_batch(pool, load_acquire(DEPOT, &node->node_batch));

        if (load_relaxed(RETRY, &batch->ticket) > done) {
            return NULL;
        }
        if (cas_release(DEPOT, &depot->head, head, tagged_next(head, tagged_number(next)))) {
            batch->node = tagged_number(head);
            return batch;
        }
    }
}

/* concurrent/batches/pool.c */

/*
 * The pool of batch descriptors: a tagged stack of used ones, and fresh ones behind it.
 *
 * Edges in this file.
 *   POOL    pool_give (release) -> pool_take (acquire)           a descriptor's last use
 *   ROSTER  pool_add (release)  -> pool_batch, pool_take (acquire)  a segment's set-up;
 *           make_part (release) -> directory_entry (acquire)        a part of the directory is empty
 *   OWN     this thread alone has the descriptor, or the pool
 *   RETRY   a first look; the compare-and-swap decides
 */

/* --- the directory --- */

static unsigned part_of(uint64_t place)
{
    return 63 - (unsigned)__builtin_clzll(place / DIRECTORY_LEAST + 1);
}

static uint64_t part_size(unsigned part)
{
    return (uint64_t)DIRECTORY_LEAST << part;
}

/* Places of the parts before. */
static uint64_t part_first(unsigned part)
{
    return part_size(part) - DIRECTORY_LEAST;
}

static atomic_u64 *entry_in(uint64_t part_address, uint64_t place)
{
    return (atomic_u64 *)(uintptr_t)part_address + (place - part_first(part_of(place)));
}

static haft_status make_part(struct pool *pool, unsigned part)
{
    const size_t bytes = (size_t)part_size(part) * sizeof(atomic_u64);

    if (load_relaxed(RETRY, &pool->directory[part]) != 0) {
        return HAFT_OK;
    }
    assert(pool->heap != NULL);
    void *made = heap_take_zero(pool->heap, bytes, sizeof(atomic_u64));

    if (made == NULL) {
        return HAFT_NO_MEMORY;
    }
    /* Weakened, a place in it could be read before it is empty. */
    if (!cas_release(ROSTER, &pool->directory[part], 0, (uintptr_t)made)) {
        heap_give(pool->heap, made, bytes); /* another thread was faster */
    }
    return HAFT_OK;
}

static atomic_u64 *directory_entry(const struct pool *pool, uint64_t place)
{
    assert(place < pool->most_segments);
    /* Weakened, an address could be read that was in the part's memory before. */
    return entry_in(load_acquire(ROSTER, &pool->directory[part_of(place)]), place);
}

HAFT_INTERNAL uint64_t pool_directory_bytes(uint64_t workers)
{
    const unsigned last = part_of(workers - 1);

    return (part_first(last) + part_size(last)) * sizeof(atomic_u64);
}

static void give_directory(const struct pool *pool)
{
    for (unsigned part = 0; pool->heap != NULL && part < DIRECTORY_PARTS; part++) {
        heap_give(pool->heap, (void *)(uintptr_t)load_relaxed(OWN, &pool->directory[part]),
                  (size_t)part_size(part) * sizeof(atomic_u64));
    }
}

/* --- the pool comes and goes --- */

static void pool_start(struct pool *pool, uint64_t batches)
{
    pool->table_count = batches;
    for (unsigned part = 0; part < DIRECTORY_PARTS; part++) {
        store_relaxed(OWN, &pool->directory[part], 0);
    }
    store_relaxed(OWN, &pool->table_used, 0);
    store_relaxed(OWN, &pool->segments, 0);
    store_relaxed(OWN, &pool->top, NUMBER_NONE);
}

HAFT_INTERNAL haft_status pool_open(struct pool *pool, uint64_t batches, const haft_allocator *heap)
{
    const haft_status status = reservation_open_array(&pool->table, batches * sizeof(struct batch),
                                                      _Alignof(struct batch), heap);

    if (status == HAFT_OK) {
        pool_start(pool, batches);
        pool->most_segments = MOST_WORKERS;
        pool->heap = heap;
    }
    return status;
}

HAFT_INTERNAL haft_status pool_open_given(struct pool *pool, uint64_t batches, uint64_t workers,
                                          struct given *given)
{
    const haft_status status = reservation_open_given(&pool->table, batches * sizeof(struct batch),
                                                      _Alignof(struct batch), given);
    atomic_u64 *directory =
        status == HAFT_OK ? given_take(given, pool_directory_bytes(workers), sizeof *directory)
                          : NULL;

    if (directory == NULL) {
        return HAFT_NO_MEMORY;
    }
    pool_start(pool, batches);
    pool->most_segments = workers;
    pool->heap = NULL;
    for (unsigned part = 0; part <= part_of(workers - 1); part++) {
        store_relaxed(OWN, &pool->directory[part], (uintptr_t)(directory + part_first(part)));
    }
    return HAFT_OK;
}

HAFT_INTERNAL void pool_close(struct pool *pool)
{
    give_directory(pool);
    reservation_close_array(&pool->table, pool->heap);
}

static uint64_t bytes_of(const struct pool *pool, uint64_t batches)
{
    return (batches < pool->table_count ? batches : pool->table_count) * sizeof(struct batch);
}

HAFT_INTERNAL haft_status pool_commit(struct pool *pool, uint64_t batches)
{
    return reservation_commit(&pool->table, bytes_of(pool, batches));
}

HAFT_INTERNAL haft_status pool_populate(const struct pool *pool, uint64_t batches)
{
    return reservation_populate(&pool->table, 0, bytes_of(pool, batches));
}

static struct segment *segment_at(const struct pool *pool, uint64_t segment)
{
    /* Weakened, a descriptor's first use could come before its segment's set-up. */
    return (struct segment *)(uintptr_t)load_acquire(ROSTER, directory_entry(pool, segment));
}

HAFT_INTERNAL haft_status pool_add(struct pool *pool, struct segment *segment)
{
    for (;;) {
        const uint64_t place = load_relaxed(RETRY, &pool->segments);

        if (place == pool->most_segments || make_part(pool, part_of(place)) != HAFT_OK) {
            return HAFT_NO_MEMORY;
        }
        if (cas_relaxed(RETRY, &pool->segments, place, place + 1)) {
            segment->place = place;
            store_release(ROSTER, directory_entry(pool, place), (uint64_t)(uintptr_t)segment);
            return HAFT_OK;
        }
    }
}

HAFT_INTERNAL struct batch *pool_batch(const struct pool *pool, uint64_t number)
{
    if (number < pool->table_count) {
        return (struct batch *)(void *)pool->table.base + number;
    }
    const uint64_t beyond = number - pool->table_count;

    return &segment_at(pool, beyond / WORKER_BATCHES)->batches[beyond % WORKER_BATCHES];
}

/* The number of a descriptor of `segment` that was never used so far, or NUMBER_NONE. */
static uint64_t take_of_worker(const struct pool *pool, struct segment *segment)
{
    const uint64_t place = take_number(&segment->used, WORKER_BATCHES);

    return place == NUMBER_NONE ? NUMBER_NONE
                                : pool->table_count + segment->place * WORKER_BATCHES + place;
}

/*
 * The number of any descriptor never used so far, or NUMBER_NONE.  The table's come last: it has
 * as many as the depot can hold, and memory for as many as the slots used so far can fill.
 */
static uint64_t take_unused(struct pool *pool)
{
    const uint64_t segments = load_relaxed(RETRY, &pool->segments);
    uint64_t number = NUMBER_NONE;

    for (uint64_t i = 0; number == NUMBER_NONE && i < segments; i++) {
        struct segment *segment = segment_at(pool, i);

        if (segment != NULL) {
            number = take_of_worker(pool, segment);
        }
    }
    if (number == NUMBER_NONE) {
        number = take_number(&pool->table_used, pool->table_count);
    }
    if (number < pool->table_count) {
        pool_commit(pool, number + 1); /* the worker that drew them committed it: acquire that */
    }
    return number;
}

static struct batch *set_up(struct pool *pool, uint64_t number)
{
    struct batch *batch = pool_batch(pool, number);

    batch->number = number;
    batch->node = number;
    batch->count = 0;
    batch->has_last_lives = false;
    store_relaxed(OWN, &batch->ticket, 0);
    store_relaxed(OWN, &batch->node_next, NUMBER_NONE);
    return batch;
}

/* A descriptor that was given back; NULL if there is none. */
static struct batch *take_given(struct pool *pool)
{
    for (;;) {
        /* Weakened, the indices that the last holder read could be overwritten before. */
        const uint64_t top = load_acquire(POOL, &pool->top);

        if (tagged_number(top) == NUMBER_NONE) {
            return NULL;
        }
        struct batch *batch = pool_batch(pool, tagged_number(top));
        /* If another thread has taken the descriptor and uses it, the tag has changed. */
        const uint64_t next = load_relaxed(RETRY, &batch->pool_next);

        if (cas_acquire(POOL, &pool->top, top, tagged_next(top, next))) {
            return batch;
        }
    }
}

HAFT_INTERNAL struct batch *pool_take(struct pool *pool, struct segment *own)
{
    uint64_t number = own != NULL ? take_of_worker(pool, own) : NUMBER_NONE;

    while (number == NUMBER_NONE) {
        struct batch *batch = take_given(pool);

        if (batch != NULL) {
            return batch;
        }
        number = take_unused(pool); /* if all are used, one has been given back meanwhile */
    }
    return set_up(pool, number);
}

HAFT_INTERNAL void pool_give(struct pool *pool, struct batch *batch)
{
    uint64_t top;

    assert(batch->count == 0);
    batch->has_last_lives = false;
    do {
        top = load_relaxed(RETRY, &pool->top);
        store_relaxed(OWN, &batch->pool_next, tagged_number(top));
    } while (!cas_release(POOL, &pool->top, top, tagged_next(top, batch->number)));
}

HAFT_INTERNAL uint64_t pool_handed_out(const struct pool *pool)
{
    const uint64_t segments = load_relaxed(OWN, &pool->segments);
    uint64_t count = load_relaxed(OWN, &pool->table_used);

    for (uint64_t i = 0; i < segments; i++) {
        const struct segment *segment = segment_at(pool, i);

        count += segment != NULL ? load_relaxed(OWN, &segment->used) : 0;
    }
    return count;
}

HAFT_INTERNAL uint64_t pool_unused(const struct pool *pool)
{
    uint64_t number = tagged_number(load_relaxed(OWN, &pool->top));
    uint64_t count = 0;

    for (; number != NUMBER_NONE; count++) {
        number = load_relaxed(OWN, &pool_batch(pool, number)->pool_next);
    }
    return count;
}

HAFT_INTERNAL void pool_reset(struct pool *pool)
{
    const uint64_t segments = load_relaxed(OWN, &pool->segments);

    for (uint64_t i = 0; i < segments; i++) {
        struct segment *segment = segment_at(pool, i);

        if (segment != NULL) {
            store_relaxed(OWN, &segment->used, 0);
        }
    }
    store_relaxed(OWN, &pool->table_used, 0);
    store_relaxed(OWN, &pool->top, NUMBER_NONE);
}

/*
 * concurrent/batches/ring.h - a worker's closed batches, oldest first.
 *
 * The owner pushes at the tail; anyone, the owner too, takes from the head.  Head and tail only
 * grow, so a compare-and-swap of the head proves that the cell read before it was current.
 */

struct ring {
    atomic_u64 head;                /* batches ever taken */
    atomic_u64 tail;                /* batches ever pushed */
    atomic_u64 cells[RING_BATCHES]; /* numbers of descriptors */
};

/* False if the ring is full.  Owner only; wait-free. */
HAFT_INTERNAL bool ring_push(struct ring *ring, const struct batch *batch);

/* Batches in the ring, or more if others take some meanwhile.  Owner only; wait-free. */
HAFT_INTERNAL uint64_t ring_length(const struct ring *ring);

/* The oldest batch if its ticket is at most `done`, else NULL.  Anyone; lock-free. */
HAFT_INTERNAL struct batch *ring_take(struct ring *ring, const struct pool *pool, uint64_t done);

/* concurrent/batches/ring.c */

/*
 * The ring of a worker's closed batches: one thread pushes, all take.
 *
 * Edges in this file.
 *   RING       ring_push (release) -> ring_take (acquire)   a batch's contents
 *   RING_ROOM  ring_take (release) -> ring_push (acquire)   the cell is read before it is reused
 *   OWN        only the owner writes the tail
 *   RETRY      a first look; the compare-and-swap of the head decides
 *   HINT       a length that is a moment old
 */

HAFT_INTERNAL bool ring_push(struct ring *ring, const struct batch *batch)
{
    const uint64_t tail = load_relaxed(OWN, &ring->tail);
    /* Weakened, a taker could read the new batch's number in place of the old one's. */
    const uint64_t head = load_acquire(RING_ROOM, &ring->head);

    if (tail - head == RING_BATCHES) {
        return false;
    }
    store_release(RING, &ring->cells[tail % RING_BATCHES], batch->number);
    /* Weakened, a taker could read indices that were in the batch before. */
    store_release(RING, &ring->tail, tail + 1);
    return true;
}

HAFT_INTERNAL uint64_t ring_length(const struct ring *ring)
{
    return load_relaxed(OWN, &ring->tail) - load_relaxed(HINT, &ring->head);
}

HAFT_INTERNAL struct batch *ring_take(struct ring *ring, const struct pool *pool, uint64_t done)
{
    for (;;) {
        const uint64_t head = load_relaxed(RETRY, &ring->head);
        const uint64_t tail = load_acquire(RING, &ring->tail);

        if (head >= tail) {
            return NULL;
        }
        /* Acquired, since it may be a later batch's: its descriptor is read before the
         * compare-and-swap fails. */
        const uint64_t number = load_acquire(RING, &ring->cells[head % RING_BATCHES]);
        struct batch *batch = pool_batch(pool, number);

        if (load_relaxed(RETRY, &batch->ticket) > done) {
            return NULL;
        }
        if (cas_release(RING_ROOM, &ring->head, head, head + 1)) {
            return batch;
        }
    }
}

/*
 * concurrent/clock/callback.h - whether the calling thread is inside a callback of the program.
 *
 * A callback may run while a job holds pointers, far above it on the stack.  So calls that wait,
 * announce a quiescent point or take a table apart return HAFT_IN_CALLBACK there, and no callback
 * runs within another.  All functions: any thread, wait-free.
 */

HAFT_INTERNAL bool callback_is_running(void);

/* Around each call of on_reclaim and on_stall; not within one another. */
HAFT_INTERNAL void callback_begin(void);
HAFT_INTERNAL void callback_end(void);

/* concurrent/clock/callback.c */

/* Whether a callback runs: a mark of the thread. */

static _Thread_local bool is_running;

HAFT_INTERNAL bool callback_is_running(void)
{
    return is_running;
}

HAFT_INTERNAL void callback_begin(void)
{
    assert(!is_running);
    is_running = true;
}

HAFT_INTERNAL void callback_end(void)
{
    is_running = false;
}

/*
 * concurrent/clock/clock.h - the clocks: what a grace period is, and which thread drives it.
 *
 * One clock_*.c for each clock; thread and caller share clock_foreign.c, which waits for the read
 * sections of a foreign clock.  Tickets and their order are the domain's.
 */

struct member;
struct standing;
struct text;

/* A member that a clock has no use for is NULL; the functions of domain.h and jobs.h check that. */
struct clock {
    const char *name;
    bool is_foreign; /* its read sections are those of a foreign clock */

    haft_status (*start)(haft_domain *domain);
    void (*stop)(haft_domain *domain);

    /* After a ticket was taken.  Lock-free: a clock that sleeps is woken past a threshold. */
    void (*requested)(haft_domain *domain, uint64_t ticket);

    /* A worker runs short of slots.  Lock-free. */
    void (*hurry)(haft_domain *domain);

    /*
     * Wait until `ticket` is done, outside read sections; for the calling thread a quiescent
     * point.  HAFT_OK; HAFT_BUSY, at once, where waiting cannot help.
     */
    haft_status (*wait_for)(haft_domain *domain, uint64_t ticket);

    /*
     * The calling thread opens, or closes, a worker.  join: HAFT_OK, with what quiescent() is to
     * be given; or HAFT_NO_MEMORY.  All three or none.
     */
    haft_status (*join)(haft_domain *domain, haft_worker *worker, struct member **member);
    void (*leave)(haft_worker *worker, struct member *member);

    /* Whether the calling thread may close a worker with that member. */
    bool (*may_leave)(const struct member *member);

    /* The calling thread holds no resolved pointer; `backlog` of its slots wait.  Lock-free. */
    void (*quiescent)(haft_domain *domain, struct member *member, uint64_t backlog);

    /*
     * No grace period waits for the calling thread from here to there.  Both or none.  A thread
     * that is parked stays so.
     */
    void (*offline)(haft_domain *domain);
    void (*online)(haft_domain *domain);

    /*
     * Jobs (jobs.h).  The calling thread's standing, brought up to date; with `wanted`, a new one
     * if it has none.  NULL: it has none, or there is no memory for one.
     */
    struct standing *(*standing)(haft_domain *domain, bool wanted);

    /* The calling thread's standing has changed; its level was `before`. */
    void (*settle)(haft_domain *domain, struct standing *standing, int32_t before);

    /* Whether the calling thread is inside a read section that is not its outermost job's. */
    bool (*in_section)(const haft_domain *domain);

    /* Fill in which thread holds a grace period up. */
    void (*blame)(const haft_domain *domain, haft_stall *stall);

    /* Add to a line of text what holds the grace period up, and what to do about it. */
    void (*advise)(const haft_domain *domain, const haft_stall *stall, struct text *text);

    /*
     * In the child of a fork: forget the threads that are gone.  Returns the clock to go on with;
     * NULL: none, and the domain cannot wait.
     */
    const struct clock *(*after_fork)(haft_domain *domain);
};

/* workers_clock in clock_workers.c and so on: haft/domain.h says what each is. */
#define CLOCK_OBJECT(UPPER, lower) HAFT_INTERNAL const struct clock lower##_clock;
HAFT_CLOCKS(CLOCK_OBJECT)

/*
 * concurrent/clock/clock_foreign.h - common parts of the clocks that wait for a foreign one:
 * members of struct clock, and a pause of the thread's job while it blocks.
 */

HAFT_INTERNAL haft_status foreign_clock_start(haft_domain *domain); /* HAFT_OK */
HAFT_INTERNAL void foreign_clock_stop(haft_domain *domain);
HAFT_INTERNAL bool foreign_clock_pause(haft_domain *domain);
HAFT_INTERNAL void foreign_clock_resume(haft_domain *domain, bool held);
HAFT_INTERNAL haft_status foreign_clock_wait_for(haft_domain *domain, uint64_t ticket);
HAFT_INTERNAL
void foreign_clock_quiescent(haft_domain *domain, struct member *member, uint64_t backlog);
HAFT_INTERNAL void foreign_clock_offline(haft_domain *domain);
HAFT_INTERNAL void foreign_clock_online(haft_domain *domain);
HAFT_INTERNAL struct standing *foreign_clock_standing(haft_domain *domain, bool wanted);
HAFT_INTERNAL
void foreign_clock_settle(haft_domain *domain, struct standing *standing, int32_t before);
HAFT_INTERNAL bool foreign_clock_in_section(const haft_domain *domain);
HAFT_INTERNAL
void foreign_clock_advise(const haft_domain *domain, const haft_stall *stall, struct text *text);
HAFT_INTERNAL const struct clock *foreign_clock_after_fork(haft_domain *domain);

/* concurrent/clock/clock_caller.c */

/* The caller clock: driven by the threads that wait. */

HAFT_INTERNAL const struct clock caller_clock = {
    .name = "caller",
    .is_foreign = true,
    .start = foreign_clock_start,
    .stop = foreign_clock_stop,
    .wait_for = foreign_clock_wait_for,
    .quiescent = foreign_clock_quiescent,
    .offline = foreign_clock_offline,
    .online = foreign_clock_online,
    .standing = foreign_clock_standing,
    .settle = foreign_clock_settle,
    .in_section = foreign_clock_in_section,
    .advise = foreign_clock_advise,
    .after_fork = foreign_clock_after_fork,
};

/*
 * concurrent/clock/foreign.h - the callbacks of a foreign clock, with the notes that
 * ThreadSanitizer needs; nothing happens where a callback is NULL, as all are in a domain without a
 * foreign clock.
 *
 *   GRACE   last read section that could have matched an id -> reuse of its slot
 *
 * is the foreign clock's own ordering (haft/clock.h).  All functions: the calling thread's
 * sections.
 */

/* Whether threads are online or offline; else sections have a begin and an end. */
static inline bool foreign_has_online(const haft_foreign_clock *clock)
{
    return clock->online != NULL;
}

/* Whether callbacks that belong together are there together. */
static inline bool foreign_is_whole(const haft_foreign_clock *clock)
{
    const bool has_online = foreign_has_online(clock);
    const bool has_sections = clock->begin != NULL;

    return clock->ctx != NULL && clock->wait != NULL && (has_online || has_sections) &&
           (clock->end != NULL) == has_sections && (clock->offline != NULL) == has_online &&
           (clock->quiescent != NULL) == has_online && (clock->inside != NULL || !has_online) &&
           clock->reserved[0] == NULL && clock->reserved[1] == NULL && clock->reserved[2] == NULL &&
           clock->reserved[3] == NULL;
}

/* Wait for a full grace period, outside sections and offline. */
static inline void foreign_wait(const haft_foreign_clock *clock)
{
    clock->wait(clock->ctx);
    haft_note_grace_elapsed();
}

static inline void foreign_register(const haft_foreign_clock *clock)
{
    if (clock->register_thread != NULL) {
        clock->register_thread(clock->ctx);
    }
}

static inline void foreign_unregister(const haft_foreign_clock *clock)
{
    if (clock->unregister_thread != NULL) {
        haft_note_reader_left();
        clock->unregister_thread(clock->ctx);
    }
}

/* False if the thread is known not to be registered. */
static inline bool foreign_thread_is_registered(const haft_foreign_clock *clock)
{
    return clock->is_registered == NULL || clock->is_registered(clock->ctx);
}

static inline void foreign_begin(const haft_foreign_clock *clock)
{
    if (clock->begin != NULL) {
        clock->begin(clock->ctx);
    }
}

static inline void foreign_end(const haft_foreign_clock *clock)
{
    if (clock->end != NULL) {
        haft_note_reader_left();
        clock->end(clock->ctx);
    }
}

/* Whether the thread is inside a section, or online; false if the clock cannot tell. */
static inline bool foreign_is_inside(const haft_foreign_clock *clock)
{
    return clock->inside != NULL && clock->inside(clock->ctx);
}

static inline void foreign_go_online(const haft_foreign_clock *clock)
{
    if (foreign_has_online(clock) && !clock->inside(clock->ctx)) {
        clock->online(clock->ctx);
    }
}

static inline void foreign_go_offline(const haft_foreign_clock *clock)
{
    if (foreign_has_online(clock) && clock->inside(clock->ctx)) {
        haft_note_reader_left();
        clock->offline(clock->ctx);
    }
}

static inline void foreign_quiescent(const haft_foreign_clock *clock)
{
    if (foreign_has_online(clock) && clock->inside(clock->ctx)) {
        haft_note_reader_left();
        clock->quiescent(clock->ctx);
    }
}

/*
 * concurrent/clock/measure.h - how long a grace period has been waited for.
 *
 * The measure names its grace period by `done` as it stood when a thread noticed the wait, and
 * counts only while `done` still stands there.  So a measure needs no end, and a thread that writes
 * or reads it late measures nothing.
 */

struct measure {
    struct os_mutex lock; /* to write the two words after it; only ever tried */
    atomic_u64 ticket;    /* the first one that waits: `done` + 1; 0: none was noticed */
    atomic_u64 since;     /* when it was noticed, ns */
    atomic_u64 reported;  /* the `ticket` of the stall reported last */
};

#define NS_PER_S UINT64_C(1000000000)

/* The option with its default, and short enough to be added to the time. */
HAFT_INTERNAL uint64_t stall_limit(uint64_t stall_ns);

/*
 * Ready for its first grace period; also in the child of a fork, where a thread that is gone may
 * have the lock.  For its sake the lock is never destroyed: it has nothing to free.
 */
HAFT_INTERNAL void measure_open(struct measure *measure);

/*
 * The grace period behind `done` is waited for: measure it, unless it is measured.  Lock-free.
 * False: it is not, for another thread has the lock.
 */
HAFT_INTERNAL bool measure_begin(struct measure *measure, uint64_t done);

/*
 * Which ticket's wait is measured, and since when; 0: none.  It counts if `done` stands just before
 * that ticket afterwards.  Wait-free.
 */
HAFT_INTERNAL uint64_t measure_read(const struct measure *measure, uint64_t *since);

/*
 * concurrent/clock/stall.h - grace periods that last too long, and their report.
 */

/*
 * Whether a grace period is under way: a thread drives it, or some workers have not announced
 * themselves yet.  Wait-free; a hint.
 */
HAFT_INTERNAL bool domain_is_driven(const haft_domain *domain);

/*
 * How long the grace period that is under way has been waited for, and the ticket that waits; 0:
 * none is.  Lock-free.
 */
HAFT_INTERNAL uint64_t domain_waited_ns(haft_domain *domain, uint64_t *ticket);

/*
 * Report a grace period that has been under way too long, once: by on_stall, or in a line to
 * stderr.  Lock-free apart from these.
 */
HAFT_INTERNAL void domain_notice_stall(haft_domain *domain);

/*
 * concurrent/clock/state.h - the structs of the domain.
 */

/* The standing of a thread with a clock: see jobs.h. */
struct standing {
    int32_t level; /* PARKED; 0: offline; 1: in a job, or online without; more: in an inner job */
    uint32_t open; /* jobs begun and not ended, and parks not taken back */
};
#define PARKED (-1) /* offline too, and only a job or the end of the park brings it online */

/* Of the clocks that wait for a foreign one. */
struct foreign_driver {
    struct os_mutex lock;
    struct os_condition finished;
    bool is_driving;
};

/* The thread clock's. */
struct thread_clock {
    struct os_thread thread;
    struct os_semaphore wake;
    atomic_u64 woken; /* 1: posted, and not looked yet */
    atomic_u64 stopping;
};

struct haft_domain {
    uint64_t number;            /* no other domain of the process ever has it */
    haft_foreign_clock foreign; /* all NULL with the workers and the frame clock */
    const struct clock *clock;
    struct foreign_driver driver; /* of the clocks that wait for a foreign one */
    struct thread_clock thread;   /* the thread clock's */
    atomic_u64 members;           /* the workers clock's: address of the one added last */
    atomic_u64 sections;          /* open now; counted for the frame clock in debug builds */
    void (*on_stall)(const haft_stall *stall, void *stall_arg);
    void *stall_arg;
    uint64_t stall_ns;
    uint64_t process;        /* where it was opened; a fork's child takes it over */
    haft_domain *next_open;  /* in the list of all: see registry.h */
    haft_domain **open_link; /* the pointer to this one in it */

    _Alignas(CACHE_LINE) atomic_u64 requested;
    _Alignas(CACHE_LINE) atomic_u64 done;

    atomic_u64 tables;      /* open on this domain */
    struct measure measure; /* of the grace period under way */
    atomic_u64 grace_periods;
    atomic_u64 longest_ns;
    atomic_u64 stalls;

    char *given_members; /* the workers clock's, in given memory as the domain; NULL: from `heap` */
    uint64_t given_count;
    atomic_u64 given_used;
    haft_allocator heap; /* of the domain and its members */
};

/*
 * concurrent/clock/tickets.h - the ticket clock.
 *
 * Message passing without fences.  `requested` counts tickets taken, `done` the tickets whose
 * grace period has passed:
 *
 *   retiring   the frees of a batch; ticket = requested + 1                       (TICKET)
 *   driving    s = requested; one full grace period; done = max(done, s)          (ELAPSED)
 *   reusing    the batch may be reused when done >= ticket
 *
 * The ticket is taken after the last free of its batch, and s is read before the wait begins,
 * so a driver that covers a ticket began to wait after the frees.
 */

/* A ticket for the calling thread's frees so far.  Lock-free. */
HAFT_INTERNAL uint64_t domain_ticket(haft_domain *domain);

/* All tickets taken so far: the frees that they stand for come before the caller's next step. */
HAFT_INTERNAL uint64_t domain_requested(const haft_domain *domain);

/* The highest ticket whose grace period has passed.  Wait-free. */
HAFT_INTERNAL uint64_t domain_done(const haft_domain *domain);

/* Tickets requested and not done.  Wait-free. */
HAFT_INTERNAL uint64_t domain_backlog(const haft_domain *domain);

/*
 * A wait for a grace period has ended, with all tickets up to `ticket` done; it began with
 * measure_begin(), which has it watched for stalls.  Several threads may end the same wait.
 */
HAFT_INTERNAL void domain_end_grace(haft_domain *domain, uint64_t ticket);

/* concurrent/clock/clock_foreign.c */

/*
 * How clocks wait for the grace periods of a foreign clock.
 *
 * One thread drives at a time.  Tickets would allow several drivers, but with some foreign clocks
 * overlapping waits slow each other down.
 */

#define MOST_CLOCKS 8 /* in which a thread may have jobs at once */

/*
 * The standings of the calling thread.  They belong to foreign clocks, which ctx tells apart, not
 * to domains.  One without open jobs may serve another clock next, since inside() knows the rest.
 */
static _Thread_local struct {
    const void *ctx;
    struct standing standing;
} standings[MOST_CLOCKS];

/* The calling thread's; NULL if it has jobs in MOST_CLOCKS others. */
static struct standing *find_standing(const void *ctx)
{
    int unused = MOST_CLOCKS;

    for (int i = 0; i < MOST_CLOCKS; i++) {
        if (standings[i].ctx == ctx) {
            return &standings[i].standing;
        }
        unused = standings[i].standing.open == 0 ? i : unused;
    }
    if (unused == MOST_CLOCKS) {
        return NULL;
    }
    standings[unused].ctx = ctx;
    standings[unused].standing = (struct standing){0, 0};
    return &standings[unused].standing;
}

/*
 * A job without a standing would pass for an outermost one, and a parked thread could not come
 * online again: the program cannot go on.
 */
static _Noreturn void too_many_clocks(void)
{
    os_print("a thread begins a job of a ninth foreign clock, or parks: 8 at once at most");
    abort();
}

HAFT_INTERNAL haft_status foreign_clock_start(haft_domain *domain)
{
    os_mutex_open(&domain->driver.lock);
    os_condition_open(&domain->driver.finished);
    return HAFT_OK;
}

HAFT_INTERNAL void foreign_clock_stop(haft_domain *domain)
{
    os_condition_close(&domain->driver.finished);
    os_mutex_close(&domain->driver.lock);
}

/* Wait one grace period, for all tickets requested before.  The caller is the only driver. */
static void drive(haft_domain *domain)
{
    const uint64_t ticket = domain_requested(domain);

    for (uint64_t turn = 0; !measure_begin(&domain->measure, domain_done(domain)); turn++) {
        pause_in_turn(turn); /* another thread holds the measure's lock for moments */
    }
    foreign_wait(&domain->foreign);
    domain_end_grace(domain, ticket);
}

/* Wait until the driver has finished, or it is time to look for a stall. */
static void await_driver(haft_domain *domain)
{
    struct foreign_driver *driver = &domain->driver;

    if (!os_condition_wait(&driver->finished, &driver->lock, os_now_ns() + domain->stall_ns)) {
        os_mutex_unlock(&driver->lock);
        domain_notice_stall(domain);
        os_mutex_lock(&driver->lock);
    }
}

/* Drive, or wait for the driver.  The caller has the lock. */
static void drive_or_await(haft_domain *domain)
{
    struct foreign_driver *driver = &domain->driver;

    if (driver->is_driving) {
        await_driver(domain);
        return;
    }
    driver->is_driving = true;
    os_mutex_unlock(&driver->lock);
    drive(domain);
    os_mutex_lock(&driver->lock);
    driver->is_driving = false;
    os_condition_wake_all(&driver->finished);
}

/* Brought up to date: a thread may have come online or gone offline without haft. */
HAFT_INTERNAL struct standing *foreign_clock_standing(haft_domain *domain, bool wanted)
{
    struct standing *standing = find_standing(domain->foreign.ctx);

    if (standing == NULL && wanted) {
        too_many_clocks();
    }
    if (standing != NULL && foreign_has_online(&domain->foreign)) {
        const int32_t least = standing->level > 1 ? standing->level : 1;
        const int32_t most = standing->level < 0 ? standing->level : 0;

        standing->level = foreign_is_inside(&domain->foreign) ? least : most;
    }
    return standing;
}

/* The calling thread leaves its outermost job, or comes back into it. */
static void reader_leaves(haft_domain *domain)
{
    if (foreign_has_online(&domain->foreign)) {
        foreign_go_offline(&domain->foreign);
    } else {
        foreign_end(&domain->foreign);
    }
}

static void reader_enters(haft_domain *domain)
{
    if (foreign_has_online(&domain->foreign)) {
        foreign_go_online(&domain->foreign);
    } else {
        foreign_begin(&domain->foreign);
    }
}

HAFT_INTERNAL
void foreign_clock_settle(haft_domain *domain, struct standing *standing, int32_t before)
{
    if (before <= 0 && standing->level > 0) {
        assert(foreign_thread_is_registered(&domain->foreign) &&
               "haft_thread_register comes first");
        reader_enters(domain);
    } else if (before > 0 && standing->level <= 0) {
        reader_leaves(domain);
    }
}

static int32_t level_in(const haft_domain *domain)
{
    const struct standing *standing = find_standing(domain->foreign.ctx);

    return standing != NULL ? standing->level : 0;
}

HAFT_INTERNAL bool foreign_clock_in_section(const haft_domain *domain)
{
    const haft_foreign_clock *foreign = &domain->foreign;
    const int32_t level = level_in(domain);

    if (foreign_has_online(foreign)) {
        return level > 1 && foreign_is_inside(foreign);
    }
    if (level > 1 || !foreign_is_inside(foreign)) {
        return level > 1;
    }
    if (level <= 0) {
        return true;
    }
    /* Sections nest, and one is the job's: without it, is there another? */
    foreign_end(foreign);
    const bool found = foreign_is_inside(foreign);

    foreign_begin(foreign);
    return found;
}

/* Before and after the calling thread blocks, in its outermost job or in none. */
HAFT_INTERNAL bool foreign_clock_pause(haft_domain *domain)
{
    const bool holds = foreign_has_online(&domain->foreign) ? foreign_is_inside(&domain->foreign)
                                                            : level_in(domain) > 0;

    if (holds) {
        reader_leaves(domain);
    }
    return holds;
}

HAFT_INTERNAL void foreign_clock_resume(haft_domain *domain, bool held)
{
    if (held) {
        reader_enters(domain);
    }
}

HAFT_INTERNAL haft_status foreign_clock_wait_for(haft_domain *domain, uint64_t ticket)
{
    const bool held = foreign_clock_pause(domain);

    os_mutex_lock(&domain->driver.lock);
    while (domain_done(domain) < ticket) {
        drive_or_await(domain);
    }
    os_mutex_unlock(&domain->driver.lock);
    foreign_clock_resume(domain, held);
    return HAFT_OK;
}

HAFT_INTERNAL
void foreign_clock_quiescent(haft_domain *domain, struct member *member, uint64_t backlog)
{
    (void)member;
    (void)backlog;
    foreign_quiescent(&domain->foreign);
}

/* Its jobs end with the frame clock. */
static const struct clock *leave_foreign(haft_domain *domain)
{
    struct standing *standing = find_standing(domain->foreign.ctx);

    if (standing != NULL) {
        *standing = (struct standing){0, 0};
    }
    domain->foreign = (haft_foreign_clock){.ctx = NULL};
    return &frame_clock;
}

/* The lock and the condition begin anew: threads that are gone may have had them. */
HAFT_INTERNAL const struct clock *foreign_clock_after_fork(haft_domain *domain)
{
    if (domain->foreign.after_fork == NULL) {
        return NULL;
    }
    if (!domain->foreign.after_fork(domain->foreign.ctx)) {
        return leave_foreign(domain);
    }
    foreign_clock_start(domain);
    domain->driver.is_driving = false;
    return &caller_clock;
}

/* Whatever jobs have begun; a clock without online() has nothing to go offline from. */
HAFT_INTERNAL void foreign_clock_offline(haft_domain *domain)
{
    /* In an inner job, the outer job's pointers would be void. */
    assert(!foreign_has_online(&domain->foreign) || !foreign_clock_in_section(domain));
    foreign_go_offline(&domain->foreign);
}

/* A thread that is parked stays so. */
HAFT_INTERNAL void foreign_clock_online(haft_domain *domain)
{
    if (level_in(domain) != PARKED) {
        foreign_go_online(&domain->foreign);
    }
}

HAFT_INTERNAL
void foreign_clock_advise(const haft_domain *domain, const haft_stall *stall, struct text *text)
{
    (void)stall;
    if (foreign_has_online(&domain->foreign)) {
        text_add(text,
                 "a thread is online and passes no quiescent point (haft_worker_quiescent, or "
                 "haft_thread_park before it blocks)");
    } else {
        text_add(text, "a read section or job has begun and does not end (haft_section_end, "
                       "haft_job_end, or haft_thread_park before the job blocks)");
    }
}

/*
 * concurrent/clock/domain.h - the domain, as workers and tables use it: its clock's functions, each
 * with a default for clocks that do not have it.
 */

/* Tell the clock that slots are wanted.  Lock-free. */
HAFT_INTERNAL void domain_hurry(haft_domain *domain);

/*
 * The calling thread opens, or closes, a worker, by its clock's rules: join, leave and may_leave of
 * struct clock.
 */
HAFT_INTERNAL
haft_status domain_join(haft_domain *domain, haft_worker *worker, struct member **member);
HAFT_INTERNAL void domain_leave(haft_domain *domain, haft_worker *worker, struct member *member);
HAFT_INTERNAL bool domain_may_leave(const haft_domain *domain, const struct member *member);

/* The calling thread holds no resolved pointer; `backlog` of its slots wait.  Lock-free. */
HAFT_INTERNAL void domain_quiescent(haft_domain *domain, struct member *member, uint64_t backlog);

/* HAFT_OK; HAFT_FORKED in a child that has not taken the domain over: it may not wait. */
HAFT_INTERNAL haft_status domain_check_process(const haft_domain *domain);

/*
 * Wait until `ticket` is done.  Blocking, outside read sections; a quiescent point of the thread.
 * HAFT_OK, or HAFT_BUSY at once where waiting cannot help (the frame clock), or HAFT_FORKED.
 */
HAFT_INTERNAL haft_status domain_wait_for(haft_domain *domain, uint64_t ticket);

/* Wait until all tickets requested so far are done.  As above. */
HAFT_INTERNAL haft_status domain_wait(haft_domain *domain);

/*
 * Whether the calling thread may wait, announce a quiescent point, or take a table apart now:
 * HAFT_OK; HAFT_IN_CALLBACK; HAFT_IN_SECTION: it is known to be inside a read section or an inner
 * job.  After HAFT_OK in an outermost job, the pointers resolved in that job are void.
 */
HAFT_INTERNAL haft_status domain_check_moment(const haft_domain *domain);

/* Fill in which thread holds a grace period up, if the clock can tell. */
HAFT_INTERNAL void domain_blame(const haft_domain *domain, haft_stall *stall);

/* In given memory: as many threads as were declared have had workers or jobs at one time. */
HAFT_INTERNAL bool domain_threads_are_used_up(const haft_domain *domain);

/* In the child of a fork: go on as its only thread. */
HAFT_INTERNAL void domain_after_fork(haft_domain *domain);

/*
 * concurrent/clock/section_count.h - open sections, counted by debug builds (those without NDEBUG)
 * where no foreign clock knows them.
 *
 * Edges in this file.
 *   COUNT  open sections: the program orders the tick after them
 */

/*
 * `by`: 1 for one that begins, UINT64_MAX for one that ends.  The child of a fork has forgotten
 * those that were open, also the one that it was forked in.
 */
static inline void section_count(haft_domain *domain, uint64_t by)
{
    (void)domain;
    (void)by;
#ifndef NDEBUG
    const bool was_forgotten = by != 1 && load_relaxed(COUNT, &domain->sections) == 0;

    if (!domain->clock->is_foreign && !was_forgotten) {
        fetch_add_relaxed(COUNT, &domain->sections, by);
    }
#endif
}

static inline uint64_t sections_open(const haft_domain *domain)
{
    return load_relaxed(COUNT, &domain->sections);
}

/* concurrent/clock/clock_frame.c */

/*
 * The frame clock: a grace period is the time between two ticks.  Only the program knows that no
 * section is open, so only haft_domain_tick() drives it, and no thread waits.
 */

static haft_status frame_wait_for(haft_domain *domain, uint64_t ticket)
{
    (void)domain;
    (void)ticket;
    return HAFT_BUSY; /* the tick that would end the wait may be the caller's own */
}

static const struct clock *frame_after_fork(haft_domain *domain)
{
    return domain->clock; /* it waits for no thread */
}

/* In the child of a fork, sections of threads that are gone stay counted. */
static inline bool no_section_is_open(const haft_domain *domain)
{
    return sections_open(domain) == 0 || domain_check_process(domain) != HAFT_OK;
}

haft_status haft_domain_tick(haft_domain *domain)
{
    if (domain->clock != &frame_clock) {
        return HAFT_WRONG_CLOCK;
    }
    if (callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    assert(no_section_is_open(domain) && "sections end before the tick");
    domain_end_grace(domain, domain_requested(domain));
    assert(no_section_is_open(domain) && "no section begins during the tick");
    return HAFT_OK;
}

HAFT_INTERNAL const struct clock frame_clock = {
    .name = "frame",
    .is_foreign = false,
    .wait_for = frame_wait_for,
    .after_fork = frame_after_fork,
};

/* concurrent/clock/clock_thread.c */

/*
 * The thread clock: a background thread that drives grace periods when enough are requested.
 *
 * It sleeps on a semaphore.  Posting never blocks, so retiring stays lock-free; one ticket in
 * TICKETS_PER_WAKE posts, and each shortage.  Fewer tickets than that may wait for long: no thread
 * is short of their slots.
 *
 * Edges in this file.
 *   WAKE   hurry (release) -> sleep_until_woken (acquire)   a ticket before the look at tickets
 *   OWN    before the thread starts
 *   HINT   the stop flag: the semaphore's post orders it
 */

static void sleep_until_woken(struct thread_clock *clock)
{
    os_semaphore_wait(&clock->wake);
    /* Weakened, this thread could miss the ticket of a thread that found it woken. */
    exchange_acq_rel(WAKE, &clock->woken, 0);
}

static void drive_until_stopped(void *arg)
{
    haft_domain *domain = arg;

    for (;;) {
        sleep_until_woken(&domain->thread);
        if (load_relaxed(HINT, &domain->thread.stopping) != 0) {
            return;
        }
        domain_wait(domain);
    }
}

static haft_status thread_start(haft_domain *domain)
{
    store_relaxed(OWN, &domain->thread.stopping, 0);
    store_relaxed(OWN, &domain->thread.woken, 0);
    if (!os_semaphore_open(&domain->thread.wake)) {
        return HAFT_NO_THREAD;
    }
    foreign_clock_start(domain);
    if (!os_thread_start(&domain->thread.thread, drive_until_stopped, domain)) {
        foreign_clock_stop(domain);
        os_semaphore_close(&domain->thread.wake);
        return HAFT_NO_THREAD;
    }
    return HAFT_OK;
}

static void thread_stop(haft_domain *domain)
{
    /* The thread's last grace period may wait for this one. */
    const bool held = foreign_clock_pause(domain);

    store_relaxed(HINT, &domain->thread.stopping, 1);
    os_semaphore_post(&domain->thread.wake);
    os_thread_join(&domain->thread.thread);
    os_semaphore_close(&domain->thread.wake);
    foreign_clock_stop(domain);
    foreign_clock_resume(domain, held);
}

static void hurry(haft_domain *domain)
{
    if (exchange_acq_rel(WAKE, &domain->thread.woken, 1) == 0) {
        os_semaphore_post(&domain->thread.wake);
    }
}

static void requested(haft_domain *domain, uint64_t ticket)
{
    if (ticket % TICKETS_PER_WAKE == 0) {
        hurry(domain);
    }
}

HAFT_INTERNAL const struct clock thread_clock = {
    .name = "thread",
    .is_foreign = true,
    .start = thread_start,
    .stop = thread_stop,
    .requested = requested,
    .hurry = hurry,
    .wait_for = foreign_clock_wait_for,
    .quiescent = foreign_clock_quiescent,
    .offline = foreign_clock_offline,
    .online = foreign_clock_online,
    .standing = foreign_clock_standing,
    .settle = foreign_clock_settle,
    .in_section = foreign_clock_in_section,
    .advise = foreign_clock_advise,
    .after_fork = foreign_clock_after_fork,
};

/*
 * concurrent/clock/jobs.h - jobs that wait for jobs: the standings of threads with a clock.  See
 * haft/domain.h.
 *
 * The workers clock keeps a standing in each member of a domain; foreign clocks have one for each
 * thread and ctx, since a thread is online, or in a section, for all domains with the same one.
 */

/* Whether a job of the calling thread has begun and not ended, or is parked. */
HAFT_INTERNAL bool domain_has_open_jobs(haft_domain *domain);

/* Whether the calling thread is in an inner job: it may announce nothing and wait for nothing. */
HAFT_INTERNAL bool domain_in_inner_job(haft_domain *domain);

/*
 * The library could not remember that a job of the calling thread began, for want of memory: until
 * that ends, the thread opens no first worker.
 */
HAFT_INTERNAL bool job_is_forgotten(void);

/*
 * concurrent/clock/thread.h - numbers of threads.
 */

/* The calling thread's number, which no other thread ever has; not 0.  Wait-free. */
HAFT_INTERNAL uint64_t thread_number(void);

/* concurrent/clock/clock_workers.c */

/*
 * The workers clock: each thread with open workers announces its own quiescent points; anyone
 * adds them up.  Quiescent-state-based reclamation by message passing alone.
 *
 * A member is a thread with open workers on the domain.  At a quiescent point it reads `requested`
 * and stores that number.  All frees under tickets up to this number came before, so the member
 * resolves none of these objects from now on, and it has let go of the pointers that it had.  The
 * tickets up to the lowest announcement are done.
 *
 * A member that comes online adds 0 to `requested`.  The read-modify-writes of that word are one
 * sequence: a thread that covers a later ticket has seen the member online, and the member has seen
 * the frees under earlier tickets.  So no fence is needed between coming online and the first
 * resolve, and none between a free and the look at the members.
 *
 * Members stay in the list until the domain closes.  Once its thread has closed all its workers and
 * ended its jobs, a member may be another thread's.
 *
 * A quiescent point counts for the whole thread, so an inner job must not announce one: the
 * pointers that the outer job has resolved would be void.  The level in a member's standing tells
 * the two apart (jobs.h).
 *
 * Edges in this file.
 *   QUIET   announce, go_away (release) -> reach (acquire)
 *           reads of a section before its end is seen
 *   ARRIVE  come_back (acquire and release) on `requested`, beside TICKET (see domain.c): online
 *           before later tickets, frees under earlier ones before the first resolve
 *   ROSTER  add (release)   -> first_member (acquire)   a member's set-up
 *   ADOPT   release_if_unused (release) -> claim_member (acquire)   the last state of a member, to
 *           its next thread
 *   OWN     a thread's own member, or one that no other thread can find: new, or in a fork's child
 *   HINT    which thread is blamed for a stall
 *   RETRY   a first look; the compare-and-swap decides
 */

#define ANNOUNCED_NOTHING 0       /* holds all tickets up: on its way online */
#define ANNOUNCED_AWAY UINT64_MAX /* holds nothing up: offline, or no thread's */

struct member {
    atomic_u64 announced; /* tickets whose frees came before its last quiescent point */
    atomic_u64 thread;    /* thread_number() of its thread; 0: no thread's */
    atomic_u64 worker;    /* address of one of its workers; 0: not known */
    atomic_u64 number;    /* the system's for the thread */
    uint64_t workers;     /* open, of its thread */
    struct standing standing;
    struct member *next; /* constant */
};

_Static_assert(sizeof(struct member) <= CACHE_LINE, "members share no cache line");

/* The calling thread's member that was looked up last, and the number of its domain. */
static _Thread_local struct {
    uint64_t domain;
    struct member *member;
} latest_member;

static struct member *first_member(const haft_domain *domain)
{
    return (struct member *)(uintptr_t)load_acquire(ROSTER, &domain->members);
}

/* The calling thread's member, or NULL. */
static struct member *own_member(const haft_domain *domain)
{
    const uint64_t number = thread_number();

    if (latest_member.domain == domain->number &&
        load_relaxed(OWN, &latest_member.member->thread) == number) {
        return latest_member.member;
    }
    for (struct member *member = first_member(domain); member != NULL; member = member->next) {
        if (load_relaxed(OWN, &member->thread) == number) {
            latest_member.domain = domain->number;
            latest_member.member = member;
            return member;
        }
    }
    return NULL;
}

static bool is_away(const struct member *member)
{
    return load_relaxed(OWN, &member->announced) == ANNOUNCED_AWAY;
}

static void come_back(haft_domain *domain, struct member *member)
{
    store_relaxed(OWN, &member->announced, ANNOUNCED_NOTHING);
    /* Weakened, a later ticket could be covered by a thread that saw the member away. */
    const uint64_t requested = fetch_add_acq_rel(ARRIVE, &domain->requested, 0);

    store_release(QUIET, &member->announced, requested);
}

static void go_away(struct member *member)
{
    /* Weakened, a slot could be written again before this thread's reads. */
    store_release(QUIET, &member->announced, ANNOUNCED_AWAY);
}

static void announce(const haft_domain *domain, struct member *member)
{
    const uint64_t requested = domain_requested(domain);

    if (load_relaxed(OWN, &member->announced) != requested) {
        /* Weakened, a slot could be written again before this thread's reads. */
        store_release(QUIET, &member->announced, requested);
    }
}

/* All members have announced the tickets up to the result; `requested` was read before. */
static uint64_t reach(const haft_domain *domain, uint64_t requested)
{
    uint64_t lowest = requested;

    for (const struct member *member = first_member(domain); member != NULL;
         member = member->next) {
        const uint64_t announced = load_acquire(QUIET, &member->announced);

        lowest = announced < lowest ? announced : lowest;
    }
    return lowest;
}

/* Mark the tickets that all members have announced as done. */
static void advance(haft_domain *domain)
{
    const uint64_t requested = domain_requested(domain);
    const uint64_t done = domain_done(domain);

    if (done >= requested) {
        return;
    }
    const uint64_t reached = reach(domain, requested);

    if (reached > done) {
        domain_end_grace(domain, reached);
    } else {
        measure_begin(&domain->measure, done); /* if not now, then at the next look */
    }
}

static struct member *new_member(haft_domain *domain)
{
    if (domain->given_members == NULL) {
        return heap_take(&domain->heap, CACHE_LINE, CACHE_LINE);
    }
    const uint64_t number = take_number(&domain->given_used, domain->given_count);

    return number != NUMBER_NONE
               ? (struct member *)(void *)(domain->given_members + number * CACHE_LINE)
               : NULL;
}

static void free_member(const haft_domain *domain, struct member *member)
{
    if (domain->given_members == NULL) {
        heap_give(&domain->heap, member, CACHE_LINE);
    }
}

static haft_status workers_start(haft_domain *domain)
{
    store_relaxed(OWN, &domain->members, 0);
    return HAFT_OK;
}

static void workers_stop(haft_domain *domain)
{
    for (struct member *member = first_member(domain), *next; member != NULL; member = next) {
        next = member->next;
        free_member(domain, member);
    }
}

static haft_status workers_wait_for(haft_domain *domain, uint64_t ticket)
{
    struct member *own = own_member(domain);
    const bool was_online = own != NULL && !is_away(own);

    assert(own == NULL || own->standing.level <= 1); /* else an outer job's pointers are void */
    if (was_online) {
        go_away(own);
    }
    advance(domain);
    for (uint64_t turn = 0; domain_done(domain) < ticket; turn++) {
        pause_in_turn(turn);
        domain_notice_stall(domain);
        advance(domain);
    }
    if (was_online) {
        come_back(domain, own);
    }
    return HAFT_OK;
}

/* A member that its thread has left, now the calling thread's; NULL if there is none. */
static struct member *claim_member(const haft_domain *domain)
{
    for (struct member *member = first_member(domain); member != NULL; member = member->next) {
        if (load_relaxed(RETRY, &member->thread) == 0 &&
            cas_acquire(ADOPT, &member->thread, 0, thread_number())) {
            return member;
        }
    }
    return NULL;
}

static struct member *add_member(haft_domain *domain)
{
    struct member *member = new_member(domain);

    if (member == NULL) {
        return NULL;
    }
    memset(member, 0, sizeof *member);
    store_relaxed(OWN, &member->announced, ANNOUNCED_AWAY);
    store_relaxed(OWN, &member->thread, thread_number());
    do {
        member->next = first_member(domain);
    } while (!cas_release(ROSTER, &domain->members, (uint64_t)(uintptr_t)member->next,
                          (uint64_t)(uintptr_t)member));
    return member;
}

/* The calling thread's member; a new one if need be; NULL if there is no memory for one. */
static struct member *need_member(haft_domain *domain)
{
    struct member *own = own_member(domain);

    own = own != NULL ? own : claim_member(domain);
    return own != NULL ? own : add_member(domain);
}

/* Release a member whose thread has neither workers nor jobs to the next thread. */
static void release_if_unused(struct member *member)
{
    if (member->workers == 0 && member->standing.open == 0) {
        member->standing.level = 0;
        go_away(member);
        /* Weakened, the next thread could find the member in the state before. */
        store_release(ADOPT, &member->thread, 0);
    }
}

/*
 * A job that has begun goes on as it was, and a thread that is parked stays so.  Else the thread is
 * online: what it was offline from ended with its last worker.
 */
static haft_status join(haft_domain *domain, haft_worker *worker, struct member **member)
{
    struct member *own = need_member(domain);

    if (own == NULL) {
        return HAFT_NO_MEMORY;
    }
    if (own->workers == 0 && job_is_forgotten()) {
        release_if_unused(own);
        return HAFT_NO_MEMORY;
    }
    if (own->workers++ == 0) {
        store_relaxed(HINT, &own->number, os_thread_number());
        if (own->standing.level == 0) {
            own->standing.level = 1;
        }
        if (own->standing.level > 0 && is_away(own)) {
            come_back(domain, own);
        }
    }
    store_relaxed(HINT, &own->worker, (uint64_t)(uintptr_t)worker);
    *member = own;
    return HAFT_OK;
}

/* Only its thread may change a member's state. */
static bool may_leave(const struct member *member)
{
    return load_relaxed(OWN, &member->thread) == thread_number();
}

/* A job keeps the member: the objects that it has resolved stay until the job ends. */
static void leave(haft_worker *worker, struct member *member)
{
    if (load_relaxed(HINT, &member->worker) == (uint64_t)(uintptr_t)worker) {
        store_relaxed(HINT, &member->worker, 0);
    }
    if (!may_leave(member)) {
        member->standing.open = 0; /* its thread has ended, and its jobs with it */
    }
    member->workers--;
    release_if_unused(member);
}

/* A thread that is away has nothing to announce, but its slots may wait all the same. */
static void quiescent(haft_domain *domain, struct member *member, uint64_t backlog)
{
    if (!is_away(member)) {
        announce(domain, member);
    }
    if (backlog >= BACKLOG_WORTH(BACKLOG_SLOTS)) {
        advance(domain);
    }
}

/* Offline, whatever jobs have begun; parked, or without a worker, the thread is not online. */
static void offline(haft_domain *domain)
{
    struct member *own = own_member(domain);

    if (own != NULL && own->workers != 0 && own->standing.level > 0) {
        assert(own->standing.level == 1 &&
               "an inner job parks: offline voids the outer job's pointers");
        own->standing.level = 0;
        go_away(own);
    }
}

/* Without a worker only the level changes: the jobs that begin now are inner ones. */
static void online(haft_domain *domain)
{
    struct member *own = own_member(domain);

    if (own != NULL && own->standing.level == 0) {
        own->standing.level = 1;
        if (own->workers != 0) {
            come_back(domain, own);
        }
    }
}

static struct standing *standing(haft_domain *domain, bool wanted)
{
    struct member *own = wanted ? need_member(domain) : own_member(domain);

    return own != NULL ? &own->standing : NULL;
}

/* A thread without workers may not resolve, so it stays away. */
static void settle_member(haft_domain *domain, struct standing *of, int32_t before)
{
    struct member *own = (struct member *)((char *)of - offsetof(struct member, standing));

    if (before <= 0 && of->level > 0 && own->workers != 0) {
        come_back(domain, own);
    } else if (before > 0 && of->level <= 0) {
        go_away(own);
    }
    release_if_unused(own);
}

static bool in_section(const haft_domain *domain)
{
    const struct member *own = own_member(domain);

    return own != NULL && own->standing.level > 1;
}

static void blame(const haft_domain *domain, haft_stall *stall)
{
    uint64_t lowest = domain_done(domain) + 1;

    for (const struct member *member = first_member(domain); member != NULL;
         member = member->next) {
        const uint64_t announced = load_acquire(QUIET, &member->announced);

        if (announced < lowest) {
            lowest = announced;
            stall->worker = (haft_worker *)(uintptr_t)load_relaxed(HINT, &member->worker);
            stall->thread = load_relaxed(HINT, &member->number);
        }
    }
}

static void advise(const haft_domain *domain, const haft_stall *stall, struct text *text)
{
    (void)domain;
    if (stall->thread != 0) {
        text_add(text, "thread %" PRIu64 " is online, ", stall->thread);
        if (stall->worker != NULL) {
            text_add(text, "has worker %p open ", (void *)stall->worker);
        }
        text_add(text, "and passes no quiescent point (haft_worker_quiescent, or haft_thread_park "
                       "before it waits in a barrier or blocks)");
    } else {
        text_add(text, "all threads have passed a quiescent point since");
    }
}

/* Release members whose threads are gone to the next threads; the one left has a new number. */
static const struct clock *workers_after_fork(haft_domain *domain)
{
    for (struct member *member = first_member(domain); member != NULL; member = member->next) {
        if (load_relaxed(OWN, &member->thread) != thread_number()) {
            member->workers = 0;
            member->standing = (struct standing){0, 0};
            store_relaxed(OWN, &member->announced, ANNOUNCED_AWAY);
            store_relaxed(HINT, &member->worker, 0);
            store_relaxed(OWN, &member->thread, 0);
        } else {
            store_relaxed(HINT, &member->number, os_thread_number());
        }
    }
    return domain->clock;
}

HAFT_INTERNAL const struct clock workers_clock = {
    .name = "workers",
    .is_foreign = false,
    .start = workers_start,
    .stop = workers_stop,
    .hurry = advance,
    .wait_for = workers_wait_for,
    .join = join,
    .leave = leave,
    .may_leave = may_leave,
    .quiescent = quiescent,
    .offline = offline,
    .online = online,
    .standing = standing,
    .settle = settle_member,
    .in_section = in_section,
    .blame = blame,
    .advise = advise,
    .after_fork = workers_after_fork,
};

/*
 * concurrent/clock/registry.h - the domains that are open in this process, newest first.
 *
 * The list is under a lock.  Opening and closing a domain, a table, a side or an implicit worker,
 * recycling in a table with sides, writing an export and a fork take it; a take-back that serves
 * another table tries to: while a thread has it, none of these comes or goes.  That thread may take
 * it again.
 */

HAFT_INTERNAL void registry_add_domain(haft_domain *domain);
HAFT_INTERNAL void registry_remove_domain(haft_domain *domain);

/* registry_try_lock: false if another thread has it. */
HAFT_INTERNAL void registry_lock(void);
HAFT_INTERNAL bool registry_try_lock(void);
HAFT_INTERNAL void registry_unlock(void);

/* Under the lock: for (d = first_open_domain(); d; d = d->next_open). */
HAFT_INTERNAL haft_domain *first_open_domain(void);

/*
 * A number of this process: processes that come from one another by fork have different ones, also
 * where their process numbers are of several namespaces.
 */
HAFT_INTERNAL uint64_t registry_process(void);

/* concurrent/clock/domain.c */

/*
 * The domain: opening, closing, and its calls of the clock.
 *
 * Edges in this file.
 *   COUNT    statistics, numbers that are given once, and the number of open tables, checked when
 *            no other thread uses the domain
 *   OWN      in the child of a fork, which has one thread
 */

#define NUMBERED(UPPER, lower) [HAFT_CLOCK_##UPPER] = &lower##_clock,
static const struct clock *const clocks[HAFT_CLOCK_COUNT] = {HAFT_CLOCKS(NUMBERED)};

static uint64_t domain_number(void)
{
    static atomic_u64 given;

    return fetch_add_relaxed(COUNT, &given, 1) + 1;
}

static haft_status check_domain_options(const haft_domain_options *options)
{
    if ((unsigned)options->clock >= HAFT_CLOCK_COUNT) {
        return HAFT_BAD_CLOCK;
    }
    const bool is_right =
        clocks[options->clock]->is_foreign
            ? options->foreign_clock != NULL && foreign_is_whole(options->foreign_clock)
            : options->foreign_clock == NULL;

    if (!is_right) {
        return HAFT_BAD_FOREIGN_CLOCK;
    }
    return options->memory != NULL && clocks[options->clock]->is_foreign ? HAFT_BAD_CLOCK : HAFT_OK;
}

/* The struct, and its threads' members: one line each. */
static haft_domain *take_domain(const haft_domain_options *options, struct given *given)
{
    const uint64_t threads = options->threads != 0 ? options->threads : 1;
    haft_domain *domain = given_take(given, sizeof *domain, CACHE_LINE);
    char *members = domain == NULL || threads > SIZE_MAX / CACHE_LINE
                        ? NULL
                        : given_take(given, threads * CACHE_LINE, CACHE_LINE);

    if (members != NULL && given->at != NULL) {
        domain->given_members = members;
        domain->given_count = threads;
    }
    return members != NULL ? domain : NULL;
}

/* The bytes that it takes, wherever they begin; UINT64_MAX: more than there can be. */
static uint64_t measure_domain(const haft_domain_options *options)
{
    struct given given = given_to_measure();

    return take_domain(options, &given) != NULL ? given.measured : UINT64_MAX;
}

static haft_domain *domain_new(const haft_domain_options *options, const haft_allocator *heap)
{
    struct given given = given_of(options->memory, options->memory_size);

    if (!given_suffices(&given, measure_domain(options))) {
        return NULL;
    }
    if (options->memory != NULL) {
        return take_domain(options, &given);
    }
    return heap_take_zero(heap, sizeof(haft_domain), CACHE_LINE);
}

static void domain_free(haft_domain *domain)
{
    if (domain->given_members == NULL) {
        heap_give(&domain->heap, domain, sizeof *domain);
    }
}

haft_status haft_domain_footprint_sized(const haft_domain_options *options, size_t size,
                                        haft_footprint *footprint)
{
    haft_domain_options known;
    haft_status status = sized_take(&known, sizeof known, options, size);

    known.memory = &known; /* any: it is what is asked about */
    status = status == HAFT_OK ? check_domain_options(&known) : status;
    const uint64_t bytes = status == HAFT_OK ? measure_domain(&known) : 0;

    status = given_is_possible(bytes) ? status : HAFT_NO_MEMORY;
    if (status == HAFT_OK) {
        *footprint = (haft_footprint){
            .bytes = bytes,
            .capacity = known.threads != 0 ? known.threads : 1,
        };
    }
    return status;
}

static haft_status open_domain(const haft_domain_options *options, haft_domain **domain)
{
    haft_status status = check_domain_options(options);

    if (status != HAFT_OK) {
        return status;
    }
    const haft_allocator heap = heap_of(options->allocator);
    haft_domain *opened = domain_new(options, &heap);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    opened->heap = heap;
    opened->number = domain_number();
    if (options->foreign_clock != NULL) {
        opened->foreign = *options->foreign_clock;
    }
    opened->clock = clocks[options->clock];
    opened->on_stall = options->on_stall;
    opened->stall_arg = options->stall_arg;
    opened->stall_ns = stall_limit(options->stall_ns);
    opened->process = registry_process();
    measure_open(&opened->measure);
    status = opened->clock->start != NULL ? opened->clock->start(opened) : HAFT_OK;
    if (status != HAFT_OK) {
        domain_free(opened);
        return status;
    }
    registry_add_domain(opened);
    *domain = opened;
    return HAFT_OK;
}

haft_status haft_domain_open_sized(const haft_domain_options *options, size_t size,
                                   haft_domain **domain)
{
    haft_domain_options known;
    const haft_status status = sized_take(&known, sizeof known, options, size);

    return status == HAFT_OK ? open_domain(&known, domain) : status;
}

HAFT_INTERNAL bool domain_threads_are_used_up(const haft_domain *domain)
{
    return domain->given_members != NULL &&
           load_relaxed(COUNT, &domain->given_used) >= domain->given_count;
}

HAFT_INTERNAL haft_status domain_check_process(const haft_domain *domain)
{
    return domain->process == registry_process() ? HAFT_OK : HAFT_FORKED;
}

haft_status haft_domain_close(haft_domain *domain)
{
    if (domain_check_process(domain) != HAFT_OK) {
        return HAFT_FORKED;
    }
    if (callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    haft_status status = load_relaxed(COUNT, &domain->tables) != 0 ? HAFT_IN_USE : HAFT_OK;

    /* Before the moment is checked: that may end what the job has resolved. */
    status = status == HAFT_OK && domain_has_open_jobs(domain) ? HAFT_IN_SECTION : status;
    status = status == HAFT_OK ? domain_check_moment(domain) : status;
    if (status != HAFT_OK) {
        return status;
    }
    assert(sections_open(domain) == 0 && "sections end before their domain is closed");
    registry_remove_domain(domain);
    if (domain->clock->stop != NULL) {
        domain->clock->stop(domain);
    }
    domain_free(domain);
    return HAFT_OK;
}

HAFT_INTERNAL void domain_hurry(haft_domain *domain)
{
    if (domain->clock->hurry != NULL) {
        domain->clock->hurry(domain);
    }
}

HAFT_INTERNAL
haft_status domain_join(haft_domain *domain, haft_worker *worker, struct member **member)
{
    *member = NULL;
    return domain->clock->join != NULL ? domain->clock->join(domain, worker, member) : HAFT_OK;
}

HAFT_INTERNAL void domain_leave(haft_domain *domain, haft_worker *worker, struct member *member)
{
    if (domain->clock->leave != NULL) {
        domain->clock->leave(worker, member);
    }
}

HAFT_INTERNAL bool domain_may_leave(const haft_domain *domain, const struct member *member)
{
    return domain->clock->may_leave == NULL || domain->clock->may_leave(member);
}

HAFT_INTERNAL void domain_quiescent(haft_domain *domain, struct member *member, uint64_t backlog)
{
    if (domain->clock->quiescent != NULL) {
        domain->clock->quiescent(domain, member, backlog);
    }
}

HAFT_INTERNAL void domain_blame(const haft_domain *domain, haft_stall *stall)
{
    if (domain->clock->blame != NULL) {
        domain->clock->blame(domain, stall);
    }
}

HAFT_INTERNAL void domain_after_fork(haft_domain *domain)
{
    const struct clock *next = domain->clock->after_fork(domain);

    if (next == NULL) {
        return; /* calls that wait or close return HAFT_FORKED */
    }
    domain->clock = next;
    domain->process = registry_process();
    store_relaxed(OWN, &domain->sections, 0);
    measure_open(&domain->measure);
}

HAFT_INTERNAL haft_status domain_wait_for(haft_domain *domain, uint64_t ticket)
{
    if (domain_done(domain) >= ticket) {
        return HAFT_OK;
    }
    const haft_status status = domain_check_process(domain);

    return status == HAFT_OK ? domain->clock->wait_for(domain, ticket) : status;
}

HAFT_INTERNAL haft_status domain_wait(haft_domain *domain)
{
    return domain_wait_for(domain, load_relaxed(COUNT, &domain->requested));
}

HAFT_INTERNAL haft_status domain_check_moment(const haft_domain *domain)
{
    const struct clock *clock = domain->clock;

    if (callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    return clock->in_section != NULL && clock->in_section(domain) ? HAFT_IN_SECTION : HAFT_OK;
}

haft_status haft_domain_wait(haft_domain *domain)
{
    const haft_status status = domain_check_moment(domain);

    return status == HAFT_OK ? domain_wait(domain) : status;
}

haft_domain_stats haft_domain_stats_get(const haft_domain *domain)
{
    const haft_domain_stats stats = {
        .grace_periods = load_relaxed(COUNT, &domain->grace_periods),
        .longest_grace_period_ns = load_relaxed(COUNT, &domain->longest_ns),
        .backlog = domain_backlog(domain),
        .stalls = load_relaxed(COUNT, &domain->stalls),
    };
    return stats;
}

/* concurrent/clock/jobs.c */

/*
 * Jobs that wait for jobs.
 *
 * A level counts what is begun; a state is the level before.  Going from 0 or PARKED to 1 and back
 * is the clock's: it comes online or goes offline, or begins or ends a read section.  Inner jobs
 * change only the count, so they cost no store that another thread reads.
 */

/* In place of a state's number of open jobs. */
#define OPEN_UNKNOWN UINT32_MAX       /* the thread had no standing, and got none */
#define OPEN_COUNTED (UINT32_MAX - 1) /* the clock has none; debug builds count sections */

static _Thread_local uint32_t forgotten;

HAFT_INTERNAL bool job_is_forgotten(void)
{
    return forgotten != 0;
}

/* The calling thread's present standing; NULL if it has none. */
static struct standing *present(haft_domain *domain)
{
    return domain->clock->standing != NULL ? domain->clock->standing(domain, false) : NULL;
}

HAFT_INTERNAL bool domain_has_open_jobs(haft_domain *domain)
{
    const struct standing *standing = present(domain);

    return standing != NULL && standing->open != 0;
}

HAFT_INTERNAL bool domain_in_inner_job(haft_domain *domain)
{
    const struct standing *standing = present(domain);

    return standing != NULL && standing->level > 1;
}

static void set_level(haft_domain *domain, struct standing *standing, int32_t level)
{
    const int32_t before = standing->level;

    standing->level = level;
    domain->clock->settle(domain, standing, before);
}

/* The level in a job that begins at `level`. */
static int32_t level_inside(int32_t level)
{
    return level > 0 ? level + 1 : 1;
}

static haft_job_state state_of(const struct standing *standing)
{
    return (haft_job_state){thread_number(), (uint32_t)standing->level, standing->open};
}

static int32_t level_of(haft_job_state state)
{
    return (int32_t)state.level;
}

static haft_job_state unkept(uint32_t open)
{
    return (haft_job_state){thread_number(), 0, open};
}

/* The standing that a state is of; NULL: none was kept. */
static struct standing *kept(haft_domain *domain, haft_job_state state)
{
    assert(state.thread == thread_number() && "a job or park ends on the thread where it began");
    if (state.open >= OPEN_COUNTED || domain->clock->standing == NULL) {
        return NULL;
    }
    struct standing *standing = present(domain);

    assert(standing != NULL && standing->open == state.open + 1 && "the last one ends first");
    return standing;
}

haft_job_state haft_job_begin(haft_domain *domain)
{
    if (domain->clock->standing == NULL) {
        section_count(domain, 1);
        return unkept(OPEN_COUNTED);
    }
    struct standing *standing = domain->clock->standing(domain, true);

    if (standing == NULL) {
        forgotten++;
        return unkept(OPEN_UNKNOWN);
    }
    const haft_job_state state = state_of(standing);

    standing->open++;
    set_level(domain, standing, level_inside(level_of(state)));
    return state;
}

void haft_job_end(haft_domain *domain, haft_job_state state)
{
    struct standing *standing = kept(domain, state);

    if (standing != NULL) {
        assert(standing->level == level_inside(level_of(state)) || standing->level == 0);
        standing->open = state.open;
        set_level(domain, standing, level_of(state));
    } else if (state.open == OPEN_UNKNOWN) {
        forgotten--;
    } else if (state.open == OPEN_COUNTED) {
        section_count(domain, UINT64_MAX);
    }
}

/*
 * The calling thread's standing for a park: without jobs, too, it may be online.  NULL: it is
 * offline, and has none; or nothing but a job can bring it online.
 */
static struct standing *parked(haft_domain *domain)
{
    const haft_foreign_clock *foreign = &domain->foreign;
    const bool is_online = foreign_has_online(foreign) && foreign_is_inside(foreign);
    struct standing *standing = is_online ? domain->clock->standing(domain, true) : present(domain);
    const bool has_sections = domain->clock->is_foreign && !foreign_has_online(foreign);

    return standing != NULL && standing->open == 0 && has_sections ? NULL : standing;
}

haft_job_state haft_thread_park(haft_domain *domain)
{
    struct standing *standing = parked(domain);

    assert(!callback_is_running() && "no park in a callback: a job may hold pointers");
    if (standing == NULL || callback_is_running()) {
        return unkept(OPEN_UNKNOWN);
    }
    const haft_job_state state = state_of(standing);

    standing->open++;
    set_level(domain, standing, PARKED);
    return state;
}

void haft_thread_unpark(haft_domain *domain, haft_job_state state)
{
    struct standing *standing = kept(domain, state);

    if (standing != NULL) {
        assert(standing->level <= 0 && "jobs begun since the park end before unpark");
        standing->open = state.open;
        set_level(domain, standing, level_of(state));
    }
}

/* concurrent/clock/measure.c */

/*
 * How long a grace period has been waited for.
 *
 * A measure is written under a lock, `since` before `ticket`, and read without it.  A reader may
 * find the `since` of a later measure with the `ticket` before.  That one's grace period has ended
 * then, which the reader sees when it looks at `done` afterwards.
 *
 * Edges in this file.
 *   MEASURE  measure_begin (release) -> measure_read (acquire)   `since` of a ticket; the end of
 *            the grace period before, if `since` is later
 *   HINT     a first look at the measure
 */

#define DEFAULT_STALL_NS NS_PER_S
#define MOST_STALL_NS (NS_PER_S * 60 * 60 * 24 * 365)

HAFT_INTERNAL uint64_t stall_limit(uint64_t stall_ns)
{
    if (stall_ns == 0) {
        return DEFAULT_STALL_NS;
    }
    return stall_ns < MOST_STALL_NS ? stall_ns : MOST_STALL_NS;
}

HAFT_INTERNAL void measure_open(struct measure *measure)
{
    os_mutex_open(&measure->lock);
    store_relaxed(HINT, &measure->reported, 0); /* of the parent, after a fork */
    store_relaxed(HINT, &measure->ticket, 0);
}

HAFT_INTERNAL bool measure_begin(struct measure *measure, uint64_t done)
{
    if (load_relaxed(HINT, &measure->ticket) > done) {
        return true;
    }
    if (!os_mutex_try_lock(&measure->lock)) {
        return false;
    }
    if (load_relaxed(HINT, &measure->ticket) <= done) { /* a late thread measures nothing */
        /* Weakened, a reader could count it for the grace period before, which has ended. */
        store_release(MEASURE, &measure->since, os_now_ns());
        /* Weakened, a reader could count from when the grace period before began. */
        store_release(MEASURE, &measure->ticket, done + 1);
    }
    os_mutex_unlock(&measure->lock);
    return true;
}

HAFT_INTERNAL uint64_t measure_read(const struct measure *measure, uint64_t *since)
{
    const uint64_t ticket = load_acquire(MEASURE, &measure->ticket);

    *since = load_acquire(MEASURE, &measure->since);
    return ticket;
}

/* concurrent/clock/registry.c */

/*
 * The list of open domains, and the lock that it is under.
 *
 * Every fork takes the lock, so that the child can take it, too: in a child that calls nothing of
 * haft/threads.h the lists are whole.  Where the system has no memory for that handler, such a
 * child may find the lock held.  haft_before_fork() takes the lock as well, before or after the
 * handler: hence a thread's count.
 *
 * Locks are to be taken in one order.  A program opens tables while it holds its locks, and this
 * one is held while memory is allocated (export_text.c); the handler given to os_on_fork last runs
 * first before a fork.  So the library gives its handler after the allocator's, and before the
 * program's.
 */

static struct os_mutex domains_lock;
static haft_domain *open_domains; /* under the lock */
static _Thread_local unsigned times_taken;
static uint32_t forks; /* from the first process to this; written where there is one thread */
static uint64_t process_number; /* this one's number, as forks; 0: the handler does not keep it */

HAFT_INTERNAL void registry_lock(void)
{
    if (times_taken++ == 0) {
        os_mutex_lock(&domains_lock);
    }
}

HAFT_INTERNAL bool registry_try_lock(void)
{
    if (times_taken == 0 && !os_mutex_try_lock(&domains_lock)) {
        return false;
    }
    times_taken++;
    return true;
}

HAFT_INTERNAL void registry_unlock(void)
{
    if (--times_taken == 0) {
        os_mutex_unlock(&domains_lock);
    }
}

static uint64_t number_now(void)
{
    return (uint64_t)forks << 32 | (uint32_t)os_process_number();
}

static void begin_child(void)
{
    forks++;
    process_number = number_now();
    registry_unlock();
}

/* Before main, and before other constructors except those of the same priority; in Mach-O (macOS),
 * which has none, in the order of the link. */
__attribute__((constructor(101))) static void watch_forks(void)
{
    const haft_allocator first = haft_allocator_malloc(); /* malloc may do the same when called */

    first.free(first.context, first.alloc(first.context, 1, 1), 1);
    if (os_on_fork(registry_lock, registry_unlock, begin_child)) {
        process_number = number_now();
    }
}

HAFT_INTERNAL uint64_t registry_process(void)
{
    return process_number != 0 ? process_number : number_now(); /* the latter is a system call */
}

HAFT_INTERNAL void registry_add_domain(haft_domain *domain)
{
    registry_lock();
    domain->next_open = open_domains;
    domain->open_link = &open_domains;
    if (open_domains != NULL) {
        open_domains->open_link = &domain->next_open;
    }
    open_domains = domain;
    registry_unlock();
}

HAFT_INTERNAL void registry_remove_domain(haft_domain *domain)
{
    registry_lock();
    *domain->open_link = domain->next_open;
    if (domain->next_open != NULL) {
        domain->next_open->open_link = domain->open_link;
    }
    registry_unlock();
}

HAFT_INTERNAL haft_domain *first_open_domain(void)
{
    return open_domains;
}

/* concurrent/clock/section.c */

/* Read sections of the domain's foreign clock; without one they last from announcement to
 * announcement, and begin and end do nothing. */

void haft_thread_register(haft_domain *domain)
{
    foreign_register(&domain->foreign);
}

void haft_thread_unregister(haft_domain *domain)
{
    assert((!domain->clock->is_foreign || !domain_has_open_jobs(domain)) && "all jobs have ended");
    foreign_unregister(&domain->foreign);
}

void haft_section_begin(haft_domain *domain)
{
    section_count(domain, 1);
    assert(foreign_thread_is_registered(&domain->foreign) && "haft_thread_register comes first");
    foreign_begin(&domain->foreign);
}

void haft_section_end(haft_domain *domain)
{
    section_count(domain, UINT64_MAX);
    foreign_end(&domain->foreign);
}

void haft_thread_offline(haft_domain *domain)
{
    assert(!callback_is_running() && "not offline in a callback: a job may hold pointers");
    if (domain->clock->offline != NULL && !callback_is_running()) {
        domain->clock->offline(domain);
    }
}

void haft_thread_online(haft_domain *domain)
{
    if (domain->clock->online != NULL) {
        domain->clock->online(domain);
    }
}

/* concurrent/clock/stall.c */

/*
 * Stalls: the report of a grace period that lasts too long.
 *
 * Edges in this file.
 *   HINT    a first look at the measure
 *   RETRY   a first look; the compare-and-swap decides.  A read-modify-write that adds 0 reads the
 *           newest `done`
 *   COUNT   stalls
 */

HAFT_INTERNAL bool domain_is_driven(const haft_domain *domain)
{
    return load_relaxed(HINT, &domain->measure.ticket) == domain_done(domain) + 1;
}

HAFT_INTERNAL uint64_t domain_waited_ns(haft_domain *domain, uint64_t *ticket)
{
    uint64_t since = 0;

    *ticket = measure_read(&domain->measure, &since);
    const uint64_t now = os_now_ns();

    /* In this order: the wait had not ended at `now`. */
    return *ticket == domain_done(domain) + 1 ? now - since : 0;
}

/* True to one thread, if the wait for `ticket` has not ended and was not reported. */
static bool is_to_report(haft_domain *domain, uint64_t ticket)
{
    uint64_t reported = load_relaxed(RETRY, &domain->measure.reported);

    return reported != ticket && fetch_add_relaxed(RETRY, &domain->done, 0) + 1 == ticket &&
           cas_relaxed(RETRY, &domain->measure.reported, reported, ticket);
}

static void say(const haft_stall *stall)
{
    const haft_domain *domain = stall->domain;
    char line[400];
    struct text text = text_in(line, sizeof line);

    text_add(&text, "no grace period has ended for ");
    text_add_time(&text, stall->waited_ns);
    text_add(&text, " on domain %" PRIu64 " (%s clock), and ", domain->number, domain->clock->name);
    text_add_count(&text, stall->backlog);
    text_add(&text, stall->backlog == 1 ? " batch of freed slots waits: "
                                        : " batches of freed slots wait: ");
    domain->clock->advise(domain, stall, &text);
    os_print(line);
}

static void report(haft_domain *domain, uint64_t waited)
{
    haft_stall stall = {.domain = domain, .waited_ns = waited};

    stall.backlog = domain_backlog(domain);
    domain_blame(domain, &stall);
    if (domain->on_stall != NULL) {
        callback_begin();
        domain->on_stall(&stall, domain->stall_arg);
        callback_end();
    } else {
        say(&stall);
    }
}

HAFT_INTERNAL void domain_notice_stall(haft_domain *domain)
{
    uint64_t ticket;
    const uint64_t waited = domain_waited_ns(domain, &ticket);

    if (callback_is_running()) {
        return; /* a later call notices it */
    }
    if (waited >= domain->stall_ns && is_to_report(domain, ticket)) {
        fetch_add_relaxed(COUNT, &domain->stalls, 1);
        report(domain, waited);
    }
}

/* concurrent/clock/thread.c */

/*
 * Numbers of threads.
 *
 * Edges in this file.
 *   COUNT   each number is given once, in no order with anything else
 */

HAFT_INTERNAL uint64_t thread_number(void)
{
    static atomic_u64 given;
    static _Thread_local uint64_t number;

    if (number == 0) {
        number = fetch_add_relaxed(COUNT, &given, 1) + 1;
    }
    return number;
}

/* concurrent/clock/tickets.c */

/*
 * Tickets and the ends of grace periods.
 *
 * Edges in this file.
 *   TICKET   domain_ticket (release)    -> domain_requested (acquire)   frees before the wait
 *   ELAPSED  domain_end_grace (release) -> domain_done (acquire)        the wait before reuse
 *   COUNT    statistics
 *   RETRY    a first look; the compare-and-swap decides
 */

HAFT_INTERNAL uint64_t domain_ticket(haft_domain *domain)
{
    /* Weakened, a driver could begin its wait before the frees that this ticket stands for. */
    const uint64_t ticket = fetch_add_release(TICKET, &domain->requested, 1) + 1;

    if (domain->clock->requested != NULL) {
        domain->clock->requested(domain, ticket);
    }
    return ticket;
}

HAFT_INTERNAL uint64_t domain_requested(const haft_domain *domain)
{
    return load_acquire(TICKET, &domain->requested);
}

HAFT_INTERNAL uint64_t domain_done(const haft_domain *domain)
{
    /* Weakened, a slot could be written again before its last readers' reads. */
    return load_acquire(ELAPSED, &domain->done);
}

HAFT_INTERNAL uint64_t domain_backlog(const haft_domain *domain)
{
    /* In this order: `done` never runs ahead of what `requested` is read as. */
    const uint64_t done = load_acquire(ELAPSED, &domain->done);
    const uint64_t requested = load_relaxed(COUNT, &domain->requested);

    return requested > done ? requested - done : 0;
}

/*
 * Mark the tickets up to `ticket` as done; a driver beside this one may have gone further.  False
 * if they were done already.  `since`: when the wait was noticed; 0: it was not.
 */
static bool finish(haft_domain *domain, uint64_t ticket, uint64_t *since)
{
    uint64_t before = load_relaxed(RETRY, &domain->done);

    while (before < ticket) {
        /* While `done` stands there, its measure stays. */
        if (measure_read(&domain->measure, since) != before + 1) {
            *since = 0;
        }
        /* Weakened, a slot could be written again before its last readers' reads. */
        if (cas_release(ELAPSED, &domain->done, before, ticket)) {
            return true;
        }
        before = load_relaxed(RETRY, &domain->done);
    }
    return false;
}

HAFT_INTERNAL void domain_end_grace(haft_domain *domain, uint64_t ticket)
{
    uint64_t since;

    if (!finish(domain, ticket, &since)) {
        return;
    }
    fetch_add_relaxed(COUNT, &domain->grace_periods, 1);
    const uint64_t lasted = since != 0 ? os_now_ns() - since : 0;
    uint64_t longest = load_relaxed(COUNT, &domain->longest_ns);

    while (longest < lasted && !cas_relaxed(COUNT, &domain->longest_ns, longest, lasted)) {
        longest = load_relaxed(COUNT, &domain->longest_ns); /* of another driver's */
    }
}

/*
 * concurrent/table/state.h - the structs of the shared table and its workers.
 *
 * Where a slot is when it is not live, reserved or fresh: in the filling or open batch of one
 * worker (private); in a worker's ring or a depot, from which any worker may take it; in one of
 * the table's lists; or in a call that has not returned.  Batches that wait for a grace period and
 * batches that are ready never share a ring or a depot.  Workers hold slots privately within a
 * budget, so the table holds its capacity whatever they hold back.
 *
 * Edges in this file.
 *   COUNT    a counter that one worker writes and any thread may read
 *   TALLY    tally (release) -> count_begun (acquire)   frees before insertions into their slots
 */

/*
 * Each worker counts for itself; sums of differences are the table's statistics
 * (haft/detail/stats.h).  Counters of beginnings come before those of the ends.
 */
#define COUNTERS(X) BEGINNINGS(X) X(inserted) X(freed) ENDS(X)

#define BEGINNINGS(X)                                                                              \
    X(restore_first_used) /* slots of the restore range, used for the first time */                \
    X(reserved)                                                                                    \
    X(published)

/* inserted: in one call, and neither of the two above.  It comes before the ends, as freed does. */

#define ENDS(X)                                                                                    \
    X(aborted)                                                                                     \
    X(reclaimed) /* freed or aborted, and taken back */                                            \
    X(exhausted)                                                                                   \
    X(restore_exhausted) /* the same in the restore range */                                       \
    X(recycled)          /* exhausted slots that were taken back into use */                       \
    X(restore_recycled)  /* the same in the restore range */

/* Counters that are statistics as they are. */
#define PUBLIC_COUNTERS(X) X(batches_moved) X(refused_frees)

#define COUNTER_MEMBER(name) atomic_u64 name;

/* The first two are those of struct haft_worker_front. */
struct counters {
    atomic_u64 inserted;
    atomic_u64 freed;
    BEGINNINGS(COUNTER_MEMBER)
    ENDS(COUNTER_MEMBER)
    PUBLIC_COUNTERS(COUNTER_MEMBER)
};

/* A ticket that a worker took, and the slots it had retired until then. */
struct closing {
    uint64_t ticket;
    uint64_t retired;
};

/* Slots that a worker has retired under tickets that are not done: oldest closing first. */
struct backlog {
    uint64_t first;   /* closings ever done or forgotten */
    uint64_t next;    /* closings ever */
    uint64_t retired; /* slots ever retired */
    uint64_t done;    /* of them, done as far as known */
    struct closing closings[CLOSINGS];
};

/* The state and the thread of a worker in one word: state | thread_number() << STATE_BITS. */
enum worker_state {
    WORKER_CLOSED,  /* no thread's: any may open or borrow it */
    WORKER_OPEN,    /* between haft_worker_open() and haft_worker_close() */
    WORKER_BORROWED /* for one call of a thread without a worker, or of trim and its kin */
};
#define STATE_BITS 2

/* Begins as struct haft_worker_front does (haft/detail/table_front.h), up to two counters. */
struct haft_worker {
    uint32_t version;     /* HAFT_TABLE_FRONT */
    uint32_t object_size; /* if haft_insert() may copy by words */
    uint64_t above_index;
    uint64_t used_from;
    uint64_t called_from;
    uint64_t last_life;
    haft_view view;

    /* Positions in the two batches below: see hand.h. */
    uintptr_t use_at;
    uintptr_t free_at;
    uint64_t use_to;
    uint64_t look_at;
    struct counters counters;

    haft_table *table;
    struct member *member;               /* the thread, for the domain's clock */
    struct batch *filling;               /* slots to be used */
    struct batch *open;                  /* slots retired since the last closing */
    struct batch *spares[SPARE_BATCHES]; /* empty descriptors at hand */
    uint32_t spare_count;
    uint32_t batch_limit; /* batch limit: the worker may hold back 2 * (batch_limit - 1) slots */
    bool is_of_set;       /* a command set's: the frame clock lets it go from thread to thread */
    uint64_t openings;    /* how often it was opened */
    uint64_t shortage;    /* the table's, when last answered */
    uint64_t shortage_before; /* and when the worker was opened: it does not wait for that */
    uint64_t ended_seen;      /* objects and reservations ever ended, at the last quiescent point */
    struct backlog backlog;

    _Alignas(CACHE_LINE) struct ring waiting; /* closed batches, with their tickets */
    _Alignas(CACHE_LINE) struct ring ready;   /* batches that may be reused at once */
    _Alignas(CACHE_LINE) atomic_u64 extent;   /* fresh slots at hand: see fresh.c */
    atomic_u64 state;
    atomic_u64 in_hand;       /* the id whose on_reclaim has begun; 0: none */
    struct haft_worker *next; /* in the roster; constant */
    struct segment segment;
};

/* A stack with a tagged head: see lists.h. */
struct slot_list {
    atomic_u64 head;
};

/* The lists, and where their slots go. */
enum list_kind {
    LIST_FREED,    /* by threads without a worker: a ticket, and then like other freed slots */
    LIST_ABORTED,  /* given up without a worker: ready, as no reader ever had the id */
    LIST_UNPINNED, /* past their grace period, and the last pin is gone: on_reclaim, then ready */
    LIST_COUNT
};

/* The slots of a former local table that the shared one has not used yet: see share.c. */
struct legacy {
    haft_local *local; /* the local table's options; NULL: it was none */
    atomic_u64 listed; /* the first of its free slots, or MARK_END */
};

/* Runs whose memory was released, to be drawn as fresh slots again: see released.c. */
struct released {
    atomic_u64 head;  /* tagged number of the first one */
    atomic_u64 slots; /* in all of them */
};

struct search; /* suppliers.h */

/*
 * A supplier: a function that a search asks for slots.  True: the filling batch has some, or a
 * batch was taken out, to be taken back before the next round.
 */
typedef bool supplier(haft_worker *worker, struct search *search);

#define SUPPLIERS_MOST 9 /* of a table with every option: suppliers_choose() */

/* How a table's search goes, by the table's options: suppliers_choose() sets it. */
struct suppliers {
    supplier *in_order[SUPPLIERS_MOST + 1]; /* NULL behind the last */

    /* Between rounds, take back the batch that was taken out.  NULL: none ever is. */
    void (*take_back)(haft_worker *worker, struct search *search);

    /* supply_shortage(). */
    haft_status (*shortage)(haft_worker *worker, haft_status fresh);
};

struct haft_table {
    struct slots slots;
    haft_domain *domain;
    struct suppliers suppliers;
    struct pool pool;
    uint32_t batch_max;    /* slots in a full batch */
    uint32_t extent_slots; /* fresh slots that a worker draws at once */
    haft_reclaim *on_reclaim;
    void *reclaim_arg;
    bool is_quick;        /* haft_insert may copy without a call */
    bool sifts;           /* each slot that is taken back is looked at */
    bool never_waits;     /* no quiescent point waits for a grace period */
    uint64_t restore_end; /* slots below are for haft_restore(); else HAFT_FIRST_INDEX */
    uint64_t capacity;
    uint64_t budget_size;
    uint64_t waiting_bytes; /* the option; 0: a bound for quiescent points only */
    uint64_t waiting_slots; /* the same in slots */
    uint64_t backlog_slots; /* that a worker lets wait */
    uint64_t used_from;     /* as in struct haft_worker_front, for calls that are checked */
    uint64_t last_life;
    const char *name; /* behind the struct */

    _Alignas(CACHE_LINE) atomic_u64 fresh;     /* slots below are used, or in a worker's extent */
    _Alignas(CACHE_LINE) atomic_u64 shortage;  /* times that a thread found no slot */
    atomic_u64 restored;                       /* objects live in the restore range */
    atomic_u64 budget;                         /* slots that workers may still hold back */
    atomic_u64 roster;                         /* address of the worker added last */
    _Alignas(CACHE_LINE) struct depot waiting; /* full batches, with their tickets */
    struct depot ready;                        /* full batches that may be reused at once */
    _Alignas(CACHE_LINE) struct slot_list lists[LIST_COUNT];
    struct counters counters; /* of threads without a worker: they add atomically */
    struct legacy legacy;
    struct released released;
    atomic_u64 collecting; /* 1: a thread takes slots out of all batches (trim, recycle) */
    atomic_u64 drawing; /* fresh slots that searches ask for, with waiting_bytes: see suppliers.c */

    uint64_t number;       /* no other table ever has it */
    bool is_closing;       /* written under the registry's lock, by the one thread that closes it */
    haft_table *next_open; /* in the list of all: see tables.h */
    haft_table **open_link; /* the pointer to this one in it */

    haft_worker *given_workers; /* in given memory; NULL: they come from malloc */
    uint64_t given_count;
    atomic_u64 given_used;
    bool is_given; /* all of it is in the program's memory */

    atomic_u64 sides; /* see lib/slots/side.h; under the registry's lock */
};

/*
 * The pins of an object: their number, in the lower half; and a flag, set when its slot was to be
 * taken back and had pins: then the last unpin puts it into the list of unpinned ones.
 */
#define PIN_TAKEN (UINT64_C(1) << 63)
#define PIN_COUNT UINT64_C(0xffffffff)

/* Add to a counter that only this thread writes. */
static inline void count_up(atomic_u64 *counter, uint64_t by)
{
    store_relaxed(COUNT, counter, load_relaxed(COUNT, counter) + by);
}

/* count_up() for a beginning: a thread that sees the count sees all frees that led to it. */
static inline void tally(atomic_u64 *counter, uint64_t by)
{
    store_release(TALLY, counter, load_relaxed(COUNT, counter) + by);
}

/* Whether calls with a worker are checked (debug_check): then programs make none in place. */
static inline bool debug_is_on(void)
{
#if defined(NDEBUG)
    return false;
#else
    return true;
#endif
}

/*
 * concurrent/table/allocate.h - the way in: haft_reserve and haft_insert, as called from `caller`.
 * The worker's thread; lock-free, except callbacks.
 */

HAFT_INTERNAL
haft_status worker_reserve(haft_worker *worker, haft_id *id, void **object, const void *caller);
HAFT_INTERNAL
haft_status worker_insert(haft_worker *worker, const void *object, haft_id *id, const void *caller);

/*
 * After `*status`: whether to try again, now that the clock has been waited for; else `*status` is
 * the answer.  `*turn` counts the tries, from 0 on.  Blocking.
 */
HAFT_INTERNAL bool worker_await_slots(const haft_table *table, haft_status *status, uint64_t *turn);

/*
 * concurrent/table/hand.h - the two batches in a worker's hand; the worker's counts are its
 * positions in them (struct haft_worker_front in haft/detail/table_front.h).
 *
 * A reservation takes a slot and an abort adds one without a change of these counts, so they shift
 * the addresses instead (use_at, free_at).  While a batch is in hand, the count in the batch is 0.
 *
 * All functions: the worker's thread, wait-free.
 *
 * Edges in this file.
 *   OWN   counts that this worker alone writes
 */

/*
 * The bounds of what a call does in place.  In debug builds the worker's members of these names
 * send programs to the calls, so the calls look at the table's.
 */
static inline uint64_t hand_used_from(const haft_worker *worker)
{
    return debug_is_on() ? worker->table->used_from : worker->used_from;
}

static inline uint64_t hand_last_life(const haft_worker *worker)
{
    return debug_is_on() ? worker->table->last_life : worker->last_life;
}

/* --- the filling batch --- */

static inline uint32_t hand_filling_count(const haft_worker *worker)
{
    return (uint32_t)(worker->use_to - load_relaxed(OWN, &worker->counters.inserted));
}

/* The slots to be used, next one first. */
static inline uint32_t *hand_next(const haft_worker *worker)
{
    return haft_front_place(worker->use_at, load_relaxed(OWN, &worker->counters.inserted));
}

/* Take the next slots without counting insertions.  (An insertion's count takes its slot.) */
static inline void hand_take(haft_worker *worker, uint32_t count)
{
    worker->use_at += count * sizeof(uint32_t);
    worker->use_to -= count;
}

/* The batch's slots are to be used next. */
static inline void hand_fill(haft_worker *worker, struct batch *batch)
{
    const uint64_t inserted = load_relaxed(OWN, &worker->counters.inserted);

    worker->filling = batch;
    worker->use_at = (uintptr_t)batch->indices - (uintptr_t)inserted * sizeof(uint32_t);
    worker->use_to = inserted + batch->count;
    batch->count = 0;
}

/* The filling batch with the slots to be used: hand_fill() puts one in its place. */
static inline struct batch *hand_filling(haft_worker *worker)
{
    struct batch *batch = worker->filling;

    batch->count = hand_filling_count(worker);
    memmove(batch->indices, hand_next(worker), batch->count * sizeof batch->indices[0]);
    return batch;
}

/* --- the open batch --- */

/* Where the slot goes that is freed next. */
static inline uint32_t *hand_place(const haft_worker *worker)
{
    return haft_front_place(worker->free_at, load_relaxed(OWN, &worker->counters.freed));
}

static inline uint32_t hand_open_count(const haft_worker *worker)
{
    return (uint32_t)(hand_place(worker) - worker->open->indices);
}

/* Tables whose frees always have more to do than to put a slot into the batch. */
static inline bool hand_always_looks(const haft_table *table)
{
    return table->slots.sites.records != NULL || table->restore_end != HAFT_FIRST_INDEX;
}

/* A free looks further when the open batch gets as many slots as the batch limit. */
static inline void hand_set_look(haft_worker *worker)
{
    const uint64_t freed = load_relaxed(OWN, &worker->counters.freed);
    const uint64_t left = worker->batch_limit - (uint64_t)hand_open_count(worker);

    worker->look_at = hand_always_looks(worker->table) ? 0 : freed + left;
}

/* An empty batch is the open one. */
static inline void hand_open(haft_worker *worker, struct batch *batch)
{
    const uint64_t freed = load_relaxed(OWN, &worker->counters.freed);

    worker->open = batch;
    worker->free_at = (uintptr_t)batch->indices - (uintptr_t)freed * sizeof(uint32_t);
    hand_set_look(worker);
}

/* The open batch with its slots: hand_open() puts one in its place. */
static inline struct batch *hand_opened(haft_worker *worker)
{
    struct batch *batch = worker->open;

    batch->count = hand_open_count(worker);
    return batch;
}

/* The slot goes into the open batch, and the free is counted.  True: look further. */
static inline bool hand_add_freed(haft_worker *worker, uint64_t index)
{
    const uint64_t freed = load_relaxed(OWN, &worker->counters.freed) + 1;

    *hand_place(worker) = (uint32_t)index;
    count_up(&worker->counters.freed, 1);
    return freed >= worker->look_at;
}

/* The slot of a reservation that is given up goes into the open batch.  True: look further. */
static inline bool hand_add_aborted(haft_worker *worker, uint64_t index)
{
    *hand_place(worker) = (uint32_t)index;
    worker->free_at += sizeof(uint32_t);
    worker->look_at -= worker->look_at != 0;
    return load_relaxed(OWN, &worker->counters.freed) >= worker->look_at;
}

/*
 * concurrent/table/life.h - the steps of a slot's life whose order matters, each in one place:
 * single calls, calls of many, and calls without a worker are made of them.
 *
 * Edges in this file.
 *   PUBLISH  life_publish (release) -> life_end (acquire)   object before word, also for the
 *            thread that frees the object
 *   REVIVE   life_give_up (release) -> haft_recycle_exhausted (acquire)   the bytes written into a
 *            slot whose last life is given up
 *   TALLY    life_uncount (release) -> count_restored (acquire)   the count of a free before it
 *   CLAIM    one winner per id: the atomicity of the compare-and-swap in life_end
 *   OWN      only this worker writes the word
 *   RETRY    a first look; the compare-and-swap decides
 */

/* The id of the next life of slot `index`, whose word is `at` and the caller's. */
static inline haft_id life_next_id(const struct slots *slots, const atomic_u64 *at, uint64_t index)
{
    const uint64_t word = slots_begin(slots, load_relaxed(OWN, at));
    const haft_id id = {word_with_index(&slots->format, word, index)};

    return id;
}

/* Reserve slot `index`, which is the caller's, for its next life, `*id`.  Returns its word. */
static inline atomic_u64 *life_reserve(const struct slots *slots, uint64_t index, haft_id *id)
{
    atomic_u64 *word = slots_word(slots, index);

    *id = life_next_id(slots, word, index);
    slots_unpoison(slots, word);
    store_relaxed(OWN, word, word_with_index(&slots->format, id->bits, MARK_RESERVED));
    return word;
}

/* The id is live from now on. */
static inline void life_publish(atomic_u64 *word, haft_id id)
{
    /* Weakened, a reader could match the id and read the object's bytes from before. */
    store_release(PUBLISH, word, id.bits);
}

/* Whether `id` is reserved. */
static inline bool life_is_reserved(const struct slots *slots, haft_id id)
{
    const uint64_t index = word_index(&slots->format, id.bits);

    return load_relaxed(OWN, slots_word(slots, index)) ==
           word_with_index(&slots->format, id.bits, MARK_RESERVED);
}

/*
 * End the life of `id`: true to one of all threads that try.  `*next`: the word that the slot has
 * now; in the last life its generation is 0.
 */
static inline bool life_end(const struct slots *slots, haft_id id, uint64_t *next)
{
    atomic_u64 *word = slots_word(slots, id.bits & slots->view.mask);

    /* A compare-and-swap that must fail would still dirty the line. */
    if (load_relaxed(RETRY, word) != id.bits) {
        return false;
    }
    *next = word_next_life(&slots->format, id.bits, MARK_FREE);
    /* Weakened, the slot's next tenant could be written before the object's first bytes are. */
    return cas_acquire(PUBLISH, word, id.bits, *next);
}

/*
 * The word of a slot that is taken back: free for the life that `word` has the generation of, or
 * exhausted.
 */
static inline uint64_t life_after(const struct slots *slots, uint64_t word)
{
    const struct word_format *format = &slots->format;
    const uint64_t next = slots->wrapped ? word_wrapped(format, word) : word;

    return word_with_index(format, next,
                           word_generation(format, next) == 0 ? MARK_EXHAUSTED : MARK_END);
}

/* A reservation is given up.  False: it was the slot's last life, and the slot is exhausted. */
static inline bool life_give_up(const struct slots *slots, haft_id id)
{
    const struct word_format *format = &slots->format;
    atomic_u64 *word = slots_word(slots, word_index(format, id.bits));
    const uint64_t next = life_after(slots, word_next_life(format, id.bits, MARK_END));

    assert(life_is_reserved(slots, id) && "an id is reserved, and given up once");
    slots_poison(slots, word);
    if (word_index(format, next) == MARK_EXHAUSTED) { /* nothing to take back */
        /* Weakened, a thread that recycles the slot could write before the bytes written here. */
        store_release(REVIVE, word, next);
        return false;
    }
    store_relaxed(OWN, word, next);
    return true;
}

/* An object of slot `index` is no longer counted, in tables that count them one by one. */
static inline void life_uncount(haft_table *table, uint64_t index)
{
    if (index < table->restore_end) {
        /* Weakened, the free could be missed by a thread that sees this. */
        fetch_add_release(TALLY, &table->restored, UINT64_MAX);
    }
}

/*
 * concurrent/table/roster.h - the workers of a table: a list that only grows, newest first.
 *
 *   for (haft_worker *w = roster_first(table); w != NULL; w = w->next)
 *
 * A worker that is closed stays in the roster, with its rings and its extent, until a thread opens
 * or borrows it.  All functions: any thread, lock-free.
 */

HAFT_INTERNAL haft_worker *roster_first(const haft_table *table);

/* How many are open or borrowed. */
HAFT_INTERNAL uint64_t roster_open(const haft_table *table);

/* A new worker in the state `state` of the calling thread; NULL: no memory. */
HAFT_INTERNAL haft_worker *roster_add(haft_table *table, enum worker_state state);

/* The memory of all workers, when no thread has any. */
HAFT_INTERNAL void roster_free(haft_table *table);

/* A worker that was closed, in that state; NULL: there is none. */
HAFT_INTERNAL haft_worker *roster_take_closed(const haft_table *table, enum worker_state state);

/* roster_take_closed(), or else a new worker; NULL: no memory. */
HAFT_INTERNAL haft_worker *roster_take(haft_table *table, enum worker_state state);

/* The worker, which is open, is the calling thread's from now on: it was handed over. */
HAFT_INTERNAL void roster_hand_over(haft_worker *worker);

/* The worker is closed from now on: another thread may have it. */
HAFT_INTERNAL void roster_leave(haft_worker *worker);

/* A snapshot of its state; whether the thread with that number has it open; whether it is the
 * calling thread's, open or borrowed. */
HAFT_INTERNAL enum worker_state worker_state(const haft_worker *worker);
HAFT_INTERNAL bool worker_is_open_by(const haft_worker *worker, uint64_t thread);
HAFT_INTERNAL bool worker_is_own(const haft_worker *worker);

/*
 * The check of each call with a worker in debug builds.  (Not in hooked ones: there it would only
 * be more steps to explore.)
 */
static inline void debug_check(const haft_worker *worker)
{
    (void)worker;
    assert((!debug_is_on() || worker_is_own(worker)) &&
           "only its thread uses a worker, until the worker is closed");
}

/* Set the worker's batch limit. */
HAFT_INTERNAL void worker_set_batch_limit(haft_worker *worker, uint32_t limit);

/*
 * concurrent/table/supply.h - the search for a slot.
 */

/*
 * Up to `most` slots in the filling batch, at least one, for the caller to use: how many in
 * `*count`.  HAFT_OK, or why there are none.  The worker's thread; lock-free, except callbacks.
 */
HAFT_INTERNAL haft_status supply_find(haft_worker *worker, uint64_t most, uint32_t *count);

/* No slot: ask other workers and the clock to release theirs.  HAFT_BUSY, or `fresh`. */
HAFT_INTERNAL haft_status supply_shortage(haft_worker *worker, haft_status fresh);

/* concurrent/table/allocate.c */

/*
 * The way in: reserve, publish, insert.
 *
 * Edges in this file.
 *   OWN   a slot of the filling batch is the worker's until it is published
 */

/* Take a slot. */
static haft_status take_index(haft_worker *worker, uint64_t *index)
{
    uint32_t count;
    const haft_status status = supply_find(worker, 1, &count);

    if (status == HAFT_OK) {
        *index = *hand_next(worker);
        hand_take(worker, 1);
    }
    return status;
}

HAFT_INTERNAL
haft_status worker_reserve(haft_worker *worker, haft_id *id, void **object, const void *caller)
{
    const struct slots *slots = &worker->table->slots;
    uint64_t index;
    const haft_status status = take_index(worker, &index);

    if (status != HAFT_OK) {
        return status;
    }
    atomic_u64 *word = life_reserve(slots, index, id);

    sites_note_birth(&slots->sites, index, caller);
    tally(&worker->counters.reserved, 1);
    if (object != NULL) {
        *object = slots_object(word);
    }
    return HAFT_OK;
}

/* haft_publish() without its checks. */
static inline void publish(haft_worker *worker, haft_id id)
{
    const struct slots *slots = &worker->table->slots;

    count_up(&worker->counters.published, 1);
    life_publish(slots_word(slots, word_index(&slots->format, id.bits)), id);
}

void haft_publish(haft_worker *worker, haft_id id)
{
    debug_check(worker);
    assert(life_is_reserved(&worker->table->slots, id) && "an id is reserved, and published once");

    publish(worker, id);
}

haft_status haft_reserve(haft_worker *worker, haft_id *id, void **object)
{
    debug_check(worker);
    struct haft_front_slot slot;

    if (!haft_worker_front_take(worker, worker->view, hand_used_from(worker), &slot)) {
        return worker_reserve(worker, id, object, CALLER);
    }
    hand_take(worker, 1);
    tally(&worker->counters.reserved, 1);
    store_relaxed(OWN, slot.word, (slot.id.bits & worker->above_index) | MARK_RESERVED);
    *id = slot.id;
    if (object != NULL) {
        *object = slots_object(slot.word);
    }
    return HAFT_OK;
}

/*
 * haft_insert when the filling batch is empty, or the table does not allow the quick way.  Not
 * inlined: its calls would cost haft_insert a stack frame.
 */
HAFT_INTERNAL
__attribute__((noinline)) haft_status worker_insert(haft_worker *worker, const void *object,
                                                    haft_id *id, const void *caller)
{
    void *bytes;
    const haft_status status = worker_reserve(worker, id, &bytes, caller);

    if (status == HAFT_OK) {
        slots_fill(&worker->table->slots, bytes, object);
        publish(worker, *id);
    }
    return status;
}

/* Whether the insertion was done in place. */
static inline bool insert(haft_worker *worker, const void *object, haft_id *id)
{
    struct haft_front_slot slot;

    if (__builtin_expect(object == NULL, 0) ||
        !haft_worker_front_take(worker, worker->view, worker->called_from, &slot)) {
        return false;
    }
    *id = slot.id;
    object_copy_words(slot.word + 1, object, worker->object_size);
    haft_worker_front_put(worker, slot);
    return true;
}

haft_status haft_insert(haft_worker *worker, const void *object, haft_id *id)
{
    debug_check(worker);

    return __builtin_expect(insert(worker, object, id), 1)
               ? HAFT_OK
               : worker_insert(worker, object, id, CALLER);
}

HAFT_INTERNAL bool worker_await_slots(const haft_table *table, haft_status *status, uint64_t *turn)
{
    haft_domain *domain = table->domain;

    if (*status != HAFT_BUSY) {
        return false;
    }
    *status = domain_check_process(domain);
    if (*status == HAFT_OK) {
        *status = haft_domain_wait(domain);
    }
    if (*status == HAFT_OK) {
        pause_in_turn((*turn)++); /* if nothing waits, slots are on their way between workers */
    }
    return *status == HAFT_OK;
}

haft_status haft_reserve_wait(haft_worker *worker, haft_id *id, void **object)
{
    debug_check(worker);
    haft_status status;
    uint64_t turn = 0;

    do {
        status = worker_reserve(worker, id, object, CALLER);
    } while (worker_await_slots(worker->table, &status, &turn));
    return status;
}

haft_status haft_insert_wait(haft_worker *worker, const void *object, haft_id *id)
{
    debug_check(worker);
    haft_status status;
    uint64_t turn = 0;

    do {
        status = insert(worker, object, id) ? HAFT_OK : worker_insert(worker, object, id, CALLER);
    } while (worker_await_slots(worker->table, &status, &turn));
    return status;
}

/*
 * concurrent/table/borrow.h - a worker for one call, by a thread that has none.
 *
 * Its batch limit is 1, as that of each closed or new worker, so it holds nothing back.  It joins
 * no clock, since its thread resolves nothing through it: no call reads its member.  Any thread,
 * lock-free except malloc.
 */

/* A closed worker, or a new one; NULL: no memory. */
HAFT_INTERNAL haft_worker *worker_borrow(haft_table *table);

/*
 * A closed worker of the table with this number; NULL also if that table is closed, or another
 * thread has the registry's lock, for which calls that free and insert may not wait.  None is made:
 * the program's allocator may take any lock, and that of the registry is held here.
 */
HAFT_INTERNAL haft_worker *worker_borrow_closed(uint64_t number);

/* Return it, with nothing in hand. */
HAFT_INTERNAL void worker_return(haft_worker *worker);

/*
 * concurrent/table/retire.h - the way out: free and abort, and the batches they fill.
 *
 * All functions: the worker's thread, lock-free; never allocate, never call back.
 */

/* The batch, whose slots' lives have ended, takes its ticket and waits. */
HAFT_INTERNAL void retire_batch(haft_worker *worker, struct batch *batch);

/* The open batch takes its ticket and waits, if there is anything in it. */
HAFT_INTERNAL void retire_open(haft_worker *worker);

/* Hand all slots that the worker holds on to others. */
HAFT_INTERNAL void retire_hand_on(haft_worker *worker);

/* haft_abort, as called from `caller`. */
HAFT_INTERNAL void worker_abort(haft_worker *worker, haft_id id, const void *caller);

/* What haft_free() does not do in place: a free as called from `caller`. */
HAFT_INTERNAL haft_status worker_free(haft_worker *worker, haft_id id, const void *caller);

/*
 * concurrent/table/tables.h - the shared tables that are open in this process, newest first; under
 * the registry's lock.
 */

/* A table is in the list while its statistics can be taken. */
HAFT_INTERNAL void tables_add(haft_table *table);
HAFT_INTERNAL void tables_remove(haft_table *table);

/* Under the lock: for (t = first_open_table(); t; t = t->next_open). */
HAFT_INTERNAL haft_table *first_open_table(void);

/* concurrent/table/borrow.c */

/* Workers for one call. */

HAFT_INTERNAL haft_worker *worker_borrow(haft_table *table)
{
    return roster_take(table, WORKER_BORROWED);
}

HAFT_INTERNAL haft_worker *worker_borrow_closed(uint64_t number)
{
    haft_worker *worker = NULL;

    if (!registry_try_lock()) {
        return NULL;
    }
    for (haft_table *table = first_open_table(); table != NULL; table = table->next_open) {
        if (table->number == number && !table->is_closing) {
            worker = roster_take_closed(table, WORKER_BORROWED);
        }
    }
    registry_unlock();
    return worker;
}

HAFT_INTERNAL void worker_return(haft_worker *worker)
{
    retire_hand_on(worker);
    roster_leave(worker);
}

/*
 * concurrent/table/census.h - a walk over a whole table: each slot is in exactly one place, and
 * the counters agree.
 */

/*
 * Whether all is right with a table while no call on it is under way; if not, a line on stderr
 * says what.  True if there is no memory for a byte a slot.  Blocking; O(slots ever used).
 */
HAFT_INTERNAL bool census_is_right(const haft_table *table);

/*
 * concurrent/table/fresh.h - slots never used, or not since their memory was released.
 *
 * fresh_give, fresh_take: the worker's thread, lock-free.
 */

/* The worker's extent, which is empty, has `count` slots from `first` on; used before or not. */
HAFT_INTERNAL void fresh_give(haft_worker *worker, uint64_t first, uint64_t count, bool again);

/*
 * Up to `most` fresh slots: how many, from `*first` on.  0 if there are none, with HAFT_FULL or
 * HAFT_NO_MEMORY in `*status`.
 */
HAFT_INTERNAL
uint64_t fresh_take(haft_worker *worker, uint64_t most, uint64_t *first, haft_status *status);

/* Fresh slots in the worker's extent, any thread's: those used before, or those never used. */
HAFT_INTERNAL uint64_t fresh_at_hand(const haft_worker *worker, bool again);

/* The range of these slots: it has no slot whose object the caller knows to be inserted. */
HAFT_INTERNAL haft_range fresh_range(const haft_worker *worker);

/*
 * Have memory now for the slots below `end`, and for the batches they may be in.  HAFT_OK or
 * HAFT_NO_MEMORY.  Any thread, blocking.
 */
HAFT_INTERNAL haft_status fresh_populate(haft_table *table, uint64_t end);

/*
 * concurrent/table/released.h - runs of slots whose memory was released.
 *
 * All functions: any thread, lock-free.
 */

/* A list of runs, from `first` through their links to `last`; their slots, `slots` of them. */
struct run_list {
    uint64_t first;
    uint64_t last;
    uint64_t slots;
};

/* Put runs into the list, to be drawn. */
HAFT_INTERNAL void released_push(haft_table *table, struct run_list runs);

/* Take a run, its words ready: how many slots, from `*first` on; 0 if there is none. */
HAFT_INTERNAL uint64_t released_take(haft_table *table, uint64_t *first);

/* Write into the words of fresh slots of released runs where their next lives begin. */
HAFT_INTERNAL void released_apply_floor(const haft_table *table, uint64_t first, uint64_t count);

/* Whether a run is in the list: then no object is in it that the caller knows to be inserted. */
HAFT_INTERNAL bool released_has(const haft_table *table, uint64_t run);

/*
 * concurrent/table/stats.h - sums of the counters.  Any thread, wait-free, O(workers).
 */

/* The counts that a walk over all slots has found. */
struct stock {
    uint64_t live;
    uint64_t restored; /* live in the restore range */
    uint64_t reserved;
    uint64_t retired;
    uint64_t exhausted;
    uint64_t restore_exhausted;
    uint64_t restore_first_used; /* slots of the range that were ever used */
};

/*
 * The live, reserved, retired and exhausted slots that the counters come to, when no other thread
 * uses the table; the other members are 0.  A wrong counter can make a number negative: it is high
 * then.
 */
HAFT_INTERNAL struct stock stats_stock(const haft_table *table);

/* Set the counters to these.  One thread, when no other uses the table. */
HAFT_INTERNAL void stats_correct(haft_table *table, const struct stock *found);

/*
 * Why `worker` found no slot: HAFT_BUSY if waiting will help, else HAFT_FULL or the answer for
 * `fresh` slots.
 */
HAFT_INTERNAL
haft_status stats_shortage(const haft_table *table, const haft_worker *worker, haft_status fresh);

/*
 * Slots in use that hold no object: they wait, are ready, or in a worker's hands.  Outside the
 * restore range.  Not below the number with the slots in use as the call begins, and the objects of
 * some moment before it returns.
 */
HAFT_INTERNAL uint64_t stats_idle(const haft_table *table);

/* concurrent/table/census.c */

/*
 * The census.
 *
 * First all containers are walked, and each slot in them gets its place; then all slots, and each
 * word must fit its place.  A free slot without a place is lost.
 *
 * Edges in this file.
 *   OWN     no call is under way
 */

/* The places of slots that are in a container. */
enum whereabouts {
    NOWHERE,
    AT_HAND, /* in a filling batch, or ready */
    WAITING, /* in an open batch, or one that waits */
    FRESH,   /* in an extent, a released run, or the list of a local table */
    LISTED,  /* in the table's lists */
    PLACE_COUNT
};

struct census {
    const haft_table *table;
    uint8_t *places; /* of each slot */
    uint64_t live;
    uint64_t restored; /* live in the restore range */
    uint64_t reserved;
    uint64_t exhausted;
    uint64_t retired;
    uint64_t batches; /* descriptors met */
    bool is_right;
};

static __attribute__((format(printf, 2, 3))) void object(struct census *census, const char *format,
                                                         ...)
{
    char line[400]; /* a longer name cuts the text */
    struct text text = text_in(line, sizeof line);
    va_list arguments;

    census->is_right = false;
    text_add(&text, "%s: census: ", census->table->name);
    va_start(arguments, format);
    text_add_list(&text, format, arguments);
    va_end(arguments);
    os_print(line);
}

/* --- containers --- */

static void place_slot(struct census *census, uint64_t index, enum whereabouts place)
{
    if (index < HAFT_FIRST_INDEX || index >= census->table->slots.limit) {
        object(census, "index %" PRIu64 " is none of a slot", index);
    } else if (census->places[index] != NOWHERE) {
        object(census, "slot %" PRIu64 " is in two places", index);
    } else {
        census->places[index] = (uint8_t)place;
        census->retired += place == WAITING || place == LISTED;
    }
}

/* The slots of a batch, which are its indices from `from` on. */
static void place_slots(struct census *census, const struct batch *batch, const uint32_t *from,
                        uint32_t count, enum whereabouts place)
{
    const uint64_t first = ((uintptr_t)from - (uintptr_t)batch->indices) / sizeof *from;

    census->batches++;
    if (first + count > BATCH_SLOTS) {
        object(census, "batch %" PRIu64 " has %" PRIu32 " slots from its slot %" PRIu64 " on",
               batch->number, count, first);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        place_slot(census, from[i], place);
    }
}

static void place_batch(struct census *census, const struct batch *batch, enum whereabouts place)
{
    place_slots(census, batch, batch->indices, batch->count, place);
}

static void put_ring(struct census *census, const struct ring *ring, enum whereabouts place)
{
    const uint64_t tail = load_relaxed(OWN, &ring->tail);

    for (uint64_t i = load_relaxed(OWN, &ring->head); i != tail; i++) {
        const uint64_t number = load_relaxed(OWN, &ring->cells[i % RING_BATCHES]);

        place_batch(census, pool_batch(&census->table->pool, number), place);
    }
}

static void put_depot(struct census *census, const struct depot *depot, enum whereabouts place)
{
    const struct pool *pool = &census->table->pool;
    const struct batch *node = pool_batch(pool, tagged_number(load_relaxed(OWN, &depot->head)));
    uint64_t next;

    census->batches++; /* the node before the first */
    while ((next = tagged_number(load_relaxed(OWN, &node->node_next))) != NUMBER_NONE) {
        node = pool_batch(pool, next);
        place_batch(census, pool_batch(pool, load_relaxed(OWN, &node->node_batch)), place);
    }
}

static void put_range(struct census *census, haft_range range)
{
    for (uint64_t index = range.from; index < range.to; index++) {
        place_slot(census, index, FRESH);
    }
}

static void put_worker(struct census *census, const haft_worker *worker)
{
    asan_unpoison(worker, sizeof *worker);
    place_slots(census, worker->filling, hand_next(worker), hand_filling_count(worker), AT_HAND);
    place_slots(census, worker->open, worker->open->indices, hand_open_count(worker), WAITING);
    put_ring(census, &worker->ready, AT_HAND);
    put_ring(census, &worker->waiting, WAITING);
    put_range(census, fresh_range(worker));
    census->batches += worker->spare_count;
}

static void put_released(struct census *census)
{
    const struct runs *runs = &census->table->slots.runs;
    uint64_t run = tagged_number(load_relaxed(OWN, &census->table->released.head));

    while (run != NUMBER_NONE) {
        put_range(census, HAFT_RANGE(runs_first(runs, run), runs_end(runs, run)));
        run = tagged_number(runs_link(runs, run)); /* RUN_LAST ends as NUMBER_NONE */
    }
}

/* A list through the words, from slot `index` to one whose index field is a mark. */
static void put_list(struct census *census, uint64_t index, enum whereabouts place)
{
    const struct slots *slots = &census->table->slots;

    while (index >= HAFT_FIRST_INDEX && index < slots->limit) {
        place_slot(census, index, place);
        index = word_index(&slots->format, load_relaxed(OWN, slots_word(slots, index)));
    }
}

static void put_lists(struct census *census)
{
    const haft_table *table = census->table;

    put_list(census, load_relaxed(OWN, &table->legacy.listed), FRESH);
    for (int kind = 0; kind < LIST_COUNT; kind++) {
        put_list(census, tagged_number(load_relaxed(OWN, &table->lists[kind].head)), LISTED);
    }
}

/* --- slots --- */

/* A slot that is neither live, reserved nor exhausted. */
static void check_free(struct census *census, uint64_t index, uint64_t word, enum whereabouts place)
{
    const haft_table *table = census->table;
    const struct slots *slots = &table->slots;
    const uint64_t mark = word_index(&slots->format, word);
    const bool is_retired = word != 0 && mark == MARK_FREE;

    if (place != NOWHERE || (index < table->restore_end && !is_retired)) {
        return;
    }
    if (is_retired && slots->has_pins &&
        load_relaxed(OWN, slots_pins(slots, slots_word(slots, index))) > PIN_TAKEN) {
        census->retired++; /* its last unpin will take it back */
        return;
    }
    object(census, "slot %" PRIu64 " is lost (word %#" PRIx64 ")", index, word);
}

static void check_whereabouts(struct census *census, uint64_t index)
{
    const haft_table *table = census->table;
    const struct slots *slots = &table->slots;
    const uint64_t word = load_relaxed(OWN, slots_word(slots, index));
    const uint64_t mark = word_index(&slots->format, word);
    const enum whereabouts place = (enum whereabouts)census->places[index];
    const bool is_used =
        word != 0 && (mark == index || mark == MARK_RESERVED || mark == MARK_EXHAUSTED);

    census->live += mark == index;
    census->restored += mark == index && index < table->restore_end;
    census->reserved += mark == MARK_RESERVED;
    census->exhausted += mark == MARK_EXHAUSTED;
    if (!is_used) {
        check_free(census, index, word, place);
    } else if (place != NOWHERE) {
        object(census, "slot %" PRIu64 " is in use and in a container (word %#" PRIx64 ")", index,
               word);
    }
}

/* --- counters --- */

static void check_count(struct census *census, const char *what, uint64_t counted, uint64_t found)
{
    if (counted != found) {
        object(census, "%" PRId64 " %s are counted, %" PRIu64 " found", (int64_t)counted, what,
               found);
    }
}

static void check_counters(struct census *census)
{
    const haft_table *table = census->table;
    const struct stock stock = stats_stock(table);

    check_count(census, "live slots", stock.live, census->live);
    check_count(census, "reserved slots", stock.reserved, census->reserved);
    check_count(census, "retired slots", stock.retired, census->retired);
    check_count(census, "exhausted slots", stock.exhausted, census->exhausted);
    check_count(census, "restored objects", load_relaxed(OWN, &table->restored), census->restored);
}

static void check_descriptors(struct census *census)
{
    const struct pool *pool = &census->table->pool;

    check_count(census, "batch descriptors", pool_handed_out(pool),
                census->batches + pool_unused(pool));
}

HAFT_INTERNAL bool census_is_right(const haft_table *table)
{
    struct census census = {.table = table, .is_right = true};
    const uint64_t end = load_relaxed(OWN, &table->fresh);

    census.places = calloc((size_t)table->slots.limit, 1);
    if (census.places == NULL) {
        return true;
    }
    for (const haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        put_worker(&census, worker);
    }
    put_depot(&census, &table->ready, AT_HAND);
    put_depot(&census, &table->waiting, WAITING);
    put_released(&census);
    put_lists(&census);
    for (uint64_t index = HAFT_FIRST_INDEX; index < end; index++) {
        check_whereabouts(&census, index);
    }
    check_counters(&census);
    check_descriptors(&census);
    free(census.places);
    return census.is_right;
}

/* concurrent/table/fresh.c */

/*
 * Fresh slots: never used, or not since their memory was released; handed out in extents.
 *
 * A worker draws an extent from the table and takes its batches from there, so that the slots of
 * one thread lie together (tuning.h).  Extents are not private: any worker may steal from them.
 *
 * Only the owner fills an extent, when it is empty and so no other compare-and-swap can succeed.
 *
 * Edges in this file.
 *   EXTENT  fresh_give (release) -> take_from_extent, fresh_at_hand (acquire)
 *           the bump above a slot before its use, and before the slot counts as fresh
 *   ONWARD  slots leave an extent before they are used, and none with an object comes into one
 *   RETRY   a first look; the compare-and-swap decides.  The memory needs no order: no thread has
 *           touched it
 */

/*
 * An extent in one word: the first slot in the upper half, how many in the lower, and a flag: they
 * have been used before.
 */
#define AGAIN (UINT64_C(1) << 31)

static uint64_t extent_of(uint64_t first, uint64_t count, uint64_t flag)
{
    return first << 32 | flag | count;
}

static uint64_t extent_first(uint64_t extent)
{
    return extent >> 32;
}

static uint64_t extent_count(uint64_t extent)
{
    return extent & (AGAIN - 1);
}

HAFT_INTERNAL uint64_t fresh_at_hand(const haft_worker *worker, bool again)
{
    /* Weakened, slots of an extent could count as fresh, and not as drawn. */
    const uint64_t extent = load_acquire(EXTENT, &worker->extent);

    return again == ((extent & AGAIN) != 0) ? extent_count(extent) : 0;
}

HAFT_INTERNAL haft_range fresh_range(const haft_worker *worker)
{
    const uint64_t extent = load_relaxed(ONWARD, &worker->extent);

    return HAFT_RANGE(extent_first(extent), extent_first(extent) + extent_count(extent));
}

/* Up to `most` slots from an extent, to a multiple of `most`: how many, from `*first` on. */
static uint64_t take_from_extent(atomic_u64 *extent, uint64_t most, uint64_t *first)
{
    for (;;) {
        const uint64_t before = load_relaxed(RETRY, extent);
        const uint64_t count = extent_count(before);

        *first = extent_first(before);
        const uint64_t aligned = most - *first % most;
        const uint64_t taken = count < aligned ? count : aligned;

        if (taken == 0 ||
            /* Weakened, a scan could end below the slots that this worker has from another's. */
            cas_acquire(EXTENT, extent, before,
                        extent_of(*first + taken, count - taken, before & AGAIN))) {
            return taken;
        }
    }
}

/* The descriptors of all batches that the slots below `end` may be in. */
static uint64_t batches_for(const haft_table *table, uint64_t end)
{
    return end / table->batch_max + DEPOT_NODES;
}

/* Memory for the slots below `end`, and for the batches they may be in. */
static haft_status commit(haft_table *table, uint64_t end)
{
    const haft_status status = slots_commit(&table->slots, end);

    return status != HAFT_OK ? status : pool_commit(&table->pool, batches_for(table, end));
}

HAFT_INTERNAL haft_status fresh_populate(haft_table *table, uint64_t end)
{
    haft_status status = commit(table, end);

    if (status == HAFT_OK) {
        status = slots_populate(&table->slots, 0, end);
    }
    return status != HAFT_OK ? status : pool_populate(&table->pool, batches_for(table, end));
}

HAFT_INTERNAL void fresh_give(haft_worker *worker, uint64_t first, uint64_t count, bool again)
{
    store_release(EXTENT, &worker->extent, extent_of(first, count, again ? AGAIN : 0));
}

/* A new extent for the worker, whose own is empty.  HAFT_OK, HAFT_FULL or HAFT_NO_MEMORY. */
static haft_status draw(haft_worker *worker)
{
    haft_table *table = worker->table;
    const uint64_t most = table->extent_slots;
    uint64_t run;
    const uint64_t run_slots = released_take(table, &run);

    if (run_slots != 0) {
        fresh_give(worker, run, run_slots, true);
        return HAFT_OK;
    }

    for (;;) {
        const uint64_t first = load_relaxed(RETRY, &table->fresh);
        const uint64_t left = table->slots.limit - first;
        const uint64_t aligned = most - first % most;
        const uint64_t drawn = left < aligned ? left : aligned;

        if (drawn == 0) {
            return HAFT_FULL;
        }
        const haft_status status = commit(table, first + drawn);

        if (status != HAFT_OK) {
            return status;
        }
        if (cas_relaxed(RETRY, &table->fresh, first, first + drawn)) {
            fresh_give(worker, first, drawn, false);
            return HAFT_OK;
        }
    }
}

/* Take from the extents of others, open or closed. */
static uint64_t steal(haft_worker *worker, uint64_t most, uint64_t *first)
{
    uint64_t taken = 0;

    for (haft_worker *other = roster_first(worker->table); other != NULL && taken == 0;
         other = other->next) {
        taken = take_from_extent(&other->extent, most, first);
    }
    /* The worker that drew them committed the memory; this load acquires that. */
    commit(worker->table, *first + taken);
    return taken;
}

HAFT_INTERNAL
uint64_t fresh_take(haft_worker *worker, uint64_t most, uint64_t *first, haft_status *status)
{
    uint64_t taken;

    *status = HAFT_OK;
    while ((taken = take_from_extent(&worker->extent, most, first)) == 0) {
        *status = draw(worker);
        if (*status != HAFT_OK) {
            return steal(worker, most, first);
        }
    }
    return taken;
}

/*
 * concurrent/table/reclaim.h - taking slots back after their grace period.
 */

#define REFUSALS_MOST 8 /* remembered in one call; of more, the first ones */

/* A search that found nothing inside a callback. */
struct refusal {
    uint64_t table; /* its number */
    haft_worker *worker;
    bool is_open; /* not served yet */
};

/*
 * A call that takes slots back: those that are due when it begins, and for each batch of them a due
 * batch of each table that has refused slots to the callbacks.  No batch is given a ticket that is
 * done, so each take-back leaves fewer of them, and the call returns, whatever callbacks free.
 */
struct reclaim_call {
    uint64_t done; /* the highest ticket done when the call began */
    struct refusal refusals[REFUSALS_MOST];
    unsigned refused;
};

/* The call begins; it may take back for this worker's table. */
HAFT_INTERNAL void reclaim_begin(struct reclaim_call *call, const haft_worker *worker);

/*
 * Take back the slots of a batch that is due; those that may be used again are ready for any
 * worker.  Then a due batch of each table that has refused slots to the callbacks.  The worker's
 * thread, outside callbacks; lock-free, except on_reclaim.
 */
HAFT_INTERNAL
void reclaim_batch(haft_worker *worker, struct reclaim_call *call, struct batch *source);

/*
 * reclaim_batch() for tables whose callback does not run, also inside callbacks of other tables.
 * The batch stays the caller's, with the slots that may be used again.
 */
HAFT_INTERNAL void reclaim_quietly(haft_worker *worker, struct batch *batch);

/*
 * Inside a callback: the batch that takes the slots taken back so far, if it has any and is of this
 * table; else NULL.
 */
HAFT_INTERNAL struct batch *reclaim_destination(const haft_table *table);

/*
 * Inside a callback: a search has found nothing.  The call takes a due batch of the table back when
 * the callback's batch is done; nothing in a callback outside a take-back (on_stall).  `worker`:
 * NULL if it is a borrowed one.
 */
HAFT_INTERNAL void reclaim_later(const haft_table *table, haft_worker *worker);

/*
 * concurrent/table/gather.h - the slots in the table's lists, as searches and duties collect them.
 *
 * All functions: the worker's thread, lock-free, except on_reclaim.
 */

/* All freed slots take tickets, in batches, and wait. */
HAFT_INTERNAL void gather_freed(haft_worker *worker);

/* Up to a batch of aborted slots, which are ready; NULL: none. */
HAFT_INTERNAL struct batch *gather_aborted(haft_worker *worker);

/* Up to a batch of unpinned slots, which are due; NULL: none. */
HAFT_INTERNAL struct batch *gather_unpinned(haft_worker *worker);

/*
 * Collect from all lists; aborted slots are ready for any worker then, unpinned ones taken back.
 * This and what follows: outside callbacks.
 */
HAFT_INTERNAL void gather_lists(haft_worker *worker, struct reclaim_call *call);

/*
 * gather_lists() until the lists are empty, at most once for each slot of the table: other threads
 * may go on filling them.  True: they had slots.
 */
HAFT_INTERNAL bool gather_all_lists(haft_worker *worker, struct reclaim_call *call);

/* gather_all_lists(), then take back all batches that were due when it began. */
HAFT_INTERNAL void gather_all_due(haft_worker *worker);

/*
 * concurrent/table/lists.h - slots in lists, for calls that have no batch to put them into.
 *
 * The link stands in the index field of a slot's word; the list's last slot has its mark there, so
 * a list of one leaves the word as the free or the abort wrote it.  Any thread may push and pop;
 * both are lock-free, and neither allocates.
 */

/* The mark in a slot's index field outside the list, as the free or the abort wrote it. */
static inline uint64_t list_mark(enum list_kind kind)
{
    return kind == LIST_ABORTED ? MARK_END : MARK_FREE;
}

HAFT_INTERNAL void lists_open(haft_table *table);

/* Slot `index`, whose word is in the state FREE or END and this thread's alone. */
HAFT_INTERNAL void list_push(haft_table *table, enum list_kind kind, uint64_t index);

/* A look, which may be a moment old. */
HAFT_INTERNAL bool list_is_empty(const haft_table *table, enum list_kind kind);

/* Whether any list has a slot. */
HAFT_INTERNAL bool lists_have_slots(const haft_table *table);

/*
 * Move up to `most` slots into the empty `batch`; their words are FREE again, or END in the list of
 * aborted ones.  How many.
 */
HAFT_INTERNAL
uint32_t list_take(haft_table *table, enum list_kind kind, struct batch *batch, uint32_t most);

/*
 * concurrent/table/shelf.h - batches on their way between a worker, the rings and the depots.
 *
 * All functions but the last: the worker's thread, lock-free.  A batch that is handed over is not
 * the caller's any more.
 */

/* An empty batch for this worker; and an empty one back. */
HAFT_INTERNAL struct batch *shelf_empty_batch(haft_worker *worker);
HAFT_INTERNAL void shelf_give_batch(haft_worker *worker, struct batch *batch);

/* The batch waits under its ticket: in the worker's ring, or in the depot. */
HAFT_INTERNAL void shelf_wait(haft_worker *worker, struct batch *batch);

/* The batch may be reused at once: in the worker's ring, or in the depot. */
HAFT_INTERNAL void shelf_ready(haft_worker *worker, struct batch *batch);

/* shelf_ready(), but a full batch goes to the depot: any worker takes it before fresh slots. */
HAFT_INTERNAL void shelf_offer(haft_worker *worker, struct batch *batch);

/*
 * A batch that may be reused at once: the worker's own, or the depot's; or from the rings of other
 * workers, open or closed.  NULL: none.
 */
HAFT_INTERNAL struct batch *shelf_take_ready(haft_worker *worker);
HAFT_INTERNAL struct batch *shelf_steal_ready(haft_worker *worker);

/*
 * A batch that is due, with a ticket up to `done`, which the domain has done: the worker's own, or
 * the depot's; or from the rings of others.  NULL: none.
 */
HAFT_INTERNAL struct batch *shelf_take_due(haft_worker *worker, uint64_t done);
HAFT_INTERNAL struct batch *shelf_steal_due(haft_worker *worker, uint64_t done);

/* Such a batch, the worker's own or the depot's before those of other workers. */
HAFT_INTERNAL struct batch *shelf_find_ready(haft_worker *worker);
HAFT_INTERNAL struct batch *shelf_find_due(haft_worker *worker, uint64_t done);

/* Any batch that waits, when no other thread uses the table.  NULL: none. */
HAFT_INTERNAL struct batch *shelf_take_waiting(haft_worker *worker);

/* concurrent/table/gather.c */

/*
 * The slots in the table's lists, as searches and duties collect them.
 *
 * Edges in this file.
 *   OWN   only this worker has the batch
 */

/* As many as a list can hold: where other threads go on filling one, a look at it has an end. */
static uint64_t most_slots(const haft_table *table)
{
    return table->slots.limit - HAFT_FIRST_INDEX;
}

/* A batch of slots from a list, or NULL. */
static struct batch *take_list(haft_worker *worker, enum list_kind kind)
{
    struct batch *batch;

    if (list_is_empty(worker->table, kind)) {
        return NULL;
    }
    batch = shelf_empty_batch(worker);
    if (list_take(worker->table, kind, batch, worker->table->batch_max) == 0) {
        shelf_give_batch(worker, batch);
        return NULL;
    }
    return batch;
}

/* All of them: with a bound, threads that free more between two looks would fill the table. */
HAFT_INTERNAL void gather_freed(haft_worker *worker)
{
    const uint64_t most = most_slots(worker->table);
    uint64_t taken = 0;
    struct batch *batch;

    while (taken < most && (batch = take_list(worker, LIST_FREED)) != NULL) {
        taken += batch->count;
        retire_batch(worker, batch);
    }
}

/* No reader ever had an id of them. */
HAFT_INTERNAL struct batch *gather_aborted(haft_worker *worker)
{
    struct batch *batch = take_list(worker, LIST_ABORTED);

    if (batch != NULL) {
        count_up(&worker->counters.reclaimed, batch->count);
        store_relaxed(OWN, &batch->ticket, 0);
    }
    return batch;
}

HAFT_INTERNAL struct batch *gather_unpinned(haft_worker *worker)
{
    return take_list(worker, LIST_UNPINNED);
}

HAFT_INTERNAL void gather_lists(haft_worker *worker, struct reclaim_call *call)
{
    struct batch *batch;

    gather_freed(worker);
    batch = gather_aborted(worker);
    if (batch != NULL) {
        shelf_ready(worker, batch);
    }
    /* Each may unpin the next one of a chain. */
    for (int i = 0; i < UNPINNED_MOST && (batch = gather_unpinned(worker)) != NULL; i++) {
        reclaim_batch(worker, call, batch);
    }
}

HAFT_INTERNAL bool gather_all_lists(haft_worker *worker, struct reclaim_call *call)
{
    /* Slots of a chain come one at a time. */
    const uint64_t most = most_slots(worker->table);
    uint64_t looks = 0;

    while (looks < most && lists_have_slots(worker->table)) {
        gather_lists(worker, call);
        looks++;
    }
    return looks != 0;
}

HAFT_INTERNAL void gather_all_due(haft_worker *worker)
{
    struct reclaim_call call;
    struct batch *batch;

    reclaim_begin(&call, worker);
    gather_all_lists(worker, &call);
    while ((batch = shelf_find_due(worker, call.done)) != NULL) {
        reclaim_batch(worker, &call, batch);
    }
}

/*
 * concurrent/table/legacy.h - the free slots of the local table that a shared one was.
 */

/* Up to `most` of them into `indices`: how many.  Lock-free. */
HAFT_INTERNAL uint64_t legacy_take(haft_worker *worker, uint64_t most, uint32_t *indices);

/* concurrent/table/legacy.c */

/*
 * Free slots that a local table has left, in a list through their words.
 *
 * No thread adds to the list.  So an unchanged head means an unchanged list, and a compare-and-swap
 * of the head may cut off all slots that were walked over.
 *
 * Edges in this file.
 *   RETRY   the list's head, and words of slots that were still in the list when they were
 *           read if the compare-and-swap succeeds.  They were written before haft_share()
 */

/* The slots from `first` on in the list: up to `most` of them; the one after them in `*rest`. */
static uint64_t walk(const haft_table *table, uint64_t first, uint64_t most, uint32_t *indices,
                     uint64_t *rest)
{
    const struct slots *slots = &table->slots;
    uint64_t count = 0;

    for (*rest = first; count < most && *rest != MARK_END; count++) {
        indices[count] = (uint32_t)*rest;
        *rest = word_index(&slots->format, load_relaxed(RETRY, slots_word(slots, *rest)));
    }
    return count;
}

HAFT_INTERNAL uint64_t legacy_take(haft_worker *worker, uint64_t most, uint32_t *indices)
{
    haft_table *table = worker->table;
    uint64_t first = load_relaxed(RETRY, &table->legacy.listed);

    while (first != MARK_END) {
        uint64_t rest;
        const uint64_t count = walk(table, first, most, indices, &rest);

        if (cas_relaxed(RETRY, &table->legacy.listed, first, rest)) {
            return count;
        }
        first = load_relaxed(RETRY, &table->legacy.listed);
    }
    return 0;
}

/* concurrent/table/lists.c */

/*
 * Slots in lists.
 *
 * The stack of R. K. Treiber ("Systems programming: coping with parallelism", IBM RJ 5118, 1986),
 * with indices and a tag instead of pointers.
 *
 * Edges in this file.
 *   LIST    list_push (release) -> list_take (acquire)   the free, or the abort, of a slot before
 *           its ticket or its next life; the words of the slots behind it
 *   OWN     the slot is this thread's: not in the list yet, or not any more
 *   HINT    whether a list is empty: a slot that is missed is found at the next look
 *   RETRY   a first look; the compare-and-swap decides
 */

HAFT_INTERNAL void lists_open(haft_table *table)
{
    for (int kind = 0; kind < LIST_COUNT; kind++) {
        store_relaxed(OWN, &table->lists[kind].head, NUMBER_NONE);
    }
}

HAFT_INTERNAL void list_push(haft_table *table, enum list_kind kind, uint64_t index)
{
    const struct word_format *format = &table->slots.format;
    atomic_u64 *at = slots_word(&table->slots, index);
    const uint64_t word = load_relaxed(OWN, at);
    atomic_u64 *head = &table->lists[kind].head;
    uint64_t before;

    do {
        before = load_relaxed(RETRY, head);
        const uint64_t next = tagged_number(before);

        store_relaxed(OWN, at,
                      word_with_index(format, word, next == NUMBER_NONE ? list_mark(kind) : next));
        /* Weakened, the slot's ticket could be taken before the free that it stands for. */
    } while (!cas_release(LIST, head, before, tagged_next(before, index)));
}

HAFT_INTERNAL bool list_is_empty(const haft_table *table, enum list_kind kind)
{
    return tagged_number(load_relaxed(HINT, &table->lists[kind].head)) == NUMBER_NONE;
}

HAFT_INTERNAL bool lists_have_slots(const haft_table *table)
{
    bool found = false;

    for (int kind = 0; kind < LIST_COUNT; kind++) {
        found = found || !list_is_empty(table, (enum list_kind)kind);
    }
    return found;
}

/* The index of a slot that is this thread's now, or NUMBER_NONE. */
static uint64_t pop_slot(haft_table *table, enum list_kind kind)
{
    const struct slots *slots = &table->slots;
    atomic_u64 *head = &table->lists[kind].head;

    for (;;) {
        /* Weakened, a slot could be written again before its list's pushers are done with it. */
        const uint64_t before = load_acquire(LIST, head);
        const uint64_t index = tagged_number(before);

        if (index == NUMBER_NONE) {
            return NUMBER_NONE;
        }
        /* If another thread has the slot, the tag has changed. */
        const uint64_t link =
            word_index(&slots->format, load_relaxed(RETRY, slots_word(slots, index)));
        const uint64_t next = link < HAFT_FIRST_INDEX ? NUMBER_NONE : link;

        if (cas_relaxed(RETRY, head, before, tagged_next(before, next))) {
            return index;
        }
    }
}

HAFT_INTERNAL
uint32_t list_take(haft_table *table, enum list_kind kind, struct batch *batch, uint32_t most)
{
    const struct slots *slots = &table->slots;
    uint64_t index;

    while (batch->count < most && (index = pop_slot(table, kind)) != NUMBER_NONE) {
        atomic_u64 *at = slots_word(slots, index);
        const uint64_t word = load_relaxed(OWN, at);

        store_relaxed(OWN, at, word_with_index(&slots->format, word, list_mark(kind)));
        if (kind == LIST_UNPINNED) {
            store_relaxed(OWN, slots_pins(slots, at), 0);
        }
        batch->has_last_lives = batch->has_last_lives || word_generation(&slots->format, word) == 0;
        batch->indices[batch->count++] = (uint32_t)index;
    }
    return batch->count;
}

/* concurrent/table/reclaim.c */

/*
 * The way back: a slot between its grace period and its next life.
 *
 * A thread takes one batch back at a time: the source is detached, so no other call finds it, and
 * the slots that survive go into another batch, the destination.  A callback may use any worker
 * meanwhile; it finds the slots of the destination, and never those of the source.
 *
 * Edges in this file.
 *   PIN     haft_unpin (release) -> is_pinned (acquire): the use of the object before the reuse of
 *           its memory; is_pinned (release) -> haft_unpin (acquire): the grace period before it
 *   REVIVE  sift (release) -> haft_restore, haft_recycle_exhausted (acquire)
 *           the object's last use, before the slot is taken by its word alone
 *   OWN     this worker has the batch, and so the words of its slots
 */

/* The batch that the calling thread takes back. */
static _Thread_local struct taking {
    const haft_table *table; /* NULL: nothing */
    struct batch *destination;
    struct reclaim_call *call;
} taking;

/* Whether pins keep the slot from being taken back: then the last unpin puts it into a list. */
static bool is_pinned(const haft_table *table, atomic_u64 *at)
{
    atomic_u64 *pins = slots_pins(&table->slots, at);

    /* Weakened, the slot could be written again before the last use under a pin. */
    if (fetch_or_acq_rel(PIN, pins, PIN_TAKEN) != 0) {
        return true;
    }
    store_relaxed(OWN, pins, 0);
    return false;
}

static void call_back(haft_worker *worker, uint64_t index, atomic_u64 *at, uint64_t word)
{
    const haft_table *table = worker->table;
    const haft_id id = word_last_life(&table->slots.format, word, index);

    store_relaxed(OWN, &worker->in_hand, id.bits); /* until the word says the same */
    callback_begin();
    /* NULL tells a callback that the table closes: it need not insert further objects. */
    table->on_reclaim(slots_object(at), id, table->is_closing ? NULL : worker, table->reclaim_arg);
    callback_end();
}

/* One retired slot.  True if it may be used again: not pinned, exhausted, or set aside. */
static bool sift(haft_worker *worker, uint64_t index)
{
    const haft_table *table = worker->table;
    const struct word_format *format = &table->slots.format;
    atomic_u64 *at = slots_word(&table->slots, index);
    const uint64_t word = load_relaxed(OWN, at);

    if (word_index(format, word) != MARK_FREE) { /* given up before it was live */
        count_up(&worker->counters.reclaimed, 1);
        return true;
    }
    if (table->slots.has_pins && is_pinned(table, at)) {
        return false;
    }
    if (table->on_reclaim != NULL) {
        call_back(worker, index, at, word);
    }
    const uint64_t next = life_after(&table->slots, word);
    const bool is_last = word_index(format, next) == MARK_EXHAUSTED;
    const bool is_aside = index < table->restore_end;

    count_up(&worker->counters.reclaimed, 1);
    /* Weakened, the slot could count twice: its life would not have ended, and it be exhausted. */
    tally(is_aside ? &worker->counters.restore_exhausted : &worker->counters.exhausted, is_last);
    slots_poison(&table->slots, at);
    /* Weakened, a restored object could be written before the last use of the one before. */
    store_release(REVIVE, at, next);
    if (table->on_reclaim != NULL) {
        store_relaxed(OWN, &worker->in_hand, 0);
    }
    return !is_last && !is_aside;
}

HAFT_INTERNAL void reclaim_quietly(haft_worker *worker, struct batch *batch)
{
    const uint32_t count = batch->count;

    store_relaxed(OWN, &batch->ticket, 0);
    if (!worker->table->sifts && !batch->has_last_lives) {
        count_up(&worker->counters.reclaimed, count);
        return;
    }
    batch->count = 0;
    batch->has_last_lives = false;
    for (uint32_t i = 0; i < count; i++) {
        if (sift(worker, batch->indices[i])) {
            batch->indices[batch->count++] = batch->indices[i];
        }
    }
}

static void call_back_for(haft_worker *worker, struct reclaim_call *call, struct batch *source)
{
    struct batch *destination = shelf_empty_batch(worker);

    taking = (struct taking){worker->table, destination, call};
    for (uint32_t i = 0; i < source->count; i++) {
        if (sift(worker, source->indices[i])) {
            destination->indices[destination->count++] = source->indices[i];
        }
    }
    taking.table = NULL;
    source->count = 0;
    shelf_give_batch(worker, source);
    shelf_ready(worker, destination);
}

static void take_back(haft_worker *worker, struct reclaim_call *call, struct batch *source)
{
    if (worker->table->on_reclaim != NULL) {
        call_back_for(worker, call, source);
    } else {
        reclaim_quietly(worker, source);
        shelf_ready(worker, source);
    }
}

static void take_due_batch(haft_worker *worker, struct reclaim_call *call)
{
    struct batch *batch = shelf_find_due(worker, domain_done(worker->table->domain));

    if (batch != NULL) {
        take_back(worker, call, batch);
    }
}

static void serve(struct reclaim_call *call, const struct refusal *refusal)
{
    if (refusal->worker != NULL) {
        take_due_batch(refusal->worker, call);
        return;
    }
    haft_worker *worker = worker_borrow_closed(refusal->table);

    if (worker != NULL) {
        take_due_batch(worker, call);
        worker_return(worker);
    }
}

HAFT_INTERNAL void reclaim_begin(struct reclaim_call *call, const haft_worker *worker)
{
    call->done = domain_done(worker->table->domain);
    call->refused = 0;
}

/* Serves each table once: callbacks that run for one may be refused by another, served or not. */
HAFT_INTERNAL
void reclaim_batch(haft_worker *worker, struct reclaim_call *call, struct batch *source)
{
    take_back(worker, call, source);
    for (unsigned i = 0; i < call->refused; i++) {
        struct refusal *refusal = &call->refusals[i];

        if (refusal->is_open) {
            refusal->is_open = false;
            serve(call, refusal);
        }
    }
}

HAFT_INTERNAL struct batch *reclaim_destination(const haft_table *table)
{
    return taking.table == table && taking.destination->count != 0 ? taking.destination : NULL;
}

/* The call's refusal by this table, or a new one; NULL: no room. */
static struct refusal *refusal_by(struct reclaim_call *call, const haft_table *table,
                                  haft_worker *worker)
{
    for (unsigned i = 0; i < call->refused; i++) {
        if (call->refusals[i].table == table->number) {
            return &call->refusals[i];
        }
    }
    if (call->refused == REFUSALS_MOST) {
        return NULL;
    }
    struct refusal *added = &call->refusals[call->refused++];

    *added = (struct refusal){table->number, worker, false};
    return added;
}

HAFT_INTERNAL void reclaim_later(const haft_table *table, haft_worker *worker)
{
    if (taking.table == NULL) {
        return; /* a callback outside: by the next take-back its worker may be closed */
    }
    struct refusal *refusal = refusal_by(taking.call, table, worker);

    if (refusal != NULL) {
        refusal->is_open = true;
    }
}

/* concurrent/table/released.c */

/*
 * Runs whose memory was released: a stack through the links of their records (lib/slots/runs.h).
 *
 * haft_trim() adds runs all of whose slots it has taken out of batches; a local table that was
 * trimmed brings some.  A worker that draws fresh slots takes a run before it raises the table's
 * bump.  The head has a tag, since a run may leave the list and come back.
 *
 * Edges in this file.
 *   FLOOR   released_push (release) -> released_take (acquire)   the floor, and the last use of
 *           the run's slots, before the next one
 *   ONWARD  a run leaves the list before its slots are used, and comes into it when no object is
 *           left there
 *   OWN     the run is this thread's alone
 *   COUNT   slots in the list
 *   RETRY   a first look; the compare-and-swap decides
 */

HAFT_INTERNAL void released_push(haft_table *table, struct run_list runs)
{
    struct released *list = &table->released;
    uint64_t head;

    fetch_add_relaxed(COUNT, &list->slots, runs.slots);
    do {
        head = load_relaxed(RETRY, &list->head);
        const uint64_t next = tagged_number(head);

        runs_set_link(&table->slots.runs, runs.last, next == NUMBER_NONE ? RUN_LAST : next);
        /* Weakened, slots could begin below their floor: ids from before would live again. */
    } while (!cas_release(FLOOR, &list->head, head, tagged_next(head, runs.first)));
}

/* The number of a run that is this thread's now, or NUMBER_NONE. */
static uint64_t pop_run(haft_table *table)
{
    for (;;) {
        const uint64_t head = load_acquire(FLOOR, &table->released.head);
        const uint64_t run = tagged_number(head);

        if (run == NUMBER_NONE) {
            return NUMBER_NONE;
        }
        /* RUN_LAST ends as NUMBER_NONE.  If another thread has the run, the tag has changed. */
        const uint64_t next = load_relaxed(RETRY, &table->slots.runs.records[run].link);

        if (cas_relaxed(RETRY, &table->released.head, head,
                        tagged_next(head, tagged_number(next)))) {
            return run;
        }
    }
}

HAFT_INTERNAL void released_apply_floor(const haft_table *table, uint64_t first, uint64_t count)
{
    const struct slots *slots = &table->slots;

    for (uint64_t index = first; index < first + count; index++) {
        store_relaxed(OWN, slots_word(slots, index), slots_begin_at(slots, index, 0));
    }
}

HAFT_INTERNAL uint64_t released_take(haft_table *table, uint64_t *first)
{
    const struct runs *runs = &table->slots.runs;
    const uint64_t run = pop_run(table);

    if (run == NUMBER_NONE) {
        return 0;
    }
    const uint64_t count = runs_end(runs, run) - runs_first(runs, run);

    runs_set_link(runs, run, RUN_IN_USE);
    fetch_add_relaxed(COUNT, &table->released.slots, UINT64_MAX - count + 1);
    *first = runs_first(runs, run);
    /* Now, so that reserving need not look the floor up. */
    released_apply_floor(table, *first, count);
    return count;
}

HAFT_INTERNAL bool released_has(const haft_table *table, uint64_t run)
{
    const struct runs *runs = &table->slots.runs;

    return !runs->stay && load_relaxed(ONWARD, &runs->records[run].link) != RUN_IN_USE;
}

/* concurrent/table/require.c */

/* Required ids that did not resolve in a shared table. */

void *haft_require_failed(const haft_table *table, haft_id id, const void *slots)
{
    assert(slots == table->slots.view.base && "the view is the table's");
    (void)slots;
    for (;;) {
        const haft_status status = haft_diagnose(table, id);

        if (status != HAFT_OK) {
            bad_access(&table->slots, table->name, id, status);
            return NULL;
        }
        /* Published since the caller looked; if it is gone again, its status says so. */
        void *object = haft_resolve(table->slots.view, id);

        if (object != NULL) {
            return object;
        }
    }
}

/* concurrent/table/retire.c */

/*
 * The way out: free and abort, and closing the batches they fill.
 *
 * Edges in this file.
 *   OWN     only this worker has the batch, and a slot that it reserved
 */

static void remember(struct backlog *backlog, uint64_t ticket)
{
    if (backlog->next - backlog->first == CLOSINGS) {
        backlog->first++; /* its slots count with the next closing's, so as not done */
    }
    backlog->closings[backlog->next % CLOSINGS] = (struct closing){ticket, backlog->retired};
    backlog->next++;
}

HAFT_INTERNAL void retire_batch(haft_worker *worker, struct batch *batch)
{
    /* Only now: the ticket stands for every free in the batch. */
    const uint64_t ticket = domain_ticket(worker->table->domain);

    store_relaxed(OWN, &batch->ticket, ticket);
    worker->backlog.retired += batch->count;
    remember(&worker->backlog, ticket);
    shelf_wait(worker, batch);
}

HAFT_INTERNAL void retire_open(haft_worker *worker)
{
    if (hand_open_count(worker) != 0) {
        struct batch *batch = hand_opened(worker);

        hand_open(worker, shelf_empty_batch(worker));
        retire_batch(worker, batch);
    }
}

HAFT_INTERNAL void retire_hand_on(haft_worker *worker)
{
    retire_open(worker);
    if (hand_filling_count(worker) != 0) {
        struct batch *batch = hand_filling(worker);

        hand_fill(worker, shelf_empty_batch(worker));
        shelf_ready(worker, batch);
    }
}

/*
 * The rare steps of a free: the open batch is full, or the table counts its objects one by one, or
 * keeps allocation sites.  Not inlined: it would cost haft_abort a stack frame.
 */
static __attribute__((noinline)) void look_further(haft_worker *worker, uint64_t index,
                                                   const void *caller)
{
    haft_table *table = worker->table;

    sites_note_death(&table->slots.sites, index, caller);
    life_uncount(table, index);
    if (hand_open_count(worker) >= worker->batch_limit) {
        retire_open(worker);
    }
}

/* The answer of a free to an id that was not live when it looked; counted. */
static haft_status refuse(haft_worker *worker, haft_id id)
{
    const haft_status status = slots_diagnose(&worker->table->slots, id);

    count_up(&worker->counters.refused_frees, 1);
    return status == HAFT_OK ? HAFT_RESERVED : status; /* published since */
}

/* Not inlined: it would cost haft_free a stack frame. */
HAFT_INTERNAL __attribute__((noinline)) haft_status worker_free(haft_worker *worker, haft_id id,
                                                                const void *caller)
{
    const struct slots *slots = &worker->table->slots;
    const uint64_t index = id.bits & slots->view.mask;
    uint64_t next;

    if (!life_end(slots, id, &next)) {
        return refuse(worker, id);
    }
    if (word_generation(&slots->format, next) == 0) {
        worker->open->has_last_lives = true;
    }
    if (hand_add_freed(worker, index)) {
        look_further(worker, index, caller);
    }
    return HAFT_OK;
}

haft_status haft_free(haft_worker *worker, haft_id id)
{
    debug_check(worker);

    if (haft_worker_front_free(worker, worker->view, hand_last_life(worker), id)) {
        return HAFT_OK;
    }
    return worker_free(worker, id, CALLER);
}

HAFT_INTERNAL
__attribute__((noinline)) void worker_abort(haft_worker *worker, haft_id id, const void *caller)
{
    haft_table *table = worker->table;
    const uint64_t index = word_index(&table->slots.format, id.bits);

    count_up(&worker->counters.aborted, 1);
    if (!life_give_up(&table->slots, id)) {
        sites_note_death(&table->slots.sites, index, caller);
        count_up(&worker->counters.reclaimed, 1);
        life_uncount(table, index); /* first: at no moment is it in use twice */
        tally(&worker->counters.exhausted, 1);
    } else if (hand_add_aborted(worker, index)) {
        look_further(worker, index, caller);
    }
}

/* In place, as haft_worker_front_free(): not a last life, and no more to do than for the slot. */
static inline void abort_here(haft_worker *worker, haft_id id, const void *caller)
{
    const uint64_t index = id.bits & worker->view.mask;
    atomic_u64 *word = (atomic_u64 *)(void *)(worker->view.base + index * worker->view.stride);

    assert(life_is_reserved(&worker->table->slots, id) && "an id is reserved, and given up once");
    count_up(&worker->counters.aborted, 1);
    store_relaxed(OWN, word, id.bits - index - worker->above_index + MARK_END);
    if (hand_add_aborted(worker, index)) {
        look_further(worker, index, caller);
    }
}

void haft_abort(haft_worker *worker, haft_id id)
{
    debug_check(worker);

    if (id.bits < hand_last_life(worker)) {
        abort_here(worker, id, CALLER);
    } else {
        worker_abort(worker, id, CALLER);
    }
}

/* concurrent/table/roster.c */

/*
 * The roster: a table's workers.
 *
 * Edges in this file.
 *   ROSTER  roster_add (release)   -> roster_first (acquire)   a worker's set-up
 *   ADOPT   roster_leave (release) -> roster_take_closed, worker_state (acquire)   its last state,
 *           to the thread that has it next, or that closes the table
 *   OWN     before others can find the worker; a thread's own state
 *   RETRY   a first look; the compare-and-swap decides
 */

#define STATE_MASK ((UINT64_C(1) << STATE_BITS) - 1)

/* What programs work with, in place. */
#define IN_FRONT(member, of)                                                                       \
    (offsetof(struct haft_worker_front, member) == offsetof(struct haft_worker, of))

_Static_assert(IN_FRONT(version, version) && IN_FRONT(object_size, object_size) &&
                   IN_FRONT(above_index, above_index) && IN_FRONT(used_from, used_from) &&
                   IN_FRONT(called_from, called_from) && IN_FRONT(last_life, last_life) &&
                   IN_FRONT(view, view) && IN_FRONT(use_at, use_at) && IN_FRONT(use_to, use_to) &&
                   IN_FRONT(free_at, free_at) && IN_FRONT(look_at, look_at) &&
                   IN_FRONT(inserted, counters.inserted) && IN_FRONT(freed, counters.freed) &&
                   sizeof(struct haft_worker_front) <= 2 * CACHE_LINE,
               "a worker begins with its front");
_Static_assert(HAFT_FRONT_FREE == MARK_FREE, "the mark of a slot that was freed");

HAFT_INTERNAL haft_worker *roster_first(const haft_table *table)
{
    return (haft_worker *)(uintptr_t)load_acquire(ROSTER, &table->roster);
}

static uint64_t own(enum worker_state state)
{
    return state == WORKER_CLOSED ? WORKER_CLOSED : (uint64_t)state | thread_number() << STATE_BITS;
}

HAFT_INTERNAL enum worker_state worker_state(const haft_worker *worker)
{
    /* Weakened, a table could be closed before its workers' last use of it. */
    return (enum worker_state)(load_acquire(ADOPT, &worker->state) & STATE_MASK);
}

HAFT_INTERNAL uint64_t roster_open(const haft_table *table)
{
    uint64_t open = 0;

    for (const haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        open += worker_state(worker) != WORKER_CLOSED;
    }
    return open;
}

HAFT_INTERNAL bool worker_is_open_by(const haft_worker *worker, uint64_t thread)
{
    return load_relaxed(OWN, &worker->state) == (WORKER_OPEN | thread << STATE_BITS);
}

HAFT_INTERNAL bool worker_is_own(const haft_worker *worker)
{
    const uint64_t state = load_relaxed(OWN, &worker->state);

    return state == own(WORKER_OPEN) || state == own(WORKER_BORROWED);
}

HAFT_INTERNAL void worker_set_batch_limit(haft_worker *worker, uint32_t limit)
{
    worker->batch_limit = limit;
    hand_set_look(worker);
}

/* What it takes to insert and free in place, without a call that checks. */
static void set_front(haft_worker *worker)
{
    const haft_table *table = worker->table;

    worker->version = HAFT_TABLE_FRONT;
    worker->used_from = debug_is_on() ? UINT64_MAX : table->used_from;
    worker->called_from = table->is_quick ? table->used_from : UINT64_MAX;
    worker->last_life = debug_is_on() ? 0 : table->last_life;
    worker->above_index = ~table->slots.format.index_mask;
    worker->view = table->slots.view;
    worker->object_size = (uint32_t)table->slots.object_size;
}

static haft_worker *new_worker(haft_table *table)
{
    if (table->given_workers == NULL) {
        return heap_take(&table->slots.heap, sizeof(haft_worker), CACHE_LINE);
    }
    const uint64_t number = take_number(&table->given_used, table->given_count);

    return number != NUMBER_NONE ? &table->given_workers[number] : NULL;
}

/* No byte stays poisoned: the allocator may give the memory out again. */
static void free_worker(const haft_table *table, haft_worker *worker)
{
    asan_unpoison(worker, sizeof *worker);
    if (table->given_workers == NULL) {
        heap_give(&table->slots.heap, worker, sizeof *worker);
    }
}

HAFT_INTERNAL void roster_free(haft_table *table)
{
    for (haft_worker *worker = roster_first(table), *next; worker != NULL; worker = next) {
        next = worker->next;
        free_worker(table, worker);
    }
}

HAFT_INTERNAL haft_worker *roster_add(haft_table *table, enum worker_state state)
{
    haft_worker *worker = new_worker(table);

    if (worker == NULL) {
        return NULL;
    }
    memset(worker, 0, offsetof(struct haft_worker, segment.batches));
    worker->table = table;
    if (pool_add(&table->pool, &worker->segment) != HAFT_OK) {
        free_worker(table, worker);
        return NULL;
    }
    worker->batch_limit = 1;
    hand_fill(worker, pool_take(&table->pool, &worker->segment));
    hand_open(worker, pool_take(&table->pool, &worker->segment));
    set_front(worker);
    store_relaxed(OWN, &worker->state, own(state));
    do {
        worker->next = roster_first(table);
    } while (!cas_release(ROSTER, &table->roster, (uint64_t)(uintptr_t)worker->next,
                          (uint64_t)(uintptr_t)worker));
    return worker;
}

/* AddressSanitizer reports the use of a worker that is closed.  Others look at the rest of it. */
static const struct {
    size_t begin, end;
} private_parts[] = {
    {0, offsetof(struct haft_worker, counters)},
    {offsetof(struct haft_worker, member), offsetof(struct haft_worker, backlog)},
};

static void poison(haft_worker *worker)
{
    for (size_t i = 0; i < 2; i++) {
        asan_poison((char *)worker + private_parts[i].begin,
                    private_parts[i].end - private_parts[i].begin);
    }
}

static void unpoison(haft_worker *worker)
{
    for (size_t i = 0; i < 2; i++) {
        asan_unpoison((char *)worker + private_parts[i].begin,
                      private_parts[i].end - private_parts[i].begin);
    }
}

HAFT_INTERNAL haft_worker *roster_take_closed(const haft_table *table, enum worker_state state)
{
    for (haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        if (load_relaxed(RETRY, &worker->state) == WORKER_CLOSED &&
            cas_acquire(ADOPT, &worker->state, WORKER_CLOSED, own(state))) {
            unpoison(worker);
            return worker;
        }
    }
    return NULL;
}

HAFT_INTERNAL haft_worker *roster_take(haft_table *table, enum worker_state state)
{
    haft_worker *worker = roster_take_closed(table, state);

    return worker != NULL ? worker : roster_add(table, state);
}

HAFT_INTERNAL void roster_hand_over(haft_worker *worker)
{
    assert(worker_state(worker) == WORKER_OPEN && "its thread or set has not closed it");
    store_relaxed(OWN, &worker->state, own(WORKER_OPEN));
}

HAFT_INTERNAL void roster_leave(haft_worker *worker)
{
    worker->is_of_set = false; /* the next to have it may be a thread */
    poison(worker);
    /* Weakened, the next thread could find the batches as they were before. */
    store_release(ADOPT, &worker->state, WORKER_CLOSED);
}

/* concurrent/table/shelf.c */

/*
 * Batches on their way: from a worker to its rings or the depots, and back to some worker.
 *
 * One rule bounds the number of batches: only full ones go to a depot.  If a ring has no room for a
 * partial batch, its oldest batch is put together with the new one.  Slots of a batch whose ticket
 * is done are never put under a ticket that is not.
 *
 * Edges in this file.
 *   OWN   this worker has the batch
 */

HAFT_INTERNAL struct batch *shelf_empty_batch(haft_worker *worker)
{
    if (worker->spare_count == 0) {
        return pool_take(&worker->table->pool, &worker->segment);
    }
    return worker->spares[--worker->spare_count];
}

HAFT_INTERNAL void shelf_give_batch(haft_worker *worker, struct batch *batch)
{
    batch->has_last_lives = false;
    if (worker->spare_count == SPARE_BATCHES) {
        pool_give(&worker->table->pool, batch);
    } else {
        worker->spares[worker->spare_count++] = batch;
    }
}

static void to_depot(haft_worker *worker, struct depot *depot, struct batch *batch)
{
    depot_push(depot, &worker->table->pool, batch);
    count_up(&worker->counters.batches_moved, 1);
}

/* One of a worker's rings, how many batches it may have, and the depot for full batches beyond. */
struct shelf {
    struct ring *ring;
    uint64_t most;
    struct depot *depot;
};

static bool push(const struct shelf *shelf, const struct batch *batch)
{
    return ring_length(shelf->ring) < shelf->most && ring_push(shelf->ring, batch);
}

/*
 * Put the batch and the oldest one of the ring together.  If that makes a full batch, it goes to
 * the depot.  Returns the batch that is still to be pushed.
 */
static struct batch *put_together(haft_worker *worker, const struct shelf *shelf,
                                  struct batch *batch, struct batch *oldest)
{
    batch_move(batch, oldest, worker->table->batch_max);
    if (oldest->count == 0) {
        shelf_give_batch(worker, oldest);
        return batch;
    }
    to_depot(worker, shelf->depot, batch);
    return oldest;
}

/*
 * The oldest batch of a full ring is due, and `batch` waits.  So the oldest goes to the ring's end,
 * and the next one makes room in its place.  (If that one is due too, the two go together.)
 */
static struct batch *pass_over(haft_worker *worker, const struct shelf *shelf, struct batch *due,
                               struct batch *batch, uint64_t done)
{
    struct batch *next = ring_take(shelf->ring, &worker->table->pool, UINT64_MAX);

    if (next == NULL) {
        /* others have emptied the ring meanwhile */
    } else if (load_relaxed(OWN, &next->ticket) <= done) {
        due = put_together(worker, shelf, due, next);
    } else {
        batch = put_together(worker, shelf, batch, next);
    }
    ring_push(shelf->ring, due); /* there is room: two were taken, and only the owner pushes */
    return batch;
}

/* Push the batch to the ring, or to the depot. */
static void put_on_shelf(haft_worker *worker, const struct shelf *shelf, struct batch *batch,
                         uint64_t done)
{
    haft_table *table = worker->table;

    while (!push(shelf, batch)) {
        if (batch->count == table->batch_max) {
            to_depot(worker, shelf->depot, batch);
            return;
        }
        struct batch *oldest = ring_take(shelf->ring, &table->pool, UINT64_MAX);

        if (oldest == NULL) {
            continue; /* others have emptied the ring meanwhile */
        }
        const bool is_due = load_relaxed(OWN, &oldest->ticket) <= done;

        batch = is_due && load_relaxed(OWN, &batch->ticket) > done
                    ? pass_over(worker, shelf, oldest, batch, done)
                    : put_together(worker, shelf, batch, oldest);
    }
}

HAFT_INTERNAL void shelf_wait(haft_worker *worker, struct batch *batch)
{
    const struct shelf shelf = {&worker->waiting, RING_BATCHES, &worker->table->waiting};

    put_on_shelf(worker, &shelf, batch, domain_done(worker->table->domain));
}

HAFT_INTERNAL void shelf_ready(haft_worker *worker, struct batch *batch)
{
    const struct shelf shelf = {&worker->ready, READY_BATCHES, &worker->table->ready};

    store_relaxed(OWN, &batch->ticket, 0);
    if (batch->count == 0) {
        shelf_give_batch(worker, batch);
    } else {
        put_on_shelf(worker, &shelf, batch, 0);
    }
}

HAFT_INTERNAL void shelf_offer(haft_worker *worker, struct batch *batch)
{
    if (batch->count == worker->table->batch_max) {
        store_relaxed(OWN, &batch->ticket, 0);
        to_depot(worker, &worker->table->ready, batch);
    } else {
        shelf_ready(worker, batch);
    }
}

HAFT_INTERNAL struct batch *shelf_take_ready(haft_worker *worker)
{
    haft_table *table = worker->table;
    struct batch *batch = ring_take(&worker->ready, &table->pool, UINT64_MAX);

    if (batch == NULL) {
        batch = depot_take(&table->ready, &table->pool, UINT64_MAX);
        count_up(&worker->counters.batches_moved, batch != NULL);
    }
    return batch;
}

HAFT_INTERNAL struct batch *shelf_take_due(haft_worker *worker, uint64_t done)
{
    haft_table *table = worker->table;
    struct batch *batch = ring_take(&worker->waiting, &table->pool, done);

    if (batch == NULL) {
        batch = depot_take(&table->waiting, &table->pool, done);
        count_up(&worker->counters.batches_moved, batch != NULL);
    }
    return batch;
}

HAFT_INTERNAL struct batch *shelf_steal_ready(haft_worker *worker)
{
    const haft_table *table = worker->table;
    struct batch *batch = NULL;

    for (haft_worker *other = roster_first(table); other != NULL && batch == NULL;
         other = other->next) {
        batch = ring_take(&other->ready, &table->pool, UINT64_MAX);
    }
    count_up(&worker->counters.batches_moved, batch != NULL);
    return batch;
}

HAFT_INTERNAL struct batch *shelf_steal_due(haft_worker *worker, uint64_t done)
{
    const haft_table *table = worker->table;
    struct batch *batch = NULL;

    for (haft_worker *other = roster_first(table); other != NULL && batch == NULL;
         other = other->next) {
        batch = ring_take(&other->waiting, &table->pool, done);
    }
    count_up(&worker->counters.batches_moved, batch != NULL);
    return batch;
}

HAFT_INTERNAL struct batch *shelf_find_ready(haft_worker *worker)
{
    struct batch *batch = shelf_take_ready(worker);

    return batch != NULL ? batch : shelf_steal_ready(worker);
}

HAFT_INTERNAL struct batch *shelf_find_due(haft_worker *worker, uint64_t done)
{
    struct batch *batch = shelf_take_due(worker, done);

    return batch != NULL ? batch : shelf_steal_due(worker, done);
}

HAFT_INTERNAL struct batch *shelf_take_waiting(haft_worker *worker)
{
    haft_table *table = worker->table;
    struct batch *batch = shelf_steal_due(worker, UINT64_MAX);

    return batch != NULL ? batch : depot_take(&table->waiting, &table->pool, UINT64_MAX);
}

/* concurrent/table/stats.c */

/*
 * Statistics: sums over the workers' own counters.
 *
 * Edges in this file.
 *   TALLY   tally (release) -> count_begun (acquire), life_uncount (release) -> count_restored
 *           (acquire)   frees before insertions into their slots; the count of a restored object's
 *           free, before the object is no longer counted as restored
 *   COUNT   each number alone; fewest_lives chooses the order of the reads
 *   RETRY   the budget, as a number
 */

#define SUM_MEMBER(name) uint64_t name;

struct sums {
    COUNTERS(SUM_MEMBER)
    PUBLIC_COUNTERS(SUM_MEMBER)
    uint64_t open;
};

/* Where each counter is, and its sum. */
#define SUM_PLACES(name) {offsetof(struct counters, name), offsetof(struct sums, name)},

static const struct {
    size_t counter, sum;
} places[] = {COUNTERS(SUM_PLACES) PUBLIC_COUNTERS(SUM_PLACES)};

/*
 * Ends are read before beginnings, so that no difference is ever negative when a worker goes on
 * meanwhile; what one worker begins and another ends may still be seen the other way round.
 */
static void add_counters(struct sums *sums, const struct counters *counters)
{
    for (size_t i = sizeof places / sizeof places[0]; i-- > 0;) {
        const void *counter = (const char *)counters + places[i].counter;
        void *total = (char *)sums + places[i].sum;

        *(uint64_t *)total += load_relaxed(COUNT, (const atomic_u64 *)counter);
    }
}

static struct sums sum(const haft_table *table)
{
    struct sums sums = {0};

    for (const haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        add_counters(&sums, &worker->counters);
        sums.open += worker_state(worker) == WORKER_OPEN;
    }
    add_counters(&sums, &table->counters);
    sums.exhausted += sums.restore_exhausted;
    sums.recycled += sums.restore_recycled;
    return sums;
}

/* a - b, or 0 where calls under way make it negative. */
static uint64_t difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* Fresh slots in all extents: those used before, or those never used. */
static uint64_t slots_at_hand(const haft_table *table, bool again)
{
    uint64_t slots = 0;

    for (const haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        slots += fresh_at_hand(worker, again);
    }
    return slots;
}

/* Slots ever used, without the restore range: drawn from the table, and in no extent any more. */
static uint64_t used_slots(const haft_table *table)
{
    /* First: an extent drawn in between makes the difference too small.  It is too large only while
     * a thread has taken slots from `fresh` and not yet put them into its extent. */
    const uint64_t drawn = load_relaxed(COUNT, &table->fresh);

    return difference(drawn, table->restore_end + slots_at_hand(table, false));
}

#define SUM_AS_IT_IS(name) .name = sums.name,

/* Numbers of slots: one that is negative is a high number. */
static struct stock stock_of(const struct sums *sums)
{
    return (struct stock){
        .live = sums->published + sums->inserted - sums->freed,
        .reserved = sums->reserved - sums->published - sums->aborted,
        .retired = sums->freed + sums->aborted - sums->reclaimed,
        .exhausted = sums->exhausted - sums->recycled,
    };
}

HAFT_INTERNAL struct stock stats_stock(const haft_table *table)
{
    const struct sums sums = sum(table);

    return stock_of(&sums);
}

/* A number of slots, or 0 where calls under way make it negative. */
static uint64_t not_negative(uint64_t number)
{
    return number <= INT64_MAX ? number : 0;
}

haft_table_stats haft_table_stats_get(const haft_table *table)
{
    const struct sums sums = sum(table);
    const struct stock stock = stock_of(&sums);
    const uint64_t used = used_slots(table) + sums.restore_first_used;
    haft_table_stats stats = {
        .live = not_negative(stock.live),
        .reserved = not_negative(stock.reserved),
        .retired = not_negative(stock.retired),
        .exhausted = not_negative(stock.exhausted),
        .released = load_relaxed(COUNT, &table->released.slots) + slots_at_hand(table, true),
        .high_water = used,
        .capacity = table->capacity,
        .limit = table->slots.limit - HAFT_FIRST_INDEX,
        .workers = sums.open,
        .created = sums.published + sums.inserted,
        .freed = sums.freed,
        PUBLIC_COUNTERS(SUM_AS_IT_IS).clock = haft_domain_stats_get(table->domain),
    };
    stats.free = difference(used, stats.live + stats.reserved + stats.retired + stats.exhausted +
                                      stats.released);
    return stats;
}

/* Lives and exhausted slots that began and that ended, of all workers and of the table. */
struct lives {
    uint64_t begun, ended;
    uint64_t restored; /* of those begun: live in the restore range */
    uint64_t exhausted, recycled;
};

static void count_begun(struct lives *lives, const haft_table *table)
{
    lives->begun = load_relaxed(COUNT, &table->counters.reserved) +
                   load_relaxed(COUNT, &table->counters.inserted); /* corrections, after a fork */
    lives->exhausted = load_acquire(TALLY, &table->counters.exhausted);
    for (const haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        lives->exhausted += load_acquire(TALLY, &worker->counters.exhausted);
        lives->begun += load_acquire(TALLY, &worker->counters.reserved);
        lives->begun += load_acquire(TALLY, &worker->counters.inserted);
    }
}

static void count_restored(struct lives *lives, const haft_table *table)
{
    lives->restored = load_acquire(TALLY, &table->restored);
}

static void count_ended(struct lives *lives, const haft_table *table)
{
    lives->ended =
        load_relaxed(COUNT, &table->counters.aborted) + load_relaxed(COUNT, &table->counters.freed);
    lives->recycled = 0;
    for (const haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        lives->ended += load_relaxed(COUNT, &worker->counters.aborted);
        lives->ended += load_relaxed(COUNT, &worker->counters.freed);
        lives->recycled += load_relaxed(COUNT, &worker->counters.recycled);
    }
}

/* Slots live or reserved, without the restore range. */
static uint64_t taken(const struct lives *lives)
{
    return difference(lives->begun, lives->ended + lives->restored);
}

static uint64_t exhausted(const struct lives *lives)
{
    return difference(lives->exhausted, lives->recycled);
}

/*
 * Slots taken and exhausted, no more than at some moment, however long this thread is delayed in
 * between: beginnings are read before ends, of all workers.  Restored objects are read after they
 * were counted as begun, and before their frees are counted.
 */
static struct lives fewest_lives(const haft_table *table)
{
    struct lives lives;

    count_begun(&lives, table);
    count_restored(&lives, table);
    count_ended(&lives, table);
    return lives;
}

/* Extents are read first: slots that are drawn meanwhile count as used. */
HAFT_INTERNAL uint64_t stats_idle(const haft_table *table)
{
    uint64_t at_hand = slots_at_hand(table, true) + slots_at_hand(table, false);

    at_hand += load_relaxed(COUNT, &table->released.slots);
    const struct lives lives = fewest_lives(table);
    const uint64_t drawn = load_relaxed(COUNT, &table->fresh) - table->restore_end;

    return difference(drawn, at_hand + taken(&lives) + exhausted(&lives));
}

/* Add the difference; sums are modulo 2^64, and so may a counter be. */
static void correct(atomic_u64 *counter, uint64_t wanted, uint64_t counted)
{
    count_up(counter, wanted - counted);
}

/*
 * `created` and `freed` never fall: a life that is counted, and that the walk has not found, counts
 * as freed.
 */
HAFT_INTERNAL void stats_correct(haft_table *table, const struct stock *found)
{
    struct counters *counters = &table->counters;
    const struct sums sums = sum(table);
    const struct stock counted = stock_of(&sums);
    const uint64_t missing = not_negative(counted.live - found->live);

    count_up(&counters->freed, missing);
    correct(&counters->inserted, found->live, counted.live - missing);
    correct(&counters->reserved, found->reserved, counted.reserved);
    correct(&counters->reclaimed, counted.retired + missing, found->retired); /* is subtracted */
    correct(&counters->exhausted, found->exhausted + found->restore_exhausted, counted.exhausted);
    correct(&counters->restore_first_used, found->restore_first_used, sums.restore_first_used);
}

HAFT_INTERNAL
haft_status stats_shortage(const haft_table *table, const haft_worker *worker, haft_status fresh)
{
    const struct lives lives = fewest_lives(table);
    const uint64_t others = difference(table->budget_size - load_relaxed(RETRY, &table->budget),
                                       2 * (uint64_t)(worker->batch_limit - 1));
    const uint64_t slots =
        fresh == HAFT_NO_MEMORY ? used_slots(table) : table->slots.limit - table->restore_end;

    /* Slots not taken, exhausted or held back by others come within reach in time. */
    if (taken(&lives) + exhausted(&lives) + others >= slots) {
        return fresh;
    }
    return taken(&lives) >= table->capacity ? HAFT_FULL : HAFT_BUSY;
}

/*
 * concurrent/table/suppliers.h - what a search asks for slots.
 */

/* A search, and what its suppliers answer besides slots. */
struct search {
    struct batch *due;        /* taken out, to be taken back before the next round; NULL: none */
    haft_status status;       /* why there are no fresh slots */
    bool has_begun;           /* `call` has begun */
    unsigned unpinned;        /* batches of unpinned slots taken out */
    struct reclaim_call call; /* takes back batches that were due when a supplier first asked */
};

/* The table's suppliers, by its options.  Before any worker uses it. */
HAFT_INTERNAL void suppliers_choose(haft_table *table);

/* concurrent/table/suppliers.c */

/*
 * The suppliers of a table, in the order in which a search asks them for slots:
 *
 *   1. inside a callback: the slots that its thread has taken back so far
 *   2. the worker's own ready batches, then the depot's
 *   3. the worker's own batches that are due, then the depot's
 *   4. the lists: slots freed, aborted or unpinned without a worker
 *   5. a former local table's free slots, then fresh ones
 *   6. the ready batches of other workers, then their due ones
 *
 * A table has only those that its options call for: suppliers_choose().  To add a source of slots,
 * write a supplier and put it into that list; supply.c stays as it is.
 *
 * Inside a callback, tables with on_reclaim leave due batches alone.
 *
 * Bound (waiting_bytes): fresh slots come only while those in use that hold no object, and those
 * that other searches ask for, leave room.  A search asks first, then it counts: of two at once,
 * the later one sees the earlier one's slots, or that it asks for them.  So no more slots are ever
 * used than the most that held objects at a time, and the bound.
 *
 * Edges in this file.
 *   ASK      use_bounded (release) -> use_bounded (acquire)   slots in use before the search that
 *            drew them no longer asks for them
 *   HINT     shortage: other workers hand on their slots sooner or later
 */

/* --- batches that are ready --- */

/* Hand on the slots of the filling batch beyond the batch limit. */
static void hand_on_rest(haft_worker *worker)
{
    if (hand_filling_count(worker) > worker->batch_limit) {
        struct batch *filling = hand_filling(worker);
        struct batch *rest = shelf_empty_batch(worker);

        batch_move(rest, filling, filling->count - worker->batch_limit);
        hand_fill(worker, filling);
        shelf_ready(worker, rest);
    }
}

/* The worker uses the slots of a ready batch next; false: there is none, or it is empty. */
static bool use(haft_worker *worker, struct batch *batch)
{
    if (batch == NULL) {
        return false;
    }
    if (batch->count == 0) {
        shelf_give_batch(worker, batch);
        return false;
    }
    shelf_give_batch(worker, worker->filling);
    hand_fill(worker, batch);
    hand_on_rest(worker);
    return true;
}

/* Inside a callback: the slots that its thread has taken back so far. */
static bool use_destination(haft_worker *worker, struct search *search)
{
    struct batch *destination = reclaim_destination(worker->table);

    (void)search;
    if (destination == NULL) {
        return false;
    }
    batch_move(worker->filling, destination, worker->batch_limit);
    hand_fill(worker, worker->filling);
    return true;
}

static bool use_ready(haft_worker *worker, struct search *search)
{
    (void)search;
    return use(worker, shelf_take_ready(worker));
}

static bool steal_ready(haft_worker *worker, struct search *search)
{
    (void)search;
    return use(worker, shelf_steal_ready(worker));
}

/* --- batches that are due --- */

/* The call that takes back for this search; it begins when it is first asked for. */
static struct reclaim_call *call_of(haft_worker *worker, struct search *search)
{
    if (!search->has_begun) {
        reclaim_begin(&search->call, worker);
        search->has_begun = true;
    }
    return &search->call;
}

/* A batch that is due, with a ticket up to `done`; NULL: none. */
typedef struct batch *due_taker(haft_worker *worker, uint64_t done);

/* Tables without on_reclaim: take the batch back, and use it.  False: NULL, or no slot is left. */
static bool use_quietly(haft_worker *worker, struct batch *batch)
{
    if (batch == NULL) {
        return false;
    }
    reclaim_quietly(worker, batch);
    return use(worker, batch);
}

/* Due batches until one of them has slots. */
static bool use_first_due(haft_worker *worker, struct search *search, due_taker *take)
{
    const uint64_t done = call_of(worker, search)->done;
    struct batch *batch;

    while ((batch = take(worker, done)) != NULL) {
        if (use_quietly(worker, batch)) {
            return true;
        }
    }
    return false;
}

static bool use_due(haft_worker *worker, struct search *search)
{
    return use_first_due(worker, search, shelf_take_due);
}

static bool steal_due(haft_worker *worker, struct search *search)
{
    return use_first_due(worker, search, shelf_steal_due);
}

/* --- batches that are due, in a table with on_reclaim --- */

static void take_back_due(haft_worker *worker, struct search *search)
{
    reclaim_batch(worker, call_of(worker, search), search->due);
}

/* The round ends with this batch, to be taken back; false: NULL. */
static bool take_out(struct search *search, struct batch *batch)
{
    search->due = batch;
    return batch != NULL;
}

static bool take_first_due_out(haft_worker *worker, struct search *search, due_taker *take)
{
    return !callback_is_running() && take_out(search, take(worker, call_of(worker, search)->done));
}

static bool take_due_out(haft_worker *worker, struct search *search)
{
    return take_first_due_out(worker, search, shelf_take_due);
}

static bool steal_due_out(haft_worker *worker, struct search *search)
{
    return take_first_due_out(worker, search, shelf_steal_due);
}

/* --- the lists --- */

/* Aborted slots.  Freed ones take their ticket, for a later search. */
static bool use_aborted(haft_worker *worker, struct search *search)
{
    (void)search;
    gather_freed(worker);
    return use(worker, gather_aborted(worker));
}

static bool use_unpinned(haft_worker *worker, struct search *search)
{
    (void)search;
    return use_quietly(worker, gather_unpinned(worker));
}

/* Others may go on unpinning. */
static bool take_unpinned_out(haft_worker *worker, struct search *search)
{
    return !callback_is_running() && search->unpinned++ < UNPINNED_MOST &&
           take_out(search, gather_unpinned(worker));
}

/* --- a former local table's free slots, and fresh ones --- */

/* The most slots to draw.  Inside a callback one: the batch taken back has slots to come. */
static uint64_t most_to_draw(const haft_worker *worker)
{
    return callback_is_running() ? 1 : worker->batch_limit;
}

static bool use_legacy(haft_worker *worker, struct search *search)
{
    struct batch *batch = worker->filling;

    (void)search;
    batch->count = (uint32_t)legacy_take(worker, most_to_draw(worker), batch->indices);
    hand_fill(worker, batch);
    return hand_filling_count(worker) != 0;
}

static bool fill_from(haft_worker *worker, uint64_t first, uint64_t count)
{
    struct batch *batch = worker->filling;

    for (uint64_t i = 0; i < count; i++) {
        batch->indices[i] = (uint32_t)(first + i);
    }
    batch->count = (uint32_t)count;
    hand_fill(worker, batch);
    return count != 0;
}

static bool use_fresh(haft_worker *worker, struct search *search)
{
    uint64_t first = 0;
    const uint64_t drawn = fresh_take(worker, most_to_draw(worker), &first, &search->status);

    return fill_from(worker, first, drawn);
}

/* use_fresh() within the bound on memory that waits. */
static bool use_bounded(haft_worker *worker, struct search *search)
{
    haft_table *table = worker->table;
    const uint64_t most = most_to_draw(worker);
    /* Weakened, slots of an earlier search could count neither as asked for nor as in use. */
    const uint64_t asked = fetch_add_acquire(ASK, &table->drawing, most);
    const uint64_t taken = asked + stats_idle(table);
    const uint64_t room = taken < table->waiting_slots ? table->waiting_slots - taken : 0;
    uint64_t drawn = 0;
    uint64_t first = 0;

    search->status = HAFT_FULL;
    if (room != 0) {
        drawn = fresh_take(worker, most < room ? most : room, &first, &search->status);
    }
    /* Weakened, the same. */
    fetch_add_release(ASK, &table->drawing, UINT64_C(0) - most);
    return fill_from(worker, first, drawn);
}

/* --- which of them a table has, and what it does when it has no slot --- */

static haft_status shortage(haft_worker *worker, haft_status fresh)
{
    haft_table *table = worker->table;

    retire_open(worker);
    fetch_add_relaxed(HINT, &table->shortage, 1);
    domain_hurry(table->domain);
    domain_notice_stall(table->domain);
    return stats_shortage(table, worker, fresh);
}

/* Tables with on_reclaim: a search inside a callback is served after the batch taken back. */
static haft_status shortage_with_on_reclaim(haft_worker *worker, haft_status fresh)
{
    const haft_status status = shortage(worker, fresh);

    if (callback_is_running()) {
        reclaim_later(worker->table, worker_state(worker) == WORKER_OPEN ? worker : NULL);
    }
    return status;
}

HAFT_INTERNAL void suppliers_choose(haft_table *table)
{
    const bool calls_back = table->on_reclaim != NULL;
    struct suppliers *suppliers = &table->suppliers;
    supplier **next = suppliers->in_order;

    if (calls_back) {
        *next++ = use_destination;
    }
    *next++ = use_ready;
    *next++ = calls_back ? take_due_out : use_due;
    *next++ = use_aborted;
    if (table->slots.has_pins) {
        *next++ = calls_back ? take_unpinned_out : use_unpinned;
    }
    if (table->legacy.local != NULL) {
        *next++ = use_legacy;
    }
    *next++ = table->waiting_bytes == 0 ? use_fresh : use_bounded;
    *next++ = steal_ready;
    *next++ = calls_back ? steal_due_out : steal_due;
    assert(next <= suppliers->in_order + SUPPLIERS_MOST);
    *next = NULL;
    suppliers->shortage = calls_back ? shortage_with_on_reclaim : shortage;
    suppliers->take_back = calls_back ? take_back_due : NULL;
}

/* concurrent/table/supply.c */

/*
 * The search for a slot, in rounds: from supplier to supplier (suppliers.c), until one finds slots.
 *
 * No callback runs within a round.  A supplier that finds a batch with callbacks to run takes it
 * out, which ends the round: the search has the batch taken back, and begins anew.
 */

HAFT_INTERNAL haft_status supply_shortage(haft_worker *worker, haft_status fresh)
{
    return worker->table->suppliers.shortage(worker, fresh);
}

/* One supplier after the other, until one has found something. */
static bool ask_suppliers(haft_worker *worker, struct search *search)
{
    supplier *const *next = worker->table->suppliers.in_order;

    search->due = NULL;
    search->status = HAFT_OK;
    while (*next != NULL && !(*next)(worker, search)) {
        next++;
    }
    return *next != NULL;
}

/*
 * One round.  HAFT_OK: the filling batch has slots; or a batch was taken back, and it is time for
 * another round.
 */
static haft_status search_round(haft_worker *worker, struct search *search)
{
    if (!ask_suppliers(worker, search)) {
        return supply_shortage(worker, search->status);
    }
    if (search->due != NULL) {
        worker->table->suppliers.take_back(worker, search);
    }
    return HAFT_OK;
}

/* Until the filling batch has slots: HAFT_OK, or why it has none. */
static haft_status search_slots(haft_worker *worker)
{
    struct search search;
    haft_status status = HAFT_OK;

    search.has_begun = false;
    search.unpinned = 0;
    while (status == HAFT_OK && hand_filling_count(worker) == 0) {
        status = search_round(worker, &search);
    }
    return status;
}

HAFT_INTERNAL haft_status supply_find(haft_worker *worker, uint64_t most, uint32_t *count)
{
    const haft_status status = hand_filling_count(worker) == 0 ? search_slots(worker) : HAFT_OK;

    if (status == HAFT_OK) {
        const uint32_t found = hand_filling_count(worker);

        *count = most < found ? (uint32_t)most : found;
    }
    return status;
}

/*
 * concurrent/table/table.h - opening and ending a table.  One thread has it meanwhile.
 */

/*
 * A table of that name, with nothing in it, in given memory if that is not NULL, else in the heap;
 * NULL: no memory.  table_free() ends it.
 */
HAFT_INTERNAL
haft_table *table_new(const char *name, struct given *given, const haft_allocator *heap);
HAFT_INTERNAL void table_free(haft_table *table);

/* Whether the option waiting_bytes is right for slots of that distance. */
HAFT_INTERNAL haft_status table_check_waiting(uint64_t bytes, uint64_t stride);

/*
 * Set up all that a table has beside its slots.  Its slots, its capacity and its options are set,
 * and legacy.local of a former local table: suppliers_choose() reads them.  HAFT_OK or
 * HAFT_NO_MEMORY.  In given memory if that is not NULL.  table_stop() undoes it.
 */
HAFT_INTERNAL haft_status table_start(haft_table *table, haft_domain *domain, struct given *given);
HAFT_INTERNAL void table_stop(haft_table *table);

/* concurrent/table/table.c */

/*
 * The shared table: opening, and its end when no thread uses it any more.
 *
 * Edges in this file.
 *   OWN     before the table is handed to other threads, or after the last has left it
 *   COUNT   numbers that are given once
 */

OPTIONS_BEGIN_WITH_COMMON(haft_table_options);

/* The bound on memory that waits, in slots. */
static uint64_t waiting_slots(uint64_t bytes, uint64_t stride)
{
    const uint64_t slots = (bytes != 0 ? bytes : WAITING_BYTES) / stride;

    return slots != 0 ? slots : 1;
}

/* Slots that workers may hold back: those beyond the capacity, and half of what may wait. */
static uint64_t budget_for(uint64_t room, uint64_t waiting)
{
    return room < waiting / 2 ? room : waiting / 2;
}

static uint64_t backlog_for(uint64_t waiting)
{
    const uint64_t part = waiting / 2 / WORKERS_EXPECTED;

    return part == 0 ? 1 : part < BACKLOG_SLOTS ? part : BACKLOG_SLOTS;
}

static uint32_t batch_max_for(uint64_t budget)
{
    const uint64_t most = 1 + budget / (2 * WORKERS_EXPECTED);

    return most < BATCH_SLOTS ? (uint32_t)most : BATCH_SLOTS;
}

/* Large enough that its ends do not matter, small beside the table. */
static uint32_t extent_for(uint64_t slots, uint32_t batch_max)
{
    const uint64_t part = slots / EXTENTS_LEAST / batch_max * batch_max;

    return part < batch_max ? batch_max : part < EXTENT_SLOTS ? (uint32_t)part : EXTENT_SLOTS;
}

HAFT_INTERNAL haft_status table_check_waiting(uint64_t bytes, uint64_t stride)
{
    return bytes == 0 || bytes >= stride ? HAFT_OK : HAFT_BAD_WAITING_BYTES;
}

/* What slots are asked for; HAFT_OK, or why the options are wrong. */
static haft_status table_slots_wanted(const haft_table_options *options,
                                      struct slots_options *wanted)
{
    uint64_t most;

    *wanted = (struct slots_options){
        .extra = options->memory != NULL ? options->hold_back : geometry_spare(options->capacity),
        .aside = options->restore_range,
        .pins = options->pins,
        .huge_pages = options->huge_pages,
        .wrapped = options->wrap,
    };
    const haft_status status = options_check(options, IN_SLOTS, &wanted->common, &most);

    if (status == HAFT_OK && options->restore_range > most - options->capacity) {
        return HAFT_BAD_RESTORE_RANGE;
    }
    if (status == HAFT_OK && options->memory != NULL && options->workers > MOST_WORKERS) {
        return HAFT_NO_MEMORY;
    }
    return status != HAFT_OK
               ? status
               : table_check_waiting(options->waiting_bytes, geometry_of(wanted).stride);
}

/* Descriptors for what the depots may hold. */
static uint64_t depot_batches(uint64_t slots, uint64_t budget)
{
    return slots / batch_max_for(budget) + DEPOT_NODES;
}

static uint64_t workers_of(const haft_table_options *options)
{
    return options->workers != 0 ? options->workers : 1;
}

static haft_status open_pool(haft_table *table, struct given *given)
{
    const uint64_t slots = table->slots.limit - HAFT_FIRST_INDEX;
    haft_status status;

    /* The slots beyond the capacity are there for workers to hold back. */
    table->waiting_slots = waiting_slots(table->waiting_bytes, table->slots.view.stride);
    table->backlog_slots = backlog_for(table->waiting_slots);
    table->budget_size =
        budget_for(table->slots.limit - table->restore_end - table->capacity, table->waiting_slots);
    table->batch_max = batch_max_for(table->budget_size);
    table->extent_slots = extent_for(slots, table->batch_max);
    if (given != NULL) {
        return pool_open_given(&table->pool,
                               depot_batches(table->slots.view.mask + 1, table->budget_size),
                               table->given_count, given);
    }
    status = pool_open(&table->pool, depot_batches(slots, table->budget_size), &table->slots.heap);
    if (status != HAFT_OK) {
        return status;
    }
    status = pool_commit(&table->pool, table->restore_end / table->batch_max + DEPOT_NODES);
    if (status != HAFT_OK) {
        pool_close(&table->pool);
    }
    return status;
}

static uint64_t table_number(void)
{
    static atomic_u64 given;

    return fetch_add_relaxed(COUNT, &given, 1) + 1;
}

/* Insertion and free in place, where an object's life takes no more than its slot. */
static void open_front(haft_table *table)
{
    const struct word_format *format = &table->slots.format;
    const bool is_open = table->slots.sites.records == NULL && !asan_is_on();

    table->used_from = is_open ? 1 : UINT64_MAX;
    table->last_life = is_open ? format->tag | format->generation_mask : 0;
}

HAFT_INTERNAL haft_status table_start(haft_table *table, haft_domain *domain, struct given *given)
{
    const haft_status status = open_pool(table, given);

    if (status != HAFT_OK) {
        return status;
    }
    table->domain = domain;
    table->is_quick = slots_has_words(&table->slots);
    open_front(table);
    table->sifts = asan_is_on() || table->on_reclaim != NULL || table->slots.has_pins ||
                   table->restore_end != HAFT_FIRST_INDEX;
    table->number = table_number();
    store_relaxed(OWN, &table->fresh, table->restore_end);
    store_relaxed(OWN, &table->legacy.listed, MARK_END);
    store_relaxed(OWN, &table->released.head, NUMBER_NONE);
    store_relaxed(OWN, &table->released.slots, 0);
    store_relaxed(OWN, &table->budget, table->budget_size);
    depot_open(&table->waiting, &table->pool);
    depot_open(&table->ready, &table->pool);
    lists_open(table);
    suppliers_choose(table);
    tables_add(table);
    return HAFT_OK;
}

HAFT_INTERNAL void table_stop(haft_table *table)
{
    tables_remove(table);
    roster_free(table);
    pool_close(&table->pool);
}

HAFT_INTERNAL
haft_table *table_new(const char *name, struct given *given, const haft_allocator *heap)
{
    const size_t size = size_with_name(sizeof(haft_table), name);
    haft_table *table = given != NULL ? given_take(given, size, CACHE_LINE)
                                      : heap_take_zero(heap, size, CACHE_LINE);

    if (table != NULL) {
        table->restore_end = HAFT_FIRST_INDEX;
        table->name = memcpy(table + 1, name, size - sizeof *table);
        table->is_given = given != NULL;
        table->slots.heap = *heap;
    }
    return table;
}

HAFT_INTERNAL void table_free(haft_table *table)
{
    if (!table->is_given) {
        heap_give(&table->slots.heap, table, size_with_name(sizeof(haft_table), table->name));
    }
}

static const char *table_name_of(const haft_table_options *options)
{
    return options->name != NULL ? options->name : "table";
}

static haft_status start_opened(haft_table *table, haft_domain *domain, struct given *given)
{
    haft_status status = slots_commit(&table->slots, table->restore_end);

    status = status == HAFT_OK ? runs_reserve(&table->slots.runs) : status;
    status = status == HAFT_OK ? table_start(table, domain, given) : status;
    if (status != HAFT_OK) {
        slots_close(&table->slots);
    }
    return status;
}

/* Memory of declared workers, after all else. */
static haft_status take_workers(haft_table *table, uint64_t count, struct given *given)
{
    table->given_count = count;
    table->given_workers = given_take(given, count * sizeof(haft_worker), CACHE_LINE);
    return table->given_workers != NULL ? HAFT_OK : HAFT_NO_MEMORY;
}

static haft_status fill_table(haft_table *table, haft_domain *domain,
                              const haft_table_options *options, const struct slots_options *wanted)
{
    haft_status status = HAFT_OK;

    table->capacity = options->capacity;
    table->on_reclaim = options->on_reclaim;
    table->reclaim_arg = options->reclaim_arg;
    table->waiting_bytes = options->waiting_bytes;
    table->never_waits = options->never_wait;
    table->restore_end += options->restore_range;
    if (wanted->given != NULL) {
        status = take_workers(table, workers_of(options), wanted->given);
    }
    status = status == HAFT_OK ? slots_open(&table->slots, wanted) : status;
    return status == HAFT_OK ? start_opened(table, domain, wanted->given) : status;
}

/* The bytes that table_new(), fill_table() and open_pool() take, wherever they begin. */
static uint64_t measure_table(const haft_table_options *options, struct slots_options wanted)
{
    struct given given = given_to_measure();
    const struct geometry geometry = geometry_of(&wanted);
    const uint64_t room = geometry.count - geometry.end;
    const uint64_t budget = budget_for(wanted.extra < room ? wanted.extra : room,
                                       waiting_slots(options->waiting_bytes, geometry.stride));
    const uint64_t workers = workers_of(options);

    wanted.given = &given;
    given_take(&given, size_with_name(sizeof(haft_table), table_name_of(options)), CACHE_LINE);
    given_take(&given, workers * sizeof(haft_worker), CACHE_LINE);
    geometry_measure(&wanted);
    given_take(&given, depot_batches(geometry.count, budget) * sizeof(struct batch),
               _Alignof(struct batch));
    given_take(&given, pool_directory_bytes(workers), sizeof(atomic_u64));
    return given.measured;
}

static haft_status open_table(haft_domain *domain, const haft_table_options *options,
                              haft_table **table)
{
    struct given given = given_of(options->memory, options->memory_size);
    struct slots_options wanted;
    haft_status status = table_slots_wanted(options, &wanted);

    if (status != HAFT_OK) {
        return status;
    }
    if (!given_suffices(&given, measure_table(options, wanted))) {
        return HAFT_NO_MEMORY;
    }
    wanted.given = options->memory != NULL ? &given : NULL;
    const haft_allocator heap = heap_of(options->allocator);
    haft_table *opened = table_new(table_name_of(options), wanted.given, &heap);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    status = fill_table(opened, domain, options, &wanted);
    if (status != HAFT_OK) {
        table_free(opened);
        return status;
    }
    *table = opened;
    return HAFT_OK;
}

haft_status haft_table_footprint_sized(const haft_table_options *options, size_t size,
                                       haft_footprint *footprint)
{
    haft_table_options known;
    struct slots_options wanted;
    haft_status status = sized_take(&known, sizeof known, options, size);

    known.memory = &known; /* any: it is what is asked about */
    status = status == HAFT_OK ? table_slots_wanted(&known, &wanted) : status;
    if (status != HAFT_OK) {
        return status;
    }
    const struct geometry geometry = geometry_of(&wanted);
    const uint64_t room = geometry.count - geometry.end;
    const uint64_t bytes = measure_table(&known, wanted);

    if (!given_is_possible(bytes)) {
        return HAFT_NO_MEMORY;
    }
    *footprint = (haft_footprint){
        .bytes = bytes,
        .capacity = known.capacity + (room > wanted.extra ? room - wanted.extra : 0),
    };
    return HAFT_OK;
}

haft_status haft_table_open_sized(haft_domain *domain, const haft_table_options *options,
                                  size_t size, haft_table **table)
{
    haft_table_options known;
    const haft_status status = sized_take(&known, sizeof known, options, size);

    return status == HAFT_OK ? open_table(domain, &known, table) : status;
}

haft_view haft_table_view(const haft_table *table)
{
    return table->slots.view;
}

haft_layout haft_table_layout(const haft_table *table)
{
    return table->slots.format.layout;
}

const char *haft_table_name(const haft_table *table)
{
    return table->name;
}

haft_domain *haft_table_domain(const haft_table *table)
{
    return table->domain;
}

size_t haft_table_object_size(const haft_table *table)
{
    return table->slots.object_size;
}

bool haft_table_has_pins(const haft_table *table)
{
    return table->slots.has_pins;
}

haft_status haft_diagnose(const haft_table *table, haft_id id)
{
    return slots_diagnose(&table->slots, id);
}

haft_status haft_id_at(const haft_table *table, uint64_t index, haft_id *id)
{
    return slots_id_at(&table->slots, index, id);
}

/* concurrent/table/tables.c */

/*
 * The list of open tables.
 *
 * Edges in this file.
 *   COUNT   the tables of a domain, under the lock too: the child of a fork finds both the same
 */

static haft_table *open_tables; /* under the lock; debuggers look for it by this name */

HAFT_INTERNAL void tables_add(haft_table *table)
{
    registry_lock();
    table->next_open = open_tables;
    table->open_link = &open_tables;
    if (open_tables != NULL) {
        open_tables->open_link = &table->next_open;
    }
    open_tables = table;
    fetch_add_relaxed(COUNT, &table->domain->tables, 1);
    registry_unlock();
}

HAFT_INTERNAL void tables_remove(haft_table *table)
{
    registry_lock();
    *table->open_link = table->next_open;
    if (table->next_open != NULL) {
        table->next_open->open_link = table->open_link;
    }
    fetch_add_relaxed(COUNT, &table->domain->tables, UINT64_MAX);
    registry_unlock();
}

HAFT_INTERNAL haft_table *first_open_table(void)
{
    return open_tables;
}

/*
 * concurrent/table/worker.h - a worker between its calls.
 */

/*
 * The duties of a worker between jobs: take back batches that are due, and collect slots in lists.
 * The worker's thread, outside locks; inside a callback nothing happens.
 */
HAFT_INTERNAL void worker_do_duties(haft_worker *worker);

/* haft_worker_flush() without the duties, also for a worker of a thread that does not use it. */
HAFT_INTERNAL void worker_flush(haft_worker *worker);

/* The end of haft_worker_close(), after worker_flush(). */
HAFT_INTERNAL void worker_end(haft_worker *worker);

/* concurrent/table/worker.c */

/*
 * Workers: opening, closing, and the duties between jobs.
 *
 * Edges in this file.
 *   HINT    shortage: answered now or at the next quiescent point
 *   OWN     counts that this worker alone writes
 *   RETRY   the budget: it carries numbers only; the slots held back travel through ring and depot
 */

/* Take the slots that the worker may hold back from the budget, and set its batch limit by them. */
static void draw_budget(haft_worker *worker)
{
    haft_table *table = worker->table;
    const uint64_t wanted = 2 * (uint64_t)(table->batch_max - 1);
    uint64_t left;
    uint64_t drawn;

    do {
        left = load_relaxed(RETRY, &table->budget);
        drawn = (left < wanted ? left : wanted) & ~UINT64_C(1);
    } while (!cas_relaxed(RETRY, &table->budget, left, left - drawn));
    worker_set_batch_limit(worker, (uint32_t)(drawn / 2 + 1));
}

static void return_budget(haft_worker *worker)
{
    fetch_add_relaxed(RETRY, &worker->table->budget, 2 * (uint64_t)(worker->batch_limit - 1));
    worker_set_batch_limit(worker, 1);
}

haft_status haft_worker_open(haft_table *table, haft_worker **worker)
{
    haft_domain *domain = table->domain;
    haft_worker *opened = roster_take(table, WORKER_OPEN);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    if (domain_join(domain, opened, &opened->member) != HAFT_OK) {
        roster_leave(opened);
        return HAFT_NO_MEMORY;
    }
    opened->openings++;
    opened->shortage_before = load_relaxed(HINT, &table->shortage);
    draw_budget(opened);
    *worker = opened;
    return HAFT_OK;
}

/* Take back some slots that are due, if the table looks at slots taken back: the worker's own, then
 * those for which no ring has had room. */
static void reclaim_due(haft_worker *worker, struct reclaim_call *call)
{
    uint64_t taken = 0;
    struct batch *batch;

    while (worker->table->sifts && taken < RECLAIMED_SLOTS &&
           (batch = shelf_take_due(worker, call->done)) != NULL) {
        taken += batch->count;
        reclaim_batch(worker, call, batch);
    }
}

HAFT_INTERNAL void worker_do_duties(haft_worker *worker)
{
    struct reclaim_call call;

    if (callback_is_running()) {
        return;
    }
    reclaim_begin(&call, worker);
    reclaim_due(worker, &call);
    gather_lists(worker, &call);
}

HAFT_INTERNAL void worker_flush(haft_worker *worker)
{
    retire_hand_on(worker);
    domain_hurry(worker->table->domain);
}

/* Hand on all slots that the worker holds, and those that callbacks have freed meanwhile. */
static void let_go(haft_worker *worker)
{
    retire_hand_on(worker);
    worker_do_duties(worker);
    worker_flush(worker);
}

haft_status haft_worker_flush(haft_worker *worker)
{
    debug_check(worker);
    if (callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    let_go(worker);
    return HAFT_OK;
}

HAFT_INTERNAL void worker_end(haft_worker *worker)
{
    haft_domain *domain = worker->table->domain;

    return_budget(worker);
    domain_leave(domain, worker, worker->member);
    roster_leave(worker);
}

haft_status haft_worker_close(haft_worker *worker)
{
    assert(worker_state(worker) == WORKER_OPEN && "a worker is closed once");
    if (callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    roster_hand_over(worker); /* by a thread that has joined its own, perhaps */
    let_go(worker);
    worker_end(worker);
    return HAFT_OK;
}

haft_table *haft_worker_table(const haft_worker *worker)
{
    return worker->table;
}

/*
 * If partial batches filled the ring, they would be put together, and their slots would wait for
 * the latest ticket among them: longer than the backlog says.
 */
static bool is_worth_closing(const haft_worker *worker)
{
    return hand_open_count(worker) >= WORTH_CLOSING &&
           ring_length(&worker->waiting) < PARTIAL_BATCHES;
}

/* Whether the worker has freed and given up nothing since it was asked before. */
static bool was_idle(haft_worker *worker)
{
    const uint64_t ended =
        load_relaxed(OWN, &worker->counters.freed) + load_relaxed(OWN, &worker->counters.aborted);
    const bool idle = ended == worker->ended_seen;

    worker->ended_seen = ended;
    return idle;
}

/* Close the open batch if that is worth a ticket.  True after a shortage since the opening. */
static bool close_if_worth(haft_worker *worker, bool idle)
{
    const uint64_t shortage = load_relaxed(HINT, &worker->table->shortage);
    const bool is_short = shortage != worker->shortage;

    if (idle || is_short || is_worth_closing(worker)) {
        retire_open(worker);
    }
    worker->shortage = shortage;
    return is_short && shortage != worker->shortage_before;
}

/* Forget the closings that are done; the slots that wait still. */
static uint64_t waiting(struct backlog *backlog, uint64_t done)
{
    while (backlog->first != backlog->next) {
        const struct closing *oldest = &backlog->closings[backlog->first % CLOSINGS];

        if (oldest->ticket > done) {
            break;
        }
        backlog->done = oldest->retired;
        backlog->first++;
    }
    return backlog->retired - backlog->done;
}

/* Slots that wait for on_reclaim are worth a look at the clock, however few they are. */
static bool is_worth_a_look(const haft_table *table, uint64_t backlog)
{
    return backlog != 0 &&
           (table->on_reclaim != NULL || backlog >= BACKLOG_WORTH(table->backlog_slots));
}

/* Too many slots wait, or there was a shortage. */
static void pay(const haft_table *table, uint64_t backlog)
{
    haft_domain *domain = table->domain;

    if (table->never_waits) {
        domain_hurry(domain);
    } else if (backlog > BACKLOG_MOST(table->backlog_slots) || !domain_is_driven(domain)) {
        domain_wait(domain);
    }
}

static void pass_quiescent_point(haft_worker *worker)
{
    const haft_table *table = worker->table;
    haft_domain *domain = table->domain;
    const bool idle = was_idle(worker);
    const bool is_short = close_if_worth(worker, idle);
    uint64_t backlog = waiting(&worker->backlog, domain_done(domain));

    const bool eager = is_short || is_worth_a_look(table, backlog);

    domain_quiescent(domain, worker->member, eager ? UINT64_MAX : backlog);
    backlog = waiting(&worker->backlog, domain_done(domain));
    if (idle && backlog != 0 && table->sifts) {
        domain_hurry(domain); /* perhaps no other worker asks for these soon */
    }
    if (eager) {
        domain_notice_stall(domain);
    }
    if (backlog > table->backlog_slots || is_short) {
        pay(table, backlog);
    }
    worker_do_duties(worker);
}

/* An outer job of the thread may hold pointers: hand on, but announce and await nothing. */
static void pass_in_inner_job(haft_worker *worker)
{
    close_if_worth(worker, was_idle(worker));
    domain_hurry(worker->table->domain);
}

haft_status haft_worker_quiescent(haft_worker *worker)
{
    haft_domain *domain = worker->table->domain;
    debug_check(worker);
    haft_status status = domain_check_moment(domain);

    if (status == HAFT_OK) {
        pass_quiescent_point(worker);
    } else if (status == HAFT_IN_SECTION && domain_in_inner_job(domain)) {
        pass_in_inner_job(worker);
        status = HAFT_OK;
    }
    return status;
}

/* concurrent/extra/capacity.c */

/*
 * haft_reserve_capacity: memory had before it is used.
 *
 * Each worker has at most one extent of slots that it has drawn and not used.  So while `count`
 * slots are used after the call, no more than these and an extent for each worker are drawn.
 *
 * Edges in this file.
 *   COUNT   how far the table's slots were drawn: others may draw meanwhile
 */

/* The first slot that needs no memory now. */
static uint64_t end_of_capacity(const haft_table *table, uint64_t count, uint64_t workers)
{
    const uint64_t drawn = load_relaxed(COUNT, &table->fresh);
    const uint64_t left = table->slots.limit - drawn;
    const uint64_t more = count + workers * table->extent_slots;

    return drawn + (more < left ? more : left);
}

/* Memory for the descriptors that workers bring.  `*workers`: how many workers there are. */
static haft_status populate_workers(const haft_table *table, uint64_t *workers)
{
    haft_status status = HAFT_OK;

    *workers = 0;
    for (haft_worker *worker = roster_first(table); worker != NULL && status == HAFT_OK;
         worker = worker->next) {
        status = table->is_given ? HAFT_OK : memory_populate((char *)worker, sizeof *worker);
        (*workers)++;
    }
    return status;
}

haft_status haft_reserve_capacity(haft_table *table, uint64_t count)
{
    uint64_t workers;

    if (count > table->slots.limit - HAFT_FIRST_INDEX) {
        return HAFT_FULL;
    }
    const haft_status status = populate_workers(table, &workers);

    return status == HAFT_OK ? fresh_populate(table, end_of_capacity(table, count, workers))
                             : status;
}

/*
 * concurrent/extra/drain.h - draining a table before it is closed or handed over.
 */

/*
 * Bring the table to the state in which it can be ended: no worker is open, no reader has a
 * pointer, all freed slots are taken back.  HAFT_OK; or why not, and it can be used as before.
 * Blocking; one thread, when no other thread uses the table.
 */
HAFT_INTERNAL haft_status drain_table(haft_table *table);

/* concurrent/extra/close.c */

/*
 * Closing a table.
 *
 * Edges in this file.
 *   OWN     no other thread uses the table
 */

/* A table that came from a local one is handed back, and closed as a local table. */
static haft_status close_shared(haft_table *table)
{
    haft_local *local;
    const haft_status status = haft_unshare(table, &local);

    if (status == HAFT_OK) {
        haft_local_close(local);
    }
    return status;
}

haft_status haft_table_close(haft_table *table)
{
    if (table->legacy.local != NULL) {
        return close_shared(table);
    }
    const haft_status status = drain_table(table);

    if (status != HAFT_OK) {
        return status;
    }
    leaks_report(&table->slots, table->name, load_relaxed(OWN, &table->fresh));
    table_stop(table);
    slots_unpoison_all(&table->slots, load_relaxed(OWN, &table->fresh));
    slots_close(&table->slots);
    table_free(table);
    return HAFT_OK;
}

/*
 * concurrent/extra/collect.h - calls that go through a table's slots, one at a time: haft_trim()
 * and haft_recycle_exhausted().
 */

/*
 * Begin, with a worker for the time of the call, and take back due slots: HAFT_OK; HAFT_BUSY if
 * another thread has begun, HAFT_IN_CALLBACK, HAFT_NO_MEMORY.  Lock-free, except malloc.
 */
HAFT_INTERNAL haft_status collect_begin(haft_table *table, haft_worker **worker);
HAFT_INTERNAL void collect_end(haft_worker *worker);

/* concurrent/extra/collect.c */

/*
 * One thread at a time goes through a table's slots.
 *
 * Edges in this file.
 *   RETRY   whether a thread does: decided by the compare-and-swap; the slots travel in batches
 */

HAFT_INTERNAL haft_status collect_begin(haft_table *table, haft_worker **worker)
{
    if (callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    if (!cas_relaxed(RETRY, &table->collecting, 0, 1)) {
        return HAFT_BUSY;
    }
    *worker = worker_borrow(table);
    if (*worker == NULL) {
        store_relaxed(RETRY, &table->collecting, 0);
        return HAFT_NO_MEMORY;
    }
    gather_all_due(*worker);
    return HAFT_OK;
}

HAFT_INTERNAL void collect_end(haft_worker *worker)
{
    haft_table *table = worker->table;

    store_relaxed(RETRY, &table->collecting, 0);
    worker_return(worker);
}

/*
 * concurrent/extra/implicit.h - the implicit workers of a table, as its closing sees them.
 */

/* The calling thread's implicit worker for this table; NULL: none.  Wait-free, O(implicit workers
 * of the thread). */
HAFT_INTERNAL haft_worker *implicit_own(const haft_table *table);

/* How many open workers are not implicit ones that the calling thread may close.  Blocking: a lock,
 * as below. */
HAFT_INTERNAL uint64_t implicit_others(const haft_table *table);

/* Hand on what these hold to all workers; they stay open.  When no other thread uses them. */
HAFT_INTERNAL void implicit_flush(const haft_table *table);

/* They close with the table; HAFT_IN_USE: another worker is open, and nothing is done. */
HAFT_INTERNAL haft_status implicit_close(const haft_table *table);

/* In the child of a fork, under the lock: forget those of the threads that are gone. */
HAFT_INTERNAL void implicit_after_fork(void);

/*
 * concurrent/extra/shared_side.h - the sides of a shared table: opening, closing, recycling, forks
 * and haft_table_explain() alone look at them.
 */

/* Whether any side is open, as far as the calling thread sees.  Wait-free. */
HAFT_INTERNAL bool shared_sides_are_open(const haft_table *table);

/* Slot `index`, which is exhausted and recycled by this thread alone, has no values. */
HAFT_INTERNAL void shared_sides_forget(haft_table *table, uint64_t index);

/* concurrent/extra/drain.c */

/*
 * Draining a table: each pass takes back all freed slots, until a pass finds none.  A callback may
 * free and unpin meanwhile.
 *
 * Edges in this file.
 *   OWN     no other thread uses the table; the batch is this worker's
 */

static bool has_pins(const haft_table *table)
{
    const struct slots *slots = &table->slots;
    const uint64_t end = load_relaxed(OWN, &table->fresh);

    for (uint64_t index = HAFT_FIRST_INDEX; slots->has_pins && index < end; index++) {
        const atomic_u64 *pins = slots_pins(slots, slots_word(slots, index));

        if ((load_relaxed(OWN, pins) & PIN_COUNT) != 0) {
            return true;
        }
    }
    return false;
}

/*
 * Until no reader has an object that lives, or is in the list of freed ones: these have no ticket.
 * Objects that were aborted, or taken back up to a pin, have no readers.
 */
static void wait_for_readers(haft_table *table)
{
    if (haft_table_stats_get(table).live != 0 || !list_is_empty(table, LIST_FREED)) {
        domain_wait_for(table->domain, domain_ticket(table->domain));
    }
}

/*
 * Take back all slots that wait, and wait for their tickets, except for those that callbacks take
 * meanwhile: no other thread uses the table, and no thread has resolved since the pass began.  The
 * tickets of other tables hold nothing up here.  True if there was anything.
 */
static bool take_all_back(haft_worker *worker)
{
    haft_domain *domain = worker->table->domain;
    const uint64_t requested = domain_requested(domain);
    struct reclaim_call call;
    struct batch *batch;

    reclaim_begin(&call, worker);
    bool found = gather_all_lists(worker, &call);

    while ((batch = shelf_take_waiting(worker)) != NULL) {
        const uint64_t ticket = load_relaxed(OWN, &batch->ticket);

        domain_wait_for(domain, ticket < requested ? ticket : requested);
        reclaim_batch(worker, &call, batch);
        found = true;
    }
    return found;
}

/* Callbacks may free and unpin meanwhile, so a pass that found something is not the last one. */
static void run_passes(haft_table *table, haft_worker *worker)
{
    do {
        implicit_flush(table);
        wait_for_readers(table);
    } while (take_all_back(worker) && table->on_reclaim != NULL);
}

/* A borrowed worker is a new one if no worker is closed. */
static haft_status run_passes_by_borrowed(haft_table *table)
{
    haft_worker *worker = worker_borrow(table);

    if (worker == NULL) {
        return HAFT_NO_MEMORY;
    }
    run_passes(table, worker);
    worker_return(worker);
    return HAFT_OK;
}

/*
 * By the thread's implicit worker if it has one: borrowing may need memory, and a program that is
 * out of memory closes its tables.  A table without workers never had an object.
 */
static haft_status take_table_back(haft_table *table)
{
    haft_worker *own = implicit_own(table);

    if (own != NULL) {
        run_passes(table, own);
        return HAFT_OK;
    }
    return roster_first(table) != NULL ? run_passes_by_borrowed(table) : HAFT_OK;
}

static void set_closing(haft_table *table, bool is_closing)
{
    registry_lock();
    table->is_closing = is_closing;
    registry_unlock();
}

static haft_status try_to_drain(haft_table *table)
{
    haft_status status = domain_check_moment(table->domain);

    status = status == HAFT_OK ? take_table_back(table) : status;
    return status == HAFT_OK && (has_pins(table) || shared_sides_are_open(table)) ? HAFT_IN_USE
                                                                                  : status;
}

/* Callbacks may have opened workers. */
static haft_status try_to_close(haft_table *table)
{
    const haft_status status = implicit_others(table) == 0 ? try_to_drain(table) : HAFT_IN_USE;

    return status == HAFT_OK ? implicit_close(table) : status;
}

HAFT_INTERNAL haft_status drain_table(haft_table *table)
{
    haft_status status =
        callback_is_running() ? HAFT_IN_CALLBACK : domain_check_process(table->domain);

    if (status != HAFT_OK) {
        return status;
    }
    set_closing(table, true);
    status = try_to_close(table);
    if (status != HAFT_OK) {
        set_closing(table, false);
        return status;
    }
    assert(census_is_right(table));
    assert(haft_table_stats_get(table).retired == 0);
    return HAFT_OK;
}

/* concurrent/extra/explain_table.c */

/* Statuses of the shared table, in words. */

/* The reason why slots still wait for a grace period. */
static void add_wait(struct text *text, haft_domain *domain)
{
    uint64_t ticket;
    const uint64_t waited_ns = domain_waited_ns(domain, &ticket);
    haft_stall stall = {.domain = NULL};

    if (domain->clock == &frame_clock) {
        text_add(text, ": the next haft_domain_tick()");
        return;
    }
    if (waited_ns == 0) {
        return;
    }
    text_add(text, ", which has lasted ");
    text_add_time(text, waited_ns);
    domain_blame(domain, &stall);
    if (stall.worker != NULL && stall.thread == os_thread_number()) {
        text_add(text, "; this thread holds it up until its next quiescent point");
    } else if (stall.worker != NULL) {
        text_add(text, "; worker %p of thread %" PRIu64 " holds it up", (void *)stall.worker,
                 stall.thread);
    }
}

static void add_busy(struct text *text, const haft_table *table, const haft_table_stats *stats)
{
    text_add(text, "busy: ");
    if (stats->retired == 0) {
        text_add(text, "free slots are on their way between workers");
        return;
    }
    text_add_counted(text, stats->retired, "slot");
    text_add(text, " %s for ", stats->retired == 1 ? "waits" : "wait");
    text_add(text, table->slots.has_pins ? "pins to go, or for " : "");
    text_add(text, "a grace period");
    add_wait(text, table->domain);
    if (table->waiting_bytes != 0) {
        text_add(text, "; waiting_bytes allows %" PRIu64, table->waiting_slots);
    }
}

static void add_full(struct text *text, const haft_table *table, const haft_table_stats *stats)
{
    const struct use use = {stats->live, stats->reserved, stats->exhausted};

    explain_full(text, table->capacity, &use);
    if (stats->live + stats->reserved + stats->exhausted < table->capacity) {
        text_add(text, "; other workers may hold the rest back");
    }
}

/* What keeps the table from being closed; whether an object is pinned, only a walk would tell. */
static void add_in_use(struct text *text, const haft_table *table)
{
    const uint64_t workers = implicit_others(table);
    const bool sides = shared_sides_are_open(table);

    text_add(text, "in use: ");
    if (workers != 0) {
        text_add_counted(text, workers, "worker");
        text_add(text, " open%s", sides ? ", and sides" : "");
    } else if (sides) {
        text_add(text, "sides open");
    } else {
        text_add(text, table->slots.has_pins ? "objects pinned, or " : "");
        text_add(text, "a call without a worker under way");
    }
}

/* In given memory a call asks the system for nothing: it has lacked a worker, or a thread. */
static void add_no_memory(struct text *text, const haft_table *table, const haft_table_stats *stats)
{
    const haft_domain *domain = table->domain;

    if (table->given_workers != NULL && stats->workers >= table->given_count) {
        text_add(text, "no memory: all declared workers are in use, ");
        text_add_count(text, table->given_count);
    } else if (domain_threads_are_used_up(domain)) {
        text_add(text, "no memory: all declared threads of the domain are in use, ");
        text_add_count(text, domain->given_count);
    } else {
        explain_no_memory(text, &table->slots, stats->high_water);
    }
}

int haft_table_explain(const haft_table *table, haft_status status, char *line, size_t size)
{
    const haft_table_stats stats = haft_table_stats_get(table);
    struct text text = text_in(line, size);

    text_add(&text, "%s: ", table->name);
    if (status == HAFT_FULL) {
        add_full(&text, table, &stats);
    } else if (status == HAFT_BUSY) {
        add_busy(&text, table, &stats);
    } else if (status == HAFT_IN_USE) {
        add_in_use(&text, table);
    } else if (status == HAFT_NO_MEMORY) {
        add_no_memory(&text, table, &stats);
    } else {
        text_add(&text, "%s", haft_status_text(status));
    }
    return text_length(&text);
}

int haft_diagnose_format(const haft_table *table, haft_id id, char *text, size_t size)
{
    return sites_describe(&table->slots, table->name, id, haft_diagnose(table, id), text, size);
}

/*
 * concurrent/extra/orphans.h - a table whose other threads have gone, in the middle of any call.
 */

/*
 * Close the workers of all other threads, and put every free slot where it can be found again.  The
 * process has one thread, outside callbacks; O(slots ever used).
 */
HAFT_INTERNAL void orphans_collect(haft_table *table);

/* concurrent/extra/fork.c */

/*
 * Fork: a child goes on with its parent's tables.
 *
 * The thread that forks has the lock of the lists of tables, domains and implicit workers, so these
 * are whole in the child.  Each clock forgets the other threads in its own way; each table collects
 * the slots that they have left (orphans.c).
 */

static _Thread_local unsigned depth;

void haft_before_fork(void)
{
    if (depth++ == 0) {
        registry_lock();
    }
}

void haft_after_fork_parent(void)
{
    if (--depth == 0) {
        registry_unlock();
    }
}

/* A command set's worker names the thread that used it last: now the one that is left. */
static void take_over_sets(const haft_table *table)
{
    for (haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        if (worker_state(worker) == WORKER_OPEN && worker->is_of_set) {
            roster_hand_over(worker);
        }
    }
}

/* Only the frame clock lets a set change threads, and domain_after_fork() may replace another clock
 * by that one: so this comes first. */
static void take_over_all_sets(void)
{
    for (const haft_table *table = first_open_table(); table != NULL; table = table->next_open) {
        if (!table->is_closing && table->domain->clock == &frame_clock) {
            take_over_sets(table);
        }
    }
}

void haft_after_fork_child(void)
{
    if (--depth != 0) {
        return;
    }
    take_over_all_sets();
    for (haft_domain *domain = first_open_domain(); domain != NULL; domain = domain->next_open) {
        domain_after_fork(domain);
    }
    assert(!callback_is_running()); /* it may have slots in hand, which would be found twice */
    for (haft_table *table = first_open_table(), *next; table != NULL && !callback_is_running();
         table = next) {
        next = table->next_open;
        if (table->is_closing) {
            tables_remove(table); /* by a thread that is gone */
            continue;
        }
        orphans_collect(table);
        sides_after_fork(&table->sides);
    }
    implicit_after_fork();
    registry_unlock();
}

/* concurrent/extra/implicit.c */

/*
 * Implicit workers: a layer over opening and closing, with a key of thread-specific data.
 *
 * Each entry is in two lists: its thread's, and that of all, under the registry's lock.  An entry
 * stands for its worker only while that is open and was not opened again since; so a worker that
 * was closed by hand is not closed again.  A thread that ends closes its workers under the lock,
 * and calls nothing back: another thread that closes the table sees each of them either open, with
 * its entry, or closed, with all that it held handed on.
 */

/* A worker, and the table and the thread that it was opened for. */
struct opened {
    uint64_t number; /* the table's */
    haft_worker *worker;
    uint64_t openings; /* the worker's */
    uint64_t thread;   /* thread_number() of the one that opened it */
};

struct entry {
    struct opened opened;
    struct entry *next;     /* of the thread; newest first */
    struct entry *next_all; /* in the list of all */
    struct entry **link;    /* the pointer to this one in it; NULL: it has left the list */
};

static struct os_key entries_key;
static bool has_key;              /* under the lock */
static struct entry *all_entries; /* under the lock */
static _Thread_local struct entry *own_entries;
static _Thread_local struct opened latest;

/* Under the lock. */
static void unlink_entry(struct entry *entry)
{
    if (entry->link != NULL) {
        *entry->link = entry->next_all;
        if (entry->next_all != NULL) {
            entry->next_all->link = entry->link;
        }
        entry->link = NULL;
    }
}

/* Under the lock. */
static void link_entry(struct entry *entry)
{
    entry->next_all = all_entries;
    entry->link = &all_entries;
    if (all_entries != NULL) {
        all_entries->link = &entry->next_all;
    }
    all_entries = entry;
}

/* Whether the worker, of a table that is open, is still the one that was opened. */
static bool is_current(const struct opened *opened)
{
    return worker_is_open_by(opened->worker, opened->thread) &&
           opened->worker->openings == opened->openings;
}

/* The worker closes and hands on all that it holds; nothing is called back.  Under the lock. */
static void close_worker(const struct entry *entry)
{
    if (entry->link != NULL && is_current(&entry->opened)) {
        worker_flush(entry->opened.worker);
        worker_end(entry->opened.worker);
    }
}

/* Outside the lock: a hook in free() may use a table. */
static void free_entries(struct entry *entry)
{
    while (entry != NULL) {
        struct entry *next = entry->next;

        free(entry);
        entry = next;
    }
}

/* The thread ends. */
static void close_own(void *arg)
{
    struct entry *ended = own_entries;

    (void)arg;
    own_entries = NULL;
    latest = (struct opened){0};
    registry_lock();
    for (struct entry *entry = ended; entry != NULL; entry = entry->next) {
        close_worker(entry);
        unlink_entry(entry);
    }
    registry_unlock();
    free_entries(ended);
}

/* The library is unloaded before its threads end, or the process ends: their workers stay open. */
static __attribute__((destructor)) void forget_key(void)
{
    registry_lock();
    if (has_key) {
        os_key_close(&entries_key);
        has_key = false;
    }
    registry_unlock();
}

/* The calling thread's workers close with it.  False: not this time. */
static bool watch_thread(void)
{
    bool done;

    registry_lock();
    has_key = has_key || os_key_open(&entries_key, close_own);
    done = has_key && os_key_set(&entries_key, &own_entries);
    registry_unlock();
    return done;
}

/* Entries of tables that have ended, and of workers closed by hand, go. */
static void tidy(void)
{
    struct entry **link = &own_entries;
    struct entry *gone = NULL;

    registry_lock();
    while (*link != NULL) {
        struct entry *entry = *link;

        if (entry->link == NULL || !is_current(&entry->opened)) {
            unlink_entry(entry);
            *link = entry->next;
            entry->next = gone;
            gone = entry;
        } else {
            link = &entry->next;
        }
    }
    registry_unlock();
    free_entries(gone);
}

static haft_status open_one(haft_table *table)
{
    struct entry *entry = watch_thread() ? malloc(sizeof *entry) : NULL;
    haft_worker *worker;

    if (entry == NULL) {
        return HAFT_NO_MEMORY;
    }
    tidy();
    const haft_status status = haft_worker_open(table, &worker);

    if (status != HAFT_OK) {
        free(entry);
        return status;
    }
    latest = (struct opened){table->number, worker, worker->openings, thread_number()};
    *entry = (struct entry){latest, own_entries, NULL, NULL};
    own_entries = entry;
    registry_lock();
    link_entry(entry);
    registry_unlock();
    return HAFT_OK;
}

/* Whether it is the table's, and its worker still the thread's. */
static bool belongs_to(const struct opened *opened, const haft_table *table)
{
    return opened->number == table->number && is_current(opened);
}

/* Makes the table's entry, if the thread has one, the latest. */
static bool find_own(const haft_table *table)
{
    for (const struct entry *entry = own_entries; entry != NULL; entry = entry->next) {
        if (belongs_to(&entry->opened, table)) {
            latest = entry->opened;
            return true;
        }
    }
    return false;
}

HAFT_INTERNAL haft_worker *implicit_own(const haft_table *table)
{
    return belongs_to(&latest, table) || find_own(table) ? latest.worker : NULL;
}

haft_status haft_worker_current(haft_table *table, haft_worker **worker)
{
    haft_worker *own = implicit_own(table);

    if (own == NULL) {
        const haft_status status = open_one(table);

        if (status != HAFT_OK) {
            return status;
        }
        own = latest.worker;
    }
    *worker = own;
    return HAFT_OK;
}

/* --- closing --- */

/* Whether it closes with the table, on the calling thread.  Under the lock. */
static bool closes_with(const struct entry *entry, const haft_table *table)
{
    return entry->opened.number == table->number && is_current(&entry->opened) &&
           domain_may_leave(table->domain, entry->opened.worker->member);
}

/* Under the lock. */
static uint64_t count_closing(const haft_table *table)
{
    uint64_t count = 0;

    for (const struct entry *entry = all_entries; entry != NULL; entry = entry->next_all) {
        count += closes_with(entry, table);
    }
    return count;
}

/* Of the open workers, those that do not close with the table.  Under the lock. */
static uint64_t count_others(const haft_table *table)
{
    const uint64_t closing = count_closing(table);
    const uint64_t open = roster_open(table);

    return open > closing ? open - closing : 0; /* one may have been closed in between */
}

HAFT_INTERNAL uint64_t implicit_others(const haft_table *table)
{
    registry_lock();
    const uint64_t others = count_others(table);

    registry_unlock();
    return others;
}

HAFT_INTERNAL void implicit_flush(const haft_table *table)
{
    registry_lock();
    for (const struct entry *entry = all_entries; entry != NULL; entry = entry->next_all) {
        if (closes_with(entry, table)) {
            worker_flush(entry->opened.worker);
        }
    }
    registry_unlock();
}

/* Under the lock. */
static void close_with(const haft_table *table)
{
    struct entry *next;

    for (struct entry *entry = all_entries; entry != NULL; entry = next) {
        next = entry->next_all;
        if (entry->opened.number == table->number) {
            if (closes_with(entry, table)) {
                worker_end(entry->opened.worker);
            }
            unlink_entry(entry);
        }
    }
}

HAFT_INTERNAL haft_status implicit_close(const haft_table *table)
{
    registry_lock();
    const haft_status status = count_others(table) == 0 ? HAFT_OK : HAFT_IN_USE;

    if (status == HAFT_OK) {
        close_with(table);
    }
    registry_unlock();
    return status;
}

HAFT_INTERNAL void implicit_after_fork(void)
{
    for (struct entry *entry = all_entries, *next; entry != NULL; entry = next) {
        next = entry->next_all;
        if (entry->opened.thread != thread_number()) {
            unlink_entry(entry);
            free(entry);
        }
    }
}

/* concurrent/extra/many.c */

/*
 * Many at once: insert and free do their common steps once for a batch.
 *
 * Insertions are counted together, before the first of them is seen.  Frees are counted one by
 * one: if the count lagged behind by a batch while others insert, stats_shortage()
 * could say HAFT_FULL of a table that was never full.
 */

#define SLOTS_AHEAD 8 /* slots fetched ahead, to be written */

static void fetch(const struct slots *slots, uint64_t index)
{
    __builtin_prefetch(slots_word(slots, index), 1);
}

/* The words of the first slots are on their way. */
static void fetch_first(const struct slots *slots, const uint32_t *indices, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < SLOTS_AHEAD; i++) {
        fetch(slots, indices[i]);
    }
}

/* Slot number `i`, with another on its way. */
static inline uint64_t slot_at(const struct slots *slots, const uint32_t *indices, uint32_t count,
                               uint32_t i)
{
    if (count - i > SLOTS_AHEAD) {
        fetch(slots, indices[i + SLOTS_AHEAD]);
    }
    return indices[i];
}

/* The objects are a few whole words each. */
static void insert_words(const haft_worker *worker, const uint32_t *indices, uint32_t count,
                         const char *objects, haft_id *ids)
{
    const struct slots slots = {.view = worker->view, .format = worker->table->slots.format};
    const size_t size = worker->object_size;

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t index = slot_at(&slots, indices, count, i);
        atomic_u64 *word = slots_word(&slots, index);
        const haft_id id = life_next_id(&slots, word, index);

        object_copy_words(slots_object(word), objects + i * size, size);
        life_publish(word, id);
        ids[i] = id;
    }
}

/* Objects of any size, or zeros. */
static void insert_sized(haft_worker *worker, const uint32_t *indices, uint32_t count,
                         const void *caller, const char *objects, haft_id *ids)
{
    const struct slots *slots = &worker->table->slots;

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t index = slot_at(slots, indices, count, i);
        atomic_u64 *word = slots_word(slots, index);

        ids[i] = life_next_id(slots, word, index);
        sites_note_birth(&slots->sites, index, caller);
        slots_fill(slots, slots_object(word),
                   objects != NULL ? objects + i * slots->object_size : NULL);
        life_publish(word, ids[i]);
    }
}

static void insert_found(haft_worker *worker, uint32_t count, const void *caller,
                         const char *objects, haft_id *ids)
{
    const struct slots *slots = &worker->table->slots;
    const uint32_t *indices = hand_next(worker);

    tally(&worker->counters.inserted, count);
    fetch_first(slots, indices, count);
    if (objects != NULL && worker->table->is_quick && slots->sites.records == NULL) {
        insert_words(worker, indices, count, objects, ids);
    } else {
        insert_sized(worker, indices, count, caller, objects, ids);
    }
}

size_t haft_insert_many(haft_worker *worker, const void *objects, haft_id *ids, size_t count,
                        haft_status *why)
{
    debug_check(worker);
    const size_t size = worker->table->slots.object_size;
    const char *bytes = objects;
    haft_status status = HAFT_OK;
    size_t done = 0;
    uint32_t found;
    const void *caller = CALLER;

    while (done < count && (status = supply_find(worker, count - done, &found)) == HAFT_OK) {
        insert_found(worker, found, caller, bytes != NULL ? bytes + done * size : NULL, ids + done);
        done += found;
    }
    if (why != NULL) {
        *why = status;
    }
    return done;
}

size_t haft_free_many(haft_worker *worker, const haft_id *ids, size_t count, haft_status *statuses)
{
    debug_check(worker);
    const struct slots *slots = &worker->table->slots;
    const uint64_t last_life = hand_last_life(worker);
    const void *caller = CALLER;
    size_t done = 0;

    for (size_t i = 0; i < count && i < SLOTS_AHEAD; i++) {
        fetch(slots, ids[i].bits & slots->view.mask);
    }
    for (size_t i = 0; i < count; i++) {
        if (count - i > SLOTS_AHEAD) {
            fetch(slots, ids[i + SLOTS_AHEAD].bits & slots->view.mask);
        }
        const haft_status status = haft_worker_front_free(worker, slots->view, last_life, ids[i])
                                       ? HAFT_OK
                                       : worker_free(worker, ids[i], caller);

        done += status == HAFT_OK;
        if (statuses != NULL) {
            statuses[i] = status;
        }
    }
    return done;
}

/* concurrent/extra/orphans.c */

/*
 * Slots that no thread leads to any more, after a fork.
 *
 * The threads that are gone may have been anywhere: with a batch in hand, in the middle of a push,
 * inside on_reclaim.  Of all that leads to free slots, the child believes only the words of the
 * slots, the extents, the lists through the words, and the list of released runs: each of these
 * changes in one step.  All rings, depots, batches and descriptors begin anew, and each slot that
 * is neither live, reserved, exhausted, pinned nor fresh goes into a new batch: ready if it had
 * been taken back or was never used, else under a new ticket.
 *
 * An on_reclaim that had begun on a thread that is gone does not begin again.  Nor does one begin
 * for a slot that such a thread was moving into or out of a list: its link hides the mark.
 *
 * Edges in this file.
 *   OWN   the process has one thread
 */

struct orphans {
    haft_table *table;
    haft_worker *worker; /* whose rings the batches go to */
    struct batch *ready;
    struct batch *waiting;
    struct stock stock;
    uint64_t known_to; /* below, slots from the one looked at on are fresh, or are not */
    bool is_fresh;
};

/* --- the state that the other threads left --- */

/* A callback had begun for `id`: its slot is as good as taken back. */
static void forget_callback(const haft_table *table, uint64_t id)
{
    const struct word_format *format = &table->slots.format;
    const uint64_t index = word_index(format, id);
    atomic_u64 *at = slots_word(&table->slots, index);
    const uint64_t word = load_relaxed(OWN, at);

    /* Another thread may have restored or recycled the slot since. */
    if (id != 0 && word_index(format, word) == MARK_FREE &&
        word_last_life(format, word, index).bits == id) {
        store_relaxed(OWN, at, life_after(&table->slots, word));
    }
}

static void reset_worker(haft_worker *worker)
{
    asan_unpoison(worker, sizeof *worker);
    hand_fill(worker, pool_take(&worker->table->pool, &worker->segment));
    hand_open(worker, pool_take(&worker->table->pool, &worker->segment));
    worker->spare_count = 0;
    memset(&worker->backlog, 0, sizeof worker->backlog);
    store_relaxed(OWN, &worker->waiting.head, load_relaxed(OWN, &worker->waiting.tail));
    store_relaxed(OWN, &worker->ready.head, load_relaxed(OWN, &worker->ready.tail));
    forget_callback(worker->table, load_relaxed(OWN, &worker->in_hand));
    store_relaxed(OWN, &worker->in_hand, 0);
}

/* Each worker holds nothing, and nothing of the budget if its thread is gone. */
static void reset_workers(haft_table *table)
{
    uint64_t budget = table->budget_size;

    for (haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        reset_worker(worker);
        if (worker_is_own(worker)) {
            budget -= 2 * (uint64_t)(worker->batch_limit - 1);
        } else {
            worker_set_batch_limit(worker, 1);
        }
    }
    store_relaxed(OWN, &table->budget, budget);
    store_relaxed(OWN, &table->drawing, 0);
}

/* Not before the slots have been put: a worker that is closed may not be used. */
static void close_others(const haft_table *table)
{
    for (haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        if (!worker_is_own(worker)) {
            roster_leave(worker);
        }
    }
}

/* The slots of a list, from `index` on, have their mark again. */
static void dissolve(const struct slots *slots, uint64_t index, uint64_t mark)
{
    while (index >= HAFT_FIRST_INDEX && index != NUMBER_NONE) {
        atomic_u64 *at = slots_word(slots, index);
        const uint64_t word = load_relaxed(OWN, at);

        store_relaxed(OWN, at, word_with_index(&slots->format, word, mark));
        index = word_index(&slots->format, word);
    }
}

static void dissolve_lists(haft_table *table)
{
    const struct slots *slots = &table->slots;

    for (int kind = 0; kind < LIST_COUNT; kind++) {
        dissolve(slots, tagged_number(load_relaxed(OWN, &table->lists[kind].head)),
                 list_mark((enum list_kind)kind));
    }
    dissolve(slots, load_relaxed(OWN, &table->legacy.listed), MARK_END);
    lists_open(table);
    store_relaxed(OWN, &table->legacy.listed, MARK_END);
}

#define SEEN (UINT64_C(1) << NUMBER_BITS) /* in the link of a run that is in the list */

/* A run that some thread had taken out of the list, or not put into it, is like any other. */
static void mend_runs(haft_table *table)
{
    const struct runs *runs = &table->slots.runs;
    const uint64_t end = runs_of(runs, load_relaxed(OWN, &table->fresh));
    uint64_t run = tagged_number(load_relaxed(OWN, &table->released.head));
    uint64_t slots = 0;

    if (runs->stay) {
        return;
    }
    while (run != NUMBER_NONE) {
        const uint64_t next = tagged_number(runs_link(runs, run));

        runs_set_link(runs, run, SEEN | next);
        slots += runs_end(runs, run) - runs_first(runs, run);
        run = next;
    }
    for (run = 0; run < end; run++) {
        const uint64_t link = runs_link(runs, run);
        const uint64_t next = tagged_number(link);

        if (link - next == SEEN) {
            runs_set_link(runs, run, next == NUMBER_NONE ? RUN_LAST : next);
        } else if (link != RUN_IN_USE) {
            runs_set_link(runs, run, RUN_IN_USE);
        }
    }
    store_relaxed(OWN, &table->released.slots, slots);
}

/* --- the slots --- */

/* Whether slot `index` is in an extent; up to `*until` the answer is the same. */
static bool is_in_extent(const haft_table *table, uint64_t index, uint64_t *until)
{
    *until = UINT64_MAX;
    for (const haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        const haft_range range = fresh_range(worker);

        if (range.from <= index && index < range.to) {
            *until = range.to;
            return true;
        }
        if (index < range.from && range.from < range.to && range.from < *until) {
            *until = range.from;
        }
    }
    return false;
}

/* Whether slot `index`, one after the last that was asked for, is there to be drawn. */
static bool is_fresh(struct orphans *orphans, uint64_t index)
{
    const haft_table *table = orphans->table;
    const uint64_t run = runs_of(&table->slots.runs, index);

    if (index >= orphans->known_to) {
        orphans->is_fresh = is_in_extent(table, index, &orphans->known_to);
    }
    return orphans->is_fresh || released_has(table, run);
}

static void put_ready(struct orphans *orphans, uint64_t index)
{
    struct batch *batch = orphans->ready;

    batch->indices[batch->count++] = (uint32_t)index;
    if (batch->count == orphans->table->batch_max) {
        orphans->ready = shelf_empty_batch(orphans->worker);
        shelf_offer(orphans->worker, batch);
    }
}

static void put_waiting(struct orphans *orphans, uint64_t index)
{
    struct batch *batch = orphans->waiting;

    orphans->stock.retired++;
    batch->has_last_lives = true; /* perhaps */
    batch->indices[batch->count++] = (uint32_t)index;
    if (batch->count == orphans->table->batch_max) {
        orphans->waiting = shelf_empty_batch(orphans->worker);
        retire_batch(orphans->worker, batch);
    }
}

/* A freed slot, whose callback has not begun.  A slot that has pins goes nowhere. */
static void put_freed(struct orphans *orphans, uint64_t index, atomic_u64 *at)
{
    const struct slots *slots = &orphans->table->slots;
    const uint64_t pins = slots->has_pins ? load_relaxed(OWN, slots_pins(slots, at)) : 0;

    if (pins > PIN_TAKEN) {
        orphans->stock.retired++;
        return;
    }
    if (pins == PIN_TAKEN) {
        store_relaxed(OWN, slots_pins(slots, at), 0);
    }
    put_waiting(orphans, index);
}

/*
 * A slot that was taken back, or never used: ready.  One with a link in its word may have been
 * freed just before the fork, and the thread that forked may read its object still: it waits.
 */
static void put_free(struct orphans *orphans, uint64_t index, atomic_u64 *at, uint64_t word)
{
    const struct slots *slots = &orphans->table->slots;
    const bool is_aside = index < orphans->table->restore_end;

    if (is_aside && word == 0) {
        return;
    }
    const bool is_linked = word_index(&slots->format, word) >= HAFT_FIRST_INDEX;

    word = life_after(slots, slots_begin_at(slots, index, word));
    if (!is_linked) {
        slots_poison(slots, at);
    }
    store_relaxed(OWN, at, word);
    if (word_index(&slots->format, word) == MARK_EXHAUSTED) {
        orphans->stock.exhausted += !is_aside;
        orphans->stock.restore_exhausted += is_aside;
    } else if (is_linked) {
        put_waiting(orphans, index);
    } else if (!is_aside) {
        put_ready(orphans, index);
    }
}

/*
 * Whether a slot with a link in its word was on its way into a list of freed slots, or out of it.
 * It may also have been given up, or come from a local table, and has no pins then; where that
 * cannot be told, no callback runs for it.
 */
static bool was_freed(const haft_table *table, uint64_t index, atomic_u64 *at)
{
    const bool has_others =
        table->legacy.local != NULL || load_relaxed(OWN, &table->counters.aborted) != 0;

    return !has_others || index < table->restore_end ||
           (table->slots.has_pins && load_relaxed(OWN, slots_pins(&table->slots, at)) != 0);
}

static void look_at(struct orphans *orphans, uint64_t index)
{
    const struct slots *slots = &orphans->table->slots;
    const bool is_aside = index < orphans->table->restore_end;
    atomic_u64 *at = slots_word(slots, index);
    const uint64_t word = load_relaxed(OWN, at);
    const uint64_t mark = word_index(&slots->format, word);

    orphans->stock.restore_first_used += is_aside && word != 0;
    if (mark == index) {
        orphans->stock.live++;
        orphans->stock.restored += is_aside;
    } else if (mark == MARK_RESERVED) {
        orphans->stock.reserved++;
    } else if (mark == MARK_EXHAUSTED) {
        orphans->stock.exhausted += !is_aside;
        orphans->stock.restore_exhausted += is_aside;
    } else if (mark == MARK_FREE) {
        put_freed(orphans, index, at);
    } else if (mark >= HAFT_FIRST_INDEX && was_freed(orphans->table, index, at)) {
        store_relaxed(OWN, at, word_with_index(&slots->format, word, MARK_FREE));
        put_freed(orphans, index, at);
    } else if (is_aside || !is_fresh(orphans, index)) {
        put_free(orphans, index, at, word);
    }
}

static void look_at_all(struct orphans *orphans)
{
    const uint64_t end = load_relaxed(OWN, &orphans->table->fresh);

    orphans->ready = shelf_empty_batch(orphans->worker);
    orphans->waiting = shelf_empty_batch(orphans->worker);
    for (uint64_t index = HAFT_FIRST_INDEX; index < end; index++) {
        look_at(orphans, index);
    }
    shelf_ready(orphans->worker, orphans->ready);
    if (orphans->waiting->count != 0) {
        retire_batch(orphans->worker, orphans->waiting);
    } else {
        shelf_give_batch(orphans->worker, orphans->waiting);
    }
}

/* A worker of the forking thread, whose quiescent points look at its batches; else any. */
static haft_worker *collector(const haft_table *table)
{
    for (haft_worker *worker = roster_first(table); worker != NULL; worker = worker->next) {
        if (worker_is_own(worker)) {
            return worker;
        }
    }
    return roster_first(table);
}

HAFT_INTERNAL void orphans_collect(haft_table *table)
{
    struct orphans orphans = {.table = table, .worker = collector(table)};

    dissolve_lists(table);
    store_relaxed(OWN, &table->collecting, 0);
    mend_runs(table);
    pool_reset(&table->pool);
    reset_workers(table);
    depot_open(&table->waiting, &table->pool);
    depot_open(&table->ready, &table->pool);
    if (orphans.worker != NULL) {
        look_at_all(&orphans);
    }
    close_others(table);
    stats_correct(table, &orphans.stock);
    store_relaxed(OWN, &table->restored, orphans.stock.restored);
}

/* concurrent/extra/pin.c */

/*
 * Pins: a counter behind each object.
 *
 * After its grace period a retired slot gets no further pins: its id matches no more, and every
 * section that had resolved it has ended.  The thread that takes the slot back sets PIN_TAKEN in
 * the counter; if it had pins, the thread that gives the last one back puts the slot into the
 * table's list of unpinned ones, from which it is taken back.  The flag decides, not the word: both
 * threads would read "retired" there.  No callback runs in an unpin, so a chain of objects of which
 * each holds a pin on the next is taken back one by one.
 *
 * Edges in this file.
 *   PIN      haft_unpin (release) -> is_pinned, haft_unpin (acquire): the use of the object before
 *            the reuse of its memory; is_pinned (release) -> haft_unpin (acquire): the grace period
 *            before it
 *   RETRY    a first look; the compare-and-swap decides
 *   COUNT    an addition within a section that the grace period waits for; a snapshot
 */

/* NULL in a table without the option `pins`. */
static atomic_u64 *pins_of(const haft_table *table, uint64_t index)
{
    if (!table->slots.has_pins) {
        return NULL;
    }
    return slots_pins(&table->slots, slots_word(&table->slots, index));
}

void *haft_pin(haft_table *table, haft_id id)
{
    void *object = haft_resolve(table->slots.view, id);

    if (object == NULL) {
        return NULL;
    }
    atomic_u64 *pins = pins_of(table, word_index(&table->slots.format, id.bits));

    if (pins == NULL) {
        return NULL;
    }
    if ((fetch_add_relaxed(COUNT, pins, 1) & PIN_COUNT) >= HAFT_PINS_MOST) {
        fetch_add_relaxed(COUNT, pins, UINT64_MAX);
        return NULL;
    }
    return object;
}

/* Whether the word is that of the object that `id` names, or named until it was freed. */
static bool is_of(const haft_table *table, haft_id id)
{
    const struct word_format *format = &table->slots.format;
    const uint64_t index = id.bits & table->slots.view.mask;
    const uint64_t word = load_relaxed(COUNT, slots_word(&table->slots, index));
    const uint64_t mark = word_index(format, word);

    /* From the word to the id: the other way, bits above the layout would get lost.  A freed slot
     * is marked FREE, or has the next one in a list there. */
    return word == id.bits || (mark >= MARK_FREE && mark != index &&
                               word_last_life(format, word, index).bits == id.bits);
}

haft_status haft_unpin(haft_table *table, haft_id id)
{
    const uint64_t index = id.bits & table->slots.view.mask;
    atomic_u64 *pins = pins_of(table, index);
    uint64_t before;

    if (pins == NULL) {
        return HAFT_NOT_PINNED;
    }
    do {
        before = load_relaxed(RETRY, pins);
        if ((before & PIN_COUNT) == 0 || !is_of(table, id)) {
            return HAFT_NOT_PINNED;
        }
        /* Weakened, the slot could be written again before the last use under a pin. */
    } while (!cas_acq_rel(PIN, pins, before, before - 1));
    if (before == (PIN_TAKEN | 1)) {
        list_push(table, LIST_UNPINNED, index);
    }
    return HAFT_OK;
}

uint32_t haft_pins(const haft_table *table, haft_id id)
{
    atomic_u64 *pins = pins_of(table, id.bits & table->slots.view.mask);

    return pins != NULL && is_of(table, id) ? (uint32_t)(load_relaxed(COUNT, pins) & PIN_COUNT) : 0;
}

/* concurrent/extra/recycle.c */

/*
 * Exhausted slots taken back into use.
 *
 * An exhausted slot is in no batch, and only its word tells of it.  The thread that recycles it
 * takes it by the word, as haft_restore() takes a slot of its range.
 *
 * Edges in this file.
 *   REVIVE  sift, life_give_up (release) -> is_exhausted (acquire)
 *           the last use of the slot's object before its bytes are written, and the values of the
 *           slot's lives before they are cleared
 *           revive (release) -> slots_diagnose (acquire, there PUBLISH)
 *           the flag that ids repeat, before the word: with that alone, an old id would pass for
 *           one never issued
 *   COUNT   how far the table's slots were ever used
 *   HINT    ids repeat from now on: haft_diagnose() tells less
 *   RETRY   a first look; the compare-and-swap decides
 */

struct recycling {
    haft_worker *worker;
    struct batch *batch; /* to be filled */
    uint64_t slots;
};

/* Take the slot if it is exhausted: then it is free, and this thread's. */
static bool revive(const struct slots *slots, uint64_t index)
{
    atomic_u64 *at = slots_word(slots, index);
    const uint64_t word = load_relaxed(RETRY, at);

    /* Weakened, an id from before could be said never to have been issued. */
    return word_index(&slots->format, word) == MARK_EXHAUSTED &&
           cas_release(REVIVE, at, word,
                       word_with_index(&slots->format, slots->format.first, MARK_END));
}

static void recycle_slot(struct recycling *recycling, uint64_t index)
{
    haft_worker *worker = recycling->worker;
    haft_table *table = worker->table;

    /* Before any thread has an id of it. */
    store_relaxed(HINT, &table->slots.recycled, 1);
    shared_sides_forget(table, index);
    sites_forget(&table->slots.sites, index, index + 1);
    if (!revive(&table->slots, index)) {
        return;
    }
    recycling->slots++;
    if (index < table->restore_end) {
        count_up(&worker->counters.restore_recycled, 1);
        return;
    }
    count_up(&worker->counters.recycled, 1);
    recycling->batch->indices[recycling->batch->count++] = (uint32_t)index;
    if (recycling->batch->count == table->batch_max) {
        shelf_offer(worker, recycling->batch);
        recycling->batch = shelf_empty_batch(worker);
    }
}

static bool is_exhausted(const haft_table *table, uint64_t index)
{
    const struct slots *slots = &table->slots;

    /* Weakened, the object could be written before the last use of the one before, and a value be
     * set after it was cleared, for an id that is issued again. */
    return word_index(&slots->format, load_acquire(REVIVE, slots_word(slots, index))) ==
           MARK_EXHAUSTED;
}

static void recycle_all(struct recycling *recycling)
{
    const haft_table *table = recycling->worker->table;
    const struct runs *runs = &table->slots.runs;
    const uint64_t end = load_relaxed(COUNT, &table->fresh);

    recycling->batch = shelf_empty_batch(recycling->worker);
    for (uint64_t index = HAFT_FIRST_INDEX; index < end; index++) {
        if (released_has(table, runs_of(runs, index))) {
            index = runs_end(runs, runs_of(runs, index)) - 1; /* none is in there */
        } else if (is_exhausted(table, index)) {
            recycle_slot(recycling, index);
        }
    }
    shelf_offer(recycling->worker, recycling->batch);
}

haft_status haft_recycle_exhausted(haft_table *table, uint64_t *recycled)
{
    struct recycling recycling = {0};
    const haft_status status = collect_begin(table, &recycling.worker);

    if (status != HAFT_OK) {
        return status;
    }
    recycle_all(&recycling);
    collect_end(recycling.worker);
    if (recycled != NULL) {
        *recycled = recycling.slots;
    }
    return HAFT_OK;
}

/* concurrent/extra/restore.c */

/*
 * Slots that are set aside for ids chosen elsewhere.
 *
 * Such a slot is in a batch only after a free: it waits with all others for its grace period, and
 * the thread that takes it back puts it nowhere.  From then on only its word leads to it, and one
 * compare-and-swap of the word takes it.
 *
 * Edges in this file.
 *   REVIVE   sift (release) -> take_word (acquire)   the last use of the slot's former object
 *            before its bytes are written
 *   COUNT    slots in use: read with the insertions that were counted after it
 *   RETRY    a first look; the compare-and-swap decides
 */

/* The generation that a slot goes on with from `word`, in place; 0: none is left. */
static uint64_t next_generation(const struct slots *slots, uint64_t word)
{
    const struct word_format *format = &slots->format;
    const uint64_t begin = slots_begin(slots, word);

    return word_generation(format, slots->wrapped ? word_wrapped(format, begin) : begin);
}

/* What `word` says of restoring `id` in its slot. */
static haft_status check_word(const struct slots *slots, haft_id id, uint64_t word)
{
    const struct word_format *format = &slots->format;
    const uint64_t next = next_generation(slots, word);
    const uint64_t mark = word_index(format, word);

    if (mark == MARK_EXHAUSTED) {
        return HAFT_EXHAUSTED;
    }
    if (mark == MARK_RESERVED || mark == word_index(format, id.bits)) {
        return HAFT_OCCUPIED;
    }
    if (next == 0) {
        return HAFT_EXHAUSTED; /* as soon as it is taken back */
    }
    if (word_generation(format, id.bits) < next) {
        return HAFT_STALE;
    }
    return mark == MARK_END ? HAFT_OK : HAFT_BUSY;
}

/* The slot was freed and not taken back: hurry the clock, and take back all that is due. */
static void hurry_back(haft_worker *worker)
{
    supply_shortage(worker, HAFT_FULL);
    if (!callback_is_running()) {
        gather_all_due(worker);
    }
}

/* A look at the slot: HAFT_OK, or why its id cannot be restored now. */
static haft_status look(haft_worker *worker, haft_id id, const atomic_u64 *at)
{
    const struct slots *slots = &worker->table->slots;
    haft_status status = check_word(slots, id, load_relaxed(RETRY, at));

    if (status == HAFT_BUSY) {
        hurry_back(worker);
        status = check_word(slots, id, load_relaxed(RETRY, at));
    }
    return status;
}

/* The slot of `id` is reserved for it: HAFT_OK and the word before, or why not. */
static haft_status take_word(const struct slots *slots, haft_id id, atomic_u64 *at,
                             uint64_t *before)
{
    const uint64_t reserved = word_with_index(&slots->format, id.bits, MARK_RESERVED);
    haft_status status;

    do {
        *before = load_relaxed(RETRY, at);
        status = check_word(slots, id, *before);
        /* Weakened, the object could be written before the last use of the one before. */
    } while (status == HAFT_OK && !cas_acquire(REVIVE, at, *before, reserved));
    return status;
}

/* `id` is reserved in its slot, whose word was `before`. */
static void note_sites(const struct slots *slots, haft_id id, uint64_t before, const void *caller)
{
    const uint64_t index = word_index(&slots->format, id.bits);

    if (word_generation(&slots->format, id.bits) != next_generation(slots, before)) {
        sites_forget(&slots->sites, index, index + 1);
    }
    sites_note_birth(&slots->sites, index, caller);
}

static haft_status restore(haft_worker *worker, haft_id id, const void *object, const void *caller)
{
    haft_table *table = worker->table;
    const struct slots *slots = &table->slots;
    atomic_u64 *at = slots_word(slots, word_index(&slots->format, id.bits) & slots->view.mask);
    haft_status status = slots_check_chosen(slots, id, table->restore_end);
    uint64_t before;

    status = status == HAFT_OK ? look(worker, id, at) : status;
    status = status == HAFT_OK ? take_word(slots, id, at, &before) : status;
    if (status == HAFT_OK) {
        count_up(&worker->counters.restore_first_used, before == 0);
        fetch_add_relaxed(COUNT, &table->restored, 1);
        tally(&worker->counters.reserved, 1); /* `inserted` counts slots of the filling batch */
        count_up(&worker->counters.published, 1);
        note_sites(slots, id, before, caller);
        slots_fill(slots, slots_object(at), object);
        life_publish(at, id);
    }
    return status;
}

haft_status haft_restore(haft_worker *worker, haft_id id, const void *object)
{
    debug_check(worker);
    const haft_status status = restore(worker, id, object, CALLER);

    return status;
}

/* concurrent/extra/scan.c */

/*
 * Scans: the ranges of slots to look at.
 *
 * A slot is fresh from the table's bump on, while it is in some worker's extent, and while its run
 * is in the list of released ones.  It leaves its extent, or its run the list, before its first
 * object is inserted, and comes back into none while that lives.  So a thread that knows of the
 * object sees the bump above it, and no extent or run in the list around it, however late they are
 * read.
 *
 * Edges in this file.
 *   ONWARD  the bump only rises: objects that the caller knows to be inserted lie below it.  (Of
 *           slots from another worker's extent it knows by EXTENT; see fresh.c)
 *   HINT    whether there are released runs: if they are missed, their slots are looked at
 */

#define PAGE_BYTES 4096u
#define PAGES_WORTH 8 /* parts as large as this meet at ends of pages */

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t length(haft_range range)
{
    return range.to - range.from;
}

/* `range` without slots that can hold no object now: its end is that of a scan. */
static haft_range clipped(const haft_table *table, haft_range range)
{
    const uint64_t to = lesser(range.to, load_relaxed(ONWARD, &table->fresh));
    const uint64_t from = range.from < HAFT_FIRST_INDEX ? HAFT_FIRST_INDEX : range.from;

    return HAFT_RANGE(lesser(from, to), to);
}

/*
 * Move the start of `range` behind an extent that it lies in, or its end before the next extent.
 * True if the start was moved: then the end may be wrong.
 */
static bool cut(haft_range *range, haft_range extent)
{
    if (extent.from <= range->from && range->from < extent.to) {
        range->from = lesser(extent.to, range->to);
        return true;
    }
    if (extent.from != extent.to && range->from < extent.from && extent.from < range->to) {
        range->to = extent.from;
    }
    return false;
}

/* The first released run with slots in `range`, and those in a row behind it. */
static haft_range given_range(const haft_table *table, haft_range range)
{
    const struct runs *runs = &table->slots.runs;
    const uint64_t runs_to = runs_of(runs, range.to - 1) + 1;
    uint64_t run = runs_of(runs, range.from);

    while (run < runs_to && !released_has(table, run)) {
        run++;
    }
    const uint64_t from = run;

    while (run < runs_to && released_has(table, run)) {
        run++;
    }
    return HAFT_RANGE(runs_first(runs, from), runs_first(runs, run));
}

haft_range haft_used_range(const haft_table *table, haft_range range)
{
    const haft_range whole = clipped(table, range);
    haft_range used = whole;
    bool moved = true;

    while (moved && used.from != whole.to) {
        moved = false;
        used.to = whole.to;
        for (const haft_worker *worker = roster_first(table); worker != NULL && !moved;
             worker = worker->next) {
            moved = cut(&used, fresh_range(worker));
        }
        /* Only to save time: a run in the list has nothing to be found. */
        if (!moved && load_relaxed(HINT, &table->released.slots) != 0) {
            moved = cut(&used, given_range(table, used));
        }
    }
    return used;
}

haft_cursor haft_cursor_over(const haft_table *table, haft_range range)
{
    const haft_range whole = clipped(table, range);
    const haft_view view = table->slots.view;
    const haft_cursor cursor = {
        .table = table,
        .run = haft_run_over(view, HAFT_RANGE(whole.from, whole.from)),
        .end = whole.to,
    };
    return cursor;
}

uint64_t haft_scan(const haft_table *table, haft_range range, haft_visit *visit, void *arg)
{
    haft_cursor cursor = haft_cursor_over(table, range);
    uint64_t calls = 0;
    bool go_on = true;
    haft_id id;
    void *object;

    while (go_on && haft_cursor_next(&cursor, &id, &object)) {
        calls++;
        go_on = visit(id, object, arg);
    }
    return calls;
}

/* --- dividing --- */

/* Slots after which a multiple of `bytes`, a power of two, is reached again. */
static uint64_t slots_in_step(uint64_t stride, uint64_t bytes)
{
    const uint64_t common = stride & (UINT64_MAX - stride + 1); /* its lowest bit */

    return common < bytes ? bytes / common : 1;
}

/* Where two parts of `used` slots each may meet: at multiples of this. */
static uint64_t granule(uint64_t stride, uint64_t used)
{
    const uint64_t page = slots_in_step(stride, PAGE_BYTES);

    return used / PAGES_WORTH >= page ? page : slots_in_step(stride, CACHE_LINE);
}

static haft_range next_used(const haft_table *table, haft_range before, uint64_t end)
{
    return haft_used_range(table, HAFT_RANGE(before.to, end));
}

static uint64_t count_used(const haft_table *table, haft_range whole)
{
    uint64_t used = 0;

    for (haft_range run = haft_used_range(table, whole); length(run) != 0;
         run = next_used(table, run, whole.to)) {
        used += length(run);
    }
    return used;
}

void haft_scan_ranges(const haft_table *table, haft_range *ranges, size_t parts)
{
    const haft_range whole = clipped(table, HAFT_EVERYTHING);
    const uint64_t used = count_used(table, whole);
    const uint64_t step = granule(table->slots.view.stride, parts != 0 ? used / parts : 0);
    haft_range run = haft_used_range(table, whole);
    uint64_t passed = 0; /* used slots before the run */
    uint64_t wanted = 0; /* used slots before the end of part i */
    uint64_t from = whole.from;

    for (size_t i = 0; i < parts; i++) {
        wanted += used / parts + (i < used % parts);
        while (passed + length(run) < wanted && length(run) != 0) {
            passed += length(run);
            run = next_used(table, run, whole.to);
        }
        const uint64_t near = (run.from + wanted - passed + step / 2) / step * step;
        const uint64_t to = i + 1 == parts || near > whole.to ? whole.to : near;

        ranges[i] = HAFT_RANGE(from, to); /* `near` never falls back: nor does `to` */
        from = to;
    }
}

/* concurrent/extra/share.c */

/*
 * Handing a local table's slots to a shared one, and back.
 *
 * The shared table takes the slots as they are.  Slots that the local table did not use stay where
 * they were until workers take them: in a list of free slots through their words (legacy.c), and in
 * a list of fresh runs (released.c).
 *
 * The heir, a worker that no thread has opened, has the local table's past in its statistics.
 *
 * Edges in this file.
 *   OWN     one thread has both tables: before the one is handed over, after all have left it
 */

static haft_status check_moment(const haft_local *local)
{
    if (callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    const haft_status status = local_check_moment(local);

    return status == HAFT_OK && load_relaxed(OWN, &local->sides) != 0 ? HAFT_IN_USE : status;
}

/* The local table's destructor, as on_reclaim. */
static void call_destroy(void *object, haft_id id, haft_worker *worker, void *arg)
{
    const haft_local *local = arg;

    (void)worker;
    local->on_destroy(object, id, local->destroy_arg);
}

static void choose_reclaim(haft_table *table, haft_local *local, const haft_share_options *options)
{
    if (options->on_reclaim != NULL) {
        table->on_reclaim = options->on_reclaim;
        table->reclaim_arg = options->reclaim_arg;
    } else if (local->on_destroy != NULL) {
        table->on_reclaim = call_destroy;
        table->reclaim_arg = local;
    }
}

/* Index limit with room for slots that workers hold back, as far as the reservation goes. */
static uint64_t shared_limit(const haft_local *local)
{
    const uint64_t wished = HAFT_FIRST_INDEX + local->capacity + geometry_spare(local->capacity);
    const uint64_t most = local->slots.view.mask + 1;
    const uint64_t limit = wished < most ? wished : most;

    return limit > local->slots.limit ? limit : local->slots.limit;
}

/* The heir: a closed worker that counts all that the local table has done. */
static haft_status add_heir(haft_table *table, const haft_local *local)
{
    haft_worker *heir = roster_add(table, WORKER_CLOSED);

    if (heir == NULL) {
        return HAFT_NO_MEMORY;
    }
    store_relaxed(OWN, &heir->counters.reserved, local->front.count);
    store_relaxed(OWN, &heir->counters.published, local->front.count);
    store_relaxed(OWN, &heir->counters.exhausted, local->exhausted);
    released_apply_floor(table, local->fresh_at, local->fresh_end - local->fresh_at);
    fresh_give(heir, local->fresh_at, local->fresh_end - local->fresh_at, true);
    return HAFT_OK;
}

/* The local table's fresh runs, through the same links; the one in use is the heir's. */
static void take_runs(haft_table *table, const haft_local *local)
{
    const uint64_t slots = local->fresh_slots - (local->fresh_end - local->fresh_at);

    store_relaxed(OWN, &table->released.head, tagged_number(local->slots.runs.first));
    store_relaxed(OWN, &table->released.slots, slots);
}

static haft_status take_over(haft_table *table, haft_domain *domain, haft_local *local)
{
    table->slots = local->slots;
    table->slots.limit = shared_limit(local);
    table->slots.wrapped = local->wraps;
    table->capacity = local->capacity;
    table->legacy.local = local; /* before table_start(), which chooses the suppliers by it */
    haft_status status = runs_reserve(&table->slots.runs);

    status = status == HAFT_OK ? table_start(table, domain, NULL) : status;
    if (status != HAFT_OK) {
        return status;
    }
    status = pool_commit(&table->pool, local->used / table->batch_max + DEPOT_NODES);
    if (status == HAFT_OK) {
        status = add_heir(table, local);
    }
    if (status != HAFT_OK) {
        table_stop(table);
        return status;
    }
    store_relaxed(OWN, &table->fresh, local->used);
    store_relaxed(OWN, &table->legacy.listed, *local_head(local));
    take_runs(table, local);
    return HAFT_OK;
}

haft_status haft_share_sized(haft_local *local, haft_domain *domain,
                             const haft_share_options *options, size_t size, haft_table **table)
{
    haft_share_options known;
    haft_status status = sized_take(&known, sizeof known, options, size);

    if (status == HAFT_OK) {
        status = check_moment(local);
    }
    if (status == HAFT_OK) {
        status = table_check_waiting(known.waiting_bytes, local->slots.view.stride);
    }
    if (status != HAFT_OK) {
        return status;
    }
    haft_table *opened = table_new(local->name, NULL, &local->slots.heap);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    choose_reclaim(opened, local, &known);
    opened->waiting_bytes = known.waiting_bytes;
    opened->never_waits = known.never_wait;
    status = take_over(opened, domain, local);
    if (status != HAFT_OK) {
        if (local->slots.runs.records == NULL) {
            runs_close(&opened->slots.runs);
        }
        table_free(opened);
        return status;
    }
    *table = opened;
    return HAFT_OK;
}

/* --- and back --- */

_Static_assert(sizeof(haft_local) <= sizeof(haft_table), "a local table fits where a shared was");

/*
 * A local table in the block of the shared one, which has been stopped.  It allocates nothing:
 * haft::table closes this way, also in a program that is out of memory.
 */
static haft_local *local_in_block_of(haft_table *table)
{
    const uint64_t capacity = table->capacity;
    const bool wraps = table->slots.wrapped;
    haft_local *local = local_make_in(table, table->is_given, table->name);

    local->capacity = capacity;
    local->wraps = wraps;
    return local;
}

/* End the shared table, and give its slots to its former local table, or else to a new one. */
static haft_local *replace_by_local(haft_table *table)
{
    const struct slots slots = table->slots;
    const uint64_t used = load_relaxed(OWN, &table->fresh);
    haft_local *local = table->legacy.local;

    table_stop(table);
    if (local != NULL) {
        table_free(table);
    } else {
        local = local_in_block_of(table);
    }
    local->slots = slots;
    local->used = used;
    return local;
}

/* Count the slots in use below `used`; retired slots, whose callback has run, become free. */
static void take_stock(haft_local *local)
{
    const struct word_format *format = &local->slots.format;

    local->front.count = 0;
    local->held = local->exhausted = 0;
    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        atomic_u64 *at = slots_word(&local->slots, index);
        uint64_t word = load_relaxed(OWN, at);

        if (word_index(format, word) == MARK_FREE) {
            word = life_after(&local->slots, word);
            slots_poison(&local->slots, at);
            store_relaxed(OWN, at, word);
        }
        local->front.count += word_index(format, word) == index;
        local->held += word_index(format, word) == MARK_RESERVED;
        local->exhausted += word_index(format, word) == MARK_EXHAUSTED;
    }
}

/* Room for the slots that are taken or exhausted, and then for `min_free` slots, if they fit. */
static void fit_capacity(haft_local *local)
{
    const uint64_t taken = local->front.count + local->held + local->exhausted;
    const uint64_t slots = local->slots.limit - HAFT_FIRST_INDEX;

    if (local->capacity < taken) {
        local->capacity = taken;
    }
    if (local->min_free > slots - local->capacity) {
        local->min_free = slots - local->capacity;
    }
    local->is_crowded = local_crowds(local);
}

haft_status haft_unshare(haft_table *table, haft_local **local)
{
    const haft_status status = drain_table(table);

    if (status != HAFT_OK) {
        return status;
    }
    haft_local *opened = replace_by_local(table);

    take_stock(opened);
    fit_capacity(opened);
    local_rebuild(opened);
    *local = opened;
    return HAFT_OK;
}

/* concurrent/extra/shared_side.c */

/*
 * The sides of a shared table.  Their list is under the registry's lock, as that of the tables: a
 * fork finds it whole.
 *
 * Edges in this file.
 *   HINT   whether there are sides: a thread that was told of one sees it
 */

static void leave_locked(haft_side *side)
{
    registry_lock();
    sides_remove(side);
    registry_unlock();
}

haft_status haft_side_open_sized(haft_table *table, const haft_side_options *options, size_t size,
                                 haft_side **side)
{
    const haft_status status =
        side_open(&table->slots, options, size, true, table->slots.wrapped, side);

    if (status == HAFT_OK) {
        (*side)->leave = leave_locked;
        registry_lock();
        sides_add(&table->sides, *side);
        registry_unlock();
    }
    return status;
}

HAFT_INTERNAL bool shared_sides_are_open(const haft_table *table)
{
    return load_relaxed(HINT, &table->sides) != 0;
}

HAFT_INTERNAL void shared_sides_forget(haft_table *table, uint64_t index)
{
    if (!shared_sides_are_open(table)) {
        return;
    }
    registry_lock();
    sides_forget(&table->sides, index);
    registry_unlock();
}

/* concurrent/extra/trim.c */

/*
 * Memory released while other threads work.
 *
 * Free slots lie in batches, and those of one run of pages in many batches.  So the call takes back
 * due batches first (collect.c), and then takes all ready batches, from every ring and from the
 * depot.  If all slots of a run are in hand then, it notes the run's floor and releases its pages.
 * The other slots go into new batches, in order of index.  Meanwhile no other thread finds the
 * slots in hand: it gets HAFT_BUSY.
 *
 * Slots that workers hold privately stay, and so do fresh slots in their extents.
 *
 * Edges in this file.
 *   OWN    this thread alone has the slots, or the batch
 *   COUNT  how far the table's slots were ever used; all in hand lie below
 */

struct trim {
    haft_table *table;
    haft_worker *worker;       /* takes slots back */
    struct reservation memory; /* of the bits */
    uint64_t *bits;            /* one for each slot: in hand */
    uint64_t end;              /* slots in hand lie below */
    struct run_list runs;      /* released; linked, the lowest first */
    uint64_t bytes;            /* released */
};

/* --- taking slots out of batches --- */

static void hold(const struct trim *trim, const uint32_t *indices, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        trim->bits[indices[i] / 64] |= UINT64_C(1) << indices[i] % 64;
    }
}

/* Take the slots of all ready batches, and those that no worker has had since haft_share(). */
static void collect(struct trim *trim)
{
    haft_table *table = trim->table;
    const uint64_t most = table->slots.limit - HAFT_FIRST_INDEX;
    uint32_t indices[BATCH_SLOTS];
    struct batch *batch;
    uint64_t count;

    while ((count = legacy_take(trim->worker, BATCH_SLOTS, indices)) != 0) {
        hold(trim, indices, count);
    }
    for (uint64_t i = 0; i < most && (batch = shelf_find_ready(trim->worker)) != NULL; i++) {
        hold(trim, batch->indices, batch->count);
        batch->count = 0;
        shelf_give_batch(trim->worker, batch);
    }
    trim->end = load_relaxed(COUNT, &table->fresh);
}

/* --- releasing runs --- */

/* The bits of a run that has less slots than a word has bits. */
static uint64_t bits_of(uint64_t first, uint64_t count)
{
    return ((UINT64_C(1) << count) - 1) << first % 64;
}

static bool is_whole(const struct trim *trim, uint64_t first, uint64_t count)
{
    if (count < 64) {
        const uint64_t bits = bits_of(first, count);

        return (trim->bits[first / 64] & bits) == bits;
    }
    for (uint64_t word = first / 64; word < (first + count) / 64; word++) {
        if (trim->bits[word] != UINT64_MAX) {
            return false;
        }
    }
    return true;
}

static void drop_slots(const struct trim *trim, uint64_t first, uint64_t count)
{
    if (count < 64) {
        trim->bits[first / 64] &= ~bits_of(first, count);
    } else {
        memset(&trim->bits[first / 64], 0, (size_t)count / 8);
    }
}

/* The highest word that a slot of the run begins from. */
static uint64_t floor_of_slots(const struct slots *slots, uint64_t first, uint64_t count)
{
    uint64_t floor = 0;

    for (uint64_t index = first; index < first + count; index++) {
        const uint64_t word =
            slots_begin_at(slots, index, load_relaxed(OWN, slots_word(slots, index)));
        const uint64_t begin = word_with_index(&slots->format, word, 0);

        floor = begin > floor ? begin : floor;
    }
    return floor;
}

/* If the run is in hand, it becomes the first of those to be released. */
static bool choose_run(struct trim *trim, uint64_t run)
{
    const struct slots *slots = &trim->table->slots;
    const struct runs *runs = &slots->runs;
    const uint64_t first = runs_first(runs, run);
    const uint64_t count = runs_end(runs, run) - first;

    if (!is_whole(trim, first, count)) {
        return false;
    }
    /* Before the words are gone: a thread that finds them gone finds the floor. */
    runs_set_floor(runs, run, floor_of_slots(slots, first, count));
    sites_forget(&slots->sites, first, first + count);
    runs_set_link(runs, run, trim->runs.first);
    trim->runs.first = run;
    trim->runs.last = trim->runs.slots == 0 ? run : trim->runs.last;
    trim->runs.slots += count;
    drop_slots(trim, first, count);
    return true;
}

/* Release all runs in hand, those that lie together at once. */
static void release_chosen(struct trim *trim)
{
    struct slots *slots = &trim->table->slots;
    uint64_t run = runs_of(&slots->runs, trim->end);

    while (run > runs_least(&slots->runs)) {
        const uint64_t end = run;

        while (run > runs_least(&slots->runs) && choose_run(trim, run - 1)) {
            run--;
        }
        if (run != end) {
            trim->bytes += slots_release(slots, run, end);
        } else {
            run--;
        }
    }
}

/* --- the other slots --- */

/* In order of index, which is that of use. */
static void put_rest(const struct trim *trim)
{
    struct batch *batch = shelf_empty_batch(trim->worker);

    for (uint64_t word = 0; word <= trim->end / 64; word++) {
        for (uint64_t bits = trim->bits[word]; bits != 0; bits &= bits - 1) {
            batch->indices[batch->count++] =
                (uint32_t)(word * 64 + (uint64_t)__builtin_ctzll(bits));
            if (batch->count == trim->table->batch_max) {
                shelf_offer(trim->worker, batch);
                batch = shelf_empty_batch(trim->worker);
            }
        }
    }
    shelf_offer(trim->worker, batch);
}

/* --- in all --- */

static haft_status prepare_trim(struct trim *trim)
{
    haft_table *table = trim->table;
    haft_status status = reservation_open(&trim->memory, table->slots.limit / 8 + sizeof(uint64_t));

    if (status != HAFT_OK) {
        return status;
    }
    status = reservation_commit(&trim->memory, trim->memory.size);
    if (status == HAFT_OK) {
        status = runs_prepare(&table->slots.runs, table->slots.limit);
    }
    if (status != HAFT_OK) {
        reservation_close(&trim->memory);
        return status;
    }
    trim->bits = (uint64_t *)(void *)trim->memory.base;
    return HAFT_OK;
}

static void run_trim(struct trim *trim)
{
    haft_table *table = trim->table;

    collect(trim);
    /* Where generations began again, the highest is not the last. */
    if (!table->slots.wrapped) {
        release_chosen(trim);
    }
    put_rest(trim);
    if (trim->runs.slots != 0) {
        released_push(table, trim->runs);
    }
    reservation_close(&trim->memory);
}

haft_status haft_trim(haft_table *table, uint64_t *released)
{
    struct trim trim = {.table = table, .runs = {.first = RUN_LAST}};
    haft_status status = collect_begin(table, &trim.worker);

    if (status != HAFT_OK) {
        return status;
    }
    if (!table->slots.runs.stay) {
        status = prepare_trim(&trim);
        if (status == HAFT_OK) {
            run_trim(&trim);
        }
    }
    collect_end(trim.worker);
    if (status == HAFT_OK && released != NULL) {
        *released = trim.bytes;
    }
    return status;
}

/* concurrent/extra/unregistered.c */

/*
 * Calls without a worker.
 *
 * Reserving borrows a worker; the others need none.  A slot that is freed or given up goes to one
 * of the table's lists, from which searches and duties collect it.
 *
 * Edges in this file.
 *   COUNT   counters of all threads without a worker; the slots travel through the lists
 *   TALLY   haft_abort_unregistered (release) -> count_begun (acquire)   as tally()
 */

/* Do the duties with a borrowed worker, which may run on_reclaim, and return it. */
static void return_after_call(haft_worker *worker)
{
    worker_do_duties(worker);
    worker_return(worker);
}

static haft_status reserve_without(haft_table *table, haft_id *id, void **object,
                                   const void *caller)
{
    haft_worker *worker = worker_borrow(table);

    if (worker == NULL) {
        return HAFT_NO_MEMORY;
    }
    const haft_status status = worker_reserve(worker, id, object, caller);

    return_after_call(worker);
    return status;
}

static haft_status insert_without(haft_table *table, const void *object, haft_id *id,
                                  const void *caller)
{
    haft_worker *worker = worker_borrow(table);

    if (worker == NULL) {
        return HAFT_NO_MEMORY;
    }
    const haft_status status = worker_insert(worker, object, id, caller);

    return_after_call(worker);
    return status;
}

haft_status haft_reserve_unregistered(haft_table *table, haft_id *id, void **object)
{
    return reserve_without(table, id, object, CALLER);
}

haft_status haft_insert_unregistered(haft_table *table, const void *object, haft_id *id)
{
    return insert_without(table, object, id, CALLER);
}

haft_status haft_reserve_wait_unregistered(haft_table *table, haft_id *id, void **object)
{
    haft_status status;
    uint64_t turn = 0;

    do {
        status = reserve_without(table, id, object, CALLER);
    } while (worker_await_slots(table, &status, &turn));
    return status;
}

haft_status haft_insert_wait_unregistered(haft_table *table, const void *object, haft_id *id)
{
    haft_status status;
    uint64_t turn = 0;

    do {
        status = insert_without(table, object, id, CALLER);
    } while (worker_await_slots(table, &status, &turn));
    return status;
}

void haft_publish_unregistered(haft_table *table, haft_id id)
{
    const struct slots *slots = &table->slots;

    assert(life_is_reserved(slots, id) && "an id is reserved, and published once");
    fetch_add_relaxed(COUNT, &table->counters.published, 1);
    life_publish(slots_word(slots, word_index(&slots->format, id.bits)), id);
}

haft_status haft_free_unregistered(haft_table *table, haft_id id)
{
    const uint64_t index = id.bits & table->slots.view.mask;
    uint64_t next;

    if (!life_end(&table->slots, id, &next)) {
        const haft_status status = slots_diagnose(&table->slots, id);

        fetch_add_relaxed(COUNT, &table->counters.refused_frees, 1);
        return status == HAFT_OK ? HAFT_RESERVED : status; /* published since */
    }
    sites_note_death(&table->slots.sites, index, CALLER);
    fetch_add_relaxed(COUNT, &table->counters.freed, 1);
    list_push(table, LIST_FREED, index);
    life_uncount(table, index);
    return HAFT_OK;
}

void haft_abort_unregistered(haft_table *table, haft_id id)
{
    const uint64_t index = word_index(&table->slots.format, id.bits);

    fetch_add_relaxed(COUNT, &table->counters.aborted, 1);
    sites_note_death(&table->slots.sites, index, CALLER);
    if (life_give_up(&table->slots, id)) {
        list_push(table, LIST_ABORTED, index);
        life_uncount(table, index);
    } else {
        fetch_add_relaxed(COUNT, &table->counters.reclaimed, 1);
        life_uncount(table, index); /* first: at no moment is it in use twice */
        /* Weakened, the slot could count as reserved, and as exhausted too. */
        fetch_add_release(TALLY, &table->counters.exhausted, 1);
    }
}

/*
 * concurrent/commands/state.h - the structs of a command set.
 *
 * No atomics: a recorder is one job's until the program says that the job has ended, and the
 * set's thread has all else.  All changes of the table go through the set's worker.
 */

#define DESTROYS 62 /* ids in a piece, which has 512 bytes */

/* A piece of the list of ids to destroy; in the recorder's arena. */
struct destroys {
    struct destroys *next;
    uint64_t count;
    haft_id ids[DESTROYS];
};

/* One call; in the recorder's arena, the payload behind it, which is aligned as well. */
struct call {
    _Alignas(HAFT_ARENA_ALIGNMENT) struct call *next;
    haft_call *function;
};

struct haft_recorder {
    _Alignas(CACHE_LINE) haft_commands *commands;
    haft_view view;
    uint64_t key;
    bool is_open;
    haft_arena *arena;
    haft_id *ids;       /* that it may create; in the set's arena */
    uint64_t ids_count; /* how many */
    uint64_t created;   /* of them, from the start */
    uint64_t published; /* of those, from the start */
    struct call *calls; /* oldest first */
    struct call **calls_end;
    struct destroys *destroys; /* oldest first */
    struct destroys *destroys_last;
};

struct haft_commands {
    haft_table *table;
    haft_worker *worker;
    haft_allocator allocator;
    size_t block_size;
    haft_arena *arena; /* of one frame: the ids of its recorders */

    haft_recorder **recorders; /* those open, by key; then those kept for later */
    size_t open;
    size_t made;
    size_t room; /* for pointers */

    haft_id *reserved; /* for the next recorder; oldest first, from `reserved_from` on */
    size_t reserved_from;
    size_t reserved_count;
    size_t reserved_room;

    bool applying;
    haft_recorder *calling; /* whose call is being made; NULL: none */
};

/* Between its opening and apply; within apply, while one of its calls is made. */
static inline bool recorder_may_record(const haft_recorder *recorder)
{
    const haft_commands *commands = recorder->commands;

    return recorder->is_open && (!commands->applying || commands->calling == recorder);
}

/*
 * concurrent/commands/commands_apply.h - the end of a frame.
 */

/* All recorders end, and drop what they have recorded; how many reservations were given up. */
HAFT_INTERNAL uint64_t commands_give_up(haft_commands *commands, const void *caller);

/*
 * concurrent/commands/commands_record.h - the recorder of one job.
 */

/* Makes the recorder ready for a frame, with nothing recorded. */
HAFT_INTERNAL
void recorder_begin(haft_recorder *recorder, uint64_t key, haft_id *ids, uint64_t ids_count);

/* concurrent/commands/commands.c */

/*
 * Command sets: opening, recorders, reservations.
 *
 * Recorders stand in order of their keys from the moment they are opened, so a second recorder
 * with the same key is refused at once, and apply has nothing to sort.
 */

#define BLOCK_SIZE 4096
#define ROOM_LEAST 16

/* --- memory --- */

/*
 * `array` with room for `wanted` elements of `size` bytes, moved if need be, and how many fit in
 * `*room`.  NULL, and nothing has changed, if there is no memory.
 */
static void *with_room(const haft_allocator *from, void *array, size_t *room, size_t wanted,
                       size_t size)
{
    size_t grown = *room != 0 ? *room : ROOM_LEAST;

    if (wanted <= *room) {
        return array;
    }
    while (grown < wanted) {
        grown *= 2;
    }
    void *moved = from->resize(from->context, array, *room * size, grown * size, sizeof(void *));

    if (moved != NULL) {
        *room = grown;
    }
    return moved;
}

static haft_status open_arena(const haft_commands *commands, haft_arena **arena)
{
    const haft_arena_options options = {
        .block_size = commands->block_size,
        .allocator = &commands->allocator,
    };
    return haft_arena_open(&options, arena);
}

/* --- the set --- */

static haft_status open_commands(haft_table *table, const haft_commands_options *with,
                                 haft_commands **commands)
{
    const haft_allocator allocator =
        with->allocator != NULL ? *with->allocator : haft_allocator_malloc();
    haft_commands *opened =
        allocator.alloc(allocator.context, sizeof *opened, _Alignof(haft_commands));

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    *opened = (haft_commands){
        .table = table,
        .allocator = allocator,
        .block_size = with->block_size != 0 ? with->block_size : BLOCK_SIZE,
    };
    haft_status status = open_arena(opened, &opened->arena);

    if (status == HAFT_OK) {
        status = haft_worker_open(table, &opened->worker);
        if (status != HAFT_OK) {
            haft_arena_close(opened->arena);
        }
    }
    if (status != HAFT_OK) {
        allocator.free(allocator.context, opened, sizeof *opened);
        return status;
    }
    opened->worker->is_of_set = true;
    *commands = opened;
    return HAFT_OK;
}

haft_status haft_commands_open_sized(haft_table *table, const haft_commands_options *options,
                                     size_t size, haft_commands **commands)
{
    haft_commands_options known;
    const haft_status status = sized_take(&known, sizeof known, options, size);

    return status == HAFT_OK ? open_commands(table, &known, commands) : status;
}

void haft_commands_close(haft_commands *commands)
{
    const haft_allocator from = commands->allocator;

    assert(!callback_is_running() && "a callback may not close or open recorders");
    assert(!commands->applying && "a command's call may not close or open recorders");
    roster_hand_over(commands->worker); /* the set may come from another thread */
    commands_give_up(commands, CALLER);
    for (size_t i = 0; i < commands->made; i++) {
        haft_arena_close(commands->recorders[i]->arena);
        from.free(from.context, commands->recorders[i], sizeof(haft_recorder));
    }
    commands->worker->is_of_set = false; /* first: after a fork it is closed with its thread */
    haft_worker_close(commands->worker);
    haft_arena_close(commands->arena);
    from.free(from.context, commands->recorders, commands->room * sizeof *commands->recorders);
    from.free(from.context, commands->reserved,
              commands->reserved_room * sizeof *commands->reserved);
    from.free(from.context, commands, sizeof *commands);
}

haft_worker *haft_commands_worker(const haft_commands *commands)
{
    return commands->worker;
}

haft_table *haft_commands_table(const haft_commands *commands)
{
    return commands->table;
}

/* --- recorders --- */

/* The first place whose recorder has no lower key. */
static size_t find_place(const haft_commands *commands, uint64_t key)
{
    size_t low = 0;
    size_t high = commands->open;

    if (high != 0 && commands->recorders[high - 1]->key < key) {
        return high; /* in ascending order */
    }
    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (commands->recorders[middle]->key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* One more recorder behind those there are. */
static haft_status make_recorder(haft_commands *commands)
{
    const haft_allocator *from = &commands->allocator;
    haft_recorder **recorders = with_room(from, commands->recorders, &commands->room,
                                          commands->made + 1, sizeof *commands->recorders);

    if (recorders == NULL) {
        return HAFT_NO_MEMORY;
    }
    commands->recorders = recorders;
    haft_recorder *recorder = from->alloc(from->context, sizeof *recorder, _Alignof(haft_recorder));

    if (recorder == NULL) {
        return HAFT_NO_MEMORY;
    }
    *recorder = (haft_recorder){.commands = commands, .view = haft_table_view(commands->table)};
    const haft_status status = open_arena(commands, &recorder->arena);

    if (status != HAFT_OK) {
        from->free(from->context, recorder, sizeof *recorder);
        return status;
    }
    commands->recorders[commands->made++] = recorder;
    return HAFT_OK;
}

/* Those that a refused recorder left are born where the next one is opened. */
static void note_births(const haft_commands *commands, size_t count, const void *caller)
{
    const struct slots *slots = &commands->table->slots;

    for (size_t i = 0; i < commands->reserved_count && i < count; i++) {
        const haft_id id = commands->reserved[commands->reserved_from + i];

        sites_note_birth(&slots->sites, word_index(&slots->format, id.bits), caller);
    }
}

/* Reservations begin where their memory does. */
static void move_reserved(haft_commands *commands)
{
    if (commands->reserved_from != 0) {
        memmove(commands->reserved, commands->reserved + commands->reserved_from,
                commands->reserved_count * sizeof *commands->reserved);
        commands->reserved_from = 0;
    }
}

/* Reserve until there are `count` reservations; those there are stay if this fails. */
static haft_status reserve_ids(haft_commands *commands, size_t count, const void *caller)
{
    note_births(commands, count, caller);
    if (commands->reserved_count < count) {
        move_reserved(commands);
        haft_id *ids = with_room(&commands->allocator, commands->reserved, &commands->reserved_room,
                                 count, sizeof *commands->reserved);

        if (ids == NULL) {
            return HAFT_NO_MEMORY;
        }
        commands->reserved = ids;
    }
    while (commands->reserved_count < count) {
        haft_id *id = &commands->reserved[commands->reserved_count];
        const haft_status status = worker_reserve(commands->worker, id, NULL, caller);

        if (status != HAFT_OK) {
            return status;
        }
        commands->reserved_count++;
    }
    return HAFT_OK;
}

/* The oldest `count` reservations, which there are, as a recorder's; NULL: no memory. */
static haft_id *take_reserved(haft_commands *commands, size_t count)
{
    haft_id *ids = haft_arena_new_array(commands->arena, haft_id, count);

    if (ids != NULL && count != 0) {
        memcpy(ids, commands->reserved + commands->reserved_from, count * sizeof *ids);
        commands->reserved_from += count;
        commands->reserved_count -= count;
    }
    return ids;
}

haft_status haft_recorder_open(haft_commands *commands, uint64_t key, uint64_t max_creates,
                               haft_recorder **recorder)
{
    const size_t place = find_place(commands, key);

    assert(!callback_is_running() && "a callback may not close or open recorders");
    assert(!commands->applying && "a command's call may not close or open recorders");
    roster_hand_over(commands->worker); /* the set may come from another thread */
    if (place < commands->open && commands->recorders[place]->key == key) {
        return HAFT_SAME_KEY;
    }
    haft_status status = commands->open < commands->made ? HAFT_OK : make_recorder(commands);

    if (status == HAFT_OK) {
        status = max_creates > commands->table->slots.limit
                     ? HAFT_FULL
                     : reserve_ids(commands, (size_t)max_creates, CALLER);
    }
    if (status != HAFT_OK) {
        return status;
    }
    haft_id *ids = take_reserved(commands, (size_t)max_creates);

    if (ids == NULL) {
        return HAFT_NO_MEMORY;
    }
    haft_recorder **at = &commands->recorders[place];
    haft_recorder *opened = commands->recorders[commands->open];

    memmove(at + 1, at, (commands->open - place) * sizeof *at);
    *at = opened;
    commands->open++;
    recorder_begin(opened, key, ids, max_creates);
    *recorder = opened;
    return HAFT_OK;
}

/* concurrent/commands/commands_apply.c */

/*
 * Apply: recorded commands, carried out on one thread, by key and order of recording.
 *
 * Destructions take two walks.  The first drops ids that are not live: they were stale before any
 * of these destructions.  So an id that fails in the second walk was destroyed by the same apply: a
 * duplicate.  The walks need no memory, so apply cannot fail half way.
 */

static void publish_created(haft_recorder *recorder, haft_worker *worker)
{
    while (recorder->published < recorder->created) {
        haft_publish(worker, recorder->ids[recorder->published++]);
    }
}

/* Calls that calls record come behind the others; objects that calls create are live at once. */
static void make_calls(haft_recorder *recorder, haft_commands *commands, haft_applied *applied)
{
    commands->calling = recorder;
    for (struct call *call = recorder->calls; call != NULL; call = call->next) {
        call->function(recorder, call + 1);
        publish_created(recorder, commands->worker);
        applied->calls++;
    }
    commands->calling = NULL;
}

/* As a refused free: a duplicate is one, too. */
static void count_not_live(haft_worker *worker, haft_id id, haft_applied *applied)
{
    const haft_status status = haft_diagnose(worker->table, id);
    const bool was_freed = status == HAFT_STALE || status == HAFT_EXHAUSTED;

    applied->stale += was_freed;
    applied->refused += !was_freed;
    count_up(&worker->counters.refused_frees, 1);
}

/* The first walk: ids that are not live become nil. */
static void drop_not_live(const haft_recorder *recorder, haft_worker *worker, haft_applied *applied)
{
    for (struct destroys *piece = recorder->destroys; piece != NULL; piece = piece->next) {
        for (uint64_t i = 0; i < piece->count; i++) {
            if (!haft_is_live(recorder->view, piece->ids[i])) {
                count_not_live(worker, piece->ids[i], applied);
                piece->ids[i] = HAFT_NIL;
            }
        }
    }
}

/* The second walk. */
static void destroy_live(const haft_recorder *recorder, haft_worker *worker, const void *caller,
                         haft_applied *applied)
{
    for (const struct destroys *piece = recorder->destroys; piece != NULL; piece = piece->next) {
        for (uint64_t i = 0; i < piece->count; i++) {
            if (haft_id_is_nil(piece->ids[i])) {
                continue;
            }
            if (worker_free(worker, piece->ids[i], caller) == HAFT_OK) {
                applied->destroyed++;
            } else {
                applied->duplicates++;
            }
        }
    }
}

static void carry_out(haft_commands *commands, const void *caller, haft_applied *applied)
{
    haft_recorder **recorders = commands->recorders;
    const size_t open = commands->open;

    for (size_t i = 0; i < open; i++) {
        publish_created(recorders[i], commands->worker);
    }
    for (size_t i = 0; i < open; i++) {
        make_calls(recorders[i], commands, applied);
    }
    for (size_t i = 0; i < open; i++) {
        drop_not_live(recorders[i], commands->worker, applied);
    }
    for (size_t i = 0; i < open; i++) {
        destroy_live(recorders[i], commands->worker, caller, applied);
    }
}

HAFT_INTERNAL uint64_t commands_give_up(haft_commands *commands, const void *caller)
{
    uint64_t given_up = commands->reserved_count;

    for (size_t i = 0; i < commands->open; i++) {
        haft_recorder *recorder = commands->recorders[i];

        for (uint64_t unused = recorder->published; unused < recorder->ids_count; unused++) {
            worker_abort(commands->worker, recorder->ids[unused], caller);
        }
        given_up += recorder->ids_count - recorder->published;
        recorder->is_open = false;
    }
    for (size_t i = 0; i < commands->reserved_count; i++) {
        worker_abort(commands->worker, commands->reserved[commands->reserved_from + i], caller);
    }
    commands->open = 0;
    commands->reserved_from = 0;
    commands->reserved_count = 0;
    return given_up;
}

/* The memory of recorders that have been given up, for the next ones. */
static void reset_arenas(haft_commands *commands)
{
    for (size_t i = 0; i < commands->made; i++) {
        haft_arena_reset(commands->recorders[i]->arena);
    }
    haft_arena_reset(commands->arena);
}

haft_status haft_commands_apply(haft_commands *commands, haft_applied *applied)
{
    haft_applied counted = {0};

    const haft_status status = domain_check_moment(commands->table->domain);

    if (status != HAFT_OK) {
        return status; /* on_reclaim may ask while the set is applied */
    }
    assert(!commands->applying && "a command's call may not apply");
    roster_hand_over(commands->worker); /* the set may come from another thread */
    commands->applying = true;
    carry_out(commands, CALLER, &counted);
    for (size_t i = 0; i < commands->open; i++) {
        counted.created += commands->recorders[i]->published;
    }
    counted.unused = commands_give_up(commands, CALLER);
    retire_open(commands->worker);
    haft_worker_quiescent(commands->worker); /* its on_reclaim may look at payloads */
    reset_arenas(commands);
    commands->applying = false;
    if (applied != NULL) {
        *applied = counted;
    }
    return HAFT_OK;
}

/* concurrent/commands/commands_record.c */

/* Recording: the calls of a job on its recorder. */

HAFT_INTERNAL
void recorder_begin(haft_recorder *recorder, uint64_t key, haft_id *ids, uint64_t ids_count)
{
    recorder->key = key;
    recorder->is_open = true;
    recorder->ids = ids;
    recorder->ids_count = ids_count;
    recorder->created = 0;
    recorder->published = 0;
    recorder->calls = NULL;
    recorder->calls_end = &recorder->calls;
    recorder->destroys = NULL;
    recorder->destroys_last = NULL;
}

haft_status haft_recorder_create(haft_recorder *recorder, haft_id *id, void **object)
{
    assert(recorder_may_record(recorder) && "record between the recorder's opening and the apply");
    if (recorder->created == recorder->ids_count) {
        return HAFT_USED_UP;
    }
    *id = recorder->ids[recorder->created++];
    if (object != NULL) {
        *object = slots_object((atomic_u64 *)(uintptr_t)haft_slot_of(recorder->view, *id));
    }
    return HAFT_OK;
}

/* A further piece at the end of the list; NULL if there is no memory. */
static struct destroys *add_piece(haft_recorder *recorder)
{
    struct destroys *piece = haft_arena_new(recorder->arena, struct destroys);

    if (piece == NULL) {
        return NULL;
    }
    piece->next = NULL;
    piece->count = 0;
    if (recorder->destroys == NULL) {
        recorder->destroys = piece;
    } else {
        recorder->destroys_last->next = piece;
    }
    recorder->destroys_last = piece;
    return piece;
}

haft_status haft_recorder_destroy(haft_recorder *recorder, haft_id id)
{
    struct destroys *piece = recorder->destroys_last;

    assert(recorder_may_record(recorder) && "record between the recorder's opening and the apply");
    if (piece == NULL || piece->count == DESTROYS) {
        piece = add_piece(recorder);
    }
    if (piece == NULL) {
        return HAFT_NO_MEMORY;
    }
    piece->ids[piece->count++] = id;
    return HAFT_OK;
}

haft_status haft_recorder_call(haft_recorder *recorder, haft_call *function, const void *payload,
                               size_t size)
{
    size_t bytes;

    assert(recorder_may_record(recorder) && "record between the recorder's opening and the apply");
    if (__builtin_add_overflow(sizeof(struct call), size, &bytes)) {
        return HAFT_NO_MEMORY;
    }
    struct call *call = haft_arena_alloc(recorder->arena, bytes);

    if (call == NULL) {
        return HAFT_NO_MEMORY;
    }
    call->next = NULL;
    call->function = function;
    if (size != 0) {
        memcpy(call + 1, payload, size);
    }
    *recorder->calls_end = call;
    recorder->calls_end = &call->next;
    return HAFT_OK;
}

haft_commands *haft_recorder_commands(const haft_recorder *recorder)
{
    return recorder->commands;
}

uint64_t haft_recorder_key(const haft_recorder *recorder)
{
    return recorder->key;
}

#ifndef HAFT_WITHOUT_EXPORT
/*
 * concurrent/export/export_file.h - where the file stands.
 */

#define EXPORT_NAME_SIZE 48

struct export_file {
    int directory;
    char *path;
    size_t directory_length; /* of the path */
    char temporary[EXPORT_NAME_SIZE];
    char locked[EXPORT_NAME_SIZE];
};

/* HAFT_OK, and the names are this process's alone, which has no other such file open; or
 * HAFT_BAD_DIRECTORY, HAFT_NO_FILE or HAFT_NO_MEMORY, and there is nothing to close. */
HAFT_INTERNAL
haft_status export_file_open(struct export_file *file, const char *directory, uint64_t process);

/* Write it anew.  False: the system did not take it, and it is as it was. */
HAFT_INTERNAL
bool export_file_write(const struct export_file *file, const char *text, size_t length);

/* Remove it; in the child of a fork, only forget it. */
HAFT_INTERNAL void export_file_remove(struct export_file *file);
HAFT_INTERNAL void export_file_forget(struct export_file *file);
#endif /* HAFT_WITHOUT_EXPORT */

#ifndef HAFT_WITHOUT_EXPORT
/*
 * concurrent/export/export_text.h - the text of an export's file.
 */

/* The process that writes, as the file says it. */
struct process {
    uint64_t number;
    uint64_t started; /* clock ticks since the machine's start; 0: not known */
    char program[64];
};

/* The calling process. */
HAFT_INTERNAL struct process process_of_this(void);

/* The beginning of the file. */
struct export_head {
    struct process process;
    uint64_t interval_ms;
    uint64_t sequence;
};

/* Under the registry's lock: the file's text, to be freed, and its length; NULL: no memory. */
HAFT_INTERNAL char *export_text(const struct export_head *head, size_t *length);
#endif /* HAFT_WITHOUT_EXPORT */

#ifndef HAFT_WITHOUT_EXPORT
/* concurrent/export/export.c */

/*
 * The export: a thread that writes a file every interval.
 *
 * The child of a fork finds no lock held here: a process claims its export with one
 * compare-and-swap, and leaves the one that it inherits alone.
 *
 * A thread that has the registry's lock, between the two calls around a fork, may write and close
 * its export.  So no thread waits for that lock while it has the export's, or is to be joined.
 *
 * Edges in this file.
 *   RETRY   a first look, and the claim itself: of the threads that open an export one wins, and
 *           nothing travels with that
 *   OWN     while it is claimed, only the thread that opens or closes the export writes the claim
 */

#define DEFAULT_INTERVAL_MS 1000
#define LEAST_INTERVAL_MS 10
#define MOST_INTERVAL_MS 3600000
#define AGAIN_NS 1000000 /* between two tries for the registry's lock */

struct haft_export {
    uint64_t process; /* the one that opened it: see registry.h */
    struct export_file file;
    struct os_thread thread;
    struct os_mutex lock; /* for the members below, and writing the file */
    struct os_condition stop_wanted;
    bool stopping;
    struct export_head head;
};

static atomic_u64 open_in; /* the process that has an export open, or 0 */

/*
 * Under the export's lock, once there is a thread, and under the registry's, which it gives back
 * before it writes.
 */
static haft_status write_file(haft_export *export)
{
    size_t length;

    export->head.sequence++;
    char *text = export_text(&export->head, &length);

    registry_unlock();
    if (text == NULL) {
        return HAFT_NO_MEMORY;
    }
    const bool written = export_file_write(&export->file, text, length);

    free(text);
    return written ? HAFT_OK : HAFT_NO_FILE;
}

/* --- the thread --- */

/* False: it is to stop.  The thread that wants that may have the registry's lock, and join it. */
static bool take_registry_to_write(haft_export *export)
{
    while (!export->stopping && !registry_try_lock()) {
        os_condition_wait(&export->stop_wanted, &export->lock, os_now_ns() + AGAIN_NS);
    }
    return !export->stopping;
}

static void write_until_stopped(void *arg)
{
    haft_export *export = arg;

    os_mutex_lock(&export->lock);
    while (!export->stopping) {
        const uint64_t next = os_now_ns() + export->head.interval_ms * (NS_PER_S / 1000);

        if (!os_condition_wait(&export->stop_wanted, &export->lock, next) &&
            take_registry_to_write(export)) {
            write_file(export); /* if this fails, the next write may succeed */
        }
    }
    os_mutex_unlock(&export->lock);
}

/* --- opening and closing --- */

static haft_status check_export(const haft_export_options *options)
{
    if (options->directory == NULL) {
        return HAFT_BAD_DIRECTORY;
    }
    return options->interval_ms == 0 || (options->interval_ms >= LEAST_INTERVAL_MS &&
                                         options->interval_ms <= MOST_INTERVAL_MS)
               ? HAFT_OK
               : HAFT_BAD_INTERVAL_MS;
}

static haft_export *new_export(const haft_export_options *options)
{
    haft_export *export = calloc(1, sizeof *export);

    if (export != NULL) {
        export->process = registry_process();
        export->head.process = process_of_this();
        export->head.interval_ms =
            options->interval_ms != 0 ? options->interval_ms : DEFAULT_INTERVAL_MS;
    }
    return export;
}

/* The first file, and the thread that writes the others. */
static haft_status start(haft_export *export)
{
    registry_lock();
    const haft_status status = write_file(export);

    if (status != HAFT_OK) {
        return status;
    }
    os_condition_open(&export->stop_wanted);
    os_mutex_open(&export->lock);
    if (!os_thread_start(&export->thread, write_until_stopped, export)) {
        os_condition_close(&export->stop_wanted);
        os_mutex_close(&export->lock);
        return HAFT_NO_THREAD;
    }
    return HAFT_OK;
}

static haft_status open_file(haft_export *export, const char *directory)
{
    haft_status status = export_file_open(&export->file, directory, export->head.process.number);

    if (status == HAFT_OK) {
        status = start(export);
        if (status != HAFT_OK) {
            export_file_remove(&export->file);
        }
    }
    return status;
}

/* Whether this process had none open.  Its parent's is not its own. */
static bool claim_process(void)
{
    const uint64_t process = registry_process();
    const uint64_t before = load_relaxed(RETRY, &open_in);

    return before != process && cas_relaxed(RETRY, &open_in, before, process);
}

static void give_up_claim(void)
{
    store_relaxed(OWN, &open_in, 0);
}

static haft_status open_export(const haft_export_options *options, haft_export **opened)
{
    haft_status status = check_export(options);

    if (status != HAFT_OK) {
        return status;
    }
    if (!claim_process()) {
        return HAFT_IN_USE;
    }
    haft_export *export = new_export(options);

    status = export != NULL ? open_file(export, options->directory) : HAFT_NO_MEMORY;
    if (status == HAFT_OK) {
        *opened = export;
        return HAFT_OK;
    }
    free(export);
    give_up_claim();
    return status;
}

haft_status haft_export_open_sized(const haft_export_options *options, size_t size,
                                   haft_export **opened)
{
    haft_export_options known;
    const haft_status status = sized_take(&known, sizeof known, options, size);

    return status == HAFT_OK ? open_export(&known, opened) : status;
}

/* Not in the child of a fork: the lock and the thread are its parent's. */
static bool is_mine(const haft_export *export)
{
    return export->process == registry_process();
}

/* The thread that has one of the two locks may wait for the other: so it waits with neither. */
static void take_locks_to_write(haft_export *export)
{
    os_mutex_lock(&export->lock);
    while (!registry_try_lock()) {
        os_mutex_unlock(&export->lock);
        registry_lock();
        registry_unlock();
        os_mutex_lock(&export->lock);
    }
}

haft_status haft_export_write(haft_export *opened)
{
    if (!is_mine(opened)) {
        return HAFT_NO_FILE;
    }
    take_locks_to_write(opened);
    const haft_status status = write_file(opened);

    os_mutex_unlock(&opened->lock);
    return status;
}

const char *haft_export_path(const haft_export *opened)
{
    return opened->file.path;
}

void haft_export_close(haft_export *opened)
{
    if (is_mine(opened)) {
        os_mutex_lock(&opened->lock);
        opened->stopping = true;
        os_condition_wake_all(&opened->stop_wanted);
        os_mutex_unlock(&opened->lock);
        os_thread_join(&opened->thread);
        os_condition_close(&opened->stop_wanted);
        os_mutex_close(&opened->lock);
        export_file_remove(&opened->file);
        give_up_claim();
    } else {
        export_file_forget(&opened->file);
    }
    free(opened);
}
#endif /* HAFT_WITHOUT_EXPORT */

#ifndef HAFT_WITHOUT_EXPORT
/* concurrent/export/export_posix.h */

/* The export's functions of POSIX that system headers may hide: see lib/base/os_posix.h. */

#ifdef __linux__
#define OS_AT_EACCESS 0x200

#ifdef O_CLOEXEC
#define OS_O_CLOEXEC O_CLOEXEC
#else
#define OS_O_CLOEXEC __O_CLOEXEC /* glibc has these always */
#endif
#ifdef O_NOFOLLOW
#define OS_O_NOFOLLOW O_NOFOLLOW
#else
#define OS_O_NOFOLLOW __O_NOFOLLOW
#endif
#ifdef O_DIRECTORY
#define OS_O_DIRECTORY O_DIRECTORY
#else
#define OS_O_DIRECTORY __O_DIRECTORY
#endif

int sys_openat(int directory, const char *path, int flags, ...) __asm__("openat");
int sys_faccessat(int directory, const char *path, int mode, int flags) __asm__("faccessat");
int sys_fchmod(int file, mode_t mode) __asm__("fchmod");
int sys_unlinkat(int directory, const char *path, int flags) __asm__("unlinkat");
int sys_renameat(int from, const char *path, int to, const char *new_path) __asm__("renameat");
FILE *sys_open_memstream(char **text, size_t *length) __asm__("open_memstream");

#else
#define OS_AT_EACCESS AT_EACCESS
#define OS_O_CLOEXEC O_CLOEXEC
#define OS_O_NOFOLLOW O_NOFOLLOW
#define OS_O_DIRECTORY O_DIRECTORY

#define sys_openat openat
#define sys_faccessat faccessat
#define sys_fchmod fchmod
#define sys_unlinkat unlinkat
#define sys_renameat renameat
#define sys_open_memstream open_memstream
#endif
#endif /* HAFT_WITHOUT_EXPORT */

#ifndef HAFT_WITHOUT_EXPORT
/* concurrent/export/export_file.c */

/*
 * The export's file.
 *
 * Each write makes a new file under another name, which must not exist, and renames it over the
 * old one.  So the file is never half written, never larger or smaller than its text, and never
 * another user's: neither step follows a link.
 *
 * Both names hold the process's number, and processes of one number may share the directory: in
 * containers, or on several machines.  So they are only used under a lock (flock) on a third file,
 * which ends with its process: a process that finds it held goes on to the next names.  Files that
 * a process of that number has left behind are used again.
 *
 * A reader that asks whether the process runs takes a share of the lock for a moment; opening waits
 * for that.  The child of a fork would keep the lock when its parent has ended, so the child closes
 * it first of all, and a new file that was being written.
 */

#define OWNER_ONLY (S_IRUSR | S_IWUSR)
#define MOST_OF_A_NUMBER 100 /* processes of one number in one directory */
#define MOST_TRIES 100       /* for a lock that is removed, or asked for, whenever it is tried */
#define PAUSE_NS 1000000     /* then a reader that asked is done */

/*
 * The locked file of this process's one export, and the new file that is being written; or -1.
 * Each fork takes their lock, so a child knows of each that it has.  A thread that has it takes no
 * other; the thread that forks takes it after the registry's, which openers of exports may have.
 */
static struct os_mutex files_lock;
static int held = -1;
static int being_written = -1;

/* --- names --- */

static void set_names(struct export_file *file, uint64_t process, int turn)
{
    char stem[32];
    const int length = snprintf(stem, sizeof stem, "haft-%" PRIu64, process);

    if (turn > 1) {
        snprintf(stem + length, sizeof stem - (size_t)length, "-%d", turn);
    }
    snprintf(file->path + file->directory_length, EXPORT_NAME_SIZE, "/%s.json", stem);
    snprintf(file->temporary, sizeof file->temporary, ".%s.new", stem);
    snprintf(file->locked, sizeof file->locked, ".%s.lock", stem);
}

static const char *name_of(const struct export_file *file)
{
    return file->path + file->directory_length + 1;
}

/* --- the lock --- */

/* True unless the system found that something was not written. */
static bool release(int *file)
{
    const bool closed = *file < 0 || close(*file) == 0;

    *file = -1;
    return closed;
}

static void lock_files(void)
{
    registry_lock();
    os_mutex_lock(&files_lock);
}

static void unlock_files(void)
{
    os_mutex_unlock(&files_lock);
    registry_unlock();
}

static void forget_files(void)
{
    release(&held);
    release(&being_written);
    unlock_files();
}

/* After the registry's handler, and before the program's: see registry.c. */
__attribute__((constructor(102))) static void watch_forks_of_files(void)
{
    os_on_fork(lock_files, unlock_files, forget_files);
}

/* Another process's lock, or something of that name that is no lock. */
static bool is_taken(int error)
{
    return error == EWOULDBLOCK || error == EBUSY || error == EACCES || error == EPERM ||
           error == ELOOP || error == EISDIR || error == ENXIO;
}

/* 0; EBUSY: only readers ask for it; ESTALE: a former owner has removed it. */
static int lock_file(int file)
{
    struct stat found;

    if (flock(file, LOCK_EX | LOCK_NB) != 0) {
        const int error = errno;

        return error == EWOULDBLOCK && flock(file, LOCK_SH | LOCK_NB) == 0 ? EBUSY : error;
    }
    if (fstat(file, &found) != 0) {
        return errno;
    }
    if (!S_ISREG(found.st_mode) || found.st_nlink > 1) {
        return EPERM; /* a pipe, or a file that has another name as well */
    }
    return found.st_nlink != 0 ? 0 : ESTALE;
}

static int try_names(const struct export_file *file)
{
    const int flags = O_RDWR | O_CREAT | OS_O_NOFOLLOW | O_NONBLOCK | OS_O_CLOEXEC;

    os_mutex_lock(&files_lock);
    held = sys_openat(file->directory, file->locked, flags, OWNER_ONLY);
    const int error = held < 0 ? errno : lock_file(held);

    if (error != 0) {
        release(&held);
    }
    os_mutex_unlock(&files_lock);
    return error;
}

/* 0, or the error: then the lock's file may be another process's, and stays. */
static int lock_names(const struct export_file *file)
{
    int error = ESTALE;

    for (int i = 0; i < MOST_TRIES && (error == EBUSY || error == ESTALE); i++) {
        error = try_names(file);
        if (error == EBUSY) {
            os_sleep(PAUSE_NS);
        }
    }
    if (error == 0) {
        /* Whatever umask.  Where it fails, the next of this number may need another turn. */
        sys_fchmod(held, OWNER_ONLY);
    }
    return error; /* ESTALE: a file system that counts no names? */
}

/* --- opening and closing --- */

HAFT_INTERNAL void export_file_forget(struct export_file *file)
{
    if (file->directory >= 0) {
        close(file->directory);
    }
    free(file->path);
}

HAFT_INTERNAL
haft_status export_file_open(struct export_file *file, const char *directory, uint64_t process)
{
    int error = EWOULDBLOCK;

    *file = (struct export_file){.directory_length = strlen(directory)};
    file->path = malloc(file->directory_length + EXPORT_NAME_SIZE);
    if (file->path == NULL) {
        return HAFT_NO_MEMORY;
    }
    memcpy(file->path, directory, file->directory_length);
    file->directory = open(directory, O_RDONLY | OS_O_DIRECTORY | OS_O_CLOEXEC);
    if (file->directory < 0 && (errno == EMFILE || errno == ENFILE)) {
        export_file_forget(file);
        return HAFT_NO_FILE; /* the directory may be as it should */
    }
    if (file->directory < 0 ||
        sys_faccessat(file->directory, ".", W_OK | X_OK, OS_AT_EACCESS) != 0) {
        export_file_forget(file);
        return HAFT_BAD_DIRECTORY;
    }
    for (int turn = 1; turn <= MOST_OF_A_NUMBER && is_taken(error); turn++) {
        set_names(file, process, turn);
        error = lock_names(file);
    }
    if (error != 0) {
        export_file_forget(file);
        return HAFT_NO_FILE;
    }
    return HAFT_OK;
}

HAFT_INTERNAL void export_file_remove(struct export_file *file)
{
    sys_unlinkat(file->directory, name_of(file), 0);
    sys_unlinkat(file->directory, file->locked, 0); /* last: the names are others' from now on */
    os_mutex_lock(&files_lock);
    release(&held);
    os_mutex_unlock(&files_lock);
    export_file_forget(file);
}

/* --- writing --- */

static bool write_all(int file, const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(file, text, length);

        if (written < 0 && errno != EINTR) {
            return false;
        }
        text += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

static bool write_temporary(const struct export_file *file, const char *text, size_t length)
{
    const int flags = O_WRONLY | O_CREAT | O_EXCL | OS_O_NOFOLLOW | OS_O_CLOEXEC;

    sys_unlinkat(file->directory, file->temporary, 0); /* of a process of this number that died */
    os_mutex_lock(&files_lock);
    const int opened = sys_openat(file->directory, file->temporary, flags, OWNER_ONLY);

    being_written = opened;
    os_mutex_unlock(&files_lock);
    if (opened < 0) {
        return false;
    }
    const bool wrote =
        sys_fchmod(opened, OWNER_ONLY) == 0 && write_all(opened, text, length); /* whatever umask */

    os_mutex_lock(&files_lock);
    const bool closed = release(&being_written);

    os_mutex_unlock(&files_lock);
    return closed && wrote;
}

HAFT_INTERNAL
bool export_file_write(const struct export_file *file, const char *text, size_t length)
{
    const bool written =
        write_temporary(file, text, length) &&
        sys_renameat(file->directory, file->temporary, file->directory, name_of(file)) == 0;

    if (!written) {
        sys_unlinkat(file->directory, file->temporary, 0);
    }
    return written;
}
#endif /* HAFT_WITHOUT_EXPORT */

#ifndef HAFT_WITHOUT_EXPORT
/* concurrent/export/export_text.c */

/* The text of an export's file: JSON, one member a line. */

/* --- the process --- */

/* "number (name) state parent ...": the name may hold anything, and the 22nd field is the start. */
static void parse_stat(char *text, struct process *process)
{
    char *name = strchr(text, '(');
    char *end = strrchr(text, ')');

    if (name == NULL || end == NULL || end < name) {
        return;
    }
    *end = '\0';
    snprintf(process->program, sizeof process->program, "%s", name + 1);
    char *field = end + 1;

    for (int spaces = 0; spaces < 19 && field != NULL; spaces++) {
        field = strchr(field + 1, ' ');
    }
    if (field != NULL) {
        process->started = strtoull(field, NULL, 10);
    }
}

HAFT_INTERNAL struct process process_of_this(void)
{
    struct process process = {.number = (uint64_t)getpid()};
    FILE *file = fopen("/proc/self/stat", "re");
    char text[1024];

    if (file != NULL) {
        const size_t length = fread(text, 1, sizeof text - 1, file);

        text[length] = '\0';
        parse_stat(text, &process);
        fclose(file);
    }
    return process;
}

/* --- strings --- */

/* Bytes of the UTF-8 sequence that `text` begins with; 0 if it begins with none. */
static unsigned sequence_length(const unsigned char *text)
{
    const unsigned length = text[0] < 0x80   ? 1
                            : text[0] < 0xc2 ? 0
                            : text[0] < 0xe0 ? 2
                            : text[0] < 0xf0 ? 3
                            : text[0] < 0xf5 ? 4
                                             : 0;

    for (unsigned i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    const bool is_wrong = (text[0] == 0xe0 && text[1] < 0xa0) ||  /* written too long */
                          (text[0] == 0xed && text[1] >= 0xa0) || /* half a pair */
                          (text[0] == 0xf0 && text[1] < 0x90) ||
                          (text[0] == 0xf4 && text[1] >= 0x90); /* beyond the last character */
    return is_wrong ? 0 : length;
}

/* Bytes that are no UTF-8 become question marks. */
static void put_string(FILE *out, const char *string)
{
    const unsigned char *at = (const unsigned char *)string;

    fputc('"', out);
    while (*at != '\0') {
        const unsigned length = sequence_length(at);

        if (length == 0) {
            fputc('?', out);
        } else if (*at < 0x20) {
            fprintf(out, "\\u%04x", *at);
        } else {
            fprintf(out, "%s%.*s", *at == '"' || *at == '\\' ? "\\" : "", (int)length,
                    (const char *)at);
        }
        at += length == 0 ? 1 : length;
    }
    fputc('"', out);
}

/* --- tables --- */

static void put_member(FILE *out, const char *key, uint64_t value)
{
    fprintf(out, ",\n      \"%s\": %" PRIu64, key, value);
}

#define PUT(name, kind, unit, meaning) put_member(out, #name, stats.name);

static void put_table(FILE *out, const haft_table *table)
{
    const haft_table_stats stats = haft_table_stats_get(table);

    fprintf(out, "    {\n      \"number\": %" PRIu64 ",\n      \"name\": ", table->number);
    put_string(out, table->name);
    put_member(out, "domain", table->domain->number);
    put_member(out, "object_size", table->slots.object_size);
    HAFT_TABLE_STATS(PUT)
    fputs("\n    }", out);
}

static void put_domain(FILE *out, const haft_domain *domain)
{
    const haft_domain_stats stats = haft_domain_stats_get(domain);

    fprintf(out, "    {\n      \"number\": %" PRIu64 ",\n      \"clock\": \"%s\"", domain->number,
            domain->clock->name);
    HAFT_DOMAIN_STATS(PUT)
    fputs("\n    }", out);
}

/* Whether no table before this one in the list is on its domain. */
static bool is_first_of_domain(const haft_table *tables, const haft_table *table)
{
    while (tables->domain != table->domain) {
        tables = tables->next_open;
    }
    return tables == table;
}

static void put_domains(FILE *out, const haft_table *tables)
{
    const char *before = "\n";

    for (const haft_table *table = tables; table != NULL; table = table->next_open) {
        if (is_first_of_domain(tables, table)) {
            fputs(before, out);
            put_domain(out, table->domain);
            before = ",\n";
        }
    }
}

static void put_tables(FILE *out, const haft_table *tables)
{
    const char *before = "\n";

    for (const haft_table *table = tables; table != NULL; table = table->next_open) {
        fputs(before, out);
        put_table(out, table);
        before = ",\n";
    }
}

/* --- the file --- */

/* The time that all processes of the machine share. */
static uint64_t boot_time_ns(void)
{
    struct timespec now;

    sys_clock_gettime(OS_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void put_head(FILE *out, const struct export_head *head)
{
    fprintf(out,
            "{\n  \"haft_export\": 1,\n  \"process\": %" PRIu64 ",\n  \"started\": %" PRIu64
            ",\n  \"program\": ",
            head->process.number, head->process.started);
    put_string(out, head->process.program);
    fprintf(out,
            ",\n  \"written_ns\": %" PRIu64 ",\n  \"interval_ms\": %" PRIu64
            ",\n  \"sequence\": %" PRIu64 ",\n",
            boot_time_ns(), head->interval_ms, head->sequence);
}

HAFT_INTERNAL char *export_text(const struct export_head *head, size_t *length)
{
    char *text = NULL;
    FILE *out = sys_open_memstream(&text, length);

    if (out == NULL) {
        return NULL;
    }
    put_head(out, head);
    const haft_table *tables = first_open_table();

    fputs("  \"domains\": [", out);
    put_domains(out, tables);
    fputs("\n  ],\n  \"tables\": [", out);
    put_tables(out, tables);
    fputs("\n  ]\n}\n", out);
    const bool has_failed = ferror(out) != 0;

    if (fclose(out) != 0 || has_failed) {
        free(text);
        return NULL;
    }
    return text;
}
#endif /* HAFT_WITHOUT_EXPORT */

#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
