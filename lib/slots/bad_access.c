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

/* End the program, unless the table has a policy; then the line is not needed. */
static void apply_policy(const haft_bad_access *access, const char *line,
                         haft_on_bad_access *policy, void *arg)
{
    if (policy == NULL) {
        os_print(line);
        abort();
    }
    policy(access, arg);
}

void bad_access_report(const haft_bad_access *access, haft_on_bad_access *policy, void *arg)
{
    char line[512]; /* a longer name cuts the text */

    haft_bad_access_format(access, line, sizeof line);
    apply_policy(access, line, policy, arg);
}

void bad_access(const struct slots *slots, const char *table, haft_id id, haft_status status)
{
    const haft_bad_access access = {
        .table = table,
        .layout = slots->format.layout,
        .id = id,
        .status = status,
    };
    char line[512];

    sites_describe(slots, table, id, status, line, sizeof line);
    apply_policy(&access, line, slots->common.on_bad_access, slots->common.report_arg);
}
