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
#ifndef HAFT_DETAIL_OWNER_HPP
#define HAFT_DETAIL_OWNER_HPP

#include <exception>
#include <haft/counted.h>
#include <haft/detail/result.hpp>
#include <haft/detail/view.hpp>
#include <haft/domain.h>
#include <haft/table.h>
#include <string>

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

#endif // HAFT_DETAIL_OWNER_HPP
