/*
 * haft.c - haft 0.2.0: the core in one file, with haft.h
 *
 * Copyright (c) 2026 The haft authors.  SPDX-License-Identifier: MIT
 * Made of haft's sources by ./dev amalgamate; changes belong there.
 *
 *   cc -c haft.c
 *
 * It needs the C library with its threads and nothing else, and no options.  There are these:
 *
 *   -DNDEBUG                no asserts, which notice misuse
 *   -DHAFT_OS_BARE          for one thread without an operating system
 *
 * Other sources in C11 may include it, wherever they like: names that haft.h does not have begin
 * with haft__ here, and no option of the system's headers is needed.
 */
#if defined(__cplusplus)
#error "haft.c is C: compile it alone, by a C compiler (cc -c haft.c), and link haft.o"
#elif (!defined(__GNUC__) && !defined(_MSC_VER)) || defined(__TINYC__)
#error "haft.c needs GCC, Clang or Visual C++: compile it by one (gcc -c haft.c), and link haft.o"
#elif !defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L
#error "haft.c is C11: add -std=c11 or -std=gnu11 to the compiler's options"
#else

#include "haft.h"

/* The one place that says how other files see what is haft's own: not at all. */
#define HAFT_INTERNAL static

#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* of names that a source has which includes this one */
#pragma GCC diagnostic ignored "-Wunused-function" /* those that asserts or the kit alone call */
#endif

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma push_macro("far")
#undef far
#pragma push_macro("max")
#undef max
#pragma push_macro("near")
#undef near
#pragma push_macro("slots")
#undef slots

/*
 * lib/base/os_types.h - room for the system's own types, which os.h works on.
 *
 * os_posix.c and os_windows.c check that their types fit; so no header of a system is included
 * here.
 */

/* Asserts that a type of the system fits the room for it. */
#define haft__FITS(type, room) _Static_assert(sizeof(type) <= sizeof(room), "os_types.h: too small")

/* macOS's mutexes are the largest; where os_posix.c makes semaphores of mutexes, they take more. */
#if defined(__APPLE__) || defined(HAFT_OS_POSIX) ||                                                \
    (defined(__unix__) && !defined(__linux__) && !defined(HAFT_OS_BARE))
enum { haft__MUTEX_WORDS = 8, haft__SEMAPHORE_WORDS = 15 };
#else
enum { haft__MUTEX_WORDS = 6, haft__SEMAPHORE_WORDS = 4 };
#endif

/* Whether memory reserved without `readable` is unreadable until committed, as on Windows. */
#if (defined(_WIN32) && !defined(HAFT_OS_BARE)) || defined(HAFT_OS_IN_STEPS)
enum { haft__OS_READS_IN_STEPS = 1 };
#else
enum { haft__OS_READS_IN_STEPS = 0 };
#endif

/* One that is all zero is free: static ones need nothing else. */
struct haft__os_mutex {
    uint64_t room[haft__MUTEX_WORDS];
};

struct haft__os_condition {
    uint64_t room[6];
};

struct haft__os_semaphore {
    uint64_t room[haft__SEMAPHORE_WORDS];
};

/* It stays where it is until it is joined. */
struct haft__os_thread {
    uint64_t room[1];
    void (*run)(void *arg);
    void *arg;
};

/*
 * lib/base/os.h - the functions that haft needs of an operating system.
 *
 * os_posix.c implements them; os_windows.c on Windows; os_bare.c for programs without a system
 * (-DHAFT_OS_BARE); os_lacking.c what several of them lack.  All are compiled, and an #if in each
 * leaves what is not for the system empty: a port is another os_*.c with such an #if.  No other
 * file of lib/, concurrent/ and kit/ calls the system or includes its headers, except the files of
 * an export.
 *
 * False: the system refuses, or has no such thing; nothing has changed.  Any threads.
 */

/* --- memory --- */

/* Bytes in a page: a power of two. */
HAFT_INTERNAL size_t haft__os_page_size(void);

/*
 * Address space of `size` bytes that are zero, from a page's start; NULL if there is none.  They
 * can be written at once, or, where `*in_steps` is true, after os_commit(); and read at once with
 * `readable`, else when they can be written.  A page takes memory when it is first written, not a
 * huge one unless os_ask_for_huge_pages() was called.
 */
HAFT_INTERNAL char *haft__os_reserve(size_t size, bool readable, bool *in_steps);

/* Make bytes of a reservation, from a page's start on, writable; some of them may be already. */
HAFT_INTERNAL bool haft__os_commit(char *base, size_t size);

/* Whether whole pages are written when the process crashes, as a reservation's are at first. */
HAFT_INTERNAL void haft__os_dump(char *base, size_t size, bool wanted);

/* Give a whole reservation back. */
HAFT_INTERNAL void haft__os_release(char *base, size_t size);

/* The bytes, whole pages, become zero, and their memory goes back to the system. */
HAFT_INTERNAL bool haft__os_discard(char *base, size_t size);

/* Find memory now for writable bytes from a page's start.  True if the system cannot be asked. */
HAFT_INTERNAL bool haft__os_populate(char *base, size_t size);

/* The system may take huge pages for a reservation, if it has them. */
HAFT_INTERNAL void haft__os_ask_for_huge_pages(char *base, size_t size);

/*
 * A block of the C library's heap, of a size that is a whole multiple of `alignment`, a power of
 * two; NULL if there is none.  os_free_takes_aligned: whether free() frees such a block as well.
 */
HAFT_INTERNAL void *haft__os_alloc_aligned(size_t alignment, size_t size);
HAFT_INTERNAL void haft__os_free_aligned(void *memory);
HAFT_INTERNAL bool haft__os_free_takes_aligned(void);

/* --- chance, time, numbers, words --- */

/* Random bits, without waiting for them. */
HAFT_INTERNAL bool haft__os_random(uint64_t *bits);

/* Monotonic time, ns. */
HAFT_INTERNAL uint64_t haft__os_now_ns(void);

/* The system's number for the calling thread, as debuggers show it; and for the process. */
HAFT_INTERNAL uint64_t haft__os_thread_number(void);

/* Whether the thread of that number has ended; false where the system does not say. */
HAFT_INTERNAL bool haft__os_thread_has_ended(uint64_t number);
HAFT_INTERNAL uint64_t haft__os_process_number(void);

/* A line for the user of the program: to stderr, behind "haft: ". */
HAFT_INTERNAL void haft__os_print(const char *line);

/* Where an address lies: in `file`, `file_offset` bytes from where tools count; names of functions
 * that the file does not tell are NULL. */
struct haft__os_symbol {
    const char *file;
    const char *function;
    uintptr_t file_offset;
    uintptr_t function_offset;
    char room[260]; /* for the texts, where the system lends none */
};

HAFT_INTERNAL bool haft__os_symbol_of(uintptr_t address, struct haft__os_symbol *symbol);

/* --- threads --- */

/* Let other threads run: now, or for that long at least. */
HAFT_INTERNAL void haft__os_yield(void);
HAFT_INTERNAL void haft__os_sleep(uint64_t ns);

/*
 * Between the two, pthread_cancel() leaves the calling thread alone; a request then waits for a
 * cancellation point of the program's.  The first returns what held before, for the second: pairs
 * nest.  They stand around each call of a callback and around file work; what blocks or prints
 * here has its own.  Neither does anything where no thread can be cancelled.
 */
HAFT_INTERNAL int haft__os_cancel_off(void);
HAFT_INTERNAL void haft__os_cancel_restore(int before);

/*
 * Wait until os_wake_address() is called for the word, or for that long, if it has the value; where
 * the system has no such thing, sleep for a part of that.  May return for no reason.  The wake
 * looks at the address alone: what lies there may be gone.
 */
HAFT_INTERNAL void haft__os_wait_address(const void *word, uint64_t value, uint64_t ns);
HAFT_INTERNAL void haft__os_wake_address(const void *word);

/* A thread that runs run(arg), with all signals blocked: they go to the program's own threads. */
HAFT_INTERNAL bool haft__os_thread_start(struct haft__os_thread *thread, void (*haft__run)(void *arg), void *arg);
HAFT_INTERNAL void haft__os_thread_join(struct haft__os_thread *thread);

/* os_mutex_try_lock: false if another thread has it.  Not recursive. */
HAFT_INTERNAL void haft__os_mutex_open(struct haft__os_mutex *mutex);
HAFT_INTERNAL void haft__os_mutex_close(struct haft__os_mutex *mutex);
HAFT_INTERNAL void haft__os_mutex_lock(struct haft__os_mutex *mutex);
HAFT_INTERNAL bool haft__os_mutex_try_lock(struct haft__os_mutex *mutex);
HAFT_INTERNAL void haft__os_mutex_unlock(struct haft__os_mutex *mutex);

/* os_condition_wait: with the mutex, until woken, or for no reason; false: `until_ns` passed. */
HAFT_INTERNAL void haft__os_condition_open(struct haft__os_condition *condition);
HAFT_INTERNAL void haft__os_condition_close(struct haft__os_condition *condition);
HAFT_INTERNAL
bool haft__os_condition_wait(struct haft__os_condition *condition, struct haft__os_mutex *mutex, uint64_t until_ns);
HAFT_INTERNAL void haft__os_condition_wake_all(struct haft__os_condition *condition);

/* os_semaphore_post never blocks; each wait takes one post. */
HAFT_INTERNAL bool haft__os_semaphore_open(struct haft__os_semaphore *semaphore);
HAFT_INTERNAL void haft__os_semaphore_close(struct haft__os_semaphore *semaphore);
HAFT_INTERNAL void haft__os_semaphore_post(struct haft__os_semaphore *semaphore);
HAFT_INTERNAL void haft__os_semaphore_wait(struct haft__os_semaphore *semaphore);

/* From now on each fork calls these, if not NULL; the `before` handed over last runs first. */
HAFT_INTERNAL
bool haft__os_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void));

/* lib/base/allocator.c */

/* haft_allocator over malloc. */

/* The alignment that malloc gives unasked. */
#define haft__USUAL_ALIGNMENT _Alignof(max_align_t)

static size_t haft__at_least(size_t size, size_t haft__least)
{
    return size < haft__least ? haft__least : size;
}

static bool haft__is_power_of_two(size_t alignment)
{
    return alignment != 0 && (alignment & (alignment - 1)) == 0;
}

/* Whether malloc() serves this alignment: never where free() cannot free aligned blocks. */
static bool haft__malloc_does(size_t alignment)
{
    return alignment <= haft__USUAL_ALIGNMENT && haft__os_free_takes_aligned();
}

static void *haft__malloc_alloc(void *context, size_t size, size_t alignment)
{
    (void)context;
    if (!haft__is_power_of_two(alignment) || size > SIZE_MAX - alignment) {
        return NULL;
    }
    if (haft__malloc_does(alignment)) {
        return malloc(haft__at_least(size, 1));
    }
    const size_t whole = (haft__at_least(size, 1) + alignment - 1) / alignment * alignment;

    return haft__os_alloc_aligned(alignment, whole);
}

static void *haft__malloc_resize(void *context, void *memory, size_t old_size, size_t new_size,
                           size_t alignment)
{
    assert(memory != NULL || old_size == 0);
    if (memory != NULL && haft__is_power_of_two(alignment) && haft__malloc_does(alignment)) {
        return realloc(memory, haft__at_least(new_size, 1));
    }
    void *moved = haft__malloc_alloc(context, new_size, alignment);

    if (moved != NULL && memory != NULL) {
        memcpy(moved, memory, old_size < new_size ? old_size : new_size);
        haft__os_free_aligned(memory);
    }
    return moved;
}

static void haft__malloc_free(void *context, void *memory, size_t size)
{
    (void)context;
    (void)size;
    haft__os_free_aligned(memory);
}

haft_allocator haft_allocator_malloc(void)
{
    return (haft_allocator){haft__malloc_alloc, haft__malloc_resize, haft__malloc_free, NULL};
}

/* lib/base/block.h */

/* lib/base/block.h - haft_allocator_block(), as the library knows it. */

/* Whether all that is taken of the allocator lies in a block, arrays of any size too. */
HAFT_INTERNAL bool haft__block_is_of(const haft_allocator *allocator);

/*
 * lib/base/atomics_direct.h - the operations behind lib/base/atomics.h, as the compiler makes them.
 */

#ifdef HAFT_COMPILER_MSVC
#define haft__ATOMIC_EXCHANGE haft_msvc_exchange
#define haft__ATOMIC_OR haft_msvc_or
#define haft__ATOMIC_ADD haft_msvc_add
/* Visual C++ lets any type alias. */
#define haft__BYTES_LOAD(bytes, order) haft_msvc_load((const haft_atomic_u64 *)(bytes), order)
#define haft__BYTES_STORE(bytes, value, order) haft_msvc_store((haft_atomic_u64 *)(bytes), value, order)
#else
typedef uint64_t __attribute__((may_alias, aligned(8))) haft__bytes_u64; /* on i386 it would be 4 */

#define haft__ATOMIC_EXCHANGE atomic_exchange_explicit
#define haft__ATOMIC_OR atomic_fetch_or_explicit
#define haft__ATOMIC_ADD atomic_fetch_add_explicit
#define haft__BYTES_LOAD(bytes, order) __atomic_load_n((const haft__bytes_u64 *)(bytes), (int)(order))
#define haft__BYTES_STORE(bytes, value, order) __atomic_store_n((haft__bytes_u64 *)(bytes), value, (int)(order))
#endif

static inline uint64_t haft__u64_exchange(haft_edge edge, haft_atomic_u64 *word, uint64_t value,
                                    haft_order order)
{
    (void)edge;
    return haft__ATOMIC_EXCHANGE(word, value, order);
}

static inline uint64_t haft__u64_fetch_or(haft_edge edge, haft_atomic_u64 *word, uint64_t value,
                                    haft_order order)
{
    (void)edge;
    return haft__ATOMIC_OR(word, value, order);
}

static inline uint64_t haft__u64_fetch_add(haft_edge edge, haft_atomic_u64 *word, uint64_t value,
                                     haft_order order)
{
    (void)edge;
    return haft__ATOMIC_ADD(word, value, order);
}

static inline uint64_t haft__bytes_load(haft_edge edge, const void *bytes, haft_order order)
{
    (void)edge;
    return haft__BYTES_LOAD(bytes, order);
}

static inline void haft__bytes_store(haft_edge edge, void *bytes, uint64_t value, haft_order order)
{
    (void)edge;
    haft__BYTES_STORE(bytes, value, order);
}

/*
 * lib/base/atomics.h - all atomic operations of lib/, concurrent/ and kit/.
 *
 * The order is in the name, the edge is the first argument: store_release(PUBLISH, &word, id).
 * haft/detail/atomics.h lists the edges.  No fences: the order stands on the operation, where
 * ThreadSanitizer sees it.
 *
 * The operations themselves stand in lib/base/atomics_direct.h; for a hooked build they are
 * declared in lib/base/atomics_hooked.h.  An operation that is added is added to both.
 */

typedef haft_atomic_u64 haft__atomic_u64;

#define haft__CACHE_LINE 64 /* bytes that two threads should not both write in */

#define haft__load_relaxed(reason, word) haft_load_relaxed(HAFT_EDGE_##reason, word)
#define haft__load_acquire(edge, word) haft_load_acquire(HAFT_EDGE_##edge, word)
#define haft__store_relaxed(reason, word, value) haft_store_relaxed(HAFT_EDGE_##reason, word, value)
#define haft__store_release(edge, word, value) haft_store_release(HAFT_EDGE_##edge, word, value)

/* Compare and swap: true if `*word` was `expected` and is now `desired`.  A failure is relaxed. */
#define haft__cas_relaxed(reason, word, expected, desired)                                               \
    haft_cas(HAFT_EDGE_##reason, word, expected, desired, HAFT_RELAXED)
#define haft__cas_acquire(edge, word, expected, desired)                                                 \
    haft_cas(HAFT_EDGE_##edge, word, expected, desired, HAFT_ACQUIRE)
#define haft__cas_acq_rel(edge, word, expected, desired)                                                 \
    haft_cas(HAFT_EDGE_##edge, word, expected, desired, HAFT_ACQ_REL)
#define haft__cas_release(edge, word, expected, desired)                                                 \
    haft_cas(HAFT_EDGE_##edge, word, expected, desired, HAFT_RELEASE)

/* Exchange: the value before. */
#define haft__exchange_relaxed(reason, word, value)                                                      \
    haft__u64_exchange(HAFT_EDGE_##reason, word, value, HAFT_RELAXED)
#define haft__exchange_acquire(edge, word, value)                                                        \
    haft__u64_exchange(HAFT_EDGE_##edge, word, value, HAFT_ACQUIRE)
#define haft__exchange_acq_rel(edge, word, value)                                                        \
    haft__u64_exchange(HAFT_EDGE_##edge, word, value, HAFT_ACQ_REL)

/* Fetch and add: the value before. */
#define haft__fetch_add_relaxed(reason, word, value)                                                     \
    haft__u64_fetch_add(HAFT_EDGE_##reason, word, value, HAFT_RELAXED)
#define haft__fetch_add_acquire(edge, word, value)                                                       \
    haft__u64_fetch_add(HAFT_EDGE_##edge, word, value, HAFT_ACQUIRE)
#define haft__fetch_add_release(edge, word, value)                                                       \
    haft__u64_fetch_add(HAFT_EDGE_##edge, word, value, HAFT_RELEASE)
#define haft__fetch_or_relaxed(reason, word, value)                                                      \
    haft__u64_fetch_or(HAFT_EDGE_##reason, word, value, HAFT_RELAXED)
#define haft__fetch_or_acq_rel(edge, word, value)                                                        \
    haft__u64_fetch_or(HAFT_EDGE_##edge, word, value, HAFT_ACQ_REL)
#define haft__fetch_add_acq_rel(edge, word, value)                                                       \
    haft__u64_fetch_add(HAFT_EDGE_##edge, word, value, HAFT_ACQ_REL)

/* A word of an object, of whatever type the program has there; aligned to 8 bytes. */
#define haft__bytes_load_acquire(edge, bytes) haft__bytes_load(HAFT_EDGE_##edge, bytes, HAFT_ACQUIRE)
#define haft__bytes_store_release(edge, bytes, value)                                                    \
    haft__bytes_store(HAFT_EDGE_##edge, bytes, value, HAFT_RELEASE)

/* lib/base/block.c */

/*
 * haft_allocator over a block of the program's memory.
 *
 * A word has the end of what is taken and the number of parts taken; each call is one
 * compare-and-swap of it.
 *
 * Edges in this file.
 *   BLOCK   fixed_free (acq_rel) -> fixed_alloc (acq_rel)   a part's last use
 *   OWN     before the allocator is handed to other threads
 *   RETRY   a first look; the compare-and-swap decides
 */

#define haft__FIXED_END_BITS 40
#define haft__FIXED_END_MASK ((UINT64_C(1) << haft__FIXED_END_BITS) - 1)
#define haft__FIXED_MOST_PARTS (UINT64_MAX >> haft__FIXED_END_BITS)

#define haft__FIXED_UNIT                                                                                 \
    16 /* all parts begin and end at multiples: none lies between two that are freed */

/* At the start of the block, before what is allocated. */
struct haft__fixed_block {
    _Alignas(haft__FIXED_UNIT) uint64_t size; /* from this struct's start */
    haft__atomic_u64
        used; /* from this struct's start, FIXED_END_BITS; and above them the number of parts */
};

static uint64_t haft__fixed_word(uint64_t end, uint64_t parts)
{
    assert(end <= haft__FIXED_END_MASK && parts <= haft__FIXED_MOST_PARTS);
    return end | parts << haft__FIXED_END_BITS;
}

static uint64_t haft__fixed_parts(uint64_t used)
{
    return used >> haft__FIXED_END_BITS;
}

static uint64_t haft__fixed_end(uint64_t used)
{
    return used & haft__FIXED_END_MASK;
}

/* A unit at least: no two parts have one address.  0: more than there can be. */
static uint64_t haft__fixed_bytes(size_t size)
{
    return size != 0 ? ((uint64_t)size + haft__FIXED_UNIT - 1) / haft__FIXED_UNIT * haft__FIXED_UNIT : haft__FIXED_UNIT;
}

static uint64_t haft__fixed_place(const struct haft__fixed_block *block, const void *memory)
{
    const uintptr_t from_start = (uintptr_t)memory - (uintptr_t)block;

    assert(from_start >= sizeof *block && from_start < block->size && "a part of this block");
    assert(from_start % haft__FIXED_UNIT == 0);
    return from_start;
}

static void *haft__fixed_alloc(void *context, size_t size, size_t alignment)
{
    struct haft__fixed_block *block = context;
    const uint64_t bytes = haft__fixed_bytes(size);

    if (block == NULL || alignment == 0 || (alignment & (alignment - 1)) != 0) {
        return NULL;
    }
    for (;;) {
        const uint64_t used = haft__load_relaxed(RETRY, &block->used);
        const uintptr_t from = (uintptr_t)block + (uintptr_t)haft__fixed_end(used);
        const uint64_t at = haft__fixed_end(used) + (-from & (alignment - 1));

        if (at > block->size || bytes > block->size - at || bytes < size ||
            haft__fixed_parts(used) == haft__FIXED_MOST_PARTS) {
            return NULL;
        }
        /* Weakened, the last owner's bytes could be written after the next one's. */
        if (haft__cas_acq_rel(BLOCK, &block->used, used, haft__fixed_word(at + bytes, haft__fixed_parts(used) + 1))) {
            return (char *)block + at;
        }
    }
}

static void haft__fixed_free(void *context, void *memory, size_t size)
{
    struct haft__fixed_block *block = context;

    if (memory == NULL) {
        return;
    }
    const uint64_t at = haft__fixed_place(block, memory);
    const uint64_t bytes = haft__fixed_bytes(size);

    for (;;) {
        const uint64_t used = haft__load_relaxed(RETRY, &block->used);
        const uint64_t end = haft__fixed_end(used);
        const uint64_t before = haft__fixed_parts(used) == 1 ? sizeof *block
                                : at + bytes == end    ? at
                                                       : end;

        assert(haft__fixed_parts(used) != 0 && at + bytes <= end && "each part is freed once");
        /* Weakened, the part's next owner could write to it before its last use. */
        if (haft__cas_acq_rel(BLOCK, &block->used, used, haft__fixed_word(before, haft__fixed_parts(used) - 1))) {
            return;
        }
    }
}

static void *haft__fixed_resize(void *context, void *memory, size_t old_size, size_t new_size,
                          size_t alignment)
{
    void *moved = haft__fixed_alloc(context, new_size, alignment);

    assert(memory != NULL || old_size == 0);
    if (moved != NULL && memory != NULL) {
        memcpy(moved, memory, old_size < new_size ? old_size : new_size);
        haft__fixed_free(context, memory, old_size);
    }
    return moved;
}

HAFT_INTERNAL bool haft__block_is_of(const haft_allocator *allocator)
{
    return allocator->alloc == haft__fixed_alloc;
}

haft_allocator haft_allocator_block(void *memory, size_t size)
{
    const size_t lead = -(uintptr_t)memory & (_Alignof(struct haft__fixed_block) - 1);
    struct haft__fixed_block *block = NULL;

    if (size >= lead + sizeof *block) {
        const uint64_t rest = size - lead;

        block = (struct haft__fixed_block *)(void *)((char *)memory + lead);
        block->size = (rest < haft__FIXED_END_MASK ? rest : haft__FIXED_END_MASK) / haft__FIXED_UNIT * haft__FIXED_UNIT;
        haft__store_relaxed(OWN, &block->used, haft__fixed_word(sizeof *block, 0));
    }
    return (haft_allocator){haft__fixed_alloc, haft__fixed_resize, haft__fixed_free, block};
}

/*
 * lib/base/given.h - memory that the program has given, cut from its start on.
 *
 * The same calls cut it and measure how much is needed, wherever it may begin.
 */

struct haft__given {
    char *at; /* not cut yet; NULL: none is given, or it is measured */
    uint64_t left;
    uint64_t measured; /* bytes that suffice */
};

/* Of a program's options; NULL: none is given. */
HAFT_INTERNAL struct haft__given haft__given_of(void *memory, uint64_t size);

/* Whether at least `needed` bytes are given, or none, of size 0.  Asked before any is taken. */
HAFT_INTERNAL bool haft__given_suffices(const struct haft__given *given, uint64_t needed);

/* Whether a block of memory can have as many bytes: there are addresses for it. */
HAFT_INTERNAL bool haft__given_is_possible(uint64_t bytes);

/* For measuring: nothing is written. */
HAFT_INTERNAL struct haft__given haft__given_to_measure(void);

/* `size` zero bytes at a multiple of `alignment`; NULL: too few remain.  Measured: any but NULL. */
HAFT_INTERNAL void *haft__given_take(struct haft__given *given, uint64_t size, uint64_t alignment);

/*
 * lib/base/asan.h - the only file that knows AddressSanitizer's poisoning, and memcheck's.
 *
 * Poisoned bytes may not be touched: the sanitizer reports an access.  It keeps a record for each
 * granule of 8 bytes, and a granule can only be poisoned from some byte on to its end.  In debug
 * builds valgrind's memcheck is told the same where its header is there; whether the program runs
 * under valgrind is known at run time.  Without either these functions do nothing.
 */

#define haft__ASAN_GRANULE ((size_t)8)

/* Poisoned bytes behind an allocation, at least. */
#define haft__ASAN_REDZONE (2 * haft__ASAN_GRANULE)

#if defined(__SANITIZE_ADDRESS__)
#define HAFT_UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAFT_UNDER_ASAN 1
#endif
#endif

#if !defined(HAFT_UNDER_ASAN) && !defined(NDEBUG) && defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#define HAFT_FOR_MEMCHECK 1
#endif
#endif

#ifdef HAFT_UNDER_ASAN
#include <sanitizer/asan_interface.h>

static inline bool haft__asan_is_on(void)
{
    return true;
}

static inline void haft__asan_poison(const void *memory, size_t size)
{
    __asan_poison_memory_region(memory, size);
}

static inline void haft__asan_unpoison(const void *memory, size_t size)
{
    /* Memory that was never poisoned may have no records. */
    if (__asan_region_is_poisoned((void *)(uintptr_t)memory, size) != NULL) {
        __asan_unpoison_memory_region(memory, size);
    }
}
#elif defined(HAFT_FOR_MEMCHECK)
#include <valgrind/memcheck.h>

static inline bool haft__asan_is_on(void)
{
    return RUNNING_ON_VALGRIND != 0;
}

static inline void haft__asan_poison(const void *memory, size_t size)
{
    (void)memory; /* nothing for machines that valgrind does not know */
    (void)size;
    (void)VALGRIND_MAKE_MEM_NOACCESS(memory, size);
}

static inline void haft__asan_unpoison(const void *memory, size_t size)
{
    (void)memory;
    (void)size;
    (void)VALGRIND_MAKE_MEM_DEFINED(memory, size);
}
#else
static inline bool haft__asan_is_on(void)
{
    return false;
}

static inline void haft__asan_poison(const void *memory, size_t size)
{
    (void)memory;
    (void)size;
}

static inline void haft__asan_unpoison(const void *memory, size_t size)
{
    (void)memory;
    (void)size;
}
#endif

/* The bytes of an object, of any size, to the end of their last granule. */
static inline void haft__asan_poison_object(const void *haft__object, size_t size)
{
    haft__asan_poison(haft__object, (size + haft__ASAN_GRANULE - 1) / haft__ASAN_GRANULE * haft__ASAN_GRANULE);
}

/* lib/base/given.c */

/* Memory that the program has given. */

HAFT_INTERNAL struct haft__given haft__given_of(void *memory, uint64_t size)
{
    return (struct haft__given){memory, size, 0};
}

HAFT_INTERNAL bool haft__given_suffices(const struct haft__given *given, uint64_t needed)
{
    return given->at != NULL ? given->left >= needed : given->left == 0;
}

HAFT_INTERNAL bool haft__given_is_possible(uint64_t bytes)
{
    return bytes <= PTRDIFF_MAX;
}

HAFT_INTERNAL struct haft__given haft__given_to_measure(void)
{
    return (struct haft__given){NULL, UINT64_MAX, 0};
}

static void *haft__measure(struct haft__given *given, uint64_t size, uint64_t alignment)
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

HAFT_INTERNAL void *haft__given_take(struct haft__given *given, uint64_t size, uint64_t alignment)
{
    assert(alignment != 0 && (alignment & (alignment - 1)) == 0);
    if (given->at == NULL) {
        return haft__measure(given, size, alignment);
    }
    const uint64_t before = (alignment - (uintptr_t)given->at % alignment) % alignment;

    if (before > given->left || size > given->left - before) {
        return NULL;
    }
    char *haft__taken = given->at + before;

    given->at = haft__taken + size;
    given->left -= before + size;
    assert((uintptr_t)haft__taken % alignment == 0);
    haft__asan_unpoison(haft__taken, (size_t)size);
    return memset(haft__taken, 0, (size_t)size);
}

/*
 * lib/base/heap.h - memory of a table or domain that is not in pages: from the program's allocator,
 * or from malloc.
 */

/* The heap for an option `allocator`, of which NULL means malloc. */
HAFT_INTERNAL haft_allocator haft__heap_of(const haft_allocator *allocator);

/* `size` bytes at a multiple of `alignment`; heap_take_zero: all zero.  NULL: there are none. */
HAFT_INTERNAL void *haft__heap_take(const haft_allocator *heap, size_t size, size_t alignment);
HAFT_INTERNAL void *haft__heap_take_zero(const haft_allocator *heap, size_t size, size_t alignment);

/* `size` up to a multiple of `alignment`, a power of two. */
static inline uint64_t haft__size_round_up(uint64_t size, uint64_t alignment)
{
    assert(alignment != 0 && (alignment & (alignment - 1)) == 0);
    return (size + alignment - 1) / alignment * alignment;
}

/* Bytes of a struct of `size` bytes with `name` behind it. */
HAFT_INTERNAL size_t haft__size_with_name(size_t size, const char *name);

/* Free a block of `size` bytes; NULL is nothing. */
HAFT_INTERNAL void haft__heap_give(const haft_allocator *heap, void *block, size_t size);

/* lib/base/heap.c */

/* Memory from the program's allocator, or from malloc. */

HAFT_INTERNAL haft_allocator haft__heap_of(const haft_allocator *allocator)
{
    return allocator != NULL ? *allocator : haft_allocator_malloc();
}

HAFT_INTERNAL void *haft__heap_take(const haft_allocator *heap, size_t size, size_t alignment)
{
    const int cancel = haft__os_cancel_off();
    void *block = heap->alloc(heap->context, size, alignment);

    haft__os_cancel_restore(cancel);
    assert((uintptr_t)block % alignment == 0 && "an allocator aligns as it is asked");
    return block;
}

HAFT_INTERNAL void *haft__heap_take_zero(const haft_allocator *heap, size_t size, size_t alignment)
{
    void *block = haft__heap_take(heap, size, alignment);

    return block != NULL ? memset(block, 0, size) : NULL;
}

HAFT_INTERNAL void haft__heap_give(const haft_allocator *heap, void *block, size_t size)
{
    if (block != NULL) {
        const int cancel = haft__os_cancel_off();

        heap->free(heap->context, block, size);
        haft__os_cancel_restore(cancel);
    }
}

HAFT_INTERNAL size_t haft__size_with_name(size_t size, const char *name)
{
    assert(name != NULL);
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

#define haft__BARE_PAGE ((size_t)4096)

/* --- memory --- */

HAFT_INTERNAL size_t haft__os_page_size(void)
{
    return haft__BARE_PAGE;
}

HAFT_INTERNAL char *haft__os_reserve(size_t size, bool readable, bool *in_steps)
{
    (void)readable;
    const bool is_possible = size <= SIZE_MAX - haft__BARE_PAGE;
    const size_t whole = (size + haft__BARE_PAGE - 1) / haft__BARE_PAGE * haft__BARE_PAGE;
    char *base = is_possible ? haft__os_alloc_aligned(haft__BARE_PAGE, whole) : NULL;

    *in_steps = false;
    return base != NULL ? memset(base, 0, size) : NULL;
}

HAFT_INTERNAL bool haft__os_commit(char *base, size_t size)
{
    (void)base;
    (void)size;
    return true;
}

HAFT_INTERNAL void haft__os_release(char *base, size_t size)
{
    (void)size;
    haft__os_free_aligned(base);
}

HAFT_INTERNAL bool haft__os_discard(char *base, size_t size)
{
    (void)base;
    (void)size;
    return false;
}

/* --- chance, time, numbers, words --- */

HAFT_INTERNAL bool haft__os_random(uint64_t *bits)
{
    (void)bits;
    return false;
}

HAFT_INTERNAL uint64_t haft__os_now_ns(void)
{
    static uint64_t now;

    return ++now;
}

HAFT_INTERNAL uint64_t haft__os_thread_number(void)
{
    return 1;
}

HAFT_INTERNAL uint64_t haft__os_process_number(void)
{
    return 1;
}

HAFT_INTERNAL bool haft__os_symbol_of(uintptr_t address, struct haft__os_symbol *symbol)
{
    (void)address;
    (void)symbol;
    return false;
}

/* --- threads --- */

HAFT_INTERNAL void haft__os_yield(void)
{
}

HAFT_INTERNAL void haft__os_sleep(uint64_t ns)
{
    (void)ns;
}

HAFT_INTERNAL bool haft__os_thread_start(struct haft__os_thread *thread, void (*haft__run)(void *arg), void *arg)
{
    (void)thread;
    (void)haft__run;
    (void)arg;
    return false;
}

/* No thread was started. */
HAFT_INTERNAL void haft__os_thread_join(struct haft__os_thread *thread)
{
    (void)thread;
    assert(thread == NULL);
}

HAFT_INTERNAL void haft__os_mutex_open(struct haft__os_mutex *mutex)
{
    mutex->room[0] = 0;
}

HAFT_INTERNAL void haft__os_mutex_close(struct haft__os_mutex *mutex)
{
    (void)mutex;
    assert(mutex->room[0] == 0);
}

HAFT_INTERNAL void haft__os_mutex_lock(struct haft__os_mutex *mutex)
{
    assert(mutex->room[0] == 0); /* else it waits for ever */
    mutex->room[0] = 1;
}

HAFT_INTERNAL bool haft__os_mutex_try_lock(struct haft__os_mutex *mutex)
{
    const bool is_free = mutex->room[0] == 0;

    mutex->room[0] = 1;
    return is_free;
}

HAFT_INTERNAL void haft__os_mutex_unlock(struct haft__os_mutex *mutex)
{
    assert(mutex->room[0] == 1);
    mutex->room[0] = 0;
}

HAFT_INTERNAL void haft__os_condition_open(struct haft__os_condition *condition)
{
    (void)condition;
}

HAFT_INTERNAL void haft__os_condition_close(struct haft__os_condition *condition)
{
    (void)condition;
}

/* No other thread can wake this one: the time passes. */
HAFT_INTERNAL
bool haft__os_condition_wait(struct haft__os_condition *condition, struct haft__os_mutex *mutex, uint64_t until_ns)
{
    (void)condition;
    (void)mutex;
    (void)until_ns;
    return false;
}

HAFT_INTERNAL void haft__os_condition_wake_all(struct haft__os_condition *condition)
{
    (void)condition;
}

/* Semaphores are for threads that were started. */
HAFT_INTERNAL bool haft__os_semaphore_open(struct haft__os_semaphore *semaphore)
{
    (void)semaphore;
    return false;
}

HAFT_INTERNAL void haft__os_semaphore_close(struct haft__os_semaphore *semaphore)
{
    (void)semaphore;
}

HAFT_INTERNAL void haft__os_semaphore_post(struct haft__os_semaphore *semaphore)
{
    (void)semaphore;
}

HAFT_INTERNAL void haft__os_semaphore_wait(struct haft__os_semaphore *semaphore)
{
    (void)semaphore;
    assert(semaphore == NULL);
}

#endif /* HAFT_OS_BARE */

/* lib/base/os_lacking.c */

/* The operating system: functions of os.h that several systems lack, or need no system for. */

#if defined(_WIN32) && !defined(HAFT_OS_BARE)
#define haft__IS_WINDOWS 1
#endif

/* --- all but Windows --- */

#ifndef haft__IS_WINDOWS
HAFT_INTERNAL void *haft__os_alloc_aligned(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

HAFT_INTERNAL void haft__os_free_aligned(void *memory)
{
    free(memory);
}

HAFT_INTERNAL bool haft__os_free_takes_aligned(void)
{
    return true;
}
#endif

/* --- all but Linux --- */

#if !defined(__linux__) || defined(HAFT_OS_POSIX) || defined(HAFT_OS_BARE)
/* On Windows these need a privilege, and never leave memory. */
HAFT_INTERNAL void haft__os_ask_for_huge_pages(char *base, size_t size)
{
    (void)base;
    (void)size;
}

/* Windows has promised memory when it was committed. */
HAFT_INTERNAL bool haft__os_populate(char *base, size_t size)
{
    (void)base;
    (void)size;
    return true;
}

HAFT_INTERNAL bool haft__os_thread_has_ended(uint64_t number)
{
    (void)number;
    return false;
}

HAFT_INTERNAL void haft__os_wait_address(const void *word, uint64_t value, uint64_t ns)
{
    (void)word;
    (void)value;
    haft__os_sleep(ns < 1000000 ? ns : 1000000);
}

HAFT_INTERNAL void haft__os_wake_address(const void *word)
{
    (void)word;
}
#endif

/* --- no POSIX --- */

#if defined(haft__IS_WINDOWS) || defined(HAFT_OS_BARE)
/* A minidump has what its maker asks for. */
HAFT_INTERNAL void haft__os_dump(char *base, size_t size, bool wanted)
{
    (void)base;
    (void)size;
    (void)wanted;
}

HAFT_INTERNAL void haft__os_print(const char *line)
{
    fprintf(stderr, "haft: %s\n", line);
}

HAFT_INTERNAL bool haft__os_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    (void)before;
    (void)in_parent;
    (void)in_child;
    return false;
}
#endif

/* No cancellation: bionic too. */
#if defined(haft__IS_WINDOWS) || defined(HAFT_OS_BARE) || defined(__ANDROID__)
HAFT_INTERNAL int haft__os_cancel_off(void)
{
    return 0;
}

HAFT_INTERNAL void haft__os_cancel_restore(int before)
{
    (void)before;
}
#endif

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
#define haft__CLOCK_GETTIME "__clock_gettime64"
#define haft__NANOSLEEP "__nanosleep_time64"
#elif defined(__USE_TIME_BITS64) && __TIMESIZE == 32 /* glibc */
#define haft__CLOCK_GETTIME "__clock_gettime64"
#define haft__NANOSLEEP "__nanosleep64"
#else
#define haft__CLOCK_GETTIME "clock_gettime"
#define haft__NANOSLEEP "nanosleep"
#endif

/* --- types --- */

typedef struct haft__sys_signals {
    uint64_t bits[16]; /* as many as either C library has, or more */
} haft__sys_signals;

#ifdef SIG_SETMASK
_Static_assert(sizeof(sigset_t) <= sizeof(haft__sys_signals), "a set of signals fits");
#endif

typedef struct haft__sys_symbol { /* Dl_info */
    const char *dli_fname;
    void *dli_fbase;
    const char *dli_sname;
    void *dli_saddr;
} haft__sys_symbol;

/* --- numbers --- */

#define haft__OS_MONOTONIC 1
#define haft__OS_BOOTTIME 7

#if defined(SIG_SETMASK)
#define haft__OS_SIG_SETMASK SIG_SETMASK
#elif defined(__mips__) || defined(__alpha__)
#define haft__OS_SIG_SETMASK 3
#elif defined(__sparc__)
#define haft__OS_SIG_SETMASK 4
#else
#define haft__OS_SIG_SETMASK 2
#endif

#if defined(MAP_ANONYMOUS) && defined(MAP_NORESERVE)
#define haft__OS_MAP_FLAGS (MAP_ANONYMOUS | MAP_NORESERVE)
#elif defined(__mips__) || defined(__xtensa__)
#define haft__OS_MAP_FLAGS (0x800 | 0x400)
#elif defined(__alpha__)
#define haft__OS_MAP_FLAGS (0x10 | 0x10000)
#elif defined(__hppa__)
#define haft__OS_MAP_FLAGS (0x10 | 0x4000)
#elif defined(__powerpc__) || defined(__sparc__)
#define haft__OS_MAP_FLAGS (0x20 | 0x40)
#else
#define haft__OS_MAP_FLAGS (0x20 | 0x4000)
#endif

#ifdef __alpha__
#define haft__OS_MADV_DONTNEED 6
#else
#define haft__OS_MADV_DONTNEED 4
#endif
#define haft__OS_MADV_HUGEPAGE 14
#define haft__OS_MADV_NOHUGEPAGE 15
#define haft__OS_MADV_DONTDUMP 16
#define haft__OS_MADV_DODUMP 17
#define haft__OS_MADV_POPULATE_WRITE 23

/* --- functions --- */

int haft__sys_clock_gettime(int clock, struct timespec *now) __asm__(haft__CLOCK_GETTIME);
int haft__sys_nanosleep(const struct timespec *time, struct timespec *rest) __asm__(haft__NANOSLEEP);
int haft__sys_condattr_setclock(pthread_condattr_t *attributes,
                          int clock) __asm__("pthread_condattr_setclock");
int haft__sys_sigfillset(haft__sys_signals *set) __asm__("sigfillset");
int haft__sys_sigmask(int how, const haft__sys_signals *set, haft__sys_signals *before) __asm__("pthread_sigmask");
int haft__sys_madvise(void *base, size_t size, int advice) __asm__("madvise");
int haft__sys_getentropy(void *bytes, size_t size) __asm__("getentropy");
long haft__sys_call(long number, ...) __asm__("syscall");
int haft__sys_dladdr(const void *address, haft__sys_symbol *symbol) __asm__("dladdr");

/* --- systems that hide nothing --- */

#else
#ifndef MAP_ANONYMOUS
#define haft__OS_MAP_ANONYMOUS MAP_ANON
#else
#define haft__OS_MAP_ANONYMOUS MAP_ANONYMOUS
#endif
#ifdef MAP_NORESERVE
#define haft__OS_MAP_FLAGS (haft__OS_MAP_ANONYMOUS | MAP_NORESERVE)
#else
#define haft__OS_MAP_FLAGS haft__OS_MAP_ANONYMOUS
#endif
#ifdef CLOCK_BOOTTIME
#define haft__OS_BOOTTIME CLOCK_BOOTTIME
#else
#define haft__OS_BOOTTIME CLOCK_MONOTONIC /* macOS, FreeBSD 13 */
#endif
#define haft__OS_MONOTONIC CLOCK_MONOTONIC
#define haft__OS_SIG_SETMASK SIG_SETMASK

typedef sigset_t haft__sys_signals;
typedef Dl_info haft__sys_symbol;

#define haft__sys_clock_gettime clock_gettime
#define haft__sys_nanosleep nanosleep
#define haft__sys_condattr_setclock pthread_condattr_setclock
#define haft__sys_sigfillset sigfillset
#define haft__sys_sigmask pthread_sigmask
#define haft__sys_getentropy getentropy
#define haft__sys_dladdr dladdr
#endif
#endif

/*
 * lib/base/compiler.h - what the library's sources ask of a compiler beyond C11: see
 * haft/detail/compiler.h, which has the headers' part.
 *
 * GCC and Clang take attributes and built-in functions; Visual C++ the intrinsics and __declspec
 * that its manual has (learn.microsoft.com/cpp/intrinsics/compiler-intrinsics).
 */

#ifdef HAFT_COMPILER_MSVC
#include <intrin.h>
#endif

/*
 * NOINLINE      a function that stays one, so that the common way of its caller stays short
 * THREAD_LOCAL  a variable of each thread
 * CALLER        where the public function that says this was called; NULL: not known, as in
 *               WebAssembly
 * AT_START      declares a static function without arguments that runs before main(): first those
 *               of the lowest `place`, from 101 on; in Mach-O (macOS) and with Visual C++, which
 *               have no such places, in the order of the link
 */
#ifdef HAFT_COMPILER_MSVC
#define haft__NOINLINE __declspec(noinline)
#define haft__THREAD_LOCAL __declspec(thread)
#define haft__CALLER _ReturnAddress()
#else
#define haft__NOINLINE __attribute__((noinline))
#define haft__THREAD_LOCAL _Thread_local
#ifdef __EMSCRIPTEN__
#define haft__CALLER NULL
#else
#define haft__CALLER __builtin_return_address(0)
#endif
#endif

#if defined(HAFT_COMPILER_MSVC) && defined(_WIN32)
#pragma section(".CRT$XCU", read)
#define haft__AT_START(place, function)                                                                  \
    static void function(void);                                                                    \
    __declspec(allocate(".CRT$XCU")) void (*const haft__##function##_at_start)(void) = function
#else
#define haft__AT_START(place, function) static void function(void) __attribute__((constructor(place)))
#endif

/*
 * prefetch_to_read, prefetch_to_write - the line at `address` will be used soon.
 * lowest_bit, highest_bit - the number of the bit, from 0 on; `bits` is not 0.
 * count_bits - how many of `bits` are 1.
 * multiply_overflows, add_overflows - whether the result does not fit; `*result` if it does.
 * pairs_differ - whether 64 bytes differ, at addresses of any objects, aligned to 8.
 */
static inline void haft__prefetch_to_read(const void *address)
{
#ifndef HAFT_COMPILER_MSVC
    __builtin_prefetch(address);
#elif defined(_M_ARM64)
    __prefetch(address);
#else
    _mm_prefetch((const char *)address, _MM_HINT_T0);
#endif
}

static inline void haft__prefetch_to_write(const void *address)
{
#ifdef HAFT_COMPILER_MSVC
    haft__prefetch_to_read(address);
#else
    __builtin_prefetch(address, 1);
#endif
}

static inline unsigned haft__lowest_bit(uint64_t bits)
{
#ifdef HAFT_COMPILER_MSVC
    unsigned long at = 0;

    _BitScanForward64(&at, bits);
    return (unsigned)at;
#else
    return (unsigned)__builtin_ctzll(bits);
#endif
}

static inline unsigned haft__highest_bit(uint64_t bits)
{
#ifdef HAFT_COMPILER_MSVC
    unsigned long at = 0;

    _BitScanReverse64(&at, bits);
    return (unsigned)at;
#else
    return 63 - (unsigned)__builtin_clzll(bits);
#endif
}

static inline unsigned haft__count_bits(uint64_t bits)
{
#ifdef HAFT_COMPILER_MSVC
    unsigned count = 0;

    for (; bits != 0; bits &= bits - 1) { /* the instruction is not on each processor */
        count++;
    }
    return count;
#else
    return (unsigned)__builtin_popcountll(bits);
#endif
}

static inline bool haft__multiply_overflows(size_t a, size_t b, size_t *result)
{
#ifdef HAFT_COMPILER_MSVC
    *result = a * b;
    return a != 0 && b > SIZE_MAX / a;
#else
    return __builtin_mul_overflow(a, b, result);
#endif
}

static inline bool haft__add_overflows(size_t a, size_t b, size_t *result)
{
#ifdef HAFT_COMPILER_MSVC
    *result = a + b;
    return a > SIZE_MAX - b;
#else
    return __builtin_add_overflow(a, b, result);
#endif
}

static inline bool haft__pairs_differ(const char *a, const char *b)
{
#ifdef HAFT_COMPILER_MSVC
    const uint64_t *x = (const uint64_t *)(const void *)a; /* any type may alias there */
    const uint64_t *y = (const uint64_t *)(const void *)b;

    return ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) | (x[4] ^ y[4]) |
            (x[5] ^ y[5]) | (x[6] ^ y[6]) | (x[7] ^ y[7])) != 0;
#else
    typedef uint64_t pair __attribute__((vector_size(16), aligned(8), may_alias));
    const pair *x = (const pair *)(const void *)a;
    const pair *y = (const pair *)(const void *)b;
    const pair all = (x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]);

    return (all[0] | all[1]) != 0;
#endif
}

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

#define haft__SECOND UINT64_C(1000000000)
#define haft__MOST_OF_LINE 1024 /* of what is printed; more is cut off */

static struct timespec haft__time_of(uint64_t ns)
{
    const struct timespec time = {(time_t)(ns / haft__SECOND), (long)(ns % haft__SECOND)};

    return time;
}

/* --- cancellation, which bionic lacks --- */

#ifndef __ANDROID__
HAFT_INTERNAL int haft__os_cancel_off(void)
{
    int before = PTHREAD_CANCEL_ENABLE;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

/* With a second argument: older musl and BSDs write to it unasked. */
HAFT_INTERNAL void haft__os_cancel_restore(int before)
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

#define haft__MAP_FLAGS (MAP_PRIVATE | haft__OS_MAP_FLAGS)

/* The half of a word that counts up: the system waits for 32 bits. */
static uintptr_t haft__low_half(const void *word)
{
    return (uintptr_t)word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? sizeof(uint32_t) : 0);
}

#ifdef SYS_futex
typedef long haft__futex_time; /* whatever time_t is */
#define haft__FUTEX SYS_futex
#else
typedef int64_t haft__futex_time;
#define haft__FUTEX SYS_futex_time64
#endif
#define haft__WAIT_PRIVATE 128 /* FUTEX_WAIT_PRIVATE and FUTEX_WAKE_PRIVATE, of <linux/futex.h> */
#define haft__WAKE_PRIVATE 129

HAFT_INTERNAL void haft__os_wait_address(const void *word, uint64_t value, uint64_t ns)
{
    const haft__futex_time time[2] = {(haft__futex_time)(ns / haft__SECOND), (haft__futex_time)(ns % haft__SECOND)};

    haft__sys_call(haft__FUTEX, haft__low_half(word), haft__WAIT_PRIVATE, (uint32_t)value, time, NULL, 0);
}

HAFT_INTERNAL void haft__os_wake_address(const void *word)
{
    haft__sys_call(haft__FUTEX, haft__low_half(word), haft__WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* A kernel that has no huge pages may refuse. */
static void haft__ask_for_small_pages(char *base, size_t size)
{
    haft__sys_madvise(base, size, haft__OS_MADV_NOHUGEPAGE);
}

HAFT_INTERNAL void haft__os_ask_for_huge_pages(char *base, size_t size)
{
    haft__sys_madvise(base, size, haft__OS_MADV_HUGEPAGE);
}

HAFT_INTERNAL void haft__os_dump(char *base, size_t size, bool wanted)
{
    haft__sys_madvise(base, size, wanted ? haft__OS_MADV_DODUMP : haft__OS_MADV_DONTDUMP);
}

/* Memory that is locked stays. */
HAFT_INTERNAL bool haft__os_discard(char *base, size_t size)
{
    return haft__sys_madvise(base, size, haft__OS_MADV_DONTNEED) == 0;
}

/* Linux before 5.14 knows no such advice. */
HAFT_INTERNAL bool haft__os_populate(char *base, size_t size)
{
    return haft__sys_madvise(base, size, haft__OS_MADV_POPULATE_WRITE) == 0 || errno != ENOMEM;
}

/* A filter of system calls may refuse. */
HAFT_INTERNAL bool haft__os_random(uint64_t *bits)
{
    const int cancel = haft__os_cancel_off();
    const ssize_t got = getrandom(bits, sizeof *bits, GRND_NONBLOCK);

    haft__os_cancel_restore(cancel);
    return got == (ssize_t)sizeof *bits;
}

HAFT_INTERNAL uint64_t haft__os_thread_number(void)
{
    return (uint64_t)haft__sys_call(SYS_gettid);
}

HAFT_INTERNAL bool haft__os_thread_has_ended(uint64_t number)
{
    const int before = errno;
    const bool has_ended =
        haft__sys_call(SYS_tgkill, (long)getpid(), (long)number, 0L) != 0 && errno == ESRCH;

    errno = before;
    return has_ended;
}

static pthread_mutex_t *haft__mutex_of(struct haft__os_mutex *mutex)
{
    return (pthread_mutex_t *)mutex->room;
}

haft__FITS(sem_t, struct haft__os_semaphore);

static sem_t *haft__semaphore_of(struct haft__os_semaphore *semaphore)
{
    return (sem_t *)semaphore->room;
}

HAFT_INTERNAL bool haft__os_semaphore_open(struct haft__os_semaphore *semaphore)
{
    return sem_init(haft__semaphore_of(semaphore), 0, 0) == 0;
}

HAFT_INTERNAL void haft__os_semaphore_close(struct haft__os_semaphore *semaphore)
{
    sem_destroy(haft__semaphore_of(semaphore));
}

HAFT_INTERNAL void haft__os_semaphore_post(struct haft__os_semaphore *semaphore)
{
    sem_post(haft__semaphore_of(semaphore));
}

HAFT_INTERNAL void haft__os_semaphore_wait(struct haft__os_semaphore *semaphore)
{
    const int cancel = haft__os_cancel_off();

    while (sem_wait(haft__semaphore_of(semaphore)) != 0) {
        /* interrupted by a debugger */
    }
    haft__os_cancel_restore(cancel);
}

/* --- what systems have of their own: others --- */

#else
#if defined(__APPLE__)
#include <sys/random.h> /* getentropy */
#elif defined(__FreeBSD__)
#include <pthread_np.h>
#endif

#define haft__MAP_FLAGS (MAP_PRIVATE | haft__OS_MAP_FLAGS)

static void haft__ask_for_small_pages(char *base, size_t size)
{
    (void)base;
    (void)size;
}

HAFT_INTERNAL void haft__os_dump(char *base, size_t size, bool wanted)
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
HAFT_INTERNAL bool haft__os_discard(char *base, size_t size)
{
    return mmap(base, size, PROT_READ | PROT_WRITE, haft__MAP_FLAGS | MAP_FIXED, -1, 0) != MAP_FAILED;
}

HAFT_INTERNAL bool haft__os_random(uint64_t *bits)
{
    const int cancel = haft__os_cancel_off();
    const int error = haft__sys_getentropy(bits, sizeof *bits);

    haft__os_cancel_restore(cancel);
    return error == 0;
}

HAFT_INTERNAL uint64_t haft__os_thread_number(void)
{
#if defined(__APPLE__)
    uint64_t number = 0;

    pthread_threadid_np(NULL, &number);
    return number;
#elif defined(__FreeBSD__)
    return (uint64_t)pthread_getthreadid_np();
#else
    static haft__THREAD_LOCAL char own_byte;

    return (uintptr_t)&own_byte;
#endif
}

/*
 * A mutex that is all zero becomes a statically initialized one, whichever thread comes first: the
 * two differ in no word but the first, if at all.  The lock itself orders what follows.
 */
static pthread_mutex_t *haft__mutex_of(struct haft__os_mutex *mutex)
{
    static const union {
        pthread_mutex_t mutex;
        uint64_t first_word;
    } unlocked = {PTHREAD_MUTEX_INITIALIZER};
    haft__atomic_u64 *first_word = (haft__atomic_u64 *)(void *)mutex->room;

    if (unlocked.first_word != 0 && haft__load_relaxed(RETRY, first_word) == 0) {
        haft__cas_relaxed(RETRY, first_word, 0, unlocked.first_word);
    }
    return (pthread_mutex_t *)mutex->room;
}

/* A semaphore by a mutex and a condition: macOS has no unnamed semaphores. */
struct haft__own_semaphore {
    pthread_mutex_t lock;
    pthread_cond_t posted;
    uint64_t posts;
};

haft__FITS(struct haft__own_semaphore, struct haft__os_semaphore);

static struct haft__own_semaphore *haft__semaphore_of(struct haft__os_semaphore *semaphore)
{
    return (struct haft__own_semaphore *)semaphore->room;
}

HAFT_INTERNAL bool haft__os_semaphore_open(struct haft__os_semaphore *semaphore)
{
    struct haft__own_semaphore *opened = haft__semaphore_of(semaphore);

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

HAFT_INTERNAL void haft__os_semaphore_close(struct haft__os_semaphore *semaphore)
{
    pthread_cond_destroy(&haft__semaphore_of(semaphore)->posted);
    pthread_mutex_destroy(&haft__semaphore_of(semaphore)->lock);
}

HAFT_INTERNAL void haft__os_semaphore_post(struct haft__os_semaphore *semaphore)
{
    struct haft__own_semaphore *posted = haft__semaphore_of(semaphore);

    pthread_mutex_lock(&posted->lock);
    posted->posts++;
    pthread_cond_signal(&posted->posted);
    pthread_mutex_unlock(&posted->lock);
}

HAFT_INTERNAL void haft__os_semaphore_wait(struct haft__os_semaphore *semaphore)
{
    struct haft__own_semaphore *awaited = haft__semaphore_of(semaphore);
    const int cancel = haft__os_cancel_off();

    pthread_mutex_lock(&awaited->lock);
    while (awaited->posts == 0) {
        pthread_cond_wait(&awaited->posted, &awaited->lock);
    }
    awaited->posts--;
    pthread_mutex_unlock(&awaited->lock);
    haft__os_cancel_restore(cancel);
}
#endif

/* --- what systems have of their own: macOS's conditions and files --- */

static pthread_cond_t *haft__condition_of(struct haft__os_condition *condition)
{
    return (pthread_cond_t *)condition->room;
}

#ifdef __APPLE__
HAFT_INTERNAL void haft__os_condition_open(struct haft__os_condition *condition)
{
    pthread_cond_init(haft__condition_of(condition), NULL);
}

/* macOS waits for a duration, where 0 is for ever, and may wake a little before until_ns. */
HAFT_INTERNAL
bool haft__os_condition_wait(struct haft__os_condition *condition, struct haft__os_mutex *mutex, uint64_t until_ns)
{
    const uint64_t now = haft__os_now_ns();
    const struct timespec rest = haft__time_of(now < until_ns ? until_ns - now : 1);
    const int cancel = haft__os_cancel_off();
    const int error =
        pthread_cond_timedwait_relative_np(haft__condition_of(condition), haft__mutex_of(mutex), &rest);

    haft__os_cancel_restore(cancel);
    return error != ETIMEDOUT || haft__os_now_ns() < until_ns;
}

#else
HAFT_INTERNAL void haft__os_condition_open(struct haft__os_condition *condition)
{
    pthread_condattr_t monotonic;

    pthread_condattr_init(&monotonic);
    haft__sys_condattr_setclock(&monotonic, haft__OS_MONOTONIC);
    pthread_cond_init(haft__condition_of(condition), &monotonic);
    pthread_condattr_destroy(&monotonic);
}

HAFT_INTERNAL
bool haft__os_condition_wait(struct haft__os_condition *condition, struct haft__os_mutex *mutex, uint64_t until_ns)
{
    const struct timespec until = haft__time_of(until_ns);
    const int cancel = haft__os_cancel_off();
    const int error = pthread_cond_timedwait(haft__condition_of(condition), haft__mutex_of(mutex), &until);

    haft__os_cancel_restore(cancel);
    return error != ETIMEDOUT;
}

#endif

/* Whether a file was linked to lie where it lies; most may lie anywhere. */
static bool haft__is_for_one_address(const void *file)
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

HAFT_INTERNAL size_t haft__os_page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static char *haft__map(size_t size, int protection)
{
    void *base = mmap(NULL, size, protection, haft__MAP_FLAGS, -1, 0);

    return base != MAP_FAILED ? base : NULL;
}

/* Where the system charges for all that is writable (strict overcommit, a limit), in steps. */
HAFT_INTERNAL char *haft__os_reserve(size_t size, bool readable, bool *in_steps)
{
    const bool is_open = readable || !haft__OS_READS_IN_STEPS;
    char *base = haft__map(size, is_open ? PROT_READ | PROT_WRITE : PROT_NONE);

    *in_steps = base == NULL || !is_open;
    if (base == NULL) {
        base = haft__map(size, PROT_READ);
    }
    if (base != NULL) {
        haft__ask_for_small_pages(base, size);
    }
    return base;
}

HAFT_INTERNAL bool haft__os_commit(char *base, size_t size)
{
    return mprotect(base, size, PROT_READ | PROT_WRITE) == 0;
}

HAFT_INTERNAL void haft__os_release(char *base, size_t size)
{
    munmap(base, size);
}

/* --- chance, time, numbers, words --- */

HAFT_INTERNAL uint64_t haft__os_now_ns(void)
{
    struct timespec now;

    haft__sys_clock_gettime(haft__OS_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * haft__SECOND + (uint64_t)now.tv_nsec;
}

HAFT_INTERNAL uint64_t haft__os_process_number(void)
{
    return (uint64_t)getpid();
}

/* At once, and not by fprintf(), which would put a buffer of 8 KiB on the stack. */
HAFT_INTERNAL void haft__os_print(const char *line)
{
    char whole[haft__MOST_OF_LINE];
    const int cancel = haft__os_cancel_off();
    const int haft__length = snprintf(whole, sizeof whole - 1, "haft: %s", line);
    const size_t end = haft__length < haft__MOST_OF_LINE - 1 ? (size_t)haft__length : haft__MOST_OF_LINE - 2;

    memcpy(whole + end, "\n", 2);
    fputs(whole, stderr);
    haft__os_cancel_restore(cancel);
}

/* Tools count from where a library or program was linked to lie. */
static uintptr_t haft__offset_in(const haft__sys_symbol *found, uintptr_t address)
{
    return haft__is_for_one_address(found->dli_fbase) ? address : address - (uintptr_t)found->dli_fbase;
}

HAFT_INTERNAL bool haft__os_symbol_of(uintptr_t address, struct haft__os_symbol *symbol)
{
    haft__sys_symbol found;

    if (haft__sys_dladdr((void *)address, &found) == 0 || found.dli_fname == NULL) {
        return false;
    }
    symbol->file = found.dli_fname;
    symbol->function = found.dli_sname;
    symbol->file_offset = haft__offset_in(&found, address);
    symbol->function_offset = address - (uintptr_t)found.dli_saddr;
    return true;
}

/* --- threads --- */

HAFT_INTERNAL void haft__os_yield(void)
{
    sched_yield();
}

HAFT_INTERNAL void haft__os_sleep(uint64_t ns)
{
    const struct timespec time = haft__time_of(ns);
    const int cancel = haft__os_cancel_off();

    haft__sys_nanosleep(&time, NULL);
    haft__os_cancel_restore(cancel);
}

haft__FITS(pthread_t, ((struct haft__os_thread *)NULL)->room);
haft__FITS(pthread_mutex_t, struct haft__os_mutex);
haft__FITS(pthread_cond_t, struct haft__os_condition);

static void *haft__run_thread(void *arg)
{
    const struct haft__os_thread *thread = arg;

    thread->run(thread->arg);
    return NULL;
}

HAFT_INTERNAL bool haft__os_thread_start(struct haft__os_thread *thread, void (*haft__run)(void *arg), void *arg)
{
    pthread_t started;
    haft__sys_signals all;
    haft__sys_signals before;

    thread->run = haft__run;
    thread->arg = arg;
    haft__sys_sigfillset(&all);
    haft__sys_sigmask(haft__OS_SIG_SETMASK, &all, &before);
    const int error = pthread_create(&started, NULL, haft__run_thread, thread);

    haft__sys_sigmask(haft__OS_SIG_SETMASK, &before, NULL);
    if (error == 0) {
        memcpy(thread->room, &started, sizeof started);
    }
    return error == 0;
}

HAFT_INTERNAL void haft__os_thread_join(struct haft__os_thread *thread)
{
    pthread_t started;

    const int cancel = haft__os_cancel_off();

    memcpy(&started, thread->room, sizeof started);
    pthread_join(started, NULL);
    haft__os_cancel_restore(cancel);
}

HAFT_INTERNAL void haft__os_mutex_open(struct haft__os_mutex *mutex)
{
    pthread_mutex_init(haft__mutex_of(mutex), NULL);
}

HAFT_INTERNAL void haft__os_mutex_close(struct haft__os_mutex *mutex)
{
    pthread_mutex_destroy(haft__mutex_of(mutex));
}

HAFT_INTERNAL void haft__os_mutex_lock(struct haft__os_mutex *mutex)
{
    pthread_mutex_lock(haft__mutex_of(mutex));
}

HAFT_INTERNAL bool haft__os_mutex_try_lock(struct haft__os_mutex *mutex)
{
    return pthread_mutex_trylock(haft__mutex_of(mutex)) == 0;
}

HAFT_INTERNAL void haft__os_mutex_unlock(struct haft__os_mutex *mutex)
{
    pthread_mutex_unlock(haft__mutex_of(mutex));
}

HAFT_INTERNAL void haft__os_condition_close(struct haft__os_condition *condition)
{
    pthread_cond_destroy(haft__condition_of(condition));
}

HAFT_INTERNAL void haft__os_condition_wake_all(struct haft__os_condition *condition)
{
    pthread_cond_broadcast(haft__condition_of(condition));
}

HAFT_INTERNAL bool haft__os_on_fork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void))
{
    return pthread_atfork(before, in_parent, in_child) == 0;
}
#endif /* __unix__ */

/* lib/base/os_windows.c */

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

#define haft__A_SECOND UINT64_C(1000000000)
#define haft__A_MS UINT64_C(1000000)
#define haft__LONGEST_WAIT ((DWORD)3600000) /* ms */

/* --- memory --- */

HAFT_INTERNAL size_t haft__os_page_size(void)
{
    SYSTEM_INFO info;

    GetSystemInfo(&info);
    return info.dwPageSize;
}

HAFT_INTERNAL char *haft__os_reserve(size_t size, bool readable, bool *in_steps)
{
    *in_steps = !readable;
    return VirtualAlloc(NULL, size, readable ? MEM_RESERVE | MEM_COMMIT : MEM_RESERVE,
                        PAGE_READWRITE);
}

HAFT_INTERNAL bool haft__os_commit(char *base, size_t size)
{
    return VirtualAlloc(base, size, MEM_COMMIT, PAGE_READWRITE) != NULL;
}

HAFT_INTERNAL void haft__os_release(char *base, size_t size)
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
HAFT_INTERNAL bool haft__os_discard(char *base, size_t size)
{
    for (size_t at = 0; at < size; at += sizeof(haft__atomic_u64)) {
        haft__store_relaxed(OWN, (haft__atomic_u64 *)(void *)(base + at), 0);
    }
    if (VirtualAlloc(base, size, MEM_RESET, PAGE_READWRITE) != NULL) {
        VirtualUnlock(base, size);
    }
    return true;
}

HAFT_INTERNAL void *haft__os_alloc_aligned(size_t alignment, size_t size)
{
    return _aligned_malloc(size, alignment);
}

HAFT_INTERNAL void haft__os_free_aligned(void *memory)
{
    _aligned_free(memory);
}

HAFT_INTERNAL bool haft__os_free_takes_aligned(void)
{
    return false;
}

/* --- chance, time, numbers, words --- */

HAFT_INTERNAL bool haft__os_random(uint64_t *bits)
{
    return RtlGenRandom(bits, sizeof *bits);
}

HAFT_INTERNAL uint64_t haft__os_now_ns(void)
{
    LARGE_INTEGER now;
    LARGE_INTEGER second;

    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&second);
    const uint64_t ticks = (uint64_t)now.QuadPart;
    const uint64_t in_second = (uint64_t)second.QuadPart;

    return ticks / in_second * haft__A_SECOND + ticks % in_second * haft__A_SECOND / in_second;
}

HAFT_INTERNAL uint64_t haft__os_thread_number(void)
{
    return GetCurrentThreadId();
}

HAFT_INTERNAL uint64_t haft__os_process_number(void)
{
    return GetCurrentProcessId();
}

/* Tools that know the file's names want an offset in the image, as in "program.exe+0x1234". */
HAFT_INTERNAL bool haft__os_symbol_of(uintptr_t address, struct haft__os_symbol *symbol)
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

HAFT_INTERNAL void haft__os_yield(void)
{
    SwitchToThread();
}

/* Until then, or LONGEST_WAIT if that is sooner; whole ms, at least one before the time. */
static DWORD haft__ms_until(uint64_t until_ns)
{
    const uint64_t now = haft__os_now_ns();
    const uint64_t ms = now < until_ns ? (until_ns - now + haft__A_MS - 1) / haft__A_MS : 0;

    return ms < haft__LONGEST_WAIT ? (DWORD)ms : haft__LONGEST_WAIT;
}

#ifndef haft__CREATE_WAITABLE_TIMER_HIGH_RESOLUTION
#define haft__CREATE_WAITABLE_TIMER_HIGH_RESOLUTION 2 /* which older headers lack */
#endif

/* By a timer of units of 100 ns: Sleep() may take 16 ms for one.  False: there is none. */
static bool haft__sleep_by_timer(uint64_t ns)
{
    const LARGE_INTEGER from_now = {.QuadPart = -(LONGLONG)((ns + 99) / 100)};
    HANDLE timer = CreateWaitableTimerExA(NULL, NULL, haft__CREATE_WAITABLE_TIMER_HIGH_RESOLUTION,
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
HAFT_INTERNAL void haft__os_sleep(uint64_t ns)
{
    const uint64_t until = haft__os_now_ns() + ns;

    for (uint64_t now = until - ns; now < until; now = haft__os_now_ns()) {
        if (!haft__sleep_by_timer(until - now)) {
            Sleep(haft__ms_until(until));
        }
    }
}

haft__FITS(HANDLE, ((struct haft__os_thread *)NULL)->room);
haft__FITS(SRWLOCK, struct haft__os_mutex);
haft__FITS(CONDITION_VARIABLE, struct haft__os_condition);
haft__FITS(HANDLE, struct haft__os_semaphore);

static HANDLE haft__handle_in(const uint64_t *room)
{
    return (HANDLE)(uintptr_t)*room;
}

static bool haft__keep_handle(uint64_t *room, uintptr_t handle)
{
    *room = handle;
    return handle != 0;
}

static unsigned __stdcall haft__run_thread(void *arg)
{
    const struct haft__os_thread *thread = arg;

    thread->run(thread->arg);
    return 0;
}

HAFT_INTERNAL bool haft__os_thread_start(struct haft__os_thread *thread, void (*haft__run)(void *arg), void *arg)
{
    thread->run = haft__run;
    thread->arg = arg;
    return haft__keep_handle(thread->room, _beginthreadex(NULL, 0, haft__run_thread, thread, 0, NULL));
}

HAFT_INTERNAL void haft__os_thread_join(struct haft__os_thread *thread)
{
    WaitForSingleObject(haft__handle_in(thread->room), INFINITE);
    CloseHandle(haft__handle_in(thread->room));
}

static SRWLOCK *haft__lock_of(struct haft__os_mutex *mutex)
{
    return (SRWLOCK *)mutex->room;
}

HAFT_INTERNAL void haft__os_mutex_open(struct haft__os_mutex *mutex)
{
    InitializeSRWLock(haft__lock_of(mutex));
}

HAFT_INTERNAL void haft__os_mutex_close(struct haft__os_mutex *mutex)
{
    (void)mutex;
}

HAFT_INTERNAL void haft__os_mutex_lock(struct haft__os_mutex *mutex)
{
    AcquireSRWLockExclusive(haft__lock_of(mutex));
}

HAFT_INTERNAL bool haft__os_mutex_try_lock(struct haft__os_mutex *mutex)
{
    return TryAcquireSRWLockExclusive(haft__lock_of(mutex));
}

HAFT_INTERNAL void haft__os_mutex_unlock(struct haft__os_mutex *mutex)
{
    ReleaseSRWLockExclusive(haft__lock_of(mutex));
}

static CONDITION_VARIABLE *haft__condition_of(struct haft__os_condition *condition)
{
    return (CONDITION_VARIABLE *)condition->room;
}

HAFT_INTERNAL void haft__os_condition_open(struct haft__os_condition *condition)
{
    InitializeConditionVariable(haft__condition_of(condition));
}

HAFT_INTERNAL void haft__os_condition_close(struct haft__os_condition *condition)
{
    (void)condition;
}

HAFT_INTERNAL
bool haft__os_condition_wait(struct haft__os_condition *condition, struct haft__os_mutex *mutex, uint64_t until_ns)
{
    return SleepConditionVariableSRW(haft__condition_of(condition), haft__lock_of(mutex), haft__ms_until(until_ns),
                                     0) ||
           haft__os_now_ns() < until_ns;
}

HAFT_INTERNAL void haft__os_condition_wake_all(struct haft__os_condition *condition)
{
    WakeAllConditionVariable(haft__condition_of(condition));
}

HAFT_INTERNAL bool haft__os_semaphore_open(struct haft__os_semaphore *semaphore)
{
    HANDLE opened = CreateSemaphoreA(NULL, 0, LONG_MAX, NULL);

    return haft__keep_handle(semaphore->room, (uintptr_t)opened);
}

HAFT_INTERNAL void haft__os_semaphore_close(struct haft__os_semaphore *semaphore)
{
    CloseHandle(haft__handle_in(semaphore->room));
}

HAFT_INTERNAL void haft__os_semaphore_post(struct haft__os_semaphore *semaphore)
{
    ReleaseSemaphore(haft__handle_in(semaphore->room), 1, NULL);
}

HAFT_INTERNAL void haft__os_semaphore_wait(struct haft__os_semaphore *semaphore)
{
    WaitForSingleObject(haft__handle_in(semaphore->room), INFINITE);
}

/* Words that windows.h takes from sources behind it, where one source includes all. */
#undef far
#undef near
#endif /* _WIN32 */

/*
 * lib/base/pause.h - waiting for another thread where no event tells.
 *
 * Yielding alone would wait for ever: to a system with fixed priorities the waiting thread may be
 * the more urgent one, and the other never runs.  So after some turns it sleeps.
 */

#define haft__PAUSE_YIELDS 64 /* turns before the first sleep */

/* Pause in turn `turn` of a wait, from 0 on: yield, from PAUSE_YIELDS on sleep 50 us to 1 ms. */
HAFT_INTERNAL void haft__pause_in_turn(uint64_t turn);

/* lib/base/pause.c */

/* Pauses, longer from turn to turn. */

#define haft__SHORT_SLEEP UINT64_C(50000) /* ns */
#define haft__LONG_SLEEP UINT64_C(1000000)

HAFT_INTERNAL void haft__pause_in_turn(uint64_t turn)
{
    if (turn < haft__PAUSE_YIELDS) {
        haft__os_yield();
    } else {
        haft__os_sleep(turn < 2 * haft__PAUSE_YIELDS ? haft__SHORT_SLEEP : haft__LONG_SLEEP);
    }
}

/*
 * lib/base/reservation.h - address space reserved at once, memory touched as it is first used.
 *
 * Where the system would charge for all of it (strict overcommit, a limit on data, Windows), it is
 * reserved readable and made writable in steps; never unreadable if a forged id may lead anywhere
 * in it, so that Windows charges for all of that.  Where the system lets a program say so, it
 * leaves a dump of the process's memory, step by step too: what is beyond the steps in use is not
 * in it.
 *
 * A small array is one block of a heap instead: system calls would cost more than its bytes.  No
 * page of it is ever discarded, and no advice is given on it.
 */

enum haft__reservation_kind {
    haft__IN_PAGES,
    haft__IN_STEPS, /* pages, made writable in steps; some systems cannot read them before */
    haft__IN_HEAP,  /* one block */
    haft__GIVEN,    /* the program's memory */
};

struct haft__reservation {
    char *base; /* a page's start, or aligned as wished */
    size_t size;
    enum haft__reservation_kind kind;
    uint16_t lead;    /* in a heap: bytes of the block before the base */
    uint16_t more;    /* in a heap: bytes of the block beyond those of the array */
    haft__atomic_u64 ready; /* bytes from the base that are writable, and in dumps */
};

/* HAFT_OK, all bytes zero; or HAFT_NO_MEMORY. */
HAFT_INTERNAL haft_status haft__reservation_open(struct haft__reservation *reservation, uint64_t size);

/*
 * The same for an array that is in `heap` if it has at most RESERVATION_SMALL bytes, or if the heap
 * is a block of the program's.  Its base is a multiple of `alignment`, a power of two up to a page.
 */
HAFT_INTERNAL
haft_status haft__reservation_open_array(struct haft__reservation *reservation, uint64_t size, size_t alignment,
                                   const haft_allocator *heap);

/* The same for an array of which only what reservation_commit() has made writable is read. */
HAFT_INTERNAL haft_status haft__reservation_open_unread(struct haft__reservation *reservation, uint64_t size,
                                                  size_t alignment, const haft_allocator *heap);
HAFT_INTERNAL
void haft__reservation_close_array(struct haft__reservation *reservation, const haft_allocator *heap);

/* An array in memory that the program has given.  HAFT_NO_MEMORY: there is too little. */
HAFT_INTERNAL haft_status haft__reservation_open_given(struct haft__reservation *reservation, uint64_t size,
                                                 uint64_t alignment, struct haft__given *given);

/* Two pages: cleared as a whole, they cost no more than pages of their own. */
#define haft__RESERVATION_SMALL ((uint64_t)8 << 10)

/* Whether it is in pages of the system: only these may be advised and released. */
HAFT_INTERNAL bool haft__reservation_is_paged(const struct haft__reservation *reservation);

HAFT_INTERNAL void haft__reservation_close(struct haft__reservation *reservation);

/* Ask for huge pages, which are declined otherwise.  The system may have none. */
HAFT_INTERNAL void haft__reservation_ask_for_huge_pages(const struct haft__reservation *reservation);

/* The first bytes of one of `size` bytes that the system charges for, if it does so in steps. */
HAFT_INTERNAL uint64_t haft__reservation_first_step(uint64_t size, uint64_t end);

/* Make the first `end` bytes writable.  HAFT_OK or HAFT_NO_MEMORY.  Any threads, lock-free. */
HAFT_INTERNAL haft_status haft__reservation_commit(struct haft__reservation *reservation, uint64_t end);

/* The first bytes that are writable, at least. */
HAFT_INTERNAL uint64_t haft__reservation_ready(const struct haft__reservation *reservation);

/*
 * Have the system find memory now for writable bytes: memory_populate() for any bytes, such as a
 * block of malloc; reservation_populate() for bytes `begin` to `end` of a reservation, of which
 * given memory is not touched.  HAFT_OK, also on systems that cannot be asked; or HAFT_NO_MEMORY.
 */
HAFT_INTERNAL haft_status haft__memory_populate(char *base, size_t size);
HAFT_INTERNAL
haft_status haft__reservation_populate(const struct haft__reservation *reservation, uint64_t begin,
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

#define haft__STEP_BYTES (UINT64_C(2) << 20) /* made ready at a time: a huge page lies in one step */

/* Where the system charges step by step, of small reservations: a page of any system at least, and
 * so few steps. */
#define haft__LEAST_STEP_BYTES (UINT64_C(64) << 10)
#define haft__MOST_STEPS 32

static void haft__set_reservation(struct haft__reservation *reservation, enum haft__reservation_kind kind, char *base,
                            uint64_t size)
{
    assert(base != NULL && size <= SIZE_MAX);
    reservation->base = base;
    reservation->size = (size_t)size;
    reservation->kind = kind;
    reservation->lead = reservation->more = 0;
    haft__store_relaxed(OWN, &reservation->ready, size);
}

static uint64_t haft__charged_step(uint64_t size)
{
    uint64_t step = haft__LEAST_STEP_BYTES;

    while (step < haft__STEP_BYTES && step * haft__MOST_STEPS < size) {
        step *= 2;
    }
    return step;
}

HAFT_INTERNAL uint64_t haft__reservation_first_step(uint64_t size, uint64_t end)
{
    const uint64_t step = haft__charged_step(size);
    const uint64_t after = (end + step - 1) / step * step;

    return after < size ? after : size;
}

/* The end of the step that ends at byte `end`, or behind it. */
static uint64_t haft__step_after(const struct haft__reservation *reservation, uint64_t end)
{
    const uint64_t step =
        reservation->kind == haft__IN_STEPS ? haft__charged_step(reservation->size) : haft__STEP_BYTES;
    const uint64_t base = (uintptr_t)reservation->base;
    const uint64_t after = (base + end + step - 1) / step * step - base;

    assert(after >= end && after % 8 == 0);
    return after < reservation->size ? after : reservation->size;
}

/* Where all can be written, the first step is ready; the others are left out of dumps. */
static void haft__begin_steps(struct haft__reservation *reservation)
{
    const uint64_t size = reservation->size;
    const uint64_t first = size <= haft__STEP_BYTES ? size : haft__step_after(reservation, 1);

    haft__store_relaxed(OWN, &reservation->ready, reservation->kind == haft__IN_STEPS ? 0 : first);
    if (first < size) {
        haft__os_dump(reservation->base + first, (size_t)(size - first), false);
    }
}

static haft_status haft__open_pages(struct haft__reservation *reservation, uint64_t size, bool readable)
{
    bool in_steps = false;
    char *base = size <= SIZE_MAX / 2 ? haft__os_reserve((size_t)size, readable, &in_steps) : NULL;

    if (base == NULL) {
        return HAFT_NO_MEMORY;
    }
    haft__set_reservation(reservation, in_steps ? haft__IN_STEPS : haft__IN_PAGES, base, size);
    haft__begin_steps(reservation);
    return HAFT_OK;
}

HAFT_INTERNAL haft_status haft__reservation_open(struct haft__reservation *reservation, uint64_t size)
{
    return haft__open_pages(reservation, size, true);
}

/* The base is aligned here: heaps are slower where they align to more than max_align_t. */
static haft_status haft__open_in_heap(struct haft__reservation *reservation, uint64_t size, size_t alignment,
                                const haft_allocator *heap)
{
    assert((alignment & (alignment - 1)) == 0 && alignment <= UINT16_MAX);
    char *block = haft__heap_take_zero(heap, (size_t)size + alignment, _Alignof(max_align_t));

    if (block == NULL) {
        return HAFT_NO_MEMORY;
    }
    const size_t lead = (alignment - (uintptr_t)block % alignment) % alignment;

    assert((uintptr_t)(block + lead) % alignment == 0);
    haft__set_reservation(reservation, haft__IN_HEAP, block + lead, size);
    reservation->lead = (uint16_t)lead;
    reservation->more = (uint16_t)alignment;
    return HAFT_OK;
}

static haft_status haft__open_array(struct haft__reservation *reservation, uint64_t size, size_t alignment,
                              const haft_allocator *heap, bool readable)
{
    const bool is_possible = size <= SIZE_MAX / 2;

    return size <= haft__RESERVATION_SMALL || (haft__block_is_of(heap) && is_possible)
               ? haft__open_in_heap(reservation, size, alignment, heap)
               : haft__open_pages(reservation, size, readable);
}

HAFT_INTERNAL
haft_status haft__reservation_open_array(struct haft__reservation *reservation, uint64_t size, size_t alignment,
                                   const haft_allocator *heap)
{
    return haft__open_array(reservation, size, alignment, heap, true);
}

HAFT_INTERNAL haft_status haft__reservation_open_unread(struct haft__reservation *reservation, uint64_t size,
                                                  size_t alignment, const haft_allocator *heap)
{
    return haft__open_array(reservation, size, alignment, heap, false);
}

HAFT_INTERNAL haft_status haft__reservation_open_given(struct haft__reservation *reservation, uint64_t size,
                                                 uint64_t alignment, struct haft__given *given)
{
    char *base = haft__given_take(given, size, alignment);

    if (base == NULL) {
        return HAFT_NO_MEMORY;
    }
    haft__set_reservation(reservation, haft__GIVEN, base, size);
    return HAFT_OK;
}

HAFT_INTERNAL bool haft__reservation_is_paged(const struct haft__reservation *reservation)
{
    return reservation->kind == haft__IN_PAGES || reservation->kind == haft__IN_STEPS;
}

HAFT_INTERNAL void haft__reservation_ask_for_huge_pages(const struct haft__reservation *reservation)
{
    assert(haft__reservation_is_paged(reservation) && "only pages of the system are advised");
    haft__os_ask_for_huge_pages(reservation->base, reservation->size);
}

HAFT_INTERNAL void haft__reservation_close(struct haft__reservation *reservation)
{
    if (haft__reservation_is_paged(reservation)) {
        haft__os_release(reservation->base, reservation->size);
    }
}

HAFT_INTERNAL
void haft__reservation_close_array(struct haft__reservation *reservation, const haft_allocator *heap)
{
    if (reservation->kind == haft__IN_HEAP) {
        haft__heap_give(heap, reservation->base - reservation->lead,
                  reservation->size + reservation->more);
    } else {
        haft__reservation_close(reservation);
    }
}

/* Bytes `begin` to `end`, where steps end. */
static bool haft__make_ready(const struct haft__reservation *reservation, uint64_t begin, uint64_t end)
{
    assert(begin < end && end <= reservation->size);
    if (reservation->kind == haft__IN_STEPS &&
        !haft__os_commit(reservation->base + begin, (size_t)(end - begin))) {
        return false;
    }
    haft__os_dump(reservation->base + begin, (size_t)(end - begin), true);
    return true;
}

HAFT_INTERNAL haft_status haft__reservation_commit(struct haft__reservation *reservation, uint64_t end)
{
    /* Weakened, a thread could write to memory that is not writable yet where it runs. */
    uint64_t before = haft__load_acquire(COMMIT, &reservation->ready);

    if (end <= before) {
        return HAFT_OK;
    }
    assert(end <= reservation->size && "memory is used within its reservation");
    const uint64_t after = haft__step_after(reservation, end);

    /* Two threads may do this at once: the same bytes become ready twice, which is harmless. */
    if (!haft__make_ready(reservation, before, after)) {
        return HAFT_NO_MEMORY;
    }
    while (before < after && !haft__cas_release(COMMIT, &reservation->ready, before, after)) {
        before = haft__load_relaxed(RETRY, &reservation->ready);
    }
    return HAFT_OK;
}

HAFT_INTERNAL uint64_t haft__reservation_ready(const struct haft__reservation *reservation)
{
    return haft__load_relaxed(RETRY, &reservation->ready);
}

HAFT_INTERNAL haft_status haft__memory_populate(char *base, size_t size)
{
    const size_t before = (uintptr_t)base % haft__os_page_size();

    return haft__os_populate(base - before, size + before) ? HAFT_OK : HAFT_NO_MEMORY;
}

HAFT_INTERNAL
haft_status haft__reservation_populate(const struct haft__reservation *reservation, uint64_t begin,
                                 uint64_t end)
{
    assert(begin >= end || end <= reservation->size);
    return begin >= end || reservation->kind == haft__GIVEN
               ? HAFT_OK
               : haft__memory_populate(reservation->base + begin, (size_t)(end - begin));
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
haft_status haft__sized_take(void *known, size_t known_size, const void *given, size_t given_size);

/* lib/base/sized.c */

/* Options structs of callers that were compiled with another version. */

HAFT_INTERNAL
haft_status haft__sized_take(void *known, size_t known_size, const void *given, size_t given_size)
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

/* lib/base/status.h */

/* lib/base/status.h - statuses of the kit, which the core has no words for. */

struct haft__status_words {
    const char *name;
    const char *text;
};

/* The words of statuses `first` and those after it. */
struct haft__status_list {
    unsigned first;
    unsigned count;
    const struct haft__status_words *words;
};

/* From now on statuses of the list have words: always the same list, a constant. */
HAFT_INTERNAL void haft__status_list_add(const struct haft__status_list *list);

/* lib/base/status.c */

/*
 * Statuses in words.
 *
 * Edges in this file.
 *   HINT   the kit's list is a constant: where it is not seen yet, its statuses have no words yet
 */

#define haft__WORDS(status, text) [status] = {#status, text}

static const struct haft__status_words haft__known_statuses[HAFT_STATUS_COUNT] = {
    haft__WORDS(HAFT_OK, "ok"),
    haft__WORDS(HAFT_NO_ID, "the id is nil"),
    haft__WORDS(HAFT_MALFORMED, "no table of this layout issues such an id"),
    haft__WORDS(HAFT_FOREIGN, "the id belongs to another table"),
    haft__WORDS(HAFT_NEVER_ISSUED, "the table has not issued this id"),
    haft__WORDS(HAFT_RESERVED, "the id is reserved and not published yet"),
    haft__WORDS(HAFT_STALE, "the object has been freed"),
    haft__WORDS(HAFT_EXHAUSTED, "the object has been freed and its slot has lived all its generations"),
    haft__WORDS(HAFT_FULL, "the table's capacity is in use"),
    haft__WORDS(HAFT_BUSY,
          "slots wait for a grace period or are with other workers, or a value is being set"),
    haft__WORDS(HAFT_NO_MEMORY, "the system gave no memory or address space, or given memory is used up"),
    haft__WORDS(HAFT_NO_THREAD, "the system gave no thread"),
    haft__WORDS(HAFT_IN_USE, "still in use: a table, worker or side is open, an object is held, pinned "
                       "or reserved, or a callback runs"),
    haft__WORDS(HAFT_IN_SECTION,
          "the call may wait, and a read section or outer job of its thread may hold pointers"),
    haft__WORDS(HAFT_WRONG_CLOCK, "the call is for domains with another clock"),
    haft__WORDS(HAFT_NOT_PINNED, "the object has no pin"),
    haft__WORDS(HAFT_NOT_HELD, "no object with that id is held"),
    haft__WORDS(HAFT_CLOSED, "the table has been cleared, or is being closed"),
    haft__WORDS(HAFT_LOADING, "the table is being loaded"),
    haft__WORDS(HAFT_OUT_OF_RANGE, "beyond the table's slots, or the history's snapshots"),
    haft__WORDS(HAFT_WRONG_TYPE, "object size, alignment or pins of the table do not match the type"),
    haft__WORDS(HAFT_IN_CALLBACK, "the call may not be made from a callback: it waits, announces a "
                            "quiescent point, closes, flushes, trims, shares or moves objects"),
    haft__WORDS(HAFT_FORKED, "it is the parent process's, and the call would wait for its threads"),
    haft__WORDS(HAFT_UNKNOWN_OPTION, "an option is set that this library does not have: the program was "
                               "compiled for a later version, or a reserved member is not 0"),
    haft__WORDS(HAFT_BAD_LAYOUT, "layout: index_bits 3 to 32, generation_bits 1 to 60, at most 64 bits "
                           "together; of a counted table at most 32 generation_bits; reserved 0"),
    haft__WORDS(HAFT_BAD_CAPACITY,
          "capacity: 1 to 2^index_bits - 4, of a counted table at most 2^30 - 4"),
    haft__WORDS(HAFT_BAD_OBJECT_SIZE, "object_size: at most 2^30 bytes, not 0 in a packed table"),
    haft__WORDS(HAFT_BAD_OBJECT_ALIGNMENT, "object_alignment: a power of two, at most 4096, that divides "
                                     "the object_size of a packed table"),
    haft__WORDS(HAFT_BAD_TAG, "tag: does not fit the layout's tag_bits"),
    haft__WORDS(HAFT_BAD_FIRST_GENERATION,
          "first_generation: at most 2^generation_bits - 1, or HAFT_RANDOM_GENERATION"),
    haft__WORDS(HAFT_BAD_REUSE, "reuse: HAFT_REUSE_LIFO or HAFT_REUSE_FIFO"),
    haft__WORDS(HAFT_BAD_MIN_FREE, "min_free: with the capacity at most 2^index_bits - 4, of a counted "
                             "table at most 2^30 - 4; of a local table only with HAFT_REUSE_FIFO"),
    haft__WORDS(HAFT_BAD_PINS, "pins: only for types declared with HAFT_TYPED_PINNED"),
    haft__WORDS(HAFT_BAD_WAITING_BYTES, "waiting_bytes: at least one slot, object and overhead, or 0"),
    haft__WORDS(HAFT_BAD_FOREIGN_CLOCK,
          "foreign_clock: for the thread and the caller clock, with ctx and the callbacks that "
          "haft/clock.h requires; NULL for the workers and the frame clock"),
    haft__WORDS(HAFT_BAD_CLOCK, "clock: one of the HAFT_CLOCK_ names"),
    haft__WORDS(HAFT_BAD_WRAP,
          "wrap: ids of the table repeat, so it has no sides and releases no memory"),
    haft__WORDS(HAFT_BAD_COPIES, "copies: objects of at most 64 bytes, which only an insertion writes"),
};

/* The kit's struct status_list, once it has answered with one of its statuses. */
static haft__atomic_u64 haft__added_list;

HAFT_INTERNAL void haft__status_list_add(const struct haft__status_list *list)
{
    const uint64_t address = (uintptr_t)list;

    /* Threads that answer often share the line: it is written once. */
    if (haft__load_relaxed(HINT, &haft__added_list) != address) {
        haft__store_relaxed(HINT, &haft__added_list, address);
    }
}

/* NULL: none has that number. */
static const struct haft__status_words *haft__words_of(haft_status status)
{
    const unsigned number = (unsigned)status;
    const struct haft__status_list *added =
        (const struct haft__status_list *)(uintptr_t)haft__load_relaxed(HINT, &haft__added_list);

    if (number < HAFT_STATUS_COUNT) {
        return &haft__known_statuses[number];
    }
    return added != NULL && number - added->first < added->count
               ? &added->words[number - added->first]
               : NULL;
}

const char *haft_status_text(haft_status status)
{
    const struct haft__status_words *words = haft__words_of(status);

    return words != NULL ? words->text : "unknown status";
}

const char *haft_status_name(haft_status status)
{
    const struct haft__status_words *words = haft__words_of(status);

    return words != NULL ? words->name : "HAFT_?";
}

/* lib/base/text.h */

/* lib/base/text.h - a line of text put together, cut where the room ends, as snprintf cuts. */

struct haft__text {
    char *begin;
    size_t size;
    size_t length; /* of the whole line, without the final zero, cut or not */
};

/* An empty line in the `size` bytes at `begin`. */
HAFT_INTERNAL struct haft__text haft__text_in(char *begin, size_t size);

HAFT_INTERNAL void haft__text_add(struct haft__text *text, const char *format, ...) HAFT_PRINTF(2, 3);

HAFT_INTERNAL
void haft__text_add_list(struct haft__text *text, const char *format, va_list arguments) HAFT_PRINTF(2, 0);

/* A number with a comma between thousands. */
HAFT_INTERNAL void haft__text_add_count(struct haft__text *text, uint64_t count);

/* A count and its noun: "1 object", "4,096 objects". */
HAFT_INTERNAL void haft__text_add_counted(struct haft__text *text, uint64_t count, const char *one);

/* A time, to two or three digits: "350 ms", "1.2 s". */
HAFT_INTERNAL void haft__text_add_time(struct haft__text *text, uint64_t ns);

/* The number that snprintf would return for the line. */
HAFT_INTERNAL int haft__text_length(const struct haft__text *text);

/* lib/base/text.c */

/* Lines of text put together. */

#define haft__NS_PER_MS UINT64_C(1000000)

HAFT_INTERNAL struct haft__text haft__text_in(char *begin, size_t size)
{
    const struct haft__text text = {begin, size, 0};

    if (size != 0) {
        *begin = '\0';
    }
    return text;
}

HAFT_INTERNAL void haft__text_add_list(struct haft__text *text, const char *format, va_list arguments)
{
    assert(text->begin != NULL || text->size == 0);
    const size_t used = text->length < text->size ? text->length : text->size;
    const int added = vsnprintf(used < text->size ? text->begin + used : NULL, text->size - used,
                                format, arguments);

    text->length += added > 0 ? (size_t)added : 0;
}

HAFT_INTERNAL void haft__text_add(struct haft__text *text, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    haft__text_add_list(text, format, arguments);
    va_end(arguments);
}

HAFT_INTERNAL void haft__text_add_count(struct haft__text *text, uint64_t count)
{
    uint64_t unit = 1;

    while (count / unit >= 1000) {
        unit *= 1000;
    }
    assert(count / unit < 1000);
    haft__text_add(text, "%" PRIu64, count / unit);
    while (unit > 1) {
        unit /= 1000;
        haft__text_add(text, ",%03" PRIu64, count / unit % 1000);
    }
}

HAFT_INTERNAL void haft__text_add_counted(struct haft__text *text, uint64_t count, const char *one)
{
    haft__text_add_count(text, count);
    haft__text_add(text, " %s%s", one, count == 1 ? "" : "s");
}

HAFT_INTERNAL void haft__text_add_time(struct haft__text *text, uint64_t ns)
{
    const uint64_t ms = ns / haft__NS_PER_MS;

    if (ms < 1000) {
        haft__text_add(text, "%" PRIu64 " ms", ms);
    } else {
        haft__text_add(text, "%" PRIu64 ".%" PRIu64 " s", ms / 1000, ms / 100 % 10);
    }
}

HAFT_INTERNAL int haft__text_length(const struct haft__text *text)
{
    return text->length < INT_MAX ? (int)text->length : INT_MAX;
}

/* lib/base/version.c */

/* The version that the library was built as. */

uint32_t haft_version(void)
{
    return HAFT_VERSION;
}

const char *haft_version_text(void)
{
    return HAFT_VERSION_TEXT;
}

/* lib/slots/options.h */

/* lib/slots/options.h - the options that all tables have in common: defaults and checks. */

#define haft__MAX_ALIGNMENT 4096u /* of objects */

/* How objects lie: each in its slot, or in an array of their own without gaps. */
enum haft__options_shape { haft__IN_SLOTS, haft__PACKED };

struct haft__common_options {
    HAFT_COMMON_OPTIONS;
};

/* Options of each kind of table begin with the common ones: a copy of these bytes is them. */
#define haft__OPTIONS_BEGIN_WITH_COMMON(type)                                                            \
    _Static_assert(offsetof(type, name) == 0 &&                                                    \
                       offsetof(type, reserved) == offsetof(struct haft__common_options, reserved) &&    \
                       sizeof(type) >= sizeof(struct haft__common_options),                              \
                   "the common options come first, all of them")

/*
 * The alignment of objects in slots where the option is 0: as malloc() would align them, and at
 * least a word's.  Objects of a packed table lie without gaps, and so as their size wants it.
 */
HAFT_INTERNAL size_t haft__options_usual_alignment(size_t object_size);

/*
 * Check the common options that `table_options` (a haft_local_options and so on) begins with.
 * HAFT_OK, the options with their defaults filled in, and the highest capacity that the layout
 * allows; or the status of the option that is out of range.
 */
HAFT_INTERNAL haft_status haft__options_check(const void *table_options, enum haft__options_shape shape,
                                        struct haft__common_options *common, uint64_t *most);

/* The first generation of a table with these options, which were checked: theirs, random, or 1. */
HAFT_INTERNAL uint64_t haft__options_first_generation(const struct haft__common_options *options);

/* lib/slots/geometry.h */

/* lib/slots/geometry.h - how the slots of a table lie in memory, and how much they take. */

/* The options of a table that concern its slots. */
struct haft__slots_options {
    struct haft__common_options common; /* as options_check() has filled them in */
    uint64_t extra; /* slots wished for beyond the capacity; fewer where the index bits end */
    uint64_t spare; /* address space wished for beyond those, for slots */
    bool pins;      /* a counter behind each object */
    bool huge_pages;
    bool wrapped;        /* ids repeat from the first on, as far as haft_diagnose() can know */
    struct haft__given *given; /* memory of the program's; NULL: none */
};

struct haft__geometry {
    uint64_t alignment; /* of the memory: an object's, and a cache line's, so that small slots lie
                         * in one, and parts of a scan meet between two */
    uint64_t bias;      /* so that each object is aligned */
    uint64_t stride;
    uint64_t count; /* slots in address space, a power of two */
    uint64_t end;   /* of those for the capacity */
    uint64_t limit; /* of those ever used */
};

HAFT_INTERNAL struct haft__geometry haft__geometry_of(const struct haft__slots_options *options);

/* Take from given memory what slots_open() takes there. */
HAFT_INTERNAL void haft__geometry_measure(const struct haft__slots_options *options);

/* The most bytes that slots take where no memory is given, with the records of runs. */
HAFT_INTERNAL uint64_t haft__geometry_address_space(struct haft__slots_options options);

/* Slots that a shared table of that capacity wishes for beyond it, for workers to hold back. */
HAFT_INTERNAL uint64_t haft__geometry_spare(uint64_t capacity);

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
 * Shared tables keep their fresh runs in a list of their own (concurrent/worker/released.c),
 * through the same links; so every access to a record is an access to atomic words.
 *
 * Edges in this file.
 *   ONWARD  a floor only rises: a thread that knows of the release sees that floor or a later one
 *   OWN     one thread has the run
 */

/* Values of a run's `link`; any other number is the fresh run after this one. */
#define haft__RUN_IN_USE UINT64_C(0)      /* not a fresh run */
#define haft__RUN_LAST UINT64_MAX         /* the last of the fresh runs */
#define haft__RUN_KEPT (UINT64_MAX - 1)   /* while trimming: may not be released */
#define haft__RUN_CHOSEN (UINT64_MAX - 2) /* while trimming: to be released */

struct haft__run {
    haft__atomic_u64
        floor; /* generation and tag, in place, of its fresh slots; 0: the first generation */
    haft__atomic_u64 link;
};

struct haft__runs {
    struct haft__reservation memory; /* of the records, once there are any */
    struct haft__run *records;       /* one a run; NULL until one is needed */
    uint64_t count;            /* runs that there can be */
    uint64_t first;            /* the fresh run to be used next, or RUN_LAST: fresh_runs.h */
    unsigned shift;            /* slots in a run: 2^shift */
    bool stay;                 /* no run is ever released */
};

/* For `slots` slots, `stride` bytes apart; is_biased: they begin within a page.  No records yet. */
HAFT_INTERNAL void haft__runs_setup(struct haft__runs *runs, uint64_t slots, uint64_t stride, bool is_biased);
HAFT_INTERNAL void haft__runs_close(struct haft__runs *runs);

/* Reserve readable address space for the records, unless runs stay.  HAFT_OK or HAFT_NO_MEMORY. */
HAFT_INTERNAL haft_status haft__runs_reserve(struct haft__runs *runs);

/* Make sure of the records of all runs with slots below `end`.  HAFT_OK or HAFT_NO_MEMORY. */
HAFT_INTERNAL haft_status haft__runs_prepare(struct haft__runs *runs, uint64_t end);

/*
 * The slots of a run: from runs_first() on, below runs_end(), which may lie beyond the table's
 * limit.  Only runs whose slots have all been used become fresh ones: a shared table may use more
 * than the local one that it was.
 */
HAFT_INTERNAL uint64_t haft__runs_first(const struct haft__runs *runs, uint64_t haft__run);
HAFT_INTERNAL uint64_t haft__runs_end(const struct haft__runs *runs, uint64_t haft__run);

/* The word that fresh slots of the run begin from; 0: the first generation. */
static inline uint64_t haft__runs_floor(const struct haft__runs *runs, uint64_t haft__run)
{
    assert(runs->records != NULL && haft__run < runs->count);
    return haft__load_relaxed(ONWARD, &runs->records[haft__run].floor);
}

static inline void haft__runs_set_floor(const struct haft__runs *runs, uint64_t haft__run, uint64_t floor)
{
    assert(runs->records != NULL && haft__run < runs->count && !runs->stay);
    haft__store_relaxed(ONWARD, &runs->records[haft__run].floor, floor);
}

static inline uint64_t haft__runs_link(const struct haft__runs *runs, uint64_t haft__run)
{
    assert(runs->records != NULL && haft__run < runs->count);
    return haft__load_relaxed(OWN, &runs->records[haft__run].link);
}

static inline void haft__runs_set_link(const struct haft__runs *runs, uint64_t haft__run, uint64_t link)
{
    assert(runs->records != NULL && haft__run < runs->count);
    assert(link != haft__run || link == haft__RUN_IN_USE);
    haft__store_relaxed(OWN, &runs->records[haft__run].link, link);
}

/* The run that slot `index` is in. */
static inline uint64_t haft__runs_of(const struct haft__runs *runs, uint64_t index)
{
    return index >> runs->shift;
}

/* The lowest run that may be released. */
static inline uint64_t haft__runs_least(const struct haft__runs *runs)
{
    return haft__runs_of(runs, HAFT_FIRST_INDEX - 1) + 1;
}

/*
 * lib/slots/sites.h - allocation sites: where each slot was last allocated and freed: see
 * haft/diagnose.h.
 *
 * A record is written by the thread that holds the slot: on its way in before its id is visible, on
 * its way out after its life has ended and before the slot is retired; and cleared where the
 * slot's next generation is not the one after that life: so the record of a slot that is in no life
 * is of the generation before the one in its word.  A record is for people to read.
 *
 * Edges in this file.
 *   HINT   a site that is read too early or too late makes a line of text say less
 */

struct haft__site {
    haft__atomic_u64 born; /* an address; 0: not known */
    haft__atomic_u64 died;
};

struct haft__sites {
    struct haft__reservation memory;
    struct haft__site *records; /* one a slot; NULL: the table keeps none */
};

/* Records for `slots` slots, in given memory if it is not NULL.  HAFT_OK or HAFT_NO_MEMORY. */
HAFT_INTERNAL haft_status haft__sites_open(struct haft__sites *sites, uint64_t slots, struct haft__given *given,
                                     const haft_allocator *heap);
HAFT_INTERNAL void haft__sites_close(struct haft__sites *sites, const haft_allocator *heap);

/* Make the records of the slots below `end` writable, if there are any.  Any threads. */
HAFT_INTERNAL haft_status haft__sites_commit(struct haft__sites *sites, uint64_t end);

/* Have the system find memory for those from `first` on; they are writable. */
HAFT_INTERNAL haft_status haft__sites_populate(const struct haft__sites *sites, uint64_t first, uint64_t end);

/*
 * Nothing is known of the slots from `first` on, below `end`, any more: they go on at another
 * generation than the one after the life recorded.  They are the calling thread's.
 */
HAFT_INTERNAL void haft__sites_forget(const struct haft__sites *sites, uint64_t first, uint64_t end);

static inline void haft__sites_note_birth(const struct haft__sites *sites, uint64_t index, const void *caller)
{
    if (sites->records != NULL) {
        haft__store_relaxed(HINT, &sites->records[index].born, (uint64_t)(uintptr_t)caller);
    }
}

static inline void haft__sites_note_death(const struct haft__sites *sites, uint64_t index, const void *caller)
{
    if (sites->records != NULL) {
        haft__store_relaxed(HINT, &sites->records[index].died, (uint64_t)(uintptr_t)caller);
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
 *                  haft_local, the word is g[FREE] while a destructor runs; and while one is due,
 *                  `other` is the next slot where one is, FREE at the end)
 *                  shared tables: in one of the table's lists, retired or given up; `other` is the
 *                  next slot of the list, FREE at its end (concurrent/worker/lists.h); or free, in
 *                  the list that a local table left (concurrent/table/share.c)
 *   0[EXHAUSTED]   lived all its generations
 *   0[RESERVED]    slot 0, without tag, for ever
 *
 * Legal    fresh, g[FREE], g[END], free g[other] -> g[RESERVED]
 *                                                 by the owner of the batch it is in
 *          fresh, free -> g'[RESERVED]            g' >= g: restored, in a table of one thread
 *          g[RESERVED] -> id                      by the thread that reserved it       (PUBLISH)
 *          g[RESERVED] -> g+1[END]                by the thread that reserved it: given up
 *          g[RESERVED] -> 0[EXHAUSTED]            the same, in its last life
 *          id -> g+1[FREE]                        by one freeing thread, with CAS      (CLAIM)
 *          g[FREE], g[END] -> g[other] or g[FREE] by the thread that freed it, gave it up or
 *                                                 unpinned it last: put into a list    (LIST)
 *          g[other], g[FREE] -> g[FREE], g[END]   by the thread that took it out of the list: FREE
 *                                                 if it was freed, END if it was given up
 *          g[FREE] -> g[END], 0[EXHAUSTED]        by the owner of the batch it is in: reclaimed
 *          0[FREE] -> 1[END]                      the same, in a table that wraps
 *          free -> fresh                          by the owner of all slots of its run
 * Illegal  id -> other id: between them lie CLAIM and a grace period, or a reader that matched
 *          the old id would see the new object.
 *
 * Invariant: unless slot s is live, (index field & mask) of its word is not s.  The marks are
 * indices that are never issued, and no slot is its own successor.
 */

enum haft__word_mark { haft__MARK_END = 0, haft__MARK_RESERVED = 1, haft__MARK_EXHAUSTED = 2, haft__MARK_FREE = 3 };

/* A layout, ready to work on words with. */
struct haft__word_format {
    uint64_t index_mask;
    uint64_t generation_mask; /* in place */
    uint64_t generation_one;  /* generation 1, in place */
    uint64_t tag;             /* the table's, in place */
    uint64_t tag_mask;        /* in place */
    uint64_t first;           /* first generation and tag, in place: those of a fresh slot */
    haft_layout layout;
};

static inline struct haft__word_format haft__word_format_of(haft_layout layout, uint64_t tag,
                                                uint64_t first_generation)
{
    struct haft__word_format format = {
        .index_mask = haft_field_max(layout.index_bits),
        .generation_mask = haft_field_max(layout.generation_bits) << layout.index_bits,
        .generation_one = UINT64_C(1) << layout.index_bits,
        .tag = haft_id_pack(layout, 0, 0, tag).bits,
        .tag_mask = haft_id_pack(layout, 0, 0, haft_field_max(layout.tag_bits)).bits,
        .first = haft_id_pack(layout, 0, first_generation, tag).bits,
        .layout = layout,
    };
    assert((format.first & format.index_mask) == 0 && (format.tag & ~format.tag_mask) == 0);
    assert((format.first & format.generation_mask) != 0 && "no life has generation 0");
    return format;
}

/* Index field: a mark, or an index. */
static inline uint64_t haft__word_index(const struct haft__word_format *format, uint64_t word)
{
    return word & format->index_mask;
}

/* The generation, in place: comparable with others in place, 0 only if it is 0. */
static inline uint64_t haft__word_generation(const struct haft__word_format *format, uint64_t word)
{
    return word & format->generation_mask;
}

/* `word` with `index` (or a mark) in its index field. */
static inline uint64_t haft__word_with_index(const struct haft__word_format *format, uint64_t word,
                                       uint64_t index)
{
    assert(index <= format->index_mask);
    return (word & ~format->index_mask) | index;
}

/* `word` with the next generation and `index`: 0 after the last, never carried into the tag. */
static inline uint64_t haft__word_next_life(const struct haft__word_format *format, uint64_t word,
                                      uint64_t index)
{
    assert(index <= format->index_mask);
    return ((word + format->generation_one) & format->generation_mask) | (word & format->tag_mask) |
           index;
}

/* `word`, which ends a life, where generations begin again after the last: at 1. */
static inline uint64_t haft__word_wrapped(const struct haft__word_format *format, uint64_t word)
{
    return haft__word_generation(format, word) == 0 ? word | format->generation_one : word;
}

/* The id of the life before the one that `word` holds the generation of, in slot `index`. */
static inline haft_id haft__word_last_life(const struct haft__word_format *format, uint64_t word,
                                     uint64_t index)
{
    assert(index <= format->index_mask);
    haft_id id = {((word - format->generation_one) & format->generation_mask) |
                  (word & format->tag_mask) | index};
    return id;
}

/* HAFT_OK, or why no slot below index `end` can ever match `id`, whatever its generation. */
static inline haft_status haft__word_check_fields(const struct haft__word_format *format, haft_id id,
                                            uint64_t end)
{
    const uint64_t index = haft__word_index(format, id.bits);

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

/* lib/slots/slots.h */

/* lib/slots/slots.h - the slots of a table: their layout in memory, and their words. */

struct haft__slots {
    haft_view view;
    struct haft__word_format format;
    size_t object_size;
    bool has_pins;
    bool huge_pages; /* were asked for */
    uint64_t limit;  /* one more than the highest index that is ever issued */
    struct haft__reservation memory;
    haft_allocator heap; /* for the table, its workers, and slots that are not in pages */
    struct haft__runs runs;
    struct haft__sites sites;
    bool wrapped; /* some slot has begun its generations again, or any of a shared table may */
    struct haft__common_options common; /* of the table, without its name and allocator */
};

/* `slots->heap` is set.  On HAFT_OK `slots` is ready, with slot 0 marked.  Blocking (mmap). */
HAFT_INTERNAL haft_status haft__slots_open(struct haft__slots *slots, const struct haft__slots_options *options);
HAFT_INTERNAL void haft__slots_close(struct haft__slots *slots);

/* Make the slots below `end` writable.  HAFT_OK or HAFT_NO_MEMORY.  Any threads. */
HAFT_INTERNAL haft_status haft__slots_commit(struct haft__slots *slots, uint64_t end);

/* Bytes of memory that `used` slots take, of which `released` have none any more. */
HAFT_INTERNAL uint64_t haft__slots_bytes(const struct haft__slots *slots, uint64_t used, uint64_t released);

/* Have the system find memory for the slots from `first` on, below `end`; these are writable. */
HAFT_INTERNAL haft_status haft__slots_populate(const struct haft__slots *slots, uint64_t first, uint64_t end);

/* word_check_fields() for an id that the caller chose: without a generation it is malformed. */
HAFT_INTERNAL haft_status haft__slots_check_chosen(const struct haft__slots *slots, haft_id id, uint64_t end);

/* The word of slot `index`; the object lies behind it. */
static inline haft__atomic_u64 *haft__slots_word(const struct haft__slots *slots, uint64_t index)
{
    assert(index <= slots->view.mask);
    return (haft__atomic_u64 *)(void *)(slots->view.base + index * slots->view.stride);
}

static inline void *haft__slots_object(haft__atomic_u64 *word)
{
    return word + 1;
}

/* The alignment of objects: slot 0's word lies that many bytes less 8 behind the memory's start. */
static inline size_t haft__slots_alignment(const struct haft__slots *slots)
{
    return (size_t)(slots->view.base - slots->memory.base) + sizeof(uint64_t);
}

/* The pins of the object behind `word`, in a table that has them. */
static inline haft__atomic_u64 *haft__slots_pins(const struct haft__slots *slots, haft__atomic_u64 *word)
{
    assert(slots->has_pins);
    return word + 1 + (slots->object_size + 7) / 8;
}

/* The word that a slot's next life begins from; a fresh slot's first.  Only where runs stay. */
static inline uint64_t haft__slots_begin(const struct haft__slots *slots, uint64_t word)
{
    return word == 0 ? slots->format.first : word;
}

/* `word` of slot `index`, or its run's floor if that was released; 0: fresh. */
static inline uint64_t haft__slots_word_or_floor(const struct haft__slots *slots, uint64_t index, uint64_t word)
{
    const struct haft__runs *runs = &slots->runs;

    return word == 0 && runs->records != NULL ? haft__runs_floor(runs, haft__runs_of(runs, index)) : word;
}

/* slots_begin() for slot `index` of a table whose runs may have been released. */
static inline uint64_t haft__slots_begin_at(const struct haft__slots *slots, uint64_t index, uint64_t word)
{
    return haft__slots_begin(slots, haft__slots_word_or_floor(slots, index, word));
}

/* lib/slots/bad_access.h */

/* lib/slots/bad_access.h - a table's answer to haft_require() of an id that names no object. */

/* Apply the table's policy: on_bad_access, or abort.  `status` is not HAFT_OK. */
HAFT_INTERNAL
void haft__bad_access(const struct haft__slots *slots, const char *table, haft_id id, haft_status status);

/* The same for a table without sites. */
HAFT_INTERNAL
void haft__bad_access_report(const haft_bad_access *access, haft_on_bad_access *policy, void *arg);

/* lib/slots/sites_text.h */

/* lib/slots/sites_text.h - texts about ids and sites: see haft/diagnose.h. */

/* The line for haft_diagnose_format(); returns the number that snprintf would. */
HAFT_INTERNAL
int haft__sites_describe(const struct haft__slots *slots, const char *table, haft_id id, haft_status status,
                   char *line, size_t size);

/* The line of an id whose object has ended and still has its slot. */
HAFT_INTERNAL int haft__sites_describe_ended(const struct haft__slots *slots, const char *table, haft_id id,
                                       haft_status status, char *line, size_t size);

/* Add where a site is: its function, and the arguments for addr2line. */
HAFT_INTERNAL void haft__site_tell(struct haft__text *text, const void *site);

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
static void haft__apply_policy(const haft_bad_access *access, const char *line,
                         haft_on_bad_access *policy, void *arg)
{
    if (policy == NULL) {
        haft__os_print(line);
        abort();
    }
    policy(access, arg);
}

HAFT_INTERNAL
void haft__bad_access_report(const haft_bad_access *access, haft_on_bad_access *policy, void *arg)
{
    char line[512]; /* a longer name cuts the text */

    haft_bad_access_format(access, line, sizeof line);
    haft__apply_policy(access, line, policy, arg);
}

HAFT_INTERNAL
void haft__bad_access(const struct haft__slots *slots, const char *table, haft_id id, haft_status status)
{
    const haft_bad_access access = {
        .table = table,
        .layout = slots->format.layout,
        .id = id,
        .status = status,
    };
    char line[512];

    haft__sites_describe(slots, table, id, status, line, sizeof line);
    haft__apply_policy(&access, line, slots->common.on_bad_access, slots->common.report_arg);
}

/* lib/slots/diagnose.h */

/* lib/slots/diagnose.h - the status of an id: see haft/diagnose.h. */

/* The status of an id: see haft_diagnose().  Any threads. */
HAFT_INTERNAL haft_status haft__slots_diagnose(const struct haft__slots *slots, haft_id id);

/* The id of slot `index`, live or of its next life: see haft_id_at().  Any threads. */
HAFT_INTERNAL haft_status haft__slots_id_at(const struct haft__slots *slots, uint64_t index, haft_id *id);

/* What a table with these slots was opened with; it has no domain there. */
HAFT_INTERNAL haft_info haft__slots_info(const struct haft__slots *slots, const char *name, uint64_t capacity);

/* lib/slots/diagnose.c */

/*
 * The status of an id.
 *
 * Edges in this file.
 *   PUBLISH  haft_publish (release) -> slots_diagnose, slots_id_at (acquire)   the word, as resolve
 *            sees it
 */

/*
 * Whether generation `asked`, in place, was issued for slot `index` before the one in its `word`.
 * Once ids repeat this cannot be told: then yes, for a slot that is not fresh.
 */
static bool haft__issued_before(const struct haft__slots *slots, uint64_t index, uint64_t asked, uint64_t word)
{
    const struct haft__word_format *format = &slots->format;
    const uint64_t last = haft__slots_word_or_floor(slots, index, word);
    const uint64_t now = haft__word_generation(format, haft__slots_begin(slots, last));

    if (slots->wrapped && last != 0) {
        return asked != 0;
    }
    /* After the last life the next generation is 0: every life was issued. */
    return asked >= haft__word_generation(format, format->first) && (now == 0 || asked < now);
}

HAFT_INTERNAL haft_status haft__slots_diagnose(const struct haft__slots *slots, haft_id id)
{
    const struct haft__word_format *format = &slots->format;
    const uint64_t index = haft__word_index(format, id.bits);
    const uint64_t asked = haft__word_generation(format, id.bits);
    const haft_status status = haft__word_check_fields(format, id, slots->limit);

    if (status != HAFT_OK) {
        return status == HAFT_OUT_OF_RANGE ? HAFT_NEVER_ISSUED : status;
    }
    const uint64_t word = haft__load_acquire(PUBLISH, haft__slots_word(slots, index));

    if (word == id.bits) {
        return HAFT_OK;
    }
    if (word == haft__word_with_index(format, id.bits, haft__MARK_RESERVED)) {
        return HAFT_RESERVED;
    }
    if (!haft__issued_before(slots, index, asked, word)) {
        return HAFT_NEVER_ISSUED;
    }
    return haft__word_index(format, word) == haft__MARK_EXHAUSTED ? HAFT_EXHAUSTED : HAFT_STALE;
}

/* The slot's next life begins from `word`, which is in none: nil after the last. */
static haft_status haft__next_at(const struct haft__slots *slots, uint64_t index, uint64_t word, haft_id *id)
{
    const struct haft__word_format *format = &slots->format;
    const bool is_exhausted = haft__word_index(format, word) == haft__MARK_EXHAUSTED;
    uint64_t begin = haft__slots_begin_at(slots, index, word);

    if (!is_exhausted && slots->wrapped) { /* a shared table's word while its slot is retired */
        begin = haft__word_wrapped(format, begin);
    }
    if (haft__word_generation(format, begin) == 0) {
        id->bits = 0;
        return HAFT_EXHAUSTED;
    }
    id->bits = haft__word_with_index(format, begin, index);
    return word == 0 ? HAFT_NEVER_ISSUED : HAFT_STALE;
}

HAFT_INTERNAL haft_status haft__slots_id_at(const struct haft__slots *slots, uint64_t index, haft_id *id)
{
    const struct haft__word_format *format = &slots->format;

    if (index < HAFT_FIRST_INDEX || index >= slots->limit) {
        return HAFT_OUT_OF_RANGE;
    }
    const uint64_t word = haft__load_acquire(PUBLISH, haft__slots_word(slots, index));
    const uint64_t field = haft__word_index(format, word);

    if (field != index && field != haft__MARK_RESERVED) {
        return haft__next_at(slots, index, word, id);
    }
    id->bits = haft__word_with_index(format, word, index);
    return field == index ? HAFT_OK : HAFT_RESERVED;
}

HAFT_INTERNAL haft_info haft__slots_info(const struct haft__slots *slots, const char *name, uint64_t capacity)
{
    return (haft_info){
        .name = name,
        .capacity = capacity,
        .object_size = slots->object_size,
        .layout = slots->format.layout,
        .tag = slots->common.tag,
        .pins = slots->has_pins,
    };
}

/* lib/slots/explain.h */

/* lib/slots/explain.h - statuses in words, for all tables: see haft/diagnose.h. */

/* The use of a table's capacity. */
struct haft__use {
    uint64_t live;
    uint64_t reserved;
    uint64_t exhausted; /* slots */
};

HAFT_INTERNAL void haft__explain_full(struct haft__text *text, uint64_t capacity, const struct haft__use *haft__use);
HAFT_INTERNAL void haft__explain_no_memory(struct haft__text *text, const struct haft__slots *slots, uint64_t used);

/* lib/slots/explain.c */

/* Statuses of tables, in words. */

HAFT_INTERNAL void haft__explain_no_memory(struct haft__text *text, const struct haft__slots *slots, uint64_t used)
{
    haft__text_add(text, "no memory: the system refused more than ");
    haft__text_add_counted(text, used, "slot");
    haft__text_add(text, " of ");
    haft__text_add_counted(text, slots->view.stride, "byte");
}

HAFT_INTERNAL void haft__explain_full(struct haft__text *text, uint64_t capacity, const struct haft__use *haft__use)
{
    haft__text_add(text, "full: capacity ");
    haft__text_add_count(text, capacity);
    haft__text_add(text, "; ");
    haft__text_add_count(text, haft__use->live);
    haft__text_add(text, " live");
    if (haft__use->reserved != 0) {
        haft__text_add(text, ", ");
        haft__text_add_count(text, haft__use->reserved);
        haft__text_add(text, " reserved");
    }
    if (haft__use->exhausted != 0) {
        haft__text_add(text, ", ");
        haft__text_add_counted(text, haft__use->exhausted, "slot");
        haft__text_add(text, " exhausted");
    }
}

/*
 * lib/slots/fresh_runs.h - the released runs of a table of one thread, in a list through their
 * records' links.  O(1), except fresh_runs_remove.
 */

/* The run becomes the first one. */
HAFT_INTERNAL void haft__fresh_runs_push(struct haft__runs *runs, uint64_t haft__run);

/* Take the first one; there is one. */
HAFT_INTERNAL uint64_t haft__fresh_runs_pop(struct haft__runs *runs);

/* Take `run`, which is in the list.  O(runs before it). */
HAFT_INTERNAL void haft__fresh_runs_remove(struct haft__runs *runs, uint64_t haft__run);

/*
 * lib/base/walk.h - asserts that walk over a list or a batch: on in debug builds with HAFT_WALKS,
 * as those with AddressSanitizer.
 */

#if defined(HAFT_WALKS) && !defined(NDEBUG)
#define haft__assert_walk(condition) assert(condition)
#else
#define haft__assert_walk(condition) ((void)0)
#endif

/* A walk ends after that many steps: it comes with each change of a list. */
#define haft__WALK_MOST 64

/* lib/slots/fresh_runs.c */

/* The list of released runs. */

/* The list, as far as a walk goes: each run is there, and none but the last is in use. */
static HAFT_UNUSED bool haft__runs_are_listed(const struct haft__runs *runs)
{
    uint64_t haft__run = runs->first;

    for (int i = 0; haft__run != haft__RUN_LAST && i < haft__WALK_MOST; i++) {
        if (haft__run < haft__runs_least(runs) || haft__run >= runs->count) {
            return false;
        }
        haft__run = haft__runs_link(runs, haft__run);
    }
    return true;
}

HAFT_INTERNAL void haft__fresh_runs_push(struct haft__runs *runs, uint64_t haft__run)
{
    assert(haft__run >= haft__runs_least(runs) && "slot 0's word is a mark for ever");
    assert(runs->first == haft__RUN_LAST || runs->first < runs->count);
    haft__runs_set_link(runs, haft__run, runs->first);
    runs->first = haft__run;
    haft__assert_walk(haft__runs_are_listed(runs));
}

HAFT_INTERNAL uint64_t haft__fresh_runs_pop(struct haft__runs *runs)
{
    const uint64_t haft__run = runs->first;

    assert(haft__run != haft__RUN_LAST);
    runs->first = haft__runs_link(runs, haft__run);
    assert(runs->first != haft__RUN_IN_USE && "a run in the list leads to another, or is the last");
    haft__runs_set_link(runs, haft__run, haft__RUN_IN_USE);
    return haft__run;
}

HAFT_INTERNAL void haft__fresh_runs_remove(struct haft__runs *runs, uint64_t haft__run)
{
    uint64_t before = haft__RUN_LAST;

    for (uint64_t at = runs->first; at != haft__run; at = haft__runs_link(runs, at)) {
        assert(at != haft__RUN_LAST);
        before = at;
    }
    if (before == haft__RUN_LAST) {
        runs->first = haft__runs_link(runs, haft__run);
    } else {
        haft__runs_set_link(runs, before, haft__runs_link(runs, haft__run));
    }
    haft__runs_set_link(runs, haft__run, haft__RUN_IN_USE);
    haft__assert_walk(haft__runs_are_listed(runs));
}

/* lib/slots/geometry.c */

/* How slots lie. */

#define haft__SPARE_MOST (UINT64_C(1) << 16)   /* hold-back of 258 workers with full batches */
#define haft__SPARE_COMMON (UINT64_C(1) << 12) /* of 16 */

/* Slots in address space: a power of two with room for capacity and extra, if the bits allow. */
static uint64_t haft__slot_count(const struct haft__slots_options *options)
{
    const uint64_t most = haft_field_max(options->common.layout.index_bits) + 1;
    const uint64_t wanted =
        HAFT_FIRST_INDEX + options->common.capacity + options->extra + options->spare;
    uint64_t count = 8;

    assert(options->extra <= most &&
           "a min_free is checked, and a spare is no more than the capacity");
    while (count < wanted && count < most) {
        count *= 2;
    }
    assert((count & (count - 1)) == 0 && count >= HAFT_FIRST_INDEX + options->common.capacity);
    return count;
}

HAFT_INTERNAL uint64_t haft__geometry_spare(uint64_t capacity)
{
    const uint64_t part = capacity / 8;

    if (capacity < haft__SPARE_COMMON) {
        return capacity;
    }
    return part < haft__SPARE_COMMON ? haft__SPARE_COMMON : part < haft__SPARE_MOST ? part : haft__SPARE_MOST;
}

HAFT_INTERNAL struct haft__geometry haft__geometry_of(const struct haft__slots_options *options)
{
    const struct haft__common_options *common = &options->common;
    const uint64_t alignment =
        common->object_alignment > sizeof(uint64_t) ? common->object_alignment : sizeof(uint64_t);
    const uint64_t pins = options->pins ? sizeof(uint64_t) : 0;
    const uint64_t count = haft__slot_count(options);
    const uint64_t end = HAFT_FIRST_INDEX + common->capacity;

    return (struct haft__geometry){
        .alignment = alignment > haft__CACHE_LINE ? alignment : haft__CACHE_LINE,
        .bias = alignment - sizeof(uint64_t),
        .stride = haft__size_round_up(sizeof(uint64_t) +
                                    haft__size_round_up(common->object_size, pins != 0 ? 8 : 1) + pins,
                                alignment),
        .count = count,
        .end = end,
        .limit = end + (options->extra < count - end ? options->extra : count - end),
    };
}

HAFT_INTERNAL void haft__geometry_measure(const struct haft__slots_options *options)
{
    const struct haft__geometry geometry = haft__geometry_of(options);

    haft__given_take(options->given, geometry.bias + geometry.count * geometry.stride,
               geometry.alignment);
    if (options->common.sites) {
        haft__given_take(options->given, geometry.count * sizeof(struct haft__site), sizeof(uint64_t));
    }
}

HAFT_INTERNAL uint64_t haft__geometry_address_space(struct haft__slots_options options)
{
    const struct haft__geometry geometry = haft__geometry_of(&options);
    struct haft__given given = haft__given_to_measure();
    struct haft__runs runs;

    options.given = &given;
    haft__geometry_measure(&options);
    haft__runs_setup(&runs, geometry.count, geometry.stride, geometry.bias != 0);
    return given.measured + runs.count * sizeof(struct haft__run);
}

/* lib/slots/id_text.c */

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
static bool haft__parse_field(const char **text, uint64_t max, uint64_t *value)
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
static bool haft__parse_above(const char *at, uint64_t *value)
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
static bool haft__parse_fields(haft_layout layout, const char *text, haft_id *id)
{
    uint64_t index = 0;
    uint64_t generation = 0;
    uint64_t tag = 0;
    uint64_t above = 0;

    if (!haft__parse_field(&text, haft_field_max(layout.index_bits), &index) || *text++ != 'v' ||
        !haft__parse_field(&text, haft_field_max(layout.generation_bits), &generation)) {
        return false;
    }
    if (layout.tag_bits != 0 &&
        (*text++ != 't' || !haft__parse_field(&text, haft_field_max(layout.tag_bits), &tag))) {
        return false;
    }
    if (!haft__parse_above(text, &above)) {
        return false;
    }
    id->bits = haft_id_pack(layout, index, generation, tag).bits | above;
    return true;
}

bool haft_id_parse(haft_layout layout, const char *text, haft_id *id)
{
    haft_id parsed = HAFT_NIL;
    char again[HAFT_ID_TEXT_SIZE];

    if (strcmp(text, "nil") != 0 && !haft__parse_fields(layout, text, &parsed)) {
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

/* lib/slots/leaks.h */

/* lib/slots/leaks.h - objects that are live when their table closes. */

/* Tell of the objects that are live below `end`, if sites are kept, in a table that is closed. */
HAFT_INTERNAL void haft__leaks_report(const struct haft__slots *slots, const char *table, uint64_t end);

/* lib/slots/leaks.c */

/*
 * Leaks, by the site where their objects were allocated.
 *
 * Edges in this file.
 *   HINT   a site that is read too early or too late makes a line of text say less
 *   OWN    the table is being closed: no other thread uses it
 */

#define haft__GROUPS 256    /* sites of leaks that are told apart, */
#define haft__FEW_GROUPS 16 /* and where memory for them is refused */

int haft_leak_format(const haft_leak *leak, char *text, size_t size)
{
    struct haft__text line = haft__text_in(text, size);
    char id[HAFT_ID_TEXT_SIZE];

    haft_id_format(leak->layout, leak->first, id, sizeof id);
    haft__text_add(&line, "%s: ", leak->table);
    haft__text_add_counted(&line, leak->count, "object");
    haft__text_add(&line, " %s live at closing, allocated ", leak->count == 1 ? "is" : "are");
    haft__text_add(&line, leak->site == NULL ? "" : "at ");
    haft__site_tell(&line, leak->site);
    haft__text_add(&line, leak->count == 1 ? ": %s" : ", such as %s", id);
    return haft__text_length(&line);
}

static void haft__print_leak(const haft_leak *leak, void *arg)
{
    char text[512]; /* a longer name cuts the text */

    (void)arg;
    haft_leak_format(leak, text, sizeof text);
    haft__os_print(text);
}

struct haft__groups {
    haft_leak *leaks; /* the last one is for all sites beyond */
    size_t most;
    size_t count;
};

static haft_leak *haft__group_of(struct haft__groups *groups, const void *site)
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

static const void *haft__born_at(const struct haft__slots *slots, uint64_t index)
{
    return (const void *)(uintptr_t)haft__load_relaxed(HINT, &slots->sites.records[index].born);
}

static void haft__gather(struct haft__groups *groups, const struct haft__slots *slots, uint64_t end)
{
    for (uint64_t index = HAFT_FIRST_INDEX; index < end; index++) {
        const haft_id id = {haft__load_relaxed(OWN, haft__slots_word(slots, index))};

        if (haft__word_index(&slots->format, id.bits) == index) {
            haft_leak *leak = haft__group_of(groups, haft__born_at(slots, index));

            leak->first = leak->count++ == 0 ? id : leak->first;
        }
    }
}

static int haft__more_first(const void *a, const void *b)
{
    const haft_leak *left = a;
    const haft_leak *right = b;

    return (left->count < right->count) - (left->count > right->count);
}

static void haft__report_groups(struct haft__groups *groups, const struct haft__slots *slots, const char *table,
                          uint64_t end)
{
    haft_on_leak *on_leak = slots->common.on_leak != NULL ? slots->common.on_leak : haft__print_leak;
    const int cancel = haft__os_cancel_off();

    haft__gather(groups, slots, end);
    qsort(groups->leaks, groups->most, sizeof groups->leaks[0], haft__more_first);
    for (size_t i = 0; i < groups->most && groups->leaks[i].count != 0; i++) {
        groups->leaks[i].table = table;
        groups->leaks[i].layout = slots->format.layout;
        on_leak(&groups->leaks[i], slots->common.report_arg);
    }
    haft__os_cancel_restore(cancel);
}

/* More groups than a thread's stack should bear. */
HAFT_INTERNAL void haft__leaks_report(const struct haft__slots *slots, const char *table, uint64_t end)
{
    const size_t size = haft__GROUPS * sizeof(haft_leak);
    haft_leak few[haft__FEW_GROUPS] = {{.count = 0}};

    if (slots->sites.records == NULL) {
        return;
    }
    haft_leak *many = haft__heap_take_zero(&slots->heap, size, _Alignof(haft_leak));
    struct haft__groups groups = {many, haft__GROUPS, 0};

    if (many == NULL) {
        groups = (struct haft__groups){few, haft__FEW_GROUPS, 0};
    }
    haft__report_groups(&groups, slots, table, end);
    haft__heap_give(&slots->heap, many, size);
}

/* lib/slots/options.c */

/* The options that all tables have in common. */

#define haft__MAX_OBJECT_SIZE (UINT64_C(1) << 30)

static bool haft__layout_is_zero(haft_layout layout)
{
    return layout.index_bits == 0 && layout.generation_bits == 0 && layout.tag_bits == 0 &&
           layout.reserved == 0;
}

/* A type's size is a multiple of its alignment. */
HAFT_INTERNAL size_t haft__options_usual_alignment(size_t object_size)
{
    const size_t word = sizeof(uint64_t);
    const size_t most = _Alignof(max_align_t) > word ? _Alignof(max_align_t) : word;
    size_t alignment = word;

    while (object_size != 0 && alignment < most && object_size % (2 * alignment) == 0) {
        alignment *= 2;
    }
    return alignment;
}

static void haft__fill_in_defaults(struct haft__common_options *options, enum haft__options_shape shape)
{
    if (haft__layout_is_zero(options->layout)) {
        options->layout = HAFT_LAYOUT_32_32;
    }
    if (options->object_alignment == 0) {
        options->object_alignment =
            shape == haft__PACKED ? 1 : haft__options_usual_alignment(options->object_size);
    }
}

static haft_status haft__check_object(const struct haft__common_options *options, enum haft__options_shape shape)
{
    const size_t size = options->object_size;
    const size_t alignment = options->object_alignment;

    if (size > haft__MAX_OBJECT_SIZE || (shape == haft__PACKED && size == 0)) {
        return HAFT_BAD_OBJECT_SIZE;
    }
    if ((alignment & (alignment - 1)) != 0 || alignment > haft__MAX_ALIGNMENT ||
        (shape == haft__PACKED && size % alignment != 0)) {
        return HAFT_BAD_OBJECT_ALIGNMENT;
    }
    return HAFT_OK;
}

static haft_status haft__check_ids(const struct haft__common_options *options)
{
    if (options->tag > haft_field_max(options->layout.tag_bits)) {
        return HAFT_BAD_TAG;
    }
    if (options->first_generation != HAFT_RANDOM_GENERATION &&
        options->first_generation > haft_field_max(options->layout.generation_bits)) {
        return HAFT_BAD_FIRST_GENERATION;
    }
    return HAFT_OK;
}

/* Options of a later version, in the place that is reserved for them. */
static haft_status haft__check_reserved(const struct haft__common_options *options)
{
    for (size_t i = 0; i < sizeof options->reserved / sizeof options->reserved[0]; i++) {
        if (options->reserved[i] != 0) {
            return HAFT_UNKNOWN_OPTION;
        }
    }
    return HAFT_OK;
}

static haft_status haft__check_common(const struct haft__common_options *options, enum haft__options_shape shape,
                                uint64_t most)
{
    haft_status status = haft__check_reserved(options);

    if (status == HAFT_OK && (options->capacity < 1 || options->capacity > most)) {
        status = HAFT_BAD_CAPACITY;
    }
    status = status == HAFT_OK ? haft__check_object(options, shape) : status;
    status = status == HAFT_OK ? haft__check_ids(options) : status;
    return status;
}

HAFT_INTERNAL haft_status haft__options_check(const void *table_options, enum haft__options_shape shape,
                                        struct haft__common_options *common, uint64_t *most)
{
    memcpy(common, table_options, sizeof *common);
    haft__fill_in_defaults(common, shape);
    if (!haft_layout_is_valid(common->layout)) {
        return HAFT_BAD_LAYOUT;
    }
    *most = haft_field_max(common->layout.index_bits) + 1 - HAFT_FIRST_INDEX;
    return haft__check_common(common, shape, *most);
}

/*
 * A first generation from the lower half: so ids of another table, or of the program's last run,
 * seldom match, and each slot has half of its lives left at least.
 */
static uint64_t haft__random_generation(haft_layout layout)
{
    const uint64_t half = (haft_field_max(layout.generation_bits) + 1) / 2;
    uint64_t bits = 0;

    /* Where the system refuses (a filter of system calls), addresses and the time have to do. */
    if (!haft__os_random(&bits)) {
        bits = ((uint64_t)(uintptr_t)&bits ^ haft__os_now_ns()) * UINT64_C(0x9E3779B97F4A7C15);
        bits ^= bits >> 32;
    }
    return 1 + bits % half;
}

HAFT_INTERNAL uint64_t haft__options_first_generation(const struct haft__common_options *options)
{
    if (options->first_generation == HAFT_RANDOM_GENERATION) {
        return haft__random_generation(options->layout);
    }
    return options->first_generation != 0 ? options->first_generation : 1;
}

/* lib/slots/release.h */

/* lib/slots/release.h - releasing the memory of slots to the system. */

/*
 * Release the whole pages of run `run` and those after it, below run `end`, and make all their
 * slots fresh, to begin at the floors that the records say.  No thread may use any of them.
 * Returns the bytes released: 0 if the system refused.
 */
HAFT_INTERNAL uint64_t haft__slots_release(struct haft__slots *slots, uint64_t haft__run, uint64_t end);

/* lib/slots/release.c */

/*
 * Releasing page runs.
 *
 * Edges in this file.
 *   OWN   the thread that releases a run owns all its slots; resolve reads their words as atomics
 */

static uintptr_t haft__word_address(const struct haft__slots *slots, uint64_t index)
{
    return (uintptr_t)(slots->view.base + index * slots->view.stride);
}

/* Clear the words from slot `first` on, as far as they lie below the address `stop`. */
static uint64_t haft__clear_until(const struct haft__slots *slots, uint64_t first, uint64_t end, uintptr_t stop)
{
    while (first < end && haft__word_address(slots, first) < stop) {
        haft__store_relaxed(OWN, haft__slots_word(slots, first++), 0);
    }
    return first;
}

HAFT_INTERNAL uint64_t haft__slots_release(struct haft__slots *slots, uint64_t haft__run, uint64_t beyond)
{
    const uint64_t first = haft__runs_first(&slots->runs, haft__run);
    const uint64_t end = haft__runs_first(&slots->runs, beyond);
    const uintptr_t page = haft__os_page_size();

    assert(!slots->runs.stay && haft__run >= haft__runs_least(&slots->runs) && haft__run < beyond);
    assert(end <= slots->view.mask + 1);
    const uintptr_t begin = (haft__word_address(slots, first) + page - 1) / page * page;
    uintptr_t stop = haft__word_address(slots, end) / page * page;

    /* Memory that is locked stays; then all words are cleared below. */
    if (stop <= begin || !haft__os_discard((char *)begin, stop - begin)) {
        stop = begin;
    }
    uint64_t index = haft__clear_until(slots, first, end, begin);

    /* The words in between are gone: go on with the first one behind them. */
    if (stop > begin) {
        index += (stop - haft__word_address(slots, index) + slots->view.stride - 1) / slots->view.stride;
    }
    assert(index >= first && index <= end);
    haft__clear_until(slots, index, end, UINTPTR_MAX);
    return stop - begin;
}

/* lib/slots/runs.c */

/* Page runs: their records. */

#define haft__RUN_PAGE UINT64_C(4096) /* the smallest of any system, so that runs are alike on all */
#define haft__COARSE_PAGES 16         /* in a run that cannot end with a page: one page or two are lost */

/*
 * The smallest runs that begin and end with a page, if they are not too large.  Where the system's
 * pages are larger, only stretches of runs hold whole ones.
 */
HAFT_INTERNAL void haft__runs_setup(struct haft__runs *runs, uint64_t slots, uint64_t stride, bool is_biased)
{
    unsigned shift = 0;

    assert(slots != 0 && stride >= sizeof(uint64_t));
    while ((is_biased || (stride << shift) % haft__RUN_PAGE != 0) &&
           stride << shift < haft__COARSE_PAGES * haft__RUN_PAGE) {
        shift++;
    }
    runs->shift = shift;
    runs->count = ((slots - 1) >> shift) + 1;
    runs->first = haft__RUN_LAST;
    runs->records = NULL;
    runs->stay = false;
}

HAFT_INTERNAL void haft__runs_close(struct haft__runs *runs)
{
    if (runs->records != NULL) {
        haft__reservation_close(&runs->memory);
    }
}

HAFT_INTERNAL haft_status haft__runs_reserve(struct haft__runs *runs)
{
    if (runs->records == NULL && !runs->stay) {
        const haft_status status =
            haft__reservation_open(&runs->memory, runs->count * sizeof *runs->records);

        if (status != HAFT_OK) {
            return status;
        }
        runs->records = (struct haft__run *)(void *)runs->memory.base;
    }
    return HAFT_OK;
}

HAFT_INTERNAL haft_status haft__runs_prepare(struct haft__runs *runs, uint64_t end)
{
    const haft_status status = haft__runs_reserve(runs);

    assert(!runs->stay && end != 0 && haft__runs_of(runs, end - 1) < runs->count);
    if (status != HAFT_OK) {
        return status;
    }
    return haft__reservation_commit(&runs->memory, (haft__runs_of(runs, end - 1) + 1) * sizeof *runs->records);
}

HAFT_INTERNAL uint64_t haft__runs_first(const struct haft__runs *runs, uint64_t haft__run)
{
    return haft__run << runs->shift;
}

HAFT_INTERNAL uint64_t haft__runs_end(const struct haft__runs *runs, uint64_t haft__run)
{
    return haft__runs_first(runs, haft__run + 1);
}

/* lib/slots/sites.c */

/* Records of allocation sites. */

HAFT_INTERNAL haft_status haft__sites_open(struct haft__sites *sites, uint64_t slots, struct haft__given *given,
                                     const haft_allocator *heap)
{
    const uint64_t size = slots * sizeof sites->records[0];
    const haft_status status =
        given != NULL ? haft__reservation_open_given(&sites->memory, size, sizeof(uint64_t), given)
                      : haft__reservation_open_array(&sites->memory, size, sizeof(uint64_t), heap);

    if (status == HAFT_OK) {
        sites->records = (struct haft__site *)(void *)sites->memory.base;
    }
    return status;
}

HAFT_INTERNAL void haft__sites_close(struct haft__sites *sites, const haft_allocator *heap)
{
    if (sites->records != NULL) {
        haft__reservation_close_array(&sites->memory, heap);
    }
}

HAFT_INTERNAL haft_status haft__sites_commit(struct haft__sites *sites, uint64_t end)
{
    return sites->records == NULL
               ? HAFT_OK
               : haft__reservation_commit(&sites->memory, end * sizeof sites->records[0]);
}

HAFT_INTERNAL haft_status haft__sites_populate(const struct haft__sites *sites, uint64_t first, uint64_t end)
{
    const uint64_t size = sizeof sites->records[0];

    return sites->records == NULL ? HAFT_OK
                                  : haft__reservation_populate(&sites->memory, first * size, end * size);
}

HAFT_INTERNAL void haft__sites_forget(const struct haft__sites *sites, uint64_t first, uint64_t end)
{
    for (uint64_t index = first; sites->records != NULL && index < end; index++) {
        haft__sites_note_birth(sites, index, NULL);
        haft__sites_note_death(sites, index, NULL);
    }
}

/* lib/slots/sites_text.c */

/*
 * What a line of text says about an id, and about where its object was allocated and freed.
 *
 * Edges in this file.
 *   HINT   a site that is read too early or too late makes the line say less
 */

static const char *haft__file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

HAFT_INTERNAL void haft__site_tell(struct haft__text *text, const void *site)
{
    const uintptr_t address = (uintptr_t)site - 1; /* within the call that returns to `site` */
    struct haft__os_symbol symbol;

    if (site == NULL) {
        haft__text_add(text, "somewhere");
    } else if (!haft__os_symbol_of(address, &symbol)) {
        haft__text_add(text, "%#" PRIx64, (uint64_t)address);
    } else if (symbol.function == NULL) {
        haft__text_add(text, "%s+%#" PRIx64, haft__file_name(symbol.file), (uint64_t)symbol.file_offset);
    } else {
        haft__text_add(text, "%s+%#" PRIx64 " (%s+%#" PRIx64 ")", symbol.function,
                 (uint64_t)symbol.function_offset, haft__file_name(symbol.file),
                 (uint64_t)symbol.file_offset);
    }
}

int haft_site_format(const void *site, char *text, size_t size)
{
    struct haft__text line = haft__text_in(text, size);

    haft__site_tell(&line, site);
    return haft__text_length(&line);
}

static const void *haft__site_of(const haft__atomic_u64 *word)
{
    return (const void *)(uintptr_t)haft__load_relaxed(HINT, word);
}

/* Whether the slot's last life that has ended is that of `id`; `word` is the slot's. */
static bool haft__ended_last(const struct haft__slots *slots, haft_id id, uint64_t word)
{
    const struct haft__word_format *format = &slots->format;
    const uint64_t next = haft__word_generation(format, haft__word_next_life(format, id.bits, 0));
    const uint64_t now = haft__word_generation(format, word);

    /* After the last life the slot has no generation, or begins anew. */
    return now == next || (next == 0 && now == format->generation_one);
}

static void haft__tell_dead(struct haft__text *text, const struct haft__slots *slots, haft_id id, uint64_t word)
{
    const uint64_t index = haft__word_index(&slots->format, id.bits);
    const uint64_t field = haft__word_index(&slots->format, word);
    const struct haft__site *site = &slots->sites.records[index];
    const void *died = haft__site_of(&site->died);
    const void *born = haft__site_of(&site->born);

    if (word == 0) {
        haft__text_add(text, "; its memory has been released since");
        return;
    }
    if (!haft__ended_last(slots, id, word)) {
        haft__text_add(text, "; its slot has been used since");
        return;
    }
    if (died != NULL) {
        haft__text_add(text, ", at ");
        haft__site_tell(text, died);
    }
    if (born != NULL && field != index && field != haft__MARK_RESERVED) {
        haft__text_add(text, "; allocated at ");
        haft__site_tell(text, born);
    }
}

static void haft__tell_born(struct haft__text *text, const struct haft__site *site, const char *how)
{
    const void *born = haft__site_of(&site->born);

    if (born != NULL) {
        haft__text_add(text, "; %s at ", how);
        haft__site_tell(text, born);
    }
}

static const struct haft__site *haft__site_record(const struct haft__slots *slots, haft_id id)
{
    return &slots->sites.records[haft__word_index(&slots->format, id.bits)];
}

/* What is known of an id with that status: "; freed at ..., allocated at ...". */
static void haft__sites_tell(struct haft__text *text, const struct haft__slots *slots, haft_id id, haft_status status)
{
    const uint64_t index = haft__word_index(&slots->format, id.bits);

    if (slots->sites.records == NULL) {
        return;
    }
    if (status == HAFT_STALE || status == HAFT_EXHAUSTED) {
        haft__tell_dead(text, slots, id, haft__load_relaxed(HINT, haft__slots_word(slots, index)));
    } else if (status == HAFT_OK || status == HAFT_RESERVED) {
        haft__tell_born(text, haft__site_record(slots, id), status == HAFT_OK ? "allocated" : "reserved");
    }
}

static void haft__tell_status(struct haft__text *text, const struct haft__slots *slots, const char *table, haft_id id,
                        haft_status status)
{
    char id_text[HAFT_ID_TEXT_SIZE];

    haft_id_format(slots->format.layout, id, id_text, sizeof id_text);
    haft__text_add(text, "%s: %s: %s (%s)", table, id_text,
             status == HAFT_OK ? "live" : haft_status_text(status), haft_status_name(status));
}

HAFT_INTERNAL
int haft__sites_describe(const struct haft__slots *slots, const char *table, haft_id id, haft_status status,
                   char *line, size_t size)
{
    struct haft__text text = haft__text_in(line, size);

    haft__tell_status(&text, slots, table, id, status);
    haft__sites_tell(&text, slots, id, status);
    return haft__text_length(&text);
}

HAFT_INTERNAL int haft__sites_describe_ended(const struct haft__slots *slots, const char *table, haft_id id,
                                       haft_status status, char *line, size_t size)
{
    struct haft__text text = haft__text_in(line, size);

    haft__tell_status(&text, slots, table, id, status);
    if (slots->sites.records != NULL) {
        haft__text_add(&text, ", at ");
        haft__site_tell(&text, haft__site_of(&haft__site_record(slots, id)->died));
        haft__tell_born(&text, haft__site_record(slots, id), "allocated");
    }
    return haft__text_length(&text);
}

/* lib/slots/slots.c */

/*
 * Slots: options, and layout in memory.
 *
 * Edges in this file.
 *   OWN   before the table is handed to other threads
 */

/* No page run of so few bytes of slots is released: it would be worth less than the records. */
#define haft__STAY_BYTES ((uint64_t)128 << 10)

/* Keep the options that a clone of the table is opened with. */
static void haft__keep(struct haft__slots *slots, const struct haft__common_options *options)
{
    slots->common = *options;
    slots->common.name = NULL;
    slots->common.first_generation = haft__options_first_generation(options);
    slots->common.allocator = NULL; /* slots->heap is a copy */
    slots->format = haft__word_format_of(options->layout, options->tag, slots->common.first_generation);
    slots->object_size = options->object_size;
    slots->sites.records = NULL;
}

static haft_status haft__reserve_slots(struct haft__slots *slots, const struct haft__slots_options *options,
                                 const struct haft__geometry *geometry)
{
    const uint64_t size = geometry->bias + geometry->count * geometry->stride;
    const haft_status status =
        options->given != NULL
            ? haft__reservation_open_given(&slots->memory, size, geometry->alignment, options->given)
            : haft__reservation_open_array(&slots->memory, size, (size_t)geometry->alignment,
                                     &slots->heap);

    if (status == HAFT_OK && options->huge_pages && haft__reservation_is_paged(&slots->memory)) {
        haft__reservation_ask_for_huge_pages(&slots->memory);
    }
    return status;
}

HAFT_INTERNAL haft_status haft__slots_open(struct haft__slots *slots, const struct haft__slots_options *options)
{
    const struct haft__geometry geometry = haft__geometry_of(options);
    haft_status status = haft__reserve_slots(slots, options, &geometry);

    if (status != HAFT_OK) {
        return status;
    }
    slots->view.base = slots->memory.base + geometry.bias;
    slots->view.mask = geometry.count - 1;
    slots->view.stride = geometry.stride;
    haft__keep(slots, &options->common);
    slots->has_pins = options->pins;
    slots->huge_pages = options->huge_pages;
    slots->wrapped = options->wrapped;
    slots->limit = geometry.limit;
    assert(geometry.end <= slots->limit && slots->limit <= geometry.count);
    assert(((uintptr_t)slots->view.base + sizeof(uint64_t)) % haft__slots_alignment(slots) == 0);
    haft__runs_setup(&slots->runs, geometry.count, geometry.stride, geometry.bias != 0);
    slots->runs.stay = !haft__reservation_is_paged(&slots->memory) || slots->memory.size <= haft__STAY_BYTES;
    if (options->common.sites) {
        status = haft__sites_open(&slots->sites, geometry.count, options->given, &slots->heap);
    }
    status = status == HAFT_OK ? haft__slots_commit(slots, 1) : status;
    if (status != HAFT_OK) {
        haft__slots_close(slots);
        return status;
    }
    haft__store_relaxed(OWN, haft__slots_word(slots, 0), haft__MARK_RESERVED);
    return HAFT_OK;
}

HAFT_INTERNAL void haft__slots_close(struct haft__slots *slots)
{
    haft__runs_close(&slots->runs);
    haft__sites_close(&slots->sites, &slots->heap);
    haft__reservation_close_array(&slots->memory, &slots->heap);
}

/* From the start of the memory to slot `index`. */
static uint64_t haft__bytes_to(const struct haft__slots *slots, uint64_t index)
{
    assert(index <= slots->view.mask + 1);
    return (uint64_t)(slots->view.base - slots->memory.base) + index * slots->view.stride;
}

HAFT_INTERNAL haft_status haft__slots_commit(struct haft__slots *slots, uint64_t end)
{
    const haft_status status = haft__reservation_commit(&slots->memory, haft__bytes_to(slots, end));

    return status == HAFT_OK ? haft__sites_commit(&slots->sites, end) : status;
}

HAFT_INTERNAL uint64_t haft__slots_bytes(const struct haft__slots *slots, uint64_t used, uint64_t released)
{
    assert(used != 0 && released <= used);
    const bool is_paged = haft__reservation_is_paged(&slots->memory);
    const uint64_t records = slots->runs.records != NULL ? haft__runs_of(&slots->runs, used - 1) + 1 : 0;
    const uint64_t sites = slots->sites.records == NULL ? 0
                           : is_paged                   ? used
                                                        : slots->view.mask + 1;
    const uint64_t haft__taken =
        is_paged ? haft__bytes_to(slots, used - released) : slots->memory.size + slots->memory.more;

    return haft__taken + records * sizeof(struct haft__run) + sites * sizeof(struct haft__site);
}

HAFT_INTERNAL haft_status haft__slots_populate(const struct haft__slots *slots, uint64_t first, uint64_t end)
{
    const haft_status status =
        haft__reservation_populate(&slots->memory, haft__bytes_to(slots, first), haft__bytes_to(slots, end));

    return status == HAFT_OK ? haft__sites_populate(&slots->sites, first, end) : status;
}

HAFT_INTERNAL haft_status haft__slots_check_chosen(const struct haft__slots *slots, haft_id id, uint64_t end)
{
    const haft_status status = haft__word_check_fields(&slots->format, id, end);
    const bool is_ours = status == HAFT_OK || status == HAFT_OUT_OF_RANGE;

    return is_ours && haft__word_generation(&slots->format, id.bits) == 0 ? HAFT_MALFORMED : status;
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

haft_status haft_type_fits(haft_type type, haft_view view, size_t object_size, bool haft__has_pins)
{
    const uintptr_t haft__object = (uintptr_t)view.base + sizeof(uint64_t);

    assert(type.slot_size % type.alignment == 0 && "as sizeof says it: one aligned, all are");
    return object_size == type.size && haft__has_pins == type.has_pins && view.stride == type.slot_size &&
                   haft__object % type.alignment == 0
               ? HAFT_OK
               : HAFT_WRONG_TYPE;
}

/* lib/slots/view.c */

/* Resolving many ids at once: haft_resolve() with the memory of later ids on its way. */

HAFT_CONSTANT_HERE(uint64_t haft_no_slots[2], 1, 0);

#define haft__IDS_AHEAD 16 /* ids fetched ahead: about a memory latency's worth of resolves */

size_t haft_resolve_many(haft_view view, const haft_id *ids, void **objects, size_t count)
{
    const size_t fetched = count < haft__IDS_AHEAD ? count : haft__IDS_AHEAD;
    size_t live = 0;

    for (size_t i = 0; i < fetched; i++) {
        haft__prefetch_to_read(haft_slot_of(view, ids[i]));
    }
    for (size_t i = 0; i < count; i++) {
        if (i + haft__IDS_AHEAD < count) {
            haft__prefetch_to_read(haft_slot_of(view, ids[i + haft__IDS_AHEAD]));
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
enum haft__local_mode { haft__LOCAL_OPEN, haft__LOCAL_LOADING, haft__LOCAL_CLOSING };

struct haft_local {
    struct haft_local_front front; /* first: the list's head if it is in place, and the live */
    struct haft__slots slots;

    bool is_fifo;
    bool wraps;
    enum haft__local_mode mode;
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
    const char *name;    /* at the end of the block that begins with this struct */
    haft__atomic_u64 attached; /* what lies beside the slots; not 0: the table stays open */
};

/* Whether `word` is that of a free slot `index`, in the list or fresh; or its destructor is due. */
static inline bool haft__local_is_free(const haft_local *local, uint64_t index, uint64_t word)
{
    const uint64_t field = haft__word_index(&local->slots.format, word);

    return field == haft__MARK_END || (field >= HAFT_FIRST_INDEX && field != index);
}

/* The front's generation_mask, as it must be. */
static inline uint64_t haft__local_mask_in_place(const haft_local *local)
{
    return local->is_in_place && local->on_destroy == NULL ? local->slots.format.generation_mask
                                                           : 0;
}

/* Whether each slot that comes or goes is to be looked at. */
static inline bool haft__local_is_watched(const haft_local *local)
{
    return haft__asan_is_on() || local->slots.sites.records != NULL;
}

/* See is_crowded; of the limit, the capacity and min_free. */
static inline bool haft__local_crowds(const haft_local *local)
{
    return haft__local_is_watched(local) ||
           local->slots.limit - HAFT_FIRST_INDEX - local->min_free > local->capacity;
}

/* Where the list begins. */
static inline uint32_t *haft__local_head(haft_local *local)
{
    return local->is_in_place ? &local->front.head : &local->listed_head;
}

/* Objects that still fit. */
static inline uint64_t haft__local_available(const haft_local *local)
{
    assert(local->front.count + local->held + local->exhausted <= local->capacity);
    return local->capacity - local->front.count - local->held - local->exhausted;
}

/* Slots in the list: all used ones that are nowhere else. */
static inline uint64_t haft__local_listed(const haft_local *local)
{
    assert(local->front.count + local->held + local->exhausted + local->fresh_slots <=
           local->used - HAFT_FIRST_INDEX);
    return local->used - HAFT_FIRST_INDEX - local->front.count - local->held - local->exhausted -
           local->fresh_slots;
}

/*
 * lib/local/local.h - a table of one thread comes and goes; steps in an object's life that
 * insertion and restoring share.
 */

/* A table of that name, else zero, in given memory or, if NULL, the heap.  NULL: no memory. */
HAFT_INTERNAL
haft_local *haft__local_new(const char *name, struct haft__given *given, const haft_allocator *heap);

/*
 * Make an empty table at the start of `block`, which ends with `name`.  The bytes between are
 * poisoned.  The caller sets slots.heap, which the block is from unless is_given.
 */
HAFT_INTERNAL haft_local *haft__local_make_in(void *block, bool is_given, const char *name);

/* Bytes from the struct to the end of its name. */
HAFT_INTERNAL size_t haft__local_block_size(const haft_local *local);

/* NULL is allowed. */
HAFT_INTERNAL void haft__local_free(haft_local *local);

/* The word after the life in `word`: its generation 0 if that was the last.  Index field END. */
HAFT_INTERNAL uint64_t haft__local_next_life(const haft_local *local, uint64_t word);

/* HAFT_OK, or why this is no moment to look at the whole table, or to replace it. */
HAFT_INTERNAL haft_status haft__local_check_moment(const haft_local *local);

/* lib/local/local_list.h */

/* lib/local/local_list.h - the free slots of a table of one thread. */

/* Begin an empty list, of the kind that the mode and the options ask for. */
HAFT_INTERNAL void haft__local_begin_list(haft_local *local);

/* A slot that is free and not on top of the stack: HAFT_OK, or why there is none. */
HAFT_INTERNAL haft_status haft__local_take(haft_local *local, uint64_t *index);

/* Slot `index` is free, and begins its next life from `word`. */
HAFT_INTERNAL void haft__local_push(haft_local *local, uint64_t index, uint64_t word);

/* Slot `index`, free wherever it is, is taken; its word says where its next life begins. */
HAFT_INTERNAL void haft__local_claim(haft_local *local, uint64_t index);

/* Whether the destructor of slot `index` is due.  O(slots where one is). */
HAFT_INTERNAL bool haft__local_is_ending(const haft_local *local, uint64_t index);

/* Take the slots out of the list that lie in runs that are RUN_CHOSEN. */
HAFT_INTERNAL void haft__local_drop_chosen(haft_local *local);

/* Make the list anew, in order of index; runs that have no slot in use become fresh runs. */
HAFT_INTERNAL void haft__local_rebuild(haft_local *local);

/*
 * lib/slots/object.h - the bytes of the object behind a slot's word: when they may be touched, and
 * how they are written.
 */

/* A free object's bytes may not be touched; a reserved one's may.  AddressSanitizer reports it. */
static inline void haft__slots_poison(const struct haft__slots *slots, const haft__atomic_u64 *word)
{
    haft__asan_poison_object(word + 1, slots->object_size);
}

static inline void haft__slots_unpoison(const struct haft__slots *slots, const haft__atomic_u64 *word)
{
    haft__asan_unpoison(word + 1, slots->object_size);
}

/* All objects below index `end`, of a table that closes, may be touched: the memory is reused. */
static inline void haft__slots_unpoison_all(const struct haft__slots *slots, uint64_t end)
{
    haft__asan_unpoison(slots->view.base, (size_t)(end * slots->view.stride));
}

/* Copy an object into its slot; NULL stands for zeros. */
static inline void haft__slots_fill(const struct haft__slots *slots, void *haft__object, const void *from)
{
    haft__asan_unpoison(haft__object, slots->object_size);
    if (from == NULL) {
        memset(haft__object, 0, slots->object_size);
    } else {
        memcpy(haft__object, from, slots->object_size);
    }
}

/* Whether objects are a few whole words: then calling memcpy costs more than the copy. */
static inline bool haft__object_is_words(size_t size)
{
    return size <= 64 && size % 8 == 0;
}

/* slots_fill() for such objects, without a call. */
static inline void haft__object_copy_words(void *haft__object, const void *from, size_t size)
{
    assert(haft__object_is_words(size));
    haft__asan_unpoison(haft__object, size);
    size_t at = size & 8;

    if (at != 0) {
        memcpy(haft__object, from, 8);
    }
    for (; at < size; at += 16) {
        memcpy((char *)haft__object + at, (const char *)from + at, 16);
    }
}

/* lib/local/local.c */

/*
 * haft_local: the table of one thread, its objects' lives.  Free slots are local_list.c's.
 *
 * Edges in this file.
 *   OWN   one thread uses the table; resolve reads the word as an atomic, so it is one here too
 */

haft__OPTIONS_BEGIN_WITH_COMMON(haft_local_options);

/* The options of this kind of table alone; the capacity is at most `most`. */
static haft_status haft__check(const haft_local_options *options, uint64_t most)
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
static haft_status haft__local_slots_wanted(const haft_local_options *options,
                                      struct haft__slots_options *wanted, uint64_t *most)
{
    *wanted = (struct haft__slots_options){
        .extra = options->min_free,
        .spare = options->will_share ? haft__geometry_spare(options->capacity) : 0,
        .pins = options->pins,
        .huge_pages = options->huge_pages,
    };
    const haft_status status = haft__options_check(options, haft__IN_SLOTS, &wanted->common, most);

    return status == HAFT_OK ? haft__check(options, *most) : status;
}

static void haft__fill_in(haft_local *local, const haft_local_options *options)
{
    local->is_fifo = options->reuse == HAFT_REUSE_FIFO;
    local->wraps = options->wrap;
    local->min_free = options->min_free;
    local->used = HAFT_FIRST_INDEX;
    local->capacity = options->capacity;
    local->on_destroy = options->on_destroy;
    local->destroy_arg = options->destroy_arg;
    local->is_crowded = haft__local_crowds(local);
    haft__local_begin_list(local);
}

HAFT_INTERNAL
haft_local *haft__local_new(const char *name, struct haft__given *given, const haft_allocator *heap)
{
    const size_t size = haft__size_with_name(sizeof(haft_local), name);
    char *block = given != NULL ? haft__given_take(given, size, _Alignof(haft_local))
                                : haft__heap_take(heap, size, _Alignof(haft_local));

    if (block == NULL) {
        return NULL;
    }
    memcpy(block + sizeof(haft_local), name, size - sizeof(haft_local));
    haft_local *local = haft__local_make_in(block, given != NULL, block + sizeof(haft_local));

    local->slots.heap = *heap;
    return local;
}

HAFT_INTERNAL haft_local *haft__local_make_in(void *block, bool is_given, const char *name)
{
    haft_local *local = memset(block, 0, sizeof(haft_local));

    local->is_given = is_given;
    local->name = name;
    haft__asan_poison(local + 1, (size_t)(name - (char *)(local + 1)));
    return local;
}

HAFT_INTERNAL size_t haft__local_block_size(const haft_local *local)
{
    return haft__size_with_name((size_t)(local->name - (const char *)local), local->name);
}

HAFT_INTERNAL void haft__local_free(haft_local *local)
{
    if (local == NULL) {
        return;
    }
    const size_t size = haft__local_block_size(local);

    haft__asan_unpoison(local, size);
    if (!local->is_given) {
        haft__heap_give(&local->slots.heap, local, size);
    }
}

HAFT_INTERNAL haft_status haft__local_check_moment(const haft_local *local)
{
    if (local->mode == haft__LOCAL_LOADING) {
        return HAFT_LOADING;
    }
    return local->held == 0 && !local->in_callback ? HAFT_OK : HAFT_IN_USE;
}

static const char *haft__local_name_of(const haft_local_options *options)
{
    return options->name != NULL ? options->name : "local table";
}

/* The bytes that local_new() and slots_open() take, wherever they begin. */
static uint64_t haft__measure_local(const haft_local_options *options, struct haft__slots_options wanted)
{
    struct haft__given given = haft__given_to_measure();

    wanted.given = &given;
    haft__given_take(&given, haft__size_with_name(sizeof(haft_local), haft__local_name_of(options)),
               _Alignof(haft_local));
    haft__geometry_measure(&wanted);
    return given.measured;
}

haft_status haft_local_open_sized(const haft_local_options *options, size_t size,
                                  haft_local **local)
{
    haft_local_options known;
    struct haft__slots_options wanted;
    uint64_t most;
    haft_status status = haft__sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? haft__local_slots_wanted(&known, &wanted, &most) : status;
    if (status != HAFT_OK) {
        return status;
    }
    struct haft__given given = haft__given_of(known.memory, known.memory_size);

    if (!haft__given_suffices(&given, haft__measure_local(&known, wanted))) {
        return HAFT_NO_MEMORY;
    }
    wanted.given = known.memory != NULL ? &given : NULL;
    const haft_allocator heap = haft__heap_of(known.allocator);
    haft_local *opened = haft__local_new(haft__local_name_of(&known), wanted.given, &heap);

    status = opened != NULL ? haft__slots_open(&opened->slots, &wanted) : HAFT_NO_MEMORY;
    if (status != HAFT_OK) {
        haft__local_free(opened);
        return status;
    }
    haft__fill_in(opened, &known);
    *local = opened;
    return HAFT_OK;
}

/* The highest capacity for which slots take no more address space. */
static uint64_t haft__capacity_that_fills(haft_local_options options, uint64_t most)
{
    struct haft__slots_options wanted;
    uint64_t above = most - options.min_free + 1;

    haft__local_slots_wanted(&options, &wanted, &most);
    const uint64_t count = haft__geometry_of(&wanted).count;
    uint64_t fits = options.capacity;

    while (above - fits > 1) {
        options.capacity = fits + (above - fits) / 2;
        haft__local_slots_wanted(&options, &wanted, &most);
        if (haft__geometry_of(&wanted).count == count) {
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
    struct haft__slots_options wanted;
    uint64_t most;
    haft_status status = haft__sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? haft__local_slots_wanted(&known, &wanted, &most) : status;
    if (status != HAFT_OK) {
        return status;
    }
    const uint64_t bytes = haft__measure_local(&known, wanted);

    if (!haft__given_is_possible(bytes)) {
        return HAFT_NO_MEMORY;
    }
    *footprint = (haft_footprint){
        .bytes = bytes,
        .capacity = haft__capacity_that_fills(known, most),
        .committed = bytes,
    };
    return HAFT_OK;
}

haft_view haft_local_view(const haft_local *local)
{
    return local->slots.view;
}

haft_info haft_local_info(const haft_local *local)
{
    return haft__slots_info(&local->slots, local->name, local->capacity);
}

uint64_t haft_local_count(const haft_local *local)
{
    return local->front.count;
}

uint64_t haft_local_available(const haft_local *local)
{
    return haft__local_available(local);
}

/* --- the way in --- */

/* The next slot to use: its own word still says that it is free. */
static haft_status haft__take_slot(haft_local *local, uint64_t *index)
{
    const struct haft__slots *slots = &local->slots;

    if (local->front.head == haft__MARK_END) {
        return haft__local_take(local, index);
    }
    *index = local->front.head;
    local->front.head =
        (uint32_t)haft__word_index(&slots->format, haft__load_relaxed(OWN, haft__slots_word(slots, *index)));
    return HAFT_OK;
}

static haft_status haft__reserve(haft_local *local, haft_id *id, void **haft__object, const void *caller)
{
    const struct haft__word_format *format = &local->slots.format;
    uint64_t index;
    const haft_status status = haft__take_slot(local, &index);

    if (status != HAFT_OK) {
        return status;
    }
    haft__atomic_u64 *at = haft__slots_word(&local->slots, index);
    const uint64_t word = haft__slots_begin_at(&local->slots, index, haft__load_relaxed(OWN, at));

    haft__slots_unpoison(&local->slots, at);
    haft__sites_note_birth(&local->slots.sites, index, caller);
    haft__store_relaxed(OWN, at, haft__word_with_index(format, word, haft__MARK_RESERVED));
    local->held++;
    id->bits = haft__word_with_index(format, word, index);
    *haft__object = haft__slots_object(at);
    return HAFT_OK;
}

haft_status haft_local_reserve(haft_local *local, haft_id *id, void **haft__object)
{
    void *bytes;
    const haft_status status = haft__reserve(local, id, &bytes, haft__CALLER);

    if (status == HAFT_OK && haft__object != NULL) {
        *haft__object = bytes;
    }
    return status;
}

/* The word of the slot that `id` was reserved in. */
static haft__atomic_u64 *haft__reserved_word(haft_local *local, haft_id id)
{
    haft__atomic_u64 *at = haft__slots_word(&local->slots, haft__word_index(&local->slots.format, id.bits));

    assert(haft__load_relaxed(OWN, at) == haft__word_with_index(&local->slots.format, id.bits, haft__MARK_RESERVED));
    return at;
}

void haft_local_publish(haft_local *local, haft_id id)
{
    haft__store_relaxed(OWN, haft__reserved_word(local, id), id.bits);
    local->held--;
    local->front.count++;
}

/* haft_local_insert() of any object, into any slot: apart, so that the common way stays short. */
static haft__NOINLINE haft_status haft__insert_any(haft_local *local, const void *haft__object, haft_id *id,
                                       const void *caller)
{
    haft_id inserted; /* `id` may lie in `object` */
    void *bytes;
    const haft_status status = haft__reserve(local, &inserted, &bytes, caller);

    if (status == HAFT_OK) {
        haft__slots_fill(&local->slots, bytes, haft__object);
        haft_local_publish(local, inserted);
        *id = inserted;
    }
    return status;
}

haft_status haft_local_insert(haft_local *local, const void *haft__object, haft_id *id)
{
    const struct haft__slots *slots = &local->slots;
    const bool is_common = haft__object != NULL && haft__object_is_words(slots->object_size);
    haft__atomic_u64 *at = is_common ? haft_local_front_take(local, slots->view, id) : NULL;

    if (at == NULL) {
        return haft__insert_any(local, haft__object, id, haft__CALLER);
    }
    haft__object_copy_words(haft__slots_object(at), haft__object, slots->object_size);
    haft__store_relaxed(OWN, at, id->bits);
    return HAFT_OK;
}

/* --- the way out --- */

HAFT_INTERNAL uint64_t haft__local_next_life(const haft_local *local, uint64_t word)
{
    const struct haft__word_format *format = &local->slots.format;
    const uint64_t next = haft__word_next_life(format, word, haft__MARK_END);

    return haft__word_generation(format, next) == 0 && local->wraps ? next | format->generation_one
                                                              : next;
}

/* A life has ended, `next` comes after it: generation 1 only if generations begin again. */
static void haft__note_wrap(haft_local *local, uint64_t next)
{
    const struct haft__word_format *format = &local->slots.format;

    local->slots.wrapped |= haft__word_generation(format, next) == format->generation_one;
}

/* Slot `index` has ended a life: onto the free list, or out of use after its last. */
static void haft__settle(haft_local *local, uint64_t index, uint64_t next)
{
    const struct haft__word_format *format = &local->slots.format;

    haft__slots_poison(&local->slots, haft__slots_word(&local->slots, index));
    if (haft__word_generation(format, next) == 0) {
        haft__store_relaxed(OWN, haft__slots_word(&local->slots, index),
                      haft__word_with_index(format, next, haft__MARK_EXHAUSTED));
        local->exhausted++;
        return;
    }
    haft__local_push(local, index, next);
}

/* Slot `index` waits for its destructor: on a stack through the slots' words, FREE at its end. */
static void haft__push_ending(haft_local *local, uint64_t index, uint64_t next)
{
    const uint64_t link = local->ending != haft__MARK_END ? local->ending : haft__MARK_FREE;

    assert(local->retired <= local->held && link != index);
    haft__store_relaxed(OWN, haft__slots_word(&local->slots, index),
                  haft__word_with_index(&local->slots.format, next, link));
    local->ending = index;
    local->held++;
    local->retired++;
}

static uint64_t haft__pop_ending(haft_local *local)
{
    const struct haft__word_format *format = &local->slots.format;
    const uint64_t index = local->ending;
    haft__atomic_u64 *at = haft__slots_word(&local->slots, index);
    const uint64_t word = haft__load_relaxed(OWN, at);
    const uint64_t link = haft__word_index(format, word);

    assert(index >= HAFT_FIRST_INDEX && index < local->used && local->retired != 0);
    local->ending = link != haft__MARK_FREE ? link : haft__MARK_END;
    haft__store_relaxed(OWN, at, haft__word_with_index(format, word, haft__MARK_FREE));
    return index;
}

/* The id whose life came before `next` in slot `index`: generation 0, which is none, is skipped. */
static haft_id haft__ended_life(const struct haft__word_format *format, uint64_t next, uint64_t index)
{
    haft_id id = haft__word_last_life(format, next, index);

    if (haft__word_generation(format, id.bits) == 0) {
        id.bits |= format->generation_mask;
    }
    return id;
}

/* While its destructor runs, a slot is in no list. */
static void haft__run_destructor(haft_local *local)
{
    const struct haft__word_format *format = &local->slots.format;
    const uint64_t index = haft__pop_ending(local);
    haft__atomic_u64 *at = haft__slots_word(&local->slots, index);
    const uint64_t next = haft__load_relaxed(OWN, at);

    local->on_destroy(haft__slots_object(at), haft__ended_life(format, next, index), local->destroy_arg);
    assert(haft__load_relaxed(OWN, at) == next && "a slot whose destructor runs is no other's");
    local->retired--;
    local->held--;
    haft__settle(local, index, next);
}

/* Run destructors that are due, and become due meanwhile: in a loop, as chains may be long. */
static void haft__run_destructors(haft_local *local)
{
    const int cancel = haft__os_cancel_off();
    const bool outer = local->in_callback;

    local->in_callback = true;
    while (local->ending != haft__MARK_END) {
        haft__run_destructor(local);
    }
    local->in_callback = outer;
    haft__os_cancel_restore(cancel);
}

/* End the live object `id`. */
static void haft__destroy(haft_local *local, haft_id id, const void *caller)
{
    const uint64_t index = haft__word_index(&local->slots.format, id.bits);
    const uint64_t next = haft__local_next_life(local, id.bits);
    const bool is_nested = local->retired != 0;

    assert(local->front.count != 0 && index < local->used);
    local->front.count--;
    haft__note_wrap(local, next);
    haft__sites_note_death(&local->slots.sites, index, caller);
    if (local->on_destroy == NULL) {
        haft__settle(local, index, next);
        return;
    }
    haft__push_ending(local, index, next);
    if (!is_nested) {
        haft__run_destructors(local);
    }
}

void haft_local_abort(haft_local *local, haft_id id)
{
    const uint64_t index = haft__word_index(&local->slots.format, id.bits);
    const uint64_t next = haft__local_next_life(local, haft__load_relaxed(OWN, haft__reserved_word(local, id)));

    local->held--;
    haft__note_wrap(local, next);
    haft__sites_note_death(&local->slots.sites, index, haft__CALLER);
    haft__settle(local, index, next);
}

haft_status haft_local_free(haft_local *local, haft_id id)
{
    if (haft_local_front_put(local, local->slots.view, id)) {
        return HAFT_OK;
    }
    if (!haft_is_live(local->slots.view, id)) {
        return haft_local_diagnose(local, id);
    }
    haft__destroy(local, id, haft__CALLER);
    return HAFT_OK;
}

static void haft__clear(haft_local *local, const void *caller)
{
    const int cancel = haft__os_cancel_off(); /* once: each destructor finds it off */

    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        const uint64_t word = haft__load_relaxed(OWN, haft__slots_word(&local->slots, index));

        if (haft__word_index(&local->slots.format, word) == index) {
            haft__destroy(local, (haft_id){word}, caller);
        }
    }
    haft__os_cancel_restore(cancel);
}

void haft_local_set_destroy(haft_local *local, haft_local_destroy *on_destroy, void *destroy_arg)
{
    assert(local->retired == 0 && "not from on_destroy");
    local->on_destroy = on_destroy;
    local->destroy_arg = destroy_arg;
    local->front.generation_mask = haft__local_mask_in_place(local);
}

haft_status haft_local_clear(haft_local *local)
{
    assert(local->held >= local->retired);
    if (local->held != local->retired) {
        return HAFT_IN_USE; /* a constructor may be writing to a reserved slot */
    }
    haft__clear(local, haft__CALLER);
    return HAFT_OK;
}

void haft_local_close(haft_local *local)
{
    assert(!local->in_callback && "a callback may not close its table");
    assert(haft__load_relaxed(OWN, &local->attached) == 0 && "sides are closed before their table");
    local->mode = haft__LOCAL_CLOSING;
    haft__local_begin_list(local);
    haft__leaks_report(&local->slots, local->name, local->used);
    while (local->on_destroy != NULL && local->front.count != 0) {
        haft__clear(local, haft__CALLER); /* once more for reservations that a destructor has published */
    }
    haft__slots_unpoison_all(&local->slots, local->used);
    haft__slots_close(&local->slots);
    haft__local_free(local);
}

/* --- looking --- */

haft_status haft_local_diagnose(const haft_local *local, haft_id id)
{
    return haft__slots_diagnose(&local->slots, id);
}

haft_status haft_local_id_at(const haft_local *local, uint64_t index, haft_id *id)
{
    return haft__slots_id_at(&local->slots, index, id);
}

haft_range haft_local_used_range(const haft_local *local)
{
    return HAFT_RANGE(HAFT_FIRST_INDEX, local->used);
}

uint64_t haft_local_for_each(haft_local *local, bool (*visit)(haft_id id, void *haft__object, void *arg),
                             void *arg)
{
    struct haft__slots *slots = &local->slots;
    uint64_t calls = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        haft__atomic_u64 *at = haft__slots_word(slots, index);
        const haft_id id = {haft__load_relaxed(OWN, at)};

        if (haft__word_index(&slots->format, id.bits) != index) {
            continue;
        }
        calls++;
        if (!visit(id, haft__slots_object(at), arg)) {
            break;
        }
    }
    return calls;
}

/* lib/local/local_explain.c */

/* A local table's statuses and ids, in words. */

int haft_local_explain(const haft_local *local, haft_status status, char *line, size_t size)
{
    struct haft__text text = haft__text_in(line, size);
    const struct haft__use haft__use = {local->front.count, local->held, local->exhausted};

    haft__text_add(&text, "%s: ", local->name);
    if (status == HAFT_FULL && local->mode == haft__LOCAL_CLOSING) {
        haft__text_add(&text, "full: it is being closed");
    } else if (status == HAFT_FULL) {
        haft__explain_full(&text, local->capacity, &haft__use);
    } else if (status == HAFT_NO_MEMORY) {
        haft__explain_no_memory(&text, &local->slots, local->used - HAFT_FIRST_INDEX);
    } else {
        haft__text_add(&text, "%s", haft_status_text(status));
    }
    return haft__text_length(&text);
}

int haft_local_diagnose_format(const haft_local *local, haft_id id, char *text, size_t size)
{
    return haft__sites_describe(&local->slots, local->name, id, haft_local_diagnose(local, id), text,
                          size);
}

void *haft_local_require_failed(const haft_local *local, haft_id id, const void *slots)
{
    assert(slots == local->slots.view.base && "the view is the table's");
    (void)slots;
    haft__bad_access(&local->slots, local->name, id, haft_local_diagnose(local, id));
    return NULL;
}

/* lib/local/local_list.c */

/*
 * haft_local: free slots, a stack or a queue through their words.
 *
 * Edges in this file.
 *   OWN   one thread uses the table; resolve reads the word as an atomic, so it is one here too
 */

static uint64_t haft__word_at(const haft_local *local, uint64_t index)
{
    return haft__load_relaxed(OWN, haft__slots_word(&local->slots, index));
}

/* The free slot after `index` in the list. */
static uint64_t haft__next_of(const haft_local *local, uint64_t index)
{
    return haft__word_index(&local->slots.format, haft__word_at(local, index));
}

static void haft__set_next(haft_local *local, uint64_t index, uint64_t next)
{
    const uint64_t word = haft__word_with_index(&local->slots.format, haft__word_at(local, index), next);

    haft__store_relaxed(OWN, haft__slots_word(&local->slots, index), word);
}

/* The list, as far as a walk goes: free slots that were used, and as many as are counted. */
static HAFT_UNUSED bool haft__list_is_whole(haft_local *local)
{
    uint64_t at = *haft__local_head(local);
    uint64_t count = 0;

    for (; at != haft__MARK_END && count < haft__WALK_MOST; count++) {
        if (at < HAFT_FIRST_INDEX || at >= local->used ||
            !haft__local_is_free(local, at, haft__word_at(local, at))) {
            return false;
        }
        at = haft__next_of(local, at);
    }
    return local->is_in_place ||
           (at == haft__MARK_END ? count == local->queue_count : count < local->queue_count);
}

HAFT_INTERNAL void haft__local_begin_list(haft_local *local)
{
    local->is_in_place = local->mode == haft__LOCAL_OPEN && !local->is_fifo && !local->is_crowded;
    local->front = (struct haft_local_front){
        .head = haft__MARK_END,
        .count = local->front.count,
        .index_mask = local->slots.format.index_mask,
        .generation_one = local->slots.format.generation_one,
        .generation_mask = haft__local_mask_in_place(local),
    };
    local->listed_head = haft__MARK_END;
    local->queue_count = 0;
}

/* The next slot of a list that is not in place. */
static uint64_t haft__pop_listed(haft_local *local)
{
    const uint64_t index = local->listed_head;

    assert(local->queue_count != 0 && index >= HAFT_FIRST_INDEX && index < local->used);
    local->listed_head = (uint32_t)haft__next_of(local, index);
    local->queue_count--;
    haft__assert_walk(haft__list_is_whole(local));
    return index;
}

static void haft__push_queue(haft_local *local, uint64_t index)
{
    assert(!local->is_in_place && local->queue_count < local->used);
    if (local->queue_count == 0) {
        local->listed_head = (uint32_t)index;
    } else {
        haft__set_next(local, local->queue_tail, index);
    }
    local->queue_tail = index;
    local->queue_count++;
    haft__assert_walk(haft__list_is_whole(local));
}

/* Slot `index` is free, and used before all others in the list. */
static void haft__push_first(haft_local *local, uint64_t index, uint64_t word)
{
    uint32_t *head = haft__local_head(local);

    assert(local->mode == haft__LOCAL_OPEN && index < local->used && *head != index);
    haft__store_relaxed(OWN, haft__slots_word(&local->slots, index),
                  haft__word_with_index(&local->slots.format, word, *head));
    *head = (uint32_t)index;
    if (!local->is_in_place) {
        local->queue_tail = local->queue_count == 0 ? index : local->queue_tail;
        local->queue_count++;
    }
    haft__assert_walk(haft__list_is_whole(local));
}

HAFT_INTERNAL void haft__local_push(haft_local *local, uint64_t index, uint64_t word)
{
    assert(index >= HAFT_FIRST_INDEX && index < local->used);
    assert(haft__word_generation(&local->slots.format, word) != 0 && "an exhausted slot is in no list");
    if (local->mode == haft__LOCAL_OPEN && !local->is_fifo) {
        haft__push_first(local, index, word);
        return;
    }
    haft__store_relaxed(OWN, haft__slots_word(&local->slots, index),
                  haft__word_with_index(&local->slots.format, word, haft__MARK_END));
    if (local->mode == haft__LOCAL_OPEN) {
        haft__push_queue(local, index);
    }
}

/* List the slots from `first` on, below `end`, in order, at the front: none was freed just now. */
static void haft__list_fresh(haft_local *local, uint64_t first, uint64_t end)
{
    for (uint64_t index = end; index-- > first;) {
        haft__push_first(local, index, haft__slots_begin_at(&local->slots, index, 0));
    }
}

static uint64_t haft__take_fresh_slot(haft_local *local)
{
    if (local->fresh_at == local->fresh_end) {
        const uint64_t haft__run = haft__fresh_runs_pop(&local->slots.runs);

        local->fresh_at = haft__runs_first(&local->slots.runs, haft__run);
        local->fresh_end = haft__runs_end(&local->slots.runs, haft__run);
    }
    assert(local->fresh_slots != 0 && local->fresh_at < local->fresh_end);
    local->fresh_slots--;
    return local->fresh_at++;
}

HAFT_INTERNAL haft_status haft__local_take(haft_local *local, uint64_t *index)
{
    if (local->mode == haft__LOCAL_LOADING) {
        return HAFT_LOADING;
    }
    if (local->mode == haft__LOCAL_CLOSING || haft__local_available(local) == 0) {
        return HAFT_FULL;
    }
    if (local->queue_count > local->min_free) {
        *index = haft__pop_listed(local);
        return HAFT_OK;
    }
    if (local->fresh_slots != 0) {
        *index = haft__take_fresh_slot(local);
        return HAFT_OK;
    }
    assert(local->used < local->slots.limit);
    const haft_status status = haft__slots_commit(&local->slots, local->used + 1);

    if (status == HAFT_OK) {
        *index = local->used++;
    }
    return status;
}

/* Put all slots of the fresh run that `index` is in into the list. */
static void haft__list_fresh_run(haft_local *local, uint64_t index)
{
    struct haft__runs *runs = &local->slots.runs;
    const uint64_t haft__run = haft__runs_of(runs, index);
    uint64_t first = local->fresh_at;
    uint64_t end = local->fresh_end;

    if (index >= first && index < end) {
        local->fresh_at = end;
    } else {
        haft__fresh_runs_remove(runs, haft__run);
        first = haft__runs_first(runs, haft__run);
        end = haft__runs_end(&local->slots.runs, haft__run);
    }
    assert(index >= first && index < end && local->fresh_slots >= end - first);
    local->fresh_slots -= end - first;
    haft__list_fresh(local, first, end);
}

/* Take slot `index` out of the list, which `before` precedes in it: MARK_END for none. */
static void haft__unlink_slot(haft_local *local, uint64_t index, uint64_t before)
{
    const uint64_t next = haft__next_of(local, index);

    assert(next != index && (local->is_in_place || local->queue_count != 0));
    if (before == haft__MARK_END) {
        *haft__local_head(local) = (uint32_t)next;
    } else {
        haft__set_next(local, before, next);
    }
    if (!local->is_in_place) {
        local->queue_count--;
        local->queue_tail = next == haft__MARK_END ? before : local->queue_tail;
    }
    haft__assert_walk(haft__list_is_whole(local));
}

HAFT_INTERNAL void haft__local_claim(haft_local *local, uint64_t index)
{
    const uint64_t used = local->used;

    assert(index >= HAFT_FIRST_INDEX && index < local->slots.limit);
    if (index >= used) {
        local->used = index + 1;
    }
    if (local->mode != haft__LOCAL_OPEN) {
        return;
    }
    if (index >= used) {
        haft__list_fresh(local, used, index);
        return;
    }
    if (haft__word_at(local, index) == 0) {
        haft__list_fresh_run(local, index);
    }
    uint64_t before = haft__MARK_END;

    for (uint64_t at = *haft__local_head(local); at != index; at = haft__next_of(local, at)) {
        assert(at != haft__MARK_END);
        before = at;
    }
    haft__unlink_slot(local, index, before);
}

HAFT_INTERNAL bool haft__local_is_ending(const haft_local *local, uint64_t index)
{
    uint64_t at = local->ending;

    while (at != haft__MARK_END && at != haft__MARK_FREE && at != index) {
        at = haft__next_of(local, at);
    }
    return at == index;
}

HAFT_INTERNAL void haft__local_drop_chosen(haft_local *local)
{
    const struct haft__runs *runs = &local->slots.runs;
    uint64_t before = haft__MARK_END;

    for (uint64_t at = *haft__local_head(local), next; at != haft__MARK_END; at = next) {
        next = haft__next_of(local, at);
        if (haft__runs_link(runs, haft__runs_of(runs, at)) == haft__RUN_CHOSEN) {
            haft__unlink_slot(local, at, before);
        } else {
            before = at;
        }
    }
}

/* Whether a run is wholly fresh.  If `used` ends in it, it is not: slots would be found twice. */
static bool haft__is_fresh_run(const haft_local *local, uint64_t haft__run)
{
    const uint64_t end = haft__runs_end(&local->slots.runs, haft__run);
    uint64_t index = haft__runs_first(&local->slots.runs, haft__run);

    if (end > local->used) {
        return false;
    }
    while (index < end && haft__word_at(local, index) == 0) {
        index++;
    }
    return index == end;
}

/* All runs that are wholly fresh, lowest first, become the list of fresh runs. */
static void haft__gather_fresh_runs(haft_local *local)
{
    struct haft__runs *runs = &local->slots.runs;

    runs->first = haft__RUN_LAST;
    if (runs->stay) {
        return;
    }
    for (uint64_t haft__run = haft__runs_of(runs, local->used - 1); haft__run >= haft__runs_least(runs); haft__run--) {
        if (haft__is_fresh_run(local, haft__run) && haft__runs_prepare(&local->slots.runs, local->used) == HAFT_OK) {
            haft__fresh_runs_push(runs, haft__run);
            local->fresh_slots += haft__runs_end(&local->slots.runs, haft__run) - haft__runs_first(runs, haft__run);
        } else if (runs->records != NULL && haft__runs_link(runs, haft__run) != haft__RUN_IN_USE) {
            haft__runs_set_link(runs, haft__run, haft__RUN_IN_USE);
        }
    }
}

HAFT_INTERNAL void haft__local_rebuild(haft_local *local)
{
    const struct haft__runs *runs = &local->slots.runs;

    assert(local->ending == haft__MARK_END && "no callback runs");
    haft__local_begin_list(local);
    local->fresh_at = local->fresh_end;
    local->fresh_slots = 0;
    haft__gather_fresh_runs(local);
    for (uint64_t i = HAFT_FIRST_INDEX; i < local->used; i++) {
        const uint64_t index = local->is_fifo ? i : HAFT_FIRST_INDEX + (local->used - 1 - i);
        const uint64_t word = haft__word_at(local, index);

        if (haft__local_is_free(local, index, word) &&
            (runs->records == NULL || haft__runs_link(runs, haft__runs_of(runs, index)) == haft__RUN_IN_USE)) {
            haft__local_push(local, index, haft__slots_begin_at(&local->slots, index, word));
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
static haft_status haft__populate_listed(haft_local *local, uint64_t most)
{
    const struct haft__slots *slots = &local->slots;
    uint64_t next = *haft__local_head(local);
    haft_status status = HAFT_OK;

    while (most != 0 && status == HAFT_OK) {
        uint64_t first = next;
        uint64_t end = next;

        do {
            first = next < first ? next : first;
            end = next < end ? end : next + 1;
            next = haft__word_index(&slots->format, haft__load_relaxed(OWN, haft__slots_word(slots, next)));
        } while (--most != 0 && (next == end || next + 1 == first));
        status = haft__slots_populate(slots, first, end);
    }
    return status;
}

/* Touch the next `most` slots of the fresh runs, which are at least as many. */
static haft_status haft__populate_fresh(const haft_local *local, uint64_t most)
{
    const struct haft__slots *slots = &local->slots;
    const uint64_t left = local->fresh_end - local->fresh_at;
    uint64_t touched = left < most ? left : most;
    haft_status status = haft__slots_populate(slots, local->fresh_at, local->fresh_at + touched);

    for (uint64_t haft__run = slots->runs.first; touched < most && status == HAFT_OK;
         haft__run = haft__runs_link(&slots->runs, haft__run)) {
        const uint64_t first = haft__runs_first(&slots->runs, haft__run);
        const uint64_t size = haft__runs_end(&slots->runs, haft__run) - first;
        const uint64_t part = size < most - touched ? size : most - touched;

        status = haft__slots_populate(slots, first, first + part);
        touched += part;
    }
    return status;
}

haft_status haft_local_reserve_capacity(haft_local *local, uint64_t count)
{
    const uint64_t listed = haft__local_listed(local);
    const uint64_t ready = listed > local->min_free ? listed - local->min_free : 0;

    if (local->mode == haft__LOCAL_LOADING) {
        return HAFT_LOADING;
    }
    if (local->mode == haft__LOCAL_CLOSING || count > haft__local_available(local)) {
        return HAFT_FULL;
    }
    const uint64_t more = count > ready ? count - ready : 0;
    const uint64_t in_runs = local->fresh_slots < more ? local->fresh_slots : more;
    const uint64_t end = local->used + more - in_runs;
    haft_status status = haft__slots_commit(&local->slots, end);

    if (status == HAFT_OK) {
        status = haft__populate_listed(local, count < ready ? count : ready);
    }
    status = status == HAFT_OK ? haft__populate_fresh(local, in_runs) : status;
    status = status == HAFT_OK ? haft__slots_populate(&local->slots, local->used, end) : status;
    return status;
}

/* --- released --- */

/* The slots freed last have to stay in the queue: their runs are kept. */
static void haft__keep_youngest(haft_local *local)
{
    struct haft__runs *runs = &local->slots.runs;
    uint64_t older =
        local->queue_count > local->min_free ? local->queue_count - local->min_free : 0;

    for (uint64_t at = local->listed_head; local->min_free != 0 && at != haft__MARK_END;) {
        if (older != 0) {
            older--;
        } else {
            haft__runs_set_link(runs, haft__runs_of(runs, at), haft__RUN_KEPT);
        }
        at = haft__word_index(&local->slots.format, haft__load_relaxed(OWN, haft__slots_word(&local->slots, at)));
    }
}

/* The highest word that a slot of the run begins from; 0 if the run is in use. */
static uint64_t haft__floor_of_run(const haft_local *local, uint64_t haft__run)
{
    const uint64_t end = haft__runs_end(&local->slots.runs, haft__run);
    uint64_t floor = 0;

    if (haft__run < haft__runs_least(&local->slots.runs) || end > local->used) {
        return 0;
    }
    for (uint64_t index = haft__runs_first(&local->slots.runs, haft__run); index < end; index++) {
        const uint64_t word = haft__load_relaxed(OWN, haft__slots_word(&local->slots, index));

        if (!haft__local_is_free(local, index, word)) {
            return 0;
        }
        const uint64_t begin =
            haft__word_with_index(&local->slots.format, haft__slots_begin_at(&local->slots, index, word), 0);

        floor = begin > floor ? begin : floor;
    }
    return floor;
}

/* Choose the runs to release, with their floors; how many. */
static uint64_t haft__choose_runs(haft_local *local)
{
    struct haft__runs *runs = &local->slots.runs;
    uint64_t chosen = 0;

    for (uint64_t haft__run = 0; haft__run <= haft__runs_of(runs, local->used - 1); haft__run++) {
        const uint64_t link = haft__runs_link(runs, haft__run);
        const uint64_t floor = link == haft__RUN_IN_USE ? haft__floor_of_run(local, haft__run) : 0;

        if (floor != 0) {
            haft__runs_set_link(runs, haft__run, haft__RUN_CHOSEN);
            haft__runs_set_floor(runs, haft__run, floor);
            haft__sites_forget(&local->slots.sites, haft__runs_first(runs, haft__run), haft__runs_end(runs, haft__run));
            chosen++;
        } else if (link == haft__RUN_KEPT) {
            haft__runs_set_link(runs, haft__run, haft__RUN_IN_USE);
        }
    }
    return chosen;
}

static void haft__make_fresh(haft_local *local, uint64_t haft__run)
{
    haft__fresh_runs_push(&local->slots.runs, haft__run);
    local->fresh_slots += haft__runs_end(&local->slots.runs, haft__run) - haft__runs_first(&local->slots.runs, haft__run);
}

/* Make the chosen runs fresh ones, those that lie together at once; the bytes released. */
static uint64_t haft__release_chosen_runs(haft_local *local)
{
    struct haft__runs *runs = &local->slots.runs;
    uint64_t bytes = 0;

    haft__local_drop_chosen(local);
    if (local->fresh_at != local->fresh_end &&
        haft__runs_link(runs, haft__runs_of(runs, local->fresh_at)) == haft__RUN_CHOSEN) {
        local->fresh_slots -= local->fresh_end - local->fresh_at;
        local->fresh_at = local->fresh_end;
    }
    uint64_t haft__run = haft__runs_of(runs, local->used - 1) + 1;

    while (haft__run > haft__runs_least(runs)) {
        const uint64_t end = haft__run;

        while (haft__run > haft__runs_least(runs) && haft__runs_link(runs, haft__run - 1) == haft__RUN_CHOSEN) {
            haft__make_fresh(local, --haft__run);
        }
        if (haft__run != end) {
            bytes += haft__slots_release(&local->slots, haft__run, end);
        } else {
            haft__run--;
        }
    }
    return bytes;
}

haft_status haft_local_trim(haft_local *local, uint64_t *released)
{
    uint64_t bytes = 0;

    if (local->mode == haft__LOCAL_LOADING) {
        return HAFT_LOADING;
    }
    /* Where generations begin again, the highest is not the last. */
    if (local->mode == haft__LOCAL_OPEN && local->slots.wrapped) {
        return HAFT_BAD_WRAP;
    }
    if (local->mode == haft__LOCAL_OPEN && !local->slots.runs.stay && local->ending == haft__MARK_END) {
        const haft_status status = haft__runs_prepare(&local->slots.runs, local->used);

        if (status != HAFT_OK) {
            return status;
        }
        haft__keep_youngest(local);
        if (haft__choose_runs(local) != 0) {
            bytes = haft__release_chosen_runs(local);
        }
    }
    if (released != NULL) {
        *released = bytes;
    }
    return HAFT_OK;
}

/* lib/local/local_stats.c */

/* The statistics of a table of one thread. */

haft_local_stats haft_local_stats_get(const haft_local *local)
{
    return (haft_local_stats){
        .live = local->front.count,
        .reserved = local->held - local->retired,
        .retired = local->retired,
        .free = haft__local_listed(local),
        .exhausted = local->exhausted,
        .released = local->fresh_slots,
        .high_water = local->used - HAFT_FIRST_INDEX,
        .capacity = local->capacity,
        .limit = local->slots.limit - HAFT_FIRST_INDEX,
        .bytes =
            haft__local_block_size(local) + haft__slots_bytes(&local->slots, local->used, local->fresh_slots),
    };
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
 *   RESERVED   0: reserved by a caller.  1: being destroyed.  2: exhausted.  4 and above:
 *              being destroyed in a chain, before that slot
 *   LIVE       the number of holders
 *   ENDED      freed while it was held: the number of holders, never 0
 *
 * The id's generation is the low bits of the life, as many as the layout has.  A life whose low
 * bits are 0 is never LIVE: with `wrap` it is skipped, else the slot is exhausted then.
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
 *          RESERVED -> RESERVED 2                by the call that destroys: no life is left
 *          RESERVED -> FREE                      by the call that destroys: put into a list
 *          FREE -> FREE, another link            by the call that puts it into a shard, and finds
 *                                                that the shard's head has changed
 *          FREE, link 0 -> another slot, or 1    of the queue's last slot, by any thread, with CAS
 *
 * Invariant: from LIVE on to the end only compare-and-swaps change a word, and the link of the
 * queue's last slot; else it is written by the slot's one owner.  A FREE slot is in one list, or in
 * the hand of one call.
 */

enum haft__counted_state { haft__COUNTED_FREE = 0, haft__COUNTED_RESERVED = 1, haft__COUNTED_LIVE = 2, haft__COUNTED_ENDED = 3 };

#define haft__COUNTED_LOW_BITS 30
#define haft__COUNTED_LOW_MASK ((UINT64_C(1) << haft__COUNTED_LOW_BITS) - 1)
#define haft__COUNTED_MOST_HOLDERS haft__COUNTED_LOW_MASK

/* In a head: no slot; no slot ever again.  In a word that is RESERVED: of a caller; being
 * destroyed; for ever. */
enum haft__counted_mark { haft__COUNTED_NONE = 0, haft__COUNTED_CLOSED = 1 };
enum haft__counted_purpose { haft__COUNTED_FOR_CALLER = 0, haft__COUNTED_ENDING = 1, haft__COUNTED_EXHAUSTED = 2 };

static inline uint64_t haft__counted_word(uint32_t life, enum haft__counted_state state, uint64_t low)
{
    assert(low <= haft__COUNTED_LOW_MASK);
    return (uint64_t)life << 32 | (uint64_t)state << haft__COUNTED_LOW_BITS | low;
}

static inline uint32_t haft__counted_life(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

static inline enum haft__counted_state haft__counted_state_of(uint64_t word)
{
    return (enum haft__counted_state)(word >> haft__COUNTED_LOW_BITS & 3);
}

static inline uint64_t haft__counted_low(uint64_t word)
{
    return word & haft__COUNTED_LOW_MASK;
}

/* ENDED, with one holder: its release is the last. */
static inline bool haft__counted_is_last(uint64_t word)
{
    return (uint32_t)word == (uint32_t)haft__counted_word(0, haft__COUNTED_ENDED, 1);
}

/*
 * concurrent/counted/state.h - the structs of the counted table.
 *
 * The block has all that threads share: slots refer to each other by index.  What belongs to the
 * process (callbacks, names) is in haft_counted.
 *
 * Edges in this file.
 *   COUNT   slots that can be read: an id that was issued came to a thread after its slot did
 */

#define haft__COUNTED_MOST_SHARDS 16

/* A head: how often it was taken from 34 | the first slot 30. */
struct haft__counted_head {
    _Alignas(haft__CACHE_LINE) haft__atomic_u64 word;
};

#define haft__COUNTED_KIND 0x746E756Fu /* what the block of a counted table begins with */
#define haft__COUNTED_VERSION 1u

struct haft__counted_block {
    uint32_t kind;
    uint32_t version;
    struct haft__counted_head fresh;    /* the first index never used, and FRESH_IS_CLOSED */
    struct haft__counted_head returned; /* see returned.h */
    struct haft__counted_head heads[];  /* of the shards; or of the queue, then its tail */
};

struct haft_counted {
    /* Of each call. */
    uintptr_t base; /* where slot 0's word would be */
    uint64_t stride;
    uint64_t index_mask;
    uint64_t slot_count;
    uint64_t one_word_count; /* as slot_count if copies are of one word, else 0 */
    uint64_t less_tag;       /* to be added to an id above a state: it takes the tag away */
    uint64_t match_mask; /* generation and state, in a word that was shifted down to the state */
    uint8_t index_bits;
    bool wraps;
    bool copies;
    bool wipes;
    bool is_plain;  /* an end is no more than a free slot: no on_destroy, wipe, queue, poison */
    bool has_words; /* an insertion is no more than a few words into a slot of a shard */
    uint32_t generation_mask;
    uint32_t first_life;
    uint32_t shard_mask;
    struct haft__counted_block *block;
    size_t object_size;
    uint64_t min_free; /* 0: shards; else the queue keeps that many */
    haft_counted_destroy *on_destroy;
    void *destroy_arg;

    uint64_t capacity;
    struct haft__word_format format;
    struct haft__reservation memory; /* the block and the slots */
    haft_allocator heap;       /* for this struct and a small block */
    bool is_given;             /* in the program's memory */
    const char *name;          /* behind this struct */
    haft_on_bad_access *on_bad_access;
    void *report_arg;

    /* Of the thread that closes: see counted.c. */
    uint64_t owned;  /* slots that closing has taken */
    uint64_t linked; /* of those in the queue's history: completed pushes count them once more */

    haft__atomic_u64 ready_count; /* of the slots, those whose memory is ready: see free_slots.c */

    uint64_t number;         /* of the counted tables opened in this process: 1 and so on */
    haft_counted *next_open; /* see open_list.c */
    haft_counted **open_link;
};

/* The word of slot `index`; its object lies behind it. */
static inline haft__atomic_u64 *haft__counted_at(const haft_counted *table, uint64_t index)
{
    assert(index >= HAFT_FIRST_INDEX && index - HAFT_FIRST_INDEX < table->slot_count);
    return (haft__atomic_u64 *)(table->base + (uintptr_t)(index * table->stride));
}

static inline void *haft__counted_object(haft__atomic_u64 *at)
{
    return at + 1;
}

static inline uint64_t haft__counted_index(const haft_counted *table, haft_id id)
{
    return id.bits & table->index_mask;
}

/* The word of the slot that `id` names; NULL if the table has no such slot, or its memory is not
 * ready: then no id of it was ever issued. */
static inline haft__atomic_u64 *haft__counted_find(const haft_counted *table, haft_id id)
{
    const uint64_t index = haft__counted_index(table, id);
    const uint64_t readable =
        haft__OS_READS_IN_STEPS ? haft__load_relaxed(COUNT, &table->ready_count) : table->slot_count;

    return index - HAFT_FIRST_INDEX < readable ? haft__counted_at(table, index) : NULL;
}

/* Whether `word` has that state, and the generation of `id`, which has the table's tag. */
static inline bool haft__counted_fits(const haft_counted *table, uint64_t word, haft_id id,
                                enum haft__counted_state state)
{
    const uint64_t wanted = (id.bits >> table->index_bits << 2) + table->less_tag + state;

    return (word >> haft__COUNTED_LOW_BITS & table->match_mask) == wanted;
}

/* Whether `word` is LIVE or ENDED, with the generation of `id`: their state has the high bit. */
static inline bool haft__counted_is_of(const haft_counted *table, uint64_t word, haft_id id)
{
    const uint64_t wanted = (id.bits >> table->index_bits << 2) + table->less_tag + haft__COUNTED_LIVE;
    const uint64_t either = haft__COUNTED_LIVE ^ haft__COUNTED_ENDED;

    return (word >> haft__COUNTED_LOW_BITS & table->match_mask & ~either) == wanted;
}

/* Whether a slot in that life has lived all its generations. */
static inline bool haft__counted_is_exhausted(const haft_counted *table, uint32_t life)
{
    return (life & table->generation_mask) == 0;
}

/* The id of slot `index` in that life. */
static inline haft_id haft__counted_id(const haft_counted *table, uint64_t index, uint32_t life)
{
    assert(!haft__counted_is_exhausted(table, life) && "generation 0 is no life");
    const haft_id id = {table->format.tag |
                        (uint64_t)(life & table->generation_mask) << table->index_bits | index};

    return id;
}

/* The life after `life`; after the last of 32 bits, one that tells that the slot has wrapped. */
static inline uint32_t haft__counted_next(const haft_counted *table, uint32_t life)
{
    const uint32_t next = life + 1;

    if (!haft__counted_is_exhausted(table, next) || !table->wraps) {
        return next;
    }
    return (next != 0 ? next : table->generation_mask + 1) | 1;
}

/* A life before `life`, which is not a slot's first, with the generation of the last one. */
static inline uint32_t haft__counted_before(const haft_counted *table, uint32_t life)
{
    const uint32_t before = life - 1;

    assert((life != table->first_life || table->wraps) && "there is one before");
    return haft__counted_is_exhausted(table, before) ? before - 1 : before;
}

/* The life that a slot goes on with: a fresh one with the first. */
static inline uint32_t haft__counted_begin(const haft_counted *table, uint64_t word)
{
    return word == 0 ? table->first_life : haft__counted_life(word);
}

/* Bytes of memory that the table takes, with the slots below index `end`. */
static inline uint64_t haft__counted_bytes(const haft_counted *table, uint64_t end)
{
    const uint64_t begun =
        (uint64_t)(table->base - (uintptr_t)table->memory.base) + end * table->stride;
    const bool is_paged = haft__reservation_is_paged(&table->memory);

    return haft__size_with_name(sizeof *table, table->name) +
           (is_paged ? begun : table->memory.size + table->memory.more);
}

/*
 * concurrent/counted/destroy.h - the end of an object: on_destroy, then its slot is free.
 *
 * An object that ends inside an on_destroy of its table is put into a chain, and destroyed by the
 * outermost call when that on_destroy has returned: a loop instead of a recursion, whose stack a
 * list of objects would overflow.
 */

/* What an ended slot's word becomes: of the next life, the caller's alone. */
static inline uint64_t haft__destroy_word(const haft_counted *table, uint64_t word)
{
    assert(haft__counted_is_last(word) ||
           (haft__counted_low(word) == 0 && (haft__counted_state_of(word) == haft__COUNTED_LIVE ||
                                       haft__counted_state_of(word) == haft__COUNTED_RESERVED)));
    return haft__counted_word(haft__counted_next(table, haft__counted_life(word)), haft__COUNTED_RESERVED, haft__COUNTED_ENDING);
}

/* Destroy the object of slot `index`, whose word destroy_word() made; the slot is free then. */
HAFT_INTERNAL void haft__destroy_object(haft_counted *table, uint64_t index);

/* The same without on_destroy: the object was given up or taken out. */
HAFT_INTERNAL void haft__destroy_silently(haft_counted *table, uint64_t index);

/* Whether the calling thread runs an on_destroy of the table. */
HAFT_INTERNAL bool haft__destroy_is_under_way(const haft_counted *table);

/*
 * concurrent/counted/free_slots.h - where free slots are: in a shard or in the queue, or fresh.
 *
 * A slot goes from a list to a call and from the call to a list, never several at once and never
 * from list to list: slots in flight would make FULL a lie.
 */

/* Heads that a table with these options has. */
HAFT_INTERNAL uint64_t haft__free_slots_heads(uint64_t capacity, uint64_t min_free);

/* Of a table whose block is all zero: nothing was used yet. */
HAFT_INTERNAL void haft__free_slots_setup(haft_counted *table);

/* A free slot, the caller's from now on: HAFT_OK, HAFT_FULL, HAFT_NO_MEMORY or HAFT_CLOSED. */
HAFT_INTERNAL haft_status haft__free_slots_take(haft_counted *table, uint64_t *index);

/*
 * Slot `index`, the caller's, is free for `life`.  Where the table is being closed this may be the
 * caller's last access to it.
 */
HAFT_INTERNAL void haft__free_slots_give(haft_counted *table, uint64_t index, uint32_t life);

/* One more than the highest index ever used. */
HAFT_INTERNAL uint64_t haft__free_slots_end(const haft_counted *table);

/* Take all free slots; from now on the calls above find the table closed.  By one thread. */
HAFT_INTERNAL void haft__free_slots_close(haft_counted *table);

/*
 * concurrent/counted/open_list.h - the counted tables that are open in this process, newest first.
 */

/* The list's lock, which forks wait for.  It is taken after the registry's, never before. */
HAFT_INTERNAL void haft__open_list_lock(void);
HAFT_INTERNAL void haft__open_list_unlock(void);

/* A table is in the list while its statistics can be taken. */
HAFT_INTERNAL void haft__open_list_add(haft_counted *table);
HAFT_INTERNAL void haft__open_list_remove(haft_counted *table);

/* Under the lock: the newest, which leads to the others by `next_open`; or NULL. */
HAFT_INTERNAL const haft_counted *haft__open_list_first(void);

/*
 * concurrent/counted/returned.h - slots that no call will use again: how closing knows that no call
 * is under way.
 *
 * A call that finds the table closed, or exhausts a slot, counts it here instead of giving it to a
 * list.  With min_free each slot given to the queue counts as well: see queue.c.
 *
 * Edges in this file.
 *   RETURN   returned_add (release) -> returned_count (acquire)   all uses of a slot before the
 *            table's memory is released
 */

/* A thread waits for the next one. */
#define haft__RETURNED_IS_AWAITED (UINT64_C(1) << 63)

/* The caller's last access to the table, if that is closed. */
static inline void haft__returned_add(haft_counted *table)
{
    haft__atomic_u64 *returned = &table->block->returned.word;

    /* Weakened, the table's memory could be released under the call's last write to the slot. */
    if ((haft__fetch_add_release(RETURN, returned, 1) & haft__RETURNED_IS_AWAITED) != 0) {
        haft__os_wake_address(returned); /* the address alone: the memory may be gone */
    }
}

static inline uint64_t haft__returned_count(const haft_counted *table)
{
    /* Weakened, the memory could be released under a call that was counted. */
    return haft__load_acquire(RETURN, &table->block->returned.word) & ~haft__RETURNED_IS_AWAITED;
}

/*
 * concurrent/counted/values.h - the bytes of counted objects: written, wiped and copied out.
 *
 * In a table with `copies` a thread may read an object's words while another writes the next
 * object's: each word is atomic there, and rounded up to 8 bytes.  Objects are of the program's
 * types, so the words are read and written by builtins on a type that may alias them.
 *
 * Edges in this file.
 *   VALUE   write_words (release) -> values_read (acquire)   the end of a slot's last life
 *           before the words of the next object: a reader of one of these sees that end as well
 */

#define haft__VALUES_MOST_BYTES 64u /* of an object that is copied */

/* Copy an object into its slot; NULL stands for zeros.  values_write_any: of whatever size. */
HAFT_INTERNAL void haft__values_write_any(const haft_counted *table, void *haft__object, const void *from);

/* The object's bytes become zeros, in the eyes of every reader. */
HAFT_INTERNAL void haft__values_wipe(const haft_counted *table, void *haft__object);

/* The words of an object that is copied, beside other threads. */
static inline void haft__values_read(const void *haft__object, uint64_t *words, size_t size)
{
    assert(size <= haft__VALUES_MOST_BYTES);
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        /* Weakened, the slot's word, which is read next, could be older than this one. */
        words[at / sizeof(uint64_t)] = haft__bytes_load_acquire(VALUE, (const char *)haft__object + at);
    }
}

/* Bytes of a free object may not be touched, unless copies are looked for there. */
static inline void haft__values_poison(const haft_counted *table, const void *haft__object)
{
    if (!table->copies) {
        haft__asan_poison_object(haft__object, table->object_size);
    }
}

static inline void haft__values_unpoison(const haft_counted *table, const void *haft__object)
{
    haft__asan_unpoison(haft__object, table->object_size);
}

/* All objects below index `end`, of a table that closes, may be touched: the memory is reused. */
static inline void haft__values_unpoison_all(const haft_counted *table, uint64_t end)
{
    const uintptr_t first = table->base + (uintptr_t)(HAFT_FIRST_INDEX * table->stride);

    haft__asan_unpoison((const void *)first, (size_t)((end - HAFT_FIRST_INDEX) * table->stride));
}

static inline void haft__values_write(const haft_counted *table, void *haft__object, const void *from)
{
    const size_t size = table->object_size;

    if (!haft__object_is_words(size) || from == NULL || table->copies) {
        haft__values_write_any(table, haft__object, from);
    } else {
        haft__object_copy_words(haft__object, from, size);
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
 *   COUNT    which slots may be live: frees decide; and a waiter's mark, in the word that has the
 *            count which is looked at next
 */

#define haft__LOOK_AGAIN_NS UINT64_C(10000000)
#define haft__LOOK_LATER_NS UINT64_C(1000000000) /* where only held objects are missing */

/* --- opening --- */

/* How the table lies in its memory. */
struct haft__plan {
    struct haft__common_options common;
    uint64_t slots;
    uint64_t heads;
    uint64_t alignment; /* of the memory */
    uint64_t first;     /* from the memory's start to the first slot's word */
    uint64_t stride;
    uint64_t bytes;
};

static struct haft__common_options haft__common_of(const haft_counted_options *options)
{
    return (struct haft__common_options){
        .name = options->name != NULL ? options->name : "counted table",
        .capacity = options->capacity,
        .object_size = options->object_size,
        .object_alignment = options->object_alignment,
        .layout = options->layout,
        .tag = options->tag,
        .first_generation = options->first_generation,
    };
}

static haft_status haft__check_counted(const haft_counted_options *options, struct haft__plan *plan)
{
    uint64_t most;

    if (options->reserved[0] != 0 || options->reserved[1] != 0) {
        return HAFT_UNKNOWN_OPTION;
    }
    const struct haft__common_options common = haft__common_of(options);
    const haft_status status = haft__options_check(&common, haft__IN_SLOTS, &plan->common, &most);

    if (status == HAFT_OK && plan->common.layout.generation_bits > 32) {
        return HAFT_BAD_LAYOUT;
    }
    if (status != HAFT_OK) {
        return status;
    }
    if (most > haft__COUNTED_LOW_MASK + 1 - HAFT_FIRST_INDEX) {
        most = haft__COUNTED_LOW_MASK + 1 - HAFT_FIRST_INDEX;
    }
    if (options->capacity > most) {
        return HAFT_BAD_CAPACITY;
    }
    if (options->min_free > most - options->capacity) {
        return HAFT_BAD_MIN_FREE;
    }
    return options->copies && options->object_size > haft__VALUES_MOST_BYTES ? HAFT_BAD_COPIES : HAFT_OK;
}

static haft_status haft__make_plan(const haft_counted_options *options, struct haft__plan *plan)
{
    const haft_status status = haft__check_counted(options, plan);

    if (status != HAFT_OK) {
        return status;
    }
    const size_t size = options->copies || options->wipe
                            ? (size_t)haft__size_round_up(options->object_size, 8)
                            : options->object_size;
    const uint64_t alignment = plan->common.object_alignment > sizeof(uint64_t)
                                   ? plan->common.object_alignment
                                   : sizeof(uint64_t);
    const uint64_t line = alignment > haft__CACHE_LINE ? alignment : haft__CACHE_LINE;

    plan->slots = options->capacity + options->min_free;
    plan->heads = haft__free_slots_heads(options->capacity, options->min_free);
    plan->alignment = line;
    plan->first =
        haft__size_round_up(sizeof(struct haft__counted_block) + plan->heads * sizeof(struct haft__counted_head),
                      line) +
        alignment - sizeof(uint64_t);
    plan->stride = options->spread ? haft__size_round_up(alignment + size, line)
                                   : haft__size_round_up(sizeof(uint64_t) + size, alignment);
    plan->bytes = plan->first + plan->slots * plan->stride;
    return HAFT_OK;
}

static void haft__fill_in_ids(haft_counted *table, const struct haft__plan *plan)
{
    const haft_layout layout = plan->common.layout;
    const uint64_t first = haft__options_first_generation(&plan->common);

    table->format = haft__word_format_of(layout, plan->common.tag, first);
    table->index_bits = layout.index_bits;
    table->index_mask = table->format.index_mask;
    table->generation_mask = (uint32_t)haft_field_max(layout.generation_bits);
    table->match_mask = (uint64_t)table->generation_mask << 2 | 3;
    table->less_tag = 0 - (plan->common.tag << layout.generation_bits << 2);
    table->first_life = (uint32_t)first;
}

static void haft__fill_in_counted(haft_counted *table, const struct haft__plan *plan,
                            const haft_counted_options *options)
{
    haft__fill_in_ids(table, plan);
    assert(plan->slots + HAFT_FIRST_INDEX - 1 <= table->index_mask && "check_counted() looked");
    table->stride = plan->stride;
    table->slot_count = plan->slots;
    table->one_word_count =
        options->copies && options->object_size == sizeof(uint64_t) ? plan->slots : 0;
    table->base =
        (uintptr_t)table->memory.base + (uintptr_t)(plan->first - HAFT_FIRST_INDEX * plan->stride);
    table->wraps = options->wrap;
    table->copies = options->copies;
    table->wipes = options->wipe;
    const bool has_shards = options->min_free == 0 && !haft__asan_is_on();

    table->is_plain = has_shards && options->on_destroy == NULL && !options->wipe;
    table->has_words = has_shards && !options->copies && haft__object_is_words(options->object_size);
    table->shard_mask = (uint32_t)plan->heads - 1;
    table->object_size = options->object_size;
    table->min_free = options->min_free;
    table->on_destroy = options->on_destroy;
    table->destroy_arg = options->destroy_arg;
    table->capacity = options->capacity;
    table->on_bad_access = options->on_bad_access;
    table->report_arg = options->report_arg;
}

/* The struct, with the name behind it. */
static haft_counted *haft__new_table(const char *name, struct haft__given *given, const haft_allocator *heap)
{
    const size_t size = haft__size_with_name(sizeof(haft_counted), name);
    haft_counted *table = given != NULL ? haft__given_take(given, size, _Alignof(haft_counted))
                                        : haft__heap_take(heap, size, _Alignof(haft_counted));

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

static void haft__delete_table(haft_counted *table)
{
    if (table != NULL && !table->is_given) {
        haft__heap_give(&table->heap, table, haft__size_with_name(sizeof *table, table->name));
    }
}

static haft_status haft__open_block(haft_counted *table, const struct haft__plan *plan, struct haft__given *given)
{
    haft_status status =
        given != NULL ? haft__reservation_open_given(&table->memory, plan->bytes, plan->alignment, given)
                      : haft__reservation_open_unread(&table->memory, plan->bytes,
                                                (size_t)plan->alignment, &table->heap);

    if (status == HAFT_OK) {
        const uint64_t begun = plan->first + plan->stride;

        status = haft__reservation_commit(&table->memory, begun < plan->bytes ? begun : plan->bytes);
        if (status != HAFT_OK) {
            haft__reservation_close_array(&table->memory, &table->heap);
        }
    }
    return status;
}

static uint64_t haft__bytes_to_give(const struct haft__plan *plan)
{
    struct haft__given given = haft__given_to_measure();

    haft__given_take(&given, haft__size_with_name(sizeof(haft_counted), plan->common.name),
               _Alignof(haft_counted));
    haft__given_take(&given, plan->bytes, plan->alignment);
    return given.measured;
}

haft_status haft_counted_open_sized(const haft_counted_options *options, size_t size,
                                    haft_counted **table)
{
    haft_counted_options known;
    struct haft__plan plan;
    haft_status status = haft__sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? haft__make_plan(&known, &plan) : status;
    if (status != HAFT_OK) {
        return status;
    }
    struct haft__given given = haft__given_of(known.memory, known.memory_size);
    const haft_allocator heap = haft__heap_of(known.allocator);

    if (!haft__given_suffices(&given, haft__bytes_to_give(&plan))) {
        return HAFT_NO_MEMORY;
    }
    struct haft__given *from = known.memory != NULL ? &given : NULL;
    haft_counted *opened = haft__new_table(plan.common.name, from, &heap);

    status = opened != NULL ? haft__open_block(opened, &plan, from) : HAFT_NO_MEMORY;
    if (status != HAFT_OK) {
        haft__delete_table(opened);
        return status;
    }
    haft__fill_in_counted(opened, &plan, &known);
    opened->block = (struct haft__counted_block *)(void *)opened->memory.base;
    opened->block->kind = haft__COUNTED_KIND;
    opened->block->version = haft__COUNTED_VERSION;
    haft__free_slots_setup(opened);
    haft__open_list_add(opened);
    *table = opened;
    return HAFT_OK;
}

haft_status haft_counted_footprint_sized(const haft_counted_options *options, size_t size,
                                         haft_footprint *footprint)
{
    haft_counted_options known;
    struct haft__plan plan;
    haft_status status = haft__sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? haft__make_plan(&known, &plan) : status;
    if (status != HAFT_OK) {
        return status;
    }
    const uint64_t bytes = haft__bytes_to_give(&plan);

    if (!haft__given_is_possible(bytes)) {
        return HAFT_NO_MEMORY;
    }
    *footprint = (haft_footprint){
        .bytes = bytes,
        .capacity = known.capacity,
        .committed =
            bytes - plan.bytes + haft__reservation_first_step(plan.bytes, plan.first + plan.stride),
    };
    return HAFT_OK;
}

/* --- closing --- */

static void haft__free_memory(haft_counted *table)
{
    assert(table->block->kind == haft__COUNTED_KIND && table->block->version == haft__COUNTED_VERSION &&
           "nothing was written beyond an object");
    haft__open_list_remove(table);
    haft__values_unpoison_all(table, haft__free_slots_end(table));
    haft__reservation_close_array(&table->memory, &table->heap);
    haft__delete_table(table);
}

/* Free all objects that are live; how many freed ones are still held. */
static uint64_t haft__free_live(haft_counted *table)
{
    const int cancel = haft__os_cancel_off(); /* once: each destruction finds it off */
    const uint64_t end = haft__free_slots_end(table);
    uint64_t held = 0;

    for (uint64_t index = HAFT_FIRST_INDEX; index < end; index++) {
        uint64_t word = haft__load_relaxed(COUNT, haft__counted_at(table, index));

        if (haft__counted_state_of(word) == haft__COUNTED_LIVE) {
            haft_counted_free(table, haft__counted_id(table, index, haft__counted_life(word)));
            word = haft__load_relaxed(COUNT, haft__counted_at(table, index));
        }
        held += haft__counted_state_of(word) == haft__COUNTED_ENDED;
    }
    haft__os_cancel_restore(cancel);
    return held;
}

/* Slots that are not accounted for. */
static uint64_t haft__missing(const haft_counted *table)
{
    const uint64_t accounted = table->owned + haft__returned_count(table) - table->linked;

    return (table->slot_count - accounted) & (UINT64_MAX >> haft__COUNTED_LOW_BITS);
}

/*
 * Close the table if nothing of it is in use; else whether all that is missing was held in the
 * walk, so that a release returns each.  What is missing is counted before: a slot that a release
 * returns in between does not stand for one that an insertion still has.
 */
static bool haft__close_once(haft_counted *table, bool *all_held)
{
    haft__free_slots_close(table);
    const uint64_t left = haft__missing(table);

    *all_held = haft__free_live(table) == left;
    if (haft__missing(table) != 0) {
        return false;
    }
    haft__free_memory(table);
    return true;
}

haft_status haft_counted_close(haft_counted *table)
{
    bool all_held;

    return !haft__destroy_is_under_way(table) && haft__close_once(table, &all_held) ? HAFT_OK : HAFT_IN_USE;
}

/* Until a slot is returned, or for that long. */
static void haft__await_return(haft_counted *table, uint64_t ns)
{
    haft__atomic_u64 *returned = &table->block->returned.word;
    const uint64_t before = haft__fetch_or_relaxed(COUNT, returned, haft__RETURNED_IS_AWAITED);

    if (haft__missing(table) != 0) {
        haft__os_wait_address(returned, before, ns);
    }
}

haft_status haft_counted_close_wait(haft_counted *table)
{
    bool all_held;

    if (haft__destroy_is_under_way(table)) {
        return HAFT_IN_USE;
    }
    while (!haft__close_once(table, &all_held)) {
        haft__await_return(table, all_held ? haft__LOOK_LATER_NS : haft__LOOK_AGAIN_NS);
    }
    return HAFT_OK;
}

void haft_counted_abandon(haft_counted *table)
{
    assert(!haft__destroy_is_under_way(table) && "on_destroy does not abandon its table");
    haft__free_memory(table);
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
 *   FRAME    enter_frame, leave_frame, take_chain (release) -> frame_of, destroy_object, take_chain
 *            (acquire)   a frame's members before the pointer to it, and leaving it before the last
 *            look at its chain, for signal handlers of this thread
 *   OWN      the slot's word, by its one owner; the chain, which defer pushes to, by one thread and
 *            its signal handlers
 */

struct haft__frame {
    const haft_counted *table;
    struct haft__frame *outer;
    haft__atomic_u64 chain; /* the first slot, whose word leads on; COUNTED_ENDING: none */
};

static haft__THREAD_LOCAL haft__atomic_u64 haft__innermost; /* a struct frame *; of this thread alone */

/* The thread's frame for the table; NULL: there is none. */
static struct haft__frame *haft__frame_of(const haft_counted *table)
{
    /* Weakened, a signal handler could read the frame's members from before it was entered. */
    struct haft__frame *frame = (struct haft__frame *)(uintptr_t)haft__load_acquire(FRAME, &haft__innermost);

    while (frame != NULL && frame->table != table) {
        frame = frame->outer;
    }
    return frame;
}

HAFT_INTERNAL bool haft__destroy_is_under_way(const haft_counted *table)
{
    return haft__frame_of(table) != NULL;
}

static void haft__enter_frame(struct haft__frame *frame)
{
    /* Weakened, a signal handler could find a frame that is not filled in. */
    haft__store_release(FRAME, &haft__innermost, (uintptr_t)frame);
}

static void haft__leave_frame(const struct haft__frame *frame)
{
    assert(haft__load_relaxed(OWN, &haft__innermost) == (uintptr_t)frame && "handlers leave their frames");
    /* Weakened, a signal handler could destroy in another frame while this one still does. */
    haft__store_release(FRAME, &haft__innermost, (uintptr_t)frame->outer);
}

static uint64_t haft__take_chain(struct haft__frame *frame)
{
    /* Release: weakened, the last look could come before the frame is left: what a signal handler
     * puts into the chain in between would stay there.  Acquire: weakened, the words of the slots
     * that handlers put there could be from before. */
    return haft__exchange_acq_rel(FRAME, &frame->chain, haft__COUNTED_ENDING);
}

/* Put slot `index` into the frame's chain. */
static void haft__defer(haft_counted *table, struct haft__frame *frame, uint64_t index)
{
    haft__atomic_u64 *at = haft__counted_at(table, index);
    const uint32_t life = haft__counted_life(haft__load_relaxed(OWN, at));
    uint64_t first;

    assert(frame->table == table);
    do {
        first = haft__load_relaxed(OWN, &frame->chain);
        haft__store_relaxed(OWN, at, haft__counted_word(life, haft__COUNTED_RESERVED, first));
    } while (!haft__cas_relaxed(OWN, &frame->chain, first, index));
}

HAFT_INTERNAL void haft__destroy_silently(haft_counted *table, uint64_t index)
{
    haft__atomic_u64 *at = haft__counted_at(table, index);
    const uint32_t life = haft__counted_life(haft__load_relaxed(OWN, at));

    assert(haft__counted_state_of(haft__load_relaxed(OWN, at)) == haft__COUNTED_RESERVED);
    if (table->wipes) {
        haft__values_wipe(table, haft__counted_object(at));
    }
    haft__values_poison(table, haft__counted_object(at));
    if (haft__counted_is_exhausted(table, life)) {
        haft__store_relaxed(OWN, at, haft__counted_word(life, haft__COUNTED_RESERVED, haft__COUNTED_EXHAUSTED));
        haft__returned_add(table);
    } else {
        haft__free_slots_give(table, index, life);
    }
}

static void haft__destroy_one(haft_counted *table, uint64_t index)
{
    haft__atomic_u64 *at = haft__counted_at(table, index);
    const uint32_t life = haft__counted_before(table, haft__counted_life(haft__load_relaxed(OWN, at)));

    table->on_destroy(haft__counted_object(at), haft__counted_id(table, index, life), table->destroy_arg);
    haft__destroy_silently(table, index);
}

/* Destroy the slots of the chain, and what its destructions add to it. */
static void haft__run(haft_counted *table, struct haft__frame *frame, uint64_t chain)
{
    while (chain != haft__COUNTED_ENDING) {
        const uint64_t index = chain;

        assert(index >= HAFT_FIRST_INDEX);
        chain = haft__counted_low(haft__load_relaxed(OWN, haft__counted_at(table, index)));
        haft__destroy_one(table, index);
        if (chain == haft__COUNTED_ENDING) {
            chain = haft__take_chain(frame);
        }
    }
}

HAFT_INTERNAL void haft__destroy_object(haft_counted *table, uint64_t index)
{
    if (table->on_destroy == NULL) {
        haft__destroy_silently(table, index);
        return;
    }
    struct haft__frame *outer = haft__frame_of(table);

    if (outer != NULL) {
        haft__defer(table, outer, index);
        return;
    }
    const int cancel = haft__os_cancel_off(); /* once for a chain */
    struct haft__frame frame = {.table = table};

    /* Weakened, a walk through this frame could find members of the outer one from before. */
    frame.outer = (struct haft__frame *)(uintptr_t)haft__load_acquire(FRAME, &haft__innermost);
    haft__store_relaxed(OWN, &frame.chain, haft__COUNTED_ENDING);
    for (uint64_t chain = index; chain != haft__COUNTED_ENDING; chain = haft__take_chain(&frame)) {
        haft__enter_frame(&frame);
        haft__run(table, &frame, chain);
        haft__leave_frame(&frame);
    }
    haft__os_cancel_restore(cancel);
}

/*
 * concurrent/counted/queue.h - the free slots of a table with min_free: first in, first out, and
 * out only with min_free slots behind.
 */

#define haft__QUEUE_HEADS 2u /* the head and the tail */

/* The queue begins with slot `index`: it is never empty. */
HAFT_INTERNAL void haft__queue_setup(haft_counted *table, uint64_t index);

/*
 * The oldest slot: HAFT_OK, HAFT_CLOSED; or HAFT_FULL: at one moment the queue had `*length` slots,
 * not more than min_free.
 */
HAFT_INTERNAL haft_status haft__queue_take(haft_counted *table, uint64_t *index, uint64_t *haft__length);

/* Slot `index` is free for `life`.  False: the table is closed, and the slot still the caller's. */
HAFT_INTERNAL bool haft__queue_give(haft_counted *table, uint64_t index, uint32_t life);

/* Whether it is the slot that a queue begins with, and has had no life: it was never used. */
static inline bool haft__queue_slot_is_unused(const haft_counted *table, uint64_t index, uint64_t word)
{
    return index == HAFT_FIRST_INDEX && table->min_free != 0 &&
           word >> haft__COUNTED_LOW_BITS == (uint64_t)table->first_life << 2; /* FREE */
}

/* Take all slots, and mark the queue closed. */
HAFT_INTERNAL void haft__queue_close(haft_counted *table);

/*
 * concurrent/counted/shards.h - the free slots of a table without min_free: stacks, each with its
 * head on a separate cache line, of which threads use different ones.
 *
 * A stack is R. K. Treiber's (IBM RJ 5118, 1986): the head's number of takings, 34 bits, tells a
 * head that came back from one that stayed.  A thread begins at the shard that its number names,
 * and may move on when another call was faster: two that collide part while there are shards
 * enough.
 *
 * Edges in this file.
 *   SHARD   shards_give, shards_try, end_plainly (release) -> shards_try, shards_look, shards_close
 *           (acquire)   the slot's last life; and the slots that a thread gave before it took one,
 *           to a look that finds that one taken
 *   OWN     only this call writes the slot's word
 *   RETRY   a first look; the compare-and-swap decides
 */

/* Shards for that capacity: a power of two. */
HAFT_INTERNAL uint64_t haft__shards_count(uint64_t capacity);

HAFT_INTERNAL haft__THREAD_LOCAL uint32_t haft__shards_thread; /* the calling thread's number; 0: it has none yet */
HAFT_INTERNAL uint32_t haft__shards_number_thread(void);

/* Another call was faster where the calling thread gave or took, or closed the table. */
static inline void haft__shards_move_thread(void)
{
    haft__shards_thread++;
}

/* The calling thread's shard. */
static inline uint32_t haft__shards_own_number(const haft_counted *table)
{
    const uint32_t thread = haft__shards_thread != 0 ? haft__shards_thread : haft__shards_number_thread();

    return thread & table->shard_mask;
}

static inline haft__atomic_u64 *haft__shards_own(haft_counted *table)
{
    return &table->block->heads[haft__shards_own_number(table)].word;
}

/* The head after its first slot was taken, whose word is `word`. */
static inline uint64_t haft__shards_head_after(uint64_t head, uint64_t word)
{
    assert(haft__counted_low(head) > haft__COUNTED_CLOSED);
    const uint64_t takings = (head >> haft__COUNTED_LOW_BITS) + 1;

    return takings << haft__COUNTED_LOW_BITS | haft__counted_low(word);
}

/* Take the shard's first slot, if it has one and no other call is faster; `*word` is the slot's. */
static inline bool haft__shards_try(haft_counted *table, haft__atomic_u64 *shard, uint64_t *index,
                              uint64_t *word)
{
    /* Weakened, the slot's word could be from before it was given. */
    const uint64_t head = haft__load_acquire(SHARD, shard);

    *index = haft__counted_low(head);
    if (*index <= haft__COUNTED_CLOSED) {
        return false;
    }
    *word = haft__load_relaxed(RETRY, haft__counted_at(table, *index));
    /* Acquire: the slot's last life is over.  Release: weakened, a look that finds this shard empty
     * could miss a slot that this thread has given to another shard before. */
    return haft__cas_acq_rel(SHARD, shard, head, haft__shards_head_after(head, *word));
}

/* HAFT_OK, HAFT_FULL, HAFT_CLOSED; _surely: FULL only if all shards were empty at one moment. */
HAFT_INTERNAL haft_status haft__shards_take(haft_counted *table, uint64_t *index);
HAFT_INTERNAL haft_status haft__shards_take_surely(haft_counted *table, uint64_t *index);

/* Slot `index` is free for `life`.  False: the table is closed, and the slot still the caller's. */
static inline bool haft__shards_give(haft_counted *table, uint64_t index, uint32_t life)
{
    haft__atomic_u64 *at = haft__counted_at(table, index);

    assert(haft__counted_state_of(haft__load_relaxed(OWN, at)) == haft__COUNTED_RESERVED ||
           haft__counted_state_of(haft__load_relaxed(OWN, at)) == haft__COUNTED_FREE);
    for (;;) {
        haft__atomic_u64 *shard = haft__shards_own(table);
        const uint64_t head = haft__load_relaxed(RETRY, shard);

        if (haft__counted_low(head) == haft__COUNTED_CLOSED) {
            haft__store_relaxed(OWN, at, haft__counted_word(life, haft__COUNTED_FREE, haft__COUNTED_NONE));
            return false;
        }
        haft__store_relaxed(OWN, at, haft__counted_word(life, haft__COUNTED_FREE, haft__counted_low(head)));
        /* Weakened, the slot could be taken with a link or a life from before. */
        if (haft__cas_release(SHARD, shard, head, (head & ~haft__COUNTED_LOW_MASK) | index)) {
            return true;
        }
        haft__shards_move_thread();
    }
}

/* Take all slots, and mark the shards closed. */
HAFT_INTERNAL void haft__shards_close(haft_counted *table);

/* concurrent/counted/free_slots.c */

/*
 * Free slots of a counted table: shards, or a queue; then fresh ones.
 *
 * FULL is said only if at one moment of the call no slot was free: fresh slots are used up, for
 * good, when two looks find the same heads, all without a slot.  A head's number of takings tells
 * a list that was empty all the time from one that was filled and emptied in between.
 *
 * When fresh slots are closing's, the number of those used stays, for looks beside it, with a mark.
 *
 * Edges in this file.
 *   COUNT    fresh slots are drawn one by one, and each is zero; nothing else follows from it; nor
 *            from the number of slots that can be read
 *   RETRY    a first look; the compare-and-swap decides
 *   SAME     a second look at the fresh slots, after the queue's ends were acquired
 */

#define haft__FRESH_IS_CLOSED (UINT64_C(1) << 63)

HAFT_INTERNAL uint64_t haft__free_slots_heads(uint64_t capacity, uint64_t min_free)
{
    return min_free != 0 ? haft__QUEUE_HEADS : haft__shards_count(capacity);
}

/*
 * Where memory can be read step by step, slots whose memory is ready.  A thread that draws a slot
 * calls this before it issues an id of it.
 */
static void haft__note_ready(haft_counted *table)
{
    const char *first = (const char *)haft__counted_at(table, HAFT_FIRST_INDEX);
    const uint64_t bytes = haft__reservation_ready(&table->memory);
    const uint64_t ready = (bytes - (uint64_t)(first - table->memory.base)) / table->stride;
    const uint64_t slots = ready < table->slot_count ? ready : table->slot_count;
    uint64_t before = haft__load_relaxed(RETRY, &table->ready_count);

    while (before < slots && !haft__cas_relaxed(COUNT, &table->ready_count, before, slots)) {
        before = haft__load_relaxed(RETRY, &table->ready_count);
    }
}

HAFT_INTERNAL void haft__free_slots_setup(haft_counted *table)
{
    uint64_t used = HAFT_FIRST_INDEX;

    if (haft__OS_READS_IN_STEPS) {
        haft__note_ready(table);
    }
    if (table->min_free != 0) {
        haft__queue_setup(table, used++);
    }
    haft__store_relaxed(COUNT, &table->block->fresh.word, used);
}

/* Draw fresh slot `at`: HAFT_BUSY if another call has drawn it. */
static haft_status haft__draw_fresh(haft_counted *table, uint64_t at)
{
    const char *end = (const char *)haft__counted_at(table, at) + table->stride;
    const uint64_t bytes = (uint64_t)(end - table->memory.base);

    assert(end > table->memory.base && at >= HAFT_FIRST_INDEX);
    const haft_status status =
        haft__reservation_commit(&table->memory, bytes < table->memory.size ? bytes : table->memory.size);

    if (status != HAFT_OK) {
        return status;
    }
    if (haft__OS_READS_IN_STEPS) {
        haft__note_ready(table);
    }
    return haft__cas_relaxed(COUNT, &table->block->fresh.word, at, at + 1) ? HAFT_OK : HAFT_BUSY;
}

/* The next fresh slot; or, when they are used up, a slot of a shard after all. */
static haft_status haft__take_fresh(haft_counted *table, uint64_t *index)
{
    haft_status status = HAFT_BUSY;

    while (status == HAFT_BUSY) {
        *index = haft__load_relaxed(RETRY, &table->block->fresh.word);
        if ((*index & haft__FRESH_IS_CLOSED) != 0) {
            return HAFT_CLOSED;
        }
        if (*index - HAFT_FIRST_INDEX >= table->slot_count) {
            return haft__shards_take_surely(table, index);
        }
        status = haft__draw_fresh(table, *index);
    }
    return status;
}

/*
 * With a queue, min_free slots stay free, in the queue or fresh.  The queue's length falls only
 * while it is above min_free: so between a look that finds it shorter and the drawing of the slot
 * that was the first fresh one before that look, it has not become less.
 */
static haft_status haft__take_queued(haft_counted *table, uint64_t *index)
{
    const haft__atomic_u64 *fresh = &table->block->fresh.word;

    for (;;) {
        const uint64_t at = haft__load_relaxed(RETRY, fresh);
        uint64_t haft__length;
        haft_status status = haft__queue_take(table, index, &haft__length);

        if (status != HAFT_FULL) {
            return status;
        }
        if ((at & haft__FRESH_IS_CLOSED) != 0) {
            return HAFT_CLOSED;
        }
        if (at - HAFT_FIRST_INDEX - haft__length < table->capacity) {
            *index = at;
            status = haft__draw_fresh(table, at);
            if (status != HAFT_BUSY) {
                return status;
            }
        } else if (haft__load_relaxed(SAME, fresh) == at) {
            return HAFT_FULL;
        }
    }
}

HAFT_INTERNAL haft_status haft__free_slots_take(haft_counted *table, uint64_t *index)
{
    if (table->min_free != 0) {
        return haft__take_queued(table, index);
    }
    const haft_status status = haft__shards_take(table, index);

    return status == HAFT_FULL ? haft__take_fresh(table, index) : status;
}

HAFT_INTERNAL void haft__free_slots_give(haft_counted *table, uint64_t index, uint32_t life)
{
    assert(!haft__counted_is_exhausted(table, life) && "an exhausted slot is in no list");
    const bool is_in_list =
        table->min_free != 0 ? haft__queue_give(table, index, life) : haft__shards_give(table, index, life);

    if (!is_in_list) {
        haft__returned_add(table);
    }
}

HAFT_INTERNAL uint64_t haft__free_slots_end(const haft_counted *table)
{
    return haft__load_relaxed(COUNT, &table->block->fresh.word) & ~haft__FRESH_IS_CLOSED;
}

HAFT_INTERNAL void haft__free_slots_close(haft_counted *table)
{
    haft__atomic_u64 *fresh = &table->block->fresh.word;
    const uint64_t end = HAFT_FIRST_INDEX + table->slot_count;

    if (table->min_free != 0) {
        haft__queue_close(table);
    } else {
        haft__shards_close(table);
    }
    uint64_t used = haft__load_relaxed(RETRY, fresh);

    while ((used & haft__FRESH_IS_CLOSED) == 0) {
        if (haft__cas_relaxed(COUNT, fresh, used, used | haft__FRESH_IS_CLOSED)) {
            assert(used >= HAFT_FIRST_INDEX && used <= end);
            table->owned += end - used;
        }
        used = haft__load_relaxed(RETRY, fresh);
    }
}

/* concurrent/counted/holds.c */

/*
 * Holding counted objects: acquire, again, release, and copies.
 *
 * Edges in this file.
 *   PUBLISH  publish_word (release) -> haft_counted_acquire, copy_from (acquire)   object before
 *            word
 *   HOLD     haft_counted_release, free_any, and publish_word, for an end without a hold (release)
 *            -> haft_counted_release, the last one, free_any, end_plainly, haft_counted_take
 *            (acquire)   all uses by holders before the object's end; between them lie only
 *            read-modify-writes
 *   RETRY    a first look; the compare-and-swap decides
 *   SAME     a copy's second look, after the object's words were acquired
 *   ONWARD   the caller's hold already orders the object
 */

void *haft_counted_acquire(haft_counted *table, haft_id id)
{
    haft__atomic_u64 *at = haft__counted_find(table, id);
    uint64_t word;

    if (at == NULL) {
        return NULL;
    }
    do {
        word = haft__load_relaxed(RETRY, at);
        if (!haft__counted_fits(table, word, id, haft__COUNTED_LIVE) ||
            haft__counted_low(word) == haft__COUNTED_MOST_HOLDERS) {
            return NULL;
        }
        /* Weakened, the object's bytes could be read from before its publication. */
    } while (!haft__cas_acquire(PUBLISH, at, word, word + 1));
    return haft__counted_object(at);
}

/* The object after all, if it was published since; else the id is reported. */
haft__NOINLINE static void *haft__require_again(haft_counted *table, haft_id id)
{
    haft_status status = haft_counted_diagnose(table, id);

    if (status == HAFT_OK) {
        void *haft__object = haft_counted_acquire(table, id);

        if (haft__object != NULL) {
            return haft__object;
        }
        status = haft_counted_diagnose(table, id);
        if (status == HAFT_OK) {
            status = HAFT_IN_USE; /* by as many holders as can be */
        }
    }
    const haft_bad_access access = {
        .table = table->name,
        .layout = table->format.layout,
        .id = id,
        .status = status,
    };

    haft__bad_access_report(&access, table->on_bad_access, table->report_arg);
    return NULL;
}

void *haft_counted_require(haft_counted *table, haft_id id)
{
    void *haft__object = haft_counted_acquire(table, id);

    return HAFT_IF_LIKELY(haft__object != NULL) ? haft__object : haft__require_again(table, id);
}

/* Whether the word is that of an object with this id that is held. */
static inline bool haft__has_holder(const haft_counted *table, uint64_t word, haft_id id)
{
    return haft__counted_low(word) != 0 && haft__counted_is_of(table, word, id);
}

bool haft_counted_again(haft_counted *table, haft_id id)
{
    haft__atomic_u64 *at = haft__counted_find(table, id);
    uint64_t word;

    if (at == NULL) {
        return false;
    }
    do {
        word = haft__load_relaxed(RETRY, at);
        if (!haft__has_holder(table, word, id) || haft__counted_low(word) == haft__COUNTED_MOST_HOLDERS) {
            return false;
        }
    } while (!haft__cas_relaxed(ONWARD, at, word, word + 1));
    return true;
}

haft_status haft_counted_release(haft_counted *table, haft_id id)
{
    haft__atomic_u64 *at = haft__counted_find(table, id);
    uint64_t word;
    uint64_t next;

    if (at == NULL) {
        return HAFT_NOT_HELD;
    }
    do {
        word = haft__load_relaxed(RETRY, at);
        if (!haft__has_holder(table, word, id)) {
            return HAFT_NOT_HELD;
        }
        next = haft__counted_is_last(word) ? haft__destroy_word(table, word) : word - 1;
        /* Weakened, on_destroy could run before another holder's last use. */
    } while (!haft__cas_acq_rel(HOLD, at, word, next));
    if (haft__counted_is_last(word)) {
        haft__destroy_object(table, haft__counted_index(table, id));
    }
    return HAFT_OK;
}

/* As long as no other object came into the slot between the two looks at its word. */
static inline bool haft__is_unchanged(uint64_t before, uint64_t after)
{
    return (before ^ after) >> haft__COUNTED_LOW_BITS == 0;
}

/* The object of `size` bytes behind `at`, unless the id is stale or ends meanwhile. */
static inline bool haft__copy_from(const haft_counted *table, const haft__atomic_u64 *at, haft_id id,
                             void *haft__object, size_t size)
{
    uint64_t words[haft__VALUES_MOST_BYTES / sizeof(uint64_t)];
    /* Weakened, the object's words could be read from before its publication. */
    const uint64_t before = haft__load_acquire(PUBLISH, at);

    if (!haft__counted_fits(table, before, id, haft__COUNTED_LIVE)) {
        return false;
    }
    haft__values_read(at + 1, words, size);
    if (!haft__is_unchanged(before, haft__load_relaxed(SAME, at))) {
        return false;
    }
    if (size != 0) { /* else `object` may be NULL */
        memcpy(haft__object, words, size);
    }
    return true;
}

/* Any number of words: apart, so that one word's way stays short. */
haft__NOINLINE static bool haft__copy_words(const haft_counted *table, haft_id id, void *haft__object)
{
    const haft__atomic_u64 *at = table->copies ? haft__counted_find(table, id) : NULL;

    return at != NULL && haft__copy_from(table, at, id, haft__object, table->object_size);
}

/* Slots that a word is copied from here. */
static inline uint64_t haft__one_word_count(const haft_counted *table)
{
    return haft__OS_READS_IN_STEPS ? 0 : table->one_word_count;
}

bool haft_counted_copy(const haft_counted *table, haft_id id, void *haft__object)
{
    const uint64_t index = haft__counted_index(table, id);

    assert(table->copies && "a table that copies are made of is opened with `copies`");
    if (index - HAFT_FIRST_INDEX >= haft__one_word_count(table)) {
        return haft__copy_words(table, id, haft__object);
    }
    return haft__copy_from(table, haft__counted_at(table, index), id, haft__object, sizeof(uint64_t));
}

/* concurrent/counted/ids.c */

/*
 * What a counted table says of one id.
 *
 * Edges in this file.
 *   PUBLISH  publish_word (release) -> the looks here (acquire)   what came before an id was live,
 *            for a thread that is told so
 */

haft_info haft_counted_info(const haft_counted *table)
{
    const haft_layout layout = table->format.layout;

    return (haft_info){
        .name = table->name,
        .capacity = table->capacity,
        .object_size = table->object_size,
        .layout = layout,
        .tag = haft_id_tag(layout, (haft_id){table->format.tag}),
    };
}

haft_status haft_counted_fits(const haft_counted *table, haft_type type)
{
    const uintptr_t haft__object = (uintptr_t)haft__counted_object(haft__counted_at(table, HAFT_FIRST_INDEX));

    return table->object_size == type.size && haft__object % type.alignment == 0 &&
                   table->stride % type.alignment == 0
               ? HAFT_OK
               : HAFT_WRONG_TYPE;
}

bool haft_counted_is_live(const haft_counted *table, haft_id id)
{
    const haft__atomic_u64 *at = haft__counted_find(table, id);

    /* Weakened, what the thread that published the id had done could be unseen. */
    return at != NULL && haft__counted_fits(table, haft__load_acquire(PUBLISH, at), id, haft__COUNTED_LIVE);
}

/* Whether the generation of `id` was issued before the life in `word`; true if none can tell. */
static bool haft__was_issued(const haft_counted *table, uint64_t word, haft_id id)
{
    const uint32_t asked = (uint32_t)(id.bits >> table->index_bits) & table->generation_mask;
    const uint32_t life = haft__counted_begin(table, word);
    const bool may_repeat = table->wraps && word != 0 &&
                            (life > table->generation_mask || table->generation_mask == UINT32_MAX);

    if (may_repeat) {
        return asked != 0;
    }
    return asked >= table->first_life && (haft__counted_is_exhausted(table, life) || asked < life);
}

haft_status haft_counted_diagnose(const haft_counted *table, haft_id id)
{
    const haft_status status =
        haft__word_check_fields(&table->format, id, HAFT_FIRST_INDEX + table->slot_count);

    if (status != HAFT_OK) {
        return status == HAFT_OUT_OF_RANGE ? HAFT_NEVER_ISSUED : status;
    }
    const haft__atomic_u64 *at = haft__counted_find(table, id); /* NULL: its slot was never used */
    /* Weakened, what the thread that published the id had done could be unseen. */
    const uint64_t word = at != NULL ? haft__load_acquire(PUBLISH, at) : 0;

    if (haft__counted_fits(table, word, id, haft__COUNTED_LIVE)) {
        return HAFT_OK;
    }
    if (haft__counted_fits(table, word, id, haft__COUNTED_RESERVED) &&
        haft__counted_low(word) == haft__COUNTED_FOR_CALLER) {
        return HAFT_RESERVED;
    }
    if (haft__counted_fits(table, word, id, haft__COUNTED_ENDED)) {
        return HAFT_STALE;
    }
    if (!haft__was_issued(table, word, id)) {
        return HAFT_NEVER_ISSUED;
    }
    return haft__counted_is_exhausted(table, haft__counted_begin(table, word)) ? HAFT_EXHAUSTED : HAFT_STALE;
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
    const haft__atomic_u64 *at = haft__counted_find(table, (haft_id){index}); /* NULL: it was never used */
    /* Weakened, what the thread that published the id had done could be unseen. */
    const uint64_t word = at != NULL ? haft__load_acquire(PUBLISH, at) : 0;
    const uint32_t life = haft__counted_begin(table, word);
    const enum haft__counted_state state = haft__counted_state_of(word);
    const bool is_ended = state == haft__COUNTED_ENDED;
    const uint32_t next = is_ended ? haft__counted_next(table, life) : life;

    *id = haft__counted_is_exhausted(table, next) ? HAFT_NIL : haft__counted_id(table, index, next);
    if (state == haft__COUNTED_LIVE) {
        return HAFT_OK;
    }
    if (haft__counted_is_exhausted(table, next)) {
        return HAFT_EXHAUSTED;
    }
    if (state == haft__COUNTED_RESERVED && haft__counted_low(word) == haft__COUNTED_FOR_CALLER) {
        return HAFT_RESERVED;
    }
    return word == 0 || haft__queue_slot_is_unused(table, index, word) ? HAFT_NEVER_ISSUED : HAFT_STALE;
}

/* concurrent/counted/lives.c */

/*
 * The lives of counted objects: insert, reserve, publish, abort; free, take.  The last release is
 * in holds.c, the end of an object in destroy.c.
 *
 * Edges in this file.
 *   PUBLISH  publish_word (release) -> haft_counted_acquire, copy_from, the
 *            looks in ids.c (acquire)   object before word
 *   HOLD     haft_counted_release, free_any, and publish_word, for an end without a hold (release)
 *            -> free_any, end_plainly, haft_counted_take, haft_counted_release, the last one
 *            (acquire)   all uses by holders before the object's end; and what the thread that
 *            frees did before
 *   SHARD    end_plainly (release) -> shards_try, shards_look, shards_close (acquire)   the slot's
 *            last life
 *   OWN      only this call writes the word
 *   RETRY    a first look; the compare-and-swap decides
 */

/* --- the way in --- */

/* A slot of the caller's, and the id of its next life. */
static haft_status haft__take_free(haft_counted *table, haft__atomic_u64 **at, haft_id *id)
{
    uint64_t index;
    const haft_status status = haft__free_slots_take(table, &index);

    if (status != HAFT_OK) {
        return status;
    }
    *at = haft__counted_at(table, index);
    const uint64_t word = haft__load_relaxed(OWN, *at);
    const uint32_t life = haft__counted_begin(table, word);

    assert(haft__counted_state_of(word) == haft__COUNTED_FREE && !haft__counted_is_exhausted(table, life));
    haft__store_relaxed(OWN, *at, haft__counted_word(life, haft__COUNTED_RESERVED, haft__COUNTED_FOR_CALLER));
    *id = haft__counted_id(table, index, life);
    return HAFT_OK;
}

/* The slot, whose word is `word`, is live. */
static inline void haft__publish_word(haft__atomic_u64 *at, uint64_t word)
{
    assert(haft__counted_state_of(word) == haft__COUNTED_FREE || haft__counted_state_of(word) == haft__COUNTED_RESERVED);
    /* Weakened, a thread could acquire the id and read the object's bytes from before. */
    haft__store_release(PUBLISH, at, haft__counted_word(haft__counted_life(word), haft__COUNTED_LIVE, 0));
}

/* Any object, into any slot: apart, so that the common way stays short. */
haft__NOINLINE static haft_status haft__insert_anywhere(haft_counted *table, const void *haft__object, haft_id *id)
{
    haft__atomic_u64 *at;
    haft_id inserted;
    const haft_status status = haft__take_free(table, &at, &inserted);

    if (status == HAFT_OK) {
        haft__values_write(table, haft__counted_object(at), haft__object);
        *id = inserted;
        haft__publish_word(at, haft__load_relaxed(OWN, at)); /* last, as below */
    }
    return status;
}

haft_status haft_counted_insert(haft_counted *table, const void *haft__object, haft_id *id)
{
    uint64_t index;
    uint64_t word;

    if (!table->has_words || haft__object == NULL || haft__shards_thread == 0 ||
        !haft__shards_try(table, haft__shards_own(table), &index, &word)) {
        return haft__insert_anywhere(table, haft__object, id);
    }
    haft__atomic_u64 *at = haft__counted_at(table, index);

    assert(haft__load_relaxed(OWN, at) == word && haft__counted_state_of(word) == haft__COUNTED_FREE);
    haft__object_copy_words(haft__counted_object(at), haft__object, table->object_size);
    *id = haft__counted_id(table, index, haft__counted_life(word));
    haft__publish_word(at, word); /* last: a thread that sees the object may close the table */
    return HAFT_OK;
}

haft_status haft_counted_reserve(haft_counted *table, haft_id *id, void **haft__object)
{
    haft__atomic_u64 *at;

    if (table->copies) {
        return HAFT_BAD_COPIES;
    }
    const haft_status status = haft__take_free(table, &at, id);

    if (status == HAFT_OK) {
        haft__values_unpoison(table, haft__counted_object(at));
        if (haft__object != NULL) {
            *haft__object = haft__counted_object(at);
        }
    }
    return status;
}

/* The word of the slot that `id` was reserved in. */
static haft__atomic_u64 *haft__reserved_slot(const haft_counted *table, haft_id id)
{
    haft__atomic_u64 *at = haft__counted_find(table, id);

    assert(at != NULL && haft__counted_fits(table, haft__load_relaxed(OWN, at), id, haft__COUNTED_RESERVED) &&
           haft__counted_low(haft__load_relaxed(OWN, at)) == haft__COUNTED_FOR_CALLER &&
           "an id is reserved, and published or given up once");
    return at;
}

void haft_counted_publish(haft_counted *table, haft_id id)
{
    haft__atomic_u64 *at = haft__reserved_slot(table, id);

    haft__publish_word(at, haft__load_relaxed(OWN, at));
}

void haft_counted_abort(haft_counted *table, haft_id id)
{
    haft__atomic_u64 *at = haft__reserved_slot(table, id);

    haft__store_relaxed(OWN, at, haft__destroy_word(table, haft__load_relaxed(OWN, at)));
    haft__destroy_silently(table, haft__counted_index(table, id));
}

/* --- the way out --- */

/* The answer to a call that found that `id` was not live. */
static haft_status haft__refuse_counted(const haft_counted *table, haft_id id)
{
    const haft_status status = haft_counted_diagnose(table, id);

    return status == HAFT_OK ? HAFT_RESERVED : status; /* published since */
}

/* End an object: apart, so that the common way stays short. */
haft__NOINLINE static haft_status haft__free_any(haft_counted *table, haft_id id)
{
    haft__atomic_u64 *at = haft__counted_find(table, id);

    if (at == NULL) {
        return haft__refuse_counted(table, id);
    }
    for (;;) {
        const uint64_t word = haft__load_relaxed(RETRY, at);

        if (!haft__counted_fits(table, word, id, haft__COUNTED_LIVE)) {
            return haft__refuse_counted(table, id);
        }
        if (haft__counted_low(word) == 0) {
            /* Weakened, on_destroy could run before a holder's last use. */
            if (haft__cas_acquire(HOLD, at, word, haft__destroy_word(table, word))) {
                haft__destroy_object(table, haft__counted_index(table, id));
                return HAFT_OK;
            }
            /* Weakened, on_destroy could run before what this thread did. */
        } else if (haft__cas_release(HOLD, at, word, word | UINT64_C(1) << haft__COUNTED_LOW_BITS)) {
            return HAFT_OK; /* LIVE has become ENDED */
        }
    }
}

/* Give slot `index` to a list after all: another call was faster at the shard, or closed it. */
haft__NOINLINE static void haft__give_after_all(haft_counted *table, uint64_t index, uint32_t life)
{
    haft__shards_move_thread();
    haft__free_slots_give(table, index, life);
}

/*
 * End an object without holders, where nothing is to be destroyed, and put its slot into the shard.
 * False: another call was faster at its word, or the shard is closed; nothing has changed.
 */
static inline bool haft__end_plainly(haft_counted *table, haft__atomic_u64 *at, uint64_t word, uint64_t index)
{
    haft__atomic_u64 *shard = haft__shards_own(table);
    const uint64_t head = haft__load_relaxed(RETRY, shard);
    const uint32_t life = haft__counted_life(word) + 1;

    assert(haft__counted_state_of(word) == haft__COUNTED_LIVE && haft__counted_low(word) == 0);
    if (haft__counted_low(head) == haft__COUNTED_CLOSED) {
        return false;
    }
    /* Weakened, the slot's next object could be written before a holder's last use. */
    if (!haft__cas_acquire(HOLD, at, word, haft__counted_word(life, haft__COUNTED_FREE, haft__counted_low(head)))) {
        return false;
    }
    /* Weakened, the slot could be taken with a link or a life from before. */
    if (!haft__cas_release(SHARD, shard, head, (head & ~haft__COUNTED_LOW_MASK) | index)) {
        haft__give_after_all(table, index, life);
    }
    return true;
}

haft_status haft_counted_free(haft_counted *table, haft_id id)
{
    haft__atomic_u64 *at = haft__counted_find(table, id);
    const uint64_t word = at != NULL ? haft__load_relaxed(RETRY, at) : 0;
    const uint32_t next = haft__counted_life(word) + 1;

    if (!table->is_plain || haft__shards_thread == 0 || haft__counted_low(word) != 0 ||
        !haft__counted_fits(table, word, id, haft__COUNTED_LIVE) || haft__counted_is_exhausted(table, next)) {
        return haft__free_any(table, id);
    }
    return haft__end_plainly(table, at, word, haft__counted_index(table, id)) ? HAFT_OK : haft__free_any(table, id);
}

haft_status haft_counted_take(haft_counted *table, haft_id id, void *haft__object)
{
    haft__atomic_u64 *at = haft__counted_find(table, id);
    uint64_t word;

    if (at == NULL) {
        return haft__refuse_counted(table, id);
    }
    do {
        word = haft__load_relaxed(RETRY, at);
        if (!haft__counted_fits(table, word, id, haft__COUNTED_LIVE)) {
            return haft__refuse_counted(table, id);
        }
        if (haft__counted_low(word) != 0) {
            return HAFT_IN_USE;
        }
        /* Weakened, the bytes could be those of before a holder's last use. */
    } while (!haft__cas_acquire(HOLD, at, word, haft__destroy_word(table, word)));
    if (table->object_size != 0) { /* else `object` may be NULL */
        memcpy(haft__object, haft__counted_object(at), table->object_size);
    }
    haft__destroy_silently(table, haft__counted_index(table, id));
    return HAFT_OK;
}

/* concurrent/counted/open_list.c */

/* The list of open counted tables. */

static struct haft__os_mutex haft__open_list_mutex;
static haft_counted *haft__open_counted; /* under the lock; debuggers look for it by this name */
static uint64_t haft__counted_tables;    /* under the lock too */

HAFT_INTERNAL void haft__open_list_lock(void)
{
    haft__os_mutex_lock(&haft__open_list_mutex);
}

HAFT_INTERNAL void haft__open_list_unlock(void)
{
    haft__os_mutex_unlock(&haft__open_list_mutex);
}

/* Before main: see concurrent/clock/registry.c for the order of locks in a fork. */
haft__AT_START(101, haft__guard_open_list);

static void haft__guard_open_list(void)
{
    haft__os_on_fork(haft__open_list_lock, haft__open_list_unlock, haft__open_list_unlock);
}

HAFT_INTERNAL void haft__open_list_add(haft_counted *table)
{
    haft__open_list_lock();
    table->number = ++haft__counted_tables;
    table->next_open = haft__open_counted;
    table->open_link = &haft__open_counted;
    if (haft__open_counted != NULL) {
        haft__open_counted->open_link = &table->next_open;
    }
    haft__open_counted = table;
    haft__open_list_unlock();
}

HAFT_INTERNAL void haft__open_list_remove(haft_counted *table)
{
    haft__open_list_lock();
    assert(*table->open_link == table && "it is in the list");
    *table->open_link = table->next_open;
    if (table->next_open != NULL) {
        table->next_open->open_link = table->open_link;
    }
    haft__open_list_unlock();
}

HAFT_INTERNAL const haft_counted *haft__open_list_first(void)
{
    return haft__open_counted;
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
 *   QUEUE    queue_give, advance_tail, queue_take, close_links (release) -> queue_take, queue_give,
 *            read_last, queue_close, close_links (acquire)   the slot's last life, its link before
 *            the tail that leads on, and the end that was read before one that follows from it
 *   OWN      only this call writes the slot's word
 *   COUNT    how many slots were linked; each link orders the next slot's word
 *   RETRY    a first look; the compare-and-swap decides
 *   SAME     a second look at an end, after the last slot's word was acquired
 */

#define haft__COUNT_ONE (UINT64_C(1) << haft__COUNTED_LOW_BITS)
#define haft__COUNT_MASK (UINT64_MAX >> haft__COUNTED_LOW_BITS)

static haft__atomic_u64 *haft__queue_head(haft_counted *table)
{
    return &table->block->heads[0].word;
}

static haft__atomic_u64 *haft__queue_tail(haft_counted *table)
{
    return &table->block->heads[1].word;
}

static uint64_t haft__count_of(uint64_t end)
{
    return end >> haft__COUNTED_LOW_BITS;
}

/* `end` with one more slot passed, and another slot. */
static uint64_t haft__end_at(uint64_t end, uint64_t index)
{
    assert(index <= haft__COUNTED_LOW_MASK);
    return ((end & ~haft__COUNTED_LOW_MASK) + haft__COUNT_ONE) | index;
}

HAFT_INTERNAL void haft__queue_setup(haft_counted *table, uint64_t index)
{
    assert(table->min_free != 0 && "the last slot never goes out");
    haft__store_relaxed(OWN, haft__counted_at(table, index),
                  haft__counted_word(table->first_life, haft__COUNTED_FREE, haft__COUNTED_NONE));
    haft__store_relaxed(OWN, haft__queue_head(table), index);
    haft__store_relaxed(OWN, haft__queue_tail(table), haft__COUNT_ONE | index);
    haft__store_relaxed(OWN, &table->block->returned.word, 1); /* that slot was linked, and no more */
}

/*
 * The tail's slot, its word, and whether `tail` still was the tail when the word was read: then it
 * is that of the queue's last slot, or of the last but one.
 *
 * A word that is not FREE was written by a call that has the slot, and may be seen without the tail
 * that this call saw: such a slot is out of the queue, whatever the tail below says.
 */
static bool haft__read_last(haft_counted *table, uint64_t tail, haft__atomic_u64 **at, uint64_t *word)
{
    *at = haft__counted_at(table, haft__counted_low(tail));
    /* Weakened, the word could be one that the slot got when it was given to the queue again, while
     * the tail below is from before. */
    *word = haft__load_acquire(QUEUE, *at);
    if (haft__counted_state_of(*word) != haft__COUNTED_FREE || haft__load_relaxed(SAME, haft__queue_tail(table)) != tail) {
        return false;
    }
    assert(haft__counted_low(*word) != haft__COUNTED_CLOSED);
    return true;
}

/* The tail leads on to slot `index`, unless another call has done so. */
static void haft__advance_tail(haft_counted *table, uint64_t tail, uint64_t index)
{
    /* Weakened, a slot could be taken out whose link is not visible. */
    haft__cas_release(QUEUE, haft__queue_tail(table), tail, haft__end_at(tail, index));
}

HAFT_INTERNAL haft_status haft__queue_take(haft_counted *table, uint64_t *index, uint64_t *haft__length)
{
    for (;;) {
        /* Weakened, the tail read below could be older than this head. */
        const uint64_t head = haft__load_acquire(QUEUE, haft__queue_head(table));
        /* Weakened, the link of the first slot could be one from before it was linked. */
        const uint64_t tail = haft__load_acquire(QUEUE, haft__queue_tail(table));
        haft__atomic_u64 *at;
        uint64_t word;

        if (haft__counted_low(head) == haft__COUNTED_CLOSED || haft__counted_low(tail) == haft__COUNTED_CLOSED) {
            return HAFT_CLOSED;
        }
        *haft__length = (haft__count_of(tail) - haft__count_of(head)) & haft__COUNT_MASK;
        if (*haft__length > table->min_free) {
            const uint64_t first = haft__counted_low(head);
            const uint64_t next = haft__counted_low(haft__load_relaxed(RETRY, haft__counted_at(table, first)));

            /* Release: weakened, a call could find this head, and a tail from before the one that
             * let the slot go.  Acquire: the slot's last life is over, as the loads above see. */
            if (haft__cas_acq_rel(QUEUE, haft__queue_head(table), head, haft__end_at(head, next))) {
                assert(next > haft__COUNTED_CLOSED && next != first && "min_free slots stay behind it");
                *index = first;
                return HAFT_OK;
            }
        } else if (haft__read_last(table, tail, &at, &word)) {
            if (haft__counted_low(word) != haft__COUNTED_NONE) {
                haft__advance_tail(table, tail, haft__counted_low(word));
            } else if (haft__load_relaxed(SAME, haft__queue_head(table)) == head) {
                return HAFT_FULL; /* when the word was read, these were head and tail */
            }
        }
    }
}

HAFT_INTERNAL bool haft__queue_give(haft_counted *table, uint64_t index, uint32_t life)
{
    haft__atomic_u64 *haft__own = haft__counted_at(table, index);

    assert(haft__counted_state_of(haft__load_relaxed(OWN, haft__own)) == haft__COUNTED_RESERVED);
    /* Weakened, a call could take it for the word of a slot that is the queue's last. */
    haft__store_release(QUEUE, haft__own, haft__counted_word(life, haft__COUNTED_FREE, haft__COUNTED_NONE));
    for (;;) {
        /* Weakened, the word of the last slot could be one from before it was linked. */
        const uint64_t tail = haft__load_acquire(QUEUE, haft__queue_tail(table));
        haft__atomic_u64 *at;
        uint64_t word;

        if (haft__counted_low(tail) == haft__COUNTED_CLOSED) {
            return false;
        }
        if (!haft__read_last(table, tail, &at, &word)) {
            continue;
        }
        if (haft__counted_low(word) != haft__COUNTED_NONE) {
            haft__advance_tail(table, tail, haft__counted_low(word));
            /* Weakened, the slot could be taken with a life from before. */
        } else if (haft__cas_release(QUEUE, at, word, word | index)) {
            haft__advance_tail(table, tail, index);
            haft__returned_add(table);
            return true;
        }
    }
}

/* Count the slots from the first on, and let none be linked behind the last. */
static void haft__close_links(haft_counted *table, uint64_t first, uint64_t tail)
{
    uint64_t index = first;

    for (;;) {
        haft__atomic_u64 *at = haft__counted_at(table, index);
        /* Weakened, the next slot's word could be from before it was linked. */
        const uint64_t word = haft__load_acquire(QUEUE, at);
        const uint64_t next = haft__counted_low(word);

        if (next == haft__COUNTED_NONE) {
            /* Release: weakened, a call could find this mark, and the tail from before closing.
             * Acquire: as the load above. */
            if (haft__cas_acq_rel(QUEUE, at, word, word | haft__COUNTED_CLOSED)) {
                table->owned++;
                return;
            }
            continue;
        }
        table->owned++;
        assert(table->owned <= table->slot_count && next != index);
        table->linked += index == haft__counted_low(tail); /* linked by a call that finds no tail now */
        index = next;
    }
}

HAFT_INTERNAL void haft__queue_close(haft_counted *table)
{
    /* Weakened, the first slot's word could be from before it was given. */
    const uint64_t head = haft__exchange_acquire(QUEUE, haft__queue_head(table), haft__COUNTED_CLOSED);
    const uint64_t tail = haft__exchange_relaxed(COUNT, haft__queue_tail(table), haft__COUNTED_CLOSED);

    if (haft__counted_low(head) != haft__COUNTED_CLOSED) {
        table->linked = haft__count_of(tail);
        haft__close_links(table, haft__counted_low(head), tail);
        assert(table->owned <= table->slot_count);
    }
}

/* concurrent/counted/shards.c */

/*
 * Free slots in stacks: the search, and the end.
 *
 * Edges in this file.
 *   SHARD   shards_give, shards_try, end_plainly (release) -> shards_look, shards_close (acquire)
 *           the slot's last life; and the slots that a thread gave before it took one
 *   OWN     the slots that closing has taken are its own
 *   COUNT   each thread's number is assigned once, in no order with anything else
 */

HAFT_INTERNAL haft__THREAD_LOCAL uint32_t haft__shards_thread;

HAFT_INTERNAL uint64_t haft__shards_count(uint64_t capacity)
{
    uint64_t count = 1;

    while (count < haft__COUNTED_MOST_SHARDS && count * 2 <= capacity) {
        count *= 2;
    }
    assert(count <= haft__COUNTED_MOST_SHARDS && (count & (count - 1)) == 0);
    return count;
}

HAFT_INTERNAL uint32_t haft__shards_number_thread(void)
{
    static haft__atomic_u64 threads;

    haft__shards_thread = (uint32_t)haft__fetch_add_relaxed(COUNT, &threads, 1) + 1;
    return haft__shards_thread;
}

/* Take the first slot of the shard: HAFT_OK, HAFT_FULL, HAFT_CLOSED. */
static haft_status haft__take_from(haft_counted *table, haft__atomic_u64 *shard, uint64_t *index)
{
    uint64_t word;

    while (!haft__shards_try(table, shard, index, &word)) {
        if (*index <= haft__COUNTED_CLOSED) {
            return *index == haft__COUNTED_NONE ? HAFT_FULL : HAFT_CLOSED;
        }
        haft__shards_move_thread();
    }
    return HAFT_OK;
}

HAFT_INTERNAL haft_status haft__shards_take(haft_counted *table, uint64_t *index)
{
    const uint32_t begin = haft__shards_own_number(table);
    const uint32_t mask = table->shard_mask;
    struct haft__counted_head *heads = table->block->heads;
    haft_status status = HAFT_FULL;

    for (uint32_t i = 0; status == HAFT_FULL && i <= mask; i++) {
        status = haft__take_from(table, &heads[(begin + i) & mask].word, index);
    }
    return status;
}

/* All heads; whether one has a slot or is closed. */
static bool haft__shards_look(const haft_counted *table, uint64_t heads[haft__COUNTED_MOST_SHARDS])
{
    uint64_t found = 0;

    assert(table->shard_mask < haft__COUNTED_MOST_SHARDS);
    for (uint32_t i = 0; i <= table->shard_mask; i++) {
        /* Weakened, the second look could be older than a slot given before the first. */
        heads[i] = haft__load_acquire(SHARD, &table->block->heads[i].word);
        found |= haft__counted_low(heads[i]);
    }
    return found != 0;
}

HAFT_INTERNAL haft_status haft__shards_take_surely(haft_counted *table, uint64_t *index)
{
    uint64_t first[haft__COUNTED_MOST_SHARDS];
    uint64_t second[haft__COUNTED_MOST_SHARDS];
    const size_t size = ((size_t)table->shard_mask + 1) * sizeof first[0];

    for (;;) {
        const haft_status status = haft__shards_take(table, index);

        if (status != HAFT_FULL) {
            return status;
        }
        if (!haft__shards_look(table, first) && !haft__shards_look(table, second) &&
            memcmp(first, second, size) == 0) {
            return HAFT_FULL;
        }
    }
}

HAFT_INTERNAL void haft__shards_close(haft_counted *table)
{
    for (uint32_t i = 0; i <= table->shard_mask; i++) {
        haft__atomic_u64 *shard = &table->block->heads[i].word;
        /* Weakened, the slots' links could be from before they were given. */
        uint64_t index = haft__counted_low(haft__exchange_acquire(SHARD, shard, haft__COUNTED_CLOSED));

        while (index > haft__COUNTED_CLOSED) {
            table->owned++;
            assert(table->owned <= table->slot_count);
            index = haft__counted_low(haft__load_relaxed(OWN, haft__counted_at(table, index)));
        }
    }
}

/* concurrent/counted/values.c */

/*
 * The bytes of counted objects.
 *
 * Edges in this file.
 *   VALUE   write_words (release) -> values_read (acquire)   the end of a slot's last life
 *           before the words of the next object: a reader of one of these sees that end as well
 */

/* Write `size` bytes, which are zero beyond those of the object up to a whole word. */
static void haft__write_words(void *haft__object, const void *from, size_t size)
{
    assert(size <= haft__VALUES_MOST_BYTES);
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        const size_t part = size - at < sizeof(uint64_t) ? size - at : sizeof(uint64_t);
        uint64_t word = 0;

        if (from != NULL) {
            memcpy(&word, (const char *)from + at, part);
        }
        /* Weakened, a copy could have words of this object, and find the last one's life after. */
        haft__bytes_store_release(VALUE, (char *)haft__object + at, word);
    }
}

HAFT_INTERNAL void haft__values_write_any(const haft_counted *table, void *haft__object, const void *from)
{
    haft__values_unpoison(table, haft__object);
    if (table->copies) {
        haft__write_words(haft__object, from, table->object_size);
    } else if (from == NULL) {
        memset(haft__object, 0, table->object_size);
    } else {
        memcpy(haft__object, from, table->object_size);
    }
}

HAFT_INTERNAL void haft__values_wipe(const haft_counted *table, void *haft__object)
{
    if (table->copies) {
        haft__write_words(haft__object, NULL, table->object_size);
    } else {
        memset(haft__object, 0, table->object_size); /* kept: the slot is given to other threads next */
    }
}

/* concurrent/counted/walk.c */

/*
 * Walks over the slots of a counted table: cursors, statistics, and statuses in words.
 *
 * Edges in this file.
 *   COUNT    a statistic, or how far a walk goes: what the caller knows to be inserted is there
 */

bool haft_counted_cursor_next(haft_counted *table, haft_counted_cursor *cursor, haft_id *id,
                              void **haft__object)
{
    const uint64_t end = haft__free_slots_end(table);

    for (uint64_t index = HAFT_FIRST_INDEX + cursor->passed; index < end; index++) {
        haft_id found;

        cursor->passed = index + 1 - HAFT_FIRST_INDEX;
        if (haft_counted_id_at(table, index, &found) == HAFT_OK) {
            void *held = haft_counted_acquire(table, found);

            if (held != NULL) {
                *id = found;
                *haft__object = held;
                return true;
            }
        }
    }
    return false;
}

static void haft__count_slot(haft_counted_stats *stats, uint64_t word)
{
    switch (haft__counted_state_of(word)) {
    case haft__COUNTED_LIVE:
        stats->live++;
        stats->held += haft__counted_low(word) != 0;
        break;
    case haft__COUNTED_ENDED:
        stats->ended++;
        break;
    case haft__COUNTED_RESERVED:
        if (haft__counted_low(word) == haft__COUNTED_FOR_CALLER) {
            stats->reserved++;
        } else if (haft__counted_low(word) == haft__COUNTED_EXHAUSTED) {
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
    const uint64_t end = haft__free_slots_end(table);
    haft_counted_stats stats = {
        .high_water = end - HAFT_FIRST_INDEX,
        .capacity = table->capacity,
        .limit = table->slot_count,
    };

    for (uint64_t index = HAFT_FIRST_INDEX; index < end; index++) {
        const uint64_t word = haft__load_relaxed(COUNT, haft__counted_at(table, index));

        if (haft__queue_slot_is_unused(table, index, word)) {
            stats.high_water--;
        } else {
            haft__count_slot(&stats, word);
        }
    }
    stats.bytes = haft__counted_bytes(table, end);
    return stats;
}

/* --- in words --- */

static void haft__add_part(struct haft__text *text, const char **before, uint64_t count, const char *one,
                     const char *more)
{
    if (count != 0) {
        haft__text_add(text, "%s", *before);
        haft__text_add_counted(text, count, one);
        haft__text_add(text, "%s", more);
        *before = ", ";
    }
}

/* What is in use beside live objects. */
static void haft__add_use(struct haft__text *text, const char *before, const haft_counted_stats *stats)
{
    haft__add_part(text, &before, stats->reserved, "slot", " reserved");
    haft__add_part(text, &before, stats->ended, "object", " freed and still held or being destroyed");
}

int haft_counted_explain(const haft_counted *table, haft_status status, char *line, size_t size)
{
    struct haft__text text = haft__text_in(line, size);
    const bool counts = status == HAFT_FULL || status == HAFT_IN_USE;
    const haft_counted_stats stats =
        counts ? haft_counted_stats_get(table) : (haft_counted_stats){0};

    haft__text_add(&text, "%s: ", table->name);
    if (status == HAFT_FULL) {
        haft__text_add(&text, "full: capacity ");
        haft__text_add_count(&text, table->capacity);
        haft__text_add(&text, "; ");
        haft__text_add_count(&text, stats.live);
        haft__text_add(&text, " live");
        const char *before = ", ";

        haft__add_use(&text, before, &stats);
        haft__add_part(&text, &before, stats.exhausted, "slot", " exhausted");
    } else if (status == HAFT_IN_USE) {
        const char *before = "in use: ";

        haft__add_part(&text, &before, stats.live, "object", " live");
        haft__add_part(&text, &before, stats.held, "object", " of them held");
        haft__add_use(&text, before, &stats);
        if (stats.live + stats.reserved + stats.ended == 0) {
            haft__text_add(&text, "in use: a call under way");
        }
    } else {
        haft__text_add(&text, "%s", haft_status_text(status));
    }
    return haft__text_length(&text);
}

/*
 * concurrent/batches/tuning.h - every number that was chosen for speed or for memory, and why.
 *
 * docs/performance-notes.md has the measurements.  A number that follows from another is written as
 * a multiple of it.
 */

/* --- batches --- */

/* Slots in a batch, at most: the shared operations of a batch are spread over them. */
#define haft__BATCH_SLOTS 128

/* Batches in each of a worker's rings: more than may wait of full ones.  In the ring of a worker
 * that only frees, as many stay behind. */
#define haft__RING_BATCHES 128

/* Empty descriptors that a worker keeps, in its own cache. */
#define haft__SPARE_BATCHES 16

/* Descriptors that a worker brings at once, 11 KiB: twice those of the batches in use. */
#define haft__SEGMENT_BATCHES (2 * haft__PRIVATE_BATCHES)

/* Workers that the smallest tables' budgets are spread over. */
#define haft__WORKERS_EXPECTED 16

/* --- fresh slots --- */

/* Drawn by a worker at once: 64 KiB with 24-byte objects, beyond a prefetcher's reach. */
#define haft__EXTENT_SLOTS (16 * haft__BATCH_SLOTS)

/* Extents that a table is divided into, if it is large enough, so that no worker draws it all. */
#define haft__EXTENTS_LEAST 64

/* --- quiescent points --- */

/* Retired slots that are worth a ticket. */
#define haft__WORTH_CLOSING 32

/* Partial batches that may wait, of the most that a ring may have: while this many do, only full
 * ones are retired. */
#define haft__PARTIAL_BATCHES(most) ((most) / 2)

/* Retired slots that may wait, at most, before a quiescent point waits for them: the fewest that
 * leave two threads 97 % of their speed.  Half as many take 18 % of it where both wait for
 * liburcu's memb, a quarter of as many 37 %. */
#define haft__BACKLOG_SLOTS (64 * haft__BATCH_SLOTS)

/* Parts of the backlog: in between, if another thread drives the clock; and the retired slots for
 * which a thread looks at the announcements of all others (workers clock), in a table that is large
 * enough: open.c. */
#define haft__BACKLOG_MOST(slots) ((slots) + (slots) / 2)
#define haft__BACKLOG_WORTH(slots) ((slots) / 4)

/* Memory of a table that may wait for a grace period, if no option says: half of it is what 16
 * workers let wait of slots of 64 bytes.  Of larger slots fewer wait, and batches hold fewer. */
#define haft__WAITING_BYTES (16 << 20)

/* Tickets for which the thread clock wakes: what one worker lets wait. */
#define haft__TICKETS_PER_WAKE (haft__BACKLOG_SLOTS / haft__BATCH_SLOTS)

/* Elapsed slots reclaimed at one quiescent point, and up to a batch more: a bound on its pause. */
#define haft__RECLAIMED_SLOTS (4 * haft__BATCH_SLOTS)

/* Ready batches that a worker keeps, as it keeps an extent: the depot has the others, where each
 * refill looks before it draws fresh slots. */
#define haft__READY_BATCHES (haft__EXTENT_SLOTS / haft__BATCH_SLOTS)

/* Batches of unpinned slots reclaimed at once. */
#define haft__UNPINNED_MOST 512

/* Tickets remembered with the slots that they stand for: more of them wait within one job only. */
#define haft__CLOSINGS haft__RING_BATCHES

/*
 * concurrent/batches/batch.h - batches of slots (Bonwick's magazines).
 *
 * A batch is an array of slot indices that travels as one.  Its holder owns everything in it except
 * the atomics: a worker, or for a moment the thread that takes it from a ring or a depot.
 */

struct haft__batch {
    uint32_t count;       /* indices; 0 in a worker's filling or open batch: see worker_batches.h */
    bool has_last_lives;  /* some slot has lived its last generation */
    haft__atomic_u64 ticket;    /* may be reused when the domain has done it; 0: at once */
    haft__atomic_u64 pool_next; /* in the pool: the next one's number */
    haft__atomic_u64 node_next; /* as a node of the depot: the next node, tagged */
    haft__atomic_u64 node_batch; /* as a node of the depot: the batch that waits there */
    uint64_t number;       /* this descriptor */
    uint64_t node;         /* the depot node that it brings along */
    _Alignas(haft__CACHE_LINE) uint32_t indices[haft__BATCH_SLOTS];
};

/* Move slots from the end of `from` to `to`, until `to` has `most` or `from` is empty. */
HAFT_INTERNAL void haft__batch_move(struct haft__batch *to, struct haft__batch *from, uint32_t most);

/* Whether its indices are those of slots, and no two alike; not of a filling or open batch. */
static inline bool haft__batch_is_sound(const struct haft__batch *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        if (batch->indices[i] < HAFT_FIRST_INDEX) {
            return false;
        }
        for (uint32_t other = 0; other < i; other++) {
            if (batch->indices[other] == batch->indices[i]) {
                return false;
            }
        }
    }
    return batch->count <= haft__BATCH_SLOTS;
}

/* concurrent/batches/batch.c */

/*
 * Batches.
 *
 * Edges in this file.
 *   OWN   this thread alone has both batches
 */

HAFT_INTERNAL void haft__batch_move(struct haft__batch *to, struct haft__batch *from, uint32_t most)
{
    assert(to != from && most <= haft__BATCH_SLOTS);
    assert(to->count <= most && from->count <= haft__BATCH_SLOTS);
    const uint32_t room = most - to->count;
    const uint32_t moved = from->count < room ? from->count : room;
    const uint64_t ticket = haft__load_relaxed(OWN, &from->ticket);

    from->count -= moved;
    memcpy(&to->indices[to->count], &from->indices[from->count], moved * sizeof to->indices[0]);
    to->count += moved;
    assert(to->count <= most && "a batch has no more slots than it has room for");
    haft__assert_walk(haft__batch_is_sound(to) && haft__batch_is_sound(from));
    to->has_last_lives = to->has_last_lives || from->has_last_lives;
    if (ticket > haft__load_relaxed(OWN, &to->ticket)) {
        haft__store_relaxed(OWN, &to->ticket, ticket);
    }
}

/*
 * concurrent/batches/pool.h - the pool that descriptors of batches come from.
 *
 * The pool has a descriptor for each batch that can exist, so retiring never allocates and never
 * fails.  Batches in the depots are full: there are at most slots / batch_max of them.  All others
 * are with workers, and each worker holds as many as it has brought descriptors for, in segments.
 */

/* A worker's batches in no ring: the filling and the open one, eight in use. */
#define haft__PRIVATE_BATCHES 10

#define haft__MOST_SEGMENTS (UINT64_C(1) << 23) /* in one table */

/* The directory of segments: part p has DIRECTORY_LEAST << p places, behind those of part p - 1. */
#define haft__DIRECTORY_LEAST 16
#define haft__DIRECTORY_PARTS 20 /* with places for MOST_SEGMENTS */

/* The descriptors that a worker brings at once. */
struct haft__segment {
    uint64_t place;  /* in the pool's directory */
    haft__atomic_u64 used; /* used once, from the start */
    struct haft__batch batches[haft__SEGMENT_BATCHES];
};

struct haft__pool {
    struct haft__reservation table;   /* the descriptors for the depot */
    uint64_t table_count;       /* how many */
    const haft_allocator *heap; /* for the table, segments, and parts of the directory */
    haft__atomic_u64
        directory[haft__DIRECTORY_PARTS]; /* addresses of parts, which hold addresses of segments */

    _Alignas(haft__CACHE_LINE) haft__atomic_u64 top; /* of the stack of unused descriptors, tagged */
    haft__atomic_u64 table_used;               /* descriptors used once, from the start */
    haft__atomic_u64 segments;                 /* how many */
};

/* `batches`: the most that the depot may hold.  `heap` must last.  HAFT_OK or HAFT_NO_MEMORY. */
HAFT_INTERNAL
haft_status haft__pool_open(struct haft__pool *pool, uint64_t batches, const haft_allocator *heap);

HAFT_INTERNAL void haft__pool_close(struct haft__pool *pool);

/* Make sure of memory for `batches` in the depot.  HAFT_OK or HAFT_NO_MEMORY. */
HAFT_INTERNAL haft_status haft__pool_commit(struct haft__pool *pool, uint64_t batches);

/* Have the system find it now, and all segments; it was made sure of. */
HAFT_INTERNAL haft_status haft__pool_populate(const struct haft__pool *pool, uint64_t batches);

/* Add a segment, which is the pool's; NULL: no memory.  Lock-free, except in the allocator. */
HAFT_INTERNAL struct haft__segment *haft__pool_grow(struct haft__pool *pool);

/*
 * An empty batch; there always is one.  Lock-free.  Unused ones of `own` come first, if it is not
 * NULL: descriptors that lie together are fetched together, so they should be one thread's.
 */
HAFT_INTERNAL struct haft__batch *haft__pool_take(struct haft__pool *pool, struct haft__segment *haft__own);

/* Give an empty batch back.  Lock-free. */
HAFT_INTERNAL void haft__pool_give(struct haft__pool *pool, struct haft__batch *batch);

/* Descriptors ever used; those of them that lie in the pool.  When no call is under way. */
HAFT_INTERNAL uint64_t haft__pool_used(const struct haft__pool *pool);
HAFT_INTERNAL uint64_t haft__pool_unused(const struct haft__pool *pool);

/* The descriptor with this number, which some batch was seen to have. */
HAFT_INTERNAL struct haft__batch *haft__pool_batch(const struct haft__pool *pool, uint64_t number);

/*
 * concurrent/batches/depot.h - where full batches wait for which no worker's ring has room.
 *
 * A first-in first-out queue, so that the batches that have waited longest come first: the queue
 * of M. Michael and M. Scott ("Simple, fast, and practical non-blocking and blocking concurrent
 * queue algorithms", PODC 1996), with numbers of descriptors and tags instead of pointers.  Each
 * batch brings the node it waits in and leaves with the node that the queue's head gives up.
 */

#define haft__DEPOT_NODES 3 /* descriptors beside the batches: a node for each depot, and one to spare */

struct haft__depot {
    _Alignas(haft__CACHE_LINE) haft__atomic_u64 head; /* tagged number of the node before the first */
    _Alignas(haft__CACHE_LINE) haft__atomic_u64 tail; /* tagged number of the last node, or of the one before */
};

HAFT_INTERNAL void haft__depot_open(struct haft__depot *depot, struct haft__pool *pool);

/* Lock-free. */
HAFT_INTERNAL void haft__depot_push(struct haft__depot *depot, const struct haft__pool *pool, struct haft__batch *batch);

/* The oldest batch if its ticket is at most `done`, else NULL.  Lock-free. */
HAFT_INTERNAL struct haft__batch *haft__depot_take(struct haft__depot *depot, const struct haft__pool *pool, uint64_t done);

/*
 * concurrent/batches/tagged.h - numbers: drawn once each; and with a tag, as the heads of
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
#define haft__NUMBER_BITS 34
#define haft__NUMBER_NONE ((UINT64_C(1) << haft__NUMBER_BITS) - 1)

static inline uint64_t haft__tagged_number(uint64_t tagged)
{
    return tagged & haft__NUMBER_NONE;
}

/* `number` under the tag that follows `tagged`'s. */
static inline uint64_t haft__tagged_next(uint64_t tagged, uint64_t number)
{
    assert(number <= haft__NUMBER_NONE);
    return ((tagged >> haft__NUMBER_BITS) + 1) << haft__NUMBER_BITS | number;
}

/* A number below `count` that was never drawn, or NUMBER_NONE.  Any threads, lock-free. */
static inline uint64_t haft__take_number(haft__atomic_u64 *used, uint64_t count)
{
    for (;;) {
        const uint64_t before = haft__load_relaxed(RETRY, used);

        if (before >= count) {
            return haft__NUMBER_NONE;
        }
        if (haft__cas_relaxed(RETRY, used, before, before + 1)) {
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

HAFT_INTERNAL void haft__depot_open(struct haft__depot *depot, struct haft__pool *pool)
{
    const struct haft__batch *first = haft__pool_take(pool, NULL);

    haft__store_relaxed(OWN, &depot->head, first->node);
    haft__store_relaxed(OWN, &depot->tail, first->node);
}

HAFT_INTERNAL void haft__depot_push(struct haft__depot *depot, const struct haft__pool *pool, struct haft__batch *batch)
{
    assert(batch->count <= haft__BATCH_SLOTS);
    struct haft__batch *node = haft__pool_batch(pool, batch->node);
    const uint64_t link = haft__load_relaxed(OWN, &node->node_next);

    haft__store_release(DEPOT, &node->node_batch, batch->number);
    /* Released, for threads that still hold this node from an earlier look: when they look at head
     * or tail again, they see that it has left. */
    haft__store_release(DEPOT, &node->node_next, haft__tagged_next(link, haft__NUMBER_NONE));
    for (;;) {
        const uint64_t tail = haft__load_acquire(DEPOT, &depot->tail);
        struct haft__batch *last = haft__pool_batch(pool, haft__tagged_number(tail));
        const uint64_t next = haft__load_acquire(DEPOT, &last->node_next);

        if (tail != haft__load_acquire(DEPOT, &depot->tail)) {
            continue;
        }
        if (haft__tagged_number(next) != haft__NUMBER_NONE) { /* the tail lags: help it on */
            haft__cas_release(DEPOT, &depot->tail, tail, haft__tagged_next(tail, haft__tagged_number(next)));
            continue;
        }
        /* Weakened, a taker could read indices that were in the batch before. */
        if (haft__cas_release(DEPOT, &last->node_next, next, haft__tagged_next(next, node->number))) {
            haft__cas_release(DEPOT, &depot->tail, tail, haft__tagged_next(tail, node->number));
            return;
        }
    }
}

HAFT_INTERNAL struct haft__batch *haft__depot_take(struct haft__depot *depot, const struct haft__pool *pool, uint64_t done)
{
    for (;;) {
        const uint64_t head = haft__load_acquire(DEPOT, &depot->head);
        const uint64_t tail = haft__load_acquire(DEPOT, &depot->tail);
        struct haft__batch *before = haft__pool_batch(pool, haft__tagged_number(head));
        const uint64_t next = haft__load_acquire(DEPOT, &before->node_next);

        if (head != haft__load_acquire(DEPOT, &depot->head)) {
            continue;
        }
        if (haft__tagged_number(next) == haft__NUMBER_NONE) {
            return NULL;
        }
        if (haft__tagged_number(head) == haft__tagged_number(tail)) { /* the tail lags: help it on */
            haft__cas_release(DEPOT, &depot->tail, tail, haft__tagged_next(tail, haft__tagged_number(next)));
            continue;
        }
        const struct haft__batch *node = haft__pool_batch(pool, haft__tagged_number(next));
        struct haft__batch *batch = haft__pool_batch(pool, haft__load_acquire(DEPOT, &node->node_batch));

        if (haft__load_relaxed(RETRY, &batch->ticket) > done) {
            return NULL;
        }
        if (haft__cas_release(DEPOT, &depot->head, head, haft__tagged_next(head, haft__tagged_number(next)))) {
            assert(batch->count <= haft__BATCH_SLOTS);
            batch->node = haft__tagged_number(head);
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
 *   WORKER_LIST  add_segment (release) -> pool_batch, pool_take (acquire)   a segment's set-up;
 *           make_part (release) -> directory_entry (acquire)   a part begins empty;
 *           add_segment (release) -> take_unused, pool_populate (acquire)   a place's part is there
 *   OWN     this thread alone has the descriptor, or the pool
 *   RETRY   a first look; the compare-and-swap decides
 */

/* --- the directory --- */

static unsigned haft__part_of(uint64_t place)
{
    return haft__highest_bit(place / haft__DIRECTORY_LEAST + 1);
}

static uint64_t haft__part_size(unsigned part)
{
    return (uint64_t)haft__DIRECTORY_LEAST << part;
}

/* Places of the parts before. */
static uint64_t haft__part_first(unsigned part)
{
    return haft__part_size(part) - haft__DIRECTORY_LEAST;
}

static haft__atomic_u64 *haft__entry_in(uint64_t part_address, uint64_t place)
{
    return (haft__atomic_u64 *)(uintptr_t)part_address + (place - haft__part_first(haft__part_of(place)));
}

static haft_status haft__make_part(struct haft__pool *pool, unsigned part)
{
    const size_t bytes = (size_t)haft__part_size(part) * sizeof(haft__atomic_u64);

    if (haft__load_relaxed(RETRY, &pool->directory[part]) != 0) {
        return HAFT_OK;
    }
    void *made = haft__heap_take_zero(pool->heap, bytes, sizeof(haft__atomic_u64));

    if (made == NULL) {
        return HAFT_NO_MEMORY;
    }
    /* Weakened, a place in it could be read before it is empty. */
    if (!haft__cas_release(WORKER_LIST, &pool->directory[part], 0, (uintptr_t)made)) {
        haft__heap_give(pool->heap, made, bytes); /* another thread was faster */
    }
    return HAFT_OK;
}

static haft__atomic_u64 *haft__directory_entry(const struct haft__pool *pool, uint64_t place)
{
    assert(place < haft__MOST_SEGMENTS);
    /* Weakened, an address could be read that was in the part's memory before. */
    return haft__entry_in(haft__load_acquire(WORKER_LIST, &pool->directory[haft__part_of(place)]), place);
}

static struct haft__segment *haft__segment_at(const struct haft__pool *pool, uint64_t segment)
{
    /* Weakened, a descriptor's first use could come before its segment's set-up. */
    return (struct haft__segment *)(uintptr_t)haft__load_acquire(WORKER_LIST, haft__directory_entry(pool, segment));
}

static void haft__give_segments(const struct haft__pool *pool)
{
    const uint64_t segments = haft__load_relaxed(OWN, &pool->segments);

    for (uint64_t i = 0; i < segments; i++) {
        haft__heap_give(pool->heap, haft__segment_at(pool, i), sizeof(struct haft__segment));
    }
}

static void haft__give_directory(const struct haft__pool *pool)
{
    for (unsigned part = 0; part < haft__DIRECTORY_PARTS; part++) {
        haft__heap_give(pool->heap, (void *)(uintptr_t)haft__load_relaxed(OWN, &pool->directory[part]),
                  (size_t)haft__part_size(part) * sizeof(haft__atomic_u64));
    }
}

/* --- the pool comes and goes --- */

static void haft__pool_start(struct haft__pool *pool, uint64_t batches)
{
    assert(batches != 0 && batches < haft__NUMBER_NONE);
    pool->table_count = batches;
    for (unsigned part = 0; part < haft__DIRECTORY_PARTS; part++) {
        haft__store_relaxed(OWN, &pool->directory[part], 0);
    }
    haft__store_relaxed(OWN, &pool->table_used, 0);
    haft__store_relaxed(OWN, &pool->segments, 0);
    haft__store_relaxed(OWN, &pool->top, haft__NUMBER_NONE);
}

HAFT_INTERNAL haft_status haft__pool_open(struct haft__pool *pool, uint64_t batches, const haft_allocator *heap)
{
    const haft_status status = haft__reservation_open_unread(&pool->table, batches * sizeof(struct haft__batch),
                                                       _Alignof(struct haft__batch), heap);

    if (status == HAFT_OK) {
        haft__pool_start(pool, batches);
        pool->heap = heap;
    }
    return status;
}

HAFT_INTERNAL void haft__pool_close(struct haft__pool *pool)
{
    haft__give_segments(pool);
    haft__give_directory(pool);
    haft__reservation_close_array(&pool->table, pool->heap);
}

static uint64_t haft__bytes_of(const struct haft__pool *pool, uint64_t batches)
{
    return (batches < pool->table_count ? batches : pool->table_count) * sizeof(struct haft__batch);
}

HAFT_INTERNAL haft_status haft__pool_commit(struct haft__pool *pool, uint64_t batches)
{
    return haft__reservation_commit(&pool->table, haft__bytes_of(pool, batches));
}

HAFT_INTERNAL haft_status haft__pool_populate(const struct haft__pool *pool, uint64_t batches)
{
    haft_status status = haft__reservation_populate(&pool->table, 0, haft__bytes_of(pool, batches));
    /* Weakened, the parts of the directory that they are in could be unseen. */
    const uint64_t segments = haft__load_acquire(WORKER_LIST, &pool->segments);

    for (uint64_t i = 0; i < segments && status == HAFT_OK; i++) {
        struct haft__segment *segment = haft__segment_at(pool, i);

        status = segment != NULL ? haft__memory_populate((char *)segment, sizeof *segment) : HAFT_OK;
    }
    return status;
}

static haft_status haft__add_segment(struct haft__pool *pool, struct haft__segment *segment)
{
    for (;;) {
        const uint64_t place = haft__load_relaxed(RETRY, &pool->segments);

        if (place == haft__MOST_SEGMENTS || haft__make_part(pool, haft__part_of(place)) != HAFT_OK) {
            return HAFT_NO_MEMORY;
        }
        /* Weakened, a thread that finds the place could find no part there. */
        if (haft__cas_release(WORKER_LIST, &pool->segments, place, place + 1)) {
            segment->place = place;
            haft__store_release(WORKER_LIST, haft__directory_entry(pool, place), (uint64_t)(uintptr_t)segment);
            return HAFT_OK;
        }
    }
}

HAFT_INTERNAL struct haft__batch *haft__pool_batch(const struct haft__pool *pool, uint64_t number)
{
    if (number < pool->table_count) {
        return (struct haft__batch *)(void *)pool->table.base + number;
    }
    const uint64_t beyond = number - pool->table_count;

    return &haft__segment_at(pool, beyond / haft__SEGMENT_BATCHES)->batches[beyond % haft__SEGMENT_BATCHES];
}

HAFT_INTERNAL struct haft__segment *haft__pool_grow(struct haft__pool *pool)
{
    struct haft__segment *segment = haft__heap_take(pool->heap, sizeof *segment, haft__CACHE_LINE);

    if (segment == NULL) {
        return NULL;
    }
    haft__store_relaxed(OWN, &segment->used, 0);
    if (haft__add_segment(pool, segment) != HAFT_OK) {
        haft__heap_give(pool->heap, segment, sizeof *segment);
        return NULL;
    }
    return segment;
}

/* The number of a descriptor of `segment` that was never used so far, or NUMBER_NONE. */
static uint64_t haft__take_of_segment(const struct haft__pool *pool, struct haft__segment *segment)
{
    const uint64_t place = haft__take_number(&segment->used, haft__SEGMENT_BATCHES);

    return place == haft__NUMBER_NONE ? haft__NUMBER_NONE
                                : pool->table_count + segment->place * haft__SEGMENT_BATCHES + place;
}

/*
 * The number of any descriptor never used so far, or NUMBER_NONE.  The table's come last: it has
 * as many as the depot can hold, and memory for as many as the slots used so far can fill.
 */
static uint64_t haft__take_unused(struct haft__pool *pool)
{
    /* Weakened, the parts of the directory that they are in could be unseen. */
    const uint64_t segments = haft__load_acquire(WORKER_LIST, &pool->segments);
    uint64_t number = haft__NUMBER_NONE;

    for (uint64_t i = 0; number == haft__NUMBER_NONE && i < segments; i++) {
        struct haft__segment *segment = haft__segment_at(pool, i);

        if (segment != NULL) {
            number = haft__take_of_segment(pool, segment);
        }
    }
    if (number == haft__NUMBER_NONE) {
        number = haft__take_number(&pool->table_used, pool->table_count);
    }
    if (number < pool->table_count) {
        haft__pool_commit(pool, number + 1); /* the worker that drew them committed it: acquire that */
    }
    return number;
}

static struct haft__batch *haft__set_up(struct haft__pool *pool, uint64_t number)
{
    assert(number < haft__NUMBER_NONE);
    struct haft__batch *batch = haft__pool_batch(pool, number);

    batch->number = number;
    batch->node = number;
    batch->count = 0;
    batch->has_last_lives = false;
    haft__store_relaxed(OWN, &batch->ticket, 0);
    haft__store_relaxed(OWN, &batch->node_next, haft__NUMBER_NONE);
    return batch;
}

/* A descriptor that was given back; NULL if there is none. */
static struct haft__batch *haft__take_returned(struct haft__pool *pool)
{
    for (;;) {
        /* Weakened, the indices that the last holder read could be overwritten before. */
        const uint64_t top = haft__load_acquire(POOL, &pool->top);

        if (haft__tagged_number(top) == haft__NUMBER_NONE) {
            return NULL;
        }
        struct haft__batch *batch = haft__pool_batch(pool, haft__tagged_number(top));
        /* If another thread has taken the descriptor and uses it, the tag has changed. */
        const uint64_t next = haft__load_relaxed(RETRY, &batch->pool_next);

        if (haft__cas_acquire(POOL, &pool->top, top, haft__tagged_next(top, next))) {
            return batch;
        }
    }
}

HAFT_INTERNAL struct haft__batch *haft__pool_take(struct haft__pool *pool, struct haft__segment *haft__own)
{
    uint64_t number = haft__own != NULL ? haft__take_of_segment(pool, haft__own) : haft__NUMBER_NONE;

    while (number == haft__NUMBER_NONE) {
        struct haft__batch *batch = haft__take_returned(pool);

        if (batch != NULL) {
            assert(batch->count == 0 && !batch->has_last_lives && "a batch in the pool is empty");
            return batch;
        }
        number = haft__take_unused(pool); /* if all are used, one has been given back meanwhile */
    }
    return haft__set_up(pool, number);
}

HAFT_INTERNAL void haft__pool_give(struct haft__pool *pool, struct haft__batch *batch)
{
    uint64_t top;

    assert(batch->count == 0 && batch->number != haft__NUMBER_NONE);
    batch->has_last_lives = false;
    do {
        top = haft__load_relaxed(RETRY, &pool->top);
        haft__store_relaxed(OWN, &batch->pool_next, haft__tagged_number(top));
    } while (!haft__cas_release(POOL, &pool->top, top, haft__tagged_next(top, batch->number)));
}

HAFT_INTERNAL uint64_t haft__pool_used(const struct haft__pool *pool)
{
    const uint64_t segments = haft__load_relaxed(OWN, &pool->segments);
    uint64_t count = haft__load_relaxed(OWN, &pool->table_used);

    for (uint64_t i = 0; i < segments; i++) {
        const struct haft__segment *segment = haft__segment_at(pool, i);

        count += segment != NULL ? haft__load_relaxed(OWN, &segment->used) : 0;
    }
    return count;
}

HAFT_INTERNAL uint64_t haft__pool_unused(const struct haft__pool *pool)
{
    uint64_t number = haft__tagged_number(haft__load_relaxed(OWN, &pool->top));
    uint64_t count = 0;

    for (; number != haft__NUMBER_NONE; count++) {
        number = haft__load_relaxed(OWN, &haft__pool_batch(pool, number)->pool_next);
    }
    return count;
}

/*
 * concurrent/batches/ring.h - a worker's closed batches, oldest first.
 *
 * The owner pushes at the tail; anyone, the owner too, takes from the head.  Head and tail only
 * grow, so a compare-and-swap of the head proves that the cell read before it was current.
 */

struct haft__ring {
    haft__atomic_u64 head;                /* batches ever taken */
    haft__atomic_u64 tail;                /* batches ever pushed */
    haft__atomic_u64 cells[haft__RING_BATCHES]; /* numbers of descriptors */
};

/* False if the ring is full.  Owner only; wait-free. */
HAFT_INTERNAL bool haft__ring_push(struct haft__ring *ring, const struct haft__batch *batch);

/* Batches in the ring, or more if others take some meanwhile.  Owner only; wait-free. */
HAFT_INTERNAL uint64_t haft__ring_length(const struct haft__ring *ring);

/* The oldest batch if its ticket is at most `done`, else NULL.  Anyone; lock-free. */
HAFT_INTERNAL struct haft__batch *haft__ring_take(struct haft__ring *ring, const struct haft__pool *pool, uint64_t done);

/* concurrent/batches/ring.c */

/*
 * The ring of a worker's closed batches: one thread pushes, all take.
 *
 * Edges in this file.
 *   RING       ring_push (release) -> ring_take (acquire)   a batch's contents
 *   RING_ROOM  ring_take (release) -> ring_push (acquire)   the cell is read before it is reused;
 *              ring_take (release) -> ring_take (acquire)   the taker's mark of transit (handed.h)
 *   OWN        only the owner writes the tail
 *   RETRY      a first look; the compare-and-swap of the head decides
 *   HINT       a length that is a moment old
 */

HAFT_INTERNAL bool haft__ring_push(struct haft__ring *ring, const struct haft__batch *batch)
{
    const uint64_t tail = haft__load_relaxed(OWN, &ring->tail);
    /* Weakened, a taker could read the new batch's number in place of the old one's. */
    const uint64_t head = haft__load_acquire(RING_ROOM, &ring->head);

    assert(tail - head <= haft__RING_BATCHES && batch->count <= haft__BATCH_SLOTS);
    if (tail - head == haft__RING_BATCHES) {
        return false;
    }
    haft__store_release(RING, &ring->cells[tail % haft__RING_BATCHES], batch->number);
    /* Weakened, a taker could read indices that were in the batch before. */
    haft__store_release(RING, &ring->tail, tail + 1);
    return true;
}

HAFT_INTERNAL uint64_t haft__ring_length(const struct haft__ring *ring)
{
    return haft__load_relaxed(OWN, &ring->tail) - haft__load_relaxed(HINT, &ring->head);
}

HAFT_INTERNAL struct haft__batch *haft__ring_take(struct haft__ring *ring, const struct haft__pool *pool, uint64_t done)
{
    for (;;) {
        /* Weakened, a thread that finds the ring empty could miss that the taker has its batch. */
        const uint64_t head = haft__load_acquire(RING_ROOM, &ring->head);
        const uint64_t tail = haft__load_acquire(RING, &ring->tail);

        if (head >= tail) {
            return NULL;
        }
        /* Acquired, since it may be a later batch's: its descriptor is read before the
         * compare-and-swap fails. */
        const uint64_t number = haft__load_acquire(RING, &ring->cells[head % haft__RING_BATCHES]);
        struct haft__batch *batch = haft__pool_batch(pool, number);

        if (haft__load_relaxed(RETRY, &batch->ticket) > done) {
            return NULL;
        }
        if (haft__cas_release(RING_ROOM, &ring->head, head, head + 1)) {
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

HAFT_INTERNAL bool haft__callback_is_running(void);

/* The number of the calling thread's callback: no other one of the thread has it; 0: none runs. */
HAFT_INTERNAL uint64_t haft__callback_number(void);

/* Frees without a worker: those inside callbacks are counted, for the thread. */
HAFT_INTERNAL void haft__callback_note_free(void);
HAFT_INTERNAL uint64_t haft__callback_frees(void);

/* Around each call of on_reclaim and on_stall; not within one another. */
HAFT_INTERNAL void haft__callback_begin(void);
HAFT_INTERNAL void haft__callback_end(void);

/* concurrent/clock/callback.c */

/* Whether a callback runs: a mark of the thread. */

static haft__THREAD_LOCAL uint64_t haft__callbacks_begun;  /* callbacks of the thread, ever */
static haft__THREAD_LOCAL uint64_t haft__callback_running; /* the number of the one that runs; 0: none */
static haft__THREAD_LOCAL uint64_t haft__frees;            /* without a worker, in callbacks */

HAFT_INTERNAL bool haft__callback_is_running(void)
{
    return haft__callback_running != 0;
}

HAFT_INTERNAL uint64_t haft__callback_number(void)
{
    return haft__callback_running;
}

HAFT_INTERNAL void haft__callback_note_free(void)
{
    haft__frees += haft__callback_running != 0;
}

HAFT_INTERNAL uint64_t haft__callback_frees(void)
{
    return haft__frees;
}

HAFT_INTERNAL void haft__callback_begin(void)
{
    assert(haft__callback_running == 0);
    haft__callback_running = ++haft__callbacks_begun;
}

HAFT_INTERNAL void haft__callback_end(void)
{
    assert(haft__callback_running != 0);
    haft__callback_running = 0;
}

/*
 * concurrent/clock/clock.h - the clocks: what a grace period is, and which thread drives it.
 *
 * One clock_*.c for each clock; thread and caller are in clock_foreign.c, as both wait for the read
 * sections of a foreign clock.  Tickets and their order are the domain's.
 */

struct haft__member;
struct haft__nesting;
struct haft__text;

/* NULL: the clock has no use for it; the functions of domain.h and jobs_and_parks.h check that. */
struct haft__clock {
    const char *name;
    bool is_foreign; /* its read sections are those of a foreign clock */

    haft_status (*start)(haft_domain *domain);

    /* Release what start() has taken: with `is_forked` the memory alone, since the clock's thread,
     * its locks and their waiters are the parent's. */
    void (*stop)(haft_domain *domain, bool is_forked);

    /* After a ticket was taken.  Lock-free: a clock that sleeps is woken past a threshold. */
    void (*requested)(haft_domain *domain, uint64_t ticket);

    /* Slots were handed over.  Lock-free: a clock that sleeps is woken. */
    void (*handed)(haft_domain *domain);

    /* A worker runs short of slots.  Lock-free. */
    void (*hurry)(haft_domain *domain);

    /* Wait until `ticket` is done: a quiescent point.  HAFT_BUSY at once: waiting is no help. */
    haft_status (*wait_for)(haft_domain *domain, uint64_t ticket);

    /*
     * The calling thread opens, or closes, a worker.  join: HAFT_OK, with what quiescent() is to
     * be given, and the lift that leave() is to be given (jobs_and_parks.h; 0: none); or
     * HAFT_NO_MEMORY.  Both or none.
     */
    haft_status (*join)(haft_domain *domain, haft_worker *worker, struct haft__member **member,
                        uint32_t *lift);
    void (*leave)(haft_domain *domain, haft_worker *worker, struct haft__member *member, uint32_t lift);

    /* The calling thread holds no resolved pointer; eager: it wants slots back.  Lock-free. */
    void (*quiescent)(haft_domain *domain, struct haft__member *member, bool eager);

    /* Both or none.  In between no grace period waits for the thread; a parked one stays parked. */
    void (*offline)(haft_domain *domain);
    void (*online)(haft_domain *domain);

    /*
     * Jobs (jobs_and_parks.h).  The calling thread's nesting state, brought up to date; with
     * `wanted`, a new one if it has none.  NULL: it has none, or there is no memory for one.
     */
    struct haft__nesting *(*nesting)(haft_domain *domain, bool wanted);

    /* The calling thread's nesting state has changed; its level was `before`. */
    void (*settle)(haft_domain *domain, struct haft__nesting *haft__nesting, int32_t before);

    /* Whether the calling thread is inside a read section that is not its outermost job's. */
    bool (*in_section)(const haft_domain *domain);

    /* Whether the calling thread may use what it resolves.  NULL: that cannot be told: with a
     * foreign clock a thread that is alone may look outside sections. */
    bool (*may_read)(const haft_domain *domain);

    /* Fill in which thread holds a grace period up. */
    void (*blame)(const haft_domain *domain, haft_stall *stall);

    /* Add to a line of text what holds the grace period up, and what to do about it. */
    void (*advise)(const haft_domain *domain, const haft_stall *stall, struct haft__text *text);
};

/* workers_clock in clock_workers.c and so on: haft/domain.h says what each is. */
#define haft__CLOCK_OBJECT(UPPER, lower) HAFT_INTERNAL const struct haft__clock haft__##lower##_clock;
HAFT_CLOCKS(haft__CLOCK_OBJECT)

/*
 * concurrent/clock/measure.h - how long a grace period has been waited for.
 *
 * The measure names its grace period by `done` as it stood when a thread noticed the wait, and
 * counts only while `done` still stands there.  So a measure needs no end, and a thread that writes
 * or reads it late measures nothing.
 */

struct haft__measure {
    struct haft__os_mutex lock; /* to write the two words after it; only ever tried */
    haft__atomic_u64 ticket;    /* the first one that waits: `done` + 1; 0: none was noticed */
    haft__atomic_u64 since;     /* when it was noticed, ns */
    haft__atomic_u64 reported;  /* the `ticket` of the stall reported last */
};

#define haft__NS_PER_S UINT64_C(1000000000)

/* Ready for its first grace period.  The lock is never destroyed: it has nothing to free. */
HAFT_INTERNAL void haft__measure_open(struct haft__measure *haft__measure);

/*
 * The grace period behind `done` is waited for: measure it, unless it is measured.  Lock-free.
 * False: it is not, for another thread has the lock.
 */
HAFT_INTERNAL bool haft__measure_begin(struct haft__measure *haft__measure, uint64_t done);

/*
 * Which ticket's wait is measured, and since when; 0: none.  It counts if `done` stands just before
 * that ticket afterwards.  Wait-free.
 */
HAFT_INTERNAL uint64_t haft__measure_read(const struct haft__measure *haft__measure, uint64_t *since);

/* concurrent/clock/state.h */

/* concurrent/clock/state.h - the structs of the domain. */

/* The nesting state of a thread with a clock: see jobs_and_parks.h. */
struct haft__nesting {
    int32_t level; /* PARKED; 0: offline; 1: in a job, or online without; more: in an inner job */
    uint32_t open; /* jobs begun and not ended, and parks not taken back */

    /* The latest lift: a worker opened on a thread that was parked or offline, and brought it
     * online.  The last worker of the lift that closes takes that back. */
    uint32_t lift;           /* its number */
    uint32_t lift_workers;   /* open workers that were opened in it */
    uint32_t lift_open : 30; /* `open` when it began: it ends when fewer are */
    uint32_t is_lifted : 1;  /* it lasts */
    uint32_t was_parked : 1; /* before it; else offline */
};
#define haft__LIFT_OPEN_MOST ((UINT32_C(1) << 30) - 1)
#define haft__PARKED (-1) /* offline too; only a job, a worker or the end of the park brings it online */

/* Of the clocks that wait for a foreign one. */
struct haft__foreign_driver {
    struct haft__os_mutex lock;
    struct haft__os_condition finished;
    bool is_driving;
};

/* The thread clock's. */
struct haft__thread_clock {
    struct haft__os_thread thread;
    struct haft__os_semaphore wake;
    haft__atomic_u64 woken; /* 1: posted, and not looked yet */
    haft__atomic_u64 stopping;
};

struct haft_domain {
    uint64_t number;            /* no other domain of the process ever has it */
    haft_foreign_clock foreign; /* all NULL with the workers and the frame clock */
    const struct haft__clock *clock;
    struct haft__foreign_driver driver; /* of the clocks that wait for a foreign one */
    struct haft__thread_clock thread;   /* the thread clock's */
    haft__atomic_u64 members;           /* the workers clock's: address of the one added last */
    haft__atomic_u64 sections;          /* open now; counted for the frame clock in debug builds */
    void (*on_stall)(const haft_stall *stall, void *stall_arg);
    void *stall_arg;
    uint64_t stall_ns;
    uint64_t process; /* where it was opened: registry_process() */

    _Alignas(haft__CACHE_LINE) haft__atomic_u64 requested;
    _Alignas(haft__CACHE_LINE) haft__atomic_u64 done;

    haft__atomic_u64 tables;      /* open on this domain */
    struct haft__measure measure; /* of the grace period under way */
    haft__atomic_u64 grace_periods;
    haft__atomic_u64 longest_ns;
    haft__atomic_u64 stalls;

    haft_allocator heap; /* of the domain and its members */
};

/*
 * concurrent/clock/domain.h - the domain, as workers and tables use it: its clock's functions, each
 * with a default for clocks that do not have it.
 */

/* Tell the clock that slots are wanted.  Lock-free. */
HAFT_INTERNAL void haft__domain_hurry(haft_domain *domain);

/* Tell the clock that slots were handed over.  Lock-free. */
HAFT_INTERNAL void haft__domain_handed(haft_domain *domain);

/* The calling thread opens, or closes, a worker: join and leave of struct clock. */
HAFT_INTERNAL
haft_status haft__domain_join(haft_domain *domain, haft_worker *worker, struct haft__member **member,
                        uint32_t *lift);
HAFT_INTERNAL
void haft__domain_leave(haft_domain *domain, haft_worker *worker, struct haft__member *member, uint32_t lift);

/* The calling thread holds no resolved pointer; eager: it wants slots back.  Lock-free. */
HAFT_INTERNAL void haft__domain_quiescent(haft_domain *domain, struct haft__member *member, bool eager);

/* HAFT_OK; HAFT_FORKED in the child of a fork, if the domain is its parent's: it may not wait. */
HAFT_INTERNAL haft_status haft__domain_check_process(const haft_domain *domain);

/*
 * Wait until `ticket` is done.  Blocking, outside read sections; a quiescent point of the thread.
 * HAFT_OK, or HAFT_BUSY at once where waiting cannot help (the frame clock), or HAFT_FORKED.
 */
HAFT_INTERNAL haft_status haft__domain_wait_for(haft_domain *domain, uint64_t ticket);

/* Wait until all tickets requested so far are done.  As above. */
HAFT_INTERNAL haft_status haft__domain_wait(haft_domain *domain);

/*
 * Whether the calling thread may wait, announce a quiescent point, or take a table apart now:
 * HAFT_OK; HAFT_IN_CALLBACK; HAFT_IN_SECTION: it is known to be inside a read section or an inner
 * job.  After HAFT_OK in an outermost job, the pointers resolved in that job are void.
 */
HAFT_INTERNAL haft_status haft__domain_check_moment(const haft_domain *domain);

/*
 * False if the calling thread is known to be in no section: with the workers clock another thread
 * is online, and this one has no open worker, or is offline or parked.
 */
HAFT_INTERNAL bool haft__domain_may_read(const haft_domain *domain);

/* Fill in which thread holds a grace period up, if the clock can tell. */
HAFT_INTERNAL void haft__domain_blame(const haft_domain *domain, haft_stall *stall);

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
static inline bool haft__foreign_has_online(const haft_foreign_clock *clock)
{
    return clock->online != NULL;
}

/* Whether callbacks that belong together are there together. */
static inline bool haft__foreign_is_whole(const haft_foreign_clock *clock)
{
    const bool has_online = haft__foreign_has_online(clock);
    const bool has_sections = clock->begin != NULL;

    return clock->ctx != NULL && clock->wait != NULL && (has_online || has_sections) &&
           (clock->end != NULL) == has_sections && (clock->offline != NULL) == has_online &&
           (clock->quiescent != NULL) == has_online && (clock->inside != NULL || !has_online) &&
           clock->reserved[0] == NULL && clock->reserved[1] == NULL && clock->reserved[2] == NULL &&
           clock->reserved[3] == NULL;
}

/* Wait for a full grace period, outside sections and offline. */
static inline void haft__foreign_wait(const haft_foreign_clock *clock)
{
    clock->wait(clock->ctx);
    haft_note_grace_elapsed();
}

static inline void haft__foreign_register(const haft_foreign_clock *clock)
{
    if (clock->register_thread != NULL) {
        clock->register_thread(clock->ctx);
    }
}

static inline void haft__foreign_unregister(const haft_foreign_clock *clock)
{
    if (clock->unregister_thread != NULL) {
        haft_note_reader_left();
        clock->unregister_thread(clock->ctx);
    }
}

/* False if the thread is known not to be registered. */
static inline bool haft__foreign_thread_is_registered(const haft_foreign_clock *clock)
{
    return clock->is_registered == NULL || clock->is_registered(clock->ctx);
}

static inline void haft__foreign_begin(const haft_foreign_clock *clock)
{
    if (clock->begin != NULL) {
        clock->begin(clock->ctx);
    }
}

static inline void haft__foreign_end(const haft_foreign_clock *clock)
{
    if (clock->end != NULL) {
        haft_note_reader_left();
        clock->end(clock->ctx);
    }
}

/* Whether the thread is inside a section, or online; false if the clock cannot tell. */
static inline bool haft__foreign_is_inside(const haft_foreign_clock *clock)
{
    return clock->inside != NULL && clock->inside(clock->ctx);
}

static inline void haft__foreign_go_online(const haft_foreign_clock *clock)
{
    if (haft__foreign_has_online(clock) && !clock->inside(clock->ctx)) {
        clock->online(clock->ctx);
    }
}

static inline void haft__foreign_go_offline(const haft_foreign_clock *clock)
{
    if (haft__foreign_has_online(clock) && clock->inside(clock->ctx)) {
        haft_note_reader_left();
        clock->offline(clock->ctx);
    }
}

static inline void haft__foreign_quiescent(const haft_foreign_clock *clock)
{
    if (haft__foreign_has_online(clock) && clock->inside(clock->ctx)) {
        haft_note_reader_left();
        clock->quiescent(clock->ctx);
    }
}

/*
 * concurrent/clock/grace_periods.h - when a grace period has ended: the ticket clock.
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
HAFT_INTERNAL uint64_t haft__domain_ticket(haft_domain *domain);

/* All tickets taken so far: the frees that they stand for come before the caller's next step. */
HAFT_INTERNAL uint64_t haft__domain_requested(const haft_domain *domain);

/* The highest ticket whose grace period has passed.  Wait-free. */
HAFT_INTERNAL uint64_t haft__domain_done(const haft_domain *domain);

/* Tickets requested and not done.  Wait-free. */
HAFT_INTERNAL uint64_t haft__domain_backlog(const haft_domain *domain);

/*
 * A wait for a grace period has ended, with all tickets up to `ticket` done; it began with
 * measure_begin(), which has it watched for stalls.  Several threads may end the same wait.
 */
HAFT_INTERNAL void haft__domain_end_grace(haft_domain *domain, uint64_t ticket);

/*
 * concurrent/clock/jobs_and_parks.h - jobs that wait for jobs, and parks: the nesting
 * states of threads with a clock.  See haft/domain.h.
 *
 * The workers clock keeps a nesting state in each member of a domain; foreign clocks have one for
 * each thread and ctx, since a thread is online, or in a section, for all domains with the same
 * one.
 */

/* Whether a job of the calling thread has begun and not ended, or is parked. */
HAFT_INTERNAL bool haft__domain_has_open_jobs(haft_domain *domain);

/* Whether the calling thread is in an inner job: it may announce nothing and wait for nothing. */
HAFT_INTERNAL bool haft__domain_in_inner_job(haft_domain *domain);

/* For want of memory a job of the thread was not noted: until it ends, it opens no first worker. */
HAFT_INTERNAL bool haft__job_is_forgotten(void);

/*
 * The thread with that nesting state opens a worker: away, it comes online; inside a lift until the
 * job or park ends in which it was away.  Returns the number of the worker's lift; 0: none.
 */
HAFT_INTERNAL uint32_t haft__lift_join(struct haft__nesting *haft__nesting);

/* It closes a worker of that lift; with the last one the level is again as before the lift. */
HAFT_INTERNAL void haft__lift_leave(struct haft__nesting *haft__nesting, uint32_t lift);

/* haft_thread_online() on a thread that is online: it was offline before the lift, and stays. */
HAFT_INTERNAL void haft__lift_keep(struct haft__nesting *haft__nesting);

/* concurrent/clock/stall.h */

/* concurrent/clock/stall.h - grace periods that last too long, and their report. */

/* Whether a grace period is under way, or some workers have not announced.  Wait-free; a hint. */
HAFT_INTERNAL bool haft__domain_is_driven(const haft_domain *domain);

/* How long the grace period under way has been waited for, and its ticket; 0: none.  Lock-free. */
HAFT_INTERNAL uint64_t haft__domain_waited_ns(haft_domain *domain, uint64_t *ticket);

/* Report once a grace period that lasts too long: on_stall, or a line.  Else lock-free. */
HAFT_INTERNAL void haft__domain_notice_stall(haft_domain *domain);

/* concurrent/clock/clock_foreign.c */

/*
 * The clocks that wait for the grace periods of a foreign one: the caller clock, driven by the
 * threads that wait, and the thread clock, whose background thread waits when enough is requested.
 *
 * One thread drives at a time.  Tickets would allow several drivers, but with some foreign clocks
 * overlapping waits slow each other down.
 *
 * The thread clock sleeps on a semaphore.  Posting never blocks, so retiring stays lock-free; one
 * ticket in TICKETS_PER_WAKE posts, each allocation failure, and each hand-over of a table with
 * on_reclaim or pins.  Fewer tickets than that may wait for long: no thread is short of their
 * slots.
 *
 * Edges in this file.
 *   WAKE   hurry (release) -> sleep_until_woken (acquire)   a ticket before the look at tickets
 *   OWN    before the thread starts
 *   HINT   the stop flag: the semaphore's post orders it
 */

#define haft__MOST_CLOCKS 8 /* in which a thread may have jobs at once */

/*
 * The nesting states of the calling thread.  They belong to foreign clocks, which ctx tells apart,
 * not to domains.  One without open jobs may serve another clock next, since inside() knows the
 * rest.
 */
static haft__THREAD_LOCAL struct {
    const void *ctx;
    struct haft__nesting nesting;
} haft__nestings[haft__MOST_CLOCKS];

static bool haft__is_in_use(const struct haft__nesting *haft__nesting)
{
    return haft__nesting->open != 0 || haft__nesting->is_lifted;
}

/* The calling thread's; NULL if it has jobs in MOST_CLOCKS others. */
static struct haft__nesting *haft__find_nesting(const void *ctx)
{
    int unused = haft__MOST_CLOCKS;

    for (int i = 0; i < haft__MOST_CLOCKS; i++) {
        if (haft__nestings[i].ctx == ctx) {
            return &haft__nestings[i].nesting;
        }
        unused = haft__is_in_use(&haft__nestings[i].nesting) ? unused : i;
    }
    if (unused == haft__MOST_CLOCKS) {
        return NULL;
    }
    haft__nestings[unused].ctx = ctx;
    haft__nestings[unused].nesting = (struct haft__nesting){.level = 0};
    return &haft__nestings[unused].nesting;
}

/*
 * A job without a nesting state would pass for an outermost one, and a parked thread could not come
 * online again: the program cannot go on.
 */
static _Noreturn void haft__too_many_clocks(void)
{
    haft__os_print("a thread begins a job of a ninth foreign clock, or parks: 8 at once at most");
    abort();
}

static haft_status haft__foreign_clock_start(haft_domain *domain)
{
    haft__os_mutex_open(&domain->driver.lock);
    haft__os_condition_open(&domain->driver.finished);
    return HAFT_OK;
}

static void haft__foreign_clock_stop(haft_domain *domain, bool is_forked)
{
    if (is_forked) {
        return;
    }
    haft__os_condition_close(&domain->driver.finished);
    haft__os_mutex_close(&domain->driver.lock);
}

/* Wait one grace period, for all tickets requested before.  The caller is the only driver. */
static void haft__drive(haft_domain *domain)
{
    const uint64_t ticket = haft__domain_requested(domain);

    for (uint64_t turn = 0; !haft__measure_begin(&domain->measure, haft__domain_done(domain)); turn++) {
        haft__pause_in_turn(turn); /* another thread holds the measure's lock for moments */
    }
    haft__foreign_wait(&domain->foreign);
    haft__domain_end_grace(domain, ticket);
}

/* Wait until the driver has finished, or it is time to look for a stall. */
static void haft__await_driver(haft_domain *domain)
{
    struct haft__foreign_driver *driver = &domain->driver;

    if (!haft__os_condition_wait(&driver->finished, &driver->lock, haft__os_now_ns() + domain->stall_ns)) {
        haft__os_mutex_unlock(&driver->lock);
        haft__domain_notice_stall(domain);
        haft__os_mutex_lock(&driver->lock);
    }
}

/* Drive, or wait for the driver.  The caller has the lock. */
static void haft__drive_or_await(haft_domain *domain)
{
    struct haft__foreign_driver *driver = &domain->driver;

    if (driver->is_driving) {
        haft__await_driver(domain);
        return;
    }
    driver->is_driving = true;
    haft__os_mutex_unlock(&driver->lock);
    haft__drive(domain);
    haft__os_mutex_lock(&driver->lock);
    driver->is_driving = false;
    haft__os_condition_wake_all(&driver->finished);
}

/* Brought up to date: a thread may have come online or gone offline without haft. */
static struct haft__nesting *haft__foreign_clock_nesting(haft_domain *domain, bool wanted)
{
    struct haft__nesting *haft__nesting = haft__find_nesting(domain->foreign.ctx);

    if (haft__nesting == NULL && wanted) {
        haft__too_many_clocks();
    }
    if (haft__nesting != NULL && haft__foreign_has_online(&domain->foreign)) {
        const int32_t haft__least = haft__nesting->level > 1 ? haft__nesting->level : 1;
        const int32_t most = haft__nesting->level < 0 ? haft__nesting->level : 0;

        haft__nesting->level = haft__foreign_is_inside(&domain->foreign) ? haft__least : most;
    }
    return haft__nesting;
}

/* The calling thread leaves its outermost job, or comes back into it. */
static void haft__reader_leaves(haft_domain *domain)
{
    if (haft__foreign_has_online(&domain->foreign)) {
        haft__foreign_go_offline(&domain->foreign);
    } else {
        haft__foreign_end(&domain->foreign);
    }
}

static void haft__reader_enters(haft_domain *domain)
{
    if (haft__foreign_has_online(&domain->foreign)) {
        haft__foreign_go_online(&domain->foreign);
    } else {
        haft__foreign_begin(&domain->foreign);
    }
}

static void haft__foreign_clock_settle(haft_domain *domain, struct haft__nesting *haft__nesting, int32_t before)
{
    if (before <= 0 && haft__nesting->level > 0) {
        assert(haft__foreign_thread_is_registered(&domain->foreign) &&
               "haft_thread_register comes first");
        haft__reader_enters(domain);
    } else if (before > 0 && haft__nesting->level <= 0) {
        haft__reader_leaves(domain);
    }
}

static int32_t haft__level_in(const haft_domain *domain)
{
    const struct haft__nesting *haft__nesting = haft__find_nesting(domain->foreign.ctx);

    return haft__nesting != NULL ? haft__nesting->level : 0;
}

static bool haft__foreign_clock_in_section(const haft_domain *domain)
{
    const haft_foreign_clock *foreign = &domain->foreign;
    const int32_t level = haft__level_in(domain);

    if (haft__foreign_has_online(foreign)) {
        return level > 1 && haft__foreign_is_inside(foreign);
    }
    if (level > 1 || !haft__foreign_is_inside(foreign)) {
        return level > 1;
    }
    if (level <= 0) {
        return true;
    }
    /* Sections nest, and one is the job's: without it, is there another? */
    haft__foreign_end(foreign);
    const bool found = haft__foreign_is_inside(foreign);

    haft__foreign_begin(foreign);
    return found;
}

/* Before and after the calling thread blocks, in its outermost job or in none. */
static bool haft__foreign_clock_pause(haft_domain *domain)
{
    const bool holds = haft__foreign_has_online(&domain->foreign) ? haft__foreign_is_inside(&domain->foreign)
                                                            : haft__level_in(domain) > 0;

    if (holds) {
        haft__reader_leaves(domain);
    }
    return holds;
}

static void haft__foreign_clock_resume(haft_domain *domain, bool held)
{
    if (held) {
        haft__reader_enters(domain);
    }
}

static haft_status haft__foreign_clock_wait_for(haft_domain *domain, uint64_t ticket)
{
    const bool held = haft__foreign_clock_pause(domain);

    haft__os_mutex_lock(&domain->driver.lock);
    while (haft__domain_done(domain) < ticket) {
        haft__drive_or_await(domain);
    }
    haft__os_mutex_unlock(&domain->driver.lock);
    haft__foreign_clock_resume(domain, held);
    return HAFT_OK;
}

/* Whether the calling thread may come online, and is not: else a worker leaves it as it is. */
static bool haft__may_lift(const haft_foreign_clock *foreign)
{
    return haft__foreign_has_online(foreign) && foreign->is_registered != NULL &&
           foreign->is_registered(foreign->ctx) && !haft__foreign_is_inside(foreign);
}

static haft_status haft__foreign_clock_join(haft_domain *domain, haft_worker *worker,
                                      struct haft__member **member, uint32_t *lift)
{
    const bool comes_online = haft__may_lift(&domain->foreign);
    struct haft__nesting *haft__nesting =
        haft__foreign_has_online(&domain->foreign) ? haft__foreign_clock_nesting(domain, comes_online) : NULL;

    (void)worker;
    (void)member;
    if (comes_online || (haft__nesting != NULL && haft__nesting->is_lifted)) {
        const int32_t before = haft__nesting->level;

        *lift = haft__lift_join(haft__nesting);
        haft__foreign_clock_settle(domain, haft__nesting, before);
    }
    return HAFT_OK;
}

static void haft__foreign_clock_leave(haft_domain *domain, haft_worker *worker, struct haft__member *member,
                                uint32_t lift)
{
    struct haft__nesting *haft__nesting = lift != 0 ? haft__foreign_clock_nesting(domain, false) : NULL;

    (void)worker;
    (void)member;
    if (haft__nesting != NULL) {
        const int32_t before = haft__nesting->level;

        haft__lift_leave(haft__nesting, lift);
        haft__foreign_clock_settle(domain, haft__nesting, before);
    }
}

static void haft__foreign_clock_quiescent(haft_domain *domain, struct haft__member *member, bool eager)
{
    (void)member;
    (void)eager;
    haft__foreign_quiescent(&domain->foreign);
}

/* Whatever jobs have begun; a clock without online() has nothing to go offline from. */
static void haft__foreign_clock_offline(haft_domain *domain)
{
    /* In an inner job, the outer job's pointers would be void. */
    assert(!haft__foreign_has_online(&domain->foreign) || !haft__foreign_clock_in_section(domain));
    haft__foreign_go_offline(&domain->foreign);
}

/* A thread that is parked stays so. */
static void haft__foreign_clock_online(haft_domain *domain)
{
    struct haft__nesting *haft__nesting = haft__foreign_clock_nesting(domain, false);

    if (haft__nesting != NULL) {
        haft__lift_keep(haft__nesting);
    }
    if (haft__level_in(domain) != haft__PARKED) {
        haft__foreign_go_online(&domain->foreign);
    }
}

static void haft__foreign_clock_advise(const haft_domain *domain, const haft_stall *stall,
                                 struct haft__text *text)
{
    (void)stall;
    if (haft__foreign_has_online(&domain->foreign)) {
        haft__text_add(text,
                 "a thread is online and passes no quiescent point (haft_worker_quiescent, or "
                 "haft_thread_park before it blocks)");
    } else {
        haft__text_add(text, "a read section or job has begun and does not end (haft_section_end, "
                       "haft_job_end, or haft_thread_park before the job blocks)");
    }
}

/* --- the thread clock's thread --- */

static void haft__sleep_until_woken(struct haft__thread_clock *clock)
{
    haft__os_semaphore_wait(&clock->wake);
    /* Weakened, this thread could miss the ticket of a thread that found it woken. */
    haft__exchange_acq_rel(WAKE, &clock->woken, 0);
}

static void haft__drive_until_stopped(void *arg)
{
    haft_domain *domain = arg;

    for (;;) {
        haft__sleep_until_woken(&domain->thread);
        if (haft__load_relaxed(HINT, &domain->thread.stopping) != 0) {
            return;
        }
        haft__domain_wait(domain);
    }
}

static haft_status haft__thread_start(haft_domain *domain)
{
    haft__store_relaxed(OWN, &domain->thread.stopping, 0);
    haft__store_relaxed(OWN, &domain->thread.woken, 0);
    if (!haft__os_semaphore_open(&domain->thread.wake)) {
        return HAFT_NO_THREAD;
    }
    haft__foreign_clock_start(domain);
    if (!haft__os_thread_start(&domain->thread.thread, haft__drive_until_stopped, domain)) {
        haft__foreign_clock_stop(domain, false);
        haft__os_semaphore_close(&domain->thread.wake);
        return HAFT_NO_THREAD;
    }
    return HAFT_OK;
}

static void haft__thread_stop(haft_domain *domain, bool is_forked)
{
    if (is_forked) {
        return;
    }
    /* The thread's last grace period may wait for this one. */
    const bool held = haft__foreign_clock_pause(domain);

    haft__store_relaxed(HINT, &domain->thread.stopping, 1);
    haft__os_semaphore_post(&domain->thread.wake);
    haft__os_thread_join(&domain->thread.thread);
    haft__os_semaphore_close(&domain->thread.wake);
    haft__foreign_clock_stop(domain, false);
    haft__foreign_clock_resume(domain, held);
}

static void haft__hurry(haft_domain *domain)
{
    if (haft__exchange_acq_rel(WAKE, &domain->thread.woken, 1) == 0) {
        haft__os_semaphore_post(&domain->thread.wake);
    }
}

static void haft__requested(haft_domain *domain, uint64_t ticket)
{
    if (ticket % haft__TICKETS_PER_WAKE == 0) {
        haft__hurry(domain);
    }
}

/* --- both --- */

#define haft__FOREIGN_MEMBERS                                                                            \
    .is_foreign = true, .wait_for = haft__foreign_clock_wait_for, .join = haft__foreign_clock_join,            \
    .leave = haft__foreign_clock_leave, .quiescent = haft__foreign_clock_quiescent,                            \
    .offline = haft__foreign_clock_offline, .online = haft__foreign_clock_online,                              \
    .nesting = haft__foreign_clock_nesting, .settle = haft__foreign_clock_settle,                              \
    .in_section = haft__foreign_clock_in_section, .advise = haft__foreign_clock_advise

HAFT_INTERNAL const struct haft__clock haft__caller_clock = {
    .name = "caller",
    .start = haft__foreign_clock_start,
    .stop = haft__foreign_clock_stop,
    haft__FOREIGN_MEMBERS,
};

HAFT_INTERNAL const struct haft__clock haft__thread_clock = {
    .name = "thread",
    .start = haft__thread_start,
    .stop = haft__thread_stop,
    .requested = haft__requested,
    .handed = haft__hurry,
    .hurry = haft__hurry,
    haft__FOREIGN_MEMBERS,
};

/*
 * concurrent/clock/section_count.h - open sections, counted by debug builds (those without NDEBUG)
 * where no foreign clock knows them.
 *
 * Edges in this file.
 *   COUNT  open sections: the program orders the tick after them
 */

/* `by`: 1 for one that begins, UINT64_MAX for one that ends. */
static inline void haft__section_count(haft_domain *domain, uint64_t by)
{
    (void)domain;
    (void)by;
#ifndef NDEBUG
    if (!domain->clock->is_foreign) {
        haft__fetch_add_relaxed(COUNT, &domain->sections, by);
    }
#endif
}

static inline uint64_t haft__sections_open(const haft_domain *domain)
{
    return haft__load_relaxed(COUNT, &domain->sections);
}

/* concurrent/clock/clock_frame.c */

/*
 * The frame clock: a grace period is the time between two ticks.  Only the program knows that no
 * section is open, so only haft_domain_tick() drives it, and no thread waits.
 */

static haft_status haft__frame_wait_for(haft_domain *domain, uint64_t ticket)
{
    (void)domain;
    (void)ticket;
    return HAFT_BUSY; /* the tick that would end the wait may be the caller's own */
}

/* In the child of a fork, sections of threads that are gone stay counted. */
static HAFT_UNUSED bool haft__no_section_is_open(const haft_domain *domain)
{
    return haft__sections_open(domain) == 0 || haft__domain_check_process(domain) != HAFT_OK;
}

haft_status haft_domain_tick(haft_domain *domain)
{
    if (domain->clock != &haft__frame_clock) {
        return HAFT_WRONG_CLOCK;
    }
    if (haft__callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    assert(haft__no_section_is_open(domain) && "sections end before the tick");
    haft__domain_end_grace(domain, haft__domain_requested(domain));
    assert(haft__no_section_is_open(domain) && "no section begins during the tick");
    return HAFT_OK;
}

HAFT_INTERNAL const struct haft__clock haft__frame_clock = {
    .name = "frame",
    .is_foreign = false,
    .wait_for = haft__frame_wait_for,
};

/* concurrent/clock/thread.h */

/* concurrent/clock/thread.h - numbers of threads. */

/* The calling thread's number, which no other thread ever has; not 0.  Wait-free. */
HAFT_INTERNAL uint64_t haft__thread_number(void);

/* The number that the system knows it by (gettid), asked once in a process.  Wait-free. */
HAFT_INTERNAL uint64_t haft__thread_system_number(void);

/*
 * threads_begin_child: called by the one thread of a fork's child.  thread_is_gone: whether the
 * number is that of a thread that the last fork has cut off.  Wait-free.
 */
HAFT_INTERNAL void haft__threads_begin_child(void);
HAFT_INTERNAL bool haft__thread_is_gone(uint64_t number);

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
 * pointers that the outer job has resolved would be void.  The level in a member's nesting state
 * tells the two apart (jobs_and_parks.h).
 *
 * Edges in this file.
 *   QUIET   announce, go_away (release) -> reach (acquire)
 *           reads of a section before its end is seen
 *   ARRIVE  come_back (acquire and release) on `requested`, beside TICKET (see domain.c): online
 *           before later tickets, frees under earlier ones before the first resolve
 *   WORKER_LIST  add (release)   -> first_member (acquire)   a member's set-up
 *   ADOPT   release_if_unused (release) -> make_own (acquire)   the last state of a member, to
 *           its next thread
 *   OWN     a thread's own member, or one that no other thread can find: new
 *   HINT    which thread is blamed for a stall; whether any is online, for an assertion
 *   RETRY   a first look; the compare-and-swap decides
 */

#define haft__ANNOUNCED_NOTHING 0       /* holds all tickets up: on its way online */
#define haft__ANNOUNCED_AWAY UINT64_MAX /* holds nothing up: offline, or no thread's */

struct haft__member {
    haft__atomic_u64 announced; /* tickets whose frees came before its last quiescent point */
    haft__atomic_u64 thread;    /* thread_number() of its thread; 0: no thread's */
    haft__atomic_u64 worker;    /* address of one of its workers; 0: not known */
    haft__atomic_u64 number;    /* the system's for the thread */
    struct haft__member *next;  /* constant */
    struct haft__nesting nesting;
    uint32_t workers; /* open, of its thread */
};

_Static_assert(sizeof(struct haft__member) <= haft__CACHE_LINE, "members share no cache line");

/*
 * The calling thread's latest member, and the number of its domain: where the thread has left that
 * one, it has none in that domain.
 */
static haft__THREAD_LOCAL struct {
    uint64_t domain;
    struct haft__member *member;
} haft__latest_member;

static struct haft__member *haft__remember_member(const haft_domain *domain, struct haft__member *member)
{
    haft__latest_member.domain = domain->number;
    haft__latest_member.member = member;
    return member;
}

static struct haft__member *haft__first_member(const haft_domain *domain)
{
    return (struct haft__member *)(uintptr_t)haft__load_acquire(WORKER_LIST, &domain->members);
}

/* The calling thread's member, or NULL. */
static struct haft__member *haft__own_member(const haft_domain *domain)
{
    const uint64_t number = haft__thread_number();

    if (haft__latest_member.domain == domain->number) {
        return haft__load_relaxed(OWN, &haft__latest_member.member->thread) == number ? haft__latest_member.member
                                                                          : NULL;
    }
    for (struct haft__member *member = haft__first_member(domain); member != NULL; member = member->next) {
        if (haft__load_relaxed(OWN, &member->thread) == number) {
            return haft__remember_member(domain, member);
        }
    }
    return NULL;
}

/* Whether no other member of the domain is the calling thread's. */
static HAFT_UNUSED bool haft__is_only_own(const haft_domain *domain, const struct haft__member *haft__own)
{
    const struct haft__member *member = haft__first_member(domain);

    while (member != NULL && (member == haft__own || haft__load_relaxed(OWN, &member->thread) !=
                                                   haft__load_relaxed(OWN, &haft__own->thread))) {
        member = member->next;
    }
    return member == NULL;
}

static bool haft__is_away(const struct haft__member *member)
{
    return haft__load_relaxed(OWN, &member->announced) == haft__ANNOUNCED_AWAY;
}

static void haft__come_back(haft_domain *domain, struct haft__member *member)
{
    assert(member->nesting.level > 0 && "offline or parked, a thread stays away");
    haft__store_relaxed(OWN, &member->announced, haft__ANNOUNCED_NOTHING);
    /* Weakened, a later ticket could be covered by a thread that saw the member away. */
    const uint64_t haft__requested = haft__fetch_add_acq_rel(ARRIVE, &domain->requested, 0);

    haft__store_release(QUIET, &member->announced, haft__requested);
}

static void haft__go_away(struct haft__member *member)
{
    /* Weakened, a slot could be written again before this thread's reads. */
    haft__store_release(QUIET, &member->announced, haft__ANNOUNCED_AWAY);
}

static void haft__announce(const haft_domain *domain, struct haft__member *member)
{
    const uint64_t haft__requested = haft__domain_requested(domain);

    if (haft__load_relaxed(OWN, &member->announced) != haft__requested) {
        /* Weakened, a slot could be written again before this thread's reads. */
        haft__store_release(QUIET, &member->announced, haft__requested);
    }
}

/* All members have announced the tickets up to the result; `requested` was read before. */
static uint64_t haft__reach(const haft_domain *domain, uint64_t haft__requested)
{
    uint64_t lowest = haft__requested;

    for (const struct haft__member *member = haft__first_member(domain); member != NULL;
         member = member->next) {
        const uint64_t announced = haft__load_acquire(QUIET, &member->announced);

        lowest = announced < lowest ? announced : lowest;
    }
    return lowest;
}

/* Mark the tickets that all members have announced as done. */
static void haft__advance(haft_domain *domain)
{
    const uint64_t haft__requested = haft__domain_requested(domain);
    const uint64_t done = haft__domain_done(domain);

    if (done >= haft__requested) {
        return;
    }
    const uint64_t reached = haft__reach(domain, haft__requested);

    assert(reached <= haft__requested);
    if (reached > done) {
        haft__domain_end_grace(domain, reached);
    } else {
        haft__measure_begin(&domain->measure, done); /* if not now, then at the next look */
    }
}

static haft_status haft__workers_start(haft_domain *domain)
{
    haft__store_relaxed(OWN, &domain->members, 0);
    return HAFT_OK;
}

static void haft__workers_stop(haft_domain *domain, bool is_forked)
{
    (void)is_forked;
    for (struct haft__member *member = haft__first_member(domain), *next; member != NULL; member = next) {
        next = member->next;
        haft__heap_give(&domain->heap, member, haft__CACHE_LINE);
    }
}

static haft_status haft__workers_wait_for(haft_domain *domain, uint64_t ticket)
{
    struct haft__member *haft__own = haft__own_member(domain);
    const bool was_online = haft__own != NULL && !haft__is_away(haft__own);

    assert(haft__own == NULL || haft__own->nesting.level <= 1); /* else an outer job's pointers are void */
    if (was_online) {
        haft__go_away(haft__own);
    }
    haft__advance(domain);
    for (uint64_t turn = 0; haft__domain_done(domain) < ticket; turn++) {
        haft__pause_in_turn(turn);
        haft__domain_notice_stall(domain);
        haft__advance(domain);
    }
    if (was_online) {
        haft__come_back(domain, haft__own);
    }
    return HAFT_OK;
}

/* Make a member that no thread has the calling thread's. */
static bool haft__make_own(struct haft__member *member)
{
    return haft__load_relaxed(RETRY, &member->thread) == 0 &&
           haft__cas_acquire(ADOPT, &member->thread, 0, haft__thread_number());
}

/* The member that the thread had before, or any that its thread has left; NULL: there is none. */
static struct haft__member *haft__claim_member(const haft_domain *domain)
{
    if (haft__latest_member.domain == domain->number && haft__make_own(haft__latest_member.member)) {
        return haft__latest_member.member;
    }
    for (struct haft__member *member = haft__first_member(domain); member != NULL; member = member->next) {
        if (haft__make_own(member)) {
            return member;
        }
    }
    return NULL;
}

static struct haft__member *haft__add_member(haft_domain *domain)
{
    struct haft__member *member = haft__heap_take(&domain->heap, haft__CACHE_LINE, haft__CACHE_LINE);

    if (member == NULL) {
        return NULL;
    }
    memset(member, 0, sizeof *member);
    haft__store_relaxed(OWN, &member->announced, haft__ANNOUNCED_AWAY);
    haft__store_relaxed(OWN, &member->thread, haft__thread_number());
    do {
        member->next = haft__first_member(domain);
    } while (!haft__cas_release(WORKER_LIST, &domain->members, (uint64_t)(uintptr_t)member->next,
                          (uint64_t)(uintptr_t)member));
    return member;
}

/* The calling thread's member; a new one if need be; NULL if there is no memory for one. */
static struct haft__member *haft__need_member(haft_domain *domain)
{
    struct haft__member *haft__own = haft__own_member(domain);

    if (haft__own != NULL) {
        return haft__own;
    }
    haft__own = haft__claim_member(domain);
    haft__own = haft__own != NULL ? haft__own : haft__add_member(domain);
    haft__assert_walk(haft__own == NULL || haft__is_only_own(domain, haft__own));
    return haft__own != NULL ? haft__remember_member(domain, haft__own) : NULL;
}

/* Release a member whose thread has neither workers nor jobs to the next thread. */
static void haft__release_if_unused(struct haft__member *member)
{
    if (member->workers == 0 && member->nesting.open == 0) {
        member->nesting.level = 0;
        member->nesting.is_lifted = false;
        haft__go_away(member);
        /* Weakened, the next thread could find the member in the state before. */
        haft__store_release(ADOPT, &member->thread, 0);
    }
}

/* A job that has begun goes on as it was.  Else the thread is online while the worker is open. */
static haft_status haft__join(haft_domain *domain, haft_worker *worker, struct haft__member **member,
                        uint32_t *lift)
{
    struct haft__member *haft__own = haft__need_member(domain);

    if (haft__own == NULL) {
        return HAFT_NO_MEMORY;
    }
    if (haft__own->workers == 0 && haft__job_is_forgotten()) {
        haft__release_if_unused(haft__own);
        return HAFT_NO_MEMORY;
    }
    const bool is_idle = haft__own->workers == 0 && haft__own->nesting.open == 0;

    if (haft__own->workers++ == 0) {
        haft__store_relaxed(HINT, &haft__own->number, haft__thread_system_number());
    }
    if (is_idle) {
        haft__own->nesting.level = 1; /* until its last worker is closed */
    } else {
        *lift = haft__lift_join(&haft__own->nesting);
    }
    if (haft__is_away(haft__own)) {
        haft__come_back(domain, haft__own);
    }
    haft__store_relaxed(HINT, &haft__own->worker, (uint64_t)(uintptr_t)worker);
    *member = haft__own;
    return HAFT_OK;
}

/* A job keeps the member: the objects that it has resolved stay until the job ends. */
static void haft__leave(haft_domain *domain, haft_worker *worker, struct haft__member *member, uint32_t lift)
{
    (void)domain;
    if (haft__load_relaxed(HINT, &member->worker) == (uint64_t)(uintptr_t)worker) {
        haft__store_relaxed(HINT, &member->worker, 0);
    }
    if (haft__load_relaxed(OWN, &member->thread) == haft__thread_number()) {
        haft__lift_leave(&member->nesting, lift);
    } else {
        member->nesting.open = 0; /* its thread has ended, and its jobs with it */
    }
    assert(member->workers != 0 && "a worker leaves the member that it joined");
    member->workers--;
    if (member->nesting.level <= 0 && !haft__is_away(member)) {
        haft__go_away(member);
    }
    haft__release_if_unused(member);
}

/* A thread that is away has nothing to announce, but its slots may wait all the same. */
static void haft__quiescent(haft_domain *domain, struct haft__member *member, bool eager)
{
    if (!haft__is_away(member)) {
        haft__announce(domain, member);
    }
    if (eager) {
        haft__advance(domain);
    }
}

/* Offline, whatever jobs have begun; parked, or without a worker, the thread is not online. */
static void haft__offline(haft_domain *domain)
{
    struct haft__member *haft__own = haft__own_member(domain);

    if (haft__own != NULL && haft__own->workers != 0 && haft__own->nesting.level > 0) {
        assert(haft__own->nesting.level == 1 &&
               "an inner job parks: offline voids the outer job's pointers");
        haft__own->nesting.level = 0;
        haft__go_away(haft__own);
    }
}

/* Without a worker only the level changes: the jobs that begin now are inner ones. */
static void haft__online(haft_domain *domain)
{
    struct haft__member *haft__own = haft__own_member(domain);

    if (haft__own == NULL) {
        return;
    }
    haft__lift_keep(&haft__own->nesting);
    if (haft__own->nesting.level == 0) {
        haft__own->nesting.level = 1;
        if (haft__own->workers != 0) {
            haft__come_back(domain, haft__own);
        }
    }
}

static struct haft__nesting *haft__nesting(haft_domain *domain, bool wanted)
{
    struct haft__member *haft__own = wanted ? haft__need_member(domain) : haft__own_member(domain);

    return haft__own != NULL ? &haft__own->nesting : NULL;
}

/* A thread without workers may not resolve, so it stays away. */
static void haft__settle_member(haft_domain *domain, struct haft__nesting *of, int32_t before)
{
    struct haft__member *haft__own = (struct haft__member *)((char *)of - offsetof(struct haft__member, nesting));

    if (before <= 0 && of->level > 0 && haft__own->workers != 0) {
        haft__come_back(domain, haft__own);
    } else if (before > 0 && of->level <= 0) {
        haft__go_away(haft__own);
    }
    haft__release_if_unused(haft__own);
}

static bool haft__in_section(const haft_domain *domain)
{
    const struct haft__member *haft__own = haft__own_member(domain);

    return haft__own != NULL && haft__own->nesting.level > 1;
}

static bool haft__all_are_away(const haft_domain *domain)
{
    const struct haft__member *member = haft__first_member(domain);

    while (member != NULL && haft__load_relaxed(HINT, &member->announced) == haft__ANNOUNCED_AWAY) {
        member = member->next;
    }
    return member == NULL;
}

/* Without any worker no slot is reused: a program may look before it opens workers, and when all
 * are closed. */
static bool haft__may_read(const haft_domain *domain)
{
    const struct haft__member *haft__own = haft__own_member(domain);

    return haft__own != NULL && haft__own->workers != 0 ? !haft__is_away(haft__own) : haft__all_are_away(domain);
}

static void haft__blame(const haft_domain *domain, haft_stall *stall)
{
    uint64_t lowest = haft__domain_done(domain) + 1;

    for (const struct haft__member *member = haft__first_member(domain); member != NULL;
         member = member->next) {
        const uint64_t announced = haft__load_acquire(QUIET, &member->announced);

        if (announced < lowest) {
            lowest = announced;
            stall->worker = (haft_worker *)(uintptr_t)haft__load_relaxed(HINT, &member->worker);
            stall->thread = haft__load_relaxed(HINT, &member->number);
        }
    }
}

static void haft__advise(const haft_domain *domain, const haft_stall *stall, struct haft__text *text)
{
    (void)domain;
    if (stall->thread != 0 && haft__os_thread_has_ended(stall->thread)) {
        haft__text_add(text, "thread %" PRIu64 " has ended with worker %p open", stall->thread,
                 (void *)stall->worker);
        haft__text_add(text, " (haft_worker_close comes before a thread's end; a thread that has joined "
                       "it may close the worker)");
    } else if (stall->thread != 0) {
        haft__text_add(text, "thread %" PRIu64 " is online, ", stall->thread);
        if (stall->worker != NULL) {
            haft__text_add(text, "has worker %p open ", (void *)stall->worker);
        }
        haft__text_add(text, "and passes no quiescent point (haft_worker_quiescent, or haft_thread_park "
                       "before it waits in a barrier or blocks)");
    } else {
        haft__text_add(text, "all threads have passed a quiescent point since");
    }
}

HAFT_INTERNAL const struct haft__clock haft__workers_clock = {
    .name = "workers",
    .is_foreign = false,
    .start = haft__workers_start,
    .stop = haft__workers_stop,
    .hurry = haft__advance,
    .wait_for = haft__workers_wait_for,
    .join = haft__join,
    .leave = haft__leave,
    .quiescent = haft__quiescent,
    .offline = haft__offline,
    .online = haft__online,
    .nesting = haft__nesting,
    .settle = haft__settle_member,
    .in_section = haft__in_section,
    .may_read = haft__may_read,
    .blame = haft__blame,
    .advise = haft__advise,
};

/*
 * concurrent/clock/registry.h - the lock of opening and closing, and the number of the process.
 *
 * Opening and closing a table or a side, writing an export and a fork take the lock: while a thread
 * has it, none of these comes or goes.  That thread may take it again.
 */

/* registry_try_lock: false if another thread has it. */
HAFT_INTERNAL void haft__registry_lock(void);
HAFT_INTERNAL bool haft__registry_try_lock(void);
HAFT_INTERNAL void haft__registry_unlock(void);

/*
 * A number of this process: processes that come from one another by fork have different ones, also
 * where their process numbers are of several namespaces.
 */
HAFT_INTERNAL uint64_t haft__registry_process(void);

/* concurrent/clock/domain.c */

/*
 * The domain: opening, closing, and its calls of the clock.
 *
 * Edges in this file.
 *   COUNT    statistics, numbers that are assigned once, and the number of open tables, checked
 *            when no other thread uses the domain
  */

#define haft__DEFAULT_STALL_NS haft__NS_PER_S
#define haft__MOST_STALL_NS (haft__NS_PER_S * 60 * 60 * 24 * 365)

#define haft__NUMBERED(UPPER, lower) [HAFT_CLOCK_##UPPER] = &haft__##lower##_clock,
static const struct haft__clock *const haft__clocks[HAFT_CLOCK_COUNT] = {HAFT_CLOCKS(haft__NUMBERED)};

static uint64_t haft__domain_number(void)
{
    static haft__atomic_u64 last;

    return haft__fetch_add_relaxed(COUNT, &last, 1) + 1;
}

static haft_status haft__check_domain_options(const haft_domain_options *options)
{
    if ((unsigned)options->clock >= HAFT_CLOCK_COUNT) {
        return HAFT_BAD_CLOCK;
    }
    const bool is_right =
        haft__clocks[options->clock]->is_foreign
            ? options->foreign_clock != NULL && haft__foreign_is_whole(options->foreign_clock)
            : options->foreign_clock == NULL;

    return is_right ? HAFT_OK : HAFT_BAD_FOREIGN_CLOCK;
}

/* The option with its default, and short enough to be added to the time. */
static uint64_t haft__stall_limit(uint64_t stall_ns)
{
    if (stall_ns == 0) {
        return haft__DEFAULT_STALL_NS;
    }
    return stall_ns < haft__MOST_STALL_NS ? stall_ns : haft__MOST_STALL_NS;
}

haft_status haft_domain_open_sized(const haft_domain_options *options, size_t size,
                                   haft_domain **domain)
{
    haft_domain_options known;
    haft_status status = haft__sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? haft__check_domain_options(&known) : status;
    if (status != HAFT_OK) {
        return status;
    }
    const haft_allocator heap = haft__heap_of(known.allocator);
    haft_domain *opened = haft__heap_take_zero(&heap, sizeof *opened, haft__CACHE_LINE);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    opened->heap = heap;
    opened->number = haft__domain_number();
    if (known.foreign_clock != NULL) {
        opened->foreign = *known.foreign_clock;
    }
    opened->clock = haft__clocks[known.clock];
    opened->on_stall = known.on_stall;
    opened->stall_arg = known.stall_arg;
    opened->stall_ns = haft__stall_limit(known.stall_ns);
    opened->process = haft__registry_process();
    haft__measure_open(&opened->measure);
    status = opened->clock->start != NULL ? opened->clock->start(opened) : HAFT_OK;
    if (status != HAFT_OK) {
        haft__heap_give(&heap, opened, sizeof *opened);
        return status;
    }
    *domain = opened;
    return HAFT_OK;
}

HAFT_INTERNAL haft_status haft__domain_check_process(const haft_domain *domain)
{
    return domain->process == haft__registry_process() ? HAFT_OK : HAFT_FORKED;
}

haft_status haft_domain_close(haft_domain *domain)
{
    if (haft__callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    haft_status status = haft__load_relaxed(COUNT, &domain->tables) != 0 ? HAFT_IN_USE : HAFT_OK;

    /* Before the moment is checked: that may end what the job has resolved. */
    status = status == HAFT_OK && haft__domain_has_open_jobs(domain) ? HAFT_IN_SECTION : status;
    status = status == HAFT_OK ? haft__domain_check_moment(domain) : status;
    if (status != HAFT_OK) {
        return status;
    }
    const bool is_parents = haft__domain_check_process(domain) != HAFT_OK;

    assert((is_parents || haft__sections_open(domain) == 0) &&
           "sections end before their domain is closed");
    if (domain->clock->stop != NULL) {
        domain->clock->stop(domain, is_parents);
    }
    haft__heap_give(&domain->heap, domain, sizeof *domain);
    return HAFT_OK;
}

HAFT_INTERNAL void haft__domain_handed(haft_domain *domain)
{
    if (domain->clock->handed != NULL) {
        domain->clock->handed(domain);
    }
}

HAFT_INTERNAL void haft__domain_hurry(haft_domain *domain)
{
    if (domain->clock->hurry != NULL) {
        domain->clock->hurry(domain);
    }
}

HAFT_INTERNAL
haft_status haft__domain_join(haft_domain *domain, haft_worker *worker, struct haft__member **member,
                        uint32_t *lift)
{
    *member = NULL;
    *lift = 0;
    return domain->clock->join != NULL ? domain->clock->join(domain, worker, member, lift)
                                       : HAFT_OK;
}

HAFT_INTERNAL
void haft__domain_leave(haft_domain *domain, haft_worker *worker, struct haft__member *member, uint32_t lift)
{
    if (domain->clock->leave != NULL) {
        domain->clock->leave(domain, worker, member, lift);
    }
}

HAFT_INTERNAL void haft__domain_quiescent(haft_domain *domain, struct haft__member *member, bool eager)
{
    if (domain->clock->quiescent != NULL) {
        domain->clock->quiescent(domain, member, eager);
    }
}

HAFT_INTERNAL void haft__domain_blame(const haft_domain *domain, haft_stall *stall)
{
    if (domain->clock->blame != NULL) {
        domain->clock->blame(domain, stall);
    }
}

HAFT_INTERNAL haft_status haft__domain_wait_for(haft_domain *domain, uint64_t ticket)
{
    if (haft__domain_done(domain) >= ticket) {
        return HAFT_OK;
    }
    haft_status status = haft__domain_check_process(domain);

    if (status == HAFT_OK) {
        const int cancel = haft__os_cancel_off(); /* a foreign clock's functions may be such points */

        status = domain->clock->wait_for(domain, ticket);
        haft__os_cancel_restore(cancel);
    }
    return status;
}

HAFT_INTERNAL haft_status haft__domain_wait(haft_domain *domain)
{
    return haft__domain_wait_for(domain, haft__load_relaxed(COUNT, &domain->requested));
}

HAFT_INTERNAL haft_status haft__domain_check_moment(const haft_domain *domain)
{
    const struct haft__clock *clock = domain->clock;

    if (haft__callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    return clock->in_section != NULL && clock->in_section(domain) ? HAFT_IN_SECTION : HAFT_OK;
}

HAFT_INTERNAL bool haft__domain_may_read(const haft_domain *domain)
{
    return domain->clock->may_read == NULL || domain->clock->may_read(domain);
}

haft_status haft_domain_wait(haft_domain *domain)
{
    const haft_status status = haft__domain_check_moment(domain);

    return status == HAFT_OK ? haft__domain_wait(domain) : status;
}

haft_domain_stats haft_domain_stats_get(const haft_domain *domain)
{
    const haft_domain_stats stats = {
        .grace_periods = haft__load_relaxed(COUNT, &domain->grace_periods),
        .longest_grace_period_ns = haft__load_relaxed(COUNT, &domain->longest_ns),
        .backlog = haft__domain_backlog(domain),
        .stalls = haft__load_relaxed(COUNT, &domain->stalls),
    };
    return stats;
}

/* concurrent/clock/grace_periods.c */

/*
 * Tickets and the ends of grace periods, which clock_workers.c, clock_frame.c and clock_foreign.c
 * find.
 *
 * Edges in this file.
 *   TICKET   domain_ticket (release)    -> domain_requested (acquire)   frees before the wait
 *   ELAPSED  domain_end_grace (release) -> domain_done (acquire)        the wait before reuse
 *   COUNT    statistics
 *   RETRY    a first look; the compare-and-swap decides
 */

HAFT_INTERNAL uint64_t haft__domain_ticket(haft_domain *domain)
{
    /* Weakened, a driver could begin its wait before the frees that this ticket stands for. */
    const uint64_t ticket = haft__fetch_add_release(TICKET, &domain->requested, 1) + 1;

    if (domain->clock->requested != NULL) {
        domain->clock->requested(domain, ticket);
    }
    return ticket;
}

HAFT_INTERNAL uint64_t haft__domain_requested(const haft_domain *domain)
{
    return haft__load_acquire(TICKET, &domain->requested);
}

HAFT_INTERNAL uint64_t haft__domain_done(const haft_domain *domain)
{
    /* Weakened, a slot could be written again before its last readers' reads. */
    return haft__load_acquire(ELAPSED, &domain->done);
}

HAFT_INTERNAL uint64_t haft__domain_backlog(const haft_domain *domain)
{
    /* In this order: `done` never runs ahead of what `requested` is read as. */
    const uint64_t done = haft__load_acquire(ELAPSED, &domain->done);
    const uint64_t haft__requested = haft__load_relaxed(COUNT, &domain->requested);

    return haft__requested > done ? haft__requested - done : 0;
}

/*
 * Mark the tickets up to `ticket` as done; a driver beside this one may have gone further.  False
 * if they were done already.  `since`: when the wait was noticed; 0: it was not.
 */
static bool haft__finish(haft_domain *domain, uint64_t ticket, uint64_t *since)
{
    uint64_t before = haft__load_relaxed(RETRY, &domain->done);

    while (before < ticket) {
        /* While `done` stands there, its measure stays. */
        if (haft__measure_read(&domain->measure, since) != before + 1) {
            *since = 0;
        }
        /* Weakened, a slot could be written again before its last readers' reads. */
        if (haft__cas_release(ELAPSED, &domain->done, before, ticket)) {
            return true;
        }
        before = haft__load_relaxed(RETRY, &domain->done);
    }
    return false;
}

HAFT_INTERNAL void haft__domain_end_grace(haft_domain *domain, uint64_t ticket)
{
    uint64_t since;

    if (!haft__finish(domain, ticket, &since)) {
        return;
    }
    haft__fetch_add_relaxed(COUNT, &domain->grace_periods, 1);
    const uint64_t lasted = since != 0 ? haft__os_now_ns() - since : 0;
    uint64_t longest = haft__load_relaxed(COUNT, &domain->longest_ns);

    while (longest < lasted && !haft__cas_relaxed(COUNT, &domain->longest_ns, longest, lasted)) {
        longest = haft__load_relaxed(COUNT, &domain->longest_ns); /* of another driver's */
    }
}

/* concurrent/clock/jobs_and_parks.c */

/*
 * Jobs that wait for jobs, and parks.
 *
 * A level counts what is begun; a state is the level before.  Going from 0 or PARKED to 1 and back
 * is the clock's: it comes online or goes offline, or begins or ends a read section.  Inner jobs
 * change only the count, so they cost no store that another thread reads.
 */

/* In place of a state's number of open jobs. */
#define haft__OPEN_UNKNOWN UINT32_MAX       /* the thread had no nesting state, and got none */
#define haft__OPEN_COUNTED (UINT32_MAX - 1) /* the clock has none; debug builds count sections */

static haft__THREAD_LOCAL uint32_t haft__forgotten;

HAFT_INTERNAL bool haft__job_is_forgotten(void)
{
    return haft__forgotten != 0;
}

/* The calling thread's present nesting state; NULL if it has none. */
static struct haft__nesting *haft__present(haft_domain *domain)
{
    return domain->clock->nesting != NULL ? domain->clock->nesting(domain, false) : NULL;
}

HAFT_INTERNAL bool haft__domain_has_open_jobs(haft_domain *domain)
{
    const struct haft__nesting *haft__nesting = haft__present(domain);

    return haft__nesting != NULL && haft__nesting->open != 0;
}

HAFT_INTERNAL bool haft__domain_in_inner_job(haft_domain *domain)
{
    const struct haft__nesting *haft__nesting = haft__present(domain);

    return haft__nesting != NULL && haft__nesting->level > 1;
}

/* --- lifts --- */

/* In a job or park inside the lift: there is one lift at a time. */
static bool haft__is_inside_lift(const struct haft__nesting *haft__nesting)
{
    return haft__nesting->is_lifted && haft__nesting->open > haft__nesting->lift_open;
}

HAFT_INTERNAL uint32_t haft__lift_join(struct haft__nesting *haft__nesting)
{
    if (haft__nesting->level <= 0 && !haft__is_inside_lift(haft__nesting)) {
        haft__nesting->was_parked = haft__nesting->level == haft__PARKED;
        haft__nesting->is_lifted = true;
        haft__nesting->lift += haft__nesting->lift == UINT32_MAX ? 2 : 1; /* never 0 */
        haft__nesting->lift_open = haft__nesting->open & haft__LIFT_OPEN_MOST;
        haft__nesting->lift_workers = 0;
    }
    haft__nesting->level = haft__nesting->level <= 0 ? 1 : haft__nesting->level;
    haft__nesting->lift_workers += haft__nesting->is_lifted;
    return haft__nesting->is_lifted ? haft__nesting->lift : 0;
}

/* Take it back, if its workers are closed; not in a job or a park that began since. */
static void haft__end_if_over(struct haft__nesting *haft__nesting)
{
    if (haft__nesting->is_lifted && haft__nesting->lift_workers == 0 && haft__nesting->open == haft__nesting->lift_open) {
        assert(haft__nesting->level == 0 || haft__nesting->level == 1);
        haft__nesting->is_lifted = false;
        haft__nesting->level = haft__nesting->was_parked ? haft__PARKED : 0;
    }
}

HAFT_INTERNAL void haft__lift_leave(struct haft__nesting *haft__nesting, uint32_t lift)
{
    if (haft__nesting->is_lifted && haft__nesting->lift == lift) {
        assert(haft__nesting->lift_workers != 0);
        haft__nesting->lift_workers--;
        haft__end_if_over(haft__nesting);
    }
}

/* The level has changed otherwise: the lift may have ended. */
static void haft__lift_review(struct haft__nesting *haft__nesting)
{
    if (haft__nesting->is_lifted && haft__nesting->open < haft__nesting->lift_open) {
        haft__nesting->is_lifted = false;
    }
    haft__end_if_over(haft__nesting);
}

HAFT_INTERNAL void haft__lift_keep(struct haft__nesting *haft__nesting)
{
    if (haft__nesting->level == 1 && !haft__nesting->was_parked) {
        haft__nesting->is_lifted = false;
    }
}

/* --- jobs and parks --- */

static void haft__set_level(haft_domain *domain, struct haft__nesting *haft__nesting, int32_t level)
{
    const int32_t before = haft__nesting->level;

    haft__nesting->level = level;
    haft__lift_review(haft__nesting);
    domain->clock->settle(domain, haft__nesting, before);
}

/* The level in a job that begins at `level`. */
static int32_t haft__level_inside(int32_t level)
{
    return level > 0 ? level + 1 : 1;
}

static haft_job_state haft__state_of(const struct haft__nesting *haft__nesting)
{
    return (haft_job_state){haft__thread_number(), (uint32_t)haft__nesting->level, haft__nesting->open};
}

static int32_t haft__level_of(haft_job_state state)
{
    return (int32_t)state.level;
}

static haft_job_state haft__unkept(uint32_t open)
{
    return (haft_job_state){haft__thread_number(), 0, open};
}

/* The nesting state that a state is of; NULL: none was kept. */
static struct haft__nesting *haft__kept(haft_domain *domain, haft_job_state state)
{
    assert(state.thread == haft__thread_number() && "a job or park ends on the thread where it began");
    if (state.open >= haft__OPEN_COUNTED) {
        return NULL;
    }
    struct haft__nesting *haft__nesting = haft__present(domain);

    assert(haft__nesting != NULL && haft__nesting->open == state.open + 1 && "the last one ends first");
    return haft__nesting;
}

haft_job_state haft_job_begin(haft_domain *domain)
{
    if (domain->clock->nesting == NULL) {
        haft__section_count(domain, 1);
        return haft__unkept(haft__OPEN_COUNTED);
    }
    struct haft__nesting *haft__nesting = domain->clock->nesting(domain, true);

    if (haft__nesting == NULL) {
        haft__forgotten++;
        return haft__unkept(haft__OPEN_UNKNOWN);
    }
    const haft_job_state state = haft__state_of(haft__nesting);

    haft__nesting->open++;
    haft__set_level(domain, haft__nesting, haft__level_inside(haft__level_of(state)));
    return state;
}

void haft_job_end(haft_domain *domain, haft_job_state state)
{
    struct haft__nesting *haft__nesting = haft__kept(domain, state);

    if (haft__nesting != NULL) {
        assert(haft__nesting->level == haft__level_inside(haft__level_of(state)) || haft__nesting->level == 0);
        haft__nesting->open = state.open;
        haft__set_level(domain, haft__nesting, haft__level_of(state));
    } else if (state.open == haft__OPEN_UNKNOWN) {
        haft__forgotten--;
    } else {
        assert(state.open == haft__OPEN_COUNTED && "a job that was kept has its nesting state");
        haft__section_count(domain, UINT64_MAX);
    }
}

/*
 * The calling thread's nesting state for a park: without jobs, too, it may be online.  NULL: it is
 * offline, and has none; or nothing but a job can bring it online.
 */
static struct haft__nesting *haft__parked(haft_domain *domain)
{
    const haft_foreign_clock *foreign = &domain->foreign;
    const bool is_online = haft__foreign_has_online(foreign) && haft__foreign_is_inside(foreign);
    struct haft__nesting *haft__nesting = is_online ? domain->clock->nesting(domain, true) : haft__present(domain);
    const bool has_sections = domain->clock->is_foreign && !haft__foreign_has_online(foreign);

    return haft__nesting != NULL && haft__nesting->open == 0 && has_sections ? NULL : haft__nesting;
}

haft_job_state haft_thread_park(haft_domain *domain)
{
    struct haft__nesting *haft__nesting = haft__parked(domain);

    assert(!haft__callback_is_running() && "no park in a callback: a job may hold pointers");
    if (haft__nesting == NULL || haft__callback_is_running()) {
        return haft__unkept(haft__OPEN_UNKNOWN);
    }
    const haft_job_state state = haft__state_of(haft__nesting);

    haft__nesting->open++;
    haft__set_level(domain, haft__nesting, haft__PARKED);
    return state;
}

void haft_thread_unpark(haft_domain *domain, haft_job_state state)
{
    struct haft__nesting *haft__nesting = haft__kept(domain, state);

    if (haft__nesting != NULL) {
        assert(haft__nesting->level <= 1 && "jobs begun since the park end before unpark");
        haft__nesting->open = state.open;
        haft__set_level(domain, haft__nesting, haft__level_of(state));
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

HAFT_INTERNAL void haft__measure_open(struct haft__measure *haft__measure)
{
    haft__os_mutex_open(&haft__measure->lock);
    haft__store_relaxed(HINT, &haft__measure->reported, 0);
    haft__store_relaxed(HINT, &haft__measure->ticket, 0);
}

HAFT_INTERNAL bool haft__measure_begin(struct haft__measure *haft__measure, uint64_t done)
{
    if (haft__load_relaxed(HINT, &haft__measure->ticket) > done) {
        return true;
    }
    if (!haft__os_mutex_try_lock(&haft__measure->lock)) {
        return false;
    }
    if (haft__load_relaxed(HINT, &haft__measure->ticket) <= done) { /* a late thread measures nothing */
        /* Weakened, a reader could count it for the grace period before, which has ended. */
        haft__store_release(MEASURE, &haft__measure->since, haft__os_now_ns());
        /* Weakened, a reader could count from when the grace period before began. */
        haft__store_release(MEASURE, &haft__measure->ticket, done + 1);
    }
    haft__os_mutex_unlock(&haft__measure->lock);
    return true;
}

HAFT_INTERNAL uint64_t haft__measure_read(const struct haft__measure *haft__measure, uint64_t *since)
{
    const uint64_t ticket = haft__load_acquire(MEASURE, &haft__measure->ticket);

    *since = haft__load_acquire(MEASURE, &haft__measure->since);
    return ticket;
}

/* concurrent/clock/registry.c */

/*
 * The lock of opening and closing, and the number of the process.
 *
 * Every fork takes the lock, so that the child finds the lists whole, and can take it, too.  Where
 * the system has no memory for that handler, the child may find the lock held.  Other handlers take
 * it as well, before this one: hence a thread's count.
 *
 * Locks are to be taken in one order.  A program opens tables while it holds its locks, and this
 * one is held while memory is allocated (export_text.c); the handler given to os_on_fork last runs
 * first before a fork.  So the library gives its handler after the allocator's, and before the
 * program's.
 */

static struct haft__os_mutex haft__domains_lock;
static haft__THREAD_LOCAL unsigned haft__times_taken;
static uint32_t haft__forks; /* from the first process to this; written where there is one thread */
static uint64_t haft__process_number; /* this one's number, as forks; 0: the handler does not keep it */

HAFT_INTERNAL void haft__registry_lock(void)
{
    if (haft__times_taken++ == 0) {
        haft__os_mutex_lock(&haft__domains_lock);
    }
}

HAFT_INTERNAL bool haft__registry_try_lock(void)
{
    if (haft__times_taken == 0 && !haft__os_mutex_try_lock(&haft__domains_lock)) {
        return false;
    }
    haft__times_taken++;
    return true;
}

HAFT_INTERNAL void haft__registry_unlock(void)
{
    if (--haft__times_taken == 0) {
        haft__os_mutex_unlock(&haft__domains_lock);
    }
}

static uint64_t haft__number_now(void)
{
    return (uint64_t)haft__forks << 32 | (uint32_t)haft__os_process_number();
}

static void haft__begin_child(void)
{
    haft__forks++;
    haft__process_number = haft__number_now();
    haft__threads_begin_child();
    haft__registry_unlock();
}

/* Before main, and before other constructors except those of the same priority; in Mach-O (macOS),
 * which has none, in the order of the link. */
haft__AT_START(101, haft__watch_forks);

static void haft__watch_forks(void)
{
    const haft_allocator first = haft_allocator_malloc(); /* malloc may do the same when called */

    first.free(first.context, first.alloc(first.context, 1, 1), 1);
    if (haft__os_on_fork(haft__registry_lock, haft__registry_unlock, haft__begin_child)) {
        haft__process_number = haft__number_now();
    }
}

HAFT_INTERNAL uint64_t haft__registry_process(void)
{
    return haft__process_number != 0 ? haft__process_number : haft__number_now(); /* the latter is a system call */
}

/* concurrent/clock/section.c */

/* Read sections of the domain's foreign clock; without one they last from announcement to
 * announcement, and begin and end do nothing. */

void haft_thread_register(haft_domain *domain)
{
    haft__foreign_register(&domain->foreign);
}

void haft_thread_unregister(haft_domain *domain)
{
    assert((!domain->clock->is_foreign || !haft__domain_has_open_jobs(domain)) && "all jobs have ended");
    haft__foreign_unregister(&domain->foreign);
}

void haft_section_begin(haft_domain *domain)
{
    haft__section_count(domain, 1);
    assert(haft__foreign_thread_is_registered(&domain->foreign) && "haft_thread_register comes first");
    haft__foreign_begin(&domain->foreign);
}

void haft_section_end(haft_domain *domain)
{
    haft__section_count(domain, UINT64_MAX);
    haft__foreign_end(&domain->foreign);
}

void haft_thread_offline(haft_domain *domain)
{
    assert(!haft__callback_is_running() && "not offline in a callback: a job may hold pointers");
    if (domain->clock->offline != NULL && !haft__callback_is_running()) {
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
 *   HINT    a first look at the measure, and whether its grace period has ended
 *   RETRY   a first look; the compare-and-swap decides.  A read-modify-write that adds 0 reads the
 *           newest `done`
 *   COUNT   stalls
 */

HAFT_INTERNAL bool haft__domain_is_driven(const haft_domain *domain)
{
    return haft__load_relaxed(HINT, &domain->measure.ticket) == haft__domain_done(domain) + 1;
}

HAFT_INTERNAL uint64_t haft__domain_waited_ns(haft_domain *domain, uint64_t *ticket)
{
    uint64_t since = 0;

    *ticket = haft__measure_read(&domain->measure, &since);
    const uint64_t now = haft__os_now_ns();

    /*
     * `since` may be that of a later grace period: then `done` shows that the one of `ticket` has
     * ended.  A wait that ended a moment ago may count still; is_to_report() looks again.
     */
    return *ticket == haft__load_relaxed(HINT, &domain->done) + 1 ? now - since : 0;
}

/* True to one thread, if the wait for `ticket` has not ended and was not reported. */
static bool haft__is_to_report(haft_domain *domain, uint64_t ticket)
{
    uint64_t reported = haft__load_relaxed(RETRY, &domain->measure.reported);

    return reported != ticket && haft__fetch_add_relaxed(RETRY, &domain->done, 0) + 1 == ticket &&
           haft__cas_relaxed(RETRY, &domain->measure.reported, reported, ticket);
}

static void haft__say(const haft_stall *stall)
{
    const haft_domain *domain = stall->domain;
    char line[400];
    struct haft__text text = haft__text_in(line, sizeof line);

    haft__text_add(&text, "no grace period has ended for ");
    haft__text_add_time(&text, stall->waited_ns);
    haft__text_add(&text, " on domain %" PRIu64 " (%s clock), and ", domain->number, domain->clock->name);
    haft__text_add_count(&text, stall->backlog);
    haft__text_add(&text, stall->backlog == 1 ? " batch of freed slots waits: "
                                        : " batches of freed slots wait: ");
    domain->clock->advise(domain, stall, &text);
    haft__os_print(line);
}

static void haft__report(haft_domain *domain, uint64_t waited)
{
    haft_stall stall = {.domain = domain, .waited_ns = waited};

    stall.backlog = haft__domain_backlog(domain);
    haft__domain_blame(domain, &stall);
    if (domain->on_stall != NULL) {
        const int cancel = haft__os_cancel_off();

        haft__callback_begin();
        domain->on_stall(&stall, domain->stall_arg);
        haft__callback_end();
        haft__os_cancel_restore(cancel);
    } else {
        haft__say(&stall);
    }
}

HAFT_INTERNAL void haft__domain_notice_stall(haft_domain *domain)
{
    uint64_t ticket;
    const uint64_t waited = haft__domain_waited_ns(domain, &ticket);

    if (haft__callback_is_running()) {
        return; /* a later call notices it */
    }
    if (waited >= domain->stall_ns && haft__domain_check_process(domain) == HAFT_OK &&
        haft__is_to_report(domain, ticket)) {
        haft__fetch_add_relaxed(COUNT, &domain->stalls, 1);
        haft__report(domain, waited);
    }
}

/* concurrent/clock/thread.c */

/*
 * Numbers of threads.
 *
 * Edges in this file.
 *   COUNT   each number is assigned once, in no order with anything else
 */

static haft__atomic_u64 haft__numbers_given;
static haft__THREAD_LOCAL uint64_t haft__system_number; /* 0: not asked yet */

/* In the child of a fork, written by its one thread: itself, and the last of its parent. */
static uint64_t haft__forking;
static uint64_t haft__last_of_parent;

HAFT_INTERNAL uint64_t haft__thread_number(void)
{
    static haft__THREAD_LOCAL uint64_t number;

    if (number == 0) {
        number = haft__fetch_add_relaxed(COUNT, &haft__numbers_given, 1) + 1;
    }
    return number;
}

HAFT_INTERNAL uint64_t haft__thread_system_number(void)
{
    if (haft__system_number == 0) {
        haft__system_number = haft__os_thread_number();
    }
    return haft__system_number;
}

/* The system gives the thread of a child another number than the one that it goes on from. */
HAFT_INTERNAL void haft__threads_begin_child(void)
{
    haft__system_number = 0;
    haft__forking = haft__thread_number();
    haft__last_of_parent = haft__load_relaxed(COUNT, &haft__numbers_given);
}

HAFT_INTERNAL bool haft__thread_is_gone(uint64_t number)
{
    return number <= haft__last_of_parent && number != haft__forking;
}

/*
 * concurrent/worker/counters.h - what each worker counts.
 *
 * Edges in this file.
 *   COUNT    a counter that one worker writes and any thread may read
 *   TALLY    tally (release) -> count_begun (acquire)   frees before insertions into their slots
 */

/*
 * Each worker counts for itself; sums of differences are the table's statistics
 * (haft/detail/stats.h).  Counters of beginnings come before those of the ends.
 */
#define haft__COUNTERS(X) haft__BEGINNINGS(X) X(inserted) X(freed) haft__ENDS(X)

#define haft__BEGINNINGS(X)                                                                              \
    X(reserved)                                                                                    \
    X(published)

/* inserted: in one call, and neither of the two above.  It comes before the ends, as freed does. */

#define haft__ENDS(X)                                                                                    \
    X(aborted)                                                                                     \
    X(reclaimed) /* freed or aborted, and reclaimed */                                             \
    X(exhausted)

/* Counters that are statistics as they are. */
#define haft__PUBLIC_COUNTERS(X) X(batches_moved) X(refused_frees)

#define haft__COUNTER_MEMBER(name) haft__atomic_u64 name;

/* The first two are those of struct haft_worker_front. */
struct haft__counters {
    haft__atomic_u64 inserted;
    haft__atomic_u64 freed;
    haft__BEGINNINGS(haft__COUNTER_MEMBER)
    haft__ENDS(haft__COUNTER_MEMBER)
    haft__PUBLIC_COUNTERS(haft__COUNTER_MEMBER)
};

/* Add to a counter that only this thread writes. */
static inline void haft__count_up(haft__atomic_u64 *counter, uint64_t by)
{
    haft__store_relaxed(COUNT, counter, haft__load_relaxed(COUNT, counter) + by);
}

/* count_up() for a beginning: a thread that sees the count sees all frees that led to it. */
static inline void haft__tally(haft__atomic_u64 *counter, uint64_t by)
{
    haft__store_release(TALLY, counter, haft__load_relaxed(COUNT, counter) + by);
}

/* a - b, or 0 where calls under way make it negative. */
static inline uint64_t haft__positive_difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/*
 * concurrent/worker/state.h - the structs of the shared table and its workers.
 *
 * Where a slot is when it is not live, reserved or fresh: in the filling or open batch of one
 * worker (private); in a worker's ring or a depot, from which any worker may take it; in one of
 * the table's lists; or in a call that has not returned.  Batches that wait for a grace period and
 * batches that are ready never share a ring or a depot.  Workers hold slots privately within a
 * budget, so the table holds its capacity whatever they hold back.
 */

/* A ticket that a worker took, and the slots it had retired until then. */
struct haft__closing {
    uint64_t ticket;
    uint64_t retired;
};

/* Slots that a worker has retired under tickets that are not done: oldest closing first. */
struct haft__backlog {
    uint64_t first;   /* closings ever done or forgotten */
    uint64_t next;    /* closings ever */
    uint64_t retired; /* slots ever retired */
    uint64_t done;    /* of them, done as far as known */
    uint64_t handed;  /* of them, handed over */
    struct haft__closing closings[haft__CLOSINGS];
};

/* The state and the thread of a worker in one word: state | thread_number() << STATE_BITS. */
enum haft__worker_state {
    haft__WORKER_CLOSED,   /* no thread's: any may open or borrow it */
    haft__WORKER_OPEN,     /* between haft_worker_open() and haft_worker_close() */
    haft__WORKER_BORROWED, /* for one call: a close, or trim and its kin */
    haft__WORKER_ENDED     /* closed, when the table is cleared: any may borrow it */
};
#define haft__STATE_BITS 2

/* Begins as struct haft_worker_front does (haft/detail/table_front.h), up to two counters. */
struct haft_worker {
    uint32_t version;     /* HAFT_TABLE_FRONT */
    uint32_t object_size; /* if haft_insert() may copy by words */
    uint64_t above_index;
    uint64_t used_from;
    uint64_t called_from;
    uint64_t last_life;
    haft_view view;

    /* Positions in the two batches below: see worker_batches.h. */
    uintptr_t use_at;
    uintptr_t free_at;
    uint64_t use_to;
    uint64_t look_at;
    struct haft__counters counters;

    haft_table *table;
    struct haft__member *member;               /* the thread, for the domain's clock */
    struct haft__batch *filling;               /* slots to be used */
    struct haft__batch *open;                  /* slots retired since the last closing */
    struct haft__batch *spares[haft__SPARE_BATCHES]; /* empty descriptors */
    uint32_t spare_count;
    uint32_t batch_limit;    /* batch limit: the worker may hold back 2 * (batch_limit - 1) slots */
    uint32_t lift;           /* of its thread's nesting state: see jobs_and_parks.h */
    uint64_t callback;       /* that it was opened in; 0: none */
    struct haft__segment *segment; /* of descriptors, brought last by its thread */
    bool is_to_draw;         /* open, and it has not drawn from the budget */
    bool is_movable;         /* the frame clock lets it go from thread to thread */
    uint64_t swept;          /* tickets done when it last found no elapsed batch anywhere */
    uint64_t failures_seen;  /* the table's, when last answered */
    uint64_t failures_before; /* and when the worker was opened: it does not wait for that */
    uint64_t ended_seen;      /* objects and reservations ever ended, at the last quiescent point */
    struct haft__backlog backlog;

    _Alignas(haft__CACHE_LINE) struct haft__ring waiting; /* closed batches, with their tickets */
    _Alignas(haft__CACHE_LINE) struct haft__ring ready;   /* batches that may be reused at once */
    _Alignas(haft__CACHE_LINE) haft__atomic_u64 extent;   /* fresh slots that it has drawn: see fresh.c */
    haft__atomic_u64 state;
    haft__atomic_u64 transit;       /* odd: the worker may have waiting slots: see handed.h */
    haft__atomic_u64 moves;         /* how often its ring had no room for a batch that waits */
    haft__atomic_u64 segments;      /* of descriptors that it has brought: see descriptors.h */
    struct haft_worker *next; /* in the worker list; constant */
};

/* A stack with a tagged head: see lists.h. */
struct haft__slot_list {
    haft__atomic_u64 head;
};

/* The lists, and where their slots go. */
enum haft__list_kind {
    haft__LIST_FREED,    /* by haft_table_free(): a ticket, and then like other freed slots */
    haft__LIST_UNPINNED, /* past their grace period, and the last pin is gone: on_reclaim, then ready */
    haft__LIST_COUNT
};

/* The slots of a former local table that the shared one has not used yet: see share.c. */
struct haft__inherited {
    haft_local *local; /* the local table's options; NULL: it was none */
    haft__atomic_u64 listed; /* the first of its free slots, or MARK_END */
};

/* Runs whose memory was released, to be drawn as fresh slots again: see released.c. */
struct haft__released {
    haft__atomic_u64 head;  /* tagged number of the first one */
    haft__atomic_u64 slots; /* in all of them */
};

struct haft_table {
    struct haft__slots slots;
    haft_domain *domain;
    struct haft__pool pool;
    uint32_t batch_max;    /* slots in a full batch */
    uint32_t extent_slots; /* fresh slots that a worker draws at once */
    haft_reclaim *on_reclaim;
    void *reclaim_arg;
    bool is_quick;         /* haft_insert may copy without a call */
    bool reclaims_by_slot; /* each slot that is reclaimed is looked at */
    bool never_waits;      /* no quiescent point waits for a grace period */
    uint64_t capacity;
    uint64_t budget_size;
    uint64_t waiting_bytes; /* the option; 0: a bound for quiescent points only */
    uint64_t waiting_slots; /* the same in slots */
    uint64_t backlog_slots; /* that a worker lets wait */
    uint64_t backlog_worth; /* for which it looks at what other threads have announced */
    uint64_t used_from;     /* as in struct haft_worker_front, for calls that are checked */
    uint64_t last_life;
    const char *name; /* behind the struct */

    _Alignas(haft__CACHE_LINE) haft__atomic_u64 fresh;    /* slots below are used, or in a worker's extent */
    _Alignas(haft__CACHE_LINE) haft__atomic_u64 failures; /* times that a thread found no slot */
    haft__atomic_u64 budget;                        /* slots that workers may still hold back */
    haft__atomic_u64 workers; /* address of the worker added last | 1: none is opened any more */
    haft__atomic_u64 handed;  /* the highest ticket handed over, or 0: see handed.h */
    _Alignas(haft__CACHE_LINE) struct haft__depot waiting; /* full batches, with their tickets */
    struct haft__depot ready;                        /* full batches that may be reused at once */
    _Alignas(haft__CACHE_LINE) struct haft__slot_list lists[haft__LIST_COUNT];
    struct haft__counters counters; /* of haft_table_free(), whose callers add atomically */
    struct haft__inherited inherited;
    struct haft__released released;
    haft__atomic_u64 trimming; /* 1: a thread takes slots out of all batches (trim) */
    haft__atomic_u64 drawing;  /* fresh slots that refills ask for, with waiting_bytes: see refill.c */

    uint64_t number;        /* no other table ever has it */
    haft_table *next_open;  /* in the list of all: see open.c */
    haft_table **open_link; /* the pointer to this one in it */

    haft__atomic_u64 attached; /* what lies beside the slots; not 0: the table stays open.  Under the
                            registry's lock */
};

/*
 * The pins of an object: their number, in the lower half; and a flag, set when its slot was to be
 * reclaimed and had pins: then the last unpin puts it into the list of unpinned ones.
 */
#define haft__PIN_ELAPSED (UINT64_C(1) << 63)
#define haft__PIN_COUNT UINT64_C(0xffffffff)

/* Whether calls with a worker are checked (debug_check): then programs make none in place. */
static inline bool haft__debug_is_on(void)
{
#if defined(NDEBUG)
    return false;
#else
    return true;
#endif
}

/*
 * concurrent/worker/allocate.h - the way in: haft_reserve, as called from `caller`.  The worker's
 * thread; lock-free, except callbacks.
 */

HAFT_INTERNAL
haft_status haft__worker_reserve(haft_worker *worker, haft_id *id, void **haft__object, const void *caller);

/*
 * concurrent/worker/life.h - the steps of a slot's life whose order matters, each in one place:
 * single calls, and calls of many, are made of them.
 *
 * Edges in this file.
 *   PUBLISH  life_publish (release) -> life_end (acquire)   object before word, also for the
 *            thread that frees the object
 *   CLAIM    one winner per id: the atomicity of the compare-and-swap in life_end
 *   OWN      only this worker writes the word
 *   RETRY    a first look; the compare-and-swap decides
 */

/* The id of the next life of slot `index`, whose word is `at` and the caller's. */
static inline haft_id haft__life_next_id(const struct haft__slots *slots, const haft__atomic_u64 *at, uint64_t index)
{
    const uint64_t word = haft__slots_begin(slots, haft__load_relaxed(OWN, at));
    const haft_id id = {haft__word_with_index(&slots->format, word, index)};

    return id;
}

/* Reserve slot `index`, which is the caller's, for its next life, `*id`.  Returns its word. */
static inline haft__atomic_u64 *haft__life_reserve(const struct haft__slots *slots, uint64_t index, haft_id *id)
{
    haft__atomic_u64 *word = haft__slots_word(slots, index);

    *id = haft__life_next_id(slots, word, index);
    haft__slots_unpoison(slots, word);
    haft__store_relaxed(OWN, word, haft__word_with_index(&slots->format, id->bits, haft__MARK_RESERVED));
    return word;
}

/* The id is live from now on. */
static inline void haft__life_publish(haft__atomic_u64 *word, haft_id id)
{
    /* Weakened, a reader could match the id and read the object's bytes from before. */
    haft__store_release(PUBLISH, word, id.bits);
}

/* Whether `id` is reserved. */
static inline bool haft__life_is_reserved(const struct haft__slots *slots, haft_id id)
{
    const uint64_t index = haft__word_index(&slots->format, id.bits);

    return haft__load_relaxed(OWN, haft__slots_word(slots, index)) ==
           haft__word_with_index(&slots->format, id.bits, haft__MARK_RESERVED);
}

/* End the life of `id`: true to one of all threads that try.  `*next`: the slot's word now. */
static inline bool haft__life_end(const struct haft__slots *slots, haft_id id, uint64_t *next)
{
    haft__atomic_u64 *word = haft__slots_word(slots, id.bits & slots->view.mask);

    /* A compare-and-swap that must fail would still dirty the line. */
    if (haft__load_relaxed(RETRY, word) != id.bits) {
        return false;
    }
    *next = haft__word_next_life(&slots->format, id.bits, haft__MARK_FREE);
    /* Weakened, the slot's next tenant could be written before the object's first bytes are. */
    return haft__cas_acquire(PUBLISH, word, id.bits, *next);
}

/* The word of a reclaimed slot: free for the life of `word`'s generation, or exhausted. */
static inline uint64_t haft__life_after(const struct haft__slots *slots, uint64_t word)
{
    const struct haft__word_format *format = &slots->format;
    const uint64_t next = slots->wrapped ? haft__word_wrapped(format, word) : word;

    return haft__word_with_index(format, next,
                           haft__word_generation(format, next) == 0 ? haft__MARK_EXHAUSTED : haft__MARK_END);
}

/* A reservation is given up.  False: it was the slot's last life, and the slot is exhausted. */
static inline bool haft__life_give_up(const struct haft__slots *slots, haft_id id)
{
    const struct haft__word_format *format = &slots->format;
    haft__atomic_u64 *word = haft__slots_word(slots, haft__word_index(format, id.bits));
    const uint64_t next = haft__life_after(slots, haft__word_next_life(format, id.bits, haft__MARK_END));

    assert(haft__life_is_reserved(slots, id) && "an id is reserved, and given up once");
    haft__slots_poison(slots, word);
    haft__store_relaxed(OWN, word, next);
    return haft__word_index(format, next) != haft__MARK_EXHAUSTED; /* else there is nothing to reclaim */
}

/* concurrent/worker/refill.h */

/* concurrent/worker/refill.h - finding slots for a worker's filling batch. */

/*
 * Up to `most` slots in the filling batch, at least one, for the caller to use: how many in
 * `*count`.  HAFT_OK, or why there are none.  The worker's thread; lock-free, except callbacks.
 */
HAFT_INTERNAL haft_status haft__refill_if_empty(haft_worker *worker, uint64_t most, uint32_t *count);

/*
 * concurrent/worker/worker_batches.h - the two batches that a worker works with; the worker's
 * counts are its positions in them (struct haft_worker_front in haft/detail/table_front.h).
 *
 * A reservation takes a slot and an abort adds one without a change of these counts, so they shift
 * the addresses instead (use_at, free_at).  The count in such a batch is 0.
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
static inline uint64_t haft__front_used_from(const haft_worker *worker)
{
    return haft__debug_is_on() ? worker->table->used_from : worker->used_from;
}

static inline uint64_t haft__front_last_life(const haft_worker *worker)
{
    return haft__debug_is_on() ? worker->table->last_life : worker->last_life;
}

/* --- the filling batch --- */

static inline uint32_t haft__filling_count(const haft_worker *worker)
{
    return (uint32_t)(worker->use_to - haft__load_relaxed(OWN, &worker->counters.inserted));
}

/* The slots to be used, next one first. */
static inline uint32_t *haft__filling_next(const haft_worker *worker)
{
    return haft_front_place(worker->use_at, haft__load_relaxed(OWN, &worker->counters.inserted));
}

/* Take the next slots without counting insertions.  (An insertion's count takes its slot.) */
static inline void haft__filling_use(haft_worker *worker, uint32_t count)
{
    assert(count <= haft__BATCH_SLOTS && worker->use_to >= count);
    worker->use_at += count * sizeof(uint32_t);
    worker->use_to -= count;
}

/* The batch's slots are to be used next. */
static inline void haft__filling_set(haft_worker *worker, struct haft__batch *batch)
{
    const uint64_t inserted = haft__load_relaxed(OWN, &worker->counters.inserted);

    assert(batch->count <= haft__BATCH_SLOTS && batch != worker->open);
    worker->filling = batch;
    worker->use_at = (uintptr_t)batch->indices - (uintptr_t)inserted * sizeof(uint32_t);
    worker->use_to = inserted + batch->count;
    batch->count = 0;
}

/* The filling batch with the slots to be used: filling_set() puts one in its place. */
static inline struct haft__batch *haft__filling_detach(haft_worker *worker)
{
    struct haft__batch *batch = worker->filling;

    assert(batch->count == 0 && "the count of such a batch is the worker's");
    batch->count = haft__filling_count(worker);
    assert(batch->count <= haft__BATCH_SLOTS);
    memmove(batch->indices, haft__filling_next(worker), batch->count * sizeof batch->indices[0]);
    return batch;
}

/* --- the open batch --- */

/* Where the slot goes that is freed next. */
static inline uint32_t *haft__open_batch_place(const haft_worker *worker)
{
    return haft_front_place(worker->free_at, haft__load_relaxed(OWN, &worker->counters.freed));
}

static inline uint32_t haft__open_batch_count(const haft_worker *worker)
{
    return (uint32_t)(haft__open_batch_place(worker) - worker->open->indices);
}

/* Tables whose frees always have more to do than to put a slot into the batch. */
static inline bool haft__open_batch_always_looks(const haft_table *table)
{
    return table->slots.sites.records != NULL;
}

/* A free looks further when the open batch gets as many slots as the batch limit. */
static inline void haft__open_batch_set_look(haft_worker *worker)
{
    const uint64_t freed = haft__load_relaxed(OWN, &worker->counters.freed);
    const uint32_t count = haft__open_batch_count(worker);
    const uint64_t left = worker->batch_limit - (uint64_t)count;

    assert(worker->batch_limit <= haft__BATCH_SLOTS && count <= haft__BATCH_SLOTS);
    worker->look_at = haft__open_batch_always_looks(worker->table) ? 0 : freed + left;
}

/* An empty batch is the open one. */
static inline void haft__open_batch_set(haft_worker *worker, struct haft__batch *batch)
{
    const uint64_t freed = haft__load_relaxed(OWN, &worker->counters.freed);

    assert(batch->count == 0 && batch != worker->filling);
    worker->open = batch;
    worker->free_at = (uintptr_t)batch->indices - (uintptr_t)freed * sizeof(uint32_t);
    haft__open_batch_set_look(worker);
}

/* The open batch with its slots: open_batch_set() puts one in its place. */
static inline struct haft__batch *haft__open_batch_detach(haft_worker *worker)
{
    struct haft__batch *batch = worker->open;

    assert(batch->count == 0 && "the count of such a batch is the worker's");
    batch->count = haft__open_batch_count(worker);
    assert(batch->count <= haft__BATCH_SLOTS);
    return batch;
}

/* The slot goes into the open batch, and the free is counted.  True: look further. */
static inline bool haft__open_batch_add_freed(haft_worker *worker, uint64_t index)
{
    const uint64_t freed = haft__load_relaxed(OWN, &worker->counters.freed) + 1;

    uint32_t *place = haft__open_batch_place(worker);

    assert(place >= worker->open->indices && place < worker->open->indices + haft__BATCH_SLOTS);
    *place = (uint32_t)index;
    haft__count_up(&worker->counters.freed, 1);
    return freed >= worker->look_at;
}

/* The slot of a reservation that is given up goes into the open batch.  True: look further. */
static inline bool haft__open_batch_add_aborted(haft_worker *worker, uint64_t index)
{
    uint32_t *place = haft__open_batch_place(worker);

    assert(place >= worker->open->indices && place < worker->open->indices + haft__BATCH_SLOTS);
    *place = (uint32_t)index;
    worker->free_at += sizeof(uint32_t);
    worker->look_at -= worker->look_at != 0;
    return haft__load_relaxed(OWN, &worker->counters.freed) >= worker->look_at;
}

/*
 * concurrent/worker/worker_list.h - the workers of a table: a list that only grows, newest first.
 *
 *   for (haft_worker *w = worker_list_first(table); w != NULL; w = w->next)
 *
 * A worker that is closed stays in the worker list, with its rings and its extent, until a thread
 * opens or borrows it.  All functions: any thread, lock-free.
 */

HAFT_INTERNAL haft_worker *haft__worker_list_first(const haft_table *table);

/* How many are open or borrowed. */
HAFT_INTERNAL uint64_t haft__worker_list_open(const haft_table *table);

/* A new worker in the state `state` of the calling thread; NULL: worker_list_why_none(). */
HAFT_INTERNAL haft_worker *haft__worker_list_add(haft_table *table, enum haft__worker_state state);

/* Why there is none to open or to borrow: HAFT_CLOSED or HAFT_NO_MEMORY. */
HAFT_INTERNAL haft_status haft__worker_list_why_none(const haft_table *table);

/* No thread opens a worker from now on, and open ones find no slots.  Whether all are closed. */
HAFT_INTERNAL bool haft__worker_list_end(haft_table *table);
HAFT_INTERNAL bool haft__worker_list_has_ended(const haft_table *table);

/* The memory of all workers, when no thread has any. */
HAFT_INTERNAL void haft__worker_list_free(haft_table *table);

/*
 * A worker that was closed, in that state, or else a new one; after worker_list_end() one that was
 * ended, to be borrowed.  NULL: worker_list_why_none().
 */
HAFT_INTERNAL haft_worker *haft__worker_list_take(haft_table *table, enum haft__worker_state state);

/* The worker, which is open, is the calling thread's from now on: it was handed over. */
HAFT_INTERNAL void haft__worker_change_thread(haft_worker *worker);

/* The worker is closed from now on: another thread may have it. */
HAFT_INTERNAL void haft__worker_list_put_back(haft_worker *worker);

/* A snapshot of its state; whether the thread with that number has it open; whether it is the
 * calling thread's, open or borrowed. */
HAFT_INTERNAL enum haft__worker_state haft__worker_state(const haft_worker *worker);
HAFT_INTERNAL bool haft__worker_is_open_by(const haft_worker *worker, uint64_t thread);
HAFT_INTERNAL bool haft__worker_is_own(const haft_worker *worker);

/*
 * The check of each call with a worker in debug builds.  (Not in hooked ones: there it would only
 * be more steps to explore.)
 */
static inline void haft__debug_check(const haft_worker *worker)
{
    (void)worker;
    assert((!haft__debug_is_on() || haft__worker_is_own(worker)) &&
           "only its thread uses a worker, until the worker is closed");
}

/* The same for each call that looks at objects. */
static inline void haft__debug_check_reader(const haft_table *table)
{
    (void)table;
    assert((!haft__debug_is_on() || haft__domain_may_read(table->domain)) &&
           "with the workers clock, threads that look at objects have an open worker, "
           "and are not offline or parked");
}

/* concurrent/worker/allocate.c */

/*
 * The way in: reserve, publish, insert.
 *
 * Edges in this file.
 *   OWN   a slot of the filling batch is the worker's until it is published
 */

/* Take a slot. */
static haft_status haft__take_index(haft_worker *worker, uint64_t *index)
{
    uint32_t count;
    const haft_status status = haft__refill_if_empty(worker, 1, &count);

    if (status == HAFT_OK) {
        *index = *haft__filling_next(worker);
        haft__filling_use(worker, 1);
    }
    return status;
}

HAFT_INTERNAL
haft_status haft__worker_reserve(haft_worker *worker, haft_id *id, void **haft__object, const void *caller)
{
    const struct haft__slots *slots = &worker->table->slots;
    uint64_t index;
    const haft_status status = haft__take_index(worker, &index);

    if (status != HAFT_OK) {
        return status;
    }
    haft__atomic_u64 *word = haft__life_reserve(slots, index, id);

    haft__sites_note_birth(&slots->sites, index, caller);
    haft__tally(&worker->counters.reserved, 1);
    if (haft__object != NULL) {
        *haft__object = haft__slots_object(word);
    }
    return HAFT_OK;
}

/* haft_publish() without its checks. */
static inline void haft__publish(haft_worker *worker, haft_id id)
{
    const struct haft__slots *slots = &worker->table->slots;

    haft__count_up(&worker->counters.published, 1);
    haft__life_publish(haft__slots_word(slots, haft__word_index(&slots->format, id.bits)), id);
}

void haft_publish(haft_worker *worker, haft_id id)
{
    haft__debug_check(worker);
    assert(haft__life_is_reserved(&worker->table->slots, id) && "an id is reserved, and published once");

    haft__publish(worker, id);
}

haft_status haft_reserve(haft_worker *worker, haft_id *id, void **haft__object)
{
    haft__debug_check(worker);
    struct haft_front_slot slot;

    if (!haft_worker_front_take(worker, worker->view, haft__front_used_from(worker), &slot)) {
        return haft__worker_reserve(worker, id, haft__object, haft__CALLER);
    }
    haft__filling_use(worker, 1);
    haft__tally(&worker->counters.reserved, 1);
    haft__store_relaxed(OWN, slot.word, (slot.id.bits & worker->above_index) | haft__MARK_RESERVED);
    *id = slot.id;
    if (haft__object != NULL) {
        *haft__object = haft__slots_object(slot.word);
    }
    return HAFT_OK;
}

/* haft_insert where the short way does not do.  Inlined, it would cost that a stack frame. */
static haft__NOINLINE haft_status haft__insert_by_calls(haft_worker *worker, const void *haft__object, haft_id *id,
                                            const void *caller)
{
    void *bytes;
    const haft_status status = haft__worker_reserve(worker, id, &bytes, caller);

    if (status == HAFT_OK) {
        haft__slots_fill(&worker->table->slots, bytes, haft__object);
        haft__publish(worker, *id);
    }
    return status;
}

/* Whether the insertion was done in place. */
static inline bool haft__insert(haft_worker *worker, const void *haft__object, haft_id *id)
{
    struct haft_front_slot slot;

    if (HAFT_IF_UNLIKELY(haft__object == NULL) ||
        !haft_worker_front_take(worker, worker->view, worker->called_from, &slot)) {
        return false;
    }
    *id = slot.id;
    haft__object_copy_words(slot.word + 1, haft__object, worker->object_size);
    haft_worker_front_put(worker, slot);
    return true;
}

haft_status haft_insert(haft_worker *worker, const void *haft__object, haft_id *id)
{
    haft__debug_check(worker);

    return HAFT_IF_LIKELY(haft__insert(worker, haft__object, id)) ? HAFT_OK
                                                      : haft__insert_by_calls(worker, haft__object, id, haft__CALLER);
}

/*
 * After `*status`: whether to try again, now that the clock has been waited for; else `*status` is
 * the answer.  `*turn` counts the tries, from 0 on.
 */
static bool haft__await_slots(const haft_table *table, haft_status *status, uint64_t *turn)
{
    haft_domain *domain = table->domain;

    if (*status != HAFT_BUSY) {
        return false;
    }
    *status = haft_domain_wait(domain);
    if (*status == HAFT_OK) { /* also in the child of a fork, if nothing waits there */
        *status = haft__domain_check_process(domain);
    }
    if (*status == HAFT_OK) {
        haft__pause_in_turn((*turn)++); /* if nothing waits, slots are on their way between workers */
    }
    return *status == HAFT_OK;
}

haft_status haft_reserve_wait(haft_worker *worker, haft_id *id, void **haft__object)
{
    haft__debug_check(worker);
    haft_status status;
    uint64_t turn = 0;

    do {
        status = haft__worker_reserve(worker, id, haft__object, haft__CALLER);
    } while (haft__await_slots(worker->table, &status, &turn));
    return status;
}

haft_status haft_insert_wait(haft_worker *worker, const void *haft__object, haft_id *id)
{
    haft__debug_check(worker);
    haft_status status;
    uint64_t turn = 0;

    do {
        status = haft__insert(worker, haft__object, id) ? HAFT_OK : haft__insert_by_calls(worker, haft__object, id, haft__CALLER);
    } while (haft__await_slots(worker->table, &status, &turn));
    return status;
}

/*
 * concurrent/worker/budget.h - slots that workers may hold back.
 *
 * A worker with a batch limit of n may hold back 2 * (n - 1) slots, which it draws from the table's
 * budget when it first finds or frees a slot.  Before, and while it is closed or borrowed, its
 * limit is 1: it holds nothing back.
 *
 * All functions: the worker's thread, lock-free.
 */

/* Before the worker finds slots, or retires a batch that has reached its limit. */
HAFT_INTERNAL void haft__budget_draw(haft_worker *worker);

/* The worker gives back all that it drew. */
HAFT_INTERNAL void haft__budget_return(haft_worker *worker);

/* Set the worker's batch limit, which it keeps: it draws no other share. */
HAFT_INTERNAL void haft__worker_set_batch_limit(haft_worker *worker, uint32_t limit);

/* concurrent/worker/budget.c */

/*
 * The budget: slots that workers may hold back, and their batch limits.
 *
 * Edges in this file.
 *   RETRY   the budget: it carries numbers only; the slots held back travel through ring and depot
 */

HAFT_INTERNAL void haft__worker_set_batch_limit(haft_worker *worker, uint32_t limit)
{
    worker->is_to_draw = false;
    worker->batch_limit = limit;
    haft__open_batch_set_look(worker);
}

/* Take the slots that the worker may hold back from the budget, and set its batch limit by them. */
static void haft__draw_share(haft_worker *worker)
{
    haft_table *table = worker->table;
    const uint64_t wanted = 2 * (uint64_t)(table->batch_max - 1);
    uint64_t left;
    uint64_t drawn;

    do {
        left = haft__load_relaxed(RETRY, &table->budget);
        drawn = (left < wanted ? left : wanted) & ~UINT64_C(1);
    } while (!haft__cas_relaxed(RETRY, &table->budget, left, left - drawn));
    haft__worker_set_batch_limit(worker, (uint32_t)(drawn / 2 + 1));
}

HAFT_INTERNAL void haft__budget_draw(haft_worker *worker)
{
    if (worker->is_to_draw) {
        haft__draw_share(worker);
    }
}

HAFT_INTERNAL void haft__budget_return(haft_worker *worker)
{
    if (worker->batch_limit != 1) {
        haft__fetch_add_relaxed(RETRY, &worker->table->budget, 2 * (uint64_t)(worker->batch_limit - 1));
        haft__worker_set_batch_limit(worker, 1);
    }
}

/*
 * concurrent/worker/descriptors.h - how many batches a worker may have, by the descriptors that it
 * has brought.
 *
 * Full batches beyond that go to the depots, whose descriptors are the table's, and partial ones
 * are put together: so a free never needs one more.  A worker brings some when it is made, and more
 * where memory may be asked for: when it is opened, searches for slots or passes a quiescent point,
 * while its rings are full.  If there is no memory, its rings stay short.
 */

/* The most batches in the worker's ring of waiting ones, in that of ready ones, and its spares. */
HAFT_INTERNAL uint64_t haft__descriptors_waiting(const haft_worker *worker);
HAFT_INTERNAL uint64_t haft__descriptors_ready(const haft_worker *worker);
HAFT_INTERNAL uint64_t haft__descriptors_spare(const haft_worker *worker);

/* A segment more for the worker; NULL: no memory.  Any thread. */
HAFT_INTERNAL struct haft__segment *haft__descriptors_bring(haft_worker *worker);

/* As many as it can use; false: no memory.  Any thread. */
HAFT_INTERNAL bool haft__descriptors_bring_all(haft_worker *worker);

/* Bring more if the rings are full.  The worker's thread, not in a free. */
HAFT_INTERNAL void haft__descriptors_keep_up(haft_worker *worker);

/* concurrent/worker/descriptors.c */

/*
 * Batch descriptors that a worker brings.
 *
 * Edges in this file.
 *   HINT   how many segments the worker has brought: a descriptor that is not seen in the pool yet
 *          is waited for there
 */

/* With these no ring is shorter than it can be. */
#define haft__SEGMENTS_MOST                                                                              \
    ((haft__PRIVATE_BATCHES + haft__RING_BATCHES + haft__READY_BATCHES + haft__SPARE_BATCHES + haft__SEGMENT_BATCHES - 1) /      \
     haft__SEGMENT_BATCHES)

static uint64_t haft__least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Descriptors beyond those of the batches in use. */
static uint64_t haft__beyond_private(const haft_worker *worker)
{
    const uint64_t segments = haft__load_relaxed(HINT, &worker->segments);

    assert(segments != 0 && "a worker begins with one");
    return segments * haft__SEGMENT_BATCHES - haft__PRIVATE_BATCHES;
}

HAFT_INTERNAL uint64_t haft__descriptors_spare(const haft_worker *worker)
{
    return haft__least(haft__beyond_private(worker) / 4, haft__SPARE_BATCHES);
}

HAFT_INTERNAL uint64_t haft__descriptors_ready(const haft_worker *worker)
{
    return haft__least(haft__beyond_private(worker) / 4, haft__READY_BATCHES);
}

HAFT_INTERNAL uint64_t haft__descriptors_waiting(const haft_worker *worker)
{
    const uint64_t left =
        haft__beyond_private(worker) - haft__descriptors_spare(worker) - haft__descriptors_ready(worker);

    return haft__least(left, haft__RING_BATCHES);
}

HAFT_INTERNAL struct haft__segment *haft__descriptors_bring(haft_worker *worker)
{
    struct haft__segment *segment = haft__pool_grow(&worker->table->pool);

    haft__fetch_add_relaxed(HINT, &worker->segments, segment != NULL);
    return segment;
}

HAFT_INTERNAL bool haft__descriptors_bring_all(haft_worker *worker)
{
    bool has = true;

    while (has && haft__load_relaxed(HINT, &worker->segments) < haft__SEGMENTS_MOST) {
        has = haft__descriptors_bring(worker) != NULL;
    }
    return has;
}

static bool haft__is_crowded(const struct haft__ring *ring, uint64_t most)
{
    return haft__ring_length(ring) >= most;
}

/* In the child of a fork the allocator may be locked for ever: it keeps what it has. */
HAFT_INTERNAL void haft__descriptors_keep_up(haft_worker *worker)
{
    const bool has_failed =
        haft__is_crowded(&worker->waiting, haft__PARTIAL_BATCHES(haft__descriptors_waiting(worker))) ||
        haft__is_crowded(&worker->ready, haft__descriptors_ready(worker));

    if (has_failed && haft__load_relaxed(HINT, &worker->segments) < haft__SEGMENTS_MOST &&
        haft__domain_check_process(worker->table->domain) == HAFT_OK) {
        struct haft__segment *segment = haft__descriptors_bring(worker);

        worker->segment = segment != NULL ? segment : worker->segment;
    }
}

/*
 * concurrent/worker/exchange.h - batches on their way between a worker, the rings and the depots.
 *
 * All functions but the last: the worker's thread, lock-free.  A batch that is handed over is not
 * the caller's any more.
 */

/* An empty batch for this worker; and an empty one back. */
HAFT_INTERNAL struct haft__batch *haft__exchange_take_empty(haft_worker *worker);
HAFT_INTERNAL void haft__exchange_give_empty(haft_worker *worker, struct haft__batch *batch);

/* The batch waits under its ticket: in the worker's ring.  False: there was no room, so batches
 * before it have moved, or it is in the depot. */
HAFT_INTERNAL bool haft__exchange_put_waiting(haft_worker *worker, struct haft__batch *batch);

/* The batch may be reused at once: in the worker's ring, or in the depot. */
HAFT_INTERNAL void haft__exchange_put_ready(haft_worker *worker, struct haft__batch *batch);

/* exchange_put_ready(), but a full batch goes to the depot, from which any worker takes it. */
HAFT_INTERNAL void haft__exchange_offer_ready(haft_worker *worker, struct haft__batch *batch);

/* A batch to be reused at once: the worker's own or the depot's; or other workers'.  NULL: none. */
HAFT_INTERNAL struct haft__batch *haft__exchange_take_ready(haft_worker *worker);
HAFT_INTERNAL struct haft__batch *haft__exchange_steal_ready(haft_worker *worker);

/* A batch that has elapsed by `done`: the worker's own or the depot's; or others'.  NULL: none. */
HAFT_INTERNAL struct haft__batch *haft__exchange_take_elapsed(haft_worker *worker, uint64_t done);
HAFT_INTERNAL struct haft__batch *haft__exchange_steal_elapsed(haft_worker *worker, uint64_t done);

/* Such a batch, the worker's own or the depot's before those of other workers. */
HAFT_INTERNAL struct haft__batch *haft__exchange_find_ready(haft_worker *worker);
HAFT_INTERNAL struct haft__batch *haft__exchange_find_elapsed(haft_worker *worker, uint64_t done);

/* Any batch that waits, when no other thread uses the table.  NULL: none. */
HAFT_INTERNAL struct haft__batch *haft__exchange_take_waiting(haft_worker *worker);

/*
 * concurrent/worker/handed.h - slots handed over, and slots in transit.
 *
 * A worker that hands over raises one word of the table to its latest ticket.  While the word is
 * set, the quiescent points of all workers look at the clock and reclaim what has elapsed
 * (sweep.h).
 *
 *   handing over   push the batches; raise the word, in a read-modify-write each time
 *   clearing       the word's ticket is done, and no ring and no depot has a batch that has
 *   elapsed:
 *                  clear the word, and look once more.  A batch pushed before the word was raised
 *                  is found by then; one whose word is raised later sets it again
 *
 * Waiting slots are in a ring, a depot or a list, or with a worker that is in transit:
 * its number is odd then.  So a thread that has found no slot, and waits until each worker's number
 * is even or another, has seen the end of each call that had one.
 */

/* Batches with tickets up to `ticket` were handed over.  Any thread; lock-free. */
HAFT_INTERNAL void haft__handed_raise(haft_table *table, uint64_t ticket);

/* The highest ticket handed over; 0: all were reclaimed, or are in transit.  Any thread. */
HAFT_INTERNAL uint64_t haft__handed_ticket(const haft_table *table);

/* The word is 0 again; false: it was raised meanwhile: look for elapsed batches once more. */
HAFT_INTERNAL bool haft__handed_clear(haft_table *table, uint64_t ticket);

/*
 * Around each step in which the worker takes waiting slots and has not reclaimed them or put them
 * back.  False: it was in transit before, as inside a callback.  The worker's thread; wait-free.
 */
HAFT_INTERNAL bool haft__transit_begin(haft_worker *worker);
HAFT_INTERNAL void haft__transit_end(haft_worker *worker, bool has_begun);

/* Wait for the workers in transit, which may run on_reclaim.  Blocking; not in transit. */
HAFT_INTERNAL void haft__transit_wait(const haft_table *table);

/* How often waiting slots were put under later tickets, or behind them, for want of room. */
HAFT_INTERNAL uint64_t haft__transit_moves(const haft_table *table);

/* concurrent/worker/exchange.c */

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

HAFT_INTERNAL struct haft__batch *haft__exchange_take_empty(haft_worker *worker)
{
    assert(worker->spare_count <= haft__SPARE_BATCHES);
    if (worker->spare_count == 0) {
        return haft__pool_take(&worker->table->pool, worker->segment);
    }
    return worker->spares[--worker->spare_count];
}

HAFT_INTERNAL void haft__exchange_give_empty(haft_worker *worker, struct haft__batch *batch)
{
    assert(batch->count == 0 && batch != worker->open);
    batch->has_last_lives = false;
    if (worker->spare_count >= haft__descriptors_spare(worker)) {
        haft__pool_give(&worker->table->pool, batch);
    } else {
        worker->spares[worker->spare_count++] = batch;
    }
}

static void haft__to_depot(haft_worker *worker, struct haft__depot *depot, struct haft__batch *batch)
{
    assert(batch->count == worker->table->batch_max && "only full batches go to a depot");
    haft__assert_walk(haft__batch_is_sound(batch));
    haft__depot_push(depot, &worker->table->pool, batch);
    haft__count_up(&worker->counters.batches_moved, 1);
}

/* One of a worker's rings, how many batches it may have, and the depot for full batches beyond. */
struct haft__batch_queue {
    struct haft__ring *ring;
    uint64_t most;
    struct haft__depot *depot;
};

static bool haft__push(const struct haft__batch_queue *queue, const struct haft__batch *batch)
{
    return haft__ring_length(queue->ring) < queue->most && haft__ring_push(queue->ring, batch);
}

/*
 * Put the batch and the oldest one of the ring together.  If that makes a full batch, it goes to
 * the depot.  Returns the batch that is still to be pushed.
 */
static struct haft__batch *haft__put_together(haft_worker *worker, const struct haft__batch_queue *queue,
                                  struct haft__batch *batch, struct haft__batch *oldest)
{
    assert(oldest->count != 0 && batch->count != 0);
    haft__batch_move(batch, oldest, worker->table->batch_max);
    if (oldest->count == 0) {
        haft__exchange_give_empty(worker, oldest);
        return batch;
    }
    haft__to_depot(worker, queue->depot, batch);
    return oldest;
}

/*
 * The oldest batch of a full ring has elapsed, and `batch` waits.  So the oldest goes to the ring's
 * end, and the next one makes room in its place.  (If that one has elapsed too, the two go
 * together.)
 */
static struct haft__batch *haft__pass_over(haft_worker *worker, const struct haft__batch_queue *queue,
                               struct haft__batch *elapsed, struct haft__batch *batch, uint64_t done)
{
    struct haft__batch *next = haft__ring_take(queue->ring, &worker->table->pool, UINT64_MAX);

    if (next == NULL) {
        /* others have emptied the ring meanwhile */
    } else if (haft__load_relaxed(OWN, &next->ticket) <= done) {
        elapsed = haft__put_together(worker, queue, elapsed, next);
    } else {
        batch = haft__put_together(worker, queue, batch, next);
    }
    const bool is_pushed = haft__ring_push(queue->ring, elapsed);

    (void)is_pushed;
    assert(is_pushed && "there is room: two were taken, and only the owner pushes");
    return batch;
}

/* Push the batch to the ring, or to the depot. */
static void haft__put_in_queue(haft_worker *worker, const struct haft__batch_queue *queue, struct haft__batch *batch,
                         uint64_t done)
{
    haft_table *table = worker->table;

    assert(batch->count != 0 && batch->count <= table->batch_max);
    haft__assert_walk(haft__batch_is_sound(batch));
    while (!haft__push(queue, batch)) {
        if (batch->count == table->batch_max) {
            haft__to_depot(worker, queue->depot, batch);
            return;
        }
        struct haft__batch *oldest = haft__ring_take(queue->ring, &table->pool, UINT64_MAX);

        if (oldest == NULL) {
            continue; /* others have emptied the ring meanwhile */
        }
        const bool has_elapsed = haft__load_relaxed(OWN, &oldest->ticket) <= done;

        batch = has_elapsed && haft__load_relaxed(OWN, &batch->ticket) > done
                    ? haft__pass_over(worker, queue, oldest, batch, done)
                    : haft__put_together(worker, queue, batch, oldest);
    }
}

HAFT_INTERNAL bool haft__exchange_put_waiting(haft_worker *worker, struct haft__batch *batch)
{
    const struct haft__batch_queue queue = {&worker->waiting, haft__descriptors_waiting(worker),
                                      &worker->table->waiting};

    if (haft__push(&queue, batch)) {
        return true;
    }
    const bool has_begun = haft__transit_begin(worker);

    haft__put_in_queue(worker, &queue, batch, haft__domain_done(worker->table->domain));
    haft__count_up(&worker->moves, 1);
    haft__transit_end(worker, has_begun);
    return false;
}

HAFT_INTERNAL void haft__exchange_put_ready(haft_worker *worker, struct haft__batch *batch)
{
    const struct haft__batch_queue queue = {&worker->ready, haft__descriptors_ready(worker),
                                      &worker->table->ready};

    haft__store_relaxed(OWN, &batch->ticket, 0);
    if (batch->count == 0) {
        haft__exchange_give_empty(worker, batch);
    } else {
        haft__put_in_queue(worker, &queue, batch, 0);
    }
}

HAFT_INTERNAL void haft__exchange_offer_ready(haft_worker *worker, struct haft__batch *batch)
{
    if (batch->count == worker->table->batch_max) {
        haft__store_relaxed(OWN, &batch->ticket, 0);
        haft__to_depot(worker, &worker->table->ready, batch);
    } else {
        haft__exchange_put_ready(worker, batch);
    }
}

HAFT_INTERNAL struct haft__batch *haft__exchange_take_ready(haft_worker *worker)
{
    haft_table *table = worker->table;
    struct haft__batch *batch = haft__ring_take(&worker->ready, &table->pool, UINT64_MAX);

    if (batch == NULL) {
        batch = haft__depot_take(&table->ready, &table->pool, UINT64_MAX);
        haft__count_up(&worker->counters.batches_moved, batch != NULL);
    }
    return batch;
}

HAFT_INTERNAL struct haft__batch *haft__exchange_take_elapsed(haft_worker *worker, uint64_t done)
{
    haft_table *table = worker->table;
    struct haft__batch *batch = haft__ring_take(&worker->waiting, &table->pool, done);

    if (batch == NULL) {
        batch = haft__depot_take(&table->waiting, &table->pool, done);
        haft__count_up(&worker->counters.batches_moved, batch != NULL);
    }
    return batch;
}

HAFT_INTERNAL struct haft__batch *haft__exchange_steal_ready(haft_worker *worker)
{
    const haft_table *table = worker->table;
    struct haft__batch *batch = NULL;

    for (haft_worker *other = haft__worker_list_first(table); other != NULL && batch == NULL;
         other = other->next) {
        batch = haft__ring_take(&other->ready, &table->pool, UINT64_MAX);
    }
    haft__count_up(&worker->counters.batches_moved, batch != NULL);
    return batch;
}

HAFT_INTERNAL struct haft__batch *haft__exchange_steal_elapsed(haft_worker *worker, uint64_t done)
{
    const haft_table *table = worker->table;
    struct haft__batch *batch = NULL;

    for (haft_worker *other = haft__worker_list_first(table); other != NULL && batch == NULL;
         other = other->next) {
        batch = haft__ring_take(&other->waiting, &table->pool, done);
    }
    haft__count_up(&worker->counters.batches_moved, batch != NULL);
    return batch;
}

HAFT_INTERNAL struct haft__batch *haft__exchange_find_ready(haft_worker *worker)
{
    struct haft__batch *batch = haft__exchange_take_ready(worker);

    return batch != NULL ? batch : haft__exchange_steal_ready(worker);
}

HAFT_INTERNAL struct haft__batch *haft__exchange_find_elapsed(haft_worker *worker, uint64_t done)
{
    struct haft__batch *batch = haft__exchange_take_elapsed(worker, done);

    return batch != NULL ? batch : haft__exchange_steal_elapsed(worker, done);
}

HAFT_INTERNAL struct haft__batch *haft__exchange_take_waiting(haft_worker *worker)
{
    haft_table *table = worker->table;
    struct haft__batch *batch = haft__exchange_steal_elapsed(worker, UINT64_MAX);

    return batch != NULL ? batch : haft__depot_take(&table->waiting, &table->pool, UINT64_MAX);
}

/*
 * concurrent/worker/fresh.h - slots never used, or not since their memory was released.
 *
 * fresh_give, fresh_take: the worker's thread, lock-free.
 */

/* The worker's extent, which is empty, has `count` slots from `first` on; used before or not. */
HAFT_INTERNAL void haft__fresh_give(haft_worker *worker, uint64_t first, uint64_t count, bool again);

/* How many fresh slots, up to `most`, from `*first` on.  0: `*status` is FULL or NO_MEMORY. */
HAFT_INTERNAL
uint64_t haft__fresh_take(haft_worker *worker, uint64_t most, uint64_t *first, haft_status *status);

/* Fresh slots in all workers' extents: those used before, or those never used. */
HAFT_INTERNAL uint64_t haft__fresh_in_extents(const haft_table *table, bool again);

/* Slots ever used: drawn from the table, and in no extent any more. */
HAFT_INTERNAL uint64_t haft__fresh_used(const haft_table *table);

/* The range of these slots: it has no slot whose object the caller knows to be inserted. */
HAFT_INTERNAL haft_range haft__fresh_range(const haft_worker *worker);

/*
 * concurrent/worker/released.h - runs of slots whose memory was released.
 *
 * All functions: any thread, lock-free.
 */

/* A list of runs, from `first` through their links to `last`; their slots, `slots` of them. */
struct haft__run_list {
    uint64_t first;
    uint64_t last;
    uint64_t slots;
};

/* Put runs into the list, to be drawn. */
HAFT_INTERNAL void haft__released_push(haft_table *table, struct haft__run_list runs);

/* Take a run, its words ready: how many slots, from `*first` on; 0 if there is none. */
HAFT_INTERNAL uint64_t haft__released_take(haft_table *table, uint64_t *first);

/* Write into the words of fresh slots of released runs where their next lives begin. */
HAFT_INTERNAL void haft__released_apply_floor(const haft_table *table, uint64_t first, uint64_t count);

/* Whether a run is in the list: then no object is in it that the caller knows to be inserted. */
HAFT_INTERNAL bool haft__released_has(const haft_table *table, uint64_t haft__run);

/* concurrent/worker/fresh.c */

/*
 * Fresh slots: never used, or not since their memory was released; drawn in extents.
 *
 * A worker draws an extent from the table and takes its batches from there, so that the slots of
 * one thread lie together (tuning.h).  Extents are not private: any worker may steal from them.
 *
 * Only the owner fills an extent, when it is empty and so no other compare-and-swap can succeed.
 *
 * Edges in this file.
 *   EXTENT  fresh_give (release) -> take_from_extent, fresh_in_extent (acquire)
 *           the bump above a slot before its use, and before the slot counts as fresh
 *   ONWARD  slots leave an extent before they are used, and none with an object comes into one
 *   COUNT   how far the table's slots were drawn: others may draw meanwhile
 *   RETRY   a first look; the compare-and-swap decides.  The memory needs no order: no thread has
 *           touched it
 */

/* An extent: its first slot in the upper half, how many in the lower, and a flag: used before. */
#define haft__AGAIN (UINT64_C(1) << 31)

static uint64_t haft__extent_of(uint64_t first, uint64_t count, uint64_t flag)
{
    assert(first <= UINT32_MAX && count < haft__AGAIN && (flag & ~haft__AGAIN) == 0);
    return first << 32 | flag | count;
}

static uint64_t haft__extent_first(uint64_t extent)
{
    return extent >> 32;
}

static uint64_t haft__extent_count(uint64_t extent)
{
    return extent & (haft__AGAIN - 1);
}

static uint64_t haft__fresh_in_extent(const haft_worker *worker, bool again)
{
    /* Weakened, slots of an extent could count as fresh, and not as drawn. */
    const uint64_t extent = haft__load_acquire(EXTENT, &worker->extent);

    return again == ((extent & haft__AGAIN) != 0) ? haft__extent_count(extent) : 0;
}

HAFT_INTERNAL haft_range haft__fresh_range(const haft_worker *worker)
{
    const uint64_t extent = haft__load_relaxed(ONWARD, &worker->extent);

    return HAFT_RANGE(haft__extent_first(extent), haft__extent_first(extent) + haft__extent_count(extent));
}

/* Up to `most` slots from an extent, to a multiple of `most`: how many, from `*first` on. */
static uint64_t haft__take_from_extent(haft__atomic_u64 *extent, uint64_t most, uint64_t *first)
{
    for (;;) {
        const uint64_t before = haft__load_relaxed(RETRY, extent);
        const uint64_t count = haft__extent_count(before);

        *first = haft__extent_first(before);
        const uint64_t aligned = most - *first % most;
        const uint64_t haft__taken = count < aligned ? count : aligned;

        if (haft__taken == 0 ||
            /* Weakened, a scan could end below the slots that this worker has from another's. */
            haft__cas_acquire(EXTENT, extent, before,
                        haft__extent_of(*first + haft__taken, count - haft__taken, before & haft__AGAIN))) {
            return haft__taken;
        }
    }
}

/* The descriptors of all batches that the slots below `end` may be in. */
static uint64_t haft__batches_for(const haft_table *table, uint64_t end)
{
    return end / table->batch_max + haft__DEPOT_NODES;
}

/* Memory for the slots below `end`, and for the batches they may be in. */
static haft_status haft__commit(haft_table *table, uint64_t end)
{
    const haft_status status = haft__slots_commit(&table->slots, end);

    return status != HAFT_OK ? status : haft__pool_commit(&table->pool, haft__batches_for(table, end));
}

/* Have memory now for the slots below `end`, and for the batches they may be in. */
static haft_status haft__fresh_populate(haft_table *table, uint64_t end)
{
    haft_status status = haft__commit(table, end);

    status = status == HAFT_OK ? haft__slots_populate(&table->slots, 0, end) : status;
    return status != HAFT_OK ? status : haft__pool_populate(&table->pool, haft__batches_for(table, end));
}

HAFT_INTERNAL void haft__fresh_give(haft_worker *worker, uint64_t first, uint64_t count, bool again)
{
    assert(count == 0 || first >= HAFT_FIRST_INDEX);
    assert(first + count <= worker->table->slots.limit);
    haft__store_release(EXTENT, &worker->extent, haft__extent_of(first, count, again ? haft__AGAIN : 0));
}

/* A new extent for the worker, whose own is empty.  HAFT_OK, HAFT_FULL or HAFT_NO_MEMORY. */
static haft_status haft__draw(haft_worker *worker)
{
    haft_table *table = worker->table;
    const uint64_t most = table->extent_slots;
    uint64_t haft__run;
    const uint64_t run_slots = haft__released_take(table, &haft__run);

    if (run_slots != 0) {
        haft__fresh_give(worker, haft__run, run_slots, true);
        return HAFT_OK;
    }

    for (;;) {
        const uint64_t first = haft__load_relaxed(RETRY, &table->fresh);
        assert(first >= HAFT_FIRST_INDEX && first <= table->slots.limit);
        const uint64_t left = table->slots.limit - first;
        const uint64_t aligned = most - first % most;
        const uint64_t drawn = left < aligned ? left : aligned;

        if (drawn == 0) {
            return HAFT_FULL;
        }
        const haft_status status = haft__commit(table, first + drawn);

        if (status != HAFT_OK) {
            return status;
        }
        if (haft__cas_relaxed(RETRY, &table->fresh, first, first + drawn)) {
            haft__fresh_give(worker, first, drawn, false);
            return HAFT_OK;
        }
    }
}

/* Take from the extents of others, open or closed. */
static uint64_t haft__steal(haft_worker *worker, uint64_t most, uint64_t *first)
{
    uint64_t haft__taken = 0;

    for (haft_worker *other = haft__worker_list_first(worker->table); other != NULL && haft__taken == 0;
         other = other->next) {
        haft__taken = haft__take_from_extent(&other->extent, most, first);
    }
    /* The worker that drew them committed the memory; this load acquires that. */
    haft__commit(worker->table, *first + haft__taken);
    return haft__taken;
}

HAFT_INTERNAL
uint64_t haft__fresh_take(haft_worker *worker, uint64_t most, uint64_t *first, haft_status *status)
{
    uint64_t haft__taken;

    assert(most != 0 && most <= haft__BATCH_SLOTS);
    *status = HAFT_OK;
    while ((haft__taken = haft__take_from_extent(&worker->extent, most, first)) == 0) {
        *status = haft__draw(worker);
        if (*status != HAFT_OK) {
            return haft__steal(worker, most, first);
        }
    }
    return haft__taken;
}

/* --- how many --- */

/* Fresh slots in all extents: those used before, or those never used. */
HAFT_INTERNAL uint64_t haft__fresh_in_extents(const haft_table *table, bool again)
{
    uint64_t slots = 0;

    for (const haft_worker *worker = haft__worker_list_first(table); worker != NULL;
         worker = worker->next) {
        slots += haft__fresh_in_extent(worker, again);
    }
    return slots;
}

/* Slots ever used: drawn from the table, and in no extent any more. */
HAFT_INTERNAL uint64_t haft__fresh_used(const haft_table *table)
{
    /* First: an extent drawn in between makes the difference too small.  It is too large only while
     * a thread has taken slots from `fresh` and not yet put them into its extent. */
    const uint64_t drawn = haft__load_relaxed(COUNT, &table->fresh);

    return haft__positive_difference(drawn, HAFT_FIRST_INDEX + haft__fresh_in_extents(table, false));
}

/*
 * --- memory had before it is used ---
 *
 * Each worker has at most one extent of slots that it has drawn and not used.  So while `count`
 * slots are used after the call, no more than these and an extent for each worker are drawn.
 */

/* The first slot that needs no memory now. */
static uint64_t haft__end_of_capacity(const haft_table *table, uint64_t count, uint64_t workers)
{
    const uint64_t drawn = haft__load_relaxed(COUNT, &table->fresh);
    const uint64_t left = table->slots.limit - drawn;
    const uint64_t more = count + workers * table->extent_slots;

    return drawn + (more < left ? more : left);
}

/* The descriptors that workers bring; false: the allocator has refused.  `*workers`: how many. */
static bool haft__bring_descriptors(const haft_table *table, uint64_t *workers)
{
    bool has = true;

    *workers = 0;
    for (haft_worker *worker = haft__worker_list_first(table); worker != NULL && has;
         worker = worker->next) {
        has = haft__descriptors_bring_all(worker);
        (*workers)++;
    }
    return has;
}

haft_status haft_reserve_capacity(haft_table *table, uint64_t count)
{
    uint64_t workers;

    if (count > table->slots.limit - HAFT_FIRST_INDEX) {
        return HAFT_FULL;
    }
    return haft__bring_descriptors(table, &workers)
               ? haft__fresh_populate(table, haft__end_of_capacity(table, count, workers))
               : HAFT_NO_MEMORY;
}

/*
 * concurrent/worker/full_or_busy.h - how many slots are taken, and so what a worker without one is
 * told: HAFT_FULL or HAFT_BUSY.  Any thread, wait-free, O(workers).
 */

/* Why `worker` found no slot: HAFT_BUSY if waiting will help, else HAFT_FULL or that of `fresh`. */
HAFT_INTERNAL haft_status haft__occupancy_why_none(const haft_table *table, const haft_worker *worker,
                                             haft_status fresh);

/*
 * Slots in use that hold no object: they wait, are ready, or with a worker.
 * Not below the number with the slots in use as the call begins, and the objects of
 * some moment before it returns.
 */
HAFT_INTERNAL uint64_t haft__occupancy_idle(const haft_table *table);

/* concurrent/worker/full_or_busy.c */

/*
 * Occupancy: how many slots are taken, counted while other threads insert and free.
 *
 * Edges in this file.
 *   TALLY   tally (release) -> count_begun (acquire)   frees before insertions into their slots
 *   COUNT   each number alone; fewest_lives chooses the order of the reads
 *   RETRY   the budget, as a number
 */

/* Lives and exhausted slots that began and that ended, of all workers and of the table. */
struct haft__lives {
    uint64_t begun, ended;
    uint64_t exhausted;
};

static void haft__count_begun(struct haft__lives *lives, const haft_table *table)
{
    lives->begun = 0;
    lives->exhausted = 0;
    for (const haft_worker *worker = haft__worker_list_first(table); worker != NULL;
         worker = worker->next) {
        lives->exhausted += haft__load_acquire(TALLY, &worker->counters.exhausted);
        lives->begun += haft__load_acquire(TALLY, &worker->counters.reserved);
        lives->begun += haft__load_acquire(TALLY, &worker->counters.inserted);
    }
}

static void haft__count_ended(struct haft__lives *lives, const haft_table *table)
{
    lives->ended = haft__load_relaxed(COUNT, &table->counters.freed);
    for (const haft_worker *worker = haft__worker_list_first(table); worker != NULL;
         worker = worker->next) {
        lives->ended += haft__load_relaxed(COUNT, &worker->counters.aborted);
        lives->ended += haft__load_relaxed(COUNT, &worker->counters.freed);
    }
}

/* Slots live or reserved. */
static uint64_t haft__taken(const struct haft__lives *lives)
{
    return haft__positive_difference(lives->begun, lives->ended);
}

/*
 * Slots taken and exhausted, no more than at some moment, however long this thread is delayed in
 * between: beginnings are read before ends, of all workers.
 */
static struct haft__lives haft__fewest_lives(const haft_table *table)
{
    struct haft__lives lives;

    haft__count_begun(&lives, table);
    haft__count_ended(&lives, table);
    return lives;
}

/* Extents are read first: slots that are drawn meanwhile count as used. */
HAFT_INTERNAL uint64_t haft__occupancy_idle(const haft_table *table)
{
    uint64_t at_hand = haft__fresh_in_extents(table, true) + haft__fresh_in_extents(table, false);

    at_hand += haft__load_relaxed(COUNT, &table->released.slots);
    const struct haft__lives lives = haft__fewest_lives(table);
    const uint64_t drawn = haft__load_relaxed(COUNT, &table->fresh) - HAFT_FIRST_INDEX;

    return haft__positive_difference(drawn, at_hand + haft__taken(&lives) + lives.exhausted);
}

HAFT_INTERNAL haft_status haft__occupancy_why_none(const haft_table *table, const haft_worker *worker,
                                             haft_status fresh)
{
    const struct haft__lives lives = haft__fewest_lives(table);
    const uint64_t others =
        haft__positive_difference(table->budget_size - haft__load_relaxed(RETRY, &table->budget),
                            2 * (uint64_t)(worker->batch_limit - 1));
    const uint64_t slots =
        fresh == HAFT_NO_MEMORY ? haft__fresh_used(table) : table->slots.limit - HAFT_FIRST_INDEX;

    /* Slots not taken, exhausted or held back by others come within reach in time. */
    if (haft__taken(&lives) + lives.exhausted + others >= slots) {
        return fresh;
    }
    return haft__taken(&lives) >= table->capacity ? HAFT_FULL : HAFT_BUSY;
}

/* concurrent/worker/handed.c */

/*
 * The word of slots handed over, and the workers in transit.
 *
 * Edges in this file.
 *   HANDED   handed_raise, handed_clear (release) -> handed_clear, handed_ticket (acquire)
 *            the batches pushed before; and that a worker is in transit that clears the word
 *   TRANSIT  transit_end (release) -> transit_wait (acquire)   what became of the slots
 *   OWN      a number that this worker alone writes
 *   COUNT    moves: those that matter were counted before transit_end
 *   RETRY    a first look; the compare-and-swap decides
 */

HAFT_INTERNAL void haft__handed_raise(haft_table *table, uint64_t ticket)
{
    uint64_t before;

    do {
        before = haft__load_relaxed(RETRY, &table->handed);
        /* Weakened, and left out where the word is high enough: a thread that clears it could miss
         * the batches. */
    } while (!haft__cas_release(HANDED, &table->handed, before, before < ticket ? ticket : before));
}

HAFT_INTERNAL uint64_t haft__handed_ticket(const haft_table *table)
{
    /* Weakened, a look after it could miss the batches, or that a worker is in transit. */
    return haft__load_acquire(HANDED, &table->handed);
}

HAFT_INTERNAL bool haft__handed_clear(haft_table *table, uint64_t ticket)
{
    /* Weakened, the look after it could miss batches pushed before; or a thread that reads 0 could
     * miss that this worker has some. */
    return haft__cas_acq_rel(HANDED, &table->handed, ticket, 0);
}

HAFT_INTERNAL bool haft__transit_begin(haft_worker *worker)
{
    const uint64_t number = haft__load_relaxed(OWN, &worker->transit);

    /* The compare-and-swap by which it takes slots is a release. */
    haft__store_relaxed(OWN, &worker->transit, number | 1);
    return (number & 1) == 0;
}

HAFT_INTERNAL void haft__transit_end(haft_worker *worker, bool has_begun)
{
    const uint64_t number = haft__load_relaxed(OWN, &worker->transit);

    assert((number & 1) == 1);
    if (has_begun) {
        /* Weakened, its callbacks' effects or the slots put back could be missed. */
        haft__store_release(TRANSIT, &worker->transit, number + 1);
    }
}

HAFT_INTERNAL void haft__transit_wait(const haft_table *table)
{
    for (const haft_worker *worker = haft__worker_list_first(table); worker != NULL;
         worker = worker->next) {
        const uint64_t number = haft__load_acquire(TRANSIT, &worker->transit);

        for (uint64_t turn = 0;
             (number & 1) == 1 && haft__load_acquire(TRANSIT, &worker->transit) == number; turn++) {
            haft__pause_in_turn(turn);
        }
    }
}

HAFT_INTERNAL uint64_t haft__transit_moves(const haft_table *table)
{
    uint64_t moves = 0;

    for (const haft_worker *worker = haft__worker_list_first(table); worker != NULL;
         worker = worker->next) {
        moves += haft__load_relaxed(COUNT, &worker->moves);
    }
    return moves;
}

/*
 * concurrent/worker/lists.h - slots in lists, for calls that have no batch to put them into.
 *
 * The link stands in the index field of a slot's word; the list's last slot has MARK_FREE there, so
 * a list of one leaves the word as the free wrote it.  Any thread may push and pop;
 * both are lock-free, and neither allocates.
 */

HAFT_INTERNAL void haft__lists_open(haft_table *table);

/* Slot `index`, whose word is in the state FREE and this thread's alone. */
HAFT_INTERNAL void haft__list_push(haft_table *table, enum haft__list_kind kind, uint64_t index);

/* A look, which may be a moment old. */
HAFT_INTERNAL bool haft__list_is_empty(const haft_table *table, enum haft__list_kind kind);

/* Whether any list has a slot. */
HAFT_INTERNAL bool haft__lists_have_slots(const haft_table *table);

/* Move up to `most` slots into the empty `batch`; their words are FREE again.  How many. */
HAFT_INTERNAL
uint32_t haft__list_take(haft_table *table, enum haft__list_kind kind, struct haft__batch *batch, uint32_t most);

/* Up to `most` of them into `indices`: how many.  Lock-free. */
HAFT_INTERNAL uint64_t haft__inherited_take(haft_worker *worker, uint64_t most, uint32_t *indices);

/* concurrent/worker/lists.c */

/*
 * Slots in lists.
 *
 * The stack of R. K. Treiber ("Systems programming: coping with parallelism", IBM RJ 5118, 1986),
 * with indices and a tag instead of pointers.
 *
 * Edges in this file.
 *   LIST    list_push (release) -> list_take (acquire)   the free of a slot before its ticket, or
 *           its last unpin before its next life; the words of the slots behind it; list_take
 *           (release) -> list_is_empty (acquire)   the taker's mark of transit (handed.h)
 *   OWN     the slot is this thread's: not in the list yet, or not any more
 *   RETRY   a first look; the compare-and-swap decides.  Words of a former local table's list were
 *           written before haft_share()
 */

HAFT_INTERNAL void haft__lists_open(haft_table *table)
{
    for (int kind = 0; kind < haft__LIST_COUNT; kind++) {
        haft__store_relaxed(OWN, &table->lists[kind].head, haft__NUMBER_NONE);
    }
}

HAFT_INTERNAL void haft__list_push(haft_table *table, enum haft__list_kind kind, uint64_t index)
{
    const struct haft__word_format *format = &table->slots.format;
    haft__atomic_u64 *at = haft__slots_word(&table->slots, index);
    const uint64_t word = haft__load_relaxed(OWN, at);
    haft__atomic_u64 *head = &table->lists[kind].head;
    uint64_t before;

    assert(index >= HAFT_FIRST_INDEX && index < table->slots.limit);
    assert(haft__word_index(format, word) != index && "a live slot is in no list");
    do {
        before = haft__load_relaxed(RETRY, head);
        const uint64_t next = haft__tagged_number(before);

        haft__store_relaxed(OWN, at,
                      haft__word_with_index(format, word, next == haft__NUMBER_NONE ? haft__MARK_FREE : next));
        /* Weakened, the slot's ticket could be taken before the free that it stands for. */
    } while (!haft__cas_release(LIST, head, before, haft__tagged_next(before, index)));
}

HAFT_INTERNAL bool haft__list_is_empty(const haft_table *table, enum haft__list_kind kind)
{
    /* Weakened, a thread that finds a list empty could miss that its taker is in transit. */
    return haft__tagged_number(haft__load_acquire(LIST, &table->lists[kind].head)) == haft__NUMBER_NONE;
}

HAFT_INTERNAL bool haft__lists_have_slots(const haft_table *table)
{
    bool found = false;

    for (int kind = 0; kind < haft__LIST_COUNT; kind++) {
        found = found || !haft__list_is_empty(table, (enum haft__list_kind)kind);
    }
    return found;
}

/* The index of a slot that is this thread's now, or NUMBER_NONE. */
static uint64_t haft__pop_slot(haft_table *table, enum haft__list_kind kind)
{
    const struct haft__slots *slots = &table->slots;
    haft__atomic_u64 *head = &table->lists[kind].head;

    for (;;) {
        /* Weakened, a slot could be written again before its list's pushers are done with it. */
        const uint64_t before = haft__load_acquire(LIST, head);
        const uint64_t index = haft__tagged_number(before);

        if (index == haft__NUMBER_NONE) {
            return haft__NUMBER_NONE;
        }
        /* If another thread has the slot, the tag has changed. */
        const uint64_t link =
            haft__word_index(&slots->format, haft__load_relaxed(RETRY, haft__slots_word(slots, index)));
        const uint64_t next = link < HAFT_FIRST_INDEX ? haft__NUMBER_NONE : link;

        if (haft__cas_release(LIST, head, before, haft__tagged_next(before, next))) {
            return index;
        }
    }
}

HAFT_INTERNAL
uint32_t haft__list_take(haft_table *table, enum haft__list_kind kind, struct haft__batch *batch, uint32_t most)
{
    const struct haft__slots *slots = &table->slots;
    uint64_t index;

    assert(most <= haft__BATCH_SLOTS && batch->count <= most);
    while (batch->count < most && (index = haft__pop_slot(table, kind)) != haft__NUMBER_NONE) {
        haft__atomic_u64 *at = haft__slots_word(slots, index);
        const uint64_t word = haft__load_relaxed(OWN, at);

        assert(index >= HAFT_FIRST_INDEX && index < slots->limit);
        assert(haft__word_index(&slots->format, word) != index && "a live slot is in no list");
        haft__store_relaxed(OWN, at, haft__word_with_index(&slots->format, word, haft__MARK_FREE));
        if (kind == haft__LIST_UNPINNED) {
            haft__store_relaxed(OWN, haft__slots_pins(slots, at), 0);
        }
        batch->has_last_lives = batch->has_last_lives || haft__word_generation(&slots->format, word) == 0;
        batch->indices[batch->count++] = (uint32_t)index;
    }
    return batch->count;
}

/*
 * --- the free slots of a former local table ---
 *
 * No thread adds to the list.  So an unchanged head means an unchanged list, and a compare-and-swap
 * of the head may cut off all slots that were walked over.
 */

/* The slots from `first` on in the list: up to `most` of them; the one after them in `*rest`. */
static uint64_t haft__walk(const haft_table *table, uint64_t first, uint64_t most, uint32_t *indices,
                     uint64_t *rest)
{
    const struct haft__slots *slots = &table->slots;
    uint64_t count = 0;

    for (*rest = first; count < most && *rest != haft__MARK_END; count++) {
        indices[count] = (uint32_t)*rest;
        *rest = haft__word_index(&slots->format, haft__load_relaxed(RETRY, haft__slots_word(slots, *rest)));
    }
    return count;
}

HAFT_INTERNAL uint64_t haft__inherited_take(haft_worker *worker, uint64_t most, uint32_t *indices)
{
    assert(most <= haft__BATCH_SLOTS);
    haft_table *table = worker->table;
    uint64_t first = haft__load_relaxed(RETRY, &table->inherited.listed);

    while (first != haft__MARK_END) {
        uint64_t rest;
        const uint64_t count = haft__walk(table, first, most, indices, &rest);

        if (haft__cas_relaxed(RETRY, &table->inherited.listed, first, rest)) {
            assert(count != 0 && (rest == haft__MARK_END || rest >= HAFT_FIRST_INDEX));
            return count;
        }
        first = haft__load_relaxed(RETRY, &table->inherited.listed);
    }
    return 0;
}

/*
 * concurrent/worker/retire.h - the way out: free and abort, and the batches they fill.
 *
 * All functions: the worker's thread, lock-free; never allocate, never call back.
 */

/* The batch, whose slots' lives have ended, takes its ticket and waits. */
HAFT_INTERNAL void haft__retire_batch(haft_worker *worker, struct haft__batch *batch);

/* The open batch takes its ticket and waits, if there is anything in it. */
HAFT_INTERNAL void haft__retire_open(haft_worker *worker);

/* What the worker has retired is handed over, where it matters when a slot is reclaimed. */
HAFT_INTERNAL void haft__retire_hand_over(haft_worker *worker);

/* Give all of the worker's slots to other workers. */
HAFT_INTERNAL void haft__retire_flush(haft_worker *worker);

/* haft_abort, as called from `caller`. */
HAFT_INTERNAL void haft__worker_abort(haft_worker *worker, haft_id id, const void *caller);

/* What haft_free() does not do in place: a free as called from `caller`. */
HAFT_INTERNAL haft_status haft__worker_free(haft_worker *worker, haft_id id, const void *caller);

/* concurrent/worker/many.c */

/*
 * Many at once: insert and free do their common steps once for a batch.
 *
 * Insertions are counted together, before the first of them is seen.  Frees are counted one by
 * one: if the count lagged behind by a batch while others insert, occupancy_why_none()
 * could say HAFT_FULL of a table that was never full.
 */

#define haft__SLOTS_AHEAD 8 /* slots fetched ahead, to be written */

static void haft__fetch(const struct haft__slots *slots, uint64_t index)
{
    haft__prefetch_to_write(haft__slots_word(slots, index));
}

/* The words of the first slots are on their way. */
static void haft__fetch_first(const struct haft__slots *slots, const uint32_t *indices, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < haft__SLOTS_AHEAD; i++) {
        haft__fetch(slots, indices[i]);
    }
}

/* Slot number `i`, with another on its way. */
static inline uint64_t haft__slot_at(const struct haft__slots *slots, const uint32_t *indices, uint32_t count,
                               uint32_t i)
{
    if (count - i > haft__SLOTS_AHEAD) {
        haft__fetch(slots, indices[i + haft__SLOTS_AHEAD]);
    }
    return indices[i];
}

/* The objects are a few whole words each. */
static void haft__insert_words(const haft_worker *worker, const uint32_t *indices, uint32_t count,
                         const char *objects, haft_id *ids)
{
    const struct haft__slots slots = {.view = worker->view, .format = worker->table->slots.format};
    const size_t size = worker->object_size;

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t index = haft__slot_at(&slots, indices, count, i);
        haft__atomic_u64 *word = haft__slots_word(&slots, index);
        const haft_id id = haft__life_next_id(&slots, word, index);

        haft__object_copy_words(haft__slots_object(word), objects + i * size, size);
        haft__life_publish(word, id);
        ids[i] = id;
    }
}

/* Objects of any size, or zeros. */
static void haft__insert_sized(haft_worker *worker, const uint32_t *indices, uint32_t count,
                         const void *caller, const char *objects, haft_id *ids)
{
    const struct haft__slots *slots = &worker->table->slots;

    for (uint32_t i = 0; i < count; i++) {
        const uint64_t index = haft__slot_at(slots, indices, count, i);
        haft__atomic_u64 *word = haft__slots_word(slots, index);

        ids[i] = haft__life_next_id(slots, word, index);
        haft__sites_note_birth(&slots->sites, index, caller);
        haft__slots_fill(slots, haft__slots_object(word),
                   objects != NULL ? objects + i * slots->object_size : NULL);
        haft__life_publish(word, ids[i]);
    }
}

static void haft__insert_found(haft_worker *worker, uint32_t count, const void *caller,
                         const char *objects, haft_id *ids)
{
    const struct haft__slots *slots = &worker->table->slots;
    const uint32_t *indices = haft__filling_next(worker);

    haft__tally(&worker->counters.inserted, count);
    haft__fetch_first(slots, indices, count);
    if (objects != NULL && worker->table->is_quick && slots->sites.records == NULL) {
        haft__insert_words(worker, indices, count, objects, ids);
    } else {
        haft__insert_sized(worker, indices, count, caller, objects, ids);
    }
}

size_t haft_insert_many(haft_worker *worker, const void *objects, haft_id *ids, size_t count,
                        haft_status *why)
{
    haft__debug_check(worker);
    const size_t size = worker->table->slots.object_size;
    const char *bytes = objects;
    haft_status status = HAFT_OK;
    size_t done = 0;
    uint32_t found;
    const void *caller = haft__CALLER;

    while (done < count && (status = haft__refill_if_empty(worker, count - done, &found)) == HAFT_OK) {
        haft__insert_found(worker, found, caller, bytes != NULL ? bytes + done * size : NULL, ids + done);
        done += found;
    }
    if (why != NULL) {
        *why = status;
    }
    return done;
}

size_t haft_free_many(haft_worker *worker, const haft_id *ids, size_t count, haft_status *statuses)
{
    haft__debug_check(worker);
    const struct haft__slots *slots = &worker->table->slots;
    const uint64_t last_life = haft__front_last_life(worker);
    const void *caller = haft__CALLER;
    size_t done = 0;

    for (size_t i = 0; i < count && i < haft__SLOTS_AHEAD; i++) {
        haft__fetch(slots, ids[i].bits & slots->view.mask);
    }
    for (size_t i = 0; i < count; i++) {
        if (count - i > haft__SLOTS_AHEAD) {
            haft__fetch(slots, ids[i + haft__SLOTS_AHEAD].bits & slots->view.mask);
        }
        const haft_status status = haft_worker_front_free(worker, slots->view, last_life, ids[i])
                                       ? HAFT_OK
                                       : haft__worker_free(worker, ids[i], caller);

        done += status == HAFT_OK;
        if (statuses != NULL) {
            statuses[i] = status;
        }
    }
    return done;
}

/* concurrent/worker/reclaim.h */

/* concurrent/worker/reclaim.h - reclaiming slots after their grace period. */

/*
 * Reclaim the slots of a batch that has elapsed; those that may be used again are ready for any
 * worker.  The worker's thread, outside callbacks; lock-free, except on_reclaim.
 *
 * A call that reclaims batches takes those that have elapsed when it begins: callbacks free others,
 * and no batch takes a ticket that is done, so the call returns.
 */
HAFT_INTERNAL void haft__reclaim_batch(haft_worker *worker, struct haft__batch *source);

/*
 * reclaim_batch() for tables whose callback does not run, also inside callbacks of other tables.
 * The batch stays the caller's, with the slots that may be used again.
 */
HAFT_INTERNAL void haft__reclaim_quietly(haft_worker *worker, struct haft__batch *batch);

/* Inside a callback: the batch of slots reclaimed so far, if any and of this table; else NULL. */
HAFT_INTERNAL struct haft__batch *haft__reclaim_destination(const haft_table *table);

/* concurrent/worker/reclaim.c */

/*
 * The way back: a slot between its grace period and its next life.
 *
 * A thread reclaims one batch at a time: the source is detached, so no other call finds it, and
 * the slots that survive go into another batch, the destination.  A callback may use any worker
 * meanwhile; it finds the slots of the destination, and never those of the source.
 *
 * Edges in this file.
 *   PIN     haft_unpin (release) -> is_pinned (acquire): the use of the object before the reuse of
 *           its memory; is_pinned (release) -> haft_unpin (acquire): the grace period before it
 *   OWN     this worker has the batch, and so the words of its slots
 */

/* The batch that the calling thread reclaims. */
static haft__THREAD_LOCAL struct haft__taking {
    const haft_table *table; /* NULL: nothing */
    struct haft__batch *destination;
} haft__taking;

/* Whether pins keep the slot from being reclaimed: then the last unpin puts it into a list. */
static bool haft__is_pinned(const haft_table *table, haft__atomic_u64 *at)
{
    haft__atomic_u64 *pins = haft__slots_pins(&table->slots, at);

    /* Weakened, the slot could be written again before the last use under a pin. */
    if (haft__fetch_or_acq_rel(PIN, pins, haft__PIN_ELAPSED) != 0) {
        return true;
    }
    haft__store_relaxed(OWN, pins, 0);
    return false;
}

static void haft__call_back(haft_worker *worker, uint64_t index, haft__atomic_u64 *at, uint64_t word)
{
    const haft_table *table = worker->table;
    const haft_id id = haft__word_last_life(&table->slots.format, word, index);

    haft__callback_begin();
    table->on_reclaim(haft__slots_object(at), id, worker, table->reclaim_arg);
    haft__callback_end();
}

/* One retired slot.  True if it may be used again: neither pinned nor exhausted. */
static bool haft__reclaim_slot(haft_worker *worker, uint64_t index)
{
    const haft_table *table = worker->table;
    const struct haft__word_format *format = &table->slots.format;
    haft__atomic_u64 *at = haft__slots_word(&table->slots, index);
    const uint64_t word = haft__load_relaxed(OWN, at);

    if (haft__word_index(format, word) != haft__MARK_FREE) { /* given up before it was live */
        haft__count_up(&worker->counters.reclaimed, 1);
        return true;
    }
    if (table->slots.has_pins && haft__is_pinned(table, at)) {
        return false;
    }
    if (table->on_reclaim != NULL) {
        haft__call_back(worker, index, at, word);
    }
    const uint64_t next = haft__life_after(&table->slots, word);
    const bool is_last = haft__word_index(format, next) == haft__MARK_EXHAUSTED;

    haft__count_up(&worker->counters.reclaimed, 1);
    /* Weakened, the slot could count twice: its life would not have ended, and it be exhausted. */
    haft__tally(&worker->counters.exhausted, is_last);
    haft__slots_poison(&table->slots, at);
    haft__store_relaxed(OWN, at, next);
    return !is_last;
}

HAFT_INTERNAL void haft__reclaim_quietly(haft_worker *worker, struct haft__batch *batch)
{
    const uint32_t count = batch->count;

    haft__store_relaxed(OWN, &batch->ticket, 0);
    if (!worker->table->reclaims_by_slot && !batch->has_last_lives) {
        haft__count_up(&worker->counters.reclaimed, count);
        return;
    }
    batch->count = 0;
    batch->has_last_lives = false;
    for (uint32_t i = 0; i < count; i++) {
        if (haft__reclaim_slot(worker, batch->indices[i])) {
            batch->indices[batch->count++] = batch->indices[i];
        }
    }
}

/* Cancellation is off for the batch: for each object it would cost as much as the object. */
static void haft__call_back_for(haft_worker *worker, struct haft__batch *source)
{
    struct haft__batch *destination = haft__exchange_take_empty(worker);
    const int cancel = haft__os_cancel_off();

    haft__taking = (struct haft__taking){worker->table, destination};
    for (uint32_t i = 0; i < source->count; i++) {
        if (haft__reclaim_slot(worker, source->indices[i])) {
            destination->indices[destination->count++] = source->indices[i];
        }
    }
    haft__taking.table = NULL;
    haft__os_cancel_restore(cancel);
    source->count = 0;
    haft__exchange_give_empty(worker, source);
    haft__exchange_put_ready(worker, destination);
}

HAFT_INTERNAL void haft__reclaim_batch(haft_worker *worker, struct haft__batch *source)
{
    if (worker->table->on_reclaim != NULL) {
        haft__call_back_for(worker, source);
    } else {
        haft__reclaim_quietly(worker, source);
        haft__exchange_put_ready(worker, source);
    }
}

HAFT_INTERNAL struct haft__batch *haft__reclaim_destination(const haft_table *table)
{
    return haft__taking.table == table && haft__taking.destination->count != 0 ? haft__taking.destination : NULL;
}

/*
 * concurrent/worker/sweep.h - reclaiming slots, wherever in the table they wait.
 *
 * All functions: the worker's thread, lock-free, except on_reclaim.
 */

/* All freed slots take tickets, in batches, and are handed over. */
HAFT_INTERNAL void haft__drain_freed(haft_worker *worker);

/* Up to a batch of unpinned slots, which has elapsed; NULL: none. */
HAFT_INTERNAL struct haft__batch *haft__drain_unpinned(haft_worker *worker);

/* Drain all lists; unpinned slots are reclaimed.  This and what follows: outside callbacks. */
HAFT_INTERNAL void haft__drain_lists(haft_worker *worker);

/*
 * drain_lists() until the lists are empty, at most once for each slot of the table: other threads
 * may go on filling them.  True: they had slots.
 */
HAFT_INTERNAL bool haft__drain_all_lists(haft_worker *worker);

/* drain_all_lists(), then reclaim all batches that had elapsed when it began. */
HAFT_INTERNAL void haft__sweep_elapsed(haft_worker *worker);

/*
 * If slots were handed over, reclaim some of those that have elapsed; with never_wait, only the
 * worker's own and those for which no ring had room.
 */
HAFT_INTERNAL void haft__sweep_handed(haft_worker *worker);

/* concurrent/worker/refill.c */

/*
 * The sources of a table, in the order in which a refill asks them for slots:
 *
 *   1. inside a callback: the slots that its thread has reclaimed so far
 *   2. the worker's own ready batches, then the depot's
 *   3. the worker's own batches that have elapsed, then the depot's
 *   4. the lists: slots of haft_table_free(), and unpinned ones
 *   5. a former local table's free slots, then fresh ones
 *   6. the ready batches of other workers, then their elapsed ones
 *
 * ask_sources() asks those that the table's options call for.
 *
 * Inside a callback, tables with on_reclaim leave elapsed batches alone.
 *
 * Bound (waiting_bytes): fresh slots come only while those in use that hold no object, and those
 * that other refills ask for, leave room.  A refill asks first, then it counts: of two at once,
 * the later one sees the earlier one's slots, or that it asks for them.  So no more slots are ever
 * used than the most that held objects at a time, and the bound.
 *
 * No callback runs within a round.  A source that finds a batch with callbacks to run detaches it,
 * which ends the round: the refill reclaims the batch, and begins anew.
 *
 * Edges in this file.
 *   HINT     allocation failure: other workers flush their slots sooner or later
 *   ASK      use_bounded (release) -> use_bounded (acquire)   slots in use before the refill that
 *            drew them no longer asks for them
 */

/* A refill, and what its sources answer besides slots. */
struct haft__refill {
    struct haft__batch *detached; /* to be reclaimed before the next round; NULL: none */
    haft_status status;     /* why there are no fresh slots */
    bool has_begun;         /* a source has asked for elapsed batches */
    unsigned unpinned;      /* batches of unpinned slots detached */
    uint64_t done;          /* then: the highest ticket done when a source first asked */
};

/* --- batches that are ready --- */

/* Flush the slots of the filling batch beyond the batch limit. */
static void haft__flush_rest(haft_worker *worker)
{
    if (haft__filling_count(worker) > worker->batch_limit) {
        struct haft__batch *filling = haft__filling_detach(worker);
        struct haft__batch *rest = haft__exchange_take_empty(worker);

        haft__batch_move(rest, filling, filling->count - worker->batch_limit);
        haft__filling_set(worker, filling);
        haft__exchange_put_ready(worker, rest);
    }
}

/* The worker uses the slots of a ready batch next; false: there is none, or it is empty. */
static bool haft__use(haft_worker *worker, struct haft__batch *batch)
{
    if (batch == NULL) {
        return false;
    }
    if (batch->count == 0) {
        haft__exchange_give_empty(worker, batch);
        return false;
    }
    assert(batch != worker->filling && batch->count <= haft__BATCH_SLOTS);
    haft__exchange_give_empty(worker, worker->filling);
    haft__filling_set(worker, batch);
    haft__flush_rest(worker);
    return true;
}

/* Inside a callback: the slots that its thread has reclaimed so far. */
static bool haft__use_destination(haft_worker *worker)
{
    struct haft__batch *destination = haft__reclaim_destination(worker->table);

    if (destination == NULL) {
        return false;
    }
    haft__batch_move(worker->filling, destination, worker->batch_limit);
    haft__filling_set(worker, worker->filling);
    return true;
}

/* --- batches that have elapsed --- */

/* The refill reclaims what has elapsed when it first asks. */
static uint64_t haft__done_of(haft_worker *worker, struct haft__refill *refill)
{
    if (!refill->has_begun) {
        refill->done = haft__domain_done(worker->table->domain);
        refill->has_begun = true;
    }
    return refill->done;
}

/* exchange_take_elapsed or exchange_steal_elapsed. */
typedef struct haft__batch *haft__elapsed_taker(haft_worker *worker, uint64_t done);

/* The round ends with this batch, to be reclaimed; false: NULL. */
static bool haft__detach(struct haft__refill *refill, struct haft__batch *batch)
{
    refill->detached = batch;
    return batch != NULL;
}

/* Elapsed batches until one of them has slots; with on_reclaim, the first one. */
static bool haft__use_elapsed(haft_worker *worker, struct haft__refill *refill, haft__elapsed_taker *take)
{
    struct haft__batch *batch;

    if (worker->table->on_reclaim != NULL) {
        return !haft__callback_is_running() && haft__detach(refill, take(worker, haft__done_of(worker, refill)));
    }
    const uint64_t done = haft__done_of(worker, refill);

    while ((batch = take(worker, done)) != NULL) {
        haft__reclaim_quietly(worker, batch);
        if (haft__use(worker, batch)) {
            return true;
        }
    }
    return false;
}

/* The list of unpinned slots.  Others may go on unpinning. */
static bool haft__use_unpinned(haft_worker *worker, struct haft__refill *refill)
{
    if (worker->table->on_reclaim != NULL) {
        return !haft__callback_is_running() && refill->unpinned++ < haft__UNPINNED_MOST &&
               haft__detach(refill, haft__drain_unpinned(worker));
    }
    struct haft__batch *batch = haft__drain_unpinned(worker);

    if (batch != NULL) {
        haft__reclaim_quietly(worker, batch);
    }
    return haft__use(worker, batch);
}

/* --- a former local table's free slots, and fresh ones --- */

/* The most slots to draw.  Inside a callback one: the batch reclaimed has slots to come. */
static uint64_t haft__most_to_draw(const haft_worker *worker)
{
    return haft__callback_is_running() ? 1 : worker->batch_limit;
}

static bool haft__use_inherited(haft_worker *worker)
{
    struct haft__batch *batch = worker->filling;

    batch->count = (uint32_t)haft__inherited_take(worker, haft__most_to_draw(worker), batch->indices);
    haft__filling_set(worker, batch);
    return haft__filling_count(worker) != 0;
}

static bool haft__fill_from(haft_worker *worker, uint64_t first, uint64_t count)
{
    struct haft__batch *batch = worker->filling;

    assert(count <= haft__BATCH_SLOTS && batch->count == 0);
    assert(count == 0 || first >= HAFT_FIRST_INDEX);
    for (uint64_t i = 0; i < count; i++) {
        batch->indices[i] = (uint32_t)(first + i);
    }
    batch->count = (uint32_t)count;
    haft__filling_set(worker, batch);
    return count != 0;
}

static bool haft__use_fresh(haft_worker *worker, struct haft__refill *refill)
{
    uint64_t first = 0;
    const uint64_t drawn = haft__fresh_take(worker, haft__most_to_draw(worker), &first, &refill->status);

    return haft__fill_from(worker, first, drawn);
}

/* use_fresh() within the bound on memory that waits. */
static bool haft__use_bounded(haft_worker *worker, struct haft__refill *refill)
{
    haft_table *table = worker->table;
    const uint64_t most = haft__most_to_draw(worker);
    /* Weakened, slots of an earlier refill could count neither as asked for nor as in use. */
    const uint64_t asked = haft__fetch_add_acquire(ASK, &table->drawing, most);
    const uint64_t haft__taken = asked + haft__occupancy_idle(table);
    const uint64_t room = haft__taken < table->waiting_slots ? table->waiting_slots - haft__taken : 0;
    uint64_t drawn = 0;
    uint64_t first = 0;

    refill->status = HAFT_FULL;
    if (room != 0) {
        drawn = haft__fresh_take(worker, most < room ? most : room, &first, &refill->status);
    }
    /* Weakened, the same. */
    haft__fetch_add_release(ASK, &table->drawing, UINT64_C(0) - most);
    return haft__fill_from(worker, first, drawn);
}

/* --- the rounds --- */

/* No slot: ask other workers and the clock to release theirs.  HAFT_BUSY, or `fresh`. */
static haft_status haft__fail_refill(haft_worker *worker, haft_status fresh)
{
    haft_table *table = worker->table;

    haft__retire_open(worker);
    haft__fetch_add_relaxed(HINT, &table->failures, 1);
    haft__domain_hurry(table->domain);
    haft__domain_notice_stall(table->domain);
    return haft__occupancy_why_none(table, worker, fresh);
}

/*
 * One source after the other, until one has found something: the filling batch has slots, or a
 * batch was detached.
 */
static bool haft__ask_sources(haft_worker *worker, struct haft__refill *refill)
{
    const haft_table *table = worker->table;

    refill->detached = NULL;
    refill->status = HAFT_OK;
    if ((table->on_reclaim != NULL && haft__use_destination(worker)) ||
        haft__use(worker, haft__exchange_take_ready(worker)) ||
        haft__use_elapsed(worker, refill, haft__exchange_take_elapsed)) {
        return true;
    }
    haft__drain_freed(worker); /* they take their ticket, for a later refill */
    return (table->slots.has_pins && haft__use_unpinned(worker, refill)) ||
           (table->inherited.local != NULL && haft__use_inherited(worker)) ||
           (table->waiting_bytes == 0 ? haft__use_fresh(worker, refill) : haft__use_bounded(worker, refill)) ||
           haft__use(worker, haft__exchange_steal_ready(worker)) ||
           haft__use_elapsed(worker, refill, haft__exchange_steal_elapsed);
}

/* One round.  HAFT_OK: the filling batch has slots, or a batch was reclaimed: another round. */
static haft_status haft__refill_round(haft_worker *worker, struct haft__refill *refill)
{
    const bool has_begun = haft__transit_begin(worker);
    const bool found = haft__ask_sources(worker, refill);

    if (refill->detached != NULL) {
        haft__reclaim_batch(worker, refill->detached);
    }
    haft__transit_end(worker, has_begun);
    return found ? HAFT_OK : haft__fail_refill(worker, refill->status);
}

/* Until the filling batch has slots: HAFT_OK, or why it has none. */
static haft_status haft__refill_slots(haft_worker *worker)
{
    struct haft__refill refill;
    haft_status status = haft__worker_list_has_ended(worker->table) ? HAFT_CLOSED : HAFT_OK;

    refill.has_begun = false;
    refill.unpinned = 0;
    haft__descriptors_keep_up(worker);
    haft__budget_draw(worker);
    while (status == HAFT_OK && haft__filling_count(worker) == 0) {
        status = haft__refill_round(worker, &refill);
    }
    return status;
}

HAFT_INTERNAL haft_status haft__refill_if_empty(haft_worker *worker, uint64_t most, uint32_t *count)
{
    const haft_status status = haft__filling_count(worker) == 0 ? haft__refill_slots(worker) : HAFT_OK;

    if (status == HAFT_OK) {
        const uint32_t found = haft__filling_count(worker);

        *count = most < found ? (uint32_t)most : found;
    }
    return status;
}

/* concurrent/worker/released.c */

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

HAFT_INTERNAL void haft__released_push(haft_table *table, struct haft__run_list runs)
{
    struct haft__released *list = &table->released;
    uint64_t head;

    assert(runs.slots != 0 && runs.first < haft__NUMBER_NONE && runs.last < haft__NUMBER_NONE);
    haft__fetch_add_relaxed(COUNT, &list->slots, runs.slots);
    do {
        head = haft__load_relaxed(RETRY, &list->head);
        const uint64_t next = haft__tagged_number(head);

        haft__runs_set_link(&table->slots.runs, runs.last, next == haft__NUMBER_NONE ? haft__RUN_LAST : next);
        /* Weakened, slots could begin below their floor: ids from before would live again. */
    } while (!haft__cas_release(FLOOR, &list->head, head, haft__tagged_next(head, runs.first)));
}

/* The number of a run that is this thread's now, or NUMBER_NONE. */
static uint64_t haft__pop_run(haft_table *table)
{
    for (;;) {
        const uint64_t head = haft__load_acquire(FLOOR, &table->released.head);
        const uint64_t haft__run = haft__tagged_number(head);

        if (haft__run == haft__NUMBER_NONE) {
            return haft__NUMBER_NONE;
        }
        /* RUN_LAST ends as NUMBER_NONE.  If another thread has the run, the tag has changed. */
        const uint64_t next = haft__load_relaxed(RETRY, &table->slots.runs.records[haft__run].link);

        if (haft__cas_relaxed(RETRY, &table->released.head, head,
                        haft__tagged_next(head, haft__tagged_number(next)))) {
            return haft__run;
        }
    }
}

HAFT_INTERNAL void haft__released_apply_floor(const haft_table *table, uint64_t first, uint64_t count)
{
    const struct haft__slots *slots = &table->slots;

    for (uint64_t index = first; index < first + count; index++) {
        haft__store_relaxed(OWN, haft__slots_word(slots, index), haft__slots_begin_at(slots, index, 0));
    }
}

HAFT_INTERNAL uint64_t haft__released_take(haft_table *table, uint64_t *first)
{
    const struct haft__runs *runs = &table->slots.runs;
    const uint64_t haft__run = haft__pop_run(table);

    if (haft__run == haft__NUMBER_NONE) {
        return 0;
    }
    const uint64_t count = haft__runs_end(runs, haft__run) - haft__runs_first(runs, haft__run);

    assert(haft__run >= haft__runs_least(runs) && haft__runs_end(runs, haft__run) <= table->slots.limit);
    haft__runs_set_link(runs, haft__run, haft__RUN_IN_USE);
    haft__fetch_add_relaxed(COUNT, &table->released.slots, UINT64_MAX - count + 1);
    *first = haft__runs_first(runs, haft__run);
    /* Now, so that reserving need not look the floor up. */
    haft__released_apply_floor(table, *first, count);
    return count;
}

HAFT_INTERNAL bool haft__released_has(const haft_table *table, uint64_t haft__run)
{
    const struct haft__runs *runs = &table->slots.runs;

    assert(!runs->stay && "a table that has released a run has records");
    return haft__load_relaxed(ONWARD, &runs->records[haft__run].link) != haft__RUN_IN_USE;
}

/* concurrent/worker/retire.c */

/*
 * The way out: free and abort, and closing the batches they fill.
 *
 * Edges in this file.
 *   OWN     only this worker has the batch, and a slot that it reserved
 *   COUNT   counters of all callers of haft_table_free(); the slots travel through the list
 */

static void haft__remember(struct haft__backlog *backlog, uint64_t ticket)
{
    if (backlog->next - backlog->first == haft__CLOSINGS) {
        backlog->first++; /* its slots count with the next closing's, so as not done */
    }
    backlog->closings[backlog->next % haft__CLOSINGS] = (struct haft__closing){ticket, backlog->retired};
    backlog->next++;
}

HAFT_INTERNAL void haft__retire_batch(haft_worker *worker, struct haft__batch *batch)
{
    /* Only now: the ticket stands for every free in the batch. */
    const uint64_t ticket = haft__domain_ticket(worker->table->domain);

    haft__store_relaxed(OWN, &batch->ticket, ticket);
    worker->backlog.retired += batch->count;
    haft__remember(&worker->backlog, ticket);
    if (!haft__exchange_put_waiting(worker, batch)) {
        haft__retire_hand_over(worker); /* batches that were handed over are behind it now, perhaps */
    }
}

HAFT_INTERNAL void haft__retire_hand_over(haft_worker *worker)
{
    struct haft__backlog *backlog = &worker->backlog;

    if (backlog->handed != backlog->retired && worker->table->reclaims_by_slot) {
        backlog->handed = backlog->retired;
        haft__handed_raise(worker->table, backlog->closings[(backlog->next - 1) % haft__CLOSINGS].ticket);
        haft__domain_handed(worker->table->domain);
    }
}

HAFT_INTERNAL void haft__retire_open(haft_worker *worker)
{
    if (haft__open_batch_count(worker) != 0) {
        struct haft__batch *batch = haft__open_batch_detach(worker);

        haft__open_batch_set(worker, haft__exchange_take_empty(worker));
        haft__retire_batch(worker, batch);
    }
}

HAFT_INTERNAL void haft__retire_flush(haft_worker *worker)
{
    haft__retire_open(worker);
    if (haft__filling_count(worker) != 0) {
        struct haft__batch *batch = haft__filling_detach(worker);

        haft__filling_set(worker, haft__exchange_take_empty(worker));
        haft__exchange_put_ready(worker, batch);
    }
}

/*
 * The rare steps of a free: the open batch is full, or the table counts its objects one by one, or
 * keeps allocation sites.  Not inlined: it would cost haft_abort a stack frame.
 */
static haft__NOINLINE void haft__look_further(haft_worker *worker, uint64_t index, const void *caller)
{
    haft_table *table = worker->table;

    haft__sites_note_death(&table->slots.sites, index, caller);
    if (haft__open_batch_count(worker) < worker->batch_limit) {
        return;
    }
    haft__budget_draw(worker);
    if (haft__open_batch_count(worker) >= worker->batch_limit) {
        haft__retire_open(worker);
    }
}

/* The answer of a free to an id that was not live when it looked. */
static haft_status haft__why_not(const haft_table *table, haft_id id)
{
    const haft_status status = haft__slots_diagnose(&table->slots, id);

    return status == HAFT_OK ? HAFT_RESERVED : status; /* published since */
}

/* Not inlined: it would cost haft_free a stack frame. */
HAFT_INTERNAL haft__NOINLINE haft_status haft__worker_free(haft_worker *worker, haft_id id, const void *caller)
{
    const struct haft__slots *slots = &worker->table->slots;
    const uint64_t index = id.bits & slots->view.mask;
    uint64_t next;

    if (!haft__life_end(slots, id, &next)) {
        haft__count_up(&worker->counters.refused_frees, 1);
        return haft__why_not(worker->table, id);
    }
    if (haft__word_generation(&slots->format, next) == 0) {
        worker->open->has_last_lives = true;
    }
    if (haft__open_batch_add_freed(worker, index)) {
        haft__look_further(worker, index, caller);
    }
    return HAFT_OK;
}

haft_status haft_free(haft_worker *worker, haft_id id)
{
    haft__debug_check(worker);

    if (haft_worker_front_free(worker, worker->view, haft__front_last_life(worker), id)) {
        return HAFT_OK;
    }
    return haft__worker_free(worker, id, haft__CALLER);
}

haft_status haft_table_free(haft_table *table, haft_id id)
{
    const uint64_t index = id.bits & table->slots.view.mask;
    uint64_t next;

    if (!haft__life_end(&table->slots, id, &next)) {
        haft__fetch_add_relaxed(COUNT, &table->counters.refused_frees, 1);
        return haft__why_not(table, id);
    }
    haft__sites_note_death(&table->slots.sites, index, haft__CALLER);
    haft__fetch_add_relaxed(COUNT, &table->counters.freed, 1);
    haft__callback_note_free();
    haft__list_push(table, haft__LIST_FREED, index);
    return HAFT_OK;
}

HAFT_INTERNAL haft__NOINLINE void haft__worker_abort(haft_worker *worker, haft_id id, const void *caller)
{
    haft_table *table = worker->table;
    const uint64_t index = haft__word_index(&table->slots.format, id.bits);

    haft__count_up(&worker->counters.aborted, 1);
    if (!haft__life_give_up(&table->slots, id)) {
        haft__sites_note_death(&table->slots.sites, index, caller);
        haft__count_up(&worker->counters.reclaimed, 1);
        haft__tally(&worker->counters.exhausted, 1);
    } else if (haft__open_batch_add_aborted(worker, index)) {
        haft__look_further(worker, index, caller);
    }
}

/* In place, as haft_worker_front_free(): not a last life, and no more to do than for the slot. */
static inline void haft__abort_here(haft_worker *worker, haft_id id, const void *caller)
{
    const uint64_t index = id.bits & worker->view.mask;
    haft__atomic_u64 *word = (haft__atomic_u64 *)(void *)(worker->view.base + index * worker->view.stride);

    assert(haft__life_is_reserved(&worker->table->slots, id) && "an id is reserved, and given up once");
    haft__count_up(&worker->counters.aborted, 1);
    haft__store_relaxed(OWN, word, id.bits - index - worker->above_index + haft__MARK_END);
    if (haft__open_batch_add_aborted(worker, index)) {
        haft__look_further(worker, index, caller);
    }
}

void haft_abort(haft_worker *worker, haft_id id)
{
    haft__debug_check(worker);

    if (id.bits < haft__front_last_life(worker)) {
        haft__abort_here(worker, id, haft__CALLER);
    } else {
        haft__worker_abort(worker, id, haft__CALLER);
    }
}

/* concurrent/worker/sweep.c */

/*
 * Sweeping a table: reclaiming what has elapsed from its lists, and from any ring or depot.
 *
 * Edges in this file.
 *   HINT   whether anything was handed over: a look that comes too early is made again
 */

/* --- the lists --- */

/* As many as a list can hold: where other threads go on filling one, a look at it has an end. */
static uint64_t haft__most_slots(const haft_table *table)
{
    return table->slots.limit - HAFT_FIRST_INDEX;
}

/* A batch of slots from a list, or NULL. */
static struct haft__batch *haft__take_list(haft_worker *worker, enum haft__list_kind kind)
{
    struct haft__batch *batch;

    if (haft__list_is_empty(worker->table, kind)) {
        return NULL;
    }
    batch = haft__exchange_take_empty(worker);
    if (haft__list_take(worker->table, kind, batch, worker->table->batch_max) == 0) {
        haft__exchange_give_empty(worker, batch);
        return NULL;
    }
    return batch;
}

/* All of them: with a bound, threads that free more between two looks would fill the table. */
HAFT_INTERNAL void haft__drain_freed(haft_worker *worker)
{
    const uint64_t most = haft__most_slots(worker->table);
    uint64_t haft__taken = 0;
    struct haft__batch *batch;

    while (haft__taken < most && (batch = haft__take_list(worker, haft__LIST_FREED)) != NULL) {
        haft__taken += batch->count;
        haft__retire_batch(worker, batch);
    }
    haft__retire_hand_over(worker); /* while it is in transit */
}

HAFT_INTERNAL struct haft__batch *haft__drain_unpinned(haft_worker *worker)
{
    return haft__take_list(worker, haft__LIST_UNPINNED);
}

HAFT_INTERNAL void haft__drain_lists(haft_worker *worker)
{
    const bool has_begun = haft__transit_begin(worker);
    struct haft__batch *batch;

    haft__drain_freed(worker);
    /* Each may unpin the next one of a chain. */
    for (int i = 0; i < haft__UNPINNED_MOST && (batch = haft__drain_unpinned(worker)) != NULL; i++) {
        haft__reclaim_batch(worker, batch);
    }
    haft__transit_end(worker, has_begun);
}

HAFT_INTERNAL bool haft__drain_all_lists(haft_worker *worker)
{
    /* Slots of a chain come one at a time. */
    const uint64_t most = haft__most_slots(worker->table);
    uint64_t looks = 0;

    while (looks < most && haft__lists_have_slots(worker->table)) {
        haft__drain_lists(worker);
        looks++;
    }
    return looks != 0;
}

HAFT_INTERNAL void haft__sweep_elapsed(haft_worker *worker)
{
    const uint64_t done = haft__domain_done(worker->table->domain);
    struct haft__batch *batch;

    const bool has_begun = haft__transit_begin(worker);

    haft__drain_all_lists(worker);
    while ((batch = haft__exchange_find_elapsed(worker, done)) != NULL) {
        haft__reclaim_batch(worker, batch);
    }
    haft__transit_end(worker, has_begun);
}

/* --- at quiescent points --- */

/* Reclaim some slots that have elapsed.  True: no others are. */
static bool haft__reclaim_some(haft_worker *worker, uint64_t done)
{
    const bool own_alone = worker->table->never_waits;
    uint64_t haft__taken = 0;

    while (haft__taken < haft__RECLAIMED_SLOTS) {
        struct haft__batch *batch =
            own_alone ? haft__exchange_take_elapsed(worker, done) : haft__exchange_find_elapsed(worker, done);

        if (batch == NULL) {
            return !own_alone;
        }
        haft__taken += batch->count;
        haft__reclaim_batch(worker, batch);
    }
    return false;
}

/* No batch has elapsed, and the highest ticket handed over is done. */
static void haft__clear_handed(haft_worker *worker, uint64_t handed, uint64_t done)
{
    if (!haft__handed_clear(worker->table, handed)) {
        return;
    }
    struct haft__batch *batch = haft__exchange_find_elapsed(worker, done);

    if (batch != NULL) {
        haft__handed_raise(worker->table, handed); /* there may be more */
        haft__reclaim_batch(worker, batch);
    }
}

HAFT_INTERNAL void haft__sweep_handed(haft_worker *worker)
{
    haft_table *table = worker->table;
    const uint64_t handed = haft__load_relaxed(HINT, &table->handed);
    const uint64_t done = handed != 0 ? haft__domain_done(table->domain) : 0;

    /* A batch pushed since under a ticket that was done is found when the word's is done. */
    if (handed == 0 || (done < handed && done == worker->swept)) {
        return;
    }
    const bool has_begun = haft__transit_begin(worker);

    if (haft__reclaim_some(worker, done)) {
        worker->swept = done;
        if (done >= handed) {
            haft__clear_handed(worker, handed, done);
        }
    }
    haft__transit_end(worker, has_begun);
}

/*
 * concurrent/worker/worker.h - a worker for one call of a thread that has none: a close, or trim.
 *
 * Its batch limit is 1, as that of each closed or new worker, so it holds nothing back.  It joins
 * no clock, since its thread resolves nothing through it: no call reads its member.  Any thread,
 * lock-free except malloc.
 */

/* A closed worker, or a new one; NULL: no memory. */
HAFT_INTERNAL haft_worker *haft__worker_borrow(haft_table *table);

/* Return it, with no slots. */
HAFT_INTERNAL void haft__worker_return(haft_worker *worker);

/* concurrent/worker/worker.c */

/*
 * Workers: opening, closing, and the duties between jobs; and borrowing one for a call.
 *
 * Edges in this file.
 *   HINT    allocation failure: answered now or at the next quiescent point; whether slots were
 *           handed over
 *   OWN     counts that this worker alone writes
 */

haft_status haft_worker_open(haft_table *table, haft_worker **worker)
{
    haft_domain *domain = table->domain;
    haft_worker *opened = haft__worker_list_take(table, haft__WORKER_OPEN);

    if (opened == NULL) {
        return haft__worker_list_why_none(table);
    }
    if (haft__domain_join(domain, opened, &opened->member, &opened->lift) != HAFT_OK) {
        haft__worker_list_put_back(opened);
        return HAFT_NO_MEMORY;
    }
    opened->callback = haft__callback_number();
    opened->failures_before = haft__load_relaxed(HINT, &table->failures);
    opened->is_to_draw = true;
    haft__descriptors_keep_up(opened);
    *worker = opened;
    return HAFT_OK;
}

/* The duties between jobs: reclaim elapsed slots that were handed over, and drain the lists. */
static void haft__do_duties(haft_worker *worker)
{
    if (haft__callback_is_running()) {
        return;
    }
    haft__sweep_handed(worker);
    if (haft__lists_have_slots(worker->table)) {
        haft__drain_lists(worker);
    }
}

/* Give all of the worker's slots to other workers, and those that callbacks free meanwhile. */
static void haft__let_go(haft_worker *worker)
{
    if (haft__open_batch_count(worker) != 0) {
        haft__retire_open(worker); /* before duties: callbacks may free, and find its slots */
    }
    haft__do_duties(worker);
    if (haft__open_batch_count(worker) != 0 || haft__filling_count(worker) != 0) {
        haft__retire_flush(worker);
    }
    haft__retire_hand_over(worker);
    haft__domain_hurry(worker->table->domain);
}

haft_status haft_worker_flush(haft_worker *worker)
{
    haft__debug_check(worker);
    if (haft__callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    haft__let_go(worker);
    return HAFT_OK;
}

haft_status haft_worker_close(haft_worker *worker)
{
    assert(haft__worker_state(worker) == haft__WORKER_OPEN && "a worker is closed once");
    if (haft__callback_number() != 0 && worker->callback != haft__callback_number()) {
        return HAFT_IN_CALLBACK;
    }
    if (!haft__worker_is_own(worker)) { /* by a thread that has joined its own, or has the set now */
        worker->lift = 0;
        haft__worker_change_thread(worker);
    }
    haft__let_go(worker);
    haft__budget_return(worker);
    haft__domain_leave(worker->table->domain, worker, worker->member, worker->lift);
    haft__worker_list_put_back(worker);
    return HAFT_OK;
}

haft_table *haft_worker_table(const haft_worker *worker)
{
    return worker->table;
}

/* --- for one call --- */

HAFT_INTERNAL haft_worker *haft__worker_borrow(haft_table *table)
{
    return haft__worker_list_take(table, haft__WORKER_BORROWED);
}

HAFT_INTERNAL void haft__worker_return(haft_worker *worker)
{
    haft__retire_flush(worker);
    haft__retire_hand_over(worker);
    haft__worker_list_put_back(worker);
}

/* --- quiescent points --- */

/*
 * If partial batches filled the ring, they would be put together, and their slots would wait for
 * the latest ticket among them: longer than the backlog says.
 */
static bool haft__is_worth_closing(const haft_worker *worker)
{
    return haft__open_batch_count(worker) >= haft__WORTH_CLOSING &&
           haft__ring_length(&worker->waiting) < haft__PARTIAL_BATCHES(haft__descriptors_waiting(worker));
}

/* Whether the worker has freed and given up nothing since it was asked before. */
static bool haft__was_idle(haft_worker *worker)
{
    const uint64_t ended =
        haft__load_relaxed(OWN, &worker->counters.freed) + haft__load_relaxed(OWN, &worker->counters.aborted);
    const bool idle = ended == worker->ended_seen;

    worker->ended_seen = ended;
    return idle;
}

/* Close the open batch if that is worth a ticket.  True after an allocation failure since the
 * opening. */
static bool haft__close_if_worth(haft_worker *worker, bool idle)
{
    const uint64_t failures = haft__load_relaxed(HINT, &worker->table->failures);
    const bool has_failed = failures != worker->failures_seen;

    if (idle || has_failed || haft__is_worth_closing(worker)) {
        haft__retire_open(worker);
    }
    worker->failures_seen = failures;
    return has_failed && failures != worker->failures_before;
}

/* Forget the closings that are done; the slots that wait still. */
static uint64_t haft__waiting(struct haft__backlog *backlog, uint64_t done)
{
    while (backlog->first != backlog->next) {
        const struct haft__closing *oldest = &backlog->closings[backlog->first % haft__CLOSINGS];

        if (oldest->ticket > done) {
            break;
        }
        backlog->done = oldest->retired;
        backlog->first++;
    }
    return backlog->retired - backlog->done;
}

/* Too many slots wait, or there was an allocation failure. */
static void haft__pay(const haft_table *table, uint64_t backlog)
{
    haft_domain *domain = table->domain;

    if (table->never_waits) {
        haft__domain_hurry(domain);
    } else if (backlog > haft__BACKLOG_MOST(table->backlog_slots) || !haft__domain_is_driven(domain)) {
        haft__domain_wait(domain);
    }
}

static void haft__pass_quiescent_point(haft_worker *worker)
{
    const haft_table *table = worker->table;
    haft_domain *domain = table->domain;

    haft__descriptors_keep_up(worker);
    const bool has_failed = haft__close_if_worth(worker, haft__was_idle(worker));

    haft__retire_hand_over(worker);
    const uint64_t done = haft__domain_done(domain);
    const bool eager = has_failed || haft__load_relaxed(HINT, &table->handed) > done ||
                       haft__waiting(&worker->backlog, done) >= table->backlog_worth;

    haft__domain_quiescent(domain, worker->member, eager);
    const uint64_t backlog = haft__waiting(&worker->backlog, haft__domain_done(domain));

    if (eager) {
        haft__domain_notice_stall(domain);
    }
    if (backlog > table->backlog_slots || has_failed) {
        haft__pay(table, backlog);
    }
    haft__do_duties(worker);
}

/* An outer job of the thread may hold pointers: retire, but announce and await nothing. */
static void haft__pass_in_inner_job(haft_worker *worker)
{
    haft__descriptors_keep_up(worker);
    haft__close_if_worth(worker, haft__was_idle(worker));
    haft__retire_hand_over(worker);
    haft__domain_hurry(worker->table->domain);
}

haft_status haft_worker_quiescent(haft_worker *worker)
{
    haft_domain *domain = worker->table->domain;
    haft__debug_check(worker);
    haft_status status = haft__domain_check_moment(domain);

    if (status == HAFT_OK) {
        haft__pass_quiescent_point(worker);
    } else if (status == HAFT_IN_SECTION && haft__domain_in_inner_job(domain)) {
        haft__pass_in_inner_job(worker);
        status = HAFT_OK;
    }
    return status;
}

/* concurrent/worker/worker_list.c */

/*
 * The worker list: a table's workers.
 *
 * Edges in this file.
 *   WORKER_LIST  worker_list_add (release)   -> worker_list_first (acquire)   a worker's set-up
 *   ADOPT   worker_list_put_back (release) -> take_worker, worker_list_end, worker_state (acquire)
 *           its last state, to the thread that has it next, or that clears or closes the table
 *   OWN     before others can find the worker; a thread's own state
 *   RETRY   a first look; the compare-and-swap decides
 *   HINT    whether workers can be opened: worker_list_end decides, worker by worker
 */

#define haft__STATE_MASK ((UINT64_C(1) << haft__STATE_BITS) - 1)

#define haft__ENDED UINT64_C(1) /* beside the address of the first worker */

/* What programs work with, in place. */
#define haft__IN_FRONT(member, of)                                                                       \
    (offsetof(struct haft_worker_front, member) == offsetof(struct haft_worker, of))

_Static_assert(haft__IN_FRONT(version, version) && haft__IN_FRONT(object_size, object_size) &&
                   haft__IN_FRONT(above_index, above_index) && haft__IN_FRONT(used_from, used_from) &&
                   haft__IN_FRONT(called_from, called_from) && haft__IN_FRONT(last_life, last_life) &&
                   haft__IN_FRONT(view, view) && haft__IN_FRONT(use_at, use_at) && haft__IN_FRONT(use_to, use_to) &&
                   haft__IN_FRONT(free_at, free_at) && haft__IN_FRONT(look_at, look_at) &&
                   haft__IN_FRONT(inserted, counters.inserted) && haft__IN_FRONT(freed, counters.freed) &&
                   sizeof(struct haft_worker_front) <= 2 * haft__CACHE_LINE,
               "a worker begins with its front");
_Static_assert(HAFT_FRONT_FREE == haft__MARK_FREE, "the mark of a slot that was freed");

static haft_worker *haft__worker_at(uint64_t head)
{
    return (haft_worker *)(uintptr_t)(head & ~haft__ENDED);
}

HAFT_INTERNAL haft_worker *haft__worker_list_first(const haft_table *table)
{
    return haft__worker_at(haft__load_acquire(WORKER_LIST, &table->workers));
}

HAFT_INTERNAL bool haft__worker_list_has_ended(const haft_table *table)
{
    return (haft__load_relaxed(HINT, &table->workers) & haft__ENDED) != 0;
}

static bool haft__is_of_thread(enum haft__worker_state state)
{
    return state == haft__WORKER_OPEN || state == haft__WORKER_BORROWED;
}

static uint64_t haft__own(enum haft__worker_state state)
{
    return haft__is_of_thread(state) ? (uint64_t)state | haft__thread_number() << haft__STATE_BITS : (uint64_t)state;
}

HAFT_INTERNAL enum haft__worker_state haft__worker_state(const haft_worker *worker)
{
    /* Weakened, a table could be closed before its workers' last use of it. */
    return (enum haft__worker_state)(haft__load_acquire(ADOPT, &worker->state) & haft__STATE_MASK);
}

HAFT_INTERNAL uint64_t haft__worker_list_open(const haft_table *table)
{
    uint64_t open = 0;

    for (const haft_worker *worker = haft__worker_list_first(table); worker != NULL;
         worker = worker->next) {
        open += haft__is_of_thread(haft__worker_state(worker)) &&
                !haft__thread_is_gone(haft__load_relaxed(OWN, &worker->state) >> haft__STATE_BITS);
    }
    return open;
}

HAFT_INTERNAL bool haft__worker_is_open_by(const haft_worker *worker, uint64_t thread)
{
    return haft__load_relaxed(OWN, &worker->state) == (haft__WORKER_OPEN | thread << haft__STATE_BITS);
}

HAFT_INTERNAL bool haft__worker_is_own(const haft_worker *worker)
{
    const uint64_t state = haft__load_relaxed(OWN, &worker->state);

    return state == haft__own(haft__WORKER_OPEN) || state == haft__own(haft__WORKER_BORROWED);
}

/* What it takes to insert and free in place, without a call that checks. */
static void haft__set_front(haft_worker *worker)
{
    const haft_table *table = worker->table;

    worker->version = HAFT_TABLE_FRONT;
    worker->used_from = haft__debug_is_on() ? UINT64_MAX : table->used_from;
    worker->called_from = table->is_quick ? table->used_from : UINT64_MAX;
    worker->last_life = haft__debug_is_on() ? 0 : table->last_life;
    worker->above_index = ~table->slots.format.index_mask;
    worker->view = table->slots.view;
    worker->object_size = (uint32_t)table->slots.object_size;
}

/* No byte stays poisoned: the allocator may give the memory out again. */
static void haft__free_worker(const haft_table *table, haft_worker *worker)
{
    haft__asan_unpoison(worker, sizeof *worker);
    haft__heap_give(&table->slots.heap, worker, sizeof *worker);
}

HAFT_INTERNAL void haft__worker_list_free(haft_table *table)
{
    for (haft_worker *worker = haft__worker_list_first(table), *next; worker != NULL; worker = next) {
        next = worker->next;
        haft__free_worker(table, worker);
    }
}

/* In the worker list; false: it is one of those that no thread opens. */
static bool haft__link_worker(haft_table *table, haft_worker *worker, enum haft__worker_state state)
{
    uint64_t head;

    do {
        head = haft__load_acquire(WORKER_LIST, &table->workers);
        worker->next = haft__worker_at(head);
        haft__store_relaxed(OWN, &worker->state, haft__own((head & haft__ENDED) != 0 ? haft__WORKER_ENDED : state));
    } while (!haft__cas_release(WORKER_LIST, &table->workers, head,
                          (uint64_t)(uintptr_t)worker | (head & haft__ENDED)));
    return (head & haft__ENDED) == 0;
}

HAFT_INTERNAL haft_worker *haft__worker_list_add(haft_table *table, enum haft__worker_state state)
{
    haft_worker *worker = haft__heap_take(&table->slots.heap, sizeof(haft_worker), haft__CACHE_LINE);

    if (worker == NULL) {
        return NULL;
    }
    memset(worker, 0, sizeof *worker);
    worker->table = table;
    worker->segment = haft__descriptors_bring(worker);
    if (worker->segment == NULL) {
        haft__free_worker(table, worker);
        return NULL;
    }
    worker->batch_limit = 1;
    haft__filling_set(worker, haft__pool_take(&table->pool, worker->segment));
    haft__open_batch_set(worker, haft__pool_take(&table->pool, worker->segment));
    haft__set_front(worker);
    return haft__link_worker(table, worker, state) ? worker : NULL;
}

/* AddressSanitizer reports the use of a worker that is closed.  Others look at the rest of it. */
static const struct {
    size_t begin, end;
} haft__private_parts[] = {
    {0, offsetof(struct haft_worker, counters)},
    {offsetof(struct haft_worker, member), offsetof(struct haft_worker, backlog)},
};

static void haft__mark_private(haft_worker *worker, void (*mark)(const void *memory, size_t size))
{
    for (size_t i = 0; i < 2; i++) {
        mark((char *)worker + haft__private_parts[i].begin,
             haft__private_parts[i].end - haft__private_parts[i].begin);
    }
}

/* The calling thread's latest worker, and the number of its table. */
static haft__THREAD_LOCAL struct {
    uint64_t table;
    haft_worker *worker;
} haft__latest_worker;

/* Take a worker, from one state to the other. */
static bool haft__take_worker(haft_worker *worker, enum haft__worker_state from, enum haft__worker_state to)
{
    const bool haft__taken = haft__load_relaxed(RETRY, &worker->state) == (uint64_t)from &&
                       haft__cas_acquire(ADOPT, &worker->state, from, haft__own(to));

    if (haft__taken) {
        haft__mark_private(worker, haft__asan_unpoison);
    }
    return haft__taken;
}

static haft_worker *haft__find_worker(const haft_table *table, enum haft__worker_state from,
                                enum haft__worker_state to)
{
    if (haft__latest_worker.table == table->number && haft__take_worker(haft__latest_worker.worker, from, to)) {
        return haft__latest_worker.worker;
    }
    for (haft_worker *worker = haft__worker_list_first(table); worker != NULL; worker = worker->next) {
        if (haft__take_worker(worker, from, to)) {
            return worker;
        }
    }
    return NULL;
}

HAFT_INTERNAL haft_worker *haft__worker_list_take(haft_table *table, enum haft__worker_state state)
{
    const bool has_ended = haft__worker_list_has_ended(table);

    if (has_ended && state == haft__WORKER_OPEN) {
        return NULL;
    }
    haft_worker *worker = haft__find_worker(table, has_ended ? haft__WORKER_ENDED : haft__WORKER_CLOSED, state);

    worker = worker != NULL || has_ended ? worker : haft__worker_list_add(table, state);
    if (worker != NULL) {
        haft__latest_worker.table = table->number;
        haft__latest_worker.worker = worker;
    }
    return worker;
}

HAFT_INTERNAL haft_status haft__worker_list_why_none(const haft_table *table)
{
    return haft__worker_list_has_ended(table) ? HAFT_CLOSED : HAFT_NO_MEMORY;
}

HAFT_INTERNAL void haft__worker_change_thread(haft_worker *worker)
{
    assert(haft__worker_state(worker) == haft__WORKER_OPEN && "its thread or set has not closed it");
    haft__store_relaxed(OWN, &worker->state, haft__own(haft__WORKER_OPEN));
}

HAFT_INTERNAL void haft__worker_list_put_back(haft_worker *worker)
{
    worker->is_to_draw = false;
    worker->is_movable = false; /* the next to have it may be a thread */
    haft__mark_private(worker, haft__asan_poison);
    /* Weakened, the next thread could find the batches as they were before. */
    haft__store_release(ADOPT, &worker->state,
                  haft__worker_list_has_ended(worker->table) ? haft__WORKER_ENDED : haft__WORKER_CLOSED);
}

/* --- the end --- */

static void haft__refuse_openings(haft_table *table)
{
    uint64_t head;

    do {
        head = haft__load_relaxed(RETRY, &table->workers);
    } while (!haft__cas_relaxed(RETRY, &table->workers, head, head | haft__ENDED));
}

HAFT_INTERNAL bool haft__worker_list_end(haft_table *table)
{
    bool all = true;

    haft__refuse_openings(table);
    for (haft_worker *worker = haft__worker_list_first(table); worker != NULL; worker = worker->next) {
        /* Weakened, its batches could be as they were before. */
        const bool is_ended = haft__cas_acquire(ADOPT, &worker->state, haft__WORKER_CLOSED, haft__WORKER_ENDED) ||
                              haft__worker_state(worker) == haft__WORKER_ENDED;

        all = all && is_ended;
    }
    return all;
}

/*
 * concurrent/table/census.h - a walk over a whole table: each slot is in exactly one place, and
 * the counters agree.
 */

/*
 * Whether all is right with a table while no call on it is under way; if not, a line on stderr
 * says what.  True if there is no memory for a byte a slot.  Blocking; O(slots ever used).
 */
HAFT_INTERNAL bool haft__census_is_right(const haft_table *table);

/* concurrent/table/stats.h */

/* concurrent/table/stats.h - sums of the counters.  Any thread, wait-free, O(workers). */

struct haft__stock {
    uint64_t live;
    uint64_t reserved;
    uint64_t retired;
    uint64_t exhausted;
};

/*
 * The live, reserved, retired and exhausted slots that the counters come to, when no other thread
 * uses the table; the other members are 0.  A wrong counter can make a number negative: it is high
 * then.
 */
HAFT_INTERNAL struct haft__stock haft__stats_stock(const haft_table *table);

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
enum haft__whereabouts {
    haft__NOWHERE,
    haft__AT_HAND, /* in a filling batch, or ready */
    haft__WAITING, /* in an open batch, or one that waits */
    haft__FRESH,   /* in an extent, a released run, or the list of a local table */
    haft__LISTED,  /* in the table's lists */
    haft__PLACE_COUNT
};

struct haft__census {
    const haft_table *table;
    uint8_t *places; /* of each slot */
    uint64_t live;
    uint64_t reserved;
    uint64_t exhausted;
    uint64_t retired;
    uint64_t batches; /* descriptors met */
    bool is_right;
};

static HAFT_PRINTF(2, 3) void haft__object(struct haft__census *census, const char *format, ...)
{
    char line[400]; /* a longer name cuts the text */
    struct haft__text text = haft__text_in(line, sizeof line);
    va_list arguments;

    census->is_right = false;
    haft__text_add(&text, "%s: census: ", census->table->name);
    va_start(arguments, format);
    haft__text_add_list(&text, format, arguments);
    va_end(arguments);
    haft__os_print(line);
}

/* --- containers --- */

static void haft__place_slot(struct haft__census *census, uint64_t index, enum haft__whereabouts place)
{
    if (index < HAFT_FIRST_INDEX || index >= census->table->slots.limit) {
        haft__object(census, "index %" PRIu64 " is none of a slot", index);
    } else if (census->places[index] != haft__NOWHERE) {
        haft__object(census, "slot %" PRIu64 " is in two places", index);
    } else {
        census->places[index] = (uint8_t)place;
        census->retired += place == haft__WAITING || place == haft__LISTED;
    }
}

/* The slots of a batch, which are its indices from `from` on. */
static void haft__place_slots(struct haft__census *census, const struct haft__batch *batch, const uint32_t *from,
                        uint32_t count, enum haft__whereabouts place)
{
    const uint64_t first = ((uintptr_t)from - (uintptr_t)batch->indices) / sizeof *from;

    census->batches++;
    if (first + count > haft__BATCH_SLOTS) {
        haft__object(census, "batch %" PRIu64 " has %" PRIu32 " slots from its slot %" PRIu64 " on",
               batch->number, count, first);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        haft__place_slot(census, from[i], place);
    }
}

static void haft__place_batch(struct haft__census *census, const struct haft__batch *batch, enum haft__whereabouts place)
{
    haft__place_slots(census, batch, batch->indices, batch->count, place);
}

static void haft__put_ring(struct haft__census *census, const struct haft__ring *ring, enum haft__whereabouts place)
{
    const uint64_t tail = haft__load_relaxed(OWN, &ring->tail);

    for (uint64_t i = haft__load_relaxed(OWN, &ring->head); i != tail; i++) {
        const uint64_t number = haft__load_relaxed(OWN, &ring->cells[i % haft__RING_BATCHES]);

        haft__place_batch(census, haft__pool_batch(&census->table->pool, number), place);
    }
}

static void haft__put_depot(struct haft__census *census, const struct haft__depot *depot, enum haft__whereabouts place)
{
    const struct haft__pool *pool = &census->table->pool;
    const struct haft__batch *node = haft__pool_batch(pool, haft__tagged_number(haft__load_relaxed(OWN, &depot->head)));
    uint64_t next;

    census->batches++; /* the node before the first */
    while ((next = haft__tagged_number(haft__load_relaxed(OWN, &node->node_next))) != haft__NUMBER_NONE) {
        node = haft__pool_batch(pool, next);
        haft__place_batch(census, haft__pool_batch(pool, haft__load_relaxed(OWN, &node->node_batch)), place);
    }
}

static void haft__put_range(struct haft__census *census, haft_range range)
{
    for (uint64_t index = range.from; index < range.to; index++) {
        haft__place_slot(census, index, haft__FRESH);
    }
}

static void haft__put_worker(struct haft__census *census, const haft_worker *worker)
{
    haft__asan_unpoison(worker, sizeof *worker);
    haft__place_slots(census, worker->filling, haft__filling_next(worker), haft__filling_count(worker), haft__AT_HAND);
    haft__place_slots(census, worker->open, worker->open->indices, haft__open_batch_count(worker), haft__WAITING);
    haft__put_ring(census, &worker->ready, haft__AT_HAND);
    haft__put_ring(census, &worker->waiting, haft__WAITING);
    haft__put_range(census, haft__fresh_range(worker));
    census->batches += worker->spare_count;
}

static void haft__put_released(struct haft__census *census)
{
    const struct haft__runs *runs = &census->table->slots.runs;
    uint64_t haft__run = haft__tagged_number(haft__load_relaxed(OWN, &census->table->released.head));

    while (haft__run != haft__NUMBER_NONE) {
        haft__put_range(census, HAFT_RANGE(haft__runs_first(runs, haft__run), haft__runs_end(runs, haft__run)));
        haft__run = haft__tagged_number(haft__runs_link(runs, haft__run)); /* RUN_LAST ends as NUMBER_NONE */
    }
}

/* A list through the words, from slot `index` to one whose index field is a mark. */
static void haft__put_list(struct haft__census *census, uint64_t index, enum haft__whereabouts place)
{
    const struct haft__slots *slots = &census->table->slots;

    while (index >= HAFT_FIRST_INDEX && index < slots->limit) {
        haft__place_slot(census, index, place);
        index = haft__word_index(&slots->format, haft__load_relaxed(OWN, haft__slots_word(slots, index)));
    }
}

static void haft__put_lists(struct haft__census *census)
{
    const haft_table *table = census->table;

    haft__put_list(census, haft__load_relaxed(OWN, &table->inherited.listed), haft__FRESH);
    for (int kind = 0; kind < haft__LIST_COUNT; kind++) {
        haft__put_list(census, haft__tagged_number(haft__load_relaxed(OWN, &table->lists[kind].head)), haft__LISTED);
    }
}

/* --- slots --- */

/* A slot that is neither live, reserved nor exhausted. */
static void haft__check_free(struct haft__census *census, uint64_t index, uint64_t word, enum haft__whereabouts place)
{
    const haft_table *table = census->table;
    const struct haft__slots *slots = &table->slots;
    const uint64_t mark = haft__word_index(&slots->format, word);
    const bool is_retired = word != 0 && mark == haft__MARK_FREE;

    if (place != haft__NOWHERE) {
        return;
    }
    if (is_retired && slots->has_pins &&
        haft__load_relaxed(OWN, haft__slots_pins(slots, haft__slots_word(slots, index))) > haft__PIN_ELAPSED) {
        census->retired++; /* its last unpin will reclaim it */
        return;
    }
    haft__object(census, "slot %" PRIu64 " is lost (word %#" PRIx64 ")", index, word);
}

static void haft__check_whereabouts(struct haft__census *census, uint64_t index)
{
    const haft_table *table = census->table;
    const struct haft__slots *slots = &table->slots;
    const uint64_t word = haft__load_relaxed(OWN, haft__slots_word(slots, index));
    const uint64_t mark = haft__word_index(&slots->format, word);
    const enum haft__whereabouts place = (enum haft__whereabouts)census->places[index];
    const bool is_used =
        word != 0 && (mark == index || mark == haft__MARK_RESERVED || mark == haft__MARK_EXHAUSTED);

    census->live += mark == index;
    census->reserved += mark == haft__MARK_RESERVED;
    census->exhausted += mark == haft__MARK_EXHAUSTED;
    if (!is_used) {
        haft__check_free(census, index, word, place);
    } else if (place != haft__NOWHERE) {
        haft__object(census, "slot %" PRIu64 " is in use and in a container (word %#" PRIx64 ")", index,
               word);
    }
}

/* --- counters --- */

static void haft__check_count(struct haft__census *census, const char *what, uint64_t counted, uint64_t found)
{
    if (counted != found) {
        haft__object(census, "%" PRId64 " %s are counted, %" PRIu64 " found", (int64_t)counted, what,
               found);
    }
}

static void haft__check_counters(struct haft__census *census)
{
    const haft_table *table = census->table;
    const struct haft__stock stock = haft__stats_stock(table);

    haft__check_count(census, "live slots", stock.live, census->live);
    haft__check_count(census, "reserved slots", stock.reserved, census->reserved);
    haft__check_count(census, "retired slots", stock.retired, census->retired);
    haft__check_count(census, "exhausted slots", stock.exhausted, census->exhausted);
}

static void haft__check_descriptors(struct haft__census *census)
{
    const struct haft__pool *pool = &census->table->pool;

    haft__check_count(census, "batch descriptors", haft__pool_used(pool), census->batches + haft__pool_unused(pool));
}

HAFT_INTERNAL bool haft__census_is_right(const haft_table *table)
{
    struct haft__census census = {.table = table, .is_right = true};
    const uint64_t end = haft__load_relaxed(OWN, &table->fresh);

    census.places = calloc((size_t)table->slots.limit, 1);
    if (census.places == NULL) {
        return true;
    }
    for (const haft_worker *worker = haft__worker_list_first(table); worker != NULL;
         worker = worker->next) {
        haft__put_worker(&census, worker);
    }
    haft__put_depot(&census, &table->ready, haft__AT_HAND);
    haft__put_depot(&census, &table->waiting, haft__WAITING);
    haft__put_released(&census);
    haft__put_lists(&census);
    for (uint64_t index = HAFT_FIRST_INDEX; index < end; index++) {
        haft__check_whereabouts(&census, index);
    }
    haft__check_counters(&census);
    haft__check_descriptors(&census);
    free(census.places);
    return census.is_right;
}

/* concurrent/table/close.h */

/* concurrent/table/close.h - what closing, clearing and unsharing a table begin with. */

/* The same for a table that is to end, in which no worker may be open: HAFT_IN_USE. */
HAFT_INTERNAL haft_status haft__close_check_ending(const haft_table *table);

/* Reclaim what waits, each batch after its grace period or once `latest` is done.  True if there
 * was anything.  Blocking; one thread. */
HAFT_INTERNAL bool haft__close_reclaim_waiting(haft_worker *worker, uint64_t latest);

/* Whether anything is attached, as far as the calling thread sees.  Wait-free. */
HAFT_INTERNAL bool haft__table_has_attached(const haft_table *table);

/* concurrent/table/open.h */

/* concurrent/table/open.h - opening and ending a table.  One thread has it meanwhile. */

/* A table of that name, with nothing in it, in the heap; NULL: no memory.  table_free() ends it. */
HAFT_INTERNAL haft_table *haft__table_new(const char *name, const haft_allocator *heap);
HAFT_INTERNAL void haft__table_free(haft_table *table);

/* Whether the option waiting_bytes is right for slots of that distance. */
HAFT_INTERNAL haft_status haft__table_check_waiting(uint64_t bytes, uint64_t stride);

/*
 * Set up all that a table has beside its slots.  Its slots, its capacity and its options are set.
 * HAFT_OK or HAFT_NO_MEMORY.  table_stop() undoes it.
 */
HAFT_INTERNAL haft_status haft__table_start(haft_table *table, haft_domain *domain);
HAFT_INTERNAL void haft__table_stop(haft_table *table);

/*
 * The shared tables that are open in this process, newest first, while their statistics can be
 * taken.  Under the registry's lock: for (t = first_open_table(); t; t = t->next_open).
 */
HAFT_INTERNAL haft_table *haft__first_open_table(void);

/* concurrent/table/close.c */

/*
 * Clearing and closing a table.
 *
 * First no thread opens a worker any more, then all lives are ended, highest index first: their
 * slots are a list through their words, lowest index first, which is this call's alone.  After one
 * grace period the slots of that list are reclaimed, then all others that waited.  No life begins
 * meanwhile, except where a callback publishes a reservation from before: then lives are ended once
 * more.
 *
 * Other threads may free, pin and unpin.  A free that has ended a life and has not yet put its slot
 * anywhere shows in the counts: the object counts as live, or as retired.
 *
 * In the child of a fork a table of its parent's only gives its memory back: its other threads may
 * have been anywhere, so nothing is waited for, looked at or called.
 *
 * Edges in this file.
 *   OWN     the slot is in this call's list, the batch is this worker's; no other thread uses the
 *           table
 *   HINT    whether anything is attached: a thread that was told of it sees it
 *   RETRY   a first look at a word; life_end decides
 *   COUNT   one number for all lives that were ended; how far slots were drawn: by no worker now
 */

/* --- what every end of a table checks and reclaims --- */

HAFT_INTERNAL bool haft__table_has_attached(const haft_table *table)
{
    return haft__load_relaxed(HINT, &table->attached) != 0;
}

/* Whether the calling thread may wait for readers now. */
static haft_status haft__close_check_moment(const haft_table *table)
{
    const haft_status status =
        haft__callback_is_running() ? HAFT_IN_CALLBACK : haft__domain_check_process(table->domain);

    return status == HAFT_OK ? haft__domain_check_moment(table->domain) : status;
}

HAFT_INTERNAL haft_status haft__close_check_ending(const haft_table *table)
{
    const haft_status status = haft__close_check_moment(table);

    /* Where both are so, a worker that is open is what to tell of. */
    return (status == HAFT_OK || status == HAFT_IN_SECTION) && haft__worker_list_open(table) != 0
               ? HAFT_IN_USE
               : status;
}

HAFT_INTERNAL bool haft__close_reclaim_waiting(haft_worker *worker, uint64_t latest)
{
    struct haft__batch *batch;

    bool found = haft__drain_all_lists(worker);

    while ((batch = haft__exchange_take_waiting(worker)) != NULL) {
        const uint64_t ticket = haft__load_relaxed(OWN, &batch->ticket);

        haft__domain_wait_for(worker->table->domain, ticket < latest ? ticket : latest);
        haft__reclaim_batch(worker, batch);
        found = true;
    }
    return found;
}

/* --- the lives of all objects end --- */

/* End the life in slot `index`: the slot begins the list.  False: there is none. */
static bool haft__end_life(haft_table *table, uint64_t index, uint64_t *first, const void *caller)
{
    const struct haft__slots *slots = &table->slots;
    haft__atomic_u64 *at = haft__slots_word(slots, index);
    const haft_id id = {haft__load_relaxed(RETRY, at)};
    uint64_t word;

    if (haft__word_index(&slots->format, id.bits) != index || !haft__life_end(slots, id, &word)) {
        return false;
    }
    haft__sites_note_death(&slots->sites, index, caller);
    haft__store_relaxed(OWN, at, haft__word_with_index(&slots->format, word, *first));
    *first = index;
    return true;
}

/* The first slot of the list; MARK_FREE, which ends it: no object was live. */
static uint64_t haft__end_lives(haft_table *table, const void *caller)
{
    uint64_t first = haft__MARK_FREE;
    uint64_t ended = 0;

    for (uint64_t index = haft__load_relaxed(COUNT, &table->fresh); index-- > HAFT_FIRST_INDEX;) {
        ended += haft__end_life(table, index, &first, caller);
    }
    haft__fetch_add_relaxed(COUNT, &table->counters.freed, ended);
    return first;
}

/* Move slots from the list to the empty batch, up to a full one. */
static void haft__take_ended(const haft_table *table, uint64_t *first, struct haft__batch *batch)
{
    const struct haft__slots *slots = &table->slots;

    while (*first != haft__MARK_FREE && batch->count < table->batch_max) {
        haft__atomic_u64 *at = haft__slots_word(slots, *first);
        const uint64_t word = haft__load_relaxed(OWN, at);

        haft__store_relaxed(OWN, at, haft__word_with_index(&slots->format, word, haft__MARK_FREE));
        batch->has_last_lives = batch->has_last_lives || haft__word_generation(&slots->format, word) == 0;
        batch->indices[batch->count++] = (uint32_t)*first;
        *first = haft__word_index(&slots->format, word);
    }
}

static void haft__reclaim_ended(haft_worker *worker, uint64_t first)
{
    while (first != haft__MARK_FREE) {
        struct haft__batch *batch = haft__exchange_take_empty(worker);

        haft__take_ended(worker->table, &first, batch);
        haft__reclaim_batch(worker, batch);
    }
}

/* Whether an object's memory goes without a call when the table does, as no thread asks for it. */
static bool haft__ends_by_itself(const haft_table *table)
{
    return table->on_reclaim == NULL && !table->slots.has_pins;
}

/* Until on_reclaim frees and unpins no more. */
static void haft__reclaim_all_waiting(haft_worker *worker)
{
    do {
        haft__retire_open(worker); /* what callbacks have freed by it */
    } while (haft__close_reclaim_waiting(worker, UINT64_MAX));
}

/* True: some lives were ended, and meanwhile callbacks have published slots reserved before. */
static bool haft__end_objects(haft_worker *worker, bool closes, const void *caller)
{
    haft_table *table = worker->table;
    const uint64_t first = closes && haft__ends_by_itself(table) ? haft__MARK_FREE : haft__end_lives(table, caller);

    if (first != haft__MARK_FREE || haft__stats_stock(table).live != 0 || !haft__list_is_empty(table, haft__LIST_FREED)) {
        haft__domain_wait_for(table->domain, haft__domain_ticket(table->domain));
    }
    haft__reclaim_ended(worker, first);
    haft__reclaim_all_waiting(worker);
    return first != haft__MARK_FREE && haft__stats_stock(table).live != 0;
}

/* --- clearing --- */

/* All lives are ended, no free is under way, and no pin keeps an object. */
static bool haft__is_clear(const haft_table *table)
{
    const struct haft__stock stock = haft__stats_stock(table);

    return stock.live == 0 && stock.retired == 0;
}

/* A table without workers never had an object. */
static haft_status haft__clear_table(haft_table *table, bool closes, const void *caller)
{
    if (!haft__worker_list_end(table)) {
        return HAFT_IN_USE;
    }
    haft_worker *worker = haft__worker_list_first(table) != NULL ? haft__worker_borrow(table) : NULL;

    if (worker == NULL) {
        return haft__worker_list_first(table) != NULL ? HAFT_IN_USE : HAFT_OK;
    }
    haft__leaks_report(&table->slots, table->name, haft__load_relaxed(COUNT, &table->fresh));
    while (haft__end_objects(worker, closes, caller)) {
        /* reservations get fewer: none begins */
    }
    haft__worker_return(worker);
    return (closes && haft__ends_by_itself(table)) || haft__is_clear(table) ? HAFT_OK : HAFT_IN_USE;
}

haft_status haft_table_clear(haft_table *table)
{
    const haft_status status = haft__close_check_moment(table);

    return status == HAFT_OK ? haft__clear_table(table, false, haft__CALLER) : status;
}

/* --- closing --- */

static void haft__end_memory(haft_table *table)
{
    haft_local *former = table->inherited.local;

    haft__table_stop(table);
    haft__slots_unpoison_all(&table->slots, haft__load_relaxed(OWN, &table->fresh));
    haft__slots_close(&table->slots);
    haft__local_free(former);
    haft__table_free(table);
}

static haft_status haft__close_parents(haft_table *table)
{
    haft_status status = haft__domain_check_moment(table->domain);
    const bool haft__is_in_use = haft__table_has_attached(table) || haft__worker_list_open(table) != 0;

    status = status == HAFT_OK && haft__is_in_use ? HAFT_IN_USE : status;
    if (status == HAFT_OK) {
        haft__end_memory(table);
    }
    return status;
}

haft_status haft_table_close(haft_table *table)
{
    if (haft__domain_check_process(table->domain) != HAFT_OK) {
        return haft__close_parents(table);
    }
    haft_status status = haft__close_check_ending(table);

    status = status == HAFT_OK ? haft__clear_table(table, true, haft__CALLER) : status;
    status = status == HAFT_OK && haft__table_has_attached(table) ? HAFT_IN_USE : status;
    if (status == HAFT_OK) {
        assert(haft__census_is_right(table));
        haft__end_memory(table);
    }
    return status;
}

/* concurrent/table/explain_table.c */

/* Statuses of the shared table, in words. */

/* The reason why slots still wait for a grace period. */
static void haft__add_wait(struct haft__text *text, haft_domain *domain)
{
    uint64_t ticket;
    const uint64_t waited_ns = haft__domain_waited_ns(domain, &ticket);
    haft_stall stall = {.domain = NULL};

    if (domain->clock == &haft__frame_clock) {
        haft__text_add(text, ": the next haft_domain_tick()");
        return;
    }
    if (waited_ns == 0) {
        return;
    }
    haft__text_add(text, ", which has lasted ");
    haft__text_add_time(text, waited_ns);
    haft__domain_blame(domain, &stall);
    if (stall.worker != NULL && stall.thread == haft__os_thread_number()) {
        haft__text_add(text, "; this thread holds it up until its next quiescent point");
    } else if (stall.worker != NULL) {
        haft__text_add(text, "; worker %p of thread %" PRIu64 " holds it up", (void *)stall.worker,
                 stall.thread);
    }
}

static void haft__add_busy(struct haft__text *text, const haft_table *table, const haft_table_stats *stats)
{
    haft__text_add(text, "busy: ");
    if (stats->retired == 0) {
        haft__text_add(text, "free slots are on their way between workers");
        return;
    }
    haft__text_add_counted(text, stats->retired, "slot");
    haft__text_add(text, " %s for ", stats->retired == 1 ? "waits" : "wait");
    haft__text_add(text, table->slots.has_pins ? "pins to go, or for " : "");
    haft__text_add(text, "a grace period");
    haft__add_wait(text, table->domain);
    if (table->waiting_bytes != 0) {
        haft__text_add(text, "; waiting_bytes allows %" PRIu64, table->waiting_slots);
    }
}

static void haft__add_full(struct haft__text *text, const haft_table *table, const haft_table_stats *stats)
{
    const struct haft__use haft__use = {stats->live, stats->reserved, stats->exhausted};

    haft__explain_full(text, table->capacity, &haft__use);
    if (stats->live + stats->reserved + stats->exhausted < table->capacity) {
        haft__text_add(text, "; other workers may hold the rest back");
    }
}

/* What keeps the table from being closed; whether an object is pinned, only a walk would tell. */
static void haft__add_in_use(struct haft__text *text, const haft_table *table)
{
    const uint64_t workers = haft__worker_list_open(table);
    const bool sides = haft__table_has_attached(table);

    haft__text_add(text, "in use: ");
    if (workers != 0) {
        haft__text_add_counted(text, workers, "worker");
        haft__text_add(text, " open%s", sides ? ", and sides" : "");
    } else if (sides) {
        haft__text_add(text, "sides open");
    } else {
        haft__text_add(text, table->slots.has_pins ? "objects pinned, or " : "");
        haft__text_add(text, "a call under way");
    }
}

int haft_table_explain(const haft_table *table, haft_status status, char *line, size_t size)
{
    const haft_table_stats stats = haft_table_stats_get(table);
    struct haft__text text = haft__text_in(line, size);

    haft__text_add(&text, "%s: ", table->name);
    if (status == HAFT_FULL) {
        haft__add_full(&text, table, &stats);
    } else if (status == HAFT_BUSY) {
        haft__add_busy(&text, table, &stats);
    } else if (status == HAFT_IN_USE) {
        haft__add_in_use(&text, table);
    } else if (status == HAFT_NO_MEMORY) {
        haft__explain_no_memory(&text, &table->slots, stats.high_water);
    } else {
        haft__text_add(&text, "%s", haft_status_text(status));
    }
    return haft__text_length(&text);
}

int haft_diagnose_format(const haft_table *table, haft_id id, char *text, size_t size)
{
    return haft__sites_describe(&table->slots, table->name, id, haft_diagnose(table, id), text, size);
}

/* concurrent/table/open.c */

/*
 * The shared table: opening, and its end when no thread uses it any more.
 *
 * Edges in this file.
 *   OWN     before other threads have the table, or after the last has left it
 *   COUNT   numbers that are assigned once; and the tables of a domain, under the registry's lock
 *           too: the child of a fork finds both the same
 */

haft__OPTIONS_BEGIN_WITH_COMMON(haft_table_options);

/* The bound on memory that waits, in slots. */
static uint64_t haft__waiting_slots(uint64_t bytes, uint64_t stride)
{
    const uint64_t slots = (bytes != 0 ? bytes : haft__WAITING_BYTES) / stride;

    return slots != 0 ? slots : 1;
}

/* Slots that workers may hold back: those beyond the capacity, and half of what may wait. */
static uint64_t haft__budget_for(uint64_t room, uint64_t haft__waiting)
{
    return room < haft__waiting / 2 ? room : haft__waiting / 2;
}

static uint64_t haft__backlog_for(uint64_t haft__waiting)
{
    const uint64_t part = haft__waiting / 2 / haft__WORKERS_EXPECTED;

    return part == 0 ? 1 : part < haft__BACKLOG_SLOTS ? part : haft__BACKLOG_SLOTS;
}

/* As BACKLOG_WORTH says; of a small table no more than a worker could do without. */
static uint64_t haft__worth_for(uint64_t backlog, uint64_t slots)
{
    const uint64_t part = slots / 2 > haft__BATCH_SLOTS ? slots / 2 : haft__BATCH_SLOTS;

    return haft__BACKLOG_WORTH(backlog) < part ? haft__BACKLOG_WORTH(backlog) : part;
}

static uint32_t haft__batch_max_for(uint64_t budget)
{
    const uint64_t most = 1 + budget / (2 * haft__WORKERS_EXPECTED);

    return most < haft__BATCH_SLOTS ? (uint32_t)most : haft__BATCH_SLOTS;
}

/* Large enough that its ends do not matter, small beside the table. */
static uint32_t haft__extent_for(uint64_t slots, uint32_t batch_max)
{
    const uint64_t part = slots / haft__EXTENTS_LEAST / batch_max * batch_max;

    return part < batch_max ? batch_max : part < haft__EXTENT_SLOTS ? (uint32_t)part : haft__EXTENT_SLOTS;
}

HAFT_INTERNAL haft_status haft__table_check_waiting(uint64_t bytes, uint64_t stride)
{
    return bytes == 0 || bytes >= stride ? HAFT_OK : HAFT_BAD_WAITING_BYTES;
}

/* What slots are asked for; HAFT_OK, or why the options are wrong. */
static haft_status haft__table_slots_wanted(const haft_table_options *options,
                                      struct haft__slots_options *wanted)
{
    uint64_t most;

    *wanted = (struct haft__slots_options){
        .extra = haft__geometry_spare(options->capacity),
        .pins = options->pins,
        .huge_pages = options->huge_pages,
        .wrapped = options->wrap,
    };
    const haft_status status = haft__options_check(options, haft__IN_SLOTS, &wanted->common, &most);

    return status != HAFT_OK
               ? status
               : haft__table_check_waiting(options->waiting_bytes, haft__geometry_of(wanted).stride);
}

/* Descriptors for what the depots may hold. */
static uint64_t haft__depot_batches(uint64_t slots, uint64_t budget)
{
    return slots / haft__batch_max_for(budget) + haft__DEPOT_NODES;
}

/* Of them, those that a table needs from the start. */
static uint64_t haft__first_batches(uint32_t batch_max)
{
    return HAFT_FIRST_INDEX / batch_max + haft__DEPOT_NODES;
}

static haft_status haft__open_pool(haft_table *table)
{
    const uint64_t slots = table->slots.limit - HAFT_FIRST_INDEX;
    haft_status status;

    /* The slots beyond the capacity are there for workers to hold back. */
    table->waiting_slots = haft__waiting_slots(table->waiting_bytes, table->slots.view.stride);
    table->backlog_slots = haft__backlog_for(table->waiting_slots);
    table->backlog_worth = haft__worth_for(table->backlog_slots, slots);
    table->budget_size =
        haft__budget_for(table->slots.limit - HAFT_FIRST_INDEX - table->capacity, table->waiting_slots);
    table->batch_max = haft__batch_max_for(table->budget_size);
    table->extent_slots = haft__extent_for(slots, table->batch_max);
    status = haft__pool_open(&table->pool, haft__depot_batches(slots, table->budget_size), &table->slots.heap);
    if (status != HAFT_OK) {
        return status;
    }
    status = haft__pool_commit(&table->pool, haft__first_batches(table->batch_max));
    if (status != HAFT_OK) {
        haft__pool_close(&table->pool);
    }
    return status;
}

static uint64_t haft__table_number(void)
{
    static haft__atomic_u64 last;

    return haft__fetch_add_relaxed(COUNT, &last, 1) + 1;
}

/* Insertion and free in place, where an object's life takes no more than its slot. */
static void haft__open_front(haft_table *table)
{
    const struct haft__word_format *format = &table->slots.format;
    const bool is_open = table->slots.sites.records == NULL && !haft__asan_is_on();

    table->used_from = is_open ? 1 : UINT64_MAX;
    table->last_life = is_open ? format->tag | format->generation_mask : 0;
}

/* --- the list of open tables, newest first --- */

static haft_table *haft__open_tables; /* under the lock; debuggers look for it by this name */

static void haft__tables_add(haft_table *table)
{
    haft__registry_lock();
    table->next_open = haft__open_tables;
    table->open_link = &haft__open_tables;
    if (haft__open_tables != NULL) {
        haft__open_tables->open_link = &table->next_open;
    }
    haft__open_tables = table;
    haft__fetch_add_relaxed(COUNT, &table->domain->tables, 1);
    haft__registry_unlock();
}

static void haft__tables_remove(haft_table *table)
{
    haft__registry_lock();
    *table->open_link = table->next_open;
    if (table->next_open != NULL) {
        table->next_open->open_link = table->open_link;
    }
    haft__fetch_add_relaxed(COUNT, &table->domain->tables, UINT64_MAX);
    haft__registry_unlock();
}

HAFT_INTERNAL haft_table *haft__first_open_table(void)
{
    return haft__open_tables;
}

/* --- what a table has beside its slots --- */

HAFT_INTERNAL haft_status haft__table_start(haft_table *table, haft_domain *domain)
{
    const haft_status status = haft__open_pool(table);

    if (status != HAFT_OK) {
        return status;
    }
    table->domain = domain;
    table->is_quick = haft__object_is_words(table->slots.object_size);
    haft__open_front(table);
    table->reclaims_by_slot = haft__asan_is_on() || table->on_reclaim != NULL || table->slots.has_pins;
    table->number = haft__table_number();
    haft__store_relaxed(OWN, &table->fresh, HAFT_FIRST_INDEX);
    haft__store_relaxed(OWN, &table->inherited.listed, haft__MARK_END);
    haft__store_relaxed(OWN, &table->released.head, haft__NUMBER_NONE);
    haft__store_relaxed(OWN, &table->released.slots, 0);
    haft__store_relaxed(OWN, &table->budget, table->budget_size);
    haft__depot_open(&table->waiting, &table->pool);
    haft__depot_open(&table->ready, &table->pool);
    haft__lists_open(table);
    haft__tables_add(table);
    return HAFT_OK;
}

HAFT_INTERNAL void haft__table_stop(haft_table *table)
{
    haft__tables_remove(table);
    haft__worker_list_free(table);
    haft__pool_close(&table->pool);
}

HAFT_INTERNAL haft_table *haft__table_new(const char *name, const haft_allocator *heap)
{
    const size_t size = haft__size_with_name(sizeof(haft_table), name);
    haft_table *table = haft__heap_take_zero(heap, size, haft__CACHE_LINE);

    if (table != NULL) {
        table->name = memcpy(table + 1, name, size - sizeof *table);
        table->slots.heap = *heap;
    }
    return table;
}

HAFT_INTERNAL void haft__table_free(haft_table *table)
{
    haft__heap_give(&table->slots.heap, table, haft__size_with_name(sizeof(haft_table), table->name));
}

static const char *haft__table_name_of(const haft_table_options *options)
{
    return options->name != NULL ? options->name : "table";
}

static haft_status haft__start_opened(haft_table *table, haft_domain *domain)
{
    haft_status status = haft__slots_commit(&table->slots, HAFT_FIRST_INDEX);

    status = status == HAFT_OK ? haft__runs_reserve(&table->slots.runs) : status;
    status = status == HAFT_OK ? haft__table_start(table, domain) : status;
    if (status != HAFT_OK) {
        haft__slots_close(&table->slots);
    }
    return status;
}

static haft_status haft__fill_table(haft_table *table, haft_domain *domain,
                              const haft_table_options *options, const struct haft__slots_options *wanted)
{
    table->capacity = options->capacity;
    table->on_reclaim = options->on_reclaim;
    table->reclaim_arg = options->reclaim_arg;
    table->waiting_bytes = options->waiting_bytes;
    table->never_waits = options->never_wait;
    const haft_status status = haft__slots_open(&table->slots, wanted);

    return status == HAFT_OK ? haft__start_opened(table, domain) : status;
}

haft_status haft_table_open_sized(haft_domain *domain, const haft_table_options *options,
                                  size_t size, haft_table **table)
{
    haft_table_options known;
    struct haft__slots_options wanted;
    haft_status status = haft__sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? haft__table_slots_wanted(&known, &wanted) : status;
    if (status != HAFT_OK) {
        return status;
    }
    const haft_allocator heap = haft__heap_of(known.allocator);
    haft_table *opened = haft__table_new(haft__table_name_of(&known), &heap);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    status = haft__fill_table(opened, domain, &known, &wanted);
    if (status != HAFT_OK) {
        haft__table_free(opened);
        return status;
    }
    *table = opened;
    return HAFT_OK;
}

/* --- beforehand --- */

/* Bytes for descriptors, all of them and those that opening needs. */
static uint64_t haft__pool_bytes(const haft_table_options *options, const struct haft__geometry *geometry,
                           uint64_t *begun)
{
    const uint64_t budget = haft__budget_for(geometry->limit - geometry->end,
                                       haft__waiting_slots(options->waiting_bytes, geometry->stride));
    const uint64_t most = haft__depot_batches(geometry->limit - HAFT_FIRST_INDEX, budget);

    *begun = haft__first_batches(haft__batch_max_for(budget)) * sizeof(struct haft__batch);
    return most * sizeof(struct haft__batch);
}

/* The highest capacity for which slots take no more address space. */
static uint64_t haft__table_capacity_that_fills(haft_table_options options, uint64_t count)
{
    struct haft__slots_options wanted;
    uint64_t fits = options.capacity;
    uint64_t above = count;

    while (above - fits > 1) {
        options.capacity = fits + (above - fits) / 2;
        if (haft__table_slots_wanted(&options, &wanted) == HAFT_OK &&
            haft__geometry_of(&wanted).count == count) {
            fits = options.capacity;
        } else {
            above = options.capacity;
        }
    }
    return fits;
}

haft_status haft_table_footprint_sized(const haft_table_options *options, size_t size,
                                       haft_footprint *footprint)
{
    haft_table_options known;
    struct haft__slots_options wanted;
    haft_status status = haft__sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? haft__table_slots_wanted(&known, &wanted) : status;
    if (status != HAFT_OK) {
        return status;
    }
    const struct haft__geometry geometry = haft__geometry_of(&wanted);
    uint64_t begun;
    const uint64_t pool = haft__pool_bytes(&known, &geometry, &begun);
    const uint64_t at_once =
        haft__size_with_name(sizeof(haft_table), haft__table_name_of(&known)) + haft__geometry_address_space(wanted);

    if (!haft__given_is_possible(at_once + pool)) {
        return HAFT_NO_MEMORY;
    }
    *footprint = (haft_footprint){
        .bytes = at_once + pool,
        .capacity = haft__table_capacity_that_fills(known, geometry.count),
        .committed = at_once + haft__reservation_first_step(pool, begun),
    };
    return HAFT_OK;
}

haft_view haft_table_view(const haft_table *table)
{
    return table->slots.view;
}

haft_info haft_table_info(const haft_table *table)
{
    haft_info info = haft__slots_info(&table->slots, table->name, table->capacity);

    info.domain = table->domain;
    return info;
}

haft_status haft_diagnose(const haft_table *table, haft_id id)
{
    return haft__slots_diagnose(&table->slots, id);
}

haft_status haft_id_at(const haft_table *table, uint64_t index, haft_id *id)
{
    return haft__slots_id_at(&table->slots, index, id);
}

/* concurrent/table/pin.c */

/*
 * Pins: a counter behind each object.
 *
 * After its grace period a retired slot gets no further pins: its id matches no more, and every
 * section that had resolved it has ended.  The thread that reclaims the slot sets PIN_ELAPSED in
 * the counter; if it had pins, the thread that gives the last one back puts the slot into the
 * table's list of unpinned ones, from which it is reclaimed.  The flag decides, not the word: both
 * threads would read "retired" there.  No callback runs in an unpin, so a chain of objects of which
 * each holds a pin on the next is reclaimed one by one.
 *
 * Edges in this file.
 *   PIN      haft_unpin (release) -> is_pinned, haft_unpin (acquire): the use of the object before
 *            the reuse of its memory; is_pinned (release) -> haft_unpin (acquire): the grace period
 *            before it
 *   RETRY    a first look; the compare-and-swap decides
 *   COUNT    an addition within a section that the grace period waits for; a snapshot
 */

/* NULL in a table without the option `pins`. */
static haft__atomic_u64 *haft__pins_of(const haft_table *table, uint64_t index)
{
    if (!table->slots.has_pins) {
        return NULL;
    }
    return haft__slots_pins(&table->slots, haft__slots_word(&table->slots, index));
}

void *haft_pin(haft_table *table, haft_id id)
{
    void *haft__object = haft_resolve(table->slots.view, id);

    haft__debug_check_reader(table);
    if (haft__object == NULL) {
        return NULL;
    }
    haft__atomic_u64 *pins = haft__pins_of(table, haft__word_index(&table->slots.format, id.bits));

    if (pins == NULL) {
        return NULL;
    }
    if ((haft__fetch_add_relaxed(COUNT, pins, 1) & haft__PIN_COUNT) >= HAFT_PINS_MOST) {
        haft__fetch_add_relaxed(COUNT, pins, UINT64_MAX);
        return NULL;
    }
    return haft__object;
}

/* Whether the word is that of the object that `id` names, or named until it was freed. */
static bool haft__is_of(const haft_table *table, haft_id id)
{
    const struct haft__word_format *format = &table->slots.format;
    const uint64_t index = id.bits & table->slots.view.mask;
    const uint64_t word = haft__load_relaxed(COUNT, haft__slots_word(&table->slots, index));
    const uint64_t mark = haft__word_index(format, word);

    /* From the word to the id: the other way, bits above the layout would get lost.  A freed slot
     * is marked FREE, or has the next one in a list there. */
    return word == id.bits || (mark >= haft__MARK_FREE && mark != index &&
                               haft__word_last_life(format, word, index).bits == id.bits);
}

haft_status haft_unpin(haft_table *table, haft_id id)
{
    const uint64_t index = id.bits & table->slots.view.mask;
    haft__atomic_u64 *pins = haft__pins_of(table, index);
    uint64_t before;

    if (pins == NULL) {
        return HAFT_NOT_PINNED;
    }
    do {
        before = haft__load_relaxed(RETRY, pins);
        if ((before & haft__PIN_COUNT) == 0 || !haft__is_of(table, id)) {
            return HAFT_NOT_PINNED;
        }
        /* Weakened, the slot could be written again before the last use under a pin. */
    } while (!haft__cas_acq_rel(PIN, pins, before, before - 1));
    if (before == (haft__PIN_ELAPSED | 1)) {
        haft__callback_note_free();
        haft__list_push(table, haft__LIST_UNPINNED, index);
    }
    return HAFT_OK;
}

uint32_t haft_pins(const haft_table *table, haft_id id)
{
    haft__atomic_u64 *pins = haft__pins_of(table, id.bits & table->slots.view.mask);

    return pins != NULL && haft__is_of(table, id) ? (uint32_t)(haft__load_relaxed(COUNT, pins) & haft__PIN_COUNT) : 0;
}

/* concurrent/table/reclaim_table.c */

/*
 * haft_table_reclaim: all slots handed over before the call, wherever they wait.
 *
 * Edges in this file.
 *   OWN    a count that only this thread's workers write
 */

/* The calling thread's open worker, unless it moves between threads; NULL: none. */
static haft_worker *haft__own_worker(const haft_table *table)
{
    haft_worker *worker = haft__worker_list_first(table);

    while (worker != NULL && !(haft__worker_is_open_by(worker, haft__thread_number()) && !worker->is_movable)) {
        worker = worker->next;
    }
    return worker;
}

/* Objects that the calling thread has freed: within haft_table_reclaim(), its callbacks. */
static uint64_t haft__freed_by_thread(const haft_table *table)
{
    uint64_t freed = haft__callback_frees();

    for (const haft_worker *worker = haft__worker_list_first(table); worker != NULL;
         worker = worker->next) {
        freed += haft__worker_is_own(worker) ? haft__load_relaxed(OWN, &worker->counters.freed) : 0;
    }
    return freed;
}

/* The highest ticket handed over; where none is noted, of all that were taken. */
static uint64_t haft__ticket_to_await(const haft_table *table)
{
    return table->reclaims_by_slot ? haft__handed_ticket(table) : haft__domain_requested(table->domain);
}

/* Reclaim all that was handed over before.  HAFT_BUSY: not all of it, or there is more by now. */
static haft_status haft__reclaim_handed(haft_worker *worker)
{
    const haft_table *table = worker->table;
    const uint64_t moves = haft__transit_moves(table);
    const uint64_t freed = haft__freed_by_thread(table);
    struct haft__batch *batch;

    haft__retire_hand_over(worker);
    haft__drain_all_lists(worker);
    haft__transit_wait(table); /* for slots that others have taken out of the lists */
    const haft_status status = haft__domain_wait_for(table->domain, haft__ticket_to_await(table));
    const uint64_t done = haft__domain_done(table->domain);
    const bool has_begun = haft__transit_begin(worker);

    while ((batch = haft__exchange_find_elapsed(worker, done)) != NULL) {
        haft__reclaim_batch(worker, batch);
    }
    haft__transit_end(worker, has_begun);
    haft__transit_wait(table);
    return haft__transit_moves(table) != moves || haft__freed_by_thread(table) != freed ? HAFT_BUSY : status;
}

static haft_status haft__reclaim_by(haft_worker *worker)
{
    haft__retire_flush(worker);
    const haft_status status = haft__reclaim_handed(worker);

    haft__retire_flush(worker);
    haft__retire_hand_over(worker);
    return status;
}

static haft_status haft__reclaim_by_borrowed(haft_table *table)
{
    haft_worker *worker = haft__worker_borrow(table);

    if (worker == NULL) {
        return haft__worker_list_why_none(table);
    }
    const haft_status status = haft__reclaim_by(worker);

    haft__worker_return(worker);
    return status;
}

haft_status haft_table_reclaim(haft_table *table)
{
    haft_status status = haft__domain_check_moment(table->domain);

    status = status == HAFT_OK ? haft__domain_check_process(table->domain) : status;
    if (status != HAFT_OK) {
        return status;
    }
    haft_worker *haft__own = haft__own_worker(table);

    return haft__own != NULL ? haft__reclaim_by(haft__own) : haft__reclaim_by_borrowed(table);
}

/* concurrent/table/require.c */

/* Required ids that did not resolve in a shared table. */

void *haft_require_failed(const haft_table *table, haft_id id, const void *slots)
{
    assert(slots == table->slots.view.base && "the view is the table's");
    (void)slots;
    haft__debug_check_reader(table);
    for (;;) {
        const haft_status status = haft_diagnose(table, id);

        if (status != HAFT_OK) {
            haft__bad_access(&table->slots, table->name, id, status);
            return NULL;
        }
        /* Published since the caller looked; if it is gone again, its status says so. */
        void *haft__object = haft_resolve(table->slots.view, id);

        if (haft__object != NULL) {
            return haft__object;
        }
    }
}

/* concurrent/table/scan.c */

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

#define haft__PAGE_BYTES 4096u
#define haft__PAGES_WORTH 8 /* parts as large as this meet at ends of pages */

static uint64_t haft__lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t haft__length(haft_range range)
{
    assert(range.from <= range.to);
    return range.to - range.from;
}

/* `range` without slots that can hold no object now: its end is that of a scan. */
static haft_range haft__clipped(const haft_table *table, haft_range range)
{
    const uint64_t to = haft__lesser(range.to, haft__load_relaxed(ONWARD, &table->fresh));
    const uint64_t from = range.from < HAFT_FIRST_INDEX ? HAFT_FIRST_INDEX : range.from;

    return HAFT_RANGE(haft__lesser(from, to), to);
}

/*
 * Move the start of `range` behind an extent that it lies in, or its end before the next extent.
 * True if the start was moved: then the end may be wrong.
 */
static bool haft__cut(haft_range *range, haft_range extent)
{
    if (extent.from <= range->from && range->from < extent.to) {
        range->from = haft__lesser(extent.to, range->to);
        return true;
    }
    if (extent.from != extent.to && range->from < extent.from && extent.from < range->to) {
        range->to = extent.from;
    }
    return false;
}

/* The first released run with slots in `range`, and those in a row behind it. */
static haft_range haft__given_range(const haft_table *table, haft_range range)
{
    const struct haft__runs *runs = &table->slots.runs;
    const uint64_t runs_to = haft__runs_of(runs, range.to - 1) + 1;
    uint64_t haft__run = haft__runs_of(runs, range.from);

    while (haft__run < runs_to && !haft__released_has(table, haft__run)) {
        haft__run++;
    }
    const uint64_t from = haft__run;

    while (haft__run < runs_to && haft__released_has(table, haft__run)) {
        haft__run++;
    }
    assert(from <= haft__run);
    return HAFT_RANGE(haft__runs_first(runs, from), haft__runs_first(runs, haft__run));
}

static haft_range haft__used_range(const haft_table *table, haft_range range)
{
    const haft_range whole = haft__clipped(table, range);
    haft_range used = whole;
    bool moved = true;

    while (moved && used.from != whole.to) {
        moved = false;
        used.to = whole.to;
        for (const haft_worker *worker = haft__worker_list_first(table); worker != NULL && !moved;
             worker = worker->next) {
            moved = haft__cut(&used, haft__fresh_range(worker));
        }
        /* Only to save time: a run in the list has nothing to be found. */
        if (!moved && haft__load_relaxed(HINT, &table->released.slots) != 0) {
            moved = haft__cut(&used, haft__given_range(table, used));
        }
    }
    return used;
}

haft_range haft_used_range(const haft_table *table, haft_range range)
{
    haft__debug_check_reader(table);
    return haft__used_range(table, range);
}

haft_cursor haft_cursor_over(const haft_table *table, haft_range range)
{
    const haft_range whole = haft__clipped(table, range);
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
    void *haft__object;

    while (go_on && haft_cursor_next(&cursor, &id, &haft__object)) {
        calls++;
        go_on = visit(id, haft__object, arg);
    }
    return calls;
}

/* --- dividing --- */

/* Slots after which a multiple of `bytes`, a power of two, is reached again. */
static uint64_t haft__slots_in_step(uint64_t stride, uint64_t bytes)
{
    const uint64_t common = stride & (UINT64_MAX - stride + 1); /* its lowest bit */

    assert(common != 0 && (bytes & (bytes - 1)) == 0);
    return common < bytes ? bytes / common : 1;
}

/* Where two parts of `used` slots each may meet: at multiples of this. */
static uint64_t haft__granule(uint64_t stride, uint64_t used)
{
    const uint64_t page = haft__slots_in_step(stride, haft__PAGE_BYTES);

    return used / haft__PAGES_WORTH >= page ? page : haft__slots_in_step(stride, haft__CACHE_LINE);
}

static haft_range haft__next_used(const haft_table *table, haft_range before, uint64_t end)
{
    return haft__used_range(table, HAFT_RANGE(before.to, end));
}

static uint64_t haft__count_used(const haft_table *table, haft_range whole)
{
    uint64_t used = 0;

    for (haft_range haft__run = haft__used_range(table, whole); haft__length(haft__run) != 0;
         haft__run = haft__next_used(table, haft__run, whole.to)) {
        used += haft__length(haft__run);
    }
    return used;
}

void haft_scan_ranges(const haft_table *table, haft_range *ranges, size_t parts)
{
    const haft_range whole = haft__clipped(table, HAFT_EVERYTHING);
    const uint64_t used = haft__count_used(table, whole);
    const uint64_t step = haft__granule(table->slots.view.stride, parts != 0 ? used / parts : 0);
    haft_range haft__run = haft__used_range(table, whole);
    uint64_t passed = 0; /* used slots before the run */
    uint64_t wanted = 0; /* used slots before the end of part i */
    uint64_t from = whole.from;

    for (size_t i = 0; i < parts; i++) {
        wanted += used / parts + (i < used % parts);
        while (passed + haft__length(haft__run) < wanted && haft__length(haft__run) != 0) {
            passed += haft__length(haft__run);
            haft__run = haft__next_used(table, haft__run, whole.to);
        }
        const uint64_t near = (haft__run.from + wanted - passed + step / 2) / step * step;
        const uint64_t to = i + 1 == parts || near > whole.to ? whole.to : near;

        assert(from <= to && to <= whole.to && "`near` never falls back: nor does `to`");
        ranges[i] = HAFT_RANGE(from, to);
        from = to;
    }
}

/* concurrent/table/share.c */

/*
 * Handing a local table's slots to a shared one.  (Back: unshare.c.)
 *
 * The shared table takes the slots as they are.  Slots that the local table did not use stay where
 * they were until workers take them: in a list of free slots through their words (lists.c), and in
 * a list of fresh runs (released.c).
 *
 * The first worker, one that no thread has opened, has the local table's past in its statistics.
 *
 * Edges in this file.
 *   OWN     one thread has both tables
 */

static haft_status haft__check_moment(const haft_local *local)
{
    if (haft__callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    const haft_status status = haft__local_check_moment(local);

    return status == HAFT_OK && haft__load_relaxed(OWN, &local->attached) != 0 ? HAFT_IN_USE : status;
}

/* The local table's destructor, as on_reclaim. */
static void haft__call_destroy(void *haft__object, haft_id id, haft_worker *worker, void *arg)
{
    const haft_local *local = arg;

    (void)worker;
    local->on_destroy(haft__object, id, local->destroy_arg);
}

static void haft__choose_reclaim(haft_table *table, haft_local *local, const haft_share_options *options)
{
    if (options->on_reclaim != NULL) {
        table->on_reclaim = options->on_reclaim;
        table->reclaim_arg = options->reclaim_arg;
    } else if (local->on_destroy != NULL) {
        table->on_reclaim = haft__call_destroy;
        table->reclaim_arg = local;
    }
}

/* Index limit with room for slots that workers hold back, as far as the reservation goes. */
static uint64_t haft__shared_limit(const haft_local *local)
{
    const uint64_t wished = HAFT_FIRST_INDEX + local->capacity + haft__geometry_spare(local->capacity);
    const uint64_t most = local->slots.view.mask + 1;
    const uint64_t limit = wished < most ? wished : most;

    return limit > local->slots.limit ? limit : local->slots.limit;
}

/* The first worker, closed, that counts all that the local table has done. */
static haft_status haft__add_first_worker(haft_table *table, const haft_local *local)
{
    haft_worker *first = haft__worker_list_add(table, haft__WORKER_CLOSED);

    if (first == NULL) {
        return HAFT_NO_MEMORY;
    }
    haft__store_relaxed(OWN, &first->counters.reserved, local->front.count);
    haft__store_relaxed(OWN, &first->counters.published, local->front.count);
    haft__store_relaxed(OWN, &first->counters.exhausted, local->exhausted);
    haft__released_apply_floor(table, local->fresh_at, local->fresh_end - local->fresh_at);
    haft__fresh_give(first, local->fresh_at, local->fresh_end - local->fresh_at, true);
    return HAFT_OK;
}

/* The local table's fresh runs, through the same links; the one in use is the first worker's. */
static void haft__take_runs(haft_table *table, const haft_local *local)
{
    const uint64_t slots = local->fresh_slots - (local->fresh_end - local->fresh_at);

    haft__store_relaxed(OWN, &table->released.head, haft__tagged_number(local->slots.runs.first));
    haft__store_relaxed(OWN, &table->released.slots, slots);
}

static haft_status haft__take_over(haft_table *table, haft_domain *domain, haft_local *local)
{
    table->slots = local->slots;
    table->slots.limit = haft__shared_limit(local);
    table->slots.wrapped = local->wraps;
    table->capacity = local->capacity;
    table->inherited.local = local;
    haft_status status = haft__runs_reserve(&table->slots.runs);

    status = status == HAFT_OK ? haft__table_start(table, domain) : status;
    if (status != HAFT_OK) {
        return status;
    }
    status = haft__pool_commit(&table->pool, local->used / table->batch_max + haft__DEPOT_NODES);
    status = status == HAFT_OK ? haft__add_first_worker(table, local) : status;
    if (status != HAFT_OK) {
        haft__table_stop(table);
        return status;
    }
    haft__store_relaxed(OWN, &table->fresh, local->used);
    haft__store_relaxed(OWN, &table->inherited.listed, *haft__local_head(local));
    haft__take_runs(table, local);
    return HAFT_OK;
}

haft_status haft_share_sized(haft_local *local, haft_domain *domain,
                             const haft_share_options *options, size_t size, haft_table **table)
{
    haft_share_options known;
    haft_status status = haft__sized_take(&known, sizeof known, options, size);

    status = status == HAFT_OK ? haft__check_moment(local) : status;
    if (status == HAFT_OK) {
        status = haft__table_check_waiting(known.waiting_bytes, local->slots.view.stride);
    }
    if (status != HAFT_OK) {
        return status;
    }
    haft_table *opened = haft__table_new(local->name, &local->slots.heap);

    if (opened == NULL) {
        return HAFT_NO_MEMORY;
    }
    haft__choose_reclaim(opened, local, &known);
    opened->waiting_bytes = known.waiting_bytes;
    opened->never_waits = known.never_wait;
    status = haft__take_over(opened, domain, local);
    if (status != HAFT_OK) {
        if (local->slots.runs.records == NULL) {
            haft__runs_close(&opened->slots.runs);
        }
        haft__table_free(opened);
        return status;
    }
    *table = opened;
    return HAFT_OK;
}

/* concurrent/table/stats.c */

/*
 * Statistics: sums over the workers' own counters.
 *
 * Edges in this file.
 *   COUNT   each number alone
 */

#define haft__SUM_MEMBER(name) uint64_t name;

struct haft__sums {
    haft__COUNTERS(haft__SUM_MEMBER)
    haft__PUBLIC_COUNTERS(haft__SUM_MEMBER)
    uint64_t open;
};

/* Where each counter is, and its sum. */
#define haft__SUM_PLACES(name) {offsetof(struct haft__counters, name), offsetof(struct haft__sums, name)},

static const struct {
    size_t counter, sum;
} haft__places[] = {haft__COUNTERS(haft__SUM_PLACES) haft__PUBLIC_COUNTERS(haft__SUM_PLACES)};

/*
 * Ends are read before beginnings, so that no difference is ever negative when a worker goes on
 * meanwhile; what one worker begins and another ends may still be seen the other way round.
 */
static void haft__add_counters(struct haft__sums *sums, const struct haft__counters *counters)
{
    for (size_t i = sizeof haft__places / sizeof haft__places[0]; i-- > 0;) {
        const void *counter = (const char *)counters + haft__places[i].counter;
        void *total = (char *)sums + haft__places[i].sum;

        *(uint64_t *)total += haft__load_relaxed(COUNT, (const haft__atomic_u64 *)counter);
    }
}

static struct haft__sums haft__sum(const haft_table *table)
{
    struct haft__sums sums = {0};

    for (const haft_worker *worker = haft__worker_list_first(table); worker != NULL;
         worker = worker->next) {
        haft__add_counters(&sums, &worker->counters);
        sums.open += haft__worker_state(worker) == haft__WORKER_OPEN;
    }
    haft__add_counters(&sums, &table->counters);
    return sums;
}

#define haft__SUM_AS_IT_IS(name) .name = sums.name,

/* Numbers of slots: one that is negative is a high number. */
static struct haft__stock haft__stock_of(const struct haft__sums *sums)
{
    return (struct haft__stock){
        .live = sums->published + sums->inserted - sums->freed,
        .reserved = sums->reserved - sums->published - sums->aborted,
        .retired = sums->freed + sums->aborted - sums->reclaimed,
        .exhausted = sums->exhausted,
    };
}

HAFT_INTERNAL struct haft__stock haft__stats_stock(const haft_table *table)
{
    const struct haft__sums sums = haft__sum(table);

    return haft__stock_of(&sums);
}

/* A number of slots, or 0 where calls under way make it negative. */
static uint64_t haft__not_negative(uint64_t number)
{
    return number <= INT64_MAX ? number : 0;
}

haft_table_stats haft_table_stats_get(const haft_table *table)
{
    const struct haft__sums sums = haft__sum(table);
    const struct haft__stock stock = haft__stock_of(&sums);
    const uint64_t used = haft__fresh_used(table);
    haft_table_stats stats = {
        .live = haft__not_negative(stock.live),
        .reserved = haft__not_negative(stock.reserved),
        .retired = haft__not_negative(stock.retired),
        .exhausted = haft__not_negative(stock.exhausted),
        .released = haft__load_relaxed(COUNT, &table->released.slots) + haft__fresh_in_extents(table, true),
        .high_water = used,
        .capacity = table->capacity,
        .limit = table->slots.limit - HAFT_FIRST_INDEX,
        .workers = sums.open,
        .created = sums.published + sums.inserted,
        .freed = sums.freed,
        haft__PUBLIC_COUNTERS(haft__SUM_AS_IT_IS).clock = haft_domain_stats_get(table->domain),
    };
    stats.free = haft__positive_difference(used, stats.live + stats.reserved + stats.retired +
                                               stats.exhausted + stats.released);
    return stats;
}

/* concurrent/table/trim.c */

/*
 * Memory released while other threads work.
 *
 * Free slots lie in batches, and those of one run of pages in many batches.  So the call reclaims
 * elapsed batches first, and then takes all ready batches, from every ring and from the
 * depot.  If all slots of a run are held then, it notes the run's floor and releases its pages.
 * The other slots go into new batches, in order of index.  Meanwhile no other thread finds the
 * slots that it holds: it gets HAFT_BUSY.
 *
 * Slots that workers hold privately stay, and so do fresh slots in their extents.
 *
 * Edges in this file.
 *   RETRY  whether a thread trims: decided by the compare-and-swap; the slots travel in batches
 *   OWN    this thread alone has the slots, or the batch
 *   COUNT  how far the table's slots were ever used; all that are held lie below
 */

struct haft__trim {
    haft_table *table;
    haft_worker *worker;       /* reclaims slots */
    struct haft__reservation memory; /* of the bits */
    uint64_t *bits;            /* one for each slot: held */
    uint64_t end;              /* slots that it holds lie below */
    struct haft__run_list runs;      /* released; linked, the lowest first */
    uint64_t bytes;            /* released */
};

/* --- one thread at a time --- */

/*
 * Begin, with a worker for the time of the call, and reclaim elapsed slots: HAFT_OK, or why not;
 * HAFT_BUSY if another thread has begun.
 */
static haft_status haft__trim_begin(haft_table *table, haft_worker **worker)
{
    if (haft__callback_is_running()) {
        return HAFT_IN_CALLBACK;
    }
    if (haft__domain_check_process(table->domain) != HAFT_OK) {
        return HAFT_FORKED; /* a thread that is gone may go through them for ever */
    }
    if (!haft__cas_relaxed(RETRY, &table->trimming, 0, 1)) {
        return HAFT_BUSY;
    }
    *worker = haft__worker_borrow(table);
    if (*worker == NULL) {
        haft__store_relaxed(RETRY, &table->trimming, 0);
        return haft__worker_list_why_none(table);
    }
    haft__sweep_elapsed(*worker);
    return HAFT_OK;
}

static void haft__trim_end(haft_worker *worker)
{
    haft_table *table = worker->table;

    haft__store_relaxed(RETRY, &table->trimming, 0);
    haft__worker_return(worker);
}

/* --- taking slots out of batches --- */

static void haft__hold(const struct haft__trim *trim, const uint32_t *indices, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        trim->bits[indices[i] / 64] |= UINT64_C(1) << indices[i] % 64;
    }
}

/* Take the slots of all ready batches, and those that no worker has had since haft_share(). */
static void haft__take_ready_slots(struct haft__trim *trim)
{
    haft_table *table = trim->table;
    const uint64_t most = table->slots.limit - HAFT_FIRST_INDEX;
    uint32_t indices[haft__BATCH_SLOTS];
    struct haft__batch *batch;
    uint64_t count;

    while ((count = haft__inherited_take(trim->worker, haft__BATCH_SLOTS, indices)) != 0) {
        haft__hold(trim, indices, count);
    }
    for (uint64_t i = 0; i < most && (batch = haft__exchange_find_ready(trim->worker)) != NULL; i++) {
        haft__hold(trim, batch->indices, batch->count);
        batch->count = 0;
        haft__exchange_give_empty(trim->worker, batch);
    }
    trim->end = haft__load_relaxed(COUNT, &table->fresh);
}

/* --- releasing runs --- */

/* The bits of a run that has less slots than a word has bits. */
static uint64_t haft__bits_of(uint64_t first, uint64_t count)
{
    return ((UINT64_C(1) << count) - 1) << first % 64;
}

static bool haft__is_whole(const struct haft__trim *trim, uint64_t first, uint64_t count)
{
    if (count < 64) {
        const uint64_t bits = haft__bits_of(first, count);

        return (trim->bits[first / 64] & bits) == bits;
    }
    for (uint64_t word = first / 64; word < (first + count) / 64; word++) {
        if (trim->bits[word] != UINT64_MAX) {
            return false;
        }
    }
    return true;
}

static void haft__drop_slots(const struct haft__trim *trim, uint64_t first, uint64_t count)
{
    if (count < 64) {
        trim->bits[first / 64] &= ~haft__bits_of(first, count);
    } else {
        memset(&trim->bits[first / 64], 0, (size_t)count / 8);
    }
}

/* The highest word that a slot of the run begins from. */
static uint64_t haft__floor_of_slots(const struct haft__slots *slots, uint64_t first, uint64_t count)
{
    uint64_t floor = 0;

    for (uint64_t index = first; index < first + count; index++) {
        const uint64_t word =
            haft__slots_begin_at(slots, index, haft__load_relaxed(OWN, haft__slots_word(slots, index)));
        const uint64_t begin = haft__word_with_index(&slots->format, word, 0);

        floor = begin > floor ? begin : floor;
    }
    return floor;
}

/* If the run is held, it becomes the first of those to be released. */
static bool haft__choose_run(struct haft__trim *trim, uint64_t haft__run)
{
    const struct haft__slots *slots = &trim->table->slots;
    const struct haft__runs *runs = &slots->runs;
    const uint64_t first = haft__runs_first(runs, haft__run);
    const uint64_t count = haft__runs_end(runs, haft__run) - first;

    if (!haft__is_whole(trim, first, count)) {
        return false;
    }
    /* Before the words are gone: a thread that finds them gone finds the floor. */
    haft__runs_set_floor(runs, haft__run, haft__floor_of_slots(slots, first, count));
    haft__sites_forget(&slots->sites, first, first + count);
    haft__runs_set_link(runs, haft__run, trim->runs.first);
    trim->runs.first = haft__run;
    trim->runs.last = trim->runs.slots == 0 ? haft__run : trim->runs.last;
    trim->runs.slots += count;
    haft__drop_slots(trim, first, count);
    return true;
}

/* Release all runs that are held, those that lie together at once. */
static void haft__release_chosen(struct haft__trim *trim)
{
    struct haft__slots *slots = &trim->table->slots;
    uint64_t haft__run = haft__runs_of(&slots->runs, trim->end);

    while (haft__run > haft__runs_least(&slots->runs)) {
        const uint64_t end = haft__run;

        while (haft__run > haft__runs_least(&slots->runs) && haft__choose_run(trim, haft__run - 1)) {
            haft__run--;
        }
        if (haft__run != end) {
            trim->bytes += haft__slots_release(slots, haft__run, end);
        } else {
            haft__run--;
        }
    }
}

/* --- the other slots --- */

/* In order of index, which is that of use. */
static void haft__put_rest(const struct haft__trim *trim)
{
    struct haft__batch *batch = haft__exchange_take_empty(trim->worker);

    for (uint64_t word = 0; word <= trim->end / 64; word++) {
        for (uint64_t bits = trim->bits[word]; bits != 0; bits &= bits - 1) {
            batch->indices[batch->count++] = (uint32_t)(word * 64 + haft__lowest_bit(bits));
            if (batch->count == trim->table->batch_max) {
                haft__exchange_offer_ready(trim->worker, batch);
                batch = haft__exchange_take_empty(trim->worker);
            }
        }
    }
    haft__exchange_offer_ready(trim->worker, batch);
}

/* --- in all --- */

static haft_status haft__prepare_trim(struct haft__trim *trim)
{
    haft_table *table = trim->table;
    haft_status status = haft__reservation_open(&trim->memory, table->slots.limit / 8 + sizeof(uint64_t));

    if (status != HAFT_OK) {
        return status;
    }
    status = haft__reservation_commit(&trim->memory, trim->memory.size);
    status = status == HAFT_OK ? haft__runs_prepare(&table->slots.runs, table->slots.limit) : status;
    if (status != HAFT_OK) {
        haft__reservation_close(&trim->memory);
        return status;
    }
    trim->bits = (uint64_t *)(void *)trim->memory.base;
    return HAFT_OK;
}

static void haft__run_trim(struct haft__trim *trim)
{
    haft_table *table = trim->table;

    haft__take_ready_slots(trim);
    haft__release_chosen(trim);
    haft__put_rest(trim);
    if (trim->runs.slots != 0) {
        haft__released_push(table, trim->runs);
    }
    haft__reservation_close(&trim->memory);
}

haft_status haft_trim(haft_table *table, uint64_t *released)
{
    struct haft__trim trim = {.table = table, .runs = {.first = haft__RUN_LAST}};
    haft_status status = haft__trim_begin(table, &trim.worker);

    if (status != HAFT_OK) {
        return status;
    }
    if (table->slots.wrapped) {
        status = HAFT_BAD_WRAP; /* where generations begin again, the highest is not the last */
    } else if (!table->slots.runs.stay) {
        status = haft__prepare_trim(&trim);
        if (status == HAFT_OK) {
            haft__run_trim(&trim);
        }
    }
    haft__trim_end(trim.worker);
    if (status == HAFT_OK && released != NULL) {
        *released = trim.bytes;
    }
    return status;
}

/* concurrent/table/unshare.c */

/*
 * Handing a shared table's slots back to a local one.
 *
 * First passes reclaim all freed slots, until a pass finds none: a callback may free and unpin
 * meanwhile.
 *
 * Edges in this file.
 *   OWN     no other thread uses the table
 */

/* --- no thread has a slot --- */

/*
 * Until no reader has an object that lives, or is in the list of freed ones: these have no ticket.
 * Objects that were aborted, or reclaimed up to a pin, have no readers.
 */
static void haft__wait_for_readers(haft_table *table)
{
    if (haft_table_stats_get(table).live != 0 || !haft__list_is_empty(table, haft__LIST_FREED)) {
        haft__domain_wait_for(table->domain, haft__domain_ticket(table->domain));
    }
}

/*
 * Callbacks may free and unpin meanwhile, so a pass that found something is not the last one.  What
 * they free in a pass needs no wait: no other thread uses the table, and none has resolved since
 * the pass began.  The tickets of other tables hold nothing up here.
 */
static void haft__run_passes(haft_worker *worker)
{
    haft_table *table = worker->table;

    do {
        haft__retire_flush(worker);
        haft__wait_for_readers(table);
    } while (haft__close_reclaim_waiting(worker, haft__domain_requested(table->domain)) &&
             table->on_reclaim != NULL);
}

/* By a closed worker: all are.  A table without workers never had an object. */
static void haft__reclaim_table(haft_table *table)
{
    if (haft__worker_list_first(table) != NULL) {
        haft_worker *worker = haft__worker_borrow(table);

        assert(worker != NULL && "one of its workers is closed");
        haft__run_passes(worker);
        haft__worker_return(worker);
    }
}

static bool haft__has_pins(const haft_table *table)
{
    const struct haft__slots *slots = &table->slots;
    const uint64_t end = haft__load_relaxed(OWN, &table->fresh);

    for (uint64_t index = HAFT_FIRST_INDEX; slots->has_pins && index < end; index++) {
        const haft__atomic_u64 *pins = haft__slots_pins(slots, haft__slots_word(slots, index));

        if ((haft__load_relaxed(OWN, pins) & haft__PIN_COUNT) != 0) {
            return true;
        }
    }
    return false;
}

/* Callbacks may have opened workers. */
static haft_status haft__try_to_drain(haft_table *table)
{
    haft__reclaim_table(table);
    return haft__has_pins(table) || haft__table_has_attached(table) || haft__worker_list_open(table) != 0
               ? HAFT_IN_USE
               : HAFT_OK;
}

/*
 * Bring a table in which no worker is open to the state in which its slots can be handed over: no
 * reader has a pointer, all freed slots are reclaimed.  HAFT_OK; or why not, and it can be used as
 * before.
 */
static haft_status haft__drain_table(haft_table *table)
{
    haft_status status = haft__close_check_ending(table);

    if (status != HAFT_OK) {
        return status;
    }
    status = haft__try_to_drain(table);
    assert(status != HAFT_OK || haft__census_is_right(table));
    assert(status != HAFT_OK || haft_table_stats_get(table).retired == 0);
    return status;
}

/* --- the local table --- */

_Static_assert(sizeof(haft_local) <= sizeof(haft_table), "a local table fits where a shared was");

/*
 * A local table in the block of the shared one, which has been stopped.  It allocates nothing:
 * haft::table closes this way, also in a program that is out of memory.
 */
static haft_local *haft__local_in_block_of(haft_table *table)
{
    const uint64_t capacity = table->capacity;
    const bool wraps = table->slots.wrapped;
    haft_local *local = haft__local_make_in(table, false, table->name);

    local->capacity = capacity;
    local->wraps = wraps;
    return local;
}

/* End the shared table, and give its slots to its former local table, or else to a new one. */
static haft_local *haft__replace_by_local(haft_table *table)
{
    const struct haft__slots slots = table->slots;
    const uint64_t used = haft__load_relaxed(OWN, &table->fresh);
    haft_local *local = table->inherited.local;

    haft__table_stop(table);
    if (local != NULL) {
        haft__table_free(table);
    } else {
        local = haft__local_in_block_of(table);
    }
    local->slots = slots;
    local->used = used;
    return local;
}

/* Count the slots in use below `used`; retired slots, whose callback has run, become free. */
static void haft__take_stock(haft_local *local)
{
    const struct haft__word_format *format = &local->slots.format;

    local->front.count = 0;
    local->held = local->exhausted = 0;
    for (uint64_t index = HAFT_FIRST_INDEX; index < local->used; index++) {
        haft__atomic_u64 *at = haft__slots_word(&local->slots, index);
        uint64_t word = haft__load_relaxed(OWN, at);

        if (haft__word_index(format, word) == haft__MARK_FREE) {
            word = haft__life_after(&local->slots, word);
            haft__slots_poison(&local->slots, at);
            haft__store_relaxed(OWN, at, word);
        }
        local->front.count += haft__word_index(format, word) == index;
        local->held += haft__word_index(format, word) == haft__MARK_RESERVED;
        local->exhausted += haft__word_index(format, word) == haft__MARK_EXHAUSTED;
    }
}

/* Room for the slots that are taken or exhausted, and then for `min_free` slots, if they fit. */
static void haft__fit_capacity(haft_local *local)
{
    const uint64_t haft__taken = local->front.count + local->held + local->exhausted;
    const uint64_t slots = local->slots.limit - HAFT_FIRST_INDEX;

    if (local->capacity < haft__taken) {
        local->capacity = haft__taken;
    }
    if (local->min_free > slots - local->capacity) {
        local->min_free = slots - local->capacity;
    }
    local->is_crowded = haft__local_crowds(local);
}

haft_status haft_unshare(haft_table *table, haft_local **local)
{
    const haft_status status = haft__drain_table(table);

    if (status != HAFT_OK) {
        return status;
    }
    haft_local *opened = haft__replace_by_local(table);

    haft__take_stock(opened);
    haft__fit_capacity(opened);
    haft__local_rebuild(opened);
    *local = opened;
    return HAFT_OK;
}

#pragma pop_macro("far")
#pragma pop_macro("max")
#pragma pop_macro("near")
#pragma pop_macro("slots")

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif
#endif /* C11 */
