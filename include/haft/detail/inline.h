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
#ifndef HAFT_DETAIL_INLINE_H
#define HAFT_DETAIL_INLINE_H

#include <haft/detail/compiler.h>
#include <stdint.h> /* and so the header is no empty file when it is compiled alone */

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

#endif /* HAFT_DETAIL_INLINE_H */
