/*
 * White-box: no call waits by yielding alone.
 *
 * This program is linked so that os_yield() and os_sleep() come here first: what a wait is for
 * comes when it sleeps, and a wait that only yields fails after many turns.
 */
#include "concurrent/clock/domain.h"
#include "lib/base/pause.h"
#include "tests/support.h"
#include <haft/pin.h>

TestSuite(pauses, .timeout = SUITE_SECONDS);

#define MOST_YIELDS (4 * PAUSE_YIELDS)

static struct {
    int yields;
    int sleeps;
    uint64_t longest;  /* sleep, ns */
    void (*act)(void); /* at the first sleep */
} waited;

void __wrap_os_yield(void);
void __wrap_os_sleep(uint64_t ns);

void __wrap_os_yield(void)
{
    if (++waited.yields > MOST_YIELDS) {
        cr_fatal("it yields, and never sleeps");
    }
}

void __wrap_os_sleep(uint64_t ns)
{
    void (*const act)(void) = waited.act;

    waited.sleeps++;
    waited.longest = ns > waited.longest ? ns : waited.longest;
    waited.act = NULL;
    if (act != NULL) {
        act();
    }
}

Test(pauses, are_yields_and_then_sleeps_of_at_most_a_ms)
{
    for (uint64_t turn = 0; turn < 1000; turn++) {
        pause_in_turn(turn);
    }
    cr_expect(eq(int, waited.yields, PAUSE_YIELDS));
    cr_expect(eq(int, waited.sleeps, 1000 - PAUSE_YIELDS));
    cr_expect(le(u64, waited.longest, 1000000));
}

static struct shared shared;

static void unlock_measure(void)
{
    os_mutex_unlock(&shared.domain->measure.lock);
}

/* As while another thread is kept from running that holds it. */
Test(pauses, come_while_another_thread_has_the_lock_of_the_measure)
{
    const haft_table_options options = {.capacity = 1000};

    shared = open_shared(MEMB_CALLER, &options);
    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    must(os_mutex_try_lock(&shared.domain->measure.lock));
    waited.act = unlock_measure;
    expect_status(haft_domain_wait(shared.domain), HAFT_OK);
    cr_expect(eq(int, waited.sleeps, 1));
    close_shared(&shared);
}

static haft_id pinned;

static void unpin_it(void)
{
    must(haft_unpin(shared.table, pinned) == HAFT_OK);
}

/* All slots are taken, one of them by an object that was freed and stays pinned. */
static void fill_beside_pinned(void)
{
    const haft_table_options options = {
        .capacity = 124, .layout = HAFT_LAYOUT_OF(7, 32, 0), .pins = true};
    haft_status status;
    haft_id id;

    shared = open_shared(MEMB_CALLER, &options);
    pinned = insert(shared.worker);
    do {
        status = haft_insert(shared.worker, NULL, &id);
    } while (status == HAFT_OK);
    must(haft_pin(shared.table, pinned) != NULL);
    must(haft_free(shared.worker, pinned) == HAFT_OK);
    assert_status(haft_insert(shared.worker, NULL, &id), HAFT_BUSY);
    waited.act = unpin_it;
}

Test(pauses, come_while_an_insertion_waits_for_an_unpin)
{
    haft_id id;

    fill_beside_pinned();
    expect_status(haft_insert_wait(shared.worker, NULL, &id), HAFT_OK);
    cr_expect(eq(int, waited.sleeps, 1));
    close_shared(&shared);
}

Test(pauses, come_while_a_reservation_waits_for_an_unpin)
{
    haft_id id;

    fill_beside_pinned();
    expect_status(haft_reserve_wait(shared.worker, &id, NULL), HAFT_OK);
    haft_abort(shared.worker, id);
    cr_expect(eq(int, waited.sleeps, 1));
    close_shared(&shared);
}
