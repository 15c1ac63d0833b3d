#!/bin/bash
# Compiles the binding by Debian's Rust, runs its tests, and sees that what must not compile does
# not.
#
#   examples/rust/test.sh API.json LIBDIR OUT
#
# LIBDIR has libhaft.so; OUT is a folder for what is compiled, where debug/answers is found
# afterwards.
set -euo pipefail
export HAFT_API=$1 HAFT_LIBDIR=$2 CARGO_TARGET_DIR=$3
export RUSTC=${RUSTC:-/usr/bin/rustc} # another one may come first on the PATH
cd "$(dirname "${BASH_SOURCE[0]}")"

if ! command -v /usr/bin/cargo >/dev/null || ! command -v "$RUSTC" >/dev/null; then
    echo "examples/rust: skipped: Debian's packages cargo and rustc are not installed"
    exit 77
fi
rm -f Cargo.lock # another cargo's may be of a form that this one does not know
trap 'rm -f Cargo.lock' EXIT
/usr/bin/cargo build --offline --quiet
/usr/bin/cargo test --offline --quiet

# compile <options>: escape.rs
compile()
{
    "$RUSTC" --edition 2018 --out-dir "$CARGO_TARGET_DIR" -L "native=$HAFT_LIBDIR" \
        --extern "haft=$CARGO_TARGET_DIR/debug/libhaft.rlib" "$@" escape.rs
}

# escape <what> <what the compiler says of it> [link: it says so when it has made code]
escape()
{
    local said
    if said=$(compile --emit "${3:-metadata}" ${1:+--cfg "escape=\"$1\"" --cfg escape} 2>&1); then
        [[ -z $2 ]] || { echo "escape.rs compiles, although: $1" && return 1; }
    else
        [[ -n $2 ]] && grep -q "$2" <<<"$said" || { echo "$said" && return 1; }
    fi
}

escape "" ""
escape returned "lifetime may not live long enough"
escape kept "borrowed data escapes outside of closure"
escape worker_sent "cannot be shared between threads safely"
escape table_closed "cannot move out of .table. because it is borrowed"
escape outlived ".held. does not live long enough"
escape held_at_close "cannot move out of .sessions. because it is borrowed"
# What is checked as late as code is made.
escape to_be_dropped "objects of this type must be dropped" link
echo "what must not compile does not"
