#!/bin/bash
# The corpus of fuzz/options.c comes to each status of an option out of range.
#   fuzz/options_reached.sh <options_test> <folder> <status.h>...
set -euo pipefail

readonly program=$1 folder=$2 headers=("${@:3}")
missing=0

said=$("$program" --operations 0 --tell "$folder" 2>&1)
for status in $(grep -ohE '^( *|#define )HAFT_BAD_[A-Z_]*' "${headers[@]}" | sed 's/.* //'); do
    if ! grep -q ": $status\$" <<<"$said"; then
        echo "no input in $folder comes to $status" >&2
        missing=1
    fi
done
exit "$missing"
