/* The option `allocator` of tables, packed tables, domains and histories. */
#include "concurrent/table/open.h"
#include "tests/base/counted.h"
#include "tests/slots/saving.h"
#include <haft/kit/side.h>
#include <haft/memory.h>
#include <haft/share.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

TestSuite(allocator, .timeout = SUITE_SECONDS);

#define OBJECTS 100

/* A table with all that can be opened for it: how far it came. */
typedef haft_status life(const haft_allocator *allocator);

static haft_status live_in_local(const haft_allocator *allocator)
{
    const haft_local_options options = {
        .capacity = OBJECTS, .object_size = 24, .allocator = allocator, .name = "theirs"};
    haft_local *local;
    haft_local *clone;
    haft_side *side;
    haft_id id;
    haft_status status = haft_local_open(&options, &local);

    if (status != HAFT_OK) {
        return status;
    }
    must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    status = haft_side_open_local(local, &(haft_side_options){.value_size = 16}, &side);
    if (status == HAFT_OK) {
        must(haft_side_set(side, id, NULL, NULL) == HAFT_OK);
        haft_side_close(side);
        status = haft_local_clone(local, &clone);
    }
    if (status == HAFT_OK) {
        haft_local_close(clone);
    }
    haft_local_close(local);
    return status;
}

static haft_status live_in_packed(const haft_allocator *allocator)
{
    const haft_packed_options options = {
        .capacity = OBJECTS, .object_size = 24, .object_alignment = 8, .allocator = allocator};
    haft_packed *packed;
    haft_packed *clone;
    haft_id id;
    haft_status status = haft_packed_open(&options, &packed);

    if (status != HAFT_OK) {
        return status;
    }
    must(haft_packed_insert(packed, NULL, &id) == HAFT_OK);
    status = haft_packed_clone(packed, &clone);
    if (status == HAFT_OK) {
        haft_packed_close(clone);
    }
    haft_packed_close(packed);
    return status;
}

static haft_status live_in_table(haft_domain *domain, const haft_allocator *allocator)
{
    const haft_table_options options = {
        .capacity = OBJECTS, .object_size = 24, .allocator = allocator};
    haft_table *table;
    haft_worker *worker;
    haft_local *local;
    haft_id id;
    haft_status status = haft_table_open(domain, &options, &table);

    if (status != HAFT_OK) {
        return status;
    }
    status = haft_worker_open(table, &worker);
    if (status == HAFT_OK) {
        must(haft_insert(worker, NULL, &id) == HAFT_OK && haft_free(worker, id) == HAFT_OK);
        assert_status(haft_worker_close(worker), HAFT_OK);
        status = haft_unshare(table, &local);
    }
    if (status == HAFT_OK) {
        haft_local_close(local);
    } else {
        assert_status(haft_table_close(table), HAFT_OK);
    }
    return status;
}

static haft_status live_in_domain(const haft_allocator *allocator)
{
    haft_domain *domain;
    haft_status status = haft_domain_open(&(haft_domain_options){.allocator = allocator}, &domain);

    if (status == HAFT_OK) {
        status = live_in_table(domain, allocator);
        assert_status(haft_domain_close(domain), HAFT_OK);
    }
    return status;
}

/* A local table becomes a shared one, and a local one again. */
static haft_status live_in_both(const haft_allocator *allocator)
{
    haft_domain *domain;
    haft_local *local;
    haft_local *back;
    haft_table *table;
    const haft_local_options options = {
        .capacity = OBJECTS, .object_size = 24, .allocator = allocator, .will_share = true};
    haft_status status = haft_local_open(&options, &local);

    if (status != HAFT_OK) {
        return status;
    }
    must(haft_domain_open(NULL, &domain) == HAFT_OK);
    status = haft_share(local, domain, NULL, &table);
    if (status == HAFT_OK) {
        assert_status(haft_unshare(table, &back), HAFT_OK); /* takes no memory */
        local = back;
    }
    haft_local_close(local);
    assert_status(haft_domain_close(domain), HAFT_OK);
    return status;
}

static haft_status live_with_history(const haft_allocator *allocator)
{
    haft_local *local;
    haft_history *history;
    haft_id id;
    haft_status status =
        haft_history_open(&(haft_history_options){.keep = 2, .allocator = allocator}, &history);

    if (status != HAFT_OK) {
        return status;
    }
    must(haft_local_open(&(haft_local_options){.capacity = OBJECTS, .object_size = 24}, &local) ==
         HAFT_OK);
    for (int i = 0; i < 4 && status == HAFT_OK; i++) {
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
        status = haft_local_snapshot(local, history, NULL);
    }
    haft_local_close(local);
    haft_history_close(history);
    return status;
}

/* An object is converted in memory that the table asks for. */
static void convert(void *to, const void *from, void *arg)
{
    memcpy(to, from, 8);
}

/* Save a table, and load it again. */
static haft_status live_in_file(int kind, const haft_allocator *allocator)
{
    const haft_table_options options = {
        .capacity = OBJECTS, .object_size = 24, .allocator = allocator};
    struct bytes bytes = {.at = NULL};
    haft_file file = file_of(&bytes);
    struct subject subject;
    haft_id id;
    haft_status status = subject_try_open(kind, &options, &subject);

    if (status != HAFT_OK) {
        return status;
    }
    must(subject_insert(&subject, NULL, &id) == HAFT_OK);
    file.convert = convert;
    file.converted_size = 8;
    status = save(&subject, &file);
    if (status == HAFT_OK) {
        status = load(&subject, &file);
    }
    free(bytes.at);
    subject_close(&subject);
    return status;
}

static haft_status live_in_local_file(const haft_allocator *allocator)
{
    return live_in_file(LOCAL, allocator);
}

static haft_status live_in_packed_file(const haft_allocator *allocator)
{
    return live_in_file(DENSE, allocator);
}

static life *const lives[] = {live_in_local,      live_in_packed,    live_in_domain,
                              live_in_both,       live_with_history, live_in_local_file,
                              live_in_packed_file};
#define LIVES (sizeof lives / sizeof lives[0])

Test(allocator, gets_back_as_many_bytes_as_it_gave)
{
    for (size_t i = 0; i < LIVES; i++) {
        struct counted counted = {.left = -1};
        const haft_allocator from = counted_allocator(&counted);

        assert_status(lives[i](&from), HAFT_OK);
        cr_expect(lt(int, 1, counted.calls));
        cr_expect(zero(sz, counted.held));
    }
    expect_no_leaks();
}

Test(allocator, that_refuses_any_of_its_calls_is_no_memory_and_loses_nothing)
{
    for (size_t i = 0; i < LIVES; i++) {
        haft_status status = HAFT_NO_MEMORY;

        for (int left = 0; status != HAFT_OK; left++) {
            struct counted counted = {.left = left};
            const haft_allocator from = counted_allocator(&counted);

            status = lives[i](&from);
            cr_expect(counted.left == 0 || status == HAFT_OK);
            cr_expect(zero(sz, counted.held));
            must(status == HAFT_OK || status == HAFT_NO_MEMORY);
        }
    }
    expect_no_leaks();
}

/* White-box, since the census of debug builds, which closing begins with, looks at each worker. */
Test(allocator, may_write_to_a_worker_that_it_gets_back)
{
    struct counted counted = {.left = -1};
    const haft_allocator from = counted_allocator(&counted);
    const haft_table_options options = {.capacity = OBJECTS, .allocator = &from};
    AT_END(domain_end) haft_domain *domain;
    haft_table *table;

    must(haft_domain_open(NULL, &domain) == HAFT_OK);
    assert_status(haft_table_open(domain, &options, &table), HAFT_OK);
    haft_worker_close(open_worker(table));
    table_stop(table);
    slots_close(&table->slots);
    table_free(table);
    cr_expect(zero(sz, counted.held));
}

/* --- that takes locks --- */

static haft_allocator heap_of_malloc;
static haft_table *refusing;
static haft_worker *inserter;
static haft_worker *other_worker;
static bool waits_for_other;

static void *open_and_close_domain(void *arg)
{
    haft_domain *domain;

    must(haft_domain_open(NULL, &domain) == HAFT_OK);
    must(haft_domain_close(domain) == HAFT_OK);
    return arg;
}

/* As one that waits for a lock, which another thread has and opens a domain meanwhile. */
static void *take_after_other(void *context, size_t size, size_t alignment)
{
    if (waits_for_other) {
        in_another_thread(open_and_close_domain, NULL);
    }
    return heap_of_malloc.alloc(context, size, alignment);
}

/* The other table refuses an insertion, and no worker of it is closed. */
static void be_refused(void *object, haft_id id, haft_worker *worker, void *arg)
{
    if (worker != NULL && other_worker == NULL) {
        must(haft_insert(inserter, NULL, &id) != HAFT_OK);
        must(haft_worker_open(refusing, &other_worker) == HAFT_OK);
        waits_for_other = true;
    }
}

Test(allocator, may_wait_for_threads_that_open_and_close)
{
    heap_of_malloc = haft_allocator_malloc();
    const haft_allocator from = {take_after_other, NULL, heap_of_malloc.free, NULL};
    struct shared shared =
        open_shared(MEMB_CALLER, &(haft_table_options){.capacity = 10, .on_reclaim = be_refused});
    haft_id id;

    assert_status(haft_table_open(shared.domain,
                                  &(haft_table_options){
                                      .capacity = 1, .on_reclaim = ignore, .allocator = &from},
                                  &refusing),
                  HAFT_OK);
    inserter = open_worker(refusing);
    while (haft_insert(inserter, NULL, &id) == HAFT_OK) {
    }
    must(haft_free(shared.worker, insert(shared.worker)) == HAFT_OK);
    must(haft_worker_flush(shared.worker) == HAFT_OK);
    must(haft_domain_wait(shared.domain) == HAFT_OK);
    assert_status(haft_trim(shared.table, NULL), HAFT_OK);
    cr_expect(waits_for_other);
    waits_for_other = false;
    must(haft_worker_close(other_worker) == HAFT_OK);
    must(haft_worker_close(inserter) == HAFT_OK);
    assert_status(haft_table_close(refusing), HAFT_OK);
    close_shared(&shared);
}

/* Blocks of arenas are dirty, and any block may begin right behind another. */
Test(allocator, may_be_an_arena_whose_memory_is_dirty)
{
    static _Alignas(4096) char buffer[4 << 20];
    haft_arena *arena;

    memset(buffer, 0xa5, sizeof buffer);
    assert_status(
        haft_arena_open(
            &(haft_arena_options){.buffer = buffer, .buffer_size = sizeof buffer, .fixed = true},
            &arena),
        HAFT_OK);
    const haft_allocator from = haft_arena_allocator(arena);

    for (size_t i = 0; i < LIVES; i++) {
        assert_status(lives[i](&from), HAFT_OK);
    }
    cr_expect(lt(sz, 0, haft_arena_stats_get(arena).used));
    haft_arena_close(arena);
}
