/*
 * haft/detail/local.hpp - haft::local<T>: the handle table of one thread (haft/local.h), of C++
 * objects.
 *
 * Objects are made in their slots by emplace() and destroyed there: when they are freed, cleared,
 * or the table ends; each once.  Their addresses stay.  The destructor runs when the id is stale
 * already, and may call what on_destroy may.
 *
 * Each function is one call of the haft_local_ function of its name, whose contract holds.  What
 * can fail says so by its result: no function throws, but for what a constructor of T throws, and
 * then nothing has changed but that a reservation came and went.
 */
#ifndef HAFT_DETAIL_LOCAL_HPP
#define HAFT_DETAIL_LOCAL_HPP

#include <haft/detail/result.hpp>
#include <haft/detail/typed_local.h>
#include <haft/detail/view.hpp>
#include <haft/diagnose.h>

namespace haft
{

/*
 * One that was moved from, or has been closed, is empty, as is a new one: it may be tested,
 * assigned to, closed and destroyed, and nothing else.
 */
template <class T, pins P = pins::no> class local
{
  public:
    using object_type = T;
    using id_type = haft::id<T>;
    using view_type = haft::view<T, P>;
    using scan_type = haft::scan<T, haft_run>;

    local() noexcept = default;
    local(local &&other) noexcept
        : local_(std::exchange(other.local_, nullptr)),
          view_(std::exchange(other.view_, view_type()))
    {
    }
    local &operator=(local &&other) noexcept
    {
        local moved(std::move(other));

        std::swap(local_, moved.local_);
        std::swap(view_, moved.view_);
        return *this;
    }
    ~local() { close(); }

    /*
     * haft_local_open() with T's size, alignment and pins, which may be left 0 in `options`; where
     * they are not T's: HAFT_BAD_OBJECT_SIZE, HAFT_BAD_OBJECT_ALIGNMENT, HAFT_BAD_PINS.
     * on_destroy is ~T()'s place where that does something, and is NULL then.
     */
    static result<local> open(const haft_local_options &options) noexcept
    {
        haft_local *opened;

        assert(!has_destructor || options.on_destroy == nullptr);
        const haft_status status =
            haft_local_open_typed(detail::type_of<T, P>(), &options, &opened);
        return status == HAFT_OK ? result<local>(own(opened)) : status;
    }
    static result<local> open(uint64_t capacity) noexcept
    {
        haft_local_options options = {};

        options.capacity = capacity;
        return open(options);
    }

    /*
     * Takes over a table of such objects that was opened elsewhere, or given up by release(): from
     * now on ~T() is its on_destroy, unless it does nothing.  HAFT_WRONG_TYPE, with `table`
     * untouched, if its objects are not of T's size, alignment and pins.
     */
    static result<local> adopt(haft_local *table) noexcept
    {
        const haft_status status = haft_local_fits(table, detail::type_of<T, P>());

        return status == HAFT_OK ? result<local>(own(table)) : status;
    }
    /* The C table, which the caller closes from now on; ~T() stays its on_destroy. */
    haft_local *release() noexcept
    {
        view_ = view_type();
        return std::exchange(local_, nullptr);
    }

    void close() noexcept
    {
        if (local_ != nullptr) {
            haft_local_close(release());
        }
    }
    explicit operator bool() const noexcept { return local_ != nullptr; }

    /* A T made of `args`.  Fails as haft_local_reserve(); then no constructor has run. */
    template <class... Args> result<id_type> emplace(Args &&...args)
    {
        haft_id id;
        void *bytes;
        const haft_status status = haft_local_reserve(local_, &id, &bytes);

        if (status != HAFT_OK) {
            return status;
        }
        detail::reservation reserved([this, id] { haft_local_abort(local_, id); });
        detail::construct<T>(bytes, std::forward<Args>(args)...);
        reserved.keep();
        haft_local_publish(local_, id);
        return id_type(id);
    }

    haft_status free(id_type id) noexcept
    {
        return haft_local_free_front(local_, view_.untyped(), id.untyped());
    }
    void clear() noexcept { haft_local_clear(local_); }

    T *resolve(id_type id) const noexcept { return view_.resolve(id); }
    /* NULL only where on_bad_access returns. */
    T *require(id_type id) const
    {
        return static_cast<T *>(haft_local_require(local_, view_.untyped(), id.untyped()));
    }
    bool is_live(id_type id) const noexcept { return view_.is_live(id); }
    haft_status diagnose(id_type id) const noexcept
    {
        return haft_local_diagnose(local_, id.untyped());
    }
    view_type view() const noexcept { return view_; }

    /*
     * The objects that are live when the loop comes to them: `for (auto [id, ship] : ships)`.  One
     * that is inserted meanwhile may or may not be met.
     */
    scan_type scan() const noexcept
    {
        return scan_type(haft_run_over(view_.untyped(), haft_local_used_range(local_)));
    }
    typename scan_type::iterator begin() const noexcept { return scan().begin(); }
    typename scan_type::end_mark end() const noexcept { return {}; }

    uint64_t count() const noexcept { return haft_local_count(local_); }
    bool is_empty() const noexcept { return haft_local_is_empty(local_); }
    uint64_t available() const noexcept { return haft_local_available(local_); }
    haft_status reserve_capacity(uint64_t count) noexcept
    {
        return haft_local_reserve_capacity(local_, count);
    }

    /* For what has no function here: trimming, restoring, names. */
    haft_local *untyped() const noexcept { return local_; }

  private:
    static constexpr bool has_destructor = !std::is_trivially_destructible_v<T>;

    static void destroy(void *object, haft_id, void *) noexcept
    {
        std::destroy_at(static_cast<T *>(object));
    }
    static local own(haft_local *table) noexcept
    {
        local owner;

        if constexpr (has_destructor) {
            haft_local_set_destroy(table, destroy, nullptr);
        }
        owner.local_ = table;
        owner.view_ = view_type(haft_local_view(table));
        return owner;
    }

    haft_local *local_ = nullptr;
    view_type view_;
};

} // namespace haft

#endif // HAFT_DETAIL_LOCAL_HPP
