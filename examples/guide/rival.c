/*
 * rival.c - for a test of anyone.c, which calls this in place of haft_counted_free(): another
 * thread that holds the object has always freed it just before.
 */
#undef haft_counted_free
#include <haft/counted.h>

haft_status rival_free(haft_counted *table, haft_id id);

haft_status rival_free(haft_counted *table, haft_id id)
{
    const haft_status status = haft_counted_free(table, id);

    return status == HAFT_OK ? HAFT_STALE : status;
}
