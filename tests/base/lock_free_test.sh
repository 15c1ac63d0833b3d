#!/bin/bash
# Where no compare-and-swap of 8 bytes is lock-free haft does not compile, and says why.
#
# Usage: lock_free_test.sh <include/haft/typed.h>
# Environment: CC (gcc)
set -euo pipefail

include=$(dirname "$(dirname "$1")")
readonly include
if ! "${CC:-gcc}" -m32 -march=i586 -x c -fsyntax-only /dev/null 2>/dev/null; then
    echo "not an x86 compiler: skipped"
    exit 0
fi

# compile <machine> <compiler and options...>: the atomics alone, without a C library of 32 bits
compile()
{
    local machine=$1
    shift
    "$@" -m32 "-march=$machine" -ffreestanding -I"$include" -fsyntax-only - \
        <<<'#include <haft/detail/atomics.h>' 2>&1
}

c=("${CC:-gcc}" -std=c11 -x c)
compile i586 "${c[@]}"
if said=$(compile i386 "${c[@]}"); then
    echo "compiles for an i386"
    exit 1
fi
grep -q 'haft needs a lock-free 8-byte compare-and-swap' <<<"$said" || {
    echo "$said"
    exit 1
}
