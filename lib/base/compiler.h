/*
 * lib/base/compiler.h - what the library's sources ask of a compiler beyond C11: see
 * haft/detail/compiler.h, which has the headers' part.
 *
 * GCC and Clang take attributes and built-in functions; Visual C++ the intrinsics and __declspec
 * that its manual has (learn.microsoft.com/cpp/intrinsics/compiler-intrinsics).
 */
#ifndef HAFT_LIB_COMPILER_H
#define HAFT_LIB_COMPILER_H

#include <haft/detail/compiler.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
#define NOINLINE __declspec(noinline)
#define THREAD_LOCAL __declspec(thread)
#define CALLER _ReturnAddress()
#else
#define NOINLINE __attribute__((noinline))
#define THREAD_LOCAL _Thread_local
#ifdef __EMSCRIPTEN__
#define CALLER NULL
#else
#define CALLER __builtin_return_address(0)
#endif
#endif

#if defined(HAFT_COMPILER_MSVC) && defined(_WIN32)
#pragma section(".CRT$XCU", read)
#define AT_START(place, function)                                                                  \
    static void function(void);                                                                    \
    __declspec(allocate(".CRT$XCU")) void (*const function##_at_start)(void) = function
#else
#define AT_START(place, function) static void function(void) __attribute__((constructor(place)))
#endif

/*
 * prefetch_to_read, prefetch_to_write - the line at `address` will be used soon.
 * lowest_bit, highest_bit - the number of the bit, from 0 on; `bits` is not 0.
 * count_bits - how many of `bits` are 1.
 * multiply_overflows, add_overflows - whether the result does not fit; `*result` if it does.
 * pairs_differ - whether 64 bytes differ, at addresses of any objects, aligned to 8.
 */
static inline void prefetch_to_read(const void *address)
{
#ifndef HAFT_COMPILER_MSVC
    __builtin_prefetch(address);
#elif defined(_M_ARM64)
    __prefetch(address);
#else
    _mm_prefetch((const char *)address, _MM_HINT_T0);
#endif
}

static inline void prefetch_to_write(const void *address)
{
#ifdef HAFT_COMPILER_MSVC
    prefetch_to_read(address);
#else
    __builtin_prefetch(address, 1);
#endif
}

static inline unsigned lowest_bit(uint64_t bits)
{
#ifdef HAFT_COMPILER_MSVC
    unsigned long at = 0;

    _BitScanForward64(&at, bits);
    return (unsigned)at;
#else
    return (unsigned)__builtin_ctzll(bits);
#endif
}

static inline unsigned highest_bit(uint64_t bits)
{
#ifdef HAFT_COMPILER_MSVC
    unsigned long at = 0;

    _BitScanReverse64(&at, bits);
    return (unsigned)at;
#else
    return 63 - (unsigned)__builtin_clzll(bits);
#endif
}

static inline unsigned count_bits(uint64_t bits)
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

static inline bool multiply_overflows(size_t a, size_t b, size_t *result)
{
#ifdef HAFT_COMPILER_MSVC
    *result = a * b;
    return a != 0 && b > SIZE_MAX / a;
#else
    return __builtin_mul_overflow(a, b, result);
#endif
}

static inline bool add_overflows(size_t a, size_t b, size_t *result)
{
#ifdef HAFT_COMPILER_MSVC
    *result = a + b;
    return a > SIZE_MAX - b;
#else
    return __builtin_add_overflow(a, b, result);
#endif
}

static inline bool pairs_differ(const char *a, const char *b)
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

#endif /* HAFT_LIB_COMPILER_H */
