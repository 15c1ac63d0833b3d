/*
 * haft/detail/local.hpp - haft::local<T>: the handle table of one thread (haft/local.h), of C++
 * objects.
 *
 * Objects are made in their slots by emplace() and destroyed there: when they are freed, cleared,
 * or the table ends; each once.  Their addresses stay.  The destructor runs when the id is stale
 * already, and may call what on_destroy may.
 *
 * Each function is one call of the haft_local_ function of its name, whose contract holds.  What
 * can fail says so by its result.  A constructor of T may throw, and then nothing has changed but
 * that a reservation came and went; so may a visitor, and then the walk has ended.
 */
#ifndef HAFT_DETAIL_LOCAL_HPP
#define HAFT_DETAIL_LOCAL_HPP

#include <haft/detail/owner.hpp>
#include <haft/detail/typed_local.h>
#include <haft/diagnose.h>

namespace haft
{

template <class T, pins P = pins::no>
class local : public detail::slot_owner<T, P, haft_local, detail::closer<haft_local_close>>
{
    using base = detail::slot_owner<T, P, haft_local, detail::closer<haft_local_close>>;
    using base::handle_;
    using base::view_;

  public:
    using typename base::id_type;
    using typename base::view_type;
    using scan_type = haft::scan<T, haft_run>;
    using backward_scan_type = haft::scan<T, detail::backward_run>;

    local() noexcept = default;

    static result<local> open(const haft_local_options &options) noexcept
    {
        haft_local *opened;

        assert(!detail::has_destructor<T> || options.on_destroy == nullptr);
        const haft_status status =
            haft_local_open_typed(detail::type_of<T, P>(), &options, &opened);
        return status == HAFT_OK ? result<local>(own(opened)) : status;
    }
    static result<local> open(uint64_t capacity) noexcept
    {
        return open(detail::with_capacity<haft_local_options>(capacity));
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
    haft_local *release() noexcept { return handle_.release(); }
    void close() noexcept { this->end_owned(); }

    /* A T made of `args`.  Fails as haft_local_reserve(); then no constructor has run. */
    template <class... Args> result<id_type> emplace(Args &&...args)
    {
        return detail::emplace<T>(haft_local_reserve, haft_local_abort, haft_local_publish,
                                  handle_.get(), std::forward<Args>(args)...);
    }

    /* The same, and T's constructor gets the object's own id before `args`. */
    template <class... Args> result<id_type> emplace_with_id(Args &&...args)
    {
        return detail::emplace<T, true>(haft_local_reserve, haft_local_abort, haft_local_publish,
                                        handle_.get(), std::forward<Args>(args)...);
    }

    haft_status free(id_type id) noexcept
    {
        return haft_local_free_front(handle_.get(), view_.untyped(), id.untyped());
    }
    /* free(), after the object has been moved out: HAFT_OK or why there is none. */
    result<T> take(id_type id)
    {
        static_assert(detail::moves_nothrow<T>, "an object that is taken is moved out of its slot");
        T *object = this->resolve(id);

        if (object == nullptr) {
            return diagnose(id);
        }
        result<T> taken(std::move(*object));

        free(id);
        return taken;
    }
    haft_status clear() noexcept { return haft_local_clear(handle_.get()); }

    /* NULL only where on_bad_access returns. */
    T *require(id_type id) const
    {
        return static_cast<T *>(haft_local_require(handle_.get(), view_.untyped(), id.untyped()));
    }
    haft_status diagnose(id_type id) const noexcept
    {
        return haft_local_diagnose(handle_.get(), id.untyped());
    }
    /* haft_local_explain(); of an id haft_local_diagnose_format(). */
    std::string explain(haft_status status) const
    {
        return detail::line_of([&](char *text, std::size_t size) {
            return haft_local_explain(handle_.get(), status, text, size);
        });
    }
    std::string explain(id_type id) const
    {
        return detail::line_of([&](char *text, std::size_t size) {
            return haft_local_diagnose_format(handle_.get(), id.untyped(), text, size);
        });
    }

    /*
     * The objects that are live when the loop comes to them: `for (auto [id, ship] : ships)`.  One
     * that is inserted meanwhile may or may not be met.
     */
    scan_type scan() const noexcept
    {
        return scan_type(haft_run_over(view_.untyped(), haft_local_used_range(handle_.get())));
    }
    /* As scan(), from the highest index to the lowest. */
    backward_scan_type backwards() const noexcept
    {
        return backward_scan_type(
            {haft_run_over(view_.untyped(), haft_local_used_range(handle_.get()))});
    }
    typename scan_type::iterator begin() const noexcept { return scan().begin(); }
    typename scan_type::end_mark end() const noexcept { return {}; }

    /* haft_local_id_at(): `id` is untouched where the index is out of range. */
    haft_status id_at(uint64_t index, id_type &id) const noexcept
    {
        haft_id found = id.untyped();
        const haft_status status = haft_local_id_at(handle_.get(), index, &found);

        id = id_type(found);
        return status;
    }
    haft_local_stats stats() const noexcept { return haft_local_stats_get(handle_.get()); }

    uint64_t count() const noexcept { return haft_local_count(handle_.get()); }
    bool is_empty() const noexcept { return count() == 0; }
    uint64_t available() const noexcept { return haft_local_available(handle_.get()); }
    haft_status reserve_capacity(uint64_t count) noexcept
    {
        return haft_local_reserve_capacity(handle_.get(), count);
    }

  private:
    explicit local(haft_local *table) noexcept : base(table, haft_local_view(table)) {}
    static local own(haft_local *table) noexcept
    {
        if constexpr (detail::has_destructor<T>) {
            haft_local_set_destroy(table, detail::destroy<T, void *>, nullptr);
        }
        return local(table);
    }
};

} // namespace haft

#endif // HAFT_DETAIL_LOCAL_HPP
