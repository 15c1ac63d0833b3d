#!/bin/bash
# The replay that tools/replay compiles by gcc alone, for ./dev demo, says the same as Bazel's.
#
# Usage: plain_replay_test.sh <Bazel's replay> <gcc's> <trace>
set -euo pipefail

replay=$(realpath "$1")
plain=$(realpath "$2")
trace=$(realpath "$3")
readonly replay plain trace

# said <program> <arguments>: what it says, without times and what depends on them
said()
{
    local program=$1
    shift
    { "$program" "$@" 2>&1 || echo "exit $?"; } | sed -E -e "s|^$program: |replay: |" \
        -e 's/ +[0-9.,]+ (ns|us|ms|s|a second)\b/ N \1/g; s/ (ns|us|ms|s)\b/ TIME/g' \
        -e 's/(second|peak_slots|p50|p99|max|clock_read)": [0-9]+/\1": N/' \
        -e '/ (slots|second frees|looks) /s/[0-9,]+/N/g; s/ +N/ N/g'
}

# same <arguments>: the same from both
same()
{
    diff <(said "$replay" "$@") <(said "$plain" "$@") || { echo "FAILED: $*" >&2; exit 1; }
}

same --help
same --nonsense
same --workers 0 "$trace"
same --seed 7 --workers 1 --clock workers --repeat 2 "$trace"
same --seed 7 --workers 1 --clock workers --repeat 4 --json "$trace"
