#!/bin/bash
# A replay that was built to get wrong answers must say so: exit 1, a count, and what was wrong.
# AddressSanitizer's report of a slot that nobody may look into says it as well.
#
# Usage: replay_mistake_test.sh <replay with a mistake> <trace>
set -euo pipefail

readonly replay=$1 trace=$2
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}exitcode=66"

# says <pattern>: a line of the output
says()
{
    grep -Eq -- "$1" <<<"$output"
}

# With the caller clock and this many objects, slots are certain to be used again.
for workers in 1 4; do
    code=0
    output=$("$replay" --workers "$workers" --clock caller --repeat 40 --json "$trace" 2>&1) || code=$?
    if [[ $code == 66 ]] && says '^==[0-9]+==ERROR: AddressSanitizer: use-after-poison '; then
        continue
    elif [[ $code != 1 ]] || ! says '^replay: wrong: .' ||
        ! says '^  "wrong_answers": [1-9][0-9]*,$'; then
        echo "exit $code with $workers workers, and says:" "$output" >&2
        exit 1
    fi
done
