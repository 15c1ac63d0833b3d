/*
 * stress/reclaim.c - on_reclaim that frees and inserts.
 *
 * Invariant  on_reclaim runs once for each freed object, on the object as it was; what it frees
 *            and inserts on its worker is like any other object.
 * Pressure   objects own chains of others: reclaiming one frees the next, batches of one slot
 *            close in the middle of being reclaimed; now and then the callback also inserts and
 *            frees another object.  Few slots, so that batches come from other workers.
 * Usage      reclaim [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller|workers]
 */
#include "stress/support.h"

#define CAPACITY 300
#define BOARD 16
#define MOST_LINKS 6
#define SLOTS 1024

struct link {
    struct object object;
    uint64_t next; /* id of the one that goes with it, or 0 */
};

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    haft_layout layout;
    shared_u64 board[BOARD];  /* first links */
    shared_u64 stamps[SLOTS]; /* the id that has the slot, until it is reclaimed */
    shared_u64 inserted;
    shared_u64 reclaimed;
    bool is_closing;            /* all other threads have ended: the close ends all links at once */
    shared_u64 freed_inside;    /* on_reclaim */
    shared_u64 inserted_inside; /* on_reclaim */
    shared_u64 full;
};

static void stamp(struct stage *stage, haft_id id, uint64_t from, uint64_t to)
{
    if (!replace(&stage->stamps[haft_id_index(stage->layout, id)], from, to)) {
        violation(&stage->run, "slot of id %llx has two owners", (unsigned long long)id.bits);
    }
}

static void publish_link(struct stage *stage, haft_worker *worker, haft_id id, struct link *link,
                         haft_id next)
{
    stamp(stage, id, 0, id.bits);
    object_write(&link->object, id);
    link->next = next.bits;
    haft_publish(worker, id);
    add(&stage->inserted, 1);
}

static void insert_inside(struct stage *stage, haft_worker *worker)
{
    haft_id id;
    void *object;

    if (haft_reserve(worker, &id, &object) == HAFT_OK) {
        publish_link(stage, worker, id, object, HAFT_NIL);
        must(&stage->run, haft_free(worker, id), "freeing what on_reclaim inserted");
        add(&stage->inserted_inside, 1);
    }
}

static void on_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct stage *stage = arg;
    const struct link *link = object;
    const haft_id next = {link->next};

    if (!object_is(&link->object, id)) {
        violation(&stage->run, "id %llx reclaimed as another", (unsigned long long)id.bits);
    }
    stamp(stage, id, id.bits, 0);
    add(&stage->reclaimed, 1);
    if (stage->is_closing) {
        if (next.bits != 0 && haft_free(worker, next) != HAFT_STALE) {
            violation(&stage->run, "a close ends link %llx after another",
                      (unsigned long long)next.bits);
        }
        return;
    }
    if (next.bits != 0) {
        must(&stage->run, haft_free(worker, next), "freeing the next link");
        add(&stage->freed_inside, 1);
    }
    if ((id.bits * UINT64_C(0x9E3779B97F4A7C15)) >> 62 == 0) {
        insert_inside(stage, worker);
    }
}

/* The first link of a new chain; nil if there is no room for one. */
static haft_id insert_chain(struct stage *stage, haft_worker *worker, uint64_t links)
{
    haft_id first = HAFT_NIL;

    for (; links != 0; links--) {
        haft_id id;
        void *object;
        const haft_status status = haft_reserve_wait(worker, &id, &object);

        if (status == HAFT_FULL) { /* links are live until the one before them is reclaimed */
            add(&stage->full, 1);
            must(&stage->run, haft_domain_wait(stage->domain), "waiting");
            break;
        }
        must(&stage->run, status, "reserving");
        publish_link(stage, worker, id, object, first);
        first = id;
    }
    return first;
}

static void body(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct chance chance = chance_of(&stage->run, number);
    haft_worker *worker;

    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (uint64_t i = 0; run_goes_on(&stage->run, i, peek(&stage->inserted_inside)); i++) {
        const haft_id first = insert_chain(stage, worker, 1 + draw_below(&chance, MOST_LINKS));
        const haft_id old = {swap(&stage->board[draw_below(&chance, BOARD)], first.bits)};

        if (old.bits != 0) {
            must(&stage->run, haft_free(worker, old), "freeing a first link");
        }
        if (one_in(&chance, 4)) {
            haft_worker_quiescent(worker);
        }
        if (one_in(&chance, 32)) {
            haft_worker_flush(worker);
        }
    }
    must(&stage->run, haft_worker_close(worker), "closing a worker");
}

int main(int argc, char **argv)
{
    static struct stage stage;
    const haft_table_options options = {.capacity = CAPACITY,
                                        .object_size = sizeof(struct link),
                                        .on_reclaim = on_reclaim,
                                        .reclaim_arg = &stage};

    stage.run = run_from(argc, argv, 80000, 4, NULL);
    run_until(&stage.run, 100000);
    stage.domain = open_domain(&stage.run);
    must(&stage.run, haft_table_open(stage.domain, &options, &stage.table), "opening the table");
    stage.layout = haft_table_info(stage.table).layout;
    run_threads(stage.run.threads, body, &stage);

    const uint64_t live = haft_table_stats_get(stage.table).live;

    stage.is_closing = true;
    close_with_domain(&stage.run, stage.table);
    if (stage.inserted != stage.reclaimed) { /* the close has ended those that were live */
        violation(&stage.run, "%llu inserted, %llu reclaimed, %llu live at the end",
                  (unsigned long long)stage.inserted, (unsigned long long)stage.reclaimed,
                  (unsigned long long)live);
    }
    finish(&stage.run, stage.inserted_inside,
           "inserted %llu, reclaimed %llu, in on_reclaim freed %llu, inserted %llu; full %llu",
           (unsigned long long)stage.inserted, (unsigned long long)stage.reclaimed,
           (unsigned long long)stage.freed_inside, (unsigned long long)stage.inserted_inside,
           (unsigned long long)stage.full);
}
