"""docs/performance.md and the ratios of README.md, from figures: nothing is written by hand."""

import collections
import os
import statistics
import subprocess

import derived
import growth
import quick
from measured import ROOT, circumstances

# Not peers: what a path is compared with.
BOUNDS = {"raw", "compared", "one_cas", "one_cas_inlined", "two_calls", "bare_list", "array", "bare",
          "no_table", "no_on_reclaim"}
HAFT = "haft"
COUNTED = "haft_counted"

Section = collections.namedtuple("Section", "title text workloads across")

# `across`: what the columns are, "size" or "threads".
SECTIONS = [
    Section("One thread: get", """\
Live ids in random order; 24-byte objects. `raw` is the same slots without any check. The maps own
objects allocated one by one; `slotmap` is Rust's; `haft_typed` is haft_local with a type that the
compiler knows.""", ["get"], "size"),
    Section("One thread: insert and free", """\
The objects are all inserted, then freed in the same order; an item is one pair. `two_calls` is two
calls of functions that do nothing: those of `haft_typed` are inlined, as Rust's are, haft_local's
are not. `bare_list` keeps free slots in a list through them, as haft_local does, and nothing else:
no check, no count, a layout of constants. Each insertion follows one link of that list, whose load
waits for that of the insertion before.""",
            ["insert_free"], "size"),
    Section("One thread: iterate", """\
The first word of every object. `array` is a plain loop over a vector; `haft_packed` is the same
loop over its objects, `haft_local` an inline run over slots, `haft_local_called` a call for each
object.""", ["iterate"], "size"),
    Section("Opening and closing", """\
Microseconds in which a table for that number of objects, of 24 bytes, is opened and closed, in a domain that is open;
`malloc_free` and `calloc_free` are a block of the same bytes. Up to 8 KiB of slots, in a `haft_table` with those that
workers hold back, are a block that opening clears; more are pages of the system, touched when slots are first used, so that
opening is two system calls and a page or two whatever the capacity.""",
            ["open_close"], "size"),
    Section("Resolve", """\
Live ids in random order: all in one open read section (`open`), each in a separate one (`each`),
64 at a time (`many`); and ids whose slots hold newer objects by now (`stale`). `use` does some
hundred instructions for each object, which is when it pays to resolve many at a time: bare
resolves overlap their cache misses by themselves. `raw` is the same
slots without any check; `compared` plain memory, where the first word of a slot of constant size is
compared with the id. `haft_memb_called` reads through `haft_section_begin()`, which inlines nothing of
liburcu. `weak_ptr` walks an array of weak pointers and locks each. `haft_constant` resolves with a distance of slots
that the compiler knows, as in typed tables. What the check costs in cache depends on the processor: a walk without check is 7
instructions an id and 2 loads, with it 12 and 3. README has the range over processors
([notes](performance-notes.md#resolving)).""",
            ["resolve_open", "resolve_each", "resolve_many", "resolve_stale", "use_one", "use_many"],
            "size"),
    Section("Side tables", """\
A value beside each object, found by its id (`side_get`), together with the object (`side_find`), set
and removed (`side_set`: one item is both). `haft_resolve` resolves instead: in the ids' own table, or
in a second one.""",
            ["side_get", "side_find", "side_set"], "size"),
    Section("Churn", """\
Each thread inserts 1,024 objects and frees them, again and again; an item is one pair. `malloc` and
`mimalloc` are allocation alone: no ids, and nothing detects a stale pointer. `one_cas` is a bound,
for one thread: two calls, an array of free slots and one compare-and-swap in free, without clock,
limit or counters. `shared_ptr` is an array of shared pointers and generations under a read-write lock.""",
            ["churn"], "threads"),
    Section("Hold", """\
1,024 objects, each held while a word of it is read, in random order (`hold`); one object for each thread
(`hold_own`); one for all threads (`hold_one`). `mutex_count` and `read_write_count` are a lock and a count, as one
would write them; `undo_count` raises a count in the word before it looks at the generation; `weak_ptr` locks a weak
pointer; Rust's tables read under a guard; hash tables and arrays under their lock or in a section. `bare` is what a count
in the slot's word takes: two loads and compare-and-swaps. `haft_table` resolves in a read section.""",
            ["hold", "hold_own", "hold_one"], "threads"),
    Section("Unwrapping", """\
Look-ups alone: 1,024 values of 8 bytes, all live; each thread looks all up by id, in random order. `haft_table` resolves
in a read section for all, `haft_counted_copy` copies the value out, `haft_counted_acquire` acquires and releases.
`mutex` and `read_write_lock` are an array under a lock; `mutex_slotmap` and `rwlock_slotmap` Rust's slotmap in
parking_lot's locks; `shared_unordered_map` holds the values in place, under a read-write lock; `weak_ptr` locks a weak
pointer. `bare` is what a copy by a call takes: it loads, compares and loads.""",
            ["unwrap"], "threads"),
    Section("Insert and free without workers", """\
An object is inserted and freed, again and again; `bare` is three loads and compare-and-swaps. The tables beside it
insert under a mutex.""",
            ["insert_free_any"], "threads"),
    Section("Replace", """\
Each thread keeps 65,536 objects live, frees a random one and inserts another.""",
            ["replace"], "threads"),
    Section("Handoff", """\
One thread inserts, and hands batches of 512 ids to another, which frees them.""",
            ["handoff"], "threads"),
    Section("Mixed", """\
90 % resolve, 5 % insert, 5 % free on 65,536 ids that all threads share: as in a server, a connection is looked up by
some thread, used, and now and then closed. `haft_counted` acquires and releases, `shared_ptr` copies a pointer under the
lock.""",
            ["mixed"], "threads"),
    Section("Reads under churn", """\
One thread resolves 16,384 ids in random order, a read section around each: alone (1 thread), and
beside a thread at full churn (2 threads). Only the reader's items count.""",
            ["read_alone", "read_under_churn"], "threads"),
]


def split(name):
    workload, subject, size, threads = name.split("/")
    return workload, subject, int(size), int(threads)


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def spread_of(values):
    if not values:
        return ""
    middle, low, high = (number(of(values)) for of in (statistics.median, min, max))
    return middle if low == high else f"{middle} ({low}-{high})"


def cell(rates):
    """Millions a second."""
    return spread_of([rate / 1e6 for rate in rates or []])


def microseconds(rates):
    return spread_of([1e6 / rate for rate in rates or []])


def slots(peaks):
    """How many were used depends on chance: the median, and the most of any repetition."""
    if not peaks:
        return ""
    median, most = statistics.median(peaks), max(peaks)
    return f"{median:,.0f}" if median == most else f"{median:,.0f} (to {most:,.0f})"


def table(titles, rows):
    yield "| " + " | ".join(titles) + " |"
    yield "| " + " | ".join(["---"] * 2 + ["---:"] * (len(titles) - 2)) + " |"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def section_table(results, section):
    """Rows by workload and subject, columns by size or by number of threads."""
    rows = collections.OrderedDict()
    columns = set()
    for name, counters in results.counters.items():
        workload, subject, size, threads = split(name)
        if workload in section.workloads:
            column = size if section.across == "size" else threads
            columns.add(column)
            row = rows.setdefault((workload, subject), {"peak": []})
            row[column] = counters.get("items_per_second", [])
            row["peak"] = counters.get("peak_slots", row["peak"])
    columns = sorted(columns)
    has_peak = any(row["peak"] for row in rows.values())
    titles = ["workload", "subject"]
    titles += [f"{column:,}" + (" threads" if section.across == "threads" and column > 1 else
                                " thread" if section.across == "threads" else "")
               for column in columns]
    titles += ["peak slots"] if has_peak else []
    body = []
    order = {workload: at for at, workload in enumerate(section.workloads)}
    for (workload, subject), row in sorted(rows.items(), key=lambda item: order[item[0][0]]):
        shown = microseconds if workload == "open_close" else cell
        cells = [workload, subject] + [shown(row.get(column)) for column in columns]
        body.append(cells + ([slots(row["peak"])] if has_peak else []))
    return list(table(titles, body)) if body else []


# --- in place and in boxes ---

BOX_WORKLOADS = ["create", "recreate", "access", "create_large", "recreate_large", "access_large"]


def boxes(results):
    subjects = ["haft_local_in_place", "haft_local_boxed", "vector_in_place", "vector_boxed"]
    rows = []
    for workload in BOX_WORKLOADS:
        cells = [workload, "256" if workload.endswith("_large") else "24"]
        for subject in subjects:
            rate = results.rate(f"{workload}/{subject}/10000/1")
            cells.append(number(10000 / rate * 1e6) if rate else "")
        rows.append(cells)
    return [
        "## In place against boxed",
        "",
        "Microseconds for 10,000 objects, medians. `create` opens a table and inserts, in memory"
        " fresh from the system; `recreate` inserts into a table that held as many before;"
        " `access` sums up first words by id. In a box, the table holds a pointer to memory"
        " allocated for the object alone; `vector` is the same check of a generation over a"
        " `std::vector`.",
        "",
        *table(["workload", "bytes"] + [f"`{subject}`" for subject in subjects], rows),
        "",
        "A blog series on handles has 8.4544 ms boxed and 11.492 ms in place for"
        " creating 10,000 objects, 20.378 and 25.570 microseconds for accessing them: other"
        " objects and another machine, so only the order of the two can be compared. Creation in"
        " place loses there because the table grows as a vector does: each growth copies every"
        " object that is there, and the larger objects are, the more that is (`vector_in_place`"
        " in `create_large`). `haft_local` reserves address space and never copies. The rest"
        " of creation is the system's first touch of each page, which a box does not save: it"
        " adds an allocation, and its own memory is fresh as well. Access follows one pointer"
        " less in place.",
        "",
    ]


# --- memory ---


def memory(results):
    rows = []
    for name, counters in results.counters.items():
        workload, subject, size, _ = split(name)
        if workload == "memory":
            rows.append([subject, f"{size:,}",
                         f"{statistics.median(counters['bytes_per_object']):.1f}",
                         f"{statistics.median(counters['empty_bytes']) / 1024:,.0f}"])
    return [
        "## Memory",
        "",
        "Resident memory for an object of 24 bytes, and what opening a table sized for 1,048,576"
        " objects and a worker takes before the first object, in a fresh process, in KiB."
        " `entry_mutex` makes all its entries at opening.",
        "",
        *table(["subject", "objects", "bytes an object", "KiB when empty"], rows),
        "",
    ]


# --- where it loses ---


def is_counted(subject):
    return subject.startswith(COUNTED)


def is_other(subject):
    return subject.startswith(HAFT) and not is_counted(subject)


def lost(results, is_ours):
    """For each case, the peers that are more than 3 % faster than the fastest of these tables."""
    cases = collections.OrderedDict()
    for name in results.counters:
        workload, subject, size, threads = split(name)
        rate = results.rate(name)
        if workload != "memory" and rate:
            cases.setdefault((workload, size, threads), []).append((subject, rate))
    rows = []
    for (workload, size, threads), subjects in cases.items():
        ours = [one for one in subjects if is_ours(one[0])]
        if not ours:
            continue
        best, rate = max(ours, key=lambda one: one[1])
        rows += [
            [workload, subject, f"{size:,}", str(threads), best, f"{peer / rate:.2f}"]
            for subject, peer in subjects
            if not subject.startswith(HAFT) and subject not in BOUNDS and peer > 1.03 * rate
        ]
    return rows + lost_pauses(results, is_ours)


def losses(results):
    text = [
        "## Where haft loses",
        "",
        "Every case in which a peer is more than 3 % faster than `haft_counted`, and than the fastest"
        " of the other tables that was measured there (bounds such as `raw` are not peers). Beside"
        " the peers: a clock or a table of haft that is not the fastest one can lose more, as the"
        " tables above show.",
        "",
    ]
    titles = ["workload", "peer", "size", "threads", "fastest haft", "peer / haft"]
    for title, is_ours in ("`haft_counted`", is_counted), ("The other tables", is_other):
        rows = lost(results, is_ours)
        text += [f"### {title}", "", *(table(titles, rows) if rows else ["None in these figures."]), ""]
    return text


# --- README ---

TIME, FAST = "times the time", "times as fast"

Row = collections.namedtuple("Row", "what ratios unit")
ROWS = [
    Row("`haft_table`: resolve in an open section, against an array index without any check, 1,024 objects / 16,384 /"
        " with a comparison, 16,384",
        ["resolve_open_vs_raw_1024", "resolve_open_vs_raw_16384", "resolve_open_vs_compared_16384"], TIME),
    Row("`haft_counted`: acquire and release, against two bare compare-and-swaps / a mutex and a count / sharded-slab"
        " / `weak_ptr`", [f"hold_vs_{name}" for name in ("bare_steps", "mutex_count", "sharded_slab", "weak_ptr")],
        TIME),
    Row("`haft_counted`: copy 8 bytes, against a load with a comparison", ["copy_vs_bare"], TIME),
    Row("`haft_table`: insert and free, one thread, against sharded-slab / a mutex around an array / mimalloc's"
        " malloc and free", ["churn1_vs_sharded_slab", "churn1_vs_mutex", "churn1_vs_mimalloc"], FAST),
    Row("`haft_table`: insert and free, two threads, against one / against sharded-slab",
        ["churn2_vs_churn1", "churn2_vs_sharded_slab"], FAST),
    Row("`haft_table`: one thread inserts, another frees, against sharded-slab",
        ["handoff_vs_sharded_slab"], FAST),
    Row("`haft_table`: reads beside a thread at full churn, against reads alone",
        ["read_under_churn_vs_alone"], TIME),
    Row("`haft_table`: slots beyond the live ones, a churning worker", ["peak_slots_over_live_per_worker"], ""),
    Row("`haft_local`, typed, against Rust's slotmap, 1,024 objects: get / insert and free",
        ["typed_get_vs_slotmap", "typed_insert_free_vs_slotmap"], FAST),
]


def spread(values):
    middle, lowest, highest = (number(value) for value in values)
    return middle if lowest == highest else f"{middle} ({lowest} to {highest})"


def summary(results):
    """The lines of README's table."""
    spreads = quick.spreads(results, may_lack=True)
    yield "| | |"
    yield "|---|---|"
    for row in ROWS:
        yield f"| {row.what} | {' / '.join(spread(spreads[one]) for one in row.ratios)} {row.unit}".rstrip() + " |"


# --- scaling ---

SCALING = ("churn", "replace", "handoff", "mixed")


def lines_that_travel():
    """What stress/lines.c counts, as it says it; the same on any machine."""
    program = os.path.join(ROOT, "bazel-bin", "stress", "lines")
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return ["```", *said.strip().splitlines(), "```"]


def scaling(results):
    context = results.context
    lines = ["# Scaling", "",
             f"{of(results)} Millions of items a second: the median of"
             f" {circumstances.counted(context['repetitions'], 'repetition')} (lowest-highest).", ""]
    for section in SECTIONS:
        if section.workloads[0] in SCALING:
            lines += [f"## {section.title}", "", section.text, "", *section_table(results, section), ""]
    return "\n".join(lines + ["## Lines that travel", "", *lines_that_travel(), ""])


# --- a thread that blocks ---


def of(results):
    context = results.context
    return (f"{context['processor']}, {circumstances.counted(context['cores'], 'core')}, commit"
            f" {context['commit']}.")


def mebibytes(count):
    return f"{count / 2**20:.2f}"


def blocked_cells(subject, run):
    reported = (f"after {run['reported_wait']:.2f} s,"
                f" {'with' if run['names_thread'] else 'without'} the thread"
                if run["reported_wait"] else "no stalls on this clock")
    return [subject, f"{run['to'] - run['from']:.0f}", mebibytes(max(run["waiting"])),
            mebibytes(max(run["used"])), mebibytes(run["bound"]), f"{run['refused']:,}", reported]


def blocked(results):
    rows = [blocked_cells(split(name)[1], run) for name, run in results.counters.items()
            if name.startswith("blocked/")]
    titles = ["clock", "seconds blocked", "most waiting, MiB", "most used", "bound",
              "insertions refused", "reported"]
    return "\n".join(["# Memory beside a thread that blocks", "", of(results), "",
                      *table(titles, rows), ""])


# --- single calls ---

PARTS = ("p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "most")
SHOWN = ("p50", "p99", "p99.99", "most")
CALLS = ("look_up", "insert", "free", "quiescent")

# Less is better in each.  `values`: of the counters of any_call and pauses, in each repetition.
Pause = collections.namedtuple("Pause", "title values")
PAUSES = [
    Pause("longest call, us", lambda calls, _: [ns[-1] / 1e3 for ns in calls["ns"]]),
    Pause("p99.9, us", lambda calls, _: [ns[PARTS.index("p99.9")] / 1e3 for ns in calls["ns"]]),
    Pause("destructor, us", lambda _, own: [pair[0] for pair in own.get("ended_us", [])]),
    Pause("longest destructor, us", lambda _, own: [pair[1] for pair in own.get("ended_us", [])]),
    Pause("idle, us", lambda _, own: [pair[0] for pair in own.get("idle_us", [])]),
    Pause("slots beyond live", lambda _, own: own.get("beyond_slots", [])),
    Pause("KiB beyond live", lambda _, own: [count / 1024 for count in own["beyond_bytes"]]),
]


def pauses_of(results):
    """{subject: a list of values for each of PAUSES}"""
    found = {}
    for name, own in results.counters.items():
        workload, subject, size, threads = split(name)
        if workload == "pauses":
            calls = results.counters[f"any_call/{subject}/{size}/{threads}"]
            found[subject] = [pause.values(calls, own) for pause in PAUSES]
    return found


def single_calls(results):
    rows = [["pauses", subject, *map(spread_of, figures)]
            for subject, figures in pauses_of(results).items()]
    if not rows:
        return []
    return [
        "## Pauses and destructors",
        "",
        f"Two threads on 16,384 objects that they share, for {10 * results.context['seconds']:g} s:"
        " each looks up 18 objects, inserts one and frees the one whose place it takes; a quiescent"
        " point after 5 times. Each call is timed, without the reading of the clock: the longest of"
        " all, and what 99.9 % do not exceed. An object's destructor (`on_reclaim`, `on_destroy`,"
        " `drop`) notes when it runs: from the begin of its free, median and longest; `idle` is the"
        " median where a thread frees an object every 2 ms, flushes and sleeps. Memory: at its peak,"
        " beyond the live objects. A call beside another program's turn takes as long as that turn:"
        " `no_table` makes the same calls and does nothing in them, so its longest is the machine's."
        " Destructors of `haft_table` wait for a batch and a grace period: batches of 128 slots,"
        " or by `waiting_bytes` of 32 and 8; those of `haft_counted` run in the free, or in the last"
        " release. `no_on_reclaim` is a table without destructors. `shared_ptr` stands for"
        " `weak_ptr` too: an array of either is read under a lock where others write in it.",
        "",
        *table(["workload", "subject", *(pause.title for pause in PAUSES)], rows),
        "",
    ]


def lost_pauses(results, is_ours):
    """For each figure, the peers that are more than 3 % better than the best of these tables."""
    medians = {subject: [statistics.median(values) if values else None for values in figures]
               for subject, figures in pauses_of(results).items() if subject not in BOUNDS}
    rows = []
    for at, pause in enumerate(PAUSES):
        known = {subject: figures[at] for subject, figures in medians.items() if figures[at]}
        ours = {subject: value for subject, value in known.items() if is_ours(subject)}
        best = min(ours, key=ours.get, default=None)
        rows += [[f"pauses: {pause.title}", subject, "16,384", "2", best,
                  number(ours[best] / value)]
                 for subject, value in known.items()
                 if best and not subject.startswith(HAFT) and 1.03 * value < ours[best]]
    return rows


def pauses(results):
    context = results.context
    lines = ["# Times of single calls", "",
             f"{of(results)} The median of {circumstances.counted(context['repetitions'], 'run')}"
             " (lowest-highest).", "", *single_calls(results), "## By call, ns", ""]
    for call in CALLS:
        rows = []
        for name, counters in results.counters.items():
            workload, subject, _, _ = split(name)
            if workload == call:
                found = dict(zip(PARTS, zip(*counters["ns"])))
                rows.append([call, subject] + [spread_of(found[part]) for part in SHOWN])
        lines += [*table(["call", "table", *SHOWN], rows), ""]
    rows = [["life", split(name)[1], spread_of(counters["processor_ns"])]
            for name, counters in results.counters.items() if name.startswith("pauses/")]
    return "\n".join([*lines, *table(["", "table", "processor, ns"], rows), ""])


# --- two sessions ---


def apart(results, other):
    """The rows of both whose ranges do not overlap."""
    rows = []
    both = [name for name in results.counters if results.rate(name) and other.rate(name)]
    for name in both:
        here, there = results.values(name), other.values(name)
        if max(here) < min(there) or max(there) < min(here):
            rows.append(f"{name}: {cell(here)} against {cell(there)}, {results.rate(name) / other.rate(name):.2f} times")
    return rows + [f"{len(rows)} of {circumstances.counted(len(both), 'row')} do not overlap"]


# --- the page ---

PLOTS = [
    ("churn.png", "Pairs of insert and free over the number of threads"),
    ("replace.png", "Replacements over the number of threads"),
    ("resolve.png", "Time of a resolve over the number of objects"),
    ("get.png", "Time of a get over the number of objects, one thread"),
    ("reads.png", "Reads alone and beside a thread at full churn"),
    ("growth.png", "Time of a call over the number of live objects, open tables and open workers"),
    ("backlog.png", "Freed slots over time: two threads churn in a table of 65,536, and a third one"
                    " stays in a read section for a fifth of the time"),
]


def of_series(context):
    """Where the series come from, if not from where all others do."""
    series = context.get("series", {})
    if all(series.get(key, context[key]) == context[key] for key in ("processor", "cores", "commit")):
        return ""
    return (f" The series of backlog.png are of another run: {series['processor']},"
            f" {circumstances.counted(series['cores'], 'core')}, commit {series['commit']}.")


def of_sessions(context):
    sessions = len(context.get("sessions", []))
    return f" in {sessions} sessions" if sessions > 1 else ""


def of_elsewhere(context):
    """Whose ratios README's ranges have beside the figures of this page."""
    found = collections.Counter(session["of"] for session in context.get("elsewhere", []))
    others = " and ".join(f"{circumstances.counted(count, 'session')} on {what}" for what, count in found.items())
    return f" The ranges in README are of these and of {others}." if others else ""


def of_commits(context):
    commits = context.get("commits", [context["commit"]])
    return ("commit " if len(commits) == 1 else "commits ") + ", ".join(commits)


def head(context):
    threads = "more threads than cores tell about waiting, not scaling."
    if context.get("pinned"):
        threads = f"Threads are pinned to a core each where there are as many; {threads}"
    return [
        "# Performance",
        "",
        "Written by `./dev bench --report`: all programs in `bench/`, one after the other and all of"
        " them again, so that what disturbs the machine for a while meets all subjects. Names are"
        " workload, subject, size, threads; each program's source says what its workloads do.",
        "",
        f"Machine: {context['processor']}, {circumstances.counted(context['cores'], 'core')}, {context['system']};"
        f" {context['compiler']}, `-c opt`; {context['rust']}, release build;"
        f" {of_commits(context)}. Cells are millions of items a second: the median of"
        f" {circumstances.counted(context['repetitions'], 'repetition')} (lowest-highest)"
        f"{of_sessions(context)}, of at least {context['seconds']} s each. README's ratios are medians of the"
        " quotients of figures made seconds apart, so they differ from the quotients of two cells."
        " Peak slots: the median (to the most)."
        f" {threads[0].upper()}{threads[1:]}{of_series(context)}{of_elsewhere(context)}",
        "",
    ]


def write(results):
    lines = head(results.context)
    for name, title in PLOTS:
        lines += [f"![{title}](performance/{name})", ""]
    for section in SECTIONS:
        cells = section_table(results, section)
        if cells:
            lines += [f"## {section.title}", "", section.text, "", *cells, ""]
        if section.workloads == ["iterate"]:
            lines += boxes(results)
    if "lines" in results.context:
        lines += derived.write(results, results.context["lines"])
    lines += single_calls(results) + memory(results) + growth.write(results) + losses(results)
    return "\n".join(lines).rstrip() + "\n"
