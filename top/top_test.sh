#!/bin/bash
# haft-top on a program with known traffic, on one that died, and on files of all kinds.
#
# Usage: top_test.sh <haft-top> <exporter> <check_prometheus.py>
set -euo pipefail

program=$(realpath "$1")
exporter=$(realpath "$2")
checker=$(realpath "$3")
readonly program exporter checker
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/top_test.XXXXXX")
readonly work err=$work/err exports=$work/exports
mkdir "$exports"
# shellcheck source=examples/program_support.sh
source "$(dirname "${BASH_SOURCE[0]}")/../examples/program_support.sh"

running=
stop()
{
    [[ -z $running ]] || kill "$running" 2>/dev/null || true
    rm -rf "$work"
}
trap stop EXIT

# expect_error <exit code> <message> <arguments>
expect_error()
{
    local wanted=$1 message=$2
    shift 2
    run "$@"
    [[ $code == "$wanted" ]] || fail "$*: exit $code, not $wanted"
    grep -qF -- "$message" "$err" || fail "$*: '$(<"$err")' does not say '$message'"
    ! grep -q 'Sanitizer\|Assertion' "$err" || fail "$*: $(<"$err")"
}

# --- a program with known traffic ---

start_exporter()
{
    mkfifo "$work/stdin"
    "$exporter" "$exports" <"$work/stdin" >"$work/path" &
    running=$!
    exec 9>"$work/stdin" # it goes on until this is closed
    until [[ -s $work/path ]]; do
        kill -0 "$running" || exit 1
        sleep 0.01
    done
    file=$(<"$work/path")
    readonly file
}

end_exporter()
{
    exec 9>&-
    wait "$running" || fail "the exporter failed"
    running=
    [[ -z $(ls -A "$exports") ]] || fail "closing leaves $(ls -A "$exports")"
}

check_json()
{
    run --json "$exports"
    [[ $code == 0 && ! -s $err ]] || fail "--json: exit $code, $(<"$err")"
    [[ $(value process "$out") == "$running" ]] || fail "process $(value process "$out")"
    local key
    for key in live:1000 created:1500 freed:500 refused_frees:7 capacity:2000 \
        object_size:24 workers:1 reserved:0 exhausted:0 released:0 \
        live:1196 held:26 ended:4 high_water:1200 limit:4000 object_size:40; do
        grep -q "\"${key%:*}\": ${key#*:}," <<<"$out" || grep -q "\"${key%:*}\": ${key#*:}\$" <<<"$out" ||
            fail "--json has no $key: $out"
    done
}

check_page()
{
    run --once "$exports"
    [[ $code == 0 && ! -s $err ]] || fail "--once: exit $code, $(<"$err")"
    grep -Eq "^  ships \"and\"\?. boats +1,000 +50.0% +- +- +[0-9,]+ +[0-9,]+ +7 +1$" <<<"$out" ||
        fail "--once has no ships: $out"
    grep -Eq '^  \?\[2Jempty +0 ' <<<"$out" || fail "--once has no empty table: $out"
    grep -Eq '^  [0-9]+ +workers +[0-9,]+ +- +[0-9.]+ [num]?s +[0-9]+ +[0-9]+$' <<<"$out" ||
        fail "--once has no domain: $out"
    grep -Eq '^  sess"ions +1,196 +29.9% +26 +4 +0 +1,200 +[0-9,]+$' <<<"$out" ||
        fail "--once has no sessions: $out"
    grep -Eq '^  sess"ions +0 +0.0% +0 +0 +0 +0 +[0-9,]+$' <<<"$out" || fail "--once has no twin: $out"
    [[ $out != *$'\033'* ]] || fail "--once lets a table's name speak to the terminal"
    local page=${out#*$'\n'}
    run "$exports"
    [[ ${out#*$'\n'} == "$page" ]] || fail "in a pipe, it is not as --once: $out"
    run --once --pid "$running" "$exports"
    [[ $code == 0 && ${out#*$'\n'} == "$page" ]] || fail "--pid: exit $code, $out"
}

# On a full disk.
check_lost_output()
{
    local view
    for view in --once --json --prometheus; do
        ! "$program" $view "$exports" >/dev/full 2>"$err" || fail "$view: exit 0 on a full disk"
        grep -q 'the output could not be written' "$err" || fail "$view: $(<"$err")"
    done
}

check_prometheus()
{
    run --prometheus "$exports"
    [[ $code == 0 && ! -s $err ]] || fail "--prometheus: exit $code, $(<"$err")"
    local samples labels="process=\"$running\",program=\"exporter\",table=\"ships \\\"and\\\"\\n\\\\ boats\""
    samples=$(python3 "$checker" <<<"$out") || fail "--prometheus breaks the format"
    local sample
    for sample in 'live{'"$labels"' 1000' 'created_total{'"$labels"' 1500' \
        'refused_frees_total{'"$labels"' 7'; do
        grep -q "} ${sample##* }\$" < <(grep -F "haft_table_${sample% *}," <<<"$samples") ||
            fail "--prometheus has no $sample: $samples"
    done
    [[ $(grep -c '^haft_table_live' <<<"$samples") == 2 ]] || fail "not two tables: $samples"
    grep -q '^haft_counted_live{.*,table="sess\\"ions",number="1"} 1196$' <<<"$samples" ||
        fail "no sessions: $samples"
    grep -q '^haft_counted_bytes{' <<<"$samples" || fail "no bytes of sessions: $samples"
    [[ $(grep -c '^haft_counted_ended' <<<"$samples") == 2 ]] || fail "not two counted: $samples"
    grep -q '^haft_domain_backlog{.*clock="workers"' <<<"$samples" || fail "no domain: $samples"
}

# The screen is drawn again and again until Ctrl-C, and then given back.
check_screen()
{
    local screen=$work/screen
    script -qefc "echo \$\$ >$work/top; exec $program --interval 100 $exports" /dev/null >"$screen" </dev/null &
    local terminal=$!
    until [[ $(grep -c 'created/s' "$screen") -ge 4 ]]; do
        kill -0 $terminal || break
        sleep 0.05
    done
    kill -INT "$(<"$work/top")"
    wait $terminal || fail "Ctrl-C: exit $?"
    grep -qP '^ +\x1b?.*ships.* 1,000 +50.0% +0 +0 ' "$screen" || fail "no rates on the screen"
    [[ $(tail -c 20 "$screen") == *$'\033[?1049l'* ]] || fail "the screen is not given back"
}

check_permissions()
{
    [[ $(stat -c %a "$file") == 600 ]] || fail "$file has mode $(stat -c %a "$file")"
}

# --- files of all kinds ---

bad()
{
    mkdir -p "$work/bad"
    rm -f "$work/bad/"*
    cat >"$work/bad/haft-7.json"
}

check_malformed()
{
    local good=$work/good.json size cut
    cp "$file" "$good"
    size=$(stat -c %s "$good")
    for ((cut = 0; cut < size - 2; cut += 101)); do # the last two bytes are } and newline
        head -c $cut "$good" | bad
        expect_error 3 "haft-7.json:" --json "$work/bad"
    done
    echo 'no JSON' | bad
    expect_error 3 "haft-7.json:1:3: '[' or '{' expected near 'no'" --once "$work/bad"
    echo '{}' | bad
    expect_error 3 'not an export: it has no number "haft_export"' --once "$work/bad"
    sed 's/"haft_export": 1/"haft_export": 2/' "$good" | bad
    expect_error 3 "an export of version 2, not 1" --once "$work/bad"
    sed '0,/"live": 0/s//"live": -1/' "$good" | bad
    expect_error 3 'a table has no number "live"' --prometheus "$work/bad"
    sed 's/"live": 1000/"live": "many"/' "$good" | bad
    expect_error 3 'a table has no number "live"' --json "$work/bad"
    sed 's/"live": 1000/"live": 99999999999999999999/' "$good" | bad
    expect_error 3 "too big integer" --json "$work/bad"
    sed 's/"backlog"/"forelog"/' "$good" | bad
    expect_error 3 'a domain has no number "backlog"' --json "$work/bad"
    sed -E 's/"domain": [0-9]+/"domain": 77/' "$good" | bad
    expect_error 3 "is on no domain of the file" --json "$work/bad"
    sed 's/"tables": \[/"chairs": [/' "$good" | bad
    expect_error 3 'the file has no list "tables"' --json "$work/bad"
    sed 's/"live": 1196/"live": -1/' "$good" | bad
    expect_error 3 'a counted table has no number "live"' --prometheus "$work/bad"
    sed 's/"name": "sess.*/"name": 5,/' "$good" | bad
    expect_error 3 'a counted table has no string "name"' --once "$work/bad"
    sed 's/"counted": \[/"counted": 7, "rest": [/' "$good" | bad
    expect_error 3 'the file has no list "counted"' --json "$work/bad"
    sed 's/"clock": "workers"/"clock": 3/' "$good" | bad
    expect_error 3 'a domain has no string "clock"' --json "$work/bad"
    printf '%.s[' {1..5000} | bad
    expect_error 3 "maximum parsing depth" --json "$work/bad"
    head -c 4096 /dev/urandom | bad
    expect_error 3 "haft-7.json:" --json "$work/bad"
    printf '"\xc2\x9b2J"' | bad # a control sequence, to terminals that know UTF-8
    expect_error 3 "expected near '\"?2J\"'" --once "$work/bad"
    printf '{\x1b' | bad
    expect_error 3 "expected near '?'" --once "$work/bad"
    rm "$work/bad/"*
    ln -s "$good" "$work/bad/haft-7.json"
    expect_error 3 "a symbolic link" --once "$work/bad"
    rm "$work/bad/"*
    mkfifo "$work/bad/haft-7.json"
    expect_error 3 "not a regular file" --once "$work/bad"
    rm "$work/bad/"*
    cp "$good" "$work/bad/haft-x.json"
    cp "$good" "$work/bad/notes.json"
    expect_error 1 "no running process exports to" --once "$work/bad"
}

# A library that knows no counted tables writes no list of them.
check_older()
{
    local older=$exports/older
    mkdir "$older"
    sed 's/"counted": \[/"rest": [/' "$file" >"$older/${file##*/}"
    exec 8>"$older/.haft-$running.lock"
    flock 8
    run --once "$older"
    [[ $code == 0 && $out == *ships* && $out != *sess* ]] || fail "of an older library: exit $code, '$out', $(<"$err")"
    exec 8>&-
    rm -r "$older"
}

# A further process of one number has a name with its turn.
check_turns()
{
    exec 8>"$exports/.haft-$running-2.lock"
    flock 8
    sed 's/empty"/second"/' "$file" >"$exports/haft-$running-2.json"
    run --once --pid "$running" "$exports"
    [[ $code == 0 && $out == *ships* && $out == *second* ]] || fail "two of a number: exit $code, '$out'"
    run --prometheus "$exports"
    python3 "$checker" <<<"$out" >/dev/null || fail "--prometheus breaks the format with two of a number"
    rm "$exports/haft-$running-2.json" "$exports/.haft-$running-2.lock"
    exec 8>&-
    cp "$file" "$exports/haft-$running-x.json"
    run --json "$exports"
    [[ $(grep -c '"process"' <<<"$out") == 1 ]] || fail "haft-$running-x.json is taken for an export"
    rm "$exports/haft-$running-x.json"
}

# A process of a container, whose number nobody has here, is there while it holds its lock.
check_elsewhere()
{
    local nobody=4194305
    sed -E "s/\"process\": [0-9]+/\"process\": $nobody/" "$file" >"$exports/haft-$nobody.json"
    exec 8>"$exports/.haft-$nobody.lock"
    flock 8
    run --once --pid $nobody "$exports"
    [[ $code == 0 && $out == *ships* ]] || fail "of another number: exit $code, '$out'"
    exec 8>&-
    expect_error 1 "process $nobody has ended" --once --pid $nobody "$exports"
    rm "$exports/haft-$nobody.json" "$exports/.haft-$nobody.lock"
}

# What can be shown is shown beside what cannot.
check_mixed()
{
    echo '{' >"$exports/haft-7.json"
    run --once "$exports"
    [[ $code == 3 && $out == *ships* ]] || fail "beside a bad file: exit $code, '$out'"
    rm "$exports/haft-7.json"
}

check_dead()
{
    local left
    left=$("$exporter" "$exports" die)
    [[ -e $left ]] || fail "no file was left behind"
    expect_error 1 "has ended without closing its export; remove the file" --once "$exports"
    [[ -z $out ]] || fail "shows a dead process: $out"
    # Another process has its number now.
    sed -E "s/\"process\": [0-9]+/\"process\": $$/" "$left" >"$exports/haft-$$.json"
    expect_error 1 "process $$ has ended" --pid $$ --once "$exports"
    rm "$exports/"* "$exports/".*.lock
}

# Of a program that closes its export and opens it again meanwhile nothing wrong is said, nor does
# haft-top's asking for the lock get in its way.
check_restless()
{
    local turn restless met=0
    mkfifo "$work/restless"
    "$exporter" "$exports" again <"$work/restless" >/dev/null &
    restless=$!
    exec 7>"$work/restless"
    for turn in {1..100}; do
        run --json "$exports"
        [[ $code == 0 || $code == 1 ]] || fail "open again and again: exit $code, $(<"$err")"
        ! grep -q 'has ended' "$err" || fail "open again and again: $(<"$err")"
        [[ $code == 1 ]] || ((met += 1))
    done
    [[ $met != 0 ]] || fail "open again and again: never met open"
    exec 7>&-
    wait $restless || fail "an export that is looked at cannot be opened again"
    [[ -z $(ls -A "$exports") ]] || fail "open again and again leaves $(ls -A "$exports")"
}

check_options()
{
    run --help
    [[ $code == 0 && $out == "Usage: haft-top "*Examples:* ]] || fail "--help says $out"
    refuse "no directory is named"
    refuse "one directory at a time" a b
    refuse "--pid must be from 1" --pid -1 .
    refuse "--interval must be from 100 to 60000, not 99" --interval 99 .
    refuse "only one of" --json --once .
    refuse "Unknown option --fast" --fast .
    expect_error 2 "No such file or directory" --once "$work/missing"
    expect_error 2 "Not a directory" --once "$err"
    expect_error 1 "no running process exports to" --once "$exports"
    expect_error 1 "process 1 does not export to" --once --pid 1 "$exports"
}

check_options
start_exporter
check_permissions
check_json
check_page
check_prometheus
check_lost_output
check_screen
check_malformed
check_mixed
check_turns
check_older
check_elsewhere
end_exporter
check_dead
check_restless

[[ $failures == 0 ]] || exit 1
