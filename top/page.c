#include "top/page.h"
#include "examples/screen/text.h"
#include <inttypes.h>

enum { LONGEST_NAME = 24 };

const char page_legend[] =
    "  live        objects published and not freed; fill: of the capacity\n"
    "  created/s, freed/s   since the look before\n"
    "  slots used  ever; waiting: freed, and not reclaimed yet\n"
    "  refused     frees of ids that were not live\n"
    "  workers     open ones\n"
    "  periods     grace periods that have passed; longest: of these\n"
    "  backlog     batches of up to 128 freed slots that wait for a grace period\n"
    "  stalls      grace periods noticed to last longer than the domain's stall_ns\n"
    "  held        live objects of a counted table that have holders\n"
    "  ended       freed, and still held or being destroyed\n"
    "  +2          two columns have no room: widen the terminal, or let a pager show\n"
    "              all (haft-top --once DIRECTORY | less -S)\n";

char *harmless(const char *text)
{
    GString *copy = g_string_new(NULL);
    char *valid = g_utf8_make_valid(text, -1);

    for (const char *at = valid; *at != '\0'; at = g_utf8_next_char(at)) {
        const gunichar character = g_utf8_get_char(at);

        g_string_append_unichar(copy, g_unichar_isprint(character) ? character : '?');
    }
    g_free(valid);
    return g_string_free(copy, FALSE);
}

void page_init(struct page *page)
{
    *page = (struct page){
        .tables = {.count = 9,
                   .columns = {{.title = "table", .is_left = true},
                               {.title = "live"},
                               {.title = "fill", .rank = 1},
                               {.title = "created/s", .rank = 4},
                               {.title = "freed/s", .rank = 5},
                               {.title = "slots used", .rank = 6},
                               {.title = "waiting", .rank = 2},
                               {.title = "refused", .rank = 3},
                               {.title = "workers", .rank = 7}}},
        .domains = {.count = 7,
                    .columns = {{.title = "domain", .is_left = true},
                                {.title = "clock", .is_left = true, .rank = 2},
                                {.title = "periods", .rank = 5},
                                {.title = "periods/s", .rank = 4},
                                {.title = "longest", .rank = 3},
                                {.title = "backlog"},
                                {.title = "stalls", .rank = 1}}},
        .counted = {.count = 8,
                    .columns = {{.title = "counted", .is_left = true},
                                {.title = "live"},
                                {.title = "fill", .rank = 1},
                                {.title = "held", .rank = 3},
                                {.title = "ended", .rank = 2},
                                {.title = "reserved", .rank = 5},
                                {.title = "slots used", .rank = 4},
                                {.title = "bytes", .rank = 6}}},
    };
}

/* --- cells --- */

/* Since the snapshot before, by the second; "-" if there is none. */
static const char *rate(const struct snapshot *snapshot, uint64_t now, uint64_t before)
{
    const struct snapshot *earlier = snapshot->before;

    if (earlier == NULL || snapshot->written_ns <= earlier->written_ns || now < before) {
        return "-";
    }
    const double seconds = (double)(snapshot->written_ns - earlier->written_ns) / 1e9;

    return grouped((uint64_t)((double)(now - before) / seconds + 0.5));
}

static char *name_cell(const char *name)
{
    char *shown = harmless(name);

    text_cut(shown, LONGEST_NAME);
    return shown;
}

static char *fill_cell(uint64_t live, uint64_t capacity)
{
    const double fill = capacity != 0 ? 100.0 * (double)live / (double)capacity : 0;

    return g_strdup_printf("%.1f%%", fill);
}

static char **table_cells(const struct snapshot *snapshot, const struct table *table)
{
    static const struct table none;
    const struct table *before =
        snapshot->before != NULL ? snapshot_table(snapshot->before, table->number) : NULL;
    char **cells = g_new0(char *, MOST_COLUMNS + 1);
    char **cell = cells;

    before = before != NULL ? before : &none; /* opened since */
    *cell++ = name_cell(table->name);
    *cell++ = g_strdup(grouped(table->live));
    *cell++ = fill_cell(table->live, table->capacity);
    *cell++ = g_strdup(rate(snapshot, table->created, before->created));
    *cell++ = g_strdup(rate(snapshot, table->freed, before->freed));
    *cell++ = g_strdup(grouped(table->high_water));
    *cell++ = g_strdup(grouped(table->retired));
    *cell++ = g_strdup(grouped(table->refused_frees));
    *cell++ = g_strdup(grouped(table->workers));
    return cells;
}

static char **domain_cells(const struct snapshot *snapshot, const struct domain *domain)
{
    const struct domain *before =
        snapshot->before != NULL ? snapshot_domain(snapshot->before, domain->number) : NULL;
    const uint64_t earlier = before != NULL ? before->grace_periods : 0;
    char **cells = g_new0(char *, MOST_COLUMNS + 1);
    char **cell = cells;

    *cell++ = g_strdup_printf("%" PRIu64, domain->number);
    *cell++ = name_cell(domain->clock);
    *cell++ = g_strdup(grouped(domain->grace_periods));
    *cell++ = g_strdup(rate(snapshot, domain->grace_periods, earlier));
    *cell++ = g_strdup(duration(domain->longest_grace_period_ns));
    *cell++ = g_strdup(grouped(domain->backlog));
    *cell++ = g_strdup(grouped(domain->stalls));
    return cells;
}

static char **counted_cells(const struct counted *counted)
{
    char **cells = g_new0(char *, MOST_COLUMNS + 1);
    char **cell = cells;

    *cell++ = name_cell(counted->name);
    *cell++ = g_strdup(grouped(counted->live));
    *cell++ = fill_cell(counted->live, counted->capacity);
    *cell++ = g_strdup(grouped(counted->held));
    *cell++ = g_strdup(grouped(counted->ended));
    *cell++ = g_strdup(grouped(counted->reserved));
    *cell++ = g_strdup(grouped(counted->high_water));
    *cell++ = g_strdup(grouped(counted->bytes));
    return cells;
}

/* --- lines --- */

/* Measures a row, or appends it. */
typedef void handle_row(GString *out, struct grid *grid, char *const *cells);

static void measure(GString *out, struct grid *grid, char *const *cells)
{
    (void)out;
    grid_widen(grid, cells);
}

static void put(GString *out, struct grid *grid, char *const *cells)
{
    grid_put(out, grid, cells);
}

static void each_table(GString *out, struct grid *grid, const struct snapshot *snapshot,
                       handle_row *handle)
{
    for (guint i = 0; i < snapshot->tables->len; i++) {
        char **cells = table_cells(snapshot, &g_array_index(snapshot->tables, struct table, i));

        handle(out, grid, cells);
        g_strfreev(cells);
    }
}

static void each_domain(GString *out, struct grid *grid, const struct snapshot *snapshot,
                        handle_row *handle)
{
    for (guint i = 0; i < snapshot->domains->len; i++) {
        char **cells = domain_cells(snapshot, &g_array_index(snapshot->domains, struct domain, i));

        handle(out, grid, cells);
        g_strfreev(cells);
    }
}

static void each_counted(GString *out, struct grid *grid, const struct snapshot *snapshot,
                         handle_row *handle)
{
    for (guint i = 0; i < snapshot->counted->len; i++) {
        char **cells = counted_cells(&g_array_index(snapshot->counted, struct counted, i));

        handle(out, grid, cells);
        g_strfreev(cells);
    }
}

static void put_process(GString *out, struct page *page, const struct snapshot *snapshot)
{
    const uint64_t age = snapshot_age_ns(snapshot);
    char *program = harmless(snapshot->program);

    g_string_append_printf(out, "%s (%" PRIu64 ")", program, snapshot->process);
    if (age > 3 * snapshot->interval_ms * 1000000) {
        g_string_append_printf(out, ", which has written nothing for %s", duration(age));
    }
    g_string_append_c(out, '\n');
    if (snapshot->tables->len != 0) {
        grid_put_titles(out, &page->tables);
        each_table(out, &page->tables, snapshot, put);
    }
    if (snapshot->domains->len != 0) {
        grid_put_titles(out, &page->domains);
        each_domain(out, &page->domains, snapshot, put);
    }
    if (snapshot->counted->len != 0) {
        grid_put_titles(out, &page->counted);
        each_counted(out, &page->counted, snapshot, put);
    }
    g_free(program);
}

static void fit(struct page *page, const struct finding *finding, unsigned width)
{
    for (guint i = 0; i < finding->running->len; i++) {
        const struct snapshot *snapshot = g_ptr_array_index(finding->running, i);

        each_table(NULL, &page->tables, snapshot, measure);
        each_domain(NULL, &page->domains, snapshot, measure);
        each_counted(NULL, &page->counted, snapshot, measure);
    }
    grid_fit(&page->tables, width);
    grid_fit(&page->domains, width);
    grid_fit(&page->counted, width);
}

static void put_names_left_out(GString *out, const struct grid *grid, bool *is_first)
{
    for (unsigned i = 0; i < grid->count; i++) {
        if (grid->columns[i].is_left_out) {
            g_string_append_printf(out, "%s %s", *is_first ? "" : ",", grid->columns[i].title);
            *is_first = false;
        }
    }
}

/* The names of the columns that are left out, and how to see them. */
static void put_left_out(GString *out, const struct page *page)
{
    const unsigned whole =
        MAX(MAX(grid_whole_width(&page->tables), grid_whole_width(&page->domains)),
            grid_whole_width(&page->counted));
    bool is_first = true;

    if (page->tables.left_out + page->domains.left_out + page->counted.left_out != 0) {
        g_string_append(out, "+ left out:");
        put_names_left_out(out, &page->tables, &is_first);
        put_names_left_out(out, &page->domains, &is_first);
        put_names_left_out(out, &page->counted, &is_first);
        g_string_append_printf(out,
                               "\n+ to see all: a terminal of %u columns, or"
                               " haft-top --once DIRECTORY | less -S\n",
                               whole);
    }
}

static void put_cut(GString *out, const char *text, unsigned width)
{
    char **lines = g_strsplit(text, "\n", -1);

    for (guint i = 0; lines[i] != NULL; i++) {
        text_cut(lines[i], width);
        g_string_append_printf(out, "%s%s", lines[i], lines[i + 1] != NULL ? "\n" : "");
    }
    g_strfreev(lines);
}

void page_put(GString *out, struct page *page, const struct finding *finding, unsigned width)
{
    GString *whole = g_string_new(NULL);

    fit(page, finding, width);
    for (guint i = 0; i < finding->running->len; i++) {
        g_string_append(whole, i != 0 ? "\n" : "");
        put_process(whole, page, g_ptr_array_index(finding->running, i));
    }
    put_left_out(whole, page);
    put_cut(out, whole->str, width);
    g_string_free(whole, TRUE);
}
