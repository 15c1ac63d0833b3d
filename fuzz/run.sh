#!/bin/bash
# A fuzz target under libFuzzer, with ASan and UBSan.  ./dev fuzz calls it; ./dev --help says how.
#   fuzz/run.sh <target> <seconds> [libFuzzer's arguments]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly target=$1 seconds=$2
shift 2
readonly out=${TMPDIR:-/tmp}/haft-fuzz-$UID
readonly clang=${CLANG:-clang-14}
readonly options=(-std=gnu11 -D_DEFAULT_SOURCE -Iinclude -I. -g -O1 -fno-omit-frame-pointer
    "-fsanitize=fuzzer,address,undefined" -fno-sanitize-recover=all)

libraries=(-lurcu-memb -lpthread)
case $target in
    operations)
        sources=(fuzz/{operations,play,model,model_local,local,packed,shared,shared_count,shared_life,shared_many,shared_pin,sides}.c) ;;
    counted) sources=(fuzz/{counted,model}.c) ;;
    exact) sources=(fuzz/exact.c fuzz/exact_subject.c) ;;
    ids) sources=(fuzz/ids.c fuzz/ids_counted.c fuzz/ids_tables.c) ;;
    options) sources=(fuzz/options.c fuzz/options_counted.c fuzz/options_given.c fuzz/options_other.c) ;;
    saved)
        sources=(fuzz/saved.c examples/level_load/{failure,level,lines,links,load,save}.c)
        packages=(glib-2.0)
        ;;
    trace)
        sources=(fuzz/trace.c examples/replay/{failure,list,reader,trace}.c)
        packages=(zlib)
        ;;
    *)
        echo "fuzz/run.sh: no target '$target'; there are: operations, counted, exact, ids, options, saved, trace" >&2
        exit 2
        ;;
esac
if [[ -n ${packages[*]:-} ]]; then
    read -ra flags < <(pkg-config --cflags --libs "${packages[@]}")
    libraries+=(-D_GNU_SOURCE "${flags[@]}")
fi

mkdir -p "$out/$target" "fuzz/corpus/$target"
"$clang" "${options[@]}" -o "$out/$target/fuzzer" "${sources[@]}" fuzz/libfuzzer.c \
    lib/*/*.c concurrent/*/*.c kit/*/*/*.c "${libraries[@]}"
mkdir -p "$out/$target/found"
# A census of 2^32 slots takes 11 s, longer beside other work.
# New inputs stay outside the tree; what is worth keeping is merged into the corpus by
#   <fuzzer> -merge=1 fuzz/corpus/<target> <out>/<target>/found
exec "$out/$target/fuzzer" -max_total_time="$seconds" -use_value_profile=1 -len_control=0 \
    -max_len=4096 -timeout=300 -malloc_limit_mb=8192 -rss_limit_mb=8192 \
    -artifact_prefix="$out/$target/" "$@" "$out/$target/found" "fuzz/corpus/$target"
