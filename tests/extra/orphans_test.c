/*
 * White-box.  Fork: slots in lists that another thread had taken out, and memory that was given
 * back.  The test takes the lists out itself, as such a thread would leave them to the child.
 */
#include "concurrent/batches/tagged.h"
#include "concurrent/table/census.h"
#include "concurrent/table/lists.h"
#include "concurrent/table/state.h"
#include "tests/extra/forking.h"
#include <haft/memory.h>
#include <haft/pin.h>
#include <haft/share.h>
#include <haft/threads.h>

TestSuite(orphans, .timeout = SUITE_SECONDS);

#define MOST 40000

static haft_id ids[MOST];

/* In the child. */
static uint64_t reclaims;

static void close_in_child(struct shared *shared)
{
    require(haft_worker_close(shared->worker) == HAFT_OK);
    require(haft_table_close(shared->table) == HAFT_OK);
    require(haft_domain_close(shared->domain) == HAFT_OK);
}

/* Each slot that was freed, wherever it waits. */
static void take_all_back(struct shared *shared)
{
    end_grace(shared, true);
    require(haft_worker_quiescent(shared->worker) == HAFT_OK);
}

/* No slot is lost: insertions find `count` or more. */
static void insert_all(struct shared *shared, uint64_t count)
{
    uint64_t inserted = 0;
    haft_id id;

    end_grace(shared, true);
    while (haft_insert(shared->worker, NULL, &id) == HAFT_OK) {
        inserted++;
    }
    require(inserted >= count);
    require(census_is_right(shared->table));
}

/* --- lists --- */

/* Fork with this list in another thread's hands. */
static void fork_without(struct shared *shared, enum list_kind kind, child_body *body)
{
    atomic_u64 *head = &shared->table->lists[kind].head;
    const uint64_t before = load_relaxed(OWN, head);

    must(tagged_number(before) != NUMBER_NONE);
    store_relaxed(OWN, head, tagged_next(before, NUMBER_NONE));
    fork_with_the_calls(body, shared, HAFT_NIL);
    store_relaxed(OWN, head, before);
}

/* From now on slots with a link may have been given up. */
static void give_one_up(haft_table *table)
{
    haft_id id;

    must(haft_reserve_unregistered(table, &id, NULL) == HAFT_OK);
    haft_abort_unregistered(table, id);
}

/* Two, so that one has a link to the other. */
static void free_two(const struct shared *shared)
{
    for (int i = 0; i < 2; i++) {
        must(haft_table_free(shared->table, ids[i]) == HAFT_OK);
    }
}

static struct shared open_counting(haft_table_options options)
{
    options.object_size = 8;
    options.on_reclaim = count_reclaimed;
    options.reclaim_arg = &reclaims;
    return open_shared_row(FRAME, &options);
}

static void use_all_twice(struct shared *shared, haft_id live)
{
    haft_id inserted[8];

    (void)live;
    require(census_is_right(shared->table));
    take_all_back(shared);
    for (int round = 0; round < 2; round++) {
        end_grace(shared, true);
        for (int i = 0; i < 8; i++) {
            require(haft_insert(shared->worker, NULL, &inserted[i]) == HAFT_OK);
            require(haft_pins(shared->table, inserted[i]) == 0);
        }
        for (int i = 0; i < 8; i++) {
            require(haft_free(shared->worker, inserted[i]) == HAFT_OK);
        }
    }
    close_in_child(shared);
}

static void reclaim_both(struct shared *shared, haft_id live)
{
    take_all_back(shared);
    require(reclaims == 2);
    use_all_twice(shared, live);
}

static struct shared open_pinning(void)
{
    struct shared shared = open_counting((haft_table_options){.capacity = 8, .pins = true});

    for (int i = 0; i < 2; i++) {
        ids[i] = insert(shared.worker);
    }
    give_one_up(shared.table);
    return shared;
}

Test(orphans, slots_whose_last_pin_was_just_gone_are_reclaimed_and_can_be_used)
{
    struct shared shared = open_pinning();

    haft_section_begin(shared.domain);
    for (int i = 0; i < 2; i++) {
        must(haft_pin(shared.table, ids[i]) != NULL);
    }
    haft_section_end(shared.domain);
    for (int i = 0; i < 2; i++) {
        must(haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    end_grace(&shared, true);
    must(haft_worker_quiescent(shared.worker) == HAFT_OK); /* it finds the pins */
    for (int i = 0; i < 2; i++) {
        must(haft_unpin(shared.table, ids[i]) == HAFT_OK);
    }
    fork_without(&shared, LIST_UNPINNED, reclaim_both);
    close_shared(&shared);
}

static void keep_until_unpinned(struct shared *shared, haft_id live)
{
    (void)live;
    require(census_is_right(shared->table));
    require(haft_pins(shared->table, ids[1]) == 1);
    take_all_back(shared);
    require(reclaims == 1);
    insert_all(shared, 8);
    require(haft_pins(shared->table, ids[1]) == 1);
    require(haft_unpin(shared->table, ids[1]) == HAFT_OK);
    require(haft_worker_quiescent(shared->worker) == HAFT_OK);
    require(reclaims == 2);
    close_in_child(shared);
}

Test(orphans, a_slot_that_was_pinned_and_on_its_way_into_the_list_stays_pinned)
{
    struct shared shared = open_counting(
        (haft_table_options){.capacity = 8, .pins = true, .layout = HAFT_LAYOUT_OF(12, 32, 0)});

    for (int i = 0; i < 2; i++) {
        ids[i] = insert(shared.worker);
    }
    must(haft_pin(shared.table, ids[1]) != NULL);
    give_one_up(shared.table);
    free_two(&shared);
    fork_without(&shared, LIST_FREED, keep_until_unpinned);
    must(haft_unpin(shared.table, ids[1]) == HAFT_OK);
    close_shared(&shared);
}

Test(orphans, freed_slots_of_a_table_with_pins_can_be_used)
{
    struct shared shared = open_pinning();

    free_two(&shared);
    fork_without(&shared, LIST_FREED, use_all_twice);
    close_shared(&shared);
}

static void find_exhausted(struct shared *shared, haft_id live)
{
    (void)live;
    require(census_is_right(shared->table));
    take_all_back(shared);
    for (int i = 0; i < 3; i++) {
        require(haft_diagnose(shared->table, ids[i]) == HAFT_EXHAUSTED);
    }
    require(haft_table_stats_get(shared->table).exhausted == 3);
    require(census_is_right(shared->table));
    close_in_child(shared);
}

Test(orphans, slots_that_were_freed_in_their_last_life_are_exhausted)
{
    struct shared shared =
        open_counting((haft_table_options){.capacity = 4, .layout = HAFT_LAYOUT_OF(4, 1, 0)});

    for (int i = 0; i < 2; i++) {
        ids[i] = insert(shared.worker);
    }
    must(haft_reserve_unregistered(shared.table, &ids[2], NULL) == HAFT_OK);
    haft_abort_unregistered(shared.table, ids[2]);
    free_two(&shared);
    fork_without(&shared, LIST_FREED, find_exhausted);
    close_shared(&shared);
}

/* --- memory that was given back --- */

static void use_released(struct shared *shared, haft_id live)
{
    static bool met[MOST + 10];
    const haft_table_stats stats = haft_table_stats_get(shared->table);
    haft_id id;

    require(census_is_right(shared->table));
    require(haft_resolve(shared->view, live) != NULL);
    for (uint64_t i = 1; i < stats.capacity; i++) {
        require(haft_insert(shared->worker, NULL, &id) == HAFT_OK);
        const uint32_t index = haft_id_index(haft_table_layout(shared->table), id);

        require(index < MOST && !met[index]);
        met[index] = true;
    }
    for (int i = 0; i < MOST / 2; i++) {
        require(!haft_is_live(shared->view, ids[i]));
    }
    require(census_is_right(shared->table));
    close_in_child(shared);
}

/* All objects but one are freed, and their memory is given back. */
static struct shared open_trimmed(haft_id *live)
{
    const haft_table_options options = {.capacity = MOST / 2, .object_size = 8};
    struct shared shared = open_shared_row(FRAME, &options);
    uint64_t bytes = 0;

    *live = insert(shared.worker);
    for (int i = 0; i < MOST / 2 - 1; i++) {
        ids[i] = insert(shared.worker);
    }
    for (int i = 0; i < MOST / 2 - 1; i++) {
        must(haft_free(shared.worker, ids[i]) == HAFT_OK);
    }
    end_grace(&shared, true);
    assert_status(haft_trim(shared.table, &bytes), HAFT_OK);
    cr_assert(lt(u64, 0, bytes));
    return shared;
}

Test(orphans, of_memory_that_was_given_back_each_slot_is_used_once_and_no_id_lives_again)
{
    haft_id live;
    struct shared shared = open_trimmed(&live);

    fork_with_the_calls(use_released, &shared, live);
    cr_expect(census_is_right(shared.table));
    close_shared(&shared);
}

/* A thread has taken the first run, whose slots it would have used. */
Test(orphans, of_a_run_that_a_thread_had_taken_out_each_slot_is_used)
{
    haft_id live;
    struct shared shared = open_trimmed(&live);
    struct released *released = &shared.table->released;
    const uint64_t head = load_relaxed(OWN, &released->head);
    const uint64_t next = tagged_number(runs_link(&shared.table->slots.runs, tagged_number(head)));

    must(next != NUMBER_NONE);
    store_relaxed(OWN, &released->head, tagged_next(head, next));
    fork_with_the_calls(use_released, &shared, live);
    store_relaxed(OWN, &released->head, head);
    close_shared(&shared);
}
