"""Runs the benchmark programs, one after the other and all of them again and again, and keeps what
they say by name: workload/subject/size/threads."""

import json
import multiprocessing
import os
import platform
import re
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.append(os.path.join(ROOT, "tools"))
import circumstances  # noqa: E402
import progress  # noqa: E402

PEERS = "peers"  # the Rust program
RUST = os.path.join(ROOT, "bench/rust/target/release/haft-bench-peers")
SERIES = ("milliseconds", "retired", "waiting")  # over time, in bench/backlog.cc
BLOCKED = ("seconds", "waiting", "used", "bound", "from", "to", "refused", "reported",
           "reported_wait", "names_thread")  # in bench/blocked.cc
EACH = ("items_per_second", "peak_slots", "empty_bytes", "bytes_per_object",
        "ns", "processor_ns", "ended_us", "idle_us", "beyond_slots", "beyond_bytes")
# of each repetition; from "ns" on in bench/pauses.cc


class Missing(SystemExit):
    """A figure that was not measured."""


class Results:
    """Per name: a list with one value a repetition, for each counter; of series, the last one.

    context["sessions"]: the ratios of each session that these are of, if they are of several;
    context["elsewhere"]: those of sessions on other processors.
    """

    def __init__(self, context=None, counters=None):
        self.context = context or {}
        self.counters = counters or {}

    def add(self, run):
        if run.get("error_occurred"):
            sys.exit(f"bench: {run['name']} failed: {run['error_message']}")
        kept = self.counters.setdefault(run["name"], {})
        for key in EACH:
            if key in run:
                kept.setdefault(key, []).append(run[key])
        kept.update((key, run[key]) for key in SERIES + BLOCKED if key in run)

    def values(self, name, counter="items_per_second"):
        try:
            return self.counters[name][counter]
        except KeyError:
            raise Missing(f"bench: no {counter} of {name} was measured") from None

    def rate(self, name):
        """Items a second: the median, or None if that was not measured."""
        values = self.counters.get(name, {}).get("items_per_second")
        return statistics.median(values) if values else None

    def series(self, name):
        """The (milliseconds, retired, waiting) of the last repetition, or nothing."""
        kept = self.counters.get(name, {})
        return tuple(kept[key] for key in SERIES) if all(key in kept for key in SERIES) else ()

    def save(self, path):
        """As JSON, each list of numbers in a line."""
        text = json.dumps({"context": self.context, "counters": self.counters}, indent=1)
        with open(path, "w") as file:
            file.write(re.sub(r'\[\n[^\[\]"{]*\]', lambda found: json.dumps(json.loads(found[0])),
                              text) + "\n")

    @staticmethod
    def load(path):
        with open(path) as file:
            saved = json.load(file)
        for kept in saved["counters"].values():
            for key in SERIES:
                if isinstance(kept.get(key, [0])[-1], list):  # one for each repetition
                    kept[key] = kept[key][-1]
        return Results(saved["context"], saved["counters"])

    def sessions(self):
        """The ratios of each, and whose they are."""
        context = self.context
        commits = ", ".join(context.get("commits", [context["commit"]]))
        whose = {"of": f"{context['processor']} with {context['rust']} (commits {commits})"}
        return [whose | ratios for ratios in context.get("sessions", [])]

    @staticmethod
    def together(sessions):
        """All repetitions of the sessions that were on the last one's processor; of others the ratios
        alone, since rates of two machines say nothing in one cell."""
        if len(sessions) == 1:
            return sessions[0]
        processor = sessions[-1].context["processor"]
        here = [one for one in sessions if one.context["processor"] == processor]
        whole = Results({})
        for one in here:  # older ones may lack something
            whole.context = {**one.context, **whole.context}
        for key in ("system", "compiler", "rust"):
            whole.context[key] = " and ".join(dict.fromkeys(one.context[key] for one in here))
        whole.context["seconds"] = min(one.context["seconds"] for one in here)
        whole.context["sessions"] = [ratios for one in here for ratios in one.context.get("sessions", [])]
        whole.context["elsewhere"] = [ratios for one in sessions
                                      for ratios in one.context.get("elsewhere", [])
                                      + (one.sessions() if one not in here else [])]
        whole.context["commits"] = list(dict.fromkeys(
            commit for one in here for commit in one.context.get("commits", [one.context["commit"]])))
        whole.context["repetitions"] = sum(one.context["repetitions"] for one in here)
        for one in here:
            for name, counters in one.counters.items():
                kept = whole.counters.setdefault(name, {})
                for key, values in counters.items():
                    kept[key] = values if key not in EACH else kept.get(key, []) + values
        return whole


# --- machine ---


def machine():
    sources = ("--", "lib", "concurrent", "kit", "include", "bench")
    return {
        "processor": circumstances.processor(),
        "cores": os.cpu_count(),
        "pinned": True,  # each thread, as the programs do where there are cores enough
        "system": f"{platform.system()} {platform.release()}",
        "compiler": circumstances.first_line("gcc", "--version") or "unknown",
        "rust": circumstances.first_line(os.environ.get("RUSTC", "/usr/bin/rustc"), "--version")
                or "unknown",
        "commit": circumstances.commit(" with changes", *sources) or "unknown",
    }


def _spin(seconds):
    """The part of a core that a process gets."""
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        pass
    return time.process_time() / (time.monotonic() - begin)


def least_core(seconds=0.5):
    """Of as many spinning processes as there are cores: what the last of them gets of one."""
    with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
        return min(pool.map(_spin, [seconds] * os.cpu_count(), chunksize=1))


# --- runs ---


class Program:
    """One program and which of its cases are wanted: a regular expression, or for the Rust
    program beginnings of names; none stands for all."""

    def __init__(self, name, wanted=None, once=False):
        self.name = name
        self.wanted = wanted
        self.once = once  # in a session, not in each repetition

    def command(self, seconds):
        if self.name == PEERS:
            return [RUST, f"--min-time={seconds}"] + [f"--filter=^{one}" for one in self.wanted or []]
        return [
            os.path.join(ROOT, "bazel-bin/bench", self.name),
            "--benchmark_format=json",
            f"--benchmark_min_time={seconds}",
            f"--benchmark_filter={self.wanted or 'all'}",
        ]

    def run(self, seconds, results):
        done = subprocess.run(self.command(seconds), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"bench: {self.name} failed:\n{done.stderr}")
        for run in json.loads(done.stdout)["benchmarks"]:
            if run.get("run_type") == "iteration":
                results.add(run)


class Series(Program):
    """A program whose cases take a second or more, each once."""

    def command(self, seconds):
        return [os.path.join(ROOT, "bazel-bin/bench", self.name), str(max(10000 * seconds, 1000))]

    def run(self, seconds, results):
        super().run(seconds, results)
        results.context["series"] = machine()


class Blocked(Program):
    """bench/blocked.cc, where a thread blocks for that number of seconds."""

    def command(self, seconds):
        return [os.path.join(ROOT, "bazel-bin/bench", self.name), str(seconds)]


class Pauses(Program):
    """bench/pauses.cc, and the same in Rust: ten times as long as a case, since the longest calls
    are rare."""

    def command(self, seconds):
        busy = max(10 * seconds, 0.01)
        if self.name == PEERS:
            return [RUST, f"--pauses={busy}"]
        return [os.path.join(ROOT, "bazel-bin/bench", self.name), str(busy)]


def measure(programs, repetitions, seconds):
    """Every program once, then again: what disturbs the machine for a while meets all subjects."""
    results = Results(machine())
    results.context["repetitions"] = repetitions
    results.context["seconds"] = seconds
    runs = [program for turn in range(repetitions) for program in programs
            if turn == 0 or not program.once]
    total = len(runs)
    try:
        for done, program in enumerate(runs):
            progress.show(done / total, f"{done} of {total} runs: {program.name}")
            program.run(seconds, results)
    finally:
        progress.end()
    return results
