/* haft_packed: snapshots, and a second table. */
#include "kit/local/packed/packed.h"
#include "kit/local/packed/packed_image.h"
#include "kit/local/snapshots/history.h"
#include "kit/local/status/kit_status.h"

/* Whether the table may go to the history now, or come from it. */
static haft_status check_history_of(const haft_packed *packed, const haft_history *history)
{
    const struct shape shape = packed_shape(packed);
    const haft_status status = packed_check_moment(packed);

    if (status == HAFT_OK && !history_fits(history, &shape)) {
        return kit_status(HAFT_OTHER_TABLE);
    }
    return status;
}

haft_status haft_packed_snapshot(const haft_packed *packed, haft_history *history, uint64_t *number)
{
    const struct shape shape = packed_shape(packed);
    const struct image image = packed_image(packed);
    const haft_status status = check_history_of(packed, history);

    return status == HAFT_OK ? history_take(history, &shape, &image, NULL, number) : status;
}

haft_status haft_packed_rewind(haft_packed *packed, haft_history *history, uint64_t number)
{
    const struct snapshot *snapshot = history_find(history, number);
    haft_status status = check_history_of(packed, history);

    if (status == HAFT_OK && snapshot == NULL) {
        status = HAFT_OUT_OF_RANGE;
    }
    if (status == HAFT_OK) {
        status = packed_prepare(packed, snapshot->numbers);
    }
    if (status == HAFT_OK) {
        const struct image image = history_go(history, number);

        packed_become(packed, &image);
    }
    return status;
}

haft_status haft_packed_clone(const haft_packed *packed, haft_packed **clone)
{
    const struct image image = packed_image(packed);
    haft_packed *opened = NULL;
    haft_status status = packed_check_moment(packed);

    if (status == HAFT_OK) {
        status = packed_open_like(packed, &opened);
    }
    if (status != HAFT_OK) {
        return status;
    }
    status = packed_prepare(opened, image.numbers);
    if (status != HAFT_OK) {
        haft_packed_close(opened);
        return status;
    }
    packed_become(opened, &image);
    *clone = opened;
    return HAFT_OK;
}
