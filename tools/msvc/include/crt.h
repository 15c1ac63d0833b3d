/* tools/msvc/include - declarations of what haft uses of Visual C++'s C library and of windows.h,
 * so that Clang can compile haft for that target without either.  They follow the manuals
 * (learn.microsoft.com/cpp/c-runtime-library, learn.microsoft.com/windows/win32/api); nothing here
 * is run. */
#ifndef HAFT_TOOLS_CRT_H
#define HAFT_TOOLS_CRT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define CRT extern "C"
#else
#define CRT
#endif

#endif
