#!/bin/bash
# explore.sh - a case in all the ways that the explorer has, each for a few seconds at most.
#
# Usage: explore.sh <explorer> <case> <preemptions in sc> <preemptions in c11>
#
# In each memory: random schedules, then all with so many preemptions; with 0 preemptions four
# times as many random ones instead.  A schedule takes much longer under ThreadSanitizer, so there
# are fewer of them there, and one preemption less.  HAFT_SCHEDULES=N is for long runs: N random
# schedules, and up to ten times as many with one preemption more.
set -euo pipefail

readonly explorer=$1 case=$2 sc=$3 c11=$4
schedules=250
most=6000 # of those with so many preemptions
more=0
if [[ ${HAFT_SANITIZER:-} == thread ]]; then # .bazelrc
    schedules=200
    most=2000
    more=-1
fi
if [[ -n ${HAFT_SCHEDULES:-} ]]; then
    schedules=$HAFT_SCHEDULES
    most=$((10 * schedules))
    more=1
fi
export TSAN_OPTIONS="halt_on_error=1 exitcode=66 atexit_sleep_ms=0"

# explore <memory> <preemptions>
explore()
{
    if [[ $2 -lt 1 ]]; then
        "$explorer" --case "$case" --memory "$1" --schedules "$((4 * schedules))"
        return
    fi
    "$explorer" --case "$case" --memory "$1" --schedules "$schedules"
    "$explorer" --case "$case" --memory "$1" --schedules "$most" --mode exhaustive \
        --preemptions "$2"
}

explore sc "$((sc + more))"
explore c11 "$((c11 + more))"
