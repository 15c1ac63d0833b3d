"""The explorer over the library as it is, and broken, which it must find out."""

load("@rules_cc//cc:defs.bzl", "cc_binary")
load("//stress:own_sanitizer.bzl", "HOOKED_COPTS", "OWN_SANITIZER")

# Calls of the library that block, read the time or change memory: stress/explorer/locks.c and
# cases/commit.c, cases/trim.c; and asserts that do not hold: report.c.
WRAPPED = ["-Wl,--wrap=" + function for function in [
    "__assert_fail",
    "os_alloc_aligned",
    "os_commit",
    "os_condition_wait",
    "os_condition_wake_all",
    "os_discard",
    "os_mutex_lock",
    "os_mutex_open",
    "os_mutex_try_lock",
    "os_mutex_unlock",
    "os_now_ns",
    "os_on_fork",
    "os_semaphore_open",
    "os_semaphore_post",
    "os_semaphore_wait",
    "os_sleep",
    "os_thread_join",
    "os_thread_start",
    "os_wait_address",
    "os_wake_address",
    "os_yield",
]]

def explorer_binary(name, library, copts = [], sanitizer = [], visibility = None):
    """The cases over a library whose atomics the explorer carries out.

    Args:
      name: of the binary
      library: a hooked_library
      copts: further options for the cases, as the library has them
      sanitizer: options for the cases, as the library has them
      visibility: of the binary
    """
    cc_binary(
        name = name,
        testonly = True,
        visibility = visibility,
        srcs = [":instrumented"],
        copts = HOOKED_COPTS + copts + sanitizer,
        linkopts = WRAPPED + ["-lpthread"] + sanitizer,
        local_defines = ["_GNU_SOURCE"],  # mmap's flags
        deps = [
            ":scheduler",
            library,
            "//include:headers",
            "//stress:edges",
            "//stress:linear",
        ],
    )

def explorer_test(name, sc, c11):
    """A case under all schedules of so many preemptions, and random ones under ThreadSanitizer.

    Args:
      name: the case's
      sc: preemptions, at most in a schedule; 0: random schedules only
      c11: the same for the other memory
    """
    native.sh_test(
        name = name,
        size = "medium",
        srcs = ["explore.sh"],
        args = [
            "$(location :explorer)",
            "$(location :explorer_tsan)",
            name,
            str(sc),
            str(c11),
        ],
        data = [
            ":explorer",
            ":explorer_tsan",
        ],
        tags = OWN_SANITIZER,
    )

def broken_test(name, what, case, arguments = [], by = "violation"):
    """What --break breaks must be found by a case.

    Args:
      name: of the test
      what: a word for --break
      case: the one that finds it
      arguments: further ones of the explorer
      by: "violation", a value that should not be seen, or "report", ThreadSanitizer's
    """
    explorer = ":explorer_tsan" if by == "report" else ":explorer"
    native.sh_test(
        name = name,
        size = "medium",
        srcs = ["found.sh"],
        args = (select({
            "//stress:address_sanitizer": ["skip"],
            "//conditions:default": ["report"],
        }) if by == "report" else ["violation"]) + [
            what,
            "$(location %s)" % explorer,
            "--case",
            case,
        ] + arguments,
        data = [explorer],
        tags = OWN_SANITIZER,
    )
