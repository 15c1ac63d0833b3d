#pragma once
#include "crt.h"
CRT uintptr_t _beginthreadex(void *security, unsigned stack, unsigned(__stdcall *start)(void *),
                             void *arg, unsigned flags, unsigned *number);
CRT int _getpid(void);
