# shellcheck shell=bash disable=SC2154
# Checks the arguments of ./dev before anything is installed or built.  ./dev sources this and
# provides `root` and usage_error.  The programs check their arguments again.

# options_of <command>: its options, with what the value must be where there is one: a number in a
# range, SECONDS (a number that may have a fraction), a word of several, FILE (it can be read),
# /PATH (it is absolute) or TEXT.  A pattern stands for options that another program looks at.
options_of()
{
    case $1 in
        demo)
            echo --repeat=1..1000000000 --workers=1..256 --seed=0..9223372036854775807 \
                '--flavour=memb|qsbr' '--clock=thread|caller|workers' --export=TEXT --json
            ;;
        test) echo --install --cross --quick '-*' ;;
        tsan) echo '-*' ;;
        asan | cross | compilers | memcheck) echo --quick '-*' ;;
        platforms) echo --quick --only=TEXT --write --json ;;
        coverage) echo --again --json '-*' ;;
        fresh) echo --keep ;;
        verify)
            echo --only=TEXT --quick --longer=1..1000000 --seconds=1..1000000 \
                --plays=1..1000000 --operations=1..1000000000000 --changes=1..1000000 --list \
                --no-write --json
            ;;
        fuzz)
            echo --seconds=0..1000000000 "--target=$(fuzz_targets)" --operations=0..1000000000000 \
                --inputs=0..1000000000000 '-[!-]*=*'
            ;;
        fuzz-operations)
            echo --operations=0..1000000000000 --inputs=0..1000000000000 "--target=$(fuzz_targets)" \
                --seed=0..9223372036854775807 --tell --keep=TEXT
            ;;
        combinations)
            echo '--mode=turns|threads|schedules' --seconds=1..2592000 --plays=0..1000000000000 \
                --seed=0..4611686018427387904 --times=1..1000000 --patience=1..2592000 \
                --shrink=0..2592000 --go-on --pairs=TEXT --json
            ;;
        combinations-every-mode)
            echo --every-mode --seconds=1..2592000 --seed=0..4611686018427387904 \
                --shrink=0..2592000 --json --lint
            ;;
        bench)
            echo --quick --report --scaling --blocked --pauses --repetitions=1..1000000 \
                --seconds=SECONDS --sessions=1..1000 --apart=0..10000 --plot=TEXT \
                --save=TEXT --list --from=FILE --against=FILE
            ;;
        bench-named) echo '--benchmark_*' '--v=*' ;;
        mutants)
            echo --operations --random=1..1000000 --seed=0..9223372036854775807 --only=TEXT \
                --jobs=1..4096 --all-checks --fresh --seconds=1..1000000 --json --list \
                --lint --self-test
            ;;
        schedules) echo "--case=$(explorer_cases)" --json ;;
        lint) echo --fix ;;
        install) echo --prefix=/PATH --libdir=TEXT --destdir=TEXT ;;
        uninstall) echo --prefix=/PATH --libdir=TEXT --destdir=TEXT ;;
        package) echo --output=TEXT --test ;;
        docs) echo --output=TEXT ;;
        abi) echo --update --symbols ;;
        api) echo --output=TEXT ;;
        amalgamate) echo --check --self-test ;;
        release) echo --check --set=TEXT --archive=TEXT --self-test --json ;;
        *) return 1 ;;
    esac
}

# --- names that the sources know ---

# separated: lines as words with | between
separated()
{
    paste -sd '|'
}

fuzz_targets()
{
    basename -a "$root"/fuzz/corpus/* | separated
}

explorer_cases()
{
    sed -nE 's/^EXPLORE\((\w+),.*/\1/p' "$root"/stress/explorer/cases/*.c | separated
}

benches()
{
    sed -nE '/^PROGRAMS = \[/,/^\]/s/^    "(.*)",$/\1/p' "$root/bench/BUILD"
    printf "backlog\npauses\n"
}

verify_steps()
{
    sed -nE 's/^ +\(?\[?\("([a-z]+)", \[\[.*/\1/p' "$root/tools/verify"
}

# --- options ---

# check_value <option> <what it must be> <value>
check_value()
{
    case $2 in
        *..*)
            [[ $3 =~ ^[0-9]{1,19}$ ]] && ((10#$3 >= ${2%..*} && 10#$3 <= ${2#*..})) ||
                usage_error "$1 must be from ${2%..*} to ${2#*..}, not '$3'"
            ;;
        SECONDS)
            [[ $3 =~ ^[0-9]*\.?[0-9]+$ ]] || usage_error "$1 must be a number, not '$3'"
            ;;
        FILE) [[ -f $3 && -r $3 ]] || usage_error "$1 must be a file that can be read, not '$3'" ;;
        /PATH) [[ $3 == /* ]] || usage_error "$1 must be an absolute path, not '$3'" ;;
        TEXT) [[ -n $3 ]] || usage_error "$1 needs a value" ;;
        *)
            [[ -n $3 && "|$2|" == *"|$3|"* ]] ||
                usage_error "$1 must be one of ${2//|/, }, not '$3'"
            ;;
    esac
}

# form_of <option> <known options>: prints what the option's value must be, or nothing for an option
# without one; fails for an unknown option
form_of()
{
    local option=$1 known
    shift
    for known in "$@"; do
        case $known in
            "$option") return ;;
            "$option="*)
                echo "${known#*=}"
                return
                ;;
        esac
    done
    return 1
}

# is_passed_on <argument> <known options>: whether one of the patterns among them stands for it
is_passed_on()
{
    local argument=$1 known
    shift
    for known in "$@"; do
        # shellcheck disable=SC2053
        [[ $known != *[*]* || $argument != $known ]] || return 0
    done
    return 1
}

# refuse_option <command> <option>: the command has none of that name, or only in its other form
refuse_option()
{
    local form=every-mode other=$1
    case $1 in
        combinations) other=$1-$form ;;
        combinations-*) other=${1%-"$form"} ;;
    esac
    if [[ $other == "$1" || " $(options_of "$other") " != *" ${2%%=*}"[\ =]* ]]; then
        usage_error "no option '$2'"
    elif [[ $other == *-"$form" ]]; then
        usage_error "${2%%=*} needs --$form"
    fi
    usage_error "${2%%=*} has no meaning with --$form"
}

# check_options <command> <arguments>: leaves those that are no options in `words`
check_options()
{
    local known form option table=$1
    read -ra known < <(options_of "$table")
    shift
    words=()
    while [[ $# -gt 0 ]]; do
        option=${1%%=*}
        if [[ $1 != -* ]]; then
            words+=("$1")
        elif form=$(form_of "$option" "${known[@]}"); then
            if [[ -z $form ]]; then
                [[ $1 == "$option" ]] || usage_error "$option takes no value, such as '${1#*=}'"
            elif [[ $1 == *=* ]]; then
                check_value "$option" "$form" "${1#*=}"
            else
                [[ $# -gt 1 ]] || usage_error "$option needs a value"
                check_value "$option" "$form" "$2"
                shift
            fi
        else
            is_passed_on "$1" "${known[@]}" || refuse_option "$table" "$1"
        fi
        shift
    done
}

# --- other arguments ---

readonly compiler_names='(clang14|clang19|debug_rcu)(,(tsan|asan))*'

refuse_words()
{
    [[ ${#words[@]} == 0 ]] || usage_error "'${words[0]}' is not an option"
}

# check_one_of <what> <word> <names, one a line>
check_one_of()
{
    grep -qxF -e "$2" <<<"$3" || usage_error "no $1 '$2'; there are: $(paste -sd , <<<"$3" | sed 's/,/, /g')"
}

# Bazel's targets.  Which ones a package has, only Bazel knows.  A message has `names`, the other
# words that the command takes.
check_targets()
{
    local word folder
    for word in "$@"; do
        [[ $word != @* && $word != -@* && $word != :* ]] || continue
        [[ $word == //* || $word == -//* ]] ||
            usage_error "'$word' is neither an option nor ${names:+one of $names nor }a target such as //tests:local_test"
        folder=${word#-}
        folder=${folder#//}
        folder=${folder%%:*}
        [[ $folder == */... || $folder == ... ]] || [[ -f $root/$folder/BUILD ]] ||
            usage_error "no package '//$folder' for the target '$word'"
        [[ $folder != */... || -d $root/${folder%/...} ]] ||
            usage_error "no folder '${folder%/...}' for the target '$word'"
    done
}

# check_named_and_targets <names, for a message> <pattern of them> <words>
check_named_and_targets()
{
    local names=$1 pattern=$2 word targets=()
    shift 2
    for word in "$@"; do
        [[ $word =~ $pattern ]] || targets+=("$word")
    done
    check_targets "${targets[@]}"
}

# check_test <arguments>: --install takes no others but --quick, machines go with --cross
check_test()
{
    if [[ " $* " == *" --install "* ]]; then
        [[ $# == 1 || $# == 2 && " $* " == *" --quick "* ]] || usage_error "--install takes no other arguments"
    elif [[ " $* " == *" --cross "* ]]; then
        check_named_and_targets 'aarch64, i386' '^(aarch64|i386)$' "${words[@]}"
    else
        [[ " $* " != *" --quick "* ]] || usage_error "--quick goes with --cross or --install"
        check_targets "${words[@]}"
    fi
}

check_installation()
{
    [[ " $* " == *" --prefix"[\ =]* ]] || usage_error "--prefix must say where"
    refuse_words
}

check_demo()
{
    [[ ${#words[@]} -le 1 ]] || usage_error "one trace at a time, not also '${words[1]}'"
    [[ ${#words[@]} == 0 || -f ${words[0]} && -r ${words[0]} ]] ||
        usage_error "the trace must be a file that can be read, not '${words[0]}'"
}

check_bench()
{
    local name
    if [[ ${1:-} == [a-z]* ]]; then
        check_options bench-named "$@"
        for name in "${words[@]}"; do
            check_one_of benchmark "$name" "$(benches)"
        done
        return
    fi
    check_options bench "$@"
    refuse_words
    [[ " $* " != *" --quick "* || " $* " != *" --report "* ]] ||
        usage_error "--quick or --report, not both"
}

# Commands, each with its arguments in one word; these are looked at when it runs.
check_commands()
{
    local word
    for word in "$@"; do
        options_of "${word%% *}" >/dev/null || usage_error "no command '${word%% *}'"
    done
}

check_verify()
{
    local step
    for ((; $# > 0; )); do
        case $1 in
            --only) step=$2 ;;
            --only=*) step=${1#*=} ;;
            *) step='' ;;
        esac
        for step in ${step//,/ }; do
            check_one_of step "$step" "$(verify_steps)"
        done
        shift
    done
    refuse_words
}

# check_arguments <command> <its arguments>: exits with 2 if they are not acceptable; leaves those
# that are no options in `words`
check_arguments()
{
    local table=$1
    shift
    case $table in
        bench) check_bench "$@" ;;
        fuzz)
            [[ ! " $* " =~ " --"(operations|inputs)[\ =] ]] || table=fuzz-operations
            check_options "$table" "$@"
            refuse_words
            ;;
        combinations)
            [[ " $* " != *" --every-mode "* ]] || table=combinations-every-mode
            check_options "$table" "$@"
            refuse_words
            ;;
        *)
            options_of "$table" >/dev/null || return 0
            check_options "$table" "$@"
            case $table in
                demo) check_demo ;;
                install | uninstall) check_installation "$@" ;;
                fresh) check_commands "${words[@]}" ;;
                verify) check_verify "$@" ;;
                test) check_test "$@" ;;
                cross) check_named_and_targets 'aarch64, i386' '^(aarch64|i386)$' "${words[@]}" ;;
                compilers) check_named_and_targets 'clang14, clang19, debug_rcu (,tsan ,asan)' \
                    "^($compiler_names)$" "${words[@]}" ;;
                tsan | asan | memcheck | coverage) check_targets "${words[@]}" ;;
                *) refuse_words ;;
            esac
            ;;
    esac
}

# describe_options <command>: for a command whose program is not built yet
describe_options()
{
    local option
    for option in $(options_of "$1"); do
        case $option in
            *[*]*) ;;
            *=*) printf '  %s %s\n' "${option%%=*}" "$(sed 's/|/, /g; s/\.\./ to /' <<<"${option#*=}")" ;;
            *) printf '  %s\n' "$option" ;;
        esac
    done
}
