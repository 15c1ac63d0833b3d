/*
 * A fork, at every step of the other threads: the child goes on with what it has, and closes.
 *
 * The last thread of each case forks; the others stop for good where they are.
 */
#include "stress/explorer/cases/case.h"
#include <haft/table.h>
#include <stddef.h>

#define MOST_IDS 256 /* ids are below: 3 bits of index, 5 of generation */
#define FORKER 2

static haft_worker *workers[2];
static haft_id ids[3];
static shared_u64 states[3]; /* of these: FREEING from before the call, FREED after it */
static shared_u64 reclaims[MOST_IDS];
static bool is_closing;

enum { FREEING = 1, FREED };

static void count_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)worker;
    (void)arg;
    require(!is_closing, "closing in the child calls back");
    require(((struct object *)object)->id == id.bits, "on_reclaim gets another id's object");
    require(add(&reclaims[id.bits], 1) == 0, "on_reclaim runs twice for an id");
}

static void open_with(struct table_wish wish, uint32_t objects)
{
    wish.generation_bits = 5;
    wish.on_reclaim = count_reclaim;
    is_closing = false;
    for (int i = 0; i < MOST_IDS; i++) {
        poke(&reclaims[i], 0);
    }
    open_table(&wish);
    for (int i = 0; i < 2; i++) {
        workers[i] = open_worker();
    }
    for (uint32_t i = 0; i < objects; i++) {
        ids[i] = insert_stamped(workers[i % 2]);
        poke(&states[i], 0);
    }
}

/* A thread that does not fork comes to its end. */
static void end_actor(void)
{
    race_end();
    end_before_fork();
}

/* --- the child --- */

static void look_at_all(uint32_t objects)
{
    for (uint32_t i = 0; i < objects; i++) {
        const uint64_t state = peek(&states[i]);
        const bool is_live = look_at(ids[i]);

        require(state != 0 || is_live, "an object is not live in the child");
        require(state != FREED || !is_live, "a freed object is live in the child");
    }
}

/* No slot of another object's, nor twice; nothing waits. */
static void insert_all(haft_worker *worker)
{
    haft_id inserted[8];
    haft_status status;
    uint32_t count = 0;
    void *object;

    while ((status = haft_reserve_wait(worker, &inserted[count], &object)) == HAFT_OK) {
        require(count < 7, "the child inserts more than the table has slots");
        stamp(object, inserted[count]);
        haft_publish(worker, inserted[count++]);
    }
    require(status == HAFT_FORKED || status == HAFT_FULL, "the child waits for a slot");
    while (count-- > 0) {
        require(look_at(inserted[count]), "an object of the child's own is not there");
        require_status(haft_free(worker, inserted[count]), HAFT_OK, "freeing in the child");
    }
}

static void fork_and_close(uint32_t objects)
{
    haft_worker *own = open_worker();

    race_begin();
    fork_here();
    race_end();
    look_at_all(objects);
    insert_all(own);
    look_at_all(objects);
    require_status(haft_worker_quiescent(own), HAFT_OK, "a quiescent point in the child");
    require_status(haft_table_close(fixture.table), HAFT_IN_USE, "closing beside a worker");
    close_worker(own);
    is_closing = true;
    close_table_in_child();
}

/* The child has closed all. */
static void tear_down(void)
{
}

static void free_one(haft_worker *worker, uint32_t number)
{
    poke(&states[number], FREEING);
    require_status(worker != NULL ? haft_free(worker, ids[number])
                                  : haft_table_free(fixture.table, ids[number]),
                   HAFT_OK, "freeing");
    poke(&states[number], FREED);
}

/* --- fork: one frees and reclaims, one searches --- */

static void set_up_fork(void)
{
    open_with((struct table_wish){.capacity = 3}, 2);
}

static void fork_body(uint32_t thread)
{
    haft_worker *own = workers[thread % 2];

    if (thread == FORKER) {
        fork_and_close(2);
        return;
    }
    race_begin();
    free_one(own, thread);
    haft_worker_flush(own);
    haft_domain_wait(fixture.domain);
    haft_worker_quiescent(own);
    insert_stamped(own);
    end_actor();
}

EXPLORE(fork, 3, set_up_fork, fork_body, tear_down,
        "a child has each live object, no slot twice, and closes");

/* --- fork_workers: workers that open and close, with the workers clock --- */

static void set_up_fork_workers(void)
{
    open_with((struct table_wish){.capacity = 2, .is_workers = true}, 1);
    close_worker(workers[0]);
    close_worker(workers[1]);
}

static void fork_workers_body(uint32_t thread)
{
    haft_worker *own;
    haft_id id;
    void *object;

    if (thread == FORKER) {
        fork_and_close(1);
        return;
    }
    own = open_worker();
    race_begin();
    if (thread == 0) {
        free_one(own, 0);
        haft_worker_quiescent(own);
    }
    if (haft_reserve(own, &id, &object) == HAFT_OK) {
        stamp(object, id);
        haft_publish(own, id);
        require_status(haft_free(own, id), HAFT_OK, "freeing");
    }
    close_worker(own);
    end_actor();
}

EXPLORE(fork_workers, 3, set_up_fork_workers, fork_workers_body, tear_down,
        "the same with workers that open and close, of the workers clock");

/* --- fork_lists: slots on their way into the lists, and out of them --- */

static void set_up_fork_lists(void)
{
    open_with((struct table_wish){.capacity = 3}, 3);
}

static void fork_lists_body(uint32_t thread)
{
    if (thread == FORKER) {
        fork_and_close(3);
        return;
    }
    race_begin();
    free_one(NULL, thread);
    if (thread == 0) {
        free_one(NULL, 2);
    } else {
        haft_worker_quiescent(workers[1]);
    }
    end_actor();
}

EXPLORE(fork_lists, 3, set_up_fork_lists, fork_lists_body, tear_down,
        "the same with slots that are half in a list");
