/* haft::table: scans, pins, hand-over to and from haft::local. */
#include "tests/cpp/counted_shared.hpp"

TestSuite(cpp_share, .timeout = SUITE_SECONDS);

/* --- scans --- */

Test(cpp_share, scan_meets_each_live_object_once_and_may_free_it)
{
    const haft::domain domain = frames();
    auto numbers = opened(domain);
    auto worker = numbers.open_worker();
    int sum = 0;
    int met = 0;

    for (int i = 0; i < 1000; i++) {
        cr_assert(worker->emplace(i));
    }
    for (auto [id, object] : numbers.scan()) {
        cr_expect_eq(numbers.resolve(id), &object);
        sum += object.number;
        if (object.number % 2 == 0) {
            expect_status(worker->free(id), HAFT_OK);
        }
    }
    cr_expect_eq(sum, 999 * 1000 / 2);
    for (auto [id, object] : numbers.scan()) {
        cr_expect_eq(object.number % 2, 1);
        met += !haft::id<counted>(id).is_nil();
    }
    cr_expect_eq(met, 500);
    for (auto [id, object] : numbers.scan(HAFT_RANGE(0, 4))) {
        (void)id, (void)object;
        cr_expect(false);
    }
}

/* --- pins --- */

Test(cpp_share, pinned_object_outlives_its_free_until_the_last_pin_ends)
{
    const haft::domain domain = frames();
    auto numbers = opened<pinned>(domain);
    auto worker = numbers.open_worker();
    const auto id = worker->emplace(7);
    {
        auto held = numbers.pin(*id);

        cr_assert(held);
        cr_expect_eq(held.get(), numbers.resolve(*id));
        haft::pin<counted> also = numbers.pin(*id);
        worker->free(*id);
        next_frame<counted>(domain, *worker);
        cr_expect_not(numbers.pin(*id));
        also.reset();
        cr_expect_not(also);
        also.reset();
        cr_expect_eq(held->number, 7);
        cr_expect_eq((*held).number, 7);
        cr_expect_eq(counted::destroyed, 0);
    }
    worker->close();
    expect_status(numbers.close(), HAFT_OK);
    cr_expect_eq(counted::destroyed, 1);
}

Test(cpp_share, moved_pin_is_given_back_once)
{
    const haft::domain domain = frames();
    auto numbers = opened<pinned>(domain);
    const auto id = numbers.open_worker()->emplace(7);
    haft::pin<counted> first = numbers.pin(*id);
    haft::pin<counted> second = std::move(first);

    cr_expect_not(first);
    cr_expect_eq(second->number, 7);
    cr_expect_eq(haft_pins(numbers.untyped(), id->untyped()), 1);
    expect_status(numbers.close(), HAFT_IN_USE);
    cr_expect_eq(counted::destroyed, 0);
    first = std::move(second);
    cr_expect_eq(haft_pins(numbers.untyped(), id->untyped()), 1);
    first = haft::pin<counted>();
    cr_expect_eq(haft_pins(numbers.untyped(), id->untyped()), 0);
    expect_status(numbers.close(), HAFT_OK);
}

/* --- hand-over --- */

Test(cpp_share, shared_local_table_keeps_ids_and_objects_and_comes_back)
{
    const haft::domain domain = frames();
    auto local = haft::local<counted>::open(100);
    const auto kept = local->emplace(1);
    const auto freed = local->emplace(2);
    const auto view = local->view();
    auto shared = haft::table<counted>::share(std::move(*local), domain);

    cr_assert(shared);
    cr_expect_not(*local);
    cr_expect_eq(shared->resolve(*kept)->number, 1);
    expect_status(shared->free(*freed), HAFT_OK);
    auto back = haft::table<counted>::unshare(std::move(*shared));
    cr_assert(back);
    cr_expect_not(*shared);
    cr_expect_eq(counted::destroyed, 1);
    cr_expect_eq(back->resolve(*kept), view.resolve(*kept));
    cr_assert(back->emplace(3));
    expect_status(back->free(*kept), HAFT_OK);
    cr_expect_eq(counted::destroyed, 2);
    back->close();
    cr_expect_eq(counted::destroyed, 3);
    cr_expect_eq(counted::misplaced, 0);
}

Test(cpp_share, shared_local_table_that_ends_destroys_what_is_live)
{
    const haft::domain domain = frames();
    auto local = haft::local<counted>::open(100);

    cr_assert(local->emplace(1));
    auto shared = haft::table<counted>::share(std::move(*local), domain);
    cr_assert(shared->open_worker()->emplace(2));
    expect_status(shared->close(), HAFT_OK);
    cr_expect_eq(counted::destroyed, 2);
}

Test(cpp_share, table_opened_shared_destroys_objects_when_local)
{
    const haft::domain domain = frames();
    auto numbers = opened(domain);
    const auto id = numbers.open_worker()->emplace(1);

    cr_assert(numbers.open_worker()->emplace(2));
    auto local = haft::table<counted>::unshare(std::move(numbers));
    cr_assert(local);
    expect_status(local->free(*id), HAFT_OK);
    cr_expect_eq(counted::destroyed, 1);
    local->close();
    cr_expect_eq(counted::destroyed, 2);
}

Test(cpp_share, hand_over_that_is_refused_changes_nothing)
{
    const haft::domain domain = frames();
    auto local = haft::local<counted>::open(10);
    haft_id reserved;

    haft_local_reserve(local->untyped(), &reserved, nullptr);
    expect_status(haft::table<counted>::share(std::move(*local), domain).status(), HAFT_IN_USE);
    cr_expect(*local);
    haft_local_abort(local->untyped(), reserved);

    auto numbers = opened(domain);
    auto worker = numbers.open_worker();
    const auto id = worker->emplace(7);
    expect_status(haft::table<counted>::unshare(std::move(numbers)).status(), HAFT_IN_USE);
    cr_expect_eq(numbers.resolve(*id)->number, 7);
}
