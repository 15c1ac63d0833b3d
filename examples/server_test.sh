#!/bin/bash
# server: each descriptor is closed exactly once, with 2,000 connections of which some end others
# and make ids up, with more connections than the table holds, and with more than there are
# descriptors.
#
# Usage: server_test.sh <server> <load>
set -euo pipefail

work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/server_test.XXXXXX")
readonly work server=$1 load=$2 idle_ms=50 accept_pause_ms=200
process=
trap '[[ -z $process ]] || kill "$process"; rm -rf "$work"' EXIT
mkfifo "$work/pipe"

fail()
{
    echo "server_test: $*" >&2
    exit 1
}

# start <descriptors> [<argument of server>...]
start()
{
    (ulimit -Sn "$1" && exec "$server" "${@:2}") >"$work/pipe" 2>"$work/errors" &
    process=$!
    exec {said}<"$work/pipe"
    read -r -u "$said" _ port || fail "the server does not start: $(<"$work/errors")"
}

stop()
{
    local status=0

    "$load" "$port" quit
    wait "$process" || status=$?
    process=
    tee "$work/said" <&"$said"
    exec {said}<&-
    cat "$work/errors"
    [[ $status == 0 ]] || fail "the server exits with $status"
}

# count <what>: from the server's last lines
count()
{
    grep -oE "[0-9]+ $1" "$work/said" | cut -d ' ' -f 1
}

start 4096 "$idle_ms" 10
"$load" "$port" clients 2000 "$idle_ms" 10
"$load" "$port" clients 100 "$idle_ms" 200
"$load" "$port" idle 20 "$idle_ms"
stop
for what in "idle," "not idle" "stale timers" "stale subscribers" "stale names"; do
    (($(count "$what") > 0)) || fail "no $what"
done

start 4096
"$load" "$port" deaf
"$load" "$port" crowd 600
stop
(($(count refused) > 0)) || fail "the table was not full"

begin=${EPOCHREALTIME/./}
start 64
"$load" "$port" crowd 100
stop
(($(count refused) == 0)) || fail "the table was full before the descriptors ran out"
errors=$(count "accept errors")
most=$(((${EPOCHREALTIME/./} - begin) / 1000 / accept_pause_ms + 1))
((errors > 0 && errors <= most)) || fail "accept failed $errors times, at most $most would do"
grep -q "Too many open files" "$work/errors" || fail "the server does not say what it lacks"
