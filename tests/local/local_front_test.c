/*
 * haft/detail/local_front.h: insertion and free in place are those of the library, id for id, also
 * where a table meets both.
 */
#include "tests/support.h"
#include <haft/detail/local_front.h>
#include <haft/kit/restore.h>

TestSuite(local_front, .timeout = SUITE_SECONDS);

struct object {
    uint64_t value[3];
};

static const haft_local_options lifo = {.capacity = 60, .object_size = sizeof(struct object)};

/* Whether an object is inserted in place: a table that does not would ask the library. */
static haft_id insert_in_place(haft_local *local, uint64_t value)
{
    const struct object object = {{value, value, value}};
    const haft_view view = haft_local_view(local);
    haft_id id;

    must(haft_local_insert_front(local, view, &object, sizeof object, &id) == HAFT_OK);
    return id;
}

static uint64_t value_of(haft_local *local, haft_id id)
{
    const struct object *object = haft_resolve(haft_local_view(local), id);

    return object != NULL && object->value[2] == object->value[0] ? object->value[0] : 0;
}

/* In place mostly, and by a call now and then. */
static haft_status insert_either_way(haft_local *local, const struct object *object, haft_id *id)
{
    return object->value[0] % 4 == 0
               ? haft_local_insert(local, object, id)
               : haft_local_insert_front(local, haft_local_view(local), object, sizeof *object, id);
}

static haft_status free_either_way(haft_local *local, uint64_t step, haft_id id)
{
    return step % 4 == 0 ? haft_local_free(local, id)
                         : haft_local_free_front(local, haft_local_view(local), id);
}

/* The same traffic on two tables, in place on one: ids, statuses, contents and counts are equal. */
static void expect_same(const haft_local_options *options)
{
    haft_local *called = local_open(options);
    AT_END(local_end) haft_local *placed = local_open(options);
    haft_id ids[64];
    uint64_t count = 0;
    uint64_t seed = 42;

    for (uint64_t step = 1; step < 20000; step++) {
        const struct object object = {{step, step, step}};

        if (count < 60 && random_next(&seed) % 2 == 0) {
            haft_id id = {7};
            const haft_status status = haft_local_insert(called, &object, &ids[count]);

            must(insert_either_way(placed, &object, &id) == status);
            must(status == HAFT_FULL || id.bits == ids[count].bits);
            must(status == HAFT_FULL || value_of(placed, id) == step);
            count += status == HAFT_OK;
        } else if (count != 0) {
            const uint64_t which = random_next(&seed) % count;
            const haft_id id = ids[which];

            ids[which] = ids[--count];
            must(haft_local_free(called, id) == HAFT_OK);
            must(free_either_way(placed, step, id) == HAFT_OK);
            must(free_either_way(placed, step + 1, id) == haft_local_free(called, id));
        }
        must(haft_local_count(placed) == count && haft_local_count(called) == count);
        must(haft_local_available(placed) == haft_local_available(called));
    }
    haft_local_close(called);
}

static void count_end(void *object, haft_id id, void *arg)
{
    uint64_t *calls = arg;

    ++*calls;
}

Test(local_front, gives_the_ids_that_calls_give)
{
    haft_local_options options = lifo;

    expect_same(&options);
    options.reuse = HAFT_REUSE_FIFO;
    options.min_free = 5;
    expect_same(&options);
}

Test(local_front, ends_last_lives_and_begins_again_as_calls_do)
{
    haft_local_options options = lifo;

    options.layout = HAFT_LAYOUT_OF(7, 3, 4);
    options.tag = 15;
    options.wrap = true;
    expect_same(&options);
    options.tag = 0;
    options.layout = HAFT_LAYOUT_OF(7, 9, 0);
    options.wrap = false;
    expect_same(&options);
    options.layout = HAFT_LAYOUT_OF(7, 57, 0); /* the generation ends where the id ends */
    options.first_generation = haft_field_max(57) - 20;
    expect_same(&options);
}

Test(local_front, runs_destructors)
{
    uint64_t calls = 0;
    haft_local_options options = lifo;

    options.on_destroy = count_end;
    options.destroy_arg = &calls;
    expect_same(&options);
    must(calls > 10000);
}

Test(local_front, refuses_what_calls_refuse)
{
    AT_END(local_end) haft_local *local = local_open(&lifo);
    const haft_view view = haft_local_view(local);
    const haft_id id = insert_in_place(local, 5);

    expect_status(haft_local_free_front(local, view, HAFT_NIL), HAFT_NO_ID);
    expect_status(haft_local_free_front(local, view, (haft_id){id.bits + 1}), HAFT_NEVER_ISSUED);
    expect_status(haft_local_free_front(local, view, (haft_id){id.bits + 64}), HAFT_NEVER_ISSUED);
    for (unsigned bit = 0; bit < 64; bit++) {
        must(haft_local_free_front(local, view, (haft_id){id.bits ^ UINT64_C(1) << bit}) !=
             HAFT_OK);
    }
    cr_expect(eq(u64, value_of(local, id), 5));
    expect_status(haft_local_free_front(local, view, id), HAFT_OK);
    expect_status(haft_local_free_front(local, view, id), HAFT_STALE);
}

Test(local_front, inserts_zeros_for_no_object)
{
    AT_END(local_end) haft_local *local = local_open(&lifo);
    const haft_view view = haft_local_view(local);
    haft_id id = insert_in_place(local, 5);

    must(haft_local_free_front(local, view, id) == HAFT_OK);
    must(haft_local_insert_front(local, view, NULL, sizeof(struct object), &id) == HAFT_OK);
    const struct object *object = haft_resolve(view, id);

    cr_expect(eq(u64, object->value[0], 0));
}

Test(local_front, asks_the_table_that_is_being_loaded)
{
    AT_END(local_end) haft_local *local = local_open(&lifo);
    const haft_view view = haft_local_view(local);
    const struct object object = {{1, 1, 1}};
    const haft_id first = insert_in_place(local, 1);
    const haft_id second = insert_in_place(local, 2);
    haft_id id;

    must(haft_local_free_front(local, view, first) == HAFT_OK);
    haft_local_load_begin(local);
    expect_status(haft_local_insert_front(local, view, &object, sizeof object, &id), HAFT_LOADING);
    expect_status(haft_local_free_front(local, view, second), HAFT_OK);
    haft_local_load_end(local);
    id = insert_in_place(local, 3);
    cr_expect(eq(u64, haft_id_index(haft_local_info(local).layout, id), HAFT_FIRST_INDEX));
    cr_expect(eq(u64, haft_local_count(local), 1));
}
