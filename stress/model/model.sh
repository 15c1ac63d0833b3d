#!/bin/bash
# model.sh - all states of the models of slot, batch and clock, by Spin; and each broken model must
# be found broken.
#
# Usage: model.sh [--large]
#   --large   more threads and steps as well: some minutes, and up to 6 GB of memory
#
# Prints a row for each model: errors, states, and what was violated.  Exits with 1 if a model has
# an error, or a broken one none; with 2 if it could not be tried.
set -euo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly folder
readonly slot_mutants=(NO_CAS TICKET_EARLY DONE_LATE NO_GRACE NO_TICKET PUBLISH_EARLY
    SAME_GENERATION NO_MAX BATCH_TWICE)
readonly workers_mutants=(MEMBERS_FIRST AWAY_EARLY ANNOUNCE_EARLY ONLINE_LATE ONE_MISSED)
readonly batch_of_two="-DBATCH=2 -DSLOTS=2 -DWORKERS=1 -DDRIVERS=1"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

cannot()
{
    echo "model.sh: $1" >&2
    exit 2
}

# explore <model> <define...>: Spin's report on all its states, or up to its first error
explore()
{
    local model=$1
    shift
    rm -f "$work"/pan*
    (cd "$work" && spin -a "$@" "$folder/$model.pml") >"$work/log" 2>&1 &&
        gcc -w -O1 -DSAFETY -DCOLLAPSE -DMEMLIM=6000 -o "$work/pan" "$work/pan.c" ||
        cannot "$model $*: $(cat "$work/log")"
    (cd "$work" && ./pan -m1000000) >"$work/report" || cannot "$model $*: $(cat "$work/report")"
    # What was cut short has shown nothing.
    if grep -q -e 'out of memory' -e 'max search depth too small' -e 'memory limit' "$work/report"; then
        cannot "$model $*: too large"
    fi
}

# row <held|found> <model> <define...>: what must come out
row()
{
    local expected=$1 model=$2 errors states why result=held
    shift 2
    explore "$model" "$@"
    errors=$(grep -o 'errors: [0-9]*' "$work/report")
    states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' "$work/report")
    why=$(sed -n 's/^pan:1: \(.*\) (at depth.*/\1/p' "$work/report")
    [[ $errors == "errors: 0" ]] || result=found
    printf '%-8s %-52s %-9s %9s states  %s\n' "$model" "$*" "$errors" "$states" "$why"
    if [[ $result != "$expected" ]]; then
        echo "    FAILED: must be $expected"
        failed=1
    fi
}

small()
{
    local mutant
    row held slot
    row held slot $batch_of_two
    row held workers
    for mutant in "${slot_mutants[@]}"; do
        row found slot "-D$mutant"
    done
    row found slot $batch_of_two -DTICKET_EARLY
    for mutant in "${workers_mutants[@]}"; do
        row found workers "-D$mutant"
    done
}

large()
{
    row held slot -DREADERS=2
    row held slot -DSECTIONS=2 -DPERIODS=2
    row held slot -DSLOTS=2 -DFREES=2 -DDRIVERS=1
    row held slot -DBATCH=2 -DSLOTS=2 -DDRIVERS=1
    row held workers -DSTEPS=7
    row held workers -DTHREADS=3 -DSTEPS=3
}

if [[ ${1:-} == -h || ${1:-} == --help ]]; then
    sed -n '2,9s/^# \{0,1\}//p' "$0"
    exit
fi
for tool in spin gcc; do
    command -v "$tool" >/dev/null || cannot "no $tool: apt-get install $tool"
done
case ${1:-} in
    "") small ;;
    --large)
        small
        large
        ;;
    *) cannot "no option '$1'; there is --large" ;;
esac
exit $failed
