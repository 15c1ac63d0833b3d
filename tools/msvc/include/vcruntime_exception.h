#pragma once
// What libc++ takes from Visual C++'s runtime library.
namespace std
{
class exception
{
  public:
    exception() noexcept;
    exception(const exception &) noexcept;
    explicit exception(const char *) noexcept;
    exception &operator=(const exception &) noexcept;
    virtual ~exception() noexcept;
    virtual const char *what() const;
};

class bad_exception : public exception
{
};

class bad_alloc : public exception
{
};

class bad_array_new_length : public bad_alloc
{
};
} // namespace std
