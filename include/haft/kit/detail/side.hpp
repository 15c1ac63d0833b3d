/*
 * haft/kit/detail/side.hpp - haft::side<V, T>: values of type V under the ids of a table of T
 * (haft/kit/side.h).
 *
 *   auto hulls = haft::side<hull, ship>::open(ships);
 *   hulls->emplace(*id, 12);
 *   if (hull *found = hulls->get(*id)) { ... }
 *
 * Of a haft::local, V may be any type that can be destroyed: ~V() runs once for each value, when it
 * ends.  Of a haft::table it is trivially copyable: values end when no call is made.
 *
 * Each function is one call of the haft_side_ function of its name, whose contract holds.  A
 * constructor of V may throw, and then nothing has changed; so may a visitor, and then the walk has
 * ended.
 */
#ifndef HAFT_DETAIL_SIDE_HPP
#define HAFT_DETAIL_SIDE_HPP

#include <haft/detail/local.hpp>
#include <haft/detail/table.hpp>
#include <haft/kit/side.h>

namespace haft
{

/* A side is closed before its table: declared after it, say. */
template <class V, class T>
class side : public detail::owner<haft_side, detail::closer<haft_side_close>>
{
    using base = detail::owner<haft_side, detail::closer<haft_side_close>>;
    using base::handle_;

  public:
    using value_type = V;
    using object_type = T;
    using id_type = haft::id<T>;

    side() noexcept = default;

    /* haft_side_open_local(), with ~V() as on_end where that does something: other values are bytes
     * to the table's snapshots. */
    template <pins P> static result<side> open(const local<T, P> &table) noexcept
    {
        const haft_side_options options = value_options();
        haft_side *opened;
        const haft_status status = haft_side_open_local(table.untyped(), &options, &opened);

        return status == HAFT_OK ? result<side>(side(opened, table.view().untyped())) : status;
    }

    /* haft_side_open() */
    template <pins P> static result<side> open(const table<T, P> &table) noexcept
    {
        static_assert(is_plain, "values of a shared table are bytes: see haft/kit/side.h");
        const haft_side_options options = value_options();
        haft_side *opened;
        const haft_status status = haft_side_open(table.untyped(), &options, &opened);

        return status == HAFT_OK ? result<side>(side(opened, table.view().untyped())) : status;
    }

    void close() noexcept { this->end_owned(); }

    /* haft_side_get(): of a haft::table, the calling thread has resolved the id in its section. */
    V *get(id_type id) const noexcept
    {
        return static_cast<V *>(haft_side_get(entries(), id.untyped()));
    }

    /* haft_side_find(): of a haft::table, inside a read section. */
    V *find(id_type id, T **object = nullptr) const noexcept
    {
        void *found;
        void *value = haft_side_find(entries(), view_, id.untyped(), &found);

        if (object != nullptr) {
            *object = static_cast<T *>(found);
        }
        return static_cast<V *>(value);
    }

    /*
     * haft_side_set() - a V made of `args`, in its place.  Fails as that; where the id has a value
     * already, HAFT_OCCUPIED.  The V is made first, so `args` may refer to the value of the slot's
     * last object, which ends; but one whose move may throw is made in its place if it can be.
     */
    template <class... Args> result<V *> emplace(id_type id, Args &&...args)
    {
        if constexpr (!is_plain && !std::is_nothrow_move_constructible_v<V> &&
                      std::is_nothrow_constructible_v<V, Args...>) {
            return place(id, nullptr, [&](void *bytes) noexcept {
                ::new (bytes) V(std::forward<Args>(args)...);
            });
        } else {
            V made = detail::make<V>(std::forward<Args>(args)...);

            return place(id, is_plain ? &made : nullptr,
                         [&]([[maybe_unused]] void *bytes) noexcept {
                             if constexpr (!is_plain) {
                                 ::new (bytes) V(std::move(made));
                             }
                         });
        }
    }

    /* haft_side_remove(), haft_side_sweep(): of a haft::local alone. */
    bool remove(id_type id) noexcept { return haft_side_remove(handle_.get(), id.untyped()); }
    uint64_t sweep() noexcept { return haft_side_sweep(handle_.get()); }

    /*
     * haft_side_for_each() - calls visit(id, object, value) for each live object that has a value.
     * If it returns a bool, false ends the walk.
     */
    template <class Visit> uint64_t for_each(Visit &&visit) const
    {
        detail::carried<std::remove_reference_t<Visit>> visiting(visit);
        const uint64_t calls =
            haft_side_for_each(handle_.get(), call<decltype(visiting)>, std::addressof(visiting));

        visiting.rethrow();
        return calls;
    }

  private:
    static constexpr bool is_plain =
        std::is_trivially_copyable_v<V> && std::is_trivially_destructible_v<V>;
    static constexpr std::size_t alignment = alignof(V) > 8 ? alignof(V) : 8;
    static constexpr std::size_t stride = (8 + sizeof(V) + alignment - 1) / alignment * alignment;

    side(haft_side *opened, haft_view view) noexcept : base(opened), view_(view)
    {
        const haft_entries all = haft_side_entries(opened);

        assert(all.stride == stride);
        base_ = all.base;
        mask_ = all.mask;
    }

    static haft_side_options value_options() noexcept
    {
        detail::check_object_type<V>();
        haft_side_options options = {};

        options.value_size = sizeof(V);
        options.value_alignment = alignof(V);
        if constexpr (detail::has_destructor<V>) {
            options.on_end = detail::destroy<V, void *>;
        }
        return options;
    }

    haft_entries entries() const noexcept { return haft_entries{base_, mask_, stride}; }

    template <class Construct>
    result<V *> place(id_type id, const void *value, Construct construct) noexcept
    {
        void *bytes;
        const haft_status status = haft_side_set(handle_.get(), id.untyped(), value, &bytes);

        if (status != HAFT_OK) {
            return status;
        }
        construct(bytes);
        return static_cast<V *>(bytes);
    }

    template <class Visiting>
    static bool call(haft_id id, void *object, void *value, void *arg) noexcept
    {
        return static_cast<Visiting *>(arg)->call(false, id_type(id), *static_cast<T *>(object),
                                                  *static_cast<V *>(value));
    }

    haft_view view_ = HAFT_VIEW_EMPTY;
    char *base_ = nullptr;
    uint64_t mask_ = 0;
};

} // namespace haft

#endif // HAFT_DETAIL_SIDE_HPP
