#!/bin/bash
# gdb loads haft-gdb.py from the program unasked, and shows ids and tables by it.
#
# Usage: gdb_test.sh <subject with debug information> <subject without> <haft-gdb.py>
#            <subject of the two files> <the script beside them>
set -euo pipefail

subject=$(realpath "$1")
stripped=$(realpath "$2")
script=$(realpath "$3")
two_files=$(realpath "$4")
two_files_script=$(realpath "$5")
readonly subject stripped script two_files two_files_script
failures=0

fail()
{
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# debug <program> <gdb's arguments>: sets out
debug()
{
    local program=$1
    shift
    out=$(HOME=/nonexistent gdb -nx -batch -iex "set debuginfod enabled off" -iex "set auto-load safe-path $(dirname "$program")" \
        "$@" "$program" 2>&1) || fail "gdb exits with $?, and says: $out"
}

# shows <text>: somewhere in what gdb said
shows()
{
    grep -qF -- "$1" <<<"$out" || fail "'$1' is not in: $out"
}

# shows_all <text>...
shows_all()
{
    local text
    for text; do
        shows "$text"
    done
}

# check_values <program> <gdb's arguments>
check_values()
{
    debug "$@" -ex "set print pretty on" -ex "break look_here" -ex run \
        -ex "print alive" -ex "print freed" -ex "print nil" -ex "print ship" -ex "print table" \
        -ex "print *table" -ex "print *local" -ex "print *domain" -ex "print worker" \
        -ex "print (struct haft_worker *)table->workers" -ex "haft id table passing" \
        -ex "haft tables" -ex "haft id table alive" -ex "haft id table freed" \
        -ex "haft id table reserved" -ex "haft id table never" -ex "haft id table nil" \
        -ex "haft id table 3" -ex "haft id table 0x100000000" -ex "haft id table" \
        -ex "print counted" -ex "print *counted" -ex "print held" -ex "haft id counted held" \
        -ex "haft id counted ended" -ex "haft id counted gone" -ex "haft id counted kept" \
        -ex "haft id counted worn" -ex "haft id counted 0x1708" -ex "haft id counted 0x1408" \
        -ex "haft id counted 0x1404" -ex "haft id counted 0x1504" -ex "haft id counted 0x1540" \
        -ex "haft id counted 0x2104" -ex "kill"
    shows '$1 = 4v1 (0x100004), live in table "monsters"'
    shows '$2 = 1048581v0 (0x100005)' # in the default layout: no table says another
    shows '$3 = nil'
    shows 'escort = 4v1 (0x100004), live in table "monsters"'
    shows ' table "monsters", 1 live of 1000'
    shows 'created = 3'
    shows 'freed = 2' # one of them without a worker
    shows 'refused_frees = 1'
    shows 'workers = 1'
    shows 'layout = 20+12'
    shows 'local table "items", 1 live of 50'
    shows 'domain 1, workers clock'
    shows 'worker of table "monsters", open'
    shows 'worker of table "monsters", closed'
    shows '4v1: live'
    shows '5v1: stale: freed or given up'
    shows '6v1: reserved, not published yet'
    shows '500v9: never issued'
    shows 'nil: nil'
    shows '3v0: malformed'
    shows '0v0+0x100000000: malformed'
    shows 'usage: haft id TABLE ID'
    shows ' counted table "sessions", 5 slots used of 20'
    shows_all 'live = 1' 'held = 1' 'reserved = 1' 'ended = 1' 'free = 1' 'exhausted = 1' \
        'high_water = 5' 'capacity = 20' 'limit = 20' 'layout = 8+2+4'
    shows '5v1t5 (0x1505), live in table "sessions"'
    shows '5v1t5: live, 2 holders'
    shows '6v1t5: stale: freed, and still held once'
    shows '7v1t5: stale: freed or given up'
    shows '8v1t5: reserved, not published yet'
    shows '4v3t5: exhausted: freed'
    shows '8v3t5: never issued'
    shows '8v0t5: never issued'
    shows '4v0t5: never issued'
    shows '4v1t5: exhausted: freed' # of a slot that was worn out later
    shows '64v1t5: never issued: the index'
    shows '4v1t8: of another table'
    ! grep -qi 'python exception\|traceback' <<<"$out" || fail "an exception: $out"
}

# check_steps <program>: haft_resolve is two lines and its end, and calls nothing else
check_steps()
{
    local stops
    debug "$1" -ex "break resolve_here" -ex run -ex step -ex step -ex step -ex step -ex step -ex kill
    stops=$(awk '/^haft_/ { inside = 1 } /^resolve_here/ { inside = 0 } inside && /^[0-9]/' <<<"$out" | wc -l)
    [[ $stops == [23] ]] || fail "$stops stops in haft_resolve: $out"
    shows 'resolve_here (view='
    ! grep '^haft_' <<<"$out" | grep -v '^haft_resolve ' || fail "it enters more: $out"
}

# Without running: nothing is open.  And without debug information nothing breaks.
check_quiet()
{
    debug "$subject" -ex "print alive" -ex "print table" -ex "haft tables"
    shows '$1 = nil'
    shows '$2 = (haft_table *) 0x0'
    shows 'no table is open'
    debug "$stripped" -ex "break look_here" -ex run -ex "haft tables"
    shows 'no table is open, or the library has no debug information'
}

# By hand as well, and twice does no harm.
check_sourced()
{
    debug "$subject" -iex "set auto-load python-scripts off" -ex "source $script" -ex "source $script" \
        -ex "break look_here" -ex run -ex "print alive"
    shows '$1 = 4v1 (0x100004), live in table "monsters"'
}

check_values "$subject"
check_values "$two_files" -ex "source $two_files_script"
check_steps "$subject"
check_steps "$two_files"
check_quiet
check_sourced

[[ $failures == 0 ]] || exit 1
