#!/bin/bash
# Everything that level_load must refuse: saved levels that are not right, and options.
#
# Usage: level_load_refused_test.sh <level_load>
set -euo pipefail

source "$(dirname "${BASH_SOURCE[0]}")/level_load_support.sh"

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
    refuses_level ":8: slot 4294967295v1: beyond the table's slots, or the history's snapshots" \
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
    refuses "--save: 'tree/pipe' is there and is not a regular file$more" --save tree/pipe tree
    refuses "--save: 'link' is there and is not a regular file$more" --save link tree
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

make_tree
ln -s tree link
write_level >good.level
check_malformed
check_slots_and_links
check_cut_files
check_options

[[ $failures == 0 ]] || exit 1
