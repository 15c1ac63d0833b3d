/* A table closed while objects are pinned by others that were freed and wait. */
#include "tests/support.h"
#include <haft/many.h>
#include <haft/pin.h>
#include <haft/threads.h>

TestSuite(pin_close, .timeout = SUITE_SECONDS);

/* What its object's end frees, and takes the pin from. */
struct last_will {
    haft_id to_free;
    haft_id to_unpin;
};

static haft_table *table;
static uint64_t reclaims;

static void execute(void *object, haft_id id, haft_worker *worker, void *arg)
{
    const struct last_will *will = object;

    (void)id;
    (void)arg;
    reclaims++;
    must(haft_id_is_nil(will->to_free) ||
         (worker != NULL ? haft_free(worker, will->to_free)
                         : haft_free_unregistered(table, will->to_free)) == HAFT_OK);
    must(haft_id_is_nil(will->to_unpin) || haft_unpin(table, will->to_unpin) == HAFT_OK);
}

static const haft_table_options options = {
    .capacity = 50000, /* batches are large, and what is freed lies in one that is not full */
    .object_size = sizeof(struct last_will),
    .pins = true,
    .on_reclaim = execute};

static haft_id insert_with(haft_worker *worker, struct last_will will)
{
    haft_id id;

    must(haft_insert(worker, &will, &id) == HAFT_OK);
    return id;
}

static haft_id insert_pinned(haft_worker *worker, haft_domain *domain)
{
    const haft_id id = insert_with(worker, (struct last_will){HAFT_NIL, HAFT_NIL});

    haft_section_begin(domain);
    must(haft_pin(table, id) != NULL);
    haft_section_end(domain);
    return id;
}

#define OTHERS 40000 /* so many freed that their batches lie in the depot, too */

/*
 * Each object's end frees the next, and only the last one unpins; the first is freed before or
 * after the others.  How many have ended.
 */
static uint64_t close_with_a_row_of(uint64_t length, haft_worker *worker, bool is_first)
{
    static haft_id others[OTHERS];

    reclaims = 0;
    const haft_id pinned = insert_pinned(worker, haft_table_domain(table));
    haft_id next = insert_with(worker, (struct last_will){HAFT_NIL, pinned});

    for (uint64_t n = 1; n < length; n++) {
        next = insert_with(worker, (struct last_will){next, HAFT_NIL});
    }
    must(haft_insert_many(worker, NULL, others, OTHERS, NULL) == OTHERS);
    must(haft_free(worker, pinned) == HAFT_OK);
    must(!is_first || haft_free(worker, next) == HAFT_OK);
    must(haft_free_many(worker, others, OTHERS, NULL) == OTHERS);
    must(is_first || haft_free(worker, next) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    assert_status(haft_table_close(table), HAFT_OK);
    return reclaims;
}

TEST_ON_EACH_CLOCK(pin_close, looks_again_for_what_on_reclaim_frees_until_the_last_pin_is_gone)
{
    struct shared shared = open_shared(*setting, &options);

    for (uint64_t n = 0; n < 6; n++) {
        const uint64_t length = 1 + n / 2;

        must(haft_table_open(shared.domain, &options, &table) == HAFT_OK);
        const uint64_t ended = close_with_a_row_of(length, open_worker(table), n % 2 == 0);

        cr_expect(eq(u64, ended, OTHERS + length + 1));
    }
    close_shared(&shared);
}

TEST_ON_EACH_CLOCK(pin_close, takes_back_what_an_implicit_worker_freed_and_did_not_hand_on)
{
    struct shared shared = open_shared(*setting, &options);
    haft_worker *worker;

    must(haft_table_open(shared.domain, &options, &table) == HAFT_OK);
    must(haft_worker_current(table, &worker) == HAFT_OK);
    const haft_id pinned = insert_pinned(worker, shared.domain);
    const haft_id holder = insert_with(worker, (struct last_will){HAFT_NIL, pinned});

    must(haft_free(worker, holder) == HAFT_OK); /* one: its batch is not full */
    reclaims = 0;
    assert_status(haft_table_close(table), HAFT_OK);
    cr_expect(eq(u64, reclaims, 1));
    close_shared(&shared);
}
