"""Programs that bring ThreadSanitizer along, over libraries that are broken on purpose."""

load("//tools:copts.bzl", "HAFT_COPTS")

# Of programs that carry the library's atomic operations out, and of their library.
HOOKED_COPTS = HAFT_COPTS + [
    "-O1",
    "-g",
]

# ThreadSanitizer whatever the build is, but for builds with another sanitizer.
TSAN = select({
    "//stress:address_sanitizer": [],
    "//conditions:default": ["-fsanitize=thread"],
})

# Functions say where they begin and end (stress/explorer/calls.c), except those that carry the
# operations out.
COUNTED = [
    "-finstrument-functions",
    "-finstrument-functions-exclude-file-list=stress/explorer/hooked.c,stress/ordered.h",
]

# Tags of tests that `./dev tsan` need not build again: they bring it along, or have no use for it.
OWN_SANITIZER = [
    "notsan",
    "stress",
]
