/*
 * lib/slots/diagnose.h - the status of an id, and a text about it: see haft/diagnose.h.
 */
#ifndef HAFT_LIB_DIAGNOSE_H
#define HAFT_LIB_DIAGNOSE_H

#include "lib/base/text.h"
#include "lib/slots/slots.h"

/* The status of an id: see haft_diagnose().  Any threads. */
haft_status slots_diagnose(const struct slots *slots, haft_id id);

/* The id of slot `index`, live or of its next life: see haft_id_at().  Any threads. */
haft_status slots_id_at(const struct slots *slots, uint64_t index, haft_id *id);

/* Add the sites known of an id with that status: "; freed at ..., allocated at ...". */
void sites_tell(struct text *text, const struct slots *slots, haft_id id, haft_status status);

/* The line for haft_diagnose_format(); returns the number that snprintf would. */
int sites_describe(const struct slots *slots, const char *table, haft_id id, haft_status status,
                   char *line, size_t size);

/* Add where a site is: its function, and the arguments for addr2line. */
void site_tell(struct text *text, const void *site);

#endif /* HAFT_LIB_DIAGNOSE_H */
