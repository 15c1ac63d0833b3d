/*
 * stress/counted.c - threads hold, copy, free and insert counted objects, and close their table.
 *
 * Invariant  one thread ends an object; it is destroyed once, after all uses by all holders (HOLD),
 *            and before its slot is used again (SHARD, QUEUE); a holder sees the object whole
 *            (PUBLISH); a copy is of one object (VALUE); a table is full only if it may be, closes
 *            when all holds are given back, and then no call touches it (RETURN).
 * Pressure   few slots; threads free what others hold, hold what others free, insert as soon as
 *            they have freed, and give holds back while the table is being closed.
 * Usage      counted [rounds] [threads] [seed] [mode]
 *            held     holders against the thread that frees
 *            copies   copies against free and the next object
 *            full     one slot less than threads: HAFT_FULL, and never more objects than slots
 *            room     a slot for each thread and each object that they exchange: never HAFT_FULL
 *            queue    the same with min_free: and slots rest
 *            closing  haft_counted_close_wait() against insertions, frees and releases
 */
#include "stress/support.h"
#include <haft/counted.h>
#include <sched.h>
#include <stdio.h>

#define IDS 16
#define PLACES 2 /* of the board, where threads exchange ids */
#define MIN_FREE 5

static const char *const modes[] = {"held", "copies", "full", "room", "queue", "closing", NULL};

struct stage {
    struct run run;
    haft_counted *table;
    haft_layout layout;
    uint64_t slots; /* of the table, beside min_free */
    uint64_t min_free;
    bool has_copies;
    shared_u64 board[IDS];
    shared_u64 held[2 * IDS]; /* holders that have not begun to let go, by index */
    shared_u64 live;
    shared_u64 inserted, refused, destroyed;
    shared_u64 met;               /* collisions that the mode is for */
    shared_u64 round;             /* closing: that has begun; its table is there (release) */
    shared_u64 holding, released; /* threads of the round */
};

static shared_u64 *holders(struct stage *stage, haft_id id)
{
    return &stage->held[haft_id_index(stage->layout, id)];
}

static void look(const struct stage *stage, const struct object *object, haft_id id,
                 const char *what)
{
    if (!object_is(object, id)) {
        violation(&stage->run, "id %llx: %s that of %llx", (unsigned long long)id.bits, what,
                  (unsigned long long)object->id);
    }
}

static void on_destroy(void *bytes, haft_id id, void *arg)
{
    struct stage *stage = arg;
    struct object *object = bytes;

    if (!stage->has_copies) {
        look(stage, object, id, "the object destroyed is");
        object->canary = 0;
    }
    if (peek(holders(stage, id)) != 0) {
        violation(&stage->run, "id %llx is destroyed while it is held",
                  (unsigned long long)id.bits);
    }
    add(&stage->destroyed, 1);
}

/* --- holding --- */

static const struct object *hold(struct stage *stage, haft_id id)
{
    const struct object *object = haft_counted_acquire(stage->table, id);

    if (object != NULL) {
        add(holders(stage, id), 1);
        look(stage, object, id, "the object held is");
    }
    return object;
}

static void let_go(struct stage *stage, haft_id id)
{
    add(holders(stage, id), UINT64_MAX);
    must(&stage->run, haft_counted_release(stage->table, id), "releasing");
}

/* Hold the object for a while; a collision: it was freed meanwhile, so this may end it. */
static void hold_for_a_while(struct stage *stage, haft_id id, struct chance *chance)
{
    const struct object *object = hold(stage, id);

    if (object == NULL) {
        return;
    }
    pause_by_chance(chance);
    if (one_in(chance, 4)) {
        if (!haft_counted_again(stage->table, id)) {
            violation(&stage->run, "a holder cannot hold once more");
        }
        add(holders(stage, id), 1);
        let_go(stage, id);
    }
    add(&stage->met, !haft_counted_is_live(stage->table, id));
    look(stage, object, id, "the object, still held, is");
    let_go(stage, id);
}

static haft_status insert_stamped(struct stage *stage, haft_id *id)
{
    void *object;
    const haft_status status = haft_counted_reserve(stage->table, id, &object);

    if (status == HAFT_OK) {
        object_write(object, *id);
        haft_counted_publish(stage->table, *id);
    }
    return status;
}

/* An object of one number, and what follows from it. */
static haft_status insert_number(struct stage *stage, uint64_t number, haft_id *id)
{
    struct object object;

    object_write(&object, (haft_id){number});
    return haft_counted_insert(stage->table, &object, id);
}

/* An object of the kind that the stage has; `number` is for one that is copied. */
static haft_status insert_one(struct stage *stage, uint64_t number, haft_id *id)
{
    return stage->has_copies ? insert_number(stage, number, id) : insert_stamped(stage, id);
}

/* Free the id in that place, if it is live, and put a new one there. */
static void replace_id(struct stage *stage, uint64_t place, struct chance *chance)
{
    const haft_id old = {peek(&stage->board[place])};
    haft_id id;

    if (haft_counted_free(stage->table, old) != HAFT_OK) {
        return;
    }
    haft_status status;

    do { /* objects that are freed and held have slots */
        status = insert_one(stage, draw(chance) | 1, &id);
    } while (status == HAFT_FULL);
    must(&stage->run, status, "inserting");
    add(&stage->inserted, 1);
    poke(&stage->board[place], id.bits);
}

typedef void use_of_id(struct stage *stage, haft_id id, struct chance *chance);

/* Ids are replaced beside their uses. */
static void play_uses(struct stage *stage, use_of_id *use, struct chance *chance)
{
    for (uint64_t i = 0; run_goes_on(&stage->run, i, peek(&stage->met)); i++) {
        const uint64_t place = draw_below(chance, IDS);

        if (one_in(chance, 3)) {
            replace_id(stage, place, chance);
        } else {
            use(stage, (haft_id){peek(&stage->board[place])}, chance);
        }
    }
}

/* --- copies --- */

/* Two copies of one id are of one object; a collision: the second comes too late. */
static void copy_twice(struct stage *stage, haft_id id, struct chance *chance)
{
    struct object first;
    struct object second;

    if (!haft_counted_copy(stage->table, id, &first)) {
        return;
    }
    look(stage, &first, (haft_id){first.id}, "the copy is torn, as if it were");
    if (one_in(chance, 8)) {
        sched_yield();
    }
    if (!haft_counted_copy(stage->table, id, &second)) {
        add(&stage->met, 1);
    } else if (second.id != first.id || second.canary != first.canary) {
        violation(&stage->run, "id %llx: two copies differ", (unsigned long long)id.bits);
    }
}

/* --- capacity --- */

/* Between two lives of a slot lie min_free others. */
static void check_rest(const struct stage *stage, haft_id id, uint64_t inserted)
{
    const uint64_t lives = haft_id_generation(stage->layout, id);

    if (inserted <= (lives - 1) * (stage->min_free + 1)) {
        violation(&stage->run, "%llu insertions, and a slot has its life %llu",
                  (unsigned long long)inserted, (unsigned long long)lives);
    }
}

/* Another thread has objects too: a collision, where they do not fill the table. */
static void check_live(struct stage *stage)
{
    const uint64_t others = add(&stage->live, 1);

    if (others >= stage->slots) {
        violation(&stage->run, "more objects than the capacity");
    }
    add(&stage->met, others != 0 && stage->slots >= stage->run.threads);
}

/* Where there is a slot for each thread and place, the next thread at the place frees the id. */
static haft_id exchanged(struct stage *stage, haft_id id, struct chance *chance)
{
    shared_u64 *place = &stage->board[draw_below(chance, PLACES)];

    return stage->slots < stage->run.threads ? id : (haft_id){swap(place, id.bits)};
}

/* An object for a moment, or HAFT_FULL: a collision, if there are more threads than slots. */
static void stay(struct stage *stage, struct chance *chance)
{
    haft_id id;

    add(&stage->inserted, 1);
    const haft_status status = insert_stamped(stage, &id);

    if (status == HAFT_FULL && stage->slots < stage->run.threads) {
        add(&stage->inserted, UINT64_MAX);
        add(&stage->refused, 1);
        add(&stage->met, 1);
        return;
    }
    must(&stage->run, status, "inserting");
    check_rest(stage, id, peek(&stage->inserted));
    check_live(stage);
    if (one_in(chance, 16)) {
        sched_yield();
    }
    id = exchanged(stage, id, chance);
    if (id.bits != 0) {
        add(&stage->live, UINT64_MAX);
        must(&stage->run, haft_counted_free(stage->table, id), "freeing");
    }
}

static void play_capacity(struct stage *stage, struct chance *chance)
{
    for (uint64_t i = 0; run_goes_on(&stage->run, i, peek(&stage->met)); i++) {
        stay(stage, chance);
    }
}

/* --- the table --- */

static void open_table(struct stage *stage)
{
    const haft_counted_options options = {
        .capacity = stage->slots,
        .object_size = sizeof(struct object),
        .min_free = stage->min_free,
        .copies = stage->has_copies,
        .wipe = stage->has_copies,
        .on_destroy = on_destroy,
        .destroy_arg = stage,
    };

    must(&stage->run, haft_counted_open(&options, &stage->table), "opening the table");
    stage->layout = haft_counted_info(stage->table).layout;
}

static void insert_all(struct stage *stage, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        haft_id id;

        must(&stage->run, insert_one(stage, i + 1, &id), "inserting");
        add(&stage->inserted, 1);
        poke(&stage->board[i], id.bits);
    }
}

static void close_table_of(struct stage *stage)
{
    must(&stage->run, haft_counted_close_wait(stage->table), "closing");
    if (peek(&stage->destroyed) != peek(&stage->inserted)) {
        violation(&stage->run, "%llu objects, and %llu were destroyed",
                  (unsigned long long)peek(&stage->inserted),
                  (unsigned long long)peek(&stage->destroyed));
    }
}

/* --- closing --- */

#define NO_MORE UINT64_MAX /* rounds */

/* A hold is given back beside closing; until then the thread may insert and free as well. */
static void give_back(struct stage *stage, unsigned number, struct chance *chance)
{
    const haft_id own = {peek(&stage->board[number - 1])};
    haft_id id;

    if (hold(stage, own) == NULL) {
        violation(&stage->run, "an object is gone before its table");
    }
    add(&stage->holding, 1);
    pause_by_chance(chance);
    if (one_in(chance, 2) && insert_stamped(stage, &id) == HAFT_OK) {
        add(&stage->inserted, 1);
    }
    if (one_in(chance, 2)) {
        haft_counted_free(stage->table, own);
    }
    add(&stage->released, 1);
    let_go(stage, own);
}

/* A collision: threads have holds still when closing begins. */
static void open_and_close(struct stage *stage, uint64_t round)
{
    const uint64_t others = stage->run.threads - 1;

    open_table(stage);
    insert_all(stage, others);
    poke(&stage->holding, 0);
    poke(&stage->released, 0);
    atomic_store_explicit(&stage->round, round, memory_order_release);
    while (peek(&stage->holding) != others) {
        sched_yield();
    }
    add(&stage->met, peek(&stage->released) != others);
    close_table_of(stage);
}

static void play_closing(struct stage *stage, unsigned number, struct chance *chance)
{
    uint64_t last = 0;

    for (uint64_t i = 0; number == 0 && run_goes_on(&stage->run, i, peek(&stage->met)); i++) {
        open_and_close(stage, ++last);
    }
    if (number == 0) {
        atomic_store_explicit(&stage->round, NO_MORE, memory_order_release);
    }
    while (last != NO_MORE) {
        const uint64_t round = atomic_load_explicit(&stage->round, memory_order_acquire);

        if (number != 0 && round != last && round != NO_MORE) {
            give_back(stage, number, chance);
        } else {
            sched_yield();
        }
        last = number == 0 ? NO_MORE : round;
    }
}

/* --- the run --- */

static void body(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct chance chance = chance_of(&stage->run, number);

    if (run_is(&stage->run, "held")) {
        play_uses(stage, hold_for_a_while, &chance);
    } else if (run_is(&stage->run, "copies")) {
        play_uses(stage, copy_twice, &chance);
    } else if (run_is(&stage->run, "closing")) {
        play_closing(stage, number, &chance);
    } else {
        play_capacity(stage, &chance);
    }
}

/* Slots for the mode: of those that are freed, and held still, each thread has one at most. */
static uint64_t slots_of(const struct run *run)
{
    if (run_is(run, "held") || run_is(run, "copies")) {
        return IDS + run->threads;
    }
    if (run_is(run, "full")) {
        return run->threads - 1;
    }
    return run_is(run, "closing") ? 2 * run->threads : run->threads + PLACES;
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 20000, 4, modes);
    if (stage.run.threads < 2 || stage.run.threads > IDS) {
        fprintf(stderr, "counted: 2 to %d threads\n", IDS);
        return VERDICT_USAGE;
    }
    run_until(&stage.run, 4000);
    stage.slots = slots_of(&stage.run);
    stage.min_free = run_is(&stage.run, "queue") ? MIN_FREE : 0;
    stage.has_copies = run_is(&stage.run, "copies");
    if (run_is(&stage.run, "closing")) {
        run_threads(stage.run.threads, body, &stage);
    } else {
        open_table(&stage);
        insert_all(&stage, run_is(&stage.run, "held") || stage.has_copies ? IDS : 0);
        run_threads(stage.run.threads, body, &stage);
        close_table_of(&stage);
    }
    finish(&stage.run, peek(&stage.met), "collisions %llu, inserted %llu, refused %llu",
           (unsigned long long)peek(&stage.met), (unsigned long long)peek(&stage.inserted),
           (unsigned long long)peek(&stage.refused));
}
