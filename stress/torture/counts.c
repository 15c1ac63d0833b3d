/*
 * A counted table beside the play's other tables: threads hold its objects inside and outside
 * sections, and from step to step; they free, take and insert; on_destroy holds and lets go.
 *
 * A thread holds two objects at a time, one of them in an on_destroy, and ends one that another
 * end defers: so with COUNTED_IDS live, a capacity of four slots more a thread is never full.
 */
#include "stress/torture/counts.h"
#include "stress/torture/actor.h"
#include <stdlib.h>

static shared_u64 *holders_of(struct counts *counts, haft_id id)
{
    return &counts->holders[haft_id_index(haft_counted_layout(counts->table), id)];
}

static void look_at(const struct play *play, const struct object *object, haft_id id)
{
    if (!object_is(object, id)) {
        broken(play, "counted id %llx: the object is that of %llx", (unsigned long long)id.bits,
               (unsigned long long)object->id);
    }
}

static const struct object *hold_counted(struct play *play, haft_id id)
{
    const struct object *object = haft_counted_acquire(play->counts.table, id);

    if (object != NULL) {
        add(holders_of(&play->counts, id), 1);
        look_at(play, object, id);
    }
    return object;
}

static void let_go_counted(struct play *play, haft_id id)
{
    add(holders_of(&play->counts, id), UINT64_MAX);
    must(&play->run, haft_counted_release(play->counts.table, id), "releasing");
}

/* Spoils the object: a second call, or a holder, would notice. */
static void on_counted_destroy(void *object, haft_id id, void *arg)
{
    struct play *play = arg;
    struct object *dead = object;
    const haft_id other = {peek(&play->counts.board[id.bits % COUNTED_IDS])};

    look_at(play, dead, id);
    if (peek(holders_of(&play->counts, id)) != 0) {
        broken(play, "counted id %llx is destroyed while it is held", (unsigned long long)id.bits);
    }
    dead->canary = 0;
    add(&play->counts.destroyed, 1);
    if (hold_counted(play, other) != NULL) {
        let_go_counted(play, other); /* this may end it, inside of this on_destroy */
    }
}

static void insert_counted(struct play *play, uint64_t place)
{
    struct counts *counts = &play->counts;
    void *object;
    haft_id id;

    must(&play->run, haft_counted_reserve(counts->table, &id, &object), "reserving beside few");
    object_write(object, id);
    add(&counts->inserted, 1);
    haft_counted_publish(counts->table, id);
    poke(&counts->board[place], id.bits);
}

/* Out of every play by another seed: shards or the queue, slots near each other or apart. */
void counts_open(struct play *play)
{
    struct counts *counts = &play->counts;
    struct chance chance = chance_of(&play->run, 4 * MOST_THREADS);
    const haft_counted_options options = {
        .capacity = COUNTED_IDS + 4 * (uint64_t)play->run.threads,
        .object_size = sizeof(struct object),
        .min_free = one_in(&chance, 2) ? 5 : 0,
        .spread = one_in(&chance, 2),
        .wipe = one_in(&chance, 2),
        .on_destroy = on_counted_destroy,
        .destroy_arg = play,
    };

    must(&play->run, haft_counted_open(&options, &counts->table), "opening a counted table");
    counts->places = HAFT_FIRST_INDEX + options.capacity + options.min_free;
    counts->holders = calloc(counts->places, sizeof *counts->holders);
    if (counts->holders == NULL) {
        broken(play, "no memory for holders");
    }
    for (uint64_t i = 0; i < COUNTED_IDS; i++) {
        insert_counted(play, i);
    }
}

/* End the object in that place, one way or the other, and put a new one there. */
static void replace_counted(struct actor *actor, uint64_t place)
{
    struct counts *counts = &actor->play->counts;
    const haft_id old = {peek(&counts->board[place])};
    struct object taken;

    if (one_in(&actor->chance, 4)) {
        if (haft_counted_take(counts->table, old, &taken) != HAFT_OK) {
            return;
        }
        look_at(actor->play, &taken, old);
        add(&counts->taken, 1);
    } else if (haft_counted_free(counts->table, old) != HAFT_OK) {
        return;
    }
    insert_counted(actor->play, place);
}

static void walk_counted(struct actor *actor)
{
    haft_counted *table = actor->play->counts.table;
    haft_counted_cursor cursor = {0};
    haft_id id;
    void *object;

    while (haft_counted_cursor_next(table, &cursor, &id, &object)) {
        look_at(actor->play, object, id);
        must(&actor->play->run, haft_counted_release(table, id), "releasing after a visit");
    }
}

void counts_leave(struct actor *actor)
{
    struct play *play = actor->play;
    const haft_id id = actor->counted;

    if (actor->counted_object != NULL) {
        look_at(play, actor->counted_object, id);
        count(actor, COUNT_COUNTED_OUTLIVED, !haft_counted_is_live(play->counts.table, id));
        let_go_counted(play, id);
        actor->counted_object = NULL;
    }
}

void counts_step(struct actor *actor)
{
    struct play *play = actor->play;
    const uint64_t place = draw_below(&actor->chance, COUNTED_IDS);
    const bool inside = one_in(&actor->chance, 4);

    if (inside) {
        actor_begin_section(actor);
    }
    counts_leave(actor);
    if (one_in(&actor->chance, 3)) {
        replace_counted(actor, place);
    } else if (one_in(&actor->chance, 32)) {
        walk_counted(actor);
    } else {
        actor->counted = (haft_id){peek(&play->counts.board[place])};
        actor->counted_object = hold_counted(play, actor->counted);
        pause_by_chance(&actor->chance);
    }
    if (inside) {
        actor_end_section(actor);
    }
}

void counts_close(struct play *play)
{
    struct counts *counts = &play->counts;
    const haft_counted_stats stats = haft_counted_stats_get(counts->table);

    if (stats.live != COUNTED_IDS || stats.held != 0 || stats.ended != 0 || stats.reserved != 0) {
        broken(play, "%llu live of %u, %llu held, %llu ended, %llu reserved in the end",
               (unsigned long long)stats.live, COUNTED_IDS, (unsigned long long)stats.held,
               (unsigned long long)stats.ended, (unsigned long long)stats.reserved);
    }
    must(&play->run, haft_counted_close(counts->table), "closing the counted table");
    if (peek(&counts->inserted) != peek(&counts->destroyed) + peek(&counts->taken)) {
        broken(play, "%llu counted objects inserted, %llu destroyed, %llu taken",
               (unsigned long long)peek(&counts->inserted),
               (unsigned long long)peek(&counts->destroyed),
               (unsigned long long)peek(&counts->taken));
    }
    free(counts->holders);
}
