/*
 * haft/detail/id.hpp - ids that know what they name: haft::id<ship> is no haft::id<torpedo>.
 *
 * T need not be complete, so that objects can hold ids of each other.  All functions here: any
 * thread, no ordering, wait-free, O(1).
 */
#ifndef HAFT_DETAIL_ID_HPP
#define HAFT_DETAIL_ID_HPP

#include <functional>
#include <haft/id.h>
#include <iosfwd>
#include <string>
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

#endif // HAFT_DETAIL_ID_HPP
