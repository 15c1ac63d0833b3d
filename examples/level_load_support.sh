# What the tests of level_load have in common; to be sourced with the program as first argument.

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
