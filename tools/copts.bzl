"""Compiler options of every target in the project."""

_WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wconversion",
]

# Bazel's toolchain keeps frame pointers, which compilers leave out of optimised code by themselves.
_OPTIMISED = select({
    "//tools:optimised": ["-fomit-frame-pointer"],
    "//conditions:default": [],
})

HAFT_COPTS = ["-std=c11"] + _WARNINGS + ["-Wmissing-prototypes"] + _OPTIMISED

# Threads may have small stacks: 16 KiB is the least on Linux, and 2 KiB of it a frame's most.
HAFT_LIBRARY_COPTS = HAFT_COPTS + ["-Wframe-larger-than=2048"]

# Criterion's eq() assigns an int to a bit field where it is used; callbacks of tests have
# parameters that they do not need.
# gcc spends half its time with such a test on where each token of nested macros comes from; clang
# does not know the option.
HAFT_CRITERION_COPTS = HAFT_COPTS + ["-Wno-conversion", "-Wno-unused-parameter"] + select({
    "//tools:gcc": ["-ftrack-macro-expansion=1"],
    "//conditions:default": [],
})

HAFT_CXXOPTS = ["-std=c++17"] + _WARNINGS + ["-Wmissing-declarations"] + _OPTIMISED
