"""Reading the project's C sources: what the rule checkers in this folder share."""

import os
import pathlib
import re

FOLDERS = ("include", "lib", "concurrent", "kit", "tests", "stress", "fuzz", "bench", "examples", "top")
SUFFIXES = {".c", ".h", ".cc", ".hpp"}

# Of git, which may not be there to ask, and of Bazel and other tools.
_NOT_OURS = re.compile(r"\.git$|\.cache$|bazel-|__pycache__$|target$")

_COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def paths(root):
    """All of the project's own files, as paths from root."""
    for folder, below, names in os.walk(root):
        below[:] = sorted(name for name in below if not _NOT_OURS.match(name))
        yield from sorted(os.path.relpath(os.path.join(folder, name), root) for name in names)


class Tree:
    """The files of a folder, {path from there: text}; a test of a checker gives them as a dict."""

    def __init__(self, root):
        given = isinstance(root, dict)
        self.root = None if given else pathlib.Path(root)
        self._texts = dict(root) if given else dict.fromkeys(paths(root))
        self._folders = {"/".join(path.split("/")[:depth])
                         for path in self._texts for depth in range(1, path.count("/") + 1)}

    def __contains__(self, path):
        return path in self._texts or path in self._folders

    def __iter__(self):
        return iter(self._texts)

    def __getitem__(self, path):
        if self._texts[path] is None:
            self._texts[path] = (self.root / path).read_text(encoding="utf-8", errors="replace")
        return self._texts[path]

    def matching(self, *patterns):
        """The paths that match, where * stands for a part of one name, in order."""
        known = [re.compile(re.escape(pattern).replace(r"\*", "[^/]*")) for pattern in patterns]
        return sorted(path for path in self._texts if any(one.fullmatch(path) for one in known))

    def sources(self, folders=FOLDERS):
        """The C and C++ files in these folders."""
        return sorted(path for path in self._texts if path.split("/")[0] in folders
                      and pathlib.PurePath(path).suffix in SUFFIXES)


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


def is_c(path):
    return pathlib.PurePath(path).suffix in SUFFIXES


def english(text):
    """(offset, text) of each comment, a sentence on one line, and each string."""
    for match in _COMMENT_OR_STRING.finditer(text):
        yield match.start(), re.sub(r"\n\s*(?:\*(?!/)|//)?[ \t]*", " ", match.group())


def line_of(text, offset):
    """The number of the line that the offset is in."""
    return text.count("\n", 0, offset) + 1
