/* Records of allocation sites. */
#include "lib/slots/sites.h"
#include <stddef.h>

haft_status sites_open(struct sites *sites, uint64_t slots, struct given *given,
                       const haft_allocator *heap)
{
    const uint64_t size = slots * sizeof sites->records[0];
    const haft_status status =
        given != NULL ? reservation_open_given(&sites->memory, size, sizeof(uint64_t), given)
                      : reservation_open_array(&sites->memory, size, sizeof(uint64_t), heap);

    if (status == HAFT_OK) {
        sites->records = (struct site *)(void *)sites->memory.base;
    }
    return status;
}

void sites_close(struct sites *sites, const haft_allocator *heap)
{
    if (sites->records != NULL) {
        reservation_close_array(&sites->memory, heap);
    }
}

haft_status sites_commit(struct sites *sites, uint64_t end)
{
    return sites->records == NULL
               ? HAFT_OK
               : reservation_commit(&sites->memory, end * sizeof sites->records[0]);
}

haft_status sites_populate(const struct sites *sites, uint64_t first, uint64_t end)
{
    const uint64_t size = sizeof sites->records[0];

    return sites->records == NULL ? HAFT_OK
                                  : reservation_populate(&sites->memory, first * size, end * size);
}

void sites_forget(const struct sites *sites, uint64_t first, uint64_t end)
{
    for (uint64_t index = first; sites->records != NULL && index < end; index++) {
        sites_note_birth(sites, index, NULL);
        sites_note_death(sites, index, NULL);
    }
}
