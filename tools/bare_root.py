"""A root with the files of a few installed packages, and of those that they depend on: what runs there
finds nothing else of this machine."""

import os
import pathlib
import re
import shutil
import subprocess

LINKS = ("bin", "sbin", "lib", "lib64")  # to their namesakes in usr/


def _shown(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def closure(packages):
    """The packages and all that they depend on, as they are installed."""
    needs, provided, versions = {}, {}, {}
    shown = _shown("dpkg-query", "--show", "--showformat",
                   "${binary:Package}\t${Package}\t${Depends}, ${Pre-Depends}\t${Provides}\n")
    for line in shown.splitlines():
        name, short, depends, provides = line.split("\t")
        if ":" not in name or name.endswith((":amd64", ":all")):
            needs[short] = [[re.match(r"[\w.+-]*", each.strip()).group() for each in part.split("|")]
                            for part in depends.split(",") if part.strip()]
            versions[short] = name
            for each in provides.split(","):
                provided.setdefault(each.split("(")[0].strip(), short)
    found, left = set(), list(packages)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            for alternatives in needs[name]:
                there = [each if each in needs else provided.get(each) for each in alternatives]
                left += [each for each in there if each][:1]
    return sorted(versions[name] for name in found)


def make(root, packages):
    """Links all their files into the folder `root`, or copies them."""
    root = pathlib.Path(root)
    for name in LINKS:
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(f"usr/{name}")
    for folder in ("tmp", "work", "etc"):
        (root / folder).mkdir()
    for path in _shown("dpkg-query", "--listfiles", *closure(packages)).splitlines():
        if not path.startswith("/usr/share/doc") and os.path.lexists(path):
            _put(path, root / path.lstrip("/"))
    for name, program in (("cc", "gcc"), ("ld", "x86_64-linux-gnu-ld"), ("as", "x86_64-linux-gnu-as")):
        if not os.path.lexists(root / "usr/bin" / name):
            (root / "usr/bin" / name).symlink_to(program)  # as the packages' alternatives are


def _put(path, to):
    if os.path.lexists(to) or os.path.isdir(path) and not os.path.islink(path):
        if os.path.isdir(path):
            to.mkdir(parents=True, exist_ok=True)
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    if os.path.islink(path):
        to.symlink_to(os.readlink(path))
    else:
        try:
            os.link(path, to)
        except OSError:
            shutil.copy2(path, to)


def run(root, command):
    """Runs it in the folder work/ of the root, with an empty environment."""
    inside = ["unshare", "--map-root-user", "--root", str(root), "--wd", "/work"]
    return subprocess.run(["env", "-i", "PATH=/usr/bin", *inside, *command], check=False,
                          capture_output=True, text=True)
