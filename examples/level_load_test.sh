#!/bin/bash
# level_load on a tree whose sizes are known, saved and loaded, and on everything it must refuse.
#
# Usage: level_load_test.sh <level_load>
set -euo pipefail

level_load=$(realpath "$1")
readonly level_load
work=$(mktemp -d "${TEST_TMPDIR:-/tmp}/level_load_test.XXXXXX")
readonly work
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
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
    "$level_load" "$@" >out.txt 2>err.txt || code=$?
    out=$(<out.txt)
    err=$(<err.txt)
}

# value <key>: of a number or string of the JSON's first level, which has one key a line
value()
{
    sed -nE "s/^  \"$1\": \"?([^\",]*)\"?,?\$/\1/p" out.txt
}

# --- a tree ---

make_tree()
{
    local i
    mkdir -p tree/empty tree/deep/er tree/many
    printf 'one\ntwo\n' >tree/a.txt
    printf 'abc' >$'tree/with space %41\n\x80.txt'
    : >tree/nothing
    printf 'y\n%.0s' {1..70000} >tree/deep/er/large # more than one buffer
    ln -s ../a.txt tree/deep/link
    ln -s .. tree/deep/up
    mkfifo tree/pipe
    for ((i = 0; i < 300; i++)); do
        echo line >"tree/many/$i"
    done
}

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
    cmp first.level second.level || fail "saved, loaded and saved again is not the same"
    run --load first.level
    grep -q '^All answers were right\.$' out.txt || fail "no verdict after loading: $out"
}

write_level()
{
    cat <<'EOF'
haft-level 1
root 4v1
slots 5
folder 4v1 nil nil 5v2 top
file 5v2 4v1 6v1 8 2 a.txt
unreadable-file 6v1 4v1 8v1 3 0 b%20c
free 7v3
folder 8v1 4v1 nil nil d
EOF
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

# --- what is refused ---

# refuses <message> <arguments>
refuses()
{
    local message=$1
    shift
    run "$@"
    expect "exit code for '$*'" "$code" 2
    expect "stdout for '$*'" "$out" ""
    expect "message for '$*'" "$err" "level_load: $message"
}

# refuses_level <place and message> <sed script>: the good level, changed; it must not be touched,
# nor what is there to be saved to
refuses_level()
{
    sed -E "$2" good.level >t.level
    cp t.level before.level
    echo precious >precious.level
    refuses "t.level$1" --load t.level --save precious.level
    cmp t.level before.level || fail "t.level was changed"
    expect "what was there to be saved to" "$(<precious.level)" precious
}

check_malformed()
{
    local id="must be an id, such as 17v3, or nil, not"
    local number="must be a number from 0 to 9223372036854775807, not"

    refuses_level ":1: version 2 of the format; only version 1 is understood" '1s/1/2/'
    refuses_level ":1: the version $number 'x'" '1s/1/x/'
    refuses_level ":1: the line must begin with \"haft-level \": this is not a saved level" \
        '1s/haft-level/elf/'
    refuses_level ":2: the line must begin with \"root \"" '2d'
    refuses_level ":2: the root $id '4'" '2s/4v1/4/'
    refuses_level ":3: the number of slots $number '-5'" '3s/5/-5/'
    refuses_level ":9: the file ends too early: it is cut short" '3s/5/6/'
    refuses_level ":8: the file ends too early: it is cut short" '8d'
    refuses_level ":1: the file ends too early: it is cut short" 'd'
    refuses_level ":8: there are more slots than line 3 says" '3s/5/4/'
    refuses_level ":5: bytes $number '8x'" '5s/ 8 / 8x /'
    refuses_level ":5: lines $number '9223372036854775808'" '5s/ 2 / 9223372036854775808 /'
    refuses_level ":5: lines $number ''" '5s/ 2 /  /'
    refuses_level ":5: the slot's id $id '5w2'" '5s/5v2/5w2/'
    refuses_level ":5: the parent $id '4v'" '5s/4v1/4v/'
    refuses_level ":6: the next sibling $id '8v1t1'" '6s/8v1/8v1t1/'
    refuses_level ":4: the first child $id ''" '4s/5v2//'
    refuses_level ":6: '%zz' is not a name in URI escapes" '6s/b%20c/%zz/'
    refuses_level ":6: '' is not a name in URI escapes" '6s/b%20c//'
    refuses_level ":6: the name 'b%2Fc' has a '/' in it" '6s/%20/%2F/'
    refuses_level ":7: a slot must be a folder, a file or free, not 'used'" '7s/free/used/'
    refuses_level ":7: the line is empty" '7s/.*//'
    refuses_level ":7: the line must be \"free ID\", and has 3 fields" '7s/$/ 1/'
    refuses_level \
        ":5: the line must be \"file ID PARENT NEXT BYTES LINES NAME\", and has 6 fields" '5s/ 2 / /'
}

check_slots_and_links()
{
    refuses_level ":7: slot 5 is on line 5 as well" '7s/7v3/5v3/'
    refuses_level ":6: slot 5 is on line 5 as well" '6s/6v1/5v1/'
    refuses_level ":7: slot nil: the id is nil" '7s/7v3/nil/'
    refuses_level ":8: slot 4294967295v1: the id's index is beyond the table's slots" \
        '8s/8v1/4294967295v1/'
    refuses_level ":4: the first child, 5v1: the object has been freed" '4s/5v2/5v1/'
    refuses_level ":6: the next sibling, 8v2: the table has not issued this id" '6s/8v1/8v2/'
    refuses_level ":5: the parent, 6v1: it must be a folder" '5s/4v1/6v1/'
    refuses_level ":2: the root: it must be a folder" '2s/4v1/6v1/'
    refuses_level ":2: the root: the id is nil" '2s/4v1/nil/'
    refuses_level ":4: the parent, nil: it must be a folder" '2s/4v1/8v1/'
    refuses_level ":4: the root, 4v1: it must have no parent and no sibling" '4s/nil nil/8v1 nil/'
    refuses_level ":4: the root, 4v1: it must have no parent and no sibling" '4s/nil nil/nil 8v1/'
    refuses_level ":5: the parent, 8v1: another folder has this one among its children" \
        '5s/4v1/8v1/'
    refuses_level ":4: the folder, 4v1: its children are linked in a loop" '8s/nil nil/5v2 nil/'
    refuses_level ":3: 1 of the objects are not reached from the root" '6s/8v1/nil/'
    # two folders that hold only each other
    refuses_level ":3: 1 of the objects are not reached from the root" \
        '6s/8v1/nil/; 8s/4v1 nil nil/8v1 nil 8v1/'
}

check_cut_files()
{
    head -c -1 good.level >cut.level
    refuses "cut.level:8: the line has no end: the file is cut short" --load cut.level
    printf 'haft-level 1\nroot 4v1\0\n' >zero.level
    refuses "zero.level:2: a byte 0x00 is in the line" --load zero.level
    run --load missing.level
    expect "exit code for a missing file" "$code$out" 2
    [[ $err == "level_load: cannot load: "*missing.level* ]] || fail "missing.level: $err"
    run --load tree
    expect "exit code for a folder" "$code$out" 2
    run --save no/such/folder tree/empty
    expect "exit code where nothing can be saved" "$code$out" 3
    [[ $err == "level_load: cannot save: "*no/such/folder* ]] || fail "no/such/folder: $err"
}

check_options()
{
    local more="; --help says more"

    refuses "--workers must be from 1 to 256, not 0$more" --workers 0 tree
    refuses "--workers must be from 1 to 256, not 257$more" --workers 257 tree
    refuses "--top must be from 0 to 1000000, not -1$more" --top=-1 tree
    refuses "--clock must be caller, thread or workers, not 'frame'$more" --clock frame tree
    refuses "--save: '/dev/null' is there and is not a regular file$more" --save /dev/null tree
    refuses "--load measures no tree: 'tree' has nothing to do$more" --load good.level tree
    refuses "--load measures no tree: '--workers' has nothing to do$more" --load x --workers 2
    refuses "--load measures no tree: '--clock' has nothing to do$more" --load x --clock thread
    refuses "one folder at a time, not also 'b'$more" a b
    refuses "Unknown option --threads$more" --threads 4
    refuses "Missing argument for --save$more" tree --save
    refuses "missing: No such file or directory" missing
    refuses "tree/a.txt: Not a folder" tree/a.txt
    run --workers many tree
    expect "exit code for --workers many" "$code$out" 2
    [[ $err == *--workers* ]] || fail "--workers many says: $err"
}

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
check_malformed
check_slots_and_links
check_cut_files
check_options
check_help

[[ $failures == 0 ]] || exit 1
