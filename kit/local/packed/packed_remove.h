/*
 * kit/local/packed/packed_remove.h - objects that go all at once.
 */
#ifndef HAFT_LIB_PACKED_REMOVE_H
#define HAFT_LIB_PACKED_REMOVE_H

#include "kit/local/packed/state.h"

/* End the lives of all objects, and call on_destroy for each.  They keep their positions. */
void packed_destroy_all(struct haft_packed *packed, const void *caller);

#endif /* HAFT_LIB_PACKED_REMOVE_H */
