/* White-box: a stall is reported of the grace period that was measured, and of no other. */
#include "concurrent/clock/stall.h"
#include "concurrent/clock/domain.h"
#include "concurrent/clock/grace_periods.h"
#include "stress/explorer/cases/case.h"

#define TICKETS 3

static shared_u64 asked_at[TICKETS + 2]; /* when each ticket was about to be taken, ns */
static uint64_t reports[2];              /* of each thread: how many */
static uint64_t since[2];                /* ... and when the last reported stall began, ns */
static _Thread_local uint32_t self;

static void note(const haft_stall *stall, void *arg)
{
    (void)arg;
    reports[self]++;
    since[self] = os_now_ns() - stall->waited_ns;
}

static void set_up(void)
{
    open_table(&(struct table_wish){.capacity = 4, .is_workers = true, .on_stall = note});
    for (uint32_t i = 0; i < 2; i++) {
        reports[i] = 0;
    }
    for (uint32_t i = 0; i < TICKETS + 2; i++) {
        poke(&asked_at[i], 0);
    }
}

/* If the ticket behind `done` is reported, its wait is no longer than the ticket is old. */
static void look(void)
{
    const uint64_t done = domain_done(fixture.domain);
    const uint64_t before = reports[self];

    domain_hurry(fixture.domain);
    domain_notice_stall(fixture.domain);
    if (reports[self] != before && domain_done(fixture.domain) == done) {
        met();
        require(since[self] >= peek(&asked_at[done + 1]),
                "a stall is reported of a time when the grace period had not begun");
    }
}

static void take_ticket(haft_worker *own, haft_id id, uint64_t ticket)
{
    poke(&asked_at[ticket], os_now_ns());
    require_status(haft_free(own, id), HAFT_OK, "freeing");
    require_status(haft_worker_flush(own), HAFT_OK, "flushing");
}

static void body(uint32_t thread)
{
    haft_worker *own = open_worker();
    haft_id ids[TICKETS];

    self = thread;
    for (uint64_t i = 0; thread == 0 && i < TICKETS; i++) {
        ids[i] = insert_stamped(own);
    }
    for (uint64_t i = 0; i < TICKETS; i++) {
        if (thread == 0) {
            take_ticket(own, ids[i], i + 1);
        }
        require_status(haft_worker_quiescent(own), HAFT_OK, "a quiescent point");
        look();
    }
    close_worker(own);
}

EXPLORE(stall, 2, set_up, body, close_table,
        "a stall is reported for no longer than its grace period was waited for");
