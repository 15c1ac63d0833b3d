/* The sides of a table of one thread. */
#include "kit/local/sides/side.h"
#include "lib/local/state.h"

haft_status haft_side_open_local_sized(haft_local *local, const haft_side_options *options,
                                       size_t size, haft_side **side)
{
    if (local->mode == LOCAL_CLOSING) {
        return HAFT_IN_CALLBACK;
    }
    const haft_status status = side_open(&local->slots, options, size, false, local->wraps, side);

    if (status == HAFT_OK) {
        (*side)->leave = sides_remove;
        sides_add(&local->attached, *side);
    }
    return status;
}
