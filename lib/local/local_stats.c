/* The statistics of a table of one thread. */
#include "lib/local/local.h"
#include "lib/local/state.h"

haft_local_stats haft_local_stats_get(const haft_local *local)
{
    return (haft_local_stats){
        .live = local->front.count,
        .reserved = local->held - local->retired,
        .retired = local->retired,
        .free = local_listed(local),
        .exhausted = local->exhausted,
        .released = local->fresh_slots,
        .high_water = local->used - HAFT_FIRST_INDEX,
        .capacity = local->capacity,
        .limit = local->slots.limit - HAFT_FIRST_INDEX,
        .bytes =
            local_block_size(local) + slots_bytes(&local->slots, local->used, local->fresh_slots),
    };
}
