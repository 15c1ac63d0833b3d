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
 *            plain    one slot less than threads, objects that are inserted as words and end
 *                     plainly: the short ways of insert and free, against holders
 *            closing  haft_counted_close_wait() against insertions, frees and releases
 *            With an odd seed objects end plainly in copies and closing too: nothing is destroyed.
 */
#include "stress/support.h"
#include <haft/counted.h>
#include <sched.h>
#include <stdio.h>

#define IDS 16
#define PLACES 2 /* of the board, where threads exchange ids */
#define MIN_FREE 5
#define SLOTS 64 /* more than a table here has */

static const char *const modes[] = {"held",  "copies", "full",    "room",
                                    "queue", "plain",  "closing", NULL};

struct stage {
    struct run run;
    haft_counted *table;
    haft_layout layout;
    uint64_t slots; /* of the table, beside min_free */
    uint64_t min_free;
    bool has_copies;
    bool has_numbers;  /* objects are of numbers, not of their ids */
    bool ends_plainly; /* without on_destroy and wiping */
    bool exchanges;    /* objects, over the board */
    shared_u64 board[IDS];
    shared_u64 held[SLOTS];     /* holders that have not begun to let go, by index */
    shared_u64 freed_by[SLOTS]; /* the last object's generation 32 | the thread, from 1 */
    shared_u64 live;
    shared_u64 inserted, refused, freed, destroyed;
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

/* What the object was written with. */
static haft_id number_of(const struct stage *stage, const struct object *object, haft_id id)
{
    return stage->has_numbers ? (haft_id){object->id} : id;
}

static const struct object *hold(struct stage *stage, haft_id id)
{
    const struct object *object = haft_counted_acquire(stage->table, id);

    if (object != NULL) {
        add(holders(stage, id), 1);
        look(stage, object, number_of(stage, object, id), "the object held is");
    }
    return object;
}

static void let_go(struct stage *stage, haft_id id)
{
    add(holders(stage, id), UINT64_MAX);
    must(&stage->run, haft_counted_release(stage->table, id), "releasing");
}

/* Hold the object for a while; a collision: it was freed meanwhile, so this may end it. */
static bool hold_for_a_while(struct stage *stage, haft_id id, struct chance *chance)
{
    const struct object *object = hold(stage, id);

    if (object == NULL) {
        return false;
    }
    const haft_id number = {object->id};

    pause_by_chance(chance);
    if (one_in(chance, 4)) {
        if (!haft_counted_again(stage->table, id)) {
            violation(&stage->run, "a holder cannot hold once more");
        }
        add(holders(stage, id), 1);
        let_go(stage, id);
    }
    const bool is_freed = !haft_counted_is_live(stage->table, id);

    look(stage, object, number, "the object, still held, is");
    let_go(stage, id);
    return is_freed;
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

/* An object of the kind that the stage has. */
static haft_status insert_one(struct stage *stage, uint64_t number, haft_id *id)
{
    return stage->has_numbers ? insert_number(stage, number, id) : insert_stamped(stage, id);
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

/* Whether that was a collision. */
typedef bool use_of_id(struct stage *stage, haft_id id, struct chance *chance);

/* Ids are replaced beside their uses. */
static void play_uses(struct stage *stage, use_of_id *use, struct chance *chance)
{
    for (uint64_t i = 0; run_goes_on(&stage->run, i, peek(&stage->met)); i++) {
        const uint64_t place = draw_below(chance, IDS);

        if (one_in(chance, 3)) {
            replace_id(stage, place, chance);
        } else {
            add(&stage->met, use(stage, (haft_id){peek(&stage->board[place])}, chance));
        }
    }
}

/* --- copies --- */

/* Two copies of one id are of one object; a collision: the second comes too late. */
static bool copy_twice(struct stage *stage, haft_id id, struct chance *chance)
{
    struct object first;
    struct object second;

    if (!haft_counted_copy(stage->table, id, &first)) {
        return false;
    }
    look(stage, &first, (haft_id){first.id}, "the copy is torn, as if it were");
    if (one_in(chance, 8)) {
        sched_yield();
    }
    if (!haft_counted_copy(stage->table, id, &second)) {
        return true;
    }
    if (second.id != first.id || second.canary != first.canary) {
        violation(&stage->run, "id %llx: two copies differ", (unsigned long long)id.bits);
    }
    return false;
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

static void check_live(struct stage *stage, haft_id id)
{
    if (add(&stage->live, 1) >= stage->slots) {
        violation(&stage->run, "more objects than the capacity");
    }
    if (peek(holders(stage, id)) != 0) {
        violation(&stage->run, "id %llx is inserted while its slot's last object is held",
                  (unsigned long long)id.bits);
    }
}

static shared_u64 *freed_by(struct stage *stage, haft_id id)
{
    return &stage->freed_by[haft_id_index(stage->layout, id)];
}

/* The slot's last object had the generation before.  Whether another thread freed it. */
static bool comes_from_another(struct stage *stage, haft_id id, unsigned number)
{
    const uint64_t freed = peek(freed_by(stage, id));

    if (haft_id_generation(stage->layout, id) != (freed >> 32) + 1) {
        violation(&stage->run, "id %llx follows generation %llu", (unsigned long long)id.bits,
                  (unsigned long long)(freed >> 32));
    }
    return freed != 0 && (uint32_t)freed != number + 1;
}

/*
 * Insert an object; nil: the table is full.  A collision: it is full, and a thread freed meanwhile;
 * or, if threads exchange objects, the slot's last one was freed by another thread.
 */
static haft_id take_slot(struct stage *stage, unsigned number, struct chance *chance)
{
    const uint64_t freed = peek(&stage->freed);
    haft_id id;

    add(&stage->inserted, 1);
    const haft_status status = insert_one(stage, draw(chance) | 1, &id);

    if (status == HAFT_FULL && stage->slots < stage->run.threads) {
        add(&stage->inserted, UINT64_MAX);
        add(&stage->refused, 1);
        add(&stage->met, !stage->exchanges && peek(&stage->freed) != freed);
        return HAFT_NIL;
    }
    must(&stage->run, status, "inserting");
    check_rest(stage, id, peek(&stage->inserted));
    check_live(stage, id);
    add(&stage->met, comes_from_another(stage, id, number) && stage->exchanges);
    return id;
}

/* Of an object that no other thread frees. */
static void free_slot(struct stage *stage, haft_id id, unsigned number)
{
    add(&stage->live, UINT64_MAX);
    poke(freed_by(stage, id), haft_id_generation(stage->layout, id) << 32 | (number + 1));
    must(&stage->run, haft_counted_free(stage->table, id), "freeing");
    add(&stage->freed, 1);
}

/* An object for a moment; or, exchanged, until a thread comes to its place on the board. */
static void stay(struct stage *stage, unsigned number, struct chance *chance)
{
    const bool only_frees = stage->exchanges && one_in(chance, 4);
    haft_id id = only_frees ? HAFT_NIL : take_slot(stage, number, chance);

    if (one_in(chance, 16)) {
        pause_by_chance(chance);
    }
    if (stage->exchanges) {
        id.bits = swap(&stage->board[draw_below(chance, PLACES)], id.bits);
    }
    if (id.bits != 0) {
        free_slot(stage, id, number);
    }
}

static void play_capacity(struct stage *stage, unsigned number, struct chance *chance)
{
    for (uint64_t i = 0; run_goes_on(&stage->run, i, peek(&stage->met)); i++) {
        if (stage->ends_plainly && one_in(chance, 2)) {
            hold_for_a_while(stage, (haft_id){peek(&stage->board[i % PLACES])}, chance);
        } else {
            stay(stage, number, chance);
        }
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
        .wipe = stage->has_copies && !stage->ends_plainly,
        .on_destroy = stage->ends_plainly ? NULL : on_destroy,
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
    if (peek(&stage->destroyed) != (stage->ends_plainly ? 0 : peek(&stage->inserted))) {
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
        haft_counted_free(stage->table, id); /* closing may have freed it */
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
        play_capacity(stage, number, &chance);
    }
}

/* Slots for the mode: of those that are freed, and held still, each thread has one at most. */
static uint64_t slots_of(const struct run *run)
{
    if (run_is(run, "held") || run_is(run, "copies")) {
        return IDS + run->threads;
    }
    if (run_is(run, "full") || run_is(run, "plain")) {
        return run->threads - 1;
    }
    return run_is(run, "closing") ? 2 * run->threads : run->threads + PLACES;
}

static void set_up(struct stage *stage)
{
    const struct run *run = &stage->run;
    const bool may_end_plainly = run_is(run, "copies") || run_is(run, "closing");

    stage->slots = slots_of(run);
    stage->min_free = run_is(run, "queue") ? MIN_FREE : 0;
    stage->has_copies = run_is(run, "copies");
    stage->has_numbers = stage->has_copies || run_is(run, "plain");
    stage->ends_plainly = run_is(run, "plain") || (may_end_plainly && run->seed % 2 != 0);
    stage->exchanges = !run_is(run, "full");
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 20000, 4, modes);
    if (stage.run.threads < 2 || stage.run.threads > IDS) {
        fprintf(stderr, "counted: 2 to %d threads\n", IDS);
        return VERDICT_USAGE;
    }
    run_until(&stage.run, run_is(&stage.run, "full") ? 100 : 4000);
    set_up(&stage);
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
