/* Two threads free one id while a third looks. */
#include "stress/explorer/cases/case.h"

static haft_worker *workers[2];
static haft_id id;
static shared_u64 wins;

static void set_up(void)
{
    const struct table_wish wish = {.capacity = 2};

    open_table(&wish);
    workers[0] = open_worker();
    workers[1] = open_worker();
    id = insert_stamped(workers[0]);
    poke(&wins, 0);
}

static void body(uint32_t thread)
{
    if (thread == 2) {
        look_at(id);
        return;
    }
    race_begin();
    const haft_status status = haft_free(workers[thread], id);

    race_end();
    require(status == HAFT_OK || status == HAFT_STALE, "the loser is told that the id is stale");
    add(&wins, status == HAFT_OK);
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

const struct explored_case double_free_case = {
    .name = "double_free",
    .invariant = "of two threads that free one id, one succeeds, and the slot comes back once",
    .threads = 3,
    .set_up = set_up,
    .body = body,
    .tear_down = tear_down,
};
