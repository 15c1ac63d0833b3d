#pragma once
#include "crt.h"
typedef struct _iobuf FILE;
#define EOF (-1)
CRT int remove(const char *path);
CRT FILE *__acrt_iob_func(unsigned number);
#define stdin __acrt_iob_func(0)
#define stdout __acrt_iob_func(1)
#define stderr __acrt_iob_func(2)
CRT int snprintf(char *to, size_t size, const char *format, ...);
CRT int vsnprintf(char *to, size_t size, const char *format, va_list arguments);
CRT int fprintf(FILE *to, const char *format, ...);
CRT int printf(const char *format, ...);
CRT int fputs(const char *text, FILE *to);
CRT int fflush(FILE *file);
CRT size_t fwrite(const void *bytes, size_t size, size_t count, FILE *to);
