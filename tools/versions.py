"""The places in which the version of include/haft/haft.h stands: what tools/prose compares, and
./dev release --set writes."""

import re

HAFT_H = "include/haft/haft.h"
PACKAGE = "debian/libhaft%s.install"  # of the shared library, which Debian names after the soname


def of(text):
    """(major, minor, patch), as words, of the text of haft.h."""
    return tuple(re.search(rf"#define HAFT_VERSION_{part} (\d+)", text).group(1)
                 for part in ("MAJOR", "MINOR", "PATCH"))


def places(major, minor, patch):
    """(path, pattern, what its group must be), for each place; a pattern may fit more than once."""
    whole, abi = f"{major}.{minor}.{patch}", f"{major}.{minor}"
    yield HAFT_H, r"^#define HAFT_VERSION_MAJOR (\d+)", major
    yield HAFT_H, r"^#define HAFT_VERSION_MINOR (\d+)", minor
    yield HAFT_H, r"^#define HAFT_VERSION_PATCH (\d+)", patch
    yield HAFT_H, r'^#define HAFT_VERSION_TEXT "(.*)"', whole
    yield "MODULE.bazel", r'^ *version = "(.*)",\n\)', whole
    yield "meson.build", r"^project\('haft', 'c', version: '(.*?)'", whole
    yield "debian/changelog", r"\Ahaft \((.*)-\d+\)", whole
    yield "debian/control", r"\blibhaft(\d[\d.]*)(?= |$)", abi
    yield "install/BUILD", r'^SONAME = "libhaft\.so\.(.*)"', abi
    yield "examples/python/haft.py", r'"libhaft\.so\.([\d.]*)"', abi


def node(major, minor):
    """The node of install/haft.map that is being made, which people write: the one with the wildcard."""
    return "install/haft.map", r"^HAFT_(\S+) \{[^}]*\bhaft_\*;", f"{major}.{minor}"


def found(text, pattern):
    return [match.group(1) for match in re.finditer(pattern, text, re.M)]


def replaced(text, pattern, new):
    """The text with `new` in the place of the pattern's group, wherever it fits."""
    def put(match):
        start, end = (at - match.start() for at in match.span(1))
        return match.group()[:start] + new + match.group()[end:]

    return re.sub(pattern, put, text, flags=re.M)
