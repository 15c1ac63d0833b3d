#!/bin/bash
# A program whose output is lost says so by its status: on a full disk, and in a pipe without a
# reader.
#
# Usage: lost_output_test.sh [-- <program> [arguments]]...
set -euo pipefail

work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/lost_output_test.XXXXXX")
readonly work
trap 'rm -rf "$work"' EXIT
failures=0

# Descriptor 8: a pipe without a reader.  A program that writes there gets EPIPE and no SIGPIPE.
mkfifo "$work/pipe"
exec 7<>"$work/pipe" 8>"$work/pipe" 7>&-
trap '' PIPE

fail()
{
    echo "FAILED: $*" >&2
    sed 's/^/  it says: /' "$work/err" >&2
    failures=$((failures + 1))
}

# check <program> [arguments]
check()
{
    "$@" >/dev/null 2>"$work/err" || fail "$*: exit $? where its output is not lost"
    ! "$@" >/dev/full 2>"$work/err" || fail "$*: exit 0 on a full disk"
    ! "$@" >&8 2>"$work/err" || fail "$*: exit 0 in a closed pipe"
}

[[ ${1:-} == -- ]] || { echo "FAILED: no programs" >&2; exit 1; }
shift
command=()
for argument in "$@" --; do
    if [[ $argument != -- ]]; then
        command+=("$argument")
        continue
    fi
    check "${command[@]}"
    command=()
done
[[ $failures == 0 ]] || exit 1
