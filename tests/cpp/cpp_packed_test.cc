/* haft::packed: lives, moving objects by their bytes, loops. */
#include "tests/cpp/counted.hpp"
#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

TestSuite(cpp_packed, .timeout = SUITE_SECONDS);

/* Counts its lives; where it lies is nothing to it. */
struct tally {
    static inline int made = 0;
    static inline int destroyed = 0;

    explicit tally(int value, bool throws = false) : owned(std::make_unique<int>(value))
    {
        if (throws) {
            throw 7;
        }
        made++;
    }
    ~tally() { destroyed++; }
    std::unique_ptr<int> owned; /* a sanitizer sees it lost, or given back twice */
};

template <> inline constexpr bool haft::is_trivially_relocatable<tally> = true;

/* Of two passes, as bidirectional iterators are. */
static_assert(std::is_default_constructible_v<haft::packed<int>::entry_list::iterator>);
static_assert(std::is_default_constructible_v<haft::packed<int>::backward_list::iterator>);
#if __cplusplus >= 202002L
static_assert(std::bidirectional_iterator<haft::packed<int>::entry_list::iterator>);
#endif
static_assert(haft::is_trivially_relocatable<int>);
static_assert(!haft::is_trivially_relocatable<std::unique_ptr<int>>);
static_assert(!haft::is_trivially_relocatable<counted>);

static haft::packed<tally> opened(uint64_t capacity = 100)
{
    auto made = haft::packed<tally>::open(capacity);

    cr_assert(made);
    return std::move(*made);
}

/* --- lives --- */

Test(cpp_packed, emplaced_object_is_found_by_id_and_by_position)
{
    auto tallies = opened();
    const auto id = tallies.emplace(7);

    cr_expect_eq(*tallies.resolve(*id)->owned, 7);
    cr_expect_eq(tallies.resolve(*id), tallies.begin());
    cr_expect_eq(tallies.require(*id), tallies.begin());
    cr_expect(tallies.id_in(0) == *id);
    cr_expect(tallies.id_in(1).is_nil());
    cr_expect(tallies.is_live(*id));
    cr_expect_eq(tallies.state(*id), HAFT_PACKED_ALIVE);
    cr_expect_eq(tally::made, 1);
    cr_expect_eq(tally::destroyed, 0);
}

Test(cpp_packed, killed_objects_are_destroyed_by_the_refresh)
{
    auto tallies = opened();

    for (int i = 0; i < 10; i++) {
        cr_assert(tallies.emplace(i));
    }
    for (auto [id, each] : tallies.entries()) {
        if (*each.owned % 2 == 0) {
            expect_status(tallies.kill(id), HAFT_OK);
            expect_status(tallies.kill(id), HAFT_DEAD);
        }
    }
    cr_expect_eq(tally::destroyed, 0);
    cr_expect_eq(tallies.dead_count(), 5);
    cr_expect_eq(tallies.available(), 90);
    expect_status(tallies.refresh(), HAFT_OK);
    cr_expect_eq(tally::destroyed, 5);
    cr_expect_eq(tallies.count(), 5);
}

Test(cpp_packed, loop_over_entries_meets_each_position_with_its_id)
{
    auto tallies = opened();
    uint64_t position = 0;

    for (int i = 0; i < 10; i++) {
        cr_assert(tallies.emplace(i));
    }
    for (auto [id, each] : tallies.entries()) {
        cr_expect(id == tallies.id_in(position));
        cr_expect_eq(&each, tallies.begin() + position);
        position++;
    }
    cr_expect_eq(position, 10);
    auto at = tallies.entries().begin();
    const auto before = at++;
    cr_expect_eq(&(*before).object, tallies.begin());
    cr_expect((*at).id == tallies.id_in(1));
}

Test(cpp_packed, objects_live_at_the_end_or_cleared_are_destroyed_once)
{
    {
        auto tallies = opened();

        cr_assert(tallies.emplace(1) && tallies.emplace(2));
        expect_status(tallies.clear(), HAFT_OK);
        cr_expect_eq(tally::destroyed, 2);
        cr_expect(tallies.is_empty());
        cr_assert(tallies.emplace(3));
    }
    cr_expect_eq(tally::destroyed, 3);
}

/* --- moving --- */

Test(cpp_packed, swapped_tables_take_their_ids_along)
{
    static_assert(std::is_nothrow_swappable_v<haft::packed<tally>>);
    auto first = opened();
    auto second = opened();
    const auto one = first.emplace(1);
    const auto two = second.emplace(2);

    cr_assert(second.emplace(3));
    const tally *object = first.resolve(*one);

    std::swap(first, second);
    cr_expect_eq(first.count(), 2);
    cr_expect_eq(*first.resolve(*two)->owned, 2);
    cr_expect_eq(second.resolve(*one), object);
    cr_expect_eq(tally::destroyed, 0);
}

/* --- order --- */

Test(cpp_packed, sorted_objects_keep_their_ids)
{
    auto tallies = opened();
    std::vector<haft::id<tally>> ids;
    int calls = 0;

    for (int value : {5, 3, 9, 1, 3}) {
        ids.push_back(*tallies.emplace(value));
    }
    const auto less = [&calls](const tally &a, const tally &b) {
        calls++;
        return *a.owned < *b.owned;
    };
    expect_status(tallies.sort(less), HAFT_OK);
    std::vector<int> values;
    for (const tally &each : tallies) {
        values.push_back(*each.owned);
    }
    cr_expect((values == std::vector<int>{1, 3, 3, 5, 9}));
    cr_expect(tallies.id_in(1) == ids[1] && tallies.id_in(2) == ids[4]); /* stable */
    cr_expect_eq(*tallies.resolve(ids[2])->owned, 9);
    cr_expect_gt(calls, 0);
    cr_expect_eq(tally::destroyed, 0);
}

static std::vector<int> values_of(const haft::packed<tally> &tallies)
{
    std::vector<int> values;

    for (const tally &each : tallies) {
        values.push_back(*each.owned);
    }
    return values;
}

Test(cpp_packed, what_a_comparison_throws_leaves_all_objects_in_some_order)
{
    auto tallies = opened();
    std::vector<haft::id<tally>> ids;
    int calls = 0;
    const auto less = [&](const tally &a, const tally &b) {
        if (++calls == 100) {
            throw 7;
        }
        return *a.owned < *b.owned;
    };

    for (int i = 0; i < 64; i++) {
        ids.push_back(*tallies.emplace(i * 37 % 64));
    }
    cr_expect_throw((void)tallies.sort(less), int);
    cr_expect_eq(calls, 100);
    for (int i = 0; i < 64; i++) {
        cr_expect_eq(*tallies.resolve(ids[static_cast<std::size_t>(i)])->owned, i * 37 % 64);
    }
    expect_status(tallies.refresh(), HAFT_OK);
    expect_status(tallies.sort(less), HAFT_OK);
    cr_expect(std::is_sorted(tallies.begin(), tallies.end(), less));
}

Test(cpp_packed, the_first_objects_are_sorted_alone)
{
    auto tallies = opened();

    for (int value : {5, 3, 9, 1, 3}) {
        cr_assert(tallies.emplace(value));
    }
    const auto less = [](const tally &a, const tally &b) { return *a.owned < *b.owned; };
    expect_status(tallies.sort_n(3, less), HAFT_OK);
    cr_expect((values_of(tallies) == std::vector<int>{3, 5, 9, 1, 3}));
}

/* What a program does with two packed tables, of which one has ids of the other. */
Test(cpp_packed, objects_are_sorted_as_another_tables_name_them)
{
    struct sprite {
        haft::id<tally> of;
    };
    auto tallies = opened();
    auto sprites = haft::packed<sprite>::open(10);
    std::vector<haft::id<tally>> order;

    for (int i = 0; i < 4; i++) {
        const auto id = tallies.emplace(i);

        cr_assert(id && (i == 2 || sprites->emplace(*id)));
    }
    for (auto [id, each] : sprites->backwards()) {
        order.push_back(each.of);
    }
    expect_status(tallies.sort_as(order.data(), order.size()), HAFT_OK);
    cr_expect((values_of(tallies) == std::vector<int>{3, 1, 0, 2}));
    cr_expect_eq(tally::destroyed, 0);
}

Test(cpp_packed, ids_are_those_of_the_positions_and_a_table_sorts_as_its_clone)
{
    auto numbers = haft::packed<int>::open(10);

    for (const int number : {3, 1, 2}) {
        cr_assert(numbers->emplace(number));
    }
    auto sorted = haft::clone(*numbers);
    expect_status(sorted->sort([](int a, int b) { return a < b; }), HAFT_OK);
    expect_status(numbers->kill(numbers->id_in(0)), HAFT_OK);
    for (uint64_t position = 0; position < numbers->count(); position++) {
        cr_expect(numbers->ids()[position] == numbers->id_in(position));
    }
    expect_status(numbers->sort_as(sorted->ids(), sorted->count()), HAFT_OK);
    cr_expect((std::vector<int>(numbers->begin(), numbers->end()) == std::vector<int>{1, 2, 3}));
    cr_expect(std::equal(numbers->ids(), numbers->ids() + numbers->count(), sorted->ids()));
}

Test(cpp_packed, two_objects_change_places)
{
    auto tallies = opened();
    const auto first = tallies.emplace(1);
    const auto last = tallies.emplace(2);

    expect_status(tallies.swap(*first, *last), HAFT_OK);
    cr_expect((values_of(tallies) == std::vector<int>{2, 1}));
    cr_expect_eq(*tallies.resolve(*first)->owned, 1);
    tallies.free(*last);
    expect_status(tallies.swap(*first, *last), HAFT_STALE);
    cr_expect_eq(tally::destroyed, 1);
}

/* --- backwards --- */

template <class Less> static void expect_freed_backwards(bool keep_order, Less goes)
{
    haft_packed_options options = {};

    options.capacity = 20;
    options.keep_order = keep_order;
    auto tallies = haft::packed<tally>::open(options);
    std::vector<int> met;
    int expected = 20;

    for (int i = 0; i < 20; i++) {
        cr_assert(tallies->emplace(i));
    }
    for (auto [id, each] : tallies->backwards()) {
        met.push_back(*each.owned);
        cr_expect_eq(met.back(), --expected);
        cr_expect_eq(tallies->resolve(id), &each);
        if (goes(met.back())) {
            expect_status(tallies->free(id), HAFT_OK);
        }
    }
    cr_expect_eq(met.size(), 20);
    for (const tally &each : *tallies) {
        cr_expect_not(goes(*each.owned));
    }
}

Test(cpp_packed, loop_backwards_meets_each_object_once_and_may_free_it)
{
    for (bool keep_order : {false, true}) {
        expect_freed_backwards(keep_order, [](int) { return false; });
        expect_freed_backwards(keep_order, [](int value) { return value % 3 == 0; });
        expect_freed_backwards(keep_order, [](int value) { return value > 9; });
        expect_freed_backwards(keep_order, [](int) { return true; });
    }
}

Test(cpp_packed, objects_are_walked_backwards)
{
    auto tallies = opened();
    std::vector<int> values;

    cr_expect(tallies.rbegin() == tallies.rend());
    cr_expect(tallies.backwards().begin() == tallies.backwards().end());
    for (int i = 0; i < 3; i++) {
        cr_assert(tallies.emplace(i));
    }
    for (auto at = tallies.rbegin(); at != tallies.rend(); ++at) {
        values.push_back(*at->owned);
    }
    cr_expect((values == std::vector<int>{2, 1, 0}));
    auto at = tallies.entries().end();
    at--;
    cr_expect((*at).id == tallies.id_in(2));
}

/* --- options --- */

struct alignas(64) wide {
    int value;
};

Test(cpp_packed, aligned_aggregates_stand_in_one_array)
{
    auto wides = haft::packed<wide>::open(10);
    int sum = 0;

    cr_assert(wides->emplace(1) && wides->emplace(2));
    for (const wide &each : *wides) {
        cr_expect_eq(reinterpret_cast<uintptr_t>(&each) % 64, 0);
        sum += each.value;
    }
    cr_expect_eq(sum, 3);
    cr_expect_eq(wides->end() - wides->begin(), 2);
}
