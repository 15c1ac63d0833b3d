/*
 * kit/local/packed/packed.h - a packed table comes, and its memory.
 */
#ifndef HAFT_LIB_PACKED_H
#define HAFT_LIB_PACKED_H

#include "kit/local/packed/state.h"

/* Memory for the next step of slots and positions: HAFT_OK or HAFT_NO_MEMORY. */
haft_status packed_make_ready(struct haft_packed *packed);

/* A table like that one, without objects: HAFT_OK or HAFT_NO_MEMORY. */
haft_status packed_open_like(const haft_packed *packed, haft_packed **clone);

#endif /* HAFT_LIB_PACKED_H */
