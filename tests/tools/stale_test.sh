#!/bin/bash
# Each wrong use of memory that a program knows is reported under AddressSanitizer, and by memcheck
# ("watched"), and harmless without them; so is what begins with "kept" in any case.
#
# Usage: stale_test.sh <reported|watched|harmless> <program> [command that runs it...]
set -euo pipefail

readonly expected=$1 program=$2
readonly under=("${@:3}")
read -ra ways <<<"$("$program" | tr "\n" " ")"
export ASAN_OPTIONS="exitcode=67"
[[ ${#ways[@]} -gt 5 ]] || { echo "few ways: ${ways[*]}"; exit 1; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT

for way in "${ways[@]}"; do
    status=0
    "${under[@]}" "$program" "$way" >"$log" 2>&1 || status=$?
    if [[ $status == 67 ]] && grep -q 'AddressSanitizer: use-after-poison' "$log"; then
        verdict=reported
    elif [[ $status == 67 ]] && grep -qE 'Invalid (read|write)|unaddressable byte' "$log"; then
        verdict=watched
    elif [[ $status == 0 ]]; then
        verdict=harmless
    else
        verdict="exit $status: $(<"$log")"
    fi
    echo "$way: $verdict"
    [[ $way == kept* && $verdict == harmless || $way != kept* && $verdict == "$expected" ]] || exit 1
done
