/* The packed table: objects that are killed, and the refresh. */
#include "tests/packed/packed.h"

TestSuite(packed_kill, .timeout = SUITE_SECONDS);
TestSuite(packed_refresh, .timeout = SUITE_SECONDS);

#define OBJECTS 100

static haft_status kill_and_say(haft_packed *packed, haft_id id)
{
    const haft_status status = haft_packed_kill(packed, id);

    packed_must_be_sound(packed, 8);
    return status;
}

TEST_ON_EACH_ORDER(packed_kill, a_killed_object_is_dead_but_live_and_counted_until_the_refresh)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(OBJECTS, *keep_order);
    const haft_dense_view view = haft_packed_view(packed);
    haft_id ids[3];

    packed_fill(packed, ids, 3);
    void *const object = haft_packed_resolve(view, ids[1]);

    expect_status(kill_and_say(packed, ids[1]), HAFT_OK);
    cr_expect(haft_packed_is_live(view, ids[1]));
    cr_expect(eq(ptr, haft_packed_resolve(view, ids[1]), object));
    expect_status(haft_packed_diagnose(packed, ids[1]), HAFT_OK);
    cr_expect(eq(int, (int)haft_packed_state(packed, ids[1]), HAFT_PACKED_DEAD));
    cr_expect(eq(int, (int)haft_packed_state_in(packed, 1), HAFT_PACKED_DEAD));
    cr_expect(eq(int, (int)haft_packed_state_in(packed, 0), HAFT_PACKED_ALIVE));
    cr_expect(eq(u64, haft_packed_count(packed), 3));
    cr_expect(eq(u64, haft_packed_dead_count(packed), 1));
    cr_expect(eq(u64, haft_packed_available(packed), OBJECTS - 3));
    cr_expect(packed_has(packed, (uint64_t[]){0, 1, 2}, 3));

    expect_status(haft_packed_refresh(packed), HAFT_OK);
    cr_expect(not(haft_packed_is_live(view, ids[1])));
    expect_status(haft_packed_diagnose(packed, ids[1]), HAFT_STALE);
    cr_expect(eq(int, (int)haft_packed_state(packed, ids[1]), HAFT_PACKED_UNUSED));
    cr_expect(eq(int, (int)haft_packed_state_in(packed, 2), HAFT_PACKED_UNUSED));
    cr_expect(packed_has(packed, (uint64_t[]){0, 2}, 2));
    cr_expect(zero(u64, haft_packed_dead_count(packed)));
    cr_expect(eq(u64, haft_packed_available(packed), OBJECTS - 2));
    packed_must_be_sound(packed, 8);
}

TEST_ON_EACH_ORDER(packed_kill, a_dead_object_can_be_freed_at_once)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(OBJECTS, *keep_order);
    haft_id ids[6];

    for (int freed = 0; freed < 3; freed++) { /* the first, middle, last kill */
        packed_fill(packed, ids, 6);
        for (int i = 1; i < 4; i++) {
            must(haft_packed_kill(packed, ids[i]) == HAFT_OK);
        }
        expect_status(haft_packed_free(packed, ids[1 + freed]), HAFT_OK);
        cr_expect(eq(u64, haft_packed_dead_count(packed), 2));
        packed_must_be_sound(packed, 8);
        expect_status(haft_packed_refresh(packed), HAFT_OK);
        cr_expect(eq(u64, haft_packed_count(packed), 3));
        for (int i = 0; i < 6; i++) {
            must(haft_packed_is_live(haft_packed_view(packed), ids[i]) == (i < 1 || i > 3));
        }
        must(haft_packed_clear(packed) == HAFT_OK);
    }
}

TEST_ON_EACH_ORDER(packed_kill, a_live_object_freed_beside_dead_ones_leaves_them_dead)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(OBJECTS, *keep_order);
    haft_id ids[6];

    packed_fill(packed, ids, 6);
    must(haft_packed_kill(packed, ids[5]) == HAFT_OK); /* this one is moved */
    must(haft_packed_free(packed, ids[0]) == HAFT_OK);
    packed_must_be_sound(packed, 8);
    cr_expect(eq(int, (int)haft_packed_state(packed, ids[5]), HAFT_PACKED_DEAD));
    must(haft_packed_refresh(packed) == HAFT_OK);
    cr_expect(eq(u64, haft_packed_count(packed), 4));
    cr_expect(not(haft_packed_is_live(haft_packed_view(packed), ids[5])));
}

TEST_ON_EACH_ORDER(packed_kill, a_slot_of_a_dead_object_begins_its_next_life_alive)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(1, *keep_order);
    const haft_id first = packed_insert_value(packed, 1);

    must(haft_packed_kill(packed, first) == HAFT_OK);
    must(haft_packed_refresh(packed) == HAFT_OK);
    const haft_id second = packed_insert_value(packed, 2);

    cr_expect(eq(int, (int)haft_packed_state(packed, second), HAFT_PACKED_ALIVE));
    must(haft_packed_kill(packed, second) == HAFT_OK);
    must(haft_packed_free(packed, second) == HAFT_OK);
    cr_expect(
        eq(int, (int)haft_packed_state(packed, packed_insert_value(packed, 3)), HAFT_PACKED_ALIVE));
    packed_must_be_sound(packed, 8);
}

/* --- refresh --- */

TEST_ON_EACH_ORDER(packed_refresh, what_was_inserted_after_the_kill_stays)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(OBJECTS, *keep_order);
    haft_id ids[3];

    packed_fill(packed, ids, 3);
    must(haft_packed_kill(packed, ids[0]) == HAFT_OK);
    const haft_id later = packed_insert_value(packed, 9);

    cr_expect(ne(u32, (uint32_t)later.bits, (uint32_t)ids[0].bits)); /* its slot is taken */
    must(haft_packed_refresh(packed) == HAFT_OK);
    cr_expect(haft_packed_is_live(haft_packed_view(packed), later));
    cr_expect(eq(u64, haft_packed_count(packed), 3));
    packed_must_be_sound(packed, 8);
}

/* Behind the last object, where no other code may look. */
static __attribute__((no_sanitize_address)) uint64_t value_behind(const uint64_t *value)
{
    return *value;
}

/* Seen by the bytes that lie behind the objects afterwards: those of the dead that stood there. */
Test(packed_refresh, moves_an_object_once_whatever_the_order_of_the_kills)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(10, false);
    const uint64_t *values = haft_packed_objects(packed);
    const int dead[] = {8, 7, 5, 2};
    haft_id ids[10];

    packed_fill(packed, ids, 10);
    for (int i = 0; i < 4; i++) {
        must(haft_packed_kill(packed, ids[dead[i]]) == HAFT_OK);
    }
    must(haft_packed_refresh(packed) == HAFT_OK);
    cr_expect(packed_has(packed, (const uint64_t[]){0, 1, 6, 3, 4, 9}, 6));
    cr_expect(eq(u64, value_behind(&values[7]), 7));
    cr_expect(eq(u64, value_behind(&values[8]), 8));
    packed_must_be_sound(packed, 8);
}

Test(packed_refresh, with_keep_order_keeps_it)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(10, true);
    const haft_dense_view view = haft_packed_view(packed);
    haft_id ids[10];

    packed_fill(packed, ids, 10);
    const int dead[] = {8, 3, 4, 9, 6};
    void *const before = haft_packed_resolve(view, ids[2]);

    for (int i = 0; i < 5; i++) {
        must(haft_packed_kill(packed, ids[dead[i]]) == HAFT_OK);
    }
    must(haft_packed_refresh(packed) == HAFT_OK);
    cr_expect(packed_has(packed, (uint64_t[]){0, 1, 2, 5, 7}, 5));
    cr_expect(eq(ptr, haft_packed_resolve(view, ids[2]), before));
    packed_must_be_sound(packed, 8);
}

/* Each set of dead ones among eight. */
TEST_ON_EACH_ORDER(packed_refresh, of_every_pattern_of_dead_objects_keeps_exactly_the_others)
{
    AT_END(packed_end) haft_packed *packed = packed_open_values(8, *keep_order);
    haft_id ids[8];

    for (unsigned pattern = 0; pattern < 256; pattern++) {
        uint64_t survivors[8];
        uint64_t count = 0;

        packed_fill(packed, ids, 8);
        for (unsigned i = 0; i < 8; i++) {
            if ((pattern >> i & 1) != 0) {
                must(haft_packed_kill(packed, ids[i]) == HAFT_OK);
            } else {
                survivors[count++] = i;
            }
        }
        must(haft_packed_refresh(packed) == HAFT_OK);
        must(haft_packed_count(packed) == count);
        must(!*keep_order || packed_has(packed, survivors, count));
        for (unsigned i = 0; i < 8; i++) {
            const uint64_t *object = haft_packed_resolve(haft_packed_view(packed), ids[i]);

            must((object == NULL) == (pattern >> i & 1));
            must(object == NULL || *object == i);
        }
        packed_must_be_sound(packed, 8);
        must(haft_packed_clear(packed) == HAFT_OK);
    }
}
