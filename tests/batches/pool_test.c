/* White-box: batch descriptors, and moving slots between batches. */
#include "concurrent/batches/pool.h"
#include "concurrent/batches/tagged.h"
#include "tests/support.h"
#include <stdlib.h>
#include <string.h>

#define TABLE 20 /* descriptors that the table brings */

static struct pool pool;
static haft_allocator heap;

static void open_pool(void)
{
    heap = heap_of(NULL);
    assert_status(pool_open(&pool, TABLE, &heap), HAFT_OK);
    assert_status(pool_commit(&pool, TABLE), HAFT_OK);
}

static void close_pool(void)
{
    pool_close(&pool);
}

TestSuite(pool, .timeout = SUITE_SECONDS, .init = open_pool, .fini = close_pool);
TestSuite(batch_move, .timeout = SUITE_SECONDS);

static void expect_empty(const struct batch *batch)
{
    must(batch->count == 0 && !batch->has_last_lives);
    must(pool_batch(&pool, batch->number) == batch);
}

Test(pool, gives_each_of_its_descriptors_once)
{
    bool met[TABLE] = {false};

    for (int i = 0; i < TABLE; i++) {
        struct batch *batch = pool_take(&pool, NULL);

        expect_empty(batch);
        cr_assert(lt(u64, batch->number, TABLE));
        cr_expect(not(met[batch->number]));
        met[batch->number] = true;
    }
}

Test(pool, gives_again_what_came_back)
{
    struct batch *batches[TABLE];

    for (int i = 0; i < TABLE; i++) {
        batches[i] = pool_take(&pool, NULL);
    }
    for (int n = 0; n < 10000; n++) {
        struct batch *batch = batches[n * 7 % TABLE];

        batch->has_last_lives = true;
        pool_give(&pool, batch);
        must(pool_take(&pool, NULL) == batch);
        expect_empty(batch);
    }
}

/* An allocator whose blocks are of any contents. */
static void *take_soiled(void *context, size_t size, size_t alignment)
{
    void *memory = heap_take(context, size, alignment);

    memset(memory, 0xee, size);
    return memory;
}

Test(pool, a_segment_adds_its_descriptors_in_memory_of_any_contents)
{
    haft_allocator malloc_heap = heap_of(NULL);
    static bool met[TABLE + 3 * SEGMENT_BATCHES];

    heap.alloc = take_soiled;
    heap.context = &malloc_heap;
    for (int i = 0; i < 3; i++) {
        cr_assert(ne(ptr, pool_grow(&pool), NULL));
    }
    for (int i = 0; i < TABLE + 3 * SEGMENT_BATCHES; i++) {
        struct batch *batch = pool_take(&pool, NULL);

        expect_empty(batch);
        must(batch->number < TABLE + 3 * SEGMENT_BATCHES && !met[batch->number]);
        met[batch->number] = true;
    }
    heap = malloc_heap;
}

Test(pool, a_segment_beyond_the_most_is_refused)
{
    store_relaxed(OWN, &pool.segments, MOST_SEGMENTS);
    cr_expect(eq(ptr, pool_grow(&pool), NULL));
    cr_expect(eq(u64, load_relaxed(OWN, &pool.segments), MOST_SEGMENTS));
    store_relaxed(OWN, &pool.segments, 0);
}

#define SEGMENTS 60 /* in three parts of the directory */

Test(pool, finds_the_descriptors_of_each_segment)
{
    struct segment *segments[SEGMENTS];

    for (uint64_t i = 0; i < SEGMENTS; i++) {
        segments[i] = pool_grow(&pool);
        must(segments[i] != NULL && segments[i]->place == i);
    }
    for (uint64_t i = 0; i < SEGMENTS; i++) {
        const uint64_t first = TABLE + i * SEGMENT_BATCHES;

        must(pool_batch(&pool, first) == segments[i]->batches);
        must(pool_batch(&pool, first + SEGMENT_BATCHES - 1) ==
             &segments[i]->batches[SEGMENT_BATCHES - 1]);
    }
}

Test(pool, a_workers_own_unused_descriptors_come_first)
{
    struct batch *given = pool_take(&pool, NULL);
    struct segment *segment = pool_grow(&pool);

    cr_assert(ne(ptr, segment, NULL));
    pool_give(&pool, given);
    for (int i = 0; i < SEGMENT_BATCHES; i++) {
        struct batch *batch = pool_take(&pool, segment);

        cr_expect(batch >= segment->batches && batch < segment->batches + SEGMENT_BATCHES);
    }
    cr_expect(eq(ptr, pool_take(&pool, segment), given)); /* then the batch given back */
    cr_expect(lt(u64, pool_take(&pool, segment)->number, TABLE));
}

Test(pool, a_tagged_number_keeps_its_number_and_changes_its_tag)
{
    uint64_t tagged = NUMBER_NONE;

    for (uint64_t n = 0; n < 1000; n++) {
        const uint64_t next = tagged_next(tagged, n);

        must(tagged_number(next) == n);
        must(next >> NUMBER_BITS == (tagged >> NUMBER_BITS) + 1);
        tagged = next;
    }
    cr_expect(eq(u64, tagged_number(tagged_next(UINT64_MAX, 7)), 7));
    cr_expect(eq(u64, tagged_number(tagged_next(0, NUMBER_NONE)), NUMBER_NONE));
}

/* --- moving --- */

static struct batch batch_of(uint32_t first, uint32_t count, uint64_t ticket)
{
    struct batch batch = {.count = count, .ticket = ticket};

    for (uint32_t i = 0; i < count; i++) {
        batch.indices[i] = first + i;
    }
    return batch;
}

/* All sizes of both: every slot is in one of them, once; the sums stay. */
Test(batch_move, keeps_all_slots)
{
    for (uint32_t a = 0; a <= BATCH_SLOTS; a++) {
        for (uint32_t b = 0; b <= BATCH_SLOTS; b++) {
            struct batch to = batch_of(1000, a, 3);
            struct batch from = batch_of(2000, b, 7);
            uint32_t met = 0;

            batch_move(&to, &from, BATCH_SLOTS);
            must(to.count + from.count == a + b);
            must(to.count == (a + b < BATCH_SLOTS ? a + b : BATCH_SLOTS));
            for (uint32_t i = 0; i < to.count; i++) {
                met += to.indices[i] >= 2000;
            }
            must(met == to.count - a);
            for (uint32_t i = 0; i < from.count; i++) {
                must(from.indices[i] == 2000 + i);
            }
        }
    }
}

Test(batch_move, fills_up_to_the_most_that_is_asked_for)
{
    struct batch to = batch_of(1000, 3, 0);
    struct batch from = batch_of(2000, 50, 0);

    batch_move(&to, &from, 10);
    cr_expect(eq(u32, to.count, 10));
    cr_expect(eq(u32, from.count, 43));
}

Test(batch_move, the_later_ticket_stands_for_both)
{
    struct batch to = batch_of(1000, 3, 5);
    struct batch early = batch_of(2000, 3, 4);
    struct batch late = batch_of(3000, 3, 6);

    batch_move(&to, &early, BATCH_SLOTS);
    cr_expect(eq(u64, to.ticket, 5));
    batch_move(&to, &late, BATCH_SLOTS);
    cr_expect(eq(u64, to.ticket, 6));
}

Test(batch_move, last_lives_are_remembered)
{
    struct batch to = batch_of(1000, 3, 0);
    struct batch from = batch_of(2000, 3, 0);

    batch_move(&to, &from, BATCH_SLOTS);
    cr_expect(not(to.has_last_lives));
    from = batch_of(3000, 3, 0);
    from.has_last_lives = true;
    batch_move(&to, &from, BATCH_SLOTS);
    cr_expect(to.has_last_lives);
    from = batch_of(4000, 3, 0);
    batch_move(&to, &from, BATCH_SLOTS);
    cr_expect(to.has_last_lives);
}
