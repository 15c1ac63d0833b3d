/* Two drivers of one clock: the one that began earlier ends later. */
#include "stress/explorer/cases/case.h"
#include <stddef.h>

static haft_id ids[4]; /* in all slots there are */

/* The first is freed, and no thread has waited for it. */
static void set_up(void)
{
    open_table(&(struct table_wish){.capacity = 2, .is_workers = true});
    haft_worker *worker = open_worker();

    for (int i = 0; i < 4; i++) {
        ids[i] = insert_stamped(worker);
    }
    require_status(haft_free(worker, ids[0]), HAFT_OK, "freeing");
    close_worker(worker);
}

/* The other driver has no worker, which would reclaim slots at its closing. */
static void wait_alone(void)
{
    race_begin();
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    race_end();
}

static void free_and_insert(void)
{
    haft_worker *worker = open_worker();
    haft_id id;

    race_begin();
    require_status(haft_free(worker, ids[1]), HAFT_OK, "freeing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    for (int i = 0; i < 2; i++) {
        require_status(haft_insert(worker, NULL, &id), HAFT_OK,
                       "a slot whose grace period was waited for");
    }
    race_end();
    close_worker(worker);
}

static void body(uint32_t thread)
{
    if (thread == 0) {
        free_and_insert();
    } else {
        wait_alone();
    }
}

EXPLORE(done_rises, 2, set_up, body, close_table,
        "slots that have been waited for can be used, whichever other thread drives the clock");
