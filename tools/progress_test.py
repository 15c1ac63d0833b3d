#!/usr/bin/env python3
"""A line of progress is never wider than its terminal, also after the terminal was resized, and is
removed at the end.

Usage: progress_test.py REPLAY TRACE EXPLORER
"""

import os
import re
import signal
import sys

FOLDER = os.path.dirname(os.path.realpath(__file__))
sys.path.append(FOLDER)
import progress  # noqa: E402
import pseudo_terminal  # noqa: E402

REPLAY, TRACE, EXPLORER = sys.argv[1:]
PYTHON = """
import sys, time
sys.path.append(sys.argv[1])
import progress
try:
    for step in range(2000):
        progress.show(step / 2000, f"{step} of 2000 mutants: {'long name ' * 4}")
        time.sleep(0.02)
finally:
    progress.end()
"""
PROGRAMS = {
    "replay": [REPLAY, "--workers", "2", "--repeat", "100000", TRACE],
    "explorer": [EXPLORER, "--case", "depot", "--mode", "random", "--schedules", "1000000"],
    "progress.py": [sys.executable, "-c", PYTHON, FOLDER],
}
ENDS = ("progress.py",)  # and say so, when they are interrupted
ENOUGH = 2  # lines at each width
failures = 0


def expect(holds, what):
    global failures
    if not holds:
        failures += 1
        print(f"FAILED: {what}", file=sys.stderr)


def lines_of(text):
    """The lines written over the line before, whole ones only."""
    return [line.replace("\033[K", "") for line in re.findall(r"\r([^\r\n]*)\033\[K", text)]


def check(name, command):
    terminal = pseudo_terminal.Terminal(command, 100)
    for columns in (100, 40, 12, 100):
        terminal.resize(columns)
        at = terminal.until(r"\r[^\r]*\033\[K", len(terminal.text))  # of the width before, maybe
        end = terminal.until(r"(?:\r[^\r]+\033\[K){%d}" % ENOUGH, at)
        lines = lines_of(terminal.text[at:end])
        expect(max(map(len, lines)) < columns, f"{name}: wider than {columns}: {lines}")
        expect(any("[" in line for line in lines) == (columns == 100) or columns == 40,
               f"{name}: no bar at 100, or one at 12: {lines}")
    if name in ENDS:
        terminal.program.send_signal(signal.SIGINT)
        terminal.end()
        last = terminal.text[terminal.text.rindex("\033[K") - 1:]
        expect(last.startswith("\r\033[K"), f"{name}: its line stays: {last!r}")
    terminal.close()


def check_fit():
    """At every width, with every bar."""
    for columns in range(2, 120):
        for part in (None, 0, 0.5, 1, 1.5):
            line = progress.fitted(part, "7 of 14 mutants", columns)
            expect(len(line) < columns, f"'{line}' is wider than {columns}")
    expect(progress.fitted(0.5, "half", 100) == "[" + "#" * 15 + " " * 15 + "] half", "half a bar")
    expect(progress.fitted(0.5, "half", 16) == "[####    ] half", "half a short bar")
    expect(progress.fitted(0.5, "half", 12) == "half", "no room for a bar")


def main():
    check_fit()
    for name, command in PROGRAMS.items():
        check(name, command)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
