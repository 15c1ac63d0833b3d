/* Answers of the tables of one thread, in words. */
#include "lib/slots/explain.h"
#include "lib/local/local_table.h"
#include "lib/packed/packed.h"
#include <haft/diagnose.h>

void explain_no_memory(struct text *text, const struct slots *slots, uint64_t used)
{
    text_add(text, "no memory: the system refused more than ");
    text_add_counted(text, used, "slot");
    text_add(text, " of ");
    text_add_counted(text, slots->view.stride, "byte");
}

void explain_full(struct text *text, uint64_t capacity, const struct use *use)
{
    text_add(text, "full: ");
    text_add_counted(text, capacity, "object");
    if (use->live == capacity && use->reserved + use->exhausted == 0) {
        text_add(text, ", all live");
        return;
    }
    text_add(text, " %s: ", capacity == 1 ? "fits" : "fit");
    text_add_count(text, use->live);
    text_add(text, " live");
    if (use->reserved != 0) {
        text_add(text, ", ");
        text_add_count(text, use->reserved);
        text_add(text, " reserved");
    }
    if (use->exhausted != 0) {
        text_add(text, ", ");
        text_add_counted(text, use->exhausted, "slot");
        text_add(text, " exhausted");
    }
}

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

int haft_local_diagnose_format(const haft_local *local, haft_id id, char *text, size_t size)
{
    return places_describe(&local->slots, local->name, id, haft_local_diagnose(local, id), text,
                           size);
}

int haft_packed_diagnose_format(const haft_packed *packed, haft_id id, char *text, size_t size)
{
    const bool is_dead = haft_packed_state(packed, id) == HAFT_PACKED_DEAD;
    const haft_status status = is_dead ? HAFT_DEAD : haft_packed_diagnose(packed, id);

    return places_describe(&packed->slots, packed->name, id, status, text, size);
}
