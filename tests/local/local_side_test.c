/* Sides of a local table: values under the table's ids, and how they end. */
#include "tests/slots/saving.h"
#include "tests/support.h"
#include <haft/kit/restore.h>
#include <haft/kit/side.h>
#include <haft/kit/snapshot.h>
#include <haft/share.h>
#include <stddef.h>
#include <string.h>

TestSuite(local_side, .timeout = SUITE_SECONDS);

struct hull {
    uint64_t strength;
    uint64_t cracks;
};

/* A table of numbers, a side of hulls, and what its on_end was told. */
struct fleet {
    haft_local *ships;
    haft_view view;
    haft_side *side;
    haft_entries entries;
    uint64_t ends;
    haft_id ended;
    uint64_t strength;
    haft_side *nested; /* in which on_end sets a value for `other`, if not NULL */
    haft_id other;
    haft_status said;
};

static void note_end(void *value, haft_id id, void *arg)
{
    struct fleet *fleet = arg;
    const struct hull *hull = value;

    fleet->ends++;
    fleet->ended = id;
    fleet->strength = hull->strength;
    if (fleet->nested != NULL) {
        fleet->said = haft_side_set(fleet->nested, fleet->other, NULL, NULL);
    }
}

static void open_fleet(struct fleet *fleet, const haft_local_options *options)
{
    const haft_side_options hulls = {
        .value_size = sizeof(struct hull), .on_end = note_end, .end_arg = fleet};

    memset(fleet, 0, sizeof *fleet);
    assert_status(haft_local_open(options, &fleet->ships), HAFT_OK);
    assert_status(haft_side_open_local(fleet->ships, &hulls, &fleet->side), HAFT_OK);
    fleet->view = haft_local_view(fleet->ships);
    fleet->entries = haft_side_entries(fleet->side);
}

static void close_fleet(struct fleet *fleet)
{
    haft_side_close(fleet->side);
    haft_local_close(fleet->ships);
}

static const haft_local_options some = {.capacity = 100, .object_size = 8};

static haft_id insert_ship(const struct fleet *fleet)
{
    haft_id id;

    must(haft_local_insert(fleet->ships, NULL, &id) == HAFT_OK);
    return id;
}

static haft_id insert_with(const struct fleet *fleet, uint64_t strength)
{
    const haft_id id = insert_ship(fleet);

    must(haft_side_set(fleet->side, id, &(struct hull){.strength = strength}, NULL) == HAFT_OK);
    return id;
}

static struct hull *hull_of(const struct fleet *fleet, haft_id id)
{
    return haft_side_get(fleet->entries, id);
}

Test(local_side, a_value_is_found_under_the_id_that_it_was_set_for)
{
    struct fleet fleet;
    void *object;
    void *place;

    open_fleet(&fleet, &some);
    const haft_id id = insert_ship(&fleet);
    const haft_id other = insert_ship(&fleet);

    cr_expect(eq(ptr, hull_of(&fleet, id), NULL));
    expect_status(haft_side_set(fleet.side, id, &(struct hull){7, 8}, &place), HAFT_OK);
    cr_expect(eq(ptr, hull_of(&fleet, id), place));
    cr_expect(eq(u64, hull_of(&fleet, id)->strength, 7));
    cr_expect(eq(u64, hull_of(&fleet, id)->cracks, 8));
    cr_expect(eq(ptr, hull_of(&fleet, other), NULL));
    cr_expect(eq(ptr, haft_side_find(fleet.entries, fleet.view, id, &object), place));
    cr_expect(eq(ptr, object, haft_resolve(fleet.view, id)));
    cr_expect(eq(ptr, haft_side_find(fleet.entries, fleet.view, other, &object), NULL));
    cr_expect(eq(ptr, object, haft_resolve(fleet.view, other)));
    cr_expect(eq(ptr, haft_side_find(fleet.entries, fleet.view, id, NULL), place));
    close_fleet(&fleet);
    expect_no_leaks();
}

Test(local_side, a_second_value_is_refused_and_told_where_the_first_is)
{
    AT_END(close_fleet) struct fleet fleet;
    void *place = NULL;

    open_fleet(&fleet, &some);
    const haft_id id = insert_with(&fleet, 7);

    expect_status(haft_side_set(fleet.side, id, &(struct hull){9, 9}, &place), HAFT_OCCUPIED);
    cr_expect(eq(ptr, hull_of(&fleet, id), place));
    cr_expect(eq(u64, hull_of(&fleet, id)->strength, 7));
    cr_expect(eq(u64, fleet.ends, 0));
}

Test(local_side, without_bytes_a_value_is_zeros_also_in_a_used_entry)
{
    AT_END(close_fleet) struct fleet fleet;

    open_fleet(&fleet, &some);
    const haft_id id = insert_with(&fleet, 7);

    cr_expect(haft_side_remove(fleet.side, id));
    expect_status(haft_side_set(fleet.side, id, NULL, NULL), HAFT_OK);
    cr_expect(eq(u64, hull_of(&fleet, id)->strength, 0));
}

Test(local_side, ids_that_no_object_has_get_no_value)
{
    AT_END(close_fleet) struct fleet fleet;

    open_fleet(&fleet, &some);
    const haft_id id = insert_ship(&fleet);
    const haft_id next =
        haft_id_pack(HAFT_LAYOUT_32_32, haft_id_index(HAFT_LAYOUT_32_32, id), 2, 0);

    expect_status(haft_side_set(fleet.side, next, NULL, NULL), HAFT_NEVER_ISSUED);
    expect_status(haft_side_set(fleet.side, HAFT_NIL, NULL, NULL), HAFT_NO_ID);
    expect_status(haft_side_set(fleet.side, (haft_id){3}, NULL, NULL), HAFT_MALFORMED);
    must(haft_local_free(fleet.ships, id) == HAFT_OK);
    expect_status(haft_side_set(fleet.side, id, NULL, NULL), HAFT_STALE);
    for (uint64_t bits = 0; bits < 300; bits++) { /* whatever they are, none is found */
        must(haft_side_get(fleet.entries, (haft_id){bits}) == NULL);
        must(haft_side_get(fleet.entries, (haft_id){~bits}) == NULL);
        must(!haft_side_remove(fleet.side, (haft_id){bits}));
    }
}

Test(local_side, a_tag_is_part_of_the_id)
{
    const haft_local_options tagged = {
        .capacity = 100, .object_size = 8, .layout = {10, 20, 8, 0}, .tag = 5};
    AT_END(close_fleet) struct fleet fleet;

    open_fleet(&fleet, &tagged);
    const haft_id id = insert_with(&fleet, 7);
    const haft_id foreign = haft_id_pack(tagged.layout, haft_id_index(tagged.layout, id), 1, 6);

    cr_expect(ne(ptr, hull_of(&fleet, id), NULL));
    cr_expect(eq(ptr, hull_of(&fleet, foreign), NULL));
    expect_status(haft_side_set(fleet.side, foreign, NULL, NULL), HAFT_FOREIGN);
}

Test(local_side, a_reserved_id_may_have_a_value_before_it_is_live)
{
    AT_END(close_fleet) struct fleet fleet;
    haft_id id;

    open_fleet(&fleet, &some);
    must(haft_local_reserve(fleet.ships, &id, NULL) == HAFT_OK);
    expect_status(haft_side_set(fleet.side, id, &(struct hull){7, 0}, NULL), HAFT_OK);
    cr_expect(eq(u64, haft_side_sweep(fleet.side), 0));
    haft_local_publish(fleet.ships, id);
    cr_expect(eq(u64, hull_of(&fleet, id)->strength, 7));
}

Test(local_side, a_value_outlives_its_object_until_the_next_one_has_its_own)
{
    AT_END(close_fleet) struct fleet fleet;

    open_fleet(&fleet, &some);
    const haft_id first = insert_with(&fleet, 7);

    must(haft_local_free(fleet.ships, first) == HAFT_OK);
    cr_expect(eq(u64, fleet.ends, 0));
    cr_expect(eq(u64, hull_of(&fleet, first)->strength, 7));
    cr_expect(eq(ptr, haft_side_find(fleet.entries, fleet.view, first, NULL), NULL));
    const haft_id second = insert_ship(&fleet); /* in the same slot */

    cr_expect(eq(ptr, hull_of(&fleet, second), NULL));
    expect_status(haft_side_set(fleet.side, second, &(struct hull){9, 0}, NULL), HAFT_OK);
    cr_expect(eq(u64, fleet.ends, 1));
    cr_expect(eq(u64, fleet.ended.bits, first.bits));
    cr_expect(eq(u64, fleet.strength, 7));
    cr_expect(eq(ptr, hull_of(&fleet, first), NULL));
    cr_expect(eq(u64, hull_of(&fleet, second)->strength, 9));
}

Test(local_side, removing_ends_a_value_once)
{
    struct fleet fleet;

    open_fleet(&fleet, &some);
    const haft_id id = insert_with(&fleet, 7);

    cr_expect(haft_side_remove(fleet.side, id));
    cr_expect(not(haft_side_remove(fleet.side, id)));
    cr_expect(eq(u64, fleet.ends, 1));
    cr_expect(eq(u64, fleet.strength, 7));
    cr_expect(eq(ptr, hull_of(&fleet, id), NULL));
    close_fleet(&fleet);
    cr_expect(eq(u64, fleet.ends, 1));
}

static void remove_beside(void *object, haft_id id, void *arg)
{
    must(haft_side_remove(arg, id));
}

Test(local_side, on_destroy_may_end_the_value_with_its_object)
{
    struct fleet fleet;

    open_fleet(&fleet, &some);
    haft_local_set_destroy(fleet.ships, remove_beside, fleet.side);
    for (uint64_t i = 0; i < 10; i++) {
        insert_with(&fleet, i);
    }
    must(haft_local_free(fleet.ships, insert_with(&fleet, 10)) == HAFT_OK);
    cr_expect(eq(u64, fleet.ends, 1));
    haft_local_clear(fleet.ships);
    cr_expect(eq(u64, fleet.ends, 11));
    haft_local_set_destroy(fleet.ships, NULL, NULL);
    close_fleet(&fleet);
    cr_expect(eq(u64, fleet.ends, 11));
}

Test(local_side, sweeping_ends_the_values_of_freed_objects_alone)
{
    struct fleet fleet;
    haft_id ids[50];

    open_fleet(&fleet, &some);
    for (int i = 0; i < 50; i++) {
        ids[i] = insert_with(&fleet, 1);
    }
    for (int i = 0; i < 50; i += 2) {
        must(haft_local_free(fleet.ships, ids[i]) == HAFT_OK);
    }
    cr_expect(eq(u64, haft_side_sweep(fleet.side), 25));
    cr_expect(eq(u64, fleet.ends, 25));
    for (int i = 0; i < 50; i++) {
        must((hull_of(&fleet, ids[i]) == NULL) == (i % 2 == 0));
    }
    cr_expect(eq(u64, haft_side_sweep(fleet.side), 0));
    close_fleet(&fleet);
    cr_expect(eq(u64, fleet.ends, 50));
}

static bool add_up(haft_id id, void *object, void *value, void *arg)
{
    struct fleet *fleet = arg;
    const struct hull *hull = value;

    must(object == haft_resolve(fleet->view, id));
    must(value == haft_side_get(fleet->entries, id));
    fleet->strength += hull->strength;
    return fleet->strength < 100;
}

Test(local_side, each_live_object_with_a_value_is_visited_in_order_until_the_visitor_has_enough)
{
    AT_END(close_fleet) struct fleet fleet;

    open_fleet(&fleet, &some);
    insert_with(&fleet, 1);
    insert_ship(&fleet);
    must(haft_local_free(fleet.ships, insert_with(&fleet, 5)) == HAFT_OK);
    insert_ship(&fleet);
    insert_with(&fleet, 30);
    cr_expect(eq(u64, haft_side_for_each(fleet.side, add_up, &fleet), 2));
    cr_expect(eq(u64, fleet.strength, 31));
    insert_with(&fleet, 69);
    insert_with(&fleet, 1000);
    fleet.strength = 0;
    cr_expect(eq(u64, haft_side_for_each(fleet.side, add_up, &fleet), 3));
    cr_expect(eq(u64, fleet.strength, 100));
}

Test(local_side, in_on_end_the_entry_is_taken_and_others_are_not)
{
    struct fleet fleet;

    open_fleet(&fleet, &some);
    const haft_id id = insert_with(&fleet, 7);

    fleet.nested = fleet.side;
    fleet.other = id;
    cr_expect(haft_side_remove(fleet.side, id));
    expect_status(fleet.said, HAFT_BUSY);
    cr_expect(eq(ptr, hull_of(&fleet, id), NULL));
    fleet.other = insert_ship(&fleet);
    must(haft_side_set(fleet.side, id, NULL, NULL) == HAFT_OK);
    cr_expect(haft_side_remove(fleet.side, id));
    expect_status(fleet.said, HAFT_OK);
    cr_expect(ne(ptr, hull_of(&fleet, fleet.other), NULL));
    fleet.nested = NULL;
    close_fleet(&fleet);
    cr_expect(eq(u64, fleet.ends, 3));
}

/* A value whose end removes the next one, or sets one over a value of a former life. */
struct chain {
    struct fleet fleet;
    haft_id *ids;
    size_t count;
    bool is_inside;
    haft_status set;
};

static void remove_next(void *value, haft_id id, void *arg)
{
    struct chain *chain = arg;
    const size_t next = ++chain->fleet.ends;

    must(!chain->is_inside && id.bits == chain->ids[next - 1].bits);
    chain->is_inside = true;
    if (next < chain->count) {
        must(haft_side_remove(chain->fleet.side, chain->ids[next]));
        must(haft_side_get(chain->fleet.entries, chain->ids[next]) == NULL);
        must(!haft_side_remove(chain->fleet.side, chain->ids[next]));
        must(haft_side_set(chain->fleet.side, chain->ids[next], NULL, NULL) == HAFT_BUSY);
    }
    chain->is_inside = false;
}

static void open_chain(struct chain *chain, size_t count, haft_side_end *on_end)
{
    const haft_local_options options = {.capacity = count};
    const haft_side_options ends = {.on_end = on_end, .end_arg = chain};

    *chain = (struct chain){.count = count, .ids = calloc(count, sizeof(haft_id))};
    assert_status(haft_local_open(&options, &chain->fleet.ships), HAFT_OK);
    assert_status(haft_side_open_local(chain->fleet.ships, &ends, &chain->fleet.side), HAFT_OK);
    chain->fleet.entries = haft_side_entries(chain->fleet.side);
    for (size_t i = 0; i < count; i++) {
        chain->ids[i] = insert_ship(&chain->fleet);
        must(haft_side_set(chain->fleet.side, chain->ids[i], NULL, NULL) == HAFT_OK);
    }
}

static void close_chain(struct chain *chain)
{
    haft_side_close(chain->fleet.side);
    haft_local_close(chain->fleet.ships);
    free(chain->ids);
}

Test(local_side, a_chain_of_ends_runs_in_a_loop)
{
    AT_END(close_chain) struct chain chain;

    open_chain(&chain, 300000, remove_next);
    cr_expect(haft_side_remove(chain.fleet.side, chain.ids[0]));
    cr_expect(eq(u64, chain.fleet.ends, chain.count));
}

static void set_over_former(void *value, haft_id id, void *arg)
{
    struct chain *chain = arg;

    if (++chain->fleet.ends == 1) {
        chain->set = haft_side_set(chain->fleet.side, chain->ids[2], NULL, NULL);
        cr_expect(eq(u64, chain->fleet.ends, 1), "the former value ends later");
    }
}

Test(local_side, inside_an_on_end_a_value_of_a_former_life_is_not_replaced_at_once)
{
    AT_END(close_chain) struct chain chain;

    open_chain(&chain, 3, set_over_former);
    must(haft_local_free(chain.fleet.ships, chain.ids[2]) == HAFT_OK);
    chain.ids[2] = insert_ship(&chain.fleet);
    cr_expect(haft_side_remove(chain.fleet.side, chain.ids[0]));
    expect_status(chain.set, HAFT_BUSY);
    cr_expect(eq(u64, chain.fleet.ends, 2));
    expect_status(haft_side_set(chain.fleet.side, chain.ids[2], NULL, NULL), HAFT_OK);
    cr_expect(eq(u64, chain.fleet.ends, 2));
}

/* The former value's end removes another one, whose end sets the value. */
static void remove_and_set(void *value, haft_id id, void *arg)
{
    struct chain *chain = arg;

    if (++chain->fleet.ends == 1) {
        must(haft_side_remove(chain->fleet.side, chain->ids[1]));
    } else if (chain->fleet.ends == 2) {
        chain->set = haft_side_set(chain->fleet.side, chain->ids[0], NULL, NULL);
    }
}

Test(local_side, a_value_that_a_later_on_end_has_set_is_there_first)
{
    AT_END(close_chain) struct chain chain;

    open_chain(&chain, 3, remove_and_set);
    must(haft_local_free(chain.fleet.ships, chain.ids[0]) == HAFT_OK);
    chain.ids[0] = insert_ship(&chain.fleet);
    expect_status(haft_side_set(chain.fleet.side, chain.ids[0], NULL, NULL), HAFT_OCCUPIED);
    expect_status(chain.set, HAFT_OK);
    cr_expect(eq(u64, chain.fleet.ends, 2));
}

static haft_id lower, upper;

/* A value that ends behind the walk that closes. */
static void set_once_more(void *value, haft_id id, void *arg)
{
    struct fleet *fleet = arg;

    if (++fleet->ends == 2) {
        must(id.bits == upper.bits);
        must(haft_side_set(fleet->nested, lower, NULL, NULL) == HAFT_OK);
    }
}

Test(local_side, closing_ends_what_on_end_has_set_meanwhile)
{
    struct fleet fleet = {0};
    const haft_side_options options = {.on_end = set_once_more, .end_arg = &fleet};

    must(haft_local_open(&some, &fleet.ships) == HAFT_OK);
    must(haft_side_open_local(fleet.ships, &options, &fleet.nested) == HAFT_OK);
    lower = insert_ship(&fleet);
    upper = insert_ship(&fleet);
    must(haft_side_set(fleet.nested, lower, NULL, NULL) == HAFT_OK);
    must(haft_side_set(fleet.nested, upper, NULL, NULL) == HAFT_OK);
    haft_side_close(fleet.nested);
    cr_expect(eq(u64, fleet.ends, 3));
    haft_local_close(fleet.ships);
    expect_no_leaks();
}

Test(local_side, values_stay_where_the_table_grows_is_trimmed_and_restored)
{
    const haft_local_options large = {.capacity = 100000, .object_size = 64};
    static haft_id ids[100000];
    struct fleet fleet;

    open_fleet(&fleet, &large);
    for (uint64_t i = 0; i < 100000; i++) {
        ids[i] = insert_with(&fleet, i);
    }
    for (uint64_t i = 1; i < 100000; i++) {
        must(haft_local_free(fleet.ships, ids[i]) == HAFT_OK);
    }
    expect_status(haft_local_trim(fleet.ships, NULL), HAFT_OK);
    for (uint64_t i = 0; i < 100000; i++) {
        must(hull_of(&fleet, ids[i])->strength == i);
    }
    const haft_id later =
        haft_id_pack(HAFT_LAYOUT_32_32, haft_id_index(HAFT_LAYOUT_32_32, ids[500]), 9, 0);

    expect_status(haft_local_restore(fleet.ships, later, NULL), HAFT_OK);
    cr_expect(eq(ptr, hull_of(&fleet, later), NULL));
    expect_status(haft_side_set(fleet.side, later, NULL, NULL), HAFT_OK);
    cr_expect(eq(u64, fleet.ended.bits, ids[500].bits));
    close_fleet(&fleet);
    cr_expect(eq(u64, fleet.ends, 100001));
}

Test(local_side, values_are_aligned_as_asked)
{
    haft_local *local;
    haft_side *side;
    void *place;

    must(haft_local_open(&some, &local) == HAFT_OK);
    for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
        const haft_side_options options = {.value_size = 3, .value_alignment = alignment};
        haft_id id;

        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
        assert_status(haft_side_open_local(local, &options, &side), HAFT_OK);
        must(haft_side_set(side, id, "ab", &place) == HAFT_OK);
        cr_expect(eq(u64, (uintptr_t)place % alignment, 0));
        cr_expect(eq(str, (char *)haft_side_get(haft_side_entries(side), id), "ab"));
        haft_side_close(side);
    }
    haft_local_close(local);
    expect_no_leaks();
}

Test(local_side, values_of_16_bytes_are_aligned_for_a_vector_unasked)
{
    const haft_side_options options = {.value_size = 2 * sizeof(max_align_t)};
    AT_END(local_end) haft_local *local;
    AT_END(side_end) haft_side *side;
    void *place;
    haft_id id;

    must(haft_local_open(&some, &local) == HAFT_OK);
    assert_status(haft_side_open_local(local, &options, &side), HAFT_OK);
    for (int i = 0; i < 3; i++) {
        must(haft_local_insert(local, NULL, &id) == HAFT_OK);
        must(haft_side_set(side, id, NULL, &place) == HAFT_OK);
        cr_expect(eq(u64, (uintptr_t)place % _Alignof(max_align_t), 0));
    }
}

Test(local_side, options_out_of_range_are_named)
{
    const haft_local_options wrapping = {.capacity = 10, .object_size = 8, .wrap = true};
    struct {
        haft_side_options options;
        uint64_t more;
    } later = {.more = 1};
    haft_side *side = NULL;
    AT_END(local_end) haft_local *local;
    AT_END(local_end) haft_local *wraps;

    must(haft_local_open(&some, &local) == HAFT_OK);
    must(haft_local_open(&wrapping, &wraps) == HAFT_OK);
    expect_status(haft_side_open_local(
                      local, &(haft_side_options){.value_size = (UINT64_C(1) << 30) + 1}, &side),
                  HAFT_BAD_VALUE_SIZE);
    expect_status(haft_side_open_local(local, &(haft_side_options){.value_alignment = 24}, &side),
                  HAFT_BAD_VALUE_ALIGNMENT);
    expect_status(haft_side_open_local(local, &(haft_side_options){.value_alignment = 8192}, &side),
                  HAFT_BAD_VALUE_ALIGNMENT);
    expect_status(haft_side_open_local(wraps, NULL, &side), HAFT_BAD_WRAP);
    expect_status(haft_side_open_local_sized(local, &later.options, sizeof later, &side),
                  HAFT_UNKNOWN_OPTION);
    cr_expect(eq(ptr, side, NULL));
}

struct opening {
    haft_local *local;
    haft_side *side;
    haft_status said;
};

static void open_a_side(void *object, haft_id id, void *arg)
{
    struct opening *opening = arg;

    opening->said = haft_side_open_local(opening->local, NULL, &opening->side);
}

Test(local_side, none_is_opened_while_its_table_closes)
{
    struct opening opening = {.said = HAFT_OK};
    const haft_local_options options = {
        .capacity = 8, .object_size = 8, .on_destroy = open_a_side, .destroy_arg = &opening};
    haft_id id;

    must(haft_local_open(&options, &opening.local) == HAFT_OK);
    must(haft_local_insert(opening.local, NULL, &id) == HAFT_OK);
    must(haft_local_free(opening.local, id) == HAFT_OK);
    expect_status(opening.said, HAFT_OK);
    haft_side_close(opening.side);
    opening.side = NULL;

    must(haft_local_insert(opening.local, NULL, &id) == HAFT_OK);
    haft_local_close(opening.local);
    expect_status(opening.said, HAFT_IN_CALLBACK);
    cr_expect(eq(ptr, opening.side, NULL));
}

Test(local_side, a_table_is_not_shared_while_a_side_is_open)
{
    struct shared shared = open_shared(MEMB_CALLER, &(haft_table_options){.capacity = 1});
    haft_table *table;
    haft_side *sides[3];
    haft_local *local;

    must(haft_local_open(&some, &local) == HAFT_OK);
    for (int i = 0; i < 3; i++) {
        must(haft_side_open_local(local, NULL, &sides[i]) == HAFT_OK);
    }
    const int order[3] = {1, 2, 0}; /* in the middle, the first, the last */

    for (int i = 0; i < 3; i++) {
        expect_status(haft_share(local, shared.domain, NULL, &table), HAFT_IN_USE);
        haft_side_close(sides[order[i]]);
    }
    assert_status(haft_share(local, shared.domain, NULL, &table), HAFT_OK);
    expect_status(haft_table_close(table), HAFT_OK);
    close_shared(&shared);
    expect_no_leaks();
}

Test(local_side, in_empty_entries_no_id_is_found)
{
    const haft_entries none = HAFT_ENTRIES_EMPTY;
    const haft_view nothing = HAFT_VIEW_EMPTY;
    uint64_t random = 1;
    AT_END(close_fleet) struct fleet fleet;

    open_fleet(&fleet, &some);
    const haft_id id = insert_with(&fleet, 7);

    for (int i = 0; i < 100000; i++) {
        must(haft_side_get(none, (haft_id){random_next(&random)}) == NULL);
    }
    cr_expect(eq(ptr, haft_side_get(none, HAFT_NIL), NULL));
    cr_expect(eq(ptr, haft_side_find(none, fleet.view, id, NULL), NULL));
    cr_expect(eq(ptr, haft_side_find(fleet.entries, nothing, id, NULL), NULL));
}

/* A table with a side of plain values, and a history. */
struct store {
    haft_local *local;
    haft_side *side;
    haft_history *history;
};

static haft_side *open_plain(struct store *store)
{
    haft_side *side = NULL;

    assert_status(haft_side_open_local(store->local, &(haft_side_options){.value_size = 8}, &side),
                  HAFT_OK);
    return side;
}

static void open_store(struct store *store, uint64_t keep)
{
    assert_status(haft_local_open(&some, &store->local), HAFT_OK);
    assert_status(haft_history_open(&(haft_history_options){.keep = keep}, &store->history),
                  HAFT_OK);
    store->side = open_plain(store);
}

static void close_store(struct store *store)
{
    haft_history_close(store->history);
    haft_side_close(store->side);
    haft_local_close(store->local);
}

static haft_id store_insert(struct store *store, uint64_t value)
{
    haft_id id = HAFT_NIL;

    assert_status(haft_local_insert(store->local, NULL, &id), HAFT_OK);
    assert_status(haft_side_set(store->side, id, &value, NULL), HAFT_OK);
    return id;
}

static uint64_t *stored(const struct store *store, haft_id id)
{
    return haft_side_get(haft_side_entries(store->side), id);
}

/* The value of `id`; 0: it has none. */
static uint64_t store_value(const struct store *store, haft_id id)
{
    const uint64_t *value = stored(store, id);

    return value != NULL ? *value : 0;
}

static void store_snapshot(struct store *store, uint64_t expected)
{
    uint64_t number = UINT64_MAX;

    assert_status(haft_local_snapshot(store->local, store->history, &number), HAFT_OK);
    cr_expect(eq(u64, number, expected));
}

static void store_rewind(struct store *store, uint64_t number)
{
    assert_status(haft_local_rewind(store->local, store->history, number), HAFT_OK);
}

/* With a history of one, too, whose snapshots are plain copies. */
Test(local_side, a_rewind_to_this_moment_keeps_plain_values)
{
    for (uint64_t keep = 1; keep <= 2; keep++) {
        AT_END(close_store) struct store store;
        haft_id ids[5];

        open_store(&store, keep);
        for (uint64_t i = 0; i < 5; i++) {
            ids[i] = store_insert(&store, i + 1);
        }
        store_snapshot(&store, 0);
        store_rewind(&store, 0);
        for (uint64_t i = 0; i < 5; i++) {
            cr_expect(eq(u64, store_value(&store, ids[i]), i + 1));
        }
    }
}

/* Changed, removed, set later, of an object that came later: back, and forth again. */
Test(local_side, plain_values_go_with_the_snapshots)
{
    AT_END(close_store) struct store store;

    open_store(&store, 8);
    const haft_id changed = store_insert(&store, 1);
    const haft_id removed = store_insert(&store, 2);
    const haft_id freed = store_insert(&store, 3);

    store_snapshot(&store, 0);
    *stored(&store, changed) = 10;
    must(haft_side_remove(store.side, removed));
    must(haft_local_free(store.local, freed) == HAFT_OK);
    const haft_id later = store_insert(&store, 4);

    store_snapshot(&store, 1);
    for (int n = 0; n < 2; n++) {
        store_rewind(&store, 0);
        cr_expect(eq(u64, store_value(&store, changed), 1));
        cr_expect(eq(u64, store_value(&store, removed), 2));
        cr_expect(eq(u64, store_value(&store, freed), 3));
        cr_expect(eq(u64, store_value(&store, later), 0));
        store_rewind(&store, 1);
        cr_expect(eq(u64, store_value(&store, changed), 10));
        cr_expect(eq(u64, store_value(&store, removed), 0));
        cr_expect(eq(u64, store_value(&store, later), 4));
    }
}

/* Ids are issued again: what came after a rewind does not inherit values from before it. */
Test(local_side, an_id_that_is_issued_again_has_no_plain_value_of_before)
{
    AT_END(close_store) struct store store;
    haft_id again;

    open_store(&store, 2);
    store_snapshot(&store, 0);
    const haft_id id = store_insert(&store, 1);

    store_rewind(&store, 0);
    assert_status(haft_local_insert(store.local, NULL, &again), HAFT_OK);
    cr_expect(eq(u64, again.bits, id.bits));
    cr_expect(eq(u64, store_value(&store, id), 0));
}

Test(local_side, a_side_that_a_snapshot_does_not_know_is_empty_after_the_rewind)
{
    AT_END(close_store) struct store store;

    open_store(&store, 2);
    const haft_id id = store_insert(&store, 1);

    store_snapshot(&store, 0);
    haft_side_close(store.side);
    store.side = open_plain(&store); /* in the same memory, perhaps */
    assert_status(haft_side_set(store.side, id, &(uint64_t){2}, NULL), HAFT_OK);
    store_rewind(&store, 0);
    cr_expect(eq(u64, store_value(&store, id), 0));
}

/* The oldest goes with its values, and so do those that a rewind left behind. */
Test(local_side, values_in_a_history_are_bounded)
{
    AT_END(close_store) struct store store;

    open_store(&store, 3);
    const haft_id id = store_insert(&store, 1);

    for (uint64_t n = 0; n < 3; n++) {
        store_snapshot(&store, n);
    }
    const uint64_t bytes = haft_history_bytes(store.history);

    for (uint64_t n = 3; n < 100; n++) {
        store_snapshot(&store, n);
    }
    cr_expect(eq(u64, haft_history_bytes(store.history), bytes));
    store_rewind(&store, 97);
    store_snapshot(&store, 98);
    cr_expect(lt(u64, haft_history_bytes(store.history), bytes));
    cr_expect(eq(u64, store_value(&store, id), 1));
}

/* Ids are issued again: a value may not be found under that of another object. */
Test(local_side, values_with_on_end_end_when_the_table_is_rewound)
{
    AT_END(close_fleet) struct fleet fleet;
    AT_END(history_end) haft_history *history;
    uint64_t number;

    open_fleet(&fleet, &some);
    assert_status(haft_history_open(&(haft_history_options){.keep = 2}, &history), HAFT_OK);
    const haft_id kept = insert_with(&fleet, 1);

    assert_status(haft_local_snapshot(fleet.ships, history, &number), HAFT_OK);
    const haft_id later = insert_with(&fleet, 2);

    assert_status(haft_local_rewind(fleet.ships, history, number), HAFT_OK);
    cr_expect(eq(u64, fleet.ends, 2));
    cr_expect(eq(u64, insert_ship(&fleet).bits, later.bits));
    cr_expect(eq(ptr, hull_of(&fleet, later), NULL));
    cr_expect(eq(ptr, hull_of(&fleet, kept), NULL));
    cr_expect(ne(ptr, haft_resolve(fleet.view, kept), NULL));
}

static void reserve_at_end(void *value, haft_id id, void *arg)
{
    struct fleet *fleet = arg;

    (void)value, (void)id;
    fleet->said = haft_local_reserve(fleet->ships, &fleet->other, NULL);
}

Test(local_side, an_end_that_reserves_stops_the_rewind)
{
    AT_END(close_fleet) struct fleet fleet;
    const haft_side_options options = {.on_end = reserve_at_end, .end_arg = &fleet};
    haft_history *history;
    AT_END(side_end) haft_side *side;
    uint64_t number;

    open_fleet(&fleet, &some);
    assert_status(haft_side_open_local(fleet.ships, &options, &side), HAFT_OK);
    assert_status(haft_history_open(&(haft_history_options){.keep = 2}, &history), HAFT_OK);
    assert_status(haft_local_snapshot(fleet.ships, history, &number), HAFT_OK);
    const haft_id id = insert_ship(&fleet);

    assert_status(haft_side_set(side, id, NULL, NULL), HAFT_OK);
    expect_status(haft_local_rewind(fleet.ships, history, number), HAFT_IN_USE);
    expect_status(fleet.said, HAFT_OK);
    cr_expect(ne(ptr, haft_resolve(fleet.view, id), NULL), "nothing was rewound");
    haft_local_abort(fleet.ships, fleet.other);
    expect_status(haft_local_rewind(fleet.ships, history, number), HAFT_OK);
    cr_expect(eq(ptr, haft_resolve(fleet.view, id), NULL));
    haft_history_close(history);
}

/* A table of a few lives, a side, and what on_end does with the table. */
struct meddler {
    haft_local *local;
    haft_side *side;
    haft_history *history;
    haft_local *other; /* that takes snapshots too */
    haft_side *behind; /* where a value is set for `id` */
    haft_id id;
    void (*meddle)(struct meddler *meddler); /* once */
};

static void end_and_meddle(void *value, haft_id id, void *arg)
{
    struct meddler *meddler = arg;
    void (*const meddle)(struct meddler *) = meddler->meddle;

    (void)value, (void)id;
    meddler->meddle = NULL;
    if (meddle != NULL) {
        meddle(meddler);
    }
}

static void open_meddler(struct meddler *meddler)
{
    const haft_local_options few = {.capacity = 4, .object_size = 8, .layout = {6, 2, 0, 0}};
    const haft_side_options options = {.on_end = end_and_meddle, .end_arg = meddler};

    *meddler = (struct meddler){0};
    assert_status(haft_local_open(&few, &meddler->local), HAFT_OK);
    assert_status(haft_side_open_local(meddler->local, &options, &meddler->side), HAFT_OK);
    assert_status(haft_history_open(&(haft_history_options){.keep = 2}, &meddler->history),
                  HAFT_OK);
    assert_status(haft_local_snapshot(meddler->local, meddler->history, NULL), HAFT_OK);
}

static void close_meddler(struct meddler *meddler)
{
    meddler->meddle = NULL;
    haft_side_close(meddler->side);
    haft_local_close(meddler->local);
    haft_history_close(meddler->history);
}

static void set_behind(struct meddler *meddler)
{
    must(haft_side_set(meddler->behind, meddler->id, NULL, NULL) == HAFT_OK);
}

static void end_quietly(void *value, haft_id id, void *arg)
{
}

Test(local_side, a_rewind_ends_what_on_end_has_set_in_a_side_before)
{
    const haft_side_options options = {.on_end = end_quietly}; /* plain values go back */
    AT_END(close_meddler) struct meddler meddler;

    open_meddler(&meddler);
    /* The side opened last is the first to be looked at. */
    assert_status(haft_side_open_local(meddler.local, &options, &meddler.behind), HAFT_OK);
    meddler.id = local_insert_one(meddler.local);
    must(haft_side_set(meddler.side, meddler.id, NULL, NULL) == HAFT_OK);
    meddler.meddle = set_behind;
    expect_status(haft_local_rewind(meddler.local, meddler.history, 0), HAFT_OK);
    cr_assert(eq(u64, local_insert_one(meddler.local).bits, meddler.id.bits));
    cr_expect(eq(ptr, haft_side_get(haft_side_entries(meddler.behind), meddler.id), NULL));
    haft_side_close(meddler.behind);
}

static void rewind_within(struct meddler *meddler)
{
    must(haft_local_rewind(meddler->local, meddler->history, 0) == HAFT_OK);
}

Test(local_side, no_value_is_set_for_an_id_that_on_end_has_taken_back)
{
    AT_END(close_meddler) struct meddler meddler;

    open_meddler(&meddler);
    const haft_id former = local_insert_one(meddler.local);

    must(haft_side_set(meddler.side, former, NULL, NULL) == HAFT_OK);
    must(haft_local_free(meddler.local, former) == HAFT_OK);
    const haft_id id = local_insert_one(meddler.local);

    meddler.meddle = rewind_within;
    expect_status(haft_side_set(meddler.side, id, NULL, NULL), HAFT_NEVER_ISSUED);
    cr_assert(eq(u64, local_insert_one(meddler.local).bits, former.bits));
    must(haft_local_free(meddler.local, former) == HAFT_OK);
    cr_assert(eq(u64, local_insert_one(meddler.local).bits, id.bits));
    cr_expect(eq(ptr, haft_side_get(haft_side_entries(meddler.side), id), NULL));
}

static void snapshot_within(struct meddler *meddler)
{
    haft_local *clone;

    expect_status(haft_local_snapshot(meddler->local, meddler->history, NULL), HAFT_IN_USE);
    expect_status(haft_local_clone(meddler->local, &clone), HAFT_IN_USE);
}

Test(local_side, while_a_rewind_ends_values_the_table_has_no_state_to_keep)
{
    AT_END(close_meddler) struct meddler meddler;

    open_meddler(&meddler);
    must(haft_side_set(meddler.side, local_insert_one(meddler.local), NULL, NULL) == HAFT_OK);
    meddler.meddle = snapshot_within;
    expect_status(haft_local_rewind(meddler.local, meddler.history, 0), HAFT_OK);
    cr_expect(eq(ptr, (void *)meddler.meddle, NULL), "on_end was called");
}

static void snapshot_another(struct meddler *meddler)
{
    for (int i = 0; i < 2; i++) {
        must(haft_local_snapshot(meddler->other, meddler->history, NULL) == HAFT_OK);
    }
}

Test(local_side, a_snapshot_that_on_end_has_dropped_is_not_gone_to)
{
    AT_END(close_meddler) struct meddler meddler;

    open_meddler(&meddler);
    assert_status(haft_local_clone(meddler.local, &meddler.other), HAFT_OK);
    const haft_id id = local_insert_one(meddler.local);

    must(haft_side_set(meddler.side, id, NULL, NULL) == HAFT_OK);
    meddler.meddle = snapshot_another;
    expect_status(haft_local_rewind(meddler.local, meddler.history, 0), HAFT_OUT_OF_RANGE);
    cr_expect(haft_is_live(haft_local_view(meddler.local), id));
    haft_local_close(meddler.other);
}

/* --- loading --- */

/* Ids are issued again: also a side without on_end would have values of other objects. */
Test(local_side, loading_a_file_ends_each_value)
{
    AT_END(close_fleet) struct fleet fleet;
    struct subject saved = {.kind = LOCAL};
    haft_side *plain;

    open_fleet(&fleet, &some);
    must(haft_side_open_local(fleet.ships, &(haft_side_options){.value_size = 8}, &plain) ==
         HAFT_OK);
    const haft_id id = insert_with(&fleet, 7);

    must(haft_side_set(plain, id, NULL, NULL) == HAFT_OK);
    saved.local = fleet.ships;
    AT_END(bytes_end) struct bytes bytes = saved_of(&saved);
    haft_file file = file_of(&bytes);

    assert_status(haft_local_load(fleet.ships, &file), HAFT_OK);
    cr_expect(haft_is_live(fleet.view, id));
    cr_expect(eq(u64, fleet.ends, 1));
    cr_expect(eq(ptr, hull_of(&fleet, id), NULL));
    cr_expect(eq(ptr, haft_side_get(haft_side_entries(plain), id), NULL));
    haft_side_close(plain);
}
