#!/bin/bash
# level_load on a tree whose sizes are known, saved and loaded.
#
# Usage: level_load_test.sh <level_load>
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/level_load_support.sh"

# --- a tree ---

check_tree()
{
    expect "exit code" "$code" 0
    expect "stderr" "$err" ""
    expect "wrong_answers" "$(value wrong_answers)" 0
    expect "path" "$(value path)" tree
    expect "files" "$(value files)" 304
    expect "folders" "$(value folders)" 5
    expect "bytes" "$(value bytes)" $((8 + 3 + 0 + 140000 + 300 * 5))
    expect "lines" "$(value lines)" $((2 + 0 + 0 + 70000 + 300))
    expect "unreadable_files" "$(value unreadable_files)" 0
    expect "unreadable_folders" "$(value unreadable_folders)" 0
}

check_largest()
{
    local list
    list=$(tr -d ' \n' <out.txt)
    [[ $list == *'"largest_files":[{"path":"tree/deep/er/large","bytes":140000,"lines":70000},'* ]] ||
        fail "the largest file: $out"
    [[ $list == *'"largest_folders":[{"path":"tree","bytes":141511,"lines":70302,"files":304},'* ]] ||
        fail "the largest folder: $out"
    [[ $list == *'{"path":"tree/many","bytes":1500,"lines":300,"files":300}'* ]] ||
        fail "a folder of small files: $out"
    [[ $list == *'{"path":"tree/empty","bytes":0,"lines":0,"files":0}'* ]] ||
        fail "an empty folder: $out"
}

check_runs()
{
    local clock workers key
    for clock in caller thread workers; do
        for workers in 1 2 4; do
            run --json --clock $clock --workers $workers tree//
            check_tree
            check_largest
            expect "clock" "$(value clock)" $clock
            expect "workers" "$(value workers)" $workers
            expect "skipped" "$(value skipped)" 3
            [[ $(value stale_ids) -ge $workers ]] || fail "stale_ids is $(value stale_ids)"
            for key in walk_ms shared_ms save_ms load_ms; do
                [[ $(value $key) =~ ^[0-9.]+$ ]] || fail "$key is '$(value $key)'"
            done
        done
    done
}

check_summary()
{
    run --top 2 tree
    expect "exit code" "$code" 0
    expect "stderr in a pipe" "$err" ""
    grep -q '^All answers were right\.$' out.txt || fail "no verdict: $out"
    grep -q '304 files in 5 folders, 142 kB, 70,302 lines$' out.txt || fail "no census: $out"
    grep -q '^  3 links and the like skipped$' out.txt || fail "nothing skipped: $out"
    expect "lines of largest" "$(grep -c '  tree/*' out.txt)" 4
}

check_small_trees()
{
    run --json tree/empty
    expect "exit code of an empty folder" "$code$err" 0
    expect "files of an empty folder" "$(value files)$(value bytes)" 00
    expect "folders of an empty folder" "$(value folders)" 1
    out=$(cd tree && "$level_load" --top 0 .)
    [[ $out == $'.\n  304 files in 5 folders, '* ]] || fail "the folder . is: $out"
    ln -s tree link
    run --json link
    expect "files of a linked DIR" "$(value files)" 304
    run tree/empty
    grep -q '  0 files in 1 folder, 0 B, 0 lines$' out.txt || fail "an empty folder: $out"
}

# Root may read everything: somebody else has to try.
check_unreadable()
{
    local as=() where
    where=$(mktemp -d /tmp/level_load_test.XXXXXX)
    mkdir -p "$where/tree/locked/in"
    echo seen >"$where/tree/seen"
    echo hidden >"$where/tree/hidden"
    cp "$level_load" "$where/level_load"
    chmod 755 "$where"
    chmod 0 "$where/tree/locked" "$where/tree/hidden"
    [[ $EUID != 0 ]] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    code=0
    "${as[@]}" "$where/level_load" --json "$where/tree" >out.txt 2>err.txt || code=$?
    expect "exit code with a locked folder" "$code$(<err.txt)" 0
    expect "unreadable" "$(value unreadable_folders)+$(value unreadable_files)" 1+1
    expect "folders, the locked one too" "$(value folders)" 2
    expect "files, the locked one too" "$(value files)" 2
    expect "lines of readable files" "$(value lines)" 1
    "${as[@]}" "$where/level_load" "$where/tree" >out.txt
    grep -q '^1 folder could not be read$' out.txt || fail "locked: $(<out.txt)"
    grep -q "^  $where/tree/hidden$" out.txt || fail "hidden: $(<out.txt)"
    chmod 700 "$where/tree/locked"
    rm -rf "$where"
}

# --- saved levels ---

check_save_and_load()
{
    run --json --save first.level --workers 4 tree
    check_tree
    run --json --load first.level --save second.level
    check_tree
    check_largest
    [[ $(value stale_ids) -ge 4 ]] || fail "stale_ids after loading is $(value stale_ids)"
    sed -nE 's/^file .* 5 1 (.*)/\1/p' first.level >names.txt
    LC_ALL=C sort -rc names.txt || fail "names are not saved in order"
    cmp first.level second.level || fail "saved, loaded and saved again is not the same"
    run --load first.level
    grep -q '^All answers were right\.$' out.txt || fail "no verdict after loading: $out"
}

check_small_level()
{
    write_level >good.level
    run --json --load good.level --save again.level
    expect "exit code of a small level" "$code$err" 0
    expect "files, bytes, lines" "$(value files) $(value bytes) $(value lines)" "2 11 2"
    expect "unreadable files" "$(value unreadable_files)" 1
    expect "stale ids" "$(value stale_ids)" 1
    cmp good.level again.level || fail "a small level changed"
    # in any order
    { sed 3q good.level && sed 1,3d good.level | tac; } >tac.level
    run --json --load tac.level --save again.level
    expect "exit code of a level backwards" "$code$err" 0
    cmp good.level again.level || fail "a level backwards is another"
    # a slot that has lived all its lives stays out of use
    sed 's/7v3/7v0/' good.level >exhausted.level
    run --json --load exhausted.level --save again.level
    expect "exit code of a level with an exhausted slot" "$code$err" 0
    cmp exhausted.level again.level || fail "an exhausted slot is another"
}

# --- help ---

check_help()
{
    run --help
    expect "exit code of --help" "$code$err" 0
    [[ $out == "Usage: level_load "*--clock*Examples:* ]] || fail "--help says: $out"
}

make_tree
check_runs
check_summary
check_small_trees
check_unreadable
check_save_and_load
check_small_level
check_help

[[ $failures == 0 ]] || exit 1
