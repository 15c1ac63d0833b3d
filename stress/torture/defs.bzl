"""Torture over a library that is broken on purpose."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library")
load("//stress:own_sanitizer.bzl", "OWN_SANITIZER", "TSAN")
load("//tools:copts.bzl", "HAFT_COPTS")

LINKOPTS = [
    "-lurcu-memb",
    "-lurcu-qsbr",
    "-lurcu-mb",
    "-lurcu-bp",
    "-lpthread",
]

DEFINES = ["_GNU_SOURCE"]  # argp, locks that prefer writers

def broken_test(name, accepted, arguments, library_defines = [], forced_include = None):
    """A library that is broken in one place, under ThreadSanitizer: torture must reject it.

    Args:
      name: of the test
      accepted: report, if only the sanitizer's report of a race counts; any, if a violation does too
      arguments: of the program
      library_defines: for the library, and the program, which inlines parts of it
      forced_include: a header of this folder that every source of the library includes first
    """
    forced = [] if forced_include == None else ["-include", "stress/torture/" + forced_include]
    cc_library(
        name = name + "_haft",
        testonly = True,
        srcs = [
            "//concurrent:sources",
            "//lib:sources",
        ] + ([] if forced_include == None else [forced_include]),
        copts = HAFT_COPTS + ["-O1", "-g"] + forced + TSAN,
        defines = library_defines,
        linkopts = ["-lpthread"],
        linkstatic = True,
        local_defines = DEFINES,
        deps = ["//include:headers"],
    )
    cc_binary(
        name = name + "_program",
        testonly = True,
        srcs = [
            ":sources",
            "//stress:support_sources",
        ],
        copts = HAFT_COPTS + ["-O1", "-g"] + TSAN,
        linkopts = LINKOPTS + TSAN,
        local_defines = DEFINES,
        deps = [
            name + "_haft",
            "//examples:screen",
        ],
    )
    native.sh_test(
        name = name,
        size = "medium",
        srcs = ["must_fail.sh"],
        args = select({
            "//stress:address_sanitizer": ["skip"],
            "//conditions:default": [accepted],
        }) + ["$(location :%s_program)" % name] + arguments,
        data = [":%s_program" % name],
        tags = OWN_SANITIZER,
    )
