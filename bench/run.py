#!/usr/bin/python3
"""Runs all benchmarks, interleaved and repeated, and prints medians and ranges.

`./dev bench` builds what this needs and calls it.
"""

import argparse
import json
import os
import sys

import quick
import report
from measured import PEERS, ROOT, Program, Results, Series, measure

ALL = [
    Program("local"),
    Program("resolve"),
    Program("churn", "-churn/haft_local/"),
    Program("contention", "mixed/"),
    Program("handoff"),
    Program("replace"),
    Program("reads"),
    Program("frame"),
    Program("memory"),
    Series("backlog"),
    Program(PEERS),
]

EPILOG = f"""
ratios of --quick (of repetition by repetition, the median; churn rows use the workers clock;
above 1 haft is better in those with a peer's name):
{quick.explain()}

examples:
  ./dev bench                           all programs, tables on standard output: about 20 minutes
  ./dev bench --quick                   the ratios as JSON: under two minutes
  ./dev bench --report                  all, and docs/performance.md with its plots
  ./dev bench --report --from results.json
                                        the report once more from figures kept by --save
  ./dev bench churn --benchmark_filter=haft_workers
                                        one program with Google Benchmark's own flags
"""


def arguments():
    parser = argparse.ArgumentParser(
        prog="./dev bench", description=__doc__.splitlines()[0], epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--quick", action="store_true", help="a few ratios, as JSON")
    chosen.add_argument("--report", action="store_true", help="write docs/performance.md as well")
    parser.add_argument("--repetitions", type=int, metavar="N", help="5 by default")
    parser.add_argument("--seconds", type=float, metavar="S",
                        help="least time for each case in each repetition; 0.1 by default")
    parser.add_argument("--save", metavar="FILE", help="keep all figures as JSON")
    parser.add_argument("--list", action="store_true", help="the programs that can be named")
    parser.add_argument("--from", dest="source", metavar="FILE", help="measure nothing: use these")
    return parser.parse_args()


def refuse(why):
    print(f"bench: {why}; ./dev bench --help says more", file=sys.stderr)
    return 2


def figures(options):
    if options.source:
        try:
            return Results.load(options.source)
        except (ValueError, KeyError, TypeError, AttributeError):
            sys.exit(refuse(f"--from: '{options.source}' holds no figures that --save kept"))
    programs = quick.PROGRAMS if options.quick else ALL
    return measure(programs, options.repetitions or 5, options.seconds or 0.1)


def main():
    options = arguments()
    if options.list:
        print("\n".join(program.name for program in ALL if program.name != PEERS))
        return
    if options.report:
        import plots  # before anything is measured: it needs matplotlib
    results = figures(options)
    if options.save:
        results.save(options.save)
    if options.quick:
        print(json.dumps(quick.evaluate(results), indent=1))
        return
    text = report.write(results)
    print(text)
    if options.report:
        folder = os.path.join(ROOT, "docs", "performance")
        plots.write(results, folder)
        with open(os.path.join(ROOT, "docs", "performance.md"), "w") as file:
            file.write(text)
        results.save(os.path.join(folder, "results.json"))
        print("bench: wrote docs/performance.md", file=sys.stderr)


if __name__ == "__main__":
    main()
