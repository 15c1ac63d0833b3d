#!/bin/bash
# found.sh - runs the explorer over a library that is broken: it must find that out.
#
# Usage: found.sh <violation|report|skip> <explorer> [argument...]
#   violation  a case must see its invariant broken, no thread able to go on, or no end
#   report     ThreadSanitizer must report a data race; AddressSanitizer's report of a freed slot
#              that was used counts as well
#   skip       nothing is run: the build has another sanitizer
#
# A violation must come again when its schedule is replayed.
set -euo pipefail

readonly wanted=$1
shift
[[ $wanted != skip ]] || exit 0
export TSAN_OPTIONS="halt_on_error=1 exitcode=66 report_thread_leaks=0"
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}exitcode=66"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# verdict <command...>: what the explorer makes of it
verdict()
{
    local status=0
    "$@" >"$log" 2>&1 || status=$?
    if [[ $status == 3 ]]; then
        echo violation
    elif [[ $status == 66 ]] && grep -qE ': (data race|use-after-poison) ' "$log"; then
        echo report
    else
        echo "exit $status"
    fi
}

found=$(verdict "$@")
cat "$log"
if [[ $found == report && $wanted == violation ]]; then
    exit 0 # a sanitizer may see it before the case does
elif [[ $found != "$wanted" ]]; then
    echo "found.sh: $found, not a $wanted"
    exit 1
fi
if [[ $wanted == violation ]]; then
    read -ra again < <(sed -n 's/^explorer: again with: explorer //p' "$log" | tr -d '"')
    found=$(verdict "$1" "${again[@]}")
    [[ $found == violation ]] || { echo "found.sh: the replay ends with $found" && exit 1; }
fi
