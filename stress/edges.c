/* The edges by name; see edges.h. */
#include "stress/edges.h"
#include <stddef.h>
#include <string.h>

#define NAMED(edge) [HAFT_EDGE_##edge] = #edge

static const char *const names[] = {
    NAMED(PUBLISH), NAMED(TICKET), NAMED(ELAPSED),     NAMED(RING),   NAMED(RING_ROOM),
    NAMED(DEPOT),   NAMED(POOL),   NAMED(WORKER_LIST), NAMED(ADOPT),  NAMED(FLOOR),
    NAMED(EXTENT),  NAMED(TALLY),  NAMED(QUIET),       NAMED(ARRIVE), NAMED(HANDED),
    NAMED(TRANSIT), NAMED(PIN),    NAMED(LIST),        NAMED(WAKE),   NAMED(COMMIT),
    NAMED(SIDE),    NAMED(ASK),    NAMED(MEASURE),     NAMED(HOLD),   NAMED(VALUE),
    NAMED(SHARD),   NAMED(QUEUE),  NAMED(RETURN),      NAMED(FRAME),  NAMED(BLOCK)};

static haft_edge weakened = HAFT_EDGE_NONE;

bool edge_weaken(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i] != NULL && strcmp(name, names[i]) == 0) {
            weakened = (haft_edge)i;
            return true;
        }
    }
    return false;
}

haft_order edge_order(haft_edge edge, haft_order order)
{
    return edge != HAFT_EDGE_NONE && edge == weakened ? memory_order_relaxed : order;
}
