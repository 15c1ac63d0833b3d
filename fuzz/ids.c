/*
 * Target: any 64 bits at every entry point that takes an id.  Of what the input names, only the
 * ids that a table has issued and not ended may match.
 *
 * The first byte chooses the layout; each nine bytes after it are an entry point and an id.
 */
#include "fuzz/target.h"
#include <haft/many.h>
#include <haft/packed.h>
#include <haft/share.h>
#include <stdio.h>
#include <string.h>

#define LIVE 6
#define BYTES 9

struct tables {
    haft_local *local;
    haft_packed *packed;
    haft_domain *domain;
    haft_table *table;
    haft_worker *worker;
    haft_id live[3][LIVE]; /* local, packed, shared; nil: ended */
};

static const haft_layout layouts[] = {{32, 32, 0}, {32, 24, 8}, {20, 12, 0}, {16, 16, 0},
                                      {4, 2, 0},   {5, 3, 2},   {4, 60, 0},  {8, 8, 8}};

static bool telling;

void target_tell(void)
{
    telling = true;
}

static void must(bool holds, const char *what, haft_id id)
{
    if (!holds) {
        fprintf(stderr, "DIFFERENCE: %s, id %llx\n", what, (unsigned long long)id.bits);
        target_differs();
    }
}

static void must_open(haft_status status)
{
    must(status == HAFT_OK, haft_status_name(status), HAFT_NIL);
}

static void open_tables(struct tables *tables, haft_layout layout)
{
    const haft_local_options local = {.capacity = LIVE, .object_size = 8, .layout = layout};
    const haft_packed_options packed = {.capacity = LIVE, .object_size = 8, .layout = layout};
    const haft_domain_options domain = {.clock = HAFT_CLOCK_FRAME};
    const haft_table_options table = {.capacity = LIVE, .object_size = 8, .layout = layout};

    must_open(haft_local_open(&local, &tables->local));
    must_open(haft_packed_open(&packed, &tables->packed));
    must_open(haft_domain_open(&domain, &tables->domain));
    must_open(haft_table_open(tables->domain, &table, &tables->table));
    must_open(haft_worker_open(tables->table, &tables->worker));
    for (int i = 0; i < LIVE; i++) {
        must_open(haft_local_insert(tables->local, NULL, &tables->live[0][i]));
        must_open(haft_packed_insert(tables->packed, NULL, &tables->live[1][i]));
        must_open(haft_insert(tables->worker, NULL, &tables->live[2][i]));
    }
}

static void close_tables(struct tables *tables)
{
    haft_local_close(tables->local);
    haft_packed_close(tables->packed);
    must_open(haft_worker_close(tables->worker));
    must_open(haft_table_close(tables->table));
    must_open(haft_domain_close(tables->domain));
}

/* The place of a live id, or NULL. */
static haft_id *find(struct tables *tables, int table, haft_id id)
{
    for (int i = 0; i < LIVE; i++) {
        if (tables->live[table][i].bits == id.bits && id.bits != 0) {
            return &tables->live[table][i];
        }
    }
    return NULL;
}

static void look(struct tables *tables, int table, haft_id id)
{
    const bool is_live = find(tables, table, id) != NULL;
    const haft_view view =
        table == 0 ? haft_local_view(tables->local) : haft_table_view(tables->table);
    const haft_packed_view packed = haft_packed_view_get(tables->packed);
    uint64_t position;
    void *object;

    if (table == 1) {
        must((haft_packed_resolve(packed, id) != NULL) == is_live, "packed_resolve", id);
        must(haft_packed_is_live(packed, id) == is_live, "packed_is_live", id);
        must((haft_packed_position(tables->packed, id, &position) == HAFT_OK) == is_live,
             "packed_position", id);
        must((haft_packed_state(tables->packed, id) != HAFT_PACKED_UNUSED) == is_live,
             "packed_state", id);
        must((haft_packed_diagnose(tables->packed, id) == HAFT_OK) == is_live, "diagnose", id);
        return;
    }
    must((haft_resolve(view, id) != NULL) == is_live, "resolve", id);
    must(haft_is_live(view, id) == is_live, "is_live", id);
    must((haft_resolve_many(view, &id, &object, 1) != 0) == is_live, "resolve_many", id);
    must(((table == 0 ? haft_local_diagnose(tables->local, id)
                      : haft_diagnose(tables->table, id)) == HAFT_OK) == is_live,
         "diagnose", id);
}

static void end(struct tables *tables, int table, bool many, haft_id id)
{
    haft_id *live = find(tables, table, id);
    const haft_status said = table == 0   ? haft_local_free(tables->local, id)
                             : table == 1 ? haft_packed_free(tables->packed, id)
                             : !many      ? haft_free(tables->worker, id)
                             : haft_free_many(tables->worker, &id, 1, NULL) == 1 ? HAFT_OK
                                                                                 : HAFT_STALE;

    must((said == HAFT_OK) == (live != NULL), "free", id);
    if (live != NULL) {
        *live = HAFT_NIL;
    }
    look(tables, table, id);
}

static void restore(struct tables *tables, bool frees, haft_id id)
{
    haft_id *gap = NULL;

    for (int i = 0; i < LIVE; i++) {
        gap = haft_id_is_nil(tables->live[0][i]) ? &tables->live[0][i] : gap;
    }
    if (frees) {
        (void)haft_local_restore_free(tables->local, id);
    } else if (haft_local_restore(tables->local, id, NULL) == HAFT_OK) {
        must(gap != NULL, "restored beyond the capacity", id);
        *gap = id;
    }
    look(tables, 0, id);
}

static void one(struct tables *tables, uint8_t entry, haft_id id)
{
    if (telling) {
        fprintf(stderr, "entry %u, id %llx\n", entry % 8, (unsigned long long)id.bits);
    }
    switch (entry % 8) {
    case 0:
    case 1:
    case 2:
        look(tables, entry % 8, id);
        break;
    case 3:
    case 4:
    case 5:
        end(tables, entry % 8 - 3, entry >= 128, id);
        break;
    case 6:
        restore(tables, entry >= 128, id);
        break;
    default:
        must((haft_packed_kill(tables->packed, id) == HAFT_OK) <= (find(tables, 1, id) != NULL),
             "kill", id);
    }
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
        /* Half of them small: then they lie in the layouts. */
        id.bits = data[at] & 64 ? id.bits : id.bits & 0xff000000ff;
        one(&tables, data[at], id);
    }
    close_tables(&tables);
    return count + 1;
}
