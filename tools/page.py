"""The documents: what in them is written by commands, their links, and how they are installed."""

import os
import pathlib
import re
import shutil

import source

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERIFICATION = "docs/verification.md"

TEXTS = ("README.md", "CHANGELOG.md", "docs/*.md", "examples/*.md")
BESIDE = ("LICENSE", "docs/pictures/*.svg", "docs/performance/*.png", "examples/*.c",
          "examples/*/*.c", "examples/*/*.h", "examples/*/*.cc", "examples/lua/*.lua",
          "examples/consumers/BUILD", "examples/consumers/WORKSPACE", "examples/consumers/*/Makefile",
          "examples/consumers/*/CMakeLists.txt", "examples/consumers/*/meson.build")
TO_PREFIX = "../../.."  # from share/doc/haft

LINK = re.compile(r"(!?)\[([^][]+)\]\(([^() ]+)\)")
BLOCK = re.compile(r"^```.*?^```$", re.M | re.S)
WRITTEN = re.compile(r"^<!-- (.*): begin -->$.*?^<!-- \1: end -->$", re.M | re.S)


# --- parts that a command writes, between two lines that name it ---

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


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def by_hand(text):
    """What people wrote of a document, code among it; line numbers stay."""
    return WRITTEN.sub(blank, text)


def prose(text):
    """What people wrote, without blocks of code."""
    return BLOCK.sub(blank, by_hand(text))


# --- links ---

def links(text):
    """Those within the project, outside blocks of code."""
    for match in LINK.finditer(BLOCK.sub(blank, text)):
        if "://" not in match.group(3):
            yield match


def _as_installed(name, text, present):
    """The document with the links that it has when installed: headers' lead to the installed ones,
    and one to what is not installed becomes its text."""
    folder = os.path.dirname(name)

    def moved(match):
        image, shown, link = match.groups()
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(folder, path)) if path else name
        if target == "include/haft" or target.startswith("include/haft/"):
            up = os.path.relpath(".", folder or ".")
            path = os.path.normpath(os.path.join(up, TO_PREFIX, target))
        elif not any(one == target or one.startswith(target + "/") for one in present):
            return shown
        return f"{image}[{shown}]({path}{'#' + anchor if anchor else ''})"

    parts, end = [], 0
    for match in links(text):
        parts += [text[end:match.start()], moved(match)]
        end = match.end()
    return "".join(parts) + text[end:]


def install(out):
    """Writes the documents, and the examples that they speak of, below `out`; yields their names."""
    tree = source.Tree(ROOT)
    texts = tree.matching(*TEXTS)
    others = [name for name in tree.matching(*BESIDE) if name not in texts]
    for name in texts + others:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        if name in others:
            shutil.copyfile(ROOT / name, out / name)
        else:
            text = _as_installed(name, tree[name], texts + others)
            (out / name).write_text(text, encoding="utf-8")
