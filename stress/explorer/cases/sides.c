/* Values beside objects: set by several threads, read while their slots are used again. */
#include "stress/explorer/cases/case.h"
#include "stress/explorer/scheduler.h"
#include <haft/kit/side.h>
#include <haft/memory.h>
#include <stddef.h>

static haft_side *side;
static haft_worker *workers[2];
static haft_id id;
static shared_u64 seen; /* values found */
static shared_u64 sets; /* for the first object */

/* The clock is the threads' own, so that nothing but the side orders them; one object, live. */
static void open_with(struct table_wish wish)
{
    open_table(&wish);
    require_status(haft_side_open(fixture.table,
                                  &(haft_side_options){.value_size = sizeof(struct object)}, &side),
                   HAFT_OK, "opening a side");
    workers[0] = open_worker();
    workers[1] = open_worker();
    id = insert_stamped(workers[0]);
    poke(&seen, 0);
    poke(&sets, 0);
}

static void set_up(void)
{
    open_with((struct table_wish){.capacity = 1});
}

static void tear_down(void)
{
    haft_side_close(side);
    close_worker(workers[0]);
    close_worker(workers[1]);
    close_table();
}

/* A value that shows whose it is. */
static haft_status set_stamped(haft_id whose)
{
    struct object value;
    void *place = NULL;

    stamp(&value, whose);
    const haft_status status = haft_side_set(side, whose, &value, &place);

    if (status == HAFT_OK || status == HAFT_OCCUPIED) {
        require(is_stamped(place, whose), "the place of a value is another id's");
    }
    return status;
}

/* In a section: the value that is found stays the id's own. */
static bool find(haft_id whose)
{
    haft_section_begin(fixture.domain);
    const struct object *value = haft_side_find(haft_side_entries(side), fixture.view, whose, NULL);

    if (value != NULL) {
        require(is_stamped(value, whose), "a value is found that is another id's");
        schedule_point();
        require(is_stamped(value, whose), "a value is written again while its id is held");
    }
    haft_section_end(fixture.domain);
    return value != NULL;
}

/* --- side: two set, one reads --- */

static void set_in_section(void)
{
    haft_section_begin(fixture.domain);
    require(haft_resolve(fixture.view, id) != NULL, "a live object is not found");
    const haft_status status = set_stamped(id);

    if (status == HAFT_OK) {
        require(add(&sets, 1) == 0, "two threads set a value for one id");
    } else {
        require(status == HAFT_BUSY || status == HAFT_OCCUPIED, "setting is refused");
        met();
    }
    haft_section_end(fixture.domain);
}

static void side_body(uint32_t thread)
{
    if (thread < 2) {
        set_in_section();
    } else if (find(id)) {
        met();
    }
}

static void tear_down_side(void)
{
    require(peek(&sets) == 1, "no thread has set the value");
    require(find(id), "a value that was set is not found");
    tear_down();
}

EXPLORE(side, 3, set_up, side_body, tear_down_side,
        "one of two threads sets a value, and a thread that finds it sees all of it");

/* --- side_find: an object is freed, and the next one of its slot gets a value --- */

static void set_up_find(void)
{
    set_up();
    require_status(set_stamped(id), HAFT_OK, "setting");
}

/* There are two slots: the second object is in the first again, after a grace period. */
static haft_id free_and_set(haft_id next)
{
    for (int i = 0; i < 2; i++) {
        require_status(haft_free(workers[0], next), HAFT_OK, "freeing");
        next = insert_stamped(workers[0]);
        haft_section_begin(fixture.domain);
        require(haft_side_get(haft_side_entries(side), next) == NULL, "a value is inherited");
        require_status(set_stamped(next), HAFT_OK, "setting");
        haft_section_end(fixture.domain);
    }
    return next;
}

static void find_body(uint32_t thread)
{
    if (thread == 0) {
        const haft_id next = free_and_set(id);

        require(find(next), "a value that was set is not found");
        if (peek(&seen) != 0) {
            met();
        }
    } else {
        add(&seen, find(id));
        add(&seen, find(id));
    }
}

EXPLORE(side_find, 2, set_up_find, find_body, tear_down,
        "a value that was found stays the id's own until the section ends");

/* --- side_set: a value is set while its object is freed --- */

static void set_body(uint32_t thread)
{
    if (thread == 0) {
        race_begin();
        const haft_id next = free_and_set(id);

        race_end();
        require(find(next), "a value is lost to one of a former life");
    } else {
        haft_section_begin(fixture.domain);
        if (haft_resolve(fixture.view, id) != NULL) {
            race_begin();
            require_status(set_stamped(id), HAFT_OK, "setting beside a free");
            schedule_point();
            const struct object *value = haft_side_get(haft_side_entries(side), id);

            require(value != NULL && is_stamped(value, id), "a value is gone while its id is held");
            race_end();
        }
        haft_section_end(fixture.domain);
    }
}

EXPLORE(side_set, 2, set_up, set_body, tear_down,
        "a value that is set for a freed object is in the way of no later one");

/* --- side_walk: values are visited meanwhile --- */

static bool check_value(haft_id whose, void *object, void *value, void *arg)
{
    uint64_t *visited = arg;

    require(is_stamped(object, whose) && is_stamped(value, whose),
            "a visited value is another id's");
    schedule_point();
    require(is_stamped(value, whose), "a value is written again while it is visited");
    *visited += 1;
    return true;
}

static void set_up_walk(void)
{
    open_with((struct table_wish){.capacity = 2});
    require_status(set_stamped(insert_stamped(workers[0])), HAFT_OK, "setting");
}

static void walk_body(uint32_t thread)
{
    uint64_t visited = 0;

    if (thread == 0) {
        set_in_section();
        free_and_set(id);
    } else {
        haft_section_begin(fixture.domain);
        haft_side_for_each(side, check_value, &visited);
        haft_section_end(fixture.domain);
        require(visited >= 1, "a value that stays is not visited");
        if (visited > 1) {
            met();
        }
    }
}

EXPLORE(side_walk, 2, set_up_walk, walk_body, tear_down,
        "each value that is visited is its id's, and one that stays is visited");

/* --- side_opened: sides come and go --- */

static void set_up_opened(void)
{
    open_with((struct table_wish){.capacity = 1});
}

static void opened_body(uint32_t thread)
{
    haft_side *own;

    (void)thread;
    race_begin();
    require_status(haft_side_open(fixture.table, NULL, &own), HAFT_OK, "opening a side");
    haft_side_close(own);
    race_end();
}

EXPLORE(side_opened, 3, set_up_opened, opened_body, tear_down,
        "sides come and go alongside each other");

/* --- fork_side: a fork while a value is set --- */

#define FORKER 2

static void set_up_fork(void)
{
    open_with((struct table_wish){.capacity = 1, .is_workers = true});
}

static void fork_side_body(uint32_t thread)
{
    struct object *value;
    void *place;

    if (thread == FORKER) {
        haft_worker *own = open_worker();

        race_begin();
        fork_here();
        race_end();
        const haft_status status = haft_side_set(side, id, NULL, &place);

        require(status == HAFT_OK || status == HAFT_OCCUPIED || status == HAFT_BUSY,
                "the child is told something odd");
        value = place;
        require(status == HAFT_BUSY || (status == HAFT_OK ? value->id == 0 : is_stamped(value, id)),
                "the child finds a part of a value");
        haft_side_close(side);
        close_worker(own);
        close_table_in_child();
        return;
    }
    race_begin();
    set_stamped(id);
    race_end();
    end_before_fork();
}

/* The child has closed all. */
static void tear_down_fork(void)
{
}

EXPLORE(fork_side, 3, set_up_fork, fork_side_body, tear_down_fork,
        "in a child a value is there as a whole, is unfinished, or can be set");
