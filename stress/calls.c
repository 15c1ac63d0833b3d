/*
 * stress/calls.c - for each operation, by size of batch: how often it touches a cache line that
 * another thread wrote last, and how many read-modify-writes it makes.
 *
 * Two threads take turns of 1,024 objects (stress/turns.h).  Of each turn only the calls of one
 * operation are counted; what makes ready for them, or clears up, is not.  `own` ids come from the
 * caller's last calls, `other` ids from the other thread's last turn.
 *
 * Invariant  reading stores nothing.  With full batches reserve and publish make no
 *            read-modify-write, insert none, free one; a pin or unpin is one.
 */
#include "stress/turns.h"
#include <haft/domain.h>
#include <haft/pin.h>
#include <haft/scan.h>
#include <haft/table.h>
#include <stdio.h>
#include <stdlib.h>

#define OBJECTS 1024
#define MANY 64
#define LITTLE 0.04 /* operations in a hundred calls: what comes with a batch, not with a call */

static const uint32_t shares[] = {1, 8, 32, 128};
#define SHARES (sizeof shares / sizeof *shares)

struct turn_of {
    struct turns *turns;
    haft_worker *worker;
    haft_view view;
    haft_id *ids; /* OBJECTS */
};

enum {
    OTHERS = 1, /* the ids are those that the other thread inserted in its last turn */
    READS = 2,  /* it stores nothing */
    PINS = 4    /* the table has pins */
};

struct operation {
    const char *name;
    unsigned flags;
    double modifies;                      /* read-modify-writes of a call, with full batches */
    void (*make_ready)(struct turn_of *); /* or NULL */
    void (*act)(struct turn_of *);
    void (*clear_up)(struct turn_of *); /* or NULL */
};

/* --- the operations, each for all ids --- */

static void act_reserve(struct turn_of *at)
{
    for (int i = 0; i < OBJECTS; i++) {
        at->ids[i] = reserve_waiting(at->turns->run, at->worker, NULL);
    }
}

static void act_publish(struct turn_of *at)
{
    for (int i = 0; i < OBJECTS; i++) {
        haft_publish(at->worker, at->ids[i]);
    }
}

static void act_abort(struct turn_of *at)
{
    for (int i = 0; i < OBJECTS; i++) {
        haft_abort(at->worker, at->ids[i]);
    }
}

static void act_insert(struct turn_of *at)
{
    for (int i = 0; i < OBJECTS; i++) {
        at->ids[i] = turns_insert(at->turns, at->worker);
    }
}

static void act_free(struct turn_of *at)
{
    for (int i = 0; i < OBJECTS; i++) {
        must(at->turns->run, haft_free(at->worker, at->ids[i]), "freeing");
    }
}

static void act_free_many(struct turn_of *at)
{
    for (int i = 0; i < OBJECTS; i += MANY) {
        if (haft_free_many(at->worker, at->ids + i, MANY, NULL) != MANY) {
            violation(at->turns->run, "not all are freed");
        }
    }
}

static void act_resolve(struct turn_of *at)
{
    for (int i = 0; i < OBJECTS; i++) {
        if (haft_resolve(at->view, at->ids[i]) == NULL) {
            violation(at->turns->run, "an object is gone");
        }
    }
}

static void act_resolve_many(struct turn_of *at)
{
    void *objects[MANY];

    for (int i = 0; i < OBJECTS; i += MANY) {
        if (haft_resolve_many(at->view, at->ids + i, objects, MANY) != MANY) {
            violation(at->turns->run, "an object is gone");
        }
    }
}

static void act_is_live(struct turn_of *at)
{
    for (int i = 0; i < OBJECTS; i++) {
        if (!haft_is_live(at->view, at->ids[i])) {
            violation(at->turns->run, "an object is gone");
        }
    }
}

static void act_scan(struct turn_of *at)
{
    const haft_range all = {0, UINT64_MAX};
    haft_cursor cursor = haft_cursor_over(at->turns->table, all);
    uint64_t seen = 0;
    haft_id id;
    void *object;

    while (haft_cursor_next(&cursor, &id, &object)) {
        seen++;
    }
    if (seen < OBJECTS) {
        violation(at->turns->run, "a scan saw %u objects", (unsigned)seen);
    }
}

static void act_pin(struct turn_of *at)
{
    for (int i = 0; i < OBJECTS; i++) {
        if (haft_pin(at->turns->table, at->ids[i]) == NULL) {
            violation(at->turns->run, "an object is gone");
        }
    }
}

static void act_unpin(struct turn_of *at)
{
    for (int i = 0; i < OBJECTS; i++) {
        must(at->turns->run, haft_unpin(at->turns->table, at->ids[i]), "unpinning");
    }
}

static void unpin_and_free(struct turn_of *at)
{
    act_unpin(at);
    act_free(at);
}

static void act_quiescent(struct turn_of *at)
{
    for (int i = 0; i < OBJECTS; i++) {
        must(at->turns->run, haft_worker_quiescent(at->worker), "a quiescent point");
    }
}

static const struct operation operations[] = {
    {"reserve", 0, 0, NULL, act_reserve, act_abort},
    {"publish", 0, 0, act_reserve, act_publish, act_free},
    {"abort", 0, 0, act_reserve, act_abort, NULL},
    {"insert", 0, 0, NULL, act_insert, act_free},
    {"free own", 0, 1, act_insert, act_free, NULL},
    {"free other", OTHERS, 1, NULL, act_free, NULL},
    {"free_many own", 0, 1, act_insert, act_free_many, NULL},
    {"free_many other", OTHERS, 1, NULL, act_free_many, NULL},
    {"resolve own", READS, 0, act_insert, act_resolve, act_free},
    {"resolve other", OTHERS | READS, 0, NULL, act_resolve, act_free},
    {"resolve_many other", OTHERS | READS, 0, NULL, act_resolve_many, act_free},
    {"is_live other", OTHERS | READS, 0, NULL, act_is_live, act_free},
    {"scan other", OTHERS | READS, 0, NULL, act_scan, act_free},
    {"pin other", OTHERS | PINS, 1, NULL, act_pin, unpin_and_free},
    {"unpin other", OTHERS | PINS, 1, act_pin, act_unpin, act_free},
    {"quiescent", 0, 0, NULL, act_quiescent, NULL},
};
#define OPERATIONS (sizeof operations / sizeof *operations)

/* --- a game --- */

struct game {
    struct turns turns;
    const struct operation *operation;
    struct traffic counted;
    haft_id ids[TURN_THREADS][OBJECTS];
};

static void call(void (*function)(struct turn_of *), struct turn_of *at)
{
    if (function != NULL) {
        function(at);
    }
}

static void act(struct game *game, struct turn_of *at, bool counts)
{
    const struct traffic before = turns_traffic();

    game->operation->act(at);
    const struct traffic after = turns_traffic();

    for (unsigned kind = 0; counts && kind < OPERATION_KINDS; kind++) {
        game->counted.all[kind] += after.all[kind] - before.all[kind];
        game->counted.foreign[kind] += after.foreign[kind] - before.foreign[kind];
    }
}

/* With the thread's ids, or those that the other thread's last turn left, if there was one. */
static void play(struct turns *turns, unsigned number, haft_worker *worker, uint64_t turn)
{
    struct game *game = turns->arg;
    const struct operation *operation = game->operation;
    const bool of_other = (operation->flags & OTHERS) != 0;
    struct turn_of at = {turns, worker, haft_table_view(turns->table),
                         game->ids[of_other ? 1 - number : number]};

    if (!of_other || turn != 0 || number != 0) {
        call(operation->make_ready, &at);
        act(game, &at, turn >= turns->count / 2);
        call(operation->clear_up, &at);
    }
    if (of_other && (turn + 1 < turns->count || number == 0)) {
        at.ids = game->ids[number];
        act_insert(&at);
    }
    must(turns->run, haft_worker_quiescent(worker), "a quiescent point");
}

/* For each call, or each object of a call of many. */
struct line {
    double touched; /* stores and read-modify-writes on a line that the other thread wrote last */
    double modifies;
    double stores;
};

static struct line measure(const struct run *run, const struct operation *operation, uint32_t share)
{
    struct game *game = calloc(1, sizeof *game);

    if (game == NULL) {
        violation(run, "no memory");
    }
    game->operation = operation;
    game->turns = (struct turns){.run = run,
                                 .count = 2 * run->rounds,
                                 .share = share,
                                 .pins = (operation->flags & PINS) != 0,
                                 .play = play,
                                 .arg = game};
    turns_play(&game->turns);
    const struct traffic *counted = &game->counted;
    const double calls = (double)TURN_THREADS * (double)run->rounds * OBJECTS;
    const struct line line = {
        .touched =
            (double)(counted->foreign[OPERATION_STORE] + counted->foreign[OPERATION_MODIFY]) /
            calls,
        .modifies = (double)counted->all[OPERATION_MODIFY] / calls,
        .stores = (double)(counted->all[OPERATION_STORE] + counted->all[OPERATION_MODIFY]) / calls,
    };

    free(game);
    return line;
}

static void check(const struct run *run, const struct operation *operation, struct line full)
{
    if ((operation->flags & READS) != 0 && full.stores != 0) {
        violation(run, "%s stores %.4f times", operation->name, full.stores);
    }
    if (full.modifies > operation->modifies + LITTLE) {
        violation(run, "%s makes %.4f read-modify-writes", operation->name, full.modifies);
    }
}

static void measure_all(const struct run *run, const struct operation *operation)
{
    struct line lines[SHARES];

    printf("%-18s ", operation->name);
    for (size_t i = 0; i < SHARES; i++) {
        lines[i] = measure(run, operation, shares[i]);
        printf(" %8.4f", lines[i].touched);
    }
    printf("  ");
    for (size_t i = 0; i < SHARES; i++) {
        printf(" %8.4f", lines[i].modifies);
    }
    printf("\n");
    fflush(stdout);
    check(run, operation, lines[SHARES - 1]);
}

int main(int argc, char **argv)
{
    const struct run run = run_from(argc, argv, 8, TURN_THREADS, NULL);

    printf("for each call (or object), with batches of   1, 8, 32, 128\n"
           "                    lines the other thread wrote last         read-modify-writes\n");
    for (size_t i = 0; i < OPERATIONS; i++) {
        measure_all(&run, &operations[i]);
    }
    finish(&run, run.rounds * OPERATIONS, "%u turns of %d objects for each of %u operations",
           (unsigned)run.rounds, OBJECTS, (unsigned)OPERATIONS);
}
