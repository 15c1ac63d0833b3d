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
#include <haft/kit/detail/history.hpp>

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

    /*
     * haft_local_open() with T's size, alignment and pins, which may be left 0 in `options`; where
     * they are not T's: HAFT_BAD_OBJECT_SIZE, HAFT_BAD_OBJECT_ALIGNMENT, HAFT_BAD_PINS.
     * on_destroy is ~T()'s place where that does something, and is NULL then.
     */
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

    /*
     * A T made of `args` under an id chosen elsewhere.  Fails as haft_local_restore(); then, and
     * where a constructor throws, nothing has changed: it can be restored again.  A T whose
     * constructor may throw is made first, and moved to its slot; one that cannot be moved is made
     * there, and where its constructor throws, the id is stale.
     */
    template <class... Args> haft_status restore(id_type id, Args &&...args)
    {
        if constexpr (detail::constructs_nothrow<T, Args...>() || !detail::moves_nothrow<T>) {
            return restore_by(
                id, [&](void *bytes) { detail::construct<T>(bytes, std::forward<Args>(args)...); });
        } else {
            T made = detail::make<T>(std::forward<Args>(args)...);

            return restore_by(id, [&](void *bytes) noexcept { ::new (bytes) T(std::move(made)); });
        }
    }
    haft_status restore_free(id_type next) noexcept
    {
        return haft_local_restore_free(handle_.get(), next.untyped());
    }
    /* Before and after many calls of restore() and restore_free(). */
    void load_begin() noexcept { haft_local_load_begin(handle_.get()); }
    void load_end() noexcept { haft_local_load_end(handle_.get()); }

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

    /*
     * haft_local_for_each_slot() - calls visit(id, object) for each slot ever used: `object` is
     * NULL for a slot without an object, whose id is for restore_free().  If it returns a bool,
     * false ends the walk.
     */
    template <class Visit> uint64_t for_each_slot(Visit &&visit) const
    {
        detail::carried<std::remove_reference_t<Visit>> visiting(visit);
        const uint64_t calls = haft_local_for_each_slot(
            handle_.get(), visit_slot<decltype(visiting)>, std::addressof(visiting));

        visiting.rethrow();
        return calls;
    }

    /* haft_local_id_at(): `id` is untouched where the index is out of range. */
    haft_status id_at(uint64_t index, id_type &id) const noexcept
    {
        haft_id found = id.untyped();
        const haft_status status = haft_local_id_at(handle_.get(), index, &found);

        id = id_type(found);
        return status;
    }
    haft_local_stats stats() const noexcept { return haft_local_stats_get(handle_.get()); }

    /*
     * haft_local_clone(), with objects that are made by T's copy constructor, which frees none of
     * this table's; where one throws, no clone is there.
     */
    result<local> clone() const
    {
        haft_local *copy;
        const haft_status status = haft_local_clone(handle_.get(), &copy);

        if (status != HAFT_OK) {
            return status;
        }
        if constexpr (!std::is_trivially_copyable_v<T>) {
            copy = detail::unfinished_clone<T>(handle_.get(), copy).finish();
        }
        return own(copy);
    }

    /* haft/kit/snapshot.h; for trivially copyable objects.  snapshot() gives the number. */
    result<uint64_t> snapshot(history &in) const noexcept
    {
        detail::check_goes_back<T>();
        uint64_t number;
        const haft_status status = haft_local_snapshot(handle_.get(), in.untyped(), &number);

        return status == HAFT_OK ? result<uint64_t>(number) : status;
    }
    haft_status rewind(history &in, uint64_t number) noexcept
    {
        detail::check_goes_back<T>();
        return haft_local_rewind(handle_.get(), in.untyped(), number);
    }
    haft_status save(haft_file &file) const noexcept
    {
        detail::check_goes_back<T>();
        return haft_local_save(handle_.get(), &file);
    }
    haft_status load(haft_file &file) noexcept
    {
        detail::check_goes_back<T>();
        return haft_local_load(handle_.get(), &file);
    }

    uint64_t count() const noexcept { return haft_local_count(handle_.get()); }
    bool is_empty() const noexcept { return haft_local_is_empty(handle_.get()); }
    uint64_t available() const noexcept { return haft_local_available(handle_.get()); }
    haft_status reserve_capacity(uint64_t count) noexcept
    {
        return haft_local_reserve_capacity(handle_.get(), count);
    }

  private:
    template <class Construct> haft_status restore_by(id_type id, Construct construct)
    {
        void *bytes;
        const haft_status status = haft_local_reserve_at(handle_.get(), id.untyped(), &bytes);

        if (status == HAFT_OK) {
            detail::reservation reserved([&] { haft_local_abort(handle_.get(), id.untyped()); });

            construct(bytes);
            reserved.keep();
            haft_local_publish(handle_.get(), id.untyped());
        }
        return status;
    }

    template <class Visiting> static bool visit_slot(haft_id id, void *object, void *arg) noexcept
    {
        return static_cast<Visiting *>(arg)->call(false, id_type(id), static_cast<T *>(object));
    }

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
