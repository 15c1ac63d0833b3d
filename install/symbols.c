/*
 * The public inline functions of the core as symbols of the library, under their own names: for
 * other languages, dlsym() and debuggers.  Compiled without install/export.h, which would have
 * included the headers before.  kit_symbols.c has those of the kit.
 */
#define HAFT_INLINE extern
#include <haft/haft.h>
