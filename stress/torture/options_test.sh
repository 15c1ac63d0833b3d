#!/bin/bash
# Options out of range are refused by name; the summary and the JSON hold what they promise.
set -euo pipefail

readonly torture=$1
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
refuses "--flavour must be memb, qsbr, mb or bp, not 'sweet'" --flavour sweet
refuses "--flavour has no meaning with --clock frame" --flavour memb --clock frame
refuses "--profile must be all or one that --list names, not 'none'" --profile none
refuses "--break must be grace, not 'leg'" --break leg
refuses "no argument is wanted, such as '7'" 7

"$torture" --help | grep -q 'torture --minutes 60 --clock thread' || fail "help has no examples"
[[ $("$torture" --list | wc -l) == 15 ]] || fail "the list has not every profile"

text=$("$torture" --seconds 1 --profile plain --seed 7) || fail "a short run: exit $?"
[[ $text == *"seed 7"*"grace periods that had ended since"*"no violation"* ]] ||
    fail "the summary: $text"

json=$("$torture" --seconds 1 --profile plain --seed 7 --json) || fail "with --json: exit $?"
for part in '"seed": 7' '"violations": 0' '"clock": "caller"' '"ages_in_grace_periods": [' \
    '"plain": {"plays":'; do
    [[ $json == *"$part"* ]] || fail "the JSON has no $part"
done
exit $failed
