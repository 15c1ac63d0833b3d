#pragma once
#define FP_INFINITE 1
#define FP_NAN 2
#define FP_NORMAL (-1)
#define FP_SUBNORMAL (-2)
#define FP_ZERO 0
#ifdef __cplusplus
bool isnan(double number) noexcept;
bool isinf(double number) noexcept;
#endif
