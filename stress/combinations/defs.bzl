"""Plans that broke a rule, as tests."""

load("@rules_cc//cc:defs.bzl", "cc_test")
load("//tools:copts.bzl", "HAFT_COPTS")

def plan_test(name, player):
    """A plan of found/, played again: all rules must hold.

    Args:
      name: of the test, and of the plan's file
      player: the library that plays it
    """
    cc_test(
        name = name,
        size = "small",
        srcs = [
            "found/%s.c" % name,
            "plan.h",
        ],
        copts = HAFT_COPTS,
        tags = ["notsan"],  # one thread, or the scheduler's
        deps = [
            ":played",
            player,
        ],
    )
