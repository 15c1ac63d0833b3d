/*
 * lib/base/asan.h - the only file that knows AddressSanitizer's poisoning, and memcheck's.
 *
 * Poisoned bytes may not be touched: the sanitizer reports an access.  It keeps a record for each
 * granule of 8 bytes, and a granule can only be poisoned from some byte on to its end.  In debug
 * builds valgrind's memcheck is told the same where its header is there; whether the program runs
 * under valgrind is known at run time.  Without either these functions do nothing.
 */
#ifndef HAFT_LIB_ASAN_H
#define HAFT_LIB_ASAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#if !defined(HAFT_UNDER_ASAN) && !defined(NDEBUG) && defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#define HAFT_FOR_MEMCHECK 1
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
#elif defined(HAFT_FOR_MEMCHECK)
#include <valgrind/memcheck.h>

static inline bool asan_is_on(void)
{
    return RUNNING_ON_VALGRIND != 0;
}

static inline void asan_poison(const void *memory, size_t size)
{
    (void)memory; /* nothing for machines that valgrind does not know */
    (void)size;
    (void)VALGRIND_MAKE_MEM_NOACCESS(memory, size);
}

static inline void asan_unpoison(const void *memory, size_t size)
{
    (void)memory;
    (void)size;
    (void)VALGRIND_MAKE_MEM_DEFINED(memory, size);
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

/* The bytes of an object, of any size, to the end of their last granule. */
static inline void asan_poison_object(const void *object, size_t size)
{
    asan_poison(object, (size + ASAN_GRANULE - 1) / ASAN_GRANULE * ASAN_GRANULE);
}

#endif /* HAFT_LIB_ASAN_H */
