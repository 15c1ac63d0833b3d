/* White-box: HAFT_FULL and on_fill, by counts of slots that other threads change meanwhile. */
#include "stress/explorer/cases/case.h"
#include <haft/pin.h>
#include <haft/table.h>
#include <haft/threads.h>
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
    const struct table_wish wish = {.capacity = 4, .has_pins = true, .generation_bits = 1};

    open_table(&wish);
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

/* full_exhausted: one of the objects is freed, and its slot taken back */

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

const struct explored_case full_exhausted_case = {
    .name = "full_exhausted",
    .invariant = "a slot that is exhausted does not count as live too",
    .threads = 3,
    .set_up = set_up_full_exhausted,
    .body = full_exhausted_body,
    .tear_down = tear_down_last_lives,
};

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

const struct explored_case full_given_up_case = {
    .name = "full_given_up",
    .invariant = "a slot that is exhausted does not count as reserved too",
    .threads = 2,
    .set_up = set_up_full_given_up,
    .body = full_given_up_body,
    .tear_down = tear_down_last_lives,
};

/* full_unused: the same without a worker */

static void full_unused_body(uint32_t thread)
{
    if (thread == 0) {
        haft_abort_unregistered(fixture.table, ids[0]);
    } else {
        ask();
    }
}

const struct explored_case full_unused_case = {
    .name = "full_unused",
    .invariant = "a slot that is exhausted does not count as reserved too, without a worker",
    .threads = 2,
    .set_up = set_up_full_given_up,
    .body = full_unused_body,
    .tear_down = tear_down_last_lives,
};

/* --- a table beside the fixture's, with on_fill --- */

static haft_table *table;
static shared_u64 warnings;

static void warn(const haft_fill *fill, void *arg)
{
    (void)fill;
    (void)arg;
    add(&warnings, 1);
}

static void open_warning(haft_table_options options)
{
    const struct table_wish wish = {.capacity = 1};

    options.name = "warning";
    options.on_fill = warn;
    open_table(&wish);
    poke(&warnings, 0);
    require_status(haft_table_open(fixture.domain, &options, &table), HAFT_OK, "opening");
    for (int i = 0; i < 3; i++) {
        require_status(haft_worker_open(table, &workers[i]), HAFT_OK, "a worker");
    }
}

static void close_warning(void)
{
    for (int i = 0; i < 3; i++) {
        require_status(haft_worker_close(workers[i]), HAFT_OK, "closing");
    }
    require_status(haft_table_close(table), HAFT_OK, "closing the table");
    close_table();
}

/* fill_given_up: a reservation of the last life is given up, while another thread inserts */

static void set_up_fill_given_up(void)
{
    const haft_table_options exact = {
        .capacity = 3, .layout = HAFT_LAYOUT_OF(3, 1, 0), .warn_at = 3};

    open_warning(exact);
    require_status(haft_reserve(workers[0], &ids[0], NULL), HAFT_OK, "reserving");
}

static void fill_given_up_body(uint32_t thread)
{
    haft_id id;

    if (thread == 0) {
        haft_abort(workers[0], ids[0]);
    } else if (haft_insert(workers[1], NULL, &id) == HAFT_OK) {
        met();
    }
}

static void tear_down_fill_given_up(void)
{
    require(peek(&warnings) == 0, "on_fill is called for three in use where there were two");
    close_warning();
}

const struct explored_case fill_given_up_case = {
    .name = "fill_given_up",
    .invariant = "on_fill is called no earlier than when warn_at are in use",
    .threads = 2,
    .set_up = set_up_fill_given_up,
    .body = fill_given_up_body,
    .tear_down = tear_down_fill_given_up,
};

/* fill_twice: two threads insert, the first until there is a warning */

static void set_up_fill_twice(void)
{
    const haft_table_options options = {
        .capacity = 4, .layout = HAFT_LAYOUT_OF(3, 8, 0), .warn_at = 3};
    haft_id id;

    open_warning(options);
    for (int i = 0; i < 2; i++) {
        require_status(haft_insert(workers[0], NULL, &id), HAFT_OK, "inserting");
    }
}

static void fill_twice_body(uint32_t thread)
{
    haft_id id;

    if (haft_insert(workers[thread], NULL, &id) == HAFT_OK) {
        met();
    }
}

static void tear_down_fill_twice(void)
{
    require(peek(&warnings) <= 1, "on_fill is called twice, and no object was freed");
    close_warning();
}

const struct explored_case fill_twice_case = {
    .name = "fill_twice",
    .invariant = "on_fill is not called again before objects were freed",
    .threads = 2,
    .set_up = set_up_fill_twice,
    .body = fill_twice_body,
    .tear_down = tear_down_fill_twice,
};
