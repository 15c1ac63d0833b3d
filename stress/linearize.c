/*
 * stress/linearize.c - short histories of a tiny table, each checked against one thread's table.
 *
 * Invariant  every history is linearizable: stress/linear/history.h says what the table of one
 *            thread allows.
 * Pressure   a new table of 2 or 3 objects in each round; all threads begin at one barrier, and
 *            insert, free, resolve, ask, pin and unpin ids that any of them has told of, and ids
 *            that will be issued next.  Counts the histories in which operations of two threads on
 *            one slot overlapped, and fails when there were none.
 * Usage      linearize [rounds] [threads, 2 to 4] [seed] [memb|qsbr|ck] [thread|caller|workers]
 *            The seed gives each thread the same operations again, not the same meetings; a
 *            schedule that the explorer's case `linear` prints gives both.
 */
#include "stress/linear/stage.h"
#include <haft/pin.h>

/* --- operations --- */

static void insert(struct actor *actor, struct linear_operation *operation)
{
    operation->note = stage_note(actor);
    operation->called = stage_call(actor);
    operation->status = haft_insert(actor->worker, &operation->note, &operation->id);
    operation->returned = stage_now(actor->stage);
    stage_tell(actor, operation);
}

static void free_one(struct actor *actor, struct linear_operation *operation)
{
    operation->called = stage_call(actor);
    operation->status = haft_free(actor->worker, operation->id);
    operation->returned = stage_now(actor->stage);
}

/* The object's bytes when it was found, or what became of them in the section. */
static uint64_t note_in(struct actor *actor, shared_u64 *object)
{
    const uint64_t note = peek(object);

    if (one_in(&actor->chance, 8)) {
        pause_by_chance(&actor->chance);
    }
    const uint64_t after = peek(object);

    return after != note ? after : note;
}

static void resolve(struct actor *actor, struct linear_operation *operation)
{
    haft_section_begin(actor->stage->domain);
    operation->called = stage_call(actor);
    void *object = haft_resolve(haft_table_view(actor->stage->table), operation->id);

    operation->returned = stage_now(actor->stage);
    operation->found = object != NULL;
    operation->note = object != NULL ? note_in(actor, object) : 0;
    haft_section_end(actor->stage->domain);
}

static void ask(struct actor *actor, struct linear_operation *operation)
{
    operation->called = stage_call(actor);
    operation->found = haft_is_live(haft_table_view(actor->stage->table), operation->id);
    operation->returned = stage_now(actor->stage);
}

static void pin(struct actor *actor, struct linear_operation *operation)
{
    haft_section_begin(actor->stage->domain);
    operation->called = stage_call(actor);
    void *object = haft_pin(actor->stage->table, operation->id);

    operation->returned = stage_now(actor->stage);
    haft_section_end(actor->stage->domain);
    operation->found = object != NULL;
    if (object != NULL) {
        actor->held = operation->id;
        operation->note = note_in(actor, object);
    }
}

static void unpin(struct actor *actor, struct linear_operation *operation)
{
    operation->id = actor->held;
    actor->held = (haft_id)HAFT_NIL;
    operation->called = stage_call(actor);
    operation->status = haft_unpin(actor->stage->table, operation->id);
    operation->returned = stage_now(actor->stage);
}

/* --- rounds --- */

/* What a thread does next; a thread has one pin at most. */
static enum linear_kind next_kind(struct actor *actor)
{
    static const enum linear_kind kinds[] = {LINEAR_INSERT,  LINEAR_INSERT,  LINEAR_FREE,
                                             LINEAR_FREE,    LINEAR_RESOLVE, LINEAR_RESOLVE,
                                             LINEAR_IS_LIVE, LINEAR_PIN};
    const enum linear_kind kind = kinds[draw_below(&actor->chance, 8)];

    if (kind == LINEAR_PIN && !haft_id_is_nil(actor->held)) {
        return LINEAR_UNPIN;
    }
    return kind;
}

static void take_part(struct actor *actor)
{
    struct stage *stage = actor->stage;

    while (actor->part->count + 1 < STAGE_PART) {
        stage_act(actor, next_kind(actor));
        if (one_in(&actor->chance, 4)) {
            haft_worker_quiescent(actor->worker);
        }
    }
    if (!haft_id_is_nil(actor->held)) {
        stage_act(actor, LINEAR_UNPIN);
    }
    must(&stage->run, haft_worker_close(actor->worker), "closing a worker");
}

static void open_table(struct stage *stage, struct chance *chance)
{
    stage->capacity = 2 + draw_below(chance, 2);
    const haft_table_options options = {
        .capacity = stage->capacity,
        .object_size = sizeof(uint64_t),
        .layout = STAGE_LAYOUT,
        .pins = true,
    };

    must(&stage->run, haft_table_open(stage->domain, &options, &stage->table), "opening a table");
}

static void end_table(struct stage *stage, const struct linear_history *history)
{
    (void)history;
    close_table(&stage->run, stage->table);
}

int main(int argc, char **argv)
{
    static void (*const acts[])(struct actor *, struct linear_operation *) = {
        [LINEAR_INSERT] = insert, [LINEAR_FREE] = free_one, [LINEAR_RESOLVE] = resolve,
        [LINEAR_IS_LIVE] = ask,   [LINEAR_PIN] = pin,       [LINEAR_UNPIN] = unpin};
    static struct stage stage = {.model = linear_allows,
                                 .acts = acts,
                                 .open = open_table,
                                 .take_part = take_part,
                                 .close = end_table};

    stage_take(&stage, argc, argv);
    stage.domain = open_domain(&stage.run);
    stage_play(&stage);
}
