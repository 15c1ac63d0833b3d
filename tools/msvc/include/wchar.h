#pragma once
#include "crt.h"
typedef struct _Mbstatet {
    unsigned long _Wchar;
    unsigned short _Byte, _State;
} mbstate_t;
typedef unsigned short wint_t;
CRT size_t wcslen(const wchar_t *text);
CRT int wmemcmp(const wchar_t *a, const wchar_t *b, size_t count);
CRT const wchar_t *wcschr(const wchar_t *text, wchar_t each);
CRT const wchar_t *wcspbrk(const wchar_t *text, const wchar_t *any);
CRT const wchar_t *wcsrchr(const wchar_t *text, wchar_t each);
CRT const wchar_t *wcsstr(const wchar_t *text, const wchar_t *part);
CRT const wchar_t *wmemchr(const wchar_t *text, wchar_t each, size_t count);
#define WEOF ((wint_t)0xffff)
