/*
 * stress/side.c - threads set and read values beside objects, while others free these and reuse
 * their slots.
 *
 * Invariant  a value that is found under an id that its reader holds is that id's, and stays so
 *            until the section ends (SIDE, GRACE); one thread sets it; on_reclaim sees it.
 * Pressure   few slots; readers announce the ids that they hold, writers free exactly those, and
 *            values are set at once for the next objects; several threads set one value.
 * Usage      side [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller|workers] [mode]
 *            proper      as it should be used
 *            unresolved  broken on purpose: a value is read by an id that was not resolved
 */
#include "stress/support.h"
#include <haft/kit/side.h>

static const char *const modes[] = {"proper", "unresolved", NULL};

struct stage {
    struct held held;
    haft_side *side;
    haft_entries entries;
    bool unresolved;
    shared_u64 set;
    shared_u64 contested; /* values that another thread had set, or was setting */
};

/* Of an id that the thread holds. */
static void set_value(struct stage *stage, haft_id id)
{
    struct object value;
    void *place = NULL;

    object_write(&value, id);
    const haft_status status = haft_side_set(stage->side, id, &value, &place);

    if (status == HAFT_OK || status == HAFT_OCCUPIED) {
        held_look(&stage->held, place, id);
    } else if (status != HAFT_BUSY) {
        must(&stage->held.run, status, "setting a value");
    }
    add(status == HAFT_OK ? &stage->set : &stage->contested, 1);
}

static const struct object *find(const struct stage *stage, haft_id id)
{
    return stage->unresolved ? haft_side_get(stage->entries, id)
                             : haft_side_find(stage->entries, stage->held.view, id, NULL);
}

static void read_value(struct held *held, unsigned number, haft_worker *worker, haft_id id,
                       struct chance *chance)
{
    struct stage *stage = (struct stage *)held;

    haft_section_begin(held->domain);
    if (!stage->unresolved && one_in(chance, 2) && haft_resolve(held->view, id) != NULL) {
        set_value(stage, id);
    }
    const struct object *value = find(stage, id);

    if (value != NULL) {
        poke(&held->announced[number], id.bits);
        held_look(held, value, id);
        pause_by_chance(chance);
        add(&held->met, !haft_is_live(held->view, id));
        held_look(held, value, id);
        poke(&held->announced[number], 0);
    }
    haft_section_end(held->domain);
    pass_quiescent_point(held->table, worker, chance);
}

static void on_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    const struct stage *stage = arg;
    const struct object *value = haft_side_get(stage->entries, id);

    (void)object;
    (void)worker;
    if (value != NULL) {
        held_look(&stage->held, value, id);
    }
}

/* Now and then an object has its value from the beginning. */
static void furnish(struct held *held, haft_id id, struct chance *chance)
{
    if (one_in(chance, 2)) {
        set_value((struct stage *)held, id);
    }
}

int main(int argc, char **argv)
{
    static struct stage stage = {.held = {.read = read_value, .furnish = furnish}};
    struct held *held = &stage.held;
    const haft_side_options values = {.value_size = sizeof(struct object)};

    held->run = run_from(argc, argv, 20000, 4, modes);
    run_until(&held->run, 1500);
    stage.unresolved = held->keeps_freed = run_is(&held->run, "unresolved");
    held_open(held, (haft_table_options){.on_reclaim = on_reclaim, .reclaim_arg = &stage});
    must(&held->run, haft_side_open(held->table, &values, &stage.side), "opening the side");
    stage.entries = haft_side_entries(stage.side);
    held_play(held);

    if (haft_table_close(held->table) != HAFT_IN_USE) {
        violation(&held->run, "a table closes beside a side");
    }
    haft_side_close(stage.side);
    close_with_domain(&held->run, held->table);
    finish(&held->run, held->met, "set %llu, contested %llu, read when freed %llu",
           (unsigned long long)stage.set, (unsigned long long)stage.contested,
           (unsigned long long)held->met);
}
