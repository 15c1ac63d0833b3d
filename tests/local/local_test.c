/* What only the table of one thread has: count, walk, clear, order of reuse. */
#include "tests/support.h"

static haft_local *local;

static void open_local(void)
{
    const haft_local_options options = {.capacity = 100, .object_size = sizeof(int)};

    assert_status(haft_local_open(&options, &local), HAFT_OK);
}

static void close_local(void)
{
    haft_local_close(local);
}

TestSuite(local, .timeout = SUITE_SECONDS, .init = open_local, .fini = close_local);
TestSuite(for_each, .timeout = SUITE_SECONDS, .init = open_local, .fini = close_local);
TestSuite(clear, .timeout = SUITE_SECONDS, .init = open_local, .fini = close_local);

static haft_id insert_value(int value)
{
    haft_id id = HAFT_NIL;

    assert_status(haft_local_insert(local, &value, &id), HAFT_OK);
    return id;
}

static uint32_t index_of(haft_id id)
{
    return haft_id_index(HAFT_LAYOUT_32_32, id);
}

Test(local, count_is_inserted_less_freed_on_every_path)
{
    haft_id id;

    cr_expect(eq(u64, haft_local_count(local), 0));
    assert_status(haft_local_reserve(local, &id, NULL), HAFT_OK);
    cr_expect(eq(u64, haft_local_count(local), 0));
    haft_local_publish(local, id);
    cr_expect(eq(u64, haft_local_count(local), 1));
    expect_status(haft_local_free(local, HAFT_NIL), HAFT_NO_ID);
    cr_expect(eq(u64, haft_local_count(local), 1));
    expect_status(haft_local_free(local, id), HAFT_OK);
    expect_status(haft_local_free(local, id), HAFT_STALE);
    cr_expect(eq(u64, haft_local_count(local), 0));
    assert_status(haft_local_reserve(local, &id, NULL), HAFT_OK);
    haft_local_abort(local, id);
    cr_expect(eq(u64, haft_local_count(local), 0));
}

/* --- the walk --- */

struct walk {
    haft_id seen[300];
    int count;
    int stop_after; /* 0: never */
    int free_mode;  /* 1: what it is given; 2: the id before; 3: all others */
    bool insert;
    haft_id *others;
    int other_count;
};

static bool visit(haft_id id, void *object, void *arg)
{
    struct walk *walk = arg;

    must(object == haft_resolve(haft_local_view(local), id));
    must(walk->count < 300);
    walk->seen[walk->count++] = id;
    if (walk->free_mode == 1) {
        must(haft_local_free(local, id) == HAFT_OK);
    } else if (walk->free_mode == 2 && walk->count > 1) {
        must(haft_local_free(local, walk->seen[walk->count - 2]) == HAFT_OK);
    } else if (walk->free_mode == 3) {
        for (int i = 0; i < walk->other_count; i++) {
            must(haft_id_equal(walk->others[i], id) ||
                 haft_local_free(local, walk->others[i]) == HAFT_OK);
        }
    }
    if (walk->insert && haft_local_count(local) < 100) {
        insert_value(1);
    }
    return walk->count != walk->stop_after;
}

Test(local, freed_slots_form_one_chain_however_they_are_freed)
{
    haft_id ids[100];
    bool met[104] = {false};

    for (int i = 0; i < 100; i++) {
        ids[i] = insert_value(i);
    }
    for (int i = 0; i < 100; i++) { /* 37 is prime to 100: all of them, in some order */
        assert_status(haft_local_free(local, ids[i * 37 % 100]), HAFT_OK);
        expect_status(haft_local_free(local, ids[i * 37 % 100]), HAFT_STALE);
    }
    cr_expect(zero(u64, haft_local_for_each(local, visit, NULL)));
    for (int i = 0; i < 100; i++) {
        const uint32_t index = index_of(insert_value(i));

        cr_assert(lt(u32, index, 104));
        cr_expect(not(met[index]), "slot %u is in the chain twice", index);
        met[index] = true;
    }
}

Test(for_each, an_empty_table_has_nothing_to_visit)
{
    struct walk walk = {.count = 0};

    cr_expect(eq(u64, haft_local_for_each(local, visit, &walk), 0));
    assert_status(haft_local_free(local, insert_value(1)), HAFT_OK);
    cr_expect(eq(u64, haft_local_for_each(local, visit, &walk), 0));
}

Test(for_each, visits_each_live_object_once_in_order_of_index)
{
    struct walk walk = {.count = 0};
    haft_id ids[60];
    haft_id reserved;

    for (int i = 0; i < 60; i++) {
        ids[i] = insert_value(i);
    }
    assert_status(haft_local_reserve(local, &reserved, NULL), HAFT_OK);
    for (int i = 0; i < 60; i += 3) {
        assert_status(haft_local_free(local, ids[i]), HAFT_OK);
    }
    cr_expect(eq(u64, haft_local_for_each(local, visit, &walk), 40));
    cr_assert(eq(int, walk.count, 40));
    for (int i = 1; i < 40; i++) {
        cr_expect(lt(u32, index_of(walk.seen[i - 1]), index_of(walk.seen[i])));
    }
}

Test(for_each, exactly_one_live_the_last)
{
    struct walk walk = {.count = 0};
    haft_id ids[100];

    for (int i = 0; i < 100; i++) {
        ids[i] = insert_value(i);
    }
    local_free_each(local, ids, 99);
    cr_expect(eq(u64, haft_local_for_each(local, visit, &walk), 1));
    cr_expect(eq(u64, walk.seen[0].bits, ids[99].bits));
}

Test(for_each, a_visitor_that_returns_false_ends_the_walk)
{
    struct walk walk = {.stop_after = 7};

    for (int i = 0; i < 20; i++) {
        insert_value(i);
    }
    cr_expect(eq(u64, haft_local_for_each(local, visit, &walk), 7));
    cr_expect(eq(int, walk.count, 7));
}

/* What it is given, what it was given before, all others. */
Test(for_each, the_visitor_may_free)
{
    static const uint64_t visited[] = {0, 100, 100, 1};
    static const uint64_t left[] = {0, 0, 1, 1};
    haft_id ids[100];

    for (int mode = 1; mode <= 3; mode++) {
        struct walk walk = {.free_mode = mode, .others = ids, .other_count = 100};

        local_insert_each(local, ids, 100);
        cr_expect(eq(u64, haft_local_for_each(local, visit, &walk), visited[mode]));
        cr_expect(eq(u64, haft_local_count(local), left[mode]));
        haft_local_clear(local);
    }
}

Test(for_each, objects_there_from_start_to_end_are_met_once_while_the_visitor_inserts)
{
    struct walk walk = {.insert = true};
    haft_id ids[50];
    int met = 0;

    for (int i = 0; i < 50; i++) {
        ids[i] = insert_value(i);
    }
    cr_expect(ge(u64, haft_local_for_each(local, visit, &walk), 50));
    for (int i = 0; i < 50; i++) {
        for (int k = 0; k < walk.count; k++) {
            met += haft_id_equal(walk.seen[k], ids[i]);
        }
    }
    cr_expect(eq(int, met, 50));
    cr_expect(eq(u64, haft_local_count(local), 100));
}

/* --- clear --- */

Test(clear, frees_all_objects_for_ever)
{
    haft_id ids[100];
    haft_id again;

    for (int i = 0; i < 100; i++) {
        ids[i] = insert_value(i);
    }
    assert_status(haft_local_clear(local), HAFT_OK);
    cr_expect(eq(u64, haft_local_count(local), 0));
    for (int i = 0; i < 100; i++) {
        assert_status(haft_local_insert(local, NULL, &again), HAFT_OK);
        cr_expect(eq(u64, haft_id_generation(HAFT_LAYOUT_32_32, again), 2));
    }
    expect_status(haft_local_insert(local, NULL, &again), HAFT_FULL);
    for (int i = 0; i < 100; i++) {
        cr_expect(not(haft_is_live(haft_local_view(local), ids[i])));
        expect_status(haft_local_free(local, ids[i]), HAFT_STALE);
    }
}

Test(clear, is_refused_while_a_slot_is_reserved)
{
    const haft_id kept = insert_value(1);
    haft_id reserved;
    haft_id other;

    assert_status(haft_local_reserve(local, &reserved, NULL), HAFT_OK);
    expect_status(haft_local_clear(local), HAFT_IN_USE);
    cr_expect(haft_is_live(haft_local_view(local), kept));
    assert_status(haft_local_insert(local, NULL, &other), HAFT_OK);
    cr_expect(ne(u64, other.bits, reserved.bits));
    haft_local_publish(local, reserved);
    expect_status(haft_local_clear(local), HAFT_OK);
    cr_expect(eq(u64, haft_local_count(local), 0));
}

Test(clear, slots_that_are_free_already_stay_in_their_one_chain)
{
    haft_id ids[100];
    haft_id again;

    for (int i = 0; i < 100; i++) {
        ids[i] = insert_value(i);
    }
    for (int i = 0; i < 100; i += 2) {
        assert_status(haft_local_free(local, ids[i]), HAFT_OK);
    }
    assert_status(haft_local_clear(local), HAFT_OK);
    assert_status(haft_local_clear(local), HAFT_OK);
    for (int i = 0; i < 100; i++) {
        assert_status(haft_local_insert(local, NULL, &again), HAFT_OK);
    }
    expect_status(haft_local_insert(local, NULL, &again), HAFT_FULL);
    cr_expect(eq(u64, haft_local_count(local), 100));
}

Test(clear, of_an_empty_table_changes_nothing)
{
    haft_local_clear(local);
    cr_expect(eq(u64, haft_id_generation(HAFT_LAYOUT_32_32, insert_value(1)), 1));
}
