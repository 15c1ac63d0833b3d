/*
 * haft/detail/inline.h - how the headers define their inline functions.
 *
 * Each is also a symbol of the shared library, for programs that cannot compile it:
 * install/symbols.c defines them all, by another HAFT_INLINE.
 */
#ifndef HAFT_DETAIL_INLINE_H
#define HAFT_DETAIL_INLINE_H

#include <stdint.h> /* and so the header is no empty file when it is compiled alone */

#ifndef HAFT_INLINE
#define HAFT_INLINE static inline
#endif

#endif /* HAFT_DETAIL_INLINE_H */
