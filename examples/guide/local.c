/* local.c - the guide's first table: one thread, ids stored in objects, stale ids. */
/* guide: objects */
#include "must.h"
#include <haft/local.h>

struct ship {
    int hull;
    haft_id target; /* another ship, or nil */
};
/* end */

/* guide: attack */
static void attack(haft_local *ships, struct ship *ship)
{
    struct ship *target = haft_resolve(haft_local_view(ships), ship->target);

    if (target == NULL) { /* sunk, or there never was one */
        ship->target = HAFT_NIL;
    } else if (--target->hull == 0) {
        haft_local_free(ships, ship->target);
    }
}
/* end */

static void sink(void *object, haft_id id, void *arg)
{
    const struct ship *ship = object; /* still there; its id is stale already */

    (void)id;
    printf("a ship sinks, hull %d\n", ship->hull);
    ++*(int *)arg;
}

int main(void)
{
    /* guide: open */
    int sunk = 0;
    haft_local *ships;

    must(haft_local_open(&(haft_local_options){.name = "ships",
                                               .capacity = 1000,
                                               .object_size = sizeof(struct ship),
                                               .on_destroy = sink,
                                               .destroy_arg = &sunk},
                         &ships));
    /* end */

    /* guide: insert */
    haft_id us, them;

    must(haft_local_insert(ships, &(struct ship){.hull = 3}, &them));
    must(haft_local_insert(ships, &(struct ship){.hull = 3, .target = them}, &us));
    /* end */

    struct ship *ship = haft_resolve(haft_local_view(ships), us);

    while (!haft_id_is_nil(ship->target)) {
        attack(ships, ship);
    }

    haft_id another;

    must(haft_local_insert(ships, NULL, &another)); /* into the slot of the ship that sank */
    char then[HAFT_ID_TEXT_SIZE], now[HAFT_ID_TEXT_SIZE];

    haft_id_format(haft_local_info(ships).layout, them, then, sizeof then);
    haft_id_format(haft_local_info(ships).layout, another, now, sizeof now);
    printf("%s: %s; %s: %s\n", then, haft_status_text(haft_local_diagnose(ships, them)), now,
           haft_status_text(haft_local_diagnose(ships, another)));
    haft_local_close(ships);
    printf("%d sunk\n", sunk);
    return sunk != 3 || fflush(stdout) != 0;
}
