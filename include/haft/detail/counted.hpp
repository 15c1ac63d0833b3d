/*
 * haft/detail/counted.hpp - haft::counted<T>: the handle table for any thread (haft/counted.h), of
 * C++ objects, and haft::holder<T>, which holds one of them.
 *
 *   auto sessions = haft::counted<session>::open(1000);
 *   auto id = sessions->emplace("bob");
 *   if (auto held = sessions->acquire(*id)) { held->greet(); }     any thread; it may sleep
 *   sessions->free(*id);            ~session() runs now, or when the last holder ends
 *
 * Each function is one call of the haft_counted_ function of its name, whose contract holds.  Only
 * a constructor of T throws, and then its slot has been given back.
 */
#ifndef HAFT_DETAIL_COUNTED_HPP
#define HAFT_DETAIL_COUNTED_HPP

#include <haft/counted.h>
#include <haft/detail/owner.hpp>
#include <memory>
#include <optional>

namespace haft
{

/*
 * Made by haft::counted: empty where the id was stale, and when it was moved from or reset.  It may
 * change threads, and ends before its table does.
 */
template <class T> class holder
{
  public:
    holder() noexcept = default;
    /* Of a hold that the caller has; NULL: none. */
    holder(haft_counted *table, haft::id<T> id, void *object) noexcept
        : table_(table), id_(id), object_(static_cast<T *>(object))
    {
    }
    holder(holder &&other) noexcept
        : table_(other.table_), id_(other.id_), object_(std::exchange(other.object_, nullptr))
    {
    }
    holder &operator=(holder &&other) noexcept
    {
        holder moved(std::move(other));

        std::swap(table_, moved.table_);
        std::swap(id_, moved.id_);
        std::swap(object_, moved.object_);
        return *this;
    }
    ~holder() { reset(); }

    /* haft_counted_release(), now. */
    void reset() noexcept
    {
        if (std::exchange(object_, nullptr) != nullptr) {
            [[maybe_unused]] const haft_status status = haft_counted_release(table_, id_.untyped());

            assert(status == HAFT_OK);
        }
    }

    /* haft_counted_again(): another holder of the object, which may have been freed. */
    holder again() const noexcept
    {
        const bool holds = object_ != nullptr && haft_counted_again(table_, id_.untyped());

        return holder(table_, id_, holds ? object_ : nullptr);
    }

    /*
     * Empty it, and leave the hold to the caller: for haft_counted_release(), or in a forked child
     * for the table's abandon().
     */
    T *detach() noexcept { return std::exchange(object_, nullptr); }

    explicit operator bool() const noexcept { return object_ != nullptr; }
    haft::id<T> id() const noexcept { return id_; }
    T *get() const noexcept { return object_; }
    T &operator*() const noexcept { return *object_; }
    T *operator->() const noexcept { return object_; }

  private:
    haft_counted *table_ = nullptr;
    haft::id<T> id_;
    T *object_ = nullptr;
};

/*
 * The destructor, and an assignment to one that is open, close it.  Where haft_counted_close() says
 * no, the table stays open for ever: a line on stderr says so, and debug builds assert.  close()
 * answers.
 */
template <class T>
class counted : public detail::owner<haft_counted, detail::telling_closer<haft_counted_close>>
{
    using base = detail::owner<haft_counted, detail::telling_closer<haft_counted_close>>;
    using base::handle_;

  public:
    using object_type = T;
    using id_type = haft::id<T>;
    using holder_type = haft::holder<T>;

    class walk;

    counted() noexcept = default;

    /* HAFT_BAD_COPIES with `copies` if T is not trivially copyable. */
    static result<counted> open(haft_counted_options options) noexcept
    {
        detail::check_object_type<T>();
        bool pins = false;
        haft_counted *opened = nullptr;

        assert(!detail::has_destructor<T> || options.on_destroy == nullptr);
        if constexpr (detail::has_destructor<T>) {
            options.on_destroy = detail::destroy<T, void *>;
        }
        haft_status status =
            haft_type_complete(haft_type{sizeof(T), alignof(T), 0, false}, &options.object_size,
                               &options.object_alignment, &pins);

        if (status == HAFT_OK && options.copies && !std::is_trivially_copyable_v<T>) {
            status = HAFT_BAD_COPIES;
        }
        status = status == HAFT_OK ? haft_counted_open(&options, &opened) : status;
        return status == HAFT_OK ? result<counted>(counted(opened)) : status;
    }
    static result<counted> open(uint64_t capacity) noexcept
    {
        return open(detail::with_capacity<haft_counted_options>(capacity));
    }

    /* Where the answer is not HAFT_OK, the table stays open.  An empty one: HAFT_OK. */
    haft_status close() noexcept { return this->close_by(haft_counted_close); }
    haft_status close_wait() noexcept { return this->close_by(haft_counted_close_wait); }
    void abandon() noexcept { haft_counted_abandon(handle_.release()); }

    /*
     * A T made of `args`, in its slot; in a table with `copies` it is made first, and copied in.
     * Fails as haft_counted_insert().
     */
    template <class... Args> result<id_type> emplace(Args &&...args) const
    {
        const auto emplaced =
            detail::emplace<T>(haft_counted_reserve, haft_counted_abort, haft_counted_publish,
                               handle_.get(), std::forward<Args>(args)...);

        if constexpr (std::is_trivially_copyable_v<T> && sizeof(T) <= 64) {
            /* `copies`, which larger objects cannot have; `args` are untouched. */
            if (emplaced.status() == HAFT_BAD_COPIES) {
                return insert(detail::make<T>(std::forward<Args>(args)...));
            }
        }
        return emplaced;
    }

    /* Empty where the id is not live; in a table with `copies` the object is not to be changed. */
    holder_type acquire(id_type id) const noexcept
    {
        return holder_type(handle_.get(), id, haft_counted_acquire(handle_.get(), id.untyped()));
    }
    /* Empty only where on_bad_access returns. */
    holder_type require(id_type id) const
    {
        return holder_type(handle_.get(), id, haft_counted_require(handle_.get(), id.untyped()));
    }

    /* The object's value, in a table with `copies`; none where the id is not live. */
    std::optional<T> copy(id_type id) const noexcept
    {
        static_assert(std::is_trivially_copyable_v<T>, "a copy is one of bytes");
        alignas(T) unsigned char bytes[sizeof(T)];

        if (!haft_counted_copy(handle_.get(), id.untyped(), bytes)) {
            return std::nullopt;
        }
        return *std::launder(reinterpret_cast<const T *>(bytes));
    }

    haft_status free(id_type id) const noexcept
    {
        return haft_counted_free(handle_.get(), id.untyped());
    }
    /* The object, moved out of the table; HAFT_IN_USE while it is held. */
    result<T> take(id_type id) const noexcept
    {
        static_assert(is_trivially_relocatable<T> && detail::moves_nothrow<T>,
                      "an object that is taken is moved by its bytes: specialise "
                      "haft::is_trivially_relocatable where T may be moved so");
        alignas(T) unsigned char bytes[sizeof(T)];
        const haft_status status = haft_counted_take(handle_.get(), id.untyped(), bytes);

        if (status != HAFT_OK) {
            return status;
        }
        T *object = std::launder(reinterpret_cast<T *>(bytes));
        result<T> taken(std::move(*object));

        std::destroy_at(object);
        return taken;
    }

    bool is_live(id_type id) const noexcept
    {
        return haft_counted_is_live(handle_.get(), id.untyped());
    }
    haft_status diagnose(id_type id) const noexcept
    {
        return haft_counted_diagnose(handle_.get(), id.untyped());
    }
    /* haft_counted_explain(); of an id haft_counted_diagnose_format(). */
    std::string explain(haft_status status) const
    {
        return detail::line_of([&](char *text, std::size_t size) {
            return haft_counted_explain(handle_.get(), status, text, size);
        });
    }
    std::string explain(id_type id) const
    {
        return detail::line_of([&](char *text, std::size_t size) {
            return haft_counted_diagnose_format(handle_.get(), id.untyped(), text, size);
        });
    }
    /* haft_counted_id_at(): `id` is untouched where the index is out of range. */
    haft_status id_at(uint64_t index, id_type &id) const noexcept
    {
        haft_id found = id.untyped();
        const haft_status status = haft_counted_id_at(handle_.get(), index, &found);

        id = id_type(found);
        return status;
    }
    haft_counted_stats stats() const noexcept { return haft_counted_stats_get(handle_.get()); }

    /*
     * haft_counted_cursor_next(): `for (auto [id, session] : sessions.scan())`.  Each object is
     * held until the loop goes on to the next one.
     */
    walk scan() const noexcept { return walk(handle_.get()); }

  private:
    explicit counted(haft_counted *opened) noexcept : base(opened) {}

    result<id_type> insert(const T &made) const noexcept
    {
        haft_id id;
        const haft_status status = haft_counted_insert(handle_.get(), std::addressof(made), &id);

        return status == HAFT_OK ? result<id_type>(id_type(id)) : status;
    }
};

/* The live objects, for one range-for. */
template <class T> class counted<T>::walk
{
  public:
    struct end_mark {
    };
    class iterator
    {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = entry<T>;
        using reference = entry<T>;
        using pointer = void;
        using difference_type = std::ptrdiff_t;

        explicit iterator(haft_counted *table) noexcept : table_(table) { ++*this; }
        iterator &operator++() noexcept
        {
            haft_id id = HAFT_NIL;
            void *object = nullptr;

            held_.reset();
            (void)haft_counted_cursor_next(table_, &cursor_, &id, &object);
            held_ = holder_type(table_, id_type(id), object);
            return *this;
        }
        void operator++(int) noexcept { ++*this; }
        entry<T> operator*() const noexcept { return entry<T>{held_.id(), *held_}; }
        friend bool operator==(const iterator &at, end_mark) noexcept { return !at.held_; }
        friend bool operator!=(const iterator &at, end_mark) noexcept { return bool(at.held_); }

      private:
        haft_counted *table_;
        haft_counted_cursor cursor_ = {0};
        holder_type held_;
    };

    explicit walk(haft_counted *table) noexcept : table_(table) {}
    iterator begin() const noexcept { return iterator(table_); }
    end_mark end() const noexcept { return end_mark(); }

  private:
    haft_counted *table_;
};

} // namespace haft

#endif // HAFT_DETAIL_COUNTED_HPP
