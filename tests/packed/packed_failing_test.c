/* The packed table under strict overcommit. */
#include "tests/base/faults.h"
#include "tests/packed/packed.h"

TestSuite(packed_strict_overcommit, .timeout = SUITE_SECONDS);

/* Insert until `count` are there, though every call that asks for memory is refused once. */
static int insert_with_refusals(haft_packed *packed, uint64_t *values, uint64_t count)
{
    int refusals = 0;

    for (uint64_t i = 0; i < count; i++) {
        haft_id id = {0x5a5a};

        fail_calls(1, 1000000);
        haft_status status = haft_packed_insert(packed, &values[i], &id);

        fail_calls(0, -1);
        if (status != HAFT_OK) {
            must(status == HAFT_NO_MEMORY && id.bits == 0x5a5a);
            must(haft_packed_count(packed) == i);
            refusals++;
            status = haft_packed_insert(packed, &values[i], &id);
        }
        must(status == HAFT_OK);
    }
    return refusals;
}

static int descending(const void *a, const void *b, void *arg)
{
    return *(const uint64_t *)a < *(const uint64_t *)b ? 1 : -1;
}

#define VALUES 600000

static uint64_t values[VALUES];

TEST_ON_EACH_ORDER(packed_strict_overcommit, a_packed_table_answers_any_refusal_and_goes_on)
{
    const haft_packed_options growing = {
        .capacity = VALUES, .object_size = 8, .keep_order = *keep_order};

    faults.strict = true;
    haft_packed *packed = packed_open(&growing);

    for (uint64_t i = 0; i < VALUES; i++) {
        values[i] = i;
    }
    cr_expect(ge(int, insert_with_refusals(packed, values, VALUES), 5)); /* 9 MiB of slots */
    cr_expect(packed_has(packed, values, VALUES));
    packed_close(packed);
    expect_no_leaks();
}

Test(packed_strict_overcommit, a_fixed_packed_table_asks_for_no_memory_when_it_is_open)
{
    const haft_packed_options fixed = {
        .capacity = VALUES, .object_size = 8, .growth_step = HAFT_PACKED_FIXED};
    haft_id id = HAFT_NIL;

    faults.strict = true;
    haft_packed *packed = packed_open(&fixed);

    fail_calls(1, 1000000);
    for (uint64_t i = 0; i < VALUES; i++) {
        must(haft_packed_insert(packed, NULL, &id) == HAFT_OK);
        must(i % 2 == 0 || haft_packed_kill(packed, id) == HAFT_OK);
    }
    must(haft_packed_refresh(packed) == HAFT_OK);
    cr_expect(zero(int, faults.calls));
    fail_calls(0, -1);
    packed_close(packed);
    expect_no_leaks();
}

/* Objects of 8 bytes that end with a step of 2 MiB, so that the spare one needs the next. */
static uint64_t objects_of_whole_steps(const haft_packed *packed)
{
    const uint64_t begin = (uintptr_t)haft_packed_view(packed).objects;

    return ((begin / (2 * MIB) + 2) * 2 * MIB - begin) / 8;
}

Test(packed_strict_overcommit, a_sort_of_a_packed_table_that_is_refused_memory_changes_nothing)
{
    const haft_packed_options growing = {.capacity = VALUES, .object_size = 8};

    faults.strict = true;
    haft_packed *packed = packed_open(&growing);
    const uint64_t count = objects_of_whole_steps(packed);

    for (uint64_t i = 0; i < count; i++) {
        values[i] = i;
    }
    insert_with_refusals(packed, values, count);
    for (int n = 1; n <= 2; n++) { /* the order, then the spare object */
        fail_calls(n, n);
        expect_status(haft_packed_sort(packed, descending, NULL), HAFT_NO_MEMORY);
        fail_calls(n == 1 ? 1 : 0, n == 1 ? 1 : -1);
        cr_expect(haft_packed_sort_as(packed, NULL, 0) == (n == 1 ? HAFT_NO_MEMORY : HAFT_OK));
        fail_calls(0, -1);
        cr_expect(packed_has(packed, values, count));
        packed_must_be_sound(packed, 8);
    }
    expect_status(haft_packed_sort(packed, descending, NULL), HAFT_OK);
    cr_expect(eq(u64, packed_value_at(packed, 0), count - 1));
    cr_expect(eq(u64, packed_value_at(packed, count - 1), 0));
    packed_must_be_sound(packed, 8);
    packed_close(packed);
    expect_no_leaks();
}
