/*
 * The public inline functions as symbols of the library, under their own names: for other
 * languages, dlsym() and debuggers.  Compiled without install/export.h, which would have included
 * the headers before.
 */
#define HAFT_INLINE extern
#include <haft/kit/kit.h>
