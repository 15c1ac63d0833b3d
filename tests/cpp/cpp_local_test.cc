/* haft::local, and what it shares with the other C++ tables: scans, exceptions. */
#include "tests/cpp/counted.hpp"
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

TestSuite(cpp_local, .timeout = SUITE_SECONDS);

using table_type = haft::local<counted>;

static table_type opened(uint64_t capacity = 100)
{
    auto made = table_type::open(capacity);

    cr_assert(made);
    return std::move(*made);
}

/* --- views --- */

struct alignas(64) wide {
    uint64_t words[12];
};

template <class View> static bool finds_nothing(const View &view)
{
    for (uint64_t i = 0; i < 100000; i++) {
        const haft_id id = {i < 1000 ? i : i * UINT64_C(0x9E3779B97F4A7C15)};

        if (haft_resolve(view.untyped(), id) != nullptr) {
            return false;
        }
    }
    return true;
}

Test(cpp_local, a_view_is_empty_before_it_is_a_table_s)
{
    static haft_view untyped = HAFT_VIEW_EMPTY;
    haft::view<char> small;

    cr_expect_not(haft_is_live(untyped, haft_id{1}));
    cr_expect(finds_nothing(small));
    cr_expect(finds_nothing(haft::view<wide>()));
    cr_expect(finds_nothing(haft::view<wide, haft::pins::yes>()));
    cr_expect_null(small.resolve(haft::id<char>()));
    auto table = haft::local<char>::open(10);

    cr_assert(table);
    const auto id = table->emplace('a');

    cr_expect_null(small.resolve(*id));
    small = table->view();
    cr_expect_eq(*small.resolve(*id), 'a');
}

/* --- destructors that use the table --- */

/* Frees another object of its table. */
struct parent {
    using table = haft::local<parent>;

    explicit parent(haft::id<parent> of) : child(of) {}
    ~parent()
    {
        if (child) {
            home->free(child);
            asked++;
        }
    }
    haft::id<parent> child;
    static inline table *home = nullptr;
    static inline int asked = 0;
};

static void fill_family(parent::table &table)
{
    const auto child = table.emplace(haft::id<parent>());

    cr_assert(table.emplace(*child));
    cr_assert(table.emplace(haft::id<parent>()));
}

Test(cpp_local, destructors_find_the_table_while_it_closes_or_is_assigned_to)
{
    auto first = parent::table::open(10);
    auto second = parent::table::open(10);

    parent::home = &*first;
    fill_family(*first);
    fill_family(*second);
    *first = std::move(*second);
    cr_expect_eq(parent::asked, 1);
    cr_expect_eq(first->count(), 3);
    first->close();
    cr_expect_eq(parent::asked, 2);
    cr_expect_not(*first);
}

/* --- lives --- */

Test(cpp_local, cleared_objects_are_destroyed_once)
{
    table_type numbers = opened();

    for (int i = 0; i < 50; i++) {
        cr_assert(numbers.emplace(i));
    }
    expect_status(numbers.clear(), HAFT_OK);
    cr_expect_eq(counted::live(), 0);
    cr_expect(numbers.is_empty());
    numbers.close();
    cr_expect_eq(counted::destroyed, 50);
}

/* Its constructor clears the table that it is made in. */
struct clearer {
    explicit clearer(haft::local<clearer> &home) noexcept : said(home.clear()) {}
    haft_status said;
    counted life;
};

Test(cpp_local, a_constructor_cannot_clear_the_table_under_itself)
{
    auto table = haft::local<clearer>::open(10);
    const auto first = table->emplace(*table);
    const auto second = table->emplace(*table);

    expect_status(table->resolve(*first)->said, HAFT_IN_USE);
    cr_expect_neq(table->resolve(*first), table->resolve(*second));
    cr_expect_eq(table->count(), 2);
    table->close();
    cr_expect_eq(counted::made, 2);
    cr_expect_eq(counted::live(), 0);
}

struct link {
    haft::local<link> *table;
    haft::id<link> next;
    bool *was_live;
    ~link()
    {
        *was_live |= table->is_live(next);
        table->free(next);
    }
};

Test(cpp_local, destructor_may_free_others_of_the_table)
{
    auto made = haft::local<link>::open(10);
    haft::local<link> &links = *made;
    bool was_live = false;
    const auto last = links.emplace(&links, haft::id<link>(), &was_live);
    const auto first = links.emplace(&links, *last, &was_live);

    expect_status(links.free(*first), HAFT_OK);
    cr_expect(was_live);
    cr_expect(links.is_empty());
}

Test(cpp_local, aggregates_and_types_that_cannot_move_are_made_in_place)
{
    struct point {
        int x;
        int y;
    };
    auto points = haft::local<point>::open(10);
    const auto id = points->emplace(3, 4);

    cr_expect_eq(points->resolve(*id)->x, 3);
    cr_expect_eq(points->resolve(*id)->y, 4);
    cr_expect_not(std::is_move_constructible_v<counted>);
}

/* --- alignment --- */

template <std::size_t Alignment> struct alignas(Alignment) aligned {
    unsigned char first;
};

template <std::size_t Alignment, haft::pins P> static void expect_aligned()
{
    auto table = haft::local<aligned<Alignment>, P>::open(100);

    cr_assert(table);
    for (int i = 0; i < 100; i++) {
        const auto id = table->emplace(static_cast<unsigned char>(i));

        cr_assert(id);
        cr_expect_eq(reinterpret_cast<uintptr_t>(table->resolve(*id)) % Alignment, 0);
        cr_expect_eq(table->resolve(*id)->first, i);
    }
    int i = 0;
    for (auto [id, object] : *table) {
        cr_expect_eq(object.first, i++);
    }
    cr_expect_eq(i, 100);
}

Test(cpp_local, objects_of_every_alignment_stand_where_the_view_looks)
{
    expect_aligned<1, haft::pins::no>();
    expect_aligned<1, haft::pins::yes>();
    expect_aligned<8, haft::pins::yes>();
    expect_aligned<16, haft::pins::no>();
    expect_aligned<16, haft::pins::yes>();
    expect_aligned<64, haft::pins::yes>();
    expect_aligned<4096, haft::pins::no>();
}

/* --- ids chosen elsewhere --- */

static haft::id<counted> chosen(uint64_t index, uint64_t generation)
{
    return haft::id<counted>(haft_id_pack(HAFT_LAYOUT_32_32, index, generation, 0));
}

Test(cpp_local, restored_object_is_made_in_its_slot_under_the_chosen_id)
{
    table_type numbers = opened();

    haft::load_begin(numbers);
    expect_status(haft::restore(numbers, chosen(9, 5), 7), HAFT_OK);
    expect_status(haft::restore(numbers, chosen(9, 6), 7), HAFT_OCCUPIED);
    expect_status(haft::restore_free(numbers, chosen(10, 3)), HAFT_OK);
    haft::load_end(numbers);
    cr_expect_eq(numbers.resolve(chosen(9, 5))->number, 7);
    expect_status(haft::restore(numbers, chosen(10, 2), 7), HAFT_STALE);
    cr_expect_eq(counted::made, 1);
    expect_status(numbers.free(chosen(9, 5)), HAFT_OK);
    cr_expect_eq(counted::live(), 0);
    cr_expect_eq(counted::misplaced, 0);
}

Test(cpp_local, slots_of_one_table_are_restored_in_another_and_stale_ids_stay_stale)
{
    table_type numbers = opened();
    table_type loaded = opened();
    const auto stale = numbers.emplace(1);
    const auto live = numbers.emplace(2);

    numbers.free(*stale);
    haft::load_begin(loaded);
    cr_expect_eq(haft::for_each_slot(
                     numbers,
                     [&](haft::id<counted> id, counted *object) {
                         expect_status(object != nullptr ? haft::restore(loaded, id, object->number)
                                                         : haft::restore_free(loaded, id),
                                       HAFT_OK);
                     }),
                 2);
    haft::load_end(loaded);
    cr_expect_eq(loaded.resolve(*live)->number, 2);
    expect_status(loaded.diagnose(*stale), HAFT_STALE);
    expect_status(haft::restore(loaded, *stale, 3), HAFT_STALE);
    cr_expect_eq(
        haft::for_each_slot(numbers, [](auto, counted *object) { return object != nullptr; }), 1);
}

/* Its constructor throws where it is asked to; it can be moved. */
struct movable_thrower {
    static inline int live = 0;

    explicit movable_thrower(std::string its_name, bool throws = false) : name(std::move(its_name))
    {
        if (throws) {
            throw 7;
        }
        live++;
    }
    movable_thrower(movable_thrower &&other) noexcept : name(std::move(other.name)) { live++; }
    ~movable_thrower() { live--; }
    std::string name;
};

/* All that decides what the table does next: its saved bytes. */
template <class Table> static std::string state_of(const Table &table)
{
    std::string bytes;
    haft_file file = {};

    file.write = [](const void *part, size_t size, void *arg) {
        static_cast<std::string *>(arg)->append(static_cast<const char *>(part), size);
        return true;
    };
    file.arg = &bytes;
    expect_status(haft_local_save(table.untyped(), &file), HAFT_OK);
    return bytes;
}

Test(cpp_local, constructor_that_throws_in_a_restore_leaves_everything_as_it_was)
{
    auto names = haft::local<movable_thrower>::open(100);
    haft::id<movable_thrower> ids[3];

    for (auto &id : ids) {
        const auto made = names->emplace("some");

        cr_assert(made);
        id = *made;
    }
    names->free(ids[1]);
    names->free(ids[0]);
    const std::string before = state_of(*names);
    const haft::id<movable_thrower> next(haft_id_pack(HAFT_LAYOUT_32_32, 5, 2, 0));
    const haft::id<movable_thrower> fresh(haft_id_pack(HAFT_LAYOUT_32_32, 70, 1, 0));

    cr_expect_throw((void)haft::restore(*names, next, "a long name, not in place", true), int);
    cr_expect_throw((void)haft::restore(*names, fresh, "a long name, not in place", true), int);
    expect_status(haft::restore(*names, ids[2], "another"), HAFT_OCCUPIED);
    expect_status(haft::restore(*names, ids[0], "another"), HAFT_STALE);
    cr_expect(state_of(*names) == before);
    cr_expect_eq(movable_thrower::live, 1);
    expect_status(haft::restore(*names, next, "a long name, not in place"), HAFT_OK);
    cr_expect(names->resolve(next)->name == "a long name, not in place");
    cr_expect_eq(movable_thrower::live, 2);
}

/* It cannot be moved, and its constructor throws where it is asked to. */
struct stuck {
    stuck(int value, bool throws) : number(value), life(throws) {}
    int number;
    thrower life;
};

Test(cpp_local, what_cannot_be_moved_is_restored_in_its_slot)
{
    auto table = haft::local<stuck>::open(10);
    const haft::id<stuck> id(haft_id_pack(HAFT_LAYOUT_32_32, 5, 2, 0));

    expect_status(haft::restore(*table, id, 7, false), HAFT_OK);
    cr_expect_eq(table->resolve(id)->number, 7);
    table->free(id);
    cr_expect_eq(counted::live(), 0);
    cr_expect_eq(counted::misplaced, 0);
}

Test(cpp_local, a_slot_in_which_nothing_could_be_restored_is_free_and_its_id_stale)
{
    auto table = haft::local<stuck>::open(1);
    const haft::id<stuck> id(haft_id_pack(HAFT_LAYOUT_32_32, HAFT_FIRST_INDEX, 2, 0));

    cr_expect_throw((void)haft::restore(*table, id, 7, true), int);
    expect_status(table->diagnose(id), HAFT_STALE);
    expect_status(haft::restore(*table, id, 7, false), HAFT_STALE);
    cr_expect_eq(table->available(), 1);
    cr_expect(table->emplace(8, false));
    cr_expect_eq(table->count(), 1);
}

/* --- visitors that throw --- */

Test(cpp_local, what_a_visitor_of_slots_throws_ends_the_walk)
{
    table_type numbers = opened();
    int visits = 0;
    const auto visit = [&](haft::id<counted>, counted *object) {
        visits++;
        if (object->number == 1) {
            throw 7;
        }
    };

    for (int i = 0; i < 3; i++) {
        cr_assert(numbers.emplace(i));
    }
    cr_expect_throw(haft::for_each_slot(numbers, visit), int);
    cr_expect_eq(visits, 2);
    expect_status(numbers.clear(), HAFT_OK);
}

/* --- moving --- */

Test(cpp_local, swapped_tables_take_ids_views_sides_and_objects_along)
{
    static_assert(std::is_nothrow_swappable_v<table_type>);
    static_assert(std::is_nothrow_swappable_v<haft::table<counted>>);
    table_type first = opened();
    table_type second;
    const auto id = first.emplace(7);
    const auto view = first.view();
    auto values = haft::side<int, counted>::open(first);
    counted *object = first.resolve(*id);

    cr_assert(values && values->emplace(*id, 5));
    std::swap(first, second);
    cr_expect_not(first);
    cr_expect_eq(second.resolve(*id), object);
    cr_expect_eq(view.resolve(*id), object);
    cr_expect_eq(*values->get(*id), 5);
    cr_assert(second.emplace(8));
    cr_expect_eq(second.count(), 2);
    cr_expect_eq(counted::destroyed, 0);
    values->close();
}

/* --- backwards --- */

Test(cpp_local, loop_backwards_meets_the_highest_index_first_and_may_free)
{
    table_type numbers = opened();
    std::vector<int> met;

    cr_expect(numbers.backwards().begin() == numbers.backwards().end());
    for (int i = 0; i < 10; i++) {
        const auto id = numbers.emplace(i);

        cr_assert(id && (i % 2 == 0 || numbers.free(*id) == HAFT_OK));
    }
    for (auto [id, each] : numbers.backwards()) {
        met.push_back(each.number);
        cr_expect_eq(numbers.resolve(id), &each);
        numbers.free(id);
    }
    cr_expect(std::is_sorted(met.rbegin(), met.rend()));
    cr_expect_eq(met.size(), 5);
    cr_expect(numbers.is_empty());
    cr_expect_eq(counted::live(), 0);
}

Test(cpp_local, released_table_keeps_its_destructor)
{
    table_type numbers = opened();

    cr_assert(numbers.emplace(1));
    haft_local *released = numbers.release();

    cr_expect_not(numbers);
    haft_local_close(released);
    cr_expect_eq(counted::destroyed, 1);
}

Test(cpp_local, adopted_table_destroys_objects)
{
    table_type numbers = opened();
    haft_local *released = numbers.release();

    haft_local_set_destroy(released, nullptr, nullptr);
    auto adopted = table_type::adopt(released);
    cr_assert(adopted);
    cr_assert(adopted->emplace(7));
    adopted->close();
    cr_expect_eq(counted::destroyed, 1);
}

Test(cpp_local, table_of_other_objects_is_not_adopted)
{
    auto bytes = haft::local<char>::open(10);

    expect_status((haft::local<int>::adopt(bytes->untyped()).status()), HAFT_WRONG_TYPE);
    cr_expect(bytes->emplace('a'));
}

/* --- options --- */

Test(cpp_local, pins_that_are_not_the_types_are_refused)
{
    haft_local_options options = {};

    options.capacity = 10;
    options.pins = true;
    expect_status(table_type::open(options).status(), HAFT_BAD_PINS);
    cr_expect((haft::local<counted, haft::pins::yes>::open(options)));
    expect_status(table_type::open(0).status(), HAFT_BAD_CAPACITY);
}

static void count_calls(void *, haft_id, void *calls)
{
    ++*static_cast<int *>(calls);
}

Test(cpp_local, on_destroy_is_the_callers_where_destructors_do_nothing)
{
    haft_local_options options = {};
    int calls = 0;

    options.capacity = 10;
    options.on_destroy = count_calls;
    options.destroy_arg = &calls;
    auto numbers = haft::local<int>::open(options);
    cr_assert(numbers->emplace(7));
    numbers->close();
    cr_expect_eq(calls, 1);
}

Test(cpp_local, promised_capacity_is_there)
{
    table_type numbers = opened(10);

    expect_status(numbers.reserve_capacity(10), HAFT_OK);
    expect_status(numbers.reserve_capacity(11), HAFT_FULL);
    cr_expect_eq(numbers.available(), 10);
}

/* --- exceptions --- */

static void throw_in_a_loop(const table_type &numbers)
{
    for (auto [id, object] : numbers) {
        (void)id;
        throw object.number;
    }
}

Test(cpp_local, body_of_a_loop_may_throw)
{
    table_type numbers = opened();

    cr_assert(numbers.emplace(1));
    cr_expect_throw(throw_in_a_loop(numbers), int);
    expect_status(numbers.emplace(2).status(), HAFT_OK);
    cr_expect_eq(numbers.count(), 2);
}

/* --- loops --- */

Test(cpp_local, loop_meets_each_live_object_with_its_id)
{
    table_type numbers = opened();
    std::vector<haft::id<counted>> ids;
    int sum = 0;
    int met = 0;

    for (auto [id, object] : numbers) {
        (void)id, (void)object;
        met++;
    }
    cr_expect_eq(met, 0);
    for (int i = 0; i < 10; i++) {
        ids.push_back(*numbers.emplace(i));
    }
    numbers.free(ids[3]);
    for (auto [id, object] : numbers) {
        cr_expect(id == ids[static_cast<std::size_t>(object.number)]);
        cr_expect_eq(numbers.resolve(id), &object);
        sum += object.number;
    }
    cr_expect_eq(sum, 45 - 3);
}

Test(cpp_local, loop_may_free_what_it_meets_and_insert)
{
    table_type numbers = opened();

    for (int i = 0; i < 10; i++) {
        cr_assert(numbers.emplace(i));
    }
    for (auto [id, object] : numbers) {
        if (object.number < 100) {
            const int number = object.number;

            numbers.free(id);
            cr_assert(numbers.emplace(100 + number));
        }
    }
    cr_expect_eq(numbers.count(), 10);
    for (auto [id, object] : numbers) {
        (void)id;
        cr_expect_geq(object.number, 100);
    }
}
