#!/bin/bash
# must_fail.sh - runs a torture that is broken on purpose until it is found out.
#
# Usage: must_fail.sh <report|any|skip> <program> [option...]
#   report  only ThreadSanitizer's report of a data race counts
#   any     so does a violation that the program itself saw
#   skip    nothing is run: the build has another sanitizer
#
# Up to 5 tries with seeds of their own.  Exits with 0 as soon as one is rejected in a way that
# counts; with 1 if all held, or a program died of something else.
set -euo pipefail

export TSAN_OPTIONS="halt_on_error=1 exitcode=66 report_thread_leaks=0"
readonly accepted=$1 program=$2
shift 2
[[ $accepted != skip ]] || exit 0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

for try in 1 2 3 4 5; do
    status=0
    "$program" "$@" --seed "$((RANDOM + 1))" >"$log" 2>&1 || status=$?
    if [[ $status == 66 ]] && grep -q 'ThreadSanitizer: data race' "$log"; then
        echo "try $try: $(grep -m1 '^SUMMARY' "$log")"
        exit 0
    elif [[ $status == 3 && $accepted == any ]]; then
        echo "try $try: $(grep -m1 VIOLATION "$log")"
        exit 0
    elif [[ $status != 0 && $status != 1 ]]; then
        echo "try $try: exit $status"
        cat "$log"
        exit 1
    fi
    echo "try $try: held: $(tail -n 1 "$log")"
done
echo "must_fail: nobody noticed"
exit 1
