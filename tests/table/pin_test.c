/* Pins: objects that outlast their section, and their free. */
#include "concurrent/batches/tuning.h"
#include "tests/support.h"
#include <haft/pin.h>
#include <haft/share.h>
#include <haft/table.h>
#include <string.h>

TestSuite(pin, .timeout = SUITE_SECONDS);
TestSuite(pin_close, .timeout = SUITE_SECONDS);

#define CAPACITY 64
#define MOST 1000

static const haft_table_options options = {.capacity = CAPACITY, .object_size = 8, .pins = true};

static void *pin(struct shared *shared, haft_id id)
{
    haft_section_begin(shared->domain);
    void *object = haft_pin(shared->table, id);

    haft_section_end(shared->domain);
    return object;
}

/* Insert until there is no more, and free it all again; true if `index` was among the slots. */
static bool comes_up(struct shared *shared, uint32_t index)
{
    haft_id ids[MOST];
    int count = 0;
    bool found = false;

    settle(shared->worker);
    while (haft_insert_wait(shared->worker, NULL, &ids[count]) == HAFT_OK) {
        found = found || haft_id_index(haft_table_info(shared->table).layout, ids[count]) == index;
        must(++count < MOST);
    }
    while (count != 0) {
        must(haft_free(shared->worker, ids[--count]) == HAFT_OK);
    }
    settle(shared->worker);
    return found;
}

TEST_ON_EACH_CLOCK(pin, a_freed_objects_memory_is_kept_until_it_is_unpinned)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    const haft_id id = insert(shared.worker);
    const uint32_t index = haft_id_index(haft_table_info(shared.table).layout, id);
    uint64_t *object = pin(&shared, id);

    cr_assert(ne(ptr, object, NULL));
    *object = 4711;
    must(haft_free(shared.worker, id) == HAFT_OK);
    cr_expect(not(comes_up(&shared, index)));
    cr_expect(eq(u64, *object, 4711));
    cr_expect(eq(u32, haft_pins(shared.table, id), 1));
    expect_status(haft_unpin(shared.table, id), HAFT_OK);
    cr_expect(comes_up(&shared, index), "free at once");
}

Test(pin, of_what_does_not_resolve_is_null)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    const haft_id id = insert(shared.worker);
    haft_id reserved;

    must(haft_free(shared.worker, id) == HAFT_OK);
    must(haft_reserve(shared.worker, &reserved, NULL) == HAFT_OK);
    cr_expect(eq(ptr, pin(&shared, id), NULL));
    cr_expect(eq(ptr, pin(&shared, HAFT_NIL), NULL));
    cr_expect(eq(ptr, pin(&shared, reserved), NULL));
    cr_expect(eq(ptr, pin(&shared, (haft_id){UINT64_MAX}), NULL));
    haft_abort(shared.worker, reserved);
}

Test(pin, counts_and_only_the_last_one_to_go_frees_the_slot)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    const haft_id id = insert(shared.worker);
    const uint32_t index = haft_id_index(haft_table_info(shared.table).layout, id);

    for (uint32_t n = 1; n <= 5; n++) {
        must(pin(&shared, id) != NULL);
        cr_expect(eq(u32, haft_pins(shared.table, id), n));
    }
    expect_status(haft_unpin(shared.table, id), HAFT_OK);
    must(haft_free(shared.worker, id) == HAFT_OK);
    for (int n = 0; n < 4; n++) {
        cr_expect(not(comes_up(&shared, index)));
        expect_status(haft_unpin(shared.table, id), HAFT_OK);
    }
    cr_expect(comes_up(&shared, index));
}

Test(pin, an_unpin_too_many_is_refused_and_changes_nothing)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    const haft_id first = insert(shared.worker);
    const uint32_t index = haft_id_index(haft_table_info(shared.table).layout, first);

    expect_status(haft_unpin(shared.table, first), HAFT_NOT_PINNED);
    expect_status(haft_unpin(shared.table, HAFT_NIL), HAFT_NOT_PINNED);
    expect_status(haft_unpin(shared.table, (haft_id){UINT64_MAX}), HAFT_NOT_PINNED);
    must(pin(&shared, first) != NULL);
    expect_status(haft_unpin(shared.table, first), HAFT_OK);
    expect_status(haft_unpin(shared.table, first), HAFT_NOT_PINNED);
    must(haft_free(shared.worker, first) == HAFT_OK);
    expect_status(haft_unpin(shared.table, first), HAFT_NOT_PINNED);
    cr_expect(comes_up(&shared, index));
}

Test(pin, an_earlier_tenants_id_takes_no_pin_from_a_later_one)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    const haft_layout layout = haft_table_info(shared.table).layout;
    const haft_id first = insert(shared.worker);
    haft_id second = HAFT_NIL;

    must(haft_free(shared.worker, first) == HAFT_OK);
    settle(shared.worker);
    while (haft_id_index(layout, second) != haft_id_index(layout, first)) {
        must(haft_insert_wait(shared.worker, NULL, &second) == HAFT_OK);
    }
    must(pin(&shared, second) != NULL);
    expect_status(haft_unpin(shared.table, first), HAFT_NOT_PINNED);
    cr_expect(eq(u32, haft_pins(shared.table, first), 0));
    cr_expect(eq(u32, haft_pins(shared.table, second), 1));
    expect_status(haft_unpin(shared.table, second), HAFT_OK);
}

Test(pin, more_than_the_most_are_refused)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    const haft_id id = insert(shared.worker);
    uint64_t *object = pin(&shared, id);
    uint64_t *pins = object + 1; /* as haft/pin.h says: 8 bytes more in each slot */

    cr_assert(eq(u64, *pins, 1));
    *pins = HAFT_PINS_MOST - 1;
    cr_expect(eq(ptr, pin(&shared, id), object));
    cr_expect(eq(ptr, pin(&shared, id), NULL));
    cr_expect(eq(u32, haft_pins(shared.table, id), HAFT_PINS_MOST));
    *pins = 1;
    expect_status(haft_unpin(shared.table, id), HAFT_OK);
}

Test(pin, a_freed_object_takes_up_room_until_it_is_unpinned)
{
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &options);
    const uint64_t limit = stats_of(shared.table).limit;
    haft_id ids[MOST];
    haft_id id;

    for (uint64_t n = 0; n < limit; n++) {
        must(haft_insert_wait(shared.worker, NULL, &ids[n]) == HAFT_OK);
        must(pin(&shared, ids[n]) != NULL);
        must(haft_free(shared.worker, ids[n]) == HAFT_OK);
    }
    for (int n = 0; n < 10; n++) {
        settle(shared.worker);
        expect_status(haft_insert(shared.worker, NULL, &id), HAFT_BUSY);
    }
    expect_status(haft_unpin(shared.table, ids[0]), HAFT_OK);
    expect_status(haft_insert(shared.worker, NULL, &id), HAFT_OK);
    for (uint64_t n = 1; n < limit; n++) {
        must(haft_unpin(shared.table, ids[n]) == HAFT_OK);
    }
}

struct reclaims {
    haft_id last;
    int count;
    haft_worker *worker;
};

static void note_reclaim(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct reclaims *reclaims = arg;
    haft_id again;

    cr_expect(eq(u64, *(uint64_t *)object, 4711));
    reclaims->last = id;
    reclaims->count++;
    reclaims->worker = worker;
    must(haft_insert(worker, object, &again) == (reclaims->count == 1 ? HAFT_OK : HAFT_CLOSED));
}

TEST_ON_EACH_CLOCK(pin, on_reclaim_runs_once_when_the_last_pin_goes)
{
    struct reclaims reclaims = {.count = 0};
    const haft_table_options calling = {.capacity = CAPACITY,
                                        .object_size = 8,
                                        .pins = true,
                                        .on_reclaim = note_reclaim,
                                        .reclaim_arg = &reclaims};
    struct shared shared = open_shared(*setting, &calling);
    const uint64_t value = 4711;
    haft_id id;

    must(haft_insert(shared.worker, &value, &id) == HAFT_OK);
    must(pin(&shared, id) != NULL);
    must(haft_free(shared.worker, id) == HAFT_OK);
    for (int n = 0; n < 5; n++) {
        settle(shared.worker);
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    }
    cr_expect(eq(int, reclaims.count, 0));
    cr_expect(eq(u64, stats_of(shared.table).retired, 1));
    expect_status(haft_unpin(shared.table, id), HAFT_OK);
    cr_expect(eq(int, reclaims.count, 0)); /* no callback runs in an unpin */
    assert_status(haft_worker_quiescent(shared.worker), HAFT_OK);
    cr_expect(eq(int, reclaims.count, 1));
    cr_expect(eq(u64, reclaims.last.bits, id.bits));
    cr_expect(ne(ptr, reclaims.worker, NULL));
    cr_expect(eq(u64, stats_of(shared.table).retired, 0));
    cr_expect(eq(u64, stats_of(shared.table).live, 1));
    close_shared(&shared);
    cr_expect(eq(int, reclaims.count, 2)); /* of the second object, too */
}

struct chain {
    haft_table *table;
    uint64_t reclaims;
    bool inside;
};

/* Each object is the id of the next one, which it has a pin on. */
static void unpin_next(void *object, haft_id id, haft_worker *worker, void *arg)
{
    struct chain *chain = arg;
    const haft_id next = {*(uint64_t *)object};

    must(!chain->inside);
    chain->inside = true;
    chain->reclaims++;
    if (!haft_id_is_nil(next)) {
        must(haft_unpin(chain->table, next) == HAFT_OK);
        must(haft_unpin(chain->table, next) == HAFT_NOT_PINNED);
        must(haft_pins(chain->table, next) == 0);
    }
    chain->inside = false;
}

static haft_id insert_pinned_and_free(struct shared *shared, haft_id next)
{
    haft_id id = HAFT_NIL;

    must(haft_insert(shared->worker, &next.bits, &id) == HAFT_OK);
    must(pin(shared, id) != NULL);
    must(haft_free(shared->worker, id) == HAFT_OK);
    return id;
}

Test(pin, a_long_chain_of_objects_that_unpin_one_another_goes_with_the_first)
{
    struct chain chain = {.table = NULL};
    const haft_table_options chained = {.capacity = 2000,
                                        .object_size = 8,
                                        .pins = true,
                                        .on_reclaim = unpin_next,
                                        .reclaim_arg = &chain};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &chained);
    haft_id last = HAFT_NIL;

    chain.table = shared.table;
    for (int n = 0; n < 2000; n++) {
        last = insert_pinned_and_free(&shared, last);
    }
    for (int n = 0; n < 100; n++) {
        settle(shared.worker);
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    }
    cr_expect(eq(u64, chain.reclaims, 0));
    expect_status(haft_unpin(shared.table, last), HAFT_OK);
    for (int n = 0; n < 4; n++) {
        assert_status(haft_worker_flush(shared.worker), HAFT_OK);
    }
    cr_expect(eq(u64, chain.reclaims, 2000));
    cr_expect(eq(u64, stats_of(shared.table).retired, 0));
}

/* White-box: slots of one life: none of them is the insertion's. */
Test(pin, an_insertion_reclaims_a_bounded_number_of_objects_that_unpin_one_another)
{
    struct chain chain = {.table = NULL};
    const haft_table_options chained = {.capacity = 2000,
                                        .object_size = 8,
                                        .layout = HAFT_LAYOUT_OF(12, 1, 0),
                                        .pins = true,
                                        .on_reclaim = unpin_next,
                                        .reclaim_arg = &chain};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &chained);
    haft_id last = HAFT_NIL;
    haft_id id;

    chain.table = shared.table;
    for (int n = 0; n < 1000; n++) {
        last = insert_pinned_and_free(&shared, last);
    }
    for (int n = 0; n < 100; n++) {
        settle(shared.worker);
        must(haft_worker_quiescent(shared.worker) == HAFT_OK);
    }
    expect_status(haft_unpin(shared.table, last), HAFT_OK);
    while (chain.reclaims == 0) {
        must(haft_insert(shared.worker, &HAFT_NIL.bits, &id) == HAFT_OK);
    }
    cr_expect(eq(u64, chain.reclaims, UNPINNED_MOST));
    assert_status(haft_worker_flush(shared.worker), HAFT_OK);
    cr_expect(eq(u64, chain.reclaims, 1000));
}

Test(pin, of_a_slots_last_life_exhausts_it_when_unpinned)
{
    haft_table_options last = options;

    last.layout = HAFT_LAYOUT_OF(8, 1, 0);
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &last);
    const haft_id id = insert(shared.worker);

    must(pin(&shared, id) != NULL);
    must(haft_free(shared.worker, id) == HAFT_OK);
    cr_expect(not(comes_up(&shared, haft_id_index(last.layout, id))));
    expect_status(haft_diagnose(shared.table, id), HAFT_STALE);
    while (stats_of(shared.table).retired > 1) { /* the others */
        settle(shared.worker);
    }
    const uint64_t exhausted = stats_of(shared.table).exhausted;

    expect_status(haft_unpin(shared.table, id), HAFT_OK);
    assert_status(haft_worker_flush(shared.worker), HAFT_OK);
    expect_status(haft_diagnose(shared.table, id), HAFT_EXHAUSTED);
    cr_expect(eq(u64, stats_of(shared.table).exhausted, exhausted + 1));
}

TEST_ON_EACH_CLOCK(pin, closing_or_unsharing_with_an_object_pinned_is_refused)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    const haft_id id = insert(shared.worker);
    haft_local *local = NULL;

    must(pin(&shared, id) != NULL);
    must(haft_free(shared.worker, id) == HAFT_OK);
    must(haft_worker_close(shared.worker) == HAFT_OK);
    shared.worker = NULL;
    expect_status(haft_table_close(shared.table), HAFT_IN_USE);
    expect_status(haft_unshare(shared.table, &local), HAFT_IN_USE);
    cr_expect(eq(ptr, local, NULL));
    expect_status(haft_unpin(shared.table, id), HAFT_OK);
}

#define CHAIN 50000

/* A chain that was freed and that no call reclaims: each object has the only pin on the next. */
static haft_table *open_chain(struct shared *shared, struct chain *chain, uint64_t length)
{
    const haft_table_options chained = {.capacity = CHAIN,
                                        .object_size = 8,
                                        .pins = true,
                                        .on_reclaim = unpin_next,
                                        .reclaim_arg = chain};
    haft_table *table;
    haft_worker *worker;
    haft_id last = HAFT_NIL;

    must(haft_table_open(shared->domain, &chained, &table) == HAFT_OK);
    chain->table = table;
    worker = open_worker(table);
    for (uint64_t n = 0; n < length; n++) {
        const haft_id next = last;

        must(haft_insert(worker, &next.bits, &last) == HAFT_OK);
        haft_section_begin(shared->domain);
        must(n + 1 == length || haft_pin(table, last) != NULL);
        haft_section_end(shared->domain);
        must(haft_free(worker, last) == HAFT_OK);
    }
    must(haft_worker_close(worker) == HAFT_OK);
    return table;
}

TEST_ON_EACH_CLOCK(pin, closing_runs_the_on_reclaim_that_unpins_what_is_left)
{
    static const uint64_t lengths[] = {2, 100, 50000}; /* the last goes to the depot, too */
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);

    for (int i = 0; i < 3; i++) {
        struct chain chain = {.table = NULL};
        haft_table *table = open_chain(&shared, &chain, lengths[i]);

        expect_status(haft_table_close(table), HAFT_OK);
        cr_expect(eq(u64, chain.reclaims, lengths[i]));
    }
}

TEST_ON_EACH_CLOCK(pin, unsharing_runs_the_on_reclaim_that_unpins_what_is_left)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    struct chain chain = {.table = NULL};
    AT_END(local_end) haft_local *local = NULL;

    assert_status(haft_unshare(open_chain(&shared, &chain, 3000), &local), HAFT_OK);
    cr_expect(eq(u64, chain.reclaims, 3000));
    cr_expect(eq(u64, haft_local_count(local), 0));
}

TEST_ON_EACH_CLOCK(pin, a_table_that_could_not_be_unshared_for_pins_goes_on)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &options);
    struct chain chain = {.table = NULL};
    AT_END(table_end) haft_table *table = open_chain(&shared, &chain, 3000);
    AT_END(worker_end) haft_worker *worker = open_worker(table);
    const haft_id pinned = insert(worker);
    haft_local *local;
    haft_id id;

    haft_section_begin(shared.domain);
    must(haft_pin(table, pinned) != NULL);
    haft_section_end(shared.domain);
    must(haft_worker_close(worker) == HAFT_OK);
    expect_status(haft_unshare(table, &local), HAFT_IN_USE);
    cr_expect(eq(u64, chain.reclaims, 3000));
    cr_expect(eq(u64, stats_of(table).retired, 0));
    worker = open_worker(table);
    for (int n = 0; n < CHAIN - 1; n++) { /* all slots are there, each once */
        must(haft_insert(worker, NULL, &id) == HAFT_OK);
        must(haft_resolve(haft_table_view(table), id) != NULL);
    }
    cr_expect(eq(u64, stats_of(table).live, CHAIN));
    cr_expect(haft_is_live(haft_table_view(table), pinned));
    must(haft_unpin(table, pinned) == HAFT_OK);
}

Test(pin, costs_8_bytes_a_slot_and_nothing_without_the_option)
{
    for (size_t size = 0; size <= 40; size++) {
        haft_table_options plain = {.capacity = 100, .object_size = size, .object_alignment = 8};
        struct shared without = open_shared(MEMB_CALLER, &plain);

        close_shared(&without);
        plain.pins = true;
        struct shared with = open_shared(MEMB_CALLER, &plain);

        close_shared(&with);
        cr_expect(eq(u64, with.view.stride, without.view.stride + 8));
    }
}

Test(pin, in_a_table_without_the_option_nothing_is_pinned_and_no_other_slot_changes)
{
    const haft_table_options without = {.capacity = CAPACITY, .object_size = 8};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &without);
    const uint64_t value = 4711;
    haft_id ids[CAPACITY];

    for (int i = 0; i < CAPACITY; i++) {
        assert_status(haft_insert_wait(shared.worker, &value, &ids[i]), HAFT_OK);
    }
    for (int i = 0; i < CAPACITY; i++) {
        cr_expect(eq(ptr, pin(&shared, ids[i]), NULL));
        cr_expect(eq(u32, haft_pins(shared.table, ids[i]), 0));
        expect_status(haft_unpin(shared.table, ids[i]), HAFT_NOT_PINNED);
    }
    for (int i = 0; i < CAPACITY; i++) {
        haft_section_begin(shared.domain);
        const uint64_t *object = haft_resolve(shared.view, ids[i]);

        cr_assert(object != NULL);
        cr_expect(eq(u64, *object, value));
        haft_section_end(shared.domain);
        expect_status(haft_free(shared.worker, ids[i]), HAFT_OK);
    }
}

Test(pin, object_and_counter_do_not_overlap)
{
    for (size_t size = 0; size <= 40; size++) {
        haft_table_options sized = {.capacity = 100, .object_size = size, .pins = true};
        AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &sized);
        const haft_id id = insert(shared.worker);
        void *object = pin(&shared, id);

        memset(object, 0xff, size);
        cr_expect(eq(u32, haft_pins(shared.table, id), 1), "size %zu", size);
        expect_status(haft_unpin(shared.table, id), HAFT_OK);
        for (size_t i = 0; i < size; i++) {
            must(((unsigned char *)object)[i] == 0xff);
        }
    }
}

Test(pin, a_shared_local_table_has_them_if_it_was_opened_so)
{
    const haft_local_options pinned = {.capacity = CAPACITY, .object_size = 8, .pins = true};
    AT_END(close_shared) struct shared shared = {0};
    const haft_domain_options domain = domain_options(MEMB_CALLER);
    haft_local *local;
    haft_id id;

    must(haft_domain_open(&domain, &shared.domain) == HAFT_OK);
    haft_thread_register(shared.domain);
    must(haft_local_open(&pinned, &local) == HAFT_OK);
    must(haft_local_insert(local, NULL, &id) == HAFT_OK);
    must(haft_share(local, shared.domain, NULL, &shared.table) == HAFT_OK);
    shared.worker = open_worker(shared.table);
    must(pin(&shared, id) != NULL);
    must(haft_free(shared.worker, id) == HAFT_OK);
    cr_expect(not(comes_up(&shared, haft_id_index(haft_table_info(shared.table).layout, id))));
    expect_status(haft_unpin(shared.table, id), HAFT_OK);
}

Test(pin, of_a_forged_id_whose_index_lies_beyond_the_table_is_not_another_slots)
{
    const haft_table_options small = {.capacity = 1, .object_size = 8, .pins = true};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &small);
    const haft_id id = insert(shared.worker);

    haft_section_begin(shared.domain);
    cr_assert(ne(ptr, haft_pin(shared.table, id), NULL));
    haft_section_end(shared.domain);
    for (unsigned bit = 16; bit < 32; bit++) {
        expect_status(haft_unpin(shared.table, (haft_id){id.bits | UINT64_C(1) << bit}),
                      HAFT_NOT_PINNED);
    }
    expect_status(haft_unpin(shared.table, id), HAFT_OK);
}

Test(pin, of_an_object_that_was_freed_ids_with_bits_above_the_layout_take_no_pin)
{
    const haft_table_options small = {
        .capacity = 4, .object_size = 8, .layout = {8, 8, 8, 0}, .tag = 3, .pins = true};
    AT_END(close_shared) struct shared shared = open_shared(MEMB_CALLER, &small);
    const haft_id id = insert(shared.worker);

    must(pin(&shared, id) != NULL);
    must(haft_free(shared.worker, id) == HAFT_OK);
    for (unsigned bit = 16; bit < 64; bit++) {
        const haft_id forged = {id.bits ^ UINT64_C(1) << bit};

        expect_status(haft_unpin(shared.table, forged), HAFT_NOT_PINNED);
        cr_expect(eq(u32, haft_pins(shared.table, forged), 0));
    }
    cr_expect(eq(u32, haft_pins(shared.table, id), 1));
    expect_status(haft_unpin(shared.table, id), HAFT_OK);
}

/* --- a table closed while objects are pinned by others that wait --- */

/* What its object's end frees, and takes the pin from. */
struct last_will {
    haft_id to_free;
    haft_id to_unpin;
};

static haft_table *table;
static uint64_t reclaims;
static bool unshares; /* else the table closes, and all that live have ended */

static haft_status unshare_or_close(void)
{
    haft_local *local;
    haft_status status;

    if (!unshares) {
        return haft_table_close(table);
    }
    status = haft_unshare(table, &local);
    if (status == HAFT_OK) {
        haft_local_close(local);
    }
    return status;
}

static void execute(void *object, haft_id id, haft_worker *worker, void *arg)
{
    const struct last_will *will = object;

    reclaims++;
    must(haft_id_is_nil(will->to_free) ||
         haft_free(worker, will->to_free) == (unshares ? HAFT_OK : HAFT_STALE));
    must(haft_id_is_nil(will->to_unpin) || haft_unpin(table, will->to_unpin) == HAFT_OK);
}

static const haft_table_options willing = {
    .capacity = 50000, /* batches are large, and what is freed lies in one that is not full */
    .object_size = sizeof(struct last_will),
    .pins = true,
    .on_reclaim = execute};

static haft_id insert_with(haft_worker *worker, struct last_will will)
{
    haft_id id;

    must(haft_insert(worker, &will, &id) == HAFT_OK);
    return id;
}

static haft_id insert_pinned(haft_worker *worker, haft_domain *domain)
{
    const haft_id id = insert_with(worker, (struct last_will){HAFT_NIL, HAFT_NIL});

    haft_section_begin(domain);
    must(haft_pin(table, id) != NULL);
    haft_section_end(domain);
    return id;
}

#define OTHERS 40000 /* enough freed that their batches lie in the depot, too */

/*
 * Each object's end frees the next, and only the last one unpins; the first is freed before or
 * after the others.  How many have ended.
 */
static uint64_t close_with_a_row_of(uint64_t length, haft_worker *worker, bool is_first)
{
    static haft_id others[OTHERS];

    reclaims = 0;
    const haft_id pinned = insert_pinned(worker, haft_table_info(table).domain);
    haft_id next = insert_with(worker, (struct last_will){HAFT_NIL, pinned});

    for (uint64_t n = 1; n < length; n++) {
        next = insert_with(worker, (struct last_will){next, HAFT_NIL});
    }
    must(haft_insert_many(worker, NULL, others, OTHERS, NULL) == OTHERS);
    must(haft_free(worker, pinned) == HAFT_OK);
    must(!is_first || haft_free(worker, next) == HAFT_OK);
    must(haft_free_many(worker, others, OTHERS, NULL) == OTHERS);
    must(is_first || haft_free(worker, next) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    assert_status(unshare_or_close(), HAFT_OK);
    return reclaims;
}

TEST_ON_EACH_CLOCK(pin_close, looks_again_for_what_on_reclaim_frees_until_the_last_pin_is_gone)
{
    AT_END(close_shared) struct shared shared = open_shared(*setting, &willing);

    for (uint64_t n = 0; n < 12; n++) {
        const uint64_t length = 1 + n % 6 / 2;

        unshares = n < 6;
        must(haft_table_open(shared.domain, &willing, &table) == HAFT_OK);
        const uint64_t ended = close_with_a_row_of(length, open_worker(table), n % 2 == 0);

        cr_expect(eq(u64, ended, OTHERS + length + 1));
    }
}
