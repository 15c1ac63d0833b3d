/* The report of a required id that names no object. */
#include "lib/slots/bad_access.h"
#include "lib/base/os.h"
#include "lib/slots/sites_text.h"
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

static _Noreturn void end_program(const struct slots *slots, const haft_bad_access *access)
{
    char text[512]; /* a longer name cuts the text */

    sites_describe(slots, access->table, access->id, access->status, text, sizeof text);
    os_print(text);
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

    if (slots->common.on_bad_access == NULL) {
        end_program(slots, &access);
    }
    slots->common.on_bad_access(&access, slots->common.bad_access_arg);
}
