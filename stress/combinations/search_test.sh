#!/bin/bash
# search_test.sh - the search finds a fault, shrinks and prints its plan, and finds it again by its
# seed, in a plan that was larger.
#
# Usage: search_test.sh <combinations> <broken combinations> <broken explored>
set -euo pipefail

readonly combinations=$1 broken=$2 broken_explored=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail()
{
    echo "search_test: $*" >&2
    exit 1
}

# expect <status> <command...>: its output goes to $work/log
expect()
{
    local expected=$1 status=0
    shift
    "$@" >"$work/log" 2>&1 || status=$?
    [[ $status == "$expected" ]] || { cat "$work/log" && fail "$*: exit $status, not $expected"; }
}

# The calls of the plan that is printed
steps()
{
    sed -n 's/^ *\.step_count = \([0-9]*\),$/\1/p' "$work/log"
}

# Both programs must find the fault of a broken library, and find it again by its seed.
for program in "$broken" "$broken_explored"; do
    expect 3 "$program" --seed 8 --seconds 60 --shrink 20
    grep -q '^const struct plan plan = {$' "$work/log" || fail "no plan is printed"
    shrunk=$(steps)
    read -r seed < <(sed -n 's/.*, seed \([0-9]*\)$/\1/p' "$work/log")
    expect 3 "$program" --seed "$seed" --plays 1 --shrink 0
    grep -q ", seed $seed\$" "$work/log" || fail "seed $seed: nothing found again"
    [[ $shrunk -lt $(steps) ]] || fail "seed $seed: $shrunk calls, not shrunk"
done

expect 0 "$combinations" --seed 1 --plays 1 --seconds 60
grep -q ': 1 plan, .* 0 found$' "$work/log" || fail "one plan: $(cat "$work/log")"
expect 0 "$combinations" --seed 1 --plays 25920000 --seconds 1
grep -q '; the time was over before all --plays$' "$work/log" || fail "plays left: $(cat "$work/log")"
expect 3 "$broken" --seed 1 --seconds 60 --shrink 0 --json
python3 -c 'import json, sys
found = json.load(sys.stdin)["found"][0]
assert found["rule"] and found["seed"] >= 1
assert found["plan"].startswith("#include \"stress/combinations/plan.h\"\n\nconst struct plan")' \
    <"$work/log" || fail "JSON: $(cat "$work/log")"

# A play that dies says where; that it does not die again is said too.
# (AddressSanitizer would take the signal for itself.)
ASAN_OPTIONS=${ASAN_OPTIONS:-}:handle_segv=0 "$combinations" --seed 1 --seconds 60 --shrink 0 >"$work/log" 2>&1 &
sleep 1
kill -SEGV "$(<"/proc/$!/task/$!/children")"
status=0
wait $! || status=$?
[[ $status == 3 ]] || fail "a play that died: exit $status"
grep -q 'died of signal 11 (once, not when played again)' "$work/log" || fail "a death: $(cat "$work/log")"
grep -q '^[^ ]*combinations(.*+0x' "$work/log" || fail "no calls in which it died: $(cat "$work/log")"

# One that is interrupted says what it has found, and leaves no play and no file behind.
mkdir "$work/tmp"
TEST_TMPDIR=$work/tmp "$broken" --seed 1 --seconds 60 --shrink 0 --go-on --json --pairs "$work/pairs" >"$work/log" 2>&1 &
search=$!
sleep 2
play=$(<"/proc/$search/task/$search/children")
kill -TERM "$search"
status=0
wait "$search" || status=$?
[[ $status == 143 ]] || fail "interrupted: exit $status"
[[ -z ${play// /} || ! -e /proc/${play// /} ]] || fail "a play goes on without its search"
python3 -c 'import json, sys
assert json.load(open(sys.argv[1]))["found"] and json.load(open(sys.argv[2]))["counts"]' \
    "$work/log" "$work/pairs" || fail "interrupted: $(cat "$work/log")"
rmdir "$work/tmp" || fail "files are left: $(find "$work/tmp")"

expect 2 "$combinations" --pairs "$work/nowhere/pairs"
grep -q 'nowhere/pairs: No such file' "$work/log" || fail "pairs: $(cat "$work/log")"
expect 2 "$combinations" --mode schedules
grep -q -- "--mode takes turns or threads, not 'schedules'" "$work/log" || fail "mode: $(cat "$work/log")"
for seconds in -1 0 1s 2592001; do
    expect 2 "$combinations" --seconds "$seconds"
    grep -q -- "--seconds takes a number from 1 to 2592000, not '$seconds'" "$work/log" ||
        fail "seconds: $(cat "$work/log")"
done
expect 0 "$combinations" --help
