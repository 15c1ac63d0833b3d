"""Reading the project's C sources: what the rule checkers in this folder share."""

import os
import pathlib
import re

FOLDERS = ("include", "lib", "concurrent", "tests", "stress", "fuzz", "bench", "examples", "top")
SUFFIXES = {".c", ".h", ".cc", ".hpp"}

# Of git, which may not be there to ask, and of Bazel and other tools.
_NOT_OURS = re.compile(r"\.git$|\.cache$|bazel-|__pycache__$|target$")

_COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def paths(root):
    """All of the project's own files, as paths from root."""
    for folder, below, names in os.walk(root):
        below[:] = sorted(name for name in below if not _NOT_OURS.match(name))
        yield from sorted(os.path.relpath(os.path.join(folder, name), root) for name in names)


def files(root, folders=FOLDERS):
    """The C and C++ files in the given folders of the project, as {path from root: text}."""
    found = {}
    for folder in folders:
        for path in sorted(pathlib.Path(root, folder).rglob("*")):
            if path.suffix in SUFFIXES:
                found[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8")
    return found


def without_comments(text, keep_strings=True):
    """The text with comments blanked out; line numbers stay as they are."""

    def blank(match):
        found = match.group()
        if keep_strings and found[0] in "\"'":
            return found
        return re.sub(r"[^\n]", " ", found)

    return _COMMENT_OR_STRING.sub(blank, text)


def line_of(text, offset):
    """The number of the line that the offset is in."""
    return text.count("\n", 0, offset) + 1
