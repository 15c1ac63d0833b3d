/*
 * haft/detail/table.hpp - haft::table<T>: the handle table that all threads share (haft/table.h),
 * of C++ objects.
 *
 * Objects are made in their slots by emplace().  The destructor of one that was freed runs after
 * its grace period, when no thread can be reading it any more, on the worker that takes the slot
 * back; of one that is still live when the table ends, then.  Each runs once.
 *
 * Each function is one call of the function of its name, whose contract holds.  No function throws,
 * but for what a constructor of T throws, and then the reservation has been given up.
 */
#ifndef HAFT_DETAIL_TABLE_HPP
#define HAFT_DETAIL_TABLE_HPP

#include <haft/detail/domain.hpp>
#include <haft/detail/local.hpp>
#include <haft/detail/pin.hpp>
#include <haft/detail/typed_table.h>
#include <haft/detail/worker.hpp>
#include <haft/threads.h>

namespace haft
{

/*
 * The table object itself belongs to one thread, as any other object; what it refers to is for
 * all.  So threads share one by reference, or have the view and a worker each.  Moved-from and
 * closed ones are empty: they may be tested, assigned to, closed and destroyed.
 *
 * The destructor, and an assignment to one that is open, close it.  Where close() says no, debug
 * builds assert, and the table stays open for ever.
 */
template <class T, pins P = pins::no> class table
{
  public:
    using object_type = T;
    using id_type = haft::id<T>;
    using view_type = haft::view<T, P>;
    using worker_type = haft::worker<T>;
    using scan_type = haft::scan<T, haft_cursor>;

    table() noexcept = default;
    table(table &&other) noexcept
        : table_(std::exchange(other.table_, nullptr)),
          view_(std::exchange(other.view_, view_type()))
    {
    }
    table &operator=(table &&other) noexcept
    {
        table moved(std::move(other));

        std::swap(table_, moved.table_);
        std::swap(view_, moved.view_);
        return *this;
    }
    ~table()
    {
        [[maybe_unused]] const haft_status status = close();

        assert(status == HAFT_OK);
    }

    /*
     * haft_table_open() with T's size, alignment and pins, which may be left 0 in `options`; where
     * they are not T's: HAFT_BAD_OBJECT_SIZE, HAFT_BAD_OBJECT_ALIGNMENT, HAFT_BAD_PINS.
     * on_reclaim is ~T()'s place where that does something, and is NULL then.
     */
    static result<table> open(const domain &domain, haft_table_options options) noexcept
    {
        haft_table *opened;

        assert(!has_destructor || options.on_reclaim == nullptr);
        if constexpr (has_destructor) {
            options.on_reclaim = destroy;
        }
        const haft_status status =
            haft_table_open_typed(detail::type_of<T, P>(), domain.untyped(), &options, &opened);
        return status == HAFT_OK ? result<table>(own(opened)) : status;
    }
    static result<table> open(const domain &domain, uint64_t capacity) noexcept
    {
        haft_table_options options = {};

        options.capacity = capacity;
        return open(domain, options);
    }

    /*
     * haft_table_close(), after the destructors of objects that are still live.  Where the answer
     * is not HAFT_OK (haft_unshare() has the list if T has a destructor), nothing has been done.
     * An empty one: HAFT_OK.
     */
    haft_status close() noexcept
    {
        haft_status status = HAFT_OK;

        if (table_ == nullptr) {
            return status;
        }
        if constexpr (has_destructor) {
            status = unshare(std::move(*this)).status(); /* and the local table ends */
        } else {
            status = haft_table_close(table_);
        }
        if (status == HAFT_OK) {
            table_ = nullptr;
            view_ = view_type();
        }
        return status;
    }
    explicit operator bool() const noexcept { return table_ != nullptr; }

    /* A worker for the calling thread; and the one it has anyway, from haft_worker_current(). */
    result<worker_type> open_worker() const noexcept
    {
        haft_worker *opened;
        const haft_status status = haft_worker_open(table_, &opened);

        return status == HAFT_OK ? result<worker_type>(worker_type(opened)) : status;
    }
    result<worker_ref<T>> current_worker() const noexcept
    {
        haft_worker *current;
        const haft_status status = haft_worker_current(table_, &current);

        return status == HAFT_OK ? result<worker_ref<T>>(worker_ref<T>(current)) : status;
    }

    /* Without a worker: haft/threads.h. */
    template <class... Args> result<id_type> emplace(Args &&...args) const
    {
        haft_id id;
        void *bytes;
        const haft_status status = haft_reserve_unregistered(table_, &id, &bytes);

        if (status != HAFT_OK) {
            return status;
        }
        detail::reservation reserved([this, id] { haft_abort_unregistered(table_, id); });
        detail::construct<T>(bytes, std::forward<Args>(args)...);
        reserved.keep();
        haft_publish_unregistered(table_, id);
        return id_type(id);
    }
    haft_status free(id_type id) const noexcept
    {
        return haft_free_unregistered(table_, id.untyped());
    }

    /* Inside a read section, as the pointer's use. */
    T *resolve(id_type id) const noexcept { return view_.resolve(id); }
    /* NULL only where on_bad_access returns. */
    T *require(id_type id) const
    {
        return static_cast<T *>(haft_require(table_, view_.untyped(), id.untyped()));
    }
    bool is_live(id_type id) const noexcept { return view_.is_live(id); }
    haft_status diagnose(id_type id) const noexcept { return haft_diagnose(table_, id.untyped()); }
    view_type view() const noexcept { return view_; }

    /* Inside a read section; empty if the id is stale. */
    haft::pin<T> pin(id_type id) const noexcept
    {
        static_assert(P == pins::yes,
                      "a table with room for pins: haft::table<T, haft::pins::yes>");
        return haft::pin<T>(table_, id);
    }

    /*
     * Inside a read section: `for (auto [id, ship] : ships.scan())`, with the promises of
     * haft/scan.h.  The scan starts with this call.
     */
    scan_type scan(haft_range range = HAFT_EVERYTHING) const noexcept
    {
        return scan_type(haft_cursor_over(table_, range));
    }

    haft_table_stats stats() const noexcept { return haft_table_stats_get(table_); }
    /* For what has no function here: ranges, restoring, command sets. */
    haft_table *untyped() const noexcept { return table_; }

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
        return own(shared);
    }
    static result<local<T, P>> unshare(table &&shared) noexcept
    {
        haft_local *local;
        const haft_status status = haft_unshare(shared.table_, &local);

        if (status != HAFT_OK) {
            return status;
        }
        shared.table_ = nullptr;
        shared.view_ = view_type();
        return haft::local<T, P>::adopt(local);
    }

  private:
    static constexpr bool has_destructor = !std::is_trivially_destructible_v<T>;

    static void destroy(void *object, haft_id, haft_worker *, void *) noexcept
    {
        std::destroy_at(static_cast<T *>(object));
    }
    static table own(haft_table *opened) noexcept
    {
        table owner;

        owner.table_ = opened;
        owner.view_ = view_type(haft_table_view(opened));
        return owner;
    }

    haft_table *table_ = nullptr;
    view_type view_;
};

} // namespace haft

#endif // HAFT_DETAIL_TABLE_HPP
