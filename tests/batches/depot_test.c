/* White-box: the depot, a queue of batches that anyone may take from. */
#include "concurrent/batches/depot.h"
#include "tests/support.h"

#define BATCHES 300

static struct pool pool;
static haft_allocator heap;
static struct depot depot;

static void open_depot(void)
{
    heap = heap_of(NULL);
    assert_status(pool_open(&pool, BATCHES + 1, &heap), HAFT_OK);
    assert_status(pool_commit(&pool, BATCHES + 1), HAFT_OK);
    depot_open(&depot, &pool);
}

static void close_depot(void)
{
    pool_close(&pool);
}

TestSuite(depot, .timeout = SUITE_SECONDS, .init = open_depot, .fini = close_depot);

static struct batch *with_ticket(uint64_t ticket)
{
    struct batch *batch = pool_take(&pool, NULL);

    store_relaxed(OWN, &batch->ticket, ticket);
    return batch;
}

Test(depot, an_empty_one_gives_nothing)
{
    cr_expect(eq(ptr, depot_take(&depot, &pool, UINT64_MAX), NULL));
    depot_push(&depot, &pool, with_ticket(0));
    cr_expect(ne(ptr, depot_take(&depot, &pool, UINT64_MAX), NULL));
    cr_expect(eq(ptr, depot_take(&depot, &pool, UINT64_MAX), NULL));
}

Test(depot, gives_batches_in_the_order_they_came)
{
    struct batch *batches[BATCHES];

    for (int i = 0; i < BATCHES; i++) {
        batches[i] = with_ticket((uint64_t)i);
        depot_push(&depot, &pool, batches[i]);
    }
    for (int i = 0; i < BATCHES; i++) {
        cr_expect(eq(ptr, depot_take(&depot, &pool, BATCHES), batches[i]));
    }
    cr_expect(eq(ptr, depot_take(&depot, &pool, UINT64_MAX), NULL));
}

Test(depot, the_oldest_is_not_given_before_its_ticket_is_done)
{
    struct batch *first = with_ticket(5);
    struct batch *second = with_ticket(2);

    depot_push(&depot, &pool, first);
    depot_push(&depot, &pool, second);
    cr_expect(eq(ptr, depot_take(&depot, &pool, 4), NULL));
    cr_expect(eq(ptr, depot_take(&depot, &pool, 5), first));
    cr_expect(eq(ptr, depot_take(&depot, &pool, 1), NULL));
    cr_expect(eq(ptr, depot_take(&depot, &pool, 2), second));
}

/* Batches leave with another node than they came with: no two ever share one. */
Test(depot, no_two_batches_ever_have_the_same_node)
{
    struct batch *outside[BATCHES];
    int count = BATCHES;
    uint64_t seed = 71;

    for (int i = 0; i < BATCHES; i++) {
        outside[i] = with_ticket(0);
    }
    for (int n = 0; n < 20000; n++) {
        if (count != 0 && random_next(&seed) >> 40 & 1) {
            depot_push(&depot, &pool, outside[--count]);
        } else {
            struct batch *taken = depot_take(&depot, &pool, 0);

            must((taken != NULL) == (count != BATCHES));
            for (int i = 0; taken != NULL && i < count; i++) {
                must(outside[i] != taken && outside[i]->node != taken->node);
            }
            if (taken != NULL) {
                outside[count++] = taken;
            }
        }
    }
}

/* --- several threads: ownership stamps prove that none has two owners --- */

#define THREADS 3

struct owner {
    pthread_t thread;
    uint64_t seed;
    bool failed;
};

static atomic_u64 stamps[BATCHES + 1];

static void *exchange(void *arg)
{
    struct owner *owner = arg;

    for (int n = 0; n < 100000; n++) {
        struct batch *batch = depot_take(&depot, &pool, 0);

        if (batch != NULL) {
            owner->failed = owner->failed || !cas_acquire(NONE, &stamps[batch->number], 0, 1);
            owner->failed = owner->failed || !cas_release(NONE, &stamps[batch->number], 1, 0);
            depot_push(&depot, &pool, batch);
        }
    }
    return NULL;
}

Test(depot, three_threads_exchange_few_batches_and_none_ever_has_two_owners)
{
    struct owner owners[THREADS];
    int count = 0;

    for (int i = 0; i < 4; i++) {
        depot_push(&depot, &pool, with_ticket(0));
    }
    for (int i = 0; i < THREADS; i++) {
        owners[i] = (struct owner){.failed = false};
        must(pthread_create(&owners[i].thread, NULL, exchange, &owners[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(owners[i].thread, NULL);
        cr_expect(not(owners[i].failed));
    }
    while (depot_take(&depot, &pool, 0) != NULL) {
        count++;
    }
    cr_expect(eq(int, count, 4));
}
