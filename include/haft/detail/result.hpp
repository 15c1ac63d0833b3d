/*
 * haft/detail/result.hpp - what C++ functions of haft answer that can fail: a value, or why there
 * is none.
 *
 *   if (auto id = ships.emplace(7)) { use(*id); } else { log(haft_status_text(id.status())); }
 */
#ifndef HAFT_DETAIL_RESULT_HPP
#define HAFT_DETAIL_RESULT_HPP

#include <cassert>
#include <haft/status.h>
#include <optional>
#include <type_traits>
#include <utility>

namespace haft
{

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
    haft_status status() const noexcept { return status_; }

    /* Only where there is a value. */
    V &operator*() &noexcept { return *value_; }
    const V &operator*() const &noexcept { return *value_; }
    V &&operator*() &&noexcept { return std::move(*value_); }
    V *operator->() noexcept { return &*value_; }
    const V *operator->() const noexcept { return &*value_; }

    /* The value, or `other` where there is none. */
    V value_or(V other) &&noexcept { return value_ ? std::move(*value_) : std::move(other); }

  private:
    std::optional<V> value_;
    haft_status status_ = HAFT_OK;
};

} // namespace haft

#endif // HAFT_DETAIL_RESULT_HPP
