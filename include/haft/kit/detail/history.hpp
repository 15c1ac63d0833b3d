/*
 * haft/kit/detail/history.hpp - haft::history: the last states of a haft::local or haft::packed
 * (haft/kit/snapshot.h), and objects of a clone that are made by their constructors.
 */
#ifndef HAFT_DETAIL_HISTORY_HPP
#define HAFT_DETAIL_HISTORY_HPP

#include <haft/detail/local.hpp>
#include <haft/kit/snapshot.h>
#include <type_traits>

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

#endif // HAFT_DETAIL_HISTORY_HPP
