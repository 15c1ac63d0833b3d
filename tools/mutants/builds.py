"""Programs from source trees, without Bazel: what a mutant leaves alone is compiled once.

A tree is a copy of the sources, with a patch or as they are.  An object file of the tree as it is
serves for every tree in which nothing that it was made of has changed.  Edges are weakened as a
program runs, by its HAFT_HOOKED operations: that takes no tree.
"""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import threading

import plan
import trials

FOLDERS = ("include", "lib", "concurrent", "stress", "tests", "examples/screen")
TERMINAL = "examples/screen/terminal.c"  # the explorer's line of progress
CC = os.environ.get("CC", "gcc")
TSAN = ["-fsanitize=thread"]
ASAN = ["-fsanitize=address"]
URCU = ["-lurcu-memb", "-lurcu-qsbr", "-lurcu-mb", "-lurcu-bp", "-lpthread"]
UNIT_SUPPORT = ("tests/support.c", "tests/subject.c")
EDGES = "stress/edges.c"
STRESS_SUPPORT = ("stress/support.c", "stress/hooked.c", EDGES)


class BuildError(Exception):
    """A tree does not compile."""


class Tree:
    """The sources, in a folder of their own."""

    def __init__(self, folder, mutant=None):
        self.folder = pathlib.Path(folder)
        self.changed = mutant.changed() if mutant else set()
        self.is_mutant = mutant is not None
        for name in FOLDERS:
            shutil.copytree(plan.ROOT / name, self.folder / name)
        if mutant and mutant.patch:
            problem = plan.apply(mutant.patch, self.folder)
            if problem:
                raise BuildError(f"{mutant.name}.patch does not apply: {problem}")

    def touches(self, dependencies):
        """Whether a file made of these would be another one here."""
        return bool(self.changed & set(dependencies))


class Variant:
    """How the sources are compiled for one kind of program."""

    def __init__(self, name, flags, libraries, plain=(), plain_flags=()):
        self.name, self.flags, self.libraries = name, flags, libraries
        self.plain, self.plain_flags = plain, plain_flags  # sources with flags of their own

    def flags_for(self, source):
        return self.plain_flags if source in self.plain else self.flags


def _wrapped():
    text = (plan.ROOT / "stress/explorer/defs.bzl").read_text()
    names = text[text.index("WRAPPED"):text.index("]]")]
    return [f"-Wl,--wrap={name}" for name in re.findall(r'^    "(\w+)",', names, re.M)]


def _scheduler():
    """The explorer's own files, which ThreadSanitizer may not see."""
    found = {path.relative_to(plan.ROOT).as_posix()
             for path in (plan.ROOT / "stress/explorer").glob("*.c")}
    return found - {"stress/explorer/hooked.c"} | {EDGES, TERMINAL}


COMMON = ["-std=c11", "-w", "-O1", "-g", "-Iinclude", "-iquote", "."]
HOOKED = COMMON + ["-D_GNU_SOURCE", "-DHAFT_HOOKED"]
UNSEEN = ["-fno-sanitize=thread", "-fno-tree-loop-distribute-patterns"]
VARIANTS = {
    "unit": Variant("unit", COMMON + ["-D_DEFAULT_SOURCE", "-DSUITE_SECONDS=30"],
                    ["-rdynamic", "-lcriterion", "-ljansson"] + URCU),
    "stress": Variant("stress", HOOKED + TSAN, URCU + TSAN),
    "explorer": Variant("explorer", HOOKED, _wrapped() + ["-lpthread"], _scheduler(), HOOKED + UNSEEN),
    "explorer_tsan": Variant("explorer_tsan", HOOKED + TSAN, _wrapped() + ["-lpthread"] + TSAN,
                             _scheduler(), HOOKED + UNSEEN),
    "linearize": Variant("linearize", HOOKED, URCU),
    "stale": Variant("stale", COMMON + ["-D_DEFAULT_SOURCE"] + ASAN, URCU + ASAN),
}


def _files(pattern):
    return sorted(path.relative_to(plan.ROOT).as_posix() for path in plan.ROOT.glob(pattern))


def _helpers(source, folder):
    """The sources in `folder` whose headers this one includes, and those that these need."""
    found, left = [], [source]
    while left:
        text = (plan.ROOT / left.pop()).read_text()
        for name in re.findall(rf'^#include "({folder}/[\w/]+)\.h"', text, re.M):
            for path in (f"{name}.h", f"{name}.c"):
                if path not in found and path != source and (plan.ROOT / path).exists():
                    found.append(path)
                    left.append(path)
    return [path for path in found if path.endswith(".c")]


@functools.cache
def program_of(check):
    """The variant and the sources, beside the library's, of the program that runs a check."""
    kind, *words = check.split()
    if kind == "unit":
        test = _files(f"tests/*/{words[0]}_test.c")[0]
        return "unit", sorted({*UNIT_SUPPORT, *_helpers(test, "tests")}) + [test]
    if kind == "stress":
        program = f"stress/{words[0]}.c"
        return "stress", sorted({*STRESS_SUPPORT, *_helpers(program, "stress")}) + [program]
    if kind == "linearize":
        return "linearize", [*STRESS_SUPPORT, "stress/linear/history.c", "stress/linearize.c"]
    if kind == "stale":
        return "stale", _files(f"tests/*/{words[0]}_stale.c")
    variant = "explorer_tsan" if "tsan" in words else "explorer"
    return variant, [*_files("stress/explorer/**/*.c"), "stress/linear/history.c", EDGES, TERMINAL]


class Builder:
    """Object files and programs, each made once, by whichever thread needs it first."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.baseline = Tree(self.folder / "baseline")
        self._library = _files("lib/*/*.c") + _files("concurrent/*/*.c")
        self._lock = threading.Lock()
        self._made = {}

    def _once(self, key, make):
        with self._lock:
            lock, done = self._made.setdefault(key, (threading.Lock(), []))
        with lock:
            if not done:
                done.append(make())
            return done[0]

    def _run(self, command, tree):
        if trials.ended.is_set():
            raise trials.Interrupted
        done = subprocess.run(command, cwd=tree.folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise trials.Interrupted if trials.ended.is_set() else BuildError(done.stderr.strip())

    def _compile(self, tree, variant, source):
        target = tree.folder / "objects" / variant.name / source.replace("/", "-")
        target.parent.mkdir(parents=True, exist_ok=True)
        self._run([CC, *variant.flags_for(source), "-MMD", "-MF", f"{target}.d",
                   "-c", source, "-o", f"{target}.o"], tree)
        words = pathlib.Path(f"{target}.d").read_text().replace("\\\n", " ").split()[1:]
        return f"{target}.o", [os.path.normpath(word) for word in words if not word.startswith("/")]

    def _object(self, tree, variant, source):
        whole = self._once((variant.name, source),
                           lambda: self._compile(self.baseline, variant, source))
        if not tree.is_mutant or not tree.touches(whole[1]):
            return whole[0]
        return self._once((tree.folder, variant.name, source),
                          lambda: self._compile(tree, variant, source))[0]

    def program(self, tree, check):
        name, sources = program_of(check)
        variant = VARIANTS[name]

        def link():
            objects = [self._object(tree, variant, source) for source in self._library + sources]
            target = tree.folder / "programs" / f"{name}-{pathlib.PurePath(sources[-1]).stem}"
            target.parent.mkdir(parents=True, exist_ok=True)
            self._run([CC, *objects, "-o", str(target), *variant.libraries], tree)
            return str(target)

        return self._once((tree.folder, name, tuple(sources)), link)
