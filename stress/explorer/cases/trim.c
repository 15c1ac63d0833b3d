/*
 * Memory is given back while another thread inserts.
 *
 * Clearing pages is an effect of the kernel that the explorer does not know; so os_discard()
 * refuses here, as it does for memory that is locked, and then the library clears the words itself.
 */
#include "stress/explorer/cases/case.h"
#include <haft/memory.h>

#define MOST_IDS 64 /* ids are below: 3 bits of index, 2 of generation */
#define OLD 2

static haft_worker *workers[2];
static haft_id old[OLD];
static shared_u64 issued[MOST_IDS];

bool __wrap_os_discard(char *base, size_t size);

bool __wrap_os_discard(char *base, size_t size)
{
    (void)base;
    (void)size;
    return false;
}

static haft_id insert_new(haft_worker *worker)
{
    const haft_id id = insert_stamped(worker);

    require(add(&issued[id.bits], 1) == 0, "an id is issued twice");
    return id;
}

/* Slots of eight pages each, which so can be given back one by one. */
static void set_up(void)
{
    const struct table_wish wish = {.capacity = 2, .object_size = 32760};

    for (int i = 0; i < MOST_IDS; i++) {
        poke(&issued[i], 0);
    }
    open_table(&wish);
    workers[0] = open_worker();
    workers[1] = open_worker();
    for (int i = 0; i < OLD; i++) {
        old[i] = insert_new(workers[0]);
    }
    for (int i = 0; i < OLD; i++) {
        require_status(haft_free(workers[0], old[i]), HAFT_OK, "freeing");
    }
    require_status(haft_worker_flush(workers[0]), HAFT_OK, "flushing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
}

static void live(haft_worker *worker)
{
    haft_id ids[OLD];

    for (int i = 0; i < OLD; i++) {
        ids[i] = insert_new(worker);
        require(look_at(ids[i]), "the inserted object is not there");
    }
    for (int i = 0; i < OLD; i++) {
        require(!look_at(old[i]), "a stale id resolves");
        require_status(haft_free(worker, ids[i]), HAFT_OK, "freeing");
    }
}

static void body(uint32_t thread)
{
    race_begin();
    if (thread == 1) {
        require_status(haft_trim(fixture.table, NULL), HAFT_OK, "trimming");
    } else {
        live(workers[1]);
    }
    race_end();
}

static void tear_down(void)
{
    close_worker(workers[0]);
    close_worker(workers[1]);
    require_room_for(2);
    close_table();
}

EXPLORE(trim, 2, set_up, body, tear_down,
        "slots whose memory is given back go on above all ids from before");
