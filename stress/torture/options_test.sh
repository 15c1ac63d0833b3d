#!/bin/bash
# Options out of range are refused by name; the summary and the JSON hold what they promise, also
# those of a run that is interrupted.
set -euo pipefail

readonly torture=$1
readonly out=$(mktemp)
trap 'rm -f "$out"' EXIT
failed=0

fail()
{
    echo "FAILED: $*"
    failed=1
}

# refuses <text> <option...>: exit 2, and the text in the message
refuses()
{
    local text=$1 status=0 said
    shift
    said=$("$torture" "$@" 2>&1) || status=$?
    [[ $status == 2 ]] || fail "$*: exit $status"
    [[ $said == *"$text"* ]] || fail "$*: said '$said', not '$text'"
}

refuses "--threads must be from 2 to 64, not '1'" --threads 1
refuses "--threads must be from 2 to 64, not '65'" --threads 65
refuses "--threads must be from 2 to 64, not 'many'" --threads many
refuses "--seconds must be from" --seconds -1
refuses "--minutes must be from" --minutes 1x
refuses "--seconds and --minutes are 0" --seconds 0
refuses "--seed must be from" --seed ""
refuses "--clock must be caller, thread, workers or frame, not 'sun'" --clock sun
refuses "--flavour must be memb, qsbr, mb, bp or ck, not 'sweet'" --flavour sweet
refuses "--flavour has no meaning with --clock frame" --flavour memb --clock frame
refuses "--profile must be all or one that --list names, not 'none'" --profile none
refuses "--break must be grace, not 'leg'" --break leg
refuses "no argument is wanted, such as '7'" 7

grep -q 'torture --minutes 60 --clock thread' < <("$torture" --help) || fail "help has no examples"
[[ $("$torture" --list | wc -l) == 19 ]] || fail "the list has not every profile"

text=$("$torture" --seconds 1 --profile plain --seed 7) || fail "a short run: exit $?"
[[ $text == *"seed 7"*"grace periods that had ended since"*"no violation"* ]] ||
    fail "the summary: $text"

json=$("$torture" --seconds 1 --profile plain --seed 7 --json) || fail "with --json: exit $?"
for part in '"seed": 7' '"violations": 0' '"interrupted": false' '"clock": "caller"' '"ages_in_grace_periods": [' \
    '"plain": {"plays":'; do
    [[ $json == *"$part"* ]] || fail "the JSON has no $part"
done

# interrupted <option...>: a run that gets SIGINT as soon as it catches it exits with 130; what it
# said goes to out.  One play of it would last ten seconds.
interrupted()
{
    local status=0 pid
    "$torture" --seconds 50 "$@" >"$out" 2>&1 &
    pid=$!
    while [[ "/proc/$pid/exe" -ef "/proc/$$/exe" ]] || # not yet what it is to run
        { kill -0 $pid && ! grep -qE '^SigCgt:.*[2367abef]$' "/proc/$pid/status"; }; do
        sleep 0.1
    done
    kill -INT $pid || fail "interrupted, $*: it ended by itself"
    wait $pid || status=$?
    [[ $status == 130 ]] || fail "interrupted, $*: exit $status"
}

interrupted --profile large
grep -qE '^torture: interrupted after [0-9]\.[0-9] s of 50, no violation$' "$out" ||
    fail "the summary when interrupted: $(<"$out")"
! grep -q 'NEVER MET' "$out" || fail "interrupted, it says that races were never met"

interrupted --profile plain --json
grep -q '"interrupted": true' "$out" && grep -qE '"seconds": [0-9]\.[0-9],' "$out" &&
    python3 -m json.tool "$out" >/dev/null || fail "the JSON when interrupted: $(<"$out")"
exit $failed
