/* A reader that guesses an id before it is published: nothing else orders it after the writes. */
#include "stress/explorer/cases/case.h"

static haft_worker *worker;
static haft_id id; /* of the next life of a slot that has lived once */

static void set_up(void)
{
    const struct table_wish wish = {.capacity = 1};

    open_table(&wish);
    worker = open_worker();
    const haft_id before = insert_stamped(worker);

    require_status(haft_free(worker, before), HAFT_OK, "freeing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    id = haft_id_pack(fixture.layout, haft_id_index(fixture.layout, before),
                      haft_id_generation(fixture.layout, before) + 1, 0);
}

static void body(uint32_t thread)
{
    if (thread == 0) {
        require(haft_id_equal(insert_stamped(worker), id), "the slot's next life");
    } else if (look_at(id)) {
        met();
    }
}

static void tear_down(void)
{
    close_worker(worker);
    close_table();
}

const struct explored_case publish_case = {
    .name = "publish",
    .invariant = "whoever resolves an id sees what was written before it was published",
    .threads = 3,
    .set_up = set_up,
    .body = body,
    .tear_down = tear_down,
};
