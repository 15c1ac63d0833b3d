/* haft::history, clones by constructor, and objects that know their id or are taken out. */
#include "tests/cpp/counted.hpp"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

TestSuite(cpp_history, .timeout = SUITE_SECONDS);

struct ship {
    int hull;
    haft::id<ship> leader;
};

template <class Table> static Table opened(uint64_t capacity = 100)
{
    auto made = Table::open(capacity);

    cr_assert(made);
    return std::move(*made);
}

template <class Table> static haft::id<ship> insert(Table &ships, int hull)
{
    const auto id = ships.emplace(ship{hull, {}});

    cr_assert(id);
    return *id;
}

template <class Table> static void expect_same_ids_after_a_rewind()
{
    auto ships = opened<Table>();
    auto history = haft::history::open(4);

    cr_assert(history);
    const haft::id<ship> kept = insert(ships, 1);

    ships.free(insert(ships, 2));
    const auto number = haft::snapshot(ships, *history);

    cr_assert(number);
    cr_expect_eq(*number, 0);
    const haft::id<ship> first = insert(ships, 3);

    ships.free(kept);
    expect_status(haft::rewind(ships, *history, *number), HAFT_OK);
    cr_expect_eq(ships.count(), 1);
    cr_expect_eq(ships.resolve(kept)->hull, 1);
    cr_expect(insert(ships, 4) == first);
    cr_expect_eq(history->kept().to, 1);
    cr_expect_gt(history->bytes(), 0);
    expect_status(haft::rewind(ships, *history, 1), HAFT_OUT_OF_RANGE);
}

Test(cpp_history, a_rewound_table_issues_the_same_ids)
{
    expect_same_ids_after_a_rewind<haft::local<ship>>();
    expect_same_ids_after_a_rewind<haft::packed<ship>>();
}

static bool put(const void *bytes, size_t size, void *arg)
{
    static_cast<std::string *>(arg)->append(static_cast<const char *>(bytes), size);
    return true;
}

static bool get(void *bytes, size_t size, void *arg)
{
    auto &from = *static_cast<std::string *>(arg);
    const size_t copied = from.copy(static_cast<char *>(bytes), size);

    from.erase(0, copied);
    return copied == size;
}

template <class Table> static void expect_saved_and_loaded()
{
    auto ships = opened<Table>();
    auto others = opened<Table>();
    std::string bytes;
    haft_file file = {};

    file.write = put;
    file.read = get;
    file.arg = &bytes;
    const haft::id<ship> id = insert(ships, 7);

    expect_status(haft::save(ships, file), HAFT_OK);
    expect_status(haft::load(others, file), HAFT_OK);
    cr_expect_eq(others.resolve(id)->hull, 7);
    cr_expect(insert(ships, 8) == insert(others, 8));
    expect_status(haft::load(others, file), HAFT_DAMAGED);
    auto clone = haft::clone(others);

    cr_assert(clone);
    cr_expect_eq(clone->resolve(id)->hull, 7);
}

Test(cpp_history, a_table_is_saved_loaded_and_cloned)
{
    expect_saved_and_loaded<haft::local<ship>>();
    expect_saved_and_loaded<haft::packed<ship>>();
}

Test(cpp_history, objects_of_a_clone_are_made_by_their_constructor)
{
    auto names = opened<haft::local<std::string>>();
    const std::string long_name(100, 'x'); /* not in the string itself */
    const auto first = names.emplace(long_name);
    const auto second = names.emplace("two");

    cr_assert(names.free(*second) == HAFT_OK);
    auto clone = haft::clone(names);

    cr_assert(clone);
    cr_expect(*clone->resolve(*first) == long_name);
    cr_expect_neq(clone->resolve(*first)->data(), names.resolve(*first)->data());
    cr_expect(*names.emplace("next") == *clone->emplace("next"));
}

/* copies_left copies can be made; the next throws. */
struct fragile {
    static inline int copies_left = 0;

    fragile() = default;
    fragile(const fragile &)
    {
        if (copies_left-- == 0) {
            throw 7;
        }
    }
    counted life;
};

Test(cpp_history, a_clone_whose_constructor_throws_is_gone_with_its_objects)
{
    const int before = counted::live();
    {
        auto table = opened<haft::local<fragile>>();

        for (int i = 0; i < 10; i++) {
            cr_assert(table.emplace());
        }
        fragile::copies_left = 4;
        cr_expect_throw((void)haft::clone(table), int);
        cr_expect_eq(counted::live(), before + 10);
        cr_expect_eq(table.count(), 10);
    }
    cr_expect_eq(counted::live(), before);
    cr_expect_eq(counted::misplaced, 0);
}

/* Copied by its constructor, and with nothing to destroy. */
struct copied {
    int number = 0;

    copied() = default;
    copied(const copied &from) : number(from.number + 1) {}
};

static void count_destroyed(void *, haft_id, void *destroyed)
{
    ++*static_cast<int *>(destroyed);
}

Test(cpp_history, a_clone_has_the_callbacks_too)
{
    int destroyed = 0;
    haft_local_options options = {};

    options.capacity = 4;
    options.on_destroy = count_destroyed;
    options.destroy_arg = &destroyed;
    {
        auto table = haft::local<copied>::open(options);

        cr_assert(table);
        const auto id = table->emplace();

        cr_assert(id);
        const auto clone = haft::clone(*table);

        cr_assert(clone);
        cr_expect_eq(clone->resolve(*id)->number, 1);
    }
    cr_expect_eq(destroyed, 2);
}

struct member {
    member(haft::id<member> given, int value) : own(given), number(value) {}
    haft::id<member> own;
    int number;
};

Test(cpp_history, a_constructor_learns_its_own_id)
{
    auto members = opened<haft::local<member>>();

    for (int i = 0; i < 10; i++) {
        const auto id = members.emplace_with_id(i);

        cr_assert(id);
        cr_expect(members.resolve(*id)->own == *id);
        cr_expect_eq(members.resolve(*id)->number, i);
    }
}

Test(cpp_history, what_is_taken_out_is_freed)
{
    auto boxes = opened<haft::local<std::unique_ptr<int>>>();
    const auto id = boxes.emplace(std::make_unique<int>(7));
    auto taken = boxes.take(*id);

    cr_assert(taken);
    cr_expect_eq(**taken, 7);
    cr_expect(boxes.is_empty());
    expect_status(boxes.take(*id).status(), HAFT_STALE);
}

template <class Table> static void expect_ids_by_index()
{
    auto ships = opened<Table>();
    const haft::id<ship> id = insert(ships, 1);
    haft::id<ship> found;

    expect_status(ships.id_at(HAFT_FIRST_INDEX, found), HAFT_OK);
    cr_expect(found == id);
    expect_status(ships.id_at(HAFT_FIRST_INDEX + 1, found), HAFT_NEVER_ISSUED);
    expect_status(ships.id_at(0, found), HAFT_OUT_OF_RANGE);
}

Test(cpp_history, ids_are_found_by_index)
{
    expect_ids_by_index<haft::local<ship>>();
    expect_ids_by_index<haft::packed<ship>>();
}

Test(cpp_history, statistics_are_those_of_the_table)
{
    auto ships = opened<haft::local<ship>>();

    insert(ships, 1);
    cr_expect_eq(ships.stats().live, 1);
    cr_expect_eq(ships.stats().capacity, 100);
}
