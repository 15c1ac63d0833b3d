/* lib/slots/explain.h - statuses in words, for all tables: see haft/diagnose.h. */
#ifndef HAFT_LIB_EXPLAIN_H
#define HAFT_LIB_EXPLAIN_H

#include "lib/base/text.h"
#include "lib/slots/slots.h"

/* The use of a table's capacity. */
struct use {
    uint64_t live;
    uint64_t reserved;
    uint64_t exhausted; /* slots */
};

void explain_full(struct text *text, uint64_t capacity, const struct use *use);
void explain_no_memory(struct text *text, const struct slots *slots, uint64_t used);

#endif /* HAFT_LIB_EXPLAIN_H */
