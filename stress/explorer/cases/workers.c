/* Workers that close and open while others take what they leave. */
#include "stress/explorer/cases/case.h"

static haft_worker *leaving;
static haft_worker *staying;
static haft_id id;

static void set_up(void)
{
    const struct table_wish wish = {.capacity = 2};

    open_table(&wish);
    leaving = open_worker();
    staying = open_worker();
    id = insert_stamped(leaving);
}

/* Close with slots on their way. */
static void leave(void)
{
    require_status(haft_free(leaving, id), HAFT_OK, "freeing");
    close_worker(leaving);
}

/* Open, by taking a closed part over or as a new one, and use it. */
static void come(void)
{
    haft_worker *worker = open_worker();
    const haft_id own = insert_stamped(worker);

    require(haft_is_live(fixture.view, own), "an object is lost");
    require_status(haft_free(worker, own), HAFT_OK, "freeing");
    close_worker(worker);
}

/* Insert twice: one of the slots comes from another worker. */
static void stay(void)
{
    const haft_id first = insert_stamped(staying);

    look_at(first);
    require_status(haft_free(staying, first), HAFT_OK, "freeing");
    require(!look_at(first), "a freed id resolves for its freer");
}

static void body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        leave();
    } else if (thread == 1) {
        come();
    } else {
        stay();
    }
    race_end();
}

static void tear_down(void)
{
    close_worker(staying);
    require(haft_table_stats_get(fixture.table).live == 0, "an object is left");
    require_room_for(2);
    close_table();
}

const struct explored_case workers_case = {
    .name = "workers",
    .invariant = "what a worker held is found by those who come, once, in its last state",
    .threads = 3,
    .set_up = set_up,
    .body = body,
    .tear_down = tear_down,
};
