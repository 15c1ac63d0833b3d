/* haft_allocator_block(), and what is opened in one. */
#include "tests/support.h"
#include <haft/diagnose.h>
#include <haft/memory.h>
#include <haft/share.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

TestSuite(block, .timeout = SUITE_SECONDS);

#define OWN_BYTES 16 /* at the block's start */
#define FORGED 10000000
#define THREADS 4

/* --- parts --- */

static _Alignas(512) char memory[1024];

static void *take(const haft_allocator *from, size_t size, size_t alignment)
{
    return from->alloc(from->context, size, alignment);
}

Test(block, parts_lie_in_it_one_behind_the_other_as_they_are_aligned)
{
    const haft_allocator block = haft_allocator_block(memory, sizeof memory);

    cr_expect(eq(ptr, take(&block, 10, 1), memory + OWN_BYTES));
    cr_expect(eq(ptr, take(&block, 0, 1), memory + OWN_BYTES + 16));
    cr_expect(eq(ptr, take(&block, 0, 1), memory + OWN_BYTES + 32));
    cr_expect(eq(ptr, take(&block, 17, 64), memory + 64));
    cr_expect(eq(ptr, take(&block, 8, 1), memory + 96));
    cr_expect(eq(ptr, take(&block, 8, 512), memory + 512));
    cr_expect(zero(ptr, take(&block, 8, 0)));
    cr_expect(zero(ptr, take(&block, 8, 24)));
}

Test(block, has_room_for_all_bytes_behind_its_own_and_not_one_more)
{
    for (size_t from = 0; from < 32; from++) {
        memory[912] = 'x';
        const haft_allocator block = haft_allocator_block(memory + from, 912 + from % 16 - from);
        const size_t lead = (16 - from % 16) % 16;
        const size_t room = 912 - from - lead - OWN_BYTES;

        cr_expect(zero(ptr, take(&block, room + 1, 1)));
        cr_expect(zero(ptr, take(&block, SIZE_MAX, 1)));
        cr_expect(zero(ptr, take(&block, SIZE_MAX - 32, 64)));
        char *all = take(&block, room, 1);

        must(all == memory + from + lead + OWN_BYTES);
        memset(all, 'y', room);
        cr_expect(zero(ptr, take(&block, 0, 1)));
        cr_expect(eq(int, memory[912], 'x'));
    }
}

Test(block, of_an_alignment_that_leads_behind_its_end_gives_nothing)
{
    const haft_allocator block = haft_allocator_block(memory + 16, 256);

    cr_expect(zero(ptr, take(&block, 0, 512)));
    cr_expect(eq(ptr, take(&block, 240, 16), memory + 32)); /* all of it is there still */
}

/* Only the start of a block is written. */
Test(block, of_2_to_the_40_bytes_or_more_gives_those_below_and_no_more)
{
    if (SIZE_MAX >> 41 == 0) {
        cr_skip_test("there are not as many addresses");
    }
    const haft_allocator block = haft_allocator_block(memory, SIZE_MAX / 2);
    const size_t most = (SIZE_MAX >> 24) / 16 * 16 - OWN_BYTES;

    cr_expect(zero(ptr, take(&block, most + 1, 1)));
    cr_expect(eq(ptr, take(&block, most, 1), memory + OWN_BYTES));
    cr_expect(zero(ptr, take(&block, 0, 1)));
}

/* As many as its word counts.  No part is written, and the last one lies where there is memory. */
Test(block, of_2_to_the_24_parts_gives_no_more)
{
    const size_t size = OWN_BYTES + ((size_t)16 << 24);
    char *large = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    must(large != MAP_FAILED);
    const haft_allocator block = haft_allocator_block(large, size);

    for (int i = 1; i < 1 << 24; i++) {
        must(take(&block, 1, 1) != NULL);
    }
    cr_expect(zero(ptr, take(&block, 1, 1)));
    block.free(block.context, large + size - 32, 1);
    cr_expect(eq(ptr, take(&block, 1, 1), large + size - 32));
    munmap(large, size);
}

Test(block, of_less_than_its_own_bytes_gives_nothing_and_is_not_touched)
{
    memset(memory, 'x', sizeof memory);
    for (size_t size = 0; size < OWN_BYTES; size++) {
        const haft_allocator block = haft_allocator_block(memory, size);

        cr_expect(zero(ptr, take(&block, 0, 1)));
        block.free(block.context, NULL, 0);
        cr_expect(zero(ptr, block.resize(block.context, NULL, 0, 1, 1)));
    }
    const haft_allocator none = haft_allocator_block(NULL, 0);

    cr_expect(zero(ptr, take(&none, 0, 1)));
    cr_expect(
        zero(ptr, take((const haft_allocator[]){haft_allocator_block(memory + 1, 30)}, 0, 1)));
    cr_expect(eq(int, memory[0], 'x'));
}

Test(block, what_is_freed_last_is_free_again_and_all_else_when_all_is)
{
    const haft_allocator block = haft_allocator_block(memory, sizeof memory);
    char *first = take(&block, 100, 8);
    char *second = take(&block, 100, 8);
    char *third = take(&block, 0, 8);

    block.free(block.context, third, 0);
    block.free(block.context, second, 100);
    cr_expect(eq(ptr, take(&block, 100, 8), second));
    block.free(block.context, first, 100);
    cr_expect(lt(ptr, second, take(&block, 0, 8)));
    block.free(block.context, second, 100);
    block.free(block.context, second + 112, 0);
    cr_expect(eq(ptr, take(&block, 500, 8), first));
}

Test(block, resize_moves_the_bytes_that_both_have)
{
    const haft_allocator block = haft_allocator_block(memory, sizeof memory);
    char *small = block.resize(block.context, NULL, 0, 4, 1);

    memcpy(small, "abcd", 4);
    char *large = block.resize(block.context, small, 4, 100, 32);

    must(large != NULL && (uintptr_t)large % 32 == 0);
    cr_expect(zero(int, memcmp(large, "abcd", 4)));
    char *less = block.resize(block.context, large, 100, 2, 1);

    cr_expect(zero(int, memcmp(less, "ab", 2)));
    cr_expect(zero(ptr, block.resize(block.context, less, 2, 2000, 1)));
    cr_expect(zero(int, memcmp(less, "ab", 2)));
    block.free(block.context, less, 2);
    cr_expect(eq(ptr, take(&block, 1, 1), small)); /* none is left */
}

static void *take_and_free(void *arg)
{
    const haft_allocator *block = arg;
    const char own = (char)(uintptr_t)&own;

    for (int round = 0; round < 20000; round++) {
        const size_t size = 1 + (size_t)round % 40;
        char *part = take(block, size, 8);

        if (part != NULL) {
            memset(part, own, size);
            for (size_t i = 0; i < size; i++) {
                must(part[i] == own);
            }
            block->free(block->context, part, size);
        }
    }
    return NULL;
}

Test(block, serves_threads_at_once)
{
    haft_allocator block = haft_allocator_block(memory, sizeof memory);
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        must(pthread_create(&threads[i], NULL, take_and_free, &block) == 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    cr_expect(eq(ptr, take(&block, 1000, 8), memory + OWN_BYTES)); /* all was given back */
}

/* --- tables and domains --- */

static const haft_table_options options = {.name = "tight", .capacity = 1000, .object_size = 24};

/* A block that ends where a page does that may not be touched, with a domain and a table in it. */
struct tight {
    char *pages;
    size_t size;
    haft_allocator block;
    haft_domain *domain;
    haft_table *table;
};

static struct tight open_tight(haft_clock clock, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct tight tight = {.size = (bytes + page - 1) / page * page + 2 * page};
    haft_domain_options domain = {.clock = clock, .allocator = &tight.block};
    haft_table_options table = options;

    tight.pages = mmap(NULL, tight.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(tight.pages != MAP_FAILED);
    char *first = tight.pages + page;

    must(mprotect(first, tight.size - 2 * page, PROT_READ | PROT_WRITE) == 0);
    memset(first, 0xff, tight.size - 2 * page);
    tight.block = haft_allocator_block(first, tight.size - 2 * page);
    table.allocator = &tight.block;
    assert_status(haft_domain_open(&domain, &tight.domain), HAFT_OK);
    assert_status(haft_table_open(tight.domain, &table, &tight.table), HAFT_OK);
    must((char *)tight.domain >= first && (char *)tight.table > (char *)tight.domain);
    must((char *)tight.table < tight.pages + tight.size - page);
    return tight;
}

/* All has been given back: the block has room for as much as in the beginning. */
static void close_tight(struct tight *tight)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t room = tight->size - 2 * page - OWN_BYTES;

    expect_status(haft_domain_close(tight->domain), HAFT_OK);
    char *all = take(&tight->block, room, 1);

    must(all == tight->pages + page + OWN_BYTES);
    memset(all, 0xa5, room); /* poisoned no more */
    munmap(tight->pages, tight->size);
    expect_no_leaks();
}

static void tick_if_frames(haft_domain *domain)
{
    const haft_status status = haft_domain_tick(domain);

    must(status == HAFT_OK || status == HAFT_WRONG_CLOCK);
}

/* Each slot is used by two workers in turn, some by way of the depots. */
static void churn(struct tight *in)
{
    haft_worker *first = open_worker(in->table);
    haft_worker *second = open_worker(in->table);
    static haft_id ids[1000];

    for (int round = 0; round < 20; round++) {
        uint64_t count = 0;

        while (count < 1000) {
            const haft_status status =
                haft_insert(count % 2 == 0 ? first : second, NULL, &ids[count]);

            must(status == HAFT_OK || status == HAFT_BUSY);
            count += status == HAFT_OK;
            if (status == HAFT_BUSY) {
                must(haft_worker_quiescent(first) == HAFT_OK);
                must(haft_worker_quiescent(second) == HAFT_OK);
                tick_if_frames(in->domain);
            }
        }
        for (int i = 0; i < 1000; i++) {
            must(haft_free(i % 3 == 0 ? first : second, ids[i]) == HAFT_OK);
        }
        must(haft_worker_flush(first) == HAFT_OK && haft_worker_flush(second) == HAFT_OK);
        tick_if_frames(in->domain);
    }
    must(haft_worker_close(first) == HAFT_OK && haft_worker_close(second) == HAFT_OK);
}

Test(block, is_all_that_a_table_in_it_touches_whatever_id_comes_in)
{
    static const haft_clock clocks[] = {HAFT_CLOCK_WORKERS, HAFT_CLOCK_FRAME};

    for (int i = 0; i < 2; i++) {
        AT_END(close_tight) struct tight in = open_tight(clocks[i], 1 << 20);
        uint64_t seed = 11;
        const haft_view view = haft_table_view(in.table);
        haft_worker *worker = open_worker(in.table);

        for (uint64_t n = 0; n < FORGED; n++) {
            const haft_id id = {n % 2 == 0 ? random_next(&seed) : ~(n >> 1)};

            must(haft_resolve(view, id) == NULL && !haft_is_live(view, id));
            must(n % 100 != 0 || haft_free(worker, id) != HAFT_OK);
        }
        must(haft_worker_close(worker) == HAFT_OK);
        churn(&in);
        uint64_t released = 1;

        must(haft_trim(in.table, &released) == HAFT_OK && released == 0);
        expect_status(haft_table_close(in.table), HAFT_OK);
    }
}

Test(block, that_has_no_more_gives_no_worker_and_the_table_goes_on)
{
    AT_END(close_tight) struct tight in = open_tight(HAFT_CLOCK_WORKERS, 1 << 20);
    haft_worker *workers[1000];
    int count = 0;
    haft_id id;

    while (haft_worker_open(in.table, &workers[count]) == HAFT_OK) {
        must(haft_insert(workers[count], NULL, &id) == HAFT_OK);
        count++;
    }
    must(count > 1);
    expect_status(haft_worker_open(in.table, &workers[count]), HAFT_NO_MEMORY);
    must(haft_worker_close(workers[0]) == HAFT_OK);
    expect_status(haft_worker_open(in.table, &workers[0]), HAFT_OK); /* the same memory */
    for (int i = 0; i < count; i++) {
        must(haft_worker_close(workers[i]) == HAFT_OK);
    }
    expect_status(haft_table_close(in.table), HAFT_OK);
}

/* The block has no more. */
static void take_rest(const struct tight *in)
{
    for (size_t size = in->size; size != 0; size /= 2) {
        while (take(&in->block, size, 1) != NULL) {
        }
    }
}

static void close_full(struct tight *in)
{
    expect_status(haft_table_close(in->table), HAFT_OK);
    expect_status(haft_domain_close(in->domain), HAFT_OK);
    munmap(in->pages, in->size);
}

Test(block, is_closed_though_full)
{
    AT_END(close_full) struct tight in = open_tight(HAFT_CLOCK_WORKERS, 1 << 20);
    AT_END(worker_end) haft_worker *worker = NULL;
    haft_id id;

    must(haft_worker_open(in.table, &worker) == HAFT_OK);
    must(haft_insert(worker, NULL, &id) == HAFT_OK && haft_free(worker, id) == HAFT_OK);
    must(haft_insert(worker, NULL, &id) == HAFT_OK);
    take_rest(&in);
}

struct beside {
    haft_table *table;
    pthread_barrier_t step;
};

static void *open_in_a_forgotten_job(void *arg)
{
    struct beside *beside = arg;
    haft_domain *domain = haft_table_info(beside->table).domain;
    const haft_job_state job = haft_job_begin(domain); /* the other thread is the only one */
    haft_worker *worker;

    pthread_barrier_wait(&beside->step);
    pthread_barrier_wait(&beside->step); /* it has left */
    expect_status(haft_worker_open(beside->table, &worker), HAFT_NO_MEMORY);
    haft_job_end(domain, job);
    return NULL;
}

Test(block, a_thread_that_is_refused_a_worker_inside_a_job_counts_no_longer)
{
    AT_END(close_full) struct tight in = open_tight(HAFT_CLOCK_WORKERS, 1 << 20);
    struct beside beside = {.table = in.table};
    AT_END(worker_end) haft_worker *worker = open_worker(in.table);
    pthread_t thread;

    take_rest(&in);
    must(pthread_barrier_init(&beside.step, NULL, 2) == 0);
    must(pthread_create(&thread, NULL, open_in_a_forgotten_job, &beside) == 0);
    pthread_barrier_wait(&beside.step);
    must(haft_worker_close(worker) == HAFT_OK);
    pthread_barrier_wait(&beside.step);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&beside.step);
    assert_status(haft_worker_open(in.table, &worker), HAFT_OK);
}

Test(block, has_the_local_table_that_a_shared_one_in_it_becomes)
{
    AT_END(close_tight) struct tight in = open_tight(HAFT_CLOCK_WORKERS, 1 << 20);
    AT_END(local_end) haft_local *local = NULL;
    haft_worker *worker;
    haft_id id;

    churn(&in);
    worker = open_worker(in.table);
    must(haft_insert(worker, NULL, &id) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    assert_status(haft_unshare(in.table, &local), HAFT_OK);
    cr_expect(eq(ptr, local, in.table));
    cr_expect(eq(str, (char *)haft_local_info(local).name, "tight"));
    cr_expect(haft_is_live(haft_local_view(local), id));
    expect_status(haft_local_free(local, id), HAFT_OK);
    expect_status(haft_local_insert(local, NULL, &id), HAFT_OK);
}

Test(block, has_allocation_sites_and_aligned_objects_too)
{
    static _Alignas(64) char large[1 << 20];
    const haft_allocator block = haft_allocator_block(large, sizeof large);
    const haft_local_options in = {.capacity = 2000,
                                   .object_size = 64,
                                   .object_alignment = 256,
                                   .sites = true,
                                   .allocator = &block};
    haft_local *local = local_open(&in);
    haft_id id;

    assert_status(haft_local_insert(local, NULL, &id), HAFT_OK);
    char *object = haft_resolve(haft_local_view(local), id);

    cr_expect(zero(u64, (uintptr_t)object % 256));
    must(object > large && object < large + sizeof large);
    expect_status(haft_local_free(local, id), HAFT_OK);
    haft_local_close(local);
    cr_expect(eq(ptr, take(&block, sizeof large - OWN_BYTES, 1), large + OWN_BYTES));
}
