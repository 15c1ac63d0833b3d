/*
 * stress/linearize_counted.c - short histories of a tiny counted table, each checked against one
 * thread's table.
 *
 * Invariant  every history is linearizable: stress/linear/counted.h says what the table of one
 *            thread allows; and when all holds are given back, each object freed is destroyed once.
 * Pressure   a new table of 1 to 4 objects in each round, with copies, on_destroy and min_free or
 *            without; all threads begin at one barrier, and insert, free, take, hold, copy and ask
 *            for ids that any of them has told of, and ids that will be issued next.  Counts the
 *            histories in which operations of two threads on one slot overlapped.
 * Usage      linearize_counted [rounds] [threads, 2 to 4] [seed]
 *            The seed gives each thread the same operations again, not the same meetings.
 */
#include "stress/linear/counted.h"
#include "stress/linear/stage.h"
#include <haft/counted.h>

/* The table of the round. */
static haft_counted *table;
static haft_counted_options options;
static bool crowds; /* the round has insertions and frees alone */
static shared_u64 destroyed;

/* Of two words: a copy of it could be one half of two. */
struct noted {
    uint64_t note;
    uint64_t inverse;
};

/* The object's note; or what no insertion wrote. */
static uint64_t note_of(const struct noted *noted)
{
    return noted->inverse == ~noted->note ? noted->note : UINT64_MAX;
}

/* --- operations --- */

static void insert(struct actor *actor, struct linear_operation *operation)
{
    operation->note = stage_note(actor);
    const struct noted noted = {operation->note, ~operation->note};

    operation->called = stage_call(actor);
    operation->status = haft_counted_insert(table, &noted, &operation->id);
    operation->returned = stage_now(actor->stage);
    stage_tell(actor, operation);
}

static void free_one(struct actor *actor, struct linear_operation *operation)
{
    operation->called = stage_call(actor);
    operation->status = haft_counted_free(table, operation->id);
    operation->returned = stage_now(actor->stage);
}

static void take(struct actor *actor, struct linear_operation *operation)
{
    struct noted noted;

    operation->called = stage_call(actor);
    operation->status = haft_counted_take(table, operation->id, &noted);
    operation->returned = stage_now(actor->stage);
    operation->note = operation->status == HAFT_OK ? note_of(&noted) : 0;
}

static void ask(struct actor *actor, struct linear_operation *operation)
{
    operation->called = stage_call(actor);
    operation->found = haft_counted_is_live(table, operation->id);
    operation->returned = stage_now(actor->stage);
}

static void copy(struct actor *actor, struct linear_operation *operation)
{
    struct noted noted;

    operation->called = stage_call(actor);
    operation->found = haft_counted_copy(table, operation->id, &noted);
    operation->returned = stage_now(actor->stage);
    operation->note = operation->found ? note_of(&noted) : 0;
}

static void acquire(struct actor *actor, struct linear_operation *operation)
{
    const bool requires = one_in(&actor->chance, 2);

    operation->called = stage_call(actor);
    const struct noted *noted = requires ? haft_counted_require(table, operation->id)
                                         : haft_counted_acquire(table, operation->id);

    operation->returned = stage_now(actor->stage);
    operation->found = noted != NULL;
    if (noted != NULL) {
        actor->held = operation->id;
        actor->holds++;
        operation->note = note_of(noted);
    }
}

static void hold_again(struct actor *actor, struct linear_operation *operation)
{
    operation->id = actor->held;
    operation->called = stage_call(actor);
    operation->found = haft_counted_again(table, operation->id);
    operation->returned = stage_now(actor->stage);
    actor->holds += operation->found;
}

static void release(struct actor *actor, struct linear_operation *operation)
{
    operation->id = actor->held;
    actor->holds--;
    operation->called = stage_call(actor);
    operation->status = haft_counted_release(table, operation->id);
    operation->returned = stage_now(actor->stage);
}

/* What a thread does next; it holds one object at most, and releases no hold but its own. */
static enum linear_kind next_kind(struct actor *actor)
{
    static const enum linear_kind kinds[] = {
        LINEAR_INSERT, LINEAR_INSERT,  LINEAR_INSERT, LINEAR_FREE,    LINEAR_FREE,
        LINEAR_TAKE,   LINEAR_IS_LIVE, LINEAR_COPY,   LINEAR_ACQUIRE, LINEAR_ACQUIRE};
    const enum linear_kind kind = kinds[draw_below(&actor->chance, crowds ? 5 : 10)];

    if (kind == LINEAR_COPY && !options.copies) {
        return LINEAR_IS_LIVE;
    }
    if (kind == LINEAR_ACQUIRE && actor->holds != 0) {
        return one_in(&actor->chance, 3) ? LINEAR_AGAIN : LINEAR_RELEASE;
    }
    return kind;
}

static void take_part(struct actor *actor)
{
    actor->holds = 0;
    while (actor->part->count + actor->holds + 2 <= STAGE_PART) {
        stage_act(actor, next_kind(actor));
    }
    while (actor->holds != 0) {
        stage_act(actor, LINEAR_RELEASE);
    }
}

/* --- rounds --- */

static void on_destroy(void *object, haft_id id, void *arg)
{
    const struct stage *stage = arg;

    if (note_of(object) == UINT64_MAX) {
        violation(&stage->run, "id %llx is destroyed, and its object is none",
                  (unsigned long long)id.bits);
    }
    add(&destroyed, 1);
}

static void on_bad_access(const haft_bad_access *access, void *arg)
{
    const struct stage *stage = arg;

    if (access->status == HAFT_OK) {
        violation(&stage->run, "id %llx is required in vain, and is live",
                  (unsigned long long)access->id.bits);
    }
}

static void open_table(struct stage *stage, struct chance *chance)
{
    const bool rests = one_in(chance, 4);

    options = (haft_counted_options){
        .capacity = 1 + draw_below(chance, rests ? 3 : 4),
        .object_size = sizeof(struct noted),
        .layout = STAGE_LAYOUT,
        .min_free = rests,
        .copies = one_in(chance, 2),
        .on_destroy = one_in(chance, 2) ? on_destroy : NULL,
        .destroy_arg = stage,
        .on_bad_access = on_bad_access,
        .report_arg = stage,
    };
    must(&stage->run, haft_counted_open(&options, &table), "opening a table");
    crowds = one_in(chance, 2);
    stage->capacity = options.capacity;
    poke(&destroyed, 0);
}

static void end_table(struct stage *stage, const struct linear_history *history)
{
    uint64_t freed = 0;

    for (uint32_t i = 0; i < history->count; i++) {
        freed +=
            history->operations[i].kind == LINEAR_FREE && history->operations[i].status == HAFT_OK;
    }
    if (options.on_destroy != NULL && peek(&destroyed) != freed) {
        linear_print(stderr, history);
        violation(&stage->run, "round %llu: %llu objects freed, %llu destroyed",
                  (unsigned long long)stage->round, (unsigned long long)freed,
                  (unsigned long long)peek(&destroyed));
    }
    must(&stage->run, haft_counted_close(table), "closing a table");
}

int main(int argc, char **argv)
{
    static void (*const acts[])(struct actor *, struct linear_operation *) = {
        [LINEAR_INSERT] = insert,    [LINEAR_FREE] = free_one,  [LINEAR_TAKE] = take,
        [LINEAR_IS_LIVE] = ask,      [LINEAR_COPY] = copy,      [LINEAR_ACQUIRE] = acquire,
        [LINEAR_AGAIN] = hold_again, [LINEAR_RELEASE] = release};
    static struct stage stage = {.model = linear_counted_allows,
                                 .acts = acts,
                                 .open = open_table,
                                 .take_part = take_part,
                                 .close = end_table};

    stage_take(&stage, argc, argv);
    stage_play(&stage);
}
