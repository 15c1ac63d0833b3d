#!/bin/bash
# haft/haft.hpp resolves with exactly the instructions of the C headers, in each kind of table and
# for objects of several sizes and alignments; gcc, and clang where there is one.  It frees in place
# as they do: registers may be others, so instructions are counted, and those that lock.
#
# Usage: cpp_code_test.sh <include/haft/typed.h>
# Environment: CC (gcc), CXX (g++)
set -euo pipefail

include=$(dirname "$(dirname "$1")")
readonly include
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# In each language: <function> for each object, by its name.
readonly names=(bytes words three line large wide held)
readonly functions=(of_view is_live_in_view of_local of_table of_packed)

cat >"$work/objects.h" <<'OBJECTS'
#include <stdint.h>
struct bytes { unsigned char bytes[3]; };
struct words { uint64_t words[2]; };
struct three { uint64_t words[3]; };
struct line { uint64_t words[7]; };
struct large { uint64_t words[100]; };
struct wide { __attribute__((aligned(64))) uint64_t words[8]; };
struct held { uint64_t words[2]; };
OBJECTS

# in_c <name>
in_c()
{
    local typed=HAFT_TYPED
    [[ $1 != held ]] || typed=HAFT_TYPED_PINNED
    cat <<C
HAFT_TYPED_ID($1);
$typed($1, struct $1);
HAFT_TYPED_LOCAL($1);
HAFT_TYPED_PACKED($1);
HAFT_TYPED_TABLE($1);
struct $1 *$1_of_view($1_view view, $1_id id) { return $1_resolve(view, id); }
_Bool $1_is_live_in_view($1_view view, $1_id id) { return $1_is_live(view, id); }
struct $1 *$1_of_local(const $1_local *local, $1_id id) { return $1_resolve(local->view, id); }
struct $1 *$1_of_table(const $1_table *table, $1_id id) { return $1_resolve(table->view, id); }
struct $1 *$1_of_packed(const $1_packed *packed, $1_id id)
{
    return $1_packed_resolve(packed->view, id);
}
haft_status $1_free_by_worker(const $1_worker *worker, $1_id id) { return $1_free(*worker, id); }
C
}

# in_cxx <name>
in_cxx()
{
    local types="$1, haft::pins::no"
    [[ $1 != held ]] || types="$1, haft::pins::yes"
    cat <<CC
extern "C" {
$1 *$1_of_view(haft::view<$types> view, haft::id<$1> id) { return view.resolve(id); }
bool $1_is_live_in_view(haft::view<$types> view, haft::id<$1> id) { return view.is_live(id); }
$1 *$1_of_local(const haft::local<$types> *local, haft::id<$1> id) { return local->resolve(id); }
$1 *$1_of_table(const haft::table<$types> *table, haft::id<$1> id) { return table->resolve(id); }
$1 *$1_of_packed(const haft::packed<$1> *packed, haft::id<$1> id) { return packed->resolve(id); }
haft_status $1_free_by_worker(const haft::worker<$types> *worker, haft::id<$1> id)
{
    return worker->free(id);
}
}
CC
}

printf '#include "objects.h"\n#include <haft/kit/kit.h>\n' >"$work/c.c"
printf '#include "objects.h"\n#include <haft/kit/kit.hpp>\n' >"$work/cxx.cc"
for name in "${names[@]}"; do
    in_c "$name" >>"$work/c.c"
    in_cxx "$name" >>"$work/cxx.cc"
done

# code <c or cxx> <function>: its instructions, without addresses
code()
{
    sed -n "/^Disassembly of section \.text\.$2:\$/,/^Disassembly/s/^ *[0-9a-f]*:\t//p" "$work/$1.objdump"
}

# is_as_short <assembly> <other>: as many instructions, or up to two less, and as many that lock
is_as_short()
{
    local all most
    all=$(wc -l <"$1")
    most=$(wc -l <"$2")
    ((all > 0 && all <= most && all >= most - 2)) &&
        [[ $(grep -c lock "$1") == $(grep -c lock "$2") ]]
}

# compare <C compiler> <C++ compiler>
compare()
{
    local name function same=0
    local options=(-O2 -ffunction-sections -I"$include" -I"$work" -c)
    "$1" -std=c11 "${options[@]}" "$work/c.c" -o "$work/c.o"
    "$2" -std=c++17 -fno-exceptions "${options[@]}" "$work/cxx.cc" -o "$work/cxx.o"
    objdump -d --no-show-raw-insn "$work/c.o" >"$work/c.objdump"
    objdump -d --no-show-raw-insn "$work/cxx.o" >"$work/cxx.objdump"
    for name in "${names[@]}"; do
        for function in "${functions[@]/#/${name}_}"; do
            code c "$function" >"$work/c.s"
            code cxx "$function" >"$work/cxx.s"
            if [[ -s $work/c.s ]] && diff "$work/c.s" "$work/cxx.s" >"$work/diff"; then
                same=$((same + 1))
            else
                echo "$1, $2: $function differs (<: C), or is not there:"
                cat "$work/diff"
                failed=1
            fi
        done
        code c "${name}_free_by_worker" >"$work/c.s"
        code cxx "${name}_free_by_worker" >"$work/cxx.s"
        if ! is_as_short "$work/cxx.s" "$work/c.s"; then
            echo "$1, $2: ${name}_free_by_worker is longer in C++, or not in place:"
            cat "$work/cxx.s"
            failed=1
        fi
    done
    echo "$1, $2: $same functions have the same instructions in C and in C++"
}

compare "${CC:-gcc}" "${CXX:-g++}"
if command -v clang >/dev/null && command -v clang++ >/dev/null; then
    compare clang clang++
fi
exit $failed
