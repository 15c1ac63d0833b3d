/* The public inline functions of the kit as symbols; install/symbols.c has those of the core. */
#include <haft/haft.h>
#undef HAFT_INLINE
#define HAFT_INLINE extern
#include <haft/kit/kit.h>
