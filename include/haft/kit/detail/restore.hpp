/*
 * haft/kit/detail/restore.hpp - ids of a haft::local that are chosen elsewhere: see
 * haft/kit/restore.h.
 *
 * Each function is one call of the haft_local_ function of its name, whose contract holds.
 */
#ifndef HAFT_KIT_DETAIL_RESTORE_HPP
#define HAFT_KIT_DETAIL_RESTORE_HPP

#include <haft/detail/local.hpp>
#include <haft/kit/restore.h>

namespace haft
{

namespace detail
{

template <class Construct>
haft_status restore_by(haft_local *local, haft_id id, Construct construct)
{
    void *bytes;
    const haft_status status = haft_local_reserve_at(local, id, &bytes);

    if (status == HAFT_OK) {
        reservation reserved([=] { haft_local_abort(local, id); });

        construct(bytes);
        reserved.keep();
        haft_local_publish(local, id);
    }
    return status;
}

template <class T, class Visiting> bool visit_slot(haft_id id, void *object, void *arg) noexcept
{
    return static_cast<Visiting *>(arg)->call(false, haft::id<T>(id), static_cast<T *>(object));
}

} // namespace detail

/*
 * A T made of `args` under an id chosen elsewhere.  Fails as haft_local_restore(); then, and where
 * a constructor throws, nothing has changed: it can be restored again.  A T whose constructor may
 * throw is made first, and moved to its slot; one that cannot be moved is made there, and where its
 * constructor throws, the id is stale.
 */
template <class T, pins P, class... Args>
haft_status restore(local<T, P> &table, id<T> id, Args &&...args)
{
    if constexpr (detail::constructs_nothrow<T, Args...>() || !detail::moves_nothrow<T>) {
        return detail::restore_by(table.untyped(), id.untyped(), [&](void *bytes) {
            detail::construct<T>(bytes, std::forward<Args>(args)...);
        });
    } else {
        T made = detail::make<T>(std::forward<Args>(args)...);

        return detail::restore_by(table.untyped(), id.untyped(),
                                  [&](void *bytes) noexcept { ::new (bytes) T(std::move(made)); });
    }
}
template <class T, pins P> haft_status restore_free(local<T, P> &table, id<T> next) noexcept
{
    return haft_local_restore_free(table.untyped(), next.untyped());
}

/* Before and after many calls of restore() and restore_free(). */
template <class T, pins P> void load_begin(local<T, P> &table) noexcept
{
    haft_local_load_begin(table.untyped());
}
template <class T, pins P> void load_end(local<T, P> &table) noexcept
{
    haft_local_load_end(table.untyped());
}

/*
 * Calls visit(id, object) for each slot ever used: `object` is NULL for a slot without an object,
 * whose id is for restore_free().  If it returns a bool, false ends the walk.
 */
template <class T, pins P, class Visit>
uint64_t for_each_slot(const local<T, P> &table, Visit &&visit)
{
    detail::carried<std::remove_reference_t<Visit>> visiting(visit);
    const uint64_t calls = haft_local_for_each_slot(
        table.untyped(), detail::visit_slot<T, decltype(visiting)>, std::addressof(visiting));

    visiting.rethrow();
    return calls;
}

} // namespace haft

#endif // HAFT_KIT_DETAIL_RESTORE_HPP
