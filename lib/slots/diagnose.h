/* lib/slots/diagnose.h - the status of an id: see haft/diagnose.h. */
#ifndef HAFT_LIB_DIAGNOSE_H
#define HAFT_LIB_DIAGNOSE_H

#include "lib/slots/slots.h"

/* The status of an id: see haft_diagnose().  Any threads. */
haft_status slots_diagnose(const struct slots *slots, haft_id id);

/* The id of slot `index`, live or of its next life: see haft_id_at().  Any threads. */
haft_status slots_id_at(const struct slots *slots, uint64_t index, haft_id *id);

/* What a table with these slots was opened with; it has no domain there. */
haft_info slots_info(const struct slots *slots, const char *name, uint64_t capacity);

#endif /* HAFT_LIB_DIAGNOSE_H */
