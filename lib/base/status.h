/* lib/base/status.h - statuses of the kit, which the core has no words for. */
#ifndef HAFT_LIB_STATUS_H
#define HAFT_LIB_STATUS_H

#include <haft/status.h>

struct status_words {
    const char *name;
    const char *text;
};

/* The words of statuses `first` and those after it. */
struct status_list {
    unsigned first;
    unsigned count;
    const struct status_words *words;
};

/* From now on statuses of the list have words: always the same list, a constant. */
void status_list_add(const struct status_list *list);

#endif /* HAFT_LIB_STATUS_H */
