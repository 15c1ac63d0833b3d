#!/bin/bash
# found.sh - runs the explorer with the library broken: it must find that out.
#
# Usage: found.sh <violation|report|skip> <what> <explorer> [argument...]
#   violation  a case must see its invariant broken, no thread able to go on, or no end
#   report     ThreadSanitizer must report a data race; AddressSanitizer's report of a freed slot
#              that was used counts as well
#   skip       nothing is run: the build has another sanitizer
#   what       for --break; where a report is wanted, the same schedules must first hold without it
#
# A violation must come again when its schedule is replayed.
set -euo pipefail

readonly wanted=$1 what=$2 explorer=$3
shift 3
[[ $wanted != skip ]] || exit 0
export TSAN_OPTIONS="halt_on_error=1 exitcode=66 report_thread_leaks=0 atexit_sleep_ms=0"
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

if [[ $wanted == report ]]; then
    found=$(verdict "$explorer" "$@")
    [[ $found == "exit 0" ]] || { cat "$log" && echo "found.sh: $found, and nothing is broken" && exit 1; }
fi
found=$(verdict "$explorer" --break "$what" "$@")
cat "$log"
if [[ $found == report && $wanted == violation ]]; then
    exit 0 # a sanitizer may see it before the case does
elif [[ $found != "$wanted" ]]; then
    echo "found.sh: $found, not a $wanted"
    exit 1
fi
if [[ $wanted == violation ]]; then
    read -ra again < <(sed -n 's/^explorer: again with: explorer //p' "$log" | tr -d '"')
    found=$(verdict "$explorer" "${again[@]}")
    [[ $found == violation ]] || { echo "found.sh: the replay ends with $found" && exit 1; }
fi
