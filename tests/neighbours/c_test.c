/*
 * Programs in C beside the macros of other libraries.  HAFT_TWO_FILES: with haft_kit.h, and
 * haft_kit.c in the same source, as in unity builds; behind the system's headers, in strict C.
 */
#include "tests/neighbours/macros.h"

#ifdef HAFT_TWO_FILES
#include "haft_kit.h"
#else
#include <haft/kit/kit.h>
#endif

typedef struct item {
    int value;
} item;

HAFT_TYPED_ID(item);
HAFT_TYPED(item, struct item);
HAFT_TYPED_LOCAL(item);
HAFT_TYPED_PACKED(item);
HAFT_TYPED_TABLE(item);

static haft_status use_items(void)
{
    const haft_local_options options = {.capacity = 10};
    const item three = {3};
    item_local items;
    item_id id;
    haft_status status = item_local_open(&options, &items);

    if (status != HAFT_OK) {
        return status;
    }
    status = item_local_insert(items, &three, &id);
    if (status == HAFT_OK && item_resolve(items.view, id)->value != 3) {
        status = HAFT_STALE;
    }
    item_local_close(items);
    return status;
}

int main(void)
{
    const haft_status status = use_items();

    printf("%s\n", haft_status_name(status));
    return status != HAFT_OK;
}

#ifdef HAFT_TWO_FILES
#include "haft_kit.c"
#endif
