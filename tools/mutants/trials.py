"""Running a check, and what comes out of it."""

import dataclasses
import os
import re
import resource
import signal
import subprocess
import tempfile
import threading
import time

SEEDS = 3  # of a stress program
TSAN_OPTIONS = "halt_on_error=1 exitcode=66 report_thread_leaks=0 atexit_sleep_ms=0"
ASAN_OPTIONS = "exitcode=67"
UNITS = ("unit", "quick")  # of the kinds of checks
POLL = 0.2  # seconds, between looks whether all is to end

# Verdicts; all but the first two mean that the check has noticed.
HELD, NOT_MET = "held", "not met"
NOTICED = ("fails", "violation", "report", "crash", "time limit")
TELLING = re.compile(r"VIOLATION|^SUMMARY|NOT LINEARIZABLE|Assertion|\[----\]|Unexpected signal|"
                     r"Timed out")
NOT_TELLING = re.compile(r"Running|^boxfort-worker")  # the latter: a crash that a test expects

ended = threading.Event()  # all is to end: checks that run are killed


class Interrupted(Exception):
    """A check, or a build, was cut short."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    check: str
    verdict: str
    detail: str  # the line that says what a check noticed
    seconds: float

    @property
    def noticed(self):
        return self.verdict in NOTICED


def _schedules(words):
    return next((word for word in words if word.isdigit()), None)


def _explorer_arguments(words):
    arguments = ["--case", words[0]] if words[0] != "all" else []
    if "c11" in words:
        arguments += ["--memory", "c11"]
    if "deep" in words:
        arguments += ["--depth", "5"]
    if "exhaustive" in words:
        arguments += ["--mode", "exhaustive"]
    usual = "2000" if "tsan" in words else "40000" if "c11" in words else "10000"
    return arguments + ["--schedules", _schedules(words[1:]) or usual]


def arguments_of(check, seed):
    kind, *words = check.split()
    if kind in UNITS:
        return ["--fail-fast", "--jobs", "1"]
    if kind == "combinations":
        return ["--mode", "turns", "--seed", "1", "--shrink", "0", "--plays", words[0]]
    if kind in ("stress", "release"):
        return [*words[1:3], str(seed), *words[3:]]
    if kind == "stale":
        return words[1:]
    if kind == "linearize":
        return [*words[:2], str(seed), *words[2:]]
    return _explorer_arguments(words)


def _wait(process, seconds):
    """Exit status, or None at the time limit."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return process.wait(timeout=POLL)
        except subprocess.TimeoutExpired:
            if ended.is_set():
                raise Interrupted from None
            if time.monotonic() >= deadline:
                return None


def _execute(command, seconds, broken):
    """Exit status, None at the time limit, and what it has said."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL, start_new_session=True,
                                   env={**os.environ, **broken, "TSAN_OPTIONS": TSAN_OPTIONS,
                                        "ASAN_OPTIONS": ASAN_OPTIONS})
        try:
            status = _wait(process, seconds)
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # and what it has started
            except ProcessLookupError:
                pass
            process.wait()
        log.seek(0)
        return status, log.read().decode(errors="replace")


def _verdict(kind, status):
    if status is None:
        return "time limit"
    if status == (67 if kind == "stale" else 0):
        return HELD
    if status == 0:
        return "fails"  # nothing was reported
    if status == 66:
        return "report"
    if status == 3 and kind not in UNITS:
        return "violation"
    if status < 0 or status > 128:
        return "crash"
    return "fails" if kind in UNITS else NOT_MET


def _detail(text):
    for line in text.splitlines():
        if TELLING.search(line) and not NOT_TELLING.search(line):
            return re.sub(r"\x1b\[[0-9;]*m", "", line).strip()[:200]
    return (text.strip().splitlines() or [""])[-1][:200]


def runs_of(check):
    """How often a check is run, each time from another seed, before it is said to hold."""
    return SEEDS if check.split()[0] in ("stress", "release") else 1


def _broken(kind, mutant):
    """Arguments and environment that weaken an edge or switch a change on, or none."""
    if mutant and mutant.tree:
        return [], {"HAFT_SWITCHED": str(mutant.number)}
    if not mutant or not mutant.edge:
        return [], {}
    return (["--break", mutant.edge], {}) if kind == "explorer" else ([], {"HAFT_BROKEN": mutant.edge})


def run(program, check, seconds, mutant=None):
    kind = check.split()[0]
    arguments, broken = _broken(kind, mutant)
    begin = time.monotonic()
    for seed in range(1, runs_of(check) + 1):
        command = [program, *arguments_of(check, seed), *arguments]
        status, text = _execute(command, seconds, broken)
        outcome = Outcome(check, _verdict(kind, status), _detail(text), time.monotonic() - begin)
        if outcome.noticed:
            return outcome
    return outcome


def _used():
    """Seconds of a processor, by programs that have been run."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def reached(program, file, seconds):
    """Runs a unit test that notes in the file what it reaches; its seconds of a processor, or None."""
    before = _used()
    status, _ = _execute([program, "--jobs", "1"], seconds, {"HAFT_REACHED": file})
    return _used() - before if status == 0 else None
