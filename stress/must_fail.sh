#!/bin/bash
# must_fail.sh - runs a program that is broken on purpose until it is found out.
#
# Usage: must_fail.sh <report|any|skip> <nothing|what> <program> [argument...]
#   report  only ThreadSanitizer's report of a data race counts
#   any     so does a violation that the program itself saw, and in a build under AddressSanitizer
#           its report of a freed slot that was used
#   skip    nothing is run: the build has another sanitizer
#   what    HAFT_BROKEN of stress/hooked.c, for a program that links it; first the program is run
#           without it, and must not be rejected
#   SEED    in an argument: a number, another one in each try
#
# Up to 30 tries, in ten minutes.  Exits with 0 as soon as one is rejected in a way that counts;
# with 1 if all held, or a program died of something else.
set -euo pipefail

export TSAN_OPTIONS="halt_on_error=1 exitcode=66 report_thread_leaks=0 atexit_sleep_ms=0"
# By default 1, as of a run that met no race.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}exitcode=67"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:+$UBSAN_OPTIONS:}exitcode=67"
readonly accepted=$1 what=$2
shift 2
[[ $accepted != skip ]] || exit 0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# try <command...>: its exit status, what it says goes to the log
try()
{
    status=0
    "${@//SEED/$((RANDOM + 1))}" >"$log" 2>&1 || status=$?
}

broken=()
if [[ $what != nothing ]]; then
    try "$@"
    echo "nothing is broken: exit $status: $(tail -n 1 "$log")"
    [[ $status -le 1 ]] || { cat "$log" && exit 1; }
    broken=(env "HAFT_BROKEN=$what")
fi
for number in {1..30}; do
    [[ $SECONDS -lt 600 ]] || break
    try "${broken[@]}" "$@"
    if [[ $status == 66 ]] && grep -q 'ThreadSanitizer: data race' "$log"; then
        echo "try $number: $(grep -m1 '^SUMMARY' "$log")"
        exit 0
    # Another thread may use the slot again before the report looks why.
    elif [[ $status == 67 && $accepted == any ]] &&
        grep -qE ': (use-after-poison|unknown-crash) ' "$log"; then
        echo "try $number: $(grep -m1 '^SUMMARY' "$log")"
        exit 0
    elif [[ $status == 3 && $accepted == any ]]; then
        echo "try $number: $(grep -m1 VIOLATION "$log")"
        exit 0
    elif [[ $status != 0 && $status != 1 ]]; then
        echo "try $number: exit $status"
        cat "$log"
        exit 1
    fi
    echo "try $number: held: $(tail -n 1 "$log")"
done
echo "must_fail: every try held"
exit 1
