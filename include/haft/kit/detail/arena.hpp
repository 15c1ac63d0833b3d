/*
 * haft/kit/detail/arena.hpp - haft::arena: bump allocation (haft/kit/arena.h) of C++ objects, which
 * are destroyed when the arena is reset, rewound or ends, the last one made first.
 */
#ifndef HAFT_DETAIL_ARENA_HPP
#define HAFT_DETAIL_ARENA_HPP

#include <haft/detail/owner.hpp>
#include <haft/kit/arena.h>

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

#endif // HAFT_DETAIL_ARENA_HPP
