/* haft::counted and its holders. */
#include "tests/cpp/counted.hpp"
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

TestSuite(cpp_counted, .timeout = SUITE_SECONDS);

using table_type = haft::counted<counted>;

static_assert(!std::is_copy_constructible_v<haft::holder<int>>);
static_assert(std::is_nothrow_move_constructible_v<haft::holder<int>>);
static_assert(!std::is_copy_constructible_v<haft::counted<int>>);
static_assert(std::is_nothrow_move_assignable_v<haft::counted<int>>);

static table_type opened(uint64_t capacity = 100)
{
    auto made = table_type::open(capacity);

    cr_assert(made);
    return std::move(*made);
}

/* --- lives --- */

Test(cpp_counted, held_object_is_destroyed_with_its_last_holder)
{
    const table_type numbers = opened();
    const auto id = *numbers.emplace(7);
    auto held = numbers.acquire(id);
    auto again = held.again();

    cr_assert(held && again && held.get() == again.get());
    expect_status(numbers.free(id), HAFT_OK);
    cr_expect_eq(held->number, 7);
    held.reset();
    cr_expect_not(held);
    cr_expect_not(held.again());
    cr_expect_eq((*again).number, 7);
    cr_expect_eq(counted::destroyed, 0);
    again = haft::holder<counted>();
    cr_expect_eq(counted::destroyed, 1);
}

Test(cpp_counted, holder_moves_and_may_end_on_another_thread)
{
    const table_type numbers = opened();
    const auto id = *numbers.emplace(7);
    auto held = numbers.acquire(id);
    haft::holder<counted> moved = std::move(held);

    cr_expect_not(held);
    cr_expect(moved.id() == id);
    expect_status(numbers.free(id), HAFT_OK);
    std::thread([ours = std::move(moved)] { cr_expect_eq(ours->number, 7); }).join();
    cr_expect_eq(counted::destroyed, 1);
}

Test(cpp_counted, holder_moved_to_itself_or_swapped_holds_on)
{
    const table_type numbers = opened();
    auto seven = numbers.acquire(*numbers.emplace(7));
    auto eight = numbers.acquire(*numbers.emplace(8));
    auto &same = seven;

    seven = std::move(same);
    std::swap(seven, eight);
    cr_assert(seven && eight);
    cr_expect_eq(seven->number, 8);
    cr_expect_eq(eight->number, 7);
    expect_status(numbers.free(eight.id()), HAFT_OK);
    seven = std::move(eight); /* 8 is let go, and lives */
    cr_expect_eq(seven->number, 7);
    cr_expect_eq(counted::destroyed, 0);
    cr_expect_eq(numbers.stats().held, 0);
    seven.reset();
    cr_expect_eq(counted::destroyed, 1);
}

Test(cpp_counted, detached_hold_is_the_callers)
{
    table_type numbers = opened();
    const auto id = *numbers.emplace(7);
    auto held = numbers.acquire(id);

    cr_assert_eq(held.detach()->number, 7);
    cr_expect_not(held);
    held.reset();
    expect_status(numbers.close(), HAFT_IN_USE);
    numbers.abandon();
    cr_expect_eq(counted::destroyed, 0);
}

/* Trivially copyable, and larger than a small stack; it notes where it is made. */
struct large {
    explicit large(int *calls) : own(this) { ++*calls; }
    const large *own;
    char bytes[1 << 24];
};

Test(cpp_counted, object_is_made_in_its_slot)
{
    const auto table = haft::counted<large>::open(1);
    int calls = 0;
    const auto held = table->acquire(*table->emplace(&calls));

    cr_expect_eq(held->own, held.get());
    expect_status(table->emplace(&calls).status(), HAFT_FULL);
    cr_expect_eq(calls, 1, "an object is made that has no slot");
}

struct alignas(256) aligned_text {
    explicit aligned_text(const char *from) : text(from) {}
    std::string text;
};

Test(cpp_counted, over_aligned_object_is_made_where_it_is_held)
{
    const auto texts = haft::counted<aligned_text>::open(3);

    for (const char *text : {"one", "two", "three"}) {
        const auto held = texts->acquire(*texts->emplace(text));

        cr_assert(held);
        cr_expect_eq(reinterpret_cast<uintptr_t>(held.get()) % alignof(aligned_text), 0);
        cr_expect(held->text == text);
    }
    expect_status(texts->emplace("four").status(), HAFT_FULL);
}

Test(cpp_counted, a_table_of_which_an_object_is_held_stays_open)
{
    table_type numbers = opened();
    auto held = numbers.acquire(*numbers.emplace(1));

    expect_status(numbers.close(), HAFT_IN_USE);
    expect_status(numbers.emplace(2).status(), HAFT_CLOSED);
    cr_expect(numbers);
    held.reset();
    expect_status(numbers.close_wait(), HAFT_OK);
    cr_expect_not(numbers);
    cr_expect_eq(counted::live(), 0);
}

/* --- values --- */

struct point {
    double x;
    double y;
};

Test(cpp_counted, copies_are_values_of_live_objects)
{
    haft_counted_options options = {};

    options.capacity = 10;
    options.copies = true;
    const auto points = haft::counted<point>::open(options);
    const auto id = *points->emplace(1.0, 2.0);
    const auto found = points->copy(id);

    cr_assert(found.has_value());
    cr_expect(found->x == 1.0 && found->y == 2.0);
    cr_expect(points->acquire(id)->y == 2.0);
    expect_status(points->free(id), HAFT_OK);
    cr_expect_not(points->copy(id).has_value());
}

Test(cpp_counted, copies_are_for_bytes_and_options_for_the_type)
{
    haft_counted_options options = {};

    options.capacity = 10;
    options.copies = true;
    expect_status(haft::counted<std::string>::open(options).status(), HAFT_BAD_COPIES);
    options.object_size = 1;
    expect_status(haft::counted<point>::open(options).status(), HAFT_BAD_OBJECT_SIZE);
}

/* A sanitizer sees it lost, or given back twice. */
struct box {
    explicit box(int value) : owned(std::make_unique<int>(value)) {}
    std::unique_ptr<int> owned;
};
template <> inline constexpr bool haft::is_trivially_relocatable<box> = true;

Test(cpp_counted, taken_object_is_the_callers)
{
    const auto boxes = haft::counted<box>::open(10);
    const auto id = *boxes->emplace(7);
    auto held = boxes->acquire(id);

    expect_status(boxes->take(id).status(), HAFT_IN_USE);
    held.reset();
    const haft::result<box> taken = boxes->take(id);

    cr_assert(taken);
    cr_expect_eq(*taken->owned, 7);
    expect_status(boxes->take(id).status(), HAFT_STALE);
}

/* --- looking --- */

Test(cpp_counted, a_scan_holds_the_object_that_it_is_at)
{
    const table_type numbers = opened();
    int sum = 0;

    for (int i = 1; i <= 10; i++) {
        cr_assert(numbers.emplace(i));
    }
    for (auto [id, object] : numbers.scan()) {
        expect_status(numbers.free(id), HAFT_OK);
        sum += object.number;
    }
    cr_expect_eq(sum, 55);
    cr_expect_eq(counted::destroyed, 10);
}

Test(cpp_counted, a_scan_that_is_left_holds_nothing)
{
    const table_type numbers = opened();

    for (int i = 1; i <= 3; i++) {
        cr_assert(numbers.emplace(i));
    }
    for (auto [id, object] : numbers.scan()) {
        if (object.number == 2) {
            break;
        }
    }
    cr_expect_throw(
        for (auto [id, object]
             : numbers.scan()) { throw object.number; },
        int);
    cr_expect_eq(numbers.stats().held, 0);
}
