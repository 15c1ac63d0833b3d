/* Each metric's samples stand together below its HELP and TYPE, as the format wants it. */
#include "top/views.h"
#include <inttypes.h>
#include <stddef.h>

struct metric {
    const char *name;
    const char *type;
    const char *help;
    size_t offset; /* in struct table or struct domain */
    double unit;   /* of what is exported, in that of the metric */
};

#define TABLE(member, suffix, type, help)                                                          \
    {                                                                                              \
        "haft_table_" #member suffix, type, help, offsetof(struct table, member), 1                \
    }
#define DOMAIN(member, suffix, type, help)                                                         \
    {                                                                                              \
        "haft_domain_" #member suffix, type, help, offsetof(struct domain, member), 1              \
    }

static const struct metric table_metrics[] = {
    TABLE(live, "", "gauge", "Objects published and not freed."),
    TABLE(reserved, "", "gauge", "Slots reserved and neither published nor given up."),
    TABLE(retired, "", "gauge", "Freed slots that are not taken back yet."),
    TABLE(free, "", "gauge", "Slots taken back."),
    TABLE(exhausted, "", "gauge", "Slots that have lived all their generations."),
    TABLE(given_back, "", "gauge", "Slots not used since their memory was given back."),
    TABLE(high_water, "", "gauge", "Slots ever used."),
    TABLE(capacity, "", "gauge", "Objects that fit for certain."),
    TABLE(limit, "", "gauge", "Slots there can be."),
    TABLE(workers, "", "gauge", "Open workers."),
    TABLE(object_size, "_bytes", "gauge", "Bytes of an object."),
    TABLE(created, "_total", "counter", "Objects ever published."),
    TABLE(freed, "_total", "counter", "Objects ever freed."),
    TABLE(refused_frees, "_total", "counter", "Frees of ids that were not live."),
    TABLE(stale_resolves, "_total", "counter", "Counted resolves of ids that were not live."),
    TABLE(batches_moved, "_total", "counter", "Batches of slots that changed workers."),
};

static const struct metric domain_metrics[] = {
    DOMAIN(grace_periods, "_total", "counter", "Grace periods that let something be reused."),
    {"haft_domain_longest_grace_period_seconds", "gauge", "The longest grace period so far.",
     offsetof(struct domain, longest_grace_period_ns), 1e-9},
    DOMAIN(backlog, "", "gauge", "Batches that wait for a grace period."),
    DOMAIN(stalls, "_total", "counter", "Grace periods that took too long."),
};

static void put_head(GString *out, const char *name, const char *type, const char *help)
{
    g_string_append_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* name="value" with the three characters escaped that the format escapes. */
static void put_label(GString *out, const char *name, const char *value)
{
    g_string_append_printf(out, ",%s=\"", name);
    for (; *value != '\0'; value++) {
        if (*value == '\n') {
            g_string_append(out, "\\n");
        } else {
            g_string_append_printf(out, "%s%c", *value == '"' || *value == '\\' ? "\\" : "",
                                   *value);
        }
    }
    g_string_append_c(out, '"');
}

static void put_process(GString *out, const char *name, const struct snapshot *snapshot)
{
    g_string_append_printf(out, "%s{process=\"%" PRIu64 "\"", name, snapshot->process);
    put_label(out, "program", snapshot->program);
    if (snapshot->turn != 1) { /* no two samples with the same labels */
        g_string_append_printf(out, ",turn=\"%" PRIu64 "\"", snapshot->turn);
    }
}

static void put_value(GString *out, const struct metric *metric, const void *from)
{
    const uint64_t value = G_STRUCT_MEMBER(uint64_t, from, metric->offset);

    if (metric->unit < 1) {
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append_printf(out, "} %s\n",
                               g_ascii_dtostr(text, sizeof text, (double)value * metric->unit));
    } else {
        g_string_append_printf(out, "} %" PRIu64 "\n", value);
    }
}

static void put_table_metric(GString *out, const struct metric *metric,
                             const struct snapshot *snapshot)
{
    for (guint i = 0; i < snapshot->tables->len; i++) {
        const struct table *table = &g_array_index(snapshot->tables, struct table, i);

        put_process(out, metric->name, snapshot);
        put_label(out, "table", table->name);
        g_string_append_printf(out, ",number=\"%" PRIu64 "\",domain=\"%" PRIu64 "\"", table->number,
                               table->domain);
        put_value(out, metric, table);
    }
}

static void put_domain_metric(GString *out, const struct metric *metric,
                              const struct snapshot *snapshot)
{
    for (guint i = 0; i < snapshot->domains->len; i++) {
        const struct domain *domain = &g_array_index(snapshot->domains, struct domain, i);

        put_process(out, metric->name, snapshot);
        put_label(out, "clock", domain->clock);
        g_string_append_printf(out, ",domain=\"%" PRIu64 "\"", domain->number);
        put_value(out, metric, domain);
    }
}

static void put_ages(GString *out, const struct finding *finding)
{
    put_head(out, "haft_export_age_seconds", "gauge", "Time since the export was written.");
    for (guint i = 0; i < finding->running->len; i++) {
        const struct snapshot *snapshot = g_ptr_array_index(finding->running, i);
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        put_process(out, "haft_export_age_seconds", snapshot);
        g_string_append_printf(
            out, "} %s\n",
            g_ascii_dtostr(text, sizeof text, (double)snapshot_age_ns(snapshot) * 1e-9));
    }
}

void view_prometheus(GString *out, const struct finding *finding)
{
    for (size_t m = 0; m < G_N_ELEMENTS(table_metrics); m++) {
        put_head(out, table_metrics[m].name, table_metrics[m].type, table_metrics[m].help);
        for (guint i = 0; i < finding->running->len; i++) {
            put_table_metric(out, &table_metrics[m], g_ptr_array_index(finding->running, i));
        }
    }
    for (size_t m = 0; m < G_N_ELEMENTS(domain_metrics); m++) {
        put_head(out, domain_metrics[m].name, domain_metrics[m].type, domain_metrics[m].help);
        for (guint i = 0; i < finding->running->len; i++) {
            put_domain_metric(out, &domain_metrics[m], g_ptr_array_index(finding->running, i));
        }
    }
    put_ages(out, finding);
}
