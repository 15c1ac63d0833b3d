/* haft::domain, and what a thread does with it: sections, registering, going offline. */
#include "tests/cpp/counted_shared.hpp"
#include <chrono>
#include <filesystem>
#include <future>
#include <haft/urcu.h>
#include <thread>

TestSuite(cpp_domain, .timeout = SUITE_SECONDS);

/* --- lives --- */

/* Of this process: a domain with the thread clock has one. */
static long threads()
{
    const std::filesystem::directory_iterator tasks("/proc/self/task");

    return std::distance(begin(tasks), end(tasks));
}

/* The system lists a thread for a while after it was joined. */
static bool threads_become(long count)
{
    for (int i = 0; i < 10000 && threads() != count; i++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return threads() == count;
}

static haft::result<haft::domain> with_a_thread()
{
    return haft::domain::open(HAFT_CLOCK_THREAD, haft_urcu_memb());
}

Test(cpp_domain, opened_with_the_clock_that_was_named)
{
    const long before = threads();
    const haft::domain domain = callers();

    cr_expect_eq(threads(), before);
    cr_expect_eq(with_a_thread().status(), HAFT_OK);
    const auto driven = with_a_thread();
    cr_expect(threads_become(before + 1));
    expect_status(haft::domain::open(HAFT_CLOCK_COUNT).status(), HAFT_BAD_CLOCK);
    expect_status(frames().tick(), HAFT_OK);
    expect_status(domain.tick(), HAFT_WRONG_CLOCK);
}

Test(cpp_domain, closed_at_the_end_of_its_scope)
{
    const long before = threads();
    {
        const auto domain = with_a_thread();

        cr_expect_eq(threads(), before + 1);
    }
    cr_expect(threads_become(before));
}

Test(cpp_domain, assignment_ends_the_domain_that_was_there)
{
    const long before = threads();
    auto first = with_a_thread();
    auto second = with_a_thread();

    cr_assert_eq(threads(), before + 2);
    *first = std::move(*second);
    cr_expect(threads_become(before + 1));
    cr_expect(*first);
    cr_expect_not(*second);
    *first = haft::domain();
    cr_expect(threads_become(before));
}

Test(cpp_domain, closing_a_domain_with_a_table_is_refused)
{
    haft::domain domain = frames();
    auto numbers = opened(domain);

    expect_status(domain.close(), HAFT_IN_USE);
    cr_expect(domain);
    expect_status(numbers.close(), HAFT_OK);
    expect_status(domain.close(), HAFT_OK);
    cr_expect_not(domain);
    expect_status(domain.close(), HAFT_OK);
}

/* --- sections --- */

Test(cpp_domain, section_lasts_to_the_end_of_its_scope)
{
    const haft::domain domain = callers();
    const haft::registered_thread registered(domain);
    {
        const haft::read_section outer(domain);
        {
            const haft::read_section inner(domain);
        }
        expect_status(domain.wait(), HAFT_IN_SECTION);
    }
    expect_status(domain.wait(), HAFT_OK);
}

Test(cpp_domain, jobs_nest_and_park_to_the_end_of_their_scopes)
{
    const haft::domain domain = callers();
    const haft::registered_thread registered(domain);
    const haft::job outer(domain);
    {
        const haft::job inner(domain);

        expect_status(domain.wait(), HAFT_IN_SECTION);
        {
            const haft::parked parked(domain);
            const haft::job anew(domain);

            expect_status(domain.wait(), HAFT_OK);
        }
        expect_status(domain.wait(), HAFT_IN_SECTION);
    }
    expect_status(domain.wait(), HAFT_OK);
}

Test(cpp_domain, without_a_clock_has_the_workers_clock)
{
    expect_status(haft::domain::open()->tick(), HAFT_WRONG_CLOCK);
    expect_status(haft::domain::open()->wait(), HAFT_OK);
}

/* With the workers clock: an object of a table, and the worker of the thread that frees it. */
struct stage {
    haft::result<haft::domain> domain = haft::domain::open(HAFT_CLOCK_WORKERS);
    haft::table<counted> numbers = opened(*domain);
    haft::result<haft::worker<counted>> worker = numbers.open_worker();
    haft::id<counted> id = *worker->emplace(7);

    void free_it()
    {
        expect_status(worker->free(id), HAFT_OK);
        expect_status(worker->flush(), HAFT_OK);
    }

    void expect_grace_period_ends()
    {
        expect_status(domain->wait(), HAFT_OK);
        cr_expect_eq(domain->stats().backlog, 0);
    }
};

Test(cpp_domain, thread_that_is_offline_is_not_waited_for)
{
    stage stage;
    std::promise<void> is_offline;
    std::promise<void> done;

    std::thread other([&] {
        auto own = stage.numbers.open_worker();
        {
            const haft::offline while_waiting(*stage.domain);

            is_offline.set_value();
            done.get_future().wait();
        }
        own->quiescent();
    });
    is_offline.get_future().wait();
    stage.free_it();
    stage.expect_grace_period_ends();
    done.set_value();
    other.join();
}

Test(cpp_domain, quiescent_point_lets_grace_periods_end)
{
    stage stage;
    std::promise<void> is_open;
    std::promise<void> go_on;
    std::promise<void> is_quiescent;
    std::promise<void> done;

    std::thread other([&] {
        auto own = stage.numbers.open_worker();

        is_open.set_value();
        go_on.get_future().wait();
        own->quiescent();
        is_quiescent.set_value();
        done.get_future().wait();
    });
    is_open.get_future().wait();
    stage.free_it();
    stage.worker->quiescent();
    cr_expect_eq(stage.domain->stats().backlog, 1);
    go_on.set_value();
    is_quiescent.get_future().wait();
    stage.expect_grace_period_ends();
    done.set_value();
    other.join();
}
