#!/usr/bin/python3
"""Runs all benchmarks, interleaved and repeated, and prints medians and ranges.

`./dev bench` builds what this needs and calls it.
"""

import argparse
import json
import os
import sys
import time

import derived
import quick
import report
from measured import (PEERS, ROOT, Blocked, Pauses, Program, Results, Series, least_core, measure,
                      progress)

FREE = 0.9  # of a core, for each thread, or figures are of the machine's other programs too
PUBLISHED = os.path.join(ROOT, "docs", "performance", "results.json")

# As ours below.
PEER_CASES = [f"{workload}/" for workload in ("churn", "replace", "handoff", "mixed", "hold", "hold_one", "unwrap")]
PEER_CASES += [f"{workload}/slotmap/{size}/" for workload in ("get", "insert_free", "iterate")
               for size in (1024, 16384, 262144)]
PEER_CASES += ["side_get/slotmap/16384/", "side_set/slotmap/16384/"]
PEER_CASES += [f"resolve_{which}/{subject}/{size}/" for which in ("each", "stale")
               for subject in ("sharded_slab", "rwlock_slotmap", "mutex_slotmap") for size in (1024, 16384)]

# What a session measures: of sizes that say the same, and of programs that no page shows, nothing.
ALL = [
    Program("local", "(get|insert_free|iterate)/.*/(1024|16384|262144)/|_in_place|_boxed|open_close"),
    Program("resolve", "/(1024|16384)/|(raw|compared|haft_[a-z]*)/262144/|/4194304/"),
    Program("side", "/16384/"),
    Program("churn", "-churn/haft_local/"),
    Program("contention", "mixed/"),
    Program("counted"),
    Program("handoff"),
    Program("replace", "-/4$|_thread/|lfht_qsbr"),
    Program("reads"),
    Program("unwrap"),
    Program("growth", "-/100000000/"),
    Program("growth", "(raw|haft_table|haft_counted)/100000000/", once=True),
    Program("memory"),
    Series("backlog"),
    Program(PEERS, PEER_CASES),
    Pauses("pauses"),
    Pauses(PEERS),
]
NAMES = list(dict.fromkeys(program.name for program in ALL if program.name != PEERS)) + ["frame"]
SHARED = "haft_(workers|qsbr_caller|memb_caller)|mutex|spin_lock|tbb|malloc|mimalloc"
SCALING = [
    Program("contention", f"/({SHARED})/"),
    Program("handoff", f"/({SHARED})/"),
    Program("replace", f"/({SHARED})/"),
    Program(PEERS, ["churn/", "handoff/", "mixed/", "replace/"]),
]
# What the options choose: programs, repetitions, seconds.
MODES = {
    "quick": (quick.PROGRAMS, 5, 0.1),
    "scaling": (SCALING, 5, 0.1),
    "blocked": ([Blocked("blocked")], 1, 60),
    "pauses": ([Pauses("pauses"), Pauses(PEERS)], 5, 0.1),
}
DRAWN = ("scaling", "blocked", "pauses")

EPILOG = f"""
ratios of --quick, of repetition by repetition, with the range that was published (churn rows use the
workers clock; haft is better below 1 in times, above 1 in pairs and items a second):
{quick.explain()}

examples:
  ./dev bench                           all programs, tables on standard output: about 12 minutes
  ./dev bench --quick                   the ratios as JSON: under two minutes
  ./dev bench --report                  all, and docs/performance.md with its plots
  ./dev bench --report --sessions 5     the same five times, an hour apart
  ./dev bench --scaling --plot all.png  what several threads share, with all cores of a machine
  ./dev bench --blocked --plot blocked.png
                                        memory while a thread blocks for a minute, on each clock:
                                        seven minutes
  ./dev bench --pauses --plot pauses.png
                                        the times of single calls, when destructors run, and memory
                                        beyond the live objects: three minutes
  ./dev bench --report --from results.json
                                        the report once more from figures kept by --save
  ./dev bench --report --from a.json --from b.json
                                        the report from two sessions
  ./dev bench --report --from b.json --against docs/performance/results.json
                                        the same from b.json and the published figures, and which
                                        rows of the two have ranges that do not overlap; of figures
                                        of another machine the ratios alone
  ./dev bench churn --benchmark_filter=haft_workers
                                        one program with Google Benchmark's own flags
"""


def arguments():
    parser = argparse.ArgumentParser(
        prog="./dev bench", usage="./dev bench [PROGRAM ...] [options] [--benchmark_...]",
        description=__doc__.splitlines()[0], epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--quick", action="store_true", help="a few ratios, as JSON")
    chosen.add_argument("--scaling", action="store_true",
                        help="churn, replace, handoff and mixed, at 1 to all cores")
    chosen.add_argument("--blocked", action="store_true",
                        help="memory that waits while a thread blocks inside a section")
    chosen.add_argument("--pauses", action="store_true",
                        help="how long single calls take, and when destructors run")
    chosen.add_argument("--report", action="store_true",
                        help="write docs/performance.md and README's ratios as well")
    parser.add_argument("--repetitions", type=int, metavar="N",
                        help="5 by default (--blocked: 1); with several sessions 3 in each")
    parser.add_argument("--sessions", type=int, metavar="N", default=1,
                        help="all of it N times (1)")
    parser.add_argument("--apart", type=int, metavar="MINUTES", default=60,
                        help="between two sessions (60)")
    parser.add_argument("--seconds", type=float, metavar="S",
                        help="least time for each case in each repetition; 0.02 by default"
                             " (--quick, --scaling: 0.1)."
                             "  --blocked: for which the thread blocks; 60")
    parser.add_argument("--plot", metavar="FILE",
                        help="with --scaling, --blocked, --pauses: a picture of it, as PNG")
    parser.add_argument("--save", metavar="FILE", help="keep all figures as JSON")
    parser.add_argument("--list", action="store_true", help="the programs that can be named")
    parser.add_argument("--from", dest="source", metavar="FILE", action="append",
                        help="measure nothing: use these; once for each session")
    parser.add_argument("--against", metavar="FILE",
                        help="print the rows whose ranges do not overlap with these figures' (of"
                             " --save or docs/performance); --report makes its page of both, or takes"
                             " the ratios of another machine's")
    return parser.parse_args()


def refuse(why):
    print(f"bench: {why}; ./dev bench --help says more", file=sys.stderr)
    return 2


def load(path, option="--from"):
    try:
        return Results.load(path)
    except OSError as error:
        sys.exit(refuse(f"{option}: '{path}': {error.strerror}"))
    except (ValueError, KeyError, TypeError, AttributeError):
        sys.exit(refuse(f"{option}: '{path}' holds no figures that --save kept"))


def look_at_cores(options):
    """Figures beside other programs that compute are no figures to be published."""
    least = least_core()
    if least < FREE:
        why = f"a thread that spins gets {least:.0%} of a core: other programs run"
        if options.report:
            sys.exit(refuse(f"{why}, and no report is made"))
        print(f"bench: {why}", file=sys.stderr)


def pause(minutes):
    end = time.monotonic() + 60 * minutes
    while (left := end - time.monotonic()) > 0:
        progress.show(1 - left / (60 * minutes), f"{left / 60:.0f} minutes to the next session")
        time.sleep(min(left, 1))
    progress.end()


def mode_of(options):
    return next((name for name in MODES if getattr(options, name)), None)


def session(options):
    look_at_cores(options)
    mode = mode_of(options)
    programs, repetitions, seconds = MODES.get(mode, (ALL, 5 if options.sessions == 1 else 3, 0.02))
    results = measure(programs, options.repetitions or repetitions, options.seconds or seconds)
    if mode is None:
        results.context["lines"] = derived.count_lines()
    if mode not in DRAWN:
        results.context["sessions"] = [quick.medians(results)]
    return results


def figures(options):
    if options.source:
        return Results.together([load(path) for path in options.source])
    sessions = []
    for number in range(options.sessions):
        if number:
            pause(options.apart)
        sessions.append(session(options))
    return Results.together(sessions)


def main():
    options = arguments()
    if options.list:
        print("\n".join(NAMES))
        return
    mode = mode_of(options)
    if options.plot and mode not in DRAWN:
        sys.exit(refuse("--plot is for --scaling, --blocked and --pauses"))
    if options.report or options.plot:
        import plots  # before anything is measured: it needs matplotlib
    results = figures(options)
    if options.save:
        results.save(options.save)
    if options.against:
        other = load(options.against, "--against")
        print("\n".join(report.apart(results, other)), file=sys.stderr)
        results = Results.together([other, results]) if options.report else results
    if options.quick:
        published = load(PUBLISHED) if os.path.exists(PUBLISHED) else None
        print(json.dumps(quick.evaluate(results, published), indent=1))
        return
    print(getattr(report, mode or "write")(results))
    if options.plot:
        getattr(plots, mode)(results, options.plot)
    if options.report:
        folder = os.path.join(ROOT, "docs", "performance")
        plots.write(results, folder)
        with open(os.path.join(ROOT, "docs", "performance.md"), "w") as file:
            file.write(report.write(results))
        import page

        page.write("README.md", "./dev bench --report", report.summary(results))
        results.save(os.path.join(folder, "results.json"))
        print("bench: wrote docs/performance.md", file=sys.stderr)


if __name__ == "__main__":
    main()
