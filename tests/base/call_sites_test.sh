#!/bin/bash
# Each place in the library that asks the system for something has been refused by some test: the
# calls that go through --wrap, found in the program itself, against those that it says failed.
#
# Usage: call_sites_test.sh <program>, where the library's shared objects lie below
#
# What the program does not use is not linked into it: so the shared objects may have no function
# with such calls that the program lacks.  Calls that an optimiser has turned into jumps are not
# looked for.
set -euo pipefail

readonly program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Functions of the library: the tests' own calls do not count.
find -L . -name 'lib*.so' -exec nm {} + | awk '$2 ~ /^[tT]$/ { print $3 }' | sort -u >"$work/functions"

# Functions of the shared objects that call what the program wraps.
nm "$program" | awk '$3 ~ /^__wrap_/ { print substr($3, 8) }' >"$work/wrapped"
find -L . -name 'lib*.so' -exec objdump --disassemble --no-show-raw-insn {} + | awk '
    NR == FNR { is_wrapped[$1] = $1 !~ /^(free|os_release|os_page_size)$/; next }
    /^[0-9a-f]+ <.*>:$/ { function_name = substr($2, 2, length($2) - 3) }
    /(call|bl)[a-z]*[ \t].*<[a-z_]*@plt>/ {
        called = $0
        sub(/.*</, "", called)
        sub(/@plt.*/, "", called)
        sub(/\..*/, "", function_name)
        if (is_wrapped[called]) print function_name
    }' "$work/wrapped" - | sort -u >"$work/asking"
nm "$program" | awk '$2 ~ /^[tT]$/ { sub(/\..*/, "", $3); print $3 }' | sort -u >"$work/linked"
absent=$(comm -23 "$work/asking" "$work/linked")
if [[ $(wc -l <"$work/asking") -lt 20 ]]; then
    echo "few functions that ask the system for something: are they found?"
    exit 1
fi
if [[ -n $absent ]]; then
    echo "not in the program, so not refused by any test:"
    echo "$absent"
    exit 1
fi

# Where each call returns to, and what is called from which function.
objdump --disassemble --no-show-raw-insn "$program" | awk '
    /^[0-9a-f]+ <.*>:$/ { function_name = substr($2, 2, length($2) - 3) }
    called != "" && /^ +[0-9a-f]+:/ {
        sub(":", "", $1)
        print $1, function_name, called
        called = ""
    }
    /(call|bl)[a-z]*[ \t].*<__wrap_(free|os_release|os_page_size)>/ { next }
    /(call|bl)[a-z]*[ \t].*<__wrap_[a-z_]*>/ {
        called = $0
        sub(/.*<__wrap_/, "", called)
        sub(/>.*/, "", called)
    }' >"$work/calls"
awk 'NR == FNR { is_ours[$1] = 1; next } { split($2, part, "."); if (part[1] in is_ours) print }' \
    "$work/functions" "$work/calls" >"$work/sites"

: >"$work/failed"
HAFT_CALL_SITES="$work/failed" "$program" -j2 >"$work/log" 2>&1 || {
    cat "$work/log"
    exit 1
}

# And the calls of the library's constructors, which no test can have refused.
HAFT_EARLY_FAILURES=4 HAFT_CALL_SITES="$work/failed" "$program" --list >"$work/log" 2>&1 || {
    cat "$work/log"
    exit 1
}

# In a program that is not relocated addresses begin at that of its first segment.
start=$(nm "$program" | awk '$3 == "__executable_start" { print $1 }')
sort -u "$work/failed" | while read -r offset; do
    printf '%x\n' $((16#$offset + 16#$start))
done | sort -u >"$work/reached"

missing=$(awk 'NR == FNR { reached[$1] = 1; next } !($1 in reached) { print "  " $3 " in " $2 }' \
    "$work/reached" "$work/sites")
count=$(wc -l <"$work/sites")
echo "$count places that ask the system for something"
if [[ $count -lt 20 ]]; then
    echo "too few: are they found?"
    exit 1
fi
if [[ -n $missing ]]; then
    echo "not refused by any test:"
    echo "$missing"
    exit 1
fi
