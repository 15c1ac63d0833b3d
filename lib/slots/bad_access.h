/* lib/slots/bad_access.h - a table's answer to haft_require() of an id that names no object. */
#ifndef HAFT_LIB_BAD_ACCESS_H
#define HAFT_LIB_BAD_ACCESS_H

#include "lib/slots/slots.h"

/* Apply the table's policy: on_bad_access, or abort.  `status` is not HAFT_OK. */
void bad_access(const struct slots *slots, const char *table, haft_id id, haft_status status);

/* The same for a table without sites. */
void bad_access_report(const haft_bad_access *access, haft_on_bad_access *policy, void *arg);

#endif /* HAFT_LIB_BAD_ACCESS_H */
