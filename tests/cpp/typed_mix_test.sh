#!/bin/bash
# Mixing ids, objects and tables of two types does not compile, in C and in C++.
#
# Usage: typed_mix_test.sh <include/haft/typed.h>
# Environment: CC (gcc), CXX (g++)
set -euo pipefail

include=$(dirname "$(dirname "$1")")
readonly include
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# program: each statement in a function of its own, in a line of its own
program()
{
    cat <<'PROGRAM'
#include <haft/kit/typed.h>
HAFT_TYPED_ID(ship);
HAFT_TYPED_ID(torpedo);
struct ship { torpedo_id fired; };
struct torpedo { ship_id target; };
HAFT_TYPED(ship, struct ship);
HAFT_TYPED_LOCAL(ship);
HAFT_TYPED_PACKED(ship);
HAFT_TYPED_TABLE(ship);
HAFT_TYPED_COUNTED(ship);
HAFT_TYPED(torpedo, struct torpedo);
HAFT_TYPED_LOCAL(torpedo);
HAFT_TYPED_PACKED(torpedo);
HAFT_TYPED_TABLE(torpedo);
HAFT_TYPED_COUNTED(torpedo);

#define MIX(NAME)                                                                                  \
    void NAME(ship_id ship, torpedo_id torpedo, haft_id id, struct ship *a_ship,                   \
              struct torpedo *a_torpedo, ship_local ships, ship_packed fleet, ship_table shared,   \
              ship_worker worker, torpedo_local torpedoes, haft_view view, ship_ref ref,          \
              ship_counted held, torpedo_counted fired)
#define UNUSED                                                                                     \
    (void)ship, (void)torpedo, (void)id, (void)a_ship, (void)a_torpedo, (void)ships, (void)fleet,  \
        (void)shared, (void)worker, (void)torpedoes, (void)view, (void)ref, (void)held, (void)fired
PROGRAM
    local number
    for number in "${!statements[@]}"; do
        printf 'MIX(mix_%d); MIX(mix_%d) { UNUSED;\n#line %d "statement"\n%s;\n}\n' \
            "$number" "$number" "$number" "${statements[number]}"
    done
}

# expect <yes|no> <statement>: whether it compiles
expect()
{
    wanted+=("$1")
    statements+=("$2")
}

# check <language> <compiler and options...>: each statement compiles, or has an error in its line
check()
{
    local language=$1 number answer
    shift
    [[ $("$1" --version) != *clang* ]] || set -- "$@" -ferror-limit=0
    "$@" -Wall -Wextra -Werror -I"$include" -fsyntax-only "$work/mix.c" >"$work/log" 2>&1 || true
    for number in "${!statements[@]}"; do
        answer=yes
        ! grep -q "^statement:$number:.* error: " "$work/log" || answer=no
        [[ $answer != "${wanted[number]}" ]] || continue
        echo "$language: compiles: $answer instead of ${wanted[number]}: ${statements[number]}"
        failed=1
    done
    ! grep ' error: ' "$work/log" | grep -v '^statement:' || failed=1
}

wanted=()
statements=()
# Each statement that must compile is followed by what differs from it in one type.
expect yes 'a_ship->fired = torpedo'
expect no  'a_ship->fired = ship'
expect no  'a_ship->fired = id'
expect yes 'a_ship = ship_resolve(ships.view, ship)'
expect no  'a_ship = ship_resolve(ships.view, torpedo)'
expect no  'a_ship = ship_resolve(ships.view, id)'
expect no  'a_ship = ship_resolve(torpedoes.view, ship)'
expect no  'a_ship = ship_resolve(view, ship)'
expect no  'a_ship = ship_resolve(fleet.view, ship)'
expect no  'a_torpedo = ship_resolve(ships.view, ship)'
expect yes 'haft_resolve(view, ship_id_untyped(ship))'
expect no  'haft_resolve(view, ship)'
expect no  'ship_id_untyped(torpedo)'
expect yes 'ship = ship_id_of(id)'
expect no  'ship = ship_id_of(ship)'
expect no  'ship = torpedo_id_of(id)'
expect no  'ship = 7'
expect no  'ship = id.bits'
expect yes '(void)ship_id_equal(ship, ship)'
expect no  '(void)ship_id_equal(ship, torpedo)'
expect no  '(void)(ship == ship)'
expect yes '(void)ship_local_insert(ships, a_ship, &ship)'
expect no  '(void)ship_local_insert(ships, a_torpedo, &ship)'
expect no  '(void)ship_local_insert(ships, a_ship, &torpedo)'
expect no  '(void)ship_local_insert(torpedoes, a_ship, &ship)'
expect yes '(void)ship_local_free(ships, ship)'
expect no  '(void)ship_local_free(ships, torpedo)'
expect yes '(void)ship_packed_kill(fleet, ship)'
expect no  '(void)ship_packed_kill(fleet, torpedo)'
expect yes '(void)ship_insert(worker, a_ship, &ship)'
expect no  '(void)ship_insert(worker, a_torpedo, &ship)'
expect no  '(void)ship_insert(shared, a_ship, &ship)'
expect yes '(void)ship_free(worker, ship)'
expect no  '(void)torpedo_free(worker, torpedo)'
expect yes 'a_ship = ship_require(shared, ship)'
expect no  'a_ship = ship_require(shared, torpedo)'
expect yes 'a_ship = ship_counted_acquire(held, ship)'
expect no  'a_ship = ship_counted_acquire(held, torpedo)'
expect no  'a_ship = ship_counted_acquire(fired, ship)'
expect no  'a_torpedo = ship_counted_acquire(held, ship)'
expect yes '(void)ship_counted_release(held, ship)'
expect no  '(void)ship_counted_release(held, id)'
expect yes '(void)ship_counted_insert(held, a_ship, &ship)'
expect no  '(void)ship_counted_insert(held, a_torpedo, &ship)'
expect no  '(void)ship_counted_insert(shared, a_ship, &ship)'
expect yes 'a_ship = ship_ref_get(ref)'
expect no  'a_torpedo = torpedo_ref_get(ref)'
expect no  'a_ship = ship_ref_get(ship)'

failed=0
program >"$work/mix.c"
check C "${CC:-gcc}" -std=c11
check C++ "${CXX:-g++}" -x c++ -std=c++17
[[ $failed == 0 ]] || cat "$work/log"
[[ $failed == 0 ]] && echo "each of the mixtures was rejected"
exit $failed
