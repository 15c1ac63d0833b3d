/* What tables of every kind promise alike in C++: objects are made and end once. */
#include "tests/cpp/counted_shared.hpp"
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

TestSuite(cpp_each, .timeout = SUITE_SECONDS);

/* Its bytes may be moved, as packed tables do it; a sanitizer sees it lost, or given back twice. */
struct boxed : counted {
    explicit boxed(int value = 0, bool throws = false)
        : counted(value), owned(std::make_unique<int>(value))
    {
        if (throws) {
            throw 7;
        }
    }
    std::unique_ptr<int> owned;
};

template <> inline constexpr bool haft::is_trivially_relocatable<boxed> = true;
template <> inline constexpr bool haft::is_trivially_relocatable<std::unique_ptr<int>> = true;

/* How tables of a kind are opened, and where objects come and go: the table, or a worker of it. */
template <template <class> class Table, class Options, bool Moves = false> struct alone {
    static constexpr bool moves_objects = Moves;
    template <class T> using table = Table<T>;
    using options = Options;

    template <class T> static auto open(Options with) { return Table<T>::open(with); }
    template <class T> static Table<T> &way(Table<T> &table) { return table; }
    template <class T> static void settle(Table<T> &) {}
    template <class T> static void end(Table<T> &table) { table.close(); }
};

template <class T> using local_table = haft::local<T>;
template <class T> using packed_table = haft::packed<T>;
template <class T> using counted_table = haft::counted<T>;
template <class T> using shared_table = haft::table<T>;

using of_local = alone<local_table, haft_local_options>;
using of_packed = alone<packed_table, haft_packed_options, true>;
using of_counted = alone<counted_table, haft_counted_options>;

/* On the frame clock. */
struct of_shared {
    static constexpr bool moves_objects = false;
    template <class T> using table = shared_table<T>;
    using options = haft_table_options;

    static const haft::domain &domain()
    {
        static const haft::domain opened = frames();

        return opened;
    }
    template <class T> static auto open(options with) { return table<T>::open(domain(), with); }
    template <class T> static auto way(table<T> &table) { return std::move(*table.open_worker()); }
    template <class T> static void settle(table<T> &table)
    {
        auto worker = table.open_worker();

        next_frame<T>(domain(), *worker);
    }
    template <class T> static void end(table<T> &table) { expect_status(table.close(), HAFT_OK); }
};

template <class Kind, class T = boxed> static auto opened_as(uint64_t capacity = 100)
{
    typename Kind::options options = {};

    options.capacity = capacity;
    auto made = Kind::template open<T>(options);

    cr_assert(made);
    return std::move(*made);
}

template <class Kind, class Table> static auto emplaced(Table &table, int value)
{
    auto &&way = Kind::way(table);
    const auto id = way.emplace(value);

    cr_assert(id);
    return *id;
}

/* The body runs once for each kind, which is `Kind`. */
#define TEST_OF_EACH(name)                                                                         \
    template <class Kind> static void name();                                                      \
    Test(cpp_each, name)                                                                           \
    {                                                                                              \
        name<of_local>();                                                                          \
        name<of_packed>();                                                                         \
        name<of_counted>();                                                                        \
        name<of_shared>();                                                                         \
    }                                                                                              \
    template <class Kind> static void name()

static void start_counting()
{
    counted::made = 0;
    counted::destroyed = 0;
    counted::misplaced = 0;
}

TEST_OF_EACH(freed_object_is_destroyed_once_and_its_id_is_stale)
{
    auto table = opened_as<Kind>();
    const auto id = emplaced<Kind>(table, 7);

    start_counting();
    cr_expect_eq(*table.require(id)->owned, 7);
    cr_expect(table.is_live(id));
    expect_status(table.diagnose(id), HAFT_OK);
    {
        auto &&way = Kind::way(table);

        expect_status(way.free(id), HAFT_OK);
        expect_status(way.free(id), HAFT_STALE);
    }
    expect_status(table.diagnose(id), HAFT_STALE);
    cr_expect_not(table.is_live(id));
    cr_expect(table.explain(id).find(to_string(id)) != std::string::npos);
    cr_expect(table.explain(id).find("HAFT_STALE") != std::string::npos);
    Kind::settle(table);
    cr_expect_eq(counted::destroyed, 1);
    Kind::end(table);
    cr_expect_eq(counted::destroyed, 1);
    cr_expect(Kind::moves_objects || counted::misplaced == 0);
}

TEST_OF_EACH(objects_live_at_the_end_are_destroyed_once)
{
    start_counting();
    {
        auto table = opened_as<Kind>();

        for (int i = 0; i < 50; i++) {
            emplaced<Kind>(table, i);
        }
        cr_assert_eq(counted::live(), 50);
    }
    cr_expect_eq(counted::destroyed, 50);
    cr_expect(Kind::moves_objects || counted::misplaced == 0);
}

TEST_OF_EACH(a_full_table_makes_no_object_that_stays)
{
    const std::string name(1000, 'n'); /* longer than the texts that most programs see */
    typename Kind::options options = {};

    options.capacity = 2;
    options.name = name.c_str();
    auto table = Kind::template open<boxed>(options);
    auto &&way = Kind::way(*table);
    int count = 0;

    start_counting();
    while (way.emplace(count)) {
        count++;
    }
    cr_expect_geq(count, 2);
    expect_status(way.emplace(count).status(), HAFT_FULL);
    cr_expect_eq(counted::live(), count);
    cr_expect(table->explain(HAFT_FULL).find(name + ": full: capacity 2") == 0);
}

TEST_OF_EACH(constructor_that_throws_leaves_the_table_as_it_was)
{
    auto table = opened_as<Kind>(1);

    start_counting();
    for (int i = 0; i < 10; i++) {
        Kind::settle(table);
        auto &&way = Kind::way(table);

        cr_expect_throw((void)way.emplace(1, true), int);
    }
    cr_expect_eq(counted::live(), 0);
    Kind::settle(table);
    emplaced<Kind>(table, 1);
    cr_expect_eq(counted::live(), 1);
}

TEST_OF_EACH(owning_arguments_are_moved_into_the_object)
{
    auto table = opened_as<Kind, std::unique_ptr<int>>();
    auto &&way = Kind::way(table);
    const auto id = way.emplace(std::make_unique<int>(7));

    cr_assert(id);
    cr_expect_eq(**table.require(*id), 7);
}

TEST_OF_EACH(moved_from_table_is_empty_and_assignment_ends_the_one_that_was_there)
{
    auto first = opened_as<Kind>();
    auto second = opened_as<Kind>();
    const auto id = emplaced<Kind>(first, 7);

    emplaced<Kind>(second, 1);
    start_counting();
    auto moved = std::move(first);
    cr_expect_not(first);
    Kind::end(first);
    cr_expect_eq(counted::destroyed, 0);
    second = std::move(moved);
    cr_expect_not(moved);
    cr_expect_eq(counted::destroyed, 1);
    cr_expect_eq(*second.require(id)->owned, 7);
    auto &same = second;
    second = std::move(same);
    cr_expect(second);
    cr_expect_eq(counted::destroyed, 1);
    cr_expect(Kind::moves_objects || counted::misplaced == 0);
}

TEST_OF_EACH(options_that_are_not_the_types_are_refused)
{
    typename Kind::options options = {};

    expect_status(Kind::template open<boxed>(options).status(), HAFT_BAD_CAPACITY);
    options.capacity = 10;
    options.object_size = sizeof(boxed) + 8;
    expect_status(Kind::template open<boxed>(options).status(), HAFT_BAD_OBJECT_SIZE);
    options.object_size = sizeof(boxed);
    options.object_alignment = 4096;
    expect_status(Kind::template open<boxed>(options).status(), HAFT_BAD_OBJECT_ALIGNMENT);
    options.object_alignment = alignof(boxed);
    cr_expect(Kind::template open<boxed>(options));
}

TEST_OF_EACH(required_id_that_is_stale_is_reported)
{
    int calls = 0;
    auto table = Kind::template open<boxed>(counting_bad_accesses<typename Kind::options>(calls));
    const auto id = emplaced<Kind>(*table, 7);

    cr_expect(table->require(id));
    cr_expect_eq(calls, 0);
    {
        auto &&way = Kind::way(*table);

        expect_status(way.free(id), HAFT_OK);
    }
    cr_expect_not(table->require(id));
    cr_expect_eq(calls, 1);
}
