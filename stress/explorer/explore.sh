#!/bin/bash
# explore.sh - a case in all the ways that the explorer has, each for some seconds at most.
#
# Usage: explore.sh <explorer> <case> <preemptions>
#
# Random schedules in both memories, then all schedules with so many preemptions, in both.
set -euo pipefail

readonly explorer=$1 case=$2 preemptions=$3
export TSAN_OPTIONS="halt_on_error=1 exitcode=66"

for memory in sc c11; do
    "$explorer" --case "$case" --memory "$memory" --schedules 2000
done
for memory in sc c11; do
    "$explorer" --case "$case" --memory "$memory" --mode exhaustive --preemptions "$preemptions" \
        --schedules 20000
done
