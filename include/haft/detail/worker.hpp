/*
 * haft/detail/worker.hpp - haft::worker<T>: a thread's own part of a haft::table<T> (haft/table.h).
 *
 * Each function is one call of the function of its name in haft/table.h or haft/share.h, whose
 * contract holds.  Only a constructor of T throws, and then the reservation has been given up.
 */
#ifndef HAFT_DETAIL_WORKER_HPP
#define HAFT_DETAIL_WORKER_HPP

#include <haft/detail/owner.hpp>
#include <haft/detail/table_front.h>
#include <haft/share.h>
#include <haft/table.h>

namespace haft
{

namespace detail
{

/* The view of the worker's table; empty, so that nothing is freed in place, if the library is of
 * another version than these headers, or slots lie otherwise. */
template <class T, pins P> view<T, P> view_in_place(const haft_worker *worker) noexcept
{
    if (worker == nullptr || !haft_worker_has_front(worker)) {
        return view<T, P>();
    }
    const haft_view found = haft_table_view(haft_worker_table(worker));

    return found.stride == sizeof(slot<T, P>) ? view<T, P>(found) : view<T, P>();
}

} // namespace detail

/* worker_ref - a worker that this object does not close.  A value; for its thread alone. */
template <class T, pins P = pins::no> class worker_ref
{
  public:
    using id_type = haft::id<T>;

    worker_ref() noexcept = default;
    /* Of a table of such objects, which is not looked at. */
    explicit worker_ref(haft_worker *worker) noexcept
        : worker_(worker), view_(detail::view_in_place<T, P>(worker))
    {
    }

    /* A T made of `args`.  Fails as haft_reserve(), and as haft_reserve_wait(). */
    template <class... Args> result<id_type> emplace(Args &&...args) const
    {
        return detail::emplace<T>(haft_reserve, haft_abort, haft_publish, worker_,
                                  std::forward<Args>(args)...);
    }
    template <class... Args> result<id_type> emplace_wait(Args &&...args) const
    {
        return detail::emplace<T>(haft_reserve_wait, haft_abort, haft_publish, worker_,
                                  std::forward<Args>(args)...);
    }

    /* In place, as typed tables do; ~T() runs after the grace period, on the worker that takes the
     * slot back. */
    haft_status free(id_type id) const noexcept
    {
        return haft_free_front(worker_, view_.untyped(), id.untyped());
    }
    std::size_t free_many(const id_type *ids, std::size_t count,
                          haft_status *statuses = nullptr) const noexcept
    {
        return haft_free_many(worker_, haft::untyped(ids), count, statuses);
    }

    haft_status quiescent() const noexcept { return haft_worker_quiescent(worker_); }
    haft_status flush() const noexcept { return haft_worker_flush(worker_); }
    haft_worker *untyped() const noexcept { return worker_; }
    explicit operator bool() const noexcept { return worker_ != nullptr; }

  protected:
    haft_worker *worker_ = nullptr;

  private:
    view<T, P> view_;
};

/*
 * worker - one that is closed at the end of its life, by the thread that opened it: made by
 * haft::table::open_worker().  Moved-from and closed ones are empty.
 *
 * haft_worker_close() refuses in callbacks, and ~T() of an object in a table runs in one.  There
 * use haft::table::free(): a worker that ends there stays open; a line on stderr says so, and debug
 * builds assert.
 */
template <class T, pins P = pins::no> class worker : public worker_ref<T, P>
{
    using base = worker_ref<T, P>;

  public:
    worker() noexcept = default;
    explicit worker(haft_worker *opened) noexcept : base(opened) {}
    worker(worker &&other) noexcept : base(other) { other.worker_ = nullptr; }
    worker &operator=(worker &&other) noexcept
    {
        worker moved(std::move(other));

        std::swap(static_cast<base &>(*this), static_cast<base &>(moved));
        return *this;
    }
    ~worker()
    {
        if (this->worker_ != nullptr) {
            detail::telling_closer<haft_worker_close>()(this->worker_);
        }
    }
    /* haft_worker_close(); where the answer is not HAFT_OK, it stays open.  Empty: HAFT_OK. */
    haft_status close() noexcept
    {
        const haft_status status =
            this->worker_ == nullptr ? HAFT_OK : haft_worker_close(this->worker_);

        if (status == HAFT_OK) {
            this->worker_ = nullptr;
        }
        return status;
    }
};

} // namespace haft

#endif // HAFT_DETAIL_WORKER_HPP
