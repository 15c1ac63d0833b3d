/* White-box: two threads free one id while a third looks. */
#include "concurrent/worker/budget.h"
#include "concurrent/worker/worker_list.h"
#include "stress/explorer/cases/case.h"
#include <haft/detail/table_front.h>

static haft_worker *workers[2];
static haft_id id;
static shared_u64 wins;

static void set_up(void)
{
    open_table(&(struct table_wish){.capacity = 2});
    workers[0] = open_worker();
    workers[1] = open_worker();
    id = insert_stamped(workers[0]);
    poke(&wins, 0);
}

/* Freed in place, or by a call. */
static void free_it(uint32_t thread, bool in_place)
{
    race_begin();
    const haft_status status = in_place ? haft_free_front(workers[thread], fixture.view, id)
                                        : haft_free(workers[thread], id);

    race_end();
    require(status == HAFT_OK || status == HAFT_STALE, "the loser is told that the id is stale");
    add(&wins, status == HAFT_OK);
}

static void body(uint32_t thread)
{
    if (thread == 2) {
        look_at(id);
    } else {
        free_it(thread, false);
    }
}

static void tear_down(void)
{
    const haft_table_stats stats = haft_table_stats_get(fixture.table);

    require(peek(&wins) == 1, "one of the threads that free an id succeeds");
    require(stats.live == 0 && stats.retired + stats.free == 1, "a slot is freed once");
    close_worker(workers[0]);
    close_worker(workers[1]);
    require_room_for(2);
    close_table();
}

EXPLORE(double_free, 3, set_up, body, tear_down,
        "of two threads that free one id, one succeeds, and the slot comes back once");

/* --- double_free_front: one of the two in place, as typed tables do --- */

static void set_up_front(void)
{
    set_up();
    worker_set_batch_limit(workers[0], 2); /* else each free is a call */
}

static void front_body(uint32_t thread)
{
    if (thread == 2) {
        look_at(id);
    } else {
        free_it(thread, thread == 0);
    }
}

static void tear_down_front(void)
{
    worker_set_batch_limit(workers[0], 1);
    tear_down();
}

EXPLORE(double_free_front, 3, set_up_front, front_body, tear_down_front,
        "of a thread that frees an id in place and one that does by a call, one succeeds");
