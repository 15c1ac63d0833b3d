/* haft::side: values of C++ beside the objects of local and shared tables. */
#include "tests/cpp/counted.hpp"
#include <haft/urcu.h>
#include <memory>
#include <string>

TestSuite(cpp_side, .timeout = SUITE_SECONDS);

struct ship {
    int number;
};

struct point {
    double x, y;
};

struct alignas(64) wide {
    char bytes[70];
};

static haft::local<ship> open_ships()
{
    auto made = haft::local<ship>::open(100);

    cr_assert(made);
    return std::move(*made);
}

Test(cpp_side, a_value_can_be_moved_from_that_of_the_slot_s_last_object)
{
    const std::string text = "a name that is longer than a small string";
    auto ships = open_ships();
    auto names = haft::side<std::string, ship>::open(ships);
    const auto first = ships.emplace(1);

    cr_assert(names->emplace(*first, text));
    cr_expect_eq(ships.free(*first), HAFT_OK);
    const auto second = ships.emplace(2); /* in its slot */

    cr_assert(names->emplace(*second, std::move(*names->get(*first))));
    cr_expect(*names->get(*second) == text);
}

Test(cpp_side, values_are_made_found_and_destroyed_once)
{
    auto ships = open_ships();
    auto made = haft::side<counted, ship>::open(ships);

    cr_assert(made);
    {
        haft::side<counted, ship> lives = std::move(*made);
        const auto first = ships.emplace(1);
        const auto second = ships.emplace(2);
        ship *object = nullptr;

        cr_assert(lives.emplace(*first, 11));
        cr_assert(lives.emplace(*second, 12));
        cr_expect_eq(lives.emplace(*second, 13).status(), HAFT_OCCUPIED);
        cr_expect_eq(lives.get(*first)->number, 11);
        cr_expect_eq(lives.find(*second, &object)->number, 12);
        cr_expect_eq(object->number, 2);
        cr_expect_eq(counted::live(), 2);
        cr_expect(lives.remove(*first));
        cr_expect_null(lives.get(*first));
        cr_expect_eq(counted::live(), 1);
        cr_expect_eq(ships.free(*second), HAFT_OK);
        cr_expect_null(lives.find(*second, &object));
        cr_expect_null(object);
        cr_expect_eq(lives.emplace(*second, 14).status(), HAFT_STALE);
        cr_expect_eq(counted::live(), 1);
        const auto third = ships.emplace(3); /* in the slot of the second */

        cr_assert(lives.emplace(*third, 15));
        cr_expect_eq(counted::live(), 1);
        cr_expect_eq(ships.free(*third), HAFT_OK);
        cr_expect_eq(lives.sweep(), 1);
        cr_expect_eq(counted::live(), 0);
        cr_assert(lives.emplace(*ships.emplace(4), 16));
    }
    cr_expect_eq(counted::live(), 0);
    cr_expect_eq(counted::misplaced, 0);
}

/* Moved to its place: its constructor may throw. */
struct name {
    name(const char *bytes, bool throws) : text(bytes)
    {
        if (throws) {
            throw 7;
        }
    }
    std::string text;
};

Test(cpp_side, a_constructor_that_throws_leaves_no_value)
{
    auto ships = open_ships();
    auto names = haft::side<name, ship>::open(ships);
    const auto id = ships.emplace(1);

    cr_assert(names);
    try {
        (void)names->emplace(*id, "a name that is longer than a small string", true);
        cr_assert(false, "nothing was thrown");
    } catch (int) {
    }
    cr_expect_null(names->get(*id));
    auto made = names->emplace(*id, "a name that is longer than a small string", false);

    cr_assert(made);
    cr_expect_eq(*made, names->get(*id));
    cr_expect_eq(names->get(*id)->text, "a name that is longer than a small string");
}

Test(cpp_side, values_may_be_aggregates_owners_and_aligned)
{
    auto ships = open_ships();
    auto points = haft::side<point, ship>::open(ships);
    auto owners = haft::side<std::unique_ptr<int>, ship>::open(ships);
    auto wides = haft::side<wide, ship>::open(ships);
    const auto id = ships.emplace(1);

    cr_assert(points && owners && wides);
    cr_assert(points->emplace(*id, 1.0, 2.0));
    cr_expect_eq(points->get(*id)->y, 2.0);
    cr_assert(owners->emplace(*id, std::make_unique<int>(7)));
    cr_expect_eq(**owners->get(*id), 7);
    cr_assert(wides->emplace(*id));
    cr_expect_eq(reinterpret_cast<uintptr_t>(wides->get(*id)) % 64, 0);
}

Test(cpp_side, visits_may_count_or_stop)
{
    auto ships = open_ships();
    auto points = haft::side<point, ship>::open(ships);
    int sum = 0;

    for (int i = 0; i < 10; i++) {
        const auto id = ships.emplace(i);

        if (i % 2 == 0) {
            cr_assert(points->emplace(*id, 1.0 * i, 0.0));
        }
    }
    cr_expect_eq(points->for_each([&](haft::id<ship> id, ship &object, point &at) {
        cr_assert_eq(ships.resolve(id), &object);
        sum += object.number + static_cast<int>(at.x);
    }),
                 5);
    cr_expect_eq(sum, 40);
    cr_expect_eq(points->for_each([](auto, ship &object, point &) { return object.number < 4; }),
                 3);
}

static int visited;

static void visit_one(haft::id<ship>, ship &, point &)
{
    visited++;
}

Test(cpp_side, a_plain_function_visits)
{
    auto ships = haft::local<ship>::open(10);
    auto points = haft::side<point, ship>::open(*ships);

    cr_assert(points->emplace(*ships->emplace(1), 1.0, 2.0));
    cr_expect_eq(points->for_each(visit_one), 1);
    cr_expect_eq(visited, 1);
}

Test(cpp_side, what_a_visitor_throws_ends_the_walk)
{
    auto ships = haft::local<ship>::open(10);
    auto points = haft::side<point, ship>::open(*ships);
    int visits = 0;
    const auto visit = [&](haft::id<ship>, ship &, point &) {
        visits++;
        throw 7;
    };

    for (int i = 0; i < 3; i++) {
        cr_assert(points->emplace(*ships->emplace(i), 1.0, 2.0));
    }
    cr_expect_throw(points->for_each(visit), int);
    cr_expect_eq(visits, 1);
    cr_expect(points->remove((*ships->begin()).id));
}

Test(cpp_side, a_shared_table_has_sides_of_plain_values)
{
    auto domain = haft::domain::open(HAFT_CLOCK_CALLER, haft_urcu_memb());
    auto ships = haft::table<ship>::open(*domain, 100);
    {
        auto points = haft::side<point, ship>::open(*ships);
        auto worker = ships->open_worker();
        const auto id = worker->emplace(1);

        cr_assert(points);
        {
            haft::registered_thread registered(*domain);
            haft::read_section section(*domain);

            cr_assert(ships->resolve(*id) != nullptr);
            cr_assert(points->emplace(*id, 3.0, 4.0));
            cr_expect_eq(points->emplace(*id, 3.0, 4.0).status(), HAFT_OCCUPIED);
            cr_expect_eq(points->get(*id)->x, 3.0);
            cr_expect_eq(points->find(*id), points->get(*id));
        }
        worker->close();
        cr_expect_eq(ships->close(), HAFT_IN_USE);
    }
    cr_expect_eq(ships->close(), HAFT_OK);
}

Test(cpp_side, one_that_was_given_up_may_be_closed_and_assigned)
{
    auto ships = open_ships();
    haft::side<point, ship> points;

    cr_expect(not points);
    points.close();
    points = std::move(*haft::side<point, ship>::open(ships));
    cr_expect(bool(points));
    points.close();
    cr_expect(not points);
    points = std::move(*haft::side<point, ship>::open(ships));
}
