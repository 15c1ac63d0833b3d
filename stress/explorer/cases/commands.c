/* Commands are applied while another thread frees one of their objects, and a third one looks. */
#include "stress/explorer/cases/case.h"
#include <haft/kit/commands.h>

static haft_commands *commands;
static haft_worker *worker;
static haft_id old; /* that apply is to destroy, twice */
static haft_id created;
static haft_applied applied;
static shared_u64 won; /* frees of the other thread */

static void set_up(void)
{
    const struct table_wish wish = {.capacity = 3};
    const haft_commands_options options = {0};
    haft_recorder *recorders[2];
    void *object;

    open_table(&wish);
    worker = open_worker();
    require_status(haft_commands_open(fixture.table, &options, &commands), HAFT_OK,
                   "opening commands");
    old = insert_stamped(haft_commands_worker(commands));
    poke(&won, 0);
    for (uint64_t i = 0; i < 2; i++) {
        require_status(haft_recorder_open(commands, i, 1 - i, &recorders[i]), HAFT_OK, "opening");
        require_status(haft_recorder_destroy(recorders[i], old), HAFT_OK, "recording");
    }
    require_status(haft_recorder_create(recorders[0], &created, &object), HAFT_OK, "recording");
    stamp(object, created);
}

static void body(uint32_t thread)
{
    if (thread == 2) {
        look_at(old);
        look_at(created);
        return;
    }
    race_begin();
    if (thread == 0) {
        require_status(haft_commands_apply(commands, &applied), HAFT_OK, "applying");
        require(!haft_is_live(fixture.view, old), "a destroyed object is live after apply");
    } else {
        add(&won, haft_free(worker, old) == HAFT_OK);
    }
    race_end();
}

static void tear_down(void)
{
    require(applied.destroyed + peek(&won) == 1, "an object ends once");
    require(applied.destroyed + applied.duplicates + applied.stale == 2,
            "each destruction is counted once");
    require(applied.created == 1 && look_at(created), "the created object is there");
    require_status(haft_free(worker, created), HAFT_OK, "freeing");
    haft_commands_close(commands);
    close_worker(worker);
    require_room_for(3);
    close_table();
}

EXPLORE(commands, 3, set_up, body, tear_down,
        "apply and a free of the same object: one of them ends it; creations are complete");
