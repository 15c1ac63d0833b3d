#!/bin/bash
# lua_host: what scripts are told of ids, a million forged ones, and what must be refused.
#
# Usage: lua_host_test.sh <lua_host> <folder of scripts>
set -euo pipefail

program=$(realpath "$1")
scripts=$(realpath "$2")
readonly program scripts
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/lua_host_test.XXXXXX")
readonly work err=$work/err
trap 'rm -rf "$work"' EXIT
# shellcheck source=examples/program_support.sh
source "$(dirname "${BASH_SOURCE[0]}")/program_support.sh"

check_fleet()
{
    local wanted
    wanted=$(printf '%s\n' \
        $'Carina\t4.0\t6.0' \
        $'lead\tfalse\tthe object has been freed' \
        $'false\tbad argument #1 to \'?\' (no ship is 4v1: the object has been freed)' \
        $'4v1\t4v2\tfalse' \
        '3 ships are still there:' $'\tDelphin' $'\tBaltic' $'\tCarina' \
        $'Raft\t4' \
        'without those that were owned: 3' \
        '6 built, 3 left; 1 id refused')
    run "$scripts/fleet.lua"
    [[ $code == 0 && ! -s $err ]] || fail "fleet.lua: exit $code, $(<"$err")"
    [[ $out == "$wanted" ]] || fail "fleet.lua: '$out', not '$wanted'"
}

check_stale()
{
    run "$scripts/stale.lua"
    [[ $code == 1 && $out == "1 built, 0 left; 1 id refused" ]] || fail "stale.lua: $code, $out"
    grep -q "stale.lua:5: bad argument #1 to 'move' (no ship is 4v1: the object has been freed" "$err" ||
        fail "stale.lua: $(<"$err")"
    grep -q "stack traceback" "$err" || fail "stale.lua: no traceback"
}

# At least a million refusals, of each kind that forged ids can meet, and no ship harmed.
check_forged()
{
    run --json "$scripts/forge.lua" 1020000
    [[ $code == 0 && ! -s $err ]] || fail "forge.lua: exit $code, $(<"$err")"
    [[ $(value built "$out") == 64 && $(value left "$out") == 32 ]] || fail "forge.lua: $out"
    [[ $(value refused "$out") -ge 1000000 ]] || fail "forge.lua: only $(value refused "$out")"
    local reason
    for reason in "the object has been freed" "is nil" "no table of this layout issues" "has not issued"; do
        grep -q "^ *[0-9,]* .*$reason" <<<"$out" || fail "forge.lua never met '$reason': $out"
    done
}

# script <text>: the program runs it
script()
{
    echo "$1" >"$work/script.lua"
    shift
    run "$@" "$work/script.lua"
}

check_edges()
{
    script 'for i = 1, 1000 do ship.build("x") end' --capacity 10
    [[ $code == 1 ]] && grep -q "no ship was built: the table's capacity is in use" "$err" ||
        fail "a full table: $code, $(<"$err")"
    script 'ship.build(("long"):rep(1000))'
    [[ $code == 0 ]] || fail "a long name: $(<"$err")"
    script 'local o = ship.owned(ship.build("a")); ship.sink(o()); ship.build("b"); o = nil; collectgarbage()
            assert(ship.count() == 1)'
    [[ $code == 0 ]] || fail "an owned ship that was sunk takes another along: $(<"$err")"
    script 'getmetatable(ship.owned(ship.build("a"))).__gc(io.stdout)'
    [[ $code == 1 ]] || fail "the owner's ways are open to scripts"
    script 'error({})'
    [[ $code == 1 && -s $err ]] || fail "an error that is no text: $code"
    script 'error()'
    [[ $code == 1 && -s $err ]] || fail "an error that is nil: $code"
    script 'this is no Lua'
    [[ $code == 1 ]] && grep -q 'syntax error' "$err" || fail "no Lua: $code, $(<"$err")"
    run "$work/missing.lua"
    [[ $code == 1 ]] && grep -q 'missing.lua' "$err" || fail "no script: $code, $(<"$err")"
}

run --help
[[ $code == 0 && $out == "Usage: lua_host "*Examples:* ]] || fail "--help says $out"
refuse "which script?"
refuse "--capacity must be from 1 to 1000000, not '0'" --capacity 0 x.lua
refuse "--capacity must be from 1 to 1000000, not '1000001'" --capacity 1000001 x.lua
refuse "--fast" --fast x.lua
refuse "--capacity" --capacity
check_fleet
check_stale
check_forged
check_edges

[[ $failures == 0 ]] || exit 1
