/* The warning before a table is full, where on_reclaim inserts. */
#include "tests/support.h"
#include <haft/threads.h>

TestSuite(fill_reclaim, .timeout = SUITE_SECONDS);

#define OBJECTS 512

static struct shared shared;
static haft_id ids[OBJECTS];
static bool with_worker;
static int warnings;
static int reclaims;    /* under way */
static int in_one;      /* insertions by on_reclaim, within one of the test's */
static int most_in_one; /* so far */

static void expect_no_reclaim(const haft_fill *fill, void *arg)
{
    (void)fill;
    (void)arg;
    warnings++;
    cr_expect(zero(int, reclaims), "on_fill is called in on_reclaim");
}

static haft_id insert_one(haft_worker *worker)
{
    haft_id id;

    must((with_worker ? haft_insert(worker, NULL, &id)
                      : haft_insert_unregistered(shared.table, NULL, &id)) == HAFT_OK);
    return id;
}

static void free_one(haft_id id)
{
    must((with_worker ? haft_free(shared.worker, id) : haft_free_unregistered(shared.table, id)) ==
         HAFT_OK);
}

static void insert_two(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)object;
    (void)id;
    (void)arg;
    if (worker == NULL) {
        return; /* the table is being closed */
    }
    reclaims++;
    insert_one(worker);
    insert_one(worker); /* beyond the slot that was taken back just before */
    reclaims--;
    in_one += 2;
    most_in_one = in_one > most_in_one ? in_one : most_in_one;
}

/* While one batch is taken back, on_reclaim inserts so many objects that they pass the mark. */
static void expect_silence_in_on_reclaim(int mark)
{
    const haft_table_options options = {.capacity = 100000,
                                        .object_size = 8,
                                        .warn_at = (uint64_t)mark,
                                        .on_fill = expect_no_reclaim,
                                        .on_reclaim = insert_two};

    warnings = 0;
    most_in_one = 0;
    shared = open_shared(MEMB_CALLER, &options);
    for (int i = 0; i < OBJECTS; i++) {
        ids[i] = insert_one(shared.worker);
    }
    cr_expect(eq(int, warnings, 1));
    for (int i = 0; i < OBJECTS; i++) {
        free_one(ids[i]);
    }
    settle(shared.worker);
    in_one = 0;
    must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    for (int i = 0; i < OBJECTS; i++) {
        in_one = 0;
        insert_one(shared.worker);
    }
    cr_expect(gt(int, most_in_one, mark));
    close_shared(&shared);
}

/* With a worker, and with a borrowed one. */
Test(fill_reclaim, on_fill_is_not_called_in_on_reclaim)
{
    /* More than a batch has slots: 128, or 1 of a borrowed worker. */
    expect_silence_in_on_reclaim(6);
    with_worker = true;
    expect_silence_in_on_reclaim(200);
}

/* --- an insertion by on_fill that is refused --- */

static haft_worker *refused; /* through which on_fill inserts; NULL: not now */
static int refusals;         /* insertions by on_fill that were told HAFT_BUSY */
static bool reclaimed_by_refused;

static void insert_in_vain(const haft_fill *fill, void *arg)
{
    haft_id id;

    (void)fill;
    (void)arg;
    refusals += refused != NULL && haft_insert(refused, NULL, &id) == HAFT_BUSY;
}

static void note_worker(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)object;
    (void)id;
    (void)arg;
    reclaimed_by_refused = reclaimed_by_refused || (worker != NULL && worker == refused);
    reclaims++;
}

/* Two slots wait for their grace period, and two are in use. */
static void fill_small_table(haft_worker *first, haft_worker *second)
{
    for (int i = 0; i < 2; i++) {
        must(haft_insert(first, NULL, &ids[i]) == HAFT_OK);
    }
    for (int i = 0; i < 2; i++) {
        must(haft_free(second, ids[i]) == HAFT_OK);
        must(haft_worker_flush(second) == HAFT_OK);
    }
    refused = first;
    for (int i = 0; i < 2; i++) {
        must(haft_insert(first, NULL, &ids[i]) == HAFT_OK);
    }
}

Test(fill_reclaim, refused_insertion_of_on_fill_leaves_nothing_to_its_worker)
{
    const haft_table_options options = {.capacity = 4,
                                        .object_size = 8,
                                        .layout = {3, 20, 0},
                                        .warn_at = 2,
                                        .on_fill = insert_in_vain,
                                        .on_reclaim = note_worker};

    shared = open_shared((struct setting){ANNOUNCED, HAFT_CLOCK_FRAME}, &options);
    haft_worker *first = open_worker(shared.table);

    fill_small_table(first, shared.worker);
    assert_status(haft_worker_close(first), HAFT_OK);
    haft_domain_tick(shared.domain);
    assert_status(haft_worker_quiescent(shared.worker), HAFT_OK);

    cr_assert(eq(int, refusals, 1), "on_fill found no slot");
    cr_expect(eq(int, reclaims, 2));
    cr_expect(not(reclaimed_by_refused), "on_reclaim is given a worker that is closed");
    close_shared(&shared);
}
