#!/bin/bash
# Programs in several languages replay a trace and print the same answers, byte for byte.  Each
# names the line of a trace that is malformed.
#
#   answers_test.sh TRACE.csv.gz COMMAND...    each command with its arguments in one word
set -euo pipefail

work=$(mktemp -d)
readonly work
trap 'rm -rf "$work"' EXIT
gzip -dc "$1" >"$work/trace.csv"
shift

# says <command> <trace> <part of the message>: the command fails, and says so
says()
{
    local said
    # shellcheck disable=SC2086
    ! said=$($1 "$2" 2>&1 >/dev/null) || { echo "$1: takes ${2##*/}" && return 1; }
    [[ $said == *"$3"* ]] || { echo "$1: says '$said', not '$3'" && return 1; }
}

printf '0,a,1\n0,x,2\n' >"$work/no_op.csv"
printf '0,a,1\n0,f,1\n0,u,1\n' >"$work/freed.csv"
for command; do
    # shellcheck disable=SC2086
    $command "$work/trace.csv" >"$work/answers"
    [[ -e $work/first ]] || mv "$work/answers" "$work/first"
    [[ ! -e $work/answers ]] || cmp "$work/first" "$work/answers"
    says "$command" "$work/no_op.csv" "no_op.csv:2: not a row"
    says "$command" "$work/freed.csv" "freed.csv:3: the object is not allocated"
    says "$command" "$work/none.csv" "none.csv"
done

# A line for each row, an id for each object, a refusal for each free: nothing was left out.
rows=$(grep -vc '^#' "$work/trace.csv")
allocated=$(grep -c '^[0-9]*,a,' "$work/trace.csv")
freed=$(grep -c '^[0-9]*,f,' "$work/trace.csv")
[[ $(wc -l <"$work/first") == $((rows + 1)) ]]
[[ $(grep -cE '^[0-9]+ a [0-9]+ [0-9]+v[0-9]+ [0-9]+$' "$work/first") == "$allocated" ]]
[[ $(grep -c ' HAFT_STALE the object has been freed$' "$work/first") == "$freed" ]]
[[ $(tail -1 "$work/first") == "$((allocated - freed)) live" ]]
echo "$# programs, $rows rows: the same answers"
