/*
 * tests/cpp/counted_shared.hpp - shared tables of counted objects.
 */
#ifndef HAFT_TESTS_COUNTED_SHARED_HPP
#define HAFT_TESTS_COUNTED_SHARED_HPP

#include "tests/cpp/counted.hpp"
#include <haft/urcu.h>

using pinned = haft::table<counted, haft::pins::yes>;

inline haft::domain frames()
{
    auto domain = haft::domain::open(HAFT_CLOCK_FRAME);

    cr_assert(domain);
    return std::move(*domain);
}

inline haft::domain callers()
{
    auto domain = haft::domain::open(HAFT_CLOCK_CALLER, haft_urcu_memb());

    cr_assert(domain);
    return std::move(*domain);
}

template <class Table = haft::table<counted>>
inline Table opened(const haft::domain &domain, uint64_t capacity = 1000)
{
    auto made = Table::open(domain, capacity);

    cr_assert(made);
    return std::move(*made);
}

/* Until freed objects have been reclaimed. */
template <class T, haft::pins P>
inline void next_frame(const haft::domain &domain, haft::worker_ref<T, P> worker)
{
    expect_status(worker.flush(), HAFT_OK);
    expect_status(domain.tick(), HAFT_OK);
    expect_status(worker.quiescent(), HAFT_OK);
}

#endif // HAFT_TESTS_COUNTED_SHARED_HPP
