/* What release builds say where debug builds assert. */
#define NDEBUG
#include "tests/cpp/counted.hpp"
#include <criterion/redirect.h>
#include <csignal>
#include <cstdio>

TestSuite(cpp_release, .timeout = SUITE_SECONDS);

#define CANNOT_BE_CLOSED(owner, why, status)                                                       \
    ("haft: " owner " ends and cannot be closed: " + std::string(why) + " (" #status ")\n")

static void expect_said(const std::string &lines)
{
    std::fflush(stderr);
    cr_expect_stderr_eq_str(lines.c_str());
}

/* Ends in the wrong order: the domain first. */
struct world {
    haft::table<counted> table;
    haft::domain domain;
};

Test(cpp_release, a_domain_that_ends_before_its_table_stays_open_and_says_so)
{
    cr_redirect_stderr();
    haft_domain *left;
    {
        world all;

        all.domain = *haft::domain::open();
        all.table = *haft::table<counted>::open(all.domain, 10);
        left = all.domain.untyped();
    }
    expect_said(CANNOT_BE_CLOSED("a haft::domain", haft_status_text(HAFT_IN_USE), HAFT_IN_USE));
    expect_status(haft_domain_close(left), HAFT_OK);
}

Test(cpp_release, a_table_that_ends_before_its_worker_stays_open_and_says_so)
{
    cr_redirect_stderr();
    auto domain = haft::domain::open();
    auto table = haft::table<counted>::open(*domain, 10);
    auto worker = table->open_worker();
    haft_table *left = table->untyped();

    cr_assert(worker->emplace(1));
    *table = haft::table<counted>();
    expect_said(CANNOT_BE_CLOSED("a haft::table", "table: in use: 1 worker open", HAFT_IN_USE));
    cr_expect_eq(counted::live(), 1);
    expect_status(worker->close(), HAFT_OK);
    expect_status(haft_table_close(left), HAFT_OK);
}

Test(cpp_release, a_counted_table_that_ends_before_its_holder_stays_open_and_says_so)
{
    cr_redirect_stderr();
    auto numbers = haft::counted<counted>::open(10);
    auto held = numbers->acquire(*numbers->emplace(7));
    haft_counted *left = numbers->untyped();

    *numbers = haft::counted<counted>();
    expect_said(CANNOT_BE_CLOSED(
        "a haft::counted",
        "counted table: in use: 1 object freed and still held or being destroyed", HAFT_IN_USE));
    cr_expect_eq(held->number, 7);
    held.reset();
    cr_expect_eq(counted::live(), 0);
    expect_status(haft_counted_close(left), HAFT_OK);
}

/* Its destructor ends a worker, which a callback may not. */
struct closing {
    ~closing() { haft::worker<closing> ends = std::move(*worker); }
    haft::worker<closing> *worker;
};

Test(cpp_release, a_worker_that_ends_in_a_callback_stays_open_and_says_so)
{
    cr_redirect_stderr();
    auto domain = haft::domain::open();
    auto table = haft::table<closing>::open(*domain, 10);
    auto worker = table->open_worker();
    haft_worker *left = worker->untyped();
    const auto id = worker->emplace(&*worker);

    expect_status(worker->free(*id), HAFT_OK);
    for (int i = 0; i < 1000000 && *worker; i++) {
        haft_worker_quiescent(left);
    }
    cr_expect_not(*worker);
    expect_said(
        CANNOT_BE_CLOSED("a haft::worker", haft_status_text(HAFT_IN_CALLBACK), HAFT_IN_CALLBACK));
    expect_status(haft_worker_close(left), HAFT_OK);
}

Test(cpp_release, the_value_of_a_failed_call_aborts, .signal = SIGABRT)
{
    haft::result<int> none = HAFT_FULL;

    (void)none.value();
}
