/* Resolving many ids at once: haft_resolve() with the memory of later ids on its way. */
#include "lib/base/compiler.h"
#include <haft/view.h>

HAFT_CONSTANT_HERE(uint64_t haft_no_slots[2], 1, 0);

#define IDS_AHEAD 16 /* ids fetched ahead: about a memory latency's worth of resolves */

size_t haft_resolve_many(haft_view view, const haft_id *ids, void **objects, size_t count)
{
    const size_t fetched = count < IDS_AHEAD ? count : IDS_AHEAD;
    size_t live = 0;

    for (size_t i = 0; i < fetched; i++) {
        prefetch_to_read(haft_slot_of(view, ids[i]));
    }
    for (size_t i = 0; i < count; i++) {
        if (i + IDS_AHEAD < count) {
            prefetch_to_read(haft_slot_of(view, ids[i + IDS_AHEAD]));
        }
        objects[i] = haft_resolve(view, ids[i]);
        live += objects[i] != NULL;
    }
    return live;
}
