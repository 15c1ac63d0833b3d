#!/bin/bash
# actions: the same seed, the same commands; commands a shell reads as one file each; refusals.
#
# Usage: actions_test.sh <actions>
set -euo pipefail

readonly program=$1
err=$(mktemp)
readonly err
trap 'rm -f "$err"' EXIT
source "$(dirname "${BASH_SOURCE[0]}")/program_support.sh"

check_same_seed()
{
    run --json --rounds 500 --seed 7
    local first
    first=$(grep -v ns_per_round <<<"$out")
    [[ $code == 0 ]] || fail "exit $code: $(<"$err")"
    run --json --rounds 500 --seed 7
    [[ $(grep -v ns_per_round <<<"$out") == "$first" ]] || fail "the same seed gave another result"
    run --json --rounds 500 --seed 8
    [[ $(value digest "$out") != "$(value digest "$first")" ]] || fail "another seed, the same digest"
}

check_figures()
{
    local key sum=0
    run --json --rounds 500 --seed 7
    for key in created changed grown renamed removed; do
        sum=$((sum + $(value $key "$out")))
    done
    [[ $sum == "$(value actions "$out")" ]] || fail "events sum up to $sum"
    [[ $(value used "$out") == 0 ]] || fail "the arena is in use"
    [[ $(value capacity "$out") == 4096 ]] || fail "the arena has grown"
    [[ $(value high_water "$out") -gt 100 ]] || fail "nothing was used"
}

# What the shell makes of a quoted name is a name of the right form again.
check_quoting()
{
    local command path seen=0
    run --rounds 1 --seed 1
    while read -r command; do
        eval "set -- $command" # words only: nothing is run
        for path in "$@"; do
            [[ $path != /srv/*[0-9] ]] || seen=$((seen + 1))
        done
    done < <(for seed in {1..20}; do
        "$program" --rounds 9 --seed "$seed" | grep -E "^  (chmod|cp|gzip|mv|rm) "
    done)
    [[ $seen -ge 100 ]] || fail "only $seen commands name one file"
}

check_summary()
{
    run
    [[ $code == 0 ]] || fail "exit $code: $(<"$err")"
    grep -q '^1,000 rounds, seed 1:' <<<"$out" || fail "no head: $out"
    grep -qE '^ +[0-9,]+  renamed$' <<<"$out" || fail "no events: $out"
    grep -qE 'digest [0-9a-f]{16}$' <<<"$out" || fail "no digest: $out"
    run --help
    [[ $code == 0 ]] || fail "--help: exit $code"
    grep -q '^Examples:$' <<<"$out" || fail "--help without examples"
}

check_refusals()
{
    refuse "--rounds must be from 1 to 1000000000, not 0" --rounds 0
    refuse "--rounds must be from 1 to 1000000000, not -1" --rounds -1
    refuse "--rounds must be from 1 to 1000000000, not 1000000001" --rounds 1000000001
    refuse "--rounds" --rounds many
    refuse "--rounds" --rounds
    refuse "--seed must be from 0" --seed=-1
    refuse "--seed" --seed x
    refuse "--sed" --sed 1
    refuse "'here'" here
}

check_same_seed
check_figures
check_quoting
check_summary
check_refusals
[[ $failures == 0 ]]
