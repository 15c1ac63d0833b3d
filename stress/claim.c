/*
 * stress/claim.c - all threads free the same ids at once.
 *
 * Invariant  exactly one HAFT_OK for each id (CLAIM); the winner sees the inserter's writes
 *            (PUBLISH); the slot comes back once: on_reclaim once for each object, and no slot is
 *            handed out while it has an owner.
 * Pressure   all threads start at one barrier that orders nothing, each at another of the ids, by
 *            their workers and without; stale and not yet issued neighbours of the ids are freed in
 *            between.
 * Usage      claim [rounds] [threads] [seed] [memb|qsbr|ck] [thread|caller|workers]
 */
#include "stress/support.h"
#include <sched.h>

#define IDS 8 /* in each round */
#define SLOTS 512
#define RETIRED (UINT64_C(1) << 63) /* in a stamp; no generation here comes so far */

struct stage {
    struct run run;
    haft_domain *domain;
    haft_table *table;
    haft_view view;
    haft_layout layout;
    struct barrier barrier;
    shared_u64 rounds; /* that were played */
    shared_u64 ids[IDS];
    shared_u64 wins[IDS];
    shared_u64 stamps[SLOTS]; /* the slot's id, then with RETIRED, then 0 */
    shared_u64 reclaimed;
    shared_u64 overtaken; /* saw an id live, and was too late all the same */
};

static void stamp(struct stage *stage, haft_id id, uint64_t from, uint64_t to)
{
    if (!replace(&stage->stamps[haft_id_index(stage->layout, id)], from, to)) {
        violation(&stage->run, "slot of id %llx has two owners", (unsigned long long)id.bits);
    }
}

static void on_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct stage *stage = arg;

    (void)worker;
    if (!object_is(object, id)) {
        violation(&stage->run, "id %llx reclaimed as another", (unsigned long long)id.bits);
    }
    stamp(stage, id, id.bits | RETIRED, 0);
    add(&stage->reclaimed, 1);
}

static void insert_all(struct stage *stage, haft_worker *worker)
{
    for (int i = 0; i < IDS; i++) {
        void *object;
        const haft_id id = reserve_waiting(&stage->run, worker, &object);

        stamp(stage, id, 0, id.bits);
        object_write(object, id);
        haft_publish(worker, id);
        poke(&stage->wins[i], 0);
        poke(&stage->ids[i], id.bits);
    }
}

/* Ids of the same slot in other lives are refused, whatever happens to this one. */
static void free_neighbours(struct stage *stage, haft_worker *worker, haft_id id)
{
    const haft_id before = {id.bits - (UINT64_C(1) << stage->layout.index_bits)};
    const haft_id after = {id.bits + (UINT64_C(1) << stage->layout.index_bits)};

    if (haft_free(worker, before) == HAFT_OK || haft_free(worker, after) == HAFT_OK) {
        violation(&stage->run, "a neighbour of id %llx was freed", (unsigned long long)id.bits);
    }
}

/* Whether this thread was the one, by its worker or without (NULL). */
static bool claim(struct stage *stage, haft_worker *worker, haft_id id)
{
    const haft_status status =
        worker != NULL ? haft_free(worker, id) : haft_table_free(stage->table, id);

    if (status == HAFT_OK) {
        stamp(stage, id, id.bits, id.bits | RETIRED);
        if (!object_is((const void *)(haft_slot_of(stage->view, id) + 1), id)) {
            violation(&stage->run, "the winner of id %llx sees another object",
                      (unsigned long long)id.bits);
        }
    } else if (status != HAFT_STALE) {
        violation(&stage->run, "a loser is told: %s", haft_status_text(status));
    }
    return status == HAFT_OK;
}

static void claim_all(struct stage *stage, haft_worker *worker, struct chance *chance)
{
    const uint64_t first = draw(chance);

    haft_section_begin(stage->domain);
    for (uint64_t i = 0; i < IDS; i++) {
        const uint64_t place = (first + i) % IDS;
        const haft_id id = {peek(&stage->ids[place])};
        const bool look = one_in(chance, 2);
        const bool seen = look && haft_is_live(stage->view, id);

        if (seen && one_in(chance, 16)) {
            sched_yield(); /* on few processors, the only way to be overtaken */
        }
        if (one_in(chance, 8)) {
            free_neighbours(stage, worker, id);
        }
        if (claim(stage, one_in(chance, 4) ? NULL : worker, id)) {
            add(&stage->wins[place], 1);
        } else {
            add(&stage->overtaken, seen);
        }
    }
    haft_section_end(stage->domain);
}

static void check_wins(struct stage *stage)
{
    for (int i = 0; i < IDS; i++) {
        if (peek(&stage->wins[i]) != 1) {
            violation(&stage->run, "%llu winners for id %llx",
                      (unsigned long long)peek(&stage->wins[i]),
                      (unsigned long long)peek(&stage->ids[i]));
        }
    }
}

/* Check the round before, and have the next one, or end. */
static void prepare(struct stage *stage, haft_worker *worker, uint64_t round)
{
    if (round != 0) {
        check_wins(stage);
    }
    if (run_goes_on(&stage->run, round, peek(&stage->overtaken))) {
        insert_all(stage, worker);
        poke(&stage->rounds, round + 1);
    } else {
        say_end(&stage->barrier);
    }
}

static void body(unsigned number, void *shared)
{
    struct stage *stage = shared;
    struct chance chance = chance_of(&stage->run, number);
    haft_worker *worker;
    uint64_t times = 0;

    haft_thread_register(stage->domain);
    must(&stage->run, haft_worker_open(stage->table, &worker), "opening a worker");
    for (uint64_t round = 0;; round++) {
        if (round % stage->run.threads == number) {
            prepare(stage, worker, round);
        }
        if (!meet_offline(stage->domain, &stage->barrier, &times)) {
            break;
        }
        claim_all(stage, worker, &chance);
        haft_worker_quiescent(worker);
        meet_offline(stage->domain, &stage->barrier, &times);
    }
    must(&stage->run, haft_worker_close(worker), "closing a worker");
    haft_thread_unregister(stage->domain);
}

int main(int argc, char **argv)
{
    static struct stage stage;

    stage.run = run_from(argc, argv, 20000, 4, NULL);
    run_until(&stage.run, 2000);
    stage.barrier.threads = stage.run.threads;
    stage.domain = open_domain(&stage.run);

    const haft_table_options options = {.capacity = UINT64_C(8) << stage.run.seed % 5,
                                        .object_size = sizeof(struct object),
                                        .on_reclaim = on_reclaim,
                                        .reclaim_arg = &stage};

    must(&stage.run, haft_table_open(stage.domain, &options, &stage.table), "opening the table");
    stage.view = haft_table_view(stage.table);
    stage.layout = haft_table_info(stage.table).layout;
    run_threads(stage.run.threads, body, &stage);

    close_with_domain(&stage.run, stage.table);
    if (stage.reclaimed != stage.rounds * IDS) {
        violation(&stage.run, "%llu of %llu objects reclaimed", (unsigned long long)stage.reclaimed,
                  (unsigned long long)stage.rounds * IDS);
    }
    finish(&stage.run, stage.overtaken, "claimed %llu, saw it live and lost %llu, reclaimed %llu",
           (unsigned long long)stage.rounds * IDS, (unsigned long long)stage.overtaken,
           (unsigned long long)stage.reclaimed);
}
