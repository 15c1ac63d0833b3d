#pragma once
#include "crt.h"
#define PRIu64 "llu"
#define PRId64 "lld"
#define PRIx64 "llx"
#define PRIX64 "llX"
#define PRIu32 "u"
#define PRIx32 "x"
#define PRIxPTR "llx"
