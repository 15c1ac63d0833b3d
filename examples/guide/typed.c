/* typed.c - the guide's typed tables: ids that the compiler tells apart. */
/* guide: declare */
#include <haft/typed.h>
#include <stdio.h>

HAFT_TYPED_ID(ship); /* before the structs, so that they can hold ids of each other */
HAFT_TYPED_ID(crew);

struct ship {
    int hull;
    crew_id captain;
};

struct crew {
    ship_id aboard; /* a crew_id here does not compile */
};

HAFT_TYPED(ship, struct ship);
HAFT_TYPED_LOCAL(ship);
HAFT_TYPED(crew, struct crew);
HAFT_TYPED_COUNTED(crew); /* which any thread may hold */
/* end */

int main(void)
{
    ship_local ships; /* a small struct: pass it by value */
    crew_counted crews;
    ship_id beagle;
    crew_id fitzroy;

    if (ship_local_open(&(haft_local_options){.capacity = 10}, &ships) ||
        crew_counted_open(&(haft_counted_options){.capacity = 100}, &crews) ||
        ship_local_insert(ships, &(struct ship){.hull = 3}, &beagle) ||
        crew_counted_insert(crews, &(struct crew){.aboard = beagle}, &fitzroy)) {
        return 1;
    }
    struct ship *ship = ship_resolve(ships.view, beagle);
    ship->captain = fitzroy;
    const struct crew *captain = crew_counted_acquire(crews, ship->captain);
    bool is_aboard = false;

    if (captain != NULL) { /* it stays until it is released */
        is_aboard = ship_id_equal(captain->aboard, beagle);
        crew_counted_release(crews, ship->captain);
    }
    printf("%s\n", is_aboard ? "aboard" : "ashore");
    crew_counted_close(crews);
    ship_local_close(ships);
    return !is_aboard || fflush(stdout) != 0;
}
