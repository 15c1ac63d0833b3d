/* Each metric's samples stand together below its HELP and TYPE, as the format wants it. */
#include "top/views.h"
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct metric {
    const char *of;   /* "table", "domain" or "counted" */
    const char *name; /* in haft/detail/stats.h */
    const char *kind;
    const char *unit;
    const char *meaning;
    size_t offset; /* in the struct of that name */
};

#define TABLE_METRIC(name, kind, unit, meaning)                                                    \
    {"table", #name, #kind, #unit, meaning, offsetof(struct table, name)},
#define DOMAIN_METRIC(name, kind, unit, meaning)                                                   \
    {"domain", #name, #kind, #unit, meaning, offsetof(struct domain, name)},
#define COUNTED_METRIC(name, kind, unit, meaning)                                                  \
    {"counted", #name, #kind, #unit, meaning, offsetof(struct counted, name)},

static const struct metric table_metrics[] = {
    HAFT_TABLE_STATS(TABLE_METRIC){"table", "object_size", "gauge", "bytes", "of one object",
                                   offsetof(struct table, object_size)},
};

static const struct metric domain_metrics[] = {HAFT_DOMAIN_STATS(DOMAIN_METRIC)};

static const struct metric counted_metrics[] = {
    HAFT_COUNTED_STATS(COUNTED_METRIC){"counted", "object_size", "gauge", "bytes", "of one object",
                                       offsetof(struct counted, object_size)},
};

static bool is_time(const struct metric *metric)
{
    return strcmp(metric->unit, "ns") == 0;
}

/* As the format wants names: counters end in _total, times are in seconds, sizes in bytes. */
static const char *name_of(const struct metric *metric)
{
    static char name[100];
    const int length = (int)strlen(metric->name) - (is_time(metric) ? (int)strlen("_ns") : 0);

    snprintf(name, sizeof name, "haft_%s_%.*s%s", metric->of, length, metric->name,
             strcmp(metric->kind, "counter") == 0                                       ? "_total"
             : is_time(metric)                                                          ? "_seconds"
             : strcmp(metric->unit, "bytes") == 0 && strcmp(metric->name, "bytes") != 0 ? "_bytes"
                                                                                        : "");
    return name;
}

static void put_head(GString *out, const char *name, const char *type, const char *help)
{
    g_string_append_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void put_metric_head(GString *out, const struct metric *metric)
{
    char *help = is_time(metric) ? g_strdup(metric->meaning)
                                 : g_strdup_printf("%s: %s", metric->unit, metric->meaning);

    put_head(out, name_of(metric), metric->kind, help);
    g_free(help);
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

    if (is_time(metric)) {
        char text[G_ASCII_DTOSTR_BUF_SIZE];

        g_string_append_printf(out, "} %s\n",
                               g_ascii_dtostr(text, sizeof text, (double)value * 1e-9));
    } else {
        g_string_append_printf(out, "} %" PRIu64 "\n", value);
    }
}

static void put_table_metric(GString *out, const struct metric *metric,
                             const struct snapshot *snapshot)
{
    for (guint i = 0; i < snapshot->tables->len; i++) {
        const struct table *table = &g_array_index(snapshot->tables, struct table, i);

        put_process(out, name_of(metric), snapshot);
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

        put_process(out, name_of(metric), snapshot);
        put_label(out, "clock", domain->clock);
        g_string_append_printf(out, ",domain=\"%" PRIu64 "\"", domain->number);
        put_value(out, metric, domain);
    }
}

static void put_counted_metric(GString *out, const struct metric *metric,
                               const struct snapshot *snapshot)
{
    for (guint i = 0; i < snapshot->counted->len; i++) {
        const struct counted *counted = &g_array_index(snapshot->counted, struct counted, i);

        put_process(out, name_of(metric), snapshot);
        put_label(out, "table", counted->name);
        g_string_append_printf(out, ",number=\"%" PRIu64 "\"", counted->number);
        put_value(out, metric, counted);
    }
}

/* Of all processes. */
typedef void put_metric(GString *out, const struct metric *metric, const struct snapshot *snapshot);

static void put_metrics(GString *out, const struct finding *finding, const struct metric *metrics,
                        size_t count, put_metric *put)
{
    for (size_t m = 0; m < count; m++) {
        put_metric_head(out, &metrics[m]);
        for (guint i = 0; i < finding->running->len; i++) {
            put(out, &metrics[m], g_ptr_array_index(finding->running, i));
        }
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
    put_metrics(out, finding, table_metrics, G_N_ELEMENTS(table_metrics), put_table_metric);
    put_metrics(out, finding, domain_metrics, G_N_ELEMENTS(domain_metrics), put_domain_metric);
    put_metrics(out, finding, counted_metrics, G_N_ELEMENTS(counted_metrics), put_counted_metric);
    put_ages(out, finding);
}
