/*
 * stress/pin.c - threads pin objects, use them outside every section, and unpin them, while others
 * free and reuse.
 *
 * Invariant  a pinned object stays itself until its last unpin; on_reclaim runs once for each
 *            freed object, after that (PIN, GRACE); no slot is lost.
 * Pressure   few slots; holders announce what they have pinned, and writers free exactly that;
 *            several pins on one object go at the same moment; pauses between pin and unpin.
 * Usage      pin [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller|workers] [mode]
 *            proper      as it should be used
 *            unpinned    broken on purpose: resolved, used after the section
 */
#include "stress/support.h"
#include <haft/pin.h>

static const char *const modes[] = {"proper", "unpinned", NULL};

struct stage {
    struct held held;
    bool unpinned;
    shared_u64 pinned;
    shared_u64 freed;
    shared_u64 reclaimed;
};

static const struct object *take(struct stage *stage, haft_id id)
{
    haft_section_begin(stage->held.domain);
    const struct object *object =
        stage->unpinned ? haft_resolve(stage->held.view, id) : haft_pin(stage->held.table, id);

    haft_section_end(stage->held.domain);
    return object;
}

/* Beyond the section: the thread passes quiescent points while it uses the object. */
static void hold(struct held *held, unsigned number, haft_worker *worker, haft_id id,
                 struct chance *chance)
{
    struct stage *stage = (struct stage *)held;
    const struct object *object = take(stage, id);

    if (object == NULL) {
        pass_quiescent_point(held->table, worker, chance);
        return;
    }
    poke(&held->announced[number], id.bits);
    pass_quiescent_point(held->table, worker, chance);
    pause_by_chance(chance);
    held_look(held, object, id);
    if (one_in(chance, 2)) {
        pause_by_chance(chance);
    }
    add(&stage->pinned, 1);
    add(&held->met, !haft_is_live(held->view, id));
    held_look(held, object, id);
    poke(&held->announced[number], 0);
    if (!stage->unpinned) {
        must(&held->run, haft_unpin(held->table, id), "unpinning");
    }
}

static void on_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct stage *stage = arg;
    struct object *dead = object;

    (void)worker;
    held_look(&stage->held, dead, id);
    dead->canary = 0; /* a second call, or a holder, would notice */
    add(&stage->reclaimed, 1);
}

static bool free_one(struct held *held, haft_worker *worker, haft_id id, struct chance *chance)
{
    const bool freed = haft_free(worker, id) == HAFT_OK;

    (void)chance;
    add(&((struct stage *)held)->freed, freed);
    return freed;
}

int main(int argc, char **argv)
{
    static struct stage stage = {.held = {.read = hold, .free = free_one}};
    struct held *held = &stage.held;

    held->run = run_from(argc, argv, 20000, 4, modes);
    run_until(&held->run, 1500);
    stage.unpinned = run_is(&held->run, "unpinned");
    held_open(held,
              (haft_table_options){.pins = true, .on_reclaim = on_reclaim, .reclaim_arg = &stage});
    held_play(held);

    const uint64_t live = haft_table_stats_get(held->table).live; /* its close ends these */

    close_with_domain(&held->run, held->table);
    if (stage.reclaimed != stage.freed + live) {
        violation(&held->run, "%llu freed, %llu live, %llu reclaimed",
                  (unsigned long long)stage.freed, (unsigned long long)live,
                  (unsigned long long)stage.reclaimed);
    }
    finish(&held->run, held->met, "pinned %llu, freed while pinned %llu, reclaimed %llu",
           (unsigned long long)stage.pinned, (unsigned long long)held->met,
           (unsigned long long)stage.reclaimed);
}
