/* A minimum reuse distance: slots past their grace period that wait for creations. */
#include "stress/explorer/cases/case.h"
#include <sched.h>

#define FIRST 4 /* index */
#define SLOTS 4 /* of an index of 3 bits */
#define NOBODY UINT32_MAX

static haft_worker *workers[2];
static uint64_t capacity;
static uint64_t distance;
static bool is_by_number; /* how far apart two lives of a slot are: see below */

/*
 * How many have been created, from outside.  An insertion is counted in `begun` while it may be
 * counted as created, refused ones not; and in `returned` when it is for certain.
 */
static shared_u64 begun;
static shared_u64 returned;

/*
 * A slot's last life; plain: of the one that has the slot.  By number, what had returned before it
 * was inserted is compared: a promise that needs no order between threads.  Else what had returned
 * before it was freed, and the freer sees it as done: so many others come before the reuse.
 */
struct life {
    uint64_t returned;
    uint32_t owner;
};

static struct life lives[SLOTS];

static void open_cooling(uint64_t objects, uint64_t wait, bool by_number)
{
    const struct table_wish wish = {.capacity = objects, .reuse_distance = wait};

    capacity = objects;
    distance = wait;
    is_by_number = by_number;
    poke(&begun, 0);
    poke(&returned, 0);
    for (int i = 0; i < SLOTS; i++) {
        lives[i] = (struct life){0, NOBODY};
    }
    open_table(&wish);
    for (int i = 0; i < 2; i++) {
        workers[i] = open_worker();
    }
}

static struct life *life_of(haft_id id)
{
    return &lives[haft_id_index(fixture.layout, id) - FIRST];
}

/* The new object's number is at most `most`.  True if its slot could not have come earlier. */
static bool check_distance(const struct life *last, uint32_t thread, uint64_t most)
{
    if (last->owner == NOBODY) {
        return false;
    }
    const uint64_t others = most - 1 - last->returned - (is_by_number ? 1 : 0);

    require(others >= distance, "a slot is reused before its distance is over");
    return others == distance && last->owner != thread;
}

/* One object more, if there is room and a slot.  Met: another thread's slot, as soon as is due. */
static haft_status create(uint32_t thread, haft_id *id)
{
    const uint64_t before = peek(&returned);
    void *object;

    add(&begun, 1);
    const haft_status status = haft_reserve(workers[thread], id, &object);

    if (status != HAFT_OK) {
        add(&begun, UINT64_MAX);
        return status;
    }
    if (check_distance(life_of(*id), thread, peek(&begun))) {
        met();
    }
    *life_of(*id) = (struct life){before, thread};
    stamp(object, *id);
    haft_publish(workers[thread], *id);
    if (!is_by_number) {
        stamp_time();
    }
    add(&returned, 1);
    return HAFT_OK;
}

static void end(uint32_t thread, haft_id id)
{
    if (!is_by_number) {
        life_of(id)->returned = peek(&returned);
        stamp_time();
    }
    require_status(haft_free(workers[thread], id), HAFT_OK, "freeing");
}

/* Nothing is on its way: after a grace period all the capacity is there, and no more. */
static void tear_down(void)
{
    haft_id ids[SLOTS];

    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    for (uint64_t i = 0; i < capacity; i++) {
        require_status(create(0, &ids[i]), HAFT_OK, "inserting what has room");
    }
    for (uint64_t i = 0; i < capacity; i++) {
        require(look_at(ids[i]), "an object is lost");
    }
    require_status(haft_insert(workers[1], NULL, &ids[capacity]), HAFT_FULL, "one too many");
    close_worker(workers[0]);
    close_worker(workers[1]);
    close_table();
}

/* --- cool: each thread has one object at a time, and there is room for both --- */

static void set_up(void)
{
    open_cooling(2, 2, true);
}

static void body(uint32_t thread)
{
    for (int i = 0; i < 3; i++) {
        haft_status status;
        haft_id id;

        while ((status = create(thread, &id)) == HAFT_BUSY) {
            require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
            sched_yield(); /* its slot may be on its way through the other's hands */
        }
        require_status(status, HAFT_OK, "inserting what has room");
        end(thread, id);
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    }
}

const struct explored_case cool_case = {
    .name = "cool",
    .invariant = "a freed slot comes back when its distance is over, and not before",
    .threads = 2,
    .set_up = set_up,
    .body = body,
    .tear_down = tear_down,
};

/* --- cool_full: room for one of two, who are refused when they have found a slot --- */

static shared_u64 turns[2]; /* odd: that thread may have an object */

static void set_up_full(void)
{
    open_cooling(1, 1, false);
    poke(&turns[0], 0);
    poke(&turns[1], 0);
}

static void try_once(uint32_t thread)
{
    shared_u64 *other = &turns[1 - thread];
    haft_id id;

    add(&turns[thread], 1);
    const uint64_t before = peek(other);

    stamp_time(); /* what has ended by then is known to have ended */
    const haft_status status = create(thread, &id);

    if (status == HAFT_OK) {
        end(thread, id);
        stamp_time();
    } else if (status == HAFT_FULL) {
        require(before % 2 == 1 || peek(other) != before, "HAFT_FULL for a table that is not");
    } else {
        require_status(status, HAFT_BUSY, "inserting");
    }
    add(&turns[thread], 1);
}

static void full_body(uint32_t thread)
{
    for (int i = 0; i < 3; i++) {
        try_once(thread);
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    }
}

const struct explored_case cool_full_case = {
    .name = "cool_full",
    .invariant = "who is refused leaves the slot to others, and the distance as it was",
    .threads = 2,
    .set_up = set_up_full,
    .body = full_body,
    .tear_down = tear_down,
};
