/*
 * White-box.  Callbacks that make work for as long as they run: they free objects and insert
 * others, and grace periods end meanwhile.  Each call reclaims the slots that have elapsed when it
 * begins, and returns.
 */
#include "concurrent/clock/grace_periods.h"
#include "tests/support.h"
#include <haft/memory.h>
#include <haft/pin.h>
#include <haft/share.h>

TestSuite(endless_callbacks, .timeout = SUITE_SECONDS);

#define CALLBACKS_MOST 10000 /* of one call; more would have no end */
#define SLOTS 252            /* of the layout */
#define LAYOUT ((haft_layout){8, 40, 0, 0})
#define ONE_LIFE ((haft_layout){8, 1, 0, 0}) /* for each slot */

static struct shared shared;
static haft_id ids[SLOTS]; /* live ones: the first `held` */
static int held;
static bool is_on; /* callbacks breed */
static int callbacks;

/* Another thread drives the clock: all tickets are done. */
static void end_grace_periods(void)
{
    domain_end_grace(shared.domain, domain_requested(shared.domain));
}

static bool may_breed(const haft_worker *worker)
{
    return is_on && worker != NULL && callbacks++ < CALLBACKS_MOST;
}

/* The call under test. */
static void expect_few_callbacks(void (*call)(void))
{
    is_on = true;
    call();
    is_on = false;
    cr_expect(ne(int, callbacks, 0));
    cr_expect(lt(int, callbacks, CALLBACKS_MOST));
}

static void open_with(const haft_table_options *wish)
{
    haft_table_options options = *wish;

    options.capacity = 100;
    options.object_size = 8;
    options.layout = wish->layout.index_bits != 0 ? wish->layout : LAYOUT;
    shared = open_shared_on(&(haft_domain_options){.clock = HAFT_CLOCK_FRAME}, &options);
}

/* --- in each call that reclaims --- */

static void fill_up(haft_worker *worker)
{
    haft_id id;

    while (haft_insert(worker, NULL, &id) == HAFT_OK) {
        ids[held++] = id;
    }
}

/* Frees one object for each that is reclaimed, and takes all slots that it finds. */
static void breed(void *object, haft_id id, haft_worker *worker, void *arg)
{
    if (held != 0 && may_breed(worker)) {
        must(haft_free(worker, ids[--held]) == HAFT_OK);
        fill_up(worker);
        end_grace_periods();
    }
}

static void by_trim(void)
{
    expect_status(haft_trim(shared.table, NULL), HAFT_OK);
}

static void by_quiescent(void)
{
    expect_status(haft_worker_quiescent(shared.worker), HAFT_OK);
}

static void by_flush(void)
{
    expect_status(haft_worker_flush(shared.worker), HAFT_OK);
}

static void by_close(void)
{
    expect_status(haft_worker_close(shared.worker), HAFT_OK);
    shared.worker = open_worker(shared.table);
}

static void by_insert(void)
{
    haft_id id;

    haft_insert(shared.worker, NULL, &id);
}

static void by_insert_many(void)
{
    haft_id found[SLOTS];

    haft_insert_many(shared.worker, NULL, found, SLOTS, NULL);
}

static void (*const calls[])(void) = {by_trim,  by_quiescent, by_flush,
                                      by_close, by_insert,    by_insert_many};

#define CALLS (sizeof calls / sizeof *calls)

ParameterizedTestParameters(endless_callbacks, does_not_keep_a_call_from_returning)
{
    static size_t numbers[CALLS];

    for (size_t i = 0; i < CALLS; i++) {
        numbers[i] = i;
    }
    return cr_make_param_array(size_t, numbers, CALLS);
}

static void free_three_and(void (*call)(void))
{
    fill_up(shared.worker);
    for (int i = 0; i < 3; i++) {
        must(haft_free(shared.worker, ids[--held]) == HAFT_OK);
    }
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    end_grace_periods();
    expect_few_callbacks(call);
}

ParameterizedTest(size_t *number, endless_callbacks, does_not_keep_a_call_from_returning)
{
    open_with(&(haft_table_options){.on_reclaim = breed});
    free_three_and(calls[*number]);
    close_shared(&shared);
}

/* No slot comes back, and the insertion asks on: but not for what elapses meanwhile. */
Test(endless_callbacks, of_last_lives_does_not_keep_an_insertion_from_returning)
{
    open_with(&(haft_table_options){.on_reclaim = breed, .layout = ONE_LIFE});
    free_three_and(by_insert);
    cr_expect(eq(int, callbacks, 3));
    close_shared(&shared);
}

/* --- by unpinning, where slots take no further ticket --- */

static haft_id next; /* pinned, freed, and found so after its grace period */

/* Two pins of a chain: the last unpin of one object, and another one that waits for its own. */
static void unpin_next(void *object, haft_id id, haft_worker *worker, void *arg)
{
    if (!may_breed(worker)) {
        return;
    }
    must(haft_unpin(shared.table, next) == HAFT_OK);
    while (haft_insert(worker, NULL, &id) == HAFT_OK) { /* refused at last */
        next = id;
    }
    must(haft_pin(shared.table, next) != NULL);
    must(haft_free(worker, next) == HAFT_OK);
    end_grace_periods();
}

static void free_and_reclaim(haft_id id)
{
    must(haft_free(shared.worker, id) == HAFT_OK);
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    end_grace_periods();
    must(haft_worker_quiescent(shared.worker) == HAFT_OK);
}

Test(endless_callbacks, of_unpinned_objects_does_not_keep_a_trim_from_returning)
{
    open_with(&(haft_table_options){.pins = true, .on_reclaim = unpin_next});
    fill_up(shared.worker);
    next = ids[1];
    must(haft_pin(shared.table, ids[0]) != NULL);
    must(haft_pin(shared.table, next) != NULL);
    free_and_reclaim(ids[0]);
    free_and_reclaim(next);
    free_and_reclaim(ids[2]); /* a slot for the first callback */
    must(haft_unpin(shared.table, ids[0]) == HAFT_OK);

    expect_few_callbacks(by_trim);
    if (haft_pins(shared.table, next) != 0) {
        must(haft_unpin(shared.table, next) == HAFT_OK);
    }
    close_shared(&shared);
}

/* --- by two tables, each of which finds no slot in the other --- */

struct table {
    haft_worker *worker;
    struct table *other;
    haft_id ids[SLOTS];
    int held;
};

static struct table tables[2];

static void fill_table(struct table *table)
{
    haft_id id;

    while (haft_insert(table->worker, NULL, &id) == HAFT_OK) {
        table->ids[table->held++] = id;
    }
}

static void free_in_table(struct table *table)
{
    if (table->held != 0) {
        must(haft_free(table->worker, table->ids[--table->held]) == HAFT_OK);
    }
}

static void breed_in_other(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct table *const *own = arg;

    if (may_breed(worker)) {
        free_in_table((*own)->other);
        fill_table((*own)->other);
        free_in_table(*own);
        end_grace_periods();
    }
}

Test(endless_callbacks, of_two_tables_does_not_keep_a_call_from_returning)
{
    static struct table *own[] = {&tables[0], &tables[1]};
    haft_table *other;
    haft_table_options options = {
        .capacity = 100, .layout = LAYOUT, .on_reclaim = breed_in_other, .reclaim_arg = &own[1]};

    open_with(&(haft_table_options){.on_reclaim = breed_in_other, .reclaim_arg = &own[0]});
    must(haft_table_open(shared.domain, &options, &other) == HAFT_OK);
    tables[0] = (struct table){.worker = shared.worker, .other = &tables[1]};
    tables[1] = (struct table){.worker = open_worker(other), .other = &tables[0]};
    for (int i = 0; i < 2; i++) {
        fill_table(&tables[i]);
        free_in_table(&tables[i]);
        must(haft_worker_flush(tables[i].worker) == HAFT_OK);
    }
    end_grace_periods();

    expect_few_callbacks(by_trim);
    must(haft_worker_close(tables[1].worker) == HAFT_OK);
    must(haft_table_close(other) == HAFT_OK);
    close_shared(&shared);
}
