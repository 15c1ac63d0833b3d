/* Statuses of tables, in words. */
#include "lib/slots/explain.h"

void explain_no_memory(struct text *text, const struct slots *slots, uint64_t used)
{
    text_add(text, "no memory: the system refused more than ");
    text_add_counted(text, used, "slot");
    text_add(text, " of ");
    text_add_counted(text, slots->view.stride, "byte");
}

void explain_full(struct text *text, uint64_t capacity, const struct use *use)
{
    text_add(text, "full: capacity ");
    text_add_count(text, capacity);
    text_add(text, "; ");
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
