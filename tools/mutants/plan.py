"""What is broken on purpose, and which checks should notice.

An edge weakened is a mutant for each edge of include/haft/detail/atomics.h; tools/mutants/edges has its
checks.  A protocol step broken is a patch of the library, tools/mutants/NAME.patch, which begins with
a line "Breaks: ..." and a line "Check: ..." for each check; a line "Undecidable: ..." says why none
can notice.  A check is written as

    unit NAME                          tests/*/NAME_test.c
    stress PROGRAM ROUNDS THREADS ...  stress/PROGRAM.c under ThreadSanitizer, up to three seeds, over
                                       operations that give way by chance
    release PROGRAM ROUNDS THREADS ...  without asserts and sanitizers, up to three seeds
    explorer CASE [c11|tsan] [exhaustive|deep] [SCHEDULES]
    linearize ROUNDS THREADS ...       stress/linearize.c, over operations that give way by chance
    stale MEMORY WAY                   tests/*/MEMORY_stale.c, of which AddressSanitizer must report WAY
"""

import dataclasses
import pathlib
import re
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
ATOMICS = "include/haft/detail/atomics.h"
KINDS = ("unit", "stress", "release", "explorer", "linearize", "stale")


class PlanError(Exception):
    """Something is wrong with the list of mutants itself."""


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str
    breaks: str
    checks: tuple
    edge: str = ""  # weakened
    patch: str = ""  # its text
    undecidable: str = ""  # why no check can notice
    operation: object = None  # of operations.py, if the patch weakens one
    change: object = None  # of changes.py, if that is all that the patch does
    tree: object = None  # of builds.py, in whose programs `number` switches the change on
    number: int = 0


def changed_by(patch):
    """The files that a patch changes, from the project's root."""
    return set(re.findall(r"^--- a/(\S+)", patch, re.M))


def declared_edges(text):
    """The edges of the header, in its order, each with its comment."""
    edges = text[text.index("typedef enum haft_edge"):text.index("reasons for relaxed")]
    return dict(re.findall(r"^\s+HAFT_EDGE_(\w+),\s+/\* (.+) \*/", edges, re.M))


def checked(name, checks):
    for check in checks:
        if check.split()[0] not in KINDS:
            raise PlanError(f"{name}: no such check: {check}")
    return tuple(checks)


def edge_checks(text):
    """The lines of tools/mutants/edges as {edge: (checks, why undecidable)}."""
    found = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        edge, _, rest = line.partition(" ")
        checks, why = found.get(edge, ((), ""))
        rest = rest.strip()
        if rest.startswith("undecidable "):
            why = rest.partition(" ")[2]
        else:
            checks += (rest,)
        found[edge] = (checks, why)
    return found


def edges():
    declared = declared_edges((ROOT / ATOMICS).read_text())
    listed = edge_checks((HERE / "edges").read_text())
    for name in sorted(set(declared) ^ set(listed)):
        raise PlanError(f"tools/mutants/edges and {ATOMICS} differ: {name}")
    for name, (checks, _) in listed.items():
        if any(check.startswith("unit ") for check in checks):
            raise PlanError(f"{name}: unit tests cannot weaken an edge")
    return [Mutant(name, f"not ordered: {meaning}", checked(name, listed[name][0]), edge=name,
                   undecidable=listed[name][1]) for name, meaning in declared.items()]


def apply(patch, folder, *options):
    """What git has against the patch; empty if it has been applied."""
    done = subprocess.run(["git", "apply", *options], input=patch, cwd=folder, capture_output=True,
                          text=True, check=False)
    return "" if done.returncode == 0 else done.stderr.strip()


def _patch(path):
    text = path.read_text()
    header = text.partition("--- a/")[0]
    breaks = re.search(r"^Breaks: (.+)$", header, re.M)
    checks = re.findall(r"^Check: (.+)$", header, re.M)
    undecidable = re.search(r"^Undecidable: (.+)$", header, re.M)
    if not breaks or not checks:
        raise PlanError(f"{path.name}: a header with Breaks: and Check: is missing")
    return Mutant(path.stem, breaks.group(1), checked(path.stem, checks), patch=text,
                  undecidable=undecidable.group(1) if undecidable else "")


def patches():
    return [_patch(path) for path in sorted(HERE.glob("*.patch"))]


def everything():
    return edges() + patches()


def sources():
    """{path: text} of the library's files."""
    paths = (path for folder in ("lib", "concurrent", "kit") for path in sorted((ROOT / folder).rglob("*.[ch]")))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def stale_patches():
    """Yields a line for each patch that does not apply to the tree as it is."""
    for mutant in patches():
        problem = apply(mutant.patch, ROOT, "--check")
        if problem:
            yield f"{mutant.name}.patch: {problem.splitlines()[0]}"
