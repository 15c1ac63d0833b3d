#pragma once
#include "crt.h"
CRT void *memcpy(void *to, const void *from, size_t size);
CRT void *memmove(void *to, const void *from, size_t size);
CRT void *memset(void *to, int byte, size_t size);
CRT int memcmp(const void *a, const void *b, size_t size);
CRT void *memchr(const void *in, int byte, size_t size);
CRT size_t strlen(const char *text);
CRT size_t strnlen(const char *text, size_t most);
CRT int strcmp(const char *a, const char *b);
CRT int strncmp(const char *a, const char *b, size_t most);
CRT char *strrchr(const char *text, int byte);
CRT char *strchr(const char *text, int byte);
