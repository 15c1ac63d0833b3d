"""What calls cost as the process grows (bench/growth.cc), beside what their contracts say."""

import collections
import statistics

# What grows, the beginning of the workloads' names, and for each call what include/haft says; of
# tables that differ, for each.
Group = collections.namedtuple("Group", "what prefix contracts")
GROUPS = [
    Group("live objects", "objects_", {"resolve": "O(1)", "replace": "O(1)"}),
    Group("open tables", "tables_", {
        "resolve": "O(1)", "insert_free": "O(1)",
        "open_close": {
            "haft_table": "opening O(1); closing O(workers of the table and what waits in it)",
            "haft_counted": "opening O(1); closing O(slots ever used)"}}),
    Group("open workers", "workers_", {
        "quiescent": "O(1) while few slots of the worker wait, else O(workers and their threads)",
        "insert_free": "O(1); a quiescent point O(workers and their threads) while many slots wait",
        "open_close": "O(1), and a batch, if the thread's latest worker is of the table"}),
]

TEXT = """\
Nanoseconds a call, one thread. **Live objects**: values of 8 bytes, of which up to 1,048,576 are used, in random order;
`resolve` in one read section (`haft_counted` copies), `replace` frees one and inserts another; `raw` is the same slots
without any check; 100,000,000 once a session. What grows there is the memory's: from 100,000 objects on each look is a
miss of a cache, later of the TLB too; misses of `raw` and of `resolve` overlap, while a compare-and-swap and a list of
free slots wait for theirs. **Open tables**: one is used, in the
domain of all others, while the thread has a worker in each. **Open workers**: of the one table that is used; `haft_open`,
all on the calling thread; `haft_parked`, all but one on other threads, one each, which have parked. A grace period looks
at each of these threads, once in some thousand frees. Insertions and frees have a quiescent point after 64 of them."""


def split(name):
    workload, subject, size, _ = name.split("/")
    return workload, subject, int(size)


def series(results, group):
    """{(call, subject): {size: nanoseconds of each repetition}}"""
    found = {}
    for name, counters in results.counters.items():
        workload, subject, size = split(name)
        if workload.startswith(group.prefix):
            row = found.setdefault((workload[len(group.prefix):], subject), {})
            row[size] = sorted(1e9 / rate for rate in counters["items_per_second"])
    return found


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def cell(values):
    if not values:
        return ""
    return f"{number(statistics.median(values))} ({number(values[0])}-{number(values[-1])})"


def group_table(group, found):
    sizes = sorted({size for row in found.values() for size in row})
    yield "| call | table | contract | " + " | ".join(
        f"{size:,} {group.what}" if size == sizes[-1] else f"{size:,}" for size in sizes) + " |"
    yield "| --- | --- | --- |" + " ---: |" * len(sizes)
    for call, contract in group.contracts.items():
        for (_, subject), row in (item for item in found.items() if item[0][0] == call):
            said = contract if subject.startswith("haft") else "bound"
            said = said[subject] if isinstance(said, dict) else said
            cells = [cell(row.get(size)) for size in sizes]
            yield "| " + " | ".join([call, subject, said, *cells]) + " |"
    yield ""


def write(results):
    tables = [list(group_table(group, found)) for group in GROUPS
              if (found := series(results, group))]
    if not tables:
        return []
    return ["## Cost as the work grows", "", *TEXT.splitlines(), "",
            *(line for table in tables for line in table)]
