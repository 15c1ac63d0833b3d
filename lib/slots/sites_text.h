/* lib/slots/sites_text.h - texts about ids and sites: see haft/diagnose.h. */
#ifndef HAFT_LIB_SITES_TEXT_H
#define HAFT_LIB_SITES_TEXT_H

#include "lib/base/text.h"
#include "lib/slots/slots.h"

/* The line for haft_diagnose_format(); returns the number that snprintf would. */
int sites_describe(const struct slots *slots, const char *table, haft_id id, haft_status status,
                   char *line, size_t size);

/* The line of an id whose object has ended and still has its slot. */
int sites_describe_ended(const struct slots *slots, const char *table, haft_id id,
                         haft_status status, char *line, size_t size);

/* Add where a site is: its function, and the arguments for addr2line. */
void site_tell(struct text *text, const void *site);

#endif /* HAFT_LIB_SITES_TEXT_H */
