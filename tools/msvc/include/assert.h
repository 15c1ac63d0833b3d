#include "crt.h"
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
CRT void _wassert(const wchar_t *what, const wchar_t *file, unsigned line);
#define HAFT_WIDE_(text) L##text
#define HAFT_WIDE(text) HAFT_WIDE_(text)
#define assert(condition)                                                                          \
    ((void)(!!(condition) || (_wassert(HAFT_WIDE(#condition), HAFT_WIDE(__FILE__), __LINE__), 0)))
#endif
