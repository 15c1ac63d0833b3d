/*
 * haft/detail/table.hpp - haft::table<T>: the handle table that all threads share (haft/table.h),
 * of C++ objects.
 *
 * Objects are made in their slots by emplace().  The destructor of one that was freed runs after
 * its grace period, when no thread can be reading it any more, on the worker that takes the slot
 * back; of one that is still live when the table ends, then.  Each runs once.
 *
 * Each function is one call of the function of its name, whose contract holds.  Only a constructor
 * of T throws, and then the reservation has been given up.
 */
#ifndef HAFT_DETAIL_TABLE_HPP
#define HAFT_DETAIL_TABLE_HPP

#include <haft/detail/domain.hpp>
#include <haft/detail/local.hpp>
#include <haft/detail/pin.hpp>
#include <haft/detail/typed_table.h>
#include <haft/detail/worker.hpp>

namespace haft
{

/*
 * The table object itself belongs to one thread, as any other object; what it refers to is for
 * all.  So threads share one by reference, or have the view and a worker each.
 */
template <class T, pins P = pins::no>
class table : public detail::slot_owner<T, P, haft_table, detail::telling_closer<haft_table_close>>
{
    using base = detail::slot_owner<T, P, haft_table, detail::telling_closer<haft_table_close>>;
    using base::handle_;
    using base::view_;

  public:
    using typename base::id_type;
    using typename base::view_type;
    using worker_type = haft::worker<T, P>;
    using worker_ref_type = haft::worker_ref<T, P>;
    using scan_type = haft::scan<T, haft_cursor>;

    table() noexcept = default;

    static result<table> open(const domain &domain, haft_table_options options) noexcept
    {
        haft_table *opened;

        assert(!detail::has_destructor<T> || options.on_reclaim == nullptr);
        if constexpr (detail::has_destructor<T>) {
            options.on_reclaim = detail::destroy<T, haft_worker *, void *>;
        }
        const haft_status status =
            haft_table_open_typed(detail::type_of<T, P>(), domain.untyped(), &options, &opened);
        return status == HAFT_OK ? result<table>(table(opened)) : status;
    }
    static result<table> open(const domain &domain, uint64_t capacity) noexcept
    {
        return open(domain, detail::with_capacity<haft_table_options>(capacity));
    }

    /*
     * haft_table_clear(): all objects end, and none is made any more.  Where objects of several
     * tables free each other in their destructors, all tables are cleared before the first ends.
     */
    haft_status clear() const noexcept { return haft_table_clear(handle_.get()); }

    /* haft_table_close().  Where the answer is not HAFT_OK, the table stays open. */
    haft_status close() noexcept { return base::close_by(haft_table_close); }

    haft_status reclaim() const noexcept { return haft_table_reclaim(handle_.get()); }

    /* A worker for the calling thread. */
    result<worker_type> open_worker() const noexcept
    {
        haft_worker *opened;
        const haft_status status = haft_worker_open(handle_.get(), &opened);

        return status == HAFT_OK ? result<worker_type>(worker_type(opened)) : status;
    }
    /* Without a worker. */
    haft_status free(id_type id) const noexcept
    {
        return haft_table_free(handle_.get(), id.untyped());
    }

    /* Inside a read section, as resolve() and the pointer's use; NULL only where on_bad_access
     * returns. */
    T *require(id_type id) const
    {
        return static_cast<T *>(haft_require(handle_.get(), view_.untyped(), id.untyped()));
    }
    haft_status diagnose(id_type id) const noexcept
    {
        return haft_diagnose(handle_.get(), id.untyped());
    }
    /* haft_table_explain(); of an id haft_diagnose_format(). */
    std::string explain(haft_status status) const
    {
        return detail::line_of([&](char *text, std::size_t size) {
            return haft_table_explain(handle_.get(), status, text, size);
        });
    }
    std::string explain(id_type id) const
    {
        return detail::line_of([&](char *text, std::size_t size) {
            return haft_diagnose_format(handle_.get(), id.untyped(), text, size);
        });
    }

    /* haft_id_at(): `id` is untouched where the index is out of range. */
    haft_status id_at(uint64_t index, id_type &id) const noexcept
    {
        haft_id found = id.untyped();
        const haft_status status = haft_id_at(handle_.get(), index, &found);

        id = id_type(found);
        return status;
    }

    /* Inside a read section; empty if the id is stale. */
    template <pins Has = P> haft::pin<T> pin(id_type id) const noexcept
    {
        static_assert(Has == pins::yes,
                      "a table with room for pins: haft::table<T, haft::pins::yes>");
        return haft::pin<T>(handle_.get(), id);
    }

    /*
     * Inside a read section: `for (auto [id, ship] : ships.scan())`, with the promises of
     * haft/scan.h.  The scan starts with this call.
     */
    scan_type scan(haft_range range = HAFT_EVERYTHING) const noexcept
    {
        return scan_type(haft_cursor_over(handle_.get(), range));
    }

    haft_table_stats stats() const noexcept { return haft_table_stats_get(handle_.get()); }

    /*
     * haft_share() - the local table becomes a shared one, and is empty then.  haft_unshare() - and
     * back.  No object is copied, all ids and views hold.  Where they fail, nothing has changed:
     * `local` and `shared` are what they were.
     */
    static result<table> share(local<T, P> &&local, const domain &domain) noexcept
    {
        haft_table *shared;
        const haft_status status = haft_share(local.untyped(), domain.untyped(), nullptr, &shared);

        if (status != HAFT_OK) {
            return status;
        }
        local.release();
        return table(shared);
    }
    static result<local<T, P>> unshare(table &&shared) noexcept
    {
        haft_local *local;
        const haft_status status = haft_unshare(shared.untyped(), &local);

        if (status != HAFT_OK) {
            return status;
        }
        shared.handle_.release();
        return haft::local<T, P>::adopt(local);
    }

  private:
    explicit table(haft_table *opened) noexcept : base(opened, haft_table_view(opened)) {}
};

} // namespace haft

#endif // HAFT_DETAIL_TABLE_HPP
