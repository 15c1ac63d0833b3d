"""Compiler options of every target in the project."""

_WARNINGS = [
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wconversion",
]

HAFT_COPTS = ["-std=c11"] + _WARNINGS + ["-Wmissing-prototypes"]

# Criterion's eq() assigns an int to a bit field where it is used.
HAFT_CRITERION_COPTS = HAFT_COPTS + ["-Wno-conversion"]

HAFT_CXXOPTS = ["-std=c++17"] + _WARNINGS + ["-Wmissing-declarations"]
