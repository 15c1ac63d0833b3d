#!/bin/bash
# record: a small recording whose rows are known, other forms of the same lines, what must be
# refused; and, where strace can trace, a run that replay accepts.
#
# Usage: record_test.sh <record> <replay> <copy.strace>
set -euo pipefail

program=$(realpath "$1")
replay=$(realpath "$2")
sample=$(realpath "$3")
readonly program replay sample
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/record_test.XXXXXX")
readonly work err=$work/err
trap 'rm -rf "$work"' EXIT
# shellcheck source=examples/program_support.sh
source "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/program_support.sh"
cd "$work"

# rows: those printed, on one line
rows()
{
    grep -v '^#' <<<"$out" | tr '\n' ' '
}

# Threads 0, 1 and 2 are 100, 101 and 102.
readonly all="0,a,1 0,u,1 0,u,1 0,f,1 0,a,2 0,u,2 0,a,3 0,a,4 0,u,4 1,u,3 0,f,4 1,a,5 1,u,5 1,u,5 \
1,f,2 1,a,6 1,u,5 2,a,7 2,a,8 2,a,9 2,u,7 2,f,8 2,f,9 2,f,7 0,f,3 0,f,5 0,f,6 "

check_sample()
{
    run "$sample"
    [[ $code == 0 && $(<"$err") == "record: 27 rows by 3 threads on 9 objects" ]] ||
        fail "the sample: exit $code, $(<"$err")"
    [[ $(rows) == "$all" ]] || fail "the sample: $(rows)"
    run --output trace.csv "$sample"
    [[ $code == 0 && -z $out && $(grep -vc '^#' trace.csv) == 27 ]] || fail "--output: $code $out"
    "$replay" --json --workers 2 --repeat 20 trace.csv >replayed || fail "replay refuses the trace"
    grep -q '"wrong_answers": 0' replayed || fail "$(<replayed)"
    out=$("$program" <"$sample" 2>"$err")
    [[ $(rows) == "$all" ]] || fail "from stdin: $(rows)"
}

# form <sed expression>: the sample, written otherwise, says the same
form()
{
    sed -E "$1" "$sample" >form.strace
    run form.strace
    [[ $code == 0 && $(rows) == "$all" ]] || fail "after $1: exit $code, $(<"$err") $(rows)"
}

check_forms()
{
    form 's/^([0-9]+) +/[pid \1] /'
    form 's/^([0-9]+) +/\1 12:34:56.789 /'
    form 's/^([0-9]+) +/\1 1700000000.123456 /'
    form 's/^([0-9]+) +/[pid   \1] 12:34:56 /'
    form 's/\((3|4)([,) ])/(\1<\/some path, (with) "things">\2/'
    form 's/\((3|4)([,) ])/(\1<TCP:[127.0.0.1:80->127.0.0.1:90]>\2/'
    form 's/ = ([0-9]+)$/ = \1 <0.000012>/'
    form '1i strace: Process 100 attached'
    form 's/$/\r/'
}

# lines <text as for printf>: the rows they give
lines()
{
    # shellcheck disable=SC2059
    printf "$1" >lines.strace
    run lines.strace
    [[ $code == 0 ]] || fail "'$1': exit $code, $(<"$err")"
}

check_lines()
{
    lines 'dup(5) = 6\nfcntl(6, F_DUPFD_CLOEXEC, 10) = 10\ndup2(6, 6) = 6\nclose(9) = 0\n'
    [[ $(rows) == "0,a,1 0,u,1 0,a,2 0,u,2 0,a,3 0,u,2 0,a,4 0,f,4 " ]] || fail "copies: $(rows)"
    lines 'socketpair(AF_UNIX, SOCK_STREAM, 0, [3, 4]) = 0\nsendfile(4, 3, NULL, 9) = 9\n'
    [[ $(rows) == "0,a,1 0,a,2 0,u,2 0,u,1 " ]] || fail "two at once: $(rows)"
    lines 'socket(AF_INET, SOCK_STREAM, 0) = 3\naccept4(3, NULL, NULL, SOCK_CLOEXEC) = 4\nexecve("x", [], NULL) = 0\n'
    [[ $(rows) == "0,a,1 0,u,1 0,a,2 0,f,2 " ]] || fail "execve: $(rows)"
    lines 'open("a", 0) = 3\nopen("b", 0) = 3\n'
    [[ $(rows) == "0,a,1 0,f,1 0,a,2 " ]] || fail "a close that was not seen: $(rows)"
    lines 'open("a", 0) = 3\nvfork() = 9\n[pid 9] close(3) = 0\n[pid 9] +++ exited with 0 +++\nread(3, "", 1) = 0\n'
    [[ $(rows) == "0,a,1 1,a,2 1,f,2 0,u,1 " ]] || fail "numbers that come and go: $(rows)"
}

# refuses <place and message> <text as for printf>
refuses()
{
    # shellcheck disable=SC2059
    printf -- "$2" >bad.strace
    run bad.strace
    [[ $code == 2 && $(<"$err") == "record: bad.strace:$1" ]] || fail "'$2': exit $code, $(<"$err")"
}

check_malformed()
{
    refuses "1:5: a call must be a name and '('" '1   !\n'
    refuses "1:9: a call must be a name and '('" '1   read 3\n'
    refuses "1:10: the line ends before the call's ')'" '1   read(\n'
    refuses "1:10: the string that begins here does not end" '1   open("abc\n'
    refuses "2:13: '=' must follow the call" '1   close(3) = 0\n1   close(3)\n'
    refuses "1:16: the call's result is missing" '1   close(3) = '
    refuses "1:1: a call must be a name and '('" '\001\002\n'
    refuses "1:6: [pid must be followed by a number" '[pid x] close(3) = 0\n'
    refuses "1:7: ']' must follow the thread's number" '[pid 1 close(3) = 0\n'
    refuses "1:2: a space must follow the thread's number" '1close(3) = 0\n'
    refuses "1:5: 'resumed>' must follow '<...'" '1   <... read\n'
    refuses "1:10: the call that is resumed has not begun" '1   <... read resumed>) = 0\n'
    refuses "2:23: the line ends before the call's ')'" \
        '1   read(3, <unfinished ...>\n1   <... read resumed>\n'
    refuses "2:27: '=' must follow the call" '1   read(3, <unfinished ...>\n1   <... read resumed>"x")\n'
    refuses " no descriptor is opened or used in it" '1   getpid() = 1\n'
    refuses " no descriptor is opened or used in it" ''
    head -c 3000 /dev/urandom >bad.strace
    run bad.strace
    [[ $code == 2 ]] || fail "noise: exit $code"
    for ((cut = 1; cut < $(stat -c %s "$sample"); cut += 97)); do
        head -c $cut "$sample" >bad.strace
        run bad.strace
        [[ $code == 0 || $code == 2 ]] || fail "cut after $cut bytes: exit $code"
    done
}

check_options()
{
    run --help
    [[ $code == 0 && $out == "Usage: record "*Examples:* ]] || fail "--help says $out"
    refuse "one file at a time" a b
    refuse "Unknown option --fast" --fast
    run missing.strace
    [[ $code == 2 && $(<"$err") == "record: missing.strace: No such file or directory" ]] ||
        fail "a missing file: $code, $(<"$err")"
    run --output missing/trace.csv "$sample"
    [[ $code == 3 ]] || fail "no place for the trace: $code"
    run --output /dev/full "$sample"
    [[ $code == 3 ]] || fail "a full disk: $code, $(<"$err")"
}

# A shell with a pipeline, as the machine runs it.
check_live()
{
    if ! strace -f -o /dev/null true 2>/dev/null; then
        echo "strace cannot trace here: no live run" >&2
        return
    fi
    strace -f -e trace=desc,process,network -o live.strace \
        sh -c 'cat /etc/passwd | sort | head -3 >out; (exec 3<out; read -r x <&3)'
    run --output live.csv live.strace
    [[ $code == 0 ]] || fail "a live run: $(<"$err")"
    "$replay" --json --workers 2 --repeat 50 live.csv >replayed || fail "replay refuses a live run"
    grep -q '"wrong_answers": 0' replayed || fail "$(<replayed)"
    strace -f -o "|$program -o piped.csv 2>said" true
    [[ -s piped.csv ]] || fail "strace's own pipe: $(<said)"
}

check_sample
check_forms
check_lines
check_malformed
check_options
check_live

[[ $failures == 0 ]] || exit 1
