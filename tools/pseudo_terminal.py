"""A program on a terminal of a known size, for tests of what people see."""

import contextlib
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

SECONDS = 60  # until a test gives up


class Terminal:
    """Starts the program on a terminal; `text` is what it has written there.

    `stdin` in the terminal's place: as of subprocess.
    """

    def __init__(self, command, columns, rows=24, stdin=None):
        self.master, slave = pty.openpty()
        self.text = ""
        self.resize(columns, rows)
        self.modes = termios.tcgetattr(slave)
        self.slave = slave
        self.program = subprocess.Popen(command, stdin=slave if stdin is None else stdin,
                                        stdout=slave, stderr=slave, preexec_fn=self._take)

    def _take(self):
        os.setsid()
        fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

    def resize(self, columns, rows=24):
        """The program gets SIGWINCH."""
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def send(self, keys):
        os.write(self.master, keys.encode())

    def read(self, seconds=0.05):
        """Takes in what there is now."""
        while select.select([self.master], [], [], seconds)[0]:
            self.text += os.read(self.master, 65536).decode("utf-8", "replace")
            seconds = 0

    def until(self, pattern, after=0):
        """Waits for text, from the offset `after` on; says where it ends."""
        limit = time.monotonic() + SECONDS
        while not (found := re.compile(pattern).search(self.text, after)):
            if time.monotonic() > limit or self.program.poll() is not None:
                self.read()
                raise AssertionError(f"no '{pattern}' in {self.text[after:]!r}")
            self.read()
        return found.end()

    def until_stopped(self):
        """Waits for the program to be stopped, as by Ctrl-Z."""
        limit = time.monotonic() + SECONDS
        while True:
            self.read()
            with open(f"/proc/{self.program.pid}/stat", encoding="utf-8") as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] == "T":
                    self.read()  # what it has written since the last look
                    return
            assert time.monotonic() < limit, "the program does not stop"

    def end(self):
        """Waits for the program to end; its exit status."""
        limit = time.monotonic() + SECONDS
        while self.program.poll() is None:
            self.read()
            assert time.monotonic() < limit, "the program does not end"
        self.read()
        return self.program.returncode

    def has_its_modes(self):
        """Whether the terminal echoes and edits lines as it did before."""
        return termios.tcgetattr(self.slave) == self.modes

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            self.program.kill()
        self.program.wait()
        os.close(self.master)
        os.close(self.slave)
