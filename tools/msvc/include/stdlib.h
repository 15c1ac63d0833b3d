#pragma once
#include "crt.h"
CRT void *malloc(size_t size);
CRT void *calloc(size_t count, size_t size);
CRT void *realloc(void *block, size_t size);
CRT void free(void *block);
CRT __declspec(noreturn) void abort(void);
CRT __declspec(noreturn) void exit(int status);
CRT void qsort(void *base, size_t count, size_t size, int (*compare)(const void *, const void *));
CRT int atexit(void (*function)(void));
