"""Plans that broke a rule, as tests."""

load("@rules_cc//cc:defs.bzl", "cc_binary")
load("//tools:copts.bzl", "HAFT_COPTS")

def plan_test(name, player, breaks = None):
    """A plan of found/, played again.

    Args:
      name: of the test, and of the plan's file
      player: the library that plays it
      breaks: the rule that it must break while the fault is not mended; None: all rules must hold
    """
    cc_binary(
        name = name + "_plan",
        testonly = True,
        srcs = [
            "found/%s.c" % name,
            "plan.h",
        ],
        copts = HAFT_COPTS,
        deps = [
            ":played",
            player,
        ],
    )
    native.sh_test(
        name = name,
        size = "small",
        srcs = ["found.sh"],
        args = [
            "$(location :%s_plan)" % name,
            "'%s'" % (breaks or ""),
        ],
        data = [":%s_plan" % name],
        tags = ["notsan"],  # the scheduler plays those whose threads run at once
    )
