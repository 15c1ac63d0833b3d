/*
 * haft_kit.hpp - haft 0.2.0: the kit for C++17, over haft_kit.h
 *
 * Copyright (c) 2026 The haft authors.  SPDX-License-Identifier: MIT
 * Made of haft's sources by ./dev amalgamate; changes belong there.
 */
#ifndef HAFT_HAFT_KIT_HPP
#define HAFT_HAFT_KIT_HPP

#include "haft.hpp"
#include "haft_kit.h"
#include <type_traits>

/*
 * haft/kit/detail/arena.hpp - haft::arena: bump allocation (haft/kit/arena.h) of C++ objects, which
 * are destroyed when the arena is reset, rewound or ends, the last one made first.
 */

namespace haft
{

/*
 * Each function is one call of the haft_arena_ function of its name, whose contract holds.
 * Moved-from and closed arenas are empty: they may be tested, assigned to, closed and destroyed.
 */
class arena : public detail::owner<haft_arena, detail::closer<haft_arena_close>>
{
  public:
    arena() noexcept = default;

    static result<arena> open(const haft_arena_options &options = {}) noexcept
    {
        haft_arena *opened;
        const haft_status status = haft_arena_open(&options, &opened);

        return status == HAFT_OK ? result<arena>(arena(opened)) : status;
    }
    void close() noexcept { end_owned(); }

    /*
     * A T made of `args`; NULL if there is no memory: for its clean-up, a T that was made is
     * destroyed again.  Where a constructor throws, its bytes are given back at the next reset.
     */
    template <class T, class... Args> T *create(Args &&...args)
    {
        detail::check_object_type<T>();
        void *bytes = haft_arena_alloc_aligned(handle_.get(), sizeof(T), alignof(T));

        if (bytes == nullptr) {
            return nullptr;
        }
        T *made = detail::construct<T>(bytes, std::forward<Args>(args)...);
        if constexpr (detail::has_destructor<T>) {
            if (haft_arena_on_reset(handle_.get(), clean_up<T>, made) != HAFT_OK) {
                std::destroy_at(made);
                return nullptr;
            }
        }
        return made;
    }

    void reset() noexcept { haft_arena_reset(handle_.get()); }
    haft_mark mark() const noexcept { return haft_arena_mark(handle_.get()); }
    void rewind(haft_mark mark) noexcept { haft_arena_rewind(handle_.get(), mark); }
    haft_arena_stats stats() const noexcept { return haft_arena_stats_get(handle_.get()); }

  private:
    template <class T> static void clean_up(void *made) noexcept
    {
        std::destroy_at(static_cast<T *>(made));
    }

    explicit arena(haft_arena *opened) noexcept : owner(opened) {}
};

} // namespace haft

/*
 * haft/kit/detail/history.hpp - haft::history: the last states of a haft::local or haft::packed
 * (haft/kit/snapshot.h), and objects of a clone that are made by their constructors.
 */

namespace haft
{

/* Each function is one call of the haft_history_ function of its name, whose contract holds. */
class history : public detail::owner<haft_history, detail::closer<haft_history_close>>
{
  public:
    history() noexcept = default;

    static result<history> open(uint64_t keep, const haft_allocator *allocator = nullptr) noexcept
    {
        haft_history_options options = {};
        haft_history *opened;

        options.keep = keep;
        options.allocator = allocator;
        const haft_status status = haft_history_open(&options, &opened);

        return status == HAFT_OK ? result<history>(history(opened)) : status;
    }
    void close() noexcept { this->end_owned(); }

    haft_range kept() const noexcept { return haft_history_kept(handle_.get()); }
    uint64_t bytes() const noexcept { return haft_history_bytes(handle_.get()); }

  private:
    explicit history(haft_history *opened) noexcept : owner(opened) {}
};

namespace detail
{

/* Objects that go back, or to a file, go as bytes. */
template <class T> constexpr void check_goes_back() noexcept
{
    static_assert(std::is_trivially_copyable_v<T>,
                  "a state that is gone back to, saved or loaded is a copy of bytes");
}

/*
 * A clone in which the objects up to some index have been made.  What is not kept, since a
 * constructor has thrown, is closed: only these objects are destroyed.
 */
template <class T> class unfinished_clone
{
  public:
    unfinished_clone(const haft_local *from, haft_local *clone) noexcept
        : from_(haft_local_view(from)), clone_(clone)
    {
    }
    unfinished_clone(const unfinished_clone &) = delete;
    unfinished_clone &operator=(const unfinished_clone &) = delete;
    ~unfinished_clone()
    {
        if (clone_ != nullptr) {
            destroy_made();
            haft_local_set_destroy(clone_, nullptr, nullptr);
            [[maybe_unused]] const haft_status status = haft_local_clear(clone_);

            assert(status == HAFT_OK);
            haft_local_close(clone_);
        }
    }

    haft_local *finish()
    {
        haft_run run = haft_run_over(haft_local_view(clone_), haft_local_used_range(clone_));
        haft_id id;
        void *bytes;

        while (haft_run_next(&run, &id, &bytes)) {
            construct<T>(bytes, *static_cast<const T *>(haft_resolve(from_, id)));
            made_++;
        }
        return std::exchange(clone_, nullptr);
    }

  private:
    void destroy_made() const noexcept
    {
        haft_run run = haft_run_over(haft_local_view(clone_), haft_local_used_range(clone_));
        haft_id id;
        void *object;

        for (uint64_t i = 0; i < made_ && haft_run_next(&run, &id, &object); i++) {
            std::destroy_at(static_cast<T *>(object));
        }
    }

    haft_view from_;
    haft_local *clone_;
    uint64_t made_ = 0;
};

} // namespace detail

/*
 * haft_local_clone(), with objects that are made by T's copy constructor, which frees none of this
 * table's; where one throws, no clone is there.
 */
template <class T, pins P> result<local<T, P>> clone(const local<T, P> &table)
{
    haft_local *copy;
    const haft_status status = haft_local_clone(table.untyped(), &copy);

    if (status != HAFT_OK) {
        return status;
    }
    if constexpr (!std::is_trivially_copyable_v<T>) {
        copy = detail::unfinished_clone<T>(table.untyped(), copy).finish();
    }
    return local<T, P>::adopt(copy);
}

/* haft/kit/snapshot.h; for trivially copyable objects.  snapshot() gives the number. */
template <class T, pins P> result<uint64_t> snapshot(const local<T, P> &table, history &in) noexcept
{
    detail::check_goes_back<T>();
    uint64_t number;
    const haft_status status = haft_local_snapshot(table.untyped(), in.untyped(), &number);

    return status == HAFT_OK ? result<uint64_t>(number) : status;
}
template <class T, pins P>
haft_status rewind(local<T, P> &table, history &in, uint64_t number) noexcept
{
    detail::check_goes_back<T>();
    return haft_local_rewind(table.untyped(), in.untyped(), number);
}
template <class T, pins P> haft_status save(const local<T, P> &table, haft_file &file) noexcept
{
    detail::check_goes_back<T>();
    return haft_local_save(table.untyped(), &file);
}
template <class T, pins P> haft_status load(local<T, P> &table, haft_file &file) noexcept
{
    detail::check_goes_back<T>();
    return haft_local_load(table.untyped(), &file);
}

} // namespace haft

/*
 * haft/kit/detail/packed.hpp - haft::packed<T>: the dense handle table of one thread
 * (haft/kit/packed.h), of C++ objects.  begin() and end() are plain pointers into one array:
 *
 *   for (particle &each : particles) { ... }
 *   for (auto [id, each] : particles.entries()) { if (each.is_done()) particles.kill(id); }
 *   particles.refresh();
 *   for (auto [id, each] : particles.backwards()) { if (each.is_done()) particles.free(id); }
 *
 * Each function is one call of the haft_packed_ function of its name, whose contract holds, also
 * about which pointers end.  Each object is destroyed once: by free(), refresh(), clear() or the
 * table's end.  A constructor of T may throw, and then nothing has changed; so may a comparison,
 * and then each object is there, in some order.
 */

namespace haft
{

template <class T>
class packed : public detail::owner<haft_packed, detail::closer<haft_packed_close>>
{
  public:
    using object_type = T;
    using id_type = haft::id<T>;
    using iterator = T *;
    using reverse_iterator = std::reverse_iterator<T *>;

    class entry_list;
    class backward_list;

    packed() noexcept = default;

    /* As haft::local::open(). */
    static result<packed> open(haft_packed_options options) noexcept
    {
        check_type();
        haft_packed *opened;

        assert(!detail::has_destructor<T> || options.on_destroy == nullptr);
        if constexpr (detail::has_destructor<T>) {
            options.on_destroy = detail::destroy<T, void *>;
        }
        const haft_status status =
            haft_packed_open_typed(haft_type{sizeof(T), alignof(T), 0, false}, &options, &opened);
        return status == HAFT_OK ? result<packed>(packed(opened)) : status;
    }
    static result<packed> open(uint64_t capacity) noexcept
    {
        return open(detail::with_capacity<haft_packed_options>(capacity));
    }

    void close() noexcept { this->end_owned(); }

    /* A T made of `args`, in the last position.  Made first: then fails as haft_packed_insert(). */
    template <class... Args> result<id_type> emplace(Args &&...args)
    {
        alignas(T) unsigned char bytes[sizeof(T)];
        T *made = detail::construct<T>(bytes, std::forward<Args>(args)...);
        haft_id id;
        const haft_status status = haft_packed_insert(handle_.get(), bytes, &id);

        if (status != HAFT_OK) {
            std::destroy_at(made);
            return status;
        }
        return id_type(id); /* the bytes in the table are the object now */
    }

    haft_status free(id_type id) noexcept { return haft_packed_free(handle_.get(), id.untyped()); }
    haft_status kill(id_type id) noexcept { return haft_packed_kill(handle_.get(), id.untyped()); }
    haft_status refresh() noexcept { return haft_packed_refresh(handle_.get()); }
    haft_status clear() noexcept { return haft_packed_clear(handle_.get()); }

    /* haft_packed_sort(), _sort_n() by less(a, b), which is as std::sort() takes it. */
    template <class Less> haft_status sort(Less less) { return sort_n(UINT64_MAX, less); }
    template <class Less> haft_status sort_n(uint64_t n, Less less)
    {
        detail::carried<Less> comparing(less);
        const haft_status status =
            haft_packed_sort_n(handle_.get(), n, compare<Less>, std::addressof(comparing));

        comparing.rethrow();
        return status;
    }
    haft_status sort_as(const id_type *ids, uint64_t count) noexcept
    {
        return haft_packed_sort_as(handle_.get(), haft::untyped(ids), count);
    }
    /* haft_packed_swap(): two objects.  std::swap() is for whole tables. */
    haft_status swap(id_type a, id_type b) noexcept
    {
        return haft_packed_swap(handle_.get(), a.untyped(), b.untyped());
    }

    T *resolve(id_type id) const noexcept
    {
        return static_cast<T *>(haft_packed_resolve(constant_view(), id.untyped()));
    }
    /* NULL only where on_bad_access returns. */
    T *require(id_type id) const
    {
        return static_cast<T *>(haft_packed_require(handle_.get(), constant_view(), id.untyped()));
    }
    bool is_live(id_type id) const noexcept { return haft_packed_is_live(view_, id.untyped()); }
    haft_packed_life state(id_type id) const noexcept
    {
        return haft_packed_state(handle_.get(), id.untyped());
    }
    haft_status diagnose(id_type id) const noexcept
    {
        return haft_packed_diagnose(handle_.get(), id.untyped());
    }
    /* haft_packed_explain(); of an id haft_packed_diagnose_format(). */
    std::string explain(haft_status status) const
    {
        return detail::line_of([&](char *text, std::size_t size) {
            return haft_packed_explain(handle_.get(), status, text, size);
        });
    }
    std::string explain(id_type id) const
    {
        return detail::line_of([&](char *text, std::size_t size) {
            return haft_packed_diagnose_format(handle_.get(), id.untyped(), text, size);
        });
    }

    /* The objects, dead ones among them. */
    T *begin() const noexcept { return static_cast<T *>(haft_packed_objects(handle_.get())); }
    T *end() const noexcept { return begin() + count(); }
    reverse_iterator rbegin() const noexcept { return reverse_iterator(end()); }
    reverse_iterator rend() const noexcept { return reverse_iterator(begin()); }
    /* haft_packed_ids(): the ids of the objects, count() of them.  A table sorts as its clone by
     * sort_as(clone.ids(), clone.count()). */
    const id_type *ids() const noexcept
    {
        static_assert(sizeof(id_type) == sizeof(haft_id), "an id and nothing else");
        return reinterpret_cast<const id_type *>(haft_packed_ids(handle_.get()));
    }
    id_type id_in(uint64_t position) const noexcept
    {
        return id_type(haft_packed_id_in(handle_.get(), position));
    }
    /* haft_packed_id_at(): by the index of a slot, which is no position. */
    haft_status id_at(uint64_t index, id_type &id) const noexcept
    {
        haft_id found = id.untyped();
        const haft_status status = haft_packed_id_at(handle_.get(), index, &found);

        id = id_type(found);
        return status;
    }
    entry_list entries() const noexcept
    {
        return entry_list(begin(), haft_packed_ids(handle_.get()), count());
    }
    /* As entries(), from the last to the first: the loop may free the object that it is at. */
    backward_list backwards() const noexcept { return backward_list(entries()); }

    uint64_t count() const noexcept { return haft_packed_count(handle_.get()); }
    uint64_t dead_count() const noexcept { return haft_packed_dead_count(handle_.get()); }
    bool is_empty() const noexcept { return haft_packed_is_empty(handle_.get()); }
    uint64_t available() const noexcept { return haft_packed_available(handle_.get()); }

  private:
    template <class U> friend result<packed<U>> clone(const packed<U> &table) noexcept;

    explicit packed(haft_packed *table) noexcept : owner(table), view_(haft_packed_view(table)) {}
    static constexpr void check_type() noexcept
    {
        detail::check_object_type<T>();
        static_assert(is_trivially_relocatable<T>,
                      "a packed table moves objects by copying their bytes, without a constructor: "
                      "specialise haft::is_trivially_relocatable where T may be moved so, or use "
                      "haft::local, whose objects stay where they are");
    }
    template <class Less> static int compare(const void *a, const void *b, void *arg) noexcept
    {
        detail::carried<Less> &less = *static_cast<detail::carried<Less> *>(arg);
        const T &first = *static_cast<const T *>(a);
        const T &second = *static_cast<const T *>(b);

        return less.call(false, second, first) ? 1 : less.call(false, first, second) ? -1 : 0;
    }
    /* With the size that the compiler knows. */
    haft_dense_view constant_view() const noexcept
    {
        return haft_dense_view{view_.slot, view_.mask, view_.objects, sizeof(T)};
    }

    haft_dense_view view_ = {};
};

/* Objects with their ids, by position; those there are when it is made. */
template <class T> class packed<T>::entry_list
{
  public:
    class iterator
    {
      public:
        using iterator_category = std::bidirectional_iterator_tag;
        using value_type = entry<T>;
        using reference = entry<T>;
        using pointer = void;
        using difference_type = std::ptrdiff_t;

        iterator() noexcept = default;
        iterator(T *object, const haft_id *id) noexcept : object_(object), id_(id) {}
        entry<T> operator*() const noexcept { return entry<T>{haft::id<T>(*id_), *object_}; }
        iterator &operator++() noexcept
        {
            ++object_;
            ++id_;
            return *this;
        }
        iterator operator++(int) noexcept
        {
            const iterator before = *this;

            ++*this;
            return before;
        }
        iterator &operator--() noexcept
        {
            --object_;
            --id_;
            return *this;
        }
        iterator operator--(int) noexcept
        {
            const iterator before = *this;

            --*this;
            return before;
        }
        friend bool operator==(iterator a, iterator b) noexcept { return a.object_ == b.object_; }
        friend bool operator!=(iterator a, iterator b) noexcept { return a.object_ != b.object_; }

      private:
        T *object_ = nullptr;
        const haft_id *id_ = nullptr;
    };

    entry_list(T *objects, const haft_id *ids, uint64_t count) noexcept
        : objects_(objects), ids_(ids), count_(count)
    {
    }
    iterator begin() const noexcept { return iterator(objects_, ids_); }
    iterator end() const noexcept { return iterator(objects_ + count_, ids_ + count_); }

  private:
    T *objects_;
    const haft_id *ids_;
    uint64_t count_;
};

template <class T> class packed<T>::backward_list
{
  public:
    using iterator = std::reverse_iterator<typename entry_list::iterator>;

    explicit backward_list(entry_list entries) noexcept : entries_(entries) {}
    iterator begin() const noexcept { return iterator(entries_.end()); }
    iterator end() const noexcept { return iterator(entries_.begin()); }

  private:
    entry_list entries_;
};

template <class T> result<packed<T>> clone(const packed<T> &table) noexcept
{
    detail::check_goes_back<T>();
    haft_packed *copy;
    const haft_status status = haft_packed_clone(table.untyped(), &copy);

    return status == HAFT_OK ? result<packed<T>>(packed<T>(copy)) : status;
}

/* haft/kit/snapshot.h; for trivially copyable objects.  snapshot() gives the number. */
template <class T> result<uint64_t> snapshot(const packed<T> &table, history &in) noexcept
{
    detail::check_goes_back<T>();
    uint64_t number;
    const haft_status status = haft_packed_snapshot(table.untyped(), in.untyped(), &number);

    return status == HAFT_OK ? result<uint64_t>(number) : status;
}
template <class T> haft_status rewind(packed<T> &table, history &in, uint64_t number) noexcept
{
    detail::check_goes_back<T>();
    return haft_packed_rewind(table.untyped(), in.untyped(), number);
}
template <class T> haft_status save(const packed<T> &table, haft_file &file) noexcept
{
    detail::check_goes_back<T>();
    return haft_packed_save(table.untyped(), &file);
}
template <class T> haft_status load(packed<T> &table, haft_file &file) noexcept
{
    detail::check_goes_back<T>();
    return haft_packed_load(table.untyped(), &file);
}

} // namespace haft

/*
 * haft/kit/detail/restore.hpp - ids of a haft::local that are chosen elsewhere: see
 * haft/kit/restore.h.
 *
 * Each function is one call of the haft_local_ function of its name, whose contract holds.
 */

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

/*
 * haft/kit/kit.hpp - the kit for C++17, with haft/haft.hpp, whose rules hold here too.  Programs
 * include this header alone.  What there is, in haft/kit/detail/:
 *
 *   packed.hpp              haft::packed<T>
 *   history.hpp             haft::history, the last states of a local or packed table: snapshot(),
 *                           rewind(), clone(), save(), load()
 *   restore.hpp             restore() and its kin: ids of a haft::local that are chosen elsewhere
 *   side.hpp                haft::side<V, T>: values of V under the ids of a table of T
 *   arena.hpp               haft::arena
 */

#endif // HAFT_HAFT_KIT_HPP
