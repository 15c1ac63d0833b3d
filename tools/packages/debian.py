"""Which commands Debian's packages bring."""

import functools
import pathlib
import re
import subprocess

# Commands of packages that only some of ./dev's commands install, where they are not called as the
# package is.  Where such a package is installed, it is asked itself.
BRINGS = {
    "build-essential": "cc make",
    "cmake": "cmake ctest",
    "gcc-aarch64-linux-gnu": "aarch64-linux-gnu-gcc",
    "graphviz": "dot",
    "haft-tools": "haft-top",
    "llvm-19": "llvm-cov-19 llvm-profdata-19 llvm-dlltool-19 llvm-nm-19 llvm-readobj-19",
    "man-db": "man",
    "musl-tools": "musl-gcc",
    "qemu-user": "qemu-aarch64",
    "wine": "wine wineserver",
}
FIELDS = ("Package", "binary:Package", "db:Status-Status", "Essential", "Priority", "Pre-Depends", "Depends", "Provides")
FOLDERS = re.compile(r"^(?:/usr)?/s?bin/([^/]+)$", re.M)


def _asked(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


@functools.cache
def _installed():
    """{package: its fields}"""
    shown = _asked("dpkg-query", "--show",
                   "--showformat=" + "\t".join(f"${{{field}}}" for field in FIELDS) + "\n")
    rows = (dict(zip(FIELDS, line.split("\t"))) for line in shown.splitlines())
    return {row["Package"]: row for row in rows if row["db:Status-Status"] == "installed"}


def _names(relation):
    """The alternatives of each relation, without versions and architectures."""
    return [[re.match(r"[\w.+-]*", each.strip()).group() for each in part.split("|")]
            for part in relation.split(",") if part.strip()]


@functools.cache
def _providers():
    made = {}
    for name, row in sorted(_installed().items()):
        for provided in _names(row["Provides"]):
            made.setdefault(provided[0], []).append(name)
    return made


def _needed(name):
    """What the package depends on: of alternatives, the first that is installed."""
    row = _installed()[name]
    for alternatives in _names(f"{row['Pre-Depends']},{row['Depends']}"):
        for each in alternatives:
            if each in _installed():
                yield each
                break
        else:
            yield from (provider for each in alternatives for provider in _providers().get(each, [])[:1])


def _closure(names):
    found, left = set(), [name for name in names if name in _installed()]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += _needed(name)
    return found


@functools.cache
def always():
    """The packages that every Debian has."""
    return frozenset(name for name, row in _installed().items()
                     if row["Essential"] == "yes" or row["Priority"] == "required")


@functools.cache
def _leads_to(command):
    """The commands that an alternative, or one that goes along with another, may be a link to."""
    said = _asked("update-alternatives", "--query", command)
    link = pathlib.Path("/etc/alternatives", command)
    return re.findall(r"^Alternative: .*/(.*)$", said, re.M) or ([link.readlink().name] if link.is_symlink() else [])


@functools.cache
def _files():
    """{package: the commands in it}, of all that are installed"""
    names = sorted(_installed())
    said = _asked("dpkg-query", "--listfiles", *(_installed()[name]["binary:Package"] for name in names))
    lists = said.split("\n\n")
    return {name: frozenset(FOLDERS.findall(files)) for name, files in zip(names, lists, strict=True)}


@functools.cache
def _brought(packages):
    found = set()
    for name in packages:
        if name not in _installed():
            found.update(BRINGS.get(name, name).split())
    for name in _closure([*packages, *always()]):
        found |= _files()[name]
    return frozenset(found)


@functools.cache
def have(packages, command):
    """Whether the command is there where these packages are installed, on any Debian."""
    found = _brought(packages)
    return command in found or any(name in found for name in _leads_to(command))


def wrong():
    """What BRINGS says of packages that are installed, and they do not bring."""
    for name, brought in BRINGS.items():
        for command in brought.split():
            if not have(frozenset([name]), command):
                yield f"tools/packages/debian.py: {name} does not bring '{command}'"
