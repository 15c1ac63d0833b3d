#!/bin/bash
# The library without an operating system asks for nothing beyond the C library, and works.
#
# Usage: bare_test.sh <program>
set -euo pipefail

readonly program=$1

# Of C: memory, strings, stdio's text, the end.  strdup and strnlen are C's since C23.
readonly c='abort|aligned_alloc|calloc|exit|f?printf|fputc|fputs|free|fwrite|malloc|mem[a-z]*|qsort|realloc'
readonly more_c='(v?sn|f)printf|stderr|str[a-z]*|__assert_fail|__stack_chk_fail|__[a-z]*_chk'
# Of the compiler, its sanitizers, and what starts a program.
readonly start='__libc_start_main|__cxa_finalize|__gmon_start__|_ITM_[A-Za-z]*|__tls_get_addr|__[a-z]*san_[a-z_0-9]*'

extra=$(nm --undefined-only "$program" | awk '{ sub(/@.*/, "", $2); print $2 }' |
    grep -vxE "$c|$more_c|$start" || true)
if [[ -n $extra ]]; then
    echo "beyond the C library:"
    echo "$extra"
    exit 1
fi
"$program"
