/* The text of an export's file: JSON, one member a line. */
#include "kit/shared/export/export_text.h"
#include "concurrent/counted/open_list.h"
#include "concurrent/table/open.h"
#include "kit/shared/export/export_posix.h"
#include "lib/base/os_posix.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the process --- */

/* "number (name) state parent ...": the name may hold anything, and the 22nd field is the start. */
static void parse_stat(char *text, struct process *process)
{
    char *name = strchr(text, '(');
    char *end = strrchr(text, ')');

    if (name == NULL || end == NULL || end < name) {
        return;
    }
    *end = '\0';
    snprintf(process->program, sizeof process->program, "%s", name + 1);
    char *field = end + 1;

    for (int spaces = 0; spaces < 19 && field != NULL; spaces++) {
        field = strchr(field + 1, ' ');
    }
    if (field != NULL) {
        process->started = strtoull(field, NULL, 10);
    }
}

struct process process_of_this(void)
{
    struct process process = {.number = (uint64_t)getpid()};
    FILE *file = fopen("/proc/self/stat", "re");
    char text[1024];

    if (file != NULL) {
        const size_t length = fread(text, 1, sizeof text - 1, file);

        text[length] = '\0';
        parse_stat(text, &process);
        fclose(file);
    }
    return process;
}

/* --- strings --- */

/* Bytes of the UTF-8 sequence that `text` begins with; 0 if it begins with none. */
static unsigned sequence_length(const unsigned char *text)
{
    const unsigned length = text[0] < 0x80   ? 1
                            : text[0] < 0xc2 ? 0
                            : text[0] < 0xe0 ? 2
                            : text[0] < 0xf0 ? 3
                            : text[0] < 0xf5 ? 4
                                             : 0;

    for (unsigned i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    const bool is_wrong = (text[0] == 0xe0 && text[1] < 0xa0) ||  /* written too long */
                          (text[0] == 0xed && text[1] >= 0xa0) || /* half a pair */
                          (text[0] == 0xf0 && text[1] < 0x90) ||
                          (text[0] == 0xf4 && text[1] >= 0x90); /* beyond the last character */
    return is_wrong ? 0 : length;
}

/* Bytes that are no UTF-8 become question marks. */
static void put_string(FILE *out, const char *string)
{
    const unsigned char *at = (const unsigned char *)string;

    fputc('"', out);
    while (*at != '\0') {
        const unsigned length = sequence_length(at);

        if (length == 0) {
            fputc('?', out);
        } else if (*at < 0x20) {
            fprintf(out, "\\u%04x", *at);
        } else {
            fprintf(out, "%s%.*s", *at == '"' || *at == '\\' ? "\\" : "", (int)length,
                    (const char *)at);
        }
        at += length == 0 ? 1 : length;
    }
    fputc('"', out);
}

/* --- tables --- */

static void put_member(FILE *out, const char *key, uint64_t value)
{
    fprintf(out, ",\n      \"%s\": %" PRIu64, key, value);
}

#define PUT(name, kind, unit, meaning) put_member(out, #name, stats.name);

static void put_table(FILE *out, const haft_table *table)
{
    const haft_table_stats stats = haft_table_stats_get(table);

    fprintf(out, "    {\n      \"number\": %" PRIu64 ",\n      \"name\": ", table->number);
    put_string(out, table->name);
    put_member(out, "domain", table->domain->number);
    put_member(out, "object_size", table->slots.object_size);
    HAFT_TABLE_STATS(PUT)
    fputs("\n    }", out);
}

static void put_domain(FILE *out, const haft_domain *domain)
{
    const haft_domain_stats stats = haft_domain_stats_get(domain);

    fprintf(out, "    {\n      \"number\": %" PRIu64 ",\n      \"clock\": \"%s\"", domain->number,
            domain->clock->name);
    HAFT_DOMAIN_STATS(PUT)
    fputs("\n    }", out);
}

/* Whether no table before this one in the list is on its domain. */
static bool is_first_of_domain(const haft_table *tables, const haft_table *table)
{
    while (tables->domain != table->domain) {
        tables = tables->next_open;
    }
    return tables == table;
}

static void put_domains(FILE *out, const haft_table *tables)
{
    const char *before = "\n";

    for (const haft_table *table = tables; table != NULL; table = table->next_open) {
        if (is_first_of_domain(tables, table)) {
            fputs(before, out);
            put_domain(out, table->domain);
            before = ",\n";
        }
    }
}

static void put_tables(FILE *out, const haft_table *tables)
{
    const char *before = "\n";

    for (const haft_table *table = tables; table != NULL; table = table->next_open) {
        fputs(before, out);
        put_table(out, table);
        before = ",\n";
    }
}

static void put_one_counted(FILE *out, const haft_counted *table)
{
    const haft_counted_stats stats = haft_counted_stats_get(table);

    fprintf(out, "    {\n      \"number\": %" PRIu64 ",\n      \"name\": ", table->number);
    put_string(out, table->name);
    put_member(out, "object_size", table->object_size);
    HAFT_COUNTED_STATS(PUT)
    fputs("\n    }", out);
}

/* They stay open while the lock is held. */
static void put_counted(FILE *out)
{
    const char *before = "\n";

    open_list_lock();
    for (const haft_counted *table = open_list_first(); table != NULL; table = table->next_open) {
        fputs(before, out);
        put_one_counted(out, table);
        before = ",\n";
    }
    open_list_unlock();
}

/* --- the file --- */

/* The time that all processes of the machine share. */
static uint64_t boot_time_ns(void)
{
    struct timespec now;

    sys_clock_gettime(OS_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static void put_head(FILE *out, const struct export_head *head)
{
    fprintf(out,
            "{\n  \"haft_export\": 1,\n  \"process\": %" PRIu64 ",\n  \"started\": %" PRIu64
            ",\n  \"program\": ",
            head->process.number, head->process.started);
    put_string(out, head->process.program);
    fprintf(out,
            ",\n  \"written_ns\": %" PRIu64 ",\n  \"interval_ms\": %" PRIu64
            ",\n  \"sequence\": %" PRIu64 ",\n",
            boot_time_ns(), head->interval_ms, head->sequence);
}

char *export_text(const struct export_head *head, size_t *length)
{
    char *text = NULL;
    FILE *out = sys_open_memstream(&text, length);

    if (out == NULL) {
        return NULL;
    }
    put_head(out, head);
    const haft_table *tables = first_open_table();

    fputs("  \"domains\": [", out);
    put_domains(out, tables);
    fputs("\n  ],\n  \"tables\": [", out);
    put_tables(out, tables);
    fputs("\n  ],\n  \"counted\": [", out);
    put_counted(out);
    fputs("\n  ]\n}\n", out);
    const bool has_failed = ferror(out) != 0;

    if (fclose(out) != 0 || has_failed) {
        free(text);
        return NULL;
    }
    return text;
}
