#!/bin/bash
# boids: the same world for any number of workers; births, deaths and stale ids in it; pictures;
# refusals.
#
# Usage: boids_test.sh <boids>
set -euo pipefail

readonly program=$1
folder=$(mktemp -d)
readonly folder
readonly err=$folder/err
trap 'rm -rf "$folder"' EXIT
source "$(dirname "${BASH_SOURCE[0]}")/program_support.sh"

check_same_world()
{
    local workers first
    run --json --frames 80 --agents 2500 --seed 7 --workers 1
    [[ $code == 0 ]] || fail "exit $code: $(<"$err")"
    first=$(grep -v '"workers"' <<<"$out")
    for workers in 2 4 1; do
        run --json --frames 80 --agents 2500 --seed 7 --workers $workers
        [[ $(grep -v '"workers"' <<<"$out") == "$first" ]] ||
            fail "$workers workers made another world: $out instead of $first"
    done
    run --json --frames 80 --agents 2500 --seed 8
    [[ $(value checksum "$out") != "$(value checksum "$first")" ]] ||
        fail "another seed, the same world"
}

check_figures()
{
    local key
    run --json --frames 80 --agents 2500 --seed 7
    [[ $(value frames "$out") == 80 ]] || fail "frames: $out"
    for key in births deaths stale_targets bitten_twice hunters prey; do
        [[ $(value $key "$out") -gt 0 ]] || fail "no $key: $out"
    done
    [[ $(value agents "$out") == $(($(value prey "$out") + $(value hunters "$out"))) ]] ||
        fail "agents are not prey and hunters: $out"
    [[ $(value agents "$out") == \
        $((2500 + $(value births "$out") + $(value immigrants "$out") - $(value deaths "$out"))) ]] ||
        fail "births and deaths do not add up: $out"
}

check_few_agents()
{
    run --json --frames 250 --agents 100 --seed 3
    [[ $code == 0 && $(value immigrants "$out") -gt 0 ]] || fail "few agents: $code, $out"
}

check_summary()
{
    run --frames 30 --agents 1000 --workers 1
    [[ $code == 0 ]] || fail "exit $code: $(<"$err")"
    grep -qE '^30 frames in [0-9.]+ s by 1 worker, seed 1$' <<<"$out" || fail "no head: $out"
    grep -qE '^checksum [0-9a-f]{16}$' <<<"$out" || fail "no checksum: $out"
    [[ $out != *$'\033'* ]] || fail "escapes in a pipe"
    run --help
    [[ $code == 0 ]] || fail "--help: exit $code"
    grep -q '^Examples:$' <<<"$out" || fail "--help without examples"
}

check_pictures()
{
    local file
    run --json --frames 20 --agents 1000 --png "$folder/a/b" --png-every 10
    [[ $code == 0 ]] || fail "exit $code: $(<"$err")"
    [[ $(ls "$folder/a/b") == $'frame_000010.png\nframe_000020.png' ]] ||
        fail "pictures: $(ls "$folder/a/b")"
    for file in "$folder"/a/b/*; do
        [[ $(od -An -c -j1 -N3 "$file" | tr -d ' \n') == PNG ]] || fail "$file is no PNG"
        [[ $(stat -c %s "$file") -gt 10000 ]] || fail "$file is dark"
    done
    mkdir "$folder/a/b/frame_000001.png" # where a file should be
    run --json --frames 1 --agents 100 --png "$folder/a/b" --png-every 1
    [[ $code == 3 ]] || fail "a picture that cannot be written: exit $code"
    grep -qF frame_000001.png "$err" || fail "'$(<"$err")' names no picture"
}

check_refusals()
{
    refuse "--frames must be from 1 to 1000000000, not 0" --frames 0
    refuse "--agents must be from 100 to 4000000, not 99" --agents 99
    refuse "--agents must be from 100 to 4000000, not 4000001" --agents 4000001
    refuse "--workers must be from 1 to 256, not 0" --workers 0
    refuse "--workers must be from 1 to 256, not 257" --workers 257
    refuse "--seed must be from 0" --seed=-1
    refuse "--fps must be from 0 to 1000, not 1001" --fps 1001
    refuse "--png-every must be from 1 to 1000000000, not 0" --png-every 0
    refuse "--png: '/dev/null/x'" --png /dev/null/x
    refuse "--frames" --frames many
    refuse "--png" --png
    refuse "--sed" --sed 1
    refuse "'here'" here
}

check_same_world
check_figures
check_few_agents
check_summary
check_pictures
check_refusals
[[ $failures == 0 ]]
