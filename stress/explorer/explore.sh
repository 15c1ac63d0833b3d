#!/bin/bash
# explore.sh - a case in all the ways that the explorer has, each for some seconds at most.
#
# Usage: explore.sh <explorer> <case> <preemptions>
#
# In both memories: random schedules, then those with so many preemptions, all of them where they
# are no more than 20000.
set -euo pipefail

readonly explorer=$1 case=$2 preemptions=$3
schedules=2000
[[ -z ${TSAN_OPTIONS:-} ]] || schedules=400 # of --config=tsan: each takes much longer there
export TSAN_OPTIONS="halt_on_error=1 exitcode=66"

for memory in sc c11; do
    "$explorer" --case "$case" --memory "$memory" --schedules "$schedules"
    "$explorer" --case "$case" --memory "$memory" --schedules "$((10 * schedules))" \
        --mode exhaustive --preemptions "$preemptions"
done
