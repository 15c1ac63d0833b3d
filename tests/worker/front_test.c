/*
 * White-box: insertion and free in place, which typed tables do.  Debug builds leave it to the
 * calls, so these tests turn it on.
 */
#include "concurrent/worker/state.h"
#include "lib/base/asan.h"
#include "tests/support.h"
#include <haft/detail/table_front.h>
#include <haft/typed.h>
#include <stdatomic.h>
#include <string.h>

TestSuite(front, .timeout = SUITE_SECONDS);

typedef struct ship {
    uint64_t a, b, c;
} ship;

HAFT_TYPED_ID(ship);
HAFT_TYPED(ship, struct ship);
HAFT_TYPED_TABLE(ship);

static const haft_table_options options = {
    .capacity = 100000, .object_size = sizeof(ship), .object_alignment = 8};

/* A worker that does in place what is common. */
static ship_worker in_place(const struct shared *shared)
{
    ship_worker typed;

    must(ship_worker_adopt(shared->worker, &typed) == HAFT_OK);
    shared->worker->used_from = shared->table->used_from;
    shared->worker->last_life = shared->table->last_life;
    return typed;
}

Test(front, is_closed_where_calls_are_checked)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    const bool may = !debug_is_on() && !asan_is_on();

    cr_expect(may == (shared.worker->last_life != 0));
    cr_expect(may == (shared.worker->used_from == 1));
}

static void expect_closed(const haft_table_options *with)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, with);

    cr_expect(zero(u64, shared.worker->last_life));
    cr_expect(eq(u64, shared.worker->used_from, UINT64_MAX));
}

Test(front, is_closed_with_sites)
{
    haft_table_options with = options;

    with.sites = true;
    expect_closed(&with);
}

/* Insertion and free of a stale id, a live one, and one in its last life. */
TEST_ON_EACH_CLOCK(front, does_what_the_calls_do)
{
    enum { LIVE = 300, ROUNDS = 100000 };
    struct shared shared = open_shared(*setting, &options);
    const ship_worker worker = in_place(&shared);
    ship_id ids[LIVE] = {0};
    uint64_t random = 1, live = 0, frees = 0;

    for (uint64_t n = 1; n <= ROUNDS; n++) {
        ship_id *id = &ids[random_next(&random) % LIVE];
        const ship object = {n, ~n, n * n};

        if (!ship_id_is_nil(*id)) {
            const ship *found = ship_resolve(worker.view, *id);

            must(found != NULL && found->b == ~found->a && found->c == found->a * found->a);
            must(ship_free(worker, *id) == HAFT_OK);
            must(ship_free(worker, *id) == HAFT_STALE);
            must(ship_resolve(worker.view, *id) == NULL);
            *id = ship_id_nil();
            live--;
            frees++;
        } else {
            must(ship_insert(worker, &object, id) == HAFT_OK);
            must(memcmp(ship_resolve(worker.view, *id), &object, sizeof object) == 0);
            live++;
        }
        must(n % 1000 != 0 || haft_worker_quiescent(worker.worker) == HAFT_OK);
    }
    const haft_table_stats stats = stats_of(shared.table);

    cr_expect(eq(u64, stats.live, live));
    cr_expect(eq(u64, stats.freed, frees));
    cr_expect(eq(u64, stats.created, frees + live));
    cr_expect(eq(u64, stats.refused_frees, frees));
    close_shared(&shared); /* takes the census */
}

Test(front, without_an_object_inserts_zeros)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    const ship_worker worker = in_place(&shared);
    const ship zeros = {0, 0, 0}, ones = {1, 1, 1};
    ship_id id;

    for (int n = 0; n < 2000; n++) {
        must(ship_insert(worker, n % 2 == 0 ? &ones : NULL, &id) == HAFT_OK);
        must(memcmp(ship_resolve(worker.view, id), n % 2 == 0 ? &ones : &zeros, sizeof ones) == 0);
        must(ship_free(worker, id) == HAFT_OK);
    }
}

/* Lives of three: each slot is exhausted, and its ids stay stale.  By chance, so that batches have
 * slots of all lives. */
Test(front, leaves_the_last_life_to_the_call)
{
    enum { LIVE = 300 };
    haft_table_options few = options;

    few.layout = (haft_layout){16, 2, 8, 0};
    few.tag = 0x5a;
    few.capacity = 2000;
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &few);
    const ship_worker worker = in_place(&shared);
    const ship object = {1, 2, 3};
    ship_id ids[LIVE] = {0};
    haft_status status = HAFT_OK; /* of the last insertion, if no free came after it */
    uint64_t random = 1, lives = 0, live = 0;

    while (status != HAFT_FULL || live != 0) {
        ship_id *id = &ids[random_next(&random) % LIVE];

        if (!ship_id_is_nil(*id)) {
            must(ship_free(worker, *id) == HAFT_OK);
            must(ship_free(worker, *id) != HAFT_OK);
            *id = ship_id_nil();
            status = HAFT_OK;
            live--;
        } else if ((status = ship_insert(worker, &object, id)) == HAFT_OK) {
            must(id->id.bits >> 18 == few.tag);
            lives++;
            live++;
        } else {
            must(haft_worker_quiescent(worker.worker) == HAFT_OK);
        }
    }
    settle(worker.worker);
    cr_expect(eq(u64, lives, 3 * stats_of(shared.table).limit));
    cr_expect(eq(u64, stats_of(shared.table).exhausted, stats_of(shared.table).limit));
}

Test(front, of_another_version_is_refused)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    ship_worker typed = {0};

    shared.worker->version++;
    expect_status(ship_worker_adopt(shared.worker, &typed), HAFT_WRONG_TYPE);
    cr_expect(eq(ptr, typed.worker, NULL));
    shared.worker->version--;
    expect_status(ship_worker_adopt(shared.worker, &typed), HAFT_OK);
}

/* --- two threads free the same ids --- */

struct raced {
    struct shared shared;
    ship_id ids[1000];
    pthread_barrier_t start;
    _Atomic(uint64_t) wins;
};

static void *free_all(void *arg)
{
    struct raced *raced = arg;
    struct shared own = raced->shared;

    own.worker = open_worker(own.table);
    const ship_worker worker = in_place(&own);

    pthread_barrier_wait(&raced->start);
    for (int n = 0; n < 1000; n++) {
        atomic_fetch_add(&raced->wins, ship_free(worker, raced->ids[n]) == HAFT_OK);
    }
    must(haft_worker_close(own.worker) == HAFT_OK);
    return NULL;
}

Test(front, of_two_frees_one_succeeds)
{
    struct raced raced = {.shared = open_shared(MEMB_CALLER, &options)};
    const ship_worker worker = in_place(&raced.shared);
    const ship object = {1, 2, 3};

    pthread_barrier_init(&raced.start, NULL, 2);
    for (int round = 0; round < 20; round++) {
        pthread_t threads[2];

        atomic_store(&raced.wins, 0);
        for (int n = 0; n < 1000; n++) {
            must(ship_insert(worker, &object, &raced.ids[n]) == HAFT_OK);
        }
        for (int n = 0; n < 2; n++) {
            must(pthread_create(&threads[n], NULL, free_all, &raced) == 0);
        }
        for (int n = 0; n < 2; n++) {
            pthread_join(threads[n], NULL);
        }
        must(atomic_load(&raced.wins) == 1000);
    }
    close_shared(&raced.shared);
}
