/* White-box: the last slot, the last generation, the threads that get HAFT_FULL, and the bound on
 * memory that waits. */
#include "concurrent/worker/budget.h"
#include "concurrent/worker/worker_list.h"
#include "lib/base/os.h"
#include "stress/explorer/cases/case.h"
#include <haft/detail/table_front.h>
#include <haft/pin.h>
#include <haft/share.h>
#include <haft/table.h>
#include <stddef.h>

static haft_worker *workers[3];
static haft_id ids[4];
static shared_u64 inserted;

static void open_as(const struct table_wish *wish, uint32_t objects)
{

    open_table(wish);
    for (int i = 0; i < 3; i++) {
        workers[i] = open_worker();
    }
    for (uint32_t i = 0; i < objects; i++) {
        ids[i] = insert_stamped(workers[i]);
    }
    poke(&inserted, 0);
}

static void open_with(uint64_t capacity, uint32_t objects)
{
    const struct table_wish wish = {.capacity = capacity};

    open_as(&wish, objects);
}

static void close_all(void)
{
    for (int i = 0; i < 3; i++) {
        close_worker(workers[i]);
    }
    close_table();
}

/* --- last_slot: four slots, three objects; two threads insert, one of them succeeds --- */

static void set_up_last_slot(void)
{
    open_with(4, 3);
}

static void last_slot_body(uint32_t thread)
{
    haft_id id;

    race_begin();
    const haft_status status = haft_insert(workers[thread], NULL, &id);

    race_end();
    require(status == HAFT_OK || status == HAFT_FULL || status == HAFT_BUSY, "an odd answer");
    if (status == HAFT_OK) {
        require(haft_is_live(fixture.view, id), "an insertion into nowhere");
        add(&inserted, 1);
    }
}

static void tear_down_last_slot(void)
{
    require(peek(&inserted) == 1, "the last slot goes to one of the threads that insert");
    for (int i = 0; i < 3; i++) {
        require(haft_is_live(fixture.view, ids[i]), "an object is overwritten");
    }
    close_all();
}

EXPLORE(last_slot, 2, set_up_last_slot, last_slot_body, tear_down_last_slot,
        "of two threads that insert into the last slot, one succeeds");

/*
 * --- full: three of four slots are taken, at most, since the second thread inserts only when the
 * first has freed; the fourth slot waits for a grace period ---
 */

static struct os_mutex lock;
static bool has_freed; /* under the lock */

static void set_up_full(void)
{
    open_with(4, 3);
    require_status(haft_free(workers[0], insert_stamped(workers[0])), HAFT_OK, "freeing");
    has_freed = false;
}

static void free_one(void)
{
    require_status(haft_free(workers[0], ids[0]), HAFT_OK, "freeing");
    os_mutex_lock(&lock);
    has_freed = true;
    os_mutex_unlock(&lock);
}

static bool has_first_freed(void)
{
    os_mutex_lock(&lock);
    const bool freed = has_freed;

    os_mutex_unlock(&lock);
    return freed;
}

static void insert_after(bool many)
{
    haft_id id;

    if (has_first_freed()) {
        require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
        if (many) {
            haft_insert_many(workers[1], NULL, &id, 1, NULL);
        } else {
            haft_insert(workers[1], NULL, &id);
        }
    }
}

static void ask(void)
{
    haft_id id;
    const haft_status status = haft_insert(workers[2], NULL, &id);

    require(status != HAFT_FULL, "a table is said to be full that never was");
    if (status == HAFT_BUSY) {
        met();
    }
}

static void full_body_of(uint32_t thread, bool many)
{
    if (thread == 0) {
        free_one();
    } else if (thread == 1) {
        insert_after(many);
    } else {
        ask();
    }
}

static void full_body(uint32_t thread)
{
    full_body_of(thread, false);
}

static void full_many_body(uint32_t thread)
{
    full_body_of(thread, true);
}

EXPLORE(full, 3, set_up_full, full_body, close_all,
        "no thread is told that a table is full if it never was");
EXPLORE(full_many, 3, set_up_full, full_many_body, close_all,
        "no thread is told that a table is full if it never was, even while others insert many");

/*
 * --- full_front: the fourth slot is in the hands of the second thread, which inserts in place ---
 */

/* Slots in hand are taken in place from their second life on. */
static void set_up_full_front(void)
{
    haft_id once[2];

    open_with(4, 1);
    insert_stamped(workers[0]);
    has_freed = false;
    worker_set_batch_limit(workers[1], 3);
    for (int i = 0; i < 2; i++) {
        once[i] = insert_stamped(workers[1]);
    }
    for (int i = 0; i < 2; i++) {
        require_status(haft_free(workers[1], once[i]), HAFT_OK, "freeing");
    }
    require_status(haft_worker_flush(workers[1]), HAFT_OK, "flushing");
    require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
    insert_stamped(workers[1]);
}

static void insert_in_place(void)
{
    const struct object object = {0};
    haft_id id;

    if (has_first_freed()) {
        require_status(haft_insert_front(workers[1], fixture.view, &object, sizeof object, &id),
                       HAFT_OK, "inserting");
    }
}

static void full_front_body(uint32_t thread)
{
    if (thread == 0) {
        free_one();
    } else if (thread == 1) {
        insert_in_place();
    } else {
        ask();
    }
}

static void tear_down_full_front(void)
{
    worker_set_batch_limit(workers[1], 1);
    close_all();
}

EXPLORE(full_front, 3, set_up_full_front, full_front_body, tear_down_full_front,
        "no thread is told that a table is full if it never was, while others insert in place");

/*
 * --- full_table_free: of four slots three are taken, at most, and a pin keeps the fourth; one is
 * freed without a worker, and another thread can insert into that one only ---
 */

static haft_id kept; /* freed, and pinned */

static void set_up_full_table_free(void)
{
    const struct table_wish wish = {.capacity = 4, .has_pins = true};

    open_as(&wish, 3);
    kept = insert_stamped(workers[0]);
    haft_section_begin(fixture.domain);
    require(haft_pin(fixture.table, kept) != NULL, "a live object can be pinned");
    haft_section_end(fixture.domain);
    require_status(haft_free(workers[0], kept), HAFT_OK, "freeing");
}

static void full_table_free_body(uint32_t thread)
{
    haft_id id;

    if (thread == 0) {
        require_status(haft_table_free(fixture.table, ids[0]), HAFT_OK, "freeing");
    } else if (thread == 1) {
        if (haft_insert(workers[1], NULL, &id) != HAFT_OK) {
            require_status(haft_domain_wait(fixture.domain), HAFT_OK, "waiting");
            haft_insert(workers[1], NULL, &id);
        }
    } else {
        ask();
    }
}

static void tear_down_full_table_free(void)
{
    require_status(haft_unpin(fixture.table, kept), HAFT_OK, "unpinning");
    close_all();
}

EXPLORE(full_table_free, 3, set_up_full_table_free, full_table_free_body, tear_down_full_table_free,
        "a free without a worker counts before its slot can be taken");

/* --- exhaust: two slots of three lives, and two threads that use them up --- */

#define LIVES 6

static shared_u64 issued[LIVES + 1];

static void set_up_exhaust(void)
{
    open_with(1, 0);
}

static void use_up(haft_worker *worker)
{
    haft_id id;
    const haft_status status = haft_insert_wait(worker, NULL, &id);

    require(status == HAFT_OK || status == HAFT_FULL, "an odd answer");
    if (status == HAFT_OK) {
        const uint64_t place = add(&inserted, 1);

        require(place < LIVES, "more lives than there are");
        poke(&issued[place], id.bits);
        require_status(haft_free(worker, id), HAFT_OK, "freeing");
    }
}

static void exhaust_body(uint32_t thread)
{
    for (int i = 0; i < 4; i++) {
        race_begin();
        use_up(workers[thread]);
        race_end();
    }
}

static void tear_down_exhaust(void)
{
    const uint64_t count = peek(&inserted);

    for (uint64_t i = 0; i < count; i++) {
        for (uint64_t j = 0; j < i; j++) {
            require(peek(&issued[i]) != peek(&issued[j]), "an id is issued twice");
        }
    }
    while (peek(&inserted) != LIVES) {
        use_up(workers[2]);
        require(peek(&inserted) != count || count == LIVES, "a life is lost");
    }
    use_up(workers[2]);
    close_all();
}

EXPLORE(exhaust, 2, set_up_exhaust, exhaust_body, tear_down_exhaust,
        "each slot lives all its generations, and no id is issued twice");

/* --- bound: two slots may be in use without an object; two threads ask for two at once --- */

static void set_up_bound(void)
{
    const struct table_wish wish = {
        .capacity = 4, .waiting_bytes = 2 * (sizeof(uint64_t) + sizeof(struct object))};

    open_as(&wish, 0);
    fixture.table->extent_slots = 2;
    for (int i = 0; i < 2; i++) {
        worker_set_batch_limit(workers[i], 2);
    }
}

static void bound_body(uint32_t thread)
{
    haft_id id;

    race_begin();
    const haft_status status = haft_insert(workers[thread], NULL, &id);

    race_end();
    require(status == HAFT_OK || status == HAFT_BUSY, "an odd answer");
    add(&inserted, status == HAFT_OK);
}

/* As one of them draws, the other one's object is all that may live. */
static void tear_down_bound(void)
{
    const haft_table_stats stats = haft_table_stats_get(fixture.table);

    require(peek(&inserted) >= 1, "a thread is refused for the sake of one that draws no slot");
    require(stats.high_water <= 1 + 2, "more slots in use than objects and the bound");
    for (int i = 0; i < 2; i++) {
        worker_set_batch_limit(workers[i], 1);
    }
    close_all();
}

EXPLORE(bound, 2, set_up_bound, bound_body, tear_down_bound,
        "two threads at once do not draw beyond the bound on memory that waits");

/* --- bound_drawn: five slots may be in use without an object, and four are --- */

#define BOUND 5

static void set_up_bound_drawn(void)
{
    const struct table_wish wish = {.capacity = 8,
                                    .index_bits = 4,
                                    .waiting_bytes =
                                        BOUND * (sizeof(uint64_t) + sizeof(struct object))};

    open_as(&wish, 0);
    fixture.table->extent_slots = 1;
    for (int i = 0; i < BOUND - 1; i++) {
        ids[i] = insert_stamped(workers[2]);
    }
    for (int i = 0; i < BOUND - 1; i++) {
        require_status(haft_free(workers[2], ids[i]), HAFT_OK, "freeing");
    }
    fixture.table->extent_slots = 4;
    worker_set_batch_limit(workers[0], 1);
    worker_set_batch_limit(workers[1], 3);
}

static void tear_down_bound_drawn(void)
{
    const haft_table_stats stats = haft_table_stats_get(fixture.table);

    require(stats.high_water <= stats.live + BOUND, "more slots in use than objects and the bound");
    worker_set_batch_limit(workers[1], 1);
    close_all();
}

EXPLORE(bound_drawn, 2, set_up_bound_drawn, bound_body, tear_down_bound_drawn,
        "slots that another thread draws count as drawn where they count as at hand");
