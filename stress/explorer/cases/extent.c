/*
 * White-box: fresh slots that one worker has drawn and another takes, when memory runs short.
 *
 * A worker steals from an extent when the table's bump has come to the end, and so has seen it; or
 * when the system refuses memory for slots beyond, and then the bump that it has seen may be below
 * the slots that it steals.  Slots here are as large as the steps in which memory is made writable.
 */
#include "concurrent/table/open.h"
#include "stress/explorer/cases/case.h"
#include <haft/scan.h>
#include <stddef.h>
#include <sys/mman.h>

static haft_worker *workers[2];

static void set_up(void)
{
    open_table(&(struct table_wish){.capacity = 2, .object_size = UINT64_C(2) << 20});
    struct reservation *memory = &fixture.table->slots.memory;

    memory->kind = IN_STEPS; /* and nothing is ready any more */
    store_relaxed(OWN, &memory->ready, 0);
    require(mprotect(memory->base, memory->size, PROT_READ) == 0, "readable memory");
    workers[0] = open_worker();
    workers[1] = open_worker();
}

static bool go_on(haft_id id, void *object, void *arg)
{
    (void)id;
    (void)object;
    (void)arg;
    return true;
}

/* A scan of the object's slot alone. */
static void look_for(haft_id id)
{
    const uint64_t index = haft_id_index(fixture.layout, id);

    haft_section_begin(fixture.domain);
    require(haft_scan(fixture.table, HAFT_RANGE(index, index + 1), go_on, NULL) == 1,
            "a scan ends below an object that its thread has inserted");
    haft_section_end(fixture.domain);
}

static void body(uint32_t thread)
{
    haft_id id;

    race_begin();
    refuse_memory(thread == 1);
    const haft_status status = haft_reserve(workers[thread], &id, NULL);

    refuse_memory(false);
    race_end();
    require(thread == 1 || status == HAFT_OK, "an odd answer");
    if (status == HAFT_OK) {
        haft_publish(workers[thread], id);
        look_for(id);
        require_status(haft_free(workers[thread], id), HAFT_OK, "freeing");
    }
}

static void tear_down(void)
{
    close_worker(workers[0]);
    close_worker(workers[1]);
    close_table();
}

EXPLORE(extent, 2, set_up, body, tear_down,
        "fresh slots have one owner each, whose scans come to them");
