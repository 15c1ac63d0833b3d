/* White-box: a worker's ring of closed batches, and its bounds. */
#include "concurrent/batches/ring.h"
#include "tests/support.h"

static struct pool pool;
static haft_allocator heap;
static struct ring ring;

static void open_pool(void)
{
    heap = heap_of(NULL);
    assert_status(pool_open(&pool, 300, &heap), HAFT_OK);
    assert_status(pool_commit(&pool, 300), HAFT_OK);
}

static void close_pool(void)
{
    pool_close(&pool);
}

TestSuite(ring, .timeout = SUITE_SECONDS, .init = open_pool, .fini = close_pool);

static struct batch *with_ticket(uint64_t ticket)
{
    struct batch *batch = pool_take(&pool, NULL);

    store_relaxed(OWN, &batch->ticket, ticket);
    return batch;
}

Test(ring, an_empty_one_gives_nothing)
{
    cr_expect(eq(ptr, ring_take(&ring, &pool, UINT64_MAX), NULL));
}

Test(ring, gives_batches_in_the_order_they_came)
{
    struct batch *batches[RING_BATCHES];

    for (int i = 0; i < RING_BATCHES; i++) {
        batches[i] = with_ticket(0);
        cr_assert(ring_push(&ring, batches[i]));
    }
    for (int i = 0; i < RING_BATCHES; i++) {
        cr_expect(eq(ptr, ring_take(&ring, &pool, 0), batches[i]));
    }
    cr_expect(eq(ptr, ring_take(&ring, &pool, UINT64_MAX), NULL));
}

Test(ring, a_full_one_refuses_and_has_room_again_after_a_take)
{
    struct batch *batch = with_ticket(0);

    for (int i = 0; i < RING_BATCHES; i++) {
        cr_assert(ring_push(&ring, with_ticket(0)));
    }
    cr_expect(not(ring_push(&ring, batch)));
    cr_expect(not(ring_push(&ring, batch)));
    cr_expect(ne(ptr, ring_take(&ring, &pool, 0), NULL));
    cr_expect(ring_push(&ring, batch));
    cr_expect(not(ring_push(&ring, with_ticket(0))));
}

Test(ring, the_oldest_is_not_given_before_its_ticket_is_done)
{
    struct batch *first = with_ticket(5);
    struct batch *second = with_ticket(2);

    ring_push(&ring, first);
    ring_push(&ring, second);
    cr_expect(eq(ptr, ring_take(&ring, &pool, 4), NULL));
    cr_expect(eq(ptr, ring_take(&ring, &pool, 5), first));
    cr_expect(eq(ptr, ring_take(&ring, &pool, 1), NULL));
    cr_expect(eq(ptr, ring_take(&ring, &pool, 2), second));
}

Test(ring, goes_round_many_times)
{
    struct batch *batches[3] = {with_ticket(0), with_ticket(0), with_ticket(0)};

    for (int n = 0; n < 100000; n++) {
        must(ring_push(&ring, batches[n % 3]));
        if (n >= 2) {
            must(ring_take(&ring, &pool, 0) == batches[(n - 2) % 3]);
        }
    }
}
