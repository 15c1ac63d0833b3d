#!/bin/bash
# explore.sh - a case in all the ways that the explorer has, each for a few seconds at most.
#
# Usage: explore.sh <explorer> <the same under ThreadSanitizer> <case> <preemptions in sc> <in c11>
#
# In each memory: random schedules under ThreadSanitizer, which sees races and takes longer for a
# schedule, then without it all with so many preemptions; with 0 preemptions four times as many
# random ones instead.  HAFT_SCHEDULES=N is for long runs: N random schedules, and up to ten times
# as many with one preemption more; a fifth of both under ThreadSanitizer.
set -euo pipefail

readonly explorer=$1 judged=$2 case=$3 sc=$4 c11=$5
readonly long=${HAFT_SCHEDULES:-}
export TSAN_OPTIONS="halt_on_error=1 exitcode=66 atexit_sleep_ms=0"

# random <explorer> <memory> <schedules>
random()
{
    "$1" --case "$case" --memory "$2" --schedules "$3"
}

# exhaust <explorer> <memory> <preemptions> <schedules at most>
exhaust()
{
    "$1" --case "$case" --memory "$2" --schedules "$4" --mode exhaustive --preemptions "$3"
}

# explore <memory> <preemptions>
explore()
{
    random "$judged" "$1" 200
    if [[ $2 == 0 ]]; then
        random "$explorer" "$1" 1000
    else
        exhaust "$explorer" "$1" "$2" 6000
    fi
}

# explore_long <memory> <preemptions>
explore_long()
{
    random "$explorer" "$1" "$long"
    exhaust "$explorer" "$1" $(($2 + 1)) $((10 * long))
    random "$judged" "$1" $((long / 5))
    exhaust "$judged" "$1" $(($2 + 1)) $((2 * long))
}

"explore${long:+_long}" sc "$sc"
"explore${long:+_long}" c11 "$c11"
