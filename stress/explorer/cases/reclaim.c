/* on_reclaim beside free, abort and reuse. */
#include "stress/explorer/cases/case.h"
#include <stddef.h>

#define MOST_IDS 64 /* ids are below: 3 bits of index, 2 of generation */

static haft_worker *workers[2];
static haft_id ids[3];              /* two are freed; the last one ends with the table */
static uint64_t reclaims[MOST_IDS]; /* plain: of the one that has the slot */
static shared_u64 reading;          /* ids that some section holds */

static void count_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)worker;
    (void)arg;
    require(((struct object *)object)->id == id.bits, "on_reclaim gets another id's object");
    require(peek(&reading) != id.bits, "on_reclaim runs while a section holds the object");
    require(reclaims[id.bits]++ == 0, "on_reclaim runs twice for an id");
}

static void set_up(void)
{
    const struct table_wish wish = {.capacity = 2, .on_reclaim = count_reclaim};

    for (int i = 0; i < MOST_IDS; i++) {
        reclaims[i] = 0;
    }
    poke(&reading, 0);
    open_table(&wish);
    for (int i = 0; i < 2; i++) {
        workers[i] = open_worker();
        ids[i] = insert_stamped(workers[i]);
    }
}

static void free_and_reuse(void)
{
    race_begin();
    require_status(haft_free(workers[0], ids[0]), HAFT_OK, "freeing");
    require_status(haft_worker_quiescent(workers[0]), HAFT_OK, "a quiescent point");
    ids[2] = insert_stamped(workers[0]);
    race_end();
}

static void abort_and_free(void)
{
    haft_id id;
    void *object;

    if (haft_reserve(workers[1], &id, &object) == HAFT_OK) {
        haft_abort(workers[1], id);
    }
    require_status(haft_free(workers[1], ids[1]), HAFT_OK, "freeing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    require_status(haft_worker_quiescent(workers[1]), HAFT_OK, "a quiescent point");
}

static void hold(void)
{
    race_begin();
    haft_section_begin(fixture.domain);
    if (haft_resolve(fixture.view, ids[0]) != NULL) {
        poke(&reading, ids[0].bits);
        poke(&reading, 0);
    }
    haft_section_end(fixture.domain);
    race_end();
}

static void body(uint32_t thread)
{
    if (thread == 0) {
        free_and_reuse();
    } else if (thread == 1) {
        abort_and_free();
    } else {
        hold();
    }
}

static void tear_down(void)
{
    uint64_t all = 0;

    close_worker(workers[0]);
    close_worker(workers[1]);
    close_table();
    for (int i = 0; i < MOST_IDS; i++) {
        all += reclaims[i];
    }
    for (int i = 0; i < 3; i++) {
        require(reclaims[ids[i].bits] == 1, "on_reclaim does not run for an object that ended");
    }
    require(all == 3, "on_reclaim runs for an id that was no object's");
}

EXPLORE(reclaim, 3, set_up, body, tear_down,
        "on_reclaim runs once for each object that ends, when no section holds it");
