#pragma once
// What libc++ takes from Visual C++'s runtime library.
#include <vcruntime_exception.h>
class type_info
{
  public:
    type_info(const type_info &) = delete;
    virtual ~type_info() noexcept;
    bool operator==(const type_info &other) const noexcept;
    bool before(const type_info &other) const noexcept;
    size_t hash_code() const noexcept;
    const char *name() const noexcept;
};
namespace std
{
using ::type_info;
} // namespace std
