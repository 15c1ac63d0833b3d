/*
 * Leaks, by the site where their objects were allocated.
 *
 * Edges in this file.
 *   HINT   a site that is read too early or too late makes a line of text say less
 *   OWN    the table is being closed: no other thread uses it
 */
#include "lib/slots/leaks.h"
#include "lib/base/os.h"
#include "lib/slots/sites_text.h"
#include <stdlib.h>

#define GROUPS 256    /* sites of leaks that are told apart, */
#define FEW_GROUPS 16 /* and where memory for them is refused */

int haft_leak_format(const haft_leak *leak, char *text, size_t size)
{
    struct text line = text_in(text, size);
    char id[HAFT_ID_TEXT_SIZE];

    haft_id_format(leak->layout, leak->first, id, sizeof id);
    text_add(&line, "%s: ", leak->table);
    text_add_counted(&line, leak->count, "object");
    text_add(&line, " %s live at closing, allocated ", leak->count == 1 ? "is" : "are");
    text_add(&line, leak->site == NULL ? "" : "at ");
    site_tell(&line, leak->site);
    text_add(&line, leak->count == 1 ? ": %s" : ", such as %s", id);
    return text_length(&line);
}

static void print_leak(const haft_leak *leak, void *arg)
{
    char text[512]; /* a longer name cuts the text */

    (void)arg;
    haft_leak_format(leak, text, sizeof text);
    os_print(text);
}

struct groups {
    haft_leak *leaks; /* the last one is for all sites beyond */
    size_t most;
    size_t count;
};

static haft_leak *group_of(struct groups *groups, const void *site)
{
    for (size_t i = 0; i < groups->count; i++) {
        if (groups->leaks[i].site == site) {
            return &groups->leaks[i];
        }
    }
    if (groups->count == groups->most - 1) {
        return &groups->leaks[groups->most - 1];
    }
    groups->leaks[groups->count].site = site;
    return &groups->leaks[groups->count++];
}

static const void *born_at(const struct slots *slots, uint64_t index)
{
    return (const void *)(uintptr_t)load_relaxed(HINT, &slots->sites.records[index].born);
}

static void gather(struct groups *groups, const struct slots *slots, uint64_t end)
{
    for (uint64_t index = HAFT_FIRST_INDEX; index < end; index++) {
        const haft_id id = {load_relaxed(OWN, slots_word(slots, index))};

        if (word_index(&slots->format, id.bits) == index) {
            haft_leak *leak = group_of(groups, born_at(slots, index));

            leak->first = leak->count++ == 0 ? id : leak->first;
        }
    }
}

static int more_first(const void *a, const void *b)
{
    const haft_leak *left = a;
    const haft_leak *right = b;

    return (left->count < right->count) - (left->count > right->count);
}

static void report_groups(struct groups *groups, const struct slots *slots, const char *table,
                          uint64_t end)
{
    haft_on_leak *on_leak = slots->common.on_leak != NULL ? slots->common.on_leak : print_leak;
    const int cancel = os_cancel_off();

    gather(groups, slots, end);
    qsort(groups->leaks, groups->most, sizeof groups->leaks[0], more_first);
    for (size_t i = 0; i < groups->most && groups->leaks[i].count != 0; i++) {
        groups->leaks[i].table = table;
        groups->leaks[i].layout = slots->format.layout;
        on_leak(&groups->leaks[i], slots->common.report_arg);
    }
    os_cancel_restore(cancel);
}

/* More groups than a thread's stack should bear. */
void leaks_report(const struct slots *slots, const char *table, uint64_t end)
{
    const size_t size = GROUPS * sizeof(haft_leak);
    haft_leak few[FEW_GROUPS] = {{.count = 0}};

    if (slots->sites.records == NULL) {
        return;
    }
    haft_leak *many = heap_take_zero(&slots->heap, size, _Alignof(haft_leak));
    struct groups groups = {many, GROUPS, 0};

    if (many == NULL) {
        groups = (struct groups){few, FEW_GROUPS, 0};
    }
    report_groups(&groups, slots, table, end);
    heap_give(&slots->heap, many, size);
}
