#pragma once
#include "crt.h"
CRT int *_errno(void);
#define errno (*_errno())
#define EINVAL 22
#define ENOMEM 12
