"""Programs from source trees, without Bazel: what a mutant leaves alone is compiled once.

A whole tree is a copy of the sources: as they are, or with the switches of switches.py.  A mutant's
has the files that its patch changes, and is looked into first.  An object file of the tree as it is
serves for every mutant in which nothing that it was made of has changed.  Edges are weakened as a
program runs, by its HAFT_HOOKED operations: that takes no tree.
"""

import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import threading

import plan
import trials

OBJECTS = plan.ROOT / ".cache" / "mutants" / "objects"
FOLDERS = ("include", "lib", "concurrent", "kit", "stress", "tests", "examples/ck", "examples/screen",
           "tools/mutants")
TERMINAL = "examples/screen/terminal.c"  # the explorer's line of progress
CC = os.environ.get("CC", "gcc")
TSAN = ["-fsanitize=thread"]
ASAN = ["-fsanitize=address"]
FOREIGN = ["-lurcu-memb", "-lurcu-qsbr", "-lurcu-mb", "-lurcu-bp", "-lck", "-lpthread"]
UNIT_SUPPORT = ("tests/support.c", "tests/subject.c")
SWITCHED = "tools/mutants/switched.c"
EDGES = "stress/edges.c"
STRESS_SUPPORT = ("stress/support.c", "stress/hooked.c", "examples/ck/clock.c", EDGES)


class BuildError(Exception):
    """A tree does not compile."""


class Tree:
    """The sources in a folder, some with these texts; or those that a patch changes, with the patch."""

    def __init__(self, folder, patch=None, texts=None):
        self.folder = pathlib.Path(folder)
        self.is_mutant = patch is not None
        self.changed = plan.changed_by(patch) if self.is_mutant else set()
        self.support = [SWITCHED] if texts else []
        if not self.is_mutant:
            for name in FOLDERS:
                shutil.copytree(plan.ROOT / name, self.folder / name)
            for path, text in (texts or {}).items():
                (self.folder / path).write_text(text)
            return
        for path in self.changed:
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(plan.ROOT / path, self.folder / path)
        problem = plan.apply(patch, self.folder)
        if problem:
            raise BuildError(f"the patch does not apply: {problem}")

    def touches(self, dependencies):
        """Whether a file made of these would be another one here."""
        return bool(self.changed & set(dependencies))

    def flags(self):
        """What the compiler finds here, it takes from here, and calls as if it lay elsewhere."""
        here = self.folder
        return [] if not self.is_mutant else [f"-I{here}/include", "-iquote", str(here), f"-fmacro-prefix-map={here}/="]

    def path_of(self, source):
        return str(self.folder / source) if source in self.changed else source


class Variant:
    """How the sources are compiled for one kind of program."""

    def __init__(self, name, flags, libraries, plain=(), plain_flags=()):
        self.name, self.flags, self.libraries = name, flags, libraries
        self.plain, self.plain_flags = plain, plain_flags  # sources with flags of their own

    def flags_for(self, source):
        return self.plain_flags if source in self.plain else self.flags


def _files(pattern):
    return sorted(path.relative_to(plan.ROOT).as_posix() for path in plan.ROOT.glob(pattern))


def _wrapped():
    text = (plan.ROOT / "stress/explorer/defs.bzl").read_text()
    names = text[text.index("WRAPPED"):text.index("]]")]
    return [f"-Wl,--wrap={name}" for name in re.findall(r'^    "(\w+)",', names, re.M)]


def _scheduler():
    """The explorer's own files, which ThreadSanitizer may not see."""
    found = {path.relative_to(plan.ROOT).as_posix()
             for path in (plan.ROOT / "stress/explorer").glob("*.c")}
    return found - {"stress/explorer/hooked.c"} | {EDGES, TERMINAL}


LIBRARY = _files("lib/*/*.c") + _files("concurrent/*/*.c") + _files("kit/*/*/*.c")
PLAIN = ["-std=c11", "-O1", "-Iinclude", "-iquote", "."]
COMMON = [*PLAIN, "-w", "-g"]
# For a mutant of a single change: quickly linked, and one that the compiler warns of by default, by
# arguments of wrong types perhaps, is no mutant.
QUICK = [*PLAIN, "-D_DEFAULT_SOURCE", "-Werror"]
QUICK_TEST = [*PLAIN, "-D_DEFAULT_SOURCE", "-DSUITE_SECONDS=30", "-w", "-fno-optimize-sibling-calls"]
HOOKED = COMMON + ["-D_GNU_SOURCE", "-DHAFT_HOOKED"]
UNSEEN = ["-fno-sanitize=thread", "-fno-tree-loop-distribute-patterns"]
UNIT_LIBRARIES = ["-rdynamic", "-lcriterion", "-ljansson"] + FOREIGN
COMBINED = ["-D_GNU_SOURCE"]
VARIANTS = {
    "unit": Variant("unit", COMMON + ["-D_DEFAULT_SOURCE", "-DSUITE_SECONDS=30"], UNIT_LIBRARIES),
    "quick": Variant("quick", QUICK_TEST, UNIT_LIBRARIES, LIBRARY, QUICK),
    "combinations": Variant("quick", QUICK_TEST + COMBINED, ["-ljansson"] + FOREIGN, LIBRARY, QUICK),
    "stress": Variant("stress", HOOKED + TSAN, FOREIGN + TSAN),
    "explorer": Variant("explorer", HOOKED, _wrapped() + ["-lpthread"], _scheduler(), HOOKED + UNSEEN),
    "explorer_tsan": Variant("explorer_tsan", HOOKED + TSAN, _wrapped() + ["-lpthread"] + TSAN,
                             _scheduler(), HOOKED + UNSEEN),
    "linearize": Variant("linearize", HOOKED, FOREIGN),
    "release": Variant("release", COMMON + ["-D_GNU_SOURCE", "-DNDEBUG"], FOREIGN),
    "stale": Variant("stale", COMMON + ["-D_DEFAULT_SOURCE"] + ASAN, FOREIGN + ASAN),
}


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
def _wrapped_tests():
    """The unit tests that are linked with calls of the library redirected: {name: (sources, calls)}."""
    found = {}
    for block in re.findall(r"^cc_test\(\n(.*?)^\)", (plan.ROOT / "tests/BUILD").read_text(), re.M | re.S):
        if '--wrap=" + function' in block:
            name = re.search(r'name = "(\w+)_test"', block).group(1)
            sources, calls = block.split('--wrap=" + function')
            patterns = re.findall(r'"([\w/*]+\.c)"', sources)
            found[name] = (sorted({path for each in patterns for path in _files(f"tests/{each}")}),
                           re.findall(r'^        "(\w+)",', calls, re.M))
    return found


def linked_with(check):
    """What else the linker is told for the program that runs a check."""
    kind, name, *_ = check.split()
    calls = _wrapped_tests().get(name, ((), ()))[1] if kind in ("unit", "quick") else ()
    return [f"-Wl,--wrap={call}" for call in calls]


def refusing_tests():
    """The unit tests in which what the library calls may fail: no others go where it does."""
    return set(_wrapped_tests())


def unit_tests():
    """All that are programs of C over the library as it is compiled here."""
    others = {path for sources, _ in _wrapped_tests().values() for path in sources}
    others.add(*_files("tests/*/unloaded_test.c"))  # loads an installed library
    names = [pathlib.PurePath(path).stem.removesuffix("_test")
             for path in _files("tests/*/*_test.c") if path not in others]
    return sorted([*names, *_wrapped_tests()])


def _unit_sources(name):
    tests = _wrapped_tests().get(name, (_files(f"tests/*/{name}_test.c"),))[0]
    helpers = {path for test in tests for path in _helpers(test, "tests")}
    return sorted({*UNIT_SUPPORT, *helpers} - set(tests)) + tests


@functools.cache
def program_of(check):
    """The variant and the sources, beside the library's, of the program that runs a check."""
    kind, *words = check.split()
    if kind in ("unit", "quick"):
        return kind, _unit_sources(words[0])
    if kind == "compiled":
        return "quick", []
    if kind == "combinations":
        played = [path for path in _files("stress/combinations/*.c")
                  if not path.endswith(("/explored.c", "/broken.c", "/played.c"))]
        return kind, [TERMINAL, *_files("examples/ck/*.c"), *played]
    if kind == "stress":
        program = f"stress/{words[0]}.c"
        return "stress", sorted({*STRESS_SUPPORT, *_helpers(program, "stress")}) + [program]
    if kind == "release":
        return "release", ["stress/support.c", *_files("examples/ck/*.c"), f"stress/{words[0]}.c"]
    if kind == "linearize":
        return "linearize", [*STRESS_SUPPORT, "stress/linear/history.c", "stress/linear/stage.c", "stress/linearize.c"]
    if kind == "stale":
        return "stale", _files(f"tests/*/{words[0]}_stale.c")
    variant = "explorer_tsan" if "tsan" in words else "explorer"
    return variant, [*_files("stress/explorer/**/*.c"), "stress/linear/history.c", EDGES, TERMINAL]


@functools.cache
def _headers(folder):
    """A hash of the compiler and of all headers."""
    made = hashlib.sha256(subprocess.run([CC, "--version"], capture_output=True, check=False).stdout)
    for path in sorted(folder.rglob("*.h")):
        made.update(f"{path.relative_to(folder)}\n".encode() + path.read_bytes())
    return made


def _kept_object(folder, flags, source):
    """Where the object file of an unchanged source is kept, as long as nothing changes that it is made of."""
    made = _headers(folder).copy()
    made.update(f"{' '.join(flags)}\n{source}\n".encode() + (folder / source).read_bytes())
    return OBJECTS / f"{made.hexdigest()}.o"


class Builder:
    """Object files and programs, each made once, by whichever thread needs it first."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.baseline = Tree(self.folder / "baseline")
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
        folder = self.baseline.folder if tree.is_mutant else tree.folder
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise trials.Interrupted if trials.ended.is_set() else BuildError(done.stderr.strip())

    def _compile(self, tree, variant, source):
        flags = variant.flags_for(source)
        whole = self.baseline if tree.is_mutant else tree
        target = _kept_object(whole.folder, flags, source)
        if tree.is_mutant:
            target = tree.folder / "objects" / target.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            part = f"{target}.{os.getpid()}"
            self._run([CC, *tree.flags(), *flags, "-MMD", "-MF", f"{target}.d", "-c", tree.path_of(source),
                       "-o", part], tree)
            os.rename(part, target)
        os.utime(target)
        words = pathlib.Path(f"{target}.d").read_text().replace("\\\n", " ").split()[1:]
        return str(target), [os.path.normpath(word) for word in words if not word.startswith("/")]

    def _object(self, tree, variant, source):
        flags = tuple(variant.flags_for(source))

        def made(tree):
            return self._once((tree.folder, flags, source), lambda: self._compile(tree, variant, source))

        is_same = tree.is_mutant and not tree.touches(made(self.baseline)[1])
        return made(self.baseline if is_same else tree)[0]

    def differs(self, tree):
        """Whether the machine code is another one than that of the tree as it is."""
        variant = VARIANTS["quick"]
        return any(pathlib.Path(self._object(tree, variant, source)).read_bytes()
                   != pathlib.Path(self._object(self.baseline, variant, source)).read_bytes()
                   for source in LIBRARY)

    def program(self, tree, check):
        name, sources = program_of(check)
        variant = VARIANTS[name]

        def link():
            objects = [self._object(tree, variant, source) for source in LIBRARY + tree.support + sources]
            target = tree.folder / "programs" / f"{name}-{pathlib.PurePath(sources[-1]).stem}"
            target.parent.mkdir(parents=True, exist_ok=True)
            self._run([CC, *objects, "-o", str(target), *variant.libraries, *linked_with(check)],
                      tree)
            return str(target)

        return self._once((tree.folder, name, tuple(sources)), link)
