/*
 * Target: any 64 bits into every call that takes any id, on a table of each kind.
 * Of what the input names, only the ids that a table has issued and not ended may match; the answer
 * is what the id's fields and its table allow; and all other objects stay as they were.  (Ids that
 * are published or given up are the caller's own: others there are misuse.)
 *
 * The first byte chooses the layout; each nine bytes after it are a call and an id:
 *
 *   bits 0 to 2   the call, and with bits 3, 4 and 7 its variant; 0 to 2 with bit 7: one of the
 *                 counted tables' calls
 *   bit 5         one of the table's own ids, with one bit flipped or none
 *   bit 6         the id as it is; else few bits of it, so that it lies in the layouts
 */
#include "fuzz/ids.h"
#include "fuzz/target.h"
#include <haft/detail/local_front.h>
#include <haft/diagnose.h>
#include <haft/kit/restore.h>
#include <haft/pin.h>
#include <haft/share.h>
#include <haft/table.h>
#include <haft/view.h>
#include <stdio.h>
#include <string.h>

#define BYTES 9

static const haft_layout layouts[] = {{32, 32, 0, 0}, {32, 24, 8, 0}, {20, 12, 0, 0},
                                      {16, 16, 0, 0}, {4, 2, 0, 0},   {5, 3, 2, 0},
                                      {4, 60, 0, 0},  {8, 8, 8, 0}};

static bool telling;

void target_tell(void)
{
    telling = true;
}

/* --- looking --- */

/* What is said of an id is allowed by its fields, and OK exactly if it is live. */
static void check_diagnosis(struct tables *tables, enum kind kind, haft_id id)
{
    const haft_status said = diagnose(tables, kind, id);
    const haft_status fields = fields_say(tables, kind, id);
    const bool is_live = find(tables, kind, id, true) != NULL;

    must((said == HAFT_OK) == is_live, "diagnose", id);
    must(fields == HAFT_OK || said == fields, "diagnose of the fields", id);
    must(fields != HAFT_OK || is_live || said == HAFT_NEVER_ISSUED || said == HAFT_STALE ||
             said == HAFT_EXHAUSTED,
         "diagnose of an id that is not live", id);
}

static void look_packed(struct tables *tables, haft_id id, bool is_live)
{
    const haft_dense_view view = haft_packed_view(tables->packed);
    uint64_t position;

    must(haft_packed_is_live(view, id) == is_live, "packed_is_live", id);
    must(haft_packed_position(tables->packed, id, &position) ==
             haft_packed_diagnose(tables->packed, id),
         "packed_position", id);
    must((haft_packed_state(tables->packed, id) != HAFT_PACKED_UNUSED) == is_live, "packed_state",
         id);
}

static void look_by_view(struct tables *tables, enum kind kind, haft_id id, bool is_live)
{
    const haft_view view =
        kind == LOCAL ? haft_local_view(tables->local) : haft_table_view(tables->table);
    void *object;

    must(haft_is_live(view, id) == is_live, "is_live", id);
    must((haft_resolve_many(view, &id, &object, 1) != 0) == is_live, "resolve_many", id);
    must((haft_ref_get(haft_ref_of(view, id)) != NULL) == is_live, "ref_of", id);
    if (kind == SHARED) {
        const struct object *named = find(tables, SHARED, id, false);

        must(haft_pins(tables->table, id) == (named != NULL ? named->pins : 0), "pins", id);
    }
}

static void require(struct tables *tables, enum kind kind, haft_id id, bool is_live)
{
    const haft_dense_view packed = haft_packed_view(tables->packed);

    tables->last = (haft_bad_access){.status = HAFT_OK};
    const void *object =
        kind == LOCAL    ? haft_local_require(tables->local, haft_local_view(tables->local), id)
        : kind == PACKED ? haft_packed_require(tables->packed, packed, id)
        : kind == SHARED ? haft_require(tables->table, haft_table_view(tables->table), id)
                         : require_counted(tables, kind, id);

    must((object != NULL) == is_live, "require", id);
    must(tables->last.status == diagnose(tables, kind, id), "the status in on_bad_access", id);
    must(is_live || haft_id_equal(tables->last.id, id), "the id in on_bad_access", id);
}

static void diagnose_format(struct tables *tables, enum kind kind, haft_id id, char text[256])
{
    switch (kind) {
    case LOCAL:
        haft_local_diagnose_format(tables->local, id, text, 256);
        break;
    case PACKED:
        haft_packed_diagnose_format(tables->packed, id, text, 256);
        break;
    case SHARED:
        haft_diagnose_format(tables->table, id, text, 256);
        break;
    default:
        haft_counted_diagnose_format(kind == COPIED ? tables->copied : tables->counted, id, text,
                                     256);
    }
}

/* In words: the status is named; and the id's own text can be read again. */
static void describe(struct tables *tables, enum kind kind, haft_id id)
{
    const haft_status status = diagnose(tables, kind, id);
    const haft_layout layout = layout_of(tables, kind);
    haft_id again = HAFT_NIL;
    char text[256];

    diagnose_format(tables, kind, id, text);
    must(status == HAFT_OK || strstr(text, haft_status_name(status)) != NULL || kind == PACKED,
         "diagnose_format", id);
    must(haft_id_format(layout, id, text, sizeof text) < HAFT_ID_TEXT_SIZE, "id_format", id);
    must(haft_id_parse(layout, text, &again) && haft_id_equal(again, id), "id_parse", id);
}

static void look(struct tables *tables, enum kind kind, haft_id id)
{
    const bool is_live = find(tables, kind, id, true) != NULL;

    check_diagnosis(tables, kind, id);
    must((resolve(tables, kind, id) != NULL) == is_live, "resolve", id);
    if (kind == PACKED) {
        look_packed(tables, id, is_live);
    } else {
        look_by_view(tables, kind, id, is_live);
    }
}

/* --- ending --- */

/* By a command set; then all readers are done, as the frame is. */
static haft_status destroy(struct tables *tables, haft_id id, haft_status before)
{
    haft_recorder *recorder;
    haft_applied applied;

    must_open(haft_recorder_open(tables->commands, 1, 0, &recorder));
    must_open(haft_recorder_destroy(recorder, id));
    must_open(haft_commands_apply(tables->commands, &applied));
    must_open(haft_domain_tick(tables->domain));
    must(applied.destroyed + applied.stale + applied.refused == 1, "one destruction", id);
    must(applied.stale == (before == HAFT_STALE || before == HAFT_EXHAUSTED), "counted as stale",
         id);
    return applied.destroyed != 0 ? HAFT_OK : before;
}

static haft_status end_shared(struct tables *tables, unsigned how, haft_id id, haft_status before)
{
    haft_status status = HAFT_OK;

    switch (how) {
    case 0:
        return haft_free(tables->worker, id);
    case 1:
        return haft_table_free(tables->table, id);
    case 2:
        return destroy(tables, id, before);
    default:
        must(haft_free_many(tables->worker, &id, 1, &status) == (status == HAFT_OK), "free_many",
             id);
        return status;
    }
}

static void end(struct tables *tables, enum kind kind, unsigned how, haft_id id)
{
    struct object *object = find(tables, kind, id, true);
    const haft_status before = diagnose(tables, kind, id);
    const haft_status said =
        kind == PACKED   ? haft_packed_free(tables->packed, id)
        : kind == SHARED ? end_shared(tables, how, id, before)
        : how % 2 == 0   ? haft_local_free(tables->local, id)
                         : haft_local_free_front(tables->local, haft_local_view(tables->local), id);

    must((said == HAFT_OK) == (object != NULL), "free", id);
    must(said == before, "the status of a free", id);
    if (object != NULL) {
        note_death(object);
    }
    look(tables, kind, id);
}

static bool is_in_front(const struct tables *tables, haft_id id)
{
    return !haft_id_is_nil(id) && haft_id_equal(haft_packed_id_in(tables->packed, 0), id);
}

static void kill(struct tables *tables, haft_id id)
{
    const haft_status before = haft_packed_diagnose(tables->packed, id);
    const bool was_dead = haft_packed_state(tables->packed, id) == HAFT_PACKED_DEAD;
    const haft_status said = haft_packed_kill(tables->packed, id);

    must(said == (was_dead ? HAFT_DEAD : before), "kill", id);
    look(tables, PACKED, id);
}

/* To the front of the packed table, and to the place of its last object. */
static void reorder(struct tables *tables, haft_id id)
{
    const haft_status before = haft_packed_diagnose(tables->packed, id);
    const uint64_t count = haft_packed_count(tables->packed);

    must(haft_packed_sort_as(tables->packed, &id, 1) == HAFT_OK, "sort_as", id);
    must((before == HAFT_OK) == is_in_front(tables, id), "the front of a sorted table", id);
    if (count != 0) {
        const haft_id last = haft_packed_id_in(tables->packed, count - 1);

        must(haft_packed_swap(tables->packed, last, id) == before, "swap", id);
    }
    look(tables, PACKED, id);
}

/* --- restoring --- */

static void check_restored(struct tables *tables, enum kind kind, haft_id id, haft_status said)
{
    const haft_status fields = fields_say(tables, kind, id);

    if (said == HAFT_OK) {
        must(fields == HAFT_OK && haft_id_generation(tables->layout, id) != 0,
             "restored, whatever its fields", id);
    } else if (fields != HAFT_OK) {
        must(said == fields, "restoring what its fields forbid", id);
    }
    must(said != HAFT_OK || find(tables, kind, id, false) == NULL, "restored twice", id);
}

/* As haft_local_restore(), in steps. */
static haft_status reserve_and_publish(struct tables *tables, haft_id id, uint64_t value)
{
    void *object = NULL;
    const haft_status said = haft_local_reserve_at(tables->local, id, &object);

    must((said == HAFT_OK) == (object != NULL), "reserve_at", id);
    if (said == HAFT_OK) {
        must(haft_local_diagnose(tables->local, id) == HAFT_RESERVED, "reserved at", id);
        memcpy(object, &value, sizeof value);
        haft_local_publish(tables->local, id);
    }
    return said;
}

static void restore_local(struct tables *tables, bool frees, unsigned how, haft_id id)
{
    const uint64_t value = ++tables->values;

    if (frees) {
        (void)haft_local_restore_free(tables->local, id);
    } else {
        const haft_status said = how % 2 == 0 ? haft_local_restore(tables->local, id, &value)
                                              : reserve_and_publish(tables, id, value);

        check_restored(tables, LOCAL, id, said);
        if (said == HAFT_OK) {
            note_birth(tables, LOCAL, id);
        }
    }
    look(tables, LOCAL, id);
}

/* --- pins --- */

static void pin(struct tables *tables, haft_id id)
{
    struct object *object = find(tables, SHARED, id, true);
    const void *bytes = haft_pin(tables->table, id);

    must(bytes == (object != NULL ? resolve(tables, SHARED, id) : NULL), "pin", id);
    if (object != NULL) {
        object->pins++;
    }
}

static void unpin(struct tables *tables, haft_id id)
{
    struct object *object = find(tables, SHARED, id, false);
    const bool is_pinned = object != NULL && object->pins != 0;

    must(haft_unpin(tables->table, id) == (is_pinned ? HAFT_OK : HAFT_NOT_PINNED), "unpin", id);
    if (is_pinned && --object->pins == 0 && !object->is_live) {
        object->id = HAFT_NIL;
    }
}

/* --- the sequence --- */

static void one_counted(struct tables *tables, unsigned call, haft_id id)
{
    const enum kind kind = call < COUNTED_CALLS ? COUNTED : COPIED;

    check_diagnosis(tables, kind, id);
    call_counted(tables, kind, call % COUNTED_CALLS, id);
    check_diagnosis(tables, kind, id);
}

static void one_more(struct tables *tables, unsigned how, bool other, haft_id id)
{
    switch (how) {
    case 0:
        (other ? reorder : kill)(tables, id);
        break;
    case 1:
        (other ? unpin : pin)(tables, id);
        break;
    default:
        for (int kind = 0; kind < KINDS; kind++) {
            if (how == 2) {
                describe(tables, (enum kind)kind, id);
            } else {
                require(tables, (enum kind)kind, id,
                        find(tables, (enum kind)kind, id, true) != NULL);
            }
        }
    }
}

static void one(struct tables *tables, uint8_t entry, haft_id id)
{
    const unsigned how = entry >> 3 & 3;
    const bool other = entry >= 128;

    if (telling) {
        fprintf(stderr, "call %u.%u%s, id %llx\n", entry % 8, how, other ? "'" : "",
                (unsigned long long)id.bits);
    }
    switch (entry % 8) {
    case 0:
    case 1:
    case 2:
        if (other) {
            one_counted(tables, entry % 8 * 4 + how, id);
        } else {
            look(tables, (enum kind)(entry % 8), id);
        }
        break;
    case 3:
    case 4:
    case 5:
        end(tables, (enum kind)(entry % 8 - 3), other ? 3 : how, id);
        break;
    case 6:
        restore_local(tables, other, how % 3, id);
        break;
    default:
        one_more(tables, how, other, id);
    }
    check_others(tables, id);
}

/* One of the ids that the tables have, or had, with one bit flipped or none. */
static haft_id near_one(const struct tables *tables, uint64_t bits)
{
    const bool is_counted = bits >> 23 & 1;
    const uint64_t kind = is_counted ? COUNTED + bits % 2 : bits % COUNTED;
    const struct object *object = &tables->objects[kind][(bits >> 8 & 0xff) % OBJECTS];
    const unsigned bit = bits >> 16 & 127;

    return (haft_id){object->id.bits ^ (bit < 64 ? UINT64_C(1) << bit : 0)};
}

uint64_t target_run(const uint8_t *data, size_t size)
{
    struct tables tables = {0};
    uint64_t count = 0;

    if (size < 1) {
        return 0;
    }
    open_tables(&tables, layouts[data[0] % (sizeof layouts / sizeof layouts[0])]);
    for (size_t at = 1; at + BYTES <= size; at += BYTES, count++) {
        haft_id id;

        memcpy(&id.bits, data + at + 1, sizeof id.bits);
        id.bits = data[at] & 64 ? id.bits : id.bits & 0xff000000ff;
        if (data[at] & 32) {
            memcpy(&id.bits, data + at + 1, sizeof id.bits);
            id = near_one(&tables, id.bits);
        }
        one(&tables, data[at], id);
    }
    close_tables(&tables);
    return count + 1;
}
