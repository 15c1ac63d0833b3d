#!/bin/bash
# jobs_* with each clock; a job that blocks, with and without letting go; and what must be refused.
#
# Usage: jobs_test.sh <jobs_glib, jobs_libuv, jobs_openmp or jobs_tbb>
set -euo pipefail

program=$(realpath "$1")
name=$(basename "$1")
readonly program name
err=$(mktemp "${TEST_TMPDIR:-/tmp}/jobs_test.XXXXXX")
readonly err
trap 'rm -f "$err"' EXIT
# shellcheck source=examples/program_support.sh
source "$(dirname "${BASH_SOURCE[0]}")/program_support.sh"

# What may stand on stderr.
may_say='^$'

# run_well <arguments>: all monsters die once, in no more slots than the table has
run_well()
{
    run "$@"
    { [[ $code == 0 ]] && ! grep -qv "$may_say" "$err"; } || fail "$*: exit $code, says '$(<"$err")'"
    local lived='([1-9],)?[0-9]{1,3} slots'
    grep -qE "^100,000 deaths, 100,000 hits too late; 100,000 monsters lived in $lived\$" \
        <<<"$out" || fail "$*: printed '$out'"
}

# blocked: grace periods that ended and monsters that died meanwhile, without commas
blocked()
{
    sed -nE 's/^a job blocked .* meanwhile ([0-9,]+) grace.*ended, ([0-9,]+) monsters.*/\1 \2/p' \
        <<<"$out" | tr -d ,
}

# While a job goes on, the others can only use up the slots: no more than 2,000 for
# each grace period that was all but over when it began, of which each thread may have had one.
check_held()
{
    local periods deaths may_say='^haft: no grace period has ended for .* wait: '
    run_well --block 200 --stall 100 "$@"
    read -r periods deaths < <(blocked)
    [[ $periods -le 4 && $deaths -le 10000 ]] ||
        fail "$*: $periods grace periods and $deaths deaths in one job"
}

# Where it lets go, all others die before it goes on.
check_let_go()
{
    local periods deaths
    run_well --block 40000 --let-go "$@"
    read -r periods deaths < <(blocked)
    [[ $periods -ge 10 && $deaths -ge 89000 ]] ||
        fail "$*: $periods grace periods and $deaths deaths beside a job that lets go"
}

# The systems have one file for what clocks differ in: all of them on one system.
clocks=(memb workers)
[[ $name != jobs_glib ]] || clocks=(memb qsbr ck thread workers)

for clock in "${clocks[@]}"; do
    run_well --clock $clock
    check_held --clock $clock
done
run_well --threads 2

if [[ $name == jobs_openmp ]]; then
    check_held # and nothing helps: the frame waits for its jobs
    check_held --let-go
else
    for clock in "${clocks[@]}"; do
        check_let_go --clock $clock
    done
    refuse "--clock must be memb, qsbr, ck, thread or workers, not 'frame'" --clock frame
fi

run --help
[[ $code == 0 && $out == "Usage: $name "*Examples:* ]] || fail "--help says '$out'"
refuse "--clock must be memb, qsbr, ck, thread" --clock sun
refuse "--threads must be from 2 to 64, not '1'" --threads 1
refuse "--threads must be from 2 to 64, not '4x'" --threads 4x
refuse "--block must be from 1 to 60000, not '0'" --block 0
refuse "--stall must be from 1 to 60000, not '0'" --stall 0
refuse "'4' is no option" 4
refuse "--fast" --fast

[[ $failures == 0 ]] || exit 1
