/* haft_local: snapshots, and a second table. */
#include "kit/local/sides/side_copy.h"
#include "kit/local/snapshots/history.h"
#include "kit/local/snapshots/local_image.h"
#include "kit/local/status/kit_status.h"
#include "lib/local/local.h"
#include "lib/local/local_list.h"

/* Whether the table may go to the history now, or come from it. */
static haft_status check_history(const haft_local *local, const haft_history *history)
{
    const struct shape shape = local_shape(local);
    const haft_status status = local_check_moment(local);

    if (status == HAFT_OK && !history_fits(history, &shape)) {
        return kit_status(HAFT_OTHER_TABLE);
    }
    return status;
}

haft_status haft_local_snapshot(const haft_local *local, haft_history *history, uint64_t *number)
{
    const struct shape shape = local_shape(local);
    haft_status status = check_history(local, history);

    struct side_copy *sides = NULL;

    status = status == HAFT_OK ? sides_copy(&local->attached, &history->heap, &sides) : status;
    if (status == HAFT_OK) {
        const struct image image = local_begin_image(local);

        status = history_take(history, &shape, &image, sides, number);
        local_end_image(local);
    }
    if (status != HAFT_OK) {
        side_copies_free(&history->heap, sides);
    }
    return status;
}

/*
 * Whether the table can become that snapshot now; it is prepared.  `*serial` is the snapshot's from
 * now on; if it was not 0, it must have been.
 */
static haft_status prepare_rewind(haft_local *local, const haft_history *history, uint64_t number,
                                  uint64_t *serial)
{
    const struct snapshot *snapshot = history_find(history, number);
    const haft_status status = check_history(local, history);

    if (status == HAFT_OK && (snapshot == NULL || (*serial != 0 && *serial != snapshot->serial))) {
        return HAFT_OUT_OF_RANGE;
    }
    *serial = snapshot != NULL ? snapshot->serial : 0;
    return status == HAFT_OK ? local_prepare(local, snapshot->numbers) : status;
}

haft_status haft_local_rewind(haft_local *local, haft_history *history, uint64_t number)
{
    uint64_t serial = 0;
    haft_status status = prepare_rewind(local, history, number, &serial);

    status = status == HAFT_OK ? local_end_values(local, sides_end_all) : status;
    /* on_end may have inserted, and taken snapshots of other tables. */
    status = status == HAFT_OK ? prepare_rewind(local, history, number, &serial) : status;
    if (status == HAFT_OK) {
        const struct image image = history_go(history, number);

        local_become(local, &image);
        sides_become(&local->attached, history_find(history, number)->sides);
    }
    return status;
}

/* Options for slots in as much address space. */
static struct slots_options like_slots(const struct slots *slots)
{
    struct slots_options wanted = {
        .common = slots->common,
        .pins = slots->has_pins,
        .huge_pages = slots->huge_pages,
    };

    wanted.common.capacity = slots->view.mask + 1 - HAFT_FIRST_INDEX;
    return wanted;
}

/* A new table like that one, without objects. */
static haft_status open_like(const haft_local *local, haft_local **clone)
{
    const struct slots_options wanted = like_slots(&local->slots);
    haft_local *opened = local_new(local->name, NULL, &local->slots.heap);
    const haft_status status =
        opened != NULL ? slots_open(&opened->slots, &wanted) : HAFT_NO_MEMORY;

    if (status != HAFT_OK) {
        local_free(opened);
        return status;
    }
    opened->is_fifo = local->is_fifo;
    opened->wraps = local->wraps;
    opened->on_destroy = local->on_destroy;
    opened->destroy_arg = local->destroy_arg;
    opened->used = HAFT_FIRST_INDEX;
    opened->slots.runs.stay = local->slots.runs.stay;
    *clone = opened;
    return HAFT_OK;
}

static void close_unused(haft_local *clone)
{
    slots_close(&clone->slots);
    local_free(clone);
}

haft_status haft_local_clone(const haft_local *local, haft_local **clone)
{
    haft_local *opened = NULL;
    haft_status status = local_check_moment(local);

    if (status == HAFT_OK) {
        status = open_like(local, &opened);
    }
    if (status != HAFT_OK) {
        return status;
    }
    const struct image image = local_begin_image(local);

    status = local_prepare(opened, image.numbers);
    if (status == HAFT_OK) {
        local_become(opened, &image);
        *clone = opened;
    } else {
        close_unused(opened);
    }
    local_end_image(local);
    return status;
}
