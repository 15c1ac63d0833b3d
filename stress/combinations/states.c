/*
 * What a table goes through while it is a local one, between two times of being shared: it goes
 * back to a state, is loaded from one, or a copy takes its place.
 */
#include "stress/combinations/states.h"
#include <haft/kit/snapshot.h>
#include <stdlib.h>
#include <string.h>

/* --- a side of the local table --- */

struct beside {
    haft_local *local;
    haft_side *side; /* NULL: none */
    uint64_t set;
    uint64_t ended;
};

/* Its calls change nothing, or only slots that the state to come does not have. */
static void end_value(void *value, haft_id id, void *arg)
{
    struct beside *beside = arg;
    haft_id other;

    require_that(is_value_stamp(value, id), "a value in on_end");
    require_that(haft_side_get(haft_side_entries(beside->side), id) == NULL, "a value that ends");
    require_that(haft_side_set(beside->side, id, NULL, NULL) != HAFT_OK, "a value in its end");
    if (haft_local_insert(beside->local, NULL, &other) == HAFT_OK) {
        require_that(haft_local_free(beside->local, other) == HAFT_OK, "haft_local_free");
    }
    beside->ended++;
}

static bool set_value(haft_id id, void *object, void *arg)
{
    struct beside *beside = arg;
    struct stamp stamp;

    (void)object;
    value_stamp(&stamp, id);
    require_that(haft_side_set(beside->side, id, &stamp, NULL) == HAFT_OK, "haft_side_set");
    beside->set++;
    return true;
}

static void begin_beside(struct beside *beside, haft_local *local)
{
    const haft_side_options options = {
        .value_size = sizeof(struct stamp), .on_end = end_value, .end_arg = beside};

    *beside = (struct beside){.local = local};
    if (play.plan->options.side) {
        require_that(haft_side_open_local(local, &options, &beside->side) == HAFT_OK,
                     "haft_side_open_local");
        haft_local_for_each(local, set_value, beside);
    }
}

/* All values have ended: the table's ids are issued again. */
static void end_beside(struct beside *beside)
{
    if (beside->side != NULL) {
        require_that(beside->ended == beside->set, "a value outlives its state");
        haft_side_close(beside->side);
        require_that(beside->ended == beside->set, "a value ends twice");
    }
}

/* --- states --- */

/* All objects go, and slots are used otherwise. */
static void go_astray(haft_local *local)
{
    const uint64_t count = haft_local_count(local);
    haft_id id;

    haft_local_clear(local);
    for (uint64_t i = 0; i < count + 2; i++) {
        haft_local_insert(local, NULL, &id);
    }
}

void states_rewind(haft_local *local)
{
    const uint64_t count = haft_local_count(local);
    struct beside beside;
    haft_history *history;

    require_that(haft_history_open(&(haft_history_options){.keep = 2}, &history) == HAFT_OK,
                 "haft_history_open");
    require_that(haft_local_snapshot(local, history, NULL) == HAFT_OK, "haft_local_snapshot");
    go_astray(local);
    require_that(haft_local_snapshot(local, history, NULL) == HAFT_OK, "haft_local_snapshot");
    begin_beside(&beside, local);
    require_that(haft_local_rewind(local, history, 0) == HAFT_OK, "haft_local_rewind");
    end_beside(&beside);
    require_that(haft_local_count(local) == count, "a rewind loses objects");
    haft_history_close(history);
}

struct saved_state {
    char *bytes;
    size_t size, read;
};

static bool put(const void *bytes, size_t size, void *arg)
{
    struct saved_state *to = arg;

    to->bytes = realloc(to->bytes, to->size + size);
    require_that(to->bytes != NULL, "memory for a state");
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
    return true;
}

static bool get(void *bytes, size_t size, void *arg)
{
    struct saved_state *from = arg;

    if (from->size - from->read < size) {
        return false;
    }
    memcpy(bytes, from->bytes + from->read, size);
    from->read += size;
    return true;
}

static haft_file file_of(struct saved_state *state)
{
    return (haft_file){.write = put, .read = get, .arg = state};
}

void states_load(haft_local *local)
{
    struct saved_state state = {0}, again = {0};
    struct beside beside;
    haft_file file = file_of(&state);

    require_that(haft_local_save(local, &file) == HAFT_OK, "haft_local_save");
    go_astray(local);
    begin_beside(&beside, local);
    file = file_of(&state);
    const haft_status status = haft_local_load(local, &file);

    if (status != HAFT_OK) {
        fail("haft_local_load", "%s: %s at %llu", haft_status_name(status), file.what,
             (unsigned long long)file.offset);
    }
    end_beside(&beside);
    file = file_of(&again);
    require_that(haft_local_save(local, &file) == HAFT_OK, "haft_local_save");
    require_that(state.size == again.size && memcmp(state.bytes, again.bytes, state.size) == 0,
                 "a state is another when it is saved again");
    free(state.bytes);
    free(again.bytes);
}

haft_local *states_clone(haft_local *local)
{
    struct beside beside;
    haft_local *clone;

    begin_beside(&beside, local);
    require_that(haft_local_clone(local, &clone) == HAFT_OK, "haft_local_clone");
    require_that(beside.ended == 0, "a clone ends values");
    if (beside.side != NULL) {
        haft_side_close(beside.side);
    }
    haft_local_close(local);
    return clone;
}
