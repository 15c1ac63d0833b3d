/*
 * haft/detail/result.hpp - what C++ functions of haft answer that can fail: a value, or why there
 * is none.
 *
 *   if (auto id = ships.emplace(7)) { use(*id); } else { log(haft_status_text(id.status())); }
 */
#ifndef HAFT_DETAIL_RESULT_HPP
#define HAFT_DETAIL_RESULT_HPP

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <haft/status.h>
#include <optional>
#include <type_traits>
#include <utility>

namespace haft
{

namespace detail
{

/* A line on stderr: what has failed, and why. */
inline void complain(const char *subject, const char *what, haft_status why,
                     const char *text) noexcept
{
    std::fprintf(stderr, "haft: %s %s: %s (%s)\n", subject, what, text, haft_status_name(why));
}

} // namespace detail

/*
 * result - a V, or a status that is not HAFT_OK.  Moved-from, it holds a moved-from value.
 *
 * All functions: any thread, no ordering, wait-free, O(1).
 */
template <class V> class [[nodiscard]] result
{
  public:
    result(haft_status why) noexcept : status_(why) { assert(why != HAFT_OK); }
    result(const V &value) noexcept(std::is_nothrow_copy_constructible_v<V>) : value_(value) {}
    result(V &&value) noexcept : value_(std::move(value)) {}

    explicit operator bool() const noexcept { return value_.has_value(); }
    bool has_value() const noexcept { return value_.has_value(); }
    /* HAFT_OK where there is a value. */
    haft_status status() const noexcept { return status_; }

    /* Only where there is a value: otherwise debug builds say the status on stderr, and abort. */
    V &operator*() &noexcept { return *checked(*this); }
    const V &operator*() const &noexcept { return *checked(*this); }
    V &&operator*() &&noexcept { return std::move(*checked(*this)); }
    V *operator->() noexcept { return checked(*this); }
    const V *operator->() const noexcept { return checked(*this); }

    /* The same, and release builds do so too. */
    V &value() &noexcept { return *expected(*this); }
    const V &value() const &noexcept { return *expected(*this); }
    V &&value() &&noexcept { return std::move(*expected(*this)); }

    /* Only where there is no value. */
    haft_status error() const noexcept
    {
        assert(!has_value() && "a result with a value has no error: see status()");
        return status_;
    }

    /* The value, or `other` where there is none. */
    V value_or(V other) &&noexcept { return value_ ? std::move(*value_) : std::move(other); }

  private:
    template <class Result> static auto *expected(Result &from) noexcept
    {
        if (!from.value_.has_value()) {
            detail::complain("a haft::result", "has no value to use", from.status_,
                             haft_status_text(from.status_));
            std::abort();
        }
        return &*from.value_;
    }
    template <class Result> static auto *checked(Result &from) noexcept
    {
#ifdef NDEBUG
        return &*from.value_;
#else
        return expected(from);
#endif
    }

    std::optional<V> value_;
    haft_status status_ = HAFT_OK;
};

} // namespace haft

#endif // HAFT_DETAIL_RESULT_HPP
