#!/bin/bash
# Each wrong use of arena memory is reported under AddressSanitizer, and harmless without it.
#
# Usage: arena_stale_test.sh <reported|harmless> <arena_stale>
set -euo pipefail

readonly expected=$1 program=$2
export ASAN_OPTIONS="exitcode=67"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

for way in reset rewind behind shrunk freed moved cut own block text; do
    status=0
    "$program" "$way" >"$log" 2>&1 || status=$?
    if [[ $status == 67 ]] && grep -q 'AddressSanitizer: use-after-poison' "$log"; then
        verdict=reported
    elif [[ $status == 0 ]]; then
        verdict=harmless
    else
        verdict="exit $status: $(<"$log")"
    fi
    echo "$way: $verdict"
    [[ $verdict == "$expected" ]] || exit 1
done
