/* Records of places. */
#include "lib/slots/places.h"
#include <stddef.h>

haft_status places_open(struct places *places, uint64_t slots)
{
    const haft_status status = reservation_open(&places->memory, slots * sizeof places->records[0]);

    if (status == HAFT_OK) {
        places->records = (struct place *)(void *)places->memory.base;
    }
    return status;
}

void places_close(struct places *places)
{
    if (places->records != NULL) {
        reservation_close(&places->memory);
    }
}

haft_status places_commit(struct places *places, uint64_t end)
{
    return places->records == NULL
               ? HAFT_OK
               : reservation_commit(&places->memory, end * sizeof places->records[0]);
}
