/* tools/msvc/linux/intrin.h - the intrinsics of Visual C++ that haft uses, as Clang has them
 * anywhere with -fms-extensions. */
#ifndef HAFT_TOOLS_INTRIN_H
#define HAFT_TOOLS_INTRIN_H

long long __iso_volatile_load64(const volatile long long *);
void __iso_volatile_store64(volatile long long *, long long);
void _ReadWriteBarrier(void);
long long _InterlockedCompareExchange64(long long volatile *, long long, long long);

/* Where a long has 64 bits, Clang has these with it. */
long _InterlockedExchange64(long volatile *, long);
long _InterlockedExchangeAdd64(long volatile *, long);
long _InterlockedOr64(long volatile *, long);
#define _InterlockedExchange64(word, value) _InterlockedExchange64((volatile long *)(word), value)
#define _InterlockedExchangeAdd64(word, value)                                                     \
    _InterlockedExchangeAdd64((volatile long *)(word), value)
#define _InterlockedOr64(word, bits) _InterlockedOr64((volatile long *)(word), bits)

void *_ReturnAddress(void);

#define _MM_HINT_T0 3
#define _mm_prefetch(address, hint) __builtin_prefetch(address, 0, hint)

static inline unsigned char _BitScanForward64(unsigned long *at, unsigned long long bits)
{
    *at = (unsigned long)__builtin_ctzll(bits);
    return bits != 0;
}

static inline unsigned char _BitScanReverse64(unsigned long *at, unsigned long long bits)
{
    *at = 63 - (unsigned long)__builtin_clzll(bits);
    return bits != 0;
}

#endif
