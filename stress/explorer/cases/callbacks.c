/* What on_reclaim does with its own table, and with another one. */
#include "stress/explorer/cases/case.h"
#include <haft/pin.h>
#include <stddef.h>

#define TRIES 4 /* grace periods after which a slot must be found */

/* --- two_tables: a callback of each table inserts into the other one, on two threads --- */

static haft_table *tables[2];
static haft_worker *workers[2][2]; /* of each thread, in each table */
static shared_u64 depths[2];       /* callbacks that run on a thread, one within another */
static shared_u64 reclaims[2];     /* of each table */
static _Thread_local uint32_t self;

/* Insert into the other table, by the thread's worker there. */
static void use_other(void *object, haft_id id, haft_worker *worker, void *arg)
{
    const uint32_t table = (uint32_t)((haft_table **)arg - tables);

    (void)object;
    require(add(&depths[self], 1) == 0, "a callback runs within a callback");
    add(&reclaims[table], 1);
    (void)worker;
    if (workers[self][!table] == NULL) { /* it has been closed */
        poke(&depths[self], 0);
        return;
    }
    const haft_status status = haft_insert(workers[self][!table], NULL, &id);

    require(status == HAFT_OK || status == HAFT_BUSY || status == HAFT_FULL, "an odd answer");
    poke(&depths[self], 0);
}

static void open_tables(void)
{
    open_table(&(struct table_wish){
        .capacity = 1, .generation_bits = 5}); /* the domain, and a table that is not used */
    for (uint32_t i = 0; i < 2; i++) {
        const haft_table_options options = {
            .capacity = 1,
            .layout = {3, 5, 0, 0},
            .on_reclaim = use_other,
            .reclaim_arg = &tables[i],
        };

        poke(&depths[i], 0);
        poke(&reclaims[i], 0);
        require_status(haft_table_open(fixture.domain, &options, &tables[i]), HAFT_OK, "opening");
    }
}

/* Each table has objects in both of its slots, and one of them was freed. */
static void set_up_two_tables(void)
{
    haft_id id;

    self = 0;
    open_tables();
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t thread = 0; thread < 2; thread++) {
            require_status(haft_worker_open(tables[i], &workers[thread][i]), HAFT_OK, "opening");
        }
        require_status(haft_insert(workers[i][i], NULL, &id), HAFT_OK, "inserting");
        require_status(haft_insert(workers[i][i], NULL, &id), HAFT_OK, "inserting");
        require_status(haft_free(workers[i][i], id), HAFT_OK, "freeing");
    }
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
}

static void two_tables_body(uint32_t thread)
{
    haft_id id;

    self = thread;
    race_begin();
    require_status(haft_worker_quiescent(workers[thread][0]), HAFT_OK, "a quiescent point");
    /* It gives the second table its slots back, which callbacks alone insert into. */
    require_status(haft_worker_quiescent(workers[thread][1]), HAFT_OK, "a quiescent point");
    if (haft_insert(workers[thread][0], NULL, &id) == HAFT_OK) {
        haft_free(workers[thread][0], id);
    }
    race_end();
}

/* The callbacks that a close runs find no slot in the other table, or one of few. */
static void tear_down_two_tables(void)
{
    self = 0;
    for (uint32_t i = 0; i < 2; i++) {
        require(peek(&reclaims[i]) != 0, "freed slots are not reclaimed at quiescent points");
        require_census(tables[i]);
        require_status(haft_worker_close(workers[0][i]), HAFT_OK, "closing a worker");
        require_status(haft_worker_close(workers[1][i]), HAFT_OK, "closing a worker");
        workers[0][i] = NULL;
    }
    for (uint32_t i = 0; i < 2; i++) {
        require_status(haft_table_close(tables[i]), HAFT_OK, "closing a table");
        tables[i] = NULL;
    }
    close_table();
}

EXPLORE(two_tables, 2, set_up_two_tables, two_tables_body, tear_down_two_tables,
        "callbacks of two tables that use each other do not nest, and neither starves");

/* --- respawn: at capacity 1 each object that is reclaimed leaves another --- */

#define LIVES 3

static haft_worker *workers_of[2];
static shared_u64 spawned;
static bool is_closing; /* the table: it has no other thread */

static void respawn(void *object, haft_id id, haft_worker *worker, void *arg)
{
    haft_id own;

    (void)arg;
    require(((struct object *)object)->id == id.bits, "on_reclaim gets another id's object");
    if (peek(&spawned) == LIVES) {
        return;
    }
    const haft_status status = haft_reserve(worker, &own, &object);

    /* The slot of `id` is not the callback's yet, and the table's other one may be another's. */
    require(is_closing ? status == HAFT_CLOSED
                       : status == HAFT_OK || status == HAFT_BUSY || status == HAFT_FULL,
            "an odd answer");
    if (status == HAFT_OK) {
        add(&spawned, 1);
        stamp(object, own);
        haft_publish(worker, own);
        require_status(haft_free(worker, own), HAFT_OK, "freeing");
    }
}

static void set_up_respawn(void)
{
    open_table(&(struct table_wish){.capacity = 1, .generation_bits = 5, .on_reclaim = respawn});
    poke(&spawned, 0);
    for (int i = 0; i < 2; i++) {
        workers_of[i] = open_worker();
        require_status(haft_free(workers_of[i], insert_stamped(workers_of[i])), HAFT_OK, "freeing");
    }
}

static void respawn_body(uint32_t thread)
{
    haft_worker *own = workers_of[thread];
    void *object;
    haft_id id;

    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    race_begin();
    if (haft_reserve(own, &id, &object) == HAFT_OK) {
        stamp(object, id);
        haft_publish(own, id);
        require_status(haft_free(own, id), HAFT_OK, "freeing");
    }
    haft_worker_quiescent(own);
    race_end();
}

static void tear_down_respawn(void)
{
    close_worker(workers_of[0]);
    close_worker(workers_of[1]);
    require_room_for(1);
    is_closing = true;
    close_table();
    is_closing = false;
}

EXPLORE(respawn, 2, set_up_respawn, respawn_body, tear_down_respawn,
        "a callback inserts and frees at capacity 1, and no slot is lost");

/* --- chain: each object's callback unpins the next one, which was freed --- */

#define LINKS 3

static haft_id links[LINKS];
static shared_u64 reclaimed[LINKS];

static void unpin_next(void *object, haft_id id, haft_worker *worker, void *arg)
{
    (void)worker;
    (void)arg;
    require(((struct object *)object)->id == id.bits, "on_reclaim gets another id's object");
    for (int i = 0; i < LINKS; i++) {
        if (links[i].bits == id.bits) {
            require(add(&reclaimed[i], 1) == 0, "on_reclaim runs twice for an id");
            require(i == 0 || peek(&reclaimed[i - 1]) == 1, "on_reclaim runs beside a pin");
            if (i + 1 < LINKS) {
                require_status(haft_unpin(fixture.table, links[i + 1]), HAFT_OK, "unpinning");
            }
        }
    }
}

static void set_up_chain(void)
{
    open_table(&(struct table_wish){
        .capacity = LINKS, .has_pins = true, .generation_bits = 5, .on_reclaim = unpin_next});
    workers_of[0] = open_worker();
    workers_of[1] = open_worker();
    for (int i = 0; i < LINKS; i++) {
        poke(&reclaimed[i], 0);
        links[i] = insert_stamped(workers_of[i % 2]);
        require(i == 0 || haft_pin(fixture.table, links[i]) != NULL, "no pin");
    }
    for (int i = 1; i < LINKS; i++) {
        require_status(haft_free(workers_of[i % 2], links[i]), HAFT_OK, "freeing");
    }
}

static void chain_body(uint32_t thread)
{
    haft_worker *own = workers_of[thread];

    race_begin();
    if (thread == 0) {
        require_status(haft_free(own, links[0]), HAFT_OK, "freeing");
    }
    require_status(haft_worker_flush(own), HAFT_OK, "flushing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    require_status(haft_worker_quiescent(own), HAFT_OK, "a quiescent point");
    race_end();
}

static void tear_down_chain(void)
{
    for (int i = 0; i < TRIES && peek(&reclaimed[LINKS - 1]) == 0; i++) {
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
        require_status(haft_worker_quiescent(workers_of[0]), HAFT_OK, "a quiescent point");
        require_status(haft_worker_quiescent(workers_of[1]), HAFT_OK, "a quiescent point");
    }
    require(peek(&reclaimed[LINKS - 1]) == 1, "the end of a chain is not reclaimed");
    close_worker(workers_of[0]);
    close_worker(workers_of[1]);
    require_room_for(LINKS);
    close_table();
}

EXPLORE(chain, 2, set_up_chain, chain_body, tear_down_chain,
        "a chain of pins is reclaimed to its end, each object once");
