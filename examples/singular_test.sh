#!/bin/bash
# Programs that have done one thing say so: "1 worker", not "1 workers".
#
# Usage: singular_test.sh [-- <program> [arguments]]...
# In the arguments, WORK/one, WORK/one.csv and WORK/one.strace are the smallest folder, trace and
# recording.
set -euo pipefail

WORK=$(mktemp -d "${TEST_TMPDIR:-/tmp}/singular_test.XXXXXX")
readonly WORK
trap 'rm -rf "$WORK"' EXIT
failures=0

printf '0,a,1\n0,u,1\n0,f,1\n' >"$WORK/one.csv"
mkdir "$WORK/one"
echo line >"$WORK/one/file"
echo 'open("a", 0) = 3' >"$WORK/one.strace"

fail()
{
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# check <program> [arguments]
check()
{
    local said
    said=$("$@" 2>&1) || fail "$*: exit $?: $said"
    grep -qE '(^|[ (])1 [a-z]' <<<"$said" || fail "$*: no count is 1: $said"
    ! grep -E '(^|[ (])1 +([a-z]+ )?[a-z]+s\b' <<<"$said" | grep -vE '(^|[ (])1 +(ns|us|ms|at)\b' ||
        fail "$*: a plural follows 1"
}

[[ ${1:-} == -- ]] || { echo "FAILED: no programs" >&2; exit 1; }
shift
command=()
for argument in "$@" --; do
    if [[ $argument != -- ]]; then
        command+=("${argument//WORK/$WORK}")
        continue
    fi
    check "${command[@]}"
    command=()
done
[[ $failures == 0 ]]
