#include "top/views.h"
#include <stdlib.h>

void view_json(GString *out, const struct finding *finding)
{
    json_t *processes = json_array();

    for (guint i = 0; i < finding->running->len; i++) {
        const struct snapshot *snapshot = g_ptr_array_index(finding->running, i);
        json_t *process = json_copy(snapshot->root);

        json_object_set_new(process, "age_ns", json_integer((json_int_t)snapshot_age_ns(snapshot)));
        json_array_append_new(processes, process);
    }
    json_t *root = json_pack("{s:o}", "processes", processes);
    char *text = json_dumps(root, JSON_INDENT(2));

    g_string_append_printf(out, "%s\n", text);
    free(text);
    json_decref(root);
}
