#!/bin/bash
# weakened.sh - does some stress program reject each build in which one edge is weakened?
#
# Builds the library under ThreadSanitizer with -DHAFT_WEAKEN=HAFT_EDGE_<NAME>, once for each edge
# of include/haft/atomics.h, and runs the programs against it, each up to TRIES times with seeds
# that differ.  Prints a row for each edge and program: in which try it was rejected, or "held".
#
# Usage: stress/weakened.sh [edge...]          all edges by default; NONE is the unweakened build
# Environment: TRIES (3), CC (gcc), SEED (1)   the first seed
#
# Exits with 1 if an edge that can be seen held in all programs, or NONE was rejected.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly tries=${TRIES:-3} seed=${SEED:-1}
readonly flags=(-std=c11 -O1 -g -fsanitize=thread -D_DEFAULT_SOURCE -Iinclude -iquote .)
readonly libraries=(-lurcu-memb -lurcu-qsbr -lpthread)

# What ThreadSanitizer cannot see: orders between words that are all atomic, with no other data
# behind them.  It runs the machine's own atomics, so on x86 their values come right as well.
# stress/explorer finds TALLY, ARRIVE, WAKE and COMMIT; docs/memory-model.md says why not RING_ROOM
# and EXTENT.
readonly invisible=(RING_ROOM EXTENT TALLY ARRIVE WAKE COMMIT)

# program, rounds, threads, words
readonly runs=(
    "publish 10000 4 memb caller"
    "ticket 1000 4 qsbr"
    "claim 5000 4 memb thread"
    "live_on_free 10000 4 memb thread"
    "live_on_free 10000 4 qsbr thread"
    "live_on_free 10000 4 workers"
    "workers 2000 4 workers churn"
    "exchange 100000 4 memb caller mixed"
    "exchange 100000 4 memb thread handoff"
    "exchange 200000 4 qsbr caller handoff_large"
    "pin 10000 4 memb caller"
    "restore 2000 4 memb caller"
    "trim 1000 4 memb caller"
    "workers 2000 4 memb caller churn"
    "workers 5000 4 memb thread roster"
    "small 1000 6 memb thread crowd"
    "scan 100 4 qsbr caller"
)

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT

edges()
{
    sed -n '/^typedef enum haft_edge/,/reasons for relaxed/s/^ *HAFT_EDGE_\([A-Z_]*\).*/\1/p' \
        include/haft/atomics.h
}

# build_library <edge>: an archive with that edge weakened
build_library()
{
    local source
    for source in lib/*.c concurrent/*.c; do
        "${CC:-gcc}" "${flags[@]}" "-DHAFT_WEAKEN=HAFT_EDGE_$1" -c "$source" \
            -o "$build/$(basename "$source" .c).o" &
    done
    wait
    ar rcs "$build/libhaft.a" "$build"/*.o
}

# build_program <edge> <program>: resolving is inlined, so programs are weakened too
build_program()
{
    "${CC:-gcc}" "${flags[@]}" "-DHAFT_WEAKEN=HAFT_EDGE_$1" "stress/$2.c" stress/support.c \
        "$build/libhaft.a" "${libraries[@]}" -o "$build/$2"
}

# verdict <program> <rounds> <threads> <words...>: one line
verdict()
{
    local program=$1 rounds=$2 threads=$3 try status
    shift 3
    for ((try = 1; try <= tries; try++)); do
        status=0
        TSAN_OPTIONS="halt_on_error=1 exitcode=66 report_thread_leaks=0" timeout 120 \
            "$build/$program" "$rounds" "$threads" "$((seed + try - 1))" "$@" \
            >"$build/log" 2>&1 || status=$?
        case $status in
            0 | 1) ;;
            66) echo "reported in try $try" && return ;;
            3) echo "violation in try $try" && return ;;
            124) echo "hung in try $try" && return ;;
            *) echo "exit $status in try $try" && return ;;
        esac
    done
    echo held
}

# try_edge <edge>: its rows; 0 if some program rejected it
try_edge()
{
    local edge=$1 run words answer rejected=1
    build_library "$edge"
    for run in "${runs[@]}"; do
        read -ra words <<<"$run"
        [[ -x $build/${words[0]} ]] || build_program "$edge" "${words[0]}"
        answer=$(verdict "${words[@]}")
        [[ $answer == held ]] || rejected=0
        printf '%-10s %-44s %s\n' "$edge" "$run" "$answer"
    done
    return $rejected
}

main()
{
    local edge rejected failed=0 chosen=("$@")
    [[ $# -gt 0 ]] || mapfile -t chosen < <(edges)
    for edge in "${chosen[@]}"; do
        rm -f "$build"/[a-z]*
        rejected=yes
        try_edge "$edge" || rejected=no
        if [[ $edge == NONE && $rejected == yes ]]; then
            echo "$edge: REJECTED, though nothing is weakened"
            failed=1
        elif [[ $edge != NONE && $rejected == no && " ${invisible[*]} " != *" $edge "* ]]; then
            echo "$edge: HELD, though it can be seen"
            failed=1
        fi
    done
    return $failed
}

main "$@"
