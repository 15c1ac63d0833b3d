/* on_destroy: once for each object that was live, and what it may call. */
#include "tests/support.h"
#include <haft/kit/restore.h>
#include <haft/share.h>
#include <haft/view.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

TestSuite(destroy, .timeout = SUITE_SECONDS);
TestSuite(local_destructor, .timeout = SUITE_SECONDS);
TestSuite(local_run_last, .timeout = SUITE_SECONDS);

#define OBJECTS 50

/* What the destructor saw, and what it shall do to the table. */
static struct {
    haft_local *local;
    haft_id ids[4 * OBJECTS];
    int count;
    void (*act)(haft_id id);
    haft_id given[4 * OBJECTS]; /* to act on */
} seen;

static void note(void *object, haft_id id, void *arg)
{
    must(arg == &seen);
    must(memcmp(object, "bytes", 6) == 0);
    must(seen.count < 4 * OBJECTS);
    seen.ids[seen.count++] = id;
    if (seen.act != NULL) {
        seen.act(id);
    }
    must(memcmp(object, "bytes", 6) == 0); /* no other object has been put there */
}

static void open_seen(haft_layout layout, haft_local_reuse reuse)
{
    const haft_local_options options = {
        .capacity = OBJECTS,
        .object_size = 6,
        .layout = layout,
        .reuse = reuse,
        .on_destroy = note,
        .destroy_arg = &seen,
    };

    memset(&seen, 0, sizeof seen);
    assert_status(haft_local_open(&options, &seen.local), HAFT_OK);
}

static haft_id insert_bytes(void)
{
    haft_id id = HAFT_NIL;

    must(haft_local_insert(seen.local, "bytes", &id) == HAFT_OK);
    return id;
}

static void fill(haft_id *ids)
{
    for (int i = 0; i < OBJECTS; i++) {
        ids[i] = insert_bytes();
    }
}

static int times_seen(haft_id id)
{
    int times = 0;

    for (int i = 0; i < seen.count; i++) {
        times += haft_id_equal(seen.ids[i], id);
    }
    return times;
}

Test(destroy, runs_once_when_an_object_is_freed)
{
    open_seen(HAFT_LAYOUT_32_32, HAFT_REUSE_LIFO);
    const haft_id id = insert_bytes();

    expect_status(haft_local_free(seen.local, id), HAFT_OK);
    cr_expect(eq(int, seen.count, 1));
    expect_status(haft_local_free(seen.local, id), HAFT_STALE);
    expect_status(haft_local_free(seen.local, HAFT_NIL), HAFT_NO_ID);
    cr_expect(eq(int, seen.count, 1));
    cr_expect(eq(u64, seen.ids[0].bits, id.bits));
    haft_local_close(seen.local);
    cr_expect(eq(int, seen.count, 1));
}

Test(destroy, runs_once_for_each_live_object_at_clear_in_order_of_index)
{
    haft_id ids[OBJECTS];

    open_seen(HAFT_LAYOUT_32_32, HAFT_REUSE_FIFO);
    fill(ids);
    must(haft_local_free(seen.local, ids[7]) == HAFT_OK);
    haft_local_clear(seen.local);
    cr_assert(eq(int, seen.count, OBJECTS));
    for (int i = 2; i < OBJECTS; i++) {
        cr_expect(lt(u64, seen.ids[i - 1].bits, seen.ids[i].bits));
    }
    haft_local_close(seen.local);
    cr_expect(eq(int, seen.count, OBJECTS));
}

Test(destroy, runs_once_for_each_live_object_at_close_and_for_no_reservation)
{
    haft_id id;

    open_seen(HAFT_LAYOUT_32_32, HAFT_REUSE_LIFO);
    insert_bytes();
    assert_status(haft_local_reserve(seen.local, &id, NULL), HAFT_OK);
    haft_local_abort(seen.local, id);
    assert_status(haft_local_reserve(seen.local, &id, NULL), HAFT_OK);
    insert_bytes();
    haft_local_close(seen.local);
    cr_expect(eq(int, seen.count, 2));
}

static void publish_given(haft_id id)
{
    if (!haft_id_is_nil(seen.given[0])) {
        haft_local_publish(seen.local, seen.given[0]);
        seen.given[0] = HAFT_NIL;
    }
}

Test(destroy, runs_at_close_for_an_object_that_a_destructor_published_below_its_own)
{
    haft_id reserved;
    void *bytes;

    open_seen(HAFT_LAYOUT_32_32, HAFT_REUSE_LIFO);
    assert_status(haft_local_reserve(seen.local, &reserved, &bytes), HAFT_OK);
    memcpy(bytes, "bytes", 6);
    insert_bytes();
    seen.given[0] = reserved;
    seen.act = publish_given;
    haft_local_close(seen.local);
    cr_assert(eq(int, seen.count, 2));
    cr_expect(eq(u64, seen.ids[1].bits, reserved.bits));
}

Test(destroy, runs_at_the_last_life_of_a_slot_which_is_exhausted_afterwards)
{
    open_seen(HAFT_LAYOUT_OF(6, 1, 0), HAFT_REUSE_LIFO);
    const haft_id id = insert_bytes();

    expect_status(haft_local_free(seen.local, id), HAFT_OK);
    cr_expect(eq(int, seen.count, 1));
    expect_status(haft_local_diagnose(seen.local, id), HAFT_EXHAUSTED);
    cr_expect(eq(u64, haft_local_available(seen.local), OBJECTS - 1));
    haft_local_close(seen.local);
}

/* --- what it may call --- */

static void look_and_free_again(haft_id id)
{
    cr_expect(not(haft_is_live(haft_local_view(seen.local), id)));
    expect_status(haft_local_diagnose(seen.local, id), HAFT_STALE);
    expect_status(haft_local_free(seen.local, id), HAFT_STALE);
    expect_status(haft_local_restore(seen.local, id, NULL), HAFT_OCCUPIED);
    cr_expect(eq(u64, haft_local_count(seen.local), 0));
    cr_expect(eq(u64, haft_local_available(seen.local), OBJECTS - 1));
}

Test(destroy, the_id_is_stale_already_and_its_slot_not_available_yet)
{
    open_seen(HAFT_LAYOUT_32_32, HAFT_REUSE_LIFO);
    seen.act = look_and_free_again;
    must(haft_local_free(seen.local, insert_bytes()) == HAFT_OK);
    cr_expect(eq(u64, haft_local_available(seen.local), OBJECTS));
    cr_expect(eq(int, seen.count, 1));
    seen.act = NULL;
    haft_local_close(seen.local);
}

/* A chain: each object's end is the next one's. */
static void free_next(haft_id id)
{
    for (int i = 0; i + 1 < OBJECTS; i++) {
        if (haft_id_equal(seen.given[i], id)) {
            const haft_status status = haft_local_free(seen.local, seen.given[i + 1]);

            must(status == HAFT_OK || status == HAFT_STALE);
        }
    }
}

Test(destroy, may_free_others_which_are_destroyed_once)
{
    for (int reuse = HAFT_REUSE_LIFO; reuse <= HAFT_REUSE_FIFO; reuse++) {
        open_seen(HAFT_LAYOUT_32_32, (haft_local_reuse)reuse);
        fill(seen.given);
        seen.act = free_next;
        must(haft_local_free(seen.local, seen.given[0]) == HAFT_OK);
        cr_expect(eq(u64, haft_local_count(seen.local), 0));
        cr_expect(eq(int, seen.count, OBJECTS));
        seen.act = NULL;
        fill(seen.given);
        seen.act = free_next;
        haft_local_clear(seen.local);
        cr_expect(eq(int, seen.count, 2 * OBJECTS));
        seen.act = NULL;
        fill(seen.given);
        seen.act = free_next;
        haft_local_close(seen.local);
        cr_expect(eq(int, seen.count, 3 * OBJECTS));
        for (int i = 0; i < seen.count; i++) {
            cr_expect(eq(int, times_seen(seen.ids[i]), 1));
        }
    }
}

/* --- within one another --- */

static void expect_due(haft_id id)
{
    if (!haft_id_equal(id, seen.given[0])) {
        return;
    }
    for (int i = 1; i < 4; i++) {
        must(haft_local_free(seen.local, seen.given[i]) == HAFT_OK);
    }
    for (int i = 1; i < 4; i++) {
        expect_status(haft_local_diagnose(seen.local, seen.given[i]), HAFT_STALE);
        expect_status(haft_local_restore(seen.local, seen.given[i], NULL), HAFT_OCCUPIED);
        cr_expect(zero(int, times_seen(seen.given[i])));
    }
    cr_expect(eq(u64, haft_local_available(seen.local), OBJECTS - 5));
    cr_expect(eq(u64, haft_local_stats_get(seen.local).retired, 4));
    must(haft_local_trim(seen.local, NULL) == HAFT_OK);
    for (int i = 0; i < OBJECTS - 5; i++) {
        const uint32_t index = (uint32_t)insert_bytes().bits;

        cr_expect(eq(int,
                     index == (uint32_t)seen.given[1].bits ||
                         index == (uint32_t)seen.given[2].bits ||
                         index == (uint32_t)seen.given[3].bits,
                     0));
    }
}

Test(destroy, of_what_is_freed_inside_comes_later_and_before_the_outermost_call_returns)
{
    for (int reuse = HAFT_REUSE_LIFO; reuse <= HAFT_REUSE_FIFO; reuse++) {
        open_seen(HAFT_LAYOUT_32_32, (haft_local_reuse)reuse);
        for (int i = 0; i < 5; i++) {
            seen.given[i] = insert_bytes();
        }
        seen.act = expect_due;
        must(haft_local_free(seen.local, seen.given[0]) == HAFT_OK);
        seen.act = NULL;
        cr_expect(eq(int, seen.count, 4));
        for (int i = 0; i < 4; i++) {
            cr_expect(eq(int, times_seen(seen.given[i]), 1));
        }
        cr_expect(zero(u64, haft_local_stats_get(seen.local).retired));
        cr_expect(eq(u64, haft_local_available(seen.local), 4));
        haft_local_close(seen.local);
    }
}

/* In the last life of each slot, and in a table that begins again after it. */
Test(destroy, of_what_is_freed_inside_has_the_id_that_was_freed)
{
    for (int wrap = 0; wrap < 2; wrap++) {
        const haft_local_options options = {
            .capacity = OBJECTS,
            .object_size = 6,
            .layout = HAFT_LAYOUT_OF(8, 2, 6),
            .tag = 45,
            .wrap = wrap,
            .on_destroy = note,
            .destroy_arg = &seen,
        };

        memset(&seen, 0, sizeof seen);
        assert_status(haft_local_open(&options, &seen.local), HAFT_OK);
        for (int lives = 0; lives < 3; lives++) {
            seen.count = 0;
            seen.act = NULL;
            fill(seen.given);
            seen.act = free_next;
            must(haft_local_free(seen.local, seen.given[0]) == HAFT_OK);
            cr_assert(eq(int, seen.count, OBJECTS));
            for (int i = 0; i < OBJECTS; i++) {
                cr_expect(eq(int, times_seen(seen.given[i]), 1));
            }
        }
        cr_expect(eq(u64, haft_local_available(seen.local), wrap ? OBJECTS : 0));
        haft_local_close(seen.local);
    }
}

/* Of two tables, each of whose objects ends one of the other. */
static struct {
    haft_local *locals[2];
    uint64_t left;
    int depths[2];
} pair;

static void end_other(void *object, haft_id id, void *arg)
{
    const int which = *(int *)arg;
    const haft_id *next = object;

    must(pair.depths[which]++ == 0);
    pair.left--;
    if (!haft_id_is_nil(*next)) {
        must(haft_local_free(pair.locals[1 - which], *next) == HAFT_OK);
    }
    pair.depths[which]--;
}

Test(destroy, of_two_tables_that_end_each_others_objects_nests_once_for_each)
{
    static int which[] = {0, 1};
    haft_id next = HAFT_NIL;

    for (int i = 0; i < 2; i++) {
        const haft_local_options options = {.capacity = 1000,
                                            .object_size = sizeof next,
                                            .on_destroy = end_other,
                                            .destroy_arg = &which[i]};

        assert_status(haft_local_open(&options, &pair.locals[i]), HAFT_OK);
    }
    for (pair.left = 0; pair.left < 2000; pair.left++) {
        haft_id id;

        must(haft_local_insert(pair.locals[pair.left % 2], &next, &id) == HAFT_OK);
        next = id;
    }
    assert_status(haft_local_free(pair.locals[1], next), HAFT_OK);
    cr_expect(zero(u64, pair.left));
    haft_local_close(pair.locals[0]);
    haft_local_close(pair.locals[1]);
}

static void insert_once(haft_id id)
{
    seen.act = NULL;
    seen.given[0] = insert_bytes();
}

Test(destroy, may_insert_and_is_not_given_the_slot_that_is_ending)
{
    open_seen(HAFT_LAYOUT_32_32, HAFT_REUSE_LIFO);
    const haft_id id = insert_bytes();

    seen.act = insert_once;
    must(haft_local_free(seen.local, id) == HAFT_OK);
    cr_expect(haft_is_live(haft_local_view(seen.local), seen.given[0]));
    cr_expect(ne(u32, (uint32_t)seen.given[0].bits, (uint32_t)id.bits));
    cr_expect(eq(u64, haft_local_count(seen.local), 1));
    haft_local_close(seen.local);
    cr_expect(eq(int, seen.count, 2));
}

static void expect_full(haft_id id)
{
    haft_id other = {0x5a5a};

    expect_status(haft_local_insert(seen.local, "bytes", &other), HAFT_FULL);
    expect_status(haft_local_reserve(seen.local, &other, NULL), HAFT_FULL);
    expect_status(haft_local_restore(seen.local, (haft_id){UINT64_C(9) << 32 | 40}, NULL),
                  HAFT_FULL);
    expect_status(haft_local_reserve_capacity(seen.local, 1), HAFT_FULL);
    cr_expect(eq(u64, other.bits, 0x5a5a));
}

Test(destroy, cannot_insert_while_the_table_is_closed)
{
    open_seen(HAFT_LAYOUT_32_32, HAFT_REUSE_LIFO);
    must(haft_local_free(seen.local, insert_bytes()) == HAFT_OK);
    insert_bytes();
    insert_bytes();
    seen.act = expect_full;
    haft_local_close(seen.local);
    cr_expect(eq(int, seen.count, 3));
}

static void clear_and_trim(haft_id id)
{
    haft_local_clear(seen.local);
    must(haft_local_trim(seen.local, NULL) == HAFT_OK);
}

Test(destroy, may_clear_and_trim_and_all_are_destroyed_once)
{
    haft_id ids[OBJECTS];

    open_seen(HAFT_LAYOUT_32_32, HAFT_REUSE_FIFO);
    fill(ids);
    seen.act = clear_and_trim;
    must(haft_local_free(seen.local, ids[20]) == HAFT_OK);
    cr_expect(eq(int, seen.count, OBJECTS));
    fill(ids);
    haft_local_clear(seen.local);
    cr_expect(eq(int, seen.count, 2 * OBJECTS));
    fill(ids);
    haft_local_close(seen.local);
    cr_expect(eq(int, seen.count, 3 * OBJECTS));
    for (int i = 0; i < seen.count; i++) {
        cr_expect(eq(int, times_seen(seen.ids[i]), 1));
    }
}

static void insert_another(haft_id id)
{
    if (seen.count < 3 * OBJECTS) {
        insert_bytes();
    }
}

Test(destroy, inserting_at_every_call_ends_clear_all_the_same)
{
    haft_id ids[OBJECTS];

    open_seen(HAFT_LAYOUT_32_32, HAFT_REUSE_LIFO);
    for (int i = 0; i < OBJECTS / 2; i++) {
        ids[i] = insert_bytes();
    }
    seen.act = insert_another;
    haft_local_clear(seen.local);
    cr_expect(not(haft_is_live(haft_local_view(seen.local), ids[0])));
    seen.act = NULL;
    const int before = seen.count;
    const uint64_t left = haft_local_count(seen.local);

    haft_local_close(seen.local);
    cr_expect(eq(u64, (uint64_t)(seen.count - before), left));
}

static bool free_it(haft_id id, void *object, void *arg)
{
    return haft_local_free(seen.local, id) == HAFT_OK;
}

static bool clear_all(haft_id id, void *object, void *arg)
{
    haft_local_clear(seen.local);
    return true;
}

Test(destroy, runs_for_what_a_visitor_frees_or_clears)
{
    haft_id ids[OBJECTS];

    open_seen(HAFT_LAYOUT_32_32, HAFT_REUSE_LIFO);
    fill(ids);
    cr_expect(eq(u64, haft_local_for_each(seen.local, free_it, NULL), OBJECTS));
    cr_expect(eq(int, seen.count, OBJECTS));
    fill(ids);
    cr_expect(eq(u64, haft_local_for_each(seen.local, clear_all, NULL), 1));
    cr_expect(eq(int, seen.count, 2 * OBJECTS));
    haft_local_close(seen.local);
}

/* given: an object that is freed meanwhile, its slot's next id, and that of a free slot. */
static void free_and_restore(haft_id id)
{
    seen.act = NULL;
    expect_status(haft_local_free(seen.local, seen.given[0]), HAFT_OK);
    expect_status(haft_local_restore(seen.local, seen.given[1], "bytes"), HAFT_OCCUPIED);
    expect_status(haft_local_restore(seen.local, seen.given[2], "bytes"), HAFT_OK);
}

Test(destroy, may_restore_into_a_free_slot_but_not_into_one_that_is_due)
{
    open_seen(HAFT_LAYOUT_32_32, HAFT_REUSE_LIFO);
    const haft_id first = insert_bytes();
    const haft_id due = insert_bytes();
    const haft_id freed = insert_bytes();

    must(haft_local_free(seen.local, freed) == HAFT_OK);
    seen.given[0] = due;
    seen.given[1] = haft_id_pack(HAFT_LAYOUT_32_32, haft_id_index(HAFT_LAYOUT_32_32, due), 2, 0);
    seen.given[2] = haft_id_pack(HAFT_LAYOUT_32_32, haft_id_index(HAFT_LAYOUT_32_32, freed), 2, 0);
    seen.act = free_and_restore;
    expect_status(haft_local_free(seen.local, first), HAFT_OK);
    cr_expect(eq(int, times_seen(due), 1));
    cr_expect(eq(u64, haft_local_count(seen.local), 1));
    cr_expect(haft_is_live(haft_local_view(seen.local), seen.given[2]));
    haft_local_close(seen.local);
    cr_expect(eq(int, seen.count, 4));
}

/* --- what it may not do --- */

static void close_table(haft_id id)
{
    haft_local_close(seen.local);
}

static void begin_to_load(haft_id id)
{
    haft_local_load_begin(seen.local);
}

static void end_to_load(haft_id id)
{
    haft_local_load_end(seen.local);
}

static void free_one_and_call(void (*act)(haft_id id))
{
#ifdef NDEBUG
    raise(SIGABRT);
#endif
    open_seen(HAFT_LAYOUT_32_32, HAFT_REUSE_LIFO);
    const haft_id id = insert_bytes();

    seen.act = act;
    haft_local_free(seen.local, id);
}

Test(destroy, closing_the_table_inside_is_an_assertion_in_debug_builds, .signal = SIGABRT)
{
    free_one_and_call(close_table);
}

Test(destroy, closing_a_table_that_is_being_closed_is_an_assertion_in_debug_builds,
     .signal = SIGABRT)
{
#ifdef NDEBUG
    raise(SIGABRT);
#endif
    open_seen(HAFT_LAYOUT_32_32, HAFT_REUSE_LIFO);
    insert_bytes();
    seen.act = close_table;
    haft_local_close(seen.local);
}

Test(destroy, beginning_to_load_inside_is_an_assertion_in_debug_builds, .signal = SIGABRT)
{
    free_one_and_call(begin_to_load);
}

static void free_while_loading(haft_id id)
{
    haft_local_load_begin(seen.local);
    seen.act = end_to_load;
    haft_local_free(seen.local, id);
}

Test(destroy, ending_to_load_inside_is_an_assertion_in_debug_builds, .signal = SIGABRT)
{
#ifdef NDEBUG
    raise(SIGABRT);
#endif
    open_seen(HAFT_LAYOUT_32_32, HAFT_REUSE_LIFO);
    free_while_loading(insert_bytes());
}

/* --- another on_destroy, and the slots to walk over --- */

#define FEW 20

static void count_one(void *object, haft_id id, void *calls)
{
    (void)object, (void)id;
    ++*(int *)calls;
}

static haft_local *open_local(haft_local_reuse reuse, haft_local_destroy *on_destroy, void *arg)
{
    const haft_local_options options = {
        .capacity = FEW,
        .object_size = sizeof(int),
        .reuse = reuse,
        .on_destroy = on_destroy,
        .destroy_arg = arg,
    };
    return local_open(&options);
}

/* --- set_destroy --- */

static void check_set(haft_local_reuse reuse)
{
    haft_local *local = open_local(reuse, NULL, NULL);
    int calls = 0;
    const haft_id before = local_insert_one(local);
    const haft_id after = local_insert_one(local);

    local_insert_one(local);
    must(haft_local_free(local, before) == HAFT_OK);
    haft_local_set_destroy(local, count_one, &calls);
    cr_expect(eq(int, calls, 0));
    must(haft_local_free(local, after) == HAFT_OK);
    cr_expect(eq(int, calls, 1));
    local_insert_one(local);
    haft_local_close(local);
    cr_expect(eq(int, calls, 3));
    expect_no_leaks();
}

Test(local_destructor, set_later_runs_for_what_ends_from_then_on)
{
    check_set(HAFT_REUSE_LIFO);
    check_set(HAFT_REUSE_FIFO);
}

Test(local_destructor, set_takes_the_place_of_the_option)
{
    int first = 0;
    int second = 0;
    AT_END(local_end) haft_local *local = open_local(HAFT_REUSE_LIFO, count_one, &first);

    haft_local_set_destroy(local, count_one, &second);
    must(haft_local_free(local, local_insert_one(local)) == HAFT_OK);
    cr_expect(eq(int, first, 0));
    cr_expect(eq(int, second, 1));
}

Test(local_destructor, null_ends_it_and_slots_are_reused_as_before)
{
    int calls = 0;
    haft_local *local = open_local(HAFT_REUSE_LIFO, count_one, &calls);
    const haft_id id = local_insert_one(local);

    haft_local_set_destroy(local, NULL, NULL);
    must(haft_local_free(local, id) == HAFT_OK);
    const haft_id next = local_insert_one(local);
    cr_expect(
        eq(u32, haft_id_index(HAFT_LAYOUT_32_32, next), haft_id_index(HAFT_LAYOUT_32_32, id)));
    cr_expect(eq(u64, haft_local_count(local), 1));
    haft_local_close(local);
    cr_expect(eq(int, calls, 0));
}

Test(local_destructor, set_while_loading_holds_afterwards)
{
    int calls = 0;
    haft_local *local = open_local(HAFT_REUSE_LIFO, NULL, NULL);

    haft_local_load_begin(local);
    haft_local_set_destroy(local, count_one, &calls);
    must(haft_local_restore(local, haft_id_pack(HAFT_LAYOUT_32_32, 9, 3, 0), NULL) == HAFT_OK);
    haft_local_load_end(local);
    for (int i = 1; i < FEW; i++) {
        local_insert_one(local);
    }
    haft_local_close(local);
    cr_expect(eq(int, calls, FEW));
}

Test(local_destructor, set_in_a_table_that_was_opened_shared_runs_once_for_each_object)
{
    const haft_table_options options = {.capacity = FEW, .object_size = sizeof(int)};
    const haft_domain_options frames = {.clock = HAFT_CLOCK_FRAME};
    AT_END(domain_end) haft_domain *domain = NULL;
    haft_table *table = NULL;
    haft_worker *worker = NULL;
    haft_local *local = NULL;
    haft_id id = HAFT_NIL;
    int calls = 0;

    must(haft_domain_open(&frames, &domain) == HAFT_OK);
    must(haft_table_open(domain, &options, &table) == HAFT_OK);
    must(haft_worker_open(table, &worker) == HAFT_OK);
    for (int i = 0; i < 5; i++) {
        must(haft_insert(worker, NULL, &id) == HAFT_OK);
    }
    must(haft_free(worker, id) == HAFT_OK);
    must(haft_worker_close(worker) == HAFT_OK);
    assert_status(haft_unshare(table, &local), HAFT_OK);
    haft_local_set_destroy(local, count_one, &calls);
    haft_local_close(local);
    cr_expect(eq(int, calls, 4));
}

/* --- used_range --- */

Test(local_destructor, used_range_of_a_table_that_never_had_an_object_is_empty)
{
    AT_END(local_end) haft_local *local = open_local(HAFT_REUSE_LIFO, NULL, NULL);
    const haft_range range = haft_local_used_range(local);

    cr_expect(eq(u64, range.from, range.to));
}

Test(local_destructor, used_range_holds_every_slot_that_was_used_and_no_other)
{
    AT_END(local_end) haft_local *local = open_local(HAFT_REUSE_LIFO, NULL, NULL);
    haft_id last = HAFT_NIL;
    void *object;
    int met = 0;

    for (int i = 0; i < 7; i++) {
        last = local_insert_one(local);
    }
    must(haft_local_free(local, last) == HAFT_OK);
    const haft_range range = haft_local_used_range(local);

    cr_expect(eq(u64, range.from, HAFT_FIRST_INDEX));
    cr_expect(eq(u64, range.to, haft_id_index(HAFT_LAYOUT_32_32, last) + UINT64_C(1)));
    for (haft_run run = haft_run_over(haft_local_view(local), range);
         haft_run_next(&run, &last, &object);) {
        met++;
    }
    cr_expect(eq(int, met, 6));
}

Test(local_run_last, gives_each_live_object_from_the_highest_index_to_the_lowest)
{
    AT_END(local_end) haft_local *local = open_local(HAFT_REUSE_LIFO, NULL, NULL);
    haft_id ids[7], id = {0x5a5a};
    void *object = NULL;
    int left = 6;

    for (int i = 0; i < 7; i++) {
        ids[i] = local_insert_one(local);
    }
    must(haft_local_free(local, ids[6]) == HAFT_OK);
    must(haft_local_free(local, ids[3]) == HAFT_OK);
    haft_run run = haft_run_over(haft_local_view(local), haft_local_used_range(local));

    while (haft_local_run_last(&run, &id, &object)) {
        left -= left == 4 ? 2 : 1; /* not the one that was freed */
        cr_expect(eq(u64, id.bits, ids[left].bits));
        cr_expect(eq(ptr, object, haft_resolve(haft_local_view(local), id)));
        must(haft_local_free(local, id) == HAFT_OK);
    }
    cr_expect(eq(int, left, 0));
    cr_expect(eq(u64, id.bits, ids[0].bits)); /* untouched at the end */
    cr_expect(eq(u64, haft_local_count(local), 0));
}

Test(local_run_last, a_run_ends_where_both_ways_meet)
{
    AT_END(local_end) haft_local *local = open_local(HAFT_REUSE_LIFO, NULL, NULL);
    haft_id ids[4], id;
    void *object;

    for (int i = 0; i < 4; i++) {
        ids[i] = local_insert_one(local);
    }
    haft_run run = haft_run_over(haft_local_view(local), haft_local_used_range(local));

    must(haft_run_next(&run, &id, &object) && id.bits == ids[0].bits);
    must(haft_local_run_last(&run, &id, &object) && id.bits == ids[3].bits);
    must(haft_run_next(&run, &id, &object) && id.bits == ids[1].bits);
    must(haft_local_run_last(&run, &id, &object) && id.bits == ids[2].bits);
    cr_expect(not(haft_local_run_last(&run, &id, &object)));
    cr_expect(not(haft_run_next(&run, &id, &object)));
}

/* --- tables that free objects of each other --- */

static struct {
    haft_local *tables[2];
    int ended[2];
} couple;

/* The object is the id of one in the other table. */
static void free_other(void *object, haft_id id, void *arg)
{
    const int own = arg == &couple.tables[1];

    couple.ended[own]++;
    haft_local_free(couple.tables[1 - own], *(const haft_id *)object); /* it may be gone */
}

static void open_couple(void)
{
    for (int i = 0; i < 2; i++) {
        const haft_local_options options = {.capacity = OBJECTS,
                                            .object_size = sizeof(haft_id),
                                            .on_destroy = free_other,
                                            .destroy_arg = &couple.tables[i]};

        couple.ended[i] = 0;
        assert_status(haft_local_open(&options, &couple.tables[i]), HAFT_OK);
    }
}

Test(destroy, tables_that_free_objects_of_each_other_are_cleared_and_then_closed_in_any_order)
{
    for (int order = 0; order < 4; order++) {
        haft_id id = HAFT_NIL;

        open_couple();
        for (int i = 0; i < 2 * OBJECTS; i++) { /* a chain through both */
            const haft_id before = id;

            must(haft_local_insert(couple.tables[i % 2], &before, &id) == HAFT_OK);
        }
        expect_status(haft_local_clear(couple.tables[order / 2]), HAFT_OK);
        expect_status(haft_local_clear(couple.tables[1 - order / 2]), HAFT_OK);
        cr_expect(haft_local_count(couple.tables[0]) == 0 &&
                  haft_local_count(couple.tables[1]) == 0);
        haft_local_close(couple.tables[order % 2]);
        haft_local_close(couple.tables[1 - order % 2]);
        cr_expect(eq(int, couple.ended[0], OBJECTS));
        cr_expect(eq(int, couple.ended[1], OBJECTS));
    }
}
