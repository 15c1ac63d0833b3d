#!/bin/bash
# model.sh - all states of the models of slot, batch and clock, by Spin; and each broken model must
# violate the assertion that is there for it.
#
# Usage: model.sh [--large]
#   --large   more threads and steps as well: some minutes, and up to 6 GB of memory
#
# Prints a row for each model: errors, states, and what was violated.  Exits with 1 if a model has
# an error, or a broken one none; with 2 if it could not be tried.
set -euo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
readonly folder
# Each with the assertion that it must violate.
readonly slot_mutants=(
    "NO_CAS batches[s]==0" "TICKET_EARLY object[s]==id" "DONE_LATE object[s]==id"
    "NO_GRACE object[s]==id" "NO_TICKET object[s]==id" "PUBLISH_EARLY object[s]==id"
    "SAME_GENERATION id>issued[taken]" "NO_MAX s>=done" "BATCH_TWICE batches[taken]==1"
)
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

# explore <level> <model> <define...>: Spin's report on all states, or up to the first error; the
# compiler's level of optimisation is for how many states there may be
explore()
{
    local level=$1 model=$2
    shift 2
    rm -f "$work"/pan*
    (cd "$work" && spin -a "$@" "$folder/$model.pml") >"$work/log" 2>&1 &&
        gcc -w "$level" -DSAFETY -DCOLLAPSE -DMEMLIM=6000 -o "$work/pan" "$work/pan.c" ||
        cannot "$model $*: $(cat "$work/log")"
    (cd "$work" && ./pan -m1000000) >"$work/report" || cannot "$model $*: $(cat "$work/report")"
    # What was cut short has shown nothing.
    if grep -q -e 'out of memory' -e 'max search depth too small' -e 'memory limit' "$work/report"; then
        cannot "$model $*: too large"
    fi
}

# row <assertion> <model> <define...>: which must be violated; none if empty
row()
{
    local expected=${1:+assertion violated ($1)} level=-O0 model=$2 errors states why
    [[ -n $expected ]] || level=-O1
    shift 2
    explore "$level" "$model" "$@"
    errors=$(grep -o 'errors: [0-9]*' "$work/report")
    states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' "$work/report")
    why=$(sed -n 's/^pan:1: \(.*\) (at depth.*/\1/p' "$work/report")
    printf '%-8s %-52s %-9s %9s states  %s\n' "$model" "$*" "$errors" "$states" "$why"
    if [[ $why != "$expected" || (-z $expected && $errors != "errors: 0") ]]; then
        echo "    FAILED: must be ${expected:-without error}"
        failed=1
    fi
}

small()
{
    local mutant
    row "" slot
    row "" slot $batch_of_two
    row "" workers
    for mutant in "${slot_mutants[@]}"; do
        row "${mutant#* }" slot "-D${mutant% *}"
    done
    row "object[s]==id" slot $batch_of_two -DTICKET_EARLY
    for mutant in "${workers_mutants[@]}"; do
        row "object==held" workers "-D$mutant"
    done
}

large()
{
    row "" slot -DREADERS=2
    row "" slot -DSECTIONS=2 -DPERIODS=2
    row "" slot -DSLOTS=2 -DFREES=2 -DDRIVERS=1
    row "" slot -DBATCH=2 -DSLOTS=2 -DDRIVERS=1
    row "" workers -DSTEPS=7
    row "" workers -DTHREADS=3 -DSTEPS=3
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
