#include "top/snapshot.h"
#include "top/failure.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

G_DEFINE_QUARK(top_failure, top_failure)

#define MOST_BYTES (64 << 20)
#define NS_PER_S UINT64_C(1000000000)

static bool refuse(GError **error, const char *path, const char *format, ...) G_GNUC_PRINTF(3, 4);
static bool refuse(GError **error, const char *path, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, TOP_FAILURE, EXIT_MALFORMED, "%s: %s", path, message);
    g_free(message);
    return false;
}

/* --- the file --- */

/* Others could have put something else there: no links, no devices, no other user's files. */
static bool check_file(int file, const char *path, GError **error)
{
    struct stat found;

    if (fstat(file, &found) != 0) {
        return refuse(error, path, "%s", g_strerror(errno));
    }
    if (!S_ISREG(found.st_mode)) {
        return refuse(error, path, "not a regular file");
    }
    if (found.st_uid != geteuid() && geteuid() != 0) {
        return refuse(error, path, "not yours");
    }
    return found.st_size <= MOST_BYTES || refuse(error, path, "larger than any export");
}

static json_t *parse(int file, const char *path, GError **error)
{
    json_error_t reason;
    json_t *root = json_loadfd(file, JSON_REJECT_DUPLICATES, &reason);

    if (root == NULL) {
        g_set_error(error, TOP_FAILURE, EXIT_MALFORMED, "%s:%d:%d: %s", path, MAX(reason.line, 1),
                    MAX(reason.column, 0) + 1, reason.text);
    }
    return root;
}

static json_t *load(const char *path, GError **error)
{
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    json_t *root = NULL;

    if (file < 0 && errno == ENOENT) {
        return NULL;
    }
    if (file < 0) {
        refuse(error, path, "%s", errno == ELOOP ? "a symbolic link" : g_strerror(errno));
        return NULL;
    }
    if (check_file(file, path, error)) {
        root = parse(file, path, error);
    }
    close(file);
    return root;
}

/* --- its members --- */

/* A member that must be a number, and where it goes. */
struct member {
    const char *key;
    size_t offset;
};

#define MEMBER(type, name)                                                                         \
    {                                                                                              \
#name, offsetof(struct type, name)                                                         \
    }

static const struct member head_members[] = {
    MEMBER(snapshot, process),     MEMBER(snapshot, started),  MEMBER(snapshot, written_ns),
    MEMBER(snapshot, interval_ms), MEMBER(snapshot, sequence),
};

#define DOMAIN_MEMBER(name, kind, unit, meaning) MEMBER(domain, name),
#define TABLE_MEMBER(name, kind, unit, meaning) MEMBER(table, name),
#define COUNTED_MEMBER(name, kind, unit, meaning) MEMBER(counted, name),

static const struct member domain_members[] = {MEMBER(domain, number),
                                               HAFT_DOMAIN_STATS(DOMAIN_MEMBER)};

static const struct member table_members[] = {MEMBER(table, number), MEMBER(table, domain),
                                              MEMBER(table, object_size),
                                              HAFT_TABLE_STATS(TABLE_MEMBER)};

static const struct member counted_members[] = {
    MEMBER(counted, number), MEMBER(counted, object_size), HAFT_COUNTED_STATS(COUNTED_MEMBER)};

static bool take_numbers(const json_t *object, const struct member *members, size_t count, void *to,
                         const char *what, const char *path, GError **error)
{
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_object_get(object, members[i].key);

        if (!json_is_integer(value) || json_integer_value(value) < 0) {
            return refuse(error, path, "%s has no number \"%s\"", what, members[i].key);
        }
        const uint64_t number = (uint64_t)json_integer_value(value);

        memcpy((char *)to + members[i].offset, &number, sizeof number);
    }
    return true;
}

static bool take_string(const json_t *object, const char *key, const char **to, const char *what,
                        const char *path, GError **error)
{
    *to = json_string_value(json_object_get(object, key));
    return *to != NULL || refuse(error, path, "%s has no string \"%s\"", what, key);
}

static bool take_domain(struct snapshot *snapshot, const json_t *object, const char *path,
                        GError **error)
{
    struct domain domain;

    if (!take_numbers(object, domain_members, G_N_ELEMENTS(domain_members), &domain, "a domain",
                      path, error) ||
        !take_string(object, "clock", &domain.clock, "a domain", path, error)) {
        return false;
    }
    g_array_append_val(snapshot->domains, domain);
    return true;
}

static bool take_table(struct snapshot *snapshot, const json_t *object, const char *path,
                       GError **error)
{
    struct table table;

    if (!take_numbers(object, table_members, G_N_ELEMENTS(table_members), &table, "a table", path,
                      error) ||
        !take_string(object, "name", &table.name, "a table", path, error)) {
        return false;
    }
    if (snapshot_domain(snapshot, table.domain) == NULL) {
        return refuse(error, path, "table %" PRIu64 " is on no domain of the file", table.number);
    }
    g_array_prepend_val(snapshot->tables, table);
    return true;
}

static bool take_counted(struct snapshot *snapshot, const json_t *object, const char *path,
                         GError **error)
{
    struct counted counted;

    if (!take_numbers(object, counted_members, G_N_ELEMENTS(counted_members), &counted,
                      "a counted table", path, error) ||
        !take_string(object, "name", &counted.name, "a counted table", path, error)) {
        return false;
    }
    g_array_prepend_val(snapshot->counted, counted);
    return true;
}

typedef bool take_member(struct snapshot *snapshot, const json_t *object, const char *path,
                         GError **error);

static bool take_all(struct snapshot *snapshot, const char *key, take_member *take,
                     const char *path, GError **error)
{
    const json_t *list = json_object_get(snapshot->root, key);

    if (!json_is_array(list)) {
        return refuse(error, path, "the file has no list \"%s\"", key);
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!take(snapshot, json_array_get(list, i), path, error)) {
            return false;
        }
    }
    return true;
}

/* Libraries before 0.2 write no such list. */
static bool take_counted_if_any(struct snapshot *snapshot, const char *path, GError **error)
{
    return json_object_get(snapshot->root, "counted") == NULL ||
           take_all(snapshot, "counted", take_counted, path, error);
}

static bool take_snapshot(struct snapshot *snapshot, const char *path, GError **error)
{
    const json_t *version = json_object_get(snapshot->root, "haft_export");

    if (!json_is_integer(version)) {
        return refuse(error, path, "not an export: it has no number \"haft_export\"");
    }
    if (json_integer_value(version) != 1) {
        return refuse(error, path, "an export of version %" JSON_INTEGER_FORMAT ", not 1",
                      json_integer_value(version));
    }
    return take_numbers(snapshot->root, head_members, G_N_ELEMENTS(head_members), snapshot,
                        "the file", path, error) &&
           take_string(snapshot->root, "program", &snapshot->program, "the file", path, error) &&
           take_all(snapshot, "domains", take_domain, path, error) &&
           take_all(snapshot, "tables", take_table, path, error) &&
           take_counted_if_any(snapshot, path, error);
}

static uint64_t now_ns(void)
{
    struct timespec time;

    clock_gettime(CLOCK_BOOTTIME, &time);
    return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

struct snapshot *snapshot_read(const char *path, GError **error)
{
    const uint64_t read_ns = now_ns();
    json_t *root = load(path, error);

    if (root == NULL) {
        return NULL;
    }
    struct snapshot *snapshot = g_new0(struct snapshot, 1);

    snapshot->root = root;
    snapshot->read_ns = read_ns;
    snapshot->domains = g_array_new(FALSE, FALSE, sizeof(struct domain));
    snapshot->tables = g_array_new(FALSE, FALSE, sizeof(struct table));
    snapshot->counted = g_array_new(FALSE, FALSE, sizeof(struct counted));
    if (!take_snapshot(snapshot, path, error)) {
        snapshot_free(snapshot);
        return NULL;
    }
    return snapshot;
}

void snapshot_free(struct snapshot *snapshot)
{
    if (snapshot != NULL) {
        snapshot_free(snapshot->before);
        g_array_unref(snapshot->domains);
        g_array_unref(snapshot->tables);
        g_array_unref(snapshot->counted);
        json_decref(snapshot->root);
        g_free(snapshot);
    }
}

/* --- questions --- */

uint64_t snapshot_age_ns(const struct snapshot *snapshot)
{
    return snapshot->read_ns > snapshot->written_ns ? snapshot->read_ns - snapshot->written_ns : 0;
}

const struct domain *snapshot_domain(const struct snapshot *snapshot, uint64_t number)
{
    for (guint i = 0; i < snapshot->domains->len; i++) {
        const struct domain *domain = &g_array_index(snapshot->domains, struct domain, i);

        if (domain->number == number) {
            return domain;
        }
    }
    return NULL;
}

const struct table *snapshot_table(const struct snapshot *snapshot, uint64_t number)
{
    for (guint i = 0; i < snapshot->tables->len; i++) {
        const struct table *table = &g_array_index(snapshot->tables, struct table, i);

        if (table->number == number) {
            return table;
        }
    }
    return NULL;
}
