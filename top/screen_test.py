#!/usr/bin/env python3
"""haft-top on terminals: its keys, its width, and the terminal as it was when it ends.

Usage: screen_test.py HAFT_TOP EXPORTER
"""

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "tools"))
import pseudo_terminal  # noqa: E402

TOP, EXPORTER = sys.argv[1:3]
LEAVE = "\033[?7h\033[?25h\033[?1049l"
TITLES = re.compile(r"  table .*")
failures = []


def expect(holds, what, terminal):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}: {terminal.text[-1500:]!r}", file=sys.stderr)


@contextlib.contextmanager
def exports():
    """A directory to which a program exports."""
    with tempfile.TemporaryDirectory() as folder:
        exporter = subprocess.Popen([EXPORTER, folder], stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE)
        exporter.stdout.readline()
        yield folder
        exporter.communicate()


@contextlib.contextmanager
def top(folder, columns, *options, rows=24, stdin=None):
    terminal = pseudo_terminal.Terminal([TOP, *options, folder], columns, rows, stdin)
    try:
        yield terminal
    finally:
        terminal.close()


def lines_of(text):
    """The lines on the screen, without what moves the cursor."""
    return re.sub(r"\033\[[?0-9]*[A-Za-z]", "", text).replace("\r", "").split("\n")


def widest(text):
    return max(len(line) for line in lines_of(text))


def check_width(folder):
    for columns in (120, 80, 60, 40, 20, 10):
        with top(folder, columns, "--once") as terminal:
            terminal.end()
            expect(widest(terminal.text) <= columns, f"--once is wider than {columns}", terminal)
            expect("live" in terminal.text or columns < 40, f"no live at {columns}", terminal)
            expect(bool(re.search(r"workers$", lines_of(terminal.text)[1])) == (columns == 120),
                   f"all columns at {columns}, or not at 120", terminal)
            expect(bool(re.search(r" \+\d$", lines_of(terminal.text)[1])) == (columns < 120
                   and columns >= 40), f"no mark at {columns}, or one at 120", terminal)
            expect(("+ left out: " in terminal.text) == (20 <= columns < 120),
                   f"names columns left out at 120, or names none at {columns}", terminal)


def check_order(folder):
    """The least important columns go first, and none comes back in a narrower terminal."""
    before = None
    for columns in range(120, 30, -3):
        with top(folder, columns, "--once") as terminal:
            terminal.end()
            shown = set(TITLES.search(terminal.text)[0].replace("slots used", "slots").split())
            shown = {title for title in shown if not title.startswith("+")}
            expect(before is None or shown <= before, f"new columns at {columns}", terminal)
            before = shown
    expect(before == {"table", "live", "fill"} or before == {"table", "live"},
           f"left at the end: {before}", terminal)


def check_keys(folder):
    with top(folder, 80) as terminal:
        at = terminal.until("created/s")
        terminal.send("x")
        at = terminal.until("created/s", at)
        terminal.send("?")
        at = terminal.until("frees of ids that were not live", at)
        terminal.send("\033[A")
        at = terminal.until("created/s", at)
        terminal.send("?")
        at = terminal.until("any other key goes back", at)
        terminal.send("q")
        expect(terminal.end() == 0, "q does not quit with 0", terminal)
        expect(terminal.text.endswith(LEAVE), "q leaves the screen behind", terminal)
        expect(terminal.has_its_modes(), "q leaves the modes behind", terminal)
    for keys in ("xq", "??q", "\033[A\033OP\033[15~q", "\033q"):
        with top(folder, 80) as terminal:
            terminal.until("created/s")
            terminal.send(keys)
            expect(terminal.end() == 0, f"q is lost in {keys!r}", terminal)


def check_no_keys(folder):
    with top(folder, 80, stdin=subprocess.DEVNULL) as terminal:
        terminal.until("Ctrl-C quits")
        terminal.send("\003")
        expect(terminal.end() == 0, "without keys, Ctrl-C does not end it", terminal)


def check_signals(folder):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        with top(folder, 80) as terminal:
            terminal.until("created/s")
            expect(not terminal.has_its_modes(), "keys are not read as they come", terminal)
            terminal.program.send_signal(number)
            expect(terminal.end() == 0, f"{number.name}: exit {terminal.program.returncode}", terminal)
            expect(terminal.text.endswith(LEAVE), f"{number.name} leaves the screen behind", terminal)
            expect(terminal.has_its_modes(), f"{number.name} leaves the modes behind", terminal)
    with top(folder, 80) as terminal:
        terminal.until("created/s")
        terminal.send("\003")
        expect(terminal.end() == 0, "Ctrl-C does not end it", terminal)


def check_stop(folder):
    with top(folder, 80) as terminal:
        at = terminal.until("created/s")
        terminal.program.send_signal(signal.SIGTSTP)
        terminal.until_stopped()
        expect(terminal.text.endswith(LEAVE), "stopped, it leaves its screen", terminal)
        expect(terminal.has_its_modes(), "stopped, it leaves its modes", terminal)
        at = len(terminal.text)
        terminal.program.send_signal(signal.SIGCONT)
        at = terminal.until(r"\033\[\?1049h", at)
        terminal.until("created/s", at)
        expect(not terminal.has_its_modes(), "going on, it does not read keys", terminal)
        terminal.send("q")
        expect(terminal.end() == 0, "after a stop, q does not quit", terminal)


def check_resize(folder):
    """At once, not only at the next look."""
    with top(folder, 120, "--interval", "60000", rows=30) as terminal:
        began = terminal.until("q quits, . explains")
        terminal.resize(40, 6)
        at = terminal.until(r"q quits, . explains; \d+ more lines", began)
        shown = terminal.text[terminal.text.rindex("\033[H", began, at):at]
        expect(widest(shown) <= 40, "a resize leaves wide lines", terminal)
        expect(len(lines_of(shown)) == 6, "a resize leaves many lines", terminal)
        terminal.send("q")
        terminal.end()


def check_age(folder):
    """A page that is drawn again says of each process what it said before: it has read nothing since."""
    with top(folder, 120, "--interval", "60000") as terminal:
        at = terminal.until("q quits, . explains")
        time.sleep(1)  # many of the exporter's intervals
        terminal.send("x")
        terminal.until("q quits, . explains", at)
        said = re.findall(r"exporter \(\d+\)([^\r\n\033]*)", terminal.text)
        expect(len(said) >= 2 and len(set(said)) == 1, f"another age of what was read once: {said}", terminal)
        terminal.send("q")
        terminal.end()


def main():
    with exports() as folder:
        for check in (check_width, check_order, check_keys, check_no_keys, check_signals, check_stop,
                      check_resize, check_age):
            check(folder)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
