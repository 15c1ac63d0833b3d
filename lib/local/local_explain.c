/* A local table's statuses and ids, in words. */
#include "lib/local/state.h"
#include "lib/slots/bad_access.h"
#include "lib/slots/explain.h"
#include "lib/slots/sites_text.h"
#include <assert.h>
#include <haft/diagnose.h>

int haft_local_explain(const haft_local *local, haft_status status, char *line, size_t size)
{
    struct text text = text_in(line, size);
    const struct use use = {local->front.count, local->held, local->exhausted};

    text_add(&text, "%s: ", local->name);
    if (status == HAFT_FULL && local->mode == LOCAL_CLOSING) {
        text_add(&text, "full: it is being closed");
    } else if (status == HAFT_FULL) {
        explain_full(&text, local->capacity, &use);
    } else if (status == HAFT_NO_MEMORY) {
        explain_no_memory(&text, &local->slots, local->used - HAFT_FIRST_INDEX);
    } else {
        text_add(&text, "%s", haft_status_text(status));
    }
    return text_length(&text);
}

int haft_local_diagnose_format(const haft_local *local, haft_id id, char *text, size_t size)
{
    return sites_describe(&local->slots, local->name, id, haft_local_diagnose(local, id), text,
                          size);
}

void *haft_local_require_failed(const haft_local *local, haft_id id, const void *slots)
{
    assert(slots == local->slots.view.base && "the view is the table's");
    (void)slots;
    bad_access(&local->slots, local->name, id, haft_local_diagnose(local, id));
    return NULL;
}
