"""The explorer over the library as it is, and over broken ones that it must find out."""

load("@rules_cc//cc:defs.bzl", "cc_binary")
load("//stress:own_sanitizer.bzl", "OWN_SANITIZER", "TSAN")
load("//tools:copts.bzl", "HAFT_COPTS")

# Calls of the library that block, read the time or change memory: stress/explorer/locks.c and
# cases/commit.c, cases/trim.c.
WRAPPED = ["-Wl,--wrap=" + function for function in [
    "aligned_alloc",
    "clock_gettime",
    "madvise",
    "mprotect",
    "pthread_cond_broadcast",
    "pthread_cond_timedwait",
    "pthread_create",
    "pthread_join",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "sched_yield",
    "sem_post",
    "sem_wait",
]]

def explorer_binary(name, sources = None, weakened = None, sanitizer = [], visibility = None):
    """The cases over a library whose atomics the explorer carries out.

    Args:
      name: of the binary
      sources: of the library; as they are by default
      weakened: an edge that is relaxed
      sanitizer: options for it; those of the build by default
      visibility: of the binary
    """
    cc_binary(
        name = name,
        testonly = True,
        visibility = visibility,
        srcs = [":instrumented"] + (sources or [
            "//concurrent:sources",
            "//lib:sources",
        ]),
        copts = HAFT_COPTS + ["-O1", "-g"] + sanitizer,
        linkopts = WRAPPED + ["-lpthread"] + sanitizer,
        local_defines = [
            "_GNU_SOURCE",  # mmap's flags, strdup
            "HAFT_HOOKED",
        ] + (["HAFT_WEAKEN=HAFT_EDGE_" + weakened] if weakened else []),
        deps = [
            ":scheduler",
            "//include:headers",
            "//stress:linear",
        ],
    )

def explorer_test(name, preemptions):
    """A case under random schedules and under all that have so many preemptions.

    Args:
      name: the case's
      preemptions: at most in a schedule
    """
    native.sh_test(
        name = name,
        size = "medium",
        srcs = ["explore.sh"],
        args = [
            "$(location :explorer)",
            name,
            str(preemptions),
        ],
        data = [":explorer"],
        tags = ["stress"],
    )

def broken_test(name, what, case, arguments = []):
    """What --break breaks must be found by a case.

    Args:
      name: of the test
      what: is broken
      case: that finds it
      arguments: of the explorer, beside
    """
    native.sh_test(
        name = name,
        size = "medium",
        srcs = ["found.sh"],
        args = [
            "violation",
            "$(location :explorer)",
            "--break",
            what,
            "--case",
            case,
        ] + arguments,
        data = [":explorer"],
        tags = OWN_SANITIZER,
    )

def weakened_test(name, edge, case, arguments, by):
    """An edge that is weakened must be found by a case.

    Args:
      name: of the test
      edge: its name in haft/atomics.h, without HAFT_EDGE_
      case: that finds it
      arguments: of the explorer, beside
      by: "violation", a value that should not be seen, or "report", ThreadSanitizer's
    """
    explorer_binary(
        name = name + "_explorer",
        sanitizer = TSAN if by == "report" else [],
        weakened = edge,
    )
    native.sh_test(
        name = name,
        size = "medium",
        srcs = ["found.sh"],
        args = (select({
            "//stress:address_sanitizer": ["skip"],
            "//conditions:default": ["report"],
        }) if by == "report" else ["violation"]) + [
            "$(location :%s_explorer)" % name,
            "--case",
            case,
        ] + arguments,
        data = [":%s_explorer" % name],
        tags = OWN_SANITIZER,
    )
