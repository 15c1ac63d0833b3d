/*
 * Macros of other libraries, as a source meets them that includes their headers before haft's: each
 * breaks what uses its name.  Behind the system's headers, which their own authors keep in order.
 * ./dev amalgamate reads the names as well, and keeps those that haft.c uses out of it.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __cplusplus
#include <atomic>
#include <cassert>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#else
#include <stdatomic.h>
#endif
#ifdef __unix__
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <unistd.h>
#endif
#ifdef __linux__
#include <sys/syscall.h>
#endif

/* Qt (qobjectdefs.h, qglobal.h) */
#define emit 0macro
#define forever 0macro
#define signals 0macro
#define slots 0macro
#define SIGNAL 0macro
#define SLOT 0macro

/* windows.h and what it includes */
#define far 0macro
#define hyper 0macro
#define interface 0macro
#define near 0macro
#define pascal 0macro
#define small 0macro
#define CALLBACK 0macro
#define CONST 0macro
#define DELETE 0macro
#define ERROR 0macro
#define IN 0macro
#define OPTIONAL 0macro
#define OUT 0macro
#define THIS 0macro
#define VOID 0macro

/* X.h, Xlib.h, Xutil.h */
#define Above 0macro
#define Always 0macro
#define AnyKey 0macro
#define BadAccess 0macro
#define BadAlloc 0macro
#define BadLength 0macro
#define BadMatch 0macro
#define BadName 0macro
#define BadValue 0macro
#define Below 0macro
#define Bool 0macro
#define Complex 0macro
#define Convex 0macro
#define CurrentTime 0macro
#define CursorShape 0macro
#define Expose 0macro
#define False 0macro
#define FocusIn 0macro
#define FocusOut 0macro
#define GrabModeSync 0macro
#define InputFocus 0macro
#define KeyPress 0macro
#define KeyRelease 0macro
#define NoValue 0macro
#define None 0macro
#define NormalState 0macro
#define Opposite 0macro
#define Status 0macro
#define Success 0macro
#define True 0macro
#define Unsorted 0macro

/* complex.h; Arduino.h and ctype.h of some systems */
#define B0 0macro
#define B1 0macro
#define F 0macro
#define I 0macro
#define PI 0macro
#define _B 0macro
#define _C 0macro
#define _L 0macro
#define _N 0macro
#define _P 0macro
#define _S 0macro
#define _U 0macro
#define _X 0macro

/* Qt */
#define foreach(variable, container) 0macro

/* windows.h */
#define max(a, b) 0macro
#define min(a, b) 0macro

/* glib, Arduino */
#define ABS(a) 0macro
#define CLAMP(a, low, high) 0macro
#define MAX(a, b) 0macro
#define MIN(a, b) 0macro
#define bit(b) 0macro
#define sq(a) 0macro

/* curses.h, in C */
#ifndef __cplusplus
#define beep(...) 0macro
#define border(...) 0macro
#define box(...) 0macro
#define clear(...) 0macro
#define delch(...) 0macro
#define echochar(...) 0macro
#define erase(...) 0macro
#define filter(...) 0macro
#define flash(...) 0macro
#define getch(...) 0macro
#define hline(...) 0macro
#define inch(...) 0macro
#define insch(...) 0macro
#define instr(...) 0macro
#define move(...) 0macro
#define refresh(...) 0macro
#define resetterm(...) 0macro
#define scroll(...) 0macro
#define standout(...) 0macro
#define timeout(...) 0macro
#define vline(...) 0macro
#endif
