#pragma once
#include "windows.h"
#define RtlGenRandom SystemFunction036
CRT BOOLEAN WINAPI RtlGenRandom(void *bytes, unsigned long size);
