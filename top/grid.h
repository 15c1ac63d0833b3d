/*
 * grid.h - rows of cells in columns as wide as their widest cell.  Where the page is narrower, the
 * least important columns are left out.
 */
#ifndef TOP_GRID_H
#define TOP_GRID_H

#include <glib.h>
#include <stdbool.h>

enum { MOST_COLUMNS = 10 };

struct column {
    const char *title;
    unsigned rank;    /* the column with the highest one is left out first; 0: never */
    bool is_left;     /* its cells begin on the left */
    bool is_left_out; /* by grid_fit */
    unsigned width;   /* of the widest cell since the grid was made: columns stay in place */
};

struct grid {
    struct column columns[MOST_COLUMNS];
    unsigned count;
    unsigned left_out; /* columns */
};

/* How many columns of a terminal a UTF-8 text takes. */
unsigned text_width(const char *text);

/* Cuts the text to `width` columns; 0: leaves it whole. */
void text_cut(char *text, unsigned width);

/* Makes room for a row's cells, one for each column. */
void grid_widen(struct grid *grid, char *const *cells);

/* Leaves out as many columns as it takes for a row to fit; `width` of 0: none. */
void grid_fit(struct grid *grid, unsigned width);

/* How wide a row is with all columns. */
unsigned grid_whole_width(const struct grid *grid);

/* The titles, with the number of columns that are left out: "+2".  A row's cells. */
void grid_put_titles(GString *out, const struct grid *grid);
void grid_put(GString *out, const struct grid *grid, char *const *cells);

#endif /* TOP_GRID_H */
