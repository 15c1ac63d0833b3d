/*
 * White-box: slots in the table's lists; and the last unpin beside a thread that reclaims.
 */
#include "concurrent/worker/lists.h"
#include "stress/explorer/cases/case.h"
#include <haft/pin.h>
#include <stddef.h>

#define SLOTS 3

/* --- list: one takes, one takes two, gives the first back and keeps the second --- */

static struct batch batches[3];
static haft_worker *worker;

static atomic_u64 *word_of(uint64_t index)
{
    return slots_word(&fixture.table->slots, index);
}

static void set_up_list(void)
{
    open_table(&(struct table_wish){.capacity = 2});
    worker = open_worker();
    for (uint32_t i = 0; i < SLOTS; i++) {
        insert_stamped(worker); /* so that the words are in use */
    }
    for (uint32_t i = SLOTS; i != 0; i--) {
        const uint64_t index = HAFT_FIRST_INDEX + i - 1;

        store_relaxed(OWN, word_of(index),
                      word_with_index(&fixture.table->slots.format,
                                      load_relaxed(OWN, word_of(index)), MARK_FREE));
        list_push(fixture.table, LIST_FREED, index);
    }
    for (int i = 0; i < 3; i++) {
        batches[i].count = 0;
    }
}

static void list_body(uint32_t thread)
{
    race_begin();
    if (thread == 0) {
        list_take(fixture.table, LIST_FREED, &batches[0], 1);
    } else if (list_take(fixture.table, LIST_FREED, &batches[1], 1) == 1) {
        list_take(fixture.table, LIST_FREED, &batches[2], 1);
        list_push(fixture.table, LIST_FREED, batches[1].indices[0]);
    }
    race_end();
}

/* Each slot is in one place; then they are live again, as the set-up left them. */
static void tear_down_list(void)
{
    uint32_t found[SLOTS] = {0};
    struct batch rest = {.count = 0};

    list_take(fixture.table, LIST_FREED, &rest, SLOTS + 1);
    for (uint32_t i = 0; i < rest.count; i++) {
        found[rest.indices[i] - HAFT_FIRST_INDEX]++;
    }
    for (int i = 0; i < 3; i += 2) {
        for (uint32_t j = 0; j < batches[i].count; j++) {
            found[batches[i].indices[j] - HAFT_FIRST_INDEX]++;
        }
    }
    for (uint32_t i = 0; i < SLOTS; i++) {
        const uint64_t index = HAFT_FIRST_INDEX + i;
        const uint64_t word = load_relaxed(OWN, word_of(index));

        require(found[i] == 1, "a slot is lost in a list, or comes twice");
        require(word_index(&fixture.table->slots.format, word) == MARK_FREE, "a word has a link");
        store_relaxed(OWN, word_of(index),
                      word_with_index(&fixture.table->slots.format, word, index));
    }
    close_worker(worker);
    close_table();
}

EXPLORE(list, 2, set_up_list, list_body, tear_down_list,
        "a slot that leaves a list and comes back is found once");

/*
 * --- unpin: one frees and reclaims, one gives the last pin back, and a third looks for slots ---
 */

static haft_worker *workers[3];
static haft_id id;
static shared_u64 reclaims;
static shared_u64 is_held; /* by a pin */

static void on_reclaim(void *object, haft_id former, haft_worker *with, void *arg)
{
    (void)with;
    (void)arg;
    require(((struct object *)object)->id == former.bits, "on_reclaim gets another id's object");
    if (former.bits == id.bits) {
        require(peek(&is_held) == 0, "on_reclaim runs beside a pin");
        require(add(&reclaims, 1) == 0, "on_reclaim runs twice for an id");
    }
}

static void set_up_unpin(void)
{
    open_table(&(struct table_wish){
        .capacity = 1, .has_pins = true, .generation_bits = 4, .on_reclaim = on_reclaim});
    for (int i = 0; i < 3; i++) {
        workers[i] = open_worker();
    }
    id = insert_stamped(workers[0]);
    haft_section_begin(fixture.domain);
    require(haft_pin(fixture.table, id) != NULL, "no pin");
    haft_section_end(fixture.domain);
    poke(&is_held, 1);
    poke(&reclaims, 0);
}

/* Insert where that is possible, hold and free it again. */
static void reuse(haft_worker *own)
{
    haft_id next;
    void *object;

    if (haft_reserve(own, &next, &object) == HAFT_OK) {
        stamp(object, next);
        haft_publish(own, next);
        haft_section_begin(fixture.domain);
        require(haft_pin(fixture.table, next) == object, "no pin");
        haft_section_end(fixture.domain);
        require_status(haft_free(own, next), HAFT_OK, "freeing");
        require(is_stamped(object, next), "a pinned object is written again");
        require_status(haft_unpin(fixture.table, next), HAFT_OK, "unpinning");
    }
}

static void unpin_body(uint32_t thread)
{
    haft_worker *own = workers[thread];

    race_begin();
    if (thread == 1) {
        poke(&is_held, 0);
        require_status(haft_unpin(fixture.table, id), HAFT_OK, "unpinning");
    } else if (thread == 0) {
        require_status(haft_free(own, id), HAFT_OK, "freeing");
        require_status(haft_worker_flush(own), HAFT_OK, "flushing");
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    } else {
        reuse(own);
    }
    require_status(haft_worker_quiescent(own), HAFT_OK, "a quiescent point");
    reuse(own);
    race_end();
}

static void tear_down_unpin(void)
{
    for (int i = 0; i < 3; i++) {
        close_worker(workers[i]);
    }
    require_census(fixture.table);
    require_room_for(1);
    close_table();
    require(peek(&reclaims) == 1, "on_reclaim does not run for an object that was pinned");
}

EXPLORE(unpin, 3, set_up_unpin, unpin_body, tear_down_unpin,
        "an object is reclaimed once, by the free or the unpin that comes last");
