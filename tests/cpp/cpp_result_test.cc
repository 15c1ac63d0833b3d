/* haft::result: a value, or why there is none. */
#include "tests/cpp/counted.hpp"
#include <csignal>
#include <memory>

TestSuite(cpp_result, .timeout = SUITE_SECONDS);

Test(cpp_result, has_a_value_or_a_status)
{
    haft::result<int> some = 7;
    haft::result<int> none = HAFT_FULL;

    cr_expect(some && some.has_value());
    expect_status(some.status(), HAFT_OK);
    cr_expect_eq(*some, 7);
    cr_expect_not(none || none.has_value());
    expect_status(none.status(), HAFT_FULL);
    expect_status(none.error(), HAFT_FULL);
    cr_expect_eq(std::move(none).value_or(3), 3);
    cr_expect_eq(std::move(some).value_or(3), 7);
}

Test(cpp_result, gives_its_value_by_reference_or_away)
{
    haft::result<std::unique_ptr<int>> some = std::make_unique<int>(7);
    const auto &constant = some;

    *some.value() += 1;
    cr_expect_eq(*constant.value(), 8);
    const std::unique_ptr<int> taken = std::move(some).value();

    cr_expect_eq(*taken, 8);
    cr_expect_null(*some);
}

/* By an assert: with NDEBUG there is none to see. */
#ifdef NDEBUG
#define AS_AN_ASSERTION() std::raise(SIGABRT)
#else
#define AS_AN_ASSERTION() (void)0
#endif

Test(cpp_result, dereferenced_without_a_value_aborts, .signal = SIGABRT)
{
    AS_AN_ASSERTION();
    haft::result<int> none = HAFT_FULL;

    (void)*none;
}

Test(cpp_result, a_member_without_a_value_aborts, .signal = SIGABRT)
{
    AS_AN_ASSERTION();
    const auto table = haft::local<int>::open(0);

    (void)table->count();
}

Test(cpp_result, an_error_beside_a_value_aborts, .signal = SIGABRT)
{
    AS_AN_ASSERTION();
    const haft::result<int> some = 7;

    (void)some.error();
}
