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
#ifndef HAFT_DETAIL_PACKED_HPP
#define HAFT_DETAIL_PACKED_HPP

#include <haft/detail/owner.hpp>
#include <haft/diagnose.h>
#include <haft/kit/detail/history.hpp>
#include <haft/kit/detail/typed_packed.h>

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

#endif // HAFT_DETAIL_PACKED_HPP
