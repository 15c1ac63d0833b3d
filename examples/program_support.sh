# What the tests of programs with --json and --help share: to be sourced where `program` and `err`,
# a file for what it says on stderr, are set.

failures=0

fail()
{
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# value <key> <json>: of a number or string in the JSON, which has one key a line
value()
{
    sed -nE "s/^ +\"$1\": \"?([^\",]*)\"?,?\$/\1/p" <<<"$2"
}

# run <arguments>: sets code and out
run()
{
    code=0
    out=$("$program" "$@" 2>"$err") || code=$?
}

# refuse <what the message must say> <arguments>
refuse()
{
    local wanted=$1
    shift
    run "$@"
    [[ $code == 2 ]] || fail "$*: exit $code"
    [[ -z $out ]] || fail "$*: printed '$out'"
    grep -qF -- "$wanted" "$err" || fail "$*: '$(<"$err")' does not say '$wanted'"
    grep -qF -- "--help" "$err" || fail "$*: no word of --help"
}
