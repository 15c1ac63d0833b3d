#!/bin/bash
# What `./dev install` puts down can be used, from outside the project, by pkg-config and make, by
# CMake and by Meson; also where it has been moved to; and `./dev uninstall` removes all of it.
# CMake and Meson install the same, and compile haft together with a program.  Another Bazel
# workspace can use the project itself.
# One line for each, as Bazel's summary has them.  Run by `./dev test --install`.
# With --quick: each build system compiles haft once to be installed, CMake and Meson with its
# sources joined and without optimisation, and these once together with a program; what they install
# is compared with what `./dev install` puts down, which alone is used, from where it has been
# moved to.
set -uo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
readonly root
readonly quick=${1:-}
cmake_options=() meson_options=()
if [[ -n $quick ]]; then
    cmake_options=(-DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=0 -DCMAKE_C_FLAGS_RELEASE=-DNDEBUG)
    meson_options=(-Dunity_size=1000 -Doptimization=0)
fi
readonly cmake_options meson_options
work=$(mktemp -d)
# Bazel's files are read-only.
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# promise <name> <command...>: a line; what the command had to say only if it failed, or why it was
# skipped (77)
promise()
{
    local name=$1 from=$SECONDS status=0 verdict=PASSED
    shift
    "$@" >"$work/log" 2>&1 || status=$?
    [[ $status == 0 ]] || verdict=FAILED
    [[ $status != 77 ]] || verdict=SKIPPED
    printf '%-50s %s in %ds\n' "//tests:install/$name" "$verdict" $((SECONDS - from))
    [[ $verdict != SKIPPED ]] || tail -1 "$work/log"
    [[ $verdict != FAILED ]] || cat "$work/log"
}

# fresh <folder>: a copy of the consumers
fresh()
{
    rm -rf "${work:?}/$1"
    cp -r "$root/examples/consumers" "$work/$1"
}

with_make()
{
    fresh make && PKG_CONFIG_PATH=$1/lib/pkgconfig make -C "$work/make/make" check
}

with_cmake()
{
    fresh cmake && cd "$work/cmake" &&
        cmake -S cmake -B build -G Ninja -DCMAKE_PREFIX_PATH="$1" && cmake --build build &&
        (cd build && ctest --output-on-failure)
}

with_meson()
{
    fresh meson && cd "$work/meson" &&
        PKG_CONFIG_PATH=$1/lib/pkgconfig meson setup build meson &&
        meson test -C build --print-errorlogs
}

# cmake_sources <folder or archive> <on or off: shared>: haft compiled together with the program;
# the static libraries are such as show haft's functions
cmake_sources()
{
    fresh cmake_sources && cd "$work/cmake_sources" &&
        cmake -S cmake_sources -B out -G Ninja -DHAFT_SOURCES="$1" -DBUILD_SHARED_LIBS="$2" \
            -DHAFT_STATIC_EXPORTS=ON -DCMAKE_C_VISIBILITY_PRESET=hidden "${cmake_options[@]}" || return
    if [[ $2 == off ]]; then
        cmake --build out --target program && without_kit out program && exports out || return
    fi
    cmake --build out && (cd out && ctest --output-on-failure)
}

# without_kit <folder of a build> <program in it>: nothing of the kit was compiled for it
without_kit()
{
    ! find "$1" -name '*.o' | grep haft_kit_ && [[ $(parts_in "$1/$2") == "concurrent local" ]]
}

# parts_in <program>: those of haft that it has, by a function of each
parts_in()
{
    nm --defined-only "$1" | sed -nE 's/.* (haft_local_open_sized|haft_table_open_sized)$/\1/p;
        s/.* (haft_packed_open_sized|haft_commands_open_sized)$/kit_\1/p' | sed -E 's/haft_//; s/_open_sized//
        s/kit_packed/kit_local/; s/kit_commands/kit_shared/; s/table/concurrent/' | sort | xargs
}

# parts_of_archive <prefix>: programs with the static library have the parts that they call, alone
parts_of_archive()
{
    local library=$1/lib/libhaft.a folder=$root/examples name
    gcc -std=c11 -I"$1/include" "$folder/guide/local.c" "$library" -pthread -o "$work/has_local" &&
        gcc -std=c11 -I"$1/include" "$folder/consumers/program_kit.c" "$library" -pthread -o "$work/has_kit" &&
        gcc -std=c11 -I"$1/include" -I"$1/include/haft" "$folder/first.c" "$library" -pthread -o "$work/has_core" || return
    for name in local kit core; do
        "$work/has_$name" >/dev/null || return
        echo "$name: $(parts_in "$work/has_$name")"
    done >"$work/parts"
    diff "$work/parts" - <<<$'local: local\nkit: kit_local local\ncore: concurrent local'
}

# cmake_archive <on or off: shared>
cmake_archive()
{
    tar -C "$root" --exclude=./.git --exclude='./bazel-*' --exclude=./.cache \
        --transform 's|^\.|haft|' -czf "$work/haft.tar.gz" . &&
        cmake_sources "$work/haft.tar.gz" "$1"
}

# meson_sources <shared or static>
meson_sources()
{
    fresh meson_sources && cd "$work/meson_sources" && mkdir meson_sources/subprojects &&
        ln -s "$root" meson_sources/subprojects/haft || return
    meson setup out meson_sources --force-fallback-for=haft -Dhaft:default_library="$1" \
        -Dhaft:static_exports=true -Dunity=on "${meson_options[@]}" || return
    if [[ $1 == static ]]; then
        meson compile -C out program && without_kit out program && exports out || return
    fi
    meson test -C out --print-errorlogs
}

# Its own tests, and an installation; compilers have nothing to say.
cmake_alone()
{
    cmake -S "$root" -B "$work/cmake_alone" -G Ninja -DHAFT_TOOLS=ON -DCMAKE_INSTALL_PREFIX="$1" \
        -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_COMPILE_WARNING_AS_ERROR=ON "${cmake_options[@]}" \
        ${quick:+-DBUILD_SHARED_LIBS=ON} &&
        cmake --build "$work/cmake_alone" &&
        (cd "$work/cmake_alone" && ctest --output-on-failure) && cmake --install "$work/cmake_alone"
}

meson_alone()
{
    meson setup "$work/meson_alone" "$root" --prefix "$1" --libdir lib --werror ${quick:+-Dunity=on} \
        "${meson_options[@]}" &&
        meson test -C "$work/meson_alone" --print-errorlogs && meson install -C "$work/meson_alone"
}

# same_files <prefix> <other> <pattern...>: the second has the files of the first that do not match
same_files()
{
    diff <(cd "$1" && find . ! -type d | grep -vE "$3" | sort) <(cd "$2" && find . ! -type d | sort)
}

with_bazel()
{
    fresh bazel && cd "$work/bazel" && sed -i "s|\.\./haft|$root|" WORKSPACE || return
    local bazel=(bazel --output_user_root="$work/bazel_output" --max_idle_secs=5) status
    "${bazel[@]}" test --test_output=errors ${quick:+--define=haft=joined} //...
    status=$?
    "${bazel[@]}" shutdown
    return $status
}

# A program under ThreadSanitizer that tells it of sections itself links with a library that is not,
# and its token is the one of all shared libraries, whatever else the compiler is told to hide.
thread_sanitizer()
{
    printf '%s\n' '#include <haft/haft.h>' 'int main(void) { haft_note_reader_left(); return haft_version() == 0; }' |
        gcc -xc -std=c11 -fsanitize=thread -fvisibility=hidden -I"$1/include" - \
            -o "$work/under_tsan" -L"$1/lib" -lhaft &&
        grep -q 'WEAK  *DEFAULT .* haft_grace_token$' < <(readelf -Ws "$work/under_tsan")
}

# load_40 <what it is compiled of...>: copies of a plug-in, more than the space for early data of
# threads has room for; each has its own haft, which no other sees
load_40()
{
    local folder=$work/plug_ins file exported
    rm -rf "$folder" && mkdir "$folder" &&
        gcc -std=c11 -O1 -fPIC -shared "$root/install/plug_ins/plug_in.c" "$@" -pthread -o "$folder/1.so" || return
    exported=$(nm -D --defined-only "$folder/1.so" | awk '{ print $3 }')
    [[ $exported == use ]] || echo "exported: $exported"
    [[ $exported == use ]] || return
    for file in {2..40}; do
        cp "$folder/1.so" "$folder/$file.so"
    done
    gcc -std=c11 "$root/install/plug_ins/load.c" -o "$folder/load" -ldl && "$folder/load" "$folder"/*.so
}

# plug_ins <prefix>: the static library inside; and the shared one can be loaded late
plug_ins()
{
    load_40 -I"$1/include" "$1/lib/libhaft.a" && ! readelf -d "$1/lib/libhaft.so" | grep STATIC_TLS
}

plug_ins_of_two_files()
{
    load_40 -fvisibility=hidden -DHAFT_TWO_FILES -I"$root/dist" "$root/dist/haft.c"
}

# exports <folder of a build>: what embeds its static library shows haft's functions
exports()
{
    grep -qE 'GLOBAL +DEFAULT +[0-9]+ haft_local_open_sized$' < <(readelf -Ws "$(find "$1" -name libhaft_local.a)") &&
        grep -qE 'GLOBAL +DEFAULT +[0-9]+ haft_resolve$' < <(readelf -Ws "$(find "$1" -name libhaft_core.a)")
}

# Every header, alone, compiles against the installed ones only.
headers()
{
    local header
    for header in "$1"/include/haft/*.h; do
        echo "#include <${header#"$1"/include/}>" |
            "${CC:-gcc}" -x c -std=c11 -Wall -Werror -I"$1/include" -fsyntax-only - || return
    done
    for header in "$1"/include/haft/*.h*; do
        echo "#include <${header#"$1"/include/}>" |
            "${CXX:-g++}" -x c++ -std=c++17 -Wall -Werror -I"$1/include" -fsyntax-only - || return
    done
}

# exported <prefix>: the names that the shared library shows, with their versions
exported()
{
    nm -D --defined-only "$1/lib/libhaft.so" | awk '$2 ~ /[B-Z]/ { print $3 }'
}

# Only what the headers declare can be seen, under a version, and no other name can clash.
symbols()
{
    local shared
    shared=$(exported "$1")
    [[ -n $shared ]] && ! grep -vE '^haft_[a-z0-9_]+@@HAFT_[0-9.]+$' <<<"$shared" &&
        ! nm -g --defined-only "$1/lib/libhaft.a" | awk '$2 ~ /[B-Z]/ { print $3 }' | grep -v '^haft_'
}

# Release builds have no asserts.
asserts()
{
    ! nm -D "$1/lib/libhaft.so" | grep __assert
}

# Templates are filled in.
filled_in()
{
    [[ -d $1/lib/pkgconfig && -d $1/lib/cmake/haft ]] &&
        ! grep -r '@[A-Z_]*@' "$1/lib/pkgconfig" "$1/lib/cmake/haft"
}

# same_symbols <prefix> <other>
same_symbols()
{
    diff <(exported "$1") <(exported "$2")
}

soname()
{
    local name
    name=$(readelf -d "$1/lib/libhaft.so" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
    [[ -n $name && -e $1/lib/$name ]]
}

# The C library alone; below is what i386 and aarch64 add to it.
needs()
{
    local needed
    needed=$(ldd "$1/lib/libhaft.so" | awk '{ print $1 }' |
        grep -vE '^(linux-vdso|linux-gate|libc|/lib.*/ld-linux.*)\.so')
    [[ -z $needed ]] || { echo "libhaft.so needs $needed" >&2 && return 1; }
}

man_pages()
{
    local said
    [[ -e $1/share/man/man7/haft.7 && -e $1/share/man/man3/haft_free.3 &&
        -e $1/share/man/man1/haft-top.1 ]] || return
    said=$(find "$1/share/man" -type f -exec groff -ww -z -Tutf8 -man {} + 2>&1)
    echo "$said"
    [[ -z $said ]]
}

# Each link in a document leads to something that is installed, too.
documents()
{
    [[ -e $1/share/doc/haft/docs/guide.md && -e $1/share/doc/haft/docs/pictures/slot.svg ]] &&
        "$root/tools/prose" links --tree "$1/share/doc/haft"
}

# with_python <prefix>: the binding calls what dist/api.json describes, by the symbols alone
with_python()
{
    "$root/dev" api --output "$work/api.json" &&
        python3 -B "$root/examples/python/haft_test.py" "$work/api.json" "$1/lib/libhaft.so"
}

# with_rust <prefix>: leaves the example's program in $work/rust/debug
with_rust()
{
    "$root/examples/rust/test.sh" "$work/api.json" "$1/lib" "$work/rust"
}

# answers <prefix>: a recorded trace has the same in C, C++, Python and, where it was compiled, Rust
answers()
{
    local folder=$root/examples/answers programs=("$work/answers_c" "$work/answers_cc")
    gcc -std=c11 -I"$1/include" "$folder/answers.c" -o "$work/answers_c" -L"$1/lib" -lhaft "-Wl,-rpath,$1/lib" &&
        g++ -std=c++17 -I"$1/include" "$folder/answers.cc" -o "$work/answers_cc" -L"$1/lib" -lhaft \
            "-Wl,-rpath,$1/lib" || return
    programs+=("python3 -B $root/examples/python/answers.py $work/api.json $1/lib/libhaft.so")
    [[ ! -x $work/rust/debug/answers ]] || programs+=("$work/rust/debug/answers")
    "$folder/answers_test.sh" "$root/examples/data/npm_install_fds.csv.gz" "${programs[@]}"
}

# gdb <prefix>: it loads the script that lies beside the library, and the debug information
with_gdb()
{
    local out wanted
    gcc -g -I"$1/include" "$root/tools/gdb/subject.c" -L"$1/lib" -lhaft "-Wl,-rpath,$1/lib" \
        -o "$work/subject" || return
    out=$(HOME=/nonexistent gdb -nx -batch -iex "set debuginfod enabled off" \
        -iex "set auto-load safe-path $1/lib" -ex "break look_here" -ex run -ex "print alive" \
        -ex "print ship" -ex "haft tables" -ex "haft id table freed" -ex kill "$work/subject" 2>&1)
    echo "$out"
    for wanted in '$1 = 4v1 (0x100004), live in table "monsters"' 'escort = 4v1 (0x100004), live' \
        ' table "monsters", 1 live of 1000' '5v1: stale: freed or given up'; do
        grep -qF -- "$wanted" <<<"$out" || return
    done
}

# haft_top <prefix>: the installed haft-top shows the table that a program with the installed
# library exports, and its man page has every option and every column
haft_top()
{
    local exports=$work/exports file shown page word
    mkdir -p "$exports"
    gcc -I"$1/include" "$root/top/exporter.c" -L"$1/lib" -lhaft "-Wl,-rpath,$1/lib" \
        -o "$work/exporter" || return
    coproc { "$work/exporter" "$exports"; }
    read -r file <&"${COPROC[0]}"
    shown=$("$1/bin/haft-top" --once "$exports")
    eval "exec ${COPROC[1]}>&-"
    wait "$COPROC_PID"
    echo "$shown"
    [[ -n $file ]] && grep -q '^  ships .* 1,000 ' <<<"$shown" || return
    ! readelf -d "$1/bin/haft-top" | grep -E 'R(UN)?PATH' || return
    page=$(man -l "$1/share/man/man1/haft-top.1")
    for word in $("$1/bin/haft-top" --help | grep -oE '^  (--)?[a-z]+' | grep -v haft); do
        grep -qE "^ {7}$word( |,|/|\$)" <<<"$page" || return
    done
}

# A prefix that never was: its files are below destdir, and say nothing of either.  One installation
# takes the place of another.
destdir()
{
    local libdir
    libdir=lib/$(gcc -print-multiarch)
    "$root/dev" install --prefix /opt/haft --destdir "$work/destdir" || return
    (umask 077 && "$root/dev" install --prefix /opt/haft --libdir "$libdir" --destdir "$work/destdir") || return
    [[ -z $(find "$work/destdir" ! -type l ! -perm -444) ]] || return
    with_cmake "$work/destdir/opt/haft" &&
        ! grep -rl "$work" "$work/destdir/opt/haft/$libdir/pkgconfig" &&
        PKG_CONFIG_PATH=$work/destdir/opt/haft/$libdir/pkgconfig pkg-config --validate haft haft-kit haft-local &&
        "$root/dev" uninstall --prefix /opt/haft --destdir "$work/destdir" &&
        [[ -z $(find "$work/destdir" ! -type d) ]]
}

# One that fails on its way can be removed.
cut_short()
{
    mkdir -p "$work/short/share/doc/haft/README.md"
    ! "$root/dev" install --prefix "$work/short" && [[ -f $work/short/lib/libhaft.a ]] || return
    rmdir "$work/short/share/doc/haft/README.md"
    "$root/dev" uninstall --prefix "$work/short" && [[ ! -e $work/short/lib ]]
}

# What was there before stays, and nothing else does.
uninstall()
{
    mkdir -p "$1/include" && touch "$1/include/other.h" || return
    "$root/dev" uninstall --prefix "$1" && [[ $(cd "$1" && find . ! -type d) == ./include/other.h ]]
}

refusals()
{
    local arguments
    for arguments in "" "--prefix relative" "--prefix" "--prefix $work/no --libdir ../out" \
        "--prefix $work/no --libdir /" "--prefix $work/no --libdir lib/./x" "--prefix /no --destdir no" \
        "--prefix $work/no --strange"; do
        # shellcheck disable=SC2086
        "$root/tools/install" install $arguments && return 1
    done
    ! "$root/tools/install" uninstall --prefix "$work/never" && [[ ! -e $work/no ]]
}

# all_of <suffix> <prefix>
all_of()
{
    promise "make$1" with_make "$2"
    promise "cmake$1" with_cmake "$2"
    promise "meson$1" with_meson "$2"
}

# --- promises: groups of them run beside each other, in a folder each ---

in_place()
{
    promise headers headers "$prefix"
    promise symbols symbols "$prefix"
    promise thread_sanitizer thread_sanitizer "$prefix"
    promise parts_of_archive parts_of_archive "$prefix"
    promise plug_ins plug_ins "$prefix"
    promise plug_ins_of_two_files plug_ins_of_two_files
    promise soname soname "$prefix"
    promise asserts asserts "$prefix"
    promise filled_in filled_in "$prefix"
    promise "libc alone is needed" needs "$prefix"
    promise man_pages man_pages "$prefix"
    promise haft_top haft_top "$prefix"
    promise documents documents "$prefix"
    promise python with_python "$prefix"
    promise rust with_rust "$prefix"
    promise answers answers "$prefix"
    promise gdb with_gdb "$prefix"
    all_of "" "$prefix"
}

# same_texts <prefix> <other>: what tells build systems where haft is
same_texts()
{
    diff -r "$1/lib/pkgconfig" "$2/lib/pkgconfig" && diff -r "$1/lib/cmake" "$2/lib/cmake"
}

# installed_by <cmake or meson> <installation>: as that of ./dev
installed_by()
{
    promise "$1_symbols" symbols "$2"
    promise "$1_same_symbols" same_symbols "$prefix" "$2"
    promise "$1_same_texts" same_texts "$prefix" "$2"
    promise "$1_parts_of_archive" parts_of_archive "$2"
    promise "$1_plug_ins" plug_ins "$2"
    promise "$1_asserts" asserts "$2"
    promise "$1_filled_in" filled_in "$2"
    [[ -n $quick ]] || all_of "_by_$1" "$2"
}

by_cmake()
{
    promise cmake_alone cmake_alone "$work/installed"
    promise cmake_same_files same_files "$prefix" "$work/installed" '^./(lib/.debug|share/(doc|haft))/'
    installed_by cmake "$work/installed"
    if [[ -n $quick ]]; then
        promise cmake_archive cmake_archive off
    else
        promise cmake_folder cmake_sources "$root" off
        promise cmake_archive cmake_archive on
    fi
}

by_meson()
{
    promise meson_alone meson_alone "$work/installed"
    promise meson_same_files same_files "$prefix" "$work/installed" '^./(bin|lib/.debug|share)/|gdb.py$'
    installed_by meson "$work/installed"
    promise meson_static meson_sources static
    [[ -n $quick ]] || promise meson_shared meson_sources shared
}

by_bazel()
{
    promise destdir destdir
    promise cut_short cut_short
    promise refusals refusals
    promise bazel with_bazel
}

moved()
{
    mv "$prefix" "$work/moved"
    all_of _moved "$work/moved"
    promise documents_moved documents "$work/moved"
    promise gdb_moved with_gdb "$work/moved"
    promise haft_top_moved haft_top "$work/moved"
    promise uninstall uninstall "$work/moved"
}

# elsewhere <prefix>: to be used where it has been moved to
elsewhere()
{
    "$root/dev" install --prefix "$work/first" && mv "$work/first" "$1"
}

# beside <group...>
beside()
{
    local group
    for group in "$@"; do
        mkdir "$work/$group"
        (work=$work/$group && "$group") >"$work/$group.said" 2>&1 &
    done
    wait
    for group in "$@"; do
        cat "$work/$group.said"
    done
}

prefix=$work/installed
{
    if [[ -n $quick ]]; then
        promise install elsewhere "$prefix"
        beside in_place by_cmake by_meson by_bazel
        promise uninstall uninstall "$prefix"
    else
        promise install "$root/dev" install --prefix "$prefix"
        beside in_place by_cmake by_meson by_bazel
        beside moved
    fi
} | tee "$work/all"
failed=$(grep -cE '^//tests:install/.* FAILED in ' "$work/all")
echo "$(grep -c '^//tests:install/' "$work/all") promises of an installation, $failed broken"
[[ $failed == 0 ]]
