"""Programs for Windows, under wine: one system in a folder for all that a program runs, made when it is
first asked for, which ends with the program."""

import os
import subprocess
import tempfile
import threading

# No messages, no .NET and HTML, no menus, no debugger for a program that crashes: and so no screen.
ENVIRONMENT = {"WINEDEBUG": "-all", "DISPLAY": "",
               "WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe,winedbg.exe="}


class Wine:
    def __init__(self):
        self._lock = threading.Lock()
        self._folder = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Its programs end, and the folder goes."""
        if self._folder is not None:
            for option in ("-k", "-w"):
                subprocess.run(["wineserver", option], check=False, env=self.environment(),
                               stderr=subprocess.DEVNULL)
            self._folder.cleanup()

    def environment(self):
        """Of the programs, for subprocess.  Any threads."""
        with self._lock:
            is_new = self._folder is None
            if is_new:
                self._folder = tempfile.TemporaryDirectory(prefix="haft_wine_", ignore_cleanup_errors=True)
            there = os.environ | ENVIRONMENT | {"WINEPREFIX": self._folder.name}
            if is_new:
                subprocess.run(["wine", "wineboot", "--init"], check=False, env=there,
                               stdin=subprocess.DEVNULL, capture_output=True)
            return there
