/* lib/slots/leaks.h - objects that are live when their table closes. */
#ifndef HAFT_LIB_LEAKS_H
#define HAFT_LIB_LEAKS_H

#include "lib/slots/slots.h"

/* Tell of the objects that are live below `end`, if sites are kept, in a table that is closed. */
void leaks_report(const struct slots *slots, const char *table, uint64_t end);

#endif /* HAFT_LIB_LEAKS_H */
