/*
 * fuzz/ids.h - a table of each kind, and the objects that they ought to have.
 */
#ifndef HAFT_FUZZ_IDS_H
#define HAFT_FUZZ_IDS_H

#include <haft/counted.h>
#include <haft/diagnose.h>
#include <haft/kit/commands.h>
#include <haft/kit/packed.h>
#include <haft/local.h>
#include <haft/table.h>

#define OBJECTS 6  /* in each table, from the start */
#define MIN_FREE 3 /* of COPIED */

/* COUNTED, COPIED: both counted, the second with copies and min_free. */
enum kind { LOCAL, PACKED, SHARED, COUNTED, COPIED, KINDS };

/* Live, or freed and still pinned, or held. */
struct object {
    haft_id id; /* nil: none */
    uint64_t value;
    uint32_t pins;    /* or holds */
    const void *held; /* its bytes, if it has holds */
    bool is_live;
};

struct tables {
    haft_layout layout;
    haft_layout counted_layout;
    haft_local *local;
    haft_packed *packed;
    haft_domain *domain;
    haft_table *table;
    haft_worker *worker;
    haft_commands *commands;
    haft_counted *counted;
    haft_counted *copied;
    struct object objects[KINDS][OBJECTS];
    uint64_t values;      /* that were given to objects */
    haft_bad_access last; /* of on_bad_access */
};

void open_tables(struct tables *tables, haft_layout layout);
void close_tables(struct tables *tables);

/* The object that `id` names, or NULL; if not `live`, also one that was freed and is pinned. */
struct object *find(struct tables *tables, enum kind kind, haft_id id, bool live);

/* With the value given last. */
void note_birth(struct tables *tables, enum kind kind, haft_id id);
void note_death(struct object *object);

/* Every object that ought to live does, and is what it was; else `id` is to blame. */
void check_others(const struct tables *tables, haft_id id);

/* As the table itself says. */
void *resolve(const struct tables *tables, enum kind kind, haft_id id);
haft_status diagnose(const struct tables *tables, enum kind kind, haft_id id);

/* What the fields say that no table's state can change; else HAFT_OK. */
haft_status fields_say(const struct tables *tables, enum kind kind, haft_id id);
haft_layout layout_of(const struct tables *tables, enum kind kind);

/* ids_counted.c: `kind` is COUNTED or COPIED. */
#define COUNTED_CALLS 6

void call_counted(struct tables *tables, enum kind kind, unsigned call, haft_id id);
void look_counted(struct tables *tables, enum kind kind, haft_id id);
void *resolve_counted(const struct tables *tables, enum kind kind, haft_id id);
const void *require_counted(const struct tables *tables, enum kind kind, haft_id id);
void check_held(const struct tables *tables, enum kind kind, const struct object *object);
void open_counted(struct tables *tables, haft_counted_options options); /* both */
void close_counted(struct tables *tables, enum kind kind);

/* Else that is a difference. */
void must(bool holds, const char *what, haft_id id);
void must_open(haft_status status);

#endif /* HAFT_FUZZ_IDS_H */
