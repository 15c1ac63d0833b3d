/*
 * haft/detail/view.hpp - resolving typed ids, and walking over live objects: what haft::local and
 * haft::table have in common.
 */
#ifndef HAFT_DETAIL_VIEW_HPP
#define HAFT_DETAIL_VIEW_HPP

#include <cstddef>
#include <haft/detail/id.hpp>
#include <haft/local.h>
#include <haft/scan.h>
#include <haft/typed.h>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace haft
{

/* Whether a table's objects can be pinned: see haft/pin.h. */
enum class pins : bool { no, yes };

/*
 * Whether a T may be moved by copying its bytes and forgetting the old ones, without a constructor
 * or destructor.  So can most types: those without pointers into themselves, such as
 * std::unique_ptr.  The language cannot tell for types that are not trivially copyable, so their
 * authors say it:
 *
 *   template <> inline constexpr bool haft::is_trivially_relocatable<particle> = true;
 */
template <class T> inline constexpr bool is_trivially_relocatable = std::is_trivially_copyable_v<T>;

namespace detail
{

template <class T> constexpr void check_object_type() noexcept
{
    static_assert(std::is_object_v<T> && !std::is_array_v<T>, "a table holds objects");
    static_assert(!std::is_const_v<T> && !std::is_volatile_v<T>, "objects can be written");
    static_assert(std::is_nothrow_destructible_v<T>,
                  "no caller could catch what a destructor throws");
    static_assert(alignof(T) <= 4096, "see object_alignment in haft/table.h");
}

/* How far apart slots are: the word and what fills up to the alignment, the object, the pins. */
template <class T, pins P> struct slot {
    alignas(8) uint64_t word[HAFT_TYPED_WORDS(T, P == pins::yes)];
    T object;
};

template <class T, pins P> constexpr haft_type type_of() noexcept
{
    check_object_type<T>();
    return haft_type{sizeof(T), alignof(T), sizeof(slot<T, P>), P == pins::yes};
}

/* Constructs a T at `bytes`, an aggregate too. */
template <class T, class... Args> T *construct(void *bytes, Args &&...args)
{
    if constexpr (std::is_constructible_v<T, Args...>) {
        return ::new (bytes) T(std::forward<Args>(args)...);
    } else {
        return ::new (bytes) T{std::forward<Args>(args)...};
    }
}

template <class T, class... Args> constexpr bool constructs_nothrow() noexcept
{
    if constexpr (std::is_constructible_v<T, Args...>) {
        return std::is_nothrow_constructible_v<T, Args...>;
    } else {
        return noexcept(T{std::declval<Args>()...});
    }
}

template <class T>
inline constexpr bool moves_nothrow =
    std::is_trivially_copyable_v<T> || std::is_nothrow_move_constructible_v<T>;

/* A T made as by construct(), to be moved to its place: its constructor may throw, the move may
 * not. */
template <class T, class... Args> T make(Args &&...args)
{
    static_assert(moves_nothrow<T>,
                  "an object whose constructor may throw is made first, and moved to its place");
    if constexpr (std::is_constructible_v<T, Args...>) {
        return T(std::forward<Args>(args)...);
    } else {
        return T{std::forward<Args>(args)...};
    }
}

/* Gives a reservation up, unless told that the object has been made: constructors may throw. */
template <class Abort> class reservation
{
  public:
    explicit reservation(Abort abort) noexcept : abort_(abort) {}
    reservation(const reservation &) = delete;
    reservation &operator=(const reservation &) = delete;
    ~reservation()
    {
        if (!is_made_) {
            abort_();
        }
    }
    void keep() noexcept { is_made_ = true; }

  private:
    Abort abort_;
    bool is_made_ = false;
};

/* Two slots of a view in which no id is found: see HAFT_VIEW_EMPTY. */
template <class T, pins P> class no_slots
{
  public:
    static slot<T, P> *first() noexcept
    {
        return reinterpret_cast<slot<T, P> *>(const_cast<uint64_t *>(all_.words_));
    }

  private:
    static constexpr std::size_t before = HAFT_TYPED_WORDS(T, P == pins::yes) - 1;

    constexpr no_slots() noexcept : words_() { words_[before] = 1; }

    static const no_slots all_;
    alignas(slot<T, P>) uint64_t words_[before + sizeof(slot<T, P>) / 8 + 1];
};

template <class T, pins P> constexpr no_slots<T, P> no_slots<T, P>::all_{};

} // namespace detail

/*
 * view - what resolving needs: a small value.  It stays valid and unchanged until the table is
 * closed, also when the table object is moved, shared or unshared.
 */
template <class T, pins P = pins::no> class view
{
  public:
    /* No id is found in it. */
    view() noexcept = default;

    /* Of a table of such objects, which is not looked at: tables check when they are made. */
    explicit view(haft_view untyped) noexcept
        : slots_(reinterpret_cast<detail::slot<T, P> *>(untyped.base - before_word)),
          mask_(untyped.mask)
    {
    }
    haft_view untyped() const noexcept
    {
        return haft_view{reinterpret_cast<char *>(slots_) + before_word, mask_,
                         sizeof(detail::slot<T, P>)};
    }

    /* haft_resolve(), haft_is_live(), haft_resolve_many(): as fast, and inlined as they are. */
    T *resolve(id<T> id) const noexcept
    {
        return static_cast<T *>(haft_resolve(untyped(), id.untyped()));
    }
    bool is_live(id<T> id) const noexcept { return haft_is_live(untyped(), id.untyped()); }
    std::size_t resolve_many(const id<T> *ids, T **objects, std::size_t count) const noexcept
    {
        return haft_resolve_many(untyped(), haft::untyped(ids), reinterpret_cast<void **>(objects),
                                 count);
    }

  private:
    static constexpr std::size_t before_word = 8 * (HAFT_TYPED_WORDS(T, P == pins::yes) - 1);

    detail::slot<T, P> *slots_ = detail::no_slots<T, P>::first(); /* in a debugger: [index] */
    uint64_t mask_ = 1;
};

/* What a walk gives: for (auto [id, ship] : ships) */
template <class T> struct entry {
    haft::id<T> id;
    T &object;
};

namespace detail
{

/* A walk from the last object to the first, in a table of one thread. */
struct backward_run {
    haft_run run;
};

inline bool next(haft_run &walk, haft_id &id, void *&object) noexcept
{
    return haft_run_next(&walk, &id, &object);
}

inline bool next(backward_run &walk, haft_id &id, void *&object) noexcept
{
    return haft_local_run_last(&walk.run, &id, &object);
}

inline bool next(haft_cursor &walk, haft_id &id, void *&object) noexcept
{
    return haft_cursor_next(&walk, &id, &object);
}

} // namespace detail

/*
 * scan - live objects, in order of index or against it, for one range-for.  The loop may free any
 * object, the one it was given too, and insert.  The function that makes the scan promises more.
 */
template <class T, class Walk> class scan
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

        explicit iterator(const Walk &walk) noexcept : walk_(walk) { ++*this; }
        iterator &operator++() noexcept
        {
            is_at_end_ = !detail::next(walk_, id_, object_);
            return *this;
        }
        void operator++(int) noexcept { ++*this; }
        entry<T> operator*() const noexcept
        {
            return entry<T>{haft::id<T>(id_), *static_cast<T *>(object_)};
        }
        friend bool operator==(const iterator &at, end_mark) noexcept { return at.is_at_end_; }
        friend bool operator!=(const iterator &at, end_mark) noexcept { return !at.is_at_end_; }

      private:
        Walk walk_;
        haft_id id_ = {0};
        void *object_ = nullptr;
        bool is_at_end_ = false;
    };

    explicit scan(Walk walk) noexcept : walk_(walk) {}
    iterator begin() const noexcept { return iterator(walk_); }
    end_mark end() const noexcept { return end_mark(); }

  private:
    Walk walk_;
};

} // namespace haft

#endif // HAFT_DETAIL_VIEW_HPP
