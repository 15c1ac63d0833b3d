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

#define GROUPS 256 /* sites of leaks that are told apart */

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
    haft_leak leaks[GROUPS]; /* the last one is for all sites beyond */
    size_t count;
};

static haft_leak *group_of(struct groups *groups, const void *site)
{
    for (size_t i = 0; i < groups->count; i++) {
        if (groups->leaks[i].site == site) {
            return &groups->leaks[i];
        }
    }
    if (groups->count == GROUPS - 1) {
        return &groups->leaks[GROUPS - 1];
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

void leaks_report(const struct slots *slots, const char *table, uint64_t end)
{
    haft_on_leak *on_leak = slots->common.on_leak != NULL ? slots->common.on_leak : print_leak;
    struct groups groups = {.count = 0};

    if (slots->sites.records == NULL) {
        return;
    }
    gather(&groups, slots, end);
    qsort(groups.leaks, GROUPS, sizeof groups.leaks[0], more_first);
    for (size_t i = 0; i < GROUPS && groups.leaks[i].count != 0; i++) {
        groups.leaks[i].table = table;
        groups.leaks[i].layout = slots->format.layout;
        on_leak(&groups.leaks[i], slots->common.leak_arg);
    }
}
