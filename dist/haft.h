/*
 * haft.h - haft 0.2.0: handle tables: ids instead of pointers
 *
 * Copyright (c) 2026 The haft authors.  SPDX-License-Identifier: MIT
 * Made of haft's sources by ./dev amalgamate; changes belong there.
 *
 * The core is this file and haft.c: compile that once, link it, include this.  C++17
 * programs may take haft.hpp instead, and users of liburcu haft_urcu.h as well.  The kit, packed
 * tables and snapshots among it, is haft_kit.h and haft_kit.c.
 *
 *     cc first.c haft.c && ./a.out
 *
 *     // first.c - one thread holds an object while another frees it.
 *     #include "haft.h"
 *     #include <pthread.h>
 *     #include <stdio.h>
 *
 *     static haft_counted *prices;
 *     static haft_id id;
 *
 *     static void *sell(void *unused)
 *     {
 *         haft_counted_free(prices, id); // any thread, no set-up
 *         return unused;
 *     }
 *
 *     int main(void)
 *     {
 *         const haft_counted_options options = {.capacity = 1000, .object_size = sizeof(double)};
 *         pthread_t seller;
 *
 *         if (haft_counted_open(&options, &prices) || haft_counted_insert(prices, &(double){9.5}, &id)) {
 *             return 1;
 *         }
 *         const double *price = haft_counted_acquire(prices, id);
 *
 *         if (price == NULL || pthread_create(&seller, NULL, sell, NULL) != 0) {
 *             return 1;
 *         }
 *         pthread_join(seller, NULL);
 *         printf("%.1f can still be read;", *price); // until the last holder lets go:
 *         printf(" its id: %s\n", haft_status_text(haft_counted_diagnose(prices, id)));
 *         haft_counted_release(prices, id);
 *         haft_counted_close(prices);
 *         return fflush(stdout) != 0;
 *     }
 *
 * A thread with open workers is in a read section from one haft_worker_quiescent() to the next:
 * call it between jobs, when the thread holds no pointer that it has resolved.  Before the thread
 * blocks (a join, a barrier, a sleep) it calls haft_thread_park(), or all others wait for it.  A
 * lock that is held for moments needs no park, as long as no thread makes a call that waits
 * (haft_worker_quiescent() is one) while it holds that lock.
 *
 * Without -DNDEBUG haft.c is a debug build: it checks how it is used, and is slower.
 *
 * Each section of this file begins with the name of a header, at the line below, and says what it
 * is for.  Of haft/detail/, options.h has the options that all tables share, and stats.h the
 * statistics; the rest is what inline functions need: skip it when reading.
 *
 *   met first
 *     haft/id.h             207  the id: what names an object instead of a pointer
 *     haft/status.h         381  what haft's functions answer
 *     haft/view.h           730  resolving ids: what every table has in common
 *     haft/domain.h        1453  the domain: what decides when a freed slot may be reused
 *     haft/table.h         1767  the handle table that all threads share, and its workers
 *     haft/counted.h       2235  the handle table for any thread: objects are held by counts
 *     haft/local.h         2584  the handle table of one thread: slots with holes, stable addresses
 *   then
 *     haft/scan.h          2902  visiting the live objects of a shared table
 *     haft/pin.h           3012  holding on to an object beyond a read section
 *     haft/share.h         3061  hand a local table over to all threads, and back
 *     haft/memory.h        3136  a table's memory: made ready beforehand, released to the system,
 *                                provided by the program, or in huge pages
 *     haft/diagnose.h      1054  what is wrong with an id or a table, for programs and for people
 *     haft/typed.h         4144  tables for one C type: ids that cannot be mixed up, pointers
 *                                without casts, and slots whose size the compiler knows
 *     haft/clock.h          970  a grace period that the program brings: a foreign clock
 *
 * Functions named ..._sized take the size of the options struct as the caller knows it: for
 * programs that cannot include these headers.  Members beyond that size count as 0, and bytes that
 * the library does not know are refused (HAFT_UNKNOWN_OPTION) unless they are 0.
 *
 * Cancellation: no function is a cancellation point.  Waits, files and callbacks, allocators among
 * them, run with cancellation disabled, and what pthread_cancel() asks for happens at the program's
 * next cancellation point.  Not so in visitors (haft_scan, haft_local_for_each, ...) and in
 * on_bad_access, where a thread may end: nothing is left open.  A thread that ends so keeps its
 * workers open, as any other; and asynchronous cancellation must be off in all of haft.
 *
 * Stacks: a thread with 24 KiB makes every call; what callbacks use comes on top.
 *
 * Unless a section or a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */
#ifndef HAFT_HAFT_H
#define HAFT_HAFT_H

#if defined(HAFT_HOOKED) || defined(HAFT_WEAKEN)
#error "haft's checkers build the sources in lib/, concurrent/ and kit/, not these files"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * haft/detail/compiler.h - what the headers ask of a compiler beyond the language.
 *
 * GCC and Clang take attributes and built-in functions, Visual C++ has its own words for some of
 * them.  HAFT_COMPILER_MSVC is set for it; a build may set it too, to try that side with another
 * compiler that knows the intrinsics (Clang with -fms-extensions).  lib/base/compiler.h has what
 * the library's sources need besides.
 */

#if defined(_MSC_VER) && !defined(__GNUC__) && !defined(HAFT_COMPILER_MSVC)
#define HAFT_COMPILER_MSVC 1
#endif

/*
 * HAFT_IF_LIKELY, HAFT_IF_UNLIKELY - a condition that holds nearly always, or hardly ever.
 * HAFT_COLD - a function that is called hardly ever.
 * HAFT_PRINTF - argument `at` is a format of printf, its arguments begin at `first`; 0: in a list.
 * HAFT_UNUSED - a static function of which a source may call none.
 * HAFT_ALIGNED - before a variable or member: aligned to `bytes`.
 * HAFT_ALIGNOF - of a type, in C and C++.
 * HAFT_NOT_EXPORTED - an inline function of C++ that a shared library keeps to itself.
 * HAFT_CONSTANT - declares a constant object of the library, as HAFT_CONSTANT_HERE defines it in a
 * source.  With Visual C++ a program and a DLL each have their own: in C the address of an object
 * that is imported is no constant, and would do in no initialiser of a static object.
 */
#ifdef HAFT_COMPILER_MSVC
#define HAFT_IF_LIKELY(condition) (condition)
#define HAFT_IF_UNLIKELY(condition) (condition)
#define HAFT_COLD __declspec(noinline)
#define HAFT_PRINTF(at, first)
#define HAFT_ALIGNED(bytes) __declspec(align(bytes))
#define HAFT_ALIGNOF(type) __alignof(type)
#define HAFT_NOT_EXPORTED
#else
#define HAFT_IF_LIKELY(condition) __builtin_expect(condition, 1)
#define HAFT_IF_UNLIKELY(condition) __builtin_expect(condition, 0)
#define HAFT_COLD __attribute__((cold))
#define HAFT_PRINTF(at, first) __attribute__((format(printf, at, first)))
#define HAFT_ALIGNED(bytes) __attribute__((aligned(bytes)))
#define HAFT_ALIGNOF(type) __alignof__(type)
#ifdef _WIN32
#define HAFT_NOT_EXPORTED
#else
#define HAFT_NOT_EXPORTED __attribute__((visibility("hidden")))
#endif
#endif

#if defined(HAFT_COMPILER_MSVC) && !defined(__clang__)
#define HAFT_UNUSED
#else
#define HAFT_UNUSED __attribute__((unused))
#endif

#ifdef _MSC_VER
#define HAFT_CONSTANT(object, ...)                                                                 \
    extern const object;                                                                           \
    __declspec(selectany) const object = {__VA_ARGS__}
#define HAFT_CONSTANT_HERE(object, ...) extern const object
#else
#define HAFT_CONSTANT(object, ...) extern const object
#define HAFT_CONSTANT_HERE(object, ...) const object = {__VA_ARGS__}
#endif

/*
 * haft/detail/inline.h - how the headers define their inline functions, for C and C++.
 *
 * HAFT_INLINE is for those that are also symbols of the shared library, for programs that cannot
 * compile them: install/symbols.c defines them, by another HAFT_INLINE.  HAFT_ONLY_INLINE is
 * for the others.
 *
 * In C they are static.  C++ has each function once in a program, or in a shared library, which
 * does not export it: templates of a module cannot name what is static.
 *
 * HAFT_CAST is a cast of numbers, or of a pointer from or to void *; HAFT_BITS one between pointers
 * and numbers.
 */

#ifdef __cplusplus
#define HAFT_ONLY_INLINE HAFT_NOT_EXPORTED inline
#else
#define HAFT_ONLY_INLINE static inline
#endif

#ifdef __cplusplus
#define HAFT_CAST(type, value) static_cast<type>(value)
#define HAFT_BITS(type, value) reinterpret_cast<type>(value)
#else
#define HAFT_CAST(type, value) ((type)(value))
#define HAFT_BITS(type, value) ((type)(value))
#endif

#ifndef HAFT_INLINE
#define HAFT_INLINE HAFT_ONLY_INLINE
#endif

/*
 * haft/id.h - the id: what names an object instead of a pointer.
 *
 *   63                                                         0
 *   +----------+-----+------------------+----------------------+
 *   |  zeros   | tag |    generation    |        index         |
 *   +----------+-----+------------------+----------------------+
 *
 * The widths are a table's layout.  The index says which slot, the generation which of the
 * slot's lives, the tag (constant for a table) which table.  All tables use this one format.
 *
 * Indices 0 to 3 are never issued: in the slots they are marks.  So HAFT_NIL, which is all
 * zeros, names nothing in any table.
 */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct haft_id {
    uint64_t bits;
} haft_id;

#ifdef __cplusplus
#define HAFT_NIL (haft_id{0})
#else
#define HAFT_NIL ((haft_id){0})
#endif

/* Field widths in bits.  index_bits 3 to 32, generation_bits 1 to 60, together at most 64. */
typedef struct haft_layout {
    uint8_t index_bits;
    uint8_t generation_bits;
    uint8_t tag_bits;
    uint8_t reserved; /* 0 */
} haft_layout;

#ifdef __cplusplus
#define HAFT_LAYOUT_OF(index, generation, tag) (haft_layout{index, generation, tag, 0})
#else
#define HAFT_LAYOUT_OF(index, generation, tag) ((haft_layout){index, generation, tag, 0})
#endif

#define HAFT_LAYOUT_32_32 HAFT_LAYOUT_OF(32, 32, 0)   /* the default */
#define HAFT_LAYOUT_32_24_8 HAFT_LAYOUT_OF(32, 24, 8) /* 256 tables told apart for certain */
#define HAFT_LAYOUT_20_12 HAFT_LAYOUT_OF(20, 12, 0)   /* ids fit 32 bits: many slots */
#define HAFT_LAYOUT_16_16 HAFT_LAYOUT_OF(16, 16, 0)   /* ids fit 32 bits: many lives */

/* The lowest index a table issues; those below are marks. */
#define HAFT_FIRST_INDEX 4u

/* Bytes that the longest text form needs, with its final zero. */
#define HAFT_ID_TEXT_SIZE 48

/* Whether the widths are in range, and `reserved` is 0. */
HAFT_INLINE bool haft_layout_is_valid(haft_layout layout)
{
    return layout.index_bits >= 3 && layout.index_bits <= 32 && layout.generation_bits >= 1 &&
           layout.generation_bits <= 60 &&
           layout.index_bits + layout.generation_bits + layout.tag_bits <= 64 &&
           layout.reserved == 0;
}

/* Not for programs: the largest value of a field `bits` wide, 0 to 64. */
HAFT_INLINE uint64_t haft_field_max(unsigned bits)
{
    return bits == 0 ? 0 : UINT64_MAX >> (64 - bits);
}

/* Not for programs: the field `bits` wide that begins at bit `shift`; 0 for a width of 0. */
HAFT_INLINE uint64_t haft_field_get(haft_id id, unsigned shift, unsigned bits)
{
    return bits == 0 ? 0 : (id.bits >> shift) & haft_field_max(bits);
}

/* Whether it is HAFT_NIL. */
HAFT_INLINE bool haft_id_is_nil(haft_id id)
{
    return id.bits == 0;
}

/* Whether two ids are the same: of the same life of the same slot. */
HAFT_INLINE bool haft_id_equal(haft_id a, haft_id b)
{
    return a.bits == b.bits;
}

/*
 * The id with these fields.  Returns HAFT_NIL if a field does not fit its width: nothing ever
 * spills into the field beside it.
 */
HAFT_INLINE haft_id haft_id_pack(haft_layout layout, uint64_t index, uint64_t generation,
                                 uint64_t tag)
{
    const unsigned above = HAFT_CAST(unsigned, layout.index_bits) + layout.generation_bits;
    haft_id id = HAFT_NIL;

    if (index > haft_field_max(layout.index_bits) ||
        generation > haft_field_max(layout.generation_bits) ||
        tag > haft_field_max(layout.tag_bits)) {
        return id;
    }
    id.bits = index | generation << layout.index_bits;
    if (layout.tag_bits != 0) {
        id.bits |= tag << above;
    }
    return id;
}

/* The slot's number. */
HAFT_INLINE uint32_t haft_id_index(haft_layout layout, haft_id id)
{
    return HAFT_CAST(uint32_t, haft_field_get(id, 0, layout.index_bits));
}

/* The slot's place, from 0 on: for an array beside a table.  Of HAFT_NIL: 2^32 - 4. */
HAFT_INLINE uint32_t haft_id_dense_index(haft_layout layout, haft_id id)
{
    return haft_id_index(layout, id) - HAFT_FIRST_INDEX;
}

/* Which of the slot's lives. */
HAFT_INLINE uint64_t haft_id_generation(haft_layout layout, haft_id id)
{
    return haft_field_get(id, layout.index_bits, layout.generation_bits);
}

/* The table's constant bits; 0 in a layout without tag. */
HAFT_INLINE uint64_t haft_id_tag(haft_layout layout, haft_id id)
{
    return haft_field_get(id, HAFT_CAST(unsigned, layout.index_bits) + layout.generation_bits,
                          layout.tag_bits);
}

/*
 * The id in 32 bits, for layouts whose widths add up to at most 32.  Returns 0, the nil id, if the
 * layout is wider or `id` has bits above it: an id that is not this layout's stays dead.
 */
HAFT_INLINE uint32_t haft_id_to_u32(haft_layout layout, haft_id id)
{
    const unsigned width =
        HAFT_CAST(unsigned, layout.index_bits) + layout.generation_bits + layout.tag_bits;

    return width <= 32 && id.bits <= haft_field_max(width) ? HAFT_CAST(uint32_t, id.bits) : 0;
}

/* The id that haft_id_to_u32() gave `bits` for. */
HAFT_INLINE haft_id haft_id_from_u32(uint32_t bits)
{
    haft_id id = HAFT_NIL;

    id.bits = bits;
    return id;
}

/*
 * haft_id_format - an id as text for logs: "17v3" is index 17, generation 3; "17v3t5" has tag 5;
 * "nil"; bits above the layout are appended as "+0x...".
 *
 * Returns   the number of characters without the final zero, as snprintf does: more than size - 1
 *           means that the text was cut.  HAFT_ID_TEXT_SIZE bytes always suffice.
 * Cost      one snprintf.
 */
int haft_id_format(haft_layout layout, haft_id id, char *text, size_t size);

/*
 * haft_id_parse - the id that haft_id_format() wrote as `text`.
 *
 * Returns   true, with the id in `*id`.  False, leaving `*id` alone, if the text is not exactly of
 *           that form or a field does not fit the layout.
 * Cost      O(length of the text).
 */
bool haft_id_parse(haft_layout layout, const char *text, haft_id *id);

/*
 * haft/status.h - what haft's functions answer.
 *
 * One type for all of haft.  A stale id is an answer, not an error; misuse that is not listed here
 * (a worker used by two threads, say) is an assert in debug builds.  No function looks for NULL in
 * place of a table, a worker or a domain.
 */

typedef enum haft_status {
    HAFT_OK = 0,

    /* What is wrong with an id: haft_diagnose() and its kin. */
    HAFT_NO_ID,        /* HAFT_NIL, which never names an object */
    HAFT_MALFORMED,    /* bits above the table's layout, or an index no table issues */
    HAFT_FOREIGN,      /* the tag is another table's */
    HAFT_NEVER_ISSUED, /* this table has not issued the id (yet) */
    HAFT_RESERVED,     /* reserved, and not published yet */
    HAFT_STALE,        /* the object was freed, or the reservation given up */
    HAFT_EXHAUSTED,    /* stale, and the slot has lived all its generations */

    /* Why the call got no slot, memory, thread or file. */
    HAFT_FULL,      /* the table's capacity is in use */
    HAFT_BUSY,      /* slots wait for a grace period or are with other workers; or a value is being
                       set */
    HAFT_NO_MEMORY, /* the system, the allocator or given memory has no more; or no address space */
    HAFT_NO_THREAD, /* the system gave no thread */

    /* Calls at the wrong moment: nothing was done. */
    HAFT_IN_USE,      /* something is still open, held, pinned or reserved, or on_destroy runs */
    HAFT_IN_SECTION,  /* a call that may wait, made inside a read section or an inner job */
    HAFT_WRONG_CLOCK, /* the domain has another clock than the call is for */
    HAFT_NOT_PINNED,  /* the object has no pin */
    HAFT_NOT_HELD,    /* no object with that id is held */
    HAFT_CLOSED,      /* the table has been cleared, or is being closed */
    HAFT_LOADING,     /* between haft_local_load_begin() and haft_local_load_end() */
    HAFT_WRONG_TYPE,  /* the table's objects are not what the typed table is declared for */
    HAFT_IN_CALLBACK, /* made from a callback: a call that waits, announces a quiescent point,
                         closes, flushes, trims, shares or moves objects */
    HAFT_FORKED,      /* in the child of a fork: it would wait for threads of the parent */

    HAFT_OUT_OF_RANGE, /* an index beyond the table's slots, or the history's snapshots */

    /* Options out of range: nothing was opened. */
    HAFT_UNKNOWN_OPTION, /* set, but this library has no such option */
    HAFT_BAD_LAYOUT,
    HAFT_BAD_CAPACITY,
    HAFT_BAD_OBJECT_SIZE,
    HAFT_BAD_OBJECT_ALIGNMENT,
    HAFT_BAD_TAG,
    HAFT_BAD_FIRST_GENERATION,
    HAFT_BAD_REUSE,
    HAFT_BAD_MIN_FREE,
    HAFT_BAD_PINS,
    HAFT_BAD_WAITING_BYTES,
    HAFT_BAD_FOREIGN_CLOCK,
    HAFT_BAD_CLOCK,
    HAFT_BAD_WRAP,
    HAFT_BAD_COPIES,

    HAFT_STATUS_COUNT, /* how many there are; never returned */

    /* The kit's: haft/kit/status.h has their names. */
    HAFT_KIT_100 = 100,
    HAFT_KIT_101,
    HAFT_KIT_102,
    HAFT_KIT_103,
    HAFT_KIT_104,
    HAFT_KIT_105,
    HAFT_KIT_106,
    HAFT_KIT_107,
    HAFT_KIT_108,
    HAFT_KIT_109,
    HAFT_KIT_110,
    HAFT_KIT_111,
    HAFT_KIT_112,
    HAFT_KIT_113,
    HAFT_KIT_114,
    HAFT_KIT_115
} haft_status;

/*
 * haft_status_text - a status in words.
 *
 * Returns   a constant string, one sentence without a full stop; for the HAFT_BAD_ statuses it
 *           begins with the option's name.  "unknown status" for other numbers, and for the kit's
 *           before one of its functions has returned one.
 */
const char *haft_status_text(haft_status status);

/*
 * haft_status_name - a status as it stands in the source, such as "HAFT_STALE".
 *
 * Returns   a constant string; "HAFT_?" for other numbers.
 */
const char *haft_status_name(haft_status status);

#ifdef __cplusplus
}
#endif

/*
 * haft/detail/atomics_msvc.h - atomic operations by Visual C++'s intrinsics, for C, where it has no
 * _Atomic.
 *
 * As its own standard library makes them: loads and stores that the compiler neither splits nor
 * merges (__iso_volatile_...); on x86-64 a barrier for the compiler is all that acquire and release
 * need beside them, on Arm64 one for the processor stands beside the operation.  Interlocked
 * operations have forms for an order on Arm64 (_acq, _rel, _nf); on x86-64 each orders all.
 * (learn.microsoft.com/cpp/intrinsics/arm64-intrinsics; microsoft/STL, stl/inc/atomic.)
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any.
 * Ordering  as the argument says.
 * Progress  wait-free.
 * Cost      O(1).
 */

#if defined(HAFT_COMPILER_MSVC) && !defined(__cplusplus)
#include <intrin.h>

typedef struct haft_atomic_u64 {
    HAFT_ALIGNED(8) uint64_t value;
} haft_atomic_u64;

typedef enum haft_order {
    HAFT_ORDER_relaxed,
    HAFT_ORDER_acquire,
    HAFT_ORDER_release,
    HAFT_ORDER_acq_rel
} haft_order;

/* The intrinsics take a signed word that may change at any time. */
#define HAFT_MSVC_WORD(word) ((volatile long long *)&(word)->value)

/* haft_msvc_before, haft_msvc_behind: a barrier where a store releases, and a load acquires. */
#if defined(_M_ARM64) || defined(_M_ARM64EC)
#define haft_msvc_before() __dmb(_ARM64_BARRIER_ISH)
#define haft_msvc_behind() __dmb(_ARM64_BARRIER_ISHLD)
#define HAFT_MSVC_BY_ORDER(order, call, ...)                                                       \
    ((order) == HAFT_ORDER_relaxed   ? call##_nf(__VA_ARGS__)                                      \
     : (order) == HAFT_ORDER_acquire ? call##_acq(__VA_ARGS__)                                     \
     : (order) == HAFT_ORDER_release ? call##_rel(__VA_ARGS__)                                     \
                                     : call(__VA_ARGS__))
#else
#define haft_msvc_before() _ReadWriteBarrier()
#define haft_msvc_behind() _ReadWriteBarrier()
#define HAFT_MSVC_BY_ORDER(order, call, ...) ((void)(order), call(__VA_ARGS__))
#endif

/* The word's value. */
HAFT_ONLY_INLINE uint64_t haft_msvc_load(const haft_atomic_u64 *word, haft_order order)
{
    const uint64_t value =
        (uint64_t)__iso_volatile_load64((const volatile long long *)&word->value);

    if (order != HAFT_ORDER_relaxed) {
        haft_msvc_behind();
    }
    return value;
}

/* Another value for the word. */
HAFT_ONLY_INLINE void haft_msvc_store(haft_atomic_u64 *word, uint64_t value, haft_order order)
{
    if (order != HAFT_ORDER_relaxed) {
        haft_msvc_before();
    }
    __iso_volatile_store64(HAFT_MSVC_WORD(word), (long long)value);
}

/* Compare and swap: whether `*word` was `expected`. */
HAFT_ONLY_INLINE bool haft_msvc_cas(haft_atomic_u64 *word, uint64_t expected, uint64_t desired,
                                    haft_order order)
{
    return (uint64_t)HAFT_MSVC_BY_ORDER(order, _InterlockedCompareExchange64, HAFT_MSVC_WORD(word),
                                        (long long)desired, (long long)expected) == expected;
}

/* Another value for the word; the one before. */
HAFT_ONLY_INLINE uint64_t haft_msvc_exchange(haft_atomic_u64 *word, uint64_t value,
                                             haft_order order)
{
    return (uint64_t)HAFT_MSVC_BY_ORDER(order, _InterlockedExchange64, HAFT_MSVC_WORD(word),
                                        (long long)value);
}

/* More bits for the word; its value before. */
HAFT_ONLY_INLINE uint64_t haft_msvc_or(haft_atomic_u64 *word, uint64_t bits, haft_order order)
{
    return (uint64_t)HAFT_MSVC_BY_ORDER(order, _InterlockedOr64, HAFT_MSVC_WORD(word),
                                        (long long)bits);
}

/* Add to the word; its value before. */
HAFT_ONLY_INLINE uint64_t haft_msvc_add(haft_atomic_u64 *word, uint64_t value, haft_order order)
{
    return (uint64_t)HAFT_MSVC_BY_ORDER(order, _InterlockedExchangeAdd64, HAFT_MSVC_WORD(word),
                                        (long long)value);
}
#endif

/*
 * haft/detail/atomics.h - the part of haft's atomics that inline functions of public headers need.
 *
 * Every atomic operation of haft names its order in the function and the edge it belongs to as
 * its first argument; the edges are explained in docs/memory-model.md and at the top of each
 * source file that uses them.  lib/base/atomics.h adds what only the library needs.
 *
 * A build with -DHAFT_HOOKED leaves the operations to the program: each is a call of a function
 * that the program provides, with edge and order.  stress/explorer decides there which thread runs
 * next and which store a load reads; stress/lines.c counts cache lines that change hands.  Both
 * the explorer and stress/hooked.c can weaken an edge: turn all its operations to relaxed.  Some
 * test or checker must reject each edge so weakened.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any.
 * Ordering  as the name says.
 * Progress  wait-free.
 * Cost      O(1).
 */

#ifdef __cplusplus
#include <atomic>
typedef std::atomic<uint64_t> haft_atomic_u64;
#define HAFT_ORDER(name) std::memory_order_##name
#define HAFT_LOAD(pointer, order) (pointer)->load(order)
#define HAFT_STORE(pointer, value, order) (pointer)->store(value, order)
#define HAFT_CAS(pointer, expected, desired, order)                                                \
    (pointer)->compare_exchange_strong(expected, desired, order, std::memory_order_relaxed)
#define HAFT_C extern "C"
typedef std::memory_order haft_order;
#elif defined(HAFT_COMPILER_MSVC)
#define HAFT_ORDER(name) HAFT_ORDER_##name
#define HAFT_LOAD(pointer, order) haft_msvc_load(pointer, order)
#define HAFT_STORE(pointer, value, order) haft_msvc_store(pointer, value, order)
#define HAFT_CAS(pointer, expected, desired, order) haft_msvc_cas(pointer, expected, desired, order)
#define HAFT_C
#else
#include <stdatomic.h>
typedef _Atomic(uint64_t) haft_atomic_u64;
#define HAFT_ORDER(name) memory_order_##name
#define HAFT_LOAD(pointer, order) atomic_load_explicit(pointer, order)
#define HAFT_STORE(pointer, value, order) atomic_store_explicit(pointer, value, order)
#define HAFT_CAS(pointer, expected, desired, order)                                                \
    atomic_compare_exchange_strong_explicit(pointer, &(expected), desired, order,                  \
                                            memory_order_relaxed)
#define HAFT_C
typedef memory_order haft_order;
#endif

/* Signal handlers, and children of a fork, wait for no lock of an atomic operation. */
#if defined(ATOMIC_LLONG_LOCK_FREE) && ATOMIC_LLONG_LOCK_FREE != 2 &&                              \
    !defined(__GCC_HAVE_SYNC_COMPARE_AND_SWAP_8) /* clang 14 has only this for an i686 */
#error haft needs a lock-free 8-byte compare-and-swap
#endif

#define HAFT_RELAXED HAFT_ORDER(relaxed)
#define HAFT_ACQUIRE HAFT_ORDER(acquire)
#define HAFT_RELEASE HAFT_ORDER(release)
#define HAFT_ACQ_REL HAFT_ORDER(acq_rel)

/* The edges, then the reasons a relaxed operation may have. */
typedef enum haft_edge {
    HAFT_EDGE_NONE,
    HAFT_EDGE_PUBLISH,     /* object bytes before the word that makes them findable */
    HAFT_EDGE_TICKET,      /* frees of a batch before the grace period that covers its ticket */
    HAFT_EDGE_ELAPSED,     /* a grace period's end before reuse of what it covered */
    HAFT_EDGE_RING,        /* a batch's contents, to the thread that takes it from a ring */
    HAFT_EDGE_RING_ROOM,   /* reading a ring's cell before its owner writes it again */
    HAFT_EDGE_DEPOT,       /* a batch's contents, through the depot */
    HAFT_EDGE_POOL,        /* the last use of a batch descriptor before its next */
    HAFT_EDGE_WORKER_LIST, /* a worker's set-up before others can find it */
    HAFT_EDGE_ADOPT,       /* a closed worker's last state before its next owner's first use */
    HAFT_EDGE_FLOOR,       /* a run's floor, and its slots' last use, before the next draw */
    HAFT_EDGE_EXTENT,      /* a table's bump above fresh slots before others use them */
    HAFT_EDGE_TALLY,       /* frees that led to an insertion, before its count */
    HAFT_EDGE_ASK,         /* fresh slots in use before a refill no longer asks for them */
    HAFT_EDGE_QUIET,       /* reads of a worker's section before its end is seen */
    HAFT_EDGE_ARRIVE,      /* a worker online before later tickets, after earlier ones */
    HAFT_EDGE_HANDED,      /* batches handed over before the word that tells of them is cleared */
    HAFT_EDGE_TRANSIT,     /* what a worker did with waiting slots before it has none */
    HAFT_EDGE_PIN,         /* the use of a pinned object before the reuse of its memory */
    HAFT_EDGE_LIST,        /* a slot's free, to the thread that takes it from a list */
    HAFT_EDGE_WAKE,        /* a ticket before the clock thread that is woken for it looks */
    HAFT_EDGE_MEASURE, /* since when a grace period is waited for before the ticket that waits */
    HAFT_EDGE_COMMIT,  /* memory made writable before others rely on it */
    HAFT_EDGE_BLOCK,   /* the last use of a part of a block before its next owner's first */
    HAFT_EDGE_HOLD,    /* the uses of a counted object before its end */
    HAFT_EDGE_VALUE,   /* a slot's end before the words of its next object, if they are copied */
    HAFT_EDGE_SHARD,   /* a counted slot's last life, to the thread that takes it from a shard */
    HAFT_EDGE_QUEUE,   /* the same, from the queue of a table with min_free */
    HAFT_EDGE_RETURN,  /* the last use of a counted slot before its table's end */
    HAFT_EDGE_FRAME,   /* a frame of destructions, to signal handlers of its thread */
    HAFT_EDGE_SIDE,    /* a side's value before the id that makes it findable */
    /* reasons for relaxed operations */
    HAFT_EDGE_OWN,    /* only this thread writes it now */
    HAFT_EDGE_COUNT,  /* a statistic: read alone, nothing is inferred from it */
    HAFT_EDGE_ONWARD, /* it only moves on: a thread that knows of a step sees it */
    HAFT_EDGE_HINT,   /* a wrong answer costs time, never correctness */
    HAFT_EDGE_SAME,   /* a second look, after an acquire: the same value, nothing came between */
    HAFT_EDGE_RETRY   /* a first look; the compare-and-swap after it decides */
} haft_edge;

/* A macro, so that debuggers do not step into it. */
#define haft_load(edge, word, order) ((void)(edge), HAFT_LOAD(word, order))

HAFT_ONLY_INLINE void haft_store(haft_edge edge, haft_atomic_u64 *word, uint64_t value,
                                 haft_order order)
{
    (void)edge;
    HAFT_STORE(word, value, order);
}

HAFT_ONLY_INLINE bool haft_cas(haft_edge edge, haft_atomic_u64 *word, uint64_t expected,
                               uint64_t desired, haft_order order)
{
    (void)edge;
    return HAFT_CAS(word, expected, desired, order);
}

/* The word's value. */
#define haft_load_relaxed(reason, word) haft_load(reason, word, HAFT_RELAXED)

/* The word's value; what came before the release of it is visible. */
#define haft_load_acquire(edge, word) haft_load(edge, word, HAFT_ACQUIRE)

/* Another value for the word. */
HAFT_ONLY_INLINE void haft_store_relaxed(haft_edge reason, haft_atomic_u64 *word, uint64_t value)
{
    haft_store(reason, word, value, HAFT_RELAXED);
}

/* Another value for the word; earlier writes are visible to a thread that acquires it. */
HAFT_ONLY_INLINE void haft_store_release(haft_edge edge, haft_atomic_u64 *word, uint64_t value)
{
    haft_store(edge, word, value, HAFT_RELEASE);
}

/* Compare and swap; if it succeeds, what came before the release of `expected` is visible. */
HAFT_ONLY_INLINE bool haft_cas_acquire(haft_edge edge, haft_atomic_u64 *word, uint64_t expected,
                                       uint64_t desired)
{
    return haft_cas(edge, word, expected, desired, HAFT_ACQUIRE);
}

/*
 * haft/view.h - resolving ids: what every table has in common; refs, and walking over slots.
 *
 * A view is the immutable part of a table that resolving needs.  haft_local_view() and
 * haft_table_view() give it; it stays valid and unchanged until the table is closed, so copy it
 * wherever ids are resolved often.
 *
 * Memory: slot s lies at base + s * stride: first its atomic word, then the object.  A live slot's
 * word is exactly its object's id, and no other word is ever equal to an id that leads to its slot,
 * so one comparison answers everything: in range, live, right generation, and right table (for
 * certain with tag bits).
 *
 * Edges in this file.
 *   PUBLISH  haft_publish (release) -> haft_resolve, haft_is_live, haft_ref_get, haft_ref_is_live,
 *            haft_run_next (acquire)   object before word
 */

#ifdef __cplusplus
extern "C" {
#endif

/* The word at an address of bytes. */
#define HAFT_WORD(bytes) HAFT_CAST(const haft_atomic_u64 *, HAFT_CAST(const void *, bytes))

typedef struct haft_view {
    char *base;      /* slot 0's word */
    uint64_t mask;   /* number of slots in address space, a power of two, less one */
    uint64_t stride; /* bytes from slot to slot */
} haft_view;

/*
 * HAFT_VIEW_EMPTY - an initialiser: a view in which no id is found, whatever its bits, for what is
 * not open yet.  A typed view (haft/typed.h) cannot be made of it; those of haft/haft.hpp are empty
 * before they are a table's.
 *
 *   static haft_view ships = HAFT_VIEW_EMPTY;
 */
#define HAFT_VIEW_EMPTY                                                                            \
    {                                                                                              \
        HAFT_BITS(char *, HAFT_BITS(uintptr_t, haft_no_slots)), 1, sizeof(uint64_t)                \
    }

/* Two slots: ids that are odd lead to an even word, and even ones to an odd word. */
HAFT_CONSTANT(uint64_t haft_no_slots[2], 1, 0);

/* Not for programs: the word of the slot that an id leads to; for any bits at all, the table's. */
HAFT_INLINE const haft_atomic_u64 *haft_slot_of(haft_view view, haft_id id)
{
    return HAFT_WORD(view.base + (id.bits & view.mask) * view.stride);
}

/*
 * haft_resolve - the object an id names, or NULL.
 *
 * Returns   pointer to the object's bytes; NULL if `id` is HAFT_NIL, malformed, from another table,
 *           or names an object since freed.  A stale id is an answer, not an error.  Tag bits tell
 *           ids of other tables apart for certain, generations only by chance.
 * Threads   any thread inside a read section of the table's domain, alongside any call but
 *           haft_table_close().  The pointer may be used until the section ends, even if the object
 *           is freed meanwhile; threads that write to one object must synchronise among themselves.
 *           For a haft_local: the table's thread, until the object is freed.
 * Ordering  acquire when non-NULL: all that was written before haft_publish() is visible.  None
 *           when NULL.
 * Cost      O(1): one load of shared memory, no store, no branch on the index.
 */
HAFT_INLINE void *haft_resolve(haft_view view, haft_id id)
{
    char *at = view.base + (id.bits & view.mask) * view.stride;
    return haft_load_acquire(HAFT_EDGE_PUBLISH, HAFT_WORD(at)) == id.bits ? at + sizeof id : NULL;
}

/*
 * haft_is_live - whether the id names a live object at this moment.
 *
 * Returns   a momentary answer.  Another thread may free the object before the caller acts on it;
 *           only a resolve inside a read section closes that race.
 * Threads   any, also outside read sections, alongside any call but haft_table_close().  For a
 *           haft_local: the table's thread.
 * Ordering  acquire when true; none when false.
 * Cost      as haft_resolve().
 */
HAFT_INLINE bool haft_is_live(haft_view view, haft_id id)
{
    return haft_load_acquire(HAFT_EDGE_PUBLISH, haft_slot_of(view, id)) == id.bits;
}

/*
 * haft_resolve_many - resolve `count` ids, with the memory of later ones fetched meanwhile.  It
 * pays where much is done with each object before the next; else a loop of resolves is faster.
 *
 * Returns   how many of the ids are live.  objects[i] is what haft_resolve(view, ids[i]) gives.
 * Threads   as haft_resolve(); `ids` and `objects` are the caller's and may not overlap.
 * Ordering  as haft_resolve(), for each id.
 * Cost      O(count).
 */
size_t haft_resolve_many(haft_view view, const haft_id *ids, void **objects, size_t count);

/* --- refs: an id together with the place it leads to, checked without the table --- */

/*
 * A ref takes 16 bytes where an id takes 8 (12 with addresses of 32 bits), and spares the reader
 * the table's view.  It goes stale exactly when its id does, and is as safe to keep, with one
 * exception: it must not be used once its table has been closed.  (An id is still just a number
 * then.)  It stays good through haft_share(), haft_unshare() and haft_local_trim(), which leave
 * slots where they are.
 *
 * Refs are made by haft_ref_of() alone.  Zeroed memory is a nil ref.  A ref is not for saving or
 * sending, and one made of bytes from outside may point anywhere: give ids to others.
 *
 * Packed tables have none: their objects move.
 */

typedef struct haft_ref {
    haft_atomic_u64 *word; /* the slot's, with the object behind it; NULL: nil */
    haft_id id;
} haft_ref;

/*
 * haft_ref_of - a ref to the object that an id names; a nil one if it is not live at this moment.
 *
 * Threads   as haft_is_live().
 * Ordering  as haft_resolve().
 * Cost      as haft_resolve().
 */
HAFT_INLINE haft_ref haft_ref_of(haft_view view, haft_id id)
{
    char *object = HAFT_CAST(char *, haft_resolve(view, id));
    haft_ref ref = {NULL, {0}};

    if (object != NULL) {
        ref.word = HAFT_CAST(haft_atomic_u64 *, HAFT_CAST(void *, object - sizeof(uint64_t)));
        ref.id = id;
    }
    return ref;
}

/*
 * haft_ref_is_live - whether the object still lives at this moment, as haft_is_live().
 *
 * Threads   as haft_is_live().
 * Ordering  acquire when true; none when false.
 * Cost      one load and one comparison, and a test for nil.
 */
HAFT_INLINE bool haft_ref_is_live(haft_ref ref)
{
    return ref.word != NULL && haft_load_acquire(HAFT_EDGE_PUBLISH, ref.word) == ref.id.bits;
}

/*
 * haft_ref_get - the object, as haft_resolve() gives it for the ref's id; NULL also of a nil ref.
 *
 * Threads   as haft_resolve().
 * Ordering  as haft_resolve().
 * Cost      one load of shared memory and one comparison, and a test of the ref itself for nil.
 */
HAFT_INLINE void *haft_ref_get(haft_ref ref)
{
    return haft_ref_is_live(ref) ? ref.word + 1 : NULL;
}

/*
 * haft_ref_id - the id, live or not; HAFT_NIL of a nil ref.  No slot is touched.
 *
 * Threads   any; also after the table has been closed.
 */
HAFT_INLINE haft_id haft_ref_id(haft_ref ref)
{
    return ref.id;
}

/* --- runs: walking over slots that lie one after another --- */

/*
 * A run is a range of slots that are looked at in turn, by the view alone: no call, one load and
 * one comparison a slot.  It knows nothing of fresh slots: haft/scan.h, which leaves them out,
 * makes a run of each stretch between them.
 */

/* Slots by index: `from` and those after it, but not `to`.  Empty when they are equal. */
typedef struct haft_range {
    uint64_t from;
    uint64_t to;
} haft_range;

#ifdef __cplusplus
#define HAFT_RANGE(from, to) (haft_range{from, to})
#else
#define HAFT_RANGE(from, to) ((haft_range){from, to})
#endif

/* Every slot that a table has. */
#define HAFT_EVERYTHING HAFT_RANGE(0, UINT64_MAX)

/* A value like any other: a copy goes on independently. */
typedef struct haft_run {
    haft_view view;
    haft_range left; /* not looked at yet */
    char *slot;      /* where the first of these lies */
} haft_run;

/* haft_run_over - a run over the slots of `range`, without those that no table has. */
HAFT_INLINE haft_run haft_run_over(haft_view view, haft_range range)
{
    const uint64_t to = range.to > view.mask ? view.mask + 1 : range.to;
    const uint64_t from = range.from < HAFT_FIRST_INDEX ? HAFT_FIRST_INDEX : range.from;
    haft_run run = {view, {to, to}, view.base};

    if (from < to) {
        run.left.from = from;
        run.slot = view.base + from * view.stride;
    }
    return run;
}

/*
 * haft_run_next - the next live object of a run.
 *
 * Returns   true, the object's id in `*id` and its bytes in `*object`.  False, with both untouched,
 *           at the end.
 * Threads   one at a time; else as haft_resolve().
 * Ordering  acquire for each object: all that was written before haft_publish() is visible.
 * Cost      O(slots passed): one load and one comparison each, no store to shared memory.
 */
HAFT_INLINE bool haft_run_next(haft_run *run, haft_id *id, void **object)
{
    while (run->left.from < run->left.to) {
        const uint64_t index = run->left.from++;
        char *slot = run->slot;
        const uint64_t word = haft_load_acquire(HAFT_EDGE_PUBLISH, HAFT_WORD(slot));

        run->slot = slot + run->view.stride;
        if ((word & run->view.mask) == index) { /* only a live slot's word leads to itself */
            id->bits = word;
            *object = slot + sizeof(uint64_t);
            return true;
        }
    }
    return false;
}

/*
 * haft/clock.h - a grace period that the program brings: a foreign clock.
 *
 * A domain with HAFT_CLOCK_THREAD or HAFT_CLOCK_CALLER is given the read sections of another
 * library, and its way to wait for them, as a struct of callbacks.  haft/urcu.h has it for liburcu,
 * docs/job-systems.md a page on other ones.
 *
 *     section   the span in which a thread may use what it resolved: from begin() to the end() that
 *               matches it; or, of a clock with online() and offline(), from online(), or from one
 *               quiescent() to the next, or to offline()
 *
 * haft promises
 *
 *   - to call wait() outside sections and offline, by one thread at a time for each domain; but
 *     two domains may call it at once, and so may the program itself;
 *   - to pass on what changes: of the jobs of a thread the outermost one's beginning and end, as
 *     begin() and end() or as online() and offline(); online() only while inside() says false,
 *     offline() and quiescent() only while it says true;
 *   - to hold none of its locks around a callback;
 *   - to tell ThreadSanitizer where sections end and grace periods have passed.  Readers that call
 *     the other library directly make these notes themselves (haft/detail/tsan.h).
 *
 * ThreadSanitizer believes wait(): it misses one that returns too early or orders too little.  So a
 * clock is tried with objects that would show it, as in stress/live_on_free.
 */

/*
 * The callbacks are given `ctx`.  None calls haft, and none fails.  A callback whose comment does
 * not say "NULL" is required.
 */
typedef struct haft_foreign_clock {
    /*
     * The clock's identity; not NULL.  Two domains whose clocks have the same ctx have the same
     * sections and jobs, and a thread registers once for both.
     */
    void *ctx;

    /*
     * Wait for a full grace period.  For every section, of threads that began one at any time:
     * either the section's end happens before the return, or all that was sequenced before the call
     * happens before the section's first access.  (Happens before: as in C11, also for plain data.)
     * Called from any thread, also from one that is not registered: a background thread of haft's,
     * or a thread that closes a table.  What the other library needs of such a thread, a record
     * perhaps, the callback provides.
     */
    void (*wait)(void *ctx);

    /* Before the calling thread's first section, and after its last.  NULL: needs no telling. */
    void (*register_thread)(void *ctx);
    void (*unregister_thread)(void *ctx);

    /*
     * A section of the calling thread; sections nest.  NULL, both: the clock has online() and
     * offline() alone.
     */
    void (*begin)(void *ctx);
    void (*end)(void *ctx);

    /*
     * For clocks whose threads are in a section all the time while they are online.  online(): the
     * calling thread comes online; offline(): it goes offline; quiescent(): it stays online, and
     * holds no resolved pointer at this moment.  With these, inside() is required.
     * NULL, all three: the clock has begin() and end() alone.
     */
    void (*online)(void *ctx);
    void (*offline)(void *ctx);
    void (*quiescent)(void *ctx);

    /*
     * Whether the calling thread, registered or not, is inside a section; with online(): whether it
     * is online.  NULL: calls that wait inside a section are not refused with HAFT_IN_SECTION, and
     * wait for themselves; but those inside an inner job are refused.
     */
    bool (*inside)(void *ctx);

    /*
     * Whether the calling thread may begin a section, or come online; debug builds assert it.
     * NULL: not asked, and haft_worker_open() brings no thread online.
     */
    bool (*is_registered)(void *ctx);

    void *reserved[4]; /* NULL: for later callbacks */
} haft_foreign_clock;

/*
 * haft/diagnose.h - what is wrong with an id or a table, for programs and for people.
 *
 *   haft_require(), on_bad_access                 ids that must be live
 *   sites, on_leak                                where objects were allocated and freed
 *   haft_table_explain(), haft_diagnose_format()  answers in words
 *
 * haft_diagnose() and its kin, which answer with a status, are with their tables.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  Functions that write text: the number of
 *           characters without the final zero, as snprintf does: more than size - 1 means that the
 *           text was cut.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */

/* See haft/table.h and haft/local.h. */
typedef struct haft_table haft_table;
typedef struct haft_worker haft_worker;
typedef struct haft_local haft_local;

/* --- ids that must be live: a pointer, or the table's on_bad_access --- */

/*
 * For code that would only check for NULL and give up.  An id that may be stale in a right program
 * is resolved, not required: in a shared table that is every id that another thread may free.
 *
 * `view` is the table's own, as haft_local_view() and its kin gave it: kept beside the table, so
 * that a live id costs no call.  Each table has one policy, the option on_bad_access.  Without one
 * the program ends with a line on stderr such as
 *
 *   haft: ships: 17v3: the object has been freed (HAFT_STALE)
 *
 * Only haft_require() and its kin ask for it: haft_resolve() goes on answering NULL.
 */

typedef struct haft_bad_access {
    const char *table;  /* its name */
    haft_layout layout; /* to format the id with */
    haft_id id;
    haft_status status; /* what is wrong with it; never HAFT_OK */
} haft_bad_access;

/*
 * on_bad_access: called by haft_require() and its kin on the thread that asked, inside whatever
 * read section that is in; it may call what that thread may.  `access` lasts until it returns; the
 * answer is NULL then.  It may also leave by longjmp(), but not out of a callback of haft.
 */
typedef void haft_on_bad_access(const haft_bad_access *access, void *arg);

/*
 * haft_bad_access_format - table, id and status in one line, without a line end, as above from the
 * name on.
 *
 * Cost      two snprintfs.
 */
int haft_bad_access_format(const haft_bad_access *access, char *text, size_t size);

/*
 * Not for programs: the functions below call these where an id does not resolve.  `slot` is where
 * the view has its slots; debug builds assert that they are the table's.
 */
HAFT_COLD void *haft_require_failed(const haft_table *table, haft_id id, const void *slot);
HAFT_COLD void *haft_local_require_failed(const haft_local *local, haft_id id, const void *slot);

/*
 * haft_require - the object an id names; else the table's on_bad_access, with what haft_diagnose()
 * says of the id.  An id that is published meanwhile resolves after all.
 *
 * Returns   as haft_resolve().  NULL after on_bad_access has returned; without one the program is
 *           aborted.
 * Threads   as haft_resolve().
 * Ordering  as haft_resolve().
 * Progress  wait-free where the id is live; else lock-free except for on_bad_access.
 * Cost      that of haft_resolve(); the rest only for an id that is not live.
 */
HAFT_INLINE void *haft_require(const haft_table *table, haft_view view, haft_id id)
{
    void *object = haft_resolve(view, id);

    return HAFT_IF_LIKELY(object != NULL) ? object : haft_require_failed(table, id, view.base);
}

/*
 * haft_local_require - the same for a local table.
 *
 * Threads   as haft_resolve() of a local table.
 * Progress  wait-free except for on_bad_access.
 * Cost      as haft_require().
 */
HAFT_INLINE void *haft_local_require(const haft_local *local, haft_view view, haft_id id)
{
    void *object = haft_resolve(view, id);

    return HAFT_IF_LIKELY(object != NULL) ? object
                                          : haft_local_require_failed(local, id, view.base);
}

/* --- where objects were allocated and freed: for finding leaks and stale ids --- */

/*
 * A table that is opened with `sites` keeps for each slot where in the program it was last
 * reserved or inserted into, and where its object was freed: the address that the call of haft
 * returns to.  haft_diagnose_format() and its kin tell; so does the line with which haft_require()
 * ends the program; and when the table is closed, objects that are still live are reported.
 *
 * It costs 16 bytes a slot, and the short paths of insertion and free.  It works in every build.
 * Functions have names in the texts where the program keeps them (-rdynamic); else
 * `addr2line -e PROGRAM OFFSET` finds file and line.
 *
 * An object that a command set creates (haft/kit/commands.h) was allocated where its recorder was
 * opened, one that it destroys freed where the set was applied.
 */

/* Objects that were live when their table was closed, all allocated at one site. */
typedef struct haft_leak {
    const char *table; /* its name */
    const void *site;  /* NULL: not known, or one of too many, counted together */
    uint64_t count;
    haft_layout layout; /* to format the id with */
    haft_id first;      /* of these objects, the one with the lowest index */
} haft_leak;

/*
 * on_leak: called by haft_local_close(), haft_table_clear(), haft_table_close() and their kin of a
 * table with `sites`, once for each site where objects that are still live were allocated, the most
 * objects first; before on_destroy or on_reclaim runs for them.  It may not call the table.
 * Without one, each is a line on stderr such as
 *
 *   haft: ships: 12 objects are live at closing, allocated at spawn+0x41 (game+0x2c51), such as
 *   17v3
 */
typedef void haft_on_leak(const haft_leak *leak, void *arg);

/*
 * haft_leak_format - a leak in one line, without a line end: as above, from the name on.
 *
 * Progress  blocking (dladdr).
 * Cost      some snprintfs, and looking the site up.
 */
int haft_leak_format(const haft_leak *leak, char *text, size_t size);

/*
 * haft_site_format - a site in words: "spawn+0x41 (game+0x2c51)", the function, and the program or
 * library with the offset in it, both of the calling instruction's last byte; less where less is
 * known, "somewhere" for NULL.
 *
 * Progress  blocking (dladdr).
 * Cost      looking the site up.
 */
int haft_site_format(const void *site, char *text, size_t size);

/* --- answers in words, for people: why an insertion failed, what became of an id --- */

/*
 * haft_table_explain, haft_local_explain - what a status that the table gave means now, in one line
 * without a line end:
 *
 *   players: full: capacity 4,096; 4,000 live, 90 reserved, 6 slots exhausted
 *   players: busy: 512 slots wait for a grace period, which has lasted 1.2 s; worker 0x55d0c0ffee40
 *   of thread 4711 holds it up
 *   players: in use: 2 workers open, and sides
 *
 * The numbers are those of this call, not of the one that failed.  Other statuses get the table's
 * name and their haft_status_text().
 *
 * Threads   any; haft_local: one.
 * Progress  wait-free; haft_table_explain with HAFT_IN_USE: blocking (a lock held for moments).
 * Cost      O(workers ever open at one time); haft_local: O(1).
 */
int haft_table_explain(const haft_table *table, haft_status status, char *text, size_t size);
int haft_local_explain(const haft_local *local, haft_status status, char *text, size_t size);

/*
 * haft_diagnose_format, haft_local_diagnose_format - what haft_diagnose() and its kin say of an id,
 * in one line without a line end; with the sites of its slot as far as they are the id's own, in a
 * table that was opened with `sites`:
 *
 *   ships: 17v3: the object has been freed (HAFT_STALE), at sink+0x41 (game+0x2d01); allocated at
 *   spawn+0x41 (game+0x2c51)
 *
 * Threads   any; haft_local: one.
 * Progress  wait-free; with `sites` blocking (dladdr).
 * Cost      O(1): some snprintfs, and looking sites up.
 */
int haft_diagnose_format(const haft_table *table, haft_id id, char *text, size_t size);
int haft_local_diagnose_format(const haft_local *local, haft_id id, char *text, size_t size);

#ifdef __cplusplus
}
#endif

/*
 * haft/detail/options.h - the options that haft_local_options, haft_packed_options and
 * haft_table_options have in common.
 *
 * They are the first members of all three, in this order, and a program writes them as any other:
 * {.capacity = 1000, .object_size = sizeof(struct ship)}.  An option of every table stands here
 * alone, in place of a part of `reserved`, so that the members behind it stay where they are.
 */

/* What a table needs, of given memory or else of address space, and how many objects fit in that.
 * Windows counts as in use what is committed, though pages take memory when they are first written:
 * all that a forged id may lead to in a view; of a haft_counted, and of what a haft_table has
 * beside its slots, steps of 1/32, from 64 KiB to 2 MiB, as they come into use. */
typedef struct haft_footprint {
    uint64_t bytes;       /* wherever they begin */
    uint64_t capacity;    /* the highest that needs no more, with as many slots to hold back */
    uint64_t committed;   /* of the bytes, on Windows, when the table has been opened */
    uint64_t reserved[1]; /* 0; for what a later version says */
} haft_footprint;

/* See haft/domain.h. */
typedef struct haft_domain haft_domain;

/* What a table was opened with, as haft_local_info() and its kin say. */
typedef struct haft_info {
    const char *name; /* the table's: as long as it is open */
    uint64_t capacity;
    size_t object_size;
    haft_layout layout;
    uint64_t tag;
    haft_domain *domain; /* of a haft_table; NULL for others */
    bool pins;
    uint64_t reserved[2]; /* 0; for what a later version says */
} haft_info;

/* As first_generation: a random one, from the lower half of the layout's.  Ids of other tables, and
 * of the last run, then fail except for one in 2^(generation_bits - 1); tags make that certain.
 * Half of a slot's lives remain, opening takes a system call, and most ids of another table cannot
 * be restored: HAFT_STALE. */
#define HAFT_RANDOM_GENERATION 0xFFFFFFFFFFFFFFFFu

#define HAFT_COMMON_OPTIONS                                                                        \
    const char *name;   /* for messages; copied; NULL: the kind of the table */                    \
    uint64_t capacity;  /* objects that fit; 1 to 2^index_bits - 4 */                              \
    size_t object_size; /* bytes, up to 2^30; 0 (not packed): an allocator of ids */               \
                                                                                                   \
    /* 0: as malloc() would align: to the largest power of two that divides the size, from 8 */    \
    /* up to what max_align_t has (16 on most systems); packed objects lie as their size has */    \
    /* it.  A slot is the object and 8 bytes, rounded up to the alignment: 8 makes it 8 bytes */   \
    /* smaller where the size is a multiple of 16 and no member needs 16. */                       \
    size_t object_alignment; /* power of two up to 4096; packed: divides the size */               \
                                                                                                   \
    haft_layout layout; /* all zero: HAFT_LAYOUT_32_32 */                                          \
    uint64_t tag;       /* fits tag_bits */                                                        \
                                                                                                   \
    /* Of each slot's first life; 0: 1.  So tables that are opened and used alike issue the */     \
    /* same ids, in each run and process: an id of one may resolve in another, unless their */     \
    /* types (typed.h, haft::id<T>) or their tags differ. */                                       \
    uint64_t first_generation; /* or HAFT_RANDOM_GENERATION */                                     \
                                                                                                   \
    haft_on_bad_access *on_bad_access; /* of haft_require() and its kin; NULL: abort */            \
    bool sites;                        /* keep allocation sites: see haft/diagnose.h */            \
    haft_on_leak *on_leak;             /* with sites: of objects live at closing; NULL: stderr */  \
    void *report_arg;                  /* passed to both handlers */                               \
                                                                                                   \
    const struct haft_allocator *allocator; /* copied; NULL: malloc.  See haft/memory.h */         \
                                                                                                   \
    uint64_t reserved[2] /* 0; for options that a later version gives to every table */

/*
 * haft/detail/stats.h - the statistics of tables and domains: the one list of each.
 *
 *   X(name, kind, unit, meaning)   kind: counter, which never falls, or gauge
 *
 * haft_table_stats, haft_domain_stats, haft_local_stats and haft_counted_stats consist of them, in
 * this order; the file of an export, haft-top's metrics, gdb's printer and the HTML pages take them
 * from here.  concurrent/table/stats.c says how each is made of the workers' counters.
 */

#define HAFT_TABLE_STATS(X)                                                                        \
    X(live, gauge, objects, "published and not freed")                                             \
    X(reserved, gauge, slots, "reserved, neither published nor given up")                          \
    X(retired, gauge, slots, "freed, not reclaimed yet: before or after a grace period")           \
    X(free, gauge, slots, "reclaimed, to be reserved or restored again")                           \
    X(exhausted, gauge, slots, "lived all their generations")                                      \
    X(released, gauge, slots, "not drawn since their memory was released: haft/memory.h")          \
    X(high_water, gauge, slots, "ever used: all of the above together")                            \
    X(capacity, gauge, objects, "fit, as opened")                                                  \
    X(limit, gauge, slots, "can be: capacity, and what workers hold back")                         \
    X(batches_moved, counter, batches, "went from one worker to another or to the depot")          \
    X(workers, gauge, workers, "open now")                                                         \
    X(created, counter, objects, "ever published, shared or restored")                             \
    X(freed, counter, objects, "ever freed")                                                       \
    X(refused_frees, counter, frees, "of ids that were not live")

#define HAFT_DOMAIN_STATS(X)                                                                       \
    X(grace_periods, counter, periods, "ended and let something be reused (frame: ticks)")         \
    X(longest_grace_period_ns, gauge, ns, "0 before the first, and with the frame clock")          \
    X(backlog, gauge, tickets, "batches that wait: requested and not done")                        \
    X(stalls, counter, stalls, "noticed")

/*
 * Of haft_local: a name of the list above has its meaning there.  After haft_unshare() slots that a
 * worker had drawn and not used count too: in `high_water`, and in `released` where they fill page
 * runs, else in `free`.
 */
#define HAFT_LOCAL_STATS(X)                                                                        \
    X(live, gauge, objects, "published and not freed")                                             \
    X(reserved, gauge, slots, "reserved, neither published nor given up")                          \
    X(retired, gauge, slots, "freed, not reclaimed yet: on_destroy runs")                          \
    X(free, gauge, slots, "reclaimed, to be reserved or restored again")                           \
    X(exhausted, gauge, slots, "lived all their generations")                                      \
    X(released, gauge, slots, "not drawn since their memory was released: haft/memory.h")          \
    X(high_water, gauge, slots, "ever used: all of the above together")                            \
    X(capacity, gauge, objects, "fit, as opened, grown by haft_unshare() or loaded")               \
    X(limit, gauge, slots, "can be: capacity, min_free, and what workers held back")               \
    X(bytes, gauge, bytes, "of memory in use: the table, its slots and what belongs to them")

/* Of haft_counted: a walk counts them, except for high_water, capacity, limit and bytes. */
#define HAFT_COUNTED_STATS(X)                                                                      \
    X(live, gauge, objects, "published and not freed")                                             \
    X(held, gauge, objects, "live, and held")                                                      \
    X(reserved, gauge, slots, "reserved, neither published nor given up")                          \
    X(ended, gauge, objects, "freed, and still held or being destroyed")                           \
    X(free, gauge, slots, "used before, to be used again")                                         \
    X(exhausted, gauge, slots, "lived all their generations")                                      \
    X(high_water, gauge, slots, "ever used: live, reserved, ended, free and exhausted")            \
    X(capacity, gauge, objects, "fit, as opened")                                                  \
    X(limit, gauge, slots, "can be: capacity and min_free")                                        \
    X(bytes, gauge, bytes, "of memory in use: the table and the slots ever used")

/* A struct of them has room for more, so that a later version has the same struct. */
#define HAFT_STATS_MEMBER(name, kind, unit, meaning) uint64_t name;
#define HAFT_STATS_COUNT(name, kind, unit, meaning) +1
#define HAFT_TABLE_STATS_ROOM 24
#define HAFT_DOMAIN_STATS_ROOM 8
#define HAFT_LOCAL_STATS_ROOM 16
#define HAFT_COUNTED_STATS_ROOM 16

/*
 * haft/detail/tsan.h - the only file that knows ThreadSanitizer exists.
 *
 * The sanitizer cannot see the grace periods of a foreign clock (haft/clock.h).  These two notes
 * tell it about the edge from the last read section that could have used an object to the reuse of
 * its memory.  It believes the clock of sections that have ended by then.  Without the
 * sanitizer they are nothing.
 *
 * A thread that leaves a read section through haft/domain.h or haft_worker_quiescent() needs
 * nothing of this.  A thread that calls the other library directly in a program built with
 * -fsanitize=thread calls haft_note_reader_left() just before the outermost end of a section (of
 * liburcu: read_unlock) and, with qsbr, before quiescent_state, thread_offline, unregister_thread
 * and a synchronize_rcu of the program's.
 *
 * Cost under the sanitizer: one token serves the whole process, so a reader that began later and
 * left before the grace period was noted is ordered as well; that can hide a race.
 */

#if defined(__SANITIZE_THREAD__)
#define HAFT_UNDER_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAFT_UNDER_TSAN 1
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_note_reader_left, haft_note_grace_elapsed - a read section of the calling thread ends; a
 * grace period has just been waited for, which is noted nowhere else, so that freeing without
 * waiting stays reported.
 *
 * Ordering  none, but in the sanitizer's eyes: release; acquire.
 * Cost      nothing without the sanitizer.
 */
#ifdef HAFT_UNDER_TSAN
/* Weak and visible, so that one of all files' and shared libraries' is kept: a library that is
 * compiled without the sanitizer defines none. */
__attribute__((weak, visibility("default"))) char haft_grace_token;
void __tsan_acquire(void *address);
void __tsan_release(void *address);

HAFT_ONLY_INLINE void haft_note_reader_left(void)
{
    __tsan_release(&haft_grace_token);
}

HAFT_ONLY_INLINE void haft_note_grace_elapsed(void)
{
    __tsan_acquire(&haft_grace_token);
}
#else
HAFT_ONLY_INLINE void haft_note_reader_left(void)
{
}

HAFT_ONLY_INLINE void haft_note_grace_elapsed(void)
{
}
#endif

/*
 * haft/domain.h - the domain: what decides when a freed slot may be reused; its read sections and
 * jobs.
 *
 * A freed object's memory is reused only after a grace period: when every read section that was
 * open at the free has ended.  A domain has a clock, which finds out when that is; any number of
 * tables share it.  The clock says what a read section is:
 *
 *   thread, caller   the sections of the foreign clock it was opened with: of another library, such
 *                    as liburcu (see below)
 *   workers          from one haft_worker_quiescent() of a thread to the next; only threads with
 *                    an open worker on the domain may resolve
 *   frame            from one haft_domain_tick() to the next; any thread may resolve
 *
 * Batches of freed slots take tickets; the driver of the clock waits for one full grace period and
 * then marks all tickets that were taken before it began as done.
 *
 * HAFT_IN_CALLBACK says that the calling thread is inside a callback; HAFT_IN_SECTION that it is in
 * an inner job (not with the frame clock), or in a section of a foreign clock that can tell
 * (liburcu's except qsbr).  With qsbr and the workers clock, calls that wait are quiescent points
 * of the calling thread: pointers that it resolved before are void.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing has
 *           changed.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */

/*
 * The clocks.  X(UPPER, lower): HAFT_CLOCK_UPPER, which is called "lower" in messages.
 *
 *   HAFT_CLOCK_WORKERS   the default, for threads that come to quiescent points often.  Workers
 *                        announce them, and any thread looks for the lowest announcement: no fence,
 *                        no system call, no other thread.  What waits (haft_worker_quiescent,
 *                        haft_..._wait, haft_table_close) gives the processor up and looks again.
 *                        No foreign clock
 *   HAFT_CLOCK_THREAD    for programs that have read sections of a foreign clock: that clock, and a
 *                        background thread per domain that waits for its grace periods, asleep
 *                        when nothing is requested
 *   HAFT_CLOCK_CALLER    a foreign clock; the threads that need its grace periods wait for them, in
 *                        the calls named above, without a background thread
 *   HAFT_CLOCK_FRAME     for frames that end in a barrier of all threads: the program's
 *                        haft_domain_tick() between them; no foreign clock
 */
#define HAFT_CLOCKS(X) X(WORKERS, workers) X(THREAD, thread) X(CALLER, caller) X(FRAME, frame)
#define HAFT_NUMBERED_CLOCK(UPPER, lower) HAFT_CLOCK_##UPPER,

typedef enum haft_clock {
    HAFT_CLOCKS(HAFT_NUMBERED_CLOCK) /* from 0 on */
    HAFT_CLOCK_COUNT                 /* how many there are; not a clock */
} haft_clock;

/* What the stall callback is told. */
typedef struct haft_stall {
    haft_domain *domain;
    uint64_t waited_ns; /* how long a grace period has been waited for */
    uint64_t backlog;   /* batches of freed slots that wait for it */

    /* Workers clock: what holds it up.  Others, or not known: NULL and 0. */
    struct haft_worker *worker; /* one that this thread has open, to be compared and printed */
    uint64_t thread;            /* as the system numbers it (gettid) */
} haft_stall;

/* All zero, as a NULL in their place: the workers clock, and stalls reported after a second. */
typedef struct haft_domain_options {
    /*
     * Thread, caller: required, such as haft_urcu_memb() of haft/urcu.h, or the program's own; it
     * is copied.  In the child of a fork: one that can wait there (haft/table.h).  Workers, frame:
     * NULL.
     */
    const haft_foreign_clock *foreign_clock;
    haft_clock clock;

    /*
     * Called when a grace period in progress has lasted stall_ns, once per stall: by a worker on a
     * slow path (no free slot at hand; a quiescent point while 1,024 slots wait, fewer of large
     * objects, or any for an on_reclaim), or by a thread that waits for another one's grace period.
     * If no other thread runs, a stall of a wait in a foreign clock goes unnoticed.  The frame
     * clock has no stalls.  The callback may look at statistics and diagnose ids, but neither
     * resolve (the thread may be offline), insert or free, nor open workers; what waits or closes
     * answers HAFT_IN_CALLBACK.  It is not called inside another callback.  NULL: one line on
     * stderr says which domain waits, for how long, which thread holds it up if the clock can tell,
     * and what to do.  stall_ns 0: one second.
     */
    void (*on_stall)(const haft_stall *stall, void *stall_arg);
    void *stall_arg;
    uint64_t stall_ns;

    /* For the domain and, with the workers clock, 64 bytes a thread; copied; NULL: malloc. */
    const struct haft_allocator *allocator;
} haft_domain_options;

/* grace_periods, backlog and so on, with their meanings in haft/detail/stats.h. */
typedef struct haft_domain_stats {
    HAFT_DOMAIN_STATS(HAFT_STATS_MEMBER)
    uint64_t room[HAFT_DOMAIN_STATS_ROOM - (HAFT_DOMAIN_STATS(HAFT_STATS_COUNT))]; /* 0 */
} haft_domain_stats;

/*
 * haft_domain_open, haft_domain_open_sized - a new domain; `options` NULL: all defaults.
 *
 * Returns   HAFT_OK and the domain in `*domain`; HAFT_UNKNOWN_OPTION, HAFT_BAD_FOREIGN_CLOCK,
 *           HAFT_BAD_CLOCK, for the option of that name; HAFT_NO_MEMORY, HAFT_NO_THREAD.
 * Threads   any, registered or not.  Hand `*domain` over to others as any other pointer.
 * Progress  blocking (HAFT_CLOCK_THREAD starts a thread, which blocks all signals).
 */
haft_status haft_domain_open_sized(const haft_domain_options *options, size_t size,
                                   haft_domain **domain);
HAFT_INLINE haft_status haft_domain_open(const haft_domain_options *options, haft_domain **domain)
{
    return haft_domain_open_sized(options, sizeof *options, domain);
}

/*
 * haft_domain_close - the end of a domain.
 *
 * Returns   HAFT_OK, or
 *             HAFT_IN_USE        a table is open on it
 *             HAFT_IN_SECTION    in any job of this clock, or parked in one, or with qsbr and the
 *                                workers clock parked at all; or in a section of a clock that
 *                                can tell.  Not with the frame clock
 *             HAFT_IN_CALLBACK   in a callback
 * Threads   one thread outside read sections, when no other thread uses the domain any more.  Debug
 *           builds assert with the workers and the frame clock that all sections have ended, with
 *           the frame clock all jobs too.
 * Progress  blocking: waits for a grace period that the clock's own thread has begun.
 */
haft_status haft_domain_close(haft_domain *domain);

/*
 * haft_domain_wait - wait until all that was freed and flushed before may be reused.  What sits in
 * a worker's open batch, or was freed by haft_table_free(), is not covered: haft_worker_flush()
 * retires it.
 *
 * Returns   HAFT_OK; HAFT_IN_SECTION; HAFT_IN_CALLBACK, also if nothing waits; and if something
 *           does,
 *             HAFT_BUSY     frame clock: only a tick will help
 *             HAFT_FORKED   in the child of a fork: see haft/table.h
 * Threads   any thread outside read sections.
 * Ordering  acquire: what other threads did in read sections that were waited for is visible, and
 *           what they did before they retired freed slots.
 * Progress  blocking: waits for readers.
 * Cost      a grace period, unless nothing was requested.
 */
haft_status haft_domain_wait(haft_domain *domain);

/*
 * haft_domain_tick - frame clock: the end of one frame and the beginning of the next.  All that was
 * freed and flushed before may be reused; a free that meets the tick counts for the next frame.
 * What sits in a worker's open batch stays there: haft_worker_quiescent() by each worker at the end
 * of its frame retires what is worth it.
 *
 * Returns   HAFT_OK; HAFT_WRONG_CLOCK, the domain has another clock; HAFT_IN_CALLBACK.
 * Threads   one thread, while no thread holds a resolved pointer: the program's own synchronisation
 *           (the end of the frame's jobs) comes between.  Debug builds assert that all sections
 *           have ended.
 * Ordering  release: the frame's uses come before the reuse of freed slots.
 * Progress  lock-free.
 */
haft_status haft_domain_tick(haft_domain *domain);

/*
 * haft_domain_stats_get - the clock's counters: each is exact; together they may be of different
 * moments.
 */
haft_domain_stats haft_domain_stats_get(const haft_domain *domain);

/* --- read sections and jobs: the span in which a resolved pointer stays valid --- */

/*
 * With the thread and the caller clock these functions call the foreign clock that the domain was
 * opened with, and tell ThreadSanitizer (haft/detail/tsan.h).  Readers that want liburcu's inlined
 * read lock call it directly instead; haft's headers never define _LGPL_SOURCE.
 *
 *   with begin()    a section lasts from haft_section_begin() to haft_section_end(); a thread's
 *                   sections nest.  Of liburcu: memb, mb, bp
 *   with online()   begin and end do nothing: a section lasts from one quiescent point
 *                   (haft_worker_quiescent, haft_thread_offline) to the next.  Of liburcu: qsbr,
 *                   which stands for all such clocks in what follows
 *   workers         as qsbr: a section lasts from one quiescent point of a thread with open workers
 *                   on the domain to the next; register, begin and end do nothing.  Debug builds
 *                   assert that a thread that looks (haft_scan(), a cursor, haft_pin(),
 *                   haft_require()) is online, unless no thread is
 *   frame           all of them do nothing: a section lasts from tick to tick (debug builds count)
 *
 * Threads that run jobs of a job system use haft_job_begin() and haft_job_end() instead: the same
 * calls work on every clock, and they nest.
 *
 * Sections and jobs belong to the foreign clock, not to one domain: with qsbr a quiescent point for
 * one domain is one for all.  Calls that wait, haft_worker_quiescent() among them, are made outside
 * the sections of every domain and foreign clock: two threads, each in a section of the domain that
 * the other waits for, would wait for ever.  So a thread that is online in several (with qsbr, or
 * with open workers on domains with the workers clock) goes offline in the others first.
 *
 * In a signal handler (on its thread's own stack) these are allowed: haft_section_begin,
 * haft_section_end, haft_resolve and its kin, haft_is_live, haft_diagnose.  Nothing that allocates,
 * frees, pins or waits: the handler could interrupt the same call.
 *
 *   memb, mb, bp   at any time on a registered thread, inside a section of the handler's own; other
 *                  foreign clocks with begin() if that may be called there
 *   qsbr, workers  while the thread is online.  The signal is blocked around its quiescent points,
 *                  its time offline, and all that waits, and pointers do not outlive the handler
 *   frame          the handler is one of the frame's jobs: the signal is blocked during the tick
 *
 * A thread is registered before its first section and unregistered after its last, once for each
 * foreign clock, not for each domain.  With qsbr, a thread that sleeps or blocks goes offline
 * first: while it is online, every grace period waits for its next quiescent point.
 */

/*
 * haft_thread_register, haft_thread_unregister - the calling thread begins or ends to have read
 * sections of the domain's foreign clock.  With qsbr it is online from register to unregister.
 *
 * Threads   the calling thread, in turn, outside read sections; not one that the other library's
 *           own call has registered.
 * Ordering  unregister: release towards grace periods.
 * Progress  as the foreign clock's callback (liburcu: blocking, a registry's lock).
 */
void haft_thread_register(haft_domain *domain);
void haft_thread_unregister(haft_domain *domain);

/* What haft_job_begin and haft_thread_park return, to be given back as it is. */
typedef struct haft_job_state {
    uint64_t thread;
    uint32_t level;
    uint32_t open;
} haft_job_state;

/*
 * haft_section_begin, haft_section_end - a read section of the calling thread.
 *
 * Threads   a registered thread.
 * Ordering  end: release towards grace periods.
 * Progress  as the foreign clock's callback (liburcu: wait-free).
 * Cost      a call through a pointer, and the foreign clock's.
 */
void haft_section_begin(haft_domain *domain);
void haft_section_end(haft_domain *domain);

/*
 * haft_job_begin, haft_job_end - a job of the calling thread.  What it resolves stays valid until
 * its end, on every clock, also while the thread runs other jobs inside it.
 *
 * Jobs nest.  The outermost one comes online, or begins a read section, and its end goes offline;
 * inner ones change nothing that another thread sees.  In a thread that is online without a job
 * (from haft_thread_register with qsbr, from its first worker with the workers clock) all jobs are
 * inner ones.  So a thread that only runs jobs goes offline once, or opens its first worker in a
 * job.
 *
 * In an inner job haft_worker_quiescent() only retires freed slots, and calls that wait answer
 * HAFT_IN_SECTION.  In an outermost one both void the pointers that it resolved before, on every
 * clock.
 *
 * Workers clock: a thread that closes its last worker in a job is online until that ends.  Frame
 * clock: nothing happens, but debug builds count jobs as sections.  A thread can be in jobs of 8
 * foreign clocks at once: a ninth ends the process (docs/job-systems.md).
 *
 * Returns   begin: the state before, to be given to end, the last one first.
 * Threads   a registered thread; workers clock: any.  end: the same thread, before it ends; debug
 *           builds assert it.  So the job of a fiber ends before that moves to another thread.
 * Ordering  outermost end: release towards grace periods.
 * Progress  as haft_section_begin(), or haft_thread_online() with qsbr and the workers clock, where
 *           the first job of a thread without workers allocates (docs/job-systems.md).
 * Cost      inner: a few loads and stores of the thread's own.  Outermost: as haft_section_begin(),
 *           or haft_thread_online().
 */
haft_job_state haft_job_begin(haft_domain *domain);
void haft_job_end(haft_domain *domain, haft_job_state state);

/*
 * haft_thread_park, haft_thread_unpark - before the calling thread blocks (a join, a barrier, a
 * sleep), or waits where it may be given other jobs to run, it lets go of all that it has resolved;
 * afterwards it is online, or in its job, as before.  A lock that is held for moments needs
 * neither, as long as no thread makes a call that waits while it holds that lock.  Before a long
 * park haft_worker_flush() hands over the slots that its workers hold.
 *
 * From park to unpark no grace period waits for the thread: pointers that any of its jobs resolved
 * are void.  A job that begins meanwhile is an outermost one.  A worker that is opened meanwhile
 * brings the thread online until it is closed.  Nothing happens with the frame clock, nor with the
 * workers clock in a thread without workers and jobs.
 *
 * Returns   park: the state before, to be given to unpark.
 * Threads   a registered thread, workers clock: any, outside haft_section_begin() and _end().
 *           unpark: the same thread, when all jobs that began since have ended.
 * Ordering  park: release towards grace periods.
 * Progress  as haft_thread_offline() and haft_thread_online().
 * Cost      as haft_thread_offline() and haft_thread_online().
 */
haft_job_state haft_thread_park(haft_domain *domain);
void haft_thread_unpark(haft_domain *domain, haft_job_state state);

/*
 * haft_thread_offline, haft_thread_online - with qsbr and the workers clock: no grace period waits
 * for the calling thread while it is offline, and it may not resolve.  Others: nothing happens.
 *
 * What an outer job holds is void as well: debug builds assert that no inner job goes offline
 * (haft_thread_park() does in any), and that no callback goes offline or parks, which does nothing
 * there.  In a thread that is parked, in no job that began since, both do nothing.  A worker that
 * is opened offline brings the thread online until it is closed.
 *
 * Threads   a registered thread; in turn.  Workers clock: one with an open worker (else nothing
 *           happens); the next one that it opens after the last has closed brings it online.
 * Ordering  offline: release towards grace periods.
 * Progress  wait-free, except for waking a thread that waits for this one.
 * Cost      a full fence; workers clock: one store, and one shared operation to come online;
 *           O(threads with workers) if the thread's last call was for another domain.
 */
void haft_thread_offline(haft_domain *domain);
void haft_thread_online(haft_domain *domain);

/*
 * haft/table.h - the handle table that all threads share, and its workers.
 *
 * Threads insert and free through workers and resolve through the table's view (haft/view.h).
 * Objects never move; growth takes address space that was reserved at opening.  Built with
 * AddressSanitizer, program and library, a look at a freed object is reported from the moment its
 * slot is reclaimed until the slot is used again.
 *
 * Calls that would wait, or that announce a quiescent point, do nothing and answer HAFT_IN_SECTION
 * inside an inner job or inside a section of a clock that can tell (haft/domain.h),
 * HAFT_IN_CALLBACK inside a callback, HAFT_FORKED in the child of a fork (below).
 * haft_worker_quiescent() differs: in an inner job it only retires slots, and in such a child it
 * does all but wait; both times it returns HAFT_OK.  With qsbr and the workers clock they are
 * quiescent points of the calling thread: pointers that it resolved before are void, and "outside
 * read sections" means that it holds none.
 *
 * Progress and cost leave out what a call may run besides: on_reclaim; on_stall, or the line on
 * stderr in its place; system calls for memory (strict overcommit); and, in a worker's first
 * insertions and quiescent points, the allocator.
 *
 * The child of a fork has one thread, the one that forked.  With what its parent had open it
 * resolves, opens workers and goes on with its own, inserts, frees, pins, ends jobs and callbacks,
 * and closes: haft_table_close() and haft_domain_close() then only give memory back, wait for
 * nothing, call nothing, and count neither pins nor workers of threads that are gone.  What would
 * wait for a grace period says HAFT_FORKED, and what the child frees is used again only where
 * haft_domain_tick() ends grace periods.  Slots that other threads' workers held back, or that a
 * call was moving, are lost to the child; so is a table, with its domain, that another thread was
 * opening or closing.  A domain that the child opens is like any other; with a foreign clock that
 * knows of no forks, such as liburcu's except bp, its waits may last for ever.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing has
 *           changed, and results are untouched.
 * Threads   any.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */

/* --- the table --- */

/*
 * on_reclaim: called once for each freed object, after its grace period, by the thread that
 * reclaims its slot: in calls that reserve or insert; in haft_worker_quiescent(), _flush() and
 * _close(); in haft_table_reclaim(), _clear() and _close(), haft_trim() and haft_unshare().
 * Objects that live when the table is cleared or closed are freed by that.  `object` may be read
 * and written until it returns, `worker` used, but not closed: it is one of the calling thread's,
 * or a closed one, borrowed for the call.  `id` is the id that the object had.
 *
 * It may reserve, publish, insert, abort, free and unpin, by `worker` and by any worker of its
 * thread; call haft_table_free(); and resolve and pin where its thread may.  It runs outside locks,
 * and never within another callback of a shared table.  Calls that wait, announce a quiescent
 * point, close, flush, trim or share answer HAFT_IN_CALLBACK, for every table and domain: a job
 * above the callback may hold pointers.  A reservation in a callback reclaims nothing itself: so it
 * may answer HAFT_BUSY where one after the callback finds a slot.  The callback returns: no
 * longjmp(), no exception.
 *
 * A worker hands over what it has freed in haft_worker_flush(), in haft_worker_close(), and in a
 * haft_worker_quiescent() with 32 frees or none since the last one; parking hands nothing over.
 * haft_table_free(), and the last unpin of a freed object, hand over to the next quiescent point.
 * From then on each quiescent point of each worker of the table looks whether the grace period is
 * over, and then reclaims some hundred slots of any worker; with never_wait only those that this
 * worker has freed and that no ring has room for.  haft_table_reclaim() waits for it.
 *
 * A call reclaims only slots whose grace period has elapsed when it begins, so it returns, whatever
 * callbacks free while grace periods end.  haft_table_clear(), haft_table_close() and
 * haft_unshare() go on until no freed object is left, and haft_insert_wait() and its kin while the
 * answer is HAFT_BUSY.
 */
typedef void haft_reclaim(void *object, haft_id id, haft_worker *worker, void *arg);

/*
 * capacity: the table holds at least this many objects.  Slots that workers hold back come from
 * beyond it: leave an eighth of the index range free, or 4,096 slots; else the table works, but
 * every call is a shared operation.
 */
typedef struct haft_table_options {
    HAFT_COMMON_OPTIONS; /* name, capacity, object_size and so on: see haft/detail/options.h */

    bool wrap; /* after its last generation a slot goes on at generation 1: ids repeat; see below */
    bool pins; /* objects can be pinned: see haft/pin.h */

    /* For the slots, if the system has them: 2 MiB at a time, the first with the table.  Faster
     * where the slots of a large table are used in random order: see haft/memory.h. */
    bool huge_pages;

    haft_reclaim *on_reclaim; /* NULL: none */
    void *reclaim_arg;

    /* The most memory that freed objects may keep while they wait for a grace period or a pin; at
     * least one slot.  0: 16 MiB, for quiescent points and batches alone.  See below. */
    uint64_t waiting_bytes;

    /* haft_worker_quiescent() never waits for a grace period: for threads with a deadline.  Then
     * others must drive the clock: haft_domain_wait(), or the thread clock. */
    bool never_wait;
} haft_table_options;

/*
 * waiting_bytes.  A worker's part of it, 1/32 but at most 8,192 slots, decides when a quiescent
 * point waits; batches are smaller where those of 16 workers would take half of it.  If the option
 * is set, and only then, the table never uses more slots than the most that were live or reserved
 * at one time and as many as fit in waiting_bytes: where a fresh slot would exceed that, the answer
 * is HAFT_BUSY, and haft_insert_wait() waits.  So a thread that stays in a read section costs at
 * most that much memory.  Slots that are exhausted, or whose memory is released, do not count.  A
 * slot is the object and 8 bytes, 8 more with pins, at the object's alignment.  Frees never fail:
 * objects that were live at once may all wait at once.
 */

/*
 * How long ids last, with `wrap` and generations of b bits: an id repeats after 2^b - 1 lives of
 * its slot at the earliest, with a grace period between two lives.
 */

/*
 * live, reserved, retired and so on, with their meanings in haft/detail/stats.h.  Each number is
 * exact when no call on the table is under way.
 */
typedef struct haft_table_stats {
    HAFT_TABLE_STATS(HAFT_STATS_MEMBER)
    uint64_t room[HAFT_TABLE_STATS_ROOM - (HAFT_TABLE_STATS(HAFT_STATS_COUNT))]; /* 0 */
    haft_domain_stats clock;                                                     /* the domain's */
} haft_table_stats;

/*
 * haft_table_open, haft_table_open_sized - a new table on `domain`.  It needs a capacity: `options`
 * NULL is HAFT_BAD_CAPACITY.
 *
 * Returns   HAFT_OK and the table in `*table`; HAFT_UNKNOWN_OPTION, or HAFT_BAD_ and the name of
 *           the option; HAFT_NO_MEMORY: no address space or memory.
 * Progress  blocking (mmap, malloc).
 * Cost      O(1): memory is touched when slots are first used.
 */
haft_status haft_table_open_sized(haft_domain *domain, const haft_table_options *options,
                                  size_t size, haft_table **table);
HAFT_INLINE haft_status haft_table_open(haft_domain *domain, const haft_table_options *options,
                                        haft_table **table)
{
    return haft_table_open_sized(domain, options, sizeof *options, table);
}

/*
 * haft_table_footprint, haft_table_footprint_sized - what opening a table with these options takes,
 * without workers: address space, and on Windows how much of it is committed.
 *
 * Returns   HAFT_OK and the footprint, at least; what haft_table_open() says of an option;
 *           HAFT_NO_MEMORY: more than a process can have.
 */
haft_status haft_table_footprint_sized(const haft_table_options *options, size_t size,
                                       haft_footprint *footprint);
HAFT_INLINE haft_status haft_table_footprint(const haft_table_options *options,
                                             haft_footprint *footprint)
{
    return haft_table_footprint_sized(options, sizeof *options, footprint);
}

/*
 * haft_table_clear - the end of all objects.  From this call on no worker is opened, and insertions
 * and reservations answer HAFT_CLOSED; a worker that is open may still use the slots that it holds.
 * When no worker is open, all lives end, and after a grace period on_reclaim runs for each object,
 * in order of index for those that lived.  Reservations hold nothing up; one that a callback
 * publishes is an object that ends as the others do.
 *
 * Frees, and all calls that look, answer as before: HAFT_STALE to a callback that frees another
 * object of the table.  So tables whose callbacks free each other's objects are all cleared before
 * the first is closed.
 *
 * Returns   HAFT_OK.  Otherwise it may be called again:
 *             HAFT_IN_SECTION, HAFT_IN_CALLBACK, HAFT_FORKED   nothing has changed
 *             HAFT_IN_USE   a worker is open, and no object has ended; or pins keep objects, or a
 *                           call of another thread is under way: all others have ended
 * Threads   any outside read sections, alongside any call but haft_table_close() and
 *           haft_unshare().
 * Progress  blocking: waits for readers, if there are objects.  Frame clock: waits for no tick; no
 *           thread may hold a pointer.
 * Cost      a grace period; O(slots ever used).
 */
haft_status haft_table_clear(haft_table *table);

/*
 * haft_table_close - haft_table_clear(), then the end of the table.  It needs no memory.
 *
 * It waits for read sections that may still have an object.  If no object lives, and the freed ones
 * have been flushed and their grace periods have passed, no section has one, and the call does not
 * wait.  So a read section protects the objects that it has resolved, not the table: a
 * haft_resolve() through the view of a closed table is misuse, whatever the id.
 *
 * Returns   HAFT_OK.  Otherwise the table is still open:
 *             HAFT_IN_SECTION, HAFT_IN_CALLBACK   nothing has changed
 *             HAFT_IN_USE   a worker is open: nothing has changed; or an object is pinned, or a
 *                           side is open (haft/kit/side.h): all other objects have ended
 * Threads   one thread outside read sections, when no other thread uses the table any more.
 * Ordering  acquire: all earlier uses of the table are visible.
 * Progress  as haft_table_clear().
 * Cost      a grace period, or none; O(slots ever used) with an on_reclaim, with pins, or in debug
 *           builds; else O(workers and waiting batches).
 */
haft_status haft_table_close(haft_table *table);

/*
 * haft_table_reclaim - run on_reclaim for all objects that were freed before the call by
 * haft_table_free(), by the calling thread's worker, or by others that have flushed since; but not
 * for those that are pinned, or that haft_table_clear() ends.
 *
 * Returns   HAFT_OK; other threads have returned from on_reclaim for these, too.  HAFT_BUSY: there
 *           may be more, as on_reclaim has freed or unpinned others, a worker's batches have been
 *           put together, or a tick has to come (frame clock).  Otherwise nothing is done:
 *           HAFT_IN_SECTION, HAFT_IN_CALLBACK, HAFT_FORKED; if no worker is left for the call,
 *           HAFT_CLOSED or HAFT_NO_MEMORY.
 * Threads   any outside read sections, with or without a worker; it may hold no lock that
 *           on_reclaim takes.
 * Ordering  acquire: what on_reclaim has done in other threads is visible.
 * Progress  blocking: waits once for readers, and for on_reclaim in other threads.
 * Cost      a grace period; O(workers), and the objects.
 */
haft_status haft_table_reclaim(haft_table *table);

/* --- looking at it --- */

/* haft_table_view - what resolving needs; the same for the table's whole life. */
haft_view haft_table_view(const haft_table *table);

/* haft_table_info - what the table was opened with. */
haft_info haft_table_info(const haft_table *table);

/*
 * haft_diagnose - why an id does or does not resolve: HAFT_OK of a live object, else what is wrong
 * with the id (haft/status.h).  With wrap, any dead id of a used slot is HAFT_STALE.  A momentary
 * answer, as haft_is_live().
 */
haft_status haft_diagnose(const haft_table *table, haft_id id);

/*
 * haft_id_at - the id of a slot by its index, as haft_id_index() gives it: for arrays beside a
 * table, and messages that hold indices alone.
 *
 * Returns   a momentary answer, as haft_is_live():
 *             HAFT_OK             the slot's object is live, with that id
 *             HAFT_RESERVED       the id will be live if it is published
 *             HAFT_STALE          no object is live; the slot's next one will have that id
 *             HAFT_NEVER_ISSUED   the same, of a slot that was never used, or that no worker has
 *                                 drawn since its memory was released
 *             HAFT_EXHAUSTED      HAFT_NIL: the slot will not be used again
 *             HAFT_OUT_OF_RANGE   the table issues no such index; `*id` is untouched
 * Ordering  acquire for HAFT_OK; none otherwise.
 */
haft_status haft_id_at(const haft_table *table, uint64_t index, haft_id *id);

/*
 * haft_table_stats_get - the table's counters: exact when no call on the table is under way, else
 * off by no more than the calls made meanwhile, `high_water` and `free` also by the fresh slots
 * that workers are drawing just then.
 *
 * Cost      O(workers ever open at one time).
 */
haft_table_stats haft_table_stats_get(const haft_table *table);

/* --- workers: a thread's own part of a table, for allocating and freeing --- */

/*
 * A worker holds one batch of up to 128 slots to insert into and one of slots it has freed.
 * Batches travel through a ring that other workers may take from, and through the table's depot, so
 * nearly all calls write nothing that another thread writes, except for the slot itself.
 *
 * A worker belongs to the thread that opened it.  Debug builds assert that the worker of a call is
 * open and the calling thread's; AddressSanitizer reports the use of a closed one.  A thread that
 * comes for a while opens a worker and closes it again; one that may end anywhere, or sleep, or
 * that the program does not know uses a haft_counted (haft/counted.h).
 *
 * A worker's duties: reclaim slots whose grace period has elapsed, its own first, then those of the
 * depot and of other workers, some hundred at a time, where on_reclaim or pins ask for it; drain
 * the lists of slots that haft_table_free() freed, and of unpinned ones.  haft_worker_quiescent(),
 * _flush() and _close() do them, so on_reclaim may run there.
 */

/*
 * haft_worker_open - a worker for the calling thread.
 *
 * With the workers clock, and with qsbr on a registered thread, the thread is online until the
 * worker is closed, whatever it was before: in a read section, so it must pass quiescent points,
 * and park before it blocks (haft_thread_park), or every grace period waits for it.  When all
 * workers are closed that were opened since it was parked or offline, it is so again.  Workers
 * clock: a thread that runs jobs opens its first worker in one (haft_job_begin).
 *
 * Returns   HAFT_OK and the worker in `*worker`; HAFT_NO_MEMORY; HAFT_CLOSED after
 *           haft_table_clear().
 * Ordering  acquire from the close of the worker whose part it takes over.
 * Progress  lock-free, except for malloc when there are more workers than ever before.
 * Cost      O(1) if the thread's latest worker is of the same table, and no other thread has it;
 *           else O(workers ever open at one time).
 */
haft_status haft_worker_open(haft_table *table, haft_worker **worker);

/*
 * haft_worker_close - the end of a worker, after its duties.  Its slots become available to others;
 * those it has reserved and neither published nor given up stay reserved.
 *
 * Returns   HAFT_OK; HAFT_IN_CALLBACK inside a callback that has not opened the worker.  One that
 *           has may close it, without duties.
 * Threads   the worker's thread, inside or outside a read section; if that has ended, a thread that
 *           knows so, as from joining it.  Workers clock: the close of the thread's last worker on
 *           the domain is a quiescent point outside of jobs.
 * Ordering  release to the workers that take its slots over.
 * Progress  lock-free.
 * Cost      O(batch), and its duties.
 */
haft_status haft_worker_close(haft_worker *worker);

/*
 * haft_worker_quiescent - tell the domain that this thread holds no resolved pointer now.  Call it
 * between jobs.  It bounds the memory that waits (docs/guide.md#limits).
 *
 * It announces the quiescent state (qsbr, workers clock), retires freed slots, unless they are few
 * and the worker goes on freeing, and does the worker's duties.  It waits for a grace period when
 * too many of the worker's slots wait for one (waiting_bytes), or some worker has found none; never
 * with the frame clock or never_wait.  In an inner job it only retires.
 *
 * Returns   HAFT_OK; HAFT_IN_CALLBACK; HAFT_IN_SECTION inside a section of a clock that can tell,
 *           unless that section is its outermost job.
 * Threads   the worker's thread outside read sections of any domain (offline in others).
 * Ordering  release towards grace periods.
 * Progress  blocking, when it must wait.
 * Cost      O(1); O(workers and their threads) while slots wait for on_reclaim or pins, or, workers
 *           clock, many of the worker's; a wait once in 8,192 frees, or after a failed allocation.
 */
haft_status haft_worker_quiescent(haft_worker *worker);

/*
 * haft_worker_flush - give all of the worker's slots to other workers, freed ones and those it
 * could still reserve, and do its duties: for a thread that will be idle for long.
 *
 * Returns   HAFT_OK, or HAFT_IN_CALLBACK.
 * Threads   the worker's thread, inside or outside a read section.
 * Ordering  release to the workers that take its slots over.
 * Progress  lock-free.
 * Cost      O(batch), and its duties.
 */
haft_status haft_worker_flush(haft_worker *worker);

/* haft_worker_table - the table that it was opened on. */
haft_table *haft_worker_table(const haft_worker *worker);

/* --- one object --- */

/*
 * haft_reserve - a slot that no other thread sees yet.
 *
 * Returns   HAFT_OK, the id that haft_publish() will make live in `*id`, and the object's bytes,
 *           contents undefined, in `*object` (NULL may be passed); or
 *             HAFT_FULL        the table's capacity is in use, or slots are exhausted and other
 *                              workers may hold back all others
 *             HAFT_BUSY        all other slots, or as many as waiting_bytes allows, wait for a
 *                              grace period or a pin, or are with other threads: try again after
 *                              haft_worker_quiescent() or the tick, or take haft_reserve_wait()
 *             HAFT_CLOSED      after haft_table_clear(), once the worker holds no slot
 *             HAFT_NO_MEMORY   the system refused memory (strict overcommit)
 * Threads   the worker's thread, inside or outside a read section.
 * Ordering  acquire: all readers of the slot's former object are done.
 * Progress  lock-free.
 * Cost      O(1), no atomic read-modify-write; once in a batch one or two shared ones.
 */
haft_status haft_reserve(haft_worker *worker, haft_id *id, void **object);

/*
 * haft_publish - the reserved id is live from now on.
 *
 * Threads   the worker's thread, by the worker that reserved the id, or by another of the table,
 *           whose thread was handed the reservation.
 * Ordering  release: the object's bytes are visible to each thread that resolves the id.
 * Cost      O(1): one store.
 */
void haft_publish(haft_worker *worker, haft_id id);

/*
 * haft_abort - give a reserved slot up.  The id will never be live, and on_reclaim is not called.
 *
 * Threads   as haft_publish().
 * Progress  lock-free.
 * Cost      O(1).  The slot comes back after a grace period, as it is retired with freed ones.
 */
void haft_abort(haft_worker *worker, haft_id id);

/*
 * haft_insert - reserve, copy object_size bytes from `object` (NULL: zeros), publish.  `id` must
 * not point into `*object`.
 *
 * Returns   as haft_reserve(); on HAFT_OK the object is live.
 * Threads   as haft_reserve().
 * Ordering  as haft_reserve() and haft_publish().
 * Progress  lock-free.
 * Cost      as haft_reserve(), and the copy.
 */
haft_status haft_insert(haft_worker *worker, const void *object, haft_id *id);

/*
 * haft_reserve_wait, haft_insert_wait - the same, waiting while the answer is HAFT_BUSY: for grace
 * periods, and for other threads to unpin where pins are the reason.
 *
 * Returns   as haft_reserve(), but HAFT_BUSY only with the frame clock, where waiting cannot help;
 *           HAFT_IN_SECTION, HAFT_IN_CALLBACK, HAFT_FORKED if they would have to wait.
 * Threads   the worker's thread outside read sections.
 * Ordering  as haft_reserve() and haft_insert().
 * Progress  blocking: waits for readers.
 * Cost      as haft_reserve() and haft_insert(), or a grace period or more.
 */
haft_status haft_reserve_wait(haft_worker *worker, haft_id *id, void **object);
haft_status haft_insert_wait(haft_worker *worker, const void *object, haft_id *id);

/*
 * haft_free - end an object's life.  Of all callers racing on one id, one succeeds.  Others may
 * read the object until a grace period has passed; on_reclaim runs after that.  Never allocates.
 *
 * Returns   HAFT_OK to the winner; else what haft_diagnose() says of the id; HAFT_RESERVED:
 *           haft_abort() gives it up.
 * Threads   the worker's thread, inside or outside a read section.  Any worker may free any id.
 * Ordering  acquire on HAFT_OK; none otherwise.
 * Progress  lock-free.
 * Cost      O(1): one compare-and-swap; once in a batch one or two shared operations more.
 */
haft_status haft_free(haft_worker *worker, haft_id id);

/*
 * haft_table_free - as haft_free(), for threads that have no worker: finalizers, destructors, an
 * on_destroy of haft/counted.h, other tables' callbacks.  It is their one call; threads that do
 * more open a worker.  The slot's grace period begins when a worker does its duties or looks for a
 * slot.
 *
 * Threads   any, registered or not, inside or outside a read section, also in callbacks.
 * Cost      a compare-and-swap and two shared operations.
 */
haft_status haft_table_free(haft_table *table, haft_id id);

/* --- many at once --- */

/*
 * Each id gets the result of a single call, in the order of the array; what many share is done
 * once, and the memory of later slots is fetched meanwhile.  A call that cannot do all does what it
 * can, says how far it came, and leaves the rest as it was.  A count of 0 does nothing.
 */

/*
 * haft_insert_many - insert up to `count` objects, which lie one after another, object_size bytes
 * each, from `objects` on (NULL: zeros).  `ids` must not overlap them.
 *
 * Returns   how many were inserted, from the first on: ids[i] is objects[i]'s, the rest of `ids` is
 *           untouched.  `*why` (NULL may be passed) is HAFT_OK if all were, else what haft_insert()
 *           says of the next.
 * Threads   as haft_insert().
 * Ordering  as haft_insert(), for each.
 * Progress  lock-free.
 * Cost      O(count): as haft_insert(), without the calls.
 */
size_t haft_insert_many(haft_worker *worker, const void *objects, haft_id *ids, size_t count,
                        haft_status *why);

/*
 * haft_free_many - free `count` objects; of an id that stands in the array twice, the first.
 *
 * Returns   how many were freed.  statuses[i] (`statuses` may be NULL) is what haft_free() says of
 *           ids[i].
 * Threads   as haft_free(); the arrays are the caller's and may not overlap.
 * Ordering  as haft_free(), for each.
 * Progress  lock-free.
 * Cost      O(count): as haft_free(), without the calls.
 */
size_t haft_free_many(haft_worker *worker, const haft_id *ids, size_t count, haft_status *statuses);

/*
 * haft/counted.h - the handle table for any thread: objects are held by counts.
 *
 *   haft_counted *sessions;
 *   haft_counted_open(&(haft_counted_options){.capacity = 1000, .object_size = sizeof(session)},
 *                     &sessions);
 *   haft_counted_insert(sessions, &new_session, &id);
 *
 *   session *held = haft_counted_acquire(sessions, id); // any thread; NULL: the id is stale
 *   if (held != NULL) {
 *       ...                                             // it may sleep, and go on elsewhere
 *       haft_counted_release(sessions, id);
 *   }
 *   haft_counted_free(sessions, id); // no new holders; it ends now, or with its last release
 *
 * Threads need no set-up and leave nothing behind.  A freed object ends in the call that frees it,
 * or in the last release, before that call returns: then `on_destroy` has run, and the slot is free
 * again.  Nothing waits for other threads but haft_counted_close_wait(), and opening, closing and
 * abandoning a table for a lock that all tables share.
 *
 * What ends inside an on_destroy of the same table is destroyed after that on_destroy has returned,
 * and before the outermost call of haft does, in no promised order: a parent's on_destroy cannot
 * wait for its child's.  So is what a signal handler ends that has interrupted a call which
 * destroys.  on_destroy returns, on its thread: no longjmp, no exception, no change of fibers.
 *
 * Signals: acquire and copy in any handler, free and release if on_destroy may be called there.  In
 * a library loaded by dlopen() a thread may allocate when it first ends an object: end one before
 * its handlers do.
 *
 * The child of a fork goes on.  What other threads held stays held there, and calls of theirs that
 * the fork cut off keep their slots: then the child cannot close the table, but abandon it.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing
 *           has changed, and results are untouched.
 * Threads   any.
 * Ordering  none.
 * Progress  lock-free.
 * Cost      O(1).
 */

typedef struct haft_counted haft_counted;

/*
 * Runs once for each object that was live and is freed, without a lock held and with cancellation
 * off.  `id` is stale already; the object's bytes stay until this returns.  It may call any
 * function of this header on the table but haft_counted_abandon(); closing answers HAFT_IN_USE.
 */
typedef void haft_counted_destroy(void *object, haft_id id, void *arg);

typedef struct haft_counted_options {
    const char *name;          /* for messages; copied; NULL: "counted table" */
    uint64_t capacity;         /* objects that fit; 1 to 2^index_bits - 4, at most 2^30 - 4 */
    size_t object_size;        /* bytes, up to 2^30; 0: an allocator of ids */
    size_t object_alignment;   /* power of two up to 4096; 0: as haft/detail/options.h says */
    haft_layout layout;        /* all zero: HAFT_LAYOUT_32_32; at most 32 generation_bits */
    uint64_t tag;              /* fits tag_bits */
    uint64_t first_generation; /* of each slot's first life; 0: 1; or HAFT_RANDOM_GENERATION */

    uint64_t min_free; /* slots freed after a slot before that is reused; 0: it may be at once;
                        * together with the capacity at most what that may be */
    bool wrap;         /* after its last generation a slot goes on at generation 1: ids repeat */
    bool copies;       /* haft_counted_copy(); objects of at most 64 bytes, which never change */
    bool wipe;         /* objects become zeros when they end */
    bool spread;       /* slots on cache lines of their own, for few objects in much use */

    haft_counted_destroy *on_destroy; /* NULL: nothing */
    void *destroy_arg;
    haft_on_bad_access *on_bad_access; /* of haft_counted_require(); NULL: abort */
    void *report_arg;                  /* passed to on_bad_access */

    void *memory; /* of the program, for all that the table needs: see haft_counted_footprint() */
    uint64_t memory_size;
    const struct haft_allocator *allocator; /* copied; NULL: malloc.  See haft/memory.h */

    uint64_t reserved[2]; /* 0; for options of a later version */
} haft_counted_options;

/*
 * How long ids last.  A generation of b bits gives a slot 2^b - 1 lives; with `wrap` its ids repeat
 * then.  Without min_free a thread mostly uses the slot that it freed last next, so 2^b - 1 births
 * of one object wear it out.  With min_free = m a slot's k-th life begins at the earliest with the
 * ((k - 1) * (m + 1) + 1)-th id that the table issues, whichever threads issue them; the m slots
 * are additional to the capacity.  20 + 12 bits and m = 500,000: 2 billion ids before one repeats.
 */

/*
 * haft_counted_open, haft_counted_open_sized - a new table.  It needs a capacity.
 *
 * Returns   HAFT_OK and the table in `*table`; HAFT_UNKNOWN_OPTION, or HAFT_BAD_ and the name of
 *           the option; HAFT_NO_MEMORY: no address space or memory, or `memory` is too small.
 * Progress  blocking (mmap, malloc, a lock: an export holds it while it counts).
 * Cost      O(1): memory is touched when slots are first used; up to 8 KiB of slots, or `memory`,
 *           are cleared.
 */
haft_status haft_counted_open_sized(const haft_counted_options *options, size_t size,
                                    haft_counted **table);
HAFT_INLINE haft_status haft_counted_open(const haft_counted_options *options, haft_counted **table)
{
    return haft_counted_open_sized(options, sizeof *options, table);
}

/*
 * haft_counted_footprint, haft_counted_footprint_sized - what a table with these options needs, to
 * be given as `memory` and `memory_size`; those two change nothing here.  The memory is private to
 * the process: a forked child has a copy.
 *
 * Returns   HAFT_OK and the footprint; what haft_counted_open() says of an option; HAFT_NO_MEMORY:
 *           more than a block can have.
 * Progress  wait-free.
 */
haft_status haft_counted_footprint_sized(const haft_counted_options *options, size_t size,
                                         haft_footprint *footprint);
HAFT_INLINE haft_status haft_counted_footprint(const haft_counted_options *options,
                                               haft_footprint *footprint)
{
    return haft_counted_footprint_sized(options, sizeof *options, footprint);
}

/*
 * haft_counted_close - free all objects, in order of index, and close the table if nothing of it is
 * in use.  From the first call on that is not made in an on_destroy, insertions answer HAFT_CLOSED.
 *
 * Returns   HAFT_OK: the table is gone.  Otherwise it stays, and may be closed again: HAFT_IN_USE,
 *           an object is held or reserved, a call is under way in another thread, or this is an
 *           on_destroy of the table.
 * Threads   one.  Beside the call that answers HAFT_OK only calls may run that give back a hold or
 *           a reservation which the table still counts, and insertions whose object was seen live.
 * Ordering  acquire on HAFT_OK: all earlier uses of the table are visible.
 * Progress  blocking (munmap, free; the lock of haft_counted_open()).
 * Cost      O(slots ever used).
 */
haft_status haft_counted_close(haft_counted *table);

/*
 * haft_counted_close_wait - the same, and wait until nothing is in use: for ever, where the calling
 * thread holds an object, or in a forked child a thread of its parent's.
 *
 * Returns   HAFT_OK: the table is gone.  HAFT_IN_USE: in an on_destroy of the table.
 * Threads   as haft_counted_close().
 * Ordering  as haft_counted_close().
 * Progress  blocking.
 * Cost      O(slots ever used) for each look: as slots are given back, else every 10 ms at most.
 */
haft_status haft_counted_close_wait(haft_counted *table);

/*
 * haft_counted_abandon - release the table's memory, whatever is in it, call nothing and wipe
 * nothing: in the child of a fork whose parent goes on with the objects.
 *
 * Threads   one, with no other call on the table.
 * Progress  blocking (munmap, free; the lock of haft_counted_open()).
 */
void haft_counted_abandon(haft_counted *table);

/*
 * haft_counted_info - what the table was opened with.
 *
 * Progress  wait-free.
 */
haft_info haft_counted_info(const haft_counted *table);

/* --- the way in --- */

/*
 * haft_counted_insert - reserve, copy object_size bytes from `object` (NULL: zeros), publish.  `id`
 * must not point into `*object`.  The object has no holder yet.
 *
 * Returns   HAFT_OK and the id in `*id`; or
 *             HAFT_FULL        at one moment of the call, all slots of the capacity were taken: by
 *                              objects live, or freed and not yet destroyed, by reservations, by
 *                              calls under way; or exhausted
 *             HAFT_NO_MEMORY   the system refused memory (strict overcommit)
 *             HAFT_CLOSED      the table is being closed
 * Ordering  release: a thread that acquires or copies the object sees all that came before.
 * Cost      O(1), and the copy.
 */
haft_status haft_counted_insert(haft_counted *table, const void *object, haft_id *id);

/*
 * haft_counted_reserve - a slot whose id is not live yet; HAFT_BAD_COPIES in a table with `copies`.
 *
 * Returns   as haft_counted_insert(), the object's bytes in `*object` (NULL may be passed),
 *           contents undefined.
 */
haft_status haft_counted_reserve(haft_counted *table, haft_id *id, void **object);

/*
 * haft_counted_publish, haft_counted_abort - a reserved id is live, or it never will be, and its
 * slot is free at once; on_destroy does not run.
 *
 * Ordering  haft_counted_publish: release, as haft_counted_insert().
 * Progress  wait-free; haft_counted_abort: lock-free.
 */
void haft_counted_publish(haft_counted *table, haft_id id);
void haft_counted_abort(haft_counted *table, haft_id id);

/* --- holding --- */

/*
 * haft_counted_acquire - hold an object: it stays until as many releases.
 *
 * Returns   the object's bytes; in a table with `copies` they are not to be changed.  NULL: the id
 *           is not live, or has 2^30 - 1 holders.
 * Ordering  acquire: all that was written before its publication is visible.
 */
void *haft_counted_acquire(haft_counted *table, haft_id id);

/*
 * haft_counted_require - the same for an id that must be live: else the table's on_bad_access, with
 * what haft_counted_diagnose() says; HAFT_IN_USE: it has 2^30 - 1 holders.
 *
 * Returns   as haft_counted_acquire().  NULL after on_bad_access has returned; without one the
 *           program is aborted.
 * Ordering  as haft_counted_acquire().
 */
void *haft_counted_require(haft_counted *table, haft_id id);

/*
 * haft_counted_again - one more hold for a caller that has one, also of an object that was freed.
 *
 * Returns   false: the object is not held, or has 2^30 - 1 holders.
 */
bool haft_counted_again(haft_counted *table, haft_id id);

/*
 * haft_counted_release - end a hold.  The last one of a freed object ends it: on_destroy runs.  One
 * release too many, while others hold the object, takes one of their holds.
 *
 * Returns   HAFT_OK; HAFT_NOT_HELD: no object with that id is held.
 * Ordering  release and acquire: on_destroy comes after all uses of all holders.
 * Progress  lock-free except for on_destroy.
 */
haft_status haft_counted_release(haft_counted *table, haft_id id);

/*
 * haft_counted_copy - the object's bytes, object_size of them, without holding it; only in a table
 * with `copies`.  No store to shared memory.
 *
 * Returns   whether the id was live at one moment of the call, with these bytes.  False: `*object`
 *           is untouched.
 * Ordering  acquire, as haft_counted_acquire().
 * Progress  wait-free.
 * Cost      O(object_size).
 */
bool haft_counted_copy(const haft_counted *table, haft_id id, void *object);

/* --- the way out --- */

/*
 * haft_counted_free - end an object's life: at once, or with its last release.
 *
 * Returns   HAFT_OK to one caller for each id; else what haft_counted_diagnose() says of the id.
 * Ordering  release and acquire, as haft_counted_release().
 * Progress  lock-free except for on_destroy.
 */
haft_status haft_counted_free(haft_counted *table, haft_id id);

/*
 * haft_counted_take - end the life of an object that has no holder, and copy its bytes to
 * `*object`; on_destroy does not run.
 *
 * Returns   HAFT_OK; HAFT_IN_USE: it is held; or as haft_counted_free().
 * Ordering  acquire: the bytes as the last holder left them.
 * Cost      O(1), and the copy.
 */
haft_status haft_counted_take(haft_counted *table, haft_id id, void *object);

/* --- looking --- */

/*
 * haft_counted_is_live - whether an id is live: a momentary answer.
 *
 * Ordering  acquire when true; none when false.
 * Progress  wait-free.
 */
bool haft_counted_is_live(const haft_counted *table, haft_id id);

/*
 * haft_counted_diagnose, haft_counted_diagnose_format - why an id is live or not: momentary, as a
 * status or in one line.  HAFT_STALE also of what is freed and still held and, once a slot has
 * wrapped (with 32 generation_bits, where it may), of all its dead ids.
 *
 * Returns   as haft_diagnose(); the format as snprintf.
 * Ordering  acquire for HAFT_OK; none otherwise.
 * Progress  wait-free.
 */
haft_status haft_counted_diagnose(const haft_counted *table, haft_id id);
int haft_counted_diagnose_format(const haft_counted *table, haft_id id, char *text, size_t size);

/*
 * haft_counted_id_at - the id of a slot by its index.
 *
 * Returns   as haft_id_at() in haft/table.h.
 * Ordering  acquire for HAFT_OK; none otherwise.
 * Progress  wait-free.
 */
haft_status haft_counted_id_at(const haft_counted *table, uint64_t index, haft_id *id);

/* Where a walk over the objects is; zeros: at the start. */
typedef struct haft_counted_cursor {
    uint64_t passed; /* slots */
} haft_counted_cursor;

/*
 * haft_counted_cursor_next - hold the next live object, in order of index; the caller releases it.
 * Objects live from the walk's start to its end come exactly once, others once or not at all; one
 * with 2^30 - 1 holders is left out.
 *
 *   haft_counted_cursor cursor = {0};
 *   while (haft_counted_cursor_next(table, &cursor, &id, &object)) {
 *       ...
 *       haft_counted_release(table, id);
 *   }
 *
 * Returns   true, the id in `*id` and the object in `*object`.  False, both untouched: the end.
 * Ordering  as haft_counted_acquire().
 * Cost      O(slots passed).
 */
bool haft_counted_cursor_next(haft_counted *table, haft_counted_cursor *cursor, haft_id *id,
                              void **object);

typedef struct haft_counted_stats {
    HAFT_COUNTED_STATS(HAFT_STATS_MEMBER)
    uint64_t room[HAFT_COUNTED_STATS_ROOM - (HAFT_COUNTED_STATS(HAFT_STATS_COUNT))]; /* 0 */
} haft_counted_stats;

/*
 * haft_counted_stats_get - the table's statistics: high_water is exact, the others are counted
 * beside other threads.
 *
 * Progress  wait-free.
 * Cost      O(slots ever used).
 */
haft_counted_stats haft_counted_stats_get(const haft_counted *table);

/*
 * haft_counted_explain - what a status that the table gave means now, in one line:
 *
 *   sessions: full: capacity 1,000; 990 live, 10 objects freed and still held or being destroyed
 *   sessions: in use: 1 slot reserved, 2 objects freed and still held or being destroyed
 *
 * Returns   as snprintf.
 * Progress  wait-free.
 * Cost      O(slots ever used).
 */
int haft_counted_explain(const haft_counted *table, haft_status status, char *text, size_t size);

/*
 * haft/local.h - the handle table of one thread: slots with holes, stable addresses.
 *
 * The same ids, slots and resolve as the shared table, without worker, domain or read section:
 *
 *   void *object = haft_resolve(haft_local_view(local), id);
 *
 * In programs built with AddressSanitizer, library and all, a look at an object that was freed is
 * reported, until its slot is used again.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.  After a status other than HAFT_OK nothing
 *           has changed, and results are untouched.
 * Threads   one at a time for each table.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 *
 * Edges in this file.
 *   OWN   one thread uses the table; resolve reads the word as an atomic, so it is one here too
 */

/* Which free slot is used next. */
typedef enum haft_local_reuse {
    HAFT_REUSE_LIFO, /* the one freed last: it is in the cache */
    HAFT_REUSE_FIFO, /* the one freed first: generations are used up evenly */
} haft_local_reuse;

/*
 * Runs once for each live object that haft_local_free(), haft_local_clear() or haft_local_close()
 * ends; not for objects that a rewind or a load replaces (haft/kit/snapshot.h), nor for
 * reservations.  `id` is stale already; the object's bytes stay until this returns, and its slot
 * holds no other object before.
 *
 * It does not run within itself.  An object that it frees, or clears, is stale at once, but its own
 * on_destroy runs after this one has returned, and before the outermost call on the table does; in
 * no promised order, in a loop: a chain of any length needs no stack.  So an on_destroy cannot wait
 * for that of an object which it frees.  It returns, on its thread: no longjmp, no exception, no
 * switch of fibers; and its thread cannot be cancelled in it.
 *
 * It may call any function of this header on the table except haft_local_close() and
 * haft_local_set_destroy().  While the table closes, inserting and reserving answer HAFT_FULL.
 */
typedef void haft_local_destroy(void *object, haft_id id, void *arg);

/* on_bad_access is called also while the table is shared. */
typedef struct haft_local_options {
    HAFT_COMMON_OPTIONS; /* name, capacity, object_size and so on: see haft/detail/options.h */

    haft_local_reuse reuse;
    uint64_t min_free; /* with FIFO: free slots that are there before any is reused; see below */
    bool wrap;         /* after its last generation a slot goes on at generation 1: ids repeat */
    bool pins;         /* room for pins, for the time it is shared: see haft/pin.h */
    bool huge_pages;   /* for the slots, if the system has them: see haft/memory.h */
    bool will_share;   /* room for what workers hold back, for the time it is shared; see below */
    haft_local_destroy *on_destroy; /* NULL: nothing */
    void *destroy_arg;
    void *memory; /* of the program, for all that the table needs: see haft_local_footprint() */
    uint64_t memory_size;
} haft_local_options;

/*
 * How long ids last.  A generation of b bits, first generation f, gives a slot L = 2^b - f lives.
 * With HAFT_REUSE_FIFO and min_free = m, at least m other slots are freed between a slot's end and
 * its reuse, so a slot's k-th life begins at the earliest with
 *
 *   the ((k - 1) * (m + 1) + 1)-th id that the table issues.
 *
 * So the first slot is exhausted at the earliest when the ((L - 1) * (m + 1) + 1)-th is freed; with
 * wrap, the ((2^b - 1) * (m + 1) + 1)-th is the first that can repeat an earlier one.  16 bits and
 * m = 1,024 are 67 million ids; with m = 0, or HAFT_REUSE_LIFO, 65,535.
 *
 * Trimming costs some slots lives and keeps all this.  Restoring an id stands for issuing it and
 * all ids of its slot before it; haft_local_load_end() begins a new queue.  The m slots are
 * additional to the capacity.
 */

/*
 * Memory.  The table has slots for the capacity, min_free and four indices that no id has, to the
 * next power of two: 8,192 for a capacity of 4,096, and 4,096 for one of 4,092.  Up to 8 KiB of
 * them are one block of the heap, where huge_pages changes nothing.  More are address space, whose
 * pages are touched when slots are first used, and of more than 128 KiB can be trimmed.
 *
 * will_share adds an eighth of the capacity, but at least 4,096 slots (or the capacity, if that is
 * less) and at most 65,536.  While the table is shared, workers hold free slots back in batches out
 * of these.  Without them haft_share() has what the power of two leaves over, and where that is
 * little, batches are small and each step of a worker is slow.
 */

/*
 * haft_local_open, haft_local_open_sized - a new table.  It needs a capacity: `options` NULL is
 * HAFT_BAD_CAPACITY.
 *
 * Returns   HAFT_OK and the table in `*local`; HAFT_UNKNOWN_OPTION, or HAFT_BAD_ and the name of
 *           the option; HAFT_NO_MEMORY: no address space or memory, or `memory` is too small.
 * Progress  blocking (mmap, malloc).
 * Cost      O(1): memory is touched when slots are first used; up to 8 KiB of slots are one block,
 *           cleared.
 */
haft_status haft_local_open_sized(const haft_local_options *options, size_t size,
                                  haft_local **local);
HAFT_INLINE haft_status haft_local_open(const haft_local_options *options, haft_local **local)
{
    return haft_local_open_sized(options, sizeof *options, local);
}

/*
 * haft_local_footprint, haft_local_footprint_sized - what a table with these options needs, to be
 * given as `memory` and `memory_size`; those two and `huge_pages` change nothing here.
 *
 *   static char memory[40000];
 *   haft_local_open(&(haft_local_options){.capacity = 1000, .object_size = 24, .memory = memory,
 *                                         .memory_size = sizeof memory}, &local);
 *
 * The table then lies there entirely.  Opening clears the memory, unless that is too small; until
 * the table is closed nothing is allocated or mapped, and whatever id comes in, only the memory is
 * read and written.  Trim releases nothing.  These do allocate: haft_share(), whose table keeps the
 * slots where they are until it is closed; sides, histories, clones, loading, and saving with
 * `convert`; and the report of leaks at closing, which does without where it gets no memory.
 *
 * Returns   HAFT_OK and the footprint; what haft_local_open() says of an option; HAFT_NO_MEMORY:
 *           more than a block can have.
 * Threads   any.
 */
haft_status haft_local_footprint_sized(const haft_local_options *options, size_t size,
                                       haft_footprint *footprint);
HAFT_INLINE haft_status haft_local_footprint(const haft_local_options *options,
                                             haft_footprint *footprint)
{
    return haft_local_footprint_sized(options, sizeof *options, footprint);
}

/*
 * haft_local_set_destroy - another on_destroy from now on, as in a table of haft_unshare(); NULL:
 * none.
 *
 * Threads   one; not from on_destroy.
 */
void haft_local_set_destroy(haft_local *local, haft_local_destroy *on_destroy, void *destroy_arg);

/*
 * haft_local_close - the end of the table and of all objects in it, in order of index; then of
 * those whose reservations on_destroy has published meanwhile.  The caller has closed its sides
 * (haft/kit/side.h); debug builds assert it.  Where on_destroy looks at a side, or frees objects of
 * another table, haft_local_clear() comes first: for all such tables, before a side or table is
 * closed.
 *
 * Threads   one; not from on_destroy.
 * Progress  blocking (munmap, free).
 * Cost      O(memory touched), in the system; with on_destroy O(slots ever used).
 */
void haft_local_close(haft_local *local);

/* haft_local_view, haft_local_info - what resolves its ids; what the table was opened with. */
haft_view haft_local_view(const haft_local *local);
haft_info haft_local_info(const haft_local *local);

/*
 * haft_local_reserve - a slot whose id is not live yet.
 *
 * Returns   HAFT_OK, the id that haft_local_publish() will make live in `*id`, and the object's
 *           bytes, contents undefined, in `*object` (NULL may be passed); or
 *             HAFT_FULL        the capacity is in use (or exhausted)
 *             HAFT_NO_MEMORY   the system refused memory (strict overcommit)
 *             HAFT_LOADING     before haft_local_load_end()
 */
haft_status haft_local_reserve(haft_local *local, haft_id *id, void **object);

/*
 * haft_local_publish, haft_local_abort - a reserved id is live; or it never will be, and its slot
 * is free at once.  Both may be called while the table is being loaded (haft/kit/restore.h).
 */
void haft_local_publish(haft_local *local, haft_id id);
void haft_local_abort(haft_local *local, haft_id id);

/*
 * haft_local_insert - reserve, copy object_size bytes from `object` (NULL: zeros), publish.  `id`
 * must not point into `*object`.
 *
 * Returns   as haft_local_reserve().
 * Cost      O(1), and the copy.
 */
haft_status haft_local_insert(haft_local *local, const void *object, haft_id *id);

/*
 * haft_local_free - end an object's life; on_destroy runs.  `reuse` says when its slot is used
 * under another id; without wrap, a slot that has lived its last generation is not.
 *
 * Returns   HAFT_OK, or what haft_local_diagnose() says of the id.
 * Progress  wait-free except for on_destroy.
 */
haft_status haft_local_free(haft_local *local, haft_id id);

/*
 * haft_local_diagnose - why an id does or does not resolve.
 *
 * Returns   as haft_diagnose() in haft/table.h; HAFT_STALE also for generations below one that was
 *           restored.  Once a slot has wrapped, HAFT_STALE for all dead ids of used slots.
 */
haft_status haft_local_diagnose(const haft_local *local, haft_id id);

/*
 * haft_local_id_at - the id of a slot by its index.
 *
 * Returns   as haft_id_at() in haft/table.h; of an object whose on_destroy runs, the next life's.
 */
haft_status haft_local_id_at(const haft_local *local, uint64_t index, haft_id *id);

/*
 * haft_local_for_each - call `visit` for each live object, in order of index, until it returns
 * false.  It may free any object and insert; what is inserted meanwhile may or may not be visited.
 *
 * Returns   the number of calls.
 * Progress  wait-free except for the visitor.
 * Cost      O(slots ever used).
 */
uint64_t haft_local_for_each(haft_local *local, bool (*visit)(haft_id id, void *object, void *arg),
                             void *arg);

/*
 * haft_local_used_range - the slots that were ever used, for loops over runs (haft/view.h), which
 * may free and insert as a visitor may.  Empty in a table that never had an object.
 */
haft_range haft_local_used_range(const haft_local *local);

/*
 * haft_local_run_last - the last live object of a run over a table of one thread; the run ends
 * before it then.  So calls until there is none walk backwards; the loop may free and insert.
 *
 *   haft_run run = haft_run_over(haft_local_view(local), haft_local_used_range(local));
 *   while (haft_local_run_last(&run, &id, &object)) { ... }
 *
 * Returns   as haft_run_next().
 * Cost      as haft_run_next().
 */
HAFT_INLINE bool haft_local_run_last(haft_run *run, haft_id *id, void **object)
{
    while (run->left.from < run->left.to) {
        const uint64_t index = --run->left.to;
        char *slot = run->view.base + index * run->view.stride;
        const uint64_t word = haft_load_relaxed(HAFT_EDGE_OWN, HAFT_WORD(slot));

        if ((word & run->view.mask) == index) { /* only a live slot's word leads to itself */
            id->bits = word;
            *object = slot + sizeof(uint64_t);
            return true;
        }
    }
    return false;
}

/*
 * haft_local_clear - free every live object, in order of index.  All earlier ids are stale for ever
 * (with `wrap`, until generations begin again).  Objects that on_destroy inserts meanwhile may
 * stay.
 *
 * Returns   HAFT_OK; HAFT_IN_USE while a slot is reserved, so also in a C++ constructor of an
 *           object.
 * Progress  wait-free except for on_destroy.
 * Cost      O(slots ever used).
 */
haft_status haft_local_clear(haft_local *local);

/*
 * haft_local_count - the number of live objects.
 * haft_local_available - how many more objects fit: the capacity less exhausted slots and objects
 * that are live or reserved or whose on_destroy runs.
 */
uint64_t haft_local_count(const haft_local *local);
uint64_t haft_local_available(const haft_local *local);

/* live, free, exhausted, bytes and so on, with their meanings in haft/detail/stats.h. */
typedef struct haft_local_stats {
    HAFT_LOCAL_STATS(HAFT_STATS_MEMBER)
    uint64_t room[HAFT_LOCAL_STATS_ROOM - (HAFT_LOCAL_STATS(HAFT_STATS_COUNT))]; /* 0 */
} haft_local_stats;

/*
 * haft_local_stats_get - the table's statistics.  `bytes` are those of slots ever used, less those
 * released; of all slots, where they are in the heap or in given memory.
 */
haft_local_stats haft_local_stats_get(const haft_local *local);

/* --- memory --- */

/*
 * haft_local_reserve_capacity - have memory for `count` more objects now.
 *
 * Returns   HAFT_OK: until haft_local_trim() or a restored id, the next `count` reservations and
 *           insertions do not answer HAFT_NO_MEMORY, whatever is freed between them.  Otherwise:
 *             HAFT_FULL        `count` is more than haft_local_available()
 *             HAFT_NO_MEMORY   the system refused
 *             HAFT_LOADING     before haft_local_load_end()
 * Progress  blocking (mprotect, madvise).
 * Cost      O(count), and where the system can populate memory (Linux 5.14) a system call for each
 *           stretch of free slots.
 */
haft_status haft_local_reserve_capacity(haft_local *local, uint64_t count);

/*
 * haft_local_trim - release memory to the system: whole pages in which no slot is in use.  Stale
 * ids stay stale, and some slots lose lives, as with haft_trim() (haft/memory.h).
 *
 * These stay: page runs with an exhausted slot; the first one and the last that is used in part;
 * with min_free, those of the min_free slots freed last; everything, if there are at most 128 KiB
 * of slots, or an on_destroy is still to come.
 *
 * Returns   HAFT_OK, and the bytes in `*released` (NULL may be passed); or
 *             HAFT_NO_MEMORY   none for the page runs' generations, 16 bytes each
 *             HAFT_LOADING     before haft_local_load_end()
 *             HAFT_BAD_WRAP    in a table with `wrap`, a slot has wrapped, an id was restored or
 *                              the table was shared: ids would repeat
 * Progress  blocking (madvise).
 * Cost      as haft_trim().
 */
haft_status haft_local_trim(haft_local *local, uint64_t *released);

/*
 * haft/scan.h - visiting the live objects of a shared table.
 *
 * What is promised, of each form below: an object that is live from the scan's start to its end is
 * visited exactly once, whatever the visitor and other threads do meanwhile.  One that is inserted
 * or freed during the scan is visited once or not at all.  Objects come in order of index; no id
 * comes twice.  The visitor may free any object, the one it was given too, and reserve and insert.
 *
 * A scan starts when its cursor is made, or when haft_scan_ranges() divides the table: slots first
 * used later are not part of it, so a scan whose visitor inserts comes to an end.  A scan of
 * several ranges ends when each of them has.
 *
 * Read sections: a visited object may be used until the section ends in which it was visited, even
 * if it is freed meanwhile; with qsbr and the workers clock that is the next quiescent point.  The
 * cursor itself is a place in the table: it may be put down when the section ends and taken up in
 * the next one, by this thread or by another, and no object that stays live is left out for that.
 *
 *   haft_cursor cursor = haft_cursor_over(table, HAFT_EVERYTHING);
 *   while (haft_cursor_next(&cursor, &id, &object)) { ... }
 *
 * Fresh slots are skipped without touching their memory, except for up to 128 in each worker's
 * hands, and those whose memory a local table released before it was shared.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any, also outside read sections, alongside any call but haft_table_close().
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */

/* A value: a copy goes on independently, and needs no end. */
typedef struct haft_cursor {
    const haft_table *table;
    haft_run run; /* the stretch that it is in */
    uint64_t end; /* of the scan */
} haft_cursor;

/*
 * haft_cursor_over - a cursor in front of the first object of `range`.  The scan ends where the
 * table does, if that is before; a range that ends before it begins is empty.  What the caller
 * knows to be inserted will be visited.  No slot is touched.
 */
haft_cursor haft_cursor_over(const haft_table *table, haft_range range);

/*
 * haft_used_range - the first stretch of slots within `range` that are not fresh, for loops over
 * runs (haft/view.h).  Slots first used after the call began may be left out; no slot is touched.
 *
 * Returns   the stretch; an empty range at the end of `range` or of the table if there is none.
 * Threads   as haft_cursor_next().
 * Cost      O(workers ever open at one time) for each stretch of fresh slots passed, and O(runs of
 *           pages) where memory was released.
 */
haft_range haft_used_range(const haft_table *table, haft_range range);

/*
 * haft_cursor_next - the next live object.
 *
 * Returns   true, the object's id in `*id` and its bytes in `*object`.  False, with both untouched,
 *           at the end; then it stays there.
 * Threads   any inside a read section of the table's domain, alongside any call but
 *           haft_table_close(); one at a time with one cursor.
 * Ordering  acquire for each object: all that was written before haft_publish() is visible.
 * Cost      O(slots passed): one load and one comparison each, no store to shared memory; and
 *           haft_used_range() once for each stretch of fresh slots.
 */
HAFT_INLINE bool haft_cursor_next(haft_cursor *cursor, haft_id *id, void **object)
{
    while (!haft_run_next(&cursor->run, id, object)) {
        const uint64_t at = cursor->run.left.to;

        if (at == cursor->end) {
            return false;
        }
        cursor->run = haft_run_over(cursor->run.view,
                                    haft_used_range(cursor->table, HAFT_RANGE(at, cursor->end)));
    }
    return true;
}

/* Called with each object; false ends the scan. */
typedef bool haft_visit(haft_id id, void *object, void *arg);

/*
 * haft_scan - call `visit` with each live object of `range`.  Workers can share a scan: see
 * haft_scan_ranges().
 *
 * Returns   the number of calls.
 * Threads   as haft_cursor_next().
 * Ordering  as haft_cursor_next().
 * Progress  as haft_cursor_next(), except for the visitor.
 * Cost      as haft_cursor_next(), and a call for each object.
 */
uint64_t haft_scan(const haft_table *table, haft_range range, haft_visit *visit, void *arg);

/*
 * haft_scan_ranges - divide the table into `parts` ranges, for as many workers to scan at once.
 * Together they are one scan, which starts here: they follow one another, cover all slots ever
 * used, and have equally many of these, live or not, except for rounding.  What the caller knows to
 * be inserted is in some range.
 *
 * Two ranges meet where a slot and a page begin together, or in parts of few pages a slot and a
 * cache line.  If there are more parts than lines, the rest are empty.
 *
 * Cost      O(parts), and haft_used_range() twice for each stretch of fresh slots.
 */
void haft_scan_ranges(const haft_table *table, haft_range *ranges, size_t parts);

/*
 * haft/pin.h - holding on to an object beyond a read section.
 *
 * A pinned object's memory is not reused before it is unpinned, across read sections, blocking
 * calls and a concurrent free: for a job that hands a pointer to a system call, or to a thread that
 * has no read sections.  A pin keeps the object's memory, not its id: the object may be freed at
 * any time, and then on_reclaim runs and the slot is reused after the last pin is gone.  Until then
 * the freed object takes up a slot, but does not count towards the capacity: if no other slot is
 * left, the answer is HAFT_BUSY.
 *
 * The table needs the option `pins` (a local table that is to be shared too): 8 bytes more in each
 * slot, and a read-modify-write for each slot that is reclaimed.  Without it no object can be
 * pinned.
 */

#define HAFT_PINS_MOST 0x7fffffffu /* of one object at one time */

/*
 * haft_pin - resolve, and keep the object's memory until haft_unpin().  The pin belongs to no
 * thread.
 *
 * Returns   the object; NULL if the id is stale, as haft_resolve(), if the object has
 *           HAFT_PINS_MOST pins, or if the table was opened without `pins`.
 * Threads   any thread inside a read section of the table's domain.
 * Ordering  as haft_resolve().
 * Cost      haft_resolve() and an atomic addition to the object's slot.
 */
void *haft_pin(haft_table *table, haft_id id);

/*
 * haft_unpin - give one pin back.  It runs no callback.  If only pins kept the slot of a freed
 * object, the last unpin makes it ready to be reclaimed: by the next insertion that finds no ready
 * slot, by a worker's duties (haft/table.h), by haft_trim() or at closing.  A chain of objects,
 * each of which unpins the next in on_reclaim, is reclaimed in a loop.
 *
 * Returns   HAFT_OK.  HAFT_NOT_PINNED, and nothing is done, if the id's object has no pin.
 * Threads   any, registered or not, inside or outside a read section, also in callbacks.
 * Ordering  release: all uses of the object come before the reuse of its memory.
 * Progress  lock-free.
 * Cost      one compare-and-swap; two for the last pin of a freed object.
 */
haft_status haft_unpin(haft_table *table, haft_id id);

/*
 * haft_pins - how many pins the object has that `id` names, or named until it was freed; 0 for
 * other ids.  A momentary answer, as haft_is_live().
 */
uint32_t haft_pins(const haft_table *table, haft_id id);

/*
 * haft/share.h - hand a local table over to all threads, and back.
 *
 * One thread builds a level, a document or a configuration in a haft_local; then every worker may
 * use it, without a copy: the slots stay where they are, so every id and every pointer holds
 * before, during and after, and so does the view.
 *
 *   haft_share(local, domain, NULL, &table);      `local` is used up
 *   ...                                           workers insert, resolve and free
 *   haft_unshare(table, &local);                  `table` is used up
 */

typedef struct haft_share_options {
    /*
     * For objects freed while the table is shared: as in haft_table_options.  NULL: the local
     * table's on_destroy, if it has one, runs in its place, after the grace period.
     */
    haft_reclaim *on_reclaim;
    void *reclaim_arg;

    /* As in haft_table_options. */
    uint64_t waiting_bytes;
    bool never_wait;
} haft_share_options;

/*
 * haft_share, haft_share_sized - make a local table a shared one.  `options` may be NULL.
 *
 * What workers hold back comes from beyond the capacity: open the local table with `will_share`, or
 * there is little or no room for that, and workers work slot by slot (haft/local.h).  Free slots
 * are reused in no promised order, whatever `reuse` and `min_free` were.  A table with `memory`
 * keeps its slots there until it is closed; all else is its allocator's.  With `wrap` no memory is
 * released any more, also when it is a local table again.  haft_table_close() ends the table as any
 * shared one.
 *
 * Returns   HAFT_OK and the table in `*table`; `local` may not be used any more.  Otherwise nothing
 *           has changed:
 *             HAFT_IN_USE        objects are reserved and not published, a callback of the local
 *                                table runs, or a side is open (haft/kit/side.h)
 *             HAFT_LOADING       before haft_local_load_end()
 *             HAFT_IN_CALLBACK   inside a callback of a shared table
 *             HAFT_UNKNOWN_OPTION, HAFT_BAD_WAITING_BYTES   the option of that name
 *             HAFT_NO_MEMORY     for what a shared table has beside its slots
 * Threads   the local table's thread.  Hand `*table` over to others as any other pointer.
 * Progress  blocking (mmap, malloc).
 */
haft_status haft_share_sized(haft_local *local, haft_domain *domain,
                             const haft_share_options *options, size_t size, haft_table **table);
HAFT_INLINE haft_status haft_share(haft_local *local, haft_domain *domain,
                                   const haft_share_options *options, haft_table **table)
{
    return haft_share_sized(local, domain, options, sizeof *options, table);
}

/*
 * haft_unshare - make a shared table a local one, after waiting for readers and reclaiming all
 * freed slots.  No live object ends, and what on_reclaim inserts lives on.  A table of haft_share()
 * gets its former options back; one of haft_table_open() gets haft_local's defaults, and keeps
 * `wrap`.
 *
 * Reservations that closed workers have left stay reserved.  If objects, reservations and exhausted
 * slots are more than the local one's capacity, it grows to their number, and min_free falls to the
 * slots beside these.
 *
 * Returns   HAFT_OK and the local table in `*local`; `table` may not be used any more.  Otherwise
 *           it can be used as before:
 *             HAFT_IN_SECTION, HAFT_IN_CALLBACK, HAFT_FORKED   see haft/table.h
 *             HAFT_IN_USE   a worker is open, an object is pinned, or a side is open
 * Threads   as haft_table_close().  With qsbr and the workers clock it is a quiescent point.
 * Ordering  acquire: all that was done with the table before is visible.
 * Progress  as haft_table_close().
 * Cost      a grace period or more, or none, as haft_table_close(); O(slots ever used).
 */
haft_status haft_unshare(haft_table *table, haft_local **local);

/*
 * haft/memory.h - a table's memory: made ready beforehand, released to the system, provided by the
 * program, or in huge pages.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   any, registered or not, inside or outside a read section, alongside any call but
 *           haft_table_close() and haft_unshare().
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */

/* See haft/table.h. */

/*
 * haft_allocator - where memory comes from, malloc or one's own; small, so it is passed by value.
 *
 *   haft_allocator from = haft_allocator_malloc();
 *   node = from.alloc(from.context, sizeof *node, alignof(struct node));
 *
 * alloc     `size` bytes (0: a block like any other) at a multiple of `alignment`, a power of two;
 *           contents undefined.  NULL: no memory.
 * resize    `new_size` bytes (0 does not free) for `memory`, a block of `old_size` bytes, both that
 *           and `alignment` as asked for last.  The block may move; its first min(old_size,
 *           new_size) bytes are kept.  `memory` NULL, `old_size` 0: as alloc.  NULL: no memory, and
 *           the block is as it was.
 * free      ends `memory`, a block of `size` bytes, as asked for last.  NULL is nothing.
 *
 * Threads   as the memory behind it: malloc any, an arena (haft/kit/arena.h) one at a time.
 */
typedef struct haft_allocator {
    void *(*alloc)(void *context, size_t size, size_t alignment);
    void *(*resize)(void *context, void *memory, size_t old_size, size_t new_size,
                    size_t alignment);
    void (*free)(void *context, void *memory, size_t size);
    void *context;
} haft_allocator;

/*
 * haft_allocator_malloc - the C library's malloc, realloc and free: free() takes its blocks, and
 * its `free` those of malloc().  Not so on Windows, where it is _aligned_malloc and _aligned_free.
 * An alignment that is not a power of two gets NULL.
 */
haft_allocator haft_allocator_malloc(void);

/*
 * haft_allocator_block - an allocator over `size` bytes of the program's at `memory`: a static
 * array, pages from hugetlbfs, a console's heap.  Tables and domains that have it as their
 * `allocator` lie in the block with all of their arrays.
 *
 *   static char memory[1 << 20];
 *   const haft_allocator block = haft_allocator_block(memory, sizeof memory);
 *   haft_table_open(domain, &(haft_table_options){.capacity = 1000, .allocator = &block}, &table);
 *
 * It moves one pointer up.  What is freed last is free again at once, all else when all parts are
 * freed: for what is opened and closed together.  The block must last until then.  Up to 32 bytes
 * are the allocator's own, and parts are multiples of 16 bytes: at most 2^24 parts, in the first
 * 2^40 bytes.
 *
 * Threads   one; its functions any.
 * Progress  wait-free; its functions lock-free.
 * Cost      O(1); resize copies.
 */
haft_allocator haft_allocator_block(void *memory, size_t size);

/*
 * haft_reserve_capacity - have memory for `count` more slots now: before deadlines begin, and with
 * all workers open.
 *
 * Slots that wait for a grace period count as those of live objects do; `high_water` at the end of
 * a similar run is the number to ask for.  The call adds the fresh slots that each worker ever open
 * draws ahead.
 *
 * Returns   HAFT_OK: until haft_trim() is called or a worker is added, and while `high_water` rises
 *           by `count` at most, calls with the workers that are open now do not answer
 *           HAFT_NO_MEMORY and make no system call for memory; nor do they touch a page for the
 *           first time, where the system can populate memory (Linux 5.14).  Otherwise the table has
 *           not changed:
 *             HAFT_FULL        `count` is more than `limit` in the statistics
 *             HAFT_NO_MEMORY   the system refused
 * Progress  blocking (mprotect, madvise).  Others are never blocked by it.
 * Cost      O(slots ever used, and count) where memory is populated; else O(1).
 */
haft_status haft_reserve_capacity(haft_table *table, uint64_t count);

/*
 * haft_trim - release memory to the system: whole pages in which no slot is in use.  For large
 * tables that were full and are not: free, haft_worker_flush() by each worker, haft_domain_wait(),
 * haft_trim().
 *
 * Stale ids stay stale: the slots of a page run (those that fill 1 to about 16 pages of 4 KiB) go
 * on at the highest next generation among them.  That costs some of them lives, whose ids count as
 * HAFT_STALE.
 *
 * What stays: page runs with a slot that is live, reserved, pinned, exhausted or never used, that
 * waits for its grace period or that a worker holds; the first run; all of a table with at most 128
 * KiB of slots; batch descriptors and `sites`.
 *
 * It reclaims first, so on_reclaim may run.  Then it holds all free slots until it returns: other
 * threads take fresh ones or are told HAFT_BUSY.  In the statistics a slot is `released` until a
 * worker draws it again.
 *
 * Returns   HAFT_OK, and the bytes released in `*released` (NULL may be passed).  Otherwise no
 *           memory is released:
 *             HAFT_BUSY        another thread is in this call
 *             HAFT_FORKED, HAFT_IN_CALLBACK   see haft/table.h
 *             HAFT_BAD_WRAP    the table has `wrap`: ids repeat
 *             HAFT_CLOSED      after haft_table_clear(), while all workers are open
 *             HAFT_NO_MEMORY   none for a bit a slot, 16 bytes a page run, or a worker's part
 * Ordering  acquire: all readers of what lay in the pages are done.
 * Progress  blocking (madvise).  Others are never blocked by it.
 * Cost      O(slots ever used), and a system call for each stretch of pages released.
 */
haft_status haft_trim(haft_table *table, uint64_t *released);

/*
 * An allocator of the program's own serves the table, domain or history that has it in its options,
 * and all that is opened for it: clones, sides, workers, and memory that loading and saving need
 * until they return.  The struct is copied, and its context must last until all of these are
 * closed; haft_share() and haft_unshare() keep the allocator.  Its `resize` is not called, and may
 * be NULL.  If it refuses a block, the answer is HAFT_NO_MEMORY, and nothing has changed.
 *
 * Arrays of more than 8 KiB are in pages of the system, reserved at once and used as needed.  With
 * haft_allocator_block() they lie in the block, cleared when they are opened: nothing is mapped,
 * trim releases nothing, and whatever id comes in, only the block is read and written.  Batch
 * descriptors take 4.5 bytes for each slot of a shared table, more in small ones; each worker
 * brings a few, and more while the slots that it has freed wait.  The report of leaks, the census
 * of debug builds and exports use malloc.
 *
 * A haft_table calls its functions on any threads at once: where a worker is opened or closed, in
 * insertions, at quiescent points, in trim.  They may not use the tables and domains that they
 * serve.
 */

/*
 * Address space.  What is in pages is reserved for the capacity, and touched as slots are used.
 * Where address space counts, keep the capacity near what is needed:
 *
 *   ulimit -v, 32 bits        all of a reservation counts.  A shared table of 100 small objects
 *                             takes less than 64 KiB, and each worker 14 KiB more, at first
 *   strict overcommit,        pages are made writable as they are used, 2 MiB at a time: only these
 *   ulimit -d                 count
 *   core dumps                have what has been used, and up to 2 MiB more of each array, on Linux
 *                             and FreeBSD; elsewhere the system decides
 *   mlockall(MCL_FUTURE)      makes whole reservations resident when they are made.  On Linux call
 *                             mlockall(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT) instead: pages are
 *                             locked as they are touched, and haft_reserve_capacity() touches those
 *                             that deadlines need.  Elsewhere open the tables before, and lock the
 *                             pages in use by mlock(), or have the tables in a block
 *   Windows                   all of a reservation is commit charge
 */

/*
 * Huge pages make random access to the slots of a large table faster.  Memory then comes by 2 MiB
 * at a time, the first with the table.  Trim releases the same runs as without, and splits huge
 * pages for that.  Where the system gives no huge pages the option changes nothing.
 */

/*
 * haft/detail/typed_slots.h - what typed tables have in common, behind haft/typed.h: a C type, its
 * ids, its slots and its view.
 */

/* A C type, as tables see it. */
typedef struct haft_type {
    size_t size;
    size_t alignment;
    size_t slot_size; /* of a slot with its word, and pins if any */
    bool has_pins;
} haft_type;

/*
 * haft_type_complete - fill in what the type says of a table's options.
 *
 * Returns   HAFT_OK and the options' values, which were 0 or the same before.  Otherwise nothing
 *           has changed:
 *             HAFT_BAD_OBJECT_SIZE, HAFT_BAD_OBJECT_ALIGNMENT   it is another
 *             HAFT_BAD_PINS   the type was not declared by HAFT_TYPED_PINNED
 */
haft_status haft_type_complete(haft_type type, size_t *object_size, size_t *object_alignment,
                               bool *pins);

/*
 * haft_type_fits - whether a local or shared table has objects of the type: by size, alignment,
 * pins, and the distance of its slots.
 *
 * Returns   HAFT_OK or HAFT_WRONG_TYPE.
 */
haft_status haft_type_fits(haft_type type, haft_view view, size_t object_size, bool has_pins);

#ifdef __cplusplus
}
#endif

/* Static in C++ as well: two files may have typed tables of one name.  Unused, so that no compiler
 * warns of those that a program does not call. */
#define HAFT_TYPED_FUNCTION static inline HAFT_UNUSED

/* A function that is one call: with a result, and without. */
#define HAFT_TYPED_CALL(result, name, parameters, call)                                            \
    HAFT_TYPED_FUNCTION result name parameters                                                     \
    {                                                                                              \
        return call;                                                                               \
    }
#define HAFT_TYPED_DO(name, parameters, call)                                                      \
    HAFT_TYPED_FUNCTION void name parameters                                                       \
    {                                                                                              \
        call;                                                                                      \
    }

/* A reservation from `from`: `call` puts the object into `found`. */
#define HAFT_TYPED_RESERVE(name, function, from, call)                                             \
    HAFT_TYPED_FUNCTION haft_status function(from, name##_id *id, name##_object **object)          \
    {                                                                                              \
        void *found;                                                                               \
        const haft_status status = call;                                                           \
        if (status == HAFT_OK && object != NULL) {                                                 \
            *object = HAFT_CAST(name##_object *, found);                                           \
        }                                                                                          \
        return status;                                                                             \
    }

/* name_kind_adopt(): a table or worker opened elsewhere, whose view is `untyped`. */
#define HAFT_TYPED_ADOPT(name, kind, untyped)                                                      \
    HAFT_TYPED_FUNCTION haft_status name##_##kind##_adopt(haft_##kind *kind, name##_##kind *typed) \
    {                                                                                              \
        const haft_status status = haft_##kind##_fits(kind, name##_type());                        \
        if (status == HAFT_OK) {                                                                   \
            typed->kind = kind;                                                                    \
            typed->view = name##_view_of(untyped);                                                 \
        }                                                                                          \
        return status;                                                                             \
    }

/* name_kind_open(): `call` opens `kind`. */
#define HAFT_TYPED_OPEN(name, function, kind, parameters, call)                                    \
    HAFT_TYPED_FUNCTION haft_status function parameters                                            \
    {                                                                                              \
        haft_##kind *kind;                                                                         \
        const haft_status status = call;                                                           \
        return status == HAFT_OK ? name##_##kind##_adopt(kind, typed) : status;                    \
    }

#define HAFT_TYPED_ID_FUNCTIONS(name)                                                              \
    HAFT_TYPED_FUNCTION name##_id name##_id_of(haft_id id)                                         \
    {                                                                                              \
        name##_id typed = {id};                                                                    \
        return typed;                                                                              \
    }                                                                                              \
    HAFT_TYPED_CALL(haft_id, name##_id_untyped, (name##_id id), id.id)                             \
    HAFT_TYPED_CALL(name##_id, name##_id_nil, (void), name##_id_of(HAFT_NIL))                      \
    HAFT_TYPED_CALL(bool, name##_id_is_nil, (name##_id id), haft_id_is_nil(id.id))                 \
    HAFT_TYPED_CALL(bool, name##_id_equal, (name##_id a, name##_id b), haft_id_equal(a.id, b.id))

/*
 * What lies before an object, in words: the slot's own word, last, and what fills up to the
 * alignment.  The pins of the slot before lie there as well, so the slots of a table are an array
 * of these structs in any case.
 */
#define HAFT_TYPED_WORDS(type, pinned)                                                             \
    (HAFT_ALIGNOF(type) > 8 ? HAFT_ALIGNOF(type) / 8 : HAFT_CAST(size_t, 1 + (pinned)))

#define HAFT_TYPED_SLOTS(name, type, pinned)                                                       \
    typedef type name##_object;                                                                    \
    typedef struct name##_slot {                                                                   \
        HAFT_ALIGNED(8) uint64_t word[HAFT_TYPED_WORDS(type, pinned)];                             \
        name##_object object;                                                                      \
    } name##_slot;                                                                                 \
    typedef struct name##_view {                                                                   \
        name##_slot *slot;                                                                         \
        uint64_t mask;                                                                             \
    } name##_view;                                                                                 \
    typedef struct name##_ref {                                                                    \
        haft_ref ref;                                                                              \
    } name##_ref;                                                                                  \
    typedef bool name##_visit(name##_id id, name##_object *object, void *arg);                     \
                                                                                                   \
    HAFT_TYPED_FUNCTION haft_type name##_type(void)                                                \
    {                                                                                              \
        haft_type self = {sizeof(type), HAFT_ALIGNOF(type), sizeof(name##_slot), (pinned) != 0};   \
        return self;                                                                               \
    }                                                                                              \
    HAFT_TYPED_FUNCTION name##_view name##_view_of(haft_view view)                                 \
    {                                                                                              \
        char *first = view.base - 8 * (HAFT_TYPED_WORDS(type, pinned) - 1);                        \
        name##_view typed = {HAFT_CAST(name##_slot *, HAFT_CAST(void *, first)), view.mask};       \
        return typed;                                                                              \
    }                                                                                              \
    HAFT_TYPED_FUNCTION haft_view name##_view_untyped(name##_view view)                            \
    {                                                                                              \
        char *first = HAFT_CAST(char *, HAFT_CAST(void *, view.slot));                             \
        haft_view untyped = {first + 8 * (HAFT_TYPED_WORDS(type, pinned) - 1), view.mask,          \
                             sizeof(name##_slot)};                                                 \
        return untyped;                                                                            \
    }                                                                                              \
    HAFT_TYPED_CALL(name##_object *, name##_resolve, (name##_view view, name##_id id),             \
                    HAFT_CAST(name##_object *, haft_resolve(name##_view_untyped(view), id.id)))    \
    HAFT_TYPED_CALL(bool, name##_is_live, (name##_view view, name##_id id),                        \
                    haft_is_live(name##_view_untyped(view), id.id))                                \
    HAFT_TYPED_CALL(                                                                               \
        size_t, name##_resolve_many,                                                               \
        (name##_view view, const name##_id *ids, name##_object **objects, size_t count),           \
        haft_resolve_many(name##_view_untyped(view), &ids->id,                                     \
                          HAFT_CAST(void **, HAFT_CAST(void *, objects)), count))                  \
    HAFT_TYPED_FUNCTION name##_ref name##_ref_of(name##_view view, name##_id id)                   \
    {                                                                                              \
        name##_ref typed = {haft_ref_of(name##_view_untyped(view), id.id)};                        \
        return typed;                                                                              \
    }                                                                                              \
    HAFT_TYPED_CALL(name##_object *, name##_ref_get, (name##_ref ref),                             \
                    HAFT_CAST(name##_object *, haft_ref_get(ref.ref)))                             \
    HAFT_TYPED_CALL(bool, name##_ref_is_live, (name##_ref ref), haft_ref_is_live(ref.ref))         \
    HAFT_TYPED_CALL(name##_id, name##_ref_id, (name##_ref ref),                                    \
                    name##_id_of(haft_ref_id(ref.ref)))                                            \
    HAFT_TYPED_VISITOR(name)                                                                       \
    struct name##_slot

/* How a typed visitor is called by what knows untyped ones only. */
#define HAFT_TYPED_VISITOR(name)                                                                   \
    struct name##_visitor {                                                                        \
        name##_visit *visit;                                                                       \
        void *arg;                                                                                 \
    };                                                                                             \
    HAFT_TYPED_FUNCTION bool name##_visit_untyped(haft_id id, void *object, void *arg)             \
    {                                                                                              \
        const struct name##_visitor *visitor = HAFT_CAST(const struct name##_visitor *, arg);      \
        return visitor->visit(name##_id_of(id), HAFT_CAST(name##_object *, object), visitor->arg); \
    }

/*
 * haft/detail/typed_counted.h - haft_counted for one C type; haft/typed.h says what typed tables
 * are.
 */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * haft_counted_open_typed - haft_counted_open() with size and alignment of the type, for what is 0
 * in `options`.
 *
 * Returns   as haft_counted_open() and haft_type_complete().
 * Progress  blocking (mmap, malloc).
 * Cost      as haft_counted_open().
 */
HAFT_ONLY_INLINE haft_status haft_counted_open_typed(haft_type type,
                                                     const haft_counted_options *options,
                                                     haft_counted **table)
{
    haft_counted_options full;

    memset(&full, 0, sizeof full);
    if (options != NULL) {
        full = *options;
    }
    bool pins = false;
    const haft_status status =
        haft_type_complete(type, &full.object_size, &full.object_alignment, &pins);

    return status == HAFT_OK ? haft_counted_open(&full, table) : status;
}

/*
 * haft_counted_fits - whether the table's objects are of the type, by size and alignment.
 *
 * Returns   HAFT_OK or HAFT_WRONG_TYPE.
 */
haft_status haft_counted_fits(const haft_counted *table, haft_type type);

#ifdef __cplusplus
}
#endif

#define HAFT_TYPED_COUNTED_WHOLE(name)                                                             \
    HAFT_TYPED_FUNCTION haft_status name##_counted_adopt(haft_counted *counted,                    \
                                                         name##_counted *typed)                    \
    {                                                                                              \
        const haft_status status = haft_counted_fits(counted, name##_type());                      \
        if (status == HAFT_OK) {                                                                   \
            typed->counted = counted;                                                              \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    HAFT_TYPED_CALL(haft_status, name##_counted_open,                                              \
                    (const haft_counted_options *options, name##_counted *typed),                  \
                    haft_counted_open_typed(name##_type(), options, &typed->counted))              \
    HAFT_TYPED_CALL(haft_status, name##_counted_close, (name##_counted table),                     \
                    haft_counted_close(table.counted))                                             \
    HAFT_TYPED_CALL(haft_status, name##_counted_close_wait, (name##_counted table),                \
                    haft_counted_close_wait(table.counted))                                        \
    HAFT_TYPED_DO(name##_counted_abandon, (name##_counted table),                                  \
                  haft_counted_abandon(table.counted))

#define HAFT_TYPED_COUNTED_LIVES(name)                                                             \
    HAFT_TYPED_CALL(haft_status, name##_counted_insert,                                            \
                    (name##_counted table, const name##_object *object, name##_id *id),            \
                    haft_counted_insert(table.counted, object, &id->id))                           \
    HAFT_TYPED_RESERVE(name, name##_counted_reserve, name##_counted table,                         \
                       haft_counted_reserve(table.counted, &id->id, &found))                       \
    HAFT_TYPED_DO(name##_counted_publish, (name##_counted table, name##_id id),                    \
                  haft_counted_publish(table.counted, id.id))                                      \
    HAFT_TYPED_DO(name##_counted_abort, (name##_counted table, name##_id id),                      \
                  haft_counted_abort(table.counted, id.id))                                        \
    HAFT_TYPED_CALL(haft_status, name##_counted_free, (name##_counted table, name##_id id),        \
                    haft_counted_free(table.counted, id.id))                                       \
    HAFT_TYPED_CALL(haft_status, name##_counted_take,                                              \
                    (name##_counted table, name##_id id, name##_object * object),                  \
                    haft_counted_take(table.counted, id.id, object))

#define HAFT_TYPED_COUNTED_HOLDS(name)                                                             \
    HAFT_TYPED_CALL(name##_object *, name##_counted_acquire, (name##_counted table, name##_id id), \
                    HAFT_CAST(name##_object *, haft_counted_acquire(table.counted, id.id)))        \
    HAFT_TYPED_CALL(name##_object *, name##_counted_require, (name##_counted table, name##_id id), \
                    HAFT_CAST(name##_object *, haft_counted_require(table.counted, id.id)))        \
    HAFT_TYPED_CALL(bool, name##_counted_again, (name##_counted table, name##_id id),              \
                    haft_counted_again(table.counted, id.id))                                      \
    HAFT_TYPED_CALL(haft_status, name##_counted_release, (name##_counted table, name##_id id),     \
                    haft_counted_release(table.counted, id.id))                                    \
    HAFT_TYPED_CALL(bool, name##_counted_copy,                                                     \
                    (name##_counted table, name##_id id, name##_object * object),                  \
                    haft_counted_copy(table.counted, id.id, object))

#define HAFT_TYPED_COUNTED_LOOKS(name)                                                             \
    HAFT_TYPED_CALL(bool, name##_counted_is_live, (name##_counted table, name##_id id),            \
                    haft_counted_is_live(table.counted, id.id))                                    \
    HAFT_TYPED_CALL(haft_status, name##_counted_diagnose, (name##_counted table, name##_id id),    \
                    haft_counted_diagnose(table.counted, id.id))                                   \
    HAFT_TYPED_CALL(haft_status, name##_counted_id_at,                                             \
                    (name##_counted table, uint64_t index, name##_id * id),                        \
                    haft_counted_id_at(table.counted, index, &id->id))                             \
    HAFT_TYPED_FUNCTION bool name##_counted_cursor_next(                                           \
        name##_counted table, haft_counted_cursor *cursor, name##_id *id, name##_object **object)  \
    {                                                                                              \
        void *found;                                                                               \
        const bool is_found = haft_counted_cursor_next(table.counted, cursor, &id->id, &found);    \
        if (is_found) {                                                                            \
            *object = HAFT_CAST(name##_object *, found);                                           \
        }                                                                                          \
        return is_found;                                                                           \
    }

/*
 * haft/detail/local_front.h - insertion and free in place: the common way of haft_local, without a
 * call.
 *
 * haft_local_insert() and haft_local_free() for code that knows the size of its objects and the
 * distance of its slots as constants: typed tables (haft/typed.h) use it.  What is not common
 * (no free slot in the list, a destructor, FIFO, a slot's last life) is a call of those two.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   one at a time for each table.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 *
 * Edges in this file.
 *   OWN   one thread uses the table; resolve reads the word as an atomic, so it is one here too
 */

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What a haft_local begins with.  The library alone writes it otherwise than by the functions
 * below, which are all that programs should use of it.
 */
struct haft_local_front {
    uint32_t head;  /* the free slot to be used next; 0: there is none in place */
    uint32_t count; /* live objects */
    uint64_t index_mask;
    uint64_t generation_one;  /* generation 1, where it stands in an id */
    uint64_t generation_mask; /* 0: nothing is freed in place */
};

/* Not for programs: take the slot to be used next, under the id that the caller stores; or NULL. */
HAFT_ONLY_INLINE haft_atomic_u64 *haft_local_front_take(haft_local *local, haft_view view,
                                                        haft_id *id)
{
    struct haft_local_front *front = HAFT_CAST(struct haft_local_front *, HAFT_CAST(void *, local));
    const uint64_t index = front->head;

    if (HAFT_IF_UNLIKELY(index == 0)) {
        return NULL;
    }
    haft_atomic_u64 *at =
        HAFT_CAST(haft_atomic_u64 *, HAFT_CAST(void *, view.base + index * view.stride));
    const uint64_t word = haft_load_relaxed(HAFT_EDGE_OWN, at);

    front->head = HAFT_CAST(uint32_t, word & front->index_mask);
    front->count++;
    id->bits = (word & ~front->index_mask) | index;
    return at;
}

/* Not for programs: free `id` in place; false, with nothing changed: the call must do it. */
HAFT_ONLY_INLINE bool haft_local_front_put(haft_local *local, haft_view view, haft_id id)
{
    struct haft_local_front *front = HAFT_CAST(struct haft_local_front *, HAFT_CAST(void *, local));
    haft_atomic_u64 *at = HAFT_CAST(
        haft_atomic_u64 *, HAFT_CAST(void *, view.base + (id.bits & view.mask) * view.stride));
    const uint64_t next = id.bits + front->generation_one;

    /* After the last life the generation is 0, wherever the sum has gone. */
    if (HAFT_IF_UNLIKELY(haft_load_relaxed(HAFT_EDGE_OWN, at) != id.bits) ||
        HAFT_IF_UNLIKELY((next & front->generation_mask) == 0)) {
        return false;
    }
    haft_store_relaxed(HAFT_EDGE_OWN, at, (next & ~front->index_mask) | front->head);
    front->head = HAFT_CAST(uint32_t, id.bits & front->index_mask);
    front->count--;
    return true;
}

/*
 * haft_local_insert_front - as haft_local_insert(); `view` is the table's own, `size` the size of
 * its objects.
 *
 * Returns   as haft_local_insert().
 * Cost      O(1), and the copy.
 */
HAFT_ONLY_INLINE haft_status haft_local_insert_front(haft_local *local, haft_view view,
                                                     const void *object, size_t size, haft_id *id)
{
    haft_atomic_u64 *at = object != NULL ? haft_local_front_take(local, view, id) : NULL;

    if (HAFT_IF_UNLIKELY(at == NULL)) {
        return haft_local_insert(local, object, id);
    }
    void *bytes = at + 1;

    memcpy(bytes, object, size);
    haft_store_relaxed(HAFT_EDGE_OWN, at, id->bits);
    return HAFT_OK;
}

/*
 * haft_local_free_front - as haft_local_free(); `view` is the table's own.
 *
 * Returns   as haft_local_free().
 * Progress  wait-free except for on_destroy.
 */
HAFT_ONLY_INLINE haft_status haft_local_free_front(haft_local *local, haft_view view, haft_id id)
{
    return haft_local_front_put(local, view, id) ? HAFT_OK : haft_local_free(local, id);
}

/*
 * haft/detail/typed_local.h - haft_local for one C type; haft/typed.h says what typed tables are.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   one at a time for each table.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 */

/*
 * haft_local_open_typed - haft_local_open() with size, alignment and pins of the type, for what is
 * 0 in `options`.
 *
 * Returns   as haft_local_open() and haft_type_complete().
 * Threads   as haft_local_open().
 * Progress  blocking (mmap, malloc).
 * Cost      as haft_local_open().
 */
HAFT_ONLY_INLINE haft_status haft_local_open_typed(haft_type type,
                                                   const haft_local_options *options,
                                                   haft_local **local)
{
    haft_local_options full;

    memset(&full, 0, sizeof full);
    if (options != NULL) {
        full = *options;
    }
    const haft_status status =
        haft_type_complete(type, &full.object_size, &full.object_alignment, &full.pins);

    return status == HAFT_OK ? haft_local_open(&full, local) : status;
}

/*
 * haft_local_fits - whether the table's objects are of the type: see haft_type_fits().
 *
 * Returns   HAFT_OK or HAFT_WRONG_TYPE.
 */
HAFT_ONLY_INLINE haft_status haft_local_fits(const haft_local *local, haft_type type)
{
    const haft_info info = haft_local_info(local);

    return haft_type_fits(type, haft_local_view(local), info.object_size, info.pins);
}

#ifdef __cplusplus
}
#endif

#define HAFT_TYPED_LOCAL_FUNCTIONS(name)                                                           \
    HAFT_TYPED_ADOPT(name, local, haft_local_view(local))                                          \
    HAFT_TYPED_OPEN(name, name##_local_open, local,                                                \
                    (const haft_local_options *options, name##_local *typed),                      \
                    haft_local_open_typed(name##_type(), options, &local))                         \
    HAFT_TYPED_DO(name##_local_close, (name##_local local), haft_local_close(local.local))         \
    HAFT_TYPED_RESERVE(name, name##_local_reserve, name##_local local,                             \
                       haft_local_reserve(local.local, &id->id, &found))                           \
    HAFT_TYPED_DO(name##_local_publish, (name##_local local, name##_id id),                        \
                  haft_local_publish(local.local, id.id))                                          \
    HAFT_TYPED_DO(name##_local_abort, (name##_local local, name##_id id),                          \
                  haft_local_abort(local.local, id.id))                                            \
    HAFT_TYPED_CALL(haft_status, name##_local_insert,                                              \
                    (name##_local local, const name##_object *object, name##_id *id),              \
                    haft_local_insert_front(local.local, name##_view_untyped(local.view), object,  \
                                            sizeof(name##_object), &id->id))                       \
    HAFT_TYPED_CALL(haft_status, name##_local_free, (name##_local local, name##_id id),            \
                    haft_local_free_front(local.local, name##_view_untyped(local.view), id.id))    \
    HAFT_TYPED_CALL(haft_status, name##_local_diagnose, (name##_local local, name##_id id),        \
                    haft_local_diagnose(local.local, id.id))                                       \
    HAFT_TYPED_CALL(haft_status, name##_local_id_at,                                               \
                    (name##_local local, uint64_t index, name##_id * id),                          \
                    haft_local_id_at(local.local, index, &id->id))                                 \
    HAFT_TYPED_CALL(                                                                               \
        name##_object *, name##_local_require, (name##_local local, name##_id id),                 \
        HAFT_CAST(name##_object *,                                                                 \
                  haft_local_require(local.local, name##_view_untyped(local.view), id.id)))        \
    HAFT_TYPED_FUNCTION uint64_t name##_local_for_each(name##_local local, name##_visit *visit,    \
                                                       void *arg)                                  \
    {                                                                                              \
        struct name##_visitor visitor = {visit, arg};                                              \
        return haft_local_for_each(local.local, name##_visit_untyped, &visitor);                   \
    }

/*
 * haft/detail/table_front.h - insertion and free in place: the common way of haft_table, without a
 * call.
 *
 * haft_insert() and haft_free() for code that knows the size of its objects and the distance of its
 * slots as constants: typed tables (haft/typed.h) use it.  What is not common (no slot or no room
 * in the worker's batches, fresh memory, a slot's last life, allocation sites) is a call of those
 * two.  So is everything if the library was built with its assertions or with
 * AddressSanitizer: then it closes the way in place, and its checks hold for these calls too.
 *
 * Unless a function says otherwise:
 *
 * Returns   nothing, or what the first line says.
 * Threads   the worker's.
 * Ordering  none.
 * Progress  wait-free.
 * Cost      O(1).
 *
 * Edges in this file.
 *   PUBLISH  haft_worker_front_put (release) -> haft_worker_front_free (acquire)   as
 *            life_publish() and life_end() (concurrent/worker/life.h)
 *   TALLY    haft_worker_front_put (release) -> count_begun (acquire)   as tally()
 *   COUNT    a counter that one worker writes and any thread may read
 *   OWN      the slot's word is the worker's until it is published; its counters are
 *   RETRY    a first look; the compare-and-swap decides
 */

#ifdef __cplusplus
extern "C" {
#endif

/* Changes with the struct below and with what its members mean. */
#define HAFT_TABLE_FRONT 1

#define HAFT_FRONT_FREE 3 /* in the index field of a slot that was freed */

/*
 * What a haft_worker begins with: a cache line that stays as it is while the worker is open, and
 * one for what changes.  The library alone writes it otherwise than by the functions below, which
 * are all that programs should use of it.
 *
 * Of its two batches a worker knows the positions by its own counts: an insertion uses slot number
 * `inserted`, a free adds slot number `freed`.  So one store does for the count and for the batch:
 * each store before a compare-and-swap takes time.
 */
struct haft_worker_front {
    uint32_t version;     /* the library's HAFT_TABLE_FRONT; the first member of all versions */
    uint32_t object_size; /* of objects that haft_insert() copies by words */
    uint64_t above_index; /* all bits above the index, which is minus generation 1 */
    uint64_t used_from;   /* lower words are fresh memory; the highest: no insertion in place */
    uint64_t called_from; /* `used_from` for the call haft_insert() */
    uint64_t last_life;   /* ids from here on are in their slot's last life; 0: no free in place */
    haft_view view;       /* the table's */

    uintptr_t use_at;  /* address of the slot to be used next, in its batch, less 4 * inserted */
    uintptr_t free_at; /* address for the slot freed next, in its batch, less 4 * freed */
    uint64_t use_to;   /* `inserted` when the batch is used up */
    uint64_t look_at;  /* `freed` from which on a free does more */
    haft_atomic_u64 inserted;
    haft_atomic_u64 freed;
};

/* A slot that was taken for an insertion. */
struct haft_front_slot {
    haft_atomic_u64 *word; /* the object lies behind it */
    haft_id id;            /* to be */
    uint64_t inserted;     /* before it */
};

/* haft_worker_has_front - whether the library is of the version of these headers. */
HAFT_ONLY_INLINE bool haft_worker_has_front(const haft_worker *worker)
{
    const struct haft_worker_front *front =
        HAFT_CAST(const struct haft_worker_front *, HAFT_CAST(const void *, worker));

    return front->version == HAFT_TABLE_FRONT;
}

/*
 * Not for programs: the place of number `count` in a batch.  `from`: the address of the batch, less
 * 4 for each number before its first one.
 */
HAFT_ONLY_INLINE uint32_t *haft_front_place(uintptr_t from, uint64_t count)
{
    return HAFT_BITS(uint32_t *, from + HAFT_CAST(uintptr_t, count) * sizeof(uint32_t));
}

/*
 * Not for programs: the worker's next slot, which haft_worker_front_put() uses; false: the call
 * must do it.  `used_from`: the worker's member of that name, or the bound of a call.
 */
HAFT_ONLY_INLINE bool haft_worker_front_take(const haft_worker *worker, haft_view view,
                                             uint64_t used_from, struct haft_front_slot *slot)
{
    const struct haft_worker_front *front =
        HAFT_CAST(const struct haft_worker_front *, HAFT_CAST(const void *, worker));
    const uint64_t inserted = haft_load_relaxed(HAFT_EDGE_OWN, &front->inserted);

    if (HAFT_IF_UNLIKELY(inserted == front->use_to)) {
        return false;
    }
    const uint64_t index = *haft_front_place(front->use_at, inserted);
    haft_atomic_u64 *at =
        HAFT_CAST(haft_atomic_u64 *, HAFT_CAST(void *, view.base + index * view.stride));
    const uint64_t word = haft_load_relaxed(HAFT_EDGE_OWN, at);

    if (HAFT_IF_UNLIKELY(word < used_from)) {
        return false;
    }
    slot->word = at;
    slot->id.bits = (word & front->above_index) | index;
    slot->inserted = inserted;
    return true;
}

/* Not for programs: the object of the slot is there; its id is live. */
HAFT_ONLY_INLINE void haft_worker_front_put(haft_worker *worker, struct haft_front_slot slot)
{
    struct haft_worker_front *front =
        HAFT_CAST(struct haft_worker_front *, HAFT_CAST(void *, worker));

    haft_store_release(HAFT_EDGE_TALLY, &front->inserted, slot.inserted + 1);
    /* Weakened, a reader could match the id and read the object's bytes from before. */
    haft_store_release(HAFT_EDGE_PUBLISH, slot.word, slot.id.bits);
}

/*
 * Not for programs: free `id` in place; false, with nothing changed, if the call must do it.
 * `last_life`: the worker's, or the table's where the call was checked.
 */
HAFT_ONLY_INLINE bool haft_worker_front_free(haft_worker *worker, haft_view view,
                                             uint64_t last_life, haft_id id)
{
    struct haft_worker_front *front =
        HAFT_CAST(struct haft_worker_front *, HAFT_CAST(void *, worker));
    const uint64_t index = id.bits & view.mask;
    haft_atomic_u64 *at =
        HAFT_CAST(haft_atomic_u64 *, HAFT_CAST(void *, view.base + index * view.stride));
    const uint64_t freed = haft_load_relaxed(HAFT_EDGE_COUNT, &front->freed);
    uint32_t *place = haft_front_place(front->free_at, freed);

    if (HAFT_IF_UNLIKELY(haft_load_relaxed(HAFT_EDGE_RETRY, at) != id.bits) ||
        HAFT_IF_UNLIKELY(id.bits >= last_life) || HAFT_IF_UNLIKELY(freed + 1 >= front->look_at)) {
        return false;
    }
    /* A live id has its own index: the next generation, and the mark in its place. */
    const uint64_t next = id.bits - index - front->above_index + HAFT_FRONT_FREE;

    /* Weakened, the slot's next tenant could be written before the object's first bytes are. */
    if (HAFT_IF_UNLIKELY(!haft_cas_acquire(HAFT_EDGE_PUBLISH, at, id.bits, next))) {
        return false;
    }
    *place = HAFT_CAST(uint32_t, index);
    haft_store_relaxed(HAFT_EDGE_COUNT, &front->freed, freed + 1);
    return true;
}

/*
 * haft_insert_front - as haft_insert(); `view` is the table's own, `size` the size of its objects.
 *
 * Returns   as haft_insert().
 * Ordering  as haft_insert().
 * Progress  lock-free.
 * Cost      as haft_insert().
 */
HAFT_ONLY_INLINE haft_status haft_insert_front(haft_worker *worker, haft_view view,
                                               const void *object, size_t size, haft_id *id)
{
    const struct haft_worker_front *front =
        HAFT_CAST(const struct haft_worker_front *, HAFT_CAST(const void *, worker));
    struct haft_front_slot slot;

    if (HAFT_IF_UNLIKELY(object == NULL) ||
        !haft_worker_front_take(worker, view, front->used_from, &slot)) {
        /* Into a variable of this block: the caller's may stay in a register. */
        haft_id inserted;
        const haft_status status = haft_insert(worker, object, &inserted);

        if (status == HAFT_OK) {
            *id = inserted;
        }
        return status;
    }
    void *bytes = slot.word + 1;

    memcpy(bytes, object, size);
    haft_worker_front_put(worker, slot);
    *id = slot.id;
    return HAFT_OK;
}

/*
 * haft_free_front - as haft_free(); `view` is the table's own.
 *
 * Returns   as haft_free().
 * Ordering  as haft_free().
 * Progress  lock-free.
 * Cost      as haft_free().
 */
HAFT_ONLY_INLINE haft_status haft_free_front(haft_worker *worker, haft_view view, haft_id id)
{
    const struct haft_worker_front *front =
        HAFT_CAST(const struct haft_worker_front *, HAFT_CAST(const void *, worker));

    return haft_worker_front_free(worker, view, front->last_life, id) ? HAFT_OK
                                                                      : haft_free(worker, id);
}

/*
 * haft/detail/typed_table.h - shared tables, workers and scans for one C type; haft/typed.h says
 * what typed tables are.
 */

/*
 * haft_table_open_typed - haft_table_open() with size, alignment and pins of the type, for what is
 * 0 in `options`.
 *
 * Returns   as haft_table_open() and haft_type_complete().
 * Threads   as haft_table_open().
 * Progress  blocking (mmap, malloc).
 * Cost      as haft_table_open().
 */
HAFT_ONLY_INLINE haft_status haft_table_open_typed(haft_type type, haft_domain *domain,
                                                   const haft_table_options *options,
                                                   haft_table **table)
{
    haft_table_options full;

    memset(&full, 0, sizeof full);
    if (options != NULL) {
        full = *options;
    }
    const haft_status status =
        haft_type_complete(type, &full.object_size, &full.object_alignment, &full.pins);

    return status == HAFT_OK ? haft_table_open(domain, &full, table) : status;
}

/*
 * haft_table_fits - whether the table's objects are of the type: see haft_type_fits().
 *
 * Returns   HAFT_OK or HAFT_WRONG_TYPE.
 */
HAFT_ONLY_INLINE haft_status haft_table_fits(const haft_table *table, haft_type type)
{
    const haft_info info = haft_table_info(table);

    return haft_type_fits(type, haft_table_view(table), info.object_size, info.pins);
}

/*
 * haft_worker_fits - haft_table_fits() of its table, and whether the library is of the version that
 * calls in place are for.
 *
 * Returns   HAFT_OK or HAFT_WRONG_TYPE.
 */
HAFT_ONLY_INLINE haft_status haft_worker_fits(const haft_worker *worker, haft_type type)
{
    return haft_worker_has_front(worker) ? haft_table_fits(haft_worker_table(worker), type)
                                         : HAFT_WRONG_TYPE;
}

#ifdef __cplusplus
}
#endif

#define HAFT_TYPED_WHOLE_TABLE(name)                                                               \
    HAFT_TYPED_ADOPT(name, table, haft_table_view(table))                                          \
    HAFT_TYPED_OPEN(                                                                               \
        name, name##_table_open, table,                                                            \
        (haft_domain * domain, const haft_table_options *options, name##_table *typed),            \
        haft_table_open_typed(name##_type(), domain, options, &table))                             \
    HAFT_TYPED_CALL(haft_status, name##_table_clear, (name##_table table),                         \
                    haft_table_clear(table.table))                                                 \
    HAFT_TYPED_CALL(haft_status, name##_table_close, (name##_table table),                         \
                    haft_table_close(table.table))                                                 \
    HAFT_TYPED_CALL(haft_status, name##_diagnose, (name##_table table, name##_id id),              \
                    haft_diagnose(table.table, id.id))                                             \
    HAFT_TYPED_CALL(haft_status, name##_id_at,                                                     \
                    (name##_table table, uint64_t index, name##_id * id),                          \
                    haft_id_at(table.table, index, &id->id))                                       \
    HAFT_TYPED_CALL(name##_object *, name##_require, (name##_table table, name##_id id),           \
                    HAFT_CAST(name##_object *,                                                     \
                              haft_require(table.table, name##_view_untyped(table.view), id.id)))  \
    HAFT_TYPED_CALL(haft_status, name##_table_free, (name##_table table, name##_id id),            \
                    haft_table_free(table.table, id.id))                                           \
    HAFT_TYPED_CALL(name##_object *, name##_pin, (name##_table table, name##_id id),               \
                    HAFT_CAST(name##_object *, haft_pin(table.table, id.id)))                      \
    HAFT_TYPED_CALL(haft_status, name##_unpin, (name##_table table, name##_id id),                 \
                    haft_unpin(table.table, id.id))                                                \
    HAFT_TYPED_CALL(uint32_t, name##_pins, (name##_table table, name##_id id),                     \
                    haft_pins(table.table, id.id))

#define HAFT_TYPED_WORKER(name)                                                                    \
    HAFT_TYPED_ADOPT(name, worker, haft_table_view(haft_worker_table(worker)))                     \
    HAFT_TYPED_FUNCTION haft_status name##_worker_open(name##_table table, name##_worker *worker)  \
    {                                                                                              \
        haft_worker *opened;                                                                       \
        haft_status status = haft_worker_open(table.table, &opened);                               \
        if (status != HAFT_OK) {                                                                   \
            return status;                                                                         \
        }                                                                                          \
        status = name##_worker_adopt(opened, worker);                                              \
        if (status != HAFT_OK) {                                                                   \
            haft_worker_close(opened);                                                             \
        }                                                                                          \
        return status;                                                                             \
    }                                                                                              \
    HAFT_TYPED_CALL(haft_status, name##_worker_close, (name##_worker worker),                      \
                    haft_worker_close(worker.worker))                                              \
    HAFT_TYPED_RESERVE(name, name##_reserve, name##_worker worker,                                 \
                       haft_reserve(worker.worker, &id->id, &found))                               \
    HAFT_TYPED_RESERVE(name, name##_reserve_wait, name##_worker worker,                            \
                       haft_reserve_wait(worker.worker, &id->id, &found))                          \
    HAFT_TYPED_DO(name##_publish, (name##_worker worker, name##_id id),                            \
                  haft_publish(worker.worker, id.id))                                              \
    HAFT_TYPED_DO(name##_abort, (name##_worker worker, name##_id id),                              \
                  haft_abort(worker.worker, id.id))                                                \
    HAFT_TYPED_CALL(haft_status, name##_insert,                                                    \
                    (name##_worker worker, const name##_object *object, name##_id *id),            \
                    haft_insert_front(worker.worker, name##_view_untyped(worker.view), object,     \
                                      sizeof(name##_object), &id->id))                             \
    HAFT_TYPED_CALL(haft_status, name##_insert_wait,                                               \
                    (name##_worker worker, const name##_object *object, name##_id *id),            \
                    haft_insert_wait(worker.worker, object, &id->id))                              \
    HAFT_TYPED_CALL(haft_status, name##_free, (name##_worker worker, name##_id id),                \
                    haft_free_front(worker.worker, name##_view_untyped(worker.view), id.id))

#define HAFT_TYPED_MANY(name)                                                                      \
    HAFT_TYPED_CALL(size_t, name##_insert_many,                                                    \
                    (name##_worker worker, const name##_object *objects, name##_id *ids,           \
                     size_t count, haft_status *why),                                              \
                    haft_insert_many(worker.worker, objects, &ids->id, count, why))                \
    HAFT_TYPED_CALL(                                                                               \
        size_t, name##_free_many,                                                                  \
        (name##_worker worker, const name##_id *ids, size_t count, haft_status *statuses),         \
        haft_free_many(worker.worker, &ids->id, count, statuses))

#define HAFT_TYPED_SCAN(name)                                                                      \
    HAFT_TYPED_FUNCTION name##_cursor name##_cursor_over(name##_table table, haft_range range)     \
    {                                                                                              \
        name##_cursor typed = {haft_cursor_over(table.table, range)};                              \
        return typed;                                                                              \
    }                                                                                              \
    HAFT_TYPED_FUNCTION bool name##_cursor_next(name##_cursor *cursor, name##_id *id,              \
                                                name##_object **object)                            \
    {                                                                                              \
        void *found;                                                                               \
        const bool is_there = haft_cursor_next(&cursor->cursor, &id->id, &found);                  \
        if (is_there && object != NULL) {                                                          \
            *object = HAFT_CAST(name##_object *, found);                                           \
        }                                                                                          \
        return is_there;                                                                           \
    }                                                                                              \
    HAFT_TYPED_FUNCTION uint64_t name##_scan(name##_table table, haft_range range,                 \
                                             name##_visit *visit, void *arg)                       \
    {                                                                                              \
        struct name##_visitor visitor = {visit, arg};                                              \
        return haft_scan(table.table, range, name##_visit_untyped, &visitor);                      \
    }

#define HAFT_TYPED_SHARE_FUNCTIONS(name)                                                           \
    HAFT_TYPED_OPEN(name, name##_share, table,                                                     \
                    (name##_local local, haft_domain * domain, const haft_share_options *options,  \
                     name##_table *typed),                                                         \
                    haft_share(local.local, domain, options, &table))                              \
    HAFT_TYPED_OPEN(name, name##_unshare, local, (name##_table table, name##_local * typed),       \
                    haft_unshare(table.table, &local))

/*
 * haft/typed.h - tables for one C type: ids that cannot be mixed up, pointers without casts, and
 * slots whose size the compiler knows.
 *
 *   HAFT_TYPED_ID(ship);                 ship_id, for objects that hold ids of each other
 *   struct ship { ship_id target; ... };
 *   HAFT_TYPED(ship, struct ship);       ship_view, ship_resolve(), ...
 *   HAFT_TYPED_LOCAL(ship);              ship_local
 *   HAFT_TYPED_TABLE(ship);              ship_table, ship_worker, ship_cursor
 *   HAFT_TYPED_SHARE(ship);              ship_share(), ship_unshare()
 *   HAFT_TYPED_COUNTED(ship);            ship_counted
 *
 * For tables with pins HAFT_TYPED_PINNED() takes the place of HAFT_TYPED().
 *
 * One rule for names: ship_X is haft_X for ships, one call of it, with its contract.  Only the
 * _adopt functions, for tables that were opened untyped, are new.  Objects are `struct ship`, and
 * ids ship_id.  ship_local_insert(), ship_local_free(), ship_insert() and ship_free() are inline.
 * Functions with neither keep their names: haft_table_stats_get(ships.table).  Callbacks in options
 * get untyped ids and objects, for ship_id_of() and a cast.
 *
 * Opening fills in object_size, object_alignment and pins of the options; where they are set, and
 * not the type's, the status is HAFT_BAD_OBJECT_SIZE, HAFT_BAD_OBJECT_ALIGNMENT or HAFT_BAD_PINS.
 * A table that is adopted, having been opened elsewhere, is HAFT_WRONG_TYPE, and the result is
 * untouched, if its objects are of another size, less aligned or farther apart than in a table of
 * the type, or only one of the two has pins; of a counted table, of another size or less aligned.
 * Open it with object_alignment = _Alignof(type).
 *
 * A typed table is a small struct, passed by value: the table itself, which is closed once however
 * many copies there are, and its view.  ship_resolve() needs no multiplication: the distance from
 * slot to slot is a constant.
 *
 * In a debugger ships.view.slot[17] is the slot of index 17: its word, and the object as the
 * struct it is.  Each function here has a frame, all on the line of its macro, and a step from
 * there goes on into haft's function.  Set breakpoints in that one: in a function of a single line
 * they may stop before its arguments can be read.
 */

/*
 * HAFT_TYPED_ID(name) - the type name_id, and what can be done with an id alone.
 *
 *   name_id_of(id), name_id_untyped(id)   from and to haft_id: the only ways
 *   name_id_nil(), name_id_is_nil(id), name_id_equal(a, b)
 *
 * All: any thread, no ordering, wait-free, O(1).  Zeroed memory is a nil id.  Nothing more is
 * needed for an allocator of ids alone.
 */
#define HAFT_TYPED_ID(name)                                                                        \
    typedef struct name##_id {                                                                     \
        haft_id id;                                                                                \
    } name##_id;                                                                                   \
    HAFT_TYPED_ID_FUNCTIONS(name)                                                                  \
    struct name##_id

/*
 * HAFT_TYPED(name, type) - after HAFT_TYPED_ID(name), with `type` complete: what local and shared
 * tables have in common.  HAFT_TYPED_PINNED(name, type): the same for tables with pins.
 *
 *   name_object    the type
 *   name_view      the view: its slots and the mask
 *   name_ref       haft_ref
 *   name_visit     a visitor, for name_scan() and name_local_for_each()
 *   name_resolve, name_is_live, name_resolve_many
 *   name_ref_of, name_ref_get, name_ref_is_live, name_ref_id
 *
 * The rest is for the other macros: name_type(), name_view_of(), which asks nothing, and
 * name_view_untyped().
 */
#define HAFT_TYPED(name, type) HAFT_TYPED_SLOTS(name, type, 0)
#define HAFT_TYPED_PINNED(name, type) HAFT_TYPED_SLOTS(name, type, 1)

/*
 * HAFT_TYPED_LOCAL(name) - after HAFT_TYPED(name, type).
 *
 *   name_local { local, view }
 *   name_local_open(options, &ships), name_local_adopt(local, &ships), name_local_close(ships)
 *   name_local_reserve, _publish, _abort, _insert, _free, _diagnose, _id_at, _require, _for_each
 *
 * Objects are resolved by name_resolve(ships.view, id).
 */
#define HAFT_TYPED_LOCAL(name)                                                                     \
    typedef struct name##_local {                                                                  \
        haft_local *local;                                                                         \
        name##_view view;                                                                          \
    } name##_local;                                                                                \
    HAFT_TYPED_LOCAL_FUNCTIONS(name)                                                               \
    struct name##_local

/*
 * HAFT_TYPED_TABLE(name) - after HAFT_TYPED(name, type).
 *
 *   name_table { table, view }
 *   name_table_open(domain, options, &ships), name_table_adopt(table, &ships),
 *   name_table_close(ships)
 *   name_diagnose, name_id_at, name_require
 *
 *   name_worker { worker, view }
 *   name_worker_open(ships, &worker)
 *   name_worker_adopt(worker, &typed)   one opened elsewhere, or that on_reclaim gets;
 *                                       HAFT_WRONG_TYPE also if the library is not of the headers'
 *                                       version
 *   name_worker_close(worker)
 *   name_reserve, name_publish, name_abort, name_insert, name_reserve_wait, name_insert_wait,
 *   name_free; name_insert_many, name_free_many
 *
 *   name_cursor { cursor }: name_cursor_over, name_cursor_next; name_scan
 *   name_table_free: without a worker
 *   name_pin, name_unpin, name_pins: after HAFT_TYPED_PINNED
 *
 * Objects are resolved by name_resolve(ships.view, id).
 */
#define HAFT_TYPED_TABLE(name)                                                                     \
    typedef struct name##_table {                                                                  \
        haft_table *table;                                                                         \
        name##_view view;                                                                          \
    } name##_table;                                                                                \
    typedef struct name##_worker {                                                                 \
        haft_worker *worker;                                                                       \
        name##_view view;                                                                          \
    } name##_worker;                                                                               \
    typedef struct name##_cursor {                                                                 \
        haft_cursor cursor;                                                                        \
    } name##_cursor;                                                                               \
                                                                                                   \
    HAFT_TYPED_WHOLE_TABLE(name)                                                                   \
    HAFT_TYPED_WORKER(name)                                                                        \
    HAFT_TYPED_MANY(name)                                                                          \
    HAFT_TYPED_SCAN(name)                                                                          \
    struct name##_table

/*
 * HAFT_TYPED_SHARE(name) - after HAFT_TYPED_LOCAL(name) and HAFT_TYPED_TABLE(name): haft/share.h.
 *
 *   name_share(local, domain, options, &table), name_unshare(table, &local)
 */
#define HAFT_TYPED_SHARE(name)                                                                     \
    HAFT_TYPED_SHARE_FUNCTIONS(name)                                                               \
    struct name##_local

/*
 * HAFT_TYPED_COUNTED(name) - after HAFT_TYPED(name, type).
 *
 *   name_counted { counted }
 *   name_counted_open(options, &ships), name_counted_adopt(counted, &ships)
 *   name_counted_close(ships), _close_wait, _abandon
 *   name_counted_insert, _reserve, _publish, _abort, _free, _take, _acquire, _require, _again,
 *   _release, _copy, _is_live, _diagnose, _id_at, _cursor_next
 */
#define HAFT_TYPED_COUNTED(name)                                                                   \
    typedef struct name##_counted {                                                                \
        haft_counted *counted;                                                                     \
    } name##_counted;                                                                              \
                                                                                                   \
    HAFT_TYPED_COUNTED_WHOLE(name)                                                                 \
    HAFT_TYPED_COUNTED_LIVES(name)                                                                 \
    HAFT_TYPED_COUNTED_HOLDS(name)                                                                 \
    HAFT_TYPED_COUNTED_LOOKS(name)                                                                 \
    struct name##_counted

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The one place that states the version; what else must name it is checked against it
 * (tools/prose).  The numbers are those of https://semver.org: a program built with these headers
 * runs with every library of the same major version, and of the same minor version or a later one.
 */
#define HAFT_VERSION_MAJOR 0
#define HAFT_VERSION_MINOR 2
#define HAFT_VERSION_PATCH 0
#define HAFT_VERSION_TEXT "0.2.0"

/* One number, to be compared: 10203 is 1.2.3. */
#define HAFT_VERSION (HAFT_VERSION_MAJOR * 10000u + HAFT_VERSION_MINOR * 100u + HAFT_VERSION_PATCH)

/*
 * haft_version, haft_version_text - the version of the library that the program runs with, where
 * HAFT_VERSION and HAFT_VERSION_TEXT are those of the headers that it was compiled with.
 *
 * Returns   the number; the text, a constant string.
 */
uint32_t haft_version(void);
const char *haft_version_text(void);

#ifdef __cplusplus
}
#endif

#endif /* HAFT_HAFT_H */
