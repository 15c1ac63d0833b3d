#!/bin/bash
# The runs that documents show: each `$ bazel run ...` is done again, and must print the
# same, except numbers and what depends on them: units, plurals, digests, the width of columns.
#
# Usage: readme_test.sh <document...>
set -euo pipefail

work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/readme_test.XXXXXX")
readonly work
trap 'rm -rf "$work"' EXIT
failures=0
runs=0

# without_numbers: what is the same in every run
without_numbers()
{
    sed -E -e 's/\b[0-9a-f]{16}\b/DIGEST/g' \
        -e 's/[0-9][0-9,.]*( (ns|us|ms|s|B|kB|MB)\b)?/N/g' -e 's/[ \t]+/ /g' -e 's/^ //' \
        -e 's/\bN ((grace )?[a-z]+)s\b/N \1/g'
}

# check <document> <command>: what it prints, and what is shown, which is in the file `shown`
check()
{
    local command=$2 name arguments printed
    [[ $command =~ ^bazel\ run\ -c\ opt\ //examples:([a-z_]+)(\ --\ (.*))?$ ]] || return 0
    name=${BASH_REMATCH[1]}
    arguments=${BASH_REMATCH[3]//\$PWD\//}
    arguments=${arguments//\/tmp\//$work/}
    # shellcheck disable=SC2086
    printed=$("examples/$name" $arguments 2>&1) || true
    printed=${printed//"$work"/\/tmp}
    runs=$((runs + 1))
    diff <(without_numbers <"$work/shown") <(without_numbers <<<"$printed") && return
    echo "FAILED: $1: $command" >&2
    failures=$((failures + 1))
}

# check_document <document>
check_document()
{
    local line command='' inside=
    while IFS= read -r line; do
        if [[ $line == '```console' ]]; then
            inside=1
        elif [[ -n $inside && ($line == '```' || $line == '$ '*) ]]; then
            [[ -z $command ]] || check "$1" "$command"
            command=${line#'$ '}
            : >"$work/shown"
            [[ $line != '```' ]] || inside='' command=''
        elif [[ -n $inside ]]; then
            echo "$line" >>"$work/shown"
        fi
    done <"$1"
}

for document in "$@"; do
    check_document "$document"
done
[[ $runs -gt 0 ]] || { echo "FAILED: no runs in $*" >&2; exit 1; }
[[ $failures == 0 ]] || exit 1
