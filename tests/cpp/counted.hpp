/*
 * tests/cpp/counted.hpp - an object whose lives are counted: how many were made and destroyed,
 * whether any was destroyed twice or somewhere else than it was made.
 */
#ifndef HAFT_TESTS_COUNTED_HPP
#define HAFT_TESTS_COUNTED_HPP

#include <criterion/criterion.h>
#include <haft/kit/kit.hpp>

#ifndef SUITE_SECONDS
#define SUITE_SECONDS 50
#endif

class counted
{
  public:
    static inline int made = 0;
    static inline int destroyed = 0;
    static inline int misplaced = 0; /* destroyed where it was not made, or twice */

    explicit counted(int value = 0) noexcept : number(value), self_(this) { made++; }
    counted(const counted &) = delete;
    counted &operator=(const counted &) = delete;
    ~counted()
    {
        destroyed++;
        misplaced += self_ != this;
        self_ = nullptr;
    }
    static int live() noexcept { return made - destroyed; }

    int number;

  private:
    counted *self_;
};

/* Its constructor throws where it is asked to. */
struct thrower {
    explicit thrower(bool throws)
    {
        if (throws) {
            throw 7;
        }
    }
    counted life;
};

/* Of a small table whose bad accesses are counted in `calls`. */
template <class Options> Options counting_bad_accesses(int &calls)
{
    Options options = {};

    options.capacity = 10;
    options.on_bad_access = [](const haft_bad_access *, void *arg) { ++*static_cast<int *>(arg); };
    options.report_arg = &calls;
    return options;
}

#define expect_status(actual, expected)                                                            \
    cr_expect_str_eq(haft_status_name(actual), #expected, "%s", haft_status_name(actual))

#endif // HAFT_TESTS_COUNTED_HPP
