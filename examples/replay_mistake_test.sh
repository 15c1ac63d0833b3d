#!/bin/bash
# A replay that was built to get wrong answers must say so: exit 1, a count, and what was wrong.
#
# Usage: replay_mistake_test.sh <replay with a mistake> <trace>
set -euo pipefail

readonly replay=$1 trace=$2

# With the caller clock and this many objects, slots are certain to be used again.
for workers in 1 4; do
    code=0
    output=$("$replay" --workers "$workers" --clock caller --repeat 40 --json "$trace" 2>&1) || code=$?
    if [[ $code != 1 ]]; then
        echo "exit $code, not 1, with $workers workers:" "$output" >&2
        exit 1
    fi
    grep -q '^replay: wrong: .' <<<"$output"
    grep -Eq '^  "wrong_answers": [1-9][0-9]*,$' <<<"$output"
done
