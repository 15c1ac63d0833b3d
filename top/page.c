#include "examples/screen/text.h"
#include "top/views.h"
#include <inttypes.h>

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

enum { NAME_WIDTH = 16 };

/* In its column; a longer one is cut. */
static void put_name(GString *out, const char *name)
{
    char *shown = harmless(name);
    const glong length = g_utf8_strlen(shown, -1);

    *g_utf8_offset_to_pointer(shown, MIN(length, NAME_WIDTH)) = '\0';
    g_string_append_printf(out, "  %s%*s", shown, (int)MAX(NAME_WIDTH - length, 0), "");
    g_free(shown);
}

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

static void put_table(GString *out, const struct snapshot *snapshot, const struct table *table)
{
    static const struct table none;
    const struct table *before =
        snapshot->before != NULL ? snapshot_table(snapshot->before, table->number) : NULL;
    const double fill =
        table->capacity != 0 ? 100.0 * (double)table->live / (double)table->capacity : 0;

    before = before != NULL ? before : &none; /* opened since */
    put_name(out, table->name);
    g_string_append_printf(out, " %13s %5.1f%%", grouped(table->live), fill);
    g_string_append_printf(out, " %12s", rate(snapshot, table->created, before->created));
    g_string_append_printf(out, " %12s", rate(snapshot, table->freed, before->freed));
    g_string_append_printf(out, " %11s %11s %10s %10s %4s\n", grouped(table->high_water),
                           grouped(table->retired), grouped(table->stale_resolves),
                           grouped(table->refused_frees), grouped(table->workers));
}

static void put_domain(GString *out, const struct snapshot *snapshot, const struct domain *domain)
{
    const struct domain *before =
        snapshot->before != NULL ? snapshot_domain(snapshot->before, domain->number) : NULL;
    char *clock = harmless(domain->clock);

    g_string_append_printf(out, "  domain %" PRIu64 ", %s clock: %s grace periods", domain->number,
                           clock, grouped(domain->grace_periods));
    if (before != NULL) {
        g_string_append_printf(out, " (%s/s)",
                               rate(snapshot, domain->grace_periods, before->grace_periods));
    }
    g_string_append_printf(out, ", the longest %s; backlog %s, stalls %s\n",
                           duration(domain->longest_grace_period_ns), grouped(domain->backlog),
                           grouped(domain->stalls));
    g_free(clock);
}

static void put_process(GString *out, const struct snapshot *snapshot)
{
    const uint64_t age = snapshot_age_ns(snapshot);
    char *program = harmless(snapshot->program);

    g_string_append_printf(out, "%s (%" PRIu64 ")", program, snapshot->process);
    if (age > 3 * snapshot->interval_ms * 1000000) {
        g_string_append_printf(out, ", which has written nothing for %s", duration(age));
    }
    g_string_append_printf(out, "\n  %-*s %13s %6s %12s %12s %11s %11s %10s %10s %4s\n", NAME_WIDTH,
                           "table", "live", "fill", "created/s", "freed/s", "slots used", "waiting",
                           "stale", "refused", "wkrs");
    for (guint i = 0; i < snapshot->tables->len; i++) {
        put_table(out, snapshot, &g_array_index(snapshot->tables, struct table, i));
    }
    for (guint i = 0; i < snapshot->domains->len; i++) {
        put_domain(out, snapshot, &g_array_index(snapshot->domains, struct domain, i));
    }
    g_free(program);
}

void view_page(GString *out, const struct finding *finding)
{
    for (guint i = 0; i < finding->running->len; i++) {
        g_string_append(out, i != 0 ? "\n" : "");
        put_process(out, g_ptr_array_index(finding->running, i));
    }
}
