"""A line on stderr that says how far the work is, no wider than the terminal; nothing without one."""

import contextlib
import os
import sys
import threading
import time

LONGEST_BAR, SHORTEST_BAR = 30, 5
CLEAR = "\r\033[K"


def fitted(part, text, columns):
    """The line for a terminal: the bar becomes shorter, then it is left out, then the text is cut."""
    room = columns - 1  # the last column stays free: in it, some terminals begin a new line
    width = min(LONGEST_BAR, room - len(text) - len("[] "))
    if part is not None and width >= SHORTEST_BAR:
        return f"[{'#' * int(min(part, 1) * width):<{width}}] {text}"
    return text[:room]


def show(part, text):
    """Writes the line over the one before.  `part` of 1 fills the bar; None: no bar."""
    if sys.stderr.isatty():
        columns = os.get_terminal_size(sys.stderr.fileno()).columns or 80  # it may be resized
        print(f"\r{fitted(part, text, columns)}\033[K", end="", file=sys.stderr, flush=True)


def end():
    """Removes the line."""
    if sys.stderr.isatty():
        print(CLEAR, end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def _each_second(show_at):
    """Calls show_at(seconds so far) while the block runs."""
    started, ended = time.time(), threading.Event()

    def show_seconds():
        while not ended.wait(1):
            show_at(time.time() - started)

    thread = threading.Thread(target=show_seconds)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        end()


def running(name):
    """Shows the name and the seconds so far while the block runs."""
    return _each_second(lambda past: show(None, f"{name:<20} {past:6.0f} s"))


def lasting(seconds, unit, text):
    """Shows "2 of <text>" while the block runs, which takes `seconds`; the 2 in units of `unit` seconds."""
    return _each_second(lambda past: show(past / seconds, f"{past / unit:.0f} of {text}"))
