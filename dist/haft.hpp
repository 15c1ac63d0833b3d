/*
 * haft.hpp - haft 0.2.0: for C++17, over haft.h
 *
 * Copyright (c) 2026 The haft authors.  SPDX-License-Identifier: MIT
 * Made of haft's sources by ./dev amalgamate; changes belong there.
 */
#ifndef HAFT_HAFT_HPP
#define HAFT_HAFT_HPP

#include "haft.h"
#include <cassert>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

/*
 * haft/detail/result.hpp - what C++ functions of haft answer that can fail: a value, or why there
 * is none.
 *
 *   if (auto id = ships.emplace(7)) { use(*id); } else { log(haft_status_text(id.status())); }
 */

namespace haft
{

namespace detail
{

/* A line on stderr: what has failed, and why. */
inline void complain(const char *subject, const char *what, haft_status why,
                     const char *text) noexcept
{
    std::fprintf(stderr, "haft: %s %s: %s (%s)\n", subject, what, text, haft_status_name(why));
}

} // namespace detail

/*
 * result - a V, or a status that is not HAFT_OK.  Moved-from, it holds a moved-from value.
 *
 * All functions: any thread, no ordering, wait-free, O(1).
 */
template <class V> class [[nodiscard]] result
{
  public:
    result(haft_status why) noexcept : status_(why) { assert(why != HAFT_OK); }
    result(const V &value) noexcept(std::is_nothrow_copy_constructible_v<V>) : value_(value) {}
    result(V &&value) noexcept : value_(std::move(value)) {}

    explicit operator bool() const noexcept { return value_.has_value(); }
    bool has_value() const noexcept { return value_.has_value(); }
    /* HAFT_OK where there is a value. */
    haft_status status() const noexcept { return status_; }

    /* Only where there is a value: otherwise debug builds say the status on stderr, and abort. */
    V &operator*() &noexcept { return *checked(*this); }
    const V &operator*() const &noexcept { return *checked(*this); }
    V &&operator*() &&noexcept { return std::move(*checked(*this)); }
    V *operator->() noexcept { return checked(*this); }
    const V *operator->() const noexcept { return checked(*this); }

    /* The same, and release builds do so too. */
    V &value() &noexcept { return *expected(*this); }
    const V &value() const &noexcept { return *expected(*this); }
    V &&value() &&noexcept { return std::move(*expected(*this)); }

    /* Only where there is no value. */
    haft_status error() const noexcept
    {
        assert(!has_value() && "a result with a value has no error: see status()");
        return status_;
    }

    /* The value, or `other` where there is none. */
    V value_or(V other) &&noexcept { return value_ ? std::move(*value_) : std::move(other); }

  private:
    template <class Result> static auto *expected(Result &from) noexcept
    {
        if (!from.value_.has_value()) {
            detail::complain("a haft::result", "has no value to use", from.status_,
                             haft_status_text(from.status_));
            std::abort();
        }
        return &*from.value_;
    }
    template <class Result> static auto *checked(Result &from) noexcept
    {
#ifdef NDEBUG
        return &*from.value_;
#else
        return expected(from);
#endif
    }

    std::optional<V> value_;
    haft_status status_ = HAFT_OK;
};

} // namespace haft

/*
 * haft/detail/id.hpp - ids that know what they name: haft::id<ship> is no haft::id<torpedo>.
 *
 * T need not be complete, so that objects can hold ids of each other.  All functions here: any
 * thread, no ordering, wait-free, O(1).
 */

#if defined(__cpp_impl_three_way_comparison) && __has_include(<compare>)
#include <compare>
#endif

namespace haft
{

/* Eight bytes, as haft_id.  A new one, and zeroed memory, is nil. */
template <class T> class id
{
  public:
    constexpr id() noexcept = default;

    /* From and to the C type: the only ways. */
    constexpr explicit id(haft_id untyped) noexcept : id_(untyped) {}
    constexpr haft_id untyped() const noexcept { return id_; }

    constexpr bool is_nil() const noexcept { return id_.bits == 0; }
    /* Whether it is not nil; not whether it is live. */
    constexpr explicit operator bool() const noexcept { return id_.bits != 0; }

    friend constexpr bool operator==(id a, id b) noexcept { return a.id_.bits == b.id_.bits; }
    friend constexpr bool operator!=(id a, id b) noexcept { return a.id_.bits != b.id_.bits; }

    /* A total order, for maps and sorting; it says nothing about the objects. */
    friend constexpr bool operator<(id a, id b) noexcept { return a.id_.bits < b.id_.bits; }
    friend constexpr bool operator>(id a, id b) noexcept { return b < a; }
    friend constexpr bool operator<=(id a, id b) noexcept { return !(b < a); }
    friend constexpr bool operator>=(id a, id b) noexcept { return !(a < b); }
#ifdef __cpp_lib_three_way_comparison
    friend constexpr std::strong_ordering operator<=>(id a, id b) noexcept
    {
        return a.id_.bits <=> b.id_.bits;
    }
#endif

  private:
    haft_id id_ = {0};
};

/* An array of ids as the C functions take it. */
template <class T> const haft_id *untyped(const id<T> *ids) noexcept
{
    static_assert(sizeof(id<T>) == sizeof(haft_id), "an id and nothing else");
    return reinterpret_cast<const haft_id *>(ids);
}

/*
 * haft_id_format() - "17v3": the index and the generation, of a table with that layout.  explain()
 * of a table knows its own.
 */
template <class T> std::string to_string(id<T> id, haft_layout layout = HAFT_LAYOUT_32_32)
{
    char text[HAFT_ID_TEXT_SIZE];

    haft_id_format(layout, id.untyped(), text, sizeof text);
    return text;
}

/* to_string() of the default layout. */
template <class Traits, class T>
std::basic_ostream<char, Traits> &operator<<(std::basic_ostream<char, Traits> &out, id<T> id)
{
    return out << to_string(id).c_str();
}

} // namespace haft

template <class T> struct std::hash<haft::id<T>> {
    std::size_t operator()(haft::id<T> id) const noexcept
    {
        /* The index is in the low bits, the generation above.  Both must count in the low bits of
         * the hash, also where they change together. */
        const uint64_t product = id.untyped().bits * UINT64_C(0x9e3779b97f4a7c15);

        return std::hash<uint64_t>()(product ^ product >> 32);
    }
};

/*
 * haft/detail/view.hpp - resolving typed ids, and walking over live objects: what haft::local and
 * haft::table have in common.
 */

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

/*
 * haft/detail/owner.hpp - what the classes of haft/haft.hpp that own an object of C have in common.
 *
 * A new, moved-from or closed one is empty: it may be tested, assigned to, closed and destroyed,
 * and nothing else.
 *
 * Moving and std::swap() throw nothing, call no function of C, and move no object.  Ids, views,
 * pointers, sides, histories and workers belong to the object of C, wherever it is owned: after
 * std::swap(a, b) an id that `a` had issued is found in `b`, and not in `a`.
 */

namespace haft::detail
{

/* Ends what is owned by one function of C. */
template <auto Close> struct closer {
    template <class Handle> void operator()(Handle *handle) const noexcept { Close(handle); }
};

/* What owns such a handle. */
template <class Handle> inline constexpr const char *owner_name = nullptr;
template <> inline constexpr const char *owner_name<haft_counted> = "a haft::counted";
template <> inline constexpr const char *owner_name<haft_domain> = "a haft::domain";
template <> inline constexpr const char *owner_name<haft_table> = "a haft::table";
template <> inline constexpr const char *owner_name<haft_worker> = "a haft::worker";

/* A line on why the handle answers `status`; into `text`, of `size` bytes. */
inline void explain_into(const haft_counted *table, haft_status status, char *text, size_t size)
{
    haft_counted_explain(table, status, text, size);
}
inline void explain_into(const haft_table *table, haft_status status, char *text, size_t size)
{
    haft_table_explain(table, status, text, size);
}
inline void explain_into(const void *, haft_status status, char *text, size_t size)
{
    std::snprintf(text, size, "%s", haft_status_text(status));
}

/* The same where the function may refuse: it stays open for ever, with a line on stderr, and debug
 * builds assert. */
template <auto Close> struct telling_closer {
    template <class Handle> void operator()(Handle *handle) const noexcept
    {
        const haft_status status = Close(handle);

        if (status != HAFT_OK) {
            char text[256];

            explain_into(handle, status, text, sizeof text);
            complain(owner_name<Handle>, "ends and cannot be closed", status, text);
        }
        assert(status == HAFT_OK);
    }
};

/*
 * A function of the caller's, for a callback of C.  What it throws does not unwind the library,
 * which keeps state meanwhile: the function is not called again, and rethrow() throws it.
 */
template <class Function> class carried
{
  public:
    explicit carried(Function &function) noexcept : function_(function) {}

    /* function(arguments), true for void; or `otherwise` once it has thrown. */
    template <class Result, class... Arguments>
    Result call([[maybe_unused]] Result otherwise, Arguments &&...arguments) noexcept
    {
#ifdef __cpp_exceptions
        if (thrown_ != nullptr) {
            return otherwise;
        }
        try {
            return run<Result>(std::forward<Arguments>(arguments)...);
        } catch (...) {
            thrown_ = std::current_exception();
            return otherwise;
        }
#else
        return run<Result>(std::forward<Arguments>(arguments)...);
#endif
    }

    void rethrow() const
    {
#ifdef __cpp_exceptions
        if (thrown_ != nullptr) {
            std::rethrow_exception(thrown_);
        }
#endif
    }

  private:
    template <class Result, class... Arguments> Result run(Arguments &&...arguments)
    {
        if constexpr (std::is_void_v<decltype(function_(std::forward<Arguments>(arguments)...))>) {
            function_(std::forward<Arguments>(arguments)...);
            return true;
        } else {
            return function_(std::forward<Arguments>(arguments)...);
        }
    }

    Function &function_;
#ifdef __cpp_exceptions
    std::exception_ptr thrown_;
#endif
};

/* The line that say(text, size), which is as snprintf, writes. */
template <class Say> std::string line_of(Say say)
{
    std::string line(200, '\0');
    auto length = static_cast<std::size_t>(say(&line[0], line.size() + 1));

    if (length > line.size()) {
        line.resize(length);
        length = static_cast<std::size_t>(say(&line[0], line.size() + 1));
    }
    line.resize(length < line.size() ? length : line.size()); /* it may have grown between */
    return line;
}

template <class Handle, class Closer> class owner
{
  public:
    explicit operator bool() const noexcept { return handle_ != nullptr; }
    /* For what has no function here. */
    Handle *untyped() const noexcept { return handle_.get(); }

  protected:
    owner() noexcept = default;
    explicit owner(Handle *handle) noexcept : handle_(handle) {}
    ~owner() { end_owned(); }
    owner(owner &&) noexcept = default;
    owner &operator=(owner &&other) noexcept
    {
        if (this != &other) {
            end_owned();
            handle_ = std::move(other.handle_);
        }
        return *this;
    }

    /* Ends what is owned; until that is done, destructors of objects find it here. */
    void end_owned() noexcept
    {
        if (handle_ != nullptr) {
            handle_.get_deleter()(handle_.get());
            handle_.release();
        }
    }

    /* haft_..._close(); where the answer is not HAFT_OK, it stays open.  Empty: HAFT_OK. */
    template <class Close> haft_status close_by(Close close) noexcept
    {
        const haft_status status = handle_ == nullptr ? HAFT_OK : close(handle_.get());

        if (status == HAFT_OK) {
            handle_.release();
        }
        return status;
    }

    std::unique_ptr<Handle, Closer> handle_;
};

/* Tables whose objects stay in their slots. */
template <class T, pins P, class Handle, class Closer>
class slot_owner : public owner<Handle, Closer>
{
  public:
    using object_type = T;
    using id_type = haft::id<T>;
    using view_type = haft::view<T, P>;

    T *resolve(id_type id) const noexcept { return view_.resolve(id); }
    bool is_live(id_type id) const noexcept { return view_.is_live(id); }
    view_type view() const noexcept { return view_; }

  protected:
    slot_owner() noexcept = default;
    slot_owner(Handle *handle, haft_view view) noexcept : owner<Handle, Closer>(handle), view_(view)
    {
    }

    view_type view_;
};

/* Whether a callback destroys objects; and ~T() for it. */
template <class T> inline constexpr bool has_destructor = !std::is_trivially_destructible_v<T>;

template <class T, class... Rest> void destroy(void *object, haft_id, Rest...) noexcept
{
    std::destroy_at(static_cast<T *>(object));
}

template <class Options> Options with_capacity(uint64_t capacity) noexcept
{
    Options options = {};

    options.capacity = capacity;
    return options;
}

/*
 * A T made of `args` in a slot; with_id: of its id and `args`.  Given up where its constructor
 * throws.
 */
template <class T, bool with_id = false, class Handle, class... Args>
result<id<T>> emplace(haft_status (*reserve)(Handle *, haft_id *, void **),
                      void (*abort)(Handle *, haft_id), void (*publish)(Handle *, haft_id),
                      Handle *in, Args &&...args)
{
    haft_id id;
    void *bytes;
    const haft_status status = reserve(in, &id, &bytes);

    if (status != HAFT_OK) {
        return status;
    }
    reservation reserved([=] { abort(in, id); });
    if constexpr (with_id) {
        construct<T>(bytes, haft::id<T>(id), std::forward<Args>(args)...);
    } else {
        construct<T>(bytes, std::forward<Args>(args)...);
    }
    reserved.keep();
    publish(in, id);
    return haft::id<T>(id);
}

} // namespace haft::detail

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

/*
 * haft/detail/domain.hpp - haft::domain, and what a thread does with it, as objects that undo what
 * they did when they go out of scope: haft::registered_thread, haft::read_section, haft::job,
 * haft::parked, haft::offline.
 *
 * Each function is one call of the function of its name in haft/domain.h, whose contract
 * holds.
 */

namespace haft
{

/*
 * domain - a grace-period clock.  Its tables end before it does.  Moved-from and closed ones are
 * empty: they may be tested, assigned to, closed and destroyed.
 *
 * The destructor, and an assignment to one that is open, close it.  Where haft_domain_close() says
 * no, the domain stays open for ever: a line on stderr says so, and debug builds assert.  close()
 * answers.
 */
class domain : public detail::owner<haft_domain, detail::telling_closer<haft_domain_close>>
{
  public:
    domain() noexcept = default;

    static result<domain> open(const haft_domain_options &options) noexcept
    {
        haft_domain *opened;
        const haft_status status = haft_domain_open(&options, &opened);

        return status == HAFT_OK ? result<domain>(domain(opened)) : status;
    }
    /* The workers or the frame clock. */
    static result<domain> open(haft_clock clock = HAFT_CLOCK_WORKERS) noexcept
    {
        haft_domain_options options = {};

        options.clock = clock;
        return open(options);
    }
    /* The thread or the caller clock, with a foreign one such as haft_urcu_memb(). */
    static result<domain> open(haft_clock clock, const haft_foreign_clock *foreign_clock) noexcept
    {
        haft_domain_options options = {};

        options.clock = clock;
        options.foreign_clock = foreign_clock;
        return open(options);
    }

    /* Where the answer is not HAFT_OK, nothing has been done.  An empty one: HAFT_OK. */
    haft_status close() noexcept { return close_by(haft_domain_close); }

    haft_status wait() const noexcept { return haft_domain_wait(handle_.get()); }
    haft_status tick() const noexcept { return haft_domain_tick(handle_.get()); }
    haft_domain_stats stats() const noexcept { return haft_domain_stats_get(handle_.get()); }

  private:
    explicit domain(haft_domain *opened) noexcept : owner(opened) {}
};

namespace detail
{

/* One call where it begins, one where it ends, by the same thread. */
template <void (*Begin)(haft_domain *), void (*End)(haft_domain *)> class scope
{
  public:
    explicit scope(const domain &domain) noexcept : scope(domain.untyped()) {}
    explicit scope(haft_domain *domain) noexcept : domain_(domain) { Begin(domain_); }
    scope(const scope &) = delete;
    scope &operator=(const scope &) = delete;
    ~scope() { End(domain_); }

  private:
    haft_domain *domain_;
};

/* The same, where what the first call returns is for the second. */
template <haft_job_state (*Begin)(haft_domain *), void (*End)(haft_domain *, haft_job_state)>
class stateful_scope
{
  public:
    explicit stateful_scope(const domain &domain) noexcept : stateful_scope(domain.untyped()) {}
    explicit stateful_scope(haft_domain *domain) noexcept : domain_(domain), state_(Begin(domain))
    {
    }
    stateful_scope(const stateful_scope &) = delete;
    stateful_scope &operator=(const stateful_scope &) = delete;
    ~stateful_scope() { End(domain_, state_); }

  private:
    haft_domain *domain_;
    haft_job_state state_;
};

} // namespace detail

/* haft_job_begin() to haft_job_end(): what it resolves stays until then, through inner jobs. */
using job = detail::stateful_scope<haft_job_begin, haft_job_end>;

/* haft_thread_park() to _unpark(): around a wait, or what blocks, in a job. */
using parked = detail::stateful_scope<haft_thread_park, haft_thread_unpark>;

/* haft_thread_register() to haft_thread_unregister(): once for each thread and foreign clock. */
using registered_thread = detail::scope<haft_thread_register, haft_thread_unregister>;

/* haft_section_begin() to haft_section_end(): what is resolved within may be used within. */
using read_section = detail::scope<haft_section_begin, haft_section_end>;

/* haft_thread_offline() to _online(): around what blocks, with qsbr and the workers clock. */
using offline = detail::scope<haft_thread_offline, haft_thread_online>;

} // namespace haft

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

/*
 * haft/detail/pin.hpp - haft::pin<T>: an object held beyond a read section (haft/pin.h), and let go
 * at the end of the pin's life.
 */

namespace haft
{

/*
 * Made by haft::table::pin().  Empty where the id was stale, and when it was moved from or reset.
 * It ends before its table does, on any thread.  Each is one haft_pin() and one haft_unpin(), whose
 * contracts hold.
 */
template <class T> class pin
{
  public:
    pin() noexcept = default;
    pin(haft_table *table, id<T> id) noexcept
        : table_(table), id_(id), object_(static_cast<T *>(haft_pin(table, id.untyped())))
    {
    }
    pin(pin &&other) noexcept
        : table_(other.table_), id_(other.id_), object_(std::exchange(other.object_, nullptr))
    {
    }
    pin &operator=(pin &&other) noexcept
    {
        pin moved(std::move(other));

        std::swap(table_, moved.table_);
        std::swap(id_, moved.id_);
        std::swap(object_, moved.object_);
        return *this;
    }
    ~pin() { reset(); }

    /* Let go now. */
    void reset() noexcept
    {
        if (std::exchange(object_, nullptr) != nullptr) {
            [[maybe_unused]] const haft_status status = haft_unpin(table_, id_.untyped());

            assert(status == HAFT_OK);
        }
    }

    explicit operator bool() const noexcept { return object_ != nullptr; }
    T *get() const noexcept { return object_; }
    T &operator*() const noexcept { return *object_; }
    T *operator->() const noexcept { return object_; }

  private:
    haft_table *table_ = nullptr;
    id<T> id_;
    T *object_ = nullptr;
};

} // namespace haft

/*
 * haft/detail/worker.hpp - haft::worker<T>: a thread's own part of a haft::table<T> (haft/table.h).
 *
 * Each function is one call of the function of its name in haft/table.h or haft/share.h, whose
 * contract holds.  Only a constructor of T throws, and then the reservation has been given up.
 */

namespace haft
{

namespace detail
{

/* The view of the worker's table; empty, so that nothing is freed in place, if the library is of
 * another version than these headers, or slots lie otherwise. */
template <class T, pins P> view<T, P> view_in_place(const haft_worker *worker) noexcept
{
    if (worker == nullptr || !haft_worker_has_front(worker)) {
        return view<T, P>();
    }
    const haft_view found = haft_table_view(haft_worker_table(worker));

    return found.stride == sizeof(slot<T, P>) ? view<T, P>(found) : view<T, P>();
}

} // namespace detail

/* worker_ref - a worker that this object does not close.  A value; for its thread alone. */
template <class T, pins P = pins::no> class worker_ref
{
  public:
    using id_type = haft::id<T>;

    worker_ref() noexcept = default;
    /* Of a table of such objects, which is not looked at. */
    explicit worker_ref(haft_worker *worker) noexcept
        : worker_(worker), view_(detail::view_in_place<T, P>(worker))
    {
    }

    /* A T made of `args`.  Fails as haft_reserve(), and as haft_reserve_wait(). */
    template <class... Args> result<id_type> emplace(Args &&...args) const
    {
        return detail::emplace<T>(haft_reserve, haft_abort, haft_publish, worker_,
                                  std::forward<Args>(args)...);
    }
    template <class... Args> result<id_type> emplace_wait(Args &&...args) const
    {
        return detail::emplace<T>(haft_reserve_wait, haft_abort, haft_publish, worker_,
                                  std::forward<Args>(args)...);
    }

    /* In place, as typed tables do; ~T() runs after the grace period, on the worker that takes the
     * slot back. */
    haft_status free(id_type id) const noexcept
    {
        return haft_free_front(worker_, view_.untyped(), id.untyped());
    }
    std::size_t free_many(const id_type *ids, std::size_t count,
                          haft_status *statuses = nullptr) const noexcept
    {
        return haft_free_many(worker_, haft::untyped(ids), count, statuses);
    }

    haft_status quiescent() const noexcept { return haft_worker_quiescent(worker_); }
    haft_status flush() const noexcept { return haft_worker_flush(worker_); }
    haft_worker *untyped() const noexcept { return worker_; }
    explicit operator bool() const noexcept { return worker_ != nullptr; }

  protected:
    haft_worker *worker_ = nullptr;

  private:
    view<T, P> view_;
};

/*
 * worker - one that is closed at the end of its life, by the thread that opened it: made by
 * haft::table::open_worker().  Moved-from and closed ones are empty.
 *
 * haft_worker_close() refuses in callbacks, and ~T() of an object in a table runs in one.  There
 * use haft::table::free(): a worker that ends there stays open; a line on stderr says so, and debug
 * builds assert.
 */
template <class T, pins P = pins::no> class worker : public worker_ref<T, P>
{
    using base = worker_ref<T, P>;

  public:
    worker() noexcept = default;
    explicit worker(haft_worker *opened) noexcept : base(opened) {}
    worker(worker &&other) noexcept : base(other) { other.worker_ = nullptr; }
    worker &operator=(worker &&other) noexcept
    {
        worker moved(std::move(other));

        std::swap(static_cast<base &>(*this), static_cast<base &>(moved));
        return *this;
    }
    ~worker()
    {
        if (this->worker_ != nullptr) {
            detail::telling_closer<haft_worker_close>()(this->worker_);
        }
    }
    /* haft_worker_close(); where the answer is not HAFT_OK, it stays open.  Empty: HAFT_OK. */
    haft_status close() noexcept
    {
        const haft_status status =
            this->worker_ == nullptr ? HAFT_OK : haft_worker_close(this->worker_);

        if (status == HAFT_OK) {
            this->worker_ = nullptr;
        }
        return status;
    }
};

} // namespace haft

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

/*
 * haft/haft.hpp - haft for C++17: tables of objects with constructors and destructors, ids that
 * know their type, and everything closed at the end of its scope.
 *
 *   auto domain = haft::domain::open(HAFT_CLOCK_CALLER, haft_urcu_memb());   // haft/urcu.h
 *   auto ships = haft::table<ship>::open(*domain, 1000);
 *   auto worker = ships->open_worker();
 *   auto id = worker->emplace("Beagle", 7);
 *   const haft::registered_thread registered(*domain);
 *   {
 *       haft::read_section section(*domain);
 *       if (ship *found = ships->resolve(*id)) { ... }
 *   }
 *   worker->free(*id);      ~ship() runs when no section can see it any more
 *
 * It is a layer of inline functions over the C headers, which it includes: as fast, and with the
 * same contracts.  What can fail returns a haft::result or a haft_status.  It needs neither
 * exceptions nor run-time type information, and passes on what constructors throw.  For what has no
 * member here, such as haft_trim(): untyped() is the C library's pointer, of every class that owns.
 *
 * open() is the C function of its class.  Size, alignment and pins may be left 0 in the options;
 * where they are not T's: HAFT_BAD_OBJECT_SIZE, HAFT_BAD_OBJECT_ALIGNMENT, HAFT_BAD_PINS.  Where
 * ~T() does something, it takes the place of on_destroy or on_reclaim, which must be NULL then.
 *
 * Programs include this header alone.  What there is, in haft/detail/:
 *
 *   table.hpp, worker.hpp   haft::table<T>, haft::worker<T>
 *   counted.hpp             haft::counted<T>, for any thread; haft::holder<T>
 *   local.hpp               haft::local<T>
 *   id.hpp, view.hpp        haft::id<T>; haft::view<T>, which resolves, and scans
 *   domain.hpp              haft::domain, haft::read_section, haft::registered_thread, and so on
 *   pin.hpp                 haft::pin<T>
 *   result.hpp, owner.hpp   haft::result<T>; what owners have in common
 */

#endif // HAFT_HAFT_HPP
