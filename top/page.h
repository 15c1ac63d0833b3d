/*
 * page.h - a finding for people: one line for each table, domain and counted table, no wider than
 * the terminal.
 */
#ifndef TOP_PAGE_H
#define TOP_PAGE_H

#include "top/find.h"
#include "top/grid.h"

struct page {
    struct grid tables;
    struct grid domains;
    struct grid counted;
};

/* What the columns mean, for --help and the screen. */
extern const char page_legend[];

/* A page with nothing on it yet. */
void page_init(struct page *page);

/* Appends the page, of lines that are at most `width` columns wide; 0: as wide as they are. */
void page_put(GString *out, struct page *page, const struct finding *finding, unsigned width);

/* A copy with a question mark for each character that a terminal could take for a command. */
char *harmless(const char *text);

#endif /* TOP_PAGE_H */
