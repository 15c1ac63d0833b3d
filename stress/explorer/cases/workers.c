/* Workers that close and open while others take what they leave. */
#include "concurrent/worker/worker_list.h"
#include "stress/explorer/cases/case.h"
#include <haft/memory.h>
#include <stddef.h>

static haft_worker *leaving;
static haft_worker *staying;
static haft_id id;

static void open_two(void)
{
    open_table(&(struct table_wish){.capacity = 2});
    leaving = open_worker();
    staying = open_worker();
}

/* --- workers: one closes, one opens, one stays --- */

static void set_up(void)
{
    open_two();
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

EXPLORE(workers, 3, set_up, body, tear_down,
        "the slots that a worker held are found once by those that come, in its last state");

/* --- adopt: two come, and one part was left --- */

static haft_worker *come_to[2];

static void set_up_adopt(void)
{
    open_two();
    close_worker(leaving);
}

static void adopt_body(uint32_t thread)
{
    race_begin();
    come_to[thread] = open_worker();
    insert_stamped(come_to[thread]);
    race_end();
}

static void tear_down_adopt(void)
{
    require(come_to[0] != come_to[1], "two threads have one worker");
    close_worker(come_to[0]);
    close_worker(come_to[1]);
    close_worker(staying);
    close_table();
}

EXPLORE(adopt, 2, set_up_adopt, adopt_body, tear_down_adopt,
        "a closed worker's part is taken over by one");

/* --- worker_list: all slots are taken; the search for one looks at a worker that has just come ---
 * */

static haft_id held[4];

static void set_up_worker_list(void)
{
    open_two();
    for (int i = 0; i < 4; i++) {
        held[i] = insert_stamped(leaving);
    }
}

static void worker_list_body(uint32_t thread)
{
    haft_id own;

    race_begin();
    if (thread == 0) {
        haft_worker *worker = open_worker();

        require_status(haft_free(worker, held[0]), HAFT_OK, "freeing");
        haft_domain_wait(fixture.domain);
        close_worker(worker);
    } else if (haft_insert(staying, NULL, &own) == HAFT_OK) {
        require(haft_is_live(fixture.view, own), "an object is lost");
    }
    race_end();
}

static void tear_down_worker_list(void)
{
    for (int i = 1; i < 4; i++) {
        require(haft_is_live(fixture.view, held[i]), "an object is overwritten");
    }
    close_worker(leaving);
    close_worker(staying);
    close_table();
}

EXPLORE(worker_list, 2, set_up_worker_list, worker_list_body, tear_down_worker_list,
        "a worker is set up before others look for slots in it");

/* --- returned: a borrowed worker is returned, and a thread takes its part over --- */

static void returned_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        require_status(haft_trim(fixture.table, NULL), HAFT_OK, "trimming");
    } else {
        come();
    }
    race_end();
}

static void set_up_returned(void)
{
    open_table(&(struct table_wish){.capacity = 2});
}

EXPLORE(returned, 2, set_up_returned, returned_body, close_table,
        "what a borrowed worker held is found by the thread that takes its part over");

/* --- closing: the last worker closes, and another thread closes the table --- */

static bool is_closed;

/* Closing borrows the worker that was added last: so that is another one. */
static void set_up_closing(void)
{
    set_up_returned();
    leaving = open_worker();
    close_worker(open_worker());
    is_closed = false;
}

static void closing_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        close_worker(leaving);
        race_end();
        return;
    }
    const haft_status status = haft_table_close(fixture.table);

    race_end();
    require(status == HAFT_OK || status == HAFT_IN_USE, "an odd answer");
    is_closed = status == HAFT_OK;
}

static void tear_down_closing(void)
{
    if (!is_closed) {
        require_status(haft_table_close(fixture.table), HAFT_OK, "closing the table");
    }
    require_status(haft_domain_close(fixture.domain), HAFT_OK, "closing the domain");
}

EXPLORE(closing, 2, set_up_closing, closing_body, tear_down_closing,
        "a table closes after the last use of its workers");

/* --- closing_ended: the same where no worker is opened again --- */

static void set_up_closing_ended(void)
{
    set_up_closing();
    require_status(haft_table_clear(fixture.table), HAFT_IN_USE, "clearing beside a worker");
}

EXPLORE(closing_ended, 2, set_up_closing_ended, closing_body, tear_down_closing,
        "a table closes after the last use of workers that closed after an attempt to clear it");

/* --- ended: white-box; what clearing and closing begin with --- */

/* Of a closed one, too, from which AddressSanitizer keeps programs. */
static __attribute__((no_sanitize_address)) bool is_to_draw(const haft_worker *worker)
{
    return worker->is_to_draw;
}

static void ended_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        close_worker(leaving);
    } else if (worker_list_end(fixture.table)) {
        require(!is_to_draw(leaving), "a worker is not in its last state");
    }
    race_end();
}

EXPLORE(ended, 2, set_up_closing, ended_body, tear_down_closing,
        "a thread that has ended all workers finds each in its last state");
