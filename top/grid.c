#include "top/grid.h"

#define INDENT 2
#define MARK_WIDTH 3 /* of " +2" */

static unsigned character_width(gunichar character)
{
    if (g_unichar_iszerowidth(character)) {
        return 0;
    }
    return g_unichar_iswide(character) ? 2 : 1;
}

unsigned text_width(const char *text)
{
    unsigned width = 0;

    for (; *text != '\0'; text = g_utf8_next_char(text)) {
        width += character_width(g_utf8_get_char(text));
    }
    return width;
}

void text_cut(char *text, unsigned width)
{
    unsigned taken = 0;

    for (; width != 0 && *text != '\0'; text = g_utf8_next_char(text)) {
        taken += character_width(g_utf8_get_char(text));
        if (taken > width) {
            *text = '\0';
            return;
        }
    }
}

void grid_widen(struct grid *grid, char *const *cells)
{
    for (unsigned i = 0; i < grid->count; i++) {
        struct column *column = &grid->columns[i];
        const unsigned least = MAX(text_width(cells[i]), text_width(column->title));

        column->width = MAX(column->width, least);
    }
}

/* Columns stand two apart, as far as the first one is from the edge. */
static unsigned width_of(const struct grid *grid, bool with_all)
{
    unsigned width = 0;

    for (unsigned i = 0; i < grid->count; i++) {
        if (with_all || !grid->columns[i].is_left_out) {
            width += INDENT + grid->columns[i].width;
        }
    }
    return width;
}

unsigned grid_whole_width(const struct grid *grid)
{
    return width_of(grid, true);
}

/* The column to be left out next, or NULL. */
static struct column *least_important(struct grid *grid)
{
    struct column *least = NULL;

    for (unsigned i = 0; i < grid->count; i++) {
        struct column *column = &grid->columns[i];

        if (!column->is_left_out && column->rank > (least != NULL ? least->rank : 0)) {
            least = column;
        }
    }
    return least;
}

void grid_fit(struct grid *grid, unsigned width)
{
    struct column *column;

    grid->left_out = 0;
    for (unsigned i = 0; i < grid->count; i++) {
        grid->columns[i].is_left_out = false;
    }
    while (width != 0 && width_of(grid, false) + (grid->left_out != 0 ? MARK_WIDTH : 0) > width &&
           (column = least_important(grid)) != NULL) {
        column->is_left_out = true;
        grid->left_out++;
    }
}

static void put_cell(GString *out, const struct column *column, const char *text)
{
    const unsigned taken = text_width(text);
    const int padding = column->width > taken ? (int)(column->width - taken) : 0;

    g_string_append_printf(out, "%*s%*s%s%*s", INDENT, "", column->is_left ? 0 : padding, "", text,
                           column->is_left ? padding : 0, "");
}

void grid_put_titles(GString *out, const struct grid *grid)
{
    for (unsigned i = 0; i < grid->count; i++) {
        if (!grid->columns[i].is_left_out) {
            put_cell(out, &grid->columns[i], grid->columns[i].title);
        }
    }
    if (grid->left_out != 0) {
        g_string_append_printf(out, " +%u", grid->left_out);
    }
    g_string_append_c(out, '\n');
}

void grid_put(GString *out, const struct grid *grid, char *const *cells)
{
    for (unsigned i = 0; i < grid->count; i++) {
        if (!grid->columns[i].is_left_out) {
            put_cell(out, &grid->columns[i], cells[i]);
        }
    }
    g_string_append_c(out, '\n');
}
