/* Fork: objects that were freed while they were pinned, in the child. */
#include "tests/extra/forking.h"
#include <haft/fork.h>
#include <haft/pin.h>

TestSuite(fork_pins, .timeout = SUITE_SECONDS);

#define MOST 4096

static const haft_table_options options = {.capacity = 8, .object_size = 8, .pins = true};
static bool ticks;

static uint32_t index_of(const struct shared *shared, haft_id id)
{
    return haft_id_index(haft_table_layout(shared->table), id);
}

static void close_all(struct shared *shared)
{
    require(haft_worker_close(shared->worker) == HAFT_OK);
    require(haft_table_close(shared->table) == HAFT_OK);
    require(shared->anchor == NULL || haft_table_close(shared->anchor) == HAFT_OK);
    require(haft_domain_close(shared->domain) == HAFT_OK);
}

/* Insert until it is refused: no slot twice; whether that of `id` is among them. */
static bool takes_slot(struct shared *shared, haft_id id)
{
    static bool met[MOST];
    haft_id inserted;

    while (haft_insert(shared->worker, NULL, &inserted) == HAFT_OK) {
        require(!met[index_of(shared, inserted)]);
        met[index_of(shared, inserted)] = true;
        end_grace(shared, ticks);
    }
    return met[index_of(shared, id)];
}

static void reuse_after_unpin(struct shared *shared, haft_id freed)
{
    require(haft_pins(shared->table, freed) == 1);
    require(!takes_slot(shared, freed));
    require(haft_unpin(shared->table, freed) == HAFT_OK);
    require(takes_slot(shared, freed));
    close_all(shared);
}

static void unpin_at_once(struct shared *shared, haft_id freed)
{
    require(haft_unpin(shared->table, freed) == HAFT_OK);
    require(haft_unpin(shared->table, freed) == HAFT_NOT_PINNED);
    require(takes_slot(shared, freed));
    close_all(shared);
}

static void fork_with_one_pinned(int row, child_body *body)
{
    struct shared shared = open_shared_row(row, &options);
    const haft_id freed = insert(shared.worker);

    ticks = child_ticks(row);
    haft_section_begin(shared.domain);
    must(haft_pin(shared.table, freed) != NULL);
    haft_section_end(shared.domain);
    must(haft_free(shared.worker, freed) == HAFT_OK);
    end_grace(&shared, row == FRAME);
    must(haft_worker_quiescent(shared.worker) == HAFT_OK); /* it finds the pin */
    fork_with_the_calls(body, &shared, freed);
    expect_status(haft_unpin(shared.table, freed), HAFT_OK);
    close_shared(&shared);
}

TEST_ON_EACH_ROW(fork_pins, a_freed_object_is_kept_in_the_child_until_its_last_unpin)
{
    fork_with_one_pinned(*row, reuse_after_unpin);
}

TEST_ON_EACH_ROW(fork_pins, a_freed_objects_slot_comes_back_once_if_the_child_unpins_it_at_once)
{
    fork_with_one_pinned(*row, unpin_at_once);
}
