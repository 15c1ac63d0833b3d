/*
 * haft/detail/compiler.h - what the headers ask of a compiler beyond the language.
 *
 * GCC and Clang take attributes and built-in functions, Visual C++ has its own words for some of
 * them.  HAFT_COMPILER_MSVC is set for it; a build may set it too, to try that side with another
 * compiler that knows the intrinsics (Clang with -fms-extensions).  lib/base/compiler.h has what
 * the library's sources need besides.
 */
#ifndef HAFT_DETAIL_COMPILER_H
#define HAFT_DETAIL_COMPILER_H

#include <stdint.h> /* and so the header is no empty file when it is compiled alone */

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

#endif /* HAFT_DETAIL_COMPILER_H */
