/* Shared tables whose generations begin again. */
#include "tests/support.h"
#include <haft/memory.h>
#include <haft/pin.h>
#include <haft/share.h>

TestSuite(wrap, .timeout = SUITE_SECONDS);

#define LAYOUT HAFT_LAYOUT_OF(12, 2, 0) /* three lives in a round */

static uint64_t index_of(haft_id id)
{
    return haft_id_index(LAYOUT, id);
}

static uint64_t generation_of(haft_id id)
{
    return haft_id_generation(LAYOUT, id);
}

static haft_table_options wrapping(uint64_t capacity)
{
    const haft_table_options options = {
        .capacity = capacity, .object_size = 8, .layout = LAYOUT, .wrap = true};
    return options;
}

static haft_id insert_wait(haft_worker *worker)
{
    haft_id id;

    assert_status(haft_insert_wait(worker, NULL, &id), HAFT_OK);
    return id;
}

/* What is freed may be reused, as far as the clock goes. */
static haft_id insert_after(haft_worker *worker)
{
    settle(worker);
    return insert(worker);
}

static void free_object(const struct shared *shared, haft_id id)
{
    must(haft_free(shared->worker, id) == HAFT_OK);
}

Test(wrap, a_slot_given_up_in_its_last_life_goes_on_at_1)
{
    haft_table_options options = wrapping(1);
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    uint64_t lives[1 << 12] = {0};

    for (int i = 0; i < 20; i++) {
        haft_id id;

        settle(shared.worker);
        assert_status(haft_reserve(shared.worker, &id, NULL), HAFT_OK);
        cr_expect(eq(u64, generation_of(id), lives[index_of(id)]++ % 3 + 1));
        haft_abort(shared.worker, id);
    }
    cr_expect(eq(u64, stats_of(shared.table).exhausted, 0));
}

Test(wrap, diagnosis_says_stale_of_all_dead_ids_of_used_slots)
{
    const haft_table_options options = wrapping(10);
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    const haft_id id = insert(shared.worker);

    expect_status(haft_diagnose(shared.table, id), HAFT_OK);
    free_object(&shared, id);
    for (uint64_t generation = 1; generation <= 3; generation++) {
        expect_status(
            haft_diagnose(shared.table, haft_id_pack(LAYOUT, index_of(id), generation, 0)),
            HAFT_STALE);
    }
}

Test(wrap, a_pinned_object_keeps_its_last_life_and_the_slot_goes_on_afterwards)
{
    haft_table_options options = wrapping(20);

    options.pins = true;
    options.first_generation = 3;
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    const haft_id id = insert(shared.worker);

    haft_section_begin(shared.domain);
    must(haft_pin(shared.table, id) != NULL);
    haft_section_end(shared.domain);
    free_object(&shared, id);
    for (int i = 0; i < 10; i++) {
        const haft_id other = insert_wait(shared.worker);

        must(index_of(other) != index_of(id));
        free_object(&shared, other);
    }
    expect_status(haft_unpin(shared.table, id), HAFT_OK);
    haft_id other;

    do {
        other = insert_after(shared.worker);
    } while (index_of(other) != index_of(id));
    cr_expect(eq(u64, generation_of(other), 1));
}

static uint64_t reclaimed_generation;

static void note_generation(void *object, haft_id id, haft_worker *worker, void *arg)
{
    reclaimed_generation = generation_of(id);
}

Test(wrap, on_reclaim_gets_the_id_of_the_last_life)
{
    haft_table_options options = wrapping(1);

    options.first_generation = 3;
    options.on_reclaim = note_generation;
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);

    free_object(&shared, insert(shared.worker));
    settle(shared.worker);
    haft_worker_quiescent(shared.worker);
    cr_expect(eq(u64, reclaimed_generation, 3));
}

#define MANY 3000 /* of more than one run of pages */

TEST_ON_EACH_CLOCK(wrap, trim_says_why_it_cannot)
{
    haft_table_options options = wrapping(MANY);

    options.object_size = 56;
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    static haft_id ids[MANY];
    uint64_t bytes = 42;

    for (int i = 0; i < MANY; i++) {
        ids[i] = insert(shared.worker);
    }
    for (int i = 0; i < MANY; i++) {
        free_object(&shared, ids[i]);
    }
    settle(shared.worker);
    expect_status(haft_trim(shared.table, &bytes), HAFT_BAD_WRAP);
    expect_status(haft_trim(shared.table, NULL), HAFT_BAD_WRAP);
    cr_expect(eq(u64, bytes, 42));
    for (int i = 0; i < MANY; i++) {
        must(!haft_is_live(shared.view, ids[i]));
    }
    for (int i = 0; i < MANY; i++) {
        ids[i] = insert(shared.worker);
    }
    cr_expect(eq(u64, stats_of(shared.table).live, MANY));
}

Test(wrap, a_local_table_goes_on_with_it_while_shared_and_afterwards)
{
    const haft_local_options options = {
        .capacity = 1, .layout = LAYOUT, .first_generation = 3, .wrap = true};
    const haft_table_options none = {.capacity = 1};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &none);
    haft_table *table;
    uint64_t last = 0;
    AT_END(local_end) haft_local *local = local_open(&options);

    assert_status(haft_share(local, shared.domain, NULL, &table), HAFT_OK);
    haft_worker *worker = open_worker(table);

    for (int i = 0; i < 50; i++) {
        const haft_id id = insert_after(worker);

        last = generation_of(id);
        must(haft_free(worker, id) == HAFT_OK);
    }
    cr_expect(ne(u64, last, 0));
    cr_expect(eq(u64, stats_of(table).exhausted, 0));
    must(haft_worker_close(worker) == HAFT_OK);
    assert_status(haft_unshare(table, &local), HAFT_OK);
    for (int i = 0; i < 50; i++) {
        haft_id id;

        assert_status(haft_local_insert(local, NULL, &id), HAFT_OK);
        assert_status(haft_local_free(local, id), HAFT_OK);
    }
}

Test(wrap, what_was_freed_in_its_last_life_goes_on_in_the_local_table)
{
    haft_table_options options = wrapping(1);

    options.first_generation = 3;
    struct shared shared = open_shared(MEMB_CALLER, &options);
    AT_END(domain_end) haft_domain *domain = shared.domain;
    haft_local *local;
    uint64_t ones = 0;

    free_object(&shared, insert(shared.worker));
    must(haft_worker_close(shared.worker) == HAFT_OK);
    assert_status(haft_unshare(shared.table, &local), HAFT_OK);
    for (int i = 0; i < 6; i++) {
        haft_id id;

        assert_status(haft_local_insert(local, NULL, &id), HAFT_OK);
        ones += generation_of(id) == 1;
        assert_status(haft_local_free(local, id), HAFT_OK);
    }
    cr_expect(lt(u64, 1, ones));
    haft_local_close(local);
    haft_thread_unregister(domain);
}
