/* Counted objects: held, taken, copied, wiped.  Their ids: tests/slots, as those of all tables. */
#include "concurrent/counted/state.h"
#include "tests/support.h"
#include <haft/counted.h>
#include <string.h>

static haft_counted *table;
static int destroyed;
static haft_id last_destroyed;
static uint64_t last_value;

static void note_end(void *object, haft_id id, void *arg)
{
    cr_expect(eq(ptr, arg, &destroyed));
    cr_expect(not(haft_counted_is_live(table, id)));
    destroyed++;
    last_destroyed = id;
    memcpy(&last_value, object, sizeof last_value);
}

static void open_table(void)
{
    const haft_counted_options options = {.name = "sessions",
                                          .capacity = 4,
                                          .object_size = 8,
                                          .on_destroy = note_end,
                                          .destroy_arg = &destroyed};

    assert_status(haft_counted_open(&options, &table), HAFT_OK);
}

static void close_table(void)
{
    expect_status(haft_counted_close(table), HAFT_OK);
}

TestSuite(counted, .init = open_table, .fini = close_table, .timeout = SUITE_SECONDS);
TestSuite(counted_apart, .timeout = SUITE_SECONDS);

static haft_id insert_value(uint64_t value)
{
    haft_id id = HAFT_NIL;

    must(haft_counted_insert(table, &value, &id) == HAFT_OK);
    return id;
}

/* --- held --- */

Test(counted, a_reserved_object_is_not_held_and_has_no_end)
{
    haft_id id;
    void *object;

    assert_status(haft_counted_reserve(table, &id, &object), HAFT_OK);
    expect_status(haft_counted_take(table, id, &last_value), HAFT_RESERVED);
    expect_status(haft_counted_release(table, id), HAFT_NOT_HELD);
    cr_expect(not(haft_counted_again(table, id)));
    haft_counted_abort(table, id);
    cr_expect(zero(int, destroyed));
}

Test(counted, free_ends_an_object_that_is_not_held_at_once)
{
    const haft_id id = insert_value(9);

    expect_status(haft_counted_free(table, id), HAFT_OK);
    cr_expect(eq(int, destroyed, 1));
    cr_expect(haft_id_equal(last_destroyed, id));
    cr_expect(eq(u64, last_value, 9));
    expect_status(haft_counted_free(table, id), HAFT_STALE);
    cr_expect(eq(int, destroyed, 1));
}

/* What is said of a slot whose object has been freed, held or not. */
static void expect_next_life(haft_id id)
{
    const haft_id next = {id.bits + (UINT64_C(1) << 32)};
    haft_id at;

    expect_status(haft_counted_diagnose(table, id), HAFT_STALE);
    expect_status(haft_counted_diagnose(table, next), HAFT_NEVER_ISSUED);
    expect_status(haft_counted_id_at(table, haft_id_index(HAFT_LAYOUT_32_32, id), &at), HAFT_STALE);
    cr_expect(haft_id_equal(at, next));
}

Test(counted, the_last_release_ends_an_object_freed_while_held)
{
    const haft_id id = insert_value(9);
    uint64_t *held = haft_counted_acquire(table, id);

    cr_expect(eq(ptr, haft_counted_acquire(table, id), held));
    expect_status(haft_counted_free(table, id), HAFT_OK);
    expect_status(haft_counted_free(table, id), HAFT_STALE);
    expect_next_life(id);
    cr_expect(zero(ptr, haft_counted_acquire(table, id)));
    cr_expect(not(haft_counted_is_live(table, id)));
    cr_expect(eq(u64, *held, 9));
    expect_status(haft_counted_release(table, id), HAFT_OK);
    cr_expect(zero(int, destroyed));
    *held = 10;
    expect_status(haft_counted_release(table, id), HAFT_OK);
    cr_expect(eq(int, destroyed, 1));
    cr_expect(eq(u64, last_value, 10));
    expect_status(haft_counted_release(table, id), HAFT_NOT_HELD);
    cr_expect(eq(int, destroyed, 1));
}

Test(counted, again_holds_what_is_held_freed_or_not_and_nothing_else)
{
    const haft_id id = insert_value(9);

    cr_expect(not(haft_counted_again(table, id)));
    cr_assert(not(zero(ptr, haft_counted_acquire(table, id))));
    cr_expect(haft_counted_again(table, id));
    haft_counted_free(table, id);
    cr_expect(haft_counted_again(table, id));
    for (int i = 0; i < 3; i++) {
        cr_expect(zero(int, destroyed));
        expect_status(haft_counted_release(table, id), HAFT_OK);
    }
    cr_expect(eq(int, destroyed, 1));
    cr_expect(not(haft_counted_again(table, id)));
}

Test(counted, a_release_too_many_of_a_live_object_changes_nothing)
{
    const haft_id id = insert_value(9);

    expect_status(haft_counted_release(table, id), HAFT_NOT_HELD);
    cr_assert(not(zero(ptr, haft_counted_acquire(table, id))));
    expect_status(haft_counted_release(table, id), HAFT_OK);
    expect_status(haft_counted_release(table, id), HAFT_NOT_HELD);
    expect_status(haft_counted_take(table, id, &last_value), HAFT_OK);
}

Test(counted, a_release_by_a_past_id_does_not_touch_the_next_life)
{
    const haft_id id = insert_value(1);

    haft_counted_free(table, id);
    haft_id next = HAFT_NIL;

    for (int i = 0; i < 4; i++) {
        next = insert_value(2);
        cr_assert(not(zero(ptr, haft_counted_acquire(table, next))));
    }
    expect_status(haft_counted_release(table, id), HAFT_NOT_HELD);
    cr_expect(not(haft_counted_again(table, id)));
    haft_counted_cursor cursor = {0};
    void *object;
    int held = 0;

    while (haft_counted_cursor_next(table, &cursor, &next, &object)) {
        expect_status(haft_counted_release(table, next), HAFT_OK);
        expect_status(haft_counted_release(table, next), HAFT_OK);
        held++;
    }
    cr_expect(eq(int, held, 4));
}

Test(counted, a_required_object_is_held)
{
    const haft_id id = insert_value(9);

    cr_assert(not(zero(ptr, haft_counted_require(table, id))));
    expect_status(haft_counted_take(table, id, &last_value), HAFT_IN_USE);
    expect_status(haft_counted_release(table, id), HAFT_OK);
}

/* White-box: as after that many acquires. */
static void set_holders(haft_id id, uint64_t holders)
{
    atomic_u64 *at = counted_find(table, id);

    store_relaxed(OWN, at,
                  counted_word(counted_life(load_relaxed(OWN, at)), COUNTED_LIVE, holders));
}

Test(counted, an_object_with_the_most_holders_takes_no_more_and_loses_none)
{
    const haft_id id = insert_value(9);

    set_holders(id, COUNTED_MOST_HOLDERS - 1);
    cr_expect(not(zero(ptr, haft_counted_acquire(table, id))));
    for (int is_freed = 0; is_freed < 2; is_freed++) {
        cr_expect(zero(ptr, haft_counted_acquire(table, id)));
        cr_expect(not(haft_counted_again(table, id)));
        cr_expect(eq(int, haft_counted_free(table, id), is_freed ? HAFT_STALE : HAFT_OK));
    }
    expect_status(haft_counted_release(table, id), HAFT_OK);
    cr_expect(haft_counted_again(table, id));
    set_holders(id, 0);
}

static void note_bad_access(const haft_bad_access *access, void *arg)
{
    *(haft_status *)arg = access->status;
}

Test(counted_apart, require_of_a_live_object_with_the_most_holders_says_that_it_is_in_use)
{
    haft_status said = HAFT_OK;
    haft_id id;

    assert_status(haft_counted_open(&(haft_counted_options){.capacity = 1,
                                                            .on_bad_access = note_bad_access,
                                                            .report_arg = &said},
                                    &table),
                  HAFT_OK);
    assert_status(haft_counted_insert(table, NULL, &id), HAFT_OK);
    set_holders(id, COUNTED_MOST_HOLDERS);
    cr_expect(zero(ptr, haft_counted_require(table, id)));
    cr_expect(eq(int, said, HAFT_IN_USE));
    set_holders(id, 0);
    close_table();
}

/* --- out --- */

Test(counted, take_gives_the_bytes_without_on_destroy)
{
    const haft_id id = insert_value(9);
    uint64_t taken = 0;

    cr_assert(not(zero(ptr, haft_counted_acquire(table, id))));
    expect_status(haft_counted_take(table, id, &taken), HAFT_IN_USE);
    cr_expect(zero(u64, taken));
    cr_expect(haft_counted_is_live(table, id));
    haft_counted_release(table, id);
    expect_status(haft_counted_take(table, id, &taken), HAFT_OK);
    cr_expect(eq(u64, taken, 9));
    expect_status(haft_counted_take(table, id, &taken), HAFT_STALE);
    expect_status(haft_counted_take(table, HAFT_NIL, &taken), HAFT_NO_ID);
    cr_expect(zero(int, destroyed));
}

/* --- copies --- */

Test(counted_apart, objects_that_are_copied_lie_apart_are_zeros_by_default_and_end_as_zeros)
{
    for (size_t size = 0; size <= 64; size++) {
        const haft_counted_options options = {
            .capacity = 2, .object_size = size, .copies = true, .wipe = true};
        const unsigned char zeros[64] = {0};
        unsigned char ones[64];
        unsigned char out[64];
        haft_id ids[2];

        memset(ones, 1, sizeof ones);
        must(haft_counted_open(&options, &table) == HAFT_OK);
        for (int i = 0; i < 2; i++) {
            must(haft_counted_insert(table, ones, &ids[i]) == HAFT_OK);
        }
        must(haft_counted_free(table, ids[0]) == HAFT_OK);
        must(haft_counted_insert(table, NULL, &ids[0]) == HAFT_OK);
        must(haft_counted_copy(table, ids[0], out) && memcmp(out, zeros, size) == 0);
        must(haft_counted_copy(table, ids[1], out) && memcmp(out, ones, size) == 0);
        const void *held = haft_counted_acquire(table, ids[1]);

        must(haft_counted_free(table, ids[1]) == HAFT_OK && memcmp(held, ones, size) == 0);
        must(haft_counted_release(table, ids[1]) == HAFT_OK && memcmp(held, zeros, size) == 0);
        must(haft_counted_close(table) == HAFT_OK);
    }
}

Test(counted_apart, a_table_of_ids_alone_gives_no_bytes)
{
    haft_id id;

    for (int copies = 0; copies < 2; copies++) {
        assert_status(
            haft_counted_open(&(haft_counted_options){.capacity = 1, .copies = copies}, &table),
            HAFT_OK);
        assert_status(haft_counted_insert(table, NULL, &id), HAFT_OK);
        cr_expect(not(zero(ptr, haft_counted_acquire(table, id))));
        expect_status(haft_counted_release(table, id), HAFT_OK);
        cr_expect(copies == 0 || haft_counted_copy(table, id, NULL));
        expect_status(haft_counted_take(table, id, NULL), HAFT_OK); /* of a null pointer no byte */
        expect_status(haft_counted_close(table), HAFT_OK);
    }
}

Test(counted_apart, copy_gives_exactly_the_objects_bytes_and_nothing_on_failure)
{
    for (size_t size = 0; size <= 64; size++) {
        const haft_counted_options options = {
            .capacity = 4, .object_size = size, .copies = true, .wipe = size % 2 == 0};
        unsigned char value[64];
        unsigned char out[80];
        haft_id id;

        for (size_t at = 0; at < size; at++) {
            value[at] = (unsigned char)(at + 1);
        }
        must(haft_counted_open(&options, &table) == HAFT_OK);
        must(haft_counted_insert(table, value, &id) == HAFT_OK);
        memset(out, 'x', sizeof out);
        must(haft_counted_copy(table, id, out));
        must(memcmp(out, value, size) == 0);
        for (size_t at = size; at < sizeof out; at++) {
            must(out[at] == 'x');
        }
        must(haft_counted_acquire(table, id) != NULL);
        must(haft_counted_copy(table, id, out)); /* held or not */
        must(haft_counted_free(table, id) == HAFT_OK);
        memset(out, 'x', sizeof out);
        must(!haft_counted_copy(table, id, out)); /* freed and held */
        must(haft_counted_release(table, id) == HAFT_OK);
        must(!haft_counted_copy(table, id, out));
        must(!haft_counted_copy(table, HAFT_NIL, out));
        must(!haft_counted_copy(table, (haft_id){UINT64_MAX}, out));
        must(out[0] == 'x');
        must(haft_counted_close(table) == HAFT_OK);
    }
}

Test(counted_apart, a_table_with_copies_reserves_nothing)
{
    haft_id id = {5};

    assert_status(haft_counted_open(&(haft_counted_options){.capacity = 1, .copies = true}, &table),
                  HAFT_OK);
    expect_status(haft_counted_reserve(table, &id, NULL), HAFT_BAD_COPIES);
    cr_expect(eq(u64, id.bits, 5));
    haft_counted_close(table);
}

/* --- looking --- */

Test(counted, a_cursor_holds_each_live_object_once_in_order)
{
    haft_id ids[4];
    haft_counted_cursor cursor = {0};
    haft_id id = HAFT_NIL;
    void *object;

    for (uint64_t i = 0; i < 4; i++) {
        ids[i] = insert_value(i);
    }
    haft_counted_free(table, ids[1]);
    for (uint64_t i = 0; i < 4; i++) {
        if (i != 1) {
            cr_assert(haft_counted_cursor_next(table, &cursor, &id, &object));
            cr_expect(haft_id_equal(id, ids[i]));
            cr_expect(eq(u64, *(uint64_t *)object, i));
            expect_status(haft_counted_take(table, id, &last_value), HAFT_IN_USE);
            expect_status(haft_counted_release(table, id), HAFT_OK);
        }
    }
    id.bits = 5;
    object = &id;
    cr_expect(not(haft_counted_cursor_next(table, &cursor, &id, &object)));
    cr_expect(eq(u64, id.bits, 5));
    cr_expect(eq(ptr, object, &id));
}

Test(counted, statistics_and_explain_say_where_the_slots_are)
{
    char line[200];
    const haft_id held = insert_value(1);
    const haft_id ended = insert_value(2);
    const haft_id freed = insert_value(3);
    haft_id reserved;

    must(haft_counted_acquire(table, held) != NULL && haft_counted_acquire(table, ended) != NULL);
    assert_status(haft_counted_reserve(table, &reserved, NULL), HAFT_OK);
    haft_counted_free(table, ended);
    haft_counted_free(table, freed);
    const haft_counted_stats stats = haft_counted_stats_get(table);

    cr_expect(eq(u64, stats.live, 1));
    cr_expect(eq(u64, stats.held, 1));
    cr_expect(eq(u64, stats.reserved, 1));
    cr_expect(eq(u64, stats.ended, 1));
    cr_expect(eq(u64, stats.free, 1));
    cr_expect(zero(u64, stats.exhausted));
    cr_expect(eq(u64, stats.high_water, 4));
    cr_expect(eq(u64, stats.capacity, 4));
    cr_expect(eq(u64, stats.limit, 4));
    cr_expect(not(zero(u64, stats.bytes)));
    haft_counted_explain(table, HAFT_IN_USE, line, sizeof line);
    cr_expect(
        eq(str, line,
           "sessions: in use: 1 object live, 1 object of them held, 1 slot reserved, 1 object "
           "freed and still held or being destroyed"));
    insert_value(4);
    haft_counted_explain(table, HAFT_FULL, line, sizeof line);
    cr_expect(eq(str, line,
                 "sessions: full: capacity 4; 2 live, 1 slot reserved, 1 object freed and still "
                 "held or being destroyed"));
    const int length = haft_counted_explain(table, HAFT_CLOSED, line, sizeof line);

    cr_expect(eq(int, strncmp(line, "sessions: ", 10), 0));
    cr_expect(eq(int, length, haft_counted_explain(table, HAFT_CLOSED, NULL, 0)));
    haft_counted_abort(table, reserved);
    haft_counted_release(table, held);
    haft_counted_release(table, ended);
}

/* --- wipe --- */

Test(counted_apart, with_wipe_an_object_is_zeros_once_it_has_ended)
{
    for (size_t size = 1; size < 100; size += 7) {
        const haft_counted_options options = {.capacity = 1, .object_size = size, .wipe = true};
        char secret[100];
        void *object;
        haft_id id;
        haft_id next;

        memset(secret, 's', sizeof secret);
        must(haft_counted_open(&options, &table) == HAFT_OK);
        must(haft_counted_insert(table, secret, &id) == HAFT_OK);
        must(haft_counted_acquire(table, id) != NULL);
        must(haft_counted_free(table, id) == HAFT_OK);
        must(haft_counted_release(table, id) == HAFT_OK);
        must(haft_counted_reserve(table, &next, &object) == HAFT_OK);
        for (size_t at = 0; at < size; at++) {
            must(((char *)object)[at] == 0);
        }
        haft_counted_abort(table, next);
        must(haft_counted_insert(table, secret, &id) == HAFT_OK);
        must(haft_counted_take(table, id, secret) == HAFT_OK && secret[0] == 's');
        must(haft_counted_reserve(table, &next, &object) == HAFT_OK);
        must(((char *)object)[size - 1] == 0);
        haft_counted_abort(table, next);
        must(haft_counted_close(table) == HAFT_OK);
    }
}
