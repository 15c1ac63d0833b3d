/* A packed table's statuses and ids, in words. */
#include "kit/local/packed/state.h"
#include "kit/local/status/kit_status.h"
#include "lib/slots/bad_access.h"
#include "lib/slots/explain.h"
#include "lib/slots/sites_text.h"
#include <assert.h>
#include <haft/diagnose.h>

int haft_packed_explain(const haft_packed *packed, haft_status status, char *line, size_t size)
{
    struct text text = text_in(line, size);
    const struct use use = {packed->count, 0, packed->exhausted};

    text_add(&text, "%s: ", packed->name);
    if (status == HAFT_FULL) {
        explain_full(&text, packed->capacity, &use);
        if (packed->dead_count != 0) {
            text_add(&text, "; ");
            text_add_count(&text, packed->dead_count);
            text_add(&text, " dead until the refresh");
        }
    } else if (status == HAFT_NO_MEMORY) {
        text_add(&text, "no memory: the system refused more than ");
        text_add_counted(&text, packed->used, "object");
        text_add(&text, " of ");
        text_add_counted(&text, packed->view.object_size, "byte");
    } else {
        text_add(&text, "%s", haft_status_text(status));
    }
    return text_length(&text);
}

int haft_packed_diagnose_format(const haft_packed *packed, haft_id id, char *text, size_t size)
{
    if (haft_packed_state(packed, id) == HAFT_PACKED_DEAD) {
        return sites_describe_ended(&packed->slots, packed->name, id, kit_status(HAFT_DEAD), text,
                                    size);
    }
    return sites_describe(&packed->slots, packed->name, id, haft_packed_diagnose(packed, id), text,
                          size);
}

void *haft_packed_require_failed(const haft_packed *packed, haft_id id, const void *slots)
{
    assert(slots == packed->view.slot && "the view is the table's");
    (void)slots;
    bad_access(&packed->slots, packed->name, id, haft_packed_diagnose(packed, id));
    return NULL;
}
