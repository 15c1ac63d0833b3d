#pragma once
#include "crt.h"
CRT void *_aligned_malloc(size_t size, size_t alignment);
CRT void *_aligned_realloc(void *block, size_t size, size_t alignment);
CRT void _aligned_free(void *block);
