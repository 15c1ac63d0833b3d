/* White-box: HAFT_FULL, by counts of slots that other threads change meanwhile. */
#include "stress/explorer/cases/case.h"
#include <haft/pin.h>
#include <haft/table.h>
#include <stddef.h>

static haft_worker *workers[3];
static haft_id ids[4];
static haft_id pinned;

static void close_all(void)
{
    for (int i = 0; i < 3; i++) {
        close_worker(workers[i]);
    }
    close_table();
}

/* --- four slots of one life: three objects, and one that is freed and pinned --- */

static void set_up_last_lives(void)
{
    open_table(&(struct table_wish){.capacity = 4, .has_pins = true, .generation_bits = 1});
    for (int i = 0; i < 3; i++) {
        workers[i] = open_worker();
    }
    for (int i = 1; i < 3; i++) {
        ids[i] = insert_stamped(workers[i]);
    }
    pinned = insert_stamped(workers[0]);
    haft_section_begin(fixture.domain);
    require(haft_pin(fixture.table, pinned) != NULL, "pinning");
    haft_section_end(fixture.domain);
    require_status(haft_free(workers[0], pinned), HAFT_OK, "freeing");
}

/* The pinned slot will come back. */
static void ask(void)
{
    haft_id id;

    race_begin();
    const haft_status status = haft_insert(workers[2], NULL, &id);

    race_end();
    require(status != HAFT_FULL, "a table is said to be full while a slot waits for a pin");
    if (status == HAFT_BUSY) {
        met();
    }
}

static void tear_down_last_lives(void)
{
    require_status(haft_unpin(fixture.table, pinned), HAFT_OK, "unpinning");
    close_all();
}

/* full_exhausted: one of the objects is freed, and its slot reclaimed */

static void set_up_full_exhausted(void)
{
    set_up_last_lives();
    ids[0] = insert_stamped(workers[0]);
}

static void full_exhausted_body(uint32_t thread)
{
    haft_id id;

    if (thread == 0) {
        require_status(haft_free(workers[0], ids[0]), HAFT_OK, "freeing");
    } else if (thread == 1) {
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
        haft_insert(workers[1], NULL, &id);
    } else {
        ask();
    }
}

EXPLORE(full_exhausted, 3, set_up_full_exhausted, full_exhausted_body, tear_down_last_lives,
        "a slot that is exhausted does not count as live too");

/* full_given_up: the third slot is reserved, and given up */

static void set_up_full_given_up(void)
{
    set_up_last_lives();
    require_status(haft_reserve(workers[0], &ids[0], NULL), HAFT_OK, "reserving");
}

static void full_given_up_body(uint32_t thread)
{
    if (thread == 0) {
        haft_abort(workers[0], ids[0]);
    } else {
        ask();
    }
}

EXPLORE(full_given_up, 2, set_up_full_given_up, full_given_up_body, tear_down_last_lives,
        "a slot that is exhausted does not count as reserved too");
