/* network.c - the guide's ids over a network: bytes go out, and what comes back is looked at. */
#include "must.h"
#include <haft/kit/restore.h>
#include <haft/local.h>

struct unit {
    int player;
    int health;
};

/* A tag for each table: an id of another one is told apart for certain. */
enum { UNITS = 7, ORDERS = 9 };

static const haft_local_options options = {.capacity = 1000,
                                           .object_size = sizeof(struct unit),
                                           .layout = HAFT_LAYOUT_32_24_8,
                                           .tag = UNITS};

static void put_id(unsigned char *bytes, haft_id id)
{
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)(id.bits >> 8 * i);
    }
}

static haft_id get_id(const unsigned char *bytes)
{
    haft_id id = HAFT_NIL;

    for (int i = 0; i < 8; i++) {
        id.bits |= (uint64_t)bytes[i] << 8 * i;
    }
    return id;
}

/* The server: a player asks to heal a unit.  The bytes may be anything. */
static const char *heal(haft_local *units, int player, const unsigned char *bytes)
{
    const haft_id id = get_id(bytes);
    struct unit *unit = haft_resolve(haft_local_view(units), id);

    if (unit == NULL) {
        return haft_status_text(haft_local_diagnose(units, id)); /* for the server's log */
    }
    if (unit->player != player) {
        return "another player's unit";
    }
    unit->health = 100;
    return "healed";
}

/* The client: a unit has come to life on the server, and gets the same id here. */
static haft_status come(haft_local *mirror, const unsigned char *bytes, const struct unit *unit)
{
    return haft_local_restore(mirror, get_id(bytes), unit);
}

static void ask(haft_local *units, const char *what, haft_id id)
{
    unsigned char bytes[8];

    put_id(bytes, id);
    printf("%s: %s\n", what, heal(units, 1, bytes));
}

static void serve(haft_local *units)
{
    const haft_id order = haft_id_pack(HAFT_LAYOUT_32_24_8, 4, 1, ORDERS);
    haft_id own, others, lost, next;

    must(haft_local_insert(units, &(struct unit){.player = 1}, &own));
    must(haft_local_insert(units, &(struct unit){.player = 2}, &others));
    must(haft_local_insert(units, &(struct unit){.player = 1}, &lost));
    must(haft_local_free(units, lost));
    must(haft_local_insert(units, &(struct unit){.player = 2}, &next)); /* in the same slot */
    ask(units, "own", own);
    ask(units, "another's", others);
    ask(units, "a lost unit's, whose slot is in use again", lost);
    ask(units, "a guess of the one there now", (haft_id){lost.bits + (UINT64_C(1) << 32)});
    ask(units, "another table's", order);
    ask(units, "not issued yet", haft_id_pack(HAFT_LAYOUT_32_24_8, 900, 1, UNITS));
    ask(units, "made up", (haft_id){UINT64_MAX});
    ask(units, "nothing", HAFT_NIL);
}

static void follow(void)
{
    const struct unit unit = {.player = 2};
    unsigned char newer[8], older[8], far[8];
    haft_local *mirror;

    must(haft_local_open(&options, &mirror));
    put_id(newer, haft_id_pack(HAFT_LAYOUT_32_24_8, 6, 2, UNITS));
    put_id(older, haft_id_pack(HAFT_LAYOUT_32_24_8, 6, 1, UNITS));
    put_id(far, haft_id_pack(HAFT_LAYOUT_32_24_8, 4000000, 1, UNITS));
    printf("mirrored: %s\n", haft_status_text(come(mirror, newer, &unit)));
    printf("the message again: %s\n", haft_status_text(come(mirror, newer, &unit)));
    must(haft_local_free(mirror, get_id(newer)));
    printf("an older one that was late: %s\n", haft_status_text(come(mirror, older, &unit)));
    printf("beyond the capacity: %s\n", haft_status_text(come(mirror, far, &unit)));
    haft_local_close(mirror);
}

int main(void)
{
    haft_local *units;

    must(haft_local_open(&options, &units));
    serve(units);
    haft_local_close(units);
    follow();
    return fflush(stdout) != 0;
}
