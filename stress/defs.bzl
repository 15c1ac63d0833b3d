"""The stress programs as tests, and the broken builds that must not pass them."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library", "cc_test")
load("//stress:own_sanitizer.bzl", "OWN_SANITIZER", "TSAN")
load("//tools:copts.bzl", "HAFT_COPTS")

LINKOPTS = [
    "-lurcu-memb",
    "-lurcu-qsbr",
    "-lpthread",
]

DEFINES = ["_DEFAULT_SOURCE"]  # nanosleep, barriers

def stress_test(program, name = None, words = []):
    """A program with its default rounds and threads.

    Args:
      program: the source's name without .c
      name: of the test; made of the program and the words by default
      words: flavour, clock and mode
    """
    cc_test(
        name = name or "_".join([program] + words),
        size = "medium",
        srcs = [program + ".c"],
        args = words,
        copts = HAFT_COPTS,
        linkopts = LINKOPTS,
        local_defines = DEFINES,
        tags = ["stress"] + (["many-threads"] if "short_lived" in words else []),
        deps = [":support"],
    )

def must_fail_test(name, program, arguments):
    """A program that is broken on purpose by one of its modes must be found out.

    Args:
      name: of the test
      program: a cc_binary
      arguments: of the program
    """
    native.sh_test(
        name = name,
        size = "medium",
        srcs = ["must_fail.sh"],
        args = ["any", "$(location %s)" % program] + arguments,
        data = [program],
        tags = ["stress"],
    )

def weakened_test(name, edge, program, arguments):
    """A program over a library with one edge weakened: ThreadSanitizer must report it.

    Args:
      name: of the test
      edge: its name in haft/atomics.h, without HAFT_EDGE_
      program: the source's name without .c
      arguments: of the program
    """
    cc_library(
        name = name + "_haft",
        testonly = True,
        srcs = [
            "//concurrent:sources",
            "//lib:sources",
        ],
        copts = HAFT_COPTS + ["-O1", "-g"] + TSAN,
        defines = ["HAFT_WEAKEN=HAFT_EDGE_" + edge],  # of programs too: they inline the resolve
        linkopts = ["-lpthread"],
        linkstatic = True,
        local_defines = DEFINES,
        deps = ["//include:headers"],
    )
    cc_binary(
        name = name + "_program",
        testonly = True,
        srcs = [
            program + ".c",
            "support.c",
            "support.h",
        ],
        copts = HAFT_COPTS + ["-O1", "-g"] + TSAN,
        linkopts = LINKOPTS + TSAN,
        local_defines = DEFINES,
        deps = [name + "_haft"],
    )
    native.sh_test(
        name = name,
        size = "medium",
        srcs = ["must_fail.sh"],
        args = select({
            ":address_sanitizer": ["skip"],
            "//conditions:default": ["report"],
        }) + ["$(location :%s_program)" % name] + arguments,
        data = [":%s_program" % name],
        tags = OWN_SANITIZER,
    )
