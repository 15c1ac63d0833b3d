"""What more cores can do: derived from counts of lines that move (stress/lines.c), published times
of such moves, and what one thread of the machine measured takes.  No figure here was measured on
16 cores or more."""

import collections
import json
import os
import subprocess

from measured import ROOT

SOURCE = "https://github.com/nviennot/core-to-core-latency"

# Cores, and the ns in which a line moves between two of them: the fastest and the slowest medians
# of SOURCE (commit 0dddf50) for server processors of that size.
Machine = collections.namedtuple("Machine", "cores fast slow counted")
MACHINES = [
    Machine(16, 46, 51, 16),    # Graviton3, 64 cores; Xeon Platinum 8375C, 32: one socket
    Machine(64, 46, 115, 64),   # Graviton3; EPYC 7773X
    Machine(128, 108, 197, 64), # Xeon Platinum 8375C, two sockets; EPYC 7R13, two
]

# The operations of a play that make an item, how often each, and the case that measures one thread.
Item = collections.namedtuple("Item", "what table play measured")
ITEMS = [
    Item("resolve", "haft_table", {"resolve": 1}, "resolve_open/haft_memb/1024/1"),
    Item("insert and free, quiescent point each 128", "haft_table",
         {"insert": 1, "free": 1, "quiescent": 1 / 128}, "churn/haft_workers/1024/1"),
    Item("the same, freed by another thread", "haft_table",
         {"insert": 1, "free another's": 1, "quiescent": 1 / 128}, "churn/haft_workers/1024/1"),
    Item("copy, all threads one value", "haft_counted", {"copy": 1}, "unwrap/haft_counted_copy/1024/1"),
    Item("acquire and release, each thread its object", "haft_counted",
         {"acquire own": 1, "release own": 1}, "hold_own/haft_counted/1/1"),
    Item("acquire and release, all threads one object", "haft_counted",
         {"acquire one": 1, "release one": 1}, "hold_one/haft_counted/1/1"),
    Item("insert and free", "haft_counted", {"insert": 1, "free": 1},
         "insert_free_any/haft_counted/1/1"),
    Item("the same, freed by another thread", "haft_counted", {"insert": 1, "free another's": 1},
         "insert_free_any/haft_counted/1/1"),
]


def count_lines():
    """What stress/lines.c counts: the same on any machine."""
    program = os.path.join(ROOT, "bazel-bin", "stress", "lines")
    threads = sorted({str(machine.counted) for machine in MACHINES}, key=int)
    said = subprocess.run([program, "--json", *threads], capture_output=True, text=True, check=True)
    return json.loads(said.stdout)


def rows_of(lines, item, threads):
    """The rows of the item's play: operations of one name stand in several plays."""
    plays = []
    for row in lines:
        if (row["threads"], row["table"]) == (threads, item.table):
            if row["operation"] in list(item.play)[:1]:
                plays.append([])
            if plays and row["operation"] in item.play:
                plays[-1].append(row)
    return next(rows for rows in plays if len(rows) == len(item.play))


def moves(rows, item):
    return sum(item.play[row["operation"]] * (row["moved_by_loads"] + row["moved_by_stores"]
                                              + row["moved_by_modifies"]) for row in rows)


def moves_of_hottest(rows, item):
    """For an item: a step of a play, or two, with another thread between two calls."""
    steps = 2 if "acquire one" in item.play else 1
    return steps * rows[0]["hottest"]


def millions(machine, ns, own_ns, moved, hottest):
    """Items a second of all cores: each waits for its lines, and all for the hottest one."""
    each = machine.cores / (own_ns + moved * ns)
    return 1000 * (min(each, 1 / (hottest * ns)) if hottest else each)


def number(value):
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def cell(machine, rows, item, rate):
    moved, hottest = moves(rows, item), moves_of_hottest(rows, item)
    bounds = [millions(machine, ns, 1e9 / rate, moved, hottest)
              for ns in (machine.slow, machine.fast)]
    return " to ".join(dict.fromkeys(number(bound) for bound in bounds))


def table_rows(results, lines):
    for item in ITEMS:
        rate = results.rate(item.measured)
        of = [rows_of(lines, item, machine.counted) for machine in MACHINES]
        counts = [f"{moves(rows, item):.3f}" for rows in (of[0], of[1])]
        counts += [f"{moves_of_hottest(rows, item):.3f}" for rows in (of[0], of[1])]
        cells = [cell(machine, rows, item, rate) if rate else "" for machine, rows in zip(MACHINES, of)]
        yield [item.table, item.what, *counts, *cells]


def write(results, lines):
    titles = ["table", "operation", "lines moved, 16 threads", "64", "by the hottest line, 16", "64",
              *(f"{machine.cores} cores, millions a second" for machine in MACHINES)]
    yield "## More cores, derived"
    yield ""
    yield (f"Nothing in this table was measured on 16 cores or more. `stress/lines.c` counts the cache lines that an"
           f" operation moves between cores, threads taking turns: the worst order, the same in every run (`bazel run"
           f" -c opt //stress:lines`), with each slot on a separate line, as `spread` has them."
           f" A move takes 46 to 51 ns among 16 cores, 46 to 115 among 64, 108 to 197 among 128"
           f" in two sockets: medians that [core-to-core-latency]({SOURCE}) publishes for server processors. An operation"
           f" takes as long as one thread's above and its moves one after the other; and all cores together do no more"
           f" than the line that moves most allows. Empty: one thread was not measured. Contention within a"
           f" compare-and-swap, memory bandwidth and clock rates are left out.")
    yield ""
    yield "| " + " | ".join(titles) + " |"
    yield "| --- | --- |" + " ---: |" * (len(titles) - 2)
    for row in table_rows(results, lines):
        yield "| " + " | ".join(row) + " |"
    yield ""
