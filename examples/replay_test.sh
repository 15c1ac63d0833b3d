#!/bin/bash
# replay on a real trace, and on everything it must refuse.
#
# Usage: replay_test.sh <replay> <trace>
set -euo pipefail

replay=$(realpath "$1")
trace=$(realpath "$2")
readonly replay trace
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/replay_test.XXXXXX")
readonly work
trap 'rm -rf "$work"' EXIT
cd "$work" # so that messages name files as they are given

failures=0

fail()
{
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# expect <what> <is> <should>
expect()
{
    [[ $2 == "$3" ]] || fail "$1 is '$2', not '$3'"
}

# run <arguments>: sets code, out and err
run()
{
    code=0
    "$replay" "$@" >out.txt 2>err.txt || code=$?
    out=$(<out.txt)
    err=$(<err.txt)
}

# value <key>: of a number or string in the JSON, which has one key a line
value()
{
    sed -nE "s/^ +\"$1\": \"?([^\",]*)\"?,?\$/\1/p" out.txt
}

# --- right answers ---

check_counts()
{
    local repeat=$1

    expect "exit code" "$code" 0
    expect "stderr" "$err" ""
    expect "wrong_answers" "$(value wrong_answers)" 0
    expect "operations" "$(value operations)" $((41650 * repeat))
    expect "objects" "$(value objects)" $((3812 * repeat))
    expect "cross_thread_frees" "$(value cross_thread_frees)" $((2300 * repeat))
    expect "repeat" "$(value repeat)" "$repeat"
}

check_figures()
{
    local key
    for key in operations_per_second peak_slots; do
        [[ $(value $key) =~ ^[1-9][0-9]*$ ]] || fail "$key is '$(value $key)'"
    done
    for key in p50 p99 max; do
        [[ $(value $key) =~ ^[0-9]+$ ]] || fail "$key is '$(value $key)'"
    done
    [[ $(value p50) -le $(value p99) && $(value p99) -le $(value max) ]] ||
        fail "latencies are not in order"
    grep -q '^  "latency_ns": {$' out.txt || fail "no latency_ns"
}

check_run()
{
    local flavour=$1 clock=$2 workers=$3 options=()

    [[ $flavour == null ]] || options=(--flavour "$flavour")
    run "${options[@]}" --clock "$clock" --workers "$workers" --repeat 6 --seed 7 --json "$trace"
    check_counts 6
    check_figures
    expect "workers" "$(value workers)" "$workers"
    expect "flavour" "$(value flavour)" "$flavour"
    expect "clock" "$(value clock)" "$clock"
    expect "seed" "$(value seed)" 7
}

check_runs()
{
    local flavour clock workers
    for workers in 1 4; do
        check_run null workers $workers
    done
    for flavour in memb qsbr; do
        for clock in thread caller; do
            for workers in 1 4; do
                check_run $flavour $clock $workers
            done
        done
    done
}

check_summary()
{
    run --workers 2 "$trace"
    expect "exit code" "$code" 0
    expect "stderr in a pipe" "$err" ""
    grep -q '^All answers were right\.$' out.txt || fail "no verdict: $out"
    grep -q '41,650 rows by 7 threads on 3,812 objects' out.txt || fail "no figures: $out"
    grep -q 'by 2 workers; memb, thread clock, seed' out.txt || fail "no clock: $out"
    run --workers 2 --clock workers "$trace"
    grep -q 'by 2 workers; workers clock, seed' out.txt || fail "no workers clock: $out"
}

check_plain_file()
{
    gzip -dc "$trace" >plain.csv
    run --json plain.csv
    check_counts 1
}

# What threads hand to each other, in the smallest form; no newline at the end.
check_small_traces()
{
    printf '# a comment longer than a line of fields may be%0100d\r\n\r\n5,a,9\r\n6,u,9\r\n5,f,9' \
        0 >small.csv
    run --json --workers 3 --repeat 100 small.csv
    expect "exit code of a small trace" "$code$err" 0
    expect "operations of a small trace" "$(value operations)" 300

    printf '0,a,0\n18446744073709551615,a,18446744073709551615\n' >never_freed.csv
    run --json never_freed.csv
    expect "exit code of a trace without frees" "$code$err" 0
    expect "wrong answers of a trace without frees" "$(value wrong_answers)" 0
}

# check_interrupted <signal>: while it runs, its file is there; interrupted, it takes it along.
check_interrupted()
{
    local signal=$1 running status=0

    # A shell's background jobs ignore SIGINT.
    env --default-signal=INT "$replay" --workers 2 --repeat 100000 --export exports "$trace" \
        >out.txt 2>err.txt &
    running=$!
    until [[ -e exports/haft-$running.json ]]; do
        kill -0 $running || break
        sleep 0.01
    done
    grep -q '"name": "replay"' exports/haft-$running.json || fail "no table in the export"
    kill -s "$signal" $running
    wait $running 2>/dev/null || status=$?
    expect "status after SIG$signal" "$status" $((128 + $(kill -l "$signal")))
    [[ -z $(ls -A exports) ]] || fail "SIG$signal leaves an export: $(ls -A exports)"
}

check_export()
{
    local signal

    mkdir exports
    for signal in INT TERM HUP; do
        check_interrupted $signal
    done
    run --export exports --json "$trace"
    check_counts 1
    [[ -z $(ls -A exports) ]] || fail "the export was not closed: $(ls -A exports)"
    run --export missing "$trace"
    expect "exit code for --export missing" "$code" 2
    expect "message for --export missing" "$err" \
        "replay: cannot export statistics to missing: directory: one that exists and that this process may write to"
}

check_help()
{
    run --help
    expect "exit code of --help" "$code" 0
    expect "stderr of --help" "$err" ""
    [[ $out == "Usage: replay "*--flavour*Examples:* ]] || fail "--help says: $out"
}

# --- what is refused ---

# refuses <message> <arguments>
refuses()
{
    local message=$1
    shift
    run "$@"
    expect "exit code for '$*'" "$code" 2
    expect "stdout for '$*'" "$out" ""
    expect "message for '$*'" "$err" "replay: $message"
}

# refuses_trace <place and message> <text as for printf>
refuses_trace()
{
    # shellcheck disable=SC2059
    printf -- "$2" >t.csv
    refuses "t.csv$1" t.csv
}

check_malformed_lines()
{
    refuses_trace ":1:3: op must be a, u or f, not 'x'" '0,x,1\n'
    refuses_trace ":2:3: op must be a, u or f, not ','" '# comment\n0,,1\n'
    refuses_trace ":1:1: the thread must be a number, not '-'" '-1,a,1\n'
    refuses_trace ":1:1: the thread must be a number, not ' '" ' 0,a,1\n'
    refuses_trace ":1:5: the object must be a number, not byte 0x00" '0,a,\0001\n'
    refuses_trace ":1:2: the line ends after the thread: a row is thread,op,object" '0\n'
    refuses_trace ":1:3: the op is missing: a row is thread,op,object" '0,\n'
    refuses_trace ":3:4: the line ends after the op: a row is thread,op,object" '\n0,a,1\n0,u\n'
    refuses_trace ":1:5: the object is missing: a row is thread,op,object" '0,a,'
    refuses_trace ":1:4: ',' must follow the op, not 'a'" '0,aa,1\n'
    refuses_trace ":1:2: ',' must follow the thread, not ';'" '0;a;1\n'
    refuses_trace ":1:6: only the line's end may follow the object, not ','" '0,a,1,\n'
    refuses_trace ":1:1: the thread is larger than 18446744073709551615" '18446744073709551616,a,1\n'
    refuses_trace ":1:5: the object is larger than 18446744073709551615" '0,a,99999999999999999999\n'
    refuses_trace ":1:81: the line is longer than 80 characters" "0,a,$(printf %0100d 1)\n"
}

check_impossible_traces()
{
    refuses_trace ": there is not a single row in it" ''
    refuses_trace ": there is not a single row in it" '# nothing\n\n'
    refuses_trace ":1:5: object 1 is used before it is allocated" '0,u,1\n0,a,1\n'
    refuses_trace ":1:5: object 1 is freed before it is allocated" '0,f,1\n'
    refuses_trace ":3:5: object 1 is used after its free on line 2" '0,a,1\n0,f,1\n1,u,1\n'
    refuses_trace ":4:5: object 1 is freed twice, first on line 2" '0,a,1\n0,f,1\n\n1,f,1\n'
    refuses_trace \
        ":2:6: object 1 is allocated twice, first on line 1: each object needs another number" \
        '0,a,1\n10,a,1\n'
}

check_files()
{
    refuses "missing.csv: No such file or directory" missing.csv
    refuses ".: Is a directory" .
    head -c 20000 "$trace" >cut.csv.gz
    refuses "cut.csv.gz:22778:7: the gzip data break off here: the file is cut short" cut.csv.gz
    { head -c -8 "$trace" && printf 'damaged!'; } >damaged.csv.gz
    run damaged.csv.gz
    expect "exit code for a damaged file" "$code" 2
    [[ $err == "replay: damaged.csv.gz:"*": the gzip data are damaged: "* ]] || fail "says $err"
}

check_options()
{
    local more="; --help says more"

    refuses "no trace is named, as in: replay trace.csv.gz$more"
    refuses "one trace at a time, not also 'b.csv'$more" a.csv b.csv
    refuses "--workers must be from 1 to 256, not 0$more" --workers 0 "$trace"
    refuses "--workers must be from 1 to 256, not 257$more" --workers 257 "$trace"
    refuses "--repeat must be from 1 to 1000000000, not 0$more" --repeat 0 "$trace"
    refuses "--repeat must be from 1 to 1000000000, not -1$more" --repeat=-1 "$trace"
    refuses "--seed must be from 0 to 9223372036854775807, not -1$more" --seed=-1 "$trace"
    refuses "--flavour must be memb or qsbr, not 'bp'$more" --flavour bp "$trace"
    refuses "--clock must be thread, caller or workers, not 'frame'$more" --clock frame "$trace"
    refuses "--flavour 'memb' has no meaning with --clock workers$more" \
        --flavour memb --clock workers "$trace"
    refuses "--repeat must be a number, not 'many'$more" --repeat many "$trace"
    refuses "--seed must be from 0 to 9223372036854775807, not 9223372036854775808$more" \
        --seed 9223372036854775808 "$trace"
    run --threads 4 "$trace"
    expect "exit code for --threads" "$code" 2
    [[ $err == *"'--threads'"*"replay: --help says more" ]] || fail "--threads says: $err"
    run "$trace" --workers
    expect "exit code without --workers' argument" "$code" 2
    [[ $err == *"'--workers'"*"replay: --help says more" ]] || fail "--workers alone says: $err"
}

check_runs
check_summary
check_plain_file
check_small_traces
check_export
check_help
check_malformed_lines
check_impossible_traces
check_files
check_options

# Help that is lost is no success.
code=0
"$replay" --help >/dev/full 2>err || code=$?
expect "exit code of lost help" "$code" 3

[[ $failures == 0 ]] || exit 1
