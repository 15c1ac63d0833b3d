/* Frees without a worker, whose slots go into a list. */
#include "stress/explorer/cases/case.h"
#include <stddef.h>

/*
 * --- listed: two free without a worker, and one searches; it passes no duty point, so the search
 * must collect from the list ---
 */

static haft_worker *worker;
static haft_id ids[2];

static void set_up_listed(void)
{
    open_table(&(struct table_wish){.capacity = 1, .generation_bits = 4});
    worker = open_worker();
    for (int i = 0; i < 2; i++) {
        require_status(haft_insert(worker, NULL, &ids[i]), HAFT_OK, "inserting");
    }
}

static void listed_body(uint32_t thread)
{
    haft_id own;

    race_begin();
    if (thread < 2) {
        require_status(haft_table_free(fixture.table, ids[thread]), HAFT_OK, "freeing");
    } else if (haft_insert(worker, NULL, &own) == HAFT_OK) {
        require_status(haft_table_free(fixture.table, own), HAFT_OK, "freeing");
    }
    race_end();
}

static void tear_down_listed(void)
{
    haft_status status = HAFT_BUSY;
    uint32_t found = 0;

    require_census(fixture.table);
    for (int i = 0; i < 6 && found != 2; i++) {
        status = haft_insert(worker, NULL, &ids[found]);
        found += status == HAFT_OK;
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    }
    require(found == 2, "a slot in a list is not found by a search");
    close_worker(worker);
    close_table();
}

EXPLORE(listed, 3, set_up_listed, listed_body, tear_down_listed,
        "slots that were freed without a worker are found by a search");
