"""The parts of documents that commands write: between two lines that name the command."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERIFICATION = "docs/verification.md"


def _parts(page, command):
    begin, end = f"<!-- {command}: begin -->", f"<!-- {command}: end -->"
    before, rest = (ROOT / page).read_text(encoding="utf-8").split(begin)
    between, after = rest.split(end)
    return before + begin, between, end + after


def read(page, command):
    """The lines that the command has written last."""
    return _parts(page, command)[1].strip("\n").splitlines()


def write(page, command, lines):
    """All else in the page stays."""
    before, _, after = _parts(page, command)
    (ROOT / page).write_text("\n".join([before, *lines, after]), encoding="utf-8")
