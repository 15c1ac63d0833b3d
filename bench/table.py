#!/usr/bin/env python3
"""Turns the JSON of bench/contention (or bench/churn) into a Markdown table.

    contention --benchmark_repetitions=9 --benchmark_enable_random_interleaving=true \\
        --benchmark_out=contention.json
    bench/table.py contention.json

Reads standard input when no file is named.  Each cell is the median of the repetitions in
millions of items a second, with the lowest and the highest in brackets; peak slots are the most
that any repetition with the most threads used.
"""

import collections
import json
import statistics
import sys

Row = collections.namedtuple("Row", "workload subject size")


class Measured:
    """What one row knows: throughputs and peak slots by number of threads."""

    def __init__(self):
        self.throughput = collections.defaultdict(list)
        self.peak_slots = collections.defaultdict(list)


def read(report):
    """The report's repetitions as {Row: Measured}; aggregates are left out."""
    rows = collections.defaultdict(Measured)
    for run in sorted(report["benchmarks"], key=lambda run: run["family_index"]):
        if run.get("run_type") != "iteration":
            continue
        if run.get("error_occurred"):
            sys.exit(f"{run['name']} failed: {run['error_message']}")
        workload, subject, size, threads = run["name"].split("/")
        measured = rows[Row(workload, subject, int(size))]
        measured.throughput[int(threads)].append(run["items_per_second"])
        if "peak_slots" in run:
            measured.peak_slots[int(threads)].append(run["peak_slots"])
    if not rows:
        sys.exit("no repetitions in the report: leave --benchmark_report_aggregates_only out")
    return rows


def cell(values):
    millions = [value / 1e6 for value in values]
    if not millions:
        return ""
    middle = f"{statistics.median(millions):.1f}"
    return middle if len(millions) == 1 else f"{middle} ({min(millions):.1f}-{max(millions):.1f})"


def peak(measured):
    slots = measured.peak_slots.get(max(measured.throughput), [])
    return f"{max(slots):,.0f}" if slots else ""


def head(report):
    context = report["context"]
    repetitions = max(run.get("repetitions", 1) for run in report["benchmarks"])
    lines = [f"`{context['command']}`" if "command" in context else "", ""]
    lines.append(
        f"{context['num_cpus']} cores; millions of items a second: median of {repetitions}"
        " (lowest-highest)."
    )
    if "commit" in context:
        lines.append(f"Commit {context['commit']}.")
    return lines + [""]


def table(rows):
    threads = sorted({count for measured in rows.values() for count in measured.throughput})
    titles = ["workload", "subject", "size"]
    titles += [f"{count} thread{'s' if count > 1 else ''}" for count in threads]
    titles.append("peak slots")
    yield titles
    yield ["---", "---"] + ["---:"] * (len(titles) - 2)
    for row, measured in rows.items():
        cells = [cell(measured.throughput.get(count, [])) for count in threads]
        yield [row.workload, row.subject, f"{row.size:,}", *cells, peak(measured)]


def main():
    if len(sys.argv) > 2 or sys.argv[1:] in (["-h"], ["--help"]):
        sys.exit(__doc__)
    with open(sys.argv[1]) if sys.argv[1:] else sys.stdin as source:
        report = json.load(source)
    rows = dict(sorted(read(report).items(), key=lambda item: item[0].workload))
    print("\n".join(head(report)), end="")
    print()
    for cells in table(rows):
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
