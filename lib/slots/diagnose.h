/*
 * lib/slots/diagnose.h - what can be said of an id: see haft/diagnose.h.
 */
#ifndef HAFT_LIB_DIAGNOSE_H
#define HAFT_LIB_DIAGNOSE_H

#include "lib/base/text.h"
#include "lib/slots/slots.h"

/* What is to be said of an id: see haft_diagnose().  Any threads. */
haft_status slots_diagnose(const struct slots *slots, haft_id id);

/* Add what is known of an id that `status` is said of: "; freed at ..., allocated at ...". */
void sites_tell(struct text *text, const struct slots *slots, haft_id id, haft_status status);

/* The line for haft_diagnose_format(); what snprintf would return. */
int sites_describe(const struct slots *slots, const char *table, haft_id id, haft_status status,
                   char *line, size_t size);

/* Add where a site is: its function, and what addr2line is to be asked. */
void site_tell(struct text *text, const void *site);

#endif /* HAFT_LIB_DIAGNOSE_H */
