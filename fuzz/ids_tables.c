/* The tables that ids are tried on: opened, closed, and what they ought to have. */
#include "fuzz/ids.h"
#include "fuzz/target.h"
#include <haft/pin.h>
#include <stdio.h>
#include <string.h>

void must(bool holds, const char *what, haft_id id)
{
    if (!holds) {
        fprintf(stderr, "DIFFERENCE: %s, id %llx\n", what, (unsigned long long)id.bits);
        target_differs();
    }
}

void must_open(haft_status status)
{
    must(status == HAFT_OK, haft_status_name(status), HAFT_NIL);
}

static void on_bad_access(const haft_bad_access *access, void *arg)
{
    struct tables *tables = arg;

    tables->last = *access;
}

/* --- objects --- */

struct object *find(struct tables *tables, enum kind kind, haft_id id, bool live)
{
    for (int i = 0; i < OBJECTS; i++) {
        struct object *object = &tables->objects[kind][i];

        if (object->id.bits == id.bits && id.bits != 0 && (object->is_live || !live)) {
            return object;
        }
    }
    return NULL;
}

static struct object *gap_of(struct tables *tables, enum kind kind)
{
    for (int i = 0; i < OBJECTS; i++) {
        if (haft_id_is_nil(tables->objects[kind][i].id)) {
            return &tables->objects[kind][i];
        }
    }
    must(false, "more objects than fit", HAFT_NIL);
    return NULL;
}

void note_birth(struct tables *tables, enum kind kind, haft_id id)
{
    *gap_of(tables, kind) = (struct object){.id = id, .value = tables->values, .is_live = true};
}

void note_death(struct object *object)
{
    object->is_live = false;
    if (object->pins == 0) {
        object->id = HAFT_NIL;
    }
}

void *resolve(const struct tables *tables, enum kind kind, haft_id id)
{
    return kind == LOCAL    ? haft_resolve(haft_local_view(tables->local), id)
           : kind == PACKED ? haft_packed_resolve(haft_packed_view(tables->packed), id)
           : kind == SHARED ? haft_resolve(haft_table_view(tables->table), id)
                            : resolve_counted(tables, kind, id);
}

void check_others(const struct tables *tables, haft_id id)
{
    for (int i = 0; i < KINDS * OBJECTS; i++) {
        const enum kind kind = (enum kind)(i % KINDS);
        const struct object *object = &tables->objects[kind][i / KINDS];

        if (object->is_live) {
            const void *bytes = resolve(tables, kind, object->id);

            must(bytes != NULL && memcmp(bytes, &object->value, sizeof object->value) == 0,
                 "another object has changed", id);
        }
        if (kind == SHARED && object->pins != 0) {
            must(haft_pins(tables->table, object->id) == object->pins, "another's pins", id);
        }
        if (kind >= COUNTED && object->pins != 0) {
            check_held(tables, kind, object);
        }
    }
}

/* --- statuses --- */

haft_layout layout_of(const struct tables *tables, enum kind kind)
{
    return kind >= COUNTED ? tables->counted_layout : tables->layout;
}

haft_status fields_say(const struct tables *tables, enum kind kind, haft_id id)
{
    const haft_layout layout = layout_of(tables, kind);
    const unsigned width = (unsigned)layout.index_bits + layout.generation_bits + layout.tag_bits;
    const uint64_t tag = kind == COPIED ? haft_field_max(layout.tag_bits) : 0;

    return haft_id_is_nil(id)                             ? HAFT_NO_ID
           : id.bits > haft_field_max(width)              ? HAFT_MALFORMED
           : haft_id_index(layout, id) < HAFT_FIRST_INDEX ? HAFT_MALFORMED
           : haft_id_tag(layout, id) != tag               ? HAFT_FOREIGN
                                                          : HAFT_OK;
}

haft_status diagnose(const struct tables *tables, enum kind kind, haft_id id)
{
    return kind == LOCAL     ? haft_local_diagnose(tables->local, id)
           : kind == PACKED  ? haft_packed_diagnose(tables->packed, id)
           : kind == SHARED  ? haft_diagnose(tables->table, id)
           : kind == COUNTED ? haft_counted_diagnose(tables->counted, id)
                             : haft_counted_diagnose(tables->copied, id);
}

/* --- opening, closing --- */

static void insert_objects(struct tables *tables)
{
    for (int i = 0; i < OBJECTS; i++) {
        const uint64_t value = ++tables->values;
        haft_id ids[KINDS];

        must_open(haft_local_insert(tables->local, &value, &ids[LOCAL]));
        must_open(haft_packed_insert(tables->packed, &value, &ids[PACKED]));
        must_open(haft_insert(tables->worker, &value, &ids[SHARED]));
        must_open(haft_counted_insert(tables->counted, &value, &ids[COUNTED]));
        must_open(haft_counted_insert(tables->copied, &value, &ids[COPIED]));
        for (int kind = 0; kind < KINDS; kind++) {
            note_birth(tables, (enum kind)kind, ids[kind]);
        }
    }
}

void open_tables(struct tables *tables, haft_layout layout)
{
    const haft_local_options local = {.capacity = OBJECTS,
                                      .object_size = 8,
                                      .layout = layout,
                                      .on_bad_access = on_bad_access,
                                      .report_arg = tables};
    const haft_packed_options packed = {.capacity = OBJECTS,
                                        .object_size = 8,
                                        .layout = layout,
                                        .on_bad_access = on_bad_access,
                                        .report_arg = tables};
    const haft_domain_options domain = {.clock = HAFT_CLOCK_FRAME};
    const haft_table_options table = {.capacity = OBJECTS,
                                      .object_size = 8,
                                      .layout = layout,
                                      .pins = true,
                                      .on_bad_access = on_bad_access,
                                      .report_arg = tables};
    const haft_counted_options counted = {.capacity = OBJECTS,
                                          .object_size = 8,
                                          .layout = layout,
                                          .on_bad_access = on_bad_access,
                                          .report_arg = tables};

    tables->layout = layout;
    must_open(haft_local_open(&local, &tables->local));
    must_open(haft_packed_open(&packed, &tables->packed));
    must_open(haft_domain_open(&domain, &tables->domain));
    must_open(haft_table_open(tables->domain, &table, &tables->table));
    must_open(haft_worker_open(tables->table, &tables->worker));
    must_open(haft_commands_open(tables->table, NULL, &tables->commands));
    open_counted(tables, counted);
    insert_objects(tables);
}

void close_tables(struct tables *tables)
{
    haft_local_close(tables->local);
    haft_packed_close(tables->packed);
    haft_commands_close(tables->commands);
    must_open(haft_worker_close(tables->worker));
    for (int i = 0; i < OBJECTS; i++) {
        const struct object *object = &tables->objects[SHARED][i];

        for (uint32_t pins = object->pins; pins != 0; pins--) {
            must_open(haft_unpin(tables->table, object->id));
        }
    }
    close_counted(tables, COUNTED);
    close_counted(tables, COPIED);
    must_open(haft_table_close(tables->table));
    must_open(haft_domain_close(tables->domain));
}
