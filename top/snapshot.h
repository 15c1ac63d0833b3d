/*
 * snapshot.h - what one process has exported, as include/haft/kit/export.h describes it.
 */
#ifndef TOP_SNAPSHOT_H
#define TOP_SNAPSHOT_H

#include <glib.h>
#include <haft/counted.h>
#include <haft/table.h> /* the lists of statistics */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct domain {
    uint64_t number;
    const char *clock; /* the snapshot's, as all strings here */
    HAFT_DOMAIN_STATS(HAFT_STATS_MEMBER)
};

struct table {
    uint64_t number, domain, object_size;
    const char *name;
    HAFT_TABLE_STATS(HAFT_STATS_MEMBER)
};

struct counted {
    uint64_t number, object_size;
    const char *name;
    HAFT_COUNTED_STATS(HAFT_STATS_MEMBER)
};

struct snapshot {
    json_t *root; /* the whole file */
    uint64_t process, started, written_ns, interval_ms, sequence;
    uint64_t read_ns; /* on the clock of written_ns, before it was read */
    uint64_t turn;    /* by the file's name, among processes of that number: 1 and so on */
    const char *program;
    GArray *domains;         /* of struct domain */
    GArray *tables;          /* of struct table, oldest first */
    GArray *counted;         /* of struct counted, oldest first */
    struct snapshot *before; /* an earlier one of the same process, or NULL */
};

/* NULL, with `error` set, if the file cannot be read or is not an export; NULL alone if there is
 * none. */
struct snapshot *snapshot_read(const char *path, GError **error);
void snapshot_free(struct snapshot *snapshot);

/* For how long it had been as it is when it was read. */
uint64_t snapshot_age_ns(const struct snapshot *snapshot);

/* NULL: it has none of that number. */
const struct domain *snapshot_domain(const struct snapshot *snapshot, uint64_t number);
const struct table *snapshot_table(const struct snapshot *snapshot, uint64_t number);

#endif /* TOP_SNAPSHOT_H */
