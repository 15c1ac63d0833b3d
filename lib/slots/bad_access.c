/* Required ids that name nothing: what is said of them, and the tables of one thread. */
#include "lib/slots/bad_access.h"
#include "lib/local/local_table.h"
#include "lib/packed/packed.h"
#include <assert.h>
#include <haft/diagnose.h>
#include <stdio.h>
#include <stdlib.h>

int haft_bad_access_format(const haft_bad_access *access, char *text, size_t size)
{
    char id[HAFT_ID_TEXT_SIZE];

    haft_id_format(access->layout, access->id, id, sizeof id);
    return snprintf(text, size, "%s: %s: %s (%s)", access->table, id,
                    haft_status_text(access->status), haft_status_name(access->status));
}

static _Noreturn void give_up(const struct slots *slots, const haft_bad_access *access)
{
    char text[512]; /* a longer name cuts the text */

    places_describe(slots, access->table, access->id, access->status, text, sizeof text);
    fprintf(stderr, "haft: %s\n", text);
    abort();
}

void bad_access(const struct slots *slots, const char *table, haft_id id, haft_status status)
{
    const haft_bad_access access = {
        .table = table,
        .layout = slots->format.layout,
        .id = id,
        .status = status,
    };

    if (slots->on_bad_access == NULL) {
        give_up(slots, &access);
    }
    slots->on_bad_access(&access, slots->bad_access_arg);
}

void *haft_local_require_failed(const haft_local *local, haft_id id, const void *slots)
{
    assert(slots == local->slots.view.base);
    (void)slots;
    bad_access(&local->slots, local->name, id, haft_local_diagnose(local, id));
    return NULL;
}

void *haft_packed_require_failed(const haft_packed *packed, haft_id id, const void *slots)
{
    assert(slots == packed->view.slots);
    (void)slots;
    bad_access(&packed->slots, packed->name, id, haft_packed_diagnose(packed, id));
    return NULL;
}
