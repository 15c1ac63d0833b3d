/* Any id into the calls of counted tables: one with shards, and one with copies and min_free. */
#include "fuzz/ids.h"
#include <string.h>

static haft_counted *table_of(const struct tables *tables, enum kind kind)
{
    return kind == COPIED ? tables->copied : tables->counted;
}

/* --- looking --- */

static void copy(const struct tables *tables, haft_id id, const struct object *live)
{
    const uint64_t before = ~UINT64_C(0);
    uint64_t value = before;

    must(haft_counted_copy(tables->copied, id, &value) == (live != NULL), "counted_copy", id);
    must(value == (live != NULL ? live->value : before), "the bytes of a copy", id);
}

void look_counted(struct tables *tables, enum kind kind, haft_id id)
{
    const haft_counted *table = table_of(tables, kind);
    const struct object *live = find(tables, kind, id, true);
    haft_id at = HAFT_NIL;
    const haft_status said =
        haft_counted_id_at(table, haft_id_index(layout_of(tables, kind), id), &at);

    must(haft_counted_is_live(table, id) == (live != NULL), "counted_is_live", id);
    must((said == HAFT_OK && haft_id_equal(at, id)) == (live != NULL), "counted_id_at", id);
    if (kind == COPIED) {
        copy(tables, id, live);
    }
}

void *resolve_counted(const struct tables *tables, enum kind kind, haft_id id)
{
    haft_counted *table = table_of(tables, kind);
    void *object = haft_counted_acquire(table, id);

    if (object != NULL) {
        must(haft_counted_release(table, id) == HAFT_OK, "a hold is given back", id);
    }
    return object;
}

const void *require_counted(const struct tables *tables, enum kind kind, haft_id id)
{
    haft_counted *table = table_of(tables, kind);
    const void *object = haft_counted_require(table, id);

    if (object != NULL) {
        must(haft_counted_release(table, id) == HAFT_OK, "a required hold is given back", id);
    }
    return object;
}

void check_held(const struct tables *tables, enum kind kind, const struct object *object)
{
    haft_counted *table = table_of(tables, kind);
    const haft_id id = object->id;

    must(memcmp(object->held, &object->value, sizeof object->value) == 0, "a held object", id);
    must(haft_counted_again(table, id) && haft_counted_release(table, id) == HAFT_OK,
         "an object is held still", id);
}

/* --- holding --- */

static void acquire(struct tables *tables, enum kind kind, haft_id id)
{
    struct object *object = find(tables, kind, id, true);
    const void *bytes = haft_counted_acquire(table_of(tables, kind), id);

    must((bytes != NULL) == (object != NULL), "counted_acquire", id);
    if (object != NULL) {
        object->held = bytes;
        object->pins++;
    }
}

static void again(struct tables *tables, enum kind kind, haft_id id)
{
    struct object *object = find(tables, kind, id, false);
    const bool is_held = object != NULL && object->pins != 0;

    must(haft_counted_again(table_of(tables, kind), id) == is_held, "counted_again", id);
    if (is_held) {
        object->pins++;
    }
}

static void release(struct tables *tables, enum kind kind, haft_id id)
{
    struct object *object = find(tables, kind, id, false);
    const bool is_held = object != NULL && object->pins != 0;

    must(haft_counted_release(table_of(tables, kind), id) == (is_held ? HAFT_OK : HAFT_NOT_HELD),
         "counted_release", id);
    if (is_held && --object->pins == 0 && !object->is_live) {
        object->id = HAFT_NIL;
    }
}

/* --- ending --- */

/* Another object for one that has ended; its slot may have no life left. */
static void replace(struct tables *tables, enum kind kind, haft_id id)
{
    const uint64_t value = ++tables->values;
    haft_id other;
    const haft_status said = haft_counted_insert(table_of(tables, kind), &value, &other);

    must(said == HAFT_OK || said == HAFT_FULL, "counted_insert", id);
    if (said == HAFT_OK) {
        must(!haft_id_equal(other, id), "an id comes back", id);
        note_birth(tables, kind, other);
    }
}

static void end(struct tables *tables, enum kind kind, haft_id id)
{
    struct object *object = find(tables, kind, id, true);
    const haft_status before = diagnose(tables, kind, id);

    must(haft_counted_free(table_of(tables, kind), id) == before, "the status of a free", id);
    must((before == HAFT_OK) == (object != NULL), "counted_free", id);
    if (object != NULL) {
        note_death(object);
    }
}

static void take(struct tables *tables, enum kind kind, haft_id id)
{
    struct object *object = find(tables, kind, id, true);
    const haft_status before = diagnose(tables, kind, id);
    const bool is_held = object != NULL && object->pins != 0;
    uint64_t value = 0;

    must(haft_counted_take(table_of(tables, kind), id, &value) == (is_held ? HAFT_IN_USE : before),
         "the status of taking", id);
    must((before == HAFT_OK) == (object != NULL), "counted_take", id);
    if (object != NULL && !is_held) {
        must(value == object->value, "the bytes that were taken", id);
        note_death(object);
        replace(tables, kind, id);
    }
}

void call_counted(struct tables *tables, enum kind kind, unsigned call, haft_id id)
{
    static void (*const calls[])(struct tables *, enum kind, haft_id) = {
        look_counted, acquire, again, release, end, take,
    };

    must(call < sizeof calls / sizeof calls[0], "there is no such call", id);
    calls[call](tables, kind, id);
    look_counted(tables, kind, id);
}

/* --- opening, closing --- */

void open_counted(struct tables *tables, haft_counted_options options)
{
    const haft_layout layout = options.layout;

    if (layout.generation_bits > 32) {
        options.layout = HAFT_LAYOUT_OF(layout.index_bits, 32, layout.tag_bits);
    }
    tables->counted_layout = options.layout;
    must_open(haft_counted_open(&options, &tables->counted));
    options.tag = haft_field_max(options.layout.tag_bits);
    options.min_free = MIN_FREE;
    options.copies = true;
    options.wipe = true;
    must_open(haft_counted_open(&options, &tables->copied));
}

void close_counted(struct tables *tables, enum kind kind)
{
    for (int i = 0; i < OBJECTS; i++) {
        const struct object *object = &tables->objects[kind][i];

        for (uint32_t holds = object->pins; holds != 0; holds--) {
            must_open(haft_counted_release(table_of(tables, kind), object->id));
        }
    }
    must_open(haft_counted_close(table_of(tables, kind)));
}
