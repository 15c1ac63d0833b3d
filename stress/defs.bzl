"""The stress programs as tests, and the broken ones that must not pass them."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")
load("//stress:own_sanitizer.bzl", "HOOKED_COPTS", "OWN_SANITIZER", "TSAN")
load("//tools:copts.bzl", "HAFT_COPTS")

LINKOPTS = [
    "-lurcu-memb",
    "-lurcu-qsbr",
    "-lurcu-mb",
    "-lurcu-bp",
    "-lpthread",
]

DEFINES = ["_DEFAULT_SOURCE"]  # nanosleep, barriers

# Programs have two threads or more.  twice: `./dev tsan` runs them too, and sees what `./dev test`
# sees, and races besides; so .ci/run leaves them out of `./dev test`.
TAGS = [
    "cpu:2",
    "stress",
    "twice",
]

def hooked_library(name, copts = []):
    """The library, whose atomic operations the program carries out.

    Args:
      name: of the library
      copts: further options
    """
    cc_library(
        name = name,
        testonly = True,
        srcs = ["//kit:whole"],
        copts = HOOKED_COPTS + copts,
        defines = ["HAFT_HOOKED"],  # of programs too: they inline the resolve
        linkopts = ["-lpthread"],
        linkstatic = True,
        local_defines = ["_GNU_SOURCE"],  # mmap's flags, strdup
        visibility = ["//stress:__subpackages__"],
        deps = ["//kit:whole_parts"],
    )

def stress_program(name, srcs = [], deps = []):
    """A program, for tests that differ in their words.

    Args:
      name: the source's name without .c
      srcs: further ones
      deps: beside the support
    """
    cc_library(
        name = name + "_parts",
        testonly = True,
        srcs = srcs + [name + ".c"],
        copts = HAFT_COPTS,
        linkstatic = True,
        local_defines = DEFINES,
        deps = [":support"] + deps,
        alwayslink = True,
    )

def stress_test(program, words = ""):
    """A program with its default rounds and threads.

    Args:
      program: a stress_program
      words: flavour, clock and mode
    """
    cc_test(
        name = (program + " " + words).strip().replace(" ", "_"),
        size = "medium",
        args = words.split(" ") if words else [],
        linkopts = LINKOPTS,
        tags = TAGS + (["many-threads"] if "short_lived" in words else []),
        deps = [":%s_parts" % program],
    )

def must_fail_test(name, program, arguments, broken = "nothing"):
    """A program that is broken on purpose, by one of its modes or in its operations, must be found out.

    Args:
      name: of the test
      program: a cc_binary
      arguments: of the program, the seed as SEED
      broken: what stress/hooked.c breaks, if the program links it
    """
    native.sh_test(
        name = name,
        size = "medium",
        srcs = ["//stress:must_fail.sh"],
        args = [
            "any",
            broken,
            "$(location %s)" % program,
        ] + arguments,
        data = [program],
        tags = TAGS,
    )

def broken_test(name, broken, program, arguments, accepted = "report"):
    """A program whose operations stress/hooked.c breaks, under ThreadSanitizer, must be found out.

    Args:
      name: of the test
      broken: what stress/hooked.c breaks
      program: a cc_binary that links it
      arguments: of the program, the seed as SEED
      accepted: report, if only ThreadSanitizer's report of a race counts; any, if a violation does too
    """
    native.sh_test(
        name = name,
        size = "medium",
        srcs = ["//stress:must_fail.sh"],
        args = select({
            "//stress:address_sanitizer": ["skip"],
            "//conditions:default": [accepted],
        }) + [
            broken,
            "$(location %s)" % program,
        ] + arguments,
        data = [program],
        tags = OWN_SANITIZER + ["cpu:2"],
    )

def hooked_program(name):
    """A program under ThreadSanitizer, over the library that stress/hooked.c can break.

    Args:
      name: the source's name without .c, and _hooked
    """
    cc_binary(
        name = name,
        testonly = True,
        srcs = [name.replace("_hooked", ".c")],
        copts = HOOKED_COPTS + TSAN,
        linkopts = LINKOPTS + TSAN,
        local_defines = DEFINES,
        deps = [":support_hooked"],
    )
