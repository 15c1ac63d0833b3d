/*
 * typed.c - ships and torpedoes refer to each other by ids that the compiler tells apart.
 *
 * First on one thread, with the torpedoes dense in a packed table; then in tables that all threads
 * share, and with ports in a counted table, for any thread.  A ship that sinks need not know what
 * aims at it: ids to it just lead nowhere.
 */
#include <haft/domain.h>
#include <haft/kit/typed.h>
#include <haft/urcu.h>
#include <stdio.h>

HAFT_TYPED_ID(ship);
HAFT_TYPED_ID(torpedo);
HAFT_TYPED_ID(port);

struct ship {
    int hull;
    port_id home;
    torpedo_id fired; /* the last one; nil: none */
};

struct torpedo {
    ship_id from;
    ship_id target; /* a torpedo_id here does not compile */
    int distance;
};

struct port {
    int depth;
};

HAFT_TYPED(ship, struct ship);
HAFT_TYPED_LOCAL(ship);
HAFT_TYPED_TABLE(ship);
HAFT_TYPED_SHARE(ship);
HAFT_TYPED(torpedo, struct torpedo);
HAFT_TYPED_PACKED(torpedo);
HAFT_TYPED_TABLE(torpedo);
HAFT_TYPED(port, struct port);
HAFT_TYPED_COUNTED(port);

/* One thread: all torpedoes come nearer, in a loop over an array, and hit what is still there. */
static int run_on(ship_local ships, torpedo_packed torpedoes)
{
    int hits = 0;

    for (uint64_t i = 0; i < haft_packed_count(torpedoes.packed); i++) {
        struct torpedo *torpedo = &torpedoes.view.objects[i];

        if (--torpedo->distance > 0) {
            continue;
        }
        struct ship *target = ship_resolve(ships.view, torpedo->target);

        if (target != NULL) {
            hits++;
            if (--target->hull == 0) {
                ship_local_free(ships, torpedo->target);
            }
        }
        torpedo_packed_kill(torpedoes, torpedo_packed_ids(torpedoes)[i]);
    }
    haft_packed_refresh(torpedoes.packed);
    return hits;
}

static bool fight(ship_local ships, ship_id us, ship_id them)
{
    torpedo_packed torpedoes;
    int hits = 0;

    if (torpedo_packed_open(&(haft_packed_options){.capacity = 100}, &torpedoes)) {
        return false;
    }
    for (int i = 1; i <= 4; i++) { /* the fourth finds nothing: three sink her */
        const struct torpedo torpedo = {.from = us, .target = them, .distance = i};
        struct ship *ship = ship_local_require(ships, us); /* or the program ends, saying why */

        if (torpedo_packed_insert(torpedoes, &torpedo, &ship->fired)) {
            return false;
        }
    }
    while (!haft_packed_is_empty(torpedoes.packed)) {
        hits += run_on(ships, torpedoes);
    }
    torpedo_packed_close(torpedoes);
    printf("%d hits; the target: %s\n", hits, haft_status_text(ship_local_diagnose(ships, them)));
    return hits == 3;
}

/* Any thread with workers on both tables: our ship fires at herself, and counts what comes. */
static bool fire(ship_table ships, torpedo_table torpedoes, ship_id us)
{
    haft_domain *domain = haft_table_info(ships.table).domain;
    torpedo_worker worker;
    torpedo_id id;
    struct torpedo *torpedo;
    int on_their_way = 0;

    if (torpedo_worker_open(torpedoes, &worker) ||
        torpedo_insert(worker, &(struct torpedo){.from = us, .target = us}, &id)) {
        return false;
    }
    haft_section_begin(domain); /* what is found here stays in place until the section ends */
    struct ship *ship = ship_resolve(ships.view, us);

    if (ship != NULL) {
        ship->fired = id; /* only lifetimes are haft's care: here no other thread writes to it */
    }
    for (torpedo_cursor cursor = torpedo_cursor_over(torpedoes, HAFT_EVERYTHING);
         torpedo_cursor_next(&cursor, &id, &torpedo);) {
        on_their_way += ship_id_equal(torpedo->target, us);
    }
    haft_section_end(domain);
    printf("%d on its way\n", on_their_way);
    return torpedo_worker_close(worker) == HAFT_OK && ship != NULL && on_their_way == 1;
}

/* Any thread, without a worker: the port is closed, and stays until the ship in it has left. */
static bool moor(port_counted ports, const struct ship *ship)
{
    const struct port *port = port_counted_acquire(ports, ship->home);

    if (port == NULL) {
        return false;
    }
    port_counted_free(ports, ship->home);
    printf("moored, %d deep; the port: %s\n", port->depth,
           haft_status_text(port_counted_diagnose(ports, ship->home)));
    return port_counted_release(ports, ship->home) == HAFT_OK;
}

static bool visit(void)
{
    port_counted ports;
    struct ship ship = {.hull = 3};

    return port_counted_open(&(haft_counted_options){.capacity = 10}, &ports) == HAFT_OK &&
           port_counted_insert(ports, &(struct port){.depth = 9}, &ship.home) == HAFT_OK &&
           moor(ports, &ship) && !moor(ports, &ship) && port_counted_close(ports) == HAFT_OK;
}

int main(int argc, char **argv)
{
    haft_domain *domain;
    ship_local fleet;
    ship_table ships;
    torpedo_table torpedoes;
    ship_id us, them;

    if (argc > 1) {
        fprintf(stderr, "typed: takes no arguments, not '%s'\n", argv[1]);
        return 2;
    }
    if (ship_local_open(&(haft_local_options){.name = "ships", .capacity = 10}, &fleet) ||
        ship_local_insert(fleet, &(struct ship){.hull = 3}, &us) ||
        ship_local_insert(fleet, &(struct ship){.hull = 3}, &them) || !fight(fleet, us, them)) {
        return 1;
    }
    const haft_domain_options clock = {.foreign_clock = haft_urcu_memb(),
                                       .clock = HAFT_CLOCK_THREAD};
    if (haft_domain_open(&clock, &domain) ||
        ship_share(fleet, domain, NULL, &ships) || /* the same ships, under the same ids */
        torpedo_table_open(domain, &(haft_table_options){.capacity = 100}, &torpedoes)) {
        return 1;
    }
    haft_thread_register(domain);
    const bool is_right = fire(ships, torpedoes, us);

    haft_thread_unregister(domain);
    return !is_right || !visit() || torpedo_table_close(torpedoes) || ship_table_close(ships) ||
           haft_domain_close(domain) || fflush(stdout);
}
