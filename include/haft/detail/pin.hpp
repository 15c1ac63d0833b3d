/*
 * haft/detail/pin.hpp - haft::pin<T>: an object held beyond a read section (haft/pin.h), and let go
 * at the end of the pin's life.
 */
#ifndef HAFT_DETAIL_PIN_HPP
#define HAFT_DETAIL_PIN_HPP

#include <cassert>
#include <haft/detail/id.hpp>
#include <haft/pin.h>
#include <utility>

namespace haft
{

/*
 * Made by haft::table::pin().  Empty where the id was stale, and when it was moved from or reset.
 * It ends before its table does, on any thread.  Each is one haft_pin() and one haft_unpin(), whose
 * contracts hold.
 */
template <class T> class pin
{
  public:
    pin() noexcept = default;
    pin(haft_table *table, id<T> id) noexcept
        : table_(table), id_(id), object_(static_cast<T *>(haft_pin(table, id.untyped())))
    {
    }
    pin(pin &&other) noexcept
        : table_(other.table_), id_(other.id_), object_(std::exchange(other.object_, nullptr))
    {
    }
    pin &operator=(pin &&other) noexcept
    {
        pin moved(std::move(other));

        std::swap(table_, moved.table_);
        std::swap(id_, moved.id_);
        std::swap(object_, moved.object_);
        return *this;
    }
    ~pin() { reset(); }

    /* Let go now. */
    void reset() noexcept
    {
        if (std::exchange(object_, nullptr) != nullptr) {
            [[maybe_unused]] const haft_status status = haft_unpin(table_, id_.untyped());

            assert(status == HAFT_OK);
        }
    }

    explicit operator bool() const noexcept { return object_ != nullptr; }
    T *get() const noexcept { return object_; }
    T &operator*() const noexcept { return *object_; }
    T *operator->() const noexcept { return object_; }

  private:
    haft_table *table_ = nullptr;
    id<T> id_;
    T *object_ = nullptr;
};

} // namespace haft

#endif // HAFT_DETAIL_PIN_HPP
