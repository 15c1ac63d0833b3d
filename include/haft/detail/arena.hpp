/*
 * haft/detail/arena.hpp - haft::arena: bump allocation (haft/arena.h) of C++ objects, which are
 * destroyed when the arena is reset, rewound or ends, the last one made first.
 */
#ifndef HAFT_DETAIL_ARENA_HPP
#define HAFT_DETAIL_ARENA_HPP

#include <haft/arena.h>
#include <haft/detail/result.hpp>
#include <haft/detail/view.hpp>

namespace haft
{

/*
 * Each function is one call of the haft_arena_ function of its name, whose contract holds.
 * Moved-from and closed arenas are empty: they may be tested, assigned to, closed and destroyed.
 */
class arena
{
  public:
    arena() noexcept = default;
    arena(arena &&other) noexcept : arena_(std::exchange(other.arena_, nullptr)) {}
    arena &operator=(arena &&other) noexcept
    {
        arena moved(std::move(other));

        std::swap(arena_, moved.arena_);
        return *this;
    }
    ~arena() { close(); }

    static result<arena> open(const haft_arena_options &options = {}) noexcept
    {
        arena opened;
        const haft_status status = haft_arena_open(&options, &opened.arena_);

        return status == HAFT_OK ? result<arena>(std::move(opened)) : status;
    }
    void close() noexcept
    {
        if (arena_ != nullptr) {
            haft_arena_close(std::exchange(arena_, nullptr));
        }
    }
    explicit operator bool() const noexcept { return arena_ != nullptr; }

    /*
     * A T made of `args`; NULL if there is no memory, and then no constructor has run.  Where one
     * throws, its bytes are given back at the next reset.
     */
    template <class T, class... Args> T *create(Args &&...args)
    {
        detail::check_object_type<T>();
        if constexpr (std::is_trivially_destructible_v<T>) {
            void *bytes = haft_arena_alloc_aligned(arena_, sizeof(T), alignof(T));

            return bytes == nullptr ? nullptr
                                    : detail::construct<T>(bytes, std::forward<Args>(args)...);
        } else {
            return create_counted<T>(std::forward<Args>(args)...);
        }
    }

    void reset() noexcept { haft_arena_reset(arena_); }
    haft_mark mark() const noexcept { return haft_arena_mark(arena_); }
    void rewind(haft_mark mark) noexcept { haft_arena_rewind(arena_, mark); }
    haft_arena_stats stats() const noexcept { return haft_arena_stats_get(arena_); }
    haft_arena *untyped() const noexcept { return arena_; }

  private:
    /* An object that is noted for clean-up before it is made, since the note may fail. */
    template <class T> struct noted {
        bool is_made = false;
        alignas(T) unsigned char bytes[sizeof(T)];

        static void clean_up(void *arg) noexcept
        {
            noted *self = static_cast<noted *>(arg);

            if (self->is_made) {
                std::destroy_at(std::launder(reinterpret_cast<T *>(self->bytes)));
            }
        }
    };
    template <class T, class... Args> T *create_counted(Args &&...args)
    {
        void *bytes = haft_arena_alloc_aligned(arena_, sizeof(noted<T>), alignof(noted<T>));

        if (bytes == nullptr) {
            return nullptr;
        }
        noted<T> *note = ::new (bytes) noted<T>;
        if (haft_arena_on_reset(arena_, noted<T>::clean_up, note) != HAFT_OK) {
            return nullptr;
        }
        T *made = detail::construct<T>(note->bytes, std::forward<Args>(args)...);
        note->is_made = true;
        return made;
    }

    haft_arena *arena_ = nullptr;
};

} // namespace haft

#endif // HAFT_DETAIL_ARENA_HPP
