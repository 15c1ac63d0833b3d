/*
 * A local table's free slots, cut into batches by several workers at once; then back again, with
 * readers or without.
 */
#include "stress/explorer/cases/case.h"
#include <haft/share.h>

#define WORKERS 3
#define SLOTS 4 /* of an index of 3 bits */

static haft_id kept;           /* lives before, while the table is shared, and after */
static shared_u64 destroyed;   /* calls of on_destroy */
static shared_u64 index_taken; /* a bit for each slot that a worker was given */

static void on_destroy(void *object, haft_id id, void *arg)
{
    (void)arg;
    require(is_stamped(object, id), "an object ends that is another id's");
    add(&destroyed, 1);
}

/* One object that stays, and a list of three free slots. */
static haft_local *open_local(haft_local_destroy *destroy)
{
    const haft_local_options options = {
        .capacity = SLOTS,
        .object_size = sizeof(struct object),
        .layout = {3, 2, 0, 0},
        .on_destroy = destroy,
    };
    haft_local *local;
    haft_id ids[WORKERS];

    require_status(haft_local_open(&options, &local), HAFT_OK, "opening a local table");
    kept = insert_local(local);
    for (int i = 0; i < WORKERS; i++) {
        ids[i] = insert_local(local);
    }
    for (int i = 0; i < WORKERS; i++) {
        require_status(haft_local_free(local, ids[i]), HAFT_OK, "freeing in a local table");
    }
    return local;
}

static void set_up(void)
{
    poke(&destroyed, 0);
    poke(&index_taken, 0);
    open_shared(open_local(on_destroy));
}

/* Take a slot of the list; the last thread frees what it has. */
static void body(uint32_t thread)
{
    haft_worker *worker = open_worker();

    race_begin();
    const haft_id own = insert_stamped(worker);

    race_end();
    const uint64_t bit = UINT64_C(1) << haft_id_index(fixture.layout, own);

    require((add(&index_taken, bit) & bit) == 0, "a slot has two owners");
    require(look_at(own), "an object is lost");
    require(look_at(kept), "an object from before is lost");
    if (thread == WORKERS - 1) {
        require_status(haft_free(worker, own), HAFT_OK, "freeing");
    }
    close_worker(worker);
}

static void tear_down(void)
{
    haft_local *local;

    require_status(haft_unshare(fixture.table, &local), HAFT_OK, "unsharing");
    require(peek(&destroyed) == WORKERS + 1, "on_destroy once for each object freed");
    require(haft_local_count(local) == SLOTS - 1, "an object is lost, or lives too long");
    require(is_stamped(haft_resolve(haft_local_view(local), kept), kept), "an object has changed");
    require(haft_is_live(haft_local_view(local), insert_local(local)), "a free slot is lost");
    haft_local_close(local);
    require_status(haft_domain_close(fixture.domain), HAFT_OK, "closing the domain");
}

EXPLORE(share, WORKERS, set_up, body, tear_down,
        "each free slot of a shared local table goes to one worker, and none is lost");

/* --- unshare: a reader holds a freed object, while another thread takes the table back --- */

static haft_worker *freer;
static haft_local *taken_back; /* NULL: still shared */
static shared_u64 has_looked;  /* the reader has done with the table, and looks at its object */
static shared_u64 is_inside;

static void spoil(void *object, haft_id id, void *arg)
{
    on_destroy(object, id, arg);
    stamp(object, HAFT_NIL);
}

static void set_up_unshare(void)
{
    poke(&destroyed, 0);
    poke(&has_looked, 0);
    poke(&is_inside, 0);
    open_shared(open_local(spoil));
    poke(&destroyed, 0);
    freer = open_worker();
    taken_back = NULL;
}

static void read_long(void)
{
    haft_section_begin(fixture.domain);
    const struct object *object = haft_resolve(fixture.view, kept);

    poke(&is_inside, object != NULL);
    poke(&has_looked, 1);
    for (int i = 0; object != NULL && i < 3; i++) {
        require(is_stamped(object, kept), "an object is not itself in a section that holds it");
        peek(&has_looked);
    }
    poke(&is_inside, 0);
    haft_section_end(fixture.domain);
}

/* And use all slots, the one that was freed among them. */
static void take_back(void)
{
    require_status(haft_unshare(fixture.table, &taken_back), HAFT_OK, "unsharing");
    require(peek(&destroyed) == 1, "on_destroy runs for the freed object");
    for (int i = 0; i < SLOTS; i++) {
        insert_local(taken_back);
    }
}

static void unshare_body(uint32_t thread)
{
    if (thread == 0) {
        read_long();
        return;
    }
    require_status(haft_free(freer, kept), HAFT_OK, "freeing");
    close_worker(freer);
    if (peek(&has_looked) == 0) {
        return; /* it may still resolve, which it may not when the table is used up */
    }
    if (peek(&is_inside) != 0) {
        met();
    }
    take_back();
}

static void tear_down_unshare(void)
{
    if (taken_back == NULL) {
        take_back();
    }
    haft_local_close(taken_back);
    require_status(haft_domain_close(fixture.domain), HAFT_OK, "closing the domain");
}

EXPLORE(unshare, 2, set_up_unshare, unshare_body, tear_down_unshare,
        "what a section holds stays itself while the table is taken back and used");
