#!/bin/bash
# server: 2,016 connections, some of which end others and make ids up; each descriptor is closed
# exactly once.
#
# Usage: server_test.sh <server> <load>
set -euo pipefail

work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/server_test.XXXXXX")
readonly work server=$1 load=$2
trap 'rm -rf "$work"' EXIT

mkfifo "$work/said"
"$server" >"$work/said" &
readonly process=$!
exec {said}<"$work/said"
read -r -u "$said" _ port || { echo "the server does not start" >&2; exit 1; }

status=0
"$load" "$port" 2016 || status=$?
[[ $status == 0 ]] || kill "$process"
wait "$process" || status=$?
cat <&"$said"
exit "$status"
