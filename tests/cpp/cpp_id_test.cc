/* haft::id: a type for each T, hashing, order. */
#include "tests/cpp/counted.hpp"
#include <algorithm>
#if __cplusplus >= 202002L
#include <compare>
#endif
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

TestSuite(cpp_id, .timeout = SUITE_SECONDS);

struct ship; /* need not be complete */
struct torpedo;
using ship_id = haft::id<ship>;
using torpedo_id = haft::id<torpedo>;

/* --- what must not compile --- */

template <class A, class B, class = void> struct can_compare : std::false_type {
};
template <class A, class B>
struct can_compare<A, B, std::void_t<decltype(std::declval<A>() == std::declval<B>())>>
    : std::true_type {
};
template <class Table, class Id, class = void> struct can_resolve : std::false_type {
};
template <class Table, class Id>
struct can_resolve<Table, Id,
                   std::void_t<decltype(std::declval<Table>().resolve(std::declval<Id>()))>>
    : std::true_type {
};

static_assert(can_compare<ship_id, ship_id>::value);
static_assert(!can_compare<ship_id, torpedo_id>::value);
static_assert(!std::is_constructible_v<ship_id, torpedo_id>);
static_assert(!std::is_assignable_v<ship_id &, torpedo_id>);
static_assert(!std::is_convertible_v<haft_id, ship_id> &&
              std::is_constructible_v<ship_id, haft_id>);
static_assert(!std::is_convertible_v<ship_id, haft_id>);
static_assert(!std::is_convertible_v<ship_id, bool> && std::is_constructible_v<bool, ship_id>);
static_assert(!std::is_constructible_v<ship_id, uint64_t>);
static_assert(can_resolve<haft::local<int>, haft::id<int>>::value);
static_assert(!can_resolve<haft::local<int>, haft::id<long>>::value);
static_assert(!can_resolve<haft::local<int>, haft_id>::value);
static_assert(!can_resolve<haft::packed<int>, haft::id<long>>::value);
static_assert(!can_resolve<haft::table<int>, haft::id<long>>::value);
static_assert(!can_resolve<haft::view<int>, haft::id<long>>::value);

/* --- small values --- */

static_assert(sizeof(ship_id) == sizeof(haft_id) && alignof(ship_id) == alignof(haft_id));
static_assert(std::is_trivially_copyable_v<ship_id> && std::is_standard_layout_v<ship_id>);
static_assert(std::is_trivially_copyable_v<haft::view<int>>);
static_assert(sizeof(haft::view<int>) == sizeof(void *) + sizeof(uint64_t));
static_assert(ship_id().is_nil() && !ship_id());
static_assert(ship_id(haft_id{7}) == ship_id(haft_id{7}) && ship_id(haft_id{7}));

/* --- owners move and are not copied --- */

template <class Owner> constexpr bool moves_only()
{
    return !std::is_copy_constructible_v<Owner> && !std::is_copy_assignable_v<Owner> &&
           std::is_nothrow_move_constructible_v<Owner> && std::is_nothrow_move_assignable_v<Owner>;
}
static_assert(moves_only<haft::local<int>>() && moves_only<haft::packed<int>>());
static_assert(moves_only<haft::table<int>>() && moves_only<haft::worker<int>>());
static_assert(moves_only<haft::domain>() && moves_only<haft::pin<int>>());
static_assert(moves_only<haft::arena>());
static_assert(!std::is_move_constructible_v<haft::read_section>);
static_assert(!std::is_copy_constructible_v<haft::read_section>);

static ship_id numbered(uint64_t bits)
{
    return ship_id(haft_id{bits});
}

Test(cpp_id, new_one_is_nil)
{
    const ship_id nil;

    cr_expect(nil.is_nil());
    cr_expect(haft_id_is_nil(nil.untyped()));
    cr_expect_not(numbered(1).is_nil());
    cr_expect(nil == ship_id(HAFT_NIL));
    cr_expect(nil != numbered(1));
}

Test(cpp_id, order_is_total_and_agrees_with_equality)
{
    const ship_id low = numbered(1);
    const ship_id high = numbered(UINT64_MAX);

    cr_expect(low < high && low <= high && high > low && high >= low);
    cr_expect_not(high < low || high <= low || low > high || low >= high);
    cr_expect_not(low < low || low > low);
    cr_expect(low <= low && low >= low);
}

#if __cplusplus >= 202002L
static_assert(std::three_way_comparable<ship_id, std::strong_ordering>);
static_assert((ship_id(haft_id{7}) <=> ship_id(haft_id{8})) < 0);
#endif

Test(cpp_id, is_written_as_index_and_generation)
{
    const ship_id id(haft_id_pack(HAFT_LAYOUT_32_32, 17, 3, 0));
    const ship_id small(haft_id_pack(HAFT_LAYOUT_20_12, 17, 3, 0));
    std::ostringstream out;

    cr_expect(to_string(id) == "17v3");
    cr_expect(to_string(small, HAFT_LAYOUT_20_12) == "17v3");
    out << id << ' ' << ship_id();
    cr_expect(out.str() == "17v3 nil");
}

Test(cpp_id, ids_are_keys_of_maps_and_sets)
{
    auto numbers = haft::local<int>::open(1000);
    std::unordered_map<haft::id<int>, int> hashed;
    std::map<haft::id<int>, int> ordered;

    for (int i = 0; i < 1000; i++) {
        const auto id = *numbers->emplace(i);

        hashed[id] = i;
        ordered[id] = i;
    }
    cr_expect_eq(hashed.size(), 1000);
    for (auto [id, number] : *numbers) {
        cr_expect_eq(hashed.at(id), number);
        cr_expect_eq(ordered.at(id), number);
    }
}

Test(cpp_id, hashes_of_neighbours_differ_in_their_low_bits)
{
    std::set<std::size_t> by_index;
    std::set<std::size_t> by_generation;
    const std::hash<ship_id> hash;

    for (uint64_t i = 0; i < 1024; i++) {
        by_index.insert(hash(numbered(4 + i + (UINT64_C(1) << 32))) % 65536);
        by_generation.insert(hash(numbered(4 + (i << 32))) % 65536);
    }
    cr_expect_gt(by_index.size(), 1000);
    cr_expect_gt(by_generation.size(), 1000);
}

Test(cpp_id, ids_that_differ_in_the_generation_alone_differ)
{
    const ship_id first = numbered(4 + (UINT64_C(1) << 32));
    const ship_id second = numbered(4 + (UINT64_C(2) << 32));

    cr_expect(first != second);
    cr_expect_not(first == second);
    cr_expect(first < second);
    cr_expect(numbered(UINT64_C(1) << 32)); /* index 0, and not nil */
    cr_expect_not(numbered(UINT64_C(1) << 32).is_nil());
}

Test(cpp_id, hashes_differ_in_their_low_bits_where_index_and_generation_change_together)
{
    std::set<std::size_t> hashes;
    const std::hash<ship_id> hash;

    for (uint64_t index = 4; index < 36; index++) {
        for (uint64_t generation = 1; generation < 33; generation++) {
            hashes.insert(hash(numbered(index + (generation << 32))) % 65536);
        }
    }
    cr_expect_gt(hashes.size(), 1000);
}
