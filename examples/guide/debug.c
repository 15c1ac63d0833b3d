/* debug.c - the guide's stale id, found out: reasons, required ids, a policy of one's own. */
#include "must.h"
#include <haft/local.h>
#include <haft/table.h>

static void report(const haft_bad_access *access, void *arg)
{
    char text[200];

    haft_bad_access_format(access, text, sizeof text);
    printf("bad access: %s\n", text);
    ++*(int *)arg; /* after which haft_local_require() answers NULL */
}

int main(void)
{
    int reports = 0;
    haft_local *ships;
    haft_id id;

    must(haft_local_open(&(haft_local_options){.name = "ships",
                                               .capacity = 10,
                                               .object_size = sizeof(int),
                                               .on_bad_access = report,
                                               .report_arg = &reports},
                         &ships));
    must(haft_local_insert(ships, NULL, &id));

    /* guide: require */
    const haft_view view = haft_local_view(ships);
    int *hull = haft_local_require(ships, view, id); /* never NULL in a program that is right */

    *hull = 3;
    must(haft_local_free(ships, id));
    hull = haft_local_require(ships, view, id);
    /* end */

    const haft_id asked[] = {id, HAFT_NIL, {2}, {12345678}};

    for (int i = 0; i < 4; i++) {
        char text[HAFT_ID_TEXT_SIZE];

        haft_id_format(haft_local_info(ships).layout, asked[i], text, sizeof text);
        printf("%s: %s\n", text, haft_status_name(haft_local_diagnose(ships, asked[i])));
    }
    haft_local_close(ships);
    return hull != NULL || reports != 1 || fflush(stdout) != 0;
}
