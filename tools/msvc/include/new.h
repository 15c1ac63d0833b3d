#pragma once
// What libc++ takes from Visual C++'s runtime library.
#include "crt.h"
#include <vcruntime_exception.h>
namespace std
{
enum class align_val_t : size_t {};
struct nothrow_t {
    explicit nothrow_t() = default;
};
extern const nothrow_t nothrow;
typedef void (*new_handler)();
} // namespace std
void *operator new(size_t size, const std::nothrow_t &) noexcept;
void operator delete(void *object, const std::nothrow_t &) noexcept;
inline void *operator new(size_t, void *where) noexcept
{
    return where;
}
inline void operator delete(void *, void *) noexcept
{
}
