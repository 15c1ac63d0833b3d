#pragma once
typedef long long jmp_buf[32];
