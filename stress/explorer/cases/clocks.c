/* The domain's clock: what a grace period covers, with two that drive, and with its own thread. */
#include "stress/explorer/cases/case.h"

static haft_worker *workers[2];
static haft_id ids[2];
static uint64_t note; /* plain: only the ticket orders it */

static void open_with(const struct table_wish *wish)
{
    open_table(wish);
    for (int i = 0; i < 2; i++) {
        workers[i] = open_worker();
        ids[i] = insert_stamped(workers[i]);
    }
    note = 0;
}

static void close_all(void)
{
    close_worker(workers[0]);
    close_worker(workers[1]);
    close_table();
}

/* --- ticket: one thread frees, two wait for the freed slots --- */

static void set_up_ticket(void)
{
    open_with(&(struct table_wish){.capacity = 2});
}

static void ticket_body(uint32_t thread)
{
    if (thread == 0) {
        note = 1;
        require_status(haft_free(workers[0], ids[0]), HAFT_OK, "freeing");
        haft_worker_flush(workers[0]);
        return;
    }
    if (haft_domain_stats_get(fixture.domain).backlog != 0) {
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
        require(note == 1, "a wait has ended, and what came before the free is not visible");
        met();
    }
}

EXPLORE(ticket, 3, set_up_ticket, ticket_body, close_all,
        "a thread that has waited for freed slots sees all that preceded their frees");

/* --- drivers: two threads free and wait at once, a third reads --- */

static void drivers_body(uint32_t thread)
{
    if (thread == 2) {
        look_at(ids[0]);
        look_at(ids[1]);
        return;
    }
    race_begin();
    require_status(haft_free(workers[thread], ids[thread]), HAFT_OK, "freeing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    insert_stamped(workers[thread]);
    race_end();
}

EXPLORE(drivers, 3, set_up_ticket, drivers_body, close_all,
        "two that drive the clock at once leave a reader what it has");

static void set_up_drivers_late(void)
{
    open_with(&(struct table_wish){.capacity = 2, .is_late = true});
}

EXPLORE(drivers_late, 3, set_up_drivers_late, drivers_body, close_all,
        "the same with grace periods as late as a foreign clock may have them");

/* --- late: an object is found, and freed, while a grace period is waited for --- */

static void set_up_late(void)
{
    open_with(&(struct table_wish){.capacity = 2});
    insert_stamped(workers[0]); /* and now all slots are taken */
    insert_stamped(workers[0]);
    require_status(haft_free(workers[1], ids[1]), HAFT_OK, "freeing"); /* to wait for */
}

/* Holds the grace period up while it frees; then takes all slots that it can have. */
static void free_late(void)
{
    const struct object other = {0, 0};
    haft_id id;

    haft_section_begin(fixture.domain);
    require_status(haft_free(workers[0], ids[0]), HAFT_OK, "freeing");
    haft_section_end(fixture.domain);
    for (int i = 0; i < 2; i++) {
        if (haft_insert(workers[0], &other, &id) == HAFT_OK) {
            met();
        }
    }
}

/* Look at one object for a long time. */
static void hold(haft_id id)
{
    static shared_u64 nothing;

    haft_section_begin(fixture.domain);
    const struct object *object = haft_resolve(fixture.view, id);

    for (int i = 0; object != NULL && i < 8; i++) {
        peek(&nothing);
        require(is_stamped(object, id), "an object is written again in a section that holds it");
    }
    haft_section_end(fixture.domain);
}

static void late_body(uint32_t thread)
{
    if (thread == 0) {
        free_late();
    } else if (thread == 1) {
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    } else {
        hold(ids[0]);
    }
}

EXPLORE(late, 3, set_up_late, late_body, close_all,
        "a grace period that began before an object was freed says nothing of its readers");

/* --- wake: the clock's thread is asked for, and goes to sleep --- */

static void set_up_wake(void)
{
    open_with(&(struct table_wish){.capacity = 2, .has_thread = true});
}

static void wake_body(uint32_t thread)
{
    race_begin();
    require_status(haft_free(workers[thread], ids[thread]), HAFT_OK, "freeing");
    haft_worker_flush(workers[thread]);
    race_end();
}

static void tear_down_wake(void)
{
    settle();
    require(haft_domain_stats_get(fixture.domain).backlog == 0,
            "the clock sleeps, and a ticket that was hurried waits");
    close_all();
}

EXPLORE(wake, 2, set_up_wake, wake_body, tear_down_wake,
        "the clock's thread does not go to sleep on a ticket that it was woken for");
